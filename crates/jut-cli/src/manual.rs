//! What the command line says of itself: completions for shells, and manual pages. Both are made from
//! the definition of the options, so they are never out of date.

use crate::options::Options;
use crate::output::print;
use clap::CommandFactory;
use clap_complete::Shell;
use jut::{Error, Result};
use std::path::Path;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "jut", &mut text);
    print(&String::from_utf8_lossy(&text));
    Ok(0)
}

/// Writes jut.1, and a page for every command and its commands: jut-grad.1, jut-explain-cost.1.
pub fn pages(directory: &Path) -> Result<u8> {
    let failed = |e| Error::File(directory.to_path_buf(), e);
    std::fs::create_dir_all(directory).map_err(failed)?;
    let options = Options::command().disable_help_subcommand(true);
    clap_mangen::generate_to(options, directory).map_err(failed)?;
    print(&format!("wrote {} and a page for every command\n", directory.join("jut.1").display()));
    Ok(0)
}
