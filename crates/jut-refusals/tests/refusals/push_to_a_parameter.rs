use jut::differentiable;

#[differentiable]
fn f(x: &mut Vec<f64>) {
    x.push(1.0);
}

fn main() {}
