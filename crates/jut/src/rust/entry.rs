//! A derivative of a function, compiled at its first call, and called from any thread.

use super::argument::Held;
use super::outcome::{Taken, Wanted};
use super::words::Words;
use super::{Source, Type, function};
use crate::compiled::{Compiled, Session};
use crate::error::{Error, Result};
use crate::ports::Role;
use crate::request::Request;
use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::LocalKey;

/// What is made of a function, once per process.
pub struct Entry {
    request: Request,
    compiled: OnceLock<(Compiled, Vec<Wanted>)>,
}

/// What a thread keeps to call it: memory that further calls use again.
pub struct Local(Cell<Option<Box<Session>>>);

impl Local {
    /// Nothing is there yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Local {
        Local(Cell::new(None))
    }

    /// Takes it, for a call.
    #[inline]
    pub(super) fn take(&self) -> Option<Box<Session>> {
        self.0.take()
    }

    /// Keeps it for the next call.
    #[inline]
    pub(super) fn keep(&self, session: Option<Box<Session>>) {
        self.0.set(session);
    }
}

impl Entry {
    /// Nothing is compiled yet.
    pub const fn new(request: Request) -> Entry {
        Entry { request, compiled: OnceLock::new() }
    }

    /// The code, and which of its results are wanted: values, and derivatives. The size of a `Vec` stands before it
    /// and is not; nor are values beside a derivative that is asked for alone.
    fn compiled<S: Source>(&self) -> Result<&(Compiled, Vec<Wanted>)> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let function = function::<S>()?;
        let number = matches!(self.request, Request::Gradient | Request::ValueAndGradient);
        // The gradient is that of the function's result, not of a number that it changes.
        let several = S::CHANGED.contains(&true) && S::RESULT != Type::Unit;
        let function = if number && several { function.of("0")? } else { function };
        let compiled = function.compile(self.request)?;
        let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
        let derivatives = matches!(
            self.request,
            Request::Gradient | Request::HessianProduct | Request::Hessian | Request::Jacobian(_)
        );
        let sizes = S::RESULT.sizes();
        let wanted = |k: &usize| roles[*k] == Role::Derivative || (!derivatives && *k >= sizes);
        let wanted = (0..roles.len()).filter(wanted);
        let wanted = wanted.map(|output| Wanted { output, leaf: compiled.leaf(output) }).collect();
        Ok(self.compiled.get_or_init(|| (compiled, wanted)))
    }

    /// Calls it with arguments that are given by words, and by values where these do not do.
    ///
    /// # Errors
    /// A program that is refused, arguments that do not fit, or a run that fails, with its place in Rust.
    #[inline]
    pub fn call<'a, S: Source, R, const N: usize>(
        &'static self,
        local: &'static LocalKey<Local>,
        words: impl FnOnce(&mut Words<'_, '_, 'a>),
        values: impl Fn() -> Result<[Held<'a>; N]>,
        mut read: impl FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        // Where the thread is ending, or makes this call within a call, a session of its own does.
        let mut kept = local.try_with(Local::take).unwrap_or_default();
        let done = self.run::<S, R, N>(&mut kept, words, &values, &mut read);
        let _ = local.try_with(|local| local.keep(kept));
        done
    }

    /// Calls it with the session of a call before, if there is one; leaves the session of this one.
    #[inline]
    pub(super) fn run<'a, S: Source, R, const N: usize>(
        &'static self,
        kept: &mut Option<Box<Session>>,
        words: impl FnOnce(&mut Words<'_, '_, 'a>),
        values: &dyn Fn() -> Result<[Held<'a>; N]>,
        read: &mut impl FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        if let (Some(session), Some((_, wanted))) = (kept.as_mut(), self.compiled.get()) {
            let direct = session.direct(|call| {
                let mut all = Words::new(call);
                words(&mut all);
                all.are_all()
            });
            match direct {
                Some(Ok(())) => return read(&mut Taken::new(session.results(), wanted)),
                Some(Err(failure)) => return Err(placed::<S>(session.failed(failure))),
                None => {}
            }
        }
        self.by_values::<S, R, N>(kept, values, read)
    }

    /// The same by values.
    #[cold]
    fn by_values<'a, S: Source, R, const N: usize>(
        &'static self,
        kept: &mut Option<Box<Session>>,
        values: &dyn Fn() -> Result<[Held<'a>; N]>,
        read: &mut dyn FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        let arguments = values()?;
        let (compiled, wanted) = self.compiled::<S>()?;
        let session = kept.get_or_insert_with(|| Box::new(compiled.session()));
        let done =
            Held::with(&arguments, &mut |args| read(&mut Taken::new(session.call(args)?, wanted)));
        done.map_err(placed::<S>)
    }
}

/// An error of a run, at its place in Rust.
#[cold]
fn placed<S: Source>(error: Error) -> Error {
    match error {
        Error::Run(error) => match S::linked().get::<S>() {
            Ok(linked) => {
                let place = linked.place(error.error().span);
                Error::Run(error.at(place))
            }
            Err(error) => error,
        },
        other => other,
    }
}
