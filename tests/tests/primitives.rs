//! Every row of the table of primitives in every engine: its value and its derivatives in both modes,
//! at ordinary points and at all kinks, ties, poles and extremes, have the bits that the row says.
//!
//! One program per row applies the primitive to arrays of points. Expected is the row's evaluation,
//! and the row's formulas for partials times the tangent or cotangent; any NaN equals any other.

use jut_ad::{Mask, Policy};
use jut_eval::Value;
use jut_ir::Literal;
use jut_ir::prim::{Partial, Row, Scalar, Syntax, TABLE};
use jut_tests::engines::agree_optimised;
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::products::products;

/// Where an operand is looked at.
fn points(row: &Row, k: usize) -> Vec<Literal> {
    let domain = row.domain[k];
    match row.params[k] {
        Scalar::Bool => [false, true].map(Literal::Bool).to_vec(),
        Scalar::I64 => {
            let ends = [i64::MIN, i64::MIN + 1, i64::MAX];
            let all = [0, 1, -1, 2, -2, 3, 5, 62, 63, 64, 65, -64, 1_000_003];
            all.into_iter().chain(ends).map(Literal::I64).collect()
        }
        Scalar::F64 => {
            let some = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324];
            let more = [1.0, -1.0, 0.5, -0.5, 1.5, -2.5, -3.0, 1e300, -1e300, f64::MIN_POSITIVE];
            let more = more.into_iter().chain([0.49999999999999994, 9.3e18, 1e-5, -745.2]);
            let ordinary = [0.1, 0.37, 0.7].map(|t| domain.low + t * (domain.high - domain.low));
            some.into_iter().chain(more).chain(ordinary).map(Literal::F64).collect()
        }
    }
}

