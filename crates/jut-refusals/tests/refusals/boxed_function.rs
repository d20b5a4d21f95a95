use jut::differentiable;

#[differentiable]
fn f(g: Box<dyn Fn(f64) -> f64>, x: f64) -> f64 {
    g(x)
}

fn main() {}
