use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    loop {
        let _ = x;
    }
}

fn main() {}
