//! The calling convention of a lowered function: what its Linear A parameters and results have
//! become, and how values cross the border.
//!
//! | Linear A | loop form |
//! |---|---|
//! | non-linear parameter | its components ([`crate::flatten`]): scalars by value, buffers `in` |
//! | `acc` parameter | its components as `inout` buffers; a scalar is a buffer of one cell |
//! | array in a result, its size known from the parameters | an `out` buffer that the caller allocates |
//! | scalar in a result | a returned scalar |
//! | array in a result whose size only the callee knows | a returned buffer, on the tape arena |
//!
//! Parameters come in the order: non-linear parameters, `acc` parameters, `out` buffers. Example:
//! `f(n: i64, x: [n]f64; ; acc g: [n]f64) -> (m: i64, y: [n]f64, z: [m]f64)` becomes
//! `f(n, x: in f64[n], g: inout f64[n], y: out f64[n]) -> (m, z)`.
//!
//! **Numbers.** Sizes in a [`Signature`] are polynomials over *ABI numbers*: the variable with
//! number k is the k-th parameter of the loop function, and, after the parameters, its results. All
//! of them are i64 where a size mentions them.
//!
//! [`Datum`] is a value in the shape of its jut type and [`Flat`] one component; [`flatten_value`]
//! and [`Signature::unflatten_result`] convert, for any engine.

use cranelift_entity::EntityRef;
use jut_ir::{Literal, NVar, Program, Size, Type};
use std::collections::HashMap;

use crate::flatten::{Component, Layouts, Scope};
use crate::form::{Cell, Kind, Role};

/// How a function is called.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// The function's name.
    pub name: String,
    /// Non-linear parameters, then `acc` parameters.
    pub params: Vec<Parameter>,
    /// The results, in order.
    pub results: Vec<Parameter>,
    /// What stands for each size name of the Linear A signature: an i64 parameter or a named
    /// result, by ABI number.
    pub sizes: HashMap<NVar, usize>,
    /// How many parameters the loop function has: ABI numbers from here on are results.
    pub param_count: usize,
}

/// A parameter or result of the Linear A function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name (empty for an unnamed result).
    pub name: String,
    /// Its type, over the names of the Linear A function.
    pub ty: Type,
    /// What it has become, in order.
    pub components: Vec<AbiComponent>,
}

/// One component of a parameter or result.
#[derive(Clone, Debug)]
pub struct AbiComponent {
    /// The layout; sizes of its first level are better read from `dims`.
    pub layout: Component,
    /// A scalar, or what buffer.
    pub kind: Kind,
    /// Its ABI number: a parameter of the loop function, or (from [`Signature::param_count`] on) a
    /// result.
    pub number: usize,
    /// What the loop function does with it; `None` if it is returned.
    pub role: Option<Role>,
    /// The dimensions of the (outermost) buffer over ABI numbers; the number of cells is their
    /// product. A scalar has none; a scalar `acc` parameter is passed as one cell.
    pub dims: Vec<Size>,
}

impl AbiComponent {
    /// The number of cells of the buffer, over ABI numbers.
    pub fn cells(&self) -> Size {
        self.dims.iter().fold(Size::constant(1), |product, d| product * d.clone())
    }

    /// The number of cells, given the values of the ABI numbers. Negative sizes count as 0;
    /// `None` if the number does not fit into memory anyway.
    pub fn cell_count(&self, value: &mut dyn FnMut(usize) -> i64) -> Option<usize> {
        count(self.dims.iter().map(|d| d.eval(&mut |v| value(v.index()))))
    }
}

fn count(dims: impl Iterator<Item = i64>) -> Option<usize> {
    let mut product: Option<usize> = Some(1);
    let mut empty = false;
    for d in dims {
        empty |= d <= 0;
        product = product.and_then(|p| p.checked_mul(d.max(0) as usize));
    }
    if empty { Some(0) } else { product.filter(|p| *p <= isize::MAX as usize / 8) }
}

