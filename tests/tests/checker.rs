//! What is refused, with its code and on its line; and what must not be.
//!
//! Each fragment marks the line that the message is about with a comment that gives the code. It
//! does not matter whether reading the text or checking the definition finds the mistake.

use jut_ir::check::{check_function, lint_program};
use jut_ir::{Check, Diagnostic, Program, Rhs, Severity};

/// Reads and checks a text.
fn load(source: &str) -> Result<Program, Vec<Diagnostic>> {
    let loaded = jut_text::load(source, 0);
    loaded.program.ok_or(loaded.diagnostics)
}

fn line_of(source: &str, offset: u32) -> usize {
    source[..offset as usize].matches('\n').count() + 1
}

/// The first error must have the code and the line that the fragment marks.
fn refuse(source: &str) {
    let (line, code) = source
        .lines()
        .enumerate()
        .find_map(|(k, line)| Some((k + 1, line.split_once("// J").map(|(_, code)| code.trim())?)))
        .expect("the fragment marks no line");
    let errors = match load(source) {
        Ok(_) => panic!("accepted, but should be refused with J{code}:\n{source}"),
        Err(errors) => errors,
    };
    let mut errors = errors.into_iter().filter(|e| e.severity == Severity::Error);
    let first = errors.next().expect("refused without an error");
    assert_eq!(first.code, format!("J{code}"), "{first}\n{source}");
    assert_eq!(line_of(source, first.span.start), line, "{first}\n{source}");
}

fn accept(source: &str) {
    if let Err(errors) = load(source) {
        panic!("refused: {}\n{source}", errors[0]);
    }
}

macro_rules! refused {
    ($($name:ident: $source:literal)*) => { $(#[test] fn $name() { refuse($source) })* };
}

macro_rules! accepted {
    ($($name:ident: $source:literal)*) => { $(#[test] fn $name() { accept($source) })* };
}

// ---- names

refused! {
    an_unknown_name: "core def f(x: f64) -> f64 = {
  y = sin(z) // J010
  y
}"
    a_name_bound_inside_a_block_is_not_known_after_it: "core def f(n: i64) -> f64 = {
  check n >= 0
  y = scan par (i < n) {
    t = f64(i)
    t
  }
  z = sin(t) // J010
  z
}"
    a_name_bound_twice_in_scope: "core def f(x: f64) -> f64 = {
  x = sin(x) // J011
  x
}"
    a_name_bound_again_inside: "core def f(n: i64, x: f64) -> f64 = {
  s = acc r: f64 {
    scan par (i < n) {
      x = 1.0 // J011
      r += x
    }
  }
  s
}"
    two_definitions_of_one_name: "core def f(x: f64) -> f64 = {
  x
}
core def f(y: f64) -> f64 = { // J011
  y
}"
    an_unknown_primitive_or_function: "core def f(x: f64) -> f64 = {
  y = frobnicate(x) // J014
  y
}"
    an_unknown_constructor: "core def f(x: f64) -> f64 = {
  Frob(y) = x // J013
  y
}"
}

// ---- linear names

