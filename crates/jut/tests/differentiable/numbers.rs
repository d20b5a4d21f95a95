//! Methods of numbers: the same bits as Rust's, and the derivatives that their definitions say.

use super::{close, differences, same};
use jut::differentiable;

const ODD: [f64; 17] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    -2.5,
    0.49999999999999994,
    -0.49999999999999994,
    7.3,
    -7.3,
    1e300,
    -4503599627370495.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[differentiable]
fn remainders(x: f64, y: f64) -> [f64; 4] {
    let mut z = x;
    z %= y;
    [x % y, x.rem_euclid(y), x.div_euclid(y), z]
}

#[differentiable]
fn remainders_of_32_bits(x: f32, y: f32) -> [f32; 3] {
    [x % y, x.rem_euclid(y), x.div_euclid(y)]
}

#[differentiable]
fn fused(x: f64, y: f64, z: f64) -> [f64; 2] {
    [x.mul_add(y, z), f64::mul_add(x, x, -y)]
}

#[differentiable]
fn even(x: f64) -> f64 {
    x.round_ties_even()
}

#[differentiable]
fn even_of_32_bits(x: f32) -> f32 {
    x.round_ties_even()
}

#[differentiable]
fn signs(x: f64) -> [bool; 2] {
    [x.is_sign_negative(), x.is_sign_positive()]
}

#[test]
fn remainders_and_fused_products_have_the_bits_of_rust() {
    for x in ODD {
        for y in ODD {
            let (ours, rust) = (remainders::value(x, y).unwrap(), remainders(x, y));
            ours.iter().zip(rust).for_each(|(a, b)| same(*a, b));
            let (a, b) = (x as f32, y as f32);
            let ours = remainders_of_32_bits::value(a, b).unwrap();
            let rust = remainders_of_32_bits(a, b);
            ours.iter().zip(rust).for_each(|(a, b)| same(f64::from(*a), f64::from(b)));
            for z in [1.0, -0.0, x * y, -x * y] {
                let (ours, rust) = (fused::value(x, y, z).unwrap(), fused(x, y, z));
                ours.iter().zip(rust).for_each(|(a, b)| same(*a, b));
            }
        }
        same(even::value(x).unwrap(), even(x));
        same(
            f64::from(even_of_32_bits::value(x as f32).unwrap()),
            f64::from(even_of_32_bits(x as f32)),
        );
        // The sign of a NaN is left open.
        if !x.is_nan() {
            assert_eq!(signs::value(x).unwrap(), signs(x), "{x}");
        }
    }
}

#[differentiable]
fn wrapped(p: &[f64; 4]) -> f64 {
    let angle = (p[0] * p[1]).rem_euclid(p[2]);
    let turns = (p[0] * p[1]).div_euclid(p[2]);
    angle * angle + p[3] * turns + p[0] % p[3] + p[1].mul_add(p[2], p[3] * p[3])
}

#[test]
fn remainders_have_the_derivatives_of_differences() {
    for p in [[2.3, 1.7, 0.9, 0.4], [-2.3, 1.7, 0.9, 0.4], [5.1, 0.3, -0.7, -1.3]] {
        close(
            &wrapped::gradient(&p).unwrap(),
            &differences(|x| wrapped(x.try_into().unwrap()), &p),
        );
    }
}

#[differentiable]
fn powers(n: i64, m: usize, k: i32) -> [i64; 4] {
    [
        n.pow(m as u32),
        n.rem_euclid(7) * 1000 + n.div_euclid(-7),
        (m.pow(2) as i64) * 3_i64.pow(m as u32),
        i64::from(k.rem_euclid(5) - k.div_euclid(3)) + m.rem_euclid(3) as i64,
    ]
}

#[test]
fn powers_and_remainders_of_integers_are_those_of_rust() {
    for n in [-5, -1, 0, 1, 2, 13] {
        for m in [0, 1, 2, 7, 12] {
            assert_eq!(powers::value(n, m, n as i32).unwrap(), powers(n, m, n as i32));
        }
    }
}

#[differentiable]
fn divided(n: i64, m: i64) -> [i64; 2] {
    [n.rem_euclid(m), n.div_euclid(m)]
}

#[test]
fn remainders_of_integers_fail_where_rust_does() {
    assert_eq!(divided::value(-7, -2).unwrap(), divided(-7, -2));
    assert_eq!(divided::value(i64::MAX, i64::MIN).unwrap(), divided(i64::MAX, i64::MIN));
    assert_eq!(divided::value(1, 0).unwrap_err().code(), Some("R05"));
    assert_eq!(divided::value(i64::MIN, -1).unwrap_err().code(), Some("R11"));
}

#[differentiable]
fn ordered(x: &[f64]) -> [f64; 2] {
    let low = x.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap();
    let high = x.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    [low, *high]
}

#[test]
fn zeros_have_an_order() {
    let lists: [&[f64]; 5] =
        [&[1.0, -2.0, 3.0], &[0.0, -0.0, 0.0], &[-0.0, 0.0, -0.0], &[4.0], &[2.0, f64::NAN, 1.0]];
    for x in lists {
        let (ours, rust) = (ordered::value(x).unwrap(), ordered(x));
        ours.iter().zip(rust).for_each(|(a, b)| same(*a, b));
    }
}

type Real = f64;
type Single = f32;

#[differentiable]
fn named(x: &[Real]) -> Real {
    let mut s: Real = 0.0;
    for v in x {
        s += v * v * v;
    }
    s
}

#[differentiable]
fn named_of_32_bits(x: Single) -> Single {
    x * x
}

#[test]
fn a_number_under_a_name_has_a_gradient() {
    assert_eq!(named::gradient(&[1.0, 2.0]).unwrap(), [3.0, 12.0]);
    assert_eq!(named::value_and_gradient(&[1.0, 2.0]).unwrap().0, 9.0);
    assert_eq!(named::hvp(&[1.0, 2.0], &[1.0, 0.0]).unwrap(), [6.0, 0.0]);
    assert_eq!(named_of_32_bits::gradient(3.0).unwrap(), 6.0);
}

/// The sum of the products of all subsets.
#[differentiable]
fn subsets(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for set in 0..(1usize << x.len()) {
        let mut product = 1.0;
        for (i, v) in x.iter().enumerate() {
            if set & (1 << i) != 0 {
                product *= v;
            }
            if set >> i & 1 == 0 {
                product += 0.125 * v;
            }
        }
        sum += product;
    }
    sum
}

#[differentiable]
fn shifted(n: usize, k: u32, x: f64) -> f64 {
    (3_usize << n) as f64 * x
        + (2_863_311_530_u32 << k) as f64
        + (-9_i64 >> k << n) as f64
        + (7 << k) as f64
}

#[test]
fn shifts_by_numbers_that_are_computed() {
    agree! {
        subsets at [], [0.5], [0.5, 2.0, -0.25, 1.5];
    }
    for (n, k) in [(0, 0), (5, 3), (40, 31)] {
        same(shifted::value(n, k, 0.5).unwrap(), shifted(n, k, 0.5));
    }
    for (n, k) in [(62, 0), (64, 0), (0, 32)] {
        let error = shifted::value(n, k, 0.5).unwrap_err();
        assert_eq!(error.code(), Some("R11"), "{error}");
    }
}
