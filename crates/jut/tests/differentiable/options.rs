//! `Option` as a parameter and as a result.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Prior {
    mean: f64,
    width: f64,
}

#[differentiable]
fn penalised(x: &[f64], prior: Option<Prior>, limit: Option<f64>) -> f64 {
    let mut s = x.iter().map(|v| v * v).sum::<f64>();
    if let Some(p) = prior {
        s += ((x[0] - p.mean) / p.width).powi(2);
    }
    s.min(limit.unwrap_or(1e6))
}

#[differentiable]
fn crossing(x: &[f64], level: f64) -> Option<f64> {
    for i in 1..x.len() {
        if x[i - 1] < level && x[i] >= level {
            return Some(i as f64 - (x[i] - level) / (x[i] - x[i - 1]));
        }
    }
    None
}

#[differentiable]
fn least(x: &[Prior]) -> Option<Prior> {
    if x.is_empty() {
        return None;
    }
    let mut best = x[0];
    for p in x {
        if p.width < best.width {
            best = *p;
        }
    }
    Some(best)
}

#[differentiable]
fn times(x: &[f64], level: &Option<f64>, n: Option<usize>) -> f64 {
    let first = crossing(x, level.unwrap_or(0.5)).unwrap_or(-1.0);
    let second = match crossing(x, 1.5) {
        Some(t) => t * t,
        None => 0.25,
    };
    let none: Option<Prior> = None;
    let p = Prior { mean: 0.5, width: 2.0 };
    let Some(third) = crossing(x, 0.1) else { return first * second };
    let k = n.unwrap_or(1) as f64;
    k * first + second + third + penalised(x, Some(p), *level) + penalised(x, none, None)
}

#[differentiable(wrt(limit))]
fn by_the_limit(n: usize, prior: Option<Prior>, limit: Option<f64>) -> f64 {
    penalised(&vec![3.0; n], prior, limit)
}

#[test]
fn options_are_parameters_and_results() {
    let x = [0.0, 0.4, 1.0, 2.5];
    let prior = Some(Prior { mean: 0.5, width: 2.0 });
    for (prior, limit) in [(None, None), (prior, None), (prior, Some(3.0)), (None, Some(100.0))] {
        same(penalised::value(&x, prior, limit).unwrap(), penalised(&x, prior, limit));
        let (by_x, by_prior, by_limit) = penalised::gradient(&x, prior, limit).unwrap();
        close(&by_x, &differences(|x| penalised(x, prior, limit), &x));
        match prior {
            None => assert_eq!(by_prior, Prior { mean: 0.0, width: 0.0 }),
            Some(p) => {
                let f = |q: &[f64]| penalised(&x, Some(Prior { mean: q[0], width: q[1] }), limit);
                close(&[by_prior.mean, by_prior.width], &differences(f, &[p.mean, p.width]));
            }
        }
        assert_eq!(by_limit, if limit == Some(3.0) { 1.0 } else { 0.0 });
        assert_eq!(
            by_the_limit::gradient(2, prior, limit).unwrap(),
            if limit == Some(3.0) { 1.0 } else { 0.0 }
        );
        for n in [None, Some(3)] {
            same(times::value(&x, &limit, n).unwrap(), times(&x, &limit, n));
            let (by_x, by_limit) = times::gradient(&x, &limit, n).unwrap();
            close(&by_x, &differences(|x| times(x, &limit, n), &x));
            if let Some(limit) = limit {
                close(&[by_limit], &differences(|l| times(&x, &Some(l[0]), n), &[limit]));
            }
        }
    }
    assert_eq!(crossing::value(&x, 0.5).unwrap(), crossing(&x, 0.5));
    assert_eq!(crossing::value(&x, 9.0).unwrap(), None);
    let (value, by) = crossing::vjp(&x, 0.7, &(1.0,)).unwrap();
    assert_eq!(value, crossing(&x, 0.7));
    close(&by.0, &differences(|x| crossing(x, 0.7).unwrap(), &x));
    let (value, tangent) = crossing::jvp(&x, 0.7, &[0.0; 4], 1.0).unwrap();
    assert_eq!((value, tangent.0), (crossing(&x, 0.7), by.1));
    let all = [Prior { mean: 1.0, width: 2.0 }, Prior { mean: 3.0, width: 1.0 }];
    assert_eq!(least::value(&all).unwrap(), least(&all));
    assert_eq!(least::value(&[]).unwrap(), None);
}

#[differentiable]
fn in_any_case(x: &[f64], i: usize) -> f64 {
    x.first().copied().unwrap_or(x[i]) + x.last().map_or(x[i + 1], |v| v * 2.0)
}

#[test]
fn arguments_are_computed_whether_they_are_needed_or_not() {
    assert_eq!(in_any_case::value(&[2.0, 4.0], 0).unwrap(), in_any_case(&[2.0, 4.0], 0));
    assert_eq!(in_any_case::value(&[2.0, 4.0], 1).unwrap_err().code(), Some("R01"));
    assert_eq!(in_any_case::value(&[2.0, 4.0], 7).unwrap_err().code(), Some("R01"));
}
