//! Visitors of the loop form.
//!
//! What a statement reads, what it binds, and which blocks stand in it, is said here and nowhere
//! else, in one match without an arm for the rest: a new statement does not compile before it has
//! said so too. [`Stmt::parts`] and [`Stmt::parts_mut`] give all of that: what is read and what
//! is bound inside, then the blocks, then what is bound behind.
//!
//! ```text
//! (r) = for up (i in low .. high) carry (a = a0) { .. }     operands   low, high, a0
//!                                                           entered    i, a
//!                                                           blocks     { .. }
//!                                                           bound      r
//! ```
//!
//! Everything else is made of them: questions about statements with all that is in them
//! ([`Stmt::any`], [`Stmt::atoms`], [`Block::size`]), and changes of a block from the inside out
//! ([`Block::rewrite`], [`Block::for_each_mut`]). A pass names a kind of statement only where it has
//! a rule for it.

use jut_ir::prim;

use crate::form::{Atom, Block, Check, For, Lanes, LoopFunction, LoopProgram, Stmt, Value};

/// A part of a statement, to be read.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A value or literal that the statement itself reads.
    Operand(&'a Atom),
    /// A value that it reads and that cannot be a literal: a buffer, or a mark.
    Place(&'a Value),
    /// A value that it binds in its blocks: the index of a loop, what is carried.
    Entered(&'a Value),
    /// A block in it.
    Block(&'a Block),
    /// A value that it binds for what stands behind it.
    Bound(&'a Value),
}

/// A part of a statement, to be changed.
#[derive(Debug)]
pub enum PartMut<'a> {
    /// As [`Part::Operand`].
    Operand(&'a mut Atom),
    /// As [`Part::Place`].
    Place(&'a mut Value),
    /// As [`Part::Entered`].
    Entered(&'a mut Value),
    /// As [`Part::Block`].
    Block(&'a mut Block),
    /// As [`Part::Bound`].
    Bound(&'a mut Value),
}

/// The one match, for both kinds of parts.
macro_rules! parts {
    ($stmt:expr, $Part:ident, $iter:ident $(, $mutable:tt)?; $visit:expr) => {{
        use $Part::{Block, Bound, Entered, Operand, Place};
        let visit = $visit;
        match $stmt {
            Stmt::Prim { dst, args, .. } => {
                args.$iter().for_each(|a| visit(Operand(a)));
                visit(Bound(dst));
            }
            Stmt::Copy { dst, src } | Stmt::Previous { dst, src, .. } => {
                visit(Operand(src));
                visit(Bound(dst));
            }
            Stmt::Load { dst, buffer, index } | Stmt::Offset { dst, buffer, index } => {
                visit(Place(buffer));
                visit(Operand(index));
                visit(Bound(dst));
            }
            Stmt::Store { buffer, index: at, value } | Stmt::Fill { buffer, len: at, value } => {
                visit(Place(buffer));
                visit(Operand(at));
                visit(Operand(value));
            }
            Stmt::Alloc { dst, len, .. } => {
                visit(Operand(len));
                visit(Bound(dst));
            }
            Stmt::Mark { dst, .. } => visit(Bound(dst)),
            Stmt::Release { mark, .. } => visit(Place(mark)),
            Stmt::CopyCells { dst, src, len, .. } => {
                visit(Place(dst));
                visit(Place(src));
                visit(Operand(len));
            }
            Stmt::For(inner) => {
                let For { dst, index, low, high, carry, body, .. } = &$($mutable)? **inner;
                visit(Operand(low));
                visit(Operand(high));
                visit(Entered(index));
                carry.$iter().for_each(|(v, initial)| {
                    visit(Operand(initial));
                    visit(Entered(v));
                });
                visit(Block(body));
                dst.$iter().for_each(|v| visit(Bound(v)));
            }
            Stmt::Lanes(inner) => {
                let Lanes { dst, vector: _, index, low, high, carry, body } = &$($mutable)? **inner;
                visit(Operand(low));
                visit(Operand(high));
                visit(Entered(index));
                carry.$iter().for_each(|v| visit(Entered(v)));
                visit(Block(body));
                dst.$iter().for_each(|v| visit(Bound(v)));
            }
            Stmt::If { dst, cond, then, other } => {
                visit(Operand(cond));
                visit(Block(then));
                visit(Block(other));
                dst.$iter().for_each(|v| visit(Bound(v)));
            }
            Stmt::Call { dst, args, .. } => {
                args.$iter().for_each(|a| visit(Operand(a)));
                dst.$iter().for_each(|v| visit(Bound(v)));
            }
            Stmt::Kernel { args, .. } => args.$iter().for_each(|a| visit(Operand(a))),
            Stmt::Poll { .. } => {}
            Stmt::Check { check, .. } => match check {
                Check::Below(a, b) | Check::Equal(a, b) => {
                    visit(Operand(a));
                    visit(Operand(b));
                }
                Check::Within(a, b, c) => {
                    visit(Operand(a));
                    visit(Operand(b));
                    visit(Operand(c));
                }
                Check::NonNegative(a) | Check::NonZero(a) => visit(Operand(a)),
            },
        }
    }};
}

impl Stmt {
    /// Every part: what it reads and binds in its blocks, then these, then what it binds behind it.
    pub fn parts<'a>(&'a self, visit: &mut impl FnMut(Part<'a>)) {
        parts!(self, Part, iter; visit);
    }

    /// Every part, to be changed.
    pub fn parts_mut<'a>(&'a mut self, visit: &mut impl FnMut(PartMut<'a>)) {
        parts!(self, PartMut, iter_mut, mut; visit);
    }

    /// Every atom that the statement itself reads: not what its blocks read, but bounds, initial
    /// carries, conditions and arguments, and buffers.
    pub fn operands(&self, visit: &mut impl FnMut(Atom)) {
        self.parts(&mut |part| match part {
            Part::Operand(a) => visit(*a),
            Part::Place(v) => visit(Atom::Value(*v)),
            Part::Entered(_) | Part::Block(_) | Part::Bound(_) => {}
        });
    }

    /// The same, to be changed. A buffer that must stay a value keeps being one: atoms that stand
    /// for buffers are only ever replaced by values.
    pub fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Atom)) {
        self.parts_mut(&mut |part| match part {
            PartMut::Operand(a) => visit(a),
            PartMut::Place(v) => {
                let mut atom = Atom::Value(*v);
                visit(&mut atom);
                if let Atom::Value(new) = atom {
                    *v = new;
                }
            }
            PartMut::Entered(_) | PartMut::Block(_) | PartMut::Bound(_) => {}
        });
    }

    /// The values that the statement binds behind it.
    pub fn bound(&self) -> &[Value] {
        match self {
            Stmt::Prim { dst, .. }
            | Stmt::Copy { dst, .. }
            | Stmt::Previous { dst, .. }
            | Stmt::Load { dst, .. }
            | Stmt::Offset { dst, .. }
            | Stmt::Alloc { dst, .. }
            | Stmt::Mark { dst, .. } => std::slice::from_ref(dst),
            Stmt::If { dst, .. } | Stmt::Call { dst, .. } => dst,
            Stmt::For(f) => &f.dst,
            Stmt::Lanes(l) => &l.dst,
            Stmt::Store { .. }
            | Stmt::Release { .. }
            | Stmt::Fill { .. }
            | Stmt::CopyCells { .. }
            | Stmt::Kernel { .. }
            | Stmt::Poll { .. }
            | Stmt::Check { .. } => &[],
        }
    }

    /// The values that it binds in its blocks: the index of a loop and what is carried.
    pub fn entered(&self) -> Vec<Value> {
        let mut entered = Vec::new();
        self.parts(&mut |part| {
            if let Part::Entered(v) = part {
                entered.push(*v);
            }
        });
        entered
    }

    /// The values that it binds, to be changed: first those in its blocks, then those behind it.
    pub fn binders_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.parts_mut(&mut |part| {
            if let PartMut::Entered(v) | PartMut::Bound(v) = part {
                visit(v);
            }
        });
    }

    /// The blocks in it.
    pub fn blocks(&self) -> Vec<&Block> {
        let mut blocks = Vec::new();
        self.parts(&mut |part| {
            if let Part::Block(block) = part {
                blocks.push(block);
            }
        });
        blocks
    }

    /// The blocks in it, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        let mut blocks = Vec::new();
        self.parts_mut(&mut |part| {
            if let PartMut::Block(block) = part {
                blocks.push(block);
            }
        });
        blocks
    }

    /// The integer that it chooses from two, or leaves of a division, if it does.
    pub fn may_choose(&self) -> Option<Value> {
        match self {
            Stmt::Prim {
                dst, prim: prim::IMAX | prim::IMIN | prim::ISELECT | prim::IREM, ..
            } => Some(*dst),
            _ => None,
        }
    }

    /// Whether its blocks may run more than once.
    pub fn is_loop(&self) -> bool {
        matches!(self, Stmt::For(_) | Stmt::Lanes(_))
    }

    /// What all counted loops have, if it is one.
    pub fn counted(&self) -> Option<Counted<'_>> {
        match self {
            Stmt::For(f) => {
                let go = f.carry.first().map(|(_, go)| *go).filter(|_| f.may_end_early());
                Some(Counted { index: f.index, low: f.low, high: f.high, go, body: &f.body })
            }
            Stmt::Lanes(l) => {
                let (index, low, high) = (l.index, l.low, l.high);
                Some(Counted { index, low, high, go: None, body: &l.body })
            }
            _ => None,
        }
    }

    /// Whether something holds for the statement or for one in it.
    pub fn any(&self, test: &mut impl FnMut(&Stmt) -> bool) -> bool {
        test(self) || self.blocks().into_iter().any(|block| block.any(test))
    }

    /// Every atom that the statement reads, or what is in it.
    pub fn atoms(&self, visit: &mut impl FnMut(Atom)) {
        self.operands(visit);
        self.blocks().into_iter().for_each(|block| block.atoms(visit));
    }

    /// The number of statements that it is, with those in it.
    pub fn size(&self) -> usize {
        1 + self.blocks().into_iter().map(Block::size).sum::<usize>()
    }
}

/// What all loops over a range of integers have.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The index.
    pub index: Value,
    /// The lowest index.
    pub low: Atom,
    /// One past the highest; nothing runs unless low < high.
    pub high: Atom,
    /// If it may end early: what has to be true, too, for anything to run.
    pub go: Option<Atom>,
    /// The body.
    pub body: &'a Block,
}

impl Block {
    /// Whether something holds for a statement in the block, however deep.
    pub fn any(&self, test: &mut impl FnMut(&Stmt) -> bool) -> bool {
        self.stmts.iter().any(|stmt| stmt.any(test))
    }

    /// Every statement in the block, each before what is in it.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Stmt)) {
        for stmt in &self.stmts {
            visit(stmt);
            stmt.blocks().into_iter().for_each(|inner| inner.for_each(visit));
        }
    }

    /// Every statement in the block, each behind what is in it, to be changed.
    pub fn for_each_mut(&mut self, visit: &mut impl FnMut(&mut Stmt)) {
        for stmt in &mut self.stmts {
            stmt.blocks_mut().into_iter().for_each(|inner| inner.for_each_mut(visit));
            visit(stmt);
        }
    }

    /// Puts other statements in the place of each, of those in it first: `change` writes them.
    pub fn rewrite(&mut self, change: &mut impl FnMut(Stmt, &mut Vec<Stmt>)) {
        let stmts = std::mem::take(&mut self.stmts);
        self.stmts.reserve(stmts.len());
        for mut stmt in stmts {
            stmt.blocks_mut().into_iter().for_each(|inner| inner.rewrite(change));
            change(stmt, &mut self.stmts);
        }
    }

    /// Every atom that is read in the block, its results among them.
    pub fn atoms(&self, visit: &mut impl FnMut(Atom)) {
        self.stmts.iter().for_each(|stmt| stmt.atoms(visit));
        self.results.iter().for_each(|a| visit(*a));
    }

    /// What its iterations ask of those before them ([`Stmt::Previous`]): names, and what there is in the first one.
    pub fn previous(&self) -> impl Iterator<Item = (Value, Atom)> {
        self.stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Previous { dst, first, .. } => Some((*dst, Atom::Lit(*first))),
            _ => None,
        })
    }

    /// The number of statements in it, however deep.
    pub fn size(&self) -> usize {
        self.stmts.iter().map(Stmt::size).sum()
    }
}

impl LoopFunction {
    /// Whether it calls a function of another language itself.
    pub fn calls_out(&self) -> bool {
        fn inside(block: &Block) -> bool {
            block.stmts.iter().any(|stmt| {
                matches!(stmt, Stmt::Kernel { kernel, .. } if *kernel == crate::kernel::FOREIGN)
                    || stmt.blocks().into_iter().any(inside)
            })
        }
        inside(&self.body)
    }
}

impl LoopProgram {
    /// The number of statements of all its functions.
    pub fn size(&self) -> usize {
        self.funcs.values().map(|function| function.body.size()).sum()
    }
}

impl From<For> for Stmt {
    fn from(inner: For) -> Stmt {
        Stmt::For(Box::new(inner))
    }
}

impl From<Lanes> for Stmt {
    fn from(inner: Lanes) -> Stmt {
        Stmt::Lanes(Box::new(inner))
    }
}
