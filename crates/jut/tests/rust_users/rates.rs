//! Equations of state, reactions, curves of rates, trees of prices, smooth curves through points.

use jut::math::{acos, cbrt, cos, exp, log, pow, tanh};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Fluid {
    tc: f64,
    pc: f64,
    acentric: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Liquid,
    Vapor,
}

/// The real roots of x^3 + b x^2 + c x + d.
#[differentiable]
fn cubic_roots(b: f64, c: f64, d: f64) -> Vec<f64> {
    let (p, q) = (c - b * b / 3.0, 2.0 * b.powi(3) / 27.0 - b * c / 3.0 + d);
    let disc = q * q / 4.0 + p * p * p / 27.0;
    let shift = -b / 3.0;
    if disc > 0.0 {
        let s = disc.sqrt();
        return vec![cbrt(-q / 2.0 + s) + cbrt(-q / 2.0 - s) + shift];
    }
    let m = 2.0 * (-p / 3.0).sqrt();
    let theta = acos((3.0 * q / (p * m)).clamp(-1.0, 1.0)) / 3.0;
    (0..3).map(|k| m * cos(theta - 2.0 * std::f64::consts::PI * k as f64 / 3.0) + shift).collect()
}

#[differentiable]
impl Fluid {
    const R: f64 = 8.314;
    fn ab(&self, t: f64, p: f64) -> (f64, f64) {
        let kappa = 0.37464 + self.acentric * (1.54226 - 0.26992 * self.acentric);
        let alpha = (1.0 + kappa * (1.0 - (t / self.tc).sqrt())).powi(2);
        let a = 0.45724 * Self::R * Self::R * self.tc * self.tc / self.pc * alpha;
        let b = 0.0778 * Self::R * self.tc / self.pc;
        (a * p / (Self::R * t).powi(2), b * p / (Self::R * t))
    }
    fn ln_fugacity(&self, t: f64, p: f64, phase: Phase) -> Option<f64> {
        const S2: f64 = std::f64::consts::SQRT_2;
        let (a, b) = self.ab(t, p);
        let roots = cubic_roots(b - 1.0, a - 3.0 * b * b - 2.0 * b, -(a * b - b * b - b * b * b));
        let z = match phase {
            Phase::Liquid => roots.iter().copied().filter(|&z| z > b).min_by(|l, r| l.total_cmp(r)),
            Phase::Vapor => roots.into_iter().max_by(f64::total_cmp),
        }?;
        let log_term = log((z + (1.0 + S2) * b) / (z + (1.0 - S2) * b));
        Some(z - 1.0 - log(z - b) - a / (2.0 * S2 * b) * log_term)
    }
}