refused! {
    a_linear_name_in_a_non_linear_operation: "core def f(; x': f64) -> (; f64) = {
  y = sin(x') // J104
  (; x')
}"
    a_product_of_linear_names: "core def f(; x': f64) -> (; f64) = {
  (; a', b') = dup x'
  y' = a' * b' // J104
  (; y')
}"
    a_linear_name_as_an_argument_in_the_non_linear_section: "core def g(x: f64) -> f64 = {
  x
}
core def f(; x': f64) -> (; f64) = {
  y = g(x') // J101
  (; x')
}"
    a_non_linear_value_where_a_linear_one_is_needed: "core def f(x: f64; x': f64) -> (; f64) = {
  r = x * 2.0
  y' = x' + x'
  (; r) // J102
}"
    a_linear_name_used_twice: "core def f(; x': f64) -> (; f64) = {
  y' = x' + x' // J103
  (; y')
}"
    a_linear_name_used_up_by_a_loop_body: "core def f(n: i64; x': f64) -> (; f64) = {
  y' = wr r: f64 {
    scan par (i < n) {
      r += x' // J103
    }
  }
  (; y')
}"
    a_linear_parameter_never_used: "core def f(; x': f64) -> (; f64) = { // J105
  z' = zero f64
  (; z')
}"
    a_linear_name_of_a_block_never_used: "core def f(x: f64; x': f64) -> f64 = {
  y = acc s: f64 {
    z' = x * x' // J105
    s += x
  }
  y
}"
    arms_that_use_up_different_linear_names: "core def f(b: bool; x': f64) -> (; f64) = {
  y' = case b { // J503
    true -> { (; x') }
    false -> {
      z' = zero f64
      (; z')
    }
  }
  (; y')
}"
}

// ---- capabilities

refused! {
    an_unknown_capability: "core def f(; x': f64) -> () = {
  r += x' // J110
}"
    adding_into_a_capability_that_reads: "core def f(; x': f64; rd r: f64) -> () = {
  r += x' // J111
}"
    a_start_of_another_type: "core def f(n: i64, x: [n]f64, y: f64) -> f64 = {
  z = acc r: f64 = x { // J202
    r += y
  }
  z
}"
    a_sum_by_lanes_with_a_start: "core def f(x: f64, y: f64) -> f64 = {
  z = acc lanes r: f64 = x { // J202
    r += y
  }
  z
}"
    a_start_that_is_used_again: "core def f(; x': f64) -> (; f64, f64) = {
  y' = wr r: f64 = x' { }
  z' = -x' // J103
  (; y', z')
}"
    adding_to_what_is_lent: "core def f(; x': f64, y': f64) -> (; f64) = {
  x1' = lend r = x' {
    r += y' // J111
  }
  (; x1')
}"
    what_is_lent_and_not_taken_back: "core def f(; x': f64) -> (; f64) = {
  a' = lend r = x' { // J213
    a' = rd r
    (; a')
  }
  (; a')
}"
    reading_from_a_capability_that_writes: "core def f(; ; wr r: f64) -> (; f64) = {
  x' = rd r // J111
  (; x')
}"
    a_capability_passed_in_another_mode: "core def g(; ; rd r: f64) -> (; f64) = {
  x' = rd r
  (; x')
}
core def f(; ; wr r: f64) -> (; f64) = {
  x' = g(; ; r) // J111
  (; x')
}"
    the_root_of_a_slice_is_hidden_in_the_loop: "core def f(n: i64; ; rd d: [n]f64) -> (; f64) = {
  y' = wr s: f64 {
    scan par (i < n) slice (; ; r <- d) {
      a' = rd r
      s += a'
      b' = rd d[i] // J114
      s += b'
    }
  }
  (; y')
}"
    null_for_an_array: "core def g(n: i64; ; rd r: [n]f64) -> () = { }
core def f(n: i64) -> () = {
  g(n; ; null) // J115
}"
}

// ---- types and sizes

refused! {
    an_index_that_is_no_integer: "core def f(n: i64, x: [n]f64, k: f64) -> f64 = {
  y = x[k] // J201
  y
}"
    operands_of_different_types: "core def f(x: f64, n: i64) -> f64 = {
  y = x + n // J202
  y
}"
    linear_operands_of_different_types: "core def f(; x': f64, y': #(f64, f64)) -> (; f64) = {
  z' = x' + y' // J202
  (; z')
}"
    a_field_of_the_wrong_type: "data P = P(x: f64, y: f64)
core def f(n: i64) -> P = {
  p = P(1.0, n) // J202
  p
}"
    a_size_that_leaves_its_block: "core def f(n: i64) -> f64 = {
  (w, z) = acc r: f64 {
    k = n / 2
    check k >= 0
    w = scan par (j < k) { 1.0 }
    r += 1.0
    w // J203
  }
  1.0
}"
    a_size_that_is_no_parameter: "core def f(x: [n]f64) -> f64 = { // J203
  1.0
}"
    a_component_that_is_not_there: "core def f(t: #(f64, f64)) -> f64 = {
  y = t.2 // J204
  y
}"
    an_index_into_a_scalar: "core def f(x: f64) -> f64 = {
  y = x[0] // J205
  y
}"
    a_field_of_a_sum: "data S = A(x: f64) | B(x: f64)
core def f(s: S) -> f64 = {
  A(x) = s // J206
  x
}"
    a_field_with_a_size_of_its_own: "data B = B(m: i64, w: [m]f64)
