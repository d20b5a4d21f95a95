//! Optimisation of Linear A: the clean-up that J, U, T and L rely on.
//!
//! The passes make code that is mostly trivial: multiplications by one, records that are built and
//! opened at once, results that nobody reads. The optimiser removes it from purely non-linear
//! functions, before J and after L; functions with linear parts are left as they are.
//!
//! | module | what |
//! |---|---|
//! | [`inline`] | calls of small functions, within a budget |
//! | [`simplify`] | copies, constants, algebra that keeps bits, known records, array literals and branches, checks that hold, common subexpressions |
//! | [`ring`] | the neighbours of an index on a ring are selected, not divided for |
//! | [`unchanged`] | what every iteration hands on unchanged is no carry |
//! | [`decide`] | tests of one value's constructor are one `case` |
//! | [`unroll`] | loops of a few iterations |
//! | [`dead`] | whatever nobody needs, across loops and functions; never a check |
//! | [`show_sizes`] | a check for sizes of new arrays whose reason has gone |
//! | [`motion`] | loop-invariant total operations move out of loops |
//! | [`tables`] | what an outer loop repeats for the same elements is computed once, into a table |
//! | [`fuse`] | a loop that reads what an earlier one has collected becomes one with it |
//!
//! **Invariant:** every rewrite keeps the bits of every result and the error values of every call,
//! and never raises W, with the elements that slices give the iterations of loops (property P15).
//! The checks of [`show_sizes`] are more work, one comparison each.

mod copy;
pub mod dead;
pub mod decide;
pub mod fuse;
pub mod inline;
pub mod motion;
pub mod rewrite;
pub mod ring;
pub mod simplify;
pub mod tables;
pub mod unchanged;
pub mod unroll;

use jut_ir::build::Namer;
use jut_ir::calls::{Recursion, callees_first};
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::FuncId;
use jut_ir::ir::{Decl, Function, Program};
use jut_ir::visit::Use;
use std::collections::HashSet;

/// Makes a program of `root` and what it calls, optimised. `root` keeps its signature.
///
/// `final_order` says that no derivative will be taken of the result. If `root` is not purely
/// non-linear, it is not changed.
pub fn optimise(program: &Program, root: FuncId, final_order: bool) -> Program {
    optimise_last(only(program, &reached_from(program, root)), root, final_order)
}

/// Like [`optimise`], of a program that is not needed any more.
pub fn optimise_last(program: Program, root: FuncId, final_order: bool) -> Program {
    optimise_watched(program, root, final_order, &mut |_, _| {})
}

