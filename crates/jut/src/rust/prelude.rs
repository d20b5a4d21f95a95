//! Definitions that stand before a text which uses them: methods of numbers that mean what Rust means, where the
//! primitives of the text mean something else.
//!
//! A method of floats has two: `rust_max` is of 64 bits, `rust_max_f32` of 32. They differ in their types and in what is not the
//! same number in both ([`short`]).

/// Definitions that are put before a text which uses them, of 64 bits.
const WIDE: &[(&str, &str)] = &[
    (
        "rust_max",
        "def rust_max(a: f64, b: f64) -> f64 = select(a != a, b, select(b != b, a, prim.max(a, b)))",
    ),
    (
        "rust_min",
        "def rust_min(a: f64, b: f64) -> f64 = select(a != a, b, select(b != b, a, prim.min(a, b)))",
    ),
    (
        "rust_clamp",
        "def rust_clamp(x: f64, a: f64, b: f64) -> f64 = {\n  \
         y = prim.select(x < a, a, x)\n  prim.select(y > b, b, y)\n}",
    ),
    (
        "rust_copysign",
        "def rust_copysign(x: f64, s: f64) -> f64 = \
         prim.select(s < 0.0 || (s == 0.0 && 1.0 / s < 0.0), -prim.abs(x), prim.abs(x))",
    ),
    (
        "rust_signum",
        "def rust_signum(x: f64) -> f64 = \
         prim.select(x != x, x, f64(prim.select(x < 0.0 || (x == 0.0 && 1.0 / x < 0.0), -1, 1)))",
    ),
    (
        "rust_rem_euclid",
        "def rust_rem_euclid(x: f64, y: f64) -> f64 = {\n  \
         r = x % y\n  prim.select(r < 0.0, r + prim.abs(y), r)\n}",
    ),
    (
        "rust_div_euclid",
        "def rust_div_euclid(x: f64, y: f64) -> f64 = {\n  \
         q = prim.trunc(x / y)\n  \
         prim.select(x % y < 0.0, prim.select(y > 0.0, q - 1.0, q + 1.0), q)\n}",
    ),
    (
        "rust_round_ties_even",
        "def rust_round_ties_even(x: f64) -> f64 = {\n  \
         low = prim.floor(x)\n  over = x - low\n  \
         even = prim.floor(0.5 * low) * 2.0 == low\n  \
         up = over > 0.5 || (over == 0.5 && !even)\n  \
         y = prim.abs(prim.select(up, low + 1.0, low))\n  \
         prim.select(x < 0.0 || (x == 0.0 && 1.0 / x < 0.0), -y, y)\n}",
    ),
    (
        "rust_is_sign_negative",
        "def rust_is_sign_negative(x: f64) -> bool = x < 0.0 || (x == 0.0 && 1.0 / x < 0.0)",
    ),
    (
        "rust_is_sign_positive",
        "def rust_is_sign_positive(x: f64) -> bool = x > 0.0 || x != x || (x == 0.0 && 1.0 / x > 0.0)",
    ),
    (
        "rust_in_order",
        "def rust_in_order(a: f64, b: f64) -> bool = \
         a < b || b != b || (a == b && (a != 0.0 || 1.0 / a <= 1.0 / b))",
    ),
    // The places of the elements from the first to the last one; what is equal stays in its order.
    (
        "rust_order",
        "def rust_order[n](x: [n]f64, total: bool, down: bool) -> [n]i64 = {
  var from = build (i < n) { i }
  var width = 1
  while width < n {
    var to = from
    for (r < (n + 2 * width - 1) / (2 * width)) {
      low = r * 2 * width
      middle = prim.min(low + width, n)
      high = prim.min(low + 2 * width, n)
      var i = low
      var j = middle
      for (low <= k < high) {
        first = if i < middle {
          if j < high {
            p = if down { from[j] } else { from[i] }
            q = if down { from[i] } else { from[j] }
            a = x[p]
            b = x[q]
            if total { rust_in_order(a, b) } else { a <= b }
          } else { true }
        } else { false }
        if first {
          to[k] = from[i]
          i += 1
        } else {
          to[k] = from[j]
          j += 1
        }
      }
    }
    from = to
    width = 2 * width
  }
  from
}",
    ),
    ("rust_rows", "def rust_rows[n, m](a: [n, m]f64) -> i64 = size(a)"),
    ("rust_columns", "def rust_columns[n, m](a: [n, m]f64) -> i64 = size(a, 1)"),
    ("rust_sizes", "def rust_sizes[n, m](a: [n, m]f64) -> #(i64, i64) = #(size(a), size(a, 1))"),
    ("rust_one", "def rust_one[n](a: [n]f64) -> i64 = prim.min(size(a), 0) + 1"),
    ("rust_height", "def rust_height[n](a: [n]f64) -> #(i64, i64) = #(size(a), 1)"),
    ("rust_size", "def rust_size[n](a: [n]f64) -> i64 = size(a)"),
    ("rust_fract", "def rust_fract(x: f64) -> f64 = x - prim.trunc(x)"),
    ("rust_log", "def rust_log(x: f64, b: f64) -> f64 = prim.log(x) / prim.log(b)"),
    ("rust_recip", "def rust_recip(x: f64) -> f64 = 1.0 / x"),
    ("rust_sin_cos", "def rust_sin_cos(x: f64) -> #(f64, f64) = #(prim.sin(x), prim.cos(x))"),
    ("rust_to_degrees", "def rust_to_degrees(x: f64) -> f64 = x * 57.29577951308232"),
    ("rust_to_radians", "def rust_to_radians(x: f64) -> f64 = x * 0.017453292519943295"),
    ("rust_is_nan", "def rust_is_nan(x: f64) -> bool = x != x"),
    ("rust_is_finite", "def rust_is_finite(x: f64) -> bool = x - x == 0.0"),
    ("rust_is_infinite", "def rust_is_infinite(x: f64) -> bool = x == x && x - x != 0.0"),
];

