use jut::{Data, differentiable};

#[derive(Data, Clone)]
struct Series<const N: usize>([f64; N]);

#[differentiable]
impl<const N: usize> Series<N> {
    fn constant(v: f64) -> Self {
        Series([v; N])
    }

    fn first(&self) -> f64 {
        self.0[0]
    }
}

fn main() {}
