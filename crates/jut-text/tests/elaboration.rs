//! What the surface becomes: each definition is compared with the core definition that is meant,
//! up to names.

use jut_ir::alpha::canonical_text;
use jut_ir::print::print_program;
use jut_ir::{Function, Program};

fn load(source: &str) -> Program {
    let loaded = jut_text::load(source, 0);
    match loaded.program {
        Some(program) => program,
        None => panic!("{}\n{source}", loaded.diagnostics[0]),
    }
}

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    &program.funcs[program.find_func(name).expect("the function is defined")]
}

/// Elaborates `surface`, and compares its last definition with that of `core`. Both also print to
/// a text that reads back and prints the same.
fn becomes(surface: &str, core: &str) {
    let (surface, core) = (load(surface), load(core));
    for program in [&surface, &core] {
        let text = print_program(program);
        assert_eq!(print_program(&load(&text)), text, "prints the same again");
    }
    let last = |p: &Program| canonical_text(p, p.funcs.keys().next_back().expect("a definition"));
    assert_eq!(last(&surface), last(&core));
}

macro_rules! elaborates {
    ($($name:ident: $surface:literal => $core:literal)*) => {
        $(#[test] fn $name() { becomes($surface, $core) })*
    };
}

// ---- several ranges

#[test]
fn several_index_ranges_are_loops_in_each_other() {
    for (flat, nested) in [
        (
            "def f[n, m](x: [n, m]f64) -> f64 = sum (i < n, 1 <= j < m) { x[i, j] }",
            "def f[n, m](x: [n, m]f64) -> f64 = sum (i < n) { sum (1 <= j < m) { x[i, j] } }",
        ),
        (
            "def f[n, m](x: [n]f64, y: [m]f64) -> [n, m]f64 = build (i < n, a <- x, j < m) { a * y[j] }",
            "def f[n, m](x: [n]f64, y: [m]f64) -> [n, m]f64 = build (i < n, a <- x) { build (j < m) { a * y[j] } }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = max (i < n, j < n, k < 2) { x[i] - x[j] * f64(k) }",
            "def f[n](x: [n]f64) -> f64 = max (i < n) { max (j < n) { max (k < 2) { x[i] - x[j] * f64(k) } } }",
        ),
    ] {
        becomes(flat, nested);
    }
}

#[test]
fn thousands_of_ranges_are_refused_like_thousands_of_loops() {
    let ranges: Vec<String> = (0..5000).map(|k| format!("i{k} < 2")).collect();
    let text = format!("def f(x: f64) -> f64 = sum ({}) {{ x }}", ranges.join(", "));
    let found = jut_text::load(&text, 0).diagnostics;
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["J003"]);
}

// ---- expressions

