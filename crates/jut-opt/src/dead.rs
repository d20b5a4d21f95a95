//! Dead code: statements, loop carries, stacked results, slices, branch results, sums, and across
//! functions the results and parameters that nobody needs.
//!
//! Mark and sweep on a graph whose nodes are the names, statements and capabilities of a function,
//! so that a loop carry that only feeds itself is found dead without iterating over the loop.
//! Roots are the results of the function, additions into its parameters, and everything that can
//! fail: a `check` stays although nothing reads what it guards, so a gradient fails exactly where
//! its primal fails.
//!
//! Requires: purely non-linear functions. Ensures: same results, same errors, no more work.
//! Cost: linear in the program's text.

mod mark;
mod sweep;

use jut_ir::calls::Recursion;
use jut_ir::entity::{FuncId, NVar, SecondaryMap};
use jut_ir::ir::*;
use mark::Marks;

/// Which functions can fail at run time (other than by running out of memory); whether those of other languages count is said. Those that call themselves can: that
/// they end is not known.
pub(crate) fn fallible(
    program: &Program,
    order: &[FuncId],
    recursion: &Recursion,
    foreign: bool,
) -> SecondaryMap<FuncId, bool> {
    fn fails(block: &Block, known: &SecondaryMap<FuncId, bool>) -> bool {
        block.stmts.iter().any(|s| {
            s.rhs.can_fail(&|callee| known[callee])
                || s.rhs.blocks().into_iter().any(|b| fails(b, known))
        })
    }
    let mut known = SecondaryMap::new();
    for &id in order {
        known[id] = recursion.is_recursive(id)
            || (foreign && program.funcs[id].is_foreign())
            || fails(&program.funcs[id].body, &known);
    }
    known
}

/// What the callers of a function need of it.
#[derive(Clone, Default)]
struct Demand {
    called: bool,
    /// One per result; missing entries are not needed.
    results: Vec<bool>,
}

/// Removes what is dead in every function that `root` reaches; `root` keeps its signature.
pub fn remove_dead(program: &mut Program, root: FuncId) {
    let (ids, recursion) = (crate::reached_from(program, root), Recursion::of(program));
    // What another language computes is not asked for unless it is needed, whatever would become of it.
    let fallible = fallible(program, &ids, &recursion, false);
    let mut demands: SecondaryMap<FuncId, Demand> = SecondaryMap::new();
    demands[root] = Demand { called: true, results: vec![true; program.funcs[root].results.len()] };
    // Of what calls itself, each level asks for what the one above it needs: all of it stays.
    let circles = ids.iter().copied().filter(|id| recursion.is_recursive(*id));
    let stated = stated(program, root);
    for id in circles.chain(stated.iter().copied()) {
        let results = vec![true; program.funcs[id].results.len()];
        demands[id] = Demand { called: true, results };
    }
    // Callers before callees.
    for &id in ids.iter().rev() {
        if !demands[id].called {
            continue;
        }
        let func = &mut program.funcs[id];
        let mut wanted = demands[id].results.clone();
        wanted.resize(func.results.len(), false);
        keep_named_sizes(func, &mut wanted);
        demands[id].results = wanted.clone();
        retain(&mut func.results, &wanted);
        retain(&mut func.body.nl, &wanted);
        let marks = Marks::of(func, &fallible);
        let body = std::mem::take(&mut func.body);
        func.body = sweep::block(body, &marks, &mut |call, pattern| {
            let demand = &mut demands[call.func];
            demand.called = true;
            demand.results.resize(demand.results.len().max(pattern.len()), false);
            for (needed, var) in demand.results.iter_mut().zip(pattern) {
                *needed |= marks.var(*var);
            }
        });
    }
    let params = unused_params(program, root, &stated);
    for &id in &ids {
        if demands[id].called {
            let mut body = std::mem::take(&mut program.funcs[id].body);
            narrow_calls(&mut body, &demands, &params);
            let func = &mut program.funcs[id];
            func.body = body;
            retain(&mut func.params, &params[id]);
        }
    }
}

/// Definitions with a rule, and those that state it: they keep their signatures.
fn stated(program: &Program, root: FuncId) -> Vec<FuncId> {
    let reached = crate::reached_from(program, root);
    let rules = reached.iter().filter_map(|id| {
        let by = program.funcs[*id].rule.map(Rule::func).or(program.foreign_derivative(*id))?;
        Some([*id, by])
    });
    rules.flatten().chain(program.foreign()).collect()
}

/// Keeps the items whose flag is set; items without a flag stay.
pub(crate) fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}

/// A named i64 result stays when the type of a later result mentions it.
fn keep_named_sizes(func: &Function, wanted: &mut [bool]) {
    for k in (0..func.results.len()).rev() {
        let Some(name) = func.results[k].name else { continue };
        let later = func.results.iter().zip(wanted.iter()).skip(k + 1);
        let mentioned = later.filter(|(_, w)| **w).any(|(r, _)| r.ty.size_names().contains(&name));
        wanted[k] |= mentioned;
    }
}

/// For every function one flag per parameter: whether it stays.
fn unused_params(
    program: &Program,
    root: FuncId,
    stated: &[FuncId],
) -> SecondaryMap<FuncId, Vec<bool>> {
    let mut keep = SecondaryMap::new();
    for (id, func) in program.funcs.iter() {
        if id != root && !stated.contains(&id) {
            let mut used = mark::mentioned(func);
            keep_dimensions(func, &mut used);
            keep[id] = func.params.iter().map(|p| used[*p]).collect();
        }
    }
    keep
}

/// That a size is not negative is known from the arrays that have it: a size that is used keeps one
/// array, even if no element of that is read.
fn keep_dimensions(func: &Function, used: &mut SecondaryMap<NVar, bool>) {
    let dimensions = |p: NVar| {
        let mut names = Vec::new();
        func.nvars[p].ty.for_each_size(&mut |size| names.extend(size.as_var()));
        names
    };
    let mut shown: SecondaryMap<NVar, bool> = SecondaryMap::new();
    for pass in [true, false] {
        for p in func.params.iter().copied().filter(|p| func.nvars[*p].ty.element().is_some()) {
            let names = dimensions(p);
            used[p] |= !pass && names.iter().any(|n| used[*n] && !shown[*n]);
            if used[p] {
                names.into_iter().for_each(|n| {
                    used[n] = true;
                    shown[n] = true;
                });
            }
        }
    }
}

/// Call sites follow the narrower signatures.
fn narrow_calls(
    block: &mut Block,
    demands: &SecondaryMap<FuncId, Demand>,
    params: &SecondaryMap<FuncId, Vec<bool>>,
) {
    for stmt in &mut block.stmts {
        if let Rhs::Call(call) = &mut stmt.rhs {
            retain(&mut stmt.nl, &demands[call.func].results);
            retain(&mut call.args, &params[call.func]);
        }
        for nested in stmt.rhs.blocks_mut() {
            narrow_calls(nested, demands, params);
        }
    }
}
