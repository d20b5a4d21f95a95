//! The storage of `wr` and `acc` regions, and places inside it.
//!
//! A region owns one leaf per scalar inside its type: a flat block whose dimensions are those of
//! all arrays around the scalar. So `[n]#(f64, [m]f64)` has the leaves `[n]` and `[n, m]`. A place
//! is a set of neighbouring leaves and a row-major index into the dimensions they share: stepping
//! further in is O(1), and so is adding a scalar.

use crate::memory::{self, Charge, Meter};
use crate::pieces;
use crate::scalar::LinearScalar;
use crate::value::{Array, Cells, Value, View, slice_range};
use crate::vector::{Unlike, add, add_cells, add_i64, additions, unlike};
use jut_ir::Width;
use jut_ir::types::Type;
use std::sync::Arc;

/// The storage of one region.
#[derive(Debug)]
pub(crate) struct Region {
    leaves: Vec<Leaf>,
    shape: Arc<Shape>,
}

#[derive(Debug)]
struct Leaf {
    dims: Vec<usize>,
    cells: Cells,
    charge: Charge,
}

/// The part of a type that places step through.
#[derive(Debug)]
pub(crate) enum Shape {
    Scalar,
    Array(Arc<Shape>),
    /// For each component: how many leaves come before it.
    Tuple(Vec<(usize, Arc<Shape>)>),
}

/// A place in a region, as a capability holds it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub region: usize,
    shape: Arc<Shape>,
    at: Position,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    /// The first leaf.
    leaf: usize,
    /// How many dimensions have been indexed.
    depth: usize,
    /// The row-major index into those dimensions.
    index: usize,
    /// First element and number of elements, if the next dimension is sliced.
    slice: Option<(usize, usize)>,
}

/// A place on the way through a path.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    shape: &'a Arc<Shape>,
    at: Position,
}

/// Why a step or an addition is not possible.
pub(crate) enum Misfit {
    /// An index or slice is out of range.
    Range,
    /// Shapes differ: the program was not checked.
    Shape,
    /// Tangents of different values.
    Unlike(Unlike),
}

impl Misfit {
    /// Why a value cannot be added to another.
    fn of(value: &Value, other: &Value, linear: LinearScalar) -> Misfit {
        unlike(value, other, linear).map_or(Misfit::Shape, Misfit::Unlike)
    }
}

impl Shape {
    pub(crate) fn of(ty: &Type) -> Arc<Shape> {
        Arc::new(match ty {
            Type::Array(_, element) => Shape::Array(Shape::of(element)),
            Type::Tuple(items) => {
                let mut before = 0;
                let mut components = Vec::new();
                for item in items {
                    let shape = Shape::of(item);
                    let leaves = shape.leaves();
                    components.push((before, shape));
                    before += leaves;
                }
                Shape::Tuple(components)
            }
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool | Type::Data(_) => Shape::Scalar,
        })
    }

    /// Number of leaves; an empty tuple has one, without cells, which knows the dimensions.
    fn leaves(&self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Array(element) => element.leaves(),
            Shape::Tuple(items) => items.last().map_or(1, |(before, s)| before + s.leaves()),
        }
    }

    /// Whether there are only arrays down to a scalar.
    fn is_flat(&self) -> bool {
        match self {
            Shape::Scalar => true,
            Shape::Array(element) => element.is_flat(),
            Shape::Tuple(_) => false,
        }
    }
}

/// Whether a value is of a shape that its storage can be taken over in, and nobody else has the storage.
fn is_own(value: &mut Value, shape: &Shape) -> bool {
    match (shape, value) {
        (Shape::Scalar, Value::F64(_) | Value::F32(_) | Value::I64(_) | Value::I32(_)) => true,
        (Shape::Array(_), Value::Array(array)) => shape.is_flat() && array.cells_mut().is_some(),
        (Shape::Tuple(items), Value::Tuple(values)) if items.len() == values.len() => {
            let Some(values) = values.get_mut() else { return false };
            values.iter_mut().zip(items).all(|(value, (_, shape))| is_own(value, shape))
        }
        _ => false,
    }
}

