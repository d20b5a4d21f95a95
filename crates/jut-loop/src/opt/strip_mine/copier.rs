//! Copies statements into a stage.

use std::collections::HashMap;

use super::steps::{Places, Step};
use super::{Buffers, Walk};
use crate::form::{Atom, Block, Stmt, Value};
use jut_ir::prim;

/// Copies statements into a stage, under new names but in the last one.
pub(super) struct Copier<'w, 'a> {
    walk: &'w mut Walk<'a>,
    renamed: HashMap<Value, Value>,
    renames: bool,
    /// Whether functions are called here; otherwise their arguments are stored.
    pub calls: bool,
    places: &'w Places,
    buffers: &'w Buffers,
}

impl<'w, 'a> Copier<'w, 'a> {
    pub(super) fn new(
        walk: &'w mut Walk<'a>,
        places: &'w Places,
        buffers: &'w Buffers,
        renames: bool,
    ) -> Copier<'w, 'a> {
        Copier { walk, renamed: HashMap::new(), renames, calls: false, places, buffers }
    }

    pub(super) fn fresh(&mut self, old: Value) -> Value {
        if !self.renames {
            return old;
        }
        let new = self.walk.like(old);
        if self.walk.own.contains(&old) {
            self.walk.own.insert(new);
        }
        self.renamed.insert(old, new);
        new
    }

    /// The steps of a stage in iteration `index`.
    pub(super) fn steps(
        &mut self,
        steps: &[Step],
        body: &Block,
        index: Value,
        out: &mut Vec<Stmt>,
    ) {
        let index = match self.buffers.shifted.is_empty() {
            true => self.walk.integer("cell", prim::ISUB, [index.into(), self.buffers.start], out),
            false => index.into(),
        };
        for step in steps {
            self.step(step, body, index, out);
        }
    }

    /// The buffer for a value.
    fn buffer(&self, value: Value) -> Value {
        self.at(self.places.of[&value])
    }

    /// The buffer with a number.
    fn at(&self, place: usize) -> Value {
        let Buffers { parts, shifted, .. } = self.buffers;
        let all = if shifted.is_empty() { parts } else { shifted };
        all[place]
    }

    fn step(&mut self, step: &Step, body: &Block, index: Atom, out: &mut Vec<Stmt>) {
        match step {
            Step::Argument(k) if !self.calls => {
                let Stmt::Prim { dst, args, .. } = &body.stmts[*k] else { return };
                if self.places.with_another.contains(dst) {
                    return;
                }
                for (arg, place) in args.iter().zip(self.places.of_call(*dst)) {
                    let mut value = *arg;
                    self.rename(&mut value);
                    out.push(Stmt::Store { buffer: self.at(place), index, value });
                }
            }
            Step::Run(k) | Step::Argument(k) => {
                let stmt = &body.stmts[*k];
                let copied = self.stmt(stmt);
                out.push(copied);
                for v in stmt.bound() {
                    if self.places.of.contains_key(v) {
                        let mut value = Atom::Value(*v);
                        self.rename(&mut value);
                        out.push(Stmt::Store { buffer: self.buffer(*v), index, value });
                    }
                }
            }
            Step::Keep(v) => {
                if self.places.of.contains_key(v) {
                    let mut value = Atom::Value(*v);
                    self.rename(&mut value);
                    out.push(Stmt::Store { buffer: self.buffer(*v), index, value });
                }
            }
            Step::Reload(v) => {
                let buffer = self.buffer(*v);
                let dst = self.fresh(*v);
                out.push(Stmt::Load { dst, buffer, index });
            }
        }
    }

    fn block(&mut self, block: &Block) -> Block {
        let stmts = block.stmts.iter().map(|stmt| self.stmt(stmt)).collect();
        let mut results = block.results.clone();
        results.iter_mut().for_each(|a| self.rename(a));
        Block { stmts, results }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if !self.renames {
            return stmt.clone();
        }
        let mut copied = stmt.clone();
        copied.operands_mut(&mut |a| self.rename(a));
        match &mut copied {
            Stmt::For(f) => {
                f.index = self.fresh(f.index);
                f.carry.iter_mut().for_each(|(v, _)| *v = self.fresh(*v));
            }
            Stmt::Lanes(l) => {
                l.index = self.fresh(l.index);
                l.carry.iter_mut().for_each(|v| *v = self.fresh(*v));
            }
            _ => {}
        }
        for inner in copied.blocks_mut() {
            *inner = self.block(inner);
        }
        match &mut copied {
            Stmt::Prim { dst, .. }
            | Stmt::Copy { dst, .. }
            | Stmt::Load { dst, .. }
            | Stmt::Offset { dst, .. } => *dst = self.fresh(*dst),
            Stmt::If { dst, .. } => dst.iter_mut().for_each(|v| *v = self.fresh(*v)),
            Stmt::For(f) => f.dst.iter_mut().for_each(|v| *v = self.fresh(*v)),
            Stmt::Lanes(l) => l.dst.iter_mut().for_each(|v| *v = self.fresh(*v)),
            _ => {}
        }
        copied
    }

    pub(super) fn rename(&self, atom: &mut Atom) {
        if let Atom::Value(v) = *atom
            && let Some(new) = self.renamed.get(&v)
        {
            *atom = (*new).into();
        }
    }
}
