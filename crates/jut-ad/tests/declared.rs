//! Derivatives of values whose tangents have a data type of their own: recursive data, and records that measure their
//! own floats. First and second order, in every nesting, against differences.

use crate::common::derivatives_agree;

#[test]
fn a_list_made_from_an_array_and_added_up() {
    let text = "
data List = Nil | Cons(head: f64, rest: List)
def listed[n](x: [n]f64, i: i64) -> List = if i == n { Nil() } else { Cons(x[i], listed(x, i + 1)) }
def total(l: List) -> f64 = case l { Nil -> 0.0; Cons(a, rest) -> sin(a) * a + total(rest) }
def f[n](x: [n]f64) -> f64 = { l = listed(x, 0); total(l) * total(l) }";
    derivatives_agree(text, &[], &[0.7, 0.2, 1.5]);
}

#[test]
fn an_expression_tree_with_floats_in_its_leaves() {
    let text = "
data Expr = Const(value: f64) | Var | Sum(a: Expr, b: Expr) | Product(a: Expr, b: Expr) | Sine(a: Expr)
def eval(e: Expr, x: f64) -> f64 = case e {
  Const(c) -> c
  Var -> x
  Sum(a, b) -> eval(a, x) + eval(b, x)
  Product(a, b) -> eval(a, x) * eval(b, x)
  Sine(a) -> sin(eval(a, x))
}
def made[n](w: [n]f64, k: i64) -> Expr =
  if k >= n { Var() }
  else if k % 3 == 0 { Sum(Const(w[k]), made(w, 2 * k + 1)) }
  else if k % 3 == 1 { Product(Const(w[k]), Sum(made(w, 2 * k + 1), made(w, 2 * k + 2))) }
  else { Sine(Product(Const(w[k]), made(w, 2 * k + 1))) }
def f[n](w: [n]f64) -> f64 = { e = made(w, 0); eval(e, w[0]) + eval(e, 0.25) }";
    derivatives_agree(text, &[], &[0.3, 1.5, -0.4, 0.8, 2.0, 1.1]);
}

#[test]
fn a_list_is_sorted() {
    let text = "
data List = Nil | Cons(head: f64, rest: List)
def listed[n](x: [n]f64, i: i64) -> List = if i == n { Nil() } else { Cons(x[i], listed(x, i + 1)) }
def below(l: List, p: f64, less: bool) -> List = case l {
  Nil -> Nil()
  Cons(a, rest) -> { r = below(rest, p, less); if (a < p) == less { Cons(a, r) } else { r } }
}
def joined(l: List, m: List) -> List = case l { Nil -> m; Cons(a, rest) -> Cons(a, joined(rest, m)) }
def sorted(l: List) -> List = case l {
  Nil -> Nil()
  Cons(p, rest) -> joined(sorted(below(rest, p, true)), Cons(p, sorted(below(rest, p, false))))
}
def weighted(l: List, k: f64) -> f64 = case l { Nil -> 0.0; Cons(a, rest) -> k * a * a + weighted(rest, k + 1.0) }
def f[n](x: [n]f64) -> f64 = weighted(sorted(listed(x, 0)), 1.0)";
    derivatives_agree(text, &[], &[0.7, 0.2, 1.5, -0.3, 0.9]);
}

