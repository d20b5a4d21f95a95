//! Mathematical functions of eight arguments, written out where they are called.
//!
//! The runtime's cores ([of one argument](straight), [of pairs](pairs)) compute with any [`Number`]. Here they compute with [`Eight`], whose
//! operations write themselves down as text: what comes out is the function for vectors of eight,
//! operation by operation, and every lane has the bits of the function of one argument. It is inlined if it is
//! not long, so the constants stay in registers and nothing goes through memory. Where one of the eight
//! arguments is unusual, all go to the runtime's function of several arguments.
//!
//! Example, `1.0 + x` with `x` the value `%t0`: `%t1 = fadd <8 x double> splat (double 1.0), %t0`.

use crate::text::{BOOLS, Body, INTS, LANE, Operand, Type};
use jut_runtime::math::number::Number;
use jut_runtime::math::{pairs, straight};
use jut_runtime::wide::Form;
use std::cell::RefCell;
use std::fmt::Write;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

/// Instructions of a function that is inlined wherever it is called.
const LONGEST_INLINED: usize = 200;

/// The text of the function of eight that goes with a function of one argument, or of eight pairs: `@NAME.8`.
pub(crate) fn function_of_eight(text: &mut String, form: &Form) {
    let Form { scalar, symbol, params, .. } = form;
    let pointers = vec!["ptr"; params + 1].join(", ");
    let of_runtime = format_args!("declare void @{symbol}({pointers}, i64) #6");
    // Writing to a string does not fail.
    let _ = writeln!(text, "{of_runtime}");

    let mut any = Body::new(*params as u32);
    let args: Vec<Operand> = (0..*params as u32).map(Operand::Temp).collect();
    let declared: Vec<String> = args.iter().map(|x| format!("{LANE} {x}")).collect();
    let declared = declared.join(", ");
    let mut places = Vec::new();
    for x in &args {
        let place = any.value(format_args!("alloca {LANE}, align 64"));
        any.line(format_args!("store {LANE} {x}, ptr {place}, align 64"));
        places.push(format!("ptr {place}"));
    }
    let to = any.value(format_args!("alloca {LANE}, align 64"));
    places.push(format!("ptr {to}"));
    any.line(format_args!("call void @{symbol}({}, i64 8)", places.join(", ")));
    let y = any.value(format_args!("load {LANE}, ptr {to}, align 64"));
    any.line(format_args!("ret {LANE} {y}"));
    let any = any.finish();
    let _ = writeln!(text, "define internal {LANE} @{scalar}.8.any({declared}) #8 {{\n{any}}}");

    let body = RefCell::new(Body::new(*params as u32));
    let eight = |operand: &Operand| Eight { operand: *operand, body: Some(&body) };
    let all: Vec<Eight<'_>> = args.iter().map(eight).collect();
    let name = scalar.strip_prefix("jut_").unwrap_or(scalar);
    let usual = match all[..] {
        [x] => straight::core(name).map(|core| core(x)),
        [x, y] => pairs::core(name).map(|core| core(x, y)),
        _ => None,
    };
    let mut body = body.borrow_mut();
    if let Some((y, Truth(usual))) = usual {
        let [good, other] = body.labels();
        let usual = usual.operand.of(BOOLS);
        let all = body.value(format_args!("call i1 @llvm.vector.reduce.and.v8i1({BOOLS} {usual})"));
        body.branch_usually(all, good, other);
        body.begin(good);
        let y = y.operand.of(LANE);
        body.line(format_args!("ret {LANE} {y}"));
        body.begin(other);
    }
    let y = body.value(format_args!("call {LANE} @{scalar}.8.any({declared})"));
    body.line(format_args!("ret {LANE} {y}"));
    let body = std::mem::replace(&mut *body, Body::new(0)).finish();
    // A long one has more constants than there are registers: LLVM may call it.
    let inlined = if body.lines().count() <= LONGEST_INLINED { "#9" } else { "#1" };
    let _ = write!(text, "define internal {LANE} @{scalar}.8({declared}) {inlined} {{\n{body}}}\n");
}

/// Eight floats of the function that is being written; a constant needs no function.
#[derive(Clone, Copy)]
struct Eight<'b> {
    operand: Operand,
    body: Option<&'b RefCell<Body>>,
}

/// Eight times 64 bits.
#[derive(Clone, Copy)]
struct Bits<'b>(Eight<'b>);

/// Eight truth values.
#[derive(Clone, Copy)]
struct Truth<'b>(Eight<'b>);