elaborates! {
    operands_are_bound_from_left_to_right: "
def f(x: f64, y: f64) -> f64 = sin(x) * cos(y) + exp(x - y)" => "
core def f(x: f64, y: f64) -> f64 = {
  a = sin(x); b = cos(y); c = a * b; d = x - y; e = exp(d); g = c + e
  g
}"
    a_sign_belongs_to_a_literal_but_binds_looser_than_a_power: "
def f(x: f64) -> f64 = -2.0^2 + x * -3.0 - -x" => "
core def f(x: f64) -> f64 = {
  a = powi(2.0, 2); b = -a; c = x * -3.0; d = b + c; e = -x; g = d - e
  g
}"
    powers_associate_to_the_right_and_choose_by_the_exponent: "
def f(x: f64, n: i64) -> f64 = x^x^n" => "
core def f(x: f64, n: i64) -> f64 = { a = powi(x, n); b = pow(x, a); b }"
    logic_and_comparisons: "
def f(x: f64, b: bool) -> bool = !b && x + 1.0 < 2.0 * x || b == false" => "
core def f(x: f64, b: bool) -> bool = {
  a = !b; c = x + 1.0; d = 2.0 * x; e = c < d; g = a && e; h = b == false; k = g || h
  k
}"
    a_name_may_be_bound_again: "
def f(x: f64) -> f64 = {
  x = x * x
  x = x + { x = sin(x); x }
  x
}" => "
core def f(x: f64) -> f64 = { a = x * x; b = sin(a); c = a + b; c }"
    a_copy_is_another_name: "
def f(x: f64) -> f64 = { y = x; z = 2.0; y * z }" => "
core def f(x: f64) -> f64 = { a = x * 2.0; a }"
    tuples_records_and_literal_arrays: "
data P = P(r: f64, n: i64)
def f(x: f64) -> f64 = {
  t = #(x, P(x, 2))
  #(a, p) = t
  v = [[x, a], [p.r, t.1.r]]
  v[0][1] + v[1, 0]
}" => "
data P = P(r: f64, n: i64)
core def f(x: f64) -> f64 = {
  q = P(x, 2); t = #(x, q); #(a, p) = t; v0 = [x, a]; b = p.r; c = t.1; d = c.r; v1 = [b, d]
  v = [v0, v1]; e = v[0, 1]; g = v[1, 0]; h = e + g
  h
}"
    max_and_min_of_two: "
def f(x: f64, y: f64, n: i64) -> f64 = max(min(x, y), f64(max(n, 0)))" => "
core def f(x: f64, y: f64, n: i64) -> f64 = { a = min(x, y); b = max(n, 0); c = f64(b); d = max(a, c); d }"
    a_definition_may_hide_a_primitive: "
def cosh(z: f64) -> f64 = 1.0 / (1.0 + exp(-z))
def f(z: f64) -> f64 = cosh(z) - prim.cosh(z)" => "
core def cosh(z: f64) -> f64 = { z }
core def f(z: f64) -> f64 = { a = cosh(z); b = prim.cosh(z); c = a - b; c }"
    a_definition_that_hides_a_primitive_may_use_it: "
def softplus(z: f64) -> f64 = prim.softplus(2.0 * z)
def f(gamma: f64) -> f64 = softplus(gamma) + sigmoid(gamma) * beta(gamma, 2.0)" => "
core def softplus(z: f64) -> f64 = { a = 2.0 * z; b = prim.softplus(a); b }
core def f(gamma: f64) -> f64 = {
  a = softplus(gamma); b = sigmoid(gamma); c = beta(gamma, 2.0); d = b * c; e = a + d
  e
}"
}

// ---- branches

elaborates! {
    if_is_always_a_case: "
def f(x: f64) -> f64 = if x > 1.0 { x } else if x > 0.0 { x * x } else { 0.0 }" => "
core def f(x: f64) -> f64 = {
  a = x > 1.0
  r = case a {
    true -> { x }
    false -> { b = x > 0.0; s = case b { true -> { c = x * x; c }; false -> { 0.0 } }; s }
  }
  r
}"
    an_underscore_stands_for_the_other_constructors: "
data S = A(r: f64) | B(m: i64, w: [m]f64) | C
def f(s: S) -> f64 = case s { A(r) -> r; _ -> 1.0 }" => "
data S = A(r: f64) | B(m: i64, w: [m]f64) | C
core def f(s: S) -> f64 = { y = case s { A(r) -> { r }; B(m, w) -> { 1.0 }; C -> { 1.0 } }; y }"
    an_annotated_pattern_joins_arms_of_different_sizes: "
def f(n: i64, b: bool) -> f64 = {
  (m: i64, y: [m]f64) = if b { k = max(n, 0); (k, build (i < k) 1.0) } else { (2, [1.0, 2.0]) }
  sum (v <- y) v
}" => "
core def f(n: i64, b: bool) -> f64 = {
  (m: i64, y: [m]f64) = case b {
    true -> { k = max(n, 0); u = scan par (i < k) { 1.0 }; (k, u) }
    false -> { u = [1.0, 2.0]; (2, u) }
  }
  r = acc lanes s: f64 { scan par (i < m) slice (v <- y) { s += v } }
  r
}"
    declared_results_annotate_the_last_branch: "
def f(n: i64, b: bool) -> (m: i64, y: [m]f64) = if b { (2, [1.0, 2.0]) } else { (1, [3.0]) }" => "
core def f(n: i64, b: bool) -> (m: i64, y: [m]f64) = {
  (m: i64, y: [m]f64) = case b { true -> { u = [1.0, 2.0]; (2, u) }; false -> { v = [3.0]; (1, v) } }
  (m, y)
}"
}

// ---- loops

