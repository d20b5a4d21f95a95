//! Integers as sums of multiples of others, in arithmetic that wraps.
//!
//! ```text
//! t = k + 1; i = t + j        i: k + j + 1
//! u = k + j; l = u + 1        l: k + j + 1, so it is i
//! r = 2 * i; s = r - k        s: k + 2 j + 2
//! v = shl(j, 2)               v: 4 j
//! ```
//!
//! Sums and multiples are the same in any order, also where they wrap, so two integers of one form are one number, and two that
//! are apart by a constant are certain to differ.
//!
//! Requires: a well-formed function. Cost: constant for each statement; sums of more than [`MOST`] values are values of their own.

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim;

use crate::form::{Atom, Stmt, Value};

/// Values in a sum at most.
const MOST: usize = 6;

/// A sum of multiples of values, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Linear {
    /// In the order of the values, without those that are taken zero times.
    terms: Vec<(Value, i64)>,
    constant: i64,
}

impl Linear {
    /// A constant.
    pub fn constant(constant: i64) -> Linear {
        Linear { terms: Vec::new(), constant }
    }

    /// A value that is no sum of others.
    pub fn value(value: Value) -> Linear {
        Linear { terms: vec![(value, 1)], constant: 0 }
    }

    /// What is added to multiples of values.
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The values, and how often each is taken.
    pub fn terms(&self) -> &[(Value, i64)] {
        &self.terms
    }

    /// How often a value is taken.
    pub fn of(&self, value: Value) -> i64 {
        self.terms.iter().find(|(v, _)| *v == value).map_or(0, |(_, times)| *times)
    }

    /// This and a multiple of another sum.
    pub fn plus(&self, other: &Linear, times: i64) -> Linear {
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        let mut terms = self.terms.clone();
        for (value, count) in &other.terms {
            let count = count.wrapping_mul(times);
            match terms.binary_search_by_key(value, |(v, _)| *v) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(count),
                Err(at) => terms.insert(at, (*value, count)),
            }
        }
        terms.retain(|(_, count)| *count != 0);
        Linear { terms, constant }
    }

    /// This with another sum in the place of a value.
    pub fn with(&self, value: Value, instead: &Linear) -> Linear {
        let times = self.of(value);
        self.plus(&Linear::value(value), times.wrapping_neg()).plus(instead, times)
    }

    /// This and a constant.
    pub fn and(&self, constant: i64) -> Linear {
        Linear { terms: self.terms.clone(), constant: self.constant.wrapping_add(constant) }
    }

    /// Whether it is certain that two integers differ.
    pub fn is_apart_from(&self, other: &Linear) -> bool {
        self.terms == other.terms && self.constant != other.constant
    }

    /// The value or number that it is, if nothing is added up.
    pub fn as_atom(&self) -> Option<Atom> {
        match (self.terms.as_slice(), self.constant) {
            ([], constant) => Some(Atom::Lit(Literal::I64(constant))),
            ([(value, 1)], 0) => Some(Atom::Value(*value)),
            _ => None,
        }
    }
}

/// What is known of the integers of a function.
#[derive(Default)]
pub struct Linears(SecondaryMap<Value, Option<Box<Linear>>>);

impl Linears {
    /// Takes a statement into account, which stands behind those that define what it reads.
    pub fn learn(&mut self, stmt: &Stmt) {
        if let Stmt::Prim { dst, .. } = stmt
            && let Some(sum) = self.sum(stmt)
        {
            self.0[*dst] = Some(Box::new(sum));
        }
    }

    /// What a statement adds up, if it does.
    pub fn sum(&self, stmt: &Stmt) -> Option<Linear> {
        let Stmt::Prim { prim, args, .. } = stmt else { return None };
        let [a, b] = args[..] else { return None };
        let sum = match (*prim, a, b) {
            (prim::IADD, ..) => self.of(a).plus(&self.of(b), 1),
            (prim::ISUB, ..) => self.of(a).plus(&self.of(b), -1),
            (prim::IMUL, Atom::Lit(Literal::I64(times)), other)
            | (prim::IMUL, other, Atom::Lit(Literal::I64(times))) => {
                Linear::default().plus(&self.of(other), times)
            }
            (prim::SHL, shifted, Atom::Lit(Literal::I64(by @ 0..63))) => {
                Linear::default().plus(&self.of(shifted), 1 << by)
            }
            _ => return None,
        };
        (sum.terms.len() <= MOST).then_some(sum)
    }

    /// An integer as a sum.
    pub fn of(&self, atom: Atom) -> Linear {
        match atom {
            Atom::Value(v) => match self.0.get(v) {
                Some(Some(known)) => (**known).clone(),
                _ => Linear::value(v),
            },
            Atom::Lit(Literal::I64(constant)) => Linear::constant(constant),
            Atom::Lit(_) => Linear::default(),
        }
    }
}
