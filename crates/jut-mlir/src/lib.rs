//! The loop form as MLIR, and machine code through MLIR.
//!
//! The loop form is nearly a program of MLIR's `scf`, `memref` and `arith` dialects already, and this
//! crate writes it as a person would: a counted loop is `scf.for`, a loop in any order `scf.parallel`,
//! a branch `scf.if` with results, an array a `memref`, a mathematical function a call of jut's runtime.
//! Names are those of the program:
//!
//! ```text
//! loop def f(n: i64, x: in f64[n], y: out f64[n]) = {   func.func private @f(%n: index, %x: !f64s, %y: !f64s) {
//!   for par (i in 0 .. n) {                               scf.parallel (%i) = (%c0) to (%n) step (%c1) {
//!     a = x[i]                                              %a = memref.load %x[%i] : !f64s
//!     b = sin(a)                                            %b = func.call @jut_sin(%a) : (f64) -> (f64)
//!     y[i] = b                                              memref.store %b, %y[%i] : !f64s
//!   }                                                       scf.reduce
//! }                                                       }
//! ```
//!
//! **What can fail ends early.** Regions of `scf` cannot be left in the middle. So a function, loop or
//! branch in which a check or an allocation can fail has a status as its first result, 0 if all went
//! well: such a loop is an `scf.while` that goes on while the status is 0, and inside of such a body
//! `cf.cond_br` leaves out what comes after a failure. What cannot fail has none of this.
//!
//! **Bits.** No fast-math flag is set, no operation is contracted or reordered; sums are written out
//! in the order of the language, eight lanes in a `vector<8xf64>`; mathematical functions are the
//! runtime's, not those of the system's library. So results agree bit for bit with every engine.
//!
//! | module | what |
//! |---|---|
//! | `program` | a whole program: types, functions, entry |
//! | `names` | names that MLIR can read |
//! | `facts` | what can fail, and what needs the workspace |
//! | `function` | one function: values, constants, statements |
//! | `control` | loops, branches, calls, checks |
//! | `lanes` | sums in the fixed order |
//! | `vector` | eight iterations of a sum at once |
//! | `previous` | what a value was in the iteration before |
//! | `memory` | loads, stores, arenas |
//! | `operation` | machine operations, one by one |
//! | `prelude` | small functions that programs share |
//!
//! *Requires*: a well-formed loop program. *Ensures*: [`text`] never panics, and MLIR's verifier accepts
//! what it gives. *Cost*: linear in the text of the program.

mod control;
mod facts;
mod function;
mod lanes;
#[cfg(feature = "mlir")]
mod lowering;
mod memory;
mod names;
mod operation;
mod prelude;
mod previous;
mod program;
mod vector;

pub use program::text;

use jut_loop::form::LoopProgram;
use jut_loop::poll;
use jut_native::{Backend, Code, CompileError, Requirement, Text};

/// Whether MLIR is linked: the cargo feature `mlir`.
pub const BUILT_IN: bool = cfg!(feature = "mlir");

/// The version of MLIR that the feature `mlir` links.
pub const VERSION: &str = "22";

/// How to get a build with MLIR.
pub const HOW_TO_INSTALL: &str = "install MLIR 22 (Debian: `apt-get install gcc g++ llvm-22-dev \
    libmlir-22-dev mlir-22-tools libpolly-22-dev libclang1-22 libclang-common-22-dev libzstd-dev \
    zlib1g-dev`), and build with the cargo feature `mlir`; if MLIR is not in /usr/lib/llvm-22, name \
    its folder in the environment variables LLVM_SYS_221_PREFIX, MLIR_SYS_220_PREFIX and \
    TABLEGEN_220_PREFIX";

/// The passes that lower the text to MLIR's `llvm` dialect.
pub const PIPELINE: &str = "builtin.module(\
    convert-linalg-to-loops,convert-vector-to-scf,expand-strided-metadata,lower-affine,\
    convert-scf-to-cf,convert-math-to-llvm,convert-vector-to-llvm,finalize-memref-to-llvm,\
    convert-arith-to-llvm,convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,\
    convert-ub-to-llvm,reconcile-unrealized-casts)";

/// Programs for the machine that this process runs on: through MLIR's passes to LLVM's text form, and
/// then as `jut-llvm` compiles its own. Compiling fails with [`CompileError::Host`] if MLIR is not built
/// in.
pub const BACKEND: Backend = Backend {
    name: "mlir",
    about: "programs as MLIR, lowered by its passes and compiled by LLVM",
    version: || jut_llvm::version().filter(|_| BUILT_IN),
    requirement: Some(Requirement {
        feature: "mlir",
        packages: PACKAGES,
        variable: "MLIR_SYS_220_PREFIX",
        folder: "/usr/lib/llvm-22",
    }),
    target: || vector::TARGET,
    compile,
    kept: |_| None,
    text: Text {
        stage: "mlir",
        about: "MLIR, before any of its passes",
        target: || vector::TARGET,
        print: text,
    },
    assembly,
    object: None,
    then: None,
};

const PACKAGES: &[&str] = &[
    "gcc",
    "g++",
    "libc6-dev",
    "llvm-22-dev",
    "libmlir-22-dev",
    "mlir-22-tools",
    "libpolly-22-dev",
    "libclang1-22",
    "libclang-common-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
];

fn compile(program: &LoopProgram) -> Result<Code, CompileError> {
    let mut program = poll::place(program);
    // A loop of MLIR cannot be left in the middle without an end to its vectors: its rounds can.
    poll::spell_out(&mut program);
    let text = llvm_text(&program)?;
    // SAFETY: the text is the translation of the program.
    unsafe { jut_llvm::compile_text(&program, &text) }
}

/// The program as assembly text for this machine.
///
/// # Errors
/// As [`Backend::compile`].
pub fn assembly(program: &LoopProgram) -> Result<String, CompileError> {
    jut_llvm::assembly_of_text(&llvm_text(program)?)
}

/// The program as MLIR translates it to LLVM's text form, before LLVM's optimisations.
///
/// # Errors
/// As [`Backend::compile`].
#[cfg(feature = "mlir")]
pub fn llvm_text(program: &LoopProgram) -> Result<String, CompileError> {
    lowering::llvm_text(program)
}

/// The program as MLIR translates it to LLVM's text form, before LLVM's optimisations.
///
/// # Errors
/// [`CompileError::Host`]: MLIR is not built in.
#[cfg(not(feature = "mlir"))]
pub fn llvm_text(_: &LoopProgram) -> Result<String, CompileError> {
    Err(CompileError::Host(format!("MLIR is not built in; {HOW_TO_INSTALL}")))
}
