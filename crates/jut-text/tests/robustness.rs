//! Any text at all gives a program or messages: never a panic, never an overflow of the stack.

use jut_ir::print::print_program;

/// Programs that between them use every construct.
const SEEDS: &[&str] = &[
    "/// doc\ndata P = P(r: f64, a: f64)\ndata S = A(n: i64, w: [n]f64) | B\n\ndef polar(x: f64, y: f64) -> P = {\n  r = sqrt(x^2 + y^2)\n  P(r, y / r)\n}\ndef use_it(x: f64, s: S) -> f64 = {\n  p = polar(x, 2.0)\n  q = case s { A(n, w) -> sum (v <- w) v; _ -> -1.5e-3 }\n  p.r * p.a + q\n}\n",
    "def rnn[n, T](w: [n, n]f64, h0: [n]f64, x: [T, n]f64) -> f64 = {\n  h = for (t < T) carry (h = h0) {\n    build (i < n) { tanh(sum (j < n) { w[i, j] * h[j] } + x[t, i]) }\n  }\n  m = max (i < n) h[i]\n  y = x[1..T][0]\n  m + sum (1 <= i < n) { h[i] * h[i - 1] } + y[0]\n}\n",
    "def g(x: f64; y': f64) -> (f64; f64) = (x^2; x^2 * y')\ndef f[n](b: bool, x: [n]f64; y': [n]f64, z': f64) -> (; f64, [n]f64) = {\n  s' = rd r = y' { wr s: f64 { scan par (i < n) { s += x[i] * rd r[i] } } }\n  u' = if b { s' - z' / 2.0 } else { select(b, z', s') }\n  (a; v') = g(1.0; u' + u')\n  t' = #(v', zero f64)\n  #(c', d') = t'\n  (; c' + d', y')\n}\n",
    "data f.tape1 = f.tape1.true(i: i64, a_s: [i]f64) | f.tape1.false\ncore def f.linT(n: i64, k_s: [n]f.tape1; y'': f64; wr dx: [n]f64) -> () = {\n  rd ds = y'' {\n    scan par (i < n) slice (k <- k_s) {\n      t'' = rd ds\n      case k {\n        f.tape1.true(=i, a_s) -> {\n          z'' = scan down (q < i) carry (; c'' = t'') slice (a <- a_s) {\n            (; p'', q'') = dup c''\n            e'' = a * p''\n            dx[q] += q''\n            (; e'')\n          }\n          drop z''\n        }\n        f.tape1.false -> { dx[!i] += t'' }\n      }\n    }\n  }\n}\ncore def h{w,b}.jvp(n: i64, m: i64, x: [n]f64; ; rd dx: [n]f64) -> (k: i64, y: [k]f64) = {\n  check n ..+ m <= 3\n  check n >= 0\n  (s, t) = acc lanes r: f64 { y = proved cast x : [n]f64; r += 2.0; y }\n  (n, s)\n}\n",
    "def br[n](x: [n]f64, c: [n]i64) -> (m: i64, y: [m]f64) = {\n  (k: i64, z: [k]f64) = if n > 3 && x[0] != 0.5 || false { (n, x) } else { k = max(n % 2, 0); (k, build (i < k) { min(f64(c[i]), 1.0) }) }\n  t = #(1, [1.0, 2.0], true)\n  (k, z)\n}\n",
];

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

/// One of the words of a text, blanks included.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let class = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut last = None;
    for (at, c) in source.char_indices() {
        if last.is_some_and(|l| l != class(c) || l == 2) {
            pieces.push(&source[start..at]);
            start = at;
        }
        last = Some(class(c));
    }
    pieces.push(&source[start..]);
    pieces
}

/// A text made from the seeds by a few random changes: words left out, doubled, swapped, taken from
/// elsewhere, or replaced by a token of the language.
fn mutated(random: &mut fastrand::Rng) -> String {
    const TOKENS: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "#(",
        ",",
        ";",
        "'",
        "\n",
        "=",
        "->",
        "<-",
        "+=",
        "..",
        "..+",
        "-",
        "!",
        "^",
        "core ",
        "def ",
        "data ",
        " rd ",
        " wr ",
        " acc ",
        "scan up ",
        "carry ",
        "0",
        "-9223372036854775808",
        "1e308",
        "x'",
        "_",
        "é",
        "@",
        "true",
        "case ",
        "if ",
        "max ",
        "sum ",
    ];
    let mut words: Vec<&str> = pieces(SEEDS[random.usize(..SEEDS.len())]);
    for _ in 0..random.usize(1..5) {
        if words.is_empty() {
            break;
        }
        let at = random.usize(..words.len());
        match random.u8(..6) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => words.insert(at, TOKENS[random.usize(..TOKENS.len())]),
            3 => words[at] = TOKENS[random.usize(..TOKENS.len())],
            4 => {
                let other = random.usize(..words.len());
                words.swap(at, other);
            }
            _ => {
                let other = pieces(SEEDS[random.usize(..SEEDS.len())]);
                words[at] = other[random.usize(..other.len())];
            }
        }
    }
    words.concat()
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
            | "declarations" => {
                assert!(!deep, "{what}: {:?}", loaded.diagnostics.first());
            }
            "parentheses" | "blocks" | "calls" | "if" | "else if" | "sum" | "array types" => {
                assert!(deep, "{what}: {:?}", loaded.diagnostics.first());
            }
            _ => {}
        }
    }
}
