//! Counted loops, and those that may end early.
//!
//! A `for` tests its condition at the end: one test before the first iteration, one branch per
//! iteration. If the loop says so, [several of them go at a time](crate::vector), two to a register,
//! and what is left goes one by one. Loops of sums are [another file's](crate::lanes).

use crate::pairs;
use crate::translate::{Result, Translator, block_args};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use jut_loop::form::{For, Order, Site};
use jut_loop::poll::rounds;

/// In which order a loop runs, from where to where, and after how many iterations it asks if the call is cancelled.
pub(crate) struct Counted {
    pub(crate) order: Order,
    pub(crate) bounds: [ir::Value; 2],
    pub(crate) poll: Option<(u32, Site)>,
}

/// Translates a body, given the index and what is carried; gives what is carried next.
type BodyOf<'b, T> = &'b mut dyn FnMut(&mut T, ir::Value, &[ir::Value]) -> Result<Vec<ir::Value>>;

impl Translator<'_> {
    pub(crate) fn for_loop(&mut self, source: &For) -> Result<()> {
        self.literals.enter_loop(&source.body, &mut self.builder);
        let translated = match rounds(&source.body) {
            None => self.for_rounds(source, None),
            Some((every, site, body)) => {
                let (dst, carry) = (source.dst.clone(), source.carry.clone());
                self.for_rounds(&For { dst, carry, body, ..*source }, Some((every, site)))
            }
        };
        self.literals.leave_loop();
        translated
    }

    /// A loop, which may ask between rounds of so many iterations if the call is cancelled.
    fn for_rounds(&mut self, source: &For, poll: Option<(u32, Site)>) -> Result<()> {
        let mut initial = Vec::with_capacity(source.carry.len() + 1);
        for (_, atom) in &source.carry {
            initial.push(self.atom(*atom)?);
        }
        let in_order = source.vector.and_then(|vector| Some((vector, pairs::in_order(source)?)));
        if let Some(vector) = source.vector
            && poll.is_none()
            && in_order.is_none()
            && let Some(trips) = self.few_pairs(source)?
        {
            return self.pairs_without_loop(source, vector, trips, &initial);
        }
        let [mut low, mut high] = [self.atom(source.low)?, self.atom(source.high)?];
        if let Some((vector, sums)) = &in_order {
            let bounds = [low, high];
            [low, high] =
                self.pairs_in_order(source, (*vector, sums), bounds, &mut initial, poll)?;
        } else if let Some(vector) = source.vector {
            for together in pairs::at_a_time(source, vector) {
                let bounds = [low, high];
                low = self.pairs_loop(source, (vector, together), bounds, &mut initial, poll)?;
            }
        }
        let counted = Counted { order: source.order, bounds: [low, high], poll };
        let ends = self.counted(&counted, &initial, &mut |this, index, carried| {
            this.bind(source.index, index);
            for ((value, _), carried) in source.carry.iter().zip(carried) {
                this.bind(*value, *carried);
            }
            this.block(&source.body)
        })?;
        if ends.len() != source.dst.len() {
            return Err("a loop has another number of results".to_owned());
        }
        source.dst.iter().zip(ends).for_each(|(dst, end)| self.bind(*dst, end));
        Ok(())
    }

    /// A loop in order whose body is translated from the index and what is carried, and gives what is carried next; gives what is carried at
    /// the end.
    pub(crate) fn counted(
        &mut self,
        counted: &Counted,
        initial: &[ir::Value],
        body_of: BodyOf<'_, Self>,
    ) -> Result<Vec<ir::Value>> {
        let Counted { order, bounds: [low, high], poll } = *counted;
        let body = self.block_like(initial);
        let index = self.builder.append_block_param(body, types::I64);
        let done = self.block_like(initial);

        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let any = self.and_goes_on(order, any, initial);
        let first = match order {
            Order::Down => self.builder.ins().iadd_imm_s(high, -1),
            Order::Up | Order::Par | Order::While => low,
        };
        let none = block_args(initial);
        let given = block_args(&[initial, &[first]].concat());
        let down = order == Order::Down;
        // Where a round begins, and what ends the loop or its current round.
        let mut begin = body;
        let mut bound = if down { low } else { high };
        if let Some((every, _)) = poll {
            begin = self.block_like(initial);
            let from = self.builder.append_block_param(begin, types::I64);
            self.builder.ins().brif(any, begin, &given, done, &none);
            self.builder.switch_to_block(begin);
            let params = self.builder.block_params(begin).to_vec();
            let most = self.int(i64::from(every) - 1);
            bound = match down {
                true => {
                    let left = self.builder.ins().isub(from, low);
                    let more = self.builder.ins().umin(left, most);
                    self.builder.ins().isub(from, more)
                }
                false => {
                    let last = self.builder.ins().iadd_imm_s(high, -1);
                    let left = self.builder.ins().isub(last, from);
                    let more = self.builder.ins().umin(left, most);
                    let last = self.builder.ins().iadd(from, more);
                    self.builder.ins().iadd_imm_s(last, 1)
                }
            };
            self.builder.ins().jump(body, &block_args(&params));
        } else {
            self.builder.ins().brif(any, body, &given, done, &none);
        }

        self.builder.switch_to_block(body);
        let carried = self.builder.block_params(body)[..initial.len()].to_vec();
        let mut next = body_of(self, index, &carried)?;
        if next.len() != initial.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let (more, following) = match order {
            Order::Down => {
                let more = self.builder.ins().icmp(IntCC::SignedGreaterThan, index, bound);
                (more, self.builder.ins().iadd_imm_s(index, -1))
            }
            Order::Up | Order::Par | Order::While => {
                let following = self.builder.ins().iadd_imm_s(index, 1);
                (self.builder.ins().icmp(IntCC::SignedLessThan, following, bound), following)
            }
        };
        let more = self.and_goes_on(order, more, &next);
        let last = block_args(&next);
        next.push(following);
        if let Some((_, site)) = poll {
            let turn = self.builder.create_block();
            self.builder.ins().brif(more, body, &block_args(&next), turn, &[]);
            self.builder.switch_to_block(turn);
            let more = match down {
                true => self.builder.ins().icmp(IntCC::SignedGreaterThan, index, low),
                false => self.builder.ins().icmp(IntCC::SignedLessThan, following, high),
            };
            let more = self.and_goes_on(order, more, &next);
            self.ask(more, site, (begin, &block_args(&next)), (done, &last));
        } else {
            self.builder.ins().brif(more, body, &block_args(&next), done, &last);
        }
        self.builder.switch_to_block(done);
        let ends = self.builder.block_params(done).to_vec();
        Ok(ends.into_iter().map(|value| self.moved(value)).collect())
    }

    /// A value in another register. The allocation of registers takes what a loop carries and what becomes of it for one, if it can, and puts one
    /// that lives long into memory, also where the loop adds to it.
    fn moved(&mut self, value: ir::Value) -> ir::Value {
        self.builder.ins().band(value, value)
    }

    /// On to the next round, if there is one and the call is not cancelled; else out of the loop.
    pub(crate) fn ask(
        &mut self,
        more: ir::Value,
        site: Site,
        (begin, next): (ir::Block, &[BlockArg]),
        (done, last): (ir::Block, &[BlockArg]),
    ) {
        let asking = self.builder.create_block();
        self.builder.ins().brif(more, asking, &[], done, last);
        self.builder.switch_to_block(asking);
        self.poll(site);
        self.builder.ins().jump(begin, next);
    }

    /// Whether there is another iteration: of a loop that may end early, only if the first of what it
    /// carries says so, too.
    fn and_goes_on(&mut self, order: Order, more: ir::Value, carried: &[ir::Value]) -> ir::Value {
        match carried.first() {
            Some(go) if order == Order::While => self.builder.ins().band(more, *go),
            _ => more,
        }
    }

    /// A block with parameters of the types of these values.
    pub(crate) fn block_like(&mut self, values: &[ir::Value]) -> ir::Block {
        let block = self.builder.create_block();
        for value in values {
            let ty = self.builder.func.dfg.value_type(*value);
            self.builder.append_block_param(block, ty);
        }
        block
    }

    /// A block with integer parameters followed by float parameters.
    pub(crate) fn block_with(&mut self, ints: usize, floats: usize) -> ir::Block {
        let block = self.builder.create_block();
        for k in 0..ints + floats {
            let ty = if k < ints { types::I64 } else { types::F64 };
            self.builder.append_block_param(block, ty);
        }
        block
    }
}
