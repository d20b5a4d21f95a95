//! Rows of different lengths in a field of a struct, and lists that are written with lists of different lengths.

use jut::math::tanh;
use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Net {
    #[data(ragged)]
    w: Vec<Vec<f64>>,
    gain: f64,
}

/// One with a twin.
#[derive(Data, Clone, Debug, PartialEq)]
struct Graph {
    #[data(ragged)]
    next: Vec<Vec<usize>>,
    #[data(ragged)]
    length: Vec<Vec<f64>>,
}

#[differentiable]
impl Net {
    fn total(&self, a: f64) -> f64 {
        let mut s = 0.0;
        for (i, row) in self.w.iter().enumerate() {
            for v in row {
                s += a * v * v * (i + 1) as f64;
            }
        }
        s * self.gain + self.w[0].len() as f64
    }
    fn by_index(&self) -> f64 {
        let mut s = 0.0;
        for i in 0..self.w.len() {
            for j in 0..self.w[i].len() {
                s += self.w[i][j] * (i + j + 1) as f64;
            }
        }
        s * s
    }
    /// Layers of different widths.
    fn forward(&self, x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        for w in &self.w {
            let n = w.len() / a.len();
            let next: Vec<f64> = (0..n)
                .map(|r| {
                    let row = &w[r * a.len()..(r + 1) * a.len()];
                    tanh(row.iter().zip(&a).map(|(w, a)| w * a).sum::<f64>())
                })
                .collect();
            a = next;
        }
        a.iter().sum::<f64>() * self.gain
    }
    fn scaled(&self, by: f64) -> Net {
        let mut net = self.clone();
        for row in net.w.iter_mut() {
            for v in row.iter_mut() {
                *v *= by;
            }
        }
        net.w[1][0] += 1.0;
        net.w[0] = vec![by, 2.0 * by, 3.0];
        net
    }
    fn of_parts(x: &[f64]) -> Net {
        let w: Vec<Vec<f64>> = (0..x.len()).map(|i| x[..i + 1].to_vec()).collect();
        Net { w, gain: x[0] }
    }
    fn of_a_square(x: &[f64]) -> Net {
        let n = x.len();
        let mut w = vec![vec![0.0; n]; n];
        for i in 0..n {
            w[i][0] = x[i];
            w[i][n - 1] = 2.0 * x[i];
        }
        Net { w, gain: 1.0 }
    }
}

#[differentiable]
fn made_and_changed(x: &[f64]) -> f64 {
    let net = Net::of_parts(x);
    let other = net.scaled(x[0]);
    let mut third = Net::of_a_square(x);
    let square = third.by_index();
    let twice: Vec<Vec<f64>> = net.w.iter().map(|r| r.iter().map(|v| v * 2.0).collect()).collect();
    third.w = twice;
    net.total(2.0)
        + other.by_index()
        + third.total(1.5)
        + square
        + net.w.iter().map(|r| r.iter().product::<f64>()).sum::<f64>()
        + other.w.iter().flatten().map(|v| v * v).sum::<f64>()
        + other.w.last().unwrap().iter().sum::<f64>()
}

#[differentiable]
fn layers(x: &[f64]) -> f64 {
    let net = Net { w: vec![x[..6].to_vec(), x[6..9].to_vec()], gain: 1.5 };
    net.forward(&[0.5, -1.0])
}

/// The least sum over a walk, by as many rounds as there are places.
#[differentiable]
fn walk(graph: &Graph, sharpness: f64) -> f64 {
    let n = graph.next.len();
    let mut cost = vec![0.0; n];
    for _ in 0..n {
        let old = cost.clone();
        for i in 0..n {
            if graph.next[i].is_empty() {
                continue;
            }
            let mut least = f64::INFINITY;
            for (k, &to) in graph.next[i].iter().enumerate() {
                least = least.min(graph.length[i][k] + old[to]);
            }
            cost[i] = least * sharpness;
        }
    }
    cost[0]
}

/// Lists of lists that are written.
#[differentiable]
fn written(x: &[f64]) -> f64 {
    let rows = [vec![x[0]], vec![x[1], x[0] * x[1]], vec![1.0, 2.0, x[0]]];
    let ends = vec![x.to_vec(), x[1..].to_vec()];
    let products = rows.iter().map(|r| r.iter().product::<f64>()).sum::<f64>();
    products + ends.iter().map(|r| r.len() as f64 * r.iter().sum::<f64>()).sum::<f64>()
}

