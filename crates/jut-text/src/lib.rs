//! The text form of jut: source text to a checked [`Program`].
//!
//! | module | what |
//! |---|---|
//! | `lex` | tokens; which newlines count; where brackets close |
//! | `ast` | the syntax tree |
//! | `parser` | the grammar |
//! | `elab` | names, types, sugar: the tree to [`jut_ir`] |
//! | `hints` | what to write instead of words of other languages |
//! | `limit` | how many messages are given |
//! | `modules` | which files a program is made of |
//! | [`standard`] | the modules that are part of jut |
//! | `format` | one layout for a text |
//!
//! ```
//! let loaded = jut_text::load("def f(x: f64) -> f64 = x * sin(x)", 0);
//! assert!(loaded.diagnostics.is_empty());
//! let program = loaded.program.expect("no errors");
//! assert!(program.find_func("f").is_some());
//! ```

mod ast;
mod elab;
mod format;
mod hints;
mod lex;
mod limit;
mod modules;
mod parser;
pub mod standard;

pub use format::format;
pub use limit::MAX_MESSAGES;
pub use modules::{ModuleSource, file_name};

use jut_ir::{Diagnostic, Program, Severity};

/// What a source text gives.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, if there is no error: every definition as a core function, checked.
    pub program: Option<Program>,
    /// Errors and warnings in the order of the text, at most [`MAX_MESSAGES`] about each file and one
    /// (J004) that counts the others; only warnings if there is a program.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses, elaborates and checks a source text. `file` is the number that its spans carry.
///
/// Never panics and never overflows the stack: nesting is limited (J003), operator chains are not.
/// A declaration with an error does not hide errors in others. A `use` of anything but the standard library is refused
/// (J015): see [`load_with`]. The library's modules have the file numbers from `file + 1` on. Cost: linear in the text.
pub fn load(source: &str, file: u32) -> Loaded {
    let mut number = file;
    load_with(source, file, &mut |name| {
        let Some(text) = standard::alone(name)? else { return Ok(None) };
        number += 1;
        Ok(Some(ModuleSource { text: text.to_string(), file: number }))
    })
}

/// Like [`load`], for a program of several files: `resolve` finds the text of the module with a
/// given name (such as `stats` or `lib.stats`, from the program's directory on). It gives `None` if
/// there is none, and a reason if what is there cannot be read. It is asked once for every module.
///
/// ```
/// let stats = "def mean[n](x: [n]f64) -> f64 = sum (v <- x) { v } / f64(n)";
/// let source = "use stats\ndef f(a: f64, b: f64) -> f64 = stats.mean([a, b])";
/// let loaded = jut_text::load_with(source, 0, &mut |name| match name {
///     "stats" => Ok(Some(jut_text::ModuleSource { text: stats.to_string(), file: 1 })),
///     _ => Ok(None),
/// });
/// let program = loaded.program.expect("no errors");
/// assert!(program.find_func("stats.mean").is_some());
/// ```
pub fn load_with(
    source: &str,
    file: u32,
    resolve: &mut dyn FnMut(&str) -> Result<Option<ModuleSource>, String>,
) -> Loaded {
    elaborate_with(source, file, resolve).check()
}

/// The first half of [`load_with`]: parses and elaborates.
pub fn elaborate_with(
    source: &str,
    file: u32,
    resolve: &mut dyn FnMut(&str) -> Result<Option<ModuleSource>, String>,
) -> Elaborated {
    let mut diagnostics = Vec::new();
    let main = parser::parse(source, file, &mut diagnostics);
    let uses = modules::used_by(&main, file);
    let modules = modules::collect(uses, resolve, &mut diagnostics);
    let mut files = Vec::new();
    for module in &modules.list {
        let text = module.source.text.as_str();
        let parse = parser::parse(text, module.source.file, &mut diagnostics);
        files.push(standard::File { module: &module.name, text, aliases: &module.aliases, parse });
    }
    files.push(standard::File { module: "", text: source, aliases: &modules.aliases, parse: main });
    standard::keep_mentioned(&mut files);
    let files: Vec<elab::File> = files
        .iter()
        .map(|file| elab::File {
            module: file.module,
            text: file.text,
            aliases: file.aliases,
            ast: &file.parse.ast,
            failed: &file.parse.failed,
        })
        .collect();
    let program = elab::elaborate(&files, modules.broken, &mut diagnostics);
    Elaborated { program, diagnostics }
}

/// A program that was parsed and elaborated, and not checked yet.
#[derive(Clone, Debug)]
pub struct Elaborated {
    program: Program,
    diagnostics: Vec<Diagnostic>,
}

impl Elaborated {
    /// The program as far as it could be made.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Checks it, unless there are errors already.
    pub fn check(self) -> Loaded {
        let Elaborated { program, mut diagnostics } = self;
        if !has_errors(&diagnostics) {
            match jut_ir::check::check_program(&program) {
                Ok(()) => diagnostics.extend(jut_ir::check::lint_program(&program)),
                Err(errors) => diagnostics.extend(errors),
            }
        }
        // A text that is elaborated twice (`max` over a range) warns twice.
        diagnostics.sort_by_key(|d| (d.span.file, d.span.start, d.span.end, d.code));
        diagnostics.dedup();
        let program = (!has_errors(&diagnostics)).then_some(program);
        Loaded { program, diagnostics: limit::limit(diagnostics) }
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
