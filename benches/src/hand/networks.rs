//! Losses of small networks. A row of a matrix gradient is written while the row of the matrix is
//! in the cache; what a single sample reaches once is stored, not added to zeros.

use super::dot;
use crate::machine::wide;

/// log(1 + exp(z)) and its derivative.
#[inline(always)]
fn softplus(z: f64) -> (f64, f64) {
    let e = (-z.abs()).exp();
    let value = z.max(0.0) + e.ln_1p();
    let slope = if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    (value, slope)
}

wide! {
    /// Logistic regression with an L2 term: value, gradient of the weights into `dw`, of the
    /// intercept returned.
    pub fn logistic(w: &[f64], b: f64, x: &[f64], y: &[f64], l2: f64, dw: &mut [f64]) -> (f64, f64) {
        let (n, d) = (y.len(), w.len());
        let scale = 1.0 / n as f64;
        let (mut total, mut db) = (0.0, 0.0);
        dw.fill(0.0);
        for (row, label) in x.chunks_exact(d).zip(y) {
            let z = b + dot(w, row);
            let (value, slope) = softplus(z);
            total += value - label * z;
            let c = (slope - label) * scale;
            db += c;
            for (dw, x) in dw.iter_mut().zip(row) {
                *dw += c * x;
            }
        }
        let mut penalty = 0.0;
        for (dw, w) in dw.iter_mut().zip(w) {
            penalty += w * w;
            *dw += l2 * w;
        }
        (total * scale + 0.5 * l2 * penalty, db)
    }
}

wide! {
    /// The sum of a layer of logistic units.
    pub fn sigmoids(
        w: &[f64], b: &[f64], v: &[f64], dw: &mut [f64], db: &mut [f64], dv: &mut [f64],
    ) -> f64 {
        let n = v.len();
        let mut value = 0.0;
        dv.fill(0.0);
        for ((row, b), (dw, db)) in
            w.chunks_exact(n).zip(b).zip(dw.chunks_exact_mut(n).zip(db))
        {
            let s = 1.0 / (1.0 + (-(b + dot(row, v))).exp());
            value += s;
            let c = s * (1.0 - s);
            *db = c;
            for ((dw, dv), (w, v)) in dw.iter_mut().zip(dv.iter_mut()).zip(row.iter().zip(v)) {
                *dw = c * v;
                *dv += c * w;
            }
        }
        value
    }
}

/// A two-layer perceptron with a softmax cross-entropy: sizes and buffers.
pub struct Mlp {
    h: usize,
    c: usize,
    hidden: Vec<f64>,
    slope: Vec<f64>,
    score: Vec<f64>,
    back: Vec<f64>,
}

/// The parameters of [`Mlp`], or the place of their gradients, one after the other.
pub struct MlpParameters<S> {
    /// Hidden by features.
    pub w1: S,
    /// Hidden.
    pub b1: S,
    /// Classes by hidden.
    pub w2: S,
    /// Classes.
    pub b2: S,
}

impl Mlp {
    /// Buffers for h hidden units and c classes.
    pub fn new(h: usize, c: usize) -> Mlp {
        let zeros = |n| vec![0.0; n];
        Mlp { h, c, hidden: zeros(h), slope: zeros(h), score: zeros(c), back: zeros(h) }
    }

    /// Value of one sample; gradients, in the order of the parameters, into `g`. The units are
    /// hyperbolic tangents or rectified.
    pub fn run(
        &mut self,
        p: &MlpParameters<Vec<f64>>,
        x: &[f64],
        label: usize,
        rectified: bool,
        g: &mut [f64],
    ) -> f64 {
        mlp(self, p, x, label, rectified, g)
    }
}

