//! Variants by bare names, their numbers, and several of them in one arm; closures that closures give; bytes as letters.

use super::{near, slopes};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Round(f64),
    Ring(f64, f64),
    Flat,
    Crate { w: f64, h: f64 },
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Weight(f64);

/// Beside the variants there is a struct, which has a name like them.
#[differentiable]
fn bare(s: &Shape, k: usize, x: f64) -> f64 {
    use Shape::*;
    let weight = Weight(x);
    match (s, k) {
        (Round(r) | Ring(r, _), 0 | 3) => r * weight.0,
        (Round(r) | Ring(_, r), n) if n < 3 => r * x * n as f64,
        (Crate { w: a, .. } | Ring(_, a) | Round(a), _) => a * a * x,
        (Flat, n) => n as f64 * x,
    }
}

#[differentiable]
fn renamed(s: Shape, x: f64) -> f64 {
    use Shape::{Flat as Nothing, Ring, Round};
    let next = match s {
        Nothing => Round(x),
        Round(r) => Ring(r, x),
        other => other,
    };
    if matches!(next, Ring(..)) {
        return x * x;
    }
    match next {
        Round(r) => 3.0 * r,
        _ => x,
    }
}

#[test]
fn variants_have_bare_names_where_a_use_gives_them() {
    let shapes =
        [Shape::Round(1.5), Shape::Ring(0.5, 2.5), Shape::Flat, Shape::Crate { w: 3.0, h: 1.0 }];
    for s in shapes {
        for k in 0..5 {
            let (value, (_, by_x)) = bare::value_and_gradient(&s, k, 0.7).unwrap();
            assert_eq!(value.to_bits(), bare(&s, k, 0.7).to_bits());
            near("bare", &[by_x], &slopes(|x| bare(&s, k, x[0]), &[0.7]));
        }
        let (value, (_, by_x)) = renamed::value_and_gradient(s, 0.7).unwrap();
        assert_eq!(value.to_bits(), renamed(s, 0.7).to_bits());
        near("renamed", &[by_x], &slopes(|x| renamed(s, x[0]), &[0.7]));
    }
}

