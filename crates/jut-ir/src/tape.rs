//! What the text says about the tape of a statement.
//!
//! ```text
//! c = @store exp(x)          what it makes is stored, and not computed again
//! y = @recompute g(x)        nothing of it is stored: the linear half computes it again
//! @segment(100) for (i < n) carry (a = x) { .. }
//! @levels(3) for (i < n) carry (a = x) { .. }
//! @revolve(20) for (i < n) carry (a = x) { .. }
//! @online(20) while carry (a = x) a > 1.0 { .. }
//! ```
//!
//! A policy changes no value and no derivative, but only what memory and work they take. It stands on the statement
//! ([`crate::Loc::tape`]): J copies it to what it makes of the statement's values, the optimiser keeps it, U does what it
//! says, and nothing after U knows of it.

use std::fmt;

/// What U is to do with what a statement makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TapePolicy {
    /// What U finds best.
    #[default]
    Free,
    /// `@store`: values that the linear half needs go on the tape.
    Store,
    /// `@recompute`: the linear half computes them again, from what the statement reads.
    Recompute,
    /// `@segment(k)`: of a loop, what is carried is stored every k iterations, and the iterations between are run again.
    Segment(u32),
    /// `@levels(d)`: segments in segments, d loops in each other of about as many iterations each.
    Levels(u32),
    /// `@revolve(c)`: what is carried is stored at up to c places at a time, between which it is run again, so that no
    /// iteration runs more often than need be.
    Revolve(u32),
    /// `@online(c)`: the same of a loop that may end early.
    Online(u32),
}

impl TapePolicy {
    /// The words of the policies.
    pub const WORDS: [&str; 6] = ["store", "recompute", "segment", "levels", "revolve", "online"];

    /// The policy of a word and the number behind it, if that is one.
    pub fn of(word: &str, number: Option<u32>) -> Option<TapePolicy> {
        match (word, number) {
            ("store", None) => Some(TapePolicy::Store),
            ("recompute", None) => Some(TapePolicy::Recompute),
            ("segment", Some(k @ 1..)) => Some(TapePolicy::Segment(k)),
            ("levels", Some(d @ 1..=Self::DEEPEST)) => Some(TapePolicy::Levels(d)),
            ("revolve", Some(c @ 1..=Self::MOST)) => Some(TapePolicy::Revolve(c)),
            ("online", Some(c @ 1..=Self::MOST)) => Some(TapePolicy::Online(c)),
            _ => None,
        }
    }

    /// The most loops that `@levels` makes of one.
    pub const DEEPEST: u32 = 16;

    /// The most checkpoints of `@revolve` and `@online`.
    pub const MOST: u32 = 1 << 16;

    /// Whether it is about the iterations of a loop.
    pub fn is_schedule(self) -> bool {
        !matches!(self, TapePolicy::Free | TapePolicy::Store | TapePolicy::Recompute)
    }
}

impl fmt::Display for TapePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TapePolicy::Free => Ok(()),
            TapePolicy::Store => f.write_str("@store"),
            TapePolicy::Recompute => f.write_str("@recompute"),
            TapePolicy::Segment(k) => write!(f, "@segment({k})"),
            TapePolicy::Levels(d) => write!(f, "@levels({d})"),
            TapePolicy::Revolve(c) => write!(f, "@revolve({c})"),
            TapePolicy::Online(c) => write!(f, "@online({c})"),
        }
    }
}
