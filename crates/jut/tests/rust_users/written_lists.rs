//! What is written about lists: rows that are sought, rows of tuples, `None` among other elements, patterns with `..`.

use jut::{Data, differentiable};
const TABLE: [&[f64]; 3] = [&[1.0], &[0.5, 1.5, 2.5], &[1.0, 2.0]];
const PAIRS: [(f64, usize); 3] = [(1.0, 2), (0.5, 1), (2.0, 0)];
#[differentiable]
fn row_of_a_table(x: &[f64]) -> f64 {
    if let Some(row) = TABLE.iter().find(|row| row.len() as f64 > x[0]) {
        x[0] * row[0]
    } else {
        -x[0]
    }
}
#[differentiable]
fn rows_of_one_length(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(2).map(|c| c.to_vec()).collect();
    let found = match rows.iter().find(|row| row[0] > 1.0) {
        Some(row) => row[0] * row[1],
        None => x[0],
    };
    let most = rows.iter().max_by(|a, b| a[0].partial_cmp(&b[0]).unwrap()).unwrap();
    found + most[1] * most[0]
}
#[differentiable]
fn of_rows(rows: &[Vec<f64>]) -> f64 {
    let most = rows.iter().max_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
    let long = rows.iter().find(|row| row.len() > 2).map_or(0.0, |row| row.iter().sum());
    most.iter().map(|v| v * v).sum::<f64>() + long
}
#[differentiable]
fn rows_of_several(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = (0..3).map(|k| x[..k.min(x.len())].to_vec()).collect();
    of_rows(&[vec![x[0]], vec![x[0] * 2.0, 1.0, x[0]]])
        + rows.iter().find(|r| r.len() == 2).unwrap()[1]
}
#[differentiable]
fn pair_of_a_table(x: &[f64]) -> f64 {
    let (v, _) = PAIRS.iter().find(|(_, k)| *k as f64 <= x[0]).unwrap();
    let best = PAIRS.iter().max_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap()).unwrap();
    v * x[0] + best.0
}
#[differentiable]
fn nones(x: &[f64]) -> f64 {
    let o: [Option<f64>; 3] = [None, Some(x[0]), None];
    let all = [[None, Some(2.0)], [Some(x[0]), None]];
    o.iter().flatten().sum::<f64>() + all.iter().flatten().flatten().map(|v| v * v).sum::<f64>()
}
#[differentiable]
fn first_components(x: &[f64]) -> f64 {
    let p = [(x[0], 1usize, 2.0), (2.0, 2, x[0])];
    let (first, ..) = p[1];
    p.iter().map(|(v, ..)| v * first).sum()
}
/// Rows of tuples, of integers too, in a list of the function and in a constant of it.
#[differentiable]
fn rows_of_tuples(x: &[f64]) -> f64 {
    const EDGES: [&[(usize, f64)]; 3] = [&[(1, 0.5), (2, 0.25)], &[], &[(0, 2.0)]];
    let own: Vec<Vec<(usize, f64)>> =
        (0..3).map(|k| (0..k).map(|j| (j, x[j % x.len()] * k as f64)).collect()).collect();
    let mut sum = 0.0;
    for (row, edges) in own.iter().zip(EDGES.iter()) {
        sum += row.iter().map(|&(j, v)| v * (j + 1) as f64).sum::<f64>();
        sum += edges.iter().map(|&(j, w)| w * x[j % x.len()] * x[0]).sum::<f64>();
    }
    sum + own.last().map_or(0.0, |row| row.len() as f64 * x[0])
}

#[differentiable]
fn weighed(k: usize, x: &[f64]) -> Vec<(usize, f64)> {
    x.iter().enumerate().filter(|(i, _)| i % 3 != k).map(|(i, v)| (i, v * v)).collect()
}

/// Rows that a function gives, in a list whose type is written.
#[differentiable]
fn given_rows_of_tuples(x: &[f64]) -> f64 {
    let rows: Vec<Vec<(usize, f64)>> = (0..2).map(|k| weighed(k, x)).collect();
    rows.iter().flatten().map(|&(i, v)| v / (1 + i) as f64).sum()
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Force {
    along: f64,
    across: f64,
}

#[differentiable]
impl Force {
    fn turned(self) -> Force {
        Force { along: -self.across, across: self.along }
    }
}

/// A value of several arms, of which one leaves the round: it is a struct, of which a method is called.
#[differentiable]
fn arms_that_leave(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (k, &v) in x.iter().enumerate() {
        let force = match k % 3 {
            0 => continue,
            1 => Force { along: v, across: v * v },
            _ => Force { along: 1.0, across: v },
        };
        sum += force.turned().along * 2.0 + force.along;
    }
    sum
}

#[test]
fn rows_are_sought_and_have_tuples() {
    everywhere! {
        row_of_a_table at [1.5], [0.5], [4.0];
        rows_of_one_length at [1.2, 2.0, 0.3, 4.0], [0.1, 2.0, 0.3, 5.0], [0.1];
        rows_of_several at [1.0, 2.0], [1.0];
        pair_of_a_table at [1.5], [-1.0];
        rows_of_tuples at [1.5, 0.5, 2.0], [0.7], [];
        given_rows_of_tuples at [1.5, 0.5, 2.0, 0.3], [0.7], [];
    }
}

#[test]
fn nones_rests_and_arms() {
    everywhere! {
        nones at [3.0], [];
        first_components at [1.5];
        arms_that_leave at [1.0, 2.0, 3.0, 0.5, 0.2], [];
    }
}
