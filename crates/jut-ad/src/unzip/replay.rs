//! What the text wants to be computed again as a whole: `@recompute` before a loop, a branch, a sum or a call, and
//! the segments of a loop ([`super::schedule`]).
//!
//! Such a statement becomes a function of its own, `f.part1.jvp`, of the values, tangents and capabilities that it reads,
//! and a call of it. U makes halves and a tape of that function as of any other. Its callers get others, which have no
//! tape between them:
//!
//! ```text
//! core def f.part1.values(x) -> (y) = { .. }                        f.part1.nonlin, without its tape
//! core def f.part1.again.lin(x; x') -> (; y') = {
//!   (y, tape) = f.part1.nonlin(x)                                   run again, now with its tape
//!   y' = f.part1.lin(x, tape; x')
//!   (; y')
//! }
//! ```
//!
//! T leaves the call that runs it again where it is, before what reads the tape. So nothing but U knows of
//! this, and the tape of a part lives as long as the call.
//!
//! What a part adds to a sum of outside is added once: what is run again is a twin that adds nothing ([`super::silent`]).
//!
//! In a function that calls itself a part may call that function again. Then it is one of those that call each other, and is unzipped with
//! them: it has the halves by which its tape is run again, and its callers get the others.
//!
//! *Requires*: a checked function. *Ensures*: the same results, bit for bit; the residual reads of the part what it reads itself. *Cost*: linear.

use super::again::Again;
use super::marks;
use crate::relocate::{Relocator, Substitution};
use crate::{Derivatives, Policy, Unzipped};
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::accesses::each_statement;
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::SecondaryMap;
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashMap;

/// Gives a function parts of its own for what is to be computed again as a whole. Nothing if there was nothing; else the parts that call
/// the function, or those that call it, which are to be unzipped with these.
///
/// # Errors
/// Those of [`super::unzip`].
pub(super) fn prepare(
    derivatives: &mut Derivatives,
    func: &mut Function,
    policy: Policy,
    circle: &[FuncId],
) -> Result<Option<Vec<FuncId>>, Diagnostic> {
    let program = &derivatives.program;
    let again = Again { program, circle };
    if policy == Policy::StoreAll || !again.any(func, &func.body) {
        return Ok(None);
    }
    // The sizes that are known not to be negative at each of the statements.
    let mut known: Vec<Vec<NVar>> = Vec::new();
    let mut names: Vec<NVar> = func.nvars.keys().collect();
    names.retain(|v| func.nvars[*v].ty == Type::I64 && func.nvars[*v].def.is_none());
    let mut copy = func.clone();
    each_statement(&mut copy, &mut |func, facts, stmt, _| {
        if again.is(func, stmt) {
            let sizes = names.iter().filter(|v| facts.is_plainly_non_negative(&Size::var(**v)));
            known.push(sizes.copied().collect());
        }
    });
    let base = names::unzip_base(&func.name).to_string();
    let mut builder = FunctionBuilder::from_function(std::mem::take(func));
    let body = std::mem::take(&mut builder.func.body);
    let mut known = known.into_iter();
    let (parts, calling_back) = (0, Vec::new());
    let mut prepare = Prepare { derivatives, builder, policy, circle, base, parts, calling_back };
    let body = prepare.block(body, &mut known);
    *func = Function { body: body?, ..prepare.builder.func };
    Ok(Some(prepare.calling_back))
}

/// A function that gets parts.
pub(super) struct Prepare<'a> {
    pub derivatives: &'a mut Derivatives,
    pub builder: FunctionBuilder,
    pub policy: Policy,
    circle: &'a [FuncId],
    /// What the names of parts start with.
    base: String,
    parts: usize,
    /// The parts that call a function of the circle.
    calling_back: Vec<FuncId>,
}

