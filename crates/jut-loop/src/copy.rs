//! Statements once more, under new names.

use jut_ir::hash::HashMap;

use crate::form::{Atom, Block, Stmt, Value};
use crate::values::Values;

/// What stands for values in a copy.
#[derive(Default)]
pub(crate) struct Copier {
    renamed: HashMap<Value, Atom>,
}

impl Copier {
    /// A copy in which some values are others.
    pub fn with(renamed: impl IntoIterator<Item = (Value, Atom)>) -> Copier {
        Copier { renamed: renamed.into_iter().collect() }
    }

    /// Lets something stand for a value.
    pub fn set(&mut self, old: Value, new: Atom) {
        self.renamed.insert(old, new);
    }

    /// What stands for an atom.
    pub fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Value(v) => self.renamed.get(&v).copied().unwrap_or(atom),
            Atom::Lit(_) => atom,
        }
    }

    /// A new name for a value.
    pub fn fresh(&mut self, old: Value, values: &mut Values) -> Value {
        let new = values.like(old);
        self.renamed.insert(old, new.into());
        new
    }

    /// A statement, with what is in it.
    pub fn stmt(&mut self, stmt: &Stmt, values: &mut Values) -> Stmt {
        let mut copied = stmt.clone();
        copied.operands_mut(&mut |a| *a = self.atom(*a));
        // What the blocks bind has its name before they are copied.
        copied.binders_mut(&mut |v| *v = self.fresh(*v, values));
        for inner in copied.blocks_mut() {
            *inner = self.block(inner, values);
        }
        copied
    }

    /// A block.
    pub fn block(&mut self, block: &Block, values: &mut Values) -> Block {
        let stmts = block.stmts.iter().map(|stmt| self.stmt(stmt, values)).collect();
        Block { stmts, results: block.results.iter().map(|a| self.atom(*a)).collect() }
    }
}
