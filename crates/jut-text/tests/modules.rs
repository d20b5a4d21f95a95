//! Programs of several files.

use jut_ir::Diagnostic;
use jut_ir::print::print_program;
use jut_text::{Loaded, ModuleSource, load_with};

/// Loads the first file; the others are modules by name, with file numbers from 1.
fn load(files: &[(&str, &str)]) -> (Loaded, Vec<String>) {
    let mut asked = Vec::new();
    let loaded = load_with(files[0].1, 0, &mut |name| {
        asked.push(name.to_string());
        let found = files.iter().skip(1).position(|(module, _)| *module == name);
        let text = |k: usize| ModuleSource { text: files[k + 1].1.to_string(), file: k as u32 + 1 };
        Ok(found.map(text))
    });
    (loaded, asked)
}

fn names(files: &[(&str, &str)]) -> Vec<String> {
    let (loaded, _) = load(files);
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let text = print_program(&program);
    let again = jut_text::load(&text, 0).program.expect("reads back");
    assert_eq!(print_program(&again), text);
    program.funcs.values().map(|f| f.name.clone()).collect()
}

/// The only error: code, text, file.
fn refused(files: &[(&str, &str)], code: &str, at: &str, file: u32) -> Diagnostic {
    let (loaded, _) = load(files);
    assert!(loaded.program.is_none());
    let [error] = loaded.diagnostics.as_slice() else { panic!("{:#?}", loaded.diagnostics) };
    let text = files[error.span.file as usize].1;
    let text = &text[error.span.start as usize..error.span.end as usize];
    assert_eq!((error.code, text, error.span.file), (code, at, file), "{error}");
    error.clone()
}

const STATS: &str = "data Fit = Fit(a: f64, b: f64)\ndata Kind = Small | Large(x: f64)\ndef mean[n](x: [n]f64) -> f64 = sum (v <- x) { v } / f64(n)\ndef centre[n](x: [n]f64) -> [n]f64 = { m = mean(x); build (i < n) { x[i] - m } }\ndef fit(a: f64) -> Fit = Fit(a, mean([a, 1.0]))\ndef kind(x: f64) -> Kind = if x > 1.0 { Large(x) } else { Small() }\n";

#[test]
fn names_of_a_module_have_its_name_in_front() {
    let main = "use stats\ndef mean(x: f64) -> f64 = x\ndef f[n](x: [n]f64) -> f64 = {\n  y = stats.centre(x)\n  p = stats.fit(mean(y[0]))\n  stats.Fit(a, b) = p\n  c = case stats.kind(a) { stats.Small -> 1.0; stats.Large(x) -> x }\n  q = stats.Fit(1.0, b)\n  q.a + p.b + c\n}\ndef g(p: stats.Fit) -> f64 = p.a";
    assert_eq!(
        names(&[("", main), ("stats", STATS)]),
        ["stats.mean", "stats.centre", "stats.fit", "stats.kind", "mean", "f", "g"]
    );
}

#[test]
fn a_module_is_read_once_and_stands_before_its_users() {
    let files = [
        ("", "use a\nuse b\nuse a\ndef f(x: f64) -> f64 = a.f(x) + b.f(x)"),
        ("a", "use lib.base\ndef f(x: f64) -> f64 = lib.base.f(x)"),
        ("b", "use lib.base\nuse a\ndef f(x: f64) -> f64 = lib.base.f(x) + a.f(x)"),
        ("lib.base", "def f(x: f64) -> f64 = sin(x)"),
    ];
    assert_eq!(names(&files), ["lib.base.f", "a.f", "b.f", "f"]);
    assert_eq!(load(&files).1, ["a", "lib.base", "b"]);
}

