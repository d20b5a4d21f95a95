//! Grains, ice and pictures: charges in a line of cells, fluids of particles, tops, attitudes, crystals, glaciers, scans, spins.

use super::agree;
use jut::math::{cos, erfc, exp, log, sin, tanh};
use jut::{Data, differentiable};

/// Charges that repeat for ever, by sums near and far.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Charge {
    at: [f64; 3],
    q: f64,
}

#[differentiable]
fn ewald(charges: &[Charge], side: f64, eta: f64) -> f64 {
    let mut real = 0.0;
    for (i, a) in charges.iter().enumerate() {
        for b in charges[i + 1..].iter() {
            let r2: f64 =
                a.at.iter()
                    .zip(b.at.iter())
                    .map(|(p, q)| {
                        let d = p - q;
                        d - side * (d / side).round()
                    })
                    .map(|d| d * d)
                    .sum();
            let r = r2.sqrt();
            real += a.q * b.q * erfc(eta * r) / r;
        }
    }
    let g = std::f64::consts::TAU / side;
    let mut far = 0.0;
    for h in -2i32..=2 {
        for k in -2i32..=2 {
            for l in -2i32..=2 {
                if (h, k, l) == (0, 0, 0) {
                    continue;
                }
                let wave = [h, k, l].map(|n| f64::from(n) * g);
                let w2: f64 = wave.iter().map(|w| w * w).sum();
                let (re, im) = charges.iter().fold((0.0, 0.0), |(re, im), c| {
                    let phase: f64 = wave.iter().zip(&c.at).map(|(w, x)| w * x).sum();
                    (re + c.q * cos(phase), im + c.q * sin(phase))
                });
                far += exp(-w2 / (4.0 * eta * eta)) / w2 * (re * re + im * im);
            }
        }
    }
    let own: f64 =
        charges.iter().map(|c| c.q.powi(2)).sum::<f64>() * eta / std::f64::consts::PI.sqrt();
    real + 2.0 * std::f64::consts::PI / side.powi(3) * far - own
}

#[differentiable]
fn salt(x: &[f64]) -> f64 {
    let charges: Vec<Charge> = x
        .chunks_exact(3)
        .zip([1.0, -1.0].iter().cycle())
        .map(|(c, &q)| Charge { at: [c[0], c[1], c[2]], q })
        .collect();
    ewald(&charges, 3.0, 1.1)
}

/// A fluid of particles.
#[derive(Data, Clone, Debug, PartialEq, Default)]
struct Particle {
    pos: (f64, f64),
    vel: (f64, f64),
    density: f64,
    pressure: f64,
}

#[differentiable]
fn kernel(r2: f64, h: f64) -> f64 {
    let q = r2 / (h * h);
    if q >= 1.0 { 0.0 } else { (1.0 - q).powi(3) }
}

#[differentiable]
fn fluid_step(particles: &mut Vec<Particle>, h: f64, stiffness: f64, dt: f64) {
    let places: Vec<(f64, f64)> = particles.iter().map(|p| p.pos).collect();
    for p in particles.iter_mut() {
        p.density = places
            .iter()
            .map(|&(x, y)| kernel((p.pos.0 - x).powi(2) + (p.pos.1 - y).powi(2), h))
            .sum();
        p.pressure = stiffness * (p.density - 1.0).max(0.0);
    }
    let frozen = particles.clone();
    for (i, p) in particles.iter_mut().enumerate() {
        let mut force = (0.0, -9.81);
        for (j, other) in frozen.iter().enumerate() {
            if i == j {
                continue;
            }
            let (dx, dy) = (p.pos.0 - other.pos.0, p.pos.1 - other.pos.1);
            let r2 = dx * dx + dy * dy;
            if r2 < h * h {
                let push =
                    (p.pressure + other.pressure) / (2.0 * other.density) * (1.0 - r2 / (h * h));
                force.0 += push * dx + 0.1 * (other.vel.0 - p.vel.0);
                force.1 += push * dy + 0.1 * (other.vel.1 - p.vel.1);
            }
        }
        p.vel.0 += dt * force.0;
        p.vel.1 += dt * force.1;
        p.pos.0 += dt * p.vel.0;
        p.pos.1 += dt * p.vel.1;
        if p.pos.1 < 0.0 {
            p.pos.1 = -p.pos.1;
            p.vel.1 *= -0.5;
        }
    }
}

#[differentiable]
fn splash(x: &[f64]) -> f64 {
    let mut particles: Vec<Particle> = x[1..]
        .chunks_exact(2)
        .map(|c| Particle { pos: (c[0], c[1]), ..Default::default() })
        .collect();
    for _ in 0..4 {
        fluid_step(&mut particles, 0.8, x[0], 0.02);
    }
    particles.iter().map(|Particle { pos: (px, py), vel, .. }| px * py + vel.0 * vel.0).sum()
}

/// A top, and a filter that follows it by what it feels.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quaternion([f64; 4]);

