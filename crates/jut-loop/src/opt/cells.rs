//! What cells hold.
//!
//! - **Forwarding.** In a block and the branches in it, a load of a cell whose content is known (it was
//!   stored or loaded before, and nothing in between may have changed it) is that value; a store that is followed by
//!   another store to the same cell, with no load in between that may see it, goes, and so does one of what the cell holds. Cells of two rows of
//!   an array are different ones ([`Distances`]).
//! - **Zeros.** `0.0 + a` is a where a is no negative zero ([`Zeros`]).
//! - **Registers.** If a loop body loads a cell once, stores to it once afterwards, with the same
//!   address in every iteration, and touches nothing that may overlap it otherwise (other cells of the buffer are at other addresses,
//!   known to be), the content is carried by the loop: it is loaded before (a register that stands for a cell starts
//!   from the cell) and stored after, if the loop runs at all. Nothing in the body before the load may
//!   be what says that the cell is there, such as a check. Rows before and behind that of the cell do not overlap it, nor do
//!   cells of its row beyond it ([`Distances`]). One that is only loaded, and beside which others are stored to, is loaded before the loop.
//!
//! The order of additions does not change. Which memory may overlap is [`Roots`]' question.

use cranelift_entity::SecondaryMap;
use jut_ir::hash::HashSet;
use jut_ir::{Literal, prim};

use crate::analysis::effects::{self, Access};
use crate::analysis::linear::{Linear, Linears};
use crate::analysis::{Distance, Distances, Roots, Zeros, added_to_zero};
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::Values;

/// Runs the walk. A loop carries one cell of a buffer at most: more of them than a processor has registers are in memory again.
pub(super) fn run(func: &mut LoopFunction) {
    walk(func, 1);
}

/// Runs the walk without registers.
pub(super) fn forward(func: &mut LoopFunction) {
    walk(func, 0);
}

/// Runs the walk for a target that takes loops which carry nothing but sums several iterations at a time: a loop carries
/// several cells of a buffer.
pub(super) fn carry_sums(func: &mut LoopFunction) {
    let may =
        |stmt: &Stmt| matches!(stmt, Stmt::For(f) if f.order != Order::Par && stores_several(f));
    if func.body.any(&mut |stmt| may(stmt)) {
        walk(func, MAX_KNOWN);
    }
}

/// Whether every iteration of a loop stores to the same cells of a buffer, and to several of them.
fn stores_several(f: &For) -> bool {
    let own = f.body.stmts.iter().flat_map(Stmt::bound).chain([&f.index]);
    let own: HashSet<Value> = own.copied().collect();
    let mut seen = HashSet::default();
    f.body.stmts.iter().any(|stmt| match stmt {
        Stmt::Store { buffer, index, .. } => {
            let moves = matches!(index, Atom::Value(v) if own.contains(v));
            !moves && !seen.insert(*buffer)
        }
        _ => false,
    })
}

fn walk(func: &mut LoopFunction, registers: usize) {
    let roots = Roots::of(func);
    let zeros = Zeros::of(func, &roots);
    let mut walk = Cells {
        roots,
        rows: Distances::of(func),
        values: Values::new(&mut func.values),
        depth: SecondaryMap::new(),
        subst: SecondaryMap::new(),
        zeros,
        registers,
        loops: 0,
        sums: Linears::default(),
        index: None,
    };
    let body = std::mem::take(&mut func.body);
    func.body = walk.block(body, Vec::new()).0;
}

/// What a block does to memory, coarsely: the buffers it reads and writes.
#[derive(Default)]
struct Effect {
    reads: Vec<Value>,
    writes: Vec<Value>,
    /// More than is worth listing.
    anything: bool,
}

/// A block with more accesses than this is taken to touch everything: the lists stay short.
const MAX_ACCESSES: usize = 32;

impl Effect {
    fn add(&mut self, list: fn(&mut Effect) -> &mut Vec<Value>, buffer: Value) {
        if self.anything {
            return;
        }
        let list = list(self);
        if !list.contains(&buffer) {
            list.push(buffer);
        }
        self.anything |= self.reads.len() + self.writes.len() > MAX_ACCESSES;
    }

    fn read(&mut self, buffer: Value) {
        self.add(|e| &mut e.reads, buffer);
    }

    fn write(&mut self, buffer: Value) {
        self.add(|e| &mut e.writes, buffer);
    }

    fn join(&mut self, other: &Effect) {
        other.reads.iter().for_each(|b| self.read(*b));
        other.writes.iter().for_each(|b| self.write(*b));
        self.anything |= other.anything;
    }
}

