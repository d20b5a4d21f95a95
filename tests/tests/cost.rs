//! P13 and P17: what a gradient costs, in work W, bytes B and code, grows no faster than its function
//! in anything: sizes, row lengths, trips, nesting, length of the text, depth of calls.
//!
//! Costs are counts, never times: they are the same on every machine.

use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::{FuncId, Program};
use jut_tests::engines;
use jut_tests::files::cost_report;
use jut_tests::laws::load;
use jut_tests::pipeline::{Stage, core_stages, stages};
use jut_tests::shapes;

const BOTH: [Policy; 2] = [Policy::StoreAll, Policy::Default];

/// W and B of a function and of its value and gradient; the gradient as composed and optimised.
#[derive(Clone, Copy, Debug)]
struct Cost {
    primal: [f64; 2],
    gradient: [[f64; 2]; 2],
}

fn cost(text: &str, args: &[Value], policy: Policy) -> Cost {
    let program = load(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (func, _) = program.funcs.last().expect("a function");
    let mask = Mask::full(&program, func);
    let mut d = Derivatives::new(program);
    let root = compose::value_and_grad(&mut d, func, &mask, policy).expect("a gradient");
    let slow = Interpreter::new(&d.program);
    let fast = Interpreter::new(&jut_opt::optimise(&d.program, root, true));
    let args = slow.with_sizes(func, args).expect("sizes");
    let run = |interpreter: &Interpreter, func| {
        let outcome = interpreter.call(func, &args, &[], &[]).expect("runs");
        [outcome.counters.w() as f64, outcome.counters.b() as f64]
    };
    Cost { primal: run(&slow, func), gradient: [run(&slow, root), run(&fast, root)] }
}

fn vector(n: usize) -> Value {
    Value::floats((0..n).map(|k| (k as f64 * 0.7).sin() * 0.5).collect::<Vec<_>>())
}

fn matrix(n: usize, m: usize) -> Value {
    let cells: Vec<f64> = (0..n * m).map(|k| (k as f64 * 0.3).cos() * 0.5).collect();
    Value::matrix(n, m, cells).expect("a matrix")
}

#[test]
fn a_gather_in_a_loop_costs_the_same_in_an_array_of_any_size() {
    let vectors = "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { sin(x[ix[i]]) }";
    let rows = "
def norm[d](v: [d]f64) -> f64 = v[0] * v[0]
def f[n, d, m](x: [n, d]f64, ix: [m]i64) -> f64 = sum (i < m) { norm(x[ix[i]]) }";
    let carried = "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 =
  for (i < m) carry (a = 1.0) { a * x[ix[i]] + sin(a) }";
    let build = "
def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = {
  y = build (i < m) { x[ix[i]] * x[0] }
  sum (v <- y) { v * v }
}";
    let ix = |m: usize| Value::ints((0..m).map(|k| (k * k) as i64 % 7).collect::<Vec<_>>());
    for policy in BOTH {
        for (text, wide) in [(vectors, false), (rows, true), (carried, false), (build, false)] {
            let x = |n: usize, d: usize| if wide { matrix(n, d) } else { vector(n * d) };
            let per_access = |n: usize, d: usize| {
                let few = cost(text, &[x(n, d), ix(100)], policy);
                let many = cost(text, &[x(n, d), ix(300)], policy);
                let each = |k: usize, c: usize| (many.gradient[k][c] - few.gradient[k][c]) / 200.0;
                ([each(0, 0), each(0, 1), each(1, 0), each(1, 1)], few)
            };
            let (small, base) = per_access(8, 1);
            for (n, d) in [(8, 50), (1000, 1), (5000, 1), (400, 40)] {
                let (large, whole) = per_access(n, d);
                assert_eq!(small, large, "cost of an access, {n} by {d}, {policy:?}\n{text}");
                for k in 0..2 {
                    let more = whole.gradient[k][0] - base.gradient[k][0];
                    assert_eq!(more, 0.0, "work does not depend on the size\n{text}");
                    // The gradient itself is zeroed, once: 8 bytes each.
                    let more = whole.gradient[k][1] - base.gradient[k][1];
                    let own = 8.0 * (n * d - 8) as f64;
                    assert!(more <= own, "{more} bytes for {own}, {policy:?}\n{text}");
                }
            }
            assert!(small[0] <= 24.0 && small[1] <= 160.0, "{small:?}\n{text}");
        }
    }
}

/// Tests that the exponents with which W and B of a gradient outgrow the cost of its function are 0, up
/// to terms of lower order.
fn excess(text: &dyn Fn(usize) -> String, args: &dyn Fn(usize) -> Vec<Value>, n: usize) {
    excess_of([0.0, 0.0], text, args, n);
}

/// The same for given exponents of W and B.
fn excess_of(
    bounds: [f64; 2],
    text: &dyn Fn(usize) -> String,
    args: &dyn Fn(usize) -> Vec<Value>,
    n: usize,
) {
    for policy in BOTH {
        let (one, two) =
            (cost(&text(n), &args(n), policy), cost(&text(4 * n), &args(4 * n), policy));
        for k in 0..2 {
            for (c, (name, bound)) in [("W", bounds[0]), ("B", bounds[1])].into_iter().enumerate() {
                // A function may move no bytes: its bytes are held against its work.
                let base = |x: &Cost| x.primal[0] + x.primal[1];
                let growth = (two.gradient[k][c] / base(&two)) / (one.gradient[k][c] / base(&one));
                let exponent = growth.max(1e-9).ln() / 4f64.ln();
                assert!(
                    exponent < bound + 0.1,
                    "{name} outgrows the function's by n^{exponent:.2}, {policy:?}: {one:?} {two:?}\n{}",
                    text(n)
                );
                assert!(two.gradient[k][0] <= 8.0 * two.primal[0], "{two:?}\n{}", text(n));
            }
        }
    }
}

#[test]
fn a_gradient_grows_as_its_function_in_size_row_length_trips_and_depth() {
    let same = |text: &'static str| move |_: usize| text.to_string();
    let int = |k: usize| Value::I64(k as i64);
    let neighbours = "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) { x[i] * x[i + 1] }";
    excess(&same(neighbours), &|n| vec![vector(n)], 200);
    let rows = "
def norm[d](v: [d]f64) -> f64 = sum (a <- v) { a * a }
def damped[d](v: [d]f64, s: f64) -> f64 = exp(-s * norm(v))
def f[n, d](x: [n, d]f64) -> f64 = sum (i < n) { damped(x[i], 0.1) }";
    excess(&same(rows), &|n| vec![matrix(n, 3)], 100);
    excess(&same(rows), &|n| vec![matrix(3, n)], 100);
    let rnn = "
def f[n, T](w: [n, n]f64, h0: [n]f64, x: [T, n]f64) -> f64 = {
  h = for (t < T) carry (h = h0) {
    build (i < n) { tanh(x[t, i] + sum (j < n) { w[i, j] * h[j] }) }
  }
  sum (v <- h) { v * v }
}";
    excess(&same(rnn), &|n| vec![matrix(n, n), vector(n), matrix(3, n)], 10);
    excess(&same(rnn), &|n| vec![matrix(3, 3), vector(3), matrix(n, 3)], 50);
    let power = "def f(x: f64, n: i64) -> f64 = for (i < n) carry (a = 1.0) { a * x }";
    excess(&same(power), &|n| vec![Value::F64(0.99), int(n)], 100);
    let triangle = "def f[n](x: [n]f64) -> f64 =
  sum (i < n) { sum (j < i) { exp(x[i] - x[j]) } }";
    excess(&same(triangle), &|n| vec![vector(n)], 60);
    let branch = "def f[n](x: [n]f64) -> f64 = sum (i < n) {
  y = if x[i] > 0.0 { for (k < i) carry (a = 1.0) { a * x[k] } } else { x[i] * x[i] }
  sin(y)
}";
    excess(&same(branch), &|n| vec![vector(n)], 80);
    let stencil = "def f[n](x0: [n]f64, steps: i64) -> f64 = {
  y = for (t < steps) carry (x = x0) {
    build (i < n) { x[i] + 0.1 * sin(x[max(i - 1, 0)] - x[i]) }
  }
  sum (v <- y) { v * v }
}";
    excess(&same(stencil), &|n| vec![vector(n), int(5)], 50);
    excess(&same(stencil), &|n| vec![vector(5), int(n)], 50);
    let gather = "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] ^ 2 }";
    let ix = |m: usize| Value::ints((0..m).map(|k| k as i64 % 5).collect::<Vec<_>>());
    excess(&same(gather), &|n| vec![vector(5), ix(n)], 100);

    // Loops in loops, each of two trips; a chain of calls.
    let nested = |depth: usize| {
        let body = (0..depth).fold("sin(x[0] * x[1])".to_string(), |body, k| {
            format!("sum (i{k} < 2) {{ x[i{k}] * tanh({body}) }}")
        });
        format!("def f[n](x: [n]f64) -> f64 = {{ check 1 < n\n {body} }}")
    };
    // A tape is moved once for each loop that it is made in: the bytes of a gradient are at most so many
    // times those of its function as loops are nested.
    excess_of([0.0, 1.0], &|n| nested(n), &|_| vec![vector(2)], 3);
    let chain = |depth: usize| {
        let mut text = "def p0[n](x: [n]f64) -> f64 = sum (v <- x) { v * v }\n".to_string();
        for k in 1..=depth {
            text += &format!("def q{k}[n](x: [n]f64) -> f64 = sin(p{}(x))\n", k - 1);
            text += &format!("def p{k}[n](x: [n]f64) -> f64 = q{k}(x) * 0.5\n");
        }
        text
    };
    excess(&|n| chain(n), &|_| vec![vector(1)], 40);
}

