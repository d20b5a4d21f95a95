//! What a value is to neighbouring iterations of a loop.
//!
//! One of four things:
//!
//! - *the same* for all (defined outside, or made of such): one scalar;
//! - *a step*: an integer that grows by a constant from one iteration to the next (the index, three
//!   times the index plus something that is the same), or a place in a buffer that does: the scalar
//!   of the first iteration stands for it, and a load at a step by one is one load of neighbours;
//! - *a row further*: the same, but what it grows by is a number that is only known when it runs, such as the
//!   length of a row;
//! - *wide*: one value for each iteration. A load at a wide index gathers.
//!
//! ```text
//! for par (i in 0 .. n) {      i: a step by 1, the index plus 0
//!   j = i + 1                  j: a step by 1, the index plus 1
//!   k = 3 * i                  k: a step by 3
//!   r = i * d                  r: a row of d further
//!   a = x[j]                   a: wide
//!   b = m[0]                   b: the same
//!   c = a * b                  c: wide
//! ```
//!
//! Requires: the body of a loop in which no iteration stores to what another one loads at an index
//! that is the same for both. Cost: linear.

use jut_ir::Literal;
use jut_ir::hash::HashMap;
use jut_ir::prim::{Lowering, Opcode, Prim};

use crate::form::{Atom, Block, Stmt, Value};

/// What a value is to neighbouring iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// One value for all.
    Same,
    /// By how much it grows.
    Step(i64),
    /// What it grows by, which is the same for all.
    Row(Atom),
    /// One value for each.
    Wide,
}

impl Class {
    /// What the sum of two is.
    fn plus(self, other: Class) -> Class {
        match (self, other) {
            (Class::Same, other) | (other, Class::Same) => other,
            (Class::Step(a), Class::Step(b)) => Class::Step(a.wrapping_add(b)),
            _ => Class::Wide,
        }
    }

    fn minus(self, other: Class) -> Class {
        match other {
            Class::Same => self,
            Class::Step(by) => self.plus(Class::Step(by.wrapping_neg())),
            Class::Row(_) | Class::Wide => Class::Wide,
        }
    }

    /// What it is times something that is the same for all.
    fn times(self, by: Atom) -> Class {
        match (self, by) {
            (Class::Same, _) => Class::Same,
            (Class::Step(step), Atom::Lit(Literal::I64(by))) => Class::Step(step.wrapping_mul(by)),
            (Class::Step(1), by) => Class::Row(by),
            _ => Class::Wide,
        }
    }
}

/// The classes of what the body of a loop binds; everything else is the same.
#[derive(Debug)]
pub struct Classes {
    classes: HashMap<Value, Class>,
    /// What is the index plus a constant.
    offsets: HashMap<Value, i64>,
}

impl Classes {
    /// Classifies the body of a loop with this index, which is given one of `carry` in each lane.
    pub fn of(index: Value, carry: &[Value], body: &Block) -> Classes {
        let mut found = Classes { classes: HashMap::default(), offsets: HashMap::default() };
        found.classes.insert(index, Class::Step(1));
        found.offsets.insert(index, 0);
        for carry in carry {
            found.classes.insert(*carry, Class::Wide);
        }
        found.block(body);
        found
    }

    /// What a value is.
    pub fn class(&self, atom: impl Into<Atom>) -> Class {
        match atom.into() {
            Atom::Lit(_) => Class::Same,
            Atom::Value(value) => self.classes.get(&value).copied().unwrap_or(Class::Same),
        }
    }

    /// What the place of a cell is.
    pub fn place(&self, buffer: Value, index: Atom) -> Class {
        self.class(buffer).plus(self.class(index))
    }

    /// How far a value is from the index, if that is a constant.
    pub fn offset(&self, atom: Atom) -> Option<i64> {
        match atom {
            Atom::Lit(_) => None,
            Atom::Value(value) => self.offsets.get(&value).copied(),
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn set(&mut self, dst: Value, class: Class) {
        if class != Class::Same {
            self.classes.insert(dst, class);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Prim { dst, prim, args } => {
                let class = self.prim(*prim, args);
                self.set(*dst, class);
                if let Some(offset) = self.offset_of(*prim, args) {
                    self.offsets.insert(*dst, offset);
                }
            }
            Stmt::Copy { dst, src } => {
                self.set(*dst, self.class(*src));
                if let Some(offset) = self.offset(*src) {
                    self.offsets.insert(*dst, offset);
                }
            }
            Stmt::Load { dst, buffer, index } => match self.place(*buffer, *index) {
                Class::Same => {}
                Class::Step(_) | Class::Row(_) | Class::Wide => self.set(*dst, Class::Wide),
            },
            Stmt::Offset { dst, buffer, index } => {
                self.set(*dst, self.place(*buffer, *index));
            }
            other => {
                // A sum begins with what is the same for all, but each adds terms of its own.
                match other {
                    Stmt::For(inner) => {
                        inner.carry.iter().for_each(|(value, _)| self.set(*value, Class::Wide));
                    }
                    Stmt::Lanes(inner) => {
                        inner.carry.iter().for_each(|value| self.set(*value, Class::Wide));
                    }
                    _ => {}
                }
                other.blocks().into_iter().for_each(|inner| self.block(inner));
                other.bound().iter().for_each(|value| self.set(*value, Class::Wide));
            }
        }
    }

    fn prim(&self, prim: Prim, args: &[Atom]) -> Class {
        let class = |atom: &Atom| self.class(*atom);
        if args.iter().all(|atom| class(atom) == Class::Same) {
            return Class::Same;
        }
        match (prim.row().lowering, args) {
            (Lowering::Opcode(Opcode::Copy), [a]) => class(a),
            (Lowering::Opcode(Opcode::IAdd), [a, b]) => class(a).plus(class(b)),
            (Lowering::Opcode(Opcode::ISub), [a, b]) => class(a).minus(class(b)),
            (Lowering::Opcode(Opcode::IMul), [a, b]) if class(b) == Class::Same => {
                class(a).times(*b)
            }
            (Lowering::Opcode(Opcode::IMul), [a, b]) if class(a) == Class::Same => {
                class(b).times(*a)
            }
            _ => Class::Wide,
        }
    }

    fn offset_of(&self, prim: Prim, args: &[Atom]) -> Option<i64> {
        let Lowering::Opcode(op) = prim.row().lowering else { return None };
        match (op, args) {
            (Opcode::Copy, [a]) => self.offset(*a),
            (Opcode::IAdd, [a, Atom::Lit(Literal::I64(k))] | [Atom::Lit(Literal::I64(k)), a]) => {
                Some(self.offset(*a)?.wrapping_add(*k))
            }
            (Opcode::ISub, [a, Atom::Lit(Literal::I64(k))]) => {
                Some(self.offset(*a)?.wrapping_sub(*k))
            }
            _ => None,
        }
    }
}
