//! What an element tells of its sizes, and an empty batch does not.
//!
//! What is made anew has sizes that are known not to be negative ([`new_sizes`]). Where the function knew it
//! of the arrays of an element, the batch checks the arithmetic of the size at its head. The arrays of a first element would
//! have that size, so such a check can fail for an empty batch alone.
//!
//! *Ensures*: the checker finds these sizes known, or `false`. *Cost*: two walks.

use jut_ir::build::Namer;
use jut_ir::cover::Facts;
use jut_ir::cover::accesses::each_statement;
use jut_ir::cover::shown::new_sizes;
use jut_ir::entity::FuncId;
use jut_ir::*;

/// Makes the sizes known that have to be, and says whether they all are.
pub(super) fn know_sizes(func: &mut Function, loc: Loc, foreign: &dyn Fn(FuncId) -> bool) -> bool {
    let unknown = unknown_sizes(func, foreign);
    let at_the_head = |size: &Size| size.names().iter().all(|name| func.params.contains(name));
    if !unknown.iter().all(at_the_head) {
        return false;
    }
    if unknown.is_empty() {
        return true;
    }
    let mut namer = Namer::of(func);
    let mut head = Vec::new();
    for size in unknown {
        let mut computed = Vec::new();
        sizes::operand(func, &mut namer, &size, loc, &mut computed);
        for stmt in computed {
            if let Rhs::Prim(operation @ (prim::IADD | prim::ISUB | prim::IMUL), args) = &stmt.rhs
                && let [a, b] = args[..]
            {
                let rhs = Rhs::Check(Check::Exact(*operation, a, b));
                head.push(Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc });
            }
            head.push(stmt);
        }
    }
    func.body.stmts.splice(0..0, head);
    unknown_sizes(func, foreign).is_empty()
}

/// The sizes that nothing shows not to be negative where that has to be shown.
fn unknown_sizes(func: &mut Function, foreign: &dyn Fn(FuncId) -> bool) -> Vec<Size> {
    let mut unknown: Vec<Size> = Vec::new();
    each_statement(func, &mut |func, facts, stmt, _| {
        let mut ask = |facts: &Facts, size: &Size| {
            if !facts.is_plainly_non_negative(size) && !unknown.contains(size) {
                unknown.push(size.clone());
            }
        };
        new_sizes(func, stmt, foreign, &mut |size| ask(facts, size));
    });
    unknown
}
