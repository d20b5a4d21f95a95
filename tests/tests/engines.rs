//! P16: the interpreter, the loop form and machine code agree bit for bit, on the examples and on random
//! programs; `files.rs` has the programs of `tests/programs`.

use jut_ad::{Mask, Policy};
use jut_eval::{Interpreter, Value};
use jut_loop::form::LoopProgram;
use jut_loop::split;
use jut_tests::engines::{agree, agree_with, backends};
use jut_tests::generate::Extent;
use jut_tests::laws::load;
use jut_tests::products::{product_in_turn, products};
use jut_tests::random::{self, Ends, Subject, all_products};
use jut_tests::{in_parallel, programs};
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};

const BOTH: [Policy; 2] = [Policy::StoreAll, Policy::Default];

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/jut/examples").join(path)
}

fn json(path: &str) -> Map<String, Json> {
    let text = std::fs::read_to_string(example(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// The largest difference, relative to the largest number expected.
fn distance(have: &[f64], want: &[f64]) -> f64 {
    if have.len() != want.len() {
        return f64::INFINITY;
    }
    let scale = want.iter().fold(f64::MIN_POSITIVE, |m, w| m.max(w.abs()));
    have.iter().zip(want).fold(0.0f64, |m, (h, w)| m.max((h - w).abs())) / scale
}

#[test]
fn all_engines_agree_on_the_examples_and_with_their_reference_values() {
    let mut names: Vec<String> = programs::files(&example(""))
        .iter()
        .filter_map(|f| Some(f.file_stem()?.to_string_lossy().into_owned()))
        // Others are parts of one of these, or examples of something else.
        .filter(|name| example(&format!("reference/{name}.json")).exists())
        .collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    let outcome = in_parallel(&names, |name| {
        let named = |e: String| format!("{name}: {e}");
        let text = std::fs::read_to_string(example(&format!("{name}.jut"))).expect("readable");
        let program = load(&text).map_err(named)?;
        let reference = json(&format!("reference/{name}.json"));
        let given = json(&format!("data/{name}.json"));
        let main = reference["function"].as_str().unwrap_or_default();
        let func = program.find_func(main).ok_or_else(|| named(format!("no {main}")))?;
        let case = programs::Case {
            func: main.into(),
            args: given.into_iter().collect(),
            error: None,
            smooth: true,
        };
        let args = programs::arguments(&program, main, &case).map_err(named)?;
        let args = Interpreter::new(&program).with_sizes(func, &args).map_err(|e| e.to_string())?;
        let function = &program.funcs[func];
        let wrt: Vec<&str> =
            reference["wrt"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let is_wrt = |k: usize| wrt.contains(&function.nvars[function.params[k]].name.as_str());
        let mask = Mask::new(&program, func, is_wrt);
        all_products(&program, func, std::slice::from_ref(&args), &mask).map_err(named)?;

        for product in products(&program, func, &args, &mask, &BOTH)? {
            if !product.name.starts_with("value_grad") {
                continue;
            }
            let results = agree(&product.program, product.func, &product.args).map_err(named)?;
            let results = results.map_err(|e| named(e.to_string()))?;
            let gradients = wrt.iter().map(|w| numbers(&reference["gradient"][*w]));
            let expected: Vec<Vec<f64>> =
                std::iter::once(numbers(&reference["value"])).chain(gradients).collect();
            if results.len() != expected.len() {
                return Err(named(format!("{} results", results.len())));
            }
            for (value, expected) in results.iter().zip(&expected) {
                let mut have = Vec::new();
                value.for_each_f64(&mut |x| have.push(x));
                let off = distance(&have, expected);
                if off > 1e-12 {
                    return Err(named(format!("{}: off by {off:e}", product.name)));
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn all_engines_agree_on_which_of_equal_numbers_is_the_largest() {
    let text = "
        def top[n](x: [n]f64) -> f64 = max (v <- x) log(v)
        def least[n](x: [n]f64) -> f64 = min (v <- x) log(v)";
    // -1 has no logarithm; the numbers repeat, so that every lane of a vector has the same ones.
    let patterns: [&[f64]; 3] = [&[1.0, 2.0, 2.0], &[0.0], &[2.0, -1.0, 3.0, -1.0]];
    let program = load(text).unwrap();
    let mut cases = Vec::new();
    for name in ["top", "least"] {
        for pattern in patterns {
            cases.extend([1, 9, 27].map(|n| (name, pattern, n)));
        }
    }
    let outcome = in_parallel(&cases, |(name, pattern, n)| {
        let func = program.find_func(name).ok_or("no function")?;
        let x: Vec<f64> = pattern.iter().copied().cycle().take(*n).collect();
        let args = [Value::floats(x)];
        let args = Interpreter::new(&program).with_sizes(func, &args).map_err(|e| e.to_string())?;
        all_products(&program, func, &[args], &Mask::full(&program, func))
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn all_engines_agree_on_random_programs() {
    let given = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = given("JUT_SEED").unwrap_or(0);
    let seeds: Vec<u64> = (first..first + given("JUT_PROGRAMS").unwrap_or(60)).collect();
    // Every third one is about linear code written by hand, erased.
    let subject = |seed: u64| match seed % 3 {
        2 => Subject::slope(seed),
        _ => Subject::main(seed),
    };
    in_parallel(&seeds, |seed| random::engines(subject(*seed))).unwrap_or_else(|e| panic!("{e}"));
}

/// The backend that takes most loops several iterations at once has all of them; with `JUT_PROGRAMS`, every backend has one in four.
#[test]
fn derivatives_of_random_loops_in_loops_agree_at_lengths_around_those_of_vectors() {
    let given = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (first, count) = (given("JUT_SEED").unwrap_or(0), given("JUT_PROGRAMS"));
    let seeds: Vec<u64> = (first..first + count.unwrap_or(8)).collect();
    let everywhere: Vec<_> = backends().collect();
    let asked = |seed: u64| match count {
        Some(_) if seed.is_multiple_of(4) => &everywhere[..],
        _ => &everywhere[..everywhere.len().min(2)],
    };
    in_parallel(&seeds, |seed| random::nests(*seed, asked(*seed)))
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_derivative_of_random_programs_agrees_at_arguments_that_they_do_not_expect() {
    const PROGRAMS: usize = 24;
    // Small programs, because Hessians are many times as long, and such that read with indices from outside.
    let extent = Extent { main: 8, helper: 4 };
    let subjects = (0..).map(|seed| Subject { seed, extent, linear: false });
    let indexed = |subject: &Subject| subject.generate().text.contains("ix[");
    let subjects: Vec<_> = subjects.filter(indexed).take(PROGRAMS).enumerate().collect();
    let outcome = in_parallel(&subjects, |(k, subject)| {
        // Backends that take long to compile have one in twelve.
        let count = if k % 12 == 0 { 3 } else { 1 };
        let backends: Vec<_> = backends().take(count).collect();
        let native = jut::BACKENDS.into_iter().filter(|(engine, _)| engine.is_built_in());
        let native = native.map(|(engine, backend)| (backend.name, engine)).take(count);
        let interpreter = ("interpreter", jut::Engine::Interpreter);
        let engines: Vec<_> = std::iter::once(interpreter).chain(native).collect();
        random::strange(*subject, &backends, &engines)
    });
    let mut total = Ends::new();
    for (kind, [values, failures]) in outcome.unwrap_or_else(|e| panic!("{e}")).iter().flatten() {
        let [all, failed] = total.entry(*kind).or_default();
        (*all, *failed) = (*all + values, *failed + failures);
    }
    println!("{total:?}");
    assert_eq!(total.len(), 12);
    let enough = |ends: &[usize; 2]| ends.iter().all(|n| *n > PROGRAMS);
    assert!(total.values().all(enough), "{total:?}");
}

/// Functions that are cut into pieces: nothing that one piece has made and another one reads is on a stack.
#[test]
fn all_engines_agree_on_functions_in_pieces() {
    let text = "
        def main(x: f64, k: i64) -> f64 = {
          a = [x, 2.0 * x, sin(x)]
          b = [a[1] + 1.0, a[0] * a[2]]
          s = for (i < 3) carry (s = 0.0) {
            c = [s + a[i], x * s, b[1]]
            d = [c[0] * c[1], c[2]]
            s + exp(0.1 * d[0]) * d[1] + c[k] * b[0]
          }
          e = if s > 1.0 { [a[k], s] } else { [s, b[1]] }
          e[0] * e[1] + a[2] * b[0]
        }";
    let mut cases = vec![(text.to_string(), vec![Value::F64(0.7), Value::I64(2)])];
    cases.extend((0..16).map(|seed| {
        let generated = Subject::main(seed).generate();
        (generated.text.clone(), generated.arguments())
    }));
    let everywhere: Vec<_> = backends().collect();
    let cases: Vec<_> = cases.into_iter().enumerate().collect();
    let outcome = in_parallel(&cases, |(k, (text, args))| {
        // Functions are cut in the loop form: the backends that take long to compile have one program in eight.
        let asked = if k % 8 == 0 { &everywhere[..] } else { &everywhere[..1] };
        let program = load(text)?;
        let func = program.find_func("main").ok_or("no main")?;
        let args = Interpreter::new(&program).with_sizes(func, args).map_err(|e| e.to_string())?;
        let mask = Mask::full(&program, func);
        let product = product_in_turn(&program, func, &args, &mask, text.len())?;
        let Some(product) = product else { return Ok(()) };
        let optimised = jut_opt::optimise(&product.program, product.func, true);
        for (long, piece) in [(3, 1), (40, 20)] {
            let cut = |form: &mut LoopProgram| drop(split::run_with(form, long, piece));
            agree_with(&optimised, product.func, &product.args, &cut, asked)
                .map(drop)
                .map_err(|e| format!("{} in pieces of {piece}: {e}\n{text}", product.name))?;
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
