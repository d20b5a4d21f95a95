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

use crate::signature::{Returns, cranelift_type, word_offset};
use crate::translate::stack_slot;
use crate::unit::{Unit, Writing};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, GlobalValueData, InstBuilder, MemFlagsData, types};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::{Kind, LoopFunction};
use jut_native::object::{Export, MathLibrary, Messages, NO_WORKSPACE};
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

/// Defines the function that says how much memory a call needs, around the program that does.
pub(crate) fn define_size(
    export: &Export<'_>,
    function: &LoopFunction,
    unit: &mut Unit<'_>,
    need: FuncId,
) -> Result<FuncId, String> {
    let order = export.integers(function);
    let params = vec![types::I64; order.len()];
    let place = unit.declare(&export.size_name(), Linkage::Export, &params, &[types::I64])?;
    let mut writing = unit.begin(place);
    let bytes = match export.needs_memory {
        false => writing.builder.ins().iconst(types::I64, 0),
        true => {
            let mut integers: Vec<(usize, ir::Value)> =
                order.into_iter().zip(writing.params.iter().copied()).collect();
            integers.sort_unstable_by_key(|(number, _)| *number);
            let integers: Vec<ir::Value> = integers.into_iter().map(|(_, value)| value).collect();
            let [temp, tape] = call_need(&mut writing, need, &integers)?;
            let both = writing.builder.ins().fadd(temp, tape);
            let overhead = match writing.imports.math {
                MathLibrary::Jut => OVERHEAD,
                MathLibrary::System => ALIGN,
            };
            let overhead = writing.builder.ins().f64const(overhead as f64);
            let bytes = writing.builder.ins().fadd(both, overhead);
            writing.builder.ins().fcvt_to_uint_sat(types::I64, bytes)
        }
    };
    writing.builder.ins().return_(&[bytes]);
    writing.end();
    Ok(place)
}

/// Bytes of both arenas, as floats.
fn call_need(
    writing: &mut Writing<'_>,
    need: FuncId,
    integers: &[ir::Value],
) -> Result<[ir::Value; 2], String> {
    // It is compiled like any function, and touches no workspace.
    let mut args = vec![writing.builder.ins().iconst(types::I64, 0)];
    args.extend(integers);
    match writing.call(need, &args)[..] {
        [_, temp, tape] => Ok([temp, tape]),
        _ => Err("the need of memory is two numbers".to_owned()),
    }
}

/// A row of the table of places: line, column, count, where the message begins.
const ROW: i64 = 16;

