//! Which sums load what has just been stored.
//!
//! A processor hands on what a store is about to write to a load of the same cells, and waits where a load finds one part of it in one store and another
//! part elsewhere. A sum of a few terms stands in a loop, and what it loads may have been stored by the statements round it:
//!
//! ```text
//! for up (c in 0 .. k) {
//!   e[0] = a  ..  e[1] = b                   two stores
//!   (r) = lanes (i in 0 .. d) {
//!     ..  f[i] = v                           neighbours
//!   }
//!   (s) = lanes (j in 0 .. d) {
//!     t = e[j]                               just stored, one by one
//!     u = f[j]                               just stored as it is loaded
//!     w = y[j]  ..  y[j] = z                 stored by the sum itself, as it is loaded
//!     q = m[j]                               stored long ago
//!     ..
//! ```
//!
//! So a backend that takes two neighbours at once does not do so for a few terms if there is an `e`.
//!
//! Requires: a well-formed function. Cost: linear in the function and in the nesting of its blocks, and for each such sum the square of its body, which is never long
//! (`longest` in [`crate::target::Vectors`]).

use super::effects::{Access, accesses};
use super::{Class, Classes, Roots};
use crate::form::{Block, Kind, Lanes, LoopFunction, Stmt, Value};
use jut_ir::hash::{HashMap, HashSet};

/// The sums of a function that load what has just been stored.
#[derive(Default)]
pub struct JustStored {
    /// By their indices.
    loops: HashSet<Value>,
}

/// The statement of a block that stores to an array, or that there are several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    One(usize),
    Several,
}

/// What the statements of a block store to.
#[derive(Default)]
struct Stored {
    places: HashMap<Value, By>,
    /// Those that store to arrays of which it is not known what they are.
    unknown: Option<By>,
}

impl JustStored {
    /// Looks at a function for which it is [decided](crate::opt::for_target) what is taken at once.
    pub fn of(func: &LoopFunction) -> JustStored {
        let mut found = JustStored::default();
        if func.body.any(&mut |stmt| marked(Some(stmt)).is_some()) {
            found.block(&func.body, func, &Roots::of(func));
        }
        found
    }

    /// Whether the sum with such an index loads neighbours that were not stored at once by a sum over the same range.
    pub fn is_loaded_by(&self, index: Value) -> bool {
        self.loops.contains(&index)
    }

    fn block(&mut self, block: &Block, func: &LoopFunction, roots: &Roots) {
        if block.stmts.iter().any(|stmt| marked(Some(stmt)).is_some()) {
            let stored = Stored::by(block, func, roots);
            for (k, stmt) in block.stmts.iter().enumerate() {
                if let Some(sum) = marked(Some(stmt))
                    && stored.is_loaded(block, k, roots, self)
                {
                    self.loops.insert(sum.index);
                }
            }
        }
        for inner in block.stmts.iter().flat_map(Stmt::blocks) {
            self.block(inner, func, roots);
        }
    }
}

impl By {
    fn also(by: Option<By>, k: usize) -> By {
        match by {
            Some(by) if by != By::One(k) => By::Several,
            _ => By::One(k),
        }
    }
}

impl Stored {
    fn by(block: &Block, func: &LoopFunction, roots: &Roots) -> Stored {
        let mut stored = Stored::default();
        let is_buffer = |v: Value| matches!(func.values[v].kind, Kind::Buffer(_));
        for (k, stmt) in block.stmts.iter().enumerate() {
            let mut written = |buffer: Value, access: Access| {
                if access == Access::Write && !roots.is_constant(buffer) {
                    let places = roots.places(buffer);
                    if places.is_empty() {
                        stored.unknown = Some(By::also(stored.unknown, k));
                    }
                    for place in places {
                        let by = By::also(stored.places.get(&place).copied(), k);
                        stored.places.insert(place, by);
                    }
                }
            };
            accesses(stmt, is_buffer, &mut written);
            for inner in stmt.blocks() {
                inner.for_each(&mut |stmt| accesses(stmt, is_buffer, &mut written));
            }
        }
        stored
    }

    /// Whether a sum, which is statement k of the block, loads neighbours from an array that another one stores to, or where it does not store to it itself.
    fn is_loaded(&self, block: &Block, k: usize, roots: &Roots, found: &JustStored) -> bool {
        let Some(sum) = marked(block.stmts.get(k)) else { return false };
        let classes = Classes::of(sum.index, &sum.carry, &sum.body);
        let by_another = |by: By| by != By::One(k);
        let unknown = self.unknown.is_some_and(by_another);
        let in_pairs = |by: By, buffer: Value, at: i64| {
            let By::One(other) = by else { return false };
            match marked(block.stmts.get(other)) {
                Some(other) if other.index == sum.index => stores_at(sum, buffer, at, roots),
                Some(other) => {
                    let same_range = (other.low, other.high) == (sum.low, sum.high);
                    same_range
                        && !found.loops.contains(&other.index)
                        && stores_at(other, buffer, at, roots)
                }
                None => false,
            }
        };
        sum.body.any(&mut |stmt| {
            let Stmt::Load { buffer, index, .. } = stmt else { return false };
            if roots.is_constant(*buffer) || classes.place(*buffer, *index) != Class::Step(1) {
                return false;
            }
            let (places, at) = (roots.places(*buffer), classes.offset(*index));
            unknown
                || places.is_empty()
                || places
                    .iter()
                    .filter_map(|place| self.places.get(place))
                    .any(|by| !at.is_some_and(|at| in_pairs(*by, *buffer, at)))
        })
    }
}

/// A sum of which several iterations are taken at once.
fn marked(stmt: Option<&Stmt>) -> Option<&Lanes> {
    match stmt {
        Some(Stmt::Lanes(sum)) if sum.vector.is_some() => Some(sum),
        _ => None,
    }
}

/// Whether all that a sum stores goes so many cells behind its index in this array, or to other arrays.
fn stores_at(sum: &Lanes, buffer: Value, at: i64, roots: &Roots) -> bool {
    let classes = Classes::of(sum.index, &sum.carry, &sum.body);
    !sum.body.any(&mut |stmt| match stmt {
        Stmt::Store { buffer: other, index, .. } => {
            roots.may_overlap(*other, buffer)
                && (*other != buffer || classes.offset(*index) != Some(at))
        }
        _ => false,
    })
}
