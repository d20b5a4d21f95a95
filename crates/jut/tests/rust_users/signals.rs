//! Functions of pictures, signals, stars and controllers, in which many ways of writing meet.

use jut::math::{asin, atan2, cos, exp, log, sin};
use jut::{Data, differentiable};
use std::f64::consts::PI;

// Pictures.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rgb(f64, f64, f64);

#[differentiable]
impl Rgb {
    const BLACK: Rgb = Rgb(0.0, 0.0, 0.0);
    fn luminance(self) -> f64 {
        let Rgb(r, g, b) = self;
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    fn blend(self, other: Rgb, t: f64) -> Rgb {
        let mix = |a: f64, b: f64| a.mul_add(1.0 - t, b * t);
        Rgb(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
    fn reinhard(&self, white: f64) -> Self {
        let l = self.luminance();
        if l <= f64::EPSILON {
            return Self::BLACK;
        }
        let scale = (1.0 + l / (white * white)) / (1.0 + l);
        Rgb(self.0 * scale, self.1 * scale, self.2 * scale)
    }
}

/// Gaussians along a ray, sorted by depth, from the front to the back until nothing comes through.
#[differentiable]
fn splats(x: &[f64]) -> f64 {
    let mut all: Vec<(f64, f64, Rgb)> = x
        .chunks_exact(3)
        .enumerate()
        .map(|(i, c)| (c[0], 1.0 / (1.0 + exp(-c[1])), Rgb(c[2], 0.5 * c[2], i as f64 * 0.2)))
        .collect();
    all.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut through = 1.0;
    let mut colour = Rgb::BLACK;
    for &(depth, alpha, own) in all.iter() {
        if through < 0.05 {
            break;
        }
        let fog = exp(-0.1 * depth);
        let own = own.blend(Rgb(0.5, 0.6, 0.7), 1.0 - fog);
        colour = Rgb(
            colour.0 + through * alpha * own.0,
            colour.1 + through * alpha * own.1,
            colour.2 + through * alpha * own.2,
        );
        through *= 1.0 - alpha;
    }
    let mapped = colour.reinhard(1.5);
    mapped.luminance() + through
}

/// A march along a ray into shapes that are blended; where it misses, how near it came.
#[differentiable]
fn marched(x: &[f64]) -> f64 {
    let (px, py, radius, k) = (x[0], x[1], x[2], x[3]);
    fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
        let h = (0.5 + 0.5 * (b - a) / k).clamp(0.0, 1.0);
        b + (a - b) * h - k * h * (1.0 - h)
    }
    let scene = |p: [f64; 3]| -> f64 {
        let sphere = (p[0] * p[0] + p[1] * p[1] + (p[2] - 3.0).powi(2)).sqrt() - radius;
        let q = [p[0].abs() - 0.4, (p[1] - 0.5).abs() - 0.3, (p[2] - 3.0).abs() - 0.3];
        let outside = q.iter().map(|v| v.max(0.0).powi(2)).sum::<f64>().sqrt();
        let inside = q.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(0.0);
        smooth_min(sphere, outside + inside, k)
    };
    let norm = (px * px + py * py + 1.0).sqrt();
    let d = [px / norm, py / norm, 1.0 / norm];
    let (mut t, mut nearest) = (0.0, f64::INFINITY);
    let hit = 'march: {
        for _ in 0..20 {
            let dist = scene(d.map(|c| c * t));
            nearest = nearest.min(dist);
            if dist < 1e-4 {
                break 'march true;
            }
            t += dist;
            if t > 8.0 {
                break 'march false;
            }
        }
        false
    };
    if hit { t } else { 10.0 + nearest }
}

/// Curves of Hermite through points, their length by chords.
#[differentiable]
fn spline_length(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.chunks(2).map(|c| [c[0], c[1]]).collect();
    let n = points.len();
    let tangent = |i: usize| -> [f64; 2] {
        let (a, b) = (i.saturating_sub(1), (i + 1).min(n - 1));
        std::array::from_fn(|k| (points[b][k] - points[a][k]) / (b - a).max(1) as f64)
    };
    let mut length = 0.0;
    for i in 0..n - 1 {
        let (m0, m1) = (tangent(i), tangent(i + 1));
        let mut last = points[i];
        for s in 1..=4 {
            let t = f64::from(s) / 4.0;
            let (t2, t3) = (t * t, t.powi(3));
            let now: [f64; 2] = std::array::from_fn(|k| {
                (2.0 * t3 - 3.0 * t2 + 1.0) * points[i][k]
                    + (t3 - 2.0 * t2 + t) * m0[k]
                    + (3.0 * t2 - 2.0 * t3) * points[i + 1][k]
                    + (t3 - t2) * m1[k]
            });
            length += ((now[0] - last[0]).powi(2) + (now[1] - last[1]).powi(2)).sqrt();
            last = now;
        }
    }
    length
}

// Signals.

/// A transform in place, by the order of reversed bits.
#[differentiable]
fn fft_in_place(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    assert!(n.is_power_of_two() && im.len() == n, "a power of two");
    let mut j = 0usize;
    for i in 1..n {
        let mut bit = n >> 1;
        while j & bit != 0 {
            j ^= bit;
            bit >>= 1;
        }
        j ^= bit;
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut len = 2;
    while len <= n {
        let angle = -2.0 * PI / len as f64;
        for start in (0..n).step_by(len) {
            for k in 0..len / 2 {
                let (c, s) = (cos(angle * k as f64), sin(angle * k as f64));
                let (a, b) = (start + k, start + k + len / 2);
                let (tr, ti) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c);
                (re[b], im[b]) = (re[a] - tr, im[a] - ti);
                re[a] += tr;
                im[a] += ti;
            }
        }
        len <<= 1;
    }
}

#[differentiable]
fn spectral_flatness(x: &[f64]) -> f64 {
    let (mut re, mut im) = (x.to_vec(), vec![0.0; x.len()]);
    fft_in_place(&mut re, &mut im);
    let power: Vec<f64> =
        re.iter().zip(im.iter()).take(x.len() / 2).map(|(a, b)| a * a + b * b + 1e-3).collect();
    let n = power.len() as f64;
    let geometric = exp(power.iter().map(|&p| log(p)).sum::<f64>() / n);
    geometric / (power.iter().sum::<f64>() / n)
}

/// Levinson and Durbin's recursion: coefficients of prediction.
#[differentiable]
fn levinson(x: &[f64]) -> f64 {
    const ORDER: usize = 3;
    let r: Vec<f64> =
        (0..=ORDER).map(|lag| x.iter().zip(x.iter().skip(lag)).map(|(a, b)| a * b).sum()).collect();
    let mut a = vec![0.0; ORDER + 1];
    a[0] = 1.0;
    let mut error = r[0] + 1e-6;
    for i in 1..=ORDER {
        let acc = r[i] + a[1..i].iter().zip(r[1..i].iter().rev()).map(|(a, r)| a * r).sum::<f64>();
        let k = -acc / error;
        let old = a.clone();
        for j in 1..i {
            a[j] += k * old[i - j];
        }
        a[i] = k;
        error *= 1.0 - k * k;
    }
    error + a.iter().skip(1).fold(0.0, |s, v| s + v * v)
}

/// An envelope with attack and release, and a gate with hysteresis.
#[differentiable]
fn compressor(x: &[f64]) -> f64 {
    let (attack, release, threshold) = (x[0], x[1], x[2]);
    let mut open = false;
    x[3..]
        .iter()
        .scan((0.0f64, 1.0f64), |(level, gain), &v| {
            let rate = if v.abs() > *level { attack } else { release };
            *level += rate * (v.abs() - *level);
            *gain = match *level {
                l if l > threshold => 0.9 * *gain + 0.1 * (threshold / l),
                _ => 0.9 * *gain + 0.1,
            };
            Some(v * *gain)
        })
        .map(|v| {
            open = if open { v.abs() > 0.05 } else { v.abs() > 0.2 };
            if open { v * v } else { 0.0 }
        })
        .sum()
}

/// The dictionary of a matching pursuit: the largest product, subtracted again and again.
#[differentiable]
fn pursuit(x: &[f64]) -> f64 {
    let n = x.len();
    let atoms: Vec<Vec<f64>> = (1..=3)
        .map(|f| {
            let raw: Vec<f64> =
                (0..n).map(|t| sin(f as f64 * (t as f64 + 0.5) / n as f64 * PI)).collect();
            let norm = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
            raw.into_iter().map(|v| v / norm).collect()
        })
        .collect();
    let mut rest = x.to_vec();
    let mut used = Vec::new();
    for _ in 0..2 {
        let scores: Vec<f64> =
            atoms.iter().map(|a| a.iter().zip(&rest).map(|(a, r)| a * r).sum()).collect();
        let (best, score) = scores
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
            .map(|(k, s)| (k, *s))
            .unwrap();
        rest.iter_mut().zip(&atoms[best]).for_each(|(r, a)| *r -= score * a);
        used.push(score * score * (best + 1) as f64);
    }
    used.iter().sum::<f64>() + rest.iter().map(|r| r.powi(4)).sum::<f64>()
}

// Stars.

/// Kepler's equation with a start by Mikkola, and the place in the sky.
#[differentiable]
fn ephemeris(x: &[f64]) -> f64 {
    let [e, inclination, node, t] = [x[0], x[1], x[2], x[3]];
    let m = (t * 0.7).rem_euclid(2.0 * PI);
    let mut anomaly = if e < 0.8 { m } else { PI };
    for step in 0.. {
        let f = anomaly - e * sin(anomaly) - m;
        let slope = 1.0 - e * cos(anomaly);
        let delta = f / slope;
        anomaly -= delta;
        if delta.abs() < 1e-14 || step == 12 {
            break;
        }
    }
    let (s, c) = (sin(anomaly), cos(anomaly));
    let plane = [c - e, (1.0 - e * e).sqrt() * s];
    let (si, ci, sn, cn) = (sin(inclination), cos(inclination), sin(node), cos(node));
    let place =
        [cn * plane[0] - sn * ci * plane[1], sn * plane[0] + cn * ci * plane[1], si * plane[1]];
    let r = place.iter().map(|v| v * v).sum::<f64>().sqrt();
    let declination = asin(place[2] / r).to_degrees();
    let ascension = atan2(place[1], place[0]).rem_euclid(2.0 * PI);
    declination + ascension + r
}

/// Leapfrog of bodies in structs with arrays, energy at the end against that at the beginning.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Star {
    mass: f64,
    at: [f64; 2],
    v: [f64; 2],
}

