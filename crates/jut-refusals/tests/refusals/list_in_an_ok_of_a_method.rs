use jut::differentiable;

#[derive(jut::Data)]
struct Garch {
    omega: f64,
}

#[differentiable]
impl Garch {
    fn variances(&self, r: &[f64]) -> Result<Vec<f64>, String> {
        if r.is_empty() {
            return Err("no returns".to_string());
        }
        Ok(r.iter().map(|r| self.omega + r * r).collect())
    }
}

#[differentiable]
fn total(model: &Garch, r: &[f64]) -> f64 {
    match model.variances(r) {
        Ok(h) => h.iter().sum(),
        Err(_) => 0.0,
    }
}

fn main() {}
