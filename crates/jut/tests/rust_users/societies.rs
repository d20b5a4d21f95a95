//! Functions of economies, epidemics and materials, in which many ways of writing meet.

use jut::math::{exp, log, tanh};
use jut::{Data, differentiable};

// Economies.

/// ARMA by conditional sums, the parameters kept in bounds.
#[differentiable]
fn arma(x: &[f64]) -> Result<f64, String> {
    let [phi, theta, sigma] = match x {
        [a, b, c, ..] => [tanh(*a), tanh(*b), exp(*c)],
        _ => return Err("three parameters".to_string()),
    };
    let y = x.get(3..).filter(|y| y.len() > 1).ok_or("two observations")?;
    let mut last = 0.0;
    let mut ll = 0.0;
    for pair in y.windows(2) {
        let e = pair[1] - phi * pair[0] - theta * last;
        ll -= 0.5 * (e / sigma).powi(2) + log(sigma);
        last = e;
    }
    Ok(ll)
}

#[differentiable]
fn arma_or(x: &[f64]) -> f64 {
    arma(x).unwrap_or(-100.0)
}

/// A model of overlapping generations until it does not move, then the share of the old.
#[differentiable]
fn generations(x: &[f64]) -> f64 {
    let (alpha, beta) = (x[0].clamp(0.05, 0.95), x[1]);
    let mut k: f64 = 0.1;
    let mut rounds = 0u32;
    let steady = loop {
        let wage = (1.0 - alpha) * exp(alpha * log(k));
        let next = beta / (1.0 + beta) * wage / (1.0 + x[2]);
        rounds += 1;
        if (next - k).abs() <= 1e-10 * k || rounds > 60 {
            break next;
        }
        k = next;
    };
    let r = alpha * exp((alpha - 1.0) * log(steady));
    r * steady / exp(alpha * log(steady)) + steady * rounds.min(1) as f64
}

/// Instruments: two stages of least squares by a solver with pivots.
#[differentiable]
fn two_stages(x: &[f64]) -> f64 {
    fn regress(z: &[[f64; 2]], y: &[f64]) -> [f64; 2] {
        let mut m = [[0.0; 3]; 2];
        for (row, y) in z.iter().zip(y) {
            for i in 0..2 {
                for j in 0..2 {
                    m[i][j] += row[i] * row[j];
                }
                m[i][2] += row[i] * y;
            }
        }
        if m[0][0].abs() < m[1][0].abs() {
            m.swap(0, 1);
        }
        let f = m[1][0] / m[0][0];
        for j in 0..3 {
            m[1][j] -= f * m[0][j];
        }
        let b = m[1][2] / m[1][1];
        [(m[0][2] - m[0][1] * b) / m[0][0], b]
    }
    let n = x.len() / 3;
    let (z, rest) = x.split_at(n);
    let (d, y) = rest.split_at(n);
    let rows: Vec<[f64; 2]> = z.iter().map(|&z| [1.0, z]).collect();
    let first = regress(&rows, d);
    let fitted: Vec<[f64; 2]> = z.iter().map(|z| [1.0, first[0] + first[1] * z]).collect();
    let second = regress(&fitted, y);
    second[1] + 0.1 * second[0]
}

// Epidemics.

