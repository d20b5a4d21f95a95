use jut::differentiable;

trait Potential {
    fn energy(&self, x: f64) -> f64;
}

#[differentiable]
fn f(p: Box<dyn Potential>, x: f64) -> f64 {
    p.energy(x)
}

fn main() {}
