//! Machine code for the loop form, through LLVM.
//!
//! The loop form is already structured like LLVM's intermediate representation: scalars, buffers,
//! counted loops, checks. This crate only spells it out, as text: loops and branches become blocks
//! whose phis are the carried values, a check becomes a branch to a cold block. It knows nothing of
//! differentiation and changes no arithmetic: there is no fast-math flag anywhere, no operation is
//! contracted, reordered or left out, so the results agree bit for bit with the interpreter's. What
//! LLVM is told instead is what it may not assume by itself: which buffers do not overlap, which
//! iterations are independent, which calls only compute.
//!
//! The text is written in every build ([`text`]), so that one can look at it. Making code of it needs
//! LLVM 22, which is linked with the feature `llvm` only; [`BUILT_IN`] says whether it is there.
//!
//! | module | what |
//! |---|---|
//! | `text` | LLVM's text form, a line at a time |
//! | `module` | all functions of a program, and the entry |
//! | `imports` | what functions need beside them, and how it is declared |
//! | `function` | one function: values, statements, calls, branches |
//! | `shares` | calls that may run on several threads |
//! | `failing` | checks and errors |
//! | `loops` | `for` and `lanes` |
//! | `vector` | eight iterations of a marked loop at once |
//! | `products` | products of derivatives of eight iterations, looked at together |
//! | `singles` | the same of one iteration, or outside of loops |
//! | `ordered` | sums in order, whose terms are computed eight at a time |
//! | `nested` | loops of sums in a body of which eight iterations are taken at once |
//! | `previous` | what a value was in the iteration before |
//! | `memory` | addresses, loads, stores, the arenas |
//! | `machine` | machine operations, one by one |
//! | `mathematics` | mathematical functions of eight arguments, written out |
//! | `cfunction` | the C function around a program, in object files |
//! | `support.ll`, `runtime.ll`, `system.ll` | what every program brings along; what the runtime has, or what stands for it |
//! | `host` | LLVM itself: passes, machine code |
//! | `jit` | machine code in executable memory |
//! | `object` | programs in an object file |
//!
//! *Requires*: a well-formed loop program. *Ensures*: compiling never panics or aborts; compiled
//! code returns a status, and never jumps over a Rust frame. *Cost*: the text is linear in that of
//! the program; LLVM's passes are what they are.

// Without LLVM nothing asks for the text of objects.
#![cfg_attr(not(feature = "llvm"), allow(dead_code))]

mod cfunction;
mod failing;
mod function;
#[cfg(feature = "llvm")]
mod host;
mod imports;
#[cfg(feature = "llvm")]
mod jit;
mod loops;
mod mathematics;
mod memory;
mod module;
mod nested;
#[cfg(feature = "llvm")]
mod object;
mod operation;
mod ordered;
mod previous;
mod products;
mod shares;
mod singles;
mod text;
mod vector;

pub use module::{text, text_target};

use jut_native::{Backend, Requirement, Text};

/// Whether LLVM is linked: the cargo feature `llvm`.
pub const BUILT_IN: bool = cfg!(feature = "llvm");

/// How to get a build with LLVM.
pub const HOW_TO_INSTALL: &str = "install LLVM 22 (Debian: `apt-get install gcc g++ llvm-22-dev \
    libpolly-22-dev libzstd-dev zlib1g-dev`), and build with the cargo feature `llvm`; if LLVM is \
    not in /usr/lib/llvm-22, name its folder in the environment variable LLVM_SYS_221_PREFIX";

const PACKAGES: &[&str] =
    &["gcc", "g++", "libc6-dev", "llvm-22-dev", "libpolly-22-dev", "libzstd-dev", "zlib1g-dev"];

/// Code for the machine that this process runs on, objects for others too.
pub const BACKEND: Backend = Backend {
    name: "llvm",
    about: "machine code that takes longer to make and runs faster",
    version: here::version,
    requirement: Some(Requirement {
        feature: "llvm",
        packages: PACKAGES,
        variable: "LLVM_SYS_221_PREFIX",
        folder: "/usr/lib/llvm-22",
    }),
    target: here::target,
    compile: here::compile,
    kept: here::compile_kept,
    text: Text {
        stage: "llvm",
        about: "text for LLVM, before its optimisations",
        target: text_target,
        print: text,
    },
    assembly: here::assembly,
    object: Some(OBJECT),
    then: None,
};

#[cfg(not(feature = "llvm"))]
use absent as here;
#[cfg(not(feature = "llvm"))]
use absent::OBJECT;
#[cfg(feature = "llvm")]
use host as here;
#[cfg(feature = "llvm")]
use object::OBJECT;

#[cfg(feature = "llvm")]
pub use host::{assembly, assembly_of_text, compile_text, optimised, version};
#[cfg(not(feature = "llvm"))]
mod absent {
    //! What there is when LLVM is not linked: the same functions, which say so.

    use crate::imports::Instructions;
    use crate::module;
    use jut_loop::form::LoopProgram;
    use jut_loop::target::Target;
    use jut_native::object::MathLibrary;
    use jut_native::{Code, CompileError, NewObject};

    fn absent<T>() -> Result<T, CompileError> {
        Err(CompileError::Host(format!("LLVM is not built in; {}", super::HOW_TO_INSTALL)))
    }

    pub(crate) const OBJECT: NewObject = |_, _| absent();

    /// The version of LLVM, if it is built in.
    pub fn version() -> Option<String> {
        None
    }

    pub(crate) fn target() -> Target {
        module::takes(MathLibrary::Jut, Instructions::ALL)
    }

    pub(crate) fn compile(_: &LoopProgram) -> Result<Code, CompileError> {
        absent()
    }

    pub(crate) fn compile_kept(_: &LoopProgram) -> Option<Code> {
        None
    }

    /// The program as assembly text for this machine.
    ///
    /// # Errors
    /// [`CompileError::Host`]: LLVM is not built in.
    pub fn assembly(_: &LoopProgram) -> Result<String, CompileError> {
        absent()
    }

    /// Assembly text for this machine of text for LLVM that was made in another way.
    ///
    /// # Errors
    /// [`CompileError::Host`]: LLVM is not built in.
    pub fn assembly_of_text(_: &str) -> Result<String, CompileError> {
        absent()
    }

    /// The program as LLVM's text form, after its optimisations.
    ///
    /// # Errors
    /// [`CompileError::Host`]: LLVM is not built in.
    pub fn optimised(_: &LoopProgram) -> Result<String, CompileError> {
        absent()
    }

    /// Compiles text for LLVM that was made of a program in another way.
    ///
    /// # Errors
    /// [`CompileError::Host`]: LLVM is not built in.
    ///
    /// # Safety
    /// Any text is safe: there is nothing to run it.
    pub unsafe fn compile_text(_: &LoopProgram, _: &str) -> Result<Code, CompileError> {
        absent()
    }
}

#[cfg(not(feature = "llvm"))]
pub use absent::{assembly, assembly_of_text, compile_text, optimised, version};
