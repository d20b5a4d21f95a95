//! The programs, their inputs at each size, and the same gradients by other means.

use crate::dual;
use crate::hand::{self, MlpParameters};
use jut::{Array, Value};
use std::hint::black_box;

/// Computes value and gradient once, into the given numbers: the value, then the gradients in the
/// order of [`Case::wrt`].
pub type Run = Box<dyn FnMut(&mut [f64])>;

/// The fastest other tool on a program, and hand-written code beside it, in seconds: measured on
/// another day on a machine of one kind (Zen 5, AVX-512). That hand-written code is not the one
/// here, so neither the times nor their ratio alone says who is ahead.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Value and gradient by the tool.
    pub seconds: f64,
    /// Value and gradient by hand, in the same run.
    pub hand: f64,
}

/// One program at one size.
pub struct Case {
    /// The program.
    pub name: &'static str,
    /// What the size is, for the table.
    pub size: String,
    /// The text.
    pub text: &'static str,
    /// The function in it.
    pub function: &'static str,
    /// The parameters to differentiate with respect to.
    pub wrt: &'static [&'static str],
    /// All arguments, sizes in brackets left out.
    pub args: Vec<Value>,
    /// The positions in `args` of the parameters in `wrt`.
    pub active: Vec<usize>,
    /// The hand-written value and gradient.
    pub hand: Run,
    /// The same by forward mode with dual numbers, where that is not absurd.
    pub dual: Option<Run>,
    /// For the programs that jut is tuned on: the fastest other tool.
    pub peer: Option<Peer>,
}

impl Case {
    /// How many inputs are differentiated.
    pub fn inputs(&self) -> usize {
        let count = |k: &usize| match &self.args[*k] {
            Value::F64s(a) => a.data.len(),
            _ => 1,
        };
        self.active.iter().map(count).sum()
    }

    fn dual(mut self, run: impl FnMut(&mut [f64]) + 'static) -> Case {
        self.dual = Some(Box::new(run));
        self
    }

    fn peer(mut self, seconds: f64, hand: f64) -> Case {
        self.peer = Some(Peer { seconds, hand });
        self
    }
}

/// Numbers without pattern in low .. high.
fn floats(n: usize, seed: u64, low: f64, high: f64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| low + (high - low) * rng.f64()).collect()
}

fn vector(data: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

fn matrix(rows: usize, columns: usize, data: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![rows, columns], data: data.to_vec() })
}

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../programs/examples/", $name, ".jut"))
    };
}

macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../programs/", $name, ".jut"))
    };
}

/// All cases: the programs that jut is tuned on, then others. `quick` keeps the smallest size of
/// each.
pub fn all(quick: bool) -> Vec<Case> {
    // A size, the time of the fastest other tool, and that of hand-written code beside it.
    let some = |sizes: &[(usize, f64, f64)], case: fn(usize) -> Case| -> Vec<Case> {
        let count = if quick { 1 } else { sizes.len() };
        sizes.iter().take(count).map(|(n, peer, hand)| case(*n).peer(*peer, *hand)).collect()
    };
    let mut cases = vec![sincos().peer(18.3e-9, 23.9e-9)];
    cases.extend(some(&[(500, 818e-9, 674e-9)], powloop));
    cases.extend(some(&[(100, 658e-9, 118e-9), (10_000, 28e-6, 8.1e-6)], logsumexp));
    cases.push(sigmoids(10, 784).peer(4.86e-6, 1.81e-6));
    cases.push(mlp_relu(784, 32, 10).peer(19.1e-6, 2.81e-6));
    let times = [(100, 49e-9, 22.7e-9), (10_000, 6.7e-6, 1.68e-6), (1_000_000, 735e-6, 172e-6)];
    cases.extend(some(&times, rosenbrock));
    let times = [(8, 118e-9, 93e-9), (64, 4.25e-6, 3.4e-6), (512, 187e-6, 114e-6)];
    cases.extend(some(&times, lennard_jones));
    let times = [(1000, 31e-6, 40e-6), (10_000, 308e-6, 397e-6), (1_000_000, 31.3e-3, 40.8e-3)];
    cases.extend(some(&times, lotka_volterra));
    cases.push(sin());
    cases.push(neighbours(100));
    cases.push(logistic(569, 30));
    cases.push(mlp(784, 32, 10));
    cases.push(rnn(16, 50));
    cases.push(stencil(200, 100));
    cases.push(product(64));
    cases.push(residual(64, 64));
    cases.push(convolution(4, 16, 8));
    cases.push(reaction(32, 50));
    cases.push(cholesky(40));
    cases.push(process(100));
    cases.push(kalman(200));
    cases.push(hmm(16, 100));
    cases.push(mixture(200, 4, 10));
    cases.push(nbody(16, 20));
    cases.push(asian(200, 24));
    cases.push(kernel(60, 3));
    if !quick {
        cases.push(product(512));
        cases.push(residual(1000, 500));
        cases.push(convolution(16, 64, 32));
        cases.push(neighbours(10_000));
        cases.push(rnn(64, 50));
        cases.push(reaction(128, 100));
        cases.push(cholesky(120));
        cases.push(process(400));
        cases.push(kalman(10_000));
        cases.push(hmm(64, 200));
        cases.push(mixture(1000, 8, 25));
        cases.push(nbody(64, 50));
        cases.push(asian(10_000, 32));
        cases.push(kernel(500, 3));
    }
    cases
}

