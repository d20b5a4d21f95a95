//! Loops and branches that take the batch inside.
//!
//! ```text
//! (h1, hs) = scan up (t < n) carry (h = h0)      (h1*, g) = scan up (t < n) carry (h* = h0*)
//!   slice (e <- xs) { .. matmul(h, w) .. }         { .. e = xs*[k, t], in a loop over the batch .. }
//!                                                hs* = g with its first two dimensions exchanged, by element
//! ```
//!
//! They do if there is something in them that is better done for the whole batch ([`Batcher::promises`]). What differs of the
//! carries is then carried as batches, and what is stacked is a batch in each iteration.
//!
//! *Requires*: a trip count or a condition that is held; nothing that can fail, since the first iteration of all elements comes before the
//! second of any. *Ensures*: the bits of each element. *Cost*: a loop is read once for each loop around it, and for each carry that
//! another one makes differ.

use super::batch_of_called;
use super::block::{Batcher, Part};
use super::whole::statement;
use crate::Mask;
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashSet;

impl Batcher<'_> {
    /// A loop that takes the batch inside.
    pub(super) fn scan(
        &mut self,
        scan: Scan,
        loc: Loc,
        nl: &[NVar],
        part: &mut Part,
        to_close: Option<usize>,
    ) {
        let bound = scan.bound;
        let Scan { carry, slices, mut body, .. } = scan;
        let differ = self.carries_that_differ(&carry, &slices, &body);
        let starts = carry.iter().zip(&differ).filter(|(_, differs)| **differs);
        let same = starts.map(|((_, start), _)| *start).filter(|start| !self.differs(*start));
        let same: Vec<Atom> = same.collect();
        let mut repeated = self.close_for(part, to_close, &same).into_iter();
        let carry: Vec<(NVar, Atom)> = carry
            .into_iter()
            .zip(&differ)
            .map(|((v, start), differs)| match (differs, self.differs(start)) {
                (false, _) => (v, start),
                (true, true) => (self.new_whole(v), self.operand(start)),
                (true, false) => (self.new_whole(v), repeated.next().map_or(start, Atom::Var)),
            })
            .collect();
        // An element of what differs is read by its index, in the loops over the batch.
        let (read, slices): (Vec<_>, Vec<_>) =
            slices.into_iter().partition(|(_, array)| self.varies[*array]);
        let read = read.into_iter().map(|(element, array)| {
            let at = Step::Index { index: Atom::Var(scan.index), proved: true };
            statement(element, Rhs::Index(array, vec![at]), self.loc)
        });
        body.stmts.splice(0..0, read.collect::<Vec<_>>());
        let results = body.nl.clone();
        let body = self.block(body, &|k| differ.get(k).copied().unwrap_or(false));
        let mut stacked = Vec::new();
        let mut bind = |this: &mut Self, k: usize, v: NVar| match (differ.get(k), results.get(k)) {
            (Some(true), _) => this.new_whole(v),
            (None, Some(result)) if this.differs(*result) => {
                let VarData { name, ty, .. } = this.b.func.nvars[v].clone();
                let (Some(size), Some(element)) = (ty.size(), ty.element()) else { return v };
                let ty = Type::array(size.clone(), this.batch_of(element.clone()));
                let by_trips = this.b.nvar(&name, ty, this.loc.span);
                stacked.push((v, by_trips, element.clone()));
                by_trips
            }
            _ => v,
        };
        let nl = nl.iter().enumerate().map(|(k, v)| bind(self, k, *v)).collect();
        let scan = Scan { carry, slices, ..Scan::new(scan.dir, scan.index, bound, body) };
        self.push(part, nl, Rhs::Scan(Box::new(scan)), loc);
        for (v, by_trips, element) in stacked {
            self.varies[v] = true;
            part.open.push(self.exchanged(v, by_trips, element, bound));
        }
    }

    /// What a loop has stacked for one element of the batch.
    fn exchanged(&mut self, v: NVar, by_trips: NVar, element: Type, bound: Atom) -> Stmt {
        let t = self.b.nvar("t", Type::I64, self.loc.span);
        let cell = self.b.nvar("y", element, self.loc.span);
        let at = |v: NVar| Step::Index { index: Atom::Var(v), proved: true };
        let read = Rhs::Index(by_trips, vec![at(t), at(self.index)]);
        let stmts = vec![statement(cell, read, self.loc)];
        let body = Block { stmts, nl: vec![Atom::Var(cell)], lin: Vec::new() };
        let rhs = Rhs::Scan(Box::new(Scan::new(Dir::Par, t, bound, body)));
        statement(v, rhs, self.loc)
    }

    /// Which carries differ from element to element: the least that agrees with itself.
    fn carries_that_differ(
        &self,
        carry: &[(NVar, Atom)],
        slices: &[(NVar, NVar)],
        body: &Block,
    ) -> Vec<bool> {
        let mut differ: Vec<bool> = carry.iter().map(|(_, start)| self.differs(*start)).collect();
        loop {
            let carried = carry.iter().zip(&differ).filter(|(_, differs)| **differs);
            let mut inside: HashSet<NVar> = carried.map(|((v, _), _)| *v).collect();
            inside.extend(slices.iter().filter(|(_, of)| self.varies[*of]).map(|(v, _)| *v));
            for stmt in &body.stmts {
                if self.reads(stmt, &inside) {
                    inside.extend(&stmt.nl);
                }
            }
            let reached =
                |atom: &Atom| atom.var().is_some_and(|v| inside.contains(&v) || self.varies[v]);
            let next = differ.iter().zip(&body.nl).map(|(differs, atom)| *differs || reached(atom));
            let next: Vec<bool> = next.collect();
            if next == differ {
                return differ;
            }
            differ = next;
        }
    }

    /// Whether a statement reads what differs, or one of these names.
    fn reads(&self, stmt: &Stmt, inside: &HashSet<NVar>) -> bool {
        let mut found = false;
        stmt.for_each_use(&self.b.func, &mut |name| {
            found |= matches!(name, Use::N(v) if self.varies[v] || inside.contains(&v));
        });
        found
    }

    /// Whether something in a statement is better done for the whole batch, and the statement can take the batch
    /// inside; `inside` are names in it that differ.
    pub(super) fn promises(&mut self, stmt: &Stmt, inside: &mut HashSet<NVar>) -> bool {
        let differs = |this: &Self, atom: &Atom, inside: &HashSet<NVar>| {
            atom.var().is_some_and(|v| this.varies[v] || inside.contains(&v))
        };
        match &stmt.rhs {
            Rhs::Structured(op, args, sizes) if sizes.is_empty() => {
                let mapped: Vec<bool> = args.iter().map(|a| differs(self, a, inside)).collect();
                op.batched(&mapped).is_some()
            }
            Rhs::Call(call) => {
                let mapped = call.args.iter().map(|a| differs(self, a, inside)).collect();
                batch_of_called(self.d, self.known, call.func, &Mask(mapped)).is_some()
            }
            Rhs::Scan(scan) => {
                let carried = scan.carry.iter().map(|(v, _)| v);
                if scan.dir == Dir::While
                    || differs(self, &scan.bound, inside)
                    || !self.is_local(stmt)
                    || !stmt.nl.iter().chain(carried).all(|v| self.is_of_one_size(*v))
                {
                    return false;
                }
                let of_array = |v: &NVar| differs(self, &Atom::Var(*v), inside);
                let slices: Vec<NVar> =
                    scan.slices.iter().filter(|(_, of)| of_array(of)).map(|(v, _)| *v).collect();
                inside.extend(slices);
                let differ = self.carries_that_differ(&scan.carry, &scan.slices, &scan.body);
                let carried = scan.carry.iter().zip(differ).filter(|(_, differs)| *differs);
                inside.extend(carried.map(|((v, _), _)| *v));
                self.block_promises(&scan.body, inside)
            }
            Rhs::Case(case) => {
                !differs(self, &case.scrutinee, inside)
                    && self.is_local(stmt)
                    && stmt.nl.iter().all(|v| self.is_of_one_size(*v) && !self.sized[*v])
                    && case.arms.iter().any(|arm| self.block_promises(&arm.body, inside))
            }
            _ => false,
        }
    }

    fn block_promises(&mut self, block: &Block, inside: &mut HashSet<NVar>) -> bool {
        for stmt in &block.stmts {
            let reads = self.reads(stmt, inside);
            if reads && stmt.lin.is_empty() && !stmt.annotated && self.promises(stmt, inside) {
                return true;
            }
            if reads {
                inside.extend(&stmt.nl);
            }
        }
        false
    }

    /// A branch on what is the same for all elements.
    pub(super) fn case(
        &mut self,
        case: Case,
        loc: Loc,
        nl: &[NVar],
        part: &mut Part,
        to_close: Option<usize>,
    ) {
        self.close_for(part, to_close, &[]);
        let arms = case.arms.into_iter().map(|arm| {
            let body = self.block(arm.body, &|_| true);
            Arm { body, ..arm }
        });
        let arms = arms.collect();
        let nl = nl.iter().map(|v| self.new_whole(*v)).collect();
        self.push(part, nl, Rhs::Case(Box::new(Case { scrutinee: case.scrutinee, arms })), loc);
    }

    /// Whether nothing in a statement is linear, and it adds to nothing outside of it.
    fn is_local(&self, stmt: &Stmt) -> bool {
        let mut caps = HashSet::new();
        let mut local = true;
        let mut binder = |name: Use| match name {
            Use::N(_) => {}
            Use::L(_) => local = false,
            Use::C(c) => {
                caps.insert(c);
            }
        };
        stmt.rhs.for_each_inner_binder(&mut binder);
        stmt.rhs.blocks().into_iter().for_each(|block| block.for_each_binder(&mut binder));
        stmt.for_each_use(&self.b.func, &mut |name| match name {
            Use::N(_) => {}
            Use::L(_) => local = false,
            Use::C(c) => local &= caps.contains(&c),
        });
        local
    }
}
