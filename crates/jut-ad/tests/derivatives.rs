//! Derivatives against finite differences: every composition, under both policies, on programs
//! that each hold one difficulty. The checker accepts every definition that is made on the way.

use crate::common::{b, floats, k, m, parse as load, v, with_floats, x};
use jut_ad::{Derivatives, Mask, Policy, compose, erase};
use jut_eval::{Interpreter, Value};
use jut_ir::FuncId;
use jut_ir::check::{check_forward_domain, check_program};
use jut_ir::print::print_program;

struct Subject {
    derivatives: Derivatives,
    func: FuncId,
    mask: Mask,
}

impl Subject {
    fn new(text: &str, name: &str) -> Subject {
        let program = load(text);
        let func = program.find_func(name).unwrap_or_else(|| panic!("{name}"));
        let mut derivatives = Derivatives::new(program);
        // A function with linear parameters is compared with its erasure.
        let func = erase::erase(&mut derivatives, func).unwrap();
        let mask = Mask::full(&derivatives.program, func);
        Subject { derivatives, func, mask }
    }

    fn checked(&self, func: FuncId) -> FuncId {
        let program = &self.derivatives.program;
        if let Err(errors) = check_program(program) {
            panic!("{errors:#?}\n{}", print_program(program));
        }
        check_forward_domain(program, func).unwrap_or_else(|e| panic!("{e:?}"));
        func
    }

    /// Results of a function given all arguments but sizes.
    fn run(&self, func: FuncId, args: &[Value]) -> Vec<Value> {
        let interpreter = Interpreter::new(&self.derivatives.program);
        let all = interpreter.with_sizes(func, args).unwrap_or_else(|e| panic!("{e}"));
        let name = &self.derivatives.program.funcs[func].name;
        let outcome = interpreter.call(func, &all, &[], &[]);
        outcome.unwrap_or_else(|e| panic!("{name}: {e}")).results
    }

    /// Central differences of the results' floats, one row per float of the arguments.
    fn differences(&self, func: FuncId, args: &[Value]) -> Vec<Vec<f64>> {
        let at = floats(args);
        let h = 1e-5;
        (0..at.len())
            .map(|k| {
                let moved = |by: f64| {
                    let mut at = at.clone();
                    at[k] += by;
                    floats(&self.run(func, &with_floats(args, &at)))
                };
                let (up, down) = (moved(h), moved(-h));
                up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect()
            })
            .collect()
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()))
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let same =
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| close(*a, *b));
    assert!(same, "{what}: {found:?} instead of {expected:?}");
}

/// All compositions of a function, with respect to everything, against finite differences; for a
/// function of one f64 the gradients, too.
fn agrees_with_differences(text: &str, name: &str, args: &[Value]) {
    let mut s = Subject::new(text, name);
    let expected = s.differences(s.func, args);
    let values = floats(&s.run(s.func, args));
    let at = floats(args);
    let direction: Vec<f64> = (0..at.len()).map(|k| ((k * 7 + 3) % 5) as f64 - 1.5).collect();
    let weights: Vec<f64> = (0..values.len()).map(|k| ((k * 3 + 1) % 4) as f64 - 0.5).collect();
    let along: Vec<f64> = (0..values.len())
        .map(|j| expected.iter().zip(&direction).map(|(row, d)| row[j] * d).sum())
        .collect();
    let back: Vec<f64> =
        expected.iter().map(|row| row.iter().zip(&weights).map(|(e, w)| e * w).sum()).collect();

    let tangents: Vec<Value> = tangents(args, &direction);
    let mut all = args.to_vec();
    all.extend(tangents);
    let jvp = compose::jvp(&mut s.derivatives, s.func, &s.mask).unwrap();
    let found = floats(&s.run(s.checked(jvp), &all));
    assert_close(&found, &[values.clone(), along.clone()].concat(), "jvp");

    let one = s.derivatives.program.funcs[s.func].results.iter().filter(|r| r.ty.is_float());
    let scalar = one.count() == 1 && values.len() == 1;
    for policy in Policy::ALL {
        if scalar {
            let f = compose::value_and_grad(&mut s.derivatives, s.func, &s.mask, policy).unwrap();
            let found = floats(&s.run(s.checked(f), args));
            let gradient: Vec<f64> = expected.iter().map(|row| row[0]).collect();
            assert_close(
                &found,
                &[values.clone(), gradient.clone()].concat(),
                "value and gradient",
            );
            let f = compose::grad(&mut s.derivatives, s.func, &s.mask, policy).unwrap();
            let found = floats(&s.run(s.checked(f), args));
            assert_close(&found, &gradient, "gradient");
        }
        let results = s.run(s.func, args);
        let mut all = args.to_vec();
        all.extend(cotangents(&s, &results, &weights));
        let f = compose::vjp(&mut s.derivatives, s.func, &s.mask, policy).unwrap();
        let found = floats(&s.run(s.checked(f), &all));
        assert_close(&found, &[values.clone(), back.clone()].concat(), "vjp");
    }
}

