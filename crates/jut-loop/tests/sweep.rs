//! A sum over neighbours and its gradient in one loop, in which an iteration asks what the one before has computed.

use crate::support::loops::CHAIN;
use crate::support::tidied::{body, sums_run_alike, tidy};
use jut_loop::read;
use jut_loop::signature::{Cells, Flat};

/// Arguments for `m` iterations; the last numbers are none, and some of the zeros are negative.
fn numbers(m: i64) -> Vec<Flat> {
    let n = m.max(0) + 4;
    let of =
        |f: &dyn Fn(f64) -> f64| Flat::Buffer(Cells::F64((0..n).map(|k| f(k as f64)).collect()));
    let special = |k: f64| match k as i64 % 7 {
        3 => f64::INFINITY,
        5 => f64::NAN,
        _ => (1.3 * k).sin(),
    };
    let int = |n: i64| Flat::Scalar(jut_ir::Literal::I64(n));
    let x = if m % 3 == 2 { of(&special) } else { of(&|k| (1.3 * k).sin()) };
    vec![
        int(n),
        int(m),
        x,
        of(&|k| 0.5 * k),
        of(&|k| if k as i64 % 2 == 0 { -0.0 } else { 1e15 / k }),
    ]
}

#[test]
fn the_gradient_of_a_chain_is_given_in_the_loop_of_its_sum() {
    let tidied = body(CHAIN);
    let start = tidied.iter().position(|l| l.contains("= lanes")).unwrap();
    assert_eq!(
        tidied[start..start + 15],
        [
            "(s_1) = lanes (k_1 in 0 .. m) carry (t_1) {",
            "j_1 = k_1 + 1",
            "a_1 = x[j_1]",
            "b_1 = x[k_1]",
            "d_1 = a_1 - b_1",
            "e_1 = d_1 * d_1",
            "u_1 = t_1 + e_1",
            "w_1 = g[k_1]",
            "p_1 = d_1 + d_1",
            "before = previous p_1 else -0.0",
            "z_1 = w_1 + before",
            "v_1 = z_1 - p_1",
            "g[k_1] = v_1",
            "(u_1)",
            "(s_1)",
        ],
        "{tidied:#?}"
    );
    sums_run_alike(CHAIN, numbers);
}

#[test]
fn several_neighbours_and_arrays_are_swept_together() {
    // Three apart; the first iteration is not the first cell; what is added last may be taken away.
    let cases = [
        CHAIN.replace("l = k + 1", "l = k + 3"),
        CHAIN.replace("l = k + 1", "l = k - 1").replace("in 0 .. m", "in 1 .. m"),
        CHAIN.replace("z = w + p", "z = w - p"),
        CHAIN.replace("z = w + p", "z = p + w"),
        CHAIN.replace("z = w + p", "zz = w + 0.125\n    z = zz - p"),
        CHAIN
            .replace(
                "  c = alloc f64[n] @0:0..1",
                "  c = alloc f64[n] @0:0..1\n  h1 = alloc f64[n] @0:0..1\n  copy h1[n] = y",
            )
            .replace(
                "    l = k + 1",
                "    a1 = h1[k]\n    a2 = a1 + h\n    h1[k] = a2\n    l2 = k + 2\n    b1 = h1[l2]\n    b2 = b1 - p\n    h1[l2] = b2\n    l = k + 1",
            )
            .replace("  o = r + s", "  copy y[n] = h1\n  o = r + s"),
        // It adds up something itself, too.
        CHAIN
            .replace("for up (k in 0 .. m) {", "(y2) = lanes (k in 0 .. m) carry (y0) {")
            .replace("    g[l] = z\n", "    g[l] = z\n    y1 = y0 + p\n    (y1)\n")
            .replace("o = r + s", "o = r + y2"),
        // What is left for the gradient is a result.
        CHAIN
            .replace("c = alloc f64[n] @0:0..1", "c = y[0 ..]")
            .replace("y: inout", "y: out"),
        // There are other loops in between.
        CHAIN.replace(
            "  r = s * 0.5\n",
            "  r = s * 0.5\n  for par (e1 in 0 .. n) {\n    e2 = x[e1]\n    y[e1] = e2\n  }\n",
        ),
    ];
    for text in cases {
        let tidied = tidy(&text);
        assert!(tidied.contains("previous"), "{tidied}");
        sums_run_alike(&text, numbers);
    }
}

