//! Structs of parameters: types, and lengths.

use super::{close, differences, same};
use jut::{Data, differentiable};
use std::ops::Mul;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pair<T> {
    x: T,
    y: T,
}

#[differentiable]
fn distance(p: &Pair<f64>, q: &Pair<f64>) -> f64 {
    let d = Pair { x: p.x - q.x, y: p.y - q.y };
    let Pair { x, y } = d;
    x * x + y * y
}

#[differentiable]
fn mixed(p: Pair<f64>, q: Pair<f32>) -> f64 {
    let r = Pair::<f64> { x: p.x * f64::from(q.y), y: f64::from(q.x) };
    r.x + r.y * r.y
}

#[differentiable]
fn centre(all: &[Pair<f64>]) -> Pair<f64> {
    let mut sum = Pair { x: 0.0, y: 0.0 };
    for p in all {
        sum.x += p.x;
        sum.y += p.y * p.y;
    }
    sum
}

#[differentiable]
impl Pair<f64> {
    const HALF: f64 = 0.5;
    fn new(x: f64, y: f64) -> Pair<f64> {
        Self { x, y }
    }
    fn middle(&self) -> f64 {
        Self::HALF * (self.x + self.y * self.y)
    }
    fn turned(self) -> Self {
        Self::new(-self.y, self.x)
    }
}

#[differentiable]
fn through(x: f64) -> f64 {
    let p = Pair::<f64>::new(x, 2.0 * x).turned();
    p.middle()
}

#[test]
fn a_struct_of_a_type() {
    let (p, q) = (Pair { x: 3.0, y: 1.0 }, Pair { x: 0.0, y: 5.0 });
    let (value, (by_p, by_q)) = distance::value_and_gradient(&p, &q).unwrap();
    same(value, distance(&p, &q));
    assert_eq!((by_p, by_q), (Pair { x: 6.0, y: -8.0 }, Pair { x: -6.0, y: 8.0 }));
    let (by_p, by_q) = mixed::gradient(p, Pair { x: 2.0, y: 4.0 }).unwrap();
    assert_eq!((by_p, by_q), (Pair { x: 4.0, y: 0.0 }, Pair { x: 4.0, y: 3.0 }));
    let (sum, tangent) =
        centre::jvp(&[p, q], &[Pair { x: 1.0, y: 0.0 }, Pair { x: 0.0, y: 1.0 }]).unwrap();
    assert_eq!(sum, centre(&[p, q]));
    assert_eq!(tangent, Pair { x: 1.0, y: 10.0 });
    same(through::value(1.5).unwrap(), through(1.5));
    assert_eq!(through::gradient(1.5).unwrap(), 0.5 * (-2.0 + 2.0 * 1.5));
    assert_eq!(Pair_middle::gradient(&p).unwrap(), Pair { x: 0.5, y: 1.0 });
}

