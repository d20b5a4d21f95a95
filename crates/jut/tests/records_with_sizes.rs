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
