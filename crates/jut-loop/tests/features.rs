//! Every construct of the non-linear core, by the interpreter and by the loop form: the same bits,
//! the same errors.

use crate::support::{agree, agree_with, func, load};
use jut_ad::{Derivatives, Mask, Policy, compose, erase};
use jut_eval::Value;
use jut_ir::{Program, RuntimeErrorKind};

fn xs(values: &[f64]) -> Value {
    Value::floats(values.to_vec())
}

fn ints(values: &[i64]) -> Value {
    Value::ints(values.to_vec())
}

fn grid(n: usize, m: usize) -> Value {
    Value::matrix(n, m, (0..n * m).map(|k| (k as f64).sin()).collect::<Vec<_>>()).unwrap()
}

fn one(source: &str, args: &[Value]) -> crate::support::Result {
    agree(&load(source), "f", args)
}

#[test]
fn slices_and_rows_are_views() {
    let source = "
def f[n, d](x: [n, d]f64, lo: i64, m: i64) -> f64 = {
  w = x[lo .. lo + m]
  r = w[0]
  s = r[1 .. 3]
  sum (i < m) { sum (j < d) { w[i, j] } } + s[0] * s[1]
}";
    one(source, &[grid(5, 3), Value::I64(1), Value::I64(3)]).unwrap();
    for (lo, m) in [(3, 3), (-1, 2), (2, -1), (0, 0)] {
        let error = one(source, &[grid(5, 3), Value::I64(lo), Value::I64(m)]).unwrap_err();
        assert!(matches!(error.kind, RuntimeErrorKind::Slice | RuntimeErrorKind::Index));
    }
    let bad = one(source, &[grid(5, 2), Value::I64(0), Value::I64(2)]).unwrap_err();
    assert_eq!((bad.kind, bad.operands), (RuntimeErrorKind::Slice, vec![1, 2, 2]));
}

