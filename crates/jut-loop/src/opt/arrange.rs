//! Updates of neighbours in the order in which several iterations may take their steps together.
//!
//! A loop that adds to neighbours, and has too much to compute to be [turned round](super::gather), may be taken several iterations at a time if that of
//! two which reach one cell is the first to do so in the body that is the first to run. In which order an iteration adds to its cells is nobody's
//! business: they are different cells.
//!
//! ```text
//! for up (i in 0 .. n) {              for up (i in 0 .. n) {
//!   a = f(i)                            a = f(i)
//!   g[i] = g[i] + a                     b = h(i)
//!   b = h(i)                            g[i + 1] = g[i + 1] + b        iteration i + 1 adds to this cell,
//!   g[i + 1] = g[i + 1] + b             g[i] = g[i] + a                here
//! }                                   }
//! ```
//!
//! So are points in space, whose coordinates lie side by side: the cells `g[3 * i + 1]` and `g[3 * i + 4]` are neighbours, too.
//!
//! What is added is computed before. Each cell gets the same terms in the same order, so no bit changes.
//!
//! *Requires*: nothing. A body qualifies as for [`super::gather`], but may be longer. *Cost*: linear.

use super::gather::{Gather, Plan, as_it_is, in_order};
use crate::analysis::{Distances, Roots};
use crate::form::{For, LoopFunction, Order, Stmt};
use crate::values::Values;

/// Statements of a body that is looked at.
const LARGEST: usize = 200;

/// Arranges the updates in the loops of a function.
pub(super) fn run(func: &mut LoopFunction) {
    let (roots, rows) = (Roots::of(func), Distances::of(func));
    let walk = Gather::new(roots, rows, Values::new(&mut func.values));
    func.body.for_each_mut(&mut |stmt| match stmt {
        Stmt::For(source) => arrange(source, &walk),
        Stmt::Lanes(source) if source.body.any(&mut |s| matches!(s, Stmt::Store { .. })) => {
            let mut whole = in_order((**source).clone());
            arrange(&mut whole, &walk);
            *stmt = as_it_is(whole, true);
        }
        _ => {}
    });
}

/// Arranges the updates of a loop, if there are some of neighbours.
fn arrange(source: &mut For, walk: &Gather<'_>) {
    let Some(plan) = Plan::of(source, walk, LARGEST, true) else { return };
    if plan.owns_its_cells() {
        return;
    }
    let mut updates: Vec<_> = plan.updates.iter().collect();
    // In a loop upwards the cell with the largest offset is reached first, if places grow with the index.
    updates.sort_by_key(|update| {
        let last = (source.order == Order::Down) != (update.step < 0);
        if last { update.offset } else { update.offset.saturating_neg() }
    });
    let mut order = Vec::with_capacity(source.body.stmts.len());
    for update in updates {
        let loaded = update.loaded.and_then(|v| plan.definitions.get(&v)).copied();
        order.extend(loaded.into_iter().chain(update.operations.iter().copied()));
        order.push(update.store);
    }
    let mut before: Vec<usize> = (0..source.body.stmts.len()).collect();
    let mut moves = vec![false; before.len()];
    order.iter().for_each(|at| moves[*at] = true);
    before.retain(|at| !moves[*at]);
    let mut stmts: Vec<Option<Stmt>> =
        std::mem::take(&mut source.body.stmts).into_iter().map(Some).collect();
    source.body.stmts = before.into_iter().chain(order).filter_map(|at| stmts[at].take()).collect();
}
