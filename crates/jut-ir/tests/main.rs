//! Linear A: the checker and what it knows of accesses, primitives and their accuracy, printing, codes, and the tools of passes.

mod accuracy;
mod alpha;
mod batched;
mod check;
mod codes;
mod common;
mod cover;
mod graph;
mod in_place;
mod primitives;
mod print;
mod structured;
