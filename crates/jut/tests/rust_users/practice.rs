//! Functions of robots, medicine, statistics and markets, in which many ways of writing meet.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

// Robotics.

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Pose2 {
    x: f64,
    y: f64,
    heading: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Command {
    Drive { v: f64, w: f64, t: f64 },
    Turn(f64),
    Stop,
}

#[differentiable]
impl Pose2 {
    fn wrapped(angle: f64) -> f64 {
        let a = (angle + PI).rem_euclid(TAU);
        a - PI
    }
    fn apply(&mut self, c: Command) -> f64 {
        match c {
            Command::Drive { v, w, t } if w.abs() < 1e-9 => {
                self.x += v * t * cos(self.heading);
                self.y += v * t * sin(self.heading);
                v.abs() * t
            }
            Command::Drive { v, w, t } => {
                let r = v / w;
                let end = self.heading + w * t;
                self.x += r * (sin(end) - sin(self.heading));
                self.y -= r * (cos(end) - cos(self.heading));
                self.heading = Self::wrapped(end);
                (r * w * t).abs()
            }
            Command::Turn(a) => {
                self.heading = Self::wrapped(self.heading + a);
                0.0
            }
            Command::Stop => 0.0,
        }
    }
}

/// A robot that drives by commands, with the distance it drove.
#[differentiable]
fn drive(x: &[f64]) -> f64 {
    let mut pose = Pose2::default();
    let commands = [
        Command::Drive { v: x[0], w: 0.0, t: 1.5 },
        Command::Turn(FRAC_PI_2 + x[1]),
        Command::Drive { v: x[0] * 0.5, w: x[2], t: 2.0 },
        Command::Stop,
        Command::Drive { v: -x[1], w: -0.3, t: x[0] },
    ];
    let mut path = 0.0;
    'run: for (k, c) in commands.iter().enumerate() {
        path += pose.apply(*c);
        if let (Command::Stop, true) = (c, path > 100.0) {
            break 'run;
        }
        if k == 3 {
            continue 'run;
        }
        path += 0.01 * pose.heading;
    }
    let Pose2 { x: px, y: py, heading } = pose;
    (px * px + py * py).sqrt() + 0.1 * path + heading * heading
}

/// Inverse kinematics of two links by damped steps, with joints that have limits.
#[differentiable]
fn ik_two_links(x: &[f64]) -> f64 {
    const LIMITS: [(f64, f64); 2] = [(-2.5, 2.5), (0.05, 3.0)];
    let &[tx, ty, l1, l2] = x else { return f64::NAN };
    let mut q = [0.3, 0.8];
    let mut best = f64::INFINITY;
    for it in 0..25 {
        let (s1, c1) = (sin(q[0]), cos(q[0]));
        let (s12, c12) = (sin(q[0] + q[1]), cos(q[0] + q[1]));
        let e = [tx - l1 * c1 - l2 * c12, ty - l1 * s1 - l2 * s12];
        let norm = e.iter().map(|v| v * v).sum::<f64>();
        if norm < 1e-16 {
            break;
        }
        best = best.min(norm);
        let j = [[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]];
        let g = [j[0][0] * e[0] + j[1][0] * e[1], j[0][1] * e[0] + j[1][1] * e[1]];
        let lambda = if it < 3 { 0.1 } else { 0.02 };
        let (a, b, d) = (
            j[0][0].powi(2) + j[1][0].powi(2) + lambda,
            j[0][0] * j[0][1] + j[1][0] * j[1][1],
            j[0][1].powi(2) + j[1][1].powi(2) + lambda,
        );
        let det = a * d - b * b;
        let dq = [(d * g[0] - b * g[1]) / det, (a * g[1] - b * g[0]) / det];
        for ((q, d), &(lo, hi)) in q.iter_mut().zip(dq).zip(LIMITS.iter()) {
            *q = (*q + d).clamp(lo, hi);
        }
    }
    q[0] + 2.0 * q[1] + best.sqrt()
}

/// A scan of beams against walls; the nearest hit of each.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Wall {
    from: (f64, f64),
    to: (f64, f64),
}

#[differentiable]
impl Wall {
    fn hit(&self, ox: f64, oy: f64, angle: f64) -> Option<f64> {
        let (dx, dy) = (cos(angle), sin(angle));
        let (ex, ey) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let det = ex * dy - ey * dx;
        if det.abs() < 1e-12 {
            return None;
        }
        let (fx, fy) = (self.from.0 - ox, self.from.1 - oy);
        let t = (ex * fy - ey * fx) / det;
        let s = (dx * fy - dy * fx) / det;
        (t >= 0.0 && (0.0..=1.0).contains(&s)).then_some(t)
    }
}

