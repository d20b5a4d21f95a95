//! Water, light and polynomials as ports of old programs have them: bands of a matrix in one work array, loops that a flag ends.

use jut::differentiable;
use jut::math::{atan2, exp, log, pow, tanh};

// A conceptual catchment: snow, soil, two boxes, a triangular weight.
#[differentiable]
fn hbv(x: &[f64]) -> f64 {
    let par = &x[0..5];
    let forcing = &x[5..];
    let (tt, cfmax, fc, beta, k0) = (par[0], par[1], par[2], par[3], par[4]);
    let ndays = forcing.len() / 2;
    let (mut snow, mut sm, mut suz, mut slz) = (0.0f64, 30.0f64, 0.0f64, 2.0f64);
    let mut q = vec![0.0; ndays];
    for day in 0..ndays {
        let p = forcing[2 * day];
        let temp = forcing[2 * day + 1];
        let mut water = 0.0;
        if temp < tt {
            snow += p;
        } else {
            water = p;
            let melt = f64::min(cfmax * (temp - tt), snow);
            snow -= melt;
            water += melt;
        }
        let recharge = water * pow(sm / fc, beta);
        sm = sm + water - recharge;
        let excess = (sm - fc).max(0.0);
        sm -= excess;
        let evap = if temp > 0.0 { 0.1 * temp * (sm / fc).min(1.0) } else { 0.0 };
        sm = (sm - evap).max(0.0);
        suz += recharge + excess;
        let perc = if suz > 1.0 { 1.0 } else { suz };
        suz -= perc;
        slz += perc;
        let q0 = k0 * f64::max(suz - 2.0, 0.0);
        let q1 = 0.1 * suz;
        let q2 = 0.05 * slz;
        suz -= q0 + q1;
        slz -= q2;
        q[day] = q0 + q1 + q2;
    }
    let maxbas = 3;
    let mut weights = vec![0f64; maxbas];
    for i in 1..=maxbas {
        weights[i - 1] = 1.0 - (2.0 * i as f64 - 1.0 - maxbas as f64).abs() / maxbas as f64;
    }
    let wsum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= wsum);
    let mut peak = 0.0;
    for day in 0..ndays {
        let mut routed = 0.0;
        for (lag, w) in weights.iter().enumerate() {
            if lag > day {
                break;
            }
            routed += w * q[day - lag];
        }
        if routed > peak {
            peak = routed;
        }
    }
    peak
}

// Two-stream radiation through layers, with a work array that holds the bands of the matrix.
#[differentiable]
fn two_stream(tau: &[f64], omega: f64, mu0: f64, surface: f64, work: &mut [f64]) -> f64 {
    let nlay = tau.len();
    let neq = 2 * nlay;
    let gamma1 = 2.0 - 1.5 * omega;
    let gamma2 = 0.5 * omega;
    let (lower, upper) = work.split_at_mut(2 * neq);
    let (sub, diag) = lower.split_at_mut(neq);
    let (sup, rhs) = upper.split_at_mut(neq);
    let mut depth = 0.0;
    for l in 0..nlay {
        let beam = exp(-depth / mu0);
        depth += tau[l];
        let (up, down) = (2 * l, 2 * l + 1);
        diag[up] = 1.0 + gamma1 * tau[l];
        sup[up] = -gamma2 * tau[l];
        sub[up] = if l == 0 { 0.0 } else { -0.3 };
        rhs[up] = omega * 0.5 * beam * tau[l];
        diag[down] = 1.0 + gamma1 * tau[l];
        sub[down] = -gamma2 * tau[l];
        sup[down] = if l + 1 == nlay { 0.0 } else { -0.3 };
        rhs[down] = omega * 0.5 * exp(-depth / mu0) * tau[l];
    }
    rhs[neq - 1] += surface * mu0 * exp(-depth / mu0);
    for i in 1..neq {
        let f = sub[i] / diag[i - 1];
        diag[i] -= f * sup[i - 1];
        rhs[i] -= f * rhs[i - 1];
    }
    rhs[neq - 1] /= diag[neq - 1];
    for i in (0..neq - 1).rev() {
        rhs[i] = (rhs[i] - sup[i] * rhs[i + 1]) / diag[i];
    }
    rhs[0]
}

