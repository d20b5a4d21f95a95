//! Finance: options, bonds, rates, portfolios.

use super::{close, differences, near};
use jut::math::erfc;
use jut::{Data, differentiable};

static BASIS: f64 = 360.0;

#[differentiable]
fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Kind {
    Call,
    Put,
}

#[differentiable]
fn black_scholes(kind: Kind, s: f64, k: f64, r: f64, sigma: f64, t: f64) -> f64 {
    let d1 = ((s / k).ln() + (r + sigma.powi(2) / 2.0) * t) / (sigma * t.sqrt());
    let d2 = d1 - sigma * t.sqrt();
    match kind {
        Kind::Call => s * normal_cdf(d1) - k * (-r * t).exp() * normal_cdf(d2),
        Kind::Put => k * (-r * t).exp() * normal_cdf(-d2) - s * normal_cdf(-d1),
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Flow {
    time: f64,
    amount: f64,
}

#[differentiable]
fn present_value(cash_flows: &[Flow], rate: f64) -> f64 {
    cash_flows.iter().map(|flow| flow.amount / (1.0 + rate).powf(flow.time)).sum()
}

#[differentiable]
fn bond_price(face: f64, coupon: f64, yield_: f64, periods: usize) -> f64 {
    let discount = 1.0 / (1.0 + yield_);
    let annuity: f64 = (1..=periods).map(|i| discount.powi(i as i32)).sum();
    face * (coupon * annuity + discount.powi(periods as i32))
}

#[differentiable]
fn irr(flows: &[f64], guess: f64) -> f64 {
    let mut rate = guess;
    for _ in 0..100 {
        let mut npv = 0.0;
        let mut slope = 0.0;
        for (i, &c) in flows.iter().enumerate() {
            let t = i as f64;
            npv += c * (1.0 + rate).powf(-t);
            slope -= t * c * (1.0 + rate).powf(-t - 1.0);
        }
        let step = npv / slope;
        rate -= step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    rate
}

#[differentiable]
fn binomial_american_put(s0: f64, k: f64, r: f64, sigma: f64, t: f64, n: usize) -> f64 {
    let dt = t / n as f64;
    let up = (sigma * dt.sqrt()).exp();
    let down = 1.0 / up;
    let p = ((r * dt).exp() - down) / (up - down);
    let discount = (-r * dt).exp();
    let mut values: Vec<f64> = (0..=n)
        .map(|j| (k - s0 * up.powi(j as i32) * down.powi((n - j) as i32)).max(0.0))
        .collect();
    for step in (0..n).rev() {
        for j in 0..=step {
            let hold = discount * (p * values[j + 1] + (1.0 - p) * values[j]);
            let exercise = k - s0 * up.powi(j as i32) * down.powi((step - j) as i32);
            values[j] = hold.max(exercise);
        }
    }
    values[0]
}

#[differentiable]
fn portfolio_variance(w: &[f64], cov: &[[f64; 3]; 3]) -> f64 {
    w.iter()
        .enumerate()
        .map(|(i, wi)| w.iter().enumerate().map(|(j, wj)| wi * wj * cov[i][j]).sum::<f64>())
        .sum()
}

#[differentiable]
fn sharpe(returns: &[f64], risk_free: f64) -> f64 {
    let n = returns.len() as f64;
    let mean = returns.iter().sum::<f64>() / n;
    let var = returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - risk_free) / var.sqrt()
}

#[differentiable]
fn max_drawdown(prices: &[f64]) -> f64 {
    let mut peak = f64::NEG_INFINITY;
    let mut worst = 0.0_f64;
    for &p in prices {
        peak = peak.max(p);
        worst = worst.max((peak - p) / peak);
    }
    worst
}

#[differentiable]
fn asian_option(s0: f64, k: f64, r: f64, sigma: f64, normals: &[f64], steps: usize) -> f64 {
    let dt = 1.0 / steps as f64;
    let payoff: f64 = normals
        .chunks(steps)
        .map(|path| {
            let mut s = s0;
            let mut sum = 0.0;
            for z in path {
                s *= ((r - 0.5 * sigma * sigma) * dt + sigma * dt.sqrt() * z).exp();
                sum += s;
            }
            (sum / path.len() as f64 - k).max(0.0)
        })
        .sum();
    (-r).exp() * payoff / (normals.len() / steps) as f64
}

#[differentiable]
fn day_count(days: i32) -> f64 {
    days as f64 / BASIS
}

#[differentiable]
fn vasicek_bond(r0: f64, a: f64, b: f64, sigma: f64, t: f64) -> f64 {
    let b_t = (1.0 - (-a * t).exp()) / a;
    let a_t = ((b - sigma.powi(2) / (2.0 * a * a)) * (b_t - t)
        - sigma.powi(2) * b_t.powi(2) / (4.0 * a))
        .exp();
    a_t * (-b_t * r0).exp()
}

#[differentiable]
fn interpolate(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    if x <= xs[0] {
        return ys[0];
    }
    let Some(i) = xs.iter().position(|&v| v >= x) else { return *ys.last().unwrap() };
    let t = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    ys[i - 1] + t * (ys[i] - ys[i - 1])
}

#[test]
fn options() {
    for kind in [Kind::Call, Kind::Put] {
        let at = [100.0, 95.0, 0.03, 0.25, 0.75];
        let plain = |x: &[f64]| black_scholes(kind, x[0], x[1], x[2], x[3], x[4]);
        let (value, (_, by_s, by_k, by_r, by_sigma, by_t)) =
            black_scholes::value_and_gradient(kind, at[0], at[1], at[2], at[3], at[4]).unwrap();
        near(value, plain(&at), "black_scholes");
        close(&[by_s, by_k, by_r, by_sigma, by_t], &differences(plain, &at), "black_scholes");
        // Delta is the distribution function of d1.
        let d1 =
            ((at[0] / at[1]).ln() + (at[2] + at[3] * at[3] / 2.0) * at[4]) / (at[3] * at[4].sqrt());
        let delta = if kind == Kind::Call { normal_cdf(d1) } else { -normal_cdf(-d1) };
        near(by_s, delta, "delta");
    }
    let plain = |x: &[f64]| binomial_american_put(x[0], x[1], x[2], x[3], x[4], 12);
    let at = [100.0, 105.0, 0.04, 0.3, 1.25];
    let (value, (a, b, c, d, e)) =
        binomial_american_put::value_and_gradient(at[0], at[1], at[2], at[3], at[4], 12).unwrap();
    near(value, plain(&at), "american");
    close(&[a, b, c, d, e], &differences(plain, &at), "american");
    let normals = [0.5, -0.25, 1.0, -1.5, 0.75, 0.1, -0.3, 0.2];
    let plain = |x: &[f64]| asian_option(x[0], 95.0, 0.03, x[1], &normals, 3);
    let (value, (by_s, _, _, by_sigma, _)) =
        asian_option::value_and_gradient(100.0, 95.0, 0.03, 0.25, &normals, 3).unwrap();
    near(value, plain(&[100.0, 0.25]), "asian");
    close(&[by_s, by_sigma], &differences(plain, &[100.0, 0.25]), "asian");
    // Rust has no chunks of nothing.
    let error = asian_option::value(100.0, 95.0, 0.03, 0.25, &normals, 0).unwrap_err().to_string();
    assert!(error.contains("chunk size must be non-zero"), "{error}");
}

#[test]
fn rates() {
    let flows = |x: &[f64]| -> Vec<Flow> {
        x.chunks_exact(2).map(|c| Flow { time: c[0], amount: c[1] }).collect()
    };
    let at = [0.5, 3.0, 1.25, -2.0, 2.0, 105.0];
    let (value, (by, by_rate)) = present_value::value_and_gradient(&flows(&at), 0.04).unwrap();
    near(value, present_value(&flows(&at), 0.04), "present_value");
    let by: Vec<f64> = by.iter().flat_map(|f| [f.time, f.amount]).collect();
    close(&by, &differences(|x| present_value(&flows(x), 0.04), &at), "flows");
    close(&[by_rate], &differences(|r| present_value(&flows(&at), r[0]), &[0.04]), "rate");
    let plain = |x: &[f64]| bond_price(x[0], x[1], x[2], 10);
    let (value, (a, b, c)) = bond_price::value_and_gradient(100.0, 0.05, 0.04, 10).unwrap();
    near(value, plain(&[100.0, 0.05, 0.04]), "bond");
    close(&[a, b, c], &differences(plain, &[100.0, 0.05, 0.04]), "bond");
    let flows = [-100.0, 10.0, 20.0, 90.0];
    let (value, (by, _)) = irr::value_and_gradient(&flows, 0.1).unwrap();
    near(value, irr(&flows, 0.1), "irr");
    // By the implicit function.
    let slope: f64 =
        (0..4).map(|i| -(i as f64) * flows[i] * (1.0 + value).powi(-(i as i32) - 1)).sum();
    let expected: Vec<f64> = (0..4).map(|i| -(1.0 + value).powi(-i) / slope).collect();
    close(&by, &expected, "irr");
    let plain = |x: &[f64]| vasicek_bond(x[0], x[1], x[2], x[3], x[4]);
    let at = [0.03, 0.5, 0.04, 0.02, 5.0];
    let (value, (a, b, c, d, e)) =
        vasicek_bond::value_and_gradient(at[0], at[1], at[2], at[3], at[4]).unwrap();
    near(value, plain(&at), "vasicek");
    close(&[a, b, c, d, e], &differences(plain, &at), "vasicek");
    assert_eq!(day_count::value(90).unwrap(), day_count(90));
    let (xs, ys) = ([0.0, 1.0, 2.5, 4.0], [1.0, 3.0, 2.0, 5.0]);
    for x in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.75, 4.0, 9.0] {
        let (value, (_, by_ys, _)) = interpolate::value_and_gradient(&xs, &ys, x).unwrap();
        assert_eq!(value, interpolate(&xs, &ys, x), "{x}");
        close(&by_ys, &differences(|ys| interpolate(&xs, ys, x), &ys), "interpolate");
    }
}

#[test]
fn portfolios() {
    let cov = [[0.04, 0.01, 0.0], [0.01, 0.09, -0.02], [0.0, -0.02, 0.16]];
    let w = [0.5, 0.25, 0.25];
    let (value, (by, _)) = portfolio_variance::value_and_gradient(&w, &cov).unwrap();
    assert_eq!(value, portfolio_variance(&w, &cov));
    let twice: Vec<f64> =
        (0..3).map(|i| 2.0 * (0..3).map(|j| cov[i][j] * w[j]).sum::<f64>()).collect();
    close(&by, &twice, "portfolio");
    let returns = [0.01, -0.02, 0.03, 0.005, 0.015];
    let (value, (by, _)) = sharpe::value_and_gradient(&returns, 0.002).unwrap();
    near(value, sharpe(&returns, 0.002), "sharpe");
    close(&by, &differences(|r| sharpe(r, 0.002), &returns), "sharpe");
    let prices = [100.0, 110.0, 90.0, 95.0, 130.0, 120.0];
    let (value, by) = max_drawdown::value_and_gradient(&prices).unwrap();
    assert_eq!(value, max_drawdown(&prices));
    close(&by, &differences(max_drawdown, &prices), "drawdown");
}
