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

#[test]
fn arrays_of_constructors_that_a_value_does_not_have_need_not_be_given() {
    let text = "
data Shape = Line(p: [2]f64) | Path(m: i64, x: [m + 1]f64) | Dot
def length(s: Shape, k: f64) -> f64 = case s {
  Line(p) -> k * p[0] * p[1]
  Path(m, x) -> k * sum (v <- x) { v }
  Dot -> k
}
def again(s: Shape) -> Shape = s";
    let model = Model::from_text(text).unwrap();
    let floats = |x: &[f64]| Value::F64s(jut::Array { shape: vec![x.len()], data: x.to_vec() });
    let shapes = [
        (Value::Data("Line".into(), vec![floats(&[2.0, 3.0])]), 6.0),
        (Value::Data("Path".into(), vec![Value::I64(2), floats(&[1.0, 2.0, 4.0])]), 7.0),
        (Value::Data("Path".into(), vec![Value::I64(-1), floats(&[])]), 0.0),
        (Value::Data("Dot".into(), vec![]), 1.0),
    ];
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let length = model.function("length").unwrap().engine(engine).wrt(&["k"]).unwrap();
        let again = model.function("again").unwrap().engine(engine).value().unwrap();
        for (shape, factor) in &shapes {
            let gradient = length.value_and_gradient().unwrap();
            let results = gradient.call(&[shape.into(), 2.0.into()]).unwrap();
            assert_eq!(results, [Value::F64(2.0 * factor), Value::F64(*factor)], "{shape:?}");
            assert_eq!(again.call(&[shape.into()]).unwrap(), std::slice::from_ref(shape));
        }
        let short = Value::Data("Path".into(), vec![Value::I64(2), floats(&[1.0, 2.0])]);
        assert_eq!(again.call(&[(&short).into()]).unwrap_err().code(), Some("A03"));
    }
}

#[test]
fn results_have_no_cells_of_constructors_that_they_do_not_have() {
    let text = "
data Inner = Pair(p: [3]f64) | None
data Shape = Line(a: [200000]f64) | Nested(i: Inner, m: i64, x: [m + 100000]f64) | Dot(r: f64)
def make(k: i64, r: f64) -> Shape =
  if k == 0 { Dot(r) } else if k == 1 { Nested(None(), 1 - 100000, [r * r]) } else {
    Nested(Pair([r, 2.0 * r, 3.0 * r]), 2 - 100000, [r, r])
  }";
    let model = Model::from_text(text).unwrap();
    let floats = |x: &[f64]| Value::F64s(jut::Array { shape: vec![x.len()], data: x.to_vec() });
    let nested = |inner: Value, x: &[f64]| {
        let m = i64::try_from(x.len()).unwrap() - 100000;
        Value::Data("Nested".into(), vec![inner, Value::I64(m), floats(x)])
    };
    let pair = Value::Data("Pair".into(), vec![floats(&[1.5, 3.0, 4.5])]);
    let expected = [
        Value::Data("Dot".into(), vec![Value::F64(1.5)]),
        nested(Value::Data("None".into(), vec![]), &[2.25]),
        nested(pair, &[1.5, 1.5]),
    ];
    for engine in [Engine::Cranelift, Engine::Llvm, Engine::Mlir, Engine::Interpreter] {
        let Ok(make) = model.function("make").unwrap().engine(engine).value() else { continue };
        for (k, shape) in (0i64..).zip(&expected) {
            let made = make.call(&[k.into(), 1.5.into()]).unwrap();
            assert_eq!(made, std::slice::from_ref(shape), "{engine:?}");
        }
    }
}
