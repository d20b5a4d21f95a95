//! Ending calls from another thread: an error value from every engine, of programs that would run for hours, and
//! the session works on.

use jut::{Arg, Cancellation, Engine, Error, Function, Model, Request};
use std::time::Duration;

/// Programs that run for hours, and what their arguments are: integers.
const PROGRAMS: &[(&str, &str, &[i64])] = &[
    ("a chain", "def f(n: i64) -> f64 = for (i < n) carry (s = 0.5) { sin(s) + 0.1 }", &[i64::MAX]),
    ("a sum", "def f(n: i64) -> f64 = sum (i < n) { 1.0 / (1.0 + f64(i)) }", &[i64::MAX]),
    ("a sum of functions", "def f(n: i64) -> f64 = sum (i < n) { exp(-f64(i)) }", &[i64::MAX]),
    (
        "a sum of integers",
        "def f(n: i64) -> i64 = for (i < n) carry (s = 0) { bitxor(s, i * s + 1) }",
        &[i64::MAX],
    ),
    ("a largest number", "def f(n: i64) -> f64 = max (i < n) { f64(i) }", &[i64::MAX]),
    (
        "a loop without end",
        "def f(n: i64) -> f64 = while carry (s = 0.5) s < 9.0 { sin(s) + 0.1 }",
        &[0],
    ),
    (
        "loops that end early, in one without end",
        "def f(n: i64) -> f64 = while carry (s = 0.5) s < 9.0 {
           (t, k) = for (i < n) while carry (t = s, k = 0) k < 5 { (sin(t), k + 1) }
           t + 0.1 }",
        &[i64::MAX],
    ),
    (
        "nested sums",
        "def f(n: i64, m: i64) -> f64 = sum (i < n) { sum (j < m) { f64(i) * f64(j) } }",
        &[i64::MAX, 7],
    ),
    (
        "sums of neighbouring columns",
        "def f(n: i64, m: i64) -> f64 = {
           check m >= 0
           x = build (j < m) { f64(j) }
           y = build (j < m) { sum (i < n) { x[j] * f64(i) } }
           sum(y) }",
        &[i64::MAX, 37],
    ),
    (
        "chains of neighbouring columns",
        "def f(n: i64, m: i64) -> f64 = {
           check m >= 0
           x = build (j < m) { f64(j) }
           y = build (j < m) { for (i < n) carry (s = x[j]) { s * 0.5 + x[j] } }
           sum(y) }",
        &[i64::MAX, 37],
    ),
    (
        "loops that are short, three deep",
        "def f(n: i64, m: i64) -> f64 = for (i < n) carry (s = 0.5) {
           for (j < m) carry (t = s) { for (k < m) carry (u = t) { u * 0.5 + 0.1 } } }",
        &[i64::MAX, 1],
    ),
    (
        "inner loops that do not run",
        "def f(n: i64, m: i64) -> f64 = for (i < n) carry (s = 0.5) {
           t = sum (j < m) { f64(j) }
           sin(s) + t }",
        &[i64::MAX, 0],
    ),
    (
        "an array again and again",
        "def f(n: i64, m: i64) -> f64 = {
           check m >= 0
           for (i < n) carry (s = 0.5) {
             x = build (j < m) { s * f64(j) }
             sum (v <- x) { v } * 0.001 } }",
        &[i64::MAX, 5000],
    ),
    (
        "branches",
        "def f(n: i64, m: i64) -> f64 = for (i < n) carry (s = 0.5) {
           if s > 0.7 { for (j < m) carry (t = s) { t * 0.9 } } else { s + 0.01 } }",
        &[i64::MAX, 3],
    ),
];

/// A product of matrices with a few thousand rows and columns: minutes.
const PRODUCT: &str = "def f(n: i64) -> f64 = {
  check n >= 0
  a = build (i < n, j < n) { f64(i - j) }
  b = matmul(a, a)
  c = matmul(b, a)
  d = matmul(c, b)
  sum (i < n) { d[i, i] } }";

/// A chain of functions of which each calls the one before twice: no loops, and no end.
fn doubling() -> String {
    let mut text = "def f0(x: f64, k: i64) -> f64 = if k > 0 { sin(x) } else { x }\n".to_string();
    for k in 1..60 {
        let below = k - 1;
        text.push_str(&format!(
            "def f{k}(x: f64, k: i64) -> f64 = f{below}(f{below}(x, k) * 0.5, k + 1)\n"
        ));
    }
    text + "def f(k: i64) -> f64 = f59(0.5, k)"
}

fn engines() -> Vec<Engine> {
    Engine::all().filter(|engine| engine.is_built_in()).collect()
}

/// Calls something and cancels it in the middle.
fn cancelled(cancellation: &Cancellation, call: impl FnOnce() -> Option<Error>) {
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(60));
            cancellation.cancel();
        });
        call()
    });
    let Some(Error::Run(error)) = error else { panic!("not cancelled: {error:?}") };
    assert_eq!((error.code(), error.error().operands.as_slice()), ("R07", &[][..]));
}

fn ends(what: &str, f: &Function, args: &[Arg<'_>]) {
    let mut session = f.value().expect("it compiles").session();
    let cancellation = session.cancellation();
    cancelled(&cancellation, || session.call(args).err());
    // It stays cancelled until it is reset.
    let again = session.call(args).err().and_then(|e| e.code());
    assert_eq!(again, Some("R07"), "{what}");
}

#[test]
fn every_long_call_can_be_ended() {
    for engine in engines() {
        for (name, text, args) in PROGRAMS {
            let model = Model::from_text(text).expect("a program");
            let f = model.function("f").expect("f").engine(engine);
            let args: Vec<Arg<'_>> = args.iter().map(|n| (*n).into()).collect();
            ends(&format!("{engine:?}: {name}"), &f, &args);
        }
    }
}

#[test]
fn calls_without_loops_can_be_ended() {
    let text = doubling();
    let model = Model::from_text(&text).expect("a program");
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine);
        ends(&format!("{engine:?}: doubling"), &f, &[1.into()]);
    }
}

