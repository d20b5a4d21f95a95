//! Structured primitives: views are no code, products and convolutions become calls of a kernel, all
//! others loops ([`loops`]). Where no kernel may be called, everything is a loop, with rounded
//! products and perhaps another order of sums.
//!
//! A product that is only added to an accumulator, `v = matmul(a, b); r += v`, is computed where it
//! is added: the kernel adds to the accumulator's cells, and no array is made for `v`. The gradient
//! of a weight matrix is one such call. The bits are those of computing `v` first, because a cell is
//! computed in registers and added at the end; an operation whose cells grow in memory
//! ([`Order::Sequence`]) is computed first.

use std::collections::HashSet;

use jut_ir::structured::{self, Call, Meaning, Order as Sum, Param, Room};
use jut_ir::{Atom as Operand, Block, NVar, Place, Rhs, Size, Span, Stmt, Structured, Type, prim};
use jut_runtime::{matrix, triangular};

use super::emit::int;
use super::{Kernels, Lowering, Res, Slot, Storage};
use crate::form::{self, Arena, Atom, Cell, Kind, Order, Value};
use crate::kernel::{self, Kernel};
use loops::for_loop;

mod loops;

/// Inner products of vectors shorter than this are loops: the call would cost more.
const SHORT: i64 = 32;

/// The kernel of a primitive.
fn kernel_of(op: Structured) -> Option<(Call, Kernel)> {
    let call = op.row().kernel?;
    Some((call, Kernel::find(call.kernel)?))
}

/// A product that waits for the accumulator it is added to.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    op: Structured,
    args: Vec<Operand>,
    sizes: Vec<Size>,
}

/// Whether a variable is only added to an accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Added {
    /// It is not.
    #[default]
    No,
    /// It is.
    Later,
    /// It is, and nothing before that changes an array in place.
    Soon,
}

/// Where cells go.
#[derive(Clone, Copy)]
struct Goal {
    buffer: Value,
    /// Whether they are added to what is there.
    add: bool,
}

/// What a kernel is given: the result and the operands, the sizes, the flags.
struct Given {
    /// How many matrices there are, if it is a batch.
    batch: Option<Atom>,
    buffers: Vec<Atom>,
    sizes: Vec<Atom>,
    flags: i64,
}

/// An operand: a buffer with its named dimensions, or a float.
struct Factor {
    labels: Vec<char>,
    value: Atom,
}

/// The loops around a cell: the name of each dimension with the index.
type Indices = Vec<(char, Atom)>;

