//! What an activation of a function has.

use crate::region::Cell;
use crate::value::Value;

/// The variables of one activation of a function.
pub(crate) struct Frame {
    pub slots: Vec<Value>,
    pub caps: Vec<Capability>,
}

/// What a capability is at run time.
#[derive(Clone, Debug)]
pub(crate) enum Capability {
    /// `null`: reads give zero, additions are discarded.
    Null,
    /// `rd`: a view of the value.
    Read(Value),
    /// `wr`, `acc`: a place in a region.
    Sum(Cell),
}
