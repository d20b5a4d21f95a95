//! What people write: every function is accepted as it is, has its value, and the derivatives of differences.

use super::{close, differences};
use jut::differentiable;

#[differentiable]
fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[differentiable]
fn deviation(x: &[f64]) -> f64 {
    let m = mean(x);
    (x.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (x.len() - 1) as f64).sqrt()
}

#[differentiable]
fn median(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    v[v.len() / 2]
}

#[differentiable]
fn least(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(f64::total_cmp);
    v[0]
}

#[differentiable]
fn largest_by_fold(x: &[f64]) -> f64 {
    x.iter().cloned().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn by_length(x: &[f64]) -> f64 {
    match x {
        [] => 0.0,
        [a] => *a,
        [a, b] => a * b,
        [first, .., last] => first + last,
    }
}

#[differentiable]
fn first_two_and_rest(x: &[f64]) -> f64 {
    if let [a, b, rest @ ..] = x { a * b + rest.iter().sum::<f64>() } else { 0.0 }
}

#[differentiable]
fn weighted(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate().skip(1) {
        s += v * i as f64;
    }
    s
}

#[differentiable]
fn backwards_by_two(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in (1..=x.len()).rev().step_by(2) {
        s = s * 0.5 + x[i - 1];
    }
    s
}

#[differentiable]
fn products_of_chunks(x: &[f64]) -> f64 {
    x.chunks(2).map(|c| c.iter().product::<f64>()).sum()
}

#[differentiable]
fn halves(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}

#[differentiable]
fn residues(x: &[f64]) -> f64 {
    let n = x.len();
    let mut t = [0.0; 4];
    for i in 0..n {
        t[i % 4] += x[i];
    }
    t.iter().map(|v| v * v).sum()
}

#[differentiable]
fn labelled(x: &[f64]) -> f64 {
    'o: for i in 0..x.len() {
        for j in 0..x.len() {
            if x[i] + x[j] > 3.0 {
                break 'o;
            }
            if x[j] < 0.0 {
                continue 'o;
            }
        }
    }
    x[0]
}

#[differentiable]
fn first_large(x: &[f64]) -> f64 {
    for v in x {
        if *v > 1.0 {
            return v * v;
        }
    }
    0.0
}

#[differentiable]
fn largest_by_total_order(x: &[f64]) -> f64 {
    *x.iter().max_by(|a, b| a.total_cmp(b)).unwrap()
}

#[differentiable]
fn largest_or_zero(x: &[f64]) -> f64 {
    x.iter().copied().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap_or(0.0)
}

#[differentiable]
fn positive_part(x: &[f64]) -> f64 {
    let v: Vec<f64> = x.iter().filter(|v| **v > 0.0).cloned().collect();
    v.iter().sum()
}

#[differentiable]
fn ends(x: &[f64]) -> f64 {
    x.first().copied().unwrap_or_default() + x.last().copied().unwrap_or(0.0)
}

#[differentiable]
fn third(x: &[f64]) -> f64 {
    x.get(2).map(|v| v * 2.0).unwrap_or(1.0)
}

#[differentiable]
fn horner(x: &[f64]) -> f64 {
    x.iter().rev().fold(0.0, |acc, &c| acc * 0.5 + c)
}

#[differentiable]
fn pairs(x: &[f64]) -> f64 {
    (0..x.len()).map(|i| (0..i).map(|j| x[i] * x[j]).sum::<f64>()).sum()
}

#[differentiable]
fn variation(x: &[f64]) -> f64 {
    x.iter().zip(x.iter().skip(1)).map(|(a, b)| (b - a).abs()).sum()
}

#[differentiable]
fn changed_copy(x: &[f64]) -> f64 {
    let mut m = x.to_owned();
    m.swap(0, 1);
    m.iter_mut().for_each(|v| *v *= 2.0);
    m[0]
}

#[differentiable]
fn least_by_loop(x: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for &v in x {
        if v < best {
            best = v;
        }
    }
    best
}

#[differentiable]
fn squares_pushed(x: &[f64]) -> f64 {
    let mut v = Vec::with_capacity(x.len());
    for &a in x {
        v.push(a * a);
    }
    v.iter().sum()
}

#[differentiable]
fn length_of_extended(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.fill(1.0);
    v.extend_from_slice(x);
    v.len() as f64
}

