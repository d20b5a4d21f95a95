//! Whether iterations that run in order may take their steps together: statement by statement, each for all of them.
//!
//! They may if no two of them reach the same cell, of which one is stored to. They also may if, wherever two do, the statement of
//! the earlier iteration is the earlier one in the body: then it runs first in any case.
//!
//! *Requires*: accesses in the order of the body. *Cost*: the number of stores times that of accesses.

use crate::analysis::{Distance, Distances, Reached, Roots};
use crate::form::{Atom, LoopFunction, Order, Value};

/// What is known of the memory of a function.
pub(in crate::opt) struct Memory {
    pub(in crate::opt) roots: Roots,
    distances: Distances,
}

impl Memory {
    /// Looks at a function.
    pub(in crate::opt) fn of(func: &LoopFunction) -> Memory {
        Memory { roots: Roots::of(func), distances: Distances::of(func) }
    }

    /// Whether a cell that is a row further in each iteration is another one in each: rows may be of no length, but not where they have
    /// this cell.
    pub(super) fn is_in_a_row(&self, index: Atom, length: Atom) -> bool {
        self.distances.is_below(index, length)
    }
}

/// How iterations of a loop may be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Together {
    /// In any order.
    Apart,
    /// Statement by statement in the order of the loop.
    Forward,
    /// One by one.
    No,
}

/// A load or store.
struct Access {
    buffer: Value,
    index: Atom,
    /// Whether it is another cell in each iteration.
    apart: bool,
    /// Which cell, if that is known.
    cell: Option<Reached>,
    stores: bool,
}

/// The loads and stores of a body, in its order.
pub(super) struct Accesses {
    /// The index of the loop.
    index: Value,
    all: Vec<Access>,
}

impl Accesses {
    /// None yet, of a loop with this index.
    pub(super) fn of(index: Value) -> Accesses {
        Accesses { index, all: Vec::new() }
    }

    /// One more, of the cell of a buffer at an index, which is `apart` if it is known to be another one in each iteration; `same` says what
    /// is the same in all.
    pub(super) fn push(
        &mut self,
        memory: &Memory,
        (buffer, index, apart): (Value, Atom, bool),
        same: &dyn Fn(Value) -> bool,
        stores: bool,
    ) {
        let cell = memory.distances.cell(buffer, index, self.index, same);
        self.all.push(Access { buffer, index, apart, cell, stores });
    }

    fn stores(&self) -> impl Iterator<Item = (usize, &Access)> {
        self.all.iter().enumerate().filter(|(_, access)| access.stores)
    }

    /// Whether nothing is stored.
    pub(super) fn store_nothing(&self) -> bool {
        self.stores().next().is_none()
    }

    /// Whether something is stored that may be in a buffer.
    pub(super) fn store_to(&self, memory: &Memory, buffer: Value) -> bool {
        self.stores().any(|(_, store)| memory.roots.may_overlap(store.buffer, buffer))
    }

    /// How iterations that run in an order, of which so many are taken at most, may take their steps together.
    pub(super) fn together(&self, memory: &Memory, order: Order, most: u64) -> Together {
        let mut all = Together::Apart;
        for (at, store) in self.stores() {
            for (place, other) in self.all.iter().enumerate() {
                if place == at || other.stores && place > at {
                    continue;
                }
                let distance = self.distance(memory, store, other);
                match distance {
                    Distance::Apart | Distance::Iterations(0) => {}
                    Distance::Iterations(behind) => {
                        // Whether the store is in the later one of the iterations that reach the same cell.
                        let later = (behind > 0) != (order == Order::Down);
                        if later != (place < at) && behind.unsigned_abs() < most {
                            return Together::No;
                        }
                        all = Together::Forward;
                    }
                    Distance::Unknown => return Together::No,
                }
            }
        }
        all
    }

    fn distance(&self, memory: &Memory, store: &Access, other: &Access) -> Distance {
        if store.apart && (store.buffer, store.index) == (other.buffer, other.index) {
            return Distance::Iterations(0);
        }
        let known = match (&store.cell, &other.cell) {
            (Some(a), Some(b)) => memory.distances.between(a, b, self.index),
            _ => Distance::Unknown,
        };
        match known {
            Distance::Unknown if !memory.roots.may_overlap(store.buffer, other.buffer) => {
                Distance::Apart
            }
            known => known,
        }
    }
}
