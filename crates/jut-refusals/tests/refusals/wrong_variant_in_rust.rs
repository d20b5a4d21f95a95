use jut::differentiable;

#[derive(jut::Data)]
enum Kind {
    A(f64),
    B,
}

#[differentiable]
fn f(k: Kind) -> f64 {
    match k {
        Kind::A(x) => x,
        Kind::C => 0.0,
    }
}

fn main() {}