/// What a whole value does to the cells of its place.
#[derive(Clone, Copy, PartialEq)]
enum Put {
    Add(LinearScalar),
    Store,
}

impl Region {
    /// A region of zeros. `dims_of` gives the dimensions that a type's arrays have before anything
    /// else; `None` from `charge` is the memory limit.
    pub(crate) fn zeros(
        ty: &Type,
        linear: LinearScalar,
        meter: &Arc<Meter>,
        size: &mut dyn FnMut(&jut_ir::Size) -> i64,
    ) -> Result<Region, Refused> {
        let mut region = Region { leaves: Vec::new(), shape: Shape::of(ty) };
        region.add_leaves(ty, &mut Vec::new(), linear, meter, size)?;
        Ok(region)
    }

    fn add_leaves(
        &mut self,
        ty: &Type,
        dims: &mut Vec<usize>,
        linear: LinearScalar,
        meter: &Arc<Meter>,
        size: &mut dyn FnMut(&jut_ir::Size) -> i64,
    ) -> Result<(), Refused> {
        match ty {
            Type::Array(n, element) => {
                dims.push(checked_dim(size(n), dims)?);
                self.add_leaves(element, dims, linear, meter, size)?;
                dims.pop();
                Ok(())
            }
            Type::Tuple(items) if !items.is_empty() => {
                items.iter().try_for_each(|t| self.add_leaves(t, dims, linear, meter, size))
            }
            _ => {
                let (cells, charge) = zeros(ty, dims, linear, meter)?;
                self.leaves.push(Leaf { dims: dims.clone(), cells, charge });
                Ok(())
            }
        }
    }

    /// A region with the content of a value, in the storage of the value; the value again, if somebody else
    /// has that storage too, or if it is not flat arrays, tuples of them, and scalars.
    pub(crate) fn of(value: Value, ty: &Type) -> Result<Region, Value> {
        let shape = Shape::of(ty);
        let mut taken = value;
        if !is_own(&mut taken, &shape) {
            return Err(taken);
        }
        let mut region = Region { leaves: Vec::new(), shape: shape.clone() };
        region.absorb(taken, &shape);
        Ok(region)
    }

    /// The leaves of a value whose storage nobody else has.
    fn absorb(&mut self, value: Value, shape: &Shape) {
        let leaf = |dims, cells, charge| Leaf { dims, cells, charge };
        match (shape, value) {
            (Shape::Tuple(items), Value::Tuple(values)) if !items.is_empty() => {
                let parts = values.to_vec();
                drop(values);
                for (part, (_, shape)) in parts.into_iter().zip(items) {
                    self.absorb(part, shape);
                }
            }
            (_, Value::Array(array)) => {
                if let Some((dims, cells, charge)) = array.into_cells() {
                    self.leaves.push(leaf(dims, cells, charge));
                }
            }
            (_, scalar) => {
                let mut cells = Cells::empty_like(&scalar);
                cells.append(scalar);
                self.leaves.push(leaf(Vec::new(), cells, Charge::default()));
            }
        }
    }

    /// `count` scalar zeros in a row, to be addressed by [`Cell::lane`].
    pub(crate) fn lanes(count: usize) -> Region {
        let cells = Cells::F64(vec![0.0; count]);
        let leaf = Leaf { dims: vec![count], cells, charge: Charge::default() };
        Region { leaves: vec![leaf], shape: Arc::new(Shape::Array(Arc::new(Shape::Scalar))) }
    }

    /// The floats of a region made by [`Region::lanes`].
    pub(crate) fn lane_cells(&mut self) -> Option<&mut [f64]> {
        match self.leaves.first_mut().map(|leaf| &mut leaf.cells) {
            Some(Cells::F64(v)) => Some(v),
            _ => None,
        }
    }

