//! Functions that use what is rarer: tuple structs, tables of structs, stacks, queues, Sobol points, recursion on slices, errors, `impl Trait`.

use jut::math::{cos, exp, log, sin, tanh};
use jut::{Data, differentiable};

/// A newtype with operators.
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Volts(f64);

#[differentiable]
impl std::ops::Add for Volts {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Volts(self.0 + o.0)
    }
}

#[differentiable]
impl std::ops::Neg for Volts {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Gate {
    half: f64,
    slope: f64,
    power: i32,
}

const GATES: [Gate; 3] = [
    Gate { half: -40.0, slope: 9.0, power: 3 },
    Gate { half: -62.0, slope: -7.0, power: 1 },
    Gate { half: -53.0, slope: 15.0, power: 4 },
];

#[differentiable]
impl Gate {
    fn open(&self, v: Volts) -> f64 {
        (1.0 + exp(-(v.0 - self.half) / self.slope)).recip().powi(self.power)
    }
}

#[differentiable]
fn neuron(x: &[f64]) -> f64 {
    let mut v = Volts(x[0]);
    let mut spikes = 0.0;
    for _ in 0..5 {
        let [m, h, n] = GATES.map(|g| g.open(v));
        let current = x[1] * m * h * (v.0 - 50.0) + x[2] * n * (v.0 + 77.0);
        v = v + -Volts(0.05 * current);
        spikes += m;
    }
    v.0 + spikes
}

/// Sobol points by Gray code, in integers of 32 bits.
#[differentiable]
fn quasi(x: &[f64]) -> f64 {
    const BITS: u32 = 16;
    let directions: [u32; 16] = std::array::from_fn(|k| 1 << (BITS - 1 - k as u32));
    let (mut point, mut sum) = (0_u32, 0.0);
    for n in 0..12_u32 {
        let c = (!n).trailing_zeros() as usize;
        point ^= directions[c];
        let u = point as f64 / (1_u32 << BITS) as f64;
        sum += x.iter().enumerate().map(|(k, c)| c * u.powi(k as i32)).sum::<f64>();
    }
    sum / 12.0
}

/// Adaptive quadrature by a stack of intervals.
#[differentiable]
fn adaptive_area(x: &[f64]) -> f64 {
    let f = |t: f64| exp(-x[0] * t * t) * cos(x[1] * t);
    let mut todo = vec![(0.0, 1.0, 0)];
    let mut total = 0.0;
    while let Some((a, b, depth)) = todo.pop() {
        let m = 0.5 * (a + b);
        let whole = (b - a) / 6.0 * (f(a) + 4.0 * f(m) + f(b));
        let left = (m - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + m)) + f(m));
        let right = (b - m) / 6.0 * (f(m) + 4.0 * f(0.5 * (m + b)) + f(b));
        if (left + right - whole).abs() < 1e-6 || depth >= 5 {
            total += left + right;
        } else {
            todo.push((a, m, depth + 1));
            todo.push((m, b, depth + 1));
        }
    }
    total
}

/// A sum by halves, by recursion on parts of the slice.
#[differentiable]
fn pairwise(x: &[f64]) -> f64 {
    match x.len() {
        0 => 0.0,
        1 => x[0] * x[0],
        n => {
            let (a, b) = x.split_at(n / 2);
            pairwise(a) + pairwise(b) * 0.5
        }
    }
}

#[derive(Debug, PartialEq)]
enum Failure {
    Singular { row: usize },
    Shape(usize, usize),
}

