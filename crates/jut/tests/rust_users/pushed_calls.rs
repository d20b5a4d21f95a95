//! Lists of what calls give: `rows.push(soft(x))`, where only the type of the list says that it is a list of lists.

use jut::{Data, differentiable};

#[differentiable]
fn soft(row: &[f64]) -> Vec<f64> {
    let z: f64 = row.iter().sum();
    row.iter().map(|v| v / z + 0.1).collect()
}

#[differentiable]
fn each_time(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..3 {
        let scaled: Vec<f64> = x.iter().map(|v| v * (i + 1) as f64).collect();
        rows.push(soft(&scaled));
    }
    rows.iter().map(|row| row[0] * row[1]).sum()
}

#[differentiable]
fn without_a_type(x: &[f64]) -> f64 {
    let mut rows = Vec::new();
    for i in 0..3 {
        let scaled: Vec<f64> = x.iter().map(|v| v * (i + 1) as f64).collect();
        rows.push(soft(&scaled));
    }
    rows.iter().map(|row| row[0] * row[1]).sum()
}

#[differentiable]
fn of_other_lengths(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![];
    for i in 0..x.len() {
        rows.push(soft(&x[i..]));
    }
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

#[differentiable]
fn states(x: &[f64]) -> f64 {
    let mut h = soft(x);
    let mut all: Vec<Vec<f64>> = Vec::new();
    for _ in 0..3 {
        h = soft(&h);
        all.push(h.clone());
    }
    all.iter().map(|h| h[0] * h[1]).sum()
}

#[differentiable]
fn of_the_last(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![soft(x)];
    for i in 0..2 {
        let next = soft(&rows[i]);
        rows.push(next);
    }
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

#[differentiable]
fn sometimes(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![];
    for i in 0..x.len() {
        if x[i] > 0.2 {
            rows.push(soft(&x[i..]));
        }
    }
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

// What a call gives has lists: the struct measures them.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Layer {
    weights: Vec<f64>,
    bias: f64,
}

#[differentiable]
impl Layer {
    fn new(n: usize, s: f64) -> Self {
        Layer { weights: vec![s; n], bias: s * s }
    }
}

#[differentiable]
fn layers(x: &[f64]) -> f64 {
    let mut all = vec![Layer::new(2, x[0]), Layer::new(3, x[1])];
    all.push(Layer::new(1, x[2]));
    all.iter().map(|l| l.weights.iter().sum::<f64>() * l.bias).sum()
}

#[test]
fn what_calls_give_is_pushed() {
    everywhere! {
        each_time at [0.1, 0.4, 0.2];
        without_a_type at [0.1, 0.4, 0.2];
        of_other_lengths at [0.1, 0.4, 0.2], [0.3];
        states at [0.1, 0.4, 0.2];
        of_the_last at [0.1, 0.4, 0.2];
        sometimes at [0.1, 0.4, 0.3], [0.1];
        layers at [0.1, 0.4, 0.2];
    }
}