impl Prepare<'_> {
    fn block(
        &mut self,
        block: Block,
        known: &mut std::vec::IntoIter<Vec<NVar>>,
    ) -> Result<Block, Diagnostic> {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in block.stmts {
            let (program, func) = (&self.derivatives.program, &self.builder.func);
            let again = Again { program, circle: self.circle };
            if again.is(func, &stmt) {
                let lost = "the sizes that are known before what is computed again are lost";
                let sizes = known.next().ok_or_else(|| crate::internal(stmt.loc.span, lost))?;
                // Those inside are looked at when the part is unzipped.
                let inside: usize =
                    stmt.rhs.blocks().into_iter().map(|b| again.count(func, b)).sum();
                known.by_ref().take(inside).for_each(drop);
                match stmt.loc.tape {
                    TapePolicy::Recompute => {
                        stmt.loc.tape = TapePolicy::Free;
                        let part = self.again(stmt, &sizes)?;
                        out.push(part);
                    }
                    _ => self.along(stmt, &sizes, &mut out)?,
                }
                continue;
            }
            for inner in stmt.rhs.blocks_mut() {
                *inner = self.block(std::mem::take(inner), known)?;
            }
            out.push(stmt);
        }
        Ok(Block { stmts: out, ..block })
    }

    /// Makes a part of a statement, and halves of the part. Gives the call that takes the place of the statement; `known`
    /// are sizes that are not negative there.
    pub fn again(&mut self, stmt: Stmt, known: &[NVar]) -> Result<Stmt, Diagnostic> {
        let (nl, lin, loc) = (stmt.nl.clone(), stmt.lin.clone(), stmt.loc.by(Origin::Unzip));
        let values = nl.iter().copied().map(Atom::Var).collect();
        let calls_back =
            Again { program: &self.derivatives.program, circle: self.circle }.calls_back(&stmt);
        let block = Block { stmts: vec![stmt], nl: values, lin: lin.clone() };
        self.parts += 1;
        let name = names::jvp(&names::part(&self.base, self.parts));
        let call = self.outline(block, name, known, loc);
        let part = call.func;
        self.derivatives.parts.insert(part);
        if calls_back {
            self.calling_back.push(part);
        } else {
            super::unzip_beside(self.derivatives, part, self.policy)?;
            let key = (part, self.policy);
            if let Some(halves) = self.derivatives.unzipped.get(&key).cloned()
                && halves.tape.is_some()
            {
                let halves_of_callers = reserve(self.derivatives, part, &halves);
                make_values(self.derivatives, &halves, &halves_of_callers);
                make_again(self.derivatives, &halves, &halves_of_callers, loc);
                self.derivatives.program.order.push(Decl::Func(halves_of_callers.lin));
                self.derivatives.unzipped.insert(key, halves_of_callers);
            }
        }
        let rhs = Rhs::Call(Box::new(call));
        Ok(Stmt { nl, lin, rhs, annotated: false, loc })
    }

    /// Makes a function of a block, of what the block reads. Gives the call.
    fn outline(&mut self, block: Block, name: String, known: &[NVar], loc: Loc) -> Call {
        let func = &self.builder.func;
        let mut inside: SecondaryMap<NVar, bool> = SecondaryMap::new();
        let mut bound: (SecondaryMap<LVar, bool>, SecondaryMap<Cap, bool>) = Default::default();
        let mut types: Vec<&Type> = Vec::new();
        block.for_each_binder(&mut |binder| match binder {
            Use::N(v) => {
                inside[v] = true;
                types.push(&func.nvars[v].ty);
            }
            Use::L(x) => {
                bound.0[x] = true;
                types.push(&func.lvars[x].ty);
            }
            Use::C(c) => {
                bound.1[c] = true;
                types.push(&func.caps[c].ty);
            }
        });
        let (mut work, mut tangents, mut caps) = (Vec::new(), Vec::new(), Vec::new());
        block.for_each_use(func, &mut |name| match name {
            Use::N(v) => work.push(v),
            Use::L(x) if !std::mem::replace(&mut bound.0[x], true) => tangents.push(x),
            Use::C(c) if !std::mem::replace(&mut bound.1[c], true) => caps.push(c),
            Use::L(_) | Use::C(_) => {}
        });
        types.extend(tangents.iter().map(|x| &func.lvars[*x].ty));
        types.extend(caps.iter().map(|c| &func.caps[*c].ty));
        work.extend(types.into_iter().flat_map(Type::size_names));
        work.reverse();

        let mut subst = Substitution::default();
        let (mut sizes, mut values, mut stmts) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut inside[v], true) {
                continue;
            }
            let VarData { ty, def, .. } = self.builder.func.nvars[v].clone();
            work.extend(ty.size_names());
            match def {
                Some(def) => {
                    // Transparent names are computed again, so that they are transparent there.
                    work.extend(def.names());
                    let FunctionBuilder { func, namer } = &mut self.builder;
                    subst.values[v] = Some(sizes::operand(func, namer, &def, loc, &mut stmts));
                }
                None if ty == Type::I64 => sizes.push(v),
                None => values.push(v),
            }
        }
        let checked = sizes.iter().copied().filter(|v| known.contains(v));
        let checks = checked.map(|v| Stmt {
            nl: Vec::new(),
            lin: Vec::new(),
            rhs: Rhs::Check(Check::NonNegative(Atom::Var(v))),
            annotated: false,
            loc,
        });
        let mut stmts: Vec<Stmt> = checks.chain(stmts).collect();
        stmts.extend(block.stmts);
        sizes.extend(values);
        let params = sizes;

        let func = &self.builder.func;
        let results: Vec<NVar> = block.nl.iter().filter_map(|a| a.var()).collect();
        let result_types = || {
            let values = results.iter().map(|v| &func.nvars[*v].ty);
            values.chain(block.lin.iter().map(|x| &func.lvars[*x].ty))
        };
        let mut part = Relocator::new(func, &subst, &self.builder.namer, name);
        part.params(&params, &tangents, &caps);
        part.body(Block { stmts, nl: block.nl.clone(), lin: block.lin.clone() });
        for v in &results {
            let ty = part.ty(&func.nvars[*v].ty);
            let named = result_types().any(|ty| ty.size_names().contains(v));
            let name = named.then(|| part.result_name(*v));
            part.to.results.push(ResultDecl { name, ty });
        }
        for x in &block.lin {
            let ty = part.ty(&func.lvars[*x].ty);
            part.to.lin_results.push(LinResultDecl { name: None, ty });
        }
        let mut part = Function { span: loc.span, ..part.to };
        marks::prove_accesses(&mut part);
        show_sizes(&mut part, None, &|func| self.derivatives.program.funcs[func].is_foreign());
        Call {
            func: self.derivatives.add_func(part),
            args: params.into_iter().map(Atom::Var).collect(),
            lin_args: tangents,
            places: caps.into_iter().map(|c| Some(Place::root(c))).collect(),
        }
    }
}

