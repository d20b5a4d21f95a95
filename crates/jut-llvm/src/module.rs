//! The text of a whole program: its functions, the entry, and what they call.

use crate::function::{Names, Returns, Translator, load_word, name, params_of, scalar};
use crate::mathematics::function_of_eight;
use crate::shares;
use crate::text::{Body, Operand, Scalar};
use jut_ir::prim::Machine;
use jut_loop::form::{LANES, LoopFunction, LoopProgram};
use jut_loop::kernel::Kernel;
use jut_loop::target::{Loops, StripMine, Target, Vectors};
use jut_native::CompileError;
use jut_native::object::system_name;
use jut_runtime::arena::ALIGN;
use jut_runtime::wide::{self, Form};
use jut_runtime::workspace::layout;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What the functions of a program need beside them.
#[derive(Default)]
pub(crate) struct Imports {
    mathematics: BTreeSet<&'static str>,
    kernels: BTreeSet<Kernel>,
    wide: BTreeMap<&'static str, &'static Form>,
    metadata: Vec<String>,
    source: Source,
    instructions: Instructions,
}

impl Imports {
    /// Notes that a mathematical function of the runtime is called.
    pub(crate) fn mathematics(&mut self, symbol: &'static str) {
        self.mathematics.insert(symbol);
    }

    /// The function of eight arguments that goes with a mathematical function, if there is one; it
    /// is noted that it is called.
    pub(crate) fn wide(&mut self, symbol: &str) -> Option<&'static Form> {
        let form = wide::form(symbol).filter(|_| self.source == Source::Runtime)?;
        self.wide.insert(form.scalar, form);
        Some(form)
    }

    /// The function for an operation that the machine has no instruction for.
    pub(crate) fn called(&self, op: Machine) -> Option<&'static str> {
        rounding(op).filter(|_| !self.instructions.rounding)
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

    /// For the system's library: its functions under their names, the others written out.
    fn write_for_system(&self, text: &mut String) -> Result<(), String> {
        let written = include_str!("system.ll");
        let mut declared = BTreeSet::new();
        for symbol in &self.mathematics {
            match system_name(symbol) {
                Some(system) => {
                    declared.insert((*symbol, system));
                }
                None if written.contains(&format!("@{symbol}(")) => {}
                None => {
                    return Err(format!("no C library has `{symbol}`; jut's runtime has it"));
                }
            }
        }
        if let Some(kernel) = self.kernels.first() {
            let name = kernel.row().name;
            return Err(format!("no C library has the kernel `{name}`; jut's runtime has it"));
        }
        text.push_str(&filled(written));
        declared.extend(["jut_exp", "jut_log1p"].map(|name| (name, &name["jut_".len()..])));
        for (symbol, system) in declared {
            let scalars = params_of(symbol)?;
            let params: Vec<String> =
                scalars.iter().map(|scalar| scalar.one().to_string()).collect();
            let args: Vec<String> = scalars
                .iter()
                .enumerate()
                .map(|(k, scalar)| format!("{} %a{k}", scalar.one()))
                .collect();
            let (params, args) = (params.join(", "), args.join(", "));
            let _ = write!(
                text,
                "declare double @{system}({params}) #1\n\
                 define internal double @{symbol}({args}) #1 {{\n  \
                 %y = call double @{system}({args})\n  ret double %y\n}}\n"
            );
        }
        self.write_metadata(text);
        Ok(())
    }

    fn write(&self, text: &mut String) -> Result<(), String> {
        text.push_str(include_str!("runtime.ll"));
        for symbol in &self.mathematics {
            let params: Vec<String> =
                params_of(symbol)?.iter().map(|scalar| scalar.one().to_string()).collect();
            let _ = writeln!(text, "declare double @{symbol}({}) #1", params.join(", "));
        }
        for kernel in &self.kernels {
            let row = kernel.row();
            let params: Vec<String> =
                row.params.iter().map(|param| scalar(param.kind).one().to_string()).collect();
            let attributes = if kernel.prints() { "#5" } else { "#6" };
            let params = params.join(", ");
            let _ = writeln!(text, "declare void @{}({params}) {attributes}", row.symbol);
        }
        for form in self.wide.values() {
            function_of_eight(text, form);
        }
        self.write_metadata(text);
        Ok(())
    }

    fn write_metadata(&self, text: &mut String) {
        for (k, node) in self.metadata.iter().enumerate() {
            let _ = writeln!(text, "!{} = {node}", k + 1);
        }
    }
}

