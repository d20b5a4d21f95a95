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
//! them from it; then it is added, one after the other.
//!
//! *Requires*: a well-formed loop. *Cost*: linear.

use jut_ir::hash::HashMap;
use jut_ir::prim;

use crate::form::{Atom, For, Stmt, Value};

/// A carried number that a loop only adds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Which of the carried values.
    pub number: usize,
    /// What it is before an iteration; only the addition reads it.
    pub carry: Value,
    /// What it is afterwards; only the next iteration reads it.
    pub next: Value,
    /// What is added.
    pub term: Atom,
}

/// The sums of a loop whose other carried values are the same in all iterations; `None` if there are
/// others, or no sums.
pub fn sums_in_order(f: &For) -> Option<Vec<Sum>> {
    if f.carry.is_empty() || f.carry.len() != f.body.results.len() || f.may_end_early() {
        return None;
    }
    let mut reads: HashMap<Value, usize> = HashMap::default();
    f.body.atoms(&mut |atom| {
        if let Atom::Value(v) = atom {
            *reads.entry(v).or_default() += 1;
        }
    });
    let mut sums = Vec::new();
    for (number, ((carry, _), result)) in f.carry.iter().zip(&f.body.results).enumerate() {
        let carry = *carry;
        if *result == carry.into() {
            continue;
        }
        let Atom::Value(next) = *result else { return None };
        let term = f.body.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Prim { dst, prim: prim::ADD, args } if *dst == next => match args[..] {
                [a, b] if a == carry.into() => Some(b),
                [a, b] if b == carry.into() => Some(a),
                _ => None,
            },
            _ => None,
        })?;
        let once = |v: Value| reads.get(&v) == Some(&1);
        if !once(carry) || !once(next) {
            return None;
        }
        sums.push(Sum { number, carry, next, term });
    }
    (!sums.is_empty()).then_some(sums)
}
