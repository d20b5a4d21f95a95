use jut::{Data, differentiable};

#[derive(Data)]
struct State<const N: usize> {
    x: [f64; N],
}

#[differentiable]
fn all<const N: usize>(x: f64) -> State<N> {
    State { x: [x; N] }
}

fn main() {}
