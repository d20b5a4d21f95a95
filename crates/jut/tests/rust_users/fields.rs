//! Functions of robots, medicines, measurements and money, with iterator chains, structs and jumps of many kinds.

use jut::math::{atan2, cos, exp, hypot, log, sin};
use jut::{Data, differentiable};

// Robots.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Link {
    length: f64,
    offset: f64,
}

/// Poses in the plane.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pose {
    x: f64,
    y: f64,
    theta: f64,
}

#[differentiable]
impl Pose {
    const ORIGIN: Pose = Pose { x: 0.0, y: 0.0, theta: 0.0 };

    fn then(self, link: &Link, angle: f64) -> Pose {
        let theta = self.theta + angle + link.offset;
        Pose { x: self.x + link.length * cos(theta), y: self.y + link.length * sin(theta), theta }
    }

    fn distance(&self, other: &Pose) -> f64 {
        hypot(self.x - other.x, self.y - other.y)
    }

    fn wrapped(self) -> Self {
        let theta = (self.theta + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        Self { theta, ..self }
    }
}

#[differentiable]
fn reach(x: &[f64]) -> f64 {
    let links = [
        Link { length: 1.0, offset: 0.0 },
        Link { length: 0.75, offset: 0.1 },
        Link { length: 0.5, offset: -0.2 },
    ];
    let end = links.iter().zip(x.iter()).fold(Pose::ORIGIN, |pose, (link, &q)| pose.then(link, q));
    let goal = Pose { x: 1.2, y: 0.9, theta: 0.0 };
    let turned = end.wrapped();
    end.distance(&goal) + 0.1 * turned.theta.powi(2)
}

/// Poses along the arm, collected by a scan, and the closest approach to an obstacle.
#[differentiable]
fn clearance(x: &[f64]) -> f64 {
    let obstacle = (0.8, 0.4);
    let joints: Vec<(f64, f64)> = x
        .iter()
        .scan((0.0, 0.0, 0.0), |state, &q| {
            let (px, py, th) = *state;
            let th = th + q;
            *state = (px + cos(th), py + sin(th), th);
            Some((state.0, state.1))
        })
        .collect();
    joints
        .iter()
        .map(|&(a, b)| hypot(a - obstacle.0, b - obstacle.1))
        .min_by(|a, b| a.partial_cmp(b).unwrap())
        .unwrap_or(0.0)
}

/// Quaternions, as tuples in arrays.
#[differentiable]
fn attitude(x: &[f64]) -> f64 {
    let mut q = [1.0, 0.0, 0.0, 0.0];
    for w in x.chunks_exact(3) {
        let &[wx, wy, wz] = w else { unreachable!() };
        let [a, b, c, d] = q;
        let half = 0.5 * 0.1;
        q = [
            a - half * (b * wx + c * wy + d * wz),
            b + half * (a * wx + c * wz - d * wy),
            c + half * (a * wy - b * wz + d * wx),
            d + half * (a * wz + b * wy - c * wx),
        ];
        let n = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        q.iter_mut().for_each(|v| *v /= n);
    }
    atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2].powi(2) + q[3].powi(2)))
}

/// A trapezoidal velocity profile with limits.
#[differentiable]
fn profile(x: &[f64]) -> f64 {
    let &[distance, speed, acceleration, t] = x else { return f64::NAN };
    let ramp = speed / acceleration;
    let ramped = acceleration * ramp * ramp;
    match t {
        t if t <= 0.0 => 0.0,
        t if ramped >= distance => {
            let top = (distance / acceleration).sqrt();
            if t < top {
                0.5 * acceleration * t * t
            } else {
                let rest = (2.0 * top - t).max(0.0);
                distance - 0.5 * acceleration * rest * rest
            }
        }
        t if t < ramp => 0.5 * acceleration * t.powi(2),
        t => {
            let cruise = (distance - ramped) / speed;
            if t < ramp + cruise {
                0.5 * acceleration * ramp * ramp + speed * (t - ramp)
            } else {
                let rest = (2.0 * ramp + cruise - t).clamp(0.0, ramp);
                distance - 0.5 * acceleration * rest * rest
            }
        }
    }
}

// Medicines.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Route {
    Bolus { dose: f64 },
    Infusion { rate: f64, hours: f64 },
    Oral { dose: f64, ka: f64, bioavailability: f64 },
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Dosing {
    at: f64,
    route: Route,
}

#[differentiable]
impl Dosing {
    fn concentration(&self, clearance: f64, volume: f64, t: f64) -> Option<f64> {
        let since = t - self.at;
        if since < 0.0 {
            return None;
        }
        let k = clearance / volume;
        Some(match self.route {
            Route::Bolus { dose } => dose / volume * exp(-k * since),
            Route::Infusion { rate, hours } if since <= hours => {
                rate / clearance * (1.0 - exp(-k * since))
            }
            Route::Infusion { rate, hours } => {
                rate / clearance * (1.0 - exp(-k * hours)) * exp(-k * (since - hours))
            }
            Route::Oral { dose, ka, bioavailability: f } => {
                f * dose * ka / (volume * (ka - k)) * (exp(-k * since) - exp(-ka * since))
            }
        })
    }
}

