//! A module in the making, and the function in it that is being written.

use crate::isa::Isa;
use crate::signature::{Imports, signature};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, Function, InstBuilder, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc};
use jut_native::CompileError;

/// A module, what it imports, and memory for one function after the other.
pub(crate) struct Unit<'m> {
    pub(crate) module: &'m mut dyn Module,
    pub(crate) imports: &'m mut Imports,
    /// The function that was written last.
    pub(crate) context: Context,
    builder: FunctionBuilderContext,
}

/// A function that is being written, in its first block.
pub(crate) struct Writing<'w> {
    pub(crate) module: &'w mut dyn Module,
    pub(crate) imports: &'w mut Imports,
    pub(crate) builder: FunctionBuilder<'w>,
    pub(crate) params: Vec<ir::Value>,
}

impl<'m> Unit<'m> {
    pub(crate) fn new(module: &'m mut dyn Module, imports: &'m mut Imports) -> Unit<'m> {
        let (context, builder) = (Context::new(), FunctionBuilderContext::new());
        Unit { module, imports, context, builder }
    }

    /// Declares a function that is called as those of C are.
    pub(crate) fn declare(
        &mut self,
        name: &str,
        linkage: Linkage,
        params: &[ir::Type],
        returns: &[ir::Type],
    ) -> Result<FuncId, String> {
        let signature = signature(self.module.isa().default_call_conv(), params, returns);
        self.module.declare_function(name, linkage, &signature).map_err(|e| e.to_string())
    }

    /// Begins a function that is declared.
    pub(crate) fn begin(&mut self, place: FuncId) -> Writing<'_> {
        let Unit { module, imports, context, builder } = self;
        let signature = module.declarations().get_function_decl(place).signature.clone();
        let name = UserFuncName::user(0, place.as_u32());
        module.clear_context(context);
        context.func = Function::with_name_signature(name, signature);
        let mut builder = FunctionBuilder::new(&mut context.func, builder);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let params = builder.block_params(block).to_vec();
        Writing { module: &mut **module, imports, builder, params }
    }

    /// Machine code of the function into the module; gives the bytes of stack that it needs itself.
    pub(crate) fn define(
        &mut self,
        isa: &Isa,
        place: FuncId,
        name: &str,
    ) -> Result<usize, CompileError> {
        let context = &mut self.context;
        let codegen = |reason: String| CompileError::Codegen { function: name.to_owned(), reason };
        let isa = isa.for_function(&context.func);
        context
            .compile(isa, &mut ControlPlane::default())
            .map_err(|e| codegen(e.inner.to_string()))?;
        let Some(code) = context.compiled_code() else {
            return Err(codegen("no code".to_owned()));
        };
        let relocations: Vec<ModuleReloc> = code
            .buffer
            .relocs()
            .iter()
            .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, place))
            .collect();
        let alignment = u64::from(code.buffer.alignment);
        self.module
            .define_function_bytes(place, alignment, code.code_buffer(), &relocations)
            .map_err(|e| codegen(e.to_string()))?;
        Ok(code.buffer.frame_layout().map_or(0, |l| l.frame_to_fp_offset as usize) + 64)
    }
}

impl Writing<'_> {
    /// Calls a function of the module; gives its results.
    pub(crate) fn call(&mut self, callee: FuncId, args: &[ir::Value]) -> Vec<ir::Value> {
        let callee = self.module.declare_func_in_func(callee, self.builder.func);
        let call = self.builder.ins().call(callee, args);
        self.builder.inst_results(call).to_vec()
    }

    /// Ends the function.
    pub(crate) fn end(mut self) {
        self.builder.seal_all_blocks();
        self.builder.finalize(self.module.target_config());
    }
}