/// The cells of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub enum Cells {
    /// binary64.
    F64(Vec<f64>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Truth values, 0 or 1.
    Bool(Vec<u8>),
    /// Buffers.
    Buffers(Vec<Cells>),
}

impl Cells {
    /// No cells.
    pub fn empty(cell: Cell) -> Cells {
        match cell {
            Cell::F64 => Cells::F64(Vec::new()),
            Cell::I64 => Cells::I64(Vec::new()),
            Cell::Bool => Cells::Bool(Vec::new()),
            Cell::Buffer => Cells::Buffers(Vec::new()),
        }
    }

    /// `n` cells that are zero, false or empty.
    pub fn zeros(cell: Cell, n: usize) -> Cells {
        match cell {
            Cell::F64 => Cells::F64(vec![0.0; n]),
            Cell::I64 => Cells::I64(vec![0; n]),
            Cell::Bool => Cells::Bool(vec![0; n]),
            Cell::Buffer => Cells::Buffers(vec![Cells::Buffers(Vec::new()); n]),
        }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::F64(c) => c.len(),
            Cells::I64(c) => c.len(),
            Cells::Bool(c) => c.len(),
            Cells::Buffers(c) => c.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push(&mut self, flat: Flat) -> Option<()> {
        match (self, flat) {
            (Cells::F64(c), Flat::Scalar(Literal::F64(x))) => c.push(x),
            (Cells::I64(c), Flat::Scalar(Literal::I64(x))) => c.push(x),
            (Cells::Bool(c), Flat::Scalar(Literal::Bool(x))) => c.push(x as u8),
            (Cells::Buffers(c), Flat::Buffer(x)) => c.push(x),
            _ => return None,
        }
        Some(())
    }

    fn append(&mut self, other: &Cells) -> Option<()> {
        match (self, other) {
            (Cells::F64(a), Cells::F64(b)) => a.extend_from_slice(b),
            (Cells::I64(a), Cells::I64(b)) => a.extend_from_slice(b),
            (Cells::Bool(a), Cells::Bool(b)) => a.extend_from_slice(b),
            (Cells::Buffers(a), Cells::Buffers(b)) => a.extend_from_slice(b),
            _ => return None,
        }
        Some(())
    }

    fn slice(&self, at: usize, n: usize) -> Option<Cells> {
        Some(match self {
            Cells::F64(c) => Cells::F64(c.get(at..at + n)?.to_vec()),
            Cells::I64(c) => Cells::I64(c.get(at..at + n)?.to_vec()),
            Cells::Bool(c) => Cells::Bool(c.get(at..at + n)?.to_vec()),
            Cells::Buffers(c) => Cells::Buffers(c.get(at..at + n)?.to_vec()),
        })
    }

    fn get(&self, at: usize) -> Option<Flat> {
        Some(match self {
            Cells::F64(c) => Flat::Scalar(Literal::F64(*c.get(at)?)),
            Cells::I64(c) => Flat::Scalar(Literal::I64(*c.get(at)?)),
            Cells::Bool(c) => Flat::Scalar(Literal::Bool(*c.get(at)? != 0)),
            Cells::Buffers(c) => Flat::Buffer(c.get(at)?.clone()),
        })
    }
}

/// One component of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Flat {
    /// A scalar.
    Scalar(Literal),
    /// A buffer.
    Buffer(Cells),
}

impl Flat {
    fn as_i64(&self) -> Option<i64> {
        match self {
            Flat::Scalar(Literal::I64(x)) => Some(*x),
            _ => None,
        }
    }
}

/// A value in the shape of its jut type.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// A scalar.
    Scalar(Literal),
    /// A tuple.
    Tuple(Vec<Datum>),
    /// A data value: the constructor's position and its fields.
    Data(usize, Vec<Datum>),
    /// Nested arrays of scalars: dimensions and cells in row-major order.
    Block(Vec<usize>, Cells),
    /// Any other array. It may also hold the rows of an array of scalars.
    Array(Vec<Datum>),
}

