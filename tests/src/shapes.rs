//! Long programs of several shapes, as text: nothing in the compiler may take more than linear time
//! or make more than linear code for any of them.

use std::fmt::Write;

/// A name, and the program with `n` parts.
pub type Shape = (&'static str, fn(usize) -> String);

/// All shapes.
pub const SHAPES: &[Shape] = &[
    ("straight", straight),
    ("wide", wide),
    ("one expression", expression),
    ("branches", branches),
    ("reads", reads),
    ("arrays", arrays),
    ("loops", loops),
    ("records", records),
    ("calls", calls),
    ("chain", chain),
    ("deep", deep),
    ("either", either),
];

/// Lines that each use the line before.
pub fn straight(n: usize) -> String {
    let mut text = String::from("def f(x: f64, y: f64) -> f64 = {\n  t0 = x\n");
    for k in 1..=n {
        let _ = match k % 4 {
            0 => writeln!(text, "  t{k} = sin(t{}) + y", k - 1),
            1 => writeln!(text, "  t{k} = t{} * y", k - 1),
            2 => writeln!(text, "  t{k} = t{} / (2.0 + x * x)", k - 1),
            _ => writeln!(text, "  t{k} = tanh(t{} - x)", k - 1),
        };
    }
    let _ = writeln!(text, "  t{n}\n}}");
    text
}

/// Lines that do not depend on each other, all alive until the end.
pub fn wide(n: usize) -> String {
    let mut text = String::from("def f(x: f64) -> f64 = {\n");
    for k in 0..n {
        let _ = writeln!(text, "  t{k} = sin({k}.5 * x)");
    }
    text.push_str("  s = 0.0\n");
    for k in 0..n {
        let _ = writeln!(text, "  s = s + t{k} * t{}", n - 1 - k);
    }
    text.push_str("  s\n}\n");
    text
}

/// One chain of operators.
pub fn expression(n: usize) -> String {
    let terms: Vec<String> = (0..n).map(|k| format!("{k}.25 * x")).collect();
    format!("def f(x: f64) -> f64 = {}\n", terms.join(" + "))
}

/// Branches that each use the one before.
pub fn branches(n: usize) -> String {
    let mut text = String::from("def f(x: f64, y: f64) -> f64 = {\n  t0 = x\n");
    for k in 1..=n {
        let p = k - 1;
        let _ =
            writeln!(text, "  t{k} = if t{p} > {k}.0 {{ sin(t{p}) * y }} else {{ t{p} + y * x }}");
    }
    let _ = writeln!(text, "  t{n}\n}}");
    text
}

/// Reads of one array at places that must be checked.
pub fn reads(n: usize) -> String {
    let mut text = String::from("def f[n](x: [n]f64, i: i64) -> f64 = {\n  s = 0.0\n");
    for k in 0..n {
        let _ = writeln!(text, "  s = s + x[i + {k}] * x[{k}]");
    }
    text.push_str("  s\n}\n");
    text
}

/// Arrays that are each made of the one before.
pub fn arrays(n: usize) -> String {
    let mut text = String::from("def f[n](x0: [n]f64) -> f64 = {\n");
    for k in 1..=n {
        let p = k - 1;
        let _ = writeln!(text, "  x{k} = build (i < n) {{ sin(x{p}[i]) + x0[i] }}");
    }
    let _ = writeln!(text, "  sum (v <- x{n}) {{ v }}\n}}");
    text
}

/// Loops with a carry, one after the other.
pub fn loops(n: usize) -> String {
    let mut text = String::from("def f[n](x: [n]f64) -> f64 = {\n  t0 = 1.0\n");
    for k in 1..=n {
        let p = k - 1;
        let _ =
            writeln!(text, "  t{k} = for (i < n) carry (a = t{p}) {{ a * x[i] + sin(a * t{p}) }}");
    }
    let _ = writeln!(text, "  t{n}\n}}");
    text
}

/// Records that are made and taken apart.
pub fn records(n: usize) -> String {
    let mut text = String::from("data P = P(a: f64, b: f64)\ndef f(x: f64) -> f64 = {\n");
    text.push_str("  p0 = P(x, 2.0)\n");
    for k in 1..=n {
        let p = k - 1;
        let _ = writeln!(text, "  p{k} = P(sin(p{p}.b), p{p}.a * p{p}.b)");
    }
    let _ = writeln!(text, "  p{n}.a\n}}");
    text
}

/// Calls of one function.
pub fn calls(n: usize) -> String {
    let mut text = String::from(
        "def g[n](v: [n]f64, s: f64) -> f64 = s + sum (a <- v) { a * s }\n\
         def f[n](x: [n]f64) -> f64 = {\n  t0 = 1.0\n",
    );
    for k in 1..=n {
        let _ = writeln!(text, "  t{k} = g(x, t{})", k - 1);
    }
    let _ = writeln!(text, "  t{n}\n}}");
    text
}

/// Functions that each call the one before twice.
pub fn chain(n: usize) -> String {
    let mut text = String::from("def q0(x: f64) -> f64 = sin(x) * x\n");
    for k in 1..=n {
        let p = k - 1;
        let _ = writeln!(text, "def q{k}(x: f64) -> f64 = q{p}(cos(x)) + q{p}(x * 0.5)");
    }
    text
}

/// Functions that each call the one before once.
pub fn deep(n: usize) -> String {
    let mut text = String::from("def q0(x: f64, y: f64) -> f64 = sin(x) * y\n");
    for k in 1..=n {
        let _ = writeln!(text, "def q{k}(x: f64, y: f64) -> f64 = sin(q{}(x * 0.9, y)) + x", k - 1);
    }
    text
}

/// Functions that each call the one before in both arms of a branch: too often for them to be inlined.
pub fn either(n: usize) -> String {
    let mut text = String::from("def q0(x: f64, y: f64) -> f64 = sin(x) * y\n");
    for k in 1..=n {
        let p = k - 1;
        let _ = writeln!(
            text,
            "def q{k}(x: f64, y: f64) -> f64 =\n  if x > 0.5 {{ q{p}(x * 0.9, y) + x }} else {{ q{p}(x + 0.3, y) * 0.9 }}"
        );
    }
    text
}

/// Functions that each call the one before once, in a branch. Not among [`SHAPES`]: short ones become
/// one function, and long ones do not, because blocks would nest too deeply.
pub fn nested(n: usize) -> String {
    let mut text = String::from("def q0(x: f64, y: f64) -> f64 = sin(x) * y\n");
    for k in 1..=n {
        let p = k - 1;
        let _ = writeln!(
            text,
            "def q{k}(x: f64, y: f64) -> f64 = if x < 2.0 {{ q{p}(sin(x), y) + x }} else {{ x * y }}"
        );
    }
    text
}
