//! Functions of other languages in shared libraries.

use jut_runtime::foreign::{Function, Symbol};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A shared library with C functions. It stays loaded as long as this or one of its functions is there.
#[derive(Clone, Debug)]
pub struct Library {
    library: Arc<libloading::Library>,
    path: PathBuf,
}

impl Library {
    /// Loads a file.
    ///
    /// # Errors
    /// What the system says of a file that cannot be loaded.
    ///
    /// # Safety
    /// As for a program that is started: loading runs code of the file, and of what it is linked with. Each symbol that it has by the
    /// name of a function that is asked for is one, and is what [`Function::of_symbol`] needs.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Library, String> {
        let path = path.as_ref().to_path_buf();
        // SAFETY: as required of the caller.
        let library = unsafe { libloading::Library::new(&path) }.map_err(|e| e.to_string())?;
        Ok(Library { library: Arc::new(library), path })
    }

    /// Where it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The function with a symbol, called by a name; `None` if there is no such symbol.
    pub fn function(&self, name: &str, symbol: &str) -> Option<Function> {
        // SAFETY: the symbols of the library are such functions, as was required when it was loaded.
        let found = unsafe { self.library.get::<Symbol>(symbol.as_bytes()) }.ok()?;
        // SAFETY: as above; the function holds the library.
        Some(unsafe { Function::of_symbol(name, *found, self.library.clone()) })
    }
}
