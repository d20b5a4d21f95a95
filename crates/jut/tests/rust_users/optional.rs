//! Options in lists, and options of lists, as parameters.

use jut::differentiable;

#[differentiable]
fn measured(readings: &[Option<f64>], scale: f64) -> f64 {
    let mut s = 0.0;
    let mut last = 1.0;
    for (i, r) in readings.iter().enumerate() {
        match r {
            Some(v) if *v > 0.0 => {
                s += scale * v * v;
                last = *v;
            }
            Some(v) => s -= v,
            None => s += last * (i as f64 + 1.0),
        }
    }
    s
}

#[differentiable]
fn known(readings: &[Option<f64>]) -> f64 {
    let n = readings.iter().flatten().count();
    readings.iter().flatten().map(|v| v * v).sum::<f64>() / n as f64
        + readings.iter().map(|r| r.unwrap_or(0.5)).product::<f64>()
        + readings.iter().filter_map(|r| r.map(|v| 2.0 * v)).sum::<f64>()
        + readings[0].map_or(0.25, |v| v * 3.0)
}

#[differentiable]
fn filled(readings: &[Option<f64>], other: f64) -> Vec<Option<f64>> {
    readings.iter().map(|r| r.or(Some(other))).collect()
}

#[differentiable]
fn weighted(x: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        Some(w) => x.iter().zip(w).map(|(x, w)| x * x * w).sum(),
        None => x.iter().map(|x| x * x).sum(),
    }
}

#[differentiable]
fn prior(x: &[f64], centre: Option<&[f64]>, rate: Option<&Vec<f64>>) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let c = centre.map_or(1.0, |c| c[i]);
        s += (x[i] - c).powi(2);
    }
    if let Some(r) = rate {
        s *= r.iter().sum::<f64>();
    }
    s + if centre.is_none() { 1.0 } else { x[0] }
}

#[differentiable]
fn both(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|v| v * v).collect();
    weighted(x, Some(&w)) + weighted(x, None) + prior(x, Some(x), None)
}

#[differentiable]
fn defaulted(x: &[f64], weights: Option<&[f64]>) -> f64 {
    let w = match weights {
        Some(w) => w.to_vec(),
        None => vec![1.0; x.len()],
    };
    x.iter().zip(&w).map(|(x, w)| x * x * w).sum::<f64>() / w.iter().sum::<f64>()
}

