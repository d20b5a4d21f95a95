//! The loop form: imperative, below Linear A. Structured loops, flat typed buffers, scalars in
//! single assignment, explicit index arithmetic, checks. No linear names, no capabilities, no
//! goto: it maps one to one to block parameters, phis or structured control flow. Backends are
//! thin translations of it and know nothing of differentiation.

pub mod eval;
pub mod flatten;
pub mod form;
pub mod lower;
pub mod opt;
pub mod print;
pub mod read;
pub mod signature;

pub use lower::{Lowered, lower, lower_plainly};
pub use signature::Signature;
