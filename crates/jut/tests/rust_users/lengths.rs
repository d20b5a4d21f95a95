//! Lists that loops assign, by functions, iterators and names, whether their lengths stay or not; and rows that functions and iterators give.

use super::{ByList, agree};
use jut::math::{exp, sin, tanh};
use jut::{Data, differentiable};

#[differentiable]
fn step(x: &[f64], h: f64) -> Vec<f64> {
    let n = x.len();
    (0..n).map(|i| x[i] + h * sin(x[(i + 1) % n])).collect()
}
#[differentiable]
fn stepped(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    for _ in 0..3 {
        y = step(&y, 0.1);
    }
    y.iter().map(|v| v * v).sum()
}
#[differentiable]
fn before(x: &[f64], lag: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if let Some(k) = i.checked_sub(lag) {
            s += x[i] * x[k];
        }
    }
    s + x.len().checked_sub(5).map_or(x[0], |k| x[k] * x[k])
}
#[differentiable]
fn casteljau_loop(x: &[f64]) -> f64 {
    let mut pts = x.to_vec();
    while pts.len() > 1 {
        pts = pts.windows(2).map(|w| 0.3 * w[0] + 0.7 * w[1]).collect();
    }
    pts[0] * pts[0]
}
#[differentiable]
fn haar(x: &[f64]) -> f64 {
    let mut level = x.to_vec();
    let mut energy = 0.0;
    while level.len() >= 2 {
        let detail: Vec<f64> = level.chunks_exact(2).map(|c| 0.5 * (c[0] - c[1])).collect();
        energy += detail.iter().map(|d| d * d * d).sum::<f64>();
        level = level.chunks_exact(2).map(|c| 0.5 * (c[0] + c[1])).collect();
    }
    energy + level[0]
}
#[differentiable]
fn refine(p: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for w in p.windows(2) {
        out.push(0.75 * w[0] + 0.25 * w[1]);
        out.push(0.25 * w[0] + 0.75 * w[1]);
    }
    out
}
#[differentiable]
fn chaikin(x: &[f64]) -> f64 {
    let mut p = x.to_vec();
    for _ in 0..2 {
        p = refine(&p);
    }
    p.iter().enumerate().map(|(i, v)| v * v * (i as f64 + 1.0)).sum()
}
#[differentiable]
fn fibers(x: &[f64]) -> f64 {
    const S: usize = 3;
    let mut a = vec![1.0; S];
    for v in x {
        let next: Vec<f64> = (0..S).map(|j| a[j] * v + a[(j + 1) % S]).collect();
        a = next;
    }
    a.iter().sum()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Walk {
    x: Vec<f64>,
    v: Vec<f64>,
    t: f64,
}
#[differentiable]
impl Walk {
    fn next(&self, h: f64) -> Walk {
        Walk {
            x: self.x.iter().zip(&self.v).map(|(x, v)| x + h * v).collect(),
            v: self.v.iter().zip(&self.x).map(|(v, x)| v - h * x).collect(),
            t: self.t + h,
        }
    }
    fn drift(&mut self, h: f64) {
        for _ in 0..2 {
            self.x = advanced(&self.x, &self.v, h);
        }
    }
}
#[differentiable]
fn advanced(x: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + h * v).collect()
}
#[differentiable]
fn walked(x: &[f64]) -> f64 {
    let mut w = Walk { x: x.to_vec(), v: vec![1.0; x.len()], t: 0.0 };
    for k in 0..4 {
        w = w.next(0.1);
        w.x = advanced(&w.x, &w.v, 0.05);
        if k % 2 == 0 {
            w.drift(0.1);
        }
    }
    let mut y = advanced(x, &w.v, 0.3);
    for _ in 0..3 {
        y = advanced(&y, &w.x, 0.1);
        y[0] *= 1.1;
    }
    let mut rows = vec![x.to_vec(); 2];
    for _ in 0..2 {
        let next: Vec<Vec<f64>> = rows.iter().map(|r| advanced(r, x, 0.2)).collect();
        rows = next;
    }
    w.x.iter().map(|x| x * x).sum::<f64>() + w.t + y[0] * y[1] + rows[1][0] * rows[0][1]
}

