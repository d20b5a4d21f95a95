//! Loops taken apart so that mathematical functions take many numbers at once: what becomes of the
//! text, and that no bit and no error changes.

use crate::support::loops::PRICES;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::{for_target, strip_mine};
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Loops, StripMine, Target, Vectors};
use jut_loop::{eval, print, read};

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}", e.span))
}

const KERNELS: Target = Target { strip_mine: StripMine::Kernels, vectors: None, shares: None };

/// The text after taking apart, after having compared the outcomes for some lengths.
fn apart(text: &str, lengths: &[i64], arguments: impl Fn(i64) -> Vec<Flat>) -> String {
    apart_for(&KERNELS, text, lengths, arguments)
}

/// The same for a target, which takes vectors if it has them.
fn apart_for(
    target: &Target,
    text: &str,
    lengths: &[i64],
    arguments: impl Fn(i64) -> Vec<Flat>,
) -> String {
    let plain = program(text);
    assert!(strip_mine::run(&plain, target).is_some(), "a loop is taken apart");
    let mined = for_target(&plain, target);
    let text = print::print_program(&mined);
    assert_eq!(print::print_program(&program(&text)), text, "it reads back");
    for n in lengths {
        let run = |program| {
            let outcome = eval::run(program, LoopFuncId::from_u32(0), &arguments(*n));
            format!("{outcome:?}")
        };
        assert_eq!(run(&plain), run(&mined), "{n}\n{text}");
    }
    text
}

fn number(n: i64) -> Flat {
    Flat::Scalar(jut_ir::Literal::I64(n))
}

fn floats(n: i64) -> Flat {
    Flat::Buffer(Cells::F64((0..n).map(|k| (k * k % 37) as f64 / 7.0 - 2.0).collect()))
}

const LENGTHS: &[i64] = &[0, 1, 5, 8, 1023, 1024, 1025, 2500];

#[test]
fn a_sum_of_exponentials_fills_a_buffer_calls_once_and_sums_in_the_same_order() {
    let text = "
loop def f(n: i64, m: f64, x: in f64[n], t: out f64[n]) -> (f64) = {
  (s) = lanes (i in 0 .. n) carry (s_1) {
    a = x[i]
    b = a - m
    e = exp(b)
    t[i] = e
    s_2 = s_1 + e
    (s_2)
  }
  (s)
}";
    let made = apart(text, LENGTHS, |n| {
        vec![number(n), Flat::Scalar(jut_ir::Literal::F64(0.3)), floats(n), floats(n)]
    });
    assert!(made.contains("kernel exp(") && !made.contains("= exp("), "{made}");
    assert_eq!(made.matches("alloc f64[1024]").count(), 1, "{made}");
}

#[test]
fn one_kernel_makes_sines_and_cosines_of_one_number() {
    let text = "
loop def f(n: i64, x: in f64[n], t: out f64[n]) -> (f64) = {
  (s) = lanes (i in 0 .. n) carry (s_1) {
    a = x[i]
    FIRST
    b = a * 2.0
    SECOND
    e = u - v
    t[i] = e
    f = sin(e)
    s_2 = s_1 + f
    (s_2)
  }
  (s)
}";
    let arguments = |n| vec![number(n), floats(n), floats(n)];
    let both = [("u = sin(a)", "v = cos(a)"), ("v = cos(a)", "u = sin(a)")];
    for (first, second) in both {
        let text = text.replace("FIRST", first).replace("SECOND", second);
        let made = apart(&text, LENGTHS, arguments);
        assert_eq!(made.matches("kernel sin_cos(").count(), 1, "{made}");
        assert_eq!(made.matches("kernel sin(").count(), 1, "{made}");
        assert!(!made.contains("kernel cos("), "{made}");
        // The argument is stored once.
        assert_eq!(made.matches("] = a").count(), 1, "{made}");
        // Which of both buffers holds the sines matters.
        let (head, rest) = made.split_once("kernel sin_cos(").expect("a kernel");
        let (buffers, rest) = rest.split_once(", taken)").expect("its arguments");
        let (x, y) = buffers.split_once(", ").expect("two buffers");
        let wrong = format!("{head}kernel sin_cos({y}, {x}, taken){rest}");
        let run = |text: &str| {
            format!("{:?}", eval::run(&program(text), LoopFuncId::from_u32(0), &arguments(9)))
        };
        assert_ne!(run(&wrong), run(&made));
    }
    // Of two numbers.
    let text = text.replace("FIRST", "u = sin(a)").replace("SECOND", "v = cos(b)");
    assert!(!apart(&text, LENGTHS, arguments).contains("sin_cos"));
}

