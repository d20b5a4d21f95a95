//! What does not change in a loop stands before it.
//!
//! Before a loop is translated, its body is searched for statements that only compute (no load, no
//! check, no division of integers) from values of outside: they are translated there and then, and
//! skipped in the body. A statement that is invariant in several loops moves out of all of them,
//! because the outermost loop comes first. That these statements also run when the loop does not is
//! harmless: they cannot fail. Float literals, which an instruction cannot hold, become values before
//! the outermost loop in the same way.
//!
//! *Cost*: each statement is looked at once per loop around it.

use crate::translate::{Result, Translator};
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_entity::SecondaryMap;
use jut_ir::hash::HashMap;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Machine};
use jut_loop::form::{Atom, Block, Stmt, Value};

/// Float literals that are kept in registers at once.
const LITERALS: usize = 8;

/// What stands outside of the loops around the current statement.
#[derive(Default)]
pub(crate) struct Invariants {
    /// Number of loops around the current statement.
    depth: u32,
    /// Where a value is defined: number of loops around it, plus 1.
    defined: SecondaryMap<Value, u32>,
    /// Values whose statements have been translated before their loop.
    moved: SecondaryMap<Value, bool>,
    /// Float literals, by their bits.
    floats: HashMap<u64, ir::Value>,
}

impl Invariants {
    pub(crate) fn define(&mut self, value: Value) {
        self.defined[value] = self.depth + 1;
    }

    pub(crate) fn is_moved(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Prim { dst, .. } | Stmt::Copy { dst, .. } | Stmt::Offset { dst, .. } => {
                self.moved.get(*dst).copied().unwrap_or_default()
            }
            _ => false,
        }
    }

    pub(crate) fn float(&self, x: f64) -> Option<ir::Value> {
        if self.floats.is_empty() { None } else { self.floats.get(&x.to_bits()).copied() }
    }

    fn outside(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Lit(_) => true,
            Atom::Value(value) => (1..=self.depth + 1).contains(&self.defined[*value]),
        }
    }
}

impl Translator<'_> {
    /// Translates what is invariant in the body of a loop that begins after this.
    pub(crate) fn enter_loop(&mut self, body: &Block) -> Result<()> {
        if self.invariants.depth == 0 {
            let mut floats = Vec::new();
            literals(body, &mut floats);
            for bits in floats {
                let value = self.builder.ins().f64const(f64::from_bits(bits));
                self.invariants.floats.insert(bits, value);
            }
        }
        self.move_out(body)?;
        self.invariants.depth += 1;
        Ok(())
    }

    /// Ends what [`Translator::enter_loop`] began.
    pub(crate) fn leave_loop(&mut self) {
        self.invariants.depth -= 1;
        if self.invariants.depth == 0 {
            self.invariants.floats.clear();
        }
    }

    fn move_out(&mut self, body: &Block) -> Result<()> {
        for stmt in &body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    let pure = match prim.row().lowering {
                        Lowering::Machine(op) => !matches!(op, Machine::IDiv | Machine::IRem),
                        Lowering::Runtime(_) => false,
                    };
                    if pure && args.iter().all(|atom| self.invariants.outside(atom)) {
                        self.move_stmt(*dst, stmt)?;
                    }
                }
                Stmt::Copy { dst, src } if self.invariants.outside(src) => {
                    self.move_stmt(*dst, stmt)?;
                }
                Stmt::Offset { dst, buffer, index }
                    if self.invariants.outside(&Atom::Value(*buffer))
                        && self.invariants.outside(index) =>
                {
                    self.move_stmt(*dst, stmt)?;
                }
                Stmt::For(inner) => self.move_out(&inner.body)?,
                Stmt::Lanes(inner) => self.move_out(&inner.body)?,
                Stmt::If { then, other, .. } => {
                    self.move_out(then)?;
                    self.move_out(other)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn move_stmt(&mut self, dst: Value, stmt: &Stmt) -> Result<()> {
        if !self.invariants.is_moved(stmt) {
            self.stmt(stmt)?;
            self.invariants.moved[dst] = true;
        }
        Ok(())
    }
}

/// The first float literals of a loop, as bits; zero is as cheap as a register.
fn literals(body: &Block, found: &mut Vec<u64>) {
    let mut add = |atom: &Atom| {
        if let Atom::Lit(Literal::F64(x)) = atom {
            let bits = x.to_bits();
            if bits != 0 && found.len() < LITERALS && !found.contains(&bits) {
                found.push(bits);
            }
        }
    };
    for stmt in &body.stmts {
        match stmt {
            Stmt::Prim { args, .. } => args.iter().for_each(&mut add),
            Stmt::Store { value, .. } => add(value),
            _ => {}
        }
    }
    for stmt in &body.stmts {
        match stmt {
            Stmt::For(inner) => literals(&inner.body, found),
            Stmt::Lanes(inner) => literals(&inner.body, found),
            Stmt::If { then, other, .. } => {
                literals(then, found);
                literals(other, found);
            }
            _ => {}
        }
    }
}
