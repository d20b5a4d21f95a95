//! Where running code asks whether its call is cancelled.
//!
//! One place decides it for all backends: [`place`] puts the statement `poll` into a program, so that
//! never more than some 2^22 small operations lie between two of them: about a millisecond, some tens
//! if each of them waits for memory. What comes first is that loops stay fast:
//!
//! - a loop asks between rounds of `every` iterations, not in each, and not before its first: loops
//!   that are short never ask. In an innermost loop a round is 2^16 operations, in others 2^19, or one
//!   iteration; a `lanes` loop asks between its blocks. Loops whose length is a small literal do not
//!   ask.
//! - a `kernel` that may take long looks at the flag itself and stops early; behind it stands a `poll`,
//!   so nobody reads what it left.
//! - straight code asks where its operations, those of called functions among them, become too many.
//!
//! ```text
//! s = for up (i in 0 .. n) carry (a = 1.0) {     n > 8192: after 8192 iterations, after 16384, ..
//!   poll 8192
//!   ..
//! ```
//!
//! Rounds are for backends to make; for those whose loops cannot be left in the middle, [`spell_out`]
//! makes them loops of their own. Neither changes a bit of any result: a `lanes` loop ends its blocks
//! by adding them to its sums, in order, and that is what stands outside then.
//!
//! *Cost*: linear.

use crate::form::{
    Atom, BLOCK, Block, For, Kind, Lanes, LoopFuncId, LoopFunction, LoopProgram, Order, Site, Stmt,
    Value, ValueData,
};
use crate::kernel::Kernel;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use jut_ir::build::Namer;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Lowering, Prim};
use jut_ir::{RuntimeErrorKind, Span};

/// Operations in a round of an innermost loop.
const INNERMOST: u64 = 1 << 16;

/// Operations in a round of another loop.
const OUTER: u64 = 1 << 19;

/// Operations without asking.
const MOST: u64 = 1 << 22;

/// Operations that a call of a mathematical function counts as.
const FUNCTION: u64 = 16;

/// Operations that a statement on a whole buffer counts as.
const WHOLE: u64 = 1 << 10;

/// The program, asking now and then whether it is cancelled.
pub fn place(program: &LoopProgram) -> LoopProgram {
    let mut program = program.clone();
    let site = program.sites.next_key();
    let mut placer = Placer { functions: SecondaryMap::new(), site, asks: false };
    for (id, function) in program.funcs.iter_mut() {
        let work = placer.block(&mut function.body);
        placer.functions[id] = work.operations;
    }
    if placer.asks {
        program.sites.push((RuntimeErrorKind::Cancelled, Span::NONE));
    }
    program
}

/// What may happen without asking.
#[derive(Clone, Copy, Default)]
struct Work {
    operations: u64,
    /// Whether a loop asks there, if it is long.
    asks: bool,
}

struct Placer {
    /// What happens in each function without asking, at most.
    functions: SecondaryMap<LoopFuncId, u64>,
    /// What polls report, if there is one.
    site: Site,
    asks: bool,
}

impl Placer {
    fn poll(&mut self, every: u64) -> Stmt {
        self.asks = true;
        Stmt::Poll { every: u32::try_from(every).unwrap_or(u32::MAX), site: self.site }
    }

    fn block(&mut self, block: &mut Block) -> Work {
        let mut all = Work::default();
        let stmts = std::mem::take(&mut block.stmts);
        for mut stmt in stmts {
            let work = self.stmt(&mut stmt);
            all.asks |= work.asks;
            if all.operations.saturating_add(work.operations) > MOST {
                block.stmts.push(self.poll(1));
                all.operations = 0;
                all.asks = true;
            }
            all.operations = all.operations.saturating_add(work.operations);
            let is_long = matches!(stmt, Stmt::Kernel { kernel, .. } if stops_early(kernel));
            block.stmts.push(stmt);
            if is_long {
                block.stmts.push(self.poll(1));
            }
        }
        all
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> Work {
        let operations = match stmt {
            Stmt::Prim { prim, .. } => match prim.row().lowering {
                Lowering::Machine(_) => 1,
                Lowering::Runtime(_) => FUNCTION,
            },
            Stmt::Copy { .. }
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Offset { .. }
            | Stmt::Alloc { .. }
            | Stmt::Mark { .. }
            | Stmt::Release { .. }
            | Stmt::Check { .. }
            | Stmt::Poll { .. } => 1,
            Stmt::Fill { .. } | Stmt::CopyCells { .. } | Stmt::Kernel { .. } => WHOLE,
            Stmt::Call { func, .. } => self.functions[*func].saturating_add(1),
            Stmt::If { then, other, .. } => {
                let (then, other) = (self.block(then), self.block(other));
                return Work {
                    operations: then.operations.max(other.operations) + 1,
                    asks: then.asks || other.asks,
                };
            }
            Stmt::For(inner) => {
                let For { low, high, body, .. } = &mut **inner;
                return self.repeated((*low, *high), body, None);
            }
            Stmt::Lanes(inner) => {
                let Lanes { low, high, body, .. } = &mut **inner;
                return self.repeated((*low, *high), body, Some(BLOCK as u64));
            }
        };
        Work { operations, asks: false }
    }

    /// A loop; `round` says how many iterations a round has, if that is not free.
    fn repeated(
        &mut self,
        (low, high): (Atom, Atom),
        body: &mut Block,
        round: Option<u64>,
    ) -> Work {
        let mut once = self.block(body);
        once.operations += 1;
        let most = if once.asks { OUTER } else { INNERMOST };
        if let (Atom::Lit(Literal::I64(low)), Atom::Lit(Literal::I64(high))) = (low, high) {
            let trips = if low < high { high.abs_diff(low) } else { 0 };
            let operations = trips.saturating_mul(once.operations);
            if operations <= most {
                return Work { operations, asks: once.asks };
            }
        }
        let free = (most / once.operations).max(1).ilog2();
        let mut every = round.unwrap_or(1 << free);
        if every.saturating_mul(once.operations) > MOST {
            // A round of a given length would be too long: it asks inside.
            every = 1;
        }
        body.stmts.insert(0, self.poll(every));
        Work { operations: every.saturating_mul(once.operations), asks: true }
    }
}

/// Whether a kernel looks at the flag itself: those do that work on arrays of any size.
fn stops_early(kernel: Kernel) -> bool {
    let name = kernel.row().name;
    ["matmul", "matvec", "outer", "dot"].contains(&name) || name.starts_with("conv")
}

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
        let mut namer = Namer::default();
        values.values().for_each(|value| namer.reserve(&value.name));
        Rounds { values, namer }.block(body);
    }
}

