//! Lists that functions give, which change their length under names without types; own types with methods of such names beside them.

use jut::{Data, differentiable};
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct P {
    a: f64,
    k: u16,
}
#[differentiable]
fn made(x: &[f64]) -> Vec<P> {
    x.iter().enumerate().map(|(i, &a)| P { a, k: i as u16 }).collect()
}
#[differentiable]
fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * 0.5).collect()
}
#[differentiable]
fn grown(x: &[f64]) -> f64 {
    let mut y = halves(x);
    y.push(x[0]);
    while y.len() > 3 {
        let last = y.pop().unwrap();
        y[0] += last;
    }
    let mut all = made(&y);
    for v in y.iter().rev() {
        if *v > 0.3 {
            all.push(P { a: v * v, k: 7 });
        }
    }
    all.retain(|p| p.k != 1);
    all.iter().map(|p| p.a * p.k as f64).sum::<f64>() + y[0]
}
#[derive(Data, Clone, Debug, PartialEq)]
struct S {
    v: Vec<f64>,
}
#[differentiable]
impl S {
    fn push(&mut self, x: f64) {
        self.v[0] += x;
    }
    fn len(&self) -> usize {
        self.v.len()
    }
}
#[differentiable]
fn s_of(x: &[f64]) -> S {
    S { v: x.to_vec() }
}
#[differentiable]
fn own(x: &[f64]) -> f64 {
    let mut s = s_of(x);
    s.push(2.0);
    s.v[0] * x[0] * s.len() as f64
}
#[differentiable]
fn moving(x: &[f64]) -> f64 {
    let mut y = halves(x);
    for _ in 0..2 {
        y = y.windows(2).map(|w| w[0] * w[1]).collect();
        y.insert(0, 1.5);
        y.extend_from_slice(&x[..1]);
    }
    y.sort_by_key(|v| std::cmp::Reverse((*v * 100.0) as i64));
    y.dedup();
    y.iter().enumerate().map(|(i, v)| i as f64 * v).sum()
}
#[test]
fn what_a_function_gives_changes_its_length_where_no_type_is_written() {
    everywhere! { grown at [1.0, 2.0, 0.5, 0.9], [1.0]; own at [1.0, 2.0]; moving at [1.0, 2.0, 0.5, 0.9], [0.8]; }
}

/// Lists of a field, which a new value has longer or shorter.
#[derive(Data, Clone, Debug, PartialEq)]
struct Book {
    items: Vec<f64>,
    rate: f64,
}
#[differentiable]
impl Book {
    fn with(&self, x: f64) -> Book {
        let mut items: Vec<f64> = self.items.clone();
        items.push(x);
        Book { items, rate: self.rate * 0.5 }
    }
    fn kept(self) -> Book {
        let mut items = self.items;
        items.retain(|v| *v > 0.5);
        Book { items, ..self }
    }
    fn total(&self) -> f64 {
        self.items.iter().sum::<f64>() * self.rate
    }
}
#[differentiable]
fn built(x: &[f64]) -> f64 {
    let b = Book { items: vec![x[0]], rate: x[1] };
    let c = b.with(x[1]).with(3.0).with(0.1);
    c.total() + c.kept().total()
}

#[differentiable]
impl Book {
    fn merged(&self, other: &Book) -> Book {
        let mut items = self.items.to_vec();
        items.push(other.rate);
        let mut rest = other.items.clone();
        while rest.len() > 1 {
            items.push(rest.remove(0) * 2.0);
        }
        items.extend(rest);
        Book { items, rate: other.rate }
    }
}
#[differentiable]
fn merged(x: &[f64]) -> f64 {
    let a = Book { items: vec![x[0]], rate: x[1] };
    let b = Book { items: vec![x[0], x[1], 0.5], rate: x[1] };
    a.merged(&b).total() + b.merged(&a).total() * x[0]
}

#[test]
fn lists_of_fields_change_their_length_in_a_new_value() {
    everywhere! {
        built at [1.0, 2.0];
        merged at [1.0, 2.0];
    }
}

/// An own type, which a function gives, with methods that are named as those of a list, and others.
#[derive(Data, Clone, Debug, PartialEq)]
struct Queue {
    items: Vec<f64>,
}

#[differentiable]
impl Queue {
    fn truncate(&mut self, n: usize) {
        self.items[0] *= n as f64;
    }
    fn front(&self) -> f64 {
        self.items[0]
    }
}

#[differentiable]
fn queue(x: &[f64]) -> Queue {
    Queue { items: x.to_vec() }
}

#[differentiable]
fn queued(x: &[f64]) -> f64 {
    let mut q = queue(x);
    q.truncate(3);
    q.front() * x[1]
}

#[test]
fn own_types_keep_their_methods() {
    everywhere! {
        queued at [1.0, 2.0];
    }
}
