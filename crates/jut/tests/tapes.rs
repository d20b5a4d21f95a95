//! What tapes promise: they are the user's, read by many threads, safe against every mistake, and
//! within the memory limit.

use crate::support::{args_of, direction, floats, vector};
use jut::{Arg, Engine, Error, Linearized, Model};

/// A ragged tape: every row has a length of its own, and a branch decides what is in it.
const PROGRAM: &str = "
def f[n](x: [n]f64, k: i64) -> (m: i64, y: [m]f64) = {
  s = sum (i < n) {
    if x[i] > 0.0 { for (j < i) carry (a = x[i]) { sin(a) * x[j] } } else { exp(x[i]) }
  }
  m = n / 2
  y = build (i < m) { x[i + k] * s }
  (m, y)
}
def g(x: f64) -> f64 = x * x
";

fn linearized(name: &str, engine: Engine) -> Linearized {
    let model = Model::from_text(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
    let f = model.function(name).expect("it exists").engine(engine);
    f.linearize().unwrap_or_else(|e| panic!("{e}"))
}

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];
const X: [f64; 6] = [0.3, -0.5, 0.7, 0.2, -0.1, 0.9];

#[test]
fn a_tape_of_another_linearization_is_an_error_value() {
    for engine in ENGINES {
        let (f, g) = (linearized("f", engine), linearized("g", engine));
        let of_f = f.at(&[(&X).into(), 1.into()]).expect("it runs");
        let wrong = g.session().apply(&of_f, &[1.0.into()]).map(|_| ());
        let Err(Error::Tape(text)) = wrong else { panic!("{wrong:?}") };
        assert!(text.contains("another linearization"), "{text}");
        // The same function linearized once more is another one too.
        let twin = linearized("f", engine);
        let v = [1.0; 6];
        assert!(matches!(twin.session().apply(&of_f, &[(&v).into()]), Err(Error::Tape(_))));
        assert!(f.session().apply(&of_f, &[(&v).into()]).is_ok());
        // And the other engine's.
        let other =
            if engine == Engine::Cranelift { Engine::Interpreter } else { Engine::Cranelift };
        let other = linearized("f", other);
        assert!(matches!(other.session().apply(&of_f, &[(&v).into()]), Err(Error::Tape(_))));
    }
}

#[test]
fn nothing_is_read_from_a_tape_whose_last_recording_failed() {
    for engine in ENGINES {
        let f = linearized("f", engine);
        let (mut tape, mut session) = (f.tape(), f.session());
        let v = [1.0; 6];
        let empty = |result: Result<(), Error>| {
            let Err(Error::Tape(text)) = result else { panic!("{result:?}") };
            assert!(text.contains("nothing is recorded"), "{text}");
        };
        empty(session.apply(&tape, &[(&v).into()]).map(|_| ()));
        empty(tape.results().map(|_| ()));
        tape.record(&[(&X).into(), 1.into()]).expect("it runs");
        let before = session.apply(&tape, &[(&v).into()]).expect("recorded").values();
        // Index 6 of 6.
        let failed = tape.record(&[(&X).into(), 4.into()]).map(|_| ()).expect_err("out of range");
        assert!(failed.to_string().starts_with("R01"), "{failed}");
        assert!(!tape.is_recorded());
        empty(session.apply(&tape, &[(&v).into()]).map(|_| ()));
        empty(session.apply_transposed(&tape, &[(&[1.0; 3]).into()]).map(|_| ()));
        assert!(matches!(tape.record(&[1.0.into()]), Err(Error::Argument(_))));
        empty(tape.results().map(|_| ()));
        tape.record(&[(&X).into(), 1.into()]).expect("it runs");
        assert_eq!(session.apply(&tape, &[(&v).into()]).expect("recorded").values(), before);
        tape.clear();
        empty(session.apply(&tape, &[(&v).into()]).map(|_| ()));
    }
}

#[test]
fn a_tape_does_not_see_what_happens_to_the_arguments() {
    let f = linearized("f", Engine::Cranelift);
    let mut x = X.to_vec();
    let tape = f.at(&[(&x).into(), 1.into()]).expect("it runs");
    let mut session = f.session();
    let v = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let before = session.apply(&tape, &[(&v).into()]).expect("recorded").values();
    x.iter_mut().for_each(|x| *x = f64::NAN);
    drop(x);
    assert_eq!(session.apply(&tape, &[(&v).into()]).expect("recorded").values(), before);
    // Nor does it need the linearization that it came from, or other tapes.
    let other = f.at(&[(&[9.0; 4]).into(), 0.into()]).expect("it runs");
    drop(f);
    assert_eq!(session.apply(&tape, &[(&v).into()]).expect("recorded").values(), before);
    drop(other);
    assert_eq!(session.apply(&tape, &[(&v).into()]).expect("recorded").values(), before);
}

