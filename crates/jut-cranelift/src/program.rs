//! All functions of a loop program into a Cranelift module: code in memory now, objects by the same
//! way.
//!
//! **Signatures.** A function takes the workspace, then its parameters (floats in float registers,
//! integers and pointers in integer registers, bools as bytes), and returns a status and its results;
//! results that registers cannot take go to memory, whose address is one more parameter, and so do the
//! parameters of a function that has very many. Status 0 is success;
//! another status is the number of the [kind of error](jut_ir::RuntimeErrorKind), and the workspace
//! says where.
//!
//! **Entry.** One more function makes all programs look the same from outside:
//! `extern "C" fn(workspace, args: *const u64, results: *mut u64) -> u32`, with one word per
//! parameter of the last function and one per result.

use crate::shares;
use crate::target::Target;
use crate::translate::{Translator, cranelift_type};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, UserFuncName, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::{Context, ir};
use cranelift_entity::{EntityRef, SecondaryMap};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc};
use jut_loop::form::{Kind, LoopFuncId, LoopFunction, LoopProgram};
use jut_loop::kernel::Kernel;
use jut_loop::recursion;
use jut_native::CompileError;
use jut_native::object::system_name;
use jut_runtime::symbols::{self, Math};
use std::collections::HashMap;

/// What was made of a program.
pub(crate) struct Defined {
    /// The entry.
    pub entry: FuncId,
    /// Bytes of stack that a call needs at most.
    pub stack: usize,
    /// Bytes of machine code.
    pub bytes: usize,
}

/// Functions of the runtime, declared when first used.
#[derive(Default)]
pub(crate) struct Imports {
    known: HashMap<&'static str, FuncId>,
    /// Where they come from.
    pub source: Source,
}

/// Where functions of the runtime come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Source {
    /// The runtime, under their own names.
    #[default]
    Runtime,
    /// The system's mathematical library, and the module itself: see `substitute` in `aot`.
    System,
}

impl Imports {
    pub(crate) fn from(source: Source) -> Imports {
        Imports { source, ..Imports::default() }
    }

    /// What was asked for, in a fixed order.
    pub(crate) fn used(&self) -> Vec<(&'static str, FuncId)> {
        let mut used: Vec<_> = self.known.iter().map(|(symbol, id)| (*symbol, *id)).collect();
        used.sort_unstable();
        used
    }

    pub(crate) fn get(
        &mut self,
        module: &mut dyn Module,
        symbol: &'static str,
    ) -> Result<FuncId, String> {
        if let Some(id) = self.known.get(symbol) {
            return Ok(*id);
        }
        let (params, returns) = runtime_signature(symbol)
            .ok_or_else(|| format!("the runtime has no function `{symbol}`"))?;
        let signature = signature(module.isa().default_call_conv(), &params, &returns);
        let (name, linkage) = match self.source {
            Source::Runtime => (symbol, Linkage::Import),
            Source::System => match system_name(symbol) {
                Some(name) => (name, Linkage::Import),
                None => (symbol, Linkage::Local),
            },
        };
        let id = module.declare_function(name, linkage, &signature).map_err(|e| e.to_string())?;
        self.known.insert(symbol, id);
        Ok(id)
    }
}

pub(crate) fn runtime_signature(symbol: &str) -> Option<(Vec<ir::Type>, Vec<ir::Type>)> {
    let (f, i, h, b) = (types::F64, types::I64, types::I32, types::I8);
    Some(match symbol {
        "jut_alloc_temp" | "jut_alloc_tape" => (vec![i, i], vec![i]),
        "jut_release" | "jut_release_tape" => (vec![i, i], vec![]),
        "jut_fill_words" => (vec![i, i, i], vec![]),
        "jut_fill_halves" => (vec![i, i, h], vec![]),
        "jut_fill_bytes" => (vec![i, i, b], vec![]),
        "jut_copy" => (vec![i, i, i], vec![]),
        "jut_sin_cos" => (vec![f, i], vec![f]),
        "jut_shares" => (vec![i; 6], vec![h]),
        "jut_workspace_begin" => (vec![i, i], vec![]),
        _ if let Some(kernel) = Kernel::all().find(|k| k.row().symbol == symbol) => {
            // Pointers and integers, all of 64 bits.
            (vec![i; kernel.row().params.len()], vec![])
        }
        _ => match symbols::math(symbol)? {
            Math::Unary(_) => (vec![f], vec![f]),
            Math::Binary(_) => (vec![f, f], vec![f]),
            Math::Ternary(_) => (vec![f, f, f], vec![f]),
            Math::Integer(_) => (vec![f, i], vec![f]),
            Math::Order(_) => (vec![i, f], vec![f]),
        },
    })
}

