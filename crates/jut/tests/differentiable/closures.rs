//! Closures, and functions as arguments.

use super::{differences, same};
use jut::{Data, differentiable};

/// Newton's method with a difference quotient.
#[differentiable]
fn solve(f: impl Fn(f64) -> f64, x0: f64) -> f64 {
    let mut x = x0;
    for _ in 0..6 {
        let (here, there) = (f(x), f(x + 1e-4));
        x -= here * 1e-4 / (there - here);
    }
    x
}

#[differentiable]
fn simpson<F>(f: F, a: f64, b: f64, n: usize) -> f64
where
    F: Fn(f64, usize) -> f64,
{
    let h = (b - a) / (2 * n) as f64;
    let mut s = f(a, 0) + f(b, 2 * n);
    for i in 1..2 * n {
        let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
        s += weight * f(a + i as f64 * h, i);
    }
    s * h / 3.0
}

/// Hands its function on, and takes one of an array and a struct.
#[differentiable]
fn twice(f: &dyn Fn(f64) -> f64, g: &impl Fn([f64; 2], &Pair) -> [f64; 2], x: f64) -> f64 {
    let y = g([f(f(x)), solve(f, x)], &Pair { a: x, b: 2.0 });
    y[0] * y[1]
}

#[derive(Data, Clone)]
struct Pair {
    a: f64,
    b: f64,
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn minus_two(x: f64) -> f64 {
    x * x - 2.0
}

#[differentiable]
fn given(p: &[f64]) -> f64 {
    let scale = p[0];
    let root = solve(|x| x * x * scale - p[1], 1.0);
    let area = simpson(
        |x, i| {
            let mut y = x;
            for k in 0..i % 3 {
                y += (k + 1) as f64 * scale;
            }
            if y.abs() > 2.0 { y / (i + 1) as f64 } else { y * p[2] }
        },
        0.0,
        p[1],
        4,
    );
    let named = twice(&minus_two, &|v: [f64; 2], pair| [v[0] + pair.a, v[1] * pair.b * root], p[2]);
    root + area + named + solve(minus_two, p[1])
}

#[test]
fn functions_are_given() {
    let at = [1.5, 2.0, 0.75];
    let (value, g) = given::value_and_gradient(&at).unwrap();
    same(value, given(&at));
    super::close(&g, &differences(given, &at));
    let seconds = given::hvp(&at, &[1.0, 0.0, 0.0]).unwrap();
    let by = |x: f64| given::gradient(&[x, 2.0, 0.75]).unwrap();
    let (up, down) = (by(1.5 + 1e-5), by(1.5 - 1e-5));
    for ((s, u), d) in seconds.iter().zip(&up).zip(&down) {
        assert!((s - (u - d) / 2e-5).abs() < 1e-3 * (1.0 + s.abs()), "{seconds:?}");
    }
}

/// Closures with names: what they capture is that of the place where they stand.
#[differentiable]
fn named(x: f64, y: f64) -> f64 {
    let mut a = x;
    let frozen = move |t: f64| t * a;
    a += 1.0;
    let before = frozen(2.0);
    let line = |t: f64, n: usize| -> f64 { a * t + y.powi(n as i32) };
    let x = 100.0;
    let mut s = line(0.5, 2) + before;
    for i in 0..3 {
        let y = i as f64;
        s += line(y, 1) * x;
    }
    let mut count = 0.0;
    let mut add = |v: f64| {
        count += v;
        count
    };
    s += add(y) * add(2.0);
    let mut kept = 1.0;
    let mut doubled = move || {
        kept *= 2.0;
        kept
    };
    s += doubled() + doubled() + kept;
    let pick = |c: bool| if c { square(count) } else { -count };
    s + pick(s > 0.0) + [1.0, 2.0].iter().map(|v| frozen(*v)).sum::<f64>()
}

#[test]
fn closures_have_names() {
    let at = [0.5, 1.5];
    let (value, (by_x, by_y)) = named::value_and_gradient(0.5, 1.5).unwrap();
    same(value, named(0.5, 1.5));
    super::close(&[by_x, by_y], &differences(|p| named(p[0], p[1]), &at));
}

/// Adaptive: calls itself with the function that it was given.
#[differentiable]
fn adaptive(f: &dyn Fn(f64) -> f64, a: f64, b: f64, error: f64, depth: u32) -> f64 {
    let m = 0.5 * (a + b);
    let rough = (b - a) / 6.0 * (f(a) + 4.0 * f(m) + f(b));
    let left = (m - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + m)) + f(m));
    let right = (b - m) / 6.0 * (f(m) + 4.0 * f(0.5 * (m + b)) + f(b));
    if depth == 0 || (left + right - rough).abs() < 15.0 * error {
        return left + right;
    }
    adaptive(f, a, m, 0.5 * error, depth - 1) + adaptive(f, m, b, 0.5 * error, depth - 1)
}

#[differentiable]
fn halving<F: Fn(f64) -> f64 + Copy>(f: F, x: &[f64]) -> f64 {
    if x.len() == 1 {
        return f(x[0]);
    }
    let h = x.len() / 2;
    halving(f, &x[..h]) + 2.0 * halving(f, &x[h..])
}

#[differentiable]
fn areas(w: &[f64]) -> f64 {
    let area = adaptive(&|x| w[0] * (-w[1] * x * x).exp(), 0.0, w[2], 1e-7, 12);
    area * halving(|v| (v * w[0]).sin(), w)
}

#[test]
fn functions_that_take_functions_call_themselves() {
    let at = [1.3, 0.7, 1.5];
    let (value, g) = areas::value_and_gradient(&at).unwrap();
    same(value, areas(&at));
    super::close(&g, &differences(areas, &at));
}
