//! Functions as new users write them, from n-body problems to alignments: the value has the bits of the plain call, and the gradient is that of
//! central differences.
#![cfg(feature = "macros")]
#![allow(clippy::all)]

use jut::math::{exp, log, sin, tanh};
use jut::{Data, differentiable};

/// The value is that of the plain call, and the gradient that of differences.
macro_rules! holds {
    ($f:ident at $($x:expr),+) => {$({
        agree(stringify!($f), &$x, |x| $f(x), |x| $f::value_and_gradient(x));
    })+};
    ($f:ident at $x:expr; $($rest:expr),+) => {
        agree(
            stringify!($f),
            &$x,
            |x| $f(x, $($rest),+),
            // Of the numbers behind the list no gradient is asked for.
            |x| $f::value_and_gradient(x, $($rest),+).map(|(value, all)| (value, all.list())),
        )
    };
}

/// As the plain calls, on the engines: the same bits, the gradient of differences, and an error exactly where Rust panics.
macro_rules! everywhere {
    ($($f:ident at $($x:expr),+;)+) => {$(
        $crate::rust_users::on_every_engine(
            stringify!($f),
            &|x| $f(x),
            $f::function().expect(stringify!($f)),
            &|x| $f::value_and_gradient(x),
            &[$(&$x),+],
        );
    )+};
}

mod accents;
mod analysis;
mod authors;
mod benches_of_labs;
mod bits;
mod books;
mod builders;
mod by_arrays;
mod bytes;
mod catchments;
mod chains_of_folds;
mod changed_parts;
mod codes;
mod cohorts;
mod contracts;
mod control;
mod corners;
mod crafts;
mod desks;
mod devices;
mod dialects;
mod doubts;
mod early_failures;
mod estimates;
mod exchanged;
mod fields;
mod given_lists;
mod given_rows;
mod grains;
mod handwritings;
mod held_lists;
mod households;
mod idioms;
mod intervals;
mod iterators;
mod kinds;
mod last_elements;
mod learners;
mod lengths;
mod linear;
mod logistics;
mod machines;
mod marches;
mod methods;
mod models;
mod moving;
mod named_kinds;
mod named_rows;
mod nature;
mod numeric;
mod numerics;
mod observers;
mod operators;
mod optional;
mod orders;
mod own_elements;
mod own_lists;
mod own_methods;
mod pastimes;
mod planes;
mod plant_parts;
mod plants;
mod ports;
mod poses;
mod practice;
mod provided;
mod pushed_calls;
mod puzzles;
mod ragged_fields;
mod ranges;
mod rates;
mod rules;
mod sciences;
mod signals;
mod societies;
mod solvers;
mod species;
mod spectra;
mod std_bounds;
mod styles;
mod tapes;
mod temperaments;
mod textbooks;
mod tokens;
mod toolbox;
mod untold_lists;
mod values;
mod windows;
mod workshops;
mod written_lists;

/// The derivative by the list, where others stand beside it.
trait ByList {
    fn list(self) -> Vec<f64>;
}

impl ByList for Vec<f64> {
    fn list(self) -> Vec<f64> {
        self
    }
}

impl ByList for (Vec<f64>, f64) {
    fn list(self) -> Vec<f64> {
        self.0
    }
}

fn agree(
    what: &str,
    x: &[f64],
    f: impl Fn(&[f64]) -> f64,
    derived: impl Fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>,
) {
    let (value, gradient) = derived(x).unwrap();
    assert_eq!(value.to_bits(), f(x).to_bits(), "{what}: {value} and {}", f(x));
    near(what, &gradient, &slopes(f, x));
}