pub(crate) fn signature(
    convention: CallConv,
    params: &[ir::Type],
    returns: &[ir::Type],
) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.extend(returns.iter().map(|ty| AbiParam::new(*ty)));
    signature
}

/// How the results of a function are returned: the first ones of each class in registers, the
/// others through memory; and which parameters come through memory.
pub(crate) struct Returns {
    /// Type and whether it is in a register, for each result.
    pub results: Vec<(ir::Type, bool)>,
    /// How many parameters come by themselves.
    pub direct: usize,
    /// How many parameters there are.
    params: usize,
}

/// Integers and floats that are returned in registers.
const RETURNED_IN_REGISTERS: usize = 6;

/// Parameters that come by themselves. A return pops those on the stack, and can pop 64 KiB.
const DIRECT_PARAMS: usize = 1024;

impl Returns {
    pub(crate) fn of(function: &LoopFunction) -> Returns {
        let (mut floats, mut ints) = (0, 0);
        let place = |kind: Kind| {
            let ty = cranelift_type(kind);
            let count = if ty.is_float() { &mut floats } else { &mut ints };
            *count += 1;
            (ty, *count <= RETURNED_IN_REGISTERS)
        };
        Returns {
            results: function.result_kinds().map(place).collect(),
            direct: function.params.len().min(DIRECT_PARAMS),
            params: function.params.len(),
        }
    }

    /// Whether the function takes a pointer to memory for results; result k goes to word k.
    pub(crate) fn through_memory(&self) -> bool {
        self.results.iter().any(|(_, register)| !register)
    }

    /// Whether the function takes a pointer to memory for parameters; parameter k is in word k.
    pub(crate) fn params_through_memory(&self) -> bool {
        self.direct < self.params
    }

    /// Bytes of memory that serve for either.
    pub(crate) fn bytes(&self) -> usize {
        8 * if self.params_through_memory() {
            self.results.len().max(self.params)
        } else {
            self.results.len()
        }
    }
}

fn function_signature(function: &LoopFunction) -> Signature {
    let results = Returns::of(function);
    let mut params = vec![types::I64];
    if results.through_memory() {
        params.push(types::I64);
    }
    if results.params_through_memory() {
        params.push(types::I64);
    }
    let direct = function.params.iter().take(results.direct);
    params.extend(direct.map(|p| cranelift_type(function.values[p.value].kind)));
    let mut returns = vec![types::I32];
    returns.extend(results.results.iter().filter(|(_, register)| *register).map(|(ty, _)| *ty));
    signature(CallConv::Tail, &params, &returns)
}

/// Takes a translated function: the module, its place there and in the program, and its text.
type Take<'a> = dyn FnMut(&mut dyn Module, FuncId, Option<LoopFuncId>, &mut Context) -> Result<(), CompileError>
    + 'a;

/// What is made around the functions of a program, for callers from outside: it is given the
/// program's last function and that one's place, fills the context, and says where it belongs.
type Entry<'a> = dyn FnMut(
        &mut dyn Module,
        &mut Imports,
        FuncId,
        &LoopFunction,
        &mut Context,
        &mut FunctionBuilderContext,
    ) -> Result<FuncId, String>
    + 'a;

