//! Lists that become shorter, or get elements in between; two lists of one chain.

use super::{close, differences, same};
use jut::differentiable;

#[differentiable]
fn popped(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let last = v.pop().unwrap_or(0.5);
    let before = match v.pop() {
        Some(b) => b,
        None => return last,
    };
    v.pop();
    v.iter().sum::<f64>() * last + before * v.len() as f64
}

#[differentiable]
fn removed(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|v| v * v).collect();
    let first = v.remove(0);
    let middle = v.swap_remove(v.len() / 2);
    v.insert(1, 3.0 * first);
    v.insert(v.len(), middle);
    let mut s = 0.0;
    for (i, a) in v.iter().enumerate() {
        s = s * 0.5 + a * (i + 1) as f64;
    }
    s
}

/// The list of one element has no second one: that stops the loop, and no call that does not go through it.
#[differentiable]
fn removed_twice(x: &[f64]) -> f64 {
    let mut s = x.iter().sum();
    for (i, one) in x.chunks_exact(1).enumerate() {
        if i > 2 {
            let mut list = one.to_vec();
            s += list.swap_remove(0);
            s += list.swap_remove(0);
        }
    }
    s
}

#[differentiable]
fn cut(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let tail = v.split_off(2);
    v.resize(4, x[0]);
    v.truncate(3);
    v.truncate(100);
    let mut w = tail.clone();
    w.clear();
    w.push(v[2]);
    w.extend(tail.iter().map(|t| t * v[1]));
    w.resize(2, 0.0);
    v.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() + w[1]
}

#[differentiable]
fn retained(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut seen = 0;
    v.retain(|a| {
        seen += 1;
        *a > 0.0 && seen != 2
    });
    v.iter().product::<f64>() * seen as f64
}

#[differentiable]
fn distinct(x: &[f64]) -> f64 {
    let mut k: Vec<usize> = x.iter().map(|v| v.abs() as usize).collect();
    k.dedup();
    let mut v = x.to_vec();
    v.dedup();
    k.iter().zip(v.iter()).map(|(a, b)| *a as f64 * b).sum()
}

#[differentiable]
fn unzipped(x: &[f64]) -> f64 {
    let (squares, doubled): (Vec<f64>, Vec<_>) = x.iter().map(|v| (v * v, 2.0 * v)).unzip();
    let (low, mut high): (Vec<f64>, Vec<f64>) = x.iter().partition(|v| **v < 1.0);
    high.push(squares[0]);
    squares.iter().zip(&doubled).map(|(a, b)| a * b).sum::<f64>() * high.iter().sum::<f64>()
        - low.iter().sum::<f64>()
}

#[differentiable]
fn another(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v = v.iter().skip(1).map(|a| a * 2.0).collect();
    let before = v.len();
    if x.len() > 4 {
        v = v.iter().map(|a| a + 1.0).collect();
    }
    v = v[v.len() / 2..].to_vec();
    v.iter().sum::<f64>() * before as f64
}

#[differentiable]
fn last_two(x: &[f64]) -> f64 {
    let (large, small): (Vec<f64>, Vec<f64>) =
        x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, v)| (*v, v.sin())).unzip();
    large.last().unwrap_or(&0.0) * small.first().unwrap_or(&1.0)
}

macro_rules! all {
    ($($name:ident)*) => {
        [$((stringify!($name), $name as fn(&[f64]) -> f64, $name::value_and_gradient as Compiled)),*]
    };
}

type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

#[test]
fn lists_are_those_of_rust() {
    let starts: [&[f64]; 6] = [
        &[1.3, 0.7, 2.1, -0.4, 0.95, 3.2],
        &[2.5, 2.75, 2.75, 0.25],
        &[-1.25, -1.75, 3.5],
        &[0.5, 4.25],
        &[2.25],
        &[],
    ];
    for (name, plain, compiled) in
        all! { popped removed removed_twice cut retained distinct unzipped another }
    {
        for x in starts {
            let expected = std::panic::catch_unwind(|| plain(x));
            println!("{name} {x:?} {expected:?}");
            match (compiled(x), expected) {
                (Ok((value, gradient)), Ok(expected)) => {
                    same(value, expected);
                    // Where two elements are equal, a list without them changes its length.
                    if name != "distinct" || x.windows(2).all(|w| w[0] != w[1]) {
                        close(&gradient, &differences(plain, x));
                    }
                }
                (Err(_), Err(_)) => {}
                (ours, rust) => panic!("{ours:?} and {rust:?}"),
            }
        }
    }
    let x = [1.5, 0.5, 2.5, 0.25];
    let (value, gradient) = last_two::value_and_gradient(&x).unwrap();
    assert!((value - last_two(&x)).abs() < 1e-14);
    close(&gradient, &differences(last_two, &x));
}
