//! Results of several lists and numbers, and closures that change what they are given.

use super::{close, differences, same};
use jut::{Data, differentiable};

/// A solver: the solution, how far it is from one, and how many steps it took.
#[differentiable]
fn descended(x: &[f64], most: usize) -> (Vec<f64>, f64, usize) {
    let mut u = vec![0.0; x.len()];
    let mut steps = 0;
    let mut far = 0.0;
    while steps < most {
        far = 0.0;
        for i in 0..u.len() {
            let r = x[i] - u[i] - 0.1 * u[i] * u[i];
            u[i] += 0.5 * r;
            far += r * r;
        }
        steps += 1;
        if far < 1e-6 {
            break;
        }
    }
    (u, far, steps)
}

#[differentiable]
fn parted(x: &[f64]) -> (Vec<f64>, Vec<[f64; 2]>) {
    let mut low = Vec::new();
    let mut pairs = Vec::new();
    for (i, v) in x.iter().enumerate() {
        if *v < 0.5 {
            low.push(v * v);
        }
        pairs.push([*v, v * i as f64]);
    }
    (low, pairs)
}

#[differentiable]
fn both(x: &[f64]) -> f64 {
    let (u, far, steps) = descended(x, 20);
    let (low, pairs) = parted(&u);
    let second = parted(x).0;
    let squares: f64 = u.iter().map(|v| v * v).sum();
    squares
        + far * steps as f64
        + low.iter().sum::<f64>()
        + pairs.iter().map(|p| p[0] * p[1]).sum::<f64>()
        + second.len() as f64 * x[0]
}

