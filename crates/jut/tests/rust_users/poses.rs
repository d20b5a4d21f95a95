//! Rotations, cameras, rays, orbits and cloth.

use jut::math::{acos, atan2, cos, exp, log, sin};
use jut::{Data, differentiable};
use std::f64::consts::{PI, TAU};
use std::ops::{Add, Index, Mul, Neg, Sub};

#[derive(Data, Clone, Copy, Debug, Default, PartialEq)]
struct Vec3(f64, f64, f64);

#[differentiable]
impl Add for Vec3 {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Vec3(self.0 + rhs.0, self.1 + rhs.1, self.2 + rhs.2)
    }
}
#[differentiable]
impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        self + -rhs
    }
}
#[differentiable]
impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}
#[differentiable]
impl Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        let Vec3(x, y, z) = self;
        Vec3(x * k, y * k, z * k)
    }
}
#[differentiable]
impl From<[f64; 3]> for Vec3 {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self(x, y, z)
    }
}

#[differentiable]
impl Vec3 {
    const ZERO: Vec3 = Vec3(0.0, 0.0, 0.0);
    fn new(s: &[f64]) -> Self {
        match s {
            [x, y, z, ..] => Self(*x, *y, *z),
            _ => panic!("a vector has three numbers"),
        }
    }
    fn dot(&self, o: &Vec3) -> f64 {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }
    fn cross(&self, o: &Vec3) -> Vec3 {
        Vec3(self.1 * o.2 - self.2 * o.1, self.2 * o.0 - self.0 * o.2, self.0 * o.1 - self.1 * o.0)
    }
    fn norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
    fn unit(&self) -> Option<Vec3> {
        let l = self.norm();
        if l < 1e-12 { None } else { Some(*self * (1.0 / l)) }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rot {
    m: [[f64; 3]; 3],
}

#[differentiable]
impl Index<(usize, usize)> for Rot {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.m[i][j]
    }
}

#[differentiable]
impl Mul for Rot {
    type Output = Rot;
    fn mul(self, o: Rot) -> Rot {
        let mut m = [[0.0; 3]; 3];
        for (i, row) in m.iter_mut().enumerate() {
            for (j, v) in row.iter_mut().enumerate() {
                *v = (0..3).map(|k| self.m[i][k] * o.m[k][j]).sum();
            }
        }
        Rot { m }
    }
}

#[differentiable]
impl Mul<Vec3> for Rot {
    type Output = Vec3;
    fn mul(self, v: Vec3) -> Vec3 {
        let r = self.m.map(|[a, b, c]| a * v.0 + b * v.1 + c * v.2);
        Vec3::from(r)
    }
}

#[differentiable]
impl Rot {
    fn identity() -> Rot {
        Rot { m: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] }
    }
    fn exp(w: Vec3) -> Rot {
        let theta2 = w.dot(&w);
        let (a, b) = if theta2 < 1e-8 {
            (1.0 - theta2 / 6.0, 0.5 - theta2 / 24.0)
        } else {
            let theta = theta2.sqrt();
            (sin(theta) / theta, (1.0 - cos(theta)) / theta2)
        };
        let k = [[0.0, -w.2, w.1], [w.2, 0.0, -w.0], [-w.1, w.0, 0.0]];
        let mut r = Rot::identity();
        for i in 0..3 {
            for j in 0..3 {
                let k2: f64 = (0..3).map(|l| k[i][l] * k[l][j]).sum();
                r.m[i][j] += a * k[i][j] + b * k2;
            }
        }
        r
    }
    fn log(&self) -> Vec3 {
        let c = (0.5 * ((0..3).map(|i| self[(i, i)]).sum::<f64>() - 1.0)).clamp(-1.0, 1.0);
        let v = Vec3(
            self[(2, 1)] - self[(1, 2)],
            self[(0, 2)] - self[(2, 0)],
            self[(1, 0)] - self[(0, 1)],
        );
        match c {
            c if c > 1.0 - 1e-10 => v * 0.5,
            _ => {
                let theta = acos(c);
                v * (theta / (2.0 * sin(theta)))
            }
        }
    }
    fn transpose(&self) -> Rot {
        let mut t = *self;
        for i in 0..3 {
            for j in i + 1..3 {
                let tmp = t.m[i][j];
                t.m[i][j] = t.m[j][i];
                t.m[j][i] = tmp;
            }
        }
        t
    }
}

