//! A derivative of a function, compiled at its first call, and called from any thread.

use super::arguments::{Arguments, Holding};
use super::description::Description;
use super::outcome::{Taken, Wanted};
use super::words::Words;
use super::{Held, Source, Type, typed};
use crate::compiled::{Compiled, Session};
use crate::error::{Error, Result};
use crate::model::Function;
use crate::ports::Role;
use crate::request::{JacobianMode, Request};
use crate::value::Arg;
use std::any::TypeId;
use std::cell::{Cell, OnceCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread::LocalKey;

/// How the code of a function is made, if something is said of that: which engine, how much memory.
pub(super) type Choice = Option<Chosen>;

type Chosen = Box<dyn Fn(Function) -> Function + Send + Sync>;

/// One of something for each derivative that typed functions call.
#[derive(Default)]
struct OfEach<T> {
    value: T,
    gradient: T,
    value_and_gradient: T,
    jvp: T,
    vjp: T,
    hvp: T,
    hessian: T,
    jacobian: T,
    value_and_jacobian: T,
}

impl<T> OfEach<T> {
    /// That of a request; `None` if no typed function has it.
    #[inline(always)]
    fn of(&self, request: Request) -> Option<&T> {
        Some(match request {
            Request::Value => &self.value,
            Request::Gradient => &self.gradient,
            Request::ValueAndGradient => &self.value_and_gradient,
            Request::Jvp => &self.jvp,
            Request::Vjp => &self.vjp,
            Request::HessianProduct => &self.hvp,
            Request::Hessian => &self.hessian,
            Request::Jacobian(JacobianMode::Auto) => &self.jacobian,
            Request::ValueAndJacobian(JacobianMode::Auto) => &self.value_and_jacobian,
            _ => return None,
        })
    }
}

/// The derivatives of a function that typed functions call, each with its code.
pub(super) struct Entries(OfEach<Entry>);

impl Entries {
    /// Nothing is compiled yet.
    pub const fn new() -> Entries {
        Entries(OfEach {
            value: Entry::new(Request::Value),
            gradient: Entry::new(Request::Gradient),
            value_and_gradient: Entry::new(Request::ValueAndGradient),
            jvp: Entry::new(Request::Jvp),
            vjp: Entry::new(Request::Vjp),
            hvp: Entry::new(Request::HessianProduct),
            hessian: Entry::new(Request::Hessian),
            jacobian: Entry::new(Request::Jacobian(JacobianMode::Auto)),
            value_and_jacobian: Entry::new(Request::ValueAndJacobian(JacobianMode::Auto)),
        })
    }

    /// One of them.
    ///
    /// # Errors
    /// A request that no typed function has.
    #[inline(always)]
    pub fn of(&self, request: Request) -> Result<&Entry> {
        self.0.of(request).ok_or_else(|| untyped(request))
    }
}

#[cold]
fn untyped(request: Request) -> Error {
    Error::Request(format!(
        "no typed function calls {request:?}: ask for it by `function()?.compile(..)`"
    ))
}

/// The code that a typed function calls, made if it is not there yet.
///
/// # Errors
/// As [`Function::compile`], and a request that no typed function has.
pub fn compiled<S: Source>(request: Request) -> Result<Compiled> {
    let of = Description::of::<S>();
    Ok(of.cell().entries().of(request)?.compiled(of)?.0.clone())
}

/// Says how the code of a function's typed derivatives is made.
///
/// # Errors
/// [`Error::Request`] if there is some already, or it was said before.
pub fn configure<S: Source>(
    choice: impl Fn(Function) -> Function + Send + Sync + 'static,
) -> Result<()> {
    choose(Description::of::<S>(), Box::new(choice))
}

fn choose(of: &Description, choice: Chosen) -> Result<()> {
    match of.cell().choose(Some(choice)) {
        true => Ok(()),
        false => Err(Error::Request(format!(
            "how `{}` is compiled is settled: say it once, before a derivative is called",
            of.name
        ))),
    }
}

/// Calls a derivative with the session of the thread, with arguments that are given by words, and by values where these do not do.
///
/// # Errors
/// A program that is refused, arguments that do not fit, or a run that fails, with its place in Rust.
#[inline]
pub fn call<'a, S: Source, R>(
    request: Request,
    locals: &'static LocalKey<Locals>,
    arguments: impl Arguments<'a>,
    read: impl FnMut(&mut Taken<'_>) -> Result<R>,
) -> Result<R> {
    let entry = S::linked().entries().of(request)?;
    let typed = typed::runs().then(|| (TypeId::of::<S>(), request));
    let all = if typed.is_none() { locals.try_with(Locals::all).ok() } else { None };
    let local = all.as_ref().and_then(|all| all.of(request));
    entry.run_kept::<S, R>((local, typed), &arguments, read)
}

/// A derivative, and its code, which is made once per process.
pub struct Entry {
    request: Request,
    compiled: OnceLock<(Compiled, Vec<Wanted>)>,
}

/// What a thread keeps to call it: memory that further calls use again.
#[derive(Default)]
pub(super) struct Local(Cell<Option<Box<Session>>>);

impl Local {
    /// Takes it, for a call.
    #[inline]
    fn take(&self) -> Option<Box<Session>> {
        self.0.take()
    }

    /// Keeps it for the next call.
    #[inline]
    fn keep(&self, session: Option<Box<Session>>) {
        // Mostly there is none of before, and what drops one is not called for that.
        if let Some(before) = self.0.replace(session) {
            drop(before);
        }
    }
}

/// What a thread keeps to call the derivatives of a function. Every thread of a program has a place for it, in what may be a small
/// stack, whether it calls them or not: so the place is that of a pointer.
pub struct Locals(OnceCell<Rc<OfEach<Local>>>);

impl Locals {
    /// Nothing is there yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Locals {
        Locals(OnceCell::new())
    }

    /// What is kept for all of them.
    #[inline(always)]
    fn all(&self) -> Rc<OfEach<Local>> {
        self.0.get_or_init(Rc::default).clone()
    }
}

