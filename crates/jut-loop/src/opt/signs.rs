//! A number that is only negated to be added is subtracted.
//!
//! Derivatives negate what goes back through a difference or a quotient, and add it to a cotangent:
//!
//! ```text
//! a = -w                 ▶       g1 = g0 - w
//! g1 = g0 + a
//!
//! b = -w                 ▶       c = -0.5 * w
//! c = 0.5 * b
//! ```
//!
//! Each of them has the bits that it had: to subtract is to add the negated number, and the sign of a product is that of its
//! factors. What is added to the carry of a `for` stays a sum, which is what loops of sums in order are known by.
//!
//! The last walk: those before it look for additions. *Requires* and *ensures*: a well-formed function. *Cost*: two walks over a
//! function that negates.

use super::dead;
use crate::form::{Atom, Block, LoopFunction, Stmt, Value};
use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim::{self, Prim};

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    let mut signs = Signs::default();
    if signs.find(&func.body) {
        let mut body = std::mem::take(&mut func.body);
        let changed = signs.block(&mut body);
        func.body = body;
        if changed {
            dead::run(func);
        }
    }
}

#[derive(Default)]
struct Signs {
    /// Of what is negated: of what.
    negated: SecondaryMap<Value, Option<Value>>,
    /// How often a value is read.
    uses: SecondaryMap<Value, u32>,
    /// What loops carry, but for those that sum by lanes.
    carried: SecondaryMap<Value, bool>,
}

impl Signs {
    /// Takes in a block; whether something in it is negated.
    fn find(&mut self, block: &Block) -> bool {
        let mut found = false;
        let mut read = |a: Atom| {
            if let Atom::Value(v) = a {
                self.uses[v] += 1;
            }
        };
        block.results.iter().for_each(|a| read(*a));
        for stmt in &block.stmts {
            stmt.operands(&mut read);
        }
        for stmt in &block.stmts {
            if let Stmt::Prim { dst, prim: prim::NEG, args } = stmt
                && let [Atom::Value(of)] = args[..]
            {
                self.negated[*dst] = Some(of);
                found = true;
            }
            if let Stmt::For(f) = stmt {
                f.carry.iter().for_each(|(v, _)| self.carried[*v] = true);
            }
            for inner in stmt.blocks() {
                found |= self.find(inner);
            }
        }
        found
    }

    fn block(&self, block: &mut Block) -> bool {
        let mut changed = false;
        for stmt in &mut block.stmts {
            if let Stmt::Prim { prim, args, .. } = stmt
                && let [a, b] = args[..]
                && let Some((other, operands)) = self.signed(*prim, a, b)
            {
                (*prim, changed) = (other, true);
                args.copy_from_slice(&operands);
            }
            for inner in stmt.blocks_mut() {
                changed |= self.block(inner);
            }
        }
        changed
    }

    /// An operation on two numbers without the sign that one of them gets.
    fn signed(&self, prim: Prim, a: Atom, b: Atom) -> Option<(Prim, [Atom; 2])> {
        match prim {
            prim::ADD if self.is_carried(a) || self.is_carried(b) => None,
            prim::ADD => {
                let minus = |x: Atom, y: Atom| Some((prim::SUB, [x, self.only_negated(y)?]));
                minus(a, b).or_else(|| minus(b, a))
            }
            prim::SUB => Some((prim::ADD, [a, self.only_negated(b)?])),
            prim::MUL => match (a, b) {
                (Atom::Lit(Literal::F64(x)), y) | (y, Atom::Lit(Literal::F64(x))) => {
                    let factor = Atom::Lit(Literal::F64(-x));
                    Some((prim::MUL, [factor, self.only_negated(y)?]))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn is_carried(&self, a: Atom) -> bool {
        matches!(a, Atom::Value(v) if self.carried[v])
    }

    /// What is negated, if that is read once.
    fn only_negated(&self, a: Atom) -> Option<Atom> {
        match a {
            Atom::Value(v) if self.uses[v] == 1 => self.negated[v].map(Atom::Value),
            _ => None,
        }
    }
}
