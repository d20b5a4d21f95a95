//! A function over a batch, as a composition: L, then B.
//!
//! ```text
//! f(x: A; u': A') -> (B; B')      f.vmap(b, x: [b]A, u_t: [b]A') -> ([b]B, [b]B')
//! ```
//!
//! *Requires*: a mask of what is mapped ([`batch::mappable`] for all of it). *Ensures*: a definition without linear parts, whose first
//! parameter is how many elements there are.

use super::{Asked, Composition, Observer, Outcome, Parameter, refuse_accumulators};
use crate::{Derivatives, Mask, batch, erase};
use jut_ir::Diagnostic;

/// The function of every element of a batch.
pub(super) fn make(
    derivatives: &mut Derivatives,
    asked: &Asked,
    _: Observer,
) -> Result<Composition, Diagnostic> {
    let f = erase::erase(derivatives, asked.func)?;
    refuse_accumulators(&derivatives.program.funcs[f])?;
    // What was linear is mapped.
    let given = derivatives.program.funcs[asked.func].params.len();
    let count = derivatives.program.funcs[f].params.len();
    let mapped = Mask::of(count, |k| k >= given || asked.wrt.is_active(k));
    let func = batch::batch(derivatives, f, &mapped)?;
    let results = derivatives.program.funcs[func].results.len();
    let arguments = (0..count).map(Parameter::Argument);
    Ok(Composition {
        func,
        parameters: [Parameter::Count].into_iter().chain(arguments).collect(),
        results: (0..results).map(Outcome::Value).collect(),
    })
}