#[derive(Data, Clone, Debug, PartialEq)]
struct Epidemic {
    groups: Vec<f64>,
    contacts: [[f64; 2]; 2],
    recovery: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Policy {
    None,
    Distancing(f64),
    Vaccination { rate: f64, from: usize },
}

#[differentiable]
impl Policy {
    fn factor(&self, day: usize) -> f64 {
        match *self {
            Policy::Distancing(f) if (2..=6).contains(&day) => f,
            _ => 1.0,
        }
    }
    fn protects(&self, day: usize) -> f64 {
        if let Policy::Vaccination { rate, from } = *self
            && day >= from
        {
            rate
        } else {
            0.0
        }
    }
}

#[differentiable]
fn outbreak(e: &Epidemic, policies: &[Policy]) -> f64 {
    let mut infected: Vec<f64> = e.groups.iter().map(|g| 0.01 * g).collect();
    let mut susceptible: Vec<f64> = e.groups.iter().zip(&infected).map(|(g, i)| g - i).collect();
    let mut peak = 0.0f64;
    for day in 0..8 {
        let factor: f64 = policies.iter().map(|p| p.factor(day)).product();
        let protected: f64 = policies.iter().map(|p| p.protects(day)).sum();
        let force: Vec<f64> = (0..2)
            .map(|a| {
                factor * (0..2).map(|b| e.contacts[a][b] * infected[b] / e.groups[b]).sum::<f64>()
            })
            .collect();
        for ((s, i), f) in susceptible.iter_mut().zip(infected.iter_mut()).zip(&force) {
            let new = *s * (1.0 - exp(-f));
            *s -= new + protected * *s;
            *i += new - e.recovery * *i;
        }
        peak = peak.max(infected.iter().sum());
    }
    peak
}

#[differentiable]
fn outbreaks(x: &[f64]) -> f64 {
    let e = Epidemic {
        groups: vec![10.0, 5.0],
        contacts: [[x[0], x[1]], [x[1], x[0] * 1.5]],
        recovery: x[2],
    };
    let plans = [
        vec![Policy::None],
        vec![Policy::Distancing(x[3]), Policy::Vaccination { rate: 0.05, from: 3 }],
    ];
    plans.iter().map(|p| outbreak(&e, p)).sum()
}

/// Renewal with delays as a convolution of rows that grow.
#[differentiable]
fn renewal(x: &[f64]) -> f64 {
    let (first, rates) = x.split_first().unwrap();
    let serial = [0.2, 0.5, 0.3];
    let mut cases = vec![*first];
    for r in rates {
        let pressure = cases.iter().rev().zip(&serial).map(|(c, w)| c * w).sum::<f64>();
        let next = r * pressure;
        cases.push(if next > 5.0 { 5.0 + tanh(next - 5.0) } else { next });
    }
    let weeks = cases.chunks_exact(2);
    let rest = weeks.remainder();
    weeks.map(|w| w[0] * w[1]).sum::<f64>() + rest.iter().sum::<f64>()
}

// Materials.

/// A return map of plasticity with hardening, along a path of strains.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Steel {
    young: f64,
    yield_stress: f64,
    hardening: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct History {
    plastic: f64,
    back: f64,
    alpha: f64,
}

#[differentiable]
impl Steel {
    fn respond(&self, h: &mut History, strain: f64) -> f64 {
        let trial = self.young * (strain - h.plastic);
        let xi = trial - h.back;
        let f = xi.abs() - (self.yield_stress + self.hardening * h.alpha);
        if f <= 0.0 {
            return trial;
        }
        let gamma = f / (self.young + 1.5 * self.hardening);
        h.plastic += gamma * xi.signum();
        h.back += 0.5 * self.hardening * gamma * xi.signum();
        h.alpha += gamma;
        trial - self.young * gamma * 1f64.copysign(xi)
    }
}

#[differentiable]
fn hysteresis(x: &[f64]) -> f64 {
    let steel = Steel { young: x[0], yield_stress: x[1], hardening: x[2] };
    let mut h = History::default();
    let mut work = 0.0;
    let (mut last, mut stress) = (0.0, 0.0);
    for strain in [0.1, 0.3, 0.5, 0.2, -0.2, -0.4, 0.0] {
        let now = steel.respond(&mut h, strain);
        work += 0.5 * (now + stress) * (strain - last);
        (last, stress) = (strain, now);
    }
    work + h.alpha
}

/// A truss: stiffness put together, supports removed, conjugate gradients.
#[differentiable]
fn truss(x: &[f64]) -> f64 {
    let nodes = [[0.0, 0.0], [1.0, 0.0], [0.5, x[0]]];
    let bars = [(0usize, 1usize), (1, 2), (0, 2)];
    let free = [2usize, 4, 5];
    let mut k = [[0.0; 6]; 6];
    for (&(a, b), area) in bars.iter().zip(&x[1..4]) {
        let d = [nodes[b][0] - nodes[a][0], nodes[b][1] - nodes[a][1]];
        let l = d[0].hypot(d[1]);
        let dir = [d[0] / l, d[1] / l, -d[0] / l, -d[1] / l];
        let at = [2 * b, 2 * b + 1, 2 * a, 2 * a + 1];
        for (i, &p) in at.iter().enumerate() {
            for (j, &q) in at.iter().enumerate() {
                k[p][q] += area / l * dir[i] * dir[j];
            }
        }
    }
    let load = [0.0, 0.3, -1.0];
    let times = |v: &[f64; 3]| -> [f64; 3] {
        let mut out = [0.0; 3];
        for (i, &r) in free.iter().enumerate() {
            out[i] = free.iter().zip(v).map(|(&c, v)| k[r][c] * v).sum();
        }
        out
    };
    let mut u = [0.0; 3];
    let mut r = load;
    let mut p = r;
    let mut rr: f64 = r.iter().map(|v| v * v).sum();
    for _ in 0..3 {
        if rr < 1e-20 {
            break;
        }
        let kp = times(&p);
        let alpha = rr / p.iter().zip(&kp).map(|(a, b)| a * b).sum::<f64>();
        for ((u, r), (p, kp)) in u.iter_mut().zip(r.iter_mut()).zip(p.iter().zip(&kp)) {
            *u += alpha * p;
            *r -= alpha * kp;
        }
        let next: f64 = r.iter().map(|v| v.powi(2)).sum();
        let beta = next / rr;
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
        rr = next;
    }
    u.iter().zip(&load).map(|(u, f)| u * f).sum()
}

/// Verlet with lists of neighbours that are made anew.
#[differentiable]
fn neighbours(x: &[f64]) -> f64 {
    let n = x.len();
    let mut at = x.to_vec();
    let mut v = vec![0.0; n];
    let mut list: Vec<(usize, usize)> = Vec::new();
    for step in 0..4 {
        if step % 2 == 0 {
            list.clear();
            for i in 0..n {
                for j in i + 1..n {
                    if (at[i] - at[j]).abs() < 1.6 {
                        list.push((i, j));
                    }
                }
            }
        }
        let mut f = vec![0.0; n];
        for &(i, j) in list.iter() {
            let d = at[i] - at[j];
            let s = 1.0 / (d * d + 0.1);
            let pull = 2.0 * d * s * s - 0.5 * d * s;
            f[i] += pull;
            f[j] -= pull;
        }
        for ((at, v), f) in at.iter_mut().zip(v.iter_mut()).zip(f) {
            *v += 0.1 * f;
            *at += 0.1 * *v;
        }
    }
    at.iter().zip(&v).map(|(a, v)| a * a + v * v).sum::<f64>() + list.len() as f64
}

#[test]
fn economies() {
    everywhere! {
        arma_or at [0.3, -0.2, 0.1, 1.0, 0.5, 0.8], [0.3, -0.2, 0.1, 1.0], [1.0];
        generations at [0.33, 0.9, 0.2];
        two_stages at [1.0, 2.0, 3.5, 0.9, 2.2, 3.1, 2.0, 4.5, 6.0];
    }
}

#[test]
fn epidemics() {
    everywhere! {
        outbreaks at [0.8, 0.3, 0.2, 0.6];
        renewal at [1.0, 1.5, 0.8, 9.0, 1.2];
    }
}

#[test]
fn materials() {
    everywhere! {
        hysteresis at [10.0, 2.0, 1.5];
        truss at [0.8, 1.0, 1.5, 0.7];
        neighbours at [0.0, 1.0, 2.4, 3.1];
    }
}
