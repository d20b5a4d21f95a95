//! Loops of sums and what stands behind them over the same range, as one loop.
//!
//! Value and gradient come as two loops, of which the second reads what the first one has read, or left for it:
//!
//! ```text
//! (s) = lanes (i in 0 .. n) carry (c) {      (s) = lanes (i in 0 .. n) carry (c) {
//!   a = x[i]                                   a = x[i]
//!   p = a * a                                  p = a * a
//!   q = p + 1.0                                q = p + 1.0
//!   r = sqrt(q)                                r = sqrt(q)
//!   t[i] = r                                   c_1 = c + r
//!   c_1 = c + r                                d = a / r
//!   (c_1)                                      g[i] = d
//! }                                            (c_1)
//! for par (k in 0 .. n) {                    }
//!   b = x[k]
//!   u = t[k]
//!   d = b / u
//!   g[k] = d
//! }
//! ```
//!
//! The first loop moves to the second, and operations in between that need its sums move behind both. What an iteration of the first
//! has stored for the same iteration of the second is known to it, and stored only if something else asks for it.
//!
//! This is done outside of other loops: inside, what stands in one loop may be taken for several iterations of the loop around, which it
//! is not where it stores and adds up. The iterations of a loop that carries arrays, steps over time say, wait for each other. There a loop in any order
//! becomes one with a loop behind it, too, if it stores for that one only, whose array is gone then:
//!
//! ```text
//! for par (i in 0 .. n) {            for par (i in 0 .. n) {
//!   a = x[i]                           a = x[i]
//!   p = -a                             p = -a
//!   f[i] = p                           b = v[i]
//! }                                    q = h * p
//! for par (k in 0 .. n) {              c = b + q
//!   b = v[k]                           w[i] = c
//!   u = f[k]                         }
//!   q = h * u
//!   c = b + q
//!   w[k] = c
//! }
//! ```
//!
//! Where something is left of what the first has stored, one loop for both has more arrays to store to at once, which was measured to be slower.
//!
//! *Requires*: a well-formed function; loops whose iterations own their cells are `for par` ([`super::gather`]). *Ensures*: the same
//! cells and sums, bit for bit. *Cost*: for each loop, the statements near it.

use jut_ir::hash::HashMap;
use jut_ir::prim::Lowering;
use jut_ir::prim::Prim;

use super::filler;
use crate::analysis::Roots;
use crate::analysis::effects::{Access, accesses};
use crate::form::{Atom, Block, For, Kind, Lanes, LoopFunction, Order, Stmt, Value, ValueData};
use cranelift_entity::PrimaryMap;

/// Statements among which a loop of sums is looked for.
const NEAR: usize = 48;

/// Statements of a loop that is made of two.
const LARGEST: usize = 64;

/// Sums of a loop that is made of two: each has its lanes in registers.
const SUMS: usize = 3;

/// Statements of a loop of so many sums, where registers are short.
pub(super) const SHORT: usize = 24;

/// The same where they are long.
pub(super) const LONG: usize = LARGEST;

/// Runs the walk; whether loops are joined. A loop of as many sums as there may be has so many statements at most.
pub(super) fn run(func: &mut LoopFunction, largest: usize) -> bool {
    let walk =
        Join { roots: Roots::of(func), named: named(&func.body), values: &func.values, largest };
    let mut left = Vec::new();
    let joined = walk.block(&mut func.body, false, &mut left);
    if !left.is_empty() {
        // Nothing names these any more.
        let is_left = |stmt: &Stmt| matches!(stmt, Stmt::Alloc { dst, .. } if left.contains(dst));
        func.body.rewrite(&mut |stmt, out| out.extend((!is_left(&stmt)).then_some(stmt)));
    }
    joined
}

struct Join<'a> {
    roots: Roots,
    /// How often each buffer is named that the function allocates.
    named: HashMap<Value, usize>,
    values: &'a PrimaryMap<Value, ValueData>,
    /// Statements of a loop of as many sums as there may be.
    largest: usize,
}

