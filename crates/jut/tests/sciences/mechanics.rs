//! Bodies, joints, rays, populations.

use jut::math::sin;
use jut::{Data, differentiable};

const G: f64 = 6.674e-3;
const DT: f64 = 0.05;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Body {
    mass: f64,
    pos: [f64; 3],
    vel: [f64; 3],
}

#[differentiable]
impl Body {
    fn kinetic(&self) -> f64 {
        0.5 * self.mass * self.vel.iter().map(|v| v * v).sum::<f64>()
    }
    fn distance(&self, other: &Body) -> f64 {
        let mut d2 = 0.0;
        for k in 0..3 {
            let d = self.pos[k] - other.pos[k];
            d2 += d * d;
        }
        (d2 + 1e-6).sqrt()
    }
    fn drift(&mut self, dt: f64) {
        for (p, v) in self.pos.iter_mut().zip(self.vel.iter()) {
            *p += dt * v;
        }
    }
}

#[differentiable]
fn three_bodies(x: &[f64]) -> f64 {
    let mut bodies = [
        Body { mass: x[0].abs() + 1.0, pos: [0.0, x[1], 0.0], vel: [0.1, 0.0, 0.0] },
        Body { mass: 2.0, pos: [x[2], 1.0, 0.0], vel: [0.0, x[3], 0.0] },
        Body { mass: 0.5, pos: [0.0, -1.0, 2.0], vel: [0.0, 0.0, x[4]] },
    ];
    for _ in 0..5 {
        let old = bodies;
        for (i, b) in bodies.iter_mut().enumerate() {
            for (j, other) in old.iter().enumerate() {
                if i == j {
                    continue;
                }
                let r = old[i].distance(other);
                let f = G * other.mass / r.powi(3);
                for k in 0..3 {
                    b.vel[k] += DT * f * (other.pos[k] - old[i].pos[k]);
                }
            }
        }
        bodies.iter_mut().for_each(|b| b.drift(DT));
    }
    let kinetic: f64 = bodies.iter().map(|b| b.kinetic()).sum();
    let mut potential = 0.0;
    for i in 0..bodies.len() {
        for j in (i + 1)..bodies.len() {
            potential -= G * bodies[i].mass * bodies[j].mass / bodies[i].distance(&bodies[j]);
        }
    }
    kinetic + potential
}

#[differentiable]
fn pendulum_rk4(x: &[f64]) -> f64 {
    let f = |s: [f64; 2]| [s[1], -x[2] * sin(s[0]) - 0.1 * s[1]];
    let mut s = [x[0], x[1]];
    let h = 0.1;
    for _ in 0..10 {
        let k1 = f(s);
        let k2 = f([s[0] + 0.5 * h * k1[0], s[1] + 0.5 * h * k1[1]]);
        let k3 = f([s[0] + 0.5 * h * k2[0], s[1] + 0.5 * h * k2[1]]);
        let k4 = f([s[0] + h * k3[0], s[1] + h * k3[1]]);
        for i in 0..2 {
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    s[0] + s[1]
}

#[differentiable]
fn dh_chain(x: &[f64]) -> f64 {
    let mut t = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (&q, length) in x.iter().zip([1.0, 0.8, 0.5]) {
        let (s, c) = q.sin_cos();
        let joint = [[c, -s, length * c], [s, c, length * s], [0.0, 0.0, 1.0]];
        t = mat_mul(&t, &joint);
    }
    let target = [1.2, 0.9];
    (t[0][2] - target[0]).hypot(t[1][2] - target[1])
}

#[differentiable]
fn mat_mul<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut c = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            for k in 0..N {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quat {
    w: f64,
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl Quat {
    fn new(axis: [f64; 3], angle: f64) -> Self {
        let (s, c) = (0.5 * angle).sin_cos();
        let n = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        Self { w: c, x: s * axis[0] / n, y: s * axis[1] / n, z: s * axis[2] / n }
    }
    fn times(self, o: Self) -> Self {
        Quat {
            w: self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            x: self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            y: self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            z: self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        }
    }
    fn conj(self) -> Quat {
        Quat { x: -self.x, y: -self.y, z: -self.z, ..self }
    }
}

#[differentiable]
fn attitude(x: &[f64]) -> f64 {
    let mut q = Quat::new([0.0, 0.0, 1.0], x[0]).times(Quat::new([1.0, x[1], 0.5], 0.3));
    for &w in &x[2..] {
        q = q.times(Quat::new([0.0, 1.0, 0.0], 0.1 * w));
    }
    let p = q.times(Quat { w: 0.0, x: 1.0, y: 2.0, z: 3.0 }).times(q.conj());
    p.x * 0.5 + p.y - p.z
}

#[differentiable]
fn ising_energy(x: &[f64]) -> f64 {
    let n = x.len();
    let spins: Vec<f64> = x.iter().map(|v| v.tanh()).collect();
    let mut e = 0.0;
    for i in 0..n {
        e -= spins[i] * spins[(i + 1) % n] + 0.1 * spins[i];
    }
    e / n as f64
}

#[differentiable]
fn lennard_jones_cutoff(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0] * 3.0, c[1] * 3.0]).collect();
    let mut total = 0.0;
    'outer: for i in 0..points.len() {
        for j in 0..i {
            let dx = points[i][0] - points[j][0];
            let dy = points[i][1] - points[j][1];
            let r2 = dx * dx + dy * dy;
            if r2 > 25.0 {
                continue 'outer;
            }
            let s6 = (1.0 / r2).powi(3);
            total += 4.0 * (s6 * s6 - s6);
        }
    }
    total
}

