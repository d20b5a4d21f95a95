//! What a build script compiles as it stands, and what it leaves to the attribute.

use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;
const POWERS: [f64; 3] = [0.5, -1.25, 2.0];
pub const TWICE: f64 = 2.0 * GRAVITY;

/// A ball that flies.
#[derive(jut::Data, Clone, Debug, PartialEq)]
pub struct Ball {
    /// Where it is.
    pub at: [f64; 2],
    /// How fast.
    pub speed: f64,
}

#[jut::differentiable]
impl Ball {
    fn energy(&self, mass: f64) -> f64 {
        mass * (GRAVITY * self.at[1] + 0.5 * self.speed * self.speed)
    }
}

#[jut::differentiable]
fn weight(k: usize) -> f64 {
    POWERS[k % 3]
}

#[jut::differentiable]
fn squares(x: &[f64], from: usize) -> f64 {
    let mut s = 0.0;
    for i in from..x.len() {
        if x[i] < -100.0 {
            continue;
        }
        s += x[i] * x[i];
    }
    s
}

/// Calls, constants, tables, an early end, checks.
#[jut::differentiable(wrt(x))]
pub fn loss(x: &[f64], mean: f64) -> f64 {
    assert!(mean > -5.0, "the mean is too small");
    let first = x.len() - 2;
    let mut s = 0.0;
    let mut k = 0;
    while s < 1e6 && k < 4 {
        s += weight(k) * (x[k % x.len()] * PI / mean).sin() + squares(x, first);
        k += 1;
    }
    if s < 0.0 {
        return -s;
    }
    s
}

#[jut::differentiable]
pub fn total(ball: &Ball, mass: f64) -> f64 {
    ball.energy(mass) + squares(&ball.at, 0)
}

#[jut::differentiable]
pub fn steps(x: [f64; 2], n: usize) -> [f64; 2] {
    let mut y = x;
    for _ in 0..n {
        y = [y[0] + 0.1 * y[1], y[1] - 0.1 * y[0].powi(3)];
    }
    y
}

/// The value of this constant only rustc knows.
#[jut::differentiable]
pub fn heavy(x: f64) -> f64 {
    x * TWICE
}

/// What this calls stands elsewhere.
#[jut::differentiable]
pub fn elsewhere(x: f64) -> f64 {
    super::other(x)
}

/// A method in a closure.
#[jut::differentiable]
pub fn every(balls: &[Ball]) -> f64 {
    balls.iter().map(|ball| ball.energy(1.0)).sum()
}

/// What has a weight.
#[jut::differentiable]
pub trait Weighs {
    /// How much it weighs.
    fn weighs(&self) -> f64;
}

/// There is a text for each type.
#[jut::differentiable]
pub fn each<W: Weighs>(of: &W) -> f64 {
    2.0 * of.weighs()
}

/// What this calls may fail.
#[jut::differentiable]
pub fn perhaps(x: f64) -> Result<f64, String> {
    Ok(root(x)? + 1.0)
}

#[jut::differentiable]
fn root(x: f64) -> Result<f64, String> {
    if x < 0.0 { Err("negative".to_string()) } else { Ok(x.sqrt()) }
}

/// A constant of the function hides that of the file.
#[jut::differentiable]
pub fn hidden(x: f64) -> f64 {
    const GRAVITY: f64 = 1.5;
    x * GRAVITY
}

/// Names of a function of its own, and of debug builds.
#[jut::differentiable]
pub fn within(x: f64) -> f64 {
    fn weight(x: f64) -> f64 {
        2.0 * x
    }
    weight(x)
}

#[jut::differentiable]
pub fn checked(x: f64) -> f64 {
    debug_assert!(x > 0.0);
    x * x
}
