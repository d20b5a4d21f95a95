//! Slices of several dimensions: `x[a .. b, j]`, `x[a .. b, c .. d]`.
//!
//! Every index of a list is for a dimension of its own. Where the cells lie in one piece (single indices,
//! then at most one slice, then whole dimensions) the result is a view. Otherwise it is copied, row by
//! row, by one loop for every slice but the last:
//!
//! ```text
//! y = x[a .. b, c .. d]     m = b - a; check a ..+ m <= n; k = d - c; check c ..+ k <= p
//!                           rows = x[a ..+ m]
//!                           y = scan par (i < m) slice (row <- rows) { t = row[c ..+ k]; (t) }
//! ```
//!
//! All checks stand before the loops: none is repeated. The derivative is that of the loop, and
//! costs no more than the copy. So it is where such a slice is a place, `x[a .. b, j] = y` and `x with [a .. b, j] = y`.

use super::Res;
use super::body::Body;
use super::head::Head;
use super::made::{Out, Values};
use crate::ast::{Index, Name};
use jut_ir::{Atom, Check, Dir, Literal, NVar, Rhs, Size, Span, Step, Type};

/// Whether something follows a slice in a list of indices.
pub(crate) fn is_region(list: &[Index]) -> bool {
    list.iter().position(|i| !matches!(i, Index::At { .. })).is_some_and(|k| k + 1 < list.len())
}

impl<'a, 's> Body<'a, 's> {
    /// `x[a .. b, j]`.
    pub fn region(&mut self, value: NVar, list: &[Index], span: Span) -> Res<Out> {
        let steps = self.region_steps(value, list, span)?;
        self.cells(value, &steps, span)
    }

    /// The steps of a list of indices, each in a dimension of its own, behind their checks.
    pub fn region_steps(&mut self, value: NVar, list: &[Index], span: Span) -> Res<Vec<Step>> {
        let mut ty = self.b.func.nvars[value].ty.clone();
        let mut steps: Vec<Step> = Vec::new();
        let mut lengths: Vec<Size> = Vec::new();
        for (k, index) in list.iter().enumerate() {
            let Type::Array(size, element) = ty else { return self.no_dimension(&ty, k, span) };
            steps.push(self.step(index, &size, span)?);
            lengths.push(size);
            ty = *element;
        }
        // A whole dimension at the end is no slice.
        while let (Some(Step::Slice { lo, len, .. }), Some(size)) = (steps.last(), lengths.last())
            && steps.len() > 1
            && *lo == Atom::Lit(Literal::I64(0))
            && self.nf(*len) == *size
        {
            steps.pop();
            lengths.pop();
        }
        Ok(steps)
    }

    /// The type of what the steps select.
    pub fn region_type(&self, value: NVar, steps: &[Step]) -> Res<Type> {
        let mut ty = self.b.func.nvars[value].ty.clone();
        let mut lengths = Vec::new();
        for step in steps {
            let Type::Array(_, element) = ty else { return Err(super::Stop) };
            if let Step::Slice { len, .. } = step {
                lengths.push(self.nf(*len));
            }
            ty = *element;
        }
        Ok(lengths.into_iter().rev().fold(ty, |ty, len| Type::array(len, ty)))
    }

