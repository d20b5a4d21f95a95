//! U: unzipping (Fig. 8 of the paper, extended to loops, branches, regions and data). It parts a
//! function that mixes values and tangents into `f.nonlin`, which computes the values and fills a
//! *tape*, and `f.lin`, which computes the tangents from tape and tangents alone. U decides what
//! goes on the tape; nothing else does.
//!
//! # The two halves
//!
//! A block becomes a list E of non-linear statements, its non-linear results, and a residual: the
//! linear statements in their old order. Regions that open a linear capability only remain in the
//! residual; what they contained of E moves out. Loops, branches and accumulators remain in both
//! halves (if anything is left for them to do). Checks stay in `f.nonlin`; an access of the
//! residual that was covered only by what `f.nonlin` knows is marked as proved, `x[!i]`.
//!
//! # Three parts
//!
//! 1. The *plan* ([`plan`]) says what becomes of each value that the linear half reads: it has it anyway, computes
//!    it again, or takes it off the tape. It alone decides, from the program, the function and the policy, and
//!    says why.
//! 2. The *layout* ([`layout`]) says in which types the stored values lie: records, stacks, sums.
//! 3. The *split* ([`split`]) writes the two halves, by both.
//!
//! [`explain`] prints the plan: what is on the tape, how many bytes of it, and why.
//!
//! Sizes among the results of `f` are parameters of `f.lin`: a caller then sees one name for the
//! size of a value and of its tangent.
//!
//! # Example
//!
//! ```text
//! core def f.jvp(u: f64; u': f64) -> (f64; f64) = { v = sin(u); c = cos(u); v' = c * u'; t = -v; t' = -v'; (t; t') }
//! ```
//! becomes
//! ```text
//! data f.tape = f.tape(c: f64)
//! core def f.nonlin(u: f64) -> (f64, f.tape) = { v = sin(u); c = cos(u); t = -v; tape = f.tape(c); (t, tape) }
//! core def f.lin(tape: f.tape; u': f64) -> (; f64) = { f.tape(c) = tape; v' = c * u'; t' = -v'; (; t') }
//! ```
//!
//! Long lists are no trouble, deep nests are: a value that is stored d loops deep is a result of
//! each of them, so a nest of depth d has residuals of size d² (nesting is limited).
//!
//! *Requires*: a checked function. *Ensures*: `f.nonlin` is non-linear, `f.lin` has linear results
//! only (Linear B); together they compute bit for bit what the function computes, under
//! [`Policy::StoreAll`] with the same work but for integer arithmetic (Theorem 6.2). *Cost*:
//! linear in the text.

mod again;
mod along;
pub mod explain;
mod layout;
mod marks;
mod plan;
mod record;
mod replay;
mod revolve;
mod schedule;
mod silent;
mod split;

use crate::{Derivatives, Policy, Unzipped};
pub use explain::{TapeReport, explain};
use jut_ir::calls::components;
use jut_ir::*;
pub(crate) use marks::prove_accesses;
pub(crate) use revolve::Revolved;
pub use schedule::schedule;

/// Unzips a function and all functions with linear parts that it calls.
///
/// # Errors
/// `J801` if the program is not what the checker accepts.
pub fn unzip(
    derivatives: &mut Derivatives,
    func: FuncId,
    policy: Policy,
) -> Result<Unzipped, Diagnostic> {
    if !derivatives.unzipped.contains_key(&(func, policy)) {
        derivatives.keep_only(func);
    }
    unzip_beside(derivatives, func, policy)
}

/// Like [`unzip`], while other functions are still to be read.
pub(crate) fn unzip_beside(
    derivatives: &mut Derivatives,
    func: FuncId,
    policy: Policy,
) -> Result<Unzipped, Diagnostic> {
    if let Some(known) = derivatives.unzipped.get(&(func, policy)) {
        return Ok(known.clone());
    }
    if derivatives.program.funcs[func].is_foreign_linear() {
        return Ok(foreign(derivatives, func, policy));
    }
    let program = &derivatives.program;
    let known = |f: FuncId| derivatives.unzipped.contains_key(&(f, policy));
    let skip =
        |f: FuncId| known(f) || program.funcs[f].is_nonlinear() || program.funcs[f].is_foreign();
    for component in components(program, [func], &skip) {
        let members = component.members;
        let made = match component.is_recursive {
            true => circle(derivatives, &members, policy),
            false => members.iter().try_for_each(|f| {
                let mut func = derivatives.take(*f)?;
                prepare(derivatives, *f, &mut func, policy, &[])?;
                let plan = plan::plan(derivatives, &mut func, policy, None)?;
                let unzipped = split::split(derivatives, func, plan)?;
                derivatives.unzipped.insert((*f, policy), unzipped);
                Ok(())
            }),
        };
        made.inspect_err(|_| {
            derivatives.unzipped.retain(|(f, _), _| !members.contains(f));
        })?;
    }
    let made = derivatives.unzipped.get(&(func, policy)).cloned();
    made.ok_or_else(|| Diagnostic::error("J801", Span::NONE, "nothing to unzip"))
}

