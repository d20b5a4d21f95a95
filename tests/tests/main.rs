//! The laws, and every program of `tests/programs` on every engine.

mod boundaries;
mod checker;
mod circles;
mod cost;
mod coverage;
mod engines;
mod faults;
mod files;
mod growth;
mod kinks;
mod laws;
mod layout;
mod lines;
mod mutations;
mod objects;
mod primitives;
mod printing;
mod second;
mod worked;
