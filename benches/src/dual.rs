//! The programs over the dual numbers of the `num-dual` crate: forward mode, one evaluation for each
//! input. It is what a Rust program can do today without a compiler, and with many inputs it shows
//! what reverse mode is for.

use num_dual::{Dual64, DualNum};

/// A number with one derivative.
pub type Number = Dual64;

/// Value and gradient by one evaluation per input; `f` gets all inputs as dual numbers.
pub fn gradient(x: &[f64], out: &mut [f64], mut f: impl FnMut(&[Dual64]) -> Dual64) {
    let mut inputs: Vec<Dual64> = x.iter().map(|x| Dual64::from_re(*x)).collect();
    for k in 0..x.len() {
        inputs[k].eps = 1.0;
        let result = f(std::hint::black_box(&inputs));
        inputs[k].eps = 0.0;
        (out[0], out[k + 1]) = (result.re, result.eps);
    }
}

/// -sin u.
pub fn sin(x: &[Dual64]) -> Dual64 {
    -x[0].sin()
}

/// sin(cos x).
pub fn sincos(x: &[Dual64]) -> Dual64 {
    x[0].cos().sin()
}

/// x^n by n multiplications.
pub fn power(x: &[Dual64], n: i64) -> Dual64 {
    (0..n).fold(Dual64::from_re(1.0), |r, _| r * x[0])
}

/// Rosenbrock's function.
pub fn rosenbrock(x: &[Dual64]) -> Dual64 {
    x.windows(2)
        .map(|pair| {
            let (rise, walk) = (pair[1] - pair[0] * pair[0], -pair[0] + 1.0);
            rise * rise * 100.0 + walk * walk
        })
        .sum()
}

/// The sum of products of neighbours.
pub fn neighbours(x: &[Dual64]) -> Dual64 {
    x.windows(2).map(|pair| pair[0] * pair[1]).sum()
}

/// log sum exp.
pub fn logsumexp(x: &[Dual64]) -> Dual64 {
    let m = x.iter().copied().fold(x[0], |m, x| if x.re > m.re { x } else { m });
    x.iter().map(|x| (*x - m).exp()).sum::<Dual64>().ln() + m
}

/// Logistic regression with an L2 term; the inputs are the weights and the intercept.
pub fn logistic(inputs: &[Dual64], x: &[f64], y: &[f64], l2: f64) -> Dual64 {
    let Some((b, w)) = inputs.split_last() else { return Dual64::from_re(0.0) };
    let softplus = |z: Dual64| {
        let e = if z.re >= 0.0 { (-z).exp() } else { z.exp() };
        e.ln_1p() + if z.re > 0.0 { z } else { Dual64::from_re(0.0) }
    };
    let rows = x.chunks_exact(w.len()).zip(y);
    let total: Dual64 = rows
        .map(|(row, y)| {
            let z = w.iter().zip(row).map(|(w, x)| *w * *x).sum::<Dual64>() + *b;
            softplus(z) - z * *y
        })
        .sum();
    let penalty: Dual64 = w.iter().map(|w| *w * *w).sum();
    total / y.len() as f64 + penalty * (0.5 * l2)
}

/// The Lennard-Jones energy.
pub fn lennard_jones(r: &[Dual64]) -> Dual64 {
    let mut value = Dual64::from_re(0.0);
    for (i, p) in r.chunks_exact(3).enumerate() {
        for q in r.chunks_exact(3).take(i) {
            let d2: Dual64 = p.iter().zip(q).map(|(p, q)| (*p - *q) * (*p - *q)).sum();
            let u = (d2 * d2 * d2).recip();
            value += (u * u - u) * 4.0;
        }
    }
    value
}

/// Runge-Kutta steps of the Lotka-Volterra equations to time 10.
pub fn lotka_volterra(p: &[Dual64], steps: usize) -> Dual64 {
    let &[a, b, c, d, mut x, mut y] = p else { return Dual64::from_re(0.0) };
    let h = 10.0 / steps as f64;
    let slope = |x: Dual64, y: Dual64| (a * x - b * x * y, d * x * y - c * y);
    for _ in 0..steps {
        let (p1, q1) = slope(x, y);
        let (p2, q2) = slope(x + p1 * (0.5 * h), y + q1 * (0.5 * h));
        let (p3, q3) = slope(x + p2 * (0.5 * h), y + q2 * (0.5 * h));
        let (p4, q4) = slope(x + p3 * h, y + q3 * h);
        x += (p1 + p2 * 2.0 + p3 * 2.0 + p4) * (h / 6.0);
        y += (q1 + q2 * 2.0 + q3 * 2.0 + q4) * (h / 6.0);
    }
    x + y
}
