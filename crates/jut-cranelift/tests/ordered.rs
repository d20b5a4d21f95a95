//! Sums in the order of a loop, whose terms are computed two at a time: the bits of the evaluator, at every number of iterations, wherever a zero meets what
//! is not finite.

use crate::nested::{agree, taken};

/// Bodies as those of [`crate::nested`], and the loop that has to be taken in pairs.
const BODIES: &[(&str, &str, &str)] = &[
    (
        "one sum",
        "for up vector 8 (i in",
        "(w) = for up (i in 0 .. n) carry (w_1 = 0.25) {
    d = x[i]
    e = d * d
    f = e - 0.5
    g = f * d
    w_2 = w_1 + g
    (w_2)
  }",
    ),
    (
        "three sums, of which one has the term first, what is the same, and a store",
        "for up vector 8 (i in",
        "(s, t, c, u) = for up (i in 0 .. n) carry (s_1 = 0.5, t_1 = -0.0, c_1 = 3.0, u_1 = 0.0) {
    d = x[i]
    e = d * c_1
    f = e + 0.5
    g = sqrt(f)
    a[i] = g
    h = g - d
    k_1 = h * e
    p = abs(k_1)
    q = p / c_1
    s_2 = s_1 + p
    t_2 = q + t_1
    u_2 = u_1 + h
    (s_2, t_2, c_1, u_2)
  }
  st = s * t
  cu = c - u
  w = st + cu",
    ),
    (
        "four sums with their terms first, down",
        "for down vector 8 (i in",
        "(s, t, u, v) = for down (i in 0 .. n) carry (s_1 = 0.5, t_1 = 1.0, u_1 = 0.0, v_1 = -0.0) {
    d = x[i]
    early = i < 3
    (e) = if early {
      l = max(d, 0.25)
      (l)
    } else {
      o = f64(i)
      (o)
    }
    f = e + d
    g = f * d
    h = g - 0.125
    p = h * f
    q = p - e
    r = q * d
    s_2 = g + s_1
    t_2 = h + t_1
    u_2 = p + u_1
    v_2 = r + v_1
    (s_2, t_2, u_2, v_2)
  }
  st = s - t
  uv = u - v
  w = st * uv",
    ),
    (
        "products of derivatives, down, two sums",
        "for down vector 8 stores last (i in",
        "(s, t) = for down (i in 0 .. n) carry (s_1 = 0.0, t_1 = 0.0) {
    d = x[i]
    e = d + 0.5
    f = times(e, d)
    g = times(f, e)
    h = times(g, d)
    k_1 = h + g
    s_2 = s_1 + g
    t_2 = t_1 + h
    a[i] = k_1
    (s_2, t_2)
  }
  w = s - t",
    ),
    (
        "added to neighbours, down, and nothing carried",
        "for down vector 8 (i in",
        "copy a[n] = x
  last = n - 1
  for down (i in 0 .. last) {
    d = x[i]
    e = d * d
    f = a[i]
    g = f + e
    a[i] = g
    after = i + 1
    h = a[after]
    l = h - d
    a[after] = l
  }
  w = 5.0",
    ),
];

/// Coordinates of points, three to a row, and sums over rows.
const POINTS: &str = "copy b[k] = z
  (s, t) = for down (i in 0 .. n) carry (s_1 = 0.0, t_1 = 0.0) {
    at = i * 3
    p = z[at ..]
    px = p[0]
    py = p[1]
    pz = p[2]
    xx = px * px
    yy = py * py
    zz = pz * pz
    xy = xx + yy
    rr = xy + zz
    r = rr + 0.5
    root = sqrt(r)
    d = x[i]
    o = d * d
    l = o + root
    c = l - d
    f = c / root
    fx = times(f, px)
    fy = times(f, py)
    fz = times(f, pz)
    s_2 = s_1 + fx
    t_2 = t_1 + fy
    q = b[at ..]
    q0 = q[1]
    q1 = q0 + fz
    q[1] = q1
    (s_2, t_2)
  }
  w = s * t";

#[test]
fn sums_in_order_in_pairs_have_the_bits_of_one_term_after_the_other() {
    for (what, marked, body) in BODIES {
        let taken = taken(body, marked);
        for n in (0..=19).chain([63, 64, 65, 1024, 1031, 20_001]) {
            for specials in 0..4 {
                agree(what, &taken, [n, 1], specials);
            }
        }
    }
}

#[test]
fn sums_over_points_in_pairs_have_the_bits_of_one_point_after_the_other() {
    let taken = taken(POINTS, "for down vector 8 stores last (i in");
    for n in (0..=19).chain([64, 65]) {
        for specials in 0..4 {
            agree("points", &taken, [n, 3], specials);
        }
    }
}
