//! Loop-invariant code motion.
//!
//! A statement of a loop body whose operands are all bound outside moves before the loop, and one of the
//! body of an `acc` region before the region. Only total operations move, because a loop may run zero
//! times, and because a `check` may stand before the statement: primitives that cannot
//! fail, sizes, fields, tuples, and accesses that the range rule covers **at the new place**. They lose
//! the mark `!` there, so the checker proves once more what was proved here.
//! Statements do not move out of branches: the branch not taken does no work.
//!
//! Requires: a purely non-linear function. Ensures: same results, same errors, no access before the
//! check that guards it; W is not raised in loops that run at least once. Cost: every statement moves at
//! most once per level of nesting.

use crate::unroll::has_loop;
use jut_ir::cover::Facts;
use jut_ir::entity::{NVar, SecondaryMap};
use jut_ir::ir::*;
use jut_ir::prim;
use jut_ir::size::Size;
use jut_ir::types::Type;
use jut_ir::visit::Use;
use std::collections::HashSet;

/// Hoists in a whole function.
pub fn hoist(func: &mut Function) {
    if !has_loop(&func.body) {
        return;
    }
    let body = std::mem::take(&mut func.body);
    let mut depths: SecondaryMap<NVar, u32> = SecondaryMap::with_default(0);
    let mut facts = Facts::default();
    for param in &func.params {
        facts.add_type(&func.nvars[*param].ty);
    }
    let mut motion = Motion { func, depth: &mut depths, facts, level: 0 };
    let body = motion.block(body);
    func.body = body;
}

struct Motion<'a> {
    func: &'a mut Function,
    /// In how many loops a name is bound.
    depth: &'a mut SecondaryMap<NVar, u32>,
    facts: Facts,
    level: u32,
}

impl Motion<'_> {
    fn bind(&mut self, var: NVar) {
        self.depth[var] = self.level;
        self.facts.add_type(&self.func.nvars[var].ty);
    }

    fn nested(&mut self, block: Block) -> Block {
        self.facts.enter();
        let block = self.block(block);
        self.facts.leave();
        block
    }

    /// A block, its statements moved as far out of its own loops as they go.
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in block.stmts {
            self.stmt(stmt, &mut stmts);
        }
        Block { stmts, nl: block.nl, lin: block.lin }
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        match &mut stmt.rhs {
            Rhs::Scan(scan) => {
                self.facts.enter();
                self.level += 1;
                let bound = self.func.size_of(scan.bound);
                self.bind(scan.index);
                self.facts.add_range(scan.index, bound);
                for v in scan.carry.iter().map(|c| c.0).chain(scan.slices.iter().map(|s| s.0)) {
                    self.bind(v);
                }
                let mut body = self.block(std::mem::take(&mut scan.body));
                self.level -= 1;
                self.facts.leave();
                let (moved, stay) = self.split(std::mem::take(&mut body.stmts));
                body.stmts = stay;
                scan.body = body;
                out.extend(moved);
            }
            Rhs::Region(region) => {
                let mut inner = self.nested(std::mem::take(&mut region.body));
                // A size that the region gives back, beside arrays of it, has another name outside: it stays.
                let given: Vec<NVar> = inner.nl.iter().filter_map(|a| a.var()).collect();
                let sizes = given.iter().flat_map(|v| self.func.nvars[*v].ty.size_names());
                let kept = sizes.filter(|size| given.contains(size)).collect();
                let (moved, stay) = self.leave_region(std::mem::take(&mut inner.stmts), kept);
                inner.stmts = stay;
                region.body = inner;
                out.extend(moved);
            }
            // Nothing leaves an arm.
            rhs => {
                for nested in rhs.blocks_mut() {
                    *nested = self.nested(std::mem::take(nested));
                }
            }
        }
        learn(&mut self.facts, self.func, &stmt);
        for var in stmt.nl.clone() {
            self.bind(var);
        }
        out.push(stmt);
    }

    /// Statements of the body of a loop at `self.level + 1`: those that move out, and the others.
    fn split(&mut self, stmts: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
        let mut moved = Vec::new();
        let mut stay = Vec::new();
        for mut stmt in stmts {
            if self.is_invariant(&stmt) {
                for var in &stmt.nl {
                    self.depth[*var] = self.level;
                }
                unmark(&mut stmt.rhs);
                moved.push(stmt);
            } else {
                stay.push(stmt);
            }
        }
        (moved, stay)
    }

    fn is_invariant(&self, stmt: &Stmt) -> bool {
        let total = self.may_move(&stmt.rhs);
        let mut outside = total;
        if total {
            stmt.rhs.for_each_own_use(&mut |u| {
                if let Use::N(v) = u {
                    outside &= self.depth[v] <= self.level;
                }
            });
        }
        outside
    }

    /// Whether an operation has no effect and cannot fail where the walk is.
    fn may_move(&self, rhs: &Rhs) -> bool {
        is_plain(rhs) && covered(&self.facts, self.func, rhs)
    }

    /// Splits the body of an `acc` region: leaves without effect that need nothing of what stays, such as the names
    /// `kept`, and cannot fail before the region, move there, where the loops around can move them on.
    fn leave_region(&self, stmts: Vec<Stmt>, kept: HashSet<NVar>) -> (Vec<Stmt>, Vec<Stmt>) {
        let mut local = kept;
        let (mut moved, mut stay) = (Vec::new(), Vec::new());
        for mut stmt in stmts {
            let mut free = self.may_move(&stmt.rhs) && !stmt.nl.iter().any(|v| local.contains(v));
            stmt.rhs.for_each_own_use(&mut |u| {
                if let Use::N(v) = u {
                    free &= !local.contains(&v);
                }
            });
            if free {
                unmark(&mut stmt.rhs);
                moved.push(stmt);
            } else {
                local.extend(stmt.nl.iter().copied());
                stay.push(stmt);
            }
        }
        (moved, stay)
    }
}

