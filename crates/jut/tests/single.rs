//! Numbers of 32 bits at the border: the operations are those of Rust's `f32`, bit for bit, gradients are near those of
//! 64 bits, and what does not fit is an error.

use jut::{Arg, Array, Engine, Error, Model, Out, Request, Value};

/// The same program in both widths: `R` is the type.
const PROGRAM: &str = "data Layer = Layer(w: [3]R, b: R)
def logistic[n](l: Layer, x: [n, 3]R, y: [n]R) -> R = {
  total = sum (i < n) {
    z = l.b + sum (j < 3) { l.w[j] * x[i, j] }
    log1p(exp(-abs(z))) + max(z, 0.0) - y[i] * z
  }
  total / R(n)
}
def energy(x: [4]R, k: R) -> R = {
  var e = k
  for (i < 4) { if x[i] > 0.5 { e += x[i]^3 / k } else { e *= 1.0 + sin(x[i]) } }
  e
}";

fn model(width: &str) -> Model {
    Model::from_text(&PROGRAM.replace('R', width)).unwrap()
}

fn engines() -> impl Iterator<Item = Engine> {
    [Engine::Interpreter, Engine::Cranelift].into_iter()
}

const X: [f32; 4] = [0.25, 0.75, 1.5, -0.5];

fn near(short: &Value, long: &Value) {
    let (short, long) = (short.floats(), long.floats());
    assert_eq!(short.len(), long.len());
    for (a, b) in short.iter().zip(&long) {
        assert!((a - b).abs() <= 2e-6 * (1.0 + b.abs()), "{a} and {b}");
    }
}

/// A value with floats of 64 bits.
fn long(value: &Value) -> Value {
    match value {
        Value::F32(x) => Value::F64(f64::from(*x)),
        Value::F32s(a) => Value::F64s(Array {
            shape: a.shape.clone(),
            data: a.data.iter().map(|x| f64::from(*x)).collect(),
        }),
        Value::Tuple(items) => Value::Tuple(items.iter().map(long).collect()),
        other => other.clone(),
    }
}

fn singles(shape: &[usize], data: &[f32]) -> Value {
    Value::F32s(Array { shape: shape.to_vec(), data: data.to_vec() })
}

#[test]
fn gradients_in_32_bits_are_near_those_in_64() {
    let layer = Value::Tuple(vec![singles(&[3], &[0.1, -0.2, 0.3]), Value::F32(0.5)]);
    let rows = singles(&[2, 3], &[1.0, 2.0, 3.0, -1.5, 0.5, 2.5]);
    let logistic = vec![layer, rows, singles(&[2], &[0.0, 1.0])];
    let energy = vec![singles(&[4], &X), Value::F32(1.25)];
    for engine in engines() {
        for (name, args) in [("logistic", &logistic), ("energy", &energy)] {
            let result = |width: &str, args: &[Value], request: Request| {
                let function = model(width).function(name).unwrap().engine(engine);
                let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
                function.compile(request).unwrap().call(&args).unwrap()
            };
            let wide: Vec<Value> = args.iter().map(long).collect();
            for request in [Request::Value, Request::ValueAndGradient, Request::Hessian] {
                let short = result("f32", args, request);
                let long = result("f64", &wide, request);
                assert_eq!(short.len(), long.len());
                short.iter().zip(&long).for_each(|(short, long)| near(short, long));
                let is_short = |v: &Value| !matches!(v, Value::F64(_) | Value::F64s(_));
                assert!(short.iter().all(is_short), "{short:?}");
            }
        }
    }
}

#[test]
fn arithmetic_is_that_of_rust() {
    let text = "def f(x: f32, y: f32) -> (f32, f32, f32, f32, f32, f32, i64) =
      (x + y, x - y * 0.1, x * y, x / y, sqrt(x), 3.0 + x * (0.5 - x), i64(x * 8.0))";
    let mut random = fastrand::Rng::with_seed(32);
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("f").unwrap().engine(engine);
        let mut session = function.compile(Request::Value).unwrap().session();
        for _ in 0..500 {
            let number = |bits: u32| f32::from_bits(bits);
            let (x, y) = (number(random.u32(..)), number(random.u32(..)));
            let [mut a, mut b, mut c, mut d, mut e, mut f] = [0.0f32; 6];
            let mut whole = 0i64;
            let outs = [&mut a, &mut b, &mut c, &mut d, &mut e, &mut f].map(Out::F32);
            let mut outs: Vec<Out<'_>> = outs.into_iter().chain([Out::I64(&mut whole)]).collect();
            session.call_into(&[Arg::F32(x), Arg::F32(y)], &mut outs).unwrap();
            let expected = [x + y, x - y * 0.1, x * y, x / y, x.sqrt(), 3.0 + x * (0.5 - x)];
            for (have, want) in [a, b, c, d, e, f].into_iter().zip(expected) {
                let same = have.to_bits() == want.to_bits() || (have.is_nan() && want.is_nan());
                assert!(same, "{engine:?}: {have:?}, not {want:?}, at {x:?} and {y:?}");
            }
            assert_eq!(whole, (x * 8.0) as i64);
        }
    }
}

