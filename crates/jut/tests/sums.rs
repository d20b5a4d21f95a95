//! Derivatives through values of sum types: the same bits in both engines.

use jut::{Arg, Engine, Model, Value};

const TEXT: &str = "
data Figure = Circle(radius: f64) | Box(width: f64, height: f64) | Empty

def area(f: Figure) -> f64 = case f {
  Circle(r) -> 3.141592653589793 * r^2
  Box(w, h) -> w * h
  Empty -> 0.0
}

def total[n](kind: [n]i64, x: [n]f64) -> f64 = {
  figures = build (i < n) {
    if kind[i] == 0 { Circle(x[i]) } else if kind[i] == 1 { Box(sin(x[i]), x[0]) } else { Empty() }
  }
  s = sum (f <- figures) { area(f) }
  s * s
}
";

#[test]
fn gradients_go_through_arrays_of_sums() {
    let model = Model::from_text(TEXT).unwrap();
    let f = model.function("total").unwrap();
    let (kind, x) = ([0i64, 1, 2, 1], [0.5, -0.25, 2.0, 1.5]);
    let [native, interpreted] = [Engine::Cranelift, Engine::Interpreter].map(|engine| {
        let gradient = f.clone().engine(engine).gradient().unwrap();
        let results = gradient.call(&[(&kind).into(), (&x).into()]).unwrap();
        results[0].floats().into_iter().map(f64::to_bits).collect::<Vec<u64>>()
    });
    assert_eq!(native, interpreted);
    assert_eq!(native[2], 0.0f64.to_bits(), "an empty figure has no derivative");
}

#[test]
fn a_parameter_of_a_sum_type_has_a_gradient_with_a_number_for_every_float() {
    let model = Model::from_text(TEXT).unwrap();
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let f = model.function("area").unwrap().engine(engine);
        let gradient = f.gradient().unwrap();
        let part = Value::Data("Box".into(), vec![Value::F64(2.0), Value::F64(5.0)]);
        let results = gradient.call(&[Arg::from(&part)]).unwrap();
        assert_eq!(results[0].floats(), [0.0, 5.0, 2.0]);
    }
}
