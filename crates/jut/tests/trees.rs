//! Recursive data as arguments and results: values and derivatives on every engine, what does not fit, and how deep they
//! may be.

use crate::support::trees::{leaf, model, node};
use jut::{Arg, Compiled, Engine, Function, Model, Request, Value};
use serde_json::{Map, Value as Json, json};

const PROGRAM: &str = "
data List = Nil | Cons(head: f64, rest: List)
data Words = End | Word(n: i64, v: [n]f64, negated: bool, rest: Words)
data Pair = Pair(t: Tree, y: f64)

def made(n: i64, x: f64) -> List = if n == 0 { Nil() } else { Cons(x, made(n - 1, x)) }
def squares(l: List) -> f64 = case l {
  Nil -> 0.0
  Cons(a, rest) -> a * a + squares(rest)
}
def bags[n](bs: [n]Bag) -> f64 = sum (i < n) { weight(bs[i], f64(i + 1)) }
def forest[n](ts: [n]Tree, c: [n]f64) -> f64 = sum (i < n) { c[i] * total(ts[i], 2.0) }
def words(d: Words) -> f64 = case d {
  End -> 1.0
  Word(n, v, negated, rest) -> {
    s = sum (i < n) { v[i] }
    words(rest) * if negated { -s } else { s }
  }
}
def both(p: Pair) -> f64 = total(p.t, p.y)
def back(t: Tree) -> Tree = t
def scaled[n](bs: [n]Bag, k: f64) -> (r: i64, made: [r]Bag) = {
  y = build (i < n) { Bag(m, w) = bs[i]; Bag(m, k * w) }
  (size(y), y)
}
";

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];

fn function(name: &str) -> Function {
    model(PROGRAM).function(name).expect("it is there")
}

fn object(json: &Json) -> &Map<String, Json> {
    json.as_object().expect("an object")
}

/// All results by name, derivatives with a mark.
fn call(compiled: &Compiled, args: &Json) -> jut::Result<Json> {
    let values = compiled.read_json(object(args))?;
    let args: Vec<Arg> = values.iter().map(Arg::from).collect();
    let results = compiled.call(&args)?;
    let mut all = Map::new();
    for (k, (value, port)) in results.iter().zip(compiled.outputs()).enumerate() {
        let mark = if port.role == jut::Role::Derivative { "'" } else { "" };
        all.insert(format!("{}{mark}", port.name), compiled.write_json(k, value)?);
    }
    Ok(Json::Object(all))
}

/// The same on every engine.
fn all(name: &str, request: Request, args: &Json) -> Json {
    let made = ENGINES.map(|engine| {
        let compiled = function(name).engine(engine).compile(request).expect("it compiles");
        call(&compiled, args).unwrap_or_else(|e| panic!("{name} {request:?} {engine:?}: {e}"))
    });
    assert_eq!(made[0], made[1], "{name} {request:?}");
    made[0].clone()
}

fn error(name: &str, request: Request, args: &Json) -> String {
    let made = ENGINES.map(|engine| {
        let compiled = function(name).engine(engine).compile(request).expect("it compiles");
        call(&compiled, args).map_or_else(|e| e.to_string(), |found| panic!("{found}"))
    });
    assert_eq!(made[0], made[1], "{name} {request:?}");
    made[0].clone()
}

#[test]
fn a_gradient_is_a_tree_of_the_same_shape() {
    let tree = node(leaf(0.5), node(leaf(1.5), leaf(-0.3)));
    let found = all("left", Request::ValueAndGradient, &json!({"t": tree}));
    let zeros = node(leaf(0.0), leaf(0.0));
    assert_eq!(found, json!({"value": 0.25, "t'": node(leaf(1.0), zeros)}));

    let expr = json!({"Sum": [{"Const": [2.0]}, {"Product": {"a": "Var", "b": {"Const": [3.0]}}}]});
    let found = all("eval", Request::Gradient, &json!({"e": expr, "x": 5.0}));
    let product = json!({"Product": {"a": {"Var": {}}, "b": {"Const": {"value": 5.0}}}});
    let gradient = json!({"Sum": {"a": {"Const": {"value": 1.0}}, "b": product}});
    assert_eq!(found, json!({"e'": gradient, "x'": 3.0}));

    let kid = |w: f64| json!({"w": w, "tag": 1, "m": 0, "kids": []});
    let rose = json!({"t": {"w": 2.0, "tag": 3, "m": 2, "kids": [kid(1.0), kid(3.0)]}});
    let found = all("rose", Request::Gradient, &rose);
    let kid = |w: f64| json!({"w": w, "kids": []});
    assert_eq!(found, json!({"t'": {"w": 22.0, "kids": [kid(4.0), kid(12.0)]}}));

    let words = json!({"d": {"Word": [2, [1.0, 2.0], true, {"Word": [1, [5.0], false, "End"]}]}});
    let found = all("words", Request::Gradient, &words);
    let rest = json!({"Word": {"v": [-3.0], "rest": {"End": {}}}});
    assert_eq!(found, json!({"d'": {"Word": {"v": [-5.0, -5.0], "rest": rest}}}));
}

