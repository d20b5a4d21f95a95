//! Which loops become one, and which do not: a program, and what is left of its loops.

use crate::load;
use jut_eval::{Interpreter, Value};
use jut_ir::Program;
use jut_opt::optimise;

/// The optimised text of `f`; the checker accepts it.
fn optimised(text: &str) -> String {
    let program = load(text);
    let root = program.find_func("f").expect("the function exists");
    let fast = optimise(&program, root, true);
    jut_ir::check::check_program(&fast).expect("the checker accepts it");
    jut_ir::print::print_program(&fast)
}

/// How many loops stand directly in the function or in its regions: they are indented less than what is in a loop.
fn outer_loops(text: &str) -> usize {
    let mut depth: Vec<bool> = Vec::new();
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        let is_loop = line.contains("scan ");
        count += usize::from(is_loop && !depth.contains(&true));
        for c in line.chars() {
            match c {
                '{' => depth.push(is_loop),
                '}' => drop(depth.pop()),
                _ => {}
            }
        }
    }
    count
}

/// What `f` gives at `[0.5, -1.5, .. ]`, as it was and optimised: the same bits, and no more work.
fn runs_the_same(text: &str) {
    let program = load(text);
    let root = program.find_func("f").expect("the function exists");
    let fast = optimise(&program, root, true);
    let x: Vec<f64> = (0..11).map(|k| (k as f64 * 1.3 + 0.4).sin() + 0.1).collect();
    let run = |program: &Program| {
        let interpreter = Interpreter::new(program);
        let args = [Value::floats(x.clone())];
        let args = interpreter.with_sizes(root, &args).expect("arguments fit");
        interpreter.call(root, &args, &[], &[])
    };
    match (run(&program), run(&fast)) {
        (Ok(slow), Ok(fast)) => {
            assert_eq!(format!("{:?}", slow.results), format!("{:?}", fast.results));
            assert!(fast.counters.w() <= slow.counters.w());
        }
        (Err(slow), Err(fast)) => assert_eq!(format!("{slow:?}"), format!("{fast:?}")),
        (slow, fast) => panic!("{:?} {:?}", slow.err(), fast.err()),
    }
}

/// The loops directly in `f` once it is optimised.
fn expect_loops(loops: usize, text: &str) {
    let fast = optimised(text);
    assert_eq!(outer_loops(&fast), loops, "{fast}");
    runs_the_same(text);
}

const ROWS: &str =
    "ts = build (i < n) { t = build (j < n) { x[i] * x[j] }; s = sum (v <- t) { v }; t }";

#[test]
fn a_loop_that_reads_elements_at_its_own_index_becomes_one_with_the_loop_that_made_them() {
    let text = "def f[n](x: [n]f64) -> [n]f64 = {
      ts = build (i < n) { build (j < n) { x[i] * x[j] } }
      build (i < n) { x[i] - sum (j < n) { x[j] / ts[i, j] } }
    }";
    expect_loops(1, text);
    assert_eq!(
        optimised(text).trim(),
        "core def f(n: i64, x: [n]f64) -> [n]f64 = {
  t_10 = scan par (i < n) {
    t = x[i]
    t_3 = scan par (j < n) {
      t_1 = x[j]
      t_2 = t * t_1
      t_2
    }
    t_15 = acc lanes s_1: f64 {
      scan par (j_2 < n) {
        t_12 = x[!j_2]
        t_13 = t_3[!j_2]
        t_14 = t_12 / t_13
        s_1 += t_14
      }
    }
    t_16 = t - t_15
    t_16
  }
  t_10
}"
    );
}

#[test]
fn loops_that_come_to_stand_beside_each_other_are_fused_too() {
    expect_loops(
        1,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) { build (j < n) { sum (k < i) { x[i] * x[j] - x[k] } } }
           build (i < n) { sum (j < n) { ts[i, j] * sum (k < j) { x[k] } } }
         }",
    );
}

#[test]
fn what_is_computed_of_the_sum_waits_until_after_the_loop() {
    // ts goes, the sum s stays.
    expect_loops(
        1,
        "def f[n](x: [n]f64) -> (f64, [n]f64) = {
           (ts, s) = acc lanes r: f64 {
             scan par (i < n) { t = build (j < n) { x[j] - x[i] }; r += t[0]; t }
           }
           e = exp(s)
           (e, build (i < n) { sum (j < n) { ts[i, j] * x[j] } })
         }",
    );
}

