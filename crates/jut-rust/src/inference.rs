//! What is known of types.
//!
//! Types that the text of one function tells are found from front to back, in several passes: a number without a suffix has a type
//! of its own, `Int(k)` or `Float(k)`, which is united with what stands beside it, and the next pass begins with what was found.
//! The types of fields, constants and results of other functions are known to rustc only: `Of(hole, steps)`. What is written
//! differently for different types has all forms then, between tags.
//!
//! ```text
//! let mut s = 0.0;                 Float(0), f64 if nothing else is found
//! s += x[i];                       f32, if x is a &[f32]: `var s = 0.0f32`
//! let mut k = 3;                   Int(0)
//! pick(x, k);                      if nothing else is found, what `pick` takes: Of(hole, [Parameter(1)])
//! ```
//!
//! Holes have other numbers in the next pass where that finds more or fewer of them. So what refers to one, `Of(hole, ..)`, is found again in each
//! pass, the first time that the same is said, and the last pass is one that finds what it began with.
//!
//! An integer of which nothing at all is found is an `i32` in Rust. That nothing is found is known here only as far as this file
//! looks; where the meaning depends on it, rustc is asked: see [`crate::literals`].

use crate::lowering::Lowering;
use crate::types::{Step, Ty, array};
use crate::value::Value;

