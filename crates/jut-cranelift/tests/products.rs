//! Products of derivatives in loops and outside of them, and questions about all iterations: iterations and statements whose products
//! are looked at together, and iterations that are asked together, give the bits of the evaluator, wherever a zero meets what is not finite.

use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};
use jut_native::Arg;
use jut_runtime::{Workspace, math};
use jut_tests::engines::backends;

/// Bodies with a function's parameters n, x, y, z (read), a, b (written), c (read and written); each
/// gives one float.
const BODIES: &[(&str, &str)] = &[
    (
        "products of products, two stores",
        "for par (i in 0 .. n) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    s = times(r, q)
    t = r + s
    a[i] = t
    u = times(q, q)
    v = 0.0 + u
    b[i] = v
  }
  w = 1.0",
    ),
    (
        "added to what is there, which is loaded behind a store",
        "for par (i in 0 .. n) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    d = c[i]
    e = d + r
    c[i] = e
    g = c[i]
    h = times(g, p)
    a[i] = h
  }
  w = 2.0",
    ),
    (
        "one number for all, loaded and computed in the body",
        "for par (i in 0 .. n) {
    k = z[0]
    p = x[i]
    l = 3.0
    r = times(p, k)
    s = times(r, l)
    b[i] = s
    q = y[i]
    t = q - s
    a[i] = t
  }
  w = 3.0",
    ),
    (
        "a sum of products with a store",
        "(w) = lanes (i in 0 .. n) carry (w_1) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    w_2 = w_1 + r
    (w_2)
  }
  (v) = lanes (i_1 in 0 .. n) carry (v_1) {
    p_1 = y[i_1]
    r_1 = times(p_1, w)
    v_2 = v_1 + r_1
    (v_2)
  }
  a[0] = v",
    ),
    (
        "many stores: a group of fewer pairs",
        "for par (i in 0 .. n) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    a[i] = r
    s = times(q, r)
    b[i] = s
    t = times(s, s)
    c[i] = t
  }
  w = 5.0",
    ),
    (
        "carried from one iteration to the next, and stored between",
        "(w, v) = for up (i in 0 .. n) carry (w_1 = 1.0, v_1 = 0.5) {
    p = x[i]
    q = y[i]
    k = p + 1.0
    r = times(p, q)
    s = times(k, w_1)
    t = r + s
    o = t < v_1
    d = select(o, r, v_1)
    u = times(d, q)
    a[i] = u
    h = times(u, k)
    l = times(h, t)
    (l, h)
  }
  b[0] = v",
    ),
    (
        "read by a branch, which has products of its own, and hidden",
        "(w) = for down (i in 0 .. n) carry (w_1 = 0.25) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    s = times(q, w_1)
    o = s < r
    (t) = if o {
      g = times(r, s)
      h = times(g, q)
      l = g + h
      (l)
    } else {
      (s)
    }
    e = max(t, r)
    u = times(e, p)
    k = r + u
    b[i] = k
    (t)
  }",
    ),
    (
        "outside of all loops",
        "p = x[0]
  q = y[0]
  r = times(p, q)
  s = times(r, q)
  t = sin(s)
  u = times(t, p)
  w = s + u",
    ),
    (
        "whether something holds for all, up",
        "(all) = for up (i in 0 .. n) carry (before = true) {
    p = x[i]
    q = y[i]
    r = times(p, q)
    own = r < 1.0
    after = before && own
    (after)
  }
  w = select(all, 1.0, 2.0)",
    ),
    (
        "whether one of two things holds for all, down, and did before",
        "first = x[0]
  given = first == 1.5
  (all) = for down (i in 1 .. n) carry (before = given) {
    p = x[i]
    q = y[i]
    low = p < 0.5
    high = p <= q
    own = low || high
    after = own && before
    (after)
  }
  w = select(all, 1.0, 2.0)",
    ),
    (
        "whether something holds for a few",
        "enough = 17 <= n
  (w) = if enough {
    (all) = for up (i in 1 .. 17) carry (before = true) {
      p = x[i]
      own = p < 1.25
      after = before && own
      (after)
    }
    (some) = for up (i_1 in 1 .. 6) carry (before_1 = true) {
      p_1 = y[i_1]
      q_1 = x[i_1]
      own_1 = p_1 < q_1
      after_1 = before_1 && own_1
      (after_1)
    }
    a_1 = select(all, 1.0, 2.0)
    a_2 = select(some, 4.0, 8.0)
    w_1 = a_1 + a_2
    (w_1)
  } else {
    (3.0)
  }",
    ),
    (
        "no iterations, where the end of a few has wrapped, or a range is as long as integers are",
        "low = n < 8
  (w) = if low {
    far = n + 9223372036854775800
    end = far + 16
    (all) = for up (i in far .. end) carry (before = true) {
      p = x[i]
      own = p < -1000.0
      after = before && own
      (after)
    }
    (none) = for up (i_1 in 9223372036854775807 .. -9223372036854775805) carry (before_1 = all) {
      p_1 = x[i_1]
      own_1 = p_1 < -1000.0
      after_1 = before_1 && own_1
      (after_1)
    }
    w_1 = select(none, 1.0, 2.0)
    (w_1)
  } else {
    (3.0)
  }",
    ),
];

