//! Machine operations, one by one: each has exactly the meaning of its row in the table of
//! primitives.
//!
//! Bools are bytes that are 0 or 1, those of a pair masks. No operation traps: integer division, the only one that could,
//! stands behind a check of its divisor, and the one quotient that does not fit (the least integer
//! by -1) is computed without dividing.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use jut_ir::Literal;
use jut_ir::prim::Opcode;
use jut_loop::form::Atom;

/// Emits one operation. `second` is the second operand, if that is an integer that is written down.
pub(crate) fn operation(
    builder: &mut FunctionBuilder<'_>,
    op: Opcode,
    args: &[Value],
    second: Option<i64>,
) -> Result<Value, String> {
    match *args {
        [] => constant(builder, op),
        [a] if op == Opcode::Not && is_vector(builder, a) => Some(builder.ins().bnot(a)),
        [a] if op == Opcode::BToF && is_vector(builder, a) => {
            let one = builder.ins().f64const(1.0);
            let one = builder.ins().splat(types::F64X2, one);
            let mask = as_type(builder, types::F64X2, a);
            Some(builder.ins().band(mask, one))
        }
        [a] if op == Opcode::FSign => Some(sign(builder, a)),
        [a] if op == Opcode::FRelu => {
            let zero = number(builder, a, 0.0);
            Some(builder.ins().fmax(a, zero))
        }
        [a] => unary(builder, op, a),
        [a, b] => binary(builder, op, a, b, second),
        [c, a, b] if op == Opcode::Select => Some(select(builder, c, a, b)),
        _ => None,
    }
    .ok_or_else(|| format!("the operation {op:?} does not take {} operands", args.len()))
}

fn constant(builder: &mut FunctionBuilder<'_>, op: Opcode) -> Option<Value> {
    Some(match op {
        Opcode::FInf => builder.ins().f64const(f64::INFINITY),
        Opcode::FNan => builder.ins().f64const(f64::NAN),
        _ => return None,
    })
}

fn unary(builder: &mut FunctionBuilder<'_>, op: Opcode, a: Value) -> Option<Value> {
    let ins = builder.ins();
    Some(match op {
        Opcode::FNeg => ins.fneg(a),
        Opcode::FAbs => ins.fabs(a),
        Opcode::FSqrt => ins.sqrt(a),
        Opcode::FFloor => ins.floor(a),
        Opcode::FCeil => ins.ceil(a),
        Opcode::FTrunc => ins.trunc(a),
        Opcode::FRound => {
            // Away from zero by the largest float below one half: what was a half or more crosses
            // the next integer (by rounding, if it was a half), everything else stays below it.
            let half = ins.f64const(0.5f64.next_down());
            let half = builder.ins().fcopysign(half, a);
            let moved = builder.ins().fadd(a, half);
            builder.ins().trunc(moved)
        }
        Opcode::ISign => {
            let above = ins.icmp_imm_s(IntCC::SignedGreaterThan, a, 0);
            let above = builder.ins().uextend(types::I64, above);
            let sign = builder.ins().sshr_imm_s(a, 63);
            builder.ins().bor(above, sign)
        }
        Opcode::INot => ins.bnot(a),
        Opcode::INeg => ins.ineg(a),
        Opcode::IAbs => ins.iabs(a),
        Opcode::Not => ins.bxor_imm_u(a, 1),
        Opcode::IToF => ins.fcvt_from_sint(types::F64, a),
        Opcode::FToS => ins.fdemote(types::F32, a),
        Opcode::SToF => ins.fpromote(types::F64, a),
        Opcode::Narrow => ins.ireduce(types::I32, a),
        Opcode::Widen => ins.sextend(types::I64, a),
        Opcode::FToI => ins.fcvt_to_sint_sat(types::I64, a),
        Opcode::BToI => ins.uextend(types::I64, a),
        Opcode::BToF => {
            let wide = ins.uextend(types::I64, a);
            builder.ins().fcvt_from_sint(types::F64, wide)
        }
        Opcode::Copy => a,
        _ => return None,
    })
}