/// A kernel, and nothing behind it that asks.
fn kernel(call: &str) -> String {
    format!(
        "def f(n: i64) -> f64 = {{
           a = build (i < n, j < n) {{ if i == j {{ 2.0 }} else {{ 0.0001 }} }}
           l = {call}
           l[n - 1, n - 1]
         }}"
    )
}

#[test]
fn what_a_kernel_left_when_it_stopped_is_no_result() {
    for call in ["triangular_solve(a, a)", "cholesky(a)"] {
        let model = Model::from_text(&kernel(call)).expect("a program");
        for engine in engines() {
            let f = model.function("f").expect("f").engine(engine);
            ends(&format!("{engine:?}: {call}"), &f, &[2500.into()]);
        }
    }
}

#[test]
fn products_of_matrices_can_be_ended() {
    let model = Model::from_text(PRODUCT).expect("a program");
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine);
        ends(&format!("{engine:?}: matmul"), &f, &[3000.into()]);
    }
}

#[test]
fn derivatives_and_tapes_can_be_ended_and_go_on() {
    let text = "def f(x: f64, n: i64) -> f64 = for (i < n) carry (s = x) { sin(s) * 0.5 + x }";
    let model = Model::from_text(text).expect("a program");
    for engine in engines() {
        let f = model.function("f").expect("f").engine(engine).memory_limit(1 << 30);
        for product in [Request::Jvp, Request::SecondDirectional] {
            let mut session = f.compile(product).expect("it compiles").session();
            let cancellation = session.cancellation();
            let long: [Arg<'_>; 3] = [0.5.into(), i64::MAX.into(), 1.0.into()];
            cancelled(&cancellation, || session.call(&long).err());
            cancellation.reset();
            session.call(&[0.5.into(), 10.into(), 1.0.into()]).expect("it works on");
        }
        let linearized = f.linearize().expect("it compiles");
        let mut tape = linearized.tape();
        tape.cancellation().cancel();
        let error = tape.record(&[0.5.into(), 10.into()]).err().and_then(|e| e.code());
        assert_eq!(error, Some("R07"));
        assert!(!tape.is_recorded());
        tape.cancellation().reset();
        tape.record(&[0.5.into(), 10.into()]).expect("a tape");
        let mut session = linearized.session();
        session.cancellation().cancel();
        assert!(session.apply(&tape, &[1.0.into()]).is_err());
        session.cancellation().reset();
        session.apply(&tape, &[1.0.into()]).expect("it works on");
    }
}

#[test]
fn one_cancellation_may_end_many_sessions() {
    let model = Model::from_text(PROGRAMS[0].1).expect("a program");
    let compiled = model.function("f").and_then(|f| f.value()).expect("it compiles");
    let all = Cancellation::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let mut session = compiled.session();
                session.set_cancellation(&all);
                scope.spawn(move || session.call(&[i64::MAX.into()]).err().and_then(|e| e.code()))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        all.cancel();
        for thread in threads {
            assert_eq!(thread.join().expect("it ends"), Some("R07"));
        }
    });
    // Sessions of their own do not know of it.
    assert!(compiled.call(&[10.into()]).is_ok());
}

#[test]
fn loops_that_ask_give_the_same_bits() {
    // Lengths around rounds and blocks, upwards and downwards, alone and four or eight at once.
    let text = "def f(n: i64, x: f64) -> (f64, f64, f64, f64, f64, f64, f64) = {
        check n >= 0
        y = build (i < n) { f64(i) * x - 3.0 }
        a = sum (v <- y) { v * v }
        b = for (i < n) carry (s = 0.0) { s * 0.5 + y[i] }
        c = for (i < n) carry (s = 0.0) { s * 0.25 + y[n - 1 - i] }
        d = sum (i < n) { exp(y[i] * 0.0001) }
        e = if n > 0 { max (v <- y) { y[n - 1] * v * x } } else { 0.0 }
        (g, k) = while carry (s = 0.0, k = 0) k < n { check k < n; (s * 0.75 + y[k], k + 1) }
        (h, all) = for (i < n) while carry (s = 0.0) s < 900.0 { (s + abs(y[i]), y[i] * x) }
        (a, b, c, d, e, g, h + sum (v <- all) { v * v }) }";
    let model = Model::from_text(text).expect("a program");
    let f = model.function("f").expect("f");
    let of = |engine| {
        let f = f.clone().engine(engine);
        (f.value().expect("it compiles"), f.vjp().expect("it compiles"))
    };
    let expected = of(Engine::Interpreter);
    for engine in engines() {
        let found = of(engine);
        for n in [0, 1, 7, 8, 1023, 1024, 1025, 4096, 8191, 8192, 8193, 16384, 16385, 20000, 40001]
        {
            let bits = |(value, vjp): &(jut::Compiled, jut::Compiled)| {
                let plain: [Arg<'_>; 2] = [n.into(), 0.37.into()];
                let ones = [1.0; 7].map(Arg::from);
                let seeded = [&plain[..], &ones[..]].concat();
                let all = [value.call(&plain), vjp.call(&seeded)];
                let all = all.map(|values| values.expect("it runs"));
                all.iter().flatten().flat_map(|v| v.floats()).map(f64::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(bits(&found), bits(&expected), "{engine:?} {n}");
        }
    }
}
