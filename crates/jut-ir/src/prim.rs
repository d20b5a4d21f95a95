//! The table of non-linear primitives: one row each.
//!
//! A row says everything about a primitive: how it is written, its types, how it is evaluated, its
//! partial derivatives as formulas over existing primitives, what the machine does for it, and where
//! tests may sample it. J is derived from the row; the interpreter and every backend read the row;
//! the documentation's tables are printed from it. Adding a primitive is adding one row.
//!
//! **Closure under differentiation**: partials use only primitives of this table, so derivatives of
//! any order exist.

use crate::scalar::{Literal, Scalar};
use crate::types::Type;

mod document;
pub mod kinks;
mod rows;
pub use document::{formula_text, partial_text, table_markdown};
pub use rows::*;

/// A primitive: an index into [`TABLE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prim(pub(crate) u16);

impl std::fmt::Debug for Prim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().id)
    }
}

/// How a primitive is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `name(a, b)`.
    Call,
    /// `a + b`.
    Infix,
    /// `-a`, `!a`.
    Prefix,
}

/// What a primitive is lowered to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lowering {
    /// An operation that every machine has.
    Opcode(Opcode),
    /// A function of the runtime, by symbol; float arguments and result (i64 where the row says so).
    Runtime(&'static str),
}

/// Machine operations, each with one meaning on every backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are the documentation: IEEE binary64, two's complement, bool
pub enum Opcode {
    FAdd,
    FSub,
    FMul,
    /// Product; 0.0 where that is NaN and an operand is zero.
    FTimes,
    FDiv,
    FNeg,
    FAbs,
    FSqrt,
    /// IEEE 754-2019 minimum: NaN spreads, -0 < +0.
    FMin,
    /// IEEE 754-2019 maximum.
    FMax,
    FFloor,
    FCeil,
    FTrunc,
    /// Nearest integer, halves away from zero.
    FRound,
    /// -1, 0 or 1; NaN at NaN.
    FSign,
    /// Positive infinity.
    FInf,
    /// A quiet NaN.
    FNan,
    /// Maximum with +0.
    FRelu,
    FEq,
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
    /// Wrapping.
    IAdd,
    ISub,
    IMul,
    /// Truncating; the divisor is known not to be zero; MIN / -1 wraps.
    IDiv,
    /// Sign of the dividend; the divisor is known not to be zero; MIN % -1 is 0.
    IRem,
    INeg,
    IAbs,
    IMin,
    IMax,
    ISign,
    IAnd,
    IOr,
    IXor,
    INot,
    /// Left shift; 0 if the amount is not in 0 .. 63.
    IShl,
    /// Arithmetic right shift; the sign if the amount is not in 0 .. 63.
    IShr,
    IEq,
    INe,
    ILt,
    ILe,
    IGt,
    IGe,
    And,
    Or,
    Not,
    BEq,
    BNe,
    /// `select(b, x, y)` on any one scalar type.
    Select,
    /// i64 to f64, nearest.
    IToF,
    /// f64 to i64: toward zero, saturating, NaN gives 0.
    FToI,
    /// bool to i64: 0 or 1.
    BToI,
    /// bool to f64: 0.0 or 1.0.
    BToF,
    /// f64 to f32, nearest.
    FToS,
    /// f32 to f64.
    SToF,
    /// i64 to i32: the last 32 bits.
    Narrow,
    /// i32 to i64.
    Widen,
    /// The value itself.
    Copy,
}

/// A partial derivative, for one operand.
#[derive(Clone, Copy, Debug)]
pub enum Partial {
    /// No derivative with respect to this operand (an integer, or a cut like `stop`).
    Zero,
    /// The tangent goes through unchanged.
    One,
    /// The tangent goes through this linear operation, which converts it as the primitive converts the value.
    Convert(crate::Structured),
    /// The tangent is negated.
    MinusOne,
    /// The tangent is multiplied by a formula.
    Times(Formula),
    /// The tangent is kept if the first operand is true (`select`'s second operand).
    IfTrue,
    /// The tangent is kept if the first operand is false (`select`'s third operand).
    IfFalse,
}

/// A formula over the operands and the result of a primitive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Formula {
    /// The k-th operand.
    Arg(usize),
    /// The primitive's result.
    Result,
    /// A float literal.
    Num(f64),
    /// An integer literal.
    Int(i64),
    /// A primitive applied to formulas.
    Apply(Prim, &'static [Formula]),
}

/// Where tests may sample an operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Domain {
    /// Smallest sample.
    pub low: f64,
    /// Largest sample.
    pub high: f64,
}

/// How exact a primitive and its partials are, in units in the last place (ulp) between what is
/// computed and the exact value rounded to the nearest float: 0 says correctly rounded.
///
/// Tested against an arbitrary-precision library, see `crates/jut-ir/tests/reference`. Partials that
/// are nearly too small for a float may be off by the smallest normal number besides.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Of the value.
    pub value: u32,
    /// Whose last place is meant, where it is not the value's own (where terms cancel).
    pub value_of: Option<Formula>,
    /// Of the partial derivatives.
    pub partials: u32,
    /// Whose last place is meant, for each operand; empty if each partial's own.
    pub partials_of: &'static [Formula],
}

