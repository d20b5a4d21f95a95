//! Why a loop program could not be compiled.

use std::fmt;

/// Why a loop program could not be compiled. A valid program on a supported machine compiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// The backend does not know this machine, memory for code cannot be had, or the backend is not
    /// built in.
    Host(String),
    /// The program is not well formed: the function and what is wrong.
    Malformed {
        /// Name of the function.
        function: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The backend refused a function, because it is too large for instance.
    Codegen {
        /// Name of the function.
        function: String,
        /// What the backend says.
        reason: String,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Host(reason) => write!(f, "no code for this machine: {reason}"),
            CompileError::Malformed { function, reason } => {
                write!(f, "loop function `{function}` is not well formed: {reason}")
            }
            CompileError::Codegen { function, reason } => {
                write!(f, "no machine code for `{function}`: {reason}")
            }
        }
    }
}

impl std::error::Error for CompileError {}

impl CompileError {
    /// There is nothing to compile.
    pub fn no_function() -> CompileError {
        CompileError::Malformed {
            function: String::new(),
            reason: "the program has no function".to_owned(),
        }
    }
}
