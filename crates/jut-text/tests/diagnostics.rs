//! What is refused, with its code and the text that the message points at.

use jut_ir::{Diagnostic, Severity};

fn errors(source: &str) -> Vec<Diagnostic> {
    let loaded = jut_text::load(source, 0);
    assert!(loaded.program.is_none(), "accepted:\n{source}");
    loaded.diagnostics.into_iter().filter(|d| d.severity == Severity::Error).collect()
}

fn text<'s>(source: &'s str, d: &Diagnostic) -> &'s str {
    &source[d.span.start as usize..d.span.end as usize]
}

/// The only error has this code and points at this text.
fn refused(code: &str, at: &str, source: &str) -> Diagnostic {
    let mut errors = errors(source);
    assert_eq!(errors.len(), 1, "{errors:#?}\n{source}");
    let error = errors.remove(0);
    assert_eq!((error.code, text(source, &error)), (code, at), "{error}\n{source}");
    error
}

macro_rules! refuses {
    ($($name:ident: $code:ident at $at:literal in $source:literal)*) => {
        $(#[test] fn $name() { refused(stringify!($code), $at, $source); })*
    };
}

// ---- text

refuses! {
    a_character_outside_the_language: J001 at "$" in "def f(x: f64) -> f64 = x $ 2.0"
    a_bracket_that_closes_nothing: J001 at ")" in "def f(x: f64) -> f64 = sin(x))"
    a_prime_without_a_name: J001 at "'" in "def f(x: f64) -> f64 = x '"
    an_integer_beyond_64_bits: J001 at "9223372036854775808" in "def f() -> i64 = 9223372036854775808"
    a_float_beyond_the_largest: J001 at "1e999" in "def f() -> f64 = 1e999"
    a_bracket_left_open: J002 at "" in "def f(x: f64) -> f64 = sin(x"
    a_chain_of_comparisons: J002 at "<" in "def f(x: f64) -> bool = 0.0 < x < 1.0"
    a_parameter_without_a_type: J002 at "x" in "def f(x) -> f64 = x"
    a_malformed_check: J302 at "==" in "def f(n: i64) -> i64 = { check n == 0; n }"
}

#[test]
fn one_mistake_does_not_hide_the_declarations_after_it() {
    let source = "def f(x: f64 -> f64 = x\n\ndef g(x: f64) -> f64 = y\ndef h(x: f64) -> f64 = sin(x\ndef k(x: f64) -> f64 = f(x) + g(x) + h(x)\n";
    let found: Vec<(&str, &str)> =
        errors(source).iter().map(|d| (d.code, text(source, d))).collect();
    assert_eq!(
        found,
        [("J002", "->"), ("J010", "y"), ("J002", "\n")]
            .map(|(c, t)| (c, if t == "\n" { "" } else { t }))
    );
}

#[test]
fn several_statements_of_a_block_are_reported_and_their_names_are_not() {
    let source = "def f(x: f64) -> f64 = {\n  a = foo(x)\n  b = x + 1\n  c = a * b\n  c\n}";
    let codes: Vec<&str> = errors(source).iter().map(|d| d.code).collect();
    assert_eq!(codes, ["J014", "J202"]);
}

// ---- names

refuses! {
    an_unknown_name: J010 at "z" in "def f(x: f64) -> f64 = x + z"
    an_unknown_type: J010 at "float" in "def f(x: float) -> f64 = x"
    an_unknown_function: J014 at "g" in "def f(x: f64) -> f64 = g(x)"
    an_unknown_constructor: J013 at "C" in "data D = A | B\ndef f(d: D) -> f64 = case d { C -> 1.0; _ -> 2.0 }"
    a_second_definition: J011 at "f" in "data D = f\ndef f(x: f64) -> f64 = x"
    a_name_twice_in_a_pattern: J011 at "a" in "def f(x: f64) -> f64 = { (a, a) = (x, x); a }"
    an_unknown_capability: J110 at "r" in "def f(; x': f64) -> () = { r += x' }"
    a_size_out_of_scope: J203 at "m" in "def f[n](x: [m]f64) -> f64 = 1.0"
}

#[test]
fn a_slip_of_the_pen_is_corrected() {
    let help = |source: &str| errors(source)[0].help.clone();
    assert!(help("def f(value: f64) -> f64 = vlaue").contains("`value`"));
    assert!(help("def f(x: f64) -> f64 = sinn(x)").contains("`sin`"));
    assert!(help("data P = P(width: f64)\ndef f(p: P) -> f64 = p.widht").contains("`width`"));
    assert!(
        help("def f(x: f64) -> D = D(x)\ndata D = D(x: f64)").contains("move the definition up")
    );
}

// ---- types

#[test]
fn an_integer_among_floats_gets_the_literal_to_write() {
    let error = refused("J202", "x * 2", "def f(x: f64) -> f64 = x * 2");
    assert!(error.help.contains("`2.0`"));
    let error = refused("J202", "x * n", "def f(x: f64, n: i64) -> f64 = x * n");
    assert!(error.help.contains("`f64(n)`"));
}

refuses! {
    a_condition_that_is_no_bool: J202 at "x" in "def f(x: f64) -> f64 = if x { 1.0 } else { 2.0 }"
    arrays_of_other_sizes: J209 at "y" in "def f[n, m](x: [n]f64, y: [m]f64) -> [n]f64 = x + y"
    another_number_of_results: J213 at "x" in "def f(x: f64) -> (f64, f64) = x"
    another_type_of_result: J214 at "x" in "def f[n](x: [n]f64) -> f64 = x"
    arms_of_different_types: J504 at "2" in "def f(b: bool) -> f64 = if b { 1.0 } else { 2 }"
    arms_with_sizes_of_their_own: J203 at "build (i < k) 1.0" in
        "def f(b: bool, n: i64) -> f64 = { y = if b { k = max(n, 0); build (i < k) 1.0 } else { [1.0] }; 1.0 }"
    an_argument_of_another_size: J210 at "y" in
        "def g[n](x: [n]f64, y: [n]f64) -> f64 = 1.0\ndef f[n, m](x: [n]f64, y: [m]f64) -> f64 = g(x, y)"
    a_size_that_does_not_follow: J210 at "g(y)" in
        "def g[n](x: [n*n]f64) -> f64 = 1.0\ndef f[m](y: [m]f64) -> f64 = g(y)"
    too_many_indices: J205 at "x[0, 0]" in "def f(x: [2]f64) -> f64 = x[0, 0]"
    an_index_that_is_no_integer: J201 at "1.0" in "def f(x: [2]f64) -> f64 = x[1.0]"
    arrays_of_different_lengths: J209 at "y" in
        "def f[n, m](x: [n]f64, y: [m]f64) -> f64 = sum (a <- x, b <- y) a * b"
    a_carry_that_changes_its_type: J403 at "1.0" in "def f(n: i64) -> i64 = for (i < n) carry (a = 0) { 1.0 }"
    a_carry_without_a_next_value: J402 at "{ b = a }" in "def f(n: i64) -> i64 = for (i < n) carry (a = 0) { b = a }"
    rows_of_different_lengths: J405 at "build (j < i) 1.0" in
        "def f(n: i64) -> f64 = { check n >= 0; x = build (i < n) build (j < i) 1.0; 1.0 }"
    a_missing_arm: J502 at "case d { A -> 1.0 }" in "data D = A | B\ndef f(d: D) -> f64 = case d { A -> 1.0 }"
    a_case_on_a_number: J501 at "x" in "def f(x: f64) -> f64 = case x { _ -> 1.0 }"
    a_field_of_a_sum: J206 at "x" in "data D = A(x: f64) | B\ndef f(d: D) -> f64 = d.x"
    a_field_with_a_size: J207 at "w" in "data D = D(n: i64, w: [n]f64)\ndef f(d: D) -> D = d with w = [1.0]"
    an_unused_value: J602 at "sin(x)" in "def f(x: f64) -> f64 = { sin(x); x }"
}

// ---- linearity

#[test]
fn a_product_of_linear_values_is_refused_although_the_quotient_would_be_linear() {
    let error = refused("J104", "x' * x'", "def f(; x': f64) -> (; f64) = (x' * x') / x'");
    assert!(error.message.contains("four times"));
    assert!(error.help.contains("one operation at a time"));
}

refuses! {
    a_function_of_a_linear_value: J104 at "x'" in "def f(; x': f64) -> (; f64) = sin(x')"
    a_constant_added_to_a_linear_value: J104 at "x' + 1.0" in "def f(; x': f64) -> (; f64) = x' + 1.0"
    a_power_of_a_linear_value: J104 at "x'^2" in "def f(; x': f64) -> (; f64) = x'^2"
    division_by_a_linear_value: J104 at "1.0 / x'" in "def f(; x': f64) -> (; f64) = 1.0 / x'"
    a_linear_value_under_another_name: J101 at "y" in "def f(; x': f64) -> (; f64) = { y = x'; x' }"
    a_linear_result_before_the_semicolon: J101 at "x'" in "def f(; x': f64) -> (f64, f64) = (x', 1.0)"
    a_linear_name_for_another_value: J102 at "y'" in "def f(x: f64) -> (; f64) = { y' = x; y' }"
    a_linear_value_in_a_loop: J103 at "x'" in
        "def f(n: i64; x': f64) -> (; f64) = wr s: f64 { scan par (i < n) { s += x' } }"
    a_linear_array_indexed: J101 at "x'" in "def f(; x': [2]f64) -> (; f64) = x'[0]"
    adding_into_a_rd: J111 at "r" in "def f(; x': f64; rd r: f64) -> () = { r += x' }"
    a_capability_as_a_value: J111 at "r" in "def f(; ; rd r: f64) -> (; f64) = 2.0 * r"
    a_carry_in_a_par_loop: J401 at "scan par (i < n) carry (a = 0.0) { a }" in
        "def f(n: i64) -> f64 = scan par (i < n) carry (a = 0.0) { a }"
}

// ---- what a core def is not

refuses! {
    a_nested_operand_in_a_core_def: J601 at "cos(x)" in "core def f(x: f64) -> f64 = { y = sin(cos(x)); y }"
    two_operators_in_a_core_def: J601 at "x * x + x" in "core def f(x: f64) -> f64 = { y = x * x + x; y }"
    sugar_in_a_core_def: J601 at "sum (i < 3) 1.0" in "core def f() -> f64 = { y = sum (i < 3) 1.0; y }"
    a_proved_index_in_a_def: J601 at "i" in "def f[n](x: [n]f64) -> f64 = sum (i < n) x[!i]"
    an_operation_as_a_result_of_a_core_def: J602 at "sin(x)" in "core def f(x: f64) -> f64 = sin(x)"
}

// ---- what the language does not have

refuses! {
    a_derivative_of_itself: J810 at "grad(f)(x)" in "def f(x: f64) -> f64 = if x > 1.0 { x } else { grad(f)(x) }"
    a_variable_without_a_value: J002 at "}" in "def f(x: f64) -> f64 = { var y }"
    a_linear_variable: J002 at "y'" in "def f(; x': f64) -> (; f64) = { var y' = x'; (; y') }"
    a_variable_in_a_core_def: J601 at "var y = x" in "core def f(x: f64) -> f64 = { var y = x; y }"
    assignment_to_a_sum: J002 at "x + 1.0" in "def f(x: f64) -> f64 = { x + 1.0 = 2.0; x }"
    assignment_to_an_element_of_no_variable: J607 at "x" in "def f(x: [2]f64) -> f64 = { x[0] = 1.0; 2.0 }"
    a_way_without_else: J504 at "sin(x)" in "def f(x: f64) -> f64 = if x > 0.0 { sin(x) }"
    subtraction_from_an_accumulator: J111 at "s" in "def f(x: f64) -> f64 = acc s: f64 { s -= x }"
    other_counts_of_places: J213 at "(x[0], s) = s" in "def f(y: [2]f64) -> f64 = { var x = y; var s = 1.0; (x[0], s) = s; s }"
    the_size_of_a_field: J207 at "k.m" in "data K = K(m: i64, w: [m]f64)\ndef f(k: K) -> K = { var k = k; k.m = 2; k }"
    state_parameters: J002 at "mut" in "def f(; ; mut r: f64) -> () = {}"
    policies: J407 at "x * 2.0" in "def f(x: f64) -> f64 = { y = @segment(3) x * 2.0; y }"
    an_i32_and_an_i64: J202 at "k + n" in "def f(k: i32, n: i64) -> i32 = k + n"
    a_short_integer_too_large: J202 at "k + 2147483648" in "def f(k: i32) -> i32 = k + 2147483648"
    a_short_literal_too_large: J001 at "2147483648i32" in "def f() -> i32 = 2147483648i32"
    a_short_index: J201 at "k" in "def f[n](x: [n]f64, k: i32) -> f64 = x[k]"
    a_short_bound: J201 at "n" in "def f(n: i32) -> f64 = sum (i < n) { 1.0 }"
    a_short_size: J201 at "n" in "def f(n: i32, x: [n]f64) -> f64 = 1.0"
    a_short_integer_and_a_float: J202 at "k * x" in "def f(k: i32, x: f64) -> f64 = k * x"
    a_short_start: J403 at "k" in "def f(k: i32) -> i32 = for (i < 3) carry (s = 0) { k }"
    lanes_of_short_integers: J202 at "i32" in "core def f(n: i64) -> i32 = { s = acc lanes r: i32 { }; s }"
    an_f32_and_an_f64: J202 at "x + y" in "def f(x: f32, y: f64) -> f64 = f64(x + y)"
    a_short_carry: J403 at "x" in "def f(x: f32) -> f32 = for (i < 3) carry (s = 0.0) { x }"
    a_short_product: J202 at "a" in "def f(a: [2, 2]f32) -> [2, 2]f64 = matmul(a, a)"
    lanes_of_short_floats: J202 at "f32" in "core def f(n: i64) -> f32 = { s = acc lanes r: f32 { }; s }"
    a_short_number_too_large: J202 at "x * 1e300" in "def f(x: f32) -> f32 = x * 1e300"
    a_rule_of_nothing: J010 at "f" in "def g(x: f64) -> f64 = x\nrule jvp f = g"
    a_rule_without_a_mode: J002 at "f" in "rule f = g"
    a_rule_of_a_primitive: J010 at "sin" in "def g(x: f64, dx: f64) -> f64 = dx\nrule jvp sin = g"
    a_second_rule: J801 at "f" in "def f(x: f64) -> f64 = x\ndef g(x: f64, dx: f64) -> f64 = dx\nrule jvp f = g\nrule vjp f = g"
    an_extern_without_its_transpose: J812 at "q" in "extern def p(x: f64; y': f64) -> (; f64) transpose q"
    an_extern_of_a_record: J811 at "extern def p(x: #(f64, f64); y': f64) -> (; f64)" in "extern def p(x: #(f64, f64); y': f64) -> (; f64) transpose p"
    an_extern_by_a_size_of_nothing: J203 at "n" in "extern def p(; y': [n]f64) -> (; f64) transpose p"
    a_rule_of_an_extern: J801 at "p" in "extern def p(; x': f64) -> (; f64) transpose p\ndef g(x: f64, dx: f64) -> f64 = dx\nrule jvp p = g"
    an_extern_twice: J011 at "p" in "def p(x: f64) -> f64 = x\nextern def p(; y': f64) -> (; f64) transpose p"
}
