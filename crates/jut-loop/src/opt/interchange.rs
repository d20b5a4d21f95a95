//! Loops in loops that go through memory by columns, turned to go through it by rows.
//!
//! The gradient of `build (j < m) { sum (i < n) { f[i] * a[i, j] } }`, a product of a row and a matrix, comes out as
//!
//! ```text
//! for up (j in 0 .. m) {             for up (block in 0 .. blocks) {
//!   t = p(j)                           for up (j in the block) { t[j] = p(j) }
//!   for up (i in 0 .. n) {             for up (i in 0 .. n) {
//!     da[i m + j] += f[i] t              for up (j in the block) {
//!     df[i] += a[i m + j] t                da[i m + j] += f[i] t[j]
//!   }                                      df[i] += a[i m + j] t[j]
//! }                                    }
//!                                    } }
//! ```
//!
//! On the left each step of the inner loop is a row further; on the right it is a cell further, so the loop is one for vectors, and what it
//! adds to one cell is a register. Each cell gets the same terms in the same order, since iterations (i, j) that touch one
//! cell of what is written have i, or j, or both in common, and those keep their order. So no bit changes.
//!
//! Requires: a backend that takes vectors of loops. A pair of loops qualifies if neither carries anything, nothing stands behind the inner one, what is before it
//! and in it are operations, loads and stores that cannot fail, and every access to an array that the inner loop writes has one of the forms
//! `x[i]`, `x[j]`, `x[i m + j]`, `x[j n + i]`, the same for all to one array, in which the row is as long as the loop along it at least. That, and that no index wraps, is
//! asked before, and the loops as they were stand beside. Only if more accesses are by columns than by rows. Cost: linear; the loops are
//! written twice, and a function has a buffer of [`SPILLED`] times [`BLOCK`] floats at most for what the outer loop computes.

use jut_ir::Literal;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::{self, Lowering, Machine, Prim};

use crate::analysis::Roots;
use crate::form::{Arena, Atom, Block, Cell, For, Kind, LoopFunction, Order, Site, Stmt, Value};
use crate::values::Values;

/// Iterations of the outer loop for which the inner one runs at once: 2 to this power.
const BLOCK: u32 = 7;

/// Numbers of an outer iteration that the inner loop needs, at most.
const SPILLED: usize = 4;

/// Bytes of the buffer for these.
pub(super) const MOST: u32 = (8 * SPILLED as u32) << BLOCK;

/// Statements of either body that is written again.
const LARGEST: usize = 48;

/// Fewer iterations of the outer loop are no vectors worth while.
const LEAST: i64 = 16;

/// A product of two integers up to this does not wrap.
const FAR: i64 = 1 << 31;

/// Runs the walk; whether it changed anything.
pub(super) fn run(func: &mut LoopFunction) -> bool {
    let roots = Roots::of(func);
    let mut walk = Walk { values: Values::new(&mut func.values), memory: None };
    let (mut changed, mut most) = (false, 0);
    func.body.rewrite(&mut |stmt, out| {
        if let Stmt::For(outer) = &stmt
            && let Some(nest) = Nest::of(outer, &roots, &walk.values)
        {
            changed = true;
            most = most.max(nest.spilled.len());
            let turned = walk.turned(&nest, out);
            out.push(turned);
        } else {
            out.push(stmt);
        }
    });
    if let (Some(dst), 1..) = (walk.memory, most) {
        let (len, site) = (int((most as i64) << BLOCK), Site::from_u32(0));
        let alloc = Stmt::Alloc { dst, cell: Cell::F64, len, arena: Arena::Temp, site };
        func.body.stmts.insert(0, alloc);
    }
    changed
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

/// Which cell of an array an iteration of both loops comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// That of the inner index.
    Inner,
    /// That of the outer index.
    Outer,
    /// The inner index says the row, of so many cells, and the outer one which of these.
    Columns(Atom),
    /// The outer index says the row, and the inner one which cell of it.
    Rows(Atom),
    /// Any other.
    Other,
}

/// What an integer is to both loops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    Inner,
    Outer,
    /// The inner index times this.
    InnerTimes(Atom),
    OuterTimes(Atom),
    /// The same in all iterations.
    Outside,
}

/// A pair of loops that qualifies.
struct Nest<'s> {
    outer: &'s For,
    /// What is before the inner loop.
    before: &'s [Stmt],
    inner: &'s For,
    /// The floats from before the inner loop that it needs.
    spilled: Vec<Value>,
    /// What else it needs from there, to be computed again.
    again: Vec<&'s Stmt>,
    /// How long rows must be at least: the bound of the loop along them, and their length.
    long: Vec<(Atom, Atom)>,
}