/// Definitions of 32 bits that have no twin.
const SHORT: &[(&str, &str)] = &[
    (
        "rust_powi_f32",
        "def rust_powi_f32(x: f32, n: i64) -> f32 = {\n  \
         var power = x\n  var left = prim.abs(n)\n  var y = 1.0f32\n  \
         while left > 0 {\n    if prim.bitand(left, 1) == 1 { y *= power }\n    left = left / 2\n    \
         if left > 0 { power *= power }\n  }\n  if n < 0 { 1.0 / y } else { y }\n}",
    ),
    (
        "rust_pow",
        "def rust_pow(x: i64, n: i64) -> i64 = {\n  \
         var power = x\n  var left = n\n  var y = 1\n  \
         while left > 0 {\n    if prim.bitand(left, 1) == 1 { y *= power }\n    left = left / 2\n    \
         if left > 0 { power *= power }\n  }\n  y\n}",
    ),
    // A number that is not exact in 64 bits becomes the odd one of its neighbours, which the second rounding takes to where one
    // rounding would.
    (
        "rust_to_f32",
        "def rust_to_f32(n: i64) -> f32 = {\n  \
         odd = prim.bitor(prim.bitand(n, -1024), prim.select(prim.bitand(n, 1023) == 0, 0, 1024))\n  \
         f32(prim.select(prim.abs(n) < 9007199254740992, n, odd))\n}",
    ),
];

