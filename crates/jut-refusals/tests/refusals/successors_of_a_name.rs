use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    std::iter::successors(Some(x), halved).take(3).sum()
}

fn halved(x: &f64) -> Option<f64> {
    Some(x / 2.0)
}

fn main() {}
