//! The rows of the table.

use super::nest::Act::{Add, Halve, Less, Over, Root, Set};
use super::nest::{Cell, Nest, Range, Turn};
use super::{
    Call, Chain, Formula, Meaning, Order, Param, Room, Rule, Run, Side, Step, Structured,
    StructuredRow, Transpose,
};
use crate::scalar::Width;
use Formula::{Apply, Operand, Result};
use Meaning::{
    Contraction, Convert, Convolution, Flatten, Nested, Reverse, RunningSum, RunningSumFromEnd,
    Unflatten,
};
use Nest::{Do, Loop};
use Param::{Array, Size};
use Range::{After, All, Below, From, To};
use Turn::{Any, Down, Up};
use jut_runtime::matrix::{A_TRANSPOSED, B_TRANSPOSED};
use jut_runtime::triangular;

/// Linear in this operand, with that transpose.
const fn linear(op: Structured, operand: usize) -> Rule {
    Rule::Linear(Transpose { op, operand })
}

/// A step of a formula: an operation of this operand, the other arrays given.
const fn step(op: Structured, operand: usize, others: &'static [Formula]) -> Step {
    Step { op, operand, others }
}

const fn call(kernel: &'static str, sizes: &'static str, flags: i64, room: Room) -> Option<Call> {
    Some(Call { kernel, sizes, flags, room, run: None })
}

const fn own(kernel: &'static str, sizes: &'static str, flags: i64, run: Run) -> Option<Call> {
    Some(Call { kernel, sizes, flags, room: Room::Triangular, run: Some(run) })
}

/// Of `triangular_solve` and its transpose.
const SOLVE: Run = |x, operands, space, sizes, flags| match operands {
    [l, b] => triangular::solve(x, l, b, space, sizes, flags),
    _ => false,
};

/// Of `cholesky`.
const FACTORISE: Run = |c, operands, space, [n, _], _| match operands {
    [a] => triangular::cholesky(c, a, space, n),
    _ => false,
};

/// Of `cholesky_tangent` and its transpose.
const TRANSPORT: Run = |c, operands, space, [n, _], flags| match operands {
    [l, s] if flags == 0 => triangular::tangent(c, l, s, space, n),
    [l, g] => triangular::cotangent(c, l, g, space, n),
    _ => false,
};