core def f(b: B) -> f64 = {
  w = b.w // J207
  1.0
}"
    a_wrong_number_of_arguments: "core def g(x: f64, y: f64) -> f64 = {
  x
}
core def f(x: f64) -> f64 = {
  y = g(x) // J208
  y
}"
    a_slice_of_another_length_than_the_loop: "core def f(n: i64, m: i64, x: [n]f64) -> f64 = {
  y = acc s: f64 {
    scan par (i < m) slice (a <- x) { // J209
      s += a
    }
  }
  y
}"
    an_argument_of_another_size: "core def g(n: i64, x: [n]f64) -> f64 = {
  1.0
}
core def f(n: i64, x: [n]f64) -> f64 = {
  m = n + 1
  y = g(m, x) // J210
  y
}"
    an_equation_on_a_field_that_is_no_size: "data B = B(m: i64, w: [m]f64)
core def f(b: B, n: i64) -> f64 = {
  B(k, =n) = b // J211
  1.0
}"
    a_cast_of_the_element_type: "core def f(n: i64, x: [n]f64, m: i64) -> f64 = {
  y = cast x : [m]i64 // J212
  1.0
}"
    a_pattern_with_too_many_names: "core def f(x: f64) -> f64 = {
  (a, b) = sin(x) // J213
  a
}"
    a_result_of_another_type_than_declared: "core def f(n: i64, m: i64, x: [n]f64) -> [m]f64 = {
  x // J214
}"
    values_that_nobody_binds: "core def f(x: f64) -> f64 = {
  sin(x) // J602
  x
}"
}

// ---- accesses

refused! {
    an_index_that_nothing_covers: "core def f(n: i64, k: i64, x: [n]f64) -> f64 = {
  y = x[k] // J301
  y
}"
    an_index_into_a_product_that_may_wrap: "core def f(n: i64, m: i64, x: [n * m]f64) -> f64 = {
  y = acc s: f64 {
    scan par (i < n) {
      scan par (j < m) {
        a = i * m
        b = a + j
        v = x[b] // J301
        s += v
      }
    }
  }
  y
}"
    stacked_rows_of_a_size_that_may_be_negative: "core def f(n: i64, m: i64) -> [n][m]f64 = {
  check n >= 0
  y = scan par (i < n) { // J303
    check m >= 0
    r = scan par (j < m) {
      (1.0)
    }
    (r)
  }
  y
}"
    zeros_whose_length_may_be_negative: "core def f(n: i64, x: f64) -> f64 = {
  a = acc r: [n]f64 { } // J303
  x
}"
    zeros_of_which_a_row_may_be_of_negative_length: "core def f(n: i64, m: i64, x: f64) -> f64 = {
  check n >= 0
  a = acc r: [n, m]f64 { } // J303
  x
}"
    results_of_another_language_whose_length_may_be_negative: "extern def p(n: i64, m: i64; x': [n]f64) -> (; [m]f64) transpose q
extern def q(n: i64, m: i64; y': [m]f64) -> (; [n]f64) transpose p
core def f(m: i64, k: i64, x: [k]f64) -> f64 = {
  d = p.erased(k, m, x) // J303
  1.0
}"
    an_index_one_past_the_loop: "core def f(n: i64, x: [n]f64) -> f64 = {
  y = acc s: f64 {
    scan par (i < n) {
      j = i + 1
      a = x[j] // J301
      s += a
    }
  }
  y
}"
    a_check_in_one_arm_says_nothing_in_the_other: "core def f(n: i64, k: i64, b: bool, x: [n]f64) -> f64 = {
  y = case b {
    true -> {
      check k < n
      a = x[k]
      a
    }
    false -> {
      a = x[k] // J301
      a
    }
  }
  y
}"
    a_slice_that_nothing_covers: "core def f(n: i64, a: i64, m: i64, x: [n]f64) -> [m]f64 = {
  y = x[a ..+ m] // J301
  y
}"
    a_place_that_nothing_covers: "core def f(n: i64, k: i64; x': f64; wr d: [n]f64) -> () = {
  d[k] += x' // J301
}"
    a_stack_whose_length_may_be_negative: "core def f(n: i64) -> f64 = {
  m = n - 1
  a = scan par (i < m) { 1.0 } // J303
  1.0
}"
}

// ---- loops and branches

