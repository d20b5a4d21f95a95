//! Machines that learn: normalised batches, heads of attention, words, ratings, labels in sequences, neighbours, transports.

use jut::math::{exp, log, sigmoid, softplus, tanh};
use jut::{Data, differentiable};

/// Normalised batches, with a memory of means.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Training { momentum: f64 },
    Frozen,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct BatchNorm {
    gamma: Vec<f64>,
    beta: Vec<f64>,
    running_mean: Vec<f64>,
    running_var: Vec<f64>,
}

#[differentiable]
impl BatchNorm {
    const EPS: f64 = 1e-5;

    fn new(gamma: &[f64], beta: &[f64]) -> Self {
        let n = gamma.len();
        BatchNorm {
            gamma: gamma.to_vec(),
            beta: beta.to_owned(),
            running_mean: vec![0.0; n],
            running_var: vec![1.0; n],
        }
    }

    fn moments(batch: &[Vec<f64>], j: usize) -> (f64, f64) {
        let n = batch.len() as f64;
        let mean = batch.iter().map(|row| row[j]).sum::<f64>() / n;
        let var = batch.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / n;
        (mean, var)
    }

    fn apply(&mut self, batch: &[Vec<f64>], mode: Mode) -> Vec<Vec<f64>> {
        let mut out = batch.to_vec();
        for j in 0..self.gamma.len() {
            let (mean, var) = match mode {
                Mode::Training { momentum } => {
                    let (m, v) = Self::moments(batch, j);
                    self.running_mean[j] = (1.0 - momentum) * self.running_mean[j] + momentum * m;
                    self.running_var[j] = (1.0 - momentum) * self.running_var[j] + momentum * v;
                    (m, v)
                }
                Mode::Frozen => (self.running_mean[j], self.running_var[j]),
            };
            let scale = self.gamma[j] / (var + Self::EPS).sqrt();
            out.iter_mut().for_each(|row| row[j] = (row[j] - mean) * scale + self.beta[j]);
        }
        out
    }
}

#[differentiable]
fn normalised_batches(x: &[f64]) -> f64 {
    let mut norm = BatchNorm::new(&x[0..2], &x[2..4]);
    let batch: Vec<Vec<f64>> = x[4..].chunks(2).map(|c| c.to_vec()).collect();
    for _ in 0..3 {
        let hidden = norm.apply(&batch, Mode::Training { momentum: 0.1 });
        assert_eq!(hidden.len(), batch.len());
    }
    let out = norm.apply(&batch, Mode::Frozen);
    out.iter().flatten().map(|v| tanh(*v)).sum::<f64>() + norm.running_var.iter().sum::<f64>()
}

/// Attention in heads, with lengths in the types.
type Tokens<const T: usize, const D: usize> = [[f64; D]; T];

#[differentiable]
fn layer_norm<const D: usize>(row: &[f64; D], gain: f64) -> [f64; D] {
    let mean = row.iter().sum::<f64>() / D as f64;
    let var = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / D as f64;
    let mut out = *row;
    for v in &mut out {
        *v = gain * (*v - mean) / (var + 1e-6).sqrt();
    }
    out
}

#[differentiable]
fn softmax_in_place(scores: &mut [f64]) {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut z = 0.0;
    for s in scores.iter_mut() {
        *s = exp(*s - top);
        z += *s;
    }
    scores.iter_mut().for_each(|s| *s /= z);
}

#[differentiable]
fn heads<const T: usize, const D: usize>(
    x: &[[f64; D]; T],
    heads: usize,
    mask: bool,
) -> [[f64; D]; T] {
    let width = D / heads;
    let mut out = [[0.0; D]; T];
    for head in 0..heads {
        let (lo, hi) = (head * width, (head + 1) * width);
        for t in 0..T {
            let mut scores = vec![0.0; T];
            for (s, score) in scores.iter_mut().enumerate() {
                *score = if mask && s > t {
                    -1e9
                } else {
                    x[t][lo..hi].iter().zip(&x[s][lo..hi]).map(|(a, b)| a * b).sum::<f64>()
                        / (width as f64).sqrt()
                };
            }
            softmax_in_place(&mut scores);
            for (s, w) in scores.into_iter().enumerate() {
                for d in lo..hi {
                    out[t][d] += w * x[s][d];
                }
            }
        }
    }
    out
}

