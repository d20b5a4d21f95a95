//! Elements at the end of a list that a `match` changes, and `Option`s of a number of an element and its value.

use jut::differentiable;

#[differentiable]
fn added(x: &[f64]) -> f64 {
    let mut runs = vec![(1.0, 2)];
    for v in x {
        match runs.last_mut() {
            Some((value, count)) => {
                *count += 1;
                *value += v;
            }
            None => {}
        }
    }
    runs[0].0 * runs[0].1 as f64
}

#[differentiable]
fn rising(x: &[f64]) -> f64 {
    let mut runs = vec![];
    for v in x {
        match runs.last_mut() {
            Some((value, count)) if *value < *v => {
                *count += 1;
                *value += v;
            }
            _ => runs.push((*v, 1)),
        }
    }
    runs[0].0 * runs[0].1 as f64 + runs.len() as f64
}

#[differentiable]
fn first_or_second(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    match y.first_mut() {
        Some(v) if *v > 1.0 => *v *= *v,
        Some(v) => *v += 3.0,
        None => return -1.0,
    }
    let k = 1;
    match y.get_mut(k) {
        Some(v) if *v < 0.0 => *v = 0.0,
        _ => y[0] *= 2.0,
    }
    y.iter().sum()
}

#[differentiable]
fn best(x: &[f64]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (i, v) in x.iter().enumerate() {
        if best.is_none_or(|(_, w)| *v > w) {
            best = Some((i, v * v));
        }
    }
    best
}

#[differentiable]
fn both(x: &[f64]) -> Option<(f64, f64)> {
    if x.len() > 1 { Some((x[0], x[1] * x[0])) } else { None }
}

#[differentiable]
fn of_pairs(x: &[f64]) -> f64 {
    match best(x) {
        Some((i, v)) => v * (i + 1) as f64 + both(x).map_or(0.0, |(a, b)| a * b),
        None => -1.0,
    }
}

#[differentiable]
fn largest(x: &[f64]) -> Result<(usize, f64), String> {
    let mut best = (0, *x.first().ok_or("empty")?);
    for (i, v) in x.iter().enumerate() {
        if *v > best.1 {
            best = (i, v * v);
        }
    }
    Ok(best)
}

#[differentiable]
fn numbered_by(x: &[f64]) -> Result<f64, String> {
    let (i, v) = largest(x)?;
    Ok(v * i as f64)
}

#[differentiable]
fn of_results(x: &[f64]) -> f64 {
    let first = match largest(x) {
        Ok((i, v)) => v * (i + 1) as f64,
        Err(_) => -1.0,
    };
    let Ok((i, v)) = largest(x) else { return first };
    first + v * i as f64 + largest(x).unwrap().1 + numbered_by(x).unwrap_or(0.0)
}

#[test]
fn last_elements_and_pairs() {
    everywhere! {
        added at [1.0, 2.0, 0.5], [];
        rising at [1.5, 2.0, 0.5], [1.0], [];
        first_or_second at [1.5, 2.0, 0.5], [0.5, -1.0], [];
        of_results at [1.0, 2.5, 2.0], [], [2.0];
        of_pairs at [1.0, 2.5, 2.0], [], [2.0];
    }
    let (value, tangent) = best::jvp(&[1.0, 2.0], &[1.0, 1.0]).unwrap();
    assert_eq!((value, tangent), (Some((1, 4.0)), ((4.0,),)));
}
