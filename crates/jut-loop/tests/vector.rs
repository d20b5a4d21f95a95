//! Several iterations at once: which loops are marked for it, what the marks look like, and that the
//! evaluator takes them as machines do, so that a wrong mark shows.

use crate::support::loops::SUMS_IN_ORDER;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Loops, Target, Vectors};
use jut_loop::{eval, print, read};

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn run(program: &LoopProgram, args: &[Flat]) -> String {
    format!("{:?}", eval::run(program, LoopFuncId::from_u32(0), args))
}

/// The text for a target, after having compared what comes out of it.
fn marked(text: &str, vectors: Vectors, args: &dyn Fn(i64) -> Vec<Flat>) -> String {
    let plain = program(text);
    let target = Target { vectors: Some(vectors), ..Target::default() };
    let text = print::print_program(&for_target(&plain, &target));
    let again = program(&text);
    assert_eq!(print::print_program(&again), text, "it reads back");
    for n in [0, 1, 3, 7, 8, 9, 16, 1023, 1025, 2049] {
        assert_eq!(run(&plain, &args(n)), run(&again, &args(n)), "{n}\n{text}");
    }
    text
}

fn int(n: i64) -> Flat {
    Flat::Scalar(jut_ir::Literal::I64(n))
}

fn floats(n: i64) -> Flat {
    Flat::Buffer(Cells::F64((0..n).map(|k| (k * k % 37) as f64 / 7.0 - 2.0).collect()))
}

fn ints(n: i64) -> Flat {
    Flat::Buffer(Cells::I64((0..n).map(|k| k * 5 % n.max(1)).collect()))
}

/// A function of n, a buffer x that is read and a buffer y, of `cells`, that is written.
fn function(role: &str, body: &str) -> String {
    format!("loop def f(n: i64, x: in f64[n], y: {role} f64[n + 1], k: in i64[n]) = {{\n{body}\n}}")
}

fn arguments(n: i64) -> Vec<Flat> {
    vec![int(n), floats(n), floats(n + 1), ints(n)]
}

fn of(role: &str, body: &str) -> String {
    marked(&function(role, body), Vectors::EVERYTHING, &arguments)
}

const WRITES: &str = "
  for ORDER (i in 0 .. n) {
    a = x[i]
    b = a * a
    y[i] = b
  }";

#[test]
fn independent_iterations_are_marked_and_so_are_those_whose_stores_nothing_else_reads() {
    for order in ["par", "up"] {
        let text = of("out", &WRITES.replace("ORDER", order));
        assert!(text.contains(&format!("for {order} vector 8 masked (i in 0 .. n)")), "{text}");
    }
}

#[test]
fn a_loop_that_runs_down_becomes_one_of_any_order_where_nothing_tells_the_difference() {
    let down = |body: &str| of("inout", &body.replace("ORDER", "down"));
    let text = down(WRITES);
    assert!(text.contains("for par vector 8 masked (i in 0 .. n)"), "{text}");
    // What a target leaves to its compiler may be in any order all the same.
    let calling = Vectors { loops: Loops::CallsAndProducts, ..Vectors::EVERYTHING };
    let text = marked(&function("out", &WRITES.replace("ORDER", "down")), calling, &arguments);
    assert!(text.contains("for par (i in 0 .. n)"), "{text}");
    // An iteration reads what another writes.
    let text = down(&WRITES.replace("a = x[i]", "j = i + 1\n a = y[j]"));
    assert!(text.contains("for down (i in 0 .. n)"), "{text}");
    // All write the same cell: the first is the last to do so.
    let text = down(&WRITES.replace("y[i] = b", "y[0] = b"));
    assert!(text.contains("for down (i in 0 .. n)"), "{text}");
    // The last that fails is the first to run.
    let text = down(&WRITES.replace("a = x[i]", "check i < 5 @0:1..2\n a = x[i]"));
    assert!(text.contains("for down (i in 0 .. n)"), "{text}");
}

#[test]
fn a_loop_that_reads_what_it_wrote_before_is_not_marked() {
    let body = "
  for up (i in 0 .. n) {
    a = y[i]
    b = a + 1.0
    j = i + 1
    y[j] = b
  }";
    let text = of("inout", body);
    assert!(!text.contains("vector"), "{text}");
    // The evaluator shows what such a mark would do.
    let wrong = function("inout", &body.replace("up", "up vector 4"));
    let [right, wrong] = [function("inout", body), wrong].map(|text| program(&text));
    assert_ne!(run(&right, &arguments(9)), run(&wrong, &arguments(9)));
    assert_eq!(run(&right, &arguments(3)), run(&wrong, &arguments(3)), "none is taken at once");
}

