//! The optimisations of Linear A.

mod fused;
mod rewrites;
mod tables;

use jut_ir::Program;

/// The program of a text.
fn load(text: &str) -> Program {
    let loaded = jut_text::load(text, 0);
    loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}
