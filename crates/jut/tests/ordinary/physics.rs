//! Physics: particles, pendulums, orbits, residuals of differential equations.

use super::{close, differences, near};
use jut::{Data, differentiable};
use std::f64::consts::PI;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
pub struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl Vec3 {
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }
    pub fn dot(&self, o: &Vec3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    pub fn cross(&self, o: &Vec3) -> Vec3 {
        Vec3::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }
    pub fn norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
    pub fn scale(self, k: f64) -> Self {
        Self::new(k * self.x, k * self.y, k * self.z)
    }
    pub fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
    pub fn sub(self, o: Self) -> Self {
        self.add(o.scale(-1.0))
    }
}

#[differentiable]
fn lennard_jones(positions: &[[f64; 3]], epsilon: f64, sigma: f64) -> f64 {
    let mut energy = 0.0;
    for (i, a) in positions.iter().enumerate() {
        for b in &positions[i + 1..] {
            let r2: f64 = a.iter().zip(b.iter()).map(|(p, q)| (p - q).powi(2)).sum();
            let s6 = (sigma * sigma / r2).powi(3);
            energy += 4.0 * epsilon * (s6 * s6 - s6);
        }
    }
    energy
}

#[differentiable]
fn rk4_pendulum(theta0: f64, omega0: f64, length: f64, t_end: f64, steps: usize) -> f64 {
    const G: f64 = 9.81;
    let f = |theta: f64, omega: f64| (omega, -G / length * theta.sin());
    let h = t_end / steps as f64;
    let (mut theta, mut omega) = (theta0, omega0);
    for _ in 0..steps {
        let (k1a, k1b) = f(theta, omega);
        let (k2a, k2b) = f(theta + 0.5 * h * k1a, omega + 0.5 * h * k1b);
        let (k3a, k3b) = f(theta + 0.5 * h * k2a, omega + 0.5 * h * k2b);
        let (k4a, k4b) = f(theta + h * k3a, omega + h * k3b);
        theta += h / 6.0 * (k1a + 2.0 * k2a + 2.0 * k3a + k4a);
        omega += h / 6.0 * (k1b + 2.0 * k2b + 2.0 * k3b + k4b);
    }
    theta
}

#[differentiable]
fn projectile_range(v0: f64, angle: f64, drag: f64) -> f64 {
    let dt = 0.01;
    let (mut x, mut y) = (0.0, 0.0);
    let (mut vx, mut vy) = (v0 * angle.cos(), v0 * angle.sin());
    loop {
        let speed = vx.hypot(vy);
        let (ax, ay) = (-drag * speed * vx, -9.81 - drag * speed * vy);
        let (px, py) = (x, y);
        x += vx * dt;
        y += vy * dt;
        vx += ax * dt;
        vy += ay * dt;
        if y < 0.0 {
            let s = py / (py - y);
            return px + s * (x - px);
        }
    }
}

#[differentiable]
fn kepler(mean_anomaly: f64, eccentricity: f64) -> f64 {
    let mut e = mean_anomaly;
    let mut iterations = 0;
    while (e - eccentricity * e.sin() - mean_anomaly).abs() > 1e-13 && iterations < 50 {
        e -= (e - eccentricity * e.sin() - mean_anomaly) / (1.0 - eccentricity * e.cos());
        iterations += 1;
    }
    2.0 * ((1.0 + eccentricity).sqrt() * (e / 2.0).sin())
        .atan2((1.0 - eccentricity).sqrt() * (e / 2.0).cos())
}

#[differentiable]
fn heat_residual(u: &[f64], u_next: &[f64], alpha: f64, dx: f64, dt: f64) -> f64 {
    u.windows(3)
        .zip(&u_next[1..])
        .map(|(w, next)| {
            let laplacian = (w[0] - 2.0 * w[1] + w[2]) / (dx * dx);
            ((next - w[1]) / dt - alpha * laplacian).powi(2)
        })
        .sum::<f64>()
        * dx
}

#[differentiable]
fn burgers_step(u: &[f64], nu: f64, dx: f64, dt: f64) -> Vec<f64> {
    let n = u.len();
    let mut next = Vec::with_capacity(n);
    next.push(u[0]);
    for i in 1..n - 1 {
        let advection = u[i] * (u[i] - u[i - 1]) / dx;
        let diffusion = nu * (u[i + 1] - 2.0 * u[i] + u[i - 1]) / dx.powi(2);
        next.push(u[i] + dt * (diffusion - advection));
    }
    next.push(u[n - 1]);
    next
}

