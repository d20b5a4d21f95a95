//! What a call takes, and why it gives no results.

use jut_ir::RuntimeError;
use jut_loop::form::{Cell, Kind};
use std::fmt;

/// An argument of a compiled program.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// Floats that are read.
    F64s(&'a [f64]),
    /// Floats of 32 bits that are read.
    F32s(&'a [f32]),
    /// Integers that are read.
    I64s(&'a [i64]),
    /// Integers of 32 bits that are read.
    I32s(&'a [i32]),
    /// Truth values that are read.
    Bools(&'a [bool]),
    /// Floats that are written.
    F64sMut(&'a mut [f64]),
    /// Floats of 32 bits that are written.
    F32sMut(&'a mut [f32]),
    /// Integers that are written.
    I64sMut(&'a mut [i64]),
    /// Integers of 32 bits that are written.
    I32sMut(&'a mut [i32]),
    /// Truth values that are written.
    BoolsMut(&'a mut [bool]),
}

impl Arg<'_> {
    /// The number of cells of an argument that is an array.
    #[inline]
    pub(crate) fn cells(&self) -> Option<usize> {
        match self {
            Arg::F64(_) | Arg::F32(_) | Arg::I64(_) | Arg::I32(_) | Arg::Bool(_) => None,
            Arg::F64s(x) => Some(x.len()),
            Arg::F32s(x) => Some(x.len()),
            Arg::I32s(x) => Some(x.len()),
            Arg::I64s(x) => Some(x.len()),
            Arg::Bools(x) => Some(x.len()),
            Arg::F64sMut(x) => Some(x.len()),
            Arg::F32sMut(x) => Some(x.len()),
            Arg::I32sMut(x) => Some(x.len()),
            Arg::I64sMut(x) => Some(x.len()),
            Arg::BoolsMut(x) => Some(x.len()),
        }
    }

    /// The word that stands for the argument, its kind, and whether it may be written.
    #[inline]
    pub(crate) fn word(&mut self) -> (u64, Kind, bool) {
        match self {
            Arg::F64(x) => (x.to_bits(), Kind::F64, false),
            Arg::F32(x) => (u64::from(x.to_bits()), Kind::F32, false),
            Arg::I64(x) => (*x as u64, Kind::I64, false),
            Arg::I32(x) => (u64::from(x.cast_unsigned()), Kind::I32, false),
            Arg::Bool(x) => (u64::from(*x), Kind::BOOL, false),
            Arg::F64s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::F64), false),
            Arg::F32s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::F32), false),
            Arg::I32s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::I32), false),
            Arg::I64s(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::I64), false),
            Arg::Bools(x) => (x.as_ptr() as u64, Kind::Buffer(Cell::BOOL), false),
            Arg::F64sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::F64), true),
            Arg::F32sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::F32), true),
            Arg::I32sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::I32), true),
            Arg::I64sMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::I64), true),
            Arg::BoolsMut(x) => (x.as_mut_ptr() as u64, Kind::Buffer(Cell::BOOL), true),
        }
    }
}

/// Why a call gave no results.
#[derive(Clone, PartialEq, Debug)]
pub enum CallError {
    /// The arguments do not fit the program.
    Arguments(String),
    /// The program failed: `R01` to `R09`.
    Run(RuntimeError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Arguments(reason) => f.write_str(reason),
            CallError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

impl From<RuntimeError> for CallError {
    fn from(error: RuntimeError) -> CallError {
        CallError::Run(error)
    }
}
