//! What is printed: results, diagnostics and errors, as text or as JSON.

use crate::files::Files;
use jut::{Compiled, Diagnostics, Error, Role, RunError, Severity, Sources, Span, Value};
use serde_json::{Map, Value as Json, json};
use std::io::{IsTerminal, Write};

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

/// Whether messages may have colours.
pub fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Results for people: one line each; `@FILE` for what was written to a file.
pub fn results_text(
    compiled: &Compiled,
    values: &[Value],
    derivative: &str,
    files: &Files,
) -> String {
    let mut lines = Vec::new();
    for (k, (output, value)) in compiled.outputs().zip(values).enumerate() {
        let label = match output.role {
            Role::Value => output.name.to_string(),
            Role::Derivative => format!("{derivative} {}", output.name),
        };
        let text = match files.get(&k) {
            Some(file) => format!("@{file}"),
            None => compiled.write_json(k, value).to_string(),
        };
        lines.push((label, text));
    }
    columns(&lines)
}

/// Labels and values, one line each.
pub fn columns(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(label, value)| format!("{label:width$} = {value}\n")).collect()
}

/// Results for programs: `value` (or `values` by name), and the derivatives by name under the given
/// key.
pub fn results_json(
    compiled: &Compiled,
    values: &[Value],
    derivative: &str,
    files: &Files,
) -> Map<String, Json> {
    let mut own = Map::new();
    let mut derivatives = Map::new();
    for (k, (output, value)) in compiled.outputs().zip(values).enumerate() {
        let part = if output.role == Role::Value { &mut own } else { &mut derivatives };
        let json = match files.get(&k) {
            Some(file) => Json::from(format!("@{file}")),
            None => compiled.write_json(k, value),
        };
        part.insert(output.name.to_string(), json);
    }
    let mut all = match own.is_empty() {
        true => Map::new(),
        false => results_json_of(own),
    };
    if compiled.outputs().any(|o| o.role == Role::Derivative) {
        all.insert(derivative.into(), derivatives.into());
    }
    all
}

/// Results by name: `value` for a single one without a name, else `values`.
pub fn results_json_of(mut own: Map<String, Json>) -> Map<String, Json> {
    let mut all = Map::new();
    match own.remove("value") {
        Some(value) if own.is_empty() => all.insert("value".into(), value),
        Some(value) => {
            own.insert("value".into(), value);
            all.insert("values".into(), own.into())
        }
        None => all.insert("values".into(), own.into()),
    };
    all
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
    let place = |span: Span| place_json(diagnostics.sources(), span);
    let one = |d: &jut::Diagnostic| {
        json!({
            "code": d.code,
            "severity": if d.severity == Severity::Error { "error" } else { "warning" },
            "message": d.message,
            "help": d.help,
            "place": place(d.span),
            "labels": d.labels.iter()
                .map(|(span, text)| json!({ "text": text, "place": place(*span) }))
                .collect::<Vec<_>>(),
        })
    };
    diagnostics.list().iter().map(one).collect()
}

fn run_error_json(error: &RunError) -> Json {
    json!({
        "code": error.code(),
        "message": error.to_string(),
        "operands": error.error().operands,
        "place": place_json(error.sources(), error.error().span),
    })
}

/// An error as JSON.
pub fn error_json(error: &Error) -> Json {
    match error {
        Error::Program(diagnostics) => json!({ "diagnostics": diagnostics_json(diagnostics) }),
        Error::Run(error) => json!({ "error": run_error_json(error) }),
        Error::Argument(e) => {
            let place = e.sources().map(|sources| place_json(sources, e.span()));
            json!({ "error": {
                "code": e.code(), "parameter": e.parameter(), "message": e.to_string(),
                "help": e.advice(), "place": place,
            } })
        }
        other => json!({ "error": { "message": other.to_string() } }),
    }
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