/// The error between two rotations, by exponential and logarithm.
#[differentiable]
fn rotation_error(x: &[f64]) -> f64 {
    let (a, b) = (Rot::exp(Vec3::new(x)), Rot::exp(Vec3::new(&x[3..])));
    let e = (a.transpose() * b).log();
    let small = Rot::exp(e * 1e-6).log();
    e.dot(&e) + 1e6 * small.0
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Preintegrated {
    rot: Rot,
    vel: Vec3,
    pos: Vec3,
    time: f64,
}

#[differentiable]
impl Default for Preintegrated {
    fn default() -> Self {
        Preintegrated { rot: Rot::identity(), vel: Vec3::ZERO, pos: Vec3::ZERO, time: 0.0 }
    }
}

#[differentiable]
impl Preintegrated {
    fn integrate(self, gyro: Vec3, acc: Vec3, dt: f64) -> Self {
        let a = self.rot * acc;
        Self {
            pos: self.pos + self.vel * dt + a * (0.5 * dt * dt),
            vel: self.vel + a * dt,
            rot: self.rot * Rot::exp(gyro * dt),
            time: self.time + dt,
        }
    }
}

/// Measurements of an inertial unit, integrated before they are used, with biases.
#[differentiable]
fn preintegration(x: &[f64]) -> f64 {
    let (gyro_bias, acc_bias) = (Vec3::new(&x[0..3]), Vec3::new(&x[3..6]));
    let readings = [
        ([0.1, 0.0, 0.3], [0.0, 0.2, 9.8]),
        ([0.2, -0.1, 0.2], [0.1, 0.1, 9.7]),
        ([0.0, -0.2, 0.1], [0.3, 0.0, 9.9]),
    ];
    let delta = readings.iter().fold(Preintegrated::default(), |acc, (g, a)| {
        acc.integrate(Vec3::from(*g) - gyro_bias, Vec3::from(*a) - acc_bias, 0.1)
    });
    let gravity = Vec3(0.0, 0.0, -9.81);
    let pos = delta.pos + gravity * (0.5 * delta.time * delta.time);
    let residual = pos - Vec3(0.01, 0.02, -0.01);
    residual.norm() * 10.0 + delta.rot.log().dot(&delta.vel)
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Camera {
    rotation: Vec3,
    translation: Vec3,
    focal: f64,
    distortion: [f64; 2],
}

#[differentiable]
impl Camera {
    fn from_params(p: &[f64]) -> Result<Camera, String> {
        let [r @ .., focal, k1, k2] = p else { return Err("too few parameters".into()) };
        if r.len() != 6 {
            return Err(String::from("a pose has six numbers"));
        }
        Ok(Camera {
            rotation: Vec3::new(r),
            translation: Vec3::new(&r[3..]),
            focal: *focal,
            distortion: [*k1, *k2],
        })
    }
    fn project(&self, point: Vec3) -> Option<(f64, f64)> {
        let Vec3(x, y, z) = Rot::exp(self.rotation) * point + self.translation;
        if z <= 0.1 {
            return None;
        }
        let (u, v) = (x / z, y / z);
        let r2 = u * u + v * v;
        let [k1, k2] = self.distortion;
        let d = 1.0 + r2 * (k1 + k2 * r2);
        Some((self.focal * d * u, self.focal * d * v))
    }
}

/// Residuals of a camera's pose, with a loss of Cauchy; points behind it count by a constant.
#[differentiable]
fn reprojection(x: &[f64]) -> f64 {
    let camera = Camera::from_params(x).unwrap();
    let points = [
        (Vec3(0.1, 0.2, 2.0), (10.0, 18.0)),
        (Vec3(-0.5, 0.3, 3.0), (-30.0, 20.0)),
        (Vec3(0.0, 0.0, -5.0), (0.0, 0.0)),
    ];
    let mut cost = 0.0;
    let mut outside = 0;
    for (p, (u, v)) in points {
        let Some((pu, pv)) = camera.project(p) else {
            outside += 1;
            continue;
        };
        let e2 = (pu - u) * (pu - u) + (pv - v) * (pv - v);
        cost += 0.5 * log(1.0 + e2 / 4.0);
    }
    cost + f64::from(outside)
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Material {
    Diffuse { albedo: f64 },
    Mirror(f64),
    Light(f64),
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Sphere {
    center: Vec3,
    radius: f64,
    material: Material,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Ray {
    origin: Vec3,
    dir: Vec3,
}

#[differentiable]
impl Ray {
    fn at(&self, t: f64) -> Vec3 {
        self.origin + self.dir * t
    }
    fn hits(&self, s: &Sphere) -> Option<f64> {
        let oc = self.origin - s.center;
        let b = oc.dot(&self.dir);
        let disc = b * b - oc.dot(&oc) + s.radius * s.radius;
        if disc < 0.0 {
            return None;
        }
        [-b - disc.sqrt(), -b + disc.sqrt()].into_iter().find(|&t| t > 1e-6)
    }
}

#[differentiable]
fn traced(scene: &[Sphere], ray: Ray, depth: u32) -> f64 {
    let hit = scene
        .iter()
        .filter_map(|s| ray.hits(s).map(|t| (t, s)))
        .min_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap());
    let Some((t, sphere)) = hit else { return 0.2 + 0.1 * ray.dir.1 };
    let p = ray.at(t);
    let n = (p - sphere.center) * (1.0 / sphere.radius);
    match sphere.material {
        Material::Light(power) => power,
        Material::Diffuse { albedo } => {
            let light = Vec3(0.5, 0.8, -0.3).unit().unwrap();
            albedo * n.dot(&light).max(0.0) + 0.05
        }
        Material::Mirror(_) if depth == 0 => 0.0,
        Material::Mirror(k) => {
            let reflected = ray.dir - n * (2.0 * ray.dir.dot(&n));
            k * traced(scene, Ray { origin: p, dir: reflected }, depth - 1)
        }
    }
}

/// A picture of three spheres by rays that are reflected.
#[differentiable]
fn spheres(x: &[f64]) -> f64 {
    let scene = vec![
        Sphere { center: Vec3(x[0], 0.0, 4.0), radius: 1.0, material: Material::Mirror(0.8) },
        Sphere {
            center: Vec3(-1.5, x[1], 3.0),
            radius: 0.7,
            material: Material::Diffuse { albedo: x[2] },
        },
        Sphere { center: Vec3(1.5, 2.0, 2.0), radius: 0.5, material: Material::Light(3.0) },
    ];
    let mut brightness = 0.0;
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let dir =
            Vec3(i as f64 * 0.4 - 0.45, j as f64 * 0.4 - 0.35, 1.0).unit().unwrap_or_default();
        brightness += traced(&scene, Ray { origin: Vec3::ZERO, dir }, 3);
    }
    brightness
}

/// Kepler's elements of a position and a velocity, and the time since the pericentre.
#[differentiable]
fn orbital_elements(x: &[f64]) -> f64 {
    let (r, v) = (Vec3::new(&x[..3]), Vec3::new(&x[3..]));
    let mu = 1.0;
    let h = r.cross(&v);
    let e_vec = v.cross(&h) * (1.0 / mu) - r.unit().expect("a position");
    let e = e_vec.norm();
    let energy = 0.5 * v.dot(&v) - mu / r.norm();
    assert!(energy < 0.0, "the orbit is not closed");
    let a = -mu / (2.0 * energy);
    let inclination = acos(h.2 / h.norm());
    let node = Vec3(-h.1, h.0, 0.0);
    let raan = atan2(node.1, node.0).rem_euclid(TAU);
    let arg = {
        let w = acos((node.dot(&e_vec) / (node.norm() * e)).clamp(-1.0, 1.0));
        if e_vec.2 < 0.0 { TAU - w } else { w }
    };
    let anomaly = match r.dot(&v) {
        s if s >= 0.0 => acos(e_vec.dot(&r) / (e * r.norm())),
        _ => TAU - acos(e_vec.dot(&r) / (e * r.norm())),
    };
    let half = ((1.0 - e) / (1.0 + e)).sqrt() * jut::math::tan(anomaly / 2.0);
    let ecc = 2.0 * jut::math::atan(half);
    let since = (ecc - e * sin(ecc)) * (a.powi(3) / mu).sqrt();
    a + inclination + 0.1 * raan + 0.2 * arg + 0.3 * since + exp(-e) * PI
}

#[test]
fn rotations() {
    everywhere! {
        rotation_error at [0.1, 0.5, -0.3, 0.4, 0.2, 0.9];
        preintegration at [0.01, 0.02, -0.01, 0.1, -0.05, 0.03], [0.1, 0.2, 0.3, 0.4];
        reprojection at [0.1, -0.2, 0.05, 0.3, 0.1, 0.5, 100.0, -0.1, 0.02], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0];
    }
}

#[test]
fn rays_and_orbits() {
    everywhere! {
        spheres at [0.2, 0.3, 0.9];
        orbital_elements at [1.0, 0.2, 0.1, -0.1, 0.9, 0.4], [1.0, 0.2, 0.1, 0.3, 0.8, -0.4], [1.0, 0.0, 0.0, 0.0, 2.0, 0.1];
    }
}
