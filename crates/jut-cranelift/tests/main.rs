//! Machine code by Cranelift: the meaning of statements, kernels, programs.

mod entry;
mod kernels;
mod lanes;
mod meaning;
mod nested;
mod ordered;
mod products;
mod programs;
mod registers;
mod shifts;
mod support;