impl Join<'_> {
    /// Joins the loops of a block, which is that of a loop of steps perhaps; whether there were any. What was only for two of them is left over.
    fn block(&self, block: &mut Block, in_steps: bool, left: &mut Vec<Value>) -> bool {
        let stmts = std::mem::take(&mut block.stmts);
        block.stmts.reserve(stmts.len());
        let mut joined = false;
        for mut stmt in stmts {
            if let Stmt::For(steps) = &mut stmt
                && self.carries_arrays(steps)
            {
                joined |= self.block(&mut steps.body, true, left);
            }
            joined |= self.stmt(stmt, in_steps, &mut block.stmts, left);
        }
        joined
    }

    /// Whether each iteration of a loop begins with the arrays that the one before has left.
    fn carries_arrays(&self, steps: &For) -> bool {
        let is_array = |v: Value| matches!(self.values[v].kind, Kind::Buffer(_));
        steps.order != Order::Par && steps.carry.iter().any(|(v, _)| is_array(*v))
    }

    /// Writes a statement, joined with a loop before it if that can be; whether it was.
    fn stmt(&self, stmt: Stmt, in_steps: bool, out: &mut Vec<Stmt>, left: &mut Vec<Value>) -> bool {
        let near =
            beside_it(&stmt).and_then(|second| Some((self.near(&second, in_steps, out)?, second)));
        let Some((near, second)) = near else {
            out.push(stmt);
            return false;
        };
        let taken = std::iter::once(&near.sums).chain(&near.needing);
        let taken: Vec<Stmt> = taken.map(|at| std::mem::replace(&mut out[*at], filler())).collect();
        let mut taken = taken.into_iter();
        if let Some(first) = taken.next().as_ref().and_then(beside_it) {
            let tapes = self.tapes(&first, &second);
            out.push(as_a_loop(both(first, second, &tapes)));
            left.extend(tapes);
        }
        out.extend(taken);
        true
    }

    /// What the first of two loops stores for the second one only.
    fn tapes(&self, first: &Lanes, second: &Lanes) -> Vec<Value> {
        let mut tapes = stored_by(&first.body);
        tapes.retain(|tape| is_only_in(*tape, &[&first.body, &second.body], &self.named));
        tapes
    }

    /// A loop that becomes one with a loop behind it.
    fn near(&self, second: &Lanes, in_steps: bool, out: &[Stmt]) -> Option<Beside> {
        let behind = Behind {
            range: (second.low, second.high),
            index: second.index,
            body: &second.body,
            initial: Vec::new(),
        };
        let known = (&self.roots, self.values);
        let rules = if in_steps { Rules::IN_STEPS } else { Rules::OUTSIDE };
        let near = sums_before(out, &behind, &stored_by(&second.body), rules, known)?;
        let first = beside_it(&out[near.sums])?;
        let sums = first.carry.len() + second.carry.len();
        let size = first.body.stmts.len() + second.body.stmts.len();
        let largest = if sums < SUMS { LARGEST } else { self.largest };
        let fits = sums <= SUMS && size <= largest && have_something_in_common(&first, second);
        let all_is_left = || {
            let stored = stored_by(&first.body);
            !stored.is_empty() && self.tapes(&first, second).len() == stored.len()
        };
        (fits && (!in_steps || !calls(&second.body) && all_is_left())).then_some(near)
    }
}

/// Whether a body calls a function: one for many numbers has buffers of its own, and is better off alone in a loop of steps.
fn calls(body: &Block) -> bool {
    body.stmts.iter().any(|stmt| {
        matches!(stmt, Stmt::Prim { prim, .. } if !matches!(prim.row().lowering, Lowering::Opcode(_)))
    })
}

/// A loop of sums and stores; of stores alone it is one in any order.
fn as_a_loop(lanes: Lanes) -> Stmt {
    if !lanes.carry.is_empty() {
        return Stmt::from(lanes);
    }
    let Lanes { dst, index, low, high, body, .. } = lanes;
    let (order, carry) = (Order::Par, Vec::new());
    Stmt::from(For { dst, order, vector: None, index, low, high, carry, body })
}

/// A loop of operations, loads and stores that may become one with a loop of sums: one of sums, or one in any order, as a loop of none.
fn beside_it(stmt: &Stmt) -> Option<Lanes> {
    let second = match stmt {
        Stmt::For(f) if f.order == Order::Par && f.carry.is_empty() && is_flat(&f.body) => {
            let For { low, high, index, body, .. } = (**f).clone();
            Lanes { dst: Vec::new(), vector: None, index, low, high, carry: Vec::new(), body }
        }
        Stmt::Lanes(lanes) if is_flat(&lanes.body) => (**lanes).clone(),
        _ => return None,
    };
    Some(second)
}

/// Whether a body is operations, loads and stores.
fn is_flat(body: &Block) -> bool {
    body.stmts.iter().all(|stmt| {
        matches!(
            stmt,
            Stmt::Prim { .. } | Stmt::Copy { .. } | Stmt::Load { .. } | Stmt::Store { .. }
        )
    })
}

/// Whether one loop is worth more than two: they load the same, or one loads what the other has left. A loop that stores to neighbours is
/// not joined: its order is that of the numbers.
fn have_something_in_common(first: &Lanes, second: &Lanes) -> bool {
    let loads = |of: Value| {
        let is = |stmt: &Stmt| matches!(stmt, Stmt::Load { buffer, .. } if *buffer == of);
        second.body.stmts.iter().any(is)
    };
    let common = first.body.stmts.iter().any(|stmt| match stmt {
        Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } => loads(*buffer),
        _ => false,
    });
    let own = second.body.stmts.iter().all(|stmt| match stmt {
        Stmt::Store { index, .. } => *index == second.index.into(),
        _ => true,
    });
    common && own
}

