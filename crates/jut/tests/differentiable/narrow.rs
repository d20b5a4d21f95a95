//! `u32` beside other integers: Rust's values, and an error exactly where Rust panics.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy)]
struct Level {
    n: u32,
    energy: f64,
}

#[differentiable]
fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

#[differentiable]
fn series(x: &[f64], order: u32) -> f64 {
    let mut s = 0.0;
    for k in 0..order {
        s += x[k as usize % x.len()].powi(k as i32) / factorial(k);
    }
    s + x[0] * 2_i64.pow(order) as f64
}

#[differentiable]
fn levels(all: &[Level], counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    let mut e = 0.0;
    for (level, c) in all.iter().zip(counts) {
        e += level.energy * f64::from(level.n * c) / total as f64;
    }
    e
}

#[differentiable]
fn arithmetic(a: u32, b: u32, x: f64) -> f64 {
    let difference = a - b;
    let product = a * 3 + difference / 2;
    x * product as f64 + (a % 7) as f64
}

#[differentiable]
fn product(a: u32, b: u32, x: f64) -> f64 {
    x * (a * b) as f64
}

#[differentiable]
fn conversions(x: f64, n: i64) -> (u32, u32, i32, usize, u32) {
    let low = n as u32;
    (x as u32, low, (low / 2) as i32, low as usize, !low >> 3)
}

#[differentiable]
fn powers(a: u32, b: i32, n: u32, x: f64) -> f64 {
    x * a.pow(n) as f64 + b.pow(n) as f64
}

#[differentiable]
fn literals(x: f64) -> f64 {
    const STEPS: u32 = 5;
    let k = 4_u32.wrapping_sub(STEPS).wrapping_add(2);
    let m = k.saturating_sub(7) + STEPS.min(3).max(k);
    x.powi(m as i32) * f64::from(u32::abs_diff(k, 9))
}

#[differentiable]
fn power(n: i64, m: usize) -> i64 {
    n.pow(m as u32)
}

const BELOW: i64 = -3;
const WIDE: f64 = 7.75;
const SHORT: f32 = -2.5;
static FLAG: bool = true;

#[differentiable]
fn doubled(x: f64) -> f64 {
    2.0 * x
}

/// Of what only rustc knows the type.
#[differentiable]
fn converted(x: f64) -> ([i32; 5], [u32; 5], usize, usize) {
    let signed = [doubled(x) as i32, BELOW as i32, WIDE as i32, SHORT as i32, FLAG as i32];
    let plain = [doubled(x) as u32, BELOW as u32, WIDE as u32, SHORT as u32, FLAG as u32];
    (signed, plain, doubled(x) as usize, WIDE as usize + FLAG as usize)
}

#[differentiable]
fn below(x: f64) -> f64 {
    x * (BELOW as usize % 7) as f64
}

fn panics(f: impl FnOnce() -> f64 + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(f).is_err()
}

#[test]
fn values_and_gradients_are_those_of_rust() {
    for n in [0, 1, 5, 20] {
        same(factorial::value(n).unwrap(), factorial(n));
    }
    let x = [0.5, 1.25, -0.75];
    let (value, gradient) = series::value_and_gradient(&x, 7).unwrap();
    same(value, series(&x, 7));
    close(&gradient, &differences(|x| series(x, 7), &x));
    let all = [Level { n: 1, energy: 0.5 }, Level { n: 4, energy: -1.5 }];
    let (value, by) = levels::value_and_gradient(&all, &[3, 5]).unwrap();
    same(value, levels(&all, &[3, 5]));
    close(&[by[0].energy, by[1].energy], &[3.0 / 8.0, 20.0 / 8.0]);
    for (x, n) in [(3.75, 9), (-2.0, -1), (5e9, 1 << 33), (f64::NAN, i64::MIN + 17)] {
        assert_eq!(conversions::value(x, n).unwrap(), conversions(x, n), "{x} {n}");
    }
    same(literals::value(1.5).unwrap(), literals(1.5));
    for x in [1.75, -2.0, 3e9, f64::NAN] {
        assert_eq!(converted::value(x).unwrap(), converted(x), "{x}");
    }
    // This is no `i64`.
    assert_eq!(below::value(1.0).unwrap_err().code(), Some("R11"));
    assert_eq!(converted::value(1e300).unwrap_err().code(), Some("R11"));
    // The low bits of an exponent.
    for m in [0, 3, 1 << 33, (1 << 40) + 2] {
        assert_eq!(power::value(3, m).unwrap(), power(3, m));
    }
}

#[test]
fn what_panics_is_an_error() {
    for (a, b) in [(5, 3), (3, 5), (u32::MAX, 0), (u32::MAX / 3, 1), (0, 0), (1_431_655_766, 2)] {
        let code = arithmetic::value(a, b, 1.5).err().and_then(|e| e.code());
        assert_eq!(code, panics(move || arithmetic(a, b, 1.5)).then_some("R11"), "{a} {b}");
    }
    for (a, b) in [(65_535, 65_537), (65_536, 65_536), (u32::MAX, u32::MAX), (1 << 31, 3)] {
        let code = product::value(a, b, 0.5).err().and_then(|e| e.code());
        assert_eq!(code, panics(move || product(a, b, 0.5)).then_some("R11"), "{a} {b}");
    }
    for (a, b, n) in [
        (2, 3, 10),
        (2, 1, 31),
        (2, 1, 32),
        (2, 1, 64),
        (10, 1, 64),
        (1, 10, 64),
        (1, -2, 31),
        (1, 2, 31),
        (1, -2, 64),
        (0, 0, 0),
        (0, 7, 2),
        (65_535, 0, 2),
        (65_536, 0, 2),
    ] {
        let code = powers::value(a, b, n, 2.0).err().and_then(|e| e.code());
        assert_eq!(code, panics(move || powers(a, b, n, 2.0)).then_some("R11"), "{a} {b} {n}");
        if code.is_none() {
            same(powers::value(a, b, n, 2.0).unwrap(), powers(a, b, n, 2.0));
        }
    }
}
