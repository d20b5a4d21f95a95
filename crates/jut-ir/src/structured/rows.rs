//! The rows of the table.

use super::{Meaning, Order, Param, Structured, StructuredRow, Transpose};
use Meaning::{Contraction, Flatten, Reverse, RunningSum, RunningSumFromEnd, Unflatten};
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
}
