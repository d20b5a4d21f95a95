//! Names for what goes into a compiled function and what comes out.

use jut_ir::{NVar, Type};
use std::ops::Range;

/// Whether a result is one of the function's own, or a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A result of the function.
    Value,
    /// A gradient or cotangent (named after its parameter), or a tangent (named after its result).
    Derivative,
}

/// A parameter or result as its user sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its type in the words of the program, such as `[n, d]f64`.
    pub ty: &'p str,
    /// What it is. Arguments are values; tangents and cotangents among the arguments derivatives.
    pub role: Role,
}

/// A parameter of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its name.
    pub name: String,
    /// An argument of the function, or a tangent or cotangent.
    pub role: Role,
    /// A size that the caller leaves out.
    pub hidden: bool,
}

/// A result of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
}

/// A result with everything needed to hand it out.
#[derive(Clone, Debug)]
pub(crate) struct OutputPlan {
    pub name: String,
    pub role: Role,
    pub ty: Type,
    pub shown: String,
    /// Its leaves among those of all results.
    pub leaves: Range<usize>,
    /// The name by which the types of other results call it.
    pub var: Option<NVar>,
}
