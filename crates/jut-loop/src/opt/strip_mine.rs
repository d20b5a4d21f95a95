//! Strip-mining for mathematical functions of many numbers at once: loops that call one per iteration are
//! taken apart.
//!
//! A loop whose iterations are independent, or that only sums, is cut into blocks of [`BLOCK`]
//! iterations. For each block, what comes before a call goes first, for all iterations of the block,
//! with the arguments of the call in a buffer; then a [kernel](crate::kernel) replaces the
//! arguments by results, in the machine's widest vectors; then the rest follows.
//!
//! ```text
//! (s) = lanes (i in 0 .. n)         (s) = for up (k in 0 .. blocks) carry (sum = 0.0) {
//!     carry (s_1) {                   .. start, end, count of the block ..
//!   a = x[i]                          for par (i in start .. end) {
//!   b = a - m                           a = x[i]
//!   e = exp(b)                          b = a - m
//!   t[i] = e                            buffer[i] = b
//!   s_2 = s_1 + e                     }
//!   (s_2)                             kernel exp(buffer, count)
//! }                                   (t) = lanes (i in start .. end) carry (s_1) {
//!                                       e = buffer[i]
//!                                       t[i] = e
//!                                       s_2 = s_1 + e
//!                                       (s_2)
//!                                     }
//!                                     sum_1 = sum + t
//!                                     (sum_1)
//!                                   }
//! ```
//!
//! A loop that carries numbers, too, if what is called does not depend on what it gives: they go round one of the
//! [stages](plan), and from one block to the next.
//!
//! A target with vectors of its own takes most loops several iterations at a time as they are. Where it
//! cannot, because a loop stands in the body or a number is carried, there is a loop instead of the kernel,
//! and where the first stage is one that it can take, the call is part of that:
//!
//! ```text
//! (p) = for up (j in 0 .. m) carry (p_1 = s) {     for par vector 8 (j_1 in start .. end) {
//!   z = t[j]                                         z_1 = t[j_1]
//!   e = exp(z)                                       e_1 = exp(z_1)
//!   p_2 = p_1 * e                                    cell = j_1 - start
//!   (p_2)                                            buffer[cell] = e_1
//! }                                                }
//!                                                  (p_3) = for up (j in start .. end) carry (p_1 = p_4) {
//!                                                    cell_1 = j - start
//!                                                    e = buffer[cell_1]
//!                                                    p_2 = p_1 * e
//!                                                    (p_2)
//!                                                  }
//! ```
//!
//! Of a sine and a cosine of one number, one kernel makes both.
//!
//! The blocks are those of the fixed order of sums, so no bit changes. What only computes is computed
//! again where it is needed once more; what costs more (a sum in the body, another function) is kept
//! in a buffer too. Stores come last, checks first, so the first iteration that fails still is the
//! one that is reported; but a loop in the body that both sums and stores to where nothing else in the body looks, as to
//! the tape, runs as soon as it can.
//!
//! [`crate::target::StripMine`] says which of both a backend wants. Requires: a function of the loop form, tidied up. Ensures: the same results, bit for
//! bit. The buffers are parts of one allocation of constant length at the head of the function, which
//! [`crate::need`] does not know of: it is meant for the stack. Cost: linear, times the functions that are
//! called one after the other; the text grows by a constant factor.

mod copier;
mod plan;
mod steps;

use std::collections::HashSet;

use cranelift_entity::PrimaryMap;
use jut_ir::build::Namer;
use jut_ir::prim::{self, Lowering, Prim};
use jut_ir::{Literal, Scalar};

use self::copier::Copier;
use self::plan::{LATE, Plan};
use self::steps::{Places, Step, repeat, steps};
use super::vector;
use crate::analysis::sine_and_cosine;
use crate::form::{
    Arena, Atom, BLOCK, Block, Cell, Check, For, Kind, LoopFunction, LoopProgram, Order, Site,
    Stmt, Value, ValueData,
};
use crate::kernel;
use crate::target::{StripMine, Target, Vectors};
use crate::values::trips;