#[test]
fn the_same_cell_may_be_read_and_written() {
    let body = "
  for up (i in 0 .. n) {
    a = y[i]
    b = x[i]
    c = a + b
    y[i] = c
  }";
    let text = of("inout", body);
    assert!(text.contains("for up vector 8 masked (i"), "{text}");
}

#[test]
fn numbers_of_32_bits_are_computed_with_as_those_of_64_and_are_taken_where_the_target_has_vectors_of_them()
 {
    let text = "
loop def f(n: i64, x: in f32[n], k: in i32[n], y: out f32[n], m: out i32[n]) = {
  for par (i in 0 .. n) {
    a = x[i]
    b = f64(a)
    j = k[i]
    l = i64(j)
    c = l < 3
    (d) = if c {
      g = x[l]
      h = f64(g)
      e = times(b, h)
      (e)
    } else {
      (b)
    }
    r = f32(d)
    y[i] = r
    p = l * 3
    q = i32(p)
    m[i] = q
  }
}";
    let args = |n: i64| {
        let x = (0..n.max(3)).map(|k| (k * k % 37) as f32 / 7.0 - 2.0).collect();
        let k = (0..n).map(|k| (k * 5 % 7) as i32).collect();
        let (y, m) = (vec![0.0; n as usize], vec![0; n as usize]);
        vec![
            int(n),
            Flat::Buffer(Cells::F32(x)),
            Flat::Buffer(Cells::I32(k)),
            Flat::Buffer(Cells::F32(y)),
            Flat::Buffer(Cells::I32(m)),
        ]
    };
    let wide = marked(text, Vectors::EVERYTHING, &args);
    assert!(wide.contains("for par vector 8 masked stores last (i"), "{wide}");
    for without in [
        Vectors { narrow: false, ..Vectors::EVERYTHING },
        Vectors { integers: false, ..Vectors::EVERYTHING },
    ] {
        let text = marked(text, without, &args);
        assert!(text.contains("for par (i"), "{text}");
    }
}

#[test]
fn stores_wait_only_if_no_load_stands_behind_one_to_the_same_memory() {
    let body = "
  for par (i in 0 .. n) {
    a = x[i]
    b = times(a, a)
    y[i] = b
    c = x[i]
    d = times(c, b)
    y[i] = d
  }";
    let text = of("inout", body);
    assert!(text.contains("for par vector 8 masked stores last (i"), "{text}");
    let text = of("inout", &body.replace("c = x[i]", "c = y[i]"));
    assert!(text.contains("for par vector 8 masked (i"), "{text}");
}

#[test]
fn sums_are_marked_and_a_check_that_fails_leaves_the_vector_before_its_stores() {
    let sums = |n: &str| {
        format!(
            "loop def f(n: i64, x: in f64[n], y: out f64[n], k: in i64[n]) -> (f64) = {{
  (s) = lanes (i in 0 .. n) carry (s_1) {{
    j = k[i]
    check j < {n} @0:1..2
    a = x[j]
    e = exp(a)
    y[i] = e
    s_2 = s_1 + e
    (s_2)
  }}
  (s)
}}"
        )
    };
    for most in ["n", "700"] {
        let args = |n: i64| vec![int(n), floats(n), floats(n), ints(n)];
        let text = marked(&sums(most), Vectors::EVERYTHING, &args);
        assert!(text.contains("lanes vector 8 masked (i"), "{text}");
    }
}

#[test]
fn branches_compute_both_sides_unless_there_is_a_load_or_call_in_them() {
    let body = "
  for par (i in 0 .. n) {
    a = x[i]
    c = a < 0.5
    (b) = if c {
      d = a * 2.0
      (d)
    } else {
      (a)
    }
    y[i] = b
  }";
    assert!(of("out", body).contains("vector 8"));
    for (other, guarded) in [("d = x[0]", true), ("d = x[i]", true), ("d = exp(a)", false)] {
        let body = body.replace("d = a * 2.0", other);
        assert_eq!(of("out", &body).contains("vector"), guarded, "{body}");
        let not = Vectors { guarded: false, ..Vectors::EVERYTHING };
        let text = marked(&function("out", &body), not, &arguments);
        assert!(!text.contains("vector"), "{text}");
    }
}

