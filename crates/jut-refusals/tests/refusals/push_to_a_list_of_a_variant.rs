use jut::{Data, differentiable};

#[derive(Data, Clone)]
#[data(ragged)]
enum Shape {
    Disc(f64),
    Poly(Vec<f64>),
}

#[differentiable]
impl Shape {
    fn extend(&mut self, v: f64) {
        match self {
            Shape::Disc(r) => *r += v,
            Shape::Poly(sides) => sides.push(v),
        }
    }
}

fn main() {}
