//! Value and gradient of the nine programs, written by hand as a careful numerical programmer
//! would: one pass where that is possible, no allocation per call, results into the caller's
//! buffers. They are what jut is measured against.

/// log(1 + exp(z)) and its derivative.
fn softplus(z: f64) -> (f64, f64) {
    let e = (-z.abs()).exp();
    let value = z.max(0.0) + e.ln_1p();
    let slope = if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    (value, slope)
}

/// Logistic regression with an L2 term: value, gradient of the weights into `dw`, of the
/// intercept returned.
pub fn logistic(w: &[f64], b: f64, x: &[f64], y: &[f64], l2: f64, dw: &mut [f64]) -> (f64, f64) {
    let (n, d) = (y.len(), w.len());
    let scale = 1.0 / n as f64;
    let (mut total, mut db) = (0.0, 0.0);
    dw.fill(0.0);
    for (row, label) in x.chunks_exact(d).zip(y) {
        let z: f64 = b + w.iter().zip(row).map(|(w, x)| w * x).sum::<f64>();
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

/// -sin u.
pub fn sin(u: f64) -> (f64, f64) {
    let (s, c) = u.sin_cos();
    (-s, -c)
}

/// x^n by n multiplications, and its derivative by the chain of partial products.
pub fn power(x: f64, n: i64) -> (f64, f64) {
    let (mut a, mut da) = (1.0, 0.0);
    for _ in 0..n {
        da = da * x + a;
        a *= x;
    }
    (a, da)
}

/// Rosenbrock's function.
pub fn rosenbrock(x: &[f64], dx: &mut [f64]) -> f64 {
    let n = x.len();
    let mut value = 0.0;
    let mut carried = 0.0;
    for i in 0..n.saturating_sub(1) {
        let rise = x[i + 1] - x[i] * x[i];
        let walk = 1.0 - x[i];
        value += 100.0 * rise * rise + walk * walk;
        dx[i] = carried - 400.0 * rise * x[i] - 2.0 * walk;
        carried = 200.0 * rise;
    }
    if let Some(last) = dx.last_mut() {
        *last = carried;
    }
    value
}

/// The sum of products of neighbours.
pub fn neighbours(x: &[f64], dx: &mut [f64]) -> f64 {
    let n = x.len();
    let mut value = 0.0;
    for i in 0..n {
        let left = if i > 0 { x[i - 1] } else { 0.0 };
        let right = if i + 1 < n { x[i + 1] } else { 0.0 };
        value += x[i] * right;
        dx[i] = left + right;
    }
    value
}

/// log sum exp.
pub fn logsumexp(x: &[f64], dx: &mut [f64]) -> f64 {
    let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (dx, x) in dx.iter_mut().zip(x) {
        *dx = (x - m).exp();
        sum += *dx;
    }
    let scale = 1.0 / sum;
    for dx in dx.iter_mut() {
        *dx *= scale;
    }
    m + sum.ln()
}

/// A two-layer perceptron with a softmax cross-entropy: sizes, buffers and gradients.
pub struct Mlp {
    /// Features.
    pub d: usize,
    /// Hidden units.
    pub h: usize,
    /// Classes.
    pub c: usize,
    hidden: Vec<f64>,
    score: Vec<f64>,
    back: Vec<f64>,
}

/// The parameters of [`Mlp`], or their gradients.
#[derive(Clone, Default)]
pub struct MlpParameters {
    /// Hidden by features.
    pub w1: Vec<f64>,
    /// Hidden.
    pub b1: Vec<f64>,
    /// Classes by hidden.
    pub w2: Vec<f64>,
    /// Classes.
    pub b2: Vec<f64>,
}

impl Mlp {
    /// Buffers for the given sizes.
    pub fn new(d: usize, h: usize, c: usize) -> Mlp {
        Mlp { d, h, c, hidden: vec![0.0; h], score: vec![0.0; c], back: vec![0.0; h] }
    }

    /// Value; gradients into `g`.
    pub fn run(
        &mut self,
        p: &MlpParameters,
        x: &[f64],
        label: &[i64],
        g: &mut MlpParameters,
    ) -> f64 {
        let (d, h, n) = (self.d, self.h, label.len());
        let scale = 1.0 / n as f64;
        for part in [&mut g.w1, &mut g.b1, &mut g.w2, &mut g.b2] {
            part.fill(0.0);
        }
        let mut total = 0.0;
        for (row, &label) in x.chunks_exact(d).zip(label) {
            for (k, hidden) in self.hidden.iter_mut().enumerate() {
                let w = &p.w1[k * d..(k + 1) * d];
                *hidden = (p.b1[k] + w.iter().zip(row).map(|(w, x)| w * x).sum::<f64>()).tanh();
            }
            for (q, score) in self.score.iter_mut().enumerate() {
                let w = &p.w2[q * h..(q + 1) * h];
                *score = p.b2[q] + w.iter().zip(&self.hidden).map(|(w, x)| w * x).sum::<f64>();
            }
            let top = self.score.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            total -= self.score[label as usize];
            let mut sum = 0.0;
            for score in &mut self.score {
                *score = (*score - top).exp();
                sum += *score;
            }
            total += top + sum.ln();
            self.back.fill(0.0);
            for q in 0..self.c {
                let hit = if q == label as usize { 1.0 } else { 0.0 };
                let ds = (self.score[q] / sum - hit) * scale;
                g.b2[q] += ds;
                let range = q * h..(q + 1) * h;
                for ((dw, w), (hidden, back)) in g.w2[range.clone()]
                    .iter_mut()
                    .zip(&p.w2[range])
                    .zip(self.hidden.iter().zip(&mut self.back))
                {
                    *dw += ds * hidden;
                    *back += ds * w;
                }
            }
            for k in 0..h {
                let du = self.back[k] * (1.0 - self.hidden[k] * self.hidden[k]);
                g.b1[k] += du;
                for (dw, x) in g.w1[k * d..(k + 1) * d].iter_mut().zip(row) {
                    *dw += du * x;
                }
            }
        }
        total * scale
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

    /// Value; gradients of the matrix, the initial state and the inputs.
    #[allow(clippy::too_many_arguments)]
    pub fn run(
        &mut self,
        w: &[f64],
        h0: &[f64],
        x: &[f64],
        target: &[f64],
        dw: &mut [f64],
        dh0: &mut [f64],
        dx: &mut [f64],
    ) -> f64 {
        let n = self.n;
        let steps = x.len() / n.max(1);
        self.states[..n].copy_from_slice(h0);
        for t in 0..steps {
            let (past, future) = self.states.split_at_mut((t + 1) * n);
            let h = &past[t * n..];
            for i in 0..n {
                let g: f64 = w[i * n..(i + 1) * n].iter().zip(h).map(|(w, h)| w * h).sum();
                future[i] = (g + x[t * n + i]).tanh();
            }
        }
        let last = &self.states[steps * n..];
        let mut value = 0.0;
        for i in 0..n {
            let e = last[i] - target[i];
            value += e * e;
            self.back[i] = 2.0 * e;
        }
        dw.fill(0.0);
        for t in (0..steps).rev() {
            let h = &self.states[t * n..(t + 1) * n];
            let k = &self.states[(t + 1) * n..(t + 2) * n];
            self.next.fill(0.0);
            for i in 0..n {
                let du = self.back[i] * (1.0 - k[i] * k[i]);
                dx[t * n + i] = du;
                let row = i * n..(i + 1) * n;
                for ((dw, w), (h, next)) in
                    dw[row.clone()].iter_mut().zip(&w[row]).zip(h.iter().zip(&mut self.next))
                {
                    *dw += du * h;
                    *next += du * w;
                }
            }
            std::mem::swap(&mut self.back, &mut self.next);
        }
        dh0.copy_from_slice(&self.back);
        value
    }
}

/// Many steps of Burgers' equation and a squared misfit: buffers.
pub struct Stencil {
    n: usize,
    states: Vec<f64>,
    back: Vec<f64>,
    next: Vec<f64>,
}

impl Stencil {
    /// Buffers for n cells and the given number of steps.
    pub fn new(n: usize, steps: usize) -> Stencil {
        Stencil { n, states: vec![0.0; n * (steps + 1)], back: vec![0.0; n], next: vec![0.0; n] }
    }

    /// Value; gradient of the initial state into `du0`.
    pub fn run(&mut self, u0: &[f64], a: f64, k: f64, target: &[f64], du0: &mut [f64]) -> f64 {
        let n = self.n;
        let steps = self.states.len() / n - 1;
        self.states[..n].copy_from_slice(u0);
        for t in 0..steps {
            let (past, future) = self.states.split_at_mut((t + 1) * n);
            let u = &past[t * n..];
            future[0] = u[0];
            future[n - 1] = u[n - 1];
            for i in 1..n - 1 {
                let (l, r) = (u[i - 1], u[i + 1]);
                future[i] = u[i] - a * u[i] * (r - l) + k * (l - 2.0 * u[i] + r);
            }
        }
        let last = &self.states[steps * n..];
        let mut value = 0.0;
        for i in 0..n {
            let e = last[i] - target[i];
            value += e * e;
            self.back[i] = 2.0 * e;
        }
        for t in (0..steps).rev() {
            let u = &self.states[t * n..(t + 1) * n];
            self.next.fill(0.0);
            self.next[0] += self.back[0];
            self.next[n - 1] += self.back[n - 1];
            for i in 1..n - 1 {
                let c = self.back[i];
                let (l, r) = (u[i - 1], u[i + 1]);
                self.next[i] += c * (1.0 - a * (r - l) - 2.0 * k);
                self.next[i - 1] += c * (a * u[i] + k);
                self.next[i + 1] += c * (k - a * u[i]);
            }
            std::mem::swap(&mut self.back, &mut self.next);
        }
        du0.copy_from_slice(&self.back);
        value
    }
}

/// The Lennard-Jones energy of particles in space.
pub fn lennard_jones(r: &[f64], dr: &mut [f64]) -> f64 {
    let n = r.len() / 3;
    dr.fill(0.0);
    let mut value = 0.0;
    for i in 0..n {
        let p = [r[3 * i], r[3 * i + 1], r[3 * i + 2]];
        let mut force = [0.0; 3];
        for j in 0..i {
            let d = [p[0] - r[3 * j], p[1] - r[3 * j + 1], p[2] - r[3 * j + 2]];
            let d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            let inverse = 1.0 / d2;
            let u = inverse * inverse * inverse;
            value += 4.0 * (u * u - u);
            let c = 4.0 * (2.0 * u - 1.0) * -6.0 * u * inverse;
            for k in 0..3 {
                force[k] += c * d[k];
                dr[3 * j + k] -= c * d[k];
            }
        }
        for k in 0..3 {
            dr[3 * i + k] += force[k];
        }
    }
    value
}
