//! Machine operations, one by one: each has exactly the meaning of its row in the table of
//! primitives, for one value or for eight.
//!
//! There is no flag that would let LLVM change a float: nothing is contracted, reassociated or
//! assumed not to be NaN. No operation traps: integer division, the only one that could, stands
//! behind a check of its divisor, and the one quotient that does not fit (the least integer by -1)
//! is computed without dividing.

use crate::text::{Body, Operand, Scalar, Type};
use jut_ir::prim::Opcode;

/// What an operation takes and gives.
fn types(op: Opcode) -> Option<(Scalar, Scalar)> {
    use Opcode::*;
    Some(match op {
        FAdd | FSub | FMul | FTimes | FDiv | FNeg | FAbs | FSqrt | FMin | FMax | FFloor | FCeil
        | FTrunc | FRound | FSign | FInf | FNan | FRelu => (Scalar::F64, Scalar::F64),
        FEq | FNe | FLt | FLe | FGt | FGe => (Scalar::F64, Scalar::Bool),
        IAdd | ISub | IMul | IDiv | IRem | INeg | IAbs | IMin | IMax | ISign | IAnd | IOr
        | IXor | INot | IShl | IShr => (Scalar::I64, Scalar::I64),
        IEq | INe | ILt | ILe | IGt | IGe => (Scalar::I64, Scalar::Bool),
        And | Or | Not | BEq | BNe => (Scalar::Bool, Scalar::Bool),
        IToF => (Scalar::I64, Scalar::F64),
        FToI => (Scalar::F64, Scalar::I64),
        FToS => (Scalar::F64, Scalar::F32),
        SToF => (Scalar::F32, Scalar::F64),
        Narrow => (Scalar::I64, Scalar::I32),
        Widen => (Scalar::I32, Scalar::I64),
        BToI => (Scalar::Bool, Scalar::I64),
        BToF => (Scalar::Bool, Scalar::F64),
        Select | Copy => return None,
    })
}

/// Emits one operation on eight values (`wide`) or one; `selected` is what a selection is among.
pub(crate) fn operation(
    body: &mut Body,
    op: Opcode,
    args: &[Operand],
    wide: bool,
    selected: Scalar,
) -> Result<Operand, String> {
    let ty = |scalar: Scalar| Type { scalar, wide };
    match (op, args) {
        (Opcode::FInf, []) => return Ok(Operand::float(f64::INFINITY)),
        (Opcode::FNan, []) => return Ok(Operand::float(f64::NAN)),
        (Opcode::Copy, [a]) => return Ok(*a),
        (Opcode::Select, [c, a, b]) => {
            let mut emit = Emit { body, from: ty(selected), to: ty(selected) };
            return Ok(emit.select(*c, *a, *b));
        }
        _ => {}
    }
    let done = types(op).and_then(|(from, to)| {
        let mut emit = Emit { body, from: ty(from), to: ty(to) };
        match *args {
            [a] => emit.unary(op, a),
            [a, b] => emit.binary(op, a, b),
            _ => None,
        }
    });
    done.ok_or_else(|| format!("the operation {op:?} does not take {} operands", args.len()))
}

/// A float moved away from zero by the largest float below one half: what was a half or more crosses
/// the next integer (by rounding, if it was a half), everything else stays below it.
pub(crate) fn past_half(body: &mut Body, a: Operand, wide: bool) -> Operand {
    let ty = Type { scalar: Scalar::F64, wide };
    let mut emit = Emit { body, from: ty, to: ty };
    let half = Operand::float(0.5f64.next_down());
    let half = emit.intrinsic("copysign", &[half, a]);
    emit.two("fadd", a, half)
}

/// Eight products of derivatives (`wide`) or one, without a branch.
pub(crate) fn times_at_once(body: &mut Body, a: Operand, b: Operand, wide: bool) -> Operand {
    let [ty, bool] = [Scalar::F64, Scalar::Bool].map(|scalar| Type { scalar, wide });
    let product = body.two("fmul", ty, a, b);
    let undefined = body.two("fcmp uno", ty, product, product);
    let left = body.two("fcmp oeq", ty, a, Operand::ZERO);
    let right = body.two("fcmp oeq", ty, b, Operand::ZERO);
    let either = body.two("or", bool, left, right);
    let zero = body.two("and", bool, undefined, either);
    let mut emit = Emit { body, from: ty, to: ty };
    emit.select(zero, Operand::ZERO, product)
}

