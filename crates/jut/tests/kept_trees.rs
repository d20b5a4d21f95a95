//! Kept derivatives of functions that take and give recursive data and arrays of records that measure their arrays: the
//! same numbers as one product with the Jacobian, on every engine, and what does not fit.

use crate::support::trees::{leaf, model, node};
use jut::{Arg, Engine, Error, Function, Linearized, Model, Request, Role, Value};
use serde_json::{Map, Value as Json, json};

const PROGRAM: &str = "
data Short = Stop | Next(x: f32, k: i32, on: bool, rest: Short)

def bags[n](bs: [n]Bag, c: [n]f64) -> (f64, [n]f64) =
  (sum (i < n) { weight(bs[i], c[i]) }, build (i < n) { weight(bs[i], 2.0) })
def scaled[n](bs: [n]Bag, s: f64) -> [n]Bag = map (b <- bs) {
  Bag(m, w) = b
  v = s * w
  Bag(m, v)
}
def halves[n](ts: [n]Tree, y: f64) -> (m: i64, firsts: [m]Tree) = {
  m = n / 2
  firsts = build (i < m) { doubled(ts[i], y) }
  (m, firsts)
}
def path(s: Short, y: f32) -> (f32, i32) = case s {
  Stop -> (y, 1i32)
  Next(x, k, on, rest) -> {
    (v, j) = path(rest, y * x)
    (if on { v * x } else { v }, j + k)
  }
}
def leaves(t: Tree) -> i64 = case t { Leaf(_) -> 1; Node(l, r) -> leaves(l) + leaves(r) }
def one(b: Bag) -> Bag = { Bag(m, w) = b; v = w * w; Bag(m, v) }
def grown(depth: i64, x: f64) -> Tree =
  if depth == 0 { Leaf(x) } else { Node(grown(depth - 1, x * x), grown(depth - 1, sin(x))) }
";

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];

fn on(name: &str, engine: Engine) -> Function {
    model(PROGRAM).function(name).expect("it is there").engine(engine)
}

fn object(json: &Json) -> &Map<String, Json> {
    json.as_object().expect("an object")
}

fn borrowed(values: &[Value]) -> Vec<Arg<'_>> {
    values.iter().map(Arg::from).collect()
}

/// The derivatives that one call gives, by name.
fn product(f: &Function, request: Request, args: &Json, seeds: &Json) -> Json {
    let compiled = f.compile(request).expect("it compiles");
    let mut all = object(args).clone();
    all.extend(object(seeds).clone());
    let values = compiled.read_json(&all).expect("they fit");
    let results = compiled.call(&borrowed(&values)).expect("it runs");
    let ports = compiled.outputs().enumerate().zip(&results);
    let derivatives = ports.filter(|((_, port), _)| port.role == Role::Derivative);
    let written = derivatives.map(|((k, port), value)| {
        (port.name.to_string(), compiled.write_json(k, value).expect("it is written"))
    });
    Json::Object(written.collect())
}

/// What the map, or its transpose, gives at what is recorded.
fn applied(linearized: &Linearized, tape: &jut::Tape, transposed: bool, seeds: &Json) -> Json {
    let values = linearized.read_seeds_json(transposed, object(seeds)).expect("they fit");
    let mut session = linearized.session();
    let results = match transposed {
        false => session.apply(tape, &borrowed(&values)),
        true => session.apply_transposed(tape, &borrowed(&values)),
    };
    let values = results.expect("it runs").values();
    let names: Vec<String> = match transposed {
        false => linearized.cotangents().map(|p| p.of.to_string()).collect(),
        true => linearized.tangents().map(|p| p.of.to_string()).collect(),
    };
    assert_eq!(names.len(), values.len());
    let written = names.into_iter().zip(&values).enumerate().map(|(k, (name, value))| {
        (name, linearized.write_derivative_json(transposed, k, value).expect("it is written"))
    });
    Json::Object(written.collect())
}

