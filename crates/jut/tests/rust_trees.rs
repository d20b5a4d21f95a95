//! Rust types that hold themselves: trees, lists, expressions, with gradients of the same shape.
#![cfg(feature = "macros")]
// The functions are written in every way that Rust allows.
#![allow(clippy::all)]

use jut::{Data, differentiable};

/// The numbers are the same to the bit.
#[track_caller]
fn same(a: f64, b: f64) {
    assert!(a.to_bits() == b.to_bits(), "{a:?} and {b:?}");
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Tree {
    Leaf(f64),
    Node(Box<Tree>, Box<Tree>),
}

fn leaf(x: f64) -> Tree {
    Tree::Leaf(x)
}

fn node(left: Tree, right: Tree) -> Tree {
    Tree::Node(Box::new(left), Box::new(right))
}

#[differentiable]
fn product(t: &Tree) -> f64 {
    match t {
        Tree::Leaf(x) => *x,
        Tree::Node(l, r) => product(l) * product(r),
    }
}

#[test]
fn a_gradient_is_a_tree_of_the_same_shape() {
    let t = node(leaf(2.0), node(leaf(3.0), leaf(5.0)));
    let gradient = node(leaf(15.0), node(leaf(10.0), leaf(6.0)));
    assert_eq!(product::value(&t).unwrap(), 30.0);
    assert_eq!(product::gradient(&t).unwrap(), gradient);
    assert_eq!(product::value_and_gradient(&t).unwrap(), (30.0, gradient));
    let along = node(leaf(1.0), node(leaf(0.0), leaf(1.0)));
    assert_eq!(product::jvp(&t, &along).unwrap(), (30.0, 21.0));
    assert_eq!(product::vjp(&t, &2.0).unwrap().1, node(leaf(30.0), node(leaf(20.0), leaf(12.0))));
    // The second derivative by the first leaf and the others.
    let along = node(leaf(1.0), node(leaf(0.0), leaf(0.0)));
    assert_eq!(product::hvp(&t, &along).unwrap(), node(leaf(0.0), node(leaf(5.0), leaf(3.0))));
}

/// A formula: derivatives by it are by its constants.
#[derive(Data, Clone, Debug, PartialEq)]
enum Expr {
    Const(f64),
    Var,
    Sum(Box<Expr>, Box<Expr>),
    Product(Box<Expr>, Box<Expr>),
    Power { base: Box<Expr>, exponent: i32 },
    Sin(Box<Expr>),
}

#[differentiable]
impl Expr {
    fn eval(&self, x: f64) -> f64 {
        match self {
            Expr::Const(c) => *c,
            Expr::Var => x,
            Expr::Sum(a, b) => a.eval(x) + b.eval(x),
            Expr::Product(a, b) => a.eval(x) * b.eval(x),
            Expr::Power { base, exponent } => base.eval(x).powi(*exponent),
            Expr::Sin(a) => jut::math::sin(a.eval(x)),
        }
    }

    /// The derivative as a formula.
    fn derived(&self) -> Expr {
        match self {
            Expr::Const(_) => Expr::Const(0.0),
            Expr::Var => Expr::Const(1.0),
            Expr::Sum(a, b) => Expr::Sum(Box::new(a.derived()), Box::new(b.derived())),
            Expr::Product(a, b) => Expr::Sum(
                Box::new(Expr::Product(Box::new(a.derived()), b.clone())),
                Box::new(Expr::Product(a.clone(), Box::new(b.derived()))),
            ),
            _ => Expr::Var,
        }
    }
}

#[test]
fn formulas() {
    let boxed = |e: Expr| Box::new(e);
    let square = Expr::Power { base: boxed(Expr::Var), exponent: 2 };
    let e = Expr::Sum(
        boxed(Expr::Const(3.0)),
        boxed(Expr::Product(boxed(Expr::Const(2.0)), boxed(square))),
    );
    assert_eq!(Expr_eval::value(&e, 1.5).unwrap(), e.eval(1.5));
    let (by_e, by_x) = Expr_eval::gradient(&e, 1.5).unwrap();
    assert_eq!(by_x, 6.0);
    let square = ExprGrad::Power { base: Box::new(ExprGrad::Var) };
    let expected = ExprGrad::Sum(
        Box::new(ExprGrad::Const(1.0)),
        Box::new(ExprGrad::Product(Box::new(ExprGrad::Const(2.25)), Box::new(square))),
    );
    assert_eq!(by_e, expected);
    let sum = Expr::Sum(
        Box::new(Expr::Product(Box::new(Expr::Const(4.0)), Box::new(Expr::Var))),
        Box::new(Expr::Const(1.0)),
    );
    assert_eq!(Expr_derived::value(&sum).unwrap(), sum.derived());
}

#[derive(Data, Clone, Debug, PartialEq)]
struct List {
    x: f64,
    next: Option<Box<List>>,
}

#[differentiable]
#[allow(dead_code)]
impl List {
    fn sum(&self) -> f64 {
        let rest = match &self.next {
            Some(next) => next.sum(),
            None => 0.0,
        };
        self.x * self.x + rest
    }

    fn longest(&self) -> f64 {
        self.x.max(self.next.as_ref().map_or(0.0, |n| n.longest()))
    }

    fn count(&self) -> usize {
        if let Some(next) = &self.next { 1 + next.count() } else { 1 }
    }

    fn is_last(&self) -> bool {
        self.next.is_none()
    }
}

#[differentiable]
fn walked(list: &List, decay: f64) -> f64 {
    let mut s = 0.0;
    let mut weight = 1.0;
    let mut at = Some(list);
    while let Some(one) = at {
        s += weight * one.x * one.x;
        weight *= decay;
        at = one.next.as_deref();
    }
    s
}

#[differentiable]
fn listed(x: &[f64], scale: f64) -> List {
    let mut list = List { x: scale, next: None };
    for v in x {
        list = List { x: v * scale, next: Some(Box::new(list)) };
    }
    list
}

fn list(x: &[f64]) -> List {
    let mut all: Option<Box<List>> = None;
    for v in x.iter().rev() {
        all = Some(Box::new(List { x: *v, next: all }));
    }
    *all.unwrap()
}

#[test]
fn lists() {
    let l = list(&[1.0, 2.0, 3.0]);
    assert_eq!(List_sum::value_and_gradient(&l).unwrap(), (14.0, list(&[2.0, 4.0, 6.0])));
    assert_eq!(List_longest::gradient(&l).unwrap(), list(&[0.0, 0.0, 1.0]));
    assert_eq!(List_count::value(&l).unwrap(), 3);
    assert!(!List_is_last::value(&l).unwrap() && List_is_last::value(&list(&[1.0])).unwrap());
    let (value, (by_list, by_decay)) = walked::value_and_gradient(&l, 0.5).unwrap();
    same(value, walked(&l, 0.5));
    assert_eq!((by_list, by_decay), (list(&[2.0, 2.0, 1.5]), 13.0));
    assert_eq!(listed::value(&[1.0, 2.0], 3.0).unwrap(), listed(&[1.0, 2.0], 3.0));
    let (_, tangent) = listed::jvp(&[1.0, 2.0], 3.0, &[1.0, 0.0], 1.0).unwrap();
    assert_eq!(tangent, list(&[2.0, 4.0, 1.0]));
    let (_, (by_x, by_scale)) = listed::vjp(&[1.0, 2.0], 3.0, &list(&[1.0, 10.0, 100.0])).unwrap();
    assert_eq!((by_x, by_scale), (vec![30.0, 3.0], 112.0));
}

/// A value, and what hangs on it.
#[derive(Data, Clone, Debug, PartialEq)]
struct Rose {
    weight: f64,
    bias: Vec<f64>,
    children: Vec<Rose>,
}

fn rose(weight: f64, bias: &[f64], children: Vec<Rose>) -> Rose {
    Rose { weight, bias: bias.to_vec(), children }
}

#[differentiable]
fn energy(t: &Rose) -> f64 {
    let mut s = t.weight * t.bias.iter().sum::<f64>();
    for child in &t.children {
        s += t.weight * energy(child);
    }
    s
}

#[differentiable]
fn halved(t: &Rose) -> Rose {
    Rose {
        weight: 0.5 * t.weight,
        bias: t.bias.iter().map(|b| 0.5 * b).collect(),
        children: t.children.iter().map(|c| halved(c)).collect(),
    }
}

#[test]
fn lists_of_trees_in_trees() {
    let t = rose(2.0, &[1.0, 3.0], vec![rose(3.0, &[], vec![]), rose(5.0, &[0.5], vec![])]);
    let (value, gradient) = energy::value_and_gradient(&t).unwrap();
    same(value, energy(&t));
    let children = vec![rose(0.0, &[], vec![]), rose(1.0, &[10.0], vec![])];
    assert_eq!(gradient, rose(6.5, &[2.0, 2.0], children));
    assert_eq!(halved::value(&t).unwrap(), halved(&t));
    assert_eq!(halved::vjp(&t, &t).unwrap().1, halved(&t));
    assert_eq!(halved::jvp(&t, &t).unwrap().1, halved(&t));
    assert_eq!(energy::vjp(&t, &1.0).unwrap().1, gradient);
    assert_eq!(energy::jvp(&t, &gradient).unwrap().0, value);
}

/// Words by their numbers: by the tree there is no derivative.
#[derive(Data, Clone, Debug, PartialEq)]
enum Sentence {
    Word(usize),
    Both(Box<Sentence>, Box<Sentence>),
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Hidden {
    c: [f64; 2],
    h: [f64; 2],
}

/// A cell of two children.
#[differentiable]
fn hidden(t: &Sentence, words: &[[f64; 2]], w: &[[f64; 2]; 3]) -> Hidden {
    match t {
        Sentence::Word(k) => Hidden { c: [0.0; 2], h: words[*k] },
        Sentence::Both(left, right) => {
            let (a, b) = (hidden(left, words, w), hidden(right, words, w));
            let mut c = [0.0; 2];
            let mut h = [0.0; 2];
            for i in 0..2 {
                let gate = 1.0 / (1.0 + jut::math::exp(-(w[0][i] * a.h[i] + w[1][i] * b.h[i])));
                c[i] = gate * a.c[i] + (1.0 - gate) * b.c[i] + w[2][i] * a.h[i] * b.h[i];
                h[i] = jut::math::tanh(c[i]);
            }
            Hidden { c, h }
        }
    }
}

#[differentiable(wrt(words, w))]
fn score(t: &Sentence, words: &[[f64; 2]], w: &[[f64; 2]; 3]) -> f64 {
    let last = hidden(t, words, w);
    last.h[0] - last.h[1] * last.c[0]
}

#[test]
fn a_network_along_a_tree() {
    let word = |k| Box::new(Sentence::Word(k));
    let t = Sentence::Both(Box::new(Sentence::Both(word(0), word(1))), word(0));
    let words = [[0.5, -0.3], [0.2, 0.7]];
    let w = [[0.4, 0.1], [-0.6, 0.9], [1.2, -0.8]];
    let (value, (by_words, by_w)) = score::value_and_gradient(&t, &words, &w).unwrap();
    same(value, score(&t, &words, &w));
    let h = 1e-6;
    for k in 0..2 {
        for i in 0..2 {
            let moved = |by: f64| {
                let mut words = words;
                words[k][i] += by;
                score(&t, &words, &w)
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((by_words[k][i] - slope).abs() < 1e-8, "{} {slope}", by_words[k][i]);
        }
    }
    assert!(by_w[2][0] != 0.0);
}

/// Two types that hold each other; a leaf has numbers as many as it likes.
#[derive(Data, Clone, Debug, PartialEq)]
enum Term {
    Numbers { values: Vec<f64>, sign: bool },
    Group(Box<Group>),
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Group {
    scale: f64,
    first: Term,
    others: Vec<Term>,
    name: Option<Box<Group>>,
}

#[differentiable]
fn term(t: &Term) -> f64 {
    match t {
        Term::Numbers { values, sign: true } => values.iter().map(|v| v * v).sum(),
        Term::Numbers { values, .. } => -values.iter().sum::<f64>(),
        Term::Group(g) => group(g),
    }
}

#[differentiable]
fn group(g: &Group) -> f64 {
    let mut s = term(&g.first);
    for one in g.others.iter() {
        s += term(one);
    }
    if let Some(inner) = &g.name {
        s += group(inner);
    }
    g.scale * s
}

#[test]
fn types_that_hold_each_other() {
    let numbers = |values: &[f64], sign| Term::Numbers { values: values.to_vec(), sign };
    let small = Group { scale: 3.0, first: numbers(&[], true), others: vec![], name: None };
    let inner = Group { scale: 0.5, first: numbers(&[2.0], false), others: vec![], name: None };
    let g = Group {
        scale: 2.0,
        first: numbers(&[1.0, 2.0], true),
        others: vec![Term::Group(Box::new(inner)), numbers(&[4.0], true)],
        name: Some(Box::new(small)),
    };
    let (value, by_g) = group::value_and_gradient(&g).unwrap();
    same(value, group(&g));
    let numbers = |values: &[f64]| TermGrad::Numbers { values: values.to_vec() };
    let small = GroupGrad { scale: 0.0, first: numbers(&[]), others: vec![], name: None };
    let inner = GroupGrad { scale: -4.0, first: numbers(&[-1.0]), others: vec![], name: None };
    let expected = GroupGrad {
        scale: 20.0,
        first: numbers(&[4.0, 8.0]),
        others: vec![TermGrad::Group(Box::new(inner)), numbers(&[16.0])],
        name: Some(Box::new(small)),
    };
    assert_eq!(by_g, expected);
}

/// Lists of trees, and trees in structs.
#[derive(Data, Clone, Debug, PartialEq)]
struct Model {
    tree: Tree,
    scale: f64,
}

#[differentiable]
fn forest(all: &[Tree], model: &Model) -> f64 {
    let mut s = 0.0;
    for t in all {
        s += product(t) * product(&model.tree);
    }
    s * model.scale
}

#[test]
fn lists_of_trees_and_trees_in_structs() {
    let all = [leaf(2.0), node(leaf(3.0), leaf(4.0))];
    let model = Model { tree: node(leaf(0.5), leaf(2.0)), scale: 10.0 };
    let (value, (by_all, by_model)) = forest::value_and_gradient(&all, &model).unwrap();
    same(value, forest(&all, &model));
    assert_eq!(by_all, [leaf(10.0), node(leaf(40.0), leaf(30.0))]);
    let tree = node(leaf(280.0), leaf(70.0));
    assert_eq!(by_model, Model { tree, scale: 14.0 });
}

#[differentiable]
fn tall(depth: usize, x: f64) -> Tree {
    if depth == 0 {
        Tree::Leaf(x)
    } else {
        Tree::Node(Box::new(tall(depth - 1, x * x)), Box::new(Tree::Leaf(x)))
    }
}

#[differentiable]
fn head(list: Option<&List>) -> f64 {
    match list {
        Some(l) => l.x * 2.0,
        None => 1.0,
    }
}

#[differentiable]
fn second(list: &List) -> f64 {
    head(list.next.as_deref())
}

#[test]
fn options_of_lists_are_arguments() {
    let l = list(&[1.0, 5.0]);
    assert_eq!(second::value_and_gradient(&l).unwrap(), (10.0, list(&[0.0, 2.0])));
    assert_eq!(second::value(&list(&[1.0])).unwrap(), 1.0);
    assert_eq!(head::value(None).unwrap(), 1.0);
    assert_eq!(head::gradient(Some(&l)).unwrap(), list(&[2.0, 0.0]));
}

#[test]
fn how_deep_values_may_be() {
    // As much stack as a program's first thread has: without optimisation a level takes several kilobytes.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(8 << 20);
        let work = || {
            let mut deep = List { x: 1.0, next: None };
            for _ in 0..400 {
                deep = List { x: 1.0, next: Some(Box::new(deep)) };
            }
            assert_eq!(List_sum::value(&deep).unwrap(), 401.0);
            for _ in 0..1000 {
                deep = List { x: 1.0, next: Some(Box::new(deep)) };
            }
            assert_eq!(List_sum::value(&deep).unwrap_err().code(), Some("A02"));
        };
        thread.spawn_scoped(scope, work).unwrap().join().unwrap();
    });
    // An error leaves nothing behind.
    assert_eq!(List_sum::value(&list(&[1.0, 2.0])).unwrap(), 5.0);
    assert_eq!(tall::value(3, 1.5).unwrap(), tall(3, 1.5));
}

/// Of types and lengths.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape<T> {
    Nothing,
    Round(T),
    Box { w: T, h: T, count: usize },
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Ball<const N: usize> {
    Point([f64; N]),
    Round { centre: [f64; N], radius: f64 },
}

#[differentiable]
impl Shape<f64> {
    fn area(&self) -> f64 {
        match self {
            Shape::Nothing => 0.0,
            Shape::Round(r) => 3.0 * r * r,
            Shape::Box { w, h, count } => w * h * *count as f64,
        }
    }
}

#[differentiable]
fn areas(all: &[Shape<f64>]) -> f64 {
    all.iter().map(|s| s.area()).sum()
}

#[differentiable]
fn outside(b: &Ball<2>, x: &[f64; 2]) -> f64 {
    match b {
        Ball::Point(p) => (x[0] - p[0]) * (x[1] - p[1]),
        Ball::Round { centre, radius } => (x[0] - centre[0]) * (x[1] - centre[1]) - radius * radius,
    }
}

#[test]
fn enums_of_types_and_lengths() {
    let all = [Shape::Round(2.0), Shape::Nothing, Shape::Box { w: 3.0, h: 4.0, count: 2 }];
    let (value, by) = areas::value_and_gradient(&all).unwrap();
    same(value, areas(&all));
    let none = ShapeGrad { round: 0.0, box_w: 0.0, box_h: 0.0 };
    assert_eq!(
        by,
        [
            ShapeGrad { round: 12.0, ..none.clone() },
            none.clone(),
            ShapeGrad { box_w: 8.0, box_h: 6.0, ..none }
        ]
    );
    let ball = Ball::Round { centre: [1.0, 2.0], radius: 3.0 };
    let (by_ball, by_x) = outside::gradient(&ball, &[4.0, 6.0]).unwrap();
    assert_eq!(by_x, [4.0, 3.0]);
    let zero = [0.0; 2];
    assert_eq!(by_ball, BallGrad { point: zero, round_centre: [-4.0, -3.0], round_radius: -6.0 });
    same(outside::value(&Ball::Point([1.0, 2.0]), &[4.0, 6.0]).unwrap(), 12.0);
}

#[differentiable]
fn between(x: &[f64]) -> f64 {
    let all: Vec<f64> =
        std::iter::once(1.0).chain(x.iter().copied()).chain(std::iter::once(2.0)).collect();
    all.windows(2).map(|w| w[0] * w[1]).sum()
}

#[test]
fn once() {
    same(between::value(&[3.0, 5.0]).unwrap(), between(&[3.0, 5.0]));
    assert_eq!(between::gradient(&[3.0, 5.0]).unwrap(), [6.0, 5.0]);
}

/// Rows of different lengths.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Row {
    values: Vec<f64>,
    weight: f64,
}

#[differentiable]
fn rows(all: &[Row]) -> f64 {
    let mut s = 0.0;
    for row in all {
        let inner: f64 = row.values.iter().map(|v| v * v).sum();
        s += row.weight * inner;
    }
    if let Some(row) = all.first() {
        s += row.values.len() as f64 * row.weight;
    }
    s
}

/// What is longer than k.
#[differentiable]
fn doubled(all: &[Row], k: usize) -> Vec<Row> {
    all.iter()
        .map(|r| Row {
            values: r.values.iter().skip(k).map(|v| 2.0 * v).collect(),
            weight: r.weight,
        })
        .collect()
}

#[test]
fn rows_of_different_lengths() {
    let row = |values: &[f64], weight: f64| Row { values: values.to_vec(), weight };
    let all = [row(&[1.0, 2.0], 3.0), row(&[], 5.0), row(&[4.0], 0.5)];
    let (value, by) = rows::value_and_gradient(&all).unwrap();
    same(value, rows(&all));
    assert_eq!(by, [row(&[6.0, 12.0], 7.0), row(&[], 0.0), row(&[4.0], 16.0)]);
    assert_eq!(rows::jvp(&all, &by).unwrap().1, 36.0 + 144.0 + 49.0 + 16.0 + 256.0);
    let made = doubled::value(&all, 1).unwrap();
    assert_eq!(made, doubled(&all, 1));
    let (_, back) = doubled::vjp(&all, 1, &made).unwrap();
    assert_eq!(back, [row(&[0.0, 8.0], 3.0), row(&[], 5.0), row(&[0.0], 0.5)]);
    assert!(rows::gradient(&[]).unwrap().is_empty());
}

#[differentiable]
fn changed(l: &List, k: f64) -> List {
    let mut own = l.clone();
    own.x *= k;
    if own.x > 2.0 {
        own.next = None;
    } else {
        own.next = Some(Box::new(List { x: k, next: None }));
    }
    List { x: own.x + 1.0, ..own }
}

#[differentiable]
fn positive(l: List) -> Option<Box<List>> {
    if l.x > 0.0 { Some(Box::new(l)) } else { None }
}

#[differentiable]
fn onto(l: &List) -> List {
    List { x: 1.0, next: positive(l.clone()) }
}

#[test]
fn lists_are_changed_and_given_back() {
    let l = list(&[1.0, 5.0]);
    for k in [1.5, 3.0] {
        assert_eq!(changed::value(&l, k).unwrap(), changed(&l, k));
    }
    assert_eq!(changed::jvp(&l, 1.5, &l, 1.0).unwrap().1, list(&[2.5, 1.0]));
    assert_eq!(onto::value(&l).unwrap(), onto(&l));
    assert_eq!(onto::value(&list(&[-1.0])).unwrap(), list(&[1.0]));
    assert_eq!(onto::vjp(&l, &onto(&l)).unwrap().1, l);
    assert_eq!(positive::value(l.clone()).unwrap(), Some(Box::new(l)));
}