/// Buffers of a function at most, each of [`BLOCK`] floats.
const BUFFERS: usize = 6;

/// Bytes of these.
pub(super) const MOST: u32 = 8 * BUFFERS as u32 * BLOCK as u32;

/// Statements of a body that is taken apart.
const LARGEST: usize = 200;

/// A loop of so few iterations, if that is known, stays as it is.
const FEW: i64 = 3;

/// The program with its loops taken apart; `None` if there is nothing to do.
pub fn run(program: &LoopProgram, target: &Target) -> Option<LoopProgram> {
    let how = match (target.strip_mine, &target.vectors) {
        (StripMine::Kernels, _) => How::Kernels,
        (StripMine::Loops, Some(vectors)) => How::Loops(vectors),
        (StripMine::No, _) | (StripMine::Loops, None) => return None,
    };
    if !program.funcs.values().any(|func| how.calls(&func.body, false)) {
        return None;
    }
    let mut program = program.clone();
    let mut changed = false;
    for func in program.funcs.values_mut() {
        if how.calls(&func.body, false) && function(func, how) {
            // What the new loops compute of their bounds and buffers.
            super::motion::run(func);
            changed = true;
        }
    }
    changed.then_some(program)
}

/// What takes many numbers at once.
#[derive(Clone, Copy)]
enum How<'t> {
    /// Kernels.
    Kernels,
    /// Loops over a buffer, for these vectors.
    Loops(&'t Vectors),
}

impl How<'_> {
    /// Whether a function has a form for many numbers.
    fn is_of_many(self, prim: Prim) -> bool {
        match (self, prim.row().lowering) {
            (_, Lowering::Opcode(_)) => false,
            (How::Kernels, Lowering::Runtime(symbol)) => kernel::of_many(symbol).is_some(),
            (How::Loops(vectors), Lowering::Runtime(symbol)) => {
                let params = prim.row().params;
                params.len() <= 2
                    && params.iter().all(|param| *param == Scalar::F64)
                    && (vectors.wide)(symbol)
            }
        }
    }

    /// Whether a loop in the block calls such a function.
    fn calls(self, block: &Block, in_loop: bool) -> bool {
        block.stmts.iter().any(|stmt| match stmt {
            Stmt::Prim { prim, .. } => in_loop && self.is_of_many(*prim),
            _ => {
                let in_loop = in_loop || stmt.is_loop();
                stmt.blocks().into_iter().any(|inner| self.calls(inner, in_loop))
            }
        })
    }
}

fn function(func: &mut LoopFunction, how: How<'_>) -> bool {
    let mut namer = Namer::default();
    for data in func.values.values() {
        namer.reserve(&data.name);
    }
    let name = namer.fresh("strips");
    let known = vector::Memory::of(func);
    let memory = func.values.push(ValueData { name, kind: Kind::Buffer(Cell::F64) });
    let mut own = HashSet::new();
    own.insert(memory);
    let mut walk = Walk { how, known, values: &mut func.values, namer, memory, own };
    let used = walk.block(&mut func.body);
    if used == 0 {
        return false;
    }
    let (len, site) = (int(BLOCK * used as i64), Site::from_u32(0));
    let alloc = Stmt::Alloc { dst: memory, cell: Cell::F64, len, arena: Arena::Temp, site };
    func.body.stmts.insert(0, alloc);
    true
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

struct Walk<'a> {
    how: How<'a>,
    known: vector::Memory,
    values: &'a mut PrimaryMap<Value, ValueData>,
    namer: Namer,
    /// All buffers.
    memory: Value,
    /// It and its parts.
    own: HashSet<Value>,
}

