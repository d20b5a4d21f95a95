//! Sizes whose arithmetic wraps, in native code: an error value, never a read outside of an array.
//! `crates/jut-loop/tests/sizes.rs` has the cases one by one.

use jut::{Engine, Error, Function, Model, Request, Value};

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
        for product in [Request::Value, Request::ValueAndGradient] {
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
fn a_size_that_is_too_large_is_named_with_what_it_is_made_of() {
    let call = |n: i64, m: i64| outcome(FLAT, &[Value::I64(n), Value::I64(m), Value::F64(1.5)]);
    let found = call(1 << 32, 1 << 32);
    let expected = "R06: size too large: the product 4294967296 * 4294967296 is no 64-bit integer";
    assert!(found.starts_with(expected), "{found}");
    // In several steps: the first that wraps.
    let text = "
def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n * n + m
  x = build (i < k) { c }
  sum (v <- x) { v }
}";
    let call = |n: i64, m: i64| outcome(text, &[Value::I64(n), Value::I64(m), Value::F64(1.5)]);
    assert_eq!(call(2, 1), "Some(F64(7.5))");
    let found = call(-(1 << 32), 5);
    let expected = "size too large: the product -4294967296 * -4294967296 is no 64-bit integer";
    assert!(found.contains(expected), "{found}");
    let found = call(3037000499, i64::MAX);
    assert!(found.starts_with("R03") || found.contains("size too large: the sum "), "{found}");
    // Each operation, as it is written.
    for (sign, name, a, b) in
        [("+", "sum", i64::MAX, 1), ("-", "difference", i64::MIN, 1), ("*", "product", 3, i64::MAX)]
    {
        let text =
            format!("def f(n: i64, m: i64, c: f64) -> f64 = {{\n  check n {sign} m\n  c\n}}");
        let call = |n, m| outcome(&text, &[Value::I64(n), Value::I64(m), Value::F64(1.5)]);
        assert_eq!(call(1, -1), "Some(F64(1.5))");
        let found = call(a, b);
        let expected = format!(
            "R06: size too large: the {name} {a} {sign} {b} is no 64-bit integer at program:2:3"
        );
        assert_eq!(found, expected);
    }
}

#[test]
fn the_largest_of_nothing_is_an_empty_range() {
    for (loops, word) in [
        ("max (i < n) { x * f64(i) }", "max"),
        ("min (i < n) { x * f64(i) }", "min"),
        ("max(1.0, f64(max (0 <= i < n) { i })) * x", "max"),
        (
            "sum (v <- build (i < max(n, 0)) { x }) { v } + min (v <- build (i < max(n, 0)) { x }) v",
            "min",
        ),
    ] {
        let text = format!("def f(n: i64, x: f64) -> f64 = {loops}");
        let call = |n: i64| outcome(&text, &[Value::I64(n), Value::F64(1.5)]);
        assert!(call(2).starts_with("Some"), "{text}");
        for n in [0, -3] {
            let found = call(n);
            let expected = format!("R01: the range of `{word}` is empty at program:1:");
            assert!(found.starts_with(&expected), "{text}: {found}");
        }
        let compiled = Model::from_text(&text).and_then(|m| m.function("f")?.value()).unwrap();
        let error = compiled.call(&[0.into(), 1.5.into()]).unwrap_err();
        let Error::Run(error) = &error else { panic!("{error}") };
        assert!(error.help().contains("the bound is 0"), "{}", error.help());
        assert!(error.render(false).contains("is empty"), "{}", error.render(false));
    }
    // An access is one, also in the body of a `max`.
    let text = "def f(n: i64, x: f64) -> f64 = max (i < 2) { build (j < n) { x }[i] }";
    let found = outcome(text, &[Value::I64(0), Value::F64(1.5)]);
    assert!(found.starts_with("R01: index 0 is out of range for length 0"), "{found}");
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

/// Each dimension fits into memory, and nobody asks for that of their product.
#[test]
fn what_is_flattened_is_no_longer_than_memory() {
    let called = "
def called[n, p](ones: [n]f64, x: [p]f64) -> f64 = {
  y = cast x : [4 * n]f64
  sum (i < n) { y[i] }
}";
    let plain = "
def f[p](n: i64, x: [p]f64) -> f64 = called(flatten(build (i < n, j < n) { 1.0 }), x)";
    let core = "
core def g(p: i64, n: i64, x: [p]f64) -> f64 = {
  check n >= 0
  check n * n
  ones = scan par (i < n) {
    row = scan par (j < n) { 1.0 }
    row
  }
  all = flatten(ones)
  m = n * n
  t = called(m, p, all, x)
  t
}
def f[p](n: i64, x: [p]f64) -> f64 = g(p, n, x)";
    for text in [plain, core] {
        let call = |n: i64, x: &[f64]| {
            let x = Value::F64s(jut::Array { shape: vec![x.len()], data: x.to_vec() });
            outcome(&format!("{called}{text}"), &[Value::I64(n), x])
        };
        assert_eq!(call(1, &[1.0, 2.0, 3.0, 4.0]), "Some(F64(1.0))");
        let found = call(1 << 31, &[]);
        let expected = "R06: size too large: no array has 4611686018427387904 elements";
        assert!(found.starts_with(expected), "{found}");
    }
}
