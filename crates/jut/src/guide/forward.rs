//! 2. Forward: values and tangents side by side (J).
//!
//! J reads a program line by line and writes, beside each line, what happens to the tangents. Names
//! with `'` are linear. `jut show --stage forward` and [`Function::stage`](crate::Function::stage)
//! print what it makes, here of the paper's example (Fig. 6):
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(u: f64) -> f64 = { v = sin(u); t = -v; t }")?;
//! let text = model.function("f")?.stage(jut::Stage::Forward)?;
//! assert_eq!(
//!     text,
//!     "core def f.jvp(u: f64; u': f64) -> (f64; f64) = {
//!   v = sin(u)
//!   c = cos(u)
//!   v' = c * u'
//!   t = -v
//!   t' = -v'
//!   (t; t')
//! }
//! "
//! );
//! # Ok(())
//! # }
//! ```
//!
//! Left of the semicolons stands the program itself, unchanged. To the right, every operation is
//! linear: sums, negations, and products with a non-linear factor. A linear name is used exactly once;
//! where a tangent is needed twice there is a `dup`, and where it is not needed a `drop`. The checker,
//! which shares no code with J, holds the program to that, so a term that is lost or counted twice is a
//! type error and not a wrong number.
//!
//! Branches take the tangents of the arm that ran. Loops carry tangents beside their values. Arrays of
//! tangents are read through *capabilities*, `rd dx`, so that an index costs no copy of an array.
//!
//! Run as it stands, this is forward mode: one direction at a time, about the price of two to three runs
//! of the function, and no tape. It is right for functions with few inputs.
//!
//! | product | gives |
//! |---|---|
//! | [`Function::jvp`](crate::Function::jvp) | the results, and their tangents |
//! | [`Function::directional`](crate::Function::directional) | the tangents alone |
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def orbit(speed: f64, steps: i64) -> (x: f64, y: f64) = {
//!        (x, y, u, v) = for (i < steps) carry (x = 1.0, y = 0.0, u = 0.0, v = speed) {
//!          r = hypot(x, y)
//!          (x + 0.01 * u, y + 0.01 * v, u - 0.01 * x / r^3, v - 0.01 * y / r^3)
//!        }
//!        (x, y)
//!      }",
//! )?;
//! let mut session = model.function("orbit")?.directional()?.session();
//! let slope = session.call(&[1.0.into(), 100.into(), 1.0.into()])?.f64("y")?;
//! assert!((slope - 1.0).abs() < 0.1); // faster at the start, further at the end
//! # Ok(())
//! # }
//! ```
//!
//! Next: [`unzip`](super::unzip), which parts the two sides.
