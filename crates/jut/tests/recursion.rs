//! Deep recursion: as deep as the language says, on every engine, whatever is left of the caller's stack; then an error,
//! after which the session works on.

use jut::{Engine, Model, Request};

const PROGRAM: &str = "
def total(n: i64, x: f64) -> f64 = if n == 0 { 0.0 } else { x + total(n - 1, x) }
def endless(x: f64) -> f64 = other(x) * 2.0
def other(x: f64) -> f64 = endless(x + 1.0)
data List = Nil | Cons(head: f64, rest: List)
def made(n: i64, x: f64) -> List = if n == 0 { Nil() } else { Cons(x, made(n - 1, x)) }
def length(l: List) -> i64 = case l { Nil -> 0; Cons(_, rest) -> 1 + length(rest) }
def counted(n: i64) -> i64 = length(made(n, 0.5))
def long(n: i64, x: f64) -> f64 = {
  s = if n == 0 { 0.0 } else { long(n - 1, x) }
  sum (i < 30000) { s + x }
}
";

fn model() -> Model {
    Model::from_text(PROGRAM).expect("a program")
}

/// The deepest that a function may call itself.
const LEVELS: i64 = jut_ir::calls::LEVELS;

#[test]
fn a_million_levels_work_in_every_mode_and_one_too_many_is_an_error() {
    let total = model().function("total").expect("it is there");
    for request in [Request::Value, Request::Gradient] {
        let compiled = total.compile(request).expect("it compiles");
        let mut session = compiled.session();
        for (n, expected) in [(LEVELS, None), (LEVELS + 1, Some("R08")), (3, None)] {
            let found = session.call(&[n.into(), 0.5.into()]).err();
            assert_eq!(found.and_then(|e| e.code()), expected, "{request:?} at {n}");
        }
    }
}

#[test]
fn what_never_ends_is_an_error_on_every_engine() {
    let endless = model().function("endless").expect("it is there");
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let compiled = endless.clone().engine(engine).value().expect("it compiles");
        let error = compiled.session().call(&[0.5.into()]).map(|_| ()).expect_err("it never ends");
        assert_eq!(error.code(), Some("R08"), "{engine:?}: {error}");
    }
}

#[test]
fn deep_data_are_given_back_without_a_deep_stack() {
    for engine in [Engine::Cranelift, Engine::Interpreter] {
        let counted = model().function("counted").expect("it is there").engine(engine);
        let compiled = counted.value().expect("it compiles");
        let mut session = compiled.session();
        let found = session.call(&[100_000.into()]).and_then(|r| r.i64("value"));
        assert_eq!(found.ok(), Some(100_000), "{engine:?}");
    }
}

#[test]
fn a_recursion_is_cancelled() {
    let long = model().function("long").expect("it is there");
    let compiled = long.value().expect("it compiles");
    let mut session = compiled.session();
    let cancellation = session.cancellation();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        cancellation.cancel();
    });
    // On its way down, which takes less than that, or on its way back.
    let error = session.call(&[1_000_000.into(), 0.5.into()]).map(|_| ()).expect_err("it is long");
    assert_eq!(error.code(), Some("R07"));
    canceller.join().expect("it ends");
}
