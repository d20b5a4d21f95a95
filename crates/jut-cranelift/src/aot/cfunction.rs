//! The C function around a program.
//!
//! `int f(params.., results.., workspace, error)`, or `int f(params.., results.., memory, bytes,
//! error)` where there is no runtime:
//!
//! | what | how it is passed |
//! |---|---|
//! | scalar parameter | by value: `double`, `int64_t`, `uint8_t` (any value but 0 is true) |
//! | buffer parameter | a pointer to its first cell |
//! | returned result | a pointer to where it goes, or null if it is not wanted |
//! | workspace | a pointer; null is allowed where no memory is needed |
//! | error | a pointer to where an error is described, or null |
//!
//! Parameters and results stand in the order that the caller of this module wants: results in the
//! order of the program, although those in buffers are parameters of the loop form.
//!
//! The function returns the status, 0 or the number of the kind of error, and describes an error
//! there ([`error_layout`]). Messages lie in the object's read-only data.
//!
//! Without a runtime the head of the workspace, all that compiled code touches of it, lies on the
//! stack, and its two arenas share the caller's memory.
//!
//! Where there is a bound on the memory ([`jut_loop::need`]), a second function `f_workspace_size`
//! says how much a call needs, from the integers among its parameters, and lent memory is divided
//! between the arenas as the call needs it.

use crate::program::{Imports, Returns, Source, signature};
use crate::translate::cranelift_type;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, Function, GlobalValueData, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind,
    UserFuncName, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, FuncId, Linkage, Module};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::{Kind, LoopFunction};
use jut_native::object::Place;
use jut_runtime::arena::ALIGN;
use jut_runtime::workspace::{OVERHEAD, layout};
use target_lexicon::{Architecture, BinaryFormat};

/// The struct that describes an error, as the header declares it: offsets in bytes.
pub(crate) mod error_layout {
    /// `int32_t status`
    pub const STATUS: i32 = 0;
    /// `int32_t line`
    pub const LINE: i32 = 4;
    /// `int32_t column`
    pub const COLUMN: i32 = 8;
    /// `int32_t count`: how many numbers are meaningful.
    pub const COUNT: i32 = 12;
    /// `const char *message`
    pub const MESSAGE: i32 = 16;
    /// `int64_t numbers[3]`
    pub const NUMBERS: i32 = 24;
}

/// What is known of the function beside its program.
pub(crate) struct Shape<'a> {
    pub name: &'a str,
    /// The numbers of parameters and results in the order of the C function.
    pub order: &'a [usize],
    pub needs_memory: bool,
    /// The function that says how many bytes each arena needs, if there is a bound.
    pub need: Option<FuncId>,
    pub places: &'a [Place],
}

impl Shape<'_> {
    /// The integers among the parameters, as they stand in the C function.
    fn integers(&self, function: &LoopFunction) -> Vec<usize> {
        let integer = |k: &usize| {
            let param = function.params.get(*k);
            param.is_some_and(|param| function.values[param.value].kind == Kind::I64)
        };
        self.order.iter().copied().filter(integer).collect()
    }
}

