//! Typed calls: what they take of memory, and that a call inside another one is like any other.

use jut::differentiable;

#[differentiable]
fn banana(x: f64, y: f64) -> f64 {
    100.0 * (y - x * x) * (y - x * x) + (1.0 - x) * (1.0 - x)
}

#[differentiable]
fn turned(angle: f64, p: &[f64; 2], k: usize) -> [f64; 2] {
    let (s, c) = angle.sin_cos();
    let scale = k as f64;
    [scale * (c * p[0] - s * p[1]), scale * (s * p[0] + c * p[1])]
}

#[differentiable]
fn rows(m: &[[f64; 3]; 2]) -> f64 {
    let mut s = 0.0;
    for i in 0..2 {
        for j in 0..3 {
            s += (i + j) as f64 * m[i][j] * m[i][j];
        }
    }
    s
}

/// How often a call asks for memory, once the first calls have shown how much it needs.
fn requests<R>(call: impl Fn() -> R) -> u64 {
    call();
    call();
    allocation_counter::measure(|| drop(call())).count_total
}

#[test]
fn calls_with_numbers_and_arrays_of_fixed_size_ask_for_no_memory() {
    let p = [1.0, 2.0];
    let m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    assert_eq!(requests(|| banana::value(0.5, 0.7).unwrap()), 0);
    assert_eq!(requests(|| banana::gradient(0.5, 0.7).unwrap()), 0);
    assert_eq!(requests(|| banana::value_and_gradient(0.5, 0.7).unwrap()), 0);
    assert_eq!(requests(|| banana::hvp(0.5, 0.7, 1.0, 0.0).unwrap()), 0);
    assert_eq!(requests(|| turned::value(0.3, &p, 2).unwrap()), 0);
    assert_eq!(requests(|| turned::jvp(0.3, &p, 2, 1.0, &[0.0, 1.0]).unwrap()), 0);
    assert_eq!(requests(|| turned::vjp(0.3, &p, 2, &[1.0, 0.0]).unwrap()), 0);
    assert_eq!(requests(|| rows::gradient(&m).unwrap()), 0);
}

#[test]
fn arrays_of_fixed_size_come_back_in_their_order() {
    let m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    assert_eq!(rows::gradient(&m).unwrap(), [[0.0, 4.0, 12.0], [8.0, 20.0, 36.0]]);
    let (value, tangent) = turned::jvp(0.0, &[1.0, 2.0], 3, 1.0, &[0.0, 0.0]).unwrap();
    assert_eq!((value, tangent), ([3.0, 6.0], [-6.0, 3.0]));
}
