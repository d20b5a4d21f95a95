//! Lists that are sorted and rearranged, lists of tuples, and values that come behind their declaration.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Star {
    mass: f64,
    number: usize,
    place: [f64; 2],
}

#[differentiable]
fn weighted(stars: &[Star], k: usize) -> f64 {
    let mut all = stars.to_vec();
    match k {
        0 => all.sort_by(|a, b| a.mass.partial_cmp(&b.mass).unwrap()),
        1 => all.sort_by(|a, b| b.number.cmp(&a.number)),
        2 => all.sort_by_key(|star| star.number % 3),
        _ => all[1..]
            .sort_unstable_by(|a, b| (b.place[0] * b.mass).total_cmp(&(a.place[0] * a.mass))),
    }
    let mut s = 0.0;
    for (i, star) in all.iter().enumerate() {
        s += star.mass * star.place[1] * (i * i) as f64;
    }
    s
}

#[differentiable]
fn quantiles(x: &[f64], n: &[usize]) -> Vec<f64> {
    let mut v = x.to_vec();
    v.sort_by(f64::total_cmp);
    let mut order: Vec<usize> = (0..n.len()).collect();
    order.sort_by_key(|i| n[*i]);
    let mut least = n.to_vec();
    least.sort_unstable();
    least.reverse();
    order.iter().zip(&least).map(|(i, l)| v[*i % x.len()] + *l as f64).collect()
}

#[differentiable]
fn narrow(x: &[f32]) -> Vec<f32> {
    let mut v = x.to_vec();
    v.sort_by(|a, b| b.total_cmp(a));
    v.rotate_right(1);
    v
}

#[test]
fn lists_are_sorted_as_in_rust() {
    let star = |k: usize| Star {
        mass: [0.5, 2.0, 0.5, 1.25, 3.0][k],
        number: [3, 1, 4, 1, 5][k],
        place: [k as f64 - 2.5, 1.0 + 0.1 * k as f64],
    };
    for n in 1..=5 {
        let stars: Vec<Star> = (0..n).map(star).collect();
        for k in 0..4 {
            same(weighted::value(&stars, k).unwrap(), weighted(&stars, k));
            let by_stars = weighted::gradient(&stars, k).unwrap();
            for (i, by) in by_stars.iter().enumerate() {
                let at = |x: &[f64]| {
                    let mut stars = stars.clone();
                    stars[i].place[1] = x[0];
                    weighted(&stars, k)
                };
                close(&[by.place[1]], &differences(at, &[stars[i].place[1]]));
            }
        }
    }
    let x = [0.0, -0.0, 1.0, -3.0, f64::INFINITY, 0.0];
    let n = [5, 3, 3, 0, 1];
    let (ours, rust) = (quantiles::value(&x, &n).unwrap(), quantiles(&x, &n));
    ours.iter().zip(&rust).for_each(|(a, b)| same(*a, *b));
    assert_eq!(narrow::value(&[1.0, -2.0, 3.5]).unwrap(), narrow(&[1.0, -2.0, 3.5]));
}

#[differentiable]
fn middle(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    v[v.len() / 2]
}

#[differentiable]
fn turned(x: &[f64; 3], k: usize) -> [f64; 3] {
    let mut y = *x;
    y.rotate_left(k);
    y
}

#[test]
fn what_has_no_order_is_an_error() {
    assert_eq!(middle::value(&[f64::NAN, 1.0]).unwrap_err().code(), Some("R12"));
    assert!(middle::value(&[f64::NAN]).unwrap().is_nan());
    assert_eq!(turned::value(&[1.0, 2.0, 3.0], 3).unwrap(), turned(&[1.0, 2.0, 3.0], 3));
    assert_eq!(turned::value(&[1.0, 2.0, 3.0], 1).unwrap(), turned(&[1.0, 2.0, 3.0], 1));
    assert_eq!(turned::value(&[1.0, 2.0, 3.0], 4).unwrap_err().code(), Some("R12"));
}

#[differentiable]
fn line(p: (f64, f64), data: &[(f64, f64)]) -> f64 {
    let far: Vec<(usize, f64)> =
        data.iter().enumerate().map(|(i, (x, y))| (i, y - p.0 - p.1 * x)).collect();
    let mut s = 0.0;
    for (i, r) in &far {
        s += r * r / (1.0 + *i as f64);
    }
    data.iter().map(|&(x, _)| x).sum::<f64>() + s + far[0].1
}