macro_rules! rows {
    ($($(#[$about:meta])* $constant:ident = $row:expr;)*) => {
        rows!(@number 0; $($(#[$about])* $constant)*);

        /// All structured primitives.
        pub static STRUCTURED: &[StructuredRow] = &[$($row),*];
    };
    (@number $n:expr; $(#[$about:meta])* $constant:ident $($rest:tt)*) => {
        $(#[$about])*
        pub const $constant: Structured = Structured($n);
        rows!(@number $n + 1; $($rest)*);
    };
    (@number $n:expr;) => {};
}

#[expect(non_snake_case)]
const fn R(at: &'static str) -> Cell {
    Cell::Result(at)
}

#[expect(non_snake_case)]
const fn A(at: &'static str) -> Cell {
    Cell::Operand(0, at)
}

#[expect(non_snake_case)]
const fn B(at: &'static str) -> Cell {
    Cell::Operand(1, at)
}

/// An array of so many dimensions.
const THREE: &[Param] = &[Array("ijk")];
const FOUR: &[Param] = &[Array("ijkl")];

/// An array of these dimensions with its dimensions in another order.
const fn permutation(
    name: &'static str,
    params: &'static [Param],
    result: &'static str,
    partials: &'static [Rule],
) -> StructuredRow {
    let meaning = Contraction(Order::None);
    let doc = "dimensions in the order of the digits";
    StructuredRow { name, params, result, meaning, kernel: None, partials, doc }
}

rows! {
    /// The product of two matrices.
    MATMUL = StructuredRow {
        name: "matmul",
        params: &[Array("il"), Array("lj")],
        result: "ij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", 0, Room::Product),
        partials: &[linear(MATMUL_NT, 0), linear(MATMUL_TN, 1)],
        doc: "the product of two matrices",
    };
    /// The product of a transposed matrix and a matrix.
    MATMUL_TN = StructuredRow {
        name: "matmul_tn",
        params: &[Array("li"), Array("lj")],
        result: "ij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", A_TRANSPOSED, Room::Product),
        partials: &[linear(MATMUL_NT, 1), linear(MATMUL, 1)],
        doc: "the product, the first matrix transposed",
    };
    /// The product of a matrix and a transposed matrix.
    MATMUL_NT = StructuredRow {
        name: "matmul_nt",
        params: &[Array("il"), Array("jl")],
        result: "ij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", B_TRANSPOSED, Room::Product),
        partials: &[linear(MATMUL, 0), linear(MATMUL_TN, 0)],
        doc: "the product, the second matrix transposed",
    };
    /// The product of two transposed matrices.
    MATMUL_TT = StructuredRow {
        name: "matmul_tt",
        params: &[Array("li"), Array("jl")],
        result: "ij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", A_TRANSPOSED | B_TRANSPOSED, Room::Product),
        partials: &[linear(MATMUL_TT, 1), linear(MATMUL_TT, 0)],
        doc: "the product, both matrices transposed",
    };
    /// The product of a matrix and a vector.
    MATVEC = StructuredRow {
        name: "matvec",
        params: &[Array("il"), Array("l")],
        result: "i",
        meaning: Contraction(Order::Lanes),
        kernel: call("matvec", "il", 0, Room::None),
        partials: &[linear(OUTER, 0), linear(MATVEC_T, 1)],
        doc: "the product of a matrix and a vector",
    };
    /// The product of a transposed matrix and a vector.
    MATVEC_T = StructuredRow {
        name: "matvec_t",
        params: &[Array("li"), Array("l")],
        result: "i",
        meaning: Contraction(Order::Sequence),
        kernel: call("matvec", "il", A_TRANSPOSED, Room::None),
        partials: &[linear(OUTER, 1), linear(MATVEC, 1)],
        doc: "the product of a matrix, transposed, and a vector",
    };
    /// The outer product of two vectors.
    OUTER = StructuredRow {
        name: "outer",
        params: &[Array("i"), Array("j")],
        result: "ij",
        meaning: Contraction(Order::None),
        kernel: call("outer", "ij", 0, Room::None),
        partials: &[linear(MATVEC, 0), linear(MATVEC_T, 0)],
        doc: "the products of all elements of two vectors",
    };
    /// The inner product of two vectors.
    DOT = StructuredRow {
        name: "dot",
        params: &[Array("l"), Array("l")],
        result: "",
        meaning: Contraction(Order::Lanes),
        kernel: None,
        partials: &[linear(SCALE, 0), linear(SCALE, 0)],
        doc: "the inner product of two vectors",
    };
    /// A number times a vector.
    SCALE = StructuredRow {
        name: "scale",
        params: &[Array(""), Array("i")],
        result: "i",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(DOT, 0), linear(SCALE, 1)],
        doc: "a number times every element of a vector",
    };
    /// The transpose of a matrix.
    TRANSPOSED = StructuredRow {
        name: "transposed",
        params: &[Array("ij")],
        result: "ji",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(TRANSPOSED, 0)],
        doc: "rows and columns exchanged",
    };
    /// The sum of the rows of a matrix.
    SUM_ROWS = StructuredRow {
        name: "sum_rows",
        params: &[Array("ij")],
        result: "j",
        meaning: Contraction(Order::Sequence),
        kernel: None,
        partials: &[linear(REPEAT_ROW, 0)],
        doc: "the sum of all rows, a vector as long as a row",
    };
    /// A matrix whose rows are a vector.
    REPEAT_ROW = StructuredRow {
        name: "repeat_row",
        params: &[Array("j"), Size('i')],
        result: "ij",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(SUM_ROWS, 0)],
        doc: "a matrix of so many rows, each of them the vector",
    };
    /// The sum of the columns of a matrix.
    SUM_COLUMNS = StructuredRow {
        name: "sum_columns",
        params: &[Array("ij")],
        result: "i",
        meaning: Contraction(Order::Lanes),
        kernel: None,
        partials: &[linear(REPEAT_COLUMN, 0)],
        doc: "the sum of all columns, a vector as long as a column",
    };
    /// A matrix whose columns are a vector.
    REPEAT_COLUMN = StructuredRow {
        name: "repeat_column",
        params: &[Array("i"), Size('j')],
        result: "ij",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(SUM_COLUMNS, 0)],
        doc: "a matrix of so many columns, each of them the vector",
    };
    /// A matrix as one vector.
    FLATTEN = StructuredRow {
        name: "flatten",
        params: &[Array("ij")],
        result: "p",
        meaning: Flatten,
        kernel: None,
        partials: &[linear(UNFLATTEN, 0)],
        doc: "all cells, row by row, as one vector: a view, nothing is copied",
    };
    /// A vector as a matrix.
    UNFLATTEN = StructuredRow {
        name: "unflatten",
        params: &[Array("p"), Size('i'), Size('j')],
        result: "ij",
        meaning: Unflatten,
        kernel: None,
        partials: &[linear(FLATTEN, 0)],
        doc: "the vector of i j elements as i rows of j: a view, nothing is copied",
    };
    /// A vector from its end.
    REVERSE = StructuredRow {
        name: "reverse",
        params: &[Array("i")],
        result: "i",
        meaning: Reverse,
        kernel: None,
        partials: &[linear(REVERSE, 0)],
        doc: "the elements from the last to the first",
    };
    /// Running sums.
    CUMSUM = StructuredRow {
        name: "cumsum",
        params: &[Array("i")],
        result: "i",
        meaning: RunningSum,
        kernel: None,
        partials: &[linear(CUMSUM_FROM_END, 0)],
        doc: "element i is the sum of the elements up to i",
    };
    /// Running sums from the end.
    CUMSUM_FROM_END = StructuredRow {
        name: "cumsum_from_end",
        params: &[Array("i")],
        result: "i",
        meaning: RunningSumFromEnd,
        kernel: None,
        partials: &[linear(CUMSUM, 0)],
        doc: "element i is the sum of the elements from i on",
    };
    /// The product of two vectors, element by element.
    HADAMARD = StructuredRow {
        name: "hadamard",
        params: &[Array("i"), Array("i")],
        result: "i",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(HADAMARD, 0), linear(HADAMARD, 0)],
        doc: "the product of two vectors, element by element",
    };
    /// The sum of a vector.
    SUM_ALL = StructuredRow {
        name: "sum_all",
        params: &[Array("i")],
        result: "",
        meaning: Contraction(Order::Lanes),
        kernel: None,
        partials: &[linear(REPEAT, 0)],
        doc: "the sum of all elements of a vector",
    };
    /// A vector of one number.
    REPEAT = StructuredRow {
        name: "repeat",
        params: &[Array(""), Size('i')],
        result: "i",
        meaning: Contraction(Order::None),
        kernel: None,
        partials: &[linear(SUM_ALL, 0)],
        doc: "a vector of so many elements, each of them the number",
    };
    /// Products of matrices, one by one.
    BATCH_MATMUL = StructuredRow {
        name: "batch_matmul",
        params: &[Array("bil"), Array("blj")],
        result: "bij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", 0, Room::Product),
        partials: &[linear(BATCH_MATMUL_NT, 0), linear(BATCH_MATMUL_TN, 1)],
        doc: "products of matrices, one for each first index",
    };
    /// Products, the first matrices transposed.
    BATCH_MATMUL_TN = StructuredRow {
        name: "batch_matmul_tn",
        params: &[Array("bli"), Array("blj")],
        result: "bij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", A_TRANSPOSED, Room::Product),
        partials: &[linear(BATCH_MATMUL_NT, 1), linear(BATCH_MATMUL, 1)],
        doc: "the same, the first matrices transposed",
    };
    /// Products, the second matrices transposed.
    BATCH_MATMUL_NT = StructuredRow {
        name: "batch_matmul_nt",
        params: &[Array("bil"), Array("bjl")],
        result: "bij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", B_TRANSPOSED, Room::Product),
        partials: &[linear(BATCH_MATMUL, 0), linear(BATCH_MATMUL_TN, 0)],
        doc: "the same, the second matrices transposed",
    };
    /// Products, both matrices transposed.
    BATCH_MATMUL_TT = StructuredRow {
        name: "batch_matmul_tt",
        params: &[Array("bli"), Array("bjl")],
        result: "bij",
        meaning: Contraction(Order::Chain),
        kernel: call("matmul", "ijl", A_TRANSPOSED | B_TRANSPOSED, Room::Product),
        partials: &[linear(BATCH_MATMUL_TT, 1), linear(BATCH_MATMUL_TT, 0)],
        doc: "the same, both matrices transposed",
    };
    /// A convolution in one direction.
    CONV1D = StructuredRow {
        name: "conv1d",
        params: &[Array("cp"), Array("ocs")],
        result: "oq",
        meaning: Convolution(Side::Output),
        kernel: call("conv", "oc1q1s", 0, Room::None),
        partials: &[linear(CONV1D_INPUT, 0), linear(CONV1D_KERNEL, 1)],
        doc: "convolution of channels x with a kernel k where that lies inside x: cell [o, q] is the sum over c, s of x[c, q + s] k[o, c, s]",
    };
    /// The transpose of a convolution in its input.
    CONV1D_INPUT = StructuredRow {
        name: "conv1d_input",
        params: &[Array("oq"), Array("ocs")],
        result: "cp",
        meaning: Convolution(Side::Input),
        kernel: call("conv_input", "oc1q1s", 0, Room::None),
        partials: &[linear(CONV1D, 0), linear(CONV1D_KERNEL, 0)],
        doc: "the transpose of `conv1d(x, k)` in x, applied to y (a full convolution): every product is added where its x came from",
    };
    /// The transpose of a convolution in its kernel.
    CONV1D_KERNEL = StructuredRow {
        name: "conv1d_kernel",
        params: &[Array("cp"), Array("oq")],
        result: "ocs",
        meaning: Convolution(Side::Kernel),
        kernel: call("conv_kernel", "oc1q1s", 0, Room::None),
        partials: &[linear(CONV1D_INPUT, 1), linear(CONV1D, 1)],
        doc: "the transpose of `conv1d(x, k)` in k, applied to y (a correlation)",
    };
    /// A convolution in two directions.
    CONV2D = StructuredRow {
        name: "conv2d",
        params: &[Array("chw"), Array("ocuv")],
        result: "oij",
        meaning: Convolution(Side::Output),
        kernel: call("conv", "ocijuv", 0, Room::None),
        partials: &[linear(CONV2D_INPUT, 0), linear(CONV2D_KERNEL, 1)],
        doc: "convolution of channels x with a kernel k where that lies inside x: cell [o, i, j] is the sum over c, u, v of x[c, i + u, j + v] k[o, c, u, v]",
    };
    /// The transpose of a convolution in its input.
    CONV2D_INPUT = StructuredRow {
        name: "conv2d_input",
        params: &[Array("oij"), Array("ocuv")],
        result: "chw",
        meaning: Convolution(Side::Input),
        kernel: call("conv_input", "ocijuv", 0, Room::None),
        partials: &[linear(CONV2D, 0), linear(CONV2D_KERNEL, 0)],
        doc: "the transpose of `conv2d(x, k)` in x, applied to y (a full convolution): every product is added where its x came from",
    };
    /// The transpose of a convolution in its kernel.
    CONV2D_KERNEL = StructuredRow {
        name: "conv2d_kernel",
        params: &[Array("chw"), Array("oij")],
        result: "ocuv",
        meaning: Convolution(Side::Kernel),
        kernel: call("conv_kernel", "ocijuv", 0, Room::None),
        partials: &[linear(CONV2D_INPUT, 1), linear(CONV2D, 1)],
        doc: "the transpose of `conv2d(x, k)` in k, applied to y (a correlation)",
    };
    /// An array of 3 dimensions as one vector.
    FLATTEN3 = StructuredRow {
        name: "flatten3",
        params: &[Array("ijk")],
        result: "p",
        meaning: Flatten,
        kernel: None,
        partials: &[linear(UNFLATTEN3, 0)],
        doc: "`flatten` for 3 dimensions: a view",
    };
    /// A vector as an array of 3 dimensions.
    UNFLATTEN3 = StructuredRow {
        name: "unflatten3",
        params: &[Array("p"), Size('i'), Size('j'), Size('k')],
        result: "ijk",
        meaning: Unflatten,
        kernel: None,
        partials: &[linear(FLATTEN3, 0)],
        doc: "`unflatten` for 3 dimensions: a view",
    };
    /// An array of 4 dimensions as one vector.
    FLATTEN4 = StructuredRow {
        name: "flatten4",
        params: &[Array("ijkl")],
        result: "p",
        meaning: Flatten,
        kernel: None,
        partials: &[linear(UNFLATTEN4, 0)],
        doc: "`flatten` for 4 dimensions: a view",
    };
    /// A vector as an array of 4 dimensions.
    UNFLATTEN4 = StructuredRow {
        name: "unflatten4",
        params: &[Array("p"), Size('i'), Size('j'), Size('k'), Size('l')],
        result: "ijkl",
        meaning: Unflatten,
        kernel: None,
        partials: &[linear(FLATTEN4, 0)],
        doc: "`unflatten` for 4 dimensions: a view",
    };
    /// Dimensions in another order: first, third and second.
    PERMUTE_021 = permutation("permute_021", THREE, "ikj", &[linear(PERMUTE_021, 0)]);
    /// Dimensions in another order: second, first and third.
    PERMUTE_102 = permutation("permute_102", THREE, "jik", &[linear(PERMUTE_102, 0)]);
    /// Dimensions in another order: second, third and first.
    PERMUTE_120 = permutation("permute_120", THREE, "jki", &[linear(PERMUTE_201, 0)]);
    /// Dimensions in another order: third, first and second.
    PERMUTE_201 = permutation("permute_201", THREE, "kij", &[linear(PERMUTE_120, 0)]);
    /// Dimensions in another order: third, second and first.
    PERMUTE_210 = permutation("permute_210", THREE, "kji", &[linear(PERMUTE_210, 0)]);
    /// Dimensions in another order: first, second, fourth and third.
    PERMUTE_0132 = permutation("permute_0132", FOUR, "ijlk", &[linear(PERMUTE_0132, 0)]);
    /// Dimensions in another order: first, third, second and fourth.
    PERMUTE_0213 = permutation("permute_0213", FOUR, "ikjl", &[linear(PERMUTE_0213, 0)]);
    /// Dimensions in another order: first, third, fourth and second.
    PERMUTE_0231 = permutation("permute_0231", FOUR, "iklj", &[linear(PERMUTE_0312, 0)]);
    /// Dimensions in another order: first, fourth, second and third.
    PERMUTE_0312 = permutation("permute_0312", FOUR, "iljk", &[linear(PERMUTE_0231, 0)]);
    /// Dimensions in another order: first, fourth, third and second.
    PERMUTE_0321 = permutation("permute_0321", FOUR, "ilkj", &[linear(PERMUTE_0321, 0)]);
    /// Dimensions in another order: second, first, third and fourth.
    PERMUTE_1023 = permutation("permute_1023", FOUR, "jikl", &[linear(PERMUTE_1023, 0)]);
    /// Dimensions in another order: second, first, fourth and third.
    PERMUTE_1032 = permutation("permute_1032", FOUR, "jilk", &[linear(PERMUTE_1032, 0)]);
    /// Dimensions in another order: second, third, first and fourth.
    PERMUTE_1203 = permutation("permute_1203", FOUR, "jkil", &[linear(PERMUTE_2013, 0)]);
    /// Dimensions in another order: second, third, fourth and first.
    PERMUTE_1230 = permutation("permute_1230", FOUR, "jkli", &[linear(PERMUTE_3012, 0)]);
    /// Dimensions in another order: second, fourth, first and third.
    PERMUTE_1302 = permutation("permute_1302", FOUR, "jlik", &[linear(PERMUTE_2031, 0)]);
    /// Dimensions in another order: second, fourth, third and first.
    PERMUTE_1320 = permutation("permute_1320", FOUR, "jlki", &[linear(PERMUTE_3021, 0)]);
    /// Dimensions in another order: third, first, second and fourth.
    PERMUTE_2013 = permutation("permute_2013", FOUR, "kijl", &[linear(PERMUTE_1203, 0)]);
    /// Dimensions in another order: third, first, fourth and second.
    PERMUTE_2031 = permutation("permute_2031", FOUR, "kilj", &[linear(PERMUTE_1302, 0)]);
    /// Dimensions in another order: third, second, first and fourth.
    PERMUTE_2103 = permutation("permute_2103", FOUR, "kjil", &[linear(PERMUTE_2103, 0)]);
    /// Dimensions in another order: third, second, fourth and first.
    PERMUTE_2130 = permutation("permute_2130", FOUR, "kjli", &[linear(PERMUTE_3102, 0)]);
    /// Dimensions in another order: third, fourth, first and second.
    PERMUTE_2301 = permutation("permute_2301", FOUR, "klij", &[linear(PERMUTE_2301, 0)]);
    /// Dimensions in another order: third, fourth, second and first.
    PERMUTE_2310 = permutation("permute_2310", FOUR, "klji", &[linear(PERMUTE_3201, 0)]);
    /// Dimensions in another order: fourth, first, second and third.
    PERMUTE_3012 = permutation("permute_3012", FOUR, "lijk", &[linear(PERMUTE_1230, 0)]);
    /// Dimensions in another order: fourth, first, third and second.
    PERMUTE_3021 = permutation("permute_3021", FOUR, "likj", &[linear(PERMUTE_1320, 0)]);
    /// Dimensions in another order: fourth, second, first and third.
    PERMUTE_3102 = permutation("permute_3102", FOUR, "ljik", &[linear(PERMUTE_2130, 0)]);
    /// Dimensions in another order: fourth, second, third and first.
    PERMUTE_3120 = permutation("permute_3120", FOUR, "ljki", &[linear(PERMUTE_3120, 0)]);
    /// Dimensions in another order: fourth, third, first and second.
    PERMUTE_3201 = permutation("permute_3201", FOUR, "lkij", &[linear(PERMUTE_2310, 0)]);
    /// Dimensions in another order: fourth, third, second and first.
    PERMUTE_3210 = permutation("permute_3210", FOUR, "lkji", &[linear(PERMUTE_3210, 0)]);
    /// A float of 64 bits as one of 32: the nearest.
    SINGLE = StructuredRow {
        name: "single",
        params: &[Array("")],
        result: "",
        meaning: Convert { from: Width::Double, to: Width::Single },
        kernel: None,
        partials: &[linear(DOUBLE, 0)],
        doc: "the nearest float of 32 bits, written `f32(x)`",
    };
    /// A float of 32 bits as one of 64.
    DOUBLE = StructuredRow {
        name: "double",
        params: &[Array("")],
        result: "",
        meaning: Convert { from: Width::Single, to: Width::Double },
        kernel: None,
        partials: &[linear(SINGLE, 0)],
        doc: "the same number in 64 bits, written `f64(x)`",
    };
    /// Solutions of equations with a lower triangular matrix.
    TRIANGULAR_SOLVE = StructuredRow {
        name: "triangular_solve",
        params: &[Array("ii"), Array("ij")],
        result: "ij",
        meaning: Nested("iij", &[Loop(Any, 'j', 'j', All, &[Loop(Up, 'i', 'i', All, &[
            Do(R("ij"), Set(B("ij"))),
            Loop(Up, 'k', 'i', Below('i'), &[Do(R("ij"), Less(A("ik"), R("kj")))]),
            Do(R("ij"), Over(A("ii"))),
        ])])]),
        kernel: own("triangular_solve", "ij", 0, SOLVE),
        partials: &[
            // l x = b: l x' = - l' x.
            Rule::Formulas(&[Chain { negative: true, steps: &[
                step(LOWER_TRIANGLE, 0, &[]),
                step(MATMUL, 0, &[Result]),
                step(TRIANGULAR_SOLVE, 1, &[Operand(0)]),
            ] }]),
            linear(TRIANGULAR_SOLVE_T, 1),
        ],
        doc: "x with l x = b for each column of b; of the lower triangular l the upper triangle is not read",
    };
    /// Solutions of equations with the transpose of a lower triangular matrix.
    TRIANGULAR_SOLVE_T = StructuredRow {
        name: "triangular_solve_t",
        params: &[Array("ii"), Array("ij")],
        result: "ij",
        meaning: Nested("iij", &[Loop(Any, 'j', 'j', All, &[Loop(Down, 'i', 'i', All, &[
            Do(R("ij"), Set(B("ij"))),
            Loop(Down, 'k', 'i', After('i'), &[Do(R("ij"), Less(A("ki"), R("kj")))]),
            Do(R("ij"), Over(A("ii"))),
        ])])]),
        kernel: own("triangular_solve", "ij", A_TRANSPOSED, SOLVE),
        partials: &[
            Rule::Formulas(&[Chain { negative: true, steps: &[
                step(LOWER_TRIANGLE, 0, &[]),
                step(MATMUL_TN, 0, &[Result]),
                step(TRIANGULAR_SOLVE_T, 1, &[Operand(0)]),
            ] }]),
            linear(TRIANGULAR_SOLVE, 1),
        ],
        doc: "x with transposed(l) x = b for each column of b, of the same l",
    };
    /// The Cholesky factor.
    CHOLESKY = StructuredRow {
        name: "cholesky",
        params: &[Array("ii")],
        result: "ii",
        meaning: Nested("iii", &[Loop(Up, 'j', 'i', All, &[
            Loop(Up, 'i', 'i', From('j'), &[
                Do(R("ij"), Set(A("ij"))),
                Loop(Up, 'k', 'i', Below('j'), &[Do(R("ij"), Less(R("ik"), R("jk")))]),
            ]),
            Do(R("jj"), Root),
            Loop(Up, 'i', 'i', After('j'), &[Do(R("ij"), Over(R("jj")))]),
        ])]),
        kernel: own("cholesky", "ii", 0, FACTORISE),
        partials: &[Rule::Formulas(&[Chain { negative: false, steps: &[
            step(CHOLESKY_TANGENT, 1, &[Result]),
        ] }])],
        doc: "the lower triangular l with l transposed(l) = a, of a symmetric positive definite a, whose upper triangle is not read; NaN from the first pivot on that is not positive",
    };
    /// The tangent of the Cholesky factor.
    CHOLESKY_TANGENT = StructuredRow {
        name: "cholesky_tangent",
        params: &[Array("ii"), Array("ii")],
        result: "ii",
        meaning: Nested("iii", &[Loop(Up, 'j', 'i', All, &[
            Loop(Up, 'i', 'i', From('j'), &[
                Do(R("ij"), Set(B("ij"))),
                Loop(Up, 'k', 'i', Below('j'), &[
                    Do(R("ij"), Less(A("jk"), R("ik"))),
                    Do(R("ij"), Less(A("ik"), R("jk"))),
                ]),
            ]),
            Do(R("jj"), Over(A("jj"))),
            Do(R("jj"), Halve),
            Loop(Up, 'i', 'i', After('j'), &[
                Do(R("ij"), Less(A("ij"), R("jj"))),
                Do(R("ij"), Over(A("jj"))),
            ]),
        ])]),
        kernel: own("cholesky_linear", "ii", 0, TRANSPORT),
        partials: &[
            // With y = l phi(m), m = inverse(l) s transposed(inverse(l)), where phi takes the lower triangle and half of the
            // diagonal: l' phi(m), and m' = - n - transposed(n) with n = inverse(l) l' m.
            Rule::Formulas(&[
                Chain { negative: false, steps: &[
                    step(LOWER_TRIANGLE, 0, &[]),
                    step(MATMUL, 0, &[Apply(TRIANGULAR_SOLVE, &[Operand(0), Result])]),
                ] },
                Chain { negative: true, steps: &[
                    step(LOWER_TRIANGLE, 0, &[]),
                    step(MATMUL, 0, &[
                        Apply(TRIANGULAR_SOLVE, &[Operand(0), Apply(MIRROR_LOWER, &[Operand(1)])]),
                    ]),
                    step(SYMMETRIC_SUM, 0, &[]),
                    step(CHOLESKY_TANGENT, 1, &[Operand(0)]),
                ] },
            ]),
            linear(CHOLESKY_COTANGENT, 1),
        ],
        doc: "the tangent of the Cholesky factor l, given the lower triangle of the tangent of what was factorised",
    };
    /// The transpose of the tangent of the Cholesky factor.
    CHOLESKY_COTANGENT = StructuredRow {
        name: "cholesky_cotangent",
        params: &[Array("ii"), Array("ii")],
        result: "ii",
        meaning: Nested("iii", &[
            Loop(Any, 'i', 'i', All, &[Loop(Any, 'j', 'i', To('i'), &[Do(R("ij"), Set(B("ij")))])]),
            Loop(Down, 'k', 'i', All, &[
                Loop(Up, 'i', 'i', After('k'), &[
                    Do(R("ik"), Over(A("kk"))),
                    Do(R("kk"), Less(R("ik"), A("ik"))),
                ]),
                Do(R("kk"), Over(A("kk"))),
                Loop(Up, 'i', 'i', From('k'), &[Loop(Up, 'j', 'i', Below('k'), &[
                    Do(R("kj"), Less(R("ik"), A("ij"))),
                ])]),
                Loop(Up, 'i', 'i', After('k'), &[Loop(Up, 'j', 'i', Below('k'), &[
                    Do(R("ij"), Less(R("ik"), A("kj"))),
                ])]),
                Do(R("kk"), Halve),
            ]),
        ]),
        kernel: own("cholesky_linear", "ii", A_TRANSPOSED, TRANSPORT),
        partials: &[
            // With r = fold(h), h = transposed(inverse(l)) phi(transposed(l) g) inverse(l): what changes in phi is what another
            // g would make, and what changes around it folds both sides into one.
            Rule::Formulas(&[
                Chain { negative: false, steps: &[
                    step(LOWER_TRIANGLE, 0, &[]),
                    step(MATMUL_TN, 0, &[Apply(LOWER_TRIANGLE, &[Operand(1)])]),
                    step(TRIANGULAR_SOLVE_T, 1, &[Operand(0)]),
                    step(CHOLESKY_COTANGENT, 1, &[Operand(0)]),
                ] },
                Chain { negative: true, steps: &[
                    step(LOWER_TRIANGLE, 0, &[]),
                    step(MATMUL_TN, 0, &[Apply(SYMMETRIC_SUM, &[Result])]),
                    step(TRIANGULAR_SOLVE_T, 1, &[Operand(0)]),
                    step(FOLD_LOWER, 0, &[]),
                ] },
            ]),
            linear(CHOLESKY_TANGENT, 1),
        ],
        doc: "the transpose of `cholesky_tangent(l, s)` in s: the lower triangle of the cotangent of what was factorised, given that of l",
    };
    /// The lower triangle of a matrix.
    LOWER_TRIANGLE = StructuredRow {
        name: "lower_triangle",
        params: &[Array("ii")],
        result: "ii",
        meaning: Nested("ii", &[Loop(Any, 'i', 'i', All, &[
            Loop(Any, 'j', 'i', To('i'), &[Do(R("ij"), Set(A("ij")))]),
        ])]),
        kernel: None,
        partials: &[linear(LOWER_TRIANGLE, 0)],
        doc: "the lower triangle with the diagonal, zeros above",
    };
    /// The symmetric matrix with a lower triangle.
    MIRROR_LOWER = StructuredRow {
        name: "mirror_lower",
        params: &[Array("ii")],
        result: "ii",
        meaning: Nested("ii", &[Loop(Any, 'i', 'i', All, &[
            Loop(Any, 'j', 'i', To('i'), &[Do(R("ij"), Set(A("ij")))]),
            Loop(Any, 'j', 'i', After('i'), &[Do(R("ij"), Set(A("ji")))]),
        ])]),
        kernel: None,
        partials: &[linear(FOLD_LOWER, 0)],
        doc: "the symmetric matrix with this lower triangle; the upper one is not read",
    };
    /// Both triangles of a matrix added up in the lower one.
    FOLD_LOWER = StructuredRow {
        name: "fold_lower",
        params: &[Array("ii")],
        result: "ii",
        meaning: Nested("ii", &[Loop(Any, 'i', 'i', All, &[
            Loop(Any, 'j', 'i', Below('i'), &[Do(R("ij"), Set(A("ij"))), Do(R("ij"), Add(A("ji")))]),
            Do(R("ii"), Set(A("ii"))),
        ])]),
        kernel: None,
        partials: &[linear(MIRROR_LOWER, 0)],
        doc: "the lower triangle with what is above the diagonal added where it is mirrored, zeros above",
    };
    /// The sum of a matrix and its transpose.
    SYMMETRIC_SUM = StructuredRow {
        name: "symmetric_sum",
        params: &[Array("ii")],
        result: "ii",
        meaning: Nested("ii", &[Loop(Any, 'i', 'i', All, &[Loop(Any, 'j', 'i', All, &[
            Do(R("ij"), Set(A("ij"))),
            Do(R("ij"), Add(A("ji"))),
        ])])]),
        kernel: None,
        partials: &[linear(SYMMETRIC_SUM, 0)],
        doc: "the sum of a matrix and its transpose",
    };
}
