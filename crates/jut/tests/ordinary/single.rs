//! Numbers of 32 bits: the operations are those of Rust, bit for bit, alone and beside numbers of 64.

use jut::{Data, differentiable};
use std::f32::consts;

#[track_caller]
fn same(a: f32, b: f32) {
    assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{a:?} and {b:?}");
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Sample {
    at: [f32; 2],
    weight: f32,
    label: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Layer {
    weights: Vec<f32>,
    bias: f32,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Unit {
    Linear,
    Leaky(f32),
}

const SLOPE: f32 = 0.1;
const TABLE: [f32; 3] = [0.1, 1e-7, -3.3];

#[differentiable]
fn arithmetic(x: f32, y: f32) -> f32 {
    let scale = 0.1;
    let mut s = 0.0;
    s += x * scale - y / 3.0;
    s -= (x + y) * (x - y) * SLOPE;
    s + TABLE[2] * x - -1.7 * y
}

#[differentiable]
fn methods(x: f32, y: f32) -> f32 {
    x.abs().sqrt() + x.max(y) * x.min(0.3) + y.signum() * x.copysign(y) + x.fract() - y.floor()
        + x.recip() * y.trunc()
        + (x * 1e-3).to_radians()
        + y.to_degrees()
        + x.clamp(-1.1, 2.3)
        + y.round()
        + y.ceil()
}

#[differentiable]
fn powers(x: f32, n: i32) -> f32 {
    x.powi(n) + x.powi(3) * x.powi(-2)
}

#[differentiable]
fn conversions(x: f32, y: f64, n: i64, m: usize) -> f32 {
    let a = (x as f64 * y) as f32 + n as f32 - m as f32;
    let k = x as i64 + (x * 2.5) as i32 as i64 + (x.abs() as usize % 7) as i64;
    a * 0.25 + k as f32 + consts::PI + f32::EPSILON + std::f32::consts::LN_2 * f32::from(x > 0.5)
}

#[differentiable]
fn wide(x: &[f32], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| *a as f64 * b).sum::<f64>() + x.iter().sum::<f32>() as f64
}

#[differentiable]
fn narrow(x: &[f32], scale: f32) -> Vec<f32> {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    x.iter().map(|v| (v - largest) * scale).collect()
}

#[differentiable]
impl Unit {
    fn of(self, x: f32) -> f32 {
        match self {
            Unit::Linear => x,
            Unit::Leaky(slope) => {
                if x > 0.0 {
                    x
                } else {
                    slope * x
                }
            }
        }
    }
}

#[differentiable]
fn layer(layer: &Layer, unit: Unit, x: &[f32]) -> f32 {
    let mut z = layer.bias * 1.1;
    for (w, v) in layer.weights.iter().zip(x) {
        z += w * v;
    }
    unit.of(z) + 0.01 * layer.weights.iter().map(|w| w * w).sum::<f32>() + layer.bias.max(0.2)
}

#[differentiable]
fn misfit(samples: &[Sample], w: &[f32; 2]) -> f64 {
    let mut s = 0.0;
    for sample in samples {
        let z = sample.at[0] * w[0] + sample.at[1] * w[1];
        s += sample.weight as f64 * (z as f64 - sample.label).powi(2);
    }
    s
}

fn numbers() -> impl Iterator<Item = (f32, f32)> {
    let mut random = fastrand::Rng::with_seed(7);
    let special = [0.0, -0.0, 1.0, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, 3e38];
    let pairs: Vec<(f32, f32)> =
        special.iter().flat_map(|a| special.iter().map(|b| (*a, *b))).collect();
    let plain = (0..200).map(move |_| (20.0 * random.f32() - 10.0, 20.0 * random.f32() - 10.0));
    pairs.into_iter().chain(plain)
}

#[test]
fn operations_have_the_bits_of_rust() {
    for (x, y) in numbers() {
        same(arithmetic::value(x, y).unwrap(), arithmetic(x, y));
        // Which zero is the larger one Rust leaves open.
        if x != 0.0 || y != 0.0 {
            same(methods::value(x, y).unwrap(), methods(x, y));
        }
        for n in [-5, -1, 0, 1, 2, 7, 12] {
            same(powers::value(x, n).unwrap(), powers(x, n));
        }
    }
}

#[test]
fn conversions_have_the_bits_of_rust() {
    for (x, _) in numbers().filter(|(x, _)| x.abs() < 1e18) {
        for n in [
            0,
            3,
            -7,
            16_777_217,
            i64::MAX,
            i64::MIN,
            9_007_199_791_611_905,
            -9_007_200_328_482_817,
        ] {
            same(conversions::value(x, 0.1, n, 5).unwrap(), conversions(x, 0.1, n, 5));
        }
        for n in [0, 16_777_219, 9_007_200_328_482_817, i64::MAX as usize] {
            same(conversions::value(x, 0.1, 3, n).unwrap(), conversions(x, 0.1, 3, n));
        }
    }
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..2000 {
        let n = random.i64(..) >> random.u32(0..60);
        same(conversions::value(0.5, 0.1, n, 0).unwrap(), conversions(0.5, 0.1, n, 0));
    }
}

#[test]
fn lists_and_structs() {
    let x = [0.1, -2.5, 3.3, 0.7];
    let y = [1.5, 0.25, -0.3, 2.0];
    let (value, (by_x, by_y)) = wide::value_and_gradient(&x, &y).unwrap();
    assert_eq!(value, wide(&x, &y));
    assert_eq!(by_x, y.map(|v| v as f32 + 1.0));
    assert_eq!(by_y, x.map(|v| v as f64));
    assert_eq!(narrow::value(&x, 1.7).unwrap(), narrow(&x, 1.7));
    let (_, (by_x, by_scale)) = narrow::vjp(&x, 0.5, &vec![1.0, 2.0, 4.0, 8.0]).unwrap();
    assert_eq!(by_x, [0.5, 1.0, -5.5, 4.0]);
    same(by_scale, 1.0 * (0.1 - 3.3) + 2.0 * (-2.5 - 3.3) + 8.0 * (0.7 - 3.3));
    for bias in [2.0, 0.1, -3.0] {
        let given = Layer { weights: vec![0.1, 0.2, -0.3, 0.4], bias };
        for unit in [Unit::Linear, Unit::Leaky(0.25)] {
            let value = layer::value(&given, unit, &x).unwrap();
            same(value, layer(&given, unit, &x));
            let (_, (by_layer, by_unit, by_x)) = layer::vjp(&given, unit, &x, &1.0).unwrap();
            let slope = match unit {
                Unit::Leaky(slope) if bias < 1.0 => slope,
                _ => 1.0,
            };
            same(by_x[1], slope * given.weights[1]);
            assert!(by_layer.bias != 0.0 && by_layer.weights.len() == 4);
            assert_eq!(by_unit.leaky != 0.0, slope != 1.0);
        }
    }
    let samples = [
        Sample { at: [0.5, 1.5], weight: 2.0, label: 0.75 },
        Sample { at: [-0.25, 0.1], weight: 0.5, label: -1.0 },
    ];
    let w = [0.3, 0.7];
    let (value, (by_samples, by_w)) = misfit::value_and_gradient(&samples, &w).unwrap();
    assert_eq!(value, misfit(&samples, &w));
    let z = 0.5_f32 * 0.3 + 1.5 * 0.7;
    same(by_samples[0].weight, (z as f64 - 0.75).powi(2) as f32);
    let by_label: f64 = by_samples[0].label;
    assert_eq!(by_label, -2.0 * 2.0 * (z as f64 - 0.75));
    assert_eq!(by_w.len(), 2);
}

#[test]
fn second_derivatives() {
    let by: f32 = power::hessian(1.5).unwrap();
    same(by, 9.0);
    let by: [[f32; 2]; 2] = product::hessian(&[2.0, 3.0]).unwrap();
    assert_eq!(by, [[6.0, 4.0], [4.0, 0.0]]);
}

#[differentiable]
fn power(x: f32) -> f32 {
    x * x * x
}

#[differentiable]
fn product(x: &[f32; 2]) -> f32 {
    x[0] * x[0] * x[1]
}
