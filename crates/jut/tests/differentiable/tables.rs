//! Constants that are tables of structs, numbers whose type rustc alone knows, `isize`, and arrays of parts of lists.

use jut::{Data, differentiable};
use std::ops::Mul;

#[derive(Data, Copy, Clone, Debug, PartialEq)]
struct Gate {
    a: f64,
    n: usize,
    k: [f64; 2],
}

#[derive(Data, Copy, Clone, Debug, PartialEq)]
struct Matrix([[f64; 2]; 2]);

const GATES: [Gate; 2] =
    [Gate { a: 1.5, n: 2, k: [1.0, 2.0] }, Gate { a: -2.0, n: 1, k: [0.5, 3.0] }];
static MORE: &[Gate] = &[Gate { a: 0.25, n: 3, k: [0.0, 1.0] }];

#[differentiable]
impl Mul for Matrix {
    type Output = Matrix;
    fn mul(self, other: Matrix) -> Matrix {
        let mut all = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    all[i][j] += self.0[i][k] * other.0[k][j];
                }
            }
        }
        Matrix(all)
    }
}

#[differentiable]
impl Matrix {
    const ONE: Matrix = Matrix([[1.0, 0.0], [0.0, 1.0]]);
    fn trace(&self) -> f64 {
        self.0[0][0] + self.0[1][1]
    }
}

#[differentiable]
impl Gate {
    fn apply(&self, x: f64) -> f64 {
        self.a * x.powi(self.n as i32) + self.k[1] * x
    }
    fn matrix(&self, x: f64) -> Matrix {
        Matrix([[x, self.a], [self.k[0], x]])
    }
}

#[differentiable]
fn tables(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for gate in GATES.iter() {
        s += gate.a * x[0].powi(gate.n as i32) + gate.k[0];
    }
    for gate in &GATES {
        s += gate.apply(x[1]);
    }
    for gate in MORE {
        s += gate.apply(x[1]) * gate.k[1];
    }
    s += GATES[1].apply(x[0]);
    let m = GATES.iter().zip(x).fold(Matrix::ONE, |all, (gate, &v)| all * gate.matrix(v));
    s + m.trace() + Matrix::ONE.trace()
}

/// A controller whose fields bound what it gives: of which type they are, rustc knows.
#[derive(Data, Clone, Copy, Debug, Default, PartialEq)]
struct Control {
    gain: f64,
    last: f64,
    limit: f64,
    started: bool,
    count: i64,
    most: i64,
}

#[differentiable]
impl Control {
    fn update(&mut self, error: f64) -> f64 {
        let slope = if self.started { (error - self.last) / 0.1 } else { 0.0 };
        (self.started, self.last) = (true, error);
        let u = self.gain * error + slope;
        self.count = (self.count + self.count).clamp(-self.most, self.most);
        let w = u.clamp(-self.limit, self.limit);
        let least = (self.gain + self.last).max(self.limit);
        w + self.count as f64 * least
    }
}

#[differentiable]
fn controlled(x: &[f64]) -> f64 {
    let mut c = Control { gain: x[0], limit: x[1], count: 2, most: 5, ..Default::default() };
    x[2..].iter().map(|e| c.update(*e)).sum()
}

#[derive(Data, Clone)]
struct Image {
    height: usize,
    width: usize,
    data: Vec<f64>,
}

#[differentiable]
impl Image {
    fn at(&self, i: isize, j: isize) -> f64 {
        if i < 0 || j < 0 || i >= self.height as isize || j >= self.width as isize {
            0.0
        } else {
            self.data[i as usize * self.width + j as usize]
        }
    }
    fn blurred(&self, i: usize, j: usize) -> f64 {
        const STENCIL: [(isize, isize); 5] = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)];
        STENCIL.iter().map(|&(a, b)| self.at(i as isize + a, j as isize + b)).sum()
    }
}

#[differentiable]
fn blur(x: &[f64]) -> f64 {
    let image = Image { height: x.len() / 3, width: 3, data: x.to_vec() };
    let mut s = 0.0;
    for i in 0..image.height {
        for j in 0..image.width {
            s += image.blurred(i, j).powi(2) * (1 + i) as f64;
        }
    }
    s
}

#[differentiable]
fn shifted(x: &[f64], by: isize) -> f64 {
    let n = x.len() as isize;
    (0..n).map(|i| x[i as usize] * x[(i + by).rem_euclid(n) as usize]).sum()
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quat {
    w: f64,
    v: [f64; 3],
}

#[differentiable]
fn rotation(x: &[f64]) -> f64 {
    let q = Quat { w: x[0], v: x[1..4].try_into().unwrap() };
    let axis: [f64; 2] = x[4..].try_into().expect("two numbers");
    q.w * axis[0] + q.v.iter().map(|v| v * v).sum::<f64>() * axis[1] + q.v[2]
}

#[test]
fn constants_may_be_tables_of_structs() {
    agree! {
        tables at [0.7, 0.4];
        controlled at [0.5, 0.8, 0.7, -0.4, 1.2], [0.5, 9.0, 0.7, 0.4];
        blur at [0.5, -1.0, 2.0, 0.25, 1.5, -0.5];
        rotation at [0.5, -1.0, 2.0, 0.25, 1.5, -0.5];
    }
}

#[test]
fn isize_is_a_parameter() {
    let x = [0.5, -1.0, 2.0];
    for by in [-4, -1, 0, 2] {
        super::same(shifted::value(&x, by).unwrap(), shifted(&x, by));
        super::close(
            &shifted::gradient(&x, by).unwrap(),
            &super::differences(|x| shifted(x, by), &x),
        );
    }
}

#[test]
fn bounds_and_lengths_that_do_not_hold_are_errors() {
    let error = controlled::gradient(&[0.5, -0.8, 0.7]).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
    let error = rotation::gradient(&[0.5, -1.0, 2.0, 0.25, 1.5]).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("another length"), "{error}");
}
