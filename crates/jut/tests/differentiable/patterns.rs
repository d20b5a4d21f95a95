//! Patterns of `match` and `if let`: names of what fits, ranges with one end, constants, cases that bind names, `..` behind components.

use super::{close, differences, same};
use jut::math::{exp, log};
use jut::{Data, differentiable};

mod kinds {
    pub const CUBIC: i64 = 3;
}
const LINEAR: i64 = 1;
const QUADRATIC: i64 = 2;
const LIMIT: usize = 4;
const EDGE: f64 = 0.5;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Round(f64),
    Ring(f64, f64),
    Box(f64, f64, i64),
    Tilted { w: f64, h: f64, angle: f64 },
    Nothing,
}

#[differentiable]
fn by_number(k: i64, x: f64) -> f64 {
    match k {
        ..=-1 => -x,
        0 => 1.0,
        LINEAR => x,
        QUADRATIC | kinds::CUBIC => x * x * k as f64,
        n @ 4..=5 => x * n as f64,
        n @ (6 | 8) => x / n as f64,
        10.. => exp(x),
        _ => log(x),
    }
}

#[differentiable]
fn by_both(k: i64, x: f64) -> f64 {
    match (k, x) {
        (0, ..) => x,
        (LINEAR, v) if v > EDGE => v * v,
        (n @ ..=2, v) | (n, v @ 3.0..) => v * v * v * n as f64,
        (n, ..) if n < LIMIT as i64 => x / n as f64,
        (_, EDGE) => 7.0 * x,
        _ => exp(-x),
    }
}

#[differentiable]
impl Shape {
    fn area(&self) -> f64 {
        match *self {
            Shape::Round(r) | Shape::Ring(r, ..) if r > 2.0 => 3.0 * r * r,
            Shape::Round(r) => 4.0 * r,
            Shape::Box(w, h, _) | Shape::Tilted { w, h, .. } => w * h,
            Shape::Ring(outer, inner) => outer * outer - inner * inner,
            Shape::Nothing => 0.0,
        }
    }
}

/// Arms of several cases with jumps in them.
#[differentiable]
fn until(shapes: &[Shape], limit: f64) -> f64 {
    let mut total = 0.0;
    for shape in shapes {
        let size = match shape {
            Shape::Round(r) | Shape::Ring(r, _) => *r,
            Shape::Tilted { angle, .. } if *angle < 0.0 => return -angle,
            Shape::Box(_, _, n @ 3..) => *n as f64,
            Shape::Box(w, ..) | Shape::Tilted { w, .. } => w * w,
            Shape::Nothing => continue,
        };
        total += size * size;
        if total > limit {
            break;
        }
    }
    total
}

#[differentiable]
fn in_conditions(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate() {
        if let LIMIT.. = i {
            s += v * 2.0;
        } else if let (k @ 1..=2, ..) = (i, v) {
            s += v * v * k as f64;
        } else {
            s += exp(*v);
        }
    }
    s
}

#[test]
fn numbers_and_pairs() {
    for k in -2..13 {
        for x in [0.3, 0.5, 2.5, 3.5] {
            same(by_number::value(k, x).unwrap(), by_number(k, x));
            let slope = differences(|x| by_number(k, x[0]), &[x]);
            close(&[by_number::gradient(k, x).unwrap()], &slope);
            same(by_both::value(k, x).unwrap(), by_both(k, x));
            if x != EDGE {
                let slope = differences(|x| by_both(k, x[0]), &[x]);
                close(&[by_both::gradient(k, x).unwrap()], &slope);
            }
        }
    }
}

fn shapes(x: &[f64]) -> [Shape; 7] {
    [
        Shape::Round(x[0]),
        Shape::Ring(x[1], x[2]),
        Shape::Nothing,
        Shape::Box(x[3], x[4], 2),
        Shape::Round(3.0 * x[0]),
        Shape::Tilted { w: x[2], h: x[3], angle: x[5] },
        Shape::Ring(x[4], x[5]),
    ]
}

#[test]
fn cases_that_bind_names() {
    let x = [1.5, 2.5, 0.75, 1.25, 0.5, 0.25];
    let by = |g: &ShapeGrad| {
        [g.round, g.ring_0, g.ring_1, g.box_0, g.box_1, g.tilted_w, g.tilted_h, g.tilted_angle]
    };
    for (k, shape) in shapes(&x).into_iter().enumerate() {
        same(Shape_area::value(&shape).unwrap(), shape.area());
        let gradient = by(&Shape_area::gradient(&shape).unwrap());
        let differences = differences(|x| shapes(x)[k].area(), &x);
        // By the numbers that the shape is made of.
        let own: [f64; 6] = match k {
            0 => [gradient[0], 0.0, 0.0, 0.0, 0.0, 0.0],
            1 => [0.0, gradient[1], gradient[2], 0.0, 0.0, 0.0],
            3 => [0.0, 0.0, 0.0, gradient[3], gradient[4], 0.0],
            4 => [3.0 * gradient[0], 0.0, 0.0, 0.0, 0.0, 0.0],
            5 => [0.0, 0.0, gradient[5], gradient[6], 0.0, gradient[7]],
            6 => [0.0, 0.0, 0.0, 0.0, gradient[1], gradient[2]],
            _ => [0.0; 6],
        };
        close(&own, &differences);
    }
    for (angle, limit) in [(0.25, 100.0), (0.25, 9.0), (-0.25, 100.0)] {
        let mut all = shapes(&x).to_vec();
        all[5] = Shape::Tilted { w: 0.75, h: 1.25, angle };
        all.push(Shape::Box(1.0, 2.0, 5));
        same(until::value(&all, limit).unwrap(), until(&all, limit));
        let (by_shapes, _) = until::gradient(&all, limit).unwrap();
        let of_first = differences(
            |x| {
                let mut all = all.clone();
                all[0] = Shape::Round(x[0]);
                until(&all, limit)
            },
            &[x[0]],
        );
        close(&[by_shapes[0].round], &of_first);
    }
}

#[test]
fn patterns_in_conditions() {
    agree! {
        in_conditions at [0.5, 1.5, -0.25, 2.0, 0.75, 1.0], [], [0.3];
    }
}

/// Guards that may fail are computed where their pattern fits.
#[differentiable]
fn by_neighbours(x: &[f64], k: usize) -> f64 {
    let first = match x.get(k) {
        Some(v) if x[k + 1] > *v => v * 2.0,
        Some(v) => *v,
        None => x[0],
    };
    first
        + match k {
            n if n < x.len() && x[n] > 1.0 => x[n],
            n if x[n - 1] > 0.5 => x[n - 1] * 2.0,
            n if (2..7).contains(&n) => 0.75,
            _ => 0.5 * x[0],
        }
}

#[test]
fn guards_fail_where_rust_does() {
    let x = [0.75, 0.25, 2.0, 1.25];
    for k in [1, 2, 4] {
        same(by_neighbours::value(&x, k).unwrap(), by_neighbours(&x, k));
        let by_x = by_neighbours::gradient(&x, k).unwrap();
        close(&by_x, &differences(|x| by_neighbours(x, k), &x));
    }
    assert_eq!(by_neighbours::value(&x, 3).unwrap_err().code(), Some("R01"));
    assert_eq!(by_neighbours::value(&x, 0).unwrap_err().code(), Some("R11"));
    assert_eq!(by_neighbours::value(&[0.25, 0.5], 0).unwrap_err().code(), Some("R11"));
}
