//! Loops that run in shares: calls of functions that take a range.
//!
//! The runtime calls such a function in one way, whatever it takes: with a workspace, a pointer to words, one per argument, and
//! the range. So each has another function before it, which reads the words.

use crate::signature::load_words;
use crate::translate::{Result, Translator};
use crate::unit::{Unit, Writing};
use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_module::{FuncId, Linkage};
use jut_loop::form::{Atom, LoopFuncId, LoopFunction};
use jut_loop::opt::shares::RANGE;

/// The signature by which the runtime calls.
pub(crate) fn declare(unit: &mut Unit<'_>, name: &str) -> Result<FuncId> {
    unit.declare(name, Linkage::Local, &[types::I64; 4], &[types::I32])
}

/// Writes the function that reads the words.
pub(crate) fn through_words(
    mut writing: Writing<'_>,
    callee: FuncId,
    function: &LoopFunction,
) -> Result<()> {
    let [workspace, words, low, high] = writing.params[..] else {
        return Err("a share has four parameters".to_owned());
    };
    let in_words = function.params.len().saturating_sub(RANGE);
    let mut args = vec![workspace];
    args.extend(load_words(&mut writing.builder, words, function, in_words)?);
    args.extend([low, high]);
    let status = writing.call(callee, &args);
    writing.builder.ins().return_(&status);
    writing.end();
    Ok(())
}

impl Translator<'_> {
    /// Hands a function, what it takes, and a range to the runtime.
    pub(crate) fn shares(&mut self, func: LoopFuncId, args: &[Atom], least: u32) -> Result<()> {
        let id = self.through_words[func].ok_or("a function takes no range")?;
        let given = self.atoms(args)?;
        let Some((given, &[low, high])) = given.split_last_chunk::<RANGE>() else {
            return Err("a call in shares has no range".to_owned());
        };
        let words = self.called_area(8 * given.len());
        for (k, value) in given.iter().enumerate() {
            self.store_word(*value, words, k)?;
        }
        let share = self.reference(id);
        let share: ir::Value = self.builder.ins().func_addr(types::I64, share);
        let least = self.int(least.into());
        let args = [self.workspace, share, words, low, high, least];
        let status = self.runtime("jut_shares", &args)?.ok_or("a share gives no status")?;
        self.pass_on(status);
        Ok(())
    }
}
