//! An arm of a branch before elaboration.

use super::assigned::Assigned;
use crate::ast::{ExprId, FieldPattern, If, Name};
use jut_ir::{ArmPattern, Atom};
use std::rc::Rc;

/// An arm before elaboration.
pub(crate) struct ArmSpec<'a, 's> {
    pub pattern: ArmPattern,
    pub name: Name<'s>,
    /// `None`: bind nothing (an arm made from `_`).
    pub fields: Option<&'a [FieldPattern<'s>]>,
    /// The fields of all constructors, if the value is a sum with sizes as parameters.
    pub parts: Rc<[Atom]>,
    pub body: ArmBody<'a>,
}

/// What an arm computes.
#[derive(Clone, Copy)]
pub(crate) enum ArmBody<'a> {
    Expr(ExprId),
    Chain(Part<'a>),
}

/// A part of a chain.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(super) chain: &'a If,
    /// The integer that a `case` is on.
    pub(super) subject: Option<Atom>,
    /// The first way, and the last; the `else` counts as one.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The number of the way to take, if it is known.
    pub(super) number: Option<Atom>,
}

impl<'a> Part<'a> {
    /// What the part assigns.
    pub fn walk<'s>(&self, walk: &mut Assigned<'_, 's>) {
        walk.chain(self.chain, self.first, self.last);
    }
}
