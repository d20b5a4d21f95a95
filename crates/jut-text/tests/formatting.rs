//! The formatter: a fixed point that keeps the program and every word of its text.

use jut_ir::print::print_program;
use std::path::{Path, PathBuf};

use crate::support::{SEEDS, mutated};

fn format(source: &str) -> String {
    jut_text::format(source).unwrap_or_else(|errors| panic!("{}\n{source}", errors[0]))
}

fn formats(source: &str, expected: &str) {
    assert_eq!(format(source), expected, "\n{}", format(source));
    assert_eq!(format(expected), expected, "not a fixed point");
}

/// The letters of a text without what the formatter may change between statements.
fn letters(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ';' | ',')).collect()
}

/// Formatting is a fixed point, loses nothing, and keeps the program.
fn assert_formats(source: &str) {
    let once = format(source);
    let twice = format(&once);
    assert_eq!(once, twice, "not a fixed point:\n{source}");
    assert_eq!(letters(source), letters(&once), "letters differ:\n{source}\n{once}");
    assert!(once.lines().all(|line| line.trim_end() == line), "blanks at a line's end:\n{once}");
    let (before, after) = (jut_text::load(source, 0), jut_text::load(&once, 0));
    let print = |loaded: jut_text::Loaded| loaded.program.map(|p| print_program(&p));
    assert_eq!(print(before), print(after), "another program:\n{source}\n{once}");
}

/// Whether a file of the tests is there for the message that refuses it.
fn is_refused(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("//= error"))
}

fn programs(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory of the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "jut") {
            found.push(path);
        }
    }
}

#[test]
fn all_programs_of_the_repository_keep_their_meaning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    programs(&root.join("crates/jut/examples"), &mut found);
    programs(&root.join("tests"), &mut found);
    assert!(found.len() > 30, "{found:?}");
    for path in found {
        let text = std::fs::read_to_string(path).expect("readable");
        if !is_refused(&text) {
            assert_formats(&text);
        }
    }
}

#[test]
fn all_programs_of_the_repository_are_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for part in ["crates", "benches", "tests"] {
        programs(&root.join(part), &mut found);
    }
    for path in found {
        let text = std::fs::read_to_string(&path).expect("readable");
        let formatted = || format(&text) == text;
        assert!(is_refused(&text) || formatted(), "run `jut fmt {}`", path.display());
    }
}

#[test]
fn constants_maps_and_folds_have_one_layout() {
    formats(
        "/// Half a turn.\nconst  pi:f64=3.14 // about\nconst w:[2]f64=[ 1.0,2.0 ]\n",
        "/// Half a turn.\nconst pi: f64 = 3.14 // about\nconst w: [2]f64 = [1.0, 2.0]\n",
    );
    formats(
        "def f[n](x:[n]f64)->f64=fold(v<-map(u<-x){u*pi})carry(a=0.0){a+v}\n",
        "def f[n](x: [n]f64) -> f64 = fold (v <- map (u <- x) { u * pi }) carry (a = 0.0) { a + v }\n",
    );
}

#[test]
fn printed_core_is_formatted_already_but_for_long_lines() {
    for seed in SEEDS {
        let program = jut_text::load(seed, 0).program.expect("a program");
        let text = print_program(&program);
        assert_formats(&text);
        if text.lines().all(|line| line.len() <= 100) {
            assert_eq!(format(&text), text);
        }
    }
}

#[test]
fn changed_programs_keep_their_meaning() {
    let mut formatted = 0;
    for seed in 0..6000 {
        let source = mutated(&mut fastrand::Rng::with_seed(seed));
        match jut_text::format(&source) {
            Ok(_) => {
                formatted += 1;
                assert_formats(&source);
            }
            Err(errors) => assert!(jut_text::load(&source, 0).program.is_none(), "{errors:?}"),
        }
    }
    assert!(formatted > 400, "{formatted}");
}

