//! Parts of lists that are changed in place, lists that go on with others, and ranges that are asked for a number.

use jut::{Data, differentiable};

/// Rows of a matrix in one list: each is centred and stretched, the last one may be shorter.
#[differentiable]
fn normalised(x: &[f64]) -> f64 {
    let d = 3;
    let mut h = x.to_vec();
    for row in h.chunks_exact_mut(d) {
        let mean = row.iter().sum::<f64>() / d as f64;
        for v in row.iter_mut() {
            *v = (*v - mean) * 2.0;
        }
        row[0] += mean;
    }
    for (i, row) in h.chunks_mut(4).enumerate() {
        row[0] *= (i + 1) as f64;
        for v in row {
            *v += 1.0;
        }
    }
    h.chunks_mut(2).zip(x).for_each(|(pair, w)| pair[0] *= w);
    h.iter().enumerate().map(|(i, v)| v * (i as f64 + 0.5)).sum()
}

/// The same of a field, from the end.
#[derive(Data, Clone)]
struct Grid {
    width: usize,
    cells: Vec<f64>,
}

#[differentiable]
impl Grid {
    fn swept(&mut self, by: f64) {
        for (k, row) in self.cells.chunks_mut(self.width).enumerate().rev() {
            for j in 1..row.len() {
                row[j] += by * row[j - 1] * k as f64;
            }
        }
    }
}

#[differentiable]
fn sweeps(x: &[f64], width: usize) -> f64 {
    let mut grid = Grid { width, cells: x.to_vec() };
    grid.swept(0.5);
    grid.swept(-0.25);
    grid.cells.iter().map(|v| v * v).sum()
}

#[differentiable]
fn upper_half_sorted(x: &[f64]) -> f64 {
    let mut h = x.to_vec();
    let n = h.len();
    let tail = &mut h[n / 2..];
    tail.sort_by(|a, b| a.total_cmp(b));
    for v in tail.iter_mut() {
        *v *= *v;
    }
    let mut table = vec![vec![0.0; 3]; 2];
    let part = &mut table[1][1..];
    part[0] = x[0];
    part[1] = x[1] * x[2];
    let first = h[0];
    h.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum::<f64>()
        + table[1].iter().sum::<f64>() * first
}

#[differentiable]
fn joined(x: &[f64]) -> f64 {
    let pairs: Vec<f64> =
        x.iter().flat_map(|&v| [v, -2.0 * v * v]).chain(std::iter::once(x[0])).collect();
    let knots: Vec<f64> = std::iter::repeat(0.5)
        .take(3)
        .chain((0..=2).map(|i| i as f64 * x[1]))
        .chain(std::iter::repeat(4.0).take(3))
        .collect();
    let both: f64 = x.iter().map(|v| v * v).chain(x.windows(2).map(|w| w[0] * w[1])).sum();
    pairs.iter().zip(&knots).map(|(a, b)| a * b).sum::<f64>() + both
}

#[differentiable]
fn bands(x: &[f64]) -> f64 {
    x.iter()
        .enumerate()
        .map(|(i, v)| {
            if (0.2..0.6).contains(v) {
                v * v
            } else if (2..=3).contains(&i) {
                3.0 * v
            } else if !(..0.0).contains(v) {
                v * v * v
            } else {
                0.0
            }
        })
        .sum()
}

/// What a method gives is gone through beside another.
#[derive(Data, Clone)]
struct Layer {
    w: Vec<f64>,
}

#[differentiable]
impl Layer {
    fn scaled(&self, k: f64) -> Vec<f64> {
        self.w.iter().map(|v| v * k).collect()
    }
}

#[derive(Data, Clone)]
struct Net {
    a: Layer,
    b: Layer,
}

#[differentiable]
impl Net {
    fn products(&self, k: f64) -> Vec<f64> {
        self.a.scaled(k).iter().zip(self.b.scaled(2.0)).map(|(p, q)| p * q).collect()
    }
}

#[differentiable]
fn nets(x: &[f64]) -> f64 {
    let net = Net { a: Layer { w: x.to_vec() }, b: Layer { w: x.iter().map(|v| v * v).collect() } };
    net.products(x[0]).iter().sum()
}

#[differentiable]
fn first_and_last_row(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(2).map(|c| c.to_vec()).collect();
    let last = rows.last().unwrap();
    let first = rows.first().expect("no rows");
    last.iter().zip(first).map(|(a, b)| a * b).sum::<f64>()
        + rows.last().unwrap()[0]
        + x.last().unwrap()
}

#[differentiable]
fn by_parts_of(x: &[f64], n: usize) -> f64 {
    let mut h = x.to_vec();
    for part in h.chunks_mut(n) {
        part[0] = 0.0;
    }
    h.iter().sum()
}

/// What stands last in a round has no value, however it ends.
#[differentiable]
fn rounds(x: &[f64]) -> f64 {
    let mut h = x.to_vec();
    for row in h.chunks_mut(2) {
        if row[0] > 0.5 { row[0] *= 2.0 } else { row[0] += 1.0 }
    }
    for (k, row) in h.chunks_mut(3).enumerate() {
        match k {
            0 => row[0] = 3.0 * row[0],
            _ => row.iter_mut().for_each(|v| *v *= 0.5),
        }
    }
    for row in h.chunks_exact_mut(2) {
        row.sort_by(|a, b| a.total_cmp(b))
    }
    h.iter().enumerate().map(|(i, v)| v * v * (i + 1) as f64).sum()
}

#[test]
fn parts_of_lists_are_changed_in_place() {
    agree! {
        normalised at [0.5, -0.25, 1.5, 2.0, 0.75, -1.5, 0.3], [0.5, 2.0, -1.0];
        upper_half_sorted at [0.5, 2.0, 1.5, 0.25, -0.75];
        rounds at [0.75, 2.0, 0.25, 0.375, -0.75];
        joined at [0.5, 0.25, 1.5, -2.0];
        bands at [0.3, 0.7, 1.5, -2.0, -1.0, 0.5];
        nets at [0.5, 2.0, -1.0];
        first_and_last_row at [0.5, 2.0, -1.0, 0.25];
    }
    let x = [0.5, -0.25, 1.5, 2.0, 0.75, -1.5, 0.3];
    for width in [1, 2, 3, 7, 9] {
        super::same(sweeps::value(&x, width).unwrap(), sweeps(&x, width));
        let slopes = super::differences(|x| sweeps(x, width), &x);
        super::close(&sweeps::gradient(&x, width).unwrap(), &slopes);
    }
}

#[test]
fn parts_that_are_not_there_are_errors() {
    assert_eq!(by_parts_of::value(&[1.0, 2.0, 3.0], 2).unwrap(), 2.0);
    let error = by_parts_of::gradient(&[1.0, 2.0], 0).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("chunk size must be non-zero"), "{error}");
    assert_eq!(first_and_last_row::value(&[]).unwrap_err().code(), Some("R12"));
    assert_eq!(upper_half_sorted::value(&[1.0]).unwrap_err().code(), Some("R01"));
}
