//! Everything that can go wrong, as one type.

use crate::source::{Diagnostics, RunError, Sources, draw_error};
use jut_ir::Span;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Why something could not be done. Nothing in jut panics on bad input: it says one of these.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The program is refused. Printing it shows every message with the lines it is about.
    Program(Diagnostics),
    /// A function, parameter or result with this name does not exist, or cannot be used in this
    /// way; the text says what there is.
    Request(String),
    /// An argument does not fit its parameter.
    Argument(ArgumentError),
    /// The program ran and failed: an index out of range, the memory limit, ..
    Run(RunError),
    /// A tape on which nothing is recorded, or by another function; the text says what to do.
    Tape(String),
    /// A file could not be read.
    File(PathBuf, std::io::Error),
    /// JSON or CSV that cannot be understood as arguments.
    Input(String),
    /// The backend could not compile the program.
    Backend(String),
}

/// The result of what can go wrong.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Its code: that of the first message about a program (`J010`), of a failing run (`R01`), of a
    /// call that does not fit (`A03`); none for what has to do with neither.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Error::Program(diagnostics) => diagnostics.list().first().map(|d| d.code),
            Error::Run(error) => Some(error.code()),
            Error::Argument(error) => Some(error.code()),
            Error::Tape(_) => Some("A07"),
            _ => None,
        }
    }

    /// The error as text for a terminal: diagnostics, run-time errors and arguments that do not fit
    /// with the lines of the program they are about.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Error::Program(diagnostics) => diagnostics.render(colour),
            Error::Run(error) => error.render(colour),
            Error::Argument(error) => error.render(colour),
            Error::Tape(text) => draw_error(None, "A07", text, Span::NONE, None, colour),
            other => format!("Error: {other}\n"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Program(diagnostics) => write!(f, "{diagnostics}"),
            Error::Argument(error) => write!(f, "{error}"),
            Error::Run(error) => write!(f, "{error}"),
            Error::File(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Request(text)
            | Error::Tape(text)
            | Error::Input(text)
            | Error::Backend(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File(_, error) => Some(error),
            Error::Argument(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Error {
        Error::Program(diagnostics)
    }
}

impl From<ArgumentError> for Error {
    fn from(error: ArgumentError) -> Error {
        Error::Argument(error)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        Error::Run(error)
    }
}

/// An argument that does not fit its parameter, or memory that does not fit a result.
///
/// | code | what |
/// |---|---|
/// | `A01` | another number of arguments, or of places for results, than the function has |
/// | `A02` | an argument of another type than its parameter |
/// | `A03` | an array of another shape than the sizes allow, or a size that no array has |
/// | `A04` | a size that does not follow from the arguments |
/// | `A05` | memory for a result that does not fit it |
/// | `A06` | a type whose values cannot be given or taken here |
/// | `A07` | a tape on which nothing is recorded, or by another linearization ([`Error::Tape`]) |
#[derive(Clone)]
pub struct ArgumentError {
    code: &'static str,
    parameter: String,
    reason: String,
    help: String,
    span: Span,
    sources: Option<Arc<Sources>>,
}

impl ArgumentError {
    /// An error about the argument for the given parameter, or the memory for the given result.
    pub(crate) fn new(
        code: &'static str,
        parameter: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> ArgumentError {
        ArgumentError {
            code,
            parameter: parameter.into(),
            reason: reason.into(),
            help: help.into(),
            span: Span::NONE,
            sources: None,
        }
    }

    /// The same with the place of the parameter.
    pub(crate) fn at(mut self, span: Span) -> ArgumentError {
        self.span = span;
        self
    }

    /// The same with the texts that the place lies in, and a place if it has none.
    pub(crate) fn within(mut self, sources: Arc<Sources>, span: Span) -> ArgumentError {
        self.sources = Some(sources);
        if self.span == Span::NONE {
            self.span = span;
        }
        self
    }

    /// The code, such as `A03`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The parameter.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// What is wrong with its argument.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What to do.
    pub fn advice(&self) -> &str {
        &self.help
    }

    /// Where the parameter is declared.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The texts of the program.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.as_deref()
    }

    /// The error as text with the line that declares the parameter, with terminal colours if wanted.
    pub fn render(&self, colour: bool) -> String {
        draw_error(
            self.sources.as_deref(),
            self.code,
            &self.to_string(),
            self.span,
            Some(&self.help),
            colour,
        )
    }
}

impl PartialEq for ArgumentError {
    fn eq(&self, other: &ArgumentError) -> bool {
        let parts = |e: &ArgumentError| (e.code, e.parameter.clone(), e.reason.clone());
        parts(self) == parts(other)
    }
}

impl Eq for ArgumentError {}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument `{}`: {}", self.parameter, self.reason)
    }
}

impl fmt::Debug for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {self}", self.code)
    }
}

impl std::error::Error for ArgumentError {}