refused! {
    a_parallel_loop_with_a_carry: "core def f(n: i64, a0: f64) -> f64 = {
  y = scan par (i < n) carry (a = a0) { a } // J401
  y
}"
    fewer_results_than_carries: "core def f(n: i64, a0: f64) -> () = {
  scan up (i < n) carry (a = a0) { } // J402
}"
    a_carry_that_changes_its_size: "core def f(n: i64, x: [n]f64, m: i64, y: [m]f64) -> f64 = {
  h_1 = scan up (i < n) carry (h = x) { y } // J403
  1.0
}"
    a_carry_whose_size_grows: "core def f(n: i64, x: [n]f64) -> (m: i64, y: [m]f64) = {
  h_1 = scan up (i < n) carry (h = x) {
    k = i + 1
    b = scan par (j < k) { 1.0 }
    b // J403
  }
  (n, h_1)
}"
    a_loop_result_whose_size_depends_on_the_iteration: "core def f(n: i64) -> f64 = {
  check n >= 0
  h = scan par (i < n) {
    b = scan par (j < i) { 1.0 }
    b // J405
  }
  1.0
}"
    a_case_on_a_number: "core def f(x: f64) -> f64 = {
  y = case x { true -> { 1.0 }; false -> { 2.0 } } // J501
  y
}"
    a_missing_arm: "core def f(b: bool) -> f64 = {
  y = case b { true -> { 1.0 } } // J502
  y
}"
    an_arm_twice: "data S = A | B
core def f(s: S) -> f64 = {
  y = case s { A -> { 1.0 }; A -> { 2.0 }; B -> { 3.0 } } // J502
  y
}"
    arms_of_different_types: "core def f(b: bool, n: i64, x: [n]f64) -> f64 = {
  y = case b { true -> { x }; false -> { 1.0 } } // J504
  1.0
}"
    arms_of_different_sizes: "core def f(b: bool, n: i64, x: [n]f64, m: i64, z: [m]f64) -> f64 = {
  y = case b { true -> { x }; false -> { z } } // J504
  1.0
}"
    an_arm_that_does_not_fit_the_annotation: "core def f(b: bool, n: i64, x: [n]f64, z: [n + 1]f64) -> f64 = {
  (m: i64, y: [m]f64) = case b { true -> { (n, x) }; false -> { (n, z) } } // J214
  1.0
}"
}

// ---- the core, and what is not built

refused! {
    a_nested_operand_in_the_core: "core def f(x: f64) -> f64 = {
  y = sin(x + 1.0) // J601
  y
}"
}

// ---- and what is fine

accepted! {
    a_function_calls_itself_and_one_below: "core def f(x: f64) -> f64 = {
  y = f(x)
  z = g(y)
  z
}
core def g(x: f64) -> f64 = {
  y = f(x)
  y
}"
    data_that_hold_themselves: "data T = Leaf | Node(left: T, right: U)
data U = U(t: T)
core def f(u: U) -> U = {
  u
}"
    a_function_may_have_linear_and_non_linear_results: "core def g(x: f64; y': f64) -> (f64; f64) = {
  z = x * x
  w' = z * y'
  (z; w')
}"
    a_checked_gather: "core def f(n: i64, x: [n]f64, ix: [n]i64) -> f64 = {
  y = acc s: f64 {
    scan par (i < n) {
      j = ix[i]
      check j < n
      a = x[j]
      s += a
    }
  }
  y
}"
    row_major_indexing_of_a_product_that_does_not_wrap: "core def f(n: i64, m: i64, x: [n * m]f64) -> f64 = {
  check n * m
  y = acc s: f64 {
    scan par (i < n) {
      scan par (j < m) {
        a = i * m
        b = a + j
        v = x[b]
        s += v
      }
    }
  }
  y
}"
    a_loop_may_slice_a_capability: "core def f(n: i64; x': [n]f64; wr d: [n]f64) -> () = {
  scan par (i < n) slice (; a' <- x'; r <- d) {
    r += a'
  }
}"
    a_record_that_holds_its_size: "data B = B(m: i64, w: [m]f64)
core def f(n: i64, bs: [n]B) -> f64 = {
  y = acc s: f64 {
    scan par (i < n) {
      b = bs[i]
      B(m, w) = b
      scan par (j < m) slice (a <- w) {
        s += a
      }
    }
  }
  y
}"
    blocks_side_by_side_may_reuse_names: "core def f(b: bool, x: f64) -> f64 = {
  y = case b {
    true -> {
      t = sin(x)
      t
    }
    false -> {
      t = cos(x)
      t
    }
  }
  t = y * y
  t
}"
    a_transparent_size_is_its_definition: "core def f(n: i64) -> (m: i64, y: [m]f64) = {
  m = n + 1
  check m >= 0
  y = scan par (i < m) { 1.0 }
  z = cast y : [n + 1]f64
  k = 1 + n
  (k, z)
}"
    arms_may_compute_a_size_under_an_annotated_pattern: "core def f(b: bool, n: i64, x: [n]f64) -> f64 = {
  (m: i64, y: [m]f64) = case b {
    true -> {
      (n, x)
    }
    false -> {
      k = n + 1
      z = scan par (j < k) { 1.0 }
      (k, z)
    }
  }
  s = acc r: f64 {
    scan par (i < m) slice (a <- y) {
      r += a
    }
  }
  s
}"
    arms_may_return_sizes_of_their_own: "core def f(b: bool, n: i64) -> (k: i64, y: [k]f64) = {
  (k, y) = case b {
    true -> {
      m = n / 2
      m1 = max(m, 0)
      y = scan par (i < m1) { 1.0 }
      (m1, y)
    }
    false -> {
      m = n / 3
      m1 = max(m, 0)
      y = scan par (i < m1) { 2.0 }
      (m1, y)
    }
  }
  (k, y)
}"
}