    /// An array with other cells where the steps say, whose type is [`Body::region_type`]: one loop for every slice but the last.
    ///
    /// ```text
    /// z = x with [a ..+ m, c ..+ k] = y     check a ..+ m <= n; check c ..+ k <= p
    ///                                       z = scan up (i < m) carry (x = x) {
    ///                                         row = y[i]
    ///                                         j = a + i
    ///                                         x_1 = x with [j, c ..+ k] = row
    ///                                         (x_1)
    ///                                       }
    /// ```
    pub fn put_cells(&mut self, array: NVar, steps: &[Step], new: Atom, span: Span) -> Res<Out> {
        let ty = self.b.func.nvars[array].ty.clone();
        let slice = steps.iter().position(|step| matches!(step, Step::Slice { .. }));
        let Some((k, Step::Slice { lo, len, .. })) =
            slice.filter(|k| k + 1 < steps.len()).map(|k| (k, steps[k]))
        else {
            let (path, value) = (steps.to_vec(), new);
            return Ok(Out::one(Rhs::Update { array, path, value }, ty, span));
        };
        let Atom::Var(rows) = new else { return Err(super::Stop) };
        let Type::Array(size, element) = self.b.func.nvars[rows].ty.clone() else {
            return Err(super::Stop);
        };
        let (index, order, slices, lin_slices) = (None, Dir::Up, Vec::new(), Vec::new());
        let head = Head { index, order, bound: len, size, slices, lin_slices };
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Up, &head, span).and_then(|mut scan| {
            let path = vec![Step::Index { index: Atom::Var(scan.index), proved: false }];
            let row = Out::one(Rhs::Index(rows, path), (*element).clone(), span);
            let row = self.bind(row, &[Name { text: "row", span }], &[])?;
            let row = row.nl.first().copied().ok_or(super::Stop)?;
            let carried = self.b.nvar("t", ty.clone(), span);
            scan.carry.push((carried, Atom::Var(array)));
            let at = self.bound_primitive("+", vec![lo, Atom::Var(scan.index)], "j", span)?;
            let mut dimension = &ty;
            for _ in 0..k {
                dimension = dimension.element().ok_or(super::Stop)?;
            }
            let size = dimension.size().cloned().ok_or(super::Stop)?;
            if !self.facts.covers(&self.nf(at), &size) {
                let size = self.materialize(&size, span)?;
                self.emit(Rhs::Check(Check::Below(at, size)), span)?;
            }
            let mut steps = steps.to_vec();
            steps[k] = Step::Index { index: at, proved: false };
            let out = self.put_cells(carried, &steps, row, span)?;
            let values = self.bind(out, &[], &[])?;
            Ok((scan, Values { nl: values.nl, lin: Vec::new() }))
        });
        let stmts = self.leave(open);
        let (scan, values) = result?;
        self.looped(scan, stmts, values, locals, span, span)
    }

    /// The cells that the steps select, each in its own dimension.
    pub fn cells(&mut self, value: NVar, steps: &[Step], span: Span) -> Res<Out> {
        let slice = steps.iter().position(|step| matches!(step, Step::Slice { .. }));
        let Some((k, Step::Slice { len, .. })) =
            slice.filter(|k| k + 1 < steps.len()).map(|k| (k, steps[k]))
        else {
            return Ok(self.view(value, steps, span));
        };
        let rows = self.view(value, &steps[..=k], span);
        let Some(Type::Array(_, element)) = rows.nl.first().cloned() else {
            return Err(super::Stop);
        };
        let rows = self.bind(rows, &[Name { text: "rows", span }], &[])?;
        let Some(Atom::Var(rows)) = rows.nl.first().copied() else { return Err(super::Stop) };
        let size = self.nf(len);
        let row = Name { text: "row", span };
        let head = Head {
            index: None,
            order: Dir::Up,
            bound: len,
            size: size.clone(),
            slices: vec![(row, rows, *element)],
            lin_slices: Vec::new(),
        };
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Par, &head, span).and_then(|scan| {
            let Some((row, _)) = scan.slices.first().copied() else { return Err(super::Stop) };
            let out = self.cells(row, &steps[k + 1..], span)?;
            let values = self.bind(out, &[], &[])?;
            Ok((scan, Values { nl: values.nl, lin: Vec::new() }))
        });
        let stmts = self.leave(open);
        let (scan, values) = result?;
        if !self.facts.is_plainly_non_negative(&size) {
            self.emit(Rhs::Check(Check::NonNegative(len)), span)?;
        }
        self.looped(scan, stmts, values, locals, span, span)
    }

    /// Indices, then perhaps a slice: a view.
    fn view(&mut self, value: NVar, steps: &[Step], span: Span) -> Out {
        let mut ty = self.b.func.nvars[value].ty.clone();
        for step in steps {
            if let Type::Array(_, element) = ty {
                ty = match step {
                    Step::Slice { len, .. } => Type::array(self.nf(*len), *element),
                    Step::Index { .. } | Step::Field(_) => *element,
                };
            }
        }
        Out::one(Rhs::Index(value, steps.to_vec()), ty, span)
    }
}