elaborates! {
    a_sum_of_numbers_goes_by_lanes: "
def f[n](x: [n]f64) -> f64 = sum (i < n - 1) { x[i] * x[i + 1] }" => "
core def f(n: i64, x: [n]f64) -> f64 = {
  t = n - 1
  r = acc lanes s: f64 { scan par (i < t) { a = x[i]; j = i + 1; b = x[j]; c = a * b; s += c } }
  r
}"
    a_sum_of_arrays_does_not: "
def f[n, m](x: [n, m]f64) -> [m]f64 = sum (r <- x) r" => "
core def f(n: i64, m: i64, x: [n, m]f64) -> [m]f64 = {
  t = acc s: [m]f64 { scan par (i < n) slice (r <- x) { s += r } }
  t
}"
    a_for_that_carries_nothing_is_a_build: "
def f[n](x: [n]f64) -> [n]f64 = for (i < n) { x[i] }" => "
core def f(n: i64, x: [n]f64) -> [n]f64 = { y = scan par (i < n) { a = x[i]; a }; y }"
    build_checks_a_size_that_may_be_negative: "
def f[n](x: [n]f64) -> [n - 2]f64 = build (i < n - 2) x[i + 2]" => "
core def f(n: i64, x: [n]f64) -> [n - 2]f64 = {
  t = n - 2; check t >= 0; y = scan par (i < t) { j = i + 2; a = x[j]; a }
  y
}"
    for_carries_and_stacks: "
def f[n](x: [n]f64) -> (f64, [n]f64) = for (i < n) carry (a = 0.0) { b = a + x[i]; (b, b * b) }" => "
core def f(n: i64, x: [n]f64) -> (f64, [n]f64) = {
  (r, ys) = scan up (i < n) carry (a = 0.0) { t = x[i]; b = a + t; c = b * b; (b, c) }
  (r, ys)
}"
    a_range_may_begin_anywhere: "
def f[n](x: [n]f64, k: i64) -> f64 = sum (k <= i < n) f64(i)" => "
core def f(n: i64, x: [n]f64, k: i64) -> f64 = {
  m = n - k
  r = acc lanes s: f64 { scan par (i0 < m) { i = k + i0; a = f64(i); s += a } }
  r
}"
    several_arrays_are_walked_together: "
def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (a <- x, b <- y, i < n) a * b" => "
core def f(n: i64, x: [n]f64, y: [n]f64) -> f64 = {
  r = acc lanes s: f64 { scan par (i < n) slice (a <- x, b <- y) { t = a * b; s += t } }
  r
}"
    the_maximum_over_a_range_finds_its_index_first: "
def f[n](x: [n]f64) -> f64 = max (i < n) x[i] * 2.0" => "
core def f(n: i64, x: [n]f64) -> f64 = {
  t = inf(); low = -t
  (v1, k1) = scan up (i < n) carry (v = low, k = 0) {
    a = x[i]; b = a * 2.0; w = stop(b); more = w > v
    new = w != w; old = v == v; first = new && old; better = more || first
    v2 = select(better, w, v); k2 = select(better, i, k); (v2, k2)
  }
  check k1 < n; c = x[k1]; d = c * 2.0
  d
}"
    the_minimum_of_integers: "
def f[n](x: [n]i64) -> i64 = min (a <- x) a" => "
core def f(n: i64, x: [n]i64) -> i64 = {
  (v1, k1) = scan up (i < n) carry (v = 9223372036854775807, k = 0) slice (a <- x) {
    less = a < v; v2 = select(less, a, v); k2 = select(less, i, k); (v2, k2)
  }
  check k1 < n; b = x[k1]
  b
}"
}

// ---- access

elaborates! {
    an_index_is_checked_where_no_range_covers_it: "
def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] }" => "
core def f(n: i64, m: i64, x: [n]f64, ix: [m]i64) -> f64 = {
  r = acc lanes s: f64 { scan par (i < m) { j = ix[i]; check j < n; a = x[j]; s += a } }
  r
}"
    a_check_covers_what_comes_after_it: "
def f[n](x: [n]f64, k: i64) -> f64 = x[k] * x[k]" => "
core def f(n: i64, x: [n]f64, k: i64) -> f64 = { check k < n; a = x[k]; b = x[k]; c = a * b; c }"
    a_check_names_the_length: "
def f[n](x: [2*n - 1]f64, k: i64) -> f64 = x[k]" => "
core def f(n: i64, x: [2*n - 1]f64, k: i64) -> f64 = { check 2 * n; m = 2 * n; t = m - 1; check k < t; a = x[k]; a }"
    a_product_in_a_size_is_checked_once_for_all_accesses: "
def f(n: i64, m: i64, x: [n*m]f64) -> f64 = sum (i < n, j < m) { x[i*m + j] }" => "
core def f(n: i64, m: i64, x: [n*m]f64) -> f64 = {
  check n * m
  r = acc lanes s: f64 {
    scan par (i < n) {
      u = acc lanes v: f64 { scan par (j < m) { t = i * m; k = t + j; a = x[k]; v += a } }
      s += u
    }
  }
  r
}"
    a_slice_is_checked_and_has_the_length_of_the_difference: "
