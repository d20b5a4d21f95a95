//! Where names are bound: the levels of a function, and what E computes in each.

use super::common::Key;
use super::{Home, Level, LevelKind, Planner};
use crate::Policy;
use jut_ir::visit::Use;
use jut_ir::*;
use std::borrow::Cow;

/// A level that is not complete.
#[derive(Debug)]
pub(in crate::unzip) struct OpenLevel<'a> {
    pub kind: LevelKind,
    /// Its number in the plan.
    pub id: usize,
    /// Whether its facts are still known.
    has_facts: bool,
    /// How many maxima were known when it was opened.
    maxima: usize,
    /// What an accumulator gives back beside its total.
    pub gives: Vec<NVar>,
    /// E so far.
    pub stmts: Vec<Cow<'a, Stmt>>,
    /// Names bound here that the residual reads, each once.
    pub needs: Vec<NVar>,
    /// The expressions that it is the first to compute.
    pub computed: Vec<Key>,
}

/// Where a name is bound: the number of its level, counted from outside, and how.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::unzip) struct Site {
    pub level: usize,
    pub how: How,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::unzip) enum How {
    /// A parameter of the function.
    #[default]
    Parameter,
    /// A result size, a parameter of the residual, wherever the function binds it.
    Result,
    /// A loop index.
    Index,
    /// A slice of an array from outside the loop.
    Slice { array: NVar },
    /// A carry, or a field of an arm: only E has it.
    Given,
    /// By the statement of E with this number.
    Stmt { index: usize, available: bool },
}

