//! Value and gradient of a chain in one loop.
//!
//! The derivative of a sum of `f(x[i], x[i + 1])` adds to two elements per iteration. Where element i is due what iteration i
//! and the one before it have computed, nothing has to be computed twice to [turn the loop round](super): an iteration asks what
//! the one before has computed. Nor do the elements need a loop of their own beside that of the sum.
//!
//! ```text
//! (s) = lanes (i in low .. high) carry (c) {      (s) = lanes (i in low .. high) carry (c) {
//!   c_1 = c + f(i)                                  c_1 = c + f(i)
//!   (c_1)                                           h_1 = h(i)
//! }                                                 b = previous h_1 else -0.0
//! for up (i in low .. high) {                       d = g[i] + b
//!   g[i] = g[i] + a(i)                              g[i] = d + a(i)
//!   g[i + 1] = g[i + 1] + h(i)                      (c_1)
//! }                                               }
//!                                                 g[high] = g[high] + h(high - 1)
//! ```
//!
//! In the first iteration there is nothing to add: adding -0.0, or taking 0.0 away, changes no number. The sums may be those of
//! the loop itself, of a loop before it over the same range, or both.
//!
//! Requires: a loop upwards that [qualifies](super::Plan), whose updates only add floats or take them away. Ensures: the same
//! cells and sums, bit for bit. Cost: linear.

use jut_ir::hash::HashMap;
use jut_ir::prim::{Lowering, Opcode, Prim};
use jut_ir::{Literal, Scalar};

use super::super::join::{is_only_in, reads, renamed, stored_by};
use super::{Gather, Plan, Update, WIDEST, Writer};
use crate::form::{Atom, Block, For, Kind, Lanes, Order, Stmt, Value};

/// A loop that gives its elements what they are due from this iteration and those before it.
pub(super) struct Sweep {
    /// How many iterations there have to be.
    pub width: i64,
    pub then: Block,
}

impl Gather<'_> {
    /// A loop with its sums, those of its own if they are by lanes, and those of a loop before it.
    pub(super) fn swept(
        &mut self,
        source: &For,
        by_lanes: bool,
        sums: Option<&Lanes>,
        plan: &Plan<'_>,
    ) -> Option<Sweep> {
        let own = if by_lanes { source.carry.len() } else { 0 };
        let fits = source.order == Order::Up
            && own == source.carry.len()
            && (own > 0 || sums.is_some())
            && plan.taken.is_empty()
            && plan.updates.iter().all(|update| only_adds(update, plan, self));
        if !fits {
            return None;
        }
        let tapes = sums.map_or(Vec::new(), |sums| stored_by(&sums.body));
        let mut left = tapes.clone();
        if let Some(sums) = sums {
            left.retain(|tape| is_only_in(*tape, &[&sums.body, &source.body], &self.named));
        }
        let index = self.values.like(source.index);
        let mut writer = Writer::new(self, plan, index.into());
        let (mut carry, mut results, mut dst) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(sums) = sums {
            let mut known: HashMap<Value, Atom> = HashMap::default();
            known.insert(sums.index, index.into());
            for (outside, inside) in sums.dst.iter().zip(&sums.carry) {
                let lane = writer.walk.values.like(*inside);
                known.insert(*inside, lane.into());
                carry.push(lane);
                dst.push(writer.walk.values.like(*outside));
            }
            writer.terms(sums, &mut known, &|tape| !left.contains(&tape));
            results.extend(sums.body.results.iter().map(|a| renamed(*a, &known)));
        }
        for ((carried, _), outside) in source.carry.iter().zip(&source.dst) {
            let lane = writer.walk.values.like(*carried);
            writer.known.insert((*carried, 0), lane.into());
            carry.push(lane);
            dst.push(writer.walk.values.like(*outside));
        }
        for result in source.body.results.iter().take(own) {
            let result = writer.atom(*result, 0);
            results.push(result);
        }
        let mut width = 0;
        for buffer in plan.buffers() {
            let (first, last) = plan.reach(|u| u.buffer == buffer)?;
            width = width.max(last.checked_sub(first)?);
            if width > WIDEST {
                return None;
            }
            writer.due(buffer, first, last)?;
        }
        let stmts = writer.out;
        let mut ends = Vec::new();
        for buffer in plan.buffers() {
            let (first, last) = plan.reach(|u| u.buffer == buffer)?;
            let mut end = Writer::new(self, plan, source.high);
            // What the others have left for these is computed once more.
            if let Some(sums) = sums.filter(|_| !tapes.is_empty()) {
                for iteration in first - last..0 {
                    let at = end.index(iteration);
                    end.terms(sums, &mut HashMap::from_iter([(sums.index, at)]), &|_| false);
                }
            }
            for element in first..last {
                let order: Vec<i64> = (element + 1..=last).rev().collect();
                end.element(buffer, element, &order)?;
            }
            ends.append(&mut end.out);
        }
        let results_behind = dst.iter().map(|v| Atom::Value(*v)).collect();
        ends.push(Stmt::from(Lanes {
            dst,
            vector: None,
            index,
            low: source.low,
            high: source.high,
            carry,
            body: Block { stmts, results },
        }));
        Some(Sweep { width, then: Block { stmts: ends, results: results_behind } })
    }
}