/// Translates every function of the program and gives each, with its place in the module, to
/// `take`; the entry comes last and has no place in the program. The prefix keeps the names of
/// several programs in one module apart.
fn translate(
    program: &LoopProgram,
    prefix: &str,
    module: &mut dyn Module,
    imports: &mut Imports,
    entry: &mut Entry<'_>,
    take: &mut Take<'_>,
) -> Result<FuncId, CompileError> {
    let mut context = Context::new();
    let mut builder_context = FunctionBuilderContext::new();
    let mut ids: SecondaryMap<LoopFuncId, Option<FuncId>> = SecondaryMap::new();
    let shared = jut_loop::opt::shares::shared(program);
    let mut through_words: SecondaryMap<LoopFuncId, Option<FuncId>> = SecondaryMap::new();
    for (id, function) in program.funcs.iter() {
        let codegen =
            |reason: String| CompileError::Codegen { function: function.name.clone(), reason };
        // The number keeps names apart, from each other and from the runtime's.
        let name = format!("{prefix}{}.{}", id.index(), function.name);
        let place = module
            .declare_function(&name, Linkage::Local, &function_signature(function))
            .map_err(|e| codegen(e.to_string()))?;
        ids[id] = Some(place);
        if shared[id] {
            let words = shares::declare(module, &format!("{name}.words")).map_err(codegen)?;
            through_words[id] = Some(words);
        }
    }
    for (id, function) in program.funcs.iter() {
        let Some(place) = ids[id] else { continue };
        let name = UserFuncName::user(0, place.as_u32());
        context.func = Function::with_name_signature(name, function_signature(function));
        Translator::new(
            module,
            imports,
            [&ids, &through_words],
            program,
            function,
            FunctionBuilder::new(&mut context.func, &mut builder_context),
        )
        .function()
        .map_err(|reason| CompileError::Malformed { function: function.name.clone(), reason })?;
        take(module, place, Some(id), &mut context)?;
        module.clear_context(&mut context);
        if let Some(words) = through_words[id] {
            let both = [words, place];
            shares::through_words(module, both, function, &mut context, &mut builder_context)
                .map_err(|reason| CompileError::Codegen {
                    function: function.name.clone(),
                    reason,
                })?;
            take(module, words, None, &mut context)?;
            module.clear_context(&mut context);
        }
    }
    let last = program.funcs.last().and_then(|(id, function)| Some((ids[id]?, function)));
    let Some((place, function)) = last else {
        return Err(CompileError::no_function());
    };
    let entry = entry(module, imports, place, function, &mut context, &mut builder_context)
        .map_err(|reason| CompileError::Codegen { function: function.name.clone(), reason })?;
    take(module, entry, None, &mut context)?;
    Ok(entry)
}

/// The function that takes arguments and gives results through memory.
fn entry_through_memory(
    module: &mut dyn Module,
    _: &mut Imports,
    place: FuncId,
    function: &LoopFunction,
    context: &mut Context,
    builder_context: &mut FunctionBuilderContext,
) -> Result<FuncId, String> {
    let convention = module.isa().default_call_conv();
    let signature = signature(convention, &[types::I64; 3], &[types::I32]);
    let entry =
        module.declare_function("entry", Linkage::Export, &signature).map_err(|e| e.to_string())?;
    context.func = Function::with_name_signature(UserFuncName::user(0, entry.as_u32()), signature);
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let block = builder.create_block();
    builder.switch_to_block(block);
    builder.append_block_params_for_function_params(block);
    let [workspace, words, results] = *builder.block_params(block) else {
        return Err("the entry has three parameters".to_owned());
    };
    let callee = module.declare_func_in_func(place, builder.func);
    let flags = MemFlagsData::trusted();
    let outputs = Returns::of(function);
    let mut args = vec![workspace];
    if outputs.through_memory() {
        args.push(results);
    }
    if outputs.params_through_memory() {
        args.push(words);
    }
    for (k, param) in function.params.iter().enumerate().take(outputs.direct) {
        let ty = cranelift_type(function.values[param.value].kind);
        args.push(builder.ins().load(ty, flags, words, word_offset(k)?));
    }
    let call = builder.ins().call(callee, &args);
    let returned = builder.inst_results(call).to_vec();
    let in_registers = outputs.results.iter().enumerate().filter(|(_, (_, register))| *register);
    for ((k, (ty, _)), value) in in_registers.zip(&returned[1..]) {
        let word = match *ty {
            types::I8 => builder.ins().uextend(types::I64, *value),
            _ => *value,
        };
        builder.ins().store(flags, word, results, word_offset(k)?);
    }
    builder.ins().return_(&returned[..1]);
    builder.seal_all_blocks();
    builder.finalize(module.target_config());
    Ok(entry)
}

