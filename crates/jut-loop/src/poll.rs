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
//! - fills and copies go by pieces of 2^14 cells, in a loop that asks like others, unless they are
//!   shorter than one.
//! - a function that calls itself asks when it begins, and behind each such call if it does more than [`LEVEL`]
//!   operations: a million levels, all gone down, are still to come back from;
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

use crate::form::{Atom, BLOCK, Block, For, Lanes, LoopFuncId, LoopProgram, Site, Stmt};
use crate::recursion;
use cranelift_entity::SecondaryMap;
use jut_ir::ir::Literal;
use jut_ir::prim::Lowering;
use jut_ir::{RuntimeErrorKind, Span};

mod rounds;
mod whole;

pub use rounds::{rounds, spell_out};
pub use whole::PIECE;

/// Operations in a round of an innermost loop.
const INNERMOST: u64 = 1 << 16;

/// Operations in a round of another loop.
const OUTER: u64 = 1 << 19;

/// Operations without asking.
const MOST: u64 = 1 << 22;

/// Operations of one level of a recursion without asking: 2^20 levels come back.
const LEVEL: u64 = 1 << 6;

/// Operations that a call of a mathematical function counts as.
const FUNCTION: u64 = 16;

/// Operations that a statement on a whole buffer counts as, or on a piece of one.
const WHOLE: u64 = 1 << 10;

/// The program, asking now and then whether it is cancelled.
pub fn place(program: &LoopProgram) -> LoopProgram {
    let mut program = program.clone();
    let site = program.sites.next_key();
    let mut placer = Placer { functions: SecondaryMap::new(), site, asks: false };
    let recursive = recursion::recursive(&program);
    for (id, function) in program.funcs.iter_mut() {
        whole::cut(function);
        let work = placer.block(&mut function.body);
        if recursive[id] != 0 {
            let poll = placer.poll(1);
            if work.operations > LEVEL {
                function.body.rewrite(&mut |stmt, out| {
                    let again =
                        matches!(stmt, Stmt::Call { func, .. } if recursive[func] == recursive[id]);
                    out.push(stmt);
                    out.extend(again.then(|| poll.clone()));
                });
            }
            function.body.stmts.insert(0, poll);
        }
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
            let is_long = matches!(stmt, Stmt::Kernel { kernel, .. } if kernel.row().stops_early);
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
                Lowering::Opcode(_) => 1,
                Lowering::Runtime(_) => FUNCTION,
            },
            Stmt::Copy { .. }
            | Stmt::Previous { .. }
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

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}
