//! The book-keeping of U: where names are bound, what the residual needs, what of it is stored
//! and what is computed again.
//!
//! Uses are recorded as the residual is written ([`Unzipper::need`]), at the level that binds the
//! name. When a level is complete, [`Unzipper::plan`] decides about its needs, in the order in
//! which the residual's text reads them; what the decisions read from further out becomes a need
//! there.

use super::Unzipper;
use super::common::Key;
use crate::Policy;
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::{HashMap, HashSet};

/// A level: what has its own needs.
#[derive(Debug)]
pub(super) struct Level {
    pub kind: LevelKind,
    /// Whether its facts are still known.
    has_facts: bool,
    /// How many maxima were known when it was opened.
    maxima: usize,
    /// E so far.
    pub stmts: Vec<Stmt>,
    /// Names bound here that the residual reads, each once.
    needs: Vec<NVar>,
    /// The expressions that it is the first to compute.
    pub computed: Vec<Key>,
}

impl Level {
    pub fn new(kind: LevelKind) -> Level {
        Level {
            kind,
            has_facts: false,
            maxima: 0,
            stmts: Vec::new(),
            needs: Vec::new(),
            computed: Vec::new(),
        }
    }
}

/// What a level is the body of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LevelKind {
    /// Nothing: the parameters.
    Parameters,
    /// The function.
    Body,
    /// A `scan`.
    Loop,
    /// An arm of a `case`.
    Arm,
    /// An `acc` region.
    Accumulator,
}

/// Where a name is bound: the number of its level, counted from outside, and how.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Site {
    pub level: usize,
    pub how: How,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum How {
    /// A parameter of the function.
    #[default]
    Parameter,
    /// A result size, a parameter of the residual, wherever the function binds it.
    Result,
    /// A loop index.
    Index,
    /// A slice of an array from outside the loop.
    Slice,
    /// A carry, or a field of an arm: only E has it.
    Given,
    /// By the statement of E with this number.
    Stmt { index: usize, available: bool },
}

/// When the residual's text first reads a name: its position, and the order of recording.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Need(u32, u32);

impl Need {
    pub fn position(self) -> u32 {
        self.0
    }
}

/// What has been decided about a need.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Fate {
    #[default]
    Undecided,
    /// The residual has it: a loop index, or a slice taken again.
    Known,
    /// Computed again from what is known.
    Before,
    /// Computed again from what is stored.
    After,
    Stored,
}

/// What the residual of a level needs.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Stored, in order of first need. In an accumulator, sizes of stored values come first.
    pub stored: Vec<NVar>,
    /// Computed again from what is known.
    pub before: Vec<Stmt>,
    /// Computed again from what is stored.
    pub after: Vec<Stmt>,
    /// Elements of slices that the residual takes again.
    pub slices: HashSet<NVar>,
    /// For sizes computed again after the opening: how many statements of `after` give them.
    pub after_positions: HashMap<NVar, usize>,
    /// Statements that the cut has chosen to compute again, by number.
    chosen: HashSet<usize>,
}

