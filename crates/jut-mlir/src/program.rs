//! A whole program: its types, its functions, and the entry.
//!
//! | loop form | MLIR |
//! |---|---|
//! | `f64`, `f32`, `i64`, `i32`, `bool` | `f64`, `f32`, `index`, `i32`, `i1` |
//! | buffer of floats | `!f64s` or `!f32s`, a `memref` with an offset |
//! | buffer of integers of 32 bits | `!i32s`, a `memref` of `i32` |
//! | buffer of integers, buffer of buffers | `!i64s`, a `memref` of `index`; buffers are addresses there |
//! | buffer of bools | `!bools`, a `memref` of `i8` |
//! | the workspace | `!workspace`, a `memref` of nineteen words |
//!
//! **Entry.** One more function makes all programs look the same from outside:
//! `@entry(workspace, arguments, results) -> status`, three addresses; one word per parameter of
//! the last function and one per result.

use crate::facts::Facts;
use crate::function::{Emitter, Signature, Width, function_type, kind_type};
use crate::prelude::{Helper, Prelude, WORKSPACE_WORDS};
use cranelift_entity::SecondaryMap;
use jut_loop::form::{Cell, Kind, LoopFuncId, LoopProgram};
use jut_native::CompileError;
use jut_runtime::symbols;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The function through which a program is called from outside.
pub const ENTRY: &str = "entry";

/// The program as MLIR's text form, before any of its passes.
///
/// # Errors
/// [`CompileError::Malformed`] if the program is not well formed.
///
/// ```
/// let text = "loop def twice(x: f64) -> (f64) = {\n  y = x + x\n  (y)\n}\n";
/// let program = jut_loop::read::read_program(0, text).unwrap();
/// let text = jut_mlir::text(&program).unwrap();
/// assert!(text.contains("func.func private @twice(%x: f64) -> (f64) {"));
/// assert!(text.contains("  %y = arith.addf %x, %x : f64"));
/// ```
pub fn text(program: &LoopProgram) -> Result<String, CompileError> {
    let facts = Facts::of(program);
    let names = names(program);
    let mut prelude = Prelude::default();
    let mut functions = String::new();
    for (id, function) in program.funcs.iter() {
        let emitter = Emitter::new(program, id, &facts, &names, &mut prelude);
        let text = emitter.function().map_err(|reason| CompileError::Malformed {
            function: function.name.clone(),
            reason,
        })?;
        functions.push('\n');
        functions.push_str(&text);
    }
    let Some((last, function)) = program.funcs.last() else {
        return Err(CompileError::no_function());
    };
    let signature = Signature::of(function, facts.functions[last]);
    let entry = entry(&names[last], &signature, &mut prelude);
    let mut out = String::new();
    let _ = writeln!(out, "!f64s = {}", view_type("f64"));
    let prelude = prelude.text();
    for (name, cell) in [("!f32s", "f32"), ("!i32s", "i32")] {
        if [&functions, &entry, &prelude].iter().any(|text| text.contains(name)) {
            let _ = writeln!(out, "{name} = {}", view_type(cell));
        }
    }
    let _ = writeln!(out, "!i64s = {}", view_type("index"));
    let _ = writeln!(out, "!bools = {}", view_type("i8"));
    let _ = writeln!(out, "!workspace = memref<{WORKSPACE_WORDS}xindex>\n");
    out.push_str(functions.trim_start());
    out.push('\n');
    out.push_str(&entry);
    out.push('\n');
    out.push_str(&prelude);
    Ok(out)
}

fn view_type(cell: &str) -> String {
    format!("memref<?x{cell}, strided<[1], offset: ?>>")
}

/// A name that MLIR can read: letters, digits, `_` and `$`, not beginning with a digit.
pub(crate) fn readable(name: &str, extra: &str) -> String {
    let ok = |c: char| c.is_ascii_alphanumeric() || c == '_' || extra.contains(c);
    let mut text: String = name.chars().map(|c| if ok(c) { c } else { '$' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        text.insert(0, '_');
    }
    text
}

/// Names that are taken.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// How often a name was asked for again.
    again: HashMap<String, usize>,
}

impl Names {
    /// A name that is not taken yet; takes it.
    pub fn fresh(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        while !self.taken.insert(unique.clone()) {
            let again = self.again.entry(name.to_owned()).or_default();
            *again += 1;
            unique = format!("{name}${again}");
        }
        unique
    }
}

/// What the functions are called: as in the program, but apart from each other, from the runtime and
/// from the prelude.
pub(crate) fn names(program: &LoopProgram) -> SecondaryMap<LoopFuncId, String> {
    let mut names = SecondaryMap::new();
    let mut taken = Names::default();
    taken.fresh(ENTRY);
    for (id, function) in program.funcs.iter() {
        let mut name = readable(&function.name, ".");
        if name.starts_with("jut") || symbols::address(&name).is_some() {
            name.insert_str(0, "user.");
        }
        names[id] = taken.fresh(&name);
    }
    names
}

/// The helper that makes an array of cells at an address.
pub(crate) fn view_helper(cell: Cell) -> Helper {
    match cell {
        Cell::F64 => Helper::F64s,
        Cell::F32 => Helper::F32s,
        Cell::I32 => Helper::I32s,
        Cell::I64 | Cell::Buffer | Cell::Word => Helper::I64s,
        Cell::BOOL => Helper::Bools,
    }
}

