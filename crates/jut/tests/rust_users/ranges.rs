//! Integers of 32 bits whose type nothing says where they are written: an operation that leaves their range is an error exactly where it is one in Rust.
#![allow(arithmetic_overflow)]

use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct S {
    n: i32,
    x: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum E {
    A { n: i32 },
    B,
}

#[differentiable]
impl S {
    fn at(&self, k: i32) -> f64 {
        self.x * f64::from(k)
    }
    fn bump(&mut self, k: i32) {
        self.n += k;
    }
}

#[differentiable]
fn take(k: i32, x: f64) -> f64 {
    f64::from(k) * x
}

#[differentiable]
fn takeu(k: u32, x: f64) -> f64 {
    f64::from(k) * x
}

#[differentiable]
fn bump(n: &mut i32, k: i32) {
    *n += k;
}

#[differentiable]
fn list(n: &[i32]) -> f64 {
    f64::from(n[n.len() - 1])
}

#[differentiable]
fn a_field_of_literals(x: &[f64]) -> f64 {
    let s = S { n: 2147483647 + 1 - 1, x: x[0] };
    s.x * f64::from(s.n)
}

#[differentiable]
fn a_field_of_a_name(x: &[f64]) -> f64 {
    let b = 2147483647 + 1 - 1;
    let s = S { n: b, x: x[0] };
    s.x * f64::from(s.n)
}

#[differentiable]
fn an_argument_below(x: &[f64]) -> f64 {
    take(-2147483648 - 1, x[0])
}

#[differentiable]
fn an_unsigned_argument(x: &[f64]) -> f64 {
    takeu(3 - 4 + 1, x[0])
}

#[differentiable]
fn a_length(x: &[f64]) -> f64 {
    let k = 0 - 1;
    let m = x.len() + k + 1;
    m as f64 * x[0]
}

#[differentiable]
fn a_component(x: &[f64]) -> f64 {
    let t: (i32, f64) = (2147483647 + 1 - 1, 2.0);
    take(t.0, x[0])
}

#[differentiable]
fn elements(x: &[f64]) -> f64 {
    let v: Vec<u32> = vec![3 - 4 + 1; 2];
    takeu(v[0], x[0])
}

#[differentiable]
fn all_bits(x: &[f64]) -> f64 {
    let k: u32 = !0;
    x[0] * k as f64
}

#[differentiable]
fn bits_less_one(x: &[f64]) -> f64 {
    let k: i32 = !0 - 2147483647 - 1;
    x[0] * k as f64
}

#[differentiable]
fn a_power(x: &[f64]) -> f64 {
    let k: i32 = 2i32.pow(31) - 1;
    x[0] * k as f64
}

#[differentiable]
fn a_method(x: &[f64]) -> f64 {
    let s = S { n: 3, x: x[0] };
    let n = if x.len() > 1 { 2147483647 } else { 3 };
    s.at(n + 1)
}

#[differentiable]
fn beside_a_field(x: &[f64]) -> f64 {
    let s = S { n: 3, x: x[0] };
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n *= 2;
    }
    if n > s.n { x[0] } else { 2.0 }
}

#[differentiable]
fn the_larger(x: &[f64]) -> f64 {
    let s = S { n: 3, x: x[0] };
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n *= 2;
    }
    let k = s.n.max(n);
    x[0] * f64::from(k)
}

#[differentiable]
fn pushed(x: &[f64]) -> f64 {
    let s = S { n: 3, x: x[0] };
    let mut v = vec![s.n];
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n *= 2;
    }
    v.push(n);
    f64::from(v[1]) * x[0]
}

#[differentiable]
fn in_a_variant(x: &[f64]) -> f64 {
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n *= 2;
    }
    let e = E::A { n };
    match e {
        E::A { n: k } => x[0] * f64::from(k),
        _ => 2.0 * x[0],
    }
}

#[differentiable]
fn a_list_that_is_given(x: &[f64]) -> f64 {
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n *= 2;
    }
    let v = vec![n; 2];
    list(&v) * x[0]
}

#[differentiable]
fn a_field_that_is_changed(x: &[f64]) -> f64 {
    let mut s = S { n: 2147483646, x: x[0] };
    s.bump(if x.len() > 1 { 2 } else { 1 });
    s.x * f64::from(s.n)
}

#[differentiable]
fn a_place_that_is_given(x: &[f64]) -> f64 {
    let mut n = 2147483646;
    bump(&mut n, if x.len() > 1 { 2 } else { 1 });
    x[0] * f64::from(n)
}

#[differentiable]
fn shifted(x: &[f64]) -> f64 {
    let mut n = 1;
    for _ in 0..30 + x.len() {
        n <<= 1;
    }
    n -= 1;
    take(n, x[0])
}

#[differentiable]
fn without_a_sign(x: &[f64]) -> f64 {
    let k = 3 - x.len() as i32 * 2;
    let n = 5u32;
    takeu(n - k.unsigned_abs() * 5 - if x.len() > 1 { 1 } else { 0 }, x[0])
}

#[differentiable]
fn summed(x: &[f64]) -> f64 {
    let n = if x.len() > 1 { 100000 } else { 40 };
    let k: i32 = (1..n).sum();
    x[0] * k as f64
}

#[differentiable]
fn converted(x: &[f64]) -> f64 {
    let n = if x.len() > 1 { 3 } else { 4 };
    let k = n - 4;
    x[0] * (k as u32) as f64
}

#[differentiable]
fn of_a_list(x: &[f64]) -> f64 {
    let m: Vec<i32> = x.iter().map(|v| if *v > 0.0 { 2147483647 } else { 1 }).collect();
    let k = m.iter().max().unwrap() + if x.len() > 1 { 1 } else { 0 };
    x[0] * f64::from(k)
}

#[test]
fn ranges_are_those_of_rust() {
    everywhere! {
        a_field_of_literals at [0.5], [0.5, 1.5];
        a_field_of_a_name at [0.5], [0.5, 1.5];
        an_argument_below at [0.5], [0.5, 1.5];
        an_unsigned_argument at [0.5], [0.5, 1.5];
        a_length at [0.5], [0.5, 1.5];
        a_component at [0.5], [0.5, 1.5];
        elements at [0.5], [0.5, 1.5];
        all_bits at [0.5], [0.5, 1.5];
        bits_less_one at [0.5], [0.5, 1.5];
        a_power at [0.5], [0.5, 1.5];
        a_method at [0.5], [0.5, 1.5];
        beside_a_field at [0.5], [0.5, 1.5];
        the_larger at [0.5], [0.5, 1.5];
        pushed at [0.5], [0.5, 1.5];
        in_a_variant at [0.5], [0.5, 1.5];
        a_list_that_is_given at [0.5], [0.5, 1.5];
        a_field_that_is_changed at [0.5], [0.5, 1.5];
        a_place_that_is_given at [0.5], [0.5, 1.5];
        shifted at [0.5], [0.5, 1.5];
        without_a_sign at [0.5], [0.5, 1.5];
        summed at [0.5], [0.5, 1.5];
        converted at [0.5], [0.5, 1.5];
        of_a_list at [0.5], [0.5, 1.5];
    }
}
