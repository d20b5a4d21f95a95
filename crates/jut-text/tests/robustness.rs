//! Any text at all gives a program or messages: never a panic, never an overflow of the stack.

use jut_ir::print::print_program;

use crate::support::{SEEDS, mutated};

fn assert_is_handled(source: &str) {
    let loaded = jut_text::load(source, 0);
    for d in &loaded.diagnostics {
        assert!(
            source.get(d.span.start as usize..d.span.end as usize).is_some(),
            "{d:?}\n{source}"
        );
    }
    match loaded.program {
        None => assert!(!loaded.diagnostics.is_empty(), "refused without a reason:\n{source}"),
        Some(program) => {
            let text = print_program(&program);
            let again = jut_text::load(&text, 0);
            let Some(again_program) = again.program else {
                panic!("does not read back: {}\n{source}\n{text}", again.diagnostics[0]);
            };
            assert_eq!(print_program(&again_program), text, "prints differently:\n{source}");
        }
    }
}

#[test]
fn the_seeds_are_programs() {
    for seed in SEEDS {
        let loaded = jut_text::load(seed, 0);
        assert!(loaded.program.is_some(), "{}\n{seed}", loaded.diagnostics[0]);
        assert_is_handled(seed);
    }
}

#[test]
fn mutated_programs_are_handled() {
    for seed in 0..4000 {
        assert_is_handled(&mutated(&mut fastrand::Rng::with_seed(seed)));
    }
}

#[test]
fn every_prefix_of_a_program_is_handled() {
    for seed in SEEDS {
        for end in 0..seed.len() {
            assert_is_handled(&seed[..end]);
        }
    }
}

