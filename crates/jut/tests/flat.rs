//! A function of one vector: its derivatives are those of the function, number by number.

use jut::{Arg, Cancellation, Engine, Error, Flat, Model, Result, Value};

const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Cranelift];

/// Records with records and integers in them, arrays of records, a matrix, a number, and data that are not differentiated.
const TEXT: &str = "
    data Layer = Layer(w: [2, 3]f64, steps: i64, b: #(f64, [2]f64))
    data Point = Point(x: f64, y: f64)
    data Kind = Sine | Power(k: f64)
    def act(kind: Kind, u: f64) -> f64 = case kind { Sine() -> sin(u); Power(k) -> u * u + k * u }
    def model[n](layer: Layer, kind: Kind, points: [n]Point, scale: f64,
        data: [n, 2]f64) -> (sums: [2]f64, count: i64, last: #(f64, [n]Point)) = {
      sums = build (i < 2) { layer.b.0 * layer.b.1[i] + sum (j < 3) { act(kind, layer.w[i, j] * scale) } }
      moved = build (i < n) {
        Point(points[i].x * scale + data[i, 0], points[i].y * sums[0] * data[i, 1])
      }
      (sums, n, #(sums[1] * scale, moved))
    }
    def loss[n](layer: Layer, kind: Kind, points: [n]Point, scale: f64, data: [n, 2]f64) -> f64 = {
      (sums, count, rest) = model(layer, kind, points, scale, data)
      rest.0 * sums[0] + sum (i < n) { rest.1[i].x * rest.1[i].y }
    }";

fn array(shape: &[usize], data: &[f64]) -> Value {
    Value::F64s(jut::Array { shape: shape.to_vec(), data: data.to_vec() })
}

/// The arguments of both functions.
fn arguments() -> Vec<Value> {
    let layer = vec![
        array(&[2, 3], &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        Value::I64(3),
        Value::Tuple(vec![Value::F64(1.5), array(&[2], &[0.7, -0.8])]),
    ];
    vec![
        Value::Tuple(layer),
        Value::Data("Power".to_string(), vec![Value::F64(0.25)]),
        Value::Tuple(vec![array(&[2], &[0.9, 1.1]), array(&[2], &[-0.3, 0.2])]),
        Value::F64(1.2),
        array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
    ]
}

fn flat(name: &str, wrt: &[&str], engine: Engine) -> Result<Flat> {
    let function = Model::from_text(TEXT)?.function(name)?.engine(engine).wrt(wrt)?;
    let values = arguments();
    function.flat(&values.iter().map(Arg::from).collect::<Vec<_>>())
}

const WRT: [&[&str]; 4] =
    [&["layer", "points", "scale"], &["layer"], &["scale", "points"], &["layer", "data"]];

fn unit(n: usize, k: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(u8::from(i == k))).collect()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs())))
}

