//! What the text for LLVM says, and what it must never say. LLVM need not be built in.

use crate::support::{lowered, lowered_gradient};

const DOT: &str = "def dot[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { x[i] * y[i] }";

const EACH: &str = "def each[n](x: [n]f64) -> [n]f64 = for (i < n) { exp(x[i]) + 1.0 }";

const GATHER: &str = "def pick[n, m](x: [n]f64, at: [m]i64) -> f64 = sum (i < m) { x[at[i]] }";

fn text(source: &str, name: &str) -> String {
    jut_llvm::text(&lowered(source, name)).expect("text")
}

#[test]
fn no_float_operation_may_be_changed() {
    for (source, name) in [(DOT, "dot"), (EACH, "each"), (GATHER, "pick")] {
        for text in [
            text(source, name),
            jut_llvm::text(&lowered_gradient(source, name)).unwrap_or_default(),
        ] {
            for flag in ["reassoc", "contract", "nnan", "ninf", "nsz", "arcp", "afn"] {
                let found = text.split(|c: char| !c.is_alphanumeric()).any(|word| word == flag);
                assert!(!found, "{flag}\n{text}");
            }
            assert!(!text.contains("fmuladd") && !text.contains("llvm.fma"), "{text}");
            assert!(!text.contains("fadd fast") && !text.contains("fmul fast"), "{text}");
        }
    }
}

#[test]
fn pieces_of_a_long_function_stay_functions_of_their_own() {
    let mut source = String::from("def f(x: f64) -> f64 = {\n  t0 = x\n");
    for k in 1..=10_000 {
        source += &format!("  t{k} = t{} * x + {k}.5\n", k - 1);
    }
    source += "  t10000\n}\n";
    let text = text(&source, "f");
    let heads: Vec<&str> = text.lines().filter(|line| line.contains(".part")).collect();
    let defined = heads.iter().filter(|line| line.starts_with("define"));
    assert!(defined.clone().count() >= 8 && defined.clone().all(|line| line.contains("noinline")));
    let whole = text.lines().find(|line| line.starts_with("define") && line.contains(".f\"("));
    assert!(whole.is_some_and(|line| !line.contains("noinline")), "{whole:?}");
}

#[test]
fn a_sum_is_eight_lanes_in_a_vector() {
    let text = text(DOT, "dot");
    assert!(text.contains("fmul <8 x double>") && text.contains("fadd <8 x double>"), "{text}");
    assert!(text.contains("load <8 x double>"), "{text}");
    assert!(text.contains("call i64 @llvm.umin.i64(i64") && text.contains("i64 1024)"), "{text}");
}

#[test]
fn a_sum_of_eight_terms_at_most_is_no_loop() {
    let made = text(DOT, "dot");
    let asks = |text: &str| {
        text.lines().filter(|line| line.contains("icmp ule") && line.ends_with(", 8")).count()
    };
    assert_eq!(asks(&made), 1, "{made}");
    // The terms at once, with a mask; eight at a time; what is left of them, with a mask.
    assert_eq!(made.matches("fmul <8 x double>").count(), 3, "{made}");
    assert_eq!(made.matches("call <8 x double> @llvm.masked.load").count(), 4, "{made}");
    // A function in a term costs more than the loop around it.
    let called = "def f[n](x: [n]f64) -> f64 = sum (i < n) { exp(x[i]) }";
    assert_eq!(asks(&text(called, "f")), 0);
}

#[test]
fn the_terms_of_a_sum_in_order_are_computed_together_and_added_one_after_the_other() {
    let sum = "def f[n](x: [n]f64) -> f64 =
  for (i < n) carry (s = 0.5) { s + (x[i] * x[i] - 3.0) * x[i] }";
    let made = text(sum, "f");
    assert!(made.contains("fmul <8 x double>") && !made.contains("fadd <8 x double>"), "{made}");
    let add = "call double @llvm.vector.reduce.fadd.v8f64(double %";
    assert_eq!(made.matches(add).count(), 1, "{made}");
    assert!(!made.contains("<i32 7, i32 6"), "{made}");
    // The gradient's loop runs down.
    let power = "def f[n](x: [n]f64, a: f64) -> f64 =
  for (i < n) carry (s = a) { s + x[i] * a * (x[i] - a) * 2.0 }";
    let made = jut_llvm::text(&lowered_gradient(power, "f")).expect("text");
    assert!(made.contains(add), "{made}");
    // What is added depends on what has been added.
    let product = "def f[n](x: [n]f64) -> f64 =
  for (i < n) carry (s = 0.5) { s + (x[i] * x[i] - s) * x[i] }";
    assert!(!text(product, "f").contains("<8 x double>"));
}

