//! Loops in which usually nothing changes, eight iterations at a time.
//!
//! A loop for a maximum asks in each iteration whether the number is greater than all before ([`super::extremes`]), and nearly always
//! it is not. Of eight iterations that can be asked at once, with the numbers that the first of them is given: if none of them changes anything, each is
//! given these.
//!
//! ```text
//! (m) = for up (i in 0 .. n)           (m_1) = for up (block in 0 .. n / 8) carry (w = ..) {
//!     carry (v = ..) {                   first = 8 block
//!   t = x[i]                             calm = x[first] <= w && .. && x[first + 7] <= w
//!   calm = t <= v                        (w_1) = if calm { (w) } else {
//!   (v_1) = if calm { (v) } else {         (m_2) = for up (i in first .. first + 8) carry (v = w) { .. }
//!     ..                                   (m_2)
//!   }                                    }
//!   (v_1)                                (w_1)
//! }                                    }
//!                                      (m) = for up (i in what is left) carry (v = m_1) { .. }
//! ```
//!
//! Eight comparisons without a branch between them take less than eight branches, one comparison of eight still less, if the backend's compiler
//! makes that of them. Where the target takes [conjunctions](crate::analysis::conjunction) several iterations at a time, sixteen are asked so:
//!
//! ```text
//! calm = for up (i in first .. first + 16) carry (c = true) {
//!   t = x[i]
//!   own = t <= w
//!   c_1 = c && own
//!   (c_1)
//! }
//! ```
//!
//! Requires: a backend with vectors. A loop qualifies if all that it computes before it asks are
//! operations and loads that cannot fail, no more than [`LARGEST`], of numbers that it asks nothing else about. Ensures: the same bits. *Cost*:
//! linear; a body is written twice more, and what is asked once or eight times.

use jut_ir::Literal;
use jut_ir::prim::{self, Lowering, Prim};

use super::vector::{self, Memory};
use crate::copy::Copier;
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::target::Vectors;
use crate::values::{self, Values};

/// Statements before the question, at most.
const LARGEST: usize = 6;

/// Iterations at a time: 2 to this power.
const TOGETHER: u32 = 3;

/// The same where one loop asks for all of them: as many as a backend takes without a jump.
const IN_A_LOOP: u32 = 4;

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction, target: &Vectors) {
    let calm = |stmt: &Stmt| matches!(stmt, Stmt::For(source) if is_calm(source));
    if !func.body.any(&mut { calm }) {
        return;
    }
    let memory = Memory::of(func);
    let mut walk = Calm { values: Values::new(&mut func.values), memory, target };
    func.body.rewrite(&mut |stmt, out| match stmt {
        Stmt::For(source) if is_calm(&source) => {
            let last = walk.in_blocks(*source, out);
            out.push(last.into());
        }
        stmt => out.push(stmt),
    });
}

/// Whether a loop ends with a branch that leaves everything as it is, and computes little before.
fn is_calm(source: &For) -> bool {
    let Some((Stmt::If { dst, then, .. }, before)) = source.body.stmts.split_last() else {
        return false;
    };
    let same = |results: &[Atom], values: &mut dyn Iterator<Item = Value>| {
        results.iter().copied().eq(values.map(Atom::Value))
    };
    let simple = |stmt: &Stmt| match stmt {
        Stmt::Prim { prim, .. } => {
            matches!(prim.row().lowering, Lowering::Opcode(_)) && !prim.can_fail()
        }
        Stmt::Load { .. } | Stmt::Offset { .. } | Stmt::Copy { .. } => true,
        _ => false,
    };
    source.order == Order::Up
        && !source.carry.is_empty()
        && then.stmts.is_empty()
        && same(&then.results, &mut source.carry.iter().map(|(carried, _)| *carried))
        && same(&source.body.results, &mut dst.iter().copied())
        && before.len() <= LARGEST
        && before.iter().all(simple)
        && before.iter().any(|stmt| matches!(stmt, Stmt::Load { .. }))
}

struct Calm<'a> {
    values: Values<'a>,
    memory: Memory,
    target: &'a Vectors,
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