#[test]
fn records_that_measure_their_arrays_and_arrays_of_them_have_gradients() {
    let found =
        all("weight", Request::Gradient, &json!({"b": {"m": 2, "w": [1.0, 2.0]}, "k": 2.0}));
    assert_eq!(found, json!({"b'": {"w": [4.0, 8.0]}, "k'": 5.0}));
    let bags = json!({"bs": [{"m": 2, "w": [1.0, 2.0]}, {"m": 0, "w": []}, {"m": 1, "w": [3.0]}]});
    let found = all("bags", Request::ValueAndGradient, &bags);
    let empty = json!({"shape": [0], "data": []});
    let gradient = json!([{"w": [2.0, 4.0]}, {"w": empty}, {"w": [18.0]}]);
    assert_eq!(found, json!({"value": 32.0, "bs'": gradient}));
    let pair = json!({"p": {"t": leaf(0.0), "y": 2.0}});
    let found = all("both", Request::Gradient, &pair);
    assert_eq!(found, json!({"p'": {"t": leaf(2.0), "y": 0.0}}));
}

#[test]
fn gradients_agree_with_differences_and_with_each_other() {
    let tree = |k: f64| node(leaf(0.5 + k), node(leaf(1.5 * k), leaf(-0.3)));
    for (name, args) in [
        ("total", json!({"t": tree(0.2), "y": 1.3})),
        ("left", json!({"t": tree(0.7)})),
        ("forest", json!({"ts": [tree(0.1), leaf(0.4), tree(0.3)], "c": [1.0, -2.0, 0.5]})),
        ("both", json!({"p": {"t": tree(-0.4), "y": 0.8}})),
        ("weight", json!({"b": {"m": 3, "w": [0.1, 0.2, -0.3]}, "k": 2.0})),
        ("rose", json!({"t": [0.7, 2, 1, [[0.2, 1, 0, []]]]})),
    ] {
        let value = function(name).value().expect("it compiles");
        let gradient = function(name).gradient().expect("it compiles");
        let jvp = function(name).compile(Request::Directional).expect("it compiles");
        let point = value.read_json(object(&args)).expect("they fit");
        let at = |values: &[Value]| -> f64 {
            let args: Vec<Arg> = values.iter().map(Arg::from).collect();
            value.call(&args).expect("it runs")[0].floats()[0]
        };
        let args: Vec<Arg> = point.iter().map(Arg::from).collect();
        let slopes = gradient.call(&args).expect("it runs");
        let slopes: Vec<f64> = slopes.iter().flat_map(Value::floats).collect();
        let count = point.iter().map(|v| v.floats().len()).sum::<usize>();
        assert_eq!(slopes.len(), count, "{name}");
        for (k, slope) in slopes.iter().enumerate() {
            let moved = |by: f64| -> Vec<Value> {
                let mut at = 0;
                let mut change = |x: f64| {
                    at += 1;
                    if at - 1 == k { x + by } else { x }
                };
                point.iter().map(|v| v.map_floats(&mut change)).collect()
            };
            let h = 1e-6;
            let difference = (at(&moved(h)) - at(&moved(-h))) / (2.0 * h);
            assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{name} {k}");
            // Forward mode along the same axis.
            let axes = point.iter().enumerate().filter_map(|(j, v)| value.input_as_tangent(j, v));
            let mut at = 0;
            let mut unit = |_: f64| {
                at += 1;
                if at - 1 == k { 1.0 } else { 0.0 }
            };
            let axes: Vec<Value> = axes.map(|v| v.map_floats(&mut unit)).collect();
            let args: Vec<Arg> = point.iter().chain(&axes).map(Arg::from).collect();
            let along = jvp.call(&args).expect("it runs")[0].floats()[0];
            assert!((slope - along).abs() < 1e-12 * (1.0 + slope.abs()), "{name} {k}");
        }
    }
}

