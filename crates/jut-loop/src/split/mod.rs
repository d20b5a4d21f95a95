//! Long functions in pieces.
//!
//! Code generators are made for functions of a page or two: registers are allocated for a whole
//! function at a time, and some of what they do is more than linear in its length. So a block of more
//! than [`LONG`] statements becomes a sequence of calls of *pieces*, functions of about [`PIECE`]
//! statements each. What one piece computes and another one reads goes through the *frame*, a buffer
//! of words on the temp arena with one word for each such value.
//!
//! ```text
//! loop def f(x: f64) -> (f64) = {      loop def f.part0(x: f64, frame: inout word[1]) -> () = {
//!   a = sin(x)                           a = sin(x)
//!   b = a * x                            b = a * x
//!   c = b + a                            frame[0] = b
//!   d = c * b                          }
//!   (d)                                loop def f.part1 ..
//! }                                    loop def f(x: f64) -> (f64) = {
//!                                        frame = alloc word[1]
//!                                        () = call f.part0(x, frame)
//!                                        () = call f.part1(x, frame) ..
//! ```
//!
//! The arenas are not those of a piece: a temporary allocation that a piece makes, and to which it puts a pointer into the
//! frame, is there until the whole function ends ([`left`]). So no backend has it on the stack of the piece.
//!
//! Pieces call earlier functions only, as all functions do; a long block inside a long block is cut
//! first. A `par` loop whose body is cut becomes an `up` loop, because its iterations share the frame.
//!
//! Requires: a well-formed program. Ensures: the same statements run in the same order on the same
//! values; no function has more than [`LONG`] statements, but for one that consists of calls and of
//! single statements. Cost: linear.

mod pieces;

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::hash::HashSet;
use jut_ir::{RuntimeErrorKind, Span};

use crate::analysis::Roots;
use crate::form::{Block, LoopFuncId, LoopFunction, LoopProgram, Order, Site, Stmt, Value};
use crate::insert::{self, Moving};
use pieces::Pieces;
pub(crate) use pieces::{FRAME, FRAME_TOP};

/// Statements that a function may have.
pub const LONG: usize = 8192;

/// Statements of a piece.
pub const PIECE: usize = 2048;

/// Words of the frame of each function, by its number before the program was cut; zero for those that are
/// not cut.
pub type Frames = SecondaryMap<LoopFuncId, u32>;

/// Whether [`run`] has something to cut.
pub fn is_long(program: &LoopProgram) -> bool {
    has_more_than(program, LONG)
}

fn has_more_than(program: &LoopProgram, long: usize) -> bool {
    program.funcs.values().any(|f| f.body.size() > long)
}

/// Cuts every long function of a program.
pub fn run(program: &mut LoopProgram) -> Frames {
    run_with(program, LONG, PIECE)
}

/// Cuts functions of more than `long` statements into pieces of about `piece`.
pub fn run_with(program: &mut LoopProgram, long: usize, piece: usize) -> Frames {
    let mut frames = Frames::new();
    if !has_more_than(program, long) {
        return frames;
    }
    let entry = program.funcs.last().map(|(id, _)| id);
    let site = memory_site(program);
    insert::before(program, &mut |Moving { id, base, is_recursive, func }| {
        if func.body.size() <= long || is_recursive {
            return Vec::new();
        }
        let (parts, words) = cut(func, base, long, piece, Some(id) == entry, site);
        frames[id] = words;
        parts
    });
    frames
}

/// The allocations of a piece that other pieces may use, and that so end with the whole function.
pub fn left(func: &LoopFunction) -> HashSet<Value> {
    if !func.is_piece() {
        return HashSet::default();
    }
    Roots::of(func).stored(func)
}

/// A place that says that memory has run out: one that there is, or one without a text.
pub(crate) fn memory_site(program: &mut LoopProgram) -> Site {
    let is_memory =
        |(_, (kind, _)): &(Site, &(RuntimeErrorKind, Span))| *kind == RuntimeErrorKind::Memory;
    let known = program.sites.iter().find(is_memory).map(|(site, _)| site);
    known.unwrap_or_else(|| program.sites.push((RuntimeErrorKind::Memory, Span::NONE)))
}

/// Cuts a function; gives the pieces, which shall have the numbers from `base` on, and the words of the
/// frame.
fn cut(
    func: &mut LoopFunction,
    base: usize,
    long: usize,
    piece: usize,
    is_entry: bool,
    site: Site,
) -> (Vec<LoopFunction>, u32) {
    let mut groups = Groups { base, long, piece, bodies: Vec::new() };
    let mut body = std::mem::take(&mut func.body);
    groups.block(&mut body);
    let mut pieces = Pieces::new(func, base, groups.bodies.len());
    for (k, stmts) in groups.bodies.iter().enumerate() {
        pieces.note_definitions(Some(k), stmts);
    }
    pieces.note_definitions(None, &body.stmts);
    for (k, stmts) in groups.bodies.iter().enumerate() {
        pieces.note_uses(Some(k), stmts, &[]);
    }
    pieces.note_uses(None, &body.stmts, &body.results);
    let bodies = groups.bodies.into_iter().enumerate();
    let parts = bodies.map(|(k, stmts)| pieces.part(k, stmts)).collect();
    let words = pieces.whole(body, is_entry, site);
    (parts, words)
}

/// The statements that have been taken out of blocks, each list with a call in its place.
struct Groups {
    base: usize,
    long: usize,
    piece: usize,
    /// Per piece, its statements; inner pieces come before those around them.
    bodies: Vec<Vec<Stmt>>,
}

impl Groups {
    /// Cuts the blocks inside a block, and then the block itself; whether anything was cut.
    fn block(&mut self, block: &mut Block) -> bool {
        let mut cut = false;
        let mut weights = Vec::with_capacity(block.stmts.len());
        for stmt in &mut block.stmts {
            let mut inside = false;
            for inner in stmt.blocks_mut() {
                inside |= self.block(inner);
            }
            if let (Stmt::For(f), true) = (&mut *stmt, inside)
                && f.order == Order::Par
            {
                f.order = Order::Up;
            }
            cut |= inside;
            weights.push(stmt.size());
        }
        if weights.iter().sum::<usize>() <= self.long {
            return cut;
        }
        let mut group = Vec::new();
        let mut size = 0;
        for (stmt, weight) in std::mem::take(&mut block.stmts).into_iter().zip(weights) {
            if size > 0 && size + weight > self.piece {
                block.stmts.push(self.take(&mut group));
                size = 0;
            }
            size += weight;
            group.push(stmt);
        }
        if !group.is_empty() {
            block.stmts.push(self.take(&mut group));
        }
        true
    }

    /// A call in the place of a group; its arguments come later.
    fn take(&mut self, group: &mut Vec<Stmt>) -> Stmt {
        let func = LoopFuncId::new(self.base + self.bodies.len());
        self.bodies.push(std::mem::take(group));
        Stmt::Call { dst: Vec::new(), func, args: Vec::new(), shares: None }
    }
}