#[differentiable]
fn lotka_volterra(x: &[f64]) -> f64 {
    let (alpha, beta, gamma, delta) = (1.1, 0.4 + 0.01 * x[0], 0.4, 0.1);
    let step = |(prey, pred): (f64, f64), dt: f64| {
        (
            prey + dt * (alpha * prey - beta * prey * pred),
            pred + dt * (delta * prey * pred - gamma * pred),
        )
    };
    let mut state = (10.0 + x[1], 5.0 + x[2]);
    for _ in 0..20 {
        state = step(state, 0.05);
    }
    state.0 - state.1
}

#[differentiable]
fn sir(x: &[f64]) -> f64 {
    let (beta, gamma) = (0.3 + 0.01 * x[0], 0.1);
    let (mut s, mut i, mut r) = (0.99, 0.01, 0.0);
    let mut peak: f64 = i;
    for _day in 0..30 {
        let new = beta * s * i;
        let rec = gamma * i;
        (s, i, r) = (s - new, i + new - rec, r + rec);
        peak = peak.max(i);
    }
    peak + 0.1 * r
}

#[differentiable]
fn adaptive_step(x: &[f64]) -> f64 {
    let (mut t, mut y, mut h) = (0.0, 1.0 + 0.1 * x[0], 0.1);
    let f = |t: f64, y: f64| -2.0 * y + x[1] * t;
    let mut evals = 0;
    loop {
        if t + h > 1.0 {
            h = 1.0 - t;
        }
        let k1 = f(t, y);
        let k2 = f(t + h, y + h * k1);
        let err = (0.5 * h * (k2 - k1)).abs();
        evals += 2;
        if err < 1e-2 || h < 1e-3 {
            t += h;
            y += 0.5 * h * (k1 + k2);
            if t >= 1.0 - 1e-12 {
                break y;
            }
            continue;
        }
        assert!(evals < 10_000, "too many steps");
        h *= 0.5;
    }
}

#[differentiable]
fn polygon_area(x: &[f64]) -> f64 {
    let pts: Vec<(f64, f64)> = x.chunks(2).filter(|c| c.len() == 2).map(|c| (c[0], c[1])).collect();
    let n = pts.len();
    let twice: f64 = (0..n)
        .map(|i| {
            let ((a, b), (c, d)) = (pts[i], pts[(i + 1) % n]);
            a * d - b * c
        })
        .sum();
    0.5 * twice.abs()
}

#[differentiable]
fn haversine(x: &[f64]) -> f64 {
    let [lat1, lon1, lat2, lon2] = [x[0], x[1], x[2], x[3]].map(f64::to_radians);
    let a = ((lat2 - lat1) / 2.0).sin().powi(2)
        + lat1.cos() * lat2.cos() * ((lon2 - lon1) / 2.0).sin().powi(2);
    2.0 * 6371.0 * a.sqrt().min(1.0).asin()
}

#[differentiable]
fn lens_trace(x: &[f64]) -> f64 {
    let surfaces: [(f64, f64, f64); 3] =
        [(10.0 + x[0], 1.5, 1.0), (-12.0, 1.0, 2.0), (8.0 + x[1], 1.6, 0.5)];
    let (mut h, mut u, mut n) = (1.0, 0.0, 1.0);
    for &(radius, index, gap) in surfaces.iter() {
        u = (n * u - h * (index - n) / radius) / index;
        h += gap * u;
        n = index;
    }
    -h / u
}

#[test]
fn values_and_gradients() {
    super::check!(three_bodies pendulum_rk4 dh_chain attitude ising_energy lennard_jones_cutoff lotka_volterra sir adaptive_step polygon_area haversine lens_trace);
}
