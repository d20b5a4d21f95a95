use jut::{Data, differentiable};

#[derive(Data)]
struct Pair<T> {
    x: T,
    y: T,
}

#[differentiable]
fn f(p: &Pair<f64>, q: &Pair<f32>) -> f64 {
    let r = Pair { x: p.x, y: p.y };
    r.x * f64::from(q.x)
}

fn main() {}
