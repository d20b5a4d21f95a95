//! Calling a compiled program.
//!
//! Three layers, from the machine upwards: [`Compiled::call_words`] takes one word per parameter and
//! checks nothing but their number; [`Compiled::call`] takes typed arguments and checks kind and
//! role of each; what lengths the buffers must have is known to the signature that the lowering made
//! along with the program, and checked by who has it.

use crate::compiled::Compiled;
use jut_ir::{RuntimeError, RuntimeErrorKind};
use jut_loop::form::{Cell, Kind, Role};
use jut_runtime::{Cancellation, Workspace, cancel, print, shares, stack};
use std::fmt;

/// An argument of a compiled program.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// Floats that are read.
    F64s(&'a [f64]),
    /// Floats of 32 bits that are read.
    F32s(&'a [f32]),
    /// Integers that are read.
    I64s(&'a [i64]),
    /// Integers of 32 bits that are read.
    I32s(&'a [i32]),
    /// Truth values that are read.
    Bools(&'a [bool]),
    /// Floats that are written.
    F64sMut(&'a mut [f64]),
    /// Floats of 32 bits that are written.
    F32sMut(&'a mut [f32]),
    /// Integers that are written.
    I64sMut(&'a mut [i64]),
    /// Integers of 32 bits that are written.
    I32sMut(&'a mut [i32]),
    /// Truth values that are written.
    BoolsMut(&'a mut [bool]),
}

impl Arg<'_> {
    /// The number of cells of an argument that is an array.
    #[inline]
    pub(crate) fn cells(&self) -> Option<usize> {
        match self {
            Arg::F64(_) | Arg::F32(_) | Arg::I64(_) | Arg::I32(_) | Arg::Bool(_) => None,
            Arg::F64s(x) => Some(x.len()),
            Arg::F32s(x) => Some(x.len()),
            Arg::I32s(x) => Some(x.len()),
            Arg::I64s(x) => Some(x.len()),
            Arg::Bools(x) => Some(x.len()),
            Arg::F64sMut(x) => Some(x.len()),
            Arg::F32sMut(x) => Some(x.len()),
            Arg::I32sMut(x) => Some(x.len()),
            Arg::I64sMut(x) => Some(x.len()),
            Arg::BoolsMut(x) => Some(x.len()),
        }
    }

    /// The word that stands for the argument, its kind, and whether it may be written.
    #[inline]
    pub(crate) fn word(&mut self) -> (u64, Kind, bool) {
        match self {
            Arg::F64(x) => (x.to_bits(), Kind::F64, false),
            Arg::F32(x) => (u64::from(x.to_bits()), Kind::F32, false),
            Arg::I64(x) => (*x as u64, Kind::I64, false),
            Arg::I32(x) => (u64::from(x.cast_unsigned()), Kind::I32, false),
            Arg::Bool(x) => (u64::from(*x), Kind::BOOL, false),
            Arg::F64s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::F64), false),
            Arg::F32s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::F32), false),
            Arg::I32s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::I32), false),
            Arg::I64s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::I64), false),
            Arg::Bools(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::BOOL), false),
            Arg::F64sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::F64), true),
            Arg::F32sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::F32), true),
            Arg::I32sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::I32), true),
            Arg::I64sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::I64), true),
            Arg::BoolsMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::BOOL), true),
        }
    }
}