#[differentiable]
fn exposure(x: &[f64]) -> f64 {
    let doses = [
        Dosing { at: 0.0, route: Route::Bolus { dose: x[0] } },
        Dosing { at: 2.0, route: Route::Infusion { rate: x[1], hours: 1.5 } },
        Dosing { at: 6.0, route: Route::Oral { dose: x[0], ka: x[2], bioavailability: 0.8 } },
    ];
    let times: Vec<f64> = (0..=20).map(|i| f64::from(i) * 0.5).collect();
    let level = |t: f64| doses.iter().filter_map(|d| d.concentration(x[3], x[4], t)).sum::<f64>();
    times.windows(2).map(|w| 0.5 * (level(w[0]) + level(w[1])) * (w[1] - w[0])).sum()
}

/// Three compartments by Heun's rule, with a stop when nearly all is gone.
#[differentiable]
fn compartments(x: &[f64]) -> f64 {
    const STEPS: usize = 40;
    let rates: [f64; 3] = [x[0], x[1], x[2]];
    let flow = |a: &[f64; 3]| -> [f64; 3] {
        let [k12, k21, ke] = rates;
        [-(k12 + ke) * a[0] + k21 * a[1], k12 * a[0] - k21 * a[1] - 0.01 * a[1], 0.01 * a[1]]
    };
    let mut a = [x[3], 0.0, 0.0];
    let mut area = 0.0;
    let dt = 0.1;
    for _step in 0..STEPS {
        let k1 = flow(&a);
        let mid: [f64; 3] = std::array::from_fn(|i| a[i] + dt * k1[i]);
        let k2 = flow(&mid);
        for ((a, k1), k2) in a.iter_mut().zip(&k1).zip(&k2) {
            *a += 0.5 * dt * (k1 + k2);
        }
        area += a[0] * dt;
        if a[0] < 1e-3 {
            break;
        }
    }
    area + a.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum::<f64>()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bad {
    Empty,
    Negative(usize),
}

#[differentiable]
fn log_likelihood(observed: &[f64], mu: f64, sigma: f64) -> Result<f64, Bad> {
    if observed.is_empty() {
        return Err(Bad::Empty);
    }
    let mut total = 0.0;
    for (i, &y) in observed.iter().enumerate() {
        if y <= 0.0 {
            return Err(Bad::Negative(i));
        }
        let z = (log(y) - mu) / sigma;
        total += -0.5 * z * z - log(sigma) - log(y);
    }
    Ok(total)
}

#[differentiable]
fn pooled(x: &[f64]) -> f64 {
    let (parameters, data) = x.split_at(2);
    let [mu, sigma] = parameters else { panic!("two parameters") };
    let groups = data.chunks(2);
    let mut worst = f64::INFINITY;
    let mut sum = 0.0;
    for group in groups {
        let one = log_likelihood(group, *mu, *sigma).expect("positive");
        worst = worst.min(one);
        sum += one;
    }
    sum + 0.25 * worst
}

// Statistics.

#[differentiable]
fn ranks(x: &[f64]) -> f64 {
    let mut order: Vec<(usize, f64)> = x.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap());
    order.iter().enumerate().map(|(rank, &(i, v))| v * (rank as f64 + 1.0) / (i + 1) as f64).sum()
}

#[differentiable]
fn trimmed(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    let kept = &sorted[cut..sorted.len() - cut];
    let m = kept.iter().sum::<f64>() / kept.len() as f64;
    let winsorised = x.iter().map(|v| v.clamp(kept[0], *kept.last().unwrap()));
    let spread = winsorised.map(|v| (v - m) * (v - m)).sum::<f64>() / (x.len() - 1) as f64;
    m + spread.sqrt()
}

