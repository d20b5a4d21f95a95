//! jut
mod bind;
mod compiled;
mod engine;
mod error;
mod excerpt;
pub mod json;
mod leaves;
mod model;
mod pipeline;
mod ports;
mod source;
mod value;

pub use compiled::{Compiled, Results, Session};
pub use error::{ArgumentError, Error, Result};
pub use jut_ad::Policy;
pub use jut_ir::{Diagnostic, RuntimeError, RuntimeErrorKind, Severity, Span};
pub use model::{Function, Model};
pub use pipeline::{Engine, Product, Stage};
pub use ports::{Port, Role};
pub use source::{Diagnostics, RunError, Source};
pub use value::{Arg, Array, Out, Value};
