//! Values: scalars, tuples, dense arrays and data values.
//!
//! An array is one rectangular block in row-major order, shared by reference counting; a row
//! `x[i]` and a slice `x[lo ..+ m]` are views: an offset and a length into the same block, O(1).
//! Blocks of f64, f32, i64 and bool are flat; any other element (tuples, data values, of which arrays
//! may be ragged inside) is one [`Value`] per element.
//!
//! Equality is equality of bits, so 0.0 differs from -0.0; only NaNs are all equal, because
//! IEEE 754 leaves their bits open.

use crate::memory::{Charge, Meter};
use crate::pieces;
use crate::region::slice_range;
use jut_ir::ir::{ConRef, Literal};
use jut_runtime::{cancel, math};
use std::fmt;
use std::sync::Arc;

/// A value of any type of the language, non-linear or linear.
#[derive(Clone, Debug)]
pub enum Value {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// A tuple `#(a, ..)`.
    Tuple(Items),
    /// An array.
    Array(Array),
    /// A data value: constructor and fields.
    Data(ConRef, Items),
}

/// The parts of a tuple or record. Values may be nested as deeply as a program recurses, so they are dropped one
/// after the other, and not each in the drop of what holds it.
#[derive(Clone, Debug)]
pub struct Items(Arc<[Value]>);

impl Drop for Items {
    fn drop(&mut self) {
        let mut work = Vec::new();
        take_nested(&mut self.0, &mut work);
        while let Some(mut items) = work.pop() {
            take_nested(&mut items, &mut work);
        }
    }
}

/// Takes the parts of the parts out, if nobody else has them.
fn take_nested(items: &mut Arc<[Value]>, work: &mut Vec<Arc<[Value]>>) {
    for item in Arc::get_mut(items).into_iter().flatten() {
        if let Value::Tuple(inner) | Value::Data(_, inner) = item {
            work.push(std::mem::take(&mut inner.0));
        }
    }
}

impl Items {
    /// The parts, to change them, if nobody else has them.
    pub(crate) fn get_mut(&mut self) -> Option<&mut [Value]> {
        Arc::get_mut(&mut self.0)
    }
}

impl std::ops::Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for Items {
    fn from(items: Vec<Value>) -> Items {
        Items(items.into())
    }
}

impl<const N: usize> From<[Value; N]> for Items {
    fn from(items: [Value; N]) -> Items {
        Items(items.into())
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Items {
        Items(items.into_iter().collect())
    }
}

/// A view into a rectangular block: a whole array, a row or a slice.
#[derive(Clone)]
pub struct Array {
    block: Arc<Block>,
    /// First cell.
    offset: usize,
    /// Number of elements.
    len: usize,
    /// How many leading dimensions of the block have been indexed away.
    skip: usize,
}

#[derive(Debug)]
struct Block {
    dims: Vec<usize>,
    /// Cells per element of dimension k: the product of the dimensions after it.
    strides: Vec<usize>,
    cells: Cells,
    _charge: Charge,
}

/// A step to a part of an array.
pub(crate) enum Choice {
    Index(i64),
    /// First element, number of elements.
    Slice(i64, i64),
}

/// A part of an array: its first cell, and its dimensions.
pub(crate) struct Part {
    pub at: usize,
    pub dims: Vec<usize>,
}

/// The cells of a block.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Floats of 64 bits.
    F64(Vec<f64>),
    /// Floats of 32 bits.
    F32(Vec<f32>),
    /// Integers.
    I64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Anything else.
    Items(Vec<Value>),
}

