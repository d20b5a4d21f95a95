//! Own numbers, with methods that are named as those of `f64`: dual and complex numbers, intervals, other names of `f64`.

use jut::{Data, differentiable};
use std::ops::{Add, Div, DivAssign, Mul, Neg, Sub};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Dual {
    re: f64,
    eps: f64,
}

#[differentiable]
impl Dual {
    const ONE: Dual = Dual { re: 1.0, eps: 0.0 };
    fn variable(re: f64) -> Self {
        Self { re, eps: 1.0 }
    }
    fn recip(self) -> Self {
        let r = 1.0 / self.re;
        Dual { re: r, eps: -self.eps * r * r }
    }
    fn powi(self, n: i32) -> Self {
        match n {
            0 => Self::ONE,
            n if n < 0 => self.recip().powi(-n),
            n if n % 2 == 0 => (self * self).powi(n / 2),
            n => self * self.powi(n - 1),
        }
    }
    fn exp(self) -> Self {
        let e = jut::math::exp(self.re);
        Dual { re: e, eps: self.eps * e }
    }
    fn max(self, other: Self) -> Self {
        if other.re > self.re { other } else { self }
    }
}

#[differentiable]
impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Dual { re: self.re * o.re, eps: self.re * o.eps + self.eps * o.re }
    }
}

#[differentiable]
impl Sub<f64> for Dual {
    type Output = Self;
    fn sub(self, k: f64) -> Self {
        Dual { re: self.re - k, ..self }
    }
}

#[differentiable]
impl DivAssign<f64> for Dual {
    fn div_assign(&mut self, k: f64) {
        self.re /= k;
        self.eps /= k;
    }
}

#[differentiable]
impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual { re: -self.re, eps: -self.eps }
    }
}

#[differentiable]
fn duals(x: &[f64]) -> f64 {
    let v = Dual::variable(x[0]);
    let mut w = -(v.powi(5) - x[1]) * v.powi(-2);
    w /= x[1];
    let e = (v * v).exp().max(v.recip());
    w.re + 2.0 * w.eps + e.re * e.eps
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Complex {
    fn abs(self) -> f64 {
        (self.re * self.re + self.im * self.im).sqrt()
    }
    fn exp(self) -> Complex {
        let r = jut::math::exp(self.re);
        Complex { re: r * jut::math::cos(self.im), im: r * jut::math::sin(self.im) }
    }
    fn sqrt(self) -> Complex {
        let r = self.abs();
        let re = (0.5 * (r + self.re)).max(0.0).sqrt();
        let im = (0.5 * (r - self.re)).max(0.0).sqrt();
        Complex { re, im: if self.im < 0.0 { -im } else { im } }
    }
}

#[differentiable]
impl<'a> Mul<&'a Complex> for &'a Complex {
    type Output = Complex;
    fn mul(self, o: &'a Complex) -> Complex {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

#[differentiable]
impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex { re: self.re + o.re, im: self.im + o.im }
    }
}

#[differentiable]
impl Div<f64> for Complex {
    type Output = Complex;
    fn div(self, k: f64) -> Complex {
        Complex { re: self.re / k, im: self.im / k }
    }
}

#[differentiable]
fn impedance(x: &[f64]) -> f64 {
    let mut z = Complex { re: x[0], im: x[1] };
    let c = Complex { re: -0.4, im: 0.3 };
    for _ in 0..3 {
        if z.abs() > 4.0 {
            break;
        }
        z = &z * &z + c;
    }
    let w = (z / 2.0).exp().sqrt();
    w.abs() + w.re * w.im + z.sqrt().re
}

type Real = f64;

#[differentiable]
fn norm(x: Real, y: Real) -> Real {
    (x * x + y * y).sqrt().max(x.abs())
}

#[differentiable]
fn by_another_name(x: &[f64]) -> f64 {
    norm(x[0], x[1]) * x[0].min(norm(x[1], 0.5))
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        duals at [0.3, 0.7], [1.1, 2.2], [1.0];
        impedance at [0.3, 0.7], [1.1, 2.2], [-0.5, -0.2], [0.1];
        by_another_name at [0.3, 0.7], [-1.1, 2.2], [0.1];
    }
}
