//! Operators of structs, by the traits of `std::ops`.

use super::{close, differences, same};
use jut::{Data, differentiable};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

#[derive(Data, Clone, Copy, Debug, Default, PartialEq)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

#[differentiable]
impl Sub for V3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self::Output {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

#[differentiable]
impl Mul<f64> for V3 {
    type Output = V3;
    fn mul(self, k: f64) -> V3 {
        V3 { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}

/// The inner product.
#[differentiable]
impl Mul<V3> for V3 {
    type Output = f64;
    fn mul(self, o: V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
}

#[differentiable]
impl Mul<V3> for f64 {
    type Output = V3;
    fn mul(self, v: V3) -> Self::Output {
        v * self
    }
}

#[differentiable]
impl Div<f64> for V3 {
    type Output = V3;
    fn div(self, k: f64) -> V3 {
        self * (1.0 / k)
    }
}

#[differentiable]
impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        V3 { x: -self.x, y: -self.y, z: -self.z }
    }
}

#[differentiable]
impl AddAssign for V3 {
    fn add_assign(&mut self, o: V3) {
        self.x += o.x;
        self.y += o.y;
        self.z += o.z;
    }
}

#[differentiable]
impl SubAssign<V3> for V3 {
    fn sub_assign(&mut self, o: V3) {
        *self = *self - o;
    }
}

#[differentiable]
impl MulAssign<f64> for V3 {
    fn mul_assign(&mut self, k: f64) {
        self.x *= k;
        self.y *= k;
        self.z *= k;
    }
}

#[differentiable]
impl V3 {
    fn cross(self, o: V3) -> V3 {
        V3 {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }
    fn norm(self) -> f64 {
        (self * self).sqrt()
    }
    fn unit(&self) -> V3 {
        *self / self.norm()
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Body {
    at: V3,
    speed: V3,
    mass: f64,
}

#[differentiable]
fn three(x: &[f64]) -> (V3, V3) {
    (V3 { x: x[0], y: x[1], z: x[2] }, V3 { x: x[3], y: x[4], z: x[5] })
}

#[differentiable]
fn all_operators(x: &[f64]) -> f64 {
    let (p, q): (V3, V3) = three(x);
    let mut r = p + q * 2.0 - p.cross(q);
    r += 0.5 * p;
    r -= q;
    r *= 1.5;
    let s = -(r - q * (2.0 * (r * q)));
    s * p + (p - q).norm() + r.unit().x + s.unit() * r
}

#[differentiable]
fn orbit(x: &[f64]) -> f64 {
    let (p, q): (V3, V3) = three(x);
    let mut body = Body { at: p, speed: q, mass: 1.5 };
    let centre = V3 { x: 0.1, y: 0.0, z: 0.0 };
    let dt = 0.05;
    for _ in 0..10 {
        let d = body.at - centre;
        let force = d * (-body.mass / (d * d * d.norm()));
        body.speed += force / body.mass * dt;
        body.at = body.at + body.speed * dt;
    }
    let momentum = body.mass * body.at.cross(body.speed);
    0.5 * body.mass * (body.speed * body.speed) + momentum.norm()
}

#[differentiable]
fn scaled_down(v: V3) -> V3 {
    v * 0.5
}

#[differentiable]
fn of_functions(x: &[f64]) -> f64 {
    let a = scaled_down(V3 { x: x[0], y: x[1], z: x[2] });
    let b = scaled_down(V3 { x: x[3], y: x[4], z: x[5] });
    let c = a + b * 3.0;
    a.norm() * c.x + b.norm() - (a * b) * jut::math::exp(b.y)
}

#[differentiable]
fn centre_of(points: &[V3], weights: &[f64]) -> V3 {
    let mut sum = V3::default();
    for (p, w) in points.iter().zip(weights) {
        sum += *p * *w;
    }
    sum / weights.iter().sum::<f64>()
}

#[differentiable]
fn steps(points: &[V3], k: f64) -> Vec<V3> {
    points.windows(2).map(|w| (w[1] - w[0]) * k).collect()
}

/// What stands beside a struct is one.
#[differentiable]
fn of_steps(points: &[V3]) -> f64 {
    let all = steps(points, 0.5);
    let (mut sum, mut two) = (V3::default(), [V3::default(); 2]);
    for (i, v) in all.iter().enumerate() {
        sum += *v;
        two[i % 2] += *v * 2.0;
    }
    sum.norm() + two[0] * two[1]
}

#[differentiable]
fn folded(points: &[V3]) -> f64 {
    let zero = V3 { x: 0.0, ..Default::default() };
    let all = points.iter().fold(zero, |s, p| s + *p);
    let inner: f64 = points.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).sum();
    all.norm() + inner
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

#[differentiable]
impl Add<f64> for Complex {
    type Output = Complex;
    fn add(self, r: f64) -> Complex {
        Complex { re: self.re + r, ..self }
    }
}

/// By references only.
#[differentiable]
impl Sub<&Complex> for &Complex {
    type Output = Complex;
    fn sub(self, o: &Complex) -> Complex {
        Complex { re: self.re - o.re, im: self.im - o.im }
    }
}

#[differentiable]
fn iterated(x: &[f64]) -> f64 {
    let c = Complex { re: x[0], im: x[1] };
    let mut z = c;
    let mut n = 0;
    while z.re * z.re + z.im * z.im < 4.0 && n < 8 {
        z = z * z + 0.25;
        let d = &z - &c;
        z.re += 0.1 * d.im;
        n += 1;
    }
    z.re - z.im * n as f64
}

/// A default of its own.
#[derive(Data, Clone, Debug, PartialEq)]
struct Choices {
    rate: f64,
    weights: Vec<f64>,
}

#[differentiable]
impl Default for Choices {
    fn default() -> Self {
        Choices { rate: 0.25, weights: vec![1.0, 2.0] }
    }
}

#[differentiable]
fn by_default(x: &[f64]) -> f64 {
    let c = Choices { rate: x[0], ..Default::default() };
    let d = Choices::default();
    c.rate * c.weights[1] + d.rate * d.weights.len() as f64 * x[1]
}

/// Of a type under another name, operators are those of numbers.
type Real = f64;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Counted {
    n: usize,
    k: i32,
    w: Real,
}

#[differentiable]
fn numbers(c: &Counted, v: Real) -> f64 {
    let mut own = *c;
    own.n -= 1;
    own.k *= -own.k;
    own.w /= c.w + v;
    let i = c.n * own.n - c.n;
    (i + own.n) as f64 * own.w - own.k as f64 * v * v + (c.n / own.n) as f64 - -own.w
}

#[test]
fn operators_of_structs() {
    let x = [1.0, 0.3, -0.5, 0.2, 0.9, 0.4];
    macro_rules! agree {
        ($($f:ident),*) => {$(
            same($f::value(&x).unwrap(), $f(&x));
            close(&$f::gradient(&x).unwrap(), &differences($f, &x));
        )*};
    }
    agree!(all_operators, orbit, of_functions);
    let c = [0.3, 0.4];
    same(by_default::value(&c).unwrap(), by_default(&c));
    assert_eq!(by_default::gradient(&c).unwrap(), [2.0, 0.5]);
    same(iterated::value(&c).unwrap(), iterated(&c));
    close(&iterated::gradient(&c).unwrap(), &differences(iterated, &c));
}

#[test]
fn operators_of_structs_in_lists() {
    let points = [V3 { x: 1.0, y: 2.0, z: 3.0 }, V3 { x: 0.5, y: -1.0, z: 0.25 }];
    assert_eq!(centre_of::value(&points, &[1.0, 3.0]).unwrap(), centre_of(&points, &[1.0, 3.0]));
    same(folded::value(&points).unwrap(), folded(&points));
    assert_eq!(steps::value(&points, 2.0).unwrap(), steps(&points, 2.0));
    let (_, (by, k)) = steps::vjp(&points, 2.0, &vec![V3 { x: 1.0, y: 0.0, z: 0.5 }]).unwrap();
    let all = [V3 { x: -2.0, y: -0.0, z: -1.0 }, V3 { x: 2.0, y: 0.0, z: 1.0 }];
    assert_eq!((by, k), (all.to_vec(), -1.875));
    let three = [points[0], points[1], V3 { x: 2.0, y: 0.0, z: 1.0 }];
    same(of_steps::value(&three).unwrap(), of_steps(&three));
    let of =
        |x: &[f64]| folded(&[V3 { x: x[0], y: x[1], z: x[2] }, V3 { x: x[3], y: x[4], z: x[5] }]);
    let by: Vec<f64> =
        folded::gradient(&points).unwrap().iter().flat_map(|p| [p.x, p.y, p.z]).collect();
    close(&by, &differences(of, &[1.0, 2.0, 3.0, 0.5, -1.0, 0.25]));
    let (by, k) = V3_mul_f64::vjp(points[0], 2.0, &points[1]).unwrap().1;
    assert_eq!((by, k), (points[1] * 2.0, points[0] * points[1]));
}

#[test]
fn operators_of_numbers_in_structs() {
    let c = Counted { n: 3, k: 2, w: 1.5 };
    same(numbers::value(&c, 0.5).unwrap(), numbers(&c, 0.5));
    let error = numbers::value(&Counted { n: 0, k: 2, w: 1.5 }, 0.5).unwrap_err().to_string();
    assert!(error.contains("R11") && error.contains("subtract"), "{error}");
    let error = numbers::value(&Counted { n: 1, k: 2, w: 1.5 }, 0.5).unwrap_err().to_string();
    assert!(error.contains("R11"), "{error}");
}
