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
//! [`Flat`] is one component as data, for engines that take and give data ([`crate::eval`]).

use cranelift_entity::EntityRef;
use jut_ir::{Literal, NVar, Size, Type};
use std::collections::HashMap;

use crate::flatten::{Component, Scope};
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
    /// The tags, by ABI number, and the constructors with which a value has this component. With others
    /// it may be a buffer without cells, whatever the dimensions say.
    pub only_if: Vec<(usize, i64)>,
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
    /// binary32.
    F32(Vec<f32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// 32-bit integers.
    I32(Vec<i32>),
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
            Cell::F32 => Cells::F32(Vec::new()),
            Cell::I32 => Cells::I32(Vec::new()),
            Cell::I64 => Cells::I64(Vec::new()),
            Cell::BOOL => Cells::Bool(Vec::new()),
            Cell::Buffer | Cell::Word => Cells::Buffers(Vec::new()),
        }
    }

    /// `n` cells that are zero, false or empty.
    pub fn zeros(cell: Cell, n: usize) -> Cells {
        match cell {
            Cell::F64 => Cells::F64(vec![0.0; n]),
            Cell::F32 => Cells::F32(vec![0.0; n]),
            Cell::I32 => Cells::I32(vec![0; n]),
            Cell::I64 => Cells::I64(vec![0; n]),
            Cell::BOOL => Cells::Bool(vec![0; n]),
            Cell::Buffer | Cell::Word => Cells::Buffers(vec![Cells::Buffers(Vec::new()); n]),
        }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::F64(c) => c.len(),
            Cells::F32(c) => c.len(),
            Cells::I32(c) => c.len(),
            Cells::I64(c) => c.len(),
            Cells::Bool(c) => c.len(),
            Cells::Buffers(c) => c.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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

impl Signature {
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
