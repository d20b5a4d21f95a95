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
