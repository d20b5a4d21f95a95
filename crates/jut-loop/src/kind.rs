//! What values, cells of buffers and parameters of the loop form are.

use jut_ir::Scalar;

/// What a value or a buffer cell is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A scalar; in a buffer as many bytes as [`Scalar::bytes`] says, a truth value as 0 or 1.
    Scalar(Scalar),
    /// A buffer, 8 bytes: a pointer to its first cell. The cells are scalars of the given kind,
    /// or again buffers.
    Buffer(Cell),
}

impl Kind {
    /// binary64.
    pub const F64: Kind = Kind::Scalar(Scalar::F64);
    /// binary32.
    pub const F32: Kind = Kind::Scalar(Scalar::F32);
    /// 64-bit integer.
    pub const I64: Kind = Kind::Scalar(Scalar::I64);
    /// 32-bit integer.
    pub const I32: Kind = Kind::Scalar(Scalar::I32);
    /// Truth value.
    pub const BOOL: Kind = Kind::Scalar(Scalar::Bool);
}

/// What the cells of a buffer are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// A scalar.
    Scalar(Scalar),
    /// A pointer to another buffer; what that one holds is said where it is loaded.
    Buffer,
    /// 8 bytes that hold any value, a bool in the first of them; which kind is said where it is
    /// loaded, and is the kind that was stored. Buffers of words are the boxes of large records
    /// ([`crate::flatten`]), which do not change once they are written, and the frames of long
    /// functions ([`crate::split`]). A pointer that is loaded from one may be to any memory.
    Word,
}

impl Cell {
    /// binary64.
    pub const F64: Cell = Cell::Scalar(Scalar::F64);
    /// binary32.
    pub const F32: Cell = Cell::Scalar(Scalar::F32);
    /// 64-bit integer.
    pub const I64: Cell = Cell::Scalar(Scalar::I64);
    /// 32-bit integer.
    pub const I32: Cell = Cell::Scalar(Scalar::I32);
    /// Truth value.
    pub const BOOL: Cell = Cell::Scalar(Scalar::Bool);

    /// Bytes per cell.
    pub fn bytes(self) -> i64 {
        match self {
            Cell::Scalar(scalar) => scalar.bytes() as i64,
            Cell::Buffer | Cell::Word => 8,
        }
    }

    /// Whether a cell can hold values of a kind.
    pub fn holds(self, kind: Kind) -> bool {
        self == Cell::Word || self == Cell::of(kind)
    }

    /// The cell for values of a kind.
    pub fn of(kind: Kind) -> Cell {
        match kind {
            Kind::Scalar(scalar) => Cell::Scalar(scalar),
            Kind::Buffer(_) => Cell::Buffer,
        }
    }
}

/// The role of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A scalar, or a buffer that is only read.
    In,
    /// A buffer that is read and added to.
    InOut,
    /// A buffer that is written; its content at entry means nothing.
    Out,
}