/// Why a call gave no results.
#[derive(Clone, PartialEq, Debug)]
pub enum CallError {
    /// The arguments do not fit the program.
    Arguments(String),
    /// The program failed: `R01` to `R08`.
    Run(RuntimeError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Arguments(reason) => f.write_str(reason),
            CallError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

impl From<RuntimeError> for CallError {
    fn from(error: RuntimeError) -> CallError {
        CallError::Run(error)
    }
}

impl Compiled {
    /// Name of the function that is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How much machine code it is.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Kind and role of each parameter.
    pub fn params(&self) -> &[(Kind, Role)] {
        &self.params
    }

    /// Kind of each result. A buffer lies in the workspace until its next call.
    pub fn results(&self) -> &[Kind] {
        &self.results
    }

    /// Calls the program with one word per parameter (the bits of a scalar, or a pointer) and one
    /// word per result. Words beyond those are left alone. The workspace is reset first.
    ///
    /// Neither this nor the call itself allocates memory from the system, but for what the
    /// workspace lacks, the list of operands of an error, and the stack of a program that needs
    /// more than [`LARGE_STACK`] bytes of it, or more than the thread has left.
    ///
    /// # Panics
    /// If there are fewer words than parameters or results.
    ///
    /// # Safety
    /// Each word of a buffer parameter points to as many cells as the program's signature says,
    /// aligned to their size; of those with role `InOut` and `Out` nothing else reads or writes the
    /// cells during the call, of those with role `In` nothing else writes them. Cells of bools hold
    /// 0 or 1, and so do the words of bools.
    pub unsafe fn call_words(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
        assert!(args.len() >= self.params.len(), "one word per parameter");
        assert!(results.len() >= self.results.len(), "one word per result");
        match &self.later {
            // SAFETY: the caller vouches for the words.
            None => unsafe { self.run(workspace, args, results) },
            Some(later) => match later.code() {
                // SAFETY: as above: what takes over has the signature of the program, too.
                Some(code) => unsafe { code.run(workspace, args, results) },
                // SAFETY: as above.
                None => later.note(|| unsafe { self.run(workspace, args, results) }),
            },
        }
    }

    /// Runs this code, and none that takes over.
    ///
    /// # Safety
    /// As [`Compiled::call_words`], with as many words as parameters and results.
    unsafe fn run(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
        workspace.reset();
        let cancellation = workspace.cancellation().cloned();
        if cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            return Err(self.ended(RuntimeErrorKind::Cancelled));
        }
        let is_parallel = workspace.is_parallel();
        let (space, from, to) = (&raw mut *workspace, args.as_ptr(), results.as_mut_ptr());
        let status = if self.stack <= LARGE_STACK && stack::fits(self.stack + RUNTIME_STACK) {
            // SAFETY: the code has this signature and lives as long as `self`; it reads as many
            // words and writes as many as were just counted, uses the workspace, which is borrowed
            // alone, and otherwise only memory that the caller vouches for.
            let run = || unsafe { (self.entry)(space, from, to) };
            match is_parallel {
                true => within(cancellation.as_ref(), run),
                false => shares::alone(|| within(cancellation.as_ref(), run)),
            }
        } else {
            // The threads of others have no such stacks.
            workspace.set_parallel(is_parallel && self.stack <= LARGE_STACK);
            let status = self.on_large_stack(&raw mut *workspace, from, to, cancellation.as_ref());
            workspace.set_parallel(is_parallel);
            status?
        };
        if status == 0 { Ok(()) } else { Err(self.error(workspace, status)) }
    }

    /// The machine code and nothing else: no word is counted, the stack is not looked at, nobody can cancel
    /// it, and the workspace stays as it is. Gives the status, 0 if the program did not fail. It is there to
    /// say what the ways that do look cost besides.
    ///
    /// # Safety
    /// As [`Compiled::call_words`]; there are as many words as parameters and results, and the stack has
    /// room for the program.
    #[inline]
    pub unsafe fn enter(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> u32 {
        // SAFETY: the code has this signature and lives as long as `self`; the caller vouches for the rest.
        unsafe { (self.entry)(&raw mut *workspace, args.as_ptr(), results.as_mut_ptr()) }
    }

    /// Runs the entry on a thread whose stack is large enough.
    fn on_large_stack(
        &self,
        workspace: *mut Workspace,
        args: *const u64,
        results: *mut u64,
        cancellation: Option<&Cancellation>,
    ) -> Result<u32, RuntimeError> {
        struct Pointers(*mut Workspace, *const u64, *mut u64);
        // SAFETY: the thread that owns the pointers waits until the other one has ended.
        unsafe impl Send for Pointers {}
        let pointers = Pointers(workspace, args, results);
        let (entry, printer) = (self.entry, print::current());
        std::thread::scope(|scope| {
            let run = move || {
                let Pointers(workspace, args, results) = { pointers };
                // SAFETY: as in `call_words`, which passes these on.
                let run = || unsafe { entry(workspace, args, results) };
                print::to(printer, || within(cancellation, run))
            };
            let builder = std::thread::Builder::new().stack_size(self.stack + LARGE_STACK);
            let joined = builder.spawn_scoped(scope, run).map(|thread| thread.join());
            match joined {
                Ok(Ok(status)) => Ok(status),
                // No memory for the stack; compiled code does not panic.
                Ok(Err(_)) | Err(_) => Err(self.ended(RuntimeErrorKind::Memory)),
            }
        })
    }

    /// An error of the call as a whole, at the first place that can fail.
    fn ended(&self, kind: RuntimeErrorKind) -> RuntimeError {
        let span = self.sites.first().map(|(_, span)| *span).unwrap_or_default();
        RuntimeError { kind, span, operands: Vec::new() }
    }

    fn error(&self, workspace: &Workspace, status: u32) -> RuntimeError {
        let failure = workspace.failure();
        let site = usize::try_from(failure.site).ok().and_then(|site| self.sites.get(site));
        let named = u8::try_from(status).ok().and_then(RuntimeErrorKind::from_number);
        let (kind, span) = match site {
            Some((kind, span)) => (named.unwrap_or(*kind), *span),
            None => (named.unwrap_or(RuntimeErrorKind::Memory), Default::default()),
        };
        RuntimeError { kind, span, operands: kind.operands(failure.operands) }
    }

    /// Calls the program with typed arguments; each result is the bits of a scalar or a pointer
    /// into the workspace.
    ///
    /// # Safety
    /// The slices are as long as the program's signature says; for each parameter that is a buffer
    /// of buffers, which no [`Arg`] can be, see [`Compiled::call_words`].
    pub unsafe fn call(
        &self,
        workspace: &mut Workspace,
        args: &mut [Arg<'_>],
        results: &mut [u64],
    ) -> Result<(), CallError> {
        if args.len() != self.params.len() || results.len() != self.results.len() {
            return Err(CallError::Arguments(format!(
                "`{}` takes {} arguments and gives {} results, not {} and {}",
                self.name,
                self.params.len(),
                self.results.len(),
                args.len(),
                results.len()
            )));
        }
        let mut few = [0; 16];
        let mut many = Vec::new();
        let words = match few.get_mut(..args.len()) {
            Some(words) => words,
            None => {
                many.resize(args.len(), 0);
                &mut many[..]
            }
        };
        self.check(args, 0, words)?;
        // SAFETY: kinds and roles were checked, slices keep what they point to borrowed, and the
        // caller vouches for the lengths.
        Ok(unsafe { self.call_words(workspace, words, results) }?)
    }
}

impl Compiled {
    /// The words of arguments, the first of which is for parameter `first`; each must have the
    /// kind and the role of its parameter.
    pub(crate) fn check(
        &self,
        args: &mut [Arg<'_>],
        first: usize,
        words: &mut [u64],
    ) -> Result<(), CallError> {
        let params = self.params.get(first..).unwrap_or_default();
        for ((k, (arg, (kind, role))), to) in args.iter_mut().zip(params).enumerate().zip(words) {
            let (word, given, writable) = arg.word();
            if given != *kind || (*role != Role::In && !writable) {
                return Err(CallError::Arguments(format!(
                    "argument {} of `{}` is a {kind:?} ({role:?}), not {given:?}",
                    first + k,
                    self.name
                )));
            }
            *to = word;
        }
        Ok(())
    }
}

/// Runs code whose kernels stop early once it is cancelled.
fn within<T>(cancellation: Option<&Cancellation>, run: impl FnOnce() -> T) -> T {
    match cancellation {
        None => run(),
        Some(cancellation) => cancel::during(cancellation, run),
    }
}

/// Programs that need more stack than this run on a thread of their own.
pub const LARGE_STACK: usize = 256 * 1024;

/// Bytes of stack for what compiled code calls: functions of the runtime, which do not call back, and
/// those of the C library for threads and memory.
pub(crate) const RUNTIME_STACK: usize = 16 * 1024;
