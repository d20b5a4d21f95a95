//! The programs, their inputs at each size, and the hand-written gradient of each.

use crate::hand;
use jut::{Array, Value};

/// Computes a value, then the gradients, into a list of numbers.
pub type Hand = Box<dyn FnMut(&mut Vec<f64>)>;

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
    /// Runs the hand-written value and gradient once, into the given numbers: the value, then the
    /// gradients in the order of `wrt`.
    pub hand: Hand,
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

/// All cases, small sizes before large ones.
pub fn all() -> Vec<Case> {
    let mut cases = vec![sin()];
    cases.extend([500].map(power));
    cases.extend([100, 10_000, 1_000_000].map(rosenbrock));
    cases.extend([100, 10_000].map(neighbours));
    cases.extend([100, 10_000].map(logsumexp));
    cases.extend([(569, 30)].map(logistic));
    cases.extend([(784, 32, 10)].map(mlp));
    cases.extend([(16, 50), (64, 50)].map(rnn));
    cases.extend([(200, 100)].map(stencil));
    cases.extend([8, 64, 512].map(lennard_jones));
    cases
}

fn sin() -> Case {
    let u = 0.7;
    Case {
        name: "sin",
        size: "1".into(),
        text: include_str!("../../crates/jut/examples/sin.jut"),
        function: "f",
        wrt: &["u"],
        args: vec![Value::F64(u)],
        hand: Box::new(move |out| {
            let (value, slope) = hand::sin(std::hint::black_box(u));
            out.extend([value, slope]);
        }),
    }
}

fn power(n: i64) -> Case {
    let x = 1.001;
    Case {
        name: "power",
        size: n.to_string(),
        text: include_str!("../../crates/jut/examples/power.jut"),
        function: "power",
        wrt: &["x"],
        args: vec![Value::F64(x), Value::I64(n)],
        hand: Box::new(move |out| {
            let (value, slope) = hand::power(std::hint::black_box(x), n);
            out.extend([value, slope]);
        }),
    }
}

/// A case whose only argument is a vector.
fn of_vector(
    name: &'static str,
    text: &'static str,
    x: Vec<f64>,
    run: fn(&[f64], &mut [f64]) -> f64,
) -> Case {
    Case {
        name,
        size: x.len().to_string(),
        text,
        function: name,
        wrt: &["x"],
        args: vec![vector(&x)],
        hand: Box::new(move |out| {
            out.resize(x.len() + 1, 0.0);
            let (value, dx) = out.split_at_mut(1);
            value[0] = run(std::hint::black_box(&x), dx);
        }),
    }
}

fn rosenbrock(n: usize) -> Case {
    let text = include_str!("../../crates/jut/examples/rosenbrock.jut");
    of_vector("rosenbrock", text, floats(n, 1, -1.5, 1.5), hand::rosenbrock)
}

fn neighbours(n: usize) -> Case {
    let text = include_str!("../../crates/jut/examples/neighbours.jut");
    of_vector("neighbours", text, floats(n, 2, -1.0, 1.0), hand::neighbours)
}

fn logsumexp(n: usize) -> Case {
    let text = include_str!("../../crates/jut/examples/logsumexp.jut");
    of_vector("logsumexp", text, floats(n, 3, -3.0, 3.0), hand::logsumexp)
}

fn logistic((n, d): (usize, usize)) -> Case {
    let (w, b, l2) = (floats(d, 4, -0.5, 0.5), 0.1, 0.01);
    let x = floats(n * d, 5, -2.0, 2.0);
    let y: Vec<f64> = floats(n, 6, 0.0, 1.0).into_iter().map(f64::round).collect();
    Case {
        name: "logistic",
        size: format!("{n}x{d}"),
        text: include_str!("../../crates/jut/examples/logistic.jut"),
        function: "loss",
        wrt: &["w", "b"],
        args: vec![vector(&w), Value::F64(b), matrix(n, d, &x), vector(&y), Value::F64(l2)],
        hand: Box::new(move |out| {
            out.resize(d + 2, 0.0);
            let x = std::hint::black_box(&x);
            let (value, db) = hand::logistic(&w, b, x, &y, l2, &mut out[1..=d]);
            out[0] = value;
            out[d + 1] = db;
        }),
    }
}

