//! The table as text: what `docs/primitives.md` contains, and what error messages may quote.

use super::{Formula, Lowering, Partial, Prim, Row, Syntax};
use crate::ir::Literal;
use std::fmt::Write as _;

/// The names of operands in documentation.
fn operand(row: &Row, k: usize) -> &'static str {
    let names: &[&str] = match (row.id, row.params.len()) {
        ("powi_f64" | "shl_i64" | "shr_i64", _) => &["x", "n"],
        ("polygamma_f64", _) => &["k", "x"],
        ("fma_f64", _) => &["x", "y", "z"],
        (_, 3) => &["b", "x", "y"],
        _ => &["x", "y"],
    };
    names.get(k).copied().unwrap_or("?")
}

/// A formula as an expression over operands `x`, `y` and result `r`, like `-(r / y)`.
pub fn formula_text(row: &Row, formula: &Formula) -> String {
    text(row, formula, None)
}

/// The same, with `d` for the formula of a derivative.
fn text(row: &Row, formula: &Formula, derivative: Option<&Formula>) -> String {
    fn inner(row: &Row, formula: &Formula, d: Option<&Formula>, nested: bool) -> String {
        match formula {
            formula if Some(formula) == d => "d".to_string(),
            Formula::Arg(k) => operand(row, *k).to_string(),
            Formula::Result => "r".to_string(),
            Formula::Num(x) => format!("{x:?}"),
            Formula::Int(n) => n.to_string(),
            Formula::Apply(prim, args) => {
                let used = prim.row();
                match (used.syntax, *args) {
                    (Syntax::Infix, [a, b]) => {
                        let (a, b) = (inner(row, a, d, true), inner(row, b, d, true));
                        let text = format!("{a} {} {b}", used.text);
                        if nested { format!("({text})") } else { text }
                    }
                    (Syntax::Prefix, [a]) => format!("{}{}", used.text, inner(row, a, d, true)),
                    (_, args) => {
                        let args: Vec<String> =
                            args.iter().map(|a| inner(row, a, d, false)).collect();
                        format!("{}({})", used.text, args.join(", "))
                    }
                }
            }
        }
    }
    inner(row, formula, derivative, false)
}

/// The partial derivative with respect to operand k, as an expression.
pub fn partial_text(row: &Row, k: usize) -> String {
    match row.partials.get(k) {
        None | Some(Partial::Zero) => "0".to_string(),
        Some(Partial::One | Partial::Convert(_)) => "1".to_string(),
        Some(Partial::MinusOne) => "-1".to_string(),
        Some(Partial::Times(formula)) => formula_text(row, formula),
        Some(Partial::IfTrue) => "1 if b, else 0".to_string(),
        Some(Partial::IfFalse) => "0 if b, else 1".to_string(),
    }
}

/// How exact value and partials are.
fn accuracy_text(row: &Row) -> String {
    let accuracy = &row.accuracy;
    let mut value = accuracy.value.to_string();
    if let Some(scale) = &accuracy.value_of {
        value += &format!(" of `{}`", formula_text(row, scale));
    }
    let mut partials = accuracy.partials.to_string();
    let formulas = row.partials.iter().filter_map(|partial| match partial {
        Partial::Times(formula) => Some(formula),
        _ => None,
    });
    let mut known = Vec::new();
    for (scale, derivative) in accuracy.partials_of.iter().zip(formulas) {
        let text = text(row, scale, Some(derivative));
        if !known.contains(&text) {
            partials += if known.is_empty() { " of " } else { " or " };
            partials += &format!("`{text}`");
            known.push(text);
        }
    }
    if value == partials { value } else { format!("{value}<br>derivative {partials}") }
}

/// How a call of the primitive is written, with operand names.
fn usage(row: &Row) -> String {
    let names: Vec<&str> = (0..row.params.len()).map(|k| operand(row, k)).collect();
    match (row.syntax, names.as_slice()) {
        (Syntax::Infix, [a, b]) => format!("{a} {} {b}", row.text),
        (Syntax::Prefix, [a]) => format!("{}{a}", row.text),
        _ => format!("{}({})", row.text, names.join(", ")),
    }
}