/// Adds what a statement that has been run says of the names around it: a check, or a maximum with 0.
pub(crate) fn learn(facts: &mut Facts, func: &Function, stmt: &Stmt) {
    match &stmt.rhs {
        Rhs::Check(check) => match *check {
            Check::Below(a, b) => facts.add_below(func.size_of(a), func.size_of(b)),
            Check::Within { lo, len, size } => {
                facts.add_within(func.size_of(lo), func.size_of(len), func.size_of(size));
            }
            Check::NonNegative(a) => facts.add_non_negative(func.size_of(a)),
            Check::Exact(p, a, b) => facts.add_exact(p, &func.size_of(a), &func.size_of(b)),
            Check::Show(_) => {}
        },
        Rhs::Prim(prim::IMAX, args) => {
            if let ([v], [of, Atom::Lit(Literal::I64(0))]) = (&stmt.nl[..], &args[..]) {
                facts.add_max_zero(*v, func.size_of(*of));
            }
        }
        _ => {}
    }
    if let Some(trips) = stmt.rhs.trips(&stmt.nl) {
        facts.add_non_negative(Size::var(trips));
    }
}

/// Whether an operation has no effect, and cannot fail if its accesses are covered.
pub(crate) fn is_plain(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Prim(..) => rhs.is_total_prim(),
        Rhs::Proj(..) | Rhs::Size(..) | Rhs::Tuple(_) | Rhs::Untuple(_) | Rhs::Index(..) => true,
        _ => false,
    }
}

/// Whether the range rule covers the accesses of an operation by what is known, whatever its marks say.
pub(crate) fn covered(facts: &Facts, func: &Function, rhs: &Rhs) -> bool {
    let Rhs::Index(var, steps) = rhs else { return true };
    let mut slice;
    let mut ty = &func.nvars[*var].ty;
    for step in steps {
        let (Some(size), Some(element)) = (ty.size(), ty.element()) else { return false };
        let covered = match step {
            Step::Index { index, .. } => {
                let covered = facts.covers(&func.size_of(*index), size);
                ty = element;
                covered
            }
            Step::Slice { lo, len, .. } => {
                let (lo, len) = (func.size_of(*lo), func.size_of(*len));
                let covered = facts.covers_slice(&lo, &len, size);
                slice = Type::array(len, element.clone());
                ty = &slice;
                covered
            }
            Step::Field(_) => false,
        };
        if !covered {
            return false;
        }
    }
    true
}

/// Takes the marks from the accesses of a statement: the range rule covers them.
pub(crate) fn unmark(rhs: &mut Rhs) {
    let Rhs::Index(_, steps) = rhs else { return };
    for step in steps {
        if let Step::Index { proved, .. } | Step::Slice { proved, .. } = step {
            *proved = false;
        }
    }
}
