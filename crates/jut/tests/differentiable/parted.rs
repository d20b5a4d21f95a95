//! Parts of lists that methods hand out, parameters that are taken apart, `Option`s of functions in chains.

use super::close;
use jut::math::log;
use jut::{Data, differentiable};

#[differentiable]
fn butterflies(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let half = v.len() / 2;
    let (lo, hi) = v.split_at_mut(half);
    for (a, b) in lo.iter_mut().zip(hi.iter_mut()) {
        let t = *a - *b;
        *a += *b;
        *b = t;
    }
    lo[0] *= 3.0;
    halved(hi);
    v.iter().enumerate().map(|(i, y)| y * y * i as f64).sum()
}

#[differentiable]
fn halved(x: &mut [f64]) {
    for v in x.iter_mut() {
        *v *= 0.5;
    }
}

#[differentiable]
fn in_place(u: &mut [f64], k: usize) -> f64 {
    let (a, b) = u.split_at_mut(k);
    a[0] = b[0] * 2.0;
    b.swap(0, 1);
    a[0] + b[0]
}

#[differentiable]
fn ends(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    if let Some(first) = v.first_mut() {
        *first = 0.5;
    }
    if let Some(l) = v.last_mut() {
        *l *= 2.0;
    } else {
        return 7.0;
    }
    *v.last_mut().unwrap() += 1.0;
    let k = 1;
    if let Some(second) = v.get_mut(k) {
        *second *= *second;
    }
    v.iter().sum()
}

#[differentiable]
fn polynomial(x: &[f64]) -> f64 {
    let (t, coefficients) = x.split_first().unwrap();
    let inner = coefficients.iter().rev().fold(0.0, |acc, c| acc * t + c);
    let Some((last, rest)) = coefficients.split_last() else { return inner };
    let more = match rest.split_first() {
        Some((&a, b)) => a * b.len() as f64,
        None => -1.0,
    };
    if let Some((a, _)) = rest.split_last() { inner * last + a * more } else { inner + more }
}

#[differentiable]
fn joined(x: &[f64]) -> f64 {
    let (a, b) = (&x[..2], &x[2..]);
    let all = [b, a, &[1.5, 2.5]].concat();
    all.iter().copied().enumerate().map(|(i, v)| v * i as f64).sum::<f64>()
}

#[differentiable]
fn register(x: &[f64]) -> f64 {
    let mut buffer = [0.0; 4];
    let mut out = 0.0;
    for &v in x {
        buffer.copy_within(0..3, 1);
        buffer[0] = v;
        out += buffer.iter().sum::<f64>() * v;
    }
    out
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x < 0.0 { None } else { Some(x.sqrt()) }
}

#[differentiable]
fn found(x: &[f64]) -> f64 {
    let least = x.iter().filter_map(|v| root(*v)).fold(f64::INFINITY, |a, b| a.min(b));
    let logs: f64 = x.iter().map(|&v| if v > 0.0 { Some(log(v)) } else { None }).flatten().sum();
    least + logs
}

#[differentiable]
fn padded(x: &[f64]) -> f64 {
    let edge = x[0];
    let squares: f64 =
        std::iter::repeat(edge).take(2).chain(x.iter().copied()).map(|v| v * v).sum();
    let ten: f64 = x.iter().copied().chain(std::iter::repeat(2.0)).take(10).sum();
    squares + ten + x.iter().zip(std::iter::repeat_n(3.0, 2)).map(|(a, b)| a * b).sum::<f64>()
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quaternion(f64, f64, f64, f64);

#[differentiable]
impl Quaternion {
    fn times(self, Quaternion(a2, b2, c2, d2): Quaternion) -> Quaternion {
        let Quaternion(a1, b1, c1, d1) = self;
        Quaternion(
            a1 * a2 - b1 * b2 - c1 * c2 - d1 * d2,
            a1 * b2 + b1 * a2 + c1 * d2 - d1 * c2,
            a1 * c2 - b1 * d2 + c1 * a2 + d1 * b2,
            a1 * d2 + b1 * c2 - c1 * b2 + d1 * a2,
        )
    }
}

#[differentiable]
fn distance(&(ax, ay): &(f64, f64), [bx, by]: [f64; 2], _: usize) -> f64 {
    ((ax - bx) * (ax - bx) + (ay - by) * (ay - by)).sqrt()
}

#[differentiable]
fn turned(x: &[f64]) -> f64 {
    let q = Quaternion(x[0], x[1], x[2], x[3]).times(Quaternion(0.5, 1.0, -1.0, 2.0));
    q.0 * q.1 + q.2 * q.3 + distance(&(x[0], x[1]), [x[2], x[3]], 3)
}

#[test]
fn parts_of_lists() {
    agree! {
        butterflies at [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0];
        ends at [1.0, 2.0, 3.0], [1.0], [];
        polynomial at [0.5, 1.0, 2.0, 3.0], [0.5, 1.0], [0.5];
        joined at [1.0, 2.0, 3.0, 4.0], [1.0, 2.0];
        register at [1.0, 2.0, 3.0, 4.0, 5.0];
        found at [1.0, -2.0, 4.0], [-1.0, 0.25];
        padded at [1.0, 2.0], [3.0];
        turned at [0.9, 0.1, 0.2, 0.3];
    }
    assert!(butterflies::value(&[]).is_err() && polynomial::value(&[]).is_err());
    let mut plain = [1.0, 2.0, 3.0, 4.0];
    let start = plain;
    let value = in_place(&mut plain, 1);
    assert_eq!(in_place::value(&start, 1).unwrap(), (value, plain.to_vec()));
    assert!(in_place::value(&start, 5).unwrap_err().to_string().contains("mid > len"));
    let (by_a, by_b) = distance::gradient(&(3.0, 0.0), [0.0, 4.0], 1).unwrap();
    close(&[by_a.0, by_a.1, by_b[0], by_b[1]], &[0.6, -0.8, -0.6, 0.8]);
}
