//! Which loops may run in shares, and what they add up.

use cranelift_entity::SecondaryMap;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim;

use super::Shares;
use crate::analysis::effects::{self, Access};
use crate::analysis::own_rows::{Extent, Passed, passed};
use crate::analysis::{Sum, sums_of};
use crate::form::{
    Arena, Atom, Block, Cell, Kind, LoopFuncId, LoopFunction, Order, Role, Stmt, Value,
};

/// What a loop in shares adds up, and what it writes.
pub(super) struct Found {
    /// The numbers that it carries.
    pub sums: Vec<Sum>,
    /// The cells that it adds to.
    pub cells: Vec<CellSum>,
    /// Buffers of outside of which every iteration writes its own row, as they are before parts are taken of them.
    pub written: HashSet<Value>,
}

/// A cell that every iteration adds to, once: its content is carried. It is read before the loop, so nothing in an iteration before
/// that may be what says that the cell is there, such as a check.
pub(super) struct CellSum {
    pub buffer: Value,
    pub index: Atom,
    pub sum: Sum,
}

/// What a call of a function may do.
#[derive(Clone, Copy, Default)]
pub(super) struct Callee {
    /// It may run on any thread: it leaves nothing on the tape's arena, prints nothing, and calls only such functions.
    anywhere: bool,
    /// It may run for ever.
    endless: bool,
}

impl Callee {
    /// What a function does whose callees are known, and that calls itself or not.
    pub fn of(func: &LoopFunction, is_recursive: bool, known: &Callees) -> Callee {
        let gives_buffers = func.result_kinds().any(|kind| matches!(kind, Kind::Buffer(_)));
        let mut stmts = func.body.stmts.iter();
        Callee {
            anywhere: !is_recursive
                && !gives_buffers
                && stmts.clone().all(|stmt| may_run_anywhere(stmt, known)),
            endless: is_recursive || stmts.any(|stmt| may_not_end(stmt, known)),
        }
    }
}

/// The functions of which it is known, by their places.
pub(super) type Callees = SecondaryMap<LoopFuncId, Callee>;

fn may_not_end(stmt: &Stmt, known: &Callees) -> bool {
    stmt.any(&mut |stmt| match stmt {
        Stmt::For(f) => f.may_end_early(),
        Stmt::Call { func, .. } => known[*func].endless,
        _ => false,
    })
}

fn may_run_anywhere(stmt: &Stmt, known: &Callees) -> bool {
    !stmt.any(&mut |stmt| match stmt {
        Stmt::Alloc { arena, .. } | Stmt::Mark { arena, .. } | Stmt::Release { arena, .. } => {
            *arena == Arena::Tape
        }
        Stmt::Kernel { kernel, .. } => kernel.reaches_outside(),
        Stmt::Call { func, .. } => !known[*func].anywhere,
        _ => false,
    })
}

/// What a loop binds, and what of that is memory of an iteration.
#[derive(Default)]
struct Inside {
    bound: HashSet<Value>,
    allocated: HashSet<Value>,
}

/// What is touched in one place.
struct Touch {
    /// The buffer that is touched, or of which a part is.
    origin: Value,
    writes: bool,
    /// The length of the iteration's own row that it lies in, if it does.
    row: Option<Atom>,
}