#[differentiable]
fn shrinks(x: &[f64], n: usize) -> f64 {
    let mut y = x.to_vec();
    let m = n;
    for _ in 0..2 {
        y = y[..m].to_vec();
        y[0] += 1.0;
    }
    y.iter().sum()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Net {
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}
#[differentiable]
impl Net {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.w
            .iter()
            .zip(&self.b)
            .map(|(r, b)| tanh(r.iter().zip(x).map(|(a, c)| a * c).sum::<f64>() + b))
            .collect()
    }
}
#[differentiable]
fn matmul(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let m = b[0].len();
    a.iter()
        .map(|row| (0..m).map(|j| row.iter().zip(b).map(|(x, r)| x * r[j]).sum()).collect())
        .collect()
}
#[differentiable]
fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a[0].len()).map(|j| a.iter().map(|r| r[j]).collect()).collect()
}
#[differentiable]
fn batch(x: &[f64]) -> f64 {
    let net = Net {
        w: vec![vec![x[0], x[1]], vec![x[2], 0.5], vec![0.1, x[3]]],
        b: vec![0.1, 0.2, x[0]],
    };
    let data = vec![vec![0.1, 0.2], vec![0.3, -0.4]];
    let out: Vec<Vec<f64>> = data.iter().map(|d| net.forward(d)).collect();
    let scaled: Vec<Vec<f64>> =
        out.iter().map(|r| r.iter().zip(&net.b).map(|(a, b)| a * b + 1.0).collect()).collect();
    let g = matmul(&transpose(&scaled), &out);
    let mut p = g.clone();
    for _ in 0..2 {
        p = matmul(&p, &g);
    }
    let mean = scaled
        .iter()
        .fold(vec![0.0; 3], |acc, r| acc.iter().zip(r).map(|(a, b)| a + b / 2.0).collect());
    p.iter().map(|r| r.iter().sum::<f64>()).sum::<f64>() + mean.iter().product::<f64>()
}
#[differentiable]
fn prefix_rows(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> =
        (1..4).map(|k| (1..3).map(|j| x[0] * (j * k) as f64).collect()).collect();
    let w: Vec<Vec<f64>> = x.windows(2).map(|w| w.iter().map(|v| v * v).collect()).collect();
    rows.iter().flatten().sum::<f64>() * w[0][1] + w.iter().map(|r| r[0] * r[1]).sum::<f64>()
}
#[differentiable]
fn empty_rows(x: &[f64]) -> f64 {
    let none: Vec<Vec<f64>> =
        x.iter().skip(10).map(|v| (0..2).map(|j| v * j as f64).collect()).collect();
    none.len() as f64 + x[0]
}
#[differentiable]
fn ragged(x: &[f64]) -> Vec<Vec<f64>> {
    (0..3).map(|i| (0..i + 1).map(|j| x[j]).collect()).collect()
}

