//! Several iterations at once: which loops are marked for it, what the marks look like, and that the
//! evaluator takes them as machines do, so that a wrong mark shows.

use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Loops, Reach, Target, Vectors};
use jut_loop::{eval, print, read};

pub(crate) fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn run(program: &LoopProgram, args: &[Flat]) -> String {
    format!("{:?}", eval::run(program, LoopFuncId::from_u32(0), args))
}

/// The text for a target, after having compared what comes out of it.
pub(crate) fn marked(text: &str, vectors: Vectors, args: &dyn Fn(i64) -> Vec<Flat>) -> String {
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

pub(crate) fn int(n: i64) -> Flat {
    Flat::Scalar(jut_ir::Literal::I64(n))
}

pub(crate) fn floats(n: i64) -> Flat {
    Flat::Buffer(Cells::F64((0..n).map(|k| (k * k % 37) as f64 / 7.0 - 2.0).collect()))
}

pub(crate) fn ints(n: i64) -> Flat {
    Flat::Buffer(Cells::I64((0..n).map(|k| k * 5 % n.max(1)).collect()))
}

/// A function of n, a buffer x that is read and a buffer y, of `cells`, that is written.
fn function(role: &str, body: &str) -> String {
    format!("loop def f(n: i64, x: in f64[n], y: {role} f64[n + 1], k: in i64[n]) = {{\n{body}\n}}")
}

fn arguments(n: i64) -> Vec<Flat> {
    vec![int(n), floats(n), floats(n + 1), ints(n)]
}

pub(crate) fn of(role: &str, body: &str) -> String {
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

/// What is added to two neighbours of a cell, by a loop that adds up something else besides.
const NEIGHBOURS: &str = "
loop def f(n: i64, x: in f64[n], y: inout f64[n + 1], k: in i64[n]) -> (f64) = {
  (s) = for ORDER (i in 0 .. n) carry (s_1 = 0.5) {
    a = x[i]
    b = a * a
    c = b - 0.25
    d = c * a
    j = i + FIRST
    e = y[j]
    f = e + c
    y[j] = f
    l = i + SECOND
    g = y[l]
    h = g + d
    y[l] = h
    s_2 = s_1 + d
    (s_2)
  }
  (s)
}";

#[test]
fn neighbours_are_added_to_together_where_what_is_first_in_the_loop_is_first_in_the_body() {
    // Long vectors are worth arranging the updates first.
    let short = Vectors { together: 4, ..Vectors::EVERYTHING };
    for (order, first, second, together) in [
        ("down", "0", "1", true),
        ("down", "1", "0", false),
        ("up", "1", "0", true),
        ("up", "0", "1", false),
    ] {
        let text = NEIGHBOURS.replace("ORDER", order);
        let text = text.replace("FIRST", first).replace("SECOND", second);
        let text = marked(&text, short, &arguments);
        let vector = format!("for {order} vector 8 (i in 0 .. n)");
        assert_eq!(text.contains(&vector), together, "{text}");
    }
    // Nor need there be a sum.
    let none = NEIGHBOURS.replace(" carry (s_1 = 0.5)", "").replace("  (s) = for", "  for");
    let none = none.replace("    s_2 = s_1 + d\n    (s_2)\n", "").replace("  (s)\n", "");
    let none = none.replace(" -> (f64)", "").replace("FIRST", "0").replace("SECOND", "1");
    let down = none.replace("ORDER", "down");
    let text = marked(&down, Vectors::EVERYTHING, &arguments);
    assert!(text.contains("for down vector 8 (i in 0 .. n)"), "{text}");
    // Sums by lanes go up.
    let lanes = NEIGHBOURS.replace("for ORDER (i in 0 .. n) carry (s_1 = 0.5)", "LANES");
    let lanes = lanes.replace("LANES", "lanes (i in 0 .. n) carry (s_1)");
    for (first, second, together) in [("1", "0", true), ("0", "1", false)] {
        let text = lanes.replace("FIRST", first).replace("SECOND", second);
        let text = marked(&text, short, &arguments);
        assert_eq!(text.contains("lanes vector 8 masked (i in 0 .. n)"), together, "{text}");
    }
}

#[test]
fn iterations_that_are_a_vector_apart_do_not_meet() {
    let body = |distance: i64| {
        format!(
            "loop def f(n: i64, y: inout f64[n + 9]) = {{
               for up (i in 0 .. n) {{
                 a = y[i]
                 b = a + 1.0
                 j = i + {distance}
                 y[j] = b
               }}
             }}"
        )
    };
    for (distance, apart) in [(1, false), (7, false), (8, true), (9, true)] {
        let arguments = |n: i64| vec![int(n), floats(n + 9)];
        let text = marked(&body(distance), Vectors::EVERYTHING, &arguments);
        assert_eq!(text.contains("for up vector 8 masked (i"), apart, "{text}");
    }
}