#[test]
fn a_loop_that_needs_the_whole_sum_stays_a_second_one() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n]f64 = {
           (ts, s) = acc lanes r: f64 {
             scan par (i < n) { t = build (j < n) { x[j] - x[i] }; r += t[0]; t }
           }
           build (i < n) { sum (j < n) { ts[i, j] * x[j] / s } }
         }",
    );
}

#[test]
fn a_loop_that_reads_other_elements_stays_a_second_one() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) { build (j < n) { x[j] - x[i] } }
           build (i < n) { sum (j < n) { ts[i, j] * ts[j, i] } }
         }",
    );
}

#[test]
fn loops_over_different_ranges_stay_apart() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n - 1]f64 = {
           ts = build (i < n) { build (j < n) { x[j] - x[i] } }
           build (i < n - 1) { sum (j < n) { ts[i, j] * x[j] } }
         }",
    );
}

#[test]
fn loops_that_hand_on_one_number_for_each_iteration_stay_apart() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) { sum (j < i) { x[i] * x[j] } }
           build (i < n) { ts[i] - sum (j < n) { x[j] / ts[i] } }
         }",
    );
}

#[test]
fn rows_that_wait_for_a_loop_that_carries_something_are_read_by_a_second_loop() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) {
             p = for (j < n) carry (p = x[i]) { p * x[j] }
             build (j < n) { p - x[j] }
           }
           build (i < n) { sum (j < n) { ts[i, j] * x[j] } }
         }",
    );
}

#[test]
fn records_of_numbers_are_no_rows() {
    let text = "data P = P(a: f64, b: f64)
      def f[n](x: [n]f64) -> [n]f64 = {
        ps = build (i < n) { P(x[i], sum (j < n) { x[j] }) }
        build (i < n) { ps[i].a * sum (j < n) { x[j] / ps[i].b } }
      }";
    expect_loops(2, text);
}

#[test]
fn innermost_loops_stay_apart() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) { sin(x[i]) }
           build (i < n) { ts[i] * x[i] }
         }",
    );
}

#[test]
fn additions_into_one_accumulator_keep_their_order() {
    expect_loops(
        2,
        "def f[n](x: [n]f64) -> f64 = {
           acc r: f64 {
             ts = scan par (i < n) { t = build (j < n) { x[j] - x[i] }; r += t[0]; t }
             scan par (i < n) { r += sum (j < n) { ts[i, j] * x[j] } }
           }
         }",
    );
}

#[test]
fn of_two_loops_that_can_fail_the_first_fails_first() {
    // The first loop fails at i = 9, the second at i = 2.
    let text = "def f[n](x: [n]f64) -> [n]f64 = {
       ts = build (i < n) { build (j < n) { x[j + i / 9 * n] } }
       build (i < n) { sum (j < n) { ts[i, j] * x[j + i / 2 * n] } }
     }";
    expect_loops(2, text);
    // If only one of them can fail, they are fused.
    expect_loops(
        1,
        "def f[n](x: [n]f64) -> [n]f64 = {
           ts = build (i < n) { build (j < n) { x[j + i / 9 * n] } }
           build (i < n) { sum (j < n) { ts[i, j] * x[j] } }
         }",
    );
}

#[test]
fn a_loop_that_can_fail_passes_nothing_that_can() {
    expect_loops(
        3,
        "def f[n](x: [n]f64) -> ([n]f64, f64) = {
           ts = build (i < n) { build (j < n) { x[j + i / 9 * n] } }
           s = sum (j < n) { sum (k < j) { x[k + j / 7 * n] } }
           (build (i < n) { sum (j < n) { ts[i, j] * x[j] } }, s)
         }",
    );
}

#[test]
fn an_array_that_may_be_changed_in_place_is_not_read_later_than_it_was() {
    expect_loops(
        3,
        "def f[n](x: [n]f64) -> ([n]f64, [n]f64) = {
           v = build (i < n) { x[i] + 1.0 }
           ts = build (i < n) { build (j < n) { v[j] - x[i] } }
           w = v with [0] = 2.0
           (build (i < n) { sum (j < n) { ts[i, j] * x[j] } }, w)
         }",
    );
}

#[test]
fn what_was_collected_stays_if_it_is_read_elsewhere() {
    let text = format!(
        "def f[n](x: [n]f64) -> ([n, n]f64, [n]f64) = {{
           {ROWS}
           (ts, build (i < n) {{ sum (j < n) {{ ts[i][j] * sum (k < j) {{ x[k] }} }} }})
         }}"
    );
    expect_loops(1, &text);
}
