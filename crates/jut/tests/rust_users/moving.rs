//! Cloth, arms, distances, transfers, tides and controllers.

use jut::math::{atan2, cos, cosh, exp, sin, sinh, tanh};
use jut::{Data, differentiable};
use std::mem;

type Point = [f64; 2];

#[derive(Data, Clone, Debug, PartialEq)]
struct Link {
    a: usize,
    b: usize,
    rest: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Cloth {
    at: Vec<Point>,
    before: Vec<Point>,
    links: Vec<Link>,
    pinned: Vec<bool>,
}

#[differentiable]
impl Cloth {
    fn new(width: usize, height: usize, spacing: f64) -> Cloth {
        let at: Vec<Point> = (0..width * height)
            .map(|k| [(k % width) as f64 * spacing, -((k / width) as f64) * spacing])
            .collect();
        let mut links = Vec::new();
        let id = |i: usize, j: usize| j * width + i;
        for j in 0..height {
            for i in 0..width {
                if i + 1 < width {
                    links.push(Link { a: id(i, j), b: id(i + 1, j), rest: spacing });
                }
                if j + 1 < height {
                    links.push(Link { a: id(i, j), b: id(i, j + 1), rest: spacing });
                }
            }
        }
        let pinned = (0..at.len()).map(|k| k == 0 || k == width - 1).collect();
        Cloth { before: at.clone(), at, links, pinned }
    }
    fn step(&mut self, wind: f64, dt: f64) {
        for (k, p) in self.at.iter_mut().enumerate() {
            if self.pinned[k] {
                continue;
            }
            let old = *p;
            let acc = [wind, -9.81];
            for d in 0..2 {
                p[d] += 0.99 * (p[d] - self.before[k][d]) + acc[d] * dt * dt;
            }
            self.before[k] = old;
        }
        for _ in 0..2 {
            self.relax();
        }
    }
    fn relax(&mut self) {
        for Link { a, b, rest } in self.links.iter() {
            let (pa, pb) = (self.at[*a], self.at[*b]);
            let d = [pb[0] - pa[0], pb[1] - pa[1]];
            let len = (d[0] * d[0] + d[1] * d[1]).sqrt();
            let stretch = (len - rest) / len;
            let (wa, wb) = match (self.pinned[*a], self.pinned[*b]) {
                (true, true) => (0.0, 0.0),
                (true, false) => (0.0, 1.0),
                (false, true) => (1.0, 0.0),
                (false, false) => (0.5, 0.5),
            };
            for k in 0..2 {
                self.at[*a][k] += wa * stretch * d[k];
                self.at[*b][k] -= wb * stretch * d[k];
            }
        }
    }
}

/// A cloth that hangs at two corners in the wind.
#[differentiable]
fn hanging_cloth(x: &[f64]) -> f64 {
    let mut cloth = Cloth::new(3, 2, x[0]);
    for s in 0..4 {
        cloth.step(x[1] * (1.0 + s as f64 * 0.1), 0.05);
    }
    cloth.at.iter().map(|[px, py]| px * 0.5 - py).sum()
}

/// A planar arm of any number of joints that reaches by damped least squares.
#[differentiable]
fn damped_reach(x: &[f64]) -> f64 {
    let (target, lengths) = x.split_at(2);
    let n = lengths.len();
    let forward = |q: &[f64]| -> Vec<Point> {
        let mut joints = vec![[0.0, 0.0]];
        let mut angle = 0.0;
        for (l, q) in lengths.iter().zip(q) {
            angle += q;
            let last = joints[joints.len() - 1];
            joints.push([last[0] + l * cos(angle), last[1] + l * sin(angle)]);
        }
        joints
    };
    let mut q: Vec<f64> = (0..n).map(|k| 0.3 / (k + 1) as f64).collect();
    for iteration in 0.. {
        let joints = forward(&q);
        let &[ex, ey] = joints.last().unwrap();
        let err = [target[0] - ex, target[1] - ey];
        if iteration >= 10 || err.iter().map(|e| e * e).sum::<f64>() < 1e-14 {
            break;
        }
        let jac: Vec<[f64; 2]> =
            joints[..n].iter().map(|&[jx, jy]| [-(ey - jy), ex - jx]).collect();
        let mut a = [[0.05, 0.0], [0.0, 0.05]];
        for col in &jac {
            for r in 0..2 {
                for c in 0..2 {
                    a[r][c] += col[r] * col[c];
                }
            }
        }
        let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        let y = [
            (a[1][1] * err[0] - a[0][1] * err[1]) / det,
            (a[0][0] * err[1] - a[1][0] * err[0]) / det,
        ];
        q.iter_mut().zip(jac.iter()).for_each(|(q, j)| *q += j[0] * y[0] + j[1] * y[1]);
    }
    q.iter().enumerate().map(|(i, v)| v * (1.0 + i as f64)).sum::<f64>()
}

/// A shape made of others, by its signed distance.
#[derive(Data, Clone, Debug, PartialEq)]
enum Sdf {
    Circle { c: [f64; 2], r: f64 },
    Rect { half: [f64; 2], round: f64 },
    Union(Box<Sdf>, Box<Sdf>, f64),
    Minus(Box<Sdf>, Box<Sdf>),
    Moved(f64, f64, Box<Sdf>),
}

#[differentiable]
impl Sdf {
    fn distance(&self, x: f64, y: f64) -> f64 {
        match self {
            Sdf::Circle { c: [cx, cy], r } => ((x - cx).powi(2) + (y - cy).powi(2)).sqrt() - r,
            Sdf::Rect { half: [w, h], round } => {
                let (dx, dy) = (x.abs() - w, y.abs() - h);
                let outside = (dx.max(0.0).powi(2) + dy.max(0.0).powi(2) + 1e-12).sqrt();
                outside + dx.max(dy).min(0.0) - round
            }
            Sdf::Union(a, b, k) if *k > 0.0 => {
                let (da, db) = (a.distance(x, y), b.distance(x, y));
                let h = (0.5 + 0.5 * (db - da) / k).clamp(0.0, 1.0);
                db + (da - db) * h - k * h * (1.0 - h)
            }
            Sdf::Union(a, b, _) => a.distance(x, y).min(b.distance(x, y)),
            Sdf::Minus(a, b) => a.distance(x, y).max(-b.distance(x, y)),
            Sdf::Moved(dx, dy, inner) => inner.distance(x - dx, y - dy),
        }
    }
}

/// A march along a ray to the surface, by the distance.
#[differentiable]
fn sphere_marched(x: &[f64]) -> f64 {
    let head = Sdf::Circle { c: [x[0], 0.3], r: 0.5 };
    let body = Sdf::Rect { half: [0.6, x[1]], round: 0.05 };
    let hole = Sdf::Moved(1.5, 0.0, Box::new(Sdf::Circle { c: [0.0, 0.0], r: x[2] }));
    let scene =
        Sdf::Minus(Box::new(Sdf::Union(Box::new(head), Box::new(body), 0.2)), Box::new(hole));
    let mut total = 0.0;
    for k in 0..3u32 {
        let angle = f64::from(k) * 0.15 - 0.1;
        let (dx, dy) = (cos(angle), sin(angle));
        let mut t = 0.0;
        let mut steps = 0_u32;
        let hit = loop {
            let d = scene.distance(-2.0 + t * dx, 0.1 + t * dy);
            if d < 1e-12 {
                break Some(t);
            }
            t += d;
            steps += 1;
            if t > 5.0 || steps == 200 {
                break None;
            }
        };
        total += hit.map_or(5.0, |t| t * t);
    }
    total
}

/// Lambert's problem by universal variables: the speed at departure.
#[differentiable]
fn lambert(x: &[f64]) -> f64 {
    fn stumpff(z: f64) -> (f64, f64) {
        if z > 1e-6 {
            let s = z.sqrt();
            ((1.0 - cos(s)) / z, (s - sin(s)) / (z * s))
        } else if z < -1e-6 {
            let s = (-z).sqrt();
            ((cosh(s) - 1.0) / -z, (sinh(s) - s) / (-z * s))
        } else {
            (0.5 - z / 24.0, 1.0 / 6.0 - z / 120.0)
        }
    }
    let (r1, r2, tof) = ([x[0], x[1]], [x[2], x[3]], x[4]);
    let norm = |r: &[f64; 2]| (r[0] * r[0] + r[1] * r[1]).sqrt();
    let (n1, n2) = (norm(&r1), norm(&r2));
    let angle = (atan2(r2[1], r2[0]) - atan2(r1[1], r1[0])).rem_euclid(std::f64::consts::TAU);
    let a = sin(angle) * (n1 * n2 / (1.0 - cos(angle))).sqrt();
    let y_of = |z: f64| {
        let (c, s) = stumpff(z);
        n1 + n2 + a * (z * s - 1.0) / c.sqrt()
    };
    let time = |z: f64| {
        let (c, s) = stumpff(z);
        let y = y_of(z);
        let chi = (y / c).sqrt();
        chi * chi * chi * s + a * y.sqrt()
    };
    let (mut lo, mut hi) = (-4.0, 30.0);
    let mut z = 0.5 * (lo + hi);
    for _ in 0..60 {
        if time(z) > tof {
            hi = z
        } else {
            lo = z
        }
        z = 0.5 * (lo + hi);
    }
    // A step of Newton makes the root a function of what is given.
    let h = 1e-5;
    z -= (time(z) - tof) * 2.0 * h / (time(z + h) - time(z - h));
    let y = y_of(z);
    let (f, g) = (1.0 - y / n1, a * y.sqrt());
    let v = [(r2[0] - f * r1[0]) / g, (r2[1] - f * r1[1]) / g];
    norm(&v)
}

/// Heights of tides of some constituents, and how far the extremes are apart.
#[differentiable]
fn tides(x: &[f64]) -> f64 {
    const SPEEDS: [f64; 3] = [28.984, 30.0, 15.041];
    let amplitudes = &x[..3];
    let phases = &x[3..6];
    let height = |hours: f64| -> f64 {
        SPEEDS
            .iter()
            .zip(amplitudes.iter().zip(phases))
            .map(|(&speed, (a, phase))| a * cos((speed * hours).to_radians() - phase))
            .sum()
    };
    let series: Vec<f64> = (0..16).map(|k| height(k as f64 * 1.5)).collect();
    let turning: Vec<(usize, f64)> = series
        .windows(3)
        .enumerate()
        .filter(|(_, w)| (w[1] - w[0]) * (w[2] - w[1]) < 0.0)
        .map(|(i, w)| {
            let curvature = w[0] - 2.0 * w[1] + w[2];
            (i + 1, w[1] - (w[2] - w[0]).powi(2) / (8.0 * curvature))
        })
        .collect();
    let (high, low): (Vec<(usize, f64)>, Vec<(usize, f64)>) =
        turning.iter().partition(|(_, h)| *h > 0.0);
    let mean = |v: &[(usize, f64)]| v.iter().map(|(_, h)| h).sum::<f64>() / v.len().max(1) as f64;
    mean(&high) - mean(&low) + 0.01 * turning.len() as f64
}

#[derive(Data, Clone, Debug, Default, PartialEq)]
struct PidConfig {
    kp: f64,
    ki: f64,
    kd: f64,
    limit: Option<f64>,
    back_calculation: f64,
}

#[differentiable]
impl PidConfig {
    fn with_gains(mut self, kp: f64, ki: f64, kd: f64) -> Self {
        (self.kp, self.ki, self.kd) = (kp, ki, kd);
        self
    }
    fn limited(self, limit: f64) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// A controller that does not wind up, with a delay line before its actuator.
#[differentiable]
fn anti_windup(x: &[f64]) -> f64 {
    let cfg = PidConfig { back_calculation: x[3], ..Default::default() }
        .with_gains(x[0], x[1], x[2])
        .limited(1.0);
    let mut delay = vec![0.0; 2];
    let (mut integral, mut previous) = (0.0, None);
    let (mut level, mut cost) = (0.0, 0.0);
    for step in 0..15 {
        let setpoint = match step {
            0..=4 => 1.0,
            5..=9 => 2.5,
            _ => 0.5,
        };
        let error = setpoint - level;
        let derivative = previous.map_or(0.0, |p| (error - p) / 0.2);
        previous = Some(error);
        let raw = cfg.kp * error + integral + cfg.kd * derivative;
        let u = match cfg.limit {
            Some(l) if raw > l => l,
            Some(l) if raw < -l => -l,
            _ => raw,
        };
        integral += 0.2 * (cfg.ki * error + cfg.back_calculation * (u - raw));
        delay.push(u);
        let delayed = delay.remove(0);
        level += 0.2 * (2.0 * delayed - 0.5 * tanh(level));
        cost += error * error + 0.01 * u.abs();
    }
    cost
}

/// Rollouts of a cart along plans; the plan is bettered by what the rollouts tell.
#[differentiable]
fn rollouts(x: &[f64]) -> f64 {
    let mut plan = vec![0.0; 4];
    let mut scratch = plan.clone();
    let cost = |plan: &[f64]| -> f64 {
        let mut s = (x[0], x[1]);
        let mut total = 0.0;
        for u in plan {
            s = (s.0 + 0.3 * s.1, s.1 + 0.3 * (u - 0.2 * s.1 * s.1.abs()));
            total += s.0 * s.0 + 0.1 * s.1 * s.1 + 0.05 * u * u;
        }
        total
    };
    let mut best = cost(&plan);
    for round in 0..3 {
        for k in 0..plan.len() {
            for direction in [-1.0, 1.0] {
                scratch.copy_from_slice(&plan);
                scratch[k] += direction * x[2] / (1 + round) as f64;
                let c = cost(&scratch);
                if c < best {
                    best = c;
                    mem::swap(&mut plan, &mut scratch);
                }
            }
        }
    }
    let smoothness: f64 = plan.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
    best + 0.1 * smoothness + exp(-best)
}

#[test]
fn cloth_and_arms() {
    everywhere! {
        hanging_cloth at [0.4, 1.5];
        damped_reach at [0.9, 0.8, 0.7, 0.5, 0.4], [0.9, 0.8];
        rollouts at [1.0, -0.3, 0.4];
        anti_windup at [1.2, 0.5, 0.05, 0.8];
    }
}

#[test]
fn distances_and_tides() {
    everywhere! {
        sphere_marched at [0.3, 0.4, 0.3];
        lambert at [1.0, 0.1, -0.3, 1.4, 2.5];
        tides at [1.2, 0.5, 0.3, 0.4, 1.0, -0.2];
    }
}
