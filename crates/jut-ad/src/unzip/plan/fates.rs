//! What the residual needs, and what becomes of it.
//!
//! Uses are recorded in the order of the residual's text ([`Planner::need`]), at the level that binds the
//! name. When a level is complete, [`Planner::decide_all`] gives its needs their fates.

use super::cut::Again;
use super::{Fate, How, Level, LevelKind, Planner, Reason, Site};
use crate::Policy;
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashSet;

/// When the residual's text first reads a name: its position, and the order of recording.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Need(u32, u32);

impl Need {
    pub fn position(self) -> u32 {
        self.0
    }
}

impl Planner<'_, '_> {
    /// The next position in the residual's text.
    pub fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// The residual reads `v`, at the given position of its text.
    pub fn need(&mut self, v: NVar, position: u32) {
        let Some(v) = self.plan.same.nvar(v) else { return };
        let need = self.needs[v];
        if need.is_none_or(|old| position < old.position()) {
            let order = self.needs_recorded;
            self.needs_recorded += 1;
            self.needs[v] = Some(Need(position, order));
            self.plan.readers[v] = self.reader;
        }
        if need.is_none()
            && let Some(level) = self.open.get_mut(self.plan.sites[v].level)
        {
            level.needs.push(v);
        }
    }

    /// The head of a level reads a name from further out, for the sake of what it knows to read it.
    pub fn need_for(&mut self, v: NVar, head: u32) {
        self.reader = self.plan.readers[v];
        self.need(v, head);
    }

    pub fn need_atom(&mut self, atom: Atom, position: u32) {
        if let Atom::Var(v) = atom {
            self.need(v, position);
        }
    }

    /// The residual mentions a type.
    pub fn need_sizes(&mut self, ty: &Type, position: u32) {
        if matches!(ty, Type::Array(..) | Type::Tuple(_)) {
            for name in size_names(&self.plan.same.ty(self.func, ty)) {
                self.need(name, position);
            }
        }
    }

    /// What an operation reads itself.
    pub fn need_operands(&mut self, rhs: &Rhs, position: u32) {
        let mut names = Vec::new();
        rhs.for_each_own_use(&mut |name| {
            if let Use::N(v) = name {
                names.push(v);
            }
        });
        names.into_iter().for_each(|v| self.need(v, position));
    }

    /// Decides about the needs of the innermost level and says its number. `head` is the position of its
    /// head.
    pub fn decide_all(&mut self, head: u32) -> usize {
        let depth = self.depth();
        let (id, kind) = (self.open[depth].id, self.open[depth].kind);
        let mut needs = std::mem::take(&mut self.open[depth].needs);
        needs.sort_by_key(|v| self.needs[*v]);
        let chosen = match self.plan.policy {
            Policy::StoreAll => HashSet::new(),
            Policy::Default | Policy::Minimal => self.minimum_cut(&needs),
        };
        let mut level = std::mem::take(&mut self.plan.levels[id]);
        let mut again = Vec::new();
        self.decide(needs, head, &chosen, &mut level, &mut again);

        let mut sizes = Vec::new();
        let mut seen = HashSet::new();
        for w in &level.stored {
            for n in size_names(&self.type_of(*w)) {
                if self.plan.sites[n].level == depth && seen.insert(n) {
                    sizes.push(n);
                    self.is_read_like(n, *w);
                }
            }
        }
        if kind == LevelKind::Accumulator {
            // They go out with the values, before them, and are then known by their outer names.
            for n in &sizes {
                if let How::Stmt { index, .. } = self.plan.sites[*n].how {
                    again.retain(|(k, _)| *k != index);
                }
                let span = self.func.nvars[*n].span;
                self.plan.fates[*n] = Fate::Stored { reason: Reason::Size, span };
            }
            level.stored.retain(|w| !seen.contains(w));
            level.stored.splice(0..0, sizes);
        } else {
            // Those that are not stored are computed or sliced again.
            sizes.retain(|n| match self.plan.sites[*n].how {
                How::Slice { .. } => true,
                How::Stmt { index, available } => {
                    available || self.is_repeated(&self.open[depth].stmts[index])
                }
                _ => false,
            });
            self.decide(sizes, head, &chosen, &mut level, &mut again);
        }

        again.sort_unstable();
        for (index, read) in again {
            let mut stmt = Stmt::clone(&self.open[depth].stmts[index]);
            if let Some(cell) = read.and_then(|v| self.cell(depth, v)) {
                stmt.rhs = cell;
            }
            stmt.loc = stmt.loc.by(Origin::Unzip);
            if let Rhs::Cast { proved, .. } | Rhs::Open { proved, .. } = &mut stmt.rhs {
                *proved = true;
            }
            if stmt.nl.iter().any(|v| self.plan.fates[*v] == Fate::After) {
                let position = level.after.len() + 1;
                level.after_positions.extend(stmt.nl.iter().map(|v| (*v, position)));
                level.after.push(stmt);
            } else {
                level.before.push(stmt);
            }
        }
        self.plan.levels[id] = level;
        id
    }

