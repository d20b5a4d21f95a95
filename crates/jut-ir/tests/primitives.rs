//! What the table of primitives promises, row by row.

use jut_ir::Scalar;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Formula, Lowering, Partial, Prim, Row, Syntax, TABLE};
use jut_runtime::math;
use jut_runtime::symbols::{self, Math};
use std::collections::HashSet;

fn float(x: Literal) -> f64 {
    match x {
        Literal::F64(x) => x,
        Literal::F32(x) => f64::from(x),
        other => panic!("{other:?} is not a float"),
    }
}

/// A sample of an operand: `t` in 0 .. 1.
fn sample(row: &Row, k: usize, t: f64) -> Literal {
    let domain = row.domain[k];
    let x = domain.low + t * (domain.high - domain.low);
    match row.params[k] {
        Scalar::F64 => Literal::F64(x),
        Scalar::F32 => Literal::F32(x as f32),
        Scalar::I64 => Literal::I64(x.round() as i64),
        Scalar::I32 => Literal::I32(x.round() as i32),
        Scalar::Bool => Literal::Bool(t >= 0.5),
    }
}

/// Sample points of a row: a sequence that fills the unit cube evenly and avoids kinks.
fn samples(row: &Row) -> impl Iterator<Item = Vec<Literal>> + '_ {
    let steps = [0.754_877_666_2, 0.569_840_290_9, 0.430_159_709_0];
    (0..60).map(move |n| {
        (0..row.params.len())
            .map(|k| sample(row, k, (0.13 + 0.29 * k as f64 + f64::from(n) * steps[k]).fract()))
            .collect()
    })
}

#[test]
fn partials_agree_with_central_differences() {
    // Rounding to 32 bits is a step, so small that its derivative is taken for 1.
    for row in TABLE.iter().filter(|row| row.result == Scalar::F64) {
        for args in samples(row) {
            for k in (0..row.params.len()).filter(|k| row.params[*k] == Scalar::F64) {
                if row.id == "stop_f64" {
                    assert_eq!(row.partial(k, &args), 0.0);
                    continue;
                }
                let x = float(args[k]);
                let h = 1e-5 * x.abs().max(1.0);
                let at = |x: f64| {
                    let mut args = args.clone();
                    args[k] = Literal::F64(x);
                    float((row.eval)(&args))
                };
                let difference = (at(x + h) - at(x - h)) / (2.0 * h);
                let exact = row.partial(k, &args);
                assert!(
                    (difference - exact).abs() <= 1e-7 * exact.abs().max(1.0),
                    "{} at {args:?}, operand {k}: {exact} but differences give {difference}",
                    row.id
                );
            }
        }
    }
}

#[test]
fn partials_are_formulas_over_the_table_of_the_right_types() {
    fn scalar(row: &Row, formula: &Formula) -> Scalar {
        match formula {
            Formula::Arg(k) => row.params[*k],
            Formula::Result => row.result,
            Formula::Num(_) => Scalar::F64,
            Formula::Int(_) => Scalar::I64,
            Formula::Apply(prim, operands) => {
                let used = prim.row();
                let types: Vec<Scalar> = operands.iter().map(|f| scalar(row, f)).collect();
                assert_eq!(types, used.params, "{} in a partial of {}", used.id, row.id);
                assert!(!prim.can_fail(), "{} in a partial of {}", used.id, row.id);
                used.result
            }
        }
    }
    for row in TABLE {
        assert_eq!(row.partials.len(), row.params.len(), "{}", row.id);
        for (k, partial) in row.partials.iter().enumerate() {
            match partial {
                Partial::Zero => continue,
                Partial::Times(formula) => {
                    assert_eq!(scalar(row, formula), Scalar::F64, "{}", row.id);
                }
                Partial::IfTrue | Partial::IfFalse => {
                    assert_eq!(row.params[0], Scalar::Bool, "{}", row.id);
                }
                Partial::One | Partial::MinusOne => {}
                Partial::Convert(op) => {
                    let (from, to) = op.widths();
                    let widths = (Scalar::Float(from), Scalar::Float(to));
                    assert_eq!((row.params[k], row.result), widths, "{}", row.id);
                    assert_eq!(op.primitive().map(|p| p.row().id), Some(row.id));
                    continue;
                }
            }
            assert_eq!((row.params[k], row.result), (Scalar::F64, Scalar::F64), "{}", row.id);
        }
    }
}

