//! What is made of an annotated function once per process.

use super::derivative;
use super::description::Description;
use super::entry::{Choice, Entries};
use super::linker::{Linked, Linker};
use crate::error::Result;
use crate::model::Function;
use std::sync::OnceLock;

/// What is made of a function once per process: its program when it is first asked for, and the code of the derivatives that typed
/// functions call.
pub struct Cell {
    linked: OnceLock<Linked>,
    choice: OnceLock<Choice>,
    entries: Entries,
    /// The derivative at a point.
    linearized: OnceLock<derivative::Compiled>,
    /// The same of the program in which rows have lengths of their own.
    uneven: OnceLock<Box<Cell>>,
}

impl Cell {
    /// Nothing is there yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Cell {
        Cell {
            linked: OnceLock::new(),
            choice: OnceLock::new(),
            entries: Entries::new(),
            linearized: OnceLock::new(),
            uneven: OnceLock::new(),
        }
    }

    pub(super) fn get(&self, of: &Description) -> Result<&Linked> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let linked = Linker::link(of)?;
        Ok(self.linked.get_or_init(|| linked))
    }

    /// The derivatives that typed functions call.
    #[inline(always)]
    pub(super) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The derivative at a point, compiled if it is not there yet.
    pub(super) fn linearized(&self, of: &Description) -> Result<&derivative::Compiled> {
        if let Some(compiled) = self.linearized.get() {
            return Ok(compiled);
        }
        let compiled = derivative::compile(of)?;
        Ok(self.linearized.get_or_init(|| compiled))
    }

    /// That of the program in which rows have lengths of their own.
    pub(super) fn uneven(&self) -> &Cell {
        self.uneven.get_or_init(|| Box::new(Cell::new()))
    }

    /// Says how they are compiled; whether that is said in time.
    pub(super) fn choose(&self, choice: Choice) -> bool {
        self.choice.set(choice).is_ok()
    }

    /// The function as it was chosen to be compiled. From here on nothing else is chosen.
    pub(super) fn chosen(&self, function: Function) -> Function {
        match self.choice.get_or_init(|| None) {
            Some(choice) => choice(function),
            None => function,
        }
    }
}
