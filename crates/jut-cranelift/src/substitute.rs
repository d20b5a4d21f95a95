//! What stands for the runtime in an object that is linked with nothing but the system's library.
//!
//! Mathematical functions that every C library has are called by their C names. The rest is small
//! enough to be written into the object itself: constants, the sign, integer powers (the same
//! multiplications in the same order as the runtime's), fills. Memory is what the caller gave:
//! asking for more than that fails, which is the error `R06`.

use crate::error::CompileError;
use crate::program::{Imports, finish, runtime_signature, signature};
use crate::target::Target;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, Function, InstBuilder, MemFlagsData, UserFuncName, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::Module;

/// The C library's name for a function of the runtime, if it has the function.
pub(crate) fn system_name(symbol: &str) -> Option<&'static str> {
    const NAMES: [&str; 20] = [
        "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "asin", "acos", "atan",
        "sinh", "cosh", "round", "hypot", "floor", "ceil", "trunc", "atan2", "pow",
    ];
    if symbol == "jut_copy" {
        return Some("memmove");
    }
    let name = symbol.strip_prefix("jut_")?;
    NAMES.into_iter().find(|known| *known == name)
}

/// Defines the functions that were used and that the C library does not have.
pub(crate) fn define(
    module: &mut dyn Module,
    imports: &Imports,
    target: &Target,
) -> Result<(), CompileError> {
    let mut context = Context::new();
    let mut builder_context = FunctionBuilderContext::new();
    for (symbol, place) in imports.used() {
        if system_name(symbol).is_some() {
            continue;
        }
        let refused =
            |reason: &str| CompileError::Codegen { function: symbol.into(), reason: reason.into() };
        let (params, returns) = runtime_signature(symbol).ok_or_else(|| refused("not known"))?;
        let signature = signature(module.isa().default_call_conv(), &params, &returns);
        context.func =
            Function::with_name_signature(UserFuncName::user(0, place.as_u32()), signature);
        let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let args = builder.block_params(block).to_vec();
        let result = body(&mut builder, symbol, &args).ok_or_else(|| refused("not known"))?;
        builder.ins().return_(result.as_slice());
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
        finish(module, target, place, symbol, &mut context)?;
        module.clear_context(&mut context);
    }
    Ok(())
}

/// The body of a function; its result, if it has one.
fn body(
    builder: &mut FunctionBuilder<'_>,
    symbol: &str,
    args: &[ir::Value],
) -> Option<Option<ir::Value>> {
    Some(match (symbol, args) {
        ("jut_inf", []) => Some(builder.ins().f64const(f64::INFINITY)),
        ("jut_nan", []) => Some(builder.ins().f64const(f64::NAN)),
        ("jut_sign", [x]) => Some(sign(builder, *x)),
        ("jut_powi", [x, n]) => Some(powi(builder, *x, *n)),
        ("jut_alloc_temp" | "jut_alloc_tape", [_, _]) => Some(builder.ins().iconst(types::I64, 0)),
        // There is one piece of memory: every mark lies in it, and compiled code goes back itself.
        ("jut_release" | "jut_release_tape", [_, _]) => None,
        ("jut_fill_words", [cells, n, value]) => {
            fill(builder, *cells, *n, *value, 8);
            None
        }
        ("jut_fill_bytes", [cells, n, value]) => {
            fill(builder, *cells, *n, *value, 1);
            None
        }
        _ => return None,
    })
}

fn sign(builder: &mut FunctionBuilder<'_>, x: ir::Value) -> ir::Value {
    let [zero, one, minus] = [0.0, 1.0, -1.0].map(|k| builder.ins().f64const(k));
    // Zero of either sign becomes +0; NaN stays.
    let at_zero = builder.ins().fcmp(FloatCC::Equal, x, zero);
    let value = builder.ins().select(at_zero, zero, x);
    let above = builder.ins().fcmp(FloatCC::GreaterThan, x, zero);
    let value = builder.ins().select(above, one, value);
    let below = builder.ins().fcmp(FloatCC::LessThan, x, zero);
    builder.ins().select(below, minus, value)
}

/// Repeated squaring from the lowest bit up, as the runtime's.
fn powi(builder: &mut FunctionBuilder<'_>, x: ir::Value, n: ir::Value) -> ir::Value {
    let [head, body, done] = [(); 3].map(|()| builder.create_block());
    let [base, k, product] =
        [types::F64, types::I64, types::F64].map(|ty| builder.append_block_param(head, ty));
    let one = builder.ins().f64const(1.0);
    let magnitude = builder.ins().iabs(n);
    builder.ins().jump(head, &[x.into(), magnitude.into(), one.into()]);

    builder.switch_to_block(head);
    builder.ins().brif(k, body, &[], done, &[]);

    builder.switch_to_block(body);
    let low = builder.ins().band_imm_u(k, 1);
    let longer = builder.ins().fmul(product, base);
    let next = builder.ins().select(low, longer, product);
    let squared = builder.ins().fmul(base, base);
    let rest = builder.ins().ushr_imm_u(k, 1);
    builder.ins().jump(head, &[squared.into(), rest.into(), next.into()]);

    builder.switch_to_block(done);
    let one = builder.ins().f64const(1.0);
    let reciprocal = builder.ins().fdiv(one, product);
    let negative = builder.ins().icmp_imm_s(IntCC::SignedLessThan, n, 0);
    builder.ins().select(negative, reciprocal, product)
}

fn fill(
    builder: &mut FunctionBuilder<'_>,
    cells: ir::Value,
    n: ir::Value,
    value: ir::Value,
    size: i64,
) {
    let [head, body, done] = [(); 3].map(|()| builder.create_block());
    let [cell, left] = [(); 2].map(|()| builder.append_block_param(head, types::I64));
    builder.ins().jump(head, &[cells.into(), n.into()]);

    builder.switch_to_block(head);
    builder.ins().brif(left, body, &[], done, &[]);

    builder.switch_to_block(body);
    builder.ins().store(MemFlagsData::trusted(), value, cell, 0);
    let next = builder.ins().iadd_imm_s(cell, size);
    let rest = builder.ins().iadd_imm_s(left, -1);
    builder.ins().jump(head, &[next.into(), rest.into()]);

    builder.switch_to_block(done);
}
