//! The benchmark harness: interpreted, native and hand-written gradients of the same programs as
//! ratios in one run.

pub mod cases;
pub mod hand;
pub mod measure;
