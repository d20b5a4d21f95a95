//! Derivatives by some of the parameters, and all partial derivatives of functions that give arrays.

use super::{close, differences};
use jut::math::exp;
use jut::{Array, differentiable};

#[differentiable(wrt(rates))]
fn misfit(rates: &[f64], times: &[f64], measured: &[f64]) -> f64 {
    let mut s = 0.0;
    for (t, c) in times.iter().zip(measured) {
        s += (rates[0] * exp(-rates[1] * t) - c).powi(2);
    }
    s
}

const TIMES: [f64; 3] = [0.5, 1.0, 2.0];
const MEASURED: [f64; 3] = [1.3, 1.0, 0.4];

#[test]
fn what_is_not_asked_for_has_no_derivative() {
    let rates = [2.0, 0.75];
    let gradient: Vec<f64> = misfit::gradient(&rates, &TIMES, &MEASURED).unwrap();
    close(&gradient, &differences(|x| misfit(x, &TIMES, &MEASURED), &rates));
    let (value, same) = misfit::value_and_gradient(&rates, &TIMES, &MEASURED).unwrap();
    assert_eq!((value, &same), (misfit(&rates, &TIMES, &MEASURED), &gradient));
    // One tangent, one cotangent, and a Hessian: of the parameter that is named.
    let (_, along) = misfit::jvp(&rates, &TIMES, &MEASURED, &[1.0, 0.0]).unwrap();
    assert_eq!(along, gradient[0]);
    let (_, back) = misfit::vjp(&rates, &TIMES, &MEASURED, &1.0).unwrap();
    assert_eq!(back, gradient);
    let hessian: Array<f64> = misfit::hessian(&rates, &TIMES, &MEASURED).unwrap();
    let column = misfit::hvp(&rates, &TIMES, &MEASURED, &[0.0, 1.0]).unwrap();
    close(&[hessian.data[1], hessian.data[3]], &column);
    // A function that calls it is differentiated by all of its own.
    let (by_scale, by_rates) = scaled::gradient(2.0, &rates).unwrap();
    assert_eq!(by_scale, value);
    close(&by_rates, &gradient.iter().map(|g| 2.0 * g).collect::<Vec<_>>());
}

#[differentiable]
fn scaled(by: f64, rates: &[f64]) -> f64 {
    by * misfit(rates, &[0.5, 1.0, 2.0], &[1.3, 1.0, 0.4])
}

#[differentiable(name = of_two, wrt(r#type, y))]
fn named(x: f64, r#type: f64, y: f64) -> f64 {
    x * r#type * y * y
}

#[test]
fn parameters_are_named_in_any_order_and_given_in_that_of_the_function() {
    assert_eq!(of_two::gradient(2.0, 3.0, 5.0).unwrap(), (50.0, 60.0));
    assert_eq!(named(2.0, 3.0, 5.0), 150.0);
}

#[differentiable]
fn polar(p: &[f64; 2], shift: f64) -> [f64; 3] {
    [p[0] * p[1], shift * p[0], p[1] + shift * shift]
}

#[differentiable(wrt(w))]
fn layer(w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        y[i] = w[0] * x[i] + w[1];
    }
    y
}

#[test]
fn jacobians_have_the_types_of_what_they_belong_to() {
    let ([first, second, third], by_shift): ([[f64; 2]; 3], [f64; 3]) =
        polar::jacobian(&[2.0, 3.0], 5.0).unwrap();
    assert_eq!([first, second, third], [[3.0, 2.0], [5.0, 0.0], [0.0, 1.0]]);
    assert_eq!(by_shift, [0.0, 2.0, 10.0]);
    let (value, (by_p, _)) = polar::value_and_jacobian(&[2.0, 3.0], 5.0).unwrap();
    assert_eq!((value, by_p), (polar(&[2.0, 3.0], 5.0), [first, second, third]));

    let by_w: Array<f64> = layer::jacobian(&[2.0, 1.0], &TIMES).unwrap();
    assert_eq!((by_w.shape, by_w.data), (vec![3, 2], vec![0.5, 1.0, 1.0, 1.0, 2.0, 1.0]));
    let (value, _) = layer::value_and_jacobian(&[2.0, 1.0], &TIMES).unwrap();
    assert_eq!(value, layer(&[2.0, 1.0], &TIMES));
}
