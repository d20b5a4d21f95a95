//! The standard library: found without files, elaborated as far as it is used, hidden by files of the user, documented.

use jut_text::standard::{MODULES, module};
use jut_text::{ModuleSource, load, load_with};

fn names(text: &str) -> Vec<String> {
    let loaded = load(text, 0);
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    program.funcs.values().map(|f| f.name.clone()).collect()
}

/// Every definition, whoever uses it, and no warning that users could do nothing about.
#[test]
fn every_module_loads_whole_without_a_message() {
    for (name, text) in MODULES {
        let loaded = load(text, 0);
        assert!(loaded.program.is_some() && loaded.diagnostics.is_empty(), "{name}: {loaded:#?}");
        assert_eq!(jut_text::format(text).ok().as_deref(), Some(*text), "{name} is laid out");
    }
}

#[test]
fn what_nobody_mentions_is_not_in_the_program() {
    let text = "use std.linalg\ndef f[n](a: [n, n]f64) -> f64 = std.linalg.det(a)";
    assert_eq!(names(text), ["std.linalg.lu", "std.linalg.det", "f"]);
    let text = "use std.linalg\nuse std.array\ndef f(x: f64) -> f64 = x";
    assert_eq!(names(text), ["f"]);
    // Derivatives mention their function.
    let text = "use std.linalg\ndef f[n](x: [n]f64) -> [n]f64 = grad(std.linalg.norm)(x)";
    assert!(names(text).contains(&"std.linalg.norm".to_string()));
    let text = "use std.linalg as la\ndef f[n](x: [n]f64) -> f64 = la.norm(x)";
    assert_eq!(names(text), ["std.linalg.norm", "f"]);
    // A function that is given away is mentioned.
    let text = "use std.linalg\nuse std.array\ndef g(f: fn([2]f64) -> f64, x: [2]f64) -> f64 = f(x)\ndef f(x: [2]f64) -> f64 = g(std.linalg.norm, x)";
    assert_eq!(names(text), ["std.linalg.norm", "f"]);
}

#[test]
fn an_unknown_name_of_the_library_is_told_what_there_is() {
    let loaded = load("use std.linalg\ndef f[n](x: [n]f64) -> f64 = std.linalg.nrom(x)", 0);
    let [error] = loaded.diagnostics.as_slice() else { panic!("{:#?}", loaded.diagnostics) };
    assert_eq!(error.code, "J014");
    assert!(format!("{error:?}").contains("std.linalg.norm"), "{error:?}");
    let loaded = load("def f[n](x: [n]f64) -> f64 = linalg.norm(x)", 0);
    assert!(format!("{:?}", loaded.diagnostics).contains("write `use std.linalg`"));
    let loaded = load("use std.lineal\ndef f(x: f64) -> f64 = x", 0);
    assert_eq!(loaded.diagnostics[0].code, "J015");
}

/// A program's own files go first: what it meant before the library had a module of that name, it means still.
#[test]
fn files_of_the_user_hide_modules_of_the_library() {
    let own = |texts: &'static [(&str, &str)]| {
        move |name: &str| {
            let found = texts.iter().find(|(own, _)| *own == name).map(|(_, text)| *text);
            let text = found.or_else(|| module(name)).map(str::to_string);
            Ok(text.map(|text| ModuleSource { text, file: 1 }))
        }
    };
    let main = "use std.linalg\ndef f(x: f64) -> f64 = std.linalg.norm(x)";
    let whole = &[("std.linalg", "def norm(x: f64) -> f64 = abs(x)\ndef other(x: f64) -> f64 = x")];
    let program = load_with(main, 0, &mut own(whole)).program.expect("a program");
    let names: Vec<&str> = program.funcs.values().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["std.linalg.norm", "std.linalg.other", "f"]);
    // A file `std.jut` is a module of its own beside those of the library.
    let main =
        "use std\nuse std.linalg\ndef f(x: [2]f64) -> f64 = std.linalg.norm(x) + std.norm(1.0)";
    let beside = &[("std", "def norm(x: f64) -> f64 = abs(x)")];
    let program = load_with(main, 0, &mut own(beside)).program.expect("a program");
    assert_eq!(program.funcs.len(), 3);
}

