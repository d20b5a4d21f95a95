//! Random functions of the subset that `#[jut::differentiable]` takes: compiled plainly by rustc, and lowered to text and
//! run by jut: all by the interpreter, half of them by a compiler too. The values have the same bits, and one is an error exactly where
//! the other panics.
//!
//! The functions are lowered by the library behind the attribute, in this process; so rustc runs once, on one file.
//! `JUT_RUST_PROGRAMS` sets how many there are, `JUT_RUST_SEED` the first seed, `JUT_RUST_SHOWN` how many that differ are shown.
#![cfg(feature = "macros")]

mod writer;

use fastrand::Rng;
use jut::rust::{Filled, Type};
use jut::{Arg, Engine, Model, Value};
use jut_rust::template::Hole;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use writer::Writer;

/// The structs and the enum of the functions, as Rust has them.
const TYPES: &str = "#[derive(Clone, Copy)]
struct Point { x: f64, n: usize, w: f32 }
#[derive(Clone, Copy)]
struct Pair<T> { of: T, rows: [T; 2] }
#[derive(Clone, Copy)]
enum Choice { Nothing, One(f64), Two { y: f64, k: i64 } }
#[derive(Clone, Copy)]
struct Vector { a: f64, b: f64 }
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
impl Add for Vector { type Output = Vector; fn add(self, o: Vector) -> Vector { Vector { a: self.a + o.a, b: self.b + o.b } } }
impl Sub for Vector { type Output = Vector; fn sub(self, o: Vector) -> Vector { Vector { a: self.a - o.a, b: self.b - o.b } } }
impl Mul<f64> for Vector { type Output = Vector; fn mul(self, k: f64) -> Vector { Vector { a: self.a * k, b: self.b * k } } }
impl Neg for Vector { type Output = Vector; fn neg(self) -> Vector { Vector { a: -self.a, b: -self.b } } }
impl AddAssign for Vector { fn add_assign(&mut self, o: Vector) { self.a += o.a; self.b += o.b; } }
";

