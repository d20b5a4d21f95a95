//! Everything that can go wrong, as one type.

use crate::source::{Diagnostics, RunError};
use std::fmt;
use std::path::PathBuf;

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
    /// The error as text for a terminal: diagnostics and run-time errors with the lines of the
    /// program they are about.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Error::Program(diagnostics) => diagnostics.render(colour),
            Error::Run(error) => error.render(colour),
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

/// An argument that does not fit its parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentError {
    parameter: String,
    reason: String,
}

impl ArgumentError {
    /// An error about the argument for the given parameter.
    pub fn new(parameter: impl Into<String>, reason: impl Into<String>) -> ArgumentError {
        ArgumentError { parameter: parameter.into(), reason: reason.into() }
    }

    /// The parameter.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// What is wrong with its argument.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument `{}`: {}", self.parameter, self.reason)
    }
}

impl std::error::Error for ArgumentError {}
