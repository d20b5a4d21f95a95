//! All functions of a loop program into a Cranelift module: code in memory now, objects by the same
//! way.
//!
//! **Entry.** One more function makes all programs look the same from outside:
//! `extern "C" fn(workspace, args: *const u64, results: *mut u64) -> u32`, with one word per
//! parameter of the last function and one per result.

use crate::around;
use crate::fresh_names;
use crate::isa::{Isa, is_crowded};
use crate::shares;
use crate::signature::{Imports, Returns, function_signature, load_words, word_offset};
use crate::translate::Translator;
use crate::unit::Unit;
use cranelift_codegen::ir::{Function, InstBuilder, MemFlagsData, types};
use cranelift_entity::{EntityRef, SecondaryMap};
use cranelift_module::{FuncId, Linkage, Module};
use jut_loop::form::{LoopFuncId, LoopFunction, LoopProgram};
use jut_loop::recursion;
use jut_native::CompileError;

/// What was made of a program.
pub(crate) struct Defined {
    /// The entry.
    pub entry: FuncId,
    /// Bytes of stack that a call needs at most.
    pub stack: usize,
    /// Bytes of machine code.
    pub bytes: usize,
}

/// Takes a translated function: the unit, its place there and in the program.
type Take<'a> =
    dyn FnMut(&mut Unit<'_>, FuncId, Option<LoopFuncId>) -> Result<(), CompileError> + 'a;

/// What is made around the functions of a program, for callers from outside: it is given the place of the
/// program's last function and that function, writes another, and says where it belongs.
type Entry<'a> = dyn FnMut(&mut Unit<'_>, FuncId, &LoopFunction) -> Result<FuncId, String> + 'a;

/// How the functions of a program and its entry are laid out.
#[derive(Clone, Copy)]
enum Layout<'a> {
    /// Each on its own; the prefix keeps the names of several programs in one module apart.
    Apart(&'a str),
    /// The last one within the entry, if that is worth it.
    Around,
}

/// Translates every function of the program and gives each, with its place in the module, to
/// `take`; the entry comes last and has no place in the program, if it is not around a function that has.
fn translate(
    program: &LoopProgram,
    layout: Layout<'_>,
    unit: &mut Unit<'_>,
    entry: &mut Entry<'_>,
    take: &mut Take<'_>,
) -> Result<FuncId, CompileError> {
    let prefix = match layout {
        Layout::Apart(prefix) => prefix,
        Layout::Around => "",
    };
    let codegen = |function: &LoopFunction, reason: String| CompileError::Codegen {
        function: function.name.clone(),
        reason,
    };
    let mut ids: SecondaryMap<LoopFuncId, Option<FuncId>> = SecondaryMap::new();
    let shared = jut_loop::opt::shares::shared(program);
    let mut through_words: SecondaryMap<LoopFuncId, Option<FuncId>> = SecondaryMap::new();
    for (id, function) in program.funcs.iter() {
        // The number keeps names apart, from each other and from the runtime's.
        let name = format!("{prefix}{}.{}", id.index(), function.name);
        let place = unit
            .module
            .declare_function(&name, Linkage::Local, &function_signature(function))
            .map_err(|e| codegen(function, e.to_string()))?;
        ids[id] = Some(place);
        if shared[id] {
            let words = shares::declare(unit, &format!("{name}.words"));
            through_words[id] = Some(words.map_err(|reason| codegen(function, reason))?);
        }
    }
    let last = program.funcs.last().map(|(id, _)| id).filter(|id| {
        matches!(layout, Layout::Around) && !shared[*id] && around::is_worth_it(program)
    });
    let mut within = None;
    for (id, function) in program.funcs.iter() {
        let Some(place) = ids[id] else { continue };
        Translator::new(unit.begin(place), [&ids, &through_words], program, function)
            .function()
            .map_err(|reason| CompileError::Malformed {
                function: function.name.clone(),
                reason,
            })?;
        if !is_crowded(&unit.context.func) {
            fresh_names::give(&mut unit.context.func);
        }
        if last == Some(id) {
            within = Some(std::mem::replace(&mut unit.context.func, Function::new()));
            continue;
        }
        take(unit, place, Some(id))?;
        if let Some(words) = through_words[id] {
            shares::through_words(unit.begin(words), place, function)
                .map_err(|reason| codegen(function, reason))?;
            take(unit, words, None)?;
        }
    }
    let called = program.funcs.last().and_then(|(id, function)| Some((ids[id]?, function)));
    let (place, function) = called.ok_or_else(CompileError::no_function)?;
    let entry = entry(unit, place, function).map_err(|reason| codegen(function, reason))?;
    if let Some(body) = within {
        around::put(&mut unit.context, body).map_err(|reason| codegen(function, reason))?;
    }
    take(unit, entry, last)?;
    Ok(entry)
}