#[differentiable]
fn edges(x: &[(f64, [f64; 2])]) -> Vec<(f64, [f64; 2])> {
    let mut y = x.to_vec();
    for (a, b) in y.iter_mut().zip(x) {
        a.0 = b.0 * b.1[0];
        a.1[1] = 2.0 * b.0;
    }
    y
}

#[test]
fn lists_of_tuples() {
    let data = [(0.0, 1.0), (1.0, 2.5), (2.0, 3.0)];
    same(line::value((0.5, 1.5), &data).unwrap(), line((0.5, 1.5), &data));
    let (by_p, by_data) = line::gradient((0.5, 1.5), &data).unwrap();
    close(&[by_p.0, by_p.1], &differences(|p| line((p[0], p[1]), &data), &[0.5, 1.5]));
    let at = |x: &[f64]| line((0.5, 1.5), &[data[0], (x[0], x[1]), data[2]]);
    close(&[by_data[1].0, by_data[1].1], &differences(at, &[1.0, 2.5]));
    let x = [(1.0, [2.0, 3.0]), (4.0, [5.0, 6.0])];
    assert_eq!(edges::value(&x).unwrap(), edges(&x));
    let (_, tangent) = edges::jvp(&x, &[(1.0, [0.0, 0.0]), (0.0, [1.0, 1.0])]).unwrap();
    assert_eq!(tangent, [(2.0, [0.0, 2.0]), (4.0, [1.0, 0.0])]);
}

#[differentiable]
fn late(x: f64, n: usize) -> f64 {
    let (sign, scaled);
    if x < 0.0 {
        sign = -1.0;
        scaled = [x, 2.0];
    } else {
        sign = 1.0;
        scaled = [2.0 * x, x * x];
    }
    let k: usize;
    k = n * 2;
    sign * scaled[k % 2] * scaled[1]
}

#[differentiable]
fn early(x: &[f64], limit: f64) -> f64 {
    let found = 'search: {
        for v in x {
            if *v > limit {
                break 'search v * v;
            }
        }
        if x.is_empty() {
            break 'search limit;
        }
        x[0]
    };
    let mut s = 'whole: { break 'whole found };
    'rest: {
        if s > 10.0 {
            break 'rest;
        }
        s += 1.0;
    }
    s
}

#[differentiable]
fn outer(x: &[f64; 3], y: &[f64; 2]) -> [[f64; 2]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| x[i] * y[j]))
}

#[differentiable]
fn flat(x: &[[f64; 2]]) -> Vec<f64> {
    let squares: [f64; 4] = std::array::from_fn(|i| (i * i) as f64);
    let mut all = x.concat();
    for (a, s) in std::iter::zip(&mut all, squares) {
        *a *= s;
    }
    all
}

#[differentiable]
fn options(x: &[f64], k: usize) -> f64 {
    let found = x.iter().copied().find(|v| *v > 1.0);
    let small = found.filter(|v| *v < 2.0).or(x.first().copied());
    let next = small.and_then(|v| if v > 0.5 { Some(v * v) } else { None });
    let last = next.or_else(|| Some(0.25));
    last.unwrap_or_default() + x.get(k).copied().unwrap_or_default()
}

#[test]
fn values_come_late_and_leave_early() {
    for x in [-1.5, 0.0, 2.0] {
        same(late::value(x, 3).unwrap(), late(x, 3));
        same(early::value(&[0.5, x, 4.0], 1.0).unwrap(), early(&[0.5, x, 4.0], 1.0));
        same(options::value(&[x, 1.5, 3.0], 1).unwrap(), options(&[x, 1.5, 3.0], 1));
    }
    same(early::value(&[], 1.0).unwrap(), early(&[], 1.0));
    same(options::value(&[], 1).unwrap(), options(&[], 1));
    assert_eq!(late::gradient(2.0, 3).unwrap(), 24.0);
    assert_eq!(early::gradient(&[0.5, 3.0], 1.0).unwrap(), (vec![0.0, 6.0], 0.0));
    let (x, y) = ([1.0, 2.0, 3.0], [4.0, 5.0]);
    assert_eq!(outer::value(&x, &y).unwrap(), outer(&x, &y));
    assert_eq!(flat::value(&[y, y]).unwrap(), flat(&[y, y]));
}
