//! Machine code for the loop form, through Cranelift.
//!
//! The loop form is already structured like machine code: scalars, buffers, counted loops, checks.
//! This crate only spells it out: loops and branches become blocks whose parameters are the carried
//! values, a check becomes a branch to a cold block, an allocation bumps a pointer. It knows nothing
//! of differentiation and changes no arithmetic: no operation is contracted, reordered or left out,
//! so the results agree bit for bit with the interpreter's. What it can take of the
//! loop form, [`BACKEND`] says.
//!
//! | module | what |
//! |---|---|
//! | [`Isa`] | the machine and Cranelift's settings |
//! | [`BACKEND`] | a program in executable memory; calling it is [`jut_native`]'s |
//! | `aot` | programs in an object file, called from C: with the feature `aot` only |
//! | `program` | all functions of a program into any Cranelift module |
//! | `unit` | a module in the making, and the function that is being written |
//! | `signature` | what functions take and give, and which of the runtime there are |
//! | `translate` | one function: values, statements, checks, calls |
//! | `shares` | calls that may run on several threads |
//! | `failing` | checks and errors |
//! | `loops` | `for` |
//! | `lanes`, `stacked` | `lanes`, in registers and in memory |
//! | `pairs`, `vector`, `group` | two iterations of a marked loop at once |
//! | `nested` | loops in the body of such a loop |
//! | `ordered` | sums in order, whose terms are computed two at a time |
//! | `previous` | what a value was in the iteration before |
//! | `singles` | products of derivatives of one iteration, or outside of loops, looked at together |
//! | `literals` | floats of loops in registers |
//! | `fresh_names` | names of their own for loops without calls |
//! | `memory` | addresses, loads, stores, the arenas |
//! | `machine` | machine operations, one by one |
//!
//! *Requires*: a well-formed loop program. *Ensures*: compiling never panics or aborts; compiled
//! code returns a status, and never jumps over a Rust frame. *Cost*: linear in the text of the
//! program.

// Without objects nothing asks for functions of the system.
#![cfg_attr(not(feature = "aot"), allow(dead_code))]

#[cfg(feature = "aot")]
mod aot;
mod around;
mod failing;
mod fresh_names;
mod group;
mod isa;
mod jit;
mod lanes;
mod literals;
mod loops;
mod memory;
mod nested;
mod operation;
mod ordered;
mod pairs;
mod previous;
mod program;
mod shares;
mod signature;
mod singles;
mod stacked;
mod translate;
mod unit;
mod vector;

#[cfg(feature = "aot")]
pub use aot::ObjectFile;
pub use cranelift_codegen::VERSION;
pub use isa::Isa;
pub use jit::{BACKEND, assembly, clif};
pub use jut_native::{Arg, CallError, CompileError, Compiled};
