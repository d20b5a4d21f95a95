//! Linear A as jut has it: a typed functional intermediate representation whose type system
//! separates non-linear values from linear ones ("You Only Linearize Once", POPL 2023), extended
//! to arrays with run-time sizes, loops, branches and data types.
//!
//! | module | what |
//! |---|---|
//! | [`entity`] | one index type per kind of name |
//! | [`scalar`] | floats of a width, integers, truth values |
//! | [`size`], [`types`] | symbolic sizes in normal form; types and tangent types |
//! | [`tangent`] | declared tangent types, of recursive data and others |
//! | [`ir`] | programs, functions, blocks, statements |
//! | [`prim`] | the table of non-linear primitives: one row each |
//! | [`structured`] | the table of structured primitives, closed under transposition |
//! | [`foreign`] | functions of other languages |
//! | [`build`], [`sizes`] | making functions with fresh names; statements that compute sizes |
//! | [`calls`] | the graph of calls, and what calls itself |
//! | [`visit`] | what a statement reads, binds and nests |
//! | [`hash`] | hash tables for the compiler's own keys |
//! | [`names`] | the names of derived functions, in one place |
//! | [`cover`] | the range rule: which accesses need no check |
//! | [`check`] | the type checker, which shares no code with the passes |
//! | [`print`] | the text form of a program |
//! | [`alpha`] | programs up to names |
//! | [`normal`] | linear functions up to names and order |
//! | [`diagnostic`] | errors as data, with code, span, reason and fix |
//! | [`codes`] | every code: what it means, and what to do in general |

pub mod alpha;
pub mod build;
pub mod calls;
pub mod carries;
pub mod check;
pub mod codes;
mod contents;
pub mod cover;
mod data;
pub mod diagnostic;
pub mod early;
pub mod entity;
pub mod foreign;
mod function;
pub mod graph;
pub mod hash;
pub mod in_place;
pub mod ir;
pub mod map;
pub mod names;
pub mod normal;
pub mod prim;
pub mod print;
pub mod record;
pub mod repair;
pub mod reuse;
pub mod scalar;
pub mod size;
pub mod sizes;
pub mod span;
pub mod structured;
pub mod tangent;
pub mod tape;
pub mod types;
pub mod visit;

pub use data::parameter;
pub use diagnostic::{Diagnostic, Edit, RuntimeError, RuntimeErrorKind, Severity, WRAPPED};
pub use entity::{Cap, DataId, FuncId, LVar, NVar};
pub use ir::*;
pub use names::Name;
pub use scalar::{Scalar, Width};
pub use size::Size;
pub use span::{Loc, Origin, Span};
pub use structured::Structured;
pub use tape::TapePolicy;
pub use types::Type;
