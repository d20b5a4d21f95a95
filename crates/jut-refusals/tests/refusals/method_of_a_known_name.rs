use jut::{Data, differentiable};

#[derive(Data)]
struct P {
    x: f64,
}

#[differentiable]
impl P {
    fn abs(&self) -> f64 {
        self.x.abs()
    }
}

fn main() {}
