//! Arrays of sums as arguments and results: lists of their elements, on every engine.

use jut::{Arg, Array, Engine, Error, Function, Model, Value};
use serde_json::json;

const TEXT: &str = "
data Figure = Disc(r: f64) | Box(w: f64, turned: bool, h: f64, k: i64) | Empty
data Item = Item(f: Figure, weight: f64)
data Scene = Scene(n: i64, at: [n]f64, figures: [n]Figure)

def area(f: Figure) -> f64 = case f {
  Disc(r) -> 3.0 * r^2
  Box(w, t, h, k) -> if t { w * h } else { f64(k) * w * sin(h) }
  Empty -> 0.0
}

def total[n](figures: [n]Figure, s: f64) -> f64 = s * sum (f <- figures) { area(f) }

def same[n](figures: [n]Figure) -> [n]Figure = figures

def grow[n](figures: [n]Figure, s: f64) -> [n]Figure = map (f <- figures) {
  case f {
    Disc(r) -> Box(r * s, true, s, 7)
    Box(w, t, h, k) -> if t { Disc(w * h * s) } else { Empty() }
    Empty -> Disc(s)
  }
}

def grid[n, m](figures: [n, m]Figure) -> (sums: [n]f64, first: [m]Figure, turned: [m, n]Figure) = {
  sums = build (i < n) { sum (j < m) { area(figures[i, j]) } }
  first = build (j < m) { if n > 0 { figures[0, j] } else { Empty() } }
  turned = build (j < m) { build (i < n) { figures[i, j] } }
  (sums, first, turned)
}

def weighted[n](items: [n]Item) -> (value: f64, doubled: [n]Item) = {
  value = sum (i < n) { area(items[i].f) * items[i].weight }
  doubled = map (i <- items) { Item(i.f, 2.0 * i.weight) }
  (value, doubled)
}

def scene(s: Scene) -> (value: f64, again: Scene) = {
  Scene(n, at, figures) = s
  value = sum (i < n) { at[i] * f64(i + 1) } + total(figures, 1.0)
  (value, Scene(n, at, figures))
}
";

fn disc(r: f64) -> Value {
    Value::Data("Disc".into(), vec![Value::F64(r)])
}

fn rectangle(w: f64, turned: bool, h: f64, k: i64) -> Value {
    let fields = vec![Value::F64(w), Value::Bool(turned), Value::F64(h), Value::I64(k)];
    Value::Data("Box".into(), fields)
}

fn empty() -> Value {
    Value::Data("Empty".into(), vec![])
}

fn figures() -> Value {
    Value::List(vec![
        disc(1.5),
        rectangle(2.0, true, 3.0, 0),
        empty(),
        rectangle(0.5, false, 0.25, 4),
    ])
}