/// The names of halves without a tape between them: what callers of a part get in the place of its own.
pub(super) fn reserve(derivatives: &mut Derivatives, part: FuncId, halves: &Unzipped) -> Unzipped {
    let func = &derivatives.program.funcs[part];
    let (base, params) = (names::unzip_base(&func.name).to_string(), func.params.len());
    let [nonlin, lin] = [names::values(&base), names::lin(&names::again(&base))]
        .map(|name| derivatives.reserve(&name));
    let forwarded = (0..params).collect();
    Unzipped { nonlin, lin, tape: None, forwarded, result_sizes: halves.result_sizes.clone() }
}

/// The first half that callers of a part get: its own without the tape.
pub(super) fn make_values(derivatives: &mut Derivatives, halves: &Unzipped, of_callers: &Unzipped) {
    let mut values = derivatives.program.funcs[halves.nonlin].clone();
    values.results.pop();
    values.body.nl.pop();
    derivatives.complete(of_callers.nonlin, values);
}

/// The second half that callers of a part get, which runs both halves of its own; its place among the declarations is the
/// caller's matter.
pub(super) fn make_again(
    derivatives: &mut Derivatives,
    halves: &Unzipped,
    of_callers: &Unzipped,
    loc: Loc,
) {
    let nonlin = derivatives.program.funcs[halves.nonlin].clone();
    let lin = derivatives.program.funcs[halves.lin].signature();
    let mut b = FunctionBuilder::default();
    // The new names of what the halves have as parameters and results.
    let mut of_nonlin: HashMap<NVar, NVar> = HashMap::new();
    let mut of_lin: HashMap<NVar, NVar> = HashMap::new();
    let renamed = |ty: &Type, names: &HashMap<NVar, NVar>| {
        ty.subst(&mut |v| names.get(&v).map(|new| Size::var(*new)))
    };
    for p in &nonlin.params {
        let VarData { name, ty, span, .. } = &nonlin.nvars[*p];
        let new = b.nvar(name, renamed(ty, &of_nonlin), *span);
        of_nonlin.insert(*p, new);
        b.func.params.push(new);
    }
    let mut args = Vec::new();
    let (forwarded, sizes) = (halves.forwarded.len(), halves.result_sizes.len());
    for (p, position) in lin.params.iter().zip(&halves.forwarded) {
        let new = b.func.params[*position];
        of_lin.insert(*p, new);
        args.push(Atom::Var(new));
    }
    for p in lin.params.iter().skip(forwarded).take(sizes) {
        let new = b.nvar(&lin.nvars[*p].name, Type::I64, lin.nvars[*p].span);
        of_lin.insert(*p, new);
        b.func.params.push(new);
        args.push(Atom::Var(new));
    }
    for x in &lin.lin_params {
        let LinVarData { name, ty, span } = &lin.lvars[*x];
        let new = b.lvar(name, renamed(ty, &of_lin), *span);
        b.func.lin_params.push(new);
    }
    for c in &lin.cap_params {
        let CapData { name, mode, lanes, ty, span } = &lin.caps[*c];
        let new = b.cap(name, *mode, *lanes, renamed(ty, &of_lin), *span);
        b.func.cap_params.push(new);
    }

    let given = b.func.params.iter().take(nonlin.params.len()).map(|p| Atom::Var(*p)).collect();
    let mut stmts = Vec::new();
    let silent = super::silent::silent(derivatives, halves.nonlin);
    let nl = run(&mut b, &nonlin, silent, given, &of_nonlin, &mut stmts);
    args.extend(nl.last().map(|tape| Atom::Var(*tape)));

    let mut tangents = Vec::new();
    for decl in &lin.lin_results {
        let ty = renamed(&decl.ty, &of_lin);
        tangents.push(b.lvar("t'", ty.clone(), loc.span));
        b.func.lin_results.push(LinResultDecl { name: None, ty });
    }
    let rhs = Rhs::Call(Box::new(Call {
        func: halves.lin,
        args,
        lin_args: b.func.lin_params.clone(),
        places: b.func.cap_params.iter().map(|c| Some(Place::root(*c))).collect(),
    }));
    stmts.push(Stmt { nl: Vec::new(), lin: tangents.clone(), rhs, annotated: false, loc });
    b.func.body = Block { stmts, nl: Vec::new(), lin: tangents };
    b.func.span = loc.span;
    derivatives.fill(of_callers.lin, b.func);
}

/// Runs the silent twin of a non-linear function for its results. `of_nonlin` are the new names of what it has as parameters.
pub(super) fn run(
    b: &mut FunctionBuilder,
    nonlin: &Function,
    func: FuncId,
    args: Vec<Atom>,
    of_nonlin: &HashMap<NVar, NVar>,
    out: &mut Vec<Stmt>,
) -> Vec<NVar> {
    let loc = Loc::source(nonlin.span).by(Origin::Unzip);
    let mut names = of_nonlin.clone();
    let mut nl = Vec::new();
    for decl in &nonlin.results {
        let hint = decl.name.map_or("t", |v| nonlin.nvars[v].name.as_str());
        let ty = decl.ty.subst(&mut |v| names.get(&v).map(|new| Size::var(*new)));
        let v = b.nvar(hint, ty, loc.span);
        names.extend(decl.name.map(|name| (name, v)));
        nl.push(v);
    }
    let (lin_args, places) = (Vec::new(), Vec::new());
    let rhs = Rhs::Call(Box::new(Call { func, args, lin_args, places }));
    out.push(Stmt { nl: nl.clone(), lin: Vec::new(), rhs, annotated: false, loc });
    nl
}
