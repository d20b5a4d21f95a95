//! The rows.
//!
//! A row reads: constant, identifier, text, syntax, types, what it computes, what its derivative is
//! where there is none (kinks), evaluation, partials, lowering, whether it is cheap, and where tests
//! sample it.

use super::Formula::{Apply, Arg, Int, Num, Result as Res};
use super::Machine as M;
use super::Partial::{IfFalse, IfTrue, MinusOne, One, Times, Zero};
use super::Scalar::{Bool as B, F64 as F, I64 as I};
use super::{Domain, Formula, Lowering, Prim, Row, Syntax};
use crate::ir::Literal;
use jut_runtime::math;

fn f(x: Literal) -> f64 {
    match x {
        Literal::F64(x) => x,
        Literal::I64(x) => x as f64,
        Literal::Bool(x) => x as u8 as f64,
    }
}

fn i(x: Literal) -> i64 {
    match x {
        Literal::I64(x) => x,
        Literal::F64(x) => x as i64,
        Literal::Bool(x) => x as i64,
    }
}

fn b(x: Literal) -> bool {
    matches!(x, Literal::Bool(true))
}

/// Division of integers, total: the error for a zero divisor is raised before.
fn divide(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

/// Remainder of integers, total.
fn remainder(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

/// Root of 1 - x^2, as (1 - x)(1 + x) exact near the ends.
const COSINE_OF_ASIN: Formula =
    Apply(SQRT, &[Apply(MUL, &[Apply(SUB, &[Num(1.0), Arg(0)]), Apply(ADD, &[Num(1.0), Arg(0)])])]);

/// Distance of the point from the origin.
const RADIUS: Formula = Apply(HYPOT, &[Arg(0), Arg(1)]);

/// Whether the point is the origin.
const AT_ORIGIN: Formula = Apply(EQ, &[RADIUS, Num(0.0)]);

const ANY: Domain = Domain { low: -3.0, high: 3.0 };
const POS: Domain = Domain { low: 0.1, high: 4.0 };
const UNIT: Domain = Domain { low: -0.9, high: 0.9 };
const NUM: Domain = Domain { low: -5.0, high: 5.0 };
const BIT: Domain = Domain { low: 0.0, high: 1.0 };

/// One row per primitive; the constant is its name in Rust code.
macro_rules! table {
    ($($name:ident $id:literal $text:literal $syntax:ident ($($param:ident),*) -> $result:ident,
        $doc:literal, $kinks:literal, $eval:expr, [$($partial:expr),*], $lowering:expr, $cheap:literal, [$($domain:expr),*];)*) => {
        /// All rows, in the order of the constants.
        pub static TABLE: &[Row] = &[$(Row {
            id: $id,
            text: $text,
            syntax: Syntax::$syntax,
            params: &[$($param),*],
            result: $result,
            doc: $doc,
            kinks: $kinks,
            eval: $eval,
            partials: &[$($partial),*],
            lowering: $lowering,
            cheap: $cheap,
            domain: &[$($domain),*],
        }),*];

        #[allow(clippy::upper_case_acronyms)]
        enum Index { $($name),* }

        $(#[doc = $doc] pub const $name: Prim = Prim(Index::$name as u16);)*
    };
}

const fn machine(op: M) -> Lowering {
    Lowering::Machine(op)
}

const fn runtime(symbol: &'static str) -> Lowering {
    Lowering::Runtime(symbol)
}

table! {
    ADD "add_f64" "+" Infix (F, F) -> F, "Sum.", "",
        |a| Literal::F64(f(a[0]) + f(a[1])), [One, One], machine(M::FAdd), true, [ANY, ANY];
    SUB "sub_f64" "-" Infix (F, F) -> F, "Difference.", "",
        |a| Literal::F64(f(a[0]) - f(a[1])), [One, MinusOne], machine(M::FSub), true, [ANY, ANY];
    MUL "mul_f64" "*" Infix (F, F) -> F, "Product.", "",
        |a| Literal::F64(f(a[0]) * f(a[1])), [Times(Arg(1)), Times(Arg(0))], machine(M::FMul), true, [ANY, ANY];
    DIV "div_f64" "/" Infix (F, F) -> F, "Quotient.", "At y = 0 the derivatives are the IEEE quotients: infinities, or NaN for 0/0.",
        |a| Literal::F64(f(a[0]) / f(a[1])),
        [Times(Apply(DIV, &[Num(1.0), Arg(1)])), Times(Apply(NEG, &[Apply(DIV, &[Res, Arg(1)])]))], machine(M::FDiv), false, [ANY, POS];
    NEG "neg_f64" "-" Prefix (F) -> F, "Negation.", "",
        |a| Literal::F64(-f(a[0])), [MinusOne], machine(M::FNeg), true, [ANY];
    IADD "add_i64" "+" Infix (I, I) -> I, "Sum, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_add(i(a[1]))), [Zero, Zero], machine(M::IAdd), true, [NUM, NUM];
    ISUB "sub_i64" "-" Infix (I, I) -> I, "Difference, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_sub(i(a[1]))), [Zero, Zero], machine(M::ISub), true, [NUM, NUM];
    IMUL "mul_i64" "*" Infix (I, I) -> I, "Product, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_mul(i(a[1]))), [Zero, Zero], machine(M::IMul), true, [NUM, NUM];
    IDIV "div_i64" "/" Infix (I, I) -> I, "Quotient toward zero; zero divisors are the error R05, MIN / -1 wraps.", "",
        |a| Literal::I64(divide(i(a[0]), i(a[1]))), [Zero, Zero], machine(M::IDiv), false, [NUM, POS];
    IREM "rem_i64" "%" Infix (I, I) -> I, "Remainder with the sign of the dividend; zero divisors are the error R05, MIN % -1 is 0.", "",
        |a| Literal::I64(remainder(i(a[0]), i(a[1]))), [Zero, Zero], machine(M::IRem), false, [NUM, POS];
    INEG "neg_i64" "-" Prefix (I) -> I, "Negation, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_neg()), [Zero], machine(M::INeg), true, [NUM];
    MIN "min_f64" "min" Call (F, F) -> F, "IEEE 754-2019 minimum: NaN spreads, -0 is less than 0.", "At a tie each operand gets one half; if an operand is NaN, none gets anything.",
        |a| Literal::F64(math::minimum(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(LT, &[Arg(0), Arg(1)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])])),
         Times(Apply(SELECT, &[Apply(LT, &[Arg(1), Arg(0)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])]))], machine(M::FMin), true, [ANY, ANY];
    MAX "max_f64" "max" Call (F, F) -> F, "IEEE 754-2019 maximum: NaN spreads, 0 is greater than -0.", "At a tie each operand gets one half; if an operand is NaN, none gets anything.",
        |a| Literal::F64(math::maximum(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(GT, &[Arg(0), Arg(1)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])])),
         Times(Apply(SELECT, &[Apply(GT, &[Arg(1), Arg(0)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])]))], machine(M::FMax), true, [ANY, ANY];
    IMIN "min_i64" "min" Call (I, I) -> I, "Minimum.", "",
        |a| Literal::I64(i(a[0]).min(i(a[1]))), [Zero, Zero], machine(M::IMin), true, [NUM, NUM];
    IMAX "max_i64" "max" Call (I, I) -> I, "Maximum.", "",
        |a| Literal::I64(i(a[0]).max(i(a[1]))), [Zero, Zero], machine(M::IMax), true, [NUM, NUM];
    ABS "abs_f64" "abs" Call (F) -> F, "Absolute value.", "0 at 0.",
        |a| Literal::F64(f(a[0]).abs()), [Times(Apply(SIGN, &[Arg(0)]))], machine(M::FAbs), true, [ANY];
    IABS "abs_i64" "abs" Call (I) -> I, "Absolute value, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_abs()), [Zero], machine(M::IAbs), true, [NUM];
    SIGN "sign_f64" "sign" Call (F) -> F, "-1, 0 or 1; 0 at 0 and -0, NaN at NaN.", "0 everywhere, also at the jump.",
        |a| Literal::F64(math::sign(f(a[0]))), [Zero], runtime("jut_sign"), true, [ANY];
    SQRT "sqrt_f64" "sqrt" Call (F) -> F, "Square root; NaN below 0.", "Infinite at 0, NaN below.",
        |a| Literal::F64(f(a[0]).sqrt()), [Times(Apply(DIV, &[Num(0.5), Res]))], machine(M::FSqrt), false, [POS];
    EXP "exp_f64" "exp" Call (F) -> F, "Exponential.", "",
        |a| Literal::F64(math::exp(f(a[0]))), [Times(Res)], runtime("jut_exp"), false, [ANY];
    EXPM1 "expm1_f64" "expm1" Call (F) -> F, "exp(x) - 1, exact near 0.", "",
        |a| Literal::F64(math::expm1(f(a[0]))), [Times(Apply(ADD, &[Res, Num(1.0)]))], runtime("jut_expm1"), false, [ANY];
    LOG "log_f64" "log" Call (F) -> F, "Natural logarithm; -inf at 0, NaN below.", "1/x also where the logarithm is not finite: infinite at 0.",
        |a| Literal::F64(math::log(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Arg(0)]))], runtime("jut_log"), false, [POS];
    LOG1P "log1p_f64" "log1p" Call (F) -> F, "log(1 + x), exact near 0.", "Infinite at -1.",
        |a| Literal::F64(math::log1p(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(ADD, &[Num(1.0), Arg(0)])]))], runtime("jut_log1p"), false, [UNIT];
    SIN "sin_f64" "sin" Call (F) -> F, "Sine (radians).", "",
        |a| Literal::F64(math::sin(f(a[0]))), [Times(Apply(COS, &[Arg(0)]))], runtime("jut_sin"), false, [ANY];
    COS "cos_f64" "cos" Call (F) -> F, "Cosine (radians).", "",
        |a| Literal::F64(math::cos(f(a[0]))), [Times(Apply(NEG, &[Apply(SIN, &[Arg(0)])]))], runtime("jut_cos"), false, [ANY];
    TAN "tan_f64" "tan" Call (F) -> F, "Tangent (radians).", "Follows the value: at a pole both are large.",
        |a| Literal::F64(math::tan(f(a[0]))), [Times(Apply(ADD, &[Num(1.0), Apply(MUL, &[Res, Res])]))], runtime("jut_tan"), false, [UNIT];
    TANH "tanh_f64" "tanh" Call (F) -> F, "Hyperbolic tangent.", "",
        |a| Literal::F64(math::tanh(f(a[0]))), [Times(Apply(SUB, &[Num(1.0), Apply(MUL, &[Res, Res])]))], runtime("jut_tanh"), false, [ANY];
    ASIN "asin_f64" "asin" Call (F) -> F, "Angle in -pi/2 .. pi/2 with the given sine; NaN outside -1 .. 1.", "Infinite at -1 and 1, NaN outside.",
        |a| Literal::F64(math::asin(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), COSINE_OF_ASIN]))], runtime("jut_asin"), false, [UNIT];
    ACOS "acos_f64" "acos" Call (F) -> F, "Angle in 0 .. pi with the given cosine; NaN outside -1 .. 1.", "Infinite at -1 and 1, NaN outside.",
        |a| Literal::F64(math::acos(f(a[0]))), [Times(Apply(DIV, &[Num(-1.0), COSINE_OF_ASIN]))], runtime("jut_acos"), false, [UNIT];
    ATAN "atan_f64" "atan" Call (F) -> F, "Angle in -pi/2 .. pi/2 with the given tangent.", "",
        |a| Literal::F64(math::atan(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(ADD, &[Num(1.0), Apply(MUL, &[Arg(0), Arg(0)])])]))], runtime("jut_atan"), false, [ANY];
    ATAN2 "atan2_f64" "atan2" Call (F, F) -> F, "Angle of the point with abscissa y and ordinate x, in radians; 0, -0, pi or -pi at the origin, as IEEE 754 says.", "0 at the origin.",
        |a| Literal::F64(math::atan2(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[AT_ORIGIN, Num(0.0), Apply(DIV, &[Apply(DIV, &[Arg(1), RADIUS]), RADIUS])])),
         Times(Apply(SELECT, &[AT_ORIGIN, Num(0.0), Apply(DIV, &[Apply(DIV, &[Apply(NEG, &[Arg(0)]), RADIUS]), RADIUS])]))], runtime("jut_atan2"), false, [ANY, POS];
    HYPOT "hypot_f64" "hypot" Call (F, F) -> F, "Square root of x^2 + y^2, without overflow on the way.", "0 at the origin.",
        |a| Literal::F64(math::hypot(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(EQ, &[Res, Num(0.0)]), Num(0.0), Apply(DIV, &[Arg(0), Res])])),
         Times(Apply(SELECT, &[Apply(EQ, &[Res, Num(0.0)]), Num(0.0), Apply(DIV, &[Arg(1), Res])]))], runtime("jut_hypot"), false, [ANY, POS];
    SINH "sinh_f64" "sinh" Call (F) -> F, "Hyperbolic sine.", "",
        |a| Literal::F64(math::sinh(f(a[0]))), [Times(Apply(COSH, &[Arg(0)]))], runtime("jut_sinh"), false, [ANY];
    COSH "cosh_f64" "cosh" Call (F) -> F, "Hyperbolic cosine.", "",
        |a| Literal::F64(math::cosh(f(a[0]))), [Times(Apply(SINH, &[Arg(0)]))], runtime("jut_cosh"), false, [ANY];
    RELU "relu_f64" "relu" Call (F) -> F, "x where it is positive, else 0; NaN at NaN.", "0 at 0.",
        |a| Literal::F64(math::relu(f(a[0]))), [Times(Apply(SELECT, &[Apply(GT, &[Arg(0), Num(0.0)]), Num(1.0), Num(0.0)]))], machine(M::FRelu), true, [ANY];
    POW "pow_f64" "pow" Call (F, F) -> F, "x to the power y, both floats; 1 where y = 0; NaN for x < 0 unless y is an integer.", "With respect to x: 0 where y = 0, also at x = 0. With respect to y: 0 where x = 0, NaN where x < 0.",
        |a| Literal::F64(math::pow(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(EQ, &[Arg(1), Num(0.0)]), Num(0.0), Apply(MUL, &[Arg(1), Apply(POW, &[Arg(0), Apply(SUB, &[Arg(1), Num(1.0)])])])])),
         Times(Apply(SELECT, &[Apply(EQ, &[Arg(0), Num(0.0)]), Num(0.0), Apply(MUL, &[Res, Apply(LOG, &[Arg(0)])])]))], runtime("jut_pow"), false, [POS, ANY];
    POWI "powi_f64" "powi" Call (F, I) -> F, "x to an integer power, by repeated squaring in a fixed order; a negative power is the reciprocal of the positive one; 1 where n = 0.", "0 where n = 0, also at x = 0.",
        |a| Literal::F64(math::powi(f(a[0]), i(a[1]))),
        [Times(Apply(SELECT, &[Apply(IEQ, &[Arg(1), Int(0)]), Num(0.0), Apply(MUL, &[Apply(FLOAT, &[Arg(1)]), Apply(POWI, &[Arg(0), Apply(IMIN, &[Arg(1), Apply(ISUB, &[Arg(1), Int(1)])])])])])), Zero], runtime("jut_powi"), false, [POS, NUM];
    SELECT "select_f64" "select" Call (B, F, F) -> F, "The second operand if the first is true, else the third; both are computed.", "The operand that is not selected gets exactly 0.",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, IfTrue, IfFalse], machine(M::Select), true, [BIT, ANY, ANY];
    ISELECT "select_i64" "select" Call (B, I, I) -> I, "The second operand if the first is true, else the third.", "",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, Zero, Zero], machine(M::Select), true, [BIT, NUM, NUM];
    BSELECT "select_bool" "select" Call (B, B, B) -> B, "The second operand if the first is true, else the third.", "",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, Zero, Zero], machine(M::Select), true, [BIT, BIT, BIT];
    STOP "stop_f64" "stop" Call (F) -> F, "The value itself.", "0 by definition.",
        |a| a[0], [Zero], machine(M::Copy), true, [ANY];
    FLOAT "f64_i64" "f64" Call (I) -> F, "Integer to float, nearest.", "",
        |a| Literal::F64(i(a[0]) as f64), [Zero], machine(M::IToF), true, [NUM];
    FLOATB "f64_bool" "f64" Call (B) -> F, "0.0 or 1.0.", "",
        |a| Literal::F64(if b(a[0]) { 1.0 } else { 0.0 }), [Zero], machine(M::BToF), true, [BIT];
    INT "i64_f64" "i64" Call (F) -> I, "Float to integer toward zero; saturates, NaN gives 0.", "No derivative: integers have no tangent.",
        |a| Literal::I64(f(a[0]) as i64), [Zero], machine(M::FToI), true, [NUM];
    INTB "i64_bool" "i64" Call (B) -> I, "0 or 1.", "",
        |a| Literal::I64(b(a[0]) as i64), [Zero], machine(M::BToI), true, [BIT];
    FLOOR "floor_f64" "floor" Call (F) -> F, "Largest integer not above.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).floor()), [Zero], machine(M::FFloor), true, [ANY];
    CEIL "ceil_f64" "ceil" Call (F) -> F, "Smallest integer not below.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).ceil()), [Zero], machine(M::FCeil), true, [ANY];
    TRUNC "trunc_f64" "trunc" Call (F) -> F, "Nearest integer toward zero.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).trunc()), [Zero], machine(M::FTrunc), true, [ANY];
    ROUND "round_f64" "round" Call (F) -> F, "Nearest integer, halves away from zero.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(math::round(f(a[0]))), [Zero], runtime("jut_round"), true, [ANY];
    INF "inf" "inf" Call () -> F, "Positive infinity.", "",
        |_| Literal::F64(f64::INFINITY), [], runtime("jut_inf"), true, [];
    NAN "nan" "nan" Call () -> F, "A quiet NaN.", "",
        |_| Literal::F64(f64::NAN), [], runtime("jut_nan"), true, [];
    EQ "eq_f64" "==" Infix (F, F) -> B, "Equal; false for NaN.", "",
        |a| Literal::Bool(f(a[0]) == f(a[1])), [Zero, Zero], machine(M::FEq), true, [ANY, ANY];
    NE "ne_f64" "!=" Infix (F, F) -> B, "Not equal; true for NaN.", "",
        |a| Literal::Bool(f(a[0]) != f(a[1])), [Zero, Zero], machine(M::FNe), true, [ANY, ANY];
    LT "lt_f64" "<" Infix (F, F) -> B, "Less.", "",
        |a| Literal::Bool(f(a[0]) < f(a[1])), [Zero, Zero], machine(M::FLt), true, [ANY, ANY];
    LE "le_f64" "<=" Infix (F, F) -> B, "Less or equal.", "",
        |a| Literal::Bool(f(a[0]) <= f(a[1])), [Zero, Zero], machine(M::FLe), true, [ANY, ANY];
    GT "gt_f64" ">" Infix (F, F) -> B, "Greater.", "",
        |a| Literal::Bool(f(a[0]) > f(a[1])), [Zero, Zero], machine(M::FGt), true, [ANY, ANY];
    GE "ge_f64" ">=" Infix (F, F) -> B, "Greater or equal.", "",
        |a| Literal::Bool(f(a[0]) >= f(a[1])), [Zero, Zero], machine(M::FGe), true, [ANY, ANY];
    IEQ "eq_i64" "==" Infix (I, I) -> B, "Equal.", "",
        |a| Literal::Bool(i(a[0]) == i(a[1])), [Zero, Zero], machine(M::IEq), true, [NUM, NUM];
    INE "ne_i64" "!=" Infix (I, I) -> B, "Not equal.", "",
        |a| Literal::Bool(i(a[0]) != i(a[1])), [Zero, Zero], machine(M::INe), true, [NUM, NUM];
    ILT "lt_i64" "<" Infix (I, I) -> B, "Less.", "",
        |a| Literal::Bool(i(a[0]) < i(a[1])), [Zero, Zero], machine(M::ILt), true, [NUM, NUM];
    ILE "le_i64" "<=" Infix (I, I) -> B, "Less or equal.", "",
        |a| Literal::Bool(i(a[0]) <= i(a[1])), [Zero, Zero], machine(M::ILe), true, [NUM, NUM];
    IGT "gt_i64" ">" Infix (I, I) -> B, "Greater.", "",
        |a| Literal::Bool(i(a[0]) > i(a[1])), [Zero, Zero], machine(M::IGt), true, [NUM, NUM];
    IGE "ge_i64" ">=" Infix (I, I) -> B, "Greater or equal.", "",
        |a| Literal::Bool(i(a[0]) >= i(a[1])), [Zero, Zero], machine(M::IGe), true, [NUM, NUM];
    BEQ "eq_bool" "==" Infix (B, B) -> B, "Equal.", "",
        |a| Literal::Bool(b(a[0]) == b(a[1])), [Zero, Zero], machine(M::BEq), true, [BIT, BIT];
    BNE "ne_bool" "!=" Infix (B, B) -> B, "Not equal.", "",
        |a| Literal::Bool(b(a[0]) != b(a[1])), [Zero, Zero], machine(M::BNe), true, [BIT, BIT];
    AND "and" "&&" Infix (B, B) -> B, "Both; both are computed.", "",
        |a| Literal::Bool(b(a[0]) && b(a[1])), [Zero, Zero], machine(M::And), true, [BIT, BIT];
    OR "or" "||" Infix (B, B) -> B, "Either; both are computed.", "",
        |a| Literal::Bool(b(a[0]) || b(a[1])), [Zero, Zero], machine(M::Or), true, [BIT, BIT];
    NOT "not" "!" Prefix (B) -> B, "Not.", "",
        |a| Literal::Bool(!b(a[0])), [Zero], machine(M::Not), true, [BIT];
}
