//! Loops whose iterations are taken [two to a register](crate::vector), as many at a time as the loop says.
//!
//! What is left of the range goes one by one, after one more pair if there is a loop in the body. A loop of a few iterations, whose number is written down, is no loop: all of its pairs
//! stand one after the other; and of a long body one pair is computed at a time.
//!
//! What a [conjunction](jut_loop::analysis::conjunction) carries is a mask of two, given from pair to pair; whether it is all ones is asked once,
//! behind the last.

use crate::translate::{Result, Translator, block_args};
use crate::vector::{Carried, PairPlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use jut_loop::analysis::{Sum, conjunction, sums_in_order};
use jut_loop::form::{For, Order, Site, Vector};

/// Of bodies of more statements one pair is computed at a time.
pub(crate) const LONG: usize = 60;

/// The same of bodies with loops in them.
const TOO_LONG: usize = 120;

/// Iterations, and iterations times statements, of what is not worth a loop.
const FEW: i64 = 16;
const FEW_STATEMENTS: usize = 128;

/// How many iterations of a loop are taken at a time, in one loop after the other.
pub(crate) fn at_a_time(source: &For, vector: Vector) -> Vec<i64> {
    let width = i64::from(vector.width);
    let nested = source.body.any(&mut |stmt| stmt.is_loop());
    match (nested, source.body.size()) {
        // What is left is worth a pair by itself.
        (true, ..=TOO_LONG) if width > 2 => vec![width, 2],
        (false, ..=LONG) => vec![width],
        _ => vec![2],
    }
}

/// The sums of a marked loop, if its pairs have to be taken in order.
pub(crate) fn in_order(source: &For) -> Option<Vec<Sum>> {
    let sums = sums_in_order(source).filter(|_| conjunction(source).is_none());
    sums.filter(|sums| !sums.is_empty() || source.order == Order::Down)
}

impl Translator<'_> {
    /// How many iterations a loop has, if they are few and make whole pairs.
    pub(crate) fn few_pairs(&self, source: &For) -> Result<Option<i64>> {
        let [(low, from), (high, to)] = [self.index(source.low)?, self.index(source.high)?];
        let trips = to.checked_sub(from).filter(|trips| (2..=FEW).contains(trips));
        let whole = trips.filter(|trips| low == high && trips % 2 == 0);
        let nested = source.body.any(&mut |stmt| stmt.is_loop());
        Ok(whole.filter(|trips| !nested && source.body.size() * *trips as usize <= FEW_STATEMENTS))
    }

    /// So many iterations two to a register, and nothing else. There are none where the end is a constant behind the beginning and has wrapped.
    pub(crate) fn pairs_without_loop(
        &mut self,
        source: &For,
        vector: Vector,
        trips: i64,
        initial: &[ir::Value],
    ) -> Result<()> {
        let [low, high] = [self.atom(source.low)?, self.atom(source.high)?];
        let [begin, done] = [self.builder.create_block(), self.block_for(&source.dst)];
        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        self.builder.ins().brif(any, begin, &[], done, &block_args(initial));

        self.builder.switch_to_block(begin);
        let (carry, given) = self.masks(source);
        let mut plan = PairPlan::of(source.index, &carry, &source.body, vector);
        self.spread(&source.body, &mut plan)?;
        self.bind(source.index, low);
        let last = self.some_pairs(source, &plan, low, trips, given)?;
        let all = self.hold(initial, &last);
        self.builder.ins().jump(done, &block_args(&all));
        self.enter(done, &source.dst);
        Ok(())
    }

    /// Iterations two to a register, so many at a time; gives the first index that is left. What is carried becomes what is carried into that.
    pub(crate) fn pairs_loop(
        &mut self,
        source: &For,
        (vector, together): (Vector, i64),
        [low, high]: [ir::Value; 2],
        initial: &mut [ir::Value],
        poll: Option<(u32, Site)>,
    ) -> Result<ir::Value> {
        let (carry, given) = self.masks(source);
        let mut plan = PairPlan::of(source.index, &carry, &source.body, vector);
        self.spread(&source.body, &mut plan)?;
        let [main, done] = [self.block_of_masks(&given), self.block_of_masks(&given)];
        let none = self.int(0);
        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let trips = self.builder.ins().isub(high, low);
        let trips = self.builder.ins().select(any, trips, none);
        let whole = self.builder.ins().band_imm_s(trips, -together);
        let end = self.builder.ins().iadd(low, whole);
        let any = self.builder.ins().icmp(IntCC::NotEqual, low, end);
        let (mut begin, mut bound) = (main, end);
        let first = block_args(&[&[low][..], &given].concat());
        if let Some((every, _)) = poll {
            begin = self.block_of_masks(&given);
            self.builder.ins().brif(any, begin, &first, done, &first);
            self.builder.switch_to_block(begin);
            let params = self.builder.block_params(begin).to_vec();
            let most = self.int(i64::from(every).max(together));
            let left = self.builder.ins().isub(end, params[0]);
            let more = self.builder.ins().umin(left, most);
            bound = self.builder.ins().iadd(params[0], more);
            self.builder.ins().jump(main, &block_args(&params));
        } else {
            self.builder.ins().brif(any, main, &first, done, &first);
        }

        self.builder.switch_to_block(main);
        let params = self.builder.block_params(main).to_vec();
        let index = params[0];
        self.bind(source.index, index);
        let last = self.some_pairs(source, &plan, index, together, params[1..].to_vec())?;
        let next = self.builder.ins().iadd_imm_s(index, together);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, bound);
        let args = block_args(&[&[next][..], &last].concat());
        if let Some((_, site)) = poll {
            let turn = self.builder.create_block();
            self.builder.ins().brif(more, main, &args, turn, &[]);
            self.builder.switch_to_block(turn);
            let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, end);
            self.ask(more, site, (begin, &args), (done, &args));
        } else {
            self.builder.ins().brif(more, main, &args, done, &args);
        }
        self.builder.switch_to_block(done);
        let params = self.builder.block_params(done).to_vec();
        let all = self.hold(initial, &params[1..]);
        initial.copy_from_slice(&all);
        Ok(params[0])
    }

    /// What a loop carries, and masks for it that say yes.
    fn masks(&mut self, source: &For) -> (Vec<jut_loop::form::Value>, Vec<ir::Value>) {
        let carry: Vec<_> = source.carry.iter().map(|(value, _)| *value).collect();
        let mut given = Vec::with_capacity(carry.len());
        for _ in &carry {
            let ones = self.int(-1);
            given.push(self.builder.ins().splat(types::I64X2, ones));
        }
        (carry, given)
    }

    /// Translates so many iterations from `index` on; each pair is given the masks of the one before.
    fn some_pairs(
        &mut self,
        source: &For,
        plan: &PairPlan,
        index: ir::Value,
        trips: i64,
        given: Vec<ir::Value>,
    ) -> Result<Vec<ir::Value>> {
        if given.is_empty() {
            let nothing = vec![Vec::new(); trips as usize / 2];
            self.some_at_once(&source.body, plan, index, &nothing)?;
            return Ok(given);
        }
        let mut masks = given;
        for k in (0..trips).step_by(2) {
            let carried: Carried = source.carry.iter().map(|(v, _)| *v).zip(masks).collect();
            masks = self.one_pair(&source.body, plan, (index, k), &carried)?;
        }
        Ok(masks)
    }

    /// Whether what was carried before held, and both halves of its mask do.
    fn hold(&mut self, before: &[ir::Value], masks: &[ir::Value]) -> Vec<ir::Value> {
        let mut all = Vec::with_capacity(before.len());
        for (before, mask) in before.iter().zip(masks) {
            let both = self.builder.ins().vall_true(*mask);
            all.push(self.builder.ins().band(*before, both));
        }
        all
    }

    /// A block with an index, and these masks.
    fn block_of_masks(&mut self, masks: &[ir::Value]) -> ir::Block {
        let block = self.block_with(1, 0);
        for _ in masks {
            self.builder.append_block_param(block, types::I64X2);
        }
        block
    }
}
