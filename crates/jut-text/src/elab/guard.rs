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
//! In a `def`, an array of zeros shows that its size is not negative, though no memory may ever be asked for it. That is
//! tested too. A `core def` is not, so that printed stages, whose zeros are as long as arrays of the program, read back as they
//! are; so zeros of a negative size in one that is written by hand are a hole (ARCHITECTURE.md).
//!
//! ```text
//! g = acc dx: [k]f64 { .. }        ▶        check k >= 0; g = acc dx: [k]f64 { .. }
//! ```
//!
//! Likewise `proved cast` is a cast, and `=n` in a pattern is tested. So, but for those zeros, nothing that is read reaches
//! outside of its arrays, whoever wrote it; a stage that is printed and read back gives the same bits,
//! and costs the checks.
//!
//! *Cost*: one walk over the definitions that have a mark or arrays of zeros.

use jut_ir::build::FunctionBuilder;
use jut_ir::cover::accesses::{each_statement, each_step};
use jut_ir::{Block, Check, Function, Rhs, Size, Step, Stmt, Type, sizes};

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

/// Puts checks before the arrays of zeros of a definition whose sizes nothing shows not to be negative.
pub(super) fn show_sizes(builder: &mut FunctionBuilder) {
    if !makes_zeros(&builder.func, &builder.func.body) {
        return;
    }
    let namer = &mut builder.namer;
    each_statement(&mut builder.func, &mut |func, facts, stmt, before| {
        let (loc, mut unknown) = (stmt.loc, Vec::new());
        if let Some(ty) = zeros(func, &stmt.rhs) {
            ty.for_each_size(&mut |size| {
                if !facts.is_plainly_non_negative(size) {
                    unknown.push(size.clone());
                }
            });
        }
        for size in unknown {
            let rhs =
                Rhs::Check(Check::NonNegative(sizes::operand(func, namer, &size, loc, before)));
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
