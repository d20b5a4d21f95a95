use jut::{Data, differentiable};

#[derive(Data)]
struct Pair<T> {
    x: T,
    y: T,
}

#[differentiable]
trait Size {
    fn size(&self) -> f64;
}

#[differentiable]
impl<T> Size for Pair<T> {
    fn size(&self) -> f64 {
        2.0
    }
}

fn main() {}
