//! Machine operations, one by one: each has exactly the meaning of its row in the table of
//! primitives.
//!
//! Bools are bytes that are 0 or 1. No operation traps: integer division, the only one that could,
//! stands behind a check of its divisor, and the one quotient that does not fit (the least integer
//! by -1) is computed without dividing.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use jut_ir::prim::Machine;

/// Emits one operation. `divisor` is the last operand, if that is a literal integer.
pub(crate) fn operation(
    builder: &mut FunctionBuilder<'_>,
    op: Machine,
    args: &[Value],
    divisor: Option<i64>,
) -> Result<Value, String> {
    match *args {
        [] => constant(builder, op),
        [a] => unary(builder, op, a),
        [a, b] => binary(builder, op, a, b, divisor),
        [c, a, b] if op == Machine::Select => Some(builder.ins().select(c, a, b)),
        _ => None,
    }
    .ok_or_else(|| format!("the operation {op:?} does not take {} operands", args.len()))
}

fn constant(builder: &mut FunctionBuilder<'_>, op: Machine) -> Option<Value> {
    Some(match op {
        Machine::FInf => builder.ins().f64const(f64::INFINITY),
        Machine::FNan => builder.ins().f64const(f64::NAN),
        _ => return None,
    })
}

fn unary(builder: &mut FunctionBuilder<'_>, op: Machine, a: Value) -> Option<Value> {
    let ins = builder.ins();
    Some(match op {
        Machine::FNeg => ins.fneg(a),
        Machine::FAbs => ins.fabs(a),
        Machine::FSqrt => ins.sqrt(a),
        Machine::FFloor => ins.floor(a),
        Machine::FCeil => ins.ceil(a),
        Machine::FTrunc => ins.trunc(a),
        Machine::FRelu => {
            let zero = ins.f64const(0.0);
            builder.ins().fmax(a, zero)
        }
        Machine::FRound => {
            // Away from zero by the largest float below one half: what was a half or more crosses
            // the next integer (by rounding, if it was a half), everything else stays below it.
            let half = ins.f64const(0.5f64.next_down());
            let half = builder.ins().fcopysign(half, a);
            let moved = builder.ins().fadd(a, half);
            builder.ins().trunc(moved)
        }
        Machine::FSign => {
            let zero = ins.f64const(0.0);
            let one = builder.ins().f64const(1.0);
            let minus_one = builder.ins().f64const(-1.0);
            // 0 for either zero, else NaN.
            let rest = builder.ins().fadd(a, zero);
            let below = builder.ins().fcmp(FloatCC::LessThan, a, zero);
            let rest = builder.ins().select(below, minus_one, rest);
            let above = builder.ins().fcmp(FloatCC::GreaterThan, a, zero);
            builder.ins().select(above, one, rest)
        }
        Machine::ISign => {
            let above = ins.icmp_imm_s(IntCC::SignedGreaterThan, a, 0);
            let above = builder.ins().uextend(types::I64, above);
            let sign = builder.ins().sshr_imm_s(a, 63);
            builder.ins().bor(above, sign)
        }
        Machine::INot => ins.bnot(a),
        Machine::INeg => ins.ineg(a),
        Machine::IAbs => ins.iabs(a),
        Machine::Not => ins.bxor_imm_u(a, 1),
        Machine::IToF => ins.fcvt_from_sint(types::F64, a),
        Machine::FToS => ins.fdemote(types::F32, a),
        Machine::SToF => ins.fpromote(types::F64, a),
        Machine::Narrow => ins.ireduce(types::I32, a),
        Machine::Widen => ins.sextend(types::I64, a),
        Machine::FToI => ins.fcvt_to_sint_sat(types::I64, a),
        Machine::BToI => ins.uextend(types::I64, a),
        Machine::BToF => {
            let wide = ins.uextend(types::I64, a);
            builder.ins().fcvt_from_sint(types::F64, wide)
        }
        Machine::Copy => a,
        _ => return None,
    })
}

fn binary(
    builder: &mut FunctionBuilder<'_>,
    op: Machine,
    a: Value,
    b: Value,
    divisor: Option<i64>,
) -> Option<Value> {
    let ins = builder.ins();
    Some(match op {
        Machine::FAdd => ins.fadd(a, b),
        Machine::FSub => ins.fsub(a, b),
        Machine::FMul => ins.fmul(a, b),
        Machine::FTimes => times(builder, a, b),
        Machine::FDiv => ins.fdiv(a, b),
        Machine::FMin => ins.fmin(a, b),
        Machine::FMax => ins.fmax(a, b),
        Machine::FEq => ins.fcmp(FloatCC::Equal, a, b),
        Machine::FNe => ins.fcmp(FloatCC::NotEqual, a, b),
        Machine::FLt => ins.fcmp(FloatCC::LessThan, a, b),
        Machine::FLe => ins.fcmp(FloatCC::LessThanOrEqual, a, b),
        Machine::FGt => ins.fcmp(FloatCC::GreaterThan, a, b),
        Machine::FGe => ins.fcmp(FloatCC::GreaterThanOrEqual, a, b),
        Machine::IAdd => ins.iadd(a, b),
        Machine::ISub => ins.isub(a, b),
        Machine::IMul => ins.imul(a, b),
        Machine::IDiv | Machine::IRem => division(builder, op, a, b, divisor),
        Machine::IAnd => ins.band(a, b),
        Machine::IOr => ins.bor(a, b),
        Machine::IXor => ins.bxor(a, b),
        Machine::IShl => {
            let shifted = ins.ishl(a, b);
            let zero = builder.ins().iconst(types::I64, 0);
            let inside = builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, b, 64);
            builder.ins().select(inside, shifted, zero)
        }
        Machine::IShr => {
            let last = ins.iconst(types::I64, 63);
            let amount = builder.ins().umin(b, last);
            builder.ins().sshr(a, amount)
        }
        Machine::IMin => ins.smin(a, b),
        Machine::IMax => ins.smax(a, b),
        Machine::IEq | Machine::BEq => ins.icmp(IntCC::Equal, a, b),
        Machine::INe | Machine::BNe => ins.icmp(IntCC::NotEqual, a, b),
        Machine::ILt => ins.icmp(IntCC::SignedLessThan, a, b),
        Machine::ILe => ins.icmp(IntCC::SignedLessThanOrEqual, a, b),
        Machine::IGt => ins.icmp(IntCC::SignedGreaterThan, a, b),
        Machine::IGe => ins.icmp(IntCC::SignedGreaterThanOrEqual, a, b),
        Machine::And => ins.band(a, b),
        Machine::Or => ins.bor(a, b),
        _ => return None,
    })
}

