//! What a run costs: W, B and control as the cost model says.

use crate::support::{floats, load, run};
use jut_eval::{Counters, Interpreter, Value};

fn cost(text: &str, args: &[Value]) -> Counters {
    run(text, args).unwrap_or_else(|e| panic!("{e}\n{text}")).counters
}

#[test]
fn work_is_that_of_the_cost_model() {
    let x = floats(&[1.0; 10]);
    // Per iteration: a read, a product, an addition into the sum.
    let c =
        cost("def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * 2.0 }", std::slice::from_ref(&x));
    assert_eq!((c.w(), c.trips, c.branches, c.calls), (30, 10, 0, 0));
    // Slices and stacking are free.
    let c = cost("def f[n](x: [n]f64) -> [n]f64 = build (v <- x) { -v }", &[x]);
    assert_eq!((c.w(), c.moved), (10, 80));
    // A branch and a call are control.
    let text = "def g(x: f64) -> f64 = x + 1.0
        def f(b: bool, x: f64) -> f64 = if b { g(x) } else { x }";
    let c = cost(text, &[true.into(), 1.0.into()]);
    assert_eq!((c.w(), c.branches, c.calls, c.control()), (1, 1, 1, 2));
}

#[test]
fn returning_an_array_from_elsewhere_is_a_copy() {
    let x = floats(&[1.0; 10]);
    let c = cost("def f[n](x: [n]f64) -> [n]f64 = x", std::slice::from_ref(&x));
    assert_eq!((c.work, c.copied, c.w()), (0, 10, 10));
    let text = "def f[n](x: [n]f64, b: bool) -> f64 = {
        y = if b { x } else { build (i < n) { 1.0 } }
        check 0 < n
        y[0] }";
    let copied = |b: bool| cost(text, &[x.clone(), b.into()]).copied;
    assert_eq!((copied(true), copied(false)), (10, 0));
    let text = "def f[n](x: [n]f64) -> ([n]f64, [n]f64) = { y = build (i < n) { 1.0 }; (y, y) }";
    assert_eq!(cost(text, std::slice::from_ref(&x)).copied, 10);
    // A carry handed back in its place is not a copy, swapped carries are.
    let same = "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
        (a, b) = for (i < 3) carry (a = x, b = y) { (a, b) }
        check 0 < n
        a[0] + b[0] }";
    let swapped = same.replace("{ (a, b) }", "{ (b, a) }");
    assert_eq!(cost(same, &[x.clone(), x.clone()]).copied, 0);
    assert_eq!(cost(&swapped, &[x.clone(), x]).copied, 60);
}

#[test]
fn an_access_costs_the_same_in_an_array_of_any_size() {
    let text = "core def f(n: i64, ix: [n]i64, m: i64; a': f64) -> (; [m]f64) = {
        check m >= 0
        t' = wr c: [m]f64 { rd r = a' { scan par (i < n) {
            j = ix[i]
            check j < m
            b' = rd r
            c[j] += b' } } }
        (; t') }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let interpreter = Interpreter::new(&program);
    let cost = |m: i64| {
        let args = [3i64.into(), Value::ints([0, 1, 0]), m.into()];
        interpreter.call(f, &args, &[1.0.into()], &[]).expect("runs").counters
    };
    let (small, large) = (cost(2), cost(200_000));
    // Three reads, three additions, the end of the region.
    assert_eq!((small.w(), large.w()), (7, 7));
    assert_eq!(large.moved - small.moved, 8 * (200_000 - 2), "only zeroing grows");
}

#[test]
fn the_tape_is_what_data_values_are_made_of() {
    let text = "data T = T(n: i64, x: [n]f64)
        data U = U(t: T, b: bool)
        core def f(n: i64, x: [n]f64) -> U = { t = T(n, x); u = U(t, true); u }";
    assert_eq!(cost(text, &[4i64.into(), floats(&[0.0; 4])]).tape, 8 + 32 + 1);
}
