//! What is run again prints nothing: the first run has printed.
//!
//! A function whose body, or that of a function it calls, prints has a twin, `f.silent`, that does the same without. U calls
//! it where the tape's text wants something computed again ([`super::replay`], [`super::revolve`]).
//!
//! *Requires*: non-linear functions that are complete. *Ensures*: the same results and errors. *Cost*: linear in the text of
//! the functions that are called.

use crate::Derivatives;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::*;

/// The function without what it prints; itself if it prints nothing.
pub(super) fn silent(derivatives: &mut Derivatives, func: FuncId) -> FuncId {
    let printing = printing(&derivatives.program, calls(&derivatives.program, func));
    if !printing.contains(&func) {
        return func;
    }
    // Those that are called stand before those that call them, but for functions that call each other.
    let called = calls(&derivatives.program, func);
    let mut twins: HashMap<FuncId, FuncId> = HashMap::default();
    for f in called.iter().filter(|f| printing.contains(*f)) {
        let name = names::silent(&derivatives.program.funcs[*f].name);
        twins.insert(*f, derivatives.reserve(&name));
    }
    for f in called {
        let Some(twin) = twins.get(&f) else { continue };
        let mut copy = derivatives.program.funcs[f].clone();
        silence(&mut copy.body, &twins);
        derivatives.complete(*twin, copy);
    }
    twins.get(&func).copied().unwrap_or(func)
}

/// Whether a function that a block calls prints.
pub(super) fn calls_what_prints(program: &Program, block: &Block) -> bool {
    let mut own = Vec::new();
    callees(block, &mut own);
    let called = own.into_iter().flat_map(|f| calls(program, f)).collect();
    !printing(program, called).is_empty()
}

/// Leaves out what the statements of a block print themselves.
pub(super) fn silence_own(block: &mut Block) {
    silence(block, &HashMap::default());
}

fn shows(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.rhs, Rhs::Check(Check::Show(_))) || stmt.rhs.blocks().into_iter().any(shows)
    })
}

fn callees(block: &Block, out: &mut Vec<FuncId>) {
    for stmt in &block.stmts {
        if let Rhs::Call(call) = &stmt.rhs {
            out.push(call.func);
        }
        stmt.rhs.blocks().into_iter().for_each(|inner| callees(inner, out));
    }
}

/// The function and those that it calls, each once, behind those that it calls itself.
fn calls(program: &Program, func: FuncId) -> Vec<FuncId> {
    let (mut seen, mut out) = (HashSet::default(), Vec::new());
    // A function, and whether what it calls is done.
    let mut work = vec![(func, false)];
    while let Some((f, done)) = work.pop() {
        if done {
            out.push(f);
        } else if seen.insert(f) {
            work.push((f, true));
            let mut called = Vec::new();
            callees(&program.funcs[f].body, &mut called);
            work.extend(called.into_iter().map(|g| (g, false)));
        }
    }
    out
}

/// Those of some functions, which hold all that they call, that print.
fn printing(program: &Program, funcs: Vec<FuncId>) -> HashSet<FuncId> {
    let mut found: HashSet<FuncId> = HashSet::default();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for f in &funcs {
            let body = &program.funcs[*f].body;
            let mut called = Vec::new();
            callees(body, &mut called);
            if !found.contains(f) && (shows(body) || called.iter().any(|g| found.contains(g))) {
                found.insert(*f);
                changed = true;
            }
        }
    }
    found
}

fn silence(block: &mut Block, twins: &HashMap<FuncId, FuncId>) {
    block.stmts.retain(|stmt| !matches!(stmt.rhs, Rhs::Check(Check::Show(_))));
    for stmt in &mut block.stmts {
        if let Rhs::Call(call) = &mut stmt.rhs
            && let Some(twin) = twins.get(&call.func)
        {
            call.func = *twin;
        }
        stmt.rhs.blocks_mut().into_iter().for_each(|inner| silence(inner, twins));
    }
}
