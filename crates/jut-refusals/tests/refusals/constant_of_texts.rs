use jut::differentiable;

const TIDES: [(&str, f64); 2] = [("M2", 0.5059), ("S2", 0.5236)];

#[differentiable]
fn total(x: f64) -> f64 {
    TIDES.iter().map(|(_, w)| w * x).sum()
}

fn main() {}
