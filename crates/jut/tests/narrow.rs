//! Integers of 32 bits at the border: the operations are those of Rust's `i32` that wrap, arrays have half the size, and
//! what does not fit is an error.

use jut::{Arg, Array, Engine, Error, Model, Out, Request, Value};

fn engines() -> impl Iterator<Item = Engine> {
    [Engine::Interpreter, Engine::Cranelift].into_iter()
}

fn narrow(shape: &[usize], data: &[i32]) -> Value {
    Value::I32s(Array { shape: shape.to_vec(), data: data.to_vec() })
}

#[test]
fn arithmetic_is_that_of_rust() {
    let text = "def f(a: i32, b: i32, x: f64, n: i64) ->
        (i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, bool) = {
      d = if b == 0 { 1 } else { b }
      (a + b, a - b * 7, a * b, a / d, a % d, -a, abs(a), i32(x), i32(n), i64(a), a < b)
    }";
    let mut random = fastrand::Rng::with_seed(32);
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("f").unwrap().engine(engine);
        let mut session = function.compile(Request::Value).unwrap().session();
        for round in 0..500 {
            let ends = [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX];
            let mut number = || match random.u8(0..3) {
                0 => ends[random.usize(..ends.len())],
                _ => random.i32(..),
            };
            let (a, b) = (number(), number());
            let n = i64::from(a) * 65_537 + i64::from(b);
            let x = match round % 50 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                _ => n as f64 / 3e4,
            };
            let mut made = [0i32; 9];
            let (mut wide, mut less) = (0i64, false);
            let mut outs: Vec<Out<'_>> = made.iter_mut().map(Out::I32).collect();
            outs.extend([Out::I64(&mut wide), Out::Bool(&mut less)]);
            let args = [Arg::I32(a), Arg::I32(b), Arg::F64(x), Arg::I64(n)];
            session.call_into(&args, &mut outs).unwrap();
            let d = if b == 0 { 1 } else { b };
            let expected = [
                a.wrapping_add(b),
                a.wrapping_sub(b.wrapping_mul(7)),
                a.wrapping_mul(b),
                a.wrapping_div(d),
                a.wrapping_rem(d),
                a.wrapping_neg(),
                a.wrapping_abs(),
                x as i32,
                n as i32,
            ];
            assert_eq!(made, expected, "{engine:?} at {a}, {b}, {x}");
            assert_eq!((wide, less), (i64::from(a), a < b));
        }
    }
}

#[test]
fn a_session_takes_slices_and_writes_into_slices() {
    let text = "def f[n](k: [n]i32, c: i32) -> (y: [n]i32, s: i32) = { y = c * k; (y, sum(y)) }";
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("f").unwrap().engine(engine);
        let compiled = function.compile(Request::Value).unwrap();
        let mut session = compiled.session();
        // Slices that do not begin at a multiple of eight bytes, and an odd number of cells.
        let k = [9, -5, i32::MAX, 2, 3];
        let (mut y, mut s) = ([7i32; 5], 0);
        for from in 0..3 {
            let given = [Arg::I32s(&k[from..from + 3], None), Arg::I32(2)];
            session.call_into(&given, &mut [Out::I32s(&mut y[1..4]), Out::I32(&mut s)]).unwrap();
            let expected: Vec<i32> = k[from..from + 3].iter().map(|k| k.wrapping_mul(2)).collect();
            assert_eq!((y[0], &y[1..4], y[4]), (7, &expected[..], 7));
            assert_eq!(s, expected.iter().fold(0i32, |s, y| s.wrapping_add(*y)));
        }
        let results = session.call(&[Arg::I32s(&k, Some(&[5])), Arg::I32(1)]).unwrap();
        assert_eq!(results.i32s("y").unwrap(), k);
        assert_eq!(results.i32("s").unwrap(), i32::MAX.wrapping_add(9));
        assert!(results.i64("s").is_err() && results.i64s("y").is_err());
    }
}

