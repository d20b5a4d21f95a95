//! Functions of type parameters, traits, associated constants: rustc finds which type, which method and which constant it is.

use super::{close, differences, same};
use jut::{Data, differentiable};
use std::ops::Add;

/// A force between two particles.
#[differentiable]
trait Potential {
    const CUTOFF: f64;

    fn energy(&self, r: f64) -> f64;

    /// Energy that ends at the cutoff.
    fn shifted(&self, r: f64) -> f64 {
        if r > Self::CUTOFF {
            return 0.0;
        }
        self.energy(r) - self.energy(Self::CUTOFF)
    }

    fn scale() -> f64
    where
        Self: Sized;
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Morse {
    depth: f64,
    width: f64,
    rest: f64,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct LennardJones {
    epsilon: f64,
    sigma: f64,
    exponent: usize,
}

/// One whose `impl` has no attribute.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Plain {
    k: f64,
}

#[differentiable]
impl Potential for Morse {
    const CUTOFF: f64 = 3.0;

    fn energy(&self, r: f64) -> f64 {
        let e = 1.0 - jut::math::exp(-self.width * (r - self.rest));
        self.depth * e * e
    }

    fn scale() -> f64 {
        2.0
    }
}

#[differentiable]
impl Potential for LennardJones {
    const CUTOFF: f64 = 2.5;

    fn energy(&self, r: f64) -> f64 {
        let mut s = 1.0;
        for _ in 0..self.exponent {
            s *= self.sigma / r;
        }
        4.0 * self.epsilon * (s * s - s)
    }

    /// Its own, in place of the one that the trait has.
    fn shifted(&self, r: f64) -> f64 {
        self.energy(r) * Self::CUTOFF
    }

    fn scale() -> f64 {
        0.5
    }
}

impl Potential for Plain {
    const CUTOFF: f64 = 1.0;

    fn energy(&self, r: f64) -> f64 {
        self.k * r
    }

    fn scale() -> f64 {
        1.0
    }
}

#[differentiable]
fn total<P: Potential>(p: &P, x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            sum += p.shifted((x[i] - x[j]).abs()) * P::scale();
        }
    }
    sum / P::CUTOFF
}

/// Of two types, one behind `where`, and of an element of a list.
#[differentiable]
fn pair<P, Q>(p: &[P], q: Q, r: f64) -> f64
where
    P: Potential + Copy,
    Q: Potential,
{
    let mut sum = q.energy(r);
    for one in p {
        sum += one.energy(r) * q.shifted(r);
    }
    sum
}

#[differentiable]
fn of_impl<'a>(p: &'a impl Potential, x: &'a [f64]) -> f64 {
    2.0 * total(p, x) + p.energy(x[0])
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Mixture {
    first: Morse,
    others: Vec<LennardJones>,
}

/// Calls with types that are those of fields, of names and of parts.
#[differentiable]
fn mixture(m: &Mixture, x: &[f64]) -> f64 {
    let morse = m.first;
    let two = [LennardJones { epsilon: 0.5, sigma: 1.0, exponent: 3 }, m.others[0]];
    total(&m.first, x)
        + total(&morse, &x[1..])
        + pair(&m.others[1..], m.first, 1.5)
        + pair(&two, m.others[0], 2.0)
        + pair(&m.others, m.first, 2.5)
        + total::<LennardJones>(&m.others[1], x)
}

fn morse(x: &[f64]) -> Morse {
    Morse { depth: x[0], width: x[1], rest: x[2] }
}

fn lennard_jones(x: &[f64]) -> LennardJones {
    LennardJones { epsilon: x[0], sigma: x[1], exponent: 6 }
}

const X: [f64; 4] = [0.0, 1.25, 2.75, 6.0];

#[test]
fn each_type_has_a_text_of_its_own() {
    let m = [0.75, 1.5, 1.1];
    let (value, (by, by_x)) = total::value_and_gradient(&morse(&m), &X).unwrap();
    same(value, total(&morse(&m), &X));
    close(&[by.depth, by.width, by.rest], &differences(|m| total(&morse(m), &X), &m));
    close(&by_x, &differences(|x| total(&morse(&m), x), &X));
    let l = [0.75, 1.5];
    for _ in 0..2 {
        let (value, (by, by_x)) = total::value_and_gradient(&lennard_jones(&l), &X).unwrap();
        same(value, total(&lennard_jones(&l), &X));
        close(&[by.epsilon, by.sigma], &differences(|l| total(&lennard_jones(l), &X), &l));
        close(&by_x, &differences(|x| total(&lennard_jones(&l), x), &X));
        // And the first one once more.
        same(total::value(&morse(&m), &X).unwrap(), total(&morse(&m), &X));
    }
    assert_ne!(total::<Morse>::text().unwrap(), total::<LennardJones>::text().unwrap());
    let (_, tangent) = total::jvp(&morse(&m), &X, &morse(&[1.0, 0.0, 0.0]), &[0.0; 4]).unwrap();
    close(&[tangent], &[value_by_depth(&m)]);
    // From several threads.
    let values: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| total::value(&morse(&m), &X).unwrap())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(values, [total(&morse(&m), &X); 4]);
}

