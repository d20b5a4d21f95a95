use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Ring {
    data: [f64; 4],
    count: usize,
}

impl Ring {
    fn len(&self) -> usize {
        self.count
    }
}

#[differentiable]
fn total(ring: &Ring) -> f64 {
    ring.data[0] * ring.len() as f64
}

fn main() {}