impl Shares<'_> {
    /// What a loop adds up and writes, if it may run in shares and does enough in an iteration.
    pub(super) fn found(&self, stmt: &Stmt) -> Option<Found> {
        let counted = stmt.counted()?;
        let body = counted.body;
        let works =
            |stmt: &Stmt| stmt.is_loop() || matches!(stmt, Stmt::Kernel { .. } | Stmt::Call { .. });
        let few = counted.low.integer().zip(counted.high.integer());
        let is_short = few.is_some_and(|(low, high)| high.saturating_sub(low) < self.least.into());
        // From the last iteration to the first another one may be the first to fail.
        let goes_down = matches!(stmt, Stmt::For(f) if f.order == Order::Down);
        // Behind the one that fails, another may run for ever.
        let endless = may_not_end(stmt, self.known);
        if counted.go.is_some()
            || is_short
            || ((goes_down || endless) && effects::is_guard(stmt))
            || !body.any(&mut { works })
            || !may_run_anywhere(stmt, self.known)
        {
            return None;
        }
        let carries = super::carries(stmt);
        let sums = sums_of(&carries, body)?;
        if sums.len() != carries.len() {
            return None;
        }
        let mut inside = Inside::default();
        body.for_each(&mut |stmt| {
            inside.bound.extend(stmt.bound());
            inside.bound.extend(stmt.entered());
            if let Stmt::Alloc { dst, .. } = stmt {
                inside.allocated.insert(*dst);
            }
        });
        inside.bound.insert(counted.index);
        inside.bound.extend(&carries);
        let mut touches = Vec::new();
        self.touches(body, counted.index, &mut Passed::new(), &mut touches)?;
        self.judge(body, touches, &inside, sums)
    }

    /// Notes what a block touches, with the checks that were passed before it.
    fn touches(
        &self,
        block: &Block,
        index: Value,
        before: &mut Passed,
        out: &mut Vec<Touch>,
    ) -> Option<()> {
        let known = before.len();
        for stmt in &block.stmts {
            if let Stmt::Check { check, .. } = stmt {
                before.extend(passed(*check));
            }
            let mut note = |buffer: Value, writes: bool, extent: Option<Extent>| {
                let row = extent.and_then(|extent| self.rows.row(buffer, extent, index, before));
                out.push(Touch { origin: self.rows.origin(buffer), writes, row });
            };
            match stmt {
                Stmt::Load { buffer, index, .. } => {
                    note(*buffer, false, Some(Extent::Cell(*index)))
                }
                Stmt::Store { buffer, index, value } => {
                    // A pointer that is found again may be to anything.
                    if let Kind::Buffer(_) = self.values.kind_of(*value) {
                        return None;
                    }
                    note(*buffer, true, Some(Extent::Cell(*index)));
                }
                Stmt::Fill { buffer, len, .. } => note(*buffer, true, Some(Extent::Cells(*len))),
                Stmt::CopyCells { dst, src, len, .. } => {
                    note(*src, false, Some(Extent::Cells(*len)));
                    note(*dst, true, Some(Extent::Cells(*len)));
                }
                Stmt::Kernel { kernel, args } => {
                    for (arg, param) in args.iter().zip(kernel.row().params) {
                        if let (Atom::Value(v), Kind::Buffer(_)) = (*arg, param.kind) {
                            note(v, param.role != Role::In, None);
                        }
                    }
                }
                Stmt::Call { .. } => {
                    let is_buffer = |v: Value| matches!(self.values.kind(v), Kind::Buffer(_));
                    effects::accesses(stmt, is_buffer, &mut |v, access| {
                        note(v, access == Access::Write, None);
                    });
                }
                _ => {}
            }
            for inner in stmt.blocks() {
                self.touches(inner, index, before, out)?;
            }
        }
        before.truncate(known);
        Some(())
    }

    /// Whether iterations meet nowhere.
    fn judge(
        &self,
        body: &Block,
        touches: Vec<Touch>,
        inside: &Inside,
        sums: Vec<Sum>,
    ) -> Option<Found> {
        let mut by_origin: HashMap<Value, Vec<&Touch>> = HashMap::default();
        let mut order = Vec::new();
        for touch in &touches {
            let list = by_origin.entry(touch.origin).or_insert_with(|| {
                order.push(touch.origin);
                Vec::new()
            });
            list.push(touch);
        }
        let mut found = Found { sums, cells: Vec::new(), written: HashSet::default() };
        for origin in &order {
            let list = &by_origin[origin];
            if !list.iter().any(|touch| touch.writes) {
                continue;
            }
            // Where it is another one's memory, all bets are off.
            if order.iter().any(|other| other != origin && self.roots.may_overlap(*origin, *other))
            {
                return None;
            }
            if inside.allocated.contains(origin) {
                continue;
            }
            // Another name for a buffer of outside, or a pointer that was found somewhere.
            if inside.bound.contains(origin) {
                return None;
            }
            // Rows of one length: where it differs from iteration to iteration, they lie across each other.
            let row = list.first().and_then(|touch| touch.row);
            let row = row.filter(|length| match length {
                Atom::Value(length) => !inside.bound.contains(length),
                Atom::Lit(_) => true,
            });
            if row.is_some() && list.iter().all(|touch| touch.row == row) {
                found.written.insert(*origin);
                continue;
            }
            self.cell_sums(body, *origin, list, &mut found.cells)?;
        }
        Some(found)
    }

    /// Finds the cells that a loop adds to, if it does nothing else with a buffer.
    fn cell_sums(
        &self,
        body: &Block,
        origin: Value,
        list: &[&Touch],
        cells: &mut Vec<CellSum>,
    ) -> Option<()> {
        let mut reads: HashMap<Value, usize> = HashMap::default();
        body.atoms(&mut |atom| {
            if let Atom::Value(v) = atom {
                *reads.entry(v).or_default() += 1;
            }
        });
        let first = cells.len();
        let mut guarded = false;
        for (at, stmt) in body.stmts.iter().enumerate() {
            guarded |= effects::is_guard(stmt);
            let Stmt::Load { dst, buffer, index } = stmt else { continue };
            if *buffer != origin {
                continue;
            }
            // The cell is the same in all iterations, and certainly none of the others.
            index.integer()?;
            if guarded || cells[first..].iter().any(|cell| cell.index == *index) {
                return None;
            }
            let rest = &body.stmts[at + 1..];
            let sum = rest.iter().find_map(|stmt| Sum::of(0, *dst, stmt))?;
            let store = Stmt::Store { buffer: *buffer, index: *index, value: sum.next.into() };
            let once = |v: Value| reads.get(&v) == Some(&1);
            let depends = matches!(sum.term, Atom::Value(v) if v == *dst);
            if !rest.contains(&store) || !once(*dst) || !once(sum.next) || depends {
                return None;
            }
            cells.push(CellSum { buffer: *buffer, index: *index, sum });
        }
        // A load and a store for each, and no more.
        let numbers = self.values.kind(origin) == Kind::Buffer(Cell::F64);
        (numbers && list.len() == 2 * (cells.len() - first)).then_some(())
    }
}

/// Whether a statement is the load, the addition or the store of a cell that is added to.
pub(super) fn is_of_cell(cells: &[CellSum], stmt: &Stmt) -> bool {
    cells.iter().any(|cell| match stmt {
        Stmt::Load { dst, .. } => *dst == cell.sum.carry,
        Stmt::Store { value, .. } => *value == cell.sum.next.into(),
        Stmt::Prim { dst, prim: prim::ADD, .. } => *dst == cell.sum.next,
        _ => false,
    })
}
