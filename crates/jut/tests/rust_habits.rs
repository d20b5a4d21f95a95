//! Functions as people write them who have not read what may stand in one: test functions of optimisers, physics, robots, finance, ray tracing, networks. Values
//! have the bits of the plain call where no system function is called, and gradients are those of central differences.
#![cfg(feature = "macros")]
#![allow(clippy::all)]

use jut::math::{cos, exp, log, sin, tanh};
use jut::{Data, differentiable};
use std::f64::consts::PI;

/// The value is that of the plain call, and the gradient that of differences.
fn holds(
    f: impl Fn(&[f64]) -> f64,
    derived: impl Fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>,
    x: &[f64],
) {
    let (value, gradient) = derived(x).unwrap();
    assert_eq!(value.to_bits(), f(x).to_bits(), "{value} and {}", f(x));
    assert_eq!(gradient.len(), x.len());
    let mut at = x.to_vec();
    for i in 0..x.len() {
        let h = 1e-6 * x[i].abs().max(0.1);
        at[i] = x[i] + h;
        let up = f(&at);
        at[i] = x[i] - h;
        let slope = (up - f(&at)) / (2.0 * h);
        at[i] = x[i];
        let near = (gradient[i] - slope).abs() <= 1e-5 * (1.0 + slope.abs());
        assert!(near, "by {i}: {} and {slope}", gradient[i]);
    }
}

// 1. Levy's function.
#[differentiable]
fn levy(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|&xi| 1.0 + (xi - 1.0) / 4.0).collect();
    let d = w.len();
    let (first, last) = (w[0], w[d - 1]);
    let middle: f64 = w[..d - 1]
        .iter()
        .map(|wi| (wi - 1.0).powi(2) * (1.0 + 10.0 * sin(PI * wi + 1.0).powi(2)))
        .sum();
    sin(PI * first).powi(2) + middle + (last - 1.0).powi(2) * (1.0 + sin(2.0 * PI * last).powi(2))
}

// 2. Goldstein and Price's.
#[differentiable]
fn goldstein_price(p: &[f64]) -> f64 {
    let [x, y] = *p else { return f64::INFINITY };
    let a = 1.0
        + (x + y + 1.0).powi(2)
            * (19.0 - 14.0 * x + 3.0 * x * x - 14.0 * y + 6.0 * x * y + 3.0 * y * y);
    let b = 30.0
        + (2.0 * x - 3.0 * y).powi(2)
            * (18.0 - 32.0 * x + 12.0 * x * x + 48.0 * y - 36.0 * x * y + 27.0 * y * y);
    a * b
}

// 3. A cloth of masses and springs, one step ahead.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Particle {
    position: [f64; 2],
    velocity: [f64; 2],
    pinned: bool,
}

fn cloth(x: &[f64]) -> Vec<Particle> {
    x.chunks(2)
        .enumerate()
        .map(|(k, c)| Particle {
            position: [c[0], c[1]],
            velocity: [0.1 * c[1], 0.0],
            pinned: k == 0,
        })
        .collect()
}

#[differentiable]
fn step_cloth(particles: &mut [Particle], springs: &[[usize; 2]], rest: f64, dt: f64) {
    let mut forces = vec![[0.0, -9.81]; particles.len()];
    for &[i, j] in springs {
        let (p, q) = (particles[i].position, particles[j].position);
        let d = [q[0] - p[0], q[1] - p[1]];
        let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
        let pull = 40.0 * (length - rest) / length;
        for k in 0..2 {
            forces[i][k] += pull * d[k];
            forces[j][k] -= pull * d[k];
        }
    }
    for (p, f) in particles.iter_mut().zip(&forces) {
        if p.pinned {
            continue;
        }
        for k in 0..2 {
            p.velocity[k] += dt * f[k];
            p.position[k] += dt * p.velocity[k];
        }
    }
}

#[differentiable]
fn sag(x: &[f64]) -> f64 {
    let mut particles = Vec::with_capacity(x.len() / 2);
    for (k, c) in x.chunks_exact(2).enumerate() {
        let velocity = [0.1 * c[1], 0.0];
        particles.push(Particle { position: [c[0], c[1]], velocity, pinned: k == 0 });
    }
    let springs = [[0, 1], [1, 2]];
    for _ in 0..5 {
        step_cloth(&mut particles, &springs, 0.8, 0.01);
    }
    particles.iter().map(|p| p.position[1] * p.position[1]).sum::<f64>() / particles.len() as f64
}