struct Emit<'b> {
    body: &'b mut Body,
    from: Type,
    to: Type,
}

impl Emit<'_> {
    /// `name type a`.
    fn one(&mut self, name: &str, a: Operand) -> Operand {
        let ty = self.from;
        self.body.value(format_args!("{name} {ty} {}", a.of(ty)))
    }

    /// `name type a, b`.
    fn two(&mut self, name: &str, a: Operand, b: impl Into<Operand>) -> Operand {
        self.body.two(name, self.from, a, b)
    }

    /// `name type a to type`.
    fn cast(&mut self, name: &str, a: Operand) -> Operand {
        let (from, to) = (self.from, self.to);
        self.body.value(format_args!("{name} {from} {} to {to}", a.of(from)))
    }

    /// An intrinsic on operands of the type.
    fn intrinsic(&mut self, name: &str, args: &[Operand]) -> Operand {
        let ty = self.from;
        let args: Vec<String> = args.iter().map(|a| format!("{ty} {}", a.of(ty))).collect();
        let (suffix, args) = (ty.suffix(), args.join(", "));
        self.body.value(format_args!("call {ty} @llvm.{name}.{suffix}({args})"))
    }

    fn select(&mut self, c: Operand, a: Operand, b: Operand) -> Operand {
        let (ty, bool) = (self.from, Type { scalar: Scalar::Bool, wide: self.from.wide });
        let (c, a, b) = (c.of(bool), a.of(ty), b.of(ty));
        self.body.value(format_args!("select {bool} {c}, {ty} {a}, {ty} {b}"))
    }

    fn unary(&mut self, op: Opcode, a: Operand) -> Option<Operand> {
        Some(match op {
            Opcode::FNeg => self.one("fneg", a),
            Opcode::FAbs => self.intrinsic("fabs", &[a]),
            Opcode::FSqrt => self.intrinsic("sqrt", &[a]),
            Opcode::FFloor => self.intrinsic("floor", &[a]),
            Opcode::FCeil => self.intrinsic("ceil", &[a]),
            Opcode::FTrunc => self.intrinsic("trunc", &[a]),
            Opcode::FRelu => self.intrinsic("maximum", &[a, Operand::ZERO]),
            Opcode::FRound => {
                let moved = past_half(self.body, a, self.from.wide);
                self.intrinsic("trunc", &[moved])
            }
            Opcode::FSign => {
                // 0 for either zero, else NaN.
                let rest = self.two("fadd", a, Operand::ZERO);
                let below = self.two("fcmp olt", a, Operand::ZERO);
                let rest = self.select(below, Operand::float(-1.0), rest);
                let above = self.two("fcmp ogt", a, Operand::ZERO);
                self.select(above, Operand::float(1.0), rest)
            }
            Opcode::ISign => {
                let sign = self.two("ashr", a, 63);
                let above = self.two("icmp sgt", a, 0);
                self.select(above, Operand::I64(1), sign)
            }
            Opcode::INot => self.two("xor", a, -1),
            Opcode::INeg => self.two("sub", Operand::I64(0), a),
            Opcode::IAbs => {
                let ty = self.from;
                let (suffix, a) = (ty.suffix(), a.of(ty));
                self.body.value(format_args!("call {ty} @llvm.abs.{suffix}({ty} {a}, i1 false)"))
            }
            Opcode::Not => self.two("xor", a, Operand::Bool(true)),
            Opcode::IToF => self.cast("sitofp", a),
            Opcode::FToS => self.cast("fptrunc", a),
            Opcode::SToF => self.cast("fpext", a),
            Opcode::Narrow => self.cast("trunc", a),
            Opcode::Widen => self.cast("sext", a),
            Opcode::BToI => self.cast("zext", a),
            Opcode::BToF => self.cast("uitofp", a),
            Opcode::FToI => {
                let (from, to) = (self.from, self.to);
                let names = format!("{}.{}", to.suffix(), from.suffix());
                let a = a.of(from);
                self.body.value(format_args!("call {to} @llvm.fptosi.sat.{names}({from} {a})"))
            }
            _ => return None,
        })
    }

    fn binary(&mut self, op: Opcode, a: Operand, b: Operand) -> Option<Operand> {
        let name = match op {
            Opcode::FAdd => "fadd",
            Opcode::FSub => "fsub",
            Opcode::FMul => "fmul",
            Opcode::FDiv => "fdiv",
            Opcode::FEq => "fcmp oeq",
            Opcode::FNe => "fcmp une",
            Opcode::FLt => "fcmp olt",
            Opcode::FLe => "fcmp ole",
            Opcode::FGt => "fcmp ogt",
            Opcode::FGe => "fcmp oge",
            Opcode::IAdd => "add",
            Opcode::ISub => "sub",
            Opcode::IMul => "mul",
            Opcode::IAnd | Opcode::And => "and",
            Opcode::IOr | Opcode::Or => "or",
            Opcode::IXor => "xor",
            Opcode::IEq | Opcode::BEq => "icmp eq",
            Opcode::INe | Opcode::BNe => "icmp ne",
            Opcode::ILt => "icmp slt",
            Opcode::ILe => "icmp sle",
            Opcode::IGt => "icmp sgt",
            Opcode::IGe => "icmp sge",
            Opcode::FTimes => return Some(self.times(a, b)),
            Opcode::FMin => return Some(self.intrinsic("minimum", &[a, b])),
            Opcode::FMax => return Some(self.intrinsic("maximum", &[a, b])),
            Opcode::IMin => return Some(self.intrinsic("smin", &[a, b])),
            Opcode::IMax => return Some(self.intrinsic("smax", &[a, b])),
            Opcode::IShl => {
                let inside = self.two("icmp ult", b, 64);
                let amount = self.two("and", b, 63);
                let shifted = self.two("shl", a, amount);
                return Some(self.select(inside, shifted, Operand::I64(0)));
            }
            Opcode::IShr => {
                let amount = self.intrinsic("umin", &[b, Operand::I64(63)]);
                return Some(self.two("ashr", a, amount));
            }
            Opcode::IDiv | Opcode::IRem => return Some(self.division(op, a, b)),
            _ => return None,
        };
        Some(self.two(name, a, b))
    }

    /// A product that is zero where it would be NaN and a factor is zero. What looks for that stands under
    /// a branch that is hardly ever taken, so that what is computed from the product waits for nothing else.
    fn times(&mut self, a: Operand, b: Operand) -> Operand {
        let (ty, bool) = (self.from, Type { scalar: Scalar::Bool, wide: self.from.wide });
        let product = self.two("fmul", a, b);
        let defined = self.two("fcmp ord", product, product);
        let all = match ty.wide {
            true => self
                .body
                .value(format_args!("call i1 @llvm.vector.reduce.and.v8i1({bool} {defined})")),
            false => defined,
        };
        let (from, [cold, done]) = (self.body.current(), self.body.labels());
        self.body.branch_usually(all, done, cold);
        let [left, right, either, zero] = [(); 4].map(|()| self.body.temp());
        let (x, y) = (a.of(ty), b.of(ty));
        self.body.cold(format_args!(
            "{cold}:\n  \
             {left} = fcmp oeq {ty} {x}, {zeros}\n  \
             {right} = fcmp oeq {ty} {y}, {zeros}\n  \
             {either} = or {bool} {left}, {right}\n  \
             {zero} = select {bool} {defined}, {bool} {nowhere}, {bool} {either}",
            zeros = Operand::ZERO.of(ty),
            nowhere = Operand::Bool(false).of(bool),
        ));
        let made = self.body.temp();
        let zeros = Operand::ZERO.of(ty);
        self.body.cold(format_args!(
            "  {made} = select {bool} {zero}, {ty} {zeros}, {ty} {product}\n  br label %{done}"
        ));
        self.body.begin(done);
        self.body.join(ty, &[(product, from), (made, cold)])
    }

    /// Quotient or remainder toward zero.
    fn division(&mut self, op: Opcode, a: Operand, b: Operand) -> Operand {
        let quotient = op == Opcode::IDiv;
        let name = if quotient { "sdiv" } else { "srem" };
        match b {
            // The check before it has failed: this never runs.
            Operand::I64(0) => Operand::I64(0),
            Operand::I64(-1) if quotient => self.two("sub", Operand::I64(0), a),
            Operand::I64(-1) => Operand::I64(0),
            Operand::I64(_) => self.two(name, a, b),
            _ => {
                let special = self.two("icmp eq", b, -1);
                let safe = self.select(special, Operand::I64(1), b);
                let usual = self.two(name, a, safe);
                let other = match quotient {
                    true => self.two("sub", Operand::I64(0), a),
                    false => Operand::I64(0),
                };
                self.select(special, other, usual)
            }
        }
    }
}