/// The loop back through an elimination: a row, and those behind it.
const ELIMINATION: &str = "
loop def f(n: i64, a: in f64[n*n], out: out f64[n*n]) -> (f64) = {
  size = n * n
  g = alloc f64[size] @0:1..2
  copy g[size] = a
  (s) = for down (k in 0 .. n) carry (s_0 = 0.0) {
    t = k + 1
    m = n - t
    high = max(m, 0)
    row = k * n
    r = g[row ..]
    (s_1) = for down (i in 0 .. high) carry (s_2 = s_0) {
      p = t + i
      below = p * n
      q = g[below ..]
      (s_3) = for down (j in 0 .. m) carry (s_4 = s_2) {
        l = t + j
        u = q[l]
        v = -u
        w = v * 0.25
        x = w * u
        y = r[l]
        z = y + w
        r[l] = z
        q[l] = x
        s_5 = s_4 + x
        (s_5)
      }
      (s_3)
    }
    (s_1)
  }
  copy out[size] = g
  (s)
}";

#[test]
fn rows_behind_a_row_are_other_cells() {
    let arguments = |n: i64| {
        let n = n.min(30);
        vec![int(n), floats(n * n), floats(n * n)]
    };
    let is_marked = |from: &str, to: &str| {
        assert!(ELIMINATION.contains(from), "{from}");
        let text = marked(&ELIMINATION.replace(from, to), Vectors::EVERYTHING, &arguments);
        text.contains("for down vector 8 (j in 0 .. m)")
    };
    assert!(is_marked("", ""));
    // The first of them is the row itself.
    assert!(!is_marked("p = t + i", "p = k + i"));
    // Rows are not as long as the loop is.
    assert!(!is_marked("below = p * n", "below = p * k"));
    // It is not known that there are so many rows.
    assert!(!is_marked("high = max(m, 0)", "high = max(m, 1)"));
    // The loop goes on behind the end of the row.
    let long = ELIMINATION.replace("j in 0 .. m", "j in 0 .. n").replace("l = t + j", "l = j + 0");
    assert!(marked(&long, Vectors::EVERYTHING, &arguments).contains("for down vector 8 (j in"));
    let long = ELIMINATION.replace("j in 0 .. m", "j in 0 .. n");
    let long = long.replace("g = alloc f64[size]", "end = size + n\n  g = alloc f64[end]");
    let target = Target { vectors: Some(Vectors::EVERYTHING), ..Target::default() };
    let made = print::print_program(&for_target(&program(&long), &target));
    assert!(!made.contains("for down vector"), "{made}");
}

#[test]
fn halves_of_integers_are_taken_together_and_what_may_end_in_a_check_too() {
    let sum = |by: &str| {
        format!(
            "(s) = lanes (i in 0 .. n) carry (s_1) {{
               m = i - 9
               p = m * i
               q = p / {by}
               r = q % {by}
               j = max(r, 0)
               check j < n @0:1..2
               a = x[j]
               s_2 = s_1 + a
               (s_2)
             }}
             y[0] = s"
        )
    };
    for (by, together) in [("2", true), ("16", true), ("3", false), ("n", false)] {
        let by = sum(by).replace("/ n", "/ l").replace("% n", "% l");
        let text = of("out", &format!("l = max(n, 1)\n{by}"));
        assert_eq!(text.contains("lanes vector 8 masked (i"), together, "{text}");
    }
    let body = "
  for up (i in 0 .. n) {
    j = k[i]
    check j < n @0:1..2
    a = x[j]
    b = a * 2.0
    y[i] = b
  }";
    let calling = Vectors { loops: Loops::CallsAndProducts, ..Vectors::EVERYTHING };
    for (body, together) in [(body, true), (&body.replace("check j < n @0:1..2", ""), false)] {
        let text = marked(&function("out", body), calling, &arguments);
        assert_eq!(text.contains("for up vector 8 masked (i"), together, "{text}");
    }
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
    assert!(!is_marked(Vectors { reach: Reach::Neighbours, ..everything }, gathers));
    assert!(!is_marked(Vectors { integers: false, ..everything }, gathers));
    assert!(!is_marked(Vectors { function: |_| false, ..everything }, calls));
    assert!(!is_marked(Vectors { operation: |_| false, ..everything }, plain));
    let calling = Vectors { loops: Loops::CallsAndProducts, ..everything };
    assert!(is_marked(calling, calls) && !is_marked(calling, plain));
    let products = &plain.replace("a * a", "times(a, a)");
    assert!(is_marked(calling, products), "{products}");
}

