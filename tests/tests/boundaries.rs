//! Zero times infinity, for every primitive at all kinks, ties, poles, ends and extremes: what is not
//! asked for and what is not selected contributes exactly zero, in every mode and at every order; so all
//! modes give the same first and second derivatives.

use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::prim::{Row, TABLE};
use jut_ir::{FuncId, Literal, Scalar};
use jut_native::Backend;
use jut_tests::engines::{self, agree_everywhere, agree_optimised};
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::products::Product;
use jut_tests::rows::{
    applied, applied_once, array, float_operands, floats, grid, operands, parameters,
};

/// Functions of a row's operands at many points, and what is composed of them.
struct Subject<'r> {
    row: &'r Row,
    points: Vec<Vec<Literal>>,
    args: Vec<Value>,
    derivatives: Derivatives,
    /// Those that compile what is composed.
    backends: Vec<(&'static str, Backend)>,
}

impl<'r> Subject<'r> {
    /// `body` computes what is made of the primitive's value `v` at point `i`; so many backends compile that at most.
    fn new(row: &'r Row, body: &str, backends: usize) -> Result<Subject<'r>, String> {
        let (params, value) = (parameters(row), applied(row));
        let (once, value_once) = applied_once(row);
        let result = row.result.name();
        let text = format!(
            "def each(n: i64{params}) -> [n]{result} = build (i < n) {{ v = {value}; {body} }}
             def total(n: i64{params}) -> {result} = sum (i < n) {{ v = {value}; {body} }}
             def once({once}) -> {result} = {{ i = 0; v = {value_once}; {body} }}"
        );
        let points = grid(row);
        let args = operands(row, &points);
        let derivatives = Derivatives::new(load(&text)?);
        let backends = engines::backends().take(backends).collect();
        Ok(Subject { row, points, args, derivatives, backends })
    }

    fn func(&self, name: &str) -> Result<(FuncId, Mask), String> {
        let program = &self.derivatives.program;
        let func = program.find_func(name).ok_or("no function")?;
        let first = usize::from(name != "once");
        let positions: Vec<usize> = float_operands(self.row).iter().map(|k| k + first).collect();
        Ok((func, Mask::only(program, func, &positions)))
    }

    /// For each float operand an array: of ones for operand `j`, of zeros for the others.
    fn unit(&self, j: usize) -> Vec<Value> {
        let operands = float_operands(self.row).into_iter().enumerate();
        let unit = |(k, operand): (usize, usize)| {
            self.all(self.row.params[operand], if k == j { 1.0 } else { 0.0 })
        };
        operands.map(unit).collect()
    }

    /// The same float at all points.
    fn all(&self, scalar: Scalar, x: f64) -> Value {
        array(scalar, std::iter::repeat_n(number(scalar, x), self.points.len()))
    }

    /// Runs a function of all points in the interpreter, in the loop form, and as machine code.
    fn run(&self, func: FuncId, more: Vec<Value>) -> Result<Vec<Value>, String> {
        let args = [&self.args[..], &more].concat();
        let runs = agree_everywhere(&self.derivatives.program, func, &[args], &self.backends)?;
        let run = runs.into_iter().next().ok_or("no run")?;
        run.map_err(|e| format!("{}: {e}", self.row.id))
    }

    /// Runs a function of one point at each of them, with 1 for float operand `k` and 0 for the others
    /// besides: the last results, for each operand.
    fn run_once(&self, func: FuncId, k: usize) -> Result<Vec<Vec<f64>>, String> {
        let interpreter = Interpreter::new(&self.derivatives.program);
        let operands = float_operands(self.row);
        let count = operands.len();
        let mut found = vec![Vec::new(); count];
        for point in &self.points {
            let unit = operands.iter().enumerate().map(|(j, operand)| {
                Value::from(number(self.row.params[*operand], if j == k { 1.0 } else { 0.0 }))
            });
            let args: Vec<Value> = point.iter().map(|x| Value::from(*x)).chain(unit).collect();
            let outcome = interpreter.call(func, &args, &[], &[]);
            let results = outcome.map_err(|e| format!("{}: {e}", self.row.id))?.results;
            for (found, d) in found.iter_mut().zip(last(&results, count)) {
                found.extend(d);
            }
        }
        Ok(found)
    }

    /// The first derivatives, in forward and in reverse mode: for each operand, at each point.
    fn first(&mut self) -> Result<[Vec<Vec<f64>>; 2], String> {
        let say = |d: jut_ir::Diagnostic| d.to_string();
        let (each, mask) = self.func("each")?;
        let count = mask.positions().count();
        let jvp = compose::directional(&mut self.derivatives, each, &mask).map_err(say)?;
        let vjp = compose::vjp(&mut self.derivatives, each, &mask, Policy::Default).map_err(say)?;
        let forward: Result<Vec<Vec<f64>>, String> =
            (0..count).map(|j| Ok(last(&self.run(jvp, self.unit(j))?, 1).remove(0))).collect();
        let results = self.run(vjp, vec![self.all(self.row.result, 1.0)])?;
        Ok([forward?, last(&results, count)])
    }

    /// The derivative with respect to operand i of the one with respect to operand j, at each point,
    /// by every nesting of the modes: its name, i, j, and the derivatives.
    fn second(&mut self) -> Result<Vec<Second>, String> {
        let say = |d: jut_ir::Diagnostic| d.to_string();
        let (each, of_each) = self.func("each")?;
        let (total, mask) = self.func("total")?;
        let policy = Policy::Default;
        let d = &mut self.derivatives;
        let hvp = compose::hessian_product(d, total, &mask, policy).map_err(say)?;
        let along = compose::second_directional(d, each, &of_each).map_err(say)?;
        let (once, mask) = self.func("once")?;
        let d = &mut self.derivatives;
        let grad = compose::grad(d, once, &mask, policy).map_err(say)?;
        let positions: Vec<usize> = mask.positions().collect();
        let again = Mask::only(&d.program, grad, &positions);
        let forward = compose::directional(d, grad, &again).map_err(say)?;
        let reverse = compose::vjp(d, grad, &again, policy).map_err(say)?;
        let count = positions.len();
        let mut all = Vec::new();
        for k in 0..count {
            let column = last(&self.run(hvp, self.unit(k))?, count);
            all.extend(
                column.into_iter().enumerate().map(|(i, d)| ("reverse of forward", i, k, d)),
            );
            let row = self.run_once(forward, k)?;
            all.extend(row.into_iter().enumerate().map(|(j, d)| ("forward of reverse", k, j, d)));
            let column = self.run_once(reverse, k)?;
            all.extend(
                column.into_iter().enumerate().map(|(i, d)| ("reverse of reverse", i, k, d)),
            );
            let line = last(&self.run(along, self.unit(k))?, 1).remove(0);
            all.push(("forward of forward", k, k, line));
        }
        Ok(all)
    }
}

/// Which nesting, the second and the first operand, and the derivative at each point.
type Second = (&'static str, usize, usize, Vec<f64>);

/// A float of the width of this scalar.
fn number(scalar: Scalar, x: f64) -> Literal {
    if scalar == Scalar::F32 { Literal::F32(x as f32) } else { Literal::F64(x) }
}

/// The floats of each of the last results.
fn last(results: &[Value], count: usize) -> Vec<Vec<f64>> {
    results[results.len() - count..].iter().map(floats).collect()
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// Whether two ways to a second derivative agree: they add the same products in another order, so what
/// cancels is measured by the product of the first derivatives.
fn near(a: f64, b: f64, first: f64) -> bool {
    let size = a.abs().max(b.abs()).max(first.abs());
    same(a, b) || (a - b).abs() <= (1e-13 * size).max(f64::MIN_POSITIVE)
}

/// Whether second derivatives at a point may be larger than all floats: then it depends on the order of
/// products whether they are infinite or the difference of two infinities.
fn exceeds_floats(args: &[Literal]) -> bool {
    let tiny =
        |x: &Literal| matches!(x, Literal::F64(x) if *x != 0.0 && x.abs() <= f64::MIN_POSITIVE);
    args.iter().any(tiny)
}

fn differentiable() -> Vec<&'static Row> {
    let differentiable = |row: &&Row| !row.partials.is_empty() && row.result.is_float();
    TABLE.iter().filter(differentiable).filter(|row| !float_operands(row).is_empty()).collect()
}

fn all_modes_agree(row: &Row) -> Result<usize, String> {
    let mut subject = Subject::new(row, "v", usize::MAX)?;
    let mut wrong = Vec::new();
    for (mode, found) in ["forward", "reverse"].into_iter().zip(subject.first()?) {
        for (k, found) in float_operands(row).into_iter().zip(found) {
            for (args, found) in subject.points.iter().zip(found) {
                let want = row.partial(k, args);
                if !same(found, want) {
                    wrong.push(format!(
                        "{}{args:?}, operand {k}, {mode}: {found}, not {want}",
                        row.id
                    ));
                }
            }
        }
    }
    // Near its poles the terms of beta's second derivatives are far larger than these.
    let second = if row.id == "beta_f64" { vec![] } else { subject.second()? };
    let operands = float_operands(row);
    for (nesting, i, j, found) in &second {
        let Some((.., want)) = second.iter().find(|(_, a, b, _)| (a, b) == (i, j)) else {
            continue;
        };
        for ((args, found), want) in subject.points.iter().zip(found).zip(want) {
            let first = row.partial(operands[*i], args) * row.partial(operands[*j], args);
            let finite = found.is_finite() && want.is_finite();
            if !near(*found, *want, first) && (finite || !exceeds_floats(args)) {
                let which = format!("operands {i} of {j}");
                wrong.push(format!(
                    "{}{args:?}, {which}, {nesting}: {found:e}, not {want:e}",
                    row.id
                ));
            }
        }
    }
    if wrong.is_empty() {
        Ok(subject.points.len() * (2 + second.len()))
    } else {
        Err(wrong.join("\n"))
    }
}

/// What is made of a value so that it does not matter.
const UNSELECTED: [&str; 4] = [
    "select(i < 0, v, 0.5)",
    "select(i >= 0, 0.5, v)",
    // Also where the value is NaN.
    "relu(min(v, -1.0))",
    "stop(v)",
];

fn is_not_selected(row: &Row) -> Result<usize, String> {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (k, body) in UNSELECTED.into_iter().enumerate() {
        // All backends compile one of them, in turn from row to row.
        let all = (row.id.len() + k).is_multiple_of(UNSELECTED.len());
        let mut subject = Subject::new(row, body, if all { usize::MAX } else { 1 })?;
        let mut found: Vec<(String, Vec<f64>)> = Vec::new();
        for (mode, first) in ["forward", "reverse"].into_iter().zip(subject.first()?) {
            found.extend(first.into_iter().map(|d| (mode.to_owned(), d)));
        }
        found.extend(subject.second()?.into_iter().map(|(mode, .., d)| (mode.to_owned(), d)));
        for (mode, found) in &found {
            count += found.len();
            let some = subject.points.iter().zip(found).find(|(_, d)| **d != 0.0);
            wrong
                .extend(some.map(|(args, d)| format!("{body} of {}{args:?}, {mode}: {d}", row.id)));
        }
    }
    if wrong.is_empty() { Ok(count) } else { Err(wrong.join("\n")) }
}

fn all(test: impl Fn(&Row) -> Result<usize, String> + Sync) -> usize {
    let rows = differentiable();
    let found = in_parallel(&rows, |row| Ok(test(row))).unwrap_or_else(|e| panic!("{e}"));
    let wrong: Vec<&String> = found.iter().filter_map(|f| f.as_ref().err()).collect();
    assert!(
        wrong.is_empty(),
        "\n{}",
        wrong.iter().map(|w| w.as_str()).collect::<Vec<_>>().join("\n")
    );
    found.into_iter().flatten().sum()
}

#[test]
fn all_modes_and_nestings_give_the_same_derivatives() {
    let points = all(all_modes_agree);
    assert!(points > 10_000, "{points} points");
}

#[test]
fn what_is_not_selected_contributes_nothing_at_any_order() {
    let points = all(is_not_selected);
    assert!(points > 50_000, "{points} points");
}

/// A function of `x` at a point where some partial derivative is infinite, and its derivatives there.
const WHOLE: &[(&str, f64, f64, f64)] = &[
    ("c = [5.0, 4.0, 3.0]; sum (i < 3) { c[i] * x^i }", 0.0, 4.0, 6.0),
    ("pow(x, 2.0)", 0.0, 0.0, 2.0),
    ("x^3.0", 0.0, 0.0, 0.0),
    ("x^2", 0.0, 0.0, 2.0),
    ("select(x > 0.0, sqrt(x), 2.0 * x)", 0.0, 2.0, 0.0),
    ("select(x == 0.0, 1.0, sin(x) / x)", 0.0, 0.0, 0.0),
    ("max(sqrt(x), 1.0)", 0.0, 0.0, 0.0),
    ("x * sqrt(x)", 0.0, 0.0, f64::INFINITY),
    ("sqrt(x) * 0.0", 0.0, 0.0, 0.0),
];

#[test]
fn functions_with_an_infinite_partial_have_the_derivatives_of_their_selected_parts() {
    for (body, x, first, second) in WHOLE {
        let text = format!("def f(x: f64) -> f64 = {{ {body} }}");
        let say = |d: jut_ir::Diagnostic| panic!("{body}: {d}");
        let program = load(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
        let func = program.find_func("f").expect("f");
        let mask = Mask::full(&program, func);
        let mut d = Derivatives::new(program);
        let grad = compose::grad(&mut d, func, &mask, Policy::Default).unwrap_or_else(say);
        let jvp = compose::directional(&mut d, func, &mask).unwrap_or_else(say);
        let hessian = compose::hessian(&mut d, func, &mask, Policy::Default).unwrap_or_else(say);
        let line = compose::second_directional(&mut d, func, &mask).unwrap_or_else(say);
        let x = Value::F64(*x);
        let one = Value::F64(1.0);
        let asked = [
            ("grad", grad, vec![x.clone()], first),
            ("jvp", jvp, vec![x.clone(), one.clone()], first),
            ("hessian", hessian, vec![x.clone()], second),
            ("second", line, vec![x, one], second),
        ];
        for (name, func, args, want) in asked {
            let product = Product { name: name.to_owned(), program: d.program.clone(), func, args };
            let found = agree_optimised(&product).and_then(|run| run.map_err(|e| e.to_string()));
            let found = found.unwrap_or_else(|e| panic!("{body}: {e}"));
            let found = floats(&found[0])[0];
            assert!(same(found, *want), "{body}, {name}: {found}, not {want}");
        }
    }
}
