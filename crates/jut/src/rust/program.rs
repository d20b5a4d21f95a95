//! A program of the language as a part of a Rust crate: what `jut::program!` writes.

use crate::error::Result;
use crate::model::Model;
use std::sync::OnceLock;

/// A program that was checked when the crate was compiled; it is read when it is first used.
pub struct Program {
    sources: &'static [(&'static str, &'static str)],
    model: OnceLock<Model>,
}

impl Program {
    /// A program by its texts and what they are called: the program, then the modules that it uses.
    pub const fn new(sources: &'static [(&'static str, &'static str)]) -> Program {
        Program { sources, model: OnceLock::new() }
    }

    pub(super) fn model(&self) -> Result<Model> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let model = Model::from_sources(self.sources)?;
        Ok(self.model.get_or_init(|| model).clone())
    }
}
