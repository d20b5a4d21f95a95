//! What backends have in common that write object files for C.

use crate::error::CompileError;
use jut_ir::{RuntimeErrorKind, Span};
use jut_loop::analysis::effects;
use jut_loop::form::{Kind, LoopFunction, LoopProgram};
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

/// What the caller is told if a place fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Line of the user's text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The message.
    pub message: String,
    /// How many numbers belong to the message.
    pub numbers: usize,
}

/// A program that becomes an exported C function, as it is for a backend:
/// `int NAME(params.., results.., workspace, error)`, or `int NAME(params.., results.., memory, bytes, error)` where there
/// is no runtime.
#[derive(Debug)]
pub struct Export<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The program, whose last function it is.
    pub program: &'a LoopProgram,
    /// The numbers of parameters and results in the order of the C function.
    pub order: &'a [usize],
    /// The program that says how many bytes each arena needs, if there is a bound.
    pub need: Option<&'a LoopProgram>,
    /// Whether it needs a workspace (or memory).
    pub needs_memory: bool,
    /// What is told of each place that can fail.
    pub reports: Vec<Report>,
}

/// The messages of a function as they lie in its object, and a row for each place that can fail: line, column, how many numbers
/// there are, and where its message begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Messages {
    /// Rows, in the order of places.
    pub rows: Vec<[u32; 4]>,
    /// The messages, each ended by a zero.
    pub text: Vec<u8>,
}

/// The message of a call that needs a workspace and is given none.
pub const NO_WORKSPACE: &[u8] = b"R06: there is no workspace\0";

impl Export<'_> {
    /// The function.
    ///
    /// # Errors
    /// There is none, or the order is not that of its parameters and results.
    pub fn function(&self) -> Result<&LoopFunction, CompileError> {
        let (_, function) = self.program.funcs.last().ok_or_else(CompileError::no_function)?;
        let mut sorted = self.order.to_vec();
        sorted.sort_unstable();
        let count = function.params.len() + function.body.results.len();
        match sorted.into_iter().eq(0..count) {
            true => Ok(function),
            false => Err(self.refused("the order does not list every parameter and result once")),
        }
    }

    /// The integers among the parameters, as they stand in the C function.
    pub fn integers(&self, function: &LoopFunction) -> Vec<usize> {
        let integer = |k: &usize| {
            let param = function.params.get(*k);
            param.is_some_and(|param| function.values[param.value].kind == Kind::I64)
        };
        self.order.iter().copied().filter(integer).collect()
    }

    /// The name of the function that says how much memory a call needs, from these integers:
    /// `size_t NAME_workspace_size(int64_t ..)`.
    pub fn size_name(&self) -> String {
        format!("{}_workspace_size", self.name)
    }

    /// The messages of its places.
    ///
    /// # Errors
    /// They are too long for an object.
    pub fn messages(&self) -> Result<Messages, CompileError> {
        let mut messages = Messages { rows: Vec::new(), text: Vec::new() };
        for report in &self.reports {
            let begin = u32::try_from(messages.text.len());
            let begin = begin.map_err(|_| self.refused("too many messages"))?;
            messages.rows.push([report.line, report.column, report.numbers as u32, begin]);
            messages.text.extend(report.message.bytes().filter(|byte| *byte != 0));
            messages.text.push(0);
        }
        Ok(messages)
    }

    /// Why there is no such function.
    pub fn refused(&self, reason: &str) -> CompileError {
        CompileError::Codegen { function: self.name.to_owned(), reason: reason.to_owned() }
    }
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
    fn translate(&mut self, export: &Export<'_>) -> Result<usize, CompileError>;

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
        describe: &mut dyn FnMut(RuntimeErrorKind, Span) -> Report,
    ) -> Result<Exported, CompileError> {
        let made = for_target(program, &self.target());
        // Buffers that strip-mining adds are on the stack.
        let needs_memory = effects::uses_arena(program);
        let reports = made.sites.values().map(|(kind, span)| describe(*kind, *span)).collect();
        let export = Export { name, program: &made, order, need, needs_memory, reports };
        let stack = self.translate(&export)?;
        Ok(Exported { needs_memory, stack })
    }

    /// The file.
    ///
    /// # Errors
    /// [`CompileError::Codegen`] if the file format cannot hold the code.
    fn finish(self: Box<Self>) -> Result<Object, CompileError>;
}