#[test]
fn a_file_sees_its_own_names_and_those_it_uses() {
    let base = ("base", "def f(x: f64) -> f64 = x");
    let user = ("user", "use base\ndef g(x: f64) -> f64 = base.f(x)");
    let error = refused(
        &[("", "use user\ndef f(x: f64) -> f64 = base.f(x)"), user, base],
        "J014",
        "base.f",
        0,
    );
    assert!(error.help.contains("`use base`"));
    let main = "def h(x: f64) -> f64 = x\nuse m\ndef f(x: f64) -> f64 = m.g(x)";
    refused(&[("", main), ("m", "def g(x: f64) -> f64 = h(x)")], "J014", "h", 1);
    refused(
        &[("", "def f(x: f64) -> f64 = m.g(x)\nuse m"), ("m", "def g(x: f64) -> f64 = x")],
        "J014",
        "m.g",
        0,
    );
    let error = refused(&[("", "def f(x: f64) -> f64 = sums.mean(x)")], "J014", "sums.mean", 0);
    assert!(error.help.contains("`use sums`"));
}

#[test]
fn a_name_is_looked_for_beside_the_file_that_uses_it_first() {
    let files = [
        ("", "use lib.fit\nuse stats\ndef f(x: f64) -> f64 = lib.fit.g(x) + stats.mean(x)"),
        (
            "lib.fit",
            "use stats\nuse units\nuse parts.a\ndef g(x: f64) -> f64 = stats.mean(x) * units.k(x) + parts.a.h(stats.P(x))",
        ),
        ("lib.parts.a", "use stats\ndef h(p: stats.P) -> f64 = p.x"),
        ("lib.stats", "data P = P(x: f64)\ndef mean(x: f64) -> f64 = x"),
        ("stats", "def mean(x: f64) -> f64 = 2.0 * x"),
        ("units", "def k(x: f64) -> f64 = 3.0 * x"),
    ];
    // In lib.parts, `stats` is not lib.stats: a directory between is not searched.
    let error = refused(&files, "J010", "stats.P", 2);
    assert!(error.message.contains("stats.P"), "{error}");
    let mut files = files;
    files[2].1 = "def h(p: f64) -> f64 = p";
    files[1].1 = "use stats\nuse units\nuse parts.a\ndef g(x: f64) -> f64 = stats.mean(x) * units.k(x) + parts.a.h(x)";
    assert_eq!(
        names(&files),
        ["lib.stats.mean", "units.k", "lib.parts.a.h", "lib.fit.g", "stats.mean", "f"]
    );
    let asked = load(&files).1;
    assert_eq!(asked, ["lib.fit", "lib.stats", "lib.units", "units", "lib.parts.a", "stats"]);
}

#[test]
fn a_module_that_is_nowhere_names_the_files_that_were_looked_for() {
    let files = [
        ("", "use lib.a\ndef f(x: f64) -> f64 = lib.a.g(x)"),
        ("lib.a", "use b\ndef g(x: f64) -> f64 = b.h(x)"),
    ];
    let error = refused(&files, "J015", "b", 1);
    assert!(error.message.contains("lib/b.jut or b.jut"), "{error}");
    assert!(error.help.contains("lib/stats.jut"));
}

const GEO: &str = "/// Corners.\nconst n: i64 = 3\nconst twice: i64 = 2 * n - 1\nconst pi: f64 = 3.14\nconst odd: i64 = n / 2\ndata Corners = Corners(x: [n]f64)\n";

#[test]
fn a_constant_of_a_module_may_stand_in_a_size() {
    let main = "use lib.geo
const own: i64 = lib.geo.n + 1
data Frame = Frame(a: [lib.geo.n]f64, b: [own]f64)
def f(x: [lib.geo.n]f64) -> [3]f64 = x
def g[m](x: [m * lib.geo.n + 1, own]f64, y: [lib.geo.twice]f64) -> [3 * m + 1, lib.geo.twice - 1]f64 = x
def h[m](x: [m]f64) -> [lib.geo.n]f64 = cast x : [lib.geo.n]f64
def k(c: lib.geo.Corners) -> [lib.geo.n]f64 = c.x
def l(x: [lib.geo.n]f64) -> (y: [lib.geo.n]f64) = {
  y = build (i < lib.geo.n) { x[i] + acc r: [lib.geo.n]f64 { r[0] += 1.0 }[0] }
  y
}
def m(x: [3]f64) -> f64 = sum (i < lib.geo.n) { f(x)[i] + l(x)[i] }";
    let files = [("", main), ("lib.geo", GEO)];
    assert_eq!(names(&files).last().map(String::as_str), Some("m"));
    // Equal as sizes: in the file itself they are the same numbers, without a check.
    let text = print_program(&load(&files).0.program.expect("loads"));
    assert!(text.contains("core def f(x: [3]f64) -> [3]f64 = {\n  x\n}"), "{text}");
    assert!(text.contains("core def g(m: i64, x: [3 * m + 1, 4]f64, y: [5]f64)"), "{text}");
    assert!(text.contains("data Frame = Frame(a: [3]f64, b: [4]f64)"), "{text}");
}

