//! The derivative of a definition whose program states it: `rule jvp f = g`, `rule vjp f = g`.
//!
//! `g` is an ordinary definition that the checker proved linear in its tangents. So its own derivative with respect
//! to them is itself, with linear parameters in their place, wherever it is taken; at [zero](super::zeros), say:
//!
//! ```text
//! rule jvp f = g        f.jvp(x; x') = { y = f(x);  (_; y') = g.jvp(x, 0; x');                        (y; y') }
//! rule vjp f = g        f.jvp(x; x') = { y = f(x);  (_, tape) = g.jvp.nonlin(x, 0)
//!                                                   (; y') = g.jvp.lin.linT(tape; x');               (y; y') }
//! ```
//!
//! U and T go on from there as from every `f.jvp`, and since `f.jvp` calls `f`, its derivative is by the rule again:
//! at any order. Forward mode through a rule for cotangents is T of it.
//!
//! In the second of these a tape goes from one call to the other. L moves both into `f.jvp` ([`crate::erase`]), so that the next
//! J meets no record.
//!
//! A rule may apply its own definition to tangents: `x' = solve(a, b' - a' x)`. Since the body of that is linear in them (it
//! is proved with the rest), its derivative there is by the body: such a call goes to a copy without the rule.
//!
//! *Requires*: a rule that the checker accepts. *Ensures*: the signature that J gives by the types and by what the
//! results depend on ([`influence`]). *Cost*: that of `g` and of its derivative.

use super::zeros::Zeros;
use super::{Derivatives, Mask, Passing};
use crate::activity::{self, Influence};
use crate::{Policy, transpose, unzip};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::EntityRef;
use jut_ir::repair::repair;
use jut_ir::*;

/// Sets what states the derivative of a definition with a rule. What it and the body of `func` depend on is known.
pub(super) fn settle(derivatives: &mut Derivatives, func: FuncId, rule: Rule) {
    let by = rule.func();
    derivatives.stated.insert(func, by);
    let own = derivatives.program.funcs[func].params.len();
    let all: Vec<usize> = (own..derivatives.program.funcs[by].params.len()).collect();
    let mask = Mask::only(&derivatives.program, by, &all);
    let activity = activity::analyse(derivatives, by, &mask);
    let mut copy = derivatives.program.funcs[by].clone();
    let number = FuncId::new(derivatives.program.funcs.len());
    let applies = |call: &Call| call.func == func && !activity.call_mask(call).is_empty();
    if !redirect(&mut copy.body, number, &applies) {
        return;
    }
    let plain = derivatives.program.funcs[func].clone();
    let plain = derivatives.add_func(Function { rule: None, derived: true, ..plain });
    let copy = derivatives.add_func(Function { derived: true, ..copy });
    for (from, to) in [(func, plain), (by, copy)] {
        let influence = derivatives.influences[&from].clone();
        derivatives.influences.insert(to, influence);
    }
    derivatives.stated.insert(func, copy);
}

/// Has some calls go elsewhere; whether there are any.
fn redirect(block: &mut Block, to: FuncId, applies: &dyn Fn(&Call) -> bool) -> bool {
    let mut any = false;
    for stmt in &mut block.stmts {
        if let Rhs::Call(call) = &mut stmt.rhs
            && applies(call)
        {
            call.func = to;
            any = true;
        }
        for inner in stmt.rhs.blocks_mut() {
            any |= redirect(inner, to, applies);
        }
    }
    any
}

/// The definition whose derivative is asked for in place of that of `func`, and with respect to what.
pub(super) fn asked(
    derivatives: &Derivatives,
    func: FuncId,
    mask: &Mask,
) -> Option<(FuncId, Mask)> {
    let program = &derivatives.program;
    let rule = program.funcs[func].rule?;
    let by = *derivatives.stated.get(&func)?;
    let own = program.funcs[func].params.len();
    let tangents: Vec<usize> = match rule {
        Rule::Jvp(_) => {
            let floats = float_params(program, func);
            let active = floats.iter().enumerate().filter(|(_, k)| mask.is_active(**k));
            active.map(|(j, _)| own + j).collect()
        }
        Rule::Vjp(_) => (own..program.funcs[by].params.len()).collect(),
    };
    Some((by, Mask::only(program, by, &tangents)))
}

