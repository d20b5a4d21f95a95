use jut::differentiable;

#[derive(jut::Data)]
struct Recorder {
    history: Vec<f64>,
}

#[differentiable]
impl Recorder {
    fn add(&mut self, v: f64) {
        self.history.push(v);
    }
}

fn main() {}
