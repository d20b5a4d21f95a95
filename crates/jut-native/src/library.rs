//! Functions of other languages in shared libraries.

use jut_runtime::foreign::{Function, Symbol};
use libloading::Library;
use std::path::Path;
use std::sync::Arc;

/// Those of some functions that a shared library has, by the names of the program and the symbols of the library. The library stays loaded
/// as long as one of them is there.
///
/// *Trust*: whoever names the file vouches for it, as for a program that is started. Loading it runs what it says is to run then, and
/// its symbols are taken for functions as [`Function::of_symbol`] needs them.
///
/// # Errors
/// What the system says of a file that cannot be loaded.
pub fn functions(path: &Path, names: &[(String, String)]) -> Result<Vec<Function>, String> {
    // SAFETY: the file is trusted.
    let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
    let library = Arc::new(library);
    let mut functions = Vec::new();
    for (name, symbol) in names {
        // SAFETY: a symbol of the file, which is trusted, has this type.
        let found = unsafe { library.get::<Symbol>(symbol.as_bytes()) };
        if let Ok(found) = found {
            // SAFETY: the file is trusted, and the function holds the library.
            functions.push(unsafe { Function::of_symbol(name, *found, library.clone()) });
        }
    }
    Ok(functions)
}
