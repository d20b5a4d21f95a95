//! What the optimiser promises, one rewrite at a time: a program, and the text of what it becomes.

use crate::load;
use jut_eval::{Interpreter, Value};
use jut_opt::optimise;

/// The optimised text of the function with the given name and of what it still calls.
fn optimised(text: &str, name: &str) -> String {
    let program = load(text);
    let root = program.find_func(name).expect("the function exists");
    let fast = optimise(&program, root, true);
    jut_ir::check::check_program(&fast).expect("the checker accepts it");
    jut_ir::print::print_program(&fast)
}

fn expect(text: &str, name: &str, result: &str) {
    let indented: Vec<&str> =
        result.lines().map(|l| l.strip_prefix("        ").unwrap_or(l)).collect();
    assert_eq!(optimised(text, name).trim(), indented.join("\n").trim());
}

#[test]
fn constants_copies_and_unit_factors_disappear() {
    expect(
        "def f(x: f64) -> f64 = { one = 2.0 - 1.0\n y = one * x\n z = y / 1.0\n -(-z) }",
        "f",
        "core def f(x: f64) -> f64 = {
          x
        }",
    );
}

#[test]
fn what_could_change_a_bit_stays() {
    // 0 * x is not 0 for infinities, x + 0 is not x for -0.
    expect(
        "def f(x: f64) -> f64 = 0.0 * x + 0.0",
        "f",
        "core def f(x: f64) -> f64 = {
          t = 0.0 * x
          t_1 = t + 0.0
          t_1
        }",
    );
}

#[test]
fn a_product_of_derivatives_is_like_any_other_where_no_zero_meets_an_infinity() {
    // A square, and a factor that is written; not of two numbers.
    expect(
        "def f(x: f64, y: f64) -> f64 = times(x, x) + times(2.0, x) + times(x, y)",
        "f",
        "core def f(x: f64, y: f64) -> f64 = {
          t = x * x
          t_1 = 2.0 * x
          t_2 = t + t_1
          t_3 = times(x, y)
          t_4 = t_2 + t_3
          t_4
        }",
    );
    for x in [0.0, -0.0, 1.5, -1e200, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let program = load("def f(x: f64) -> f64 = times(x, x)");
        let f = program.find_func("f").expect("the function exists");
        let made =
            Interpreter::new(&program).call(f, &[Value::F64(x)], &[], &[]).expect("no failure");
        let [Value::F64(square)] = made.results[..] else { panic!("a number") };
        assert!(square.to_bits() == (x * x).to_bits() || square.is_nan() && x.is_nan(), "{x}");
    }
}

#[test]
fn what_every_iteration_hands_on_is_known_in_it() {
    // Also through a loop inside; what changes stays a carry.
    expect(
        "core def f(n: i64, x: [n]f64) -> (f64, f64) = {
           (c, s_2) = scan up (i < n) carry (a = 1.0, s = 0.0) {
             (d, t_2) = scan up (j < i) carry (b = a, t = s) {
               check j < n
               y = x[j]
               z = b * y
               u = t + z
               (b, u)
             }
             (d, t_2)
           }
           (c, s_2)
         }",
        "f",
        "core def f(n: i64, x: [n]f64) -> (f64, f64) = {
          s_2 = scan up (i < n) carry (s = 0.0) {
            t_2 = scan up (j < i) carry (t = s) {
              check j < n
              y = x[j]
              u = t + y
              u
            }
            t_2
          }
          (1.0, s_2)
        }",
    );
}

#[test]
fn sizes_that_have_a_name_are_that_name() {
    expect(
        "def f[n](x: [n, 3]f64) -> i64 = size(x) * size(x, 1)",
        "f",
        "core def f(n: i64, x: [n, 3]f64) -> i64 = {
          t_2 = n * 3
          t_2
        }",
    );
}

#[test]
fn common_subexpressions_are_computed_once() {
    expect(
        "def f(x: f64) -> f64 = sin(x) * sin(x)",
        "f",
        "core def f(x: f64) -> f64 = {
          t = sin(x)
          t_2 = t * t
          t_2
        }",
    );
}

#[test]
fn records_that_are_opened_again_are_never_made() {
    expect(
        "data P = P(a: f64, b: f64)
         def make(x: f64) -> P = P(x, 2.0)
         def f(x: f64) -> f64 = { p = make(x)\n p.a + p.b }",
        "f",
        "data P = P(a: f64, b: f64)

        core def f(x: f64) -> f64 = {
          t_2 = x + 2.0
          t_2
        }",
    );
}