/// What the results depend on, by what those of the rule do.
pub(super) fn influence(program: &Program, func: FuncId, of_rule: &Influence) -> Option<Influence> {
    let f = &program.funcs[func];
    let rule = f.rule?;
    let (own, params) = (f.params.len(), float_params(program, func));
    let mut number = 0;
    let mut results = Vec::new();
    for result in &f.results {
        let mut row = vec![false; own];
        if result.ty.has_float(program) {
            for (j, k) in params.iter().enumerate() {
                let (result, tangent) = match rule {
                    Rule::Jvp(_) => (number, own + j),
                    Rule::Vjp(_) => (j, own + number),
                };
                let depends = of_rule.results.get(result).and_then(|row| row.get(tangent));
                row[*k] = depends.copied().unwrap_or(false);
            }
            number += 1;
        }
        results.push(row);
    }
    Some(Influence { results, accs: Vec::new() })
}

fn float_params(program: &Program, func: FuncId) -> Vec<usize> {
    let f = &program.funcs[func];
    let floats = f.params.iter().enumerate().filter(|(_, p)| f.nvars[**p].ty.has_float(program));
    floats.map(|(k, _)| k).collect()
}

/// The forward derivative of a definition with a rule, or `None` if it has none. That of the rule has been made.
pub(super) fn differentiate(
    derivatives: &mut Derivatives,
    func: FuncId,
    mask: &Mask,
) -> Result<Option<Function>, Diagnostic> {
    let Some((by, tangents)) = asked(derivatives, func, mask) else { return Ok(None) };
    let Some(rule) = derivatives.program.funcs[func].rule else { return Ok(None) };
    let missing = || crate::internal(Span::NONE, "the derivative of a rule was not made");
    let jvp = derivatives.jvp_of(by, &tangents).cloned().ok_or_else(missing)?;
    let own = derivatives.program.funcs[func].signature();
    let (results, _) = derivatives.influences[&func].under(mask);
    let loc = Loc::source(derivatives.program.funcs[func].span).by(Origin::Forward);
    let mut maker = Maker::new(FunctionBuilder::from_function(own), loc);
    let args: Vec<Atom> = maker.b.func.params.iter().map(|p| Atom::Var(*p)).collect();
    let handles = maker.parameters(derivatives, mask);
    let types: Vec<Type> = maker.b.func.results.iter().map(|r| r.ty.clone()).collect();
    for (ty, active) in types.iter().zip(&results) {
        if let Some(ty) = tangent_of(&derivatives.program, ty).filter(|_| *active) {
            maker.b.func.lin_results.push(LinResultDecl { name: None, ty });
        }
    }
    let values: Vec<NVar> =
        types.iter().map(|ty| maker.b.nvar("y", ty.clone(), maker.loc.span)).collect();
    maker.call(values.clone(), vec![], func, args.clone(), vec![], vec![]);
    let tangents = match rule {
        Rule::Jvp(_) => {
            let params = maker.b.func.params.clone();
            maker.forward(derivatives, &jvp, args, &params, handles, &types)
        }
        Rule::Vjp(_) => maker.backward(derivatives, &jvp, args, &values, handles)?,
    };
    let floats = types.iter().zip(&results).filter(|(ty, _)| ty.has_float(&derivatives.program));
    let lin = match rule {
        // `g` has no tangent where `f` has none.
        Rule::Jvp(_) => tangents,
        Rule::Vjp(_) => {
            let all = floats.zip(tangents);
            all.filter(|((_, active), _)| **active).map(|(_, y)| y).collect()
        }
    };
    let nl = values.into_iter().map(Atom::Var).collect();
    let mut b = maker.finish(nl, lin);
    repair(&mut b, Origin::Forward);
    Ok(Some(b.func))
}

/// The tangent type of a type with floats, as the checker of rules writes it.
fn tangent_of(program: &Program, ty: &Type) -> Option<Type> {
    ty.tangent(program).ok().flatten()
}

/// The tangent of a parameter that has floats.
#[derive(Clone)]
pub(super) enum Tangent {
    /// It is not active.
    None(Type),
    Value(LVar),
    At(Place, Type),
}

impl Tangent {
    pub fn is_active(&self) -> bool {
        !matches!(self, Tangent::None(_))
    }
}

/// Writes a forward derivative by calls of others.
pub(super) struct Maker {
    pub b: FunctionBuilder,
    stmts: Vec<Stmt>,
    loc: Loc,
}

impl Maker {
    /// One whose function has the signature of what it is the derivative of.
    pub fn new(mut b: FunctionBuilder, loc: Loc) -> Maker {
        (b.func.rule, b.func.foreign, b.func.derived) = (None, None, false);
        Maker { b, stmts: Vec::new(), loc }
    }