/// See the macro of this name.
fn on_every_engine(
    what: &str,
    f: &dyn Fn(&[f64]) -> f64,
    function: jut::Function,
    typed: &dyn Fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>,
    points: &[&[f64]],
) {
    let engines: Vec<jut::Compiled> = jut::Engine::all()
        .filter(|engine| engine.is_built_in())
        // These take the longest: one function in two, by their names, is enough for LLVM, and one in eight for MLIR, and for
        // the one that begins as Cranelift.
        .filter(|engine| match engine {
            jut::Engine::Llvm => what.len() % 2 == 0,
            jut::Engine::Mlir => what.len() % 8 == 0,
            jut::Engine::Tiered => what.len() % 8 == 4,
            _ => true,
        })
        .map(|engine| function.clone().engine(engine).value_and_gradient().expect(what))
        .collect();
    // Of every other function all second derivatives too, where it has a value.
    let smooth = |x: &&&[f64]| typed(x).is_ok_and(|(value, _)| value.is_finite());
    if what.len() % 2 == 1
        && let Some(x) = points.first().filter(smooth)
    {
        crate::nestings::agree(&function, x, None);
    }
    for x in points {
        let plain = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(x)));
        let own = match (plain, typed(x)) {
            (Ok(value), Ok((own, gradient))) => {
                same_bits(what, own, value);
                if value.is_finite() {
                    near(what, &gradient, &slopes(f, x));
                }
                Some([vec![own], gradient].concat())
            }
            (Err(_), Err(_)) => None,
            (plain, own) => panic!("{what} at {x:?}: plain {plain:?}, compiled {own:?}"),
        };
        for compiled in &engines {
            match (compiled.call(&[(*x).into()]), &own) {
                (Ok(results), Some(own)) => {
                    let numbers = results.into_iter().flat_map(|value| match value {
                        jut::Value::F64(number) => vec![number],
                        jut::Value::F64s(list) => list.data,
                        other => panic!("{what}: {other:?}"),
                    });
                    let numbers: Vec<f64> = numbers.collect();
                    assert_eq!(numbers.len(), own.len(), "{what}");
                    for (a, b) in numbers.iter().zip(own) {
                        same_bits(what, *a, *b);
                    }
                }
                (Err(_), None) => {}
                (result, own) => {
                    panic!("{what} at {x:?}: {:?} {result:?}, not {own:?}", compiled.engine())
                }
            }
        }
    }
}

/// Which sign a NaN has is left open.
fn same_bits(what: &str, a: f64, b: f64) {
    assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{what}: {a} and {b}");
}

fn slopes(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    crate::central::differences(f, x, 0.1)
}

fn near(what: &str, a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * (1.0 + y.abs()), "{what}: {a:?} and {b:?}");
    }
}

// 1. Bodies that attract each other, with vectors that have operators.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl std::ops::Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

#[differentiable]
impl std::ops::Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, o: Vec3) -> Vec3 {
        Vec3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

#[differentiable]
impl std::ops::Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, s: f64) -> Vec3 {
        Vec3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

#[differentiable]
impl Vec3 {
    fn dot(self, o: Vec3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn cross(self, o: Self) -> Self {
        Self {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }
    fn norm(&self) -> f64 {
        self.dot(*self).sqrt()
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Body {
    pos: Vec3,
    vel: Vec3,
    mass: f64,
}

#[differentiable]
fn attracted(x: &[f64], dt: f64, steps: usize) -> f64 {
    let mut b: Vec<Body> = x
        .chunks_exact(4)
        .map(|c| Body {
            pos: Vec3 { x: c[0], y: c[1], z: c[2] },
            vel: Vec3 { x: c[1], y: 0.0, z: -c[0] },
            mass: c[3],
        })
        .collect();
    for _ in 0..steps {
        for i in 0..b.len() {
            let mut acc = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
            for j in 0..b.len() {
                if i == j {
                    continue;
                }
                let d = b[j].pos - b[i].pos;
                let r2 = d.dot(d) + 0.01;
                acc = acc + d * (b[j].mass / (r2 * r2.sqrt()));
            }
            b[i].vel = b[i].vel + acc * dt;
        }
        for body in b.iter_mut() {
            body.pos = body.pos + body.vel * dt;
        }
    }
    let spin = b[0].pos.cross(b[1].vel).norm();
    b.iter().map(|b| 0.5 * b.mass * b.vel.dot(b.vel)).sum::<f64>() + spin
}

// 2. Simpson's rule over a closure that captures a list.
#[differentiable]
fn simpson(f: impl Fn(f64) -> f64, a: f64, b: f64, n: usize) -> f64 {
    let h = (b - a) / n as f64;
    let inner: f64 = (1..n)
        .map(|i| {
            let w = if i % 2 == 0 { 2.0 } else { 4.0 };
            w * f(a + i as f64 * h)
        })
        .sum();
    h / 3.0 * (f(a) + inner + f(b))
}

#[differentiable]
fn area(c: &[f64], b: f64) -> f64 {
    simpson(|x| exp(c.iter().rev().fold(0.0, |s, c| s * x + c)), 0.0, b, 10)
}

// 3. Loops with labels, in two dimensions.
#[differentiable]
fn labelled(x: &[f64], limit: f64) -> f64 {
    let mut s = 0.0;
    'outer: for i in 0..x.len() {
        for j in 0..i {
            let p = x[i] * x[j];
            if p < 0.0 {
                continue 'outer;
            }
            s += p.sqrt();
            if s > limit {
                break 'outer;
            }
        }
    }
    s
}

// 4. Slices taken apart, by recursion too.
#[differentiable]
fn by_length(x: &[f64]) -> f64 {
    match x {
        [] => 0.0,
        [a] => a * a,
        [a, b] => a * b,
        [first, middle @ .., last] if first * last > 0.0 => {
            first * last + middle.iter().sum::<f64>()
        }
        [_, rest @ ..] => rest.iter().product(),
    }
}

#[differentiable]
fn one_by_one(x: &[f64]) -> f64 {
    match x {
        [] => 1.0,
        [head, tail @ ..] => sin(*head) + head * one_by_one(tail),
    }
}

// 5. Tables of constants.
const TABLE: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
const WEIGHTS: &[f64] = &[0.1, 0.2, 0.3];

#[differentiable]
fn tabled(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, row) in TABLE.iter().enumerate() {
        for (t, w) in row.iter().zip(WEIGHTS) {
            s += t * w * x[0].powi(i as i32 + 1) * x[1];
        }
    }
    s
}

// 6. Rows made of chunks, and a product of matrices.
#[differentiable]
fn gram(x: &[f64], k: usize) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(k).map(|c| c.to_vec()).collect();
    let mut s = 0.0;
    for r in &rows {
        for q in &rows {
            let p = r.iter().zip(q).map(|(a, b)| a * b).sum::<f64>();
            s += p * p;
        }
    }
    s
}

#[differentiable]
fn squared(x: &[f64], n: usize) -> f64 {
    let mut c = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                c[i][j] += x[i * n + k] * x[k * n + j];
            }
        }
    }
    c.iter().flatten().map(|v| v.powi(2)).sum()
}

