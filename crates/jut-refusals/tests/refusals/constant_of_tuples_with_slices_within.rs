use jut::differentiable;

#[differentiable]
fn total(x: f64) -> f64 {
    const RULES: &[(f64, &[f64])] = &[(1.0, &[0.5]), (2.0, &[0.25, 0.75])];
    RULES.iter().map(|(w, at)| w * at.iter().sum::<f64>() * x).sum()
}

fn main() {}
