//! P16 for objects made ahead of time: the programs of `tests/programs`, the examples and random
//! programs, one of their products, in turn, called from C with the static runtime.

use jut_ad::Mask;
use jut_eval::Interpreter;
use jut_tests::foreign::with_functions_of;
use jut_tests::generate::generate;
use jut_tests::laws::load;
use jut_tests::products::{Product, product_in_turn};
use jut_tests::{in_parallel, objects, programs};
use std::path::{Path, PathBuf};

/// A product of a case, named.
fn made(
    name: &str,
    text: &str,
    case: &programs::Case,
    turn: usize,
) -> Result<Option<Product>, String> {
    let named = |e: String| format!("{name}, {}: {e}", case.func);
    let program = load(text).map_err(named)?;
    let func = program.find_func(&case.func).ok_or("no function")?;
    let args = programs::arguments(&program, &case.func, case).map_err(named)?;
    let args = Interpreter::new(&program).with_sizes(func, &args).map_err(|e| e.to_string())?;
    let mask = Mask::full(&program, func);
    let product = || product_in_turn(&program, func, &args, &mask, turn);
    let product = with_functions_of(text, product).map_err(named)?;
    let rename = |p: Product| Product { name: format!("{name}, {}: {}", case.func, p.name), ..p };
    Ok(product.map(rename))
}

/// Calls all products, some hundred in one C program.
fn agree(name: &str, products: &[Product]) -> usize {
    let parts: Vec<(PathBuf, &[Product])> = products
        .chunks(150)
        .enumerate()
        .map(|(k, part)| {
            let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("objects");
            (at.join(format!("{name}{k}")), part)
        })
        .collect();
    let called = in_parallel(&parts, |(at, part)| objects::agree(at, part));
    called.unwrap_or_else(|e| panic!("{e}")).into_iter().sum()
}

#[test]
fn objects_agree_with_the_interpreter_on_the_test_programs_and_examples() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &Path| std::fs::read_to_string(path).expect("readable");
    let mut cases = Vec::new();
    for file in programs::files(&here.join("programs")) {
        let text = read(&file);
        for case in programs::cases(&text).expect("cases") {
            cases.push((file.display().to_string(), text.clone(), case));
        }
    }
    let examples = here.join("../crates/jut/examples");
    for file in programs::files(&examples) {
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let reference = examples.join(format!("reference/{stem}.json"));
        if !reference.exists() {
            continue; // A part of another one.
        }
        let json =
            |path: &Path| -> serde_json::Value { serde_json::from_str(&read(path)).expect("JSON") };
        let args = json(&examples.join(format!("data/{stem}.json")));
        let case = programs::Case {
            func: json(&reference)["function"].as_str().expect("a name").to_owned(),
            args: args.as_object().expect("an object").clone().into_iter().collect(),
            error: None,
            smooth: true,
        };
        cases.push((stem, read(&file), case));
    }
    let turns: Vec<_> = cases.iter().enumerate().collect();
    let all = in_parallel(&turns, |(turn, (name, text, case))| made(name, text, case, *turn));
    let all: Vec<Product> = all.unwrap_or_else(|e| panic!("{e}")).into_iter().flatten().collect();
    let called = agree("programs", &all);
    assert!(called > 200 && 10 * called > 9 * all.len(), "{called} of {}", all.len());
}

#[test]
fn objects_agree_with_the_interpreter_on_random_programs() {
    let count: u64 = std::env::var("JUT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut all = Vec::new();
    for seed in 0..count {
        let generated = generate(seed);
        let made = || -> Result<Option<Product>, String> {
            let program = load(&generated.text)?;
            let func = program.find_func("main").ok_or("no main")?;
            let args = Interpreter::new(&program).with_sizes(func, &generated.arguments());
            let args = args.map_err(|e| e.to_string())?;
            product_in_turn(&program, func, &args, &Mask::full(&program, func), seed as usize)
        };
        let made = made().unwrap_or_else(|e| panic!("program {seed}: {e}\n{}", generated.text));
        let rename = |p: Product| Product { name: format!("program {seed}: {}", p.name), ..p };
        all.extend(made.into_iter().map(rename));
    }
    let called = agree("random", &all);
    assert!(10 * called > 9 * all.len(), "{called} of {}", all.len());
}
