//! The type checker of Linear A.
//!
//! One walk over a definition. It derives the type of every variable from its binder and compares
//! it with the type that the function's tables hold, so that passes and backends may trust the
//! tables; and likewise the definitions of transparent sizes. It is strict about linear names:
//! each is used exactly once, no implicit `dup` or `drop`, and a loop body sees no linear names
//! from outside. It shares no code with the passes, whose output it judges.
//!
//! The rules, as judgements over the four environments of a point of the program:
//!
//! | environment | holds | kept in |
//! |---|---|---|
//! | non-linear names | type, definition of transparent sizes | the function's tables, once compared |
//! | linear names | available or used | [`scope`], one mark per name |
//! | capabilities | mode, type, hidden or not | [`scope`] and tables |
//! | facts | loop ranges, checks, non-negative names | [`crate::cover`] |
//!
//! A nested block sees all of them, with one exception: the body of a loop has the linear names
//! of its carries and slices only. The arms of a `case` all start from the same linear names, and
//! must leave the same ones.
//!
//! *Sizes of results.* A block's result types may not mention what the block binds, unless that is
//! an earlier result of it: then the pattern's name stands for it (the results are a telescope).
//! While a statement is checked, its k-th result is called [`Size::position`]`(k)`; binding the
//! pattern replaces the placeholder by the name.
//!
//! *Requires*: indices that exist (a `DataId`, a variable, a constructor). *Ensures*: a program
//! without errors is well-typed in the sense of the language reference; nothing panics, whatever
//! else is wrong. *Cost*: linear in the program, no environment is ever copied.
//!
//! Further questions about well-typed definitions are separate: [`check_linear_b`] (the form that
//! U produces), [`check_forward_domain`] and [`check_transpose_domain`] (what J and T accept), and
//! [`lint_program`] (warnings).

mod binding;
mod call;
mod control;
mod decl;
mod foreign;
mod leaf;
mod linear_b;
mod linear_map;
mod lint;
mod place;
mod results;
mod rule;
mod scope;
mod walk;

pub use foreign::{check_foreign, check_foreign_derivative};
pub use linear_b::{check_forward_domain, check_linear_b, check_transpose_domain};
pub use lint::lint_program;
pub use rule::check_rule;

use crate::diagnostic::Diagnostic;
use crate::entity::FuncId;
use crate::ir::{Decl, Program};

/// Checks every declaration of a program, in order.
///
/// # Errors
/// The errors found, at least one per faulty declaration, each with code and span.
pub fn check_program(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut errors = decl::check_declarations(program);
    for decl in &program.order {
        if let Decl::Func(func) = decl {
            errors.extend(walk::check(program, *func));
            errors.extend(foreign::check_foreign(program, *func).err());
        }
    }
    if errors.is_empty() {
        errors
            .extend(program.rules().filter_map(|(func, _)| rule::check_rule(program, func).err()));
        let derivative = |func| foreign::check_foreign_derivative(program, func).err();
        errors.extend(program.foreign().filter_map(derivative));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks one definition, given that all declarations are well-formed.
///
/// # Errors
/// What is wrong with it.
pub fn check_function(program: &Program, func: FuncId) -> Result<(), Vec<Diagnostic>> {
    let errors = walk::check(program, func);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
