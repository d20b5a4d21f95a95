//! Functions as people write them, of many fields.

use super::{close, differences, same};
use jut::differentiable;
use jut::math::{cos, exp, log, log1p, pow, sin, tanh};

/// Tests a function of one slice.
macro_rules! of_slice {
    ($name:ident, $x:expr) => {{
        let x: Vec<f64> = $x.to_vec();
        same($name::value(&x).unwrap(), $name(&x));
        let (value, gradient) = $name::value_and_gradient(&x).unwrap();
        same(value, $name(&x));
        close(&gradient, &differences(|x| $name(x), &x));
        assert_eq!($name::gradient(&x).unwrap(), gradient);
    }};
}

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 1..x.len() {
        let rise = x[i] - x[i - 1] * x[i - 1];
        let walk = 1.0 - x[i - 1];
        total += 100.0 * rise * rise + walk * walk;
    }
    total
}

#[differentiable]
fn ackley(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mut squares, mut waves) = (0.0, 0.0);
    for v in x {
        squares += v * v;
        waves += cos(2.0 * std::f64::consts::PI * v);
    }
    -20.0 * exp(-0.2 * (squares / n).sqrt()) - exp(waves / n) + 20.0 + std::f64::consts::E
}

#[differentiable]
fn rastrigin(x: &[f64]) -> f64 {
    let mut s = 10.0 * x.len() as f64;
    for &v in x.iter() {
        s += v * v - 10.0 * cos(std::f64::consts::TAU * v);
    }
    s
}

#[differentiable]
fn himmelblau(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    (a * a + b - 11.0).powi(2) + (a + b * b - 7.0).powi(2)
}

#[differentiable]
fn styblinski_tang(x: &[f64]) -> f64 {
    let mut s = 0.0;
    let mut i = 0;
    while i < x.len() {
        let v = x[i];
        s += v.powi(4) - 16.0 * v * v + 5.0 * v;
        i += 1;
    }
    s / 2.0
}

#[differentiable]
fn dixon_price(x: &[f64]) -> f64 {
    let mut s = (x[0] - 1.0) * (x[0] - 1.0);
    for i in (1..x.len()).rev() {
        let t = 2.0 * x[i] * x[i] - x[i - 1];
        s += (i + 1) as f64 * t * t;
    }
    s
}

#[test]
fn functions_of_optimisation() {
    let x = [0.3, -1.2, 2.0, 0.7];
    of_slice!(rosenbrock, x);
    of_slice!(ackley, x);
    of_slice!(rastrigin, x);
    of_slice!(himmelblau, x);
    of_slice!(styblinski_tang, x);
    of_slice!(dixon_price, x);
    for n in 0..4 {
        same(rosenbrock::value(&x[..n]).unwrap(), rosenbrock(&x[..n]));
    }
    assert_eq!(rosenbrock::gradient(&[]).unwrap(), [0.0; 0]);
    // Products with the Hessian are its columns.
    let hessian = rosenbrock::hessian(&x).unwrap();
    assert_eq!(hessian.shape, [4, 4]);
    let column = rosenbrock::hvp(&x, &[0.0, 1.0, 0.0, 0.0]).unwrap();
    close(&column, &(0..4).map(|i| hessian.data[4 * i + 1]).collect::<Vec<_>>());
}

const G: f64 = 6.674e-2;

/// Energy of bodies that attract each other.
#[differentiable]
fn gravity(positions: &[[f64; 3]], masses: &[f64]) -> f64 {
    let mut energy = 0.0;
    for i in 0..positions.len() {
        for j in 0..i {
            let mut square = 1e-3;
            for k in 0..3 {
                let d = positions[i][k] - positions[j][k];
                square += d * d;
            }
            energy -= G * masses[i] * masses[j] / square.sqrt();
        }
    }
    energy
}

#[differentiable]
fn lennard_jones(r: f64, depth: f64, sigma: f64) -> f64 {
    let s6 = (sigma / r).powi(6);
    4.0 * depth * (s6 * s6 - s6)
}

