//! The page of a whole run in the documentation: the charts, and the table in the text.

use super::engines::EngineReport;
use super::{Report, page, table};
use std::error::Error;
use std::path::Path;

/// Begins what a run of the harness writes in a text that people write.
pub const BEGIN: &str = "<!-- written by `cargo run --release -p jut-benches` -->";
/// Begins what a run of the engines writes.
pub const ENGINES: &str =
    "<!-- written by `cargo run --release -p jut-benches --features llvm,mlir --bin engines` -->";
/// Ends both.
pub const END: &str = "<!-- end of what is written -->";

/// The text with the lines between a mark and the end replaced; `None` if it does not have them.
pub fn renewed(text: &str, mark: &str, lines: &str) -> Option<String> {
    let (before, rest) = text.split_once(mark)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{mark}\n\n{}\n\n{END}{after}", lines.trim_end()))
}

/// Writes `performance.html`, and the table in `performance.md`, of a folder.
///
/// # Errors
/// A file cannot be read or written, or has no place for the table.
pub fn write(report: &Report, folder: &Path) -> Result<(), Box<dyn Error>> {
    replace(folder, BEGIN, &table::markdown(report))?;
    Ok(std::fs::write(folder.join("performance.html"), page::page(report)?)?)
}

/// Writes the tables of a run of the engines in `performance.md` of a folder.
///
/// # Errors
/// The file cannot be read or written, or has no place for the tables.
pub fn write_engines(report: &EngineReport, folder: &Path) -> Result<(), Box<dyn Error>> {
    replace(folder, ENGINES, &report.markdown())
}

fn replace(folder: &Path, mark: &str, lines: &str) -> Result<(), Box<dyn Error>> {
    let path = folder.join("performance.md");
    let text = std::fs::read_to_string(&path)?;
    let text = renewed(&text, mark, lines)
        .ok_or_else(|| format!("{} lacks the lines `{mark}` and `{END}`", path.display()))?;
    Ok(std::fs::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb {END}\n");
        let new = renewed(&text, BEGIN, "| 1 |\n").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}\n\n| 1 |\n\n{END}\nb {END}\n"));
        assert_eq!(renewed(&new, BEGIN, "| 1 |").as_deref(), Some(&*new));
        assert_eq!(renewed("no marks", BEGIN, "new"), None);
    }

    #[test]
    fn the_text_of_the_documentation_has_the_marks() {
        let text = include_str!("../../../docs/performance.md");
        assert!(renewed(text, BEGIN, "").is_some());
        assert!(renewed(text, ENGINES, "").is_some());
    }
}