#[test]
fn jacobians_are_made_of_products_and_hessians_of_theirs() -> Result<()> {
    for (engine, wrt) in ENGINES.into_iter().flat_map(|e| WRT.map(|wrt| (e, wrt))) {
        let f = flat("model", wrt, engine)?;
        let (n, m) = (f.tangents(), f.results());
        assert_eq!((f.start().len(), m), (n, 7), "{wrt:?}");
        let x: Vec<f64> = f.start().iter().map(|x| x + 0.125).collect();
        let mut jacobian = vec![0.0; n * m];
        f.jacobian_into(&x, &mut jacobian)?;
        assert!(jacobian.iter().filter(|x| **x != 0.0).count() > n);
        for k in 0..n {
            let mut column = vec![0.0; m];
            f.jvp_into(&x, &unit(n, k), &mut column)?;
            let expected: Vec<f64> = (0..m).map(|i| jacobian[i * n + k]).collect();
            assert!(near(&column, &expected), "{wrt:?}, column {k}: {column:?}, {expected:?}");
        }
        for i in 0..m {
            let mut row = vec![0.0; n];
            f.vjp_into(&x, &unit(m, i), &mut row)?;
            assert!(near(&row, &jacobian[i * n..(i + 1) * n]), "{wrt:?}, row {i}");
        }

        let f = flat("loss", wrt, engine)?;
        let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n * n]);
        assert_eq!(f.gradient_into(&x, &mut gradient)?, f.value(&x)?);
        f.hessian_into(&x, &mut hessian)?;
        let mut jacobian = vec![0.0; n];
        f.jacobian_into(&x, &mut jacobian)?;
        assert!(near(&gradient, &jacobian), "{wrt:?}");
        for k in 0..n {
            let mut row = vec![0.0; n];
            f.hessian_product_into(&x, &unit(n, k), &mut row)?;
            assert!(near(&row, &hessian[k * n..(k + 1) * n]), "{wrt:?}, row {k}");
            // .. and these are how the gradient changes.
            let step = 1e-5;
            let [above, below] = [step, -step].map(|step| {
                let mut there = x.clone();
                there[k] += step;
                let mut gradient = vec![0.0; n];
                f.gradient_into(&there, &mut gradient).map(|_| gradient)
            });
            for ((row, above), below) in row.iter().zip(above?).zip(below?) {
                assert!((row - (above - below) / (2.0 * step)).abs() < 1e-6, "{wrt:?}, {k}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_point_goes_back_into_the_arguments() -> Result<()> {
    let f = flat("loss", WRT[0], Engine::Cranelift)?;
    assert_eq!(
        f.start(),
        [
            0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.5, 0.7, -0.8, // the layer
            0.9, 1.1, -0.3, 0.2, // all x of the points, all y
            1.2,
        ]
    );
    assert_eq!(f.arguments(f.start())?, arguments());
    let x: Vec<f64> = (0..14u8).map(f64::from).collect();
    let there = f.arguments(&x)?;
    assert_eq!(there[0].floats(), x[..9]);
    assert_eq!((there[2].floats(), &there[3]), (x[9..13].to_vec(), &Value::F64(13.0)));
    let given: Vec<Arg<'_>> = there.iter().map(Arg::from).collect();
    let value = Model::from_text(TEXT)?.function("loss")?.value()?.call(&given)?;
    assert_eq!(value[0], Value::F64(f.value(&x)?));
    Ok(())
}

/// By some of the parameters, it is the same with fewer columns.
#[test]
fn some_of_the_columns() -> Result<()> {
    let all = flat("model", WRT[0], Engine::Cranelift)?;
    let places: Vec<_> = all.parameters().map(|(name, place, _)| (name, place)).collect();
    assert_eq!(places, [("layer", 0..9), ("points", 9..13), ("scale", 13..14)]);
    let some = all.by(&["scale", "points"])?;
    let (m, n) = (all.results(), all.tangents());
    assert_eq!((some.tangents(), some.results(), some.start()), (5, m, all.start()));
    let (mut whole, mut part) = (vec![0.0; m * n], vec![0.0; m * 5]);
    all.jacobian_into(all.start(), &mut whole)?;
    some.jacobian_into(all.start(), &mut part)?;
    for (whole, part) in whole.chunks(n).zip(part.chunks(5)) {
        assert!(near(&whole[9..], part), "{whole:?} {part:?}");
    }
    Ok(())
}

/// A slice without a shape gets the one that follows from the other arguments.
#[test]
fn shapes_that_follow_are_kept() -> Result<()> {
    let text = "def f[n, m](w: [n, m]f64, x: [m]f64) -> [n]f64 = build (i < n) { sum (j < m) { w[i, j] * x[j] } }";
    let f = Model::from_text(text)?.function("f")?.wrt(&["w"])?;
    let f = f.flat(&[(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).into(), (&[1.0, 10.0, 100.0]).into()])?;
    let mut y = [0.0; 2];
    f.values_into(f.start(), &mut y)?;
    assert_eq!(y, [321.0, 654.0]);
    assert_eq!(f.arguments(f.start())?[0], array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    Ok(())
}

#[test]
fn numbers_of_32_bits_are_rounded() -> Result<()> {
    let f = Model::from_text("def f(x: f32, y: [2]f32) -> [2]f32 = x * y")?.function("f")?;
    let f = f.flat(&[Arg::F32(2.0), Arg::F32s(&[3.0, 4.0], None)])?;
    let (mut y, mut jacobian) = ([0.0; 2], [0.0; 6]);
    f.values_into(&[0.1, 1.0, 2.0], &mut y)?;
    assert_eq!(y, [f64::from(0.1f32), f64::from(0.2f32)]);
    f.jacobian_into(&[0.5, 1.0, 2.0], &mut jacobian)?;
    assert_eq!(jacobian, [1.0, 0.5, 0.0, 2.0, 0.0, 0.5]);
    Ok(())
}

/// One of several numbers, by its name.
#[test]
fn a_result_can_be_chosen() -> Result<()> {
    let text = "def f(x: f64) -> (a: f64, n: i64, b: f64) = (x, 3, x * x)";
    let f = Model::from_text(text)?.function("f")?;
    let mut gradient = [0.0];
    let several = f.flat(&[1.0.into()])?;
    let error = several.gradient_into(&[1.0], &mut gradient).unwrap_err();
    assert!(matches!(&error, Error::Request(text) if text.contains("choose one")), "{error}");
    let mut both = [0.0; 2];
    several.values_into(&[3.0], &mut both)?;
    assert_eq!(both, [3.0, 9.0]);
    let chosen = f.of("b")?.flat(&[1.0.into()])?;
    assert_eq!(chosen.gradient_into(&[3.0], &mut gradient)?, 9.0);
    assert_eq!((chosen.value(&[3.0])?, gradient), (9.0, [6.0]));
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error() -> Result<()> {
    let f = flat("loss", &["scale"], Engine::Cranelift)?;
    let code = |error: Error| error.code().unwrap_or("none");
    let (mut one, mut two) = ([0.0], [0.0; 2]);
    assert_eq!(f.value(&[]).map_err(code), Err("A03"));
    assert_eq!(f.gradient_into(&[1.0, 2.0], &mut one).map_err(code), Err("A03"));
    assert_eq!(f.gradient_into(&[1.0], &mut two).map_err(code), Err("A05"));
    assert_eq!(f.hessian_into(&[1.0], &mut two).map_err(code), Err("A05"));
    assert_eq!(f.hessian_product_into(&[1.0], &[1.0, 2.0], &mut one).map_err(code), Err("A03"));
    assert_eq!(f.jvp_into(&[1.0], &[], &mut one).map_err(code), Err("A03"));
    assert_eq!(f.vjp_into(&[1.0], &[], &mut one).map_err(code), Err("A03"));
    assert_eq!(f.values_into(&[1.0], &mut two).map_err(code), Err("A05"));
    assert_eq!(f.jacobian_into(&[1.0], &mut two).map_err(code), Err("A05"));
    let error = f.value(&[]).unwrap_err();
    assert_eq!(error.to_string(), "argument `scale`: the vector has 0 numbers, not 1");

    // A value of several constructors has a larger tangent.
    let kind = flat("loss", &["kind"], Engine::Cranelift);
    let text = "data Kind = A(a: f64) | B(b: f64)\ndef f(k: Kind) -> f64 = case k { A(a) -> a; B(b) -> b * b }";
    let sum = Model::from_text(text)?.function("f")?;
    let sum = sum.flat(&[(&Value::Data("B".into(), vec![Value::F64(1.0)])).into()]);
    assert_eq!(
        (kind.map(|_| ()).map_err(code), sum.map(|_| ()).map_err(code)),
        (Ok(()), Err("A06"))
    );

    let g = Model::from_text("def g(x: f64) -> f64 = x")?.function("g")?;
    assert_eq!(g.flat(&[]).err().map(code), Some("A01"));
    let error = g.flat(&[1.0.into()])?.by(&["y"]).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("`y` is not in the vector, which has x"));
    Ok(())
}

/// Where the number of results depends on the point, solvers have no use for it.
#[test]
fn as_many_results_everywhere() -> Result<()> {
    let text =
        "def f(x: f64) -> (n: i64, y: [n]f64) = { n = i64(floor(x)); (n, build (i < n) { x }) }";
    let f = Model::from_text(text)?.function("f")?.flat(&[2.5.into()])?;
    let mut y = [0.0; 2];
    f.values_into(&[2.25], &mut y)?;
    assert_eq!(y, [2.25; 2]);
    for x in [1.5, 3.5] {
        assert_eq!(f.values_into(&[x], &mut y).err().and_then(|e| e.code()), Some("A05"), "{x}");
        assert_eq!(f.jacobian_into(&[x], &mut y).err().and_then(|e| e.code()), Some("A05"), "{x}");
        let product = f.jvp_into(&[x], &[1.0], &mut y);
        assert_eq!(product.err().and_then(|e| e.code()), Some("A05"), "{x}");
    }
    Ok(())
}

#[test]
fn threads_share_it() -> Result<()> {
    let f = flat("loss", WRT[0], Engine::Cranelift)?;
    let gradient = || {
        let mut gradient = vec![0.0; f.tangents()];
        f.gradient_into(f.start(), &mut gradient).map(|value| (value, gradient))
    };
    let alone = gradient()?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..50).all(|_| gradient().is_ok_and(|g| g == alone))))
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap_or(false)));
    });
    Ok(())
}