/// What calls cost, by what is called: W or B of the cost model, or statements of compiled code.
type Costs = Vec<(String, f64)>;

/// The costs of a call of a function as it stands, and compiled.
fn add_costs(costs: &mut Costs, name: &str, program: &Program, func: FuncId, args: &[Value]) {
    let args = Interpreter::new(program).with_sizes(func, args).expect("sizes");
    let outcome = Interpreter::new(program).call(func, &args, &[], &[]).expect("runs");
    let work = engines::work(program, func, &args).expect("is lowered and runs");
    costs.push((format!("W of {name}"), outcome.counters.w() as f64));
    costs.push((format!("B of {name}"), outcome.counters.b() as f64));
    costs.push((format!("statements of compiled {name}"), work as f64));
}

/// The costs of a function of arrays of floats, of all on the way to its gradient, of that, and of the
/// product with the Hessian.
fn all_costs(text: &str, args: &[Value]) -> Costs {
    let program = load(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (func, _) = program.funcs.last().expect("a function");
    let mask = Mask::full(&program, func);
    let whole = Interpreter::new(&program).with_sizes(func, args).expect("sizes");
    let report = cost_report(program.clone(), func, &whole).expect("all stages");
    for bound in report.bounds() {
        assert!(bound.holds(), "{}\n{report}\n{text}", bound.theorem);
    }
    let mut costs = Costs::new();
    for stage in &report.stages {
        costs.push((format!("W of {}", stage.name), stage.counters.w() as f64));
        costs.push((format!("B of {}", stage.name), stage.counters.b() as f64));
    }
    for policy in BOTH {
        let mut d = Derivatives::new(program.clone());
        let gradient = compose::value_and_grad(&mut d, func, &mask, policy).expect("a gradient");
        let second = compose::hessian_product(&mut d, func, &mask, policy).expect("a product");
        let along: Vec<Value> = args.iter().chain(args).cloned().collect();
        add_costs(&mut costs, "f", &d.program, func, args);
        add_costs(&mut costs, "the gradient", &d.program, gradient, args);
        add_costs(&mut costs, "the product with the Hessian", &d.program, second, &along);
    }
    costs
}

/// Tests that nothing grows faster than the arguments, from n to 4 n.
fn linear_in_size(text: &str, costs: &dyn Fn(usize) -> Costs) {
    for ((name, few), (_, many)) in costs(40).into_iter().zip(costs(160)) {
        assert!(many <= 4.4 * few.max(40.0), "{name}: {few} for n, {many} for 4 n\n{text}");
    }
}

/// Arrays that a loop hands on, exchanges, or chooses among, are carried by pointer, and their tangents
/// are not carried at all.
const CARRIED: &[&str] = &[
    // Unchanged.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, v) = for (i < n) carry (s = 0.0, v = x) { (s + v[i] * y[i], v) }
  s + sum (a <- v) { a * a }
}",
    // Unchanged in both arms.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, v) = for (i < n) carry (s = 0.0, v = x) {
    if y[i] > 0.0 { (s + v[i] * y[i], v) } else { (sin(s), v) }
  }
  s
}",
    // Unchanged in two loops, one in the other, and read by another function.
    "def at[n](v: [n]f64, i: i64) -> f64 = v[i] * v[i]