/// A text with other blanks, line breaks and comments where the grammar lets them stand.
fn shaken(source: &str, random: &mut fastrand::Rng) -> String {
    let mut out = String::new();
    let mut brackets: Vec<char> = Vec::new();
    let mut in_comment = false;
    for (k, c) in source.char_indices() {
        in_comment |= source[k..].starts_with("//");
        in_comment &= c != '\n';
        out.push(c);
        if in_comment {
            continue;
        }
        match c {
            '(' | '[' | '{' => brackets.push(c),
            ')' | ']' | '}' => {
                brackets.pop();
            }
            _ => {}
        }
        let round = matches!(brackets.last(), Some('(' | '['));
        let free = match c {
            ',' | '(' | '[' => round,
            ' ' => true,
            '{' => !source[k + 1..].starts_with(|c: char| c.is_alphanumeric()),
            '\n' => true,
            _ => false,
        };
        if !free || random.u8(..8) != 0 {
            continue;
        }
        let breaks = round || c == '{' || c == '\n';
        match random.u8(..5) {
            0 if breaks => out.push('\n'),
            1 if breaks => out.push_str("\n\n\n"),
            2 if breaks => out.push_str(" // a note, and: { [ (\n"),
            3 if breaks && !brackets.is_empty() => out.push_str("\n  /// not a doc comment\n"),
            _ => out.push_str("   "),
        }
    }
    out
}

#[test]
fn blanks_and_comments_do_not_matter() {
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let source = shaken(SEEDS[random.usize(..SEEDS.len())], &mut random);
        assert_formats(&source);
    }
}

/// Expressions of any width and depth.
fn expression(random: &mut fastrand::Rng, depth: u32) -> String {
    let name = |random: &mut fastrand::Rng| {
        "a_rather_long_name_indeed"[..random.usize(1..25)].trim_end_matches('_').to_string()
    };
    let inner = |random: &mut fastrand::Rng| expression(random, depth.saturating_sub(1));
    match if depth == 0 { random.u8(..2) } else { random.u8(..12) } {
        0 => name(random),
        1 => format!("{}", random.i32(-5..1000)),
        2 => (0..random.u32(2..6))
            .map(|_| inner(random))
            .collect::<Vec<_>>()
            .join([" + ", "*", " && ", "<", "^", " - "][random.usize(..6)].to_string().as_str())
            .replace("<", " == ")
            .replacen(" == ", " < ", 1)
            .replace(" == ", " + "),
        3 => format!("f({},{})", inner(random), inner(random)),
        4 => format!("({})", inner(random)),
        5 => format!("[{}, {}, {}]", inner(random), inner(random), inner(random)),
        6 => format!("sum(i<n){{{}}}", inner(random)),
        7 => format!(
            "if b {{ {} }} else if c {{ {} }} else {{ {} }}",
            inner(random),
            inner(random),
            inner(random)
        ),
        8 => format!("{{ y = {}; {} }}", inner(random), inner(random)),
        9 => format!("case k {{ A(x) -> {}; _ -> {} }}", inner(random), inner(random)),
        10 => format!("for (i < n) carry (a = {}) {{ {} }}", inner(random), inner(random)),
        _ => format!("-x[{}, {}]", name(random), inner(random)),
    }
}

#[test]
fn texts_of_any_width_reach_a_fixed_point() {
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let depth = random.u32(..6);
        let body = expression(&mut random, depth);
        let source =
            format!("def f(x: f64) -> f64 = {body}\ndef g(x: f64) -> f64 = {{\n t = {body}\n t }}");
        if jut_text::format(&source).is_ok() {
            assert_formats(&source);
        }
    }
}

#[test]
fn long_texts_take_linear_time() {
    let chain = format!("def f(x: f64) -> f64 = {}x\n", "x + ".repeat(50_000));
    let list = format!("def f() -> [50000]f64 = [{}]\n", vec!["1.5"; 50_000].join(","));
    let lines = format!("def f(x: f64) -> f64 = {{\n{}x\n}}\n", "x = sin(x) + x\n".repeat(20_000));
    for source in [chain, list, lines] {
        let once = format(&source);
        assert!(once.lines().all(|line| line.len() <= 100));
        assert_eq!(format(&once), once);
    }
}

#[test]
fn blanks_are_canonical() {
    formats(
        "def  f [ n ] (x:[n]f64 , k : i64)->f64=- x[ k ] ^ 2+max( x [0],- 1.0 )*sum(i<n)-x[i]",
        "def f[n](x: [n]f64, k: i64) -> f64 = -x[k]^2 + max(x[0], -1.0) * sum (i < n) -x[i]\n",
    );
    formats(
        "core def f(n:i64;x':f64;rd dx:[n]f64)->(;f64)={ ( ;a',b' )=dup x'\n drop b'; (;a') }",
        "core def f(n: i64; x': f64; rd dx: [n]f64) -> (; f64) = {\n  (; a', b') = dup x'\n  drop b'\n  (; a')\n}\n",
    );
    formats(
        "data  D=A(n:i64,w:[n]f64)|B\ndef f(d:D,m:i64)->f64=case d{A(=m,w)->(cast w[0..m]:[m]f64)[0];B->1.0}",
        "data D = A(n: i64, w: [n]f64) | B\ndef f(d: D, m: i64) -> f64 = case d { A(=m, w) -> (cast w[0 .. m] : [m]f64)[0]; B -> 1.0 }\n",
    );
}