#[test]
fn several_sums_in_order_are_lanes_of_one_vector() {
    let sums = "def f[n](x: [n]f64) -> f64 = {
  var (s, t) = (0.5, 1.5)
  for (i < n) { s += (x[i] * x[i] - 3.0) * x[i]; t += (x[i] + 2.0) * (x[i] - 0.5) }
  s * t
}";
    let made = text(sums, "f");
    assert!(made.contains("<i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>"), "{made}");
    assert_eq!(made.matches("fadd <8 x double>").count(), 1 + 8, "{made}");
    assert!(!made.contains("reduce.fadd"), "{made}");
}

#[test]
fn what_was_stored_to_neighbours_is_not_loaded() {
    let sweep = "def f[n](w0: [n]f64, steps: i64) -> f64 = {
  var w = w0
  for (t < steps, i < n - 1) { w[i] = 0.25 * w[i + 1] + 0.75 * w[i] * w[i] }
  w[0]
}";
    let made = jut_llvm::text(&lowered_gradient(sweep, "f")).expect("text");
    let seven = "<i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 poison>";
    assert!(made.contains(seven), "{made}");
    let far = sweep.replace("n - 1", "n - 9").replace("i + 1", "i + 9");
    let made = jut_llvm::text(&lowered_gradient(&far, "f")).expect("text");
    assert!(made.contains("<8 x double>") && !made.contains(seven), "{made}");
}

#[test]
fn numbers_that_lie_a_few_cells_apart_come_from_vectors_of_neighbours() {
    let pairs = "def f[n](x: [n, 2]f64) -> f64 = sum (i < n) { x[i, 0] * x[i, 1] }";
    let second = "<i32 0, i32 1, i32 2, i32 3, i32 9, i32 11, i32 13, i32 15>";
    assert_eq!(text(pairs, "f").matches(second).count(), 2);
    // Backwards, it is one vector.
    let reversed = "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { x[i] * y[n - 1 - i] }";
    let made = text(reversed, "f");
    assert!(made.contains("<i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8>"));
    // What is stored beside would be waited for, and what is far apart is more vectors than numbers.
    let stored = "def f[n](x0: [n, 2]f64) -> f64 = {
  var (x, s) = (x0, 0.5)
  for (i < n) { x[i, 0] = x[i, 1] * 0.5; s += (x[i, 1] * x[i, 1] - 3.0) * x[i, 1] }
  s * x[0, 0]
}";
    let made = text(stored, "f");
    assert!(made.contains("fmul <8 x double>") && !made.contains(second), "{made}");
    let far = pairs.replace("[n, 2]", "[n, 9]");
    assert!(!text(&far, "f").contains("i32 poison>"));
}

#[test]
fn a_function_in_a_loop_that_carries_is_called_for_eight_with_a_buffer_on_the_stack() {
    let source = "def f[n](x: [n]f64) -> f64 = for (i < n) carry (p = 1.0) { p * exp(x[i]) + 1.0 }";
    let made = text(source, "f");
    assert!(made.contains("@jut_exp.8(<8 x double>"), "{made}");
    assert!(made.contains("alloca [8192 x i8], align 64"), "{made}");
}

#[test]
fn no_check_stands_where_the_types_prove_it() {
    assert!(!text(DOT, "dot").contains("call i32 @jut.fail"));
    assert!(!text(EACH, "each").contains("call i32 @jut.fail"));
    assert!(text(GATHER, "pick").contains("call i32 @jut.fail"));
}

#[test]
fn buffers_from_outside_do_not_overlap_what_is_written() {
    let text = text(EACH, "each");
    let head = text.lines().find(|line| line.contains("each\"(")).unwrap_or_default();
    assert_eq!(head.matches("ptr noalias noundef").count(), 3, "{head}");
}

#[test]
fn a_loop_calls_the_function_of_eight_which_is_written_out() {
    let text = text(EACH, "each");
    assert!(text.contains("call <8 x double> @jut_exp.8(<8 x double>"), "{text}");
    let (_, function) = text.split_once("@jut_exp.8(<8 x double> %t0) #9 {").unwrap_or_default();
    let (function, _) = function.split_once("\n}").unwrap_or_default();
    // The formula: a polynomial, and no division. Unusual arguments go to the runtime.
    assert!(function.matches("fmul <8 x double>").count() > 10, "{text}");
    assert!(!function.contains("fdiv"), "{text}");
    assert!(function.contains("@jut_exp.8.any"), "{text}");
}