def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, v) = for (i < n) carry (s = 0.0, v = x) {
    for (j < 3) carry (s = s, v = v) { (s + at(v, i) * y[i], v) }
  }
  s
}",
    // Exchanged.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, a, b) = for (i < n) carry (s = 0.0, a = x, b = y) { (s + a[i] * sin(b[i]), b, a) }
  s + a[0]
}",
    // Three change places.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  z = build (i < n) { x[i] * y[i] }
  (s, a, b, c) = for (i < n) carry (s = 0.0, a = x, b = y, c = z) {
    (s + a[i] * sin(b[i]) + c[0], b, c, a)
  }
  s + c[0]
}",
    // Exchanged in one arm, which reads one of them.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, a, b) = for (i < n) carry (s = 0.0, a = x, b = y) {
    (t, p, q) = if x[i] > 0.0 { (a[0], b, a) } else { (s, a, b) }
    (s + t * a[i] * sin(b[i]), p, q)
  }
  s + a[0]
}",
    // An array of outside in one arm.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, a) = for (i < n) carry (s = 0.0, a = x) {
    b = if y[i] > 0.0 { y } else { a }
    (s + a[i] * b[i], b)
  }
  s + a[0]
}",
];

#[test]
fn arrays_that_a_loop_hands_on_are_not_moved_in_it() {
    for text in CARRIED {
        linear_in_size(text, &|n| all_costs(text, &[vector(n), vector(n)]));
    }
}