wide! {
    /// See [`Mlp::run`].
    pub fn mlp(
        net: &mut Mlp, p: &MlpParameters<Vec<f64>>, x: &[f64], label: usize, rectified: bool,
        g: &mut [f64],
    ) -> f64 {
        let (d, h, c) = (x.len(), net.h, net.c);
        let (dw1, g) = g.split_at_mut(h * d);
        let (db1, g) = g.split_at_mut(h);
        let (dw2, db2) = g.split_at_mut(c * h);
        for (k, w) in p.w1.chunks_exact(d).enumerate() {
            let u = p.b1[k] + dot(w, x);
            (net.hidden[k], net.slope[k]) = if !rectified {
                let t = u.tanh();
                (t, 1.0 - t * t)
            } else if u > 0.0 {
                (u, 1.0)
            } else {
                (0.0, if u == 0.0 { 0.5 } else { 0.0 })
            };
        }
        for (q, w) in p.w2.chunks_exact(h).enumerate() {
            net.score[q] = p.b2[q] + dot(w, &net.hidden);
        }
        let top = net.score.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let hit = net.score[label];
        let mut sum = 0.0;
        for score in &mut net.score {
            *score = super::exp(*score - top);
            sum += *score;
        }
        net.back.fill(0.0);
        for q in 0..c {
            let ds = net.score[q] / sum - if q == label { 1.0 } else { 0.0 };
            db2[q] = ds;
            let row = q * h..(q + 1) * h;
            let outs = dw2[row.clone()].iter_mut().zip(net.back.iter_mut());
            for ((dw, back), (w, hidden)) in outs.zip(p.w2[row].iter().zip(&net.hidden)) {
                *dw = ds * hidden;
                *back += ds * w;
            }
        }
        for (k, dw) in dw1.chunks_exact_mut(d).enumerate() {
            let du = net.back[k] * net.slope[k];
            db1[k] = du;
            for (dw, x) in dw.iter_mut().zip(x) {
                *dw = du * x;
            }
        }
        top + sum.ln() - hit
    }
}

/// A recurrent network of n units over T steps: buffers.
pub struct Rnn {
    n: usize,
    states: Vec<f64>,
    back: Vec<f64>,
    next: Vec<f64>,
}

impl Rnn {
    /// Buffers for n units and T steps.
    pub fn new(n: usize, steps: usize) -> Rnn {
        Rnn { n, states: vec![0.0; n * (steps + 1)], back: vec![0.0; n], next: vec![0.0; n] }
    }

    /// Value; gradients of the matrix, the initial state and the inputs, one after the other.
    pub fn run(&mut self, w: &[f64], h0: &[f64], x: &[f64], target: &[f64], g: &mut [f64]) -> f64 {
        rnn(self, w, h0, x, target, g)
    }
}

wide! {
    /// See [`Rnn::run`].
    pub fn rnn(
        net: &mut Rnn, w: &[f64], h0: &[f64], x: &[f64], target: &[f64], g: &mut [f64],
    ) -> f64 {
        let n = net.n;
        let (dw, g) = g.split_at_mut(n * n);
        let (dh0, dx) = g.split_at_mut(n);
        let steps = x.len() / n.max(1);
        net.states[..n].copy_from_slice(h0);
        for t in 0..steps {
            let (past, future) = net.states.split_at_mut((t + 1) * n);
            let h = &past[t * n..];
            for i in 0..n {
                future[i] = (dot(&w[i * n..(i + 1) * n], h) + x[t * n + i]).tanh();
            }
        }
        let last = &net.states[steps * n..];
        let mut value = 0.0;
        for i in 0..n {
            let e = last[i] - target[i];
            value += e * e;
            net.back[i] = 2.0 * e;
        }
        dw.fill(0.0);
        for t in (0..steps).rev() {
            let h = &net.states[t * n..(t + 1) * n];
            let k = &net.states[(t + 1) * n..(t + 2) * n];
            net.next.fill(0.0);
            for i in 0..n {
                let du = net.back[i] * (1.0 - k[i] * k[i]);
                dx[t * n + i] = du;
                let row = i * n..(i + 1) * n;
                let outs = dw[row.clone()].iter_mut().zip(net.next.iter_mut());
                for ((dw, next), (w, h)) in outs.zip(w[row].iter().zip(h)) {
                    *dw += du * h;
                    *next += du * w;
                }
            }
            std::mem::swap(&mut net.back, &mut net.next);
        }
        dh0.copy_from_slice(&net.back);
        value
    }
}
