//! Sizes that a call leaves out, from the types of what it is given: `[n]` against `[m - 1]` gives `n := m - 1`, `[n + 1]` against
//! `[m]` gives `n := m - 1`. What is no unknown plus a constant solves nothing; the types are compared afterwards.

use jut_ir::{NVar, Size, Type};
use std::collections::{HashMap, HashSet};

/// Solves the sizes of a call from pairs of types.
pub(super) struct Solver<'x> {
    /// Not solved yet.
    pub unknown: HashSet<NVar>,
    pub map: &'x mut HashMap<NVar, Size>,
}

impl Solver<'_> {
    pub fn types(&mut self, declared: &Type, given: &Type) {
        match (declared, given) {
            (Type::Array(s, declared), Type::Array(t, given)) => {
                self.size(s, t);
                self.types(declared, given);
            }
            (Type::Tuple(declared), Type::Tuple(given)) => {
                for (declared, given) in declared.iter().zip(given) {
                    self.types(declared, given);
                }
            }
            _ => {}
        }
    }

    /// Solves `declared = given` where `declared` is an unknown plus a constant: `n + 1`.
    fn size(&mut self, declared: &Size, given: &Size) {
        let mut open = declared.names().into_iter();
        let (Some(v), None) = (open.next(), open.next()) else { return };
        if !self.unknown.contains(&v) {
            return;
        }
        let alone = |(names, c): &(Vec<NVar>, i64)| names.as_slice() == [v] && *c == 1;
        let occurs = declared.terms().iter().filter(|(names, _)| names.contains(&v)).count();
        if occurs == 1 && declared.terms().iter().any(alone) {
            let rest = declared.clone() - Size::var(v);
            if rest.names().is_empty() {
                self.unknown.remove(&v);
                self.map.insert(v, given.clone() - rest);
            }
        }
    }
}
