//! 5. The gradient: the three together.
//!
//! For a function with one number as its result, run `f.nonlin`, then `f.linT` with the cotangent 1.
//! What comes out, one array for each parameter, is the gradient. It costs a small multiple of the
//! function, however many parameters there are: every line of `f.linT` stems from one line of `f`.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def loss[n, d](w: [d]f64, x: [n, d]f64, y: [n]f64) -> f64 = sum (i < n) {
//!        r = y[i] - sum (j < d) { w[j] * x[i, j] }
//!        r * r
//!      }",
//! )?;
//! let gradient = model.function("loss")?.wrt(&["w"])?.value_and_gradient()?;
//!
//! let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // three rows of two
//! let y = [1.0, 2.0, 3.0];
//! let mut w = vec![0.0, 0.0];
//! let mut session = gradient.session();
//! for _ in 0..2000 {
//!     let results = session.call(&[(&w).into(), (&x).into(), (&y).into()])?;
//!     let step: Vec<f64> = results.f64s("w")?.iter().map(|g| 0.01 * g).collect();
//!     w.iter_mut().zip(step).for_each(|(w, s)| *w -= s);
//! }
//! assert!((w[0] - 0.0).abs() < 1e-3 && (w[1] - 0.5).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```
//!
//! A gradient has the name and the type of its parameter. [`Results::f64s`](crate::Results::f64s) looks
//! for a derivative of a name first; so `results.f64s("w")` above is the gradient.
//!
//! With several results, or arrays of them, say with a cotangent which combination is meant: the
//! gradient of `2 a + b` of two results `a` and `b` is a vector-Jacobian product.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f(x: f64) -> (a: f64, b: f64) = (x * x, sin(x))",
//! )?;
//! let error = model.function("f")?.gradient().err().map(|e| e.code());
//! assert_eq!(error, Some(Some("J802"))); // of which result?
//! let vjp = model.function("f")?.vjp()?;
//! let names: Vec<&str> = vjp.inputs().map(|p| p.name).collect();
//! assert_eq!(names, ["x", "a''", "b''"]);
//! let mut session = vjp.session();
//! let results = session.call(&[3.0.into(), 2.0.into(), 1.0.into()])?;
//! assert_eq!(results.f64("x")?, 2.0 * 6.0 + 3f64.cos());
//! # Ok(())
//! # }
//! ```
//!
//! A gradient fails exactly where its function fails. At kinks (`abs` at 0, a tie of `max`) it is what
//! the table of primitives says, the same in every mode and engine.
//!
//! **In doubt?** `jut grad --check` compares native code with the interpreter bit for bit, reverse with
//! forward mode, and both with central differences.
//!
//! Next: [`hessian`](super::hessian).
