//! Jumps out of values, and `?`: values and derivatives are those of Rust, and so is which of two failures comes first.

use super::{close, differences, same};
use jut::differentiable;

#[differentiable]
fn arm_of_a_binding(x: &[f64]) -> f64 {
    let y = if x[0] > 5.0 { return x[1] } else { x[0] };
    y * y
}

#[differentiable]
fn other_arm(x: &[f64]) -> f64 {
    let y = if x[0] < 5.0 {
        let z = x[0] * 2.0;
        z + x[1]
    } else {
        return 0.0;
    };
    y * x[2]
}

#[differentiable]
fn by_match(x: &[f64]) -> f64 {
    let first = match x.iter().position(|v| *v > 2.0) {
        Some(i) => i,
        None => return -1.0,
    };
    x[first] * first as f64
}

#[differentiable]
fn hidden_name(x: &[f64]) -> f64 {
    let v = x[1];
    let y = match x.last() {
        Some(v) => *v,
        None => return 0.0,
    };
    y * v
}

#[differentiable]
fn several_arms(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate() {
        let w: f64 = match i % 4 {
            0 => *v,
            1 => v * v,
            2 if *v > 3.0 => continue,
            2 => 1.0,
            _ => {
                if *v < 0.0 {
                    break;
                }
                v.abs()
            }
        };
        s = s * 0.5 + w;
    }
    s
}

#[differentiable]
fn in_a_sum(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for v in x {
        s += v * if *v < 0.0 { continue } else { v.sqrt() };
    }
    s
}

#[differentiable]
fn in_a_call(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s = arm_of_a_binding(&[
            x[i],
            match x.get(i + 2) {
                Some(v) => *v,
                None => break,
            },
        ]) + s;
    }
    s
}

#[differentiable]
fn before_it_changes(x: &[f64]) -> f64 {
    let mut a = x[0];
    let y = a + {
        a = 7.0 * x[1];
        if a > 100.0 {
            return a;
        }
        a
    };
    y * a
}

#[differentiable]
fn lazily(x: &[f64]) -> f64 {
    let mut k = 0;
    while k < x.len() {
        let big = x[k] > 0.9 && if k == 5 { break } else { x[k] < 3.0 };
        k += if big { 1 } else { 2 };
    }
    x[k.min(x.len() - 1)] * k as f64
}

#[differentiable]
fn of_a_list(x: &[f64]) -> f64 {
    let inner = if x.len() > 2 { x[1..].to_vec() } else { return 0.0 };
    inner.iter().map(|v| v * v).sum()
}

#[differentiable]
fn with_a_constant(x: &[f64]) -> f64 {
    let y = if x[0] > 100.0 { return 0.0 } else { x[0] };
    const TWICE: f64 = 2.0;
    fn cube(x: f64) -> f64 {
        x * x * x
    }
    TWICE * cube(y)
}

#[differentiable]
fn quotient(a: f64, b: f64) -> Option<f64> {
    if b == 0.0 { None } else { Some(a / b) }
}

#[differentiable]
fn chained(x: &[f64]) -> Option<f64> {
    let first = x.first()?;
    let last = x.last().copied()?;
    let mut s = quotient(*first, last)? + quotient(x[1], quotient(last, 2.0)?)?;
    for w in x.windows(2) {
        s += w[0] * quotient(w[1], w[0])?;
        if s > 1e6 {
            return None;
        }
    }
    let root = if s >= 0.0 { s.sqrt() } else { quotient(s, 0.0)? };
    Some(root * x.iter().position(|v| *v > 2.0)? as f64)
}

#[differentiable]
fn found(x: &[f64]) -> f64 {
    chained(x).unwrap_or(-1.0)
}

#[differentiable]
fn which_first(x: &[f64], i: usize) -> Option<f64> {
    Some(x[i] + quotient(1.0, x[0])? + x[i + 1])
}

macro_rules! all {
    ($($name:ident)*) => {
        [$((stringify!($name), $name as fn(&[f64]) -> f64, $name::value_and_gradient as Compiled)),*]
    };
}

type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

#[test]
fn jumps_out_of_values_are_those_of_rust() {
    let starts: [&[f64]; 4] = [
        &[1.3, 0.7, 2.1, -0.4, 0.95, 3.2],
        &[5.5, 20.0, 3.5, 0.25, 0.5, 0.5],
        &[1.0, 1.75, 1.5, 1.25, 2.5, 1.125, 0.5],
        &[-1.0, 0.5, 0.25, 0.125, 0.0625, -2.0, 0.75],
    ];
    for (name, plain, compiled) in all! { arm_of_a_binding other_arm by_match hidden_name several_arms in_a_sum in_a_call before_it_changes lazily of_a_list with_a_constant found }
    {
        for x in starts {
            let (value, gradient) = compiled(x).unwrap_or_else(|e| panic!("{name}: {e}"));
            println!("{name} {x:?}");
            same(value, plain(x));
            close(&gradient, &differences(plain, x));
        }
    }
}

#[test]
fn what_is_none_is_none() {
    for x in [&[][..], &[0.0, 1.0], &[1.0, 0.0], &[1.0, 0.5], &[1.0, 0.5, 4.0], &[-1.0, 3.0, -4.0]]
    {
        assert_eq!(chained::value(x).unwrap(), chained(x), "{x:?}");
    }
    let (value, tangent) = chained::jvp(&[1.0, 0.5, 4.0], &[0.5, 1.0, 0.0]).unwrap();
    let h = 1e-6;
    let moved = |h: f64| chained(&[1.0 + 0.5 * h, 0.5 + h, 4.0]).unwrap();
    assert_eq!(value, chained(&[1.0, 0.5, 4.0]));
    close(&[tangent.0], &[(moved(h) - moved(-h)) / (2.0 * h)]);
}

#[test]
fn the_first_failure_is_that_of_rust() {
    // Out of range before `?` is an error, after it none is looked at.
    assert_eq!(which_first::value(&[0.0], 1).unwrap_err().code(), Some("R01"));
    assert_eq!(which_first::value(&[0.0], 0).unwrap(), None);
    assert_eq!(which_first::value(&[2.0], 0).unwrap_err().code(), Some("R01"));
    assert_eq!(which_first::value(&[2.0, 4.0], 0).unwrap(), which_first(&[2.0, 4.0], 0));
}