// A recurrent network.
#[derive(Data, Clone, Debug, PartialEq)]
struct Gate {
    w: Vec<Vec<f64>>,
    u: Vec<f64>,
    b: Vec<f64>,
}
#[derive(Data, Clone, Debug, PartialEq)]
struct Lstm {
    input: Gate,
    forget: Gate,
    output: Gate,
    cell: Gate,
}
#[derive(Data, Clone, Debug, PartialEq)]
struct Memory {
    h: Vec<f64>,
    c: Vec<f64>,
}
#[differentiable]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}
#[differentiable]
impl Gate {
    fn new(p: &[f64], n: usize) -> Gate {
        Gate {
            w: p[..n * n].chunks_exact(n).map(|r| r.to_vec()).collect(),
            u: p[n * n..n * n + n].to_vec(),
            b: p[n * n + n..].to_vec(),
        }
    }
    fn apply(&self, h: &[f64], x: f64) -> Vec<f64> {
        self.w
            .iter()
            .zip(self.u.iter().zip(&self.b))
            .map(|(row, (u, b))| row.iter().zip(h).map(|(w, h)| w * h).sum::<f64>() + u * x + b)
            .collect()
    }
}
#[differentiable]
impl Lstm {
    fn step(&self, m: &Memory, x: f64) -> Memory {
        let i = self.input.apply(&m.h, x);
        let f = self.forget.apply(&m.h, x);
        let o = self.output.apply(&m.h, x);
        let g = self.cell.apply(&m.h, x);
        let n = m.c.len();
        let mut c = vec![0.0; n];
        for k in 0..n {
            c[k] = sigmoid(f[k]) * m.c[k] + sigmoid(i[k]) * tanh(g[k]);
        }
        let h = c.iter().zip(&o).map(|(c, o)| sigmoid(*o) * tanh(*c)).collect();
        Memory { h, c }
    }
}
#[differentiable]
fn lstm(x: &[f64]) -> f64 {
    const H: usize = 2;
    const P: usize = H * H + 2 * H;
    let net = Lstm {
        input: Gate::new(&x[..P], H),
        forget: Gate::new(&x[P..2 * P], H),
        output: Gate::new(&x[2 * P..3 * P], H),
        cell: Gate::new(&x[3 * P..], H),
    };
    let mut m = Memory { h: vec![0.0; H], c: vec![0.0; H] };
    let mut loss = 0.0;
    for (x, y) in [0.1, 0.5, -0.3].iter().zip([0.5, -0.3, 0.8]) {
        m = net.step(&m, *x);
        loss += (m.h.iter().sum::<f64>() - y).powi(2);
    }
    loss
}
// Least squares by reflections.
#[differentiable]
fn householder(a: &mut Vec<Vec<f64>>, b: &mut Vec<f64>) {
    let (m, n) = (a.len(), a[0].len());
    for k in 0..n {
        let norm = (k..m).map(|i| a[i][k] * a[i][k]).sum::<f64>().sqrt();
        let alpha = if a[k][k] > 0.0 { -norm } else { norm };
        let mut v: Vec<f64> = (k..m).map(|i| a[i][k]).collect();
        v[0] -= alpha;
        let vv: f64 = v.iter().map(|x| x * x).sum();
        if vv == 0.0 {
            continue;
        }
        for j in k..n {
            let s = 2.0 * v.iter().enumerate().map(|(i, x)| x * a[k + i][j]).sum::<f64>() / vv;
            for (i, x) in v.iter().enumerate() {
                a[k + i][j] -= s * x;
            }
        }
        let s = 2.0 * v.iter().zip(&b[k..]).map(|(x, y)| x * y).sum::<f64>() / vv;
        for (x, y) in v.iter().zip(b[k..].iter_mut()) {
            *y -= s * x;
        }
    }
}
#[differentiable]
fn back_substitute(r: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let n = r[0].len();
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let s: f64 = r[i][i + 1..].iter().zip(&x[i + 1..]).map(|(a, b)| a * b).sum();
        x[i] = (y[i] - s) / r[i][i];
    }
    x
}
#[differentiable]
fn least_squares(x: &[f64]) -> f64 {
    let mut a: Vec<Vec<f64>> = (0..4)
        .map(|i| (0..3).map(|j| x[(i + j) % x.len()] + if i == j { 2.0 } else { 0.0 }).collect())
        .collect();
    let mut b = vec![1.0, 2.0, 3.0, x[0]];
    householder(&mut a, &mut b);
    let s = back_substitute(&a, &b);
    s.iter().map(|v| v * v).sum::<f64>() + s.iter().cloned().fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn lists_that_loops_assign() {
    holds!(stepped at [0.3, 0.5, -0.2, 0.1], [0.3]);
    holds!(before at [0.3, 0.5, -0.2]; 1);
    holds!(before at [0.3, 0.5, -0.2, 0.1, 0.7, 0.2]; 2);
    holds!(casteljau_loop at [0.3], [0.3, 0.5, -0.2, 0.1]);
    holds!(haar at [0.3, 0.5], [0.3, 0.5, -0.2, 0.1]);
    holds!(chaikin at [0.3, 0.5, -0.2]);
    holds!(fibers at [0.3, 0.5, -0.2]);
    holds!(walked at [1.0, 0.4]);
    holds!(lstm at std::array::from_fn::<f64, 32, _>(|i| 0.5 * (i as f64 * 1.7).sin()));
}

#[test]
fn rows_that_functions_and_iterators_give() {
    holds!(batch at [0.7, 0.4, 1.5, -0.3]);
    holds!(prefix_rows at [0.7, 0.4, 1.5, -0.3]);
    holds!(empty_rows at [0.7, 0.4]);
    holds!(least_squares at [0.3, 0.5, -0.2, 1.1, 0.9]);
}

#[test]
fn lengths_that_are_not_those_before_are_errors_with_their_place() {
    let error = shrinks::gradient(&[1.0, 2.0], 1).unwrap_err().to_string();
    assert!(error.starts_with("R04: a list has another length than the one before: "), "{error}");
    assert!(error.contains("lengths.rs:"), "{error}");
    // Rows that are given may have different lengths.
    assert_eq!(ragged::value(&[1.0, 2.0, 3.0]).unwrap(), ragged(&[1.0, 2.0, 3.0]));
    assert_eq!(shrinks::value(&[1.0, 2.0], 2).unwrap(), shrinks(&[1.0, 2.0], 2));
}