#[test]
fn a_function_of_two_arguments_has_a_buffer_for_each() {
    let text = "
loop def f(n: i64, p: f64, x: in f64[n], y: inout f64[n]) = {
  for par (i in 0 .. n) {
    a = x[i]
    b = abs(a)
    c = pow(b, p)
    q = p - 1.0
    d = pow(b, q)
    e = c * d
    f = pow(e, a)
    y[i] = f
  }
}";
    let arguments =
        |n| vec![number(n), Flat::Scalar(jut_ir::Literal::F64(1.7)), floats(n), floats(n)];
    let made = apart(text, LENGTHS, arguments);
    assert_eq!(made.matches("kernel pow(").count(), 3, "{made}");
    // The third call has the buffers of the first two.
    assert!(made.contains("alloc f64[4096]"), "{made}");

    // A loop of eight at a time where the first stage sums.
    let text = "
loop def f(n: i64, p: f64, x: in f64[n*n], y: inout f64[n]) = {
  for par (i in 0 .. n) {
    r = i * n
    row = x[r ..]
    (s) = for up (j in 0 .. n) carry (s_1 = 0.0) {
      a = row[j]
      b = a * a
      s_2 = s_1 + b
      (s_2)
    }
    t = pow(s, p)
    y[i] = t
  }
}";
    let vectors = Vectors { nested: false, ..Vectors::EVERYTHING };
    let target = Target { strip_mine: StripMine::Loops, vectors: Some(vectors), shares: None };
    let arguments = |n: i64| {
        vec![number(n), Flat::Scalar(jut_ir::Literal::F64(-0.6)), floats(n * n), floats(n)]
    };
    let made = apart_for(&target, text, &[0, 1, 5, 9, 40], arguments);
    assert_eq!(made.matches("= pow(").count(), 1, "{made}");
    let (before, _) = made.split_once("= pow(").unwrap_or_default();
    assert!(before.rsplit_once("for par").is_some_and(|(_, l)| l.contains("vector 8")), "{made}");
}

#[test]
fn a_sum_that_stores_to_the_tape_comes_first() {
    let text = |inside: &str, then: &str| {
        format!(
            "
loop def f(n: i64, x: in f64[n*n], t: out f64[n*n], y: inout f64[n]) = {{
  for up (i in 0 .. n) {{
    r = i * n
    row = x[r ..]
    tape = t[r ..]
    (s) = for up (j in 0 .. n) carry (s_1 = 0.0) {{
      a = row[j]
      {inside}
      tape[j] = d
      b = d * d
      s_2 = s_1 + b
      (s_2)
    }}
    e = exp(s)
    y[i] = e
    {then}
  }}
}}"
        )
    };
    let arguments = |n: i64| vec![number(n), floats(n * n), floats(n * n), floats(n)];
    let plain = "d = a - 0.5";
    let made = apart(&text(plain, "g = e + 1.0"), &[0, 1, 5, 9, 40], arguments);
    let (before, after) = made.split_once("kernel exp(").expect("the call is taken out");
    assert!(before.contains("tape_1[") && !after.contains("tape"), "{made}");

    // What it adds up where the others cannot see it depends on the order of the iterations.
    let adds = "b_1 = t[j]\n      b_2 = b_1 * 0.5\n      d = a - b_2\n      t[j] = d";
    let made = apart(&text(adds, ""), &[0, 1, 5, 9, 40], arguments);
    let (before, _) = made.split_once("kernel exp(").expect("the call is taken out");
    assert!(!before.contains("for par"), "{made}");
    let vectors = Some(Vectors::EVERYTHING);
    let target = Target { strip_mine: StripMine::Loops, vectors, shares: None };
    for inside in [plain, adds] {
        apart_for(&target, &text(inside, ""), &[0, 1, 5, 9, 40], arguments);
    }

    // Another part of the body that looks at the tape would see those of later iterations, and a sum that looks at what
    // another part stores not that of earlier ones.
    for (inside, then) in [
        (plain, "g = t[i]\n    y[i] = g"),
        (plain, "t[i] = e"),
        ("b_1 = y[j]\n      d = a - b_1", ""),
    ] {
        let program = program(&text(inside, then));
        assert!(strip_mine::run(&program, &KERNELS).is_none(), "{inside} {then}");
    }
}