/// Gauss with pivots in a flat list, errors that name the row.
#[differentiable]
fn solve(a: &[f64], b: &[f64]) -> Result<Vec<f64>, Failure> {
    let n = b.len();
    if a.len() != n * n {
        return Err(Failure::Shape(a.len(), n));
    }
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[pivot * n + k].abs() {
                pivot = i;
            }
        }
        if a[pivot * n + k].abs() < 1e-12 {
            return Err(Failure::Singular { row: k });
        }
        if pivot != k {
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
            b.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[i * n + j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    Ok(b)
}

#[differentiable]
fn solved(x: &[f64]) -> f64 {
    let n = 2;
    let r = solve(&x[..n * n], &x[n * n..]).expect("regular");
    r.iter().zip([1.0, -2.0]).map(|(r, w)| w * r).sum()
}

/// A queue of events, kept in order by insertion.
#[differentiable]
fn events(x: &[f64]) -> f64 {
    let mut queue: Vec<(f64, usize)> = Vec::new();
    for (k, &t) in x.iter().enumerate() {
        let at = queue.partition_point(|e| e.0 <= t);
        queue.insert(at, (t, k));
    }
    let mut clock = 0.0;
    let mut cost = 0.0;
    while !queue.is_empty() {
        let (t, k) = queue.remove(0);
        clock = t.max(clock) + 0.1 * (k as f64 + 1.0);
        cost += clock * clock;
        if k == 0 && t < 1.0 {
            queue.push((t + 1.5, 7));
        }
    }
    cost
}

/// `impl Trait` and a fold of arrays.
#[differentiable]
trait Kernel {
    fn at(&self, r: f64) -> f64;
    fn gram(&self, a: f64, b: f64) -> f64 {
        self.at((a - b).abs())
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Squared {
    width: f64,
}

#[differentiable]
impl Kernel for Squared {
    fn at(&self, r: f64) -> f64 {
        exp(-0.5 * (r / self.width).powi(2))
    }
}

#[differentiable]
fn energy(k: &impl Kernel, x: &[f64]) -> f64 {
    x.iter().map(|a| x.iter().map(|b| k.gram(*a, *b)).sum::<f64>()).sum()
}

#[differentiable]
fn processes(x: &[f64]) -> f64 {
    let (width, rest) = x.split_first().unwrap();
    let k = Squared { width: *width };
    let [low, high] = rest.iter().fold([f64::MAX, f64::MIN], |[lo, hi], &v| [lo.min(v), hi.max(v)]);
    energy(&k, rest) + k.gram(low, high) * (high - low)
}

/// Runs of equal signs.
#[differentiable]
fn runs(x: &[f64]) -> f64 {
    let mut lengths = vec![0.0];
    for pair in x.windows(2) {
        match pair {
            [a, b] if a.signum() == b.signum() => *lengths.last_mut().unwrap() += a * b,
            [_, b] => lengths.push(*b),
            _ => unreachable!(),
        }
    }
    lengths.iter().enumerate().map(|(k, l)| l / (k + 1) as f64).sum::<f64>() + lengths.len() as f64
}

/// An image that is blurred by rows and by columns, in chunks.
#[differentiable]
fn blurred(x: &[f64]) -> f64 {
    const W: usize = 3;
    let mut image = x.to_vec();
    for row in image.chunks_exact_mut(W) {
        let old = row.to_vec();
        for (j, v) in row.iter_mut().enumerate() {
            let left = if j > 0 { old[j - 1] } else { old[j] };
            let right = old.get(j + 1).copied().unwrap_or(old[j]);
            *v = 0.25 * left + 0.5 * old[j] + 0.25 * right;
        }
    }
    let h = image.len() / W;
    let columns: Vec<f64> = (0..W)
        .flat_map(|j| (0..h).map(move |i| (i, j)))
        .map(|(i, j)| image[i * W + j] * if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    columns.iter().take(5).skip_while(|v| **v < 0.0).map(|v| v * v).sum()
}

/// Chemical equilibrium with Newton on a pair, `loop` with a value and a counter.
#[differentiable]
fn flash(x: &[f64]) -> f64 {
    let k = [x[0], x[1], x[2]];
    let z = [0.3, 0.3, 0.4];
    let (mut v, mut round) = (0.5, 0);
    let fraction = loop {
        let (f, d) = k.iter().zip(&z).fold((0.0, 0.0), |(f, d), (k, z)| {
            let t = (k - 1.0) / (1.0 + v * (k - 1.0));
            (f + z * t, d - z * t * t)
        });
        round += 1;
        let next = (v - f / d).clamp(1e-9, 1.0 - 1e-9);
        if (next - v).abs() < 1e-15 || round == 30 {
            break next;
        }
        v = next;
    };
    fraction * fraction + tanh(k[0])
}

/// Weights with defaults.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Settings {
    rate: f64,
    decay: f64,
    rounds: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { rate: 0.1, decay: 0.9, rounds: 4 }
    }
}

#[differentiable]
fn descended(x: &[f64]) -> f64 {
    let s = Settings { rate: x[0], ..Default::default() };
    let mut p = [x[1], x[2]];
    let mut velocity = [0.0_f64; 2];
    for k in 0..s.rounds {
        let g = [p[0].powi(3) - p[1], p[1] - 0.5 * sin(p[0])];
        for ((p, v), g) in p.iter_mut().zip(&mut velocity).zip(g.iter()) {
            *v = s.decay * *v - s.rate * g;
            *p += *v / (1.0 + k as f64).sqrt();
        }
    }
    p.iter().map(|v| v * v).sum::<f64>() + log(1.0 + p[0].abs())
}

#[test]
fn values_and_gradients() {
    everywhere! {
        neuron at [-55.0, 1.2, 0.36];
        quasi at [1.0, 0.5, -2.0], [];
        adaptive_area at [1.5, 3.0], [30.0, 0.5];
        pairwise at [1.0, 2.0, 3.0, 0.5, -1.0], [];
        solved at [0.1, 2.0, 3.0, -1.0, 1.0, 0.5], [1.0, 2.0, 2.0, 4.0, 1.0, 1.0], [1.0];
        events at [2.0, 0.5, 1.25, 0.75], [0.25, 3.0], [];
        processes at [0.8, 0.1, 0.5, -0.4, 1.5];
        runs at [1.0, 2.0, -1.0, -3.0, 0.5], [1.0], [];
        blurred at [1.0, 2.0, 3.0, 0.5, 0.25, 4.0], [];
        flash at [2.5, 1.1, 0.3];
        descended at [0.1, 0.5, -0.75];
    }
}
