//! Cells of arrays in space: which rows and planes iterations of a loop cannot reach both.

use cranelift_entity::EntityRef;
use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

/// The loop back through a stencil in space, which adds to a row, the row behind it and that in the plane behind.
const SPACE: &str = "
loop def f(l: i64, m: i64, n: i64, x: in f64[l*m*n], g: out f64[l*m*n]) = {
  s = m * n
  size = l * s
  copy g[size] = x
  end = n - 1
  last = m - 1
  ending = l - 1
  for up (a in 0 .. ending) {
    p = a * s
    for up (b in 0 .. m) {
      q = b * n
      r = p + q
      t = b > 0
      u = b < last
      inside = t && u
      if inside {
        own = g[r ..]
        source = x[r ..]
        r_1 = r + n
        behind = g[r_1 ..]
        r_2 = r + s
        plane = g[r_2 ..]
        for up (c in 1 .. end) {
          e = source[c]
          d = e * 0.25
          h = own[c]
          h_1 = h + e
          own[c] = h_1
          i = behind[c]
          i_1 = i + d
          behind[c] = i_1
          j = plane[c]
          j_1 = j - d
          plane[c] = j_1
        }
      } else {
      }
    }
  }
}";

/// A program, and its text where iterations of loops are taken together.
fn made(text: &str) -> (LoopProgram, String) {
    let plain = read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span));
    let target = Target { vectors: Some(Vectors::EVERYTHING), ..Target::default() };
    let made = print::print_program(&for_target(&plain, &target));
    (plain, made)
}

/// Whether those of the innermost loop are.
fn is_marked(made: &str) -> bool {
    made.lines().any(|line| line.contains("vector 8") && line.contains("(c"))
}

/// The same; what comes out is compared.
fn is_vector(text: &str) -> bool {
    let (plain, made) = made(text);
    let again = read::read_program(0, &made).unwrap();
    for (l, m, n) in [(2, 3, 20), (4, 5, 12), (3, 4, 3), (2, 2, 2), (3, 1, 5), (1, 3, 9), (0, 2, 3)]
    {
        let number = |k: i64| ((k * k % 61 * 7) % 37) as f64 / 7.0 - 2.0;
        let floats = || Flat::Buffer(Cells::F64((0..l * m * n).map(number).collect()));
        let arguments: Vec<Flat> = [l, m, n]
            .map(|k| Flat::Scalar(Literal::I64(k)))
            .into_iter()
            .chain([floats(), floats()])
            .collect();
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::new(0), &arguments));
        assert_eq!(run(&plain), run(&again), "{l} {m} {n}\n{made}");
    }
    is_marked(&made)
}

#[test]
fn rows_and_planes_are_told_apart() {
    assert!(is_vector(SPACE));
    for (old, new) in [
        ("u = b < last", "u = last > b"),
        ("t = b > 0", "t = b >= 1"),
        ("for up (c", "for down (c"),
    ] {
        let text = SPACE.replace(old, new);
        assert_ne!(text, SPACE);
        assert!(is_vector(&text), "{text}");
    }
}

#[test]
fn rows_that_may_be_one_are_not_taken_for_apart() {
    for (old, new) in [
        // With a single row in a plane, the row behind is the plane behind.
        ("inside = t && u", "inside = t || u"),
        ("if inside", "if true"),
        // Places that are neither here nor there.
        ("r_2 = r + s", "r_2 = r_1 + l"),
        ("r_2 = r + s", "r_2 = r + b"),
    ] {
        let text = SPACE.replace(old, new);
        assert_ne!(text, SPACE);
        // Some reach beyond the array, so none is run.
        let (_, made) = made(&text);
        assert!(!is_marked(&made), "{made}");
    }
}
