//! Machine operations, one by one: each has exactly the meaning of its row in the table of
//! primitives.
//!
//! Every operation that eight lanes can share takes a width. No operation traps or has an undefined
//! result: integer division, the only one that could, stands behind a check of its divisor, and the
//! one quotient that does not fit (the least integer by -1) is computed without dividing; where
//! `arith` leaves a result open (a shift by 64, a conversion that does not fit), a `select` takes
//! another.

use crate::function::{Constant, Emitter, Operand, Result, Width, kind_type};
use crate::prelude::Helper;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Opcode, Prim};
use jut_loop::form::{Atom, Kind, Value};
use jut_runtime::symbols::{self, Math};
use std::fmt::Display;

impl Emitter<'_> {
    pub(crate) fn prim(&mut self, dst: Value, prim: Prim, args: &[Atom]) -> Result<()> {
        let row = prim.row();
        if row.params.len() != args.len() {
            return Err(format!("`{}` has {} operands", row.id, args.len()));
        }
        if row.lowering == Lowering::Opcode(Opcode::Copy) {
            let operand = self.atom(args[0])?;
            self.alias(dst, operand);
            return Ok(());
        }
        let divisor = match args {
            [_, Atom::Lit(Literal::I64(k))] => Some(*k),
            _ => None,
        };
        let kind = self.kind(dst);
        let operands = self.atoms(args)?;
        let text = match row.lowering {
            Lowering::Opcode(op) => self.operation(op, &operands, kind, Width::One, divisor)?,
            Lowering::Runtime(symbol) => self.runtime(symbol, &operands, Width::One)?,
        };
        let name = self.bind(dst);
        self.line(format_args!("{name} = {text}"));
        Ok(())
    }

    /// A call of a mathematical function.
    pub(crate) fn runtime(
        &mut self,
        symbol: &'static str,
        args: &[Operand],
        width: Width,
    ) -> Result<String> {
        let math = symbols::math(symbol)
            .ok_or_else(|| format!("the runtime has no function `{symbol}`"))?;
        let ty = match math {
            Math::Unary(_) => "(f64) -> f64",
            Math::Binary(_) => "(f64, f64) -> f64",
            Math::Ternary(_) => "(f64, f64, f64) -> f64",
            Math::Integer(_) => "(f64, index) -> f64",
            Math::Order(_) => "(index, f64) -> f64",
        };
        let args = args.join(", ");
        Ok(match (width, math) {
            (Width::One, _) => {
                self.prelude.runtime(symbol, ty);
                format!("func.call @{symbol}({args}) : {ty}")
            }
            (Width::Eight, Math::Unary(_)) => {
                self.prelude.wide(symbol, 1, ty);
                format!("func.call @{symbol}.8({args}) : (vector<8xf64>) -> vector<8xf64>")
            }
            (Width::Eight, Math::Binary(_)) => {
                self.prelude.wide(symbol, 2, ty);
                let wide = "vector<8xf64>";
                format!("func.call @{symbol}.8({args}) : ({wide}, {wide}) -> {wide}")
            }
            (Width::Eight, _) => return Err(format!("`{symbol}` has no form for eight lanes")),
        })
    }

    /// The text of an operation, to the right of `=`. `divisor` is the last operand, if that is a
    /// literal integer.
    pub(crate) fn operation(
        &mut self,
        op: Opcode,
        args: &[Operand],
        kind: Kind,
        width: Width,
        divisor: Option<i64>,
    ) -> Result<String> {
        let text = match args {
            [] => self.nullary(op, width),
            [a] => self.unary(op, a, width),
            [a, b] => self.binary(op, a, b, width, divisor),
            [c, a, b] if op == Opcode::Select => Some(select(c, a, b, kind, width)),
            _ => None,
        };
        text.ok_or_else(|| format!("the operation {op:?} does not take {} operands", args.len()))
    }

    fn nullary(&mut self, op: Opcode, width: Width) -> Option<String> {
        let x = match op {
            Opcode::FInf => f64::INFINITY,
            Opcode::FNan => f64::NAN,
            _ => return None,
        };
        let ty = kind_type(Kind::F64, width);
        let bits = x.to_bits();
        Some(match width {
            Width::One => format!("arith.constant 0x{bits:016X} : {ty}"),
            Width::Eight => format!("arith.constant dense<0x{bits:016X}> : {ty}"),
        })
    }

    fn unary(&mut self, op: Opcode, a: &Operand, width: Width) -> Option<String> {
        let ty = kind_type(Kind::F64, width);
        let bools = kind_type(Kind::BOOL, width);
        Some(match op {
            Opcode::FNeg => format!("arith.negf {a} : {ty}"),
            Opcode::FAbs => format!("math.absf {a} : {ty}"),
            Opcode::FSqrt => format!("math.sqrt {a} : {ty}"),
            Opcode::FFloor => format!("math.floor {a} : {ty}"),
            Opcode::FCeil => format!("math.ceil {a} : {ty}"),
            Opcode::FTrunc => format!("math.trunc {a} : {ty}"),
            Opcode::FRelu => {
                let zero = self.float(0.0, width);
                format!("arith.maximumf {a}, {zero} : {ty}")
            }
            Opcode::FRound => {
                // Away from zero by the largest float below one half: what was a half or more
                // crosses the next integer (by rounding, if it was a half), everything else stays
                // below it.
                let half = self.float(0.5f64.next_down(), width);
                let half = self.define(format_args!("math.copysign {half}, {a} : {ty}"));
                let moved = self.define(format_args!("arith.addf {a}, {half} : {ty}"));
                format!("math.trunc {moved} : {ty}")
            }
            Opcode::FSign => {
                let zero = self.float(0.0, width);
                let one = self.float(1.0, width);
                let minus_one = self.float(-1.0, width);
                // 0 for either zero, else NaN.
                let rest = self.define(format_args!("arith.addf {a}, {zero} : {ty}"));
                let below = self.define(format_args!("arith.cmpf olt, {a}, {zero} : {ty}"));
                let rest = self.define(select(&below, &minus_one, &rest, Kind::F64, width));
                let above = self.define(format_args!("arith.cmpf ogt, {a}, {zero} : {ty}"));
                select(&above, &one, &rest, Kind::F64, width)
            }
            Opcode::Not => {
                let yes = self.constant(Constant::Bool(true, width));
                format!("arith.xori {a}, {yes} : {bools}")
            }
            _ if width == Width::Eight => return None,
            Opcode::ISign => {
                let zero = self.int(0);
                let above = self.define(format_args!("arith.cmpi sgt, {a}, {zero} : index"));
                let below = self.define(format_args!("arith.cmpi slt, {a}, {zero} : index"));
                let plus = self.define(format_args!("arith.index_castui {above} : i1 to index"));
                let minus = self.define(format_args!("arith.index_castui {below} : i1 to index"));
                format!("arith.subi {plus}, {minus} : index")
            }
            Opcode::INot => {
                let ones = self.int(-1);
                format!("arith.xori {a}, {ones} : index")
            }
            Opcode::INeg => {
                let zero = self.int(0);
                format!("arith.subi {zero}, {a} : index")
            }
            Opcode::IAbs => {
                let zero = self.int(0);
                let negative = self.define(format_args!("arith.subi {zero}, {a} : index"));
                format!("arith.maxsi {a}, {negative} : index")
            }
            Opcode::IToF => {
                let word = self.define(format_args!("arith.index_cast {a} : index to i64"));
                format!("arith.sitofp {word} : i64 to f64")
            }
            Opcode::FToI => {
                let name = self.prelude.helper(Helper::ToI64);
                format!("func.call @{name}({a}) : (f64) -> index")
            }
            Opcode::FToS => format!("arith.truncf {a} : f64 to f32"),
            Opcode::SToF => format!("arith.extf {a} : f32 to f64"),
            Opcode::Narrow => format!("arith.index_cast {a} : index to i32"),
            Opcode::Widen => format!("arith.index_cast {a} : i32 to index"),
            Opcode::BToI => format!("arith.index_castui {a} : i1 to index"),
            Opcode::BToF => format!("arith.uitofp {a} : i1 to f64"),
            _ => return None,
        })
    }

    fn binary(
        &mut self,
        op: Opcode,
        a: &Operand,
        b: &Operand,
        width: Width,
        divisor: Option<i64>,
    ) -> Option<String> {
        let ty = kind_type(Kind::F64, width);
        let bools = kind_type(Kind::BOOL, width);
        let compare = |which: &str| format!("arith.cmpf {which}, {a}, {b} : {ty}");
        let ints = |name: &dyn Display| format!("arith.{name} {a}, {b} : index");
        Some(match op {
            Opcode::FAdd => format!("arith.addf {a}, {b} : {ty}"),
            Opcode::FSub => format!("arith.subf {a}, {b} : {ty}"),
            Opcode::FMul => format!("arith.mulf {a}, {b} : {ty}"),
            Opcode::FTimes => {
                let zero = self.float(0.0, width);
                let product = self.define(format_args!("arith.mulf {a}, {b} : {ty}"));
                let undefined =
                    self.define(format_args!("arith.cmpf uno, {product}, {product} : {ty}"));
                let [a, b] =
                    [a, b].map(|x| self.define(format_args!("arith.cmpf oeq, {x}, {zero} : {ty}")));
                let either = self.define(format_args!("arith.ori {a}, {b} : {bools}"));
                let both = self.define(format_args!("arith.andi {undefined}, {either} : {bools}"));
                select(&both, &zero, &product, Kind::F64, width)
            }
            Opcode::FDiv => format!("arith.divf {a}, {b} : {ty}"),
            Opcode::FMin => format!("arith.minimumf {a}, {b} : {ty}"),
            Opcode::FMax => format!("arith.maximumf {a}, {b} : {ty}"),
            Opcode::FEq => compare("oeq"),
            Opcode::FNe => compare("une"),
            Opcode::FLt => compare("olt"),
            Opcode::FLe => compare("ole"),
            Opcode::FGt => compare("ogt"),
            Opcode::FGe => compare("oge"),
            Opcode::And => format!("arith.andi {a}, {b} : {bools}"),
            Opcode::Or => format!("arith.ori {a}, {b} : {bools}"),
            Opcode::BEq => format!("arith.cmpi eq, {a}, {b} : {bools}"),
            Opcode::BNe => format!("arith.cmpi ne, {a}, {b} : {bools}"),
            _ if width == Width::Eight => return None,
            Opcode::IAdd => ints(&"addi"),
            Opcode::ISub => ints(&"subi"),
            Opcode::IMul => ints(&"muli"),
            Opcode::IAnd => ints(&"andi"),
            Opcode::IOr => ints(&"ori"),
            Opcode::IXor => ints(&"xori"),
            Opcode::IMin => ints(&"minsi"),
            Opcode::IMax => ints(&"maxsi"),
            Opcode::IEq => ints(&"cmpi eq,"),
            Opcode::INe => ints(&"cmpi ne,"),
            Opcode::ILt => ints(&"cmpi slt,"),
            Opcode::ILe => ints(&"cmpi sle,"),
            Opcode::IGt => ints(&"cmpi sgt,"),
            Opcode::IGe => ints(&"cmpi sge,"),
            Opcode::IShl => {
                let (zero, limit) = (self.int(0), self.int(64));
                let shifted = self.define(format_args!("arith.shli {a}, {b} : index"));
                let inside = self.define(format_args!("arith.cmpi ult, {b}, {limit} : index"));
                select(&inside, &shifted, &zero, Kind::I64, width)
            }
            Opcode::IShr => {
                let last = self.int(63);
                let amount = self.define(format_args!("arith.minui {b}, {last} : index"));
                format!("arith.shrsi {a}, {amount} : index")
            }
            Opcode::IDiv | Opcode::IRem => self.division(op, a, b, divisor),
            _ => return None,
        })
    }

    /// Quotient or remainder toward zero.
    fn division(&mut self, op: Opcode, a: &Operand, b: &Operand, divisor: Option<i64>) -> String {
        let name = if op == Opcode::IDiv { "divsi" } else { "remsi" };
        let zero = self.int(0);
        let by_minus_one = match op {
            Opcode::IDiv => format!("arith.subi {zero}, {a} : index"),
            _ => format!("arith.andi {a}, {zero} : index"),
        };
        match divisor {
            // The check before it has failed: this never runs.
            Some(0) => format!("arith.andi {a}, {zero} : index"),
            Some(-1) => by_minus_one,
            Some(_) => format!("arith.{name} {a}, {b} : index"),
            None => {
                let (one, minus_one) = (self.int(1), self.int(-1));
                let special = self.define(format_args!("arith.cmpi eq, {b}, {minus_one} : index"));
                let safe = self.define(select(&special, &one, b, Kind::I64, Width::One));
                let usual = self.define(format_args!("arith.{name} {a}, {safe} : index"));
                let other = self.define(by_minus_one);
                select(&special, &other, &usual, Kind::I64, Width::One)
            }
        }
    }
}

/// One of two values; the condition has the width of the values.
pub(crate) fn select(c: &Operand, a: &Operand, b: &Operand, kind: Kind, width: Width) -> String {
    let ty = kind_type(kind, width);
    match width {
        Width::One => format!("arith.select {c}, {a}, {b} : {ty}"),
        Width::Eight => format!("arith.select {c}, {a}, {b} : vector<8xi1>, {ty}"),
    }
}
