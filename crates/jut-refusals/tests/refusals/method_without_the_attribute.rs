use jut::differentiable;

#[derive(jut::Data)]
struct Point {
    x: f64,
}

impl Point {
    fn norm(&self) -> f64 {
        self.x.abs()
    }
}

#[differentiable]
fn f(p: &Point) -> f64 {
    p.norm()
}

fn main() {}
