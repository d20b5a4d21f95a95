//! What the passes promise: rules, laws, tape policies, what is declared and what is refused.

mod common;
mod declared;
mod derivatives;
mod forward;
mod laws;
mod mistakes;
mod policies;
mod products;
mod settled;
mod structure;
mod sums;
