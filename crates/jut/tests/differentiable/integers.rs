//! Methods of integers at the ends of their ranges: what Rust gives, and an error where a `usize` of Rust is none here.

use jut::differentiable;

/// What bounded operations give, of one type of integer.
macro_rules! bounded {
    ($name:ident, $ty:ty) => {
        #[differentiable]
        mod $name {
            pub fn kept(a: $ty, b: $ty) -> [$ty; 6] {
                [
                    a.wrapping_add(b),
                    a.wrapping_sub(b),
                    a.wrapping_mul(b),
                    a.saturating_add(b),
                    a.saturating_sub(b),
                    a.saturating_mul(b),
                ]
            }
            pub fn checked(a: $ty, b: $ty) -> [$ty; 5] {
                [
                    a.checked_add(b).unwrap_or(77),
                    a.checked_sub(b).map_or(78, |v| v),
                    a.checked_mul(b).unwrap_or(79),
                    if let Some(v) = a.checked_div(b) { v } else { 80 },
                    match a.checked_rem(b) {
                        Some(v) => v,
                        None => 81,
                    },
                ]
            }
        }

        fn $name(pairs: &[($ty, $ty)]) {
            for &(a, b) in pairs {
                let of = format!("{} and {}", a, b);
                assert_eq!($name::kept::value(a, b).unwrap(), $name::kept(a, b), "{of}");
                assert_eq!($name::checked::value(a, b).unwrap(), $name::checked(a, b), "{of}");
            }
        }
    };
}

bounded!(of_i64, i64);
bounded!(of_i32, i32);
bounded!(of_u32, u32);
bounded!(of_usize, usize);

/// Each with each.
fn pairs<T: Copy>(all: &[T]) -> Vec<(T, T)> {
    all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).collect()
}

#[test]
fn operations_that_say_what_is_beyond_the_range_give_what_rust_gives() {
    let root = 3_037_000_499;
    let all = [0, 1, -1, 2, 7, -9, root, root + 1, -root - 1, 1 << 62, i64::MAX, i64::MIN];
    of_i64(&pairs(&all));
    of_i32(&pairs(&[0, 1, -1, 2, -9, 46_340, 46_341, i32::MAX, i32::MIN]));
    of_u32(&pairs(&[0, 1, 2, 9, 65_535, 65_536, u32::MAX - 1, u32::MAX]));
}

#[differentiable]
fn sizes(a: usize, b: usize) -> [usize; 5] {
    [
        a.saturating_sub(b),
        a.checked_sub(b).unwrap_or(7),
        a.checked_mul(b).unwrap_or(8),
        a.checked_div(b).unwrap_or(9),
        a.checked_rem(b).unwrap_or(10),
    ]
}

#[test]
fn a_size_beyond_those_that_there_are_is_an_error_and_no_other_number() {
    of_usize(&[(0, 0), (1, 0), (1, 1), (7, 5), (1 << 31, 9)]);
    let all: [usize; 6] = [0, 1, 3, 1 << 31, 1 << 40, 3_037_000_499];
    for a in all {
        for b in all {
            match a.checked_mul(b) {
                // Rust has such a size.
                Some(product) if product > i64::MAX as usize => {
                    assert!(sizes::value(a, b).unwrap_err().to_string().contains("R11"));
                }
                _ => assert_eq!(sizes::value(a, b).unwrap(), sizes(a, b), "{a} and {b}"),
            }
        }
    }
    assert!(of_usize::kept::value(1, 2).unwrap_err().to_string().contains("R11"));
    assert!(
        of_usize::checked::value(i64::MAX as usize, 1).unwrap_err().to_string().contains("R11")
    );
}

#[differentiable]
fn bits(a: usize, b: u32, c: i32, d: i64) -> [u32; 8] {
    [
        a.count_ones(),
        a.trailing_zeros(),
        b.count_ones(),
        b.trailing_zeros(),
        c.count_ones(),
        c.trailing_zeros(),
        d.count_ones(),
        d.trailing_zeros(),
    ]
}

#[differentiable]
fn rounded(a: usize, b: usize) -> [usize; 6] {
    [
        a.div_ceil(b),
        a.next_multiple_of(b),
        a.isqrt(),
        usize::from(a.is_power_of_two()),
        a.next_power_of_two(),
        b.ilog2() as usize,
    ]
}

#[differentiable]
fn square_root(n: usize) -> usize {
    n.isqrt()
}

#[differentiable]
fn apart(a: i32, b: i32, c: u32) -> [u32; 3] {
    [a.abs_diff(b), a.unsigned_abs(), c.abs_diff(7)]
}

#[test]
fn bits_are_counted_and_sizes_rounded() {
    for n in [0, 1, 2, 12, 255, 1 << 31, -1, -8, i64::MAX, i64::MIN] {
        let (a, b, c) = (n as usize >> 1, n as u32, n as i32);
        assert_eq!(bits::value(a, b, c, n).unwrap(), bits(a, b, c, n), "{n}");
    }
    for a in [0, 1, 2, 3, 4, 7, 8, 9, 24, 25, 26, 1 << 52, (1 << 62) - 1] {
        for b in [1, 2, 3, 8, 1000] {
            assert_eq!(rounded::value(a, b).unwrap(), rounded(a, b), "{a} and {b}");
        }
    }
    for root in [94_906_267, 3_037_000_498, 3_037_000_499] {
        for n in [root * root - 1, root * root, root * root + 1, i64::MAX as usize] {
            assert_eq!(square_root::value(n).unwrap(), square_root(n));
        }
    }
    assert!(rounded::value(1, 0).unwrap_err().to_string().contains("R05"));
    for (a, b) in [(i32::MIN, i32::MAX), (i32::MIN, 0), (-3, 4), (9, 2)] {
        assert_eq!(apart::value(a, b, 9).unwrap(), apart(a, b, 9));
    }
}

#[derive(jut::Data, Clone, Debug, PartialEq)]
struct Table {
    width: usize,
    left: i32,
    values: Vec<f64>,
}

#[differentiable]
fn in_a_table(t: &Table, k: usize) -> f64 {
    let at = t.width.saturating_sub(k).min(t.values.len() - 1);
    let next = t.width.checked_sub(k + 1).map_or(0.5, |i| t.values[i]);
    let left = t.left.wrapping_mul(t.left).wrapping_add(1) as f64;
    t.values[at] * next + left * t.values[t.width.div_ceil(2) - 1]
}

#[test]
fn fields_are_integers_of_the_type_that_rustc_knows() {
    let t = Table { width: 3, left: 65_536, values: vec![0.5, 2.0, 3.0] };
    for k in [0, 1, 2, 3, 9] {
        let (value, by_t) = in_a_table::value_and_gradient(&t, k).unwrap();
        assert_eq!(value, in_a_table(&t, k));
        assert_eq!(by_t.values.len(), 3);
    }
    assert_eq!(in_a_table(&t, 9), 2.25);
}
