//! The tangent of a primitive, from its row in the table.
//!
//! `y = p(a, b)` is followed by `y' = (dp/da) * a' + (dp/db) * b'`. The partials are formulas over
//! operands, result and other primitives; each application in a formula becomes a statement (`c`,
//! inner ones `q`), and equal applications within one primitive become one. A partial of one or
//! minus one costs nothing or a negation, a partial of zero nothing.

use super::emit::Writer;
use jut_ir::prim::{Formula, Partial, Prim};
use jut_ir::structured::{self, Chain, Rule};
use jut_ir::{Atom, LVar, Literal, Loc, NVar, Origin, Rhs, Size, Stmt, Structured, Type};

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
/// linear in that one, or of what its row says.
pub(super) fn structured(
    w: &mut Writer<'_>,
    y: NVar,
    op: Structured,
    args: &[Atom],
    sizes: &[Size],
    loc: Loc,
) {
    let mut terms = Vec::new();
    let mut made = Vec::new();
    for (nth, (operand, arg)) in op.arrays().zip(args).enumerate() {
        let Atom::Var(v) = arg else { continue };
        if !w.activity.is_live(*v) {
            continue;
        }
        let x = w.take(*v, loc);
        match op.partial(operand) {
            Some(Rule::Formulas(chains)) => {
                for chain in chains {
                    terms.push(self::chain(w, chain, x, (y, args), &mut made, loc));
                }
            }
            _ => {
                let operand = op.normal_operand(operand);
                let mut args = args.to_vec();
                args.remove(nth);
                let sizes = sizes.to_vec();
                terms.push(Term::Made(Rhs::LApply { op, operand, args, sizes, x }));
            }
        }
    }
    sum(w, y, terms, loc);
}

/// Primitives that formulas have applied, with what came out.
type Applied = Vec<(Structured, Vec<Atom>, NVar)>;

/// A chain of operations of `x`: all but the last get names.
fn chain(
    w: &mut Writer<'_>,
    chain: &Chain,
    mut x: LVar,
    of: (NVar, &[Atom]),
    made: &mut Applied,
    loc: Loc,
) -> Term {
    let last = if chain.negative { None } else { chain.steps.len().checked_sub(1) };
    for (k, step) in chain.steps.iter().enumerate() {
        let args: Vec<Atom> = step.others.iter().map(|f| whole(w, f, of, made, loc)).collect();
        let (op, operand) = (step.op, step.operand);
        let mut types: Vec<Type> = args.iter().map(|a| type_of(w, *a)).collect();
        types.insert(operand.min(types.len()), w.builder.func.lvars[x].ty.clone());
        let rhs = Rhs::LApply { op, operand, args, sizes: Vec::new(), x };
        if Some(k) == last {
            return Term::Made(rhs);
        }
        let ty = result_type(w, op, types, loc);
        let hint = format!("{}_1", w.source.nvars[of.0].name);
        x = w.builder.lvar(&hint, ty, loc.span);
        w.emit_linear(x, rhs, loc);
    }
    if chain.negative { Term::Made(Rhs::LNeg(x)) } else { Term::Itself(x) }
}

/// The value of a formula over whole arrays; applications made before are not made again.
fn whole(
    w: &mut Writer<'_>,
    formula: &structured::Formula,
    of: (NVar, &[Atom]),
    made: &mut Applied,
    loc: Loc,
) -> Atom {
    match formula {
        structured::Formula::Operand(k) => w.operand(of.1, *k, loc),
        structured::Formula::Result => Atom::Var(of.0),
        structured::Formula::Apply(op, operands) => {
            let args: Vec<Atom> = operands.iter().map(|f| whole(w, f, of, made, loc)).collect();
            let known = made.iter().find(|(p, a, _)| p == op && *a == args);
            if let Some((_, _, v)) = known {
                return Atom::Var(*v);
            }
            let ty = result_type(w, *op, args.iter().map(|a| type_of(w, *a)).collect(), loc);
            let v = w.builder.nvar("q", ty, loc.span);
            let rhs = Rhs::Structured(*op, args.clone(), Vec::new());
            let loc = Loc { tape: loc.tape, ..loc.by(Origin::Forward) };
            w.emit_stmt(Stmt { nl: vec![v], lin: vec![], rhs, annotated: false, loc });
            made.push((*op, args, v));
            Atom::Var(v)
        }
    }
}

fn type_of(w: &Writer<'_>, atom: Atom) -> Type {
    w.builder.func.type_of(atom)
}

/// The type of what a primitive without sizes gives; the table's tests see to it that there is one.
fn result_type(w: &Writer<'_>, op: Structured, arrays: Vec<Type>, loc: Loc) -> Type {
    let operands: Vec<(Type, Size)> = arrays.into_iter().map(|ty| (ty, Size::default())).collect();
    let what = || format!("the type of `{}` in a formula", op.row().name);
    w.known(op.result_type(&operands).ok(), what, loc.span, || Type::F64)
}
