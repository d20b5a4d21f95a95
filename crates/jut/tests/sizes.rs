//! Sizes whose arithmetic wraps, in native code: an error value, never a read outside of an array.
//! `crates/jut-loop/tests/sizes.rs` has the cases one by one.

use jut::{Engine, Error, Function, Model, Product, Value};

/// Every engine of this build.
fn engines(function: &Function) -> Vec<Engine> {
    let all = [Engine::Interpreter, Engine::Cranelift, Engine::Llvm, Engine::Mlir];
    all.into_iter().filter(|e| function.clone().engine(*e).value().is_ok()).collect()
}

/// The outcome of a call, in words; the same in all engines, and for the gradient.
fn outcome(text: &str, args: &[Value]) -> String {
    let model = Model::from_text(text).unwrap();
    let function = model.function("f").unwrap();
    let args: Vec<jut::Arg<'_>> = args.iter().map(jut::Arg::from).collect();
    let engines = engines(&function);
    assert!(engines.contains(&Engine::Interpreter) && engines.contains(&Engine::Cranelift));
    let mut outcomes: Vec<String> = Vec::new();
    for engine in engines {
        for product in [Product::Value, Product::ValueAndGradient] {
            let compiled = function.clone().engine(engine).compile(product).unwrap();
            outcomes.push(match compiled.call(&args) {
                Ok(results) => format!("{:?}", results.first()),
                Err(error @ Error::Run(_)) => error.to_string(),
                Err(error) => panic!("{error}"),
            });
        }
    }
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "{outcomes:#?}");
    outcomes.swap_remove(0)
}

const FLAT: &str = "
def inner(n: i64, m: i64, x: [n * m]f64) -> f64 = sum (i < n) { sum (j < m) { x[i * m + j] } }
def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n * m
  x = build (i < k) { c }
  inner(n, m, x)
}";

#[test]
fn an_array_of_a_wrapped_size_is_not_read_in_native_code() {
    let call = |n: i64, m: i64| outcome(FLAT, &[Value::I64(n), Value::I64(m), Value::F64(1.5)]);
    assert_eq!(call(2, 3), "Some(F64(9.0))");
    for (n, m) in [(1 << 32, 1 << 32), (1 << 40, 1 << 40), (i64::MAX, i64::MAX), (3 << 62, 4)] {
        let found = call(n, m);
        assert!(found.starts_with("R06") || found.starts_with("R03"), "{n} * {m}: {found}");
    }
}

#[test]
fn a_bound_that_wraps_is_not_trusted_in_native_code() {
    let text = "
def f[n](x: [n]f64, k: i64) -> f64 = {
  m = max(k, 0)
  sum (i < n - 2 * m) { x[i] }
}";
    let x = Value::F64s(jut::Array { shape: vec![2], data: vec![0.5, 1.0] });
    assert_eq!(outcome(text, &[x.clone(), Value::I64(0)]), "Some(F64(1.5))");
    let found = outcome(text, &[x, Value::I64((1 << 62) + 2)]);
    assert!(found.starts_with("R01: index 2 is out of range for length 2"), "{found}");
}

#[test]
fn rows_that_wrap_together_are_refused_in_native_code() {
    let text = "
def f(k: i64, c: f64) -> f64 = {
  x = build (i < k) { [c, 1.0, c, 2.0] }
  sum (i < k) { x[i, 2] }
}";
    assert_eq!(outcome(text, &[Value::I64(2), Value::F64(1.5)]), "Some(F64(3.0))");
    let model = Model::from_text(text).unwrap();
    let function = model.function("f").unwrap();
    // The interpreter makes row after row until there is no memory.
    for engine in engines(&function).into_iter().filter(|e| *e != Engine::Interpreter) {
        let gradient = function.clone().engine(engine).gradient().unwrap();
        for k in [1i64 << 62, (1 << 62) + 1, 1 << 61, i64::MAX] {
            let error = gradient.call(&[k.into(), 1.5.into()]).unwrap_err();
            assert_eq!(error.code(), Some("R06"), "{k}: {error}");
        }
    }
}
