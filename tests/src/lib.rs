//! What the tests share: random programs, and the laws that hold for every program.

pub mod generate;
pub mod laws;
pub mod programs;
