//! Where Rust and the text of jut could mean different things.

use super::same;
use jut::differentiable;

#[differentiable]
fn guarded(x: &[f64], i: usize) -> f64 {
    if i < x.len() && x[i] > 0.0 || i == 100 { 1.0 } else { 2.0 }
}

#[differentiable]
fn guarded_division(a: i64, b: i64) -> bool {
    b != 0 && a / b > 2 || b == 0 && a > 5
}

#[test]
fn the_right_side_is_computed_where_rust_computes_it() {
    for i in [0, 1, 2, 7, 100] {
        same(guarded::value(&[1.0, -1.0], i).unwrap(), guarded(&[1.0, -1.0], i));
    }
    for (a, b) in [(9, 3), (9, 4), (9, 0), (3, 0)] {
        assert_eq!(guarded_division::value(a, b).unwrap(), guarded_division(a, b));
    }
}

#[differentiable]
fn order(x: f64) -> f64 {
    let mut a = x;
    let first = a + {
        a *= 3.0;
        a
    };
    let second = a * 10.0
        + if a > 1.0 {
            a = 0.5;
            a
        } else {
            a -= 1.0;
            2.0
        };
    first + second + a
}

#[differentiable]
fn order_of_arguments(x: f64) -> f64 {
    let mut a = x;
    let list = [
        a,
        {
            a += 1.0;
            a
        },
        {
            a *= 2.0;
            a
        },
        a,
    ];
    list[0] + 10.0 * list[1] + 100.0 * list[2] + 1000.0 * list[3]
}

#[test]
fn operands_are_read_from_left_to_right() {
    for x in [0.1, 1.0, -2.5] {
        same(order::value(x).unwrap(), order(x));
        same(order_of_arguments::value(x).unwrap(), order_of_arguments(x));
    }
}

#[differentiable]
fn bounds_once(n: usize) -> usize {
    let mut m = n;
    let mut rounds = 0;
    for i in 0..m {
        m += i;
        rounds += 1;
    }
    for i in (m..m + 3).rev() {
        m = 0;
        rounds += i;
    }
    rounds + m
}

#[differentiable]
fn ranges(a: i64, b: i64, k: usize) -> i64 {
    let mut s = 0;
    for i in a..b {
        s = (s * 3 + i) % 1009;
    }
    for i in a..=b {
        s = (s * 5 - i) % 1009;
    }
    for i in (a..b).rev() {
        s = (s * 7 + i) % 1009;
    }
    for i in (a..=b).rev() {
        s = (s * 3 + i) % 1009;
    }
    for i in (a..b).step_by(k) {
        s = (s * 11 + i) % 1009;
    }
    for i in ((a as i32)..(b as i32)).step_by(k).rev() {
        s = (s * 3 + 2 * i as i64) % 1009;
    }
    for i in (a..=b).rev().step_by(k) {
        s = (s * 5 + i) % 1009;
    }
    s
}

#[test]
fn bounds_are_computed_once_and_ranges_are_those_of_rust() {
    for n in 0..5 {
        assert_eq!(bounds_once::value(n).unwrap(), bounds_once(n));
    }
    for (a, b) in [(0, 0), (0, 1), (-2, 3), (3, -2), (5, 5), (-3, 2)] {
        for k in 1..4 {
            assert_eq!(ranges::value(a, b, k).unwrap(), ranges(a, b, k), "{a} {b} {k}");
        }
    }
    assert_eq!(ranges::value(0, 3, 0).unwrap_err().code(), Some("R12"));
}

#[differentiable]
fn shadowed(x: f64) -> f64 {
    let y = x + 1.0;
    let y = y * {
        let y = y - 3.0;
        let x = y * 2.0;
        x + y
    };
    let mut s = y;
    for x in 0..3 {
        let y = x as f64 + s;
        if x > 1 {
            let s = 100.0;
            let _ = s + y;
        } else {
            s += y;
        }
        let s = y;
        let _unused = s;
    }
    let x = s - x;
    x
}

#[test]
fn names_may_be_shadowed() {
    for x in [0.0, 1.5, -4.0] {
        same(shadowed::value(x).unwrap(), shadowed(x));
    }
}

#[differentiable]
fn jumps(x: &[f64], limit: f64) -> f64 {
    let mut s = 0.0;
    let mut seen = 0;
    'outer: for i in 0..x.len() {
        if x[i] < 0.0 {
            continue;
        }
        for j in 0..i {
            if x[j] == x[i] {
                s += 1000.0;
                continue 'outer;
            }
            if x[j] > 5.0 * limit {
                break 'outer;
            }
            if x[j] > 2.0 * limit {
                s += 0.5;
                break;
            }
            s += 0.01 * x[j];
        }
        seen += 1;
        if s > limit {
            if seen > 2 {
                return -s;
            }
            s *= 0.75;
        }
        s += x[i];
    }
    while s < limit {
        s += 1.0;
        if seen == 1 {
            continue;
        }
        seen += 1;
        if s > 0.5 * limit && seen > 3 {
            return s + seen as f64;
        }
    }
    s + 10.0 * seen as f64
}