#[test]
fn second_derivatives_from_the_formulas_agree_with_differences_of_the_first() {
    /// Value and derivative of a formula, given the tangents of operands and result.
    fn dual(formula: &Formula, args: &[(Literal, f64)], result: (Literal, f64)) -> (Literal, f64) {
        match formula {
            Formula::Arg(k) => args[*k],
            Formula::Result => result,
            Formula::Num(x) => (Literal::F64(*x), 0.0),
            Formula::Int(n) => (Literal::I64(*n), 0.0),
            Formula::Apply(prim, operands) => {
                let operands: Vec<_> = operands.iter().map(|f| dual(f, args, result)).collect();
                tangent(prim.row(), &operands)
            }
        }
    }
    fn tangent(row: &Row, args: &[(Literal, f64)]) -> (Literal, f64) {
        let values: Vec<Literal> = args.iter().map(|(v, _)| *v).collect();
        let terms = args.iter().enumerate().filter(|(_, (_, t))| *t != 0.0);
        let sum = terms.map(|(k, (_, t))| row.partial(k, &values) * t).sum();
        ((row.eval)(&values), sum)
    }
    for row in TABLE {
        let mut points: Vec<Vec<Literal>> = samples(row).collect();
        if row.id == "pow_f64" {
            // The derivative with respect to x is 0 at y = 0, its own one with respect to y is not.
            points.extend([0.5, 4.0].map(|x| vec![Literal::F64(x), Literal::F64(0.0)]));
        }
        for (k, rule) in row.partials.iter().enumerate() {
            let Partial::Times(formula) = rule else { continue };
            let floats = (0..row.params.len()).filter(|j| row.params[*j].is_float());
            for (j, args) in floats.flat_map(|j| points.iter().map(move |args| (j, args))) {
                let x = float(args[j]);
                let seed = |i: usize| if i == j { 1.0 } else { 0.0 };
                let seeded: Vec<(Literal, f64)> =
                    args.iter().enumerate().map(|(i, v)| (*v, seed(i))).collect();
                let (_, second) = dual(formula, &seeded, tangent(row, &seeded));
                let h = 1e-5 * x.abs().max(1.0);
                let at = |x: f64| {
                    let mut args = args.clone();
                    args[j] = Literal::F64(x);
                    row.partial(k, &args)
                };
                let difference = (at(x + h) - at(x - h)) / (2.0 * h);
                assert!(
                    (difference - second).abs() <= 1e-6 * second.abs().max(1.0),
                    "{} at {args:?}, operands {k} and {j}: {second}, by differences {difference}",
                    row.id
                );
            }
        }
    }
}

#[test]
fn every_row_has_a_value_for_all_bits() {
    let floats = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1.0,
        -1.0,
        0.5,
        -2.5,
    ];
    let ints = [0, 1, -1, 2, i64::MIN, i64::MIN + 1, i64::MAX];
    for row in TABLE {
        let choices: Vec<Vec<Literal>> = row
            .params
            .iter()
            .map(|p| match *p {
                Scalar::F64 => floats.iter().map(|x| Literal::F64(*x)).collect(),
                Scalar::F32 => floats.iter().map(|x| Literal::F32(*x as f32)).collect(),
                Scalar::I64 => ints.iter().map(|x| Literal::I64(*x)).collect(),
                Scalar::I32 => ints.iter().map(|x| Literal::I32(*x as i32)).collect(),
                Scalar::Bool => vec![Literal::Bool(false), Literal::Bool(true)],
            })
            .collect();
        let mut points = vec![Vec::new()];
        for choice in &choices {
            points = points
                .iter()
                .flat_map(|p: &Vec<Literal>| choice.iter().map(move |c| [&p[..], &[*c]].concat()))
                .collect();
        }
        for point in points {
            let result = (row.eval)(&point);
            assert_eq!(Scalar::of(&result.ty()), Some(row.result), "{} at {point:?}", row.id);
            for k in 0..row.params.len() {
                row.partial(k, &point);
            }
        }
    }
}

