//! Sums in the order of a loop, whose terms are computed two at a time.
//!
//! A [marked](jut_loop::form::Vector) loop that carries nothing but [sums](jut_loop::analysis::sums_in_order) is taken [one pair](crate::pairs) of iterations
//! after the other; what a pair adds are two terms, of which one after the other is added, in the order of the loop. If it runs down, the
//! pairs begin at its end, and the second term comes first. An odd iteration, the last one, goes by itself. A loop that runs down and carries
//! nothing, of which neighbours hand on something, is taken so, too.
//!
//! Two sums share a register, so that two additions stand for four:
//!
//! ```text
//!   p0 p1, q0 q1 = ..               the terms of iterations i and i + 1, for sums s and t
//!   s1 t1 = s t + p0 q0
//!   s2 t2 = s1 t1 + p1 q1           or p1 q1 first, if the loop runs down
//! ```

use crate::loops::Counted;
use crate::translate::{Result, Translator};
use crate::vector::PairPlan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, MemFlagsData, types};
use jut_loop::analysis::Sum;
use jut_loop::form::{Atom, Block, For, Order, Site, Stmt, Vector};

impl Translator<'_> {
    /// Whole pairs of iterations, in order; gives the range that is left. What is carried becomes what is carried into that.
    pub(crate) fn pairs_in_order(
        &mut self,
        source: &For,
        (vector, sums): (Vector, &[Sum]),
        [low, high]: [ir::Value; 2],
        initial: &mut [ir::Value],
        poll: Option<(u32, Site)>,
    ) -> Result<[ir::Value; 2]> {
        // What is no sum is the same in all iterations.
        for ((value, _), first) in source.carry.iter().zip(&*initial) {
            self.bind(*value, *first);
        }
        let body = terms(&source.body, sums);
        let mut plan = PairPlan::of(source.index, &[], &body, vector);
        self.spread(&body, &mut plan)?;
        let none = self.int(0);
        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let trips = self.builder.ins().isub(high, low);
        let trips = self.builder.ins().select(any, trips, none);
        let whole = self.builder.ins().band_imm_s(trips, -2);
        let pairs = self.builder.ins().ushr_imm_u(whole, 1);
        let down = source.order == Order::Down;
        let (first, left) = match down {
            true => {
                let first = self.builder.ins().isub(high, whole);
                (first, [low, first])
            }
            false => {
                let end = self.builder.ins().iadd(low, whole);
                (low, [end, high])
            }
        };
        let poll = poll.map(|(every, site)| (every.div_ceil(2), site));
        let counted = Counted { order: source.order, bounds: [none, pairs], poll };
        let together: Vec<&[Sum]> = sums.chunks(2).collect();
        let mut started = Vec::with_capacity(together.len());
        for sums in &together {
            started.push(match sums {
                [s] => initial[s.number],
                [s, t, ..] => {
                    let both = self.builder.ins().splat(types::F64X2, initial[s.number]);
                    self.builder.ins().insertlane(both, initial[t.number], 1)
                }
                [] => return Err("a register of no sums".to_owned()),
            });
        }
        let ends = self.counted(&counted, &started, &mut |this, pair, carried| {
            let behind = this.builder.ins().ishl_imm_u(pair, 1);
            let index = this.builder.ins().iadd(first, behind);
            this.bind(source.index, index);
            let terms = this.one_pair(&body, &plan, (index, 0), &Vec::new())?;
            let mut next = Vec::with_capacity(together.len());
            let mut terms = terms.into_iter();
            for (sums, so_far) in together.iter().zip(carried) {
                let of_sums: Vec<ir::Value> = terms.by_ref().take(sums.len()).collect();
                let mut ordered = match of_sums[..] {
                    [p] => [0, 1].map(|k| this.builder.ins().extractlane(p, k)),
                    [p, q] => [LOW, HIGH].map(|lanes| this.interleaved(p, q, lanes)),
                    _ => return Err("terms that are not those of the sums".to_owned()),
                };
                if down {
                    ordered.reverse();
                }
                let add = |so_far, term| this.builder.ins().fadd(so_far, term);
                next.push(ordered.into_iter().fold(*so_far, add));
            }
            Ok(next)
        })?;
        for (sums, end) in together.iter().zip(ends) {
            match sums {
                [s] => initial[s.number] = end,
                _ => {
                    for (sum, lane) in sums.iter().zip(0..) {
                        initial[sum.number] = self.builder.ins().extractlane(end, lane);
                    }
                }
            }
        }
        Ok(left)
    }

    /// A lane of each of two registers side by side, by their bytes.
    pub(crate) fn interleaved(&mut self, a: ir::Value, b: ir::Value, lanes: [u8; 16]) -> ir::Value {
        let mask = self.builder.func.dfg.immediates.push(ConstantData::from(lanes.to_vec()));
        let order = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        let [a, b] = [a, b].map(|x| self.builder.ins().bitcast(types::I8X16, order, x));
        let both = self.builder.ins().shuffle(a, b, mask);
        self.builder.ins().bitcast(types::F64X2, order, both)
    }
}

/// The first lanes of two registers, and the second ones.
const LOW: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
const HIGH: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31];

/// A body that gives the terms of sums in place of adding them.
fn terms(body: &Block, sums: &[Sum]) -> Block {
    let is_addition = |stmt: &&Stmt| match stmt {
        Stmt::Prim { dst, .. } => sums.iter().any(|sum| sum.next == *dst),
        _ => false,
    };
    let stmts = body.stmts.iter().filter(|stmt| !is_addition(stmt)).cloned().collect();
    let results: Vec<Atom> = sums.iter().map(|sum| sum.term).collect();
    Block { stmts, results }
}
