//! Equations on grids, linear algebra, quadrature, roots and minima.

use jut::differentiable;

#[differentiable]
fn burgers_residual(x: &[f64]) -> f64 {
    let n = x.len();
    let (dx, nu) = (1.0 / (n as f64), 0.01);
    let mut r = vec![0.0; n];
    for i in 0..n {
        let left = if i == 0 { x[n - 1] } else { x[i - 1] };
        let right = if i + 1 == n { x[0] } else { x[i + 1] };
        r[i] = x[i] * (right - left) / (2.0 * dx) - nu * (right - 2.0 * x[i] + left) / dx.powi(2);
    }
    r.iter().map(|r| r * r).sum::<f64>().sqrt()
}

#[differentiable]
fn laplace_2d(x: &[f64]) -> f64 {
    const N: usize = 4;
    let mut u = [[0.0; N]; N];
    for j in 0..N {
        u[0][j] = x[j % x.len()];
        u[N - 1][j] = -x[(j + 1) % x.len()];
    }
    for _sweep in 0..6 {
        for i in 1..N - 1 {
            for j in 1..N - 1 {
                u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
            }
        }
    }
    u.iter().flatten().map(|v| v * v).sum()
}

#[differentiable]
fn advection_upwind(x: &[f64]) -> f64 {
    let mut u: Vec<f64> = x.to_vec();
    let c = 0.4;
    let steps = 8;
    for _ in 0..steps {
        let prev = u.clone();
        for (i, ui) in u.iter_mut().enumerate() {
            let p = if i == 0 { *prev.last().unwrap() } else { prev[i - 1] };
            *ui = prev[i] - c * (prev[i] - p);
        }
    }
    u.iter().enumerate().map(|(i, v)| v * (i as f64)).sum::<f64>()
}

#[differentiable]
fn thomas(x: &[f64]) -> f64 {
    let n = x.len();
    let mut c = vec![0.0; n];
    let mut d = vec![0.0; n];
    c[0] = -1.0 / 4.0;
    d[0] = x[0] / 4.0;
    for i in 1..n {
        let m = 4.0 + c[i - 1];
        c[i] = -1.0 / m;
        d[i] = (x[i] + d[i - 1]) / m;
    }
    for i in (0..n - 1).rev() {
        d[i] -= c[i] * d[i + 1];
    }
    d.iter().map(|v| v * v).sum()
}

#[differentiable]
fn power_iteration(x: &[f64]) -> f64 {
    let m = [[2.0, x[0], 0.0], [x[0], 3.0, x[1]], [0.0, x[1], 4.0]];
    let mut v = [1.0, 1.0, 1.0];
    let mut lambda = 0.0;
    for _ in 0..15 {
        let w = m.map(|row| row.iter().zip(v.iter()).map(|(a, b)| a * b).sum::<f64>());
        lambda = w.iter().map(|c| c * c).sum::<f64>().sqrt();
        v = w.map(|c| c / lambda);
    }
    lambda
}

#[differentiable]
fn golden_section(x: &[f64]) -> f64 {
    let f = |t: f64| (t - x[0]).powi(2) + 0.1 * (x[1] * t).sin();
    let phi = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (-3.0_f64, 3.0);
    while (b - a).abs() > 1e-3 {
        let c = b - phi * (b - a);
        let d = a + phi * (b - a);
        if f(c) < f(d) { b = d } else { a = c }
    }
    f((a + b) / 2.0)
}