def f[n](x: [n]f64) -> f64 = sum (a <- x[1..n], b <- x[0..n - 1]) a * b" => "
core def f(n: i64, x: [n]f64) -> f64 = {
  m = n - 1; check 1 ..+ m <= n; u = x[1 ..+ m]; k = n - 1; v = x[0 ..+ k]
  r = acc lanes s: f64 { scan par (i < k) slice (a <- u, b <- v) { t = a * b; s += t } }
  r
}"
    a_row_is_a_value: "
def dot[n](x: [n]f64, y: [n]f64) -> f64 = sum (a <- x, b <- y) a * b
def f[n, m](x: [n, m]f64) -> f64 = sum (i < n) { dot(x[i], x[i]) }" => "
core def dot(n: i64, x: [n]f64, y: [n]f64) -> f64 = { 0.0 }
core def f(n: i64, m: i64, x: [n, m]f64) -> f64 = {
  r = acc lanes s: f64 { scan par (i < n) { a = x[i]; b = x[i]; c = dot(m, a, b); s += c } }
  r
}"
    sizes_are_solved_at_calls: "
def tail[n](x: [n + 1]f64) -> [n]f64 = { check n >= 0; build (i < n) x[i + 1] }
def f[m](x: [m]f64) -> [m - 2]f64 = tail(tail(x))" => "
core def tail(n: i64, x: [n + 1]f64) -> [n]f64 = { check n >= 0; y = scan par (i < n) { j = i + 1; t = x[j]; t }; y }
core def f(m: i64, x: [m]f64) -> [m - 2]f64 = { a = m - 1; u = tail(a, x); b = m - 2; v = tail(b, u); v }"
    a_result_size_is_a_name_of_the_caller: "
def half[n](x: [n]f64) -> (m: i64, y: [m]f64) = { m = n / 2; (m, build (i < m) x[i]) }
def f[n](x: [n]f64) -> f64 = { (k, y) = half(x); (l, z) = half(y); f64(l) + sum (v <- z) v }" => "
core def half(n: i64, x: [n]f64) -> (m: i64, y: [m]f64) = {
  m = n / 2; check m >= 0; y = scan par (i < m) { check i < n; t = x[i]; t }; (m, y)
}
core def f(n: i64, x: [n]f64) -> f64 = {
  (k, y) = half(n, x); (l, z) = half(k, y); a = f64(l)
  b = acc lanes s: f64 { scan par (i < l) slice (v <- z) { s += v } }
  c = a + b
  c
}"
}

// ---- linear values

elaborates! {
    linear_names_are_duplicated_and_dropped_where_needed: "
def f(b: bool; x': f64, y': f64, z': f64) -> (; f64, f64) = {
  u' = if b { x' } else { y' + y' + x' }
  (; u', x' - 2.0 * u')
}" => "
core def f(b: bool; x': f64, y': f64, z': f64) -> (; f64, f64) = {
  drop z'
  (; x1', x2') = dup x'
  u' = case b {
    true -> { drop y'; (; x1') }
    false -> { (; y1', y2') = dup y'; s' = y1' + y2'; t' = s' + x1'; (; t') }
  }
  (; u1', u2') = dup u'
  v' = 2.0 * u1'; w' = -v'; d' = x2' + w'
  (; u2', d')
}"
    a_linear_value_is_divided_by_scaling: "
def f(c: f64; x': f64) -> (; f64) = x' / c * 3.0" => "
core def f(c: f64; x': f64) -> (; f64) = { r = 1.0 / c; y' = r * x'; z' = 3.0 * y'; (; z') }"
    regions_are_written_as_in_the_core: "
