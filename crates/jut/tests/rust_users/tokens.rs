//! Trees of decisions, sequences and pictures: alignments in logarithms, cells with gates, blocks of attention.

use jut::math::{exp, log, sigmoid, tanh};
use jut::{Data, differentiable};

/// A tree of decisions whose thresholds are soft.
#[derive(Data, Clone, Debug, PartialEq)]
enum Tree {
    Leaf(f64),
    Split { feature: usize, threshold: f64, sharpness: f64, low: Box<Tree>, high: Box<Tree> },
}

#[differentiable]
impl Tree {
    fn leaf(value: f64) -> Box<Tree> {
        Box::new(Tree::Leaf(value))
    }
    fn predict(&self, features: &[f64]) -> f64 {
        match self {
            Tree::Leaf(value) => *value,
            Tree::Split { feature, threshold, sharpness: 0.0, low, high } => {
                if features[*feature] < *threshold {
                    low.predict(features)
                } else {
                    high.predict(features)
                }
            }
            Tree::Split { feature, threshold, sharpness: k, low, high } => {
                let w = sigmoid(k * (features[*feature] - threshold));
                (1.0 - w) * low.predict(features) + w * high.predict(features)
            }
        }
    }
    fn depth(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::Split { low, high, .. } => 1 + low.depth().max(high.depth()),
        }
    }
}

#[differentiable]
fn boosted_trees(x: &[f64]) -> f64 {
    let soft = Tree::Split {
        feature: 0,
        threshold: x[0],
        sharpness: 4.0,
        low: Tree::leaf(x[1]),
        high: Box::new(Tree::Split {
            feature: 1,
            threshold: 0.5,
            sharpness: 0.0,
            low: Tree::leaf(x[2]),
            high: Tree::leaf(1.0),
        }),
    };
    let stump = Tree::Split {
        feature: 1,
        threshold: 0.0,
        sharpness: 2.0,
        low: Tree::leaf(-0.5),
        high: Tree::leaf(x[0]),
    };
    let forest = [(1.0, soft), (0.3, stump)];
    let samples = [([0.2, 0.9], 1.0), ([1.4, 0.1], 0.0), ([0.7, -0.6], 1.0)];
    let mut loss = 0.0;
    for (features, label) in samples {
        let score: f64 = forest.iter().map(|(rate, tree)| rate * tree.predict(&features)).sum();
        loss += log(1.0 + exp(-(2.0 * label - 1.0) * score));
    }
    loss + 0.01 * forest.iter().map(|(_, t)| t.depth()).max().unwrap_or(0) as f64
}

#[differentiable]
fn log_sum_exp(terms: &[f64]) -> f64 {
    let max = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + log(terms.iter().map(|t| exp(t - max)).sum::<f64>())
}

#[differentiable]
fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let z = log_sum_exp(logits);
    logits.iter().map(|l| l - z).collect()
}

/// The loss of connectionist temporal classification.
#[differentiable]
fn ctc_loss(x: &[f64]) -> f64 {
    const BLANK: usize = 0;
    let frames: Vec<Vec<f64>> = x.chunks(3).map(log_softmax).collect();
    let labels = [1usize, 2, 2];
    let mut extended = vec![BLANK];
    for &l in &labels {
        extended.push(l);
        extended.push(BLANK);
    }
    let s = extended.len();
    let mut alpha = vec![f64::NEG_INFINITY; s];
    alpha[0] = frames[0][BLANK];
    alpha[1] = frames[0][extended[1]];
    for frame in frames.iter().skip(1) {
        let previous = alpha.clone();
        for (j, &label) in extended.iter().enumerate() {
            let mut terms = vec![previous[j]];
            if j >= 1 {
                terms.push(previous[j - 1]);
            }
            if j >= 2 && label != BLANK && label != extended[j - 2] {
                terms.push(previous[j - 2]);
            }
            alpha[j] = frame[label] + log_sum_exp(&terms);
        }
    }
    -log_sum_exp(&alpha[s - 2..])
}

/// Time warping with a soft minimum, over a table with a border.
#[differentiable]
fn soft_time_warping(x: &[f64]) -> f64 {
    let gamma = x[0].abs() + 0.1;
    let (a, b) = x[1..].split_at(x.len() / 2);
    let soft_min = |values: [f64; 3]| {
        let lowest = values.iter().cloned().fold(f64::INFINITY, f64::min);
        lowest - gamma * log(values.iter().map(|v| exp((lowest - v) / gamma)).sum::<f64>())
    };
    let mut table = vec![vec![1e10; b.len() + 1]; a.len() + 1];
    table[0][0] = 0.0;
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            let cost = (p - q) * (p - q);
            table[i + 1][j + 1] = cost + soft_min([table[i][j], table[i][j + 1], table[i + 1][j]]);
        }
    }
    *table.last().and_then(|row| row.last()).unwrap()
}

