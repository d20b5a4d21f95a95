//! J, forward differentiation (Fig. 7 of the paper): every float gets a tangent beside it.
//!
//! ```text
//! f(u)        = { v = sin(u);                        t = -v;            t }
//! f.jvp(u; u') = { v = sin(u); c = cos(u); v' = c * u'; t = -v; t' = -v'; (t; t') }
//! ```
//!
//! Takes purely non-linear definitions: `f : (A;) -> (B;)`, and makes `f.jvp : (A; A'; rd A°) -> (B; B')`.
//! The tangent of a parameter without arrays is a linear parameter, that of one with arrays a
//! capability `rd dx`; only results that are active have a tangent. A parameter `acc r` stays and
//! has a parameter `wr dr` beside it, after all others.
//!
//! **Handles.** Each live name has its tangent as a linear variable `x'` or as a place. Indexing
//! and rows emit nothing: the tangent of `x[i]` is the place `dx[i]`, read where it is used, so no
//! access ever costs more than its own size. A linear variable that must be indexed, or is captured
//! by a loop (which may capture nothing linear), turns into a place by a region round the rest of
//! the block: `rd dx = x' { .. }`. Loops carry tangents beside values and slice them beside arrays.
//! (Regions are in `forward/regions.rs`, the rules in `forward/rules.rs`.) The rules use a linear variable as
//! often as they need, or never: [`jut_ir::repair`] places `dup` and `drop` in the end, as it does in text.
//!
//! **Sums.** The tangent of a value with several constructors is the tuple of the tangents of all of
//! them, zero but for the one that the value has; so a linear type never depends on which constructor
//! that is. `K(a)` makes the tuple, an arm of a `case` takes its part and drops the others. That costs
//! as many operations as the type has floats outside of arrays, whatever the data.
//!
//! Recursive data, and others of which no tuple could be the tangent, have tangents of a data type of their own
//! ([`jut_ir::tangent`], made by `forward/tangents.rs`), always by value: a constructor makes a constructor of it, and
//! an arm opens it by the same one.
//!
//! **Zeros** are symbolic: what is not live ([`crate::activity`]) has no tangent at all; a zero is
//! written only where the other arm of a `case`, a carry or a tuple needs one.
//!
//! **Rules.** Where the program states the derivative of a definition, `f.jvp` is made of that (`forward/custom.rs`).
//!
//! **Calls** go to `g.jvp`, or `g{w}.jvp` where only some arguments are active. Each function gets
//! at most [`MASKS`] masks from calls; beyond that, all its parameters without arrays are taken to
//! be active and zeros passed for them, so code size stays linear.
//!
//! Linear code in the source (a user's own linear functions) is erased first ([`crate::erase`]).
//!
//! Ensures Theorem 5.1: the derivative checks, its values are those of `f` with every check in
//! place, and its work is at most a constant factor more. Cost: linear in the program's size.

mod control;
mod custom;
mod emit;
mod foreign;
mod frame;
mod needs;
mod primitive;
mod regions;
mod rules;
pub(crate) mod tangents;
mod zeros;

use crate::activity::{self, Activity, Influence};
use crate::relocate::Relocator;
use crate::{Derivatives, Jvp, Mask, Passing, erase};
use emit::Writer;
use frame::Handle;
use jut_ir::build::FunctionBuilder;
use jut_ir::calls::{callees_first, components, for_each_call};
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::SecondaryMap;
use jut_ir::graph::strongly_connected;
use jut_ir::repair::repair;
use jut_ir::{
    Block, CapData, Diagnostic, FuncId, Function, LinResultDecl, Loc, Mode, Origin, Place, Type,
    names,
};
use rules::Rules;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How many masks calls may ask of one function before they are widened.
pub const MASKS: usize = 4;

