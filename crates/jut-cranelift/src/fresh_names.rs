//! Loops without calls have names of their own for what they read and carry.
//!
//! A call overwrites the registers of the machine's floats, and all but five of the others, so what is alive across one
//! lies in memory there. The register allocator cuts the life of such a value in two, and the second part begins where the
//! value is *used* next: if that is in a loop, each iteration begins with the value in memory and ends with putting it back.
//! A sum that a loop carries inside a loop that copies an array waits for memory in every iteration then. So what was computed before a call
//! and is used in a loop without calls is put into a slot where it is computed, and loaded in front of each such loop,
//!
//! ```text
//!     kappa = ..                     kappa = ..; slot = kappa
//!     brif any, body(s), done    ->  brif any, P, done
//!                                block P:            kappa2 = slot
//! block body(sum):               block body(sum):    (from P with another name of s)
//!     t = kappa * x                  t = kappa2 * x
//! ```
//!
//! and what leaves the loop goes through memory, if calls follow. A name that is made in P and ends with the loop is in a register all the while;
//! and the first name, which nothing uses from there on, is no longer alive. A constant is written again in place of being loaded.
//!
//! *Requires*: a function that the allocator that looks for the best registers will take. *Ensures*: the same
//! values, bit for bit. *Cost*: the size of the function, and of the loops' nesting.

use crate::translate::block_args;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::function::FunctionStencil;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstBuilder, MemFlagsData, Opcode, StackSlot, StackSlotData,
    StackSlotKind, Value, ValueDef, types,
};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};
use cranelift_entity::{EntitySet, SecondaryMap};
use jut_ir::hash::HashMap;

/// Bytes of the longest value.
const BYTES: u32 = 16;

/// Gives the loops of a function such names.
pub(crate) fn give(func: &mut Function) {
    let cfg = ControlFlowGraph::with_function(func);
    let domtree = DominatorTree::with_function(func, &cfg);
    let mut loops = LoopAnalysis::new();
    loops.compute(func, &cfg, &domtree);
    let calls = Calls::of(func, &loops);
    if calls.count == 0 {
        return;
    }
    let mut quiet: Vec<(Loop, Vec<Block>)> = Vec::new();
    let mut places: SecondaryMap<Loop, Option<usize>> = SecondaryMap::new();
    for block in func.layout.blocks() {
        let Some(of) = calls.quiet_loop(&loops, block) else { continue };
        let place = *places[of].get_or_insert_with(|| {
            quiet.push((of, Vec::new()));
            quiet.len() - 1
        });
        quiet[place].1.push(block);
    }
    let mut naming =
        Naming { func, loops: &loops, calls: &calls, slot: None, slots: SecondaryMap::new() };
    for (of, blocks) in &quiet {
        let mut inside = EntitySet::new();
        blocks.iter().for_each(|block| {
            inside.insert(*block);
        });
        let mut entries =
            cfg.pred_iter(loops.loop_header(*of)).filter(|from| !inside.contains(from.block));
        if let (Some(entry), None) = (entries.next(), entries.next()) {
            naming.entry(*of, entry.inst, blocks, &inside);
        }
        if loops.loop_parent(*of).is_some() || calls.before[loops.loop_header(*of)] < calls.count {
            blocks.iter().for_each(|block| naming.exits(*block, &inside));
        }
    }
}

/// Where a function calls others.
struct Calls {
    count: u32,
    /// How many calls stand before a block and before a value, in the order of the text.
    before: SecondaryMap<Block, u32>,
    value: SecondaryMap<Value, u32>,
    /// The block that a value is bound in.
    home: SecondaryMap<Value, Option<Block>>,
    /// Loops with calls.
    loops: EntitySet<Loop>,
}

impl Calls {
    fn of(func: &Function, loops: &LoopAnalysis) -> Calls {
        let mut calls = Calls {
            count: 0,
            before: SecondaryMap::new(),
            value: SecondaryMap::new(),
            home: SecondaryMap::new(),
            loops: EntitySet::new(),
        };
        for block in func.layout.blocks() {
            calls.before[block] = calls.count;
            for param in func.dfg.block_params(block) {
                calls.bind(*param, block);
            }
            for inst in func.layout.block_insts(block) {
                if func.dfg.insts[inst].opcode().is_call() {
                    calls.count += 1;
                    let mut around = loops.innermost_loop(block);
                    while let Some(of) = around {
                        calls.loops.insert(of);
                        around = loops.loop_parent(of);
                    }
                }
                for value in func.dfg.inst_results(inst) {
                    calls.bind(*value, block);
                }
            }
        }
        calls
    }