#[differentiable]
mod gravity {
    use super::Star;
    pub fn pull(stars: &[Star], i: usize) -> [f64; 2] {
        let mut a = [0.0; 2];
        for (j, other) in stars.iter().enumerate().filter(|&(j, _)| j != i) {
            let d = [other.at[0] - stars[i].at[0], other.at[1] - stars[i].at[1]];
            let r2 = d[0] * d[0] + d[1] * d[1] + 0.01;
            let w = other.mass / (r2 * r2.sqrt());
            for (a, d) in a.iter_mut().zip(d) {
                *a += w * d;
            }
            let _ = j;
        }
        a
    }
    pub fn energy(stars: &[Star]) -> f64 {
        let kinetic: f64 =
            stars.iter().map(|s| 0.5 * s.mass * s.v.iter().map(|v| v * v).sum::<f64>()).sum();
        let mut potential = 0.0;
        for (i, a) in stars.iter().enumerate() {
            for b in &stars[i + 1..] {
                let d2 = (a.at[0] - b.at[0]).powi(2) + (a.at[1] - b.at[1]).powi(2) + 0.01;
                potential -= a.mass * b.mass / d2.sqrt();
            }
        }
        kinetic + potential
    }
}

#[differentiable]
fn leapfrogged(x: &[f64]) -> f64 {
    let mut stars: Vec<Star> = x
        .chunks_exact(3)
        .map(|c| Star { mass: c[0], at: [c[1], c[2]], v: [-0.3 * c[2], 0.3 * c[1]] })
        .collect();
    let before = gravity::energy(&stars);
    let dt = 0.05;
    for _ in 0..3 {
        let pulls: Vec<[f64; 2]> = (0..stars.len()).map(|i| gravity::pull(&stars, i)).collect();
        for (Star { v, at, .. }, a) in stars.iter_mut().zip(pulls) {
            for k in 0..2 {
                v[k] += 0.5 * dt * a[k];
                at[k] += dt * v[k];
            }
        }
        for i in 0..stars.len() {
            let a = gravity::pull(&stars, i);
            for k in 0..2 {
                stars[i].v[k] += 0.5 * dt * a[k];
            }
        }
    }
    (gravity::energy(&stars) - before) * 1e3 + stars.last().map_or(0.0, |s| s.at[0])
}