#[differentiable]
impl std::ops::Mul<Quaternion> for Quaternion {
    type Output = Quaternion;
    fn mul(self, Quaternion([e, f, g, h]): Quaternion) -> Quaternion {
        let [a, b, c, d] = self.0;
        Quaternion([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }
}

#[differentiable]
impl Quaternion {
    fn normalized(mut self) -> Self {
        let norm = self.0.iter().map(|v| v * v).sum::<f64>().sqrt();
        self.0.iter_mut().for_each(|v| *v /= norm);
        self
    }
    fn advanced(self, [wx, wy, wz]: [f64; 3], dt: f64) -> Self {
        let spin = self * Quaternion([0.0, wx, wy, wz]);
        let mut next = self;
        for (n, s) in next.0.iter_mut().zip(spin.0) {
            *n += 0.5 * dt * s;
        }
        next.normalized()
    }
    fn down(&self) -> [f64; 3] {
        let Quaternion([w, x, y, z]) = *self;
        [2.0 * (x * z - w * y), 2.0 * (w * x + y * z), w * w - x * x - y * y + z * z]
    }
}

#[differentiable]
fn cross3(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[differentiable]
fn spinning_top(x: &[f64]) -> f64 {
    let inertia = [x[0], x[1], 1.0];
    let mut omega = [0.2, x[2], 3.0];
    let (mut truth, mut guess) =
        (Quaternion([1.0, 0.0, 0.0, 0.0]), Quaternion([0.9, 0.3, -0.1, 0.2]).normalized());
    let (gain, mut apart) = (x[3], 0.0);
    for _ in 0..20 {
        let momentum: [f64; 3] = std::array::from_fn(|k| inertia[k] * omega[k]);
        let torque = cross3(momentum, omega);
        for ((w, t), i) in omega.iter_mut().zip(torque).zip(inertia) {
            *w += 0.01 * t / i;
        }
        truth = truth.advanced(omega, 0.01);
        let error = cross3(truth.down(), guess.down());
        let mut felt = omega;
        for k in 0..3 {
            felt[k] += gain * error[k];
        }
        guess = guess.advanced(felt, 0.01);
        apart += error.iter().map(|e| e * e).sum::<f64>();
    }
    apart + truth.0[1]
}

/// A crystal in cells, with neighbours found by cell.
#[differentiable]
fn cells_of(points: &[[f64; 2]], size: f64, n: usize) -> Vec<Vec<usize>> {
    let mut cells: Vec<Vec<usize>> = vec![Vec::new(); n * n];
    for (k, [x, y]) in points.iter().enumerate() {
        let i = ((x / size) as usize).min(n - 1);
        let j = ((y / size) as usize).min(n - 1);
        cells[i * n + j].push(k);
    }
    cells
}

#[differentiable]
fn crystal(x: &[f64]) -> f64 {
    const N: usize = 3;
    let (sigma, epsilon) = (x[0], x[1]);
    let points: Vec<[f64; 2]> = x[2..].chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let cells = cells_of(&points, 1.5, N);
    let mut energy = 0.0;
    for i in 0..N {
        for j in 0..N {
            for &a in &cells[i * N + j] {
                for di in -1i32..=1 {
                    for dj in -1i32..=1 {
                        let (ci, cj) = (i as i32 + di, j as i32 + dj);
                        if ci < 0 || cj < 0 || ci >= N as i32 || cj >= N as i32 {
                            continue;
                        }
                        for &b in cells[ci as usize * N + cj as usize].iter().filter(|&&b| b > a) {
                            let r2: f64 = points[a]
                                .iter()
                                .zip(&points[b])
                                .map(|(p, q)| (p - q).powi(2))
                                .sum();
                            let s6 = (sigma * sigma / r2).powi(3);
                            energy += 4.0 * epsilon * s6 * (s6 - 1.0);
                        }
                    }
                }
            }
        }
    }
    energy
}

/// Ice that flows down a valley.
#[differentiable]
fn glacier(x: &[f64]) -> f64 {
    let (softness, balance_slope) = (x[0], x[1]);
    let bed: Vec<f64> = (0..12).map(|k| 3.0 - 0.2 * k as f64).collect();
    let mut ice =
        x[2..].iter().copied().chain(std::iter::repeat(0.0)).take(bed.len()).collect::<Vec<_>>();
    let dx = 0.5;
    for _year in 0..30 {
        let surface: Vec<f64> = bed.iter().zip(ice.iter()).map(|(b, h)| b + h).collect();
        let mut flux = vec![0.0; bed.len() + 1];
        for (k, (pair, s)) in ice.windows(2).zip(surface.windows(2)).enumerate() {
            let h = 0.5 * (pair[0] + pair[1]);
            let slope = (s[1] - s[0]) / dx;
            flux[k + 1] = -softness * h.powi(5) * slope.powi(2) * slope;
        }
        ice = ice
            .iter()
            .zip(flux.windows(2))
            .zip(&surface)
            .map(|((h, f), s)| {
                (h + 0.02 * (balance_slope * (s - 1.8) - (f[1] - f[0]) / dx)).max(0.0)
            })
            .collect();
    }
    let front = ice.iter().rposition(|h| *h > 0.0).unwrap_or(0);
    ice.iter().sum::<f64>() + 0.01 * front as f64
}

/// A body that is scanned along lines, and found again.
#[differentiable]
fn ray_lengths(origin: (f64, f64), direction: (f64, f64), n: usize) -> Vec<(usize, f64)> {
    let mut cuts: Vec<f64> = Vec::new();
    for k in 0..=n {
        let k = k as f64;
        if direction.0.abs() > 1e-12 {
            cuts.push((k - origin.0) / direction.0);
        }
        if direction.1.abs() > 1e-12 {
            cuts.push((k - origin.1) / direction.1);
        }
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut lengths = vec![];
    for pair in cuts.windows(2) {
        let [from, to] = pair else { unreachable!() };
        let middle = 0.5 * (from + to);
        let (px, py) = (origin.0 + middle * direction.0, origin.1 + middle * direction.1);
        if px > 0.0 && py > 0.0 && px < n as f64 && py < n as f64 {
            lengths.push((px as usize * n + py as usize, to - from));
        }
    }
    lengths
}

#[differentiable]
fn tomography(x: &[f64]) -> f64 {
    let n = 3;
    let rays: Vec<Vec<(usize, f64)>> = (0..6)
        .map(|k| {
            let angle = 0.2 + 0.5 * k as f64;
            ray_lengths((1.4, 1.3 + 0.1 * k as f64), (cos(angle), sin(angle)), n)
        })
        .collect();
    let measured: Vec<f64> = (0..rays.len()).map(|k| x[k % x.len()]).collect();
    let mut image = vec![0.1; n * n];
    for _ in 0..3 {
        for (ray, m) in rays.iter().zip(&measured) {
            let (along, norm) =
                ray.iter().fold((0.0, 0.0), |(s, q), &(cell, l)| (s + l * image[cell], q + l * l));
            for (cell, l) in ray {
                image[*cell] += 0.7 * (m - along) / norm * l;
            }
        }
    }
    image.iter().map(|v| v * v).sum()
}

/// Spins on a graph, by messages.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Edge {
    from: usize,
    to: usize,
    coupling: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Graph {
    fields: Vec<f64>,
    edges: Vec<Edge>,
}

#[differentiable]
impl Graph {
    fn neighbours(&self, node: usize) -> Vec<(usize, f64)> {
        self.edges
            .iter()
            .filter_map(|&Edge { from, to, coupling }| {
                if from == node {
                    Some((to, coupling))
                } else if to == node {
                    Some((from, coupling))
                } else {
                    None
                }
            })
            .collect()
    }

    fn magnetized(&self, beta: f64) -> Vec<f64> {
        let mut m = vec![0.5; self.fields.len()];
        for _ in 0..80 {
            for i in 0..m.len() {
                let local: f64 = self.neighbours(i).iter().map(|(k, j)| j * m[*k]).sum();
                m[i] = 0.5 * m[i] + 0.5 * tanh(beta * (self.fields[i] + local));
            }
        }
        m
    }
}

#[differentiable]
fn free_energy(x: &[f64]) -> f64 {
    let bond = |from, to, coupling| Edge { from, to, coupling };
    let edges = vec![bond(0, 1, 0.6), bond(1, 2, -0.4), bond(2, 3, 0.8), bond(0, 3, 0.3)];
    let graph = Graph { fields: x[1..].to_vec(), edges };
    let m = graph.magnetized(x[0]);
    let entropy: f64 = m
        .iter()
        .flat_map(|&v| [0.5 * (1.0 + v), 0.5 * (1.0 - v)])
        .map(|p| if p > 0.0 { -p * log(p) } else { 0.0 })
        .sum();
    let bonds: f64 = graph.edges.iter().map(|e| e.coupling * m[e.from] * m[e.to]).sum();
    -bonds - graph.fields.iter().zip(&m).map(|(h, v)| h * v).sum::<f64>() - entropy / x[0]
}

#[test]
fn charges_fluids_and_tops() {
    everywhere! {
        salt at [0.1, 0.2, 0.3, 1.4, 0.2, 0.5, 0.7, 1.9, 2.2], [];
        splash at [20.0, 0.2, 0.3, 0.5, 0.4, 0.4, 0.8, 0.9, 0.05], [20.0], [];
        spinning_top at [2.0, 1.5, 0.4, 3.0], [2.0];
    }
    // The cells have different lengths, so the function has a second text.
    holds!(crystal at [1.0, 0.5, 0.3, 0.4, 1.4, 0.6, 0.9, 1.7, 2.2, 1.9, 3.4, 3.3]);
}

#[test]
fn ice_scans_and_spins() {
    everywhere! {
        glacier at [0.4, 0.3, 0.8, 0.9, 0.7, 0.4], [0.4];
        tomography at [1.0, 1.3, 0.8, 1.1], [1.0, 0.5, 0.2, 0.1, 0.9, 0.8];
        free_energy at [0.7, 0.2, -0.1, 0.4, 0.1], [0.7, 0.2];
    }
}
