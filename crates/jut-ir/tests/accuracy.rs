//! Every primitive and every partial derivative is as exact as its row says, against values that an
//! arbitrary-precision library computed to 35 digits (`reference/make.py`, which says how).
//!
//! The decimal reference is rounded to the nearest float by Rust's parser; the distance from there
//! to what the row computes is a whole number of units in the last place (ulp). For the worst case
//! of each row, run with `--nocapture`.

use jut_ir::Scalar;
use jut_ir::ir::Literal;
use jut_ir::prim::{Accuracy, Formula, Partial, Row, TABLE};
use jut_runtime::math::times;
use std::collections::BTreeMap;

/// Where to read references from, instead of `reference/values.txt`.
const OTHER: &str = "JUT_REFERENCE";

/// A row's function at one point.
struct Case<'t> {
    line: &'t str,
    row: &'static Row,
    args: Vec<Literal>,
    value: &'t str,
    partials: Vec<&'t str>,
}

fn float(x: Literal) -> f64 {
    match x {
        Literal::F64(x) => x,
        other => panic!("{other:?} is not a float"),
    }
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let rows: BTreeMap<&str, &'static Row> = TABLE.iter().map(|row| (row.id, row)).collect();
    let case = |line| {
        let (operands, results) = str::split_once(line, " = ").expect(line);
        let mut operands = operands.split(' ');
        let row = rows[operands.next().expect(line)];
        let args: Vec<Literal> = (row.params.iter().zip(operands))
            .map(|(scalar, word)| match *scalar {
                Scalar::F64 => {
                    Literal::F64(f64::from_bits(u64::from_str_radix(word, 16).expect(line)))
                }
                Scalar::F32 => Literal::F32(word.parse().expect(line)),
                Scalar::I64 => Literal::I64(word.parse().expect(line)),
                Scalar::I32 => Literal::I32(word.parse().expect(line)),
                Scalar::Bool => Literal::Bool(word.parse().expect(line)),
            })
            .collect();
        assert_eq!(args.len(), row.params.len(), "{line}");
        let mut results = results.split(' ');
        let value = results.next().expect(line);
        Case { line, row, args, value, partials: results.collect() }
    };
    text.lines().map(case).collect()
}

fn text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/values.txt");
    let path = std::env::var(OTHER).unwrap_or_else(|_| path.to_owned());
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The distance between neighbouring floats at x; of the smallest ones at least.
fn ulp(x: f64) -> f64 {
    let x = x.abs().min(f64::MAX.next_down());
    x.next_up() - x
}

/// How many units in the last place of the decimal, or of `scale` if that is larger, lie between a
/// float and a decimal; 0 if both are the same, also infinity or NaN.
fn distance(have: f64, want: &str, scale: Option<f64>) -> f64 {
    let want: f64 = want.parse().expect(want);
    if have == want || (have.is_nan() && want.is_nan()) {
        return 0.0;
    }
    if !have.is_finite() || !want.is_finite() {
        // Beyond the largest float by rounding is not far.
        let end = |x: f64| if x.is_infinite() { f64::MAX.copysign(x) } else { x };
        return match (end(have) - end(want)).abs() / ulp(f64::MAX) {
            d if d.is_nan() => f64::INFINITY,
            d => d + 1.0,
        };
    }
    (have - want).abs() / ulp(scale.filter(|s| s.abs() > want.abs()).unwrap_or(want))
}