// Controllers.

/// Riccati's recursion backwards, and the closed loop forwards.
#[differentiable]
fn lqr_cost(x: &[f64]) -> f64 {
    fn mul<const R: usize, const K: usize, const C: usize>(
        a: &[[f64; K]; R],
        b: &[[f64; C]; K],
    ) -> [[f64; C]; R] {
        let mut out = [[0.0; C]; R];
        for (row, a) in out.iter_mut().zip(a) {
            for (c, out) in row.iter_mut().enumerate() {
                *out = a.iter().zip(b).map(|(a, b)| a * b[c]).sum();
            }
        }
        out
    }
    let a = [[1.0, x[0]], [x[1], 1.0]];
    let at = [[1.0, x[1]], [x[0], 1.0]];
    let b = [[0.0], [x[0]]];
    let (q, r) = ([[1.0, 0.0], [0.0, 0.1]], x[2]);
    let mut p = q;
    let mut gains: Vec<[f64; 2]> = Vec::new();
    for _ in 0..4 {
        let pa = mul(&p, &a);
        let pb = mul(&p, &b);
        let s = r + b[0][0] * pb[0][0] + b[1][0] * pb[1][0];
        let k = [
            (b[0][0] * pa[0][0] + b[1][0] * pa[1][0]) / s,
            (b[0][0] * pa[0][1] + b[1][0] * pa[1][1]) / s,
        ];
        gains.push(k);
        let apa = mul(&at, &pa);
        let apb = mul(&at, &pb);
        for i in 0..2 {
            for j in 0..2 {
                p[i][j] = q[i][j] + apa[i][j] - apb[i][0] * k[j];
            }
        }
    }
    let mut state = [1.0, -0.5];
    let mut cost = 0.0;
    for k in gains.iter().rev() {
        let u = -(k[0] * state[0] + k[1] * state[1]);
        cost += state[0].powi(2) + 0.1 * state[1] * state[1] + r * u * u;
        state = [state[0] + x[0] * state[1], x[1] * state[0] + state[1] + x[0] * u];
    }
    cost + p[0][0]
}

