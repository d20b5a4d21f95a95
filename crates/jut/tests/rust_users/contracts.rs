//! Contracts over years: options by paths, bonds by a curve, annuities of couples, seasons that are smoothed.

use jut::math::{cos, exp, pow, sigmoid};
use jut::{Data, differentiable};

/// Heston's price of an option, with few paths.
const SHOCKS: [[(f64, f64); 4]; 3] = [
    [(0.3, -0.5), (-1.2, 0.4), (0.7, 0.1), (0.2, -0.9)],
    [(-0.6, 0.8), (0.1, -0.3), (1.4, 0.5), (-0.2, 0.6)],
    [(1.1, 0.2), (0.5, 1.3), (-0.4, -0.7), (0.9, 0.0)],
];

#[differentiable]
fn heston_price(x: &[f64]) -> f64 {
    let [spot, v0, kappa, theta, xi, rho] = x else { panic!("six parameters") };
    let dt = 0.25_f64;
    let root_dt = dt.sqrt();
    let other = (1.0 - rho * rho).sqrt();
    let payoffs = SHOCKS.iter().map(|path| {
        let (s, _) = path.iter().fold((*spot, *v0), |(s, v), (z1, z2)| {
            let vp = v.max(0.0);
            let zv = rho * z1 + other * z2;
            let s = s * exp(-0.5 * vp * dt + vp.sqrt() * root_dt * z1);
            (s, v + kappa * (theta - vp) * dt + xi * vp.sqrt() * root_dt * zv)
        });
        (s - 100.0).max(0.0)
    });
    payoffs.sum::<f64>() / SHOCKS.len() as f64
}

/// Bonds by a curve of Nelson and Siegel.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Curve {
    beta: [f64; 3],
    tau: f64,
}

#[differentiable]
impl Curve {
    fn rate(&self, t: f64) -> f64 {
        let u = t / self.tau;
        let decay = exp(-u);
        let slope = (1.0 - decay) / u;
        let loadings = [1.0, slope, slope - decay];
        self.beta.iter().zip(loadings).map(|(b, l)| b * l).sum()
    }
    fn discount(&self, t: f64) -> f64 {
        exp(-self.rate(t) * t)
    }
}

const FLOWS: [&[f64]; 3] = [&[1.0], &[0.5, 1.5, 2.5], &[1.0, 2.0, 3.0, 4.0, 5.0]];
const QUOTED: [(f64, f64); 3] = [(2.0, 99.0), (1.5, 97.5), (4.0, 103.0)];

#[differentiable]
fn bond_errors(x: &[f64]) -> f64 {
    let curve = Curve { beta: [x[0], x[1], x[2]], tau: x[3] };
    let longest =
        FLOWS.iter().find(|years| years.len() > 2).map_or(0.0, |years| years[years.len() - 1]);
    let mut squares = Vec::with_capacity(FLOWS.len());
    for (years, &(coupon, price)) in FLOWS.iter().zip(&QUOTED) {
        let (&last, before) = years.split_last().unwrap();
        let mut model = (100.0 + coupon) * curve.discount(last);
        model += before.iter().map(|&t| coupon * curve.discount(t)).sum::<f64>();
        let weight = 1.0 / last;
        squares.push(weight * (model - price).powi(2));
    }
    squares.iter().sum::<f64>() / squares.len() as f64 + curve.rate(longest)
}

/// Annuities of couples, by a law of mortality.
#[differentiable]
trait Mortality {
    fn hazard(&self, age: f64) -> f64;
    fn yearly_survival(&self, age: f64) -> f64 {
        exp(-0.5 * (self.hazard(age) + self.hazard(age + 1.0)))
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Makeham {
    a: f64,
    b: f64,
    c: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Weibull {
    scale: f64,
    shape: f64,
}

#[differentiable]
impl Mortality for Makeham {
    fn hazard(&self, age: f64) -> f64 {
        self.a + self.b * exp(self.c * age)
    }
}

#[differentiable]
impl Mortality for Weibull {
    fn hazard(&self, age: f64) -> f64 {
        self.shape / self.scale * pow(age / self.scale, self.shape - 1.0)
    }
}

#[differentiable]
fn survivors<M: Mortality>(law: &M, age: u32, years: usize) -> Vec<f64> {
    let mut alive = vec![1.0];
    for k in 0..years {
        let last = *alive.last().unwrap();
        alive.push(last * law.yearly_survival(f64::from(age) + k as f64));
    }
    alive
}

#[differentiable]
fn joint_annuity(x: &[f64]) -> f64 {
    let wife = survivors(&Makeham { a: x[0], b: x[1], c: x[2] }, 62, 30);
    let husband = survivors(&Weibull { scale: x[3], shape: x[4] }, 65, 30);
    let v = 1.0 / (1.0 + x[5]);
    let mut factor = 1.0;
    let mut worth = 0.0;
    for (p, q) in wife.iter().zip(husband.iter()).skip(1) {
        factor *= v;
        let both = p * q;
        let one = p + q - 2.0 * both;
        worth += factor * (both + 0.6 * one);
        if factor * (both + one) < 1e-3 {
            break;
        }
    }
    worth
}

/// Yearly seasons and a trend that is damped, by Holt and Winters.
#[differentiable]
fn seasons(x: &[f64]) -> f64 {
    #[derive(Data, Clone, Debug, PartialEq)]
    struct Smooth {
        level: f64,
        trend: f64,
        season: [f64; 4],
    }
    let (a, b, g, phi) = (sigmoid(x[0]), sigmoid(x[1]), sigmoid(x[2]), x[3]);
    let series: Vec<f64> =
        (0..16).map(|t| 10.0 + 0.3 * t as f64 + 2.0 * cos(1.57 * t as f64)).collect();
    let mut s = Smooth { level: series[0], trend: 0.0, season: [0.0; 4] };
    let mut sse = 0.0;
    for (t, y) in series.iter().enumerate() {
        let q = t % 4;
        let forecast = s.level + phi * s.trend + s.season[q];
        let error = y - forecast;
        sse += error * error;
        let before = s.level;
        s.level = a * (y - s.season[q]) + (1.0 - a) * (s.level + phi * s.trend);
        s.trend = b * (s.level - before) + (1.0 - b) * phi * s.trend;
        s.season[q] = g * (y - s.level) + (1.0 - g) * s.season[q];
    }
    sse.sqrt()
}

#[test]
fn options_bonds_and_annuities() {
    everywhere! {
        heston_price at [100.0, 0.04, 1.5, 0.06, 0.4, -0.6], [100.0];
        bond_errors at [0.03, -0.01, 0.005, 1.7], [0.03, 0.1];
        joint_annuity at [0.0005, 0.00003, 0.1, 88.0, 9.0, 0.02];
        seasons at [0.1, -0.7, -0.3, 0.9], [];
    }
}
