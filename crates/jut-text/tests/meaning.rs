//! What sugar computes, by the interpreter.

use jut_eval::{EvalError, Interpreter, Outcome, Value};

/// Calls the last definition of a text.
fn run(text: &str, args: &[Value]) -> Result<Outcome, EvalError> {
    let loaded = jut_text::load(text, 0);
    let program = loaded.program.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    let func = program.funcs.keys().next_back().expect("a definition");
    let interpreter = Interpreter::new(&program);
    interpreter.call(func, &interpreter.with_sizes(func, args)?, &[], &[])
}

fn value(text: &str, args: &[Value]) -> Value {
    run(text, args).unwrap_or_else(|e| panic!("{e}\n{text}")).results[0].clone()
}

fn code(text: &str, args: &[Value]) -> &'static str {
    match run(text, args) {
        Err(EvalError::Runtime(error)) => error.kind.code(),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn a_long_chain_of_conditions_takes_the_first_that_holds() {
    for count in [1, 2, 15, 16, 17, 18, 33, 1000] {
        let chain: String =
            (0..count).map(|k| format!("if x < {k}.5 {{ {k} + 100 }} else ")).collect();
        let text = format!("def f(x: f64) -> i64 = {chain}{{ -1 }}");
        for k in [0, 1, 7, 15, 16, 17, 32, 499, count - 1, count] {
            let expected = if k < count { k + 100 } else { -1 };
            assert_eq!(
                value(&text, &[Value::F64(k as f64)]),
                Value::I64(expected),
                "{k} of {count}"
            );
        }
    }
}

#[test]
fn conditions_after_the_one_that_holds_are_not_computed() {
    let chain: String = (0..40).map(|k| format!("if y[{k}] > 0.0 {{ {k} }} else ")).collect();
    let text = format!("def f[n](y: [n]f64) -> i64 = {chain}{{ 40 }}");
    let args = |n: usize, last: f64| {
        let mut cells = vec![-1.0; n];
        cells[n - 1] = last;
        [Value::floats(cells)]
    };
    assert_eq!(value(&text, &args(23, 1.0)), Value::I64(22));
    assert_eq!(value(&text, &args(40, -1.0)), Value::I64(40));
    assert_eq!(code(&text, &args(23, -1.0)), "R01");
}

#[test]
fn linear_values_pass_through_a_long_chain() {
    let chain: String = (0..30).map(|k| format!("if n == {k} {{ {k}.0 * x' }} else ")).collect();
    let text = format!("def f(n: i64; x': f64) -> (; f64) = {chain}{{ x' + x' }}");
    let loaded = jut_text::load(&text, 0);
    assert!(loaded.program.is_some(), "{:?}", loaded.diagnostics);
}

#[test]
fn thousands_of_conditions_nest_no_deeper_than_their_logarithm() {
    let chain: String = (0..5000).map(|k| format!("if n == {k} {{ {k}.0 }} else ")).collect();
    let text = format!("def f(n: i64) -> f64 = {chain}{{ 0.5 }}");
    let program = jut_text::load(&text, 0).program.expect("a program");
    let printed = jut_ir::print::print_program(&program);
    let depth = printed.lines().map(|l| l.len() - l.trim_start().len()).max();
    assert!(depth.is_some_and(|d| d < 80), "{depth:?}");
}

/// The sizes and cells of an expression over x (4 by 5) and z (2 by 3 by 4), with one = 1.
fn slice(expr: &str, rank: usize) -> (Vec<i64>, Vec<f64>) {
    let results = ["f64", "[n]f64", "[n, m]f64", "[n, m, l]f64"][rank];
    let sizes = ["", "n: i64, ", "n: i64, m: i64, ", "n: i64, m: i64, l: i64, "][rank];
    let names = ["", "n, ", "n, m, ", "n, m, l, "][rank];
    let bind = [
        "",
        "n = size(y)\n",
        "n = size(y)\nm = size(y, 1)\n",
        "n = size(y)\nm = size(y, 1)\nl = size(y, 2)\n",
    ][rank];
    let text = format!(
        "def f(one: i64) -> ({sizes}y: {results}) = {{\nx = build (i < 4) build (j < 5) f64(10 * i + j)\nz = build (i < 2) build (j < 3) build (k < 4) f64(100 * i + 10 * j + k)\ny = {expr}\n{bind}({names}y)\n}}"
    );
    let outcome = run(&text, &[Value::I64(1)]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match outcome.results.last() {
        Some(Value::F64(x)) => (Vec::new(), vec![*x]),
        Some(Value::Array(y)) => {
            let dims = y.dims().into_iter().map(|d| d as i64).collect();
            (dims, y.f64s().expect("floats").to_vec())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn slices_of_several_dimensions_select_in_each() {
    assert_eq!(slice("x[one .. 3, 2]", 1), (vec![2], vec![12.0, 22.0]));
    assert_eq!(slice("x[one .. 3, 2 ..+ one]", 2), (vec![2, 1], vec![12.0, 22.0]));
    assert_eq!(slice("x[2, one .. 4]", 1), (vec![3], vec![21.0, 22.0, 23.0]));
    assert_eq!(slice("x[0 .. 0, one .. 4]", 2), (vec![0, 3], vec![]));
    assert_eq!(slice("x[2 .. 4, 0 .. 5]", 2).1.len(), 10);
    assert_eq!(
        slice("z[one, one .. 3, 2 .. 4]", 2),
        (vec![2, 2], vec![112.0, 113.0, 122.0, 123.0])
    );
    assert_eq!(slice("z[0 .. 2, one, 3]", 1), (vec![2], vec![13.0, 113.0]));
    assert_eq!(slice("z[0 .. 2, one .. 3, 3]", 2), (vec![2, 2], vec![13.0, 23.0, 113.0, 123.0]));
    assert_eq!(slice("z[0 .. 2, one, 3 .. 4]", 2), (vec![2, 1], vec![13.0, 113.0]));
    assert_eq!(
        slice("z[one .. 2, 0 .. 2, one .. 3]", 3),
        (vec![1, 2, 2], vec![101.0, 102.0, 111.0, 112.0])
    );
    // One after the other, each slices the first dimension of what the one before gave.
    assert_eq!(slice("x[one .. 3][one, 2]", 0), (vec![], vec![22.0]));
}

#[test]
fn slices_out_of_range_fail_even_if_no_cell_is_selected() {
    let f = |expr: &str| {
        format!(
            "def f(k: i64) -> f64 = {{ x = build (i < 2) build (j < 3) 1.0\n y = {expr}\n sum (r <- y) r }}"
        )
    };
    let at = |expr: &str, k: i64| code(&f(expr), &[Value::I64(k)]);
    assert_eq!(at("x[0 .. 2, k]", 3), "R01");
    assert_eq!(at("x[0 .. 0, k]", -1), "R01");
    assert_eq!(at("x[0 .. k, 0]", 3), "R02");
    assert_eq!(at("x[1 .. k, 0]", 0), "R02");
    assert_eq!(value(&f("x[k .. 2, 1]"), &[Value::I64(1)]), Value::F64(1.0));
}

#[test]
fn a_definition_without_parameters_is_a_constant() {
    let text = "def pi() -> f64 = 3.141592653589793\ndef table() -> [3]f64 = [1.0, 2.0, pi()]\ndef f(r: f64) -> f64 = { t = table(); pi() * r^2 + t[2] }";
    let pi = std::f64::consts::PI;
    assert_eq!(value(text, &[Value::F64(2.0)]), Value::F64(pi * 4.0 + pi));
}