fn binary(
    builder: &mut FunctionBuilder<'_>,
    op: Opcode,
    a: Value,
    b: Value,
    second: Option<i64>,
) -> Option<Value> {
    let ins = builder.ins();
    Some(match op {
        Opcode::FAdd => ins.fadd(a, b),
        Opcode::FSub => ins.fsub(a, b),
        Opcode::FMul => ins.fmul(a, b),
        Opcode::FTimes => times(builder, a, b),
        Opcode::FDiv => ins.fdiv(a, b),
        Opcode::FMin => ins.fmin(a, b),
        Opcode::FMax => ins.fmax(a, b),
        Opcode::FEq => ins.fcmp(FloatCC::Equal, a, b),
        Opcode::FNe => ins.fcmp(FloatCC::NotEqual, a, b),
        Opcode::FLt => ins.fcmp(FloatCC::LessThan, a, b),
        Opcode::FLe => ins.fcmp(FloatCC::LessThanOrEqual, a, b),
        Opcode::FGt => ins.fcmp(FloatCC::GreaterThan, a, b),
        Opcode::FGe => ins.fcmp(FloatCC::GreaterThanOrEqual, a, b),
        Opcode::IAdd => ins.iadd(a, b),
        Opcode::ISub => ins.isub(a, b),
        Opcode::IMul => ins.imul(a, b),
        Opcode::IDiv | Opcode::IRem => division(builder, op, a, b, second),
        Opcode::IAnd => ins.band(a, b),
        Opcode::IOr => ins.bor(a, b),
        Opcode::IXor => ins.bxor(a, b),
        Opcode::IShl | Opcode::IShr if let Some(by @ 0..64) = second => match op {
            Opcode::IShl => ins.ishl_imm_u(a, by),
            _ => ins.sshr_imm_u(a, by),
        },
        Opcode::IShl => {
            let shifted = ins.ishl(a, b);
            let zero = builder.ins().iconst(types::I64, 0);
            let inside = builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, b, 64);
            builder.ins().select(inside, shifted, zero)
        }
        Opcode::IShr => {
            let last = ins.iconst(types::I64, 63);
            let amount = builder.ins().umin(b, last);
            builder.ins().sshr(a, amount)
        }
        Opcode::IMin => ins.smin(a, b),
        Opcode::IMax => ins.smax(a, b),
        Opcode::IEq | Opcode::BEq => ins.icmp(IntCC::Equal, a, b),
        Opcode::INe | Opcode::BNe => ins.icmp(IntCC::NotEqual, a, b),
        Opcode::ILt => ins.icmp(IntCC::SignedLessThan, a, b),
        Opcode::ILe => ins.icmp(IntCC::SignedLessThanOrEqual, a, b),
        Opcode::IGt => ins.icmp(IntCC::SignedGreaterThan, a, b),
        Opcode::IGe => ins.icmp(IntCC::SignedGreaterThanOrEqual, a, b),
        Opcode::And => ins.band(a, b),
        Opcode::Or => ins.bor(a, b),
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
    let undefined = builder.ins().fcmp(FloatCC::Unordered, product, product);
    let zero = number(builder, a, 0.0);
    let a = builder.ins().fcmp(FloatCC::Equal, a, zero);
    let b = builder.ins().fcmp(FloatCC::Equal, b, zero);
    let either = builder.ins().bor(a, b);
    let both = builder.ins().band(either, undefined);
    select(builder, both, zero, product)
}

/// Quotient or remainder toward zero.
fn division(
    builder: &mut FunctionBuilder<'_>,
    op: Opcode,
    a: Value,
    b: Value,
    divisor: Option<i64>,
) -> Value {
    let quotient = op == Opcode::IDiv;
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

fn is_vector(builder: &FunctionBuilder<'_>, a: Value) -> bool {
    builder.func.dfg.value_type(a).is_vector()
}

/// A number, in both halves of a pair if `like` is one.
fn number(builder: &mut FunctionBuilder<'_>, like: Value, x: f64) -> Value {
    let ty = builder.func.dfg.value_type(like);
    let x = builder.ins().f64const(x);
    if ty.is_vector() { builder.ins().splat(ty, x) } else { x }
}

/// One, minus one, or what is neither above nor below zero: 0 for either zero, else NaN.
fn sign(builder: &mut FunctionBuilder<'_>, a: Value) -> Value {
    let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|x| number(builder, a, x));
    let rest = builder.ins().fadd(a, zero);
    let below = builder.ins().fcmp(FloatCC::LessThan, a, zero);
    let rest = select(builder, below, minus_one, rest);
    let above = builder.ins().fcmp(FloatCC::GreaterThan, a, zero);
    select(builder, above, one, rest)
}

/// One of two values, or of two pairs by the masks of a third.
pub(crate) fn select(builder: &mut FunctionBuilder<'_>, c: Value, a: Value, b: Value) -> Value {
    if !is_vector(builder, c) {
        return builder.ins().select(c, a, b);
    }
    let ty = builder.func.dfg.value_type(a);
    if ty == types::F32X4 {
        // A pair of 32 bits lies in the lower half of a register, its masks in both.
        let [a, b] = [a, b].map(|x| builder.ins().fvpromote_low(x));
        let chosen = select(builder, c, a, b);
        return builder.ins().fvdemote(chosen);
    }
    let mask = as_type(builder, ty, c);
    builder.ins().bitselect(mask, a, b)
}

/// A mask as the type of what it selects.
fn as_type(builder: &mut FunctionBuilder<'_>, ty: ir::Type, mask: Value) -> Value {
    match builder.func.dfg.value_type(mask) == ty {
        true => mask,
        false => {
            let little = MemFlagsData::new().with_endianness(Endianness::Little);
            builder.ins().bitcast(ty, little, mask)
        }
    }
}

/// If an operation gives the larger or smaller of an operand and of a number that is written down: that number, and which operand the other one is. Not
/// if it is NaN, or the smaller one of two numbers is asked and it is -0.0: then [`extremum`] is not right.
pub(crate) fn limit(op: Opcode, args: &[Atom]) -> Option<(f64, usize)> {
    let (x, other) = match (op, args) {
        (Opcode::FRelu, [_]) => (0.0, 0),
        (Opcode::FMax | Opcode::FMin, [Atom::Lit(Literal::F64(x)), Atom::Value(_)]) => (*x, 1),
        (Opcode::FMax | Opcode::FMin, [Atom::Value(_), Atom::Lit(Literal::F64(x))]) => (*x, 0),
        _ => return None,
    };
    let smaller_zero = op == Opcode::FMin && x == 0.0 && x.is_sign_negative();
    (!x.is_nan() && !smaller_zero).then_some((x, other))
}

/// The larger or smaller of a number and a [`limit`], for x86: its instructions give the second operand where both are zeros or
/// one is no number, and what Cranelift makes of them for any two numbers takes eight.
pub(crate) fn extremum(
    builder: &mut FunctionBuilder<'_>,
    op: Opcode,
    (x, limit): (f64, Value),
    a: Value,
) -> Value {
    if op == Opcode::FMin {
        let beyond = builder.ins().fcmp(FloatCC::LessThan, limit, a);
        return select(builder, beyond, limit, a);
    }
    let below = builder.ins().fcmp(FloatCC::LessThan, a, limit);
    let larger = select(builder, below, limit, a);
    // Of zeros the larger one is positive.
    let positive = x == 0.0 && x.is_sign_positive();
    if positive { builder.ins().fadd(larger, limit) } else { larger }
}

/// Comparisons of integers, of which vectors have those that grow from one iteration to the next.
pub(crate) fn compares_integers(op: Opcode) -> bool {
    use Opcode::{IEq, IGe, IGt, ILe, ILt, INe};
    matches!(op, IEq | INe | ILt | ILe | IGt | IGe)
}

/// Operations on floats and truth values that vectors have too, with the same meaning for each half, and what makes these of an integer that grows
/// from one iteration to the next.
pub(crate) fn is_lanewise(op: Opcode) -> bool {
    compares_integers(op)
        || matches!(
            op,
            Opcode::FAdd
                | Opcode::FSub
                | Opcode::FMul
                | Opcode::FTimes
                | Opcode::FDiv
                | Opcode::FNeg
                | Opcode::FAbs
                | Opcode::FRelu
                | Opcode::FSign
                | Opcode::FSqrt
                | Opcode::FFloor
                | Opcode::FCeil
                | Opcode::FTrunc
                | Opcode::FMin
                | Opcode::FMax
                | Opcode::FToS
                | Opcode::SToF
                | Opcode::FEq
                | Opcode::FNe
                | Opcode::FLt
                | Opcode::FLe
                | Opcode::FGt
                | Opcode::FGe
                | Opcode::And
                | Opcode::Or
                | Opcode::Not
                | Opcode::BToF
                | Opcode::IToF
                | Opcode::Select
        )
}
