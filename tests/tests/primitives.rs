//! Every row of the table of primitives in every engine: its value and its derivatives in both modes,
//! at ordinary points and at all kinks, ties, poles and extremes, have the bits that the row says.
//!
//! One program per row applies the primitive to arrays of points. Expected is the row's evaluation,
//! and the row's formulas for partials times the tangent or cotangent; any NaN equals any other.

use jut_ad::{Mask, Policy};
use jut_ir::Literal;
use jut_ir::prim::{Partial, Row, TABLE};
use jut_tests::engines::agree_optimised;
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::products::products;
use jut_tests::rows::{applied, array, float_operands, floats, grid, operands, parameters};

/// The program that applies a row to arrays.
fn text(row: &Row) -> String {
    let (params, value, result) = (parameters(row), applied(row), row.result.name());
    format!("def f(n: i64{params}) -> [n]{result} = build (i < n) {{ {value} }}")
}

/// What the row says becomes of a tangent of operand k, or of the cotangent for it; nothing if it is
/// cut off. A tangent of zero stays zero, as every tangent does that is multiplied by zero.
fn slope(row: &Row, k: usize, args: &[Literal], t: f64) -> Option<f64> {
    match row.partials[k] {
        Partial::Zero => None,
        // A tangent of 32 bits.
        Partial::Convert(_) => Some(f64::from(t as f32)),
        _ => Some(jut_runtime::math::times(row.partial(k, args), t)),
    }
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
    let args = operands(row, &points);
    let mask = Mask::full(&program, func);
    let active = float_operands(row);
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
            "jvp" if row.result.is_float() => {
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
            "vjp" if row.result.is_float() => {
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
