//! Handwritings: sparse matrices and their solvers, lenses, arms, circuits, states of voices, mixtures and scores of matches.

use jut::math::{atan2, cos, exp, hypot, lgamma, log, sin, tanh};
use jut::{Data, differentiable};

// A sparse matrix by rows, and conjugate gradients with the diagonal before them.
#[derive(Data, Clone, Debug, PartialEq)]
struct Csr {
    indptr: Vec<usize>,
    indices: Vec<usize>,
    data: Vec<f64>,
}

#[differentiable]
impl Csr {
    fn matvec(&self, x: &[f64]) -> Vec<f64> {
        self.indptr
            .windows(2)
            .map(|w| {
                let (lo, hi) = (w[0], w[1]);
                self.indices[lo..hi].iter().zip(&self.data[lo..hi]).map(|(&j, a)| a * x[j]).sum()
            })
            .collect()
    }

    fn diagonal(&self) -> Vec<f64> {
        let n = self.indptr.len() - 1;
        let mut d = vec![0.0; n];
        for i in 0..n {
            for k in self.indptr[i]..self.indptr[i + 1] {
                if self.indices[k] == i {
                    d[i] = self.data[k];
                }
            }
        }
        d
    }
}

#[differentiable]
fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}

#[differentiable]
fn sparse_solve(x: &[f64]) -> f64 {
    let n = x.len();
    let mut indptr = vec![0];
    let mut indices = Vec::new();
    let mut data = Vec::new();
    for i in 0..n {
        if i > 0 {
            indices.push(i - 1);
            data.push(-1.0);
        }
        indices.push(i);
        data.push(2.5 + x[i] * x[i]);
        if i + 1 < n {
            indices.push(i + 1);
            data.push(-1.0);
        }
        indptr.push(indices.len());
    }
    let a = Csr { indptr, indices, data };
    let m_inv: Vec<f64> = a.diagonal().iter().map(|d| 1.0 / d).collect();
    let b: Vec<f64> = x.iter().map(|v| 1.0 + v).collect();
    let mut u = vec![0.0; n];
    let mut r = b.clone();
    let mut z: Vec<f64> = r.iter().zip(&m_inv).map(|(r, m)| r * m).collect();
    let mut p = z.clone();
    let mut rz = inner(&r, &z);
    for _ in 0..2 * n {
        if rz.sqrt() < 1e-13 {
            break;
        }
        let ap = a.matvec(&p);
        let alpha = rz / inner(&p, &ap);
        u.iter_mut().zip(&p).for_each(|(u, p)| *u += alpha * p);
        r.iter_mut().zip(&ap).for_each(|(r, q)| *r -= alpha * q);
        z = r.iter().zip(&m_inv).map(|(r, m)| r * m).collect();
        let rz_new = inner(&r, &z);
        let beta = rz_new / rz;
        p = z.iter().zip(&p).map(|(z, p)| z + beta * p).collect();
        rz = rz_new;
    }
    inner(&u, &b)
}

// Krylov's basis and rotations: columns of growing lengths.
#[differentiable]
fn operator(v: &[f64], s: f64) -> Vec<f64> {
    let n = v.len();
    (0..n).map(|i| (3.0 + s) * v[i] - v[(i + 1) % n] + 0.5 * s * v[(i + n - 1) % n]).collect()
}

