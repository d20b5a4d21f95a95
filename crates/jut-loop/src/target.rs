//! What a backend can take: plain data, by which the last passes over the loop form decide
//! ([`crate::opt::for_target`]).

use jut_ir::prim::Opcode;

use crate::form::LANES;

/// What a backend can take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target {
    /// Which loops are [strip-mined](crate::opt::strip_mine) for mathematical functions of many numbers.
    pub strip_mine: StripMine,
    /// What it knows of vectors, if anything.
    pub vectors: Option<Vectors>,
    /// If it can call functions for [shares](crate::opt::shares) of a range, on several threads: ranges that are shorter
    /// than this are never cut.
    pub shares: Option<u32>,
}

/// Which loops are strip-mined, and what takes many numbers at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StripMine {
    /// None.
    #[default]
    No,
    /// All that can be; [kernels](crate::kernel) that are called.
    Kernels,
    /// Those that cannot be taken several iterations at a time as they are; loops of which that can be.
    Loops,
}

/// What a backend can do for several iterations at once. What it can do for one that is the same for
/// all, it always can.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// Which loops it wants, beside those that sum.
    pub loops: Loops,
    /// Iterations of such a loop at once; of one that sums it is [`crate::form::LANES`].
    pub together: u32,
    /// Statements of a body at most, inner ones included.
    pub longest: usize,
    /// Whether fewer iterations may be taken as a vector of which only the first ones count.
    pub masked: bool,
    /// Whether stores should wait for the end of the body where there are products of derivatives, so
    /// that all of them are looked at together before.
    pub stores_last: bool,
    /// Where the cells of several iterations may lie.
    pub reach: Reach,
    /// Whether integers may differ between iterations, and be loaded and stored, as truth values may.
    pub integers: bool,
    /// Whether numbers of 32 bits may be loaded and stored, and made of those of 64 bits and the other way round.
    pub narrow: bool,
    /// Whether integers that differ may be divided by a power of two that is written down.
    pub halves: bool,
    /// Whether it can leave a vector for single iterations where a check does not hold.
    pub checks: bool,
    /// Whether it can compute both sides of a branch, and select.
    pub branches: bool,
    /// Whether a branch may load and check, for those iterations that take it.
    pub guarded: bool,
    /// Whether it can add up what several iterations have computed, one after the other, so that loops of
    /// sums in order, up and down, may be taken several iterations at a time.
    pub in_order: bool,
    /// Whether it can ask for several iterations at a time if something holds for all.
    pub conjunctions: bool,
    /// Whether a loop of sums may stand in one of which it takes several iterations: it is as long for all of them, and each has
    /// sums of its own.
    pub nested: bool,
    /// Which operations there are.
    pub operation: fn(Opcode) -> bool,
    /// Which functions of the runtime may be called, by symbol, if need be one by one.
    pub function: fn(&str) -> bool,
    /// Which of them take a vector.
    pub wide: fn(&str) -> bool,
}

/// Where the cells that several iterations load or store may lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Reach {
    /// Side by side, at the loop's index plus a constant.
    #[default]
    Neighbours,
    /// Also so many cells apart as is written down, if they are floats of 64 bits: the coordinates of points.
    Strides,
    /// Also rows apart, of such floats.
    Rows,
    /// Also at any index, and other numbers.
    Anywhere,
}

/// Loops whose iterations may be taken together, beside those that sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// None.
    None,
    /// Those that call a function which takes a vector, or multiply derivatives: what is left of such a product is behind a
    /// branch, so a vectoriser that only sees the branch finds no vectors worth while.
    CallsAndProducts,
    /// All.
    All,
}

impl Vectors {
    /// A backend that can do everything that the loop form can say.
    pub const EVERYTHING: Vectors = Vectors {
        loops: Loops::All,
        together: LANES as u32,
        longest: 200,
        masked: true,
        stores_last: true,
        reach: Reach::Anywhere,
        integers: true,
        narrow: true,
        halves: true,
        checks: true,
        branches: true,
        guarded: true,
        in_order: true,
        conjunctions: true,
        nested: true,
        operation: |_| true,
        function: |_| true,
        wide: |_| true,
    };
}