#[test]
fn a_branch_on_a_constant_is_taken() {
    expect(
        "def f(x: f64) -> f64 = if 1 < 2 { x } else { sin(x) }",
        "f",
        "core def f(x: f64) -> f64 = {
          x
        }",
    );
}

#[test]
fn a_branch_that_chooses_an_integer_is_a_selection() {
    expect(
        "def f[n](x: [n]f64, i: i64) -> f64 = { j = if i == 0 { n - 1 } else { i - 1 }\n x[j] }",
        "f",
        "core def f(n: i64, x: [n]f64, i: i64) -> f64 = {
          t = i == 0
          t_1 = n - 1
          t_2 = i - 1
          j = select(t, t_1, t_2)
          check j < n
          t_3 = x[j]
          t_3
        }",
    );
    // What may fail, or takes more than an operation, is computed where it is needed.
    for other in ["7 / i", "i * i - 1"] {
        let text = format!("def f(x: f64, i: i64) -> i64 = if i == 0 {{ 1 }} else {{ {other} }}");
        assert!(optimised(&text, "f").contains("case "), "{text}");
    }
}

#[test]
fn small_literal_powers_are_multiplications() {
    expect(
        "def f(x: f64) -> f64 = x^3",
        "f",
        "core def f(x: f64) -> f64 = {
          p_1 = x * x
          p_2 = x * p_1
          p_2
        }",
    );
}

#[test]
fn a_carry_that_only_feeds_itself_is_dead() {
    let text = optimised(
        "def f(x: f64, n: i64) -> f64 = {
           (a, b) = for (i < n) carry (a = x, b = 1.0) { (a * x, b * 2.0) }
           a
         }",
        "f",
    );
    assert!(!text.contains("2.0"), "{text}");
}

#[test]
fn results_that_no_caller_reads_are_not_computed() {
    // The callee is too large to be inlined twice, so it stays a function, with one result less.
    let long: String = (0..80).map(|k| format!("  b = cos(b + {k}.5)\n")).collect();
    let text = optimised(
        &format!(
            "def two(x: f64) -> (f64, f64) = {{\n a = sin(x)\n b = x\n{long} (a, b)\n}}
             def f(x: f64) -> f64 = {{ (a, b) = two(x)\n (c, d) = two(a)\n a + c }}"
        ),
        "f",
    );
    assert!(!text.contains("cos"), "{text}");
}

#[test]
fn checks_stay_when_what_they_guard_is_dead() {
    let source = "def f[n](x: [n]f64, k: i64) -> f64 = { y = x[k]\n 1.0 }";
    assert!(optimised(source, "f").contains("check k < n"));
    let program = load(source);
    let root = program.find_func("f").expect("f");
    let fast = optimise(&program, root, true);
    let args = [Value::I64(2), Value::floats(vec![1.0, 2.0]), Value::I64(2)];
    for program in [&program, &fast] {
        let error =
            Interpreter::new(program).call(root, &args, &[], &[]).expect_err("out of range");
        assert_eq!(error.runtime().map(|e| e.kind.code()), Some("R01"));
    }
}

#[test]
fn invariants_move_out_of_loops_but_not_accesses_that_a_zero_trip_loop_would_skip() {
    let text = optimised(
        "def f[n](x: [n]f64, a: f64, k: i64, m: i64) -> f64 =
           sum (i < m) { exp(a) * x[k] }",
        "f",
    );
    let (before, inside) = text.split_once("scan").expect("a loop");
    assert!(before.contains("exp(a)"), "{text}");
    assert!(inside.contains("x[k]") && inside.contains("check k < n"), "{text}");
}