/// The whole table as a Markdown document.
pub fn table_markdown() -> String {
    let mut out = String::from(
        "# Primitives\n\n\
         Printed from the table in `crates/jut-ir/src/prim`, which the passes, the interpreter and every\n\
         backend read. `x`, `y` are the operands, `r` is the result. Floats are IEEE 754 binary64; NaN and\n\
         infinities follow IEEE 754 and never trap. Integers wrap. Integers and truth values have no\n\
         derivative, and neither has anything computed from them alone.\n\n\
         A derivative is the formula, evaluated in floats like any other expression. \"Where there is no\n\
         derivative\" says what the formula gives at kinks, jumps and poles: these values are fixed, equal on\n\
         every engine and in every mode.\n\n\
         Tangents and cotangents are multiplied with it by `times`: what is zero stays zero, whatever it is\n\
         multiplied by. So an operand that is not selected, and one whose derivative is not asked for,\n\
         contribute exactly zero, in every mode and at every order, also where its partial derivative is\n\
         infinite or NaN. The same holds for a partial derivative that is zero: a chain of derivatives with a\n\
         zero factor is zero, as in `x * sqrt(x)` at 0 (and as in `cbrt(x)^3` there, of which the chain rule\n\
         says nothing). Structured primitives multiply as IEEE 754 says.\n\n\
         The sign and the payload of a NaN are left open: they differ between engines and processors. No\n\
         primitive makes them visible, and all comparisons of results (`--check`, `Value::same_bits`) take\n\
         any NaN for any other.\n\n\
         \"Exact to\" says by how many units in the last place (ulp) the value and the derivatives may differ\n\
         from the exact ones rounded to the nearest float; 0 means correctly rounded. Where terms cancel, the\n\
         last place is not the result's own but that of the expression given (`d` is the derivative). Derivatives that are nearly too\n\
         small for a float may be off by the smallest normal number besides. The bounds hold on all of\n\
         `crates/jut-ir/tests/reference`, which an arbitrary-precision library computed. What is not in the\n\
         first table is exact.\n",
    );
    let differentiable: Vec<Prim> = Prim::all().filter(|p| p.is_differentiable()).collect();
    let others: Vec<Prim> = Prim::all().filter(|p| !p.is_differentiable()).collect();
    out.push_str("\n## With a derivative\n\n");
    out.push_str(
        "| written | type | value | derivative | where there is no derivative | exact to (ulp) | runs as |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|\n");
    for prim in differentiable {
        let row = prim.row();
        let partials: Vec<String> = (0..row.params.len())
            .filter(|k| row.params[*k].is_float())
            .map(|k| format!("d/d{} = `{}`", operand(row, k), partial_text(row, k)))
            .collect();
        line(&mut out, row, &[&partials.join("<br>"), row.kinks, &accuracy_text(row)]);
    }
    out.push_str(
        "\n## At kinks, ties, jumps and poles\n\n\
         What the derivatives are where the function has none, or none that is finite. These values are fixed:\n\
         they are tested in every engine, in forward and reverse mode and under second derivatives.\n\n\
         | at | derivative |\n|---|---|\n",
    );
    for kink in super::kinks::KINKS {
        let _ = writeln!(out, "| {} |", kink_text(kink));
    }
    out.push_str("\n## Without a derivative\n\n");
    out.push_str("| written | type | value | derivative | runs as |\n|---|---|---|---|---|\n");
    for prim in others {
        let row = prim.row();
        line(&mut out, row, &[if row.kinks.is_empty() { "none" } else { row.kinks }]);
    }
    out.push_str(
        "\n## Structured primitives\n\n\
         Functions of whole arrays. Most are linear in each array: the derivative of `matmul(x, y)` is\n\
         `matmul(x', y) + matmul(x, y')`. The last column gives, for each array in turn, its cotangent, `r''`\n\
         being that of the result and `n` the size that the array has; or, where the function is not linear in an array, the tangent\n\
         that this one causes, by functions that are linear in it, `r` being the result.\n\n",
    );
    out.push_str(&crate::structured::structured_markdown());
    out.push_str(
        "\n**Order of operations.** A cell of a `matmul` is a chain of fused multiply-adds from 0.0 in the order of\n\
         the inner index, on every machine: its bits depend on neither blocks, vectors nor engine. The error is at\n\
         most `k u / (1 - k u)` times the same product of absolute values, for an inner size k and `u = 2^-53`.\n\
         The same holds for `batch_matmul`. A cell of a `conv2d` is such a chain over c, then u, then v; one of\n\
         `conv2d_input` over o, then u, then v, of those products that there are; one of `conv2d_kernel` is eight chains\n\
         over i, then j, column j in chain j mod 8, which are then added in pairs. `conv1d` has no i and u.\n\
         `matvec`, `dot`, `sum_columns` and `sum_all` add products by lanes like `sum`; `matvec_t`, `sum_rows` and the running\n\
         sums add in the order of the index; none of these fuses. What is added to an accumulator is computed first. NaN and\n\
         infinities spread as in these sums; a sum over nothing is 0.0.\n\n\
         `triangular_solve`, `cholesky` and its tangent work by blocks of 32 rows: what earlier blocks have to do with a cell is\n\
         such a chain, and is subtracted; within its block a cell goes on by fused multiply-adds, then it is divided by its pivot.\n\n\
         Objects for the system's library (`--math libm`) have loops instead of kernels, which round products before they\n\
         add them: within the same bound of the exact sum, with other bits.\n\n\
         **What else is linear in whole arrays** is written with places of arrays, and its transpose is again in place:\n\
         slices and `concat` (`s[a ..+ n] += x`, `rd s[a ..+ n]`), gathering and scattering (`x[ix[i]]`, `s[ix[i]] += v`),\n\
         `select`. There is no triangular solve and no Fourier transform yet.\n",
    );
    out
}

