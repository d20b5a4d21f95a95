//! The order of sums: by lanes where a region says so, as executed everywhere else.

use crate::support::{floats, result};
use jut_eval::Value;
use jut_runtime::lanes::{BLOCK, LANES};

/// The sum of a lane loop over some terms, as the documentation defines it.
fn lane_sum(terms: &[f64]) -> f64 {
    let mut sum = 0.0;
    for block in terms.chunks(BLOCK as usize) {
        let mut lanes = [0.0; LANES];
        for (k, term) in block.iter().enumerate() {
            lanes[k % LANES] += term;
        }
        sum += tree(lanes);
    }
    sum
}

fn tree([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Terms whose sum depends on the order.
fn rough(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * k) as f64 * 0.7).sin() * 10f64.powi((k % 13) as i32 - 6)).collect()
}

#[test]
fn sums_of_scalars_go_by_lanes() {
    let text = "def f[n](x: [n]f64) -> f64 = sum (v <- x) { v }";
    for n in [0, 1, 7, 8, 9, 1023, 1024, 1025, 2500] {
        let x = rough(n);
        assert_eq!(result(text, &[floats(&x)]), Value::F64(lane_sum(&x)), "n = {n}");
    }
    let x = rough(2500);
    assert_ne!(lane_sum(&x), x.iter().sum::<f64>(), "the order shows in the bits");
}

#[test]
fn everything_else_is_added_in_the_order_of_execution() {
    let x = rough(100);
    let text = "core def f(n: i64, x: [n]f64) -> f64 = {
        s = acc r: f64 { scan par (i < n) slice (v <- x) { r += v } }; s }";
    let sum = x.iter().fold(0.0, |s, v| s + v);
    assert_eq!(result(text, &[100i64.into(), floats(&x)]), Value::F64(sum));
    let down = text.replace("acc r", "acc lanes r").replace("scan par", "scan down");
    let sum = x.iter().rev().fold(0.0, |s, v| s + v);
    assert_eq!(result(&down, &[100i64.into(), floats(&x)]), Value::F64(sum));
}

#[test]
fn additions_nested_in_a_lane_loop_go_to_its_lane_and_those_outside_to_the_total() {
    let text = "core def f(n: i64, m: i64, x: [n]f64) -> f64 = {
        s = acc lanes r: f64 {
            r += 0.1
            t = acc q: f64 { scan par (i < n) slice (v <- x) {
                r += v
                scan up (j < m) { w = v * 0.3; r += w; q += 1.0 }
            } }
            r += t
        }
        s }";
    let (n, m, x) = (20, 3, rough(20));
    let mut lanes = [0.0; LANES];
    for (i, v) in x.iter().enumerate() {
        lanes[i % LANES] += v;
        (0..m).for_each(|_| lanes[i % LANES] += v * 0.3);
    }
    let expected = ((0.0 + 0.1) + (0.0 + tree(lanes))) + (n * m) as f64;
    let args = [(n as i64).into(), i64::from(m).into(), floats(&x)];
    assert_eq!(result(text, &args), Value::F64(expected));
}

#[test]
fn inner_sums_have_lanes_of_their_own() {
    let text = "def f[n, m](x: [n, m]f64) -> f64 = sum (i < n) { sum (j < m) { x[i, j] } }";
    let (n, m) = (11, 19);
    let x = rough(n * m);
    let rows: Vec<f64> = x.chunks(m).map(lane_sum).collect();
    let matrix = Value::matrix(n, m, x).expect("n * m cells");
    assert_eq!(result(text, &[matrix]), Value::F64(lane_sum(&rows)));
}

#[test]
fn loops_in_the_arms_of_a_region_are_lane_loops_and_loops_in_loops_are_not() {
    let text = "core def f(n: i64, b: bool, x: [n]f64) -> f64 = {
        s = acc lanes r: f64 {
            case b {
                true -> { scan par (i < n) slice (v <- x) { r += v } }
                false -> { scan up (k < 1) { scan par (i < n) slice (v <- x) { r += v } } }
            }
        }
        s }";
    let x = rough(50);
    let run = |b: bool| result(text, &[50i64.into(), b.into(), floats(&x)]);
    assert_eq!(run(true), Value::F64(lane_sum(&x)));
    assert_eq!(run(false), Value::F64(x.iter().fold(0.0, |s, v| s + v)));
}

#[test]
fn a_lanes_parameter_is_a_total_of_the_callers() {
    let text = "core def g(n: i64, x: [n]f64; ; acc lanes r: f64) -> () = {
            scan par (i < n) slice (v <- x) { r += v } }
        core def f(n: i64, x: [n]f64) -> [2]f64 = {
            s = acc r: [2]f64 {
                r[1] += 0.7
                g(n, x; ; r[1])
                g(n, x; ; r[1])
            }
            s }";
    let x = rough(30);
    let expected = floats(&[0.0, ((0.0 + 0.7) + lane_sum(&x)) + lane_sum(&x)]);
    assert_eq!(result(text, &[30i64.into(), floats(&x)]), expected);
}
