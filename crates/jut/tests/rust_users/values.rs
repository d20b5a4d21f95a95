//! Values that programmers keep in variables for later: errors, options in lists, functions, what a place was before.

use super::agree;
use jut::differentiable;

/// Both succeed or both fail, with the same value.
macro_rules! fails_like {
    ($f:ident at $($x:expr),+) => {$({
        let x: &[f64] = &$x;
        let plain = std::panic::catch_unwind(|| $f(x)).ok().and_then(|given| given.ok());
        match (plain, $f::value_and_gradient(x)) {
            (Some(value), Ok((other, _))) => assert_eq!(value.to_bits(), other.to_bits()),
            (None, Err(_)) => {}
            (plain, given) => panic!("{} at {x:?}: {plain:?} and {given:?}", stringify!($f)),
        }
    })+};
}

#[derive(Debug)]
#[allow(dead_code)]
enum Wrong {
    Below(f64),
    Above { limit: f64, at: usize },
}

#[differentiable]
fn kept_error(x: &[f64]) -> Result<f64, Wrong> {
    let below = Err(Wrong::Below(x[0]));
    if x[0] < 0.0 {
        return below;
    }
    for (at, &v) in x.iter().enumerate() {
        if v > 1e3 {
            return Err(Wrong::Above { limit: x[at] - 1e3, at });
        }
    }
    Ok(x[0] * x[1])
}
#[differentiable]
fn computed_error(x: &[f64]) -> Result<f64, String> {
    let last = x.last().copied().ok_or("empty")?;
    let at = x.iter().position(|v| *v > 1.0).ok_or_else(|| format!("none of {}", x.len()))?;
    x.get(at + 1).map(|v| v * last).ok_or(format!("{} is the last one", x[at]))
}
#[differentiable]
fn either(x: &[f64]) -> Result<f64, String> {
    let root: Result<f64, String> =
        if x[0] > 0.0 { Ok(x[0].sqrt()) } else { Err("below zero".into()) };
    Ok(root? * x[1])
}
#[differentiable]
fn looked_at(x: &[f64]) -> f64 {
    kept_error(x).unwrap_or(0.25) + kept_error(&x[1..]).map_or(2.0, |v| v * x[0])
}

#[test]
fn errors_are_kept_and_computed() {
    fails_like!(kept_error at [1.5, 2.0, 0.5], [-1.5, 2.0], [0.5], [0.5, 2000.0], []);
    fails_like!(computed_error at [1.5, 2.0, 0.5], [0.5, 0.75], [0.5, 2.0], []);
    fails_like!(either at [1.5, 2.0], [-1.5, 2.0], [1.0], []);
    holds!(kept_error_value at [1.5, 2.0, 0.5]);
    holds!(looked_at at [1.5, 2.0, 0.5], [-1.5, 2.0, 3.0], [0.5, -2.0, 1.0]);
    // Where the caller looks, what computing an error panics at is an error all the same.
    assert!(looked_at::value(&[-1.0]).is_err());
    let error = computed_error::gradient(&[0.5, 2.0]).unwrap_err().to_string();
    assert!(error.contains("is the last one"), "{error}");
}

#[differentiable]
fn kept_error_value(x: &[f64]) -> f64 {
    kept_error(x).unwrap() + either(x).unwrap()
}

#[differentiable]
fn roots(x: &[f64]) -> f64 {
    let roots: Vec<Option<f64>> =
        x.iter().map(|v| if *v > 0.0 { Some(v.sqrt()) } else { None }).collect();
    let mut s = 0.0;
    for root in &roots {
        if let Some(v) = root {
            s += v;
        }
    }
    for (i, root) in roots.iter().enumerate() {
        s += root.unwrap_or(0.5) * i as f64;
    }
    s + roots[0].map_or(1.0, |v| v * 2.0) + roots.iter().filter(|r| r.is_none()).count() as f64
}
#[differentiable]
fn buckets(x: &[f64]) -> f64 {
    let mut seen: Vec<Option<f64>> = vec![None; 3];
    for (i, &v) in x.iter().enumerate() {
        match seen[i % 3] {
            Some(old) => seen[i % 3] = Some(old * v),
            None => seen[i % 3] = Some(v),
        }
    }
    let squares = seen.iter().filter_map(|o| *o).fold(0.0, |a, b| a + b * b);
    seen.iter().flatten().sum::<f64>() + squares
}
#[differentiable]
fn steps_between(x: &[f64]) -> f64 {
    let mut last: Option<f64> = None;
    let mut s = 0.0;
    for &v in x {
        if let Some(before) = last.replace(v) {
            s += before * v;
        }
    }
    s + last.take().unwrap_or(0.0) + last.map_or(1.0, |v| v)
}

#[test]
fn options_are_elements_of_lists_and_are_replaced() {
    holds!(roots at [0.2, -0.3], [-0.3, 0.5, 0.7]);
    holds!(buckets at [0.2, 0.4], [0.2, 0.4, 0.8, 1.2, 0.3]);
    holds!(steps_between at [0.3, 0.4, 0.6]);
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}
#[differentiable]
fn cube(x: f64) -> f64 {
    x * x * x
}
#[differentiable]
fn alternating(x: &[f64]) -> f64 {
    let each: [fn(f64) -> f64; 2] = [square, cube];
    x.iter().enumerate().map(|(i, v)| each[i % 2](*v)).sum()
}
#[differentiable]
fn out_of_them(x: &[f64]) -> f64 {
    let each: [fn(f64) -> f64; 2] = [square, cube];
    each[x.len()](x[0])
}
#[differentiable]
fn chosen(x: &[f64]) -> f64 {
    let mut many = x.len() > 2;
    let f: fn(f64) -> f64 = if many { square } else { cube };
    many = !many;
    f(x[0]) + f(x[1]) + f64::from(many)
}

#[test]
fn functions_have_names_and_stand_in_arrays() {
    holds!(alternating at [0.2, -0.3, 1.1]);
    holds!(out_of_them at [0.3]);
    let error = out_of_them::value(&[0.3, 0.4]).unwrap_err().to_string();
    assert!(error.contains("index out of bounds"), "{error}");
    holds!(chosen at [0.3, 0.4], [0.3, 0.4, 0.5]);
}

#[differentiable]
fn ordered(x: &[f64]) -> f64 {
    use std::cmp::Ordering;
    let mut s = 0.0;
    for w in x.windows(2) {
        s += match w[0].partial_cmp(&w[1]) {
            Some(Ordering::Less) => w[0] * 2.0,
            Some(Ordering::Greater) => w[1] * w[1],
            Some(_) => 0.5,
            None => 7.0,
        };
    }
    match x.len().cmp(&3) {
        Ordering::Less | Ordering::Equal => s,
        Ordering::Greater if s > 10.0 => return 10.0,
        Ordering::Greater => s * x[0],
    }
}

#[test]
fn a_match_asks_for_an_order() {
    holds!(ordered at [0.3, 0.4, 0.2], [0.3, 0.8, 0.7, 0.2]);
    for x in [[1.0, 1.0, 2.0], [f64::NAN, 1.0, 0.0]] {
        assert_eq!(ordered::value(&x).unwrap(), ordered(&x));
    }
    assert_eq!(ordered::value(&[9.0, 8.0, 7.0, 9.0]).unwrap(), 10.0);
}
