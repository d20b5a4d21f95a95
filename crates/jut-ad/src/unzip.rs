//! U: not built yet.

use crate::{Derivatives, Policy, Unzipped};
use jut_ir::{Diagnostic, FuncId, Span};

/// The pass.
///
/// # Errors
/// What it cannot do yet.
pub fn unzip(
    _derivatives: &mut Derivatives,
    _func: FuncId,
    _policy: Policy,
) -> Result<Unzipped, Diagnostic> {
    Err(Diagnostic::error("J901", Span::NONE, "not built yet: unzip"))
}