    /// The place that is all of the region with the given number.
    pub(crate) fn whole(&self, region: usize) -> Cell {
        Cell { region, shape: self.shape.clone(), at: Position::START }
    }

    /// Whether the leaf of a place holds floats.
    pub(crate) fn is_float(&self, cell: &Cell) -> bool {
        self.leaves
            .get(cell.at.leaf)
            .is_some_and(|leaf| matches!(leaf.cells, Cells::F64(_) | Cells::F32(_)))
    }

    /// Bytes of all cells.
    pub(crate) fn bytes(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.cells.bytes()).sum()
    }

    /// The value of the region; storage of flat arrays is moved, not copied.
    pub(crate) fn into_value(mut self) -> Option<Value> {
        let shape = self.shape.clone();
        self.extract(&shape, 0)
    }

    fn extract(&mut self, shape: &Arc<Shape>, first: usize) -> Option<Value> {
        match &**shape {
            Shape::Tuple(items) => {
                let items: Option<Vec<Value>> =
                    items.iter().map(|(before, s)| self.extract(s, first + before)).collect();
                Some(Value::tuple(items?))
            }
            Shape::Array(_) if shape.is_flat() => {
                let leaf = self.leaves.get_mut(first)?;
                let cells = std::mem::replace(&mut leaf.cells, Cells::Bool(Vec::new()));
                let dims = std::mem::take(&mut leaf.dims);
                let charge = std::mem::take(&mut leaf.charge);
                Array::charged(dims, cells, charge).map(Value::Array)
            }
            Shape::Scalar | Shape::Array(_) => {
                self.read(Cursor { shape, at: Position { leaf: first, ..Position::START } })
            }
        }
    }

    /// A copy of the value at a place.
    fn read(&self, place: Cursor<'_>) -> Option<Value> {
        let leaf = self.leaves.get(place.at.leaf)?;
        match &**place.shape {
            Shape::Scalar => match &leaf.cells {
                Cells::F64(v) => v.get(place.at.index).map(|x| Value::F64(*x)),
                Cells::F32(v) => v.get(place.at.index).map(|x| Value::F32(*x)),
                Cells::I32(v) => v.get(place.at.index).map(|x| Value::I32(*x)),
                Cells::I64(v) => v.get(place.at.index).map(|x| Value::I64(*x)),
                Cells::Bool(v) => v.get(place.at.index).map(|x| Value::Bool(*x)),
                Cells::Items(v) => v.get(place.at.index).cloned(),
            },
            Shape::Tuple(items) => {
                let items: Option<Vec<Value>> =
                    (0..items.len()).map(|k| self.read(place.field(k)?)).collect();
                Some(Value::tuple(items?))
            }
            Shape::Array(_) => {
                // All arrays down to a scalar or tuple are one rectangular block.
                let mut dims = Vec::new();
                let mut inner = place.shape;
                while let Shape::Array(element) = &**inner {
                    dims.push(*leaf.dims.get(place.at.depth + dims.len())?);
                    inner = element;
                }
                let count: usize = dims.iter().product();
                let first = place.at.index * count;
                if let Shape::Scalar = **inner {
                    let range = first..first + count;
                    let cells = match &leaf.cells {
                        Cells::F64(v) => Cells::F64(pieces::copy(v.get(range)?)?),
                        Cells::F32(v) => Cells::F32(pieces::copy(v.get(range)?)?),
                        Cells::I32(v) => Cells::I32(pieces::copy(v.get(range)?)?),
                        Cells::I64(v) => Cells::I64(pieces::copy(v.get(range)?)?),
                        Cells::Bool(v) => Cells::Bool(pieces::copy(v.get(range)?)?),
                        Cells::Items(v) => Cells::Items(pieces::copy(v.get(range)?)?),
                    };
                    return Array::new(dims, cells).map(Value::Array);
                }
                let depth = place.at.depth + dims.len();
                let mut items = Vec::with_capacity(count);
                for k in 0..count {
                    let at = Position { depth, index: first + k, ..place.at };
                    items.push(self.read(Cursor { shape: inner, at })?);
                }
                Array::new(dims, Cells::Items(items)).map(Value::Array)
            }
        }
    }

    /// The length of the array at a place.
    fn len(&self, place: Cursor<'_>) -> Result<usize, Misfit> {
        if let Some((_, len)) = place.at.slice {
            return Ok(len);
        }
        let leaf = self.leaves.get(place.at.leaf).ok_or(Misfit::Shape)?;
        leaf.dims.get(place.at.depth).copied().ok_or(Misfit::Shape)
    }

    /// `place[i]`.
    pub(crate) fn index<'a>(&self, place: Cursor<'a>, i: i64) -> Result<Cursor<'a>, Misfit> {
        let Shape::Array(element) = &**place.shape else { return Err(Misfit::Shape) };
        let len = self.len(place)?;
        let Some(k) = usize::try_from(i).ok().filter(|k| *k < len) else {
            return Err(Misfit::Range);
        };
        let low = place.at.slice.map_or(0, |(lo, _)| lo);
        let extent = self.leaves[place.at.leaf].dims[place.at.depth];
        let at = Position {
            depth: place.at.depth + 1,
            index: place.at.index * extent + low + k,
            slice: None,
            ..place.at
        };
        Ok(Cursor { shape: element, at })
    }

    /// `place[lo ..+ count]`.
    pub(crate) fn slice<'a>(
        &self,
        place: Cursor<'a>,
        lo: i64,
        count: i64,
    ) -> Result<Cursor<'a>, Misfit> {
        if !matches!(&**place.shape, Shape::Array(_)) {
            return Err(Misfit::Shape);
        }
        let len = self.len(place)?;
        let Some((lo, count)) = slice_range(lo, count, len) else {
            return Err(Misfit::Range);
        };
        let low = place.at.slice.map_or(0, |(lo, _)| lo);
        Ok(Cursor { at: Position { slice: Some((low + lo, count)), ..place.at }, ..place })
    }

    /// Adds a value into a place. The result says whether the place is inside an array.
    pub(crate) fn add(
        &mut self,
        place: Cursor<'_>,
        value: &Value,
        linear: LinearScalar,
    ) -> Result<u64, Misfit> {
        self.put(place, value, Put::Add(linear))
    }

    /// Overwrites a place by a value.
    pub(crate) fn store(&mut self, place: Cursor<'_>, value: &Value) -> Result<(), Misfit> {
        self.put(place, value, Put::Store).map(|_| ())
    }

    /// Gives the number of scalars that were added to others.
    fn put(&mut self, place: Cursor<'_>, value: &Value, put: Put) -> Result<u64, Misfit> {
        match (&**place.shape, value) {
            (Shape::Scalar, value) => {
                let leaf = self.leaves.get_mut(place.at.leaf).ok_or(Misfit::Shape)?;
                put_scalar(&mut leaf.cells, place.at.index, value, put)
            }
            (Shape::Tuple(items), Value::Tuple(values)) if items.len() == values.len() => {
                let mut added = 0;
                for (k, value) in values.iter().enumerate() {
                    added += self.put(place.field(k).ok_or(Misfit::Shape)?, value, put)?;
                }
                Ok(added)
            }
            (Shape::Array(_), Value::Array(array)) => {
                if self.len(place)? != array.len() {
                    return Err(Misfit::Shape);
                }
                if place.shape.is_flat() {
                    return self.put_flat(place, array, put);
                }
                let mut added = 0;
                for k in 0..array.len() {
                    let value = array.get(k).ok_or(Misfit::Shape)?;
                    let element = self.index(place, k as i64)?;
                    added += self.put(element, &value, put)?;
                }
                Ok(added)
            }
            _ => Err(Misfit::Shape),
        }
    }

    fn put_flat(&mut self, place: Cursor<'_>, array: &Array, put: Put) -> Result<u64, Misfit> {
        let leaf = self.leaves.get_mut(place.at.leaf).ok_or(Misfit::Shape)?;
        let dims = leaf.dims.get(place.at.depth..).ok_or(Misfit::Shape)?;
        if dims.len() != array.rank() || (1..dims.len()).any(|k| array.dim(k) != Some(dims[k])) {
            return Err(Misfit::Shape);
        }
        let row: usize = dims[1..].iter().product();
        let low = place.at.slice.map_or(0, |(lo, _)| lo);
        let start = (place.at.index * dims[0] + low) * row;
        let added = match (&leaf.cells, array.view()) {
            (Cells::Items(a), View::Items(b)) => {
                a.iter().skip(start).zip(b).map(|(a, b)| additions(a, b)).sum()
            }
            _ => array.dims().iter().product::<usize>() as u64,
        };
        let done = match put {
            Put::Add(linear) => add_cells(&mut leaf.cells, start, array.view(), linear),
            Put::Store => store_cells(&mut leaf.cells, start, array.view()),
        };
        if done {
            return Ok(added);
        }
        let Put::Add(linear) = put else { return Err(Misfit::Shape) };
        let unlike = match (&leaf.cells, array.view()) {
            (Cells::Items(a), View::Items(b)) => {
                a.iter().skip(start).zip(b).find_map(|(a, b)| unlike(a, b, linear))
            }
            _ => None,
        };
        Err(unlike.map_or(Misfit::Shape, Misfit::Unlike))
    }
}

