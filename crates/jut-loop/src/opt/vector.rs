//! Which loops are taken several iterations at a time, and how.
//!
//! The lanes of a `lanes` loop are independent, and so are the iterations of a `for par`, so several
//! of them may share vectors: every lane computes exactly what the scalar operation computes. This
//! pass marks the loops for which that is right and which the [target](crate::target) can take; a backend
//! translates what is marked, with the [classes](crate::analysis::Classes) of its values.
//!
//! ```text
//! (s) = lanes (i in 0 .. n) carry (s_1) {    (s) = lanes vector 8 (i in 0 .. n) carry (s_1) {
//!   x = xs[i]                                  one load of eight neighbours
//!   p = x * x                                  one multiplication
//!   t[i] = p                                   one store
//!   s_2 = s_1 + p                              one addition
//!   (s_2)                                      (s_2)
//! }                                          }
//! ```
//!
//! A body qualifies if it consists of operations, loads and checks, of branches that only compute
//! (both sides are computed, and the results selected), and of stores at the index plus something to
//! memory that nothing else in the body reads or writes, but for the same cell: then it does not
//! matter that several iterations take their steps together. In a `for par` it never does.
//!
//! Of a loop like that which runs down, and in which nothing fails, the order does not matter either: it becomes a
//! `for par`. Such loops are the transposes of those that change the elements of an array one by one.
//!
//! **Failing.** A check holds for several iterations if it holds for all. If not, the vector is left for
//! single iterations, with the lanes as they were before: so the right iteration fails, and no check
//! may stand behind a store.
//!
//! Requires: a well-formed function, tidied up. Ensures: the same bits and the same errors, which the
//! evaluator of the loop form tests: it takes marked loops as machines do. Cost: linear.

use crate::analysis::{Class, Classes, Roots};
use crate::form::{
    Atom, Block, Cell, For, Kind, LANES, Lanes, LoopFunction, Order, Stmt, Value, Vector,
};
use crate::target::{Loops, Vectors};
use jut_ir::prim::{Lowering, Machine};

/// Marks the loops of a function.
pub(super) fn run(func: &mut LoopFunction, target: &Vectors) {
    if !func.body.any(&mut |stmt| stmt.is_loop()) {
        return;
    }
    let roots = Roots::of(func);
    let mut body = std::mem::take(&mut func.body);
    body.for_each_mut(&mut |stmt| match stmt {
        Stmt::For(f) => mark(func, &roots, target, f),
        Stmt::Lanes(l) => l.vector = of_lanes(func, &roots, target, l),
        _ => {}
    });
    func.body = body;
}

fn mark(func: &LoopFunction, roots: &Roots, target: &Vectors, f: &mut For) {
    if !f.carry.is_empty() || target.loops == Loops::None {
        return;
    }
    let Some(survey) = Survey::of(func, roots, target, f.index, &[], &f.body) else { return };
    if f.order != Order::Par && !survey.may_be_together() {
        return;
    }
    if f.order == Order::Down {
        // The last iteration that fails is the first to run.
        if survey.checks {
            return;
        }
        f.order = Order::Par;
    }
    if target.loops == Loops::All || survey.calls_wide {
        f.vector = Some(survey.vector(target.together));
    }
}

fn of_lanes(func: &LoopFunction, roots: &Roots, target: &Vectors, l: &Lanes) -> Option<Vector> {
    let survey = Survey::of(func, roots, target, l.index, &l.carry, &l.body)?;
    survey.may_be_together().then(|| survey.vector(LANES as u32))
}

/// A buffer and the index of a cell.
type Place = (Value, Atom);

/// What is found in a body.
struct Survey<'a> {
    func: &'a LoopFunction,
    roots: &'a Roots,
    target: &'a Vectors,
    classes: Classes,
    loads: Vec<Place>,
    stores: Vec<Place>,
    /// Whether an iteration may fail.
    checks: bool,
    /// Whether a function that takes a vector is called.
    calls_wide: bool,
    /// Whether there are products of derivatives that differ between iterations.
    products: bool,
    /// Whether every load may stand before all stores.
    loads_first: bool,
}

