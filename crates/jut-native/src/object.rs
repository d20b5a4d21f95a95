//! What backends have in common that write object files for C.

use crate::error::CompileError;
use jut_ir::{RuntimeErrorKind, Span};
use jut_loop::analysis::effects;
use jut_loop::form::LoopProgram;
use jut_loop::opt::for_target;
use jut_loop::target::Target;
use target_lexicon::Triple;

/// What an object is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Machine {
    /// This machine, with every instruction that it has.
    Host,
    /// Any machine of the target: its least instruction set.
    Any(Triple),
}

/// Which mathematical functions an object calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MathLibrary {
    /// Those of jut's static runtime: the same bits as in memory. Memory for tapes comes from the
    /// runtime too and grows as needed.
    #[default]
    Jut,
    /// Those of the system's library (`-lm`): nothing else is needed. Memory for tapes is given by
    /// the caller with each call.
    System,
}

/// An exported function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// Whether it needs a workspace (or memory): otherwise none need be given.
    pub needs_memory: bool,
    /// Bytes of stack that a call takes, at most, beyond those of the runtime.
    pub stack: usize,
}

/// A place that can fail, as the caller is told of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Line of the user's text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The message.
    pub message: String,
    /// How many numbers belong to the message.
    pub numbers: usize,
}

/// The C library's name for a function of the runtime, if it has the function.
pub fn system_name(symbol: &str) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot", "pow", "sin",
        "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "erf", "erfc", "lgamma", "fmod", "fma", "floor", "ceil", "trunc",
    ];
    if symbol == "jut_gamma" {
        return Some("tgamma");
    }
    if symbol == "jut_copy" {
        return Some("memmove");
    }
    let name = symbol.strip_prefix("jut_")?;
    NAMES.into_iter().find(|known| *known == name)
}

/// An object file that is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// The file.
    pub bytes: Vec<u8>,
    /// Bytes of stack that a call of any of its functions takes at most, if that is known only now.
    pub stack: Option<usize>,
}

/// What makes an object file of programs.
pub trait ObjectWriter: Send {
    /// What the object is for.
    fn triple(&self) -> &Triple;

    /// What of the loop form it can take.
    fn target(&self) -> Target;

    /// [`ObjectWriter::add`] of a program as it stands; gives the bytes of stack that a call takes at
    /// most, or 0 if that is not known before the end.
    ///
    /// # Errors
    /// As [`ObjectWriter::add`].
    fn translate(
        &mut self,
        name: &str,
        program: &LoopProgram,
        order: &[usize],
        need: Option<&LoopProgram>,
        needs_memory: bool,
        describe: &mut dyn FnMut(RuntimeErrorKind, Span) -> Place,
    ) -> Result<usize, CompileError>;

    /// Adds a program, as [it is for this backend](for_target): its last function becomes the exported C function with the given name. The
    /// order lists its parameters by number (and after them its results), each once, as the C
    /// function takes them. `need` is what [`jut_loop::need::query`] made of it, if there is a bound
    /// on its memory: then the function `NAME_workspace_size` is exported, too. Without a bound,
    /// functions of the system do not go with memory. `describe` says what is told of a failing
    /// place.
    ///
    /// # Errors
    /// As a backend's `compile`; also if the name is taken.
    fn add(
        &mut self,
        name: &str,
        program: &LoopProgram,
        order: &[usize],
        need: Option<&LoopProgram>,
        describe: &mut dyn FnMut(RuntimeErrorKind, Span) -> Place,
    ) -> Result<Exported, CompileError> {
        let made = for_target(program, &self.target());
        // Buffers that strip-mining adds are on the stack.
        let needs_memory = effects::uses_arena(program);
        let stack = self.translate(name, &made, order, need, needs_memory, describe)?;
        Ok(Exported { needs_memory, stack })
    }

    /// The file.
    ///
    /// # Errors
    /// [`CompileError::Codegen`] if the file format cannot hold the code.
    fn finish(self: Box<Self>) -> Result<Object, CompileError>;
}
