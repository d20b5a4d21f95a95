//! Kernels: functions of the runtime that work on whole buffers.
//!
//! The statement `kernel matmul(c, a, b, scratch, m, n, k, flags)` calls one. All kernels are called
//! in one way, so a backend needs one rule for all of them, present and future:
//!
//! - the symbol is that of the row, to be found like those of mathematical functions
//!   (`jut_runtime::symbols`; under its own name in the static library);
//! - the arguments are those of the statement in order, by the C convention of the machine: a
//!   buffer is the pointer to its first cell, an i64 an integer of 64 bits; there is no workspace
//!   and no result;
//! - it cannot fail and allocates nothing: memory that it works in is an argument, and sizes have
//!   been checked before;
//! - it reads its `in` buffers, reads and writes its `inout` buffers, and touches nothing else, unless it
//!   [reaches outside](Kernel::reaches_outside); an `inout` buffer overlaps no other argument.
//!
//! What a kernel computes, to the bit, is what its function in the runtime does: every engine calls
//! the same one.

use crate::kind::{Cell, Kind, Role};
use jut_runtime::{conv, foreign, math, matrix, print, triangular, vectors, wide};

/// A kernel: an index into [`KERNELS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kernel(u8);

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelParam {
    /// Its name, for the documentation.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What the kernel does with a buffer.
    pub role: Role,
}

/// Everything about one kernel.
#[derive(Debug)]
pub struct KernelRow {
    /// Its name in the text form.
    pub name: &'static str,
    /// The function of the runtime.
    pub symbol: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// Buffers first, then integers.
    pub params: &'static [KernelParam],
    /// Whether it looks at the flag of a call that is cancelled, and stops: work on arrays of any size. What it leaves then
    /// is read by nobody, because a `poll` stands behind it ([`crate::poll`]).
    pub stops_early: bool,
    /// How many cells each buffer has, given the integers.
    pub lengths: fn(&[i64]) -> Vec<i64>,
    /// The kernel on the buffers, whose lengths have been tested. A cell that is an integer is given as the float with its bits.
    pub run: fn(&mut [Vec<f64>], &[i64]),
}

const fn buffer(name: &'static str, role: Role) -> KernelParam {
    KernelParam { name, kind: Kind::Buffer(Cell::F64), role }
}

const fn integers(name: &'static str) -> KernelParam {
    KernelParam { name, kind: Kind::Buffer(Cell::I64), role: Role::In }
}

const fn integer(name: &'static str) -> KernelParam {
    KernelParam { name, kind: Kind::I64, role: Role::In }
}

/// So many cells; sizes that are negative are 0.
fn cells(x: i64, y: i64) -> i64 {
    x.max(0).saturating_mul(y.max(0))
}

/// How many cells y, x and k of a convolution have.
fn convolved(sizes: &[i64]) -> [i64; 3] {
    let sizes = sizes.first_chunk().copied().unwrap_or_default();
    conv::Sizes::new(sizes).cells().map(|cells| i64::try_from(cells).unwrap_or(i64::MAX))
}

/// The sizes of a convolution: channels of y and x; rows and columns of y, then of k; flags.
const fn convolution(result: &'static str, a: &'static str, b: &'static str) -> [KernelParam; 10] {
    [
        buffer(result, Role::InOut),
        buffer(a, Role::In),
        buffer(b, Role::In),
        integer("o"),
        integer("c"),
        integer("i"),
        integer("j"),
        integer("u"),
        integer("v"),
        integer("flags"),
    ]
}

/// A kernel's function on its buffers: the result, the two operands, the sizes, the flags.
type Convolve = fn(&mut [f64], &[f64], &[f64], [i64; 6], i64) -> bool;

fn convolve(function: Convolve, buffers: &mut [Vec<f64>], sizes: &[i64]) {
    if let ([result, a, b], [o, c, i, j, u, v, flags]) = (buffers, sizes) {
        function(result, a, b, [*o, *c, *i, *j, *u, *v], *flags);
    }
}

/// The kernel that replaces numbers by a mathematical function of them.
macro_rules! replaced {
    ($name:literal $symbol:literal $function:ident) => {
        KernelRow {
            name: $name,
            symbol: $symbol,
            doc: concat!("each of the n cells of x becomes its ", $name),
            params: &[buffer("x", Role::InOut), integer("n")],
            stops_early: false,
            lengths: |sizes| sizes.iter().map(|n| (*n).max(0)).collect(),
            run: |buffers, _| {
                for x in buffers.iter_mut().flatten() {
                    *x = math::$function(*x);
                }
            },
        }
    };
}