#[differentiable]
fn planck(lambda: f64, temperature: f64) -> f64 {
    const H: f64 = 6.62607015e-34;
    const C: f64 = 299_792_458.0;
    const K: f64 = 1.380649e-23;
    let x = H * C / (lambda * K * temperature);
    2.0 * H * C.powi(2) / lambda.powi(5) / x.exp_m1()
}

#[differentiable]
fn coulomb(charges: &[f64], at: &[Vec3]) -> f64 {
    let n = charges.len();
    (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .map(|(i, j)| charges[i] * charges[j] / at[i].sub(at[j]).norm())
        .sum()
}

#[differentiable]
fn center_of_mass(masses: &[f64], at: &[Vec3]) -> Vec3 {
    let total: f64 = masses.iter().sum();
    masses
        .iter()
        .zip(at)
        .fold(Vec3 { x: 0.0, y: 0.0, z: 0.0 }, |acc, (m, p)| acc.add(p.scale(*m / total)))
}

#[differentiable]
fn wave_dispersion(k: f64, depth: f64) -> f64 {
    let omega2 = if depth.is_infinite() { 9.81 * k } else { 9.81 * k * (k * depth).tanh() };
    omega2.sqrt() / (2.0 * PI)
}

#[differentiable]
fn ising_mean_field(m0: f64, beta: f64, j: f64, h: f64) -> f64 {
    let mut m = m0;
    for _ in 0..200 {
        let next = (beta * (j * m + h)).tanh();
        let done = (next - m).abs() < 1e-14;
        m = next;
        if done {
            break;
        }
    }
    m
}

#[differentiable]
fn torque(path: &[Vec3], force: Vec3) -> f64 {
    let mut total = Vec3::new(0.0, 0.0, 0.0);
    let mut previous = path.first().copied().unwrap_or(force);
    for &p in path {
        let arm = p.sub(previous);
        total = total.add(arm.cross(&force));
        previous = p;
    }
    total.norm()
}
#[differentiable]
fn simpson(a: f64, b: f64, n: usize, k: f64) -> f64 {
    fn integrand(x: f64, k: f64) -> f64 {
        (-k * x * x).exp()
    }
    let h = (b - a) / n as f64;
    let mut s = integrand(a, k) + integrand(b, k);
    for i in 1..n {
        let w = if i % 2 == 0 { 2.0 } else { 4.0 };
        s += w * integrand(a + i as f64 * h, k);
    }
    s * h / 3.0
}

#[test]
fn particles() {
    let at = [0.0, 0.0, 0.0, 1.25, 0.25, -0.5, 0.5, -1.0, 0.75];
    let rows = |x: &[f64]| x.chunks(3).map(|r| [r[0], r[1], r[2]]).collect::<Vec<_>>();
    let (value, (by, by_epsilon, by_sigma)) =
        lennard_jones::value_and_gradient(&rows(&at), 0.75, 1.1).unwrap();
    near(value, lennard_jones(&rows(&at), 0.75, 1.1), "lennard_jones");
    close(&by.concat(), &differences(|x| lennard_jones(&rows(x), 0.75, 1.1), &at), "positions");
    close(&[by_epsilon], &[value / 0.75], "epsilon");
    close(&[by_sigma], &differences(|s| lennard_jones(&rows(&at), 0.75, s[0]), &[1.1]), "sigma");
    let all = |x: &[f64]| x.chunks(3).map(|r| Vec3::new(r[0], r[1], r[2])).collect::<Vec<_>>();
    let charges = [1.0, -2.0, 0.5];
    let (value, (by_charges, by)) = coulomb::value_and_gradient(&charges, &all(&at)).unwrap();
    near(value, coulomb(&charges, &all(&at)), "coulomb");
    close(&by_charges, &differences(|q| coulomb(q, &all(&at)), &charges), "charges");
    let by: Vec<f64> = by.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
    close(&by, &differences(|x| coulomb(&charges, &all(x)), &at), "places");
    let masses = [1.0, 3.0, 0.5];
    assert_eq!(
        center_of_mass::value(&masses, &all(&at)).unwrap(),
        center_of_mass(&masses, &all(&at))
    );
    let cotangent = Vec3::new(1.0, 2.0, 3.0);
    let (_, (_, by)) = center_of_mass::vjp(&masses, &all(&at), &cotangent).unwrap();
    near(by[1].y, 2.0 * 3.0 / 4.5, "center_of_mass");
    let force = Vec3::new(0.5, -1.0, 2.0);
    let (value, (by, _)) = torque::value_and_gradient(&all(&at), force).unwrap();
    near(value, torque(&all(&at), force), "torque");
    let by: Vec<f64> = by.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
    close(&by, &differences(|x| torque(&all(x), force), &at), "torque");
    // With no path there is no force.
    assert_eq!(torque::value(&[], force).unwrap(), torque(&[], force));
}

#[test]
fn motion() {
    let at = [0.5, -0.25, 1.5, 2.0];
    let plain = |x: &[f64]| rk4_pendulum(x[0], x[1], x[2], x[3], 50);
    let (value, (a, b, c, d)) = rk4_pendulum::value_and_gradient(0.5, -0.25, 1.5, 2.0, 50).unwrap();
    near(value, plain(&at), "pendulum");
    close(&[a, b, c, d], &differences(plain, &at), "pendulum");
    let at = [20.0, 0.75, 0.01];
    let plain = |x: &[f64]| projectile_range(x[0], x[1], x[2]);
    let (value, (a, b, c)) = projectile_range::value_and_gradient(20.0, 0.75, 0.01).unwrap();
    near(value, plain(&at), "projectile");
    close(&[a, b, c], &differences(plain, &at), "projectile");
    let plain = |x: &[f64]| kepler(x[0], x[1]);
    let (value, (a, b)) = kepler::value_and_gradient(1.25, 0.3).unwrap();
    near(value, plain(&[1.25, 0.3]), "kepler");
    close(&[a, b], &differences(plain, &[1.25, 0.3]), "kepler");
    let plain = |x: &[f64]| ising_mean_field(x[0], x[1], x[2], x[3]);
    let at = [0.5, 1.25, 1.1, 0.2];
    let (value, (a, b, c, d)) = ising_mean_field::value_and_gradient(0.5, 1.25, 1.1, 0.2).unwrap();
    near(value, plain(&at), "ising");
    close(&[a, b, c, d], &differences(plain, &at), "ising");
}

#[test]
fn fields() {
    let u = [0.0, 0.5, 1.25, 0.75, -0.5, 0.25];
    let next = [0.1, 0.55, 1.0, 0.5, -0.25, 0.25];
    let plain = |u: &[f64], next: &[f64]| heat_residual(u, next, 0.75, 0.5, 0.1);
    let (value, (by_u, by_next, ..)) =
        heat_residual::value_and_gradient(&u, &next, 0.75, 0.5, 0.1).unwrap();
    near(value, plain(&u, &next), "heat");
    close(&by_u, &differences(|u| plain(u, &next), &u), "heat");
    close(&by_next, &differences(|next| plain(&u, next), &next), "heat");
    let stepped = burgers_step(&u, 0.1, 0.5, 0.05);
    assert_eq!(burgers_step::value(&u, 0.1, 0.5, 0.05).unwrap(), stepped);
    let weights = [1.0, -2.0, 0.5, 3.0, 0.25, -1.0];
    let (_, (by_u, by_nu, ..)) = burgers_step::vjp(&u, 0.1, 0.5, 0.05, &weights.to_vec()).unwrap();
    let total = |u: &[f64], nu: f64| {
        burgers_step(u, nu, 0.5, 0.05).iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>()
    };
    close(&by_u, &differences(|u| total(u, 0.1), &u), "burgers");
    close(&[by_nu], &differences(|nu| total(&u, nu[0]), &[0.1]), "burgers");
    assert!(burgers_step::value(&[], 0.1, 0.5, 0.05).is_err());
}

#[test]
fn formulas() {
    let (value, (by_lambda, by_t)) = planck::value_and_gradient(5e-7, 5000.0).unwrap();
    near(value, planck(5e-7, 5000.0), "planck");
    let relative = |x: &[f64]| planck(5e-7 * x[0], 5000.0 * x[1]) / value;
    close(
        &[by_lambda * 5e-7 / value, by_t * 5000.0 / value],
        &differences(relative, &[1.0, 1.0]),
        "planck",
    );
    for depth in [0.5, 20.0, f64::INFINITY] {
        let (value, (by, _)) = wave_dispersion::value_and_gradient(0.75, depth).unwrap();
        near(value, wave_dispersion(0.75, depth), "waves");
        close(&[by], &differences(|k| wave_dispersion(k[0], depth), &[0.75]), "waves");
    }
    let (value, (a, b, k)) = simpson::value_and_gradient(0.0, 1.5, 20, 0.75).unwrap();
    near(value, simpson(0.0, 1.5, 20, 0.75), "simpson");
    let plain = |x: &[f64]| simpson(x[0], x[1], 20, x[2]);
    close(&[a, b, k], &differences(plain, &[0.0, 1.5, 0.75]), "simpson");
    close(&[b], &[(-0.75_f64 * 1.5 * 1.5).exp()], "the integrand");
}
