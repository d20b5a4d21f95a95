//! The laws, on the programs of `tests/programs`, on the examples, and on random programs.

use jut_tests::laws::{Options, load, verify};
use jut_tests::{in_parallel, programs, random};
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

#[test]
fn every_law_holds_on_random_programs() {
    let count = std::env::var("JUT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let first = std::env::var("JUT_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let seeds: Vec<u64> = (first..first + count).collect();
    in_parallel(&seeds, |seed| random::laws(*seed)).unwrap_or_else(|e| panic!("{e}"));
}
