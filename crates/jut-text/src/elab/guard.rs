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
//! An array of zeros shows that its size is not negative, though no memory may ever be asked for it. Of a text that is
//! tested:
//!
//! ```text
//! g = acc dx: [k]f64 { .. }        ▶        check k >= 0; g = acc dx: [k]f64 { .. }
//! ```
//!
//! Likewise `proved cast` is a cast, and `=n` in a pattern is tested. So nothing that is read reaches
//! outside of its arrays, whoever wrote it; a stage that is printed and read back gives the same bits,
//! and costs the checks.
//!
//! *Cost*: one walk over the definitions that have a mark or arrays of zeros.

use jut_ir::build::FunctionBuilder;
use jut_ir::cover::accesses::{each_statement, each_step};
use jut_ir::{Block, Check, Function, Rhs, Size, Step, Stmt, Type, sizes};

/// Puts checks before the marked accesses of a definition, and takes the marks off; and before its arrays of zeros.
pub(super) fn complete(builder: &mut FunctionBuilder, marked: bool) {
    if !marked && !makes_zeros(&builder.func, &builder.func.body) {
        return;
    }
    let namer = &mut builder.namer;
    each_statement(&mut builder.func, &mut |func, facts, stmt, before| {
        let loc = stmt.loc;
        let mut checks: Vec<(Option<Step>, Size)> = Vec::new();
        each_step(func, facts, &mut stmt.rhs, &mut |step, size, covered| {
            if let Step::Index { proved, .. } | Step::Slice { proved, .. } = step
                && std::mem::take(proved)
                && !covered
            {
                checks.push((Some(*step), size.clone()));
            }
        });
        if let Some(ty) = zeros(func, &stmt.rhs) {
            ty.for_each_size(&mut |size| {
                if !facts.is_plainly_non_negative(size) {
                    checks.push((None, size.clone()));
                }
            });
        }
        for (step, size) in checks {
            let size = sizes::operand(func, namer, &size, loc, before);
            let check = match step {
                None => Check::NonNegative(size),
                Some(Step::Index { index, .. }) => Check::Below(index, size),
                Some(Step::Slice { lo, len, .. }) => Check::Within { lo, len, size },
                Some(Step::Field(_)) => continue,
            };
            let rhs = Rhs::Check(check);
            before.push(Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc });
        }
    });
}

/// The type of what an operation makes of zeros.
fn zeros<'f>(func: &'f Function, rhs: &'f Rhs) -> Option<&'f Type> {
    match rhs {
        Rhs::Region(region) if region.start.is_none() => Some(&func.caps[region.cap].ty),
        Rhs::LZero(ty) => Some(ty),
        _ => None,
    }
}

fn makes_zeros(func: &Function, block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        let mut sized = false;
        if let Some(ty) = zeros(func, &stmt.rhs) {
            ty.for_each_size(&mut |_| sized = true);
        }
        sized || stmt.rhs.blocks().into_iter().any(|inner| makes_zeros(func, inner))
    })
}
