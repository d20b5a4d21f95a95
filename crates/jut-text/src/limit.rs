//! How many messages are given about one file.
//!
//! A text that is not jut at all would have a message for every token; nobody reads those, and tools
//! choke on them.

use jut_ir::{Diagnostic, Severity};

/// The most messages about one file, not counting the one that says how many were left out.
pub const MAX_MESSAGES: usize = 50;

/// Of messages in the order of their places, for each file the first [`MAX_MESSAGES`], errors before
/// warnings, then J004 with the number of those left out. Cost: linear.
pub(crate) fn limit(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    let mut rest = diagnostics.into_iter().peekable();
    while let Some(first) = rest.next() {
        let file = first.span.file;
        let mut own = vec![first];
        own.extend(std::iter::from_fn(|| rest.next_if(|d| d.span.file == file)));
        limit_file(own, &mut all);
    }
    all
}

fn limit_file(own: Vec<Diagnostic>, all: &mut Vec<Diagnostic>) {
    if own.len() <= MAX_MESSAGES {
        return all.extend(own);
    }
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    let mut errors = own.iter().filter(|d| is_error(d)).count().min(MAX_MESSAGES);
    let mut warnings = MAX_MESSAGES - errors;
    let (mut count, mut first) = (0, None);
    let mut worst = Severity::Warning;
    for diagnostic in own {
        let left = if is_error(&diagnostic) { &mut errors } else { &mut warnings };
        match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                all.push(diagnostic);
            }
            None => {
                if is_error(&diagnostic) {
                    worst = Severity::Error;
                }
                first.get_or_insert(diagnostic.span);
                count += 1;
            }
        }
    }
    if let Some(span) = first {
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{count} more message{plural} about this file");
        let error = Diagnostic::error("J004", span, message);
        all.push(Diagnostic { severity: worst, ..error });
    }
}
