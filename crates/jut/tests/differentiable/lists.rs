//! Lists whose length is not known before.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[track_caller]
fn all_same(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| same(*a, *b));
}

#[differentiable]
fn positive(x: &[f64]) -> Vec<f64> {
    let mut kept = Vec::new();
    for v in x {
        if *v > 0.0 {
            kept.push(v * v);
        } else if *v < -1.0 {
            kept.push(-v);
            kept.push(v.sqrt().max(0.5));
        }
    }
    kept
}

#[differentiable]
fn steps(h: f64, end: f64) -> Vec<f64> {
    let mut times = vec![0.0];
    let (mut t, mut step) = (0.0, h);
    while t < end {
        t += step;
        step *= 1.5;
        if t > 0.3 {
            times.push(t);
        }
    }
    times.push(step);
    times
}

#[differentiable]
fn until(x: &[f64], limit: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(x.len());
    let mut sum = 0.0;
    let mut k = 0;
    loop {
        if k == x.len() {
            break;
        }
        k += 1;
        if x[k - 1] < 0.0 {
            continue;
        }
        sum += x[k - 1];
        if sum > limit {
            break;
        }
        found.push(sum);
    }
    found
}

#[differentiable]
fn pairs(x: &[f64]) -> Vec<f64> {
    let mut products = Vec::new();
    let mut places = Vec::new();
    for i in 0..x.len() {
        for j in 0..i {
            products.push(x[i] * x[j]);
            if i + j > 2 {
                places.push(i * j);
            }
        }
        products.extend_from_slice(&x[..i]);
    }
    for (k, p) in places.iter().enumerate() {
        products[k] *= *p as f64;
    }
    products
}

#[differentiable]
fn rows_of_lists(x: &[f64]) -> f64 {
    let mut means = Vec::new();
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut near = Vec::new();
        for v in x {
            if (v - x[i]).abs() < 1.0 {
                near.push(*v);
                total += 1.0;
            }
        }
        if near.len() > 1 {
            means.push(near.iter().sum::<f64>() / near.len() as f64);
        }
    }
    means.iter().map(|m| m * m).sum::<f64>() + total
}

#[differentiable]
fn if_and_match(x: f64, kind: usize) -> Vec<f64> {
    let mut v = vec![x];
    if x > 1.0 {
        v.push(2.0 * x);
    }
    match kind {
        0 => v.push(x * x),
        1 => v.extend(vec![x, 3.0]),
        _ => {}
    }
    v
}

#[differentiable]
fn by_a_closure(x: &[f64]) -> Vec<f64> {
    let mut last = 0.0;
    let mut moved = |v: f64| {
        last += v;
        last
    };
    let mut out = Vec::new();
    for v in x {
        let sum = moved(*v);
        if sum > 0.5 {
            out.push(sum);
        }
    }
    out.push(last);
    out
}

#[differentiable]
fn behind_a_return(x: &[f64], low: f64) -> f64 {
    let mut kept = vec![low];
    let mut sums: Vec<f64> = Vec::new();
    if x.len() < 2 {
        return kept[0];
    }
    kept.push(x[0]);
    for v in x {
        if *v < low {
            continue;
        }
        let mut parts = Vec::new();
        if *v < 0.0 {
            continue;
        }
        for w in x {
            if w < v {
                parts.push(w * v);
            }
        }
        parts.push(*v);
        sums.push(parts.iter().sum());
    }
    kept.extend(sums);
    let Some(last) = x.last() else { return 0.5 };
    kept.push(*last);
    kept.iter().fold(1.0, |a, k| a * 0.5 + k)
}

