//! Code through MLIR: the text, and its values.

mod text;
mod values;
