//! Loops of which pairs of iterations are taken at once, with loops in them, long bodies or integers that grow: the bits of the evaluator, at every number of iterations
//! inside and outside, wherever a zero meets what is not finite.

use crate::support::Numbers;
use jut_cranelift::BACKEND;
use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::print::print_program;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};
use jut_native::{Arg, Compiled};
use jut_runtime::{Workspace, math};
use std::fmt::Write;

/// Bodies with a function's parameters n, m, k = n m, x of n floats, y of m, z of k (read), a of n and b of k (written); each gives one float. And the loop that has to be taken in pairs.
const BODIES: &[(&str, &str, &str)] = &[
    (
        "a sum down each column",
        "for par vector 4 (j in",
        "for par (j in 0 .. n) {
    (s) = lanes (i in 0 .. m) carry (s_1) {
      f = y[i]
      at = i * n
      row = z[at ..]
      v = row[j]
      p = f * v
      s_2 = s_1 + p
      (s_2)
    }
    a[j] = s
  }
  w = 1.0",
    ),
    (
        "products of derivatives down each column, two sums",
        "for par vector 4 stores last (j in",
        "for par (j in 0 .. n) {
    g = x[j]
    (s, t) = lanes (i in 0 .. m) carry (s_1, t_1) {
      f = y[i]
      at = i * n
      row = z[at ..]
      v = row[j]
      p = times(f, v)
      q = times(p, g)
      s_2 = s_1 + p
      t_2 = t_1 + q
      (s_2, t_2)
    }
    c = times(s, t)
    a[j] = c
  }
  w = 2.0",
    ),
    (
        "a product with what is not the unit matrix",
        "for par vector 4 (j in",
        "for par (j in 0 .. n) {
    (s) = lanes (i in 0 .. m) carry (s_1) {
      same = i == j
      (d) = if same {
        (2.5)
      } else {
        (-0.5)
      }
      at = i * n
      row = z[at ..]
      v = row[j]
      p = d * v
      s_2 = s_1 + p
      (s_2)
    }
    h = f64(j)
    c = s * h
    a[j] = c
  }
  w = 3.0",
    ),
    (
        "paths, each with a tape in a row of its own",
        "for par vector 4 (i in",
        "for par (i in 0 .. n) {
    at = i * m
    draws = z[at ..]
    tape = b[at ..]
    first = x[i]
    (u, v) = for up (t in 0 .. m) carry (u_1 = first, v_1 = 0.5) {
      d = draws[t]
      c = y[t]
      e = abs(v_1)
      f = e + 0.25
      g = sqrt(f)
      r = times(g, d)
      q = times(c, u_1)
      u_2 = r + q
      v_2 = g - r
      tape[t] = u_1
      (u_2, v_2)
    }
    p = u + v
    a[i] = p
  }
  w = 4.0",
    ),
    (
        "back along the tapes",
        "lanes vector 8 (i in",
        "(w) = lanes (i in 0 .. n) carry (w_1) {
    at = i * m
    tape = z[at ..]
    last = x[i]
    (u) = for down (t in 0 .. m) carry (u_1 = last) {
      d = tape[t]
      early = t < 3
      (c) = if early {
        l = max(d, 0.0)
        (l)
      } else {
        f = f64(t)
        (f)
      }
      e = d * c
      f_1 = e + 0.75
      g = u_1 / f_1
      h = g - d
      (h)
    }
    w_2 = w_1 + u
    (w_2)
  }",
    ),
    (
        "products of derivatives on one side of a branch",
        "for par vector 4 stores last (i in",
        "for par (i in 0 .. n) {
    g = x[i]
    at = i * m
    row = z[at ..]
    (u, v) = for down (t in 0 .. m) carry (u_1 = 1.0, v_1 = 0.0) {
      d = row[t]
      high = d > 0.0
      (e) = if high {
        p = times(d, g)
        (p)
      } else {
        (u_1)
      }
      f = g < d
      h = select(f, e, 0.25)
      o = times(g, 0.5)
      l = o + v_1
      (h, l)
    }
    p_1 = u + v
    a[i] = p_1
  }
  w = 7.0",
    ),
    (
        "rows from the second on",
        "for par vector 4 (i in",
        "less = n - 1
  for par (i in 0 .. less) {
    next = i + 1
    at = next * m
    (u) = for up (t in 0 .. m) carry (u_1 = 0.5) {
      place = at + t
      d = z[place]
      c = d * d
      e = c - u_1
      (e)
    }
    far = at > 20
    near = 3 <= next
    half = select(far, 0.5, 2.0)
    scale = select(near, half, 0.125)
    p = u * scale
    a[i] = p
  }
  w = 6.0",
    ),
    (
        "whole numbers, and places that grow",
        "lanes vector 8 (i in",
        "(w) = lanes (i in 0 .. n) carry (w_1) {
    d = x[i]
    e = d * 7.5
    below = floor(e)
    above = ceil(e)
    cut = trunc(e)
    at = i * m
    f = f64(at)
    last = n - 1
    ends = i == last
    g = below * above
    h = g - cut
    k_1 = select(ends, h, f)
    w_2 = w_1 + k_1
    (w_2)
  }",
    ),
    (
        "rows of a length that the body computes",
        "for par vector 4 (i in",
        "for par (i in 0 .. n) {
    long = m * 1
    at = i * long
    (u, v) = for up (t in 0 .. m) carry (u_1 = 0.0, v_1 = 1.0) {
      place = at + t
      d = z[place]
      c = d * d
      e = c + v_1
      f = sqrt(e)
      g = u_1 + f
      h = g - d
      h_1 = h * 0.5
      (h_1, f)
    }
    p = u * v
    a[i] = p
  }
  w = 5.0",
    ),
];