/// A function; points, and a tangent and a cotangent at each.
type Case = (&'static str, Vec<Json>, Vec<Json>, Vec<Json>);

fn cases() -> Vec<Case> {
    let tree = |a: f64, b: f64, c: f64| node(leaf(a), node(leaf(b), leaf(c)));
    let expr = json!({"Sum": [{"Const": [2.0]}, {"Product": {"a": "Var", "b": {"Const": [3.0]}}}]});
    let slope =
        json!({"Sum": [{"Const": [0.5]}, {"Product": {"a": {"Var": {}}, "b": {"Const": [-1.0]}}}]});
    let kid = |w: f64| json!({"w": w, "tag": 1, "m": 0, "kids": []});
    let rose = |w: f64| json!({"w": w, "tag": 3, "m": 2, "kids": [kid(1.0), kid(3.0)]});
    let petal = |w: f64| json!({"w": w, "kids": []});
    let bags = json!([{"m": 2, "w": [1.0, -2.0]}, {"m": 0, "w": []}, {"m": 1, "w": [0.5]}]);
    let steps = json!([{"w": [0.1, 0.2]}, {"w": []}, {"w": [0.3]}]);
    let short = json!({"Next": [0.5, 7, true, {"Next": [1.25, -3, false, "Stop"]}]});
    let moves = json!({"Next": [1.0, {"Next": [0.25, {"Stop": {}}]}]});
    vec![
        (
            "total",
            vec![json!({"t": tree(0.5, 1.5, -0.3), "y": 0.7}), json!({"t": leaf(0.25), "y": -2.0})],
            vec![
                json!({"t'": tree(1.0, 0.0, 2.0), "y'": 0.5}),
                json!({"t'": leaf(1.0), "y'": 3.0}),
            ],
            vec![json!({"value''": 1.5}), json!({"value''": 2.0})],
        ),
        (
            "doubled",
            vec![json!({"t": tree(0.5, 1.5, -0.3), "y": 0.7})],
            vec![json!({"t'": tree(1.0, -1.0, 2.0), "y'": 0.5})],
            vec![json!({"value''": node(node(leaf(1.0), leaf(2.0)), leaf(3.0))})],
        ),
        (
            "left",
            vec![json!({"t": tree(0.5, 1.5, -0.3)})],
            vec![json!({"t'": tree(2.0, -1.0, 2.0)})],
            vec![json!({"value''": 0.25})],
        ),
        (
            "eval",
            vec![json!({"e": expr, "x": 5.0})],
            vec![json!({"e'": slope, "x'": 0.5})],
            vec![json!({"value''": 2.0})],
        ),
        (
            "rose",
            vec![json!({"t": rose(2.0)})],
            vec![json!({"t'": {"w": 1.0, "kids": [petal(0.5), petal(-1.0)]}})],
            vec![json!({"value''": 1.0})],
        ),
        (
            "bags",
            vec![
                json!({"bs": bags, "c": [1.0, 2.0, 3.0]}),
                json!({"bs": [], "c": []}),
                json!({"bs": [{"m": 1, "w": [4.0]}], "c": [0.5]}),
            ],
            vec![
                json!({"bs'": steps, "c'": [1.0, 0.0, -1.0]}),
                json!({"bs'": [], "c'": []}),
                json!({"bs'": [{"w": [1.0]}], "c'": [2.0]}),
            ],
            vec![
                json!({"0''": 1.0, "1''": [0.5, 1.0, 2.0]}),
                json!({"0''": 1.0, "1''": []}),
                json!({"0''": 0.5, "1''": [1.0]}),
            ],
        ),
        (
            "scaled",
            vec![json!({"bs": bags, "s": 3.0})],
            vec![json!({"bs'": steps, "s'": -1.0})],
            vec![json!({"value''": steps})],
        ),
        (
            "halves",
            vec![json!({"ts": [tree(0.5, 1.5, -0.3), leaf(2.0), leaf(1.0)], "y": 0.5})],
            vec![json!({"ts'": [tree(1.0, 2.0, 3.0), leaf(0.5), leaf(0.25)], "y'": 1.0})],
            vec![json!({"firsts''": [node(node(leaf(1.0), leaf(2.0)), leaf(3.0))]})],
        ),
        (
            "path",
            vec![json!({"s": short, "y": 2.0})],
            vec![json!({"s'": moves, "y'": 1.0})],
            vec![json!({"0''": 1.0})],
        ),
        (
            "one",
            vec![json!({"b": {"m": 2, "w": [1.0, -2.0]}})],
            vec![json!({"b'": {"w": [0.5, 2.0]}})],
            vec![json!({"value''": {"w": [1.0, 3.0]}})],
        ),
        (
            "grown",
            vec![json!({"depth": 2, "x": 0.5})],
            vec![json!({"x'": 2.0})],
            vec![json!({"value''": node(node(leaf(1.0), leaf(2.0)), node(leaf(3.0), leaf(4.0)))})],
        ),
    ]
}

#[test]
fn a_kept_derivative_is_the_product_with_the_jacobian() {
    for (name, points, tangents, cotangents) in cases() {
        let [native, interpreted] = ENGINES.map(|engine| {
            let f = on(name, engine);
            let linearized = f.linearize().unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut tape = linearized.tape();
            let mut found = Vec::new();
            // One tape for all points, and each point twice: a recording leaves nothing of the one before.
            for k in (0..points.len()).chain(0..points.len()) {
                let args = linearized.read_json(object(&points[k])).expect("they fit");
                let results = tape.record(&borrowed(&args)).expect("it runs").values();
                let value = f.value().expect("it compiles").call(&borrowed(&args));
                assert_eq!(results, value.expect("it runs"), "{name}");
                assert_eq!(tape.results().expect("it is recorded").values(), results);
                // Nothing of the arguments is read again.
                drop(args);
                let forward = applied(&linearized, &tape, false, &tangents[k]);
                assert_eq!(forward, product(&f, Request::Jvp, &points[k], &tangents[k]), "{name}");
                let back = applied(&linearized, &tape, true, &cotangents[k]);
                assert_eq!(back, product(&f, Request::Vjp, &points[k], &cotangents[k]), "{name}");
                found.push((forward, back));
            }
            found
        });
        assert_eq!(native, interpreted, "{name}");
    }
}

#[test]
fn a_gradient_that_is_zero_has_the_shape_of_the_argument() {
    for engine in ENGINES {
        let linearized = on("left", engine).linearize().expect("it compiles");
        let point = json!({"t": node(leaf(0.5), node(leaf(1.5), leaf(-0.3)))});
        let args = linearized.read_json(object(&point)).expect("they fit");
        let tape = linearized.at(&borrowed(&args)).expect("it runs");
        let back = applied(&linearized, &tape, true, &json!({"value''": 3.0}));
        assert_eq!(back, json!({"t": node(leaf(3.0), node(leaf(0.0), leaf(0.0)))}));
        // A tangent that is zero needs no shape.
        let forward = applied(&linearized, &tape, false, &json!({"t'": "zero"}));
        assert_eq!(forward, json!({"value": 0.0}));
    }
}

#[test]
fn functions_without_floats_in_results_are_kept_too() {
    for engine in ENGINES {
        let linearized = on("leaves", engine).linearize().expect("it compiles");
        let args = linearized.read_json(object(&json!({"t": node(leaf(1.0), leaf(2.0))})));
        let tape = linearized.at(&borrowed(&args.expect("they fit"))).expect("it runs");
        assert_eq!(tape.results().expect("it is recorded").values(), [Value::I64(2)]);
        let back = applied(&linearized, &tape, true, &json!({}));
        assert_eq!(back, json!({"t": node(leaf(0.0), leaf(0.0))}));
    }
}

#[test]
fn tangents_that_do_not_fit_what_is_recorded_are_refused() {
    for engine in ENGINES {
        let linearized = on("total", engine).linearize().expect("it compiles");
        let args = json!({"t": node(leaf(0.5), leaf(1.5)), "y": 1.0});
        let args = linearized.read_json(object(&args)).expect("they fit");
        let tape = linearized.at(&borrowed(&args)).expect("it runs");
        let other = json!({"t'": leaf(1.0), "y'": 0.0});
        let other = linearized.read_seeds_json(false, object(&other)).expect("it is a tangent");
        let error = linearized.session().apply(&tape, &borrowed(&other)).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Some("A02"), "{error}");
        assert!(error.to_string().contains("where the value is Node(..)"), "{error}");

        let linearized = on("bags", engine).linearize().expect("it compiles");
        let args = json!({"bs": [{"m": 1, "w": [2.0]}, {"m": 1, "w": [3.0]}], "c": [1.0, 1.0]});
        let args = linearized.read_json(object(&args)).expect("they fit");
        let tape = linearized.at(&borrowed(&args)).expect("it runs");
        for (bags, code) in [
            (json!([{"w": [1.0]}]), "A02"),
            (json!([{"w": [1.0]}, {"w": [1.0, 2.0]}]), "A02"),
            (json!([{"w": [1.0]}, {"w": [1.0]}, {"w": [1.0]}]), "A02"),
        ] {
            let seeds = json!({"bs'": bags, "c'": [1.0, 1.0]});
            let seeds = linearized.read_seeds_json(false, object(&seeds)).expect("a tangent");
            let error = linearized.session().apply(&tape, &borrowed(&seeds)).map(|_| ());
            assert_eq!(error.unwrap_err().code(), Some(code));
        }

        // What is recorded anew is what counts.
        let linearized = on("doubled", engine).linearize().expect("it compiles");
        let mut tape = linearized.tape();
        for tree in [leaf(1.0), node(leaf(1.0), leaf(2.0))] {
            let args = json!({"t": tree, "y": 2.0});
            let args = linearized.read_json(object(&args)).expect("they fit");
            tape.record(&borrowed(&args)).expect("it runs");
        }
        let seeds = linearized.read_seeds_json(true, object(&json!({"value''": leaf(1.0)})));
        let seeds = seeds.expect("it is a cotangent");
        let mut session = linearized.session();
        let error = session.apply_transposed(&tape, &borrowed(&seeds)).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Some("A02"), "{error}");
        tape.clear();
        let error = session.apply_transposed(&tape, &borrowed(&seeds)).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Tape(_)), "{error}");
    }
}

#[test]
fn a_deep_list_is_kept_whole() {
    // As much stack as a program's first thread has: without optimisation a level takes several kilobytes.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    thread.spawn(keep_a_deep_list).expect("a thread").join().expect("it is kept");
}

fn keep_a_deep_list() {
    let text = "data List = Nil | Cons(head: f64, rest: List)
                def squares(l: List) -> f64 = case l { Nil -> 0.0; Cons(a, rest) -> a * a + squares(rest) }";
    for engine in ENGINES {
        let f = Model::from_text(text).and_then(|m| m.function("squares")).expect("a function");
        let linearized = f.engine(engine).linearize().expect("it compiles");
        let mut list = Value::Data("Nil".into(), vec![]);
        for k in 0..900 {
            list = Value::Data("Cons".into(), vec![Value::F64(f64::from(k)), list]);
        }
        let tape = linearized.at(&[(&list).into()]).expect("it runs");
        let mut session = linearized.session();
        let back = session.apply_transposed(&tape, &[0.5.into()]).expect("it runs");
        assert_eq!(back.values(), [list]);
    }
}
