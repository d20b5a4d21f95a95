//! Blocks with destinations, and branches.
//!
//! A branch gives both arms the same destinations. A component without a destination is a result of
//! the `if`: buffers are immutable once made, so an arm may simply yield a pointer to one that was
//! there before.

use jut_ir::{ArmPattern, Atom as Operand, Block, Case, FieldPattern, NVar, Rhs, Span, Stmt, Type};

use super::emit::int;
use super::{Dest, Lowering, Pair, Res, Slot, Storage};
use crate::form::{self, Atom, Value};
use jut_ir::prim;

/// What a branch is told: where its results go, and which registers it may change.
struct Join<'a> {
    case: &'a Case,
    span: Span,
    /// The scrutinee's components, for a data value.
    value: &'a [Slot],
    /// The truth value or the tag.
    tag: Option<Atom>,
    dests: &'a [Vec<Dest>],
    registers: &'a [usize],
}

/// What an arm has come to: its results' components, then the registers.
struct ArmResult {
    slots: Vec<Vec<Slot>>,
    registers: Vec<Atom>,
}

impl Lowering<'_> {
    /// Lowers the statements of a block into the current one; gives the components of its results,
    /// each where its destination says.
    pub(super) fn block_into(
        &mut self,
        block: &Block,
        dests: &[Vec<Dest>],
        span: Span,
    ) -> Res<Vec<Vec<Slot>>> {
        self.plan(block, dests);
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        let mut results = Vec::with_capacity(block.nl.len());
        for (k, atom) in block.nl.iter().enumerate() {
            let slots = self.slots(*atom, span)?;
            let wanted = dests.get(k).map_or(&[][..], |d| d);
            if wanted.iter().all(|d| *d == Dest::Any) {
                results.push(slots.to_vec());
                continue;
            }
            let components = self.cx.layouts.of(&self.src.type_of(*atom));
            let hint = atom.var().map_or_else(|| "t".into(), |v| self.name_of(v));
            let mut settled = Vec::with_capacity(slots.len());
            for j in 0..slots.len() {
                let dest = wanted.get(j).copied().unwrap_or(Dest::Any);
                settled.push(self.settle(&hint, &components, &slots, j, dest, span)?);
            }
            results.push(settled);
        }
        Ok(results)
    }

    /// Tells the statements that define a block's results where these shall be: one walk backwards.
    fn plan(&mut self, block: &Block, dests: &[Vec<Dest>]) {
        for (atom, wanted) in block.nl.iter().zip(dests) {
            self.want(*atom, wanted);
        }
        self.mark_added(block);
        for stmt in block.stmts.iter().rev() {
            let Some(v) = stmt.nl.first() else { continue };
            match &stmt.rhs {
                Rhs::Atom(a) => {
                    let wanted = self.take_dests(*v);
                    self.want(*a, &wanted);
                }
                Rhs::Cast { value, .. } => {
                    let wanted = self.take_dests(*v);
                    self.want((*value).into(), &wanted);
                }
                Rhs::Update { .. } | Rhs::Region(_) | Rhs::Scan(_) => self.want_starts(stmt),
                Rhs::ArrayLit(items) => self.note_rows(*v, items),
                Rhs::Tuple(items) => {
                    let Type::Tuple(types) = self.type_of(*v) else { continue };
                    let wanted = self.take_dests(*v);
                    for (item, part) in items.iter().zip(self.cx.layouts.items(&types)) {
                        self.want(*item, wanted.get(part).unwrap_or_default());
                    }
                }
                Rhs::Con(con, items) => {
                    let layout = self.cx.layouts.data(con.data);
                    if layout.boxed {
                        self.want_in_box(&layout, *con, items);
                        continue;
                    }
                    let wanted = self.take_dests(*v);
                    let ranges = layout.fields.get(con.index as usize);
                    for (item, part) in items.iter().zip(ranges.into_iter().flatten()) {
                        self.want(*item, wanted.get(part.clone()).unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
    }

    /// What something is made of in place is best where that shall be, also in regions inside.
    fn want_starts(&mut self, stmt: &Stmt) {
        match &stmt.rhs {
            Rhs::Update { array, .. } => self.want_start((*array).into(), stmt.nl.first()),
            Rhs::Scan(scan) => {
                for ((v, init), result) in scan.carry.iter().zip(&stmt.nl) {
                    if self.reuse.stays(*v) && self.reuse.taken(*v).is_some() {
                        self.want_like(*init, *result);
                    }
                }
            }
            Rhs::Region(region) => {
                for (outside, inside) in stmt.nl.iter().zip(&region.body.nl) {
                    self.want_like(*inside, *outside);
                }
                region.body.stmts.iter().rev().for_each(|inner| self.want_starts(inner));
                if let Some(jut_ir::Operand::N(start)) = region.start {
                    self.want_start(start, stmt.nl.last());
                }
            }
            _ => {}
        }
    }

    /// What an update or a sum starts from, if it is in place.
    fn want_start(&mut self, start: Operand, made: Option<&NVar>) {
        if let Some(made) = made.filter(|made| self.reuse.taken(**made).is_some()) {
            self.want_like(start, *made);
        }
    }

    fn want_like(&mut self, v: Operand, other: NVar) {
        if let Some(wanted) = self.wanted[other].clone() {
            self.want(v, &wanted);
        }
    }

    pub(super) fn want(&mut self, atom: Operand, dests: &[Dest]) {
        let Operand::Var(v) = atom else { return };
        if dests.iter().any(|d| *d != Dest::Any) && self.wanted[v].is_none() {
            self.wanted[v] = Some(dests.into());
        }
    }

    /// Where the components of a variable shall be; asked once, by the statement that binds it.
    pub(super) fn take_dests(&mut self, v: NVar) -> Box<[Dest]> {
        if self.wanted.get(v).is_some_and(|w| w.is_some()) {
            self.wanted[v].take().unwrap_or_default()
        } else {
            Box::default()
        }
    }

    /// The destinations of everything that a statement binds.
    pub(super) fn pattern_dests(&mut self, stmt: &Stmt) -> Vec<Vec<Dest>> {
        stmt.nl.iter().map(|v| self.take_dests(*v).into_vec()).collect()
    }

    /// The registers among some accumulators.
    pub(super) fn registers_of<'c>(
        &self,
        caps: impl IntoIterator<Item = &'c jut_ir::Cap>,
    ) -> Vec<usize> {
        let mut registers = Vec::new();
        for cap in caps {
            let view = self.caps.get(*cap).and_then(|v| v.as_ref());
            for target in view.iter().flat_map(|v| &v.storage) {
                if let Storage::Register(r) = target {
                    registers.push(*r);
                }
            }
        }
        registers
    }

    /// Lowers `case`.
    pub(super) fn case(&mut self, stmt: &Stmt, case: &Case) -> Res<()> {
        let span = stmt.loc.span;
        let dests = self.pattern_dests(stmt);
        let mut touched = std::collections::BTreeSet::new();
        for arm in &case.arms {
            super::regions::touched(&arm.body, &mut touched);
        }
        let registers = self.registers_of(&touched);
        let value = self.slots(case.scrutinee, span)?;
        let tag = self.tag(case, &value);
        let join = Join { case, span, value: &value, tag, dests: &dests, registers: &registers };
        let mut order: Vec<usize> = (0..case.arms.len()).collect();
        order.sort_by_key(|k| match case.arms[*k].pattern {
            ArmPattern::Bool(b) => !b as u32,
            ArmPattern::Con(con) => con.index,
        });
        // A loop in an arm does not stand directly in a region.
        let around = std::mem::take(&mut self.lane_caps);
        let result = self.arms(&join, &order)?;
        self.lane_caps = around;
        for (v, slots) in stmt.nl.iter().zip(result.slots) {
            self.bind(*v, slots);
        }
        for (r, now) in registers.iter().zip(result.registers) {
            self.registers[*r].now = now;
        }
        Ok(())
    }

    /// Lowers the arms in `order`, in the current block if it is only one: a balanced tree of `if`s.
    fn arms(&mut self, join: &Join, order: &[usize]) -> Res<ArmResult> {
        let (low, high) = order.split_at(order.len().div_ceil(2));
        let Some(pivot) = high.first() else {
            return match low.first() {
                Some(arm) => self.arm(join, *arm),
                None => Err(self.bug(join.span, "a case without arms")),
            };
        };
        let Some(tag) = join.tag else {
            return Err(self.bug(join.span, "a sum without a tag"));
        };
        let cond = match join.case.arms[*pivot].pattern {
            // Order is true, false.
            ArmPattern::Bool(_) => tag,
            ArmPattern::Con(con) if high.len() == 1 && low.len() == 1 => {
                self.prim("is", prim::INE, vec![tag, int(con.index as i64)])
            }
            ArmPattern::Con(con) => self.prim("is", prim::ILT, vec![tag, int(con.index as i64)]),
        };
        let before: Vec<Atom> = join.registers.iter().map(|r| self.registers[*r].now).collect();
        let (then, a) = self.nested(|this| this.arms(join, low))?;
        for (r, now) in join.registers.iter().zip(&before) {
            self.registers[*r].now = *now;
        }
        let (other, b) = self.nested(|this| this.arms(join, high))?;
        for (r, now) in join.registers.iter().zip(&before) {
            self.registers[*r].now = *now;
        }
        self.join(join, cond, (then, a), (other, b))
    }

    /// The `if` of two lowered branches. What both have in the same place is no result.
    fn join(
        &mut self,
        join: &Join,
        cond: Atom,
        (then, a): (Vec<form::Stmt>, ArmResult),
        (other, b): (Vec<form::Stmt>, ArmResult),
    ) -> Res<ArmResult> {
        let mut dst: Vec<Value> = Vec::new();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut one = |this: &mut Self, hint: &str, x: Atom, y: Atom, kind: form::Kind| {
            if x == y {
                return x;
            }
            let value = this.value(hint, kind);
            dst.push(value);
            left.push(x);
            right.push(y);
            Atom::Value(value)
        };
        let mut slots = Vec::with_capacity(a.slots.len());
        for (k, (xs, ys)) in a.slots.iter().zip(&b.slots).enumerate() {
            let mut joined = Vec::with_capacity(xs.len());
            for (j, (x, y)) in xs.iter().zip(ys).enumerate() {
                let kind = self.out.kind_of(x.atom);
                let hint = match x.atom {
                    Atom::Value(v) => self.out.values[v].name.clone(),
                    Atom::Lit(_) => format!("r{k}").into(),
                };
                let atom = one(self, &hint, x.atom, y.atom, kind);
                // The two buffers of a carry, either way round: the other one comes along.
                if let Some(Dest::Next { now, .. }) = join.dests.get(k).and_then(|d| d.get(j))
                    && let (Atom::Value(v), Atom::Value(x), Atom::Value(y)) = (atom, x.atom, y.atom)
                    && let (Some(a), Some(b)) = (self.spare.get(&x), self.spare.get(&y))
                    && (a.carry, b.carry) == (*now, *now)
                {
                    let (a, b) = (a.other.into(), b.other.into());
                    if let Atom::Value(other) = one(self, &hint, a, b, kind) {
                        self.spare.insert(v, Pair { carry: *now, other });
                    }
                }
                joined.push(Slot { atom, on_tape: x.on_tape && y.on_tape });
            }
            slots.push(joined);
        }
        let mut registers = Vec::with_capacity(a.registers.len());
        for (x, y) in a.registers.iter().zip(&b.registers) {
            let kind = self.out.kind_of(*x);
            registers.push(one(self, "s", *x, *y, kind));
        }
        if !(dst.is_empty() && then.is_empty() && other.is_empty()) {
            self.push(form::Stmt::If {
                dst,
                cond,
                then: Self::form_block(then, left),
                other: Self::form_block(other, right),
            });
        }
        Ok(ArmResult { slots, registers })
    }

    fn arm(&mut self, join: &Join, k: usize) -> Res<ArmResult> {
        let Some(arm) = join.case.arms.get(k) else {
            return Err(self.bug(join.span, "a case without arms"));
        };
        if let ArmPattern::Con(con) = arm.pattern {
            let fields: Vec<(Option<NVar>, Option<Operand>)> = arm
                .fields
                .iter()
                .map(|f| match f {
                    FieldPattern::Bind(v) => (Some(*v), None),
                    FieldPattern::Eq(a) => (None, Some(*a)),
                })
                .collect();
            self.open(con, join.value, &fields, arm.proved, join.span)?;
        }
        let slots = self.block_into(&arm.body, join.dests, join.span)?;
        let registers = join.registers.iter().map(|r| self.registers[*r].now).collect();
        Ok(ArmResult { slots, registers })
    }
}
