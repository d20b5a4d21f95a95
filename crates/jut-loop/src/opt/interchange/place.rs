//! Which cell of an array an iteration of two loops in each other comes to.

use jut_ir::hash::HashMap;
use jut_ir::prim::{Lowering, Opcode};

use super::int;
use crate::form::{Atom, Stmt, Value};

/// Which cell of an array an iteration of both loops comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// That of the inner index.
    Inner,
    /// That of the outer index.
    Outer,
    /// The inner index says the row, of so many cells, and the outer one which of these.
    Columns(Atom),
    /// The outer index says the row, and the inner one which cell of it.
    Rows(Atom),
    /// Any other.
    Other,
}

/// What an integer is to both loops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    Inner,
    Outer,
    /// The inner index times this.
    InnerTimes(Atom),
    OuterTimes(Atom),
    /// The same in all iterations.
    Outside,
}

/// What is known of the values of a nest.
pub(super) struct Known<'s> {
    pub outer: Value,
    pub inner: Value,
    pub made: HashMap<Value, &'s Stmt>,
}

impl Known<'_> {
    pub fn is_outside(&self, atom: Atom) -> bool {
        match atom {
            Atom::Value(v) => v != self.outer && v != self.inner && !self.made.contains_key(&v),
            Atom::Lit(_) => true,
        }
    }

    /// The buffer from outside of both loops of which this is a part.
    pub fn array(&self, mut buffer: Value) -> Value {
        while let Some(Stmt::Offset { buffer: whole, .. }) = self.made.get(&buffer) {
            buffer = *whole;
        }
        buffer
    }

    /// The array and the cell of it; none if the array is not from outside.
    pub fn place(&self, mut buffer: Value, index: Atom) -> Option<(Value, Place)> {
        let mut terms = self.terms(index);
        while let Some(stmt) = self.made.get(&buffer) {
            let Stmt::Offset { buffer: whole, index, .. } = stmt else { return None };
            let more = self.terms(*index);
            terms = terms.zip(more).map(|(terms, more)| [terms, more].concat());
            buffer = *whole;
        }
        let place = match terms.as_deref() {
            Some([Term::Inner]) => Place::Inner,
            Some([Term::Outer]) => Place::Outer,
            Some(
                [Term::Outer, Term::InnerTimes(length)] | [Term::InnerTimes(length), Term::Outer],
            ) => Place::Columns(*length),
            Some(
                [Term::Inner, Term::OuterTimes(length)] | [Term::OuterTimes(length), Term::Inner],
            ) => Place::Rows(*length),
            _ => Place::Other,
        };
        Some((buffer, place))
    }

    /// What an integer is the sum of, as far as that is of interest.
    fn terms(&self, atom: Atom) -> Option<Vec<Term>> {
        if atom == int(0) {
            return Some(Vec::new());
        }
        if self.is_outside(atom) {
            return Some(vec![Term::Outside]);
        }
        let Atom::Value(v) = atom else { return None };
        if v == self.inner || v == self.outer {
            return Some(vec![if v == self.inner { Term::Inner } else { Term::Outer }]);
        }
        let Stmt::Prim { prim, args, .. } = *self.made.get(&v)? else { return None };
        match (prim.row().lowering, args.as_slice()) {
            (Lowering::Opcode(Opcode::IAdd), [a, b]) => {
                Some([self.terms(*a)?, self.terms(*b)?].concat())
            }
            (Lowering::Opcode(Opcode::IMul), [a, b]) => {
                let (index, by) = if self.is_outside(*a) { (b, a) } else { (a, b) };
                if !self.is_outside(*by) {
                    return None;
                }
                match *index {
                    Atom::Value(v) if v == self.inner => Some(vec![Term::InnerTimes(*by)]),
                    Atom::Value(v) if v == self.outer => Some(vec![Term::OuterTimes(*by)]),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