impl<'a> Planner<'a, '_> {
    /// The number of the innermost level.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Opens a level.
    pub fn enter(&mut self, kind: LevelKind) {
        // Sizes may leave an accumulator, with what is known about them.
        let has_facts = kind != LevelKind::Accumulator;
        if has_facts {
            self.facts.enter();
        }
        let (id, maxima) = (self.plan.levels.len(), self.maxima.len());
        self.plan.levels.push(Level { depth: self.open.len(), ..Level::default() });
        let (gives, stmts, needs, computed) = Default::default();
        self.open.push(OpenLevel { kind, id, has_facts, maxima, gives, stmts, needs, computed });
    }

    /// Forgets what only the innermost level knows about sizes.
    pub fn forget(&mut self) {
        let depth = self.depth();
        if std::mem::take(&mut self.open[depth].has_facts) {
            self.facts.leave();
            // What has left the level is still known.
            for (v, of) in self.maxima.split_off(self.open[depth].maxima) {
                if self.plan.sites[v].level < depth {
                    self.facts.add_max_zero(v, of.clone());
                    self.maxima.push((v, of));
                }
            }
        }
    }

    /// Closes the innermost level.
    pub fn leave(&mut self) {
        self.forget();
        for key in self.open.pop().into_iter().flat_map(|level| level.computed) {
            self.computed.remove(&key);
        }
    }

    /// Says where a name is bound. Result sizes are known from the start.
    pub fn bind(&mut self, v: NVar, level: usize, how: How) {
        if self.plan.sites[v].how != How::Result {
            self.plan.sites[v] = Site { level, how };
        }
    }

    /// The size that an operand stands for, in normal form.
    pub fn size_of(&self, atom: Atom) -> Size {
        match self.plan.same.atom(atom) {
            Atom::Var(v) => match &self.func.nvars[v].def {
                Some(def) => self.plan.same.size(self.func, def),
                None => Size::var(v),
            },
            literal => self.func.size_of(literal),
        }
    }

    /// The type of a name, region results replaced.
    pub fn type_of(&self, v: NVar) -> Type {
        self.plan.same.ty(self.func, &self.func.nvars[v].ty)
    }

    /// An array in scope says that its dimensions are not negative.
    pub fn learn_dimensions(&mut self, v: NVar) {
        if matches!(self.func.nvars[v].ty, Type::Array(..) | Type::Tuple(_)) {
            self.facts.add_type(&self.type_of(v));
        }
    }

    /// Adds a non-linear statement to E: of this level, or further out where it may leave.
    pub fn push(&mut self, stmt: Cow<'a, Stmt>) {
        let own = self.plan.policy == Policy::StoreAll || self.is_kept(&stmt);
        let key = if own { None } else { self.key(&stmt) };
        if let (Some(key), [v]) = (&key, &stmt.nl[..])
            && self.is_computed(key, *v)
        {
            self.plan.homes[*v] = Home::Nowhere;
            return;
        }
        let mut level = self.depth();
        while self.may_leave(level, &stmt) {
            level -= 1;
            stmt.nl.iter().for_each(|v| self.plan.homes[*v] = Home::Outside(level));
        }
        if let (Some(key), [v]) = (key, &stmt.nl[..]) {
            self.computed.insert(key.clone(), *v);
            self.open[level].computed.push(key);
        }
        let available = self.is_cheap(level, &stmt) && self.reads_only_available(level, &stmt);
        let index = self.open[level].stmts.len();
        for v in &stmt.nl {
            self.bind(*v, level, How::Stmt { index, available });
            self.learn_dimensions(*v);
        }
        self.learn(&stmt);
        self.settle(&stmt);
        self.open[level].stmts.push(stmt);
    }

    /// Remembers that what a statement reads from an array that a loop changes, or writes to it, is there in the end
    /// ([`super::settled`]). What is written is read again where it is made, if the indices are known there.
    fn settle(&mut self, stmt: &Stmt) {
        let (level, [y]) = (self.depth(), &stmt.nl[..]) else { return };
        let y = *y;
        if !self.settled.ends.is_empty() && self.func.nvars[y].def.is_some() {
            let sum = (self.open[self.plan.sites[y].level].id, self.size_of(Atom::Var(y)));
            self.sums.entry(sum).or_insert(y);
        }
        match &stmt.rhs {
            Rhs::Index(_, path) => {
                if let Some(end) = self.settled.reads.get(&y) {
                    self.cells.insert(y, (*end, path.clone()));
                }
            }
            Rhs::Update { path, value, .. } => {
                let Some(end) = self.settled.updates.get(&y) else { return };
                if path.iter().any(|step| matches!(step, Step::Field(_))) {
                    return;
                }
                let Atom::Var(value) = self.plan.same.atom(*value) else { return };
                let Site { level: home, how: How::Stmt { index: made, .. } } =
                    self.plan.sites[value]
                else {
                    return;
                };
                let binds_one = self.open[level].stmts.get(made).is_some_and(|s| s.nl.len() == 1);
                if home != level || !binds_one {
                    return;
                }
                let known = path.iter().map(|step| self.known_before(made, step)).collect();
                if let Some(path) = known {
                    self.cells.insert(value, (*end, path));
                }
            }
            _ => {}
        }
    }

    /// An index that the innermost level knows before the statement with some number: the name itself, or one that stands
    /// for the same number.
    fn known_before(&self, made: usize, step: &Step) -> Option<Step> {
        let level = self.depth();
        let is_known = |v: NVar| match self.plan.sites[v] {
            site if site.level < level => true,
            Site { how: How::Stmt { index, .. }, .. } => index < made,
            Site { how, .. } => how == How::Index,
        };
        let Step::Index { index, .. } = step else { return None };
        let index = match self.plan.same.atom(*index) {
            Atom::Var(v) if !is_known(v) => {
                let sum = (self.open[level].id, self.size_of(*index));
                Atom::Var(*self.sums.get(&sum).filter(|v| is_known(**v))?)
            }
            known => known,
        };
        Some(Step::Index { index, proved: true })
    }

    /// A further name that the last statement of E at this level binds.
    pub fn push_result(&mut self, v: NVar) {
        let level = self.depth();
        let index = self.open[level].stmts.len() - 1;
        self.bind(v, level, How::Stmt { index, available: false });
        self.learn_dimensions(v);
    }

    /// What E knows of sizes and indices behind a statement.
    fn learn(&mut self, stmt: &Stmt) {
        if let Some(trips) = stmt.rhs.trips(&stmt.nl) {
            self.facts.add_non_negative(Size::var(trips));
        }
        match &stmt.rhs {
            Rhs::Check(Check::Below(i, n)) => {
                self.facts.add_below(self.size_of(*i), self.size_of(*n))
            }
            Rhs::Check(Check::Within { lo, len, size }) => {
                self.facts.add_within(self.size_of(*lo), self.size_of(*len), self.size_of(*size));
            }
            Rhs::Check(Check::NonNegative(n)) => self.facts.add_non_negative(self.size_of(*n)),
            Rhs::Check(Check::Exact(p, a, b)) => {
                self.facts.add_exact(*p, &self.size_of(*a), &self.size_of(*b));
            }
            Rhs::Prim(prim::IMAX, args) => {
                if let ([v], [of, Atom::Lit(Literal::I64(0))]) = (&stmt.nl[..], &args[..]) {
                    let of = self.size_of(*of);
                    self.facts.add_max_zero(*v, of.clone());
                    self.maxima.push((*v, of));
                }
            }
            _ => {}
        }
    }

    /// Whether a statement may leave its level: total, and everything it reads is from outside.
    /// Out of accumulators go sizes, so that stacks are named outside, but for those that they give back, which have
    /// other names there already; out of loops what does not depend on the iteration.
    fn may_leave(&self, level: usize, stmt: &Stmt) -> bool {
        let Rhs::Prim(prim, args) = &stmt.rhs else { return false };
        let may = match self.open[level].kind {
            LevelKind::Accumulator => {
                let gives = &self.open[level].gives;
                [prim::IADD, prim::ISUB, prim::IMUL, prim::INEG, prim::IMAX].contains(prim)
                    && !stmt.nl.iter().any(|v| gives.contains(v))
            }
            LevelKind::Loop => {
                *prim == prim::IMAX
                    || self.plan.policy != Policy::StoreAll && stmt.rhs.is_total_prim()
            }
            _ => false,
        };
        may && args.iter().all(|a| match self.plan.same.atom(*a) {
            Atom::Var(v) => self.plan.sites[v].level < level,
            Atom::Lit(_) => true,
        })
    }

    /// Whether a statement is computed again in the residual if its operands are available there.
    pub fn is_cheap(&self, level: usize, stmt: &Stmt) -> bool {
        if self.is_repeated(stmt) {
            return true;
        }
        match self.wish(stmt) {
            TapePolicy::Store => return false,
            TapePolicy::Recompute if self.is_wished(level, stmt) => return true,
            _ => {}
        }
        // What leaves an accumulator gets new names, one by one.
        let single = stmt.nl.len() == 1 || self.open[level].kind != LevelKind::Accumulator;
        self.plan.policy != Policy::StoreAll
            && single
            && match &stmt.rhs {
                // A division by a number that is written down is a few operations.
                Rhs::Prim(prim, _) => {
                    (prim.row().cheap || prim.can_fail()) && stmt.rhs.is_total_prim()
                }
                Rhs::Atom(Atom::Var(v)) => !self.is_only_here(level, *v),
                Rhs::Index(array, _) => !self.changing[*array],
                Rhs::Atom(_) | Rhs::Proj(..) | Rhs::Size(..) => true,
                Rhs::Cast { .. } | Rhs::Untuple(_) | Rhs::Open { .. } => true,
                _ => false,
            }
    }

    /// What the text says of the tape of a statement; nothing under [`Policy::StoreAll`].
    fn wish(&self, stmt: &Stmt) -> TapePolicy {
        if self.plan.policy == Policy::StoreAll { TapePolicy::Free } else { stmt.loc.tape }
    }

    /// Whether the text wants what a statement makes to be stored.
    pub fn is_kept(&self, stmt: &Stmt) -> bool {
        self.wish(stmt) == TapePolicy::Store
    }

    /// Whether a statement is to be computed again, whatever that costs, and can be: it is total, and the residual can
    /// have what it reads.
    pub fn is_wished(&self, level: usize, stmt: &Stmt) -> bool {
        let single = stmt.nl.len() == 1 || self.open[level].kind != LevelKind::Accumulator;
        self.wish(stmt) == TapePolicy::Recompute
            && single
            && match &stmt.rhs {
                Rhs::Prim(..) => stmt.rhs.is_total_prim(),
                Rhs::Atom(Atom::Var(v)) => !self.is_only_here(level, *v),
                Rhs::Index(array, _) => !self.changing[*array],
                Rhs::Atom(_) | Rhs::Proj(..) | Rhs::Size(..) | Rhs::Structured(..) => true,
                Rhs::Tuple(_) | Rhs::Con(..) | Rhs::ArrayLit(_) => true,
                Rhs::Cast { .. } | Rhs::Untuple(_) | Rhs::Open { .. } => true,
                _ => false,
            }
    }

    /// Whether a value is a carried array that is stored, if at all, where it gets this other name
    /// ([`super::arms`]): the loop round this level does not store it so far.
    fn is_only_here(&self, level: usize, v: NVar) -> bool {
        let Some(v) = self.plan.same.nvar(v) else { return false };
        let site = self.plan.sites[v];
        let array = matches!(self.func.nvars[v].ty, Type::Array(..));
        array && site.how == How::Given && site.level < level && self.needs[v].is_none()
    }

    /// Whether a statement is never stored: types and covered accesses rest on what it says.
    pub fn is_repeated(&self, stmt: &Stmt) -> bool {
        let transparent = |v: &NVar| self.func.nvars[*v].def.is_some();
        matches!(stmt.rhs, Rhs::Prim(prim::IMAX, _)) || stmt.nl.iter().any(transparent)
    }

    fn reads_only_available(&self, level: usize, stmt: &Stmt) -> bool {
        let mut all = true;
        stmt.rhs.for_each_own_use(&mut |name| {
            all &= match name {
                Use::N(v) => self.plan.same.nvar(v).is_none_or(|v| {
                    let site = self.plan.sites[v];
                    site.level < level
                        || match site.how {
                            How::Given => false,
                            How::Stmt { available, .. } => available,
                            How::Parameter | How::Result | How::Index | How::Slice { .. } => true,
                        }
                }),
                Use::L(_) | Use::C(_) => false,
            };
        });
        all
    }
}
