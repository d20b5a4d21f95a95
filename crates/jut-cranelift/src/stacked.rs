//! Sums in the fixed order whose lanes are in memory.
//!
//! Of a large body it is a load, the body and a store for each sum and iteration, so that an inner loop or call in the body keeps its registers: one
//! iteration at a time, or [one pair](crate::pairs) if the loop says so.

use crate::translate::{Result, Translator, block_args, stack_slot};
use crate::vector::{Carried, PairPlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, StackSlot, types};
use jut_loop::form::{LANES, Lanes};

impl Translator<'_> {
    /// One iteration at a time, from `start` to `end`; `start` belongs to lane 0.
    pub(crate) fn rest_loop(
        &mut self,
        source: &Lanes,
        [start, end]: [ir::Value; 2],
        lanes: &[ir::Value],
        combine: ir::Block,
    ) -> Result<()> {
        let slots = self.store_lanes(source, lanes);
        let body = self.block_with(2, 0);
        let after = self.builder.create_block();
        let zero = self.int(0);
        self.builder.ins().jump(body, &block_args(&[start, zero]));

        self.builder.switch_to_block(body);
        let params = self.builder.block_params(body).to_vec();
        let (index, lane) = (params[0], params[1]);
        self.one_in_memory(source, &slots, index, lane)?;
        let next = self.builder.ins().iadd_imm_s(index, 1);
        let lane = self.builder.ins().iadd_imm_s(lane, 1);
        let lane = self.builder.ins().band_imm_s(lane, LANES as i64 - 1);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, end);
        self.builder.ins().brif(more, body, &block_args(&[next, lane]), after, &[]);

        self.builder.switch_to_block(after);
        self.load_lanes(&slots, combine);
        Ok(())
    }

    /// The iterations of a block, at least one, two to a register: of a long body one pair at a time, whose lanes are in memory. An odd one goes by
    /// itself.
    pub(crate) fn pairs_in_turn(
        &mut self,
        source: &Lanes,
        mut plan: PairPlan,
        [start, taken, end]: [ir::Value; 3],
        combine: ir::Block,
    ) -> Result<()> {
        let zero = self.float(0.0);
        let slots = self.store_lanes(source, &vec![zero; source.carry.len() * LANES]);
        let whole = self.builder.ins().band_imm_s(taken, -2);
        let whole_end = self.builder.ins().iadd(start, whole);
        self.spread(&source.body, &mut plan)?;
        let main = self.block_with(2, 0);
        let [behind, single, after] = [(); 3].map(|()| self.builder.create_block());
        let zero = self.int(0);
        let any = self.builder.ins().icmp(IntCC::NotEqual, start, whole_end);
        self.builder.ins().brif(any, main, &block_args(&[start, zero]), single, &[]);

        self.builder.switch_to_block(main);
        let params = self.builder.block_params(main).to_vec();
        let (index, lane) = (params[0], params[1]);
        self.bind(source.index, index);
        let places = self.places_of(&slots, lane);
        let mut carried: Carried = Vec::with_capacity(slots.len());
        for (address, carry) in places.iter().zip(&source.carry) {
            let lanes = self.builder.ins().load(types::F64X2, in_frame(), *address, 0);
            carried.push((*carry, lanes));
        }
        let results = self.one_pair(&source.body, &plan, (index, 0), &carried)?;
        let places = self.places_of(&slots, lane);
        for (address, result) in places.into_iter().zip(results) {
            self.builder.ins().store(in_frame(), result, address, 0);
        }
        let next = self.builder.ins().iadd_imm_s(index, 2);
        let lane = self.builder.ins().iadd_imm_s(lane, 2);
        let lane = self.builder.ins().band_imm_s(lane, LANES as i64 - 1);
        let more = self.builder.ins().icmp(IntCC::NotEqual, next, whole_end);
        self.builder.ins().brif(more, main, &block_args(&[next, lane]), behind, &[]);

        self.builder.switch_to_block(behind);
        self.end_pairs(&source.body)?;
        let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
        self.builder.ins().brif(exact, after, &[], single, &[]);

        self.builder.switch_to_block(single);
        let lane = self.builder.ins().band_imm_s(whole, LANES as i64 - 1);
        self.one_in_memory(source, &slots, whole_end, lane)?;
        self.builder.ins().jump(after, &[]);

        self.builder.switch_to_block(after);
        self.load_lanes(&slots, combine);
        Ok(())
    }

    /// Puts the lanes of sums into memory, eight of a sum in each slot.
    fn store_lanes(&mut self, source: &Lanes, lanes: &[ir::Value]) -> Vec<StackSlot> {
        let builder = &mut self.builder;
        let sums = source.carry.len();
        let slots = self.frame.lanes(sums, || stack_slot(builder, LANES as u32 * 8));
        for (slot, lanes) in slots.iter().zip(lanes.chunks(LANES)) {
            let address = self.builder.ins().stack_addr(types::I64, *slot, 0);
            for (k, lane) in lanes.iter().enumerate() {
                self.builder.ins().store(in_frame(), *lane, address, lane_offset(k));
            }
        }
        slots
    }

    /// Goes on with lanes that are in memory.
    fn load_lanes(&mut self, slots: &[StackSlot], combine: ir::Block) {
        let mut lanes = Vec::with_capacity(slots.len() * LANES);
        for slot in slots {
            let address = self.builder.ins().stack_addr(types::I64, *slot, 0);
            for k in 0..LANES {
                let lane = self.builder.ins().load(types::F64, in_frame(), address, lane_offset(k));
                lanes.push(lane);
            }
        }
        self.builder.ins().jump(combine, &block_args(&lanes));
    }

    /// An iteration that adds to a lane in memory.
    fn one_in_memory(
        &mut self,
        source: &Lanes,
        slots: &[StackSlot],
        index: ir::Value,
        lane: ir::Value,
    ) -> Result<()> {
        self.bind(source.index, index);
        let places = self.places_of(slots, lane);
        for (address, carry) in places.into_iter().zip(&source.carry) {
            let value = self.builder.ins().load(types::F64, in_frame(), address, 0);
            self.bind(*carry, value);
        }
        self.frame.enter();
        let results = self.block(&source.body);
        self.frame.leave();
        let places = self.places_of(slots, lane);
        for (address, result) in places.into_iter().zip(results?) {
            self.builder.ins().store(in_frame(), result, address, 0);
        }
        Ok(())
    }

    /// Where a lane of each sum is.
    fn places_of(&mut self, slots: &[StackSlot], lane: ir::Value) -> Vec<ir::Value> {
        let place = self.builder.ins().ishl_imm_u(lane, 3);
        let mut places = Vec::with_capacity(slots.len());
        for slot in slots {
            let base = self.builder.ins().stack_addr(types::I64, *slot, 0);
            places.push(self.builder.ins().iadd(base, place));
        }
        places
    }
}

/// Lanes in memory are aligned.
fn in_frame() -> MemFlagsData {
    MemFlagsData::trusted()
}

fn lane_offset(k: usize) -> i32 {
    (k * 8) as i32
}
