//! Elements of own types by an array of numbers, `m[[i, j]]`, and by a pair or an array that has a name.

use jut::{Data, differentiable};
use std::ops::{Index, IndexMut};

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Mat {
    data: Vec<f64>,
    columns: usize,
}

#[differentiable]
impl Index<[usize; 2]> for Mat {
    type Output = f64;
    fn index(&self, [i, j]: [usize; 2]) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

#[differentiable]
impl IndexMut<[usize; 2]> for Mat {
    fn index_mut(&mut self, [i, j]: [usize; 2]) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}

/// By a pair as well, under one name.
#[derive(Data, Clone, Debug, PartialEq)]
struct Grid {
    cells: [f64; 4],
}

#[differentiable]
impl Index<[usize; 2]> for Grid {
    type Output = f64;
    fn index(&self, at: [usize; 2]) -> &Self::Output {
        &self.cells[at[0] * 2 + at[1]]
    }
}

#[differentiable]
impl IndexMut<[usize; 2]> for Grid {
    fn index_mut(&mut self, at: [usize; 2]) -> &mut Self::Output {
        &mut self.cells[at[0] * 2 + at[1]]
    }
}

#[differentiable]
impl Index<(usize, usize)> for Grid {
    type Output = f64;
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.cells[at.0 + 2 * at.1]
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Held {
    mat: Mat,
    gain: f64,
}

#[differentiable]
fn assigned(x: &[f64]) -> f64 {
    let mut m = Mat { data: x.to_vec(), columns: 2 };
    m[[0, 1]] += 2.0 * m[[1, 0]];
    m[[1, 1]] = m[[0, 0]] * m[[0, 1]];
    let mut s = 0.0;
    for i in 0..2 {
        for j in 0..2 {
            s += m[[i, j]] * (i + 2 * j) as f64;
        }
    }
    s
}

#[differentiable]
fn by_names(x: &[f64]) -> f64 {
    let mut m = Grid { cells: [x[0], x[1], x[2], x[3]] };
    m[[0, 1]] += 2.0 * m[[1, 0]];
    let (k, p) = ([1, 1], (1, 0));
    m[k] = m[[0, 0]] * m[p];
    m[k] * m[[0, 1]] + m[p] * m[(0, 1)]
}

#[differentiable]
fn of_fields(x: &[f64]) -> f64 {
    let mut held = Held { mat: Mat { data: x.to_vec(), columns: 2 }, gain: x[0] };
    held.mat[[0, 1]] += 2.0;
    held.mat[[1, 0]] * held.mat[[0, 1]] * held.gain
}

#[test]
fn elements_by_arrays() {
    everywhere! {
        assigned at [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0];
        by_names at [1.0, 2.0, 3.0, 4.0];
        of_fields at [1.0, 2.0, 3.0, 4.0], [1.0];
    }
}