/// A check inside a region guards what stands behind it; what the range rule covers outside moves, and
/// loses its mark, so that the checker proves it there.
#[test]
fn every_pass_leaves_names_that_are_bound_once() {
    // The inner `t` and `u` move into the block of the outer ones.
    let text = "
        core def f(n: i64, a: f64, x: [n]f64) -> f64 = {
          t = acc lanes s: f64 {
            scan par (i < n) { t = sin(a); e = x[i]; p = e * t; s += p }
          }
          b = 1.0 < 2.0
          u = case b { true -> { u = exp(t); v = u * a; v }; false -> { a } }
          y = cos(u)
          y
        }";
    let program = load(text);
    let root = program.find_func("f").unwrap();
    let mut passes = Vec::new();
    let fast = jut_opt::optimise_watched(program, root, true, &mut |pass, program| {
        passes.push(pass);
        if let Err(errors) = jut_ir::check::check_program(program) {
            panic!("{pass}: {}\n{}", errors[0], jut_ir::print::print_program(program));
        }
    });
    assert_eq!(passes.len(), 6);
    let text = jut_ir::print::print_program(&fast);
    assert!(text.find("= sin(a)") < text.find("scan par") && !text.contains("case"), "{text}");
}

#[test]
fn accesses_leave_a_region_only_where_the_range_rule_covers_them() {
    expect(
        "def f[n, m](x: [n, m]f64, ix: [n]i64) -> f64 = sum (i < n) {
           acc s: f64 { j = ix[i]; y = x[i]; for (k < m) { s += y[k] * x[j, k] } } }",
        "f",
        "core def f(n: i64, m: i64, x: [n, m]f64, ix: [n]i64) -> f64 = {
          t_4 = acc lanes s_1: f64 {
            scan par (i < n) {
              j = ix[i]
              y = x[i]
              t_3 = acc s: f64 {
                scan up (k < m) {
                  t = y[k]
                  check j < n
                  t_1 = x[j, k]
                  t_2 = t * t_1
                  s += t_2
                }
              }
              s_1 += t_3
            }
          }
          t_4
        }",
    );
}

#[test]
fn a_size_that_a_region_gives_back_with_arrays_of_it_stays_in_the_region() {
    // Outside it has another name, which the type of the array has there.
    let text = optimised(
        "core def f(n: i64, x: f64) -> f64 = {
          (m, y, t) = acc s: f64 {
            k = max(n, 0)
            y_1 = scan par (i < k) { a = f64(i)\n b = a * x\n s += b\n b }
            (k, y_1)
          }
          u = acc lanes r: f64 { scan par (j < m) slice (c <- y) { d = c * c\n r += d } }
          v = u * t
          v
        }",
        "f",
    );
    let [region, size] = ["= acc s", "= max(n, 0)"].map(|part| text.find(part).expect("is there"));
    assert!(region < size, "{text}");
}

#[test]
fn short_literal_loops_are_unrolled_in_the_order_of_their_sums() {
    expect(
        "def f(x: [3]f64) -> f64 = sum (k < 3) { x[k] }",
        "f",
        "core def f(x: [3]f64) -> f64 = {
          t_2 = x[!0]
          t_3 = x[!1]
          t_4 = x[!2]
          p = t_2 + t_4
          p_1 = p + t_3
          p_2 = 0.0 + p_1
          p_2
        }",
    );
}

#[test]
fn the_sum_of_nothing_but_negative_zeros_is_zero_unrolled_or_not() {
    let program = load("def f(x: [3]f64) -> f64 = sum (k < 3) { x[k] }");
    let root = program.find_func("f").expect("f");
    let fast = optimise(&program, root, true);
    let args = [Value::floats(vec![-0.0; 3])];
    for program in [&program, &fast] {
        let outcome = Interpreter::new(program).call(root, &args, &[], &[]).expect("runs");
        assert_eq!(outcome.results[0].as_f64().map(f64::to_bits), Some(0));
    }
}

