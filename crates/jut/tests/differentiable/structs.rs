//! Structs: parameters, locals, results, fields, methods, arrays of them; a derivative with respect to a struct is one.

use super::{differences, same};
use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Spring {
    stiffness: f64,
    rest: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Body {
    x: f64,
    v: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct System {
    spring: Spring,
    body: Body,
    damping: [f64; 2],
}

#[differentiable]
impl Spring {
    fn force(&self, x: f64) -> f64 {
        -self.stiffness * (x - self.rest)
    }

    /// A function of the type.
    pub fn soft(stiffness: f64) -> Self {
        Self { rest: Self::default_rest(), stiffness }
    }

    fn default_rest() -> f64 {
        0.25
    }
}

#[differentiable]
impl Body {
    fn push(&mut self, force: f64, dt: f64) {
        self.v += force * dt;
        self.x += self.v * dt;
        if self.x < 0.0 {
            self.x = -self.x;
            self.v *= -0.5;
        }
    }

    fn energy(&self) -> f64 {
        0.5 * self.v * self.v + self.x.abs().max(self.v).min(7.0)
    }
}

#[differentiable]
fn simulated(system: &System, steps: usize) -> f64 {
    let mut body = Body { v: system.body.v, ..system.body.clone() };
    for k in 0..steps {
        let damping = system.damping[k % 2] * body.v;
        let force = system.spring.force(body.x) - damping;
        body.push(force, 0.1);
    }
    let Body { x, v: speed } = body;
    x * x + speed + body.energy()
}

fn system(x: &[f64]) -> System {
    System {
        spring: Spring { stiffness: x[0], rest: x[1] },
        body: Body { x: x[2], v: x[3] },
        damping: [x[4], x[5]],
    }
}

#[test]
fn a_gradient_by_a_struct_is_that_struct() {
    let at = [2.0, 1.0, 0.5, -3.0, 0.3, 0.1];
    let (value, g) = simulated::value_and_gradient(&system(&at), 12).unwrap();
    same(value, simulated(&system(&at), 12));
    let flat = [g.spring.stiffness, g.spring.rest, g.body.x, g.body.v, g.damping[0], g.damping[1]];
    super::close(&flat, &differences(|x| simulated(&system(x), 12), &at));
    // A tangent is one too.
    let (_, tangent) = simulated::jvp(&system(&at), 12, &g).unwrap();
    let squares: f64 = flat.iter().map(|x| x * x).sum();
    assert!((tangent - squares).abs() < 1e-9 * squares);
    let along = |h: f64| at.iter().zip(&flat).map(|(x, d)| x + h * d).collect::<Vec<_>>();
    let seconds = simulated::hvp(&system(&at), 12, &g).unwrap();
    let by = |h| simulated::gradient(&system(&along(h)), 12).unwrap().spring.stiffness;
    super::close(&[seconds.spring.stiffness], &[(by(1e-6) - by(-1e-6)) / 2e-6]);
}

#[test]
fn methods_have_derivatives() {
    let spring = Spring { stiffness: 2.0, rest: 0.5 };
    let (value, (by_spring, by_x)) = Spring_force::value_and_gradient(&spring, 2.0).unwrap();
    assert_eq!(value, spring.force(2.0));
    assert_eq!((by_spring, by_x), (Spring { stiffness: -1.5, rest: 2.0 }, -2.0));
    let body = Body { x: 0.1, v: -2.0 };
    let mut plain = body.clone();
    plain.push(1.0, 0.5);
    assert_eq!(Body_push::value(&body, 1.0, 0.5).unwrap(), plain);
    let (_, tangent) = Body_push::jvp(&body, 1.0, 0.5, &Body { x: 1.0, v: 0.0 }, 0.0, 0.0).unwrap();
    assert_eq!(tangent, Body { x: -1.0, v: 0.0 });
    assert_eq!(Spring_soft::value(3.0).unwrap(), Spring::soft(3.0));
    let (soft, by) = Spring_soft::vjp(3.0, &Spring { stiffness: 5.0, rest: 7.0 }).unwrap();
    assert_eq!((soft, by), (Spring { stiffness: 3.0, rest: 0.25 }, 5.0));
}

/// A network: `Vec`s, and integers, which its derivative does not have.
#[derive(Data, Clone, Debug, PartialEq)]
pub struct Layer {
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
    pub inputs: usize,
    relu: bool,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Network {
    first: Layer,
    second: Layer,
    scale: f64,
}

#[differentiable]
impl Layer {
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        assert!(x.len() == self.inputs, "sizes");
        let mut y = self.bias.clone();
        for i in 0..self.bias.len() {
            for j in 0..self.inputs {
                y[i] += self.weights[i * self.inputs + j] * x[j];
            }
            if self.relu && y[i] < 0.0 {
                y[i] *= 0.01;
            }
        }
        y
    }

    /// One step along a derivative.
    fn moved(&self, by: &[f64]) -> Layer {
        let mut next = self.clone();
        for (w, d) in next.weights.iter_mut().zip(by) {
            *w -= 0.1 * d;
        }
        next
    }
}

#[differentiable]
fn network(net: &Network, x: &[f64]) -> f64 {
    let hidden = net.first.apply(x);
    let y = net.second.apply(&hidden);
    let mut s = 0.0;
    for v in &y {
        s += v * v * net.scale;
    }
    s * net.first.inputs as f64 + net.second.moved(x).weights.iter().map(|w| w * w).sum::<f64>()
}

#[test]
fn integers_are_no_part_of_a_derivative() {
    let layer = |weights: &[f64], bias: &[f64], inputs| Layer {
        weights: weights.to_vec(),
        bias: bias.to_vec(),
        inputs,
        relu: inputs == 2,
    };
    let net = Network {
        first: layer(&[1.0, 2.0, -3.0, 0.5, 0.25, -1.0], &[0.1, 0.2, 0.3], 2),
        second: layer(&[1.0, -1.0, 2.0], &[0.5], 3),
        scale: 1.5,
    };
    let x = [0.5, -1.0];
    let (value, (by_net, by_x)) = network::value_and_gradient(&net, &x).unwrap();
    same(value, network(&net, &x));
    let grad: &NetworkGrad = &by_net;
    let first: &LayerGrad = &grad.first;
    let at = |w: &[f64]| {
        let mut net = net.clone();
        net.first.weights.copy_from_slice(w);
        network(&net, &x)
    };
    super::close(&first.weights, &differences(at, &net.first.weights));
    super::close(&by_x, &differences(|x| network(&net, x), &x));
    assert_eq!((first.bias.len(), by_net.second.weights.len()), (3, 3));
    let (_, tangent) = network::jvp(&net, &x, &by_net, &[0.0; 2]).unwrap();
    assert!(tangent > 0.0);
    // A result of unknown sizes.
    let layer = &net.first;
    assert_eq!(Layer_moved::value(layer, &[1.0; 6]).unwrap(), layer.moved(&[1.0; 6]));
    let (_, (by, _)) = Layer_moved::vjp(layer, &[1.0; 6], first).unwrap();
    assert_eq!(by, *first);
    let error = Layer_apply::value(layer, &[1.0]).unwrap_err().to_string();
    assert!(error.contains("R12") && error.contains("sizes"), "{error}");
}

/// A tuple struct, arrays of structs, and structs in loops.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Vec3(f64, f64, f64);

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Particle {
    at: Vec3,
    charge: f64,
    tag: [i64; 2],
}

#[differentiable]
impl Vec3 {
    fn minus(self, other: Vec3) -> Vec3 {
        Vec3(self.0 - other.0, self.1 - other.1, self.2 - other.2)
    }
    fn dot(self, other: Vec3) -> f64 {
        let Vec3(x, y, z) = other;
        self.0 * x + self.1 * y + self.2 * z
    }
}

#[differentiable]
fn energy(particles: &[Particle]) -> f64 {
    let mut e = 0.0;
    for (i, p) in particles.iter().enumerate() {
        for j in 0..i {
            let d = p.at.minus(particles[j].at);
            e += p.charge * particles[j].charge / d.dot(d).sqrt();
        }
        if p.tag[0] > 0 {
            e += p.tag[1] as f64;
        }
    }
    e
}

#[differentiable]
fn drifted(particles: &mut [Particle], dt: f64) -> usize {
    let mut moved = 0;
    for p in particles.iter_mut() {
        if p.tag[0] == 1 {
            p.at.0 += dt;
            p.tag[0] += 1;
            moved += 1;
        }
    }
    let first = &mut particles[0];
    first.at = Vec3(dt, first.at.1, 0.0);
    first.charge *= 2.0;
    moved
}

/// The nearest, given back early.
#[differentiable]
fn nearest(particles: &[Particle], radius: f64) -> Vec3 {
    for p in particles {
        if p.at.dot(p.at) < radius * radius {
            return p.at;
        }
    }
    Vec3(radius, 0.0, 0.0)
}

#[test]
fn arrays_of_structs() {
    let particle =
        |x: &[f64]| Particle { at: Vec3(x[0], x[1], x[2]), charge: x[3], tag: [x[0] as i64, 2] };
    let particles = |x: &[f64]| x.chunks(4).map(particle).collect::<Vec<_>>();
    let at = [0.5, 0.0, 0.25, 1.0, 1.25, 2.0, 0.5, -1.0, 3.5, 1.0, 1.0, 2.0];
    let all = particles(&at);
    let (value, g) = energy::value_and_gradient(&all).unwrap();
    same(value, energy(&all));
    let flat: Vec<f64> =
        g.iter().flat_map(|g: &ParticleGrad| [g.at.0, g.at.1, g.at.2, g.charge]).collect();
    super::close(&flat, &differences(|x| energy(&particles(x)), &at));
    let mut plain = all.clone();
    let moved = drifted(&mut plain, 0.5);
    assert_eq!(drifted::value(&all, 0.5).unwrap(), (moved, plain));
    for radius in [0.1, 0.6, 9.0] {
        assert_eq!(nearest::value(&all, radius).unwrap(), nearest(&all, radius));
    }
    let (_, (by, _)) = nearest::vjp(&all, 2.5, &Vec3(1.0, 2.0, 3.0)).unwrap();
    assert_eq!((by[0].at, by[1].at), (Vec3(1.0, 2.0, 3.0), Vec3(0.0, 0.0, 0.0)));
    let empty = energy::value_and_gradient(&[]).unwrap();
    assert_eq!(empty, (0.0, vec![]));
}

/// What a twin holds has no `Debug`, `PartialEq` and `Clone`: so the twin has none, and is there all the same.
#[derive(Data)]
struct Bare {
    x: f64,
}

#[derive(Data)]
struct Holder {
    bare: Bare,
    weights: Vec<f64>,
    count: usize,
}

#[derive(Data)]
enum Chosen {
    Nothing,
    Of { bare: Bare, k: i64 },
}

#[derive(Data)]
struct Numbered(f64, usize, f64);

#[differentiable]
fn of_bare(holder: &Holder, chosen: &Chosen, numbered: &Numbered) -> f64 {
    let s = holder.weights.iter().sum::<f64>() * holder.bare.x * holder.count as f64;
    let t = match chosen {
        Chosen::Nothing => 1.0,
        Chosen::Of { bare, k } => bare.x * *k as f64,
    };
    s * t + numbered.0 * numbered.2 * numbered.1 as f64
}

#[test]
fn a_twin_can_do_what_its_fields_can() {
    let holder = Holder { bare: Bare { x: 2.0 }, weights: vec![1.0, 0.5], count: 3 };
    let of = Chosen::Of { bare: Bare { x: 0.5 }, k: 4 };
    let (value, (by_holder, by_chosen, by_numbered)) =
        of_bare::value_and_gradient(&holder, &of, &Numbered(2.0, 3, 0.25)).unwrap();
    same(value, of_bare(&holder, &of, &Numbered(2.0, 3, 0.25)));
    assert_eq!((by_holder.bare.x, by_holder.weights), (9.0, vec![12.0, 12.0]));
    assert_eq!(by_chosen.of_bare.x, 36.0);
    assert_eq!(by_numbered.clone(), NumberedGrad(0.75, 6.0));
    assert_eq!(format!("{by_numbered:?}"), "NumberedGrad(0.75, 6.0)");
    let (_, (_, by_chosen, _)) =
        of_bare::value_and_gradient(&holder, &Chosen::Nothing, &Numbered(2.0, 3, 0.25)).unwrap();
    assert_eq!(by_chosen.of_bare.x, 0.0);
    let grad = LayerGrad { weights: vec![1.0], bias: vec![] };
    assert_eq!(format!("{grad:?}"), "LayerGrad { weights: [1.0], bias: [] }");
    assert_ne!(grad.clone(), LayerGrad { weights: vec![2.0], bias: vec![] });
}
