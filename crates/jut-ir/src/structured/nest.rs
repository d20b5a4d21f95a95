//! What a row computes, as loops over cells: the reference of rows that are neither contractions nor views.
//!
//! A nest is data, so that it has one reading for every purpose: the interpreter walks it (in floats, or for linear
//! operations in the prime field, where division is exact), lowering writes it as loops where no kernel may be called,
//! and the tests compare kernels with it. The result has zeros before. A row with a kernel has the bits of the kernel,
//! wherever there is a runtime; without, and in the field, those of its nest.

/// A cell of an array, by the indices of the loops around it, one character each: `ik`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Of the result.
    Result(&'static str),
    /// Of the nth array operand.
    Operand(usize, &'static str),
}

/// In which order a loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Iterations do not read what others write.
    Any,
    /// From the first.
    Up,
    /// From the last.
    Down,
}

/// Which indices a loop runs over; n is the size of its dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// 0 .. n.
    All,
    /// 0 .. i, for another index.
    Below(char),
    /// 0 .. i + 1.
    To(char),
    /// i .. n.
    From(char),
    /// i + 1 .. n.
    After(char),
}

/// What is done with a cell r of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// `r = x`.
    Set(Cell),
    /// `r += x`.
    Add(Cell),
    /// `r -= x y`.
    Less(Cell, Cell),
    /// `r /= x`.
    Over(Cell),
    /// `r = sqrt(r)`.
    Root,
    /// `r /= 2`.
    Halve,
}

/// A part of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nest {
    /// A loop: its order, its index, the dimension that the index counts, its range, its body.
    Loop(Turn, char, char, Range, &'static [Nest]),
    /// Something done with a cell of the result.
    Do(Cell, Act),
}

impl Cell {
    /// The indices.
    pub fn indices(self) -> &'static str {
        match self {
            Cell::Result(indices) | Cell::Operand(_, indices) => indices,
        }
    }
}

impl Range {
    /// The first index and the one after the last.
    ///
    /// ```
    /// use jut_ir::structured::nest::Range;
    /// assert_eq!(Range::After('i').bounds(5, |_| 2), (3, 5));
    /// ```
    pub fn bounds(self, n: usize, index: impl Fn(char) -> usize) -> (usize, usize) {
        match self {
            Range::All => (0, n),
            Range::Below(i) => (0, index(i)),
            Range::To(i) => (0, index(i) + 1),
            Range::From(i) => (index(i), n),
            Range::After(i) => (index(i) + 1, n),
        }
    }
}
