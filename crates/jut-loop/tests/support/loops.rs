//! Loops that several tests transform. `ORDER` stands for the order of their iterations.

/// A branch that is partly the same in all iterations.
pub const SWITCHED: &str = "
loop def f(n: i64, edge: bool, x: in f64[n], y: inout f64[n]) -> (f64) = {
  (s) = for up (i in 0 .. n) carry (t = 0.5) {
    first = i == 0
    at_edge = edge || first
    a = x[i]
    (b, u) = if at_edge {
      (a, t)
    } else {
      c = a * 2.0
      v = t + c
      (c, v)
    }
    y[i] = b
    (u)
  }
  (s)
}";

/// What a price is after n shocks, and the sum of all prices.
pub const PRICES: &str = "
loop def f(n: i64, s: f64, z: in f64[n], p: out f64[n]) -> (f64, f64) = {
  (a, b) = for ORDER (j in 0 .. n) carry (p_1 = s, b_1 = 0.0) {
    z_1 = z[j]
    t = s * z_1
    e = exp(t)
    p_2 = p_1 * e
    b_2 = b_1 + p_2
    p[j] = p_1
    (p_2, b_2)
  }
  (a, b)
}";

/// A loop of two sums in order beside something that is the same in all iterations, which stores to every
/// other cell.
pub const SUMS_IN_ORDER: &str = "
loop def f(n: i64, x: in f64[n], y: inout f64[2*n + 3], k: in i64[n]) -> (f64, f64, f64) = {
  (a, b, c) = for ORDER (i in 0 .. n) carry (s = 0.5, t = 1.0, r = 3.0) {
    x_1 = x[i]
    x_2 = x_1 * x_1
    x_3 = x_2 * r
    x_4 = x_3 - x_1
    z = sin(x_4)
    w = z * r
    v = w - x_2
    s_1 = s + x_4
    t_1 = v + t
    j = i * 2
    y_1 = y[j ..]
    u = y_1[1]
    u_1 = u + x_3
    y_1[1] = u_1
    (s_1, t_1, r)
  }
  (a, b, c)
}";

/// The loops back through an elimination: row p of a matrix, and the rows from p on.
pub const BEHIND: &str = "
loop def f(n: i64, m: i64, a: in f64[n*m], y: out f64[n*m]) = {
  size = n * m
  g = alloc f64[size]
  copy g[size] = a
  for down (p in 0 .. n) {
    high = n - p
    first = p * m
    r = g[first ..]
    for up (k in 0 .. m) {
      for down (i in 0 .. high) {
        q = p + i
        begin = q * m
        s = g[begin ..]
        t = s[k]
        u = t * 0.5
        c = r[k]
        d = c + u
        r[k] = d
        v = s[0]
        w = v - u
        s[0] = w
      }
    }
  }
  copy y[size] = g
}";

/// A loop that adds to a cell of a row, to one of the row before, and once more to the first one.
pub const ROWS_APART: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) = {
  end = n - 1
  last = m - 1
  for up (i in 0 .. end) {
    row = i * m
    before = g[row ..]
    k = 1 + i
    k_row = k * m
    own = g[k_row ..]
    for up (j in 0 .. last) {
      p = 1 + j
      c = x[j]
      a = own[p]
      a_1 = a + c
      own[p] = a_1
      u = before[p]
      u_1 = u + c
      before[p] = u_1
      b = own[p]
      b_1 = b * c
      own[p] = b_1
    }
  }
}";

/// The loop back through an elimination in place: a column times the rows behind row j, and that row, by columns.
pub const ELIMINATION: &str = "
loop def f(n: i64, l: in f64[n*n], g: out f64[n*n]) = {
  size = n * n
  fill g[size] = 0.5
  for up (j in 0 .. n) {
    m = n - j
    row = j * n
    own = g[row ..]
    source = l[row ..]
    for down (k in 0 .. j) {
      f = source[k]
      for down (i in 0 .. m) {
        i_1 = j + i
        row_1 = i_1 * n
        other = g[row_1 ..]
        from = l[row_1 ..]
        c = other[j]
        t = from[k]
        u = t * c
        v = f * c
        d = 0.0 + c
        other[j] = d
        a = own[k]
        a_1 = a + u
        own[k] = a_1
        b = other[k]
        b_1 = b + v
        other[k] = b_1
      }
    }
  }
}";

/// A factorisation by columns: a row times the rows behind it, of which each has one cell for the sum.
pub const FACTOR: &str = "
loop def f(n: i64, l: in f64[n*n], g: out f64[n*n]) = {
  size = n * n
  copy g[size] = l
  for up (j in 0 .. n) {
    m = n - j
    row = j * n
    own = g[row ..]
    for up (k in 0 .. j) {
      for up (i in 0 .. m) {
        i_1 = j + i
        row_1 = i_1 * n
        t = g[row_1 ..]
        a = t[k]
        b = own[k]
        c = a * b
        d = t[j]
        e = d - c
        t[j] = e
      }
    }
  }
}";

/// The sum of squares of differences, which leaves half of each term's derivative, and its gradient.
pub const CHAIN: &str = "
loop def f(n: i64, m: i64, x: in f64[n], y: inout f64[n], g: inout f64[n]) -> (f64, f64) = {
  c = alloc f64[n] @0:0..1
  (s) = lanes (i in 0 .. m) carry (t) {
    j = i + 1
    a = x[j]
    b = x[i]
    d = a - b
    e = d * d
    u = t + e
    c[i] = d
    (u)
  }
  r = s * 0.5
  for up (k in 0 .. m) {
    h = c[k]
    p = h + h
    q = g[k]
    v = q - p
    g[k] = v
    l = k + 1
    w = g[l]
    z = w + p
    g[l] = z
  }
  o = r + s
  (r, o)
}";