#[test]
fn functions_of_functions_take_turns_in_one_buffer() {
    let text = "
loop def f(n: i64, x: inout f64[n]) = {
  for par (i in 0 .. n) {
    a = x[i]
    e = exp(a)
    l = log1p(e)
    x[i] = l
  }
}";
    let made = apart(text, LENGTHS, |n| vec![number(n), floats(n)]);
    assert!(made.contains("kernel exp(") && made.contains("kernel log1p("), "{made}");
    assert!(made.contains("alloc f64[1024]"), "{made}");
}

#[test]
fn a_sum_in_the_body_is_computed_once_and_kept() {
    let text = "
loop def f(n: i64, x: in f64[n*n], y: out f64[n]) = {
  for par (i in 0 .. n) {
    r = i * n
    (s) = lanes (j in 0 .. n) carry (s_1) {
      k = r + j
      a = x[k]
      c = sin(a)
      s_2 = s_1 + c
      (s_2)
    }
    t = tanh(s)
    z = t * s
    y[i] = z
  }
}";
    let made = apart(text, &[0, 1, 7, 40], |n| vec![number(n), floats(n * n), floats(n)]);
    assert_eq!(made.matches("kernel sin(").count(), 1, "{made}");
    assert_eq!(made.matches("kernel tanh(").count(), 1, "{made}");
}

#[test]
fn the_first_iteration_that_fails_is_the_one_that_is_reported() {
    let text = "
loop def f(n: i64, x: in f64[n], k: in i64[n]) -> (f64) = {
  (s) = lanes (i in 0 .. n) carry (s_1) {
    j = k[i]
    check j < n @0:0..1
    a = x[j]
    e = exp(a)
    s_2 = s_1 + e
    (s_2)
  }
  (s)
}";
    let rows = |n: i64| Flat::Buffer(Cells::I64((0..n).map(|k| (k * 7) % (n + n / 9)).collect()));
    let made = apart(text, LENGTHS, |n| vec![number(n), floats(n), rows(n)]);
    assert!(made.contains("kernel exp("), "{made}");
    assert_eq!(made.matches("check").count(), 1, "{made}");
}

#[test]
fn loops_stay_whole_where_an_iteration_reads_what_another_one_stores() {
    for text in [
        // The argument of the call depends on the iteration before.
        "loop def f(n: i64, x: inout f64[n]) -> (f64) = {
  (s) = lanes (i in 1 .. n) carry (s_1) {
    h = i - 1
    a = x[h]
    e = exp(a)
    x[i] = e
    s_2 = s_1 + e
    (s_2)
  }
  (s)
}",
        // What is called depends on a carried value.
        "loop def f(n: i64) -> (f64) = {
  (a) = for up (i in 0 .. n) carry (b = 0.5) {
    c = cos(b)
    (c)
  }
  (a)
}",
        // A call that is the same in every iteration, and three iterations.
        "loop def f(n: i64, m: f64, x: out f64[n]) = {
  for par (i in 0 .. n) {
    e = exp(m)
    x[i] = e
  }
  for par (i_1 in 0 .. 3) {
    a = f64(i_1)
    e_1 = exp(a)
    x[i_1] = e_1
  }
}",
    ] {
        assert!(strip_mine::run(&program(text), &KERNELS).is_none(), "{text}");
    }
}

fn prices(n: i64) -> Vec<Flat> {
    vec![number(n), Flat::Scalar(jut_ir::Literal::F64(0.03)), floats(n), floats(n)]
}