/// Translates the function; says where it belongs. `need` says how many bytes each arena needs, if there is a bound.
pub(crate) fn define(
    export: &Export<'_>,
    function: &LoopFunction,
    messages: &Messages,
    need: Option<FuncId>,
    unit: &mut Unit<'_>,
    callee: FuncId,
) -> Result<FuncId, String> {
    let kinds = function.params.iter().map(|param| function.values[param.value].kind);
    let mut numbered: Vec<ir::Type> = kinds.clone().map(cranelift_type).collect();
    numbered.extend(function.result_kinds().map(|_| types::I64));
    let mut params: Vec<ir::Type> = export.order.iter().map(|k| numbered[*k]).collect();
    params.extend([types::I64; 2]);
    if unit.imports.math == MathLibrary::System {
        params.push(types::I64);
    }
    let place = unit.declare(export.name, Linkage::Export, &params, &[types::I32])?;
    let table = Table::new(export.name, messages, unit.module)?;
    let mut writing = unit.begin(place);
    let mut values = std::mem::take(&mut writing.params);
    let error = values.pop().ok_or("no parameter for the error")?;
    let (own, lent) = match writing.imports.math {
        MathLibrary::System => {
            let bytes = values.pop().ok_or("no parameter for the size")?;
            (None, Some((values.pop().ok_or("no parameter for the memory")?, bytes)))
        }
        MathLibrary::Jut => (Some(values.pop().ok_or("no parameter for the workspace")?), None),
    };
    let mut wrapper = Wrapper { writing, table, error, need };
    let mut numbered = vec![error; export.order.len()];
    for (number, value) in export.order.iter().zip(&values) {
        numbered[*number] = *value;
    }
    let integers = kinds.clone().zip(&numbered).filter(|(kind, _)| *kind == Kind::I64);
    let integers: Vec<ir::Value> = integers.map(|(_, value)| *value).collect();
    let workspace = match own.filter(|_| export.needs_memory) {
        Some(workspace) => wrapper.begin(workspace, &integers)?,
        None => wrapper.head_on_stack(lent.filter(|_| export.needs_memory), &integers)?,
    };
    let (arguments, places) = numbered.split_at(function.params.len());
    let outputs = Returns::of(function);
    let given = arguments.iter().zip(kinds).map(|(value, kind)| match kind {
        Kind::BOOL => wrapper.writing.builder.ins().icmp_imm_u(IntCC::NotEqual, *value, 0),
        _ => *value,
    });
    let mut given: Vec<ir::Value> = given.collect();
    let area = outputs.through_memory().then(|| wrapper.slot(outputs.bytes()));
    let mut args = vec![workspace];
    args.extend(area);
    if outputs.params_through_memory() {
        let words = wrapper.slot(outputs.bytes());
        for (k, value) in given.iter().enumerate().skip(outputs.direct) {
            let offset = word_offset(k)?;
            wrapper.writing.builder.ins().store(MemFlagsData::trusted(), *value, words, offset);
        }
        args.push(words);
        given.truncate(outputs.direct);
    }
    args.extend(given);
    let returned = wrapper.writing.call(callee, &args);
    let status = *returned.first().ok_or("a call returns no status")?;
    let [ok, failed] =
        [wrapper.writing.builder.create_block(), wrapper.writing.builder.create_block()];
    wrapper.writing.builder.set_cold_block(failed);
    wrapper.writing.builder.ins().brif(status, failed, &[], ok, &[]);

    wrapper.writing.builder.switch_to_block(ok);
    let mut in_registers = returned.iter().skip(1);
    let unwanted = wrapper.slot(8);
    for (k, ((ty, register), to)) in outputs.results.iter().zip(places).enumerate() {
        let value = match (register, area) {
            (false, Some(area)) => {
                let offset = word_offset(k)?;
                wrapper.writing.builder.ins().load(*ty, MemFlagsData::trusted(), area, offset)
            }
            _ => *in_registers.next().ok_or("a call returns too few results")?,
        };
        // A result that is not wanted goes where nobody reads it: with a branch for each of thousands of
        // results, compiling would be quadratic.
        let to = wrapper.writing.builder.ins().select(*to, *to, unwanted);
        wrapper.writing.builder.ins().store(MemFlagsData::trusted(), value, to, 0);
    }
    let zero = wrapper.writing.builder.ins().iconst(types::I32, 0);
    wrapper.describe_success(zero);
    wrapper.writing.builder.ins().return_(&[zero]);

    wrapper.writing.builder.switch_to_block(failed);
    wrapper.describe_failure(workspace, status);
    wrapper.writing.builder.ins().return_(&[status]);
    wrapper.writing.end();
    Ok(place)
}

/// Where the table of places and the messages lie.
struct Table {
    rows: DataId,
    text: DataId,
    /// Where in the text the message about a missing workspace begins.
    no_workspace: i64,
}