#[test]
fn an_array_that_one_arm_leaves_as_it_is_moves_by_pointer() {
    for text in [
        "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, v) = for (i < n) carry (s = 0.0, v = x) {
    w = if i == 7 { build (j < n) { v[j] * y[j] } } else { v }
    (s + v[i], w)
  }
  s + v[0]
}",
        "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (s, v, u) = for (i < n) carry (s = 0.0, v = x, u = y) {
    if i == 7 {
      (s, build (j < n) { v[j] * u[j] }, u)
    } else if i == 8 {
      (s + u[0], v, build (j < n) { v[j] + u[j] })
    } else {
      (s + v[i] * u[i], v, u)
    }
  }
  s + v[0] + u[0]
}",
    ] {
        linear_in_size(text, &|n| all_costs(text, &[vector(n), vector(n)]));
    }
}

#[test]
fn a_carried_array_to_which_an_iteration_adds_a_cell_costs_a_cell() {
    let text = "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  v = for (i < n) carry (v = x) {
    c = v[i] * y[i]
    acc r: [n]f64 = v {
      r[i] += c
      r[i] += y[i]
    }
  }
  v[0]
}";
    linear_in_size(text, &|n| all_costs(text, &[vector(n), vector(n)]));
}

/// Loops that change some elements of a carried array in each iteration.
const UPDATED: &[&str] = &[
    // Running sums.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  a = for (i < n - 1) carry (a = x) { a with [i + 1] = sin(a[i]) * y[i] + a[i + 1] }
  a[n - 1]
}",
    // Reads between updates, of elements that were changed and others.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (a, s) = for (i < n) carry (a = x, s = 0.0) {
    b = a with [i] = a[i] * y[i]
    t = b[0] * a_half(b[i])
    c = b with [0] = t
    u = s + c[0]
    (c with [i] = c[i] + c[0], u)
  }
  s + a[0]
}
",
    // Neighbours change places in one arm, and the other hands the array on.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  a = for (i < n - 1) carry (a = x) {
    u = a[i]
    v = a[i + 1]
    if u * y[i] > v { b = a with [i] = v; b with [i + 1] = u } else { a }
  }
  sum (i < n) { f64(i) * a[i] * a[i] }
}",
    // One arm changes what the other has as well.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  a = for (i < n) carry (a = x) {
    b = a with [i] = a[i] * a[0]
    c = if y[i] > 0.0 { b } else { b with [0] = b[i] * y[i] }
    c with [i] = c[i] + c[0]
  }
  a[0] + a[1]
}",
    // A loop in the loop.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  a = for (i < n) carry (a = x) {
    b = for (j < 3) carry (b = a) { b with [j] = b[j] * y[i] + b[i] }
    b with [i] = b[i] + b[2]
  }
  a[0]
}",
    // Trees.
    "data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree)
