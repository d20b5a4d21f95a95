use jut::{Data, differentiable};

#[derive(Data, Clone, Copy)]
struct Pair {
    a: f64,
    b: f64,
}

#[differentiable]
impl Pair {
    fn map(self, f: impl Fn(f64) -> f64) -> Pair {
        Pair { a: f(self.a), b: f(self.b) }
    }
}

#[differentiable]
fn f(p: Pair) -> f64 {
    let twice: Pair = Pair::map(p, |v| v * 2.0);
    let half: Pair = p.map(|v| v * 0.5);
    twice.a * half.b
}

fn main() {}