    fn decide(
        &mut self,
        needs: Vec<NVar>,
        head: u32,
        chosen: &HashSet<Again>,
        plan: &mut Level,
        again: &mut Vec<(usize, Option<NVar>)>,
    ) {
        let level = self.depth();
        let mut work = needs;
        work.reverse();
        while let Some(v) = work.pop() {
            let site = self.plan.sites[v];
            if site.level != level {
                self.need_for(v, head);
                continue;
            }
            if self.plan.fates[v] != Fate::NotNeeded {
                continue;
            }
            self.plan.fates[v] = match site.how {
                How::Parameter | How::Result | How::Index => Fate::Index,
                How::Slice { array } => {
                    plan.slices.push((v, array));
                    Fate::Sliced
                }
                How::Stmt { index, available }
                    if available
                        || chosen.contains(&Again::Stmt(index))
                        || chosen.contains(&Again::Cell(v))
                        || self.is_repeated(&self.open[level].stmts[index])
                        || self.is_wished(level, &self.open[level].stmts[index]) =>
                {
                    let fate = if available { Fate::Before } else { Fate::After };
                    let stmt = self.open[level].stmts[index].clone();
                    // The statement may bind several names, and is computed again once.
                    stmt.nl.iter().for_each(|other| self.plan.fates[*other] = fate);
                    let read = chosen.contains(&Again::Cell(v)).then_some(v);
                    again.push((index, read));
                    let cell = read.and_then(|v| self.cell(level, v));
                    let operands = work.len();
                    cell.as_ref().unwrap_or(&stmt.rhs).for_each_own_use(&mut |name| {
                        if let Use::N(operand) = name
                            && let Some(operand) = self.plan.same.nvar(operand)
                        {
                            self.is_read_like(operand, v);
                            work.push(operand);
                        }
                    });
                    work[operands..].reverse();
                    fate
                }
                How::Given | How::Stmt { .. } => {
                    plan.stored.push(v);
                    self.stored(v)
                }
            };
        }
    }

    /// What is read for the sake of another value is read by what reads that one.
    pub fn is_read_like(&mut self, v: NVar, other: NVar) {
        let reader = self.plan.readers[v].or(self.plan.readers[other]);
        self.plan.readers[v] = reader;
    }

    /// The fate of a value that is stored: why.
    fn stored(&self, v: NVar) -> Fate {
        let Site { level, how } = self.plan.sites[v];
        let How::Stmt { index, .. } = how else {
            let carried = self.open[level].kind == LevelKind::Loop;
            let reason = if carried { Reason::Carry } else { Reason::Field };
            return Fate::Stored { reason, span: self.func.nvars[v].span };
        };
        let stmt = &self.open[level].stmts[index];
        let reason = match &stmt.rhs {
            _ if self.is_kept(stmt) => Reason::Policy,
            Rhs::Prim(prim, _) if !prim.row().cheap => Reason::Expensive(prim.row().text),
            Rhs::Structured(op, ..) => Reason::Expensive(op.row().name),
            Rhs::Scan(_) => Reason::Loop,
            Rhs::Region(_) => Reason::Sum,
            Rhs::Case(_) => Reason::Branch,
            Rhs::Call(call) => Reason::Call(call.func),
            Rhs::Tuple(_) | Rhs::Con(..) | Rhs::ArrayLit(_) => Reason::Built,
            _ => Reason::NoGain,
        };
        Fate::Stored { reason, span: stmt.loc.span }
    }
}

/// The names in a type, outermost size first, each once.
pub(in crate::unzip) fn size_names(ty: &Type) -> Vec<NVar> {
    let mut names = Vec::new();
    ty.for_each_size(&mut |size| {
        for name in size.names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    });
    names
}
