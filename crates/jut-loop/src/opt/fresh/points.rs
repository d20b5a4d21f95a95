//! Single cells of an array of zeros wait for the loop over all of its cells.
//!
//! What a function of an array has of one element, of the largest one say, is added to the cotangent of that element; what it has of all of
//! them, to all:
//!
//! ```text
//! fill g[n] = 0.0                      fill g[n] = 0.0
//! a = g[k]                             a = 0.0
//! b = a + p                            b = a + p
//! g[k] = b                             for par (i in 0 .. n) {
//! for par (i in 0 .. n) {                c = g[i]
//!   c = g[i]                             d = c + f(i)
//!   d = c + f(i)                         g[i] = d
//!   g[i] = d                           }
//! }                                    r = g[k]
//!                                      s = b + r
//!                                      g[k] = s
//! ```
//!
//! Then the loop begins with zeros, which need not be stored. Of two cells, which may be one, the second begins with what the first was given
//! if they are.
//!
//! No bit changes: b is no negative zero, so b + (0.0 + f) is b + f, and b - f is b + (0.0 - f). That holds for one term: the loop adds to
//! each cell once.

use crate::form::{Atom, Block, Kind, Stmt, Value};
use crate::values::Values;
use jut_ir::Literal;
use jut_ir::prim;

use super::{Fresh, NEAR, is_zero};

/// Single cells that wait, at most.
const FEW: usize = 2;

/// A cell that is loaded and stored to once.
struct Point {
    /// The positions of the load and the store.
    load: usize,
    store: usize,
    /// What is loaded, and which cell it is.
    loaded: Value,
    index: Atom,
    /// What is stored.
    sum: Value,
}

/// The cells of an array that are added to one by one, and the loop behind them.
struct Points {
    buffer: Value,
    points: Vec<Point>,
    last: usize,
}

/// Lets cells wait, in a block and those inside it.
pub(super) fn postpone(fresh: &Fresh, values: &mut Values<'_>, block: &mut Block) {
    for stmt in &mut block.stmts {
        stmt.blocks_mut().into_iter().for_each(|inner| postpone(fresh, values, inner));
    }
    let mut at = 0;
    while at < block.stmts.len() {
        if let Stmt::Fill { buffer, len, value } = block.stmts[at]
            && is_zero(value)
            && values.kind_of(value) == Kind::F64
            && let Some(found) = fresh.points(block, at + 1, (buffer, len))
        {
            found.apply(values, block);
        }
        at += 1;
    }
}

impl Fresh {
    /// The cells that are added to before the loop, if nothing else touches the array until its end.
    fn points(&self, block: &Block, from: usize, (buffer, len): (Value, Atom)) -> Option<Points> {
        let mut points: Vec<Point> = Vec::new();
        let mut open: Option<(usize, Value, Atom)> = None;
        let near = block.stmts.len().min(from + NEAR);
        for (at, stmt) in block.stmts.iter().enumerate().take(near).skip(from) {
            if !self.touches(stmt, buffer) {
                continue;
            }
            match (stmt, open) {
                (Stmt::Load { dst, buffer: b, index }, None) if *b == buffer => {
                    open = Some((at, *dst, *index));
                }
                (
                    Stmt::Store { buffer: b, index, value: Atom::Value(sum) },
                    Some((load, loaded, place)),
                ) if *b == buffer && *index == place => {
                    let between = &block.stmts[load..at];
                    if points.len() == FEW || !is_sum(between, *sum, loaded) {
                        return None;
                    }
                    points.push(Point { load, store: at, loaded, index: place, sum: *sum });
                    open = None;
                }
                (stmt, None) if !points.is_empty() => {
                    let once = self.covers(stmt, buffer, len) && changes_once(stmt, buffer);
                    return once.then_some(Points { buffer, points, last: at });
                }
                _ => return None,
            }
        }
        None
    }
}

/// Whether statements add to one value, or subtract from it, until it is another: then that is no negative zero, as zero is none.
fn is_sum(stmts: &[Stmt], sum: Value, from: Value) -> bool {
    let mut sums = vec![Atom::Value(from)];
    for stmt in stmts {
        match stmt {
            Stmt::Prim { dst, prim: prim::ADD, args } if args.iter().any(|a| sums.contains(a)) => {
                sums.push((*dst).into());
            }
            Stmt::Prim { dst, prim: prim::SUB, args } if sums.contains(&args[0]) => {
                sums.push((*dst).into());
            }
            _ => {}
        }
    }
    sums.contains(&sum.into())
}

/// Whether the body of a loop loads one cell of a buffer, adds to it or subtracts from it, and stores that, and nothing else knows of the
/// cell.
fn changes_once(stmt: &Stmt, buffer: Value) -> bool {
    let Some(counted) = stmt.counted() else { return false };
    let (mut loaded, mut stored) = (Vec::new(), Vec::new());
    for stmt in &counted.body.stmts {
        match stmt {
            Stmt::Load { dst, buffer: b, .. } if *b == buffer => loaded.push(*dst),
            Stmt::Store { buffer: b, value: Atom::Value(v), .. } if *b == buffer => stored.push(*v),
            _ => {}
        }
    }
    let ([old], [new]) = (&loaded[..], &stored[..]) else { return false };
    let mut reads = [0; 2];
    counted.body.atoms(&mut |atom| {
        reads[0] += usize::from(atom == (*old).into());
        reads[1] += usize::from(atom == (*new).into());
    });
    let old = Atom::from(*old);
    reads == [1, 1]
        && counted.body.stmts.iter().any(|stmt| match stmt {
            Stmt::Prim { dst, prim: prim::ADD, args } => dst == new && args.contains(&old),
            Stmt::Prim { dst, prim: prim::SUB, args } => dst == new && args[0] == old,
            _ => false,
        })
}

impl Points {
    /// Lets the cells wait.
    fn apply(&self, values: &mut Values<'_>, block: &mut Block) {
        let zero = Atom::Lit(Literal::F64(0.0));
        let mut behind = Vec::new();
        let mut loads = Vec::new();
        for point in &self.points {
            let now = values.like(point.loaded);
            behind.push(Stmt::Load { dst: now, buffer: self.buffer, index: point.index });
            loads.push(now);
        }
        for (point, now) in self.points.iter().zip(loads) {
            let args = [point.sum.into(), now.into()];
            let sum = values.prim("sum", Kind::F64, prim::ADD, &args, &mut behind);
            let (buffer, index) = (self.buffer, point.index);
            behind.push(Stmt::Store { buffer, index, value: sum });
        }
        let mut stmts = Vec::with_capacity(block.stmts.len() + behind.len());
        let mut behind = Some(behind);
        for (at, stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            match self.points.iter().position(|p| p.load == at) {
                Some(k) => {
                    let point = &self.points[k];
                    let mut given = zero;
                    for before in &self.points[..k] {
                        let args = [before.index, point.index];
                        let same = values.prim("same", Kind::BOOL, prim::IEQ, &args, &mut stmts);
                        let args = [same, before.sum.into(), given];
                        given = values.prim("given", Kind::F64, prim::SELECT, &args, &mut stmts);
                    }
                    stmts.push(Stmt::Copy { dst: point.loaded, src: given });
                }
                None if self.points.iter().any(|p| p.store == at) => {}
                None => stmts.push(stmt),
            }
            if at == self.last {
                stmts.extend(behind.take().into_iter().flatten());
            }
        }
        block.stmts = stmts;
    }
}
