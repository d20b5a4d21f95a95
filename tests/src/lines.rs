//! The lines that programs print, taken while they run.

use jut_runtime::print::{self, Printer};
use std::sync::{Arc, Mutex, PoisonError};

/// Does some work; gives its outcome, and the lines that it has printed on whichever thread.
pub fn printed<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let to = lines.clone();
    let printer = Printer::new(move |line| {
        to.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
    });
    let outcome = print::to(Some(printer), work);
    let lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
    (outcome, lines)
}
