//! Drugs in the body, and solvers: steps of differential equations, roots, systems of equations.

use super::{close, differences, near};
use jut::{Data, differentiable};

#[differentiable]
fn one_compartment(dose: f64, ka: f64, ke: f64, volume: f64, t: f64) -> f64 {
    if (ka - ke).abs() < 1e-9 {
        dose / volume * ka * t * (-ke * t).exp()
    } else {
        dose * ka / (volume * (ka - ke)) * ((-ke * t).exp() - (-ka * t).exp())
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Dose {
    time: f64,
    amount: f64,
}

#[differentiable]
fn superposition(doses: &[Dose], ka: f64, ke: f64, volume: f64, t: f64) -> f64 {
    doses
        .iter()
        .filter(|d| d.time <= t)
        .map(|d| one_compartment(d.amount, ka, ke, volume, t - d.time))
        .sum()
}

#[differentiable]
fn two_compartment(params: &[f64; 4], dose: f64, times: &[f64]) -> Vec<f64> {
    let [cl, v1, q, v2] = *params;
    let rhs = |a: [f64; 2]| -> [f64; 2] {
        [-cl / v1 * a[0] - q / v1 * a[0] + q / v2 * a[1], q / v1 * a[0] - q / v2 * a[1]]
    };
    let mut a = [dose, 0.0];
    let mut t = 0.0;
    let mut out = Vec::new();
    for &target in times {
        while t < target {
            let h = f64::min(0.05, target - t);
            let k1 = rhs(a);
            let k2 = rhs([a[0] + h * k1[0], a[1] + h * k1[1]]);
            for (ai, (p, q)) in a.iter_mut().zip(k1.iter().zip(&k2)) {
                *ai += 0.5 * h * (p + q);
            }
            t += h;
        }
        out.push(a[0] / v1);
    }
    out
}

#[differentiable]
fn pk_objective(params: &[f64; 4], dose: f64, times: &[f64], observed: &[f64]) -> f64 {
    let predicted = two_compartment(params, dose, times);
    predicted.iter().zip(observed).map(|(p, o)| (p.ln() - o.ln()).powi(2)).sum()
}

#[differentiable]
fn hill(c: f64, emax: f64, ec50: f64, n: f64) -> f64 {
    let cn = c.powf(n);
    emax * cn / (ec50.powf(n) + cn)
}

#[differentiable]
fn rk4<F: Fn(f64, [f64; 2]) -> [f64; 2]>(
    f: F,
    y0: [f64; 2],
    t0: f64,
    t1: f64,
    n: usize,
) -> [f64; 2] {
    let h = (t1 - t0) / n as f64;
    let mut y = y0;
    let mut t = t0;
    let step = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    for _ in 0..n {
        let k1 = f(t, y);
        let k2 = f(t + h / 2.0, step(y, k1, h / 2.0));
        let k3 = f(t + h / 2.0, step(y, k2, h / 2.0));
        let k4 = f(t + h, step(y, k3, h));
        for i in 0..2 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        t += h;
    }
    y
}

#[differentiable]
fn lotka_volterra(theta: &[f64; 4], y0: &[f64; 2], t: f64) -> f64 {
    let [alpha, beta, delta, gamma] = *theta;
    let y = rk4(
        |_t, y| [alpha * y[0] - beta * y[0] * y[1], delta * y[0] * y[1] - gamma * y[1]],
        *y0,
        0.0,
        t,
        100,
    );
    y[0] + y[1]
}

#[differentiable]
fn bisect(f: impl Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> f64 {
    let sign = f(lo).signum();
    while hi - lo > 1e-12 {
        let mid = 0.5 * (lo + hi);
        if f(mid).signum() == sign { lo = mid } else { hi = mid }
    }
    0.5 * (lo + hi)
}

#[differentiable]
fn cube_root(a: f64) -> f64 {
    bisect(|x| x * x * x - a, 0.0, a)
}

#[differentiable]
fn newton_sqrt(a: f64) -> f64 {
    let mut x = a;
    let x = loop {
        let next = 0.5 * (x + a / x);
        if (next - x).abs() <= f64::EPSILON * x {
            break next;
        }
        x = next;
    };
    x
}

#[differentiable]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |acc, c| acc * x + c)
}

#[differentiable]
fn bilinear(grid: &[f64], width: usize, x: f64, y: f64) -> f64 {
    let i = x.floor() as usize;
    let j = y.floor() as usize;
    let (fx, fy) = (x - i as f64, y - j as f64);
    let at = |i: usize, j: usize| grid[j * width + i];
    at(i, j) * (1.0 - fx) * (1.0 - fy)
        + at(i + 1, j) * fx * (1.0 - fy)
        + at(i, j + 1) * (1.0 - fx) * fy
        + at(i + 1, j + 1) * fx * fy
}

#[differentiable]
fn smoothstep(edge0: f64, edge1: f64, x: f64) -> f64 {
    let t = ((x - edge0) / (edge1 - edge0)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[differentiable]
fn cholesky_logdet(a: &[[f64; 3]; 3]) -> f64 {
    let mut l = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let s: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            if i == j {
                l[i][i] = (a[i][i] - s).sqrt();
            } else {
                l[i][j] = (a[i][j] - s) / l[j][j];
            }
        }
    }
    2.0 * (0..3).map(|i| l[i][i].ln()).sum::<f64>()
}

#[differentiable]
fn solve(a: &[[f64; 3]; 3], b: &[f64; 3]) -> [f64; 3] {
    let mut a = *a;
    let mut b = *b;
    for col in 0..3 {
        let mut pivot = col;
        for row in col + 1..3 {
            if a[row][col].abs() > a[pivot][col].abs() {
                pivot = row;
            }
        }
        a.swap(col, pivot);
        b.swap(col, pivot);
        for row in col + 1..3 {
            let factor = a[row][col] / a[col][col];
            for k in col..3 {
                a[row][k] -= factor * a[col][k];
            }
            b[row] -= factor * b[col];
        }
    }
    let mut x = [0.0; 3];
    for i in (0..3).rev() {
        let mut s = b[i];
        for k in i + 1..3 {
            s -= a[i][k] * x[k];
        }
        x[i] = s / a[i][i];
    }
    x
}

#[test]
fn concentrations() {
    let plain = |x: &[f64]| one_compartment(x[0], x[1], x[2], x[3], x[4]);
    for at in [[100.0, 1.2, 0.15, 20.0, 3.0], [100.0, 0.5, 0.5, 20.0, 3.0]] {
        let [dose, ka, ke, volume, t] = at;
        let (value, (by_dose, _, _, by_volume, by_t)) =
            one_compartment::value_and_gradient(dose, ka, ke, volume, t).unwrap();
        near(value, plain(&at), "one_compartment");
        close(&[by_dose, by_volume], &[value / dose, -value / volume], "one_compartment");
        close(&[by_t], &differences(plain, &at)[4..], "one_compartment");
    }
    let doses =
        [(0.0, 100.0), (8.0, 50.0), (30.0, 1.0)].map(|(time, amount)| Dose { time, amount });
    let (value, (by, by_ka, ..)) =
        superposition::value_and_gradient(&doses, 1.2, 0.15, 20.0, 12.0).unwrap();
    near(value, superposition(&doses, 1.2, 0.15, 20.0, 12.0), "superposition");
    // The last one comes later.
    assert_eq!(by[2], Dose { time: 0.0, amount: 0.0 });
    let plain = |ka: &[f64]| superposition(&doses, ka[0], 0.15, 20.0, 12.0);
    close(&[by_ka], &differences(plain, &[1.2]), "superposition");
    let params = [2.0, 10.0, 1.5, 15.0];
    let times = [0.5, 1.0, 2.5];
    assert_eq!(
        two_compartment::value(&params, 100.0, &times).unwrap(),
        two_compartment(&params, 100.0, &times)
    );
    let observed = [9.0, 7.5, 4.0];
    let (value, (by, by_dose, ..)) =
        pk_objective::value_and_gradient(&params, 100.0, &times, &observed).unwrap();
    near(value, pk_objective(&params, 100.0, &times, &observed), "objective");
    let plain = |x: &[f64]| pk_objective(&[x[0], x[1], x[2], x[3]], x[4], &times, &observed);
    let all = differences(plain, &[2.0, 10.0, 1.5, 15.0, 100.0]);
    close(&[by[0], by[1], by[2], by[3], by_dose], &all, "objective");
    let plain = |x: &[f64]| hill(x[0], x[1], x[2], x[3]);
    let (value, (a, b, c, d)) = hill::value_and_gradient(3.0, 10.0, 2.5, 1.5).unwrap();
    near(value, plain(&[3.0, 10.0, 2.5, 1.5]), "hill");
    close(&[a, b, c, d], &differences(plain, &[3.0, 10.0, 2.5, 1.5]), "hill");
}

#[test]
fn solvers() {
    let (theta, y0) = ([1.1, 0.4, 0.1, 0.4], [10.0, 5.0]);
    let (value, (by, by_y0, _)) = lotka_volterra::value_and_gradient(&theta, &y0, 3.0).unwrap();
    near(value, lotka_volterra(&theta, &y0, 3.0), "lotka_volterra");
    let plain = |x: &[f64]| lotka_volterra(&[x[0], x[1], x[2], x[3]], &[x[4], x[5]], 3.0);
    let all = differences(plain, &[1.1, 0.4, 0.1, 0.4, 10.0, 5.0]);
    close(&[by[0], by[1], by[2], by[3], by_y0[0], by_y0[1]], &all, "lotka_volterra");
    let (value, by) = newton_sqrt::value_and_gradient(2.5).unwrap();
    assert_eq!(value, newton_sqrt(2.5));
    near(by, 0.5 / value, "newton_sqrt");
    let (value, by) = cube_root::value_and_gradient(5.0).unwrap();
    // By halves of what it begins with: a fixed part of that, and no derivative of the root.
    assert_eq!(value, cube_root(5.0));
    near(by, value / 5.0, "cube_root");
    let c = [1.0, -2.0, 0.5, 3.0];
    let (value, (by_c, by_x)) = polynomial::value_and_gradient(&c, 1.5).unwrap();
    assert_eq!(value, polynomial(&c, 1.5));
    close(&by_c, &[1.0, 1.5, 2.25, 3.375], "polynomial");
    near(by_x, -2.0 + 2.0 * 0.5 * 1.5 + 3.0 * 3.0 * 2.25, "polynomial");
    let grid: Vec<f64> = (0..12).map(|k| (k * k % 7) as f64).collect();
    let (value, (_, by_x, by_y)) = bilinear::value_and_gradient(&grid, 4, 1.25, 0.5).unwrap();
    assert_eq!(value, bilinear(&grid, 4, 1.25, 0.5));
    let by = differences(|x| bilinear(&grid, 4, x[0], x[1]), &[1.25, 0.5]);
    close(&[by_x, by_y], &by, "bilinear");
    assert!(bilinear::value(&grid, 4, 3.25, 2.0).is_err());
    for x in [-1.0, 0.25, 2.0] {
        assert_eq!(smoothstep::value(0.0, 1.0, x).unwrap(), smoothstep(0.0, 1.0, x));
    }
}

#[test]
fn systems_of_equations() {
    let a = [[0.5, 1.0, 0.25], [4.0, 2.0, -1.0], [1.0, -0.5, 3.0]];
    let b = [1.0, 2.0, -0.5];
    assert_eq!(solve::value(&a, &b).unwrap(), solve(&a, &b));
    // The transposed system gives what the right side counts for.
    let (x, (by_a, by_b)) = solve::vjp(&a, &b, &[1.0, 0.0, 0.0]).unwrap();
    let mut transposed = a;
    for i in 0..3 {
        for j in 0..3 {
            transposed[i][j] = a[j][i];
        }
    }
    close(&by_b, &solve(&transposed, &[1.0, 0.0, 0.0]), "right side");
    near(by_a[1][2], -by_b[1] * x[2], "matrix");
    let a = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]];
    let (value, by) = cholesky_logdet::value_and_gradient(&a).unwrap();
    near(value, cholesky_logdet(&a), "logdet");
    let flat = a.concat();
    let plain = |x: &[f64]| {
        let rows: Vec<[f64; 3]> = x.chunks(3).map(|r| [r[0], r[1], r[2]]).collect();
        cholesky_logdet(&rows.try_into().unwrap())
    };
    close(&by.concat(), &differences(plain, &flat), "logdet");
}
