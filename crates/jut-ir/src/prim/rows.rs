//! The rows.
//!
//! A row reads: constant, name, text, syntax, types, what it computes, its partial derivatives as formulas
//! over primitives, its lowering, and where it is tested. Where there is no derivative, [`super::kinks`] says
//! what is taken for it.

use super::Formula::{Apply, Arg, Int, Num, Result as Res};
use super::Opcode as M;
use super::Partial::{Convert, IfFalse, IfTrue, MinusOne, One, Times, Zero};
use super::{Accuracy, Domain, Formula, Lowering, Prim, Row, Syntax};
use crate::Scalar::{self, Bool as B, I64 as I};
use crate::ir::Literal;
use crate::structured;
use jut_runtime::math;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

const F: Scalar = Scalar::F64;
const S: Scalar = Scalar::F32;
const N: Scalar = Scalar::I32;

/// sqrt(pi) / 2.
const HALF_ROOT_OF_PI: f64 = 0.886226925452758;

fn f(x: Literal) -> f64 {
    match x {
        Literal::F64(x) => x,
        Literal::F32(x) => f64::from(x),
        Literal::I64(x) => x as f64,
        Literal::I32(x) => f64::from(x),
        Literal::Bool(x) => x as u8 as f64,
    }
}

fn i(x: Literal) -> i64 {
    match x {
        Literal::I64(x) => x,
        Literal::I32(x) => i64::from(x),
        Literal::F64(x) => x as i64,
        Literal::F32(x) => x as i64,
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

/// 1 - x^2, as (1 - x)(1 + x) exact near the ends; near 0 as it stands, so that its own derivative is
/// -2x there and not the difference of two numbers near 1.
const ONE_LESS_SQUARE: Formula = Apply(
    SELECT,
    &[
        Apply(LT, &[Apply(ABS, &[Arg(0)]), Num(0.5)]),
        Apply(SUB, &[Num(1.0), SQUARE]),
        Apply(MUL, &[Apply(SUB, &[Num(1.0), Arg(0)]), Apply(ADD, &[Num(1.0), Arg(0)])]),
    ],
);

/// Its root.
const COSINE_OF_ASIN: Formula = Apply(SQRT, &[ONE_LESS_SQUARE]);

/// The derivative of tanh, 1 - r^2, without the subtraction.
const TANH_SLOPE: Formula =
    Apply(MUL, &[Num(4.0), Apply(SIGMOID_SLOPE, &[Apply(MUL, &[Num(2.0), Arg(0)])])]);

/// The derivative of the sigmoid function's: it changes its sign with x.
const SIGMOID_BEND: Formula =
    Apply(NEG, &[Apply(MUL, &[Res, Apply(TANH, &[Apply(MUL, &[Num(0.5), Arg(0)])])])]);

/// Distance of the point from the origin.
const RADIUS: Formula = Apply(HYPOT, &[Arg(0), Arg(1)]);

/// Whether the point is the origin.
const AT_ORIGIN: Formula = Apply(EQ, &[RADIUS, Num(0.0)]);

/// The derivatives of hypot.
const COSINE: Formula =
    Apply(SELECT, &[Apply(EQ, &[Res, Num(0.0)]), Num(0.0), Apply(DIV, &[Arg(0), Res])]);
const SINE: Formula =
    Apply(SELECT, &[Apply(EQ, &[Res, Num(0.0)]), Num(0.0), Apply(DIV, &[Arg(1), Res])]);

/// The derivative of a remainder r of x / y with respect to y: the whole number (r - x) / y, which the division rounds.
const WHOLE_QUOTIENT: Formula = Apply(ROUND, &[Apply(DIV, &[Apply(SUB, &[Res, Arg(0)]), Arg(1)])]);

/// Whose last place bounds them: a distance below the normal numbers has fewer digits.
const FEWER: Formula = Apply(MAX, &[Num(1.0), Apply(DIV, &[Num(f64::MIN_POSITIVE), Res])]);
const HYPOT_TERMS: &[Formula] = &[Apply(MUL, &[COSINE, FEWER]), Apply(MUL, &[SINE, FEWER])];

/// The bound of what is computed without an error, or with the one rounding that IEEE 754 asks for.
const EXACT: Accuracy = Accuracy::within(0, 0);

/// The bound of a function of the runtime.
const fn within(value: u32, partials: u32) -> Accuracy {
    Accuracy::within(value, partials)
}

/// Whose last place bounds digamma: for negative arguments it is the difference of a logarithm and a
/// cotangent.
const DIGAMMA_TERMS: Formula = Apply(
    MAX,
    &[
        Apply(ABS, &[Apply(DIGAMMA, &[Arg(0)])]),
        Apply(LOG, &[Apply(MAX, &[Num(1.0), Apply(SUB, &[Num(2.0), Arg(0)])])]),
    ],
);

/// The derivative of polygamma.
const NEXT_POLYGAMMA: Formula = Apply(POLYGAMMA, &[Apply(IADD, &[Arg(0), Int(1)]), Arg(1)]);

/// The derivative of that.
const POLYGAMMA_AFTER: Formula = Apply(POLYGAMMA, &[Apply(IADD, &[Arg(0), Int(2)]), Arg(1)]);

/// Whose last place bounds polygamma: for negative arguments it may be the difference of two sums,
/// which the next order exceeds.
const POLYGAMMA_TERMS: Formula =
    Apply(SELECT, &[Apply(LT, &[Arg(1), Num(0.0)]), NEXT_POLYGAMMA, Res]);

/// The same of its derivative.
const NEXT_POLYGAMMA_TERMS: Formula =
    Apply(SELECT, &[Apply(LT, &[Arg(1), Num(0.0)]), POLYGAMMA_AFTER, NEXT_POLYGAMMA]);

/// digamma(x + y + 1).
const DIGAMMA_OF_SUM: Formula =
    Apply(DIGAMMA, &[Apply(ADD, &[Apply(ADD, &[Arg(0), Arg(1)]), Num(1.0)])]);

/// The derivatives of beta, r (digamma(x) - digamma(x + y)) and the like: with both arguments one
/// step up, where small ones do not cancel.
const BETA_BY_X: Formula = Apply(
    MUL,
    &[
        Res,
        Apply(
            SUB,
            &[
                Apply(SUB, &[Apply(DIGAMMA, &[Apply(ADD, &[Arg(0), Num(1.0)])]), DIGAMMA_OF_SUM]),
                Apply(DIV, &[Apply(DIV, &[Arg(1), Arg(0)]), Apply(ADD, &[Arg(0), Arg(1)])]),
            ],
        ),
    ],
);
const BETA_BY_Y: Formula = Apply(
    MUL,
    &[
        Res,
        Apply(
            SUB,
            &[
                Apply(SUB, &[Apply(DIGAMMA, &[Apply(ADD, &[Arg(1), Num(1.0)])]), DIGAMMA_OF_SUM]),
                Apply(DIV, &[Apply(DIV, &[Arg(0), Arg(1)]), Apply(ADD, &[Arg(0), Arg(1)])]),
            ],
        ),
    ],
);

/// Whose last place bounds them: the size of the digammas before the subtraction.
const BETA_TERM: Formula =
    Apply(MUL, &[Res, Apply(MAX, &[Num(1.0), Apply(LOG, &[Apply(ADD, &[Arg(0), Arg(1)])])])]);

/// The square of the first operand.
const SQUARE: Formula = Apply(MUL, &[Arg(0), Arg(0)]);

/// The derivative of erf.
const BELL: Formula = Apply(MUL, &[Num(FRAC_2_SQRT_PI), Apply(GAUSSIAN, &[Arg(0)])]);

/// The derivative of erfinv, and whose last place bounds it.
const ERFINV_SLOPE: Formula =
    Apply(MUL, &[Num(HALF_ROOT_OF_PI), Apply(EXP, &[Apply(MUL, &[Res, Res])])]);
const ERFINV_TERMS: &[Formula] =
    &[Apply(MUL, &[ERFINV_SLOPE, Apply(MAX, &[Num(1.0), Apply(MUL, &[Res, Res])])])];

/// The derivatives of logaddexp.
const SHARE_OF_X: Formula = Apply(SIGMOID, &[Apply(SUB, &[Arg(0), Arg(1)])]);
const SHARE_OF_Y: Formula = Apply(SIGMOID, &[Apply(SUB, &[Arg(1), Arg(0)])]);

/// Whose last place bounds them: the exponential makes more of the difference's rounding.
const SHARE_TERMS: &[Formula] = &[
    Apply(
        MUL,
        &[SHARE_OF_X, Apply(MAX, &[Num(1.0), Apply(ABS, &[Apply(SUB, &[Arg(0), Arg(1)])])])],
    ),
    Apply(
        MUL,
        &[SHARE_OF_Y, Apply(MAX, &[Num(1.0), Apply(ABS, &[Apply(SUB, &[Arg(0), Arg(1)])])])],
    ),
];

/// y x^(y - 1). Where y = 0 it is y times a power, so that its own derivative with respect to y is right.
const POW_STEP: Formula =
    Apply(MUL, &[Arg(1), Apply(POW, &[Arg(0), Apply(SUB, &[Arg(1), Num(1.0)])])]);

/// Whether x is so small that x^(y - 1) may overflow where the derivative does not.
const POW_OF_LITTLE: Formula = Apply(
    AND,
    &[
        Apply(
            AND,
            &[
                Apply(LT, &[Arg(1), Num(1.0)]),
                Apply(LT, &[Apply(ABS, &[Arg(0)]), Num(f64::MIN_POSITIVE)]),
            ],
        ),
        Apply(NE, &[Res, Num(0.0)]),
    ],
);

/// The derivatives of pow. The first is y r / x where the power of the step may overflow.
const POW_BY_X: Formula = Apply(
    SELECT,
    &[
        POW_OF_LITTLE,
        Apply(
            SELECT,
            &[
                Apply(EQ, &[Arg(1), Num(0.0)]),
                Num(0.0),
                Apply(DIV, &[Apply(MUL, &[Arg(1), Res]), Arg(0)]),
            ],
        ),
        POW_STEP,
    ],
);
const POW_BY_Y: Formula = Apply(
    SELECT,
    &[Apply(EQ, &[Arg(0), Num(0.0)]), Num(0.0), Apply(MUL, &[Res, Apply(LOG, &[Arg(0)])])],
);

/// Whose last place bounds them: the power makes more of the rounding of y - 1.
const POW_TERMS: &[Formula] = &[
    Apply(
        MUL,
        &[
            POW_BY_X,
            Apply(
                MAX,
                &[
                    Num(1.0),
                    Apply(
                        MUL,
                        &[
                            Apply(ADD, &[Num(1.0), Apply(ABS, &[Arg(1)])]),
                            Apply(ABS, &[Apply(LOG, &[Arg(0)])]),
                        ],
                    ),
                ],
            ),
        ],
    ),
    POW_BY_Y,
];

/// The derivative of powi.
const POWI_BY_X: Formula = Apply(
    SELECT,
    &[
        Apply(IEQ, &[Arg(1), Int(0)]),
        Num(0.0),
        Apply(
            MUL,
            &[
                Apply(FLOAT, &[Arg(1)]),
                Apply(POWI, &[Arg(0), Apply(IMIN, &[Arg(1), Apply(ISUB, &[Arg(1), Int(1)])])]),
            ],
        ),
    ],
);

/// Number of factors of powi, at least 1; whose last places bound powi and its derivative.
const FACTORS: Formula = Apply(MAX, &[Num(1.0), Apply(FLOAT, &[Apply(IABS, &[Arg(1)])])]);
const POWI_TERMS: Formula = Apply(MUL, &[Res, FACTORS]);
const POWI_BY_X_TERMS: &[Formula] = &[Apply(MUL, &[POWI_BY_X, FACTORS])];

const ANY: Domain = Domain { low: -3.0, high: 3.0 };
const POS: Domain = Domain { low: 0.1, high: 4.0 };
const UNIT: Domain = Domain { low: -0.9, high: 0.9 };
const NUM: Domain = Domain { low: -5.0, high: 5.0 };
const UP: Domain = Domain { low: 0.5, high: 4.0 };
const FAR: Domain = Domain { low: 1.2, high: 5.0 };
const ORDER: Domain = Domain { low: 0.0, high: 4.0 };
const BIT: Domain = Domain { low: 0.0, high: 1.0 };

/// One row per primitive; the constant is its name in Rust code.
macro_rules! table {
    ($($name:ident $id:literal $text:literal $syntax:ident ($($param:ident),*) -> $result:ident,
        $doc:literal, $kinks:literal, $eval:expr, [$($partial:expr),*], $accuracy:expr, $lowering:expr, $cheap:literal, [$($domain:expr),*];)*) => {
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
            accuracy: $accuracy,
            lowering: $lowering,
            cheap: $cheap,
            domain: &[$($domain),*],
        }),*];

        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        enum Index { $($name),* }

        $(#[doc = $doc] pub const $name: Prim = Prim(Index::$name as u16);)*
    };
}