impl Accuracy {
    /// With so many units in the last place of value and partials.
    const fn within(value: u32, partials: u32) -> Accuracy {
        Accuracy { value, value_of: None, partials, partials_of: &[] }
    }

    /// The value's are those of a formula.
    const fn of(self, scale: Formula) -> Accuracy {
        Accuracy { value_of: Some(scale), ..self }
    }

    /// The partials' are those of formulas.
    const fn partials_of(self, scales: &'static [Formula]) -> Accuracy {
        Accuracy { partials_of: scales, ..self }
    }
}

/// Everything about one primitive.
#[derive(Debug)]
pub struct Row {
    /// Unique identifier, such as `add_f64`.
    pub id: &'static str,
    /// How it is written: `+`, `sin`. Several rows may share it with different operand types.
    pub text: &'static str,
    /// Call, infix or prefix.
    pub syntax: Syntax,
    /// Operand types.
    pub params: &'static [Scalar],
    /// Result type.
    pub result: Scalar,
    /// What it computes, for the documentation.
    pub doc: &'static str,
    /// What the partials are where the function has no derivative, or none that is finite; empty
    /// if it is smooth wherever it is defined.
    pub kinks: &'static str,
    /// Evaluation. Total on operands of the row's types; engines raise R05 for a zero divisor before.
    pub eval: fn(&[Literal]) -> Literal,
    /// One per operand.
    pub partials: &'static [Partial],
    /// How exact value and partials are.
    pub accuracy: Accuracy,
    /// What the machine does.
    pub lowering: Lowering,
    /// Whether U's tape policy may recompute it instead of storing its result
    /// (arithmetic, comparisons, conversions).
    pub cheap: bool,
    /// Where tests may sample each operand.
    pub domain: &'static [Domain],
}

impl Formula {
    /// Its value, given the operands and the result of the primitive it belongs to.
    pub fn evaluate(&self, args: &[Literal], result: Literal) -> Literal {
        match self {
            Formula::Arg(k) => args[*k],
            Formula::Result => result,
            Formula::Num(x) => Literal::F64(*x),
            Formula::Int(n) => Literal::I64(*n),
            Formula::Apply(prim, operands) => {
                let operands: Vec<Literal> =
                    operands.iter().map(|f| f.evaluate(args, result)).collect();
                (prim.row().eval)(&operands)
            }
        }
    }
}

impl Row {
    /// The partial derivative with respect to operand k at a point.
    pub fn partial(&self, k: usize, args: &[Literal]) -> f64 {
        let chosen = |first: bool| f64::from(u8::from((args[0] == Literal::Bool(true)) == first));
        match &self.partials[k] {
            Partial::Zero => 0.0,
            Partial::One | Partial::Convert(_) => 1.0,
            Partial::MinusOne => -1.0,
            Partial::IfTrue => chosen(true),
            Partial::IfFalse => chosen(false),
            Partial::Times(formula) => match formula.evaluate(args, (self.eval)(args)) {
                Literal::F64(c) => c,
                // No formula of the table has another type.
                _ => f64::NAN,
            },
        }
    }
}

impl Prim {
    /// The row.
    pub fn row(self) -> &'static Row {
        &TABLE[self.0 as usize]
    }

    /// All primitives.
    pub fn all() -> impl Iterator<Item = Prim> {
        (0..TABLE.len() as u16).map(Prim)
    }

    /// The primitive written `text` with operands of the given types.
    pub fn resolve(text: &str, syntax: Syntax, params: &[Type]) -> Option<Prim> {
        Prim::all().find(|p| {
            let row = p.row();
            row.text == text
                && row.syntax == syntax
                && row.params.len() == params.len()
                && row.params.iter().zip(params).all(|(s, t)| s.ty() == *t)
        })
    }

    /// All primitives written `text` (to say which operand types there are).
    pub fn overloads(text: &str, syntax: Syntax) -> Vec<Prim> {
        Prim::all().filter(|p| p.row().text == text && p.row().syntax == syntax).collect()
    }

    /// Whether the result has a tangent with respect to some operand.
    pub fn is_differentiable(self) -> bool {
        self.row().partials.iter().any(|p| !matches!(p, Partial::Zero))
    }

    /// Whether it can fail at run time (integer division).
    pub fn can_fail(self) -> bool {
        matches!(
            self.row().lowering,
            Lowering::Opcode(Opcode::IDiv) | Lowering::Opcode(Opcode::IRem)
        )
    }

    /// Whether it can fail with this last operand, if that is written down: a division by a number that is not zero cannot.
    pub fn can_fail_by(self, last: Option<i64>) -> bool {
        self.can_fail() && matches!(last, None | Some(0))
    }
}