/// The cells of a view.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Floats of 64 bits.
    F64(&'a [f64]),
    /// Floats of 32 bits.
    F32(&'a [f32]),
    /// Integers.
    I64(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
    /// Anything else.
    Items(&'a [Value]),
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::F64(v) => v.len(),
            Cells::F32(v) => v.len(),
            Cells::I64(v) => v.len(),
            Cells::Bool(v) => v.len(),
            Cells::Items(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a scalar, an element, or all cells of an array at a place; false if it does not fit there, or the
    /// call is cancelled.
    pub(crate) fn put(&mut self, at: usize, value: &Value) -> bool {
        fn put<T: Clone>(to: &mut [T], at: usize, from: &[T]) -> bool {
            at.checked_add(from.len())
                .and_then(|end| to.get_mut(at..end))
                .is_some_and(|to| pieces::zip(to, from, |to, from| to.clone_from(from)).is_some())
        }
        match (self, value) {
            (Cells::F64(v), Value::F64(x)) => put(v, at, &[*x]),
            (Cells::F32(v), Value::F32(x)) => put(v, at, &[*x]),
            (Cells::I64(v), Value::I64(x)) => put(v, at, &[*x]),
            (Cells::Bool(v), Value::Bool(x)) => put(v, at, &[*x]),
            (cells, Value::Array(a)) => match (cells, a.view()) {
                (Cells::F64(v), View::F64(x)) => put(v, at, x),
                (Cells::F32(v), View::F32(x)) => put(v, at, x),
                (Cells::I64(v), View::I64(x)) => put(v, at, x),
                (Cells::Bool(v), View::Bool(x)) => put(v, at, x),
                (Cells::Items(v), View::Items(x)) => put(v, at, x),
                _ => false,
            },
            (Cells::Items(v), x @ (Value::Tuple(_) | Value::Data(..))) => {
                put(v, at, std::slice::from_ref(x))
            }
            _ => false,
        }
    }

    /// Bytes of storage per cell (not of what items refer to).
    pub(crate) fn bytes_per_cell(&self) -> u64 {
        match self {
            Cells::F64(_) | Cells::I64(_) => 8,
            Cells::F32(_) => 4,
            Cells::Bool(_) => 1,
            Cells::Items(_) => size_of::<Value>() as u64,
        }
    }

    /// Bytes of storage of the cells themselves.
    pub fn bytes(&self) -> u64 {
        self.len() as u64 * self.bytes_per_cell()
    }

    /// Turns the order of rows round; a row is `row` neighbouring cells. `None` if the call is
    /// cancelled.
    pub(crate) fn reverse_rows(&mut self, row: usize) -> Option<()> {
        fn turn<T>(cells: &mut [T], row: usize) -> Option<()> {
            pieces::reverse(cells)?;
            if row <= 1 {
                return Some(());
            }
            // Many short rows at a time, so that they ask too.
            let many = (pieces::PIECE / row).max(1) * row;
            for rows in cells.chunks_mut(many) {
                rows.chunks_mut(row).try_for_each(pieces::reverse)?;
                if cancel::is_requested() {
                    return None;
                }
            }
            Some(())
        }
        match self {
            Cells::F64(v) => turn(v, row),
            Cells::F32(v) => turn(v, row),
            Cells::I64(v) => turn(v, row),
            Cells::Bool(v) => turn(v, row),
            Cells::Items(v) => turn(v, row),
        }
    }

    /// No cells, of the kind that holds the scalar or element `like`.
    pub(crate) fn empty_like(like: &Value) -> Cells {
        match like {
            Value::F64(_) => Cells::F64(Vec::new()),
            Value::F32(_) => Cells::F32(Vec::new()),
            Value::I64(_) => Cells::I64(Vec::new()),
            Value::Bool(_) => Cells::Bool(Vec::new()),
            Value::Array(a) => match a.view() {
                View::F64(_) => Cells::F64(Vec::new()),
                View::F32(_) => Cells::F32(Vec::new()),
                View::I64(_) => Cells::I64(Vec::new()),
                View::Bool(_) => Cells::Bool(Vec::new()),
                View::Items(_) => Cells::Items(Vec::new()),
            },
            Value::Tuple(_) | Value::Data(..) => Cells::Items(Vec::new()),
        }
    }

    /// Makes room for `more` further cells, if there is memory for them.
    pub(crate) fn reserve(&mut self, more: usize) -> Option<()> {
        match self {
            Cells::F64(v) => v.try_reserve_exact(more),
            Cells::F32(v) => v.try_reserve_exact(more),
            Cells::I64(v) => v.try_reserve_exact(more),
            Cells::Bool(v) => v.try_reserve_exact(more),
            Cells::Items(v) => v.try_reserve_exact(more),
        }
        .ok()
    }

    /// Appends a scalar, an element, or all cells of an array; false if the kinds differ, or the call
    /// is cancelled.
    pub(crate) fn append(&mut self, value: Value) -> bool {
        match (self, value) {
            (Cells::F64(v), Value::F64(x)) => v.push(x),
            (Cells::F32(v), Value::F32(x)) => v.push(x),
            (Cells::I64(v), Value::I64(x)) => v.push(x),
            (Cells::Bool(v), Value::Bool(x)) => v.push(x),
            (cells, Value::Array(a)) => match (cells, a.view()) {
                (Cells::F64(v), View::F64(x)) => return pieces::append(v, x).is_some(),
                (Cells::F32(v), View::F32(x)) => return pieces::append(v, x).is_some(),
                (Cells::I64(v), View::I64(x)) => return pieces::append(v, x).is_some(),
                (Cells::Bool(v), View::Bool(x)) => return pieces::append(v, x).is_some(),
                (Cells::Items(v), View::Items(x)) => return pieces::append(v, x).is_some(),
                _ => return false,
            },
            (Cells::Items(v), x @ (Value::Tuple(_) | Value::Data(..))) => v.push(x),
            _ => return false,
        }
        true
    }
}

impl View<'_> {
    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        match self {
            View::F64(v) => v.is_empty(),
            View::F32(v) => v.is_empty(),
            View::I64(v) => v.is_empty(),
            View::Bool(v) => v.is_empty(),
            View::Items(v) => v.is_empty(),
        }
    }
}

impl Array {
    /// An array of the given dimensions in row-major order; `None` if the number of cells is not
    /// the product of the dimensions or there is no dimension.
    pub fn new(dims: Vec<usize>, cells: Cells) -> Option<Array> {
        Array::charged(dims, cells, Charge::default())
    }

    pub(crate) fn charged(dims: Vec<usize>, cells: Cells, charge: Charge) -> Option<Array> {
        let mut strides = vec![1usize; dims.len()];
        for k in (1..dims.len()).rev() {
            strides[k - 1] = strides[k].checked_mul(dims[k])?;
        }
        let total = strides.first()?.checked_mul(dims[0])?;
        if total != cells.len() {
            return None;
        }
        let len = dims[0];
        let block = Arc::new(Block { dims, strides, cells, _charge: charge });
        Some(Array { block, offset: 0, len, skip: 0 })
    }

    /// Number of elements: the first dimension.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.block.dims.len() - self.skip
    }

    /// The k-th dimension.
    pub fn dim(&self, k: usize) -> Option<usize> {
        if k == 0 { Some(self.len) } else { self.block.dims.get(self.skip + k).copied() }
    }

    /// All dimensions.
    pub fn dims(&self) -> Vec<usize> {
        let mut dims = vec![self.len];
        dims.extend_from_slice(&self.block.dims[self.skip + 1..]);
        dims
    }

    /// Cells per element.
    fn stride(&self) -> usize {
        self.block.strides[self.skip]
    }

    /// All cells of the view, row-major.
    pub fn view(&self) -> View<'_> {
        let range = self.offset..self.offset + self.len * self.stride();
        match &self.block.cells {
            Cells::F64(v) => View::F64(&v[range]),
            Cells::F32(v) => View::F32(&v[range]),
            Cells::I64(v) => View::I64(&v[range]),
            Cells::Bool(v) => View::Bool(&v[range]),
            Cells::Items(v) => View::Items(&v[range]),
        }
    }

    /// The cells, if they are floats.
    pub fn f64s(&self) -> Option<&[f64]> {
        match self.view() {
            View::F64(v) => Some(v),
            _ => None,
        }
    }

    /// The cells, if they are integers.
    pub fn i64s(&self) -> Option<&[i64]> {
        match self.view() {
            View::I64(v) => Some(v),
            _ => None,
        }
    }

    /// Element i: a scalar, a row view, a tuple or a data value; `None` if out of range.
    pub fn get(&self, i: usize) -> Option<Value> {
        if i >= self.len {
            return None;
        }
        Some(self.element(self.offset + i * self.stride(), self.skip + 1))
    }

    /// Element i of element j, without a view in between.
    pub(crate) fn get2(&self, i: usize, j: usize) -> Option<Value> {
        if i >= self.len || j >= *self.block.dims.get(self.skip + 1)? {
            return None;
        }
        let at = self.offset + i * self.stride() + j * self.block.strides[self.skip + 1];
        Some(self.element(at, self.skip + 2))
    }

    /// Where a part begins, counted from the first cell of the view, as a view of it: `None` for its
    /// dimensions if it is a single element.
    pub(crate) fn part(&self, steps: impl Iterator<Item = Choice>) -> Option<Part> {
        let (mut at, mut skip, mut len) = (0, self.skip, Some(self.len));
        for step in steps {
            let size = len?;
            let stride = *self.block.strides.get(skip)?;
            match step {
                Choice::Index(i) => {
                    at += usize::try_from(i).ok().filter(|i| *i < size)? * stride;
                    skip += 1;
                    len = self.block.dims.get(skip).copied();
                }
                Choice::Slice(lo, count) => {
                    let (lo, count) = slice_range(lo, count, size)?;
                    at += lo * stride;
                    len = Some(count);
                }
            }
        }
        let mut dims: Vec<usize> = len.into_iter().collect();
        dims.extend(self.block.dims.iter().skip(skip + 1));
        Some(Part { at, dims })
    }

    /// A part, with cells of its own if it is an array.
    pub(crate) fn copy_of(&self, part: &Part, meter: &Arc<Meter>) -> Option<Value> {
        let at = self.offset + part.at;
        let Some((len, _)) = part.dims.split_first() else {
            return Some(self.element(at, self.block.dims.len()));
        };
        let skip = self.block.dims.len() - part.dims.len();
        let view = Array { block: self.block.clone(), offset: at, len: *len, skip };
        view.with_own_cells(meter).map(Value::Array)
    }

    /// The same array with cells that nobody else holds.
    pub(crate) fn with_own_cells(self, meter: &Arc<Meter>) -> Option<Array> {
        let dims = self.dims();
        let value = Value::Array(self);
        let mut cells = Cells::empty_like(&value);
        let count = dims.iter().product::<usize>();
        let charge = meter.charge((count as u64).checked_mul(cells.bytes_per_cell())?)?;
        cells.reserve(count)?;
        if !cells.append(value) {
            return None;
        }
        Array::charged(dims, cells, charge)
    }

    /// What begins at a cell after `skip` dimensions have been indexed away.
    fn element(&self, at: usize, skip: usize) -> Value {
        if let Some(len) = self.block.dims.get(skip) {
            let block = self.block.clone();
            return Value::Array(Array { block, offset: at, len: *len, skip });
        }
        match &self.block.cells {
            Cells::F64(v) => Value::F64(v[at]),
            Cells::F32(v) => Value::F32(v[at]),
            Cells::I64(v) => Value::I64(v[at]),
            Cells::Bool(v) => Value::Bool(v[at]),
            Cells::Items(v) => v[at].clone(),
        }
    }

    /// Whether the elements are data values.
    pub(crate) fn holds_data(&self) -> bool {
        matches!(self.view(), View::Items([Value::Data(..), ..]))
    }

    /// The elements lo, .., lo + len - 1 as a view; `None` if out of range.
    pub fn slice(&self, lo: usize, len: usize) -> Option<Array> {
        if lo.checked_add(len)? > self.len {
            return None;
        }
        Some(Array {
            block: self.block.clone(),
            offset: self.offset + lo * self.stride(),
            len,
            skip: self.skip,
        })
    }

    /// Dimensions, cells, and what they are charged to, if nobody else holds the block and the view is all of
    /// it.
    pub(crate) fn into_cells(self) -> Option<(Vec<usize>, Cells, Charge)> {
        let Block { dims, cells, _charge: charge, .. } = Arc::into_inner(self.block)?;
        Some((dims, cells, charge))
    }

    /// Whether two views are of the same cells.
    pub(crate) fn is_of(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.block, &other.block)
    }

    /// The cells in place, if nobody else holds the block and the view is all of it.
    pub(crate) fn cells_mut(&mut self) -> Option<&mut Cells> {
        let whole = self.skip == 0 && self.len == self.block.dims[0];
        Arc::get_mut(&mut self.block).filter(|_| whole).map(|block| &mut block.cells)
    }
}

