//! What is read from text is tested at run time.
//!
//! In printed stages `x[!i]` is an access that a pass has made out of a checked one: compiled code does
//! not test it. A text cannot know what was checked elsewhere. So in what is read, `!` asks for a check,
//! where the range rule does not cover the access:
//!
//! ```text
//! y = x[!k]        ▶        check k < n; y = x[k]
//! ```
//!
//! Likewise `proved cast` is a cast, and `=n` in a pattern is tested. So nothing that is read reaches
//! outside of its arrays, whoever wrote it; a stage that is printed and read back gives the same bits,
//! and costs the checks.
//!
//! *Cost*: one walk over the definitions that have a mark.

use jut_ir::build::FunctionBuilder;
use jut_ir::cover::accesses::{each_statement, each_step};
use jut_ir::{Check, Rhs, Size, Step, Stmt, sizes};

/// Puts checks before the marked accesses of a definition, and takes the marks off.
pub(super) fn complete(builder: &mut FunctionBuilder) {
    let namer = &mut builder.namer;
    each_statement(&mut builder.func, &mut |func, facts, stmt, before| {
        let mut open: Vec<(Step, Size)> = Vec::new();
        each_step(func, facts, &mut stmt.rhs, &mut |step, size, covered| {
            if let Step::Index { proved, .. } | Step::Slice { proved, .. } = step
                && std::mem::take(proved)
                && !covered
            {
                open.push((*step, size.clone()));
            }
        });
        for (step, size) in open {
            let loc = stmt.loc;
            let size = sizes::operand(func, namer, &size, loc, before);
            let check = match step {
                Step::Index { index, .. } => Check::Below(index, size),
                Step::Slice { lo, len, .. } => Check::Within { lo, len, size },
                Step::Field(_) => continue,
            };
            let rhs = Rhs::Check(check);
            before.push(Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc });
        }
    });
}
