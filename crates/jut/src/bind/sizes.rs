//! The sizes of a call: what they are, and the equations that tell them.
//!
//! `declared size = actual size` is solved where one name is unknown and stands in it once: `2 * n + 1 = 7` gives n = 3.
//! *Cost*: linear in the terms of the size.

use jut_ir::entity::EntityRef;
use jut_ir::{NVar, Size};

/// The values of the i64 names of one call: sizes, integer parameters, integer results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    values: Vec<Option<i64>>,
    /// The names that have a value: few, where a function may have thousands of names.
    known: Vec<NVar>,
}

impl Sizes {
    pub fn reset(&mut self) {
        for name in self.known.drain(..) {
            if let Some(slot) = self.values.get_mut(name.index()) {
                *slot = None;
            }
        }
    }

    /// The value of a name, if it is known.
    pub fn get(&self, name: NVar) -> Option<i64> {
        self.values.get(name.index()).copied().flatten()
    }

    /// Sets the value of a name.
    pub fn set(&mut self, name: NVar, value: i64) {
        if self.values.len() <= name.index() {
            self.values.resize(name.index() + 1, None);
        }
        if let Some(slot) = self.values.get_mut(name.index()) {
            *slot = Some(value);
            self.known.push(name);
        }
    }

    /// The value of a size, if all its names are known.
    pub fn eval(&self, size: &Size) -> Option<i64> {
        let mut known = true;
        let value = size.eval(&mut |v| {
            let value = self.get(v);
            known &= value.is_some();
            value.unwrap_or_default()
        });
        known.then_some(value)
    }

    /// Solves `size = value` if exactly one name is unknown and stands in one term, once.
    pub fn solve(&mut self, size: &Size, value: i64) -> bool {
        let mut unknown = None;
        let mut rest = 0i64;
        for (names, coefficient) in size.terms() {
            let mut factor = *coefficient;
            let mut missing = None;
            for name in names {
                match self.get(*name) {
                    Some(v) => factor = factor.wrapping_mul(v),
                    None if missing.is_none() => missing = Some(*name),
                    None => return false,
                }
            }
            match missing {
                None => rest = rest.wrapping_add(factor),
                Some(name) if unknown.is_none() => unknown = Some((name, factor)),
                Some(_) => return false,
            }
        }
        let Some((name, factor)) = unknown else { return false };
        let Some(remaining) = value.checked_sub(rest) else { return false };
        if factor == 0 || remaining.checked_rem(factor) != Some(0) {
            return false;
        }
        self.set(name, remaining / factor);
        true
    }

    /// Solves "product of the dimensions = length" if one of the dimensions is not known.
    pub fn solve_product(&mut self, dims: &[Size], len: i64) -> bool {
        let mut known = 1i64;
        let mut unknown = None;
        for dim in dims {
            match self.eval(dim) {
                Some(value) => known = known.wrapping_mul(value),
                None if unknown.is_none() => unknown = Some(dim),
                None => return false,
            }
        }
        match unknown {
            Some(dim) if known > 0 && len % known == 0 => self.solve(dim, len / known),
            _ => false,
        }
    }
}
