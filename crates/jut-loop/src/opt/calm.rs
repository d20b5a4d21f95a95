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
//! makes that of them.
//!
//! Requires: a backend with vectors. A loop qualifies if all that it computes before it asks are
//! operations and loads that cannot fail, no more than [`LARGEST`], of numbers that it asks nothing else about. Ensures: the same bits. *Cost*:
//! linear; a body is written twice more, and what is asked eight times.

use jut_ir::Literal;
use jut_ir::prim::{self, Lowering, Prim};

use crate::copy::Copier;
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::{self, Values};

/// Statements before the question, at most.
const LARGEST: usize = 6;

/// Iterations at a time: 2 to this power.
const TOGETHER: u32 = 3;

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    let mut walk = Calm { values: Values::new(&mut func.values) };
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
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

impl Calm<'_> {
    /// Writes the loop over blocks; gives that over what is left.
    fn in_blocks(&mut self, source: For, out: &mut Vec<Stmt>) -> For {
        let (low, shift) = (source.low, int(i64::from(TOGETHER)));
        let values = &mut self.values;
        let trips = values::trips([low, source.high], &mut |hint, kind, prim, args| {
            values.prim(hint, kind, prim, args, out)
        });
        let blocks = self.integer("blocks", prim::SHR, [trips, shift], out);
        let block = self.values.fresh("block", Kind::I64);
        let carry: Vec<(Value, Atom)> =
            source.carry.iter().map(|(v, start)| (self.values.like(*v), *start)).collect();
        let body = self.block(&source, [block.into(), low], &carry);
        let dst: Vec<Value> = carry.iter().map(|(v, _)| self.values.like(*v)).collect();
        let so_far = source.carry.iter().zip(&dst).map(|((v, _), after)| (*v, (*after).into()));
        let so_far = so_far.collect();
        out.push(counted(dst, block, [int(0), blocks], carry, body).into());
        let done = self.integer("done", prim::SHL, [blocks, shift], out);
        let rest = self.integer("rest", prim::IADD, [low, done], out);
        For { low: rest, carry: so_far, ..source }
    }

    /// The body for a block.
    fn block(&mut self, source: &For, [block, low]: [Atom; 2], carry: &[(Value, Atom)]) -> Block {
        let mut stmts = Vec::new();
        let shift = int(i64::from(TOGETHER));
        let start = self.integer("start", prim::SHL, [block, shift], &mut stmts);
        let first = self.integer("first", prim::IADD, [low, start], &mut stmts);
        let old = || carry.iter().map(|(v, _)| Atom::Value(*v));
        let given = || source.carry.iter().map(|(v, _)| *v).zip(old());
        let mut calm = Atom::Lit(Literal::Bool(true));
        for k in 0..1 << TOGETHER {
            let index = self.integer("index", prim::IADD, [first, int(k)], &mut stmts);
            let mut copier = Copier::with(given().chain([(source.index, index)]));
            if let Some((Stmt::If { cond, .. }, before)) = source.body.stmts.split_last() {
                stmts.extend(before.iter().map(|stmt| copier.stmt(stmt, &mut self.values)));
                let own = copier.atom(*cond);
                let kind = Kind::BOOL;
                calm = self.values.prim("calm", kind, prim::AND, &[calm, own], &mut stmts);
            }
        }
        let behind = self.integer("behind", prim::IADD, [first, int(1 << TOGETHER)], &mut stmts);
        let mut copier = Copier::default();
        let index = copier.fresh(source.index, &mut self.values);
        let inner: Vec<(Value, Atom)> = source
            .carry
            .iter()
            .zip(old())
            .map(|((v, _), before)| (copier.fresh(*v, &mut self.values), before))
            .collect();
        let body = copier.block(&source.body, &mut self.values);
        let mut fresh =
            || -> Vec<Value> { source.carry.iter().map(|(v, _)| self.values.like(*v)).collect() };
        let (changed, after) = (fresh(), fresh());
        let results = changed.iter().map(|v| (*v).into()).collect();
        let one_by_one = counted(changed, index, [first, behind], inner, body).into();
        stmts.push(Stmt::If {
            dst: after.clone(),
            cond: calm,
            then: Block { stmts: Vec::new(), results: old().collect() },
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
