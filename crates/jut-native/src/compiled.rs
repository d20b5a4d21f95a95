//! A compiled program in executable memory, whoever made the code.

use jut_ir::{RuntimeErrorKind, Span};
use jut_loop::form::{Kind, LoopProgram, Role};
use jut_runtime::Workspace;
use std::sync::Arc;

use crate::backend::Backend;
use crate::error::CompileError;
use crate::tiers::Later;

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

/// A compiled program. It may be called from many threads at once, each with its own workspace. Its
/// code is given back to the system when it is dropped. Where the backend has another one
/// [for later](Backend::then), what it takes and what it says of itself is that of the first, unless the other's is
/// [on disk](crate::cache) already.
pub struct Compiled {
    pub(crate) entry: Entry,
    pub(crate) name: String,
    pub(crate) params: Vec<(Kind, Role)>,
    pub(crate) results: Vec<Kind>,
    pub(crate) sites: Vec<(RuntimeErrorKind, Span)>,
    pub(crate) stack: usize,
    pub(crate) bytes: usize,
    /// What takes over when it is there.
    pub(crate) later: Option<Arc<Later>>,
    /// Whether this is what would take over.
    instead: bool,
    /// Keeps the code; nothing else touches it.
    _code: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled")
            .field("name", &self.name)
            .field("params", &self.params)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

impl Compiled {
    /// What a backend made of a program: the entry, what it takes, and the owner of the
    /// code, which is dropped last.
    ///
    /// # Errors
    /// [`CompileError::Malformed`] if the program has no function.
    ///
    /// # Safety
    /// The entry is code for the last function of the program, it means what the loop form says, and
    /// it stays where it is for as long as `code` is alive. Many threads may run it at once.
    pub unsafe fn new(
        program: &LoopProgram,
        entry: Entry,
        footprint: Footprint,
        code: Box<dyn Send + Sync>,
    ) -> Result<Compiled, CompileError> {
        let Some((_, function)) = program.funcs.last() else {
            return Err(CompileError::no_function());
        };
        let kind = |value| function.values[value].kind;
        Ok(Compiled {
            entry,
            name: function.name.clone(),
            params: function.params.iter().map(|p| (kind(p.value), p.role)).collect(),
            results: function.result_kinds().collect(),
            sites: program.sites.values().cloned().collect(),
            stack: footprint.stack,
            bytes: footprint.bytes,
            later: None,
            instead: false,
            _code: code,
        })
    }

    /// The same, until a backend's code of the program takes over.
    pub(crate) fn until(mut self, program: &LoopProgram, then: &'static Backend) -> Compiled {
        self.later = Some(Later::new(program, then));
        self
    }

    /// The same, as what would take over from another backend's.
    pub(crate) fn instead(self) -> Compiled {
        Compiled { instead: true, ..self }
    }

    /// Waits for the code that [takes over](Backend::then), instead of after some calls; says whether there is one.
    pub fn prewarm(&self) -> bool {
        self.instead || self.later.as_ref().is_some_and(|later| later.finish().is_some())
    }

    /// Whether calls that begin now run the code that [takes over](Backend::then).
    pub fn is_replaced(&self) -> bool {
        self.instead || self.later.as_ref().is_some_and(|later| later.code().is_some())
    }
}
