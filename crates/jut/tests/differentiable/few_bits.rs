//! Integers of 8 and 16 bits: the numbers that Rust gives, and an error exactly where it panics.

use jut::{Data, differentiable};

/// What holds of one type is said for all of them.
macro_rules! of_few_bits {
    ($($ty:ident $module:ident)*) => {$(
        mod $module {
            use super::*;

            #[differentiable]
            fn plain(x: f64, a: $ty, b: $ty) -> f64 {
                let sum = a + b;
                let product = sum * 2;
                x * product as f64 + (a - b) as f64
            }

            #[differentiable]
            fn divided(x: f64, a: $ty, b: $ty) -> f64 {
                x * f64::from(a / b) + (a % b) as f64
            }

            #[differentiable]
            fn bits(a: $ty, b: $ty) -> ($ty, $ty, $ty, u32) {
                (!a, (a << 3) ^ (b >> 1), (a & b) | 5, a.count_ones() + b.trailing_zeros())
            }

            #[differentiable]
            fn methods(a: $ty, b: $ty) -> ($ty, $ty, $ty) {
                let wrapped = a.wrapping_add(b).wrapping_mul(3).wrapping_sub(100);
                let kept = a.saturating_add(b).max(a.saturating_sub(b));
                (wrapped, kept, a.saturating_mul(b))
            }

            #[differentiable]
            fn checked(a: $ty, b: $ty) -> ($ty, $ty, bool) {
                let sum = a.checked_add(b).unwrap_or(1);
                let rest = a.checked_rem(b).or(a.checked_mul(b)).unwrap_or($ty::MAX);
                (sum, rest, a.checked_sub(b).is_none() || a.checked_div(b) == Some(2))
            }

            #[differentiable]
            fn cast(k: i64, x: f64) -> ($ty, $ty, i64) {
                (k as $ty, x as $ty, (k as $ty) as usize as i64)
            }

            #[differentiable]
            fn listed(x: f64, all: &[$ty]) -> f64 {
                let sum: $ty = all.iter().sum();
                let top = all.iter().copied().max().unwrap_or_default();
                x * sum as f64 + (top as f64) * x * x
            }

            #[derive(Data, Clone, Copy, Debug, PartialEq)]
            struct Cell {
                kind: $ty,
                load: f64,
            }

            #[differentiable]
            fn cells(all: &[Cell], by: $ty) -> f64 {
                all.iter().map(|c| (c.kind + by) as f64 * c.load).sum()
            }

            #[differentiable]
            fn next(cell: Cell, by: $ty) -> Cell {
                Cell { kind: cell.kind.wrapping_add(by) & 0x3f, ..cell }
            }

            pub fn holds() {
                let ends = [$ty::MIN, $ty::MIN + 1, 0, 1, 2, 5, $ty::MAX / 2, $ty::MAX - 1, $ty::MAX];
                for a in ends {
                    for b in ends {
                        same(|| plain(1.5, a, b), plain::value(1.5, a, b));
                        same(|| divided(1.5, a, b), divided::value(1.5, a, b));
                        same(|| bits(a, b), bits::value(a, b));
                        same(|| methods(a, b), methods::value(a, b));
                        same(|| checked(a, b), checked::value(a, b));
                        let list = [a, b];
                        same(|| listed(0.5, &list), listed::value(0.5, &list));
                        let cell = Cell { kind: a, load: 2.0 };
                        same(|| next(cell, b), next::value(cell, b));
                        same(|| cells(&[cell], b), cells::value(&[cell], b));
                    }
                }
                for k in [-70_000, -129, -1, 0, 1, 127, 128, 255, 256, 40_000, 65_535, 65_536] {
                    let cut = k as $ty;
                    if i64::from(cut) >= 0 {
                        let x = k as f64 + 0.25;
                        same(|| cast(k, x), cast::value(k, x));
                    }
                }
                assert_eq!(cells::gradient(&[Cell { kind: 3, load: 2.0 }], 2).unwrap().len(), 1);
                let slope = listed::gradient(0.5, &[1, 2]).unwrap();
                assert_eq!(slope, 3.0 + 2.0 * 2.0 * 0.5);
            }
        }
    )*};
}

of_few_bits! { u8 of_bytes i8 of_signed_bytes u16 of_words i16 of_signed_words }

/// The value of the plain call, or an error where it panics.
fn same<T: PartialEq + std::fmt::Debug>(plain: impl FnOnce() -> T, own: jut::Result<T>) {
    match (std::panic::catch_unwind(std::panic::AssertUnwindSafe(plain)), own) {
        (Ok(plain), Ok(own)) => assert_eq!(plain, own),
        (Err(_), Err(_)) => {}
        (plain, own) => panic!("{:?} and {own:?}", plain.ok()),
    }
}

#[test]
fn integers_of_few_bits_are_those_of_rust() {
    of_bytes::holds();
    of_signed_bytes::holds();
    of_words::holds();
    of_signed_words::holds();
}

const TABLE: [u8; 4] = [3, 0xff, b'x', 7];

#[differentiable]
fn looked_up(x: f64, k: u8) -> f64 {
    let byte = TABLE[k as usize];
    match byte {
        0..=9 => x * byte as f64,
        b'x' => x * x,
        u8::MAX => -x,
        _ => 0.0,
    }
}

#[test]
fn bytes_stand_in_tables_and_patterns() {
    for k in 0..4 {
        assert_eq!(looked_up::value(1.5, k).unwrap(), looked_up(1.5, k));
    }
    assert_eq!(looked_up::gradient(1.5, 2).unwrap(), 3.0);
    assert_eq!(looked_up::value(1.5, 4).unwrap_err().code(), Some("R01"));
}

/// A shift of as many bits as the type has.
#[differentiable]
fn shifted(x: f64, a: i16, by: u32) -> f64 {
    x * (a << by) as f64
}

#[test]
fn a_shift_by_all_bits_is_an_error() {
    assert_eq!(shifted::value(1.0, -3, 14).unwrap(), shifted(1.0, -3, 14));
    assert_eq!(shifted::value(1.0, 1, 16).unwrap_err().code(), Some("R11"));
}