impl Value {
    /// `[a, b, ..]` of floats.
    pub fn floats(cells: impl Into<Vec<f64>>) -> Value {
        let cells = cells.into();
        Value::flat(vec![cells.len()], Cells::F64(cells))
    }

    /// `[a, b, ..]` of integers.
    pub fn ints(cells: impl Into<Vec<i64>>) -> Value {
        let cells = cells.into();
        Value::flat(vec![cells.len()], Cells::I64(cells))
    }

    /// `[a, b, ..]` of truth values.
    pub fn bools(cells: impl Into<Vec<bool>>) -> Value {
        let cells = cells.into();
        Value::flat(vec![cells.len()], Cells::Bool(cells))
    }

    /// A matrix of floats by rows; `None` if the number of cells is not `rows * columns`.
    pub fn matrix(rows: usize, columns: usize, cells: impl Into<Vec<f64>>) -> Option<Value> {
        Array::new(vec![rows, columns], Cells::F64(cells.into())).map(Value::Array)
    }

    fn flat(dims: Vec<usize>, cells: Cells) -> Value {
        let len = dims[0];
        let block = Block { dims, strides: vec![1], cells, _charge: Charge::default() };
        Value::Array(Array { block: Arc::new(block), offset: 0, len, skip: 0 })
    }

