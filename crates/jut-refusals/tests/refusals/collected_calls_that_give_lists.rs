use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Track {
    hits: Vec<f64>,
    weight: f64,
}

#[differentiable]
fn track(x: &[f64]) -> Track {
    Track { hits: x.iter().map(|v| v * v).collect(), weight: x[0] }
}

#[differentiable]
fn weighed(x: &[f64]) -> f64 {
    let all: Vec<Track> = (0..x.len()).map(|i| track(&x[i..])).collect();
    all.iter().map(|t| t.weight * t.hits.iter().sum::<f64>()).sum()
}

fn main() {}
