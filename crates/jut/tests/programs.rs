//! Programs that force the design, from text to gradient, on both engines.

use jut::{Arg, Array, Engine, Model, Value};

/// The value and the gradient with respect to all floats, from both engines, which must agree bit
/// for bit; compared with central differences.
fn gradient(program: &str, args: &[Value]) -> Vec<Value> {
    let model = Model::from_text(program).unwrap_or_else(|e| panic!("{e}"));
    let name = model.functions().last().expect("a function").to_string();
    let f = model.function(&name).expect("it exists");
    let call = |engine| {
        let compiled = f.clone().engine(engine).value_and_gradient();
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}\n{program}"));
        let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
        compiled.call(&args).unwrap_or_else(|e| panic!("{e}\n{program}"))
    };
    let (native, interpreted) = (call(Engine::Cranelift), call(Engine::Interpreter));
    for (a, b) in native.iter().zip(&interpreted) {
        assert!(a.same_bits(b), "{a:?} {b:?}\n{program}");
    }
    let value = f.value().expect("it compiles");
    let at = |args: &[Value]| {
        let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
        value.call(&args).expect("it runs")[0].floats()[0]
    };
    let mut gradients = native[1..].iter().flat_map(Value::floats);
    for (k, arg) in args.iter().enumerate() {
        for j in 0..arg.floats().len() {
            let moved = |h: f64| {
                let mut args = args.to_vec();
                let mut n = 0;
                args[k] = arg.map_floats(&mut |x| {
                    n += 1;
                    if n == j + 1 { x + h } else { x }
                });
                at(&args)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let g = gradients.next().expect("a gradient for every float");
            assert!((slope - g).abs() < 1e-6 * (1.0 + g.abs()), "{slope} {g}\n{program}");
        }
    }
    native
}

fn floats(data: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

fn ints(data: &[i64]) -> Value {
    Value::I64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

fn matrix(rows: usize, columns: usize) -> Value {
    let data = (0..rows * columns).map(|k| (k as f64 * 0.7).sin()).collect();
    Value::F64s(Array { shape: vec![rows, columns], data })
}

#[test]
fn a_branch_with_an_inner_loop_inside_a_parallel_loop() {
    gradient(
        "def br[n](x: [n]f64) -> f64 = sum (i < n) {
           y = if x[i] > 0.0 { for (k < i) carry (a = 1.0) { a * x[k] } } else { x[i] * x[i] }
           sin(y)
         }",
        &[floats(&[0.3, -0.5, 0.7, 0.2, -0.1])],
    );
}

#[test]
fn a_row_passed_through_two_calls() {
    gradient(
        "def inner[d](r: [d]f64, s: f64) -> f64 = sum (j < d) { sin(r[j] * s) }
         def middle[d](r: [d]f64, s: f64) -> f64 = inner(r, s) * s
         def outer[n, d](x: [n, d]f64, s: f64) -> f64 = sum (i < n) { middle(x[i], s) }",
        &[matrix(3, 4), Value::F64(0.8)],
    );
}

#[test]
fn the_same_array_passed_twice() {
    let results = gradient(
        "def dot[n](a: [n]f64, b: [n]f64) -> f64 = sum (i < n) { a[i] * b[i] }
         def f[n](x: [n]f64) -> f64 = dot(x, x)",
        &[floats(&[1.0, 2.0, 3.0])],
    );
    assert_eq!(results[1], floats(&[2.0, 4.0, 6.0]));
}

#[test]
fn a_result_whose_size_is_computed_inside() {
    gradient(
        "def firsthalf[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
           m = n / 2
           y = build (i < m) { exp(x[i]) }
           (m, y)
         }
         def f[n](x: [n]f64) -> f64 = {
           (m, y) = firsthalf(x)
           sum (v <- y) { v * v }
         }",
        &[floats(&[0.3, -0.5, 0.7, 0.2, -0.1])],
    );
}

#[test]
fn a_variable_that_is_initial_carry_and_captured() {
    gradient(
        "def f(x: f64, n: i64) -> f64 = for (i < n) carry (a = x) { sin(a) * x }",
        &[Value::F64(0.9), Value::I64(4)],
    );
}

#[test]
fn records_sums_and_tuples_cross_the_border() {
    let polar = Value::Tuple(vec![Value::F64(2.0), Value::F64(0.5)]);
    gradient(
        "data Polar = Polar(r: f64, a: f64)
         def f(p: Polar, s: #(f64, [2]f64)) -> f64 = {
           #(k, v) = s
           p.r * cos(p.a) * k + v[0] * v[1]
         }",
        &[polar, Value::Tuple(vec![Value::F64(1.5), floats(&[2.0, 3.0])])],
    );
}

#[test]
fn empty_arrays_have_empty_gradients() {
    let results =
        gradient("def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * x[i] }", &[floats(&[])]);
    assert_eq!(results, [Value::F64(0.0), floats(&[])]);
}

#[test]
fn a_loop_without_trips_does_not_look_at_its_bad_index() {
    gradient(
        "def f[n](x: [n]f64, k: i64, m: i64) -> f64 = 1.5 * x[0] + sum (i < m) { x[k] * x[k] }",
        &[floats(&[2.0]), Value::I64(7), Value::I64(0)],
    );
}

#[test]
fn a_gather_through_repeated_indices() {
    let results = gradient(
        "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] * x[ix[i]] }",
        &[floats(&[2.0, 5.0]), ints(&[0, 1, 0, 0])],
    );
    assert_eq!(results[1], floats(&[12.0, 10.0]));
}

#[test]
fn functions_with_linear_parameters_run_as_they_are() {
    let model =
        Model::from_text("def g(x: f64; y': f64) -> (f64; f64) = {\n  (sin(x); cos(x) * y')\n}")
            .unwrap_or_else(|e| panic!("{e}"));
    let g = model.function("g").and_then(|g| g.value()).unwrap_or_else(|e| panic!("{e}"));
    let results = g.call(&[0.5.into(), 2.0.into()]).expect("it runs");
    let cos = 0.5f64.cos();
    assert!((results[1].floats()[0] - 2.0 * cos).abs() < 1e-15);
}

#[test]
fn a_change_of_another_shape_of_an_argument_leaves_the_argument() {
    let program = "def f[n](x: [n, n]f64) -> f64 = {
        v = flatten(x)
        w = v with [0] = 5.0
        sum(w) * x[0, 0]
      }
      def g[n](x: [n, n]f64) -> f64 = sum(flatten(x) with [0] = 5.0)";
    let model = Model::from_text(program).expect("a program");
    let x = Value::F64s(Array { shape: vec![2, 2], data: vec![1.0, 2.0, 3.0, 4.0] });
    for engine in [Engine::Interpreter, Engine::Cranelift] {
        for (name, expected) in [("f", 14.0), ("g", 14.0)] {
            let value =
                model.function(name).expect(name).engine(engine).value().expect("it compiles");
            for _ in 0..2 {
                let results = value.call(&[Arg::from(&x)]).expect("it runs");
                assert_eq!(results[0].floats(), [expected], "{engine:?} {name}");
            }
            assert_eq!(x.floats(), [1.0, 2.0, 3.0, 4.0], "{engine:?} {name}");
        }
    }
}
