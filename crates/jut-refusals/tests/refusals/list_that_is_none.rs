use jut::{Data, differentiable};

#[derive(Data, Clone)]
struct Queue {
    items: Vec<f64>,
}

#[differentiable]
impl Queue {
    fn truncate(&mut self, n: usize) {
        self.items[0] *= n as f64;
    }
}

#[differentiable]
fn queue(x: f64) -> Queue {
    Queue { items: vec![x, 1.0] }
}

#[differentiable]
fn first(queue: &Queue) -> f64 {
    queue.items[0]
}

#[differentiable]
fn f(x: f64) -> f64 {
    let mut q = queue(x);
    q.truncate(1);
    first(&q)
}

fn main() {}
