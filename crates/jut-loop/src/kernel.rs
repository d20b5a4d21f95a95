//! Kernels: functions of the runtime that work on whole buffers.
//!
//! The statement `kernel matmul(c, a, b, scratch, m, n, k, flags)` calls one. All kernels are called
//! in one way, so a backend needs one rule for all of them, present and future:
//!
//! - the symbol is that of the row, to be found like those of mathematical functions
//!   (`jut_runtime::symbols`; under its own name in the static library);
//! - the arguments are those of the statement in order, by the C convention of the machine: a
//!   buffer is the pointer to its first cell, an i64 an integer of 64 bits; there is no workspace
//!   and no result;
//! - it cannot fail and allocates nothing: memory that it works in is an argument, and sizes have
//!   been checked before;
//! - it reads its `in` buffers, reads and writes its `inout` buffers, and touches nothing else; an
//!   `inout` buffer overlaps no other argument.
//!
//! What a kernel computes, to the bit, is what its function in the runtime does: every engine calls
//! the same one.

use crate::form::{Cell, Kind, Role};
use jut_runtime::matrix;

/// A kernel: an index into [`KERNELS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kernel(u8);

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelParam {
    /// Its name, for the documentation.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What the kernel does with a buffer.
    pub role: Role,
}

/// Everything about one kernel.
#[derive(Debug)]
pub struct KernelRow {
    /// Its name in the text form.
    pub name: &'static str,
    /// The function of the runtime.
    pub symbol: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// Buffers first, then integers.
    pub params: &'static [KernelParam],
    /// How many cells each buffer has, given the integers.
    pub lengths: fn(&[i64]) -> Vec<i64>,
    /// The kernel on the buffers, whose lengths have been tested.
    pub run: fn(&mut [Vec<f64>], &[i64]),
}

const fn buffer(name: &'static str, role: Role) -> KernelParam {
    KernelParam { name, kind: Kind::Buffer(Cell::F64), role }
}

const fn integer(name: &'static str) -> KernelParam {
    KernelParam { name, kind: Kind::I64, role: Role::In }
}

/// All kernels.
pub static KERNELS: &[KernelRow] = &[KernelRow {
    name: "matmul",
    symbol: "jut_matmul",
    doc: "c = a b; the flags are those of `jut_runtime::matrix`: 1, a is given transposed; 2, b is; \
          4, the product is added to c",
    params: &[
        buffer("c", Role::InOut),
        buffer("a", Role::In),
        buffer("b", Role::In),
        buffer("scratch", Role::InOut),
        integer("m"),
        integer("n"),
        integer("k"),
        integer("flags"),
    ],
    lengths: |sizes| match *sizes {
        [m, n, k, flags] => {
            let cells = |x: i64, y: i64| x.max(0).saturating_mul(y.max(0));
            vec![cells(m, n), cells(m, k), cells(k, n), matrix::scratch(m, n, k, flags)]
        }
        _ => Vec::new(),
    },
    run: |buffers, sizes| {
        if let ([c, a, b, scratch], [m, n, k, flags]) = (buffers, sizes) {
            matrix::product(c, a, b, scratch, [*m, *n, *k], *flags);
        }
    },
}];

/// `c = a b` and `c += a b`.
pub const MATMUL: Kernel = Kernel(0);

impl Kernel {
    /// The row.
    pub fn row(self) -> &'static KernelRow {
        &KERNELS[usize::from(self.0)]
    }

    /// All kernels.
    pub fn all() -> impl Iterator<Item = Kernel> {
        (0..KERNELS.len() as u8).map(Kernel)
    }

    /// The kernel with a name.
    pub fn find(name: &str) -> Option<Kernel> {
        Kernel::all().find(|k| k.row().name == name)
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)
    }
}
