//! What is negated to be added is subtracted, with the same bits; what is carried is still added to.

use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::Target;
use jut_loop::{eval, print, read};

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

/// A loop that carries a sum.
const CARRY: &str = "for up (i in 0 .. n) carry (s_1 = 0.0)";

/// One that sums by lanes.
const LANES: &str = "lanes (i in 0 .. n) carry (s_1)";

/// The lines of a function with the given statements in a loop that carries, for a backend, after having compared what comes out of it.
fn lines(statements: &[&str]) -> Vec<String> {
    lines_of(CARRY, statements)
}

/// The same of a loop that begins so.
fn lines_of(head: &str, statements: &[&str]) -> Vec<String> {
    let text = format!(
        "loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64) = {{
  (s) = {head} {{
    v = x[i]
    {}
    y[i] = r
    s_2 = s_1 + w
    (s_2)
  }}
  (s)
}}",
        statements.join("\n    ")
    );
    let plain = program(&text);
    let text = print::print_program(&for_target(&plain, &Target::default()));
    let again = program(&text);
    let numbers = [0.0, -0.0, 1.5, -2.25, 1e300, -1e-310, f64::INFINITY, f64::NEG_INFINITY];
    let x = Flat::Buffer(Cells::F64(numbers.to_vec()));
    let arguments = [Flat::Scalar(Literal::I64(numbers.len() as i64)), x];
    let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments));
    assert_eq!(run(&plain).replace("-NaN", "NaN"), run(&again).replace("-NaN", "NaN"), "{text}");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_sum_with_a_negated_number_is_a_difference() {
    let text = lines(&["w = 2.0 * v", "a = -w", "r = v + a"]);
    assert!(text.contains(&"r = v - w".to_owned()), "{text:#?}");
    assert!(!text.iter().any(|line| line.contains("-w")), "{text:#?}");
    let text = lines(&["w = 2.0 * v", "a = -w", "r = a + v"]);
    assert!(text.contains(&"r = v - w".to_owned()), "{text:#?}");
}

#[test]
fn a_difference_with_a_negated_number_is_a_sum() {
    let text = lines(&["w = 2.0 * v", "a = -w", "r = v - a"]);
    assert!(text.contains(&"r = v + w".to_owned()), "{text:#?}");
}

#[test]
fn the_sign_goes_to_a_factor_that_is_written_down() {
    let text = lines(&["w = v + 1.0", "a = -w", "r = a * 0.5"]);
    assert!(text.contains(&"r = -0.5 * w".to_owned()), "{text:#?}");
}

#[test]
fn what_is_read_twice_is_negated() {
    let text = lines(&["u = 2.0 * v", "w = -u", "r = v + w"]);
    assert!(text.contains(&"w = -u".to_owned()), "{text:#?}");
    assert!(text.contains(&"r = v + w".to_owned()), "{text:#?}");
}

#[test]
fn what_is_added_to_a_carry_is_still_added() {
    let text = lines(&["r = 2.0 * v", "w = -r"]);
    assert!(text.contains(&"s_2 = s_1 + w".to_owned()), "{text:#?}");
}

#[test]
fn what_is_added_to_a_lane_is_subtracted() {
    let text = lines_of(LANES, &["r = 2.0 * v", "w = -r"]);
    assert!(text.contains(&"s_2 = s_1 - r".to_owned()), "{text:#?}");
}
