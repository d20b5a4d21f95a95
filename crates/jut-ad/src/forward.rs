//! J: not built yet.

use crate::{Derivatives, Mask};
use jut_ir::{Diagnostic, FuncId, Span};

/// The pass.
///
/// # Errors
/// What it cannot do yet.
pub fn forward(
    _derivatives: &mut Derivatives,
    _func: FuncId,
    _mask: &Mask,
) -> Result<FuncId, Diagnostic> {
    Err(Diagnostic::error("J901", Span::NONE, "not built yet: forward"))
}
