use jut::differentiable;

#[derive(jut::Data, Clone)]
struct Layer {
    weights: Vec<f64>,
}

#[differentiable]
impl Layer {
    fn new(n: usize, s: f64) -> Self {
        Layer { weights: vec![s; n] }
    }
}

#[differentiable]
fn total(x: &[f64]) -> f64 {
    let layers = [Layer::new(2, x[0]), Layer::new(3, x[1])];
    layers[0].weights[0]
}

fn main() {}
