//! Structured primitives: views are no code, products of matrices become calls of a kernel, all others loops.
//!
//! A product that is only added to an accumulator, `v = matmul(a, b); r += v`, is computed where it
//! is added: the kernel adds to the accumulator's cells, and no array is made for `v`. The gradient
//! of a weight matrix is one such call. The bits are those of computing `v` first, because a cell is
//! computed in registers and added at the end; an operation whose cells grow in memory
//! ([`Order::Sequence`]) is computed first.

use jut_ir::structured::{Meaning, Order as Sum, Param};
use jut_ir::{Atom as Operand, NVar, Place, Rhs, Size, Span, Stmt, Structured, Type, prim};
use jut_runtime::matrix;

use super::emit::{float, int};
use super::{Lowering, Res, Slot, Target};
use crate::form::{self, Arena, Atom, Cell, For, Kind, Lanes, Order, Value};
use crate::kernel::MATMUL;

/// A product that waits for the accumulator it is added to.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    op: Structured,
    args: Vec<Operand>,
    sizes: Vec<Size>,
}

/// Where cells go.
#[derive(Clone, Copy)]
struct Goal {
    buffer: Value,
    /// Whether they are added to what is there.
    add: bool,
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
        let Some(v) = stmt.nl.first().copied() else { return Ok(()) };
        if self.waits(v, op) {
            self.waiting.insert(v, Waiting { op, args: args.to_vec(), sizes: sizes.to_vec() });
            return Ok(());
        }
        let span = stmt.loc.span;
        if let (true, [a]) = (op.is_view(), args) {
            let slots = self.slots(*a, span)?;
            return self.bind_one(stmt, slots.to_vec());
        }
        let (ty, hint) = (self.type_of(v), self.name_of(v));
        if ty == Type::F64 {
            let factors = self.factors(op, args, span)?;
            let sizes = self.label_sizes(op, args, sizes, span)?;
            let value = self.cell(op, &factors, &sizes, &Vec::new(), &hint, span)?;
            return self.bind_one(stmt, vec![Slot::scalar(value)]);
        }
        let dests = self.take_dests(v);
        let (slots, buffers) = self.array_buffers(&hint, &ty, &dests, span)?;
        if let [buffer] = buffers[..] {
            let goal = Goal { buffer, add: false };
            self.fill_array(op, args, sizes, goal, &hint, span)?;
        }
        self.bind(v, slots);
        Ok(())
    }

    /// Whether a result is computed where it is added to an accumulator.
    fn waits(&self, v: NVar, op: Structured) -> bool {
        let in_one_go = matches!(
            op.row().meaning,
            Meaning::Contraction(Sum::None | Sum::Lanes | Sum::Chain(_))
        );
        let array = self.src.nvars[v].ty.size().is_some();
        in_one_go && array && self.added.get(v).copied().unwrap_or(false)
    }

    /// Marks the variables that a block adds to an accumulator and uses nowhere else.
    pub(super) fn mark_added(&mut self, stmt: &Stmt) {
        if let Rhs::Inc(_, jut_ir::Operand::N(Operand::Var(v))) = &stmt.rhs
            && self.uses.get(*v) == Some(&1)
        {
            self.added[*v] = true;
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
        let [Target::Block(buffer)] = reached.targets[..] else {
            return Err(self.bug(span, "a product is added to what is no array of floats"));
        };
        let hint = self.name_of(v);
        self.fill_array(op, &args, &sizes, Goal { buffer, add: true }, &hint, span)?;
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
        span: Span,
    ) -> Res<Vec<(char, Atom)>> {
        let mut known: Vec<(char, Size)> = Vec::new();
        let (mut args, mut sizes) = (args.iter(), sizes.iter());
        for param in op.row().params {
            match param {
                Param::Size(name) => known.extend(sizes.next().map(|s| (*name, s.clone()))),
                Param::Array(names) => {
                    let Some(arg) = args.next() else { continue };
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
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let factors = self.factors(op, args, span)?;
        let sizes = self.label_sizes(op, args, sizes, span)?;
        let outer = op.row().result.len();
        match op.row().meaning {
            Meaning::Contraction(Sum::Chain(flags)) => {
                let [a, b] = &factors[..] else { return Err(self.bug(span, "two matrices")) };
                let operands = [goal.buffer.into(), a.value, b.value];
                let &[(_, m), (_, n), (_, k)] = &sizes[..] else {
                    return Err(self.bug(span, "three sizes"));
                };
                let flags = flags | if goal.add { matrix::ADD } else { 0 };
                self.product(operands, [m, n, k], flags, span);
                Ok(())
            }
            Meaning::Contraction(Sum::Sequence) if sizes.len() > outer => {
                self.sequence(op, &factors, &sizes, goal, hint, span)
            }
            Meaning::Contraction(_) => {
                self.nest(&sizes[..outer], &mut Vec::new(), &mut |this, indices| {
                    let cell = this.cell(op, &factors, &sizes, indices, hint, span)?;
                    this.put(goal, &sizes[..outer], indices, cell, hint, span)
                })
            }
            meaning => self.vector(meaning, &factors, &sizes, goal, hint, span),
        }
    }

    /// A product of matrices: the kernel, with scratch memory for it.
    fn product(&mut self, [c, a, b]: [Atom; 3], [m, n, k]: [Atom; 3], flags: i64, span: Span) {
        let mark = self.value("top", Kind::I64);
        self.push(form::Stmt::Mark { dst: mark, arena: Arena::Temp });
        // The same as `matrix::scratch` for sizes that are not negative.
        let smaller = |this: &mut Self, size: Atom, most: usize| match size {
            Atom::Lit(jut_ir::Literal::I64(x)) => int(x.clamp(0, most as i64)),
            size => this.prim("part", prim::IMIN, vec![size, int(most as i64)]),
        };
        let depth = smaller(self, k, matrix::INNER);
        let rows = smaller(self, m, matrix::ROWS);
        let columns = smaller(self, n, matrix::COLUMNS);
        let columns = self.add("part", columns, int(matrix::SPARE_COLUMNS as i64));
        let both = self.add("part", rows, columns);
        let both = self.add("part", both, int(matrix::SPARE_ROWS as i64));
        let mut cells = self.mul("space", depth, both);
        if flags & matrix::ADD != 0 {
            let sums = self.mul("space", rows, columns);
            cells = self.add("space", cells, sums);
        }
        let scratch = self.value("scratch", Kind::Buffer(Cell::F64));
        self.alloc(scratch, Cell::F64, cells, Arena::Temp, span);
        let args = vec![c, a, b, scratch.into(), m, n, k, int(flags)];
        self.push(form::Stmt::Kernel { kernel: MATMUL, args });
        self.push(form::Stmt::Release { mark, arena: Arena::Temp });
    }

    /// Loops over dimensions, outermost first.
    fn nest(
        &mut self,
        sizes: &[(char, Atom)],
        indices: &mut Indices,
        body: &mut dyn FnMut(&mut Self, &Indices) -> Res<()>,
    ) -> Res<()> {
        let Some(((label, size), rest)) = sizes.split_first() else { return body(self, indices) };
        let index = self.value(&label.to_string(), Kind::I64);
        indices.push((*label, index.into()));
        let (stmts, ()) = self.nested(|this| this.nest(rest, indices, body))?;
        indices.pop();
        self.push(for_loop(Order::Par, index, *size, stmts));
        Ok(())
    }

    /// Cells that grow in memory: the summed dimension is the outermost loop.
    fn sequence(
        &mut self,
        op: Structured,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        goal: Goal,
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let outer = &sizes[..op.row().result.len()];
        let Some((label, size)) = sizes.last().copied() else {
            return Err(self.bug(span, "a sum over nothing"));
        };
        let len = outer.iter().fold(int(1), |n, (_, size)| self.mul("cells", n, *size));
        self.push(form::Stmt::Fill { buffer: goal.buffer, len, value: float(0.0) });
        let index = self.value(&label.to_string(), Kind::I64);
        let mut indices = vec![(label, index.into())];
        let goal = Goal { add: true, ..goal };
        let (stmts, ()) = self.nested(|this| {
            this.nest(outer, &mut indices, &mut |this, indices| {
                let term = this.term(factors, sizes, indices, hint, span)?;
                this.put(goal, outer, indices, term, hint, span)
            })
        })?;
        self.push(for_loop(Order::Up, index, size, stmts));
        Ok(())
    }

    /// The value of one cell.
    fn cell(
        &mut self,
        op: Structured,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        indices: &Indices,
        hint: &str,
        span: Span,
    ) -> Res<Atom> {
        let Some((label, size)) = sizes.get(op.row().result.len()).copied() else {
            return self.term(factors, sizes, indices, hint, span);
        };
        let index = self.value(&label.to_string(), Kind::I64);
        let carry = self.value("s", Kind::F64);
        let mut inner = indices.clone();
        inner.push((label, index.into()));
        let (stmts, sum) = self.nested(|this| {
            let term = this.term(factors, sizes, &inner, hint, span)?;
            Ok(this.prim("s", prim::ADD, vec![carry.into(), term]))
        })?;
        let dst = self.value(hint, Kind::F64);
        self.push(form::Stmt::Lanes(Box::new(Lanes {
            dst: vec![dst],
            index,
            low: int(0),
            high: size,
            carry: vec![carry],
            body: form::Block { stmts, results: vec![sum] },
        })));
        Ok(dst.into())
    }

    /// The product of the operands' cells.
    fn term(
        &mut self,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        indices: &Indices,
        hint: &str,
        span: Span,
    ) -> Res<Atom> {
        let mut product: Option<Atom> = None;
        for factor in factors {
            let cell = match factor.value {
                Atom::Value(buffer) if !factor.labels.is_empty() => {
                    let dims: Vec<(char, Atom)> = factor
                        .labels
                        .iter()
                        .filter_map(|l| sizes.iter().find(|(name, _)| name == l).copied())
                        .collect();
                    let (buffer, index) = self.position(buffer, &dims, indices, hint, span)?;
                    let dst = self.value(hint, Kind::F64);
                    self.push(form::Stmt::Load { dst, buffer, index });
                    dst.into()
                }
                scalar => scalar,
            };
            product = Some(match product {
                None => cell,
                Some(p) => self.prim(hint, prim::MUL, vec![p, cell]),
            });
        }
        product.ok_or_else(|| self.bug(span, "a product of nothing"))
    }

    /// The cell of an array at given indices: a row, and a cell of it.
    fn position(
        &mut self,
        buffer: Value,
        dims: &[(char, Atom)],
        indices: &Indices,
        hint: &str,
        span: Span,
    ) -> Res<(Value, Atom)> {
        let index = |label: char| indices.iter().find(|(l, _)| *l == label).map(|(_, i)| *i);
        let Some(((last, _), outer)) = dims.split_last() else {
            return Err(self.bug(span, "a scalar has no cells"));
        };
        let mut row = int(0);
        for (k, (label, size)) in outer.iter().enumerate() {
            if k > 0 {
                row = self.mul("row", row, *size);
            }
            let i = index(*label).unwrap_or(int(0));
            row = self.add("row", row, i);
        }
        let width = dims.last().map_or(int(1), |(_, size)| *size);
        let start = self.mul("row", row, width);
        let cell = index(*last).unwrap_or(int(0));
        if start == int(0) {
            return Ok((buffer, cell));
        }
        let dst = self.value(hint, Kind::Buffer(Cell::F64));
        self.push(form::Stmt::Offset { dst, buffer, index: start });
        Ok((dst, cell))
    }

    /// Stores a cell of the result, or adds to it.
    fn put(
        &mut self,
        goal: Goal,
        dims: &[(char, Atom)],
        indices: &Indices,
        value: Atom,
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let (buffer, index) = self.position(goal.buffer, dims, indices, hint, span)?;
        if goal.add {
            return self.add_to_cell(hint, Kind::F64, buffer, index, value, span);
        }
        self.push(form::Stmt::Store { buffer, index, value });
        Ok(())
    }

    /// The rows that are no contractions.
    fn vector(
        &mut self,
        meaning: Meaning,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        goal: Goal,
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let ([Factor { value: Atom::Value(x), .. }], &[(_, n)]) = (factors, sizes) else {
            return Err(self.bug(span, "a vector is expected"));
        };
        let x = *x;
        let index = self.value("i", Kind::I64);
        if meaning == Meaning::Reverse {
            let (stmts, ()) = self.nested(|this| {
                let last = this.sub("last", n, int(1));
                let from = this.sub("from", last, index.into());
                let dst = this.value(hint, Kind::F64);
                this.push(form::Stmt::Load { dst, buffer: x, index: from });
                let cell = form::Stmt::Store {
                    buffer: goal.buffer,
                    index: index.into(),
                    value: dst.into(),
                };
                this.push(cell);
                Ok(())
            })?;
            self.push(for_loop(Order::Par, index, n, stmts));
            return Ok(());
        }
        let order = match meaning {
            Meaning::RunningSumFromEnd => Order::Down,
            _ => Order::Up,
        };
        let (carry, total) = (self.value("s", Kind::F64), self.value("s", Kind::F64));
        let (stmts, sum) = self.nested(|this| {
            let dst = this.value(hint, Kind::F64);
            this.push(form::Stmt::Load { dst, buffer: x, index: index.into() });
            let sum = this.prim("s", prim::ADD, vec![carry.into(), dst.into()]);
            let cell = form::Stmt::Store { buffer: goal.buffer, index: index.into(), value: sum };
            this.push(cell);
            Ok(sum)
        })?;
        self.push(form::Stmt::For(Box::new(For {
            dst: vec![total],
            order,
            index,
            low: int(0),
            high: n,
            carry: vec![(carry, float(0.0))],
            body: form::Block { stmts, results: vec![sum] },
        })));
        Ok(())
    }
}

/// A loop from 0 without carries.
fn for_loop(order: Order, index: Value, high: Atom, stmts: Vec<form::Stmt>) -> form::Stmt {
    form::Stmt::For(Box::new(For {
        dst: Vec::new(),
        order,
        index,
        low: int(0),
        high,
        carry: Vec::new(),
        body: form::Block { stmts, results: Vec::new() },
    }))
}
