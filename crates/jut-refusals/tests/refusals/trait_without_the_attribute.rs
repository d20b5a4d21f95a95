use jut::differentiable;

trait Potential {
    fn energy(&self, x: f64) -> f64;
}

#[differentiable]
fn f<P: Potential>(p: &P, x: f64) -> f64 {
    p.energy(x)
}

fn main() {}
