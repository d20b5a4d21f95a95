//! Arrays: views of blocks of cells that are shared by reference counting.
//!
//! A row or a slice is an offset and a length into the same block, O(1).

use super::{Value, same_f32};
use crate::memory::{Charge, Meter};
use crate::pieces;
use jut_runtime::{cancel, math};
use std::fmt;
use std::sync::Arc;

/// First element and number of elements of a slice within `0 .. len`.
pub(crate) fn slice_range(lo: i64, count: i64, len: usize) -> Option<(usize, usize)> {
    let (lo, count) = (usize::try_from(lo).ok()?, usize::try_from(count).ok()?);
    (lo.checked_add(count)? <= len).then_some((lo, count))
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
    /// Integers of 64 bits.
    I64(Vec<i64>),
    /// Integers of 32 bits.
    I32(Vec<i32>),
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
    /// Integers of 64 bits.
    I64(&'a [i64]),
    /// Integers of 32 bits.
    I32(&'a [i32]),
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
            Cells::I32(v) => v.len(),
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
            (Cells::I32(v), Value::I32(x)) => put(v, at, &[*x]),
            (Cells::I64(v), Value::I64(x)) => put(v, at, &[*x]),
            (Cells::Bool(v), Value::Bool(x)) => put(v, at, &[*x]),
            (cells, Value::Array(a)) => match (cells, a.view()) {
                (Cells::F64(v), View::F64(x)) => put(v, at, x),
                (Cells::F32(v), View::F32(x)) => put(v, at, x),
                (Cells::I32(v), View::I32(x)) => put(v, at, x),
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

    /// The element at a place, if elements are tuples or data.
    pub(crate) fn item(&mut self, at: usize) -> Option<&mut Value> {
        match self {
            Cells::Items(items) => items.get_mut(at),
            _ => None,
        }
    }

    /// Bytes of storage per cell (not of what items refer to).
    pub(crate) fn bytes_per_cell(&self) -> u64 {
        match self {
            Cells::F64(_) | Cells::I64(_) => 8,
            Cells::F32(_) | Cells::I32(_) => 4,
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
            Cells::I32(v) => turn(v, row),
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
            Value::I32(_) => Cells::I32(Vec::new()),
            Value::I64(_) => Cells::I64(Vec::new()),
            Value::Bool(_) => Cells::Bool(Vec::new()),
            Value::Array(a) => match a.view() {
                View::F64(_) => Cells::F64(Vec::new()),
                View::F32(_) => Cells::F32(Vec::new()),
                View::I32(_) => Cells::I32(Vec::new()),
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
            Cells::I32(v) => v.try_reserve_exact(more),
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
            (Cells::I32(v), Value::I32(x)) => v.push(x),
            (Cells::I64(v), Value::I64(x)) => v.push(x),
            (Cells::Bool(v), Value::Bool(x)) => v.push(x),
            (cells, Value::Array(a)) => match (cells, a.view()) {
                (Cells::F64(v), View::F64(x)) => return pieces::append(v, x).is_some(),
                (Cells::F32(v), View::F32(x)) => return pieces::append(v, x).is_some(),
                (Cells::I32(v), View::I32(x)) => return pieces::append(v, x).is_some(),
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
            View::I32(v) => v.is_empty(),
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

    /// All these cells, in one dimension.
    pub(super) fn flat(cells: Cells) -> Array {
        let (len, dims) = (cells.len(), vec![cells.len()]);
        let block = Block { dims, strides: vec![1], cells, _charge: Charge::default() };
        Array { block: Arc::new(block), offset: 0, len, skip: 0 }
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
            Cells::I32(v) => View::I32(&v[range]),
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
            Cells::I32(v) => Value::I32(v[at]),
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
                (View::I32(a), View::I32(b)) => a == b,
                (View::Bool(a), View::Bool(b)) => a == b,
                (View::Items(a), View::Items(b)) => a == b,
                _ => false,
            }
    }
}