// 4. A call by a binomial tree.
#[differentiable]
fn binomial(p: &[f64]) -> f64 {
    let (spot, strike, rate, volatility) = (p[0], p[1], p[2], p[3]);
    const STEPS: usize = 12;
    let dt = 0.5 / STEPS as f64;
    let up = exp(volatility * dt.sqrt());
    let down = up.recip();
    let chance = (exp(rate * dt) - down) / (up - down);
    let mut values = [0.0f64; STEPS + 1];
    for (k, v) in values.iter_mut().enumerate() {
        let price = spot * up.powi(k as i32) * down.powi((STEPS - k) as i32);
        *v = (price - strike).max(0.0);
    }
    for step in (0..STEPS).rev() {
        for k in 0..=step {
            values[k] = exp(-rate * dt) * (chance * values[k + 1] + (1.0 - chance) * values[k]);
        }
    }
    values[0]
}

// 5. A scene of signed distances, which is a tree.
#[derive(Data, Clone, Debug, PartialEq)]
enum Scene {
    Sphere { centre: [f64; 3], radius: f64 },
    Plane(f64),
    Union(Vec<Scene>),
    Smooth { k: f64, a: Box<Scene>, b: Box<Scene> },
    Moved([f64; 3], Box<Scene>),
}

#[differentiable]
impl Scene {
    fn distance(&self, p: &[f64; 3]) -> f64 {
        match self {
            Scene::Sphere { centre, radius } => {
                let d = [p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]];
                (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt() - radius
            }
            Scene::Plane(height) => p[1] - height,
            Scene::Union(parts) => {
                parts.iter().map(|s| s.distance(p)).fold(f64::INFINITY, |a, b| a.min(b))
            }
            Scene::Smooth { k, a, b } => {
                let (da, db) = (a.distance(p), b.distance(p));
                let h = (0.5 + 0.5 * (db - da) / k).clamp(0.0, 1.0);
                db * (1.0 - h) + da * h - k * h * (1.0 - h)
            }
            Scene::Moved(by, inner) => inner.distance(&[p[0] - by[0], p[1] - by[1], p[2] - by[2]]),
        }
    }
}

#[differentiable]
fn marched(scene: &Scene, from: &[f64; 3], to: &[f64; 3]) -> f64 {
    let mut t = 0.0;
    for _ in 0..40 {
        let p = [from[0] + t * to[0], from[1] + t * to[1], from[2] + t * to[2]];
        let d = scene.distance(&p);
        if d < 1e-9 {
            break;
        }
        t += d;
        if t > 100.0 {
            return t;
        }
    }
    t
}

fn scene(x: &[f64]) -> Scene {
    let ball = Scene::Sphere { centre: [0.1, 0.2, x[0]], radius: x[1] };
    let other =
        Scene::Moved([x[2], 0.0, 4.3], Box::new(Scene::Sphere { centre: [0.0; 3], radius: 0.7 }));
    let smooth = Scene::Smooth { k: x[3], a: Box::new(ball), b: Box::new(other) };
    Scene::Union(vec![Scene::Plane(-5.0), smooth])
}

#[test]
fn a_ray_meets_a_scene() {
    let x = [4.0, 1.0, 0.2, 0.5];
    let s = scene(&x);
    let (from, to) = ([0.0, 0.1, 0.0], [0.0, 0.0, 1.0]);
    let (value, (by_scene, by_from, _)) = marched::value_and_gradient(&s, &from, &to).unwrap();
    assert_eq!(value.to_bits(), marched(&s, &from, &to).to_bits());
    let slope = |k: usize| {
        let moved = |h: f64| {
            let mut y = x;
            y[k] += h;
            marched(&scene(&y), &from, &to)
        };
        (moved(1e-6) - moved(-1e-6)) / 2e-6
    };
    let Scene::Union(parts) = by_scene else { panic!("{by_scene:?}") };
    let Scene::Smooth { k, a, b } = &parts[1] else { panic!("{parts:?}") };
    let Scene::Sphere { centre, radius } = &**a else { panic!("{a:?}") };
    let Scene::Moved(by, _) = &**b else { panic!("{b:?}") };
    assert_eq!(parts[0], Scene::Plane(0.0));
    for (found, k) in [(centre[2], 0), (*radius, 1), (by[0], 2), (*k, 3)] {
        assert!((found - slope(k)).abs() < 1e-5, "by {k}: {found} and {}", slope(k));
    }
    assert!(by_from[2] < 0.0);
}

// 6. Hidden states: the forward algorithm in logarithms.
#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    m + log(x.iter().map(|v| exp(v - m)).sum::<f64>())
}

