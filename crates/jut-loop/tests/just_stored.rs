//! Sums of which two terms are taken at once, and arrays that were stored to just before.

use crate::vector::program;
use jut_loop::analysis::JustStored;
use jut_loop::form::Stmt;

/// Whether a sum loads what has just been stored, with these statements before it, in it and behind it.
fn loads(before: &str, inside: &str, behind: &str) -> bool {
    let text = format!(
        "loop def f(n: i64, k: i64, x: in f64[n], m: in f64[3*n], y: out f64[n], z: out f64[n], w: inout f64[n]) -> (f64) = {{
  fill y[n] = 0.5
  e = alloc f64[n] @0:0..0
  g = alloc f64[n] @0:0..0
  fill e[n] = 1.0
  fill g[n] = 2.0
  (r) = for up (c in 0 .. k) carry (r_1 = 0.0) {{
    h = f64(c)
    {before}
    (s) = lanes vector 8 (sum in 0 .. n) carry (s_1) {{
      a = x[sum]
      {inside}
      b = a * v
      s_2 = s_1 + b
      (s_2)
    }}
    {behind}
    r_2 = r_1 + s
    (r_2)
  }}
  (r)
}}"
    );
    let program = program(&text);
    let func = program.funcs.values().next().expect("a function");
    let mut index = None;
    func.body.for_each(&mut |stmt| match stmt {
        Stmt::Lanes(sum) if func.values[sum.index].name == "sum" => index = Some(sum.index),
        _ => {}
    });
    JustStored::of(func).is_loaded_by(index.expect("a sum"))
}

#[test]
fn what_is_only_read_or_was_stored_before_the_loops_is_not_just_stored() {
    assert!(!loads("", "v = x[sum]", ""));
    assert!(!loads("", "v = e[sum]", ""));
    assert!(!loads("", "v = y[sum]", ""));
    assert!(!loads("z[0] = h", "v = e[sum]", "y[0] = h"));
    assert!(!loads("fill g[n] = h", "v = e[sum]", ""));
}

#[test]
fn what_a_statement_round_the_sum_stores_is() {
    assert!(loads("e[0] = h", "v = e[sum]", ""));
    assert!(loads("", "v = e[sum]", "e[0] = h"));
    assert!(loads("fill e[n] = h", "v = e[sum]", ""));
    assert!(loads("copy e[n] = x", "v = e[sum]", ""));
    assert!(loads("one = e[1 ..]\n one[0] = h", "v = e[sum]", ""));
    assert!(loads("for up (i in 0 .. n) {\n e[i] = h\n }", "v = e[sum]", ""));
    assert!(loads("e[0] = h", "two = e[1 ..]\n v = two[sum]", ""));
    // Accumulators of the caller may be any memory that is not the function's own.
    assert!(loads("", "v = w[sum]", ""));
}

#[test]
fn what_is_loaded_one_by_one_does_not_wait() {
    // The same cell for all terms, every third one, and the last ones first.
    assert!(!loads("e[0] = h", "v = e[0]", ""));
    assert!(!loads("e[0] = h", "three = sum * 3\n v = e[three]", ""));
    assert!(!loads("e[0] = h", "most = n - 1\n j = most - sum\n v = e[j]", ""));
}

#[test]
fn what_sums_store_two_at_a_time_does_not_wait() {
    // The sum itself, at the cells that it loads.
    assert!(!loads("", "v = y[sum]\n u = v + a\n y[sum] = u", ""));
    assert!(loads("", "next = sum + 1\n v = y[next]\n u = v + a\n y[sum] = u", ""));
    assert!(loads("", "v = y[sum]\n u = v + a\n next = sum + 1\n y[next] = u", ""));
    assert!(loads("one = y[1 ..]", "v = y[sum]\n u = v + a\n one[sum] = u", ""));
    assert!(loads("y[0] = h", "v = y[sum]\n u = v + a\n y[sum] = u", ""));
    // Another one, over the same range.
    let other = |mark: &str, end: &str, inside: &str, index: &str| {
        format!(
            "(t) = lanes{mark} (i in 0 .. {end}) carry (t_1) {{
      {inside}
      q = x[i]
      e[{index}] = q
      t_2 = t_1 + q
      (t_2)
    }}"
        )
    };
    assert!(!loads(&other(" vector 8", "n", "", "i"), "v = e[sum]", ""));
    assert!(loads(&other("", "n", "", "i"), "v = e[sum]", ""));
    assert!(loads(&other(" vector 8", "k", "", "i"), "v = e[sum]", ""));
    assert!(loads(&other(" vector 8", "n", "next = i + 1", "next"), "v = e[sum]", ""));
    let both = format!("{}\n e[1] = h", other(" vector 8", "n", "", "i"));
    assert!(loads(&both, "v = e[sum]", ""));
    // One that loads what was just stored does not go two at a time itself.
    let alone = format!("g[0] = h\n {}", other(" vector 8", "n", "p = g[i]", "i"));
    assert!(loads(&alone, "v = e[sum]", ""));
}
