//! Machine code by Cranelift: the meaning of statements, kernels, programs.

mod entry;
mod kernels;
mod meaning;
mod products;
mod programs;
mod registers;
mod shifts;
mod support;
