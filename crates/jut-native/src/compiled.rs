//! A compiled program: its code, and that which takes over.
//!
//! Three layers, from the machine upwards: [`Compiled::call_words`] takes one word per parameter and
//! checks nothing but their number; [`Compiled::call`] takes typed arguments and checks kind and
//! role of each; what lengths the buffers must have is known to the signature that the lowering made
//! along with the program, and checked by who has it.

use crate::call::{Arg, CallError};
use crate::code::Code;
use crate::tiers::Later;
use jut_ir::RuntimeError;
use jut_loop::form::{Kind, Role};
use jut_runtime::Workspace;
use std::sync::Arc;

/// A compiled program. It may be called from many threads at once, each with its own workspace. Its
/// code is given back to the system when it is dropped. Where the backend has another one
/// [for later](crate::Backend::then), what it takes and what it says of itself is that of the first, unless the other's is
/// [on disk](crate::cache) already.
#[derive(Debug)]
pub struct Compiled {
    code: Code,
    then: Then,
}

/// What becomes of a program that is called often.
#[derive(Debug)]
enum Then {
    /// Its code stays.
    Nothing,
    /// That of another backend takes over when it is there.
    Later(Arc<Later>),
    /// Its code is the one that would take over.
    Instead,
}

impl From<Code> for Compiled {
    fn from(code: Code) -> Compiled {
        Compiled { code, then: Then::Nothing }
    }
}

impl Compiled {
    /// Code, until that of another backend takes over.
    pub(crate) fn until(code: Code, later: Arc<Later>) -> Compiled {
        Compiled { code, then: Then::Later(later) }
    }

    /// Code that would take over from another backend's.
    pub(crate) fn instead(code: Code) -> Compiled {
        Compiled { code, then: Then::Instead }
    }

    /// Waits for the code that [takes over](crate::Backend::then), instead of after some calls; says whether there is one.
    pub fn prewarm(&self) -> bool {
        match &self.then {
            Then::Nothing => false,
            Then::Later(later) => later.finish().is_some(),
            Then::Instead => true,
        }
    }

    /// Whether calls that begin now run the code that [takes over](crate::Backend::then).
    pub fn is_replaced(&self) -> bool {
        match &self.then {
            Then::Nothing => false,
            Then::Later(later) => later.code().is_some(),
            Then::Instead => true,
        }
    }

    /// Name of the function that is called.
    pub fn name(&self) -> &str {
        &self.code.name
    }

    /// How much machine code it is.
    pub fn bytes(&self) -> usize {
        self.code.bytes
    }

    /// Kind and role of each parameter.
    pub fn params(&self) -> &[(Kind, Role)] {
        &self.code.params
    }

    /// Kind of each result. A buffer lies in the workspace until its next call.
    pub fn results(&self) -> &[Kind] {
        &self.code.results
    }

    /// Calls the program with one word per parameter (the bits of a scalar, or a pointer) and one
    /// word per result. Words beyond those are left alone. The workspace is reset first.
    ///
    /// Neither this nor the call itself allocates memory from the system, but for what the
    /// workspace lacks, the list of operands of an error, and the stack of a program that needs
    /// more than [`LARGE_STACK`](crate::LARGE_STACK) bytes of it, or more than the thread has left.
    ///
    /// # Panics
    /// If there are fewer words than parameters or results.
    ///
    /// # Safety
    /// Each word of a buffer parameter points to as many cells as the program's signature says,
    /// aligned to their size; of those with role `InOut` and `Out` nothing else reads or writes the
    /// cells during the call, of those with role `In` nothing else writes them. Cells of bools hold
    /// 0 or 1, and so do the words of bools.
    #[inline(always)]
    pub unsafe fn call_words(
        &self,
        workspace: &mut Workspace,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), RuntimeError> {
        let code = &self.code;
        assert!(args.len() >= code.params.len(), "one word per parameter");
        assert!(results.len() >= code.results.len(), "one word per result");
        match &self.then {
            // SAFETY: the caller vouches for the words.
            Then::Nothing | Then::Instead => unsafe { code.run(workspace, args, results) },
            Then::Later(later) => match later.code() {
                // SAFETY: as above: what takes over has the signature of the program, too.
                Some(other) => unsafe { other.run(workspace, args, results) },
                // SAFETY: as above.
                None => later.note(|| unsafe { code.run(workspace, args, results) }),
            },
        }
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
        // SAFETY: the caller vouches for what the code needs.
        unsafe { self.code.enter(workspace, args, results) }
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
        if args.len() != self.code.params.len() || results.len() != self.code.results.len() {
            return Err(CallError::Arguments(format!(
                "`{}` takes {} arguments and gives {} results, not {} and {}",
                self.code.name,
                self.code.params.len(),
                self.code.results.len(),
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

    /// The words of arguments, the first of which is for parameter `first`; each must have the
    /// kind and the role of its parameter.
    pub(crate) fn check(
        &self,
        args: &mut [Arg<'_>],
        first: usize,
        words: &mut [u64],
    ) -> Result<(), CallError> {
        let params = self.code.params.get(first..).unwrap_or_default();
        for ((k, (arg, (kind, role))), to) in args.iter_mut().zip(params).enumerate().zip(words) {
            let (word, given, writable) = arg.word();
            if given != *kind || (*role != Role::In && !writable) {
                return Err(CallError::Arguments(format!(
                    "argument {} of `{}` is a {kind:?} ({role:?}), not {given:?}",
                    first + k,
                    self.code.name
                )));
            }
            *to = word;
        }
        Ok(())
    }
}