    fn bind(&mut self, value: Value, block: Block) {
        self.value[value] = self.count;
        self.home[value] = Some(block);
    }

    /// The outermost loop without calls that a block is in.
    fn quiet_loop(&self, loops: &LoopAnalysis, block: Block) -> Option<Loop> {
        let mut found = loops.innermost_loop(block).filter(|of| !self.loops.contains(*of))?;
        while let Some(around) = loops.loop_parent(found).filter(|of| !self.loops.contains(*of)) {
            found = around;
        }
        Some(found)
    }

    /// Whether a value that is bound outside a loop may be alive across a call before the loop. What the loop around
    /// begins an iteration with has come from the one before.
    fn come_between(&self, loops: &LoopAnalysis, of: Loop, value: Value) -> bool {
        let Some(home) = self.home[value] else { return false };
        let from_around = loops.loop_parent(of).is_some_and(|around| {
            !loops.is_in_loop(home, around) || home == loops.loop_header(around)
        });
        from_around || self.value[value] < self.before[loops.loop_header(of)]
    }
}

/// A function whose loops get names.
struct Naming<'a> {
    func: &'a mut Function,
    loops: &'a LoopAnalysis,
    calls: &'a Calls,
    /// The memory that values go through which leave loops.
    slot: Option<StackSlot>,
    /// The slots of values that loops load.
    slots: SecondaryMap<Value, Option<StackSlot>>,
}

/// Where a value gets another name.
enum Renamed {
    /// In front of a loop, from a slot of its own or as a constant.
    Entering,
    /// Behind a loop.
    Leaving,
}