#[differentiable]
fn gmres(x: &[f64]) -> f64 {
    let s = x[0];
    let b = &x[1..];
    let m = 3;
    let beta = inner(b, b).sqrt();
    let mut basis = vec![b.iter().map(|v| v / beta).collect::<Vec<f64>>()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut rotations: Vec<(f64, f64)> = Vec::new();
    let mut g = vec![beta];
    for j in 0..m {
        let mut w = operator(&basis[j], s);
        let mut h = Vec::with_capacity(j + 2);
        for q in &basis {
            let hij = inner(&w, q);
            h.push(hij);
            for (wk, qk) in w.iter_mut().zip(q) {
                *wk -= hij * qk;
            }
        }
        let norm = inner(&w, &w).sqrt();
        for (i, &(c, sn)) in rotations.iter().enumerate() {
            let t = c * h[i] + sn * h[i + 1];
            h[i + 1] = -sn * h[i] + c * h[i + 1];
            h[i] = t;
        }
        let r = hypot(h[j], norm);
        let (c, sn) = (h[j] / r, norm / r);
        h[j] = r;
        rotations.push((c, sn));
        let last = g[j];
        g[j] = c * last;
        g.push(-sn * last);
        columns.push(h);
        basis.push(w.iter().map(|v| v / norm).collect());
    }
    let mut y = vec![0.0; m];
    for i in (0..m).rev() {
        y[i] = g[i];
        for k in i + 1..m {
            y[i] -= columns[k][i] * y[k];
        }
        y[i] /= columns[i][i];
    }
    g[m].abs() + y.iter().sum::<f64>()
}

// Optics by matrices of two by two.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Abcd([[f64; 2]; 2]);

#[differentiable]
impl std::ops::Mul for Abcd {
    type Output = Abcd;
    fn mul(self, rhs: Abcd) -> Abcd {
        let mut out = [[0.0; 2]; 2];
        for (i, row) in out.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = self.0[i][0] * rhs.0[0][j] + self.0[i][1] * rhs.0[1][j];
            }
        }
        Abcd(out)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Optic {
    Space(f64),
    ThinLens { focal: f64 },
    Interface { from: f64, to: f64 },
}

#[differentiable]
impl From<Optic> for Abcd {
    fn from(o: Optic) -> Self {
        Abcd(match o {
            Optic::Space(d) => [[1.0, d], [0.0, 1.0]],
            Optic::ThinLens { focal } => [[1.0, 0.0], [-1.0 / focal, 1.0]],
            Optic::Interface { from, to } => [[1.0, 0.0], [0.0, from / to]],
        })
    }
}

#[differentiable]
fn beam_waist(x: &[f64]) -> f64 {
    let bench = [
        Optic::Space(x[0]),
        Optic::ThinLens { focal: x[1] },
        Optic::Space(0.3),
        Optic::Interface { from: 1.0, to: x[2] },
        Optic::Space(0.2),
    ];
    let identity = Abcd([[1.0, 0.0], [0.0, 1.0]]);
    let Abcd([[a, b], [c, d]]) = bench.iter().fold(identity, |m, &o| Abcd::from(o) * m);
    let rayleigh = 0.7;
    let denominator = c * c * rayleigh * rayleigh + d * d;
    let re = (a * c * rayleigh * rayleigh + b * d) / denominator;
    let im = rayleigh * (a * d - b * c) / denominator;
    im + re * re
}

// An arm by the parameters of Denavit and Hartenberg.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Transform {
    m: [[f64; 4]; 4],
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Link {
    a: f64,
    alpha: f64,
    d: f64,
}

#[differentiable]
impl Transform {
    const IDENTITY: Transform = Transform {
        m: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
    };

    fn translation(&self) -> [f64; 3] {
        [self.m[0][3], self.m[1][3], self.m[2][3]]
    }

    fn then(&self, other: &Transform) -> Transform {
        Transform {
            m: std::array::from_fn(|i| {
                std::array::from_fn(|j| (0..4).map(|k| self.m[i][k] * other.m[k][j]).sum())
            }),
        }
    }
}

#[differentiable]
impl Link {
    fn transform(&self, theta: f64) -> Transform {
        let (st, ct) = (sin(theta), cos(theta));
        let (sa, ca) = (sin(self.alpha), cos(self.alpha));
        Transform {
            m: [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0.0, sa, ca, self.d],
                [0.0, 0.0, 0.0, 1.0],
            ],
        }
    }
}

const ARM: [Link; 3] = [
    Link { a: 0.0, alpha: 1.5708, d: 0.4 },
    Link { a: 0.5, alpha: 0.0, d: 0.0 },
    Link { a: 0.3, alpha: -0.6, d: 0.1 },
];

#[differentiable]
fn arm_tip(x: &[f64]) -> f64 {
    let pose = ARM
        .iter()
        .zip(x)
        .fold(Transform::IDENTITY, |pose, (link, &q)| pose.then(&link.transform(q)));
    let target = [0.5, 0.2, 0.6];
    let tip = pose.translation();
    let missed: f64 = tip.iter().zip(target).map(|(t, g)| (t - g).powi(2)).sum();
    missed.sqrt() + 0.1 * pose.m[2][2]
}

// A list of parts, and the node potentials: conductances are stamped into a matrix.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Part {
    Resistor(usize, usize, f64),
    Current { from: usize, to: usize, amps: f64 },
    Diode { anode: usize, cathode: usize },
}