#[differentiable]
fn either(x: &[f64]) -> f64 {
    let best = x.iter().copied().reduce(f64::max);
    match (best, x.first()) {
        (Some(a), Some(b)) if a > *b => a * b,
        (Some(a), None) | (None, Some(&a)) | (Some(a), Some(_)) => a,
        (None, None) => 0.0,
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Plain {
    First,
    Second,
    Third,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Numbered {
    Low = -2,
    Next,
    High = 0x10,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Setting {
    kind: Numbered,
    shift: u8,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Settings {
    inner: Setting,
    count: i64,
}

#[differentiable]
fn numbers(x: &[f64], plain: Plain, set: &Settings) -> f64 {
    let k = plain as usize;
    let n = set.inner.kind as i32 + Plain::Third as i32;
    x[k] * n as f64 + x[0] * (set.inner.kind as i64 as f64) + (Numbered::High as u8) as f64 * x[1]
        - (set.inner.kind as u8) as f64 * x[2]
}

/// A struct of such variants has no floats, whatever else is in it.
#[test]
fn variants_have_numbers_and_structs_of_them_no_derivative() {
    let x = [0.3, 0.7, 1.1];
    for plain in [Plain::First, Plain::Second, Plain::Third] {
        for kind in [Numbered::Low, Numbered::Next, Numbered::High] {
            let set = Settings { inner: Setting { kind, shift: 1 }, count: 2 };
            let (value, (by_x, by_plain, by_set)) =
                numbers::value_and_gradient(&x, plain, &set).unwrap();
            assert_eq!(value.to_bits(), numbers(&x, plain, &set).to_bits());
            near("numbers", &by_x, &slopes(|x| numbers(x, plain, &set), &x));
            let tangent = numbers::jvp(&x, plain, &set, &[0.0, 1.0, 0.0], (), &by_set).unwrap();
            assert_eq!(tangent, (value, by_x[1]));
            assert_eq!((by_plain, by_set), ((), SettingsGrad { inner: SettingGrad { kind: () } }));
        }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Many {
    inner: [Setting; 2],
    count: i64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Mixed {
    kind: Plain,
    set: Setting,
    weight: Weight,
}

#[differentiable]
fn mixed(x: f64, many: &[Many; 2], list: &[Mixed]) -> f64 {
    x * many[1].count as f64 + list[1].weight.0 * many[0].inner[1].shift as f64
}

#[test]
fn lists_of_structs_have_derivatives_where_some_of_their_fields_have_none() {
    let set = Setting { kind: Numbered::Next, shift: 3 };
    let many = [Many { inner: [set; 2], count: 2 }; 2];
    let one = Mixed { kind: Plain::Second, set, weight: Weight(0.5) };
    let (by_x, by_many, by_list) = mixed::gradient(1.5, &many, &[one, one]).unwrap();
    let none = || SettingGrad { kind: () };
    let by_one = |w| MixedGrad { kind: (), set: none(), weight: Weight(w) };
    assert_eq!((by_x, by_list), (2.0, vec![by_one(0.0), by_one(3.0)]));
    assert_eq!(by_many[1], ManyGrad { inner: [none(), none()] });
}

/// Closures that closures give: what these take is computed once, where they are called.
#[differentiable]
fn given(x: &[f64]) -> f64 {
    let mut factor = 1.5;
    let mut calls = 0.0;
    let mut scaled = |k: f64| {
        calls += 1.0;
        let twice = 2.0 * k * factor;
        move |v: f64| twice * v + calls
    };
    let double = scaled(x[0]);
    let treble = scaled(x[1]);
    factor = 7.0;
    let add = |k: f64| move |m: f64| move |v: f64| k * v + m;
    let line = add(2.0)(x[0]);
    let sums = |mut total: f64| {
        move |v: f64| {
            total += v;
            total
        }
    };
    let (mut one, mut other) = (sums(x[0]), sums(1.0));
    one(1.0);
    let weighted = |w: Vec<f64>| move |v: &[f64]| w.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
    let by_x = weighted(x.to_vec());
    let mut all = double(x[1]) * treble(factor) + line(3.0) + add(1.0)(2.0)(x[1]);
    for v in x {
        let own = add(*v)(0.5);
        all += own(all) * one(*v) - other(*v);
    }
    all + by_x(&[1.0, 2.0]) + x.iter().copied().map(line).sum::<f64>()
}

const WORDS: [&[u8]; 2] = [b"Jib 2, aZ9~", b"\t{Q}\x7f x\n"];

#[differentiable]
fn letters(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for word in WORDS {
        for (k, b) in word.iter().enumerate() {
            let w = 1.0 + k as f64;
            s += if b.is_ascii_lowercase() { w * x[0] } else { x[1] };
            s += if b.is_ascii_uppercase() || b.is_ascii_digit() { x[0] * x[1] } else { w };
            s *= if b.is_ascii_punctuation() { 0.5 + x[0] } else { 1.01 };
            s += if b.is_ascii_whitespace() != b.is_ascii_control() { 3.0 * x[0] } else { 0.0 };
            s -= if b.is_ascii_hexdigit() && b.is_ascii_alphanumeric() { x[1] * w } else { 0.1 };
            s += if b.is_ascii_graphic() && b.is_ascii() { 0.2 } else { x[0] };
            s += (b.to_ascii_uppercase() - b'\t') as f64 * 0.01 * x[1];
            s -= (b.to_ascii_lowercase() % 7) as f64 * 0.01;
            s += if b.is_ascii_alphabetic() { w } else { x[0] * w };
        }
    }
    s
}

/// Both parts of a list under one name.
#[differentiable]
fn halves(x: &[f64]) -> f64 {
    let parts = x.split_at(x.len() / 2);
    let longer = parts.1.iter().map(|v| v * v).sum::<f64>();
    let (a, b) = parts;
    longer * a.len() as f64 + dot(parts.0, b) + x.split_at(1).0[0]
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn closures_letters_and_halves() {
    everywhere! {
        either at [0.3, 0.7, 0.2], [0.7, 0.3], [];
        given at [0.3, 0.7], [1.2, -0.4];
        letters at [0.3, 0.7], [1.2];
        halves at [0.3, 0.7, 1.1, 0.4, 2.0], [0.5], [];
    }
}

#[differentiable]
fn inverted<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
    if x.iter().any(|v| *v == 0.0) { None } else { Some(x.map(|v| 1.0 / v)) }
}

#[differentiable]
fn first_inverted<const N: usize>(x: &[f64; N]) -> f64 {
    match inverted(x) {
        Some(y) => y[0] * x[N - 1],
        None => x[0],
    }
}

#[test]
fn an_option_of_an_array_has_the_length_of_a_parameter() {
    assert_eq!(inverted::value(&[2.0, 4.0]).unwrap(), inverted(&[2.0, 4.0]));
    let value = first_inverted::value(&[2.0, 1.0, 4.0]).unwrap();
    assert_eq!(value, first_inverted(&[2.0, 1.0, 4.0]));
    assert_eq!(inverted::value(&[2.0, 0.0, 1.0]).unwrap(), None);
    let (value, tangent) = inverted::jvp(&[2.0, 4.0], &[1.0, 0.0]).unwrap();
    assert_eq!((value, tangent), (Some([0.5, 0.25]), ([-0.25, 0.0],)));
    assert_eq!(first_inverted::gradient(&[2.0, 1.0, 4.0]).unwrap(), [-1.0, 0.0, 0.5]);
    assert_eq!(first_inverted::gradient(&[0.0]).unwrap(), [1.0]);
}
