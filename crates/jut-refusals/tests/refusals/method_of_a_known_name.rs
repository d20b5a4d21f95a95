use jut::{Data, differentiable};

#[derive(Data)]
struct P {
    x: f64,
}

#[differentiable]
impl P {
    fn is_nan(&self) -> bool {
        self.x.is_nan()
    }
}

fn main() {}