/// Like [`optimise_last`]; `watch` gets the program after every pass that leaves one that the checker
/// accepts, with the name of the pass. (Inlining leaves the rest of its work to simplification.)
pub fn optimise_watched(
    mut program: Program,
    root: FuncId,
    final_order: bool,
    watch: &mut dyn FnMut(&'static str, &Program),
) -> Program {
    if final_order {
        for func in program.funcs.values_mut() {
            func.rule = None;
            func.body.forget_policies();
        }
    }
    let reached = reached_from(&program, root);
    keep_only(&mut program, &reached);
    // Declarations of other languages have no body.
    let is_plain =
        |id: &FuncId| program.funcs[*id].is_nonlinear() || program.funcs[*id].is_foreign();
    if !reached.iter().all(is_plain) {
        return program;
    }
    for id in &reached {
        unique_names(&mut program.funcs[*id]);
    }
    inline::inline_calls(&mut program, root);
    let reached = reached_from(&program, root);
    keep_only(&mut program, &reached);
    for _ in 0..2 {
        tidy(&mut program, root, final_order, &reached, watch);
    }
    let mut tables = false;
    for id in &reached {
        tables |= tables::tabulate(&mut program.funcs[*id]);
    }
    if tables {
        watch("tables", &program);
        tidy(&mut program, root, final_order, &reached, watch);
    }
    // Derivatives are taken of loops as they were written.
    for _ in 0..if final_order { FUSIONS } else { 0 } {
        let fallible = dead::fallible(&program, &reached, &Recursion::of(&program), true);
        let mut fused = false;
        for id in &reached {
            let mut func = std::mem::take(&mut program.funcs[*id]);
            fused |= fuse::fuse(&program, &mut func, &fallible);
            program.funcs[*id] = func;
        }
        if !fused {
            break;
        }
        watch("fuse", &program);
        tidy(&mut program, root, final_order, &reached, watch);
    }
    let reached = reached_from(&program, root);
    keep_only(&mut program, &reached);
    for id in &reached {
        jut_ir::early::read_early(&mut program.funcs[*id]);
    }
    program
}

/// How often loops are fused: those that stand in fused ones come after them.
const FUSIONS: usize = 3;

/// What leaves less to do, in the order in which one makes work for the next.
fn tidy(
    program: &mut Program,
    root: FuncId,
    final_order: bool,
    reached: &[FuncId],
    watch: &mut dyn FnMut(&'static str, &Program),
) {
    for id in reached {
        jut_ir::carries::settle(&mut program.funcs[*id]);
        if final_order {
            unchanged::settle(&mut program.funcs[*id]);
        }
        simplify::simplify(&mut program.funcs[*id], final_order);
        ring::select_neighbours(&mut program.funcs[*id]);
        let decided = decide::decide(&mut program.funcs[*id]);
        if unroll::unroll(&mut program.funcs[*id]) || decided {
            simplify::simplify(&mut program.funcs[*id], final_order);
        }
    }
    watch("simplify", program);
    dead::remove_dead(program, root);
    let foreign: HashSet<FuncId> = program.foreign().collect();
    for id in reached {
        show_sizes(&mut program.funcs[*id], None, &|func| foreign.contains(&func));
    }
    watch("dead", program);
    for id in reached {
        motion::hoist(&mut program.funcs[*id]);
    }
    watch("motion", program);
}

/// Gives everything that a function binds a name of its own, because what stands in blocks beside each other
/// may move into one; what passes make has new names.
fn unique_names(func: &mut Function) {
    let mut namer = Namer::default();
    let mut binders: Vec<Use> = func.params.iter().map(|p| Use::N(*p)).collect();
    binders.extend(func.cap_params.iter().map(|c| Use::C(*c)));
    binders.extend(func.results.iter().filter_map(|r| r.name).map(Use::N));
    func.body.for_each_binder(&mut |binder| binders.push(binder));
    for binder in binders {
        match binder {
            Use::N(v) => func.nvars[v].name = namer.fresh(&func.nvars[v].name),
            Use::C(c) => func.caps[c].name = namer.fresh(&func.caps[c].name),
            Use::L(_) => {}
        }
    }
}

/// The functions that `root` calls, directly or not, those that state their derivatives, and itself: callees first, and
/// else in the order of the program.
pub fn reached_from(program: &Program, root: FuncId) -> Vec<FuncId> {
    callees_first(program, jut_ir::calls::reached(program, root))
}

/// A copy of a program with only the given functions; the others are empty and not declared.
fn only(program: &Program, keep: &[FuncId]) -> Program {
    let mut copy = Program { datas: program.datas.clone(), ..Program::default() };
    let kept: HashSet<FuncId> = keep.iter().copied().collect();
    for (id, func) in program.funcs.iter() {
        copy.funcs.push(if kept.contains(&id) { func.clone() } else { Function::default() });
    }
    copy.order.clone_from(&program.order);
    keep_only(&mut copy, keep);
    copy
}

/// Takes all other functions out of the declaration order and empties them.
fn keep_only(program: &mut Program, keep: &[FuncId]) {
    let mut kept = jut_ir::entity::SecondaryMap::<FuncId, bool>::new();
    keep.iter().for_each(|id| kept[*id] = true);
    program.order.retain(|decl| match decl {
        Decl::Func(id) => kept[*id],
        Decl::Data(_) => true,
    });
    for (id, func) in program.funcs.iter_mut() {
        if !kept[id] {
            *func = Default::default();
        }
    }
}
