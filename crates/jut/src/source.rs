//! Source texts, and messages that point into them.
//!
//! Everything that can go wrong with a program carries a byte range of the user's text. This
//! module turns it into a line and a column, and [`message`] into a message with the lines around
//! it.

mod message;
mod rust_place;

use jut_ir::{Diagnostic, RuntimeError, RuntimeErrorKind, Severity, Span};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use message::Message;
pub use rust_place::{RustPlace, What};

/// The text of a program, with the name it is called by in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it: a file name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// Line and column of a byte, both counted from 1; columns count characters.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let mut end = byte.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The span's text as `name:line:column`.
    pub(crate) fn place(&self, span: Span) -> String {
        let (line, column) = self.position(span.start as usize);
        format!("{}:{line}:{column}", self.name)
    }

    /// The byte range of a span, moved to lie inside the text.
    pub(crate) fn range(&self, span: Span) -> Range<usize> {
        let boundary = |mut byte: usize| {
            while !self.text.is_char_boundary(byte) {
                byte -= 1;
            }
            byte
        };
        let start = (span.start as usize).min(self.text.len());
        let end = (span.end as usize).clamp(start, self.text.len());
        boundary(start)..boundary(end)
    }
}

/// The texts of a program: the user's file, then the modules that it uses. Spans carry the number of
/// their text in this list.
#[derive(Clone, Debug)]
pub struct Sources {
    main: Source,
    modules: Vec<Source>,
    /// Where parts of the first text come from, if that was made of Rust functions.
    placed: Vec<Placed>,
}

/// A part of a text with its place in Rust: its first byte, and that behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub start: u32,
    pub end: u32,
    pub place: RustPlace,
}

impl Sources {
    /// A program of one text.
    pub fn new(main: Source) -> Sources {
        Sources { main, modules: Vec::new(), placed: Vec::new() }
    }

    /// The same where parts of the text come from Rust.
    pub(crate) fn with_places(self, placed: Vec<Placed>) -> Sources {
        Sources { placed, ..self }
    }

    /// The place in Rust of what failed at a span: that of the smallest part of the text which has it in it, and what that means there.
    pub(crate) fn rust_place(&self, kind: RuntimeErrorKind, span: Span) -> Option<RustPlace> {
        let here = span.file == 0 && span != Span::NONE;
        let holds = |p: &&Placed| here && p.start <= span.start && span.end <= p.end;
        let is_meant = |what: What| match what {
            What::Length => kind == RuntimeErrorKind::SizeMismatch,
            _ => [RuntimeErrorKind::NegativeSize, RuntimeErrorKind::Index].contains(&kind),
        };
        let smallest = self.placed.iter().filter(holds).min_by_key(|p| p.end - p.start);
        smallest.map(|Placed { place, .. }| RustPlace {
            what: if is_meant(place.what) { place.what } else { What::Same },
            ..*place
        })
    }

    /// Adds the text of a module; gives its number.
    pub fn push(&mut self, module: Source) -> u32 {
        self.modules.push(module);
        u32::try_from(self.modules.len()).unwrap_or(u32::MAX)
    }

    /// The text that the user loaded.
    pub fn main(&self) -> &Source {
        &self.main
    }

    /// The text that a span lies in.
    pub fn of(&self, span: Span) -> &Source {
        let module = (span.file as usize).checked_sub(1).and_then(|k| self.modules.get(k));
        module.unwrap_or(&self.main)
    }

    /// All texts, that of the user first.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.main).chain(&self.modules)
    }
}

/// An error with a place, if there is one, drawn like those of the checker.
pub(crate) fn draw_error(
    sources: Option<&Sources>,
    code: &str,
    text: &str,
    span: Span,
    help: Option<&str>,
    colour: bool,
) -> String {
    let span = if sources.is_some() { span } else { Span::NONE };
    let none = Sources::new(Source { name: String::new(), text: String::new() });
    Message { severity: Severity::Error, code, text, span, labels: &[], help }
        .draw(sources.unwrap_or(&none), colour)
}

/// What the parser, the elaborator or the checker has to say about a program.
///
/// `Display` and `Debug` both draw the messages with the lines of the program they are about.
#[derive(Clone)]
pub struct Diagnostics {
    sources: Arc<Sources>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Messages about a program.
    pub fn new(sources: Arc<Sources>, list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { sources, list }
    }

    /// The messages as data.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// The texts that they are about.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The messages as text with the lines of the program they are about, with terminal colours if
    /// wanted.
    pub fn render(&self, colour: bool) -> String {
        let draw = |d: &Diagnostic| {
            Message {
                severity: d.severity,
                code: d.code,
                text: &d.message,
                span: d.span,
                labels: &d.labels,
                help: Some(&d.help),
            }
            .draw(&self.sources, colour)
        };
        self.list.iter().map(draw).collect()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.render(false))
    }
}

