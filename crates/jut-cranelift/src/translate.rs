//! One function of the loop form as Cranelift's intermediate representation.
//!
//! Both are in single assignment form with structured control, so a value becomes a value: carried
//! values and results of branches become block parameters, nothing needs to be looked up twice.
//!
//! *Requires*: every value is assigned before it is used. *Cost*: linear; recursion follows the
//! nesting of blocks.

use crate::literals::Literals;
use crate::operation;
use crate::signature::{self, Imports, Returns, cranelift_type, word_offset};
use crate::unit::Writing;
use cranelift_codegen::ir::{
    self, BlockArg, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind,
    types,
};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::{FuncId, Module};
use jut_ir::hash::HashMap;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Opcode, Prim, SIN};
use jut_loop::analysis::{JustStored, Step, sine_and_cosine};
use jut_loop::form::{
    Atom, Block, Cell, Kind, LoopFuncId, LoopFunction, LoopProgram, Site, Stmt, Value,
};
use jut_loop::kernel::Kernel;
use jut_native::frame::Frame;
use jut_native::object::MathLibrary;

/// Why a function could not be translated, for the reader of [`crate::CompileError`].
pub(crate) type Result<T> = std::result::Result<T, String>;

/// An integer as a machine value plus a constant.
pub(crate) type Index = (Option<ir::Value>, i64);

/// A cell of a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub cell: Cell,
    pub buffer: ir::Value,
    pub index: Index,
}

/// What is still to be written at the end of a function.
#[derive(Default)]
pub(crate) struct Failing {
    /// Stores the failure and returns: parameters are site, kind of error and three operands.
    pub(crate) failing: Option<ir::Block>,
    /// Returns the status that is its parameter.
    pub(crate) returning: Option<ir::Block>,
    /// Cold blocks: where they fail, and with which operands.
    pub(crate) pending: Vec<(ir::Block, Site, Vec<ir::Value>)>,
}

/// The state of translating one function.
pub(crate) struct Translator<'a> {
    pub(crate) module: &'a mut dyn Module,
    imports: &'a mut Imports,
    callees: &'a SecondaryMap<LoopFuncId, Option<FuncId>>,
    /// The functions that are called with words and a range.
    pub(crate) through_words: &'a SecondaryMap<LoopFuncId, Option<FuncId>>,
    pub(crate) program: &'a LoopProgram,
    pub(crate) source: &'a LoopFunction,
    pub(crate) builder: FunctionBuilder<'a>,
    values: SecondaryMap<Value, PackedOption<ir::Value>>,
    /// Sums for which it does not pay to load neighbours at once.
    pub(crate) just_stored: JustStored,
    /// Integers known to be another integer plus a constant: they become address offsets.
    shifted: SecondaryMap<Value, Option<(ir::Value, i64)>>,
    /// Float literals that stand before loops.
    pub(crate) literals: Literals,
    /// In a body that is written several times, one iteration after the other: the cell that was stored to
    /// last, and what. In one iteration the loop form knows what cells hold; that a sum adds to the
    /// same cell in each of them is seen only here.
    pub(crate) stored: Option<(Place, ir::Value)>,
    pub(crate) repeating: bool,
    references: HashMap<FuncId, FuncRef>,
    /// The workspace.
    pub(crate) workspace: ir::Value,
    /// What jut puts on the stack.
    pub(crate) frame: Frame<StackSlot>,
    /// The partner of the first of a sine and a cosine of one value; none for the second.
    partners: HashMap<Value, Option<Value>>,
    /// Where the cosine of such a pair goes.
    cosine: Option<StackSlot>,
    /// How the function ends when a check does not hold.
    pub(crate) failures: Failing,
    /// How the results are returned, and where those go that are returned through memory.
    returns: Returns,
    area: Option<ir::Value>,
    /// Memory for results of called functions.
    called: Option<StackSlot>,
    /// What values were in the last iteration and in the last pair of iterations, by the names that they have in the next one.
    pub(crate) last_numbers: HashMap<Value, Variable>,
    pub(crate) last_pairs: HashMap<Value, Variable>,
    /// Floats that a body of pairs has loaded for all of them, in both halves of a register.
    pub(crate) same_for_all: HashMap<Value, ir::Value>,
}