/// Flattens a value of a type. Sizes are taken from the value; whether they agree with those that
/// the signature asks for is the caller's question ([`AbiComponent::cell_count`]).
///
/// Returns `None` if the value does not have the type.
pub fn flatten_value(
    program: &Program,
    layouts: &mut Layouts,
    ty: &Type,
    value: &Datum,
) -> Option<Vec<Flat>> {
    Some(match (ty, value) {
        (Type::F64, Datum::Scalar(l @ Literal::F64(_)))
        | (Type::I64, Datum::Scalar(l @ Literal::I64(_)))
        | (Type::Bool, Datum::Scalar(l @ Literal::Bool(_))) => vec![Flat::Scalar(*l)],
        (Type::Tuple(types), Datum::Tuple(items)) if types.len() == items.len() => {
            let mut all = Vec::new();
            for (t, item) in types.iter().zip(items) {
                all.extend(flatten_value(program, layouts, t, item)?);
            }
            all
        }
        (Type::Data(id), Datum::Data(con, items)) => {
            let layout = layouts.data(*id);
            let mut all: Vec<Flat> = layout.components.iter().map(absent).collect();
            let fields = &program.datas[*id].constructors.get(*con)?.fields;
            if fields.len() != items.len() {
                return None;
            }
            if layout.tagged {
                all[0] = Flat::Scalar(Literal::I64(*con as i64));
            }
            for ((field, item), range) in fields.iter().zip(items).zip(layout.fields.get(*con)?) {
                let flat = flatten_value(program, layouts, &field.ty, item)?;
                for (to, from) in all.get_mut(range.clone())?.iter_mut().zip(flat) {
                    *to = from;
                }
            }
            all
        }
        (Type::Array(..), Datum::Block(dims, cells)) => {
            let (mut element, mut rank) = (ty, 0);
            while let Type::Array(_, inner) = element {
                (element, rank) = (inner, rank + 1);
            }
            let kind = *layouts.of(element).first().map(|c| &c.scalar)?;
            let fits = rank == dims.len()
                && element.is_scalar()
                && std::mem::discriminant(&Cells::empty(Cell::of(kind)))
                    == std::mem::discriminant(cells)
                && count(dims.iter().map(|d| *d as i64)) == Some(cells.len());
            return fits.then(|| vec![Flat::Buffer(cells.clone())]);
        }
        (Type::Array(_, element), Datum::Array(items)) => {
            let inner = layouts.of(element);
            let mut all: Vec<Cells> =
                layouts.of(ty).iter().map(|c| Cells::empty(c.cell())).collect();
            for item in items {
                let flat = flatten_value(program, layouts, element, item)?;
                for ((to, from), c) in all.iter_mut().zip(flat).zip(inner.iter()) {
                    match from {
                        Flat::Buffer(cells) if !c.is_pinned() => to.append(&cells)?,
                        from => to.push(from)?,
                    }
                }
            }
            all.into_iter().map(Flat::Buffer).collect()
        }
        _ => return None,
    })
}

/// What stands for a component that the constructor does not have.
fn absent(c: &Component) -> Flat {
    match c.kind() {
        Kind::F64 => Flat::Scalar(Literal::F64(0.0)),
        Kind::I64 => Flat::Scalar(Literal::I64(0)),
        Kind::Bool => Flat::Scalar(Literal::Bool(false)),
        Kind::Buffer(cell) => Flat::Buffer(Cells::empty(cell)),
    }
}