/// Place of a word in a list of words.
pub(crate) fn word_offset(k: usize) -> Result<i32, String> {
    i32::try_from(k * 8).map_err(|_| "too many parameters or results".to_owned())
}

/// Compiles every function of the program into the module, for calls through memory.
pub(crate) fn define(
    program: &LoopProgram,
    module: &mut dyn Module,
    target: &Target,
) -> Result<Defined, CompileError> {
    define_with(program, "", module, &mut Imports::default(), target, &mut entry_through_memory)
}

/// Compiles every function of the program into the module, with an entry of any kind.
pub(crate) fn define_with(
    program: &LoopProgram,
    prefix: &str,
    module: &mut dyn Module,
    imports: &mut Imports,
    target: &Target,
    entry: &mut Entry<'_>,
) -> Result<Defined, CompileError> {
    let mut frames: SecondaryMap<LoopFuncId, usize> = SecondaryMap::new();
    let (mut outermost, mut bytes) = (0, 0);
    let mut take =
        |module: &mut dyn Module, place: FuncId, id: Option<LoopFuncId>, context: &mut Context| {
            let name = id.map_or("entry", |id| &program.funcs[id].name);
            let frame = finish(module, target, place, name, context)?;
            bytes += context.compiled_code().map_or(0, |code| code.code_buffer().len());
            match id {
                Some(id) => frames[id] = frame,
                // The entry, and what reads words for a share.
                None => outermost += frame,
            }
            Ok(())
        };
    let entry = translate(program, prefix, module, imports, entry, &mut take)?;
    let stack = outermost + recursion::stack(program, &|id| frames[id]);
    Ok(Defined { entry, stack, bytes })
}

/// Machine code of one function into the module; gives the bytes of stack that it needs itself.
pub(crate) fn finish(
    module: &mut dyn Module,
    target: &Target,
    place: FuncId,
    name: &str,
    context: &mut Context,
) -> Result<usize, CompileError> {
    let codegen = |reason: String| CompileError::Codegen { function: name.to_owned(), reason };
    let isa = target.for_function(&context.func);
    context.compile(isa, &mut ControlPlane::default()).map_err(|e| codegen(e.inner.to_string()))?;
    let Some(code) = context.compiled_code() else {
        return Err(codegen("no code".to_owned()));
    };
    let relocations: Vec<ModuleReloc> = code
        .buffer
        .relocs()
        .iter()
        .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, place))
        .collect();
    let alignment = u64::from(code.buffer.alignment);
    module
        .define_function_bytes(place, alignment, code.code_buffer(), &relocations)
        .map_err(|e| codegen(e.to_string()))?;
    Ok(code.buffer.frame_layout().map_or(0, |l| l.frame_to_fp_offset as usize) + 64)
}

/// The program in Cranelift's text form, before its optimizations.
pub fn clif(program: &LoopProgram) -> Result<String, CompileError> {
    let target = Target::host()?;
    let mut module = crate::jit::module(program, &target)?;
    let mut text = String::new();
    let entry = &mut entry_through_memory;
    translate(
        program,
        "",
        &mut module,
        &mut Imports::default(),
        entry,
        &mut |_, _, id, context| {
            let name = id.map_or("entry", |id| &program.funcs[id].name);
            text.push_str(&format!("; {name}\n{}\n", context.func.display()));
            Ok(())
        },
    )?;
    Ok(text)
}

/// The program as Cranelift's assembly text for this machine.
pub fn assembly(program: &LoopProgram) -> Result<String, CompileError> {
    let target = Target::host()?;
    let mut module = crate::jit::module(program, &target)?;
    let mut text = String::new();
    let entry = &mut entry_through_memory;
    translate(
        program,
        "",
        &mut module,
        &mut Imports::default(),
        entry,
        &mut |_, _, id, context| {
            let name = id.map_or("entry", |id| &program.funcs[id].name);
            context.set_disasm(true);
            let isa = target.for_function(&context.func);
            let code = context.compile(isa, &mut ControlPlane::default()).map_err(|e| {
                CompileError::Codegen { function: name.to_owned(), reason: e.inner.to_string() }
            })?;
            text.push_str(&format!("; {name}\n{}\n", code.vcode.as_deref().unwrap_or_default()));
            Ok(())
        },
    )?;
    Ok(text)
}