#[test]
fn numbers_are_carried_round_the_last_stage_in_the_order_of_the_loop() {
    for order in ["up", "down"] {
        let made = apart(&PRICES.replace("ORDER", order), LENGTHS, prices);
        assert!(made.contains("kernel exp(") && !made.contains("= exp("), "{made}");
        let carrying = format!("for {order} (block in 0 .. blocks_1) carry (p_3 = s, b_3 = 0.0)");
        assert!(made.contains(&carrying), "{made}");
        let last = format!("for {order} (j in start .. end) carry (p_1 = p_3, b_1 = b_3)");
        assert!(made.contains(&last), "{made}");
    }
}

/// A recursion whose logarithms are summed up: the sum needs them, the state does not.
const LIKELIHOOD: &str = "
loop def f(n: i64, a: f64, z: in f64[n], w: out f64[n]) -> (f64, f64) = {
  (v, l) = for ORDER (j in 0 .. n) carry (v_1 = 1.0, l_1 = 0.0) {
    z_1 = z[j]
    z_2 = z_1 * z_1
    v_2 = v_1 * a
    v_3 = v_2 + z_2
    b = log(v_3)
    c = z_2 / v_3
    d = c + v_1
    l_2 = l_1 + b
    l_3 = l_2 + d
    w[j] = c
    (v_3, l_3)
  }
  (v, l)
}";

#[test]
fn a_number_that_a_function_needs_goes_round_a_stage_before_it() {
    for order in ["up", "down"] {
        let made = apart(&LIKELIHOOD.replace("ORDER", order), LENGTHS, prices);
        assert!(made.contains("kernel log(") && !made.contains("= log("), "{made}");
        let first = format!("(v_5) = for {order} (j_1 in start .. end) carry (v_6 = v_4)");
        assert!(made.contains(&first), "{made}");
        let last = format!("(l_5) = for {order} (j in start .. end) carry (l_1 = l_4)");
        assert!(made.contains(&last), "{made}");
        // The state before the iteration, the one behind it, and the argument of the logarithm.
        assert!(made.contains("alloc f64[3072]"), "{made}");
        let made = apart_for(&LOOPS, &LIKELIHOOD.replace("ORDER", order), LENGTHS, prices);
        assert!(made.contains("for par vector 8") && made.matches("= log(").count() == 1, "{made}");
    }
}

#[test]
fn numbers_that_need_each_other_and_a_number_that_needs_a_function_of_another_go_round_in_turn() {
    let text = "
loop def f(n: i64, s: f64, z: in f64[n], p: out f64[n]) -> (f64, f64, f64, f64) = {
  (a, b, c, d) = for up (j in 0 .. n) carry (a_1 = 0.1, b_1 = 0.2, c_1 = 0.3, d_1 = 0.0) {
    z_1 = z[j]
    t = a_1 * 0.5
    b_2 = t + z_1
    e = sin(a_1)
    c_2 = c_1 * s
    c_3 = c_2 + e
    g = exp(c_1)
    d_2 = d_1 + g
    p[j] = d_2
    (b_1, b_2, c_3, d_2)
  }
  (a, b, c, d)
}";
    let made = apart(text, LENGTHS, prices);
    for part in
        ["kernel sin(", "kernel exp(", "(a_3, b_4) = for up", "(c_5) = for up", "(d_4) = for up"]
    {
        assert!(made.contains(part), "{part}: {made}");
    }
}

#[test]
fn a_function_of_what_it_gives_itself_stays_in_its_loop() {
    let text = "
loop def f(n: i64, s: f64, z: in f64[n], p: out f64[n]) -> (f64, f64) = {
  (a, l) = for up (j in 0 .. n) carry (a_1 = s, l_1 = 0.0) {
    z_1 = z[j]
    t = a_1 + z_1
    a_2 = sin(t)
    b = exp(a_2)
    l_2 = l_1 + b
    p[j] = a_2
    (a_2, l_2)
  }
  (a, l)
}";
    assert!(strip_mine::run(&program(text), &KERNELS).is_none());
    // Nor are two taken apart that need each other by way of an integer.
    let counted = text.replace("t = a_1 + z_1", "k = i64(l_1)\n    t = f64(k)");
    assert!(strip_mine::run(&program(&counted), &KERNELS).is_none());
}

