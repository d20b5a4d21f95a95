//! The table of codes in the language reference is the one in the sources.

use jut_ir::codes::{CODES, advice};

/// Run with `JUT_BLESS=1` to write the table anew.
#[test]
fn the_documented_codes_are_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
    let document = std::fs::read_to_string(path).expect("docs/language.md is readable");
    let (start, end) =
        ("sizes of the program where they are known, else what the table says.\n", "## Grammar");
    let (before, rest) = document.split_once(start).expect("the introduction of the table");
    let (found, after) = rest.split_once(end).expect("what follows the table");
    let mut table = String::from("\n| code | meaning | what to do |\n|---|---|---|\n");
    for row in CODES {
        table.push_str(&format!(
            "| {} | {} | {} |\n",
            row.code,
            row.meaning,
            row.advice.replace('|', "\\|")
        ));
    }
    table.push('\n');
    if std::env::var_os("JUT_BLESS").is_some() {
        let text = format!("{before}{start}{table}{end}{after}");
        std::fs::write(path, text).expect("docs/language.md is writable");
        return;
    }
    assert!(found == table, "docs/language.md is old: run this test with JUT_BLESS=1");
}

#[test]
fn codes_are_in_order_and_have_advice() {
    assert!(CODES.is_sorted_by(|a, b| a.code < b.code));
    assert!(CODES.iter().all(|c| !c.meaning.is_empty() && advice(c.code) == c.advice));
    assert!(!CODES.iter().any(|c| c.advice.is_empty()));
}