impl Lowering<'_> {
    /// The type as far as it is known now.
    pub fn resolve(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Int(k) => match self.learned.integers.get(*k) {
                Some(Some(found)) => self.resolve(found),
                _ if self.learned.closed.contains(k) => {
                    self.learned.given.get(k).unwrap_or(ty).clone()
                }
                _ => ty.clone(),
            },
            Ty::Float(k) => match self.learned.floats.get(*k) {
                // What rustc knows is a float anyway.
                Some(Some(Ty::Of(..)) | None) | None => ty.clone(),
                Some(Some(found)) => self.resolve(found),
            },
            Ty::Array(element, extent) => array(self.resolve(element), extent.clone()),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|t| self.resolve(t)).collect()),
            Ty::Option(inner) => Ty::Option(Box::new(self.resolve(inner))),
            other => other.clone(),
        }
    }

    /// The number of an integer of which at most calls say what it is.
    fn open_integer(&self, ty: &Ty) -> Option<usize> {
        let Ty::Int(k) = ty else { return None };
        match self.learned.integers.get(*k) {
            Some(Some(found)) => self.open_integer(found),
            _ => Some(*k),
        }
    }

    /// The number of an integer that is what a hole says.
    fn known_integer(&self, ty: &Ty) -> Option<usize> {
        let Ty::Int(k) = ty else { return None };
        match self.learned.integers.get(*k) {
            Some(Some(Ty::Of(..))) => Some(*k),
            Some(Some(found)) => self.known_integer(found),
            _ => None,
        }
    }

    /// What an earlier pass knew of an integer by a hole, this one knows by its own hole.
    fn found_again(&mut self, ty: &Ty, found: &Ty) {
        if let (Some(k), Ty::Of(..)) = (self.known_integer(ty), found)
            && self.open.known.insert(k)
        {
            self.learned.integers[k] = Some(found.clone());
        }
    }

    /// Two types that rustc says are one.
    pub fn unify(&mut self, a: &Ty, b: &Ty) -> Ty {
        self.found_again(a, b);
        self.found_again(b, a);
        match (self.resolve(a), self.resolve(b)) {
            (Ty::Int(j), Ty::Int(k)) if j == k => Ty::Int(j),
            (Ty::GUESS, found) | (found, Ty::GUESS) => found,
            (Ty::Int(k), found) | (found, Ty::Int(k))
                if found.is_integer() || matches!(found, Ty::Of(..)) =>
            {
                if let Some(slot) = self.learned.integers.get_mut(k) {
                    *slot = Some(found.clone());
                    self.open.known.insert(k);
                }
                if let Ty::Int(j) = found {
                    self.learned.merge(k, j);
                }
                found
            }
            (Ty::Float(j), Ty::Float(k)) if j == k => Ty::Float(j),
            (Ty::Float(j), Ty::Float(k)) => {
                let (from, to) = if self.float_slot(j).is_none() { (j, k) } else { (k, j) };
                self.float_is(from, Ty::Float(to));
                Ty::Float(to)
            }
            (Ty::Float(k), found @ (Ty::F64 | Ty::F32))
            | (found @ (Ty::F64 | Ty::F32), Ty::Float(k)) => {
                self.float_is(k, found.clone());
                found
            }
            (Ty::Float(k), found @ Ty::Of(..)) | (found @ Ty::Of(..), Ty::Float(k)) => {
                self.float_is(k, found);
                Ty::Float(k)
            }
            (Ty::Never, known) | (known, Ty::Never) => known,
            // What is in a row, is in no other list of a text that has rows.
            (row, other) | (other, row) if self.is_row(&row) && matches!(other, Ty::Array(..)) => {
                row
            }
            (Ty::Of(hole, steps), known) | (known, Ty::Of(hole, steps)) => {
                self.said(&known, hole, &steps);
                known
            }
            (Ty::Array(a, extent), Ty::Array(b, _)) => array(self.unify(&a, &b), extent),
            (Ty::Option(a), Ty::Option(b)) => Ty::Option(Box::new(self.unify(&a, &b))),
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                Ty::Tuple(a.iter().zip(&b).map(|(a, b)| self.unify(a, b)).collect())
            }
            (known, _) => known,
        }
    }

    /// An integer whose type is not known yet.
    pub fn unknown_integer(&mut self) -> Ty {
        let k = self.open.integers;
        self.open.integers += 1;
        if self.learned.integers.len() <= k {
            self.learned.integers.push(None);
        }
        Ty::Int(k)
    }

    /// A value of a type is what some steps lead to: the integers in it whose type nothing else decides are what that has there.
    pub fn said(&mut self, ty: &Ty, hole: usize, steps: &[Step]) {
        let then = |step: Step| steps.iter().cloned().chain([step]).collect::<Vec<_>>();
        match ty {
            Ty::Int(_) => {
                if let Some(k) = self.open_integer(ty)
                    && self.open.given.insert(k)
                {
                    self.learned.given.insert(k, Ty::Of(hole, steps.to_vec()));
                }
            }
            Ty::Array(element, _) => self.said(element, hole, &then(Step::Element)),
            Ty::Tuple(items) => {
                for (k, item) in items.iter().enumerate() {
                    self.said(item, hole, &then(Step::Component(k)));
                }
            }
            // Whether it is there is before it.
            Ty::Option(inner) => self.said(inner, hole, &then(Step::Component(1))),
            _ => {}
        }
    }

    /// The meaning of an operation depends on whether its integers are of 32 bits.
    pub fn depends(&mut self, ty: &Ty) {
        if let Ty::Int(k) = self.resolve(ty) {
            self.learned.ranged.insert(k);
        }
    }

    /// A float whose type is not known yet.
    pub fn unknown_float(&mut self) -> Ty {
        let k = self.open.floats;
        self.open.floats += 1;
        if self.learned.floats.len() <= k {
            self.learned.floats.push(None);
        }
        Ty::Float(k)
    }

    fn float_slot(&self, k: usize) -> Option<&Ty> {
        self.learned.floats.get(k).and_then(Option::as_ref)
    }

    /// A float of unknown type is of this one. What rustc knows gives way to what is known here.
    fn float_is(&mut self, k: usize, found: Ty) {
        let open = match (self.float_slot(k), &found) {
            (None, _) | (Some(Ty::Of(..)), Ty::F64 | Ty::F32) => true,
            (Some(Ty::Of(..)), Ty::Of(..)) => !self.open.measured.contains(&k),
            _ => false,
        };
        if open {
            self.open.measured.insert(k);
        }
        if let Some(slot) = self.learned.floats.get_mut(k).filter(|_| open) {
            *slot = Some(found);
        }
    }

    /// The text for floats of a type: one for 64 bits, one for 32. Where rustc knows, both are there.
    pub fn by_width(&self, ty: &Ty, wide: &str, short: &str) -> String {
        let ty = self.resolve(ty);
        let known = match &ty {
            Ty::F32 => return short.to_string(),
            Ty::Float(k) => self.float_slot(*k).cloned(),
            Ty::Of(..) => Some(ty),
            _ => None,
        };
        match known.map(|ty| (self.only("f64", &ty), self.only("f32", &ty))) {
            Some((Some(one), Some(other))) if wide != short => {
                format!("{}{wide}{}{}{short}{}", one.0, one.1, other.0, other.1)
            }
            _ => wide.to_string(),
        }
    }

    /// A number as the text of a float.
    pub fn float(&self, digits: &str, ty: &Ty) -> String {
        self.by_width(ty, digits, &format!("{digits}f32"))
    }

    /// A value where one of a type is wanted.
    pub fn convert(&mut self, mut value: Value, wanted: &Ty) -> Value {
        value = self.with_rows(value, wanted);
        match (self.is_uneven(&value.ty), self.is_uneven(wanted)) {
            (false, true) => return self.in_rows(value),
            (true, false) if matches!(self.resolve(wanted), Ty::Array(..)) => {
                return self.evened(value, None);
            }
            (true, _) => return value,
            (false, false) if self.is_row(wanted) => return self.made_row(value),
            (false, false) => {}
        }
        value = match (self.resolve(&value.ty), wanted) {
            (Ty::Of(..), Ty::Option(_)) => self.as_pair(value),
            (Ty::Option(_), Ty::Of(hole, steps)) => self.as_known(value, *hole, steps),
            _ => value,
        };
        value.ty = match (self.unify(&value.ty, wanted), wanted) {
            (Ty::Never, _) => Ty::Never,
            _ => wanted.clone(),
        };
        if value.ty == Ty::Usize {
            value.least = value.least.max(0);
        }
        value
    }
}