/// `c64` and `complex(..)` bring the module of complex numbers, and of it what operators and names may mean.
#[test]
fn complex_numbers_need_no_use() {
    let text = "def f(z: c64) -> c64 = z * z";
    assert_eq!(names(text), ["std.complex.mul", "std.complex.mul_real", "f"]);
    let text = "def f(x: f64) -> f64 = re(exp(complex(x, 1.0)))";
    assert_eq!(names(text), ["std.complex.re", "std.complex.polar", "std.complex.exp", "f"]);
    // What the program declares itself goes before, and then there is no module.
    assert_eq!(names("data c64 = complex(a: f64)\ndef f(z: c64) -> f64 = z.a"), ["f"]);
    assert_eq!(
        names("def complex(x: f64) -> f64 = x\ndef f(x: f64) -> f64 = complex(x)"),
        ["complex", "f"]
    );
    let own = "def conj(z: c64) -> c64 = z\ndef exp(x: c64) -> c64 = x\ndef f(z: c64) -> c64 = conj(exp(z))";
    assert!(
        !names(own).contains(&"std.complex.conj".to_string())
            || load(own, 0).diagnostics.is_empty()
    );
    let loaded = load(own, 0).program.expect("a program");
    let calls = jut_ir::print::print_program(&loaded);
    assert!(
        !calls.contains("= std.complex.conj(") && !calls.contains("= std.complex.exp("),
        "{calls}"
    );
    // `complex` and `c64` as names of values bring nothing.
    assert_eq!(names("def f(c64: f64, complex: f64) -> f64 = c64 * complex"), ["f"]);
}

/// Operators that complex numbers do not have, and what they cannot be mixed with.
#[test]
fn what_complex_numbers_cannot_do_is_refused() {
    for (body, code) in [
        ("if z < w { 1.0 } else { 0.0 }", "J202"),
        ("re(z + 1)", "J202"),
        ("re(gamma(z))", "J202"),
        ("re(conj(z, w))", "J208"),
        ("re(polar(z, 1.0))", "J210"),
        ("re(complex(z, 1.0))", "J202"),
        ("max([z, w])", "J205"),
        ("re(unknown(z))", "J014"),
    ] {
        let text = format!("def f(z: c64, w: c64) -> f64 = {body}");
        let loaded = load(&text, 0);
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{text}: {:#?}", loaded.diagnostics);
        assert!(loaded.diagnostics.iter().all(|d| !d.help.is_empty()), "{text}");
    }
}

/// A definition as a reader of the library sees it: its head, and the first paragraph of what is said about it.
fn described(text: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let (mut doc, mut head) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("///") {
            doc.push(said.trim());
        } else if line.starts_with("def ") || !head.is_empty() {
            if !head.is_empty() && !head.ends_with('(') && !line.trim().starts_with(')') {
                head.push(' ');
            }
            head.push_str(line.trim());
            let end = head.find(" = ").or_else(|| head.strip_suffix(" =").map(str::len));
            if let Some(end) = end {
                rows.push((head["def ".len()..end].to_string(), doc.join(" ")));
                (doc, head) = (Vec::new(), String::new());
            }
        } else {
            doc.clear();
        }
    }
    rows
}

/// `docs/std.md` has a section for each module, with a table of all that it has; `JUT_BLESS=1` renews the tables.
#[test]
fn the_page_lists_every_function() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/std.md");
    let page = std::fs::read_to_string(path).expect("docs/std.md is readable");
    let mut renewed = page.clone();
    for (name, text) in MODULES {
        let rows = described(text);
        let mut table = String::from("| | |\n|---|---|\n");
        for (head, said) in &rows {
            assert!(!said.is_empty(), "{name}: nothing is said about {head}");
            table += &format!("| `{head}` | {} |\n", said.replace('|', "\\|"));
        }
        let defs = text.lines().filter(|line| line.starts_with("def "));
        assert_eq!(rows.len(), defs.count(), "{name}");
        let heading = format!("## `{name}`\n");
        let section = renewed.find(&heading).unwrap_or_else(|| panic!("no section {heading}"));
        let fence = renewed[section..].find("```jut\nuse ").expect("an example");
        let start = section + renewed[section..].find("| | |\n").expect("a table");
        assert!(section + fence < start, "{name}: the example stands before the table");
        let length = renewed[start..].find("\n\n").map_or(renewed.len() - start, |end| end + 1);
        renewed.replace_range(start..start + length, &table);
    }
    if std::env::var_os("JUT_BLESS").is_some() {
        std::fs::write(path, &renewed).expect("docs/std.md is writable");
    } else {
        assert!(page == renewed, "docs/std.md is old: run this test with JUT_BLESS=1");
    }
}