    /// An array of the given elements: scalars and equally shaped arrays become one flat block.
    /// `None` if their kinds or shapes differ; no elements give an empty array of floats.
    pub fn array(elements: Vec<Value>) -> Option<Value> {
        let Some(first) = elements.first() else {
            return Some(Value::floats(Vec::new()));
        };
        let mut dims = vec![elements.len()];
        let inner = first.dims();
        let mut cells = Cells::empty_like(first);
        for element in elements {
            if element.dims() != inner || !cells.append(element) {
                return None;
            }
        }
        dims.extend(inner);
        Array::new(dims, cells).map(Value::Array)
    }

    /// A tuple.
    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(items.into())
    }

    /// A data value.
    pub fn data(con: ConRef, fields: Vec<Value>) -> Value {
        Value::Data(con, fields.into())
    }

    /// The dimensions of an array; none for anything else.
    pub fn dims(&self) -> Vec<usize> {
        self.as_array().map(Array::dims).unwrap_or_default()
    }

    /// The float.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::F64(x) => Some(*x),
            _ => None,
        }
    }

    /// The integer.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::I64(x) => Some(*x),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(x) => Some(*x),
            _ => None,
        }
    }

    /// The array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The components of a tuple or the fields of a data value.
    pub fn items(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(items) | Value::Data(_, items) => Some(items),
            _ => None,
        }
    }

    /// The scalar as a literal.
    pub fn literal(&self) -> Option<Literal> {
        match self {
            Value::F64(x) => Some(Literal::F64(*x)),
            Value::F32(x) => Some(Literal::F32(*x)),
            Value::I64(x) => Some(Literal::I64(*x)),
            Value::Bool(x) => Some(Literal::Bool(*x)),
            _ => None,
        }
    }

    /// Number of scalars inside: |v| of the cost model.
    pub fn scalars(&self) -> u64 {
        match self {
            Value::F64(_) | Value::F32(_) | Value::I64(_) | Value::Bool(_) => 1,
            Value::Tuple(items) | Value::Data(_, items) => items.iter().map(Value::scalars).sum(),
            Value::Array(a) => match a.view() {
                View::F64(v) => v.len() as u64,
                View::F32(v) => v.len() as u64,
                View::I64(v) => v.len() as u64,
                View::Bool(v) => v.len() as u64,
                View::Items(v) => v.iter().map(Value::scalars).sum(),
            },
        }
    }

    /// What dropping a linear value costs: 1 per scalar, but nothing for a tangent of a declared type, of which a
    /// zero holds no scalars.
    pub(crate) fn scalars_dropped(&self) -> u64 {
        match self {
            Value::Data(..) => 0,
            Value::Tuple(items) => items.iter().map(Value::scalars_dropped).sum(),
            Value::Array(a) => match a.view() {
                View::Items(v) => v.iter().map(Value::scalars_dropped).sum(),
                _ => self.scalars(),
            },
            _ => self.scalars(),
        }
    }

    /// Bytes of all scalars inside: 8 per number, 4 per f32, 1 per truth value.
    pub fn bytes(&self) -> u64 {
        match self {
            Value::F64(_) | Value::I64(_) => 8,
            Value::F32(_) => 4,
            Value::Bool(_) => 1,
            Value::Tuple(items) | Value::Data(_, items) => items.iter().map(Value::bytes).sum(),
            Value::Array(a) => match a.view() {
                View::F64(v) => 8 * v.len() as u64,
                View::F32(v) => 4 * v.len() as u64,
                View::I64(v) => 8 * v.len() as u64,
                View::Bool(v) => v.len() as u64,
                View::Items(v) => v.iter().map(Value::bytes).sum(),
            },
        }
    }

    /// Bytes of the lists behind a tuple or data value, without the arrays among them, which have
    /// been counted where they were made.
    pub(crate) fn bytes_of_lists(&self) -> u64 {
        match self {
            Value::F64(_) | Value::F32(_) | Value::I64(_) | Value::Bool(_) | Value::Array(_) => 0,
            Value::Tuple(items) | Value::Data(_, items) => {
                // The two counters of shared memory stand before the items.
                let own = 2 * size_of::<usize>() + size_of_val(&**items);
                own as u64 + items.iter().map(Value::bytes_of_lists).sum::<u64>()
            }
        }
    }

    /// Calls `visit` with every float inside, in order.
    pub fn for_each_f64(&self, visit: &mut dyn FnMut(f64)) {
        match self {
            Value::F64(x) => visit(*x),
            Value::F32(x) => visit(f64::from(*x)),
            Value::I64(_) | Value::Bool(_) => {}
            Value::Tuple(items) | Value::Data(_, items) => {
                items.iter().for_each(|v| v.for_each_f64(visit));
            }
            Value::Array(a) => match a.view() {
                View::F64(v) => v.iter().for_each(|x| visit(*x)),
                View::F32(v) => v.iter().for_each(|x| visit(f64::from(*x))),
                View::I64(_) | View::Bool(_) => {}
                View::Items(v) => v.iter().for_each(|v| v.for_each_f64(visit)),
            },
        }
    }

    /// The same value with every float replaced, in order; those of 32 bits by the nearest.
    pub fn map_f64(&self, map: &mut dyn FnMut(f64) -> f64) -> Value {
        match self {
            Value::F64(x) => Value::F64(map(*x)),
            Value::F32(x) => Value::F32(map(f64::from(*x)) as f32),
            Value::I64(_) | Value::Bool(_) => self.clone(),
            Value::Tuple(items) => Value::Tuple(items.iter().map(|v| v.map_f64(map)).collect()),
            Value::Data(con, items) => {
                Value::Data(*con, items.iter().map(|v| v.map_f64(map)).collect())
            }
            Value::Array(a) => {
                let cells = match a.view() {
                    View::F64(v) => Cells::F64(v.iter().map(|x| map(*x)).collect()),
                    View::F32(v) => {
                        Cells::F32(v.iter().map(|x| map(f64::from(*x)) as f32).collect())
                    }
                    View::I64(_) | View::Bool(_) => return self.clone(),
                    View::Items(v) => Cells::Items(v.iter().map(|v| v.map_f64(map)).collect()),
                };
                Array::new(a.dims(), cells).map_or_else(|| self.clone(), Value::Array)
            }
        }
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Value {
        match literal {
            Literal::F64(x) => Value::F64(x),
            Literal::F32(x) => Value::F32(x),
            Literal::I64(x) => Value::I64(x),
            Literal::Bool(x) => Value::Bool(x),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::F64(x)
    }
}

impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::I64(x)
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Value {
        Value::Bool(x)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::F64(a), Value::F64(b)) => math::same(*a, *b),
            (Value::F32(a), Value::F32(b)) => same_f32(*a, *b),
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a[..] == b[..],
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Data(c, a), Value::Data(d, b)) => c == d && a[..] == b[..],
            _ => false,
        }
    }
}