/// A loop that may be taken apart.
struct Source<'s> {
    dst: &'s [Value],
    index: Value,
    low: Atom,
    high: Atom,
    body: &'s Block,
    /// Up, for one that sums.
    order: Order,
    /// What an iteration knows of those before it.
    carried: Vec<Value>,
    /// Whether these are sums by lanes.
    sums: bool,
}

impl<'s> Source<'s> {
    fn of(stmt: &'s Stmt) -> Option<Source<'s>> {
        match stmt {
            Stmt::For(f) if !f.may_end_early() => Some(Source {
                dst: &f.dst,
                index: f.index,
                low: f.low,
                high: f.high,
                body: &f.body,
                order: f.order,
                carried: f.carry.iter().map(|(value, _)| *value).collect(),
                sums: false,
            }),
            Stmt::Lanes(l) => Some(Source {
                dst: &l.dst,
                index: l.index,
                low: l.low,
                high: l.high,
                body: &l.body,
                order: Order::Up,
                carried: l.carry.clone(),
                sums: true,
            }),
            _ => None,
        }
    }
}

/// The buffers of a block.
struct Buffers {
    /// Each; its first cell is that of the block's first iteration.
    parts: Vec<Value>,
    /// The same, as buffers of which cell i is that of iteration i. None if cells are found by the distance
    /// of the iteration from the first: not every backend has pointers that point out of their memory.
    shifted: Vec<Value>,
    /// The block's first iteration.
    start: Atom,
}

/// What the stages of a loop are made of, and what goes round one of them.
struct Stages<'s> {
    body: &'s Block,
    index: Value,
    places: &'s Places,
    buffers: &'s Buffers,
    rounds: Vec<&'s Round>,
}

/// A number that goes round a stage.
struct Round {
    stage: usize,
    /// What the loop as it was carries.
    value: Value,
    next: Atom,
    /// What is carried from block to block.
    outer: Value,
    /// What it is after the last iteration of a block.
    dst: Value,
}

/// A stage but the last, for one iteration.
struct Stage {
    index: Value,
    stmts: Vec<Stmt>,
    /// What goes round it, and what is carried on.
    carry: Vec<(Value, Atom)>,
    results: Vec<Atom>,
    /// What that is after the last iteration.
    dst: Vec<Value>,
}

impl Stage {
    fn over(self, [low, high]: [Atom; 2], order: Order) -> Stmt {
        Stmt::For(Box::new(For {
            dst: self.dst,
            order,
            vector: None,
            index: self.index,
            low,
            high,
            carry: self.carry,
            body: Block { stmts: self.stmts, results: self.results },
        }))
    }
}