#[test]
fn rows_in_fields_have_lengths_of_their_own() {
    let net = Net { w: vec![vec![1.0, 2.0], vec![3.0], vec![]], gain: 2.0 };
    let (value, (by_net, by_a)) = Net_total::value_and_gradient(&net, 2.0).unwrap();
    assert_eq!(value, net.total(2.0));
    assert_eq!(by_net, Net { w: vec![vec![8.0, 16.0], vec![48.0], vec![]], gain: 46.0 });
    assert_eq!(by_a, 46.0);
    assert_eq!(Net_scaled::value(&net, 2.0).unwrap(), net.scaled(2.0));
    let (_, tangent) = Net_total::jvp(&net, 2.0, &by_net, 0.0).unwrap();
    let squares = by_net.w.iter().flatten().chain([&by_net.gain]).map(|v| v * v);
    assert_eq!(tangent, squares.sum::<f64>());

    let graph = Graph {
        next: vec![vec![1, 2], vec![3], vec![1, 3, 0], vec![]],
        length: vec![vec![1.0, 4.0], vec![2.5], vec![0.5, 1.0, 2.0], vec![]],
    };
    let (value, (by_graph, _)) = walk::value_and_gradient(&graph, 0.5).unwrap();
    assert_eq!(value, walk(&graph, 0.5));
    let own = vec![vec![0.5, 0.0], vec![0.25], vec![0.0; 3], vec![]];
    assert_eq!(by_graph, GraphGrad { length: own });
    everywhere! {
        made_and_changed at [1.5, 2.0, 0.5], [1.0, 2.0];
        layers at [0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7, 0.8, -0.9];
        written at [1.5, -0.5];
    }
}

#[differentiable]
fn squares(rows: &[Vec<f64>]) -> f64 {
    rows.iter().flatten().map(|v| v * v).sum()
}

#[differentiable]
fn given_to_a_function(net: &Net) -> f64 {
    net.gain * squares(&net.w)
}

#[differentiable]
impl Net {
    fn longest(&self, rows: &[Vec<f64>], least: usize) -> Result<usize, String> {
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        if longest < least { Err("all rows are short".to_string()) } else { Ok(longest) }
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Table {
    rows: Vec<Vec<f64>>,
}

/// The same function for a field of each kind.
#[differentiable]
fn given_by_both(net: &Net, table: &Table) -> f64 {
    let longest = net.longest(&net.w, 1).unwrap();
    squares(&net.w) * squares(&table.rows) + longest as f64
}

#[differentiable]
fn doubled(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter().map(|r| r.iter().map(|v| 2.0 * v).collect()).collect()
}

#[differentiable]
fn doubled_field(net: &Net) -> f64 {
    squares(&doubled(&net.w))
}

#[test]
fn a_field_with_such_rows_is_an_argument() {
    let net = Net { w: vec![vec![1.0, -2.0], vec![3.0], vec![]], gain: 2.0 };
    let (value, by_net) = given_to_a_function::value_and_gradient(&net).unwrap();
    assert_eq!(value, given_to_a_function(&net));
    assert_eq!(by_net, Net { w: vec![vec![4.0, -8.0], vec![12.0], vec![]], gain: 14.0 });
    let table = Table { rows: vec![vec![0.5, 1.0], vec![2.0, 0.0]] };
    let (value, (by_net, by_table)) = given_by_both::value_and_gradient(&net, &table).unwrap();
    assert_eq!(value, given_by_both(&net, &table));
    assert_eq!(by_net, Net { w: vec![vec![10.5, -21.0], vec![31.5], vec![]], gain: 0.0 });
    assert_eq!(by_table, Table { rows: vec![vec![14.0, 28.0], vec![56.0, 0.0]] });
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Scale {
    by: f64,
}

#[differentiable]
impl Scale {
    fn of(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        rows.iter().map(|r| r.iter().map(|v| self.by * v).collect()).collect()
    }
}

#[differentiable]
fn scaled_field(net: &Net) -> f64 {
    squares(&Scale { by: 2.0 }.of(&net.w))
}

#[test]
fn functions_that_give_rows_take_a_field_and_methods_the_struct() {
    let net = Net { w: vec![vec![1.0, -2.0], vec![3.0]], gain: 2.0 };
    let (value, by_net) = doubled_field::value_and_gradient(&net).unwrap();
    assert_eq!(value, doubled_field(&net));
    assert_eq!(by_net, Net { w: vec![vec![8.0, -16.0], vec![24.0]], gain: 0.0 });
    let error = scaled_field::gradient(&net).unwrap_err().to_string();
    assert!(error.contains("the field `w` has rows with lengths of their own"), "{error}");
    assert!(error.contains("ragged_fields.rs:") && error.contains("give it the struct"), "{error}");
}