/// The product with the Hessian (reverse over forward) against differences of the gradient.
fn second_order_agrees(text: &str, name: &str, args: &[Value]) {
    let mut s = Subject::new(text, name);
    let gradient = compose::grad(&mut s.derivatives, s.func, &s.mask, Policy::Default).unwrap();
    let rows = s.differences(gradient, args);
    let at = floats(args);
    let direction: Vec<f64> = (0..at.len()).map(|k| ((k * 7 + 3) % 5) as f64 - 1.5).collect();
    let expected: Vec<f64> =
        rows.iter().map(|row| row.iter().zip(&direction).map(|(h, d)| h * d).sum()).collect();
    let product =
        compose::hessian_product(&mut s.derivatives, s.func, &s.mask, Policy::Default).unwrap();
    let mut all = args.to_vec();
    all.extend(tangents(args, &direction));
    let found = floats(&s.run(s.checked(product), &all));
    assert_close(&found, &expected, "Hessian times vector");
}

/// Cotangents for the results of a function; each is preceded by the sizes that it has from the
/// function itself.
fn cotangents(s: &Subject, results: &[Value], weights: &[f64]) -> Vec<Value> {
    let declared = &s.derivatives.program.funcs[s.func].results;
    let mut rest = weights.iter().copied();
    let mut all = Vec::new();
    for (value, result) in results.iter().zip(declared) {
        let sizes = result.ty.size_names();
        let computed = |r: &jut_ir::ResultDecl| r.name.is_some_and(|n| sizes.contains(&n));
        if let Some(cotangent) = tangent(value, &mut rest) {
            let sizes = results.iter().zip(declared).filter(|(_, r)| computed(r));
            all.extend(sizes.map(|(size, _)| size.clone()));
            all.push(cotangent);
        }
    }
    all
}

/// Tangents for values: the floats alone, in tuples; one for each value that has any.
fn tangents(values: &[Value], direction: &[f64]) -> Vec<Value> {
    let mut next = direction.iter().copied();
    values.iter().filter_map(|v| tangent(v, &mut next)).collect()
}

fn tangent(value: &Value, next: &mut dyn Iterator<Item = f64>) -> Option<Value> {
    match value {
        Value::F64(_) => Some(Value::F64(next.next()?)),
        Value::I64(_) | Value::Bool(_) => None,
        _ => match value.as_array() {
            Some(array) => {
                let items: Vec<Value> = (0..array.dim(0)?).filter_map(|k| array.get(k)).collect();
                if items.is_empty() {
                    return Some(value.clone());
                }
                let items: Option<Vec<Value>> = items.iter().map(|v| tangent(v, next)).collect();
                Value::array(items?)
            }
            None => {
                let items: Vec<Value> =
                    value.items()?.iter().filter_map(|v| tangent(v, next)).collect();
                (!items.is_empty()).then(|| Value::tuple(items))
            }
        },
    }
}

/// `P(r, k, a)` of the programs that declare it first.
fn p(r: f64, kk: i64, a: f64) -> Value {
    let con = jut_ir::ConRef { data: jut_ir::entity::EntityRef::new(0), index: 0 };
    Value::data(con, vec![x(r), k(kk), x(a)])
}

const RECORD: &str = "data P = P(r: f64, k: i64, a: f64)\n";

macro_rules! first_order {
    ($($test:ident: $text:expr, $name:literal, [$($arg:expr),*];)*) => { $(
        #[test]
        fn $test() {
            agrees_with_differences($text, $name, &[$($arg),*]);
        }
    )* };
}