#[test]
fn one_tape_serves_many_threads_at_once() {
    for engine in ENGINES {
        let f = linearized("f", engine);
        let tape = f.at(&[(&X).into(), 1.into()]).expect("it runs");
        let run = |seed: usize| {
            let mut session = f.session();
            let mut bits: Vec<u64> = Vec::new();
            for k in 0..20 {
                let v = direction(&[vector(&X)], seed + k);
                let tangents = session.apply(&tape, &args_of(&v)).expect("recorded").values();
                let back = session.apply_transposed(&tape, &args_of(&tangents)).expect("recorded");
                bits.extend(floats(&back.values()).iter().map(|x| x.to_bits()));
            }
            bits
        };
        let alone: Vec<Vec<u64>> = (0..4).map(run).collect();
        std::thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = (0..8).map(|k| scope.spawn(move || run(k % 4))).collect();
            for (k, thread) in threads.into_iter().enumerate() {
                assert!(thread.join().is_ok_and(|bits| bits == alone[k % 4]));
            }
        });
    }
}

#[test]
fn the_memory_limit_holds_for_tapes() {
    let model = Model::from_text(
        "def f[n](x: [n]f64, k: i64) -> f64 = {
           y = for (t < k) carry (y = x) { build (i < n) { sin(y[i]) } }
           sum (v <- y) { v }
         }",
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let x = vec![0.5; 1000];
    let v = vec![1.0; 1000];
    for engine in ENGINES {
        let f = model.function("f").expect("f").engine(engine).memory_limit(1 << 20);
        let f = f.linearize().unwrap_or_else(|e| panic!("{e}"));
        let (mut tape, mut session) = (f.tape(), f.session());
        tape.record(&[(&x).into(), 3.into()]).expect("24 kB fit");
        let Err(Error::Run(error)) = tape.record(&[(&x).into(), 100_000.into()]) else {
            panic!("800 MB fit into 1 MB")
        };
        assert_eq!(error.code(), "R06");
        assert!(matches!(session.apply(&tape, &[(&v).into()]), Err(Error::Tape(_))));
        tape.record(&[(&x).into(), 3.into()]).expect("and again");
        session.apply(&tape, &[(&v).into()]).expect("it applies");
        if engine == Engine::Cranelift {
            assert!((24_000..200_000).contains(&tape.bytes()), "{}", tape.bytes());
        }
    }
}

#[test]
fn results_go_into_memory_of_the_caller() {
    for engine in ENGINES {
        let f = linearized("f", engine);
        let tape = f.at(&[(&X).into(), 1.into()]).expect("it runs");
        let mut session = f.session();
        let v = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        let expected = session.apply(&tape, &[(&v).into()]).expect("recorded").values();
        let mut dy = [0.0; 3];
        session.apply_into(&tape, &[(&v).into()], &mut [(&mut dy).into()]).expect("it fits");
        assert_eq!(dy.to_vec(), floats(&expected));
        let mut short = [0.0; 2];
        let outs = &mut [(&mut short).into()];
        let result = session.apply_into(&tape, &[(&v).into()], outs);
        let Err(Error::Argument(e)) = result else { panic!("{result:?}") };
        assert_eq!(e.parameter(), "y");
        let mut dx = [0.0; 6];
        let outs = &mut [(&mut dx).into()];
        session.apply_transposed_into(&tape, &[(&dy).into()], outs).expect("it fits");
        let back = session.apply_transposed(&tape, &[(&dy).into()]).expect("recorded");
        assert_eq!(back.f64s("x").ok(), Some(&dx[..]));
    }
}

/// A factorisation in place: what is on the tape of it, and what is not.
const ELIMINATION: &str = "
def f[n](a: [n, n]f64) -> f64 = {
  var l = a
  for (j < n) {
    for (k < j) { for (j <= i < n) { l[i, j] -= l[i, k] * l[j, k] } }
    d = sqrt(l[j, j])
    for (j <= i < n) { l[i, j] /= d }
  }
  sum (i < n) { log(l[i, i]) }
}";

#[test]
fn the_tape_of_an_elimination_grows_as_its_matrix_does() {
    let n = 40;
    let cell = |k: usize| if k.is_multiple_of(n + 1) { n as f64 } else { 0.5 };
    let a: Vec<f64> = (0..n * n).map(cell).collect();
    let a = Arg::F64s(&a, Some(&[n, n]));
    let f = Model::from_text(ELIMINATION).expect("it is right");
    let f = f.function("f").expect("it exists").engine(Engine::Cranelift);
    let tape = f.linearize().expect("it compiles").at(&[a]).expect("it runs");
    // The factor, one triangle of quotients, and a few vectors; no two numbers for each of n^3 / 6 products.
    let square = 8 * n * n;
    assert!((square..2 * square).contains(&tape.bytes()), "{}", tape.bytes());
}

/// A state that changes, and loops whose bound is its length: each as `for i in 0..x.len()` of Rust.
const STEPS: &str = "
def f[n](start: [n]f64, steps: i64) -> f64 = {
  var x = start
  for (t < steps) {
    for (i < size(x)) {
      var s = 0.0
      for (j < size(x)) { s += 0.5 * x[j] }
      x[i] = s
    }
  }
  sum (i < size(x)) { x[i] }
}";

#[test]
fn the_length_of_a_state_does_not_keep_the_state() {
    let start = [1.0; 30];
    let f = Model::from_text(STEPS).expect("it is right");
    let f = f.function("f").expect("it exists").engine(Engine::Cranelift);
    let args = [(&start).into(), Arg::I64(20)];
    let tape = f.linearize().expect("it compiles").at(&args).expect("it runs");
    // It is linear: nothing but sizes.
    assert!(tape.bytes() < 100, "{}", tape.bytes());
}
