//! What `#[jut::differentiable]`, `derive(jut::Data)` and `jut::program!` promise of ordinary Rust.

#[path = "support/differences.rs"]
mod central;
mod differentiable;
mod direct;
#[path = "support/nestings.rs"]
mod nestings;
mod ordinary;
#[cfg(feature = "program")]
mod program;
mod rust_habits;
mod rust_programs;
mod rust_trees;
mod rust_users;
mod sciences;
mod typed_code;