#[differentiable]
fn bisect(x: &[f64]) -> Option<f64> {
    let f = |t: f64| t.powi(3) - x[0].abs() - 1.0 + x[1] * 0.01 * t;
    let (mut lo, mut hi) = (0.0, 10.0);
    if f(lo) * f(hi) > 0.0 {
        return None;
    }
    for _ in 0..60 {
        let mid = 0.5 * (lo + hi);
        if f(mid).signum() == f(lo).signum() {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    let root = 0.5 * (lo + hi);
    // One step of Newton carries the derivative.
    let slope = 3.0 * root * root + x[1] * 0.01;
    Some(root - f(root) / slope)
}

#[differentiable]
fn bisected(x: &[f64]) -> f64 {
    bisect(x).expect("a root")
}

#[differentiable]
fn gradient_descent(x: &[f64]) -> f64 {
    let mut p = [x[0], x[1]];
    let mut velocity = [0.0, 0.0];
    for step in 1..=10 {
        let g = [2.0 * (p[0] - 1.0) + p[1], p[0] + 4.0 * p[1]];
        for ((p, v), g) in p.iter_mut().zip(velocity.iter_mut()).zip(g) {
            *v = 0.9 * *v - 0.05 / step as f64 * g;
            *p += *v;
        }
    }
    (p[0] - 1.0).powi(2) + p[0] * p[1] + 2.0 * p[1].powi(2)
}

#[differentiable]
fn himmelblau_penalty(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    let base = (a * a + b - 11.0).powi(2) + (a + b * b - 7.0).powi(2);
    let violation =
        [a + b - 4.0, -a, b - 5.0].iter().map(|g| g.max(0.0)).map(|g| g * g).sum::<f64>();
    base + 1e2 * violation
}

#[differentiable]
fn trapezoid_cumulative(x: &[f64]) -> f64 {
    let mut cumulative = vec![0.0];
    for i in 1..x.len() {
        let last = cumulative[i - 1];
        cumulative.push(last + 0.5 * (x[i] + x[i - 1]));
    }
    cumulative.iter().sum()
}

#[differentiable]
fn simpson(x: &[f64]) -> f64 {
    let f = |t: f64| x.iter().rev().fold(0.0, |acc, c| acc * t + c);
    let n = 10;
    let h = 1.0 / n as f64;
    let mut s = f(0.0) + f(1.0);
    for i in 1..n {
        s += f(i as f64 * h) * if i % 2 == 0 { 2.0 } else { 4.0 };
    }
    s * h / 3.0
}

#[differentiable]
fn romberg(x: &[f64]) -> f64 {
    let f = |t: f64| (x[0] * t).sin() * (-t * x[1].abs()).exp();
    const M: usize = 5;
    let mut r = [[0.0; M]; M];
    let mut n: u32 = 1;
    for i in 0..M {
        let h = 2.0 / n as f64;
        let inner: f64 = (1..n).map(|k| f(k as f64 * h)).sum();
        r[i][0] = h * (0.5 * (f(0.0) + f(2.0)) + inner);
        for j in 1..=i {
            let factor = 4f64.powi(j as i32);
            r[i][j] = (factor * r[i][j - 1] - r[i - 1][j - 1]) / (factor - 1.0);
        }
        n *= 2;
    }
    r[M - 1][M - 1]
}

#[differentiable]
fn cubic_spline(x: &[f64]) -> f64 {
    let n = x.len();
    let mut m = vec![0.0; n];
    let mut u = vec![0.0; n];
    for i in 1..n - 1 {
        let p = 0.5 * m[i - 1] + 2.0;
        m[i] = -0.5 / p;
        u[i] = (3.0 * (x[i + 1] - 2.0 * x[i] + x[i - 1]) - 0.5 * u[i - 1]) / p;
    }
    for k in (0..n - 1).rev() {
        m[k] = m[k] * m[k + 1] + u[k];
    }
    let at = |t: f64| {
        let i = (t as usize).min(n - 2);
        let (a, b) = ((i + 1) as f64 - t, t - i as f64);
        a * x[i] + b * x[i + 1] + ((a.powi(3) - a) * m[i] + (b.powi(3) - b) * m[i + 1]) / 6.0
    };
    at(0.5) + at(1.25) * at(3.75)
}

#[differentiable]
fn bezier(x: &[f64]) -> f64 {
    let mut p = x.to_vec();
    let t = 0.3;
    for k in 1..p.len() {
        for i in 0..p.len() - k {
            p[i] = (1.0 - t) * p[i] + t * p[i + 1];
        }
    }
    p[0]
}

#[differentiable]
fn legendre(x: &[f64]) -> f64 {
    fn p(n: usize, t: f64) -> f64 {
        match n {
            0 => 1.0,
            1 => t,
            _ => ((2 * n - 1) as f64 * t * p(n - 1, t) - (n - 1) as f64 * p(n - 2, t)) / n as f64,
        }
    }
    x.iter().enumerate().map(|(n, c)| c * p(n, 0.7)).sum()
}

#[differentiable]
fn softmin_path(x: &[f64]) -> f64 {
    let n = x.len();
    let mut cost = vec![f64::INFINITY; n];
    cost[0] = x[0];
    for i in 1..n {
        let mut best = f64::INFINITY;
        for back in 1..=2 {
            if back > i {
                break;
            }
            best = best.min(cost[i - back] + x[i] * x[i - back]);
        }
        cost[i] = best;
    }
    cost[n - 1]
}

#[differentiable]
fn van_genuchten(x: &[f64]) -> f64 {
    let heads = [-0.1_f64, -1.0, -10.0, 0.5];
    let (alpha, n) = (0.5 + 0.1 * x[0].abs(), 1.5 + 0.1 * x[1].abs());
    heads
        .iter()
        .map(
            |&h| {
                if h >= 0.0 {
                    1.0
                } else {
                    (1.0 + (alpha * h.abs()).powf(n)).powf(-(1.0 - 1.0 / n))
                }
            },
        )
        .product()
}

#[differentiable]
fn colebrook(x: &[f64]) -> f64 {
    let re = 1e4 * (1.0 + x[0].abs());
    let rough = 1e-3 * (1.0 + x[1].abs());
    let mut f: f64 = 0.02;
    for _ in 0..30 {
        let rhs = -2.0 * (rough / 3.7 + 2.51 / (re * f.sqrt())).log10();
        let next = 1.0 / (rhs * rhs);
        if (next - f).abs() < 1e-14 {
            return next * 100.0;
        }
        f = next;
    }
    f * 100.0
}

#[differentiable]
fn planck(x: &[f64]) -> f64 {
    (1..=5u32)
        .map(|k| {
            let nu = f64::from(k) * 0.5;
            nu.powi(3) / (nu / (1.0 + x[0].abs())).exp_m1()
        })
        .sum()
}

#[test]
fn values_and_gradients() {
    super::check!(burgers_residual laplace_2d advection_upwind thomas power_iteration golden_section bisected gradient_descent himmelblau_penalty trapezoid_cumulative simpson romberg cubic_spline bezier legendre softmin_path van_genuchten colebrook planck);
}