#[test]
fn lists_grow_in_branches_and_loops() {
    for x in [&[0.55, -2.0, 3.0, 0.1, -0.5, 1.25][..], &[], &[-1.0], &[0.4, 0.3]] {
        all_same(&positive::value(x).unwrap(), &positive(x));
        all_same(&until::value(x, 3.0).unwrap(), &until(x, 3.0));
        all_same(&pairs::value(x).unwrap(), &pairs(x));
        all_same(&by_a_closure::value(x).unwrap(), &by_a_closure(x));
        same(behind_a_return::value(x, -0.75).unwrap(), behind_a_return(x, -0.75));
        let by = behind_a_return::gradient(x, -0.75).unwrap().0;
        close(&by, &differences(|x| behind_a_return(x, -0.75), x));
        same(rows_of_lists::value(x).unwrap(), rows_of_lists(x));
        close(&rows_of_lists::gradient(x).unwrap(), &differences(rows_of_lists, x));
        let (value, by_x) = pairs::vjp(x, &vec![1.0; pairs(x).len()]).unwrap();
        all_same(&value, &pairs(x));
        close(&by_x, &differences(|x| pairs(x).iter().sum(), x));
    }
    for (h, end) in [(0.1, 1.0), (0.25, 0.0), (0.4, 2.0)] {
        all_same(&steps::value(h, end).unwrap(), &steps(h, end));
    }
    assert_eq!(steps::jvp(0.1, 1.0, 1.0, 0.0).unwrap().1[1..3], [4.75, 8.125]);
    for (x, kind) in [(0.5, 0), (1.5, 1), (1.5, 2)] {
        all_same(&if_and_match::value(x, kind).unwrap(), &if_and_match(x, kind));
    }
}

#[differentiable]
fn chosen(x: &[f64], y: &[f64]) -> Vec<f64> {
    let big: Vec<f64> = x.iter().zip(y).filter(|(a, b)| a > b).map(|(a, b)| a * b).collect();
    let first: Vec<f64> = x.iter().copied().take_while(|v| *v < 2.0).collect();
    let all = (0..x.len()).flat_map(|i| (0..i).map(move |j| x[j] + i as f64)).collect::<Vec<_>>();
    let odd: Vec<usize> = (0..x.len()).filter(|i| i % 2 == 1).collect();
    let mut out = vec![big.len() as f64, odd.len() as f64];
    out.extend(big);
    out.extend(first.iter().map(|v| v.exp2()));
    out.extend_from_slice(&all);
    out.extend(odd.iter().map(|i| y[*i]));
    out
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Knot {
    at: f64,
    height: f64,
}

#[differentiable]
fn knots(points: &[Knot], low: f64) -> f64 {
    let mut kept = Vec::new();
    for p in points {
        if p.height > low {
            kept.push(*p);
            kept.push(Knot { at: p.at + 1.0, height: p.height * low });
        }
    }
    let mut area = 0.0;
    for w in kept.windows(2) {
        area += (w[1].at - w[0].at) * (w[0].height + w[1].height);
    }
    area
}

#[test]
fn what_is_filtered_is_collected() {
    for x in [&[0.55, 1.9, 3.0, 0.1, -0.5, 1.25][..], &[], &[2.5]] {
        let y: Vec<f64> = x.iter().map(|v| v * v - 1.0).collect();
        let (ours, rust) = (chosen::value(x, &y).unwrap(), chosen(x, &y));
        close(&ours, &rust);
        let (_, (by_x, _)) = chosen::vjp(x, &y, &vec![1.0; rust.len()]).unwrap();
        close(&by_x, &differences(|x| chosen(x, &y).iter().sum(), x));
    }
    let points: Vec<Knot> =
        (0..5).map(|k| Knot { at: k as f64 * 2.5, height: (k as f64).cos() }).collect();
    same(knots::value(&points, 0.1).unwrap(), knots(&points, 0.1));
    let (by_points, by_low) = knots::gradient(&points, 0.1).unwrap();
    close(&[by_low], &differences(|p| knots(&points, p[0]), &[0.1]));
    assert_eq!((by_points.len(), by_points[2].height), (5, 0.0));
}