/// The program as text for LLVM, before its optimisations: what `jut show --stage llvm` prints. It
/// says nothing of any machine but that it can load and store some of eight cells, and LLVM need not
/// be built in.
///
/// # Errors
/// [`CompileError::Malformed`] if the program is not well formed.
pub fn text(program: &LoopProgram) -> Result<String, CompileError> {
    text_for(Instructions::ALL, program)
}

/// The program as text for a machine.
pub(crate) fn text_for(
    instructions: Instructions,
    program: &LoopProgram,
) -> Result<String, CompileError> {
    let mut module = ModuleText::new(Source::Runtime, instructions);
    let name = module.program("", program)?;
    if let Some((_, last)) = program.funcs.last() {
        module.push(&entry(&name, last));
    }
    module.finish()
}

/// What is taken of the loop form.
pub(crate) fn takes(source: Source, instructions: Instructions) -> Target {
    let vectors = Vectors {
        // Others it finds itself.
        loops: Loops::CallsAndProducts,
        together: LANES as u32,
        longest: 200,
        masked: instructions.masks,
        stores_last: false,
        anywhere: true,
        integers: true,
        checks: true,
        branches: true,
        guarded: instructions.masks,
        in_order: true,
        nested: true,
        operation: if instructions.rounding { |_| true } else { |op| rounding(op).is_none() },
        function: |_| true,
        wide: match source {
            Source::Runtime => |symbol| wide::form(symbol).is_some(),
            Source::System => |_| false,
        },
    };
    let strip_mine = match source {
        Source::Runtime => StripMine::Loops,
        Source::System => StripMine::No,
    };
    Target { strip_mine, vectors: Some(vectors), shares: None }
}

/// What [`text`] takes of the loop form.
pub fn text_target() -> Target {
    takes(Source::Runtime, Instructions::ALL)
}

/// The function for an operation that not every machine has an instruction for.
fn rounding(op: Machine) -> Option<&'static str> {
    match op {
        Machine::FFloor => Some("jut_floor"),
        Machine::FCeil => Some("jut_ceil"),
        Machine::FTrunc | Machine::FRound => Some("jut_trunc"),
        _ => None,
    }
}

/// Where functions of the runtime come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Source {
    /// The runtime, under their own names.
    #[default]
    Runtime,
    /// The system's mathematical library, and the module itself: see `system.ll`.
    System,
}

/// What the machine has instructions for that not every machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Instructions {
    /// Rounding floats to integers; otherwise functions do it.
    pub rounding: bool,
    /// Loading and storing some of several cells. LLVM would spell it out, cell by cell.
    pub masks: bool,
}

impl Instructions {
    pub(crate) const ALL: Instructions = Instructions { rounding: true, masks: true };
}

/// The text of a module in the making: any number of programs.
#[derive(Default)]
pub(crate) struct ModuleText {
    text: String,
    imports: Imports,
}

impl ModuleText {
    pub(crate) fn new(source: Source, instructions: Instructions) -> ModuleText {
        let imports = Imports { source, instructions, ..Imports::default() };
        ModuleText { text: "; Made by jut.\n\n".to_owned(), imports }
    }

    pub(crate) fn target(&self) -> Target {
        takes(self.imports.source, self.imports.instructions)
    }

    pub(crate) fn source(&self) -> Source {
        self.imports.source
    }

    /// Adds text.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds the functions of a program, whose names begin with the prefix; gives the name of the
    /// last.
    pub(crate) fn program(
        &mut self,
        prefix: &str,
        program: &LoopProgram,
    ) -> Result<String, CompileError> {
        let Some((last, function)) = program.funcs.last() else {
            return Err(CompileError::no_function());
        };
        let shared = jut_loop::opt::shares::shared(program);
        for (id, function) in program.funcs.iter() {
            let names = Names { prefix, last };
            let translated = Translator::function(program, id, names, &mut self.imports)
                .map_err(|reason| malformed(function, reason))?;
            self.push(&translated);
            if shared[id] {
                self.push(&shares::through_words(&name(prefix, id, function), function));
            }
        }
        Ok(name(prefix, last, function))
    }

    /// The whole text.
    pub(crate) fn finish(mut self) -> Result<String, CompileError> {
        self.text.push_str(&filled(include_str!("support.ll")));
        let written = match self.imports.source {
            Source::Runtime => self.imports.write(&mut self.text),
            Source::System => self.imports.write_for_system(&mut self.text),
        };
        written
            .map_err(|reason| CompileError::Codegen { function: "module".to_owned(), reason })?;
        Ok(self.text)
    }
}

fn malformed(function: &LoopFunction, reason: String) -> CompileError {
    CompileError::Malformed { function: function.name.clone(), reason }
}

/// Text with the numbers of this build filled in.
fn filled(text: &str) -> String {
    let mut text = text.to_owned();
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