// 7. A controller that remembers.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pid {
    kp: f64,
    ki: f64,
    kd: f64,
    integral: f64,
    last: f64,
}

#[differentiable]
impl Pid {
    fn update(&mut self, error: f64, dt: f64) -> f64 {
        self.integral += error * dt;
        let d = (error - self.last) / dt;
        self.last = error;
        self.kp * error + self.ki * self.integral + self.kd * d
    }
}

#[differentiable]
fn controlled(x: &[f64], steps: usize) -> f64 {
    let mut pid = Pid { kp: x[0], ki: x[1], kd: x[2], integral: 0.0, last: 0.0 };
    let (mut y, mut v, mut cost) = (0.0, 0.0, 0.0);
    for _ in 0..steps {
        let u = pid.update(x[3] - y, 0.1);
        v += (u - 0.5 * v) * 0.1;
        y += v * 0.1;
        cost += (x[3] - y).powi(2) + 1e-3 * u * u;
    }
    cost
}

// 8. A network that changes itself before it is used.
#[derive(Data, Clone, Debug, PartialEq)]
struct Model {
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

#[differentiable]
impl Model {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.w
            .iter()
            .zip(&self.b)
            .map(|(row, b)| tanh(row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b))
            .collect()
    }
    fn decay(&mut self, rate: f64) {
        for row in self.w.iter_mut() {
            for w in row.iter_mut() {
                *w -= rate * *w;
            }
        }
        for b in &mut self.b {
            *b *= 1.0 - rate;
        }
    }
}

#[differentiable]
fn trained(m: &Model, xs: &[Vec<f64>], rate: f64) -> f64 {
    let mut m = m.clone();
    m.decay(rate);
    xs.iter().map(|x| m.forward(x).iter().map(|y| y * y).sum::<f64>()).sum::<f64>()
        / xs.len() as f64
}

// 9. Operations as data, folded.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Op {
    Add(f64),
    Mul(f64),
    Sin,
    Clamp { lo: f64, hi: f64 },
}

#[differentiable]
fn run(ops: &[Op], x: f64) -> f64 {
    ops.iter().fold(x, |x, op| match *op {
        Op::Add(a) => x + a,
        Op::Mul(m) => x * m,
        Op::Sin => sin(x),
        Op::Clamp { lo, hi } if lo < hi => x.clamp(lo, hi),
        Op::Clamp { .. } => x,
    })
}

// 10. Statistics, order, tables.
#[differentiable]
fn stats(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, var)
}