/// A text with `n` levels of nesting (or links of a chain), for every construct that nests.
fn nested(n: usize) -> Vec<(&'static str, String)> {
    let f = |open: &str, inner: &str, close: &str| {
        format!("def f(b: bool, x: f64) -> f64 = {}{inner}{}", open.repeat(n), close.repeat(n))
    };
    vec![
        ("parentheses", f("(", "x", ")")),
        ("blocks", f("{", "x", "}")),
        ("blocks with statements", f("{ y = x\n", "x", "\n}")),
        ("arrays", f("[", "x", "]")),
        ("tuples", f("#(", "x", ")")),
        ("calls", f("sin(", "x", ")")),
        ("binary calls", f("max(", "x", ", x)")),
        ("indices", format!("def f(x: [9]i64) -> i64 = {}0{}", "x[".repeat(n), "]".repeat(n))),
        ("if", f("if b { ", "x", " } else { x }")),
        ("else if", f("if b { x } else ", "{ x }", "")),
        ("conditions", f("if ", "b", " { true } else { false }")),
        ("case", f("case b { true -> ", "x", "; false -> x }")),
        ("underscores", f("case b { _ -> ", "x", " }")),
        ("sum", f("sum (i < 3) ", "x", "")),
        ("build", f("build (i < 3) ", "x", "")),
        ("for", f("for (i < 3) carry (a = x) ", "x", "")),
        ("max over a range", f("max (i < 3) ", "x", "")),
        ("bounds", f("sum (i < size(", "x", ")) x")),
        (
            "scan",
            format!(
                "core def f(x: f64) -> f64 = {{\n{}x\n{}",
                "y = scan up (i < 3) carry (a = x) {\n".repeat(n),
                "}\ny\n".repeat(n) + "}"
            ),
        ),
        (
            "rd",
            format!(
                "def f(; x': f64) -> (; f64) = {}rd r{}",
                "rd r = x' { ".repeat(n),
                " }".repeat(n)
            ),
        ),
        (
            "wr",
            format!(
                "def f(; x': f64) -> (; f64) = {}x'{}",
                "wr r: f64 { ".repeat(n),
                " }".repeat(n)
            ),
        ),
        ("cast", f("cast ", "x", ": f64")),
        ("dup", f("dup ", "x", "")),
        ("array types", format!("def f(x: {}f64) -> f64 = 1.0", "[1]".repeat(n))),
        ("tuple types", format!("def f(x: {}f64{}) -> f64 = 1.0", "#(".repeat(n), ")".repeat(n))),
        (
            "sizes",
            format!("def f(n: i64, x: [{}n{}]f64) -> f64 = 1.0", "(".repeat(n), ")".repeat(n)),
        ),
        ("open brackets", "(".repeat(n)),
        ("closing brackets", ")".repeat(n)),
        ("mixed open brackets", f("{(#([", "x", "")),
        // Chains: no nesting, so they have any length.
        ("sums", f("x + ", "x", "")),
        ("comparisons of results", f("b && ", "x > 0.0", "")),
        ("signs", f("-", "x", "")),
        ("negations", f("!", "b", "")),
        ("powers", f("x^", "x", "")),
        ("signs of powers", f("-x^", "x", "")),
        ("indices in a row", format!("def f(x: [9]f64) -> f64 = x{}", "[0]".repeat(n))),
        ("fields in a row", format!("def f(x: f64) -> f64 = x{}", ".0".repeat(n))),
        ("long paths", format!("def f(x: f64) -> f64 = x{}(x)", ".a".repeat(n))),
        ("statements", format!("def f(x: f64) -> f64 = {{\n{}x }}", "x = sin(x) + x\n".repeat(n))),
        (
            "linear statements",
            format!("def f(; x': f64) -> (; f64) = {{\n{}x' }}", "x' = x' + x'\n".repeat(n)),
        ),
        (
            "integers that grow",
            format!("def f(n: i64) -> i64 = {{\n{}n }}", "n = n * n + 1\n".repeat(n)),
        ),
        (
            "tuples that grow",
            format!("def f(x: f64) -> f64 = {{\n t = x\n{}x }}", "t = #(t, t)\n".repeat(n)),
        ),
        (
            "arrays that grow",
            format!("def f(x: f64) -> f64 = {{\n t = x\n{}x }}", "t = [t]\n".repeat(n)),
        ),
        (
            "sizes that grow",
            format!(
                "def f[n](x: [n]f64) -> [n*n]f64 = {{ check n*n >= 0\n build (i < n*n) x[0] }}\ndef g[n](x: [n]f64) -> f64 = {{\n{}x[0] }}",
                "x = f(x)\n".repeat(n)
            ),
        ),
        (
            "names of types that grow",
            (0..n)
                .map(|k| match k {
                    0 => "type T0[n] = [n]f64\n".to_string(),
                    k => format!("type T{k}[n] = #(T{0}[n * n + 1], T{0}[n])\n", k - 1),
                })
                .collect(),
        ),
        ("declarations", (0..n).map(|k| format!("def f{k}(x: f64) -> f64 = sin(x)\n")).collect()),
        ("errors", (0..n).map(|k| format!("def f{k}(x: f64) -> f64 = $\n")).collect()),
    ]
}

#[test]
fn nesting_of_every_kind_is_accepted_or_refused_at_any_depth() {
    for depth in [60, 190, 10_000] {
        for (what, source) in nested(depth) {
            let loaded = jut_text::load(&source, 0);
            let silent = loaded.program.is_none() && loaded.diagnostics.is_empty();
            assert!(!silent, "{what}: refused without a reason");
        }
    }
}

#[test]
fn what_nests_two_hundred_deep_is_refused_as_such_and_chains_are_not() {
    for (what, source) in nested(1000) {
        let loaded = jut_text::load(&source, 0);
        let deep = loaded.diagnostics.iter().any(|d| d.code == "J003");
        match what {
            "sums"
            | "comparisons of results"
            | "signs"
            | "powers"
            | "statements"
            | "else if"
            | "declarations" => {
                assert!(!deep, "{what}: {:?}", loaded.diagnostics.first());
            }
            "parentheses" | "blocks" | "calls" | "if" | "sum" | "array types" => {
                assert!(deep, "{what}: {:?}", loaded.diagnostics.first());
            }
            _ => {}
        }
    }
}