/// J: the forward derivative of a function with respect to the parameters in the mask.
///
/// A function with linear parameters is erased first; they follow its parameters and are active.
///
/// # Errors
/// `J901` for what is not built, `J806` for a sum that is too large.
pub fn forward(
    derivatives: &mut Derivatives,
    func: FuncId,
    mask: &Mask,
) -> Result<FuncId, Diagnostic> {
    if let Some(jvp) = derivatives.jvp_of(func, mask) {
        return Ok(jvp.func);
    }
    let erased = erase::erase(derivatives, func)?;
    let mask_of_erased = derivatives.mask_of_erased(func, erased, mask);
    summarise(derivatives, erased);
    let plan = plan(derivatives, erased, &mask_of_erased);
    tangents::declare(derivatives, &plan);
    // Derivatives are known by name before they are made: those of functions that call each other do.
    let plan: Vec<_> = (plan.into_iter())
        .map(|(f, mask, activity)| {
            let (results, accs) = derivatives.influences[&f].under(&mask);
            let name = names::jvp(&mask.name(&derivatives.program, f));
            let id = derivatives.reserve(&name);
            derivatives.jvps.insert((f, mask.clone()), Jvp { func: id, results, accs });
            (id, f, mask, activity)
        })
        .collect();
    for (k, (id, f, mask, activity)) in plan.iter().enumerate() {
        let other = match derivatives.program.funcs[*f].is_foreign() {
            true => foreign::differentiate(derivatives, *f, mask),
            false => custom::differentiate(derivatives, *f, mask),
        };
        let made = match other.and_then(|made| match made {
            Some(made) => Ok(made),
            None => differentiate(derivatives, *f, mask, activity),
        }) {
            Ok(made) => made,
            Err(error) => {
                let unmade: HashSet<FuncId> = plan[k..].iter().map(|(id, ..)| *id).collect();
                derivatives.jvps.retain(|_, jvp| !unmade.contains(&jvp.func));
                return Err(error);
            }
        };
        derivatives.complete(*id, made);
        if let Some(jut_ir::Rule::Vjp(_)) = derivatives.program.funcs[*f].rule {
            derivatives.by_cotangents.insert(*id);
        }
    }
    let missing = || crate::internal(jut_ir::Span::NONE, "no derivative was made");
    let jvp = derivatives.jvp_of(erased, &mask_of_erased).cloned().ok_or_else(missing)?;
    let made = jvp.func;
    derivatives.jvps.insert((func, mask.clone()), jvp);
    Ok(made)
}

impl Derivatives {
    /// The mask that calls which ask for `asked` are given.
    pub(crate) fn widened<'a>(&'a self, func: FuncId, asked: &'a Mask) -> &'a Mask {
        let known = self.masks.get(&func).and_then(|m| m.iter().find(|(a, _)| a == asked));
        known.map_or(asked, |(_, given)| given)
    }

    /// Decides on the mask for a call.
    fn widen(&mut self, func: FuncId, asked: &Mask) -> Mask {
        let known = self.masks.entry(func).or_default();
        if let Some((_, given)) = known.iter().find(|(a, _)| a == asked) {
            return given.clone();
        }
        let f = &self.program.funcs[func];
        let full = known.len() >= MASKS && f.cap_params.is_empty();
        let by_value = |k: usize| {
            let ty = &f.nvars[f.params[k]].ty;
            full && Passing::of(&self.kinds, ty) == Passing::Value
        };
        let given = Mask((0..f.params.len()).map(|k| asked.is_active(k) || by_value(k)).collect());
        known.push((asked.clone(), given.clone()));
        given
    }
}

