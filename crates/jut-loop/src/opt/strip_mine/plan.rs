//! In which stage each statement of a loop that is taken apart runs, and which number goes round which.
//!
//! A call of a mathematical function ends a stage: for a whole block its arguments come before it, and what
//! needs its result behind it. What a loop carries goes round the last stage. If a call needs it, though, and it needs no
//! result of that call, it goes round an earlier one, the first that has all of it:
//!
//! ```text
//! (r, l) = for up (i in 0 .. n)          (r, l) = for up (k in 0 .. blocks) carry (r_2 = 0.0, l_2 = 0.0) {
//!     carry (r_1 = 0.0, l_1 = 0.0) {       .. start, end, count of the block ..
//!   a = x[i]                               (r_3) = for up (i in start .. end) carry (r_1 = r_2) {
//!   r_4 = r_1 + a                            a = x[i]
//!   b = log(r_4)                             r_4 = r_1 + a
//!   l_3 = l_1 + b                            buffer[i] = r_4
//!   (r_4, l_3)                               (r_4)
//! }                                        }
//!                                          kernel log(buffer, count)
//!                                          (l_4) = for up (i in start .. end) carry (l_1 = l_2) {
//!                                            b = buffer[i]
//!                                            l_3 = l_1 + b
//!                                            (l_3)
//!                                          }
//!                                          (r_3, l_4)
//!                                        }
//! ```
//!
//! So it is with the state of a recursion whose logarithms are summed up, as likelihoods are. Where that state takes a division, which
//! later stages need too, it stays in the last stage.

use std::collections::{HashMap, HashSet};

use jut_ir::prim::Lowering;

use super::{BUFFERS, LARGEST, Source, Walk, reads, value_of};
use crate::analysis::effects::{Access, accesses};
use crate::form::{Atom, Block, Kind, Order, Stmt, Value};

/// When a statement of the body runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// In every stage that needs what it computes.
    Again,
    /// In one stage: that of its operands.
    Once,
    /// For all iterations at once, after the stage of its operand.
    Call,
    /// In the last stage.
    Last,
}

/// The stage of what can only be computed in the last one.
pub(super) const LATE: usize = usize::MAX;

/// What is to be done with the statements of a body.
pub(super) struct Plan {
    pub work: Vec<Work>,
    /// The stage of the operands, for each statement.
    pub stages: Vec<usize>,
    /// The last stage.
    pub last: usize,
    /// The stage that each carried number goes round, [`LATE`] for the last one.
    pub carried: Vec<usize>,
    /// The stage from which on the next one of each is known.
    next: Vec<usize>,
    /// Whether the order of iterations counts in stages before the last one too: something fails there, or stores.
    pub ordered: bool,
}

impl Plan {
    /// How many functions are called for all iterations of a block at once.
    fn calls(&self) -> usize {
        self.work.iter().filter(|work| **work == Work::Call).count()
    }

    /// Which of the numbers that a loop carries a call needs, itself or for another one that it needs.
    fn needed(&self, source: &Source<'_>) -> Vec<bool> {
        let body = source.body;
        let mut wanted: HashSet<Value> = HashSet::new();
        let mut needed = vec![false; source.carried.len()];
        loop {
            for (stmt, work) in body.stmts.iter().zip(&self.work).rev() {
                if *work == Work::Call || stmt.bound().iter().any(|v| wanted.contains(v)) {
                    reads(stmt, &mut |v| {
                        wanted.insert(v);
                    });
                }
            }
            let mut more = false;
            for (k, value) in source.carried.iter().enumerate() {
                if !needed[k] && wanted.contains(value) {
                    (needed[k], more) = (true, true);
                    wanted.extend(value_of(&body.results[k]));
                }
            }
            if !more {
                return needed;
            }
        }
    }
}