/// A function of two floats for many of them, in place of the first ones.
macro_rules! of_pairs {
    ($name:literal $symbol:literal $function:ident) => {
        KernelRow {
            name: $name,
            symbol: $symbol,
            doc: concat!(
                "each of the n cells of x becomes its ",
                $name,
                " with the same cell of y"
            ),
            params: &[buffer("x", Role::InOut), buffer("y", Role::In), integer("n")],
            stops_early: false,
            lengths: |sizes| sizes.iter().flat_map(|n| [(*n).max(0); 2]).collect(),
            run: |buffers, _| {
                if let [x, y] = buffers {
                    x.iter_mut().zip(&**y).for_each(|(x, y)| *x = math::$function(*x, *y));
                }
            },
        }
    };
}

/// All kernels. Flag 4 of those with flags adds the result to what is there.
pub static KERNELS: &[KernelRow] = &[
    KernelRow {
        name: "matmul",
        symbol: "jut_matmul",
        doc: "c = a b; the flags are those of `jut_runtime::matrix`: 1, a is given transposed; 2, b is; \
              4, the product is added to c",
        params: &[
            buffer("c", Role::InOut),
            buffer("a", Role::In),
            buffer("b", Role::In),
            buffer("scratch", Role::InOut),
            integer("m"),
            integer("n"),
            integer("k"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [m, n, k, flags] => {
                vec![cells(m, n), cells(m, k), cells(k, n), matrix::scratch(m, n, k, flags)]
            }
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([c, a, b, scratch], [m, n, k, flags]) = (buffers, sizes) {
                matrix::product(c, a, b, scratch, [*m, *n, *k], *flags);
            }
        },
    },
    KernelRow {
        name: "matvec",
        symbol: "jut_matvec",
        doc: "y = a x for a matrix of m rows and n columns; with flag 1 its transpose is given",
        params: &[
            buffer("y", Role::InOut),
            buffer("a", Role::In),
            buffer("x", Role::In),
            integer("m"),
            integer("n"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [m, n, _] => vec![m.max(0), cells(m, n), n.max(0)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([y, a, x], [m, n, flags]) = (buffers, sizes) {
                vectors::matvec(y, a, x, [*m, *n], *flags);
            }
        },
    },
    KernelRow {
        name: "outer",
        symbol: "jut_outer",
        doc: "c = x y^T; with flag 8 it is added to zeros",
        params: &[
            buffer("c", Role::InOut),
            buffer("x", Role::In),
            buffer("y", Role::In),
            integer("m"),
            integer("n"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [m, n, _] => vec![cells(m, n), m.max(0), n.max(0)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([c, x, y], [m, n, flags]) = (buffers, sizes) {
                vectors::outer(c, x, y, [*m, *n], *flags);
            }
        },
    },
    KernelRow {
        name: "dot",
        symbol: "jut_dot",
        doc: "the one cell of c = x . y",
        params: &[
            buffer("c", Role::InOut),
            buffer("x", Role::In),
            buffer("y", Role::In),
            integer("n"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [n, _] => vec![1, n.max(0), n.max(0)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([c, x, y], [n, flags]) = (buffers, sizes) {
                vectors::dot(c, x, y, *n, *flags);
            }
        },
    },
    KernelRow {
        name: "conv",
        symbol: "jut_conv",
        doc: "y of the convolution of x with k, see `jut_runtime::conv`",
        params: &convolution("y", "x", "k"),
        stops_early: true,
        lengths: |sizes| convolved(sizes).to_vec(),
        run: |buffers, sizes| convolve(conv::output, buffers, sizes),
    },
    KernelRow {
        name: "conv_input",
        symbol: "jut_conv_input",
        doc: "x from y and k: the transpose of the convolution in x",
        params: &convolution("x", "y", "k"),
        stops_early: true,
        lengths: |sizes| {
            let [y, x, k] = convolved(sizes);
            vec![x, y, k]
        },
        run: |buffers, sizes| convolve(conv::input, buffers, sizes),
    },
    KernelRow {
        name: "conv_kernel",
        symbol: "jut_conv_kernel",
        doc: "k from x and y: the transpose of the convolution in k",
        params: &convolution("k", "x", "y"),
        stops_early: true,
        lengths: |sizes| {
            let [y, x, k] = convolved(sizes);
            vec![k, x, y]
        },
        run: |buffers, sizes| convolve(conv::kernel, buffers, sizes),
    },
    KernelRow {
        name: "triangular_solve",
        symbol: "jut_triangular_solve",
        doc: "x with l x = b for a lower triangular l of n rows and b of m columns; with flag 1, transposed(l) x = b",
        params: &[
            buffer("x", Role::InOut),
            buffer("l", Role::In),
            buffer("b", Role::In),
            buffer("scratch", Role::InOut),
            integer("n"),
            integer("m"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [n, m, _] => vec![cells(n, m), cells(n, n), cells(n, m), triangular::scratch(n, m)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([x, l, b, scratch], [n, m, flags]) = (buffers, sizes) {
                triangular::solve(x, l, b, scratch, [*n, *m], *flags);
            }
        },
    },
    KernelRow {
        name: "cholesky",
        symbol: "jut_cholesky",
        doc: "the Cholesky factor c of a",
        params: &[
            buffer("c", Role::InOut),
            buffer("a", Role::In),
            buffer("scratch", Role::InOut),
            integer("n"),
            integer("m"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [n, ..] => vec![cells(n, n), cells(n, n), triangular::scratch(n, n)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([c, a, scratch], [n, ..]) = (buffers, sizes) {
                triangular::cholesky(c, a, scratch, *n);
            }
        },
    },
    KernelRow {
        name: "cholesky_linear",
        symbol: "jut_cholesky_linear",
        doc: "the tangent c of the Cholesky factor l from that of what was factorised; with flag 1 its transpose",
        params: &[
            buffer("c", Role::InOut),
            buffer("l", Role::In),
            buffer("x", Role::In),
            buffer("scratch", Role::InOut),
            integer("n"),
            integer("m"),
            integer("flags"),
        ],
        stops_early: true,
        lengths: |sizes| match *sizes {
            [n, ..] => vec![cells(n, n), cells(n, n), cells(n, n), triangular::scratch(n, n)],
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([c, l, x, scratch], [n, _, flags]) = (buffers, sizes) {
                match flags & matrix::A_TRANSPOSED == 0 {
                    true => triangular::tangent(c, l, x, scratch, *n),
                    false => triangular::cotangent(c, l, x, scratch, *n),
                };
            }
        },
    },
    KernelRow {
        name: "print",
        symbol: "jut_print",
        doc: "prints a piece of text that is no float; what it is says `jut_runtime::print::code`",
        params: &[integer("what"), integer("word")],
        stops_early: false,
        lengths: |_| Vec::new(),
        run: |_, sizes| {
            if let [what, word] = *sizes {
                print::word(what, word);
            }
        },
    },
    KernelRow {
        name: "print_float",
        symbol: "jut_print_float",
        doc: "prints the one cell of x; what it is says `jut_runtime::print::code`",
        params: &[buffer("x", Role::In), integer("what")],
        stops_early: false,
        lengths: |_| vec![1],
        run: |buffers, sizes| {
            if let ([x], [what]) = (buffers, sizes) {
                x.iter().for_each(|x| print::float(*x, *what));
            }
        },
    },
    KernelRow {
        name: "foreign",
        symbol: "jut_foreign",
        doc: "calls the function of another language with this number, see `jut_runtime::foreign`; the one cell of `failed` becomes 1 if it fails, else 0",
        params: &[
            buffer("results", Role::InOut),
            buffer("floats", Role::In),
            integers("integers"),
            buffer("failed", Role::InOut),
            integer("result_count"),
            integer("float_count"),
            integer("integer_count"),
            integer("number"),
        ],
        stops_early: false,
        lengths: |sizes| match *sizes {
            [results, floats, integers, _] => {
                vec![results.max(0), floats.max(0), integers.max(0), 1]
            }
            _ => Vec::new(),
        },
        run: |buffers, sizes| {
            if let ([results, floats, integers, failed], [.., number]) = (buffers, sizes) {
                let integers: Vec<i64> = integers.iter().map(|k| k.to_bits() as i64).collect();
                let succeeded = foreign::call(*number, &integers, floats, results);
                failed.fill(if succeeded { 0.0 } else { 1.0 });
            }
        },
    },
    KernelRow {
        name: "sin_cos",
        symbol: wide::SIN_COS,
        doc: "each of the n cells of x becomes its sine, and the same cell of y its cosine",
        params: &[buffer("x", Role::InOut), buffer("y", Role::InOut), integer("n")],
        stops_early: false,
        lengths: |sizes| sizes.iter().flat_map(|n| [(*n).max(0); 2]).collect(),
        run: |buffers, _| {
            if let [x, y] = buffers {
                x.iter_mut().zip(y).for_each(|(x, y)| (*x, *y) = (math::sin(*x), math::cos(*x)));
            }
        },
    },
    replaced!("exp" "jut_exp_all" exp),
    replaced!("log" "jut_log_all" log),
    replaced!("log1p" "jut_log1p_all" log1p),
    replaced!("sin" "jut_sin_all" sin),
    replaced!("cos" "jut_cos_all" cos),
    replaced!("tanh" "jut_tanh_all" tanh),
    replaced!("sigmoid" "jut_sigmoid_all" sigmoid),
    replaced!("sigmoid_slope" "jut_sigmoid_slope_all" sigmoid_slope),
    replaced!("softplus" "jut_softplus_all" softplus),
    replaced!("expm1" "jut_expm1_all" expm1),
    replaced!("erf" "jut_erf_all" erf),
    replaced!("erfc" "jut_erfc_all" erfc),
    replaced!("atan" "jut_atan_all" atan),
    replaced!("tan" "jut_tan_all" tan),
    replaced!("asin" "jut_asin_all" asin),
    replaced!("acos" "jut_acos_all" acos),
    replaced!("cbrt" "jut_cbrt_all" cbrt),
    replaced!("sinh" "jut_sinh_all" sinh),
    replaced!("cosh" "jut_cosh_all" cosh),
    replaced!("log2" "jut_log2_all" log2),
    replaced!("log10" "jut_log10_all" log10),
    replaced!("exp2" "jut_exp2_all" exp2),
    replaced!("lgamma" "jut_lgamma_all" lgamma),
    replaced!("digamma" "jut_digamma_all" digamma),
    replaced!("asinh" "jut_asinh_all" asinh),
    replaced!("acosh" "jut_acosh_all" acosh),
    replaced!("atanh" "jut_atanh_all" atanh),
    of_pairs!("pow" "jut_pow_all" pow),
    of_pairs!("atan2" "jut_atan2_all" atan2),
    of_pairs!("hypot" "jut_hypot_all" hypot),
    of_pairs!("logaddexp" "jut_logaddexp_all" logaddexp),
];

/// The kernel of this name; the build ends if there is none.
const fn named(name: &str) -> Kernel {
    let mut k = 0;
    while k < KERNELS.len() {
        let (own, name) = (KERNELS[k].name.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < own.len() && same < name.len() && own[same] == name[same] {
            same += 1;
        }
        if same == own.len() && same == name.len() {
            return Kernel(k as u8);
        }
        k += 1;
    }
    panic!("no kernel has this name")
}

/// `c = a b` and `c += a b`.
pub const MATMUL: Kernel = named("matmul");
/// `c = x . y`.
pub const DOT: Kernel = named("dot");
/// `y = a x`.
const MATVEC: Kernel = named("matvec");
/// `c = x y^T`.
const OUTER: Kernel = named("outer");

/// How a kernel is called whose result is added to zeros, so that these need not be there.
#[derive(Clone, Copy, Debug)]
pub struct Afresh {
    /// The flag that takes the place of the one which adds; 0 where the kernel's sums begin with 0.0 in any case, so that
    /// none is a negative zero.
    pub flag: i64,
    /// The arguments whose product is how many cells the result, the first argument, has.
    pub cells: &'static [usize],
}

/// A function of another language.
pub const FOREIGN: Kernel = named("foreign");

/// A piece of a line that is printed.
pub const PRINT: Kernel = named("print");
/// A float of such a line.
pub const PRINT_FLOAT: Kernel = named("print_float");
/// Sines and cosines of many numbers.
pub const SIN_COS: Kernel = named("sin_cos");

/// The kernel that does for many numbers what a function of the runtime does for one.
pub fn of_many(scalar: &str) -> Option<Kernel> {
    let symbol = wide::form(scalar)?.symbol_in_place;
    Kernel::all().find(|k| k.row().symbol == symbol)
}

impl Kernel {
    /// The row.
    pub fn row(self) -> &'static KernelRow {
        &KERNELS[usize::from(self.0)]
    }

    /// Whether it does more than work on its buffers: it prints, or calls a function of another language, which only the thread of the call
    /// knows. Each call of it counts, in its order.
    pub fn reaches_outside(self) -> bool {
        self == PRINT || self == PRINT_FLOAT || self == FOREIGN
    }

    /// How it is called where its result is zeros before, if it can do without them. The result of a product of matrices may be a
    /// negative zero, where a product that is added is smaller than any number.
    pub fn afresh(self) -> Option<Afresh> {
        match self {
            MATVEC => Some(Afresh { flag: 0, cells: &[3] }),
            OUTER => Some(Afresh { flag: vectors::FROM_ZERO, cells: &[3, 4] }),
            _ => None,
        }
    }

    /// All kernels.
    pub fn all() -> impl Iterator<Item = Kernel> {
        (0..KERNELS.len() as u8).map(Kernel)
    }

    /// The kernel with a name.
    pub fn find(name: &str) -> Option<Kernel> {
        Kernel::all().find(|k| k.row().name == name)
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)
    }
}
