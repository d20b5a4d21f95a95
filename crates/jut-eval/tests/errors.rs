//! Run-time errors are values with a kind, a place in the text, and operands.

use crate::support::{failure, floats, load};
use jut_eval::{EvalError, Interpreter, Value};
use jut_ir::RuntimeErrorKind::{self, *};

#[test]
fn errors_have_a_kind_a_place_and_operands() {
    let three = floats(&[1.0, 2.0, 3.0]);
    let text = "def f[n](x: [n]f64, i: i64) -> f64 = x[i]";
    for i in [-1, 3, i64::MAX] {
        let (kind, place, operands) = failure(text, &[three.clone(), i.into()]);
        assert_eq!((kind, operands), (Index, vec![i, 3]));
        assert!(place.contains('i'), "{place}");
    }
    let text = "def f[n](x: [n]f64, a: i64, b: i64) -> f64 = sum (v <- x[a..b]) { v }";
    for (a, b) in [(0, 4), (2, 1), (-1, 1), (i64::MAX, i64::MIN)] {
        let (kind, _, operands) = failure(text, &[three.clone(), a.into(), b.into()]);
        assert_eq!((kind, operands), (Slice, vec![a, b.wrapping_sub(a), 3]), "{a}..{b}");
    }
    let text = "def f(n: i64) -> [n]f64 = build (i < n) { 1.0 }";
    let (kind, _, operands) = failure(text, &[(-2i64).into()]);
    assert_eq!((kind, operands), (NegativeSize, vec![-2]));
    let text = "def f[n](x: [n]f64, m: i64) -> f64 = {
        y = cast x : [m]f64
        sum (v <- y) { v } }";
    let (kind, place, operands) = failure(text, &[three, 4i64.into()]);
    assert_eq!((kind, operands), (SizeMismatch, vec![3, 4]));
    assert!(place.contains("cast x : [m]f64"), "{place}");
    for op in ["/", "%"] {
        let text = format!("def f(a: i64, b: i64) -> i64 = a {op} b");
        let (kind, place, _) = failure(&text, &[1i64.into(), 0i64.into()]);
        assert_eq!((kind, place), (DivisionByZero, format!("a {op} b")));
    }
}

#[test]
fn proved_accesses_are_tested_too() {
    let text = "core def f(n: i64, x: [n]f64, i: i64) -> f64 = { a = x[!i]; a }";
    let (kind, _, operands) = failure(text, &[1i64.into(), floats(&[1.0]), 5i64.into()]);
    assert_eq!((kind, operands), (Index, vec![5, 1]));
    let text = "core def f(n: i64, m: i64, x: [n]f64) -> f64 = {
        y = proved cast x : [m]f64
        s = acc lanes r: f64 { scan par (i < m) slice (v <- y) { r += v } }; s }";
    let (kind, ..) = failure(text, &[1i64.into(), 2i64.into(), floats(&[1.0])]);
    assert_eq!(kind, SizeMismatch);
    let text = "data B = B(m: i64, w: [m]f64)
        core def f(n: i64, m: i64, w: [m]f64) -> f64 = {
        b = B(m, w)
        B(=n, v) = b
        s = acc lanes r: f64 { scan par (i < n) slice (a <- v) { r += a } }; s }";
    let (kind, _, operands) = failure(text, &[2i64.into(), 1i64.into(), floats(&[1.0])]);
    assert_eq!((kind, operands), (SizeMismatch, vec![1, 2]));
}

#[test]
fn the_memory_limit_is_an_error_value() {
    let build = "def f(n: i64) -> f64 = {
        check n >= 0
        x = build (i < n) { 1.0 }
        sum (v <- x) { v } }";
    let region = "core def f(n: i64) -> [n]f64 = {
        check n >= 0
        z = acc r: [n]f64 { check 0 < n; r[0] += 1.0 }
        z }";
    for text in [build, region] {
        let program = load(text);
        let f = program.find_func("f").expect("f");
        let small = Interpreter::new(&program).memory_limit(8000);
        assert!(small.call(f, &[1000i64.into()], &[], &[]).is_ok());
        for n in [1001, 1 << 40, i64::MAX] {
            let error = small.call(f, &[n.into()], &[], &[]).expect_err("too much");
            assert_eq!(error.runtime().map(|e| e.kind), Some(RuntimeErrorKind::Memory), "n = {n}");
        }
    }
}

#[test]
fn memory_is_given_back() {
    let text = "def f(n: i64) -> f64 = for (i < n) carry (a = 0.0) {
        x = build (j < 100) { a + f64(j) }
        sum (v <- x) { v } * 0.0001 }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let small = Interpreter::new(&program).memory_limit(4000);
    assert!(small.call(f, &[1000i64.into()], &[], &[]).is_ok());
}

#[test]
fn arguments_of_other_types_are_refused() {
    let text = "def f[n](x: [n]f64, k: i64) -> f64 = { check k < n; x[k] }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let interpreter = Interpreter::new(&program);
    let one = floats(&[1.0]);
    let refused: [&[Value]; 5] = [
        &[1i64.into(), one.clone()],
        &[2i64.into(), one.clone(), 0i64.into()],
        &[1i64.into(), 1.0.into(), 0i64.into()],
        &[1i64.into(), Value::ints([1]), 0i64.into()],
        &[1i64.into(), one.clone(), 0.0.into()],
    ];
    for args in refused {
        let error = interpreter.call(f, args, &[], &[]).expect_err("refused");
        assert!(matches!(error, EvalError::Argument { .. }), "{error:?}");
    }
    let error = interpreter.call(f, refused[3], &[], &[]).expect_err("refused");
    assert!(error.to_string().contains("`x`"), "{error}");
    let error = interpreter.with_sizes(f, &[0i64.into()]).expect_err("no array");
    assert!(error.to_string().contains("`n`"), "{error}");
    assert!(interpreter.call(f, &[1i64.into(), one, 0i64.into()], &[], &[]).is_ok());
}

#[test]
fn operations_on_large_arrays_are_cancelled_and_on_small_ones_done() {
    use jut_runtime::Cancellation;
    let texts = [
        "core def f(n: i64; x': [n]f64) -> (; [n]f64) = { y' = -x'; (; y') }",
        "core def f(n: i64; x': [n]f64) -> (; [n]f64) = { y' = 2.0 * x'; (; y') }",
        "core def f(n: i64; x': [n]f64) -> (; [n]f64) = { (; a', b') = dup x'; y' = a' + b'; (; y') }",
        "core def f(n: i64; x': [n]f64) -> (; [n]f64) = { (; y') = wr c: [n]f64 { c += x' }; (; y') }",
        "core def f(n: i64; x': [n]f64) -> (; [n]f64, [n]f64) = { y' = zero [n]f64; (; x', y') }",
    ];
    for text in texts {
        let program = load(text);
        let func = program.funcs.keys().next_back().expect("a definition");
        for (n, cancels) in [(100, false), (200_000, false), (100, true), (200_000, true)] {
            let cancellation = Cancellation::new();
            if cancels {
                cancellation.cancel();
            }
            let interpreter = Interpreter::new(&program).cancelled_by(Some(cancellation));
            let (n, x) = (n as i64, floats(&vec![1.5; n]));
            let kind = match interpreter.call(func, &[n.into()], &[x], &[]) {
                Err(EvalError::Runtime(error)) => Some(error.kind),
                other => other.map(|_| None).unwrap_or_else(|e| panic!("{e} {text}")),
            };
            let expected = (cancels && n > 100).then_some(Cancelled);
            assert_eq!(kind, expected, "{n} {text}");
        }
    }
}