/// Defines the function that says how much memory a call needs, around the program that does:
/// `size_t f_workspace_size(int64_t ..)`.
pub(crate) fn define_size(
    shape: &Shape<'_>,
    function: &LoopFunction,
    module: &mut dyn Module,
    imports: &mut Imports,
    need: FuncId,
    context: &mut Context,
    builder_context: &mut FunctionBuilderContext,
) -> Result<FuncId, String> {
    let source = imports.source;
    let order = shape.integers(function);
    let params = vec![types::I64; order.len()];
    let signature = signature(module.isa().default_call_conv(), &params, &[types::I64]);
    let place = module
        .declare_function(&size_name(shape.name), Linkage::Export, &signature)
        .map_err(|e| e.to_string())?;
    context.func = Function::with_name_signature(UserFuncName::user(0, place.as_u32()), signature);
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let params = builder.block_params(block).to_vec();
    let bytes = match shape.needs_memory {
        false => builder.ins().iconst(types::I64, 0),
        true => {
            let mut integers: Vec<(usize, ir::Value)> = order.into_iter().zip(params).collect();
            integers.sort_unstable_by_key(|(number, _)| *number);
            let integers: Vec<ir::Value> = integers.into_iter().map(|(_, value)| value).collect();
            let [temp, tape] = call_need(module, &mut builder, need, &integers)?;
            let both = builder.ins().fadd(temp, tape);
            let overhead = match source {
                Source::Runtime => OVERHEAD,
                Source::System => ALIGN,
            };
            let overhead = builder.ins().f64const(overhead as f64);
            let bytes = builder.ins().fadd(both, overhead);
            builder.ins().fcvt_to_uint_sat(types::I64, bytes)
        }
    };
    builder.ins().return_(&[bytes]);
    builder.seal_all_blocks();
    builder.finalize(module.target_config());
    Ok(place)
}

/// The name of the function that says how much memory a function needs.
pub(crate) fn size_name(name: &str) -> String {
    format!("{name}_workspace_size")
}

/// Bytes of both arenas, as floats.
fn call_need(
    module: &mut dyn Module,
    builder: &mut FunctionBuilder<'_>,
    need: FuncId,
    integers: &[ir::Value],
) -> Result<[ir::Value; 2], String> {
    // It is compiled like any function, and touches no workspace.
    let mut args = vec![builder.ins().iconst(types::I64, 0)];
    args.extend(integers);
    let callee = module.declare_func_in_func(need, builder.func);
    let call = builder.ins().call(callee, &args);
    match *builder.inst_results(call) {
        [_, temp, tape] => Ok([temp, tape]),
        _ => Err("the need of memory is two numbers".to_owned()),
    }
}

/// A row of the table of places: line, column, count, where the message begins.
const ROW: i64 = 16;

