//! Methods that a trait provides, called of types of their own.

use jut::{Data, differentiable};

#[differentiable]
trait Potential {
    const CUTOFF: f64;
    fn energy(&self, r: f64) -> f64;
    fn shifted(&self, r: f64) -> f64 {
        if r > Self::CUTOFF { 0.0 } else { self.energy(r) - self.energy(Self::CUTOFF) }
    }
    fn twice(&self, r: f64) -> f64 {
        2.0 * self.shifted(r)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Harmonic {
    k: f64,
}

#[differentiable]
impl Potential for Harmonic {
    const CUTOFF: f64 = 3.0;
    fn energy(&self, r: f64) -> f64 {
        self.k * (r - 1.0) * (r - 1.0)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pairs {
    near: Harmonic,
    far: Harmonic,
}

#[differentiable]
fn of_one(k: f64, r: f64) -> f64 {
    let h = Harmonic { k };
    h.shifted(r) + h.energy(r)
}

#[differentiable]
fn of_two(p: &Pairs, r: f64) -> f64 {
    p.near.twice(r) + p.far.shifted(2.0 * r)
}

#[test]
fn provided() {
    assert_eq!(of_one::value(0.5, 1.5).unwrap(), of_one(0.5, 1.5));
    assert_eq!(of_one::gradient(0.5, 1.5).unwrap(), (0.25 - 4.0 + 0.25, 1.0));
    let p = Pairs { near: Harmonic { k: 0.5 }, far: Harmonic { k: 2.0 } };
    assert_eq!(of_two::value(&p, 1.25).unwrap(), of_two(&p, 1.25));
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Stiff {
    k: f64,
}

/// What the trait provides goes behind what the `impl` says itself, and behind a method of the type.
#[differentiable]
impl Potential for Stiff {
    const CUTOFF: f64 = 2.0;
    fn energy(&self, r: f64) -> f64 {
        self.k * r
    }
    fn shifted(&self, r: f64) -> f64 {
        self.energy(r) - 1.0
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Other {
    a: f64,
}

#[differentiable]
impl Other {
    fn shifted(&self, r: f64) -> f64 {
        self.a + r
    }
}

#[differentiable]
fn of_others(k: f64, r: f64) -> f64 {
    let (s, o) = (Stiff { k }, Other { a: k });
    s.twice(r) + s.shifted(r) * o.shifted(r)
}

#[test]
fn own_methods_go_before() {
    assert_eq!(of_others::value(0.5, 1.5).unwrap(), of_others(0.5, 1.5));
    let (by_k, by_r) = of_others::gradient(0.5, 1.5).unwrap();
    // 2 (k r - 1) + (k r - 1) (k + r)
    assert_eq!((by_k, by_r), (3.0 + 1.5 * 2.0 - 0.25, 1.0 + 0.5 * 2.0 - 0.25));
}