def total(t: Tree) -> f64 = case t { Leaf(x) -> x * x; Node(l, r) -> total(l) * total(r) }
def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  var a = build (i < n) { Leaf(x[i]) }
  for (i < n) { a[i] = if i % 2 == 0 { Leaf(total(a[i]) * y[i]) } else { Node(Leaf(x[i]), Leaf(y[i])) } }
  sum (i < n) { total(a[i]) }
}",
    // Two arrays, one of which is read and the other written, change places.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  (u, v) = for (k < 3) carry (u = x, v = y) {
    w = for (i < n - 1) carry (w = v) { w with [i] = u[i] * u[i + 1] + w[i] }
    (w, u)
  }
  u[0] + v[1]
}",
    // Elements of a matrix, and sums over rows of it that change.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  start = build (i < n) { build (j < 2) { x[i] } }
  a = for (i < n - 1) carry (a = start) {
    t = sum (j < 2) { a[i, j] * y[j] }
    b = a with [i + 1, 0] = t
    b with [i + 1, 1] = b[i, 1] * b[i + 1, 0]
  }
  a[n - 1, 1]
}",
    // Rows of a matrix change places.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  start = build (i < n) { build (j < 2) { x[i] * f64(j) } }
  a = for (i < n - 1) carry (a = start) {
    p = a[i]
    b = a with [i] = a[i + 1]
    c = b with [i + 1] = p
    c with [i, 0] = c[i, 1] * y[i]
  }
  sum (i < n) { a[i, 0] * a[i, 1] }
}",
    // Integers, and truth values.
    "def f[n](x: [n]f64, y: [n]f64) -> f64 = {
  ones = build (i < n) { 1 }
  none = build (i < n) { false }
  (c, d) = for (i < n) carry (c = ones, d = none) {
    (c with [i] = c[0] + 1, d with [i] = d[0] || y[i] > 0.0)
  }
  sum (i < n) { select(d[i], f64(c[i]) * x[i] * y[i], 0.0) }
}",
];

#[test]
fn a_carried_array_of_which_an_iteration_changes_elements_costs_these_elements() {
    for text in UPDATED {
        let text = format!("def a_half(x: f64) -> f64 = 0.5 * x\n{text}");
        linear_in_size(&text, &|n| all_costs(&text, &[vector(n), vector(n)]));
    }
}

