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

// A fold from behind, of a field too; and one that is left by a `return`.
#[derive(Data, Clone, Debug, PartialEq)]
struct Polynomial {
    coefficients: Vec<f64>,
}

#[differentiable]
impl Polynomial {
    fn at(&self, x: f64) -> f64 {
        self.coefficients.iter().rfold(0.0, |value, c| value * x + c)
    }
}

#[differentiable]
fn by_horner(x: &[f64]) -> f64 {
    let p = Polynomial { coefficients: x[1..].to_vec() };
    p.at(x[0]) + (1..4).rfold(1.0, |s, k| s * x[0] - k as f64)
}

#[differentiable]
fn left_early(x: &[f64]) -> f64 {
    let bounded = x.iter().try_fold(1.0, |product, v| {
        if *v < 0.0 {
            return None;
        }
        let next = product * (1.0 + v);
        if next > 5.0 {
            return None;
        }
        Some(next)
    });
    let told = x.iter().try_fold(0.0, |s, v| {
        if *v > 2.0 {
            return Err("too large");
        }
        Ok(s + v * v)
    });
    bounded.unwrap_or(-1.0) + told.unwrap_or(x[0])
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
        by_horner at [0.7, 1.0, -2.0, 0.5], [1.5];
        left_early at [0.5, 0.8], [0.5, -0.2], [1.5, 1.8], [3.0, 0.1], [0.4, 2.5];
    }
}