/// An error of a running program, with its place in the text.
#[derive(Clone)]
pub struct RunError {
    sources: Arc<Sources>,
    error: RuntimeError,
    rust: Option<RustPlace>,
    /// Whether tangents of values of different constructors were added.
    tangents: bool,
    /// What failed, if more is known than its kind: why a function of another language did, what is not finite.
    said: Option<Arc<str>>,
}

impl RunError {
    /// An error in a program; of one that was made of Rust functions, at its place there.
    pub fn new(sources: Arc<Sources>, error: RuntimeError) -> RunError {
        let foreign = error.kind == RuntimeErrorKind::Foreign;
        let said = if foreign { jut_runtime::foreign::failure() } else { None };
        let rust = sources.rust_place(error.kind, error.span);
        RunError { sources, error, rust, tangents: false, said: said.map(Arc::from) }
    }

    /// The same error, with what failed.
    pub(crate) fn saying(self, what: String) -> RunError {
        RunError { said: Some(what.into()), ..self }
    }

    /// The same error where tangents of values of different constructors were added.
    pub(crate) fn of_tangents(self, tangents: bool) -> RunError {
        RunError { tangents, ..self }
    }

    /// Where a function of Rust failed, if it is one.
    pub fn rust_place(&self) -> Option<RustPlace> {
        self.rust
    }

    /// What failed in Rust, if that is not what the text calls it.
    fn what(&self) -> What {
        self.rust.map_or(What::Same, |p| p.what)
    }

    /// The code, such as `R01`.
    pub fn code(&self) -> &'static str {
        match self.what().said() {
            Some((code, _)) => code,
            None if self.what() == What::Same && self.assertion().is_some() => "R12",
            None => self.error.kind.code(),
        }
    }

    /// The message of the assertion that failed, if it was one.
    fn assertion(&self) -> Option<String> {
        assertion(&self.sources, self.error.kind, self.error.span)
    }

    /// The error as data: kind, span, and the numbers involved.
    pub fn error(&self) -> &RuntimeError {
        &self.error
    }

    /// The text that failed: the user's, or that of a module.
    pub fn source(&self) -> &Source {
        self.sources.of(self.error.span)
    }

    /// The texts of the program.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Line and column of the text that failed, both counted from 1.
    pub fn position(&self) -> (usize, usize) {
        self.source().position(self.error.span.start as usize)
    }

    /// What failed, without the code.
    fn text(&self) -> String {
        if let Some((_, text)) = self.what().said() {
            return text;
        }
        if self.what() == What::Length {
            let numbers = match self.error.operands.as_slice() {
                [new, old, ..] => format!(": {new} in place of {old}"),
                _ => String::new(),
            };
            return format!("a list has another length than the one before{numbers}");
        }
        if self.tangents {
            return "tangents of values of different constructors are added".to_string();
        }
        if let Some(what) = &self.said {
            return what.to_string();
        }
        if let Some(word) = self.empty_extremum() {
            return format!("the range of `{word}` is empty");
        }
        if let Some(message) = self.assertion() {
            return message;
        }
        let text = self.error.to_string();
        text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest).to_string()
    }

    /// What to do about it, with the numbers involved.
    pub fn help(&self) -> String {
        match self.what() {
            What::Overflow(_) => {
                return "the result is no number of its type: a `usize` is not negative, an `i32` has 32 bits".to_string();
            }
            What::Panic(_) => return "the Rust function panics here".to_string(),
            What::Length => {
                return "rows of a list have one length here, and a list keeps its length where a loop or branch assigns it; \
                        one that is emptied and pushed to may get another one: `x.clear(); x.extend(&new);`"
                    .to_string();
            }
            What::Same => {}
        }
        if self.tangents {
            return "directions, cotangents and gradients that meet belong to one value"
                .to_string();
        }
        if self.assertion().is_some() {
            return "the program asserts this here: change what it is given, or the assertion"
                .into();
        }
        match self.empty_extremum() {
            Some(word) => {
                let bound = self.error.operands.get(1).copied().unwrap_or_default();
                format!(
                    "the bound is {bound}, and there is no `{word}` of no elements: test it first, \
                     `if n > 0 {{ {word} (i < n) .. }} else {{ .. }}`"
                )
            }
            None => self.error.help(),
        }
    }

    /// Whether the place is a `max` or `min` over a range, which has no element.
    fn empty_extremum(&self) -> Option<&'static str> {
        let empty = self.error.operands.get(1).is_some_and(|bound| *bound <= 0);
        let index = self.error.kind == RuntimeErrorKind::Index;
        extremum(&self.sources, self.error.span).filter(|_| index && empty)
    }

    /// The error as text with the line of the program that failed, with terminal colours if wanted.
    pub fn render(&self, colour: bool) -> String {
        let message = Message {
            severity: Severity::Error,
            code: self.code(),
            text: &self.text(),
            span: self.error.span,
            labels: &[],
            help: Some(&self.help()),
        };
        let drawn = message.draw(&self.sources, colour);
        match self.rust {
            Some(place) => format!("{drawn}in Rust: {place}\n"),
            None => drawn,
        }
    }
}

