//! Elements of own types by `Index` and `IndexMut`, and by other names of arrays; queues; functions behind references.

use jut::{Data, differentiable};
use std::ops::*;
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Axis {
    East,
    North,
    Up,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct P3 {
    x: f64,
    y: f64,
    z: f64,
}
#[differentiable]
impl Index<Axis> for P3 {
    type Output = f64;
    fn index(&self, a: Axis) -> &Self::Output {
        match a {
            Axis::East => &self.x,
            Axis::North => &self.y,
            Axis::Up => &self.z,
        }
    }
}
#[differentiable]
impl IndexMut<Axis> for P3 {
    fn index_mut(&mut self, a: Axis) -> &mut Self::Output {
        match a {
            Axis::East => &mut self.x,
            Axis::North => &mut self.y,
            Axis::Up => &mut self.z,
        }
    }
}
#[differentiable]
impl Index<usize> for P3 {
    type Output = f64;
    fn index(&self, k: usize) -> &f64 {
        match k {
            0 => &self.x,
            1 => &self.y,
            2 => &self.z,
            _ => panic!("an index of three"),
        }
    }
}
#[differentiable]
fn by_axis(x: &[f64]) -> f64 {
    let mut p = P3 { x: x[0], y: x[1], z: 0.5 };
    let mut s = 0.0;
    for a in [Axis::East, Axis::Up, Axis::North] {
        p[a] *= 2.0;
        if a != Axis::Up {
            p[Axis::Up] += p[a] * p[Axis::East];
        }
        s += p[a] - if a == Axis::North { 1.0 } else { 0.0 };
    }
    s + p[x.len() - 1] + (0..3).map(|k| p[k] * p[k]).sum::<f64>()
}
type Grid = [[f64; 3]; 2];
type Row = [f64; 3];
#[differentiable]
fn alias(g: &Grid, r: &Row) -> f64 {
    let mut h = *g;
    h[1][2] += r[0];
    h[0] = *r;
    h[0][1] *= g[1][0];
    h.iter().flatten().map(|v| v * v).sum()
}
#[differentiable]
fn aliases(x: &[f64]) -> f64 {
    let g: Grid = [[x[0], 1.0, 2.0], [x[1], x[0] * x[1], 0.5]];
    let r: Row = [x[1], 2.0, x[0]];
    alias(&g, &r) + g[1][1] * r[2]
}
#[derive(Data, Clone, Debug, PartialEq)]
struct Field2 {
    nx: usize,
    ny: usize,
    v: Vec<f64>,
}
#[differentiable]
impl Field2 {
    fn new(nx: usize, ny: usize) -> Self {
        Self { nx, ny, v: vec![0.0; nx * ny] }
    }
    fn relax(&mut self, w: f64) {
        for j in 1..self.ny - 1 {
            for i in 1..self.nx - 1 {
                let r = self[(i - 1, j)] + self[(i + 1, j)] + self[(i, j - 1)] + self[(i, j + 1)]
                    - 4.0 * self[(i, j)];
                self[(i, j)] += 0.25 * w * r;
            }
        }
    }
    fn norm(&self) -> f64 {
        (0..self.ny)
            .flat_map(|j| (0..self.nx).map(move |i| (i, j)))
            .map(|(i, j)| self[(i, j)] * self[(i, j)])
            .sum()
    }
}
#[differentiable]
impl Index<(usize, usize)> for Field2 {
    type Output = f64;
    fn index(&self, at: (usize, usize)) -> &f64 {
        let (i, j) = at;
        assert!(i < self.nx, "column {i}");
        &self.v[j * self.nx + i]
    }
}
#[differentiable]
impl IndexMut<(usize, usize)> for Field2 {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        let k = j * self.nx + i;
        &mut self.v[k]
    }
}
#[differentiable]
fn sor(x: &[f64]) -> f64 {
    let mut f = Field2::new(4, 3);
    for (k, v) in x.iter().enumerate() {
        f[(k, 0)] = *v;
        f[(k, 2)] = -0.5 * v;
    }
    for _ in 0..3 {
        f.relax(1.2);
    }
    f.norm() + f[(x.len(), 1)]
}
#[differentiable]
fn taken(x: &[f64]) -> f64 {
    let mut it = x.iter();
    let first: f64 = it.by_ref().take(2).sum();
    let until: f64 = it.by_ref().take_while(|v| **v > 0.0).map(|v| v * 2.0).sum();
    let one = it.nth(1).copied().unwrap_or(0.25);
    let mut rest = 1.0;
    for v in it.by_ref() {
        if *v > 3.0 {
            break;
        }
        rest *= v;
    }
    let left = it.len();
    first * until + one * rest + left as f64 + it.map(|v| v * v).sum::<f64>()
}
#[differentiable]
fn queue(x: &[f64]) -> f64 {
    let mut q: Vec<f64> = x.to_vec();
    let mut total = 0.0;
    while q.len() > 2 {
        let k = q.len() / 2;
        let part: f64 = q.drain(1..k).map(|v| v * v).sum();
        total += part - q[0];
        q.remove(0);
    }
    let tail: Vec<f64> = q.drain(x.len() - 4..).collect();
    total + tail.iter().sum::<f64>() * q.len() as f64
}
#[differentiable]
fn tests(x: &[f64]) -> f64 {
    fn good(v: f64) -> bool {
        v > 0.0 && v < 10.0
    }
    let mut s = 0.0;
    for &v in x {
        if !good(v) {
            continue;
        }
        s += v;
    }
    let n: u64 = x.len() as u64;
    let mean = if n > 0 { s / n as f64 } else { 0.0 };
    let m = n - 2;
    mean * m as f64 + (n.pow(2) % 7) as f64
}
#[differentiable]
fn functions(x: &[f64]) -> f64 {
    let k = x[1];
    let up = x[0] > 0.0;
    let f: Box<dyn Fn(f64) -> f64> =
        if up { Box::new(move |t| t * t * k) } else { Box::new(|t| t + k) };
    let basis: [&dyn Fn(f64) -> f64; 3] = [&|_| 1.0, &|t| t, &|t| t * t - k];
    (0..3).map(|i| basis[i](f(x[0])) * (i as f64 + 1.0)).sum()
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        by_axis at [0.3, 0.7], [0.3, 0.7, 1.0], [0.3, 0.7, 1.0, 2.0], [1.0];
        aliases at [0.3, 0.7], [0.3];
        sor at [0.3, 0.7], [0.3, 0.7, 1.0, 2.0], [0.3, 0.4, 0.2, 0.1, 0.9];
        taken at [0.3, 0.7, 1.0, 2.0, -1.0, 0.5, 0.4, 0.8, 5.0, 6.0], [0.3, 0.7, 1.0], [], [0.3, 0.7, 1.0, -2.0, 0.3];
        queue at [0.3, 0.7, 1.0, 2.0, -1.0, 0.5, 0.4], [0.3, 0.7, 1.0, 2.0], [0.3, 0.7, 1.0];
        tests at [0.3, 0.7, 1.0, -2.0], [0.3], [];
        functions at [0.3, 0.7], [-0.3, 0.2], [];
    }
}