/// A case without forward mode.
fn case(
    (name, size): (&'static str, String),
    (text, function): (&'static str, &'static str),
    wrt: &'static [&'static str],
    active: &[usize],
    args: Vec<Value>,
    hand: impl FnMut(&mut [f64]) + 'static,
) -> Case {
    let (active, hand) = (active.to_vec(), Box::new(hand));
    Case { name, size, text, function, wrt, args, active, hand, dual: None, peer: None }
}

/// A case of one number.
fn of_number(
    name: &'static str,
    (text, function): (&'static str, &'static str),
    wrt: &'static [&'static str],
    x: f64,
    by_hand: fn(f64) -> (f64, f64),
    by_dual: fn(&[dual::Number]) -> dual::Number,
) -> Case {
    let run = move |out: &mut [f64]| (out[0], out[1]) = by_hand(black_box(x));
    case((name, "1".into()), (text, function), wrt, &[0], vec![Value::F64(x)], run)
        .dual(move |out| dual::gradient(&[x], out, by_dual))
}

fn sin() -> Case {
    of_number("sin", (example!("sin"), "f"), &["u"], 0.7, hand::sin, dual::sin)
}

fn sincos() -> Case {
    let text = (program!("sincos"), "sincos");
    of_number("sincos", text, &["x"], 0.7, hand::sincos, dual::sincos)
}

fn powloop(n: usize) -> Case {
    let (x, n) = (1.001, n as i64);
    let run = move |out: &mut [f64]| (out[0], out[1]) = hand::power(black_box(x), black_box(n));
    let (name, text) = (("powloop", n.to_string()), (program!("powloop"), "powloop"));
    case(name, text, &["x"], &[0], vec![Value::F64(x), Value::I64(n)], run)
        .dual(move |out| dual::gradient(&[x], out, |x| dual::power(x, n)))
}

/// A case whose only argument is a vector; forward mode up to 1000 elements.
fn of_vector(
    name: &'static str,
    text: &'static str,
    x: Vec<f64>,
    by_hand: fn(&[f64], &mut [f64]) -> f64,
    by_dual: fn(&[dual::Number]) -> dual::Number,
) -> Case {
    let (size, args) = (x.len().to_string(), vec![vector(&x)]);
    let input = x.clone();
    let run = move |out: &mut [f64]| {
        let (value, dx) = out.split_at_mut(1);
        value[0] = by_hand(black_box(&input), dx);
    };
    let case = case((name, size), (text, name), &["x"], &[0], args, run);
    match x.len() {
        0..=1000 => case.dual(move |out| dual::gradient(&x, out, by_dual)),
        _ => case,
    }
}

fn rosenbrock(n: usize) -> Case {
    let (text, x) = (example!("rosenbrock"), floats(n, 1, -1.5, 1.5));
    of_vector("rosenbrock", text, x, hand::rosenbrock, dual::rosenbrock)
}

