//! Searches by halves, and folds that end early.

use super::{close, differences, same};
use jut::{Data, differentiable};

/// The usual way of interpolation: whether a place is found or not, it is where the segment is.
#[differentiable]
fn interpolated(x: &[f64], at: f64) -> f64 {
    let grid = [0.0, 0.5, 0.75, 2.0, 3.5];
    let i = match grid.binary_search_by(|g| g.partial_cmp(&at).unwrap()) {
        Ok(i) => i,
        Err(i) => i,
    };
    let i = i.clamp(1, x.len() - 1);
    let t = (at - grid[i - 1]) / (grid[i] - grid[i - 1]);
    x[i - 1] * (1.0 - t) + x[i] * t * t
}

#[differentiable]
fn one_arm(x: &[f64], at: f64) -> usize {
    match x.binary_search_by(|v| v.total_cmp(&at)) {
        Ok(i) | Err(i) => i,
    }
}

/// Where equal ones are Rust says one of them; in a list without order some place.
#[differentiable]
fn place(x: &[f64], at: f64) -> i64 {
    match x.binary_search_by(|v| v.total_cmp(&at)) {
        Ok(i) => i as i64,
        Err(i) => -1 - i as i64,
    }
}

#[differentiable]
fn with_a_jump(x: &[f64], at: f64) -> f64 {
    let mut s = 0.0;
    for k in 0..3 {
        match x.binary_search_by(|v| v.partial_cmp(&(at + k as f64)).unwrap()) {
            Ok(i) => s += x[i] * x[i],
            Err(0) => break,
            Err(_) => return s * at,
        }
    }
    s + at
}

#[differentiable]
fn otherwise(k: &[i64], wanted: i64) -> usize {
    k.binary_search(&wanted).unwrap_or_else(|i| i + 100)
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Knot {
    number: i64,
    value: f64,
}

#[differentiable]
fn of_a_key(knots: &[Knot], wanted: i64) -> f64 {
    let found = knots.binary_search_by_key(&wanted, |knot| knot.number);
    let down = knots.binary_search_by(|knot| wanted.cmp(&knot.number)).is_ok();
    if let Ok(i) = found { knots[i].value * knots[i].value } else { 0.5 + down as i64 as f64 }
}

#[test]
fn places_are_those_of_rust() {
    let lists: [&[f64]; 7] = [
        &[],
        &[1.0],
        &[0.0, 0.0, -0.0, 0.0],
        &[-1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 7.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0],
        &[5.0, 1.0, 4.0, 2.0, 3.0, 2.0],
        &[-0.0, 0.0, f64::INFINITY, f64::NAN],
    ];
    for x in lists {
        for at in [-2.0, -0.0, 0.0, 1.0, 1.5, 2.0, 5.0, 8.0, f64::INFINITY, f64::NAN] {
            assert_eq!(place::value(x, at).unwrap(), place(x, at), "{x:?} {at}");
            assert_eq!(one_arm::value(x, at).unwrap(), one_arm(x, at), "{x:?} {at}");
        }
    }
    for wanted in -2..9 {
        for k in [&[][..], &[3], &[1, 1, 1, 2, 5, 5, 7], &[0, 2, 4, 6, 8]] {
            assert_eq!(otherwise::value(k, wanted).unwrap(), otherwise(k, wanted));
        }
        let knots = [0, 1, 3, 6].map(|number| Knot { number, value: number as f64 + 0.5 });
        same(of_a_key::value(&knots, wanted).unwrap(), of_a_key(&knots, wanted));
    }
    for at in [-1.0, 0.0, 1.0, 2.0, 3.0] {
        let x = [0.0, 1.0, 3.0];
        same(with_a_jump::value(&x, at).unwrap(), with_a_jump(&x, at));
    }
}

#[test]
fn what_has_no_order_is_an_error() {
    let x = [1.0, f64::NAN, 2.0];
    assert!(std::panic::catch_unwind(|| with_a_jump(&x, 1.0)).is_err());
    let said = with_a_jump::value(&x, 1.0).unwrap_err().to_string();
    assert!(said.contains("called `Option::unwrap()` on a `None` value"), "{said}");
}

#[test]
fn derivatives_go_through_what_is_found() {
    let x = [1.0, 3.0, 2.0, 0.5, 4.0];
    for at in [-0.5, 0.25, 0.6, 1.9, 3.0] {
        same(interpolated::value(&x, at).unwrap(), interpolated(&x, at));
        let (by_x, by_at) = interpolated::gradient(&x, at).unwrap();
        close(&by_x, &differences(|x| interpolated(x, at), &x));
        close(&[by_at], &differences(|at| interpolated(&x, at[0]), &[at]));
    }
}

/// `None` where a number is negative.
#[differentiable]
fn roots(x: &[f64]) -> f64 {
    let sum = x.iter().try_fold(1.0, |s, v| if *v < 0.0 { None } else { Some(s * 0.5 + v.sqrt()) });
    sum.unwrap_or(x[0] * 3.0)
}

#[differentiable]
fn root(v: f64) -> Result<f64, String> {
    if v < 0.0 { Err("a root of a negative number".to_string()) } else { Ok(v.sqrt()) }
}

#[differentiable]
fn summed(x: &[f64]) -> Result<f64, String> {
    let sum = x.iter().try_fold(0.0, |s, v| Ok::<f64, String>(s + root(*v)?))?;
    let largest = x.iter().map(|v| v * 2.0).try_fold(0.0, |most: f64, v: f64| {
        if v > 50.0 { Err("too large".to_string()) } else { Ok(most.max(v)) }
    })?;
    Ok(sum * largest)
}

#[differentiable]
fn added(s: f64, v: f64) -> Result<f64, String> {
    Ok(s * s + root(v)?)
}

/// By a function's name, and with a place that is looked at.
#[differentiable]
fn looked_at(x: &[f64]) -> f64 {
    let first = match x.iter().copied().try_fold(0.5, added) {
        Ok(v) => v,
        Err(_) => -1.0,
    };
    let counted = x
        .iter()
        .enumerate()
        .try_fold((0.0, 1.0), |(s, p), (i, v)| if i > 2 { None } else { Some((s + v, p * v)) });
    if let Some((s, p)) = counted { first * s + p } else { first }
}

#[test]
fn folds_end_where_rust_ends_them() {
    agree! {
        roots at [1.0, 4.0, 2.0], [1.0, -4.0, 2.0], [-1.5];
        looked_at at [1.0, 4.0, 2.0], [1.0, -4.0, 2.0], [0.3, 0.2], [1.0, 2.0, 3.0, 4.0];
    }
    for x in [[1.0, 4.0, 2.0], [9.0, 1.0, 0.5]] {
        same(summed::value(&x).unwrap(), summed(&x).unwrap());
        let gradient = summed::gradient(&x).unwrap();
        close(&gradient, &differences(|x| summed(x).unwrap(), &x));
    }
    for (x, text) in [([1.0, -4.0], "a root of a negative number"), ([1.0, 60.0], "too large")] {
        assert!(summed(&x).is_err());
        for said in [summed::value(&x).unwrap_err(), summed::gradient(&x).unwrap_err()] {
            assert!(said.to_string().contains(text), "{said}");
        }
    }
}