impl Table {
    fn new(name: &str, messages: &Messages, module: &mut dyn Module) -> Result<Table, String> {
        let words = messages.rows.iter().flatten();
        let mut rows: Vec<u8> = match module.isa().endianness() {
            ir::Endianness::Little => words.flat_map(|word| word.to_le_bytes()).collect(),
            ir::Endianness::Big => words.flat_map(|word| word.to_be_bytes()).collect(),
        };
        let no_workspace = messages.text.len() as i64;
        let text = [&messages.text[..], NO_WORKSPACE].concat();
        // Data may not be empty.
        rows.resize(rows.len().max(ROW as usize), 0);
        let mut data = |suffix: &str, bytes: Vec<u8>, align: u64| {
            let name = format!("{name}.{suffix}");
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
    writing: Writing<'a>,
    table: Table,
    error: ir::Value,
    need: Option<FuncId>,
}

impl Wrapper<'_> {
    fn slot(&mut self, bytes: usize) -> ir::Value {
        let slot = stack_slot(&mut self.writing.builder, bytes as u32);
        self.writing.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// Bytes that the tape needs; the largest number if there is no bound.
    fn tape(&mut self, integers: &[ir::Value]) -> Result<ir::Value, String> {
        match self.need {
            None => Ok(self.writing.builder.ins().iconst(types::I64, -1)),
            Some(need) => {
                let [_, tape] = call_need(&mut self.writing, need, integers)?;
                Ok(self.writing.builder.ins().fcvt_to_uint_sat(types::I64, tape))
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
        let Some((memory, bytes)) = memory else { return Ok(head) };
        let tape = self.tape(integers)?;
        let (align, flags) = (ALIGN as i64, MemFlagsData::trusted());
        // From the first multiple of the alignment on, a whole number of them for each arena.
        let up = self.writing.builder.ins().iadd_imm_s(memory, align - 1);
        let begin = self.writing.builder.ins().band_imm_s(up, -align);
        let skipped = self.writing.builder.ins().isub(begin, memory);
        let enough =
            self.writing.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, bytes, skipped);
        let rest = self.writing.builder.ins().isub(bytes, skipped);
        let zero = self.writing.builder.ins().iconst(types::I64, 0);
        let rest = self.writing.builder.ins().select(enough, rest, zero);
        let rest = self.writing.builder.ins().select(memory, rest, zero);
        let rest = self.writing.builder.ins().band_imm_s(rest, -align);
        let tape = self.writing.builder.ins().umin(tape, rest);
        let middle = self.writing.builder.ins().iadd(begin, tape);
        let end = self.writing.builder.ins().iadd(begin, rest);
        for (place, value) in [
            (layout::TAPE_BASE, begin),
            (layout::TAPE_TOP, begin),
            (layout::TAPE_END, middle),
            (layout::TEMP_BASE, middle),
            (layout::TEMP_TOP, middle),
            (layout::TEMP_END, end),
        ] {
            self.writing.builder.ins().store(flags, value, head, place as i32);
        }
        Ok(head)
    }

    /// Begins a call in a workspace of the runtime, if there is one.
    fn begin(&mut self, workspace: ir::Value, integers: &[ir::Value]) -> Result<ir::Value, String> {
        let [given, missing] =
            [self.writing.builder.create_block(), self.writing.builder.create_block()];
        self.writing.builder.set_cold_block(missing);
        self.writing.builder.ins().brif(workspace, given, &[], missing, &[]);

        self.writing.builder.switch_to_block(missing);
        let status = self.writing.builder.ins().iconst(types::I32, RuntimeErrorKind::Memory as i64);
        let zero = self.writing.builder.ins().iconst(types::I32, 0);
        let text = self.data(self.table.text);
        let message = self.writing.builder.ins().iadd_imm_s(text, self.table.no_workspace);
        self.if_error_wanted(|wrapper| {
            wrapper.fill(status, [zero, zero, zero], message);
        });
        self.writing.builder.ins().return_(&[status]);

        self.writing.builder.switch_to_block(given);
        let tape = self.tape(integers)?;
        let Writing { module, imports, .. } = &mut self.writing;
        let begin = imports.get(&mut **module, "jut_workspace_begin")?;
        self.writing.call(begin, &[workspace, tape]);
        Ok(workspace)
    }

    fn data(&mut self, id: DataId) -> ir::Value {
        let global = self.writing.module.declare_data_in_func(id, self.writing.builder.func);
        let triple = self.writing.module.isa().triple();
        let windows = triple.binary_format == BinaryFormat::Coff;
        if windows && matches!(triple.architecture, Architecture::Aarch64(_)) {
            // There is no relocation for an address relative to the code in such objects; far
            // addresses are written out.
            if let GlobalValueData::Symbol { colocated, .. } =
                &mut self.writing.builder.func.global_values[global]
            {
                *colocated = false;
            }
        }
        self.writing.builder.ins().symbol_value(types::I64, global)
    }

    /// Emits what runs if the error is to be described.
    fn if_error_wanted(&mut self, then: impl FnOnce(&mut Self)) {
        let [yes, done] =
            [self.writing.builder.create_block(), self.writing.builder.create_block()];
        self.writing.builder.ins().brif(self.error, yes, &[], done, &[]);
        self.writing.builder.switch_to_block(yes);
        then(self);
        self.writing.builder.ins().jump(done, &[]);
        self.writing.builder.switch_to_block(done);
    }

    fn store_error(&mut self, value: ir::Value, offset: i32) {
        self.writing.builder.ins().store(MemFlagsData::trusted(), value, self.error, offset);
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
            let null = wrapper.writing.builder.ins().iconst(types::I64, 0);
            wrapper.fill(zero, [zero; 3], null);
        });
    }

    fn describe_failure(&mut self, workspace: ir::Value, status: ir::Value) {
        self.if_error_wanted(|wrapper| {
            let flags = MemFlagsData::trusted();
            let site = wrapper.writing.builder.ins().load(
                types::I64,
                flags,
                workspace,
                layout::FAILURE_SITE as i32,
            );
            let rows = wrapper.data(wrapper.table.rows);
            let text = wrapper.data(wrapper.table.text);
            let offset = wrapper.writing.builder.ins().imul_imm_s(site, ROW);
            let row = wrapper.writing.builder.ins().iadd(rows, offset);
            let words: [ir::Value; 4] = std::array::from_fn(|k| {
                wrapper.writing.builder.ins().load(types::I32, flags, row, 4 * k as i32)
            });
            let [line, column, count, begin] = words;
            let begin = wrapper.writing.builder.ins().uextend(types::I64, begin);
            let message = wrapper.writing.builder.ins().iadd(text, begin);
            wrapper.fill(status, [line, column, count], message);
            for k in 0..3 {
                let place = layout::FAILURE_OPERANDS as i32 + 8 * k;
                let number =
                    wrapper.writing.builder.ins().load(types::I64, flags, workspace, place);
                wrapper.store_error(number, error_layout::NUMBERS + 8 * k);
            }
        });
    }
}