#[test]
fn array_literals_hold_anything() {
    let source = "
data P = P(a: f64, n: i64)
def f[d](x: [d]f64, c: f64) -> ([3]f64, [2][d]f64, [2]#(f64, bool), [2]P) = {
  y = build (i < d) { x[i] * c }
  ([c, 1.0, x[0]], [x, y], [#(c, true), #(1.0, false)], [P(c, 3), P(2.0, d)])
}";
    one(source, &[xs(&[1.5, 2.5]), Value::F64(0.5)]).unwrap();
}

#[test]
fn sums_of_several_constructors() {
    let source = "
data Figure = Circle(r: f64) | Poly(m: i64, xs: [m]f64) | Fixed(v: [2]f64) | Dot
def make[n](x: [n]f64, k: i64) -> Figure = {
  if k == 0 { Circle(x[0]) } else if k == 1 {
    m = n / 2
    ys = build (i < m) { x[i] * 2.0 }
    Poly(m, ys)
  } else if k == 2 { Fixed([x[0], x[1]]) } else { Dot() }
}
def area(s: Figure) -> f64 = case s {
  Circle(r) -> { r * r }
  Poly(m, ys) -> { sum (y <- ys) { y } + f64(m) }
  Fixed(v) -> { v[0] * v[1] }
  Dot -> { 0.25 }
}
def f[n](x: [n]f64, ks: [n]i64) -> (f64, [n]Figure) = {
  shapes = build (i < n) { make(x, ks[i]) }
  total = sum (i < n) { area(shapes[i]) * f64(i + 1) }
  (total, shapes)
}
def last[n](x: [n]f64, ks: [n]i64) -> Figure = for (i < n) carry (s = Dot()) {
  if area(s) > 2.0 { s } else { make(x, ks[i]) }
}";
    let program = load(source);
    let args = [xs(&[1.5, 2.5, -1.0, 0.5, 3.0]), ints(&[1, 0, 2, 3, 1])];
    agree(&program, "f", &args).unwrap();
    agree(&program, "last", &args).unwrap();
    agree(&program, "last", &[xs(&[]), ints(&[])]).unwrap();
    for k in 0..4 {
        agree(&program, "make", &[xs(&[1.0, 2.0]), Value::I64(k)]).unwrap();
    }
}

#[test]
fn nested_ragged_data() {
    let source = "
data Row = Row(m: i64, xs: [m]f64)
data Table = Table(n: i64, rows: [n]Row, tag: f64)
def f[n](x: [n]f64) -> (Table, [2]Table, f64) = {
  rows = build (i < n) {
    xs = build (j < i) { x[j] + f64(i) }
    Row(i, xs)
  }
  t = Table(n, rows, 0.5)
  ts = [t, t]
  s = sum (k < 2) {
    Table(m, rs, tag) = ts[k]
    sum (i < m) {
      Row(q, v) = rs[i]
      sum (j < q) { v[j] * tag }
    }
  }
  (t, ts, s)
}
def carried[n](x: [n]f64, k: i64) -> Row = for (i < k) carry (r = Row(n, x)) {
  Row(m, v) = r
  l = m / 2
  w = build (j < l) { 0.5 }
  Row(l, w)
}";
    let program = load(source);
    agree(&program, "f", &[xs(&[1.5, 2.5, -1.0, 4.0])]).unwrap();
    agree(&program, "f", &[xs(&[])]).unwrap();
    for k in 0..4 {
        agree(&program, "carried", &[xs(&[1.0, 2.0, 3.0, 4.0, 5.0]), Value::I64(k)]).unwrap();
    }
}

#[test]
fn carries_of_every_type() {
    let source = "
data P = P(a: f64, v: [2]f64)
def f[n](x: [n]f64, k: i64) -> (f64, [n]f64, i64, bool, #(f64, [n]f64), P) = {
  (s, h, c, b, t, p) = for (i < k) carry (
    s = 1.0, h = x, c = 0, b = true, t = #(0.5, x), p = P(0.1, [1.0, 2.0])
  ) {
    #(u, v) = t
    w = build (j < n) { v[j] * 0.5 + h[n - 1 - j] }
    q = p.v
    (s * 1.5 + u, w, c + i, !b, #(s, h), P(q[1], [p.a, q[0]]))
  }
  (s, h, c, b, t, p)
}
def swap[n](x: [n]f64, k: i64) -> ([n]f64, [n]f64, [k][n]f64) = {
  y = build (i < n) { 2.0 * x[i] }
  check k >= 0
  (a, b, hs) = for (i < k) carry (a = x, b = y) { (b, a, a) }
  (a, b, hs)
}
def stay[n](x: [n]f64, k: i64) -> [n]f64 = for (i < k) carry (a = x) { a }";
    let program = load(source);
    for k in [0, 1, 2, 5] {
        let args = [xs(&[1.0, 2.0, 3.0]), Value::I64(k)];
        for name in ["f", "swap", "stay"] {
            agree(&program, name, &args).unwrap();
        }
    }
}

#[test]
fn loops_down_with_slices_and_stacks() {
    let source = "
core def f(n: i64, d: i64, x: [n, d]f64, y: [n]f64) -> (f64, [n]f64, [n, d]f64) = {
  (s, a, b) = scan down (i < n) carry (s = 0.5) slice (r <- x, q <- y) {
    z = s * q
    t = z + 1.0
    w = scan par (j < d) slice (v <- r) {
      u = v * s
      u
    }
    (t, s, w)
  }
  (s, a, b)
}";
    one(source, &[Value::I64(3), Value::I64(2), grid(3, 2), xs(&[0.5, 1.5, 2.0])]).unwrap();
}

#[test]
fn accumulators_of_every_shape() {
    let source = "
core def add(d: i64, v: [d]f64, c: f64; ; acc g: [d]f64, acc s: f64) -> () = {
  scan par (j < d) slice (a <- v) {
    t = a * c
    g[j] += t
    s += a
  }
  g += v
  s += c
}
core def bump(c: f64; ; acc s: f64) -> f64 = {
  s += c
  s += 1.0
  y = c * 2.0
  y
}
core def f(n: i64, d: i64, x: [n, d]f64) -> (f64, [n, d]f64, f64, #(f64, [d]f64), [d]#(f64, f64), f64) = {
  check 0 < n
  check 0 < d
  (y, t, g, p, q, z) = acc z: f64 {
    (y, t, g, p, q) = acc q: [d]#(f64, f64) {
      (y, t, g, p) = acc p: #(f64, [d]f64) {
        (y, t, g) = acc g: [n, d]f64 {
          (y, t) = acc lanes s: f64 {
            ys = scan par (i < n) slice (r <- x; ; k <- g) {
              u = x[i, 0]
              add(d, r, u; ; k, s)
              add(d, r, 0.5; ; p.1, p.0)
              scan par (j < d) slice (v <- r; ; c <- q) {
                c.0 += v
                c.1 += u
                z += v
              }
              w = bump(u; ; z)
              m = bump(u; ; q[0].0)
              o = w + m
              o
            }
            y = ys[0]
            s += y
            y
          }
          (y, t)
        }
        (y, t, g)
      }
      (y, t, g, p)
    }
    (y, t, g, p, q)
  }
  (t, g, y, p, q, z)
}
core def aliased(n: i64, x: [n]f64; ; acc g: [n]f64) -> () = {
  check 0 < n
  add(n, x, 2.0; ; g, g[0])
}
core def both(c: f64; ; acc s: f64, acc t: f64) -> () = {
  s += c
  t += 1.0
  s += c
}
core def onecell(c: f64) -> f64 = {
  t = acc s: f64 {
    both(c; ; s, s)
    s += 0.5
    both(c; ; null, s)
  }
  t
}";
    let program = load(source);
    agree(&program, "f", &[Value::I64(3), Value::I64(2), grid(3, 2)]).unwrap();
    agree(&program, "onecell", &[Value::F64(0.3)]).unwrap();
    let start = xs(&[10.0, 20.0, 30.0]);
    let args = [Value::I64(3), xs(&[1.0, 2.0, 3.0])];
    agree_with(&program, "aliased", &args, &[start]).unwrap();
    let cells = [Value::F64(1.0), Value::F64(2.0)];
    agree_with(&program, "both", &[Value::F64(0.1)], &cells).unwrap();
    agree_with(&program, "bump", &[Value::F64(0.1)], &cells[..1]).unwrap();
}

#[test]
fn accumulators_through_branches_and_loops() {
    let source = "
core def f(n: i64, x: [n]f64, b: bool) -> (f64, f64) = {
  (t, u) = acc u: f64 {
    t = acc s: f64 {
      s += 0.5
      scan up (i < n) {
        a = x[i]
        c = a > 0.0
        case c {
          true -> {
            s += a
            scan down (j < i) {
              v = x[j]
              s += v
              u += a
            }
          }
          false -> { u += a }
        }
      }
      case b {
        true -> { s += 0.25 }
        false -> { s += 0.125; s += 1.0 }
      }
    }
    t
  }
  (t, u)
}
core def g(n: i64, x: [n]f64) -> (f64, f64) = {
  (t, u) = acc u: f64 {
    t = acc lanes s: f64 {
      scan par (i < n) slice (a <- x) {
        s += a
        u += a
        scan par (j < i) { s += 0.1 }
      }
    }
    t
  }
  (t, u)
}";
    let program = load(source);
    for n in [0, 1, 5] {
        let x = xs(&[0.5, -1.0, 2.0, -0.25, 1.5][..n]);
        for b in [true, false] {
            agree(&program, "f", &[Value::I64(n as i64), x.clone(), Value::Bool(b)]).unwrap();
        }
        agree(&program, "g", &[Value::I64(n as i64), x]).unwrap();
    }
}

#[test]
fn integers_and_their_errors() {
    let source =
        "def f(a: i64, b: i64) -> (i64, i64, i64, f64) = (a / b, a % b, a * b - 3, f64(a))";
    let args = |a, b| [Value::I64(a), Value::I64(b)];
    one(source, &args(7, -2)).unwrap();
    one(source, &args(i64::MIN, -1)).unwrap();
    let error = one(source, &args(1, 0)).unwrap_err();
    assert_eq!((error.kind, error.operands), (RuntimeErrorKind::DivisionByZero, vec![]));
    let counts = "def f[n](c: [n]i64) -> i64 = sum (i < n) { c[i] }";
    one(counts, &[ints(&[3, 4, 5])]).unwrap();
}

#[test]
fn casts_and_opened_sizes_are_checked() {
    let cast = "
core def f(n: i64, m: i64, x: [n]f64) -> [m]f64 = {
  y = cast x : [m]f64
  y
}";
    one(cast, &[Value::I64(2), Value::I64(2), xs(&[1.0, 2.0])]).unwrap();
    let error = one(cast, &[Value::I64(2), Value::I64(3), xs(&[1.0, 2.0])]).unwrap_err();
    assert_eq!(error.operands, vec![2, 3]);
    let open = "
data K = K(m: i64, w: [m]f64)
core def f(n: i64, k: K) -> [n]f64 = {
  K(=n, w) = k
  w
}";
    let program = load(open);
    let data = program.find_data("K").unwrap();
    let con = jut_ir::ConRef { data, index: 0 };
    let k = Value::data(con, vec![Value::I64(2), xs(&[1.0, 2.0])]);
    agree(&program, "f", &[Value::I64(2), k.clone()]).unwrap();
    let error = agree(&program, "f", &[Value::I64(3), k]).unwrap_err();
    assert_eq!(error.kind, RuntimeErrorKind::SizeMismatch);
}

#[test]
fn checks_and_negative_sizes() {
    let source = "
def f(n: i64, i: i64) -> f64 = {
  v = build (j < n) { f64(j) }
  v[i]
}";
    one(source, &[Value::I64(3), Value::I64(2)]).unwrap();
    let error = one(source, &[Value::I64(3), Value::I64(3)]).unwrap_err();
    assert_eq!((error.kind, error.operands), (RuntimeErrorKind::Index, vec![3, 3]));
    let error = one(source, &[Value::I64(-1), Value::I64(0)]).unwrap_err();
    assert_eq!((error.kind, error.operands), (RuntimeErrorKind::NegativeSize, vec![-1]));
}

#[test]
fn allocations_that_would_wrap_around_are_refused() {
    let source = "
def f(n: i64) -> f64 = {
  v = build (i < n) { build (j < n) { 1.0 } }
  v[0, 0]
}";
    let program = load(source);
    let lowered = jut_loop::lower(&program, func(&program, "f")).unwrap();
    let args = [Value::I64(1 << 32)];
    let got = crate::support::run_loop(&program, &lowered.program, &lowered.signature, &args, &[]);
    assert_eq!(got.unwrap_err().kind, RuntimeErrorKind::Memory);
}

#[test]
fn names_of_arms_regions_and_results_that_are_views() {
    let source = "
def f[n, d](x: [n, d]f64, y: [d]f64, b: bool, k: i64) -> ([d]f64, [n, d]f64, [n][d]f64) = {
  check k < n
  u = if b { x[k] } else { y }
  v = if b { x } else { build (i < n) { u } }
  w = build (i < n) { if f64(i) > 0.5 { u } else { x[i] } }
  (u, v, w)
}
def id[n](x: [n]f64) -> [n]f64 = x
def twice[n](x: [n]f64) -> ([n]f64, [n]f64) = {
  y = id(x)
  (y, y)
}";
    let program = load(source);
    for b in [true, false] {
        let args = [grid(3, 2), xs(&[7.0, 8.0]), Value::Bool(b), Value::I64(1)];
        agree(&program, "f", &args).unwrap();
    }
    agree(&program, "twice", &[xs(&[1.0, 2.0])]).unwrap();
}

#[test]
fn linear_programs_after_erasure() {
    let source = "
core def f(c: f64, n: i64; x': f64, y': [n]f64) -> (; f64, [n]f64) = {
  (; a', b') = dup x'
  u' = c * a'
  w' = u' + b'
  z' = c * y'
  (; w', z')
}
core def g(n: i64; x': f64; rd dv: [n]f64, wr dw: [n]f64) -> (; f64) = {
  t' = wr lanes r: f64 {
    scan par (i < n) { a' = rd dv[i]; (; p', q') = dup a'; r += p'; dw[i] += q' }
  }
  s' = t' + x'
  (; s')
}";
    let mut d = Derivatives::new(load(source));
    for (name, args, caps) in [
        ("f", vec![Value::F64(0.5), Value::I64(2), Value::F64(1.5), xs(&[1.0, 2.0])], vec![]),
        ("g", vec![Value::I64(2), Value::F64(0.25), xs(&[1.0, 2.0])], vec![xs(&[0.5, 0.5])]),
    ] {
        let id = func(&d.program, name);
        let erased = erase::erase(&mut d, id).unwrap();
        let name = d.program.funcs[erased].name.clone();
        agree_with(&d.program, &name, &args, &caps).unwrap();
    }
}

#[test]
fn second_derivatives() {
    let source = "
def f[n](x: [n]f64) -> f64 = sum (i < n - 1) {
  a = x[i + 1] - x[i] * x[i]
  for (k < i) carry (b = a * a) { sin(b) * x[k] }
}";
    let program = load(source);
    let id = func(&program, "f");
    let mut d = Derivatives::new(program);
    let mask = Mask::full(&d.program, id);
    let dir = compose::directional(&mut d, id, &mask).unwrap();
    let only_x = Mask::only(&d.program, dir, &[1]);
    let hess = compose::grad(&mut d, dir, &only_x, Policy::Default).unwrap();
    let name = d.program.funcs[hess].name.clone();
    let x = xs(&[0.3, -0.2, 0.7, 1.1]);
    let v = xs(&[1.0, 0.5, -0.5, 0.25]);
    agree(&d.program, &name, &[Value::I64(4), x, v]).unwrap();
}

#[test]
fn a_long_chain_of_statements_is_lowered() {
    let mut source = String::from("def f(x: f64) -> f64 = {\n  a0 = x\n");
    for k in 0..20_000 {
        source += &format!("  a{} = a{k} * 0.999 + x\n", k + 1);
    }
    source += "  a20000\n}\n";
    let program: Program = load(&source);
    agree(&program, "f", &[Value::F64(0.5)]).unwrap();
}

#[test]
fn what_is_not_purely_non_linear_is_refused() {
    let program = load("core def f(; x': f64) -> (; f64) = { y' = x'; (; y') }");
    let error = jut_loop::lower(&program, func(&program, "f")).unwrap_err();
    assert_eq!(error.code, "J901");
}

#[test]
fn memory_of_an_iteration_is_given_back_at_its_end() {
    let source = "
data K = K(m: i64, w: [m]f64)
def half[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  m = n / 2
  y = build (i < m) { exp(x[i]) }
  (m, y)
}
def f[n](x: [n]f64, k: i64) -> f64 = sum (i < k) {
  (m, y) = half(x)
  r = K(m, y)
  K(q, w) = r
  sum (v <- w) { v }
}
def kept[n](x: [n]f64, k: i64) -> [k]K = {
  check k >= 0
  build (i < k) {
    (m, y) = half(x)
    K(m, y)
  }
}";
    let program = load(source);
    let x = xs(&[0.5, 1.5, -0.5, 2.0]);
    agree(&program, "f", &[x.clone(), Value::I64(5)]).unwrap();
    agree(&program, "kept", &[x, Value::I64(5)]).unwrap();
    let text = |name: &str| {
        let lowered = jut_loop::lower(&program, func(&program, name)).unwrap();
        jut_loop::print::print_program(&lowered.program)
    };
    // `half` returns a pointer, and so does `kept`; the iterations of `f` hand on none.
    assert!(text("f").contains("release tape"));
    assert!(!text("kept").contains("release tape"));
}

#[test]
fn deep_nesting_is_lowered_and_printed_on_a_small_stack() {
    for (head, tail, levels) in [
        ("for (i@ < 1) carry (a@ = a) { a = a@\n", "a + 1.0 }\n", 98),
        ("if x > @.0 { a = a * 0.5\n", "a } else { a }\n", 98),
        ("sum (i@ < 1) { a = a + x\n", "a }\n", 98),
    ] {
        let mut source = String::from("def f(x: f64) -> f64 = {\n  a = x\n");
        for k in 0..levels {
            source += &format!("a = {}", head.replace('@', &k.to_string()));
        }
        for _ in 0..levels {
            source += tail;
            source += "a = a * 0.5\n";
        }
        source += "a\n}\n";
        agree(&load(&source), "f", &[Value::F64(30.5)]).unwrap();
    }
}

#[test]
fn loops_that_print_keep_their_order_and_others_do_not() {
    let calling = |statement: &str| {
        let text = format!(
            "def down(n: i64, x: f64) -> f64 = {{ {statement}\n if n <= 0 {{ x }} else {{ down(n - 1, x * x) }} }}
             def outer(x: f64) -> f64 = down(3, x)
             def f[n](x: [n]f64) -> [n]f64 = build (i < n) {{ outer(x[i]) }}"
        );
        let program = load(&text);
        let lowered = jut_loop::lower(&program, func(&program, "f")).unwrap();
        jut_loop::print::print_program(&lowered.program).contains("for par")
    };
    assert!(calling(""), "what calls itself prints nothing by that");
    assert!(!calling("print n"));
}

#[test]
fn a_literal_that_is_only_a_row_is_written_where_the_array_is() {
    let source = "
def f(x: f64, y: f64, i: i64) -> ([2, 2]f64, [2]f64, f64) = {
  a = [x, y]
  b = [y, 1.0]
  c = [y, y]
  m = [[[a, b], [c, [x, x]]], [[b, c], [[0.0, x], [2.0, y]]]]
  (m[0, i], c, m[1, i, 0, 1] + sum (k < 2) { m[k, i, 1, 1] })
}";
    let program = load(source);
    let text = jut_loop::print::print_program(
        &jut_loop::lower_plainly(&program, func(&program, "f")).unwrap().program,
    );
    // The whole, and the rows that stand in it twice or are a result, too.
    let arrays: Vec<&str> = text.lines().filter(|line| line.contains("= alloc")).collect();
    assert_eq!(arrays.len(), 2, "{text}");
    for i in 0..2 {
        one(source, &[Value::F64(0.3), Value::F64(-2.5), Value::I64(i)]).unwrap();
    }
}
