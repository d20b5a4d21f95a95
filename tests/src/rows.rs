//! Every row of the table of primitives as a program, and where its operands are looked at: ordinary
//! points, and all kinks, ties, poles, ends and extremes.

use jut_eval::{Array, Cells, Value};
use jut_ir::Literal;
use jut_ir::Scalar;
use jut_ir::prim::kinks::KINKS;
use jut_ir::prim::{Row, Syntax};

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
        Scalar::I32 => {
            let all = [0, 1, -1, 2, 63, 1_000_003, i32::MIN, i32::MAX];
            all.map(Literal::I32).to_vec()
        }
        Scalar::F32 => {
            let all = [f32::NAN, f32::INFINITY, -0.0, 1e-45, 0.1, 1.5, -3.25, 3e38];
            all.map(Literal::F32).to_vec()
        }
        Scalar::F64 => {
            let some = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324];
            let more = [1.0, -1.0, 0.5, -0.5, 1.5, -2.5, -3.0, 1e300, -1e300, f64::MIN_POSITIVE];
            let more = more.into_iter().chain([0.49999999999999994, 9.3e18, 1e-5, -745.2, 2.0]);
            let ordinary = [0.1, 0.37, 0.7].map(|t| domain.low + t * (domain.high - domain.low));
            some.into_iter().chain(more).chain(ordinary).map(Literal::F64).collect()
        }
    }
}

/// All combinations of the operands' points, less zero divisors, and the points of the table of kinks.
pub fn grid(row: &Row) -> Vec<Vec<Literal>> {
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
    let kinks = KINKS.iter().filter(|kink| kink.prim.row().id == row.id);
    all.extend(kinks.map(|kink| kink.operands()));
    all
}

/// The positions of the operands that are floats.
pub fn float_operands(row: &Row) -> Vec<usize> {
    (0..row.params.len()).filter(|k| row.params[*k].is_float()).collect()
}

/// The parameters of a function of arrays of operands: `, x: [n]f64, y: [n]i64`.
pub fn parameters(row: &Row) -> String {
    let params = NAMES.iter().zip(row.params).map(|(x, s)| format!(", {x}: [n]{}", s.name()));
    params.collect()
}

/// The primitive applied to the elements of these arrays at `i`.
pub fn applied(row: &Row) -> String {
    application(row, "[i]")
}

/// The parameters of a function of operands, `x: f64, y: i64`, and the primitive applied to them.
pub fn applied_once(row: &Row) -> (String, String) {
    let params = NAMES.iter().zip(row.params).map(|(x, s)| format!("{x}: {}", s.name()));
    (params.collect::<Vec<_>>().join(", "), application(row, ""))
}

fn application(row: &Row, index: &str) -> String {
    let names = &NAMES[..row.params.len()];
    let items: Vec<String> = names.iter().map(|x| format!("{x}{index}")).collect();
    match (row.syntax, &items[..]) {
        (Syntax::Infix, [x, y]) => format!("{x} {} {y}", row.text),
        (Syntax::Prefix, [x]) => format!("{}{x}", row.text),
        _ => format!("prim.{}({})", row.text, items.join(", ")),
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

/// The operands of all points: their number, and an array for each operand.
pub fn operands(row: &Row, points: &[Vec<Literal>]) -> Vec<Value> {
    let mut args = vec![Value::I64(points.len() as i64)];
    for (k, scalar) in row.params.iter().enumerate() {
        args.push(array(*scalar, points.iter().map(|p| p[k])));
    }
    args
}

/// An array of scalars.
pub fn array(scalar: Scalar, items: impl Iterator<Item = Literal>) -> Value {
    let floats = |x| if let Literal::F64(x) = x { x } else { f64::NAN };
    match scalar {
        Scalar::F64 => Value::floats(items.map(floats).collect::<Vec<_>>()),
        Scalar::F32 => {
            let singles = items.map(|x| if let Literal::F32(x) = x { x } else { f32::NAN });
            let cells: Vec<f32> = singles.collect();
            let dims = vec![cells.len()];
            Array::new(dims, Cells::F32(cells)).map_or_else(|| Value::floats([]), Value::Array)
        }
        Scalar::I64 => Value::ints(
            items
                .filter_map(|x| if let Literal::I64(x) = x { Some(x) } else { None })
                .collect::<Vec<_>>(),
        ),
        Scalar::I32 => {
            let int = |x| if let Literal::I32(x) = x { Some(x) } else { None };
            let cells: Vec<i32> = items.filter_map(int).collect();
            let dims = vec![cells.len()];
            Array::new(dims, Cells::I32(cells)).map_or_else(|| Value::ints([]), Value::Array)
        }
        Scalar::Bool => Value::bools(items.map(|x| x == Literal::Bool(true)).collect::<Vec<_>>()),
    }
}

/// All floats of a value.
pub fn floats(value: &Value) -> Vec<f64> {
    let mut all = Vec::new();
    value.for_each_f64(&mut |x| all.push(x));
    all
}
