//! Long fills and copies in pieces: a loop around them can ask, they cannot.
//!
//! ```text
//! fill x[n] = a        long = 16384 < n
//!                      if long {
//!                        for up (piece in 0 .. ((n - 1) >> 14) + 1) {
//!                          at = piece << 14
//!                          part = x + at
//!                          count = min(n - at, 16384)
//!                          fill part[count] = a
//!                        }
//!                      } else {
//!                        fill x[n] = a
//!                      }
//! ```
//!
//! What is short costs one comparison, and nothing where its length is a literal.

use super::int;
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::Values;
use jut_ir::ir::Literal;
use jut_ir::prim::{self, Prim};

/// Cells of a piece are two to the power of this.
const BITS: i64 = 14;

/// Cells of a piece, at most: many enough that a loop over pieces costs nothing beside them.
pub const PIECE: i64 = 1 << BITS;

/// Cuts the fills and copies of a function that may be long.
pub(super) fn cut(function: &mut LoopFunction) {
    let LoopFunction { body, values, .. } = function;
    let mut cutter = Cutter { values: Values::new(values) };
    body.rewrite(&mut |stmt, out| match stmt {
        Stmt::Fill { len, .. } | Stmt::CopyCells { len, .. } if is_long(&stmt) => {
            cutter.pieces(stmt, len, out);
        }
        stmt => out.push(stmt),
    });
}

struct Cutter<'a> {
    values: Values<'a>,
}

impl Cutter<'_> {
    fn pieces(&mut self, whole: Stmt, len: Atom, out: &mut Vec<Stmt>) {
        let mut then = Vec::new();
        let last = self.prim("last", prim::ISUB, [len, int(1)], &mut then);
        let last = self.prim("last", prim::SHR, [last, int(BITS)], &mut then);
        let high = self.prim("pieces", prim::IADD, [last, int(1)], &mut then);

        let index = self.values.fresh("piece", Kind::I64);
        let mut body = Vec::new();
        let at = self.prim("at", prim::SHL, [index.into(), int(BITS)], &mut body);
        let left = self.prim("left", prim::ISUB, [len, at], &mut body);
        let count = self.prim("count", prim::IMIN, [left, int(PIECE)], &mut body);
        let mut part = |buffer: Value, body: &mut Vec<Stmt>| {
            let dst = self.values.fresh("part", self.values.kind(buffer));
            body.push(Stmt::Offset { dst, buffer, index: at });
            dst
        };
        let piece = match whole {
            Stmt::Fill { buffer, value, .. } => {
                Stmt::Fill { buffer: part(buffer, &mut body), len: count, value }
            }
            Stmt::CopyCells { dst, src, cell, .. } => {
                let (dst, src) = (part(dst, &mut body), part(src, &mut body));
                Stmt::CopyCells { dst, src, len: count, cell }
            }
            ref other => other.clone(),
        };
        body.push(piece);
        let body = Block { stmts: body, results: Vec::new() };
        then.push(Stmt::from(For {
            dst: Vec::new(),
            order: Order::Up,
            vector: None,
            index,
            low: int(0),
            high,
            carry: Vec::new(),
            body,
        }));
        if let Atom::Lit(_) = len {
            return out.extend(then);
        }
        let long = self.values.fresh("long", Kind::BOOL);
        out.push(Stmt::Prim { dst: long, prim: prim::ILT, args: vec![int(PIECE), len] });
        out.push(Stmt::If {
            dst: Vec::new(),
            cond: long.into(),
            then: Block { stmts: then, results: Vec::new() },
            other: Block { stmts: vec![whole], results: Vec::new() },
        });
    }

    fn prim(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        self.values.prim(hint, Kind::I64, prim, &args, out)
    }
}

/// Whether a statement fills or copies more than a piece, as far as can be told.
fn is_long(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Fill { len: Atom::Lit(Literal::I64(n)), .. }
        | Stmt::CopyCells { len: Atom::Lit(Literal::I64(n)), .. } => *n > PIECE,
        Stmt::Fill { .. } | Stmt::CopyCells { .. } => true,
        _ => false,
    }
}