#[differentiable]
fn scanned(x: &[f64]) -> f64 {
    let walls = [
        Wall { from: (2.0, -3.0), to: (2.0 + x[2], 3.0) },
        Wall { from: (-3.0, 2.5), to: (3.0, 2.5) },
        Wall { from: (-3.0, -2.0), to: (3.0, x[3]) },
    ];
    let measured = [1.9, 2.4, 2.2, 4.0, 3.0, 2.0];
    let mut sse = 0.0;
    let mut missed = 0;
    for (k, m) in measured.iter().enumerate() {
        let angle = k as f64 * TAU / measured.len() as f64 + 0.1;
        let nearest = walls
            .iter()
            .filter_map(|w| w.hit(x[0], x[1], angle))
            .min_by(|a, b| a.partial_cmp(b).unwrap());
        match nearest {
            Some(d) if d < 10.0 => sse += (d - m).powi(2),
            Some(_) | None => missed += 1,
        }
    }
    sse + 0.5 * missed as f64
}

// Medicine.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Dose {
    at: f64,
    amount: f64,
    oral: bool,
}

/// Doses of two kinds into one compartment; the area by the trapezoidal rule, on logarithms while it falls.
#[differentiable]
fn exposure_of_doses(x: &[f64]) -> f64 {
    let (cl, v, ka, f) = (x[0], x[1], x[2], x[3]);
    let ke = cl / v;
    let doses = [
        Dose { at: 0.0, amount: 100.0, oral: false },
        Dose { at: 6.0, amount: 50.0, oral: true },
        Dose { at: 12.0, amount: 50.0, oral: true },
    ];
    let conc = |t: f64| -> f64 {
        doses
            .iter()
            .take_while(|d| d.at <= t)
            .map(|&Dose { at, amount, oral }| {
                let s = t - at;
                if oral {
                    f * amount * ka / (v * (ka - ke)) * (exp(-ke * s) - exp(-ka * s))
                } else {
                    amount / v * exp(-ke * s)
                }
            })
            .sum()
    };
    let times: Vec<f64> = (0..=18).map(f64::from).collect();
    let c: Vec<f64> = times.iter().copied().map(conc).collect();
    times
        .windows(2)
        .zip(c.windows(2))
        .map(|(t, c)| match (t, c) {
            (&[t0, t1], &[c0, c1]) if c1 < c0 && c1 > 0.0 => (c0 - c1) * (t1 - t0) / log(c0 / c1),
            (&[t0, t1], &[c0, c1]) => 0.5 * (c0 + c1) * (t1 - t0),
            _ => unreachable!(),
        })
        .sum()
}

/// A drug that is bound in the tissue: steps of Heun whose size follows the error.
#[differentiable]
fn bound_in_tissue(x: &[f64]) -> f64 {
    type State = [f64; 3];
    fn rhs(s: &State, p: &[f64]) -> State {
        let [free, bound, out] = *s;
        let bind = p[0] * free * (p[1] - bound) - p[2] * bound;
        let gone = p[3] * free / (0.5 + free);
        let _ = out;
        [-bind - gone, bind, gone]
    }
    let mut s: State = [3.0, 0.0, 0.0];
    let (mut t, mut h) = (0.0, 0.1);
    let mut rejected = 0usize;
    while t < 2.0 {
        if t + h > 2.0 {
            h = 2.0 - t;
        }
        let k1 = rhs(&s, x);
        let mid: State = std::array::from_fn(|i| s[i] + h * k1[i]);
        let k2 = rhs(&mid, x);
        let mut err = 0.0f64;
        let mut next = s;
        for i in 0..3 {
            next[i] += 0.5 * h * (k1[i] + k2[i]);
            err = err.max((0.5 * h * (k2[i] - k1[i])).abs());
        }
        if err > 0.05 {
            h *= 0.5;
            rejected += 1;
            assert!(rejected < 50, "too many steps were rejected");
            continue;
        }
        s = next;
        t += h;
        h = if err < 0.01 { (h * 1.5).min(0.4) } else { h };
    }
    s.iter().zip([1.0, -0.5, 2.0]).map(|(s, w)| s * w).sum::<f64>()
}

// Statistics.

