//! Rust files in build scripts: a function is what the attribute makes of it, or an error says what only rustc knows.

use jut_build::{Build, Error, Request};
use std::path::{Path, PathBuf};
use std::process::Command;

mod rust {
    // As people write it.
    #[allow(clippy::all, dead_code)]
    pub mod model;

    #[jut::differentiable]
    fn other(x: f64) -> f64 {
        x + 1.0
    }
}

use rust::model;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust/model.rs")
}

/// A text with the names that functions have in their file.
fn by_own_names(text: jut::Result<String>) -> String {
    text.expect("a text").replace("rust_rust_model_", "")
}

#[test]
fn the_text_is_that_of_the_attribute() {
    let texts = [
        ("total", model::total::text()),
        ("steps", model::steps::text()),
        ("every", model::every::text()),
    ];
    for (name, text) in texts {
        let own = jut_build::rust::text(&file(), &[name]).expect("it is of this file");
        assert_eq!(own, by_own_names(text), "{name}");
    }
    // A table has a name of its own in the one text.
    let own = jut_build::rust::text(&file(), &["loss"]).expect("it is of this file");
    let text = by_own_names(model::loss::text());
    let named = own.replace("POWERS", "constant").replace("[0.5,-1.25,2.0]", "[0.5, (-1.25), 2.0]");
    assert_eq!(named, text);
}

#[test]
fn what_only_rustc_knows_is_an_error() {
    for (name, what) in [
        ("heavy", "of `heavy` only rustc knows the value of the constant `TWICE`"),
        ("elsewhere", "which function `super::other` is"),
        ("each", "of `each` only rustc knows the type `W`"),
        ("perhaps", "which text of a function that may fail or gives lists is meant"),
        ("hidden", "of `hidden` only rustc knows names of items within the function"),
        ("within", "of `within` only rustc knows "),
        ("checked", "whether debug assertions are on"),
        ("missing", "there is not one function `missing`, but "),
    ] {
        let error = jut_build::rust::text(&file(), &[name]).expect_err(name).to_string();
        assert!(error.contains("model.rs: ") && error.contains(what), "{error}");
    }
    let build = Build::new(file()).function("loss", &["nobody"], &[Request::Gradient]);
    let error = build.generate("a", &jut::Triple::host().to_string()).expect_err("no such name");
    assert!(matches!(&error, Error::Request(said) if said.contains("`nobody`")), "{error}");
}

const MAIN: &str = r#"
#![deny(warnings)]
#[allow(dead_code)]
mod model;
mod built { include!("model.built.rs"); }
use built::*;
fn bits(x: &[f64]) { for x in x { print!("{:016x} ", x.to_bits()); } println!(); }
fn main() -> Result<(), Error> {
    let mut w = Workspace::new();
    let x = [0.5, -1.0, 2.0, 0.25];
    let mut grad = [0.0; 4];
    let value = loss_value_grad(&x, 1.5, &mut grad, &mut w)?;
    bits(&[value]);
    bits(&grad);
    println!("{}", loss_value_grad(&x[..1], 1.5, &mut grad[..1], &mut w).unwrap_err());
    println!("{}", loss_value_grad(&x, -7.0, &mut grad, &mut w).unwrap_err());
    let mut y = [0.0; 2];
    steps_value(&[1.0, 0.5], 3, &mut y, &mut w)?;
    assert_eq!(y, model::steps([1.0, 0.5], 3));
    Ok(())
}
"#;

/// The file without a word of jut is compiled beside what the build script makes of it.
#[test]
fn functions_need_no_attribute() {
    let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("of-rust");
    std::fs::create_dir_all(&at).expect("writable");
    let text = std::fs::read_to_string(file()).expect("a file");
    let plain = |line: &&str| !line.contains("jut::differentiable") && !line.contains("elsewhere");
    let lines: Vec<&str> = text.lines().filter(plain).collect();
    let lines = lines.join("\n").replace("    super::other(x)\n}", "").replace("jut::Data, ", "");
    std::fs::write(at.join("model.rs"), &lines).expect("writable");
    let made = Build::new(at.join("model.rs"))
        .function("loss", &["x"], &[Request::ValueAndGradient])
        .function("steps", &[], &[Request::Value])
        .generate("plain", &jut::Triple::host().to_string())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(made.files, [at.join("model.rs")]);
    std::fs::write(at.join("model.built.rs"), &made.module).expect("writable");
    std::fs::write(at.join(format!("lib{}.a", made.library)), &made.archive).expect("writable");
    std::fs::write(at.join("main.rs"), MAIN).expect("writable");
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(&at).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && err.is_empty(), "{}: {err}", program.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".to_owned());
    let library = format!("static={}", made.library);
    run(Path::new(&rustc), &["--edition", "2024", "main.rs", "-L", ".", "-l", &library]);
    let printed = run(&at.join("main"), &[]);

    let x = [0.5, -1.0, 2.0, 0.25];
    let (value, gradient) = model::loss::value_and_gradient(&x, 1.5).expect("it runs");
    let bits = |x: &[f64]| x.iter().map(|x| format!("{:016x} ", x.to_bits())).collect::<String>();
    let line = |mark: &str| 1 + lines.lines().position(|l| l.contains(mark)).expect("a line");
    let place = at.join("model.rs").display().to_string();
    let [first, assertion] = [line("x.len() - 2"), line("the mean is too small")];
    let expected = [
        bits(&[value]),
        bits(&gradient),
        format!("{place}:{first}:17: R11: attempt to subtract with overflow"),
        format!("{place}:{assertion}:5: R12: the mean is too small"),
    ];
    let printed: Vec<&str> = printed.lines().collect();
    assert_eq!(printed.len(), 4);
    for (printed, expected) in printed.iter().zip(&expected) {
        assert!(printed.starts_with(expected.as_str()), "{printed}\n{expected}");
    }
}

/// Most functions that people differentiate say all that a build script wants to know.
#[test]
fn most_functions_are_of_their_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jut/tests/ordinary");
    let (mut all, mut own) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("files") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().and_then(|next| next.split_once("fn "));
            let (true, Some((_, rest))) = (line.starts_with("#[differentiable"), next) else {
                continue;
            };
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            all += 1;
            own += usize::from(jut_build::rust::text(&path, &[name]).is_ok());
        }
    }
    assert!(all > 60 && own * 10 > all * 7, "{own} of {all}");
}
