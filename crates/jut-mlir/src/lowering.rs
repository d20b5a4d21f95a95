//! MLIR itself: from text to text for LLVM.
//!
//! The text is read and verified, the passes of [`PIPELINE`] lower it to MLIR's `llvm` dialect, and
//! MLIR translates that. Nothing is translated before it is certain that nothing is left to be
//! lowered, because the translation of anything else could end the process; so a program for which a
//! pass is missing is an error like any other.
//!
//! The last step says what MLIR's types cannot: which functions are called from inside only, that
//! mathematical functions have no effects, and which buffers are not reached in another way. (An
//! `out` buffer is used nowhere else in a call; of a call from outside every buffer that is written
//! is apart from all others.)
//!
//! *Cost*: a context of MLIR takes a few milliseconds; the rest is linear in the text. Everything is
//! given back at the end: no context is kept.

use crate::PIPELINE;
use crate::facts::Facts;
use crate::names::{ENTRY, names};
use crate::program::text;
use cranelift_entity::SecondaryMap;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use inkwell::module::Linkage;
use inkwell::values::FunctionValue;
use jut_loop::form::{Kind, LoopFuncId, LoopProgram, Role};
use jut_native::CompileError;
use jut_runtime::symbols;
use melior::dialect::{DialectHandle, DialectRegistry};
use melior::ir::Module;
use melior::ir::operation::{OperationLike, WalkOrder, WalkResult};
use melior::pass::PassManager;
use melior::utility::{parse_pass_pipeline, register_all_llvm_translations, register_all_passes};
use std::cell::RefCell;
use std::rc::Rc;

/// The program as text for LLVM, before LLVM's optimisations.
pub(crate) fn llvm_text(program: &LoopProgram) -> Result<String, CompileError> {
    let source = text(program)?;
    on_large_stack(|| {
        let lowered = lower(&source, |module| translate(program, module))?;
        Ok(lowered)
    })
}

/// Reads text, verifies it, lowers it, and gives it to `take`.
pub(crate) fn lower<T>(
    source: &str,
    take: impl FnOnce(&Module<'_>) -> Result<T, CompileError>,
) -> Result<T, CompileError> {
    let context = melior::Context::new_with_registry(&dialects(), false);
    register_all_llvm_translations(&context);
    register_all_passes();
    let said: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = said.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if let Ok(mut said) = heard.try_borrow_mut() {
            said.push(format!("{} at {}", diagnostic, diagnostic.location()));
        }
        true
    });
    let refused = |what: &str| {
        let said = said.borrow().join("; ");
        let reason = if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") };
        CompileError::Malformed { function: "MLIR".into(), reason }
    };
    let result = (|| {
        if source.contains('\0') {
            return Err(refused("the text holds a zero byte"));
        }
        let mut module =
            Module::parse(&context, source).ok_or_else(|| refused("the text is not read"))?;
        if !module.as_operation().verify() {
            return Err(refused("verification failed"));
        }
        let passes = PassManager::new(&context);
        passes.enable_verifier(false);
        parse_pass_pipeline(passes.as_operation_pass_manager(), PIPELINE)
            .map_err(|e| refused(&e.to_string()))?;
        passes.run(&mut module).map_err(|_| refused("lowering failed"))?;
        if !module.as_operation().verify() {
            return Err(refused("verification after lowering failed"));
        }
        if let Some(name) = left_over(&module) {
            return Err(refused(&format!("the operation `{name}` was not lowered")));
        }
        take(&module)
    })();
    context.detach_diagnostic_handler(handler);
    result
}

/// The dialects of programs and of what their lowering goes through.
fn dialects() -> DialectRegistry {
    let registry = DialectRegistry::new();
    for dialect in [
        DialectHandle::func(),
        DialectHandle::cf(),
        DialectHandle::scf(),
        DialectHandle::arith(),
        DialectHandle::memref(),
        DialectHandle::linalg(),
        DialectHandle::llvm(),
    ] {
        dialect.insert_dialect(&registry);
    }
    // SAFETY: both functions give handles that live as long as the process.
    let more = unsafe {
        [
            DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__math__()),
            DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__vector__()),
        ]
    };
    more.iter().for_each(|dialect| dialect.insert_dialect(&registry));
    registry
}

/// An operation that MLIR cannot translate, if there is one.
fn left_over(module: &Module<'_>) -> Option<String> {
    let mut found = None;
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        let name = operation.name();
        match name.as_string_ref().as_str() {
            Ok("builtin.module") => WalkResult::Advance,
            Ok(name) if name.starts_with("llvm.") => WalkResult::Advance,
            other => {
                found = Some(other.unwrap_or("?").to_owned());
                WalkResult::Interrupt
            }
        }
    });
    found
}

