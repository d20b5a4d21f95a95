//! What of a function's memory lies in its stack frame, decided once for all backends that have one.
//!
//! A temporary allocation of constant length lies there, as long as a function has few of them. It ends with the function, at the
//! earliest where the allocation ends; each time that its statement runs, the one before has ended, and a body that is
//! translated twice has one place. The lanes of sums lie there too where they are not in registers: loops in one another
//! have places of their own, others the same.

use jut_ir::hash::{HashMap, HashSet};
use jut_ir::ir::Literal;
use jut_loop::form::{Arena, Atom, Cell, LoopFunction, Value};
use jut_loop::split;

/// Bytes of a function's stack for allocations: what [`jut_loop::opt::for_target`] adds, which comes first, and
/// some more.
const ROOM: u32 = jut_loop::opt::ADDED + 4 * 1024;

/// The stack frame of a function that is being translated, as far as jut decides it.
#[derive(Debug)]
pub struct Frame<P> {
    allocations: HashMap<Value, P>,
    /// Allocations that end later than the function.
    left: HashSet<Value>,
    /// Bytes for more.
    room: u32,
    /// The place of the lanes of each sum, by the depth of its loop in others whose lanes lie here.
    lanes: Vec<Vec<P>>,
    depth: usize,
}

impl<P: Copy> Frame<P> {
    /// One with nothing in it yet.
    pub fn of(function: &LoopFunction) -> Frame<P> {
        Frame {
            allocations: HashMap::default(),
            left: split::left(function),
            room: ROOM,
            lanes: Vec::new(),
            depth: 0,
        }
    }

    /// The place of an allocation, if it lies on the stack; `reserve` makes one of so many bytes.
    pub fn allocation(
        &mut self,
        (dst, arena): (Value, Arena),
        cell: Cell,
        len: Atom,
        reserve: impl FnOnce(u32) -> P,
    ) -> Option<P> {
        let Atom::Lit(Literal::I64(len)) = len else { return None };
        if arena != Arena::Temp || self.left.contains(&dst) {
            return None;
        }
        if let Some(place) = self.allocations.get(&dst) {
            return Some(*place);
        }
        let bytes = u32::try_from(len.max(1).checked_mul(cell.bytes())?).ok()?;
        self.room = self.room.checked_sub(bytes)?;
        let place = reserve(bytes);
        self.allocations.insert(dst, place);
        Some(place)
    }

    /// A place for the lanes of each sum of a loop; `reserve` makes one.
    pub fn lanes(&mut self, sums: usize, reserve: impl FnMut() -> P) -> Vec<P> {
        if self.lanes.len() <= self.depth {
            self.lanes.resize_with(self.depth + 1, Vec::new);
        }
        let lanes = &mut self.lanes[self.depth];
        if lanes.len() < sums {
            lanes.resize_with(sums, reserve);
        }
        lanes[..sums].to_vec()
    }

    /// A body begins whose lanes lie here.
    pub fn enter(&mut self) {
        self.depth += 1;
    }

    /// The body ends.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// How many cells a fill or a copy has, if it is spelled out: few.
pub fn spelled_out(len: Atom) -> Option<i64> {
    match len {
        Atom::Lit(Literal::I64(n)) if n <= SPELLED_OUT => Some(n.max(0)),
        _ => None,
    }
}

/// Fills and copies of at most so many cells are spelled out.
const SPELLED_OUT: i64 = 8;