fn put_scalar(cells: &mut Cells, at: usize, value: &Value, put: Put) -> Result<u64, Misfit> {
    match (cells, value) {
        (Cells::F64(v), Value::F64(x)) => {
            let cell = v.get_mut(at).ok_or(Misfit::Shape)?;
            *cell = if put == Put::Store { *x } else { *cell + x };
        }
        (Cells::F32(v), Value::F32(x)) => {
            let cell = v.get_mut(at).ok_or(Misfit::Shape)?;
            *cell = if put == Put::Store { *x } else { *cell + x };
        }
        (Cells::I64(v), Value::I64(x)) => {
            let cell = v.get_mut(at).ok_or(Misfit::Shape)?;
            *cell = match put {
                Put::Store => *x,
                Put::Add(linear) => add_i64(*cell, *x, linear == LinearScalar::Field),
            };
        }
        (Cells::I32(v), Value::I32(x)) => {
            let cell = v.get_mut(at).ok_or(Misfit::Shape)?;
            *cell = if put == Put::Store { *x } else { cell.wrapping_add(*x) };
        }
        (Cells::Bool(v), Value::Bool(x)) if put == Put::Store => {
            *v.get_mut(at).ok_or(Misfit::Shape)? = *x;
        }
        (Cells::Items(v), value @ Value::Data(..)) => {
            let cell = v.get_mut(at).ok_or(Misfit::Shape)?;
            let added = additions(cell, value);
            *cell = match put {
                Put::Store => value.clone(),
                Put::Add(linear) => add(cell.clone(), value, linear)
                    .ok_or_else(|| Misfit::of(cell, value, linear))?,
            };
            return Ok(added);
        }
        _ => return Err(Misfit::Shape),
    }
    Ok(1)
}

