//! The tangent of a primitive, from its row in the table.
//!
//! `y = p(a, b)` is followed by `y' = (dp/da) * a' + (dp/db) * b'`. The partials are formulas over
//! operands, result and other primitives; each application in a formula becomes a statement (`c`,
//! inner ones `q`), and equal applications within one primitive become one. A partial of one or
//! minus one costs nothing or a negation, a partial of zero nothing.

use super::emit::Writer;
use jut_ir::prim::{Formula, Partial, Prim};
use jut_ir::{Atom, LVar, Literal, Loc, NVar, Rhs, Size, Structured, Type};

/// What becomes of an operand's tangent.
enum Factor {
    Keep,
    Negate,
    Scale(Atom),
}

/// Emits the tangent of `y = prim(args)`, which has been emitted itself.
pub(super) fn tangent(w: &mut Writer<'_>, y: NVar, prim: Prim, args: &[Atom], loc: Loc) {
    let partials = prim.row().partials;
    if partials.iter().any(|p| matches!(p, Partial::IfTrue | Partial::IfFalse)) {
        return select(w, y, args, loc);
    }
    let mut tangents: Vec<(LVar, &Partial)> = Vec::new();
    for (a, partial) in args.iter().zip(partials) {
        if let Atom::Var(v) = a
            && !matches!(partial, Partial::Zero)
            && w.activity.is_live(*v)
        {
            tangents.push((w.take(*v, loc), partial));
        }
    }
    let mut made = Vec::new();
    let mut terms: Vec<(LVar, Factor)> = Vec::new();
    for (x, partial) in tangents {
        let factor = match partial {
            Partial::Times(formula) => {
                Factor::Scale(value(w, formula, y, args, "c", &mut made, loc))
            }
            Partial::MinusOne => Factor::Negate,
            _ => Factor::Keep,
        };
        terms.push((x, factor));
    }
    let single = terms.len() == 1;
    let mut sum: Option<LVar> = None;
    let mut products = Vec::new();
    for (x, factor) in terms {
        let rhs = match factor {
            Factor::Keep => {
                products.push(x);
                continue;
            }
            Factor::Negate => Rhs::LNeg(x),
            Factor::Scale(c) => Rhs::LScale(c, x),
        };
        let out = if single { w.tangent_var(y, Type::F64, loc.span) } else { w.aux(y, loc.span) };
        w.emit_linear(out, rhs, loc);
        products.push(out);
    }
    let last = products.len().saturating_sub(1);
    for (k, x) in products.into_iter().enumerate() {
        sum = Some(match sum {
            None => x,
            Some(s) => {
                let out = if k == last {
                    w.tangent_var(y, Type::F64, loc.span)
                } else {
                    w.aux(y, loc.span)
                };
                w.emit_linear(out, Rhs::LAdd(s, x), loc);
                out
            }
        });
    }
    if let Some(x) = sum {
        w.bind(y, x, loc);
    }
}

/// `y = select(b, p, q)`: the tangents are selected as the values are.
fn select(w: &mut Writer<'_>, y: NVar, args: &[Atom], loc: Loc) {
    let [b, p, q] = args else { return };
    let p = w.take_or_zero(*p, &Type::F64, loc);
    let q = w.take_or_zero(*q, &Type::F64, loc);
    let out = w.tangent_var(y, Type::F64, loc.span);
    w.emit_linear(out, Rhs::LSelect(*b, p, q), loc);
    w.bind(y, out, loc);
}

/// The value of a formula; applications made before are not made again.
fn value(
    w: &mut Writer<'_>,
    formula: &Formula,
    y: NVar,
    args: &[Atom],
    hint: &str,
    made: &mut Vec<(Prim, Vec<Atom>, NVar)>,
    loc: Loc,
) -> Atom {
    match formula {
        Formula::Arg(k) => args.get(*k).copied().unwrap_or(Atom::Lit(Literal::F64(0.0))),
        Formula::Result => Atom::Var(y),
        Formula::Num(x) => Atom::Lit(Literal::F64(*x)),
        Formula::Int(x) => Atom::Lit(Literal::I64(*x)),
        Formula::Apply(prim, operands) => {
            let operands: Vec<Atom> =
                operands.iter().map(|f| value(w, f, y, args, "q", made, loc)).collect();
            let known = made.iter().find(|(p, a, _)| p == prim && *a == operands);
            if let Some((_, _, v)) = known {
                return Atom::Var(*v);
            }
            let v = w.emit_prim(hint, *prim, operands.clone(), loc);
            made.push((*prim, operands, v));
            Atom::Var(v)
        }
    }
}

/// The tangent of `y = op(args)`: the sum, over the operands with a tangent, of the operation that is
/// linear in that one.
pub(super) fn structured(
    w: &mut Writer<'_>,
    y: NVar,
    op: Structured,
    args: &[Atom],
    sizes: &[Size],
    loc: Loc,
) {
    let mut tangents: Vec<(usize, usize, LVar)> = Vec::new();
    for (nth, (operand, arg)) in op.arrays().zip(args).enumerate() {
        if let Atom::Var(v) = arg
            && w.activity.is_live(*v)
        {
            tangents.push((nth, op.normal_operand(operand), w.take(*v, loc)));
        }
    }
    let ty = w.tangent_type(y);
    let last = tangents.len().saturating_sub(1);
    let mut sum: Option<LVar> = None;
    for (k, (nth, operand, x)) in tangents.into_iter().enumerate() {
        let mut args = args.to_vec();
        args.remove(nth);
        let part = |w: &mut Writer<'_>, whole: bool| match whole {
            true => w.tangent_var(y, ty.clone(), loc.span),
            false => w.aux(y, loc.span),
        };
        let term = part(w, last == 0);
        let rhs = Rhs::LApply { op, operand, args, sizes: sizes.to_vec(), x };
        w.emit_linear(term, rhs, loc);
        sum = Some(match sum {
            None => term,
            Some(s) => {
                let out = part(w, k == last);
                w.emit_linear(out, Rhs::LAdd(s, term), loc);
                out
            }
        });
    }
    if let Some(x) = sum {
        w.bind(y, x, loc);
    }
}