#[differentiable]
fn eliminate<const N: usize>(a: &mut [[f64; N]; N], b: &mut [f64; N]) -> Option<Vec<f64>> {
    for k in 0..N {
        let pivot = (k..N).max_by(|&i, &j| a[i][k].abs().partial_cmp(&a[j][k].abs()).unwrap())?;
        if a[pivot][k].abs() < 1e-14 {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..N {
            let f = a[i][k] / a[k][k];
            for j in k..N {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    let mut x = [0.0; N];
    for i in (0..N).rev() {
        let s: f64 = (i + 1..N).map(|j| a[i][j] * x[j]).sum();
        x[i] = (b[i] - s) / a[i][i];
    }
    Some(x.to_vec())
}

#[differentiable]
fn operating_point(x: &[f64]) -> f64 {
    let netlist = [
        Part::Current { from: 0, to: 1, amps: x[0] },
        Part::Resistor(1, 2, x[1]),
        Part::Resistor(2, 0, x[2]),
        Part::Diode { anode: 2, cathode: 0 },
        Part::Resistor(1, 0, 50.0),
    ];
    let mut v = [0.0f64; 3];
    for _newton in 0..12 {
        let mut g = [[0.0; 2]; 2];
        let mut i = [0.0; 2];
        let mut stamp = |p: usize, q: usize, conductance: f64| {
            for (r, c, s) in [(p, p, 1.0), (q, q, 1.0), (p, q, -1.0), (q, p, -1.0)] {
                if r > 0 && c > 0 {
                    g[r - 1][c - 1] += s * conductance;
                }
            }
        };
        for part in &netlist {
            match *part {
                Part::Resistor(p, q, ohms) => stamp(p, q, 1.0 / ohms),
                Part::Diode { anode, cathode } => {
                    let vd = (v[anode] - v[cathode]).min(0.8);
                    stamp(anode, cathode, 1e-6 / 0.05 * exp(vd / 0.05))
                }
                Part::Current { .. } => (),
            }
        }
        for part in netlist {
            match part {
                Part::Current { from, to, amps } => {
                    if from > 0 {
                        i[from - 1] -= amps;
                    }
                    if to > 0 {
                        i[to - 1] += amps;
                    }
                }
                Part::Diode { anode, .. } => {
                    let vd = v[anode].min(0.8);
                    let gd = 1e-6 / 0.05 * exp(vd / 0.05);
                    i[anode - 1] -= 1e-6 * (exp(vd / 0.05) - 1.0) - gd * vd;
                }
                _ => {}
            }
        }
        let solution = eliminate(&mut g, &mut i).unwrap();
        v[1..].copy_from_slice(&solution);
    }
    v[2] * 10.0 + v[1]
}

// A voice of a synthesiser: an envelope as a machine of states.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Stage {
    Idle,
    Attack(f64),
    Decay { level: f64 },
    Sustain,
    Release(f64),
}

#[derive(Clone, Copy, PartialEq, Data, Debug)]
enum Key {
    Down,
    Up,
    Nothing,
}

#[differentiable]
fn envelope_of_voice(x: &[f64]) -> f64 {
    let (attack, decay, sustain, release) = (x[0], x[1], x[2], x[3]);
    let mut stage = Stage::Idle;
    let mut phase = 0.0;
    let mut loud = 0.0;
    for n in 0..30 {
        let key = match n {
            2 => Key::Down,
            20 => Key::Up,
            _ => Key::Nothing,
        };
        stage = match (stage, key) {
            (_, Key::Down) => Stage::Attack(0.0),
            (Stage::Attack(l), Key::Up) | (Stage::Decay { level: l }, Key::Up) => Stage::Release(l),
            (Stage::Sustain, Key::Up) => Stage::Release(sustain),
            (Stage::Attack(l), _) if l + attack >= 1.0 => Stage::Decay { level: 1.0 },
            (Stage::Attack(l), _) => Stage::Attack(l + attack),
            (Stage::Decay { level }, _) if level - decay <= sustain => Stage::Sustain,
            (Stage::Decay { level }, _) => Stage::Decay { level: level - decay },
            (Stage::Release(l), _) if l < 1e-3 => Stage::Idle,
            (Stage::Release(l), _) => Stage::Release(l * (1.0 - release)),
            (same, _) => same,
        };
        let level = match stage {
            Stage::Idle => 0.0,
            Stage::Sustain => sustain,
            Stage::Attack(l) | Stage::Release(l) => l,
            Stage::Decay { level } => level,
        };
        phase += 0.3;
        let sample = level * sin(phase + 2.0 * level * sin(1.5 * phase));
        loud += sample * sample;
    }
    loud
}

// A mixture whose parameters are taken from one list, one after the other.
#[differentiable]
fn mixture_network(x: &[f64]) -> f64 {
    const HIDDEN: usize = 2;
    const K: usize = 2;
    let mut rest = x;
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at(n);
        rest = tail;
        head
    };
    let w1 = take(HIDDEN);
    let b1 = take(HIDDEN);
    let w2 = take(3 * K * HIDDEN);
    let b2 = take(3 * K);
    let observations = [(0.1, 0.4), (0.5, -0.2), (0.9, 0.8)];
    observations
        .iter()
        .map(|&(input, target)| {
            let hidden: Vec<f64> = w1.iter().zip(b1).map(|(w, b)| tanh(w * input + b)).collect();
            let out: Vec<f64> = w2
                .chunks_exact(HIDDEN)
                .zip(b2)
                .map(|(row, b)| b + row.iter().zip(&hidden).map(|(w, h)| w * h).sum::<f64>())
                .collect();
            let [logits, means, log_scales] = [&out[..K], &out[K..2 * K], &out[2 * K..]];
            let z = logits.iter().map(|l| exp(*l)).sum::<f64>();
            let p: f64 = (0..K)
                .map(|k| {
                    let u = (target - means[k]) / exp(log_scales[k]);
                    exp(logits[k]) / z * exp(-0.5 * u * u - log_scales[k])
                })
                .sum();
            -log(p)
        })
        .sum::<f64>()
}

// Goals of teams.
type Match = (usize, usize, u32, u32);
const RESULTS: &[Match] = &[(0, 1, 2, 1), (1, 2, 0, 0), (2, 0, 1, 3), (0, 2, 1, 0), (1, 0, 1, 1)];

#[differentiable]
fn tau(home: u32, away: u32, lambda: f64, mu: f64, rho: f64) -> f64 {
    match (home, away) {
        (0, 0) => 1.0 - lambda * mu * rho,
        (0, 1) => 1.0 + lambda * rho,
        (1, 0) => 1.0 + mu * rho,
        (1, 1) => 1.0 - rho,
        _ => 1.0,
    }
}

#[differentiable]
fn goals(x: &[f64]) -> f64 {
    let [advantage, rho, teams @ ..] = x else { return 0.0 };
    let (attack, defence) = teams.split_at(teams.len() / 2);
    let log_poisson = |k: u32, rate: f64| k as f64 * log(rate) - rate - lgamma(k as f64 + 1.0);
    RESULTS.iter().enumerate().fold(0.0, |total, (age, &(h, a, gh, ga))| {
        let lambda = exp(attack[h] - defence[a] + advantage);
        let mu = exp(attack[a] - defence[h]);
        let weight = 0.95f64.powi(age as i32);
        total
            + weight
                * (log(tau(gh, ga, lambda, mu, *rho))
                    + log_poisson(gh, lambda)
                    + log_poisson(ga, mu))
    })
}

// The pull of a body whose section is a polygon, by its corners.
#[differentiable]
fn anomaly(x: &[f64]) -> f64 {
    let density = x[0];
    let corners: Vec<(f64, f64)> = x[1..].chunks_exact(2).map(|c| (c[0], c[1])).collect();
    let stations = [-1.0, 0.0, 1.0];
    let mut sum = 0.0;
    for &s in &stations {
        let g: f64 = corners
            .iter()
            .zip(corners.iter().cycle().skip(1))
            .map(|(&(x1, z1), &(x2, z2))| {
                let (x1, x2) = (x1 - s, x2 - s);
                let (dx, dz) = (x2 - x1, z2 - z1);
                if dx == 0.0 && dz == 0.0 {
                    return 0.0;
                }
                let r1 = f64::sqrt(x1 * x1 + z1 * z1);
                let r2 = f64::sqrt(x2 * x2 + z2 * z2);
                let t = atan2(z1, x1) - atan2(z2, x2);
                let a = x1 * z2 - x2 * z1;
                a / (dx * dx + dz * dz) * (dx * t + dz * log(r2 / r1))
            })
            .sum();
        sum += g * density / (1.0 + s.abs());
    }
    sum
}

#[test]
fn sparse_rows_krylov_and_benches() {
    everywhere! {
        sparse_solve at [0.3, -0.8, 1.2, 0.1], [0.5], [];
        gmres at [0.4, 1.0, -0.3, 0.8, 0.2], [0.1, 1.0, 2.0, -1.0, 0.4, 0.9], [];
        beam_waist at [0.5, 0.25, 1.4], [0.1, -0.4, 1.0], [0.5];
        arm_tip at [0.3, -0.5, 0.9], [0.1, 0.2], [0.1, 0.2, 0.3, 9.0];
    }
}

#[test]
fn circuits_voices_mixtures_and_goals() {
    everywhere! {
        operating_point at [0.02, 100.0, 300.0], [0.001, 20.0, 50.0], [0.02];
        envelope_of_voice at [0.3, 0.11, 0.52, 0.2], [0.04, 0.1, 0.73, 0.3], [0.45, 0.33, 0.2, 0.9], [0.1];
        mixture_network at [
            0.5, -0.3, 0.1, 0.2, 0.3, 0.1, -0.2, 0.4, 0.6, -0.5, 0.2, 0.3, 0.1, 0.4, -0.1, 0.2, 0.0, 0.1, 0.3, -0.2, -0.1, 0.05
        ], [0.5, 0.1];
        goals at [0.3, 0.05, 0.2, 0.1, -0.1, 0.0, 0.15, -0.2], [0.3], [0.1, 0.2, 0.3];
        anomaly at [0.5, -0.5, 0.6, 0.7, 0.8, 0.4, 1.5, -0.3, 1.3], [0.5], [0.5, 0.1, 0.2];
    }
}