impl<'b> Eight<'b> {
    fn constant(operand: Operand) -> Eight<'b> {
        Eight { operand, body: None }
    }

    /// An instruction, written where one of the operands is; `constant` if all are constants.
    fn write<const N: usize>(
        operands: [(Eight<'b>, Type); N],
        constant: impl FnOnce() -> Operand,
        line: impl FnOnce([String; N]) -> String,
    ) -> Eight<'b> {
        let Some(body) = operands.iter().find_map(|(eight, _)| eight.body) else {
            return Eight::constant(constant());
        };
        let shown = operands.map(|(eight, ty)| eight.operand.of(ty).to_string());
        let operand = body.borrow_mut().value(line(shown));
        Eight { operand, body: Some(body) }
    }

    /// The float, of a constant.
    fn float(self) -> f64 {
        match self.operand {
            Operand::F64(bits) => f64::from_bits(bits),
            _ => f64::NAN,
        }
    }

    /// An operation on two of a type.
    fn two(
        name: &str,
        ty: Type,
        [a, b]: [Eight<'b>; 2],
        constant: impl FnOnce() -> Operand,
    ) -> Eight<'b> {
        Eight::write([(a, ty), (b, ty)], constant, |[a, b]| format!("{name} {ty} {a}, {b}"))
    }

    fn compare(self, name: &str, other: Eight<'b>, constant: bool) -> Truth<'b> {
        Truth(Eight::two(name, LANE, [self, other], || Operand::Bool(constant)))
    }
}

impl Bits<'_> {
    /// The bits, of a constant.
    fn integer(self) -> u64 {
        match self.0.operand {
            Operand::I64(x) => x.cast_unsigned(),
            _ => 0,
        }
    }
}

macro_rules! float_operations {
    ($($trait:ident $method:ident $op:tt $name:literal;)*) => {
        $(impl<'b> $trait for Eight<'b> {
            type Output = Eight<'b>;
            fn $method(self, other: Eight<'b>) -> Eight<'b> {
                let constant = || Operand::float(self.float() $op other.float());
                Eight::two($name, LANE, [self, other], constant)
            }
        })*
    };
}

float_operations! {
    Add add + "fadd";
    Sub sub - "fsub";
    Mul mul * "fmul";
    Div div / "fdiv";
}

impl<'b> Neg for Eight<'b> {
    type Output = Eight<'b>;
    fn neg(self) -> Eight<'b> {
        let constant = || Operand::float(-self.float());
        Eight::write([(self, LANE)], constant, |[a]| format!("fneg {LANE} {a}"))
    }
}

macro_rules! bit_operations {
    ($($trait:ident $method:ident $function:ident $name:literal;)*) => {
        $(impl<'b> $trait for Bits<'b> {
            type Output = Bits<'b>;
            fn $method(self, other: Bits<'b>) -> Bits<'b> {
                let constant =
                    || Operand::I64(self.integer().$function(other.integer()).cast_signed());
                Bits(Eight::two($name, INTS, [self.0, other.0], constant))
            }
        })*
    };
}

bit_operations! {
    Add add wrapping_add "add";
    Sub sub wrapping_sub "sub";
    BitAnd bitand bitand "and";
    BitOr bitor bitor "or";
    BitXor bitxor bitxor "xor";
}

macro_rules! shifts {
    ($($trait:ident $method:ident $function:ident $name:literal;)*) => {
        $(impl<'b> $trait<u32> for Bits<'b> {
            type Output = Bits<'b>;
            fn $method(self, by: u32) -> Bits<'b> {
                let amount = Eight::constant(Operand::I64(i64::from(by)));
                let constant = || Operand::I64(self.integer().$function(by).cast_signed());
                Bits(Eight::two($name, INTS, [self.0, amount], constant))
            }
        })*
    };
}

shifts! {
    Shl shl wrapping_shl "shl";
    Shr shr wrapping_shr "lshr";
}

impl<'b> BitAnd for Truth<'b> {
    type Output = Truth<'b>;
    fn bitand(self, other: Truth<'b>) -> Truth<'b> {
        let is = |truth: Truth<'b>| truth.0.operand == Operand::Bool(true);
        let constant = || Operand::Bool(is(self) && is(other));
        Truth(Eight::two("and", BOOLS, [self.0, other.0], constant))
    }
}

impl<'b> Number for Eight<'b> {
    type Bits = Bits<'b>;
    type Truth = Truth<'b>;

    fn of(x: f64) -> Eight<'b> {
        Eight::constant(Operand::float(x))
    }

