//! What can fail, and what needs the workspace.
//!
//! A check, an allocation or a `poll` can fail, and so can a call of a function that can, and a loop or branch
//! around any of these. A function that cannot fail returns no status; one that neither fails nor
//! touches the arenas is not even given the workspace. *Cost*: linear; every statement is looked at
//! once.

use cranelift_entity::SecondaryMap;
use jut_loop::form::{Block, LoopFuncId, LoopProgram, Stmt};
use jut_loop::recursion;
use std::collections::HashSet;

/// What is known of a function.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fact {
    /// It returns a status before its results.
    pub fails: bool,
    /// Its first parameter is the workspace.
    pub workspace: bool,
}

/// What is known of all functions and statements of a program.
pub(crate) struct Facts {
    pub functions: SecondaryMap<LoopFuncId, Fact>,
    /// Loops and branches that can fail, by where they lie; nothing is read through the pointers.
    failing: HashSet<*const Stmt>,
}

impl Facts {
    pub fn of(program: &LoopProgram) -> Facts {
        let mut facts = Facts { functions: SecondaryMap::new(), failing: HashSet::new() };
        // A function that calls itself checks how deep it is.
        let recursive = recursion::recursive(program);
        for (id, _) in recursive.iter().filter(|(_, circle)| **circle != 0) {
            facts.functions[id] = Fact { fails: true, workspace: true };
        }
        for (id, function) in program.funcs.iter() {
            let mut fact = facts.functions[id];
            facts.block(&function.body, &mut fact);
            fact.workspace |= fact.fails;
            facts.functions[id] = fact;
        }
        facts
    }

    /// Whether a statement can fail.
    pub fn fails(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Check { .. } | Stmt::Alloc { .. } | Stmt::Poll { .. } => true,
            Stmt::Call { func, .. } => self.functions[*func].fails,
            stmt => self.failing.contains(&std::ptr::from_ref(stmt)),
        }
    }

    /// Whether a block can fail.
    pub fn block_fails(&self, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| self.fails(stmt))
    }

    fn block(&mut self, block: &Block, fact: &mut Fact) {
        for stmt in &block.stmts {
            let mut inner = Fact::default();
            stmt.blocks().into_iter().for_each(|block| self.block(block, &mut inner));
            if inner.fails {
                self.failing.insert(std::ptr::from_ref(stmt));
            }
            match stmt {
                Stmt::Mark { .. } | Stmt::Release { .. } => inner.workspace = true,
                Stmt::Call { func, .. } => inner.workspace |= self.functions[*func].workspace,
                _ => {}
            }
            fact.fails |= inner.fails || self.fails(stmt);
            fact.workspace |= inner.workspace;
        }
    }
}