/// The function that takes arguments and gives results through memory.
fn entry_through_memory(
    unit: &mut Unit<'_>,
    place: FuncId,
    function: &LoopFunction,
) -> Result<FuncId, String> {
    let entry = unit.declare("entry", Linkage::Export, &[types::I64; 3], &[types::I32])?;
    let mut writing = unit.begin(entry);
    let [workspace, words, results] = writing.params[..] else {
        return Err("the entry has three parameters".to_owned());
    };
    let outputs = Returns::of(function);
    let mut args = vec![workspace];
    if outputs.through_memory() {
        args.push(results);
    }
    if outputs.params_through_memory() {
        args.push(words);
    }
    args.extend(load_words(&mut writing.builder, words, function, outputs.direct)?);
    let returned = writing.call(place, &args);
    let builder = &mut writing.builder;
    let in_registers = outputs.results.iter().enumerate().filter(|(_, (_, register))| *register);
    for ((k, (ty, _)), value) in in_registers.zip(&returned[1..]) {
        let word = match *ty {
            types::I8 => builder.ins().uextend(types::I64, *value),
            _ => *value,
        };
        builder.ins().store(MemFlagsData::trusted(), word, results, word_offset(k)?);
    }
    builder.ins().return_(&returned[..1]);
    writing.end();
    Ok(entry)
}

/// Compiles every function of the program into the module, for calls through memory.
pub(crate) fn define(
    program: &LoopProgram,
    module: &mut dyn Module,
    isa: &Isa,
) -> Result<Defined, CompileError> {
    let mut imports = Imports::default();
    let mut unit = Unit::new(module, &mut imports);
    define_all(program, Layout::Around, &mut unit, isa, &mut entry_through_memory)
}

/// Compiles every function of the program into the module, with an entry of any kind.
pub(crate) fn define_with(
    program: &LoopProgram,
    prefix: &str,
    unit: &mut Unit<'_>,
    isa: &Isa,
    entry: &mut Entry<'_>,
) -> Result<Defined, CompileError> {
    define_all(program, Layout::Apart(prefix), unit, isa, entry)
}

fn define_all(
    program: &LoopProgram,
    layout: Layout<'_>,
    unit: &mut Unit<'_>,
    isa: &Isa,
    entry: &mut Entry<'_>,
) -> Result<Defined, CompileError> {
    let mut frames: SecondaryMap<LoopFuncId, usize> = SecondaryMap::new();
    let (mut outermost, mut bytes) = (0, 0);
    let mut take = |unit: &mut Unit<'_>, place: FuncId, id: Option<LoopFuncId>| {
        let frame = unit.define(isa, place, name(program, id))?;
        bytes += unit.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        match id {
            Some(id) => frames[id] = frame,
            // The entry, and what reads words for a share.
            None => outermost += frame,
        }
        Ok(())
    };
    let entry = translate(program, layout, unit, entry, &mut take)?;
    let stack = outermost + recursion::stack(program, &|id| frames[id]);
    Ok(Defined { entry, stack, bytes })
}

/// The program as text, of which `print` gives that of one function: as it is compiled, or each function on its own.
pub(crate) fn printed(
    program: &LoopProgram,
    compiled: bool,
    module: &mut dyn Module,
    print: &dyn Fn(&mut Unit<'_>, &str) -> Result<String, CompileError>,
) -> Result<String, CompileError> {
    let mut text = String::new();
    let mut imports = Imports::default();
    let mut unit = Unit::new(module, &mut imports);
    let layout = if compiled { Layout::Around } else { Layout::Apart("") };
    translate(program, layout, &mut unit, &mut entry_through_memory, &mut |unit, _, id| {
        let name = name(program, id);
        text.push_str(&format!("; {name}\n{}\n", print(unit, name)?));
        Ok(())
    })?;
    Ok(text)
}

/// The name of a function of the program, or of what is made around it.
fn name(program: &LoopProgram, id: Option<LoopFuncId>) -> &str {
    id.map_or("entry", |id| &program.funcs[id].name)
}