#[differentiable]
fn block_of_heads(x: &[f64]) -> f64 {
    let mut tokens: Tokens<3, 4> = [[0.0; 4]; 3];
    for (t, row) in tokens.iter_mut().enumerate() {
        for (d, v) in row.iter_mut().enumerate() {
            *v = x[(t * 4 + d) % x.len()] * (1.0 + 0.1 * d as f64) - 0.05 * t as f64;
        }
    }
    let normed = tokens.map(|row| layer_norm(&row, 1.2));
    let mixed = heads(&normed, 2, true);
    let mut loss = 0.0;
    for (row, mix) in tokens.iter().zip(mixed.iter()) {
        let residual: Vec<f64> = row.iter().zip(mix).map(|(a, b)| a + b).collect();
        loss += residual.iter().map(|&r| softplus(r)).sum::<f64>();
    }
    loss
}

/// Words that stand near each other, against words that are drawn.
#[differentiable]
fn skip_grams(x: &[f64]) -> f64 {
    const DIM: usize = 2;
    const TEXT: [usize; 7] = [0, 1, 2, 1, 3, 0, 2];
    let vocabulary = x.len() / (2 * DIM);
    let (inward, outward) = x.split_at(vocabulary * DIM);
    let vector = |table: &[f64], w: usize| -> Vec<f64> { table[w * DIM..(w + 1) * DIM].to_vec() };
    let mut state = 7u32;
    let mut loss = 0.0;
    for (i, &centre) in TEXT.iter().enumerate() {
        let c = vector(inward, centre % vocabulary);
        let from = i.saturating_sub(2);
        let to = (i + 2).min(TEXT.len() - 1);
        for &context in TEXT[from..=to].iter().filter(|&&w| w != centre) {
            let o = vector(outward, context % vocabulary);
            let dot: f64 = c.iter().zip(o.iter()).map(|(a, b)| a * b).sum();
            loss -= log(sigmoid(dot));
            for _ in 0..2 {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                let negative = (state >> 16) as usize % vocabulary;
                let n = vector(outward, negative);
                loss += softplus(c.iter().zip(n.iter()).map(|(a, b)| a * b).sum::<f64>());
            }
        }
    }
    loss / TEXT.len() as f64
}

/// Ratings by factors, fitted in turns.
#[derive(Data, Clone, Debug, PartialEq)]
struct Factors {
    users: Vec<[f64; 2]>,
    items: Vec<[f64; 2]>,
}

const RATINGS: &[(usize, usize, f64)] =
    &[(0, 0, 4.0), (0, 1, 2.5), (1, 0, 3.0), (1, 2, 5.0), (2, 1, 1.0), (2, 2, 4.5)];

#[differentiable]
fn ridge2(pairs: &[([f64; 2], f64)], lambda: f64) -> [f64; 2] {
    let (mut a, mut b) = ([[lambda, 0.0], [0.0, lambda]], [0.0; 2]);
    for (v, y) in pairs {
        for i in 0..2 {
            for j in 0..2 {
                a[i][j] += v[i] * v[j];
            }
            b[i] += v[i] * y;
        }
    }
    let [[p, q], [r, s]] = a;
    let det = p * s - q * r;
    [(s * b[0] - q * b[1]) / det, (p * b[1] - r * b[0]) / det]
}

#[differentiable]
impl Factors {
    fn sweep(&mut self, lambda: f64) {
        for u in 0..self.users.len() {
            let seen: Vec<_> = RATINGS
                .iter()
                .filter(|&&(who, ..)| who == u)
                .map(|&(_, item, stars)| (self.items[item], stars))
                .collect();
            self.users[u] = ridge2(&seen, lambda);
        }
        for (i, item) in self.items.iter_mut().enumerate() {
            let mut seen = vec![];
            for &(who, which, stars) in RATINGS {
                if which == i {
                    seen.push((self.users[who], stars));
                }
            }
            *item = ridge2(&seen, lambda);
        }
    }

