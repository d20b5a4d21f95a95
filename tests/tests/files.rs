//! Every file of `tests/programs`: what it prints is what it says, and all laws hold and all engines agree
//! on it, whatever it asks for. `JUT_BLESS=1` writes what is printed; `JUT_FILE=part` runs the files whose
//! path has that part.

use jut_tests::files::TestFile;
use jut_tests::{in_parallel, programs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn one(file: &Path) -> Result<(), String> {
    let name = file.strip_prefix(folder()).unwrap_or(file).display();
    let text = std::fs::read_to_string(file).map_err(|e| format!("{name}: {e}"))?;
    let test = TestFile::parse(&text);
    let printed = test.run().map_err(|e| format!("{name}: {e}"))?;
    if std::env::var_os("JUT_BLESS").is_some() {
        return std::fs::write(file, test.with(&printed)).map_err(|e| format!("{name}: {e}"));
    }
    for (request, printed) in test.requests.iter().zip(&printed) {
        if request.expected != *printed {
            let (was, is) = (request.expected.join("\n"), printed.join("\n"));
            let line = &request.line;
            return Err(format!("{name}: {line}\n-- expected\n{was}\n-- printed\n{is}"));
        }
    }
    Ok(())
}

#[test]
fn every_file_prints_what_it_says_and_all_laws_and_engines_hold_on_it() {
    let part = std::env::var("JUT_FILE").unwrap_or_default();
    let mut files = programs::files(&folder());
    files.retain(|file| file.display().to_string().contains(&part));
    in_parallel(&files, |file| one(file)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_folder_has_files() {
    let files = programs::files(&folder());
    let found: BTreeSet<String> = files
        .iter()
        .filter_map(|f| Some(f.strip_prefix(folder()).ok()?.iter().next()?.display().to_string()))
        .collect();
    let wanted = [
        "check",
        "complex",
        "constructs",
        "cost",
        "derivatives",
        "design",
        "erase",
        "forward",
        "functions",
        "fused",
        "gradbench",
        "papers",
        "extern",
        "policy",
        "print",
        "regress",
        "rules",
        "run",
        "narrow",
        "single",
        "std",
        "structured",
        "tables",
        "transpose",
        "unzip",
        "update",
        "while",
        "recursion",
        "trees",
        "users",
        "vmap",
    ];
    assert_eq!(found, wanted.map(String::from).into());
    assert!(files.len() > 80, "{} files", files.len());
}

/// Every code of the language's text and checker that a program of one file can have.
#[test]
fn every_code_of_a_program_has_a_file_that_shows_its_message() {
    let files = programs::files(&folder().join("check"));
    let named: BTreeSet<String> = files
        .iter()
        .filter_map(|f| Some(f.file_stem()?.to_str()?.split('_').next()?.to_uppercase()))
        .collect();
    // Modules are several files; J8xx are of derivatives; J999 is a mistake in jut.
    let elsewhere = |code: &str| ["J015", "J016", "J999"].contains(&code) || code.starts_with("J8");
    let codes = jut_ir::codes::CODES.iter().map(|row| row.code).filter(|code| !elsewhere(code));
    let missing: Vec<&str> = codes.filter(|code| !named.contains(*code)).collect();
    assert!(missing.is_empty(), "no file for {missing:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let code = file.file_stem().and_then(|s| s.to_str()?.split('_').next()).unwrap_or("");
        let first = TestFile::parse(&text).requests.first().map(|r| r.expected.join("\n"));
        let shown = first.unwrap_or_default();
        assert!(shown.contains(&code.to_uppercase()), "{}: {shown}", file.display());
    }
}

#[test]
fn what_is_written_reads_back() {
    let text = "def f(x: f64) -> f64 = x\n//# grad f x=1.0\n//# check\n//= a\n//=\n//=   b\n";
    let file = TestFile::parse(text);
    let printed: Vec<Vec<String>> = file.requests.iter().map(|r| r.expected.clone()).collect();
    assert_eq!(printed[1], ["a", "", "  b"]);
    assert_eq!(file.with(&printed), text);
    assert!(!file.text.contains("//="));
}
