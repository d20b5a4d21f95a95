//! What a file is known to have, and what was asked of it.

use jut::rust::Type;
use jut_rust::file::File;
use std::cell::RefCell;

/// Names of a file, what was taken for granted, and which functions were meant.
pub(super) struct Names<'f> {
    pub file: &'f File,
    /// What only rustc knows, of what was asked for since this was taken.
    guessed: RefCell<Vec<String>>,
    pub called: RefCell<Vec<usize>>,
    /// The holes of the function that is filled, up to the one that is, with the types that they have.
    pub types: RefCell<Vec<Type>>,
}

impl<'f> Names<'f> {
    pub fn new(file: &'f File) -> Names<'f> {
        Names {
            file,
            guessed: RefCell::default(),
            called: RefCell::default(),
            types: RefCell::default(),
        }
    }

    /// What only rustc knows, and the functions that were meant.
    pub fn taken(&self) -> (Vec<String>, Vec<usize>) {
        (self.guessed.take(), self.called.take())
    }

    pub fn guess(&self, what: impl Into<String>) {
        self.guessed.borrow_mut().push(what.into());
    }
}

/// The last word of a path.
pub(super) fn last(path: &str) -> String {
    let path = path.replace(' ', "");
    path.trim_end_matches("asusize").rsplit("::").next().unwrap_or("").to_string()
}

/// A path, or an expression with one, as one word of the text.
pub(super) fn word(path: &str) -> String {
    let path = path.replace(' ', "").replace("r#", "").replace("::", "_");
    let letters = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let name: String = letters.collect();
    let name = name.trim_matches('_');
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("n{name}"),
        false if name.is_empty() => "elsewhere".to_string(),
        false => jut_rust::names::word(name),
    }
}