/// How likely states are, forwards and backwards in logarithms.
#[differentiable]
fn forward_backward(x: &[f64]) -> f64 {
    const STATES: usize = 2;
    let trans: [[f64; STATES]; STATES] = [[log(0.8), log(0.2)], [log(0.3), log(0.7)]];
    let emit = |state: usize, y: f64| -0.5 * (y - x[state]).powi(2);
    let obs = &x[STATES..];
    let t = obs.len();
    let mut alpha = vec![[0.0; STATES]; t];
    let mut beta = vec![[0.0; STATES]; t];
    for s in 0..STATES {
        alpha[0][s] = log(0.5) + emit(s, obs[0]);
    }
    for k in 1..t {
        for s in 0..STATES {
            let into: Vec<f64> = (0..STATES).map(|r| alpha[k - 1][r] + trans[r][s]).collect();
            alpha[k][s] = emit(s, obs[k]) + log_sum_exp(&into);
        }
    }
    for k in (0..t - 1).rev() {
        beta[k] = std::array::from_fn(|s| {
            let out: [f64; STATES] =
                std::array::from_fn(|r| trans[s][r] + emit(r, obs[k + 1]) + beta[k + 1][r]);
            log_sum_exp(&out)
        });
    }
    let evidence = log_sum_exp(&alpha[t - 1]);
    let posterior: f64 = alpha
        .iter()
        .zip(beta.iter())
        .map(|(a, b)| exp(a[1] + b[1] - evidence))
        .enumerate()
        .map(|(k, p)| p * (k + 1) as f64)
        .sum();
    evidence + posterior
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Linear<const I: usize, const O: usize> {
    weight: [[f64; I]; O],
    bias: [f64; O],
}

#[differentiable]
impl<const I: usize, const O: usize> Linear<I, O> {
    fn forward(&self, x: &[f64; I]) -> [f64; O] {
        let mut out = self.bias;
        for (o, row) in out.iter_mut().zip(&self.weight) {
            *o += row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>();
        }
        out
    }
}

/// A cell with two gates over a sequence, its layers of constant sizes.
#[differentiable]
fn gated_recurrence(x: &[f64]) -> f64 {
    const H: usize = 2;
    let mut taken = 0;
    let mut take = || {
        taken += 1;
        x[(taken - 1) % x.len()]
    };
    let update = Linear::<3, H> {
        weight: [[take(), take(), take()], [take(), take(), take()]],
        bias: [0.1, -0.1],
    };
    let reset =
        Linear::<3, H> { weight: [[0.5, take(), 0.2], [take(), -0.3, 0.4]], bias: [0.0; H] };
    let candidate =
        Linear::<3, H> { weight: [[take(), 0.1, -0.4], [0.3, take(), 0.6]], bias: [0.0, 0.2] };
    let mut h = [0.0; H];
    for &input in [0.5, -1.0, 0.8, 0.1].iter() {
        let joined = [input, h[0], h[1]];
        let z = update.forward(&joined).map(|v| sigmoid(v));
        let r = reset.forward(&joined).map(sigmoid);
        let n = candidate.forward(&[input, r[0] * h[0], r[1] * h[1]]).map(tanh);
        for i in 0..H {
            h[i] = (1.0 - z[i]) * n[i] + z[i] * h[i];
        }
    }
    h.iter().sum::<f64>() + h[0] * h[1]
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Image {
    width: usize,
    height: usize,
    pixels: Vec<f64>,
}

#[differentiable]
impl Image {
    fn get(&self, x: usize, y: usize) -> Option<f64> {
        if x < self.width && y < self.height { Some(self.pixels[y * self.width + x]) } else { None }
    }
    fn convolve(&self, kernel: &[[f64; 3]; 3]) -> Image {
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..self.height {
            for x in 0..self.width {
                let mut sum = 0.0;
                for (dy, row) in kernel.iter().enumerate() {
                    for (dx, k) in row.iter().enumerate() {
                        let (Some(sx), Some(sy)) =
                            ((x + dx).checked_sub(1), (y + dy).checked_sub(1))
                        else {
                            continue;
                        };
                        sum += k * self.get(sx, sy).unwrap_or(0.0);
                    }
                }
                pixels.push(sum);
            }
        }
        Image { pixels, ..*self }
    }
    fn max_pool(&self, k: usize) -> Image {
        let (width, height) = (self.width / k, self.height / k);
        let mut out = Image { width, height, pixels: vec![f64::MIN; width * height] };
        for y in 0..height * k {
            for x in 0..width * k {
                let cell = &mut out.pixels[(y / k) * width + x / k];
                *cell = cell.max(self.pixels[y * self.width + x]);
            }
        }
        out
    }
}

/// A small network on a picture: convolution, pooling, classes.
#[differentiable]
fn picture_classes(x: &[f64]) -> f64 {
    let image = Image {
        width: 4,
        height: 4,
        pixels: (0..16).map(|i| ((i * 7) % 5) as f64 * 0.3).collect(),
    };
    let kernel = [[x[0], 0.1, -x[1]], [0.2, x[2], 0.3], [-x[0], 0.4, x[1]]];
    let pooled = image.convolve(&kernel).max_pool(2);
    let features: Vec<f64> =
        pooled.pixels.iter().map(|v| if v.is_sign_positive() { *v } else { 0.1 * v }).collect();
    let logits: Vec<f64> = (0..3)
        .map(|c| features.iter().enumerate().map(|(i, f)| f * ((c + i) % 3) as f64).sum())
        .collect();
    let label = 1;
    -log_softmax(&logits)[label]
}

/// The best of some hypotheses that grow by tokens.
#[differentiable]
fn beam_search(x: &[f64]) -> f64 {
    let vocab = 3;
    let mut beams: Vec<(f64, usize, usize)> = vec![(0.0, 0, 0)];
    for step in 0..3 {
        let mut candidates = Vec::new();
        for &(score, last, code) in &beams {
            let logits: Vec<f64> = (0..vocab)
                .map(|v| x[(last * 2 + v + step) % x.len()] * (1.0 + v as f64 * 0.1))
                .collect();
            for (v, lp) in log_softmax(&logits).iter().enumerate() {
                candidates.push((score + lp, v, code * vocab + v));
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidates.truncate(2);
        beams = candidates;
    }
    let (best, _, code) = beams[0];
    best + 0.01 * code as f64
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Block {
    heads: Vec<[f64; 4]>,
    gain: f64,
    up: Vec<f64>,
    down: Vec<f64>,
}

#[differentiable]
impl Block {
    fn normalize(x: &[f64; 2], gain: f64) -> [f64; 2] {
        let rms = (x.iter().map(|v| v * v).sum::<f64>() / 2.0 + 1e-5).sqrt();
        x.map(|v| gain * v / rms)
    }
    fn attend(&self, xs: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let normed: Vec<[f64; 2]> = xs.iter().map(|x| Block::normalize(x, self.gain)).collect();
        let mut out = xs.to_vec();
        for [a, b, c, d] in &self.heads {
            for (i, q) in normed.iter().enumerate() {
                let scores: Vec<f64> = normed[..=i]
                    .iter()
                    .map(|k| (a * q[0] + b * q[1]) * (c * k[0] + d * k[1]))
                    .collect();
                let top = scores.iter().copied().reduce(f64::max).unwrap();
                let weights: Vec<f64> = scores.iter().map(|s| exp(s - top)).collect();
                let total: f64 = weights.iter().sum();
                for (w, v) in weights.iter().zip(&normed) {
                    out[i][0] += w / total * v[0];
                    out[i][1] += w / total * v[1];
                }
            }
        }
        out
    }
    fn forward(&self, xs: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut xs = self.attend(xs);
        for x in xs.iter_mut() {
            let n = Self::normalize(x, self.gain);
            for (u, d) in self.up.iter().zip(&self.down) {
                let h = u * n[0] + (1.0 - u) * n[1];
                let activated = h * sigmoid(h);
                x[0] += d * activated;
                x[1] -= d * activated;
            }
        }
        xs
    }
}

/// Tokens are looked up, go through two blocks, and the next ones are predicted.
#[differentiable]
fn transformer_blocks(x: &[f64]) -> f64 {
    let embedding: Vec<[f64; 2]> = vec![[x[0], x[1]], [0.5, -0.4], [x[2], 0.9]];
    let tokens = [0usize, 2, 1, 0];
    let blocks = [
        Block {
            heads: vec![[0.3, x[3], 0.1, 0.5], [0.2, 0.4, -0.3, 0.6]],
            gain: 1.0,
            up: vec![0.2, 0.7],
            down: vec![x[4], 0.1],
        },
        Block { heads: vec![[0.5, 0.1, x[3], 0.2]], gain: x[1], up: vec![0.4], down: vec![-0.2] },
    ];
    let mut hidden: Vec<[f64; 2]> = tokens[..3].iter().map(|&t| embedding[t]).collect();
    for block in blocks.iter() {
        hidden = block.forward(&hidden);
    }
    let mut nll = 0.0;
    for (h, &next) in hidden.iter().zip(tokens.iter().skip(1)) {
        let logits: Vec<f64> = embedding.iter().map(|e| e[0] * h[0] + e[1] * h[1]).collect();
        nll -= log_softmax(&logits)[next];
    }
    nll / 3.0
}

#[test]
fn trees_and_alignments() {
    everywhere! {
        boosted_trees at [0.5, -0.3, 0.8];
        ctc_loss at [0.1, 0.5, -0.3, 0.4, 0.2, 0.9, -0.5, 0.3, 0.1, 0.6, -0.2, 0.2, 0.0, 0.3, 0.7];
        soft_time_warping at [0.4, 0.5, 1.0, 0.2, 0.6, 1.1];
        forward_backward at [0.0, 1.5, 0.1, 1.2, 1.7, -0.3];
        beam_search at [0.5, -0.3, 0.8, 1.1, 0.2];
    }
}

#[test]
fn layers_of_pictures_and_tokens() {
    everywhere! {
        gated_recurrence at [0.4, -0.2, 0.7, 0.3];
        picture_classes at [0.5, -0.3, 0.8];
        transformer_blocks at [0.4, 1.2, -0.6, 0.3, 0.5];
    }
}
