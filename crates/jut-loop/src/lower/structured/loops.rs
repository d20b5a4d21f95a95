//! Structured primitives as loops: those without a kernel, and all of them where no kernel may be called.

use jut_ir::structured::nest::{self, Act, Nest, Range, Turn};
use jut_ir::structured::{Meaning, Side};
use jut_ir::{Span, Structured, prim};

use super::super::emit::{float, int};
use super::super::{Lowering, Res};
use super::{Factor, Goal, Indices};
use crate::form::{self, Atom, Cell, For, Kind, Lanes, Order, Value};

/// The arrays of a nest.
struct NestArrays<'a> {
    factors: &'a [Factor],
    sizes: &'a [(char, Atom)],
    /// The dimensions of the result.
    result: &'a [(char, Atom)],
    buffer: Value,
}

impl Lowering<'_> {
    /// Loops over dimensions, outermost first.
    pub(super) fn nest(
        &mut self,
        order: Order,
        sizes: &[(char, Atom)],
        indices: &mut Indices,
        body: &mut dyn FnMut(&mut Self, &Indices) -> Res<()>,
    ) -> Res<()> {
        let Some(((label, size), rest)) = sizes.split_first() else { return body(self, indices) };
        let index = self.value(&label.to_string(), Kind::I64);
        indices.push((*label, index.into()));
        let (stmts, ()) = self.nested(|this| this.nest(order, rest, indices, body))?;
        indices.pop();
        self.push(for_loop(order, index, *size, stmts));
        Ok(())
    }

    /// Cells that grow in memory, row by row: the summed dimension is the loop around a row. A factor that
    /// is the same in all of the row is read once.
    pub(super) fn sequence(
        &mut self,
        op: Structured,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        goal: Goal,
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let outer = &sizes[..op.row().result.len()];
        let (Some((label, size)), Some((row, around))) =
            (sizes.last().copied(), outer.split_last())
        else {
            return Err(self.bug(span, "a sum over nothing"));
        };
        let row = *row;
        let goal = Goal { add: true, ..goal };
        self.nest(Order::Par, around, &mut Vec::new(), &mut |this, indices| {
            let (buffer, _) = this.position(goal.buffer, outer, indices, hint, span)?;
            this.push(form::Stmt::Fill { buffer, len: row.1, value: float(0.0) });
            let index = this.value(&label.to_string(), Kind::I64);
            let mut inner = indices.clone();
            inner.push((label, index.into()));
            let (stmts, ()) = this.nested(|this| {
                let mut read = Vec::new();
                for factor in factors {
                    let labels = factor.labels.clone();
                    read.push(match labels.contains(&row.0) || labels.is_empty() {
                        true => Factor { labels, value: factor.value },
                        false => {
                            let one = [Factor { labels, value: factor.value }];
                            let value = this.term(&one, sizes, &inner, hint, span)?;
                            Factor { labels: Vec::new(), value }
                        }
                    });
                }
                this.nest(Order::Par, &[row], &mut inner, &mut |this, indices| {
                    let term = this.term(&read, sizes, indices, hint, span)?;
                    this.put(goal, outer, indices, term, hint, span)
                })
            })?;
            this.push(for_loop(Order::Up, index, size, stmts));
            Ok(())
        })
    }

    /// A convolution without a kernel: every product is added where it belongs, in rows that lie in one
    /// piece. All of them lie inside, whichever side is the result.
    pub(super) fn convolution(
        &mut self,
        op: Structured,
        factors: &[Factor],
        sizes: &[(char, Atom)],
        goal: Goal,
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let ([a, b], Meaning::Convolution(side), Some(([whole, along, window], above))) =
            (factors, op.row().meaning, op.windows().split_last())
        else {
            return Err(self.bug(span, "a convolution is of two arrays"));
        };
        let size = |label: char| sizes.iter().find(|(l, _)| *l == label).copied();
        let dims = |labels: &mut dyn Iterator<Item = char>| labels.filter_map(size).collect();
        let result: Vec<(char, Atom)> = dims(&mut op.row().result.chars());
        let columns = size(*along).map_or(int(0), |(_, n)| n);
        let cells = result.iter().fold(int(1), |n, (_, size)| self.mul("cells", n, *size));
        self.push(form::Stmt::Fill { buffer: goal.buffer, len: cells, value: float(0.0) });
        let goal = Goal { add: true, ..goal };
        let rows = above.iter().map(|w| w[1]).chain(above.iter().map(|w| w[2]));
        let around: Vec<(char, Atom)> =
            dims(&mut ['o', 'c'].into_iter().chain(rows).chain([*window]));
        self.nest(Order::Up, &around, &mut Vec::new(), &mut |this, indices| {
            let at = |indices: &Indices, label: char| {
                indices.iter().find(|(l, _)| *l == label).map_or(int(0), |(_, i)| *i)
            };
            let mut inner = indices.clone();
            for [whole, place, window] in above {
                let (i, u) = (at(indices, *place), at(indices, *window));
                let row = this.add("row", i, u);
                inner.push((*whole, row));
            }
            let v = at(indices, *window);
            let index = this.value(&along.to_string(), Kind::I64);
            inner.push((*along, index.into()));
            let carry = this.value("s", Kind::F64);
            let in_kernel = match side {
                Side::Kernel => None,
                Side::Output | Side::Input => {
                    let one = [Factor { labels: b.labels.clone(), value: b.value }];
                    Some(this.term(&one, sizes, &inner, hint, span)?)
                }
            };
            let (stmts, sum) = this.nested(|this| {
                let column = this.add("column", index.into(), v);
                inner.push((*whole, column));
                let a = Factor { labels: a.labels.clone(), value: a.value };
                let other = match in_kernel {
                    Some(value) => Factor { labels: Vec::new(), value },
                    None => Factor { labels: b.labels.clone(), value: b.value },
                };
                let term = this.term(&[other, a], sizes, &inner, hint, span)?;
                if side == Side::Kernel {
                    return Ok(this.prim("s", prim::ADD, vec![carry.into(), term]));
                }
                this.put(goal, &result, &inner, term, hint, span)?;
                Ok(float(0.0))
            })?;
            if side != Side::Kernel {
                this.push(for_loop(Order::Par, index, columns, stmts));
                return Ok(());
            }
            let total = this.sum_by_lanes(hint, index, columns, carry, stmts, sum);
            this.put(goal, &result, indices, total, hint, span)
        })
    }

    /// A nest, in a result that is filled with zeros, or added to where there are none.
    pub(super) fn nested_loops(
        &mut self,
        op: Structured,
        nests: &[Nest],
        factors: &[Factor],
        sizes: &[(char, Atom)],
        goal: Goal,
        span: Span,
    ) -> Res<()> {
        if goal.add {
            return Err(self.bug(span, "what loops over cells make is not added"));
        }
        let result: Vec<(char, Atom)> = op
            .row()
            .result
            .chars()
            .filter_map(|l| sizes.iter().find(|(name, _)| *name == l).copied())
            .collect();
        let cells = result.iter().fold(int(1), |n, (_, size)| self.mul("cells", n, *size));
        self.push(form::Stmt::Fill { buffer: goal.buffer, len: cells, value: float(0.0) });
        let arrays = NestArrays { factors, sizes, result: &result, buffer: goal.buffer };
        self.nests(nests, &arrays, &mut Vec::new(), span)
    }

    fn nests(
        &mut self,
        nests: &[Nest],
        arrays: &NestArrays<'_>,
        indices: &mut Indices,
        span: Span,
    ) -> Res<()> {
        for nest in nests {
            match *nest {
                Nest::Loop(turn, name, label, range, body) => {
                    let size = arrays.sizes.iter().find(|(l, _)| *l == label).map(|(_, n)| *n);
                    let Some(size) = size else {
                        return Err(self.bug(span, "a dimension has no size"));
                    };
                    let at = |i: char| {
                        indices.iter().find(|(l, _)| *l == i).map_or(int(0), |(_, index)| *index)
                    };
                    let (low, high) = match range {
                        Range::All => (int(0), size),
                        Range::Below(i) => (int(0), at(i)),
                        Range::To(i) => (int(0), self.add("end", at(i), int(1))),
                        Range::From(i) => (at(i), size),
                        Range::After(i) => (self.add("begin", at(i), int(1)), size),
                    };
                    let order = match turn {
                        Turn::Any => Order::Par,
                        Turn::Up => Order::Up,
                        Turn::Down => Order::Down,
                    };
                    let index = self.value(&name.to_string(), Kind::I64);
                    indices.push((name, index.into()));
                    let (stmts, ()) =
                        self.nested(|this| this.nests(body, arrays, indices, span))?;
                    indices.pop();
                    let form::Stmt::For(mut around) = for_loop(order, index, high, stmts) else {
                        return Err(self.bug(span, "a loop is expected"));
                    };
                    around.low = low;
                    self.push(form::Stmt::For(around));
                }
                Nest::Do(cell, act) => {
                    let (buffer, index) =
                        self.cell_at(arrays.buffer, arrays.result, cell.indices(), indices, span)?;
                    let old = |this: &mut Self| {
                        let dst = this.value("r", Kind::F64);
                        this.push(form::Stmt::Load { dst, buffer, index });
                        Atom::from(dst)
                    };
                    let value = match act {
                        Act::Set(x) => self.read_cell(x, arrays, indices, span)?,
                        Act::Add(x) => {
                            let x = self.read_cell(x, arrays, indices, span)?;
                            let r = old(self);
                            self.prim("r", prim::ADD, vec![r, x])
                        }
                        Act::Less(x, y) => {
                            let x = self.read_cell(x, arrays, indices, span)?;
                            let y = self.read_cell(y, arrays, indices, span)?;
                            let r = old(self);
                            let product = self.prim("p", prim::MUL, vec![x, y]);
                            self.prim("r", prim::SUB, vec![r, product])
                        }
                        Act::Over(x) => {
                            let x = self.read_cell(x, arrays, indices, span)?;
                            let r = old(self);
                            self.prim("r", prim::DIV, vec![r, x])
                        }
                        Act::Root => {
                            let r = old(self);
                            self.prim("r", prim::SQRT, vec![r])
                        }
                        Act::Halve => {
                            let r = old(self);
                            self.prim("r", prim::DIV, vec![r, float(2.0)])
                        }
                    };
                    self.push(form::Stmt::Store { buffer, index, value });
                }
            }
        }
        Ok(())
    }

    /// The cell of an array of these dimensions at indices by name.
    fn cell_at(
        &mut self,
        buffer: Value,
        dims: &[(char, Atom)],
        names: &str,
        indices: &Indices,
        span: Span,
    ) -> Res<(Value, Atom)> {
        let at = |name: char| {
            indices.iter().find(|(l, _)| *l == name).map_or(int(0), |(_, index)| *index)
        };
        // The dimensions by the names of the indices, which are each others' only here.
        let dims: Vec<(char, Atom)> =
            "01234567".chars().zip(dims.iter().map(|(_, size)| *size)).collect();
        let named: Indices =
            dims.iter().zip(names.chars()).map(|((l, _), n)| (*l, at(n))).collect();
        self.position(buffer, &dims, &named, "row", span)
    }

    fn read_cell(
        &mut self,
        cell: nest::Cell,
        arrays: &NestArrays<'_>,
        indices: &Indices,
        span: Span,
    ) -> Res<Atom> {
        let (buffer, dims) = match cell {
            nest::Cell::Result(_) => (arrays.buffer, arrays.result.to_vec()),
            nest::Cell::Operand(k, _) => {
                let Some(Factor { value: Atom::Value(buffer), labels }) = arrays.factors.get(k)
                else {
                    return Err(self.bug(span, "an operand is missing"));
                };
                let size = |l: &char| arrays.sizes.iter().find(|(name, _)| name == l).copied();
                (*buffer, labels.iter().filter_map(size).collect())
            }
        };
        let (buffer, index) = self.cell_at(buffer, &dims, cell.indices(), indices, span)?;
        let dst = self.value("x", Kind::F64);
        self.push(form::Stmt::Load { dst, buffer, index });
        Ok(dst.into())
    }

    /// The value of one cell.
    pub(super) fn cell(
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
        Ok(self.sum_by_lanes(hint, index, size, carry, stmts, sum))
    }

    /// A sum by lanes over the indices below a bound, of statements that add to what is carried; gives the total.
    fn sum_by_lanes(
        &mut self,
        hint: &str,
        index: Value,
        high: Atom,
        carry: Value,
        stmts: Vec<form::Stmt>,
        sum: Atom,
    ) -> Atom {
        let dst = self.value(hint, Kind::F64);
        self.push(form::Stmt::from(Lanes {
            dst: vec![dst],
            vector: None,
            index,
            low: int(0),
            high,
            carry: vec![carry],
            body: form::Block { stmts, results: vec![sum] },
        }));
        dst.into()
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
    pub(super) fn position(
        &mut self,
        buffer: Value,
        dims: &[(char, Atom)],
        indices: &Indices,
        hint: &str,
        span: Span,
    ) -> Res<(Value, Atom)> {
        // The rows and cells of a dimension that nothing counts are reached from its first.
        let index = |label: char| {
            indices.iter().find(|(l, _)| *l == label).map_or(int(0), |(_, index)| *index)
        };
        let Some(((last, _), outer)) = dims.split_last() else {
            return Err(self.bug(span, "a scalar has no cells"));
        };
        let mut row = int(0);
        for (k, (label, size)) in outer.iter().enumerate() {
            if k > 0 {
                row = self.mul("row", row, *size);
            }
            let i = index(*label);
            row = self.add("row", row, i);
        }
        let width = dims.last().map_or(int(1), |(_, size)| *size);
        let start = self.mul("row", row, width);
        let cell = index(*last);
        if start == int(0) {
            return Ok((buffer, cell));
        }
        let dst = self.value(hint, Kind::Buffer(Cell::F64));
        self.push(form::Stmt::Offset { dst, buffer, index: start });
        Ok((dst, cell))
    }

    /// Stores a cell of the result, or adds to it.
    pub(super) fn put(
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
    pub(super) fn vector(
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
        self.push(form::Stmt::from(For {
            dst: vec![total],
            order,
            vector: None,
            index,
            low: int(0),
            high: n,
            carry: vec![(carry, float(0.0))],
            body: form::Block { stmts, results: vec![sum] },
        }));
        Ok(())
    }
}

/// A loop from 0 without carries.
pub(super) fn for_loop(
    order: Order,
    index: Value,
    high: Atom,
    stmts: Vec<form::Stmt>,
) -> form::Stmt {
    form::Stmt::from(For {
        dst: Vec::new(),
        order,
        vector: None,
        index,
        low: int(0),
        high,
        carry: Vec::new(),
        body: form::Block { stmts, results: Vec::new() },
    })
}