/// What is known of the values of a nest.
struct Known<'s> {
    outer: Value,
    inner: Value,
    made: HashMap<Value, &'s Stmt>,
}

impl<'s> Nest<'s> {
    fn of(outer: &'s For, roots: &Roots, values: &Values) -> Option<Nest<'s>> {
        let (Stmt::For(inner), before) = outer.body.stmts.split_last()? else { return None };
        let plain = |l: &For| {
            let from = matches!(l.low, Atom::Lit(Literal::I64(0..=FAR)));
            from && l.carry.is_empty() && !l.may_end_early()
        };
        let simple = |stmts: &[Stmt]| {
            stmts.len() <= LARGEST
                && stmts.iter().all(|stmt| match stmt {
                    Stmt::Prim { prim, .. } => !prim.can_fail(),
                    Stmt::Load { dst, .. } => !matches!(values.kind(*dst), Kind::Buffer(_)),
                    Stmt::Copy { .. } | Stmt::Store { .. } | Stmt::Offset { .. } => true,
                    _ => false,
                })
        };
        if !plain(outer) || !plain(inner) || !simple(before) || !simple(&inner.body.stmts) {
            return None;
        }
        let mut known = Known { outer: outer.index, inner: inner.index, made: HashMap::default() };
        for stmt in before.iter().chain(&inner.body.stmts) {
            known.made.extend(stmt.bound().iter().map(|v| (*v, stmt)));
        }
        if !known.is_outside(inner.high) || !known.is_outside(outer.high) {
            return None;
        }
        let mut nest =
            Nest { outer, before, inner, spilled: Vec::new(), again: Vec::new(), long: Vec::new() };
        nest.may_be_turned(&known, roots)?;
        nest.needs(&known, values)?;
        Some(nest)
    }

    /// Whether no iteration sees another order of what is done to its cells, and there is something in it.
    fn may_be_turned(&mut self, known: &Known, roots: &Roots) -> Option<()> {
        let (mut places, mut written) = (Vec::new(), Vec::new());
        let (mut by_columns, mut by_rows) = (0, 0);
        for stmt in &self.inner.body.stmts {
            let (Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. }) = stmt
            else {
                continue;
            };
            let (array, place) = known.place(*buffer, *index)?;
            by_columns += usize::from(matches!(place, Place::Columns(_)));
            by_rows += usize::from(matches!(place, Place::Rows(_)));
            if matches!(stmt, Stmt::Store { .. }) {
                written.push((array, place));
            }
            places.push((array, place));
        }
        if by_columns <= by_rows {
            return None;
        }
        for (array, place) in &written {
            if *place == Place::Other {
                return None;
            }
            let others = places.iter().filter(|(other, _)| roots.may_overlap(*array, *other));
            if others.into_iter().any(|other| *other != (*array, *place)) {
                return None;
            }
            match place {
                Place::Columns(length) => self.long.push((self.outer.high, *length)),
                Place::Rows(length) => self.long.push((self.inner.high, *length)),
                _ => {}
            }
        }
        for stmt in self.before {
            let (array, touched) = match stmt {
                Stmt::Load { buffer, .. } => (known.array(*buffer), &written),
                Stmt::Store { buffer, .. } => (known.array(*buffer), &places),
                _ => continue,
            };
            let writes = matches!(stmt, Stmt::Store { .. });
            let meets = |other: Value| match writes {
                true => roots.may_overlap(array, other),
                false => roots.may_overlap(other, array),
            };
            if touched.iter().any(|(other, _)| meets(*other)) {
                return None;
            }
        }
        self.long.dedup();
        Some(())
    }

    /// Finds what the inner loop needs of what is before it.
    fn needs(&mut self, known: &Known<'s>, values: &Values) -> Option<()> {
        let before: HashSet<Value> =
            self.before.iter().flat_map(|stmt| stmt.bound()).copied().collect();
        let mut needed = HashSet::default();
        let mut open = Vec::new();
        let mut ask = |atom: Atom, open: &mut Vec<Value>| {
            if let Atom::Value(v) = atom
                && before.contains(&v)
                && needed.insert(v)
            {
                open.push(v);
            }
        };
        self.inner.body.stmts.iter().for_each(|stmt| stmt.operands(&mut |a| ask(a, &mut open)));
        let mut again = HashSet::default();
        while let Some(v) = open.pop() {
            let stmt = *known.made.get(&v)?;
            match (stmt, values.kind(v)) {
                (_, Kind::F64) => self.spilled.push(v),
                (Stmt::Offset { .. } | Stmt::Copy { .. }, _) | (Stmt::Prim { .. }, Kind::I64) => {
                    again.insert(v);
                    stmt.operands(&mut |a| ask(a, &mut open));
                }
                _ => return None,
            }
        }
        self.spilled.sort_unstable();
        let made_again = |stmt: &&Stmt| stmt.bound().iter().any(|v| again.contains(v));
        self.again = self.before.iter().filter(made_again).collect();
        (self.spilled.len() <= SPILLED).then_some(())
    }
}

