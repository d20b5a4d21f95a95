use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let y = loop {
        if x > 0.0 {
            return 1.0;
        }
        break x;
    };
    y * y
}

fn main() {}