#[differentiable]
fn forward(p: &[f64]) -> f64 {
    let seen = [0usize, 1, 1, 0, 1];
    let stay = log(p[0]);
    let leave = log(1.0 - p[0]);
    let emitted = [[log(p[1]), log(1.0 - p[1])], [log(p[2]), log(1.0 - p[2])]];
    let mut alpha = [emitted[0][seen[0]] - log(2.0), emitted[1][seen[0]] - log(2.0)];
    for &o in &seen[1..] {
        let next: Vec<f64> = (0..2)
            .map(|j| {
                let from: Vec<f64> = alpha
                    .iter()
                    .enumerate()
                    .map(|(i, a)| a + if i == j { stay } else { leave })
                    .collect();
                log_sum_exp(&from) + emitted[j][o]
            })
            .collect();
        alpha.copy_from_slice(&next);
    }
    log_sum_exp(&alpha)
}

// 7. An arm of links, and its distance to a target.
#[differentiable]
fn reach(angles: &[f64]) -> f64 {
    let (mut x, mut y, mut heading) = (0.0, 0.0, 0.0);
    for (i, a) in angles.iter().enumerate() {
        heading += a;
        let length = 1.0 / (1 + i) as f64;
        x += length * cos(heading);
        y += length * sin(heading);
    }
    let effort: f64 = angles.windows(2).map(|w| (w[1] - w[0]).abs()).sum();
    ((x - 1.2).powi(2) + (y - 0.4).powi(2)).sqrt() + 0.01 * effort
}

// 8. A Kalman filter of position and speed.
#[differentiable]
fn filtered(p: &[f64]) -> f64 {
    let seen = [0.1, 0.35, 0.5, 0.9, 1.0];
    let (q, r) = (p[0] * p[0], p[1] * p[1]);
    let mut state = (p[2], 0.2);
    let mut cov = [[1.0, 0.0], [0.0, 1.0]];
    let mut likelihood = 0.0;
    for z in seen {
        state = (state.0 + 0.1 * state.1, state.1);
        let mut next = [[0.0; 2]; 2];
        next[0][0] = cov[0][0] + 0.1 * (cov[1][0] + cov[0][1]) + 0.01 * cov[1][1] + q;
        next[0][1] = cov[0][1] + 0.1 * cov[1][1];
        next[1][0] = next[0][1];
        next[1][1] = cov[1][1] + q;
        let s = next[0][0] + r;
        let innovation = z - state.0;
        let gain = [next[0][0] / s, next[1][0] / s];
        state.0 += gain[0] * innovation;
        state.1 += gain[1] * innovation;
        for i in 0..2 {
            for j in 0..2 {
                cov[i][j] = next[i][j] - gain[i] * next[0][j];
            }
        }
        likelihood -= 0.5 * (log(2.0 * PI * s) + innovation * innovation / s);
    }
    likelihood
}

// 9. A layer and a softmax, with a batch.
#[differentiable]
fn cross_entropy(w: &[f64]) -> f64 {
    let inputs = vec![vec![0.2, -0.4], vec![1.0, 0.3], vec![-0.5, 0.8]];
    let labels = [0, 2, 1];
    let mut loss = 0.0;
    for (x, &label) in inputs.iter().zip(labels.iter()) {
        let logits: Vec<f64> = w
            .chunks_exact(2)
            .map(|row| tanh(row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>()))
            .collect();
        let largest = logits.iter().fold(f64::MIN, |m, &v| if v > m { v } else { m });
        let total: f64 = logits.iter().map(|l| exp(l - largest)).sum();
        loss += log(total) + largest - logits[label];
    }
    loss / inputs.len() as f64
}

// 10. A bond's yield by Newton's method.
#[differentiable]
fn yield_of(flows: &[f64]) -> f64 {
    let price = 2.5;
    let mut y: f64 = 0.05;
    let mut iterations = 0;
    loop {
        let (value, slope) = flows.iter().enumerate().fold((0.0, 0.0), |(v, s), (k, c)| {
            let t = (k + 1) as f64;
            let d = (1.0 + y).powf(-t);
            (v + c * d, s - t * c * d / (1.0 + y))
        });
        let error = value - price;
        y -= error / slope;
        iterations += 1;
        if error.abs() < 1e-13 || iterations >= 30 {
            break y;
        }
    }
}

// 11. A decision tree whose leaves are learned.
#[derive(Data, Clone, Debug, PartialEq)]
enum Decision {
    Leaf { value: f64 },
    Split { feature: usize, threshold: f64, left: Box<Decision>, right: Box<Decision> },
}

#[differentiable]
impl Decision {
    fn soft(&self, x: &[f64], sharp: f64) -> f64 {
        match self {
            Self::Leaf { value } => *value,
            Self::Split { feature, threshold, left, right } => {
                let go = 1.0 / (1.0 + exp(-sharp * (x[*feature] - threshold)));
                go * right.soft(x, sharp) + (1.0 - go) * left.soft(x, sharp)
            }
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Leaf { .. } => 0,
            Self::Split { left, right, .. } => 1 + left.depth().max(right.depth()),
        }
    }
}

