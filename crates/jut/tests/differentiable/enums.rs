//! Enums: parameters, locals, results, elements, fields of structs; `match` and `if let`; a derivative with respect to an enum
//! is the struct of all its fields with floats.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Nothing,
    Round(f64),
    Box { w: f64, h: f64, count: usize },
    Corner(Point, [f64; 2]),
}

/// Without floats.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Loss {
    Square,
    Huber,
    Power(i32),
}

/// Only one variant.
#[derive(Data, Clone, Debug, PartialEq)]
enum Only {
    It { value: f64 },
}

#[differentiable]
impl Shape {
    fn area(&self) -> f64 {
        match self {
            Shape::Nothing => 0.0,
            Self::Round(r) => 3.0 * r * r,
            Shape::Box { w, h, count } => w * h * *count as f64,
            Shape::Corner(Point { x, y: other }, by) => x * other + by[0] * by[1],
        }
    }

    fn grown(self, by: f64) -> Shape {
        match self {
            Shape::Round(r) if r > 2.0 => Shape::Box { h: r, w: by, count: 2 },
            Shape::Round(r) => Shape::Round(r * by),
            Shape::Box { w, .. } => Shape::Corner(Point { x: w, y: by }, [by, w * w]),
            other => other,
        }
    }
}

const UNIT: Shape = Shape::Round(0.5);

fn shapes(x: &[f64]) -> [Shape; 5] {
    [
        Shape::Nothing,
        Shape::Round(x[0]),
        Shape::Box { w: x[1], h: x[2], count: 3 },
        Shape::Corner(Point { x: x[3], y: x[4] }, [x[5], x[6]]),
        Shape::Round(x[7]),
    ]
}

const AT: [f64; 8] = [1.5, 2.0, -0.5, 0.25, 3.0, 1.0, 0.75, 2.5];

#[test]
fn match_and_methods() {
    for shape in shapes(&AT) {
        same(Shape_area::value(&shape).unwrap(), shape.area());
        assert_eq!(Shape_grown::value(shape, 1.5).unwrap(), shape.grown(1.5));
    }
    let zero = ShapeGrad {
        round: 0.0,
        box_w: 0.0,
        box_h: 0.0,
        corner_0: Point { x: 0.0, y: 0.0 },
        corner_1: [0.0; 2],
    };
    let by = |k: usize| Shape_area::gradient(&shapes(&AT)[k]).unwrap();
    assert_eq!(by(0), zero);
    assert_eq!(by(1), ShapeGrad { round: 9.0, ..zero.clone() });
    assert_eq!(by(2), ShapeGrad { box_w: -1.5, box_h: 6.0, ..zero.clone() });
    let corner = Point { x: 3.0, y: 0.25 };
    let expected = ShapeGrad { corner_0: corner, corner_1: [0.75, 1.0], ..zero.clone() };
    assert_eq!(by(3), expected);
    // In the other directions.
    let (_, tangent) =
        Shape_area::jvp(&Shape::Round(1.5), &ShapeGrad { round: 2.0, ..zero.clone() }).unwrap();
    assert_eq!(tangent, 18.0);
    let cotangent = ShapeGrad { box_w: 3.0, box_h: 5.0, round: 7.0, ..zero.clone() };
    let (grown, (by, by_by)) = Shape_grown::vjp(Shape::Round(2.5), 1.5, &cotangent).unwrap();
    assert_eq!(grown, Shape::Box { w: 1.5, h: 2.5, count: 2 });
    assert_eq!((by, by_by), (ShapeGrad { round: 5.0, ..zero }, 3.0));
}

/// Arrays of enums, `if let`, locals, early returns.
#[differentiable]
fn total(shapes: &[Shape], limit: f64) -> f64 {
    let mut sum = 0.0;
    let mut last = Shape::Nothing;
    for shape in shapes {
        if let Shape::Round(r) = shape
            && *r > limit
        {
            return sum * r;
        }
        if let Shape::Corner(p, _) = *shape {
            sum += p.x;
        } else if let Shape::Box { count: 3, w, .. } = last {
            sum *= w;
        } else {
            sum += 0.125;
        }
        last = shape.grown(limit);
        let unit: Shape = UNIT;
        sum += last.area() * unit.area();
    }
    if let Shape::Nothing = last {
        return sum;
    }
    let r = if let Shape::Round(r) = shapes[0] { r } else { 2.0 };
    sum * r
}

