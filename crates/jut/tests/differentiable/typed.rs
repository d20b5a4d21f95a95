//! Typed sessions: the same results, ended from other threads, whatever is called, and nothing of them left behind.

use super::close;
use jut::{Cancellation, TypedSession, differentiable};
use std::panic::{AssertUnwindSafe, catch_unwind};

const LONG: usize = 1 << 50;

#[differentiable]
fn steps(x: f64, n: usize) -> f64 {
    let mut s = x;
    for _ in 0..n {
        s = s.sin() + 0.1;
    }
    s
}

#[differentiable]
fn squares(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[differentiable]
trait Bend {
    fn bend(&self, x: f64) -> f64;
}

#[derive(jut::Data, Clone, Debug, PartialEq)]
struct Bow {
    tension: f64,
}

#[differentiable]
impl Bend for Bow {
    fn bend(&self, x: f64) -> f64 {
        self.tension * x * x
    }
}

#[differentiable]
fn often<B: Bend>(bow: &B, x: f64, n: usize) -> f64 {
    let mut s = 0.0;
    for _ in 0..n {
        s = bow.bend(x + s).cos();
    }
    s
}

#[differentiable]
fn rows(all: &[Vec<f64>], n: usize) -> f64 {
    let mut s = 0.0_f64;
    for _ in 0..n {
        for row in all {
            s += row.iter().map(|v| v * s.cos()).sum::<f64>();
        }
    }
    s
}

#[differentiable]
fn rooted(x: f64, n: usize) -> f64 {
    assert!(x > 0.0, "a root of what is not positive");
    steps(x.sqrt(), n)
}

#[cfg(feature = "program")]
mod language {
    jut::program! {
        def told(x: f64) -> f64 = { print "x =", x; x ^ 2 }
    }
}

fn code<T>(result: jut::Result<T>) -> Option<&'static str> {
    result.err().and_then(|error| error.code())
}

#[test]
fn calls_of_a_session_give_what_others_do() -> jut::Result<()> {
    let bow = Bow { tension: 0.7 };
    let (even, uneven) = (vec![vec![1.0, 2.0], vec![0.5, 3.0]], vec![vec![1.0], vec![0.5, 3.0]]);
    let all = || -> jut::Result<_> {
        Ok((
            steps::value_and_gradient(0.3, 5)?,
            steps::hvp(0.3, 5, 1.0)?,
            squares::gradient(&[1.0, 2.0, 3.0])?,
            often::<Bow>::value_and_gradient(&bow, 0.2, 3)?,
            rows::gradient(&even, 2)?,
            rows::gradient(&uneven, 2)?,
            steps::linearize(0.3, 5)?.apply(&2.0)?,
        ))
    };
    let expected = all()?;
    close(&[expected.3.0], &[often(&bow, 0.2, 3)]);
    let mut session = TypedSession::new();
    for _ in 0..3 {
        assert_eq!(session.run(all)?, expected);
        assert_eq!(all()?, expected);
    }
    session.release_memory();
    assert_eq!(session.run(all)?, expected);
    // It may go to another thread.
    let elsewhere = std::thread::spawn(move || {
        session.run(|| squares::gradient(&[1.0, 2.0, 3.0])).map_err(|error| error.to_string())
    });
    assert_eq!(elsewhere.join().unwrap(), Ok(expected.2));
    Ok(())
}

#[test]
fn every_kind_of_call_is_ended_and_works_again() {
    let bow = Bow { tension: 0.7 };
    let (even, uneven) = (vec![vec![1.0, 2.0], vec![0.5, 3.0]], vec![vec![1.0], vec![0.5, 3.0]]);
    let calls: [(&str, &dyn Fn(usize) -> Option<&'static str>); 6] = [
        ("a gradient", &|n| code(steps::gradient(0.3, n))),
        ("a value", &|n| code(steps::value(0.3, n))),
        ("of type parameters", &|n| code(often::<Bow>::value(&bow, 0.2, n))),
        ("rows of one length", &|n| code(rows::value(&even, n))),
        ("rows of other lengths", &|n| code(rows::value(&uneven, n))),
        ("a derivative at a point", &|n| code(steps::linearize(0.3, n))),
    ];
    for (name, call) in calls {
        // Before and behind the first call of each: its memory is made there.
        for warm in [false, true] {
            let mut session = TypedSession::new();
            if warm {
                assert_eq!(session.run(|| call(2)), None, "{name}");
            }
            let cancellation = session.cancellation();
            cancellation.cancel();
            // One that is ended before it begins need not run; one that runs is ended too.
            assert_eq!(session.run(|| call(LONG)), Some("R07"), "{name}, warm: {warm}");
            assert_eq!(call(2), None, "{name}: a call outside");
            cancellation.reset();
            assert_eq!(session.run(|| call(2)), None, "{name}, warm: {warm}");
        }
    }
}

#[test]
fn a_call_that_runs_is_ended_at_its_place() {
    let mut session = TypedSession::new();
    let cancellation = Cancellation::new();
    session.set_cancellation(&cancellation);
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            cancellation.cancel();
        });
        session.run(|| rooted::value(0.4, LONG)).unwrap_err()
    });
    assert_eq!(error.code(), Some("R07"));
    cancellation.reset();
    let error = session.run(|| rooted::gradient(-1.0, 2)).unwrap_err().to_string();
    assert!(
        error.contains("typed.rs") && error.contains("a root of what is not positive"),
        "{error}"
    );
}

#[test]
fn of_sessions_within_each_other_the_inner_one_is_used() {
    let (mut outer, mut inner) = (TypedSession::new(), TypedSession::new());
    outer.cancellation().cancel();
    let call = || code(steps::value(0.3, LONG));
    let (within, behind) = outer.run(|| (inner.run(|| code(steps::value(0.3, 3))), call()));
    assert_eq!((within, behind), (None, Some("R07")));
    assert_eq!(code(steps::value(0.3, 3)), None);
}

#[test]
fn a_closure_that_panics_leaves_the_session_and_the_thread_as_they_were() {
    let mut session = TypedSession::new();
    session.cancellation().cancel();
    let panics = AssertUnwindSafe(|| {
        session.run(|| -> f64 { steps::value(0.3, LONG).expect("it is ended") })
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(code(steps::value(0.3, 3)), None);
    assert_eq!(session.run(|| code(steps::value(0.3, LONG))), Some("R07"));
}

#[cfg(feature = "program")]
#[test]
fn its_calls_print_to_whom_it_says() -> jut::Result<()> {
    use std::sync::{Arc, Mutex};
    let lines = Arc::new(Mutex::new(Vec::new()));
    let mut session = TypedSession::new();
    for round in 0..2 {
        let taken = lines.clone();
        session.set_printer(move |line| taken.lock().unwrap().push(format!("{round}: {line}")));
        assert_eq!(session.run(|| language::told::gradient(1.5))?, 3.0);
    }
    assert_eq!(*lines.lock().unwrap(), ["0: x = 1.5", "1: x = 1.5"]);
    Ok(())
}