impl Calm<'_> {
    /// Writes the loop over blocks; gives that over what is left.
    fn in_blocks(&mut self, source: For, out: &mut Vec<Stmt>) -> For {
        let low = source.low;
        let names: Vec<Atom> = source.carry.iter().map(|(v, _)| (*v).into()).collect();
        let question = self.question(&source, [low, source.high], &names).into();
        let in_a_loop = vector::takes(self.values.table(), &self.memory, self.target, &question);
        let together = if in_a_loop { IN_A_LOOP } else { TOGETHER };
        let shift = int(i64::from(together));
        let values = &mut self.values;
        let trips = values::trips([low, source.high], &mut |hint, kind, prim, args| {
            values.prim(hint, kind, prim, args, out)
        });
        let blocks = self.integer("blocks", prim::SHR, [trips, shift], out);
        let block = self.values.fresh("block", Kind::I64);
        let carry: Vec<(Value, Atom)> =
            source.carry.iter().map(|(v, start)| (self.values.like(*v), *start)).collect();
        let mut stmts = Vec::new();
        let start = self.integer("start", prim::SHL, [block.into(), shift], &mut stmts);
        let first = self.integer("first", prim::IADD, [low, start], &mut stmts);
        let behind = self.integer("behind", prim::IADD, [first, int(1 << together)], &mut stmts);
        let old: Vec<Atom> = carry.iter().map(|(v, _)| (*v).into()).collect();
        let calm = if in_a_loop {
            let question = self.question(&source, [first, behind], &old);
            let calm = question.dst.iter().map(|v| (*v).into()).next();
            stmts.push(question.into());
            calm.unwrap_or(Atom::Lit(Literal::Bool(false)))
        } else {
            self.questions(&source, first, &old, &mut stmts)
        };
        let body = self.unless(calm, &source, [first, behind], old, stmts);
        let dst: Vec<Value> = carry.iter().map(|(v, _)| self.values.like(*v)).collect();
        let so_far = source.carry.iter().zip(&dst).map(|((v, _), after)| (*v, (*after).into()));
        let so_far = so_far.collect();
        out.push(counted(dst, block, [int(0), blocks], carry, body).into());
        let done = self.integer("done", prim::SHL, [blocks, shift], out);
        let rest = self.integer("rest", prim::IADD, [low, done], out);
        For { low: rest, carry: so_far, ..source }
    }

    /// A loop that asks if all iterations of a range leave these as they are.
    fn question(&mut self, source: &For, range: [Atom; 2], old: &[Atom]) -> For {
        let given = source.carry.iter().map(|(v, _)| *v).zip(old.iter().copied());
        let mut copier = Copier::with(given);
        let index = copier.fresh(source.index, &mut self.values);
        let mut stmts = Vec::new();
        let own = self.asked(source, &mut copier, &mut stmts);
        let so_far = self.values.fresh("calm", Kind::BOOL);
        let next =
            self.values.prim("calm", Kind::BOOL, prim::AND, &[so_far.into(), own], &mut stmts);
        let carry = vec![(so_far, Atom::Lit(Literal::Bool(true)))];
        let dst = vec![self.values.like(so_far)];
        counted(dst, index, range, carry, Block { stmts, results: vec![next] })
    }

    /// The same of a few iterations, one after the other.
    fn questions(
        &mut self,
        source: &For,
        first: Atom,
        old: &[Atom],
        stmts: &mut Vec<Stmt>,
    ) -> Atom {
        let mut calm = Atom::Lit(Literal::Bool(true));
        for k in 0..1 << TOGETHER {
            let index = self.integer("index", prim::IADD, [first, int(k)], stmts);
            let given = source.carry.iter().map(|(v, _)| *v).zip(old.iter().copied());
            let mut copier = Copier::with(given.chain([(source.index, index)]));
            let own = self.asked(source, &mut copier, stmts);
            calm = self.values.prim("calm", Kind::BOOL, prim::AND, &[calm, own], stmts);
        }
        calm
    }

    /// What an iteration asks.
    fn asked(&mut self, source: &For, copier: &mut Copier, stmts: &mut Vec<Stmt>) -> Atom {
        match source.body.stmts.split_last() {
            Some((Stmt::If { cond, .. }, before)) => {
                stmts.extend(before.iter().map(|stmt| copier.stmt(stmt, &mut self.values)));
                copier.atom(*cond)
            }
            _ => Atom::Lit(Literal::Bool(false)),
        }
    }

    /// The body for a block: what it is given, unless some iteration changes it.
    fn unless(
        &mut self,
        calm: Atom,
        source: &For,
        range: [Atom; 2],
        old: Vec<Atom>,
        mut stmts: Vec<Stmt>,
    ) -> Block {
        let mut copier = Copier::default();
        let index = copier.fresh(source.index, &mut self.values);
        let inner: Vec<(Value, Atom)> = source
            .carry
            .iter()
            .zip(&old)
            .map(|((v, _), before)| (copier.fresh(*v, &mut self.values), *before))
            .collect();
        let body = copier.block(&source.body, &mut self.values);
        let mut fresh =
            || -> Vec<Value> { source.carry.iter().map(|(v, _)| self.values.like(*v)).collect() };
        let (changed, after) = (fresh(), fresh());
        let results = changed.iter().map(|v| (*v).into()).collect();
        let one_by_one = counted(changed, index, range, inner, body).into();
        stmts.push(Stmt::If {
            dst: after.clone(),
            cond: calm,
            then: Block { stmts: Vec::new(), results: old },
            other: Block { stmts: vec![one_by_one], results },
        });
        Block { stmts, results: after.into_iter().map(Atom::Value).collect() }
    }

    fn integer(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        self.values.prim(hint, Kind::I64, prim, &args, out)
    }
}

fn counted(
    dst: Vec<Value>,
    index: Value,
    [low, high]: [Atom; 2],
    carry: Vec<(Value, Atom)>,
    body: Block,
) -> For {
    For { dst, order: Order::Up, vector: None, index, low, high, carry, body }
}
