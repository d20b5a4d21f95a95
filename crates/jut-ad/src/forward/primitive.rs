//! The tangent of a primitive, from its row in the table.
//!
//! `y = p(a, b)` is followed by `y' = (dp/da) * a' + (dp/db) * b'`. The partials are formulas over
//! operands, result and other primitives; each application in a formula becomes a statement (`c`,
//! inner ones `q`), and equal applications within one primitive become one. A partial of one or
//! minus one costs nothing or a negation, a partial of zero nothing.

use super::emit::Writer;
use jut_ir::prim::{Formula, Partial, Prim};
use jut_ir::{Atom, LVar, Literal, Loc, NVar, Rhs, Size, Structured, Type};

/// A part of a tangent.
enum Term {
    /// The tangent of an operand.
    Itself(LVar),
    /// What is made of it.
    Made(Rhs),
}

/// `y'` is the sum of the terms, if there are any.
fn sum(w: &mut Writer<'_>, y: NVar, terms: Vec<Term>, loc: Loc) {
    let last = terms.len().saturating_sub(1);
    let part = |w: &mut Writer<'_>, whole: bool| match whole {
        true => w.tangent_var(y, w.tangent_type(y), loc.span),
        false => w.aux(y, loc.span),
    };
    let mut parts = Vec::with_capacity(terms.len());
    for term in terms {
        parts.push(match term {
            Term::Itself(x) => x,
            Term::Made(rhs) => {
                let out = part(w, last == 0);
                w.emit_linear(out, rhs, loc);
                out
            }
        });
    }
    let sum = parts.into_iter().enumerate().reduce(|(_, sum), (k, x)| {
        let out = part(w, k == last);
        w.emit_linear(out, Rhs::LAdd(sum, x), loc);
        (k, out)
    });
    if let Some((_, x)) = sum {
        w.bind(y, x, loc);
    }
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
    let mut terms = Vec::new();
    for (x, partial) in tangents {
        terms.push(match partial {
            Partial::Times(formula) => {
                Term::Made(Rhs::LScale(value(w, formula, y, args, "c", &mut made, loc), x))
            }
            Partial::Convert(op) => {
                let (args, sizes) = (Vec::new(), Vec::new());
                Term::Made(Rhs::LApply { op: *op, operand: 0, args, sizes, x })
            }
            Partial::MinusOne => Term::Made(Rhs::LNeg(x)),
            _ => Term::Itself(x),
        });
    }
    sum(w, y, terms, loc);
}

/// `y = select(b, p, q)`: the tangents are selected as the values are.
fn select(w: &mut Writer<'_>, y: NVar, args: &[Atom], loc: Loc) {
    let [b, p, q] = [0, 1, 2].map(|k| w.operand(args, k, loc));
    let p = w.take_or_zero(p, &Type::F64, loc);
    let q = w.take_or_zero(q, &Type::F64, loc);
    let out = w.tangent_var(y, Type::F64, loc.span);
    w.emit_linear(out, Rhs::LSelect(b, p, q), loc);
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
        Formula::Arg(k) => w.operand(args, *k, loc),
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
    let mut terms = Vec::new();
    for (nth, (operand, arg)) in op.arrays().zip(args).enumerate() {
        if let Atom::Var(v) = arg
            && w.activity.is_live(*v)
        {
            let (operand, x) = (op.normal_operand(operand), w.take(*v, loc));
            let mut args = args.to_vec();
            args.remove(nth);
            let sizes = sizes.to_vec();
            terms.push(Term::Made(Rhs::LApply { op, operand, args, sizes, x }));
        }
    }
    sum(w, y, terms, loc);
}