/// Translates a module of the `llvm` dialect.
fn translate(program: &LoopProgram, module: &Module<'_>) -> Result<String, CompileError> {
    let context = inkwell::context::Context::create();
    let raw: LLVMContextRef = context.raw();
    // SAFETY: the operation is a module that is alive and holds nothing but the `llvm` dialect, whose
    // translation is registered; the context is alive. Both bindings describe the same library.
    let translated: LLVMModuleRef = unsafe {
        mlir_sys::mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), raw.cast()).cast()
    };
    if translated.is_null() {
        return Err(CompileError::Codegen {
            function: "MLIR".into(),
            reason: "no text for LLVM".into(),
        });
    }
    // SAFETY: the module was made for us in this context, which outlives it; nothing else owns it.
    let translated = unsafe { inkwell::module::Module::new(translated) };
    describe(program, &context, &translated);
    Ok(translated.print_to_string().to_string())
}

/// What LLVM is told of the functions beside what they do.
fn describe(
    program: &LoopProgram,
    context: &inkwell::context::Context,
    module: &inkwell::module::Module<'_>,
) {
    let named = |name: &str, value: u64| {
        context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    };
    let nounwind = named("nounwind", 0);
    let inline = named("alwaysinline", 0);
    let cold = [named("cold", 0), named("noinline", 0)];
    let pure = [named("willreturn", 0), named("nofree", 0), named("nosync", 0), named("memory", 0)];
    let probe = context.create_string_attribute("probe-stack", "inline-asm");
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy().into_owned();
        let add = |attribute: Attribute| {
            function.add_attribute(AttributeLoc::Function, attribute);
        };
        if name.starts_with("llvm.") {
            continue;
        }
        add(nounwind);
        if function.count_basic_blocks() == 0 {
            if symbols::math(&name).is_some() {
                pure.into_iter().for_each(add);
            }
            continue;
        }
        add(probe);
        if name == "jut.fail" {
            cold.into_iter().for_each(add);
        } else if name.starts_with("jut") {
            add(inline);
        }
        if name != ENTRY {
            function.set_linkage(Linkage::Internal);
        }
    }
    let facts = Facts::of(program);
    let names: SecondaryMap<LoopFuncId, String> = names(program);
    let last = program.funcs.keys().next_back();
    for (id, source) in program.funcs.iter() {
        let Some(function) = module.get_function(&names[id]) else { continue };
        let mut at = 0;
        if facts.functions[id].workspace {
            apart(function, at, named("noalias", 0));
            at += WORDS_OF_VIEW;
        }
        for param in &source.params {
            let kind = source.values[param.value].kind;
            if let Kind::Buffer(_) = kind {
                if Some(id) == last || param.role == Role::Out {
                    apart(function, at, named("noalias", 0));
                }
                at += WORDS_OF_VIEW;
            } else {
                at += 1;
            }
        }
    }
}

/// How many parameters a `memref` is: the pointer that was allocated, the pointer to the cells, an
/// offset, a size, a stride.
const WORDS_OF_VIEW: u32 = 5;

/// Cells are reached through the second pointer only.
fn apart(function: FunctionValue<'_>, at: u32, noalias: Attribute) {
    let is_pointer = |k: u32| function.get_nth_param(k).is_some_and(|p| p.is_pointer_value());
    if is_pointer(at) && is_pointer(at + 1) {
        function.add_attribute(AttributeLoc::Param(at + 1), noalias);
    }
}

/// MLIR follows the nesting of a program with its stack: it is given enough.
fn on_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, CompileError> + Send,
) -> Result<T, CompileError> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("jut-mlir".into()).stack_size(STACK);
        let thread = builder
            .spawn_scoped(scope, work)
            .map_err(|e| CompileError::Host(format!("no thread for MLIR: {e}")))?;
        thread.join().unwrap_or_else(|_| Err(CompileError::Host("MLIR stopped".into())))
    })
}

/// Address space; only what is used of it is memory.
const STACK: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        on_large_stack(|| lower(text, |_| Ok(()))).expect_err("refused").to_string()
    }

    #[test]
    fn text_that_is_not_read_is_an_error() {
        assert!(refused("func.func @f( {").contains("the text is not read"));
        assert!(refused("\0").contains("zero byte"));
    }

    #[test]
    fn text_that_the_verifier_refuses_is_an_error_with_its_message() {
        let text = "func.func @f(%x: f64) -> index {\n  return %x : f64\n}\n";
        let message = refused(text);
        assert!(message.contains("type of return operand 0 ('f64')"), "{message}");
        assert!(message.contains(":2:3"), "{message}");
    }

    #[test]
    fn a_cast_that_no_pass_takes_away_is_an_error_before_anything_is_translated() {
        let text = "func.func @f(%x: index) -> memref<?xf64> {\n  \
            %y = builtin.unrealized_conversion_cast %x : index to memref<?xf64>\n  \
            return %y : memref<?xf64>\n}\n";
        assert!(refused(text).contains("unrealized_conversion_cast"));
    }

    #[test]
    fn what_is_lowered_is_the_dialect_of_llvm_alone() {
        let text = "func.func @f(%x: f64) -> f64 {\n  %y = arith.addf %x, %x : f64\n  \
            return %y : f64\n}\n";
        let printed = on_large_stack(|| lower(text, |m| Ok(m.as_operation().to_string())));
        let printed = printed.expect("lowered");
        assert!(printed.contains("llvm.fadd") && !printed.contains("arith."), "{printed}");
    }
}
