//! A whole program: its types, its functions, and the entry.
//!
//! | loop form | MLIR |
//! |---|---|
//! | `f64`, `f32`, `i64`, `i32`, `bool` | `f64`, `f32`, `index`, `i32`, `i1` |
//! | buffer of floats | `!f64s` or `!f32s`, a `memref` with an offset |
//! | buffer of integers of 32 bits | `!i32s`, a `memref` of `i32` |
//! | buffer of integers, buffer of buffers | `!i64s`, a `memref` of `index`; buffers are addresses there |
//! | buffer of bools | `!bools`, a `memref` of `i8` |
//! | the workspace | `!workspace`, a `memref` of the words that compiled code sees |
//!
//! **Entry.** One more function makes all programs look the same from outside:
//! `@entry(workspace, arguments, results) -> status`, three addresses; one word per parameter of
//! the last function and one per result.

use crate::facts::Facts;
use crate::function::{Emitter, Signature, Width, function_type, kind_type};
use crate::memory::{Cast, into_word, out_of_word};
use crate::names::{ENTRY, names};
use crate::prelude::{Cells, Helper, Prelude, UNBOUNDED, WORKSPACE_WORDS};
use jut_ir::Scalar;
use jut_loop::form::{Kind, LoopProgram};
use jut_native::CompileError;
use std::fmt::Write;

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
    let prelude = prelude.text();
    for cells in [Cells::F64, Cells::F32, Cells::I32, Cells::I64, Cells::Bool] {
        let (name, is_rare) = (cells.array(), matches!(cells, Cells::F32 | Cells::I32));
        if !is_rare || [&functions, &entry, &prelude].iter().any(|text| text.contains(name)) {
            let _ = writeln!(out, "{name} = {}", cells.view());
        }
    }
    let _ = writeln!(out, "!workspace = memref<{WORKSPACE_WORDS}xindex>\n");
    out.push_str(functions.trim_start());
    out.push('\n');
    out.push_str(&entry);
    out.push('\n');
    out.push_str(&prelude);
    Ok(out)
}

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
    let view = |out: &mut String, prelude: &mut Prelude, cells: Cells, dst: &str, from: &str| {
        let (name, ty) = (prelude.helper(Helper::View(cells)), cells.array());
        let text =
            format!("{dst} = func.call @{name}({from}, %unbounded) : (index, index) -> {ty}");
        line(out, text);
    };
    view(&mut out, prelude, Cells::I64, "%arguments", "%arguments_address");
    view(&mut out, prelude, Cells::I64, "%results", "%results_address");
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
        let (word, arg) = (format!("%word{k}"), format!("%arg{k}"));
        match *kind {
            Kind::I64 => args.push(word),
            Kind::Scalar(scalar) => {
                let steps = match scalar {
                    // The lowest bit, whatever the others are.
                    Scalar::Bool => &[("index_cast", "index", "i64"), ("trunci", "i64", "i1")],
                    scalar => out_of_word(scalar),
                };
                cast(&mut out, steps, &word, &format!("%bits{k}"), &arg);
                args.push(arg);
            }
            Kind::Buffer(cell) => {
                view(&mut out, prelude, Cells::of(cell), &arg, &word);
                args.push(arg);
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
        let given = format!("%given{k}");
        let word = match *kind {
            Kind::I64 => result.clone(),
            Kind::Scalar(scalar) => {
                cast(&mut out, into_word(scalar), result, &format!("%from{k}"), &given);
                given
            }
            Kind::Buffer(cell) => {
                let name = prelude.helper(Helper::Address(Cells::of(cell)));
                let ty = kind_type(*kind, Width::One);
                line(&mut out, format!("{given} = func.call @{name}({result}) : ({ty}) -> index"));
                given
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

/// Writes the steps of a conversion, one or two.
fn cast(out: &mut String, steps: &[Cast], from: &str, between: &str, to: &str) {
    let mut from = from;
    for (k, (name, ty, other)) in steps.iter().enumerate() {
        let dst = if k + 1 == steps.len() { to } else { between };
        let _ = writeln!(out, "  {dst} = arith.{name} {from} : {ty} to {other}");
        from = dst;
    }
}