impl Lowering<'_> {
    /// Lowers `v = op(args)`.
    pub(super) fn structured(
        &mut self,
        stmt: &Stmt,
        op: Structured,
        args: &[Operand],
        sizes: &[Size],
    ) -> Res<()> {
        let span = stmt.loc.span;
        let Some(v) = stmt.nl.first().copied() else {
            return Err(self.bug(span, "an array has no name"));
        };
        if self.waits(v, op) {
            self.waiting.insert(v, Waiting { op, args: args.to_vec(), sizes: sizes.to_vec() });
            return Ok(());
        }
        if let (true, [a]) = (op.is_view(), args) {
            let slots = self.slots(*a, span)?;
            return self.bind_one(stmt, slots.to_vec());
        }
        let (ty, hint) = (self.type_of(v), self.name_of(v));
        if ty.is_float() {
            let factors = self.factors(op, args, span)?;
            let sizes = self.label_sizes(op, args, sizes, &ty, span)?;
            let value = match (op, &sizes[..]) {
                (structured::DOT, &[(_, n)]) if self.cx.kernels == Kernels::Calls => {
                    self.dot(op, &factors, n, &hint, span)?
                }
                _ => self.cell(op, &factors, &sizes, &Vec::new(), &hint, span)?,
            };
            return self.bind_one(stmt, vec![Slot::scalar(value)]);
        }
        let dests = self.take_dests(v);
        let (slots, buffers) = self.array_buffers(&hint, &ty, &dests, span)?;
        if let [buffer] = buffers[..] {
            let goal = Goal { buffer, add: false };
            self.fill_array(op, args, sizes, goal, (&hint, &ty), span)?;
        }
        self.bind(v, slots);
        Ok(())
    }

    /// Whether a result is computed where it is added to an accumulator.
    fn waits(&self, v: NVar, op: Structured) -> bool {
        let in_one_go = match op.row().meaning {
            _ if self.cx.kernels == Kernels::Calls && op.row().kernel.is_some_and(Call::adds) => {
                true
            }
            Meaning::Contraction(Sum::None | Sum::Lanes) => true,
            _ => false,
        };
        let array = self.src.nvars[v].ty.size().is_some();
        let added = self.added.get(v).copied();
        // Where arrays change in place, its operands may have changed by then.
        let unchanged = |added| added == Added::Soon || self.reuse.is_empty();
        in_one_go && array && added.is_some_and(|added| added != Added::No && unchanged(added))
    }

    /// Marks the variables that a block adds to an accumulator and uses nowhere else.
    pub(super) fn mark_added(&mut self, block: &Block) {
        let mut soon = HashSet::new();
        for stmt in block.stmts.iter().rev() {
            match &stmt.rhs {
                Rhs::Inc(_, jut_ir::Operand::N(Operand::Var(v))) => {
                    if self.uses.get(*v) == Some(&1) {
                        self.added[*v] = Added::Later;
                        soon.insert(*v);
                    }
                }
                Rhs::Structured(..) => {
                    for v in stmt.nl.iter().filter(|v| soon.contains(v)) {
                        self.added[*v] = Added::Soon;
                    }
                }
                Rhs::Prim(..) | Rhs::Index(..) | Rhs::Inc(..) => {}
                // What begins here may change an array in place.
                _ => soon.clear(),
            }
        }
    }

    /// `place += v` for a result that waits; `None` for any other.
    pub(super) fn add_waiting(
        &mut self,
        place: &Place,
        atom: Operand,
        span: Span,
    ) -> Res<Option<()>> {
        let Operand::Var(v) = atom else { return Ok(None) };
        let Some(Waiting { op, args, sizes }) = self.waiting.remove(&v) else { return Ok(None) };
        let (_, reached) = self.place(place, span)?;
        let [Storage::Block(buffer)] = reached.storage[..] else {
            return Err(self.bug(span, "a product is added to what is no array of floats"));
        };
        let (hint, ty) = (self.name_of(v), self.type_of(v));
        self.fill_array(op, &args, &sizes, Goal { buffer, add: true }, (&hint, &ty), span)?;
        Ok(Some(()))
    }

    fn factors(&mut self, op: Structured, args: &[Operand], span: Span) -> Res<Vec<Factor>> {
        let mut factors = Vec::new();
        for (k, arg) in op.arrays().zip(args) {
            let Param::Array(names) = op.row().params[k] else { continue };
            match *self.slots(*arg, span)? {
                [slot] => {
                    factors.push(Factor { labels: names.chars().collect(), value: slot.atom });
                }
                _ => return Err(self.bug(span, "an array of floats is expected")),
            }
        }
        Ok(factors)
    }

    /// The size of each named dimension, in the order of [`Structured::labels`].
    fn label_sizes(
        &mut self,
        op: Structured,
        args: &[Operand],
        sizes: &[Size],
        result: &Type,
        span: Span,
    ) -> Res<Vec<(char, Atom)>> {
        let mut known: Vec<(char, Size)> = Vec::new();
        let (mut args, mut sizes) = (args.iter(), sizes.iter());
        for param in op.row().params {
            match param {
                Param::Size(name) => {
                    let Some(size) = sizes.next() else {
                        return Err(self.bug(span, "a primitive lacks a size"));
                    };
                    known.push((*name, size.clone()));
                }
                Param::Array(names) => {
                    let Some(arg) = args.next() else {
                        return Err(self.bug(span, "a primitive lacks an operand"));
                    };
                    let mut ty = self.src.type_of(*arg);
                    for name in names.chars() {
                        let Type::Array(size, element) = ty else {
                            return Err(self.bug(span, "an array lacks a dimension"));
                        };
                        known.push((name, size));
                        ty = *element;
                    }
                }
            }
        }
        known.extend(op.row().result.chars().zip(result.dimensions()));
        let mut sizes = Vec::new();
        for label in op.labels() {
            let Some((_, size)) = known.iter().find(|(name, _)| *name == label) else {
                return Err(self.bug(span, "a dimension has no size"));
            };
            let size = size.clone();
            sizes.push((label, self.size(&size, span)?));
        }
        Ok(sizes)
    }

    /// Computes all cells of an array.
    fn fill_array(
        &mut self,
        op: Structured,
        args: &[Operand],
        sizes: &[Size],
        goal: Goal,
        (hint, ty): (&str, &Type),
        span: Span,
    ) -> Res<()> {
        let factors = self.factors(op, args, span)?;
        let sizes = self.label_sizes(op, args, sizes, ty, span)?;
        let outer = op.row().result.len();
        let calls = self.cx.kernels == Kernels::Calls;
        if let (true, Some((call, kernel))) = (calls, kernel_of(op)) {
            let size = |label| sizes.iter().find(|(l, _)| *l == label).map_or(int(1), |(_, n)| *n);
            let batch = (call.room == Room::Product && outer == 3).then(|| sizes[0].1);
            let given = Given {
                batch,
                buffers: [goal.buffer.into()]
                    .into_iter()
                    .chain(factors.iter().map(|f| f.value))
                    .collect(),
                sizes: call.sizes.chars().map(size).collect(),
                flags: call.flags | if goal.add { matrix::ADD } else { 0 },
            };
            return self.call_kernel(kernel, call.room, given, span);
        }
        match op.row().meaning {
            Meaning::Contraction(sum)
                if sizes.len() > outer
                    && match sum {
                        Sum::Chain => {
                            op.row().kernel.is_none_or(|c| c.flags & matrix::B_TRANSPOSED == 0)
                        }
                        sum => sum == Sum::Sequence,
                    } =>
            {
                self.sequence(op, &factors, &sizes, goal, hint, span)
            }
            Meaning::Contraction(_) => {
                self.nest(Order::Par, &sizes[..outer], &mut Vec::new(), &mut |this, indices| {
                    let cell = this.cell(op, &factors, &sizes, indices, hint, span)?;
                    this.put(goal, &sizes[..outer], indices, cell, hint, span)
                })
            }
            Meaning::Convolution(_) => self.convolution(op, &factors, &sizes, goal, hint, span),
            Meaning::Nested(_, nest) => self.nested_loops(op, nest, &factors, &sizes, goal, span),
            meaning => self.vector(meaning, &factors, &sizes, goal, hint, span),
        }
    }

    /// An inner product: a loop if it is short, and else the kernel, with the same bits.
    fn dot(
        &mut self,
        op: Structured,
        factors: &[Factor],
        n: Atom,
        hint: &str,
        span: Span,
    ) -> Res<Atom> {
        let long = self.prim("long", prim::IGE, vec![n, int(SHORT)]);
        let (called, value) = self.nested(|this| {
            let mark = this.value("top", Kind::I64);
            this.push(form::Stmt::Mark { dst: mark, arena: Arena::Temp });
            let cell = this.value("cell", Kind::Buffer(Cell::F64));
            this.alloc(cell, Cell::F64, int(1), Arena::Temp, span);
            let mut args = vec![cell.into()];
            args.extend(factors.iter().map(|factor| factor.value));
            args.extend([n, int(0)]);
            this.push(form::Stmt::Kernel { kernel: kernel::DOT, args });
            let dst = this.value(hint, Kind::F64);
            this.push(form::Stmt::Load { dst, buffer: cell, index: int(0) });
            this.push(form::Stmt::Release { mark, arena: Arena::Temp });
            Ok(Atom::from(dst))
        })?;
        let (looped, sum) = self.nested(|this| {
            let sizes: Vec<(char, Atom)> = op.labels().into_iter().map(|l| (l, n)).collect();
            this.cell(op, factors, &sizes, &Vec::new(), hint, span)
        })?;
        let dst = self.value(hint, Kind::F64);
        self.push(form::Stmt::If {
            dst: vec![dst],
            cond: long,
            then: form::Block { stmts: called, results: vec![value] },
            other: form::Block { stmts: looped, results: vec![sum] },
        });
        Ok(dst.into())
    }

    /// Calls a kernel, with scratch memory if it needs any; or one for each index of a batch of matrices.
    fn call_kernel(&mut self, kernel: Kernel, room: Room, given: Given, span: Span) -> Res<()> {
        let Given { batch, mut buffers, sizes, flags } = given;
        let cells = match (room, &sizes[..]) {
            (Room::None, _) => None,
            (Room::Product, [m, n, k]) => Some(self.room([*m, *n, *k], flags)),
            (Room::Triangular, [n, m]) => {
                // The same as `triangular::scratch` for sizes that are not negative.
                let block = self.smaller(*n, triangular::BLOCK);
                let both = self.add("both", *n, *m);
                let twice = self.mul("part", block, int(2));
                let own = self.add("part", both, twice);
                let own = self.mul("space", block, own);
                let products = self.room([*n, both, *n], matrix::ADD);
                Some(self.add("space", own, products))
            }
            _ => return Err(self.bug(span, "a kernel takes other sizes")),
        };
        let mark = self.value("top", Kind::I64);
        if let Some(cells) = cells {
            self.push(form::Stmt::Mark { dst: mark, arena: Arena::Temp });
            let scratch = self.value("scratch", Kind::Buffer(Cell::F64));
            self.alloc(scratch, Cell::F64, cells, Arena::Temp, span);
            buffers.push(scratch.into());
        }
        let call = |buffers: Vec<Atom>| {
            let integers = sizes.iter().copied().chain([int(flags)]);
            form::Stmt::Kernel { kernel, args: buffers.into_iter().chain(integers).collect() }
        };
        match (batch, &sizes[..]) {
            (Some(size), [m, n, k]) => {
                let index = self.value("b", Kind::I64);
                let (stmts, ()) = self.nested(|this| {
                    for (part, (x, y)) in buffers.iter_mut().zip([(m, n), (m, k), (k, n)]) {
                        let Atom::Value(buffer) = *part else { continue };
                        let cells = this.mul("cells", *x, *y);
                        let start = this.mul("start", index.into(), cells);
                        let dst = this.value("matrix", Kind::Buffer(Cell::F64));
                        this.push(form::Stmt::Offset { dst, buffer, index: start });
                        *part = dst.into();
                    }
                    this.push(call(buffers));
                    Ok(())
                })?;
                self.push(for_loop(Order::Up, index, size, stmts));
            }
            _ => self.push(call(buffers)),
        }
        if cells.is_some() {
            self.push(form::Stmt::Release { mark, arena: Arena::Temp });
        }
        Ok(())
    }

    fn smaller(&mut self, size: Atom, most: usize) -> Atom {
        match size {
            Atom::Lit(jut_ir::Literal::I64(x)) => int(x.clamp(0, most as i64)),
            size => self.prim("part", prim::IMIN, vec![size, int(most as i64)]),
        }
    }

    /// The same as `matrix::scratch` for sizes that are not negative.
    fn room(&mut self, [m, n, k]: [Atom; 3], flags: i64) -> Atom {
        let depth = self.smaller(k, matrix::INNER);
        let rows = self.smaller(m, matrix::ROWS);
        let columns = self.smaller(n, matrix::COLUMNS);
        let columns = self.add("part", columns, int(matrix::SPARE_COLUMNS as i64));
        let both = self.add("part", rows, columns);
        let both = self.add("part", both, int(matrix::SPARE_ROWS as i64));
        let cells = self.mul("space", depth, both);
        if flags & matrix::ADD == 0 {
            return cells;
        }
        let sums = self.mul("space", rows, columns);
        self.add("space", cells, sums)
    }
}