#[test]
fn what_a_branch_loads_and_checks_counts_where_it_is_taken() {
    // Neighbours before and behind the array, and a check that fails elsewhere.
    for (index, holds) in [("i - 3", ">= 0"), ("i + 3", "< n"), ("3 * i", "< n"), ("n - i", "< n")]
    {
        for check in ["", "check j < n @0:1..2", "check i < 5 @0:1..2"] {
            let sum = format!(
                "(s) = lanes (i in 0 .. n) carry (s_1) {{
                   j = {index}
                   c = j {holds}
                   (b) = if c {{
                     {check}
                     a = x[j]
                     d = x[0]
                     e = a * d
                     (e)
                   }} else {{
                     (0.5)
                   }}
                   s_2 = s_1 + b
                   (s_2)
                 }}
                 y[0] = s"
            );
            let text = of("out", &sum);
            assert!(text.contains("lanes vector 8 masked (i"), "{text}");
        }
    }
}

#[test]
fn a_target_is_given_what_it_can_take() {
    let everything = Vectors::EVERYTHING;
    let is_marked = |vectors: Vectors, body: &str| {
        let text = marked(&function("out", body), vectors, &arguments);
        text.contains("vector")
    };
    let gathers = "
  for par (i in 0 .. n) {
    j = k[i]
    a = x[j]
    y[i] = a
  }";
    let calls = "
  for par (i in 0 .. n) {
    a = x[i]
    b = exp(a)
    y[i] = b
  }";
    let plain = &WRITES.replace("ORDER", "par");
    for body in [gathers, calls, plain] {
        assert!(is_marked(everything, body), "{body}");
        assert!(!is_marked(Vectors { loops: Loops::None, ..everything }, body), "{body}");
        assert!(!is_marked(Vectors { longest: 2, ..everything }, body), "{body}");
    }
    assert!(!is_marked(Vectors { anywhere: false, ..everything }, gathers));
    assert!(!is_marked(Vectors { integers: false, ..everything }, gathers));
    assert!(!is_marked(Vectors { function: |_| false, ..everything }, calls));
    assert!(!is_marked(Vectors { operation: |_| false, ..everything }, plain));
    let calling = Vectors { loops: Loops::CallsAndProducts, ..everything };
    assert!(is_marked(calling, calls) && !is_marked(calling, plain));
    let products = &plain.replace("a * a", "times(a, a)");
    assert!(is_marked(calling, products), "{products}");
}

#[test]
fn a_mark_that_no_loop_can_have_is_not_read() {
    let wrong = [
        ("for par", "for par vector 3"),
        ("for par", "for down vector 4"),
        ("for par", "for par vector 8 stores"),
    ];
    for (from, to) in wrong {
        let text = function("out", &WRITES.replace("for ORDER", from).replace(from, to));
        assert!(read::read_program(0, &text).is_err(), "{text}");
    }
}

fn sums_in_order(order: &str, change: (&str, &str)) -> String {
    SUMS_IN_ORDER.replace("ORDER", order).replace(change.0, change.1)
}

fn of_sums(order: &str, change: (&str, &str)) -> String {
    let arguments = |n: i64| vec![int(n), floats(n), floats(2 * n + 3), ints(n)];
    let text = sums_in_order(order, change);
    marked(&text, Vectors::EVERYTHING, &arguments)
}

#[test]
fn what_a_loop_adds_in_order_is_computed_together() {
    for order in ["up", "down"] {
        let made = of_sums(order, ("", ""));
        assert!(made.contains(&format!("for {order} vector 8 (i in 0 .. n)")), "{made}");
    }
}

#[test]
fn a_loop_that_carries_more_than_sums_is_taken_one_by_one() {
    for change in [
        // A term depends on a sum.
        ("z = sin(x_4)", "z = sin(t)"),
        // So does what is stored.
        ("y_1[1] = u_1", "y_1[1] = s_1"),
        // A carried value that is neither a sum nor the same.
        ("(s_1, t_1, r)", "(s_1, t_1, x_1)"),
        // The cells that are loaded and those that are stored to lie in other distances.
        ("u = y_1[1]", "u = y[i]"),
        // The next iteration loads what one has stored.
        ("u = y_1[1]", "u = y_1[3]"),
        // Hardly anything to compute.
        ("z = sin(x_4)\n    w = z * r\n    v = w - x_2", "v = x[0]"),
        // Nothing moves before a check.
        ("x_1 = x[i]", "check i < n @0:0..1\n    x_1 = x[i]"),
    ] {
        let made = of_sums("up", change);
        assert!(made.contains("for up (i in 0 .. n)"), "{change:?} {made}");
    }
    let text = sums_in_order("up", ("", ""));
    for vectors in [
        Vectors { in_order: false, ..Vectors::EVERYTHING },
        Vectors { function: |_| false, ..Vectors::EVERYTHING },
    ] {
        let target = Target { vectors: Some(vectors), ..Target::default() };
        let made = print::print_program(&for_target(&program(&text), &target));
        assert!(made.contains("for up (i in 0 .. n)"), "{made}");
    }
}

