//! What the passes promise: rules, laws, tape policies and the cuts that choose tapes, what is declared and what is refused.

mod common;
mod declared;
mod derivatives;
mod forward;
mod laws;
mod mistakes;
mod network;
mod policies;
mod products;
mod requests;
mod settled;
mod structure;
mod sums;
