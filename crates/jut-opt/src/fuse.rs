//! Loop fusion: a loop that reads, at its own index, what an earlier loop over the same range has collected
//! becomes one loop with it.
//!
//! Value and gradient are two sweeps: the loops of the value put on the tape what those of the gradient read
//! again. Where an iteration of the second loop (the *consumer*) needs only what the same iteration of the first
//! (the *producer*) has computed, and what was known before, one loop does both. An element of the tape is then a
//! name of the iteration, and the array of all of them is gone:
//!
//! ```text
//! (ts, s) = acc lanes r: f64 {             (g, s) = acc d: [n]f64 {
//!   ts = scan par (i < n) {                  s = acc lanes r: f64 {
//!     t = build (j < i) { .. }                 scan par (i < n) {
//!     r += f(t)                                  t = build (j < i) { .. }
//!     t                                          r += f(t)
//!   }                                            scan par (k < i) slice (v <- t) { d[k] += h(v) }
//!   ts                                         }
//! }                                          }
//! g = acc d: [n]f64 {                        s
//!   scan par (i < n) slice (t <- ts) {     }
//!     scan par (k < i) slice (v <- t) { d[k] += h(v) }
//!   }
//! }
//! ```
//!
//! The producer moves to the consumer, into the regions around that, its own regions closest round the loop, so
//! that a sum by lanes stays one. What was computed of its results in between moves behind the consumer.
//!
//! **Order.** Additions into one accumulator stay in their order, because the two loops, and what the producer
//! passes on its way, add into different ones. Errors and printed lines do, because of two things that change places
//! at most one can fail or print. What may take over an array (an update in place, a carry, the start of a sum) is not
//! passed, because the producer may still need that array.
//!
//! **Which loops.** Those that hand on more than a number for each iteration: rows, which loops inside have made. Where it is
//! a number, each of the two loops is better off alone: it may be taken several iterations at a time, or call functions for many
//! numbers at once, and there is little to be gained. So innermost loops stay apart, too; and what one of them hands to the other
//! is a row, not all rows together. Where a loop inside the producer carries something, its iterations wait for each other: while of
//! two loops apart the next iteration begins before this one has ended, in one they would all wait for what comes back. So
//! these are for two loops as well.
//!
//! *Requires*: a purely non-linear function of which no derivative is taken any more; every name is bound once.
//! *Ensures*: same results, same errors, no more work. What a loop collected and nobody reads any more is left to
//! [`crate::dead`], records that are opened again to [`crate::simplify`]; loops that then stand beside each other in a
//! fused body, to the next run. *Cost*: for each loop, the statements between it and the one that reads it.

mod find;
mod join;
mod sink;

use crate::inline::StatementCount;
use find::{Around, Found};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{FuncId, SecondaryMap};
use jut_ir::ir::*;

/// Statements of a function whose loops are fused: the search costs the square of their number.
const LARGEST: usize = 2000;

/// Fuses loops of a function of a program; `fallible` are the functions that can fail. Whether there were any.
pub fn fuse(program: &Program, func: &mut Function, fallible: &SecondaryMap<FuncId, bool>) -> bool {
    if !crate::unroll::has_loop(&func.body) || func.body.statement_count() > LARGEST {
        return false;
    }
    let body = std::mem::take(&mut func.body);
    let source = std::mem::take(func);
    let mut pass = Fuse { program, func: source, builder: None, fallible, fused: false };
    let body = pass.block(body);
    let fused = pass.fused;
    *func = pass.into_function();
    func.body = body;
    fused
}

struct Fuse<'a> {
    /// For its data types; the function is not in it.
    program: &'a Program,
    /// The function, as long as no new names were needed: they take a look at all names.
    func: Function,
    builder: Option<FunctionBuilder>,
    fallible: &'a SecondaryMap<FuncId, bool>,
    fused: bool,
}

impl Fuse<'_> {
    fn func(&self) -> &Function {
        self.builder.as_ref().map_or(&self.func, |builder| &builder.func)
    }

    fn builder(&mut self) -> &mut FunctionBuilder {
        let func = &mut self.func;
        self.builder.get_or_insert_with(|| FunctionBuilder::from_function(std::mem::take(func)))
    }

    fn into_function(self) -> Function {
        self.builder.map_or(self.func, |builder| builder.func)
    }

    /// A block, its loops fused and those inside of them. The last producer goes first: what it becomes may be read
    /// together with what an earlier one collects.
    fn block(&mut self, mut block: Block) -> Block {
        for at in (0..block.stmts.len()).rev() {
            self.fuse_at(&mut block.stmts, at);
        }
        for stmt in &mut block.stmts {
            for nested in stmt.rhs.blocks_mut() {
                *nested = self.block(std::mem::take(nested));
            }
        }
        block
    }

    /// Fuses the statement at a position with one behind it, if it can be.
    fn fuse_at(&mut self, stmts: &mut Vec<Stmt>, at: usize) {
        loop {
            let around =
                Around { program: self.program, func: self.func(), fallible: self.fallible };
            match find::consumer(around, &stmts[at..]) {
                Some(Found::Consumer(found)) => {
                    let behind = stmts.split_off(at);
                    stmts.extend(join::join(self.builder(), behind, &found));
                    self.fused = true;
                    return;
                }
                Some(Found::Tied(distance)) => {
                    let regions = at + distance;
                    let behind = sink::sink(self.builder(), &mut stmts[regions]);
                    if behind.is_empty() {
                        return;
                    }
                    stmts.splice(regions + 1..regions + 1, behind);
                }
                None => return,
            }
        }
    }
}