fn neighbours(n: usize) -> Case {
    let (text, x) = (example!("neighbours"), floats(n, 2, -1.0, 1.0));
    of_vector("neighbours", text, x, hand::neighbours, dual::neighbours)
}

fn logsumexp(n: usize) -> Case {
    let (text, x) = (example!("logsumexp"), floats(n, 3, -3.0, 3.0));
    of_vector("logsumexp", text, x, hand::logsumexp, dual::logsumexp)
}

fn logistic(n: usize, d: usize) -> Case {
    let (w, b, l2) = (floats(d, 4, -0.5, 0.5), 0.1, 0.01);
    let x = floats(n * d, 5, -2.0, 2.0);
    let y: Vec<f64> = floats(n, 6, 0.0, 1.0).into_iter().map(f64::round).collect();
    let args = vec![vector(&w), Value::F64(b), matrix(n, d, &x), vector(&y), Value::F64(l2)];
    let inputs: Vec<f64> = w.iter().copied().chain([b]).collect();
    let (dual_x, dual_y) = (x.clone(), y.clone());
    let run = move |out: &mut [f64]| {
        let x = black_box(&x);
        let (value, db) = hand::logistic(&w, b, x, &y, l2, &mut out[1..=d]);
        (out[0], out[d + 1]) = (value, db);
    };
    let (name, text) = (("logistic", format!("{n}x{d}")), (example!("logistic"), "loss"));
    case(name, text, &["w", "b"], &[0, 1], args, run).dual(move |out| {
        dual::gradient(&inputs, out, |inputs| dual::logistic(inputs, &dual_x, &dual_y, l2));
    })
}

fn sigmoids(m: usize, n: usize) -> Case {
    let (w, b, v) =
        (floats(m * n, 20, -0.1, 0.1), floats(m, 21, -1.0, 1.0), floats(n, 22, -1.0, 1.0));
    let args = vec![matrix(m, n, &w), vector(&b), vector(&v)];
    let run = move |out: &mut [f64]| {
        let (value, dw) = out.split_at_mut(1);
        let (dw, db) = dw.split_at_mut(m * n);
        let (db, dv) = db.split_at_mut(m);
        value[0] = hand::sigmoids(black_box(&w), &b, &v, dw, db, dv);
    };
    let (name, text) = (("sigmoids", format!("{m}x{n}")), (program!("sigmoids"), "sigmoids"));
    case(name, text, &["w", "b", "v"], &[0, 1, 2], args, run)
}

fn parameters(d: usize, h: usize, c: usize) -> MlpParameters<Vec<f64>> {
    MlpParameters {
        w1: floats(h * d, 7, -0.1, 0.1),
        b1: floats(h, 8, -0.1, 0.1),
        w2: floats(c * h, 9, -0.3, 0.3),
        b2: floats(c, 10, -0.1, 0.1),
    }
}

fn mlp_relu(d: usize, h: usize, c: usize) -> Case {
    let text = (program!("mlp_relu"), "mlp_relu");
    network("mlp_relu", text, true, vector, Value::I64, d, h, c)
}

fn mlp(d: usize, h: usize, c: usize) -> Case {
    let label = |k| Value::I64s(Array { shape: vec![1], data: vec![k] });
    network("mlp", (example!("mlp"), "mlp"), false, |x| matrix(1, x.len(), x), label, d, h, c)
}

#[allow(clippy::too_many_arguments)]
fn network(
    name: &'static str,
    text: (&'static str, &'static str),
    rectified: bool,
    sample: fn(&[f64]) -> Value,
    label: fn(i64) -> Value,
    d: usize,
    h: usize,
    c: usize,
) -> Case {
    let (p, x) = (parameters(d, h, c), floats(d, 11, 0.0, 1.0));
    let mut args = vec![matrix(h, d, &p.w1), vector(&p.b1), matrix(c, h, &p.w2), vector(&p.b2)];
    args.extend([sample(&x), label(3)]);
    let mut network = hand::Mlp::new(h, c);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = network.run(&p, black_box(&x), 3, rectified, g);
    };
    let wrt = &["w1", "b1", "w2", "b2"];
    case((name, format!("{d}-{h}-{c}")), text, wrt, &[0, 1, 2, 3], args, run)
}

