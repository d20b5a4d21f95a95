//! Code that is replaced while it is in use: the same bits before and after, whoever calls, whenever it ends.
#![cfg(feature = "llvm")]

use jut::{Compiled, Engine, Model};
use std::process::Command;
use std::time::Duration;

/// A loop with mathematics, a tape, and an index that may be out of range.
const PROGRAM: &str = "def f[n](x: [n]f64, k: i64) -> f64 = {
  s = for (i < n) carry (s = 0.1) { sin(s) + x[i] * exp(-s * s) }
  s * x[k] + sum (i < n) { tanh(x[i]) * log(2.0 + x[i]) }
}
def fib(n: i64, x: f64) -> f64 = if n < 2 { x } else { fib(n - 1, x) + sin(fib(n - 2, x)) }";

fn compiled(function: &str) -> Compiled {
    let model = Model::from_text(PROGRAM).expect("a program");
    model.function(function).expect(function).value_and_gradient().expect("a gradient")
}

fn x(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k * 7919 % 1000) as f64 / 1000.0).collect()
}

#[test]
fn it_is_the_default_and_begins_with_cranelift() {
    assert_eq!(Engine::default(), Engine::Tiered);
    let f = compiled("f");
    assert_eq!(f.engine(), Engine::Cranelift);
    let mut session = f.session();
    let (x, y) = (x(1000), x(7));
    let mut run = || {
        // Several sizes, a failing call in between, and one of another function in the same thread.
        let good = [&x, &y].map(|x| session.call(&[x.into(), 3.into()]).expect("f").values());
        let bad = session.call(&[(&x).into(), 1000.into()]).map(|_| ()).unwrap_err();
        format!("{good:?} {bad}")
    };
    let before = run();
    f.prewarm();
    assert_eq!(f.engine(), Engine::Llvm);
    assert_eq!(run(), before);
}

#[test]
fn bound_calls_and_recursion_change_over_too() {
    let fib = compiled("fib");
    let mut bound = fib.bind(&[15.into(), 0.5.into()]).expect("bound");
    let mut run = || {
        let (mut value, mut d) = (0.0, 0.0);
        let outs = &mut [(&mut value).into(), (&mut d).into()];
        bound.call(&[15.into(), 0.5.into()], outs).expect("fib");
        (value.to_bits(), d.to_bits())
    };
    let before = run();
    fib.prewarm();
    assert_eq!((fib.engine(), run()), (Engine::Llvm, before));
}

#[test]
fn a_tape_of_one_code_is_read_by_the_other() {
    let model = Model::from_text(PROGRAM).expect("a program");
    let linearized = model.function("f").and_then(|f| f.wrt(&["x"])).and_then(|f| f.linearize());
    let linearized = linearized.expect("a linearization");
    let (x, tangent) = (x(1000), vec![0.5; 1000]);
    let args = [(&x).into(), 3.into()];
    let (early, mut late) = (linearized.at(&args).expect("a tape"), linearized.tape());
    let mut session = linearized.session();
    let mut both = |tape: &jut::Tape| {
        let forward =
            format!("{:?}", session.apply(tape, &[(&tangent).into()]).expect("f'").values());
        let reverse = session.apply_transposed(tape, &[1.5.into()]).expect("x''").values();
        (forward, format!("{reverse:?}"))
    };
    let before = both(&early);
    assert_eq!(linearized.engine(), Engine::Cranelift);
    linearized.prewarm();
    assert_eq!(linearized.engine(), Engine::Llvm);
    assert_eq!(both(&early), before);
    late.record(&args).expect("a tape");
    assert_eq!(both(&late), before);
}

#[test]
fn threads_that_call_see_no_difference() {
    let f = compiled("f");
    let x = x(20_000);
    let first = format!("{:?}", f.call(&[(&x).into(), 3.into()]).expect("f"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = f.session();
                let mut left = 3;
                while left > 0 {
                    left -= usize::from(f.engine() == Engine::Llvm);
                    let now = session.call(&[(&x).into(), 3.into()]).expect("f").values();
                    assert_eq!(format!("{now:?}"), first);
                }
            });
        }
    });
}

/// Ends some milliseconds after it has begun to make code in the background; the test below runs it.
#[test]
fn ends_while_code_is_made() {
    let wait = std::env::var("JUT_TIERS_END").ok().and_then(|wait| wait.parse().ok());
    let Some(wait) = wait else { return };
    let (f, fib) = (compiled("f"), compiled("fib"));
    let x = x(1_000_000);
    for _ in 0..3 {
        f.call(&[(&x).into(), 3.into()]).expect("f");
        fib.call(&[24.into(), 0.5.into()]).expect("fib");
    }
    std::thread::sleep(Duration::from_millis(wait));
    std::process::exit(7);
}

#[test]
fn a_process_may_end_while_code_is_made() {
    let this = std::env::current_exe().expect("a program");
    for wait in [0, 3, 20, 50] {
        let mut child = Command::new(&this);
        child
            .args(["--exact", "tiers::ends_while_code_is_made"])
            .env("JUT_TIERS_END", wait.to_string());
        assert_eq!(child.output().expect("a process").status.code(), Some(7));
    }
}
