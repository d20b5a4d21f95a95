//! Integers whose types are written nowhere: they are what rustc infers, so that the same calls fail.

use jut::{Data, differentiable};

#[differentiable]
fn pick(x: &[f64], k: usize) -> f64 {
    if k < x.len() { x[k] } else { 0.5 }
}

/// Only `pick` says that `k` is a `usize`.
#[differentiable]
fn down(x: &[f64], times: i64) -> f64 {
    let mut k = 2;
    let mut s = 0.0;
    for _ in 0..times {
        s += pick(x, k);
        k -= 1;
    }
    s
}

#[differentiable]
fn larger(n: i64, x: f64) -> f64 {
    if n > 4_000_000_000 { 2.0 * x } else { x }
}

/// What leaves the range of an `i32` and is an `i64`.
#[differentiable]
fn up(x: f64) -> f64 {
    let mut k = 2_000_000_000;
    k += 2_000_000_000;
    k += 1;
    larger(k, x)
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Grid {
    step: f64,
}

#[differentiable]
impl Grid {
    fn at(&self, k: usize) -> f64 {
        self.step * k as f64
    }

    fn moved(&mut self, k: &mut usize) {
        self.step *= 2.0;
        *k -= 1;
    }
}

/// A method says it.
#[differentiable]
fn method(grid: &Grid, times: i64) -> f64 {
    let (mut k, mut s) = (1, 0.0);
    for _ in 0..times {
        s += grid.at(k);
        k -= 1;
    }
    s
}

/// What is changed by the function too.
#[differentiable]
fn changed(grid: &Grid, times: i64) -> f64 {
    let (mut own, mut k) = (*grid, 1);
    for _ in 0..times {
        own.moved(&mut k);
    }
    own.step + own.at(k)
}

#[differentiable]
fn all(x: &[f64], at: [usize; 2], pair: (f64, f64)) -> f64 {
    x[at[0]] * pair.0 + x[at[1]] * pair.1
}

/// The elements of an array say it.
#[differentiable]
fn elements(x: &[f64], times: i64) -> f64 {
    let mut k = 1;
    for _ in 0..times {
        k -= 1;
    }
    all(x, [k, 0], (2.0, 1.0))
}

#[differentiable]
trait Table {
    fn entry(&self, k: usize) -> f64;
}

#[differentiable]
impl Table for Grid {
    fn entry(&self, k: usize) -> f64 {
        self.step + k as f64
    }
}

/// The trait says it.
#[differentiable]
fn of_trait<T: Table>(table: &T, times: i64) -> f64 {
    let mut k = 1;
    for _ in 0..times {
        k -= 1;
    }
    table.entry(k)
}

/// Nothing says it: it is an `i32`.
#[differentiable]
fn nothing(x: f64, times: i64) -> f64 {
    let mut k = 2_000_000_000;
    for _ in 0..times {
        k += 100_000_000;
    }
    x * k as f64
}

/// Something else says it, before and behind the call.
#[differentiable]
fn elsewhere(x: &[f64], n: usize) -> f64 {
    let mut k = 3;
    let s = pick(x, k);
    while k > n {
        k -= 1;
    }
    s + x[k] + (k as i32 - 4) as f64 + (k % 2) as f64
}

/// Methods of what only a call says.
#[differentiable]
fn methods(x: &[f64], times: i64) -> f64 {
    let mut k = 5;
    let mut s = 0.0;
    for _ in 0..times {
        s += pick(x, k)
            + pick(x, k.min(1))
            + pick(x, k.max(1))
            + pick(x, k.clamp(0, 2))
            + pick(x, k.pow(2) / 9);
        k = k.rem_euclid(3) + k.div_euclid(7);
    }
    s
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Route {
    at: [usize; 2],
    scale: f64,
}

#[differentiable]
impl Route {
    fn along(&self, x: &[f64]) -> f64 {
        self.scale * (x[self.at[0]] - x[self.at[1]])
    }
}

/// An array in a struct, and a closure's parameter.
#[differentiable]
fn fields(x: &[f64], times: i64) -> f64 {
    let (mut j, mut k) = (2, 1);
    let half = |k: usize| x[k / 2];
    for _ in 0..times {
        j -= 1;
        k -= 1;
    }
    let route = Route { at: [j, 0], scale: 2.0 };
    route.along(x) + half(k)
}

/// What plain Rust gives, with the checks of a debug build; nothing where it panics.
fn plain(f: impl FnOnce() -> f64) -> Option<u64> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).ok().map(f64::to_bits)
}

fn agree(plain_value: Option<u64>, value: jut::Result<f64>) {
    assert_eq!(plain_value, value.map(f64::to_bits).ok());
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Place {
    x: f64,
    n: usize,
}

/// What the field and the call say of numbers, each says by its own hole; the operators have some only where the field is known.
#[differentiable]
fn by_field_and_call(x: &[f64], times: i64) -> f64 {
    let place = Place { x: x[0], n: (5 % 7 - 2) / 2 };
    let mut s = place.x * pick(x, 1) + place.n as f64;
    for _ in 0..times {
        s = s * 0.5 + pick(x, 2 - 1);
    }
    s
}

#[test]
fn what_only_a_call_says_is_what_rustc_infers() {
    let (x, grid) = ([1.0, 2.0, 4.0], Grid { step: 0.25 });
    for times in 0..5 {
        agree(plain(|| down(&x, times)), down::value(&x, times));
        agree(plain(|| method(&grid, times)), method::value(&grid, times));
        agree(plain(|| changed(&grid, times)), changed::value(&grid, times));
        agree(plain(|| elements(&x, times)), elements::value(&x, times));
        agree(plain(|| of_trait(&grid, times)), of_trait::value(&grid, times));
        agree(plain(|| fields(&x, times)), fields::value(&x, times));
        agree(plain(|| nothing(1.5, times)), nothing::value(1.5, times));
        agree(plain(|| methods(&x, times)), methods::value(&x, times));
        let found = by_field_and_call::value(&x, times);
        agree(plain(|| by_field_and_call(&x, times)), found);
    }
    for n in 0..3 {
        agree(plain(|| elsewhere(&x, n)), elsewhere::value(&x, n));
    }
    agree(plain(|| up(3.0)), up::value(3.0));
    let error = down::gradient(&x, 4).unwrap_err().to_string();
    assert!(error.contains("R11") && error.contains("inferred.rs:17:9"), "{error}");
    assert_eq!(down::gradient(&x, 2).unwrap(), vec![0.0, 1.0, 1.0]);
}
