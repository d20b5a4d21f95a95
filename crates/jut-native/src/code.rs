//! The machine code of a program, whoever made it, and the way in.

use crate::error::CompileError;
use jut_ir::{RuntimeError, RuntimeErrorKind, Span};
use jut_loop::form::{Foreign, Kind, LoopProgram, Role};
use jut_runtime::foreign::{self, Functions};
use jut_runtime::{Cancellation, Workspace, cancel, print, shares, stack};

/// The machine signature of every program: workspace, arguments, results; returns the status.
pub type Entry = unsafe extern "C" fn(*mut Workspace, *const u64, *mut u64) -> u32;

/// What code takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Bytes of stack that a call takes, at most.
    pub stack: usize,
    /// Bytes of machine code.
    pub bytes: usize,
}

/// Machine code of a program, which is given back to the system when this is dropped. Many threads may run it at once,
/// each with its own workspace.
pub struct Code {
    entry: Entry,
    /// Whether it calls no functions of other languages and needs no stack of its own.
    is_plain: bool,
    pub(crate) name: String,
    pub(crate) params: Vec<(Kind, Role)>,
    pub(crate) results: Vec<Kind>,
    sites: Vec<(RuntimeErrorKind, Span)>,
    pub(crate) stack: usize,
    pub(crate) bytes: usize,
    /// The functions of other languages that it calls, if they are known.
    foreign: Option<Functions>,
    /// Keeps the code; nothing else touches it.
    _owner: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code")
            .field("name", &self.name)
            .field("params", &self.params)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

impl Code {
    /// What a backend made of a program: the entry, what it takes, and the owner of the
    /// code, which is dropped last.
    ///
    /// # Errors
    /// [`CompileError::Malformed`] if the program has no function.
    ///
    /// # Safety
    /// The entry is code for the last function of the program, it means what the loop form says, and
    /// it stays where it is for as long as `owner` is alive. Many threads may run it at once.
    pub unsafe fn new(
        program: &LoopProgram,
        entry: Entry,
        footprint: Footprint,
        owner: Box<dyn Send + Sync>,
    ) -> Result<Code, CompileError> {
        let Some((_, function)) = program.funcs.last() else {
            return Err(CompileError::no_function());
        };
        let kind = |value| function.values[value].kind;
        let foreign = match &program.foreign {
            Foreign::Functions(functions) => Some(functions.clone()),
            Foreign::OfThread | Foreign::Symbols(_) => None,
        };
        let calls_out = program.funcs.values().any(|f| f.calls_out());
        let room = if calls_out { FOREIGN_STACK } else { 0 };
        let stack = footprint.stack.saturating_add(room);
        Ok(Code {
            entry,
            is_plain: foreign.is_none() && stack <= LARGE_STACK,
            name: function.name.clone(),
            params: function.params.iter().map(|p| (kind(p.value), p.role)).collect(),
            results: function.result_kinds().collect(),
            sites: program.sites.values().cloned().collect(),
            stack,
            bytes: footprint.bytes,
            foreign,
            _owner: owner,
        })
    }

    /// Calls it with one word per parameter (the bits of a scalar, or a pointer) and one word per result. The workspace is
    /// reset first.
    ///
    /// # Safety
    /// As [`Compiled::call_words`](crate::Compiled::call_words), with as many words as parameters and results.
    #[inline(always)]
    pub(crate) unsafe fn run(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
        workspace.reset();
        // What most calls are: nobody can cancel them, and nothing has to be known to this thread.
        if self.is_plain && workspace.is_plain() && stack::fits(self.stack + RUNTIME_STACK) {
            // SAFETY: as required of the caller.
            return match unsafe { self.enter(workspace, args, results) } {
                0 => Ok(()),
                status => Err(self.error(workspace, status)),
            };
        }
        self.run_any(workspace, args, results)
    }

    /// The same with whatever a call may need.
    #[inline(never)]
    fn run_any(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
        match &self.foreign {
            None => self.run_within(workspace, args, results),
            Some(functions) => {
                foreign::with(functions, || self.run_within(workspace, args, results))
            }
        }
    }

    /// The same, on a thread that knows which functions of other languages there are.
    fn run_within(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
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

    /// The machine code and nothing else: [`Compiled::enter`](crate::Compiled::enter).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn enter(
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
        let (entry, printer, functions) = (self.entry, print::current(), foreign::current());
        std::thread::scope(|scope| {
            let run = move || {
                let Pointers(workspace, args, results) = { pointers };
                // SAFETY: as in `run`, which passes these on.
                let run = || unsafe { entry(workspace, args, results) };
                let run = || print::to(printer, || within(cancellation, run));
                foreign::going_on(functions, run)
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

    #[cold]
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

/// Bytes of stack for functions of other languages.
const FOREIGN_STACK: usize = 128 * 1024;

/// Bytes of stack for what compiled code calls: functions of the runtime, which do not call back, and
/// those of the C library for threads and memory.
pub(crate) const RUNTIME_STACK: usize = 16 * 1024;