/// Two cells, which are one where n is 1, and then all of them: numbers whose sum depends on the order.
pub const POINTS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n]) = {
  some = 0 < n
  if some {
    last = n - 1
    k = min(m, last)
    l = last - k
    fill g[n] = 0.0
    a = g[k]
    b = a + 1e16
    g[k] = b
    p = f64(n)
    c = g[l]
    d = p + c
    g[l] = d
    for par (i in 0 .. n) {
      t = f64(i)
      u = t * -1.0
      e = g[i]
      h = e + u
      g[i] = h
    }
  } else {
  }
}";

/// Sums, in a loop, to which the ends of a range add nothing.
pub const MIDDLE: &str = "
loop def f(n: i64, x: in f64[n], c: in f64[n]) -> (f64, f64) = {
  last = n - 1
  (total, other) = for up (t in 0 .. 2) carry (s_0 = 0.25, r_0 = 0.0) {
    (s, r) = lanes (i in 0 .. n) carry (s_1, r_1) {
      d = c[i]
      begins = i == 0
      ends = i == last
      edge = begins || ends
      (s_2, r_2) = if edge {
        (s_1, r_1)
      } else {
        j = i - 1
        left = x[j]
        k = i + 1
        right = x[k]
        rise = right - left
        p = rise * d
        s_3 = s_1 + p
        q = left * d
        r_3 = r_1 + q
        (s_3, r_3)
      }
      (s_2, r_2)
    }
    s_4 = s_0 + s
    r_4 = r_0 + r
    (s_4, r_4)
  }
  (total, other)
}";

/// Neighbours where the ends are doubled.
pub const DOUBLED: &str = "l = i - 1\n left = max(l, 0)\n r = i + 1\n right = min(last, r)";

/// A sum over neighbours that CHOICE names `left` and `right`.
pub const CHOSEN: &str = "
loop def f(n: i64, x: in f64[n], y: inout f64[n]) -> (f64) = {
  last = n - 1
  (s) = lanes (i in 0 .. n) carry (s_1) {
    CHOICE
    check left < n @0:0..1
    b = x[left]
    check right < n @0:1..2
    c = x[right]
    d = b - c
    s_2 = s_1 + d
    (s_2)
  }
  (s)
}";

/// A sum over a grid, and what its gradient adds to the rows above and below, which CHOICE names `left` and `right`.
pub const CHOSEN_ROWS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) -> (f64) = {
  check n < 100 @0:0..1
  last = n - 1
  (s) = lanes (i in 0 .. n) carry (s_1) {
    CHOICE
    check left < n @0:1..2
    check right < n @0:2..3
    row = i * m
    own = x[row ..]
    first = left * m
    ups = g[first ..]
    second = right * m
    downs = g[second ..]
    (t) = lanes (j in 0 .. m) carry (t_1) {
      b = own[j]
      c = b * b
      d = b + c
      u = ups[j]
      u_1 = u + d
      ups[j] = u_1
      v = downs[j]
      v_1 = v - c
      downs[j] = v_1
      t_2 = t_1 + d
      (t_2)
    }
    s_2 = s_1 + t
    (s_2)
  }
  (s)
}";

/// Steps over time of three loops: what a number is due, the next state, and a sum of it that is remembered.
pub const STEPS: &str = "
loop def f(n: i64, m: i64, x: in f64[n], k: in f64[n], h: in f64[m], y: inout f64[n], g: inout f64[m]) -> (f64) = {
  first = alloc f64[n] @0:0..1
  second = alloc f64[n] @0:0..1
  copy first[n] = x
  (p, q) = for up (t in 0 .. m) carry (u = first, w = second) {
    top = mark
    f = alloc f64[n] @0:0..1
    for par (i in 0 .. n) {
      c = u[i]
      d = k[i]
      e = c * d
      f[i] = e
    }
    s = h[t]
    for par (j in 0 .. n) {
      c_1 = u[j]
      a = f[j]
      o = a * s
      z = c_1 + o
      w[j] = z
    }
    (r) = lanes (l in 0 .. n) carry (r_1) {
      c_3 = w[l]
      r_2 = r_1 + c_3
      (r_2)
    }
    g[t] = r
    release top
    (w, u)
  }
  (v) = lanes (k_1 in 0 .. n) carry (v_1) {
    b = p[k_1]
    v_2 = v_1 + b
    (v_2)
  }
  (v)
}";

/// A loop with a sum for each of its iterations, which also stores to a row that is the same for all, and to one of its own.
pub const SUMS_OF_ROWS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], z: in f64[m], y: out f64[n*m], v: out f64[m], w: out f64[n]) = {
  size = n * m
  g = alloc f64[size]
  copy g[size] = x
  h = alloc f64[m]
  copy h[m] = z
  k = alloc f64[n]
  fill k[n] = 0.5
  for ORDER (i in 0 .. n) {
    row = i * m
    a = x[row ..]
    r = g[row ..]
    b = a[0]
    (s) = for up (j in 0 .. m) carry (s_1 = b) {
      c = a[j]
      d = z[j]
      p = c * d
      e = r[j]
      q = e + p
      r[j] = q
      l = h[j]
      t = l + p
      h[j] = t
      s_2 = s_1 + p
      (s_2)
    }
    o = k[i]
    u = o + s
    k[i] = u
  }
  copy y[size] = g
  copy v[m] = h
  copy w[n] = k
}";