#[test]
fn what_a_sum_leaves_is_stored_only_if_somebody_else_asks_for_it() {
    let swept = |text: &str| {
        let tidied = tidy(text);
        let (_, rest) = tidied.split_once("if gathers {").expect("two ways");
        rest.split_once("} else {").expect("two ways").0.to_owned()
    };
    assert!(!swept(CHAIN).contains("c["), "{}", swept(CHAIN));
    let read = CHAIN.replace("  (r, o)", "  c0 = c[0]\n  (r, c0)").replace("  o = r + s\n", "");
    assert!(swept(&read).contains("c[k_1] ="), "{}", swept(&read));
    // What is the caller's stays.
    let result = CHAIN.replace("y: inout", "y: out").replace("  c = alloc f64[n] @0:0..1\n", "");
    let result = result.replace("c[", "y[");
    assert!(swept(&result).contains("y[k_1] ="), "{}", swept(&result));
    sums_run_alike(&result, numbers);
}

#[test]
fn loops_that_depend_on_each_other_are_not_swept_together() {
    let cases = [
        // The gradient needs the sum, itself or by way of something else.
        CHAIN.replace("p = h + h", "p = h + s"),
        CHAIN.replace("p = h + h", "p = h + r"),
        // Another range.
        CHAIN.replace("for up (k in 0 .. m)", "for up (k in 1 .. m)"),
        // Downwards the cells are due in another order.
        CHAIN.replace("for up (k in", "for down (k in"),
        // What is left is read by another iteration.
        CHAIN.replace("h = c[k]", "k1 = k + 1\n    h = c[k1]").replace("in 0 .. m", "in 1 .. m"),
        // Contents are not only added to.
        CHAIN.replace("z = w + p", "z = w * p"),
        CHAIN.replace("z = w + p", "z = w + w"),
        CHAIN.replace("v = q - p", "v = p - q"),
        // What the sum loads is changed in between, or by the loop itself.
        CHAIN.replace("r = s * 0.5", "r = s * 0.5\n  fill y[n] = 0.0").replace("= x[", "= y["),
        CHAIN.replace("= x[", "= g["),
        CHAIN.replace("r = s * 0.5", "r = s * 0.5\n  g[0] = r"),
        // The sum may fail.
        CHAIN.replace("    b = x[i]", "    b = x[i]\n    check i < n @0:0..1"),
    ];
    for text in cases {
        let tidied = tidy(&text);
        assert!(!tidied.contains("previous"), "{tidied}");
        if !text.contains("k1 = k + 1") {
            sums_run_alike(&text, numbers);
        }
    }
}

#[test]
fn previous_stands_in_the_body_of_a_loop_of_sums() {
    let read = |text: &str| read::read_program(0, text).map(|_| ()).map_err(|e| e.message);
    let lanes = |body: &str| {
        format!(
            "loop def f(n: i64, x: in f64[n]) -> (f64) = {{
  (s) = lanes (i in 0 .. n) carry (t) {{
    a = x[i]
{body}
    (u)
  }}
  (s)
}}"
        )
    };
    let good = lanes("    b = previous a else -0.0\n    u = t + b");
    assert_eq!(read(&good), Ok(()));
    let inside = lanes(
        "    c = a > 0.0\n    (b) = if c {\n      e = previous a else 0.0\n      (e)\n    } else {\n      (a)\n    }\n    u = t + b",
    );
    let outside = good.replace("  (s)\n}", "  z = previous s else 0.0\n  (z)\n}");
    for text in [inside, outside] {
        let message = read(&text).unwrap_err();
        assert_eq!(message, "`previous` stands in the body of a `lanes` loop itself");
    }
    let integer = good.replace("else -0.0", "else 0");
    assert!(read(&integer).unwrap_err().contains("a float that is written down"));
}