impl Naming<'_> {
    /// Names for what a loop reads, which is entered by one instruction.
    fn entry(&mut self, of: Loop, from: Inst, blocks: &[Block], inside: &EntitySet<Block>) {
        let header = self.loops.loop_header(of);
        let Some(first) = self.args_to(from, header) else { return };
        let mut read: Vec<Value> = Vec::new();
        let mut seen = EntitySet::new();
        let mut see = |value: Value| {
            if seen.insert(value) {
                read.push(value);
            }
        };
        first.iter().copied().for_each(&mut see);
        for block in blocks {
            for inst in self.func.layout.block_insts(*block) {
                self.func.dfg.inst_values(inst).for_each(&mut see);
            }
        }
        let outside = |value: &Value| self.calls.home[*value].is_some_and(|b| !inside.contains(b));
        let between = |value: &Value| self.calls.come_between(self.loops, of, *value);
        read.retain(|value| outside(value) && between(value) && self.fits(*value));
        if read.is_empty() {
            return;
        }
        let names = self.on_the_way(from, header, &read, &first, Renamed::Entering);
        for block in blocks {
            let FunctionStencil { layout, dfg, .. } = &mut self.func.stencil;
            for inst in layout.block_insts(*block) {
                dfg.map_inst_values(inst, |value| names.get(&value).copied().unwrap_or(value));
            }
        }
    }

    /// Names for what leaves a loop from a block of it.
    fn exits(&mut self, block: Block, inside: &EntitySet<Block>) {
        let Some(last) = self.func.layout.last_inst(block) else { return };
        let (tables, exceptions) = (&self.func.dfg.jump_tables, &self.func.dfg.exception_tables);
        let to = self.func.dfg.insts[last].branch_destination(tables, exceptions);
        let to: Vec<Block> = to.iter().map(|call| call.block(&self.func.dfg.value_lists)).collect();
        for target in to.into_iter().filter(|target| !inside.contains(*target)) {
            let Some(given) = self.args_to(last, target) else { continue };
            let mut left = given.clone();
            left.sort();
            left.dedup();
            let made_here =
                |value: &Value| self.calls.home[*value].is_some_and(|b| inside.contains(b));
            left.retain(|value| made_here(value) && self.fits(*value));
            if !left.is_empty() {
                self.on_the_way(last, target, &left, &given, Renamed::Leaving);
            }
        }
    }

    /// Puts a block between an instruction and the only place of it that leads to a block, in which values get
    /// other names; gives these.
    fn on_the_way(
        &mut self,
        from: Inst,
        to: Block,
        values: &[Value],
        args: &[Value],
        renamed: Renamed,
    ) -> HashMap<Value, Value> {
        let between = self.func.dfg.make_block();
        self.func.layout.insert_block(between, to);
        let call = self.func.dfg.block_call(between, &[] as &[BlockArg]);
        let dfg = &mut self.func.dfg;
        let (tables, exceptions) = (&mut dfg.jump_tables, &mut dfg.exception_tables);
        for place in dfg.insts[from].branch_destination_mut(tables, exceptions) {
            if place.block(&dfg.value_lists) == to {
                *place = call;
            }
        }
        let mut names = HashMap::default();
        for value in values {
            let name = match renamed {
                Renamed::Entering => self.entering(*value, between),
                Renamed::Leaving => self.leaving(*value, between),
            };
            names.insert(*value, name);
        }
        let given: Vec<Value> =
            args.iter().map(|arg| names.get(arg).copied().unwrap_or(*arg)).collect();
        let mut cursor = FuncCursor::new(self.func).at_bottom(between);
        cursor.ins().jump(to, &block_args(&given));
        names
    }

    /// Another name for a value in front of a loop.
    fn entering(&mut self, value: Value, block: Block) -> Value {
        let made = match self.func.dfg.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            _ => None,
        };
        let constant = made.filter(|inst| {
            let code = self.func.dfg.insts[*inst].opcode();
            matches!(code, Opcode::Iconst | Opcode::F64const | Opcode::F32const)
        });
        if let Some(inst) = constant {
            let again = self.func.dfg.clone_inst(inst);
            FuncCursor::new(self.func).at_bottom(block).insert_inst(again);
            return self.func.dfg.first_result(again);
        }
        let slot = match self.slots[value] {
            Some(slot) => slot,
            None => {
                let slot = self.slot_of(value);
                let cursor = FuncCursor::new(self.func);
                let mut cursor = match (made, self.calls.home[value]) {
                    (Some(inst), _) => cursor.after_inst(inst),
                    (None, home) => cursor.at_first_insertion_point(home.unwrap_or(block)),
                };
                store(&mut cursor, value, slot);
                *self.slots[value].insert(slot)
            }
        };
        load(&mut FuncCursor::new(self.func).at_bottom(block), value, slot)
    }

    /// Another name for a value that has left a loop.
    fn leaving(&mut self, value: Value, block: Block) -> Value {
        let slot = match self.slot {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, BYTES, 4);
                *self.slot.insert(self.func.create_sized_stack_slot(data))
            }
        };
        let mut cursor = FuncCursor::new(self.func).at_bottom(block);
        store(&mut cursor, value, slot);
        load(&mut cursor, value, slot)
    }

    fn slot_of(&mut self, value: Value) -> StackSlot {
        let bytes = self.func.dfg.value_type(value).bytes();
        let shift = bytes.next_power_of_two().trailing_zeros() as u8;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, shift);
        self.func.create_sized_stack_slot(data)
    }

    /// The arguments with which an instruction goes to a block, if one of its places leads there.
    fn args_to(&self, from: Inst, to: Block) -> Option<Vec<Value>> {
        let (tables, exceptions) = (&self.func.dfg.jump_tables, &self.func.dfg.exception_tables);
        let pool = &self.func.dfg.value_lists;
        let places = self.func.dfg.insts[from].branch_destination(tables, exceptions);
        let mut there = places.iter().filter(|call| call.block(pool) == to);
        let (Some(call), None) = (there.next(), there.next()) else { return None };
        call.args(pool).map(|arg| arg.as_value()).collect()
    }

    fn fits(&self, value: Value) -> bool {
        self.func.dfg.value_type(value).bytes() <= BYTES
    }
}

/// Writes a value into a slot.
fn store(cursor: &mut FuncCursor<'_>, value: Value, slot: StackSlot) {
    let place = cursor.ins().stack_addr(types::I64, slot, 0);
    cursor.ins().store(MemFlagsData::trusted(), value, place, 0);
}

/// Loads what a slot has of a value.
fn load(cursor: &mut FuncCursor<'_>, value: Value, slot: StackSlot) -> Value {
    let ty = cursor.func.dfg.value_type(value);
    let place = cursor.ins().stack_addr(types::I64, slot, 0);
    cursor.ins().load(ty, MemFlagsData::trusted(), place, 0)
}