#[test]
fn trees_are_results_with_tangents_and_cotangents() {
    let tree = node(leaf(0.5), node(leaf(1.5), leaf(-0.5)));
    let found = all("doubled", Request::Value, &json!({"t": tree, "y": 2.0}));
    assert_eq!(found, json!({"value": node(node(leaf(0.5), leaf(4.5)), leaf(0.5))}));
    let along = node(leaf(1.0), node(leaf(0.0), leaf(0.0)));
    let args = json!({"t": tree, "y": 2.0, "t'": along, "y'": 0.0});
    let found = all("doubled", Request::Jvp, &args);
    assert_eq!(found["value'"], node(node(leaf(0.0), leaf(0.0)), leaf(2.0)));
    let down = node(node(leaf(1.0), leaf(0.0)), leaf(0.0));
    let found = all("doubled", Request::Vjp, &json!({"t": tree, "y": 2.0, "value''": down}));
    assert_eq!(found["t'"], node(leaf(0.0), node(leaf(0.0), leaf(-2.0))));
    assert_eq!(found["y'"], json!(0.25));
    // A zero has any shape; where no value is known, it has none.
    let found = all("doubled", Request::Vjp, &json!({"t": tree, "y": 2.0, "value''": "zero"}));
    assert_eq!(found["t'"], node(leaf(0.0), node(leaf(0.0), leaf(0.0))));
    let args = json!({"t": tree, "y": 2.0, "t'": "zero", "y'": 0.0});
    assert_eq!(
        all("back", Request::Directional, &json!({"t": tree, "t'": "zero"}))["value'"],
        "zero"
    );
    assert_eq!(
        all("doubled", Request::Jvp, &args)["value'"],
        node(node(leaf(0.0), leaf(0.0)), leaf(0.0))
    );
}

#[test]
fn second_derivatives_of_trees() {
    let tree = node(leaf(0.5), leaf(1.5));
    let along = node(leaf(1.0), leaf(0.0));
    let args = json!({"t": tree, "y": 2.0, "t'": along, "y'": 0.0});
    let found = all("total", Request::HessianProduct, &args);
    // total = sin(a) y / 2 + sin(b) y^2
    let x = found["t'"]["Node"]["l"]["Leaf"]["x"].as_f64().expect("a float");
    assert!((x + 0.5f64.sin()).abs() < 1e-15, "{found}");
    assert_eq!(found["t'"]["Node"]["r"]["Leaf"]["x"].as_f64().map(f64::abs), Some(0.0));
    let y = found["y'"].as_f64().expect("a float");
    assert!((y - 0.5f64.cos() / 2.0).abs() < 1e-15, "{found}");
    let found = all("total", Request::SecondDirectional, &args);
    let second = found["value'"].as_f64().expect("a float");
    assert!((second + 0.5f64.sin()).abs() < 1e-15, "{found}");
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let y = 1.0;
    for (args, reason) in [
        (json!({"t": {"Branch": {"x": 1.0}}, "y": y}), "`Branch` is not one of Leaf, Node"),
        (json!({"t": {"Node": [leaf(1.0)]}, "y": y}), "the 2 fields of Node"),
        (json!({"t": {"Node": {"l": leaf(1.0)}}, "y": y}), "field `r` is missing"),
        (json!({"t": {"Leaf": {"x": "one"}}, "y": y}), "expected a number"),
        (json!({"t": {"Leaf": {"x": 1.0, "z": 2.0}}, "y": y}), "no field `z`"),
        (json!({"t": 1.0, "y": y}), "one of Leaf, Node"),
        (json!({"t": "zero", "y": y}), "`zero` is not one of"),
        (json!({"y": y}), "no argument for the parameter `t: Tree`"),
    ] {
        let found = error("total", Request::ValueAndGradient, &args);
        assert!(found.contains(reason), "{args}: {found}");
    }
    let wrong = json!({"d": {"Word": [3, [1.0, 2.0], true, "End"]}});
    assert!(error("words", Request::Value, &wrong).contains("expected 3 elements, got 2"));
    let wrong = json!({"d": {"Word": [-1, [], true, "End"]}});
    assert!(error("words", Request::Value, &wrong).contains("expected -1 elements, got 0"));
    let wrong = json!({"ts": [leaf(1.0)], "c": [1.0, 2.0]});
    assert!(error("forest", Request::Value, &wrong).contains("expected"));
    let (one, two) = (leaf(1.0), node(leaf(1.0), leaf(2.0)));
    let args = json!({"t": one, "y": 1.0, "t'": two, "y'": 0.0});
    let found = error("total", Request::Jvp, &args);
    assert!(found.contains("Node(..), where the value is Leaf(..)"), "{found}");
    let args = json!({"t": one, "y": 1.0, "value''": two});
    let found = error("doubled", Request::Vjp, &args);
    assert!(found.contains("Node(..), where the value is Leaf(..)"), "{found}");
}

