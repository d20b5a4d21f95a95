//! The text form of jut: source text to a checked [`Program`].
//!
//! | module | what |
//! |---|---|
//! | `lex` | tokens; which newlines count; where brackets close |
//! | `ast` | the syntax tree |
//! | `parser` | the grammar |
//! | `elab` | names, types, sugar: the tree to [`jut_ir`] |
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
mod lex;
mod parser;

pub use format::format;
use jut_ir::{Diagnostic, Program, Severity};

/// What a source text gives.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, if there is no error: every definition as a core function, checked.
    pub program: Option<Program>,
    /// Errors and warnings in the order of the text; only warnings if there is a program.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses, elaborates and checks a source text. `file` is the number that its spans carry.
///
/// Never panics and never overflows the stack: nesting is limited (J003), operator chains are not.
/// A declaration with an error does not hide errors in others. Cost: linear in the text.
pub fn load(source: &str, file: u32) -> Loaded {
    let mut diagnostics = Vec::new();
    let parse = parser::parse(source, file, &mut diagnostics);
    let program = elab::elaborate(&parse.ast, parse.failed, &mut diagnostics);
    if !has_errors(&diagnostics) {
        match jut_ir::check::check_program(&program) {
            Ok(()) => diagnostics.extend(jut_ir::check::lint_program(&program)),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    // A text that is elaborated twice (`max` over a range) warns twice.
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end, d.code));
    diagnostics.dedup();
    let program = (!has_errors(&diagnostics)).then_some(program);
    Loaded { program, diagnostics }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
