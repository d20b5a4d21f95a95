//! Loops that ask between rounds of iterations: finding them, and spelling the rounds out.

use super::int;
use crate::form::{
    Atom, Block, For, Kind, Lanes, LoopFunction, LoopProgram, Order, Site, Stmt, Value,
};
use crate::values::Values;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Prim};

/// The number of iterations in a round of a loop, where it asks, and the body without that.
pub fn rounds(body: &Block) -> Option<(u32, Site, Block)> {
    match body.stmts.as_slice() {
        [Stmt::Poll { every, site }, rest @ ..] if *every > 1 => {
            let rest = Block { stmts: rest.to_vec(), results: body.results.clone() };
            Some((*every, *site, rest))
        }
        _ => None,
    }
}

/// The program with every round of a loop as a loop of its own, in one over all rounds, which asks
/// before each.
pub fn spell_out(program: &mut LoopProgram) {
    for function in program.funcs.values_mut() {
        let LoopFunction { body, values, .. } = function;
        let mut walk = Rounds { values: Values::new(values) };
        body.rewrite(&mut |stmt, out| walk.stmt(stmt, out));
    }
}

struct Rounds<'a> {
    values: Values<'a>,
}

impl Rounds<'_> {
    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let found = stmt.counted().and_then(|source| rounds(source.body));
        match (stmt, found) {
            (Stmt::For(inner), Some((every, site, body))) => {
                self.for_loop(For { body, ..*inner }, every, site, out);
            }
            // It does so itself: what iterations ask of those before them goes on from one round to the next.
            (Stmt::Lanes(inner), Some(_)) if inner.body.previous().next().is_some() => {
                out.push(Stmt::Lanes(inner));
            }
            (Stmt::Lanes(inner), Some((every, site, body))) => {
                self.lanes(Lanes { body, ..*inner }, every, site, out);
            }
            (stmt, _) => out.push(stmt),
        }
    }

    fn prim(&mut self, hint: &str, prim: Prim, args: &[Atom], out: &mut Vec<Stmt>) -> Atom {
        let kind = if prim == prim::ILT { Kind::BOOL } else { Kind::I64 };
        self.values.prim(hint, kind, prim, args, out)
    }

    /// Which rounds there are, in `out`, and which iterations one of them has, in `body`. All numbers
    /// of iterations are without a sign: they are right whatever the bounds are.
    fn ranges(
        &mut self,
        (low, high): (Atom, Atom),
        every: u32,
        down: bool,
        out: &mut Vec<Stmt>,
        body: &mut Vec<Stmt>,
    ) -> Range {
        let bits = every.ilog2();
        let shift = int(i64::from(bits));
        let any = self.prim("any", prim::ILT, &[low, high], out);
        let trips = self.prim("trips", prim::ISUB, &[high, low], out);
        let before = self.prim("last", prim::ISUB, &[trips, int(1)], out);
        let signed = self.prim("last", prim::SHR, &[before, shift], out);
        let mask = int(i64::from_ne_bytes((u64::MAX >> bits).to_ne_bytes()));
        let last = self.prim("last", prim::BITAND, &[signed, mask], out);
        let all = self.prim("rounds", prim::IADD, &[last, int(1)], out);
        let rounds = self.prim("rounds", prim::ISELECT, &[any, all, int(0)], out);

        let index = self.values.fresh("round", Kind::I64);
        let done = self.prim("done", prim::SHL, &[index.into(), shift], body);
        let left = self.prim("left", prim::ISUB, &[trips, done], body);
        let whole = self.prim("whole", prim::ILT, &[index.into(), last], body);
        let count = self.prim("count", prim::ISELECT, &[whole, int(i64::from(every)), left], body);
        let (first, end) = match down {
            false => {
                let first = self.prim("from", prim::IADD, &[low, done], body);
                (first, self.prim("end", prim::IADD, &[first, count], body))
            }
            true => {
                let end = self.prim("end", prim::ISUB, &[high, done], body);
                (self.prim("from", prim::ISUB, &[end, count], body), end)
            }
        };
        Range { rounds, index, low: first, high: end }
    }

    fn for_loop(&mut self, source: For, every: u32, site: Site, out: &mut Vec<Stmt>) {
        let mut stmts = vec![Stmt::Poll { every: 1, site }];
        let down = source.order == Order::Down;
        // Rounds end early as their iterations do: both carry the same.
        let around = if source.may_end_early() { Order::While } else { Order::Up };
        let range = self.ranges((source.low, source.high), every, down, out, &mut stmts);
        let For { dst, order, vector, index, carry, body, .. } = source;
        let mut outer = Vec::with_capacity(carry.len());
        let mut inner = Vec::with_capacity(carry.len());
        for (value, first) in carry {
            let carried = self.values.like(value);
            outer.push((carried, first));
            inner.push((value, carried.into()));
        }
        let round: Vec<Value> = dst.iter().map(|value| self.values.like(*value)).collect();
        let results = round.iter().map(|value| Atom::Value(*value)).collect();
        let (low, high) = (range.low, range.high);
        let inner = For { dst: round, order, vector, index, low, high, carry: inner, body };
        stmts.push(inner.into());
        out.push(range.all(around, dst, outer, Block { stmts, results }));
    }

    fn lanes(&mut self, source: Lanes, every: u32, site: Site, out: &mut Vec<Stmt>) {
        let mut stmts = vec![Stmt::Poll { every: 1, site }];
        let range = self.ranges((source.low, source.high), every, false, out, &mut stmts);
        let zero = Atom::Lit(Literal::F64(0.0));
        let Lanes { dst, vector, index, carry, body, .. } = source;
        let blocks: Vec<Value> = dst.iter().map(|value| self.values.like(*value)).collect();
        let sums: Vec<_> = dst.iter().map(|value| (self.values.like(*value), zero)).collect();
        let (low, high) = (range.low, range.high);
        let inner = Lanes { dst: blocks.clone(), vector, index, low, high, carry, body };
        stmts.push(inner.into());
        let mut results = Vec::with_capacity(blocks.len());
        for ((sum, _), block) in sums.iter().zip(blocks) {
            // A block is 0.0 and its lanes: it differs from its lanes only where they are -0.0, which
            // a sum that began with 0.0 does not tell from 0.0.
            let next = self.values.like(*sum);
            let args = vec![(*sum).into(), block.into()];
            stmts.push(Stmt::Prim { dst: next, prim: prim::ADD, args });
            results.push(next.into());
        }
        out.push(range.all(Order::Up, dst, sums, Block { stmts, results }));
    }
}

/// The iterations of a round, and the loop over all rounds.
struct Range {
    rounds: Atom,
    index: Value,
    low: Atom,
    high: Atom,
}

impl Range {
    fn all(self, order: Order, dst: Vec<Value>, carry: Vec<(Value, Atom)>, body: Block) -> Stmt {
        let Range { rounds: high, index, .. } = self;
        For { dst, order, vector: None, index, low: int(0), high, carry, body }.into()
    }
}
