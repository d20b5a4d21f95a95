//! Calling compiled programs from Rust: the same for every backend.
//!
//! A backend turns a loop program into machine code with one entry,
//! `extern "C" fn(workspace, args: *const u64, results: *mut u64) -> u32`: one word per parameter of
//! the program's last function, one word per result, and a status that is 0 or the number of the
//! [kind of error](jut_ir::RuntimeErrorKind), in which case the workspace says where. What is around
//! such an entry stands here, once:
//!
//! | item | what |
//! |---|---|
//! | [`Code`] | the machine code of a program, and its owner |
//! | [`Compiled`] | a program that can be called: its code, and that which takes over |
//! | [`Compiled::call`] | calling it with typed arguments |
//! | [`Checked`] | calling it safely, every length held against the signature |
//! | [`Bound`] | calling it again and again, lengths worked out once |
//! | `shares` | loops on several threads |
//! | [`together`] | work that threads take from one another |
//! | [`cache`] | code that is kept on disk from one process to the next |
//! | `tiers` | code that is replaced by better code while it is in use |
//! | [`Recorder`] | programs that continue from what another one left |
//! | [`frame`] | what of a function's memory lies on the stack |
//! | [`object`] | what backends have in common that write objects for C |
//! | [`CompileError`] | why there is no code |
//!
//! *Requires* of a backend: the code means what the loop form says, and never unwinds or jumps over a
//! Rust frame. *Ensures*: through [`Checked`] and [`Bound`], no argument can make compiled code read or write
//! outside what it was given.

mod backend;
mod bound;
pub mod cache;
mod call;
mod checked;
mod code;
mod compiled;
mod error;
pub mod frame;
pub mod library;
pub mod object;
mod recorded;
mod shares;
mod threads;
mod tiers;

pub use backend::{Backend, NewObject, Requirement, Text};
pub use bound::{Beginning, Bound};
pub use call::{Arg, CallError};
pub use checked::{Checked, Results, Returned};
pub use code::{Code, Entry, Footprint, LARGE_STACK};
pub use compiled::Compiled;
pub use error::CompileError;
pub use recorded::{Recorder, Recording, Saved};
pub use threads::together;