#[test]
fn what_cannot_stand_in_a_size_says_why() {
    let with = |text: &str| format!("use geo\n{text}");
    for (text, code, at, part) in [
        ("def f(x: [geo.pi]f64) -> f64 = x[0]", "J215", "geo.pi", "is not an i64"),
        ("def f(x: [geo.odd]f64) -> f64 = x[0]", "J215", "geo.odd", "before the program runs"),
        ("const q: i64 = geo.odd + 1\ndef f(x: [q]f64) -> f64 = x[0]", "J215", "q", "before"),
        ("def f(x: [geo.m]f64) -> f64 = x[0]", "J203", "geo.m", "`const m: i64 = ..`"),
        ("def f(x: [other.m]f64) -> f64 = x[0]", "J203", "other.m", "`use other`"),
        ("def f(g: i64, x: [g.n]f64) -> f64 = x[0]", "J215", "g.n", "i64 names and integers"),
    ] {
        let main = with(text);
        let error = refused(&[("", &main), ("geo", GEO)], code, at, 0);
        assert!(format!("{error} {}", error.help).contains(part), "{error}: {}", error.help);
    }
    // A core definition has no constants.
    let main = with("core def f(x: [geo.n]f64) -> [3]f64 = {\n  (x)\n}");
    refused(&[("", &main), ("geo", GEO)], "J215", "geo.n", 0);
    // A constant that was refused causes no further message.
    let main = with("def f(x: [geo.n]f64) -> f64 = x[0]");
    refused(&[("", &main), ("geo", "const n: i64 = 1.5")], "J214", "1.5", 1);
}

#[test]
fn errors_of_a_module_are_reported_in_its_file_and_only_there() {
    let main = ("", "use m\ndef f(x: f64) -> f64 = m.g(x) + m.h(x) + m.k(x)");
    refused(
        &[
            main,
            ("m", "def g(x: f64) -> f64 = y\ndef h(x: f64) -> f64 = x\ndef k(x: f64) -> f64 = x"),
        ],
        "J010",
        "y",
        1,
    );
    refused(
        &[
            main,
            ("m", "def g(x: f64 -> f64 = x\ndef h(x: f64) -> f64 = x\ndef k(x: f64) -> f64 = x"),
        ],
        "J002",
        "->",
        1,
    );
}

#[test]
fn a_missing_module_is_reported_where_it_is_named() {
    let error = refused(
        &[("", "use nowhere\ndef f(x: f64) -> f64 = nowhere.g(x) + 1.0")],
        "J015",
        "nowhere",
        0,
    );
    assert!(error.message.contains("there is no file nowhere.jut"), "{error}");
    refused(
        &[
            ("", "use a\ndef f(p: a.P) -> f64 = 1.0"),
            ("a", "use nowhere\ndata P = P(x: nowhere.Q)"),
        ],
        "J015",
        "nowhere",
        1,
    );
    refused(&[("", "use prim")], "J015", "prim", 0);
}

#[test]
fn a_circle_is_reported_where_it_closes() {
    let files = [
        ("", "use a\ndef f(x: f64) -> f64 = a.f(x)"),
        ("a", "use b\ndef f(x: f64) -> f64 = b.f(x)"),
        ("b", "use a\ndef f(x: f64) -> f64 = a.f(x)"),
    ];
    let error = refused(&files, "J016", "a", 2);
    assert!(error.message.contains("a -> b -> a"), "{error}");
    refused(&[("", "use a"), ("a", "use a")], "J016", "a", 1);
    refused(&[("", "use lib.a"), ("lib.a", "use a"), ("a", "")], "J016", "a", 1);
}