impl<'a> Translator<'a> {
    pub(crate) fn new(
        writing: Writing<'a>,
        [callees, through_words]: [&'a SecondaryMap<LoopFuncId, Option<FuncId>>; 2],
        program: &'a LoopProgram,
        source: &'a LoopFunction,
    ) -> Translator<'a> {
        let Writing { module, imports, mut builder, params } = writing;
        let returns = Returns::of(source);
        let literals = Literals::of(module.isa().triple().architecture);
        let workspace = params[0];
        let mut given = params[1..].iter().copied();
        let area = if returns.through_memory() { given.next() } else { None };
        let spilled = if returns.params_through_memory() { given.next() } else { None };
        let mut values = SecondaryMap::with_capacity(source.values.len());
        for (k, param) in source.params.iter().enumerate() {
            let value = match spilled {
                Some(words) if k >= returns.direct => {
                    let ty = cranelift_type(source.values[param.value].kind);
                    let word = builder.ins().iadd_imm_s(words, 8 * k as i64);
                    Some(builder.ins().load(ty, MemFlagsData::trusted(), word, 0))
                }
                _ => given.next(),
            };
            if let Some(value) = value {
                values[param.value] = value.into();
            }
        }
        Translator {
            module,
            imports,
            callees,
            through_words,
            program,
            source,
            builder,
            values,
            just_stored: JustStored::of(source),
            shifted: SecondaryMap::new(),
            literals,
            stored: None,
            repeating: false,
            references: HashMap::default(),
            workspace,
            frame: Frame::of(source),
            partners: HashMap::default(),
            cosine: None,
            failures: Failing::default(),
            returns,
            area,
            called: None,
            last_numbers: HashMap::default(),
            last_pairs: HashMap::default(),
            same_for_all: HashMap::default(),
        }
    }

    /// Translates the whole function.
    pub(crate) fn function(mut self) -> Result<()> {
        let results = self.block(&self.source.body)?;
        let ok = self.builder.ins().iconst(types::I32, 0);
        let mut returned = vec![ok];
        for (k, value) in results.into_iter().enumerate() {
            match (self.returns.results[k], self.area) {
                ((_, true), _) | (_, None) => returned.push(value),
                ((ty, false), Some(area)) => {
                    let word = match ty {
                        types::I8 => self.builder.ins().uextend(types::I64, value),
                        _ => value,
                    };
                    let flags = MemFlagsData::trusted();
                    self.builder.ins().store(flags, word, area, word_offset(k)?);
                }
            }
        }
        self.builder.ins().return_(&returned);
        self.finish_failing()?;
        self.builder.seal_all_blocks();
        self.builder.finalize(self.module.target_config());
        Ok(())
    }

    /// Translates statements into the current block and those that follow; gives the results.
    pub(crate) fn block(&mut self, block: &Block) -> Result<Vec<ir::Value>> {
        if self.imports.math == MathLibrary::Jut {
            self.partners.extend(sine_and_cosine(block));
        }
        for step in Step::of(block, |v| self.kind(v)) {
            match step {
                Step::Go(stmt) => self.stmt(stmt)?,
                Step::Wait(stmt) => self.compute_single(stmt, true)?,
                Step::Look(look) => self.look_at_singles(&look)?,
            }
        }
        self.atoms(&block.results)
    }

