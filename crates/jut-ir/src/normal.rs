//! Linear functions up to names and order: the form in which T of T is compared with the original.
//!
//! T copies non-linear statements before linear ones, inserts no name for a name, and orders what
//! regions and branches return by first use; the transpose of `select` is a `case`. So `T(T e)` is `e`
//! after five steps that do not change which map it is: the order in which sums are added is left
//! open (no `lanes`), a `select` is a `case` whose arms drop one operand, non-linear statements come
//! first in every block, the results of regions and branches stand in the order in which their block
//! uses them, and names are canonical ([`crate::alpha`]).
//!
//! ```text
//! v' = c * u'           w = sin(x)                w = sin(x)
//! w = sin(x)       ->   v' = c * u'     (T T)  =  u1' = c * x1'
//! t' = w * v'           t' = w * v'               t1' = w * u1'
//! ```
//!
//! *Requires*: a definition in Linear B, where no non-linear statement reads what a linear one
//! makes. *Ensures*: the definition means the same. *Cost*: linear, but for one sort per statement
//! with blocks.

use crate::alpha::canonical;
use crate::entity::{FuncId, LVar};
use crate::ir::*;
use crate::print::print_function;
use crate::visit::Use;
use std::collections::HashMap;

/// The text of a definition in the normal form, under the name `f`; calls of `other` are shown as
/// calls of `same`. Two definitions are equal up to names and order iff the texts are.
pub fn normal_text(program: &Program, id: FuncId, same: &dyn Fn(&str) -> String) -> String {
    let mut program = program.clone();
    let nonlinear: HashMap<FuncId, bool> =
        program.funcs.iter().map(|(id, f)| (id, f.is_nonlinear())).collect();
    let mut body = std::mem::take(&mut program.funcs[id].body);
    sort(&mut body, &|f| nonlinear.get(&f).copied().unwrap_or(false));
    program.funcs[id].body = body;
    for func in program.funcs.values_mut() {
        func.name = same(&func.name);
        func.caps.values_mut().for_each(|cap| cap.lanes = false);
    }
    program.funcs[id].name = "f".into();
    print_function(&canonical(&program), id)
}

fn is_linear(stmt: &Stmt, nonlinear: &dyn Fn(FuncId) -> bool) -> bool {
    !stmt.lin.is_empty()
        || match &stmt.rhs {
            Rhs::Drop(_) | Rhs::Inc(_, Operand::L(_)) => true,
            Rhs::Call(call) => !nonlinear(call.func),
            rhs => rhs.blocks().iter().any(|b| b.stmts.iter().any(|s| is_linear(s, nonlinear))),
        }
}

fn sort(block: &mut Block, nonlinear: &dyn Fn(FuncId) -> bool) {
    let stmts = std::mem::take(&mut block.stmts);
    let (linear, mut all): (Vec<Stmt>, Vec<Stmt>) =
        stmts.into_iter().partition(|s| is_linear(s, nonlinear));
    all.extend(linear);
    // The position of each name's first use in this block (uses in nested blocks included).
    let mut uses: HashMap<LVar, usize> = HashMap::new();
    for stmt in &all {
        each_linear_use(stmt, &mut |x| {
            let next = uses.len();
            uses.entry(x).or_insert(next);
        });
    }
    for x in &block.lin {
        let next = uses.len();
        uses.entry(*x).or_insert(next);
    }
    for stmt in &mut all {
        if let Rhs::LSelect(condition, x, y) = stmt.rhs {
            stmt.rhs = choice(stmt, condition, x, y);
        }
        // The total of a `wr` stays last.
        let fixed = match &stmt.rhs {
            Rhs::Case(_) => Some(0),
            Rhs::Region(region) => region.is_linear().then(|| region.own_results().1),
            _ => None,
        };
        if let Some(fixed) = fixed {
            let mut order: Vec<usize> = (0..stmt.lin.len().saturating_sub(fixed)).collect();
            order.sort_by_key(|k| uses.get(&stmt.lin[*k]).copied());
            let permuted = |list: &[LVar]| -> Vec<LVar> {
                order.iter().map(|k| list[*k]).chain(list[order.len()..].iter().copied()).collect()
            };
            stmt.lin = permuted(&stmt.lin);
            for inner in stmt.rhs.blocks_mut() {
                inner.lin = permuted(&inner.lin);
            }
        }
        for inner in stmt.rhs.blocks_mut() {
            sort(inner, nonlinear);
        }
    }
    block.stmts = all;
}

/// `select(b, x', y')` as `case b { true -> { drop y'; (; x') }; false -> { drop x'; (; y') } }`.
fn choice(like: &Stmt, condition: Atom, x: LVar, y: LVar) -> Rhs {
    let arm = |value: bool, kept: LVar, dropped: LVar| {
        let drop =
            Stmt { nl: Vec::new(), lin: Vec::new(), rhs: Rhs::Drop(dropped), ..like.clone() };
        Arm::of_bool(value, Block { stmts: vec![drop], nl: Vec::new(), lin: vec![kept] })
    };
    let arms = vec![arm(true, x, y), arm(false, y, x)];
    Rhs::Case(Box::new(Case { scrutinee: condition, arms }))
}

fn each_linear_use(stmt: &Stmt, visit: &mut dyn FnMut(LVar)) {
    stmt.rhs.for_each_own_use(&mut |name| {
        if let Use::L(x) = name {
            visit(x);
        }
    });
    for inner in stmt.rhs.blocks() {
        inner.stmts.iter().for_each(|s| each_linear_use(s, visit));
        inner.lin.iter().for_each(|x| visit(*x));
    }
}