impl Walk<'_> {
    /// Takes the loops of a block apart; gives the number of buffers that are used.
    fn block(&mut self, block: &mut Block) -> usize {
        let mut most = 0;
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            let mut used = 0;
            for inner in stmt.blocks_mut() {
                used = used.max(self.block(inner));
            }
            let more = match Source::of(&stmt) {
                Some(source) if !self.is_taken_whole(&stmt) => {
                    self.apart(&stmt, source, used, &mut out)
                }
                _ => None,
            };
            match more {
                Some(more) => used += more,
                None => out.push(stmt),
            }
            most = most.max(used);
        }
        block.stmts = out;
        most
    }

    /// Whether the target takes several iterations of a loop at once as it is, so that nothing is gained.
    fn is_taken_whole(&self, stmt: &Stmt) -> bool {
        match self.how {
            How::Kernels => false,
            How::Loops(vectors) => vector::takes(self.values, &self.known, vectors, stmt),
        }
    }

    /// Writes a loop in stages and gives the number of buffers that it takes, beyond those already
    /// used in it.
    fn apart(
        &mut self,
        stmt: &Stmt,
        source: Source<'_>,
        used: usize,
        out: &mut Vec<Stmt>,
    ) -> Option<usize> {
        let Source { index, low, high, body, order, .. } = source;
        if let (Atom::Lit(Literal::I64(low)), Atom::Lit(Literal::I64(high))) = (low, high)
            && high.saturating_sub(low) <= FEW
        {
            return None;
        }
        let (plan, stages, mut places) = self.plans(&source).into_iter().find_map(|plan| {
            let stages: Vec<_> = (0..=plan.last).map(|s| steps(&plan, &source, s)).collect();
            let places = self.places(&plan, &source, &stages)?;
            let fits = used + places.count() <= BUFFERS && !repeat(&plan, &source, &stages);
            fits.then_some((plan, stages, places))
        })?;
        let count = places.count();

        let mut block = Block::default();
        let at = &mut block.stmts;
        let number = self.value("block", Kind::I64);
        // (trips - 1) / BLOCK, rounded down, + 1: nothing runs if there are no trips.
        let trips = trips([low, high], &mut |hint, kind, prim, args| {
            let dst = self.value(hint, kind);
            out.push(Stmt::Prim { dst, prim, args: args.to_vec() });
            dst.into()
        });
        let less = self.integer("less", prim::ISUB, [trips, int(1)], out);
        let shift = i64::from(BLOCK.trailing_zeros());
        let blocks = self.integer("blocks", prim::SHR, [less, int(shift)], out);
        let blocks = self.integer("blocks", prim::IADD, [blocks, int(1)], out);

        let start = self.integer("start", prim::SHL, [number.into(), int(shift)], at);
        let left = self.integer("left", prim::ISUB, [trips, start], at);
        let taken = self.integer("taken", prim::IMIN, [left, int(BLOCK)], at);
        let start = self.integer("start", prim::IADD, [low, start], at);
        let end = self.integer("end", prim::IADD, [start, taken], at);
        let mut buffers = Buffers { parts: Vec::new(), shifted: Vec::new(), start };
        for k in used..used + count {
            let part = self.part(self.memory, int(BLOCK * k as i64), at);
            buffers.parts.push(part);
            if let How::Kernels = self.how {
                // The cell of iteration i is number i of the buffer that begins so much before.
                let back = self.integer("back", prim::ISUB, [int(0), start], at);
                buffers.shifted.push(self.part(part, back, at));
            }
        }
        let order = if plan.ordered { order } else { Order::Par };
        let partners = match self.how {
            How::Kernels => sine_and_cosine(body),
            How::Loops(_) => Default::default(),
        };
        let cosine = |stmt: &Stmt| match stmt {
            Stmt::Prim { dst, prim: prim::COS, .. } if partners.contains_key(dst) => Some(*dst),
            _ => None,
        };
        places.with_another.extend(body.stmts.iter().filter_map(cosine));
        let rounds = self.rounds(&plan, &source);
        for (s, steps) in stages.iter().enumerate() {
            if s == plan.last {
                let mut inner = Block::default();
                let mut copier = Copier::new(self, &places, &buffers, false);
                copier.steps(steps, body, index, &mut inner.stmts);
                inner.results = body.results.clone();
                self.last_stage(stmt, [start, end], inner, (&rounds, s), &mut block);
                break;
            }
            let rounds: Vec<&Round> = rounds.iter().filter(|round| round.stage == s).collect();
            let order = if rounds.is_empty() { order } else { source.order };
            let with = Stages { body, index, places: &places, buffers: &buffers, rounds };
            // With the functions in it, if the target takes several iterations of that at once.
            if let How::Loops(_) = self.how {
                let whole = self.stage(steps, &with, true);
                let whole = whole.over([start, end], order);
                if self.is_taken_whole(&whole) {
                    block.stmts.push(whole);
                    continue;
                }
            }
            let arguments = self.stage(steps, &with, false);
            block.stmts.push(arguments.over([start, end], order));
            for step in steps {
                if let Step::Argument(k) = step
                    && let Stmt::Prim { dst, prim, .. } = &body.stmts[*k]
                {
                    let of_call = |dst| places.of_call(dst).map(|place| buffers.parts[place]);
                    let call = match partners.get(dst) {
                        // Computed with its partner.
                        Some(None) => continue,
                        Some(Some(partner)) => {
                            let of_both: Vec<Value> = match *prim {
                                prim::SIN => of_call(*dst).chain(of_call(*partner)).collect(),
                                _ => of_call(*partner).chain(of_call(*dst)).collect(),
                            };
                            let args = of_both.into_iter().map(Atom::from).chain([taken]).collect();
                            Stmt::Kernel { kernel: kernel::SIN_COS, args }
                        }
                        None => self.call(*prim, of_call(*dst).collect(), taken)?,
                    };
                    block.stmts.push(call);
                }
            }
        }
        let mut carry = Vec::new();
        match stmt {
            Stmt::Lanes(_) => {
                // The last stage left the sums of the block as results.
                for sum in &mut block.results {
                    let total = self.value("sum", Kind::F64);
                    carry.push((total, Atom::Lit(Literal::F64(0.0))));
                    let next = self.value("sum", Kind::F64);
                    let args = vec![total.into(), *sum];
                    block.stmts.push(Stmt::Prim { dst: next, prim: prim::ADD, args });
                    *sum = next.into();
                }
            }
            Stmt::For(source) => {
                let initial = source.carry.iter().map(|(_, initial)| *initial);
                carry.extend(rounds.iter().map(|round| round.outer).zip(initial));
            }
            _ => {}
        }
        out.push(Stmt::For(Box::new(For {
            dst: source.dst.to_vec(),
            order: if source.order == Order::Down { Order::Down } else { Order::Up },
            vector: None,
            index: number,
            low: int(0),
            high: blocks,
            carry,
            body: block,
        })));
        Some(count)
    }

    /// What goes round the stages of a loop that carries numbers, in their order.
    fn rounds(&mut self, plan: &Plan, source: &Source<'_>) -> Vec<Round> {
        if source.sums {
            return Vec::new();
        }
        let carried = source.carried.iter().zip(&plan.carried).zip(&source.body.results);
        carried
            .map(|((value, stage), next)| Round {
                stage: if *stage == LATE { plan.last } else { *stage },
                value: *value,
                next: *next,
                outer: self.like(*value),
                dst: self.like(*value),
            })
            .collect()
    }

    /// A stage but the last; `calls`: with the functions, else with their arguments.
    fn stage(&mut self, steps: &[Step], with: &Stages<'_>, calls: bool) -> Stage {
        let Stages { body, index, places, buffers, ref rounds } = *with;
        let mut copier = Copier::new(self, places, buffers, true);
        copier.calls = calls;
        let index = copier.fresh(index);
        let carry = rounds.iter().map(|round| (copier.fresh(round.value), round.outer.into()));
        let carry = carry.collect();
        let mut stmts = Vec::new();
        copier.steps(steps, body, index, &mut stmts);
        let mut results: Vec<Atom> = rounds.iter().map(|round| round.next).collect();
        results.iter_mut().for_each(|next| copier.rename(next));
        Stage { index, stmts, carry, results, dst: rounds.iter().map(|round| round.dst).collect() }
    }

    /// What replaces so many cells of a buffer by a function of them, and of those of a second buffer, if there is one.
    fn call(&mut self, prim: Prim, buffers: Vec<Value>, taken: Atom) -> Option<Stmt> {
        if let (How::Kernels, Lowering::Runtime(symbol)) = (self.how, prim.row().lowering) {
            let kernel = kernel::of_many(symbol)?;
            let args = buffers.into_iter().map(Atom::from).chain([taken]).collect();
            return Some(Stmt::Kernel { kernel, args });
        }
        let index = self.value("k", Kind::I64);
        let (mut stmts, mut args) = (Vec::new(), Vec::new());
        for buffer in &buffers {
            let x = self.value("x", Kind::F64);
            stmts.push(Stmt::Load { dst: x, buffer: *buffer, index: index.into() });
            args.push(x.into());
        }
        let y = self.value("y", Kind::F64);
        stmts.push(Stmt::Prim { dst: y, prim, args });
        let buffer = *buffers.first()?;
        stmts.push(Stmt::Store { buffer, index: index.into(), value: y.into() });
        let stage = Stage { index, stmts, carry: vec![], results: vec![], dst: vec![] };
        Some(stage.over([int(0), taken], Order::Par))
    }

    /// The loop itself over one block, with what is left of its body.
    fn last_stage(
        &mut self,
        stmt: &Stmt,
        [low, high]: [Atom; 2],
        body: Block,
        (rounds, last): (&[Round], usize),
        out: &mut Block,
    ) {
        match stmt {
            Stmt::Lanes(source) => {
                let mut inner = source.clone();
                inner.dst = source.dst.iter().map(|_| self.value("sum", Kind::F64)).collect();
                out.results = inner.dst.iter().map(|v| (*v).into()).collect();
                (inner.low, inner.high, inner.body) = (low, high, body);
                out.stmts.push(Stmt::Lanes(inner));
            }
            Stmt::For(source) => {
                let mut inner = source.clone();
                (inner.low, inner.high, inner.body) = (low, high, body);
                // It begins with what the blocks carry.
                (inner.dst, inner.carry, inner.body.results) = Default::default();
                for round in rounds {
                    out.results.push(round.dst.into());
                    if round.stage == last {
                        inner.dst.push(round.dst);
                        inner.carry.push((round.value, round.outer.into()));
                        inner.body.results.push(round.next);
                    }
                }
                out.stmts.push(Stmt::For(inner));
            }
            _ => {}
        }
    }

    /// A new value that is to be what another one is.
    fn like(&mut self, old: Value) -> Value {
        let ValueData { name, kind } = self.values[old].clone();
        self.value(&name, kind)
    }

    fn value(&mut self, hint: &str, kind: Kind) -> Value {
        let name = self.namer.fresh(hint);
        self.values.push(ValueData { name, kind })
    }

    fn integer(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        let dst = self.value(hint, Kind::I64);
        out.push(Stmt::Prim { dst, prim, args: args.to_vec() });
        dst.into()
    }

    fn part(&mut self, buffer: Value, index: Atom, out: &mut Vec<Stmt>) -> Value {
        let dst = self.value("part", Kind::Buffer(Cell::F64));
        self.own.insert(dst);
        out.push(Stmt::Offset { dst, buffer, index });
        dst
    }
}

