//! Branches whose condition is partly the same in all iterations of a loop: two loops in the place of one.
//!
//! A stencil on a grid asks of every cell whether it lies on an edge. For the inner loop, half of the
//! question is answered already:
//!
//! ```text
//! for par (j in 0 .. m) {            if edge {
//!   first = j == 0                     for par (j in 0 .. m) { .. then a }
//!   at_edge = edge || first          } else {
//!   (y) = if at_edge { a }             for par (j in 0 .. m) {
//!         else { b }                     first = j == 0
//!   u[j] = y                             (y) = if first { a } else { b }
//! }                                      u[j] = y
//!                                      }
//!                                    }
//! ```
//!
//! The first loop has no branch; of the second, [`super::peel`] takes out the ends. A loop of sums by lanes keeps its ends, so only a branch that
//! is decided by a value from outside alone makes two loops of it, unless it also stores in a branch: then it is one that
//! [`super::distribute`] may take apart, whose cells have no such branch. Nothing is computed that was
//! not computed before, in the same order, so no bit changes, nor which error a program reports.
//!
//! Requires: nothing. A body qualifies if it is small and has no loop, call or allocation, and a branch on a truth
//! value from outside, or on one that `and`, `or` and `not` make of such a value and others. Of
//! several such values one after the other is taken, as long as what is written stays short. Cost: linear; a body is written a few times.

use jut_ir::Literal;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::{Lowering, Opcode, Prim};

use super::distribute;
use super::gather::{as_it_is, in_order};
use super::peel::repeatable;
use crate::form::{Atom, Block, For, LoopFunction, Stmt, Value};
use crate::values::Values;

/// Runs the walk, for bodies of so many statements; whether it changed anything.
pub(super) fn run(func: &mut LoopFunction, largest: usize) -> bool {
    let mut values = Values::new(&mut func.values);
    let mut changed = false;
    func.body.rewrite(&mut |stmt, out| match stmt {
        Stmt::For(source) => {
            let stmt = switched(&mut values, (source, false), largest, MOST);
            changed |= !stmt.is_loop();
            out.push(stmt);
        }
        Stmt::Lanes(source) => {
            let stmt = switched(&mut values, (Box::new(in_order(*source)), true), largest, MOST);
            changed |= !stmt.is_loop();
            out.push(stmt);
        }
        stmt => out.push(stmt),
    });
    changed
}

/// Of so many values one after the other the branches of a loop are taken out.
const MOST: usize = 4;

/// A loop, one of sums by lanes perhaps, or a branch between loops that know of up to `most` values what they are; each body has at most so many statements,
/// and if one of the two takes part again, both together have.
fn switched(
    values: &mut Values,
    (source, by_lanes): (Box<For>, bool),
    largest: usize,
    most: usize,
) -> Stmt {
    let condition = match most {
        0 => None,
        _ => {
            let keeps_ends = by_lanes && !distribute::stores_in_a_branch(&source.body);
            switch(&source, keeps_ends, largest)
        }
    };
    let Some(condition) = condition else { return as_it_is(*source, by_lanes) };
    let Split { dst, cases } = split(values, *source, condition);
    let sizes = cases.each_ref().map(|(case, _)| repeatable(&case.body).unwrap_or(largest));
    let most = if sizes[0] + sizes[1] <= largest { most - 1 } else { 0 };
    let [then, other] = cases.map(|(case, results)| {
        let stmts = vec![switched(values, (Box::new(case), by_lanes), largest, most)];
        Block { stmts, results }
    });
    Stmt::If { dst, cond: condition.into(), then, other }
}

/// The truth value from outside that decides, `alone` or with others, a branch of a loop.
fn switch(source: &For, alone: bool, largest: usize) -> Option<Value> {
    let body = &source.body;
    if source.may_end_early() || repeatable(body)? > largest {
        return None;
    }
    let mut inside: HashSet<Value> = source.carry.iter().map(|(v, _)| *v).collect();
    inside.insert(source.index);
    let mut made: HashMap<Value, &[Atom]> = HashMap::default();
    body.for_each(&mut |stmt| {
        inside.extend(stmt.bound());
        if let Stmt::Prim { dst, prim, args } = stmt
            && logical(*prim).is_some()
        {
            made.insert(*dst, args);
        }
    });
    let mut found = None;
    body.for_each(&mut |stmt| {
        let Stmt::If { cond, .. } = stmt else { return };
        let mut asked = vec![*cond];
        while let (None, Some(atom)) = (found, asked.pop()) {
            let Atom::Value(v) = atom else { continue };
            match made.get(&v) {
                Some(args) if !alone => asked.extend(args.iter().rev()),
                None if !inside.contains(&v) => found = Some(v),
                _ => {}
            }
        }
    });
    found
}