#[test]
fn a_target_that_takes_strides_takes_floats_of_64_bits_with_enough_to_compute() {
    let turned = "
  last = n - 1
  for par (i in 0 .. n) {
    j = last - i
    a = x[j]
    b = a * a
    c = b * a
    y[i] = c
  }";
    let moved =
        &turned.replace("y[i] = c", "y[i] = a").replace("    b = a * a\n    c = b * a\n", "");
    // Its first cell is the same for all iterations, but is not known to be.
    let beside = &turned
        .replace("j = last - i", "none = i * 0\n    row = x[none ..]")
        .replace("x[j]", "row[i]");
    let narrow = |body: &str| {
        let body = body.replace("a = x[j]", "s = x[j]\n    a = f64(s)");
        let body = body.replace("a = row[i]", "s = row[i]\n    a = f64(s)");
        function("out", &body).replace("x: in f64", "x: in f32")
    };
    let wide = |body: &str| function("out", body);
    let strides = Vectors { reach: Reach::Strides, ..Vectors::EVERYTHING };
    let is_marked = |text: String, vectors: Vectors| {
        let given = |n: i64| match text.contains("f32") {
            true => {
                let x = Flat::Buffer(Cells::F32((0..n).map(|k| k as f32 / 4.0).collect()));
                vec![int(n), x, floats(n + 1), ints(n)]
            }
            false => arguments(n),
        };
        marked(&text, vectors, &given).contains("vector")
    };
    for (text, taken) in [
        (wide(turned), true),
        (wide(beside), true),
        (wide(moved), false),
        (narrow(turned), false),
        (narrow(beside), false),
    ] {
        assert!(is_marked(text.clone(), Vectors::EVERYTHING), "{text}");
        assert_eq!(is_marked(text.clone(), strides), taken, "{text}");
    }
    let neighbours = Vectors { reach: Reach::Neighbours, ..Vectors::EVERYTHING };
    assert!(!is_marked(wide(turned), neighbours));
}