#[test]
fn wrong_values_from_rust_are_refused() {
    let floats =
        |shape: Vec<usize>, n: usize| Value::F64s(jut::Array { shape, data: vec![1.0; n] });
    let data = |name: &str, items: Vec<Value>| Value::Data(name.into(), items);
    for engine in ENGINES {
        let total = function("words").engine(engine).value_and_gradient().expect("it compiles");
        let word = |n: i64, v: Value| {
            data("Word", vec![Value::I64(n), v, Value::Bool(true), data("End", vec![])])
        };
        for wrong in [
            word(2, floats(vec![2], 1)),
            word(2, floats(vec![1 << 60, 1 << 60], 2)),
            word(i64::MAX, floats(vec![2], 2)),
            word(1, Value::F64(1.0)),
            data("End", vec![Value::F64(1.0)]),
            data("Word", vec![]),
            data("", vec![]),
            Value::Tuple(vec![]),
            Value::List(vec![]),
        ] {
            let found = total.call(&[(&wrong).into()]).expect_err("it does not fit");
            assert_eq!(found.code(), Some("A02"), "{wrong:?}: {found}");
        }
        let right = word(2, floats(vec![2], 2));
        assert!(total.call(&[(&right).into()]).is_ok());
    }
}

/// What may be done with a list, and what is too deep.
fn deep_lists(engine: Engine) -> jut::Result<()> {
    let squares = function("squares").engine(engine).value_and_gradient()?;
    let made = function("made").engine(engine).value()?;
    let list = |n: i64| made.call(&[n.into(), 0.5.into()]);
    for n in [1000, 100_000] {
        let error = list(n).map(|_| ()).expect_err("it is too deep");
        assert_eq!(error.code(), Some("A06"), "{error}");
    }
    let long = list(999)?.remove(0);
    let results = squares.call(&[(&long).into()])?;
    assert_eq!(results[0], Value::F64(0.25 * 999.0));
    assert_eq!(results[1].floats(), vec![1.0; 999]);
    let text = squares.write_json(1, &results[1])?.to_string();
    let json = jut::json::parse(&format!("{{\"l\": {text}}}")).expect("it is JSON");
    let read = squares.read_json(object(&json))?;
    assert_eq!(squares.call(&[(&read[0]).into()])?[0], Value::F64(999.0));
    assert_eq!(read[0], results[1]);
    let longer = Value::Data("Cons".into(), vec![Value::F64(1.0), long]);
    let error = squares.call(&[(&longer).into()]).map(|_| ()).expect_err("it is too deep");
    assert_eq!(error.code(), Some("A02"), "{error}");
    Ok(())
}

