use jut::differentiable;

#[differentiable]
trait Energy<T> {
    fn of(&self, x: T) -> f64;
}

fn main() {}