/// `max` or `min` if the expression at a place is one of these over a range: an access begins with the
/// name of an array, and these are none.
pub(crate) fn extremum(sources: &Sources, span: Span) -> Option<&'static str> {
    let text = sources.of(span).text.get(span.start as usize..span.end as usize)?;
    let word = ["max", "min"].into_iter().find(|word| text.starts_with(word))?;
    text[word.len()..].trim_start().starts_with('(').then_some(word)
}

/// The message of the assertion at a place, if there is one: its text, or else its condition. Assertions are checks that
/// a number is not negative, and no other such check has this word at its place.
pub(crate) fn assertion(sources: &Sources, kind: RuntimeErrorKind, span: Span) -> Option<String> {
    let text = sources.of(span).text.get(span.start as usize..span.end as usize)?;
    let rest = text.strip_prefix("assert").filter(|_| kind == RuntimeErrorKind::NegativeSize)?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    Some(match rest.strip_suffix('"').and_then(|rest| rest.rsplit_once('"')) {
        Some((_, message)) => message.to_string(),
        None => {
            let condition: Vec<&str> = rest.split_whitespace().collect();
            format!("assertion failed: {}", condition.join(" "))
        }
    })
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.text())?;
        if let Some(place) = self.rust {
            write!(f, " at {place}")?;
        } else if self.error.span != Span::NONE {
            write!(f, " at {}", self.source().place(self.error.span))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { name: "m.jut".into(), text: "def f(x: f64) -> f64 =\n  é + y\n".into() }
    }

    fn sources() -> Arc<Sources> {
        let mut sources = Sources::new(source());
        sources.push(Source { name: "lib/n.jut".into(), text: "def g() -> f64 =\n\n  z\n".into() });
        Arc::new(sources)
    }

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let s = source();
        assert_eq!(s.position(0), (1, 1));
        let y = s.text.find('y').unwrap_or(0);
        assert_eq!(s.position(y), (2, 7));
        assert_eq!(s.position(26), (2, 3), "inside é");
        assert_eq!(s.position(10_000), (3, 1));
    }

    #[test]
    fn a_drawn_diagnostic_shows_code_line_reason_and_fix() {
        let s = source();
        let y = s.text.find('y').unwrap_or(0);
        let d = Diagnostic::error("J010", Span::new(0, y, y + 1), "unknown name `y`")
            .help("did you mean `x`?");
        let text = Diagnostics::new(sources(), vec![d]).to_string();
        for part in ["J010", "unknown name `y`", "m.jut:2:7", "é + y", "did you mean `x`?"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn spans_outside_the_text_are_drawn_all_the_same() {
        for span in
            [Span::NONE, Span::new(0, 5, 9000), Span::new(0, 9000, 9001), Span::new(3, 0, 1)]
        {
            let d = Diagnostic::error("J002", span, "syntax");
            assert!(Diagnostics::new(sources(), vec![d]).to_string().contains("J002"));
        }
    }

    #[test]
    fn a_run_error_names_its_line_and_column() {
        let error = RuntimeError {
            kind: RuntimeErrorKind::Index,
            span: Span::new(0, 25, 27),
            operands: vec![7, 3],
        };
        let text = RunError::new(sources(), error).to_string();
        assert_eq!(text, "R01: index 7 is out of range for length 3 at m.jut:2:3");
    }

    #[test]
    fn a_message_shows_the_lines_of_every_text_that_it_is_about() {
        let d = Diagnostic::error("J016", Span::new(1, 20, 21), "a circle")
            .label(Span::new(0, 25, 27), "a part of it");
        let text = Diagnostics::new(sources(), vec![d]).to_string();
        for part in ["lib/n.jut:3:3", "a part of it", "m.jut", "é + y"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let error = RuntimeError {
            kind: RuntimeErrorKind::DivisionByZero,
            span: Span::new(1, 20, 21),
            operands: Vec::new(),
        };
        let text = RunError::new(sources(), error).to_string();
        assert_eq!(text, "R05: integer division by zero at lib/n.jut:3:3");
    }
}