/// Cox's partial likelihood, with ties by Efron; the data are sorted here.
#[differentiable]
fn cox(beta: &[f64]) -> f64 {
    static TIMES: [f64; 7] = [5.0, 3.0, 8.0, 3.0, 1.0, 9.0, 5.0];
    static EVENTS: [bool; 7] = [true, true, false, true, true, true, false];
    static COVARIATES: [[f64; 2]; 7] =
        [[0.5, 1.0], [-0.3, 0.2], [0.0, 0.7], [1.2, -0.4], [0.8, 0.1], [-1.0, 0.9], [0.3, 0.3]];
    let mut order: Vec<usize> = (0..TIMES.len()).collect();
    order.sort_by(|&a, &b| TIMES[a].total_cmp(&TIMES[b]).then(a.cmp(&b)));
    let eta: Vec<f64> =
        COVARIATES.iter().map(|z| z.iter().zip(beta).map(|(z, b)| z * b).sum()).collect();
    let mut ll = 0.0;
    let mut i = 0;
    while i < order.len() {
        let t = TIMES[order[i]];
        let mut j = i;
        while j < order.len() && TIMES[order[j]] == t {
            j += 1;
        }
        let at_risk: f64 = order[i..].iter().map(|&k| exp(eta[k])).sum();
        let dead: Vec<usize> = order[i..j].iter().copied().filter(|&k| EVENTS[k]).collect();
        let tied: f64 = dead.iter().map(|&k| exp(eta[k])).sum();
        for (l, &k) in dead.iter().enumerate() {
            ll += eta[k] - log(at_risk - l as f64 / dead.len() as f64 * tied);
        }
        i = j;
    }
    -ll
}

/// A mixture of normals, and one step of expectation and maximisation.
#[differentiable]
fn em_step(x: &[f64]) -> f64 {
    let (mut w, mut mu, mut var) = ([0.5, 0.5], [x[0], x[1]], [1.0, 2.0]);
    let data = &x[2..];
    let density = |v: f64, m: f64, s2: f64| exp(-0.5 * (v - m).powi(2) / s2) / (TAU * s2).sqrt();
    for _ in 0..2 {
        let resp: Vec<[f64; 2]> = data
            .iter()
            .map(|&v| {
                let p = [w[0] * density(v, mu[0], var[0]), w[1] * density(v, mu[1], var[1])];
                let total = p[0] + p[1];
                p.map(|p| p / total)
            })
            .collect();
        for k in 0..2 {
            let n = resp.iter().map(|r| r[k]).sum::<f64>();
            mu[k] = resp.iter().zip(data).map(|(r, v)| r[k] * v).sum::<f64>() / n;
            var[k] = resp.iter().zip(data).fold(0.0, |s, (r, v)| s + r[k] * (v - mu[k]).powi(2))
                / n
                + 0.05;
            w[k] = n / data.len() as f64;
        }
    }
    data.iter().map(|&v| log((0..2).map(|k| w[k] * density(v, mu[k], var[k])).sum::<f64>())).sum()
}

/// The estimator of Hodges and Lehmann: the median of all means of pairs.
#[differentiable]
fn hodges_lehmann(x: &[f64]) -> f64 {
    let mut means: Vec<f64> =
        x.iter().enumerate().flat_map(|(i, a)| x[i..].iter().map(move |b| 0.5 * (a + b))).collect();
    means.sort_unstable_by(f64::total_cmp);
    means.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    let mid = means.len() / 2;
    match means.len() % 2 {
        0 => (means[mid - 1] + means[mid]) / 2.0,
        _ => means[mid],
    }
}

/// Theil's line: the median of slopes, by selection.
#[differentiable]
fn theil_sen(y: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(y.len() * y.len() / 2);
    for i in 0..y.len() {
        for j in (i + 1)..y.len() {
            slopes.push((y[j] - y[i]) / (j - i) as f64);
        }
    }
    slopes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let slope = slopes[slopes.len() / 2];
    let mut offsets: Vec<_> = y.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    offsets.sort_by(|a, b| b.total_cmp(a));
    let offset = offsets[offsets.len() / 2];
    slope * 10.0 + offset
}

// Markets.