fn logical(prim: Prim) -> Option<Opcode> {
    match prim.row().lowering {
        Lowering::Opcode(op @ (Opcode::Or | Opcode::And | Opcode::Not)) => Some(op),
        _ => None,
    }
}

/// The loop for each case, and what it gives.
struct Split {
    dst: Vec<Value>,
    cases: [(For, Vec<Atom>); 2],
}

/// The loops where a truth value is true, and where it is false.
fn split(values: &mut Values, source: For, condition: Value) -> Split {
    let dst = source.dst.clone();
    let cases = [true, false].map(|truth| {
        let known = [(condition, Atom::Lit(Literal::Bool(truth)))];
        let mut copier = Copier { values, renamed: known.into_iter().collect(), fresh: truth };
        let index = copier.binder(source.index);
        let carry = source.carry.iter().map(|(v, initial)| (copier.binder(*v), *initial)).collect();
        let body = copier.block(&source.body);
        let dst: Vec<Value> = dst.iter().map(|v| copier.values.like(*v)).collect();
        let results = dst.iter().map(|v| Atom::Value(*v)).collect();
        let For { order, vector, low, high, .. } = source;
        (For { dst, order, vector, index, low, high, carry, body }, results)
    });
    Split { dst, cases }
}

/// Copies a body in which the condition is known.
struct Copier<'w, 'a> {
    values: &'w mut Values<'a>,
    renamed: HashMap<Value, Atom>,
    /// Whether what is bound gets a new name.
    fresh: bool,
}

impl Copier<'_, '_> {
    fn binder(&mut self, old: Value) -> Value {
        if !self.fresh {
            return old;
        }
        let new = self.values.like(old);
        self.renamed.insert(old, new.into());
        new
    }

    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Value(v) => self.renamed.get(&v).copied().unwrap_or(atom),
            Atom::Lit(_) => atom,
        }
    }

    fn block(&mut self, block: &Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        self.stmts(block, &mut stmts);
        let results = block.results.iter().map(|a| self.atom(*a)).collect();
        Block { stmts, results }
    }

    fn stmts(&mut self, block: &Block, out: &mut Vec<Stmt>) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    if let Some(decided) = self.decided(*prim, args) {
                        self.renamed.insert(*dst, decided);
                        continue;
                    }
                }
                Stmt::If { dst, cond, then, other } => {
                    if let Atom::Lit(Literal::Bool(truth)) = self.atom(*cond) {
                        let taken = if truth { then } else { other };
                        self.stmts(taken, out);
                        for (v, result) in dst.iter().zip(&taken.results) {
                            self.renamed.insert(*v, self.atom(*result));
                        }
                        continue;
                    }
                }
                _ => {}
            }
            let mut copied = stmt.clone();
            copied.operands_mut(&mut |a| *a = self.atom(*a));
            for inner in copied.blocks_mut() {
                *inner = self.block(inner);
            }
            copied.binders_mut(&mut |v| *v = self.binder(*v));
            out.push(copied);
        }
    }

    /// What an operation on truth values is, if one of them is known.
    fn decided(&self, prim: Prim, args: &[Atom]) -> Option<Atom> {
        let literal = |truth: bool| Atom::Lit(Literal::Bool(truth));
        let known = |atom: Atom| match atom {
            Atom::Lit(Literal::Bool(truth)) => Some(truth),
            _ => None,
        };
        let op = logical(prim)?;
        match *args {
            [a] => Some(literal(!known(self.atom(a))?)),
            [a, b] => {
                let (a, b) = (self.atom(a), self.atom(b));
                let (truth, rest) = match (known(a), known(b)) {
                    (Some(truth), _) => (truth, b),
                    (None, Some(truth)) => (truth, a),
                    (None, None) => return None,
                };
                // `true || x` and `false && x` are decided, the others are x.
                Some(if truth == (op == Opcode::Or) { literal(truth) } else { rest })
            }
            _ => None,
        }
    }
}