#[test]
fn a_mark_that_no_loop_can_have_is_not_read() {
    let wrong = [
        ("for par", "for par vector 3"),
        ("for par", "for while vector 4"),
        ("for par", "for par vector 8 stores"),
    ];
    for (from, to) in wrong {
        let text = function("out", &WRITES.replace("for ORDER", from).replace(from, to));
        assert!(read::read_program(0, &text).is_err(), "{text}");
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
    // What is left of the loop as it was is not taken apart again, and nothing is asked at the ends.
    for (asked, times) in [("if runs {", 1), ("if gathers {", 1), ("if at_end", 0)] {
        assert_eq!(text.matches(asked).count(), times, "{asked}\n{text}");
    }
    let unknown =
        marked(&function("inout", &body).replace("64[n]", "64[]"), Vectors::EVERYTHING, &arguments);
    for asked in ["if peels {", "if gathers {", "if at_end"] {
        assert_eq!(unknown.matches(asked).count(), 1, "{asked}\n{unknown}");
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

#[test]
fn paths_that_go_their_way_step_by_step_are_taken_several_at_a_time() {
    let body = |order: &str| {
        format!(
            "loop def f(n: i64, m: i64, x: in f64[n*m], y: out f64[n], tape: inout f64[n*m]) = {{
               for par (i in 0 .. n) {{
                 at = i * m
                 row = x[at ..]
                 kept = tape[at ..]
                 (s, u) = for {order} (j in 0 .. m) carry (s_1 = 0.5, u_1 = 1.0) {{
                   v = row[j]
                   a = s_1 + 1.0
                   p = times(a, v)
                   kept[j] = s_1
                   q = sqrt(a)
                   b = times(u_1, q)
                   c = b + p
                   d = times(c, 0.5)
                   e = exp(v)
                   g = d - e
                   (q, g)
                 }}
                 z = s + u
                 y[i] = z
               }}
             }}"
        )
    };
    let arguments = |n: i64| {
        let m = n % 5;
        vec![int(n), int(m), floats(n * m), floats(n), floats(n * m)]
    };
    let of = |text: &str, vectors: Vectors| marked(text, vectors, &arguments);
    for order in ["up", "down"] {
        let text = body(order);
        let taken = of(&text, Vectors::EVERYTHING);
        assert!(taken.contains("for par vector 8 (i"), "{taken}");
        // Products are looked at once, before the store, which nothing reads.
        assert!(taken.contains("g = d - e\n      kept[j] = s_1\n"), "{taken}");
        let nested = Vectors { nested: false, ..Vectors::EVERYTHING };
        assert!(of(&text, nested).contains("for par (i"), "{text}");
        // What is read back stays behind its store.
        let again = text
            .replace("e = exp(v)", "w = kept[j]\n e = exp(w)")
            .replace("kept[j] = s_1", "kept[j] = p");
        let taken = of(&again, Vectors::EVERYTHING);
        assert!(taken.contains("for par vector 8 (i"), "{taken}");
        assert!(taken.contains("kept[j] = p\n      q = "), "{taken}");
        // One path after the other, with a check behind a store, or with another function: as it was.
        let ordered = text.replace("for par (i", "for up (i");
        let checked = text.replace("q = sqrt(a)", "check j < m @0:0..1\n q = sqrt(a)");
        let called = text.replace("exp(v)", "pow(v, a)");
        let wide = |symbol: &str| symbol == "jut_exp";
        for (text, wide) in [(ordered, wide), (checked, wide), (called, wide)] {
            let vectors = Vectors { wide, ..Vectors::EVERYTHING };
            let taken = of(&text, vectors);
            assert!(!taken.contains("vector 8 (i"), "{taken}");
        }
    }
}

#[test]
fn updates_of_neighbours_are_arranged_as_vectors_take_them() {
    let body = |order: &str, [first, second, third]: [&str; 3]| {
        // Too much to be computed again for each neighbour.
        let terms: Vec<String> = (0..30).map(|k| format!("t{} = t{k} * t0", k + 1)).collect();
        format!(
            "for {order} (i in 1 .. n) {{
               t0 = x[i]
               left = i - 1
               right = i + 1
               {}
               a = y[{first}]
               b = a + t30
               y[{first}] = b
               c = y[{second}]
               d = c + t29
               e = d + t28
               y[{second}] = e
               f = y[{third}]
               g = f + t27
               y[{third}] = g
             }}",
            terms.join("\n")
        )
    };
    let orders = [["left", "i", "right"], ["right", "left", "i"], ["i", "right", "left"]];
    for order in ["up", "down"] {
        for places in orders {
            let text = of("inout", &body(order, places));
            assert!(text.contains(&format!("for {order} vector 8")), "{text}");
            let at = |place: &str| text.find(&format!("= y[{place}]"));
            assert_eq!(at("right") < at("i") && at("i") < at("left"), order == "up", "{text}");
        }
    }
    let short = Vectors { together: 4, ..Vectors::EVERYTHING };
    let text = marked(&function("inout", &body("up", orders[0])), short, &arguments);
    assert!(!text.contains("vector"), "{text}");
}

#[test]
fn a_column_is_changed_in_several_rows_at_a_time() {
    let body = "loop def f(n: i64, m: i64, x: in f64[n], y: inout f64[n*m]) -> (f64) = {
        (t) = for up (j in 0 .. m) carry (t_1 = 0.0) {
          (s) = lanes (i in 0 .. n) carry (s_1) {
            a = x[i]
            at = i * m
            row = y[at ..]
            b = row[j]
            c = a * b
            d = c + a
            e = d * c
            g = e * 0.5
            row[j] = g
            s_2 = s_1 + d
            (s_2)
          }
          u = t_1 + s
          (u)
        }
        (t)
      }";
    let arguments = |n: i64| {
        let m = n % 4;
        vec![int(n), int(m), floats(n), floats(n * m)]
    };
    let of = |text: &str| marked(text, Vectors::EVERYTHING, &arguments);
    let taken = of(body);
    assert!(taken.contains("lanes vector 8 masked (i in 0 .. n)"), "{taken}");
    // Another cell of the row, rows that may be of no length, and hardly anything to compute.
    let others = [
        body.replace("b = row[j]", "b = y[j]"),
        body.replace("j in 0 .. m", "j in 0 .. 1").replace("row[j]", "row[0]"),
        body.replace("d = c + a\n", "")
            .replace("e = d * c\n", "")
            .replace("e * 0.5", "a + b")
            .replace("s_1 + d", "s_1 + c"),
    ];
    for other in others {
        let arguments = |n: i64| vec![int(n), int(1), floats(n), floats(n)];
        let taken = marked(&other, Vectors::EVERYTHING, &arguments);
        assert!(!taken.contains("vector 8 masked (i in 0 .. n)"), "{taken}");
    }
}