#[test]
fn arrays_and_if_let() {
    for limit in [1.0, 2.0, 3.0, 9.0] {
        let (value, (by, by_limit)) = total::value_and_gradient(&shapes(&AT), limit).unwrap();
        same(value, total(&shapes(&AT), limit));
        let flat = [
            by[1].round,
            by[2].box_w,
            by[2].box_h,
            by[3].corner_0.x,
            by[3].corner_0.y,
            by[3].corner_1[0],
            by[3].corner_1[1],
            by[4].round,
        ];
        close(&flat, &differences(|x| total(&shapes(x), limit), &AT));
        close(&[by_limit], &differences(|l| total(&shapes(&AT), l[0]), &[limit]));
        assert_eq!(by[0].round + by[1].box_w + by[2].round, 0.0);
    }
    let one = [Shape::Round(0.5), Shape::Nothing];
    assert_eq!(total::value(&one, 1.0).unwrap(), total(&one, 1.0));
    assert_eq!(total::value(&[Shape::Nothing; 0], 1.0).unwrap(), 0.0);
}

/// A choice without floats has no derivative.
#[differentiable]
fn misfit(loss: Loss, w: &[f64], x: f64) -> f64 {
    let mut s = 0.0;
    for v in w {
        let r = v - x;
        s += match loss {
            Loss::Square => r * r,
            Loss::Huber if r.abs() < 1.0 => 0.5 * r * r,
            Loss::Huber => r.abs() - 0.5,
            Loss::Power(0 | 1) => 1.0,
            Loss::Power(n) => r * n as f64,
        };
    }
    s
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Model {
    loss: Loss,
    start: Shape,
    scale: f64,
}

#[differentiable]
fn of_model(model: &Model, w: &[f64]) -> f64 {
    let Model { start, .. } = model;
    misfit(model.loss, w, start.area()) * model.scale
}

#[test]
fn enums_without_floats_and_in_structs() {
    let w = [0.5, 2.5, -1.0];
    for loss in [Loss::Square, Loss::Huber, Loss::Power(1), Loss::Power(3)] {
        let (value, (nothing, by_w, by_x)) = misfit::value_and_gradient(loss, &w, 1.25).unwrap();
        same(value, misfit(loss, &w, 1.25));
        let () = nothing;
        close(&by_w, &differences(|w| misfit(loss, w, 1.25), &w));
        close(&[by_x], &differences(|x| misfit(loss, &w, x[0]), &[1.25]));
        let (_, tangent) = misfit::jvp(loss, &w, 1.25, (), &[0.0; 3], 2.0).unwrap();
        assert_eq!(tangent, 2.0 * by_x);
        let model = |x: &[f64]| Model { loss, start: Shape::Round(x[0]), scale: x[1] };
        let at = [0.75, 1.5];
        let (value, (by, _)) = of_model::value_and_gradient(&model(&at), &w).unwrap();
        same(value, of_model(&model(&at), &w));
        let by: ModelGrad = by;
        close(&[by.start.round, by.scale], &differences(|x| of_model(&model(x), &w), &at));
    }
}

#[differentiable]
fn of_only(only: &[Only], pair: &Only) -> Only {
    let Only::It { value } = pair;
    let mut s = *value;
    for o in only {
        match o {
            Only::It { value } => s *= value,
        }
    }
    Only::It { value: s }
}

/// Several subjects, and names that other arms do not see.
#[differentiable]
fn sorted(a: Loss, b: Loss, n: i64, m: i64, x: f64) -> f64 {
    let first = match (a, b) {
        (Loss::Square, Loss::Square) => x,
        (Loss::Power(k), Loss::Power(l)) => x * (k + l) as f64,
        (_, Loss::Huber) => x * x,
        _ => 7.0,
    };
    let second = match n {
        m if m > 3 => m,
        5 => 1,
        _ => m,
    };
    first * second as f64
}

#[test]
fn patterns() {
    let only = |value: f64| Only::It { value };
    let all = [only(2.0), only(3.0)];
    assert_eq!(of_only::value(&all, &only(4.0)).unwrap(), of_only(&all, &only(4.0)));
    let cotangent = OnlyGrad { it_value: 1.0 };
    let (_, (by, by_pair)) = of_only::vjp(&all, &only(4.0), &cotangent).unwrap();
    assert_eq!((by[0].it_value, by[1].it_value, by_pair.it_value), (12.0, 8.0, 6.0));
    let losses = [Loss::Square, Loss::Huber, Loss::Power(2), Loss::Power(5)];
    for a in losses {
        for b in losses {
            for n in 2..6 {
                same(sorted::value(a, b, n, 10, 1.5).unwrap(), sorted(a, b, n, 10, 1.5));
            }
        }
    }
}

/// Arms that return, and that go on with a loop.
#[differentiable]
fn walked(shapes: &[Shape], x: f64) -> f64 {
    let mut s = x;
    for shape in shapes {
        match shape.grown(x) {
            Shape::Nothing => continue,
            Shape::Round(r) if r > 20.0 => return r * s,
            Shape::Box { count: 7, .. } => break,
            Shape::Round(r) => s += r,
            Shape::Box { w, .. } => {
                s *= w;
                if s > 50.0 {
                    return s;
                }
            }
            Shape::Corner(p, by) => {
                s += p.x * by[1] - by[0];
            }
        }
    }
    match shapes[0] {
        Shape::Round(r) => r * s,
        other => return s - other.area(),
    }
}

#[test]
fn jumps_out_of_arms() {
    for x in [0.5, 1.5, 9.0, 30.0] {
        for first in 0..5 {
            let mut all = shapes(&AT);
            all.swap(0, first);
            let (value, (_, by_x)) = walked::value_and_gradient(&all, x).unwrap();
            same(value, walked(&all, x));
            close(&[by_x], &differences(|x| walked(&all, x[0]), &[x]));
        }
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Predictor {
    Constant(f64),
    Linear { weights: Vec<f64>, bias: f64 },
    Layers(Vec<Vec<f64>>, Vec<[f64; 2]>),
}

#[differentiable]
fn predicted(model: &Predictor, x: &[f64]) -> f64 {
    match model {
        Predictor::Constant(c) => *c,
        Predictor::Linear { weights, bias } => {
            weights.iter().zip(x).map(|(w, v)| w * v).sum::<f64>() + bias
        }
        Predictor::Layers(rows, pairs) => {
            let mut s = 0.0;
            for (row, pair) in rows.iter().zip(pairs) {
                let z = row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>();
                s += pair[0] * z * z + pair[1];
            }
            s
        }
    }
}

#[differentiable]
fn fitted(x: &[f64], y: f64) -> Predictor {
    let weights: Vec<f64> = x.iter().map(|v| v * y).collect();
    Predictor::Linear { bias: weights[0], weights }
}

#[differentiable]
fn both(model: &Predictor, x: &[f64]) -> f64 {
    predicted(model, x) * predicted(&fitted(x, 2.0), x) + predicted(&Predictor::Constant(3.0), x)
}

#[test]
fn variants_have_lists() {
    let x = [1.0, 2.0, -0.5];
    let linear = Predictor::Linear { weights: vec![0.5, -1.0, 2.0], bias: 0.25 };
    let layers = Predictor::Layers(
        vec![vec![1.0, 0.5, -1.0], vec![0.25, 1.0, 2.0]],
        vec![[1.0, 2.0], [0.5, -1.0]],
    );
    for model in [Predictor::Constant(1.5), linear.clone(), layers.clone()] {
        same(predicted::value(&model, &x).unwrap(), predicted(&model, &x));
        same(both::value(&model, &x).unwrap(), both(&model, &x));
        close(&both::gradient(&model, &x).unwrap().1, &differences(|x| both(&model, x), &x));
    }
    let by = predicted::gradient(&linear, &x).unwrap().0;
    let zero = |n: usize| vec![0.0; n];
    assert_eq!((by.constant, by.linear_weights, by.linear_bias), (0.0, x.to_vec(), 1.0));
    assert_eq!((by.layers_0, by.layers_1), (vec![], vec![]));
    let by = predicted::gradient(&layers, &x).unwrap().0;
    assert_eq!((by.linear_weights, by.layers_1[0]), (zero(0), [6.25, 1.0]));
    assert_eq!(by.layers_0[0], [5.0, 10.0, -2.5]);
    let by = predicted::gradient(&Predictor::Constant(1.5), &x).unwrap().0;
    assert_eq!((by.constant, by.linear_weights.len()), (1.0, 0));
    assert_eq!(fitted::value(&x, 2.0).unwrap(), fitted(&x, 2.0));
}