/// How far two phases of a fluid are from equilibrium.
#[differentiable]
fn fugacities(x: &[f64]) -> f64 {
    let fluid = Fluid { tc: x[2], pc: 42.5e5, acentric: x[3] };
    let (t, p) = (x[0], x[1] * 1e5);
    match (fluid.ln_fugacity(t, p, Phase::Liquid), fluid.ln_fugacity(t, p, Phase::Vapor)) {
        (Some(l), Some(v)) => l - v + 0.1 * l * v,
        (None, Some(only)) | (Some(only), None) => only,
        (None, None) => unreachable!("a cubic has a root"),
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum RateLaw {
    MassAction(f64),
    MichaelisMenten { vmax: f64, km: f64 },
    Hill { vmax: f64, k: f64, n: i32 },
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Reaction {
    from: usize,
    to: Option<usize>,
    law: RateLaw,
}

#[differentiable]
impl RateLaw {
    fn rate(&self, s: f64) -> f64 {
        match *self {
            RateLaw::MassAction(k) => k * s,
            RateLaw::MichaelisMenten { vmax, km } => vmax * s / (km + s),
            RateLaw::Hill { vmax, k, n } => {
                let sn = s.powi(n);
                vmax * sn / (k.powi(n) + sn)
            }
        }
    }
}

/// A cascade of enzymes of several laws.
#[differentiable]
fn enzyme_cascade(x: &[f64]) -> f64 {
    let network = vec![
        Reaction { from: 0, to: Some(1), law: RateLaw::MichaelisMenten { vmax: x[0], km: x[1] } },
        Reaction { from: 1, to: Some(2), law: RateLaw::Hill { vmax: 1.0, k: x[2], n: 2 } },
        Reaction { from: 2, to: None, law: RateLaw::MassAction(0.3) },
    ];
    let mut c = [2.0, 0.1, 0.0];
    let dt = 0.1;
    let mut produced = 0.0;
    for _ in 0..12 {
        let mut dc = [0.0; 3];
        for Reaction { from, to, law } in &network {
            let v = law.rate(c[*from]);
            dc[*from] -= v;
            if let Some(t) = to {
                dc[*t] += v;
            } else {
                produced += v * dt;
            }
        }
        for (c, d) in c.iter_mut().zip(dc) {
            *c = (*c + dt * d).max(0.0);
        }
    }
    c.into_iter().rev().fold(produced, |acc, v| 0.5 * acc + v)
}

/// Reactions with stoichiometry in tables, at a temperature that they heat.
#[differentiable]
fn arrhenius_network(x: &[f64]) -> f64 {
    const STOICH: [[i32; 4]; 3] = [[-1, -1, 1, 0], [0, 0, -1, 1], [1, 0, -1, 0]];
    const R: f64 = 8.314e-3;
    let barriers = [x[0], x[1], 60.0];
    let prefactors: [f64; 3] = [1e6, 3e5, 1e7];
    let heats = [-20.0, -5.0, 10.0];
    let (mut y, mut temperature): (Vec<f64>, f64) = (vec![1.0, 0.8, 0.0, 0.0], x[2]);
    let mut elapsed = 0.0f64;
    while elapsed < 1.0 - 1e-9 {
        let rates: Vec<f64> = STOICH
            .iter()
            .zip(prefactors.iter().zip(&barriers))
            .map(|(row, (a, ea))| {
                row.iter()
                    .zip(&y)
                    .filter(|(s, _)| **s < 0)
                    .fold(a * exp(-ea / (R * temperature)), |r, (&s, c)| r * c.powi(-s))
            })
            .collect();
        let fastest = rates.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        let dt = (0.1 / fastest).min(0.25).min(1.0 - elapsed);
        for (row, r) in STOICH.iter().zip(&rates) {
            for (c, &s) in y.iter_mut().zip(row) {
                *c += dt * f64::from(s) * r;
            }
        }
        temperature -= dt * rates.iter().zip(heats).map(|(r, h)| r * h).sum::<f64>();
        elapsed += dt;
    }
    y[3] + 0.5 * y[2] + 1e-3 * temperature
}

/// Births and deaths by Gillespie's method, with numbers drawn before.
#[differentiable]
fn birth_and_death(x: &[f64]) -> f64 {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut population: i32 = 10;
    let (mut time, mut integral) = (0.0, 0.0);
    let mut events = 0u32;
    'events: loop {
        let propensities = [x[0], x[1] * population as f64];
        let total: f64 = propensities.iter().sum();
        let wait = -log(1.0 - uniform()) / total;
        if time + wait > x[2] || events >= 40 {
            integral += population as f64 * (x[2] - time);
            break 'events;
        }
        integral += f64::from(population) * wait;
        time += wait;
        let mut pick = uniform() * total;
        for (kind, p) in propensities.iter().enumerate() {
            if pick < *p {
                population += if kind == 0 { 1 } else { -1 };
                events += 1;
                continue 'events;
            }
            pick -= p;
        }
    }
    integral / x[2]
}

/// Hagan's formula of volatilities, and how it misses some quotes.
#[differentiable]
fn sabr(x: &[f64]) -> f64 {
    fn implied(f: f64, k: f64, t: f64, [alpha, beta, rho, nu]: [f64; 4]) -> f64 {
        let (one_beta, log_fk) = (1.0 - beta, log(f / k));
        let mid = pow(f * k, one_beta / 2.0);
        let series = 1.0
            + one_beta.powi(2) / 24.0 * log_fk.powi(2)
            + one_beta.powi(4) / 1920.0 * log_fk.powi(4);
        let z = nu / alpha * mid * log_fk;
        let chi_ratio = if z.abs() < 1e-7 {
            1.0
        } else {
            let chi = log(((1.0 - 2.0 * rho * z + z * z).sqrt() + z - rho) / (1.0 - rho));
            z / chi
        };
        let drift = one_beta.powi(2) / 24.0 * alpha * alpha / (mid * mid)
            + 0.25 * rho * beta * nu * alpha / mid
            + (2.0 - 3.0 * rho * rho) / 24.0 * nu * nu;
        alpha / (mid * series) * chi_ratio * (1.0 + drift * t)
    }
    let &[alpha, rho, nu] = x else { panic!("three parameters, not {}", x.len()) };
    let params = [alpha, 0.5, rho, nu];
    let quotes = [(0.02, 0.31), (0.03, 0.25), (0.04, 0.24)];
    let vega = |k: f64| exp(-0.5 * ((k - 0.03) / 0.01f64).powi(2));
    quotes
        .iter()
        .map(|&(k, vol)| vega(k) * (implied(0.03, k, 2.0, params) - vol).powi(2))
        .sum::<f64>()
        * 1e3
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Curve {
    times: Vec<f64>,
    log_discounts: Vec<f64>,
}

#[differentiable]
impl Curve {
    fn empty() -> Curve {
        Curve { times: vec![0.0], log_discounts: vec![0.0] }
    }
    fn discount(&self, t: f64) -> f64 {
        let k = self.times.partition_point(|&s| s < t);
        let last = self.times.len() - 1;
        match k {
            0 => 1.0,
            k if k > last => exp(self.log_discounts[last] * t / self.times[last]),
            k => {
                let w = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1]);
                exp((1.0 - w) * self.log_discounts[k - 1] + w * self.log_discounts[k])
            }
        }
    }
    fn with(&self, t: f64, ld: f64) -> Curve {
        let mut times: Vec<f64> = self.times.clone();
        let mut log_discounts: Vec<f64> = self.log_discounts.clone();
        times.push(t);
        log_discounts.push(ld);
        Curve { times, log_discounts }
    }
    fn swap_value(&self, rate: f64, maturity: u32) -> f64 {
        let annuity: f64 = (1..=maturity).map(|y| self.discount(y as f64)).sum();
        rate * annuity + self.discount(maturity as f64) - 1.0
    }
}

/// A curve from rates of swaps, one after the other, each by secants.
#[differentiable]
fn swap_curve(x: &[f64]) -> f64 {
    let maturities = [1u32, 2, 3, 5];
    let mut curve = Curve::empty();
    for (&m, &rate) in maturities.iter().zip(x) {
        let t = f64::from(m);
        let value = |ld: f64| curve.with(t, ld).swap_value(rate, m);
        let (mut a, mut b) = (-rate * t, -rate * t * 1.1 - 1e-3);
        let (mut fa, mut fb) = (value(a), value(b));
        let mut rounds = 0;
        while (b - a).abs() > 1e-13 && (fb - fa).abs() > 0.0 && rounds < 20 {
            let c = b - fb * (b - a) / (fb - fa);
            (a, fa) = (b, fb);
            b = c;
            fb = value(c);
            rounds += 1;
        }
        curve = curve.with(t, b);
    }
    let forward = |t: f64| log(curve.discount(t) / curve.discount(t + 0.5)) / 0.5;
    [0.5, 1.5, 2.25, 4.0, 6.0].iter().map(|&t| forward(t) * 10.0).sum()
}

/// A trinomial tree of short rates, with a bond that may be called.
#[differentiable]
fn hull_white(x: &[f64]) -> f64 {
    let (a, sigma, coupon) = (x[0], x[1], x[2]);
    let (dt, steps): (f64, usize) = (0.5, 4);
    let jmax = 2i64;
    let dr = sigma * (3.0 * dt).sqrt();
    let rate = |j: i64| 0.03 + j as f64 * dr;
    let index = |j: i64| (j + jmax) as usize;
    let probabilities = |j: i64| -> [f64; 3] {
        let m = a * j as f64 * dt;
        if j == jmax {
            [
                7.0 / 6.0 + (m * m - 3.0 * m) / 2.0,
                -1.0 / 3.0 - m * m + 2.0 * m,
                1.0 / 6.0 + (m * m - m) / 2.0,
            ]
        } else if j == -jmax {
            [
                1.0 / 6.0 + (m * m + m) / 2.0,
                -1.0 / 3.0 - m * m - 2.0 * m,
                7.0 / 6.0 + (m * m + 3.0 * m) / 2.0,
            ]
        } else {
            [1.0 / 6.0 + (m * m - m) / 2.0, 2.0 / 3.0 - m * m, 1.0 / 6.0 + (m * m + m) / 2.0]
        }
    };
    let mut values = vec![1.0 + coupon * dt; 2 * jmax as usize + 1];
    for step in (0..steps).rev() {
        let mut earlier = values.clone();
        let reach = (step as i64).min(jmax);
        for j in -reach..=reach {
            let p = probabilities(j);
            let targets = match j {
                j if j == jmax => [j, j - 1, j - 2],
                j if j == -jmax => [j + 2, j + 1, j],
                _ => [j + 1, j, j - 1],
            };
            let expected: f64 = p.iter().zip(targets).map(|(p, t)| p * values[index(t)]).sum();
            let held = exp(-rate(j) * dt) * expected + coupon * dt;
            earlier[index(j)] = if step == 2 { held.min(1.02) } else { held };
        }
        values = std::mem::take(&mut earlier);
    }
    values[index(0)]
}

/// A monotone curve through points, by Fritsch and Carlson.
#[differentiable]
fn monotone_curve(x: &[f64]) -> f64 {
    let (xs, ys): (Vec<f64>, Vec<f64>) =
        x.iter().enumerate().map(|(i, y)| (i as f64 * (1.0 + 0.1 * i as f64), *y)).unzip();
    let secants: Vec<f64> =
        xs.windows(2).zip(ys.windows(2)).map(|(x, y)| (y[1] - y[0]) / (x[1] - x[0])).collect();
    let mut slopes = vec![secants[0]];
    slopes.extend(
        secants.windows(2).map(|w| if w[0] * w[1] <= 0.0 { 0.0 } else { 0.5 * (w[0] + w[1]) }),
    );
    slopes.push(*secants.last().unwrap());
    for (k, d) in secants.iter().enumerate() {
        if *d == 0.0 {
            slopes[k] = 0.0;
            slopes[k + 1] = 0.0;
            continue;
        }
        let (a, b) = (slopes[k] / d, slopes[k + 1] / d);
        let norm = a * a + b * b;
        if norm > 9.0 {
            let tau = 3.0 / norm.sqrt();
            slopes[k] = tau * a * d;
            slopes[k + 1] = tau * b * d;
        }
    }
    let eval = |t: f64| -> Option<f64> {
        let k = xs.windows(2).position(|w| w[0] <= t && t < w[1])?;
        let h = xs[k + 1] - xs[k];
        let s = (t - xs[k]) / h;
        let (h00, h10) = ((1.0 + 2.0 * s) * (1.0 - s).powi(2), s * (1.0 - s).powi(2));
        let (h01, h11) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
        Some(h00 * ys[k] + h10 * h * slopes[k] + h01 * ys[k + 1] + h11 * h * slopes[k + 1])
    };
    (0..8).filter_map(|k| eval(k as f64 * 0.7)).map(|v| tanh(v)).sum()
}

#[test]
fn states_and_reactions() {
    everywhere! {
        fugacities at [300.0, 8.0, 369.8, 0.152], [400.0, 30.0, 369.8, 0.152];
        enzyme_cascade at [1.5, 0.7, 0.4];
        arrhenius_network at [40.0, 38.0, 350.0];
        birth_and_death at [5.0, 0.4, 3.0];
    }
}

#[test]
fn rates_and_curves() {
    everywhere! {
        sabr at [0.04, -0.2, 0.5], [0.04, -0.2];
        swap_curve at [0.02, 0.025, 0.028, 0.03];
        hull_white at [0.1, 0.01, 0.04];
        monotone_curve at [0.0, 1.0, 1.1, 3.0, 3.05];
    }
}
