//! T: not built yet.

use crate::Derivatives;
use jut_ir::{Diagnostic, FuncId, Span};

/// The pass.
///
/// # Errors
/// What it cannot do yet.
pub fn transpose(_derivatives: &mut Derivatives, _func: FuncId) -> Result<FuncId, Diagnostic> {
    Err(Diagnostic::error("J901", Span::NONE, "not built yet: transpose"))
}
