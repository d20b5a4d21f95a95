//! Activity: which values of a function have a tangent.

/// What the results of a function depend on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Influence {}