#[differentiable]
fn sharpe(x: &[f64]) -> f64 {
    let (m, v) = stats(x);
    m / v.sqrt()
}

#[differentiable]
fn median(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let n = v.len();
    if n % 2 == 1 { v[n / 2] } else { (v[n / 2 - 1] + v[n / 2]) / 2.0 }
}

#[differentiable]
fn top_two(x: &[f64]) -> f64 {
    let mut ix: Vec<usize> = (0..x.len()).collect();
    ix.sort_by(|&a, &b| x[b].partial_cmp(&x[a]).unwrap());
    ix.iter().take(2).map(|&i| x[i] * (i as f64 + 1.0)).sum()
}

#[differentiable]
fn peaks(x: &[f64]) -> f64 {
    x.windows(3).filter(|w| w[1] > w[0] && w[1] > w[2]).map(|w| w[1]).sum::<f64>()
        + x.iter().skip(1).step_by(2).copied().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn spread(x: &[f64], bins: usize) -> f64 {
    let lo = x.iter().cloned().fold(f64::INFINITY, f64::min);
    let hi = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let mut h = vec![0.0; bins];
    for &v in x {
        let t = (v - lo) / (hi - lo) * (bins - 1) as f64;
        let k = t.floor() as usize;
        let f = t - t.floor();
        h[k] += 1.0 - f;
        if k + 1 < bins {
            h[k + 1] += f;
        }
    }
    h.iter().map(|v| v * v).sum()
}

#[differentiable]
fn interpolated(ys: &[f64], x: f64) -> f64 {
    let xs: Vec<f64> = (0..ys.len()).map(|i| i as f64 * 0.5).collect();
    let k = xs.partition_point(|&v| v <= x).clamp(1, xs.len() - 1);
    let t = (x - xs[k - 1]) / (xs[k] - xs[k - 1]);
    ys[k - 1] + t * (ys[k] * ys[k] - ys[k - 1])
}

// 11. Solvers that change what they are given.
#[differentiable]
fn thomas(a: &[f64], b: &[f64], c: &[f64], d: &mut [f64]) {
    let n = d.len();
    let mut cp = vec![0.0; n];
    cp[0] = c[0] / b[0];
    d[0] /= b[0];
    for i in 1..n {
        let m = b[i] - a[i] * cp[i - 1];
        cp[i] = c[i] / m;
        d[i] = (d[i] - a[i] * d[i - 1]) / m;
    }
    for i in (0..n - 1).rev() {
        d[i] -= cp[i] * d[i + 1];
    }
}

#[differentiable]
fn banded(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let (b, rest) = x.split_at(n);
    let mut d = rest.to_vec();
    let off = vec![-1.0; n];
    thomas(&off, b, &off, &mut d);
    d.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum()
}

#[differentiable]
fn determinant<const N: usize>(a: &[[f64; N]; N]) -> f64 {
    let mut a = *a;
    let mut det = 1.0;
    for k in 0..N {
        let p = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        if p != k {
            a.swap(p, k);
            det = -det;
        }
        det *= a[k][k];
        for i in k + 1..N {
            let f = a[i][k] / a[k][k];
            for j in k..N {
                a[i][j] -= f * a[k][j];
            }
        }
    }
    det
}

// 12. Dynamic programming in a table of rows.
#[differentiable]
fn warped(x: &[f64], n: usize) -> f64 {
    let (a, b) = (&x[..n], &x[n..]);
    let m = b.len();
    let mut t = vec![vec![f64::INFINITY; m + 1]; n + 1];
    t[0][0] = 0.0;
    for i in 1..=n {
        for j in 1..=m {
            let c = (a[i - 1] - b[j - 1]).powi(2);
            t[i][j] = c + t[i - 1][j].min(t[i][j - 1]).min(t[i - 1][j - 1]);
        }
    }
    t[n][m]
}

// 13. Names that hide others, values that come late, loops with values.
#[differentiable]
fn shadowed(x: &[f64]) -> f64 {
    let x = x[0] * 2.0;
    let y = {
        let x = x + 1.0;
        x * x
    };
    let z;
    if y > 3.0 {
        z = y
    } else {
        z = x
    }
    let root = {
        let mut r = y;
        loop {
            let next = 0.5 * (r + y / r);
            if (next - r).abs() < 1e-12 {
                break next;
            }
            r = next;
        }
    };
    z + x * log(root)
}

#[test]
fn mechanics() {
    holds!(attracted at [0.0, 0.5, 0.1, 1.0, 1.0, -0.2, 0.3, 0.5, -0.7, 0.4, 0.9, 2.0]; 0.05, 4);
    holds!(controlled at [1.5, 0.3, 0.2, 1.0]; 12);
    holds!(controlled at [4.0, 0.0, 1.0, -0.5]; 12);
    holds!(banded at [4.0, 3.0, 5.0, 1.0, 2.0, -1.0], [2.5, 0.75]);
}

#[test]
fn lists_and_tables() {
    holds!(area at [0.1, -0.5, 0.2]; 1.5);
    holds!(area at [0.3]; 0.5);
    holds!(labelled at [1.0, 2.0, -0.5, 3.0, 1.5]; 100.0);
    holds!(labelled at [1.0, 2.0, -0.5, 3.0, 1.5]; 2.0);
    holds!(by_length at [], [3.0], [3.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, -3.0, 0.5], [-1.0, 2.0, 3.0]);
    holds!(one_by_one at [], [0.5], [0.5, -1.5, 2.0]);
    holds!(tabled at [1.5, 0.5]);
    holds!(gram at [1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 9.0]; 3);
    holds!(squared at [1.0, 2.0, 3.0, 0.5]; 2);
    holds!(warped at [1.0, 2.0, 0.5, 1.25, 2.5, 0.25, 0.75]; 3);
    holds!(shadowed at [1.5], [0.3]);
}

#[test]
fn statistics() {
    holds!(sharpe at [1.0, 2.0, 0.5, 1.5]);
    holds!(median at [3.0, 1.0, 2.0], [3.0, 1.0, 2.0, 7.0]);
    holds!(top_two at [3.0, 1.0, 2.0, 7.0]);
    holds!(peaks at [1.0, 3.0, 2.0, 5.0, 4.0, 4.5], [1.0, 2.0, 0.5]);
    holds!(spread at [1.0, 3.2, 2.1, 5.0, 4.3]; 4);
    holds!(interpolated at [1.0, 3.0, 2.0, 5.0]; 0.7);
    holds!(interpolated at [1.0, 3.0, 2.0, 5.0]; 9.0);
}

#[test]
fn models_and_operations() {
    let xs = vec![vec![0.5, -1.0], vec![1.5, 0.25]];
    let of = |x: &[f64]| Model {
        w: vec![vec![x[0], x[1]], vec![x[2], x[3]], vec![x[4], x[5]]],
        b: vec![x[6], x[7], x[8]],
    };
    let at = [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8, -0.9];
    let model = of(&at);
    let (value, (by_model, _, by_rate)) = trained::value_and_gradient(&model, &xs, 0.1).unwrap();
    assert_eq!(value.to_bits(), trained(&model, &xs, 0.1).to_bits());
    let flat: Vec<f64> = by_model.w.iter().flatten().chain(&by_model.b).copied().collect();
    near("trained", &flat, &slopes(|x| trained(&of(x), &xs, 0.1), &at));
    near("trained", &[by_rate], &slopes(|r| trained(&model, &xs, r[0]), &[0.1]));

    let ops = |x: &[f64]| {
        vec![
            Op::Add(x[0]),
            Op::Sin,
            Op::Mul(x[1]),
            Op::Clamp { lo: x[2], hi: x[3] },
            Op::Clamp { lo: 3.0, hi: x[0] },
            Op::Add(x[1]),
        ]
    };
    for at in [[0.5, 1.5, -1.0, 1.0, 0.3], [0.5, 4.5, -1.0, 1.0, 0.3]] {
        let all = ops(&at);
        let (by_ops, by_x) = run::gradient(&all, at[4]).unwrap();
        assert_eq!(run::value(&all, at[4]).unwrap().to_bits(), run(&all, at[4]).to_bits());
        let own = [
            by_ops[0].add + by_ops[4].clamp_hi,
            by_ops[2].mul + by_ops[5].add,
            by_ops[3].clamp_lo,
            by_ops[3].clamp_hi,
            by_x,
        ];
        near("run", &own, &slopes(|x| run(&ops(x), x[4]), &at));
    }
    let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]];
    let flat: Vec<f64> = determinant::gradient(&a).unwrap().into_iter().flatten().collect();
    let of = |x: &[f64]| determinant(&[[x[0], x[1], x[2]], [x[3], x[4], x[5]], [x[6], x[7], x[8]]]);
    near("determinant", &flat, &slopes(of, &a.concat()));
}