#[test]
fn a_call_can_be_ended() -> Result<()> {
    let text = "def f(x: f64, n: i64) -> f64 = for (i < n) carry (s = x) { sin(s) + 1.0 }";
    let f = Model::from_text(text)?.function("f")?;
    let mut f = f.flat(&[1.0.into(), 10.into()])?;
    let cancellation = Cancellation::default();
    f.set_cancellation(&cancellation);
    assert!(f.value(&[1.0]).is_ok());
    cancellation.cancel();
    assert_eq!(f.value(&[1.0]).err().and_then(|e| e.code()), Some("R07"));
    cancellation.reset();
    assert!(f.value(&[1.0]).is_ok());
    Ok(())
}

#[test]
fn further_calls_allocate_nothing() -> Result<()> {
    let text = "data Layer = Layer(w: [2, 3]f64, steps: i64, b: #(f64, [2]f64))
      def model(layer: Layer, scale: f64) -> (y: [2]f64, rest: #(f64, [2]f64)) = {
        y = build (i < 2) { layer.b.1[i] * sin(sum (j < 3) { layer.w[i, j] * scale }) }
        (y, #(layer.b.0 * y[0], y))
      }
      def loss(layer: Layer, scale: f64) -> f64 = {
        (y, rest) = model(layer, scale)
        y[0] * y[1] * rest.0
      }";
    let (program, values) = (Model::from_text(text)?, arguments());
    let flat = |name| program.function(name)?.flat(&[(&values[0]).into(), (&values[3]).into()]);
    let (f, vector) = (flat("loss")?, flat("model")?);
    let n = f.tangents();
    let (mut gradient, mut product, mut results) = (vec![0.0; n], vec![0.0; n], [0.0; 5]);
    let tangent = unit(n, 3);
    let mut all = || -> Result<f64> {
        let value = f.gradient_into(f.start(), &mut gradient)?;
        f.hessian_product_into(f.start(), &tangent, &mut product)?;
        vector.jvp_into(f.start(), &tangent, &mut results)?;
        vector.vjp_into(f.start(), &[1.0; 5], &mut product)?;
        Ok(value + f.value(f.start())?)
    };
    for _ in 0..3 {
        all()?;
    }
    let mut last = Ok(0.0);
    let counted = allocation_counter::measure(|| last = all());
    assert_eq!((counted.count_total, last?.is_finite()), (0, true));
    Ok(())
}
