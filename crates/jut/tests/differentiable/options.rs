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

/// The nearest pair of numbers: of what the variable is none is said where it gets a value.
#[differentiable]
fn nearest_pair(x: &[f64]) -> f64 {
    let mut best = None;
    for pair in x.chunks_exact(2) {
        let p = Prior { mean: pair[0], width: pair[1] };
        match best {
            None => best = Some(p),
            Some(Prior { width, .. }) if p.width < width => best = Some(p),
            _ => {}
        }
    }
    best.map_or(0.0, |p| p.mean * p.width)
}

#[differentiable]
fn largest_at(x: &[f64]) -> f64 {
    let mut best = None;
    for (i, &v) in x.iter().enumerate() {
        if best.map_or(true, |(_, b)| v > b) {
            best = Some((i, v));
        }
    }
    let Some((i, v)) = best else { return 0.5 };
    v * v * (i + 1) as f64
}

#[differentiable]
fn differences_since(x: &[f64]) -> f64 {
    let mut last = None;
    let mut sum = 0.0;
    for (k, &v) in x.iter().enumerate() {
        if let Some((j, w)) = last {
            sum += (v - w) / (k - j) as f64 * v;
        }
        if k % 3 == 1 {
            last = None;
        } else {
            last = Some((k, v));
        }
    }
    sum
}

#[differentiable]
fn bracketed(x: &[f64]) -> f64 {
    let mut root = None;
    let mut before: Option<f64> = None;
    for k in 0..40 {
        let t = k as f64 * 0.125;
        let f = t * t * x[0] - x[1];
        if let Some(b) = before {
            if b < 0.0 && f >= 0.0 {
                root = Some(t - 0.125 * f / (f - b));
                break;
            }
        }
        before = if f > 100.0 { None } else { Some(f) };
    }
    before = None;
    match root {
        Some(r) => r + before.unwrap_or(0.25),
        None => -1.0,
    }
}

/// Two variables of one name.
#[differentiable]
fn twice(x: &[f64]) -> f64 {
    let mut last = None;
    for (i, v) in x.iter().enumerate() {
        if *v > 0.5 {
            last = Some((i, *v));
        }
    }
    let first = last.map_or(0.25, |(i, v)| v * v * i as f64);
    let mut last = None;
    for v in x {
        last = if *v < 1.0 { Some(Prior { mean: *v, width: first }) } else { last };
    }
    last.map_or(first, |p| p.mean * p.width)
}

#[test]
fn what_a_variable_is_none_of_is_said_by_what_it_gets() {
    agree! {
        nearest_pair at [], [0.5, 2.0], [0.5, 2.0, 3.0, 1.5, 4.0, 2.5];
        largest_at at [], [0.5], [0.5, 2.0, 1.5];
        differences_since at [], [0.5], [0.5, 2.0, 1.5, 0.25, 3.0, 1.0];
        bracketed at [2.0, 3.5], [1.0, -1.0];
        twice at [], [0.25], [0.75, 2.0], [0.25, 0.75, 2.0, 0.875];
    }
}

/// A controller that has no error to compare with at first.
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Controller {
    gains: [f64; 3],
    sum: f64,
    last: Option<f64>,
    target: Option<Prior>,
}

#[differentiable]
impl Controller {
    fn new(gains: [f64; 3]) -> Self {
        Controller { gains, sum: 0.0, last: None, target: Some(Prior { mean: 0.25, width: 1.0 }) }
    }
    fn update(&mut self, error: f64, dt: f64) -> f64 {
        let error = error - self.target.map_or(0.0, |t| t.mean / t.width);
        self.sum += error * dt;
        let slope = match self.last {
            Some(last) => (error - last) / dt,
            None => 0.0,
        };
        self.last = Some(error);
        self.gains[0] * error + self.gains[1] * self.sum + self.gains[2] * slope
    }
    fn reset(&mut self) {
        self.last = None;
        self.sum = 0.0;
    }
}

#[differentiable]
fn controlled(x: &[f64]) -> f64 {
    let mut controller = Controller { gains: [x[0], x[1], x[2]], ..Default::default() };
    let mut second = Controller::new([x[2], x[1], x[0]]);
    let (mut angle, mut speed, mut cost) = (0.5, 0.0, 0.0);
    for k in 0..20 {
        let force = controller.update(-angle, 0.125) + 0.5 * second.update(angle, 0.125);
        speed += 0.125 * (angle + force);
        angle += 0.125 * speed;
        cost += angle * angle;
        if k == 9 {
            controller.reset();
            second.target = None;
        }
    }
    cost + controller.last.unwrap_or(1.0)
}

#[differentiable]
fn of_many(all: &[Controller], error: f64) -> f64 {
    let mut sum = 0.0;
    for c in all {
        if let Some(last) = c.last {
            sum += c.gains[0] * (error - last);
        }
        sum += c.sum * c.target.map_or(0.5, |t| t.mean * t.width);
    }
    sum
}

#[test]
fn options_are_fields() {
    agree! {
        controlled at [1.5, 0.25, 0.5];
    }
    let one = Controller {
        gains: [1.0, 2.0, 3.0],
        sum: 0.5,
        last: Some(0.25),
        target: Some(Prior { mean: 2.0, width: 4.0 }),
    };
    let all = [one, Controller { last: None, ..one }, Controller { target: None, ..one }];
    same(of_many::value(&all, 1.5).unwrap(), of_many(&all, 1.5));
    let (by_all, by_error) = of_many::gradient(&all, 1.5).unwrap();
    assert_eq!(by_error, 2.0);
    let by_one = ControllerGrad {
        gains: [1.25, 0.0, 0.0],
        sum: 8.0,
        last: (-1.0,),
        target: (Prior { mean: 2.0, width: 1.0 },),
    };
    let no_last = ControllerGrad { gains: [0.0; 3], last: (0.0,), ..by_one.clone() };
    let no_target = Prior { mean: 0.0, width: 0.0 };
    let no_target = ControllerGrad { sum: 0.5, target: (no_target,), ..by_one.clone() };
    assert_eq!(by_all, [by_one, no_last, no_target]);
    let (output, after) = Controller_update::value(&one, 1.0, 0.5).unwrap();
    let mut own = one;
    same(output, own.update(1.0, 0.5));
    assert_eq!(after, own);
    let (value, by_one, _) = {
        let (value, by) = Controller_update::vjp(&one, 1.0, 0.5, &(1.0, none_of(&one))).unwrap();
        (value.0, by.0, by.1)
    };
    same(value, output);
    assert_eq!(by_one.last, (-6.0,));
}

/// No cotangent of the changed controller.
fn none_of(_: &Controller) -> ControllerGrad {
    let target = (Prior { mean: 0.0, width: 0.0 },);
    ControllerGrad { gains: [0.0; 3], sum: 0.0, last: (0.0,), target }
}