fn rnn(n: usize, steps: usize) -> Case {
    let w = floats(n * n, 12, -0.3, 0.3);
    let (h0, target) = (floats(n, 13, -1.0, 1.0), floats(n, 14, -1.0, 1.0));
    let x = floats(steps * n, 15, -1.0, 1.0);
    let args = vec![matrix(n, n, &w), vector(&h0), matrix(steps, n, &x), vector(&target)];
    let mut network = hand::Rnn::new(n, steps);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = network.run(black_box(&w), &h0, &x, &target, g);
    };
    let (name, text) = (("rnn", format!("{n}, {steps} steps")), (example!("rnn"), "rnn"));
    case(name, text, &["w", "h0", "x"], &[0, 1, 2], args, run)
}

fn product(n: usize) -> Case {
    let (a, b) = (floats(n * n, 23, -1.0, 1.0), floats(n * n, 24, -1.0, 1.0));
    let args = vec![matrix(n, n, &a), matrix(n, n, &b)];
    let mut hand = hand::Product::new(n);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = hand.run(black_box(&a), &b, g);
    };
    let (name, text) = (("product", format!("{n}x{n}")), (program!("product"), "product"));
    case(name, text, &["a", "b"], &[0, 1], args, run)
}

fn residual(n: usize, m: usize) -> Case {
    let (a, x) = (floats(n * m, 25, -1.0, 1.0), floats(m, 26, -1.0, 1.0));
    let y = floats(n, 27, -1.0, 1.0);
    let args = vec![matrix(n, m, &a), vector(&x), vector(&y)];
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        let (da, dx) = g.split_at_mut(n * m);
        value[0] = hand::residual(black_box(&a), &x, &y, da, dx);
    };
    let (name, text) = (("residual", format!("{n}x{m}")), (program!("residual"), "residual"));
    case(name, text, &["a", "x"], &[0, 1], args, run)
}

/// A square image of some channels to `result` channels, by windows of three by three.
fn convolution(channels: usize, side: usize, result: usize) -> Case {
    let shape = hand::Shape { image: [channels, side, side], channels: result, window: [3, 3] };
    let x = floats(channels * side * side, 28, -1.0, 1.0);
    let k = floats(result * channels * 9, 29, -1.0, 1.0);
    let array = |shape: &[usize], data: &[f64]| {
        Value::F64s(Array { shape: shape.to_vec(), data: data.to_vec() })
    };
    let args = vec![array(&shape.image, &x), array(&[result, channels, 3, 3], &k)];
    let mut y = vec![0.0; shape.cells()];
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        let (dx, dk) = g.split_at_mut(x.len());
        value[0] = hand::convolution(shape, black_box(&x), &k, &mut y, dx, dk);
    };
    let size = format!("{channels}x{side}x{side}, {result}");
    let name = ("convolution", size);
    case(name, (program!("convolution"), "convolution"), &["x", "k"], &[0, 1], args, run)
}

fn stencil(n: usize, steps: usize) -> Case {
    let (u0, target) = (floats(n, 16, -1.0, 1.0), floats(n, 17, -1.0, 1.0));
    let (a, k) = (0.1, 0.2);
    let last = vec![Value::F64(k), Value::I64(steps as i64), vector(&target)];
    let args = [vec![vector(&u0), Value::F64(a)], last].concat();
    let mut solver = hand::Stencil::new(n, steps);
    let run = move |out: &mut [f64]| {
        let (value, du0) = out.split_at_mut(1);
        value[0] = solver.run(black_box(&u0), a, k, &target, du0);
    };
    let (name, text) =
        (("stencil", format!("{n}, {steps} steps")), (example!("stencil"), "misfit"));
    case(name, text, &["u0"], &[0], args, run)
}

