//! A loop of sums that also adds to neighbours, but for its ends, becomes one of the sums and one that gathers.

use crate::support::tidied::{runs_alike, tidy};
use jut_loop::form::LoopFuncId;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};

/// The gradient of a step on a line with respect to the state and a coefficient: the ends have no neighbours.
const STEP: &str = "
loop def f(n: i64, x: in f64[n], c: in f64[n], g: inout f64[n]) -> (f64) = {
  last = n - 1
  (s) = lanes (i in 0 .. n) carry (s_1) {
    d = c[i]
    begins = i == 0
    ends = i == last
    edge = begins || ends
    (s_2) = if edge {
      a = g[i]
      b = a + d
      g[i] = b
      (s_1)
    } else {
      j = i - 1
      check R01 j < n @0:0..1
      left = x[j]
      k = i + 1
      check R01 k < n @0:0..1
      right = x[k]
      rise = right - left
      t = rise * d
      s_3 = s_1 + t
      e = g[j]
      e_1 = e + d
      g[j] = e_1
      u = g[k]
      v = d * left
      u_1 = u + v
      g[k] = u_1
      (s_3)
    }
    (s_2)
  }
  (s)
}";

fn numbers(n: i64) -> Vec<Flat> {
    let cells = |by: f64| Flat::Buffer(Cells::F64((0..n).map(|k| (k as f64 * by).sin()).collect()));
    vec![Flat::Scalar(jut_ir::Literal::I64(n)), cells(1.3), cells(0.7), cells(2.9)]
}

/// Whether there are two loops, and the second is turned round.
fn is_two(text: &str) -> bool {
    let tidied = tidy(text);
    tidied.matches("lanes (").count() == 1 && tidied.contains("gathers")
}

#[test]
fn the_loop_of_the_cells_gathers_and_that_of_the_sums_keeps_its_ends() {
    let tidied = tidy(STEP);
    assert!(is_two(STEP), "{tidied}");
    // It neither loads from the array that is added to nor stores.
    let sums = tidied.split("lanes (").nth(1).and_then(|rest| rest.split("runs = ").next());
    let sums = sums.unwrap_or_default();
    assert!(!sums.contains("g[") && sums.contains("if edge"), "{sums}");
    assert!(!sums.contains("* left_1"), "what only cells need: {sums}");
    runs_alike(STEP, numbers);
}

#[test]
fn loops_that_need_each_other_stay_one() {
    let cases = [
        // A term is what stands in a cell.
        STEP.replace("t = rise * d", "t = rise * e")
            .replace("      e = g[j]\n", "")
            .replace("      rise =", "      e = g[j]\n      rise ="),
        // A cell gets the sum.
        STEP.replace("v = d * left", "v = d * s_1"),
        // Each iteration has a cell of its own.
        STEP.replace("g[j]", "g[i]")
            .replace("      u = g[k]\n", "")
            .replace("u_1 = u + v\n      g[k] = u_1", "u_1 = e_1 + v"),
        // There are no ends.
        STEP.replace("begins = i == 0", "begins = d < 0.5")
            .replace("ends = i == last", "ends = d < 0.1"),
    ];
    for text in cases {
        assert!(!is_two(&text), "{}", tidy(&text));
        runs_alike(&text, numbers);
    }
}

#[test]
fn the_first_check_that_fails_is_the_same() {
    let text = STEP.replace("k = i + 1", "k = i + 3");
    let [plain, tidied] = [&text, &tidy(&text)].map(|t| read::read_program(0, t).unwrap());
    for n in 0..8 {
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &numbers(n)));
        assert_eq!(run(&plain), run(&tidied), "{n}");
    }
}
