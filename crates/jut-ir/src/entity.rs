//! Typed indices: one type per kind of name, so that a linear variable can
//! never stand where a non-linear one is meant.

use cranelift_entity::entity_impl;
pub use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

/// A non-linear variable of one function (`x`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NVar(u32);
entity_impl!(NVar, "n");

/// A linear variable of one function (`x'`): a tangent or a cotangent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LVar(u32);
entity_impl!(LVar, "l");

/// A capability (`rd`, `wr`) or reference (`acc`) of one function (`dx`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cap(u32);
entity_impl!(Cap, "c");

/// A definition of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(u32);
entity_impl!(FuncId, "f");

/// A data type of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataId(u32);
entity_impl!(DataId, "d");