impl Entry {
    /// Nothing is compiled yet.
    pub const fn new(request: Request) -> Entry {
        Entry { request, compiled: OnceLock::new() }
    }

    /// The code, and which of its results are wanted: values, and derivatives. The size of a `Vec` stands before it
    /// and is not; nor are values beside a derivative that is asked for alone.
    fn compiled(&self, of: &Description) -> Result<&(Compiled, Vec<Wanted>)> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let function = of.function()?;
        let number = matches!(self.request, Request::Gradient | Request::ValueAndGradient);
        // The gradient is that of the function's result, not of a number that it changes.
        let several = of.changed.contains(&true) && of.result != Type::Unit;
        let function = if number && several { function.of("0")? } else { function };
        let function = (of.cell)().chosen(function);
        let compiled = function.compile(self.request)?;
        let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
        let derivatives = matches!(
            self.request,
            Request::Gradient | Request::HessianProduct | Request::Hessian | Request::Jacobian(_)
        );
        let sizes = of.result.sizes();
        let wanted = |k: &usize| roles[*k] == Role::Derivative || (!derivatives && *k >= sizes);
        let wanted = (0..roles.len()).filter(wanted);
        let wanted = wanted.map(|output| Wanted { output, leaf: compiled.leaf(output) }).collect();
        Ok(self.compiled.get_or_init(|| (compiled, wanted)))
    }

    /// Calls it with what the thread or its typed session keeps for that. Where the thread is ending, or makes this call within a call, a session of this
    /// call's own does.
    #[inline(always)]
    pub(super) fn run_kept<'a, S: Source, R>(
        &'static self,
        (local, typed): (Option<&Local>, Option<typed::Key>),
        arguments: &impl Arguments<'a>,
        read: impl FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        let session = match typed {
            None => local.and_then(Local::take),
            Some(key) => typed::take(key),
        };
        let mut kept = Kept { local, typed, session: ManuallyDrop::new(session) };
        self.run(Description::of::<S>(), &mut kept.session, arguments, read)
    }

    /// Calls it with the session of a call before, if there is one; leaves the session of this one.
    #[inline]
    fn run<'a, R>(
        &'static self,
        of: &Description,
        kept: &mut Option<Box<Session>>,
        arguments: &impl Arguments<'a>,
        mut read: impl FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        let values = |call: Call<'_, 'a>| held(arguments, call);
        // What is used if this program is not the one that is called.
        let mut spare = None;
        let direct = match (kept.as_mut(), self.compiled.get()) {
            (Some(session), Some((_, wanted))) => {
                let direct = session.direct(|call| {
                    let mut all = Words::new(call);
                    arguments.words(&mut all);
                    all.are_all()
                });
                direct.map(|done| {
                    done.map(|(results, words)| Taken::new(results, wanted).of_words(words))
                })
            }
            _ => None,
        };
        // Read at one place, so that this is a part of the call, and no pair of numbers goes through memory.
        let mut taken = match direct {
            Some(Ok(taken)) => taken,
            Some(Err(error)) => self.by_rows(of, &mut spare, &values, error)?,
            None => self.by_values(of, kept, &mut spare, &values)?,
        };
        read(&mut taken)
    }

    /// The same by values, which are handed to a call.
    #[cold]
    fn by_values<'a, 's>(
        &'static self,
        of: &Description,
        kept: &'s mut Option<Box<Session>>,
        spare: &'s mut Option<Box<Session>>,
        values: Values<'_, 'a>,
    ) -> Result<Taken<'s>> {
        match self.by_values_alone(of, kept, values) {
            Ok(taken) => Ok(taken),
            Err(error) => self.by_rows(of, spare, values, error),
        }
    }

    fn by_values_alone<'a, 's>(
        &'static self,
        of: &Description,
        kept: &'s mut Option<Box<Session>>,
        values: Values<'_, 'a>,
    ) -> Result<Taken<'s>> {
        let (compiled, wanted) = self.compiled(of)?;
        let session = kept.get_or_insert_with(|| {
            let mut session = Box::new(compiled.session());
            typed::prepare(&mut session);
            session
        });
        let call = &mut |args: &[Arg<'_>]| session.call(args).map(drop);
        values(&mut |held| Held::with(held, call))?;
        Ok(Taken::new(session.results(), wanted))
    }

    /// The same in a program in which rows have lengths of their own, if that is what was wrong with this one.
    #[cold]
    fn by_rows<'a, 's>(
        &'static self,
        of: &Description,
        spare: &'s mut Option<Box<Session>>,
        values: Values<'_, 'a>,
        error: Error,
    ) -> Result<Taken<'s>> {
        let other = if error.code() == Some("R04") { of.with_rows() } else { None };
        let Some(other) = other else { return Err(error) };
        let entry = other.cell().entries().of(self.request)?;
        entry.by_values_alone(&other, spare, values)
    }
}

/// What is done with arguments by their values.
fn held<'a>(arguments: &impl Arguments<'a>, call: Call<'_, 'a>) -> Result<()> {
    let mut held = Holding::new();
    arguments.hold(&mut held)?;
    call(held.as_slice())
}

/// What hands the values of arguments to a call.
type Values<'v, 'a> = &'v dyn Fn(Call<'_, 'a>) -> Result<()>;

/// What is done with arguments that are held.
type Call<'c, 'a> = &'c mut dyn FnMut(&[Held<'a>]) -> Result<()>;

/// The session of a call, which is there for the next one when this is dropped: so nothing stands behind the
/// call, and what that gives is written to where the caller wants it.
struct Kept<'k> {
    local: Option<&'k Local>,
    typed: Option<typed::Key>,
    /// Taken in the end, in every case, so that nothing of it is left to drop.
    session: ManuallyDrop<Option<Box<Session>>>,
}

impl Drop for Kept<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let session = self.session.take();
        if let Some(local) = self.local {
            local.keep(session);
        } else if let Some(key) = self.typed {
            typed::keep(key, session);
        }
    }
}