    fn bits(x: u64) -> Bits<'b> {
        Bits(Eight::constant(Operand::I64(x.cast_signed())))
    }

    fn abs(self) -> Eight<'b> {
        let constant = || Operand::float(self.float().abs());
        Eight::write([(self, LANE)], constant, |[a]| {
            format!("call {LANE} @llvm.fabs.v8f64({LANE} {a})")
        })
    }

    fn sqrt(self) -> Eight<'b> {
        let constant = || Operand::float(self.float().sqrt());
        Eight::write([(self, LANE)], constant, |[a]| {
            format!("call {LANE} @llvm.sqrt.v8f64({LANE} {a})")
        })
    }

    fn copysign(self, sign: Eight<'b>) -> Eight<'b> {
        Eight::write(
            [(self, LANE), (sign, LANE)],
            || Operand::float(self.float().copysign(sign.float())),
            |[a, b]| format!("call {LANE} @llvm.copysign.v8f64({LANE} {a}, {LANE} {b})"),
        )
    }

    fn to_bits(self) -> Bits<'b> {
        Bits(Eight::write(
            [(self, LANE)],
            || Operand::I64(self.float().to_bits().cast_signed()),
            |[a]| format!("bitcast {LANE} {a} to {INTS}"),
        ))
    }

    fn from_bits(bits: Bits<'b>) -> Eight<'b> {
        Eight::write(
            [(bits.0, INTS)],
            || Operand::F64(bits.integer()),
            |[a]| format!("bitcast {INTS} {a} to {LANE}"),
        )
    }

    fn is_odd(bits: Bits<'b>) -> Truth<'b> {
        Truth(Eight::write(
            [(bits.0, INTS)],
            || Operand::Bool(bits.integer() & 1 != 0),
            |[a]| format!("trunc {INTS} {a} to {BOOLS}"),
        ))
    }

    fn below(self, other: Eight<'b>) -> Truth<'b> {
        self.compare("fcmp olt", other, self.float() < other.float())
    }

    fn above(self, other: Eight<'b>) -> Truth<'b> {
        self.compare("fcmp ogt", other, self.float() > other.float())
    }

    fn at_most(self, other: Eight<'b>) -> Truth<'b> {
        self.compare("fcmp ole", other, self.float() <= other.float())
    }

    fn at_least(self, other: Eight<'b>) -> Truth<'b> {
        self.compare("fcmp oge", other, self.float() >= other.float())
    }

    fn select(condition: Truth<'b>, then: Eight<'b>, other: Eight<'b>) -> Eight<'b> {
        let holds = condition.0.operand == Operand::Bool(true);
        Eight::write(
            [(condition.0, BOOLS), (then, LANE), (other, LANE)],
            || if holds { then.operand } else { other.operand },
            |[c, a, b]| format!("select {BOOLS} {c}, {LANE} {a}, {LANE} {b}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_runtime::wide::FORMS;

    #[test]
    fn every_function_of_eight_is_written_out() {
        for form in FORMS {
            let mut text = String::new();
            function_of_eight(&mut text, form);
            assert!(text.contains("fadd <8 x double>"), "{text}");
            assert!(text.contains("@llvm.vector.reduce.and.v8i1"), "{text}");
            // The only call of the runtime is that for unusual arguments.
            let calls = format!("call void @{}(", form.symbol);
            assert_eq!(text.matches(&calls).count(), 1, "{text}");
        }
    }

    #[test]
    fn only_long_functions_are_called() {
        for (scalar, inlined) in [("jut_exp", true), ("jut_tan", true), ("jut_lgamma", false)] {
            let mut text = String::new();
            function_of_eight(&mut text, jut_runtime::wide::form(scalar).unwrap());
            let heading = format!("define internal {LANE} @{scalar}.8({LANE} %t0)");
            let line = text.lines().find(|line| line.starts_with(&heading)).expect("it is defined");
            assert_eq!(line.contains("#9"), inlined, "{text}");
        }
    }

    #[test]
    fn operations_on_constants_are_done() {
        let (two, three) = (Eight::of(2.0), Eight::of(3.0));
        assert_eq!((two * three - two / two).float(), 5.0);
        assert_eq!((-two).abs().copysign(-three).float(), -2.0);
        assert_eq!((two + two).sqrt().float(), 2.0);
        let one = Eight::bits(1) << 3 >> 2 ^ Eight::bits(3);
        assert_eq!(one.integer(), 1);
        let which = Eight::is_odd(one) & two.below(three) & three.at_least(three);
        assert_eq!(Eight::select(which, two, three).float(), 2.0);
        assert_eq!(Eight::from_bits(two.to_bits() + Eight::bits(1 << 52)).float(), 4.0);
    }
}
