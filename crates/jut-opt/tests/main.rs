//! The optimisations of Linear A.

mod fused;
mod rewrites;
mod tables;