/// Two loops over one range as one. What the second computes or loads as the first has done has the name that it has there; what the
/// first has left for it only is not stored.
fn both(first: Lanes, second: Lanes, left: &[Value]) -> Lanes {
    let Lanes { mut dst, index, low, high, mut carry, body, .. } = first;
    let Block { mut stmts, mut results } = body;
    let mut known: HashMap<Value, Atom> = HashMap::default();
    known.insert(second.index, index.into());
    let mut operations: HashMap<(Prim, Vec<Atom>), Value> = HashMap::default();
    let mut cells: HashMap<(Value, Atom), Atom> = HashMap::default();
    for stmt in &stmts {
        match stmt {
            Stmt::Prim { dst, prim, args } => {
                operations.insert((*prim, args.clone()), *dst);
            }
            Stmt::Load { dst, buffer, index } => {
                cells.insert((*buffer, *index), (*dst).into());
            }
            Stmt::Store { buffer, index, value } => {
                cells.insert((*buffer, *index), *value);
            }
            _ => {}
        }
    }
    stmts.retain(|stmt| !matches!(stmt, Stmt::Store { buffer, .. } if left.contains(buffer)));
    for mut stmt in second.body.stmts {
        stmt.operands_mut(&mut |atom| *atom = renamed(*atom, &known));
        match &stmt {
            Stmt::Prim { dst, prim, args } => {
                if let Some(same) = operations.get(&(*prim, args.clone())) {
                    known.insert(*dst, (*same).into());
                    continue;
                }
            }
            Stmt::Load { dst, buffer, index } => {
                if let Some(same) = cells.get(&(*buffer, *index)) {
                    known.insert(*dst, *same);
                    continue;
                }
            }
            _ => {}
        }
        stmts.push(stmt);
    }
    results.extend(second.body.results.iter().map(|a| renamed(*a, &known)));
    dst.extend(second.dst);
    carry.extend(second.carry);
    Lanes { dst, vector: None, index, low, high, carry, body: Block { stmts, results } }
}

/// A loop behind which a loop of sums may stand.
pub(super) struct Behind<'b> {
    pub range: (Atom, Atom),
    pub index: Value,
    pub body: &'b Block,
    /// With what it begins.
    pub initial: Vec<Atom>,
}

/// A loop of sums among statements, and the operations behind it that need its sums, by their places.
pub(super) struct Beside {
    pub sums: usize,
    pub needing: Vec<usize>,
}

/// What the first of two loops may be.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// One that calls functions.
    calls: bool,
    /// One in any order that has no sums.
    stores: bool,
}

impl Rules {
    /// Before a loop that is turned round.
    pub(super) const GATHERED: Rules = Rules { calls: false, stores: false };
    /// Outside of other loops.
    const OUTSIDE: Rules = Rules { calls: true, stores: false };
    /// In a loop of steps.
    const IN_STEPS: Rules = Rules { calls: false, stores: true };
}

/// A loop of sums among statements that can stand behind all others, with what needs its sums, and become one with a loop over the
/// same range that stores to these buffers. What its iterations store is for the same iterations of that loop.
pub(super) fn sums_before(
    out: &[Stmt],
    behind: &Behind<'_>,
    stored: &[Value],
    rules: Rules,
    (roots, values): (&Roots, &PrimaryMap<Value, ValueData>),
) -> Option<Beside> {
    let is_buffer = |v: Value| matches!(values[v].kind, Kind::Buffer(_));
    let overlap = |all: &[Value], b: Value| all.iter().any(|a| roots.may_overlap(*a, b));
    let (mut read, mut written, mut called) = (Vec::new(), stored.to_vec(), false);
    for (at, stmt) in out.iter().enumerate().rev().take(NEAR) {
        let range = match stmt {
            Stmt::Lanes(l) => Some((l.low, l.high)),
            Stmt::For(f) if rules.stores => Some((f.low, f.high)),
            _ => None,
        };
        if range == Some(behind.range)
            && let Some(sums) = beside_it(stmt)
            && let Some((loaded, tapes)) = only_sums(&sums, rules.calls, roots)
        {
            let own = |stmt: &Stmt| match stmt {
                Stmt::Load { buffer, index, .. } if overlap(&tapes, *buffer) => {
                    tapes.contains(buffer) && *index == behind.index.into()
                }
                _ => true,
            };
            // Who has a pointer to an array that is to be written may read it, also where it is not given to him: through another one.
            let handed_on = called || out[at + 1..].iter().any(|stmt| reads(stmt, &tapes));
            let stays = tapes.iter().any(|b| overlap(&read, *b) || overlap(&written, *b))
                || loaded.iter().any(|b| overlap(&written, *b))
                || !tapes.is_empty() && handed_on;
            if !stays
                && behind.body.stmts.iter().all(own)
                && let Some(needing) = needing(&out[at..], &sums, behind)
            {
                let needing = needing.into_iter().map(|k| at + k).collect();
                return Some(Beside { sums: at, needing });
            }
        }
        // Behind it, what has been stored would be gone.
        if stmt.any(&mut |stmt| matches!(stmt, Stmt::Release { .. })) {
            return None;
        }
        stmt.any(&mut |stmt| {
            called |= matches!(stmt, Stmt::Call { .. });
            accesses(stmt, is_buffer, &mut |buffer, access| match access {
                Access::Read => read.push(buffer),
                Access::Write => written.push(buffer),
            });
            false
        });
    }
    None
}