/// Sweeps of a relaxation, by a closure.
#[differentiable]
fn relaxed(x: &[f64]) -> f64 {
    let n = x.len();
    let w = x[0];
    let smooth = |u: &mut Vec<f64>, times: usize| {
        for _ in 0..times {
            for i in 1..n - 1 {
                u[i] += w * (0.5 * (u[i - 1] + u[i + 1]) - u[i]);
            }
        }
    };
    let mut total = 0.0;
    let add = |to: &mut f64, v: f64| *to += v * v;
    let (mut a, mut b) = (x.to_vec(), vec![1.0; n]);
    smooth(&mut a, 3);
    smooth(&mut b, 1);
    a.swap(0, n - 1);
    smooth(&mut a, 1);
    for (p, q) in a.iter().zip(&b) {
        add(&mut total, p * q);
    }
    total
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Cell {
    value: f64,
    rate: f64,
}

#[differentiable]
fn cells(x: &[f64]) -> f64 {
    let mut all: Vec<Cell> = x.iter().map(|v| Cell { value: *v, rate: 1.0 }).collect();
    let grow = |c: &mut Cell, by: f64| {
        c.rate += by;
        c.value *= c.rate;
    };
    for i in 0..all.len() {
        grow(&mut all[i], 0.5 * i as f64);
    }
    all.iter().map(|c| c.value * c.value).sum()
}

#[test]
fn several_lists_and_numbers_are_a_result() {
    let x = [0.5, -1.0, 2.0, 0.25];
    let (u, far, steps) = descended::value(&x, 20).unwrap();
    let (own, own_far, own_steps) = descended(&x, 20);
    assert_eq!((&u, steps), (&own, own_steps));
    same(far, own_far);
    assert_eq!(parted::value(&x).unwrap(), parted(&x));
    let (value, slopes) = descended::jvp(&x, 20, &[0.0, 1.0, 0.0, 0.0]).unwrap();
    assert_eq!(value.0, own);
    close(&slopes.0[1..2], &differences(|x| descended(x, 20).0[1], &x)[1..2]);
    let (_, by_x) = parted::vjp(&x, &(vec![1.0, 2.0], vec![[1.0, 0.5]; 4])).unwrap();
    assert_eq!(by_x, [1.0, -0.5, 2.0, 3.5]);
    agree! {
        both at [0.625, -1.0, 2.0, 0.25], [0.75, 0.25];
    }
}

#[test]
fn closures_change_what_they_are_given() {
    agree! {
        relaxed at [0.5, -1.0, 2.0, 0.25, 0.75];
        cells at [0.5, -1.0, 2.0];
    }
}

/// A graph by its edges: some have weights.
#[differentiable]
fn of_edges(x: &[f64], edges: &[(usize, usize)], weighted: &[(usize, usize, f64)]) -> f64 {
    let mut sum = 0.0;
    for &(i, j) in edges {
        sum += x[i] * x[j];
    }
    sum + weighted.iter().map(|(i, j, w)| w * (x[*i] - x[*j]).powi(2)).sum::<f64>()
}

#[differentiable]
fn above(x: &[f64], least: f64) -> Vec<(usize, f64)> {
    x.iter().enumerate().filter(|(_, v)| **v > least).map(|(i, v)| (i, v * v)).collect()
}

#[test]
fn elements_are_tuples_with_integers() {
    let x = [0.5, -1.0, 2.0, 0.25];
    let (edges, weighted) = ([(0, 1), (2, 3), (1, 1)], [(1, 2, 0.5), (0, 3, 2.0)]);
    same(of_edges::value(&x, &edges, &weighted).unwrap(), of_edges(&x, &edges, &weighted));
    let (by_x, by_weights) = of_edges::gradient(&x, &edges, &weighted).unwrap();
    close(&by_x, &differences(|x| of_edges(x, &edges, &weighted), &x));
    assert_eq!(by_weights, [(9.0,), (0.0625,)]);
    let (_, tangent) = of_edges::jvp(&x, &edges, &weighted, &[0.0; 4], &[(1.0,), (2.0,)]).unwrap();
    assert_eq!(tangent, 9.125);
    let bad = of_edges::value(&x, &[(0, 4)], &[]).unwrap_err();
    assert_eq!(bad.code(), Some("R01"));
    let none = of_edges::gradient(&x, &[], &[]).unwrap();
    assert_eq!(none, (vec![0.0; 4], Vec::new()));
    let (value, by_x) = above::vjp(&x, 0.3, &vec![(1.0,), (0.5,)]).unwrap();
    assert_eq!((value, by_x), (above(&x, 0.3), (vec![1.0, 0.0, 2.0, 0.0], 0.0)));
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Particle {
    at: (f64, f64),
    speed: (f64, f64),
    trail: Vec<(f64, f64)>,
}

#[differentiable]
impl Particle {
    fn step(&mut self, dt: f64) {
        self.speed.1 -= dt;
        self.at = (self.at.0 + dt * self.speed.0, self.at.1 + dt * self.speed.1);
        for place in self.trail.iter_mut() {
            place.0 += self.at.0 * dt;
        }
    }
}

#[differentiable]
fn thrown(x: &[f64]) -> f64 {
    let trail = vec![(0.5, x[0]), (x[1], 2.0)];
    let mut p = Particle { at: (0.0, 1.0), speed: (x[0], x[1]), trail };
    for _ in 0..4 {
        p.step(0.25);
    }
    let (right, up) = p.at;
    right * up + p.trail.iter().map(|(a, b)| a * b).sum::<f64>() + p.speed.1
}

#[differentiable]
fn heights(p: &Particle) -> f64 {
    p.at.1 * p.speed.0 + p.trail.iter().map(|place| place.1 * place.1).sum::<f64>()
}

#[test]
fn fields_are_tuples_of_floats() {
    agree! {
        thrown at [0.5, 2.0];
    }
    let p = Particle { at: (1.0, 2.0), speed: (3.0, 4.0), trail: vec![(0.5, 1.5), (2.0, 0.25)] };
    same(heights::value(&p).unwrap(), heights(&p));
    let by = Particle { at: (0.0, 3.0), speed: (2.0, 0.0), trail: vec![(0.0, 3.0), (0.0, 0.5)] };
    assert_eq!(heights::gradient(&p).unwrap(), by);
    let mut own = p.clone();
    own.step(0.5);
    assert_eq!(Particle_step::value(&p, 0.5).unwrap(), own);
}
