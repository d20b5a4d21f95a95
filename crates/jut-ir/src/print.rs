//! The text form of a program: `core def`s that read back.

use crate::ir::Program;

/// Prints a whole program.
pub fn print_program(_program: &Program) -> String {
    String::new()
}