macro_rules! second_order {
    ($($test:ident: $text:expr, $name:literal, [$($arg:expr),*];)*) => { $(
        #[test]
        fn $test() {
            agrees_with_differences($text, $name, &[$($arg),*]);
            second_order_agrees($text, $name, &[$($arg),*]);
        }
    )* };
}

second_order! {
    minus_sine: "def f(u: f64) -> f64 = -sin(u)", "f", [x(0.7)];
    a_power_by_a_loop: "def f(x: f64, n: i64) -> f64 = for (i < n) carry (a = 1.0) { a * x }", "f", [x(1.3), k(5)];
    a_loop_that_does_not_run: "def f(x: f64, n: i64) -> f64 = for (i < n) carry (a = x * x) { a * x }", "f", [x(1.3), k(-2)];
    overlapping_reads: "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) { x[i] * x[i + 1] }", "f", [v(&[1.0, 2.0, -0.5, 3.0])];
    a_triangular_loop: "def f[n](x: [n]f64) -> f64 = sum (i < n) { sum (j < i) { d = x[i] - x[j]\n exp(d) } }", "f", [v(&[0.1, 0.5, -0.3])];
    a_name_that_is_initial_carry_and_captured: "def f[n](x: [n]f64, h: f64) -> f64 = {\n z = x[0]\n for (i < n) carry (a = z) { a * z + h * x[i] }\n}", "f", [v(&[0.3, 0.7, 1.1]), x(0.4)];
    an_array_that_one_arm_uses: "def f[n](x: [n]f64, b: bool) -> f64 = {\n y = build (i < n) { x[i] * x[i] }\n if b { sum (v <- y) { v * v } } else { x[0] }\n}", "f", [v(&[0.3, 0.7]), b(true)];
    an_array_that_the_other_arm_uses: "def f[n](x: [n]f64, b: bool) -> f64 = {\n y = build (i < n) { x[i] * x[i] }\n if b { sum (v <- y) { v * v } } else { x[0] * x[0] }\n}", "f", [v(&[0.3, 0.7]), b(false)];
    arms_that_return_arrays: "def f[n](x: [n]f64, b: bool) -> f64 = {\n y = build (i < n) { x[i] * x[i] }\n z = if b { y } else { x }\n sum (v <- z) { v * v * v }\n}", "f", [v(&[0.3, 0.7]), b(false)];
    tuples: "def f(x: f64, y: f64) -> f64 = {\n t = #(x * y, sin(x))\n #(a, b) = t\n u = #(t, a)\n a * b + u.1 * x + u.0.1\n}", "f", [x(0.3), x(0.9)];
    array_literals: "def f(x: f64, y: f64) -> f64 = {\n v = [x, y, x * y, 1.0]\n sum (i < 4) { v[i] * v[i] * x }\n}", "f", [x(0.3), x(0.9)];
    literals_of_rows: "def f[n](x: [n]f64) -> f64 = {\n m = [x, x]\n sum (i < n) { m[0, i] * m[1, i] * x[0] }\n}", "f", [v(&[0.3, 0.7])];
    slices: "def f[n](x: [n]f64) -> f64 = {\n a = x[1..n]\n b = x[0..n - 1]\n sum (i < n - 1) { a[i] * sin(b[i]) }\n}", "f", [v(&[0.3, 0.7, 2.0])];
    many_primitives: "def f(x: f64, y: f64) -> f64 = select(x < y, x * x, 3.0) * select(y < 1.0, 2.0, y) + max(x, y) + min(x * y, 2.0) + pow(x * x + 1.0, y) + (x*x+1.0)^3 + abs(y) + tanh(x / y) + sqrt(y) * log(y) + atan2(x, y)", "f", [x(0.3), x(1.9)];
    calls_with_masks: "def g(x: f64, y: f64) -> f64 = x * sin(y)\ndef f(x: f64) -> f64 = g(x, 2.0) + g(3.0, x) + g(x, x) + g(1.0, 2.0)", "f", [x(0.3)];
    results_that_do_not_depend: "def g(x: f64) -> (f64, i64, [2]f64) = (x * x, 3, [x, 1.0])\ndef f(x: f64) -> f64 = {\n (a, k, v) = g(x)\n a * v[0] + v[1] + f64(k)\n}", "f", [x(0.3)];
    a_carry_that_turns_constant: "def f(x: f64, n: i64) -> f64 = {\n (a, b) = for (i < n) carry (a = 1.0, b = 2.0) { (a * b + x * a, 3.0) }\n a * b\n}", "f", [x(0.3), k(3)];
    carries_that_change_places: "def f[n](x: [n]f64, y: [n]f64, k: i64) -> f64 = {\n (a, b) = for (i < k) carry (a = x, b = y) { (b, a) }\n sum (i < n) { a[i] * b[i] * a[0] }\n}", "f", [v(&[0.3, 0.7]), v(&[1.5, -0.7]), k(3)];
    other_names_of_an_array: "def f[n](x: [n]f64) -> f64 = {\n y = x\n z = y\n sum (i < n) { z[i] * y[i] }\n}", "f", [v(&[0.3, 0.7])];
    a_function_that_returns_its_parameter: "def g[n](x: [n]f64) -> [n]f64 = x\ndef f[n](x: [n]f64) -> f64 = {\n y = g(x)\n z = g(y)\n sum (i < n) { z[i] * y[i] * x[i] }\n}", "f", [v(&[0.3, 0.7])];
    tangents_that_nobody_needs: "def f(x: f64, y: f64) -> f64 = {\n t = sin(x)\n u = t * y\n b = u > 0.0\n if b { x } else { x * 2.0 }\n}", "f", [x(0.3), x(-0.2)];
    a_constant_function: "def g(x: f64) -> f64 = 2.0\ndef f(x: f64) -> f64 = g(x) * x + g(x)", "f", [x(0.3)];
    a_carried_tuple: "def f(x: f64, n: i64) -> f64 = {\n t = for (i < n) carry (t = #(x, 1.0)) { #(t.1 * x, t.0 + 1.0) }\n t.0 * t.1\n}", "f", [x(0.3), k(4)];
    a_sum_of_arrays: "def f[n, m](x: [n]f64, w: [m]f64) -> f64 = {\n h = sum (i < n) { build (j < m) { x[i] * w[j] } }\n sum (v <- h) { v * v }\n}", "f", [v(&[0.3, 0.7]), v(&[1.0, 2.0, 3.0])];
    a_call_that_takes_rows: "def g[d](v: [d]f64) -> f64 = sum (a <- v) { a * a }\ndef f[n, d](x: [n, d]f64) -> f64 = sum (i < n) { s = g(x[i])\n s * g(x[0]) }", "f", [m(2, &[0.3, 0.7, -0.4, 1.0])];
    gathers: "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] * x[0] }", "f", [v(&[0.3, 0.7]), Value::ints(vec![1, 1, 0])];
    the_largest: "def f[n](x: [n]f64) -> f64 = max (i < n) x[i] * x[i]", "f", [v(&[0.3, 0.7, 0.6])];
    recurrences_over_arrays: "def f[n, T](w: [n, n]f64, h0: [n]f64, x: [T, n]f64) -> f64 = {\n h = for (t < T) carry (h = h0) { build (i < n) { g = sum (j < n) { w[i, j] * h[j] }\n tanh(g + x[t, i]) } }\n sum (v <- h) { v * v }\n}", "f", [m(2, &[0.3, 0.7, -0.4, 1.0]), v(&[0.1, 0.2]), m(3, &[0.3, 0.1, -0.4, 0.2, 0.5, 0.6])];
    a_record_built_and_opened: &format!("{RECORD}def f(x: f64, y: f64, k: i64) -> f64 = {{\n p = P(x * y, k, x)\n q = p\n s = sum (i < k) {{ q.a * p.r * f64(i) }}\n P(r, kk, a) = p\n r * a + s\n}}"), "f", [x(0.3), x(0.9), k(3)];
    a_case_on_a_record: &format!("{RECORD}def f(x: f64, y: f64) -> f64 = {{\n p = P(x * y, 2, y)\n case p {{ P(r, k, a) -> {{ r * a * x }} }}\n}}"), "f", [x(0.3), x(0.9)];
    an_array_of_records: &format!("{RECORD}def f[n](x: [n]f64) -> f64 = {{\n ps = build (i < n) {{ P(x[i], i, x[i] * x[i]) }}\n sum (p <- ps) {{ p.r * p.a }} + ps[0].r\n}}"), "f", [v(&[0.3, 0.7])];
}