/// The helper that gives the address of an array.
pub(crate) fn address_helper(cell: Cell) -> Helper {
    match cell {
        Cell::F64 => Helper::AddressOfF64s,
        Cell::F32 => Helper::AddressOfF32s,
        Cell::I32 => Helper::AddressOfI32s,
        Cell::I64 | Cell::Buffer | Cell::Word => Helper::AddressOfI64s,
        Cell::BOOL => Helper::AddressOfBools,
    }
}

/// How many cells an array has of which only the program knows how many: no limit.
pub(crate) const UNBOUNDED: i64 = i64::MAX >> 4;

fn entry(callee: &str, signature: &Signature, prelude: &mut Prelude) -> String {
    let mut out = String::from("// From outside: one word per argument and one per result.\n");
    let _ = writeln!(
        out,
        "func.func @{ENTRY}(%workspace_address: index, %arguments_address: index, \
         %results_address: index) -> i32 {{"
    );
    let line = |out: &mut String, text: String| {
        let _ = writeln!(out, "  {text}");
    };
    line(&mut out, format!("%unbounded = arith.constant {UNBOUNDED} : index"));
    let view = |out: &mut String, prelude: &mut Prelude, helper: Helper, dst: &str, from: &str| {
        let name = prelude.helper(helper);
        let ty = match helper {
            Helper::F64s => "!f64s",
            Helper::F32s => "!f32s",
            Helper::I32s => "!i32s",
            Helper::Bools => "!bools",
            _ => "!i64s",
        };
        let text =
            format!("{dst} = func.call @{name}({from}, %unbounded) : (index, index) -> {ty}");
        line(out, text);
    };
    view(&mut out, prelude, Helper::I64s, "%arguments", "%arguments_address");
    view(&mut out, prelude, Helper::I64s, "%results", "%results_address");
    let mut args = Vec::new();
    if signature.fact.workspace {
        let name = prelude.helper(Helper::Workspace);
        line(
            &mut out,
            format!("%workspace = func.call @{name}(%workspace_address) : (index) -> !workspace"),
        );
        args.push("%workspace".to_owned());
    }
    for (k, kind) in signature.params.iter().enumerate() {
        line(&mut out, format!("%place{k} = arith.constant {k} : index"));
        line(&mut out, format!("%word{k} = memref.load %arguments[%place{k}] : !i64s"));
        match *kind {
            Kind::I64 => args.push(format!("%word{k}")),
            Kind::F64 => {
                line(&mut out, format!("%bits{k} = arith.index_cast %word{k} : index to i64"));
                line(&mut out, format!("%arg{k} = arith.bitcast %bits{k} : i64 to f64"));
                args.push(format!("%arg{k}"));
            }
            Kind::F32 => {
                line(&mut out, format!("%bits{k} = arith.index_cast %word{k} : index to i32"));
                line(&mut out, format!("%arg{k} = arith.bitcast %bits{k} : i32 to f32"));
                args.push(format!("%arg{k}"));
            }
            Kind::I32 => {
                line(&mut out, format!("%arg{k} = arith.index_cast %word{k} : index to i32"));
                args.push(format!("%arg{k}"));
            }
            Kind::BOOL => {
                line(&mut out, format!("%bits{k} = arith.index_cast %word{k} : index to i64"));
                line(&mut out, format!("%arg{k} = arith.trunci %bits{k} : i64 to i1"));
                args.push(format!("%arg{k}"));
            }
            Kind::Buffer(cell) => {
                let (dst, from) = (format!("%arg{k}"), format!("%word{k}"));
                view(&mut out, prelude, view_helper(cell), &dst, &from);
                args.push(dst);
            }
        }
    }
    let results: Vec<String> =
        (0..signature.results.len()).map(|k| format!("%result{k}")).collect();
    let mut bound = results.clone();
    if signature.fact.fails {
        bound.insert(0, "%status".to_owned());
    }
    let pattern = if bound.is_empty() { String::new() } else { format!("{} = ", bound.join(", ")) };
    let ty = function_type(signature);
    line(&mut out, format!("{pattern}func.call @{callee}({}) : {ty}", args.join(", ")));
    for (k, (kind, result)) in signature.results.iter().zip(&results).enumerate() {
        line(&mut out, format!("%to{k} = arith.constant {k} : index"));
        let word = match *kind {
            Kind::I64 => result.clone(),
            Kind::F64 => {
                line(&mut out, format!("%from{k} = arith.bitcast {result} : f64 to i64"));
                line(&mut out, format!("%given{k} = arith.index_cast %from{k} : i64 to index"));
                format!("%given{k}")
            }
            Kind::F32 => {
                line(&mut out, format!("%from{k} = arith.bitcast {result} : f32 to i32"));
                line(&mut out, format!("%given{k} = arith.index_castui %from{k} : i32 to index"));
                format!("%given{k}")
            }
            Kind::I32 => {
                line(&mut out, format!("%given{k} = arith.index_castui {result} : i32 to index"));
                format!("%given{k}")
            }
            Kind::BOOL => {
                line(&mut out, format!("%given{k} = arith.index_castui {result} : i1 to index"));
                format!("%given{k}")
            }
            Kind::Buffer(cell) => {
                let name = prelude.helper(address_helper(cell));
                let ty = kind_type(*kind, Width::One);
                line(
                    &mut out,
                    format!("%given{k} = func.call @{name}({result}) : ({ty}) -> index"),
                );
                format!("%given{k}")
            }
        };
        line(&mut out, format!("memref.store {word}, %results[%to{k}] : !i64s"));
    }
    if !signature.fact.fails {
        line(&mut out, "%status = arith.constant 0 : i32".to_owned());
    }
    line(&mut out, "return %status : i32".to_owned());
    out.push_str("}\n");
    out
}