    /// The function with its body.
    pub fn finish(mut self, nl: Vec<Atom>, lin: Vec<LVar>) -> FunctionBuilder {
        self.b.func.body = Block { stmts: self.stmts, nl, lin };
        self.b
    }

    /// A zero.
    pub fn zero_of(&mut self, ty: &Type) -> LVar {
        let x = self.b.lvar("x", ty.clone(), self.loc.span);
        self.push(vec![], vec![x], Rhs::LZero(ty.clone()));
        x
    }

    /// A tangent as one linear value.
    pub fn whole(&mut self, handle: Tangent) -> LVar {
        match handle {
            Tangent::Value(x) => x,
            Tangent::None(ty) => self.zero_of(&ty),
            Tangent::At(place, ty) => {
                let x = self.b.lvar("x", ty, self.loc.span);
                self.push(vec![], vec![x], Rhs::Rd(place));
                x
            }
        }
    }

    /// The sum of two linear values.
    pub fn sum(&mut self, x: LVar, y: LVar) -> LVar {
        let ty = self.b.func.lvars[x].ty.clone();
        let sum = self.b.lvar("y", ty, self.loc.span);
        self.push(vec![], vec![sum], Rhs::LAdd(x, y));
        sum
    }

    fn push(&mut self, nl: Vec<NVar>, lin: Vec<LVar>, rhs: Rhs) {
        self.stmts.push(Stmt { nl, lin, rhs, annotated: false, loc: self.loc });
    }

    pub fn call(
        &mut self,
        nl: Vec<NVar>,
        lin: Vec<LVar>,
        func: FuncId,
        args: Vec<Atom>,
        lin_args: Vec<LVar>,
        places: Vec<Option<Place>>,
    ) {
        let call = Call { func, args, lin_args, places };
        self.push(nl, lin, Rhs::Call(Box::new(call)));
    }

    /// The zero with the shape of a value, if it has floats.
    fn zero(&mut self, derivatives: &mut Derivatives, like: NVar) -> Option<Atom> {
        Zeros { derivatives, b: &mut self.b, loc: self.loc }.like(like, &mut self.stmts)
    }

    /// The tangents of the parameters, as J declares them.
    pub fn parameters(&mut self, derivatives: &Derivatives, mask: &Mask) -> Vec<Tangent> {
        let mut handles = Vec::new();
        for (k, p) in self.b.func.params.clone().into_iter().enumerate() {
            let VarData { name, ty, span, .. } = self.b.func.nvars[p].clone();
            let passing = Passing::of(&derivatives.kinds, &ty);
            let Some(ty) = tangent_of(&derivatives.program, &ty) else { continue };
            handles.push(match passing {
                Passing::Inactive => continue,
                _ if !mask.is_active(k) => Tangent::None(ty),
                Passing::Value => {
                    let x = self.b.lvar(&name, ty, span);
                    self.b.func.lin_params.push(x);
                    Tangent::Value(x)
                }
                Passing::Capability => {
                    let cap = self.b.cap(&format!("d{name}"), Mode::Rd, false, ty.clone(), span);
                    self.b.func.cap_params.push(cap);
                    Tangent::At(Place::root(cap), ty)
                }
            });
        }
        handles
    }

    /// `(_; y'..) = g.jvp(x, 0; x')`, with zeros like the parameters that are given.
    pub fn forward(
        &mut self,
        derivatives: &mut Derivatives,
        jvp: &crate::Jvp,
        mut args: Vec<Atom>,
        like: &[NVar],
        handles: Vec<Tangent>,
        types: &[Type],
    ) -> Vec<LVar> {
        for p in like {
            args.extend(self.zero(derivatives, *p));
        }
        let program = &derivatives.program;
        let (mut lin_args, mut places) = (Vec::new(), Vec::new());
        for handle in handles {
            match handle {
                Tangent::None(_) => {}
                Tangent::Value(x) => lin_args.push(x),
                // A record may have arrays that its tangent has not.
                Tangent::At(place, ty)
                    if Passing::of(&derivatives.kinds, &ty) == Passing::Value =>
                {
                    let x = self.b.lvar("x", ty, self.loc.span);
                    self.push(vec![], vec![x], Rhs::Rd(place));
                    lin_args.push(x);
                }
                Tangent::At(place, _) => places.push(Some(place)),
            }
        }
        let floats: Vec<Type> = types.iter().filter_map(|ty| tangent_of(program, ty)).collect();
        let values = floats.iter().map(|ty| self.b.nvar("t", ty.clone(), self.loc.span)).collect();
        let active = floats.iter().zip(&jvp.results).filter(|(_, active)| **active);
        let lin: Vec<LVar> =
            active.map(|(ty, _)| self.b.lvar("y", ty.clone(), self.loc.span)).collect();
        self.call(values, lin.clone(), jvp.func, args, lin_args, places);
        lin
    }