#[test]
fn options() {
    let r = [Some(1.5), None, Some(-0.5), Some(2.0)];
    let (value, (by_r, by_s)) = measured::value_and_gradient(&r, 0.7).unwrap();
    assert_eq!(value, measured(&r, 0.7));
    assert_eq!(by_r, [(2.0 * 0.7 * 1.5 + 2.0,), (0.0,), (-1.0,), (2.0 * 0.7 * 2.0,)]);
    assert_eq!(by_s, 1.5 * 1.5 + 4.0);
    assert_eq!(known::value(&r).unwrap(), known(&r));
    assert_eq!(known::value(&r[1..]).unwrap(), known(&r[1..]));
    let by = known::gradient(&r).unwrap();
    for k in [0, 2, 3] {
        let at = |h: f64| {
            let mut r = r;
            r[k] = r[k].map(|v| v + h);
            known(&r)
        };
        assert!((by[k].0 - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-6);
    }
    assert_eq!(filled::value(&r, 3.0).unwrap(), filled(&r, 3.0));
    let (v, t) = measured::jvp(&r, 0.7, &[(1.0,), (5.0,), (0.0,), (0.0,)], 0.0).unwrap();
    assert_eq!((v, t), (value, by_r[0].0));
}

#[test]
fn options_of_lists() {
    let x = [1.0, 2.0, 3.0];
    let w = [0.5, 0.25, 2.0];
    assert_eq!(weighted::value(&x, None).unwrap(), weighted(&x, None));
    assert_eq!(weighted::value(&x, Some(&w)).unwrap(), weighted(&x, Some(&w)));
    let (by_x, by_w) = weighted::gradient(&x, Some(&w)).unwrap();
    assert_eq!((by_x, by_w), (vec![1.0, 1.0, 12.0], vec![1.0, 4.0, 9.0]));
    let (by_x, by_w) = weighted::gradient(&x, None).unwrap();
    assert_eq!((by_x, by_w), (vec![2.0, 4.0, 6.0], vec![]));
    let v = vec![2.0, 1.0];
    for (c, r) in [(None, None), (Some(&w[..]), None), (None, Some(&v)), (Some(&w[..]), Some(&v))] {
        assert_eq!(prior::value(&x, c, r).unwrap(), prior(&x, c, r));
        let (value, (by_x, by_c, by_r)) = prior::value_and_gradient(&x, c, r).unwrap();
        assert_eq!(value, prior(&x, c, r));
        assert_eq!(
            (by_x.len(), by_c.len(), by_r.len()),
            (3, c.map_or(0, |c| c.len()), r.map_or(0, |r| r.len()))
        );
    }
    let (value, by) = both::value_and_gradient(&x).unwrap();
    assert_eq!(value, both(&x));
    for k in 0..3 {
        let at = |h: f64| {
            let mut x = x;
            x[k] += h;
            both(&x)
        };
        assert!((by[k] - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-4);
    }
    for w in [None, Some(&w[..])] {
        let (value, _) = defaulted::value_and_gradient(&x, w).unwrap();
        assert_eq!(value, defaulted(&x, w));
    }
}

#[differentiable]
fn by_methods(x: &[f64], weights: Option<&[f64]>, shift: Option<&[f64]>) -> f64 {
    let ones = vec![1.0; x.len()];
    let w = weights.unwrap_or(&ones);
    let s: Vec<f64> = shift.map(|s| s.to_vec()).unwrap_or_else(|| vec![0.5; 1]);
    let both = if let Some(s) = shift { s.iter().map(|v| v * v).collect() } else { vec![2.0] };
    let total = shift.map_or(3.0, |s| s.iter().sum());
    x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() * s.iter().sum::<f64>()
        + both.iter().product::<f64>()
        + total
}

#[test]
fn lists_or_others() {
    let x = [1.0, 2.0, 3.0];
    let (w, s) = ([0.5, 0.25, 2.0], [1.5, 0.5]);
    for (w, s) in
        [(None, None), (Some(&w[..]), None), (None, Some(&s[..])), (Some(&w[..]), Some(&s[..]))]
    {
        let (value, (by_x, ..)) = by_methods::value_and_gradient(&x, w, s).unwrap();
        assert_eq!(value, by_methods(&x, w, s));
        for k in 0..3 {
            let at = |h: f64| {
                let mut x = x;
                x[k] += h;
                by_methods(&x, w, s)
            };
            assert!((by_x[k] - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-4);
        }
    }
}

#[differentiable]
fn of_points(points: &[Option<[f64; 2]>]) -> f64 {
    points.iter().flatten().map(|p| p[0] * p[1]).sum()
}

#[differentiable]
fn of_owned(list: Vec<Option<f64>>, other: Option<Vec<f64>>, counts: &[Option<usize>; 2]) -> f64 {
    let first = list.iter().filter_map(|v| *v).sum::<f64>();
    let second: f64 = other.map_or(1.0, |o| o.iter().product());
    first * second * counts.iter().map(|c| c.unwrap_or(3)).sum::<usize>() as f64
}

#[test]
fn other_lists() {
    let points = [Some([1.0, 2.0]), None, Some([3.0, 5.0])];
    assert_eq!(of_points::value(&points).unwrap(), of_points(&points));
    let by = of_points::gradient(&points).unwrap();
    assert_eq!(by, [([2.0, 1.0],), ([0.0, 0.0],), ([5.0, 3.0],)]);
    for other in [None, Some(vec![2.0, 4.0])] {
        let list = vec![Some(0.5), None];
        let value = of_owned::value(list.clone(), other.clone(), &[None, Some(2)]).unwrap();
        assert_eq!(value, of_owned(list.clone(), other.clone(), &[None, Some(2)]));
        let (by_list, by_other) =
            of_owned::gradient(list, other.clone(), &[None, Some(2)]).unwrap();
        let second = other.as_ref().map_or(1.0, |o| o.iter().product());
        assert_eq!(by_list, [(5.0 * second,), (0.0,)]);
        assert_eq!(by_other, other.map_or(vec![], |_| vec![10.0, 5.0]));
    }
}
