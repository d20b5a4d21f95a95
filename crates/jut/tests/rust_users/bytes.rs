//! Integers of few bits where programs have them: packets, machines, histograms, pictures.

use jut::{Data, differentiable};
#[derive(Data, Clone, Debug, PartialEq)]
struct Packet {
    kind: u8,
    ports: [u16; 2],
    data: Vec<u8>,
    gain: f64,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Op {
    Push(u8),
    Add,
    Jump { by: i16 },
    Nop,
}
#[differentiable]
fn packet(p: &Packet, x: f64) -> f64 {
    let sum: u32 = p.data.iter().map(|&b| u32::from(b)).sum();
    let head = match p.kind {
        b'0'..=b'9' => 1.0,
        b'a' | b'b' => 2.0,
        k if k > 200 => f64::from(k),
        _ => 0.5,
    };
    head * x + f64::from(sum as u16 % 100) * p.gain
}
#[differentiable]
fn run(ops: &[Op], x: f64) -> f64 {
    let mut acc: u8 = 0;
    let mut pc: i16 = 0;
    let mut y = x;
    let mut fuel = 20u8;
    while let Some(op) = ops.get(pc as usize) {
        let Some(left) = fuel.checked_sub(1) else { break };
        fuel = left;
        pc += 1;
        match *op {
            Op::Push(b) => acc = acc.wrapping_mul(3) + b,
            Op::Add => y += f64::from(acc) * x,
            Op::Jump { by } if fuel > 10 => pc += by,
            Op::Jump { .. } | Op::Nop => {}
        }
    }
    y
}
#[differentiable]
fn bits<const N: usize>(v: &[u8; N], x: f64) -> f64 {
    let mut hist = [0u16; 4];
    for b in v {
        hist[usize::from(*b >> 6)] += 1;
    }
    let (lo, hi) = v.iter().fold((u8::MAX, u8::MIN), |(a, b), &v| (a.min(v), b.max(v)));
    let spread = hi.abs_diff(lo) as i8;
    hist.iter().enumerate().map(|(k, &h)| x.powi(k as i32) * h as f64).sum::<f64>()
        + spread as f64 * x
}
#[differentiable]
fn first_byte(v: &[u8]) -> Option<u8> {
    v.iter().copied().find(|b| *b != 0)
}
#[differentiable]
fn opt(v: &[u8], x: f64) -> f64 {
    match first_byte(v) {
        Some(b) if b.is_power_of_two() => x * b.trailing_zeros() as f64,
        Some(b) => x * (b as i8) as f64,
        None => -x,
    }
}
#[differentiable]
fn pairs(v: &[(u8, f64)]) -> f64 {
    v.iter().map(|&(n, w)| w.powi(i32::from(n))).sum()
}
#[differentiable]
fn made(x: &[f64]) -> Vec<u8> {
    x.iter().map(|v| (v * 255.0).clamp(0.0, 255.0).round() as u8).collect()
}
#[differentiable]
fn toggled(x: f64, a: i8) -> f64 {
    let up = u8::from(x > 1.0);
    let n: i32 = a.into();
    x * f64::from(up) + n as f64 + i64::from(a) as f64 + (-a) as f64
}
#[differentiable]
fn sums(x: f64, v: &[u8]) -> f64 {
    let s: u8 = v.iter().sum();
    let p: u8 = v.iter().product();
    x * s as f64 + p as f64
}
/// Digits of a text.
#[differentiable]
fn digits(bytes: &[u8]) -> Option<f64> {
    let mut value = 0.0;
    let mut scale = None;
    for &b in bytes {
        match b {
            b'0'..=b'9' => {
                let d = (b - b'0') as f64;
                match scale.as_mut() {
                    None => value = value * 10.0 + d,
                    Some(s) => {
                        *s *= 0.1;
                        value += d * *s;
                    }
                }
            }
            b'.' if scale.is_none() => scale = Some(1.0),
            _ => return None,
        }
    }
    Some(value)
}
#[differentiable]
fn parsed(x: &[f64]) -> f64 {
    let good = digits(b"12.5").unwrap_or(0.0);
    let bad = digits(&[b'1', b'x']);
    good * x[0] + bad.map_or(x[1], |v| v * 2.0)
}

#[test]
fn bytes_are_in_structs_enums_lists_and_results() {
    let p = Packet { kind: b'7', ports: [80, 443], data: vec![200, 100, 255], gain: 0.5 };
    for kind in [b'7', b'a', 250, 0] {
        let p = Packet { kind, ..p.clone() };
        assert_eq!(packet::value(&p, 2.0).unwrap(), packet(&p, 2.0));
    }
    assert_eq!(packet::gradient(&p, 2.0).unwrap().1, 1.0);
    let ops = [Op::Push(7), Op::Add, Op::Push(9), Op::Jump { by: -2 }, Op::Add, Op::Nop];
    assert_eq!(run::value(&ops, 1.5).unwrap(), run(&ops, 1.5));
    assert!(run::value(&[Op::Push(100), Op::Push(250)], 1.5).is_err());
    let v = [3u8, 77, 250, 130];
    assert_eq!(bits::value(&v, 0.5).unwrap(), bits(&v, 0.5));
    for v in [&[0u8, 8][..], &[0, 0], &[200], &[]] {
        assert_eq!(opt::value(v, 1.5).unwrap(), opt(v, 1.5));
        assert_eq!(first_byte::value(v).unwrap(), first_byte(v));
    }
    assert_eq!(pairs::gradient(&[(2, 3.0), (3, 1.0)]).unwrap(), vec![(6.0,), (3.0,)]);
    assert_eq!(made::value(&[0.5, 2.0, -1.0]).unwrap(), made(&[0.5, 2.0, -1.0]));
    assert_eq!(toggled::value(1.5, -7).unwrap(), toggled(1.5, -7));
    assert!(toggled::value(1.5, -128).is_err());
    assert_eq!(sums::value(1.5, &[3, 5]).unwrap(), sums(1.5, &[3, 5]));
    assert!(sums::value(1.5, &[200, 100]).is_err());
}

#[test]
fn texts_of_bytes_are_lists() {
    everywhere! {
        parsed at [0.5, 0.4];
    }
}
