//! Linear A: the checker, primitives and their accuracy, printing, codes.

mod accuracy;
mod check;
mod codes;
mod common;
mod primitives;
mod print;
mod structured;