/// Whether an update adds floats of 64 bits to what was there, or takes them away.
fn only_adds(update: &Update, plan: &Plan<'_>, walk: &Gather<'_>) -> bool {
    let Some(mut content) = update.loaded else { return false };
    if walk.values.kind(content) != Kind::Scalar(Scalar::F64) {
        return false;
    }
    for at in &update.operations {
        let Stmt::Prim { dst, prim, args } = &plan.body.stmts[*at] else { return false };
        match term(content.into(), *prim, args) {
            Some(_) => content = *dst,
            None => return false,
        }
    }
    update.stored == Some(content.into())
}

/// What an operation adds to a content, or takes away from it, and with what in its place nothing would change.
fn term(content: Atom, prim: Prim, args: &[Atom]) -> Option<(usize, Literal)> {
    match (prim.row().lowering, args) {
        (Lowering::Opcode(Opcode::FAdd), [a, b]) if *a == content && *b != content => {
            Some((1, Literal::F64(-0.0)))
        }
        (Lowering::Opcode(Opcode::FAdd), [a, b]) if *b == content && *a != content => {
            Some((0, Literal::F64(-0.0)))
        }
        (Lowering::Opcode(Opcode::FSub), [a, b]) if *a == content && *b != content => {
            Some((1, Literal::F64(0.0)))
        }
        _ => None,
    }
}

impl Writer<'_, '_, '_> {
    /// The statements of an iteration of a loop of sums, unless they stand in `out` already: the index is known, and if the lanes are
    /// not, what is made of them is left out. What it stores is known to this iteration of the loop, and stored if that is to be kept.
    fn terms(
        &mut self,
        sums: &Lanes,
        known: &mut HashMap<Value, Atom>,
        keeps: &dyn Fn(Value) -> bool,
    ) {
        let mut missing: Vec<Value> = sums.carry.clone();
        missing.retain(|lane| !known.contains_key(lane));
        for stmt in &sums.body.stmts {
            if reads(stmt, &missing) {
                missing.extend(stmt.bound());
                continue;
            }
            let (dst, copied) = match stmt {
                Stmt::Prim { dst, prim, args } => {
                    let args = args.iter().map(|a| renamed(*a, known)).collect();
                    (*dst, self.operation(|values| values.like(*dst), *prim, args))
                }
                Stmt::Load { dst, buffer, index } => {
                    (*dst, self.load(*dst, *buffer, renamed(*index, known)))
                }
                Stmt::Copy { dst, src } => (*dst, renamed(*src, known)),
                Stmt::Store { buffer, index, value } => {
                    let (index, value) = (renamed(*index, known), renamed(*value, known));
                    self.loads.insert((*buffer, index), value);
                    if keeps(*buffer) {
                        self.out.push(Stmt::Store { buffer: *buffer, index, value });
                    }
                    continue;
                }
                _ => continue,
            };
            known.insert(dst, copied);
        }
    }

    /// The element of a buffer that is behind the index by the least of some offsets gets what it is due: first from the
    /// iteration that reaches it by the largest of them, which is the earliest.
    fn due(&mut self, buffer: Value, first: i64, last: i64) -> Option<()> {
        let plan = self.plan;
        let at = self.index(first);
        let mut delayed: HashMap<(Atom, i64, u64), Atom> = HashMap::default();
        let mut content: Option<Atom> = None;
        for offset in (first..=last).rev() {
            let updates = plan.updates.iter().filter(|u| u.buffer == buffer && u.offset == offset);
            for update in updates {
                let loaded = update.loaded?;
                let mut now = match content {
                    Some(content) => content,
                    None => self.load(loaded, buffer, at),
                };
                let mut before: Atom = loaded.into();
                for operation in &update.operations {
                    let Stmt::Prim { dst, prim, args } = &plan.body.stmts[*operation] else {
                        return None;
                    };
                    let (place, nothing) = term(before, *prim, args)?;
                    let term = self.atom(args[place], 0);
                    let term = self.earlier(term, offset - first, nothing, &mut delayed);
                    let args = if place == 0 { vec![term, now] } else { vec![now, term] };
                    now = self.operation(|values| values.like(*dst), *prim, args);
                    before = (*dst).into();
                }
                content = Some(now);
            }
        }
        self.out.push(Stmt::Store { buffer, index: at, value: content? });
        Some(())
    }

    /// What a value was so many iterations ago; before there were so many, a number.
    fn earlier(
        &mut self,
        value: Atom,
        ago: i64,
        nothing: Literal,
        delayed: &mut HashMap<(Atom, i64, u64), Atom>,
    ) -> Atom {
        if ago == 0 {
            return value;
        }
        let bits = match nothing {
            Literal::F64(x) => x.to_bits(),
            _ => 0,
        };
        if let Some(known) = delayed.get(&(value, ago, bits)) {
            return *known;
        }
        let src = self.earlier(value, ago - 1, nothing, delayed);
        let dst = self.walk.values.fresh("before", Kind::F64);
        self.out.push(Stmt::Previous { dst, src, first: nothing });
        delayed.insert((value, ago, bits), dst.into());
        dst.into()
    }
}
