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
//! is not where it stores and adds up. But the iterations of a loop that carries arrays, steps over time say, wait for each other. There loops in any
//! order become one as well, and a step goes once over what it needs:
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
//! *Requires*: a well-formed function; loops whose iterations own their cells are `for par` ([`super::gather`]). *Ensures*: the same
//! cells and sums, bit for bit. *Cost*: for each loop, the statements near it.

use jut_ir::hash::HashMap;
use jut_ir::prim::Prim;

use super::filler;
use before::{Behind, Beside, Where};

pub(super) mod before;
use crate::analysis::Roots;
use crate::form::{Atom, Block, For, Kind, Lanes, LoopFunction, Order, Stmt, Value, ValueData};
use cranelift_entity::PrimaryMap;

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
    let joined = walk.block(&mut func.body, Where::Outside, &mut left);
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
    /// Joins the loops of a block; whether there were any. What was only for two of them is left over.
    fn block(&self, block: &mut Block, place: Where, left: &mut Vec<Value>) -> bool {
        let stmts = std::mem::take(&mut block.stmts);
        block.stmts.reserve(stmts.len());
        let mut joined = false;
        for mut stmt in stmts {
            if let Stmt::For(steps) = &mut stmt
                && self.carries_arrays(steps)
            {
                joined |= self.block(&mut steps.body, Where::InSteps, left);
            }
            joined |= self.stmt(stmt, place, &mut block.stmts, left);
        }
        joined
    }

    /// Whether each iteration of a loop begins with the arrays that the one before has left.
    fn carries_arrays(&self, steps: &For) -> bool {
        let is_array = |v: Value| matches!(self.values[v].kind, Kind::Buffer(_));
        steps.order != Order::Par && steps.carry.iter().any(|(v, _)| is_array(*v))
    }

    /// Writes a statement, joined with a loop before it if that can be; whether it was.
    fn stmt(&self, stmt: Stmt, place: Where, out: &mut Vec<Stmt>, left: &mut Vec<Value>) -> bool {
        let near =
            beside_it(&stmt).and_then(|second| Some((self.near(&second, place, out)?, second)));
        let Some((near, second)) = near else {
            out.push(stmt);
            return false;
        };
        let taken = std::iter::once(&near.sums).chain(&near.needing);
        let taken: Vec<Stmt> = taken.map(|at| std::mem::replace(&mut out[*at], filler())).collect();
        let mut taken = taken.into_iter();
        if let Some(first) = taken.next().as_ref().and_then(beside_it) {
            let mut tapes = stored_by(&first.body);
            tapes.retain(|tape| is_only_in(*tape, &[&first.body, &second.body], &self.named));
            out.push(as_a_loop(both(first, second, &tapes)));
            left.extend(tapes);
        }
        out.extend(taken);
        true
    }

    /// A loop that becomes one with a loop behind it.
    fn near(&self, second: &Lanes, place: Where, out: &[Stmt]) -> Option<Beside> {
        let behind = Behind {
            range: (second.low, second.high),
            index: second.index,
            body: &second.body,
            initial: Vec::new(),
        };
        let known = (&self.roots, self.values);
        let near = before::loop_before(out, &behind, place, known)?;
        let first = beside_it(&out[near.sums])?;
        let sums = first.carry.len() + second.carry.len();
        let size = first.body.stmts.len() + second.body.stmts.len();
        let largest = if sums < SUMS { LARGEST } else { self.largest };
        let fits = sums <= SUMS && size <= largest && have_something_in_common(&first, second);
        fits.then_some(near)
    }
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
            Stmt::Store { buffer, index, value } => {
                // What is stored there first is loaded by nobody any more.
                let (buffer, index) = (*buffer, *index);
                cells.insert((buffer, index), *value);
                stmts.retain(|stmt| !matches!(stmt, Stmt::Store { buffer: b, index: i, .. } if (*b, *i) == (buffer, index)));
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