    /// Sine and cosine together: assigns the given value and its partner.
    fn sine_and_cosine(
        &mut self,
        dst: Value,
        prim: Prim,
        partner: Value,
        args: &[Atom],
    ) -> Result<()> {
        let args = self.atoms(args)?;
        let place = match self.cosine {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
                *self.cosine.insert(self.builder.create_sized_stack_slot(data))
            }
        };
        let address = self.builder.ins().stack_addr(types::I64, place, 0);
        let sine = self.runtime("jut_sin_cos", &[args[0], address])?;
        let sine = sine.ok_or("a sine has no result")?;
        let cosine = self.builder.ins().load(types::F64, MemFlagsData::trusted(), address, 0);
        let (other, own) = if prim == SIN { (cosine, sine) } else { (sine, cosine) };
        self.bind(partner, other);
        self.bind(dst, own);
        Ok(())
    }

    /// Translates a statement.
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, prim, args } => self.prim(*dst, *prim, args),
            Stmt::Copy { dst, src } => self.copy(*dst, *src),
            Stmt::Previous { dst, src, .. } => self.before(*dst, *src),
            Stmt::Load { dst, buffer, index } => self.load(*dst, *buffer, *index),
            Stmt::Store { buffer, index, value } => self.store(*buffer, *index, *value),
            Stmt::Offset { dst, buffer, index } => self.offset(*dst, *buffer, *index),
            Stmt::Alloc { dst, cell, len, arena, site } => {
                self.alloc(*dst, *cell, *len, *arena, *site)
            }
            Stmt::Mark { dst, arena } => {
                self.mark(*dst, *arena);
                Ok(())
            }
            Stmt::Release { mark, arena } => self.release(*mark, *arena),
            Stmt::Fill { buffer, len, value } => self.fill(*buffer, *len, *value),
            Stmt::CopyCells { dst, src, len, cell } => self.copy_cells(*dst, *src, *len, *cell),
            Stmt::For(inner) => self.for_loop(inner),
            Stmt::Lanes(inner) => self.lanes_loop(inner),
            Stmt::If { dst, cond, then, other } => self.branch(dst, *cond, then, other),
            Stmt::Call { func, args, shares: Some(least), .. } => self.shares(*func, args, *least),
            Stmt::Call { dst, func, args, shares: None } => self.call(dst, *func, args),
            Stmt::Kernel { kernel, args } => self.kernel(*kernel, args),
            Stmt::Poll { site, .. } => {
                self.poll(*site);
                Ok(())
            }
            Stmt::Check { check, site } => self.check(*check, *site),
        }
    }

    // Values.

    /// The machine value of a value.
    pub(crate) fn value(&self, value: Value) -> Result<ir::Value> {
        self.values[value]
            .expand()
            .ok_or_else(|| format!("`{}` is used before it is assigned", self.name(value)))
    }

    fn name(&self, value: Value) -> &str {
        self.source.values.get(value).map_or("?", |data| &data.name)
    }

    /// The kind of a value.
    pub(crate) fn kind(&self, value: Value) -> Kind {
        self.source.values[value].kind
    }

    /// The machine value of a value or literal.
    pub(crate) fn atom(&mut self, atom: Atom) -> Result<ir::Value> {
        Ok(match atom {
            Atom::Value(value) => self.value(value)?,
            Atom::Lit(Literal::F64(x)) => self.float(x),
            Atom::Lit(Literal::F32(x)) => self.builder.ins().f32const(x),
            Atom::Lit(Literal::I64(x)) => self.int(x),
            Atom::Lit(Literal::I32(x)) => self.builder.ins().iconst(types::I32, i64::from(x)),
            Atom::Lit(Literal::Bool(x)) => self.builder.ins().iconst(types::I8, i64::from(x)),
        })
    }

    pub(crate) fn atoms(&mut self, atoms: &[Atom]) -> Result<Vec<ir::Value>> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    pub(crate) fn int(&mut self, x: i64) -> ir::Value {
        self.builder.ins().iconst(types::I64, x)
    }

    pub(crate) fn float(&mut self, x: f64) -> ir::Value {
        match self.literals.get(x) {
            Some(value) => value,
            None => self.builder.ins().f64const(x),
        }
    }

    /// Assigns a value.
    pub(crate) fn bind(&mut self, value: Value, machine: ir::Value) {
        self.values[value] = machine.into();
        if self.shifted.get(value).is_some_and(Option::is_some) {
            self.shifted[value] = None;
        }
    }

    /// Assigns an integer that is `base + offset`.
    pub(crate) fn bind_shifted(&mut self, value: Value, base: ir::Value, offset: i64) {
        let machine = match offset {
            0 => base,
            _ => self.builder.ins().iadd_imm_s(base, offset),
        };
        self.values[value] = machine.into();
        self.shifted[value] = Some((base, offset));
    }

    /// An integer as a machine value plus a constant.
    pub(crate) fn index(&self, atom: Atom) -> Result<Index> {
        match atom {
            Atom::Lit(Literal::I64(k)) => Ok((None, k)),
            Atom::Lit(_) => Err("an index is not an integer".to_owned()),
            Atom::Value(value) => match self.shifted.get(value).copied().flatten() {
                Some((base, offset)) => Ok((Some(base), offset)),
                None => Ok((Some(self.value(value)?), 0)),
            },
        }
    }

    fn copy(&mut self, dst: Value, src: Atom) -> Result<()> {
        if let (Kind::I64, Atom::Value(_)) = (self.kind(dst), src)
            && let (Some(base), offset @ 1..) = self.index(src)?
        {
            self.bind_shifted(dst, base, offset);
            return Ok(());
        }
        let value = self.atom(src)?;
        self.bind(dst, value);
        Ok(())
    }

    // Operations and calls.

    fn prim(&mut self, dst: Value, prim: Prim, args: &[Atom]) -> Result<()> {
        let row = prim.row();
        if row.params.len() != args.len() {
            return Err(format!("`{}` has {} operands", row.id, args.len()));
        }
        match row.lowering {
            Lowering::Opcode(Opcode::Copy) => self.copy(dst, args[0]),
            Lowering::Opcode(op @ (Opcode::IAdd | Opcode::ISub)) => match (args[0], args[1]) {
                (Atom::Value(_), Atom::Lit(Literal::I64(k))) => {
                    let k = if op == Opcode::ISub { k.wrapping_neg() } else { k };
                    self.add_constant(dst, args[0], k)
                }
                (Atom::Lit(Literal::I64(k)), Atom::Value(_)) if op == Opcode::IAdd => {
                    self.add_constant(dst, args[1], k)
                }
                _ => self.machine(dst, op, args),
            },
            Lowering::Opcode(op) => self.machine(dst, op, args),
            Lowering::Runtime(symbol) => {
                match self.partners.get(&dst).copied() {
                    Some(Some(partner)) => return self.sine_and_cosine(dst, prim, partner, args),
                    // Computed with its partner.
                    Some(None) => return Ok(()),
                    None => {}
                }
                let args = self.atoms(args)?;
                let result = self.runtime(symbol, &args)?;
                self.bind(dst, result.ok_or_else(|| format!("`{symbol}` has no result"))?);
                Ok(())
            }
        }
    }

    fn add_constant(&mut self, dst: Value, atom: Atom, k: i64) -> Result<()> {
        if let (Some(base), offset) = self.index(atom)? {
            self.bind_shifted(dst, base, offset.wrapping_add(k));
        }
        Ok(())
    }

    fn machine(&mut self, dst: Value, op: Opcode, args: &[Atom]) -> Result<()> {
        let second = match args {
            [_, Atom::Lit(Literal::I64(k))] => Some(*k),
            _ => None,
        };
        let limit = operation::limit(op, args).filter(|_| self.literals.x86);
        let args = self.atoms(args)?;
        let result = match (op, &args[..], self.literals.negate()) {
            (Opcode::FNeg, [a], Some(sign)) if self.kind(dst) == Kind::F64 => {
                self.builder.ins().bxor(*a, sign)
            }
            _ if let Some((x, k)) = limit => {
                let limit = self.float(x);
                operation::extremum(&mut self.builder, op, (x, limit), args[k])
            }
            _ => operation::operation(&mut self.builder, op, &args, second)?,
        };
        self.bind(dst, result);
        Ok(())
    }

    pub(crate) fn reference(&mut self, id: FuncId) -> FuncRef {
        let Translator { references, module, builder, .. } = self;
        *references.entry(id).or_insert_with(|| module.declare_func_in_func(id, builder.func))
    }

    /// Calls a kernel: its arguments by the C convention, no result.
    fn kernel(&mut self, kernel: Kernel, args: &[Atom]) -> Result<()> {
        let row = kernel.row();
        if row.params.len() != args.len() {
            return Err(format!("the kernel `{}` has {} arguments", row.name, args.len()));
        }
        let symbol = self.program.symbol_of(kernel, args);
        let args = self.atoms(args)?;
        match symbol {
            None => self.runtime(row.symbol, &args).map(|_| ()),
            Some(symbol) => {
                let id = signature::foreign(&mut *self.module, symbol, args.len())?;
                let callee = self.reference(id);
                self.builder.ins().call(callee, &args);
                Ok(())
            }
        }
    }

    /// Calls a function of the runtime.
    pub(crate) fn runtime(
        &mut self,
        symbol: &'static str,
        args: &[ir::Value],
    ) -> Result<Option<ir::Value>> {
        let id = self.imports.get(&mut *self.module, symbol)?;
        let callee = self.reference(id);
        let call = self.builder.ins().call(callee, args);
        Ok(self.builder.inst_results(call).first().copied())
    }

    fn call(&mut self, dst: &[Value], func: LoopFuncId, args: &[Atom]) -> Result<()> {
        let id = self.callees[func].ok_or("a function is called before it is defined")?;
        let callee = self.reference(id);
        let mut values = vec![self.workspace];
        let returns = Returns::of(&self.program.funcs[func]);
        if returns.results.len() != dst.len() {
            return Err("a call returns another number of results".to_owned());
        }
        let area = returns.through_memory().then(|| self.called_area(returns.bytes()));
        values.extend(area);
        let mut given = self.atoms(args)?;
        if returns.params_through_memory() {
            // The callee has read its parameters before it writes results into the same words.
            let words = self.called_area(returns.bytes());
            for (k, value) in given.iter().enumerate().skip(returns.direct) {
                self.store_word(*value, words, k)?;
            }
            values.push(words);
            given.truncate(returns.direct);
        }
        values.extend(given);
        let call = self.builder.ins().call(callee, &values);
        let returned = self.builder.inst_results(call).to_vec();
        let Some((status, results)) = returned.split_first() else {
            return Err("a call returns no status".to_owned());
        };
        self.pass_on(*status);
        let mut results = results.iter();
        for (k, (value, (ty, register))) in dst.iter().zip(returns.results).enumerate() {
            let machine = match (register, area) {
                (false, Some(area)) => {
                    let flags = MemFlagsData::trusted();
                    self.builder.ins().load(ty, flags, area, word_offset(k)?)
                }
                _ => *results.next().ok_or("a call returns too few results")?,
            };
            self.bind(*value, machine);
        }
        Ok(())
    }

    /// Ends the function if a call has failed.
    pub(crate) fn pass_on(&mut self, status: ir::Value) {
        let failed = self.returning();
        let ok = self.builder.create_block();
        self.builder.ins().brif(status, failed, &[status.into()], ok, &[]);
        self.builder.switch_to_block(ok);
    }

    /// Stores a value into the k-th word.
    pub(crate) fn store_word(
        &mut self,
        value: ir::Value,
        words: ir::Value,
        k: usize,
    ) -> Result<()> {
        let word = match self.builder.func.dfg.value_type(value) {
            types::I8 => self.builder.ins().uextend(types::I64, value),
            _ => value,
        };
        self.builder.ins().store(MemFlagsData::trusted(), word, words, word_offset(k)?);
        Ok(())
    }

    /// Memory for the results of a called function; they are loaded at once after the call.
    pub(crate) fn called_area(&mut self, bytes: usize) -> ir::Value {
        let slot = match self.called {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 0, 3);
                let slot = self.builder.create_sized_stack_slot(data);
                self.called = Some(slot);
                slot
            }
        };
        let data = &mut self.builder.func.sized_stack_slots[slot];
        data.size = data.size.max(bytes as u32);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    // Control.

    /// A new block whose parameters are the values; they are bound when the block is entered with
    /// [`Translator::enter`].
    pub(crate) fn block_for(&mut self, values: &[Value]) -> ir::Block {
        let block = self.builder.create_block();
        for value in values {
            let ty = cranelift_type(self.kind(*value));
            self.builder.append_block_param(block, ty);
        }
        block
    }

    /// Goes on in a block and binds its first parameters.
    pub(crate) fn enter(&mut self, block: ir::Block, values: &[Value]) {
        self.builder.switch_to_block(block);
        for (k, value) in values.iter().enumerate() {
            let param = self.builder.block_params(block)[k];
            self.bind(*value, param);
        }
    }

    fn branch(&mut self, dst: &[Value], cond: Atom, then: &Block, other: &Block) -> Result<()> {
        let cond = self.atom(cond)?;
        let [yes, no] = [self.builder.create_block(), self.builder.create_block()];
        let join = self.block_for(dst);
        self.builder.ins().brif(cond, yes, &[], no, &[]);
        for (side, block) in [(yes, then), (no, other)] {
            self.builder.switch_to_block(side);
            let results = self.block(block)?;
            self.stored = None;
            if results.len() != dst.len() {
                return Err("a branch gives another number of results".to_owned());
            }
            self.builder.ins().jump(join, &block_args(&results));
        }
        self.enter(join, dst);
        Ok(())
    }
}

/// A place on the stack, aligned to sixteen bytes.
pub(crate) fn stack_slot(builder: &mut FunctionBuilder<'_>, bytes: u32) -> StackSlot {
    builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
}

/// Values as arguments of a block.
pub(crate) fn block_args(values: &[ir::Value]) -> Vec<BlockArg> {
    values.iter().map(|value| BlockArg::from(*value)).collect()
}
