//! Arms that change what their patterns refer to: parts of enums, of trees and of options.

use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Round(f64),
    Box { w: f64, h: f64 },
    Flat,
}

#[differentiable]
fn grow(s: &mut Shape, a: f64) {
    match s {
        Shape::Round(r) => *r *= a,
        Shape::Box { w, h } => {
            *w += a;
            *h *= *w;
        }
        Shape::Flat => {}
    }
}

#[differentiable]
impl Shape {
    fn area(&self) -> f64 {
        match self {
            Shape::Round(r) => 3.0 * r * r,
            Shape::Box { w, h } => w * h,
            Shape::Flat => 0.0,
        }
    }
    /// What it was before.
    fn clipped(&mut self, most: f64) -> f64 {
        match self {
            Shape::Round(r) if *r > most => {
                let before = *r;
                *r = most;
                before
            }
            Shape::Round(r) => *r,
            Shape::Box { w, .. } => *w,
            Shape::Flat => 0.0,
        }
    }
}

#[differentiable]
fn grown(x: &[f64]) -> f64 {
    let mut all = [Shape::Round(x[0]), Shape::Box { w: x[1], h: x[2] }, Shape::Flat];
    for s in all.iter_mut() {
        grow(s, x[0]);
    }
    grow(&mut all[1], 2.0);
    let mut first = all[0];
    let before = first.clipped(0.5) * x[1];
    if let Shape::Round(r) = &mut first {
        *r += x[2];
    }
    all.iter().map(|s| s.area()).sum::<f64>() + before + first.area()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

#[differentiable]
impl Node {
    fn sum(&self) -> f64 {
        self.value * self.value
            + self.left.as_ref().map_or(0.0, |n| n.sum())
            + self.right.as_ref().map_or(0.0, |n| 2.0 * n.sum())
    }
    fn scale(&mut self, a: f64) {
        self.value *= a;
        if let Some(n) = &mut self.left {
            n.scale(a);
        }
        if let Some(n) = self.right.as_mut() {
            n.scale(a * a);
        }
    }
}

#[differentiable]
fn scaled(n: &Node, a: f64) -> f64 {
    let mut n = n.clone();
    n.scale(a);
    n.sum()
}

#[differentiable]
fn doubled(n: &mut Node, a: f64) {
    n.value *= a;
    n.scale(a);
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Expr {
    Const(f64),
    Add(Box<Expr>, Box<Expr>),
    Scaled { by: f64, of: Box<Expr> },
}

#[differentiable]
fn damp(e: &mut Expr, a: f64) {
    match e {
        Expr::Const(c) => *c *= a,
        Expr::Add(l, r) => {
            damp(l, a);
            damp(r, a * a);
        }
        Expr::Scaled { by, of } => {
            *by += a;
            damp(of, *by);
        }
    }
}

#[differentiable]
impl Expr {
    fn eval(&self) -> f64 {
        match self {
            Expr::Const(c) => *c,
            Expr::Add(l, r) => l.eval() * r.eval() + l.eval(),
            Expr::Scaled { by, of } => by * of.eval(),
        }
    }
}

#[differentiable]
fn damped(e: &Expr, a: f64) -> f64 {
    let mut e = e.clone();
    damp(&mut e, a);
    e.eval()
}

#[test]
fn shapes() {
    everywhere! {
        grown at [1.5, 0.5, 2.0], [0.25, -0.5, 1.0];
    }
    for s in [Shape::Round(2.0), Shape::Box { w: 1.0, h: 3.0 }, Shape::Flat] {
        let mut plain = s;
        grow(&mut plain, 1.5);
        assert_eq!(grow::value(&s, 1.5).unwrap(), plain);
        let before = plain.clipped(1.0);
        let mut again = s;
        grow(&mut again, 1.5);
        assert_eq!(Shape_clipped::value(&again, 1.0).unwrap(), (before, plain));
    }
}

#[test]
fn trees() {
    let leaf = |value| Some(Box::new(Node { value, left: None, right: None }));
    let n = Node { value: 2.0, left: leaf(3.0), right: leaf(-0.5) };
    assert_eq!(scaled::value(&n, 0.5).unwrap(), scaled(&n, 0.5));
    let (by_n, by_a) = scaled::gradient(&n, 0.5).unwrap();
    let slope = |f: &dyn Fn(f64) -> f64| (f(1e-6) - f(-1e-6)) / 2e-6;
    assert!((by_a - slope(&|h| scaled(&n, 0.5 + h))).abs() < 1e-6);
    // Twice the value of the right one, whose scale is a squared.
    assert_eq!(by_n.right.unwrap().value, 2.0 * 2.0 * -0.5 * 0.0625);
    let mut plain = n.clone();
    doubled(&mut plain, 3.0);
    assert_eq!(doubled::value(&n, 3.0).unwrap(), plain);

    let e = Expr::Add(
        Box::new(Expr::Const(2.0)),
        Box::new(Expr::Scaled { by: 0.5, of: Box::new(Expr::Const(3.0)) }),
    );
    let mut plain = e.clone();
    damp(&mut plain, 0.75);
    assert_eq!(damp::value(&e, 0.75).unwrap(), plain);
    assert_eq!(damped::value(&e, 0.75).unwrap(), damped(&e, 0.75));
    let (by_e, by_a) = damped::gradient(&e, 0.75).unwrap();
    assert!((by_a - slope(&|h| damped(&e, 0.75 + h))).abs() < 1e-6);
    let Expr::Add(first, _) = by_e else { panic!("another shape") };
    let Expr::Const(by_first) = *first else { panic!("another shape") };
    let other = |h: f64| match &e {
        Expr::Add(_, r) => damped(&Expr::Add(Box::new(Expr::Const(2.0 + h)), r.clone()), 0.75),
        _ => 0.0,
    };
    assert!((by_first - slope(&other)).abs() < 1e-6);
}

/// Other names of parts and of places.
#[differentiable]
fn by_other_names(x: &[f64]) -> f64 {
    let mut s = Shape::Box { w: x[0], h: x[1] };
    match &mut s {
        Shape::Round(r) => *r += 1.0,
        Shape::Box { w, h } => {
            let (base, tall) = (*w, 2.0);
            let side = h;
            *side += base;
            *side *= tall;
            let other = w;
            *other = *other * x[0];
        }
        Shape::Flat => {}
    }
    let mut v = x.to_vec();
    for a in v.iter_mut() {
        let own = a;
        *own *= 3.0;
    }
    s.area() + v.iter().sum::<f64>()
}

#[test]
fn parts_may_have_other_names() {
    everywhere! {
        by_other_names at [1.5, -0.5];
    }
}