/// Height of a thrown ball with drag, by Euler's method.
#[differentiable]
fn thrown(speed: f64, angle: f64, drag: f64, steps: usize) -> f64 {
    let dt = 0.01;
    let (mut x, mut y) = (0.0, 1.0);
    let mut v = [speed * cos(angle), speed * sin(angle)];
    for _ in 0..steps {
        let size = (v[0] * v[0] + v[1] * v[1]).sqrt();
        for k in 0..2 {
            v[k] -= dt * drag * size * v[k];
        }
        v[1] -= dt * 9.81;
        x += dt * v[0];
        y += dt * v[1];
        if y < 0.0 {
            y = -0.5 * y;
            v[1] = -0.5 * v[1];
        }
    }
    x + y
}

#[differentiable]
fn oscillator(y0: [f64; 2], k: f64, c: f64) -> [f64; 2] {
    let mut y = y0;
    let h = 0.05;
    for _ in 0..20 {
        let a = -k * y[0] - c * y[1];
        y = [y[0] + h * y[1], y[1] + h * a];
    }
    y
}

#[differentiable]
fn heat(u: &[f64], rate: f64, steps: usize) -> Vec<f64> {
    let mut now = u.to_vec();
    for _ in 0..steps {
        let before = now.clone();
        for i in 1..before.len() - 1 {
            now[i] = before[i] + rate * (before[i - 1] - 2.0 * before[i] + before[i + 1]);
        }
    }
    now
}

