//! Lists that are returned out of a loop, and lists without elements.

use super::{close, differences, same};
use jut::differentiable;

#[differentiable]
fn halved(x: &[f64], most: f64) -> Vec<f64> {
    let mut u = x.to_vec();
    for _ in 0..50 {
        let next: Vec<f64> = u.iter().map(|v| 0.5 * v).collect();
        if next.iter().all(|v| v.abs() < most) {
            return next;
        }
        u = next;
    }
    u
}

/// Newton's iteration, which gives up.
#[differentiable]
fn roots(x: &[f64]) -> Result<Vec<f64>, String> {
    let mut u = x.to_vec();
    for _ in 0..60 {
        let r: Vec<f64> = u.iter().zip(x).map(|(u, x)| u * u - x).collect();
        if r.iter().map(|v| v * v).sum::<f64>() < 1e-26 {
            return Ok(u);
        }
        for (u, r) in u.iter_mut().zip(&r) {
            if *u == 0.0 {
                return Err("a derivative is zero".into());
            }
            *u -= r / (2.0 * *u);
        }
    }
    Err(format!("no convergence"))
}

/// What is behind the first number above 1.
#[differentiable]
fn behind(x: &[f64]) -> Vec<f64> {
    if x.is_empty() {
        return Vec::new();
    }
    for (i, v) in x.iter().enumerate() {
        if *v > 1.0 {
            return x[i + 1..].to_vec();
        }
    }
    vec![]
}

#[differentiable]
fn levels(x: &[f64], k: i64) -> Vec<f64> {
    let mut u = x.to_vec();
    loop {
        match k {
            0 => return u,
            1 if u.len() < 3 => return vec![2.0 * u[0]],
            _ => {}
        }
        if u.len() == 1 {
            return u;
        }
        u = u.windows(2).map(|w| w[1] - w[0]).collect();
    }
}

#[differentiable]
fn of_all(x: &[f64]) -> f64 {
    let sum = |v: Vec<f64>| v.iter().enumerate().map(|(k, v)| v * v * (k + 1) as f64).sum::<f64>();
    let few = behind(x);
    sum(halved(x, 0.1))
        + few.len() as f64 * sum(few)
        + sum(levels(x, 0))
        + sum(levels(x, 1))
        + sum(levels(x, 2))
}

#[test]
fn lists_are_returned_out_of_loops() {
    agree! {
        of_all at [0.75], [0.5, 1.5, 2.0, -0.25], [0.5, 0.25, 2.0], [1.25, 0.5];
    }
    for x in [&[][..], &[0.5], &[2.0], &[0.5, 2.0, 3.0]] {
        assert_eq!(behind::value(x).unwrap(), behind(x));
    }
    let x = [0.75, 2.0, 4.0];
    assert_eq!(roots::value(&x).unwrap(), roots(&x).unwrap());
    let (_, by_x) = roots::vjp(&x, &vec![1.0; 3]).unwrap();
    close(&by_x, &differences(|x| roots(x).unwrap().iter().sum(), &x));
    assert!(roots::value(&[0.0, -1.0]).unwrap_err().to_string().contains("a derivative is zero"));
    assert!(roots::value(&[-1.0]).unwrap_err().to_string().contains("derivative is zero"));
    same(of_all::value(&x).unwrap(), of_all(&x));
}
