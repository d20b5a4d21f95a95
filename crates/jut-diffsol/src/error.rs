//! What can go wrong.

use diffsol::DiffsolError;
use std::fmt;

/// What went wrong: in the function, or in the solver.
#[derive(Debug)]
pub enum Error {
    /// In the function.
    Function(jut::Error),
    /// In the solver.
    Solver(DiffsolError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Function(error) => error.fmt(f),
            Error::Solver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Function(error) => Some(error),
            Error::Solver(error) => Some(error),
        }
    }
}

impl From<jut::Error> for Error {
    fn from(error: jut::Error) -> Error {
        Error::Function(error)
    }
}

impl From<DiffsolError> for Error {
    fn from(error: DiffsolError) -> Error {
        Error::Solver(error)
    }
}
