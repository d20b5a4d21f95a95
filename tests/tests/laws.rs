//! The laws, on the programs of `tests/programs`, on the examples, and on random programs.

use jut_tests::laws::{Options, load, verify};
use jut_tests::random::{self, Subject};
use jut_tests::{in_parallel, programs};
use std::path::Path;

#[test]
fn every_law_holds_on_the_test_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut failures = Vec::new();
    let mut count = 0;
    for file in programs::files(&folder) {
        let text = std::fs::read_to_string(&file).expect("readable");
        let name = file.strip_prefix(&folder).expect("below").display().to_string();
        for case in programs::cases(&text).expect("cases") {
            count += 1;
            if let Err(failure) = one_case(&text, &case) {
                failures.push(format!("{name}, {} {:?}: {failure}", case.func, case.args));
            }
        }
    }
    assert!(count > 30, "the programs were found");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

fn one_case(text: &str, case: &programs::Case) -> Result<(), String> {
    let program = load(text)?;
    let args = programs::arguments(&program, &case.func, case)?;
    let verified = verify(text, &case.func, &args, Options { smooth: Some(1e-6) })?;
    match (&case.error, verified.outcome) {
        (None, Ok(_)) => Ok(()),
        (Some(code), Err(error)) if error.kind.code() == code => Ok(()),
        (expected, outcome) => Err(format!("expected error {expected:?}, got {outcome:?}")),
    }
}

/// The numbers of the random programs: the first ones, or `JUT_PROGRAMS` from `JUT_SEED` on.
fn seeds(count: u64) -> Vec<u64> {
    let given = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = given("JUT_SEED").unwrap_or(0);
    (first..first + given("JUT_PROGRAMS").unwrap_or(count)).collect()
}

#[test]
fn every_law_holds_on_random_programs() {
    let laws = |seed: &u64| random::laws(Subject::main(*seed));
    in_parallel(&seeds(1000), laws).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_law_holds_on_random_linear_programs() {
    let laws = |seed: &u64| random::laws(Subject::slope(*seed));
    in_parallel(&seeds(500), laws).unwrap_or_else(|e| panic!("{e}"));
}