#[test]
fn kinks_ties_and_poles_have_the_documented_derivatives() {
    let mut wrong = Vec::new();
    for kink in prim::kinks::KINKS {
        let (row, args) = (kink.prim.row(), kink.operands());
        let operands = kink.float_operands();
        assert_eq!(
            (args.len(), operands.len()),
            (row.params.len(), kink.partials.len()),
            "{}",
            row.id
        );
        for (k, expected) in operands.into_iter().zip(kink.partials) {
            let found = row.partial(k, &args);
            if found != *expected && !(found.is_nan() && expected.is_nan()) {
                wrong.push(format!("{} at {args:?}, operand {k}: {found}, not {expected}", row.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_whose_text_tells_of_kinks_has_one_in_their_table() {
    for (prim, row) in Prim::all().zip(TABLE) {
        let listed = prim::kinks::KINKS.iter().any(|kink| kink.prim == prim);
        let told = !row.kinks.is_empty() && row.result.is_float();
        // The pole of the tangent is no float, and beta's are those of gamma.
        let none = ["tan_f64", "beta_f64"].contains(&row.id);
        assert!(listed || !told || none, "{}: {}", row.id, row.kinks);
    }
}

#[test]
fn where_exponentials_and_squares_overflow_derivatives_do_not() {
    let at = |prim: Prim, k: usize, args: &[f64]| {
        let args: Vec<Literal> = args.iter().map(|x| Literal::F64(*x)).collect();
        prim.row().partial(k, &args)
    };
    assert_eq!((at(prim::SIGMOID, 0, &[-800.0]), at(prim::SIGMOID, 0, &[800.0])), (0.0, 0.0));
    assert_eq!((at(prim::SOFTPLUS, 0, &[-800.0]), at(prim::SOFTPLUS, 0, &[800.0])), (0.0, 1.0));
    assert_eq!((at(prim::ASINH, 0, &[1e300]), at(prim::ACOSH, 0, &[1e300])), (1e-300, 1e-300));
    assert_eq!(at(prim::ATAN2, 0, &[0.0, 1e200]), 1e-200);
    assert_eq!(at(prim::ATAN2, 0, &[0.0, 1e-200]), 1e200);
    assert_eq!((at(prim::POW, 0, &[5e-324, 0.0]), at(prim::POW, 0, &[-2.0, 0.0])), (0.0, 0.0));
    for y in [-1.0, 0.0, 2.0] {
        assert_eq!(at(prim::POW, 1, &[0.0, y]), 0.0);
    }
    let powi = |x: f64, n: i64| prim::POWI.row().partial(0, &[Literal::F64(x), Literal::I64(n)]);
    assert_eq!(powi(2.0, -1), -0.25);
    assert_eq!((powi(1.0, i64::MIN), powi(1.0, i64::MAX)), (i64::MIN as f64, i64::MAX as f64));
    assert_eq!(powi(2.0, i64::MIN), -0.0);
}

#[test]
fn products_of_derivatives_with_a_zero_are_zero_and_all_others_are_products() {
    let numbers = [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for x in numbers {
        for y in numbers {
            let (product, found) = (x * y, math::times(x, y));
            let zero = x == 0.0 || y == 0.0;
            // Also the sign of a zero is that of the product, where that is a number.
            let want = if zero && product.is_nan() { 0.0 } else { product };
            assert!(math::same(found, want), "{x} {y}: {found}");
            assert!(!zero || found == 0.0, "{x} {y}: {found}");
        }
    }
}

#[test]
fn a_nan_is_the_same_as_any_other_and_zeros_differ() {
    let nans = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001), f64::INFINITY * 0.0];
    for a in nans {
        assert!(nans.iter().all(|b| math::same(a, *b) && math::bits(a) == math::bits(*b)));
        assert!(!math::same(a, 0.0) && !math::same(f64::INFINITY, a));
    }
    assert!(!math::same(0.0, -0.0) && math::same(-0.0, -0.0) && !math::same(1.0, 1.0f64.next_up()));
}

#[test]
fn conversions_and_integers_follow_the_rules_of_the_language() {
    let int = |x: f64| (prim::INT.row().eval)(&[Literal::F64(x)]);
    assert_eq!(int(f64::NAN), Literal::I64(0));
    assert_eq!(int(1e300), Literal::I64(i64::MAX));
    assert_eq!(int(-1e300), Literal::I64(i64::MIN));
    assert_eq!(int(-2.9), Literal::I64(-2));
    let i2 = |p: Prim, a: i64, b: i64| (p.row().eval)(&[Literal::I64(a), Literal::I64(b)]);
    assert_eq!(i2(prim::IDIV, i64::MIN, -1), Literal::I64(i64::MIN));
    assert_eq!(i2(prim::IREM, i64::MIN, -1), Literal::I64(0));
    assert_eq!(i2(prim::IDIV, -7, 2), Literal::I64(-3));
    assert_eq!(i2(prim::IREM, -7, 2), Literal::I64(-1));
    assert_eq!(i2(prim::IADD, i64::MAX, 1), Literal::I64(i64::MIN));
    assert_eq!(i2(prim::SHL, -3, 63), Literal::I64(i64::MIN));
    assert_eq!(i2(prim::SHR, -3, 1), Literal::I64(-2));
    // Amounts that are no number of places shift everything out.
    for n in [64, i64::MAX, -1, i64::MIN] {
        assert_eq!(i2(prim::SHL, -3, n), Literal::I64(0));
        assert_eq!(
            (i2(prim::SHR, -3, n), i2(prim::SHR, 3, n)),
            (Literal::I64(-1), Literal::I64(0))
        );
    }
}

#[test]
fn rows_are_documented_and_told_apart_by_text_and_types() {
    let mut ids = HashSet::new();
    for (k, row) in TABLE.iter().enumerate() {
        assert!(ids.insert(row.id), "{} twice", row.id);
        assert!(row.doc.ends_with('.') && row.doc.len() > 3, "{}: {}", row.id, row.doc);
        assert!(row.kinks.is_empty() || row.kinks.ends_with('.'), "{}", row.id);
        assert_eq!(row.domain.len(), row.params.len(), "{}", row.id);
        let types: Vec<_> = row.params.iter().map(|p| p.ty()).collect();
        let found = Prim::resolve(row.text, row.syntax, &types);
        assert_eq!(found, Prim::all().nth(k), "{}", row.id);
        let operands = match row.syntax {
            Syntax::Infix => row.params.len() == 2,
            Syntax::Prefix => row.params.len() == 1,
            Syntax::Call => true,
        };
        assert!(operands, "{}", row.id);
    }
}

#[test]
fn the_runtime_has_every_symbol_and_computes_the_same_bits() {
    for row in TABLE {
        let Lowering::Runtime(symbol) = row.lowering else { continue };
        let function = symbols::math(symbol).unwrap_or_else(|| panic!("{symbol} is missing"));
        for args in samples(row) {
            let expected = float((row.eval)(&args));
            let found = match (function, args.as_slice()) {
                (Math::Unary(f), [a]) => f(float(*a)),
                (Math::Binary(f), [a, b]) => f(float(*a), float(*b)),
                (Math::Ternary(f), [a, b, c]) => f(float(*a), float(*b), float(*c)),
                (Math::Integer(f), [a, Literal::I64(n)]) => f(float(*a), *n),
                (Math::Order(f), [Literal::I64(k), a]) => f(*k, float(*a)),
                _ => panic!("{symbol} has other operands than {}", row.id),
            };
            assert_eq!(found.to_bits(), expected.to_bits(), "{symbol} at {args:?}");
        }
    }
}

/// Run with `JUT_BLESS=1` to write the document anew.
#[test]
fn the_document_of_primitives_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/primitives.md");
    let table = prim::table_markdown();
    if std::env::var_os("JUT_BLESS").is_some() {
        std::fs::write(path, &table).expect("docs/primitives.md is writable");
    }
    let document = std::fs::read_to_string(path).expect("docs/primitives.md exists");
    assert!(document == table, "docs/primitives.md is old: run this test with JUT_BLESS=1");
}
