//! What a process may have: memory, stack. Reaching a limit is an error value, and the session works
//! on.

use jut::{Arg, Engine, Error, Model, Result};

/// Engines that are part of every build.
const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];

/// The code of the error of a call, or the length of its first result.
fn outcome(called: Result<usize>) -> std::result::Result<usize, &'static str> {
    match called {
        Ok(n) => Ok(n),
        Err(Error::Run(error)) => Err(error.code()),
        Err(other) => panic!("{other}"),
    }
}

/// A function with so many results of n floats; each is a buffer of the caller, or, if its size is
/// only known inside, one that the function returns.
fn results(count: usize, known: bool) -> String {
    let list = |part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<Vec<_>>().join(", ");
    let types =
        list(&|k| if known { "[n]f64".into() } else { format!("m{k}: i64, y{k}: [m{k}]f64") });
    let body: String = (0..count)
        .map(|k| match known {
            true => format!("  y{k} = build (i < n) {{ {k}.0 }}\n"),
            false => format!("  m{k} = max(n, {k})\n  y{k} = build (i < m{k}) {{ {k}.0 }}\n"),
        })
        .collect();
    let values = list(&|k| if known { format!("y{k}") } else { format!("m{k}, y{k}") });
    format!("def f(n: i64) -> ({types}) = {{\n  check n >= 0\n{body}  ({values})\n}}")
}

#[test]
fn all_results_of_a_call_count_together() {
    for known in [true, false] {
        let model = Model::from_text(&results(20, known)).expect("a program");
        for engine in ENGINES {
            let limit = 1 << 20;
            let f = model.function("f").expect("f").engine(engine).memory_limit(limit);
            let compiled = f.value().expect("it compiles");
            let mut session = compiled.session();
            let mut call = |n: i64| {
                let called = session.call(&[n.into()]);
                outcome(called.map(|results| results.values().len()))
            };
            let count = if known { 20 } else { 40 };
            assert_eq!(call(100), Ok(count), "{engine:?} {known}");
            // Each result is less than a tenth of the limit, or almost all of it.
            for bytes in [limit / 12, limit / 10 * 9] {
                assert_eq!(call((bytes / 8) as i64), Err("R06"), "{engine:?} {known} {bytes}");
                assert_eq!(call(100), Ok(count), "{engine:?} {known} again");
            }
        }
    }
}

#[test]
fn results_of_earlier_calls_do_not_stand_in_the_way() {
    let text = "def f(n: i64, m: i64) -> ([n]f64, [m]f64) = {
        check n >= 0; check m >= 0; (build (i < n) { 1.0 }, build (i < m) { 2.0 }) }";
    let model = Model::from_text(text).expect("a program");
    for engine in ENGINES {
        let limit = 1 << 20;
        let f = model.function("f").expect("f").engine(engine).memory_limit(limit);
        let compiled = f.value().expect("it compiles");
        let mut session = compiled.session();
        let large = (limit / 8 / 4) as i64;
        for (n, m) in [(large, 1), (1, large), (large, 1), (large / 2, large / 2)] {
            let results = session.call(&[n.into(), m.into()]);
            assert_eq!(outcome(results.map(|r| r.values().len())), Ok(2), "{engine:?} {n} {m}");
        }
    }
}

#[test]
fn results_and_temporary_arrays_count_together() {
    // A temporary array as long as the result.
    let text = "def f(n: i64) -> [n]f64 = {
        check n >= 0
        t = build (i < n) { f64(i) }
        build (i < n) { t[n - 1 - i] } }";
    let model = Model::from_text(text).expect("a program");
    for engine in ENGINES {
        let limit = 1 << 20;
        let f = model.function("f").expect("f").engine(engine).memory_limit(limit);
        let mut session = f.value().expect("it compiles").session();
        let mut call = |bytes: usize| {
            let called = session.call(&[((bytes / 8) as i64).into()]);
            outcome(called.map(|results| results.values().len()))
        };
        assert_eq!(call(limit / 10), Ok(1), "{engine:?}");
        assert_eq!(call(limit / 10 * 6), Err("R06"), "{engine:?}");
        assert_eq!(call(limit / 10), Ok(1), "{engine:?} again");
    }
}

#[test]
fn results_count_together_with_a_tape() {
    // The tape holds a copy of what is returned.
    let text = "def f[n](x: [n]f64) -> [n]f64 = build (i < n) { sin(x[i]) * exp(x[i]) }";
    let model = Model::from_text(text).expect("a program");
    for engine in ENGINES {
        let limit = 1 << 20;
        let f = model.function("f").expect("f").engine(engine).memory_limit(limit);
        let mut tape = f.linearize().expect("it compiles").tape();
        let mut record = |bytes: usize| {
            let x = vec![0.5; bytes / 8];
            let called = tape.record(&[(&x).into()]);
            outcome(called.map(|results| results.values().len()))
        };
        assert_eq!(record(limit / 20), Ok(1), "{engine:?}");
        assert_eq!(record(limit / 10 * 9), Err("R06"), "{engine:?}");
        assert_eq!(record(limit / 20), Ok(1), "{engine:?} again");
    }
}

