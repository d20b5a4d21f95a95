use jut::differentiable;

#[differentiable]
fn f(x: &mut [f64]) -> f64 {
    let (a, b) = x.split_at_mut(2);
    for v in a.iter() {
        if *v > 0.0 {
            return 1.0;
        }
    }
    b[0] = 1.0;
    2.0
}

fn main() {}
