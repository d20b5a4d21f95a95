//! The interpreter: meaning, order, errors, cost, laws.

mod cost;
mod errors;
mod laws;
mod meaning;
mod order;
mod support;
