//! The entry around the program's last function, as one function: calls from outside have one frame to make, and no word is handed on twice.
//!
//! *Requires*: no other function of the program calls the last one, which would else be there twice; it has no loops. *Ensures*: the entry's only call is
//! gone, and with it the need for the function that it called. *Cost*: that of a copy of its instructions.

use cranelift_codegen::Context;
use cranelift_codegen::inline::{Inline, InlineCommand};
use cranelift_codegen::ir::{FuncRef, Function, Inst, Opcode, Value};
use jut_loop::form::{LoopProgram, Stmt};
use std::borrow::Cow;

/// Whether the program's last function is called from outside alone, and so short that a call counts: it has no loops. The gradient of a quadratic form, which has some, was slower within the entry.
pub(crate) fn is_worth_it(program: &LoopProgram) -> bool {
    let Some((last, function)) = program.funcs.last() else { return false };
    let mut worth = true;
    function.body.for_each(&mut |stmt| worth &= !stmt.is_loop());
    for function in program.funcs.values() {
        function.body.for_each(&mut |stmt| {
            worth &= !matches!(stmt, Stmt::Call { func, .. } if *func == last);
        });
    }
    worth
}

/// Puts the function in the place of the entry's call.
///
/// # Errors
/// As Cranelift's inlining.
pub(crate) fn put(context: &mut Context, function: Function) -> Result<(), String> {
    context.inline(Only(Some(function))).map(drop).map_err(|e| e.to_string())
}

/// What the first call becomes; others stay.
struct Only(Option<Function>);

impl Inline for Only {
    fn inline(
        &mut self,
        _: &Function,
        _: Inst,
        _: Opcode,
        _: FuncRef,
        _: &[Value],
    ) -> InlineCommand<'_> {
        match self.0.take() {
            Some(function) => {
                InlineCommand::Inline { callee: Cow::Owned(function), visit_callee: false }
            }
            None => InlineCommand::KeepCall,
        }
    }
}