/// A product that is zero where it would be NaN and a factor is zero, of floats or of pairs of them.
/// That stands under a branch that is hardly ever taken, so that nothing waits for comparisons.
fn times(builder: &mut FunctionBuilder<'_>, a: Value, b: Value) -> Value {
    let product = builder.ins().fmul(a, b);
    let ty = builder.func.dfg.value_type(a);
    let [cold, done] = [builder.create_block(), builder.create_block()];
    builder.set_cold_block(cold);
    let result = builder.append_block_param(done, ty);
    let undefined = builder.ins().fcmp(FloatCC::Unordered, product, product);
    let some = match ty.is_vector() {
        true => builder.ins().vhigh_bits(types::I32, undefined),
        false => undefined,
    };
    builder.ins().brif(some, cold, &[], done, &[product.into()]);
    builder.switch_to_block(cold);
    builder.seal_block(cold);
    let made = with_zero(builder, a, b, product);
    builder.ins().jump(done, &[made.into()]);
    builder.switch_to_block(done);
    builder.seal_block(done);
    result
}

/// Something that is not 0 if one of these pairs has a NaN. `None` without pairs.
pub(crate) fn some_undefined(builder: &mut FunctionBuilder<'_>, pairs: &[Value]) -> Option<Value> {
    let mut undefined = Vec::with_capacity(pairs.len().div_ceil(2));
    for two in pairs.chunks(2) {
        // One comparison is enough for two.
        undefined.push(builder.ins().fcmp(FloatCC::Unordered, two[0], two[two.len() - 1]));
    }
    let any = undefined.into_iter().reduce(|a, b| builder.ins().bor(a, b))?;
    Some(builder.ins().vhigh_bits(types::I32, any))
}

/// `times`, without a branch.
pub(crate) fn times_at_once(builder: &mut FunctionBuilder<'_>, a: Value, b: Value) -> Value {
    let product = builder.ins().fmul(a, b);
    with_zero(builder, a, b, product)
}

/// The product, or zero where it is NaN and a factor is zero.
fn with_zero(builder: &mut FunctionBuilder<'_>, a: Value, b: Value, product: Value) -> Value {
    let ty = builder.func.dfg.value_type(a);
    let undefined = builder.ins().fcmp(FloatCC::Unordered, product, product);
    let zero = builder.ins().f64const(0.0);
    let zero = if ty.is_vector() { builder.ins().splat(ty, zero) } else { zero };
    let a = builder.ins().fcmp(FloatCC::Equal, a, zero);
    let b = builder.ins().fcmp(FloatCC::Equal, b, zero);
    let either = builder.ins().bor(a, b);
    let both = builder.ins().band(either, undefined);
    match ty.is_vector() {
        true => {
            let little = MemFlagsData::new().with_endianness(Endianness::Little);
            let mask = builder.ins().bitcast(ty, little, both);
            builder.ins().bitselect(mask, zero, product)
        }
        false => builder.ins().select(both, zero, product),
    }
}

/// Quotient or remainder toward zero.
fn division(
    builder: &mut FunctionBuilder<'_>,
    op: Machine,
    a: Value,
    b: Value,
    divisor: Option<i64>,
) -> Value {
    let quotient = op == Machine::IDiv;
    let divide = |builder: &mut FunctionBuilder<'_>, b: Value| match quotient {
        true => builder.ins().sdiv(a, b),
        false => builder.ins().srem(a, b),
    };
    let by_minus_one = |builder: &mut FunctionBuilder<'_>| match quotient {
        true => builder.ins().ineg(a),
        false => builder.ins().iconst(types::I64, 0),
    };
    match divisor {
        // The check before it has failed: this never runs.
        Some(0) => builder.ins().iconst(types::I64, 0),
        Some(-1) => by_minus_one(builder),
        Some(_) => divide(builder, b),
        None => {
            let special = builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let one = builder.ins().iconst(types::I64, 1);
            let safe = builder.ins().select(special, one, b);
            let usual = divide(builder, safe);
            let other = by_minus_one(builder);
            builder.ins().select(special, other, usual)
        }
    }
}

/// Operations on floats that vectors have too, with the same meaning for each half.
pub(crate) fn is_lanewise(op: Machine) -> bool {
    matches!(
        op,
        Machine::FAdd
            | Machine::FSub
            | Machine::FMul
            | Machine::FTimes
            | Machine::FDiv
            | Machine::FNeg
            | Machine::FAbs
            | Machine::FSqrt
            | Machine::FMin
            | Machine::FMax
            | Machine::FToS
            | Machine::SToF
    )
}
