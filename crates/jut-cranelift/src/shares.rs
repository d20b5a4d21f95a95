//! Loops that run in shares: calls of functions that take a range.
//!
//! The runtime calls such a function in one way, whatever it takes: with a workspace, a pointer to words, one per argument, and
//! the range. So each has another function before it, which reads the words.

use crate::program::{signature, word_offset};
use crate::translate::{Result, Translator, cranelift_type};
use cranelift_codegen::ir::{Function, InstBuilder, MemFlagsData, UserFuncName, types};
use cranelift_codegen::{Context, ir};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module};
use jut_loop::form::{Atom, LoopFuncId, LoopFunction};
use jut_loop::opt::shares::RANGE;

/// The signature by which the runtime calls.
pub(crate) fn declare(module: &mut dyn Module, name: &str) -> Result<FuncId> {
    let convention = module.isa().default_call_conv();
    let signature = signature(convention, &[types::I64; 4], &[types::I32]);
    module.declare_function(name, Linkage::Local, &signature).map_err(|e| e.to_string())
}

/// Writes the function that reads the words, into the context.
pub(crate) fn through_words(
    module: &mut dyn Module,
    [place, callee]: [FuncId; 2],
    function: &LoopFunction,
    context: &mut Context,
    builder_context: &mut FunctionBuilderContext,
) -> Result<()> {
    let declared = module.declarations().get_function_decl(place).signature.clone();
    let name = UserFuncName::user(0, place.as_u32());
    context.func = Function::with_name_signature(name, declared);
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let block = builder.create_block();
    builder.switch_to_block(block);
    builder.append_block_params_for_function_params(block);
    let [workspace, words, low, high] = *builder.block_params(block) else {
        return Err("a share has four parameters".to_owned());
    };
    let callee = module.declare_func_in_func(callee, builder.func);
    let mut args = vec![workspace];
    let in_words = function.params.len().saturating_sub(RANGE);
    for (k, param) in function.params.iter().take(in_words).enumerate() {
        let ty = cranelift_type(function.values[param.value].kind);
        args.push(builder.ins().load(ty, MemFlagsData::trusted(), words, word_offset(k)?));
    }
    args.extend([low, high]);
    let call = builder.ins().call(callee, &args);
    let status = builder.inst_results(call).to_vec();
    builder.ins().return_(&status);
    builder.seal_all_blocks();
    builder.finalize(module.target_config());
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