fn mlp((d, h, c): (usize, usize, usize)) -> Case {
    let p = hand::MlpParameters {
        w1: floats(h * d, 7, -0.1, 0.1),
        b1: floats(h, 8, -0.1, 0.1),
        w2: floats(c * h, 9, -0.3, 0.3),
        b2: floats(c, 10, -0.1, 0.1),
    };
    let (x, label) = (floats(d, 11, 0.0, 1.0), vec![3]);
    let mut g = p.clone();
    let mut network = hand::Mlp::new(d, h, c);
    Case {
        name: "mlp",
        size: format!("{d}-{h}-{c}"),
        text: include_str!("../../crates/jut/examples/mlp.jut"),
        function: "mlp",
        wrt: &["w1", "b1", "w2", "b2"],
        args: vec![
            matrix(h, d, &p.w1),
            vector(&p.b1),
            matrix(c, h, &p.w2),
            vector(&p.b2),
            matrix(1, d, &x),
            Value::I64s(Array { shape: vec![1], data: label.clone() }),
        ],
        hand: Box::new(move |out| {
            let value = network.run(&p, std::hint::black_box(&x), &label, &mut g);
            // The copies are for the comparison of results; timing runs keep `out` empty.
            if out.capacity() > 0 {
                out.push(value);
                for part in [&g.w1, &g.b1, &g.w2, &g.b2] {
                    out.extend_from_slice(part);
                }
            }
        }),
    }
}

fn rnn((n, steps): (usize, usize)) -> Case {
    let w = floats(n * n, 12, -0.3, 0.3);
    let (h0, target) = (floats(n, 13, -1.0, 1.0), floats(n, 14, -1.0, 1.0));
    let x = floats(steps * n, 15, -1.0, 1.0);
    let mut network = hand::Rnn::new(n, steps);
    Case {
        name: "rnn",
        size: format!("{n}, {steps} steps"),
        text: include_str!("../../crates/jut/examples/rnn.jut"),
        function: "rnn",
        wrt: &["w", "h0", "x"],
        args: vec![matrix(n, n, &w), vector(&h0), matrix(steps, n, &x), vector(&target)],
        hand: Box::new(move |out| {
            out.resize(1 + n * n + n + steps * n, 0.0);
            let (value, rest) = out.split_at_mut(1);
            let (dw, rest) = rest.split_at_mut(n * n);
            let (dh0, dx) = rest.split_at_mut(n);
            let w = std::hint::black_box(&w);
            value[0] = network.run(w, &h0, &x, &target, dw, dh0, dx);
        }),
    }
}

fn stencil((n, steps): (usize, usize)) -> Case {
    let (u0, target) = (floats(n, 16, -1.0, 1.0), floats(n, 17, -1.0, 1.0));
    let (a, k) = (0.1, 0.2);
    let mut solver = hand::Stencil::new(n, steps);
    Case {
        name: "stencil",
        size: format!("{n}, {steps} steps"),
        text: include_str!("../../crates/jut/examples/stencil.jut"),
        function: "misfit",
        wrt: &["u0"],
        args: vec![
            vector(&u0),
            Value::F64(a),
            Value::F64(k),
            Value::I64(steps as i64),
            vector(&target),
        ],
        hand: Box::new(move |out| {
            out.resize(n + 1, 0.0);
            let (value, du0) = out.split_at_mut(1);
            value[0] = solver.run(std::hint::black_box(&u0), a, k, &target, du0);
        }),
    }
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
    Case {
        name: "lennard_jones",
        size: n.to_string(),
        text: include_str!("../../crates/jut/examples/lennard_jones.jut"),
        function: "energy",
        wrt: &["r"],
        args: vec![matrix(n, 3, &r)],
        hand: Box::new(move |out| {
            out.resize(3 * n + 1, 0.0);
            let (value, dr) = out.split_at_mut(1);
            value[0] = hand::lennard_jones(std::hint::black_box(&r), dr);
        }),
    }
}
