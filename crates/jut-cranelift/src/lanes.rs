//! Sums in the fixed order: `lanes`.
//!
//! A `lanes` loop keeps eight partial sums per sum. Iteration i, counted from the first, belongs to
//! lane i mod 8, and blocks of 1024 iterations are summed in order. Three parts stand inside the
//! loop over blocks:
//!
//! 1. if the body is small, a main loop of eight iterations at a time, whose lanes are registers, two
//!    to a register where [the loop says so](crate::vector);
//! 2. a loop over what is left. If lanes are two to a register and the loop does not read what [has just been stored](jut_loop::analysis::JustStored), iterations go in pairs: one adds to the
//!    first register, which becomes the last one. Else the lanes of one sum with a small body are registers, of which the first is added to and
//!    becomes the last; and those of other sums are [in memory](crate::stacked), as they are for all iterations of a large body;
//! 3. the tree: lane k plus lane k + 4, k plus k + 2, k plus k + 1, and the sum plus that. Lanes that have moved on are
//!    added in the same pairs.

use crate::pairs;
use crate::translate::{Result, Translator, block_args};
use crate::vector::{Carried, PairPlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use jut_ir::prim::Lowering;
use jut_loop::form::{BLOCK, Block, LANES, Lanes, Site, Stmt};
use jut_loop::poll::rounds;

/// Bodies of at most so many statements are repeated for every lane.
const SMALL: usize = 16;

/// Translates a block of a loop of sums; gives what it adds to each.
type OfBlock<'b, T> = &'b mut dyn FnMut(&mut T, [ir::Value; 3]) -> Result<Vec<ir::Value>>;

impl Translator<'_> {
    pub(crate) fn lanes_loop(&mut self, source: &Lanes) -> Result<()> {
        self.literals.enter_loop(&source.body, &mut self.builder);
        let translated = match rounds(&source.body) {
            None => self.lanes_rounds(source, None),
            Some((_, site, body)) => {
                let (dst, carry) = (source.dst.clone(), source.carry.clone());
                self.lanes_rounds(&Lanes { dst, carry, body, ..*source }, Some(site))
            }
        };
        self.literals.leave_loop();
        translated
    }

    /// A loop of sums, which may ask between its blocks if the call is cancelled.
    fn lanes_rounds(&mut self, source: &Lanes, poll: Option<Site>) -> Result<()> {
        let sums = source.dst.len();
        if source.carry.len() != sums || source.body.results.len() != sums {
            return Err("a lanes loop has another number of sums".to_owned());
        }
        self.begin_before(&source.body, source.vector.is_some())?;
        let bounds = [self.atom(source.low)?, self.atom(source.high)?];
        let zeros = vec![self.float(0.0); sums];
        let ends = self.in_blocks(bounds, &zeros, poll, &mut |this, [start, taken, end]| {
            let [combine, ended] = [sums * LANES, sums].map(|floats| this.block_with(0, floats));
            this.lanes_of_block(source, [start, taken, end], [combine, ended])?;
            this.builder.switch_to_block(combine);
            let lanes = this.builder.block_params(combine).to_vec();
            let added: Vec<_> = lanes.chunks(LANES).map(|lanes| this.tree(lanes)).collect();
            this.builder.ins().jump(ended, &block_args(&added));
            this.builder.switch_to_block(ended);
            Ok(this.builder.block_params(ended).to_vec())
        })?;
        source.dst.iter().zip(ends).for_each(|(dst, end)| self.bind(*dst, end));
        Ok(())
    }

    /// Sums that begin with these zeros, to which each block of iterations adds what it is given: where a block begins, how many iterations it has, and where
    /// it ends. Gives the sums.
    pub(crate) fn in_blocks(
        &mut self,
        [low, high]: [ir::Value; 2],
        zeros: &[ir::Value],
        poll: Option<Site>,
        sums_of: OfBlock<'_, Self>,
    ) -> Result<Vec<ir::Value>> {
        let [outer, done] = [self.block_like(zeros), self.block_like(zeros)];
        let [start, left] = [(); 2].map(|()| self.builder.append_block_param(outer, types::I64));
        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let total = self.builder.ins().isub(high, low);
        let first = block_args(&[zeros, &[low, total]].concat());
        self.builder.ins().brif(any, outer, &first, done, &block_args(zeros));

        self.builder.switch_to_block(outer);
        let totals = self.builder.block_params(outer)[..zeros.len()].to_vec();
        let most = self.int(BLOCK);
        // The distance from low to high as an unsigned number is always right.
        let taken = self.builder.ins().umin(left, most);
        let end = self.builder.ins().iadd(start, taken);
        let sums = sums_of(self, [start, taken, end])?;
        let mut next = Vec::with_capacity(zeros.len() + 2);
        for (total, sum) in totals.iter().zip(sums) {
            next.push(self.builder.ins().fadd(*total, sum));
        }
        let last = block_args(&next);
        let left = self.builder.ins().isub(left, taken);
        next.extend([end, left]);
        let again = block_args(&next);
        match poll {
            None => {
                self.builder.ins().brif(left, outer, &again, done, &last);
            }
            Some(site) => self.ask(left, site, (outer, &again), (done, &last)),
        }
        self.builder.switch_to_block(done);
        Ok(self.builder.block_params(done).to_vec())
    }

    /// The iterations of a block; goes on at `combine` with the lanes, or at `ended` with what they add up to.
    fn lanes_of_block(
        &mut self,
        source: &Lanes,
        [start, taken, end]: [ir::Value; 3],
        [combine, ended]: [ir::Block; 2],
    ) -> Result<()> {
        let sums = source.dst.len();
        let vector = source.vector;
        let plan = vector.map(|v| PairPlan::of(source.index, &source.carry, &source.body, v));
        let plan = match plan {
            Some(plan) if source.body.size() > pairs::LONG && !plan.nested => {
                return self.pairs_in_turn(source, plan, [start, taken, end], combine);
            }
            plan => plan,
        };
        let whole = self.builder.ins().band_imm_s(taken, -(LANES as i64));
        let whole_end = self.builder.ins().iadd(start, whole);
        let zero = self.float(0.0);
        let empty = vec![zero; sums * LANES];
        let rest = match plan {
            Some(plan) if !plan.nested && !self.just_stored.is_loaded_by(source.index) => {
                let zeros = vec![self.both(zero); sums * LANES / 2];
                let rest = self.block_with(1, 0);
                for _ in &zeros {
                    self.builder.append_block_param(rest, types::F64X2);
                }
                let again = plan.clone();
                let lanes = self.main_loop(source, Some(plan), [start, whole_end], &zeros, rest)?;
                let finish = self.block_like(&lanes);
                let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
                let args = block_args(&[&[whole_end][..], &lanes].concat());
                self.builder.ins().brif(exact, finish, &block_args(&lanes), rest, &args);
                return self.rest_in_pairs(source, again, end, [rest, finish, ended]);
            }
            Some(plan) => {
                let rest = self.block_with(1, sums * LANES);
                let lanes = self.main_loop(source, Some(plan), [start, whole_end], &empty, rest)?;
                self.end_pairs(&source.body)?;
                let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
                let [whole, odd] = [(); 2].map(|()| self.builder.create_block());
                self.builder.ins().brif(exact, whole, &[], odd, &[]);

                self.builder.switch_to_block(whole);
                let pairs = lanes.chunks(LANES / 2);
                let added: Vec<_> = pairs.map(|pairs| self.tree_of_pairs(pairs)).collect();
                self.builder.ins().jump(ended, &block_args(&added));

                self.builder.switch_to_block(odd);
                let mut args = vec![whole_end];
                for pair in lanes {
                    args.extend([0, 1].map(|k| self.builder.ins().extractlane(pair, k)));
                }
                self.builder.ins().jump(rest, &block_args(&args));
                rest
            }
            None if is_small(&source.body) => {
                let rest = self.block_with(1, sums * LANES);
                let lanes = self.main_loop(source, None, [start, whole_end], &empty, rest)?;
                let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
                let args = block_args(&[&[whole_end][..], &lanes].concat());
                self.builder.ins().brif(exact, combine, &block_args(&lanes), rest, &args);
                rest
            }
            None => {
                let rest = self.block_with(1, sums * LANES);
                let args = [&[start][..], &empty].concat();
                self.builder.ins().jump(rest, &block_args(&args));
                rest
            }
        };
        if sums == 1 && is_small(&source.body) {
            return self.rest_in_turn(source, end, [rest, combine]);
        }
        self.builder.switch_to_block(rest);
        let params = self.builder.block_params(rest).to_vec();
        self.rest_loop(source, [params[0], end], &params[1..], combine)
    }

    /// Eight iterations at a time, of those from `start` on that make whole eights. The lanes are floats, or pairs of floats if there is a plan for them. Goes on
    /// with the lanes, or at `rest` with empty ones, if there are none of these iterations.
    fn main_loop(
        &mut self,
        source: &Lanes,
        mut plan: Option<PairPlan>,
        [start, whole_end]: [ir::Value; 2],
        empty: &[ir::Value],
        rest: ir::Block,
    ) -> Result<Vec<ir::Value>> {
        let (width, ty) = if plan.is_some() { (2, types::F64X2) } else { (1, types::F64) };
        let (sums, count) = (source.dst.len(), LANES / width);
        // What the main loop has in registers is made on the way to it: sums of a few terms have none.
        let enter = self.builder.create_block();
        let any = self.builder.ins().icmp(IntCC::NotEqual, start, whole_end);
        let none = block_args(&[&[start][..], empty].concat());
        self.builder.ins().brif(any, enter, &[], rest, &none);

        self.builder.switch_to_block(enter);
        if let Some(plan) = &mut plan {
            self.spread(&source.body, plan)?;
        }
        let mut initial = vec![start];
        match empty.first() {
            Some(zero) if empty.len() > sums * count => {
                let zeros = self.both(*zero);
                initial.resize(1 + sums * count, zeros);
            }
            _ => initial.extend(empty),
        }
        let main = self.block_with(1, 0);
        for _ in 0..sums * count {
            self.builder.append_block_param(main, ty);
        }
        let after = self.builder.create_block();
        self.builder.ins().jump(main, &block_args(&initial));

        self.builder.switch_to_block(main);
        let params = self.builder.block_params(main).to_vec();
        let (index, mut lanes) = (params[0], params[1..].to_vec());
        let of_lane = |k: usize| {
            let carries = source.carry.iter().enumerate();
            carries.map(|(s, carry)| (*carry, lanes[s * count + k])).collect()
        };
        let carried: Vec<Carried> = (0..count).map(of_lane).collect();
        let results = match &plan {
            Some(plan) => {
                self.bind(source.index, index);
                self.some_at_once(&source.body, plan, index, &carried)?
            }
            None => {
                self.repeating = true;
                let mut results = Vec::with_capacity(count);
                for (k, carried) in carried.iter().enumerate() {
                    self.bind_shifted(source.index, index, k as i64);
                    for (carry, lane) in carried {
                        self.bind(*carry, *lane);
                    }
                    results.push(self.block(&source.body)?);
                }
                (self.repeating, self.stored) = (false, None);
                results
            }
        };
        for (k, results) in results.into_iter().enumerate() {
            for (s, result) in results.into_iter().enumerate() {
                lanes[s * count + k] = result;
            }
        }
        let next = self.builder.ins().iadd_imm_s(index, LANES as i64);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, whole_end);
        let args = block_args(&[&[next][..], &lanes].concat());
        self.builder.ins().brif(more, main, &args, after, &[]);

        self.builder.switch_to_block(after);
        Ok(lanes)
    }

    /// What is left of a block, up to seven iterations, two to a register, given the lanes of each sum: pairs add to the first ones of them, which go behind the
    /// others, and an odd iteration to the first lane.
    fn rest_in_pairs(
        &mut self,
        source: &Lanes,
        mut plan: PairPlan,
        end: ir::Value,
        [rest, finish, ended]: [ir::Block; 3],
    ) -> Result<()> {
        let count = LANES / 2;
        let params = self.builder.block_params(rest).to_vec();
        let [head, body, tail, single] = [(); 4].map(|()| self.builder.create_block());
        for value in &params {
            let ty = self.builder.func.dfg.value_type(*value);
            self.builder.append_block_param(head, ty);
        }
        self.builder.switch_to_block(rest);
        self.spread(&source.body, &mut plan)?;
        self.builder.ins().jump(head, &block_args(&params));

        self.builder.switch_to_block(head);
        let params = self.builder.block_params(head).to_vec();
        let (index, mut lanes) = (params[0], params[1..].to_vec());
        let left = self.builder.ins().isub(end, index);
        let few = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 2);
        self.builder.ins().brif(few, tail, &[], body, &[]);

        self.builder.switch_to_block(body);
        self.bind(source.index, index);
        let firsts = lanes.chunks(count).map(|pairs| pairs[0]);
        let carried: Carried = source.carry.iter().copied().zip(firsts).collect();
        let results = self.one_pair(&source.body, &plan, (index, 0), &carried)?;
        let mut next = vec![self.builder.ins().iadd_imm_s(index, 2)];
        for (pairs, result) in lanes.chunks(count).zip(results) {
            next.extend(&pairs[1..]);
            next.push(result);
        }
        self.builder.ins().jump(head, &block_args(&next));

        self.builder.switch_to_block(tail);
        self.end_pairs(&source.body)?;
        self.builder.ins().brif(left, single, &[], finish, &block_args(&lanes));

        self.builder.switch_to_block(single);
        self.bind(source.index, index);
        for (carry, pairs) in source.carry.iter().zip(lanes.chunks(count)) {
            let first = self.builder.ins().extractlane(pairs[0], 0);
            self.bind(*carry, first);
        }
        let results = self.block(&source.body)?;
        for (pairs, result) in lanes.chunks_mut(count).zip(results) {
            pairs[0] = self.builder.ins().insertlane(pairs[0], result, 0);
        }
        self.builder.ins().jump(finish, &block_args(&lanes));

        self.builder.switch_to_block(finish);
        let lanes = self.builder.block_params(finish).to_vec();
        let added: Vec<_> = lanes.chunks(count).map(|pairs| self.tree_of_pairs(pairs)).collect();
        self.builder.ins().jump(ended, &block_args(&added));
        Ok(())
    }

    /// The lanes of one sum, two to a register, added in the fixed tree: lanes that are added stand in the same halves, but for the last two.
    fn tree_of_pairs(&mut self, pairs: &[ir::Value]) -> ir::Value {
        let last = self.tree(pairs);
        let [first, second] = [0, 1].map(|k| self.builder.ins().extractlane(last, k));
        self.builder.ins().fadd(first, second)
    }

    /// One iteration at a time, from the first parameter of the block to `end`, given the lanes of one sum: each adds to the first of
    /// them, which goes behind the others.
    fn rest_in_turn(
        &mut self,
        source: &Lanes,
        end: ir::Value,
        [rest, combine]: [ir::Block; 2],
    ) -> Result<()> {
        self.builder.switch_to_block(rest);
        let params = self.builder.block_params(rest).to_vec();
        let body = self.block_with(1, LANES);
        self.builder.ins().jump(body, &block_args(&params));

        self.builder.switch_to_block(body);
        let params = self.builder.block_params(body).to_vec();
        self.bind(source.index, params[0]);
        self.bind(source.carry[0], params[1]);
        let results = self.block(&source.body)?;
        let next = self.builder.ins().iadd_imm_s(params[0], 1);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, end);
        let lanes = [&params[2..], &results].concat();
        let again = block_args(&[&[next][..], &lanes].concat());
        self.builder.ins().brif(more, body, &again, combine, &block_args(&lanes));
        Ok(())
    }

    /// The lanes of one sum, added in the fixed tree.
    pub(crate) fn tree(&mut self, lanes: &[ir::Value]) -> ir::Value {
        let mut lanes = lanes.to_vec();
        while let half @ 1.. = lanes.len() / 2 {
            for k in 0..half {
                lanes[k] = self.builder.ins().fadd(lanes[k], lanes[k + half]);
            }
            lanes.truncate(half);
        }
        lanes[0]
    }
}

/// Whether a body is repeated for every lane, and leaves registers to the lanes of a sum: few statements, no loop, no call.
fn is_small(body: &Block) -> bool {
    let is_large = |stmt: &Stmt| match stmt {
        Stmt::Prim { prim, .. } => matches!(prim.row().lowering, Lowering::Runtime(_)),
        Stmt::Call { .. }
        | Stmt::Kernel { .. }
        | Stmt::Alloc { .. }
        | Stmt::Fill { .. }
        | Stmt::CopyCells { .. } => true,
        stmt => stmt.is_loop(),
    };
    body.size() <= SMALL && !body.any(&mut { is_large })
}
