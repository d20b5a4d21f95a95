//! What is printed: results, diagnostics and errors, as text or as JSON.

use crate::options::Format;
use jut::json::View;
use jut::{Compiled, Diagnostics, Error, Port, Result, Role, Severity, Sources, Span, Value};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// Writes text to standard output. A reader that went away is not an error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes text to standard error.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints one JSON value and a newline.
pub fn print_json(json: &Json) {
    print(&format!("{json}\n"));
}

/// Prints results as JSON and a newline, piece by piece.
pub fn print_tree(tree: &Tree<'_>) -> Result<()> {
    finish(write_json(BufWriter::new(std::io::stdout().lock()), tree))
}

/// Prints labels and values, one line each, piece by piece.
pub fn print_columns(lines: &[(String, Tree<'_>)]) -> Result<()> {
    finish(write_columns(BufWriter::new(std::io::stdout().lock()), lines))
}

/// A reader that went away is not an error; a value that cannot be written is.
fn finish(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(Error::Request(format!("a result cannot be written as JSON: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes JSON and a newline; nothing holds all of its text.
pub fn write_json(mut out: impl Write, json: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut out, json)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn write_columns(mut out: impl Write, lines: &[(String, Tree<'_>)]) -> std::io::Result<()> {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    for (label, value) in lines {
        write!(out, "{label:width$} = ")?;
        match value {
            Tree::Text(text) => out.write_all(text.as_bytes())?,
            value => serde_json::to_writer(&mut out, value)?,
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// JSON whose large parts are views of results.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Tree<'v> {
    /// A result.
    View(View<'v>),
    /// Something for people; a string in JSON.
    Text(String),
    /// Something small.
    Json(Json),
    /// By name, sorted.
    Map(BTreeMap<String, Tree<'v>>),
    /// In order.
    List(Vec<Tree<'v>>),
}

/// Whether messages may have colours.
pub fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The files of the results that were written, by number of the part and of the result in it.
pub type Files = BTreeMap<(usize, usize), String>;

/// What one request gave. A command prints that of one request, or of several.
pub struct Part<'p> {
    /// What was compiled.
    pub compiled: &'p Compiled,
    /// Its results.
    pub values: &'p [Value],
    /// What its derivatives are called.
    pub derivative: &'static str,
}

impl Part<'_> {
    /// Each result: what it is, and its value, or `@FILE` if it was written to a file. `part` is the
    /// number of this part.
    fn results(&self, part: usize, files: &Files) -> Result<Vec<(Port<'_>, Tree<'_>)>> {
        let results = self.compiled.outputs().zip(self.values).enumerate();
        let tree = |(k, (output, value))| {
            let tree = match files.get(&(part, k)) {
                Some(file) => Tree::Text(format!("@{file}")),
                None => Tree::View(self.compiled.view_json(k, value)?),
            };
            Ok((output, tree))
        };
        results.map(tree).collect()
    }
}

/// Results for people: one line each; `@FILE` for what was written to a file.
pub fn results_text<'v>(parts: &'v [Part], files: &Files) -> Result<Vec<(String, Tree<'v>)>> {
    let mut lines = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        for (output, tree) in part.results(number, files)? {
            let label = match output.role {
                Role::Value => output.name.to_string(),
                Role::Derivative => format!("{} {}", part.derivative, output.name),
            };
            lines.push((label, tree));
        }
    }
    Ok(lines)
}

/// Results for programs: `value` (or `values` by name), and the derivatives by name under the key of
/// their kind.
pub fn results_json<'v>(parts: &'v [Part], files: &Files) -> Result<BTreeMap<String, Tree<'v>>> {
    let (mut own, mut all) = (BTreeMap::new(), BTreeMap::new());
    for (number, part) in parts.iter().enumerate() {
        let mut derivatives = BTreeMap::new();
        for (output, tree) in part.results(number, files)? {
            let to = if output.role == Role::Value { &mut own } else { &mut derivatives };
            to.insert(output.name.to_string(), tree);
        }
        if part.compiled.outputs().any(|o| o.role == Role::Derivative) {
            all.insert(part.derivative.into(), Tree::Map(derivatives));
        }
    }
    if !own.is_empty() {
        all.extend(results_json_of(own));
    }
    Ok(all)
}

/// Results by name: `value` for a single one without a name, else `values`.
pub fn results_json_of(mut own: BTreeMap<String, Tree<'_>>) -> BTreeMap<String, Tree<'_>> {
    let (key, tree) = match own.remove("value") {
        Some(value) if own.is_empty() => ("value", value),
        Some(value) => {
            own.insert("value".into(), value);
            ("values", Tree::Map(own))
        }
        None => ("values", Tree::Map(own)),
    };
    BTreeMap::from([(key.to_string(), tree)])
}

/// A place in the texts of a program: file, lines and columns from 1, and bytes from 0.
pub fn place_json(sources: &Sources, span: Span) -> Json {
    let source = sources.of(span);
    let (line, column) = source.position(span.start as usize);
    let (end_line, end_column) = source.position(span.end as usize);
    json!({
        "file": source.name,
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "byte": span.start, "end_byte": span.end,
    })
}

/// Messages of the checker as JSON.
pub fn diagnostics_json(diagnostics: &Diagnostics) -> Vec<Json> {
    let place = |span: Span| match span == Span::NONE {
        true => Json::Null,
        false => place_json(diagnostics.sources(), span),
    };
    let one = |d: &jut::Diagnostic| {
        json!({
            "kind": "diagnostic",
            "code": d.code,
            "severity": if d.severity == Severity::Error { "error" } else { "warning" },
            "message": d.message,
            "help": d.help,
            "edits": d.edits.iter()
                .map(|edit| json!({ "place": place(edit.span), "text": edit.text }))
                .collect::<Vec<_>>(),
            "place": place(d.span),
            "labels": d.labels.iter()
                .map(|(span, text)| json!({ "text": text, "place": place(*span) }))
                .collect::<Vec<_>>(),
        })
    };
    diagnostics.list().iter().map(one).collect()
}

/// An error as messages: several for a program that is refused, else one.
fn messages(error: &Error) -> Vec<Json> {
    let other = |kind: &str, message: String| json!({ "kind": kind, "code": null, "severity": "error", "message": message });
    let mut one = match error {
        Error::Program(diagnostics) => return diagnostics_json(diagnostics),
        Error::Run(error) => json!({
            "kind": "run",
            "code": error.code(),
            "severity": "error",
            "message": error.to_string(),
            "help": error.help(),
            "operands": error.error().operands,
            "place": place_json(error.sources(), error.error().span),
        }),
        Error::Argument(e) => other("argument", e.to_string()),
        Error::Input(_) => other("argument", error.to_string()),
        Error::File(_, _) => other("file", error.to_string()),
        Error::Backend(text) => other("backend", text.clone()),
        _ => other("request", error.to_string()),
    };
    if let Error::Argument(e) = error {
        one["parameter"] = e.parameter().into();
        one["code"] = e.code().into();
        one["help"] = e.advice().into();
    }
    if let Error::File(path, _) = error {
        one["file"] = path.display().to_string().into();
    }
    vec![one]
}

/// How messages are printed, if that was said.
static MESSAGES: OnceLock<Format> = OnceLock::new();

/// Says how messages are printed.
pub fn set_message_format(format: Format) {
    // The command line is read once.
    let _ = MESSAGES.set(format);
}

/// Prints an error. `format` is that of the results, and decides if nothing was said of messages: with
/// JSON, the error takes the place of the results.
pub fn report(error: &Error, format: Format) {
    match (MESSAGES.get(), format) {
        (Some(Format::Json), _) => complain_in_lines(&messages(error)),
        (None, Format::Json) => {
            let messages = messages(error);
            print_json(&match error {
                Error::Program(_) => json!({ "diagnostics": messages }),
                _ => json!({ "error": messages.into_iter().next() }),
            });
        }
        _ => complain(&error.render(colour())),
    }
}

/// Prints warnings.
pub fn warn(diagnostics: &Diagnostics, format: Format) {
    match (MESSAGES.get(), format) {
        (Some(Format::Json), _) => complain_in_lines(&diagnostics_json(diagnostics)),
        (None, Format::Json) => {}
        _ => complain(&diagnostics.render(colour())),
    }
}

/// A command line that is not understood.
pub fn usage(message: &str) {
    let message = message.trim_end();
    let json = json!({ "kind": "usage", "code": null, "severity": "error", "message": message });
    complain_in_lines(&[json]);
}

fn complain_in_lines(messages: &[Json]) {
    complain(&messages.iter().map(|m| format!("{m}\n")).collect::<String>());
}

/// The exit code for an error.
pub fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Program(_) => 1,
        Error::Run(_) => 3,
        Error::Backend(_) => 5,
        _ => 2,
    }
}
