//! Functions that are cut into pieces compute what they computed before.

use crate::support::{func, load, run_loop, same};
use jut_eval::{Interpreter, Value};
use jut_loop::{lower, print, read, split};

/// The function, and then the same cut into pieces of several lengths.
fn agree_in_pieces(text: &str, name: &str, args: &[Value]) {
    let program = load(text);
    let id = func(&program, name);
    let interpreter = Interpreter::new(&program);
    let args = interpreter.with_sizes(id, args).unwrap();
    let expected = interpreter.call(id, &args, &[], &[]);
    let lowered = lower(&program, id).unwrap();
    for (long, piece) in [(0, 1), (3, 2), (5, 4), (40, 20)] {
        let mut pieces = lowered.program.clone();
        split::run_with(&mut pieces, long, piece);
        let text = print::print_program(&pieces);
        let again = read::read_program(0, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(print::print_program(&again), text, "it reads back");
        for form in [&pieces, &again] {
            let got = run_loop(&program, form, &lowered.signature, &args, &[]);
            match (&got, &expected) {
                (Ok(got), Ok(expected)) => {
                    for (x, y) in got.iter().zip(&expected.results) {
                        assert!(same(x, y), "{x:?} is not {y:?}\n{text}");
                    }
                }
                (Err(got), Err(expected)) => assert_eq!(Some(got), expected.runtime(), "{text}"),
                (got, _) => panic!("{got:?} is not {:?}\n{text}", expected.is_ok()),
            }
        }
    }
}

#[test]
fn straight_lines() {
    let text = "def f(x: f64, n: i64) -> f64 = {
      a = sin(x)\n b = a * x\n c = b > a\n d = if c { a } else { b + a }\n m = n * n + 1
      e = d * f64(m) + a\n g = e * x\n g + d\n}";
    agree_in_pieces(text, "f", &[Value::F64(0.3), Value::I64(4)]);
}

#[test]
fn loops_inside_and_around() {
    let text = "def g[n](x: [n]f64, k: i64) -> (f64, [n]f64) = {
      s = sum (i < n) { a = sin(x[i])\n b = a * x[i]\n c = exp(b)\n c + a * b }
      y = build (i < n) { a = x[i] * s\n b = a + s\n c = cos(b)\n c * a }
      (p, q) = for (i < k) carry (p = 1.0, q = y) {
        r = p * 0.5 + s
        z = build (j < n) { w = q[j] + r\n v = w * w\n v - p }
        t = if r > 1.0 { a = r * 0.25\n b = a * s\n c = sin(b)\n c } else { r + z[0] }
        (t, z)
      }
      (p + s, q)
    }
    def f[n](x: [n]f64, k: i64) -> f64 = {
      (a, b) = g(x, k)
      (c, d) = g(b, k)
      total = for (i < k) carry (t = a) {
        (u, v) = g(d, i)
        t * 0.5 + u * v[0]
      }
      total + c + sum (i < n) { b[i] * d[i] }
    }";
    let x = Value::floats(vec![0.3, -0.5, 0.125]);
    for k in [0, 1, 3] {
        agree_in_pieces(text, "f", &[x.clone(), Value::I64(k)]);
        agree_in_pieces(text, "g", &[x.clone(), Value::I64(k)]);
    }
}

#[test]
fn many_parameters_go_through_the_frame() {
    let names: Vec<String> = (0..20).map(|k| format!("p{k}")).collect();
    let params: Vec<String> = names.iter().map(|p| format!("{p}: f64")).collect();
    let text = format!(
        "def f[n]({}, x: [n]f64) -> f64 = {{\n a = {}\n b = a * a\n c = sum (i < n) {{ x[i] * b }}\n \
         c + {}\n}}",
        params.join(", "),
        names.join(" + "),
        names.join(" * ")
    );
    let mut args: Vec<Value> = (0..20).map(|k| Value::F64(0.1 * k as f64 + 0.05)).collect();
    args.push(Value::floats(vec![1.0, 2.0, 3.0]));
    agree_in_pieces(&text, "f", &args);
}

#[test]
fn errors_leave_through_pieces() {
    let text = "def f[n](x: [n]f64, k: i64) -> f64 = {
      a = x[0]\n b = a * 2.0\n c = sum (i < k) { d = x[i]\n e = d * b\n sin(e) + a }\n b + c\n}";
    let x = Value::floats(vec![1.0, 2.0, 3.0]);
    for k in [0, 3, 4] {
        agree_in_pieces(text, "f", &[x.clone(), Value::I64(k)]);
    }
}

#[test]
fn no_function_stays_long() {
    let mut text = String::from("def f(x: f64) -> f64 = {\n  a0 = x\n");
    for k in 1..=30_000 {
        text += &format!("  a{k} = sin(a{}) * x\n", k - 1);
    }
    let program = load(&(text + "  a30000\n}\n"));
    let lowered = lower(&program, func(&program, "f")).unwrap().program;
    let lengths: Vec<usize> = lowered.funcs.values().map(|f| f.body.stmts.len()).collect();
    assert!(lengths.iter().all(|n| *n <= split::LONG), "{lengths:?}");
    // 60,000 statements in pieces of 2048, some more that load and store, and the function itself.
    assert!((30..40).contains(&lengths.len()), "{lengths:?}");
    assert!(lengths.iter().sum::<usize>() < 70_000, "{lengths:?}");
}
