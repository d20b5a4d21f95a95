use jut::differentiable;

#[expect(non_camel_case_types)]
struct f {}

#[differentiable]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