fn store_cells(cells: &mut Cells, at: usize, view: View<'_>) -> bool {
    fn copy<T: Copy>(to: &mut [T], at: usize, from: &[T]) -> bool {
        let to = to.get_mut(at..at + from.len());
        to.and_then(|to| pieces::zip(to, from, |to, from| *to = *from)).is_some()
    }
    match (cells, view) {
        (Cells::F64(a), View::F64(b)) => copy(a, at, b),
        (Cells::F32(a), View::F32(b)) => copy(a, at, b),
        (Cells::I32(a), View::I32(b)) => copy(a, at, b),
        (Cells::I64(a), View::I64(b)) => copy(a, at, b),
        (Cells::Bool(a), View::Bool(b)) => copy(a, at, b),
        (Cells::Items(a), View::Items(b)) => {
            let to = a.get_mut(at..at + b.len());
            to.map(|to| to.clone_from_slice(b)).is_some()
        }
        _ => false,
    }
}

impl Position {
    const START: Position = Position { leaf: 0, depth: 0, index: 0, slice: None };
}

impl Cell {
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { shape: &self.shape, at: self.at }
    }

    /// Scalar number `k` of a region made by [`Region::lanes`].
    pub(crate) fn lane(region: usize, k: usize) -> Cell {
        let at = Position { leaf: 0, depth: 1, index: k, slice: None };
        Cell { region, shape: Arc::new(Shape::Scalar), at }
    }

    /// Goes to another lane.
    pub(crate) fn set_lane(&mut self, k: usize) {
        self.at.index = k;
    }

    pub(crate) fn is_scalar(&self) -> bool {
        matches!(&*self.shape, Shape::Scalar)
    }
}

