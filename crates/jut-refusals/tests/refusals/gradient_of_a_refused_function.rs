use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    println!("{x}");
    x
}

fn main() {
    let _ = f::gradient(1.0);
}