/// Matrices of a few rows are their elements, wherever they are made of such elements.
#[test]
fn products_of_small_matrices_are_straight_line_code() {
    let program = "def mul(a: [4, 4]f64, b: [4, 4]f64) -> [4, 4]f64 = build (i < 4, j < 4) { sum (k < 4) { a[i, k] * b[k, j] } }
                   def turn(x: f64) -> [4, 4]f64 = {
                     (s, c) = (sin(x), cos(x))
                     [[c, -s, 0.0, 1.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
                   }
                   def f(x: f64, y: f64) -> f64 = { m = mul(turn(x), turn(y))\n m[0][3] + m[1, 2] }";
    expect(
        program,
        "f",
        "core def f(x: f64, y: f64) -> f64 = {
          t_5 = sin(x)
          t_6 = cos(x)
          t_7 = -t_5
          t_102 = t_6 * 0.0
          t_103 = t_7 * 0.0
          p_28 = t_102 + 0.0
          p_32 = t_6 + 0.0
          p_33 = t_103 + 1.0
          p_34 = p_32 + p_33
          p_35 = 0.0 + p_34
          t_115 = t_5 * 0.0
          p_44 = t_115 + 0.0
          p_46 = p_44 + p_28
          p_47 = 0.0 + p_46
          t_4 = p_35 + p_47
          t_4
        }",
    );
}

/// An array that is made cell by cell is what it is made of, if nobody reads it in between as a whole.
#[test]
fn updates_of_array_literals_are_array_literals() {
    let program = "def cross(a: [3]f64, b: [3]f64) -> [3]f64 = {
                     var c = [0.0, 0.0, 0.0]
                     for (k < 3) { c[k] += a[(k + 1) % 3] * b[(k + 2) % 3] }
                     for (k < 3) { c[k] = c[k] - a[(k + 2) % 3] * b[(k + 1) % 3] }
                     c
                   }
                   def f(x: f64, y: f64) -> f64 = cross([x, y, 1.0], [y, 2.0, x])[2]";
    expect(
        program,
        "f",
        "core def f(x: f64, y: f64) -> f64 = {
          t_36 = x * 2.0
          t_38 = 0.0 + t_36
          t_58 = y * y
          t_59 = t_38 - t_58
          t_59
        }",
    );
    // Who reads both arrays needs both.
    let program = "def g(x: f64, i: i64) -> f64 = {
                     a = [x, 1.0]
                     b = a with [1] = x * x
                     a[i] + b[i]
                   }";
    expect(
        program,
        "g",
        "core def g(x: f64, i: i64) -> f64 = {
          a = [x, 1.0]
          t = x * x
          check i < 2
          t_1 = a[i]
          b = a with [1] = t
          t_2 = b[i]
          t_3 = t_1 + t_2
          t_3
        }",
    );
}

#[test]
fn inlining_keeps_a_chain_of_doubling_calls_linear() {
    let mut text = String::from("def f0(x: f64) -> f64 = sin(x)\n");
    for k in 1..=40 {
        text += &format!("def f{k}(x: f64) -> f64 = f{0}(f{0}(x) + 1.0)\n", k - 1);
    }
    let lines = |k: usize| {
        let program = load(&text);
        let root = program.find_func(&format!("f{k}")).expect("exists");
        jut_ir::print::print_program(&optimise(&program, root, true)).lines().count()
    };
    assert!(lines(40) < 3 * lines(20), "{} and {}", lines(40), lines(20));
}

#[test]
fn functions_with_linear_parts_are_left_alone() {
    let source = "def g(x: f64; y': f64) -> (f64; f64) = { z = x * x\n (z; z * y') }";
    let program = load(source);
    let root = program.find_func("g").expect("g");
    let same = optimise(&program, root, true);
    assert_eq!(jut_ir::print::print_program(&same), jut_ir::print::print_program(&program));
}

#[test]
fn stop_stays_until_no_derivative_will_be_taken() {
    let program = load("def f(x: f64) -> f64 = stop(x) * x");
    let root = program.find_func("f").expect("f");
    let text = |last| jut_ir::print::print_program(&optimise(&program, root, last));
    assert!(text(false).contains("stop") && !text(true).contains("stop"));
}

/// What a `match` of Rust on a type that holds itself comes as.
#[test]
fn tests_of_a_constructor_and_reads_of_fields_are_one_case() {
    let text = "data E = A(x: f64) | B(x: f64, y: f64) | C(l: E)
        def is_A(v: E) -> bool = case v { A(_) -> true; _ -> false }
        def is_B(v: E) -> bool = case v { B(_, _) -> true; _ -> false }
        def A_x(v: E) -> f64 = case v { A(p) -> p; _ -> 0.0 }
        def B_x(v: E) -> f64 = case v { B(p, _) -> p; _ -> 0.0 }
        def B_y(v: E) -> f64 = case v { B(_, p) -> p; _ -> 0.0 }
        def C_l(v: E) -> E = case v { C(p) -> p; _ -> A(0.0) }
        def f(v: E) -> f64 = {
          x = A_x(v)
          if is_A(v) { x * x } else {
            y = B_x(v)
            z = B_y(v)
            l = C_l(v)
            if is_B(v) { y * z } else { sin(f(l)) }
          }
        }";
    expect(
        text,
        "f",
        "data E = A(x: f64) | B(x: f64, y: f64) | C(l: E)

        core def f(v: E) -> f64 = {
          t_7 = case v {
            A(t_36) -> {
              t_1 = t_36 * t_36
              t_1
            }
            B(t_37, t_38) -> {
              t_58 = t_37 * t_38
              t_58
            }
            C(t_62) -> {
              t_4 = f(t_62)
              t_5 = sin(t_4)
              t_5
            }
          }
          t_7
        }",
    );
}

