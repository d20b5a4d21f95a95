//! What the macro writes, and what it refuses: in files by name, line and column, in Rust at the token.

use crate::{check, expand, text};
use proc_macro2::TokenStream;
use std::path::Path;

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("tokens")
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text as the tokens were written, but for comments.
#[test]
fn tokens_stand_where_they_stood() {
    let source = "\n  /// Twice.\n  ///  As said.\n  def f[n](x: [n]f64) -> f64 = {\n    s = sum (v <- x) { -2.0 * v^2 }\n    s / 1e-3 + x[0 ..+ 1][0]\n  }\n  def g(é: f64) -> f64 = é - 1.5\n";
    let laid = text::lay_out(tokens(source)).unwrap_or_default();
    assert_eq!(laid.text.trim_end(), source.trim_end());
    let source = "def f(x: f64) -> f64 = /* no */ x\n//! no\ndef g(t: #(f64, f64)) -> f64 = t.0";
    let laid = text::lay_out(tokens(source)).unwrap_or_default();
    let expected = "def f(x: f64) -> f64 =          x\n\ndef g(t: #(f64, f64)) -> f64 = t.0";
    assert_eq!(laid.text.trim_end(), expected);
}

#[test]
fn tokens_of_several_places_are_refused() {
    let mut two = tokens("\n\n def f(x: f64) -> f64 = x");
    two.extend(tokens("def g(x: f64) -> f64 = x"));
    let all = expand(two, here()).to_string();
    assert!(all.contains("a program is written in one place"), "{all}");
    assert_eq!(all.matches("compile_error").count(), 1, "{all}");
}

/// Brackets `«»` stand round what the compiler points to.
#[test]
fn a_wrong_text_is_refused_at_its_tokens() {
    for (case, code) in [
        ("def f(x: f64) -> f64 = x + «y»", "J010"),
        ("def f(x: f64) -> f64 = x\ndef g(x: f64) -> f64 = «h»(x)", "J014"),
        ("def f(x: f64) -> f64 = x «+» true", "J202"),
        ("def f(x: «f16») -> f64 = 1.0", ""),
        ("def f[n, m](x: [n]f64, y: [m]f64) -> [n]f64 = x + «y»", "J209"),
        ("use «stats»\ndef f(x: f64) -> f64 = x", "J015"),
        ("def f(x: f64) -> f64 = {\n  y = x\n  «)»\n}", ""),
        ("def f(x: f64 -> f64 = x", ""),
    ] {
        let source = case.replace(['«', '»'], "");
        // What is no Rust at all, rustc says itself.
        let Ok(tokens) = source.parse::<TokenStream>() else { continue };
        let laid = text::lay_out(tokens.clone()).unwrap_or_default();
        let messages = check::text(&laid.text).map(|_| ()).expect_err(case);
        let (first, last) = laid.tokens(messages[0].range.clone());
        assert!(messages[0].text.contains(code), "{case}: {messages:?}");
        if let Some(at) = case.find('«') {
            let before = &case[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count();
            let (start, end) = (first.start(), last.end());
            let inside = (start.line, start.column) <= (line, column)
                && (line, column) < (end.line, end.column);
            assert!(inside, "{case}: {start:?} to {end:?}: {messages:?}");
        }
        let all = expand(tokens, here()).to_string();
        assert_eq!(all.matches("compile_error").count(), messages.len(), "{all}");
        assert!(!all.contains("struct"), "{all}");
    }
}

#[test]
fn a_wrong_file_is_refused_by_name_line_and_column() {
    let folder = std::env::temp_dir().join(format!("jut-program-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lib")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "one.jut",
        "def f(x: f64) -> f64 = x\n\ndef g(x: f64) -> f64 = 2.0 * z\ndef h(x: f64) -> f64 = q\n",
    );
    write("two.jut", "use lib.part\ndef f(x: f64) -> f64 = lib.part.g(x)\n");
    write("lib/part.jut", "def g(x: f64) -> f64 =\n  w\n");
    let refused = |name: &str, folder: &Path| {
        let all = expand(tokens(&format!("{name:?}")), folder).to_string();
        assert!(all.contains("compile_error") && !all.contains("struct"), "{all}");
        all
    };
    let all = refused("one.jut", &folder);
    assert!(all.contains("one.jut:3:30: J010: there is no name `z` here"), "{all}");
    assert!(all.contains("one.jut:4:24: J010: there is no name `q` here"), "{all}");
    assert!(refused("two.jut", &folder).contains("lib/part.jut:2:3: J010"), "{all}");
    write("four.jut", "use five\ndef f(x: f64) -> f64 = x\n");
    write("five.jut", "\nextern def p(; x': f64) -> (; f64) transpose p\n");
    let all = refused("four.jut", &folder);
    assert!(all.contains("five.jut:2:1: J901") && all.contains("`five.p`"), "{all}");
    let parent = folder.parent().expect("a parent");
    let below = folder.file_name().and_then(|n| n.to_str()).expect("a name");
    let all = refused(&format!("{below}/two.jut"), parent);
    assert!(all.contains(&format!("{below}/lib/part.jut:2:3: J010")), "{all}");
    assert!(refused("none.jut", &folder).contains("files are looked for beside the Rust file"));
    assert!(refused("lib", &folder).contains("no regular file"));
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn what_is_written_is_rust() {
    let all = expand(
        tokens(
            "data Point = Point(x: f64, y: f64, tag: i64)
             data Shape = Round(r: f64) | Flat
             data Own = Own(n: i64, v: [n]f64)
             def plain[n](x: [n]f64, y: f64) -> f64 = y * sum(x)
             def type(p: Point) -> (match: f64, b: bool) = (p.x, p.tag > 0)
             def sum_type(s: Shape) -> f64 = case s { Round(r) -> r; Flat -> 0.0 }
             def own(o: Own) -> f64 = 1.0
             def apply(f: fn(f64) -> f64, x: f64) -> f64 = f(x)
             def matrix[n, m](a: [n, m]f64) -> [n, m]f64 = 2.0 * a",
        ),
        here(),
    );
    let file: syn::File = syn::parse2(all.clone()).unwrap_or_else(|e| panic!("{e}: {all}"));
    let structs: Vec<String> = file
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Struct(s) => Some(s.ident.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(structs, ["Point", "plain", "r#type", "sum_type", "own", "matrix"]);
    let text = all.to_string();
    for part in [
        "pub fn value_and_gradient (x : & [f64] , y : f64)",
        "a : & :: jut :: Array < f64 >",
        "the parameter `s` has a type that Rust has not",
        "the parameter `o` has a type that Rust has not",
        "# [data (twin)]",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