fn value_of(atom: &Atom) -> Option<Value> {
    match atom {
        Atom::Value(v) => Some(*v),
        Atom::Lit(_) => None,
    }
}

/// Every value that a statement reads, in its blocks too.
fn reads(stmt: &Stmt, visit: &mut dyn FnMut(Value)) {
    // Atoms are visited to be changed; this copy has no blocks worth mentioning.
    let mut shallow = match stmt {
        Stmt::If { cond, .. } => Stmt::If {
            dst: Vec::new(),
            cond: *cond,
            then: Block::default(),
            other: Block::default(),
        },
        Stmt::For(f) => {
            f.carry.iter().for_each(|(_, a)| value_of(a).into_iter().for_each(&mut *visit));
            [f.low, f.high].iter().filter_map(value_of).for_each(&mut *visit);
            Stmt::Check { check: Check::NonZero(int(1)), site: Site::from_u32(0) }
        }
        Stmt::Lanes(l) => {
            [l.low, l.high].iter().filter_map(value_of).for_each(&mut *visit);
            Stmt::Check { check: Check::NonZero(int(1)), site: Site::from_u32(0) }
        }
        other => other.clone(),
    };
    shallow.operands_mut(&mut |a| value_of(a).into_iter().for_each(&mut *visit));
    for inner in stmt.blocks() {
        inner.stmts.iter().for_each(|stmt| reads(stmt, visit));
        inner.results.iter().filter_map(value_of).for_each(&mut *visit);
    }
}