impl Cursor<'_> {
    /// `place.k`.
    pub(crate) fn field(self, k: usize) -> Option<Self> {
        let Shape::Tuple(items) = &**self.shape else { return None };
        let (before, shape) = items.get(k)?;
        Some(Cursor { shape, at: Position { leaf: self.at.leaf + before, ..self.at } })
    }

    /// The place as a capability of the region with the given number.
    pub(crate) fn cell(self, region: usize) -> Cell {
        Cell { region, shape: self.shape.clone(), at: self.at }
    }

    /// Whether the place is inside an array, that is in memory.
    pub(crate) fn in_array(self) -> bool {
        self.at.depth > 0 || matches!(&**self.shape, Shape::Array(_))
    }
}

/// Why storage cannot be made.
pub(crate) enum Refused {
    /// A negative size.
    Negative(i64),
    /// The memory limit.
    Memory,
}

/// A dimension inside the given outer dimensions. Inside an empty array a size may be negative:
/// there is no element that has it.
pub(crate) fn checked_dim(size: i64, outer: &[usize]) -> Result<usize, Refused> {
    match usize::try_from(size) {
        Ok(n) => Ok(n),
        Err(_) if outer.contains(&0) => Ok(0),
        Err(_) => Err(Refused::Negative(size)),
    }
}

/// Zeros of a scalar type in the given dimensions. Only what is inside arrays counts against the limit.
fn zeros(
    ty: &Type,
    dims: &[usize],
    linear: LinearScalar,
    meter: &Arc<Meter>,
) -> Result<(Cells, Charge), Refused> {
    let each = match ty {
        _ if dims.is_empty() => 0,
        _ => jut_ir::Scalar::of(ty).map_or(0, |scalar| scalar.bytes() as u64),
    };
    let total = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).ok_or(Refused::Memory)?;
    let bytes = (total as u64).checked_mul(each).ok_or(Refused::Memory)?;
    let charge = meter.charge(bytes).ok_or(Refused::Memory)?;
    let cells = match ty {
        Type::Float(width) if linear == LinearScalar::F64 => match width {
            Width::Single => memory::cells(total, 0.0).map(Cells::F32),
            Width::Double => memory::cells(total, 0.0).map(Cells::F64),
        },
        Type::Float(_) | Type::I64 => memory::cells(total, 0).map(Cells::I64),
        Type::I32 => memory::cells(total, 0).map(Cells::I32),
        Type::Bool => memory::cells(total, false).map(Cells::Bool),
        // The first constructor of tangents is zero.
        Type::Data(data) => {
            let none = Value::data(jut_ir::ConRef { data: *data, index: 0 }, Vec::new());
            memory::cells(total, none).map(Cells::Items)
        }
        _ => Some(Cells::Items(Vec::new())),
    };
    Ok((cells.ok_or(Refused::Memory)?, charge))
}