/// Puts the components of a value together again; `size` gives the value of a size name of the type.
///
/// Returns `None` if the components are not those of such a value.
pub fn unflatten_value(
    program: &Program,
    layouts: &mut Layouts,
    ty: &Type,
    flat: &[Flat],
    size: &mut dyn FnMut(NVar) -> i64,
) -> Option<Datum> {
    match ty {
        Type::F64 | Type::I64 | Type::Bool => match flat {
            [Flat::Scalar(l)] => Some(Datum::Scalar(*l)),
            _ => None,
        },
        Type::Tuple(types) => {
            let (mut items, mut at) = (Vec::new(), 0);
            for t in types {
                let n = layouts.of(t).len();
                items.push(unflatten_value(program, layouts, t, flat.get(at..at + n)?, size)?);
                at += n;
            }
            Some(Datum::Tuple(items))
        }
        Type::Data(id) => {
            let layout = layouts.data(*id);
            let con = if layout.tagged { flat.first()?.as_i64()? as usize } else { 0 };
            let ranges = layout.fields.get(con)?;
            let fields = &program.datas[*id].constructors.get(con)?.fields;
            let mut items = Vec::new();
            for (field, range) in fields.iter().zip(ranges) {
                // A size in a field's type is an earlier field of the same constructor.
                let mut of_field = |v: NVar| {
                    let start = ranges.get(v.index()).map(|r| r.start);
                    start.and_then(|k| flat.get(k)).and_then(Flat::as_i64).unwrap_or(0)
                };
                let part = flat.get(range.clone())?;
                items.push(unflatten_value(program, layouts, &field.ty, part, &mut of_field)?);
            }
            Some(Datum::Data(con, items))
        }
        Type::Array(first, element) => {
            let (mut inner, mut dims) = (&**element, vec![first.eval(size).max(0) as usize]);
            while let Type::Array(s, next) = inner {
                dims.push(s.eval(size).max(0) as usize);
                inner = next;
            }
            if inner.is_scalar() {
                let [Flat::Buffer(cells)] = flat else { return None };
                // A returned buffer may be the beginning of a longer one.
                let cells = cells.slice(0, count(dims.iter().map(|d| *d as i64))?)?;
                return Some(Datum::Block(dims, cells));
            }
            let components = layouts.of(element);
            let mut strides = Vec::new();
            for c in components.iter() {
                strides.push(match c.levels.first() {
                    Some(level) if !level.pinned => {
                        Some(count(level.dims.iter().map(|d| d.eval(size)))?)
                    }
                    _ => None,
                });
            }
            let mut items = Vec::new();
            for i in 0..dims[0] {
                let mut part = Vec::new();
                for (flat, stride) in flat.iter().zip(&strides) {
                    let Flat::Buffer(cells) = flat else { return None };
                    part.push(match stride {
                        Some(n) => Flat::Buffer(cells.slice(i * n, *n)?),
                        None => cells.get(i)?,
                    });
                }
                items.push(unflatten_value(program, layouts, element, &part, size)?);
            }
            Some(Datum::Array(items))
        }
    }
}

impl Signature {
    /// Puts result `k` together from its components, given the values of the ABI numbers.
    ///
    /// Returns `None` if they are not the components of such a result.
    pub fn unflatten_result(
        &self,
        program: &Program,
        layouts: &mut Layouts,
        k: usize,
        flat: &[Flat],
        number: &mut dyn FnMut(usize) -> i64,
    ) -> Option<Datum> {
        let ty = &self.results.get(k)?.ty;
        let mut size = |v: NVar| self.sizes.get(&v).map_or(0, |n| number(*n));
        unflatten_value(program, layouts, ty, flat, &mut size)
    }

    /// The dimensions of the outermost buffer of a component over ABI numbers, given the numbers of
    /// all components of the same value.
    pub fn abi_dims(&self, layout: &Component, numbers: &[usize]) -> Vec<Size> {
        let Some(level) = layout.levels.first() else { return Vec::new() };
        let number = |v: NVar| match &level.scope {
            Scope::Function => self.sizes.get(&v).copied(),
            Scope::Fields(fields) => fields.get(v.index()).and_then(|c| numbers.get(*c)).copied(),
        };
        level
            .dims
            .iter()
            .map(|d| d.subst(&mut |v| number(v).map(|n| Size::var(NVar::new(n)))))
            .collect()
    }
}