/// The operators of `Vector` as the attribute would write them.
const OPERATORS: &str = "
def vector_add(p: #(f64, f64), q: #(f64, f64)) -> #(f64, f64) = #(p.0 + q.0, p.1 + q.1)
def vector_sub(p: #(f64, f64), q: #(f64, f64)) -> #(f64, f64) = #(p.0 - q.0, p.1 - q.1)
def vector_mul(p: #(f64, f64), k: f64) -> #(f64, f64) = #(p.0 * k, p.1 * k)
def vector_neg(p: #(f64, f64)) -> #(f64, f64) = #(-p.0, -p.1)
def vector_add_assign(p: #(f64, f64), q: #(f64, f64)) -> #(f64, f64) = #(p.0 + q.0, p.1 + q.1)
";
const VECTOR: Type = Type::Record(&[("a", Type::F64), ("b", Type::F64)]);

/// The same as `derive(jut::Data)` says them.
const POINT: Type = Type::Record(&[("x", Type::F64), ("n", Type::Usize), ("w", Type::F32)]);
const PAIR: Type = Type::Record(&[("of", Type::F64), ("rows", Type::Fixed(&Type::F64, 2))]);
const CHOICE: Type = Type::Enum(
    &["Nothing", "One", "Two"],
    &[("", Type::I64), ("One.0", Type::F64), ("Two.y", Type::F64), ("Two.k", Type::I64)],
);

/// The parameters of all functions.
const PARAMETERS: &[Type] =
    &[Type::Array(&Type::F64), Type::Array(&Type::F64), Type::Usize, Type::I64];

/// Arguments of all functions: arrays, a size, an integer.
const CALLS: &[(&[f64], &[f64], usize, i64)] = &[
    (&[], &[], 0, 0),
    (&[1.5], &[-0.0], 1, -2),
    (&[0.25, -3.0], &[f64::INFINITY, 2.0, 0.5], 2, 1),
    (&[f64::NAN, 1e-300, 7.0], &[1.0, -1.0, 0.0, 3.0], 3, 5),
    (&[2.0, 0.5, 1.0, -1.0], &[0.1, 0.2], 4, 3),
];

/// What plain Rust says: for each function and call the bits of the result and of `y`, or nothing where it panics.
fn plain(functions: &[String]) -> Vec<Option<Vec<u64>>> {
    let mut source = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n".to_string();
    source.push_str(TYPES);
    source.extend(functions.iter().map(|f| format!("{f}\n")));
    source.push_str("fn main() {\n    std::panic::set_hook(Box::new(|_| {}));\n");
    source.push_str("    let all: &[fn(&[f64], &mut [f64], usize, i64) -> f64] = &[");
    (0..functions.len()).for_each(|k| {
        let plain = match writer::fails(k) {
            true => format!("|x, y, n, k| fun{k}(x, y, n, k).unwrap(), "),
            false => format!("fun{k}, "),
        };
        source.push_str(&plain);
    });
    source.push_str("];\n    let (inf, NaN) = (f64::INFINITY, f64::NAN);\n    for f in all {\n");
    for (x, y, n, k) in CALLS {
        let _ = writeln!(
            source,
            "        let mut y = vec!{y:?};\n        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&{x:?}, &mut y, {n}, {k}))) {{\n            \
             Ok(v) => println!(\"{{}} {{}}\", v.to_bits(), y.iter().map(|v: &f64| v.to_bits().to_string()).collect::<Vec<_>>().join(\" \")),\n            \
             Err(_) => println!(\"panic\"),\n        }}"
        );
    }
    source.push_str("    }\n}\n");
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("plain.rs"), folder.path().join("plain"));
    std::fs::write(&file, &source).expect("a file");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let made = Command::new(rustc)
        .args(["--edition", "2024", "-C", "opt-level=0", "-C", "overflow-checks=on"])
        .args(["-C", "debug-assertions=off", "-C", "codegen-units=4", "-o"])
        .arg(&binary)
        .arg(&file)
        .output()
        .expect("rustc runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let run = Command::new(&binary).output().expect("it runs");
    let said = String::from_utf8(run.stdout).expect("text");
    let numbers = |line: &str| line.split(' ').filter_map(|w| w.parse().ok()).collect();
    said.lines().map(|line| (line != "panic").then(|| numbers(line))).collect()
}

fn data(path: &str) -> Type {
    match path {
        "Point" => POINT,
        "Pair<f64>" => PAIR,
        "Vector" => VECTOR,
        "f64" => Type::F64,
        "f32" => Type::F32,
        _ => CHOICE,
    }
}

/// The type that an expression stands for, as rustc finds it: `field::<KEY, _, _>(of::<Point>())`. A literal has none of its own.
fn typed(expr: &str, known: &HashMap<String, Type>) -> Option<Type> {
    // A struct whose field it is: `{ .. (&::jut::rust::asked::<Point>()).of() }`.
    if let Some((_, of)) = expr.strip_prefix('{').and_then(|e| e.split_once("asked::<")) {
        return Some(data(of.split_once(">()")?.0));
    }
    let Some(call) = expr.strip_prefix("::jut::rust::") else { return known.get(expr).copied() };
    if let Some(of) = call.strip_prefix("of::<") {
        return Some(data(of.strip_suffix(">()")?));
    }
    // All functions give numbers, or a `Result` of one.
    if call.starts_with("given::<") {
        return Some(Type::F64);
    }
    let (name, inner) = call.strip_suffix(')')?.split_once('(')?;
    let ty = typed(inner, known)?;
    match (name.strip_prefix("field::<"), ty) {
        (_, Type::F64) => Some(ty),
        (None, Type::Array(element) | Type::Vec(element) | Type::Fixed(element, _)) => {
            Some(*element)
        }
        (Some(number), Type::Record(fields) | Type::Enum(_, fields)) => {
            let wanted: u64 = number.split_once("u64")?.0.parse().ok()?;
            fields.iter().find(|(name, _)| key(name) == wanted).map(|(_, ty)| *ty)
        }
        _ => None,
    }
}

/// The number of a field's name.
fn key(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |k, b| (k ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// The text of one function.
fn text(
    name: &str,
    source: &str,
    function: &syn::ItemFn,
    signature: &jut_rust::Signature,
) -> Result<String, String> {
    let lowered = jut_rust::lower(function, signature)
        .map_err(|e| format!("{} at {:?}: {source}", e.message, e.span.map(|s| s.start())))?;
    let called = |path: &str, sure: bool| {
        let number = path.trim_start_matches("fun").parse().unwrap_or(0);
        let (name, ty) = match writer::fails(number) && !sure {
            true => (format!("{path}_or_none"), Type::Tuple(&[Type::Bool, Type::F64])),
            false => (path.to_string(), Type::F64),
        };
        Filled::function(&name, ty, &[false, true, false, false]).of(PARAMETERS)
    };
    let (mut holes, mut operators) = (Vec::new(), HashMap::new());
    for (k, hole) in lowered.holes.iter().enumerate() {
        holes.push(match hole {
            Hole::Function(path) | Hole::Call(path, _) => called(&path.to_string(), false),
            Hole::Sure(inner) | Hole::Unwrapped(inner) => match &**inner {
                Hole::Function(path) | Hole::Call(path, _) => called(&path.to_string(), true),
                other => panic!("{other:?}: {source}"),
            },
            Hole::Data(path) => Filled::function("", data(&path.to_string().replace(' ', "")), &[]),
            Hole::Operator(number, left, right) => {
                let of = |tokens: String| typed(&tokens.replace(' ', ""), &operators);
                let (left, right) = (of(left.to_string()), of(right.to_string()));
                let ty = left.or(right).unwrap_or_else(|| panic!("{source}"));
                let right = right.unwrap_or(if ty == VECTOR { Type::F64 } else { ty });
                operators.insert(format!("__jut_type_{k}"), ty);
                let both: &'static [Type] = Box::leak(Box::new([ty, right]));
                let named = ["add", "sub", "mul", "neg", "add_assign"];
                let name = named.iter().find(|name| key(name) == *number);
                let name = name.filter(|_| ty == VECTOR).map(|name| format!("vector_{name}"));
                // Those of numbers have no name.
                Filled::function(&name.unwrap_or_default(), ty, &[]).of(both)
            }
            other => panic!("{other:?}: {source}"),
        });
    }
    Ok(jut::rust::filled(name, &lowered.text, &holes))
}

/// The text of the functions of a group, the first of which has a number; or what is refused.
fn group_text(functions: &[String], first: usize) -> Result<String, String> {
    let mut texts = Vec::new();
    for (k, source) in (first..).zip(functions) {
        let refused = |what: &str| format!("{what}: {source}");
        let function: syn::ItemFn = syn::parse_str(source)
            .map_err(|e| refused(&format!("{e} at {:?}", e.span().start())))?;
        let signature = jut_rust::signature(&function, None).map_err(|e| refused(&e.message))?;
        texts.push(text(&format!("fun{k}"), source, &function, &signature)?);
        // The text that those call who look at a `Result`.
        let called = functions.iter().any(|other| other.contains(&format!("fun{k}(&")));
        if let Some(given) = signature.given().filter(|_| called) {
            texts.push(text(&format!("fun{k}_or_none"), source, &function, &given)?);
        }
    }
    texts.push(OPERATORS.to_string());
    Ok(jut::rust::with_prelude(&texts.join("\n")))
}

/// The functions of a group as a program; or what is refused.
fn program(functions: &[String], first: usize) -> Result<Model, String> {
    let text = group_text(functions, first)?;
    Model::from_text(&text).map_err(|e| {
        let said = e.to_string();
        let errors = said.split("\n[").filter(|message| message.contains("] Error:"));
        format!("{}\n{}\n{text}", errors.collect::<Vec<_>>().join("\n["), functions.join("\n"))
    })
}

/// The engines that run a function: the interpreter, and a compiler for some.
fn engines(number: usize) -> Vec<Engine> {
    let compiler = match number % 64 {
        7 => Engine::Llvm,
        39 => Engine::Mlir,
        k if k % 2 == 1 => Engine::Cranelift,
        _ => Engine::Interpreter,
    };
    let mut engines = vec![Engine::Interpreter];
    engines.extend((compiler != Engine::Interpreter && compiler.is_built_in()).then_some(compiler));
    engines
}

/// What a call gave on an engine: the number of the function, that of the call, the bits of the results or an error.
type Gave = (usize, usize, Engine, Result<Vec<u64>, String>);

/// Runs a function on its engines.
fn run(model: &Model, k: usize, gave: &mut Vec<Gave>) -> Result<(), String> {
    for engine in engines(k) {
        let function = model.function(&format!("fun{k}")).map(|f| f.engine(engine).parallel(false));
        let compiled = function.and_then(|f| f.value()).map_err(|e| format!("{engine:?}: {e}"))?;
        for (c, (x, y, n, i)) in CALLS.iter().enumerate() {
            let args = [Arg::from(*x), Arg::from(*y), (*n as i64).into(), (*i).into()];
            let bits = match &compiled.call(&args) {
                Ok(values) => Ok(values.iter().flat_map(Value::floats).map(f64::to_bits).collect()),
                Err(error) => Err(error.to_string()),
            };
            gave.push((k, c, engine, bits));
        }
    }
    Ok(())
}

/// Whether plain Rust gave the same.
fn same(plain: &Option<Vec<u64>>, bits: &Result<Vec<u64>, String>) -> bool {
    let nan = |b: u64| f64::from_bits(b).is_nan();
    match (plain, bits) {
        (None, Err(_)) => true,
        (Some(a), Ok(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || nan(*a) && nan(*b))
        }
        _ => false,
    }
}

#[test]
fn random_functions_are_those_of_plain_rust() {
    let number = |name: &str, usual: usize| {
        std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
    };
    let count = number("JUT_RUST_PROGRAMS", 2000);
    let mut rng = Rng::with_seed(number("JUT_RUST_SEED", 1) as u64);
    let functions: Vec<String> = (0..count).map(|k| Writer::write(&mut rng, k)).collect();
    // rustc has a thread of its own, and groups of functions are taken by some others.
    let groups: Vec<&[String]> = functions.chunks(writer::GROUP).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut gave, mut wrong) = (Vec::new(), Vec::new());
        loop {
            let g = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(g) else { return (gave, wrong) };
            let first = g * writer::GROUP;
            match program(group, first) {
                Ok(model) => wrong.extend((first..).zip(*group).filter_map(|(k, source)| {
                    let stopped = run(&model, k, &mut gave).err()?;
                    Some(format!("{stopped}: {source}"))
                })),
                Err(refused) => wrong.push(refused),
            }
        }
    };
    let (plain, found) = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let plain = plain(&functions);
        let found: Vec<_> = workers.into_iter().map(|w| w.join().expect("no panic")).collect();
        (plain, found)
    });
    assert_eq!(plain.len(), count * CALLS.len());
    let mut wrong: Vec<String> = found.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    for (k, c, engine, bits) in found.iter().flat_map(|(gave, _)| gave) {
        let plain = &plain[k * CALLS.len() + c];
        if !same(plain, bits) {
            let (source, call) = (&functions[*k], CALLS[*c]);
            wrong.push(format!("{source}call {call:?}: Rust {plain:?}, {engine:?} {bits:?}"));
        }
    }
    let shown = number("JUT_RUST_SHOWN", 1);
    let first = wrong[..shown.min(wrong.len())].join("\n");
    assert!(wrong.is_empty(), "{} differ; the first:\n{first}", wrong.len());
    let failed = plain.iter().filter(|bits| bits.is_none()).count();
    // Neither all nor none of them panic.
    let all = count * CALLS.len();
    assert!(failed * 20 > all && failed * 10 < all * 9, "{failed} of {all} panic");
}