/// A filter of particles with a written generator and systematic resampling.
#[differentiable]
fn particle_filter(x: &[f64]) -> f64 {
    let (drift, noise) = (x[0], x[1]);
    let mut seed: u64 = 0x2545F4914F6CDD1D;
    let mut normal = move || -> f64 {
        let mut s = 0.0;
        for _ in 0..6 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            s += (seed >> 11) as f64 / (1u64 << 53) as f64;
        }
        (s - 3.0) * 2f64.sqrt()
    };
    let mut particles = [0.0; 6];
    let mut ll = 0.0;
    for &y in &x[2..] {
        for p in particles.iter_mut() {
            *p = drift * *p + noise * normal();
        }
        let weights: Vec<f64> = particles.iter().map(|p| exp(-0.5 * (y - p) * (y - p))).collect();
        let total: f64 = weights.iter().sum();
        ll += log(total / particles.len() as f64);
        let sums: Vec<f64> = weights
            .iter()
            .scan(0.0, |acc, w| {
                *acc += w / total;
                Some(*acc)
            })
            .collect();
        let old = particles;
        for (k, p) in particles.iter_mut().enumerate() {
            let at = (k as f64 + 0.5) / old.len() as f64;
            let from = sums.iter().position(|&s| s >= at).unwrap_or(old.len() - 1);
            *p = old[from];
        }
    }
    -ll
}

#[test]
fn pictures() {
    everywhere! {
        splats at [2.0, 0.3, 0.5, 1.0, -0.2, 0.9, 3.0, 1.0, 0.3], [0.3, 5.0, 0.9, 0.5, 4.0, 0.3];
        marched at [0.05, 0.1, 1.0, 0.3], [1.5, 1.1, 0.8, 0.2];
        spline_length at [0.0, 0.0, 1.0, 0.5, 2.0, -0.3, 2.5, 1.0];
    }
}

#[test]
fn sounds() {
    everywhere! {
        spectral_flatness at [1.0, 0.5, -0.3, 0.8, 0.1, -0.9, 0.4, 0.2], [1.0, 2.0, 3.0];
        levinson at [1.0, 0.5, -0.3, 0.8, 0.1, -0.9];
        compressor at [0.5, 0.1, 0.6, 0.1, 0.9, -1.2, 0.3, 0.04, 0.5];
        pursuit at [1.0, 0.5, -0.3, 0.8, 0.1];
    }
}

#[test]
fn stars_and_controllers() {
    everywhere! {
        ephemeris at [0.3, 0.5, 1.0, 2.0], [0.9, 0.2, -1.0, 11.0];
        leapfrogged at [1.0, 0.0, 0.1, 0.5, 1.0, 0.2, 0.3, -0.8, 0.6];
        lqr_cost at [0.3, -0.1, 0.5];
        particle_filter at [0.8, 0.5, 0.3, -0.2, 0.6];
    }
}
