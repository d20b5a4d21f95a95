//! Sums by lanes, two lanes to a register: the bits of the evaluator at every number of iterations that is left of eight and of a block, wherever a zero meets
//! what is not finite.

use crate::nested::{agree, taken};

/// Bodies as those of [`crate::nested`], and the loop that has to be taken in pairs.
const BODIES: &[(&str, &str, &str)] = &[
    (
        "one sum",
        "lanes vector 8 (i in",
        "(w) = lanes (i in 0 .. n) carry (w_1) {
    d = x[i]
    e = d - 0.25
    f = e * e
    w_2 = w_1 + f
    (w_2)
  }",
    ),
    (
        "three sums, a store, and an index that grows",
        "lanes vector 8 (i in",
        "(s, t, u) = lanes (i in 0 .. n) carry (s_1, t_1, u_1) {
    d = x[i]
    h = f64(i)
    e = d * h
    f = abs(e)
    g = sqrt(f)
    a[i] = g
    low = i < 5
    (c) = if low {
      l = max(d, 0.5)
      (l)
    } else {
      o = d - g
      (o)
    }
    s_2 = s_1 + e
    t_2 = t_1 + g
    u_2 = u_1 - c
    (s_2, t_2, u_2)
  }
  st = s - t
  w = st + u",
    ),
    (
        "products of derivatives",
        "lanes vector 8 stores last (i in",
        "(s, t) = lanes (i in 0 .. n) carry (s_1, t_1) {
    d = x[i]
    e = d + 0.5
    f = times(e, d)
    g = times(f, e)
    s_2 = s_1 + f
    t_2 = t_1 + g
    a[i] = f
    (s_2, t_2)
  }
  w = s - t",
    ),
    (
        "what a value was in the iteration before",
        "lanes vector 8 (i in",
        "(w) = lanes (i in 0 .. n) carry (w_1) {
    d = x[i]
    e = d * d
    before = previous e else 0.75
    f = e - before
    a[i] = f
    w_2 = w_1 + f
    (w_2)
  }",
    ),
    (
        "rows of a few terms",
        "lanes vector 8 (j in",
        "(w) = for up (i in 0 .. n) carry (w_1 = 0.5) {
    at = i * m
    row = z[at ..]
    (s) = lanes (j in 0 .. m) carry (s_1) {
      d = row[j]
      e = y[j]
      f = d - e
      g = f * f
      s_2 = s_1 + g
      (s_2)
    }
    r = w_1 * 0.5
    w_2 = r - s
    (w_2)
  }",
    ),
    (
        "rows that it adds to",
        "lanes vector 8 (j in",
        "fill b[k] = 0.5
  (w) = for up (i in 0 .. n) carry (w_1 = 0.5) {
    at = i * m
    half = at / 2
    row = z[at ..]
    sums = b[half ..]
    (s) = lanes (j in 0 .. m) carry (s_1) {
      d = row[j]
      e = sums[j]
      f = e - d
      sums[j] = f
      s_2 = s_1 + f
      (s_2)
    }
    w_2 = w_1 - s
    (w_2)
  }",
    ),
    (
        "what a sum before it has stored",
        "lanes vector 8 (l in",
        "(w) = for up (i in 0 .. n) carry (w_1 = 0.5) {
    at = i * m
    row = z[at ..]
    kept = b[at ..]
    (s) = lanes (j in 0 .. m) carry (s_1) {
      d = row[j]
      e = y[j]
      f = d * e
      kept[j] = f
      s_2 = s_1 + f
      (s_2)
    }
    (t) = lanes (l in 0 .. m) carry (t_1) {
      g = kept[l]
      h = g - s
      o = h * h
      kept[l] = o
      t_2 = t_1 + o
      (t_2)
    }
    w_2 = w_1 - t
    (w_2)
  }",
    ),
];

#[test]
fn lanes_two_to_a_register_have_the_bits_of_each_alone() {
    for (what, marked, body) in BODIES {
        let taken = taken(body, marked);
        for n in (0..=19).chain([1023, 1024, 1025, 1026, 1027, 1031, 2049, 2054]) {
            for specials in 0..4 {
                agree(what, &taken, [n, n.min(19)], specials);
            }
        }
    }
}