impl Walk<'_> {
    /// The ways to take a loop apart, the best one first.
    pub(super) fn plans(&self, source: &Source<'_>) -> Vec<Plan> {
        let body = source.body;
        let is_buffer = |v: &Value| matches!(self.values[*v].kind, Kind::Buffer(_));
        if !self.how.calls(body, true)
            || size(body) > LARGEST
            || source.carried.iter().any(is_buffer)
        {
            return Vec::new();
        }
        let late = self.plan(source, vec![LATE; source.carried.len()]);
        let calls = late.as_ref().map_or(0, Plan::calls);
        let early = match source.sums || source.carried.is_empty() {
            true => None,
            false => self.early(source),
        };
        early.filter(|early| early.calls() > calls).into_iter().chain(late).collect()
    }

    /// With what calls need carried in early stages.
    fn early(&self, source: &Source<'_>) -> Option<Plan> {
        let mut carried = vec![0; source.carried.len()];
        loop {
            let plan = self.plan(source, carried.clone())?;
            let needed = plan.needed(source);
            let mut settled = true;
            for (k, stage) in carried.iter_mut().enumerate().filter(|(_, stage)| **stage != LATE) {
                let known = if needed[k] { plan.next[k] } else { LATE };
                if known > *stage {
                    // One that needs a result of a call that needs it would go on for ever.
                    *stage = if known > BUFFERS { LATE } else { known };
                    settled = false;
                }
            }
            if settled {
                return Some(plan);
            }
        }
    }

    /// With the stages that carried numbers go round.
    fn plan(&self, source: &Source<'_>, carried: Vec<usize>) -> Option<Plan> {
        let body = source.body;
        let touched: Vec<_> = body.stmts.iter().map(|stmt| self.touched(stmt)).collect();
        let alone = |(k, stmt): (usize, &Stmt)| {
            stmt.is_loop() && !self.carries_buffers(stmt) && self.alone(&touched, k)
        };
        let alone: Vec<bool> = body.stmts.iter().enumerate().map(alone).collect();
        let mut stored = Vec::new();
        if source.order != Order::Par {
            for (stmt, _) in body.stmts.iter().zip(&alone).filter(|(_, alone)| !**alone) {
                self.stored_by(stmt, &mut stored);
            }
        }
        let mut known: HashMap<Value, usize> = HashMap::new();
        known.insert(source.index, 0);
        known.extend(source.carried.iter().copied().zip(carried.iter().copied()));
        // What goes round an early stage is kept there, not computed again.
        let kept = |(next, stage): (&Atom, &usize)| match stage {
            &LATE => None,
            _ => value_of(next),
        };
        let kept: HashSet<Value> = body.results.iter().zip(&carried).filter_map(kept).collect();
        let (mut work, mut stages) = (Vec::new(), Vec::new());
        let (mut last, mut ordered) = (0, false);
        for (stmt, alone) in body.stmts.iter().zip(alone) {
            let mut stage = 0;
            reads(stmt, &mut |v| stage = stage.max(known.get(&v).copied().unwrap_or(0)));
            let mut how = self.work(stmt, &stored)?;
            if alone && how == Work::Last {
                (how, ordered) = (Work::Once, true);
            }
            if how == Work::Again && stmt.bound().iter().any(|v| kept.contains(v)) {
                how = Work::Once;
            }
            if stage == LATE && how != Work::Again {
                how = Work::Last;
            }
            if how == Work::Last {
                stage = LATE;
                if !alone {
                    self.stored_by(stmt, &mut stored);
                }
            }
            if fails(stmt) {
                ordered = true;
                if stage != 0 {
                    return None;
                }
            }
            let mut result = stage;
            if let (Work::Call, Stmt::Prim { args, .. }) = (how, stmt) {
                // What does not depend on the iteration is one call for all.
                let varies = |a: &Atom| matches!(a, Atom::Value(v) if known.contains_key(v));
                if args.iter().any(varies) {
                    result = stage + 1;
                    last = last.max(result);
                } else {
                    how = Work::Once;
                }
            }
            for v in stmt.bound() {
                known.insert(*v, result);
            }
            work.push(how);
            stages.push(stage);
        }
        let known = |next: &Atom| value_of(next).and_then(|v| known.get(&v).copied()).unwrap_or(0);
        let next = body.results.iter().map(known).collect();
        (last > 0).then_some(Plan { work, stages, last, carried, next, ordered })
    }

    /// When a statement can run, or `None` if the loop must stay as it is. `stored` is what earlier
    /// statements, or other iterations, store to.
    fn work(&self, stmt: &Stmt, stored: &[Value]) -> Option<Work> {
        Some(match stmt {
            Stmt::Prim { prim, .. } => match prim.row().lowering {
                _ if self.how.is_of_many(*prim) => Work::Call,
                Lowering::Runtime(_) => Work::Once,
                Lowering::Opcode(_) => Work::Again,
            },
            Stmt::Copy { .. } | Stmt::Offset { .. } => Work::Again,
            Stmt::Load { buffer, .. } => match self.may_change(stored, *buffer) {
                true => Work::Last,
                false => Work::Again,
            },
            Stmt::Check { .. } => Work::Once,
            Stmt::Store { .. } => Work::Last,
            Stmt::If { .. } | Stmt::For(_) | Stmt::Lanes(_) => {
                let mut all = Work::Again;
                if !matches!(stmt, Stmt::If { .. }) {
                    all = Work::Once;
                }
                for inner in stmt.blocks() {
                    for stmt in &inner.stmts {
                        match self.work_inside(stmt, stored)? {
                            Work::Last => all = Work::Last,
                            Work::Once | Work::Call if all == Work::Again => all = Work::Once,
                            _ => {}
                        }
                    }
                }
                all
            }
            Stmt::Previous { .. }
            | Stmt::Alloc { .. }
            | Stmt::Mark { .. }
            | Stmt::Release { .. }
            | Stmt::Fill { .. }
            | Stmt::CopyCells { .. }
            | Stmt::Call { .. }
            | Stmt::Poll { .. }
            | Stmt::Kernel { .. } => return None,
        })
    }

    /// The same for statements of inner blocks, among them loops that have been taken apart.
    fn work_inside(&self, stmt: &Stmt, stored: &[Value]) -> Option<Work> {
        match stmt {
            Stmt::Store { buffer, .. } if self.own.contains(buffer) => Some(Work::Once),
            Stmt::Kernel { .. }
                if self.touched(stmt).iter().all(|(buffer, _)| self.own.contains(buffer)) =>
            {
                Some(Work::Once)
            }
            _ => self.work(stmt, stored),
        }
    }

    /// The buffers that a statement touches, in its blocks too.
    fn touched(&self, stmt: &Stmt) -> Vec<(Value, Access)> {
        let mut found = Vec::new();
        let is_buffer = |v: Value| matches!(self.values[v].kind, Kind::Buffer(_));
        accesses(stmt, is_buffer, &mut |buffer, how| found.push((buffer, how)));
        for inner in stmt.blocks().into_iter().flat_map(|block| &block.stmts) {
            found.extend(self.touched(inner));
        }
        found
    }

    /// Whether a loop, or one in it, carries buffers: which these are differs between iterations.
    fn carries_buffers(&self, stmt: &Stmt) -> bool {
        let is_buffer = |v: &Value| matches!(self.values[*v].kind, Kind::Buffer(_));
        stmt.any(&mut |stmt| stmt.is_loop() && stmt.bound().iter().any(is_buffer))
    }

    /// Whether statement k stores where no other statement of the body looks or stores, and looks where none stores: then
    /// it may run in an early stage, as iterations stay in order.
    fn alone(&self, touched: &[Vec<(Value, Access)>], k: usize) -> bool {
        let own = &touched[k];
        let others = touched.iter().enumerate().filter(|(other, _)| *other != k);
        own.iter().any(|(_, how)| *how == Access::Write)
            && others.flat_map(|(_, touched)| touched).all(|(other, other_how)| {
                own.iter().all(|(buffer, how)| {
                    (*how, *other_how) == (Access::Read, Access::Read)
                        || !self.known.roots.may_overlap(*buffer, *other)
                })
            })
    }

    fn may_change(&self, stored: &[Value], read: Value) -> bool {
        !self.own.contains(&read) && stored.iter().any(|v| self.known.roots.may_overlap(*v, read))
    }

    /// The buffers that a block stores to, but for our own.
    fn stored(&self, block: &Block, found: &mut Vec<Value>) {
        block.stmts.iter().for_each(|stmt| self.stored_by(stmt, found));
    }

    fn stored_by(&self, stmt: &Stmt, found: &mut Vec<Value>) {
        if let Stmt::Store { buffer, .. } = stmt
            && !self.own.contains(buffer)
        {
            found.push(*buffer);
        }
        stmt.blocks().into_iter().for_each(|inner| self.stored(inner, found));
    }
}

/// Whether a statement can fail.
fn fails(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Check { .. })
        || stmt.blocks().into_iter().any(|inner| inner.stmts.iter().any(fails))
}

/// The number of statements, those of inner blocks included.
fn size(block: &Block) -> usize {
    let one = |stmt: &Stmt| 1 + stmt.blocks().into_iter().map(size).sum::<usize>();
    block.stmts.iter().map(one).sum()
}
