//! The head of a loop, and what a loop adds to.

use crate::ast::{LoopKind, Name};
use jut_ir::{Atom, Cap, Dir, LVar, NVar, Size, Type};

/// The head of a loop, evaluated outside of it.
pub(crate) struct Head<'s> {
    /// The user's index, and where it starts unless at 0.
    pub index: Option<(Name<'s>, Option<Atom>)>,
    /// Up or down, where iterations have an order.
    pub order: Dir,
    pub bound: Atom,
    pub size: Size,
    pub slices: Vec<(Name<'s>, NVar, Type)>,
    pub lin_slices: Vec<(Name<'s>, LVar, Type)>,
}

/// What a loop adds to.
pub(super) enum Sum {
    One(Cap),
    /// The sums of the real and of the imaginary parts.
    Complex([Cap; 2]),
}

/// Carries: name, and initial value.
pub(crate) type Starts<'s, T> = Vec<(Name<'s>, T)>;

/// The keyword of a loop whose iterations know nothing of each other.
pub(super) fn parallel(kind: LoopKind) -> Option<&'static str> {
    match kind {
        LoopKind::Sum => Some("sum"),
        LoopKind::Build => Some("build"),
        LoopKind::Map => Some("map"),
        LoopKind::Max => Some("max"),
        LoopKind::Min => Some("min"),
        LoopKind::For | LoopKind::Fold | LoopKind::While => None,
    }
}
