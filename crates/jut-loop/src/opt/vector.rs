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
//! A loop in order that carries nothing but sums is one of these, too, where the target can add up what
//! the iterations have computed, one after the other:
//!
//! ```text
//! (s) = for up vector 8 (i in 0 .. n) carry (s_1 = 0.0) {
//!   x = xs[i]                                  one load of eight neighbours
//!   p = x * x                                  one multiplication
//!   s_2 = s_1 + p                              eight additions in the order of the loop
//!   (s_2)
//! }
//! ```
//!
//! A body qualifies if it consists of operations, loads and checks, of branches of these
//! (both sides are computed, and the results selected; what is loaded and checked there counts for the iterations that take the branch,
//! where the target can tell them apart, and else nothing may be), and of stores at the index plus something, or a
//! multiple of it, to cells that nothing else in other iterations reads or writes: then it does not
//! matter that several iterations take their steps together. In a `for par` it never does. Nor does it where another iteration
//! reads or writes the cell, if of both statements that of the earlier iteration is the earlier one in the body: it runs first in any case.
//! So may do what the derivative of a stencil adds to neighbours,
//!
//! ```text
//! for down vector 8 (i in 0 .. n) carry (..) {     iteration i + 1 runs first, and adds to y[i + 1] here,
//!   .. y[i] = y[i] + t                             where iteration i does so
//!   .. y[i + 1] = y[i + 1] + u                     here.
//! }
//! ```
//!
//! Of a loop like that which runs down, and in which nothing fails, the order does not matter either: it becomes a
//! `for par`. Such loops are the transposes of those that change the elements of an array one by one.
//!
//! A loop of sums may stand in the body where the target can take that: it has as many iterations for all, and what it loads is
//! the same for all or lies side by side. So a product of a row and a matrix, whose sums go down columns, goes along rows:
//!
//! ```text
//! for par vector 8 (j in 0 .. m) {
//!   (s) = lanes (i in 0 .. n) carry (s_1) {
//!     x = xs[i]                                one load
//!     at = i * m
//!     row = a[at ..]
//!     y = row[j]                               one load of eight neighbours
//!     p = x * y                                one multiplication
//!     s_2 = s_1 + p                            one addition
//!     (s_2)
//!   }
//!   y[j] = s
//! }
//! ```
//!
//! So may one that carries anything from one iteration to the next, upwards or down, and where the loop around is a `for par` it may store: each of several
//! paths goes its way, a step of all of them at a time. Eight steps of a path have to be taken one after the other:
//!
//! ```text
//! for par vector 8 (i in 0 .. paths) {
//!   row = i * n
//!   tape = t[row ..]
//!   (v) = for up (j in 0 .. n) carry (v_1 = v0) {
//!     tape[j] = v_1                            eight stores, each in a row of its own
//!     s = sqrt(v_1)                            one square root of eight
//!     ..
//! ```
//!
//! **Failing.** A check holds for several iterations if it holds for all. If not, the vector is left for
//! single iterations, with the lanes as they were before: so the right iteration fails, and no check
//! may stand behind a store.
//!
//! Requires: a well-formed function, tidied up. Ensures: the same bits and the same errors, which the
//! evaluator of the loop form tests: it takes marked loops as machines do. Cost: linear.

mod inside;
mod together;

pub(super) use self::together::Memory;
use self::together::{Accesses, Together};
use crate::analysis::{Class, Classes, conjunction, sums_in_order};
use crate::form::{
    Atom, Block, Cell, For, Kind, LANES, Lanes, LoopFunction, Order, Stmt, Value, ValueData, Vector,
};
use crate::target::{Loops, Reach, Vectors};
use cranelift_entity::PrimaryMap;
use jut_ir::prim::{Lowering, Opcode};

/// What is known of the values of a function.
type Values = PrimaryMap<Value, ValueData>;

/// Marks the loops of a function.
pub(super) fn run(func: &mut LoopFunction, target: &Vectors) {
    if !func.body.any(&mut |stmt| stmt.is_loop()) {
        return;
    }
    let memory = Memory::of(func);
    let mut body = std::mem::take(&mut func.body);
    body.for_each_mut(&mut |stmt| match stmt {
        Stmt::For(f) => mark(&func.values, &memory, target, f),
        Stmt::Lanes(l) => l.vector = of_lanes(&func.values, &memory, target, l),
        _ => {}
    });
    func.body = body;
}

/// Whether the target takes several iterations of a loop at once, as it is.
pub(super) fn takes(values: &Values, memory: &Memory, target: &Vectors, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::For(f) => {
            let mut f = f.clone();
            mark(values, memory, target, &mut f);
            f.vector.is_some()
        }
        Stmt::Lanes(l) => of_lanes(values, memory, target, l).is_some(),
        _ => false,
    }
}

