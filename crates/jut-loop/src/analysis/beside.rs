//! What a load finds that the same body has stored just before, a few cells beside.
//!
//! The loop back through a stencil adds to neighbours, in vectors of eight:
//!
//! ```text
//! for down vector 8 (i in 0 .. n) {
//!   ..  y[i] = s                     one store of eight neighbours
//!   j = i + 1
//!   t = y[j]                         of these, seven are what was stored
//!   ..  y[j] = u
//! }
//! ```
//!
//! A processor hands on what one store has stored, and waits where a load finds part of it in a store and part of it elsewhere. So a backend
//! takes the seven from the vector that it has stored, and loads one.
//!
//! For the same reason numbers that lie a few cells apart, such as one coordinate of eight points, are taken from two or three vectors of neighbours only if
//! the body stores nothing among them.
//!
//! Requires: a well-formed function. Cost: linear; no more than [`MOST`] stores of a body are remembered.

use cranelift_entity::SecondaryMap;

use super::Roots;
use super::linear::{Linear, Linears};
use crate::form::{Atom, Block, LANES, LoopFunction, Stmt, Value};

/// Stores of a body that are remembered at once.
const MOST: usize = 8;

/// How far beside a load may be: so many numbers are loaded one by one.
const FARTHEST: u64 = 2;

/// What loads of a function find, in the bodies of which several iterations are taken at once.
#[derive(Default)]
pub struct Beside {
    stored: SecondaryMap<Value, Option<(Atom, i64)>>,
    alone: SecondaryMap<Value, bool>,
}

impl Beside {
    /// Looks at a function for which it is [decided](crate::opt::for_target) what is taken at once.
    pub fn of(func: &LoopFunction) -> Beside {
        let marked = |stmt: &Stmt| match stmt {
            Stmt::For(f) => f.vector.is_some(),
            Stmt::Lanes(l) => l.vector.is_some(),
            _ => false,
        };
        let mut found = Beside::default();
        if !func.body.any(&mut |stmt| marked(stmt)) {
            return found;
        }
        let (roots, mut sums) = (Roots::of(func), Linears::default());
        func.body.for_each(&mut |stmt| sums.learn(stmt));
        func.body.for_each(&mut |stmt| {
            if marked(stmt) {
                for body in stmt.blocks() {
                    found.look(body, &roots, &sums);
                    found.look_for_stores(body, &roots);
                }
            }
        });
        found
    }

    /// If what is loaded was stored in the same iterations, but for a few cells: the number that each of them has stored, and how many
    /// cells behind those that were stored the ones that are loaded begin (before them, if it is less than 0).
    pub fn stored(&self, loaded: Value) -> Option<(Atom, i64)> {
        self.stored[loaded]
    }

    /// Whether the body stores nothing that may lie beside what is loaded.
    pub fn is_alone(&self, loaded: Value) -> bool {
        self.alone[loaded]
    }

    fn look_for_stores(&mut self, body: &Block, roots: &Roots) {
        let mut stored: Vec<Value> = Vec::new();
        body.for_each(&mut |stmt| match stmt {
            Stmt::Store { buffer, .. } if !stored.contains(buffer) => stored.push(*buffer),
            _ => {}
        });
        body.for_each(&mut |stmt| {
            if let Stmt::Load { dst, buffer, .. } = stmt {
                self.alone[*dst] = !stored.iter().any(|other| roots.may_overlap(*other, *buffer));
            }
        });
    }

    fn look(&mut self, body: &Block, roots: &Roots, sums: &Linears) {
        let mut known: Vec<(Value, Linear, Atom)> = Vec::new();
        for stmt in &body.stmts {
            match stmt {
                Stmt::Load { dst, buffer, index } => {
                    let index = sums.of(*index);
                    let near = known.iter().find_map(|(stored, place, value)| {
                        let cells = distance(place, &index).filter(|_| stored == buffer)?;
                        (cells.unsigned_abs() <= FARTHEST && cells != 0).then_some((*value, cells))
                    });
                    self.stored[*dst] = near;
                }
                Stmt::Store { buffer, index, value } => {
                    let index = sums.of(*index);
                    // Eight iterations store to eight neighbours.
                    let far = |cells: i64| cells.unsigned_abs() >= LANES as u64;
                    known.retain(|(stored, place, _)| {
                        let elsewhere =
                            stored == buffer && distance(place, &index).is_some_and(far);
                        elsewhere || !roots.may_overlap(*buffer, *stored)
                    });
                    if known.len() == MOST {
                        known.remove(0);
                    }
                    known.push((*buffer, index, *value));
                }
                other => {
                    let stores = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
                    if other.blocks().into_iter().any(|block| block.any(&mut |stmt| stores(stmt))) {
                        known.clear();
                    }
                }
            }
        }
    }
}

/// How many cells the second place is behind the first, if that is always the same.
fn distance(first: &Linear, second: &Linear) -> Option<i64> {
    let same = first.terms() == second.terms();
    same.then(|| second.offset().checked_sub(first.offset())).flatten()
}