#[differentiable]
fn albedo(x: &[f64]) -> f64 {
    let nlay = x.len() - 2;
    let mut work = vec![0.0; 8 * nlay];
    let mut total = 0.0;
    for &mu0 in &[0.3, 0.6, 0.9] {
        work.fill(0.0);
        total += mu0 * two_stream(&x[2..], x[0], mu0, x[1], &mut work[..]);
    }
    total
}

// Swendsen's friction factor by Colebrook with a flag, and the pumps that it needs.
#[differentiable]
fn colebrook(re: f64, rough: f64) -> f64 {
    if re < 2300.0 {
        return 64.0 / re;
    }
    let mut f = 0.02f64;
    let mut converged = false;
    let mut it = 0;
    while !converged && it < 50 {
        let old = f;
        let lhs = -2.0 * log(rough / 3.7 + 2.51 / (re * f.sqrt())) / std::f64::consts::LN_10;
        f = 1.0 / (lhs * lhs);
        converged = (f - old).abs() < 1e-14;
        it += 1;
    }
    f
}

#[differentiable]
fn pump_power(x: &[f64]) -> f64 {
    let nseg = x.len() / 3;
    let mut head = 0.0;
    let mut k = 0;
    'segments: loop {
        if k >= nseg {
            break 'segments;
        }
        let (flow, diam, len) = (x[3 * k], x[3 * k + 1], x[3 * k + 2]);
        k += 1;
        if len <= 0.0 {
            continue 'segments;
        }
        let v = 4.0 * flow / (std::f64::consts::PI * diam * diam);
        let re = v.abs() * diam / 1e-3;
        head += colebrook(re, 1e-3) * len / diam * v * v.abs() / (2.0 * 9.81);
    }
    head
}

// Simulated wells: Theis' solution by a series or a continued fraction.
#[differentiable]
fn exp_integral(x: f64) -> f64 {
    const EULER: f64 = 0.5772156649015329;
    if x <= 0.0 {
        panic!("bad argument");
    } else if x > 1.0 {
        let mut b = x + 1.0;
        let mut c = 1e30;
        let mut d = 1.0 / b;
        let mut h = d;
        for i in 1..=60 {
            let an = -(i * i) as f64;
            b += 2.0;
            d = 1.0 / (an * d + b);
            c = b + an / c;
            let del = c * d;
            h *= del;
            if (del - 1.0).abs() < 1e-15 {
                break;
            }
        }
        h * exp(-x)
    } else {
        let mut ans = -log(x) - EULER;
        let mut fact = 1.0;
        for i in 1..60 {
            fact *= -x / i as f64;
            let del = -fact / i as f64;
            ans += del;
            if del.abs() < ans.abs() * 1e-16 {
                break;
            }
        }
        ans
    }
}

#[differentiable]
fn drawdown_of_wells(x: &[f64]) -> f64 {
    let transmissivity = x[0];
    let storage = x[1];
    let mut s = 0f64;
    let mut w = 2;
    while w + 2 < x.len() {
        let [q, wx, wy] = [x[w], x[w + 1], x[w + 2]];
        let r2 = wx * wx + wy * wy;
        for day in [1.0, 5.0, 20.0] {
            let u = r2 * storage / (4.0 * transmissivity * day);
            s += q / (4.0 * std::f64::consts::PI * transmissivity) * exp_integral(u);
        }
        w += 3;
    }
    s
}

