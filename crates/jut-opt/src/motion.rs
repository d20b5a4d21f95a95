//! Loop-invariant code motion.
//!
//! A statement of a loop body whose operands are all bound outside moves before the loop. Only
//! total operations move, because a loop may run zero times (decisions A5): primitives that cannot
//! fail, sizes, fields, tuples, and accesses that the range rule covers outside the loop.
//! Statements do not move out of branches: the branch not taken does no work.
//!
//! Requires: a purely non-linear function. Ensures: same results, same errors; W is not raised in
//! loops that run at least once. Cost: every statement moves at most once per level of nesting.

use crate::unroll::has_loop;
use jut_ir::cover::Facts;
use jut_ir::entity::{NVar, SecondaryMap};
use jut_ir::ir::*;
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
            Rhs::Check(check) => match *check {
                Check::Below(a, b) => {
                    let (a, b) = (self.func.size_of(a), self.func.size_of(b));
                    self.facts.add_below(a, b);
                }
                Check::Within { lo, len, size } => {
                    let f = &self.func;
                    let (lo, len, size) = (f.size_of(lo), f.size_of(len), f.size_of(size));
                    self.facts.add_within(lo, len, size);
                }
                Check::NonNegative(a) => {
                    let a = self.func.size_of(a);
                    self.facts.add_non_negative(a);
                }
                Check::Exact(p, a, b) => {
                    let (a, b) = (self.func.size_of(a), self.func.size_of(b));
                    self.facts.add_exact(p, &a, &b);
                }
            },
            Rhs::AccRegion { body, .. } => {
                let mut inner = self.nested(std::mem::take(&mut **body));
                let (moved, stay) = leave_region(std::mem::take(&mut inner.stmts));
                inner.stmts = stay;
                **body = inner;
                out.extend(moved);
            }
            // Nothing leaves an arm.
            rhs => {
                for nested in rhs.blocks_mut() {
                    *nested = self.nested(std::mem::take(nested));
                }
            }
        }
        for var in stmt.nl.clone() {
            self.bind(var);
        }
        out.push(stmt);
    }

    /// Statements of the body of a loop at `self.level + 1`: those that move out, and the others.
    fn split(&mut self, stmts: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
        let mut moved = Vec::new();
        let mut stay = Vec::new();
        for stmt in stmts {
            if self.is_invariant(&stmt) {
                for var in &stmt.nl {
                    self.depth[*var] = self.level;
                }
                moved.push(stmt);
            } else {
                stay.push(stmt);
            }
        }
        (moved, stay)
    }

    fn is_invariant(&self, stmt: &Stmt) -> bool {
        let total = match &stmt.rhs {
            Rhs::Index(v, steps) => self.covered(*v, steps),
            rhs => is_total(rhs),
        };
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

    fn covered(&self, var: NVar, steps: &[Step]) -> bool {
        let mut ty = &self.func.nvars[var].ty;
        steps.iter().all(|step| {
            let (Some(size), Some(element)) = (ty.size(), ty.element()) else { return false };
            ty = element;
            match step {
                Step::Index { index, .. } => self.facts.covers(&self.func.size_of(*index), size),
                Step::Slice { .. } | Step::Field(_) => false,
            }
        })
    }
}

/// Whether an operation has no effect and cannot fail, whatever its operands. (An access is looked
/// at separately.)
fn is_total(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Prim(p, _) => !p.can_fail(),
        Rhs::Proj(..) | Rhs::Size(..) | Rhs::Tuple(_) | Rhs::Untuple(_) => true,
        _ => false,
    }
}

/// Splits the body of an `acc` region: leaves without effect that need nothing of what stays move
/// before the region, where the loops around can move them on.
fn leave_region(stmts: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut local = HashSet::new();
    stmts.into_iter().partition(|stmt| {
        let mut free = is_total(&stmt.rhs) || matches!(stmt.rhs, Rhs::Index(..));
        stmt.rhs.for_each_own_use(&mut |u| {
            if let Use::N(v) = u {
                free &= !local.contains(&v);
            }
        });
        if !free {
            local.extend(stmt.nl.iter().copied());
        }
        free
    })
}