fn vector(data: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

/// The function on every engine of this build.
fn on_engines(name: &str) -> Vec<Function> {
    let function = Model::from_text(TEXT).and_then(|m| m.function(name)).expect("loads");
    let all = [Engine::Interpreter, Engine::Cranelift, Engine::Llvm, Engine::Mlir];
    let functions = all.map(|engine| function.clone().engine(engine));
    let functions: Vec<Function> = functions.into_iter().filter(|f| f.value().is_ok()).collect();
    assert!(functions.len() >= 2, "the interpreter and Cranelift are always there");
    functions
}

fn call(compiled: &jut::Compiled, args: &[Value]) -> Vec<Value> {
    let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    compiled.call(&args).expect("runs")
}

#[test]
fn lists_go_in_and_come_out_as_they_are() {
    for f in on_engines("same") {
        let same = f.value().expect("compiles");
        for list in [figures(), Value::List(vec![]), Value::List(vec![empty(), disc(-0.0)])] {
            let [back] = &call(&same, std::slice::from_ref(&list))[..] else {
                panic!("one result")
            };
            assert!(back.same_bits(&list), "{back:?}");
        }
    }
    for f in on_engines("grow") {
        let results = call(&f.value().expect("compiles"), &[figures(), Value::F64(2.0)]);
        let expected = [rectangle(3.0, true, 2.0, 7), disc(12.0), disc(2.0), empty()];
        assert_eq!(results, [Value::List(expected.to_vec())]);
    }
}

#[test]
fn arrays_of_more_dimensions_are_lists_of_lists() {
    let row = |list: &[Value]| Value::List(list.to_vec());
    let grid = row(&[
        row(&[disc(1.0), rectangle(2.0, true, 3.0, 0), empty()]),
        row(&[empty(), disc(2.0), rectangle(1.0, true, 0.5, 1)]),
    ]);
    for f in on_engines("grid") {
        let compiled = f.value().expect("compiles");
        let results = call(&compiled, std::slice::from_ref(&grid));
        assert_eq!(results[0], vector(&[9.0, 12.5]));
        assert_eq!(results[1], row(&[disc(1.0), rectangle(2.0, true, 3.0, 0), empty()]));
        let turned = [
            row(&[disc(1.0), empty()]),
            row(&[rectangle(2.0, true, 3.0, 0), disc(2.0)]),
            row(&[empty(), rectangle(1.0, true, 0.5, 1)]),
        ];
        assert_eq!(results[2], row(&turned));
        // Rows without columns.
        let results = call(&compiled, &[row(&[row(&[]), row(&[])])]);
        assert_eq!(results, [vector(&[0.0, 0.0]), row(&[]), row(&[])]);
        let uneven = row(&[row(&[empty()]), row(&[empty(), empty()])]);
        let error = compiled.call(&[(&uneven).into()]).unwrap_err();
        assert_eq!(error.code(), Some("A02"), "{error}");
        assert!(error.to_string().contains("different lengths"), "{error}");
        let error = compiled.call(&[(&figures()).into()]).unwrap_err();
        assert!(error.to_string().contains("lists of lists are needed, 2 deep"), "{error}");
    }
}

#[test]
fn a_gradient_has_an_array_for_each_float_of_each_constructor() {
    let quarter = 0.25f64;
    for f in on_engines("total") {
        let args = [figures(), Value::F64(2.0)];
        let results = call(&f.gradient().expect("compiles"), &args);
        // Radii, widths, heights.
        let expected = Value::Tuple(vec![
            vector(&[2.0 * 3.0 * (2.0 * 1.5), 0.0, 0.0, 0.0]),
            vector(&[0.0, 2.0 * 3.0, 0.0, 2.0 * 4.0 * quarter.sin()]),
            vector(&[0.0, 2.0 * 2.0, 0.0, 2.0 * 4.0 * 0.5 * quarter.cos()]),
        ]);
        let near = |a: &Value, b: &Value| {
            a.floats().iter().zip(b.floats()).all(|(x, y)| (x - y).abs() <= 1e-12 * y.abs())
        };
        assert!(near(&results[0], &expected), "{results:?}");
        let Value::Tuple(parts) = &results[0] else { panic!("{results:?}") };
        assert_eq!(parts.len(), 3);
        // The same by forward mode, one direction at a time.
        let jvp = f.directional().expect("compiles");
        for k in 0..12 {
            let unit = |part: usize| {
                let cell = |i: usize| if 4 * part + i == k { 1.0 } else { 0.0 };
                vector(&[cell(0), cell(1), cell(2), cell(3)])
            };
            let tangent = Value::Tuple(vec![unit(0), unit(1), unit(2)]);
            let slope = call(&jvp, &[figures(), Value::F64(2.0), tangent, Value::F64(0.0)]);
            assert!(near(&slope[0], &Value::F64(results[0].floats()[k])), "{k}: {slope:?}");
        }
    }
}

#[test]
fn a_result_that_is_a_list_has_tangents_and_cotangents() {
    for f in on_engines("grow") {
        let cotangent = Value::Tuple([1.0, 10.0, 100.0].map(|x| vector(&[x; 4])).to_vec());
        let vjp = f.vjp().expect("compiles");
        let results = call(&vjp, &[figures(), Value::F64(2.0), cotangent.clone()]);
        assert!(matches!(&results[0], Value::List(items) if items.len() == 4));
        // Disc(r) -> Box(r s, _, s, _): 10 s for r; Box(w, true, h) -> Disc(w h s): h s, w s.
        let radii = vector(&[20.0, 0.0, 0.0, 0.0]);
        let (widths, heights) = (vector(&[0.0, 6.0, 0.0, 0.0]), vector(&[0.0, 4.0, 0.0, 0.0]));
        assert_eq!(results[1], Value::Tuple(vec![radii, widths, heights]));
        assert_eq!(results[2], Value::F64(10.0 * 1.5 + 100.0 + 6.0 + 1.0));
        let linearized = f.linearize().expect("compiles");
        let (figures, s) = (figures(), Value::F64(2.0));
        let tape = linearized.at(&[(&figures).into(), (&s).into()]).expect("records");
        let mut session = linearized.session();
        let back = session.apply_transposed(&tape, &[(&cotangent).into()]).expect("runs").values();
        assert_eq!(back, results[1..]);
    }
}

#[test]
fn lists_may_be_parts_of_records() {
    let weights = vector(&[1.0, 2.0, 3.0, 0.0]);
    let items = Value::Tuple(vec![figures(), weights]);
    for f in on_engines("weighted") {
        let results = call(&f.value().expect("compiles"), std::slice::from_ref(&items));
        assert_eq!(results[0], Value::F64(3.0 * 2.25 + 12.0));
        let doubled = vector(&[2.0, 4.0, 6.0, 0.0]);
        assert_eq!(results[1], Value::Tuple(vec![figures(), doubled]));
    }
    let scene = Value::Tuple(vec![Value::I64(4), vector(&[1.0, 0.5, 0.25, 2.0]), figures()]);
    let short = Value::Tuple(vec![Value::I64(3), vector(&[1.0, 0.5, 0.25]), figures()]);
    for f in on_engines("scene") {
        let compiled = f.value().expect("compiles");
        let results = call(&compiled, std::slice::from_ref(&scene));
        assert_eq!(results[1], scene);
        let error = compiled.call(&[(&short).into()]).unwrap_err();
        assert_eq!(error.code(), Some("A03"), "{error}");
    }
}

#[test]
fn lists_are_lists_in_json() {
    for f in on_engines("grow") {
        let compiled = f.value().expect("compiles");
        let figures = json!([{"Disc": [1.5]}, {"Box": {"w": 2.0, "turned": true, "h": 3.0, "k": 0}}, "Empty"]);
        let args = json!({"figures": figures, "s": 2.0});
        let args = compiled.read_json(args.as_object().expect("an object")).expect("fits");
        let results = call(&compiled, &args);
        let expected = json!([
            {"Box": {"w": 3.0, "turned": true, "h": 2.0, "k": 7}}, {"Disc": {"r": 12.0}}, {"Disc": {"r": 2.0}}
        ]);
        assert_eq!(compiled.write_json(0, &results[0]).expect("a result"), expected);
        let none =
            compiled.read_json(json!({"figures": [], "s": 1}).as_object().expect("an object"));
        let results = call(&compiled, &none.expect("fits"));
        assert_eq!(compiled.write_json(0, &results[0]).expect("a result"), json!([]));
    }
    let model = Model::from_text(TEXT).expect("loads");
    let weighted = model.function("weighted").and_then(|f| f.value()).expect("compiles");
    let items = json!([{"f": "Empty", "weight": 1.0}, {"f": {"Disc": [2.0]}, "weight": 0.5}]);
    let args = json!({"items": items}).as_object().cloned().expect("an object");
    let results = call(&weighted, &weighted.read_json(&args).expect("fits"));
    assert_eq!(results[0], Value::F64(6.0));
    let doubled =
        json!([{"f": {"Empty": {}}, "weight": 2.0}, {"f": {"Disc": {"r": 2.0}}, "weight": 1.0}]);
    assert_eq!(weighted.write_json(1, &results[1]).expect("a result"), doubled);
}

#[test]
fn what_does_not_fit_says_which_element() {
    let total =
        Model::from_text(TEXT).and_then(|m| m.function("total")?.value()).expect("compiles");
    let one: Arg<'_> = 1.0.into();
    for (figures, reason) in [
        (Value::List(vec![disc(1.0), Value::F64(2.0)]), "element 1: give the constructor"),
        (
            Value::List(vec![Value::Data("Ring".into(), vec![])]),
            "the constructors are Disc, Box, Empty",
        ),
        (Value::List(vec![Value::Data("Disc".into(), vec![])]), "element 0: give its 1 components"),
        (
            Value::List(vec![Value::Data("Disc".into(), vec![Value::I64(1)])]),
            "element 0: a field is an i64",
        ),
        (vector(&[1.0]), "give a list of its elements"),
        (disc(1.0), "give a list of its elements"),
    ] {
        let error = total.call(&[(&figures).into(), one]).unwrap_err();
        assert_eq!(error.code(), Some("A02"), "{figures:?}: {error}");
        assert!(error.to_string().contains(reason), "{error}");
        let Error::Argument(error) = error else { panic!("{error}") };
        assert!(error.advice().contains("Arg::List"), "{}", error.advice());
    }
}

#[test]
fn elements_may_have_arrays_of_their_own() {
    let text = "data Row = Row(m: i64, w: [m]f64)
        data Shape = Line(x: [2]f64) | Dot
        def f[n](x: [n]Row) -> f64 = sum (i < n) { total(x[i]) }
        def total(r: Row) -> f64 = { Row(m, w) = r; sum (i < m) { w[i] } }
        def g[n](x: [n]Shape) -> [n]Shape = build (i < n) { x[n - 1 - i] }";
    let model = Model::from_text(text).expect("it loads");
    let row = |w: &[f64]| Value::Tuple(vec![Value::I64(w.len() as i64), vector_of(w)]);
    let rows = Value::List(vec![row(&[1.0, 2.0]), row(&[]), row(&[4.0])]);
    let line = Value::Data("Line".into(), vec![vector_of(&[1.0, 2.0])]);
    let dot = Value::Data("Dot".into(), vec![]);
    let shapes = Value::List(vec![line.clone(), dot.clone()]);
    for engine in [Engine::Interpreter, Engine::Cranelift] {
        let f =
            model.function("f").expect("it is there").engine(engine).value().expect("it compiles");
        assert_eq!(f.call(&[(&rows).into()]).expect("they fit"), [Value::F64(7.0)]);
        let wrong = Value::List(vec![Value::Tuple(vec![Value::I64(2), vector_of(&[1.0])])]);
        assert_eq!(f.call(&[(&wrong).into()]).unwrap_err().code(), Some("A02"));
        let g =
            model.function("g").expect("it is there").engine(engine).value().expect("it compiles");
        let turned = Value::List(vec![dot.clone(), line.clone()]);
        assert_eq!(g.call(&[(&shapes).into()]).expect("they fit"), [turned]);
    }
}

fn vector_of(x: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![x.len()], data: x.to_vec() })
}

#[test]
fn a_nan_is_like_any_other_when_values_are_compared() {
    let list = |x: f64| Value::List(vec![disc(x), vector(&[1.0, x]), Value::F64(x)]);
    assert!(list(f64::NAN).same_bits(&list(-f64::NAN)));
    assert!(!list(f64::NAN).same_bits(&list(1.0)) && !list(0.0).same_bits(&list(-0.0)));
}