#[test]
fn types_that_hold_each_other_with_numbers_tuples_and_arrays() {
    let text = "
data Tree = Leaf(k: i64, v: [2]f64) | Node(kids: Forest, scale: #(f64, bool))
data Forest = Nil | More(first: Tree, rest: Forest)
def tree[n](x: [n]f64, k: i64) -> Tree =
  if k >= n { Leaf(k, [x[0], 0.5]) }
  else { Node(More(tree(x, 2 * k + 1), More(tree(x, 2 * k + 2), Nil())), #(x[k], k == 1)) }
def value(t: Tree) -> f64 = case t {
  Leaf(k, v) -> v[0] * f64(k) + v[1]
  Node(kids, scale) -> { s = sums(kids); if scale.1 { s * scale.0 } else { sin(s) + scale.0 } }
}
def sums(f: Forest) -> f64 = case f { Nil -> 0.0; More(t, rest) -> value(t) + sums(rest) }
def f[n](x: [n]f64) -> f64 = value(tree(x, 0))";
    derivatives_agree(text, &[], &[0.7, 0.2, 1.5]);
}

#[test]
fn a_record_that_measures_its_own_floats() {
    let text = "
data Bag = Bag(m: i64, w: [m]f64, k: f64)
data Either = Left(b: Bag) | Right(m: i64, j: i64, v: [m][2]f64)
def bag[n](x: [n]f64, m: i64) -> Bag = { check m >= 0\n Bag(m, build (i < m) { x[i % n] * f64(i) }, x[0]) }
def either[n](x: [n]f64, m: i64) -> Either =
  if m % 2 == 0 { Left(bag(x, m)) } else { check m >= 0\n Right(m, 3, build (i < m) { [x[0], sin(x[i % n])] }) }
def weight(e: Either) -> f64 = case e {
  Left(b) -> { Bag(m, w, k) = b; s = sum (i < m) { w[i] * w[i] * k }; s + b.k }
  Right(m, j, v) -> sum (i < m) { v[i, 0] * v[i, 1] * f64(j) }
}
def f[n](x: [n]f64) -> f64 = weight(either(x, 4)) * weight(either(x, 3))";
    derivatives_agree(text, &[], &[0.7, 0.2]);
}

const TREES: &str = "
data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree)
def grown(n: i64, x: f64) -> Tree = if n == 0 { Leaf(x) } else { Node(grown(n - 1, x * 0.5), grown(n - 1, x + 1.0)) }
def total(t: Tree, y: f64) -> f64 = case t { Leaf(x) -> sin(x) * y; Node(l, r) -> total(l, y) * 0.5 + total(r, y * y) }
";

fn with_trees(body: &str) {
    derivatives_agree(&format!("{TREES}{body}"), &[], &[0.7, 0.2]);
}

#[test]
fn a_tree_that_loops_read() {
    with_trees(
        "def f[n](x: [n]f64) -> f64 = {
  t = grown(2, x[0])
  a = sum (i < n) { total(t, x[i]) }
  b = for (i < 3) carry (s = x[1]) { if i == 1 { total(t, s) * total(t, 0.5) } else { s * 2.0 } }
  a * b
}",
    );
}

#[test]
fn trees_that_a_loop_carries_and_a_while_loop_reads() {
    with_trees(
        "def f[n](x: [n]f64) -> f64 = {
  s = grown(1, x[1])
  t = for (i < n) carry (t = Leaf(x[0])) { Node(t, if i == 0 { s } else { Leaf(x[i]) }) }
  var y = x[0]
  while y < 3.0 { y += 1.0 + total(t, y) * total(t, x[1]) }
  y
}",
    );
}

#[test]
fn arrays_and_tuples_of_trees() {
    with_trees(
        "def pair[n](t: [n]Tree, w: [n]f64, i: i64) -> #(Tree, f64) = { check i < n\n #(t[i], w[i]) }
def f[n](x: [n]f64) -> f64 = {
  ts = build (i < n) { grown(i + 1, x[i]) }
  a = sum (i < 4) {
    p = pair(ts, x, i % 2)
    total(p.0, p.1) + total(ts[0], 2.0)
  }
  q = #(ts[1], x)
  b = sum (i < 2) { total(q.0, q.1[i]) }
  a * b
}",
    );
}

#[test]
fn bags_that_loops_read_and_functions_add_to() {
    derivatives_agree(
        "
data Bag = Bag(m: i64, w: [m]f64)
def bag[n](x: [n]f64, m: i64) -> Bag = { check m >= 0\n Bag(m, build (i < m) { x[i % n] * f64(i) }) }
def weight(b: Bag, k: f64) -> f64 = { Bag(m, w) = b\n sum (i < m) { w[i] * k } }
def both[n](b: [n]Bag, i: i64) -> f64 = { check i < n\n weight(b[i], 2.0) * weight(b[0], 0.5) }
def f[n](x: [n]f64) -> f64 = {
  b = bag(x, 3)
  bs = build (i < 3) { bag(x, i + 1) }
  sum (i < 3) { weight(b, x[0] * f64(i)) * both(bs, i) }
}",
        &[],
        &[0.7, 0.2],
    );
}

#[test]
fn a_triangular_loop_in_a_loop_differentiated_again() {
    derivatives_agree(
        "def f[n](x: [n]f64) -> f64 = sum (i < n) {
  y = for (j < i) carry (y = x[i]) { sin(y) * x[j] + y }
  y * y
}",
        &[],
        &[0.7, 0.2, 1.3],
    );
}

#[test]
fn a_long_list_has_a_gradient() {
    let text = "
data List = Nil | Cons(head: f64, rest: List)
def listed[n](x: [n]f64, i: i64) -> List = if i == n { Nil() } else { Cons(x[i], listed(x, i + 1)) }
def total(l: List) -> f64 = case l { Nil -> 0.0; Cons(a, rest) -> a * a + total(rest) }
def f[n](x: [n]f64) -> f64 = { l = listed(x, 0); total(l) + total(l) }";
    let mut d = jut_ad::Derivatives::new(crate::common::parse(text));
    let f = d.program.find_func("f").unwrap();
    let mask = jut_ad::Mask::full(&d.program, f);
    let gradient = jut_ad::compose::grad(&mut d, f, &mask, jut_ad::Policy::Default).unwrap();
    let n = 20_000;
    let args = [jut_eval::Value::I64(n), jut_eval::Value::floats(vec![0.5; n as usize])];
    let found = jut_eval::Interpreter::new(&d.program).call(gradient, &args, &[], &[]).unwrap();
    found.results[0].for_each_f64(&mut |x| assert_eq!(x, 2.0));
}