fn value_by_depth(m: &[f64; 3]) -> f64 {
    total(&morse(m), &X) / m[0]
}

#[test]
fn methods_of_traits() {
    let m = morse(&[0.75, 1.5, 1.1]);
    let (value, (by, by_r)) = Morse_energy::value_and_gradient(&m, 1.5).unwrap();
    same(value, m.energy(1.5));
    close(&[by.depth], &[value / 0.75]);
    close(&[by_r], &differences(|r| m.energy(r[0]), &[1.5]));
    // What the trait provides, of a type.
    let (value, (_, by_r)) = Potential_shifted::value_and_gradient(&m, 1.5).unwrap();
    same(value, m.shifted(1.5));
    close(&[by_r], &differences(|r| m.shifted(r[0]), &[1.5]));
    assert_eq!(Potential_shifted::value(&m, 4.0).unwrap(), 0.0);
    let l = lennard_jones(&[0.75, 1.5]);
    same(LennardJones_shifted::value(&l, 1.5).unwrap(), l.shifted(1.5));
    same(Morse_scale::value().unwrap(), 2.0);
}

#[test]
fn several_types_and_lists() {
    let (m, l) = (morse(&[0.75, 1.5, 1.1]), lennard_jones(&[0.5, 1.25]));
    let (value, (by_p, by_q, by_r)) = pair::value_and_gradient(&[l, l], m, 1.5).unwrap();
    same(value, pair(&[l, l], m, 1.5));
    assert_eq!(by_p.len(), 2);
    assert!(by_q.depth != 0.0);
    close(&[by_r], &differences(|r| pair(&[l, l], m, r[0]), &[1.5]));
    same(pair::value(&[m], l, 2.0).unwrap(), pair(&[m], l, 2.0));
    let (value, (_, by_x)) = of_impl::value_and_gradient(&l, &X[1..]).unwrap();
    same(value, of_impl(&l, &X[1..]));
    close(&by_x, &differences(|x| of_impl(&l, x), &X[1..]));
    let mixture_of = |x: &[f64]| Mixture {
        first: morse(&x[..3]),
        others: vec![lennard_jones(&x[3..5]), lennard_jones(&x[5..])],
    };
    let at = [0.75, 1.5, 1.1, 0.5, 1.25, 0.25, 1.0];
    let (value, (by, by_x)) = mixture::value_and_gradient(&mixture_of(&at), &X).unwrap();
    same(value, mixture(&mixture_of(&at), &X));
    let by = [
        by.first.depth,
        by.first.width,
        by.first.rest,
        by.others[0].epsilon,
        by.others[0].sigma,
        by.others[1].epsilon,
        by.others[1].sigma,
    ];
    close(&by, &differences(|x| mixture(&mixture_of(x), &X), &at));
    close(&by_x, &differences(|x| mixture(&mixture_of(&at), x), &X));
}

#[test]
fn a_type_without_derivatives_is_an_error() {
    let error = total::value(&Plain { k: 1.0 }, &X).unwrap_err().to_string();
    assert!(
        error.contains("`energy` of `") && error.contains("Plain` has no derivatives"),
        "{error}"
    );
}

/// Traits of std, by their methods.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pair2(f64, f64);

#[differentiable]
impl Add for Pair2 {
    type Output = Pair2;

    fn add(self, other: Pair2) -> Pair2 {
        Pair2(self.0 + other.0, self.1 + other.1)
    }
}

#[differentiable]
fn added(a: Pair2, b: Pair2) -> f64 {
    let sum = a.add(b);
    sum.0 * sum.1
}

#[test]
fn traits_of_std() {
    let (a, b) = (Pair2(1.5, 2.0), Pair2(0.25, -0.5));
    let (value, (by_a, by_b)) = added::value_and_gradient(a, b).unwrap();
    same(value, added(a, b));
    assert_eq!((by_a, by_b), (Pair2(1.5, 1.75), Pair2(1.5, 1.75)));
}