fn mark(values: &Values, memory: &Memory, target: &Vectors, f: &mut For) {
    if !f.carry.is_empty() {
        let of_sums = of_sums(values, memory, target, f);
        f.vector = of_sums.or_else(|| of_conjunction(values, memory, target, f));
        return;
    }
    if target.loops == Loops::None {
        return;
    }
    let Some(survey) = Survey::of(values, memory, target, f.index, &[], &f.body) else { return };
    let together = if f.order == Order::Par { Together::Apart } else { survey.together(f.order) };
    if together == Together::No {
        return;
    }
    if f.order == Order::Down {
        // The last iteration that fails is the first to run.
        if survey.checks {
            return;
        }
        if together == Together::Forward {
            let fits = target.in_order && !survey.nested;
            f.vector = fits.then(|| in_order(&survey));
            return;
        }
        f.order = Order::Par;
    }
    // What neighbours hand on and what may end with a check, vectorisers leave as it is.
    let left = together == Together::Forward || survey.checks && survey.work > 0;
    if target.loops == Loops::All || survey.calls_wide || survey.products || survey.nested || left {
        f.vector = Some(survey.vector(target.together));
        if survey.stores_inside {
            inside::stores_last(&mut f.body, memory);
        }
    }
}

fn of_lanes(values: &Values, memory: &Memory, target: &Vectors, l: &Lanes) -> Option<Vector> {
    let survey = Survey::of(values, memory, target, l.index, &l.carry, &l.body)?;
    // Where a check does not hold, nothing of some iterations has happened, and what the last of them has is not what is asked for.
    let fits = survey.may_be_together(Order::Up) && !(survey.checks && survey.asks_before);
    fits.then(|| survey.vector(LANES as u32))
}

/// What a loop of sums in order has to compute for each of them, at least, and beside what it moves, so that it is worth while.
const WORK: usize = 3;

/// What a loop has to compute for each cell that it loads or stores in a row of its own.
const WORK_IN_ROWS: usize = 2;

/// A loop that carries only sums in order: what is added may be computed together.
fn of_sums(values: &Values, memory: &Memory, target: &Vectors, f: &For) -> Option<Vector> {
    let sums = sums_in_order(f)?;
    let floats = sums.iter().all(|sum| values[sum.carry].kind == Kind::F64);
    if !target.in_order || !floats {
        return None;
    }
    let survey = Survey::of(values, memory, target, f.index, &[], &f.body)?;
    let fits = survey.may_be_together(f.order)
        && !survey.checks
        && !survey.nested
        && survey.work >= WORK * sums.len() + survey.work_of_moves();
    fits.then(|| in_order(&survey))
}

/// A loop that only asks if something holds in all iterations: it may be asked of several at once. What is the same in all of them is asked once
/// in any case.
fn of_conjunction(values: &Values, memory: &Memory, target: &Vectors, f: &For) -> Option<Vector> {
    let conjunction = conjunction(f).filter(|_| target.conjunctions)?;
    let survey = Survey::of(values, memory, target, f.index, &[conjunction.carry], &f.body)?;
    let fits = survey.may_be_together(f.order)
        && survey.accesses.store_nothing()
        && !survey.checks
        && !survey.nested
        && survey.classes.class(conjunction.term) == Class::Wide;
    fits.then(|| survey.vector(target.together))
}

/// How a loop in order is taken. What is left over is cheaper one by one: adding up a vector takes as long as adding up eight numbers.
fn in_order(survey: &Survey<'_>) -> Vector {
    Vector { masked: false, ..survey.vector(LANES as u32) }
}

/// What a loop has to compute for each cell that it loads or stores so many cells apart, where the target knows no more than that.
const WORK_IN_STRIDES: usize = 2;

/// What is found in a body.
struct Survey<'a> {
    values: &'a Values,
    memory: &'a Memory,
    target: &'a Vectors,
    classes: Classes,
    accesses: Accesses,
    /// Whether an iteration may fail.
    checks: bool,
    /// Whether an iteration asks what something was in the one before.
    asks_before: bool,
    /// Whether a function that takes a vector is called.
    calls_wide: bool,
    /// Operations on floats that differ between iterations.
    work: usize,
    /// Whether there are products of derivatives that differ between iterations.
    products: bool,
    /// Whether every load may stand before all stores.
    loads_first: bool,
    /// Whether there is a loop in the body.
    nested: bool,
    /// Whether it stores.
    stores_inside: bool,
    /// How many loads and stores are a row further in each iteration.
    in_rows: usize,
    /// How many are so many cells apart as is written down.
    in_strides: usize,
    /// Whether one of those in rows is a store.
    rows_stored: bool,
    /// Whether the cells of such a store may be one: rows may be of no length.
    rows_may_meet: bool,
}