/// Pairs, above the diagonal.
#[differentiable]
fn kendall(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let (a, b) = x.split_at(n);
    let agree: f64 = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .map(|(i, j)| ((a[i] - a[j]) * (b[i] - b[j])) / (1.0 + (a[i] - a[j]).abs()))
        .sum();
    agree / (n * (n - 1) / 2) as f64
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Moments {
    n: f64,
    mean: f64,
    m2: f64,
    m3: f64,
}

#[differentiable]
impl Moments {
    fn push(&mut self, x: f64) {
        let before = self.n;
        self.n += 1.0;
        let delta = x - self.mean;
        let step = delta / self.n;
        let term = delta * step * before;
        self.mean += step;
        self.m3 += term * step * (self.n - 2.0) - 3.0 * step * self.m2;
        self.m2 += term;
    }
    fn skewness(&self) -> f64 {
        self.n.sqrt() * self.m3 / (self.m2 * self.m2.sqrt())
    }
    fn merged(self, other: Moments) -> Moments {
        let n = self.n + other.n;
        let d = other.mean - self.mean;
        Moments {
            n,
            mean: self.mean + d * other.n / n,
            m2: self.m2 + other.m2 + d * d * self.n * other.n / n,
            m3: self.m3 + other.m3 + d.powi(3) * self.n * other.n * (self.n - other.n) / (n * n),
        }
    }
}

#[differentiable]
fn skewed(x: &[f64]) -> f64 {
    let mut all = Moments::default();
    x.iter().for_each(|&v| all.push(v));
    let mut parts = [Moments { n: 0.0, mean: 0.0, m2: 0.0, m3: 0.0 }; 2];
    for (i, &v) in x.iter().enumerate() {
        parts[i % 2].push(v);
    }
    let [even, odd] = parts;
    all.skewness() + even.merged(odd).m2
}

// Money.

#[differentiable]
fn bootstrap(x: &[f64]) -> f64 {
    // Discount factors from par rates, one after the other.
    let mut factors: Vec<f64> = Vec::with_capacity(x.len());
    for &rate in x {
        let annuity: f64 = factors.iter().sum();
        factors.push((1.0 - rate * annuity) / (1.0 + rate));
    }
    let zero = factors.iter().zip(1..).map(|(d, n)| -log(*d) / n as f64);
    zero.enumerate().map(|(i, z)| z * (i as f64 + 1.0).recip()).sum::<f64>()
        + factors.last().copied().unwrap_or(1.0)
}

#[differentiable]
fn irr(x: &[f64]) -> f64 {
    let npv = |r: f64| x.iter().rev().fold(0.0, |acc, c| acc / (1.0 + r) + c);
    let slope = |r: f64| {
        x.iter()
            .enumerate()
            .skip(1)
            .map(|(k, c)| -(k as f64) * c / (1.0 + r).powi(k as i32 + 1))
            .sum::<f64>()
    };
    let mut r = 0.05;
    let mut rounds = 0;
    while rounds < 50 {
        let v = npv(r);
        if v.abs() < 1e-14 {
            break;
        }
        r -= v / slope(r);
        rounds += 1;
    }
    r
}

/// An American put on a tree that is folded from its leaves.
#[differentiable]
fn american(x: &[f64]) -> f64 {
    let &[spot, strike, sigma, rate, ..] = x else { return 0.0 };
    const N: usize = 12;
    let dt = 1.0 / N as f64;
    let up = exp(sigma * (dt).sqrt());
    let p = (exp(rate * dt) - up.recip()) / (up - 1.0 / up);
    let mut values = [0.0; N + 1];
    for (j, v) in values.iter_mut().enumerate() {
        *v = (strike - spot * up.powi(2 * j as i32 - N as i32)).max(0.0);
    }
    for step in (0..N).rev() {
        for j in 0..=step {
            let hold = exp(-rate * dt) * (p * values[j + 1] + (1.0 - p) * values[j]);
            let now = strike - spot * up.powi(2 * j as i32 - step as i32);
            values[j] = if now > hold { now } else { hold };
        }
    }
    values[0]
}

#[differentiable]
fn drawdown(x: &[f64]) -> f64 {
    let wealth: Vec<f64> = x
        .iter()
        .scan(1.0, |w, r| {
            *w *= 1.0 + r;
            Some(*w)
        })
        .collect();
    let (worst, _) = wealth.iter().fold((0.0_f64, f64::NEG_INFINITY), |(worst, peak), &w| {
        let peak = peak.max(w);
        (worst.max((peak - w) / peak), peak)
    });
    worst
}

#[test]
fn robots() {
    everywhere! {
        reach at [0.3, 0.5, -0.4], [3.0, 2.5, 1.4], [-3.0, 0.2];
        clearance at [0.3, 0.5, -0.4], [1.0], [];
        attitude at [0.3, 0.5, -0.4, 0.1, 0.2, 0.9, 1.0], [];
        profile at [2.0, 1.0, 1.0, 0.5], [2.0, 1.0, 1.0, 1.7], [2.0, 1.0, 1.0, 2.6], [0.5, 1.0, 1.0, 0.3], [0.5, 1.0, 1.0, 1.1];
    }
}

#[test]
fn medicines() {
    everywhere! {
        exposure at [100.0, 20.0, 1.5, 5.0, 30.0];
        compartments at [0.5, 0.3, 0.4, 10.0], [0.5, 0.3, 9.0, 0.1];
        pooled at [0.2, 0.5, 1.0, 2.0, 1.5, 0.7, 3.0], [0.2, 0.5, 1.0, -2.0, 1.5];
    }
}

#[test]
fn measurements() {
    everywhere! {
        ranks at [3.0, 1.0, 2.0, 5.0], [];
        trimmed at [3.0, 1.0, 2.0, 5.0, 9.0, -4.0, 2.5, 2.25], [1.0, 3.0];
        kendall at [1.0, 3.0, 2.0, 2.5, 0.5, 4.0];
        skewed at [1.0, 3.0, 2.0, 2.5, 0.5, 4.0];
    }
}

#[test]
fn money() {
    everywhere! {
        bootstrap at [0.02, 0.025, 0.03, 0.031], [];
        irr at [-100.0, 30.0, 40.0, 50.0, 5.0];
        american at [100.0, 105.0, 0.2, 0.03], [1.0, 2.0];
        drawdown at [0.1, -0.05, -0.1, 0.2, -0.02], [];
    }
}