/// Whether the bits are the same, or both are NaN.
fn same_f32(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.dims(), self.view())
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Array) -> bool {
        self.rank() == other.rank()
            && (0..self.rank()).all(|k| self.dim(k) == other.dim(k))
            && match (self.view(), other.view()) {
                (View::F64(a), View::F64(b)) => a.iter().zip(b).all(|(x, y)| math::same(*x, *y)),
                (View::F32(a), View::F32(b)) => a.iter().zip(b).all(|(x, y)| same_f32(*x, *y)),
                (View::I64(a), View::I64(b)) => a == b,
                (View::Bool(a), View::Bool(b)) => a == b,
                (View::Items(a), View::Items(b)) => a == b,
                _ => false,
            }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
            for (k, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if k == 0 { "" } else { ", " })?;
            }
            Ok(())
        }
        match self {
            Value::F64(x) => write!(f, "{x:?}"),
            Value::F32(x) => write!(f, "{x:?}"),
            Value::I64(x) => write!(f, "{x}"),
            Value::Bool(x) => write!(f, "{x}"),
            Value::Tuple(items) => {
                f.write_str("#(")?;
                list(f, items)?;
                f.write_str(")")
            }
            Value::Data(con, items) => {
                write!(f, "{:?}.{}(", con.data, con.index)?;
                list(f, items)?;
                f.write_str(")")
            }
            Value::Array(a) => {
                f.write_str("[")?;
                for k in 0..a.len() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(element) = a.get(k) {
                        write!(f, "{element}")?;
                    }
                }
                f.write_str("]")
            }
        }
    }
}