#[test]
fn a_mark_on_a_loop_that_carries_more_than_sums_is_not_read() {
    let text = sums_in_order("up", ("for up", "for up vector 8"));
    assert!(read::read_program(0, &text).is_ok());
    for change in [("s_1 = s + x_4", "s_1 = s * x_4"), ("carry (s = 0.5", "carry (s = 5")] {
        assert!(read::read_program(0, &text.replace(change.0, change.1)).is_err());
    }
}

#[test]
fn long_vectors_are_worth_a_long_body_that_is_written_again_without_its_ends() {
    // What the derivative of a stencil adds to three neighbours, but at the first and the last cell.
    let terms: Vec<String> = (0..40).map(|k| format!("      t{} = t{k} * t0", k + 1)).collect();
    let body = format!(
        "
  last = n - 1
  for up (i in 0 .. n) {{
    t0 = x[i]
    first = i == 0
    end = i == last
    at_end = first || end
    if at_end {{
      a = y[i]
      b = a + t0
      y[i] = b
    }} else {{
{}
      left = i - 1
      right = i + 1
      c = y[i]
      d = c + t40
      y[i] = d
      e = y[right]
      f = e + t1
      y[right] = f
      g = y[left]
      h = g + t2
      y[left] = h
    }}
  }}",
        terms.join("\n")
    );
    let text = of("inout", &body);
    assert!(text.contains("for par vector 8"), "{text}");
    // The loop as it was is not taken apart again, and nothing is asked at the ends.
    for asked in ["if peels {", "if gathers {", "if at_end"] {
        assert_eq!(text.matches(asked).count(), 1, "{asked}\n{text}");
    }
    let short = Vectors { together: 4, ..Vectors::EVERYTHING };
    let text = marked(&function("inout", &body), short, &arguments);
    assert!(!text.contains("vector") && text.contains("if at_end"), "{text}");
}

#[test]
fn sums_that_go_down_columns_are_taken_several_columns_at_a_time() {
    let body = |sum: &str| {
        format!(
            "loop def f(n: i64, m: i64, x: in f64[n*m], w: in f64[n], y: out f64[m]) = {{
               for par (j in 0 .. m) {{
                 start = w[0]
                 (s) = {sum} {{
                   v = w[i]
                   at = i * m
                   row = x[at ..]
                   u = row[j]
                   p = u * v
                   s_2 = s_1 + p
                   (s_2)
                 }}
                 y[j] = s
               }}
             }}"
        )
    };
    let arguments = |n: i64| {
        let m = n % 21;
        vec![int(n), int(m), floats(n * m), floats(n), floats(m)]
    };
    let of = |text: &str, vectors: Vectors| marked(text, vectors, &arguments);
    let lanes = body("lanes (i in 0 .. n) carry (s_1)").replace("start = w[0]\n", "");
    let up = body("for up (i in 0 .. n) carry (s_1 = start)");
    // Without a row there is no first number.
    let up = up.replace("start = w[0]", "start = f64(m)");
    for text in [&lanes, &up] {
        assert!(of(text, Vectors::EVERYTHING).contains("for par vector 8 masked (j"), "{text}");
        let nested = Vectors { nested: false, ..Vectors::EVERYTHING };
        assert!(of(text, nested).contains("for par (j"), "{text}");
        // Along the rows of the loop itself: a sum by lanes is a vector by itself, and what is carried in order from one
        // to the next is not, so eight rows are better.
        let along = text.replace("at = i * m", "at = j * n").replace("row[j]", "row[i]");
        let loops = if text == &up { "for par vector 8 masked (j" } else { "for par (j" };
        assert!(of(&along, Vectors::EVERYTHING).contains(loops), "{along}");
        // As long as the index around it says.
        let longer = text.replace("i in 0 .. n", "i in 0 .. j").replace("n: i64, m", "m: i64, n");
        let square = |n: i64| vec![int(n), int(n), floats(n * n), floats(n), floats(n)];
        let made = |n: i64| square(n.min(30));
        assert!(marked(&longer, Vectors::EVERYTHING, &made).contains("for par (j"), "{longer}");
    }
}