first_order! {
    a_branch_in_a_loop: "def f[n](x: [n]f64) -> f64 = sum (i < n) {\n y = if x[i] > 0.0 { for (k < i) carry (a = 1.0) { a * x[k] } } else { x[i] * x[i] }\n sin(y)\n}", "f", [v(&[0.3, 0.7, -0.4, 1.2])];
    branches_in_branches: "def f[n](x: [n]f64, a: f64) -> f64 = sum (i < n) {\n if x[i] > a { if x[i] > 0.5 { a } else { x[i] * a } } else { 0.0 }\n}", "f", [v(&[0.3, 0.7, -0.4, 1.2]), x(0.2)];
    several_results: "def f[n](x: [n]f64) -> (f64, [n]f64, i64) = {\n y = build (i < n) { sin(x[i]) }\n s = sum (v <- y) { v * x[0] }\n (s, y, n)\n}", "f", [v(&[0.3, 0.7])];
    a_result_size_that_is_computed: "def f[n](x: [n]f64) -> (m: i64, y: [m]f64) = {\n m = n / 2\n y = build (i < m) { exp(x[i]) }\n (m, y)\n}", "f", [v(&[0.3, 0.7, 0.5, 0.6])];
    a_result_size_that_is_a_polynomial: "def g[n](x: [n]f64) -> (m: i64, y: [m]f64) = {\n k = n - 1\n y = build (i < k) { x[i] * x[i + 1] }\n (k, y)\n}\ndef f[n](x: [n]f64) -> f64 = {\n (m, y) = g(x)\n sum (v <- y) { v * v }\n}", "f", [v(&[0.3, 0.7, 0.5, 0.6])];
    arms_that_compute_a_size: "def f[n](x: [n]f64, b: bool) -> f64 = {\n (m: i64, y: [m]f64) = if b { k = n / 2; y1 = build (i < k) { exp(x[i]) }; (k, y1) } else { l = n - 1; y2 = build (i < l) { x[i] * x[i + 1] }; (l, y2) }\n sum (v <- y) { v * v }\n}", "f", [v(&[0.3, 0.7, 0.5, 0.6]), b(false)];
    records_as_parameters: &format!("{RECORD}def f[n](ps: [n]P, q: P) -> f64 = sum (i < n) {{ ps[i].r * ps[0].a * q.r }} + sum (p <- ps) {{ p.a * q.a * f64(p.k) }}"), "f", [Value::array(vec![p(0.5, 1, 0.7), p(0.2, 2, -0.4)]).unwrap(), p(1.5, 3, 0.9)];
    calls_that_add_into_accumulators: "core def add(n: i64, x: [n]f64; ; acc r: f64) -> () = { scan par (i < n) { a = x[i]; b = a * a; r += b } }
        core def f(n: i64, x: [n]f64) -> f64 = { t = acc s: f64 { add(n, x; ; s); add(n, x; ; s) }; t }", "f", [k(2), v(&[0.3, 0.7])];
    calls_that_add_into_rows: "core def addrow(n: i64, x: [n]f64, c: f64; ; acc r: [n]f64) -> f64 = { scan par (i < n) { a = x[i]; b = a * c; r[i] += b }; y = c * c; y }
        core def f(n: i64, x: [n]f64) -> f64 = { check 0 < n; c = x[0]; (y, m) = acc s: [n, n]f64 { scan up (i < n) { z = addrow(n, x, c; ; s[i]) }; y = addrow(n, x, 2.0; ; s[0]); y }
        t = acc q: f64 { scan par (i < n) slice (row <- m) { scan par (j < n) slice (e <- row) { f = e * e; q += f } } }
        u = t + y; u }", "f", [k(2), v(&[0.3, 0.7])];
    accumulators_taken_in_slices: "core def f(n: i64, x: [n]f64) -> f64 = { s = acc g: [n]f64 { scan par (i < n) slice (a <- x; ; r <- g) { b = a * a; r += b } }
        t = acc q: f64 { scan par (i < n) slice (e <- s) { h = e * e; q += h } }; t }", "f", [k(2), v(&[0.3, 0.7])];
    a_linear_function: "core def f(n: i64, x: [n]f64; dx': [n]f64) -> (; [n]f64, f64) = {
        (; a', b') = dup dx'; c' = a' + b'; d' = -c'; (; d1', d2') = dup d'; e' = 2.0 * d1'
        s' = rd r = d2' { t' = wr w: f64 { scan par (i < n) { q' = rd r[i]; u = x[i]; v' = u * q'; w += v' } }; (; t') }
        (; e', s') }", "f", [k(2), v(&[0.3, 0.7]), v(&[1.5, -0.5])];
    a_linear_function_of_tuples: "core def f(x: f64; t': #(f64, [3]f64)) -> (; #(f64, [3]f64)) = {
        (; a', b') = dup t'; c' = x * a'; z' = zero #(f64, [3]f64); d' = c' + z'; e' = d' + b'; g' = -e'; (; g') }",
        "f", [x(0.3), Value::tuple(vec![x(0.5), v(&[0.1, 0.2, 0.3])])];
    a_linear_choice_of_arrays: "core def f(b: bool; x': [3]f64, y': [3]f64) -> (; [3]f64) = { z' = select(b, x', y'); (; z') }",
        "f", [b(true), v(&[0.1, 0.2, 0.3]), v(&[0.4, 0.5, 0.6])];
    a_linear_function_that_stacks: "core def f(n: i64; x': f64) -> (; [n]f64) = { y' = rd r = x' { y' = scan par (i < n) { q' = rd r; (; q') }; (; y') }; (; y') }",
        "f", [k(3), x(0.1)];
    capabilities_taken_in_slices: "core def f(n: i64; x': [n]f64) -> (; [n]f64, f64) = { (; a', b') = dup x'
        g' = wr g: [n]f64 { scan par (i < n) slice (; q' <- a'; s <- g) { u' = 3.0 * q'; s += u' } }
        t' = rd r = b' { t' = wr w: f64 { scan par (i < n) slice (; ; e <- r) { v' = rd e; w += v' } }; (; t') }
        (; g', t') }", "f", [k(2), v(&[0.3, 0.7])];
    records_as_results: &format!("{RECORD}def f(x: f64, y: f64) -> P = {{\n r = sqrt(x * x + y * y)\n P(r, 4, y / r)\n}}"), "f", [x(0.3), x(0.9)];
}

