//! Statements that compute sizes: for passes, and for elaboration of the core.

use crate::build::{FunctionBuilder, Namer};
use crate::prim::{self, Prim};
use crate::{Atom, Function, Literal, Loc, NVar, Rhs, Size, Span, Stmt, Type, VarData};

/// A variable for the result of a primitive: transparent for integer arithmetic.
pub fn prim_var(
    builder: &mut FunctionBuilder,
    hint: &str,
    prim: Prim,
    args: &[Atom],
    span: Span,
) -> NVar {
    let size = |k: usize| builder.func.size_of(args[k]);
    let def = match args.len() {
        2 if prim == prim::IADD => size(0).checked_add(&size(1)),
        2 if prim == prim::ISUB => size(0).checked_sub(&size(1)),
        2 if prim == prim::IMUL => size(0).checked_mul(&size(1)),
        1 if prim == prim::INEG => Some(-size(0)),
        _ => None,
    };
    match def {
        Some(def) => builder.size_var(hint, def, span),
        None => builder.nvar(hint, prim.row().result.ty(), span),
    }
}

/// A size as an operand: a literal or a name where it is one, else computed from the names in it.
pub fn operand(
    func: &mut Function,
    namer: &mut Namer,
    size: &Size,
    loc: Loc,
    out: &mut Vec<Stmt>,
) -> Atom {
    match (size.as_constant(), size.as_var()) {
        (Some(n), _) => Atom::Lit(Literal::I64(n)),
        (_, Some(v)) => Atom::Var(v),
        _ => Atom::Var(compute(func, namer, size, loc, out)),
    }
}

/// Computes a size from the names in it.
pub fn compute(
    func: &mut Function,
    namer: &mut Namer,
    size: &Size,
    loc: Loc,
    out: &mut Vec<Stmt>,
) -> NVar {
    let name = namer.fresh("s");
    compute_as(func, namer, &name, size, loc, out)
}

/// Computes a size; the last statement binds a variable with the given name, which is not made
/// fresh (the caller knows that it is free here).
pub fn compute_as(
    func: &mut Function,
    namer: &mut Namer,
    name: &str,
    size: &Size,
    loc: Loc,
    out: &mut Vec<Stmt>,
) -> NVar {
    let mut sum: Option<Atom> = None;
    // The constant comes first in the normal form; it reads better at the end.
    let (constants, products): (Vec<_>, Vec<_>) =
        size.terms().iter().partition(|(names, _)| names.is_empty());
    let terms: Vec<_> = products.into_iter().chain(constants).collect();
    let first = out.len();
    for (names, coefficient) in terms {
        let subtract = sum.is_some() && *coefficient < 0 && *coefficient != i64::MIN;
        let magnitude = if subtract { -*coefficient } else { *coefficient };
        let literal = Atom::Lit(Literal::I64(magnitude));
        let mut product = (magnitude != 1 || names.is_empty()).then_some(literal);
        for n in names {
            let n = Atom::Var(*n);
            product = Some(match product {
                None => n,
                Some(p) => {
                    let def = func.size_of(p) * func.size_of(n);
                    bind(func, namer, prim::IMUL, [p, n], def, loc, out)
                }
            });
        }
        let Some(product) = product else { continue };
        sum = Some(match sum {
            None => product,
            Some(s) => {
                let (a, b) = (func.size_of(s), func.size_of(product));
                let (op, def) = if subtract { (prim::ISUB, a - b) } else { (prim::IADD, a + b) };
                bind(func, namer, op, [s, product], def, loc, out)
            }
        });
    }
    let def = Some(size.clone());
    let var = func.nvars.push(VarData { name: name.into(), ty: Type::I64, def, span: loc.span });
    match (out[first..].last_mut(), sum) {
        // The last operation binds the name itself.
        (Some(last), _) => last.nl = vec![var],
        (None, sum) => {
            let rhs = Rhs::Atom(sum.unwrap_or(Atom::Lit(Literal::I64(0))));
            out.push(Stmt { nl: vec![var], lin: vec![], rhs, annotated: false, loc });
        }
    }
    var
}

fn bind(
    func: &mut Function,
    namer: &mut Namer,
    op: Prim,
    args: [Atom; 2],
    def: Size,
    loc: Loc,
    out: &mut Vec<Stmt>,
) -> Atom {
    let name = namer.fresh("s");
    let data = VarData { name, ty: Type::I64, def: Some(def), span: loc.span };
    let var = func.nvars.push(data);
    let rhs = Rhs::Prim(op, args.to_vec());
    out.push(Stmt { nl: vec![var], lin: vec![], rhs, annotated: false, loc });
    Atom::Var(var)
}
