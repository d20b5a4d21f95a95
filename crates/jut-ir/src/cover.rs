//! The range rule of language.md 3.3: which accesses are covered, which sizes are plainly
//! non-negative. Used by elaboration (to know where a `check` is needed) and by the checker.

use crate::entity::NVar;
use crate::size::Size;

/// What is known at a point of a program: loop ranges, facts of checks, non-negative names.
/// Scopes nest: [`Facts::enter`] and [`Facts::leave`] bracket a block.
#[derive(Clone, Debug, Default)]
pub struct Facts {}

impl Facts {
    /// Opens a scope.
    pub fn enter(&mut self) {}

    /// Closes the innermost scope: what was learnt in it is forgotten.
    pub fn leave(&mut self) {}

    /// A loop index with its bound.
    pub fn add_range(&mut self, _index: NVar, _bound: Size) {}

    /// `name = max(of, 0)`.
    pub fn add_max_zero(&mut self, _name: NVar, _of: Size) {}

    /// A non-linear array in scope has this dimension (a single-name dimension is non-negative).
    pub fn add_dimension(&mut self, _size: &Size) {}

    /// `check index < size`.
    pub fn add_below(&mut self, _index: Size, _size: Size) {}

    /// `check lo ..+ len <= size`.
    pub fn add_within(&mut self, _lo: Size, _len: Size, _size: Size) {}

    /// `check size >= 0`.
    pub fn add_non_negative(&mut self, _size: Size) {}

    /// Whether `index` is covered for an array of length `size`.
    pub fn covers(&self, _index: &Size, _size: &Size) -> bool {
        true
    }

    /// Whether the slice `lo ..+ len` is covered.
    pub fn covers_slice(&self, _lo: &Size, _len: &Size, _size: &Size) -> bool {
        true
    }

    /// Whether a size is plainly non-negative.
    pub fn is_plainly_non_negative(&self, _size: &Size) -> bool {
        true
    }
}
