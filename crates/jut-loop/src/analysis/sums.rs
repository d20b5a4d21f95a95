//! What a loop only adds to, in the order of its iterations.
//!
//! ```text
//! (s_1, t_1) = for up (i in 0 .. n) carry (s = 0.0, t = t_0) {
//!   a = x[i]
//!   b = a * t                t is the same in every iteration
//!   s_2 = s + b              s is a sum of what iterations have computed
//!   (s_2, t)
//! }
//! ```
//!
//! Several iterations of such a loop may compute what they add at the same time, if nothing else keeps
//! them from it; then it is added, one after the other. So may those of a loop that carries one truth value, and only asks if it
//! holds and what the iteration has computed does: a conjunction, which has no order.
//!
//! *Requires*: a well-formed loop. *Cost*: linear.

use jut_ir::hash::HashMap;
use jut_ir::prim::{self, Prim};

use crate::form::{Atom, Block, For, Stmt, Value};

/// A carried number that a loop only adds to, or the truth value of a [`conjunction`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Which of the carried values.
    pub number: usize,
    /// What it is before an iteration; only the addition, or conjunction, reads it.
    pub carry: Value,
    /// What it is afterwards; only the next iteration reads it.
    pub next: Value,
    /// What is added, or has to hold, too.
    pub term: Atom,
    /// Whether the term is the second operand.
    pub term_last: bool,
}

impl Sum {
    /// What a statement does, if it adds to this carried value.
    pub fn of(number: usize, carry: Value, stmt: &Stmt) -> Option<Sum> {
        Sum::by(prim::ADD, number, carry, stmt)
    }

    fn by(by: Prim, number: usize, carry: Value, stmt: &Stmt) -> Option<Sum> {
        let Stmt::Prim { dst, prim, args } = stmt else { return None };
        let next = *dst;
        match args[..] {
            _ if *prim != by => None,
            [a, term] if a == carry.into() => {
                Some(Sum { number, carry, next, term, term_last: true })
            }
            [term, b] if b == carry.into() => {
                Some(Sum { number, carry, next, term, term_last: false })
            }
            _ => None,
        }
    }

    /// The addition, of another term.
    pub fn addition(&self, term: Atom) -> Stmt {
        let carry = self.carry.into();
        let args = if self.term_last { vec![carry, term] } else { vec![term, carry] };
        Stmt::Prim { dst: self.next, prim: prim::ADD, args }
    }
}

/// The sums of a loop whose other carried values are the same in all iterations; `None` if there are
/// others, or no sums among what is carried.
pub fn sums_in_order(f: &For) -> Option<Vec<Sum>> {
    if f.may_end_early() {
        return None;
    }
    let carries: Vec<Value> = f.carry.iter().map(|(carry, _)| *carry).collect();
    sums_of(&carries, &f.body).filter(|sums| !sums.is_empty() || carries.is_empty())
}

/// The truth value of a loop that carries nothing else, and that only asks if it and something of each iteration hold.
pub fn conjunction(f: &For) -> Option<Sum> {
    let [(carry, _)] = f.carry[..] else { return None };
    if f.may_end_early() {
        return None;
    }
    accumulated(prim::AND, &[carry], &f.body)?.pop()
}

/// The sums of a body that is given these values and gives the next ones, if the others stay as they are; `None` if there
/// are others.
pub fn sums_of(carries: &[Value], body: &Block) -> Option<Vec<Sum>> {
    accumulated(prim::ADD, carries, body)
}

fn accumulated(by: Prim, carries: &[Value], body: &Block) -> Option<Vec<Sum>> {
    if carries.len() != body.results.len() {
        return None;
    }
    let mut reads: HashMap<Value, usize> = HashMap::default();
    body.atoms(&mut |atom| {
        if let Atom::Value(v) = atom {
            *reads.entry(v).or_default() += 1;
        }
    });
    let mut sums = Vec::new();
    for (number, (carry, result)) in carries.iter().zip(&body.results).enumerate() {
        if *result == (*carry).into() {
            continue;
        }
        let Atom::Value(next) = *result else { return None };
        let sum = body.stmts.iter().find_map(|stmt| Sum::by(by, number, *carry, stmt))?;
        let once = |v: Value| reads.get(&v) == Some(&1);
        if sum.next != next || !once(*carry) || !once(next) {
            return None;
        }
        sums.push(sum);
    }
    Some(sums)
}
