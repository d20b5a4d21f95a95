//! Records with sizes as parameters, and Jacobians and Hessians by records and tuples, at the border: given and returned, in
//! JSON, by paths, and as parameters of C functions.

use jut::request::JacobianMode;
use jut::{Engine, Function, Model, Request, Role, Value};
use serde_json::{Value as Json, json};

const TEXT: &str = "
data Net[n] = Net(w: [n]f64, b: f64)
data Pair[n] = Pair(net: Net[n], k: i64, scale: f64)
def f[n](p: Pair[n], x: [n]f64) -> f64 = p.scale * (p.net.b + sum (i < n) { p.net.w[i] * x[i] })^2
def doubled[n](p: Pair[n]) -> Pair[n] = Pair(Net(p.net.w * 2.0, p.net.b), p.k + 1, p.scale)
def total[k, n](nets: [k]Net[n]) -> f64 = sum (i < k) { sum (v <- nets[i].w) { v * v * nets[i].b } }
data Tree = Leaf(net: Net[2]) | Node(left: Tree, right: Tree)
def weight(t: Tree) -> f64 = case t {
  Leaf(p) -> p.b * (p.w[0] + 2.0 * p.w[1])
  Node(l, r) -> weight(l) + 3.0 * weight(r)
}
def mirrored(t: Tree) -> Tree = case t {
  Leaf(p) -> Leaf(p)
  Node(l, r) -> Node(mirrored(r), mirrored(l))
}
data Shape[n] = Ball(c: [n]f64, r: f64) | Box(low: [n]f64, c: [n]f64, name: i64) | Nothing
def measure[n](s: Shape[n], x: [n]f64) -> f64 = case s {
  Ball(c, r) -> r * sum (i < n) { c[i] * x[i]^2 }
  Box(low, c, k) -> f64(k) * sum (i < n) { low[i] * c[i] * x[i] }
  Nothing -> 7.0 * x[0]
}
def all_of[m, n](all: [m]Shape[n], x: [n]f64) -> f64 = sum (k < m) { f64(k + 1) * measure(all[k], x) }
def swapped[m, n](all: [m]Shape[n]) -> [m]Shape[n] = build (k < m) { turned(all[m - 1 - k]) }
def turned[n](s: Shape[n]) -> Shape[n] = case s {
  Ball(c, r) -> Box(c, build (i < n) { r }, n)
  Box(low, c, k) -> Ball(low, c[0])
  Nothing -> Nothing[n]
}
def polar(p: #(f64, [2]f64)) -> (q: #(f64, f64), y: [2]f64) = {
  y = [p.0 * p.1[0], p.0 * p.0 * p.1[1]]
  (#(y[0], y[1]), y)
}
";

/// The function on every engine of this build.
fn on_engines(name: &str) -> Vec<Function> {
    let function = Model::from_text(TEXT).and_then(|m| m.function(name)).expect("loads");
    let all = [Engine::Interpreter, Engine::Cranelift, Engine::Llvm, Engine::Mlir];
    let functions = all.map(|engine| function.clone().engine(engine));
    let functions: Vec<Function> = functions.into_iter().filter(|f| f.value().is_ok()).collect();
    assert!(functions.len() >= 2);
    functions
}

/// Arguments from JSON, results as JSON.
fn call(function: &Function, request: Request, args: &Json) -> Json {
    let compiled = function.compile(request).expect("compiles");
    let values = compiled.read_json(args.as_object().expect("an object")).expect("fits");
    let args: Vec<_> = values.iter().map(Into::into).collect();
    let mut session = compiled.session();
    let values = session.call(&args).expect("runs").values();
    let mut made = serde_json::Map::new();
    for (k, (output, value)) in compiled.outputs().zip(&values).enumerate() {
        let mark = if output.role == Role::Derivative { "d " } else { "" };
        let json = compiled.write_json(k, value).expect("is written");
        made.insert(format!("{mark}{}", output.name), json);
    }
    Json::Object(made)
}

fn pair() -> Json {
    json!({"net": {"w": [1.0, 2.0], "b": 0.5}, "k": 3, "scale": 2.0})
}

#[test]
fn fields_have_their_names_and_sizes_follow() {
    for f in on_engines("doubled") {
        let made = call(&f, Request::Value, &json!({"p": pair()}));
        let wanted = json!({"net": {"w": [2.0, 4.0], "b": 0.5}, "k": 4, "scale": 2.0});
        assert_eq!(made["value"], wanted);
    }
    for f in on_engines("f") {
        // z = 0.5 + 1 * 3 + 2 * 1 = 5.5, and the value 2 z^2.
        let args = json!({"p": pair(), "x": [3.0, 1.0]});
        let made = call(&f, Request::ValueAndGradient, &args);
        assert_eq!(made["value"], json!(60.5));
        assert_eq!(made["d p"], json!({"net": {"w": [66.0, 22.0], "b": 22.0}, "scale": 30.25}));
    }
    for f in on_engines("total") {
        let nets = json!([{"w": [1.0, 2.0, 3.0], "b": 0.5}, {"w": [0.0, 1.0, 0.0], "b": 2.0}]);
        let made = call(&f, Request::ValueAndGradient, &json!({"nets": nets}));
        let wanted = json!([{"w": [1.0, 2.0, 3.0], "b": 14.0}, {"w": [0.0, 4.0, 0.0], "b": 1.0}]);
        assert_eq!(made["d nets"], wanted);
    }
}

#[test]
fn recursive_data_may_hold_them() {
    let leaf = |x: f64, y: f64, b: f64| json!({"Leaf": {"net": {"w": [x, y], "b": b}}});
    let node = |l: &Json, r: &Json| json!({"Node": {"left": l, "right": r}});
    let (a, b) = (leaf(1.0, 2.0, 0.5), leaf(-1.0, 0.0, 4.0));
    for f in on_engines("mirrored") {
        let made = call(&f, Request::Value, &json!({"t": node(&a, &b)}));
        assert_eq!(made["value"], node(&b, &a));
    }
    for f in on_engines("weight") {
        let made = call(&f, Request::ValueAndGradient, &json!({"t": node(&a, &b)}));
        assert_eq!(made["value"], json!(2.5 - 12.0));
        let text = made["d t"].to_string();
        let numbers = json!([[0.5, 1.0], 5.0, [12.0, 24.0], -3.0]);
        let of = |json: &Json| {
            let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
            let parts: Vec<String> = json
                .to_string()
                .split(|c| !digits(c))
                .filter(|part| part.contains('.'))
                .map(String::from)
                .collect();
            let mut parts = parts;
            parts.sort();
            parts
        };
        assert_eq!(of(&made["d t"]), of(&numbers), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let compiled = on_engines("f")[0].value().expect("compiles");
    let read =
        |p: Json| compiled.read_json(json!({"p": p, "x": [1.0]}).as_object().expect("an object"));
    let missing = json!({"net": {"w": [1.0]}, "k": 3, "scale": 2.0});
    let extra = json!({"net": {"w": [1.0], "b": 0.5, "n": 1}, "k": 3, "scale": 2.0});
    for wrong in [missing, extra, json!([1.0])] {
        let error = read(wrong.clone()).expect_err("is refused");
        assert_eq!(error.code(), Some("A02"), "{wrong}: {error}");
    }
    // The sizes of the two arguments differ.
    for f in on_engines("f") {
        let compiled = f.value().expect("compiles");
        let args = json!({"p": pair(), "x": [1.0, 2.0, 3.0]});
        let values = compiled.read_json(args.as_object().expect("an object")).expect("fits");
        let args: Vec<_> = values.iter().map(Into::into).collect();
        let error = compiled.session().call(&args).map(drop).expect_err("is refused");
        assert_eq!(error.code(), Some("A03"), "{error}");
    }
}

#[test]
fn blocks_have_the_names_of_fields() {
    for f in on_engines("f") {
        let compiled = f.compile(Request::Hessian).expect("compiles");
        let args = json!({"p": pair(), "x": [3.0, 1.0]});
        let values = compiled.read_json(args.as_object().expect("an object")).expect("fits");
        let args: Vec<_> = values.iter().map(Into::into).collect();
        let mut session = compiled.session();
        let results = session.call(&args).expect("runs");
        // 2 s x xᵀ, and so on.
        assert_eq!(results.f64s("p,p.net.w.net.w").expect("is there"), [36.0, 12.0, 12.0, 4.0]);
        assert_eq!(results.f64s("p,p.net.w.net.b").expect("is there"), [12.0, 4.0]);
        assert_eq!(results.f64("p,p.net.b.net.b").expect("is there"), 4.0);
        assert_eq!(results.f64("p,p.net.b.scale").expect("is there"), 11.0);
        assert_eq!(results.f64("p,p.scale.scale").expect("is there"), 0.0);
        assert_eq!(results.f64s("p,x.scale").expect("is there"), [11.0, 22.0]);
        // d/dw[i] d/dx[j]: 2 s x[i] w[j], and 2 s z where i is j.
        assert_eq!(results.f64s("p,x.net.w").expect("is there"), [34.0, 24.0, 4.0, 30.0]);
        assert_eq!(results.f64s("x,p.net.w").expect("is there"), [34.0, 4.0, 24.0, 30.0]);
        assert!(results.part("p,p.net.w.k").is_none());
    }
}

#[test]
fn jacobians_of_tuples_by_tuples() {
    for f in on_engines("polar") {
        for mode in [JacobianMode::Auto, JacobianMode::Forward, JacobianMode::Reverse] {
            let made = call(&f, Request::Jacobian(mode), &json!({"p": [2.0, [3.0, 5.0]]}));
            // y = (r a, r² b): by r (a, 2 r b), by a (r, 0), by b (0, r²).
            let rows = [json!([3.0, [2.0, 0.0]]), json!([20.0, [0.0, 4.0]])];
            assert_eq!(made["d q,p"], json!(rows), "{mode:?}");
            assert_eq!(made["d y,p"], json!(rows), "{mode:?}");
        }
    }
}

#[test]
fn records_are_tuples_of_their_fields_in_rust() {
    let f = on_engines("doubled").remove(0);
    let vector =
        |data: &[f64]| Value::F64s(jut::Array { shape: vec![data.len()], data: data.to_vec() });
    let net = |w: &[f64]| Value::Tuple(vec![vector(w), Value::F64(0.5)]);
    let p = |w: &[f64], k| Value::Tuple(vec![net(w), Value::I64(k), Value::F64(2.0)]);
    let compiled = f.value().expect("compiles");
    let made = compiled.session().call(&[(&p(&[1.0, 2.0], 3)).into()]).expect("runs").values();
    assert_eq!(made, [p(&[2.0, 4.0], 4)]);
}

fn shapes() -> [Json; 3] {
    let ball = json!({"Ball": {"c": [1.0, 2.0], "r": 0.5}});
    let square = json!({"Box": {"low": [3.0, 4.0], "c": [5.0, 6.0], "name": 2}});
    [ball, square, json!({"Nothing": {"n": 2}})]
}

#[test]
fn sums_are_objects_with_their_constructor() {
    let [ball, square, nothing] = shapes();
    for f in on_engines("turned") {
        let turned = |s: &Json| call(&f, Request::Value, &json!({"s": s}))["value"].clone();
        let boxed = json!({"Box": {"low": [1.0, 2.0], "c": [0.5, 0.5], "name": 2}});
        assert_eq!(turned(&ball), boxed);
        assert_eq!(turned(&square), json!({"Ball": {"c": [3.0, 4.0], "r": 5.0}}));
        // No field says how long the arrays of the others are.
        assert_eq!(turned(&nothing), nothing);
        assert_eq!(turned(&json!({"Ball": [[1.0, 2.0], 0.5]})), boxed);
    }
    for f in on_engines("swapped") {
        let made = call(&f, Request::Value, &json!({"all": [square, nothing, ball]}));
        let boxed = json!({"Box": {"low": [1.0, 2.0], "c": [0.5, 0.5], "name": 2}});
        let turned = json!({"Ball": {"c": [3.0, 4.0], "r": 5.0}});
        assert_eq!(made["value"], json!([boxed, nothing, turned]));
        assert_eq!(call(&f, Request::Value, &json!({"all": []}))["value"], json!([]));
    }
}

#[test]
fn derivatives_by_sums_have_the_parts_of_all_constructors() {
    let [ball, square, nothing] = shapes();
    for f in on_engines("measure") {
        // r Σ c x², by c, r and x.
        let args = json!({"s": ball, "x": [3.0, 1.0]});
        let made = call(&f, Request::ValueAndGradient, &args);
        assert_eq!(made["value"], json!(5.5));
        let zeros = json!([0.0, 0.0]);
        let wanted =
            json!({"Ball.c": [4.5, 0.5], "Ball.r": 11.0, "Box.low": zeros, "Box.c": zeros});
        assert_eq!(made["d s"], wanted);
        assert_eq!(made["d x"], json!([3.0, 2.0]));
        let compiled = f.compile(Request::Hessian).expect("compiles");
        let values = compiled.read_json(args.as_object().expect("an object")).expect("fits");
        let args: Vec<_> = values.iter().map(Into::into).collect();
        let mut session = compiled.session();
        let results = session.call(&args).expect("runs");
        assert_eq!(results.f64s("s,s.Ball.c.Ball.r").expect("is there"), [9.0, 1.0]);
        assert_eq!(results.f64s("s,x.Ball.r").expect("is there"), [6.0, 4.0]);
        assert_eq!(results.f64s("s,s.Box.low.Box.c").expect("is there"), [0.0; 4]);
    }
    for f in on_engines("all_of") {
        let args = json!({"all": [nothing, square, ball], "x": [3.0, 1.0]});
        let made = call(&f, Request::ValueAndGradient, &args);
        // 21, and twice 2 (45 + 24), and three times 5.5.
        assert_eq!(made["value"], json!(21.0 + 276.0 + 16.5));
        let zero = json!([0.0, 0.0]);
        let row = |c: Json, r: f64, low: Json, high: Json| json!({"Ball.c": c, "Ball.r": r, "Box.low": low, "Box.c": high});
        let rows = json!([
            row(zero.clone(), 0.0, zero.clone(), zero.clone()),
            row(zero.clone(), 0.0, json!([60.0, 24.0]), json!([36.0, 16.0])),
            row(json!([13.5, 1.5]), 33.0, zero.clone(), zero.clone()),
        ]);
        assert_eq!(made["d all"], rows);
    }
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    let compiled = on_engines("measure")[0].value().expect("compiles");
    let read =
        |s: Json| compiled.read_json(json!({"s": s, "x": [1.0]}).as_object().expect("an object"));
    let wrong = [
        json!("Nothing"),
        json!({"Nothing": {"m": 1}}),
        json!({"Ball": {"c": [1.0]}}),
        json!({"Ball": {"c": [1.0], "r": 1.0, "low": [1.0]}}),
        json!({"Cone": {"c": [1.0]}}),
        json!({"Nothing": {"n": 1e30}}),
        json!([[1.0], 1.0]),
    ];
    for wrong in wrong {
        let error = read(wrong.clone()).expect_err("is refused");
        assert_eq!(error.code(), Some("A02"), "{wrong}: {error}");
    }
    // Sizes that are no sizes, that differ between fields, and that are not those of the other argument.
    let unequal = json!({"Box": {"low": [1.0], "c": [1.0, 2.0], "name": 1}});
    for wrong in [json!({"Nothing": {"n": -1}}), json!({"Nothing": {"n": 2}}), unequal] {
        let Ok(values) = read(wrong.clone()) else { continue };
        let args: Vec<_> = values.iter().map(Into::into).collect();
        let error = compiled.session().call(&args).map(drop).expect_err("is refused");
        assert!(error.code().is_some_and(|code| code.starts_with('A')), "{wrong}: {error}");
    }
}

#[test]
fn sums_are_their_fields_and_constructor_in_rust() {
    let f = on_engines("turned").remove(0);
    let vector =
        |data: &[f64]| Value::F64s(jut::Array { shape: vec![data.len()], data: data.to_vec() });
    let shape = |c: &[f64], r, low: &[f64], high: &[f64], k, name: &str| {
        let con = Value::Data(name.into(), vec![]);
        let floats = [vector(c), Value::F64(r), vector(low), vector(high)];
        Value::Tuple(floats.into_iter().chain([Value::I64(k), con]).collect())
    };
    let zero = [0.0, 0.0];
    let ball = shape(&[1.0, 2.0], 0.5, &zero, &zero, 0, "Ball");
    let compiled = f.value().expect("compiles");
    let made = compiled.session().call(&[(&ball).into()]).expect("runs").values();
    assert_eq!(made, [shape(&zero, 0.0, &[1.0, 2.0], &[0.5, 0.5], 2, "Box")]);
}
