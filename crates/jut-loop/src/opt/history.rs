//! States that are written where they stay: a loop whose states all go on the tape writes each of them there at once.
//!
//! A loop that carries an array has two buffers, one for the state that it reads and one for the next. If the loop back
//! needs all states, each is copied to its row of the tape besides. The rows themselves can be the buffers:
//!
//! ```text
//! u = alloc f64[n]                                          tape = alloc f64[n * steps + n]
//! copy u[n] = x                                             copy tape[n] = x
//! v = alloc f64[n]
//! tape = alloc f64[n * steps]
//! (u_3, v_3) = for up (t in 0 .. steps)                     for up (t in 0 .. steps) {
//!     carry (u_1 = u, v_1 = v) {
//!   row = tape[t * n ..]                                      u_1 = tape[t * n ..]
//!   ..                                                        v_1 = tape[t * n + n ..]
//!   copy row[n] = u_1                                         ..
//!   (v_1, u_1)                                              }
//! }                                                         u_3 = tape[n * steps ..]
//! ```
//!
//! *Requires*: a well-formed function, on its way to a backend: that a state and the next one are different memory is what
//! [`Roots`] says of buffers that change places, and cannot say of rows. Nothing in the loop writes to the state that it
//! reads, and nobody else has the buffer of the next one. *Ensures*: the same values in the same order, and no more memory
//! ([`crate::need`] counts what was there before). *Cost*: linear.

use crate::analysis::Roots;
use crate::analysis::effects::{Access, accesses};
use crate::form::{
    Arena, Atom, Cell, For, Kind, LoopFuncId, LoopFunction, Order, Role, Stmt, Value,
};
use crate::values::Values;
use cranelift_entity::EntityRef;
use jut_ir::Literal;
use jut_ir::hash::HashMap;
use jut_ir::prim::{self, Lowering, Opcode};

/// Runs the walk. `roles` says what the functions of the program do with their parameters.
pub(super) fn run(func: &mut LoopFunction, roles: &HashMap<LoopFuncId, Vec<Role>>) {
    let mut has_states = |stmt: &Stmt| matches!(stmt, Stmt::For(f) if pairs(f).next().is_some());
    if !func.body.any(&mut has_states) {
        return;
    }
    let known = Known::of(func, roles);
    let mut values = Values::new(&mut func.values);
    func.body.rewrite(&mut |stmt, out| match stmt {
        Stmt::For(mut source) => {
            let mut behind = Vec::new();
            while let Some(history) = known.history(&source, out) {
                history.write(&mut source, &mut values, out, &mut behind);
            }
            out.push(Stmt::For(source));
            out.append(&mut behind);
        }
        stmt => out.push(stmt),
    });
}

/// The carried values of a loop that change places in each iteration.
fn pairs(f: &For) -> impl Iterator<Item = [usize; 2]> + '_ {
    let counts = f.order == Order::Up && f.low == int(0) && !f.may_end_early();
    let next = |k: usize| {
        let position =
            |(inside, _): &(Value, Atom)| f.body.results.get(k) == Some(&(*inside).into());
        f.carry.iter().position(position)
    };
    let all = 0..if counts { f.carry.len() } else { 0 };
    all.filter_map(move |k| {
        next(k).filter(|other| *other != k && next(*other) == Some(k)).map(|other| [k, other])
    })
}

/// What is known of a function before anything is written.
struct Known<'r> {
    roles: &'r HashMap<LoopFuncId, Vec<Role>>,
    roots: Roots,
    /// Products of two integers.
    products: HashMap<Value, [Atom; 2]>,
    /// Parts of buffers.
    parts: HashMap<Value, (Value, Atom)>,
    /// How often a buffer is named, but for where it is bound.
    uses: HashMap<Value, usize>,
    buffers: Vec<bool>,
}

