//! Operators of what constants, functions and the values in options and tuples are: they may be structs, which rustc knows.

use super::agree;
use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::ops::{Add, Mul, Neg, Sub};

// A Kalman filter with matrices that have operators.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Mat2 {
    m: [[f64; 2]; 2],
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Vec2 {
    x: f64,
    y: f64,
}

#[differentiable]
impl Mul for Mat2 {
    type Output = Mat2;
    fn mul(self, o: Mat2) -> Mat2 {
        let mut r = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    r[i][j] += self.m[i][k] * o.m[k][j];
                }
            }
        }
        Mat2 { m: r }
    }
}
#[differentiable]
impl Mul<Vec2> for Mat2 {
    type Output = Vec2;
    fn mul(self, v: Vec2) -> Vec2 {
        Vec2 {
            x: self.m[0][0] * v.x + self.m[0][1] * v.y,
            y: self.m[1][0] * v.x + self.m[1][1] * v.y,
        }
    }
}
#[differentiable]
impl Add for Mat2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { m: std::array::from_fn(|i| std::array::from_fn(|j| self.m[i][j] + o.m[i][j])) }
    }
}
#[differentiable]
impl Sub for Mat2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        let mut m = self.m;
        for (row, other) in m.iter_mut().zip(o.m.iter()) {
            for (a, b) in row.iter_mut().zip(other) {
                *a -= *b;
            }
        }
        Self { m }
    }
}
#[differentiable]
impl Mat2 {
    const IDENTITY: Mat2 = Mat2 { m: [[1.0, 0.0], [0.0, 1.0]] };
    fn transpose(&self) -> Self {
        let [[a, b], [c, d]] = self.m;
        Mat2 { m: [[a, c], [b, d]] }
    }
    fn outer(a: Vec2, b: Vec2) -> Mat2 {
        Mat2 { m: [[a.x * b.x, a.x * b.y], [a.y * b.x, a.y * b.y]] }
    }
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Filter {
    x: Vec2,
    p: Mat2,
    loglik: f64,
}
#[differentiable]
impl Filter {
    fn predict(&mut self, f: &Mat2, q: &Mat2) {
        self.x = *f * self.x;
        self.p = *f * self.p * f.transpose() + *q;
    }
    fn update(&mut self, z: f64, r: f64) {
        let s = self.p.m[0][0] + r;
        let innovation = z - self.x.x;
        let k = Vec2 { x: self.p.m[0][0] / s, y: self.p.m[1][0] / s };
        self.x = Vec2 { x: self.x.x + k.x * innovation, y: self.x.y + k.y * innovation };
        let h = Vec2 { x: 1.0, y: 0.0 };
        self.p = (Mat2::IDENTITY - Mat2::outer(k, h)) * self.p;
        self.loglik -= 0.5 * (log(2.0 * std::f64::consts::PI * s) + innovation * innovation / s);
    }
}
#[differentiable]
fn kalman(par: &[f64]) -> f64 {
    let dt = 0.5;
    let f = Mat2 { m: [[1.0, dt], [0.0, 1.0]] };
    let q = Mat2 {
        m: [
            [par[0] * dt * dt * dt / 3.0, par[0] * dt * dt / 2.0],
            [par[0] * dt * dt / 2.0, par[0] * dt],
        ],
    };
    let mut filter = Filter { x: Vec2 { x: 0.0, y: par[2] }, p: Mat2::IDENTITY, loglik: 0.0 };
    for &z in [1.0, 1.4, 2.2, 2.9, 4.2].iter() {
        filter.predict(&f, &q);
        filter.update(z, par[1]);
    }
    filter.loglik
}

// A ray that objects reflect.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct V3(f64, f64, f64);
#[differentiable]
impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}
#[differentiable]
impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
}
#[differentiable]
impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        V3(-self.0, -self.1, -self.2)
    }
}
#[differentiable]
impl Mul<V3> for f64 {
    type Output = V3;
    fn mul(self, v: V3) -> V3 {
        V3(self * v.0, self * v.1, self * v.2)
    }
}
#[differentiable]
impl V3 {
    fn dot(self, o: V3) -> f64 {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }
    fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }
    fn unit(self) -> V3 {
        (1.0 / self.norm()) * self
    }
    fn reflect(self, n: V3) -> V3 {
        self - 2.0 * self.dot(n) * n
    }
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Ray {
    origin: V3,
    dir: V3,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Material {
    colour: V3,
    shine: f64,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Sphere { centre: V3, radius: f64 },
    Plane { normal: V3, offset: f64 },
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Object {
    shape: Shape,
    material: Material,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Hit {
    t: f64,
    normal: V3,
    material: Material,
}

#[differentiable]
impl Shape {
    fn intersect(&self, ray: &Ray) -> Option<(f64, V3)> {
        match *self {
            Shape::Sphere { centre, radius } => {
                let oc = ray.origin - centre;
                let b = oc.dot(ray.dir);
                let disc = b * b - oc.dot(oc) + radius * radius;
                if disc < 0.0 {
                    return None;
                }
                let t = -b - disc.sqrt();
                (t > 1e-6).then(|| (t, (1.0 / radius) * (ray.origin + t * ray.dir - centre)))
            }
            Shape::Plane { normal, offset } => {
                let d = ray.dir.dot(normal);
                if d.abs() < 1e-9 {
                    return None;
                }
                let t = (offset - ray.origin.dot(normal)) / d;
                if t > 1e-6 { Some((t, normal)) } else { None }
            }
        }
    }
}
#[differentiable]
fn closest(scene: &[Object], ray: &Ray) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for object in scene {
        if let Some((t, normal)) = object.shape.intersect(ray) {
            if best.map_or(true, |b| t < b.t) {
                best = Some(Hit { t, normal, material: object.material });
            }
        }
    }
    best
}
#[differentiable]
fn trace(scene: &[Object], ray: &Ray, light: V3, depth: u32) -> V3 {
    let Some(hit) = closest(scene, ray) else { return V3(0.1, 0.1, 0.2) };
    let p = ray.origin + hit.t * ray.dir;
    let lambert = hit.normal.dot(light.unit()).max(0.0);
    let direct = lambert * hit.material.colour;
    if depth == 0 || hit.material.shine <= 0.0 {
        return direct;
    }
    let next = Ray { origin: p + 1e-4 * hit.normal, dir: ray.dir.reflect(hit.normal).unit() };
    direct + hit.material.shine * trace(scene, &next, light, depth - 1)
}
#[differentiable]
fn pixel(x: &[f64]) -> f64 {
    let scene = [
        Object {
            shape: Shape::Sphere { centre: V3(x[0], x[1], 5.0), radius: x[2] },
            material: Material { colour: V3(1.0, 0.2, 0.3), shine: x[3] },
        },
        Object {
            shape: Shape::Plane { normal: V3(0.0, 1.0, 0.0), offset: -1.0 },
            material: Material { colour: V3(0.5, 0.5, 0.5), shine: 0.0 },
        },
    ];
    let mut total = 0.0;
    for i in 0..3 {
        let dir = V3(0.05 * i as f64, 0.1 - 0.15 * i as f64, 1.0).unit();
        let c = trace(&scene, &Ray { origin: V3(0.0, 0.0, 0.0), dir }, V3(0.5, 1.0, -0.7), 2);
        total += c.dot(V3(0.3, 0.6, 0.1));
    }
    total
}

// Fourier's transformation by halves.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct C {
    re: f64,
    im: f64,
}
#[differentiable]
impl Add for C {
    type Output = C;
    fn add(self, o: C) -> C {
        C { re: self.re + o.re, im: self.im + o.im }
    }
}
#[differentiable]
impl Sub for C {
    type Output = C;
    fn sub(self, o: C) -> C {
        C { re: self.re - o.re, im: self.im - o.im }
    }
}
#[differentiable]
impl Mul for C {
    type Output = C;
    fn mul(self, o: C) -> C {
        C { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}
#[differentiable]
impl C {
    const ZERO: C = C { re: 0.0, im: 0.0 };
    fn cis(t: f64) -> C {
        C { re: cos(t), im: sin(t) }
    }
    fn norm_sqr(&self) -> f64 {
        self.re.powi(2) + self.im.powi(2)
    }
}
#[differentiable]
fn fft(x: &[C]) -> Vec<C> {
    let n = x.len();
    if n == 1 {
        return x.to_vec();
    }
    let even: Vec<C> = x.iter().step_by(2).copied().collect();
    let odd: Vec<C> = x.iter().skip(1).step_by(2).copied().collect();
    let (e, o) = (fft(&even), fft(&odd));
    let mut y = vec![C::ZERO; n];
    for k in 0..n / 2 {
        let t = C::cis(-2.0 * std::f64::consts::PI * k as f64 / n as f64) * o[k];
        y[k] = e[k] + t;
        y[k + n / 2] = e[k] - t;
    }
    y
}
#[differentiable]
fn spectrum(x: &[f64]) -> f64 {
    let z: Vec<C> = x.iter().map(|&re| C { re, im: 0.0 }).collect();
    fft(&z).iter().enumerate().map(|(k, c)| c.norm_sqr() / (k + 1) as f64).sum()
}

// Operators of what functions give: by themselves, in options and in tuples, and of functions of types and lengths.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct P2 {
    x: f64,
    y: f64,
}
#[differentiable]
impl std::ops::Add for P2 {
    type Output = P2;
    fn add(self, o: P2) -> P2 {
        P2 { x: self.x + o.x, y: self.y + o.y }
    }
}
#[differentiable]
impl std::ops::Mul<f64> for P2 {
    type Output = P2;
    fn mul(self, s: f64) -> P2 {
        P2 { x: self.x * s, y: self.y * s }
    }
}
#[differentiable]
impl std::ops::Mul<P2> for f64 {
    type Output = P2;
    fn mul(self, s: P2) -> P2 {
        s * self
    }
}
const DOWN: P2 = P2 { x: 0.0, y: -9.81 };
#[differentiable]
fn vec2(x: f64, y: f64) -> P2 {
    P2 { x, y }
}
#[differentiable]
fn wind(t: f64) -> P2 {
    vec2(sin(t), 0.1) * 2.0
}
#[differentiable]
fn maybe(t: f64) -> Option<(f64, P2)> {
    if t > 10.0 { None } else { Some((t, 0.5 * wind(t))) }
}
#[differentiable]
fn blend<const N: usize>(all: &[P2; N], w: &[f64; N]) -> P2 {
    let mut s = vec2(0.0, 0.0);
    for i in 0..N {
        s = s + w[i] * all[i];
    }
    s
}
#[differentiable]
fn shot(x: &[f64]) -> f64 {
    let dt = 0.1;
    let mut v = vec2(x[0], x[1]);
    let mut p = vec2(0.0, 0.0);
    for k in 0..5 {
        let a = DOWN * dt + wind(k as f64) * dt;
        v = v + a;
        p = p + dt * v;
        let Some((t, n)) = maybe(k as f64) else { continue };
        p = p + n * 0.01 + 0.02 * n + n * t;
    }
    let m = 0.5 * blend(&[p, v], &[0.3, x[2]]) + blend(&[v, p], &[0.1, 0.2]) * x[2];
    exp(x[0] * 0.1) * exp(-x[1] * 0.1) + p.x * p.y + v.y + m.x * m.y
}
#[differentiable]
trait Body {
    fn centre(&self) -> P2;
    fn weight(&self) -> f64;
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Disc {
    c: P2,
    r: f64,
}
#[differentiable]
impl Body for Disc {
    fn centre(&self) -> P2 {
        self.c
    }
    fn weight(&self) -> f64 {
        self.r * self.r
    }
}
#[differentiable]
fn moved<S: Body>(s: &S, by: f64) -> P2 {
    let c = s.centre();
    P2 { x: c.x + by, y: c.y * by }
}
#[differentiable]
fn generic_results(x: &[f64]) -> f64 {
    let d = Disc { c: vec2(x[0], x[1]), r: x[2] };
    let q = moved(&d, x[2]) + 2.0 * moved(&d, 0.5);
    let w = 2.0 * moved(&d, 1.0).x * d.weight();
    q.x * q.y + w
}

#[test]
fn operators_of_what_constants_and_functions_give() {
    holds!(kalman at [0.3, 0.5, 0.8]);
    holds!(pixel at [0.1, 0.2, 1.0, 0.3], [0.1, 0.2, 1.0, -0.5]);
    holds!(spectrum at [0.5], [1.0, 2.0, 0.5, -1.0, 0.3, 0.7, -0.2, 0.1]);
    holds!(shot at [3.0, 5.0, -0.2]);
    holds!(generic_results at [3.0, 5.0, -0.2]);
}