def f[n](x: [n]f64; y': [n]f64) -> (; f64, [n]f64) = {
  s' = rd r = y' { wr s: f64 { scan par (i < n) { s += x[i] * rd r[i] } } }
  (; s', y')
}" => "
core def f(n: i64, x: [n]f64; y': [n]f64) -> (; f64, [n]f64) = {
  (; y1', y2') = dup y'
  s' = rd r = y1' {
    t' = wr s: f64 { scan par (i < n) { a = x[i]; b' = rd r[i]; c' = a * b'; s += c' } }
    (; t')
  }
  (; s', y2')
}"
    loops_carry_and_slice_linear_values: "
def f[n](x: [n]f64; y': f64, z': [n]f64) -> (; f64) =
  for (v <- x, w' <- z') carry (; a' = y') { (; v * a' + w' + w') }" => "
core def f(n: i64, x: [n]f64; y': f64, z': [n]f64) -> (; f64) = {
  r' = scan up (i < n) carry (; a' = y') slice (v <- x; w' <- z') {
    b' = v * a'; (; w1', w2') = dup w'; c' = b' + w1'; d' = c' + w2'; (; d')
  }
  (; r')
}"
    linear_arguments_stand_behind_the_semicolon: "
def g(x: f64; y': f64) -> (f64; f64) = (x^2; x^2 * y')
def f(x: f64; y': f64) -> (f64; f64) = { (a; b') = g(sin(x); y' + y'); (a; -b') }" => "
core def g(x: f64; y': f64) -> (f64; f64) = { (x; y') }
core def f(x: f64; y': f64) -> (f64; f64) = {
  s = sin(x); (; y1', y2') = dup y'; t' = y1' + y2'; (a; b') = g(s; t'); c' = -b'; (a; c')
}"
}

// ---- what the calculus can and cannot type

/// The paper's g(x, y) = (x^2, x^2 * y) under every way to sort parameters and results: it is
/// (non-linear; linear), or non-linear altogether, and nothing else.
#[test]
fn the_papers_g_types_in_exactly_two_ways() {
    let mut accepted = Vec::new();
    for choice in 0..16 {
        let linear: Vec<bool> = (0..4).map(|k| choice >> k & 1 == 1).collect();
        let name = |base: &str, linear: bool| {
            if linear { format!("{base}'") } else { base.to_string() }
        };
        let (x, y) = (name("x", linear[0]), name("y", linear[1]));
        let list = |items: [(String, bool); 2]| {
            let part = |l: bool| {
                let chosen = items.iter().filter(|(_, linear)| *linear == l);
                chosen.map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ")
            };
            format!("({}; {})", part(false), part(true))
        };
        let params = list([(format!("{x}: f64"), linear[0]), (format!("{y}: f64"), linear[1])]);
        let results = list([("f64".into(), linear[2]), ("f64".into(), linear[3])]);
        let body = list([(format!("{x}^2"), linear[2]), (format!("{x}^2 * {y}"), linear[3])]);
        let source = format!("def g{params} -> {results} = {body}");
        if jut_text::load(&source, 0).program.is_some() {
            accepted.push(source);
        }
    }
    assert_eq!(
        accepted,
        [
            "def g(x: f64, y: f64; ) -> (f64, f64; ) = (x^2, x^2 * y; )",
            "def g(x: f64; y': f64) -> (f64; f64) = (x^2; x^2 * y')",
        ]
    );
}

// ---- signatures and comments

#[test]
fn size_parameters_come_first_and_are_counted() {
    let program = load("def f[n, d](x: [n, d]f64, k: i64) -> i64 = n * d + k");
    let f = function(&program, "f");
    assert_eq!((f.size_params, f.params.len()), (2, 4));
    let names: Vec<&str> = f.params.iter().map(|v| f.nvars[*v].name.as_str()).collect();
    assert_eq!(names, ["n", "d", "x", "k"]);
}

#[test]
fn doc_comments_belong_to_the_next_declaration() {
    let program = load(
        "/// A point.\n/// In the plane.\ndata P = P(x: f64)\n// no doc\n/// Twice.\ndef f(x: f64) -> f64 = 2.0 * x // \n",
    );
    assert_eq!(
        program.datas.values().next().map(|d| d.doc.as_str()),
        Some("A point.\nIn the plane.")
    );
    assert_eq!(function(&program, "f").doc, "Twice.");
}

#[test]
fn derived_names_are_names() {
    let program = load(
        "data f.tape1 = f.tape1.true(n: i64, w: [n]f64) | f.tape1.false
core def f{w,b}.jvp(w: f64, t: f.tape1; w'': f64) -> (f64; f64) = {
  z'' = case t { f.tape1.true(m, v) -> { (; w'') }; f.tape1.false -> { (; w'') } }
  (w; z'')
}
core def f.case.def(w: f64, t: f.tape1; w': f64) -> (f64; f64) = { (a; b') = f{w,b}.jvp(w, t; w'); (a; b') }",
    );
    assert!(program.find_func("f{w,b}.jvp").is_some() && program.find_func("f.case.def").is_some());
}

#[test]
fn a_line_goes_on_after_an_operator_and_before_else_and_carry() {
    becomes(
        "def f(
  x: f64,
  y: f64
) -> f64 =
  {
    a = x +
      y;; b = if a > 0.0 { a }
      else { y
      }

    for (i < 3)
      carry (c = b) { c *
        x }
  }",
        "core def f(x: f64, y: f64) -> f64 = {
  a = x + y
  t = a > 0.0
  b = case t { true -> { a }; false -> { y } }
  r = scan up (i < 3) carry (c = b) { d = c * x; d }
  r
}",
    );
}