#[test]
fn tests_between_which_much_stands_stay_as_they_are() {
    let text = "data E = A(x: f64) | B(x: f64) | C(x: f64)
        def is_A(v: E) -> bool = case v { A(_) -> true; _ -> false }
        def is_B(v: E) -> bool = case v { B(_) -> true; _ -> false }
        def f(v: E, s: f64) -> f64 = if is_A(v) { 1.0 } else {
          t = sum (i < 1000) { sin(s * f64(i)) }
          if is_B(v) { t } else { -t }
        }";
    let made = optimised(text, "f");
    assert_eq!(made.matches("scan").count(), 1, "{made}");
    assert_eq!(made.matches("case v").count(), 2, "{made}");
}

/// A loop over n numbers that reads the one that an integer says.
fn reads_at(index: &str) -> String {
    format!("def f[n](x: [n]f64, m: i64) -> [n]f64 = build (i < n) {{ x[{index}] }}")
}

#[test]
fn neighbours_on_a_ring_are_selected() {
    expect(
        &reads_at("(i + 1) % n"),
        "f",
        "core def f(n: i64, x: [n]f64, m: i64) -> [n]f64 = {
          last = n - 1
          t_2 = scan par (i < n) {
            t = i + 1
            q = i == last
            j = select(q, 0, t)
            check j < n
            t_1 = x[j]
            t_1
          }
          t_2
        }",
    );
    for before in ["(i + n - 1) % n", "(i - 1 + n) % n", "(n + i - 1) % n"] {
        let text = optimised(&reads_at(before), "f");
        for part in ["last = n - 1", "q = i == 0", " = i - 1", "j = select(q, last, "] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('%'), "{text}");
    }
    assert!(!optimised(&reads_at("i % n"), "f").contains('%'));
    let literal = "def f(x: [5]f64) -> [5]f64 = build (i < 5) { x[(i + 4) % 5] * x[(i + 1) % 5] }";
    assert!(!optimised(literal, "f").contains('%'));
    // Of an outer loop as well.
    let grid = "def f[n](x: [n, n]f64) -> [n, n]f64 = build (i < n, j < n) { x[(j + 1) % n, (i + n - 1) % n] }";
    assert!(!optimised(grid, "f").contains('%'));
}

#[test]
fn what_may_be_another_element_of_a_ring_stays_a_remainder() {
    // Two away is further than once round a ring of one; other lengths, what is negative, and what may wrap.
    for other in ["(i + 2) % n", "(i + n - 2) % n", "(i + 1) % m", "(i - 1) % n", "(2 * i + 1) % n"]
    {
        assert!(optimised(&reads_at(other), "f").contains('%'), "{other}");
    }
    let down =
        "def f(n: i64) -> i64 = { s = for (n > i >= 0) carry (s = 0) { s + (i + n - 1) % n }\n s }";
    assert!(optimised(down, "f").contains('%'), "{}", optimised(down, "f"));
}

#[test]
fn neighbours_on_a_ring_have_the_elements_that_remainders_have() {
    let at = "x[(i + 1) % n] + 10.0 * x[(i + n - 1) % n] + 100.0 * x[(i - 1 + n) % n] + 1000.0 * x[i % n]";
    let program = load(&format!("def f[n](x: [n]f64) -> [n]f64 = build (i < n) {{ {at} }}"));
    let root = program.find_func("f").expect("the function exists");
    let fast = optimise(&program, root, true);
    for n in 0..6 {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let args = [Value::I64(i64::from(n)), Value::floats(x)];
        let run = |program| {
            let outcome = Interpreter::new(program).call(root, &args, &[], &[]).expect("runs");
            format!("{:?}", outcome.results)
        };
        assert_eq!(run(&program), run(&fast), "{n}");
    }
}