// ---- sizes that fit into memory

/// A text says before an array that nothing else measures that it fits; the checker wants that said, in every stage.
#[test]
fn an_array_that_may_not_fit_into_memory() {
    let source = "core def f(p: i64, n: i64, x: [p]f64) -> f64 = {
  check n >= 0
  ones = scan par (i < n) { 1.0 }
  twos = scan par (i < n) { 2.0 }
  1.0
}";
    let mut program = load(source).expect("it loads");
    let id = program.find_func("f").expect("it is there");
    let stmts = &mut program.funcs[id].body.stmts;
    let is_exact = |stmt: &jut_ir::Stmt| matches!(stmt.rhs, Rhs::Check(Check::Exact(..)));
    assert_eq!(stmts.iter().map(is_exact).collect::<Vec<_>>(), [false, true, false, false]);
    stmts.retain(|stmt| !is_exact(stmt));
    let errors = check_function(&program, id).expect_err("n may be any number");
    assert_eq!(errors[0].code, "J303");
    assert!(errors[0].message.contains("fits into memory"), "{}", errors[0]);
}

// ---- warnings

fn warnings(source: &str) -> Vec<&'static str> {
    let program = load(source).expect("well-typed");
    lint_program(&program).into_iter().map(|d| d.code).collect()
}

#[test]
fn an_arm_of_select_that_is_not_selected_does_no_harm_and_gives_no_warning() {
    assert!(warnings("def f(x: f64) -> f64 = select(x > 0.0, log(x), 0.0)").is_empty());
}

#[test]
fn an_integer_made_of_a_parameter_is_warned_of() {
    assert_eq!(warnings("def f(x: f64) -> i64 = i64(x * 2.0)"), ["J702"]);
    assert!(warnings("def f(x: f64) -> i64 = i64(stop(x * 2.0))").is_empty());
    assert!(warnings("def f(n: i64) -> i64 = i64(f64(n) / 2.0)").is_empty());
}

/// A text never removes a test: the marks that passes print ask for one where they are read.
#[test]
fn marks_that_are_read_become_checks() {
    let printed = |text: &str| jut_ir::print::print_program(&load(text).expect("it loads"));
    let body = |text: &str| {
        let printed = printed(text);
        let body: Vec<&str> = printed.lines().map(str::trim).collect();
        body[1..body.len() - 1].join("; ")
    };
    let index =
        "core def f(n: i64, m: i64, x: [n, m]f64, k: i64) -> f64 = {\n  y = x[!k, !3]\n  y\n}";
    assert_eq!(body(index), "check k < n; check 3 < m; y = x[k, 3]; y");
    let slice =
        "core def f(n: i64, x: [n - 1]f64, k: i64) -> [k]f64 = {\n  y = x[!k ..+ k]\n  y\n}";
    assert_eq!(body(slice), "s = n - 1; check k ..+ k <= s; y = x[k ..+ k]; y");
    let covered =
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {\n  check k < n\n  y = x[!k]\n  y\n}";
    assert_eq!(body(covered), "check k < n; y = x[k]; y");
    let place = "core def f(n: i64, k: i64; ; rd dx: [n]f64, wr dy: [n]f64) -> (;) = {\n  \
                 a' = rd dx[!k]\n  dy[!2] += a'\n  (;)\n}";
    assert_eq!(body(place), "check k < n; a' = rd dx[k]; check 2 < n; dy[2] += a'");
    let cast =
        "core def f(n: i64, x: [n]f64, m: i64) -> [m]f64 = {\n  y = proved cast x : [m]f64\n  y\n}";
    assert_eq!(body(cast), "y = cast x : [m]f64; y");
}