/// A body of more than sixty statements with three sums, some of them products of derivatives.
fn long() -> String {
    let mut body = "(s, t, w) = lanes (i in 0 .. n) carry (s_1, t_1, w_1) {\n    v0 = x[i]\n    h = f64(i)\n    v1 = v0 * h\n".to_owned();
    for k in 2..70 {
        let op = match k % 4 {
            0 => format!("times(v{}, v{})", k - 1, k / 2),
            1 => format!("v{} + v{}", k - 1, k / 3),
            2 => format!("v{} - 0.625", k - 1),
            _ => format!("v{} * 0.25", k - 1),
        };
        writeln!(body, "    v{k} = {op}").unwrap();
    }
    body + "    s_2 = s_1 + v69\n    t_2 = t_1 - v40\n    w_2 = w_1 + v20\n    a[i] = v33\n    (s_2, t_2, w_2)\n  }"
}

/// The program as Cranelift takes it, with a loop that is marked as it should be.
pub(crate) fn taken(body: &str, marked: &str) -> (LoopProgram, Compiled) {
    let text = format!(
        "loop def f(n: i64, m: i64, k: i64, x: in f64[n], y: in f64[m], z: in f64[k], a: out f64[n], \
         b: out f64[k]) -> (f64) = {{\n  {body}\n  (w)\n}}\n"
    );
    let program =
        read::read_program(0, &text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span));
    let for_it = for_target(&program, &(BACKEND.target)());
    let printed = print_program(&for_it);
    assert!(printed.contains(marked), "{marked}\n{printed}");
    let code = (BACKEND.compile)(&for_it).expect("code").into();
    (program, code)
}

fn bits(cells: &[f64]) -> Vec<u64> {
    cells.iter().map(|x| math::bits(*x)).collect()
}

pub(crate) fn agree(
    what: &str,
    (program, code): &(LoopProgram, Compiled),
    [n, m]: [usize; 2],
    specials: usize,
) {
    let mut numbers = Numbers((n * 100 + m * 10 + specials + 1) as u64);
    let [mut x, y, mut z] = [n, m, n * m].map(|len| numbers.floats(len));
    for special in [0.0, f64::INFINITY, -0.0, f64::NAN].into_iter().take(specials) {
        for cells in [&mut x, &mut z].into_iter().filter(|cells| !cells.is_empty()) {
            let place = numbers.below(cells.len() as u64) as usize;
            cells[place] = special;
        }
    }
    let (rows, all) = (vec![0.0; n], vec![0.0; n * m]);
    let sizes = [n, m, n * m].map(|n| Flat::Scalar(Literal::I64(n as i64)));
    let buffers = [&x, &y, &z, &rows, &all].map(|c: &Vec<f64>| Flat::Buffer(Cells::F64(c.clone())));
    let args: Vec<Flat> = sizes.into_iter().chain(buffers).collect();
    let outcome = eval::run(program, LoopFuncId::from_u32(0), &args).expect("it runs");
    let cells = |flat: &Flat| match flat {
        Flat::Buffer(Cells::F64(cells)) => bits(cells),
        other => panic!("{other:?}"),
    };
    let expected: Vec<Vec<u64>> = outcome.params[6..].iter().map(cells).collect();
    let Flat::Scalar(Literal::F64(w)) = outcome.results[0] else { panic!("{what}") };

    let [mut a, mut b] = [rows, all];
    let args = &mut [
        Arg::I64(n as i64),
        Arg::I64(m as i64),
        Arg::I64((n * m) as i64),
        Arg::F64s(&x),
        Arg::F64s(&y),
        Arg::F64s(&z),
        Arg::F64sMut(&mut a),
        Arg::F64sMut(&mut b),
    ];
    let mut results = [0; 1];
    // SAFETY: all buffers have as many cells as the program indexes.
    let done = unsafe { code.call(&mut Workspace::new(), args, &mut results) };
    done.expect("it runs");
    assert_eq!([bits(&a), bits(&b)].to_vec(), expected, "{what}, n = {n}, m = {m}");
    assert!(math::same(f64::from_bits(results[0]), w), "{what}, n = {n}, m = {m}");
}

#[test]
fn loops_in_pairs_of_iterations_have_the_bits_of_each_alone() {
    for (what, marked, body) in BODIES {
        let taken = taken(body, marked);
        for n in (0..=9).chain([17]) {
            for m in (0..=13).chain([16, 29, 1024, 1031]).filter(|m| n < 7 || *m < 100) {
                for specials in 0..4 {
                    agree(what, &taken, [n, m], specials);
                }
            }
        }
    }
}

#[test]
fn long_bodies_in_pairs_have_the_bits_of_single_iterations() {
    let taken = taken(&long(), "lanes vector 8 stores last (i in");
    for n in (0..=19).chain([1023, 1024, 1025, 1026, 2049]) {
        for specials in 0..4 {
            agree("a long body", &taken, [n, 1], specials);
        }
    }
}