/// The halves of a function of another language: nothing, and itself. A call of it is a linear statement, so nobody else calls them.
fn foreign(derivatives: &mut Derivatives, func: FuncId, policy: Policy) -> Unzipped {
    let mut nonlin = derivatives.program.funcs[func].signature();
    nonlin.name = names::nonlin(&nonlin.name);
    nonlin.foreign = None;
    (nonlin.lin_params, nonlin.lin_results) = Default::default();
    nonlin.lvars.clear();
    let forwarded = (0..nonlin.params.len()).collect();
    let nonlin = derivatives.add_func(nonlin);
    let halves = Unzipped { nonlin, lin: func, tape: None, forwarded, result_sizes: Vec::new() };
    derivatives.unzipped.insert((func, policy), halves.clone());
    halves
}

/// Makes functions of what is to be computed again in a function, and gives those that call functions of its circle; reports read
/// what is left of it.
fn prepare(
    derivatives: &mut Derivatives,
    id: FuncId,
    func: &mut Function,
    policy: Policy,
    circle: &[FuncId],
) -> Result<Vec<FuncId>, Diagnostic> {
    let Some(parts) = replay::prepare(derivatives, func, policy, circle)? else {
        return Ok(Vec::new());
    };
    if !derivatives.once {
        derivatives.prepared.insert((id, policy), func.clone());
    }
    Ok(parts)
}

/// Unzips functions that call each other, with the parts of them that do. Their halves and tapes are known by name before they are planned;
/// each has a tape, which holds those of the calls in it, so these tapes are recursive data types. What the linear halves
/// read of the parameters is the least that agrees with itself: at first nothing, then what a plan by that says, until
/// nothing is added. Callers of a part get halves without a tape ([`replay`]), which are made in the end.
fn circle(derivatives: &mut Derivatives, own: &[FuncId], policy: Policy) -> Result<(), Diagnostic> {
    let mut members = own.to_vec();
    let mut funcs = Vec::with_capacity(members.len());
    let mut halves: Vec<Unzipped> = Vec::with_capacity(members.len());
    while let Some(f) = members.get(funcs.len()).copied() {
        let mut func = derivatives.take(f)?;
        members.extend(prepare(derivatives, f, &mut func, policy, own)?);
        let base = names::unzip_base(&func.name).to_string();
        let constructors = vec![Constructor { name: names::tape(&base), fields: Vec::new() }];
        let (name, span) = (names::tape(&base), func.span);
        let tape = Data { name, constructors, span, ..Data::default() };
        let tape = Some(derivatives.add_data(tape));
        let [nonlin, lin] =
            [names::nonlin(&base), names::lin(&base)].map(|name| derivatives.reserve(&name));
        let result_sizes = plan::result_sizes(&func);
        let forwarded = Vec::new();
        let unzipped = Unzipped { nonlin, lin, tape, forwarded, result_sizes };
        let of_callers = match own.contains(&f) {
            true => unzipped.clone(),
            false => replay::reserve(derivatives, f, &unzipped),
        };
        derivatives.unzipped.insert((f, policy), of_callers);
        halves.push(unzipped);
        funcs.push(func);
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for ((f, func), known) in members.iter().zip(&funcs).zip(&mut halves) {
            let plan = plan::plan(derivatives, &mut func.clone(), policy, Some(known))?;
            changed |= known.forwarded != plan.forwarded;
            known.forwarded = plan.forwarded;
            if own.contains(f) {
                derivatives.unzipped.insert((*f, policy), known.clone());
            }
        }
    }
    for (func, known) in funcs.into_iter().zip(&mut halves) {
        let mut func = func;
        let plan = plan::plan(derivatives, &mut func, policy, Some(known))?;
        *known = split::split(derivatives, func, plan)?;
    }
    // Behind the types of all tapes, and those that call each other side by side: first halves, those of parts after what calls them, and
    // second halves.
    let mut all = members.into_iter().zip(halves);
    let mut lins: Vec<Decl> = Vec::new();
    for (f, halves) in all.by_ref().take(own.len()) {
        derivatives.program.order.push(Decl::Func(halves.nonlin));
        lins.push(Decl::Func(halves.lin));
        derivatives.unzipped.insert((f, policy), halves);
    }
    let mut parts = Vec::new();
    for (f, halves) in all {
        if let Some(of_callers) = derivatives.unzipped.get(&(f, policy)).cloned() {
            replay::make_values(derivatives, &halves, &of_callers);
            lins.extend([halves.lin, of_callers.lin].map(Decl::Func));
            parts.push((f, halves, of_callers));
        }
    }
    let nonlins = parts.iter().map(|(_, halves, _)| Decl::Func(halves.nonlin));
    derivatives.program.order.extend(nonlins);
    for (f, halves, of_callers) in parts {
        let loc = Loc::source(derivatives.program.funcs[f].span).by(Origin::Unzip);
        replay::make_again(derivatives, &halves, &of_callers, loc);
        derivatives.circular.insert((f, policy), halves);
    }
    derivatives.program.order.extend(lins);
    Ok(())
}
