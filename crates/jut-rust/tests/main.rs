//! The lowering of Rust functions: what is refused, how literals are read.

mod literals;
mod refused;
