use jut::{Data, differentiable};

#[derive(Data)]
struct State<const N: usize> {
    x: [f64; N],
}

#[differentiable]
impl<const N: usize> State<N> {
    fn first(&self) -> f64 {
        self.x[0]
    }
}

fn main() {}
