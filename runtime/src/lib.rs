//! What compiled jut code calls, and what the interpreter calls for the same functions: one
//! implementation each, so that all engines agree bit for bit.
//!
//! | module | what |
//! |---|---|
//! | [`lanes`] | the fixed order of blocked sums |
//! | [`math`] | mathematical functions in pure Rust |
//! | [`matrix`] | products of matrices |
//! | [`vectors`] | products with vectors |
//! | [`conv`] | convolutions with channels |
//! | [`triangular`] | triangular solutions, the Cholesky factorisation |
//! | `eight` | eight floats at once, for these kernels |
//! | [`arena`] | memory with a bump pointer, kept between calls |
//! | [`cancel`] | ending calls from outside |
//! | [`print`](mod@print) | what programs print |
//! | `foreign` | functions of other languages, which the host gives |
//! | [`limits`] | how much memory the process may have |
//! | [`stack`] | how much stack a thread has left |
//! | [`workspace`] | what one thread needs to run compiled code, and the functions for compiled code |
//! | [`wide`] | mathematical functions of several arguments at once |
//! | [`symbols`] | the names by which compiled code reaches all of it |
//! | `freestanding` | what the static library has on top |
//!
//! The same sources are compiled twice: as this crate, for code in memory, and with the
//! configuration `jut_freestanding` as a static library for objects made ahead of time. The
//! library needs no Rust on the other side: only `malloc`, `free`, `write` and what a C compiler takes for
//! granted (`memcpy`, `memset`, ..).

#![cfg_attr(jut_freestanding, no_std)]

extern crate alloc;

pub mod arena;
pub mod cancel;
pub mod conv;
mod eight;
#[cfg(not(jut_freestanding))]
pub mod foreign;
#[cfg(jut_freestanding)]
mod freestanding;
pub mod lanes;
#[cfg(not(jut_freestanding))]
pub mod limits;
pub mod math;
pub mod matrix;
pub mod print;
#[cfg(not(jut_freestanding))]
pub mod shares;
#[cfg(not(jut_freestanding))]
pub mod stack;
pub mod symbols;
pub mod triangular;
pub mod vectors;
pub mod wide;
pub mod workspace;

pub use cancel::Cancellation;
pub use workspace::{Failure, Workspace};