/// Translates the function; says where it belongs.
pub(crate) fn define(
    shape: &Shape<'_>,
    module: &mut dyn Module,
    imports: &mut Imports,
    callee: FuncId,
    function: &LoopFunction,
    context: &mut Context,
    builder_context: &mut FunctionBuilderContext,
) -> Result<FuncId, String> {
    let source = imports.source;
    let mut numbered: Vec<ir::Type> = function
        .params
        .iter()
        .map(|param| cranelift_type(function.values[param.value].kind))
        .collect();
    numbered.extend(function.result_kinds().map(|_| types::I64));
    let mut sorted = shape.order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..numbered.len()) {
        return Err("the order does not list every parameter and result once".to_owned());
    }
    let mut params: Vec<ir::Type> = shape.order.iter().map(|k| numbered[*k]).collect();
    params.extend([types::I64; 2]);
    if source == Source::System {
        params.push(types::I64);
    }
    let convention = module.isa().default_call_conv();
    let signature = signature(convention, &params, &[types::I32]);
    let place = module
        .declare_function(shape.name, Linkage::Export, &signature)
        .map_err(|e| e.to_string())?;
    let table = Table::new(shape, module)?;
    context.func = Function::with_name_signature(UserFuncName::user(0, place.as_u32()), signature);
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let mut values = builder.block_params(block).to_vec();
    let error = values.pop().ok_or("no parameter for the error")?;
    let mut wrapper = Wrapper { builder, module, imports, table, error, shape };
    let lent = match source {
        Source::System => {
            let bytes = values.pop().ok_or("no parameter for the size")?;
            Some((values.pop().ok_or("no parameter for the memory")?, bytes))
        }
        Source::Runtime => None,
    };
    let own = match source {
        Source::Runtime => Some(values.pop().ok_or("no parameter for the workspace")?),
        Source::System => None,
    };
    let mut numbered = vec![error; shape.order.len()];
    for (number, value) in shape.order.iter().zip(&values) {
        numbered[*number] = *value;
    }
    let integers: Vec<ir::Value> = function
        .params
        .iter()
        .zip(&numbered)
        .filter(|(param, _)| function.values[param.value].kind == Kind::I64)
        .map(|(_, value)| *value)
        .collect();
    let workspace = match own.filter(|_| shape.needs_memory) {
        Some(workspace) => wrapper.begin(workspace, &integers)?,
        None => wrapper.head_on_stack(lent, &integers)?,
    };
    let (arguments, places) = numbered.split_at(function.params.len());
    let outputs = Returns::of(function);
    let given = arguments.iter().zip(&function.params);
    let given = given.map(|(value, param)| match function.values[param.value].kind {
        Kind::BOOL => wrapper.builder.ins().icmp_imm_u(IntCC::NotEqual, *value, 0),
        _ => *value,
    });
    let mut given: Vec<ir::Value> = given.collect();
    let area = outputs.through_memory().then(|| wrapper.slot(outputs.bytes()));
    let mut args = vec![workspace];
    args.extend(area);
    if outputs.params_through_memory() {
        let words = wrapper.slot(outputs.bytes());
        for (k, value) in given.iter().enumerate().skip(outputs.direct) {
            let offset = crate::program::word_offset(k)?;
            wrapper.builder.ins().store(MemFlagsData::trusted(), *value, words, offset);
        }
        args.push(words);
        given.truncate(outputs.direct);
    }
    args.extend(given);
    let callee = wrapper.module.declare_func_in_func(callee, wrapper.builder.func);
    let call = wrapper.builder.ins().call(callee, &args);
    let returned = wrapper.builder.inst_results(call).to_vec();
    let status = *returned.first().ok_or("a call returns no status")?;
    let [ok, failed] = [wrapper.builder.create_block(), wrapper.builder.create_block()];
    wrapper.builder.set_cold_block(failed);
    wrapper.builder.ins().brif(status, failed, &[], ok, &[]);

    wrapper.builder.switch_to_block(ok);
    let mut in_registers = returned.iter().skip(1);
    let unwanted = wrapper.slot(8);
    for (k, ((ty, register), to)) in outputs.results.iter().zip(places).enumerate() {
        let value = match (register, area) {
            (false, Some(area)) => {
                let offset = crate::program::word_offset(k)?;
                wrapper.builder.ins().load(*ty, MemFlagsData::trusted(), area, offset)
            }
            _ => *in_registers.next().ok_or("a call returns too few results")?,
        };
        // A result that is not wanted goes where nobody reads it: with a branch for each of thousands of
        // results, compiling would be quadratic.
        let to = wrapper.builder.ins().select(*to, *to, unwanted);
        wrapper.builder.ins().store(MemFlagsData::trusted(), value, to, 0);
    }
    let zero = wrapper.builder.ins().iconst(types::I32, 0);
    wrapper.describe_success(zero);
    wrapper.builder.ins().return_(&[zero]);

    wrapper.builder.switch_to_block(failed);
    wrapper.describe_failure(workspace, status);
    wrapper.builder.ins().return_(&[status]);
    let Wrapper { mut builder, module, .. } = wrapper;
    builder.seal_all_blocks();
    builder.finalize(module.target_config());
    Ok(place)
}

/// Where the table of places and the messages lie.
struct Table {
    rows: cranelift_module::DataId,
    text: cranelift_module::DataId,
    /// Where in the text the message about a missing workspace begins.
    no_workspace: i64,
}