/// `max(2.0, 2.0)` and its derivatives.
fn kink_text(kink: &super::kinks::Kink) -> String {
    let row = kink.prim.row();
    let number = |x: f64| match (x.is_nan(), x.is_infinite()) {
        (true, _) => "NaN".to_string(),
        (_, true) => if x > 0.0 { "inf" } else { "-inf" }.to_string(),
        _ => format!("{x:?}"),
    };
    let operands: Vec<String> = kink
        .operands()
        .iter()
        .map(|x| match x {
            Literal::F64(x) => number(*x),
            Literal::F32(x) => number(f64::from(*x)),
            Literal::I64(n) => n.to_string(),
            Literal::I32(n) => n.to_string(),
            Literal::Bool(b) => b.to_string(),
        })
        .collect();
    let at = match (row.syntax, operands.as_slice()) {
        (Syntax::Infix, [a, b]) => format!("{a} {} {b}", row.text),
        _ => format!("{}({})", row.text, operands.join(", ")),
    };
    let partials = kink.float_operands().into_iter().zip(kink.partials);
    let partials: Vec<String> =
        partials.map(|(k, d)| format!("d/d{} = {}", operand(row, k), number(*d))).collect();
    format!("`{at}` | {}", partials.join(", "))
}

fn line(out: &mut String, row: &Row, columns: &[&str]) {
    let params: Vec<String> = row.params.iter().map(|s| s.name().to_string()).collect();
    // A bar would end the cell.
    let usage = usage(row).replace('|', "\\|");
    let _ = write!(
        out,
        "| `{usage}` | ({}) -> {} | {} |",
        params.join(", "),
        row.result.name(),
        row.doc
    );
    for column in columns {
        let _ = write!(out, " {column} |");
    }
    let runs_as = match row.lowering {
        Lowering::Opcode(_) => "machine operation".to_string(),
        Lowering::Runtime(symbol) => format!("`{symbol}`"),
    };
    let _ = writeln!(out, " {runs_as} |");
}
