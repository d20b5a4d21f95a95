//! Value and gradient of the programs, written by hand as a careful numerical programmer would:
//! one pass where that is possible, sums in lanes that fill the vector units, an exponential that
//! vectorises, no allocation per call, results straight into the caller's buffers. They are what
//! jut is measured against.

// Indices as in the formulas.
#![allow(clippy::needless_range_loop)]

mod convolutions;
mod dynamics;
mod matrices;
mod models;
mod networks;
mod processes;
mod scalars;
mod states;
mod vectors;

pub use convolutions::{Shape, convolution, residual};
pub use dynamics::{LennardJones, LotkaVolterra, Stencil};
pub use matrices::Product;
pub use models::{Asian, Cholesky, Kernel, Mixture};
pub use networks::{Mlp, MlpParameters, Rnn, logistic, sigmoids};
pub use processes::Process;
pub use scalars::{power, sin, sincos};
pub use states::{Hmm, Kalman, Nbody, Reaction};
pub use vectors::{logsumexp, neighbours, rosenbrock};

/// Lanes of a sum: four registers of the widest vectors, so that additions overlap.
const LANES: usize = 32;

/// The sum of products.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for k in 0..LANES {
            lanes[k] += a[k] * b[k];
        }
    }
    fold(lanes) + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// One number for each of eight lanes: one vector.
#[inline(always)]
fn each(f: impl FnMut(usize) -> f64) -> [f64; 8] {
    std::array::from_fn(f)
}

/// Adds lanes pairwise.
#[inline(always)]
fn fold<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut width = N / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] += lanes[k + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// exp(x) for x up to 709, to about one unit in the last place, and 0 where it is tiny: without a
/// branch, so that a loop over it becomes vector code.
#[inline(always)]
fn exp(x: f64) -> f64 {
    // Adding this rounds to an integer, which then stands in the lowest bits.
    const ROUND: f64 = 6755399441055744.0;
    const LN2_HIGH: f64 = 0.6931471805598903;
    const LN2_LOW: f64 = 5.497923018708371e-14;
    // 1 / k! for k = 13 down to 2.
    const SERIES: [f64; 12] = [
        1.0 / 6227020800.0,
        1.0 / 479001600.0,
        1.0 / 39916800.0,
        1.0 / 3628800.0,
        1.0 / 362880.0,
        1.0 / 40320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let clamped = x.max(-708.0);
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, clamped));
    let mut p = SERIES[0];
    for c in &SERIES[1..] {
        p = p.mul_add(r, *c);
    }
    let p = (p * r).mul_add(r, r) + 1.0;
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < -708.0 { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_vector_exponential_agrees_with_the_standard_library() {
        for k in -7000..7000 {
            let x = f64::from(k) * 0.1;
            let (ours, exact) = (super::exp(x), x.exp());
            assert!((ours - exact).abs() <= 4e-16 * exact, "exp({x}) = {exact}, not {ours}");
        }
        assert_eq!(super::exp(-1000.0), 0.0);
        assert_eq!(super::exp(0.0), 1.0);
    }

    #[test]
    fn a_dot_product_counts_every_element_once() {
        for n in [0, 1, 31, 32, 33, 100] {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: f64 = a.iter().map(|x| x * x).sum();
            assert_eq!(super::dot(&a, &a), expected);
        }
    }
}