#[differentiable]
fn filtered_loop(x: &[f64]) -> f64 {
    let mut q = 0.0;
    for x in x.iter().filter(|v| **v > 0.0) {
        q += x;
    }
    q
}

#[differentiable]
fn logs_of_positive(x: &[f64]) -> f64 {
    x.iter().filter_map(|v| if *v > 0.0 { Some(v.ln()) } else { None }).sum()
}

#[differentiable]
fn norm(x: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| p * q).sum::<f64>();
    dot(x, x).sqrt()
}

#[differentiable]
fn variance(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean: f64 = x.iter().sum::<f64>() / n;
    x.iter()
        .map(|&v| {
            let d = v - mean;
            d * d
        })
        .sum::<f64>()
        / n
}

#[differentiable]
fn trapezoid(x: &[f64]) -> f64 {
    let mut total = 0f64;
    for i in 0..x.len().saturating_sub(1) {
        total += 0.5 * (x[i] + x[i + 1]);
    }
    total
}

#[differentiable]
fn root_of_squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x.powi(2)).sum::<f64>().sqrt()
}

#[differentiable]
fn least_expected(x: &[f64]) -> f64 {
    x.iter().min_by(|a, b| a.partial_cmp(b).expect("no NaN")).copied().unwrap()
}

#[differentiable]
fn inner_part(x: &[f64]) -> f64 {
    let v = &x[1..];
    let w = &v[..v.len() - 1];
    w.iter().sum()
}

#[differentiable]
fn even_places(x: &[f64]) -> f64 {
    x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, v)| v).sum()
}

#[differentiable]
fn from_an_array(x: &[f64]) -> f64 {
    let [a, b, c] = [x[0], x[1], x[2]];
    a + b * c
}

#[differentiable]
fn rotated(x: &[f64]) -> f64 {
    let mut a = [x[0], x[1]];
    a.rotate_left(1);
    a[0]
}

#[differentiable]
fn while_positive(x: &[f64]) -> f64 {
    x.iter().take_while(|v| **v > 0.0).sum()
}

#[differentiable]
fn behind_positive(x: &[f64]) -> f64 {
    x.iter().skip_while(|v| **v > 0.0).sum()
}

#[differentiable]
fn last_replaced(x: &[f64]) -> f64 {
    let mut x = x.to_vec();
    let n = x.len();
    x[n - 1] = 2.0;
    x.iter().copied().sum()
}

#[differentiable]
fn functions_by_name(x: &[f64]) -> f64 {
    x.iter().copied().map(f64::sin).map(f64::abs).sum()
}

#[differentiable]
fn continued_fraction(x: &[f64]) -> f64 {
    let mut a = 1.0;
    let mut b = 0.0;
    for v in x {
        (a, b) = (a * v + b, a);
    }
    a + b
}

#[differentiable]
fn rectified(x: &[f64]) -> f64 {
    x.iter()
        .map(|v| match *v {
            v if v > 0.0 => v,
            _ => 0.0,
        })
        .sum()
}

#[differentiable]
fn exact_chunks(x: &[f64]) -> f64 {
    for (i, row) in x.chunks_exact(3).enumerate() {
        let _ = i;
        let _r = row[0];
    }
    1.0
}

#[differentiable]
fn first_positive(x: &[f64]) -> f64 {
    let i = x.iter().position(|&v| v > 0.0);
    match i {
        Some(i) => x[i],
        None => 0.0,
    }
}

#[differentiable]
fn last_positive(x: &[f64]) -> f64 {
    let Some(i) = x.iter().rposition(|&v| v > 0.0) else { return 0.0 };
    x[i]
}

#[differentiable]
fn joined(x: &[f64]) -> f64 {
    x[..2].iter().chain(&x[3..]).sum()
}

#[differentiable]
fn reversed_and_numbered(x: &[f64]) -> f64 {
    x.iter().map(|v| v * 2.0).rev().enumerate().map(|(i, v)| v * i as f64).sum()
}

#[differentiable]
fn guarded_while(x: &[f64]) -> f64 {
    let mut s = 0.0;
    let mut i = 0;
    while i < x.len() && x[i] > 0.0 {
        s += x[i];
        i += 1;
    }
    s
}

#[differentiable]
fn cloned(x: &[f64]) -> f64 {
    x.into_iter().map(|v| v.clone()).sum()
}

#[differentiable]
fn two_sums(x: &[f64]) -> f64 {
    let s: f64 =
        x.iter().map(|v| v.max(0.0)).sum::<f64>() + x.iter().map(|v| v.min(0.0)).sum::<f64>();
    s
}

