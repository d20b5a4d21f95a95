//! Why a loop program could not be compiled.

use std::fmt;

/// Why a loop program could not be compiled. A valid program on a supported machine compiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// The program is not well formed: the function and what is wrong.
    Malformed {
        /// Name of the function.
        function: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Malformed { function, reason } => {
                write!(f, "loop function `{function}` is not well formed: {reason}")
            }
        }
    }
}

impl std::error::Error for CompileError {}