#[test]
fn values_may_be_a_thousand_levels_deep_and_no_stack_runs_over() {
    for engine in ENGINES {
        let on = |bytes: usize| {
            let thread = std::thread::Builder::new().stack_size(bytes);
            thread.spawn(move || deep_lists(engine)).expect("a thread").join().expect("it ends")
        };
        on(8 << 20).expect("there is room");
        if let Err(error) = on(600 << 10) {
            assert!(error.to_string().contains("the stack of the thread"), "{error}");
        }
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(jut::json::parse(&deep).is_err());
}

#[test]
fn tangents_of_different_values_are_zero_or_an_error() {
    let text = format!(
        "{PROGRAM}
         def along(x: f64) -> f64 = directional(left)(Leaf(x), grad(left)(Node(Leaf(x), Leaf(x))))
         def twice(t: Tree) -> Tree = Node(t, t)
         def added(x: f64) -> f64 = {{
           c = grad(leaves)(Node(Leaf(x), Node(Leaf(x), Leaf(x))))
           (t, g) = vjp(twice)(Leaf(x), c)
           directional(left)(Leaf(x), g)
         }}
         def leaves(t: Tree) -> f64 = case t {{ Leaf(x) -> x * x; Node(l, r) -> leaves(l) * leaves(r) }}"
    );
    let model = model(&text);
    for engine in ENGINES {
        let of = |name: &str| model.function(name).expect("it is there").engine(engine);
        let along = of("along").value_and_gradient().expect("it compiles");
        let results = along.call(&[0.7.into()]).expect("it runs");
        assert_eq!(results, [Value::F64(0.0), Value::F64(0.0)]);
        let added = of("added").value().expect("it compiles");
        let error = added.call(&[0.7.into()]).map(|_| ()).expect_err("they are different");
        assert_eq!(error.code(), Some("R01"), "{error}");
        assert!(
            error.to_string().contains("tangents of values of different constructors"),
            "{error}"
        );
    }
}

#[test]
fn a_session_goes_from_tree_to_tree() {
    for engine in ENGINES {
        let left = function("left").engine(engine).value_and_gradient().expect("it compiles");
        let mut session = left.session();
        let mut tree = Value::Data("Leaf".into(), vec![Value::F64(1.0)]);
        for k in 0..5 {
            let results = session.call(&[(&tree).into()]).expect("it runs");
            assert_eq!(results.f64("value").expect("a float"), 1.0);
            let gradient = results.part("t").expect("a tree");
            assert_eq!(gradient.floats().len(), 1 << k);
            assert!(results.f64s("t").is_err() && results.value(7).is_none());
            tree = Value::Data("Node".into(), vec![tree.clone(), tree]);
        }
    }
}

#[test]
fn a_result_has_a_size_that_the_function_computes() {
    let text = "data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree)
                def halves[n](ts: [n]Tree, y: f64) -> (m: i64, firsts: [m]Tree) = {
                  m = n / 2
                  firsts = build (i < m) { Node(ts[i], Leaf(y)) }
                  (m, firsts)
                }";
    for engine in ENGINES {
        let halves = Model::from_text(text).and_then(|m| m.function("halves")).expect("a function");
        let value = halves.engine(engine).value().expect("it compiles");
        assert_eq!(value.outputs().nth(1).map(|port| port.ty), Some("[m]Tree"));
        let found = call(&value, &json!({"ts": [leaf(1.0), leaf(2.0), leaf(3.0)], "y": 4.0}));
        assert_eq!(
            found.expect("it runs"),
            json!({"m": 1, "firsts": [node(leaf(1.0), leaf(4.0))]})
        );
    }
}

#[test]
fn trees_are_no_blocks_of_partial_derivatives() {
    for engine in ENGINES {
        let left = function("left").engine(engine);
        let error =
            left.jacobian(jut::request::JacobianMode::default()).err().map(|e| e.to_string());
        assert!(error.unwrap_or_default().contains("J805"));
    }
}

/// The size of a list in lists may be a result.
#[test]
fn lists_may_have_a_size_that_is_a_result() {
    let args = json!({"bs": [{"m": 2, "w": [1.0, 2.0]}, {"m": 0, "w": []}], "k": 3.0});
    let found = all("scaled", Request::Value, &args);
    let empty = json!({"shape": [0], "data": []});
    let made = json!([{"m": 2, "w": [3.0, 6.0]}, {"m": 0, "w": empty}]);
    assert_eq!(found, json!({"r": 2, "made": made}));
    let args = json!({"bs": args["bs"], "k": 3.0, "made''": [{"w": [1.0, 1.0]}, {"w": []}]});
    let found = all("scaled", Request::Vjp, &args);
    assert_eq!(found["k'"], json!(3.0));
    assert_eq!(found["bs'"], json!([{"w": [3.0, 3.0]}, {"w": empty}]));
}