#[test]
fn a_number_that_takes_a_division_which_is_needed_again_stays_in_the_last_stage() {
    let text = LIKELIHOOD.replace("ORDER", "up");
    let divided = text.replace("v_3 = v_2 + z_2", "u = z_2 / v_1\n    v_3 = v_2 + u");
    assert!(strip_mine::run(&program(&divided), &KERNELS).is_some(), "{divided}");
    let again = divided.replace("d = c + v_1", "d = c + u");
    assert!(strip_mine::run(&program(&again), &KERNELS).is_none(), "{again}");
}

#[test]
fn an_iteration_that_fails_by_what_is_carried_fails_before_any_later_one() {
    let text = "
loop def f(n: i64, s: f64, z: in f64[n], p: out f64[n]) -> (i64, f64) = {
  (k, l) = for up (j in 0 .. n) carry (k_1 = 0, l_1 = 0.0) {
    check k_1 < 1500 @0:1..2
    z_1 = z[j]
    k_2 = k_1 + 1
    y = f64(k_1)
    t = y * s
    b = exp(t)
    l_2 = l_1 + b
    l_3 = l_2 + z_1
    p[j] = l_3
    (k_2, l_3)
  }
  (k, l)
}";
    let made = apart(text, LENGTHS, prices);
    assert!(made.contains("(k_4) = for up") && made.contains("kernel exp("), "{made}");
}

/// A target with vectors of its own, which leaves other loops as they are.
const LOOPS: Target = Target {
    strip_mine: StripMine::Loops,
    vectors: Some(Vectors { loops: Loops::CallsAndProducts, ..Vectors::EVERYTHING }),
    shares: None,
};

#[test]
fn a_function_in_a_loop_that_carries_is_called_in_a_loop_of_vectors() {
    for order in ["up", "down"] {
        let made = apart_for(&LOOPS, &PRICES.replace("ORDER", order), LENGTHS, prices);
        assert!(!made.contains("kernel"), "{made}");
        let (first, last) =
            made.split_once("for par vector 8 masked (j_1 in start .. end)").expect(&made);
        let (first, last) = (first.matches("exp(").count(), last.matches("exp(").count());
        assert_eq!((first, last), (0, 1), "{made}");
    }
}

#[test]
fn a_sum_beside_a_function_leaves_its_arguments_in_a_buffer_that_vectors_replace() {
    let text = "
loop def f(n: i64, x: in f64[n*n]) -> (f64) = {
  (q) = lanes (i in 0 .. n) carry (q_1) {
    r = i * n
    x_1 = x[r ..]
    (s) = lanes (j in 0 .. n) carry (s_1) {
      a = x_1[j]
      s_2 = s_1 + a
      (s_2)
    }
    e = exp(s)
    q_2 = q_1 + e
    (q_2)
  }
  (q)
}";
    let made = apart_for(&LOOPS, text, &[0, 1, 8, 40], |n| vec![number(n), floats(n * n)]);
    assert!(made.contains("for par (i_2 in start .. end)"), "{made}");
    assert!(made.contains("for par vector 8 masked (k in 0 .. taken)"), "{made}");
    assert_eq!(made.matches("exp(").count(), 1, "{made}");
}

#[test]
fn what_vectors_take_as_it_is_stays_whole() {
    let text = "
loop def f(n: i64, x: inout f64[n]) = {
  for par (i in 0 .. n) {
    a = x[i]
    e = exp(a)
    x[i] = e
  }
}";
    assert!(strip_mine::run(&program(text), &LOOPS).is_none());
    assert!(strip_mine::run(&program(text), &KERNELS).is_some());
    assert!(strip_mine::run(&program(text), &Target { vectors: None, ..LOOPS }).is_none());
    assert!(strip_mine::run(&program(text), &Target::default()).is_none());
}

#[test]
fn bounds_as_far_apart_as_integers_are_run_no_part_of_nothing() {
    for (k, low) in [(0, "0"), (1, "k"), (i64::MAX, "k"), (-2, "k")] {
        let text = format!(
            "
loop def f(k: i64, n: i64) -> (f64) = {{
  (s) = lanes (i in {low} .. n) carry (s_1) {{
    a = f64(i)
    b = exp(a)
    s_2 = s_1 + b
    (s_2)
  }}
  (s)
}}"
        );
        let lengths = [i64::MIN, i64::MIN + 1, -3, -1, 0, 1];
        apart(&text, &lengths, |n| vec![number(k), number(n)]);
    }
}
