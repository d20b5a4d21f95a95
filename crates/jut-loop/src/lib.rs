//! The loop form: imperative, below Linear A. Structured loops, flat typed buffers, scalars in
//! single assignment, explicit index arithmetic, checks. No linear names, no capabilities, no
//! goto: it maps one to one to block parameters, phis or structured control flow. Backends are
//! thin translations of it and know nothing of differentiation.
//!
//! | module | what |
//! |---|---|
//! | [`form`] | the data structure |
//! | [`visit`] | its visitors: what statements read, bind and contain |
//! | [`kernel`] | functions of the runtime on whole buffers |
//! | [`flatten`] | how values of Linear A are laid out as scalars and buffers |
//! | [`signature`] | how a lowered function is called |
//! | [`lower`](mod@lower) | from Linear A to the loop form |
//! | [`analysis`] | what passes and backends ask about it |
//! | [`opt`] | loop-invariant motion, cells in registers, dead code |
//! | [`target`] | what a backend can take |
//! | [`need`] | how much memory a call needs, as a program of its own |
//! | [`recursion`] | functions that call themselves, and how deep |
//! | [`poll`] | where running code asks whether its call is cancelled |
//! | [`split`] | long functions in pieces |
//! | [`print`](mod@print), [`read`] | the text form, and back |
//! | [`eval`] | an evaluator: the meaning, in plain Rust |

pub mod analysis;
mod copy;
pub mod eval;
pub mod flatten;
pub mod form;
mod insert;
pub mod kernel;
mod kind;
pub mod lower;
pub mod need;
pub mod opt;
pub mod poll;
pub mod print;
pub mod read;
pub mod recursion;
pub mod signature;
pub mod split;
pub mod target;
mod values;
pub mod visit;

pub use lower::{Kernels, Lowered, lower, lower_plainly, lower_seen, lower_with};
pub use signature::Signature;
