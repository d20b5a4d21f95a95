//! An annotated function as solvers want it, of one vector: what `f::flat(..)` gives.

use super::arguments::{Arguments, Holding};
use super::description::Description;
use super::{Held, Source};
use crate::error::Result;
use crate::flat::Flat;
use crate::value::Arg;

/// The function of the vector that the arguments make whose derivatives are asked for; see [`Function::flat`](crate::Function::flat).
/// `names` are those of the parameters in the vector.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// #[derive(jut::Data)]
/// struct Line {
///     slope: f64,
///     shift: f64,
/// }
///
/// #[jut::differentiable(wrt(line))]
/// fn misfit(line: &Line, x: &[f64], y: &[f64]) -> f64 {
///     x.iter().zip(y).map(|(x, y)| (line.slope * x + line.shift - y).powi(2)).sum()
/// }
///
/// let flat = misfit::flat(&Line { slope: 1.0, shift: 0.0 }, &[0.0, 1.0], &[1.0, 3.0])?;
/// let mut gradient = [0.0; 2];
/// assert_eq!(flat.gradient_into(&[2.0, 0.0], &mut gradient)?, 2.0);
/// assert_eq!((flat.start(), gradient), (&[1.0, 0.0][..], [-2.0, -4.0]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As those of [`call`](super::call), and of [`Function::flat`](crate::Function::flat).
pub fn flat<'a, S: Source>(names: &[&str], arguments: impl Arguments<'a>) -> Result<Flat> {
    let of = Description::of::<S>();
    let function = of.cell().chosen(of.function()?);
    let mut held = Holding::new();
    arguments.hold(&mut held)?;
    let mut flat = None;
    Held::with(held.as_slice(), &mut |args: &[Arg<'_>]| -> Result<()> {
        flat = Some(function.flat(args)?.called(names));
        Ok(())
    })?;
    flat.ok_or_else(|| crate::Error::Request(format!("`{}` has no arguments", function.name())))
}