impl Table {
    fn new(shape: &Shape<'_>, module: &mut dyn Module) -> Result<Table, String> {
        let (mut rows, mut text) = (Vec::new(), Vec::new());
        for place in shape.places {
            let begin = u32::try_from(text.len()).map_err(|_| "too many messages".to_owned())?;
            let count = place.numbers as u32;
            for word in [place.line, place.column, count, begin] {
                rows.extend(match module.isa().endianness() {
                    ir::Endianness::Little => word.to_le_bytes(),
                    ir::Endianness::Big => word.to_be_bytes(),
                });
            }
            text.extend(place.message.bytes().filter(|byte| *byte != 0));
            text.push(0);
        }
        let no_workspace = text.len() as i64;
        text.extend(b"R06: there is no workspace\0");
        // Data may not be empty.
        rows.resize(rows.len().max(ROW as usize), 0);
        let mut data = |suffix: &str, bytes: Vec<u8>, align: u64| {
            let name = format!("{}.{suffix}", shape.name);
            let id = module
                .declare_data(&name, Linkage::Local, false, false)
                .map_err(|e| e.to_string())?;
            let mut description = DataDescription::new();
            description.define(bytes.into_boxed_slice());
            description.set_align(align);
            module.define_data(id, &description).map_err(|e| e.to_string())?;
            Ok::<_, String>(id)
        };
        Ok(Table { rows: data("places", rows, 8)?, text: data("messages", text, 1)?, no_workspace })
    }
}

struct Wrapper<'a> {
    builder: FunctionBuilder<'a>,
    module: &'a mut dyn Module,
    imports: &'a mut Imports,
    table: Table,
    error: ir::Value,
    shape: &'a Shape<'a>,
}

