//! The text of a whole program: its functions, the entry, and what they call.

use crate::function::{Names, Returns, Translator, name};
use crate::imports::{Imports, Instructions, filled, rounding};
use crate::shares;
use crate::text::{Body, scalar};
use jut_loop::form::{LoopFunction, LoopProgram};
use jut_loop::target::{Loops, StripMine, Target, Vectors};
use jut_native::CompileError;
use jut_native::object::MathLibrary;
use jut_runtime::wide;

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
    let mut module = ModuleText::new(MathLibrary::Jut, instructions);
    let name = module.program("", program)?;
    if let Some((_, last)) = program.funcs.last() {
        module.push(&entry(&name, last));
    }
    module.finish()
}

/// What is taken of the loop form.
pub(crate) fn takes(math: MathLibrary, instructions: Instructions) -> Target {
    let vectors = Vectors {
        // Others it finds itself.
        loops: Loops::CallsAndProducts,
        conjunctions: false,
        masked: instructions.masks,
        guarded: instructions.masks,
        operation: if instructions.rounding { |_| true } else { |op| rounding(op).is_none() },
        wide: match math {
            MathLibrary::Jut => |symbol| wide::form(symbol).is_some(),
            MathLibrary::System => |_| false,
        },
        ..Vectors::EVERYTHING
    };
    let strip_mine = match math {
        MathLibrary::Jut => StripMine::Loops,
        MathLibrary::System => StripMine::No,
    };
    Target { strip_mine, vectors: Some(vectors), shares: None }
}

/// What [`text`] takes of the loop form.
pub fn text_target() -> Target {
    takes(MathLibrary::Jut, Instructions::ALL)
}

/// The text of a module in the making: any number of programs.
#[derive(Default)]
pub(crate) struct ModuleText {
    text: String,
    imports: Imports,
}

impl ModuleText {
    pub(crate) fn new(math: MathLibrary, instructions: Instructions) -> ModuleText {
        let imports = Imports::of(math, instructions);
        ModuleText { text: "; Made by jut.\n\n".to_owned(), imports }
    }

    pub(crate) fn target(&self) -> Target {
        takes(self.imports.math, self.imports.instructions)
    }

    pub(crate) fn math(&self) -> MathLibrary {
        self.imports.math
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
        self.imports
            .write(&mut self.text)
            .map_err(|reason| CompileError::Codegen { function: "module".to_owned(), reason })?;
        Ok(self.text)
    }
}

fn malformed(function: &LoopFunction, reason: String) -> CompileError {
    CompileError::Malformed { function: function.name.clone(), reason }
}

/// The function that takes arguments and gives results through memory.
fn entry(name: &str, function: &LoopFunction) -> String {
    let mut body = Body::new(0);
    let returns = Returns::of(function);
    let mut args = vec!["ptr %ws".to_owned()];
    for (k, param) in function.params.iter().enumerate() {
        let ty = scalar(function.values[param.value].kind).one();
        let arg = body.load_word("%args", k, ty);
        args.push(format!("{ty} {arg}"));
    }
    if returns.through_memory() {
        args.push("ptr %results".to_owned());
    }
    let (ty, args) = (returns.ty(), args.join(", "));
    let whole = body.value(format_args!("call {ty} {name}({args})"));
    if ty == "i32" {
        body.line(format_args!("ret i32 {whole}"));
    } else {
        for (k, part) in returns.types.iter().enumerate() {
            let result = body.part(&ty, whole, k + 1);
            body.store_word("%results", k, result, *part);
        }
        let status = body.part(&ty, whole, 0);
        body.line(format_args!("ret i32 {status}"));
    }
    let params = "ptr noalias %ws, ptr noalias readonly %args, ptr noalias %results";
    format!("define i32 @entry({params}) #0 {{\n{}}}\n", body.finish())
}
