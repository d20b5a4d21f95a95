//! Algorithms and numbers: tables of a module, splits, masks, labels, closures.

use jut::math::{exp, sin};
use jut::{Data, differentiable};

/// Rules of several orders, as a table of rows of different lengths.
const NODES: [&[f64]; 3] = [&[0.0], &[-0.577, 0.577], &[-0.775, 0.0, 0.775]];
static WEIGHTS: &[&[f64]] = &[&[2.0], &[1.0, 1.0], &[0.556, 0.889, 0.556]];

#[differentiable]
fn quadrature(f: impl Fn(f64) -> f64, a: f64, b: f64, order: usize) -> f64 {
    let (half, mid) = ((b - a) / 2.0, (a + b) / 2.0);
    NODES[order].iter().zip(WEIGHTS[order]).map(|(n, w)| w * f(mid + half * n)).sum::<f64>() * half
}

#[differentiable]
fn nested_rules(x: &[f64]) -> f64 {
    let f = |t: f64| x[0] * exp(-t * x[1]) + sin(t);
    let mut before = quadrature(&f, 0.0, 1.0, 0);
    for order in 1..NODES.len() {
        let now = quadrature(&f, 0.0, 1.0, order);
        if (now - before).abs() < 1e-3 {
            return now;
        }
        before = now;
    }
    before * 2.0
}

/// The largest sum of neighbours, and where it is.
#[differentiable]
fn best_stretch(x: &[f64]) -> (f64, usize, usize) {
    let (mut best, mut from, mut to) = (f64::NEG_INFINITY, 0, 0);
    let (mut here, mut start) = (0.0, 0);
    for (i, &v) in x.iter().enumerate() {
        if here <= 0.0 {
            here = v;
            start = i;
        } else {
            here += v;
        }
        if here > best {
            (best, from, to) = (here, start, i + 1);
        }
    }
    (best, from, to)
}

#[differentiable]
fn stretches(x: &[f64]) -> f64 {
    let (best, from, to) = best_stretch(x);
    let outside: f64 = x[..from].iter().chain(&x[to..]).map(|v| v * v).sum();
    best + 0.25 * outside
}

/// All subsets by the bits of a mask: the one nearest to a target.
#[differentiable]
fn nearest_subset(x: &[f64]) -> f64 {
    let (&target, items) = x.split_last().unwrap();
    let n = items.len() as u32;
    let mut best: Option<(f64, u32)> = None;
    for mask in 0u32..1 << n {
        let sum: f64 =
            items.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, v)| v).sum();
        let gap = (sum - target).abs();
        best = match best {
            Some((b, m)) if b <= gap => Some((b, m)),
            _ => Some((gap, mask)),
        };
    }
    let (gap, mask) = best.unwrap();
    gap * gap + mask.count_ones() as f64 * items[0]
}

/// A merge sort by hand, which counts how far things move.
#[differentiable]
fn merge_into(left: &[f64], right: &[f64]) -> (Vec<f64>, usize) {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j, mut moved) = (0, 0, 0);
    while i < left.len() && j < right.len() {
        if left[i] <= right[j] {
            out.push(left[i]);
            i += 1;
        } else {
            out.push(right[j]);
            j += 1;
            moved += left.len() - i;
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend_from_slice(&right[j..]);
    (out, moved)
}

#[differentiable]
fn inversions(x: &[f64]) -> f64 {
    let mut list = x.to_vec();
    let mut width = 1;
    let mut total = 0;
    while width < list.len() {
        let mut next = Vec::new();
        let mut start = 0;
        while start < list.len() {
            let mid = (start + width).min(list.len());
            let end = (start + 2 * width).min(list.len());
            let (merged, moved) = merge_into(&list[start..mid], &list[mid..end]);
            total += moved;
            next.extend(merged);
            start = end;
        }
        list = next;
        width *= 2;
    }
    list.iter().enumerate().map(|(i, v)| i as f64 * v).sum::<f64>() * (1.0 + total as f64)
}

/// A step of a multigrid-like restriction in place, by halves of one list.
#[differentiable]
fn halves_swapped(x: &[f64]) -> f64 {
    let mut u = x.to_vec();
    let half = u.len() / 2;
    {
        let (left, right) = u.split_at_mut(half);
        for (l, r) in left.iter_mut().zip(right.iter_mut()) {
            if *l > *r {
                std::mem::swap(l, r);
            }
            *r += 0.5 * *l;
        }
    }
    u.rotate_left(1);
    let (evens, odds): (Vec<f64>, Vec<f64>) = u.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
    evens.iter().zip(odds.iter().rev()).map(|(a, b)| a * b).sum()
}

/// A search in a sorted table with an index in each of its rows, left by labels.
#[differentiable]
fn staircase(x: &[f64]) -> f64 {
    let table: Vec<Vec<f64>> =
        (0..3).map(|i| (0..4).map(|j| x[0] * i as f64 + x[1] * j as f64).collect()).collect();
    let wanted = x[2];
    let mut found = None;
    'rows: for (i, row) in table.iter().enumerate() {
        for (j, &v) in row.iter().enumerate() {
            if v > wanted {
                if j == 0 {
                    break 'rows;
                }
                continue 'rows;
            }
            found = Some((i, j, wanted - v));
        }
    }
    let at = table[0].partition_point(|v| *v < wanted);
    match found {
        Some((i, j, rest)) => rest * (i + 1) as f64 + j as f64 * 0.1 + at as f64 * x[1],
        None => wanted * wanted,
    }
}