fn reaction(side: usize, steps: usize) -> Case {
    let (u0, d, r) = (floats(side * side, 30, 0.0, 1.0), 0.1, 0.2);
    let args =
        vec![matrix(side, side, &u0), Value::F64(d), Value::F64(r), Value::I64(steps as i64)];
    let mut solver = hand::Reaction::new([side, side], steps);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = solver.run(black_box(&u0), d, r, g);
    };
    let size = format!("{side}x{side}, {steps} steps");
    let text = (program!("reaction"), "reaction");
    case(("reaction", size), text, &["u0", "d", "r"], &[0, 1, 2], args, run)
}

fn cholesky(n: usize) -> Case {
    let noise = floats(n * n, 31, -0.5, 0.5);
    let at =
        |i: usize, j: usize| noise[i.min(j) * n + i.max(j)] + if i == j { n as f64 } else { 0.0 };
    let a: Vec<f64> = (0..n * n).map(|k| at(k / n, k % n)).collect();
    let args = vec![matrix(n, n, &a)];
    let mut solver = hand::Cholesky::new(n);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = solver.run(black_box(&a), g);
    };
    let text = (program!("cholesky"), "cholesky");
    case(("cholesky", format!("{n}x{n}")), text, &["a"], &[0], args, run)
}

fn process(n: usize) -> Case {
    let (noise, scale, width) = (floats(n, 35, -0.3, 0.3), 0.7, 0.2);
    let x: Vec<f64> = (0..n).map(|i| 0.05 * (i as f64 + noise[i])).collect();
    let y: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| x.sin() + e).collect();
    let args = vec![vector(&x), vector(&y), Value::F64(scale), Value::F64(width)];
    let mut solver = hand::Process::new(n);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = solver.run(black_box(&x), black_box(&y), scale, width, g);
    };
    let (text, wrt) = ((program!("process"), "process"), &["x", "y", "scale", "noise"]);
    case(("process", n.to_string()), text, wrt, &[0, 1, 2, 3], args, run)
}

fn kalman(n: usize) -> Case {
    let (noise, p) = (floats(n, 32, -1.0, 1.0), [0.1, 0.5, 0.0, 1.0]);
    let y: Vec<f64> = noise.iter().enumerate().map(|(t, e)| t as f64 + e).collect();
    let args = [vec![vector(&y)], p.map(Value::F64).to_vec()].concat();
    let mut filter = hand::Kalman::new(n);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = filter.run(black_box(&y), p, g);
    };
    let (text, wrt) = ((program!("kalman"), "kalman"), &["q", "r", "x0", "v0"]);
    case(("kalman", n.to_string()), text, wrt, &[1, 2, 3, 4], args, run)
}

fn hmm(k: usize, n: usize) -> Case {
    // Rows of probabilities.
    let rows = |count: usize, seed: u64| -> Vec<f64> {
        let numbers = floats(count * k, seed, 0.1, 1.0);
        let row = |row: &[f64]| row.iter().map(|x| x / row.iter().sum::<f64>()).collect::<Vec<_>>();
        numbers.chunks(k).flat_map(row).collect()
    };
    let (p, a, b) = (rows(1, 33), rows(k, 34), floats(n * k, 35, 0.05, 0.95));
    let args = vec![vector(&p), matrix(k, k, &a), matrix(n, k, &b)];
    let mut model = hand::Hmm::new(k, n);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = model.run(&p, black_box(&a), &b, g);
    };
    let (text, wrt) = ((program!("hmm"), "hmm"), &["p", "a", "b"]);
    case(("hmm", format!("{k} states, {n}")), text, wrt, &[0, 1, 2], args, run)
}

fn mixture(n: usize, d: usize, k: usize) -> Case {
    let x = floats(n * d, 36, -2.0, 2.0);
    let (w, m, s) =
        (floats(k, 37, -1.0, 1.0), floats(k * d, 38, -2.0, 2.0), floats(k, 39, -0.5, 0.5));
    let args = vec![matrix(n, d, &x), vector(&w), matrix(k, d, &m), vector(&s)];
    let mut model = hand::Mixture::new(d, k);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = model.run(black_box(&x), &w, &m, &s, g);
    };
    let (text, wrt) = ((program!("mixture"), "mixture"), &["w", "m", "s"]);
    case(("mixture", format!("{n}x{d}, {k}")), text, wrt, &[1, 2, 3], args, run)
}