/// Definitions of integers: whether an operation leaves the range of its type, and what counts bits.
const WHOLE: &[(&str, &str)] = &[
    ("rust_over_add_usize", "def rust_over_add_usize(a: i64, b: i64) -> bool = a < 0 && b < 0"),
    ("rust_over_sub_usize", "def rust_over_sub_usize(a: i64, b: i64) -> bool = a < b"),
    (
        "rust_over_mul_usize",
        "def rust_over_mul_usize(a: i64, b: i64) -> bool = f64(a) * f64(b) >= 18446744073709600000.0",
    ),
    (
        "rust_is_large_mul",
        "def rust_is_large_mul(a: i64, b: i64) -> bool = f64(a) * f64(b) >= 9223372036854775808.0",
    ),
    (
        "rust_is_outside",
        "def rust_is_outside(n: i64, least: i64, most: i64) -> bool = n < least || n > most",
    ),
    (
        "rust_over_add_i64",
        "def rust_over_add_i64(a: i64, b: i64) -> bool = \
         prim.bitand(prim.bitxor(a, a + b), prim.bitxor(b, a + b)) < 0",
    ),
    (
        "rust_over_sub_i64",
        "def rust_over_sub_i64(a: i64, b: i64) -> bool = \
         prim.bitand(prim.bitxor(a, b), prim.bitxor(a, a - b)) < 0",
    ),
    // The size says it but where it is near the limit: there, whether a division gives back what was multiplied.
    (
        "rust_over_mul_i64",
        "def rust_over_mul_i64(a: i64, b: i64) -> bool = {
  size = prim.abs(f64(a) * f64(b))
  least = -9223372036854775807 - 1
  if size < 9000000000000000000.0 { false } else {
    if size > 9300000000000000000.0 { true } else {
      if a == -1 || b == -1 { a == least || b == least } else { (a * b) / b != a }
    }
  }
}",
    ),
    // Integers of 64 bits without a sign have the bits of those with one: with the highest bit turned round they are in the same order.
    (
        "rust_below_u64",
        "def rust_below_u64(a: i64, b: i64) -> bool = {
  least = -9223372036854775807 - 1
  prim.bitxor(a, least) < prim.bitxor(b, least)
}",
    ),
    ("rust_over_add_u64", "def rust_over_add_u64(a: i64, b: i64) -> bool = rust_below_u64(a + b, a)"),
    ("rust_over_sub_u64", "def rust_over_sub_u64(a: i64, b: i64) -> bool = rust_below_u64(a, b)"),
    // Half of a number has no sign: twice its quotient is the one that is asked for, or one less.
    (
        "rust_div_u64",
        "def rust_div_u64(a: i64, b: i64, of_half: i64) -> i64 = {
  q = prim.shl(of_half, 1)
  nearly = prim.select(rust_below_u64(a - q * b, b), q, q + 1)
  prim.select(b < 0, prim.select(rust_below_u64(a, b), 0, 1), nearly)
}",
    ),
    (
        "rust_rem_u64",
        "def rust_rem_u64(a: i64, b: i64, of_half: i64) -> i64 = a - rust_div_u64(a, b, of_half) * b",
    ),
    (
        "rust_over_mul_u64",
        "def rust_over_mul_u64(a: i64, b: i64) -> bool = if a == 0 { false } else {
  rust_div_u64(a * b, a, rust_shr_u64(a * b, 1) / a) != b
}",
    ),
    (
        "rust_min_u64",
        "def rust_min_u64(a: i64, b: i64) -> i64 = prim.select(rust_below_u64(b, a), b, a)",
    ),
    (
        "rust_max_u64",
        "def rust_max_u64(a: i64, b: i64) -> i64 = prim.select(rust_below_u64(b, a), a, b)",
    ),
    (
        "rust_shr_u64",
        "def rust_shr_u64(a: i64, n: i64) -> i64 = if n == 0 { a } else {
  prim.shr(prim.bitand(prim.shr(a, 1), 9223372036854775807), n - 1)
}",
    ),
    // The bit that is lost by halving stays in the last one, so that rounding goes where it would.
    (
        "rust_u64_to_f64",
        "def rust_u64_to_f64(a: i64) -> f64 = if a >= 0 { f64(a) } else {
  2.0 * f64(prim.bitor(prim.bitand(prim.shr(a, 1), 9223372036854775807), prim.bitand(a, 1)))
}",
    ),
    (
        "rust_u64_to_f32",
        "def rust_u64_to_f32(a: i64) -> f32 = if a >= 0 { rust_to_f32(a) } else {
  2.0f32 * rust_to_f32(prim.bitor(prim.bitand(prim.shr(a, 1), 9223372036854775807), prim.bitand(a, 1)))
}",
    ),
    (
        "rust_f64_to_u64",
        "def rust_f64_to_u64(x: f64) -> i64 = {
  if x < 9223372036854775808.0 { prim.max(i64(x), 0) } else {
    if x < 18446744073709551616.0 { i64(x - 9223372036854775808.0) - 9223372036854775807 - 1 } else {
      prim.select(x != x, 0, -1)
    }
  }
}",
    ),
    (
        "rust_isqrt",
        "def rust_isqrt(x: i64) -> i64 = {
  var root = prim.min(i64(prim.sqrt(f64(x))), 3037000499)
  while root * root > x { root -= 1 }
  prim.select(root < 3037000499 && (root + 1) * (root + 1) <= x, root + 1, root)
}",
    ),
    (
        "rust_ilog2",
        "def rust_ilog2(x: i64) -> i64 = {
  var left = x / 2
  var n = 0
  while left > 0 {
    left = left / 2
    n += 1
  }
  n
}",
    ),
    (
        "rust_next_power_of_two",
        "def rust_next_power_of_two(x: i64) -> i64 = {
  var power = 1
  while power < x { power = 2 * power }
  power
}",
    ),
    (
        "rust_count_ones",
        "def rust_count_ones(x: i64) -> i64 = {
  var left = prim.bitand(x, 9223372036854775807)
  var n = prim.select(x < 0, 1, 0)
  while left > 0 {
    n += prim.bitand(left, 1)
    left = left / 2
  }
  n
}",
    ),
    (
        "rust_trailing_zeros",
        "def rust_trailing_zeros(x: i64, width: i64) -> i64 = {
  var left = prim.select(x == 0, 1, x)
  var n = prim.select(x == 0, width, 0)
  while prim.bitand(left, 1) == 0 {
    left = left / 2
    n += 1
  }
  n
}",
    ),
];