impl Known<'_> {
    fn is_outside(&self, atom: Atom) -> bool {
        match atom {
            Atom::Value(v) => v != self.outer && v != self.inner && !self.made.contains_key(&v),
            Atom::Lit(_) => true,
        }
    }

    /// The buffer from outside of both loops of which this is a part.
    fn array(&self, mut buffer: Value) -> Value {
        while let Some(Stmt::Offset { buffer: whole, .. }) = self.made.get(&buffer) {
            buffer = *whole;
        }
        buffer
    }

    /// The array and the cell of it; none if the array is not from outside.
    fn place(&self, mut buffer: Value, index: Atom) -> Option<(Value, Place)> {
        let mut terms = self.terms(index);
        while let Some(stmt) = self.made.get(&buffer) {
            let Stmt::Offset { buffer: whole, index, .. } = stmt else { return None };
            let more = self.terms(*index);
            terms = terms.zip(more).map(|(terms, more)| [terms, more].concat());
            buffer = *whole;
        }
        let place = match terms.as_deref() {
            Some([Term::Inner]) => Place::Inner,
            Some([Term::Outer]) => Place::Outer,
            Some(
                [Term::Outer, Term::InnerTimes(length)] | [Term::InnerTimes(length), Term::Outer],
            ) => Place::Columns(*length),
            Some(
                [Term::Inner, Term::OuterTimes(length)] | [Term::OuterTimes(length), Term::Inner],
            ) => Place::Rows(*length),
            _ => Place::Other,
        };
        Some((buffer, place))
    }

    /// What an integer is the sum of, as far as that is of interest.
    fn terms(&self, atom: Atom) -> Option<Vec<Term>> {
        if atom == int(0) {
            return Some(Vec::new());
        }
        if self.is_outside(atom) {
            return Some(vec![Term::Outside]);
        }
        let Atom::Value(v) = atom else { return None };
        if v == self.inner || v == self.outer {
            return Some(vec![if v == self.inner { Term::Inner } else { Term::Outer }]);
        }
        let Stmt::Prim { prim, args, .. } = *self.made.get(&v)? else { return None };
        match (prim.row().lowering, args.as_slice()) {
            (Lowering::Machine(Machine::IAdd), [a, b]) => {
                Some([self.terms(*a)?, self.terms(*b)?].concat())
            }
            (Lowering::Machine(Machine::IMul), [a, b]) => {
                let (index, by) = if self.is_outside(*a) { (b, a) } else { (a, b) };
                if !self.is_outside(*by) {
                    return None;
                }
                match *index {
                    Atom::Value(v) if v == self.inner => Some(vec![Term::InnerTimes(*by)]),
                    Atom::Value(v) if v == self.outer => Some(vec![Term::OuterTimes(*by)]),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

struct Walk<'a> {
    values: Values<'a>,
    /// The buffer for what is spilled, if any nest needs it.
    memory: Option<Value>,
}

impl Walk<'_> {
    /// The loops turned, if that may be and is worth while, or as they were.
    fn turned(&mut self, nest: &Nest, out: &mut Vec<Stmt>) -> Stmt {
        let (first, last) = (nest.outer.low, nest.outer.high);
        let mut asked = vec![(int(LEAST), last), (last, int(FAR)), (nest.inner.high, int(FAR))];
        for (bound, length) in &nest.long {
            asked.extend([(*bound, *length), (*length, int(FAR))]);
        }
        let mut cond = Atom::Lit(Literal::Bool(true));
        for (a, b) in asked {
            let holds = self.values.prim("holds", Kind::BOOL, prim::ILE, &[a, b], out);
            cond = self.values.prim("turns", Kind::BOOL, prim::AND, &[cond, holds], out);
        }
        let mut then = Vec::new();
        let memory: Vec<Value> = (0..nest.spilled.len())
            .map(|k| {
                let kind = Kind::Buffer(Cell::F64);
                let values = &mut self.values;
                let buffer = *self.memory.get_or_insert_with(|| values.fresh("spilled", kind));
                let dst = self.values.fresh("part", kind);
                then.push(Stmt::Offset { dst, buffer, index: int((k as i64) << BLOCK) });
                dst
            })
            .collect();
        let trips = self.integer("trips", prim::ISUB, [last, first], &mut then);
        let more = self.integer("more", prim::IADD, [trips, int((1 << BLOCK) - 1)], &mut then);
        let blocks = self.integer("blocks", prim::SHR, [more, int(i64::from(BLOCK))], &mut then);
        let index = self.values.fresh("block", Kind::I64);
        let mut body = Vec::new();
        let start =
            self.integer("start", prim::SHL, [index.into(), int(i64::from(BLOCK))], &mut body);
        let begin = self.integer("begin", prim::IADD, [first, start], &mut body);
        let left = self.integer("left", prim::ISUB, [trips, start], &mut body);
        let len = self.integer("len", prim::IMIN, [left, int(1 << BLOCK)], &mut body);
        self.loops(nest, &memory, [begin, len], &mut body);
        then.push(counted(nest.outer.order, index, int(0), blocks, body));
        let then = Block { stmts: then, results: Vec::new() };
        let other = Block { stmts: vec![nest.outer.clone().into()], results: Vec::new() };
        Stmt::If { dst: Vec::new(), cond, then, other }
    }

    fn integer(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        self.values.prim(hint, Kind::I64, prim, &args, out)
    }

    /// Both loops for a block of the outer one.
    fn loops(&mut self, nest: &Nest, memory: &[Value], part: [Atom; 2], out: &mut Vec<Stmt>) {
        let [begin, len] = part;
        if !nest.before.is_empty() {
            let mut copier = Copier::new(self, nest, begin);
            nest.before.iter().for_each(|stmt| copier.stmt(stmt));
            let spilled = nest.spilled.iter().zip(memory);
            for (v, buffer) in spilled {
                let (buffer, value) = (*buffer, copier.atom((*v).into()));
                copier.out.push(Stmt::Store { buffer, index: copier.number.into(), value });
            }
            let Copier { number, out: body, .. } = copier;
            out.push(counted(nest.outer.order, number, int(0), len, body));
        }
        let mut copier = Copier::new(self, nest, begin);
        let index = copier.walk.values.like(nest.inner.index);
        copier.renamed.insert(nest.inner.index, index.into());
        nest.again.iter().for_each(|stmt| copier.stmt(stmt));
        for (v, buffer) in nest.spilled.iter().zip(memory) {
            let dst = copier.walk.values.like(*v);
            copier.renamed.insert(*v, dst.into());
            copier.out.push(Stmt::Load { dst, buffer: *buffer, index: copier.number.into() });
        }
        nest.inner.body.stmts.iter().for_each(|stmt| copier.stmt(stmt));
        let Copier { number, out: body, .. } = copier;
        let along = counted(nest.outer.order, number, int(0), len, body);
        out.push(counted(nest.inner.order, index, nest.inner.low, nest.inner.high, vec![along]));
    }
}

fn counted(order: Order, index: Value, low: Atom, high: Atom, stmts: Vec<Stmt>) -> Stmt {
    let body = Block { stmts, results: Vec::new() };
    For { dst: Vec::new(), order, vector: None, index, low, high, carry: Vec::new(), body }.into()
}

/// Writes statements of a nest again, in a loop over a block.
struct Copier<'w, 'a> {
    walk: &'w mut Walk<'a>,
    renamed: HashMap<Value, Atom>,
    /// The outer index, and where the block begins.
    outer: Value,
    begin: Atom,
    /// The number of the iteration in the block.
    number: Value,
    out: Vec<Stmt>,
}

impl<'w, 'a> Copier<'w, 'a> {
    fn new(walk: &'w mut Walk<'a>, nest: &Nest, begin: Atom) -> Copier<'w, 'a> {
        let number = walk.values.fresh("number", Kind::I64);
        let outer = nest.outer.index;
        let mut out = Vec::new();
        let index = walk.values.like(outer);
        out.push(Stmt::Prim { dst: index, prim: prim::IADD, args: vec![begin, number.into()] });
        let renamed = [(outer, index.into())].into_iter().collect();
        Copier { walk, renamed, outer, begin, number, out }
    }

    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Value(v) => self.renamed.get(&v).copied().unwrap_or(atom),
            Atom::Lit(_) => atom,
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let mut copied = stmt.clone();
        // Cells one after the other, from that of the block's beginning on.
        if let Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } = &mut copied
            && *index == Atom::Value(self.outer)
        {
            let dst = self.walk.values.like(*buffer);
            let whole = *buffer;
            *buffer = dst;
            *index = self.number.into();
            let mut part = Stmt::Offset { dst, buffer: whole, index: self.begin };
            part.operands_mut(&mut |a| *a = self.atom(*a));
            self.out.push(part);
        }
        copied.operands_mut(&mut |a| *a = self.atom(*a));
        for v in stmt.bound() {
            let new = self.walk.values.like(*v);
            self.renamed.insert(*v, new.into());
        }
        let renamed = &self.renamed;
        copied.binders_mut(&mut |v| {
            if let Some(Atom::Value(new)) = renamed.get(v) {
                *v = *new;
            }
        });
        self.out.push(copied);
    }
}
