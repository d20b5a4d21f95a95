//! Which floats are no negative zero, so that adding 0.0 to them leaves them as they are.
//!
//! A sum of two floats is -0.0 only if both are. So what begins with 0.0 and is added to stays without negative zeros, and so does an array of
//! such numbers: the cotangent of an array that changes in place, say, of which a cell is taken, set to zero and added to again.
//!
//! ```text
//! fill g[n] = 0.0
//! for down (k in 0 .. m) { for down (i in 0 .. n) {
//!   a = g[i]                                             a: no negative zero
//!   b = 0.0 + a                                          so b is a
//!   g[i] = b
//!   h[i] += a * x[k]
//! } }
//! ```
//!
//! A square, what `abs` gives and what `exp` gives are none either, so distances are added up from their first square on.
//!
//! All are taken for such until something else is found to become one of them, round and round. Nothing is said of what comes from outside, of what a call or a
//! kernel writes, and of floats of 32 bits, whose rounding makes zeros of small negative numbers.
//!
//! Requires: cells are written before they are read. Cost: linear, times how often loops that hand on what others hand on are in each other.

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim;

use super::Roots;
use super::effects::{self, Access};
use crate::form::{Atom, Block, Cell, Kind, LoopFunction, Role, Stmt, Value};

/// Rounds after which nothing is known.
const ROUNDS: usize = 12;

/// What is known of the floats of a function.
pub struct Zeros {
    /// Numbers, and arrays with such numbers, that may be negative zeros.
    may: SecondaryMap<Value, bool>,
}

impl Zeros {
    /// Looks at a function; `None` if nothing is added to a zero that is written down, or stored, which is what this is asked about.
    pub fn of(func: &LoopFunction, roots: &Roots) -> Option<Zeros> {
        let stored = |stmt: &Stmt| matches!(stmt, Stmt::Store { value: Atom::Lit(Literal::F64(zero)), .. } if *zero == 0.0);
        let mut asked = |stmt: &Stmt| added_to_zero(stmt).is_some() || stored(stmt);
        func.body.any(&mut asked).then_some(())?;
        let mut search =
            Search { roots, arrays: Vec::new(), may: SecondaryMap::new(), changed: false };
        for param in &func.params {
            match func.values[param.value].kind {
                Kind::Buffer(Cell::F64) if param.role == Role::Out => {
                    search.arrays.push(param.value)
                }
                _ => search.may[param.value] = true,
            }
        }
        func.body.for_each(&mut |stmt| {
            if let Stmt::Alloc { dst, cell: Cell::F64, .. } = stmt {
                search.arrays.push(*dst);
            }
        });
        for _ in 0..ROUNDS {
            search.changed = false;
            func.body.for_each(&mut |stmt| search.learn(func, stmt));
            if !search.changed {
                return Some(Zeros { may: search.may });
            }
        }
        None
    }

    /// Whether a float is no negative zero.
    pub fn is_never(&self, float: Value) -> bool {
        !self.may[float]
    }
}

struct Search<'a> {
    roots: &'a Roots,
    /// The arrays of f64 that are allocated here, or results.
    arrays: Vec<Value>,
    may: SecondaryMap<Value, bool>,
    changed: bool,
}

impl Search<'_> {
    fn may(&self, atom: Atom) -> bool {
        match atom {
            Atom::Value(v) => self.may[v],
            Atom::Lit(Literal::F64(x)) => x == 0.0 && x.is_sign_negative() || x.is_nan(),
            Atom::Lit(_) => true,
        }
    }

    fn note(&mut self, value: Value, may: bool) {
        self.changed |= may && !self.may[value];
        self.may[value] |= may;
    }

    /// Of some results those that a block may make negative zeros.
    fn results(&mut self, dst: impl Iterator<Item = Value>, block: &Block) {
        for (dst, result) in dst.zip(&block.results) {
            let may = self.may(*result);
            self.note(dst, may);
        }
    }

    fn learn(&mut self, func: &LoopFunction, stmt: &Stmt) {
        match stmt {
            Stmt::Prim { dst, prim, args } => {
                let may = match (*prim, args.as_slice()) {
                    (prim::ADD, [a, b]) => self.may(*a) && self.may(*b),
                    (prim::SUB, [a, _]) => self.may(*a),
                    (prim::SELECT, [_, a, b]) => self.may(*a) || self.may(*b),
                    (prim::MUL, [a, b]) => a != b,
                    (prim::ABS | prim::EXP, _) => false,
                    _ => true,
                };
                self.note(*dst, may);
            }
            Stmt::Copy { dst, src } => {
                let may = self.may(*src);
                self.note(*dst, may);
            }
            Stmt::Load { dst, buffer, .. } => {
                let places = self.roots.places(*buffer);
                let known = func.values[*buffer].kind == Kind::Buffer(Cell::F64)
                    && !places.is_empty()
                    && !places.iter().any(|place| self.may[*place]);
                self.note(*dst, !known);
            }
            Stmt::Store { buffer, value, .. } | Stmt::Fill { buffer, value, .. } => {
                if self.may(*value) {
                    self.written(*buffer);
                }
            }
            Stmt::CopyCells { dst, src, .. } => {
                let places = self.roots.places(*src);
                if places.is_empty() || places.iter().any(|place| self.may[*place]) {
                    self.written(*dst);
                }
            }
            Stmt::For(f) => {
                for (k, (inside, initial)) in f.carry.iter().enumerate() {
                    let may =
                        self.may(*initial) || f.body.results.get(k).is_none_or(|r| self.may(*r));
                    self.note(*inside, may);
                    f.dst.get(k).into_iter().for_each(|last| self.note(*last, may));
                }
                self.note(f.index, true);
            }
            // Lanes begin with 0.0, and are added up.
            Stmt::Lanes(l) => {
                self.results(l.carry.iter().copied(), &l.body);
                self.results(l.dst.iter().copied(), &l.body);
            }
            Stmt::If { dst, then, other, .. } => {
                self.results(dst.iter().copied(), then);
                self.results(dst.iter().copied(), other);
            }
            // Which may find pointers in memory.
            Stmt::Call { dst, .. } => {
                self.arrays.clone().into_iter().for_each(|array| self.note(array, true));
                dst.iter().for_each(|v| self.note(*v, true));
            }
            other => {
                let is_buffer = |v| matches!(func.values[v].kind, Kind::Buffer(_));
                let mut written = Vec::new();
                effects::accesses(other, is_buffer, &mut |buffer, access| {
                    if access == Access::Write {
                        written.push(buffer);
                    }
                });
                written.into_iter().for_each(|buffer| self.written(buffer));
                let made = !matches!(other, Stmt::Alloc { .. } | Stmt::Offset { .. });
                other.bound().iter().filter(|_| made).for_each(|v| self.note(*v, true));
            }
        }
    }

    /// Notes that a buffer may have become one with negative zeros.
    fn written(&mut self, buffer: Value) {
        for k in 0..self.arrays.len() {
            let array = self.arrays[k];
            if self.roots.may_overlap(buffer, array) {
                self.note(array, true);
            }
        }
    }
}

/// What a statement adds to 0.0, and the sum.
pub fn added_to_zero(stmt: &Stmt) -> Option<(Value, Value)> {
    let Stmt::Prim { dst, prim: prim::ADD, args } = stmt else { return None };
    match args[..] {
        [Atom::Lit(Literal::F64(zero)), Atom::Value(x)]
        | [Atom::Value(x), Atom::Lit(Literal::F64(zero))]
            if zero == 0.0 =>
        {
            Some((*dst, x))
        }
        _ => None,
    }
}