/// All names.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let wide = WIDE.iter().flat_map(|(name, _)| [name.to_string(), format!("{name}_f32")]);
    let whole = ["rust_order_i64".to_string()];
    wide.chain(whole).chain(SHORT.iter().chain(WHOLE).map(|(name, _)| name.to_string()))
}

/// The definitions that a text uses.
pub(crate) fn used(text: &str) -> impl Iterator<Item = String> {
    // Those that other definitions use stand in these: they are named, and looked for again.
    let mut text = std::borrow::Cow::Borrowed(text);
    loop {
        let named = |name: &str| text.contains(&format!("{name}("));
        let inner = |(name, definition): &&(&str, &'static str)| {
            named(name) && name.contains("u64") && !text.contains(*definition)
        };
        let more: String =
            WHOLE.iter().filter(inner).map(|(_, definition)| format!("{definition}\n")).collect();
        if more.is_empty() {
            break;
        }
        text = (text.into_owned() + &more).into();
    }
    definitions(text.into_owned())
}

/// The definitions whose names stand in a text.
fn definitions(text: String) -> impl Iterator<Item = String> {
    let named = move |name: &str| text.contains(&format!("{name}("));
    // An order compares.
    let has = move |name: &str| match name.strip_prefix("rust_in_order") {
        Some(width) => named(name) || named(&format!("rust_order{width}")),
        None => named(name),
    };
    let wide = WIDE.iter().flat_map(|(name, definition)| {
        let single = format!("{name}_f32");
        [has(name).then(|| definition.to_string()), has(&single).then(|| short(name, definition))]
    });
    let single = SHORT
        .iter()
        .chain(WHOLE)
        .map(|(name, definition)| has(name).then(|| definition.to_string()));
    let whole = has("rust_order_i64").then(whole_order);
    wide.chain(single).flatten().chain(whole).collect::<Vec<_>>().into_iter()
}

/// The order of integers.
fn whole_order() -> String {
    let order = WIDE.iter().find(|(name, _)| *name == "rust_order").map_or("", |(_, text)| text);
    order
        .replacen("rust_order", "rust_order_i64", 1)
        .replace("f64", "i64")
        .replace("if total { rust_in_order(a, b) } else { a <= b }", "a <= b")
}

/// A definition of 64 bits as one of 32.
fn short(name: &str, definition: &str) -> String {
    definition
        .replacen(name, &format!("{name}_f32"), 1)
        .replace("f64", "f32")
        .replace("rust_in_order(", "rust_in_order_f32(")
        .replace("57.29577951308232", "57.29578")
        .replace("0.017453292519943295", "0.017453292")
}