const fn machine(op: M) -> Lowering {
    Lowering::Opcode(op)
}

const fn runtime(symbol: &'static str) -> Lowering {
    Lowering::Runtime(symbol)
}

table! {
    ADD "add_f64" "+" Infix (F, F) -> F, "Sum.", "",
        |a| Literal::F64(f(a[0]) + f(a[1])), [One, One], EXACT, machine(M::FAdd), true, [ANY, ANY];
    SUB "sub_f64" "-" Infix (F, F) -> F, "Difference.", "",
        |a| Literal::F64(f(a[0]) - f(a[1])), [One, MinusOne], EXACT, machine(M::FSub), true, [ANY, ANY];
    MUL "mul_f64" "*" Infix (F, F) -> F, "Product.", "",
        |a| Literal::F64(f(a[0]) * f(a[1])), [Times(Arg(1)), Times(Arg(0))], EXACT, machine(M::FMul), true, [ANY, ANY];
    TIMES "times_f64" "times" Call (F, F) -> F, "Product, but 0 where an operand is 0 and the other infinite or NaN: how derivatives multiply.", "",
        |a| Literal::F64(math::times(f(a[0]), f(a[1]))), [Times(Arg(1)), Times(Arg(0))], EXACT, machine(M::FTimes), true, [ANY, ANY];
    DIV "div_f64" "/" Infix (F, F) -> F, "Quotient.", "At y = 0 the derivatives are the IEEE quotients: infinities, or NaN for 0/0. So they are where 1 / y is infinite.",
        |a| Literal::F64(f(a[0]) / f(a[1])),
        [Times(Apply(DIV, &[Num(1.0), Arg(1)])), Times(Apply(NEG, &[Apply(TIMES, &[Res, Apply(DIV, &[Num(1.0), Arg(1)])])]))], within(0, 2), machine(M::FDiv), false, [ANY, POS];
    NEG "neg_f64" "-" Prefix (F) -> F, "Negation.", "",
        |a| Literal::F64(-f(a[0])), [MinusOne], EXACT, machine(M::FNeg), true, [ANY];
    IADD "add_i64" "+" Infix (I, I) -> I, "Sum, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_add(i(a[1]))), [Zero, Zero], EXACT, machine(M::IAdd), true, [NUM, NUM];
    ISUB "sub_i64" "-" Infix (I, I) -> I, "Difference, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_sub(i(a[1]))), [Zero, Zero], EXACT, machine(M::ISub), true, [NUM, NUM];
    IMUL "mul_i64" "*" Infix (I, I) -> I, "Product, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_mul(i(a[1]))), [Zero, Zero], EXACT, machine(M::IMul), true, [NUM, NUM];
    IDIV "div_i64" "/" Infix (I, I) -> I, "Quotient toward zero; zero divisors are the error R05, MIN / -1 wraps.", "",
        |a| Literal::I64(divide(i(a[0]), i(a[1]))), [Zero, Zero], EXACT, machine(M::IDiv), false, [NUM, POS];
    IREM "rem_i64" "%" Infix (I, I) -> I, "Remainder with the sign of the dividend; zero divisors are the error R05, MIN % -1 is 0.", "",
        |a| Literal::I64(remainder(i(a[0]), i(a[1]))), [Zero, Zero], EXACT, machine(M::IRem), false, [NUM, POS];
    INEG "neg_i64" "-" Prefix (I) -> I, "Negation, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_neg()), [Zero], EXACT, machine(M::INeg), true, [NUM];
    MIN "min_f64" "min" Call (F, F) -> F, "IEEE 754-2019 minimum: NaN spreads, -0 is less than 0.", "At a tie each operand gets one half; if an operand is NaN, none gets anything.",
        |a| Literal::F64(math::minimum(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(LT, &[Arg(0), Arg(1)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])])),
         Times(Apply(SELECT, &[Apply(LT, &[Arg(1), Arg(0)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])]))], EXACT, machine(M::FMin), true, [ANY, ANY];
    MAX "max_f64" "max" Call (F, F) -> F, "IEEE 754-2019 maximum: NaN spreads, 0 is greater than -0.", "At a tie each operand gets one half; if an operand is NaN, none gets anything.",
        |a| Literal::F64(math::maximum(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[Apply(GT, &[Arg(0), Arg(1)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])])),
         Times(Apply(SELECT, &[Apply(GT, &[Arg(1), Arg(0)]), Num(1.0), Apply(SELECT, &[Apply(EQ, &[Arg(0), Arg(1)]), Num(0.5), Num(0.0)])]))], EXACT, machine(M::FMax), true, [ANY, ANY];
    IMIN "min_i64" "min" Call (I, I) -> I, "Minimum.", "",
        |a| Literal::I64(i(a[0]).min(i(a[1]))), [Zero, Zero], EXACT, machine(M::IMin), true, [NUM, NUM];
    IMAX "max_i64" "max" Call (I, I) -> I, "Maximum.", "",
        |a| Literal::I64(i(a[0]).max(i(a[1]))), [Zero, Zero], EXACT, machine(M::IMax), true, [NUM, NUM];
    ABS "abs_f64" "abs" Call (F) -> F, "Absolute value.", "0 at 0.",
        |a| Literal::F64(f(a[0]).abs()), [Times(Apply(SIGN, &[Arg(0)]))], EXACT, machine(M::FAbs), true, [ANY];
    IABS "abs_i64" "abs" Call (I) -> I, "Absolute value, wrapping.", "",
        |a| Literal::I64(i(a[0]).wrapping_abs()), [Zero], EXACT, machine(M::IAbs), true, [NUM];
    SIGN "sign_f64" "sign" Call (F) -> F, "-1, 0 or 1; 0 at 0 and -0, NaN at NaN.", "0 everywhere, also at the jump.",
        |a| Literal::F64(math::sign(f(a[0]))), [Zero], EXACT, machine(M::FSign), true, [ANY];
    ISIGN "sign_i64" "sign" Call (I) -> I, "-1, 0 or 1.", "",
        |a| Literal::I64(i(a[0]).signum()), [Zero], EXACT, machine(M::ISign), true, [NUM];
    BITAND "bitand_i64" "bitand" Call (I, I) -> I, "The bits that both have.", "",
        |a| Literal::I64(i(a[0]) & i(a[1])), [Zero, Zero], EXACT, machine(M::IAnd), true, [NUM, NUM];
    BITOR "bitor_i64" "bitor" Call (I, I) -> I, "The bits that either has.", "",
        |a| Literal::I64(i(a[0]) | i(a[1])), [Zero, Zero], EXACT, machine(M::IOr), true, [NUM, NUM];
    BITXOR "bitxor_i64" "bitxor" Call (I, I) -> I, "The bits that one has and the other has not.", "",
        |a| Literal::I64(i(a[0]) ^ i(a[1])), [Zero, Zero], EXACT, machine(M::IXor), true, [NUM, NUM];
    BITNOT "bitnot_i64" "bitnot" Call (I) -> I, "The bits that it has not: -x - 1.", "",
        |a| Literal::I64(!i(a[0])), [Zero], EXACT, machine(M::INot), true, [NUM];
    SHL "shl_i64" "shl" Call (I, I) -> I, "x shifted left by n bits, wrapping; 0 if n is not in 0 .. 63.", "",
        |a| Literal::I64(math::shl(i(a[0]), i(a[1]))), [Zero, Zero], EXACT, machine(M::IShl), true, [NUM, NUM];
    SHR "shr_i64" "shr" Call (I, I) -> I, "x shifted right by n bits, rounding down; 0 or, for x < 0, -1 if n is not in 0 .. 63.", "",
        |a| Literal::I64(math::shr(i(a[0]), i(a[1]))), [Zero, Zero], EXACT, machine(M::IShr), true, [NUM, NUM];
    SQRT "sqrt_f64" "sqrt" Call (F) -> F, "Square root; NaN below 0.", "Infinite at 0, NaN below.",
        |a| Literal::F64(f(a[0]).sqrt()), [Times(Apply(DIV, &[Num(0.5), Res]))], within(0, 1), machine(M::FSqrt), false, [POS];
    CBRT "cbrt_f64" "cbrt" Call (F) -> F, "Cube root, with the sign of x.", "Infinite at 0.",
        |a| Literal::F64(math::cbrt(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(MUL, &[Num(3.0), Apply(MUL, &[Res, Res])])]))], within(1, 3), runtime("jut_cbrt"), false, [POS];
    EXP "exp_f64" "exp" Call (F) -> F, "Exponential.", "",
        |a| Literal::F64(math::exp(f(a[0]))), [Times(Res)], within(1, 1), runtime("jut_exp"), false, [ANY];
    EXP2 "exp2_f64" "exp2" Call (F) -> F, "2 to the power x.", "",
        |a| Literal::F64(math::exp2(f(a[0]))), [Times(Apply(MUL, &[Res, Num(LN_2)]))], within(1, 1), runtime("jut_exp2"), false, [ANY];
    EXPM1 "expm1_f64" "expm1" Call (F) -> F, "exp(x) - 1, exact near 0.", "",
        |a| Literal::F64(math::expm1(f(a[0]))), [Times(Apply(EXP, &[Arg(0)]))], within(1, 1), runtime("jut_expm1"), false, [ANY];
    LOG "log_f64" "log" Call (F) -> F, "Natural logarithm; -inf at 0, NaN below.", "1/x also where the logarithm is not finite: infinite at 0.",
        |a| Literal::F64(math::log(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Arg(0)]))], within(1, 0), runtime("jut_log"), false, [POS];
    LOG1P "log1p_f64" "log1p" Call (F) -> F, "log(1 + x), exact near 0.", "Infinite at -1.",
        |a| Literal::F64(math::log1p(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(ADD, &[Num(1.0), Arg(0)])]))], within(1, 1), runtime("jut_log1p"), false, [UNIT];
    LOG2 "log2_f64" "log2" Call (F) -> F, "Logarithm to base 2; -inf at 0, NaN below.", "A multiple of 1/x also where the logarithm is not finite: infinite at 0.",
        |a| Literal::F64(math::log2(f(a[0]))), [Times(Apply(DIV, &[Num(LOG2_E), Arg(0)]))], within(1, 1), runtime("jut_log2"), false, [POS];
    LOG10 "log10_f64" "log10" Call (F) -> F, "Logarithm to base 10; -inf at 0, NaN below.", "A multiple of 1/x also where the logarithm is not finite: infinite at 0.",
        |a| Literal::F64(math::log10(f(a[0]))), [Times(Apply(DIV, &[Num(LOG10_E), Arg(0)]))], within(1, 1), runtime("jut_log10"), false, [POS];
    SIN "sin_f64" "sin" Call (F) -> F, "Sine (radians).", "",
        |a| Literal::F64(math::sin(f(a[0]))), [Times(Apply(COS, &[Arg(0)]))], within(1, 1), runtime("jut_sin"), false, [ANY];
    COS "cos_f64" "cos" Call (F) -> F, "Cosine (radians).", "",
        |a| Literal::F64(math::cos(f(a[0]))), [Times(Apply(NEG, &[Apply(SIN, &[Arg(0)])]))], within(1, 1), runtime("jut_cos"), false, [ANY];
    TAN "tan_f64" "tan" Call (F) -> F, "Tangent (radians).", "Follows the value: at a pole both are large.",
        |a| Literal::F64(math::tan(f(a[0]))), [Times(Apply(ADD, &[Num(1.0), Apply(MUL, &[Res, Res])]))], within(1, 2), runtime("jut_tan"), false, [UNIT];
    TANH "tanh_f64" "tanh" Call (F) -> F, "Hyperbolic tangent.", "",
        |a| Literal::F64(math::tanh(f(a[0]))), [Times(TANH_SLOPE)], within(2, 2), runtime("jut_tanh"), false, [ANY];
    ASIN "asin_f64" "asin" Call (F) -> F, "Angle in -pi/2 .. pi/2 with the given sine; NaN outside -1 .. 1.", "Infinite at -1 and 1, NaN outside.",
        |a| Literal::F64(math::asin(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), COSINE_OF_ASIN]))], within(1, 2), runtime("jut_asin"), false, [UNIT];
    ACOS "acos_f64" "acos" Call (F) -> F, "Angle in 0 .. pi with the given cosine; NaN outside -1 .. 1.", "Infinite at -1 and 1, NaN outside.",
        |a| Literal::F64(math::acos(f(a[0]))), [Times(Apply(DIV, &[Num(-1.0), COSINE_OF_ASIN]))], within(1, 2), runtime("jut_acos"), false, [UNIT];
    ATAN "atan_f64" "atan" Call (F) -> F, "Angle in -pi/2 .. pi/2 with the given tangent.", "",
        |a| Literal::F64(math::atan(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(ADD, &[Num(1.0), Apply(MUL, &[Arg(0), Arg(0)])])]))], within(1, 2), runtime("jut_atan"), false, [ANY];
    ATAN2 "atan2_f64" "atan2" Call (F, F) -> F, "Angle of the point with abscissa y and ordinate x, in radians; 0, -0, pi or -pi at the origin, as IEEE 754 says.", "0 at the origin; where an operand is infinite, NaN with respect to it, and 0 to the other if that is finite.",
        |a| Literal::F64(math::atan2(f(a[0]), f(a[1]))),
        [Times(Apply(SELECT, &[AT_ORIGIN, Num(0.0), Apply(DIV, &[Apply(DIV, &[Arg(1), RADIUS]), RADIUS])])),
         Times(Apply(SELECT, &[AT_ORIGIN, Num(0.0), Apply(DIV, &[Apply(DIV, &[Apply(NEG, &[Arg(0)]), RADIUS]), RADIUS])]))], within(1, 3), runtime("jut_atan2"), false, [ANY, POS];
    HYPOT "hypot_f64" "hypot" Call (F, F) -> F, "Square root of x^2 + y^2, without overflow on the way.", "0 at the origin; where an operand is infinite, NaN with respect to it, and 0 to the other if that is finite.",
        |a| Literal::F64(math::hypot(f(a[0]), f(a[1]))),
        [Times(COSINE), Times(SINE)], within(1, 1).partials_of(HYPOT_TERMS), runtime("jut_hypot"), false, [ANY, POS];
    REM "rem_f64" "%" Infix (F, F) -> F, "Remainder with the sign of the dividend, exact; NaN for an infinite dividend or a zero divisor.", "Those of x - k y, where k is the whole part of x / y, also where the value jumps.",
        |a| Literal::F64(math::fmod(f(a[0]), f(a[1]))), [One, Times(WHOLE_QUOTIENT)], within(0, 1), runtime("jut_fmod"), false, [ANY, POS];
    FMA "fma_f64" "fma" Call (F, F, F) -> F, "x y + z, rounded once.", "",
        |a| Literal::F64(math::fma(f(a[0]), f(a[1]), f(a[2]))), [Times(Arg(1)), Times(Arg(0)), One], EXACT, runtime("jut_fma"), false, [ANY, ANY, ANY];
    SINH "sinh_f64" "sinh" Call (F) -> F, "Hyperbolic sine.", "",
        |a| Literal::F64(math::sinh(f(a[0]))), [Times(Apply(COSH, &[Arg(0)]))], within(1, 1), runtime("jut_sinh"), false, [ANY];
    COSH "cosh_f64" "cosh" Call (F) -> F, "Hyperbolic cosine.", "",
        |a| Literal::F64(math::cosh(f(a[0]))), [Times(Apply(SINH, &[Arg(0)]))], within(1, 1), runtime("jut_cosh"), false, [ANY];
    ASINH "asinh_f64" "asinh" Call (F) -> F, "Inverse of the hyperbolic sine.", "",
        |a| Literal::F64(math::asinh(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(HYPOT, &[Num(1.0), Arg(0)])]))], within(1, 2), runtime("jut_asinh"), false, [ANY];
    ACOSH "acosh_f64" "acosh" Call (F) -> F, "Inverse of the hyperbolic cosine; NaN below 1.", "Infinite at 1, NaN below.",
        |a| Literal::F64(math::acosh(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), Apply(MUL, &[Apply(SQRT, &[Apply(SUB, &[Arg(0), Num(1.0)])]), Apply(SQRT, &[Apply(ADD, &[Arg(0), Num(1.0)])])])]))], within(2, 2), runtime("jut_acosh"), false, [FAR];
    ATANH "atanh_f64" "atanh" Call (F) -> F, "Inverse of the hyperbolic tangent; infinite at -1 and 1, NaN beyond.", "1 / (1 - x^2) also where the value is not finite: infinite at -1 and 1.",
        |a| Literal::F64(math::atanh(f(a[0]))), [Times(Apply(DIV, &[Num(1.0), ONE_LESS_SQUARE]))], within(1, 2), runtime("jut_atanh"), false, [UNIT];
    ERF "erf_f64" "erf" Call (F) -> F, "Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.", "",
        |a| Literal::F64(math::erf(f(a[0]))), [Times(BELL)], within(1, 2), runtime("jut_erf"), false, [ANY];
    ERFC "erfc_f64" "erfc" Call (F) -> F, "1 - erf(x), exact where erf(x) is near 1.", "",
        |a| Literal::F64(math::erfc(f(a[0]))), [Times(Apply(NEG, &[BELL]))], within(2, 2), runtime("jut_erfc"), false, [ANY];
    ERFINV "erfinv_f64" "erfinv" Call (F) -> F, "Inverse of erf; infinite at -1 and 1, NaN beyond.", "Infinite at -1 and 1, NaN beyond.",
        |a| Literal::F64(math::erfinv(f(a[0]))), [Times(ERFINV_SLOPE)], within(2, 4).partials_of(ERFINV_TERMS), runtime("jut_erfinv"), false, [UNIT];
    GAMMA "gamma_f64" "gamma" Call (F) -> F, "Gamma function; infinite at 0 with the sign of the zero, NaN at negative integers.", "Infinite or NaN at 0 and at negative integers.",
        |a| Literal::F64(math::gamma(f(a[0]))), [Times(Apply(MUL, &[Res, Apply(DIGAMMA, &[Arg(0)])]))], within(8, 8).partials_of(&[Apply(MUL, &[Res, DIGAMMA_TERMS])]), runtime("jut_gamma"), false, [UP];
    LGAMMA "lgamma_f64" "lgamma" Call (F) -> F, "Logarithm of the absolute value of gamma; infinite at 0 and at negative integers.", "Infinite at 0, NaN at negative integers.",
        |a| Literal::F64(math::lgamma(f(a[0]))), [Times(Apply(DIGAMMA, &[Arg(0)]))], within(4, 4).of(Apply(MAX, &[Num(1.0), Apply(ABS, &[Res])])).partials_of(&[DIGAMMA_TERMS]), runtime("jut_lgamma"), false, [UP];
    DIGAMMA "digamma_f64" "digamma" Call (F) -> F, "Derivative of lgamma; infinite at 0 with the sign opposite to the zero's, NaN at negative integers.", "Infinite at 0 and at negative integers.",
        |a| Literal::F64(math::digamma(f(a[0]))), [Times(Apply(POLYGAMMA, &[Int(1), Arg(0)]))], within(4, 6).of(DIGAMMA_TERMS), runtime("jut_digamma"), false, [UP];
    POLYGAMMA "polygamma_f64" "polygamma" Call (I, F) -> F, "The k-th derivative of digamma; NaN for k < 0. Less exact for k > 169.", "At 0 and negative integers infinite or NaN, as the value.",
        |a| Literal::F64(math::polygamma(i(a[0]), f(a[1]))), [Zero, Times(NEXT_POLYGAMMA)], within(10, 10).of(POLYGAMMA_TERMS).partials_of(&[NEXT_POLYGAMMA_TERMS]), runtime("jut_polygamma"), false, [ORDER, UP];
    BETA "beta_f64" "beta" Call (F, F) -> F, "gamma(x) gamma(y) / gamma(x + y), without overflow on the way; infinite where an operand is 0, NaN where one is a negative integer. Less exact where an operand is negative.", "Infinite or NaN where an operand or the sum is 0 or a negative integer.",
        |a| Literal::F64(math::beta(f(a[0]), f(a[1]))), [Times(BETA_BY_X), Times(BETA_BY_Y)], within(12, 12).partials_of(&[BETA_TERM, BETA_TERM]), runtime("jut_beta"), false, [UP, UP];
    RELU "relu_f64" "relu" Call (F) -> F, "x where it is positive, else 0; NaN at NaN.", "0 at 0.",
        |a| Literal::F64(math::relu(f(a[0]))), [Times(Apply(SELECT, &[Apply(GT, &[Arg(0), Num(0.0)]), Num(1.0), Num(0.0)]))], EXACT, machine(M::FRelu), true, [ANY];
    SIGMOID "sigmoid_f64" "sigmoid" Call (F) -> F, "1 / (1 + exp(-x)), without overflow on the way.", "",
        |a| Literal::F64(math::sigmoid(f(a[0]))), [Times(Apply(SIGMOID_SLOPE, &[Arg(0)]))], within(2, 2), runtime("jut_sigmoid"), false, [ANY];
    SIGMOID_SLOPE "sigmoid_slope_f64" "sigmoid_slope" Call (F) -> F, "Derivative of sigmoid, exp(-|x|) / (1 + exp(-|x|))^2; a quarter of the square of 1 / cosh(x / 2).", "",
        |a| Literal::F64(math::sigmoid_slope(f(a[0]))), [Times(SIGMOID_BEND)], within(2, 4), runtime("jut_sigmoid_slope"), false, [ANY];
    GAUSSIAN "gaussian_f64" "gaussian" Call (F) -> F, "exp(-x^2), exact also where x^2 is large.", "",
        |a| Literal::F64(math::gaussian(f(a[0]))), [Times(Apply(MUL, &[Num(-2.0), Apply(TIMES, &[Arg(0), Res])]))], within(2, 3), runtime("jut_gaussian"), false, [ANY];
    SOFTPLUS "softplus_f64" "softplus" Call (F) -> F, "log(1 + exp(x)), without overflow on the way.", "",
        |a| Literal::F64(math::softplus(f(a[0]))), [Times(Apply(SIGMOID, &[Arg(0)]))], within(1, 2), runtime("jut_softplus"), false, [ANY];
    LOGADDEXP "logaddexp_f64" "logaddexp" Call (F, F) -> F, "log(exp(x) + exp(y)), without overflow on the way.", "NaN where both operands are the same infinity.",
        |a| Literal::F64(math::logaddexp(f(a[0]), f(a[1]))), [Times(SHARE_OF_X), Times(SHARE_OF_Y)], within(1, 2).of(Apply(MAX, &[Apply(ABS, &[Arg(0)]), Apply(ABS, &[Arg(1)])])).partials_of(SHARE_TERMS), runtime("jut_logaddexp"), false, [ANY, ANY];
    POW "pow_f64" "pow" Call (F, F) -> F, "x to the power y, both floats; 1 where y = 0; NaN for x < 0 unless y is an integer.", "With respect to x: 0 where y = 0, also at x = 0. With respect to y: 0 where x = 0, NaN where x < 0.",
        |a| Literal::F64(math::pow(f(a[0]), f(a[1]))),
        [Times(POW_BY_X), Times(POW_BY_Y)], within(1, 8).partials_of(POW_TERMS), runtime("jut_pow"), false, [POS, ANY];
    POWI "powi_f64" "powi" Call (F, I) -> F, "x to an integer power, by repeated squaring in a fixed order; a negative power is the reciprocal of the positive one; 1 where n = 0.", "0 where n = 0, also at x = 0.",
        |a| Literal::F64(math::powi(f(a[0]), i(a[1]))),
        [Times(POWI_BY_X), Zero], within(1, 2).of(POWI_TERMS).partials_of(POWI_BY_X_TERMS), runtime("jut_powi"), false, [POS, NUM];
    SELECT "select_f64" "select" Call (B, F, F) -> F, "The second operand if the first is true, else the third; both are computed.", "The operand that is not selected gets exactly 0.",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, IfTrue, IfFalse], EXACT, machine(M::Select), true, [BIT, ANY, ANY];
    ISELECT "select_i64" "select" Call (B, I, I) -> I, "The second operand if the first is true, else the third.", "",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, Zero, Zero], EXACT, machine(M::Select), true, [BIT, NUM, NUM];
    BSELECT "select_bool" "select" Call (B, B, B) -> B, "The second operand if the first is true, else the third.", "",
        |a| if b(a[0]) { a[1] } else { a[2] }, [Zero, Zero, Zero], EXACT, machine(M::Select), true, [BIT, BIT, BIT];
    STOP "stop_f64" "stop" Call (F) -> F, "The value itself.", "0 by definition.",
        |a| a[0], [Zero], EXACT, machine(M::Copy), true, [ANY];
    FLOAT "f64_i64" "f64" Call (I) -> F, "Integer to float, nearest.", "",
        |a| Literal::F64(i(a[0]) as f64), [Zero], EXACT, machine(M::IToF), true, [NUM];
    FLOATB "f64_bool" "f64" Call (B) -> F, "0.0 or 1.0.", "",
        |a| Literal::F64(if b(a[0]) { 1.0 } else { 0.0 }), [Zero], EXACT, machine(M::BToF), true, [BIT];
    DOUBLE "f64_f32" "f64" Call (S) -> F, "The same number in 64 bits.", "",
        |a| Literal::F64(f(a[0])), [Convert(structured::DOUBLE)], EXACT, machine(M::SToF), true, [ANY];
    SINGLE "f32_f64" "f32" Call (F) -> S, "The nearest number of 32 bits.", "",
        |a| Literal::F32(f(a[0]) as f32), [Convert(structured::SINGLE)], EXACT, machine(M::FToS), true, [ANY];
    INT "i64_f64" "i64" Call (F) -> I, "Float to integer toward zero; saturates, NaN gives 0.", "No derivative: integers have no tangent.",
        |a| Literal::I64(f(a[0]) as i64), [Zero], EXACT, machine(M::FToI), true, [NUM];
    WIDEN "i64_i32" "i64" Call (N) -> I, "The same integer in 64 bits.", "",
        |a| Literal::I64(i(a[0])), [Zero], EXACT, machine(M::Widen), true, [NUM];
    NARROW "i32_i64" "i32" Call (I) -> N, "The last 32 bits: wraps.", "",
        |a| Literal::I32(i(a[0]) as i32), [Zero], EXACT, machine(M::Narrow), true, [NUM];
    INTB "i64_bool" "i64" Call (B) -> I, "0 or 1.", "",
        |a| Literal::I64(b(a[0]) as i64), [Zero], EXACT, machine(M::BToI), true, [BIT];
    FLOOR "floor_f64" "floor" Call (F) -> F, "Largest integer not above.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).floor()), [Zero], EXACT, machine(M::FFloor), true, [ANY];
    CEIL "ceil_f64" "ceil" Call (F) -> F, "Smallest integer not below.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).ceil()), [Zero], EXACT, machine(M::FCeil), true, [ANY];
    TRUNC "trunc_f64" "trunc" Call (F) -> F, "Nearest integer toward zero.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(f(a[0]).trunc()), [Zero], EXACT, machine(M::FTrunc), true, [ANY];
    ROUND "round_f64" "round" Call (F) -> F, "Nearest integer, halves away from zero.", "0 everywhere, also at the jumps.",
        |a| Literal::F64(math::round(f(a[0]))), [Zero], EXACT, machine(M::FRound), true, [ANY];
    INF "inf" "inf" Call () -> F, "Positive infinity.", "",
        |_| Literal::F64(f64::INFINITY), [], EXACT, machine(M::FInf), true, [];
    NAN "nan" "nan" Call () -> F, "A quiet NaN.", "",
        |_| Literal::F64(f64::NAN), [], EXACT, machine(M::FNan), true, [];
    EQ "eq_f64" "==" Infix (F, F) -> B, "Equal; false for NaN.", "",
        |a| Literal::Bool(f(a[0]) == f(a[1])), [Zero, Zero], EXACT, machine(M::FEq), true, [ANY, ANY];
    NE "ne_f64" "!=" Infix (F, F) -> B, "Not equal; true for NaN.", "",
        |a| Literal::Bool(f(a[0]) != f(a[1])), [Zero, Zero], EXACT, machine(M::FNe), true, [ANY, ANY];
    LT "lt_f64" "<" Infix (F, F) -> B, "Less.", "",
        |a| Literal::Bool(f(a[0]) < f(a[1])), [Zero, Zero], EXACT, machine(M::FLt), true, [ANY, ANY];
    LE "le_f64" "<=" Infix (F, F) -> B, "Less or equal.", "",
        |a| Literal::Bool(f(a[0]) <= f(a[1])), [Zero, Zero], EXACT, machine(M::FLe), true, [ANY, ANY];
    GT "gt_f64" ">" Infix (F, F) -> B, "Greater.", "",
        |a| Literal::Bool(f(a[0]) > f(a[1])), [Zero, Zero], EXACT, machine(M::FGt), true, [ANY, ANY];
    GE "ge_f64" ">=" Infix (F, F) -> B, "Greater or equal.", "",
        |a| Literal::Bool(f(a[0]) >= f(a[1])), [Zero, Zero], EXACT, machine(M::FGe), true, [ANY, ANY];
    IEQ "eq_i64" "==" Infix (I, I) -> B, "Equal.", "",
        |a| Literal::Bool(i(a[0]) == i(a[1])), [Zero, Zero], EXACT, machine(M::IEq), true, [NUM, NUM];
    INE "ne_i64" "!=" Infix (I, I) -> B, "Not equal.", "",
        |a| Literal::Bool(i(a[0]) != i(a[1])), [Zero, Zero], EXACT, machine(M::INe), true, [NUM, NUM];
    ILT "lt_i64" "<" Infix (I, I) -> B, "Less.", "",
        |a| Literal::Bool(i(a[0]) < i(a[1])), [Zero, Zero], EXACT, machine(M::ILt), true, [NUM, NUM];
    ILE "le_i64" "<=" Infix (I, I) -> B, "Less or equal.", "",
        |a| Literal::Bool(i(a[0]) <= i(a[1])), [Zero, Zero], EXACT, machine(M::ILe), true, [NUM, NUM];
    IGT "gt_i64" ">" Infix (I, I) -> B, "Greater.", "",
        |a| Literal::Bool(i(a[0]) > i(a[1])), [Zero, Zero], EXACT, machine(M::IGt), true, [NUM, NUM];
    IGE "ge_i64" ">=" Infix (I, I) -> B, "Greater or equal.", "",
        |a| Literal::Bool(i(a[0]) >= i(a[1])), [Zero, Zero], EXACT, machine(M::IGe), true, [NUM, NUM];
    BEQ "eq_bool" "==" Infix (B, B) -> B, "Equal.", "",
        |a| Literal::Bool(b(a[0]) == b(a[1])), [Zero, Zero], EXACT, machine(M::BEq), true, [BIT, BIT];
    BNE "ne_bool" "!=" Infix (B, B) -> B, "Not equal.", "",
        |a| Literal::Bool(b(a[0]) != b(a[1])), [Zero, Zero], EXACT, machine(M::BNe), true, [BIT, BIT];
    AND "and" "&&" Infix (B, B) -> B, "Both; both are computed.", "",
        |a| Literal::Bool(b(a[0]) && b(a[1])), [Zero, Zero], EXACT, machine(M::And), true, [BIT, BIT];
    OR "or" "||" Infix (B, B) -> B, "Either; both are computed.", "",
        |a| Literal::Bool(b(a[0]) || b(a[1])), [Zero, Zero], EXACT, machine(M::Or), true, [BIT, BIT];
    NOT "not" "!" Prefix (B) -> B, "Not.", "",
        |a| Literal::Bool(!b(a[0])), [Zero], EXACT, machine(M::Not), true, [BIT];
}
