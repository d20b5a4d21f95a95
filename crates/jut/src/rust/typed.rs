//! A session of typed calls: memory of its own, a way to end the calls from another thread, and who gets what they print.
//!
//! A typed call takes the session that its thread keeps for the derivative. Within [`TypedSession::run`] it takes one of the typed session instead, which has one for each
//! derivative that was called there. So there is one set of typed functions, with the names and types that the attribute gives them, and `cargo check`
//! does not read a second one.
//!
//! *Cost*: a call outside looks at one truth value of the thread; one within also looks up its derivative in a table.

use crate::compiled::Session;
use crate::request::Request;
use jut_runtime::Cancellation;
use jut_runtime::print::Printer;
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// A derivative: that of a function, and which.
pub(super) type Key = (TypeId, Request);

/// What typed calls of annotated functions take while a closure runs: memory that they share with no other calls of the thread, a [`Cancellation`], and a printer.
///
/// Without one, a typed call uses memory that its thread keeps for the next call, and nobody can end it. All typed calls count, of any
/// number of functions: their values, gradients and other derivatives, and [`linearize`](crate::Derivative). Memory is made at the first call of
/// each derivative; further ones, in this closure or the next, use it again.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// #[jut::differentiable]
/// fn steps(x: f64, n: usize) -> f64 {
///     let mut s = x;
///     for _ in 0..n {
///         s = s.sin() + 0.1;
///     }
///     s
/// }
///
/// let mut session = jut::TypedSession::new();
/// let cancellation = session.cancellation();
/// let error = std::thread::scope(|scope| {
///     scope.spawn(|| cancellation.cancel());
///     session.run(|| steps::value(0.5, 1 << 50)).err().and_then(|e| e.code())
/// });
/// assert_eq!(error, Some("R07"));
///
/// cancellation.reset();
/// let (value, slope) = session.run(|| steps::value_and_gradient(0.5, 1))?;
/// assert_eq!((value, slope), (0.5_f64.sin() + 0.1, 0.5_f64.cos()));
/// # Ok(())
/// # }
/// ```
///
/// A typed session may go to another thread, between the closures that it runs.
#[derive(Default)]
pub struct TypedSession(Kept);

/// What a typed session has.
#[derive(Default)]
struct Kept {
    sessions: HashMap<Key, Box<Session>>,
    cancellation: Option<Cancellation>,
    printer: Option<Printer>,
}

thread_local! {
    /// Whether a typed session runs a closure on this thread.
    static RUNS: Cell<bool> = const { Cell::new(false) };
    /// What it has, while it does.
    static KEPT: RefCell<Kept> = RefCell::default();
}

impl TypedSession {
    /// One that nobody cancels, with no memory yet.
    pub fn new() -> TypedSession {
        TypedSession::default()
    }

    /// Runs a closure, whose typed calls on this thread use the session. Of sessions that run within each other the inner one is used.
    pub fn run<R>(&mut self, calls: impl FnOnce() -> R) -> R {
        let _running = Running::begin(&mut self.0);
        calls()
    }

    /// What ends the calls of this session from another thread: the error `R07`, within a tenth of a second. The session works on once it
    /// is [`reset`](Cancellation::reset).
    pub fn cancellation(&mut self) -> Cancellation {
        let cancellation = self.0.cancellation.clone().unwrap_or_default();
        self.set_cancellation(&cancellation);
        cancellation
    }

    /// Lets something end the calls of this session that may end those of others too.
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.0.cancellation = Some(cancellation.clone());
        self.0.sessions.values_mut().for_each(|session| session.set_cancellation(cancellation));
    }

    /// Who gets the lines that calls of this session print, as [`Session::set_printer`].
    pub fn set_printer(&mut self, print: impl Fn(&str) + Send + Sync + 'static) {
        let printer = Printer::new(print);
        self.0.sessions.values_mut().for_each(|session| session.print_by(&printer));
        self.0.printer = Some(printer);
    }

    /// Gives the memory that is kept for further calls back to the system.
    pub fn release_memory(&mut self) {
        self.0.sessions.clear();
    }
}

/// What a session has is the thread's until this is dropped.
struct Running<'s> {
    own: &'s mut Kept,
    within: bool,
}

impl Running<'_> {
    fn begin(own: &mut Kept) -> Running<'_> {
        exchange(own);
        Running { own, within: RUNS.replace(true) }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        RUNS.set(self.within);
        exchange(self.own);
    }
}

/// Exchanges what the thread has and what a session has. A thread that is ending has nothing: its calls use sessions of their own.
fn exchange(own: &mut Kept) {
    let _ = KEPT.try_with(|kept| std::mem::swap(&mut *kept.borrow_mut(), own));
}

/// Whether typed calls of this thread are those of a typed session.
#[inline(always)]
pub(super) fn runs() -> bool {
    RUNS.get()
}

/// Takes what the typed session has for a derivative, for a call.
#[cold]
pub(super) fn take(key: Key) -> Option<Box<Session>> {
    KEPT.try_with(|kept| kept.borrow_mut().sessions.remove(&key)).ok().flatten()
}

/// Keeps it for the next call.
#[cold]
pub(super) fn keep(key: Key, session: Option<Box<Session>>) {
    if let Some(session) = session {
        let _ = KEPT.try_with(|kept| kept.borrow_mut().sessions.insert(key, session));
    }
}

/// What the typed session of the thread says of a session that is new.
pub(super) fn prepare(session: &mut Session) {
    if !runs() {
        return;
    }
    let _ = KEPT.try_with(|kept| {
        let kept = kept.borrow();
        if let Some(cancellation) = &kept.cancellation {
            session.set_cancellation(cancellation);
        }
        if let Some(printer) = &kept.printer {
            session.print_by(printer);
        }
    });
}

/// What can end the calls of the thread's typed session.
pub(super) fn cancellation() -> Option<Cancellation> {
    let of = |kept: &RefCell<Kept>| kept.borrow().cancellation.clone();
    if runs() { KEPT.try_with(of).ok().flatten() } else { None }
}
