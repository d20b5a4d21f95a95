//! Functions of type parameters: each choice of the types is a program of its own.
//!
//! For `fn total<P: Potential>(p: &P, x: &[f64]) -> f64` the type beside it is `total<P>`, and `total<Morse>` has a text. The static items
//! of a generic function are one for all its types; so what is made once for each is kept here, by the type.
//!
//! Who calls such a function says which types its arguments have ([`Linker::call`]), and rustc finds the parameters by
//! them ([`Callee`]).

use super::entry::Local;
use super::{Arguments, Cell, Elements, Filled, Linker, Source, Taken, typed};
use crate::error::Result;
use crate::request::Request;
use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is made once for each type, and stays.
struct Registry<K: 'static, V: 'static>(OnceLock<Mutex<HashMap<K, &'static V>>>);

impl<K: std::hash::Hash + Eq, V> Registry<K, V> {
    const fn new() -> Registry<K, V> {
        Registry(OnceLock::new())
    }

    fn get(&self, key: K, make: impl FnOnce() -> V) -> &'static V {
        let all = self.0.get_or_init(Default::default);
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).or_insert_with(|| Box::leak(Box::new(make())))
    }
}

/// Where the program of a function with these types is kept.
pub fn cell<S: Source>() -> &'static Cell {
    cell_of(TypeId::of::<S>())
}

fn cell_of(id: TypeId) -> &'static Cell {
    static CELLS: Registry<TypeId, Cell> = Registry::new();
    CELLS.get(id, Cell::new)
}

/// Calls a derivative of a function with these types.
///
/// # Errors
/// As [`call`](super::call).
pub fn called<'a, S: Source, R>(
    request: Request,
    arguments: impl Arguments<'a>,
    read: impl FnMut(&mut Taken<'_>) -> Result<R>,
) -> Result<R> {
    let entry = S::linked().entries().of(request)?;
    let key = (TypeId::of::<S>(), request);
    let typed = typed::runs().then_some(key);
    let kept = if typed.is_none() { kept(key) } else { None };
    entry.run_kept::<S, R>((kept.as_deref(), typed), &arguments, read)
}

/// What this thread keeps to call a derivative of a type.
fn kept(key: (TypeId, Request)) -> Option<Rc<Local>> {
    thread_local! {
        static KEPT: RefCell<HashMap<(TypeId, Request), Rc<Local>>> = RefCell::default();
    }
    let of = |kept: &RefCell<HashMap<_, Rc<Local>>>| {
        kept.borrow_mut().entry(key).or_insert_with(|| Rc::new(Local::default())).clone()
    };
    KEPT.try_with(of).ok()
}

/// A list of elements, as the type of an argument.
pub struct List<T>(PhantomData<T>);

impl<T> Elements for List<T> {
    type Element = T;
}

/// The type of a list.
pub fn list<T>(_: PhantomData<T>) -> PhantomData<List<T>> {
    PhantomData
}

/// A function that is called with arguments of these types.
#[diagnostic::on_unimplemented(
    message = "the types of this call are not found",
    note = "write the types of the arguments before: `let p: Point = ..;`"
)]
pub trait Callee<A> {
    /// The type that has the text, with its own types.
    type Function: Source;
}

/// A function of which a caller may look whether it gives an `Err` or `None`; or one that never does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives a list, or an `Err` or `None` that ends the whole call: nobody can look at it",
    label = "write `.unwrap()` behind this call, or `?` in a function that gives such a `Result` or `Option` of a list itself",
    note = "or ask before the call whether it would fail"
)]
pub trait Looked {}

/// What a method says of itself at whose `Err` or `None` a caller may look, or that gives neither.
pub struct Always;

/// What any other says.
pub struct Hidden;

/// The same of methods.
#[diagnostic::on_unimplemented(
    message = "this method gives a list, or an `Err` or `None` that ends the whole call: nobody can look at it",
    label = "write `.unwrap()` behind this call, or `?` in a function that gives such a `Result` or `Option` of a list itself",
    note = "or ask before the call whether it would fail"
)]
pub trait LookedMethod {}

#[diagnostic::do_not_recommend]
impl LookedMethod for Always {}

impl Linker {
    /// A function that the text calls with arguments of these types.
    pub fn call<F: Callee<A>, A>(&mut self, _: A) -> Filled {
        F::Function::called(self)
    }

    /// The same of a function at whose `Err` or `None` the caller may look.
    pub fn call_looked_at<F: Callee<A>, A>(&mut self, _: A) -> Filled
    where
        F::Function: Looked,
    {
        F::Function::called(self)
    }

    /// The same of one that has no types of its own.
    pub fn looked_at<S: Source + Looked>(&mut self) -> Filled {
        self.called::<S>()
    }

    /// The same of a function that fails at an `Err`.
    pub fn call_surely<F: Callee<A>, A>(&mut self, _: A) -> Filled {
        F::Function::link(self)
    }
}
