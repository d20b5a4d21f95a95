//! A derivative of a function, compiled at its first call, and called from any thread.

use super::argument::Held;
use super::outcome::Taken;
use super::{Source, Type, function};
use crate::compiled::{Compiled, Session};
use crate::error::{Error, Result};
use crate::ports::Role;
use crate::request::Request;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::thread::LocalKey;

/// What is made of a function, once per process.
pub struct Entry {
    request: Request,
    compiled: OnceLock<(Compiled, Vec<usize>)>,
}

/// What a thread keeps to call it: memory that further calls use again.
pub struct Local(RefCell<Option<Session>>);

impl Local {
    /// Nothing is there yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Local {
        Local(RefCell::new(None))
    }
}

impl Entry {
    /// Nothing is compiled yet.
    pub const fn new(request: Request) -> Entry {
        Entry { request, compiled: OnceLock::new() }
    }

    /// The code, and which of its results are wanted: values, and derivatives. The size of a `Vec` stands before it
    /// and is not; nor are values beside a derivative that is asked for alone.
    fn compiled<S: Source>(&self) -> Result<&(Compiled, Vec<usize>)> {
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
        let wanted = (0..roles.len()).filter(wanted).collect();
        Ok(self.compiled.get_or_init(|| (compiled, wanted)))
    }

    /// Calls it.
    ///
    /// # Errors
    /// A program that is refused, arguments that do not fit, or a run that fails, with its place in Rust.
    pub fn call<S: Source, R>(
        &'static self,
        local: &'static LocalKey<Local>,
        arguments: &[Held<'_>],
        mut read: impl FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        // Where the thread is ending, a session of this call's own does.
        let mut done = None;
        let _ = local.try_with(|local| {
            done = Some(self.run::<S, R>(Some(local), arguments, &mut read));
        });
        done.unwrap_or_else(|| self.run::<S, R>(None, arguments, &mut read))
    }

    /// Calls it, with what a thread keeps, if that is there and not in use.
    pub(super) fn run<S: Source, R>(
        &'static self,
        local: Option<&Local>,
        arguments: &[Held<'_>],
        read: &mut dyn FnMut(&mut Taken<'_>) -> Result<R>,
    ) -> Result<R> {
        let (compiled, wanted) = self.compiled::<S>()?;
        let mut run = |session: &mut Session| {
            let done = Held::with(arguments, &mut |args| {
                read(&mut Taken::new(session.call(args)?, wanted))
            });
            match done {
                Err(Error::Run(error)) => {
                    let place = S::linked().get::<S>()?.place(error.error().span);
                    Err(Error::Run(error.at(place)))
                }
                done => done,
            }
        };
        match local.map(|local| local.0.try_borrow_mut()) {
            Some(Ok(mut kept)) => run(kept.get_or_insert_with(|| compiled.session())),
            _ => run(&mut compiled.session()),
        }
    }
}