/// What is known of a cell.
#[derive(Clone)]
struct Known {
    buffer: Value,
    at: Atom,
    index: Linear,
    content: Atom,
    /// The position of the store that wrote it, if nobody may have read it since.
    pending: Option<usize>,
    /// What the cell held before that store, if it is known.
    held: Option<Atom>,
}

/// Cells remembered at once.
const MAX_KNOWN: usize = 16;

struct Cells<'a> {
    roots: Roots,
    rows: Distances,
    values: Values<'a>,
    /// The number of loops around a value's definition.
    depth: SecondaryMap<Value, usize>,
    subst: SecondaryMap<Value, Option<Atom>>,
    zeros: Option<Zeros>,
    /// Of how many cells of a buffer a loop carries the content.
    registers: usize,
    loops: usize,
    sums: Linears,
    /// The index of the innermost loop around.
    index: Option<Value>,
}

impl Cells<'_> {
    fn atom(&self, a: &mut Atom) {
        if let Atom::Value(v) = *a
            && let Some(Some(new)) = self.subst.get(v)
        {
            *a = *new;
        }
    }

    fn bind(&mut self, stmt: &Stmt) {
        stmt.bound().iter().for_each(|v| self.depth[*v] = self.loops);
        self.sums.learn(stmt);
    }

    /// A block at whose beginning the given cells are known, what it does to memory, and what of that
    /// is not a load or store directly in it.
    fn block(&mut self, block: Block, mut known: Vec<Known>) -> (Block, Effect, Effect) {
        let mut out: Vec<Option<Stmt>> = Vec::with_capacity(block.stmts.len());
        let (mut all, mut nested) = (Effect::default(), Effect::default());
        for mut stmt in block.stmts {
            stmt.operands_mut(&mut |a| self.atom(a));
            self.bind(&stmt);
            if let Some(zeros) = &self.zeros
                && let Some((sum, x)) = added_to_zero(&stmt)
                && zeros.is_never(x)
            {
                self.subst[sum] = Some(x.into());
                continue;
            }
            match stmt {
                Stmt::Load { dst, buffer, index } if self.roots.is_constant(buffer) => {
                    out.push(Some(Stmt::Load { dst, buffer, index }));
                }
                Stmt::Load { dst, buffer, index: at } => {
                    let index = self.sums.of(at);
                    let found = known.iter().find(|k| k.buffer == buffer && k.index == index);
                    if let Some(k) =
                        found.filter(|k| self.values.kind_of(k.content) == self.values.kind(dst))
                    {
                        self.subst[dst] = Some(k.content);
                        continue;
                    }
                    for k in known.iter_mut().filter(|k| k.pending.is_some()) {
                        if self.may_be(k, (k.buffer, buffer), (buffer, at, &index)) {
                            k.pending = None;
                        }
                    }
                    all.read(buffer);
                    let content = dst.into();
                    remember(
                        &mut known,
                        Known { buffer, at, index, content, pending: None, held: None },
                    );
                    out.push(Some(stmt));
                }
                Stmt::Store { buffer, index: at, value } => {
                    let index = self.sums.of(at);
                    let same = |k: &Known| k.buffer == buffer && k.index == index;
                    let earlier = known.iter().position(same);
                    let pending = earlier.and_then(|k| known[k].pending);
                    if let Some(pending) = pending {
                        out[pending] = None;
                    }
                    let held = earlier.and_then(|k| match pending {
                        Some(_) => known[k].held,
                        None => Some(known[k].content),
                    });
                    if let (Some(k), true) = (earlier, held == Some(value)) {
                        known[k] =
                            Known { content: value, pending: None, held: None, ..known[k].clone() };
                        continue;
                    }
                    known.retain(|k| {
                        !same(k) && !self.may_be(k, (buffer, k.buffer), (buffer, at, &index))
                    });
                    all.write(buffer);
                    let pending = Some(out.len());
                    let content = value;
                    remember(&mut known, Known { buffer, at, index, content, pending, held });
                    out.push(Some(stmt));
                }
                stmt => {
                    let (stmts, effect) = self.compound(stmt, &known);
                    if effect.anything {
                        known.clear();
                    }
                    known.retain(|k| {
                        !effect.writes.iter().any(|w| self.roots.may_overlap(*w, k.buffer))
                    });
                    for k in &mut known {
                        if effect.reads.iter().any(|r| self.roots.may_overlap(k.buffer, *r)) {
                            k.pending = None;
                        }
                    }
                    // A check may end the run, but then nobody looks at memory.
                    all.join(&effect);
                    nested.join(&effect);
                    out.extend(stmts.into_iter().map(Some));
                }
            }
        }
        let mut results = block.results;
        results.iter_mut().for_each(|a| self.atom(a));
        (Block { stmts: out.into_iter().flatten().collect(), results }, all, nested)
    }

    /// Whether a cell may be one that is known, where a store to `written` may change what is loaded from `read`.
    fn may_be(
        &self,
        known: &Known,
        (written, read): (Value, Value),
        (buffer, at, index): (Value, Atom, &Linear),
    ) -> bool {
        let elsewhere = known.buffer == buffer && known.index.is_apart_from(index);
        !elsewhere
            && self.roots.may_overlap(written, read)
            && !self.are_in_rows_apart((known.buffer, known.at), (buffer, at))
    }

    /// Whether two cells that an iteration of the innermost loop accesses are different ones, in rows of one array.
    fn are_in_rows_apart(&self, first: (Value, Atom), second: (Value, Atom)) -> bool {
        let Some(index) = self.index.filter(|_| first.0 != second.0) else { return false };
        let outside = |v: Value| self.depth[v] < self.loops;
        let cell = |(buffer, at)| self.rows.cell(buffer, at, index, &outside);
        let (Some(first), Some(second)) = (cell(first), cell(second)) else { return false };
        match self.rows.between(&first, &second, index) {
            Distance::Apart => true,
            Distance::Iterations(behind) => behind != 0,
            Distance::Unknown => false,
        }
    }

    /// A statement that is neither load nor store directly in a block; it may become several.
    fn compound(&mut self, mut stmt: Stmt, known: &[Known]) -> (Vec<Stmt>, Effect) {
        let (mut effect, mut nested) = (Effect::default(), Effect::default());
        let is_buffer = |v| matches!(self.values.kind(v), Kind::Buffer(_));
        effects::accesses(&stmt, is_buffer, &mut |buffer, access| match access {
            Access::Read => effect.read(buffer),
            Access::Write => effect.write(buffer),
        });
        let rounds = usize::from(stmt.is_loop());
        self.loops += rounds;
        let around = self.index;
        if rounds != 0 {
            self.index = stmt.counted().map(|range| range.index);
        }
        stmt.entered().iter().for_each(|v| self.depth[*v] = self.loops);
        for block in stmt.blocks_mut() {
            // Before an iteration there may have been others.
            let known = if rounds == 0 { known } else { &[] };
            let known = known.iter().map(|k| Known { pending: None, ..k.clone() }).collect();
            let (changed, all, inside) = self.block(std::mem::take(block), known);
            *block = changed;
            effect.join(&all);
            nested.join(&inside);
        }
        self.loops -= rounds;
        self.index = around;
        match stmt {
            Stmt::For(f) => (self.promote(f, &effect, &nested), effect),
            stmt => (vec![stmt], effect),
        }
    }

    fn is_outside(&self, a: Atom) -> bool {
        match a {
            Atom::Value(v) => self.depth[v] <= self.loops,
            Atom::Lit(_) => true,
        }
    }

    /// Carries the cells that a loop only adds to, and loads before it those that it only loads.
    fn promote(&mut self, mut f: Box<For>, effect: &Effect, nested: &Effect) -> Vec<Stmt> {
        if self.registers == 0 || effect.anything || f.order == Order::Par || f.may_end_early() {
            return vec![Stmt::For(f)];
        }
        let cells = self.candidates(&f.body, nested);
        if cells.is_empty() {
            return vec![Stmt::For(f)];
        }
        let (low, high) = (f.low, f.high);
        let mut before = Vec::new();
        let mut after = Vec::new();
        let outer = f.dst.clone();
        let inner: Vec<Value> = outer.iter().map(|v| self.like(*v)).collect();
        let untouched: Vec<Atom> = f.carry.iter().map(|(_, a)| *a).collect();
        f.dst = inner.clone();
        for cell in &cells {
            let (buffer, index) = (cell.buffer, cell.index);
            let Some(stored) = cell.stored else {
                self.depth[cell.loaded] = self.loops;
                before.push(Stmt::Load { dst: cell.loaded, buffer, index });
                continue;
            };
            let (first, last) = (self.like(cell.loaded), self.like(cell.loaded));
            before.push(Stmt::Load { dst: first, buffer, index });
            after.push(Stmt::Store { buffer, index, value: last.into() });
            f.carry.push((cell.loaded, first.into()));
            f.dst.push(last);
            f.body.results.push(stored);
        }
        let stmts = std::mem::take(&mut f.body.stmts);
        let ours = |b: &Value, i: &Atom| cells.iter().any(|c| c.buffer == *b && c.index == *i);
        f.body.stmts = stmts
            .into_iter()
            .filter(|s| match s {
                Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
                    !ours(buffer, index)
                }
                _ => true,
            })
            .collect();
        before.push(Stmt::For(f));
        before.extend(after);
        if let (Atom::Lit(Literal::I64(low)), Atom::Lit(Literal::I64(high))) = (low, high)
            && low < high
            && outer.is_empty()
        {
            return before;
        }
        let runs = self.values.fresh("runs", Kind::BOOL);
        self.depth[runs] = self.loops;
        vec![
            Stmt::Prim { dst: runs, prim: prim::ILT, args: vec![low, high] },
            Stmt::If {
                dst: outer,
                cond: runs.into(),
                then: Block {
                    stmts: before,
                    results: inner.into_iter().map(Atom::Value).collect(),
                },
                other: Block { stmts: Vec::new(), results: untouched },
            },
        ]
    }

    /// The cells that a loop body loads once, stores to once afterwards or not at all, and does not touch otherwise.
    fn candidates(&self, body: &Block, nested: &Effect) -> Vec<Cell> {
        // Cells that are the same in all iterations, with the number of their accesses, and all that is accessed.
        let mut cells: Vec<(Cell, usize)> = Vec::new();
        let mut accessed: Vec<(Value, Atom, Access)> = Vec::new();
        let mut guarded = false;
        for stmt in &body.stmts {
            guarded |= effects::is_guard(stmt);
            let (buffer, index, how) = match *stmt {
                Stmt::Load { buffer, index, .. } => (buffer, index, Access::Read),
                Stmt::Store { buffer, index, .. } => (buffer, index, Access::Write),
                _ => continue,
            };
            if self.roots.is_constant(buffer) {
                continue;
            }
            accessed.push((buffer, index, how));
            let beside = cells.iter().filter(|(c, _)| c.buffer == buffer).count();
            let known = cells.iter_mut().find(|(c, _)| c.buffer == buffer && c.index == index);
            match (stmt, known) {
                (Stmt::Store { value, .. }, Some((cell, count))) => {
                    *count += 1;
                    cell.stored = Some(*value);
                }
                (_, Some((_, count))) => *count += 1,
                (Stmt::Load { dst, .. }, None)
                    if !guarded
                        && beside < self.registers
                        && self.is_outside(buffer.into())
                        && self.is_outside(index) =>
                {
                    cells.push((Cell { buffer, index, loaded: *dst, stored: None }, 1));
                }
                _ => {}
            }
        }
        let alone = |cell: &Cell| {
            // What is only loaded may be loaded elsewhere too.
            let matters = |how: Access| cell.stored.is_some() || how == Access::Write;
            let direct = accessed.iter().filter(|(.., how)| matters(*how));
            let reads = nested.reads.iter().filter(|_| matters(Access::Read));
            let same = (cell.buffer, cell.index);
            direct.map(|(b, at, _)| (*b, *at)).all(|at| at == same || self.is_another(cell, at))
                && !reads.chain(&nested.writes).any(|b| self.overlap(cell.buffer, *b))
        };
        let near = |cell: &Cell| {
            let mut stores = accessed.iter().filter(|(.., how)| *how == Access::Write);
            stores.any(|(b, ..)| self.overlap(cell.buffer, *b))
        };
        let alone = cells.iter().filter(|(cell, count)| match cell.stored {
            // A load, then a store.
            Some(_) => *count == 2 && alone(cell),
            // Where nothing near it is stored to, whoever looks at memory sees that it stays as it is.
            None => *count == 1 && near(cell) && alone(cell),
        });
        alone.map(|(cell, _)| *cell).collect()
    }

    fn overlap(&self, a: Value, b: Value) -> bool {
        self.roots.may_overlap(a, b) || self.roots.may_overlap(b, a)
    }

    /// Whether what an iteration accesses is no cell that is the same in all of them.
    fn is_another(&self, cell: &Cell, (buffer, index): (Value, Atom)) -> bool {
        if buffer == cell.buffer {
            return self.sums.of(cell.index).is_apart_from(&self.sums.of(index))
                || self.rows.is_beyond(index, cell.index);
        }
        let (own, other) = ((cell.buffer, cell.index), (buffer, index));
        !self.overlap(cell.buffer, buffer)
            || self.rows.is_row_behind(own, other, None)
            || self.rows.is_row_before(own, other)
    }

    /// A new value, defined here.
    fn like(&mut self, old: Value) -> Value {
        let value = self.values.like(old);
        self.depth[value] = self.loops;
        value
    }
}

/// A cell that a loop carries.
#[derive(Clone, Copy)]
struct Cell {
    buffer: Value,
    index: Atom,
    /// What the body loads.
    loaded: Value,
    /// What it stores, if it does.
    stored: Option<Atom>,
}

fn remember(known: &mut Vec<Known>, new: Known) {
    if known.len() >= MAX_KNOWN {
        known.remove(0);
    }
    known.push(new);
}