#[differentiable]
fn backwards(x: &[f64]) -> usize {
    let mut found = x.len();
    for i in (0..x.len()).rev() {
        if x[i] > 1.0 {
            found = i;
            break;
        }
    }
    found
}

#[differentiable]
fn class(k: i64, x: f64) -> f64 {
    match k {
        0 => x,
        1 | 2 => {
            let y = x * x;
            y + 1.0
        }
        3..=5 if x > 0.0 => 3.0 * x,
        n => x + n as f64,
    }
}

#[differentiable]
fn early(x: f64, n: usize) -> f64 {
    if n == 0 {
        return 0.0;
    } else if n == 1 {
        return x;
    }
    let mut y = x;
    if x > 3.0 {
        y += 1.0;
        if n > 3 {
            return y;
        }
        y *= 2.0;
    }
    if y > 100.0 { 100.0 } else { y * n as f64 }
}

#[test]
fn jumps_go_where_rust_goes() {
    let lists: [&[f64]; 6] = [
        &[],
        &[1.0],
        &[1.0, 2.0, 3.0, 1.0, 0.5],
        &[-1.0, 4.0, 4.0, 2.0],
        &[0.1, 9.0, 0.2, 0.3],
        &[30.0, 1.0, 2.0],
    ];
    for list in lists {
        for limit in [0.5, 2.0, 4.0, 50.0] {
            same(jumps::value(list, limit).unwrap(), jumps(list, limit));
            if !list.is_empty() {
                jumps::gradient(list, limit).unwrap();
            }
        }
        assert_eq!(backwards::value(list).unwrap(), backwards(list));
    }
    for k in -1..7 {
        for x in [-2.0, 2.5] {
            same(class::value(k, x).unwrap(), class(k, x));
        }
    }
    for n in 0..6 {
        for x in [1.0, 3.5, 60.0] {
            same(early::value(x, n).unwrap(), early(x, n));
            assert!(early::gradient(x, n).unwrap().is_finite());
        }
    }
}

#[differentiable]
fn extremes(a: f64, b: f64) -> [f64; 8] {
    [
        a.max(b),
        a.min(b),
        a.signum(),
        a.copysign(b),
        a.clamp(-1.0, 1.0),
        f64::max(a, 0.5),
        a.abs(),
        a.trunc() + b.floor(),
    ]
}

#[differentiable]
fn rounded(a: f64) -> [f64; 7] {
    [a.floor(), a.ceil(), a.round(), a.trunc(), a.fract(), a.recip(), a.to_radians()]
}

#[differentiable]
fn kinds(a: f64) -> [bool; 3] {
    [a.is_nan(), a.is_finite(), a.is_infinite()]
}

#[differentiable]
fn whole(a: f64) -> (i64, i32, i64) {
    (a as i64, a as i32, (a > 1.0) as i64)
}

const SPECIAL: [f64; 15] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.5,
    -3.7,
    1e300,
    -1e-310,
    4e9,
    1e19,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
];

#[test]
fn methods_of_floats_are_those_of_rust() {
    for a in SPECIAL {
        for b in SPECIAL {
            if a == 0.0 && b == 0.0 && a.to_bits() != b.to_bits() {
                continue; // the standard library leaves open which zero is the larger
            }
            let (got, expected) = (extremes::value(a, b).unwrap(), extremes(a, b));
            for (k, (x, y)) in got.into_iter().zip(expected).enumerate() {
                assert!(
                    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
                    "{k}: {x} {y} of {a} {b}"
                );
            }
        }
        for (x, y) in rounded::value(a).unwrap().into_iter().zip(rounded(a)) {
            assert!(x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()), "{x} {y} of {a}");
        }
        assert_eq!(kinds::value(a).unwrap(), kinds(a));
        assert_eq!(whole::value(a).unwrap(), whole(a));
    }
}

#[differentiable]
fn integers(a: i64, b: i64, n: usize, m: usize) -> [i64; 9] {
    [
        a / 7 + a % 7,
        a & b | a ^ 12,
        (a >> 3) + (b << 2),
        a.min(b).max(-3),
        a.abs() + b.signum(),
        n.saturating_sub(m) as i64,
        n.abs_diff(m) as i64,
        a.pow(3).wrapping_mul(b),
        !a + (n / (m + 1)) as i64,
    ]
}

#[test]
fn integers_are_those_of_rust() {
    for (a, b) in [(0, 0), (5, -3), (-17, 4), (1000, 999), (-1, -1)] {
        for (n, m) in [(0, 0), (3, 5), (5, 3)] {
            assert_eq!(integers::value(a, b, n, m).unwrap(), integers(a, b, n, m));
        }
    }
}

