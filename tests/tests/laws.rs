//! The laws on random programs; `files.rs` has them on the programs of `tests/programs`.

use jut_tests::in_parallel;
use jut_tests::random::{self, Subject};

/// The numbers of the random programs: the first ones, or `JUT_PROGRAMS` from `JUT_SEED` on.
fn seeds(count: u64) -> Vec<u64> {
    let given = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = given("JUT_SEED").unwrap_or(0);
    (first..first + given("JUT_PROGRAMS").unwrap_or(count)).collect()
}

#[test]
fn every_law_holds_on_random_programs() {
    let laws = |seed: &u64| random::laws(Subject::main(*seed));
    in_parallel(&seeds(400), laws).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_law_holds_on_random_linear_programs() {
    let laws = |seed: &u64| random::laws(Subject::slope(*seed));
    in_parallel(&seeds(200), laws).unwrap_or_else(|e| panic!("{e}"));
}