#[test]
fn the_last_iterations_of_eight_are_masked() {
    for (source, name) in [(DOT, "dot"), (EACH, "each")] {
        let text = text(source, name);
        assert!(text.contains("@llvm.masked.load.v8f64.p0(ptr align 8"), "{text}");
    }
    assert!(text(EACH, "each").contains("@llvm.masked.store.v8f64.p0(<8 x double>"));
}

#[test]
fn the_last_iterations_load_what_they_store_again_in_pieces() {
    // A row that every iteration of the loop around adds to.
    let rows = "def f[n, d](x: [n, d]f64, w: [d]f64) -> f64 = sum (i < n) { sum (j < d) { w[j] * x[i, j] }^2 }
def g[n, d](x: [n, d]f64, w: [d]f64) -> [d]f64 = grad(f, w)(x, w)";
    let text = text(rows, "g");
    assert!(text.contains("call <8 x double> @jut.load.first(ptr"), "{text}");
    assert!(text.contains("call void @jut.store.first(ptr"), "{text}");
    assert!(text.contains("store <2 x double> %x2, ptr %p2, align 8"), "{text}");
}

#[test]
fn one_call_makes_the_sine_and_the_cosine_of_a_number() {
    let source = "def f(x: f64) -> f64 = sin(cos(x)) + cos(x * 2.0)";
    let value = text(source, "f");
    assert!(!value.contains("jut_sin_cos"), "{value}");
    let gradient = jut_llvm::text(&lowered_gradient(source, "f")).expect("text");
    assert_eq!(gradient.matches("call double @jut_sin_cos(").count(), 3, "{gradient}");
    assert_eq!(gradient.matches("declare double @jut_sin_cos(").count(), 1, "{gradient}");
    assert!(!gradient.contains("@jut_sin(") && !gradient.contains("@jut_cos("), "{gradient}");
}

#[test]
fn eight_powers_are_written_out() {
    let text = text("def each[n](x: [n]f64, p: f64) -> [n]f64 = for (i < n) { x[i]^p }", "each");
    assert!(text.contains("call <8 x double> @jut_pow.8(<8 x double>"), "{text}");
    assert!(text.contains("call void @jut_pow_n(ptr %t2, ptr %t3, ptr %t4, i64 8)"), "{text}");
}

#[test]
fn a_gather_tests_eight_indices_at_once_and_goes_back_to_one_to_fail() {
    let text = text(GATHER, "pick");
    assert!(text.contains("@llvm.masked.gather.v8f64"), "{text}");
    assert!(text.contains("@llvm.vector.reduce.and.v8i1"), "{text}");
}

#[test]
fn products_of_derivatives_are_looked_at_where_they_show() {
    let three = "def f[n](x: [n]f64, y: [n]f64, w: [n]f64) -> f64 =
  sum (i < n) { x[i] * y[i] * w[i] + x[i] * x[i] }";
    let text = jut_llvm::text(&lowered_gradient(three, "f")).expect("text");
    // One comparison for all gradients, where whole vectors are taken, where the last is cut short, and where there are few numbers.
    assert_eq!(text.matches("fcmp ord <8 x double>").count(), 3, "{text}");
    // What is computed once more is computed without branches: two products in each place.
    assert_eq!(text.matches("fcmp uno <8 x double>").count(), 6, "{text}");
}

#[test]
fn products_of_derivatives_of_single_iterations_are_looked_at_together() {
    let two = "def f[n](x: [n]f64, a: f64, b: f64) -> f64 = {
  (p, q) = for (i < n) carry (p = a, q = b) { (p * q + x[i] * p, q * x[i] - p * b) }
  p + q
}";
    let text = jut_llvm::text(&lowered_gradient(two, "f")).expect("text");
    let ordered = text.matches("fcmp ord double").count();
    let again = text.matches("fcmp uno double").count();
    // All that a step back carries is looked at, two numbers at a time, and so is what it stores.
    assert!(again >= 6 && 2 * ordered <= again, "{ordered} {again}\n{text}");
    // What is computed once more begins with numbers that are not known to be those of before, but for those of outside of the loop.
    let fence = "@llvm.arithmetic.fence.f64(double %";
    assert!(text.contains(fence), "{text}");
    let (_, function) = text.split_once(".f.grad").unwrap_or_default();
    let outside = function.lines().filter(|line| line.contains(fence) && line.contains("%t1)"));
    assert_eq!(outside.count(), 0, "{text}");
}

#[test]
fn one_product_of_derivatives_has_a_branch_of_its_own() {
    let text =
        jut_llvm::text(&lowered_gradient("def f(x: f64) -> f64 = sin(cos(x))", "f")).expect("text");
    assert_eq!(text.matches("fcmp ord double").count(), 1, "{text}");
    assert!(!text.contains("arithmetic.fence"), "{text}");
}