/// A polynomial as a type, with operators that make lists.
#[derive(Data, Clone, Debug, PartialEq)]
struct Poly {
    c: Vec<f64>,
}

#[differentiable]
impl Poly {
    fn at(&self, x: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |s, c| s * x + c)
    }
    fn slope(&self) -> Poly {
        Poly { c: self.c.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c).collect() }
    }
    fn times(&self, other: &Poly) -> Poly {
        let mut c = vec![0.0; self.c.len() + other.c.len() - 1];
        for (i, a) in self.c.iter().enumerate() {
            for (j, b) in other.c.iter().enumerate() {
                c[i + j] += a * b;
            }
        }
        Poly { c }
    }
}

#[differentiable]
fn polynomial_steps(x: &[f64]) -> f64 {
    let p = Poly { c: vec![x[0], x[1], 1.0] };
    let q = p.times(&Poly { c: vec![1.0, x[2]] });
    let d = q.slope();
    let mut t = 2.0;
    let mut steps = 0;
    while steps < 4 {
        let f = q.at(t);
        let g = d.at(t);
        if g.abs() < 1e-9 {
            break;
        }
        t -= f / g;
        steps += 1;
    }
    t + p.at(t) + 0.1 * d.slope().at(t)
}

/// Single precision: a running mean with a correction.
#[differentiable]
fn corrected(x: &[f64]) -> f64 {
    let narrow: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let (sum, _) = narrow.iter().fold((0.0f32, 0.0f32), |(s, c), &v| {
        let y = v - c;
        let t = s + y;
        (t, (t - s) - y)
    });
    let mean = sum / narrow.len() as f32;
    let widened = f64::from(mean);
    x.iter().map(|v| (v - widened).powi(2)).sum::<f64>()
}

/// Life on a grid of numbers: cells with two or three live neighbours live on.
#[differentiable]
fn life<const H: usize, const W: usize>(grid: &[[f64; W]; H]) -> [[f64; W]; H] {
    let mut next = [[0.0; W]; H];
    for i in 0..H {
        for j in 0..W {
            let mut live = 0.0;
            for di in [H - 1, 0, 1] {
                for dj in [W - 1, 0, 1] {
                    if (di, dj) != (0, 0) {
                        live += grid[(i + di) % H][(j + dj) % W];
                    }
                }
            }
            let bell = |m: f64| exp(-(live - m) * (live - m));
            next[i][j] = grid[i][j] * bell(2.0) + bell(3.0) * (1.0 - grid[i][j] * bell(2.0));
        }
    }
    next
}

#[differentiable]
fn lived(x: &[f64]) -> f64 {
    let mut grid = [[0.0; 3]; 4];
    for (cell, v) in grid.iter_mut().flatten().zip(x) {
        *cell = *v;
    }
    for _ in 0..2 {
        grid = life(&grid);
    }
    grid.iter().flatten().sum::<f64>() + grid[1][2]
}

#[differentiable]
fn counted_up(x: &[f64]) -> f64 {
    let mut m = vec![vec![1.0; 2]; x.len()];
    let mut k = 0;
    for v in m.iter_mut().flatten() {
        *v += x[k % x.len()] * k as f64;
        k += 1;
    }
    m.iter().flatten().map(|v| v * v).sum()
}

/// The same by the number of each.
#[differentiable]
fn numbered(x: &[f64]) -> f64 {
    let mut m = vec![vec![1.0; 2]; x.len()];
    for (k, v) in m.iter_mut().flatten().enumerate() {
        *v += x[k % x.len()] * k as f64;
    }
    m.iter().flatten().map(|v| v * v).sum()
}

#[test]
fn rules_stretches_and_subsets() {
    everywhere! {
        nested_rules at [1.0, 0.5], [0.0, 0.0];
        stretches at [1.0, -2.0, 3.0, 0.5, -1.0, 2.0], [-1.0, -0.5];
        nearest_subset at [1.0, 2.5, 0.7, 3.0];
        inversions at [3.0, 1.0, 2.5, 0.2, 1.7];
    }
}

#[test]
fn halves_grids_and_polynomials() {
    everywhere! {
        halves_swapped at [1.0, 2.0, 0.5, 3.0, 1.5, 0.2];
        staircase at [1.0, 0.7, 1.9], [1.0, 0.7, -0.5];
        polynomial_steps at [-2.0, 0.3, 0.5];
        corrected at [1.5, 2.25, -0.5];
        lived at [0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.5, 0.95, 0.05, 0.35], [0.9, 0.1, 0.8];
        counted_up at [1.0, 2.0, 3.0];
        numbered at [1.0, 2.0, 3.0];
    }
}