#[test]
fn comments_and_empty_lines_stay() {
    formats(
        "// a file\n\n\n\n/// Doc.\n\ndef f(x: f64) -> f64 = { // why\n\n\n  y = x   // one\n\n\n  // two\n  // three\n  y\n  // last\n\n}\n// end",
        "// a file\n\n/// Doc.\ndef f(x: f64) -> f64 = { // why\n\n  y = x // one\n\n  // two\n  // three\n  y\n  // last\n}\n// end\n",
    );
    formats(
        "def f(x: f64, // first\n y: f64) -> f64 = x + // left\n y",
        "def f(\n  x: f64, // first\n  y: f64\n) -> f64 = x + // left\n  y\n",
    );
}

#[test]
fn long_lines_are_broken_where_it_reads_best() {
    formats(
        "def mlp[n, d, h, c](first_weights: [h, d]f64, second_weights: [c, h]f64, x: [n, d]f64, label: [n]i64) -> f64 = 1.0",
        "def mlp[n, d, h, c](\n  first_weights: [h, d]f64,\n  second_weights: [c, h]f64,\n  x: [n, d]f64,\n  label: [n]i64\n) -> f64 = 1.0\n",
    );
    formats(
        "def f(a_long_parameter: f64, another_parameter: f64, yet_another_one: [n]f64, z: f64) -> (f64, f64) = { x = 1.0; z }",
        "def f(\n  a_long_parameter: f64,\n  another_parameter: f64,\n  yet_another_one: [n]f64,\n  z: f64\n) -> (f64, f64) = { x = 1.0; z }\n",
    );
    formats(
        "def f(x: f64) -> f64 = {\n  total = offset + sum (i < n) { a_long_factor[i] * another_long_factor[i] + a_last_summand[i] / scale }\n  total\n}",
        "def f(x: f64) -> f64 = {\n  total = offset + sum (i < n) {\n    a_long_factor[i] * another_long_factor[i] + a_last_summand[i] / scale\n  }\n  total\n}\n",
    );
    formats(
        "def f(x: f64) -> f64 = { y = first_summand * its_long_factor + second_summand * its_long_factor + third_summand * its_factor\n y }",
        "def f(x: f64) -> f64 = {\n  y = first_summand * its_long_factor + second_summand * its_long_factor +\n    third_summand * its_factor\n  y\n}\n",
    );
    formats(
        "def f(x: f64) -> f64 = { y = if a_long_condition > another_value { the_first_result } else { the_second_result_of_the_branch }\n y }",
        "def f(x: f64) -> f64 = {\n  y = if a_long_condition > another_value {\n    the_first_result\n  } else {\n    the_second_result_of_the_branch\n  }\n  y\n}\n",
    );
}

#[test]
fn what_does_not_parse_is_reported() {
    let errors = jut_text::format("def f(x: f64) -> f64 = (x").expect_err("open bracket");
    assert_eq!(errors[0].code, "J002");
}

#[test]
fn what_is_named_stays_on_one_line_if_what_stands_behind_can_be_broken() {
    let args = ["argument"; 12].join(", ");
    let lines = ["    argument"; 12].join(",\n");
    for pattern in
        ["(first_result, second_result)", "P(a, =n)", "#(q, r)", "(m: i64, y: [m, 2]f64)"]
    {
        formats(
            &format!("def f(argument: f64) -> f64 = {{ {pattern} = function({args})\n a }}"),
            &format!(
                "def f(argument: f64) -> f64 = {{\n  {pattern} = function(\n{lines}\n  )\n  a\n}}\n"
            ),
        );
    }
    // An arm of a case too.
    let lines = ["      argument"; 12].join(",\n");
    formats(
        &format!("def f(p: P) -> f64 = {{ case p {{ P(alpha, beta) -> function({args}) }} }}"),
        &format!(
            "def f(p: P) -> f64 = {{\n  case p {{\n    P(alpha, beta) -> function(\n{lines}\n    )\n  }}\n}}\n"
        ),
    );
    // Where nothing behind can be broken, the names are.
    let long = "long_".repeat(17);
    formats(
        &format!("def f(x: f64) -> f64 = {{ (first, second) = {long}\n first }}"),
        &format!(
            "def f(x: f64) -> f64 = {{\n  (\n    first,\n    second\n  ) = {long}\n  first\n}}\n"
        ),
    );
}
