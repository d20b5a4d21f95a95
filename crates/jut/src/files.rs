//! Where the texts of modules are.
//!
//! A program of several files says `use lib.stats`; [`jut_text`] turns that into a name from the
//! program's directory on, and here the name becomes a file: `lib/stats.jut` beside the program, or one
//! of the texts that were given together. Where there is no such file, it is a module of the standard library.

use crate::source::Source;
use jut_text::{file_name, standard};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Finds modules.
pub(crate) trait Files {
    /// The text of a module by its full name, `None` if there is none; or why it cannot be read.
    fn module(&mut self, name: &str) -> Result<Option<Source>, String>;
}

/// A text without files beside it.
pub(crate) struct Alone;

impl Files for Alone {
    fn module(&mut self, name: &str) -> Result<Option<Source>, String> {
        Ok(standard::alone(name)?.map(|text| library(name, text)))
    }
}

/// A module of the standard library, under the name of the file that it would be.
fn library(name: &str, text: &str) -> Source {
    Source { name: file_name(name), text: text.to_string() }
}

/// The directory of a program.
pub(crate) struct Beside {
    directory: PathBuf,
}

impl Beside {
    /// The directory of the program in the given file.
    pub fn new(program: &Path) -> Beside {
        Beside { directory: program.parent().unwrap_or(Path::new("")).to_path_buf() }
    }
}

impl Files for Beside {
    fn module(&mut self, module: &str) -> Result<Option<Source>, String> {
        let path = self.directory.join(file_name(module));
        let name = path.display().to_string();
        // Modules are found, not named: reading a pipe or a device would wait for ever.
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            return Err(format!("{name} is no regular file"));
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(Source { name, text })),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(standard::module(module).map(|text| library(module, text)))
            }
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

/// Texts that were given together, by file name.
pub(crate) struct Embedded<'t>(pub &'t [(&'t str, &'t str)]);

impl Files for Embedded<'_> {
    fn module(&mut self, name: &str) -> Result<Option<Source>, String> {
        let file = file_name(name);
        let found = self.0.iter().find(|(name, _)| *name == file);
        let given =
            |(name, text): &(&str, &str)| Source { name: name.to_string(), text: text.to_string() };
        Ok(found.map(given).or_else(|| Some(library(name, standard::module(name)?))))
    }
}
