//! The rows of the table.

use super::{Meaning, Order, Param, Side, Structured, StructuredRow, Transpose};
use crate::scalar::Width;
use Meaning::{
    Contraction, Convert, Convolution, Flatten, Reverse, RunningSum, RunningSumFromEnd, Unflatten,
};
use Param::{Array, Size};

const fn is(op: Structured, operand: usize) -> Transpose {
    Transpose { op, operand }
}

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

rows! {
    /// The product of two matrices.
    MATMUL = StructuredRow {
        name: "matmul",
        params: &[Array("il"), Array("lj")],
        result: "ij",
        meaning: Contraction(Order::Chain(0)),
        transposes: &[is(MATMUL_NT, 0), is(MATMUL_TN, 1)],
        doc: "the product of two matrices",
    };
    /// The product of a transposed matrix and a matrix.
    MATMUL_TN = StructuredRow {
        name: "matmul_tn",
        params: &[Array("li"), Array("lj")],
        result: "ij",
        meaning: Contraction(Order::Chain(1)),
        transposes: &[is(MATMUL_NT, 1), is(MATMUL, 1)],
        doc: "the product, the first matrix transposed",
    };
    /// The product of a matrix and a transposed matrix.
    MATMUL_NT = StructuredRow {
        name: "matmul_nt",
        params: &[Array("il"), Array("jl")],
        result: "ij",
        meaning: Contraction(Order::Chain(2)),
        transposes: &[is(MATMUL, 0), is(MATMUL_TN, 0)],
        doc: "the product, the second matrix transposed",
    };
    /// The product of two transposed matrices.
    MATMUL_TT = StructuredRow {
        name: "matmul_tt",
        params: &[Array("li"), Array("jl")],
        result: "ij",
        meaning: Contraction(Order::Chain(3)),
        transposes: &[is(MATMUL_TT, 1), is(MATMUL_TT, 0)],
        doc: "the product, both matrices transposed",
    };
    /// The product of a matrix and a vector.
    MATVEC = StructuredRow {
        name: "matvec",
        params: &[Array("il"), Array("l")],
        result: "i",
        meaning: Contraction(Order::Lanes),
        transposes: &[is(OUTER, 0), is(MATVEC_T, 1)],
        doc: "the product of a matrix and a vector",
    };
    /// The product of a transposed matrix and a vector.
    MATVEC_T = StructuredRow {
        name: "matvec_t",
        params: &[Array("li"), Array("l")],
        result: "i",
        meaning: Contraction(Order::Sequence),
        transposes: &[is(OUTER, 1), is(MATVEC, 1)],
        doc: "the product of a matrix, transposed, and a vector",
    };
    /// The outer product of two vectors.
    OUTER = StructuredRow {
        name: "outer",
        params: &[Array("i"), Array("j")],
        result: "ij",
        meaning: Contraction(Order::None),
        transposes: &[is(MATVEC, 0), is(MATVEC_T, 0)],
        doc: "the products of all elements of two vectors",
    };
    /// The inner product of two vectors.
    DOT = StructuredRow {
        name: "dot",
        params: &[Array("l"), Array("l")],
        result: "",
        meaning: Contraction(Order::Lanes),
        transposes: &[is(SCALE, 0), is(SCALE, 0)],
        doc: "the inner product of two vectors",
    };
    /// A number times a vector.
    SCALE = StructuredRow {
        name: "scale",
        params: &[Array(""), Array("i")],
        result: "i",
        meaning: Contraction(Order::None),
        transposes: &[is(DOT, 0), is(SCALE, 1)],
        doc: "a number times every element of a vector",
    };
    /// The transpose of a matrix.
    TRANSPOSED = StructuredRow {
        name: "transposed",
        params: &[Array("ij")],
        result: "ji",
        meaning: Contraction(Order::None),
        transposes: &[is(TRANSPOSED, 0)],
        doc: "rows and columns exchanged",
    };
    /// The sum of the rows of a matrix.
    SUM_ROWS = StructuredRow {
        name: "sum_rows",
        params: &[Array("ij")],
        result: "j",
        meaning: Contraction(Order::Sequence),
        transposes: &[is(REPEAT_ROW, 0)],
        doc: "the sum of all rows, a vector as long as a row",
    };
    /// A matrix whose rows are a vector.
    REPEAT_ROW = StructuredRow {
        name: "repeat_row",
        params: &[Array("j"), Size('i')],
        result: "ij",
        meaning: Contraction(Order::None),
        transposes: &[is(SUM_ROWS, 0)],
        doc: "a matrix of so many rows, each of them the vector",
    };
    /// The sum of the columns of a matrix.
    SUM_COLUMNS = StructuredRow {
        name: "sum_columns",
        params: &[Array("ij")],
        result: "i",
        meaning: Contraction(Order::Lanes),
        transposes: &[is(REPEAT_COLUMN, 0)],
        doc: "the sum of all columns, a vector as long as a column",
    };
    /// A matrix whose columns are a vector.
    REPEAT_COLUMN = StructuredRow {
        name: "repeat_column",
        params: &[Array("i"), Size('j')],
        result: "ij",
        meaning: Contraction(Order::None),
        transposes: &[is(SUM_COLUMNS, 0)],
        doc: "a matrix of so many columns, each of them the vector",
    };
    /// A matrix as one vector.
    FLATTEN = StructuredRow {
        name: "flatten",
        params: &[Array("ij")],
        result: "p",
        meaning: Flatten,
        transposes: &[is(UNFLATTEN, 0)],
        doc: "all cells, row by row, as one vector: a view, nothing is copied",
    };
    /// A vector as a matrix.
    UNFLATTEN = StructuredRow {
        name: "unflatten",
        params: &[Array("p"), Size('i'), Size('j')],
        result: "ij",
        meaning: Unflatten,
        transposes: &[is(FLATTEN, 0)],
        doc: "the vector of i j elements as i rows of j: a view, nothing is copied",
    };
    /// A vector from its end.
    REVERSE = StructuredRow {
        name: "reverse",
        params: &[Array("i")],
        result: "i",
        meaning: Reverse,
        transposes: &[is(REVERSE, 0)],
        doc: "the elements from the last to the first",
    };
    /// Running sums.
    CUMSUM = StructuredRow {
        name: "cumsum",
        params: &[Array("i")],
        result: "i",
        meaning: RunningSum,
        transposes: &[is(CUMSUM_FROM_END, 0)],
        doc: "element i is the sum of the elements up to i",
    };
    /// Running sums from the end.
    CUMSUM_FROM_END = StructuredRow {
        name: "cumsum_from_end",
        params: &[Array("i")],
        result: "i",
        meaning: RunningSumFromEnd,
        transposes: &[is(CUMSUM, 0)],
        doc: "element i is the sum of the elements from i on",
    };
    /// The product of two vectors, element by element.
    HADAMARD = StructuredRow {
        name: "hadamard",
        params: &[Array("i"), Array("i")],
        result: "i",
        meaning: Contraction(Order::None),
        transposes: &[is(HADAMARD, 0), is(HADAMARD, 0)],
        doc: "the product of two vectors, element by element",
    };
    /// The sum of a vector.
    SUM_ALL = StructuredRow {
        name: "sum_all",
        params: &[Array("i")],
        result: "",
        meaning: Contraction(Order::Lanes),
        transposes: &[is(REPEAT, 0)],
        doc: "the sum of all elements of a vector",
    };
    /// A vector of one number.
    REPEAT = StructuredRow {
        name: "repeat",
        params: &[Array(""), Size('i')],
        result: "i",
        meaning: Contraction(Order::None),
        transposes: &[is(SUM_ALL, 0)],
        doc: "a vector of so many elements, each of them the number",
    };
    /// Products of matrices, one by one.
    BATCH_MATMUL = StructuredRow {
        name: "batch_matmul",
        params: &[Array("bil"), Array("blj")],
        result: "bij",
        meaning: Contraction(Order::Chain(0)),
        transposes: &[is(BATCH_MATMUL_NT, 0), is(BATCH_MATMUL_TN, 1)],
        doc: "products of matrices, one for each first index",
    };
    /// Products, the first matrices transposed.
    BATCH_MATMUL_TN = StructuredRow {
        name: "batch_matmul_tn",
        params: &[Array("bli"), Array("blj")],
        result: "bij",
        meaning: Contraction(Order::Chain(1)),
        transposes: &[is(BATCH_MATMUL_NT, 1), is(BATCH_MATMUL, 1)],
        doc: "the same, the first matrices transposed",
    };
    /// Products, the second matrices transposed.
    BATCH_MATMUL_NT = StructuredRow {
        name: "batch_matmul_nt",
        params: &[Array("bil"), Array("bjl")],
        result: "bij",
        meaning: Contraction(Order::Chain(2)),
        transposes: &[is(BATCH_MATMUL, 0), is(BATCH_MATMUL_TN, 0)],
        doc: "the same, the second matrices transposed",
    };
    /// Products, both matrices transposed.
    BATCH_MATMUL_TT = StructuredRow {
        name: "batch_matmul_tt",
        params: &[Array("bli"), Array("bjl")],
        result: "bij",
        meaning: Contraction(Order::Chain(3)),
        transposes: &[is(BATCH_MATMUL_TT, 1), is(BATCH_MATMUL_TT, 0)],
        doc: "the same, both matrices transposed",
    };
    /// A convolution in one direction.
    CONV1D = StructuredRow {
        name: "conv1d",
        params: &[Array("cp"), Array("ocs")],
        result: "oq",
        meaning: Convolution(Side::Output),
        transposes: &[is(CONV1D_INPUT, 0), is(CONV1D_KERNEL, 1)],
        doc: "convolution of channels x with a kernel k where that lies inside x: cell [o, q] is the sum over c, s of x[c, q + s] k[o, c, s]",
    };
    /// The transpose of a convolution in its input.
    CONV1D_INPUT = StructuredRow {
        name: "conv1d_input",
        params: &[Array("oq"), Array("ocs")],
        result: "cp",
        meaning: Convolution(Side::Input),
        transposes: &[is(CONV1D, 0), is(CONV1D_KERNEL, 0)],
        doc: "the transpose of `conv1d(x, k)` in x, applied to y (a full convolution): every product is added where its x came from",
    };
    /// The transpose of a convolution in its kernel.
    CONV1D_KERNEL = StructuredRow {
        name: "conv1d_kernel",
        params: &[Array("cp"), Array("oq")],
        result: "ocs",
        meaning: Convolution(Side::Kernel),
        transposes: &[is(CONV1D_INPUT, 1), is(CONV1D, 1)],
        doc: "the transpose of `conv1d(x, k)` in k, applied to y (a correlation)",
    };
    /// A convolution in two directions.
    CONV2D = StructuredRow {
        name: "conv2d",
        params: &[Array("chw"), Array("ocuv")],
        result: "oij",
        meaning: Convolution(Side::Output),
        transposes: &[is(CONV2D_INPUT, 0), is(CONV2D_KERNEL, 1)],
        doc: "convolution of channels x with a kernel k where that lies inside x: cell [o, i, j] is the sum over c, u, v of x[c, i + u, j + v] k[o, c, u, v]",
    };
    /// The transpose of a convolution in its input.
    CONV2D_INPUT = StructuredRow {
        name: "conv2d_input",
        params: &[Array("oij"), Array("ocuv")],
        result: "chw",
        meaning: Convolution(Side::Input),
        transposes: &[is(CONV2D, 0), is(CONV2D_KERNEL, 0)],
        doc: "the transpose of `conv2d(x, k)` in x, applied to y (a full convolution): every product is added where its x came from",
    };
    /// The transpose of a convolution in its kernel.
    CONV2D_KERNEL = StructuredRow {
        name: "conv2d_kernel",
        params: &[Array("chw"), Array("oij")],
        result: "ocuv",
        meaning: Convolution(Side::Kernel),
        transposes: &[is(CONV2D_INPUT, 1), is(CONV2D, 1)],
        doc: "the transpose of `conv2d(x, k)` in k, applied to y (a correlation)",
    };
    /// An array of 3 dimensions as one vector.
    FLATTEN3 = StructuredRow {
        name: "flatten3",
        params: &[Array("ijk")],
        result: "p",
        meaning: Flatten,
        transposes: &[is(UNFLATTEN3, 0)],
        doc: "`flatten` for 3 dimensions: a view",
    };
    /// A vector as an array of 3 dimensions.
    UNFLATTEN3 = StructuredRow {
        name: "unflatten3",
        params: &[Array("p"), Size('i'), Size('j'), Size('k')],
        result: "ijk",
        meaning: Unflatten,
        transposes: &[is(FLATTEN3, 0)],
        doc: "`unflatten` for 3 dimensions: a view",
    };
    /// An array of 4 dimensions as one vector.
    FLATTEN4 = StructuredRow {
        name: "flatten4",
        params: &[Array("ijkl")],
        result: "p",
        meaning: Flatten,
        transposes: &[is(UNFLATTEN4, 0)],
        doc: "`flatten` for 4 dimensions: a view",
    };
    /// A vector as an array of 4 dimensions.
    UNFLATTEN4 = StructuredRow {
        name: "unflatten4",
        params: &[Array("p"), Size('i'), Size('j'), Size('k'), Size('l')],
        result: "ijkl",
        meaning: Unflatten,
        transposes: &[is(FLATTEN4, 0)],
        doc: "`unflatten` for 4 dimensions: a view",
    };
    /// Dimensions in another order: first, third and second.
    PERMUTE_021 = StructuredRow {
        name: "permute_021",
        params: &[Array("ijk")],
        result: "ikj",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_021, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, first and third.
    PERMUTE_102 = StructuredRow {
        name: "permute_102",
        params: &[Array("ijk")],
        result: "jik",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_102, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, third and first.
    PERMUTE_120 = StructuredRow {
        name: "permute_120",
        params: &[Array("ijk")],
        result: "jki",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_201, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, first and second.
    PERMUTE_201 = StructuredRow {
        name: "permute_201",
        params: &[Array("ijk")],
        result: "kij",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_120, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, second and first.
    PERMUTE_210 = StructuredRow {
        name: "permute_210",
        params: &[Array("ijk")],
        result: "kji",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_210, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: first, second, fourth and third.
    PERMUTE_0132 = StructuredRow {
        name: "permute_0132",
        params: &[Array("ijkl")],
        result: "ijlk",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_0132, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: first, third, second and fourth.
    PERMUTE_0213 = StructuredRow {
        name: "permute_0213",
        params: &[Array("ijkl")],
        result: "ikjl",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_0213, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: first, third, fourth and second.
    PERMUTE_0231 = StructuredRow {
        name: "permute_0231",
        params: &[Array("ijkl")],
        result: "iklj",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_0312, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: first, fourth, second and third.
    PERMUTE_0312 = StructuredRow {
        name: "permute_0312",
        params: &[Array("ijkl")],
        result: "iljk",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_0231, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: first, fourth, third and second.
    PERMUTE_0321 = StructuredRow {
        name: "permute_0321",
        params: &[Array("ijkl")],
        result: "ilkj",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_0321, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, first, third and fourth.
    PERMUTE_1023 = StructuredRow {
        name: "permute_1023",
        params: &[Array("ijkl")],
        result: "jikl",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1023, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, first, fourth and third.
    PERMUTE_1032 = StructuredRow {
        name: "permute_1032",
        params: &[Array("ijkl")],
        result: "jilk",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1032, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, third, first and fourth.
    PERMUTE_1203 = StructuredRow {
        name: "permute_1203",
        params: &[Array("ijkl")],
        result: "jkil",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2013, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, third, fourth and first.
    PERMUTE_1230 = StructuredRow {
        name: "permute_1230",
        params: &[Array("ijkl")],
        result: "jkli",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3012, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, fourth, first and third.
    PERMUTE_1302 = StructuredRow {
        name: "permute_1302",
        params: &[Array("ijkl")],
        result: "jlik",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2031, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: second, fourth, third and first.
    PERMUTE_1320 = StructuredRow {
        name: "permute_1320",
        params: &[Array("ijkl")],
        result: "jlki",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3021, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, first, second and fourth.
    PERMUTE_2013 = StructuredRow {
        name: "permute_2013",
        params: &[Array("ijkl")],
        result: "kijl",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1203, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, first, fourth and second.
    PERMUTE_2031 = StructuredRow {
        name: "permute_2031",
        params: &[Array("ijkl")],
        result: "kilj",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1302, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, second, first and fourth.
    PERMUTE_2103 = StructuredRow {
        name: "permute_2103",
        params: &[Array("ijkl")],
        result: "kjil",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2103, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, second, fourth and first.
    PERMUTE_2130 = StructuredRow {
        name: "permute_2130",
        params: &[Array("ijkl")],
        result: "kjli",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3102, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, fourth, first and second.
    PERMUTE_2301 = StructuredRow {
        name: "permute_2301",
        params: &[Array("ijkl")],
        result: "klij",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2301, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: third, fourth, second and first.
    PERMUTE_2310 = StructuredRow {
        name: "permute_2310",
        params: &[Array("ijkl")],
        result: "klji",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3201, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, first, second and third.
    PERMUTE_3012 = StructuredRow {
        name: "permute_3012",
        params: &[Array("ijkl")],
        result: "lijk",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1230, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, first, third and second.
    PERMUTE_3021 = StructuredRow {
        name: "permute_3021",
        params: &[Array("ijkl")],
        result: "likj",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_1320, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, second, first and third.
    PERMUTE_3102 = StructuredRow {
        name: "permute_3102",
        params: &[Array("ijkl")],
        result: "ljik",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2130, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, second, third and first.
    PERMUTE_3120 = StructuredRow {
        name: "permute_3120",
        params: &[Array("ijkl")],
        result: "ljki",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3120, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, third, first and second.
    PERMUTE_3201 = StructuredRow {
        name: "permute_3201",
        params: &[Array("ijkl")],
        result: "lkij",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_2310, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// Dimensions in another order: fourth, third, second and first.
    PERMUTE_3210 = StructuredRow {
        name: "permute_3210",
        params: &[Array("ijkl")],
        result: "lkji",
        meaning: Contraction(Order::None),
        transposes: &[is(PERMUTE_3210, 0)],
        doc: "dimensions in the order of the digits",
    };
    /// A float of 64 bits as one of 32: the nearest.
    SINGLE = StructuredRow {
        name: "single",
        params: &[Array("")],
        result: "",
        meaning: Convert { from: Width::Double, to: Width::Single },
        transposes: &[is(DOUBLE, 0)],
        doc: "the nearest float of 32 bits, written `f32(x)`",
    };
    /// A float of 32 bits as one of 64.
    DOUBLE = StructuredRow {
        name: "double",
        params: &[Array("")],
        result: "",
        meaning: Convert { from: Width::Single, to: Width::Double },
        transposes: &[is(SINGLE, 0)],
        doc: "the same number in 64 bits, written `f64(x)`",
    };
}