#[test]
fn a_minus_at_the_beginning_of_a_line_is_a_sign() {
    becomes(
        "def f(x: f64) -> f64 = {\n  y = x\n  -y\n}",
        "core def f(x: f64) -> f64 = { t = -x; t }",
    );
}

// ---- variables

#[test]
fn variables_are_names_carries_and_results_of_branches() {
    for (with, without) in [
        (
            "def f(x: f64) -> f64 = { var s = x; s = s * x; s += 1.0; s }",
            "def f(x: f64) -> f64 = { s = x; s = s * x; s = s + 1.0; s }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = { var s = 0.0; for (i < n) { s = s * x[i] }; s }",
            "def f[n](x: [n]f64) -> f64 = for (i < n) carry (s = 0.0) { s * x[i] }",
        ),
        (
            "def f[n](x: [n]f64) -> [n]f64 = { var s = 0.0; for (v <- x) { s += v; s } }",
            "def f[n](x: [n]f64) -> [n]f64 = { (s, y) = for (v <- x) carry (s = 0.0) { t = s + v; (t, t) }; y }",
        ),
        (
            "def f[n, m](x: [n, m]f64) -> f64 = { var s = 0.0; for (i < n, j < m) { s += x[i, j] }; s }",
            "def f[n, m](x: [n, m]f64) -> f64 = for (i < n) carry (s = 0.0) { for (j < m) carry (t = s) { t + x[i, j] } }",
        ),
        (
            "def f(x: f64) -> f64 = { var s = x; if x > 0.0 { s = 2.0 * x }; s }",
            "def f(x: f64) -> f64 = { if x > 0.0 { 2.0 * x } else { x } }",
        ),
        (
            "def f(x: f64) -> f64 = { var a = x; var b = 1.0; t = if x > 0.0 { b = x; 2.0 } else { (a, b) = (b, a); x }; t * a * b }",
            "def f(x: f64) -> f64 = { (t, a, b) = if x > 0.0 { (2.0, x, x) } else { (x, 1.0, x) }; t * a * b }",
        ),
        (
            "def f(x: f64) -> f64 = { var s = x; t = acc r: f64 { r += s; s = s * s; r += s }; s * t }",
            "def f(x: f64) -> f64 = { (s, t) = acc r: f64 { r += x; s = x * x; r += s; s }; s * t }",
        ),
        (
            "def f(x: [3]f64, i: i64, v: f64) -> [3]f64 = { var y = x; y[i] += v; y }",
            "def f(x: [3]f64, i: i64, v: f64) -> [3]f64 = { t = x[i]; x with [i] = t + v }",
        ),
        (
            "def f[n](x: [n, n]f64, r: [n]f64) -> [n, n]f64 = { var y = x; for (i < n) { y[i] = r; y[i][0] = y[i, 1] }; y }",
            "def f[n](x: [n, n]f64, r: [n]f64) -> [n, n]f64 = for (i < n) carry (y = x) { z = y with [i] = r; t = z[i, 1]; z with [i, 0] = t }",
        ),
        (
            "def f(x: [3]f64, i: i64, j: i64) -> [3]f64 = { var y = x; (y[i], y[j]) = (y[j], y[i]); y }",
            "def f(x: [3]f64, i: i64, j: i64) -> [3]f64 = { a = x[j]; b = x[i]; y = x with [i] = a; y with [j] = b }",
        ),
        // What only the body of a loop knows by the same name is not carried.
        (
            "def f[n](x: [n]f64) -> f64 = { var s = 0.0; y = sum (i < n) { var s = x[i]; for (j < n) { s *= x[j] }; s }; s += y; s }",
            "def f[n](x: [n]f64) -> f64 = { y = sum (i < n) { for (j < n) carry (s = x[i]) { s * x[j] } }; s = 0.0 + y; s }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = { var s = 1.0; y = for (s <- x) carry (a = s) { a * s }; s = s * y; s }",
            "def f[n](x: [n]f64) -> f64 = { y = for (s <- x) carry (a = 1.0) { a * s }; 1.0 * y }",
        ),
    ] {
        becomes(with, without);
    }
}