#[test]
fn names_do_not_collide_silently() {
    let stats = ("stats", "def mean(x: f64) -> f64 = x");
    refused(
        &[("", "use stats\ndef stats.mean(x: f64) -> f64 = x"), stats],
        "J011",
        "stats.mean",
        0,
    );
    refused(&[("", "use stats\ndef stats(x: f64) -> f64 = x"), stats], "J011", "stats", 0);
}

#[test]
fn a_file_may_give_a_module_a_name_of_its_own() {
    let stats =
        ("lib.stats", "data Fit = Fit(a: f64)\ndef mean(x: f64) -> f64 = x\nconst half: f64 = 0.5");
    let main = "use lib.stats as s\ndef f(p: s.Fit) -> f64 = s.mean(p.a) * s.half\ndef g(x: f64) -> f64 = grad(s.mean)(x) + s.mean.grad(x)";
    assert!(names(&[("", main), stats]).contains(&"lib.stats.mean".to_string()));
    // The file calls it by that name alone, and other files by theirs.
    let both = "use lib.stats as s\ndef f(x: f64) -> f64 = lib.stats.mean(x)";
    refused(&[("", both), stats], "J014", "lib.stats.mean", 0);
    let other = ("other", "use lib.stats\ndef f(x: f64) -> f64 = lib.stats.mean(x)");
    names(&[
        ("", "use other\nuse lib.stats as as\ndef f(x: f64) -> f64 = as.mean(x) + other.f(x)"),
        stats,
        other,
    ]);
    // One name for one module; the same one twice is no mistake.
    names(&[
        ("", "use lib.stats as s\nuse lib.stats as s\ndef f(x: f64) -> f64 = s.mean(x)"),
        stats,
    ]);
    refused(&[("", "use lib.stats as other\nuse other"), stats, other], "J011", "other", 0);
}

#[test]
fn the_last_name_of_a_module_is_enough_unless_it_is_that_of_two() {
    let stats = ("lib.stats", STATS);
    let main = "use lib.stats\ndef f(p: stats.Fit) -> f64 = stats.mean([p.a, p.b]) + lib.stats.mean([p.a])";
    assert!(names(&[("", main), stats]).contains(&"lib.stats.mean".to_string()));
    // A variable of that name is nearer.
    let variable = "use lib.stats\ndef f(stats: lib.stats.Fit) -> f64 = stats.a";
    names(&[("", variable), stats]);
    // A module that is called so by the file is meant, whatever others there are.
    let own = ("stats", "def half(x: f64) -> f64 = 0.5 * x");
    let both =
        "use lib.stats\nuse stats\ndef f(x: f64) -> f64 = stats.half(x) + lib.stats.mean([x])";
    names(&[("", both), stats, own]);
    let two = "use lib.stats\nuse other.stats\ndef f(x: f64) -> f64 = stats.mean([x])";
    let other = ("other.stats", "def mean(x: f64) -> f64 = x");
    refused(&[("", two), stats, other], "J014", "stats.mean", 0);
}

#[test]
fn a_chain_of_modules_may_be_long() {
    let main = "use m0\ndef f(x: f64) -> f64 = m0.f(x)";
    let loaded = load_with(main, 0, &mut |name| {
        let Ok(k) = name[1..].parse::<u32>() else { return Ok(None) };
        let text = match k {
            3000 => "def f(x: f64) -> f64 = x".to_string(),
            _ => format!("use m{0}\ndef f(x: f64) -> f64 = m{0}.f(x) + 1.0", k + 1),
        };
        Ok(Some(ModuleSource { text, file: k + 1 }))
    });
    assert_eq!(loaded.program.map(|p| p.funcs.len()), Some(3002));
}

#[test]
fn a_text_by_itself_has_no_modules() {
    let loaded = jut_text::load("use stats\ndef f(x: f64) -> f64 = stats.mean(x)", 0);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["J015"]);
}