    fn loss(&self) -> f64 {
        RATINGS
            .iter()
            .map(|&(u, i, stars)| {
                let [a, b] = self.users[u];
                let [c, d] = self.items[i];
                (stars - a * c - b * d).powi(2)
            })
            .sum()
    }
}

#[differentiable]
fn alternating_fits(x: &[f64]) -> f64 {
    let items: Vec<[f64; 2]> = x[1..].chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let mut factors = Factors { users: vec![[0.0; 2]; 3], items };
    let mut losses = Vec::new();
    for _ in 0..3 {
        factors.sweep(exp(x[0]));
        losses.push(factors.loss());
    }
    losses.iter().rev().enumerate().map(|(k, l)| l / (k + 1) as f64).sum()
}

/// Labels of a sequence, as a random field.
#[derive(Data, Clone, Debug, PartialEq)]
struct Field {
    transition: Vec<Vec<f64>>,
    emission: Vec<Vec<f64>>,
}

#[differentiable]
impl Field {
    fn log_partition(&self, words: &[usize]) -> f64 {
        let labels = self.transition.len();
        let mut alpha: Vec<f64> = (0..labels).map(|l| self.emission[l][words[0]]).collect();
        for &w in &words[1..] {
            alpha = (0..labels)
                .map(|to| {
                    let terms: Vec<f64> =
                        alpha.iter().zip(&self.transition).map(|(a, row)| a + row[to]).collect();
                    log_sum_exp(&terms) + self.emission[to][w]
                })
                .collect();
        }
        log_sum_exp(&alpha)
    }

    fn score(&self, words: &[usize], labels: &[usize]) -> f64 {
        let emitted: f64 = words.iter().zip(labels).map(|(&w, &l)| self.emission[l][w]).sum();
        let moved: f64 = labels.windows(2).map(|pair| self.transition[pair[0]][pair[1]]).sum();
        emitted + moved
    }
}

#[differentiable]
fn log_sum_exp(v: &[f64]) -> f64 {
    let top = v.iter().cloned().reduce(f64::max).unwrap();
    top + log(v.iter().map(|a| exp(a - top)).sum::<f64>())
}

#[differentiable]
fn labelled_sequences(x: &[f64]) -> f64 {
    let rows =
        |part: &[f64], n: usize| -> Vec<Vec<f64>> { part.chunks(n).map(<[f64]>::to_vec).collect() };
    let field = Field { transition: rows(&x[..4], 2), emission: rows(&x[4..10], 3) };
    const WORDS: [&[usize]; 2] = [&[0, 1, 2, 1], &[2, 2, 0]];
    const LABELS: [&[usize]; 2] = [&[0, 1, 1, 0], &[1, 1, 0]];
    let mut nll = 0.0;
    for (words, labels) in WORDS.iter().zip(&LABELS) {
        nll += field.log_partition(words) - field.score(words, labels);
    }
    nll + 0.01 * x.iter().map(|v| v * v).sum::<f64>()
}

#[test]
fn batches_heads_and_words() {
    everywhere! {
        normalised_batches at [1.1, 0.8, 0.1, -0.2, 0.5, 1.0, -0.3, 0.7, 1.4, 0.2], [1.0, 0.5];
        block_of_heads at [0.4, -0.9, 1.2, 0.3, 0.8, -0.1, 0.55], [];
        skip_grams at [0.1, 0.3, -0.2, 0.5, 0.4, -0.6, 0.2, 0.2, 0.7, -0.1, 0.3, 0.3, -0.5, 0.1, 0.6, 0.2], [0.1];
        alternating_fits at [-1.0, 0.5, 1.2, 0.9, -0.4, 1.5, 0.8], [-1.0, 0.5, 1.2];
        labelled_sequences at [0.3, -0.1, 0.4, 0.2, 0.5, -0.6, 0.1, 0.9, 0.7, -0.2], [0.5, 0.3];
    }
}