#[test]
fn what_is_of_another_width_is_refused() {
    let text = "def f(k: [2]i32, c: i32, n: i64) -> i64 = i64(c * sum(k)) + n";
    for engine in engines() {
        let function = Model::from_text(text).unwrap().function("f").unwrap().engine(engine);
        let compiled = function.compile(Request::Value).unwrap();
        let (short, wide) = ([1i32, 2], [1i64, 2]);
        let (one, long) = (Arg::I32(1), Arg::I64(1));
        let good = Arg::I32s(&short, None);
        assert!(compiled.call(&[good, one, long]).is_ok());
        for wrong in [
            [Arg::I64s(&wide, None), one, long],
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
    let text = "def f[n](k: [n]i32, c: i32) -> [n]i32 = c * k";
    let model = Model::from_text(text).unwrap();
    let compiled = model.function("f").unwrap().compile(Request::Value).unwrap();
    let args = serde_json::json!({"k": [1, -2147483648, 3], "c": 1});
    let values = compiled.read_json(args.as_object().unwrap()).unwrap();
    assert_eq!(values[0], narrow(&[3], &[1, i32::MIN, 3]));
    for wrong in [serde_json::json!([2147483648i64]), serde_json::json!([1.5])] {
        let args = serde_json::json!({"k": wrong, "c": 1});
        assert!(compiled.read_json(args.as_object().unwrap()).is_err());
    }
    let args: Vec<Arg<'_>> = values.iter().map(Arg::from).collect();
    let results = compiled.call(&args).unwrap();
    let shown = serde_json::to_string(&compiled.view_json(0, &results[0]).unwrap()).unwrap();
    assert_eq!(shown, "[1,-2147483648,3]");
    let mut file = Vec::new();
    jut::npy::write(&mut file, &results[0]).unwrap();
    assert!(String::from_utf8_lossy(&file).contains("<i4"));
    assert_eq!(file.len() % 64, 12);
}

/// Lists, trees and sums have them too; what has none of a constructor's fields has zeros.
#[test]
fn recursive_data_and_sums_cross_the_border() {
    let text = "data Path = End | Step(by: i32, w: [2]i32, rest: Path)
      data Move = Stay | By(k: i32, x: f64)
      def far(p: Path) -> i32 = case p { End -> 0; Step(by, w, rest) -> by * w[0] + w[1] + far(rest) }
      def turned(p: Path) -> Path = case p {
        End -> End()
        Step(by, w, rest) -> Step(-by, 2 * w, turned(rest))
      }
      def cost[n](m: [n]Move) -> f64 = sum (v <- m) { case v { Stay -> 0.0; By(k, x) -> f64(k) * x * x } }";
    let model = Model::from_text(text).unwrap();
    let step = |by: i32, w: [i32; 2], rest: Value| {
        Value::Data("Step".into(), vec![Value::I32(by), narrow(&[2], &w), rest])
    };
    let end = || Value::Data("End".into(), vec![]);
    let path = step(-3, [4, 5], step(i32::MAX, [2, 1], end()));
    for engine in engines() {
        let call = |name: &str, arg: &Value| {
            let function = model.function(name).unwrap().engine(engine);
            function.compile(Request::Value).unwrap().call(&[arg.into()]).unwrap()
        };
        assert_eq!(call("far", &path)[0], Value::I32(-12 + 5 - 2 + 1));
        let expected = step(3, [8, 10], step(-i32::MAX, [4, 2], end()));
        assert_eq!(call("turned", &path)[0], expected);
        let by = |k: i32, x: f64| Value::Data("By".into(), vec![Value::I32(k), Value::F64(x)]);
        let moves = Value::List(vec![by(3, 2.0), Value::Data("Stay".into(), vec![]), by(-1, 1.0)]);
        let function = model.function("cost").unwrap().engine(engine);
        let gradient = function.value_and_gradient().unwrap();
        let results = gradient.call(&[(&moves).into()]).unwrap();
        assert_eq!(results[0], Value::F64(11.0));
        assert_eq!(results[1].floats(), [12.0, 0.0, -2.0]);
    }
}