/// All conditions and blocks, with an assignment in each.
#[test]
fn long_chains_assign() {
    let chain = |way: &dyn Fn(usize) -> String| -> String {
        (0..40).map(|k| format!("if x < {k}.0 {{ {} }} else ", way(k))).collect()
    };
    becomes(
        &format!(
            "def f(x: f64) -> i64 = {{ var s = -1; {}{{ }}; s }}",
            chain(&|k| format!("s = {k}"))
        ),
        &format!("def f(x: f64) -> i64 = {{ s = {}{{ -1 }}; s }}", chain(&|k| k.to_string())),
    );
}

// ---- what is typed

#[test]
fn ranges_hold_their_last_number_and_go_down() {
    for (new, old) in [
        (
            "def f[n](x: [n + 1]f64) -> f64 = sum (i <= n) { x[i] }",
            "def f[n](x: [n + 1]f64) -> f64 = { m = n + 1; sum (i < m) { x[i] } }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = sum (1 <= i <= n - 1) { x[i] }",
            "def f[n](x: [n]f64) -> f64 = { a = n - 1; b = a + 1; sum (1 <= i < b) { x[i] } }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = sum (0 < i < n) { x[i] }",
            "def f[n](x: [n]f64) -> f64 = sum (1 <= i < n) { x[i] }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = sum (k < n, k < i <= n - 1) { x[i] }",
            "def f[n](x: [n]f64) -> f64 = sum (k < n) { a = k + 1; b = n - 1; c = b + 1; sum (a <= i < c) { x[i] } }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = for (n > i >= 0) carry (s = 0.0) { s * 0.5 + x[i] }",
            "def f[n](x: [n]f64) -> f64 = scan down (i < n) carry (s = 0.0) { s * 0.5 + x[i] }",
        ),
        (
            "def f[n](x: [n]f64) -> f64 = { var s = 0.0; for (n - 1 >= i > 0) { s = s * 0.5 + x[i] }; s }",
            "def f[n](x: [n]f64) -> f64 = { a = n - 1; b = a + 1; scan down (k < a) carry (s = 0.0) { i = 1 + k; s * 0.5 + x[i] } }",
        ),
    ] {
        becomes(new, old);
    }
}

#[test]
fn powers_of_integers_are_products() {
    for (power, product) in [
        ("n^2", "n * n"),
        ("n^3", "{ a = n * n; a * n }"),
        ("n^13", "{ a = n * n; b = a * n; c = b * b; d = c * c; d * n }"),
    ] {
        let text = |body: &str| format!("def f(n: i64) -> i64 = {body}");
        becomes(&text(power), &text(product));
    }
    becomes(
        "def f(n: i64, x: [n * n]f64) -> f64 = sum (i < n^2) { x[i] }",
        "def f(n: i64, x: [n * n]f64) -> f64 = { m = n * n; sum (i < m) { x[i] } }",
    );
}

#[test]
fn a_line_that_begins_with_an_operator_goes_on() {
    becomes(
        "def f(x: f64, y: f64) -> f64 = {\n  a = x\n    * y\n    + 1.0\n  b = a > x\n    && a > y\n  if b { a } else { x\n    / y }\n}",
        "def f(x: f64, y: f64) -> f64 = { a = x * y + 1.0; b = a > x && a > y; if b { a } else { x / y } }",
    );
    becomes("def f(x: f64) -> f64 = x\n  * 2.0", "def f(x: f64) -> f64 = x * 2.0");
}

#[test]
fn pi_is_known_and_may_be_hidden() {
    becomes("def f(r: f64) -> f64 = pi * r", "def f(r: f64) -> f64 = 3.141592653589793 * r");
    becomes("def f(pi: f64) -> f64 = pi * 2.0", "def f(r: f64) -> f64 = r * 2.0");
    becomes("const pi: f64 = 3.0\ndef f(r: f64) -> f64 = pi * r", "def f(r: f64) -> f64 = 3.0 * r");
}

