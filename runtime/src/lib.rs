//! What compiled jut code calls, and what the interpreter calls for the same functions: one
//! implementation each, so that all engines agree bit for bit.
//!
//! | module | what |
//! |---|---|
//! | [`lanes`] | the fixed order of blocked sums |
//! | [`math`] | mathematical functions in pure Rust |
//! | [`arena`] | memory with a bump pointer, kept between calls |
//! | [`workspace`] | what one thread needs to run compiled code, and the functions for compiled code |
//! | [`symbols`] | the names by which compiled code reaches all of it |

pub mod arena;
pub mod lanes;
pub mod math;
pub mod symbols;
pub mod workspace;

pub use workspace::{Failure, Workspace};