/// The operations behind a loop of sums, the first of these statements, that need its sums, if nothing else does.
fn needing(stmts: &[Stmt], sums: &Lanes, behind: &Behind<'_>) -> Option<Vec<usize>> {
    let mut needed = sums.dst.clone();
    let mut needing = Vec::new();
    for (at, stmt) in stmts.iter().enumerate().skip(1) {
        if reads(stmt, &needed) {
            match stmt {
                Stmt::Prim { dst, .. } | Stmt::Copy { dst, .. } => needed.push(*dst),
                _ => return None,
            }
            needing.push(at);
        }
    }
    let itself = behind.body.stmts.iter().any(|stmt| reads(stmt, &needed))
        || behind.initial.iter().any(|a| is_one_of(*a, &needed));
    (!itself).then_some(needing)
}

/// The buffers that a loop of sums loads from, and those to whose cells at its index it stores, if it does nothing else, and cannot
/// fail.
fn only_sums(sums: &Lanes, calls: bool, roots: &Roots) -> Option<(Vec<Value>, Vec<Value>)> {
    let (mut loaded, mut tapes): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for stmt in &sums.body.stmts {
        match stmt {
            Stmt::Prim { prim, args, .. }
                if (calls || matches!(prim.row().lowering, Lowering::Opcode(_)))
                    && !prim.can_fail_by(args.last().and_then(|a| a.integer())) => {}
            Stmt::Copy { .. } => {}
            Stmt::Load { buffer, .. } => loaded.push(*buffer),
            Stmt::Store { buffer, index, .. } if *index == sums.index.into() => {
                tapes.push(*buffer);
            }
            _ => return None,
        }
    }
    let alone = |(k, tape): (usize, &Value)| {
        let mut others = loaded.iter().chain(&tapes[..k]);
        !others.any(|other| roots.may_overlap(*other, *tape))
    };
    tapes.iter().enumerate().all(alone).then_some((loaded, tapes))
}

/// How often each buffer is named that the statements allocate.
pub(super) fn named(body: &Block) -> HashMap<Value, usize> {
    let mut named = HashMap::default();
    body.for_each(&mut |stmt| {
        if let Stmt::Alloc { dst, .. } = stmt {
            named.insert(*dst, 0);
        }
    });
    body.atoms(&mut |atom| {
        if let Atom::Value(v) = atom
            && let Some(times) = named.get_mut(&v)
        {
            *times += 1;
        }
    });
    named
}

/// Whether nothing but some blocks names a buffer, which is the function's own.
pub(super) fn is_only_in(buffer: Value, blocks: &[&Block], named: &HashMap<Value, usize>) -> bool {
    let mut times = 0;
    for block in blocks {
        block.atoms(&mut |a| times += usize::from(a == buffer.into()));
    }
    named.get(&buffer) == Some(&times)
}

/// The buffers that a body stores to.
pub(super) fn stored_by(body: &Block) -> Vec<Value> {
    let stored = body.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Store { buffer, .. } => Some(*buffer),
        _ => None,
    });
    stored.collect()
}

/// What an atom of a body is where that is written once more.
pub(super) fn renamed(atom: Atom, known: &HashMap<Value, Atom>) -> Atom {
    match atom {
        Atom::Value(v) => known.get(&v).copied().unwrap_or(atom),
        Atom::Lit(_) => atom,
    }
}

/// Whether a statement, or one in it, names one of some values.
pub(super) fn reads(stmt: &Stmt, values: &[Value]) -> bool {
    let mut reads = false;
    stmt.atoms(&mut |a| reads |= is_one_of(a, values));
    reads
}

fn is_one_of(atom: Atom, values: &[Value]) -> bool {
    matches!(atom, Atom::Value(v) if values.contains(&v))
}
