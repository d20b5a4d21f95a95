use jut::{Data, differentiable};

#[derive(Data, Clone)]
struct Table {
    rules: &'static [(f64, f64)],
    gain: f64,
}

#[differentiable]
impl Table {
    fn first(&self, x: f64) -> f64 {
        self.gain * x + self.rules[0].0
    }
}

#[differentiable]
fn total(table: &Table, x: f64) -> f64 {
    table.rules.iter().map(|(a, b)| a * b * x).sum::<f64>() + table.first(x)
}

fn main() {
    let table = Table { rules: &[(1.0, 2.0)], gain: 1.0 };
    let _ = total::gradient(&table, 1.0);
}
