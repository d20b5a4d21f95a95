use jut::differentiable;

#[derive(jut::Data, Clone)]
struct Net {
    w: Vec<f64>,
}

#[differentiable]
fn f(all: &[Net]) -> f64 {
    all[0].w[0]
}

fn main() {}