impl Unzipper<'_> {
    /// The next position in the residual's text.
    pub(super) fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// The number of the innermost level.
    pub(super) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Opens a level.
    pub(super) fn enter(&mut self, kind: LevelKind) {
        // Sizes may leave an accumulator, with what is known about them.
        let has_facts = kind != LevelKind::Accumulator;
        if has_facts {
            self.facts.enter();
        }
        let maxima = self.maxima.len();
        self.levels.push(Level { has_facts, maxima, ..Level::new(kind) });
    }

    /// Forgets what only the innermost level knows about sizes.
    pub(super) fn forget(&mut self) {
        let depth = self.depth();
        if std::mem::take(&mut self.levels[depth].has_facts) {
            self.facts.leave();
            // What has left the level is still known.
            for (v, of) in self.maxima.split_off(self.levels[depth].maxima) {
                if self.sites[v].level < depth {
                    self.facts.add_max_zero(v, of.clone());
                    self.maxima.push((v, of));
                }
            }
        }
    }

    /// Closes the innermost level.
    pub(super) fn leave(&mut self) -> Level {
        self.forget();
        let level = self.levels.pop().unwrap_or_else(|| Level::new(LevelKind::Body));
        for key in &level.computed {
            self.computed.remove(key);
        }
        level
    }

    /// Says where a name is bound. Result sizes are known from the start.
    pub(super) fn bind(&mut self, v: NVar, level: usize, how: How) {
        if self.sites[v].how != How::Result {
            self.sites[v] = Site { level, how };
        }
    }

    /// The size that an operand stands for, in normal form.
    pub(super) fn size_of(&self, atom: Atom) -> Size {
        match self.same.atom(atom) {
            Atom::Var(v) => match &self.func.nvars[v].def {
                Some(def) => self.same.size(&self.func, def),
                None => Size::var(v),
            },
            literal => self.func.size_of(literal),
        }
    }

    /// The type of a name, region results replaced.
    pub(super) fn type_of(&self, v: NVar) -> Type {
        self.same.ty(&self.func, &self.func.nvars[v].ty)
    }

    /// An array in scope says that its dimensions are not negative.
    pub(super) fn learn_dimensions(&mut self, v: NVar) {
        if matches!(self.func.nvars[v].ty, Type::Array(..) | Type::Tuple(_)) {
            self.facts.add_type(&self.type_of(v));
        }
    }

    // ---- E

    /// Adds a non-linear statement to E: of this level, or further out where it may leave.
    pub(super) fn push(&mut self, stmt: Stmt) {
        let key = if self.policy == Policy::Minimal { self.key(&stmt) } else { None };
        if let (Some(key), [v]) = (&key, &stmt.nl[..])
            && self.is_computed(key, *v)
        {
            return;
        }
        let mut level = self.depth();
        while self.may_leave(level, &stmt) {
            level -= 1;
        }
        if let (Some(key), [v]) = (key, &stmt.nl[..]) {
            self.computed.insert(key.clone(), *v);
            self.levels[level].computed.push(key);
        }
        let available = self.is_cheap(level, &stmt) && self.reads_only_available(level, &stmt);
        let index = self.levels[level].stmts.len();
        for v in &stmt.nl {
            self.bind(*v, level, How::Stmt { index, available });
            self.learn_dimensions(*v);
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
        self.levels[level].stmts.push(stmt);
    }

    /// Whether a statement may leave its level: total, and everything it reads is from outside.
    /// Out of accumulators go sizes, so that stacks are named outside; out of loops what does not
    /// depend on the iteration.
    fn may_leave(&self, level: usize, stmt: &Stmt) -> bool {
        let Rhs::Prim(prim, args) = &stmt.rhs else { return false };
        let may = match self.levels[level].kind {
            LevelKind::Accumulator => {
                [prim::IADD, prim::ISUB, prim::IMUL, prim::INEG, prim::IMAX].contains(prim)
            }
            LevelKind::Loop => {
                *prim == prim::IMAX || self.policy != Policy::StoreAll && !prim.can_fail()
            }
            _ => false,
        };
        may && args.iter().all(|a| match self.same.atom(*a) {
            Atom::Var(v) => self.sites[v].level < level,
            Atom::Lit(_) => true,
        })
    }

    /// Whether a statement is computed again in the residual if its operands are available there.
    pub(super) fn is_cheap(&self, level: usize, stmt: &Stmt) -> bool {
        if self.is_repeated(stmt) {
            return true;
        }
        // What leaves an accumulator gets new names, one by one.
        let single = stmt.nl.len() == 1 || self.levels[level].kind != LevelKind::Accumulator;
        self.policy != Policy::StoreAll
            && single
            && match &stmt.rhs {
                Rhs::Prim(prim, _) => prim.row().cheap && !prim.can_fail(),
                Rhs::Atom(Atom::Var(v)) => !self.is_only_here(level, *v),
                Rhs::Atom(_) | Rhs::Proj(..) | Rhs::Size(..) | Rhs::Index(..) => true,
                Rhs::Cast { .. } | Rhs::Untuple(_) | Rhs::Open { .. } => true,
                _ => false,
            }
    }

    /// Whether a value is a carried array that is stored, if at all, where it gets this other name
    /// ([`super::arms`]): the loop round this level does not store it so far.
    fn is_only_here(&self, level: usize, v: NVar) -> bool {
        let Some(v) = self.same.nvar(v) else { return false };
        let site = self.sites[v];
        let array = matches!(self.func.nvars[v].ty, Type::Array(..));
        array && site.how == How::Given && site.level < level && self.needs[v].is_none()
    }

    /// Whether a statement is never stored: types and covered accesses rest on what it says.
    pub(super) fn is_repeated(&self, stmt: &Stmt) -> bool {
        let transparent = |v: &NVar| self.func.nvars[*v].def.is_some();
        matches!(stmt.rhs, Rhs::Prim(prim::IMAX, _)) || stmt.nl.iter().any(transparent)
    }

    fn reads_only_available(&self, level: usize, stmt: &Stmt) -> bool {
        let mut all = true;
        stmt.rhs.for_each_own_use(&mut |name| {
            all &= match name {
                Use::N(v) => self.same.nvar(v).is_none_or(|v| {
                    let site = self.sites[v];
                    site.level < level
                        || match site.how {
                            How::Given => false,
                            How::Stmt { available, .. } => available,
                            How::Parameter | How::Result | How::Index | How::Slice => true,
                        }
                }),
                Use::L(_) | Use::C(_) => false,
            };
        });
        all
    }

    // ---- needs

    /// The residual reads `v`, at the given position of its text.
    pub(super) fn need(&mut self, v: NVar, position: u32) {
        let Some(v) = self.same.nvar(v) else { return };
        let need = self.needs[v];
        if need.is_none_or(|old| position < old.position()) {
            let order = self.needs_recorded;
            self.needs_recorded += 1;
            self.needs[v] = Some(Need(position, order));
        }
        if need.is_none()
            && let Some(level) = self.levels.get_mut(self.sites[v].level)
        {
            level.needs.push(v);
        }
    }

    pub(super) fn need_atom(&mut self, atom: Atom, position: u32) {
        if let Atom::Var(v) = atom {
            self.need(v, position);
        }
    }

    /// The residual mentions a type.
    pub(super) fn need_sizes(&mut self, ty: &Type, position: u32) {
        if matches!(ty, Type::Array(..) | Type::Tuple(_)) {
            for name in size_names(&self.same.ty(&self.func, ty)) {
                self.need(name, position);
            }
        }
    }

    /// What an operation reads itself.
    pub(super) fn need_operands(&mut self, rhs: &Rhs, position: u32) {
        let mut names = Vec::new();
        rhs.for_each_own_use(&mut |name| {
            if let Use::N(v) = name {
                names.push(v);
            }
        });
        names.into_iter().for_each(|v| self.need(v, position));
    }

    // ---- plans

    /// Decides about the needs of the innermost level. `head` is the position of its head.
    pub(super) fn plan(&mut self, head: u32) -> Plan {
        let level = self.depth();
        let mut needs = std::mem::take(&mut self.levels[level].needs);
        needs.sort_by_key(|v| self.needs[*v]);
        let mut plan = Plan::default();
        if self.policy == Policy::Minimal {
            plan.chosen = self.minimum_cut(&needs);
        }
        let mut again = Vec::new();
        self.decide(needs, head, &mut plan, &mut again);

        let mut sizes = Vec::new();
        let mut seen = HashSet::new();
        for w in &plan.stored {
            let local = size_names(&self.type_of(*w)).into_iter();
            let local = local.filter(|n| self.sites[*n].level == level);
            sizes.extend(local.filter(|n| seen.insert(*n)));
        }
        if self.levels[level].kind == LevelKind::Accumulator {
            // They go out with the values, before them, and are then known by their outer names.
            for n in &sizes {
                if let How::Stmt { index, .. } = self.sites[*n].how {
                    again.retain(|k| *k != index);
                }
                self.fates[*n] = Fate::Stored;
            }
            plan.stored.retain(|w| !seen.contains(w));
            plan.stored.splice(0..0, sizes);
        } else {
            // Those that are not stored are computed or sliced again.
            sizes.retain(|n| match self.sites[*n].how {
                How::Slice => true,
                How::Stmt { index, available } => {
                    available || self.is_repeated(&self.levels[level].stmts[index])
                }
                _ => false,
            });
            self.decide(sizes, head, &mut plan, &mut again);
        }

        again.sort_unstable();
        for index in again {
            let mut stmt = self.levels[level].stmts[index].clone();
            stmt.loc = stmt.loc.by(Origin::Unzip);
            if let Rhs::Cast { proved, .. } | Rhs::Open { proved, .. } = &mut stmt.rhs {
                *proved = true;
            }
            let after = stmt.nl.iter().any(|v| self.fates[*v] == Fate::After);
            let part = if after { &mut plan.after } else { &mut plan.before };
            part.push(stmt);
            if let (true, Some(stmt)) = (after, plan.after.last()) {
                plan.after_positions.extend(stmt.nl.iter().map(|v| (*v, plan.after.len())));
            }
        }
        plan
    }

    fn decide(&mut self, needs: Vec<NVar>, head: u32, plan: &mut Plan, again: &mut Vec<usize>) {
        let level = self.depth();
        let mut work = needs;
        work.reverse();
        while let Some(v) = work.pop() {
            let site = self.sites[v];
            if site.level != level {
                self.need(v, head);
                continue;
            }
            if self.fates[v] != Fate::Undecided {
                continue;
            }
            let mut fate = Fate::Known;
            match site.how {
                How::Parameter | How::Result | How::Index => {}
                How::Slice => drop(plan.slices.insert(v)),
                How::Given => fate = Fate::Stored,
                How::Stmt { index, available } => {
                    let stmt = &self.levels[level].stmts[index];
                    if available || plan.chosen.contains(&index) || self.is_repeated(stmt) {
                        fate = if available { Fate::Before } else { Fate::After };
                        // The statement may bind several names, and is computed again once.
                        for other in &stmt.nl {
                            self.fates[*other] = fate;
                        }
                        again.push(index);
                        let operands = work.len();
                        stmt.rhs.for_each_own_use(&mut |name| {
                            if let Use::N(v) = name {
                                work.extend(self.same.nvar(v));
                            }
                        });
                        work[operands..].reverse();
                    } else {
                        fate = Fate::Stored;
                    }
                }
            }
            self.fates[v] = fate;
            if fate == Fate::Stored {
                plan.stored.push(v);
            }
        }
    }
}

/// The names in a type, outermost size first, each once.
pub(super) fn size_names(ty: &Type) -> Vec<NVar> {
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