/// Blocks in which many arrays and records live one after the other, so that J closes regions
/// before the end of the block.
#[test]
fn long_blocks_of_arrays_whose_sizes_are_computed_on_the_way() {
    let mut text = "def f[n](x: [n]f64, b: f64) -> f64 = {\n  y0 = x\n  q0 = n / 2\n  z0 = build (i < q0) { x[i] * b }\n".to_string();
    for k in 1..20 {
        let j = k - 1;
        text += &format!(
            "  m{k} = n - {k}\n  y{k} = build (i < m{k}) {{ sin(y{j}[i]) + y{j}[i + 1] * b }}\n"
        );
        text += &format!(
            "  q{k} = (q{j} + {k}) / 2\n  z{k} = build (i < q{k}) {{ z{j}[min(i, 2)] * 0.9 + x[0] }}\n"
        );
    }
    text += "  s = sum (v <- y19) { v * v } + sum (v <- z19) { v * v } + z7[0] * y3[1]\n  s\n}\n";
    let args = [v(&(0..24).map(|k| (k as f64 * 0.37).sin()).collect::<Vec<_>>()), x(0.4)];
    agrees_with_differences(&text, "f", &args);
    second_order_agrees(&text, "f", &args);
}

#[test]
fn long_blocks_of_records() {
    let mut text = "data P = P(r: f64, a: f64)\ndef g(x: f64, y: f64) -> P = P(x * y, x + y)\ndef f(x: f64) -> f64 = {\n  p0 = g(x, 1.0)\n".to_string();
    for k in 1..50 {
        let j = k - 1;
        text += &format!("  p{k} = g(p{j}.r * 0.5, p{j}.a * 0.5)\n");
    }
    text += "  p49.a + p3.r * p40.a\n}\n";
    agrees_with_differences(&text, "f", &[x(0.3)]);
    second_order_agrees(&text, "f", &[x(0.3)]);
}
