//! What is printed reads back, and prints the same again: every construct of the core.

use jut_ir::print::print_program;
use jut_ir::{Atom, Literal, Program, Rhs, Severity};

fn load(source: &str) -> Program {
    let loaded = jut_text::load(source, 0);
    let errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let errors: Vec<String> = errors.map(|e| e.to_string()).collect();
    loaded.program.unwrap_or_else(|| panic!("{}\n{source}", errors.join("\n")))
}

/// The text is exactly what the printer writes for it.
fn prints_itself(source: &str) {
    assert_eq!(print_program(&load(source)), source);
}

#[test]
fn leaves_print_themselves() {
    prints_itself(
        "\
data P = P(x: f64, k: i64)

data S = A(m: i64, w: [m]f64) | B

core def f(n: i64, b: bool, x: [n]f64, p: P) -> (f64, S) = {
  y = 2.0
  z = -y
  i = -3
  c = i < n
  d = !c
  e = c && d
  t = #(y, n)
  #(a, k) = t
  a_1 = t.0
  q = P(y, i)
  P(x_1, k_1) = q
  v = p.x
  w = [a, a_1, -1.5]
  m = size(w)
  check 0 < n
  u = x[0]
  check i ..+ k <= n
  r = x[i ..+ k]
  check k >= 0
  s = cast r : [k]f64
  j = powi(u, -2)
  l = select(b, j, 0.5)
  o = max(l, v)
  g = B()
  (o, g)
}
",
    );
}

#[test]
fn linear_statements_print_themselves() {
    prints_itself(
        "\
core def f(n: i64, b: bool; x': f64, y': [n, n]f64; rd dx: [n, n]#(f64, f64), wr lanes r: f64) -> (; f64, [n]f64) = {
  (; a', c') = dup x'
  d' = -a'
  e' = 2.0 * d'
  g' = select(b, e', c')
  h' = g'
  z' = zero [n, n]f64
  s' = y' + z'
  t' = #(h', s')
  #(h_1', s_1') = t'
  drop s_1'
  check 0 < n
  k' = rd dx[0, 0].1
  r += k'
  check 0 ..+ n <= n
  check n * n
  w' = rd dx[0 ..+ n][0, 0].0
  m' = h_1' + w'
  v' = zero [n]f64
  u' = cast v' : [n]f64
  (; m', u')
}
",
    );
}

#[test]
fn blocks_and_calls_print_themselves() {
    prints_itself(
        "\
/// Doc comments are kept.
///
/// All of it.
core def g(n: i64, x: [n]f64; y': f64; rd r: f64, acc s: f64) -> (m: i64, z: [m]f64; z': f64) = {
  s += 1.0
  a' = rd r
  b' = a' + y'
  (n, x; b')
}

core def f(n: i64, x: [n]f64, h0: f64; y': f64, w': [n]f64; rd r: f64, wr d: [n]f64) -> (f64; f64) = {
  (m, z, t; z') = acc s: f64 {
    (m, z; z') = g(n, x; y'; r, s)
    (m, z; z')
  }
  (h_1, hs; q_1') = scan down (i < n) carry (h = h0; q' = z') slice (a <- x; b' <- w'; c <- d) {
    c += b'
    k = h * a
    (k, h; q')
  }
  q_2' = scan up (i < m) carry (; q' = q_1') {
    (; q')
  }
  u = h_1 + t
  o = u > 0.0
  (j: i64, v: [j]f64) = case o {
    true -> {
      (m, z)
    }
    false -> {
      (n, hs)
    }
  }
  (u; q_2')
}
",
    );
}

/// Literals at the edges of their types.
#[test]
fn literals_read_back_to_the_same_bits() {
    let floats = [-0.0, 5e-324, f64::MAX, f64::MIN, 1e16, 1.0 / 3.0, 123456789.0, -1e-7];
    let integers = [i64::MAX, i64::MIN, 0, -1];
    let literals = floats.map(Literal::F64).into_iter().chain(integers.map(Literal::I64));
    for literal in literals {
        let ty = if matches!(literal, Literal::F64(_)) { "f64" } else { "i64" };
        let text = jut_ir::print::print_literal(literal);
        let source = format!("core def f() -> {ty} = {{\n  x = {text}\n  x\n}}\n");
        let program = load(&source);
        let func = program.find_func("f").unwrap();
        let found = &program.funcs[func].body.stmts[0].rhs;
        assert_eq!(*found, Rhs::Atom(Atom::Lit(literal)), "{source}");
        assert_eq!(print_program(&program), source);
    }
}