    /// `(_, tape) = g.jvp.nonlin(x, 0); (; y'..) = g.jvp.lin.linT(tape; x')`: one tangent for each result with floats.
    fn backward(
        &mut self,
        derivatives: &mut Derivatives,
        jvp: &crate::Jvp,
        mut args: Vec<Atom>,
        values: &[NVar],
        handles: Vec<Tangent>,
    ) -> Result<Vec<LVar>, Diagnostic> {
        let halves = unzip::unzip_beside(derivatives, jvp.func, Policy::Default)?;
        let transposed = transpose::transpose(derivatives, halves.lin)?;
        let span = self.loc.span;
        let mut results = Vec::new();
        for y in values {
            let ty = self.b.func.nvars[*y].ty.clone();
            if let Some(tangent) = tangent_of(&derivatives.program, &ty) {
                args.extend(self.zero(derivatives, *y));
                results.push(tangent);
            }
        }
        let of = |handle: &Tangent, body: &Self| match handle {
            Tangent::None(ty) | Tangent::At(_, ty) => ty.clone(),
            Tangent::Value(x) => body.b.func.lvars[*x].ty.clone(),
        };
        let mut given: Vec<NVar> = Vec::new();
        for handle in &handles {
            let ty = of(handle, self);
            given.push(self.b.nvar("t", ty, span));
        }
        let tape = halves.tape.map(|data| self.b.nvar("tape", Type::Data(data), span));
        given.extend(tape);
        self.call(given, vec![], halves.nonlin, args.clone(), vec![], vec![]);
        let forwarded = halves.forwarded.iter().filter_map(|k| args.get(*k).copied());
        let linear_args: Vec<Atom> = forwarded.chain(tape.map(Atom::Var)).collect();
        // What the cotangents that `g` gives become: x'.
        let mut lin_args = Vec::new();
        for (handle, active) in handles.into_iter().zip(&jvp.results) {
            if !active {
                continue;
            }
            lin_args.push(self.whole(handle));
        }
        // Arrays of y' are summed up in regions round the call.
        let scalar = |ty: &Type| Passing::of(&derivatives.kinds, ty) == Passing::Value;
        let (mut numbers, mut caps) = (Vec::new(), Vec::new());
        for ty in &results {
            if scalar(ty) {
                numbers.push(self.b.lvar("y", ty.clone(), span));
            } else {
                caps.push((self.b.cap("dy", Mode::Wr, false, ty.clone(), span), ty.clone()));
            }
        }
        let places = caps.iter().map(|(cap, _)| Some(Place::root(*cap))).collect();
        let outer = std::mem::take(&mut self.stmts);
        self.call(vec![], numbers.clone(), transposed, linear_args, lin_args, places);
        let mut gives = numbers.clone();
        for (cap, ty) in caps.into_iter().rev() {
            let body =
                Block { stmts: std::mem::take(&mut self.stmts), nl: vec![], lin: gives.clone() };
            let inner = gives.iter().map(|x| self.b.func.lvars[*x].clone()).collect::<Vec<_>>();
            gives = inner.into_iter().map(|x| self.b.lvar(&x.name, x.ty, span)).collect();
            let array = self.b.lvar("y", ty, span);
            gives.push(array);
            self.push(
                vec![],
                gives.clone(),
                Rhs::Region(Box::new(Region { mode: Mode::Wr, cap, start: None, end: true, body })),
            );
        }
        let inner = std::mem::replace(&mut self.stmts, outer);
        self.stmts.extend(inner);
        let arrays = gives.split_off(numbers.len());
        let (mut numbers, mut arrays) = (gives.into_iter(), arrays.into_iter().rev());
        let each = results.iter().map(|ty| if scalar(ty) { numbers.next() } else { arrays.next() });
        each.collect::<Option<Vec<LVar>>>()
            .ok_or_else(|| crate::internal(span, "a rule has not one tangent for each result"))
    }
}