// Polynomial roots by Bairstow, as in a book of BASIC.
#[differentiable]
fn bairstow(a: &[f64], r: &mut f64, s: &mut f64) -> i32 {
    let n = a.len() - 1;
    let mut b = [0.0f64; 12];
    let mut c = [0.0f64; 12];
    let mut count = 0;
    while count < 60 {
        b[n] = a[n];
        b[n - 1] = a[n - 1] + *r * b[n];
        c[n] = b[n];
        c[n - 1] = b[n - 1] + *r * c[n];
        let mut i = n as i32 - 2;
        while i >= 0 {
            let k = i as usize;
            b[k] = a[k] + *r * b[k + 1] + *s * b[k + 2];
            c[k] = b[k] + *r * c[k + 1] + *s * c[k + 2];
            i -= 1;
        }
        let det = c[2] * c[2] - c[3] * c[1];
        if det == 0.0 {
            *r += 1.0;
            *s += 1.0;
            count += 1;
            continue;
        }
        let dr = (-b[1] * c[2] + b[0] * c[3]) / det;
        let ds = (-b[0] * c[2] + b[1] * c[1]) / det;
        *r += dr;
        *s += ds;
        if dr.abs() + ds.abs() < 1e-13 {
            return count;
        }
        count += 1;
    }
    -1
}

#[differentiable]
fn slowest_mode(a: &[f64]) -> f64 {
    let (mut r, mut s) = (-0.5, -0.9);
    let status = bairstow(a, &mut r, &mut s);
    if status < 0 {
        return f64::NAN;
    }
    let disc = r * r + 4.0 * s;
    if disc >= 0.0 { 0.5 * (r + disc.sqrt()) } else { atan2((-disc).sqrt(), r) + 0.1 * tanh(r) }
}

// Factors without signs by multiplicative updates.
#[differentiable]
fn matmul(a: &Vec<Vec<f64>>, b: &Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let (n, k, m) = (a.len(), b.len(), b[0].len());
    let mut c = vec![vec![0.0; m]; n];
    for i in 0..n {
        for j in 0..m {
            for l in 0..k {
                c[i][j] += a[i][l] * b[l][j];
            }
        }
    }
    c
}

#[differentiable]
fn transposed(a: &Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

#[differentiable]
fn nmf_residual(x: &[f64]) -> f64 {
    let v: Vec<Vec<f64>> = x.chunks_exact(3).map(<[f64]>::to_vec).collect();
    let rank = 2;
    let mut w: Vec<Vec<f64>> = (0..v.len())
        .map(|i| (0..rank).map(|r| 0.5 + 0.1 * ((i + 2 * r) % 3) as f64).collect())
        .collect();
    let mut h: Vec<Vec<f64>> =
        (0..rank).map(|r| (0..3).map(|j| 0.4 + 0.2 * ((j + r) % 2) as f64).collect()).collect();
    let eps = 1e-9;
    for _it in 0..4 {
        let wt = transposed(&w);
        let num = matmul(&wt, &v);
        let den = matmul(&matmul(&wt, &w), &h);
        for r in 0..rank {
            for j in 0..3 {
                h[r][j] *= num[r][j] / (den[r][j] + eps);
            }
        }
        let ht = transposed(&h);
        let num = matmul(&v, &ht);
        let den = matmul(&w, &matmul(&h, &ht));
        for i in 0..w.len() {
            for r in 0..rank {
                w[i][r] *= num[i][r] / (den[i][r] + eps);
            }
        }
    }
    let approx = matmul(&w, &h);
    let mut res = 0.0;
    for (row, fit) in v.iter().zip(approx.iter()) {
        for (a, b) in row.iter().zip(fit.iter()) {
            res += (a - b) * (a - b);
        }
    }
    res
}

#[test]
fn catchments_layers_and_wells() {
    everywhere! {
        hbv at [0.0, 2.0, 50.0, 1.5, 0.3, 5.0, -2.0, 8.0, -1.0, 12.0, 3.0, 20.0, 5.0, 2.0, 4.0];
        albedo at [0.8, 0.3, 0.1, 0.5, 0.2], [0.9, 0.2, 0.4];
        pump_power at [0.03, 0.15, 20.0, 0.02, 0.2, -5.0, 0.0001, 0.1, 4.0], [0.03, 0.15];
        drawdown_of_wells at [2.0, 0.1, 1.0, 3.0, 1.0, 0.5, 12.0, 9.0], [2.0, 0.1, 1.0, 0.0, 0.0];
        nmf_residual at [1.0, 0.5, 0.2, 0.3, 0.9, 0.8, 0.7, 0.1, 0.4];
        slowest_mode at [1.0, 2.0, 3.5, 2.5, 1.0], [6.0, -5.0, -2.0, 1.0];
    }
}