#[test]
fn a_tree_of_decisions() {
    let leaf = |value| Box::new(Decision::Leaf { value });
    let inner = Decision::Split { feature: 1, threshold: 0.2, left: leaf(1.0), right: leaf(3.0) };
    let t =
        Decision::Split { feature: 0, threshold: -0.1, left: Box::new(inner), right: leaf(-2.0) };
    let x = [0.4, 0.3];
    let (value, (by_t, by_x, by_sharp)) = Decision_soft::value_and_gradient(&t, &x, 2.0).unwrap();
    assert_eq!(value.to_bits(), t.soft(&x, 2.0).to_bits());
    assert_eq!(Decision_depth::value(&t).unwrap(), t.depth());
    let DecisionGrad::Split { threshold, right, .. } = by_t else { panic!("{by_t:?}") };
    let DecisionGrad::Leaf { value: by_leaf } = *right else { panic!("{right:?}") };
    assert!((by_leaf - 1.0 / (1.0 + exp(-1.0))).abs() < 1e-15);
    let slope = (t.soft(&[0.4 + 1e-6, 0.3], 2.0) - t.soft(&[0.4 - 1e-6, 0.3], 2.0)) / 2e-6;
    assert!((by_x[0] - slope).abs() < 1e-8 && (threshold < 0.0) == (by_x[0] > 0.0));
    let slope = (t.soft(&x, 2.0 + 1e-6) - t.soft(&x, 2.0 - 1e-6)) / 2e-6;
    assert!((by_sharp - slope).abs() < 1e-8);
}

// 12. A spring chain as a linked list, whose end is pulled.
#[derive(Data, Clone, Debug, PartialEq)]
struct Link {
    stiffness: f64,
    length: f64,
    next: Option<Box<Link>>,
}

#[differentiable]
impl Link {
    fn stretched(&self, force: f64) -> f64 {
        let own = self.length + force / self.stiffness;
        match self.next {
            Some(ref next) => own + next.stretched(force),
            None => own,
        }
    }
}

#[differentiable]
fn softest(chain: &Link) -> f64 {
    let mut least = chain.stiffness;
    let mut at = &chain.next;
    while let Some(link) = at {
        if link.stiffness < least {
            least = link.stiffness;
        }
        at = &link.next;
    }
    least
}

#[test]
fn a_chain_of_links() {
    let end = Link { stiffness: 2.0, length: 1.0, next: None };
    let chain = Link { stiffness: 4.0, length: 0.5, next: Some(Box::new(end)) };
    let (value, (by_chain, by_force)) = Link_stretched::value_and_gradient(&chain, 8.0).unwrap();
    assert_eq!((value, by_force), (chain.stretched(8.0), 0.75));
    let end = Link { stiffness: -2.0, length: 1.0, next: None };
    assert_eq!(by_chain, Link { stiffness: -0.5, length: 1.0, next: Some(Box::new(end)) });
    assert_eq!(softest::value(&chain).unwrap(), 2.0);
    assert_eq!(softest::gradient(&chain).unwrap().next.unwrap().stiffness, 1.0);
}

#[test]
fn functions_of_a_slice() {
    holds(levy, levy::value_and_gradient, &[0.3, -1.2, 2.5]);
    holds(goldstein_price, goldstein_price::value_and_gradient, &[0.4, -0.7]);
    holds(sag, sag::value_and_gradient, &[0.0, 0.0, 1.0, 0.1, 2.1, -0.2]);
    holds(binomial, binomial::value_and_gradient, &[101.0, 99.5, 0.03, 0.25]);
    holds(forward, forward::value_and_gradient, &[0.8, 0.7, 0.35]);
    holds(reach, reach::value_and_gradient, &[0.3, -0.2, 0.5, 0.1]);
    holds(filtered, filtered::value_and_gradient, &[0.3, 0.2, 0.05]);
    holds(cross_entropy, cross_entropy::value_and_gradient, &[0.2, -0.5, 1.0, 0.3, -0.7, 0.9]);
    let (value, _) = yield_of::value_and_gradient(&[0.1, 0.1, 2.9]).unwrap();
    assert!((value - yield_of(&[0.1, 0.1, 2.9])).abs() < 1e-12);
    assert_eq!(cloth(&[1.0, 2.0]).len(), 1);
}

#[test]
fn what_a_step_makes_of_structs() {
    let p = cloth(&[0.0, 0.0, 1.0, 0.1, 2.1, -0.2]);
    let mut plain = p.clone();
    step_cloth(&mut plain, &[[0, 1], [1, 2]], 0.8, 0.01);
    assert_eq!(step_cloth::value(&p, &[[0, 1], [1, 2]], 0.8, 0.01).unwrap(), plain);
}
