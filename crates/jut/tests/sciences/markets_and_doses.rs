//! Prices, rates of return, concentrations.

use jut::math::exp;
use jut::{Data, differentiable};
use std::f64::consts::PI;

#[differentiable]
fn black_scholes_call(x: &[f64]) -> f64 {
    let [s, k, r, vol, t] = [x[0].abs() * 100.0, 100.0, 0.02, 0.1 + x[1].abs(), 1.0 + x[2].abs()];
    let d1 = ((s / k).ln() + (r + 0.5 * vol * vol) * t) / (vol * t.sqrt());
    let d2 = d1 - vol * t.sqrt();
    s * norm_cdf(d1) - k * (-r * t).exp() * norm_cdf(d2)
}

#[differentiable]
fn norm_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let poly = t
        * (0.319381530
            + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    let tail = (-0.5 * x * x).exp() / (2.0 * PI).sqrt() * poly;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

#[differentiable]
fn binomial_tree(x: &[f64]) -> f64 {
    let steps: usize = 12;
    let (s0, k, vol) = (100.0 + x[0], 98.0 + x[1], 0.2 + 0.01 * x[2]);
    let dt = 1.0 / steps as f64;
    let u = (vol * dt.sqrt()).exp();
    let d = u.recip();
    let p = ((0.03 * dt).exp() - d) / (u - d);
    let disc = (-0.03 * dt).exp();
    let mut values: Vec<f64> = (0..=steps)
        .map(|i| (k - s0 * u.powi(i as i32) * d.powi((steps - i) as i32)).max(0.0))
        .collect();
    for n in (0..steps).rev() {
        for i in 0..=n {
            let hold = disc * (p * values[i + 1] + (1.0 - p) * values[i]);
            let s = s0 * u.powi(i as i32) * d.powi(n as i32 - i as i32);
            values[i] = hold.max(k - s);
        }
    }
    values[0]
}

#[differentiable]
fn bond_duration(x: &[f64]) -> f64 {
    let y = 0.03 + 0.01 * x[0];

    let (mut price, mut weighted) = (0.0, 0.0);
    for (t, c) in x[1..].iter().enumerate().map(|(i, c)| (i as f64 + 1.0, 5.0 + c)) {
        let pv = c * (1.0 + y).powf(-t);
        price += pv;
        weighted += t * pv;
    }
    weighted / price
}

#[differentiable]
fn irr_newton(x: &[f64]) -> f64 {
    let mut flows = vec![-10.0];
    flows.extend(x.iter().map(|v| 4.0 + v.abs()));
    let mut r = 0.1;
    for _ in 0..20 {
        let (mut npv, mut d) = (0.0, 0.0);
        for (t, c) in flows.iter().enumerate() {
            let f = (1.0_f64 + r).powi(-(t as i32));
            npv += c * f;
            d -= t as f64 * c * f / (1.0 + r);
        }
        let step = npv / d;
        r -= step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    r
}

#[differentiable]
fn max_drawdown(x: &[f64]) -> f64 {
    let mut wealth = 1.0;
    let mut peak: f64 = 1.0;
    let mut worst = 0.0;
    for r in x.iter() {
        wealth *= 1.0 + 0.1 * r;
        if wealth > peak {
            peak = wealth;
        }
        let dd = (peak - wealth) / peak;
        if dd > worst {
            worst = dd;
        }
    }
    worst
}

#[differentiable]
fn ewma_vol(x: &[f64]) -> f64 {
    let lambda = 0.94;
    let init = x.first().map(|v| v * v).unwrap_or_default();
    x.iter().skip(1).fold(init, |acc, r| lambda * acc + (1.0 - lambda) * r.powi(2)).sqrt()
}

#[differentiable]
fn one_compartment(x: &[f64]) -> f64 {
    let (ka, ke, v) = (x[0].abs() + 0.5, 0.1 + 0.05 * x[1].abs(), 10.0 + x[2]);
    let times = [0.5, 1.0, 2.0, 4.0, 8.0];
    let obs = [2.0, 3.5, 4.0, 3.0, 1.5];
    let dose = 50.0;
    times
        .iter()
        .zip(obs)
        .map(|(&t, o)| {
            let c = dose * ka / (v * (ka - ke)) * (exp(-ke * t) - exp(-ka * t));
            (o - c).powi(2)
        })
        .sum()
}

#[derive(Data, Clone, Copy)]
enum Elimination {
    Linear { cl: f64 },
    Saturable { vmax: f64, km: f64 },
}

#[differentiable]
impl Elimination {
    fn rate(&self, c: f64) -> f64 {
        match *self {
            Elimination::Linear { cl } => cl * c,
            Elimination::Saturable { vmax, km } => vmax * c / (km + c),
        }
    }
}

#[differentiable]
fn two_compartments(x: &[f64]) -> f64 {
    let routes = [
        Elimination::Linear { cl: 0.3 + 0.01 * x[0] },
        Elimination::Saturable { vmax: 1.0 + 0.1 * x[1], km: 2.0 },
    ];
    let mut auc = 0.0;
    for e in routes {
        let (mut a, mut b) = (10.0, 0.0);
        let mut t = 0.0;
        while t < 2.0 {
            let flux = 0.5 * a - 0.2 * b;
            let out = e.rate(a);
            a += 0.1 * (-flux - out);
            b += 0.1 * flux;
            auc += 0.1 * a;
            t += 0.1;
        }
    }
    auc
}

#[differentiable]
fn discounted(x: &[f64]) -> f64 {
    let mut factor = 1.0;
    x.iter()
        .map(|r| {
            factor *= 0.9;
            r * factor
        })
        .sum()
}

#[test]
fn values_and_gradients() {
    super::check!(black_scholes_call binomial_tree bond_duration irr_newton max_drawdown ewma_vol one_compartment two_compartments discounted);
}