/// Longstaff and Schwartz: paths by a written generator, regressions by normal equations.
#[differentiable]
fn american_by_paths(x: &[f64]) -> f64 {
    const STEPS: usize = 4;
    const PATHS: usize = 12;
    let (s0, sigma, rate) = (x[0], x[1], x[2]);
    let (strike, dt) = (1.1, 0.25);
    let mut seed = 42u32;
    let mut uniform = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (seed >> 8) as f64 / 16777216.0
    };
    let mut paths = vec![[0.0; STEPS + 1]; PATHS];
    for path in paths.iter_mut() {
        path[0] = s0;
        for k in 0..STEPS {
            let z: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            path[k + 1] = path[k] * exp((rate - 0.5 * sigma * sigma) * dt + sigma * dt.sqrt() * z);
        }
    }
    let mut cash: Vec<f64> = paths.iter().map(|p| (strike - p[STEPS]).max(0.0)).collect();
    let discount = exp(-rate * dt);
    for k in (1..STEPS).rev() {
        cash.iter_mut().for_each(|c| *c *= discount);
        let (mut a, mut b) = ([[0.0; 2]; 2], [0.0; 2]);
        for (p, c) in paths.iter().zip(&cash).filter(|(p, _)| p[k] < strike) {
            let basis = [1.0, p[k]];
            for r in 0..2 {
                for s in 0..2 {
                    a[r][s] += basis[r] * basis[s];
                }
                b[r] += basis[r] * c;
            }
        }
        let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        if det.abs() < 1e-12 {
            continue;
        }
        let c0 = (b[0] * a[1][1] - b[1] * a[0][1]) / det;
        let c1 = (a[0][0] * b[1] - a[1][0] * b[0]) / det;
        for (path, cash) in paths.iter().zip(cash.iter_mut()) {
            let exercise = (strike - path[k]).max(0.0);
            if exercise > 0.0 && exercise > c0 + c1 * path[k] {
                *cash = exercise;
            }
        }
    }
    discount * cash.iter().sum::<f64>() / PATHS as f64
}

/// GARCH(1, 1) with a lever, its likelihood by `scan`.
#[differentiable]
fn gjr_garch(x: &[f64]) -> f64 {
    let [omega, alpha, gamma, beta, returns @ ..] = x else { panic!("too few parameters") };
    let start = returns.iter().map(|r| r * r).sum::<f64>() / returns.len() as f64;
    returns
        .iter()
        .scan((start, 0.0f64), |(h, last), &r| {
            let lever = if *last < 0.0 { 1.0 } else { 0.0 };
            *h = omega + (alpha + gamma * lever) * last.powi(2) + beta * *h;
            *last = r;
            Some(0.5 * (TAU.ln() + log(*h) + r * r / *h))
        })
        .sum()
}

/// The yield of a bond with odd first coupons, by Newton and bisection together.
#[differentiable]
fn yield_to_maturity(x: &[f64]) -> f64 {
    let (price, coupon) = (x[0], x[1]);
    let flows = |y: f64| -> (f64, f64) {
        let (mut pv, mut slope) = (0.0, 0.0);
        for k in 0..6 {
            let t = 0.3 + k as f64 * 0.5;
            let cash = if k == 5 { 100.0 + coupon / 2.0 } else { coupon / 2.0 };
            let d = exp(-2.0 * t * log(1.0 + y / 2.0));
            pv += cash * d;
            slope -= cash * t * d / (1.0 + y / 2.0);
        }
        (pv - price, slope)
    };
    let (mut lo, mut hi) = (-0.5, 1.5);
    let mut y = 0.05;
    let y = loop {
        let (f, df) = flows(y);
        if f > 0.0 {
            lo = y
        } else {
            hi = y
        }
        let newton = y - f / df;
        let next = if newton > lo && newton < hi { newton } else { 0.5 * (lo + hi) };
        if (next - y).abs() < 1e-13 || hi - lo < 1e-13 {
            break next;
        }
        y = next;
    };
    100.0 * y
}

#[test]
fn robots() {
    everywhere! {
        drive at [1.2, 0.3, 0.7], [60.0, -0.3, 0.2];
        ik_two_links at [1.1, 0.6, 1.0, 0.7], [0.2, 1.4, 1.0, 0.7], [1.0];
        scanned at [0.1, -0.2, 0.3, -1.0];
    }
}

#[test]
fn medicine() {
    everywhere! {
        exposure_of_doses at [5.0, 20.0, 1.3, 0.8];
        bound_in_tissue at [1.0, 2.0, 0.3, 0.8];
    }
}

#[test]
fn statistics() {
    everywhere! {
        cox at [0.2, -0.4];
        em_step at [0.0, 2.0, -0.5, 0.3, 1.9, 2.5, 1.2];
        hodges_lehmann at [1.0, 2.5, 0.2, 4.1], [1.0, 2.0, 3.1];
        theil_sen at [1.0, 2.5, 2.2, 4.0, 5.5];
    }
}

#[test]
fn markets() {
    everywhere! {
        american_by_paths at [1.0, 0.3, 0.05];
        gjr_garch at [0.1, 0.05, 0.1, 0.8, 0.3, -0.5, 0.2, 1.0];
        yield_to_maturity at [98.0, 5.0], [80.0, 3.0];
    }
}
