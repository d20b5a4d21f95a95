//! Functions of type parameters with the traits of the standard library.

use jut::differentiable;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

#[differentiable]
fn poly<T: Add<Output = T> + Mul<Output = T> + Copy>(a: T, b: T, x: T) -> T {
    a * x * x + b * x + a
}

#[differentiable]
fn horner<T>(c: &[T], x: T) -> T
where
    T: Copy + Add<Output = T> + Mul<Output = T> + Default,
{
    c.iter().rev().fold(T::default(), |s, &c| s * x + c)
}

#[differentiable]
fn dot3<T: Copy + Add<Output = T> + Mul<Output = T>, const N: usize>(
    a: &[T; N],
    b: &[T; N],
    zero: T,
) -> T {
    let mut s = zero;
    for i in 0..N {
        s = s + a[i] * b[i];
    }
    s
}

#[differentiable]
fn lerp<T>(a: T, b: T, t: f64) -> T
where
    T: Add<T, Output = T> + Mul<f64, Output = T> + Copy,
{
    a * (1.0 - t) + b * t
}

#[differentiable]
fn larger<T: PartialOrd + Copy + Sub<Output = T> + Neg<Output = T> + Div<Output = T>>(
    a: T,
    b: T,
) -> T {
    if a > b { (a - b) / b } else { -(b - a) / a }
}

#[differentiable]
fn total<T: Copy + AddAssign + Default + Mul<Output = T>>(x: &[T]) -> T {
    let mut s = T::default();
    for &v in x {
        s += v * v;
    }
    s
}

#[differentiable]
fn summed<T: Copy + std::iter::Sum<T> + Mul<Output = T>>(x: &[T]) -> T {
    x.iter().map(|&v| v * v).sum::<T>()
}

#[differentiable]
fn of_f64<T: From<f64> + Copy + Mul<Output = T> + Add<Output = T>>(x: T) -> T {
    T::from(2.0) * x + T::from(0.5) * x * x
}

#[differentiable]
fn uses(x: &[f64]) -> f64 {
    poly(x[0], x[1], x[2])
        + horner(x, 0.5)
        + lerp(x[0], x[1], 0.25)
        + larger(x[0], x[1])
        + total(x)
        + dot3(&[x[0], x[1]], &[x[1], x[2]], 0.0)
}

#[test]
fn generics() {
    let x = [1.5, 0.75, -0.5];
    assert_eq!(poly::value(1.5, 2.0, 3.0).unwrap(), poly(1.5, 2.0, 3.0));
    assert_eq!(poly::gradient(1.5, 2.0, 3.0).unwrap(), (10.0, 3.0, 11.0));
    assert_eq!(horner::value(&x, 0.3).unwrap(), horner(&x, 0.3));
    assert_eq!(total::gradient(&x).unwrap(), [3.0, 1.5, -1.0]);
    assert_eq!(summed::value(&x).unwrap(), summed(&x));
    assert_eq!(summed::gradient(&x).unwrap(), [3.0, 1.5, -1.0]);
    assert_eq!(larger::value(2.0, 1.0).unwrap(), larger(2.0, 1.0));
    assert_eq!(of_f64::value(2.0).unwrap(), of_f64(2.0));
    assert_eq!(of_f64::gradient(2.0).unwrap(), 4.0);
    assert_eq!(uses::value(&x).unwrap(), uses(&x));
    let f = [1.5_f32, 0.75];
    assert_eq!(total::value(&f).unwrap(), total(&f));
}