impl Wrapper<'_> {
    fn slot(&mut self, bytes: usize) -> ir::Value {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes as u32, 4);
        let slot = self.builder.create_sized_stack_slot(data);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// Bytes that the tape needs; the largest number if there is no bound.
    fn tape(&mut self, integers: &[ir::Value]) -> Result<ir::Value, String> {
        match self.shape.need {
            None => Ok(self.builder.ins().iconst(types::I64, -1)),
            Some(need) => {
                let [_, tape] = call_need(self.module, &mut self.builder, need, integers)?;
                Ok(self.builder.ins().fcvt_to_uint_sat(types::I64, tape))
            }
        }
    }

    /// The head of a workspace on the stack; its arenas share the memory.
    fn head_on_stack(
        &mut self,
        memory: Option<(ir::Value, ir::Value)>,
        integers: &[ir::Value],
    ) -> Result<ir::Value, String> {
        let head = self.slot(layout::HEAD);
        let Some((memory, bytes)) = memory.filter(|_| self.shape.needs_memory) else {
            return Ok(head);
        };
        let tape = self.tape(integers)?;
        let (align, flags) = (ALIGN as i64, MemFlagsData::trusted());
        // From the first multiple of the alignment on, a whole number of them for each arena.
        let up = self.builder.ins().iadd_imm_s(memory, align - 1);
        let begin = self.builder.ins().band_imm_s(up, -align);
        let skipped = self.builder.ins().isub(begin, memory);
        let enough = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, bytes, skipped);
        let rest = self.builder.ins().isub(bytes, skipped);
        let zero = self.builder.ins().iconst(types::I64, 0);
        let rest = self.builder.ins().select(enough, rest, zero);
        let rest = self.builder.ins().select(memory, rest, zero);
        let rest = self.builder.ins().band_imm_s(rest, -align);
        let tape = self.builder.ins().umin(tape, rest);
        let middle = self.builder.ins().iadd(begin, tape);
        let end = self.builder.ins().iadd(begin, rest);
        for (place, value) in [
            (layout::TAPE_BASE, begin),
            (layout::TAPE_TOP, begin),
            (layout::TAPE_END, middle),
            (layout::TEMP_BASE, middle),
            (layout::TEMP_TOP, middle),
            (layout::TEMP_END, end),
        ] {
            self.builder.ins().store(flags, value, head, place as i32);
        }
        Ok(head)
    }

    /// Begins a call in a workspace of the runtime, if there is one.
    fn begin(&mut self, workspace: ir::Value, integers: &[ir::Value]) -> Result<ir::Value, String> {
        let [given, missing] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.set_cold_block(missing);
        self.builder.ins().brif(workspace, given, &[], missing, &[]);

        self.builder.switch_to_block(missing);
        let status = self.builder.ins().iconst(types::I32, RuntimeErrorKind::Memory as i64);
        let zero = self.builder.ins().iconst(types::I32, 0);
        let text = self.data(self.table.text);
        let message = self.builder.ins().iadd_imm_s(text, self.table.no_workspace);
        self.if_error_wanted(|wrapper| {
            wrapper.fill(status, [zero, zero, zero], message);
        });
        self.builder.ins().return_(&[status]);

        self.builder.switch_to_block(given);
        let tape = self.tape(integers)?;
        let begin = self.imports.get(&mut *self.module, "jut_workspace_begin")?;
        let begin = self.module.declare_func_in_func(begin, self.builder.func);
        self.builder.ins().call(begin, &[workspace, tape]);
        Ok(workspace)
    }

    fn data(&mut self, id: cranelift_module::DataId) -> ir::Value {
        let global = self.module.declare_data_in_func(id, self.builder.func);
        let triple = self.module.isa().triple();
        let windows = triple.binary_format == BinaryFormat::Coff;
        if windows && matches!(triple.architecture, Architecture::Aarch64(_)) {
            // There is no relocation for an address relative to the code in such objects; far
            // addresses are written out.
            if let GlobalValueData::Symbol { colocated, .. } =
                &mut self.builder.func.global_values[global]
            {
                *colocated = false;
            }
        }
        self.builder.ins().symbol_value(types::I64, global)
    }

    /// Emits what runs if the error is to be described.
    fn if_error_wanted(&mut self, then: impl FnOnce(&mut Self)) {
        let [yes, done] = [self.builder.create_block(), self.builder.create_block()];
        self.builder.ins().brif(self.error, yes, &[], done, &[]);
        self.builder.switch_to_block(yes);
        then(self);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    fn store_error(&mut self, value: ir::Value, offset: i32) {
        self.builder.ins().store(MemFlagsData::trusted(), value, self.error, offset);
    }

    /// Status, then line, column and count, then the message.
    fn fill(&mut self, status: ir::Value, place: [ir::Value; 3], message: ir::Value) {
        self.store_error(status, error_layout::STATUS);
        let offsets = [error_layout::LINE, error_layout::COLUMN, error_layout::COUNT];
        for (value, offset) in place.into_iter().zip(offsets) {
            self.store_error(value, offset);
        }
        self.store_error(message, error_layout::MESSAGE);
    }

    fn describe_success(&mut self, zero: ir::Value) {
        self.if_error_wanted(|wrapper| {
            let null = wrapper.builder.ins().iconst(types::I64, 0);
            wrapper.fill(zero, [zero; 3], null);
        });
    }

    fn describe_failure(&mut self, workspace: ir::Value, status: ir::Value) {
        self.if_error_wanted(|wrapper| {
            let flags = MemFlagsData::trusted();
            let site = wrapper.builder.ins().load(
                types::I64,
                flags,
                workspace,
                layout::FAILURE_SITE as i32,
            );
            let rows = wrapper.data(wrapper.table.rows);
            let text = wrapper.data(wrapper.table.text);
            let offset = wrapper.builder.ins().imul_imm_s(site, ROW);
            let row = wrapper.builder.ins().iadd(rows, offset);
            let words: [ir::Value; 4] = std::array::from_fn(|k| {
                wrapper.builder.ins().load(types::I32, flags, row, 4 * k as i32)
            });
            let [line, column, count, begin] = words;
            let begin = wrapper.builder.ins().uextend(types::I64, begin);
            let message = wrapper.builder.ins().iadd(text, begin);
            wrapper.fill(status, [line, column, count], message);
            for k in 0..3 {
                let place = layout::FAILURE_OPERANDS as i32 + 8 * k;
                let number = wrapper.builder.ins().load(types::I64, flags, workspace, place);
                wrapper.store_error(number, error_layout::NUMBERS + 8 * k);
            }
        });
    }
}
