//! What rustc says of a program that jut refuses, or that is wrong beside the attribute: each file of `refusals` has one
//! mistake, and gets one error, at the token where it is, without a name that the attribute makes.
//!
//! The words and places of what the translation itself refuses are a table of `jut-rust` (its test `refused`), which needs no
//! compiler. Here stands what only rustc can show: how such an error looks, and that there is no other beside it; and errors that are
//! rustc's own, because a name, a type or a trait is missing that the items beside a function need.
//!
//! `TRYBUILD=overwrite cargo test -p jut-refusals` writes what is said now.

use std::path::Path;

/// What only the items beside a function have in them. (Not `derivatives_of_energy`, which says what a trait lacks; nor the
/// functions of jut that rustc quotes where it says which bound is not met.)
const MADE: &[&str] = &[
    "__jut",
    "jut::rust::Source",
    "jut::rust::Callee",
    "jut::rust::Field",
    "jut::rust::Method",
    "jut::rust::Gives",
    "jut::rust::Operator",
    "Argument0",
    "field_0",
];

#[test]
fn each_mistake_is_one_error_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}

#[test]
fn what_is_said_names_nothing_that_the_attribute_makes() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals");
    let (mut count, mut wrong) = (0, Vec::new());
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_none_or(|e| e != "stderr") {
            continue;
        }
        let said = std::fs::read_to_string(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        count += 1;
        let errors = said.lines().filter(|l| l.starts_with("error")).count();
        if errors != 1 {
            wrong.push(format!("{name}: {errors} errors"));
        }
        wrong.extend(MADE.iter().filter(|m| said.contains(*m)).map(|m| format!("{name}: {m}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 60, "{count} refusals");
    Ok(())
}
