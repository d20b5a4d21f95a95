use jut::{Data, differentiable};

#[differentiable]
trait Scale {
    fn unit() -> Ruler;
    fn length(&self) -> f64;
}

#[derive(Data, Clone, Copy)]
struct Ruler {
    length: f64,
}

#[differentiable]
impl Scale for Ruler {
    fn unit() -> Ruler {
        Ruler { length: 1.0 }
    }
    fn length(&self) -> f64 {
        self.length
    }
}

#[differentiable]
fn total<S: Scale>(parts: &[S]) -> f64 {
    S::unit().length() * parts.iter().map(|p| p.length()).sum::<f64>()
}

fn main() {}
