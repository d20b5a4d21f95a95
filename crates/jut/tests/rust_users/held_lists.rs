//! What a call that gives no value has behind it.

use jut::differentiable;

#[differentiable]
fn halved(x: &mut Vec<f64>) -> Result<(), String> {
    if x.is_empty() {
        return Err("nothing".to_string());
    }
    x.iter_mut().for_each(|v| *v *= 0.5);
    Ok(())
}

/// What changes a list and gives no value, with an `unwrap` behind it.
#[differentiable]
fn surely_halved(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    halved(&mut y).unwrap();
    halved(&mut y).expect("something");
    y.iter().map(|v| v * v).sum()
}

#[test]
fn nothing_is_unwrapped() {
    everywhere! {
        surely_halved at [0.5, 1.5], [];
    }
}
