//! What compiled jut code calls, and what the interpreter calls for the same functions: one
//! implementation each, so that all engines agree bit for bit (decisions C2).

pub mod math;