#[derive(Data, Clone, Debug, PartialEq)]
struct State<const N: usize> {
    x: [f64; N],
    v: [f64; N],
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Counted<const N: usize> {
    x: [f64; N],
    steps: usize,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Outer<T, const N: usize> {
    inner: Pair<T>,
    rows: [[T; 2]; N],
    list: Vec<T>,
}

#[differentiable]
fn energy(s: &State<3>) -> f64 {
    let mut e = 0.0;
    for i in 0..3 {
        e += 0.5 * s.v[i] * s.v[i] + s.x[i].powi(4);
    }
    e
}

#[differentiable]
fn step(s: &State<2>, h: f64) -> State<2> {
    let mut next = State { x: s.x, v: s.v };
    for i in 0..2 {
        next.v[i] -= h * s.x[i];
        next.x[i] += h * next.v[i];
    }
    next
}

#[differentiable]
fn counted(s: &Counted<2>) -> f64 {
    let mut y = 1.0;
    for _ in 0..s.steps {
        y *= s.x[0] + s.x[1];
    }
    y
}

#[differentiable]
fn outer(o: &Outer<f64, 2>) -> f64 {
    let mut y = o.inner.x * o.inner.y;
    for row in &o.rows {
        y += row[0] * row[1];
    }
    for v in &o.list {
        y += v * v;
    }
    y
}

#[test]
fn a_struct_of_lengths() {
    let s = State { x: [1.0, 2.0, 3.0], v: [0.5, 0.0, -1.0] };
    let (value, by_s) = energy::value_and_gradient(&s).unwrap();
    same(value, energy(&s));
    assert_eq!(by_s, State { x: [4.0, 32.0, 108.0], v: [0.5, 0.0, -1.0] });
    let s = State { x: [1.0, 2.0], v: [0.5, 0.0] };
    assert_eq!(step::value(&s, 0.5).unwrap(), step(&s, 0.5));
    let c = Counted { x: [1.0, 2.0], steps: 3 };
    assert_eq!(counted::gradient(&c).unwrap(), CountedGrad { x: [27.0, 27.0] });
    let o = Outer {
        inner: Pair { x: 2.0, y: 3.0 },
        rows: [[1.0, 2.0], [3.0, 4.0]],
        list: vec![1.0, 2.0, 3.0],
    };
    let (value, by_o) = outer::value_and_gradient(&o).unwrap();
    same(value, outer(&o));
    let expected = Outer {
        inner: Pair { x: 3.0, y: 2.0 },
        rows: [[2.0, 1.0], [4.0, 3.0]],
        list: vec![2.0, 4.0, 6.0],
    };
    assert_eq!(by_o, expected);
}

/// What the functions below need of a number.
trait Real:
    Copy + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + std::ops::Sub<Output = Self>
{
}
impl Real for f64 {}
impl Real for f32 {}

#[differentiable]
impl<T: Real> Pair<T> {
    fn dot(&self, other: &Pair<T>) -> T {
        self.x * other.x + self.y * other.y
    }
    fn scaled(&self, by: T) -> Self {
        Self { x: by * self.x, y: by * self.y }
    }
    fn norm2(&self) -> T {
        self.dot(self)
    }
}

#[differentiable]
impl<T> Mul for Pair<T>
where
    T: Real,
{
    type Output = Pair<T>;
    fn mul(self, other: Pair<T>) -> Pair<T> {
        Pair { x: self.x * other.x - self.y * other.y, y: self.x * other.y + self.y * other.x }
    }
}

#[differentiable]
fn work<T: Real>(p: &Pair<T>, path: &[Pair<T>]) -> T {
    let mut w = p.norm2();
    for q in path {
        w = w + p.scaled(q.x).dot(q);
    }
    w
}

#[differentiable]
fn of_work(x: f64) -> f64 {
    let p = Pair::<f64> { x, y: 2.0 };
    let q = p.mul(p);
    work(&q, &[p, q])
}

#[test]
fn functions_of_structs_of_any_type() {
    let (p, q) = (Pair { x: 3.0, y: 1.0 }, Pair { x: 0.5, y: 5.0 });
    let (value, (by_p, by_q)) = Pair_dot::value_and_gradient(&p, &q).unwrap();
    same(value, p.dot(&q));
    assert_eq!((by_p, by_q), (q, p));
    let short = Pair { x: 3.0_f32, y: 1.0 };
    assert_eq!(Pair_norm2::gradient(&short).unwrap(), Pair { x: 6.0_f32, y: 2.0 });
    assert_eq!(Pair_scaled::value(&p, 0.5).unwrap(), p.scaled(0.5));
    let (value, (by_p, by_path)) = work::value_and_gradient(&p, &[p, q]).unwrap();
    same(value, work(&p, &[p, q]));
    assert_eq!(by_p, Pair { x: 6.0 + 9.0 + 0.25, y: 2.0 + 3.0 + 2.5 });
    let expected = vec![Pair { x: 18.0 + 1.0, y: 3.0 }, Pair { x: 3.0 + 5.0, y: 0.5 }];
    assert_eq!(by_path, expected);
    same(of_work::value(1.5).unwrap(), of_work(1.5));
    super::close(
        &[of_work::gradient(1.5).unwrap()],
        &super::differences(|x| of_work(x[0]), &[1.5]),
    );
    let product = Pair_mul::value(p, q).unwrap();
    assert_eq!(product, p * q);
}

/// A struct of any length, beside arrays of it.
#[differentiable]
fn of_any_length<const N: usize>(s: &State<N>, weights: &[f64; N]) -> f64 {
    let mut e = 0.0;
    let share = [1.0 / N as f64; N];
    for i in 0..N {
        e += weights[i] * share[i] * s.v[i] * s.v[i] + s.x[i].powi(4);
    }
    e
}

#[differentiable]
impl<const N: usize> State<N> {
    fn stepped(&self, h: f64) -> State<N> {
        let mut next = State { x: self.x, v: self.v };
        for i in 0..N {
            next.v[i] -= h * self.x[i];
            next.x[i] += h * next.v[i];
        }
        next
    }

    fn push(&mut self, force: [f64; N]) {
        for (v, f) in self.v.iter_mut().zip(force) {
            *v += f;
        }
    }

    fn size(&self) -> usize {
        N
    }
}

/// Functions and methods of any length in one of two lengths.
#[differentiable]
fn several(a: &State<3>, b: &State<1>, steps: usize) -> f64 {
    let mut a = State::<3> { x: a.x, v: a.v };
    for _ in 0..steps {
        a = a.stepped(0.1);
    }
    a.push([0.5, 0.25, 0.125]);
    let b = b.stepped(0.5);
    of_any_length(&a, &[1.0, 2.0, 3.0]) * of_any_length(&b, &[4.0]) + (a.size() + b.size()) as f64
}

#[differentiable]
fn over<const N: usize, const M: usize>(all: &[State<N>], w: &[f64; M]) -> f64 {
    let mut s = 0.0;
    for one in all {
        s += one.x[0] * one.v[N - 1] * w[M - 1];
    }
    s
}

#[differentiable]
fn outer_of_any<const N: usize>(o: &Outer<f64, N>) -> f64 {
    o.inner.x * o.rows[N - 1][1] + o.list.iter().sum::<f64>()
}

#[test]
fn functions_of_structs_of_any_length() {
    let a = State { x: [0.5, -1.0, 2.0], v: [1.0, 0.25, -0.5] };
    let b = State { x: [1.5], v: [2.0] };
    let weights = [1.0, 2.0, 3.0];
    let (value, (by_a, by_w)) = of_any_length::value_and_gradient(&a, &weights).unwrap();
    same(value, of_any_length(&a, &weights));
    for i in 0..3 {
        close(&[by_a.x[i], by_a.v[i]], &[4.0 * a.x[i].powi(3), 2.0 * weights[i] / 3.0 * a.v[i]]);
        close(&[by_w[i]], &[a.v[i] * a.v[i] / 3.0]);
    }
    same(of_any_length::value(&b, &[2.0]).unwrap(), of_any_length(&b, &[2.0]));
    assert_eq!(State_stepped::value(&b, 0.5).unwrap(), b.stepped(0.5));
    same(several::value(&a, &b, 3).unwrap(), several(&a, &b, 3));
    let (by_a, by_b) = several::gradient(&a, &b, 3).unwrap();
    let flat = |f: &dyn Fn(&State<3>, &State<1>) -> f64| {
        let at = [a.x.to_vec(), a.v.to_vec(), b.x.to_vec(), b.v.to_vec()].concat();
        let state = |p: &[f64]| State { x: [p[0], p[1], p[2]], v: [p[3], p[4], p[5]] };
        differences(|p| f(&state(p), &State { x: [p[6]], v: [p[7]] }), &at)
    };
    let found = [by_a.x.to_vec(), by_a.v.to_vec(), by_b.x.to_vec(), by_b.v.to_vec()].concat();
    close(&found, &flat(&|a, b| several(a, b, 3)));
    let all = [a.clone(), State { x: [3.0, 0.0, 0.0], v: [0.0, 0.0, 4.0] }];
    let (by_all, by_w) = over::gradient(&all, &[1.0, 2.0]).unwrap();
    assert_eq!(by_all[1], State { x: [8.0, 0.0, 0.0], v: [0.0, 0.0, 6.0] });
    assert_eq!(by_w, [0.0, over(&all, &[1.0, 1.0])]);
    let outer = Outer {
        inner: Pair { x: 2.0, y: 1.0 },
        rows: [[1.0, 3.0], [0.0, 5.0]],
        list: vec![1.0, 2.0],
    };
    let (value, by_outer) = outer_of_any::value_and_gradient(&outer).unwrap();
    same(value, outer_of_any(&outer));
    assert_eq!(by_outer.rows, [[0.0, 0.0], [0.0, 2.0]]);
    assert_eq!(by_outer.list, vec![1.0, 1.0]);
}
