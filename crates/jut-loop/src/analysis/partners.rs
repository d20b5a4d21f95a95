//! Sines and cosines of the same number: one call computes both.
//!
//! The gradient of a sine needs the cosine, and both begin by taking the angle apart. Where a block has both, a backend may call what
//! computes both where the first of them stands; the second is there then.
//!
//! *Requires*: a well-formed block. *Cost*: linear, without blocks inside it.

use jut_ir::hash::HashMap;
use jut_ir::prim::{COS, Prim, SIN};

use crate::form::{Atom, Block, Stmt, Value};

/// For the first of a sine and a cosine of one value, the other one; for that one, nothing.
pub fn sine_and_cosine(block: &Block) -> HashMap<Value, Option<Value>> {
    let mut partners = HashMap::default();
    let mut alone: HashMap<(Value, Prim), Value> = HashMap::default();
    for stmt in &block.stmts {
        let Stmt::Prim { dst, prim: prim @ (SIN | COS), args } = stmt else { continue };
        let [Atom::Value(arg)] = args[..] else { continue };
        let other = if *prim == SIN { COS } else { SIN };
        match alone.remove(&(arg, other)) {
            Some(first) => {
                partners.insert(first, Some(*dst));
                partners.insert(*dst, None);
            }
            None => {
                alone.insert((arg, *prim), *dst);
            }
        }
    }
    partners
}
