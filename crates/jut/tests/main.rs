//! What the API promises: values, products, sessions, records, limits, memory, tiers, ahead of time.

#[cfg(feature = "cross")]
mod ahead_of_time;
mod bound;
mod bounds;
mod cancel;
mod draw;
mod examples;
mod externs;
mod growth;
mod kept_trees;
mod language_reference;
mod libraries;
mod limits;
mod lists;
mod mlir_page;
mod modules;
mod narrow;
mod npy;
mod products;
mod programs;
mod records_with_sizes;
mod recursion;
mod schedules;
mod sessions;
mod single;
mod sizes;
mod standard;
mod stored;
mod sums;
mod support;
mod tapes;
mod threads;
mod tiers;
mod trees;
mod views;
mod wrong_calls;
