//! The text of a whole program: its functions, the entry, and what they call.

use crate::function::{Returns, Translator, load_word, name, params_of, scalar};
use crate::text::{Body, Operand, Scalar};
use jut_loop::form::{LoopFunction, LoopProgram};
use jut_loop::kernel::Kernel;
use jut_native::CompileError;
use jut_runtime::arena::ALIGN;
use jut_runtime::workspace::layout;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What the functions of a program need beside them.
#[derive(Default)]
pub(crate) struct Imports {
    mathematics: BTreeSet<&'static str>,
    kernels: BTreeSet<Kernel>,
    metadata: Vec<String>,
}

impl Imports {
    /// Notes that a mathematical function of the runtime is called.
    pub(crate) fn mathematics(&mut self, symbol: &'static str) {
        self.mathematics.insert(symbol);
    }

    /// Notes that a kernel of the runtime is called.
    pub(crate) fn kernel(&mut self, kernel: Kernel) {
        self.kernels.insert(kernel);
    }

    /// The number that the next node of metadata will have; number 0 is in the support text.
    pub(crate) fn next_metadata(&self) -> u32 {
        self.metadata.len() as u32 + 1
    }

    /// A node of metadata; gives its number.
    pub(crate) fn metadata(&mut self, node: &str) -> u32 {
        let number = self.next_metadata();
        self.metadata.push(node.to_owned());
        number
    }

    fn write(&self, text: &mut String) -> Result<(), String> {
        for symbol in &self.mathematics {
            let params: Vec<String> =
                params_of(symbol)?.iter().map(|scalar| scalar.one().to_string()).collect();
            let _ = writeln!(text, "declare double @{symbol}({}) #1", params.join(", "));
        }
        for kernel in &self.kernels {
            let row = kernel.row();
            let params: Vec<String> =
                row.params.iter().map(|param| scalar(param.kind).one().to_string()).collect();
            let _ = writeln!(text, "declare void @{}({}) #6", row.symbol, params.join(", "));
        }
        for (k, node) in self.metadata.iter().enumerate() {
            let _ = writeln!(text, "!{} = {node}", k + 1);
        }
        Ok(())
    }
}

/// The program as text for LLVM, before its optimisations: what `jut show --stage llvm` prints. It
/// says nothing of any machine, and LLVM need not be built in.
///
/// # Errors
/// [`CompileError::Malformed`] if the program is not well formed.
pub fn text(program: &LoopProgram) -> Result<String, CompileError> {
    let mut imports = Imports::default();
    let mut text = "; A program of jut.\n\n".to_owned();
    let Some((last, function)) = program.funcs.last() else {
        return Err(CompileError::no_function());
    };
    let malformed = |function: &LoopFunction, reason: String| CompileError::Malformed {
        function: function.name.clone(),
        reason,
    };
    for (id, function) in program.funcs.iter() {
        let translated = Translator::function(program, id, id == last, &mut imports)
            .map_err(|reason| malformed(function, reason))?;
        text.push_str(&translated);
        text.push('\n');
    }
    text.push_str(&entry(&name(last, function), function));
    text.push('\n');
    text.push_str(&support());
    imports.write(&mut text).map_err(|reason| malformed(function, reason))?;
    Ok(text)
}

/// What every program brings along, with the numbers of this build filled in.
fn support() -> String {
    let mut text = include_str!("support.ll").to_owned();
    for (name, offset) in [
        ("TEMP_BASE", layout::TEMP_BASE),
        ("TEMP_TOP", layout::TEMP_TOP),
        ("TEMP_END", layout::TEMP_END),
        ("TAPE_BASE", layout::TAPE_BASE),
        ("TAPE_TOP", layout::TAPE_TOP),
        ("TAPE_END", layout::TAPE_END),
        ("FAILURE_SITE", layout::FAILURE_SITE),
        ("FAILURE_KIND", layout::FAILURE_KIND),
        ("FAILURE_OPERANDS", layout::FAILURE_OPERANDS),
    ] {
        text = text.replace(&format!("{{{name}}}"), &(offset / 8).to_string());
    }
    text.replace("{ALIGN}", &ALIGN.to_string()).replace("{MOST}", &(ALIGN - 1).to_string())
}

/// The function that takes arguments and gives results through memory.
fn entry(name: &str, function: &LoopFunction) -> String {
    let mut body = Body::new(0);
    let returns = Returns::of(function);
    let mut args = vec!["ptr %ws".to_owned()];
    for (k, param) in function.params.iter().enumerate() {
        let ty = scalar(function.values[param.value].kind).one();
        let arg = load_word(&mut body, "%args", k, ty);
        args.push(format!("{ty} {}", arg.of(ty)));
    }
    if returns.through_memory() {
        args.push("ptr %results".to_owned());
    }
    let (ty, args) = (returns.ty(), args.join(", "));
    let whole = body.value(format_args!("call {ty} {name}({args})"));
    let shown = |operand: Operand| operand.of(Scalar::I64.one()).to_string();
    if ty == "i32" {
        body.line(format_args!("ret i32 {}", shown(whole)));
    } else {
        for (k, part) in returns.types.iter().enumerate() {
            let place = k + 1;
            let result = body.value(format_args!("extractvalue {ty} {}, {place}", shown(whole)));
            let at = body.value(format_args!("getelementptr inbounds i64, ptr %results, i64 {k}"));
            let at = shown(at);
            match part.scalar {
                Scalar::Bool => {
                    let word = body.value(format_args!("zext i1 {} to i64", result.of(*part)));
                    body.line(format_args!("store i64 {}, ptr {at}, align 8", shown(word)));
                }
                _ => {
                    body.line(format_args!("store {part} {}, ptr {at}, align 8", result.of(*part)))
                }
            }
        }
        let status = body.value(format_args!("extractvalue {ty} {}, 0", shown(whole)));
        body.line(format_args!("ret i32 {}", shown(status)));
    }
    let params = "ptr noalias %ws, ptr noalias readonly %args, ptr noalias %results";
    format!("define i32 @entry({params}) #0 {{\n{}}}\n", body.finish())
}