/// Segments and what is run ahead add to no sum of outside, so its size costs what it costs once.
#[test]
fn what_is_run_again_costs_nothing_by_the_size_of_the_sums_that_it_adds_to() {
    for policy in ["@segment(1)", "@levels(2)", "@revolve(2)", "@online(3)"] {
        for collected in ["s", "s * e"] {
            let text = format!(
                "
def add[m](k: i64, s: f64; ; acc h: [m]f64) -> () = {{ h[k % 5] += s }}
def f[n, m](x: [n]f64, w: [m]f64) -> f64 = {{
  (s, ys, h) = acc h: [m]f64 {{
    (s, ys) = {policy} scan up (i < n) carry (s = 0.5) slice (e <- x) {{
      add(m, i, s * e; ; h)
      h[0] += sin(s)
      (tanh(s + e), {collected})
    }}
    (s, ys)
  }}
  s * h[3] + sum (i < m) {{ h[i] * w[i] }} + sum(ys)
}}"
            );
            let costs = |m: usize| cost(&text, &[vector(60), vector(m)], Policy::Default);
            let (small, large) = (costs(10), costs(3010));
            for k in 0..2 {
                let more = (large.gradient[k][1] - small.gradient[k][1]) / 3000.0;
                // 8 for each time that an array of them is filled, read or stored; 60 segments would be 480.
                assert!(more <= 200.0, "{more} bytes for each cell of the sum\n{text}");
            }
        }
    }
}

/// Checkpoints need to know how long a loop runs. The run for its values says it, and is the only one before the loop is gone through backwards.
#[test]
fn a_loop_that_may_end_early_runs_no_more_often_under_checkpoints_than_one_that_cannot() {
    let work = |head: &str| {
        let text = format!(
            "
def f[n](x: [n]f64, a: f64) -> f64 = {{
  (s, k) = {head} {{
    v = x[(7 * k) % n]
    (s + sin(a * v) * exp(-s), k + 1)
  }}
  s
}}"
        );
        let args = [vector(10), Value::F64(0.3)];
        cost(&text, &args, Policy::Default).gradient.map(|[work, _]| work)
    };
    let counted = work("@revolve(60) for (i < 60) carry (s = a, k = 0)");
    let early = work("@online(60) while carry (s = a, k = 0) k < 60");
    for (early, counted) in early.into_iter().zip(counted) {
        assert!(early <= 1.1 * counted, "{early} operations, and {counted}");
    }
}

/// Every stage of a long program is as much larger as the program is.
fn linear(name: &str, one: &[Stage], two: &[Stage], factor: usize) {
    assert_eq!(one.len(), two.len());
    for (a, b) in one.iter().zip(two) {
        let growth = b.statements as f64 / a.statements as f64;
        // A function that is long enough to be cut into pieces hands values on through memory.
        let cut = matches!(a.name, "lower" | "loop text" | "machine code");
        let slack = if cut { 1.5 } else { 1.1 };
        assert!(growth < slack * factor as f64, "{name}, {}: {a:?} {b:?}", a.name);
        assert!(a.statements < 60 * one[0].statements, "{name}, {}: {a:?}", a.name);
    }
}

#[test]
fn code_grows_linearly_with_the_text_at_every_stage() {
    for (name, shape) in shapes::SHAPES.iter().filter(|(name, _)| *name != "chain") {
        for policy in BOTH {
            let stages = |n: usize| {
                stages(&shape(n), policy).unwrap_or_else(|e| panic!("{name}, {n} parts: {e}"))
            };
            linear(name, &stages(40), &stages(160), 4);
        }
    }
}

#[test]
fn ten_thousand_lines_pass_through_every_stage() {
    let small = stages(&shapes::straight(1000), Policy::Default).expect("all stages");
    let large = stages(&shapes::straight(10_000), Policy::Default).expect("all stages");
    linear("straight", &small, &large, 10);
}

/// Theorem 8.1. (The tape of the last function has 2^k parts, and the loop form, which has no boxes,
/// one value for each: there, code grows with the tape.)
#[test]
fn a_chain_of_functions_that_each_call_the_one_before_twice_grows_linearly_with_its_length() {
    for policy in BOTH {
        let stages = |n| core_stages(&shapes::chain(n), policy).expect("all stages").stages;
        linear("chain", &stages(15), &stages(60), 4);
    }
}