#[test]
fn words_of_the_grammar_are_names_where_they_can_be_nothing_else() {
    let words = [
        "def",
        "const",
        "if",
        "else",
        "case",
        "for",
        "while",
        "do",
        "core",
        "data",
        "type",
        "use",
        "rule",
        "extern",
        "transpose",
        "with",
        "in",
        "scan",
        "up",
        "down",
        "par",
        "carry",
        "slice",
        "rd",
        "wr",
        "st",
        "acc",
        "mut",
        "lanes",
        "get",
        "take",
        "put",
        "dup",
        "drop",
        "zero",
        "check",
        "cast",
        "proved",
        "null",
        "sum",
        "build",
        "map",
        "fold",
        "max",
        "min",
        "var",
        "lend",
        "hist",
        "by",
        "from",
        "assert",
        "print",
        "show",
        "break",
        "continue",
    ];
    let text = |name: &str| {
        format!(
            "data P = P({name}: f64)
def g{name}[n](x: [n]f64, {name}: f64) -> f64 = x[0] * {name}
def f[n](x: [n]f64, {name}: [n]f64, p: P) -> f64 = {{
  a = {name}[0] + p.{name} * sum (v <- {name}) {{ v }}
  b = build (i < n) {{ {name}[i] }}
  {name} = a * 2.0
  c = -{name} + g{name}(x, {name})
  d = if {name} > c {{ {name} }} else {{
    {name}
  }}
  {name}
    * d
}}
def h({name}: i64, y: [{name}]f64) -> f64 = {{
  var {name} = y
  {name}[0] = 1.0
  {name}[1] += 2.0
  s = sum ({name} < 3) {{ f64({name}) }}
  t = for ({name} <- y) carry (carried = 0.0) {{ carried - {name} }}
  {name} = y
  u = {name} with [0] = s
  u[0] * {name}[1] + t
}}"
        )
    };
    for word in words {
        let (with, plain) = (text(word), text("name"));
        let (with, plain) = (load(&with), load(&plain));
        let all = |p: &Program| p.funcs.keys().map(|f| canonical_text(p, f)).collect::<Vec<_>>();
        assert_eq!(all(&with).len(), all(&plain).len());
        for (a, b) in all(&with).iter().zip(all(&plain)) {
            assert_eq!(a.replace(&format!("g{word}"), "gname"), b, "{word}");
        }
        let printed = print_program(&with);
        assert_eq!(print_program(&load(&printed)), printed, "prints the same again");
    }
    becomes("def with(x: f64) -> f64 = x * 2.0", "def with(y: f64) -> f64 = y * 2.0");
}

// ---- elements

#[test]
fn an_expression_of_arrays_is_one_loop() {
    for (new, old) in [
        (
            "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 = 2.0 * x + exp(-(y - x)) / 3.0",
            "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 = map (a <- x, b <- y) { 2.0 * a + exp(-(b - a)) / 3.0 }",
        ),
        (
            "def f[n, m](x: [n, m]f64) -> [n, m]f64 = x^2 * x",
            "def f[n, m](x: [n, m]f64) -> [n, m]f64 = map (r <- x) { map (a <- r) { a^2 * a } }",
        ),
        (
            "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum(x * y)",
            "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (a <- x, b <- y) { a * b }",
        ),
        ("def f[n](x: [n]f64) -> f64 = max(x)", "def f[n](x: [n]f64) -> f64 = max (v <- x) v"),
        (
            "def f[n](x: [n]bool) -> bool = all(x)",
            "def f[n](x: [n]bool) -> bool = for (v <- x) carry (p = true) { p && v }",
        ),
        (
            "def f[n](x: [n]f64) -> [n]f64 = cumprod(x)",
            "def f[n](x: [n]f64) -> [n]f64 = { (p, q) = for (v <- x) carry (p = 1.0) { t = p * v; (t, t) }; q }",
        ),
        // What is needed as an array is one.
        (
            "def f[n](x: [n]f64) -> f64 = { y = x * 2.0; (x + y)[0] }",
            "def f[n](x: [n]f64) -> f64 = { y = map (v <- x) { v * 2.0 }; z = map (v <- x, w <- y) { v + w }; z[0] }",
        ),
    ] {
        becomes(new, old);
    }
}

#[test]
fn a_field_is_replaced() {
    becomes(
        "data P = P(x: f64, n: i64)\ndef f(p: P) -> P = p with x = 2.0 * p.x",
        "data P = P(x: f64, n: i64)\ndef f(p: P) -> P = { a = p.x; b = p.x; c = 2.0 * b; P(d, n) = p; P(c, n) }",
    );
}

#[test]
fn a_long_expression_of_arrays_is_one_loop() {
    let text = |name: &str| vec![name; 5000].join(" + ");
    becomes(
        &format!("def f[n](x: [n]f64) -> [n]f64 = {}", text("x")),
        &format!("def f[n](x: [n]f64) -> [n]f64 = map (v <- x) {{ {} }}", text("v")),
    );
}