/// Finds what the results of each function depend on, callees first. Of functions that call each other it is the
/// least that agrees with itself: they begin with nothing, and are looked at until nothing changes.
fn summarise(derivatives: &mut Derivatives, root: FuncId) {
    derivatives.kinds.extend(&derivatives.program);
    let known = |f: FuncId| derivatives.influences.contains_key(&f);
    for component in components(&derivatives.program, (!known(root)).then_some(root), &known) {
        for f in component.members.iter().copied() {
            // Arrays that a loop only hands on have no tangent that it would have to carry.
            jut_ir::carries::settle(&mut derivatives.program.funcs[f]);
            jut_ir::early::read_early(&mut derivatives.program.funcs[f]);
            if component.is_recursive {
                let nothing = Influence::none(&derivatives.program.funcs[f]);
                derivatives.influences.insert(f, nothing);
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for f in component.members.iter().copied() {
                let influence = match foreign::influence(&derivatives.program, f) {
                    Some(influence) => influence,
                    None => activity::influence(derivatives, f),
                };
                let before = derivatives.influences.insert(f, influence);
                changed |=
                    component.is_recursive && before.as_ref() != derivatives.influences.get(&f);
            }
        }
        for f in component.members {
            if let Some(by) = derivatives.program.foreign_derivative(f) {
                summarise(derivatives, by);
            }
            if let Some(rule) = derivatives.program.funcs[f].rule {
                summarise(derivatives, rule.func());
                custom::settle(derivatives, f, rule);
                let of_rule = &derivatives.influences[&rule.func()];
                if let Some(stated) = custom::influence(&derivatives.program, f, of_rule) {
                    derivatives.influences.insert(f, stated);
                }
            }
        }
    }
}

/// Which derivatives are missing, callees first but for functions that call each other, each with the activity under
/// its mask.
fn plan(derivatives: &mut Derivatives, root: FuncId, mask: &Mask) -> Vec<(FuncId, Mask, Activity)> {
    let order = callees_first(&derivatives.program, needed(derivatives, root));
    let mut place = SecondaryMap::new();
    order.iter().enumerate().for_each(|(k, f)| place[*f] = k);
    let mut wanted = BTreeMap::from([(place[root], vec![mask.clone()])]);
    let mut planned: HashSet<(FuncId, Mask)> = HashSet::new();
    let mut plan = Vec::new();
    while let Some((k, masks)) = wanted.pop_last() {
        let f = order[k];
        for mask in masks {
            let is_new = planned.insert((f, mask.clone()));
            if !is_new || derivatives.jvp_of(f, &mask).is_some() {
                continue;
            }
            let activity = activity::analyse(derivatives, f, &mask);
            let mut asked = Vec::new();
            let stated = foreign::asked(&derivatives.program, f, &mask);
            match stated.or_else(|| custom::asked(derivatives, f, &mask)) {
                Some(of_rule) => asked.push(of_rule),
                None => {
                    calls(&derivatives.program.funcs[f].body, &activity, &mut asked);
                    for (callee, mask) in &mut asked {
                        *mask = derivatives.widen(*callee, mask);
                    }
                }
            }
            for (callee, mask) in &asked {
                let masks = wanted.entry(place[*callee]).or_default();
                if !masks.contains(mask) {
                    masks.push(mask.clone());
                }
            }
            plan.push((f, mask, activity, asked));
        }
    }
    plan.reverse();
    in_order(plan)
}

/// A derivative that is missing: of what, with respect to what, the activity there, and the derivatives that it asks for.
type Missing = (FuncId, Mask, Activity, Vec<(FuncId, Mask)>);

/// Puts what is asked for by others before these.
fn in_order(plan: Vec<Missing>) -> Vec<(FuncId, Mask, Activity)> {
    let number: HashMap<(FuncId, Mask), usize> =
        plan.iter().enumerate().map(|(k, (f, mask, ..))| ((*f, mask.clone()), k)).collect();
    let found = strongly_connected(plan.len(), 0..plan.len(), |k, out| {
        out.extend(plan[k].3.iter().filter_map(|asked| number.get(asked)));
    });
    let mut plan: Vec<_> = plan.into_iter().map(Some).collect();
    let taken = found.into_iter().flat_map(|component| component.members);
    taken.filter_map(|k| plan[k].take()).map(|(f, mask, activity, _)| (f, mask, activity)).collect()
}

/// What a function calls, directly or not, and what states derivatives of these, in the order of the program.
fn needed(derivatives: &Derivatives, root: FuncId) -> BTreeSet<FuncId> {
    let mut needed = BTreeSet::new();
    let mut work = vec![root];
    while let Some(f) = work.pop() {
        if needed.insert(f) {
            let func = &derivatives.program.funcs[f];
            for_each_call(&func.body, &mut |call| work.push(call.func));
            work.extend(func.rule.map(|rule| rule.func()));
            work.extend(derivatives.program.foreign_derivative(f));
            work.extend(derivatives.stated.get(&f));
        }
    }
    needed
}

/// The calls with an active argument, and their masks.
fn calls(block: &Block, activity: &Activity, out: &mut Vec<(FuncId, Mask)>) {
    for stmt in &block.stmts {
        if let jut_ir::Rhs::Call(call) = &stmt.rhs {
            let mask = activity.call_mask(call);
            let live = stmt.nl.iter().any(|v| activity.is_live(*v))
                || call.places.iter().flatten().any(|p| activity.is_live_cap(p.root));
            if live && !mask.is_empty() {
                out.push((call.func, mask));
            }
        }
        for inner in stmt.rhs.blocks() {
            calls(inner, activity, out);
        }
    }
}

/// JDef.
fn differentiate(
    derivatives: &Derivatives,
    func: FuncId,
    mask: &Mask,
    activity: &Activity,
) -> Result<Function, Diagnostic> {
    let source = &derivatives.program.funcs[func];
    let loc = Loc::source(source.span);
    let needs = needs::count(derivatives, source, activity);
    let mut w = Writer::new(derivatives, source, activity);
    for (v, data) in source.nvars.iter() {
        if activity.is_live(v) {
            w.tangents[v] = tangent_type(derivatives, &data.ty, &data.name, data.span)?;
        }
    }
    let mut entry = Vec::new();
    for k in mask.positions() {
        let p = source.params[k];
        let data = &source.nvars[p];
        let Some(ty) = tangent_type(derivatives, &data.ty, &data.name, data.span)? else {
            continue;
        };
        w.tangents[p] = Some(ty.clone());
        if Passing::of(&derivatives.kinds, &data.ty) == Passing::Capability {
            let cap = w.capability(p, Mode::Rd, ty, data.span);
            w.builder.func.cap_params.push(cap);
            entry.push((p, Handle::At(Place::root(cap))));
        } else {
            let x = w.tangent_var(p, ty, data.span);
            w.builder.func.lin_params.push(x);
            entry.push((p, Handle::Val(x)));
        }
    }
    let (results, accs) = derivatives.influences[&func].under(mask);
    for (cap, active) in source.cap_params.iter().zip(&accs) {
        let CapData { name, lanes, ty, span, .. } = source.caps[*cap].clone();
        if let (true, Some(ty)) = (*active, tangent_type(derivatives, &ty, &name, span)?) {
            let writer = w.builder.cap(&format!("d{name}"), Mode::Wr, lanes, ty, span);
            w.builder.func.cap_params.push(writer);
            w.writers[*cap] = Some(writer);
        }
    }
    for (result, active) in source.results.iter().zip(&results) {
        let ty = tangent_type(derivatives, &result.ty, "a result", source.span);
        if let (true, Some(ty)) = (*active, if *active { ty? } else { None }) {
            let name = result.name.map(|v| format!("{}'", source.nvars[v].name).into());
            w.builder.func.lin_results.push(LinResultDecl { name, ty });
        }
    }
    let mut rules = Rules { w, derivatives };
    let body = rules.block(&source.body, needs, &results, entry, loc)?;
    rules.w.finish()?;
    let Writer { mut builder, rebound, .. } = rules.w;
    if rebound {
        builder = FunctionBuilder::from_function(Relocator::whole(&builder.func, body));
    } else {
        builder.func.body = body;
    }
    repair(&mut builder, Origin::Forward);
    // A check may have been left within a region.
    let foreign = |func| derivatives.program.funcs[func].is_foreign();
    show_sizes(&mut builder.func, Some(&mut builder.namer), &foreign);
    Ok(builder.func)
}

/// The tangent type of a live value.
fn tangent_type(
    derivatives: &Derivatives,
    ty: &Type,
    name: &str,
    span: jut_ir::Span,
) -> Result<Option<Type>, Diagnostic> {
    ty.tangent(&derivatives.program).map_err(|data| {
        let data = &derivatives.program.datas[data].name;
        let what = format!("the tangents of `{data}`, which `{name}` carries, have no type");
        crate::internal(span, &what)
    })
}
