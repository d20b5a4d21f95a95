//! The table of derivatives at kinks, ties, jumps and poles, row by row: every engine gives what the table
//! says, as jvp, vjp, gradient, and Jacobian by columns and by rows; second derivatives are 0 where the
//! function is straight on both sides, and of the same bits in every engine wherever they are asked
//! for.

use jut_ad::compose::{self, JacobianMode};
use jut_ad::{Derivatives, Mask, Policy};
use jut_eval::Value;
use jut_ir::Literal;
use jut_ir::Scalar;
use jut_ir::prim::kinks::{KINKS, Kink};
use jut_ir::prim::{self, Syntax};
use jut_tests::engines::{agree, agree_optimised, same as agree_in_bits};
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::products::Product;

/// Where every derivative above the first is 0, also at the kink.
const STRAIGHT: &[prim::Prim] = &[
    prim::MIN,
    prim::MAX,
    prim::ABS,
    prim::SIGN,
    prim::RELU,
    prim::SELECT,
    prim::STOP,
    prim::FLOOR,
    prim::CEIL,
    prim::TRUNC,
    prim::ROUND,
];

/// A function that applies the primitive to its parameters.
fn text(kink: &Kink) -> String {
    let row = kink.prim.row();
    let names = &["x", "y", "z"][..row.params.len()];
    let params: Vec<String> =
        names.iter().zip(row.params).map(|(x, s)| format!("{x}: {}", s.name())).collect();
    let value = match (row.syntax, names) {
        (Syntax::Infix, [x, y]) => format!("{x} {} {y}", row.text),
        _ => format!("prim.{}({})", row.text, names.join(", ")),
    };
    format!("def f({}) -> f64 = {value}", params.join(", "))
}

fn value(x: &Literal) -> Value {
    match *x {
        Literal::F64(x) => Value::F64(x),
        Literal::F32(x) => Value::F32(x),
        Literal::I32(x) => Value::I32(x),
        Literal::I64(n) => Value::I64(n),
        Literal::Bool(b) => Value::Bool(b),
    }
}

fn expect(kink: &Kink, what: &str, have: &[Value], want: &[f64]) -> Result<(), String> {
    let mut found = Vec::new();
    have.iter().for_each(|v| v.for_each_f64(&mut |x| found.push(x)));
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    match found.len() == want.len() && found.iter().zip(want).all(same) {
        true => Ok(()),
        false => Err(format!("{kink:?}, {what}: {found:?}, not {want:?}")),
    }
}

/// Checks a row; gives how many programs ran.
fn row(kink: &Kink) -> Result<usize, String> {
    let program = load(&text(kink))?;
    let func = program.find_func("f").ok_or("no function")?;
    let mask = Mask::full(&program, func);
    let args: Vec<Value> = kink.operands().iter().map(value).collect();
    let floats = kink.float_operands().len();
    let mut runs = 0;
    for policy in [Policy::Default, Policy::StoreAll] {
        let mut d = Derivatives::new(program.clone());
        let refused = |d: jut_ir::Diagnostic| format!("{kink:?}: {d}");
        let jvp = compose::directional(&mut d, func, &mask).map_err(refused)?;
        let vjp = compose::vjp(&mut d, func, &mask, policy).map_err(refused)?;
        let grad = compose::grad(&mut d, func, &mask, policy).map_err(refused)?;
        let hvp = compose::hessian_product(&mut d, func, &mask, policy).map_err(refused)?;
        let hessian = compose::hessian(&mut d, func, &mask, policy).map_err(refused)?;
        let jacobians = [JacobianMode::Forward, JacobianMode::Reverse]
            .map(|mode| compose::jacobian(&mut d, func, &mask, mode, policy).map_err(refused));
        let mut run = |what: &str, func, more: Vec<Value>| -> Result<Vec<Value>, String> {
            let args = [&args[..], &more].concat();
            let name = format!("{what} under {policy:?}");
            let product = Product { name, program: d.program.clone(), func, args };
            let named = |e: String| format!("{kink:?}, {}: {e}", product.name);
            runs += 1;
            agree_optimised(&product).map_err(named)?.map_err(|e| named(e.to_string()))
        };
        let unit = |j: usize| -> Vec<Value> {
            (0..floats).map(|k| Value::F64(if k == j { 1.0 } else { 0.0 })).collect()
        };
        expect(kink, "grad", &run("grad", grad, vec![])?, kink.partials)?;
        let twice: Vec<f64> = kink.partials.iter().map(|d| 2.0 * d).collect();
        let results = run("vjp", vjp, vec![Value::F64(2.0)])?;
        expect(kink, "vjp", &results[results.len() - floats..], &twice)?;
        // No cotangent: nothing is asked for.
        let results = run("vjp", vjp, vec![Value::F64(0.0)])?;
        expect(kink, "vjp of 0", &results[results.len() - floats..], &vec![0.0; floats])?;
        for (jacobian, mode) in jacobians.into_iter().zip(["forward", "reverse"]) {
            let what = format!("{mode} Jacobian");
            expect(kink, &what, &run(&what, jacobian?, vec![])?, kink.partials)?;
        }
        let blocks = run("Hessian", hessian, vec![])?;
        for j in 0..floats {
            expect(kink, "jvp", &run("jvp", jvp, unit(j))?, &kink.partials[j..=j])?;
            let second = run("hvp", hvp, unit(j))?;
            let column = (0..floats).map(|i| blocks[j * floats + i].clone());
            let mut same = second.iter().zip(column);
            if !same.all(|(a, b)| agree_in_bits(a, &b)) {
                return Err(format!("{kink:?}: hvp {second:?}, Hessian {blocks:?}"));
            }
            if STRAIGHT.contains(&kink.prim) {
                expect(kink, "hvp", &second, &vec![0.0; floats])?;
            }
        }
    }
    Ok(runs)
}

#[test]
fn every_kink_has_its_derivatives_in_every_engine_and_mode() {
    let kinks: Vec<&Kink> = KINKS.iter().collect();
    let runs = in_parallel(&kinks, |kink| row(kink)).unwrap_or_else(|e| panic!("{e}"));
    let runs: usize = runs.iter().sum();
    assert!(runs >= 16 * KINKS.len(), "{runs} runs");
}

#[test]
fn conversions_cut_the_derivative_in_every_engine_and_mode() {
    let program = load("def f(x: f64) -> f64 = x * f64(i64(x))").expect("a program");
    let func = program.find_func("f").expect("f");
    let mask = Mask::full(&program, func);
    let mut d = Derivatives::new(program);
    let grad = compose::grad(&mut d, func, &mask, Policy::Default).expect("a gradient");
    let results = agree(&d.program, grad, &[Value::F64(3.5)]).expect("agree").expect("runs");
    assert_eq!(results, [Value::F64(3.0)]);
    assert!(prim::INT.row().partials.iter().all(|p| matches!(p, prim::Partial::Zero)));
    assert_eq!(prim::INT.row().result, Scalar::I64);
}
