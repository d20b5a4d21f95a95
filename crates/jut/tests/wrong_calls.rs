//! A table of wrong calls of the Rust API: each gives an error with its code, in the place of the
//! program that it is about, with words that say what is wrong. None panics, and none is a
//! misfortune of the engine.

use jut::{Arg, Engine, Error, Function, Model, Request, Result};

const PROGRAM: &str = "data Pair = Pair(left: f64, right: f64)
data Kind = Low | High(place: i64)
def loss[n](x: [n]f64, y: [n]f64, k: i64, b: bool) -> f64 = sum (i < n) { x[i] * y[i] } * f64(k)
def product[m, n](w: [m, n]f64, x: [n]f64) -> f64 = sum (i < m, j < n) { w[i, j] * x[j] }
def differences[n](x: [n - 1]f64, n2: [n]f64) -> f64 = sum (v <- x) { v } + n2[0]
def fixed(x: [3]f64) -> f64 = x[0] * x[2]
def pair(p: Pair, s: f64) -> f64 = p.left * p.right * s
def kind(d: Kind, s: f64) -> f64 = case d { Low -> s; High(q) -> s * f64(q) }
def whole(k: i64) -> i64 = k + 1
def two(x: f64) -> (f64, f64) = (sin(x), cos(x))
def pick[n](x: [n]f64, i: i64) -> f64 = x[i]
def part[n](x: [n]f64, i: i64, m: i64) -> f64 = { y = x[i ..+ m]; sum (v <- y) { v } }
def made(m: i64, s: f64) -> f64 = { y = build (i < m) { s }; sum (v <- y) { v } }
def same[n, m](x: [n]f64, y: [m]f64) -> f64 = { z = cast x : [m]f64; sum (a <- z, b <- y) { a * b } }
def share(s: f64, k: i64) -> f64 = s * f64(10 / k)
def vast(s: f64) -> f64 = { y = build (i < 1000000000) { s * f64(i) }; sum (v <- y) { v } }
def count(n: i64) -> f64 = 1.0
def root(x: f64) -> f64 = { assert x > 0.0, \"x is positive\"; assert  x  <  9.0; sqrt(x) }
";

fn function(name: &str) -> Result<Function> {
    Model::from_text(PROGRAM)?.function(name)
}

fn value(name: &str, args: &[Arg<'_>]) -> Result<()> {
    function(name)?.compile(Request::Value)?.call(args).map(drop)
}

fn gradient(name: &str, args: &[Arg<'_>]) -> Result<()> {
    function(name)?.value_and_gradient()?.call(args).map(drop)
}

const X: &[f64] = &[1.0, 2.0, 3.0];

/// What is called, the code, words of the message, and the text of the place.
type Row = (&'static str, fn() -> Result<()>, &'static str, &'static str, &'static str);

const CALLS: &[Row] = &[
    ("too few arguments", || value("loss", &[X.into()]), "A01", "`y`", "y"),
    ("no argument", || value("loss", &[]), "A01", "", "x"),
    ("too many arguments", || value("fixed", &[X.into(), X.into()]), "A01", "", ""),
    (
        "a float for an array",
        || value("loss", &[1.0.into(), X.into(), 1.into(), true.into()]),
        "A02",
        "[n]f64",
        "x",
    ),
    ("an array for a float", || value("pair", &[X.into(), 1.0.into()]), "A02", "Pair", "p"),
    ("an integer for a float", || value("made", &[2.into(), 2.into()]), "A02", "f64", "s"),
    ("a float for an integer", || value("whole", &[1.5.into()]), "A02", "i64", "k"),
    (
        "an integer for a truth value",
        || value("loss", &[X.into(), X.into(), 1.into(), 1.into()]),
        "A02",
        "bool",
        "b",
    ),
    (
        "an array of integers for one of floats",
        || value("fixed", &[(&[1i64, 2, 3][..]).into()]),
        "A02",
        "f64",
        "x",
    ),
    (
        "a record with a field too few",
        || value("pair", &[Arg::Tuple(&[1.0.into()]), 1.0.into()]),
        "A02",
        "",
        "p",
    ),
    (
        "a constructor that there is not",
        || value("kind", &[Arg::Data("Middle", &[]), 1.0.into()]),
        "A02",
        "Middle",
        "d",
    ),
    (
        "a constructor without its field",
        || value("kind", &[Arg::Data("High", &[]), 1.0.into()]),
        "A02",
        "",
        "d",
    ),
    (
        "arrays of two lengths for one size",
        || value("loss", &[X.into(), (&[1.0][..]).into(), 1.into(), true.into()]),
        "A03",
        "1",
        "y",
    ),
    (
        "the same for a gradient",
        || gradient("loss", &[X.into(), (&[1.0][..]).into(), 1.into(), true.into()]),
        "A03",
        "1",
        "y",
    ),
    ("another length than the declared one", || value("fixed", &[X[..2].into()]), "A03", "3", "x"),
    (
        "a length that is not a polynomial's value",
        || value("differences", &[X.into(), X.into()]),
        "A03",
        "",
        "n2",
    ),
    (
        "a shape that does not fit the elements",
        || value("product", &[Arg::F64s(X, Some(&[2, 2])), X.into()]),
        "A03",
        "",
        "w",
    ),
    (
        "a vector for a matrix",
        || value("product", &[Arg::F64s(X, Some(&[3])), X.into()]),
        "A04",
        "",
        "m",
    ),
    (
        "memory that a result does not fit into",
        || {
            let gradient = function("fixed")?.gradient()?;
            let mut dx = [0.0; 2];
            gradient.session().call_into(&[X.into()], &mut [(&mut dx[..]).into()])
        },
        "A05",
        "memory",
        "",
    ),
    (
        "memory for a result too few",
        || {
            let both = function("fixed")?.value_and_gradient()?;
            let mut dx = [0.0; 3];
            both.session().call_into(&[X.into()], &mut [(&mut dx[..]).into()])
        },
        "A01",
        "results",
        "",
    ),
    ("an index beyond the end", || value("pick", &[X.into(), 3.into()]), "R01", "3", "x[i]"),
    ("a negative index", || value("pick", &[X.into(), (-1).into()]), "R01", "-1", "x[i]"),
    (
        "an index beyond the end, in the gradient",
        || gradient("pick", &[X.into(), 3.into()]),
        "R01",
        "3",
        "x[i]",
    ),
    (
        "a slice beyond the end",
        || value("part", &[X.into(), 2.into(), 2.into()]),
        "R02",
        "",
        "x[i ..+ m]",
    ),
    (
        "a slice of negative length",
        || value("part", &[X.into(), 0.into(), (-1).into()]),
        "R02",
        "-1",
        "x[i ..+ m]",
    ),
    (
        "a negative size",
        || value("made", &[(-2).into(), 1.0.into()]),
        "R03",
        "-2",
        "build (i < m) { s }",
    ),
    (
        "a cast that does not hold",
        || value("same", &[X.into(), X[..2].into()]),
        "R04",
        "",
        "cast x : [m]f64",
    ),
    (
        "an assertion",
        || value("root", &[(-1.0).into()]),
        "R12",
        "R12: x is positive at",
        "assert x > 0.0, \"x is positive\"",
    ),
    (
        "an assertion in a derivative",
        || gradient("root", &[9.0.into()]),
        "R12",
        "assertion failed: x < 9.0",
        "assert  x  <  9.0",
    ),
    ("a division by zero", || value("share", &[1.0.into(), 0.into()]), "R05", "", "10 / k"),
    (
        "more memory than allowed",
        || {
            function("vast")?
                .memory_limit(1 << 20)
                .compile(Request::Value)?
                .call(&[1.0.into()])
                .map(drop)
        },
        "R06",
        "",
        "build (i < 1000000000) { s * f64(i) }",
    ),
    (
        "a gradient of two numbers",
        || gradient("two", &[1.0.into()]),
        "J802",
        "two",
        "def two(x: f64) -> (f64, f64)",
    ),
    (
        "a gradient of an integer",
        || gradient("whole", &[1.into()]),
        "J802",
        "whole",
        "def whole(k: i64) -> i64",
    ),
    (
        "a gradient with nothing to differentiate",
        || function("count")?.gradient().map(drop),
        "J804",
        "",
        "def count(n: i64) -> f64",
    ),
];

/// What is wrong, the call, and what the error says.
type Wrong = (&'static str, fn() -> Result<()>, &'static str);

/// Requests that are about the API alone: no place in the program, and no code.
const REQUESTS: &[Wrong] = &[
    ("a function that there is not", || function("lose").map(drop), "loss"),
    ("an integer to differentiate", || function("loss")?.wrt(&["k"]).map(drop), "no float"),
    ("a parameter that there is not", || function("loss")?.wrt(&["z"]).map(drop), "z"),
    (
        "a result that there is not",
        || {
            let mut session = function("fixed")?.gradient()?.session();
            session.call(&[X.into()])?.f64("y").map(drop)
        },
        "y",
    ),
    (
        "a result as what it is not",
        || {
            let mut session = function("fixed")?.gradient()?.session();
            session.call(&[X.into()])?.i64("x").map(drop)
        },
        "x",
    ),
];

#[test]
fn every_wrong_call_gives_its_code_in_its_place() {
    let mut wrong = Vec::new();
    for (what, call, code, words, place) in CALLS {
        let Err(error) = call() else {
            wrong.push(format!("{what}: no error"));
            continue;
        };
        let message = error.to_string();
        let span = match &error {
            Error::Argument(error) => error.span(),
            Error::Run(error) => error.error().span,
            Error::Program(all) => all.list()[0].span,
            _ => jut::Span::NONE,
        };
        let at = PROGRAM.get(span.start as usize..span.end as usize).unwrap_or_default();
        let there = if place.is_empty() { true } else { at == *place };
        if error.code() != Some(code) || !message.contains(words) || !there {
            wrong.push(format!("{what}: {:?} at `{at}`: {message}", error.code()));
        }
        let help = match &error {
            Error::Argument(error) => error.advice().to_string(),
            Error::Run(error) => error.help(),
            Error::Program(all) => {
                assert!(all.list()[0].has_own_help(), "{what}: {message}");
                all.list()[0].help.clone()
            }
            _ => message.clone(),
        };
        assert!(!help.is_empty(), "{what}: {message}");
        let drawn: String = error.render(false).split_whitespace().collect();
        let start: String = help.split_whitespace().collect::<String>().chars().take(30).collect();
        assert!(drawn.contains(&start), "{what}: {help:?} is not in {}", error.render(false));
    }
    for (what, call, words) in REQUESTS {
        match call() {
            Err(Error::Request(message)) if message.contains(words) => {}
            other => wrong.push(format!("{what}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The codes that a text has, of the letters given.
fn codes(text: &str, letters: &str) -> std::collections::BTreeSet<String> {
    let is_code = |word: &&str| {
        let mut chars = word.chars();
        let letter = chars.next().is_some_and(|c| letters.contains(c));
        let digits = word.len() - 1;
        letter && chars.all(|c| c.is_ascii_digit()) && (2..=3).contains(&digits)
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| w.len() > 1);
    words.filter(is_code).map(String::from).collect()
}

/// Everything below a folder that ends in `.rs`.
fn sources(folder: &std::path::Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            *all += &std::fs::read_to_string(&path).expect("readable");
        }
    }
}

#[test]
fn every_code_in_the_sources_is_documented_and_every_documented_code_is_in_the_sources() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    for entry in std::fs::read_dir(root.join("crates")).expect("crates").flatten() {
        sources(&entry.path().join("src"), &mut text);
    }
    // What stands in quotes: as `"J010"`.
    let quoted: String =
        text.split('"').filter(|part| part.len() <= 4).map(|p| format!("{p} ")).collect();
    let document = std::fs::read_to_string(root.join("docs/language.md")).expect("readable");
    let is_full = |code: &String| code.len() == if code.starts_with('J') { 4 } else { 3 };
    let filter = |all: std::collections::BTreeSet<String>| -> Vec<String> {
        all.into_iter().filter(is_full).collect()
    };
    assert_eq!(filter(codes(&quoted, "JRA")), filter(codes(&document, "JRA")));
}

#[test]
fn every_documented_code_of_calls_and_runs_is_in_the_table() {
    let document = include_str!("../../../docs/language.md");
    let documented: Vec<String> =
        codes(document, "RA").into_iter().filter(|code| code.len() == 3).collect();
    // In tests of their own: types that do not cross the border, tapes, cancellation, recursion, functions of other languages and of Rust,
    // results that have to be finite.
    let elsewhere = ["A06", "A07", "R07", "R08", "R09", "R10", "R11"].map(String::from);
    let found: std::collections::BTreeSet<String> =
        CALLS.iter().map(|row| row.2.to_string()).chain(elsewhere).collect();
    for code in documented {
        assert!(found.contains(&code), "{code} has no wrong call");
    }
}

#[test]
fn a_function_that_adds_into_its_callers_accumulators_is_not_called_alone() {
    let text =
        "def add[d](v: [d]f64; ; acc r: [d]f64) -> () = { scan up (i < d) { r[i] += v[i] } }";
    let add = Model::from_text(text).and_then(|model| model.function("add")).expect("it loads");
    for engine in [Engine::Interpreter, Engine::Cranelift] {
        let said = add.clone().engine(engine).value().err().map(|e| e.to_string());
        let said = said.unwrap_or_default();
        assert!(said.contains("adds into accumulators of its caller"), "{engine:?}: {said}");
    }
}

/// A derivative that the text asks for is made of functions that take a tape and read it unchecked:
/// only its other half can make one, so no name gives them to a caller.
#[test]
fn the_halves_of_a_derivative_in_the_text_have_no_name_for_callers() {
    let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { sin(x[i]) * x[i] }
def g[n](x: [n]f64) -> f64 = { d = grad(f)(x); sum (v <- d) { v * v } }";
    let program = jut_text::load(text, 0).program.unwrap();
    let made: Vec<&str> =
        program.funcs.values().filter(|f| f.derived).map(|f| f.name.as_str()).collect();
    assert!(made.len() > 2, "{made:?}");
    let model = Model::from_text(text).unwrap();
    for name in made {
        match model.function(name) {
            Err(Error::Request(message)) => assert!(message.contains("there is f, g"), "{message}"),
            _ => panic!("{name}"),
        }
    }
}