#[differentiable]
fn numbered_by_a_range(x: &[f64]) -> f64 {
    x.iter().zip(0..).map(|(v, i)| v * i as f64).sum()
}

#[differentiable]
fn reversed_range(x: &[f64]) -> f64 {
    (0..x.len()).rev().map(|i| x[i]).fold(0.0, |a, b| 0.5 * a + b)
}

#[differentiable]
fn truth_as_number(x: &[f64]) -> f64 {
    x.iter().any(|&v| v > 1.0) as usize as f64
}

#[differentiable]
fn fused_and_reduced(x: &[f64]) -> f64 {
    x.iter().sum::<f64>().powf(1.5).mul_add(2.0, 1.0) % 3.0
}

#[differentiable]
fn fixed_part(x: &[f64]) -> f64 {
    let v: [f64; 2] = [x[0], x[1]];
    v.iter().sum()
}

#[differentiable]
fn unwrapped(x: &[f64]) -> f64 {
    x.first().unwrap() + x.last().unwrap() + x.iter().nth(1).unwrap()
}

#[differentiable]
fn windows_or_unreachable(x: &[f64]) -> f64 {
    let mut r = 0.0;
    for pair in x.windows(2) {
        let [a, b] = pair else { unreachable!() };
        r += a * b;
    }
    r
}

#[differentiable]
fn windows_by_pattern(x: &[f64]) -> f64 {
    let mut r = 0.0;
    for pair in x.windows(2) {
        if let &[a, b] = pair {
            r += a * b;
        }
    }
    r
}

#[differentiable]
fn inspected(x: &[f64]) -> f64 {
    x.iter().inspect(|_| {}).sum()
}

#[differentiable]
fn mapped_while(x: &[f64]) -> f64 {
    x.iter().map_while(|v| if *v > 0.0 { Some(v * 2.0) } else { None }).sum()
}

#[differentiable]
fn reduced(x: &[f64]) -> f64 {
    x.iter().copied().reduce(|a, b| a.max(b)).unwrap() + x.iter().copied().reduce(f64::min).unwrap()
}

#[differentiable]
fn by_parity(x: &[f64]) -> f64 {
    let mut s = [0.0; 2];
    for (k, v) in x.iter().enumerate() {
        match k % 2 {
            0 => s[0] += v,
            _ => s[1] -= v,
        }
    }
    s[0] * s[1]
}

#[differentiable]
fn each_captured(x: &[f64]) -> f64 {
    let mut m = 0.0f64;
    x.iter().for_each(|v| m = m.max(*v));
    m
}

#[differentiable]
fn sine_moment(x: &[f64]) -> f64 {
    let k = x.len();
    let h = 1.0 / k as f64;
    (0..k).map(|i| x[i] * (i as f64 * h).sin()).sum::<f64>() * h
}

#[differentiable]
fn largest_first(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| b.total_cmp(a));
    v[0]
}

macro_rules! all {
    ($($name:ident)*) => {
        [$((stringify!($name), $name as fn(&[f64]) -> f64, $name::value_and_gradient as Compiled)),*]
    };
}

type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

#[test]
fn what_people_write_has_derivatives() {
    let x = [1.3, 0.7, 2.1, -0.4, 0.95, 3.2];
    for (name, plain, compiled) in all! { mean deviation median least largest_by_fold by_length first_two_and_rest weighted backwards_by_two products_of_chunks halves residues labelled first_large largest_by_total_order largest_or_zero positive_part ends third horner pairs variation changed_copy least_by_loop squares_pushed length_of_extended filtered_loop logs_of_positive norm variance trapezoid root_of_squares least_expected inner_part even_places from_an_array rotated while_positive behind_positive last_replaced functions_by_name continued_fraction rectified exact_chunks first_positive last_positive joined reversed_and_numbered guarded_while cloned two_sums numbered_by_a_range reversed_range truth_as_number fused_and_reduced fixed_part unwrapped windows_or_unreachable windows_by_pattern inspected mapped_while reduced by_parity each_captured sine_moment largest_first }
    {
        let (value, gradient) = compiled(&x).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected = plain(&x);
        assert!((value - expected).abs() <= 1e-14 * expected.abs(), "{name}: {value} {expected}");
        println!("{name}");
        close(&gradient, &differences(plain, &x));
    }
}
