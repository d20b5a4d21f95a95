//! What a value was in the iteration before.
//!
//! A loop keeps the value of its last iteration in a variable, a float; while pairs of iterations are taken, another variable is their last
//! pair. Of a pair the second iteration asks for what the first one has, and the first for what the second of the pair before has:
//!
//! ```text
//! x of the pair before   .. p      result   p a
//! x of this pair         a  b
//! ```

use crate::translate::{Result, Translator};
use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::Variable;
use jut_ir::hash::HashMap;
use jut_loop::form::{Atom, Block, Value};

/// The numbers of the second half of one register and of the first half of another one, side by side.
const ACROSS: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

impl Translator<'_> {
    /// Before a loop: what is asked for in its first iteration.
    pub(crate) fn begin_before(&mut self, body: &Block, pairs: bool) -> Result<()> {
        for (dst, first) in body.previous() {
            let first = self.atom(first)?;
            let number = self.builder.declare_var(types::F64);
            self.builder.def_var(number, first);
            self.last_numbers.insert(dst, number);
            if pairs {
                let pair = self.builder.declare_var(types::F64X2);
                let both = self.builder.ins().splat(types::F64X2, first);
                self.builder.def_var(pair, both);
                self.last_pairs.insert(dst, pair);
            }
        }
        Ok(())
    }

    /// A single iteration asks.
    pub(crate) fn before(&mut self, dst: Value, src: Atom) -> Result<()> {
        let variable = known(&self.last_numbers, dst)?;
        let before = self.builder.use_var(variable);
        let now = self.atom(src)?;
        self.builder.def_var(variable, now);
        self.bind(dst, before);
        Ok(())
    }

    /// A pair asks, whose own value is this.
    pub(crate) fn before_pair(&mut self, dst: Value, now: ir::Value) -> Result<ir::Value> {
        let variable = known(&self.last_pairs, dst)?;
        let last = self.builder.use_var(variable);
        self.builder.def_var(variable, now);
        Ok(self.interleaved(last, now, ACROSS))
    }

    /// No more pairs are taken: single iterations go on.
    pub(crate) fn end_pairs(&mut self, body: &Block) -> Result<()> {
        for (dst, _) in body.previous() {
            let (pair, number) = (known(&self.last_pairs, dst)?, known(&self.last_numbers, dst)?);
            let last = self.builder.use_var(pair);
            let last = self.builder.ins().extractlane(last, 1);
            self.builder.def_var(number, last);
        }
        Ok(())
    }

    /// What the last pairs were of what a body asks for, which may have to be put back.
    pub(crate) fn held_pairs(&mut self, body: &Block) -> Result<Vec<(Variable, ir::Value)>> {
        let mut last = Vec::new();
        for (dst, _) in body.previous() {
            let variable = known(&self.last_pairs, dst)?;
            last.push((variable, self.builder.use_var(variable)));
        }
        Ok(last)
    }
}

fn known(variables: &HashMap<Value, Variable>, dst: Value) -> Result<Variable> {
    let known = variables.get(&dst).copied();
    known.ok_or_else(|| "`previous` outside of a loop of sums".to_owned())
}
