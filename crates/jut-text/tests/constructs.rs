//! `map`, `fold` and `const`: what they become, and what is refused.

use jut_ir::print::print_program;
use jut_text::{ModuleSource, load, load_with};

fn core(source: &str) -> String {
    let loaded = load(source, 0);
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?}\n{source}", loaded.diagnostics));
    print_program(&program)
}

/// Code, text and message of every error.
fn errors(source: &str) -> Vec<(&'static str, String, String)> {
    let loaded = load(source, 0);
    assert!(loaded.program.is_none(), "{source}");
    let text =
        |d: &jut_ir::Diagnostic| source[d.span.start as usize..d.span.end as usize].to_string();
    let help = |d: &jut_ir::Diagnostic| d.help.clone();
    loaded
        .diagnostics
        .iter()
        .map(|d| (d.code, text(d), format!("{} {}", d.message, help(d))))
        .collect()
}

fn refused(source: &str, code: &str, at: &str, part: &str) {
    let errors = errors(source);
    let [(found, text, message)] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((*found, text.as_str()), (code, at), "{message}");
    assert!(message.contains(part), "{part}: {message}");
}

#[test]
fn map_is_build_over_elements() {
    let with = |word: &str| {
        core(&format!(
            "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 = {word} (a <- x, b <- y) {{ a * sin(b) }}"
        ))
    };
    assert_eq!(with("map"), with("build"));
    let several = "def f[n](x: [n]f64) -> f64 = {
  (s, c) = map (v <- x) { (sin(v), cos(v)) }
  sum (a <- s, b <- c) { a * b }
}";
    assert!(core(several).contains("(s, c) = scan par (i < n) slice (v <- x) {"));
    let rows = "def f[n, m](x: [n, m]f64) -> [n]f64 = map (row <- x) { sum (v <- row) { v } }";
    assert!(core(rows).contains("slice (row <- x)"));
}

#[test]
fn fold_is_for_that_collects_nothing() {
    let with = |word: &str| {
        core(&format!(
            "def f[n](x: [n]f64) -> f64 = {word} (v <- x) carry (a = 1.0) {{ a * v }}
             def g(n: i64) -> i64 = {{
               (a, b) = {word} (1 <= i < n) carry (a = 0, b = 1) {{ (b, a + b * i) }}
               a
             }}"
        ))
    };
    assert_eq!(with("fold"), with("for"));
}

#[test]
fn what_map_and_fold_cannot_do_is_said() {
    refused("def f(n: i64) -> [n]f64 = map (i < n) { 1.0 }", "J002", "i", "`build (i < n) { .. }`");
    refused(
        "def f[n](x: [n]f64) -> [n]f64 = map (v <- x) { }",
        "J213",
        "{ }",
        "`map` gives no value",
    );
    refused(
        "def f[n](x: [n]f64) -> f64 = fold (v <- x) { v }",
        "J002",
        "{",
        "fold (v <- x) carry (a = 0.0)",
    );
    refused(
        "def f[n](x: [n]f64) -> f64 = { (a, b) = fold (v <- x) carry (a = 0.0) { (a + v, v) }; a }",
        "J213",
        "(a + v, v)",
        "`for` collects",
    );
    refused(
        "core def f(n: i64, x: [n]f64) -> [n]f64 = { y = map (v <- x) { v }; y }",
        "J601",
        "map (v <- x) { v }",
        "scan par",
    );
}

#[test]
fn a_constant_is_used_by_its_name() {
    let text = "/// Half a turn.
const pi: f64 = 3.141592653589793
const two_pi: f64 = 2.0 * pi
const weights: [3]f64 = [1.0, 2.0, 1.0]
const taps: i64 = 2 * 2 - 1
const on: bool = true
def area(r: f64) -> f64 = pi * r^2
def circle(r: f64) -> f64 = if on { two_pi * r } else { 0.0 }
def blur(x: [taps]f64) -> f64 = sum (i < taps) { weights[i] * x[i] } / 4.0
def hidden(pi: f64) -> f64 = pi + 1.0
";
    let printed = core(text);
    for part in [
        "/// Half a turn.\ncore def pi() -> f64",
        "= 3.141592653589793 * t",
        "t = two_pi()",
        "core def blur(x: [3]f64) -> f64",
        "weights()",
        "case true {",
        "t = pi + 1.0",
    ] {
        assert!(printed.contains(part), "{part} is missing in\n{printed}");
    }
    let again = load(&printed, 0).program.expect("reads back");
    assert_eq!(print_program(&again), printed);
}

#[test]
fn constants_of_modules_have_the_module_in_front() {
    let main = "use units
def f(t: f64) -> f64 = 0.5 * units.g * t^2 + units.table[1] + units.offset.a
def h(units: f64) -> f64 = units";
    let units = "data P = P(a: f64)
const g: f64 = 9.81
const table: [2]f64 = [g, 1.0]
const offset: P = P(2.0)";
    let loaded = load_with(main, 0, &mut |name| {
        Ok((name == "units").then(|| ModuleSource { text: units.to_string(), file: 1 }))
    });
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let printed = print_program(&program);
    assert!(printed.contains("0.5 * 9.81") && printed.contains("units.table()"), "{printed}");
    assert!(printed.contains("units.offset()"), "{printed}");
}

#[test]
fn what_is_wrong_with_a_constant_is_said() {
    refused("const pi = 3.0", "J002", "pi", "no type");
    refused("const pi: f64", "J002", "", "const pi: f64 = 3.14");
    refused("const n: i64 = 2.0", "J214", "2.0", "");
    refused("const a: f64 = 1.0\nconst a: f64 = 2.0", "J011", "a", "another name");
    refused("const a: f64 = b\nconst b: f64 = a", "J010", "b", "move it up");
    refused("const a: f64 = y\ndef f() -> f64 = a", "J010", "y", "");
    refused("const a: f64 = (1.0\ndef f() -> f64 = a", "J002", "", "");
    refused("const h: f64 = 2.5\ndef f(x: [h]f64) -> f64 = x[0]", "J215", "h", "is not an i64");
    refused("const a: f64 = 1.0\ndef f() -> f64 = a[0]", "J205", "a", "no elements");
    refused("const a: f64 = 1.0\ncore def f() -> f64 = { b = a; b }", "J010", "a", "");
}
