//! 1. Tangents: what a derivative is a function of.
//!
//! Take a function and a point. A *tangent* `x'` is a direction in which the point may move, with a
//! speed; the derivative says how fast the result then moves. It is a *linear* function of the tangent:
//! twice the speed, twice the change. A gradient is not where differentiation begins. It is a way to
//! write this linear function down, for functions with one number as their result.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def area(width: f64, height: f64) -> f64 = width * height",
//! )?;
//! // The area and its change, at 3 x 5, when the width grows at speed 1 and the height shrinks at 0.5.
//! let jvp = model.function("area")?.jvp()?;
//! let results = jvp.call(&[3.0.into(), 5.0.into(), 1.0.into(), (-0.5).into()])?;
//! assert_eq!(results[0].floats(), [15.0]);
//! assert_eq!(results[1].floats(), [5.0 * 1.0 + 3.0 * -0.5]);
//! # Ok(())
//! # }
//! ```
//!
//! The tangent of a value has the type of the value, without what cannot move:
//!
//! | type | type of its tangent |
//! |---|---|
//! | `f64` | `f64` |
//! | `[n]f64`, `[n, m]f64` | the same |
//! | `i64`, `bool` | none |
//! | `#(f64, i64)`, a record | the tangents of those components that have one |
//! | a sum | the tangents of all constructors, side by side; zero for those that were not taken |
//!
//! So an index, a size and the outcome of a comparison have no derivative, not a zero one: no tangent
//! is passed for them, and none is stored. Where a float becomes an integer (`i64(x)`) the derivative is
//! cut, and the checker says so (`J702`).
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def pick[n](x: [n]f64, i: i64, flag: bool) -> f64 = if flag { x[i] * x[i] } else { 0.0 }",
//! )?;
//! let jvp = model.function("pick")?.jvp()?;
//! let names: Vec<String> = jvp.inputs().map(|p| format!("{}: {}", p.name, p.ty)).collect();
//! assert_eq!(names, ["x: [n]f64", "i: i64", "flag: bool", "x': [n]f64"]);
//! # Ok(())
//! # }
//! ```
//!
//! By default every parameter with a float is differentiated. [`Function::wrt`](crate::Function::wrt)
//! names fewer; the others are then constants of the derivative, and nothing is computed for them.
//!
//! Next: [`forward`](super::forward), how a program for tangents is made.