struct Rounds<'a> {
    values: &'a mut PrimaryMap<Value, ValueData>,
    namer: Namer,
}

impl Rounds<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt, &mut block.stmts);
        }
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let found = match &stmt {
            Stmt::For(inner) => rounds(&inner.body),
            Stmt::Lanes(inner) => rounds(&inner.body),
            _ => None,
        };
        let Some((every, site, mut body)) = found else {
            stmt.blocks_mut().into_iter().for_each(|block| self.block(block));
            out.push(stmt);
            return;
        };
        self.block(&mut body);
        match stmt {
            Stmt::For(inner) => self.for_loop(For { body, ..*inner }, every, site, out),
            Stmt::Lanes(inner) => self.lanes(Lanes { body, ..*inner }, every, site, out),
            other => out.push(other),
        }
    }

    fn fresh(&mut self, hint: &str, kind: Kind) -> Value {
        let name = self.namer.fresh(hint);
        self.values.push(ValueData { name, kind })
    }

    fn like(&mut self, value: Value) -> Value {
        let ValueData { name, kind } = self.values[value].clone();
        self.fresh(&name, kind)
    }

    fn prim(&mut self, hint: &str, prim: Prim, args: &[Atom], out: &mut Vec<Stmt>) -> Atom {
        let kind = if prim == prim::ILT { Kind::Bool } else { Kind::I64 };
        let dst = self.fresh(hint, kind);
        out.push(Stmt::Prim { dst, prim, args: args.to_vec() });
        dst.into()
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

        let index = self.fresh("round", Kind::I64);
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
        let range = self.ranges((source.low, source.high), every, down, out, &mut stmts);
        let For { dst, order, index, carry, body, .. } = source;
        let mut outer = Vec::with_capacity(carry.len());
        let mut inner = Vec::with_capacity(carry.len());
        for (value, first) in carry {
            let around = self.like(value);
            outer.push((around, first));
            inner.push((value, around.into()));
        }
        let round: Vec<Value> = dst.iter().map(|value| self.like(*value)).collect();
        let results = round.iter().map(|value| Atom::Value(*value)).collect();
        let (low, high) = (range.low, range.high);
        let inner = For { dst: round, order, index, low, high, carry: inner, body };
        stmts.push(Stmt::For(Box::new(inner)));
        out.push(range.all(dst, outer, Block { stmts, results }));
    }

    fn lanes(&mut self, source: Lanes, every: u32, site: Site, out: &mut Vec<Stmt>) {
        let mut stmts = vec![Stmt::Poll { every: 1, site }];
        let range = self.ranges((source.low, source.high), every, false, out, &mut stmts);
        let zero = Atom::Lit(Literal::F64(0.0));
        let Lanes { dst, index, carry, body, .. } = source;
        let blocks: Vec<Value> = dst.iter().map(|value| self.like(*value)).collect();
        let sums: Vec<_> = dst.iter().map(|value| (self.like(*value), zero)).collect();
        let (low, high) = (range.low, range.high);
        let inner = Lanes { dst: blocks.clone(), index, low, high, carry, body };
        stmts.push(Stmt::Lanes(Box::new(inner)));
        let mut results = Vec::with_capacity(blocks.len());
        for ((sum, _), block) in sums.iter().zip(blocks) {
            // A block is 0.0 and its lanes: it differs from its lanes only where they are -0.0, which
            // a sum that began with 0.0 does not tell from 0.0.
            let next = self.like(*sum);
            let args = vec![(*sum).into(), block.into()];
            stmts.push(Stmt::Prim { dst: next, prim: prim::ADD, args });
            results.push(next.into());
        }
        out.push(range.all(dst, sums, Block { stmts, results }));
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
    fn all(self, dst: Vec<Value>, carry: Vec<(Value, Atom)>, body: Block) -> Stmt {
        let Range { rounds: high, index, .. } = self;
        Stmt::For(Box::new(For { dst, order: Order::Up, index, low: int(0), high, carry, body }))
    }
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}