#[test]
fn a_loop_without_end_that_collects_or_stores_reaches_the_limit() {
    let text = "def all(x: f64) -> f64 = {
            (a, all) = while carry (a = x) a < 9.0 { (sin(a), [a, a * a]) }
            sum (v <- all) { v[0] } }
        def stored(x: f64) -> f64 = while carry (a = x) a < 9.0 { sin(a) }";
    let model = Model::from_text(text).expect("a program");
    for engine in ENGINES {
        for (name, f) in [("all", model.function("all")), ("stored", model.function("stored"))] {
            let f = f.expect(name).engine(engine).memory_limit(1 << 22);
            let mut gradient = f.gradient().expect("it compiles").session();
            for (x, expected) in [(9.5, Ok(1)), (0.5, Err("R06")), (9.5, Ok(1))] {
                let called = gradient.call(&[x.into()]);
                assert_eq!(
                    outcome(called.map(|r| r.values().len())),
                    expected,
                    "{engine:?} {name} {x}"
                );
            }
        }
    }
}

#[test]
fn arrays_of_records_count_with_all_that_they_hold() {
    let text = "data P = P(x: f64, y: f64, z: f64)
        def f(n: i64) -> f64 = {
            check n >= 0
            p = build (i < n) { P(f64(i), 1.0, 2.0) }
            sum (q <- p) { q.x * q.y } }";
    let model = Model::from_text(text).expect("a program");
    for engine in ENGINES {
        let f = model.function("f").expect("f").engine(engine).memory_limit(1 << 20);
        let mut session = f.value().expect("it compiles").session();
        for (n, expected) in [(1000, Ok(1)), (45_000, Err("R06")), (1000, Ok(1))] {
            let called = session.call(&[n.into()]);
            assert_eq!(outcome(called.map(|r| r.values().len())), expected, "{engine:?} {n}");
        }
    }
}

/// Runs something on a thread with a stack of so many bytes.
fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes);
        let thread = thread.spawn_scoped(scope, work).expect("a thread");
        thread.join().expect("it ends")
    })
}

#[test]
fn calls_on_a_small_stack_work() {
    // Arrays of constant length are on the stack of compiled code, and so are the batches of loops that
    // call mathematical functions; a chain of calls needs a frame for each.
    let deep: String = (1..30)
        .map(|k| {
            format!(
                "def f{k}[n](x: [n]f64, s: f64) -> f64 = {{
                   t = build (i < 60) {{ s + f64(i) * 0.01 }}
                   a = sum (i < n) {{ exp(-x[i]) * sin(x[i] * s) }}
                   a + f{}(x, s * 0.9 + t[7]) + sum (v <- t) {{ v }} + f{0}(x, s * 0.8) * 0.5 }}\n",
                k - 1
            )
        })
        .take(5)
        .collect();
    let text = format!("def f0[n](x: [n]f64, s: f64) -> f64 = s * sum (v <- x) {{ v }}\n{deep}");
    let model = Model::from_text(&text).expect("a program");
    let x = [0.5; 100];
    let args: [Arg<'_>; 2] = [(&x).into(), 0.25.into()];
    for engine in ENGINES {
        let f = model.function("f5").expect("f5").engine(engine);
        let gradient = f.value_and_gradient().expect("it compiles");
        let hessian = f.compile(jut::Request::HessianProduct);
        let linearized = f.linearize().expect("it compiles");
        let bits = || {
            let values = gradient.call(&args).expect("it runs");
            values.iter().flat_map(|v| v.floats()).map(f64::to_bits).collect::<Vec<_>>()
        };
        let here = bits();
        for kilobytes in [32, 48, 64, 256] {
            on_stack(kilobytes << 10, || {
                assert_eq!(bits(), here, "{engine:?} on {kilobytes} kB");
                linearized.at(&args).expect("a tape");
                let mut session = gradient.session();
                for _ in 0..3 {
                    session.call(&args).expect("a call");
                }
            });
        }
        drop(hessian);
    }
}

#[test]
fn programs_are_read_and_compiled_on_a_small_stack() {
    let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { exp(x[i]) * x[i]^3.0 }";
    on_stack(32 << 10, || {
        let model = Model::from_text(text).expect("a program");
        for engine in ENGINES {
            let f = model.function("f").expect("f").engine(engine);
            let value = f.value_and_gradient().expect("it compiles");
            assert_eq!(value.call(&[(&[0.0, 0.0]).into()]).expect("it runs").len(), 2);
            assert!(f.stage(jut::Stage::Transpose).expect("text").contains("def"));
            assert!(value.call(&[1.0.into()]).is_err());
        }
        let refused = Model::from_text("def f(x: f64) -> f64 = y").err().expect("refused");
        assert!(refused.to_string().contains("J010"));
    });
}

#[test]
fn the_gradient_of_a_sum_over_pairs_holds_one_row_of_its_tape() {
    // All rows together are 16 bytes for each of 79,800 pairs: more than three times the limit.
    let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) {
        sum (j < i) { d = x[i] - x[j]; exp(-d * d) / (1.0 + d * d) } }";
    let model = Model::from_text(text).expect("a program");
    let x: Vec<f64> = (0..400).map(|k| f64::from(k) * 0.01).collect();
    for engine in ENGINES {
        let f = model.function("f").expect("f").engine(engine).memory_limit(400_000);
        let mut session = f.value_and_gradient().expect("it compiles").session();
        let called = session.call(&[(&x).into()]);
        assert_eq!(outcome(called.map(|results| results.values().len())), Ok(2), "{engine:?}");
        // A derivative that is kept has all of them.
        let kept = f.linearize().expect("it compiles").at(&[(&x).into()]);
        assert_eq!(outcome(kept.map(|_| 0)), Err("R06"), "{engine:?}");
    }
}