/// The worst distances of value and partials seen for a row, with where they were.
#[derive(Default)]
struct Worst<'t> {
    value: (f64, &'t str),
    partials: (f64, &'t str),
    points: usize,
}

#[test]
fn every_row_is_as_exact_as_it_says() {
    let text = text();
    let mut worst: BTreeMap<&str, Worst<'_>> = BTreeMap::new();
    for Case { line, row, args, value, partials } in cases(&text) {
        let worst = worst.entry(row.id).or_default();
        worst.points += 1;
        let Accuracy { value_of, partials_of, .. } = row.accuracy;
        let have = (row.eval)(&args);
        let off = match have {
            Literal::F64(x) => {
                let scale = value_of.map(|scale| float(scale.evaluate(&args, have)));
                distance(x, value, scale)
            }
            Literal::I64(n) if value.parse() == Ok(n) => 0.0,
            Literal::Bool(b) if value.parse() == Ok(b) => 0.0,
            _ => f64::INFINITY,
        };
        if off > worst.value.0 {
            worst.value = (off, line);
        }
        let floats = (0..args.len()).filter(|k| row.params[*k].is_float());
        for (n, (k, want)) in floats.zip(partials).enumerate() {
            if want == "-" {
                continue;
            }
            let partial = row.partial(k, &args);
            let exact: f64 = want.parse().expect(want);
            if (partial - exact).abs() <= f64::MIN_POSITIVE {
                continue;
            }
            let scale = partials_of.get(n).map(|scale| float(scale.evaluate(&args, have)));
            let off = distance(partial, want, scale);
            if off > worst.partials.0 {
                worst.partials = (off, line);
            }
        }
    }
    let mut wrong = String::new();
    // The conversions are those of Rust.
    let narrow = |scalar: Scalar| matches!(scalar, Scalar::F32 | Scalar::I32);
    let converts = |row: &&Row| row.params.iter().any(|p| narrow(*p)) || narrow(row.result);
    for row in TABLE.iter().filter(|row| !converts(row)) {
        let seen = worst.remove(row.id).unwrap_or_default();
        let (value, partials) = (seen.value.0, seen.partials.0);
        println!(
            "{:16}{:6} points, value {value:5.1} of {}, partials {partials:7.1} of {}",
            row.id, seen.points, row.accuracy.value, row.accuracy.partials
        );
        if value > f64::from(row.accuracy.value) {
            wrong += &format!("{} is off by {value} ulp at {}\n", row.id, seen.value.1);
        }
        if partials > f64::from(row.accuracy.partials) {
            let at = seen.partials.1;
            wrong += &format!("a partial of {} is off by {partials} ulp at {at}\n", row.id);
        }
        let enough = match row.params {
            [] => 1,
            params if params.iter().all(|p| *p == Scalar::Bool) => 2,
            _ => 20,
        };
        assert!(seen.points >= enough, "{} has {} points", row.id, seen.points);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// How exact second derivatives are, in units in the last place: those that the formulas for the
/// partials have when they are differentiated themselves.
const SECOND: &[(&str, f64)] = &[
    ("tanh_f64", 3.0),
    ("sigmoid_f64", 4.0),
    ("softplus_f64", 2.0),
    ("erf_f64", 3.0),
    ("erfc_f64", 3.0),
    ("asin_f64", 6.0),
    ("acos_f64", 6.0),
    ("atanh_f64", 5.0),
    ("acosh_f64", 5.0),
    ("asinh_f64", 5.0),
    ("atan_f64", 4.0),
    ("log1p_f64", 3.0),
    ("expm1_f64", 1.0),
    ("exp_f64", 1.0),
    ("log_f64", 2.0),
    ("sqrt_f64", 5.0),
    ("cbrt_f64", 8.0),
    ("sinh_f64", 1.0),
    ("cosh_f64", 1.0),
    ("sin_f64", 1.0),
    ("cos_f64", 1.0),
    ("tan_f64", 4.0),
];

/// Value and derivative of a formula, given those of the operand and of the result.
fn dual(formula: &Formula, arg: (Literal, f64), result: (Literal, f64)) -> (Literal, f64) {
    match formula {
        Formula::Arg(_) => arg,
        Formula::Result => result,
        Formula::Num(x) => (Literal::F64(*x), 0.0),
        Formula::Int(n) => (Literal::I64(*n), 0.0),
        Formula::Apply(prim, operands) => {
            let operands: Vec<_> = operands.iter().map(|f| dual(f, arg, result)).collect();
            tangent(prim.row(), &operands)
        }
    }
}

/// A row applied to operands with tangents, as derivatives are computed.
fn tangent(row: &Row, args: &[(Literal, f64)]) -> (Literal, f64) {
    let values: Vec<Literal> = args.iter().map(|(v, _)| *v).collect();
    let products = args.iter().enumerate().map(|(k, (_, t))| times(row.partial(k, &values), *t));
    ((row.eval)(&values), products.sum())
}

#[test]
fn second_derivatives_are_as_exact_as_stated() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/second.txt");
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut worst: BTreeMap<&str, (f64, usize, &str)> = BTreeMap::new();
    for Case { line, row, args, value, .. } in cases(&text) {
        let [Partial::Times(formula)] = row.partials else { panic!("{line}") };
        let arg = (args[0], 1.0);
        let (_, second) = dual(formula, arg, tangent(row, &[arg]));
        let exact: f64 = value.parse().expect(value);
        let off = match (second - exact).abs() <= f64::MIN_POSITIVE {
            true => 0.0,
            false => distance(second, value, None),
        };
        let worst = worst.entry(row.id).or_insert((0.0, 0, line));
        worst.1 += 1;
        if off > worst.0 {
            (worst.0, worst.2) = (off, line);
        }
    }
    let mut wrong = String::new();
    for (id, bound) in SECOND {
        let (off, points, line) = worst.remove(id).unwrap_or((f64::INFINITY, 0, "no line"));
        println!("{id:16}{points:6} points, second derivative {off:7.1} of {bound}");
        if off > *bound || points < 30 {
            wrong += &format!("the second derivative of {id} is off by {off} ulp at {line}\n");
        }
    }
    assert!(wrong.is_empty() && worst.is_empty(), "\n{wrong}{worst:?}");
}

#[test]
fn zeros_have_the_sign_of_the_reference() {
    let mut checked = 0;
    for Case { line, row, args, value, .. } in cases(&text()) {
        if ["+0.0", "-0.0"].contains(&value) {
            let x = float((row.eval)(&args));
            assert_eq!((x, x.is_sign_negative()), (0.0, value == "-0.0"), "{line}");
            checked += 1;
        }
    }
    assert!(checked >= 50, "{checked}");
}
