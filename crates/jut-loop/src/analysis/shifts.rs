//! Integers that are another integer plus a constant: neighbours of a cell, among others.
//!
//! Constants add up as integers of the machine do, so of two that are the same value plus different
//! constants it is certain that they differ, whatever the value is.

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim;

use crate::form::{Atom, Stmt, Value};

/// A value, or zero, plus a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shift {
    /// The value, if it is not zero.
    pub base: Option<Value>,
    /// The constant.
    pub offset: i64,
}

impl Shift {
    /// This plus a constant.
    pub fn plus(self, k: i64) -> Shift {
        Shift { offset: self.offset.wrapping_add(k), ..self }
    }

    /// Whether it is certain that two integers differ.
    pub fn is_apart_from(self, other: Shift) -> bool {
        self.base == other.base && self.offset != other.offset
    }
}

/// What is known of the integers of a function.
#[derive(Default)]
pub struct Shifts(SecondaryMap<Value, Option<Shift>>);

impl Shifts {
    /// Takes a statement into account, which stands behind those that define what it reads.
    pub fn learn(&mut self, stmt: &Stmt) {
        let (dst, shift) = match stmt {
            Stmt::Prim { dst, prim: prim::IADD, args } => match args[..] {
                [a, Atom::Lit(Literal::I64(k))] | [Atom::Lit(Literal::I64(k)), a] => {
                    (dst, self.of(a).plus(k))
                }
                _ => return,
            },
            Stmt::Prim { dst, prim: prim::ISUB, args } => match args[..] {
                [a, Atom::Lit(Literal::I64(k))] => (dst, self.of(a).plus(k.wrapping_neg())),
                _ => return,
            },
            _ => return,
        };
        self.0[*dst] = Some(shift);
    }

    /// An integer as another one plus a constant.
    pub fn of(&self, atom: Atom) -> Shift {
        match atom {
            Atom::Value(v) => {
                let known = self.0.get(v).copied().flatten();
                known.unwrap_or(Shift { base: Some(v), offset: 0 })
            }
            Atom::Lit(Literal::I64(offset)) => Shift { base: None, offset },
            Atom::Lit(_) => Shift { base: None, offset: 0 },
        }
    }
}