/// All combinations of the operands' points, less zero divisors.
fn grid(row: &Row) -> Vec<Vec<Literal>> {
    let mut all = vec![Vec::new()];
    for k in 0..row.params.len() {
        let choices = points(row, k);
        let longer = |args: &Vec<Literal>| {
            choices.iter().map(|x| [&args[..], &[*x]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    if ["div_i64", "rem_i64"].contains(&row.id) {
        all.retain(|args| args[1] != Literal::I64(0));
    }
    all
}

/// The program that applies a row to arrays.
fn text(row: &Row) -> String {
    let names = &["x", "y", "z"][..row.params.len()];
    let params = names.iter().zip(row.params).map(|(x, s)| format!(", {x}: [n]{}", s.name()));
    let items: Vec<String> = names.iter().map(|x| format!("{x}[i]")).collect();
    let value = match (row.syntax, &items[..]) {
        (Syntax::Infix, [x, y]) => format!("{x} {} {y}", row.text),
        (Syntax::Prefix, [x]) => format!("{}{x}", row.text),
        _ => format!("prim.{}({})", row.text, items.join(", ")),
    };
    format!(
        "def f(n: i64{}) -> [n]{} = build (i < n) {{ {value} }}",
        params.collect::<String>(),
        row.result.name()
    )
}

fn array(scalar: Scalar, items: impl Iterator<Item = Literal>) -> Value {
    let floats = |x| if let Literal::F64(x) = x { x } else { f64::NAN };
    match scalar {
        Scalar::F64 => Value::floats(items.map(floats).collect::<Vec<_>>()),
        Scalar::I64 => Value::ints(
            items
                .filter_map(|x| if let Literal::I64(x) = x { Some(x) } else { None })
                .collect::<Vec<_>>(),
        ),
        Scalar::Bool => Value::bools(items.map(|x| x == Literal::Bool(true)).collect::<Vec<_>>()),
    }
}

/// What the row says becomes of a tangent of operand k, or of the cotangent for it; nothing if it is
/// cut off.
fn slope(row: &Row, k: usize, args: &[Literal], t: f64) -> Option<f64> {
    match row.partials[k] {
        Partial::Zero => None,
        // The side that is not selected gets zero whatever comes in.
        Partial::IfTrue | Partial::IfFalse if row.partial(k, args) == 0.0 => Some(0.0),
        _ => Some(row.partial(k, args) * t),
    }
}

fn floats(value: &Value) -> Vec<f64> {
    let mut all = Vec::new();
    value.for_each_f64(&mut |x| all.push(x));
    all
}

/// The first point where two results differ; zeros of either sign are the same in derivatives,
/// where a sum with zero may have come between.
fn differ(row: &Row, points: &[Vec<Literal>], have: &[f64], want: &[f64]) -> Result<(), String> {
    if have.len() != want.len() {
        return Err(format!("{}: {} of {} results", row.id, have.len(), want.len()));
    }
    for (args, (have, want)) in points.iter().zip(have.iter().zip(want)) {
        if have != want && !(have.is_nan() && want.is_nan()) {
            return Err(format!("{} at {args:?}: {have:?}, but the row says {want:?}", row.id));
        }
    }
    Ok(())
}

fn test(row: &Row) -> Result<usize, String> {
    let named = |e: String| format!("{}: {e}", row.id);
    let program = load(&text(row)).map_err(named)?;
    let func = program.find_func("f").ok_or("no function")?;
    let points = grid(row);
    let mut args = vec![Value::I64(points.len() as i64)];
    for (k, scalar) in row.params.iter().enumerate() {
        args.push(array(*scalar, points.iter().map(|p| p[k])));
    }
    let mask = Mask::full(&program, func);
    let active: Vec<usize> =
        (0..row.params.len()).filter(|k| row.params[*k] == Scalar::F64).collect();
    let policies = [Policy::Default, Policy::StoreAll];
    let products = products(&program, func, &args, &mask, &policies).map_err(named)?;
    for product in &products {
        let results = agree_optimised(product)
            .map_err(named)?
            .map_err(|e| named(format!("{}: {e}", product.name)))?;
        let named = |e: String| format!("{}: {e}", product.name);
        let kind = product.name.split(' ').next().unwrap_or_default();
        let seeds: Vec<Vec<f64>> = product.args[args.len()..].iter().map(floats).collect();
        match kind {
            "value" => {
                let expected = array(row.result, points.iter().map(|p| (row.eval)(p)));
                if !jut_tests::engines::same(&results[0], &expected) {
                    return Err(named(format!("{}: {results:?}, not {expected:?}", row.id)));
                }
            }
            "jvp" if row.result == Scalar::F64 => {
                let want: Vec<f64> = points
                    .iter()
                    .enumerate()
                    .map(|(i, p)| {
                        let terms = active.iter().zip(&seeds);
                        let terms = terms.filter_map(|(k, seed)| slope(row, *k, p, seed[i]));
                        terms.reduce(|a, b| a + b).unwrap_or(0.0)
                    })
                    .collect();
                let have = results.last().map(floats).unwrap_or_default();
                differ(row, &points, &have, &want).map_err(named)?;
            }
            "vjp" if row.result == Scalar::F64 => {
                let first = results.len() - active.len();
                for (k, have) in active.iter().zip(&results[first..]) {
                    let seed = &seeds[seeds.len() - 1];
                    let each = points.iter().zip(seed);
                    let want: Vec<f64> =
                        each.map(|(p, t)| slope(row, *k, p, *t).unwrap_or(0.0)).collect();
                    differ(row, &points, &floats(have), &want).map_err(named)?;
                }
            }
            _ => {}
        }
    }
    Ok(points.len() * products.len())
}

#[test]
fn every_row_has_the_same_values_and_derivatives_in_every_engine_and_mode() {
    let rows: Vec<&Row> = TABLE.iter().collect();
    let runs = in_parallel(&rows, |row| test(row)).unwrap_or_else(|e| panic!("{e}"));
    let runs: usize = runs.iter().sum();
    assert!(runs > 50_000, "{runs} points");
}