impl<'a> Survey<'a> {
    /// What is found in a body that the target can take.
    fn of(
        func: &'a LoopFunction,
        roots: &'a Roots,
        target: &'a Vectors,
        index: Value,
        carry: &[Value],
        body: &Block,
    ) -> Option<Survey<'a>> {
        if body.size() > target.longest {
            return None;
        }
        let mut survey = Survey {
            func,
            roots,
            target,
            classes: Classes::of(index, carry, body),
            loads: Vec::new(),
            stores: Vec::new(),
            checks: false,
            calls_wide: false,
            products: false,
            loads_first: true,
        };
        survey.block(body, false)?;
        Some(survey)
    }

    fn vector(&self, width: u32) -> Vector {
        Vector {
            width,
            masked: self.target.masked,
            stores_last: self.target.stores_last && self.products && self.loads_first,
        }
    }

    /// Whether iterations that run in order may take their steps together.
    fn may_be_together(&self) -> bool {
        self.stores.iter().enumerate().all(|(k, store)| {
            let mut others = self.loads.iter().chain(&self.stores[..k]);
            others.all(|other| store == other || !self.roots.may_overlap(store.0, other.0))
        })
    }

    /// `guarded` is what may not run.
    fn block(&mut self, block: &Block, guarded: bool) -> Option<()> {
        for stmt in &block.stmts {
            if !self.fits(stmt, guarded) {
                return None;
            }
            if let Stmt::If { then, other, .. } = stmt {
                self.block(then, true)?;
                self.block(other, true)?;
            }
        }
        Some(())
    }

    /// Whether the target can take a statement, not counting what is inside of it.
    fn fits(&mut self, stmt: &Stmt, guarded: bool) -> bool {
        let Survey { func, target, .. } = *self;
        match stmt {
            Stmt::Prim { dst, prim, args } => match prim.row().lowering {
                Lowering::Machine(op) => self.operation(op, *dst, guarded),
                Lowering::Runtime(_) if guarded => false,
                Lowering::Runtime(_) if self.classes.class(*dst) == Class::Same => true,
                Lowering::Runtime(symbol) => {
                    self.calls_wide |= (target.wide)(symbol);
                    (target.function)(symbol) && args.iter().all(|a| self.operand(*a))
                }
            },
            Stmt::Copy { .. } => true,
            Stmt::Load { buffer, index, .. } => {
                self.loads.push((*buffer, *index));
                let earlier = &mut self.stores.iter();
                self.loads_first &= earlier.all(|store| !self.roots.may_overlap(store.0, *buffer));
                !guarded && self.load(*buffer, *index)
            }
            Stmt::Offset { dst, .. } if !guarded => match self.classes.class(*dst) {
                Class::Same => true,
                Class::Step(_) => target.anywhere,
                Class::Wide => false,
            },
            Stmt::Store { buffer, index, value } if !guarded => {
                self.stores.push((*buffer, *index));
                self.classes.class(*buffer) == Class::Same
                    && self.classes.class(*index) == Class::Step(1)
                    && self.index(*index)
                    && self.operand(*value)
                    && self.cell(*buffer).is_some_and(|cell| self.has(cell))
            }
            Stmt::Check { .. } => {
                self.checks = true;
                !guarded && target.checks && self.stores.is_empty()
            }
            Stmt::If { dst, .. } => {
                let buffer = |v: &Value| matches!(func.values[*v].kind, Kind::Buffer(_));
                let integer = |v: &Value| func.values[*v].kind == Kind::I64;
                target.branches
                    && !dst.iter().any(buffer)
                    && (target.integers || !dst.iter().any(integer))
            }
            _ => false,
        }
    }

    fn operation(&mut self, op: Machine, dst: Value, guarded: bool) -> bool {
        let divides = matches!(op, Machine::IDiv | Machine::IRem);
        match self.classes.class(dst) {
            Class::Same => !(divides && guarded),
            Class::Step(_) => self.index(dst.into()),
            Class::Wide => {
                self.products |= op == Machine::FTimes;
                let integers = self.target.integers || self.func.values[dst].kind != Kind::I64;
                !divides && integers && (self.target.operation)(op)
            }
        }
    }

    /// Whether the target has what grows from one iteration to the next.
    fn index(&self, atom: Atom) -> bool {
        self.target.anywhere || self.classes.offset(atom).is_some()
    }

    /// Whether the target can put a value into a vector.
    fn operand(&self, atom: Atom) -> bool {
        self.target.integers || !matches!(self.classes.class(atom), Class::Step(_))
    }

    fn load(&self, buffer: Value, index: Atom) -> bool {
        let Some(cell) = self.cell(buffer) else { return false };
        match self.classes.place(buffer, index) {
            Class::Same => true,
            Class::Step(1) => self.has(cell) && self.index(index),
            Class::Step(_) => self.target.anywhere && self.has(cell) && cell != Cell::BOOL,
            Class::Wide => {
                let same = self.classes.class(buffer) == Class::Same;
                same && self.target.anywhere && self.has(cell) && cell != Cell::BOOL
            }
        }
    }

    fn cell(&self, buffer: Value) -> Option<Cell> {
        match self.func.values[buffer].kind {
            Kind::Buffer(cell) => Some(cell),
            _ => None,
        }
    }

    /// Whether the target has vectors of what is in a cell.
    fn has(&self, cell: Cell) -> bool {
        match cell {
            Cell::Scalar(scalar) => scalar.is_float() || self.target.integers,
            Cell::Buffer | Cell::Word => false,
        }
    }
}
