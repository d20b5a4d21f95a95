//! Recursive data, and records that measure their arrays: what tests of values and of kept derivatives have in common.

use jut::Model;
use serde_json::{Value as Json, json};

const COMMON: &str = "
data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree)
data Expr = Const(value: f64) | Var | Sum(a: Expr, b: Expr) | Product(a: Expr, b: Expr)
data Rose = Rose(w: f64, tag: i64, m: i64, kids: [m]Rose)
data Bag = Bag(m: i64, w: [m]f64)

def total(t: Tree, y: f64) -> f64 = case t {
  Leaf(x) -> sin(x) * y
  Node(l, r) -> total(l, y) * 0.5 + total(r, y * y)
}
def doubled(t: Tree, y: f64) -> Tree = case t {
  Leaf(x) -> Leaf(x * x * y)
  Node(l, r) -> Node(doubled(r, y), doubled(l, y))
}
def left(t: Tree) -> f64 = case t {
  Leaf(x) -> x * x
  Node(l, _) -> left(l)
}
def eval(e: Expr, x: f64) -> f64 = case e {
  Const(c) -> c
  Var -> x
  Sum(a, b) -> eval(a, x) + eval(b, x)
  Product(a, b) -> eval(a, x) * eval(b, x)
}
def rose(t: Rose) -> f64 = {
  Rose(w, tag, m, kids) = t
  w * w * f64(tag) + sum (i < m) { rose(kids[i]) * w }
}
def weight(b: Bag, k: f64) -> f64 = {
  Bag(m, w) = b
  sum (i < m) { w[i] * w[i] * k }
}
";

/// A program with these definitions before its own.
pub fn model(own: &str) -> Model {
    Model::from_text(&format!("{COMMON}{own}")).expect("a program")
}

pub fn leaf(x: f64) -> Json {
    json!({"Leaf": {"x": x}})
}

pub fn node(l: Json, r: Json) -> Json {
    json!({"Node": {"l": l, "r": r}})
}