fn nbody(n: usize, steps: usize) -> Case {
    let (x, v) = (floats(3 * n, 40, -1.0, 1.0), floats(3 * n, 41, -0.5, 0.5));
    let (m, h) = (floats(n, 42, 0.5, 1.5), 1e-3);
    let last = vec![vector(&m), Value::F64(h), Value::I64(steps as i64)];
    let args = [vec![matrix(n, 3, &x), matrix(n, 3, &v)], last].concat();
    let mut bodies = hand::Nbody::new(n, steps);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = bodies.run(black_box(&x), &v, &m, h, g);
    };
    let (text, wrt) = ((program!("nbody"), "nbody"), &["x0", "v0", "m"]);
    case(("nbody", format!("{n}, {steps} steps")), text, wrt, &[0, 1, 2], args, run)
}

fn asian(n: usize, m: usize) -> Case {
    let (z, p) = (floats(n * m, 43, -1.7, 1.7), [100.0, 0.2, 0.03, 100.0]);
    let args = [vec![matrix(n, m, &z)], p.map(Value::F64).to_vec()].concat();
    let mut option = hand::Asian::new(m);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = option.run(black_box(&z), p, g);
    };
    let (text, wrt) = ((program!("asian"), "asian"), &["s", "v", "r", "k"]);
    case(("asian", format!("{n} paths, {m}")), text, wrt, &[1, 2, 3, 4], args, run)
}

fn kernel(n: usize, d: usize) -> Case {
    let (x, a, g) = (floats(n * d, 44, -1.0, 1.0), floats(n, 45, -1.0, 1.0), 0.7);
    let args = vec![matrix(n, d, &x), vector(&a), Value::F64(g)];
    let mut form = hand::Kernel::new(n, d);
    let run = move |out: &mut [f64]| {
        let (value, to) = out.split_at_mut(1);
        value[0] = form.run(black_box(&x), &a, g, to);
    };
    let (text, wrt) = ((program!("kernel"), "kernel"), &["x", "a", "g"]);
    case(("kernel", format!("{n}x{d}")), text, wrt, &[0, 1, 2], args, run)
}

fn lennard_jones(n: usize) -> Case {
    // A loose cubic lattice, a little disturbed, so that no two particles meet.
    let side = (n as f64).cbrt().ceil() as usize;
    let noise = floats(3 * n, 18, -0.1, 0.1);
    let mut r = vec![0.0; 3 * n];
    for (p, cell) in r.chunks_exact_mut(3).enumerate() {
        let lattice = [p % side, (p / side) % side, p / (side * side)];
        for k in 0..3 {
            cell[k] = 1.2 * lattice[k] as f64 + noise[3 * p + k];
        }
    }
    let args = vec![matrix(n, 3, &r)];
    let mut buffers = hand::LennardJones::new(n);
    let place = r.clone();
    let run = move |out: &mut [f64]| {
        let (value, dr) = out.split_at_mut(1);
        value[0] = buffers.run(black_box(&place), dr);
    };
    let text = (example!("lennard_jones"), "energy");
    let case = case(("lennard_jones", n.to_string()), text, &["r"], &[0], args, run);
    match n {
        0..=100 => case.dual(move |out| dual::gradient(&r, out, dual::lennard_jones)),
        _ => case,
    }
}

fn lotka_volterra(steps: usize) -> Case {
    let p = [1.1, 0.4, 0.4, 0.1, 10.0, 5.0];
    let mut args: Vec<Value> = p.iter().map(|p| Value::F64(*p)).collect();
    args.push(Value::I64(steps as i64));
    let mut solver = hand::LotkaVolterra::new(steps);
    let run = move |out: &mut [f64]| {
        let (value, g) = out.split_at_mut(1);
        value[0] = solver.run(black_box(p), g);
    };
    let (name, text) = (("lotka_volterra", steps.to_string()), program!("lotka_volterra"));
    let wrt = &["a", "b", "c", "d", "x0", "y0"];
    case(name, (text, "lotka_volterra"), wrt, &[0, 1, 2, 3, 4, 5], args, run)
        .dual(move |out| dual::gradient(&p, out, |p| dual::lotka_volterra(p, steps)))
}