impl<'a> Survey<'a> {
    /// What is found in a body that the target can take.
    fn of(
        values: &'a Values,
        memory: &'a Memory,
        target: &'a Vectors,
        index: Value,
        carry: &[Value],
        body: &Block,
    ) -> Option<Survey<'a>> {
        if body.size() > target.longest {
            return None;
        }
        let mut survey = Survey {
            values,
            memory,
            target,
            classes: Classes::of(index, carry, body),
            accesses: Accesses::of(index),
            checks: false,
            asks_before: false,
            calls_wide: false,
            work: 0,
            products: false,
            loads_first: true,
            nested: false,
            stores_inside: false,
            in_rows: 0,
            in_strides: 0,
            rows_stored: false,
            rows_may_meet: false,
        };
        survey.block(body, false)?;
        (survey.work >= survey.work_of_moves()).then_some(survey)
    }

    /// What there has to be to compute for the cells that the target loads and stores one by one.
    fn work_of_moves(&self) -> usize {
        let one_by_one = match self.target.reach {
            Reach::Strides => self.in_strides,
            Reach::Rows => self.in_strides + self.in_rows,
            Reach::Neighbours | Reach::Anywhere => 0,
        };
        WORK_IN_STRIDES * one_by_one
    }

    fn vector(&self, width: u32) -> Vector {
        Vector {
            width,
            // Cells that are rows apart are stored to one by one, whether they count or not.
            masked: self.target.masked && !self.stores_inside,
            stores_last: self.target.stores_last && self.products && self.loads_first,
        }
    }

    /// How iterations that run in an order may take their steps together.
    fn together(&self, order: Order) -> Together {
        // Eight cells in eight rows are loaded and stored one by one.
        let only_moves = self.rows_stored && self.work < WORK_IN_ROWS * self.in_rows;
        if self.rows_may_meet || self.stores_inside || only_moves {
            return Together::No;
        }
        let most = u64::from(self.target.together).max(LANES as u64);
        self.accesses.together(self.memory, order, most)
    }

    /// Whether they may as they are.
    fn may_be_together(&self, order: Order) -> bool {
        self.together(order) != Together::No
    }

    fn access(&mut self, buffer: Value, index: Atom, stores: bool) {
        let same = |value: Value| self.classes.class(value) == Class::Same;
        let mut apart = false;
        let place = self.classes.place(buffer, index);
        self.in_strides += usize::from(matches!(place, Class::Step(step) if step != 1));
        if let Class::Row(length) = place {
            apart = self.memory.is_in_a_row(index, length);
            self.in_rows += 1;
            self.rows_stored |= stores;
            self.rows_may_meet |= stores && !apart;
        }
        self.accesses.push(self.memory, (buffer, index, apart), &same, stores);
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
        let Survey { values, target, .. } = *self;
        match stmt {
            Stmt::Prim { dst, prim, args } => match prim.row().lowering {
                Lowering::Opcode(op) => self.operation(op, *dst, args, guarded),
                Lowering::Runtime(_) if guarded => false,
                Lowering::Runtime(_) if self.classes.class(*dst) == Class::Same => true,
                Lowering::Runtime(symbol) => {
                    self.calls_wide |= (target.wide)(symbol);
                    (target.function)(symbol) && args.iter().all(|a| self.operand(*a))
                }
            },
            Stmt::Copy { .. } => true,
            Stmt::Previous { src, .. } if !guarded => {
                self.asks_before = true;
                self.operand(*src)
            }
            Stmt::Load { buffer, index, .. } => {
                self.loads_first &= !self.accesses.store_to(self.memory, *buffer);
                self.access(*buffer, *index, false);
                (!guarded || target.guarded) && self.load(*buffer, *index)
            }
            Stmt::Offset { dst, .. } => match self.classes.class(*dst) {
                Class::Same => !guarded || target.guarded,
                // Of what does not count there may be no cell.
                Class::Step(_) | Class::Row(_) if guarded => false,
                Class::Step(_) => target.reach >= Reach::Strides,
                Class::Row(_) => self.target.reach >= Reach::Rows,
                Class::Wide => false,
            },
            Stmt::Store { buffer, index, value } if !guarded => {
                self.access(*buffer, *index, true);
                let fits = match self.classes.place(*buffer, *index) {
                    Class::Step(1) => {
                        self.classes.class(*buffer) == Class::Same && self.beside(*buffer, *index)
                    }
                    Class::Step(step) => step != 0 && self.strides(*buffer),
                    Class::Row(_) => self.rows(*buffer),
                    Class::Same | Class::Wide => false,
                };
                fits && self.operand(*value)
                    && self.cell(*buffer).is_some_and(|cell| self.has(cell))
            }
            Stmt::Lanes(l) if !guarded => self.sums_inside(l),
            Stmt::For(f) if !guarded => self.steps_inside(f),
            Stmt::Check { .. } => {
                self.checks = true;
                (!guarded || target.guarded) && target.checks && self.accesses.store_nothing()
            }
            Stmt::If { dst, .. } => {
                let buffer = |v: &Value| matches!(values[*v].kind, Kind::Buffer(_));
                let integer = |v: &Value| matches!(values[*v].kind, Kind::I64 | Kind::I32);
                target.branches
                    && !dst.iter().any(buffer)
                    && (target.integers || !dst.iter().any(integer))
            }
            _ => false,
        }
    }

    fn operation(&mut self, op: Opcode, dst: Value, args: &[Atom], guarded: bool) -> bool {
        let divides = matches!(op, Opcode::IDiv | Opcode::IRem);
        let halves = args.last().and_then(|by| by.integer());
        let halves = self.target.halves && halves.is_some_and(|by| by > 0 && by & (by - 1) == 0);
        match self.classes.class(dst) {
            Class::Same => !(divides && guarded),
            Class::Step(_) => self.index(dst.into()),
            Class::Row(_) => self.target.reach >= Reach::Rows,
            Class::Wide => {
                self.products |= op == Opcode::FTimes;
                self.work += usize::from(self.values[dst].kind == Kind::F64);
                let narrow =
                    matches!(op, Opcode::FToS | Opcode::SToF | Opcode::Narrow | Opcode::Widen);
                let integer = matches!(self.values[dst].kind, Kind::I64 | Kind::I32);
                (!divides || halves)
                    && (self.target.narrow || !narrow)
                    && (self.target.integers || !integer)
                    && (self.target.operation)(op)
            }
        }
    }

    /// Whether the target has what grows from one iteration to the next.
    fn index(&self, atom: Atom) -> bool {
        self.target.reach >= Reach::Strides || self.classes.offset(atom).is_some()
    }

    /// Whether the target can load and store cells that lie side by side, at an index.
    fn beside(&self, buffer: Value, index: Atom) -> bool {
        let same = self.classes.class(buffer) == Class::Same;
        let neighbours = same && self.classes.offset(index).is_some();
        neighbours || self.anywhere() || self.strides(buffer)
    }

    /// Whether it can load and store cells wherever they are.
    fn anywhere(&self) -> bool {
        self.target.reach == Reach::Anywhere
    }

    /// Whether the target can load and store so many cells apart as is written down.
    fn strides(&self, buffer: Value) -> bool {
        let cell = self.cell(buffer);
        match self.target.reach {
            Reach::Neighbours => false,
            Reach::Strides | Reach::Rows => cell == Some(Cell::F64),
            Reach::Anywhere => cell != Some(Cell::BOOL),
        }
    }

    /// Whether the target can load and store cells that are rows apart.
    fn rows(&self, buffer: Value) -> bool {
        self.target.reach >= Reach::Rows && self.strides(buffer)
    }

    /// Whether the target can put a value into a vector.
    fn operand(&self, atom: Atom) -> bool {
        self.target.integers || !matches!(self.classes.class(atom), Class::Step(_) | Class::Row(_))
    }

    fn load(&self, buffer: Value, index: Atom) -> bool {
        let Some(cell) = self.cell(buffer) else { return false };
        match self.classes.place(buffer, index) {
            Class::Same => true,
            Class::Step(1) => self.has(cell) && self.beside(buffer, index),
            Class::Step(_) => self.has(cell) && self.strides(buffer),
            Class::Row(_) => self.has(cell) && self.rows(buffer),
            Class::Wide => {
                let same = self.classes.class(buffer) == Class::Same;
                same && self.anywhere() && self.has(cell) && cell != Cell::BOOL
            }
        }
    }

    fn cell(&self, buffer: Value) -> Option<Cell> {
        match self.values[buffer].kind {
            Kind::Buffer(cell) => Some(cell),
            _ => None,
        }
    }

    /// Whether the target has vectors of what is in a cell.
    fn has(&self, cell: Cell) -> bool {
        match cell {
            Cell::F32 => self.target.narrow,
            Cell::I32 => self.target.narrow && self.target.integers,
            Cell::Scalar(scalar) => scalar.is_float() || self.target.integers,
            Cell::Buffer | Cell::Word => false,
        }
    }
}