#[test]
fn a_session_takes_slices_and_writes_into_slices() {
    let text =
        "def scaled[n](x: [n]f32, c: f32) -> (y: [n]f32, s: f32) = { y = c * x; (y, sum(y)) }";
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("scaled").unwrap().engine(engine);
        let compiled = function.compile(Request::Value).unwrap();
        let mut session = compiled.session();
        // Slices that do not begin at a multiple of eight bytes, and an odd number of cells.
        let x = [9.0f32, 0.5, 1.5, 2.5, 3.5];
        let (mut y, mut s) = ([7.0f32; 5], 0.0f32);
        for from in 0..3 {
            let given = [Arg::F32s(&x[from..from + 3], None), Arg::F32(2.0)];
            session.call_into(&given, &mut [Out::F32s(&mut y[1..4]), Out::F32(&mut s)]).unwrap();
            let expected: Vec<f32> = x[from..from + 3].iter().map(|x| 2.0 * x).collect();
            assert_eq!((y[0], &y[1..4], y[4]), (7.0, &expected[..], 7.0));
            assert_eq!(s, expected.iter().sum::<f32>());
        }
        let results = session.call(&[Arg::F32s(&x, Some(&[5])), Arg::F32(1.0)]).unwrap();
        assert_eq!(results.f32s("y").unwrap(), x);
        assert_eq!(results.f32("s").unwrap(), 17.0);
        assert!(results.f64("s").is_err());
    }
}

#[test]
fn what_is_of_another_width_is_refused() {
    let text = "def f(x: [2]f32, c: f32, y: f64) -> f32 = c * sum(x) * f32(y)";
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("f").unwrap().engine(engine);
        let compiled = function.compile(Request::Value).unwrap();
        let (short, wide) = ([1.0f32, 2.0], [1.0f64, 2.0]);
        let (one, long) = (Arg::F32(1.0), Arg::F64(1.0));
        let good = Arg::F32s(&short, None);
        assert!(compiled.call(&[good, one, long]).is_ok());
        for wrong in [
            [Arg::F64s(&wide, None), one, long],
            [good, long, long],
            [good, one, one],
            [one, one, long],
            [good, good, long],
        ] {
            match compiled.call(&wrong) {
                Err(Error::Argument(error)) => assert_eq!(error.code(), "A02"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn json_and_npy_have_the_width_of_the_type() {
    let text = "def f[n](x: [n]f32, c: f32) -> [n]f32 = c * x";
    let model = Model::from_text(text).unwrap();
    let compiled = model.function("f").unwrap().compile(Request::Value).unwrap();
    let args = serde_json::json!({"x": [0.1, 1e-50, 16777217], "c": 1.0});
    let values = compiled.read_json(args.as_object().unwrap()).unwrap();
    assert_eq!(values[0], singles(&[3], &[0.1, 0.0, 16777216.0]));
    let large = serde_json::json!({"x": [1e39], "c": 1.0});
    assert!(compiled.read_json(large.as_object().unwrap()).is_err());
    let args: Vec<Arg<'_>> = values.iter().map(Arg::from).collect();
    let results = compiled.call(&args).unwrap();
    let shown = serde_json::to_string(&compiled.view_json(0, &results[0]).unwrap()).unwrap();
    assert_eq!(shown, "[0.1,0.0,16777216.0]");
    let mut file = Vec::new();
    jut::npy::write(&mut file, &results[0]).unwrap();
    assert!(String::from_utf8_lossy(&file).contains("<f4"));
    assert_eq!(file.len() % 64, 12);
}

#[test]
fn recursive_data_have_floats_of_their_own_width() {
    let text = "
data Tree = Leaf(x: f32, w: [2]f32, y: f64) | Node(l: Tree, r: Tree)
def total(t: Tree) -> f32 = case t {
  Leaf(x, w, y) -> x * w[0] * w[1] + f32(y)
  Node(l, r) -> total(l) * total(r)
}
def halved(t: Tree) -> Tree = case t {
  Leaf(x, w, y) -> Leaf(x / f32(2.0), w, y / 2.0)
  Node(l, r) -> Node(halved(l), halved(r))
}";
    let leaf = |x: f32, w: [f32; 2], y: f64| {
        Value::Data("Leaf".into(), vec![Value::F32(x), singles(&[2], &w), Value::F64(y)])
    };
    let node = |l: Value, r: Value| Value::Data("Node".into(), vec![l, r]);
    let tree = node(leaf(0.1, [2.0, 3.0], 0.25), leaf(-1.5, [0.5, 4.0], 1.0));
    for engine in engines() {
        let model = Model::from_text(text).unwrap();
        let [total, halved] =
            ["total", "halved"].map(|name| model.function(name).unwrap().engine(engine));
        let compiled = total.compile(Request::ValueAndGradient).unwrap();
        let results = compiled.call(&[Arg::from(&tree)]).unwrap();
        let (a, b) = (0.1_f32 * 2.0 * 3.0 + 0.25, -1.5_f32 * 0.5 * 4.0 + 1.0);
        assert_eq!(results[0], Value::F32(a * b));
        let of = |c: f32, x: f32, w: [f32; 2]| {
            leaf(c * w[1] * w[0], [c * w[1] * x, c * (x * w[0])], c.into())
        };
        assert_eq!(results[1].floats().len(), 8);
        near(&results[1], &long(&node(of(b, 0.1, [2.0, 3.0]), of(a, -1.5, [0.5, 4.0]))));
        let compiled = halved.compile(Request::Value).unwrap();
        let half = node(leaf(0.05, [2.0, 3.0], 0.125), leaf(-0.75, [0.5, 4.0], 0.5));
        assert_eq!(compiled.call(&[Arg::from(&tree)]).unwrap(), [half]);
        // The width of a number is that of its type.
        let wrong = Value::Data(
            "Leaf".into(),
            vec![Value::F64(0.1), singles(&[2], &[0.0; 2]), Value::F64(1.0)],
        );
        let error = compiled.call(&[Arg::from(&wrong)]).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().contains("expected an f32")),
            (Some("A02"), true),
            "{error}"
        );
    }
}
