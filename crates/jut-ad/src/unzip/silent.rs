//! What is run again prints nothing and adds nothing to sums of outside: the first run has.
//!
//! A function that adds to its caller's sums, or prints, or calls one that prints, has a twin, `f.silent`, that does the same without. U
//! calls it where the tape's text wants something computed again ([`super::replay`], [`super::revolve`]).
//!
//! ```text
//! core def f.part1.nonlin(len: i64, a: f64; ; acc r: [m]f64) -> (f64, ..) = { .. r[k] += s .. g(s; ; r[k]) .. }
//! core def f.part1.nonlin.silent(len: i64, a: f64) -> (f64, ..) = { .. g.silent(s) .. }
//! ```
//!
//! Of a function that is given sums of its caller's in some places, and of its own in others, there is a twin for each such choice.
//!
//! *Requires*: non-linear functions that are complete. *Ensures*: the same results and errors. *Cost*: linear in the text of
//! the functions that are called, for each choice.

use crate::Derivatives;
use jut_ir::entity::SecondaryMap;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::*;

/// A function, and which of its capabilities are sums that nobody wants.
type Choice = (FuncId, Vec<bool>);

/// The function without what it prints and what it adds to sums of its caller; itself if that is nothing.
pub(super) fn silent(derivatives: &mut Derivatives, func: FuncId) -> FuncId {
    let program = &derivatives.program;
    let called = calls(program, func);
    let printing = printing(program, called.clone());
    let all = (func, vec![true; program.funcs[func].cap_params.len()]);
    // What is called for each choice, from callers to callees.
    let (mut choices, mut seen) = (Vec::new(), HashSet::default());
    let mut work = vec![all.clone()];
    while let Some(choice) = work.pop() {
        let (f, unwanted) = &choice;
        let needed = unwanted.contains(&true) || printing.contains(f);
        if needed && seen.insert(choice.clone()) {
            let mut copy = program.funcs[*f].clone();
            Sums::of(&copy, unwanted).silence(&mut copy.body, &mut |callee, unwanted| {
                work.push((callee, unwanted.to_vec()));
                callee
            });
            choices.push(choice);
        }
    }
    // Those that are called stand before those that call them, but for functions that call each other.
    choices.sort_by_key(|(f, _)| called.iter().position(|g| g == f));
    let mut twins: HashMap<Choice, FuncId> = HashMap::default();
    for choice in &choices {
        let name = names::silent(&derivatives.program.funcs[choice.0].name);
        twins.insert(choice.clone(), derivatives.reserve(&name));
    }
    for choice in choices {
        let Some(twin) = twins.get(&choice).copied() else { continue };
        let (f, unwanted) = &choice;
        let mut copy = derivatives.program.funcs[*f].clone();
        let mut sums = Sums::of(&copy, unwanted);
        sums.silence(&mut copy.body, &mut |callee, unwanted| {
            twins.get(&(callee, unwanted.to_vec())).copied().unwrap_or(callee)
        });
        copy.cap_params.retain(|c| !sums.unwanted[*c]);
        derivatives.complete(twin, copy);
    }
    twins.get(&all).copied().unwrap_or(func)
}

/// The sums of a function that nobody wants, with their parts.
#[derive(Default)]
struct Sums {
    unwanted: SecondaryMap<Cap, bool>,
}

impl Sums {
    fn of(func: &Function, unwanted: &[bool]) -> Sums {
        let mut sums = Sums::default();
        for (c, unwanted) in func.cap_params.iter().zip(unwanted) {
            sums.unwanted[*c] = *unwanted;
        }
        sums
    }

    /// Leaves out what a block prints and adds to them. `callee` says what is called in place of a function, by which of its
    /// capabilities are such sums.
    fn silence(&mut self, block: &mut Block, callee: &mut dyn FnMut(FuncId, &[bool]) -> FuncId) {
        block.stmts.retain(|stmt| match &stmt.rhs {
            Rhs::Check(Check::Show(_)) => false,
            Rhs::Inc(place, _) => !self.unwanted[place.root],
            _ => true,
        });
        for stmt in &mut block.stmts {
            match &mut stmt.rhs {
                Rhs::Call(call) => {
                    let unwanted = |place: &Option<Place>| {
                        place.as_ref().is_some_and(|place| self.unwanted[place.root])
                    };
                    let of_places: Vec<bool> = call.places.iter().map(unwanted).collect();
                    call.func = callee(call.func, &of_places);
                    call.places.retain(|place| !unwanted(place));
                }
                Rhs::Scan(scan) => scan.cap_slices.retain(|(element, place)| {
                    self.unwanted[*element] = self.unwanted[place.root];
                    !self.unwanted[*element]
                }),
                _ => {}
            }
            stmt.rhs.blocks_mut().into_iter().for_each(|inner| self.silence(inner, callee));
        }
    }
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
    Sums::default().silence(block, &mut |callee, _| callee);
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