#[test]
fn functions_of_physics() {
    let positions = [[0.0, 0.1, 0.2], [1.0, -0.5, 0.3], [0.2, 2.0, -1.0]];
    let masses = [1.0, 2.0, 0.5];
    same(gravity::value(&positions, &masses).unwrap(), gravity(&positions, &masses));
    let (value, (by_position, by_mass)) = gravity::value_and_gradient(&positions, &masses).unwrap();
    same(value, gravity(&positions, &masses));
    let flat = positions.as_flattened();
    let numeric = differences(|x| gravity(x.as_chunks::<3>().0, &masses), flat);
    close(by_position.as_flattened(), &numeric);
    close(&by_mass, &differences(|m| gravity(&positions, m), &masses));

    let (r, d, s) = (1.3, 0.7, 1.1);
    let (dr, dd, ds) = lennard_jones::gradient(r, d, s).unwrap();
    close(&[dr, dd, ds], &differences(|x| lennard_jones(x[0], x[1], x[2]), &[r, d, s]));

    same(thrown::value(12.0, 0.9, 0.02, 300).unwrap(), thrown(12.0, 0.9, 0.02, 300));
    let (a, b, c) = thrown::gradient(12.0, 0.9, 0.02, 300).unwrap();
    close(&[a, b, c], &differences(|x| thrown(x[0], x[1], x[2], 300), &[12.0, 0.9, 0.02]));

    assert_eq!(oscillator::value([1.0, 0.5], 2.0, 0.1).unwrap(), oscillator([1.0, 0.5], 2.0, 0.1));
    let (y, t) = oscillator::jvp([1.0, 0.5], 2.0, 0.1, [0.0, 0.0], 1.0, 0.0).unwrap();
    assert_eq!(y, oscillator([1.0, 0.5], 2.0, 0.1));
    let (_, (by_y, by_k, by_c)) = oscillator::vjp([1.0, 0.5], 2.0, 0.1, &[1.0, -2.0]).unwrap();
    let weighed = |x: &[f64]| {
        let y = oscillator([x[0], x[1]], x[2], x[3]);
        y[0] - 2.0 * y[1]
    };
    let numeric = differences(weighed, &[1.0, 0.5, 2.0, 0.1]);
    close(&[by_y[0], by_y[1], by_k, by_c], &numeric);
    close(&[t[0] - 2.0 * t[1]], &numeric[2..3]);

    let u = [0.0, 1.0, 0.5, -0.3, 0.2];
    assert_eq!(heat::value(&u, 0.2, 7).unwrap(), heat(&u, 0.2, 7));
    let (_, (by_u, by_rate)) = heat::vjp(&u, 0.2, 7, &vec![0.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
    close(&by_u, &differences(|u| heat(u, 0.2, 7)[2], &u));
    close(&[by_rate], &differences(|r| heat(&u, r[0], 7)[2], &[0.2]));
}

#[differentiable]
fn logistic_loss(w: &[f64], x: &[[f64; 2]], y: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (i, row) in x.iter().enumerate() {
        let mut z = w[2];
        for j in 0..2 {
            z += w[j] * row[j];
        }
        let large = if z > 0.0 { z } else { 0.0 };
        loss += large + log1p(exp(-z.abs())) - y[i] * z;
    }
    loss / x.len() as f64
}

#[differentiable]
fn normal_log_density(x: &[f64], mean: f64, deviation: f64) -> f64 {
    assert!(deviation > 0.0, "the deviation is positive");
    let mut s = 0.0;
    for v in x {
        let z = (v - mean) / deviation;
        s += -0.5 * z * z - log(deviation) - 0.5 * log(2.0 * std::f64::consts::PI);
    }
    s
}

/// Huber's loss, with a constant of this module.
#[differentiable]
fn huber(r: f64) -> f64 {
    if r.abs() <= WIDTH {
        return 0.5 * r * r;
    }
    WIDTH * (r.abs() - 0.5 * WIDTH)
}
const WIDTH: f64 = 1.5;

#[differentiable]
fn robust_fit(p: &[f64], t: &[f64], y: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..t.len() {
        let near = i > 0 && t[i - 1] > 0.5;
        s += huber(y[i] - p[0] * exp(p[1] * t[i])) * (if near { 2.0 } else { 1.0 }) / WIDTH;
    }
    s
}

/// Mean and variance in one pass.
#[differentiable]
fn statistics(x: &[f64]) -> (f64, f64) {
    let mut mean = 0.0;
    let mut squares = 0.0;
    for (k, v) in x.iter().enumerate() {
        let d = v - mean;
        mean += d / (k + 1) as f64;
        squares += d * (v - mean);
    }
    (mean, squares / x.len() as f64)
}

#[differentiable]
fn softmax_of(z: &[f64]) -> Vec<f64> {
    let mut top = z[0];
    for v in z {
        if *v > top {
            top = *v;
        }
    }
    let mut p = vec![0.0; z.len()];
    let mut total = 0.0;
    for i in 0..z.len() {
        p[i] = exp(z[i] - top);
        total += p[i];
    }
    for i in 0..p.len() {
        p[i] /= total;
    }
    p
}

#[differentiable]
fn cross_entropy(z: &[f64], class: usize) -> f64 {
    let p = softmax_of(z);
    -log(p[class])
}

#[differentiable]
fn mahalanobis(x: [f64; 2], s: [[f64; 2]; 2]) -> f64 {
    let det = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    let inverse = [[s[1][1] / det, -s[0][1] / det], [-s[1][0] / det, s[0][0] / det]];
    let mut q = 0.0;
    for i in 0..2 {
        for j in 0..2 {
            q += x[i] * inverse[i][j] * x[j];
        }
    }
    q
}

#[test]
fn functions_of_statistics() {
    let x = [[0.5, 1.0], [-1.0, 0.3], [2.0, -0.7]];
    let (w, y) = ([0.3, -0.2, 0.1], [1.0, 0.0, 1.0]);
    same(logistic_loss::value(&w, &x, &y).unwrap(), logistic_loss(&w, &x, &y));
    let (by_w, _, _) = logistic_loss::gradient(&w, &x, &y).unwrap();
    close(&by_w, &differences(|w| logistic_loss(w, &x, &y), &w));

    let v = [0.3, 0.9, -0.4];
    same(normal_log_density::value(&v, 0.1, 0.8).unwrap(), normal_log_density(&v, 0.1, 0.8));
    let (_, m, d) = normal_log_density::gradient(&v, 0.1, 0.8).unwrap();
    close(&[m, d], &differences(|p| normal_log_density(&v, p[0], p[1]), &[0.1, 0.8]));
    let error = normal_log_density::value(&v, 0.1, -1.0).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("the deviation is positive"), "{error}");

    let (t, y) = ([0.1, 0.6, 1.0, 2.0], [1.0, 9.0, 0.2, 0.1]);
    same(robust_fit::value(&[2.0, -0.5], &t, &y).unwrap(), robust_fit(&[2.0, -0.5], &t, &y));
    let (by_p, _, _) = robust_fit::gradient(&[2.0, -0.5], &t, &y).unwrap();
    close(&by_p, &differences(|p| robust_fit(p, &t, &y), &[2.0, -0.5]));

    assert_eq!(statistics::value(&v).unwrap(), statistics(&v));
    let ((_, variance), (_, tangent)) = statistics::jvp(&v, &[1.0, 0.0, 0.0]).unwrap();
    same(variance, statistics(&v).1);
    close(&[tangent], &differences(|x| statistics(x).1, &v)[..1]);
    let (_, back) = statistics::vjp(&v, &(0.0, 1.0)).unwrap();
    close(&back, &differences(|x| statistics(x).1, &v));

    assert_eq!(softmax_of::value(&v).unwrap(), softmax_of(&v));
    same(cross_entropy::value(&v, 1).unwrap(), cross_entropy(&v, 1));
    close(&cross_entropy::gradient(&v, 1).unwrap(), &differences(|z| cross_entropy(z, 1), &v));

    let s = [[2.0, 0.3], [0.3, 1.0]];
    same(mahalanobis::value([1.0, -2.0], s).unwrap(), mahalanobis([1.0, -2.0], s));
    let (by_x, by_s) = mahalanobis::gradient([1.0, -2.0], s).unwrap();
    close(&by_x, &differences(|x| mahalanobis([x[0], x[1]], s), &[1.0, -2.0]));
    let of_s = |s: &[f64]| mahalanobis([1.0, -2.0], [[s[0], s[1]], [s[2], s[3]]]);
    close(by_s.as_flattened(), &differences(of_s, s.as_flattened()));
}

/// Where a planar arm ends.
#[differentiable]
fn arm(angles: &[f64], lengths: &[f64]) -> [f64; 2] {
    let mut angle = 0.0;
    let mut end = [0.0; 2];
    for i in 0..angles.len() {
        angle += angles[i];
        end[0] += lengths[i] * cos(angle);
        end[1] += lengths[i] * sin(angle);
    }
    end
}

#[differentiable]
fn distance_to(angles: &[f64], lengths: &[f64], target: [f64; 2]) -> f64 {
    let end = arm(angles, lengths);
    (end[0] - target[0]).hypot(end[1] - target[1])
}

type Quaternion = [f64; 4];

#[differentiable]
fn product(a: [f64; 4], b: &[f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

#[differentiable]
fn rotated(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let conjugate = [q[0], -q[1], -q[2], -q[3]];
    let p = product(product(q, &[0.0, v[0], v[1], v[2]]), &conjugate);
    [p[1], p[2], p[3]]
}

/// Smooth steps between points.
#[differentiable]
fn spline(knots: &[f64], t: f64) -> f64 {
    let last = knots.len() - 1;
    let i = (t.floor() as usize).min(last - 1);
    let u = t - i as f64;
    let s = u * u * (3.0 - 2.0 * u);
    knots[i] * (1.0 - s) + knots[i + 1] * s
}

#[test]
fn functions_of_kinematics() {
    let (angles, lengths) = ([0.3, 0.5, -0.2], [1.0, 0.8, 0.4]);
    assert_eq!(arm::value(&angles, &lengths).unwrap(), arm(&angles, &lengths));
    let target = [1.0, 1.0];
    let (by_angle, _, by_target) = distance_to::gradient(&angles, &lengths, target).unwrap();
    close(&by_angle, &differences(|a| distance_to(a, &lengths, target), &angles));
    close(&by_target, &differences(|t| distance_to(&angles, &lengths, [t[0], t[1]]), &target));

    let q: Quaternion = [0.8, 0.1, -0.5, 0.3];
    let v = [0.2, 1.0, -0.7];
    assert_eq!(rotated::value(q, v).unwrap(), rotated(q, v));
    let (_, (by_q, _)) = rotated::vjp(q, v, &[1.0, 1.0, 1.0]).unwrap();
    let of_q = |q: &[f64]| rotated([q[0], q[1], q[2], q[3]], v).iter().sum::<f64>();
    close(&by_q, &differences(of_q, &q));

    let knots = [1.0, 3.0, 2.0, 5.0];
    for t in [0.0, 0.4, 1.7, 2.9, 3.0] {
        same(spline::value(&knots, t).unwrap(), spline(&knots, t));
    }
    let (by_knots, by_t) = spline::gradient(&knots, 1.7).unwrap();
    close(&by_knots, &differences(|k| spline(k, 1.7), &knots));
    close(&[by_t], &differences(|t| spline(&knots, t[0]), &[1.7]));
}

#[differentiable]
fn present_value(cash: &[f64], rate: f64) -> f64 {
    let mut value = 0.0;
    for k in (0..cash.len()).rev() {
        value = value / (1.0 + rate) + cash[k];
    }
    value
}

/// Price of an option, by a tree of prices.
#[differentiable]
fn binomial_call(spot: f64, strike: f64, rate: f64, volatility: f64, steps: usize) -> f64 {
    let dt = 1.0 / steps as f64;
    let up = exp(volatility * dt.sqrt());
    let down = 1.0 / up;
    let q = (exp(rate * dt) - down) / (up - down);
    let mut values = vec![0.0; steps + 1];
    for i in 0..=steps {
        let price = spot * up.powi(i as i32) * down.powi((steps - i) as i32);
        values[i] = (price - strike).max(0.0);
    }
    for n in (0..steps).rev() {
        for i in 0..=n {
            values[i] = exp(-rate * dt) * (q * values[i + 1] + (1.0 - q) * values[i]);
        }
    }
    values[0]
}

/// The rate at which the payments are worth a price, by Newton's method.
#[differentiable]
fn bond_yield(price: f64, coupon: f64, years: usize) -> f64 {
    let mut y = 0.05;
    let mut rounds = 0;
    loop {
        let (mut worth, mut slope) = (-price, 0.0);
        for t in 1..=years {
            let pay = if t == years { coupon + 100.0 } else { coupon };
            worth += pay / pow(1.0 + y, t as f64);
            slope -= t as f64 * pay / pow(1.0 + y, (t + 1) as f64);
        }
        let step = worth / slope;
        y -= step;
        rounds += 1;
        if step.abs() < 1e-13 || rounds >= 50 {
            break;
        }
    }
    y
}

#[differentiable]
fn portfolio_variance(w: [f64; 3]) -> f64 {
    let mut v = 0.0;
    for (i, a) in w.iter().enumerate() {
        for (j, b) in w.iter().enumerate() {
            v += a * b * COVARIANCE[i][j];
        }
    }
    v
}
const COVARIANCE: [[f64; 3]; 3] = [[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.16]];

#[test]
fn functions_of_finance() {
    let cash = [-100.0, 30.0, 40.0, 50.0];
    same(present_value::value(&cash, 0.07).unwrap(), present_value(&cash, 0.07));
    let (_, by_rate) = present_value::gradient(&cash, 0.07).unwrap();
    close(&[by_rate], &differences(|r| present_value(&cash, r[0]), &[0.07]));

    same(
        binomial_call::value(100.0, 95.0, 0.03, 0.2, 25).unwrap(),
        binomial_call(100.0, 95.0, 0.03, 0.2, 25),
    );
    let (a, b, c, d) = binomial_call::gradient(100.0, 95.0, 0.03, 0.2, 25).unwrap();
    let numeric =
        differences(|x| binomial_call(x[0], x[1], x[2], x[3], 25), &[100.0, 95.0, 0.03, 0.2]);
    close(&[a, b, c, d], &numeric);

    same(bond_yield::value(97.0, 4.0, 10).unwrap(), bond_yield(97.0, 4.0, 10));
    let (p, c) = bond_yield::gradient(97.0, 4.0, 10).unwrap();
    close(&[p, c], &differences(|x| bond_yield(x[0], x[1], 10), &[97.0, 4.0]));

    let w = [0.5, 0.3, 0.2];
    same(portfolio_variance::value(w).unwrap(), portfolio_variance(w));
    let hessian = portfolio_variance::hessian(w).unwrap();
    for (row, covariances) in hessian.iter().zip(&COVARIANCE) {
        close(row, &covariances.map(|c| 2.0 * c));
    }
}

/// A network with one hidden layer.
#[differentiable]
fn network(w: &[[f64; 2]], b: &[f64], v: &[f64], x: [f64; 2]) -> f64 {
    let mut y = 0.0;
    for h in 0..w.len() {
        y += v[h] * tanh(w[h][0] * x[0] + w[h][1] * x[1] + b[h]);
    }
    y
}

/// The determinant, by elimination with the largest pivot.
#[differentiable]
fn determinant(a: [[f64; 3]; 3]) -> f64 {
    let mut m = a;
    let mut det = 1.0;
    for k in 0..3 {
        let mut pivot = k;
        for i in k + 1..3 {
            if m[i][k].abs() > m[pivot][k].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            m.swap(k, pivot);
            det = -det;
        }
        det *= m[k][k];
        for i in k + 1..3 {
            let factor = m[i][k] / m[k][k];
            for j in k..3 {
                m[i][j] -= factor * m[k][j];
            }
        }
    }
    det
}

#[differentiable]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    let mut y = 0.0;
    for c in (0..coefficients.len()).rev() {
        y = y * x + coefficients[c];
    }
    y
}

#[differentiable]
fn simpson(a: f64, b: f64, n: usize) -> f64 {
    let h = (b - a) / n as f64;
    let mut s = sin(a * a) + sin(b * b);
    for i in (1..n).step_by(2) {
        let x = a + i as f64 * h;
        s += 4.0 * sin(x * x);
    }
    for i in (2..n).step_by(2) {
        let x = a + i as f64 * h;
        s += 2.0 * sin(x * x);
    }
    s * h / 3.0
}

#[differentiable]
fn logistic_map(r: f64, x0: f64, n: usize) -> f64 {
    let mut x = x0;
    for _ in 0..n {
        x = r * x * (1.0 - x);
    }
    x
}

#[test]
fn functions_of_numerics() {
    let (w, b, v) = ([[0.1, 0.2], [-0.3, 0.5], [1.0, -1.0]], [0.0, 0.1, -0.2], [1.0, -2.0, 0.5]);
    same(network::value(&w, &b, &v, [0.4, 0.9]).unwrap(), network(&w, &b, &v, [0.4, 0.9]));
    let (by_w, _, _, by_x) = network::gradient(&w, &b, &v, [0.4, 0.9]).unwrap();
    let of_w = |w: &[f64]| network(w.as_chunks::<2>().0, &b, &v, [0.4, 0.9]);
    close(by_w.as_flattened(), &differences(of_w, w.as_flattened()));
    close(&by_x, &differences(|x| network(&w, &b, &v, [x[0], x[1]]), &[0.4, 0.9]));

    let a = [[0.1, 2.0, 0.3], [1.0, -1.0, 0.5], [0.7, 0.2, 3.0]];
    same(determinant::value(a).unwrap(), determinant(a));
    let by_a = determinant::gradient(a).unwrap();
    let of_a =
        |a: &[f64]| determinant([[a[0], a[1], a[2]], [a[3], a[4], a[5]], [a[6], a[7], a[8]]]);
    close(by_a.as_flattened(), &differences(of_a, a.as_flattened()));

    let c = [1.0, -2.0, 0.5, 3.0];
    same(polynomial::value(&c, 1.3).unwrap(), polynomial(&c, 1.3));
    let (by_c, by_x) = polynomial::gradient(&c, 1.3).unwrap();
    close(&by_c, &[1.0, 1.3, 1.69, 2.197]);
    close(&[by_x], &[-2.0 + 1.3 + 9.0 * 1.69]);

    same(simpson::value(0.1, 1.9, 20).unwrap(), simpson(0.1, 1.9, 20));
    let (by_a, by_b) = simpson::gradient(0.1, 1.9, 400).unwrap();
    assert!((by_a + sin(0.01)).abs() < 1e-6 && (by_b - sin(3.61)).abs() < 1e-6);

    same(logistic_map::value(3.7, 0.4, 30).unwrap(), logistic_map(3.7, 0.4, 30));
    let (by_r, _) = logistic_map::gradient(2.7, 0.4, 30).unwrap();
    close(&[by_r], &differences(|r| logistic_map(r[0], 0.4, 30), &[2.7]));
}
