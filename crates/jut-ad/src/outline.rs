//! A block as a definition of its own.
//!
//! ```text
//! t = a * y; u = sin(t)   of y   ⟶   f.fn(a, y) = { t = a * y; u = sin(t); u },  captured: a
//! ```
//!
//! What the block reads and does not bind becomes a parameter, in front of those that it is said to have; sizes stand
//! before the arrays that have them. A transparent size of outside is computed again inside, by its definition, so that it is
//! transparent there.
//!
//! *Requires*: a well-typed block without linear names whose accesses are covered by what stands in it. *Ensures*: a
//! definition whose call with the captured values and values of the parameters gives what the block does. *Cost*: linear.

use crate::relocate::{Relocator, Substitution};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::SecondaryMap;
use jut_ir::visit::Use;
use jut_ir::*;

/// Makes a definition of a block of `b`, and gives what it captures: its first parameters.
///
/// # Errors
/// `J901` for a block that adds to sums or reads linear names of outside, and for arrays whose size it computes and does not give before them.
pub fn outline(
    b: &mut FunctionBuilder,
    block: Block,
    params: &[NVar],
    name: String,
    span: Span,
) -> Result<(Function, Vec<NVar>), Diagnostic> {
    let refuse = |what: &str| {
        let message = format!("not built yet: the derivative of a function without a name {what}");
        Diagnostic::error("J901", span, message)
            .help("make it a definition, and give it what it needs")
    };
    let mut inside: SecondaryMap<NVar, bool> = SecondaryMap::new();
    let mut caps: SecondaryMap<Cap, bool> = SecondaryMap::new();
    let mut types: Vec<Type> = params.iter().map(|p| b.func.nvars[*p].ty.clone()).collect();
    params.iter().for_each(|p| inside[*p] = true);
    block.for_each_binder(&mut |binder| match binder {
        Use::N(v) => {
            inside[v] = true;
            types.push(b.func.nvars[v].ty.clone());
        }
        Use::C(c) => caps[c] = true,
        Use::L(_) => {}
    });
    let mut outer = false;
    let mut work: Vec<NVar> = types.iter().flat_map(Type::size_names).collect();
    block.for_each_use(&b.func, &mut |name| match name {
        Use::N(v) => work.push(v),
        Use::C(c) => outer |= !caps[c],
        Use::L(_) => outer = true,
    });
    if outer {
        return Err(refuse("that adds to a sum outside of it"));
    }
    let mut subst = Substitution::default();
    let (mut sizes, mut values, mut stmts) = (Vec::new(), Vec::new(), Vec::new());
    work.reverse();
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut inside[v], true) {
            continue;
        }
        let VarData { ty, def, .. } = b.func.nvars[v].clone();
        work.extend(ty.size_names());
        match def {
            Some(def) => {
                work.extend(def.names());
                let loc = Loc::source(span);
                subst.values[v] = Some(match (def.as_constant(), def.as_var()) {
                    (Some(k), _) => Atom::Lit(Literal::I64(k)),
                    (_, Some(of)) => Atom::Var(of),
                    _ => {
                        Atom::Var(sizes::compute(&mut b.func, &mut b.namer, &def, loc, &mut stmts))
                    }
                });
            }
            None if ty == Type::I64 => sizes.push(v),
            None => values.push(v),
        }
    }
    let results: Vec<Type> = block.nl.iter().map(|a| b.func.type_of(*a)).collect();
    let mut bound: SecondaryMap<NVar, bool> = SecondaryMap::new();
    block.for_each_binder(&mut |binder| {
        if let Use::N(v) = binder {
            bound[v] = true;
        }
    });
    // A size that the block computes is a result before those that have it, which has a name for that.
    let mut named: Vec<(Size, NVar)> = Vec::new();
    let mut declared: Vec<ResultDecl> = Vec::new();
    let own = |size: &Size| size.names().into_iter().any(|v| bound[v]);
    for (atom, ty) in block.nl.iter().zip(&results) {
        let ty = with_names(ty, &named);
        if ty.size_names().into_iter().any(|v| bound[v]) {
            return Err(refuse("that gives an array whose size is no result before it"));
        }
        let size = (ty == Type::I64).then(|| b.func.size_of(*atom));
        let name = match (atom, size) {
            (Atom::Var(v), Some(size)) if own(&size) && results.iter().any(|ty| has(ty, &size)) => {
                let name = b.func.nvars.push(VarData { def: None, ..b.func.nvars[*v].clone() });
                named.push((size, name));
                Some(name)
            }
            _ => None,
        };
        declared.push(ResultDecl { name, ty });
    }
    let captured: Vec<NVar> = sizes.into_iter().chain(values).collect();
    let all: Vec<NVar> = captured.iter().chain(params).copied().collect();
    let mut new = Relocator::new(&b.func, &subst, &b.namer, name);
    new.params(&all, &[], &[]);
    stmts.extend(block.stmts);
    new.body(Block { stmts, ..block });
    for ResultDecl { name, ty } in &declared {
        let ty = new.ty(ty);
        let name = name.map(|name| new.result_name(name));
        new.to.results.push(ResultDecl { name, ty });
    }
    Ok((Function { span, derived: true, ..new.to }, captured))
}

/// Whether a type has an array of this size.
fn has(ty: &Type, size: &Size) -> bool {
    let mut found = false;
    ty.for_each_size(&mut |own| found |= own == size);
    found
}

/// A type with names in the place of sizes: the last of each.
fn with_names(ty: &Type, named: &[(Size, NVar)]) -> Type {
    match ty {
        Type::Array(size, element) => {
            let name = named.iter().rev().find(|(own, _)| own == size);
            let size = name.map_or_else(|| size.clone(), |(_, name)| Size::var(*name));
            Type::array(size, with_names(element, named))
        }
        Type::Tuple(items) => Type::Tuple(items.iter().map(|ty| with_names(ty, named)).collect()),
        other => other.clone(),
    }
}
