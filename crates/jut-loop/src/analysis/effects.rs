//! What statements do, other than to bind values.

use crate::form::{Atom, Kind, LoopProgram, Role, Stmt, Value};

/// How a statement touches a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It may read cells.
    Read,
    /// It may write cells.
    Write,
}

/// Calls `visit` with every buffer whose cells the statement itself touches, not those that are
/// touched in its blocks. A call may read and write whatever it is given.
pub fn accesses(
    stmt: &Stmt,
    is_buffer: impl Fn(Value) -> bool,
    visit: &mut impl FnMut(Value, Access),
) {
    match stmt {
        Stmt::Load { buffer, .. } => visit(*buffer, Access::Read),
        Stmt::Store { buffer, .. } | Stmt::Fill { buffer, .. } => visit(*buffer, Access::Write),
        Stmt::CopyCells { dst, src, .. } => {
            visit(*src, Access::Read);
            visit(*dst, Access::Write);
        }
        Stmt::Call { args, .. } => {
            for arg in args {
                if let Atom::Value(v) = *arg
                    && is_buffer(v)
                {
                    visit(v, Access::Read);
                    visit(v, Access::Write);
                }
            }
        }
        Stmt::Kernel { kernel, args } => {
            for (arg, param) in args.iter().zip(kernel.row().params) {
                if let (Atom::Value(v), Kind::Buffer(_)) = (*arg, param.kind) {
                    visit(v, Access::Read);
                    if param.role != Role::In {
                        visit(v, Access::Write);
                    }
                }
            }
        }
        Stmt::Prim { .. }
        | Stmt::Copy { .. }
        | Stmt::Previous { .. }
        | Stmt::Offset { .. }
        | Stmt::Alloc { .. }
        | Stmt::Mark { .. }
        | Stmt::Release { .. }
        | Stmt::For(_)
        | Stmt::Lanes(_)
        | Stmt::If { .. }
        | Stmt::Poll { .. }
        | Stmt::Check { .. } => {}
    }
}

/// Whether a statement, or one in it, may end the run, or prints: what may end the run keeps its order to it.
pub fn can_fail(stmt: &Stmt) -> bool {
    let may_end = |stmt: &Stmt| match stmt {
        Stmt::Alloc { .. } | Stmt::Call { .. } | Stmt::Check { .. } | Stmt::Poll { .. } => true,
        Stmt::Kernel { kernel, .. } => kernel.reaches_outside(),
        _ => false,
    };
    stmt.any(&mut { may_end })
}

/// Whether a statement, or one in it, may be what says that accesses behind it are in range: a check,
/// or a call, which may have checks. No load or store moves from behind it to before it.
pub fn is_guard(stmt: &Stmt) -> bool {
    stmt.any(&mut |stmt| matches!(stmt, Stmt::Check { .. } | Stmt::Call { .. }))
}

/// Whether a program touches the arenas, so that a call needs memory.
pub fn uses_arena(program: &LoopProgram) -> bool {
    let touches =
        |stmt: &Stmt| matches!(stmt, Stmt::Alloc { .. } | Stmt::Mark { .. } | Stmt::Release { .. });
    program.funcs.values().any(|function| function.body.any(&mut { touches }))
}