fn program(body: &str) -> LoopProgram {
    let text = format!(
        "loop def f(n: i64, m: i64, x: in f64[m], y: in f64[m], z: in f64[m], a: out f64[m], \
         b: out f64[m], c: inout f64[m]) -> (f64) = {{\n  {body}\n  (w)\n}}\n"
    );
    read::read_program(0, &text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn bits(cells: &[f64]) -> Vec<u64> {
    cells.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect()
}

#[test]
fn products_that_are_looked_at_together_have_the_bits_of_each_alone() {
    let specials = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308];
    for (what, body) in BODIES {
        let program = program(body);
        let compiled: Vec<_> = backends()
            .map(|(name, backend)| (name, backend.compile(&program).expect("code")))
            .collect();
        for n in [0usize, 1, 2, 7, 8, 9, 15, 16, 31, 40] {
            // Each pair of special numbers at each place, and nowhere.
            for k in 0..=n * specials.len() {
                let room = n.max(1);
                let plain = |from: f64| (0..room).map(|i| from - i as f64 * 0.375).collect();
                let [mut x, mut y, z]: [Vec<f64>; 3] = [plain(1.5), plain(-2.25), plain(0.0)];
                if let Some(cell) = x.get_mut(k / specials.len()).filter(|_| n > 0) {
                    *cell = specials[k % specials.len()];
                    y[k / specials.len()] = specials[(k + k / 7) % specials.len()];
                }
                let zeros = vec![0.0; room];
                let buffers = [&x, &y, &z, &zeros, &zeros, &zeros]
                    .map(|cells: &Vec<f64>| Flat::Buffer(Cells::F64(cells.clone())));
                let sizes = [n, room].map(|n| Flat::Scalar(Literal::I64(n as i64)));
                let args: Vec<Flat> = sizes.into_iter().chain(buffers).collect();
                let outcome = eval::run(&program, LoopFuncId::from_u32(0), &args);
                let Ok(outcome) = outcome else { panic!("{what}") };
                let cells = |flat: &Flat| match flat {
                    Flat::Buffer(Cells::F64(cells)) => bits(cells),
                    other => panic!("{other:?}"),
                };
                let expected: Vec<Vec<u64>> = outcome.params[5..].iter().map(cells).collect();
                let Flat::Scalar(Literal::F64(sum)) = outcome.results[0] else { panic!("{what}") };
                for (name, compiled) in &compiled {
                    let [mut a, mut b, mut c] = [(); 3].map(|()| zeros.clone());
                    let args = &mut [
                        Arg::I64(n as i64),
                        Arg::I64(room as i64),
                        Arg::F64s(&x),
                        Arg::F64s(&y),
                        Arg::F64s(&z),
                        Arg::F64sMut(&mut a),
                        Arg::F64sMut(&mut b),
                        Arg::F64sMut(&mut c),
                    ];
                    let mut results = [0; 1];
                    // SAFETY: all buffers have as many cells as the program indexes.
                    let done = unsafe { compiled.call(&mut Workspace::new(), args, &mut results) };
                    done.expect("it runs");
                    let found = [&a, &b, &c].map(|cells| bits(cells)).to_vec();
                    assert_eq!(found, expected, "{name}: {what}, n = {n}, x = {x:?}, y = {y:?}");
                    let found = f64::from_bits(results[0]);
                    assert!(math::same(found, sum), "{name}: {what} {found} {sum}");
                }
            }
        }
    }
}