impl<'r> Known<'r> {
    fn of(func: &LoopFunction, roles: &'r HashMap<LoopFuncId, Vec<Role>>) -> Known<'r> {
        let mut known = Known {
            roles,
            roots: Roots::of(func),
            products: HashMap::default(),
            parts: HashMap::default(),
            uses: HashMap::default(),
            buffers: func.values.values().map(|v| matches!(v.kind, Kind::Buffer(_))).collect(),
        };
        func.body.for_each(&mut |stmt| match stmt {
            Stmt::Prim { dst, prim, args } => {
                if let (Lowering::Opcode(Opcode::IMul), [a, b]) = (prim.row().lowering, &args[..]) {
                    known.products.insert(*dst, [*a, *b]);
                }
            }
            Stmt::Offset { dst, buffer, index } => {
                known.parts.insert(*dst, (*buffer, *index));
            }
            _ => {}
        });
        let Known { uses, buffers, .. } = &mut known;
        func.body.atoms(&mut |atom| match atom {
            Atom::Value(v) if is_buffer(buffers, v) => *uses.entry(v).or_insert(0) += 1,
            _ => {}
        });
        known
    }

    fn uses(&self, buffer: Value) -> usize {
        self.uses.get(&buffer).copied().unwrap_or(0)
    }

    /// Whether an integer is the product of two others.
    fn is_product(&self, atom: Atom, of: [Atom; 2]) -> bool {
        let Atom::Value(v) = atom else { return false };
        let [a, b] = of;
        self.products.get(&v).is_some_and(|factors| *factors == [a, b] || *factors == [b, a])
    }

    /// Calls `visit` with what is written in some statements.
    fn written<'s>(
        &self,
        stmts: impl IntoIterator<Item = &'s Stmt>,
        visit: &mut impl FnMut(Value),
    ) {
        for stmt in stmts {
            match stmt {
                Stmt::Call { func, args, .. } => {
                    let roles = self.roles.get(func).map_or(&[][..], Vec::as_slice);
                    for (at, arg) in args.iter().enumerate() {
                        let reads = roles.get(at) == Some(&Role::In);
                        if let Atom::Value(v) = *arg
                            && is_buffer(&self.buffers, v)
                            && !reads
                        {
                            visit(v);
                        }
                    }
                }
                stmt => accesses(stmt, |v| is_buffer(&self.buffers, v), &mut |v, access| {
                    if access == Access::Write {
                        visit(v);
                    }
                }),
            }
            stmt.blocks().into_iter().for_each(|block| self.written(&block.stmts, visit));
        }
    }

    /// Whether statements may write to a buffer.
    fn may_write<'s>(&self, stmts: impl IntoIterator<Item = &'s Stmt>, buffer: Value) -> bool {
        let mut found = false;
        self.written(stmts, &mut |v| found |= self.roots.may_overlap(v, buffer));
        found
    }

    /// States of a loop that stay, if there are some, and the statements `before` it in its block say where.
    fn history(&self, source: &For, before: &[Stmt]) -> Option<History> {
        pairs(source).find_map(|pair| self.states(source, pair, before))
    }

    fn states(&self, source: &For, pair: [usize; 2], before: &[Stmt]) -> Option<History> {
        let stmts = &source.body.stmts;
        let now = source.carry[pair[0]].0;
        // What the loop began with, and the memory for the second state, which nobody else has.
        let (Atom::Value(initial), Atom::Value(spare)) =
            (source.carry[pair[0]].1, source.carry[pair[1]].1)
        else {
            return None;
        };
        let unused = source.dst.get(pair[1]).is_none_or(|last| self.uses(*last) == 0);
        if self.uses(spare) != 1 || !unused {
            return None;
        }
        let Stmt::Alloc { len: cells, .. } = &before[position(before, spare)?] else { return None };
        let mut copies = stmts.iter().enumerate().filter_map(|(at, stmt)| match stmt {
            Stmt::CopyCells { dst, src, len, cell } if *src == now => Some((at, *dst, *len, *cell)),
            _ => None,
        });
        let (copy, row, len, cell) = copies.next().filter(|_| copies.next().is_none())?;
        let (tape, start) = *self.parts.get(&row).filter(|_| self.uses(row) == 1)?;
        // Where a row begins depends on nothing but the index, so it is known where the body begins.
        let is_here =
            |a: Atom| stmts.iter().any(|stmt| stmt.bound().iter().any(|v| a == (*v).into()));
        let is_row = is_here(start)
            && is_here(row.into())
            && self.is_product(start, [source.index.into(), len]);
        let at = position(before, tape)?;
        let Stmt::Alloc { len: all, cell: own, .. } = &before[at] else { return None };
        let is_tape = *own == cell && self.is_product(*all, [len, source.high]);
        // Memory that is given back is not there behind the loop.
        let stays = !before[..at].iter().any(|stmt| matches!(stmt, Stmt::Mark { .. }));
        let others = stmts.iter().enumerate().filter(|(at, _)| *at != copy).map(|(_, stmt)| stmt);
        // A row has all cells of a state: both buffers are read and written in the loop.
        let whole = *cells == len;
        let touched = |buffer| self.may_write(others.clone(), buffer);
        if !is_row || !is_tape || !whole || !stays || touched(now) || touched(tape) {
            return None;
        }
        let from = self.origin(initial, len, before).unwrap_or(initial);
        Some(History { pair, row, start, len, cell, tape, total: *all, spare, initial, from })
    }

    /// What the first state is a copy of, if that is still the same and the copy is for nothing else.
    fn origin(&self, initial: Value, size: Atom, before: &[Stmt]) -> Option<Value> {
        position(before, initial).filter(|_| self.uses(initial) == 2)?;
        let (at, from) = before.iter().enumerate().find_map(|(at, stmt)| match stmt {
            Stmt::CopyCells { dst, src, len, .. } if *dst == initial && *len == size => {
                Some((at, *src))
            }
            _ => None,
        })?;
        (!self.may_write(&before[at + 1..], from)).then_some(from)
    }
}

