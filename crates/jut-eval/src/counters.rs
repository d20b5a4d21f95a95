//! What a run costs, counted while it runs.
//!
//! **W**, the work of the cost model, is the number of scalars that operations touch:
//!
//! | operation | W |
//! |---|---|
//! | primitive | 1 |
//! | `x[i]` that gives a scalar | 1 |
//! | `y = x with [i] = v`, `y' = x' with [i] = v'` | scalars of the part |
//! | `r += a`, `r += x'`, `a' + b'`, `-a'`, `c * a'`, `select(b, a', b')`, `drop a'` | scalars of the operand |
//! | `c = matmul(a, b)`, `c' = matmul(a, b')` and all structured primitives | twice the largest of products, cells of an operand, cells of the result; less the cells of the result |
//! | `rd r = x' { .. }` | scalars of `x'` (its end, like a drop) |
//! | a *copy*: a loop body, arm or function that returns an array it did not make; an update of an array that somebody else holds | scalars of the array |
//! | literals, names, tuples, data values, views, slices, `size`, `cast`, `zero`, `dup`, `rd`, `take`, opening `wr` and `acc`, stacking | 0 |
//!
//! An array is made by a block if it is bound inside it (regions in it included) by anything but a
//! view or another name of something outside. Returning one array twice copies it once; a carry
//! that a loop body hands back in its own position is not copied, nor one that an arm leaves as it is.
//! Copies are counted apart from the rest, as [`Counters::copied`], because stacking a carry on a tape
//! is one in this sense, so that the work of `f.nonlin` and `f.lin` together is that of `f.jvp` only
//! without them.
//!
//! **B** is bytes, 8 per number and 1 per truth value: the bytes that data values are made of
//! (*tape*; a data value inside another is counted once), and the bytes that are *moved* in memory:
//! stacked results, zeroed regions and `zero` of arrays, results of whole-array operations and
//! copies (written once), scalars read by an index (read once), additions into arrays (read and
//! written). Scalars in names cost nothing.
//!
//! Integer arithmetic is counted apart within W, as [`Counters::integers`]: sizes and indices are
//! never on a tape, so `f.lin` repeats what it needs of them, and the work of the two halves is that
//! of `f.jvp` only without it.
//!
//! What `rd` reads is free in W and counted by itself: L makes an ordinary index of it, which costs 1 for
//! a scalar, so that erasure may raise W by as much and no more; what `take` takes out is counted there twice, since
//! it becomes an index and an update. So are the linear arrays that blocks return and did not make or return twice, that are
//! updated while a capability has them, or where a caller, branch or call gave them or was lent them, or that a tangent of
//! a data type is opened into, which an arm returns once L has been applied, and rows and slices of arrays of tangents of
//! data: those move, and what is not linear is copied.
//!
//! An iteration's element of a slice is free, too, and counted by itself if it is a scalar: a loop that is unrolled has an
//! index in its place. So optimising may raise W by as much and no more.
//!
//! A zero of a declared tangent type has no scalars, and its values are moved, not copied. So what only moves them is free
//! in linear code: `zero` and `drop`, an update, an addition to a zero, the end of `rd`; a sum of two costs 1 per scalar
//! that both have. A value that was only named costs nothing then in a tangent that nobody uses. But what was put into a
//! tangent that is dropped, or that an update replaces, nobody has paid for. In the transposed code that is the opening of a
//! zero, which makes zeros of its parts: these scalars are counted by themselves ([`Counters::zeros`]), and Theorem 7.1
//! holds up to them. They are no more than what constructors were given.
//!
//! **Control** (loops, iterations, branches, calls, checks) is free in both and counted by itself.

/// The counters of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Work without copies and integer arithmetic.
    pub work: u64,
    /// Primitives with an integer result.
    pub integers: u64,
    /// Scalars that `rd` gave: free here, an index each once L has been applied. Those of `take` count twice.
    pub reads: u64,
    /// Scalars of linear arrays that blocks returned and did not make, or that were taken out of tangents of data
    /// types, and of tangents of declared types that were put into arrays: free here, copies once L has been applied.
    pub handed: u64,
    /// Scalars of the zeros that were made because a zero of a declared type was opened: free here.
    pub zeros: u64,
    /// Scalars that loops gave their iterations as elements of slices: free here, an index each once a loop is unrolled.
    pub elements: u64,
    /// Scalars copied.
    pub copied: u64,
    /// Bytes of data values made.
    pub tape: u64,
    /// Bytes moved in memory.
    pub moved: u64,
    /// Loops entered, also those that run no time.
    pub loops: u64,
    /// Iterations of loops.
    pub trips: u64,
    /// Branches taken.
    pub branches: u64,
    /// Functions called, the entry not counted.
    pub calls: u64,
    /// `check` statements executed.
    pub checks: u64,
}

impl Counters {
    /// W: work, integer arithmetic and copies.
    pub fn w(&self) -> u64 {
        self.work + self.integers + self.copied
    }

    /// B: tape and traffic, in bytes.
    pub fn b(&self) -> u64 {
        self.tape + self.moved
    }

    /// Loops, iterations, branches and calls.
    pub fn control(&self) -> u64 {
        self.loops + self.trips + self.branches + self.calls
    }
}

impl std::ops::Add for Counters {
    type Output = Counters;
    fn add(self, other: Counters) -> Counters {
        Counters {
            work: self.work + other.work,
            integers: self.integers + other.integers,
            reads: self.reads + other.reads,
            handed: self.handed + other.handed,
            zeros: self.zeros + other.zeros,
            elements: self.elements + other.elements,
            copied: self.copied + other.copied,
            tape: self.tape + other.tape,
            moved: self.moved + other.moved,
            loops: self.loops + other.loops,
            trips: self.trips + other.trips,
            branches: self.branches + other.branches,
            calls: self.calls + other.calls,
            checks: self.checks + other.checks,
        }
    }
}
