//! What J and L promise beyond the numbers: the text of Fig. 6, masks, cost, and what is refused.

use jut_ad::{Derivatives, Fragment, Mask, PASSES, Policy, compose, erase, forward};
use jut_eval::{Interpreter, Value};
use jut_ir::check::check_program;
use jut_ir::print::{print_function, print_program};
use jut_ir::{FuncId, Program, RuntimeErrorKind};

fn start(text: &str, name: &str) -> (Derivatives, FuncId) {
    let loaded = jut_text::load(text, 0);
    let program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let func = program.find_func(name).unwrap();
    (Derivatives::new(program), func)
}

fn full(derivatives: &Derivatives, func: FuncId) -> Mask {
    Mask::full(&derivatives.program, func)
}

fn jvp(derivatives: &mut Derivatives, func: FuncId) -> FuncId {
    let mask = full(derivatives, func);
    forward::forward(derivatives, func, &mask).unwrap()
}

fn gradient(text: &str, name: &str) -> (Program, FuncId) {
    let (mut d, f) = start(text, name);
    let mask = full(&d, f);
    let g = compose::grad(&mut d, f, &mask, Policy::Default).unwrap();
    check_program(&d.program).unwrap();
    (d.program, g)
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

#[test]
fn minus_sine_is_figure_6_of_the_paper() {
    let (mut d, f) = start("def f(u: f64) -> f64 = {\n  v = sin(u)\n  -v\n}", "f");
    let made = jvp(&mut d, f);
    let expected = "core def f.jvp(u: f64; u': f64) -> (f64; f64) = {
  v = sin(u)
  c = cos(u)
  v' = c * u'
  t = -v
  t' = -v'
  (t; t')
}
";
    assert_eq!(print_function(&d.program, made), expected);
}

#[test]
fn tangents_of_an_indexed_array_are_read_where_they_are_used() {
    let text = "def f[n](x: [n]f64, k: i64) -> f64 = {\n check k < n\n a = x[k]\n b = a > 0.0\n if b { a * a } else { 1.0 }\n}";
    let (mut d, f) = start(text, "f");
    let made = jvp(&mut d, f);
    let text = print_function(&d.program, made);
    let (before, arms) = text.split_once("case").unwrap();
    assert!(!before.contains("rd dx[") && arms.contains("rd dx[k]"), "{text}");
    assert!(!text.contains("drop"), "the other arm has nothing to drop: {text}");
}

#[test]
fn every_pass_makes_what_the_table_says() {
    let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { sin(x[i]) }";
    let (mut d, f) = start(text, "f");
    let mut inputs = vec![f];
    for pass in PASSES {
        let input = *inputs.iter().rev().find(|f| pass.takes.holds(&d.program.funcs[**f])).unwrap();
        let made = (pass.apply)(&mut d, input).unwrap();
        assert_eq!(made.len(), pass.makes.len(), "{}", pass.name);
        for (f, fragment) in made.iter().zip(pass.makes) {
            assert!(fragment.holds(&d.program.funcs[*f]), "{} makes {fragment:?}", pass.name);
        }
        check_program(&d.program).unwrap();
        inputs = made;
    }
    assert!(Fragment::NonLinear.holds(&d.program.funcs[inputs[0]]));
}

#[test]
fn a_mask_is_part_of_the_name_unless_it_is_full() {
    let text = "def g(w: f64, x: f64) -> f64 = w * x\ndef f(w: f64) -> f64 = g(w, 2.0) + g(w, w)";
    let (mut d, f) = start(text, "f");
    let made = jvp(&mut d, f);
    let text = print_function(&d.program, made);
    assert!(text.contains("g{w}.jvp(w, 2.0; w_1')") && text.contains("g.jvp("), "{text}");
}

#[test]
fn a_function_is_specialised_to_few_masks() {
    let params = ["a", "b", "c", "d", "e", "g"];
    let mut text =
        "def h(a: f64, b: f64, c: f64, d: f64, e: f64, g: f64) -> f64 = a * b * c * d * e * g\n"
            .to_string();
    let list: Vec<String> = params.iter().map(|p| format!("{p}: f64")).collect();
    text += &format!("def f({}) -> f64 = {{\n  s0 = 0.0\n", list.join(", "));
    for mask in 1..64 {
        let args: Vec<&str> =
            (0..6).map(|k| if mask >> k & 1 == 1 { params[k] } else { "2.0" }).collect();
        text += &format!("  s{mask} = s{} + h({})\n", mask - 1, args.join(", "));
    }
    text += "  s63\n}";
    let (mut d, f) = start(&text, "f");
    jvp(&mut d, f);
    let masks = d.program.funcs.values().filter(|f| f.name.starts_with('h')).count() - 1;
    assert!(masks <= forward::MASKS + 1, "{masks} specialisations");
    check_program(&d.program).unwrap();

    let mask = full(&d, f);
    let g = compose::grad(&mut d, f, &mask, Policy::Default).unwrap();
    let args: Vec<Value> = [0.5, 1.5, 0.7, 1.1, 0.9, 1.3].map(Value::F64).to_vec();
    let found = Interpreter::new(&d.program).call(g, &args, &[], &[]).unwrap().results;
    let h = |args: &[f64]| {
        let at = |mask: usize, k: usize| if mask >> k & 1 == 1 { args[k] } else { 2.0 };
        (1..64).map(|mask| (0..6).map(|k| at(mask, k)).product::<f64>()).sum::<f64>()
    };
    let at = [0.5, 1.5, 0.7, 1.1, 0.9, 1.3];
    for k in 0..6 {
        let moved = |by: f64| {
            let mut at = at;
            at[k] += by;
            h(&at)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let found = found[k].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-6 * expected.abs(), "{k}: {found} {expected}");
    }
}

#[test]
fn code_grows_linearly_in_a_chain_in_which_each_function_calls_the_one_before_twice() {
    let size = |k: usize| {
        let mut text = "def g0(x: f64) -> f64 = x * sin(x)\n".to_string();
        for i in 1..=k {
            let j = i - 1;
            text += &format!("def g{i}(x: f64) -> f64 = g{j}(x * 0.5) + g{j}(0.3 * x)\n");
        }
        let (mut d, f) = start(&text, &format!("g{k}"));
        let mask = full(&d, f);
        compose::value_and_grad(&mut d, f, &mask, Policy::Default).unwrap();
        lines(&print_program(&d.program))
    };
    let (small, large) = (size(20), size(200));
    assert!(large <= 11 * small, "{small} lines became {large}");
}

#[test]
fn long_functions_and_long_chains_are_differentiated() {
    let mut text = "def f(x: f64) -> f64 = {\n  v0 = sin(x)\n".to_string();
    for k in 1..20_000 {
        text += &format!("  v{k} = v{} * x + 0.5\n", k - 1);
    }
    text += "  v19999\n}\ndef g0(x: f64) -> f64 = f(x)\n";
    for k in 1..5_000 {
        text += &format!("def g{k}(x: f64) -> f64 = g{}(x) * x\n", k - 1);
    }
    let (mut d, f) = start(&text, "g4999");
    // Algorithms that are not linear would take minutes here, and a recursive one the stack.
    let made = jvp(&mut d, f);
    erase::erase(&mut d, made).unwrap();
}

#[test]
fn a_gradient_fails_where_its_function_fails_even_if_the_value_is_not_used() {
    let text = "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] }";
    let (program, g) = gradient(text, "f");
    let args =
        [Value::I64(2), Value::I64(3), Value::floats(vec![1.0, 2.0]), Value::ints(vec![0, 1, 2])];
    let error = Interpreter::new(&program).call(g, &args, &[], &[]).unwrap_err();
    assert_eq!(error.runtime().map(|e| e.kind), Some(RuntimeErrorKind::Index));
}

#[test]
fn tangents_of_records_in_records_are_declared_where_they_would_be_too_large() {
    let mut text = "def g0(x: f64) -> f64 = x * sin(x)\n".to_string();
    for k in 1..40 {
        text += &format!("def g{k}(x: f64) -> f64 = g{}(x * 0.5) + g{}(0.3 * x)\n", k - 1, k - 1);
    }
    let (mut d, f) = start(&text, "g39");
    let mask = full(&d, f);
    let gradient = compose::grad(&mut d, f, &mask, Policy::Default).unwrap();
    // Forward over reverse differentiates the tape, which has 2^40 parts.
    let mask_of_gradient = full(&d, gradient);
    forward::forward(&mut d, gradient, &mask_of_gradient).unwrap();
    check_program(&d.program).unwrap();
}

#[test]
fn so_many_records_in_use_at_once_that_code_would_nest_too_deeply_are_refused() {
    let text = |records: usize| {
        let mut text = "data P = P(r: f64, a: f64)\ndef g(x: f64) -> P = P(x, x * x)\ndef f(x: f64) -> f64 = {\n  s0 = 0.0\n".to_string();
        (0..records).for_each(|k| text += &format!("  p{k} = g(x * {k}.0)\n"));
        (0..records).for_each(|k| text += &format!("  s{} = s{k} + p{k}.r * p{k}.a\n", k + 1));
        text + &format!("  s{records}\n}}")
    };
    let (mut d, f) = start(&text(150), "f");
    jvp(&mut d, f);
    check_program(&d.program).unwrap();
    let (mut d, f) = start(&text(1000), "f");
    let mask = full(&d, f);
    assert_eq!(forward::forward(&mut d, f, &mask).unwrap_err().code, "J901");
}

#[test]
fn numbers_that_loops_in_loops_read_are_as_many_as_one_likes() {
    for count in [1, 12, 13, 80] {
        let names: Vec<String> = (0..count).map(|k| format!("a{k}")).collect();
        let parameters: Vec<String> = names.iter().map(|a| format!("{a}: f64")).collect();
        let terms: Vec<String> = names.iter().map(|a| format!("sin({a} * x[i, j, k])")).collect();
        let text = format!(
            "def f[n, m, l](x: [n, m, l]f64, {}) -> f64 =
               sum (i < n) {{ sum (j < m) {{ sum (k < l) {{ {} }} }} }}",
            parameters.join(", "),
            terms.join(" + ")
        );
        let (program, _) = gradient(&text, "f");
        assert!(check_program(&program).is_ok());
    }
    // Loops that are deep in loops.
    let open: Vec<String> = (0..24).map(|k| format!("sum (i{k} < 2) {{ ")).collect();
    let text = format!("def f(a: f64, b: f64) -> f64 = {}a * b{}", open.concat(), " }".repeat(24));
    let (program, _) = gradient(&text, "f");
    assert!(check_program(&program).is_ok());
}

#[test]
fn a_gradient_is_that_of_one_number() {
    let (mut d, f) = start("def f(x: f64) -> (f64, f64) = (x, x * x)", "f");
    let mask = full(&d, f);
    let error = compose::grad(&mut d, f, &mask, Policy::Default).unwrap_err();
    assert_eq!(error.code, "J802");
    let (mut d, f) = start("def f(x: f64) -> f64 = x", "f");
    let nothing = Mask::only(&d.program, f, &[]);
    let error = compose::grad(&mut d, f, &nothing, Policy::Default).unwrap_err();
    assert_eq!(error.code, "J804");
}

#[test]
fn the_erasure_of_non_linear_code_is_itself() {
    let (mut d, f) = start("def g(x: f64) -> f64 = x * x\ndef f(x: f64) -> f64 = g(x) + x", "f");
    assert_eq!(erase::erase(&mut d, f).unwrap(), f);
}

#[test]
fn derived_names_do_not_collide_with_pasted_stages() {
    let text = "def f(u: f64) -> f64 = u * u\ncore def f.jvp(u: f64; u': f64) -> (f64; f64) = { t = 0.0; t' = 3.0 * u'; (t; t') }";
    let (mut d, f) = start(text, "f");
    let made = jvp(&mut d, f);
    assert_eq!(d.program.funcs[made].name, "f.jvp_1");
}

#[test]
fn the_third_derivative_comes_from_applying_the_passes_three_times() {
    let (mut d, mut f) =
        start("def f(x: f64, n: i64) -> f64 = for (i < n) carry (a = 1.0) { a * x }", "f");
    for _ in 0..3 {
        let mask = Mask::only(&d.program, f, &[0]);
        f = compose::directional(&mut d, f, &mask).unwrap();
        check_program(&d.program).unwrap();
    }
    let args = |x: f64| {
        let mut args = vec![Value::F64(x), Value::I64(5)];
        args.extend(vec![Value::F64(1.0); d.program.funcs[f].params.len() - 2]);
        args
    };
    let found = Interpreter::new(&d.program).call(f, &args(1.5), &[], &[]).unwrap().results;
    // x^5 has the third derivative 60 x^2.
    assert!((found[0].as_f64().unwrap() - 60.0 * 2.25).abs() < 1e-9, "{found:?}");
}