/// States of a loop that are to be written where they stay.
struct History {
    /// Which carried values they are: the state and the next one.
    pair: [usize; 2],
    /// The row of the tape that the state is copied to, the number of its first cell, and how many there are.
    row: Value,
    start: Atom,
    len: Atom,
    cell: Cell,
    tape: Value,
    /// Cells of all rows.
    total: Atom,
    /// The buffers of the two states.
    spare: Value,
    initial: Value,
    /// What the first state is a copy of.
    from: Value,
}

impl History {
    /// Changes the loop, what stands `before` it and what stands `behind` it.
    fn write(
        self,
        source: &mut For,
        values: &mut Values,
        before: &mut Vec<Stmt>,
        behind: &mut Vec<Stmt>,
    ) {
        let History { pair, row, start, len, cell, tape, total, spare, initial, from } = self;
        let mut sizes = Vec::new();
        let cells = values.prim("states", Kind::I64, prim::IMAX, &[total, int(0)], &mut sizes);
        let more = values.prim("size", Kind::I64, prim::IADD, &[cells, len], &mut sizes);
        let gone = |stmt: &Stmt| match stmt {
            Stmt::Alloc { dst, .. } => *dst == spare || from != initial && *dst == initial,
            Stmt::CopyCells { dst, .. } => from != initial && *dst == initial,
            _ => false,
        };
        before.retain(|stmt| !gone(stmt));
        if let Some(at) = position(before, tape) {
            if let Stmt::Alloc { len, .. } = &mut before[at] {
                *len = more;
            }
            before.splice(at..at, sizes);
        }
        let first = values.like(row);
        before.push(Stmt::Offset { dst: first, buffer: tape, index: int(0) });
        before.push(Stmt::CopyCells { dst: first, src: from, len, cell });

        let [now, next] = pair.map(|k| source.carry[k].0);
        let stmts = std::mem::take(&mut source.body.stmts);
        let is_start = |stmt: &Stmt| stmt.bound().iter().any(|v| start == (*v).into());
        let (mut body, mut rest): (Vec<Stmt>, Vec<Stmt>) = stmts.into_iter().partition(is_start);
        rest.retain(|stmt| !matches!(stmt, Stmt::Offset { dst, .. } | Stmt::CopyCells { dst, .. } if *dst == row));
        body.push(Stmt::Offset { dst: now, buffer: tape, index: start });
        let after = values.prim("row", Kind::I64, prim::IADD, &[start, len], &mut body);
        body.push(Stmt::Offset { dst: next, buffer: tape, index: after });
        body.append(&mut rest);
        source.body.stmts = body;

        if let Some(last) = source.dst.get(pair[0]) {
            behind.push(Stmt::Offset { dst: *last, buffer: tape, index: cells });
        }
        let mut drop = pair;
        drop.sort_unstable();
        for k in drop.into_iter().rev() {
            source.carry.remove(k);
            source.body.results.remove(k);
            source.dst.remove(k);
        }
    }
}

/// The place of an allocation of temporary memory.
fn position(stmts: &[Stmt], buffer: Value) -> Option<usize> {
    let is_it =
        |stmt: &Stmt| matches!(stmt, Stmt::Alloc { dst, arena: Arena::Temp, .. } if *dst == buffer);
    stmts.iter().position(is_it)
}

fn is_buffer(buffers: &[bool], v: Value) -> bool {
    buffers.get(v.index()).copied().unwrap_or(false)
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}