#[differentiable]
fn empty_sums(x: &[f64]) -> f64 {
    let mut s = -0.0;
    for v in x {
        s += v;
    }
    let mut p = 1.0;
    for i in 0..x.len() {
        p *= x[i];
    }
    if x.is_empty() { s } else { s * p }
}

#[differentiable]
fn nothing_done(x: &[f64], n: usize) -> f64 {
    for i in 0..n {
        let y = x[i];
        let mut z = y;
        z += 1.0;
        let _ = z;
    }
    if n > 1 {
        let _a = x[1];
    }
    x[0]
}

#[test]
fn loops_may_be_empty_or_do_nothing() {
    for x in [&[][..], &[2.0, 3.0][..]] {
        same(empty_sums::value(x).unwrap(), empty_sums(x));
    }
    same(nothing_done::value(&[1.0, 2.0], 2).unwrap(), 1.0);
    assert_eq!(nothing_done::value(&[1.0, 2.0], 3).unwrap_err().code(), Some("R01"));
}

#[differentiable]
fn assigned(x: &[f64], k: usize) -> Vec<f64> {
    let mut a = x.to_vec();
    let mut m = [[0.0; 3]; 2];
    let mut counts = vec![0usize; 3];
    let mut pair = (1.0, 2);
    for i in 0..a.len() {
        a[i] *= 2.0;
        m[i % 2][i % 3] += a[i];
        counts[i % 3] += 1;
        (pair.0, pair.1) = (pair.0 + a[i], pair.1 + 1);
    }
    (a[0], a[k]) = (a[k], a[0]);
    a.swap(0, 1);
    m[1] = [7.0, 8.0, 9.0];
    let part = &a[1..k + 1];
    let mut t = part[0] + m[0][0] + m[1][2] + pair.0 + pair.1 as f64;
    for c in &counts {
        t += *c as f64;
    }
    a[k] = t + part.len() as f64;
    a
}

#[test]
fn elements_are_assigned() {
    for k in 1..4 {
        let x = [1.0, 2.0, 3.0, 5.0];
        assert_eq!(assigned::value(&x, k).unwrap(), assigned(&x, k));
    }
}

mod other {
    /// An integer that the caller's text has to know as a usize.
    #[jut::differentiable]
    pub fn count(x: &[f64]) -> usize {
        let mut n = 0;
        for v in x {
            if *v > 0.0 {
                n += 1;
            }
        }
        n
    }

    pub const TAPS: usize = 3;
    pub const WEIGHTS: [f64; TAPS] = [0.25, 0.5, 0.25];
}

#[differentiable]
fn counted(x: &[f64], y: &[f64]) -> usize {
    other::count(x) - other::count(y)
}

#[differentiable]
fn blurred(x: &[f64; other::TAPS]) -> f64 {
    use other::WEIGHTS;
    const SHIFT: f64 = -1.5;
    let mut s = SHIFT;
    for i in 0..WEIGHTS.len() {
        s += WEIGHTS[i] * x[i];
    }
    s
}

#[test]
fn what_functions_and_constants_are_is_known_where_they_are_used() {
    assert_eq!(counted::value(&[1.0, 2.0], &[-1.0]).unwrap(), 2);
    assert_eq!(counted::value(&[1.0], &[1.0, 1.0]).unwrap_err().code(), Some("R11"));
    same(blurred::value(&[1.0, 2.0, 4.0]).unwrap(), blurred(&[1.0, 2.0, 4.0]));
    assert_eq!(blurred::gradient(&[1.0, 2.0, 4.0]).unwrap(), other::WEIGHTS);
}

/// Blocks that do something only for those who look closely: the language refuses blocks without effect.
#[differentiable]
fn hardly_done(x: &mut [f64], n: usize) -> f64 {
    if n > 5 {
        // The jump is out of a loop within.
        for v in x.iter() {
            if *v > 1.0 {
                break;
            }
        }
    }
    for i in 0..n {
        if x[0] > 0.5 {
            if i % 2 == 0 {
                continue;
            }
        } else {
            let _unused = 5 % (i + 1);
        }
    }
    if n > 6 {
        // Nothing is assigned through the reference.
        for v in x.iter_mut() {
            let _twice = *v * 2.0;
        }
    }
    for _ in 0..n {
        // Whether this can be out of range depends on what the function gives.
        let given = plus_one(x[0]);
        let _square = given * given;
    }
    x[0]
}

#[differentiable]
fn plus_one(x: f64) -> f64 {
    x + 1.0
}

#[test]
fn blocks_may_do_next_to_nothing() {
    for n in [0, 3, 6, 9] {
        let (value, rest) = hardly_done::value(&[0.75, 2.0], n).unwrap();
        assert_eq!((value, rest), (hardly_done(&mut [0.75, 2.0], n), vec![0.75, 2.0]));
    }
}
