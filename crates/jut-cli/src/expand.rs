//! `jut expand FILE.rs`: the text that the annotated functions of a Rust file become.

use crate::output::print;
use jut_build::rust::expand as of_file;
use std::path::Path;

/// Prints the text; what cannot be translated goes to standard error.
pub fn expand(path: &Path) -> jut::Result<u8> {
    let expanded = of_file(path)?;
    for refusal in &expanded.refused {
        eprintln!("Error: {refusal}");
    }
    if !expanded.text.is_empty() {
        print(&expanded.text);
    }
    Ok(u8::from(!expanded.refused.is_empty()))
}
