//! The checked program of a text, or what is wrong with it.

use jut_ir::{Diagnostic, Severity, Span};
use jut_text::{ModuleSource, file_name, load_with, standard};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A program that was read and checked.
pub(crate) struct Program {
    /// The program.
    pub ir: jut_ir::Program,
    /// The text, where it stands in Rust.
    pub text: Option<String>,
    /// The files that it is made of, and what they are called: the program, then its modules.
    pub files: Vec<(String, PathBuf)>,
}

/// Something that is wrong with a program.
#[derive(Debug)]
pub(crate) struct Message {
    /// Which part of the text it is about.
    pub range: Range<usize>,
    /// What is wrong, and what to do; in front of it the place, if it is about a file.
    pub text: String,
}

/// Reads and checks a text that stands in Rust. It may use modules of the standard library.
pub(crate) fn text(text: &str) -> Result<Program, Vec<Message>> {
    let text = text.to_string();
    let loaded = with_large_stack(move || jut_text::load(&text, 0))?;
    match loaded.program {
        Some(ir) => match foreign(&ir) {
            Some(error) => Err(vec![message(&error, None)]),
            None => Ok(Program { ir, text: None, files: Vec::new() }),
        },
        None => Err(errors(&loaded.diagnostics).map(|d| message(d, None)).collect()),
    }
}

/// Reads and checks the program in a file. Modules that it uses are files beside it. `shown` is what messages call it.
pub(crate) fn file(path: &Path, shown: &str) -> Result<Program, Vec<Message>> {
    let unreadable =
        |reason: String| vec![Message { range: 0..0, text: format!("{shown}: {reason}") }];
    // A pipe or a device would be waited for.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(unreadable("this is no regular file".to_string()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| {
        let directory = path.parent().unwrap_or(Path::new("")).display().to_string();
        unreadable(format!("{e}: files are looked for beside the Rust file, in `{directory}`"))
    })?;
    let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let beside = PathBuf::from(shown).parent().unwrap_or(Path::new("")).to_path_buf();
    let mut files = vec![(shown.to_string(), path.to_path_buf())];
    let mut shown_names = vec![shown.to_string()];
    let mut texts = vec![text.clone()];
    let (loaded, files, shown_names, texts) = with_large_stack(move || {
        let loaded = load_with(&text, 0, &mut |module| {
            let name = file_name(module);
            let path = directory.join(&name);
            if path.metadata().is_ok_and(|m| !m.is_file()) {
                return Err(format!("{} is no regular file", path.display()));
            }
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => {
                    files.push((name.clone(), path));
                    shown_names.push(beside.join(&name).display().to_string());
                    text
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                    ) =>
                {
                    let Some(text) = standard::module(module) else { return Ok(None) };
                    shown_names.push(name);
                    text.to_string()
                }
                Err(error) => return Err(format!("{}: {error}", path.display())),
            };
            texts.push(text.clone());
            let file = u32::try_from(texts.len() - 1).unwrap_or(u32::MAX);
            Ok(Some(ModuleSource { text, file }))
        });
        (loaded, files, shown_names, texts)
    })?;
    let place = |span: Span| {
        let k = span.file as usize;
        let (name, text) = (shown_names.get(k)?, texts.get(k)?);
        let (line, column) = position(text, span.start as usize);
        Some(format!("{name}:{line}:{column}: "))
    };
    match loaded.program {
        Some(ir) => match foreign(&ir) {
            Some(error) => Err(vec![message(&error, place(error.span))]),
            None => Ok(Program { ir, text: None, files }),
        },
        None => Err(errors(&loaded.diagnostics).map(|d| message(d, place(d.span))).collect()),
    }
}

/// Typed functions have nobody who gives them functions of other languages.
fn foreign(program: &jut_ir::Program) -> Option<Diagnostic> {
    let declared = program.funcs.values().find(|f| f.is_foreign_linear())?;
    let message = format!("`program!` has no function for the `extern` `{}`", declared.name);
    let error = Diagnostic::error("J901", declared.span, message);
    Some(
        error.help(
            "load the program with `jut::Model::from_file`, and give it one by `with_extern`",
        ),
    )
}

fn errors(list: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    list.iter().filter(|d| d.severity == Severity::Error)
}

fn message(d: &Diagnostic, place: Option<String>) -> Message {
    let place = place.unwrap_or_default();
    let range = d.span.start as usize..d.span.end as usize;
    let help = if d.help.is_empty() { String::new() } else { format!("\nhelp: {}", d.help) };
    Message { range, text: format!("{place}{}: {}{help}", d.code, d.message) }
}

/// Line and column of a byte, both counted from 1; columns count characters.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.rfind('\n').map_or(0, |k| k + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Programs may be nested deeply; the compiler's own stack may be short.
fn with_large_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Vec<Message>> {
    let wrong = |reason: String| vec![Message { range: 0..0, text: reason }];
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work);
    let thread = thread.map_err(|e| wrong(format!("no thread to check the program in: {e}")))?;
    thread
        .join()
        .map_err(|_| wrong("J999: a mistake in jut; please report it with the program".to_string()))
}
