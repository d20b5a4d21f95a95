//! The derivative of a typed function at a point, which is made once and applied many times: what `f::linearize(..)` gives.

use super::arguments::{Arguments, Holding};
use super::description::Description;
use super::outcome::{Taken, Wanted};
use super::{Held, Source, typed};
use crate::error::Result;
use crate::linear::{LinearSession, Linearized, Tape};
use crate::value::Arg;

/// The derivative of an annotated function at a point: a linear map from tangents of its parameters, of type `T`, to those of its result,
/// of type `R`. What it needs of the run at the point is on a tape, so applying it computes no logarithm and no condition again. `V` is
/// the type of the value. Of several parameters with floats `T` is a tuple.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// #[jut::differentiable]
/// fn steps(x: &[f64], k: f64) -> Vec<f64> {
///     (1..x.len()).map(|i| k * (x[i] - x[i - 1]).exp()).collect()
/// }
///
/// let mut at = steps::linearize(&[0.0, 0.0, 0.0], 2.0)?; // runs `steps`
/// assert_eq!(at.value(), &[2.0, 2.0]);
/// for k in 0..3 {
///     let along = at.apply(&(vec![0.0, k as f64, 0.0], 1.0))?; // does not
///     assert_eq!(along, [1.0 + 2.0 * k as f64, 1.0 - 2.0 * k as f64]);
/// }
/// assert_eq!(at.apply_transposed(&vec![1.0, 0.5])?, (vec![-2.0, 1.0, 1.0], 1.5));
/// # Ok(())
/// # }
/// ```
pub struct Derivative<V, T, R> {
    value: V,
    tape: Tape,
    session: LinearSession,
    /// Which results of the map and of its transpose are wanted.
    wanted: &'static [Vec<Wanted>; 3],
    reading: Reading<V, T, R>,
}

/// How what a derivative takes and gives is read.
#[derive(Clone, Copy)]
pub struct Reading<V, T, R> {
    /// The value of the function.
    pub value: fn(&mut Taken<'_>) -> Result<V>,
    /// Derivatives of the parameters.
    pub tangents: fn(&mut Taken<'_>) -> Result<T>,
    /// Those of the result.
    pub results: fn(&mut Taken<'_>) -> Result<R>,
    /// The same as arguments.
    pub hold_tangents: for<'a> fn(&'a T, &mut Holding<'a>) -> Result<()>,
    /// The same as arguments.
    pub hold_results: for<'a> fn(&'a R, &mut Holding<'a>) -> Result<()>,
}

impl<V: std::fmt::Debug, T, R> std::fmt::Debug for Derivative<V, T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Derivative").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<V, T, R> Derivative<V, T, R> {
    /// The value of the function at the point.
    pub fn value(&self) -> &V {
        &self.value
    }

    /// The tangent of the result along tangents of the parameters.
    ///
    /// # Errors
    /// A tangent of another shape than its parameter, or too little memory.
    pub fn apply(&mut self, tangents: &T) -> Result<R> {
        let Derivative { tape, session, wanted, reading, .. } = self;
        let mut held = Holding::new();
        (reading.hold_tangents)(tangents, &mut held)?;
        Held::with(held.as_slice(), &mut |args: &[Arg<'_>]| {
            let results = session.apply(tape, args)?;
            (reading.results)(&mut Taken::new(results, &wanted[1]))
        })
    }

    /// The cotangents of the parameters for one of the result.
    ///
    /// # Errors
    /// A cotangent of another shape than the result, or too little memory.
    pub fn apply_transposed(&mut self, cotangent: &R) -> Result<T> {
        let Derivative { tape, session, wanted, reading, .. } = self;
        let mut held = Holding::new();
        (reading.hold_results)(cotangent, &mut held)?;
        Held::with(held.as_slice(), &mut |args: &[Arg<'_>]| {
            let results = session.apply_transposed(tape, args)?;
            (reading.tangents)(&mut Taken::new(results, &wanted[2]))
        })
    }
}

/// The code of a function's derivative at a point, and which results of the function, the map and its transpose are wanted.
pub(super) type Compiled = (Linearized, [Vec<Wanted>; 3]);

/// Compiles it.
pub(super) fn compile(of: &Description) -> Result<Compiled> {
    let linearized = (of.cell)().chosen(of.function()?).linearize()?;
    let all = |outputs: std::ops::Range<usize>| {
        outputs.map(|output| Wanted { output, leaf: None }).collect()
    };
    // Sizes of results stand before them.
    let wanted = [
        all(of.result.sizes()..linearized.outputs().count()),
        all(0..linearized.cotangents().count()),
        all(0..linearized.tangents().count()),
    ];
    Ok((linearized, wanted))
}

/// Runs a function and keeps its derivative there.
///
/// # Errors
/// As those of [`call`](super::call).
pub fn linearize<'a, S: Source, V, T, R>(
    arguments: impl Arguments<'a>,
    reading: Reading<V, T, R>,
) -> Result<Derivative<V, T, R>> {
    let of = Description::of::<S>();
    let (linearized, wanted) = of.cell().linearized(of)?;
    let mut held = Holding::new();
    arguments.hold(&mut held)?;
    let (mut tape, mut session) = (linearized.tape(), linearized.session());
    if let Some(cancellation) = typed::cancellation() {
        tape.set_cancellation(&cancellation);
        session.set_cancellation(&cancellation);
    }
    Held::with(held.as_slice(), &mut |args: &[Arg<'_>]| tape.record(args).map(drop))?;
    let value = (reading.value)(&mut Taken::new(tape.results()?, &wanted[0]))?;
    Ok(Derivative { value, tape, session, wanted, reading })
}
