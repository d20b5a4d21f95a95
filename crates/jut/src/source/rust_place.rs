//! Places in Rust files, of programs whose texts were made of Rust functions.

use std::fmt;

/// What it means that a check of the text failed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum What {
    /// What the text says.
    Same,
    /// The operation's result is no number of its type.
    Overflow(&'static str),
    /// An assertion, or a panic, with its message.
    Panic(&'static str),
    /// A list gets another length where it keeps its own.
    Length,
}

impl What {
    /// The code and the text of what fails in Rust, if that is not what the text calls it.
    pub(crate) fn said(self) -> Option<(&'static str, String)> {
        match self {
            What::Overflow(operation) => {
                Some(("R11", format!("attempt to {operation} with overflow")))
            }
            What::Panic(message) => Some(("R12", message.to_string())),
            What::Same | What::Length => None,
        }
    }
}

/// A place in a Rust file, of an error when a program runs.
#[derive(Clone, Copy, Debug)]
pub struct RustPlace {
    /// The file, as rustc calls it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// What failed.
    pub what: What,
}

impl fmt::Display for RustPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
