//! jut
pub mod bind;
pub mod error;
pub mod json;
pub mod leaves;
pub mod source;
pub mod value;
pub use error::*;
pub use value::*;
