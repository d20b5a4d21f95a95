//! Gradients of programs, as compiled machine code.
//!
//! A model is a small text: functions over floats, integers and arrays, with loops and branches. jut
//! checks it, differentiates it as a program, and compiles the derivative. This page is the guide; the
//! language has a reference of its own, `docs/language.md`.
//!
//! # A gradient
//!
//! ```
//! use jut::Model;
//!
//! # fn main() -> jut::Result<()> {
//! let model = Model::from_text(
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
//! [`Model`] is the checked program. [`Function`] says what is wanted of one of its functions: which
//! parameters ([`Function::wrt`]), which [`Engine`], how much to store ([`Policy`]), how much memory
//! ([`Function::memory_limit`]). Its methods compile:
//!
//! | method | takes | gives |
//! |---|---|---|
//! | [`Function::value`] | the arguments | the results |
//! | [`Function::gradient`] | the arguments | a gradient per differentiated parameter |
//! | [`Function::value_and_gradient`] | the arguments | both |
//! | [`Function::jvp`] | arguments, and a tangent per differentiated parameter | results, and their tangents |
//! | [`Function::vjp`] | arguments, and a cotangent per float result | results, and a cotangent per differentiated parameter |
//!
//! # Arguments and results
//!
//! Arguments are given in the order of the parameters, without the sizes in brackets: these follow
//! from the arguments. Scalars and slices convert with `into()`; an array of higher rank is a slice,
//! with its shape where the sizes do not follow from other arguments:
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def trace[n](a: [n, n]f64) -> f64 = sum (i < n) { a[i, i] }
//!      def rows[n, m](a: [n, m]f64) -> [n]f64 = build (i < n) { sum (j < m) { a[i, j] } }",
//! )?;
//! let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let rows = model.function("rows")?.value()?;
//! let results = rows.call(&[(&a[..], &[2, 3]).into()])?;
//! assert_eq!(results[0].floats(), [6.0, 15.0]);
//!
//! let error = rows.call(&[(&a).into()]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "argument `n`: this size cannot be found: give the shape of `a` together with its elements",
//! );
//! # Ok(())
//! # }
//! ```
//!
//! Results are read by name from [`Results`], taken as owned [`Value`]s, or written into memory of the
//! caller with [`Session::call_into`]:
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f[n](x: [n]f64) -> f64 = sum (v <- x) { v * v }")?;
//! let gradient = model.function("f")?.value_and_gradient()?;
//! let (mut value, mut dx) = (0.0, [0.0; 2]);
//! let mut session = gradient.session();
//! session.call_into(&[(&[3.0, 4.0]).into()], &mut [(&mut value).into(), (&mut dx).into()])?;
//! assert_eq!((value, dx), (25.0, [6.0, 8.0]));
//! # Ok(())
//! # }
//! ```
//!
//! Tuples and records are given as [`Arg::Tuple`] of their components, an array of records as the
//! record of its arrays; [`Compiled::read_json`] makes arguments of JSON.
//!
//! # Threads and memory
//!
//! A [`Compiled`] is shared by threads; each makes its own [`Session`]. After the first calls have
//! shown how much memory is needed, further calls of the same sizes allocate nothing. All threads and
//! all engines give the same bits.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(x: f64) -> f64 = exp(sin(x))")?;
//! let gradient = model.function("f")?.gradient()?;
//! let slopes: Vec<f64> = std::thread::scope(|scope| {
//!     let start = |k: i32| {
//!         let mut session = gradient.session();
//!         scope.spawn(move || session.call(&[f64::from(k).into()]).and_then(|r| r.f64("x")))
//!     };
//!     let threads: Vec<_> = (0..4).map(start).collect();
//!     threads.into_iter().filter_map(|t| t.join().ok()?.ok()).collect()
//! });
//! assert_eq!(slopes.len(), 4);
//! assert_eq!(slopes[0], 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! Nothing panics on bad input. A program that is refused gives [`Error::Program`]: printed, it shows
//! every message with its code, the lines, the reason and the fix. A wrong argument names its
//! parameter. A program that fails while it runs (an index out of range, the memory limit) gives
//! [`Error::Run`] with the place in the text; a gradient fails exactly where its function does.
//!
//! ```
//! let error = jut::Model::from_text("def f(x: f64) -> f64 = x * y").err().unwrap();
//! let jut::Error::Program(messages) = &error else { panic!() };
//! assert_eq!(messages.list()[0].code, "J010");
//!
//! let model = jut::Model::from_text("def f[n](x: [n]f64, i: i64) -> f64 = x[i]").unwrap();
//! let gradient = model.function("f").and_then(|f| f.gradient()).unwrap();
//! let error = gradient.call(&[(&[1.0, 2.0]).into(), 2.into()]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "R01: index 2 is out of range for length 2 at program:1:38",
//! );
//! ```
//!
//! # Looking inside
//!
//! [`Function::stage`] gives the text of every stage: what each pass made, the loop form, Cranelift's
//! form. Each is a program that can be read, checked and run by itself.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(u: f64) -> f64 = -sin(u)")?;
//! let text = model.function("f")?.stage(jut::Stage::Transpose)?;
//! assert!(text.contains("core def f.linT(tape: f.tape; "));
//! # Ok(())
//! # }
//! ```

mod backends;
mod bind;
mod build;
mod compiled;
mod declaration;
mod draw;
mod engine;
mod error;
mod excerpt;
mod explain;
mod files;
mod header;
mod interface;
pub mod json;
mod leaves;
mod linear;
mod model;
pub mod npy;
mod package;
mod pipeline;
mod ports;
mod product;
mod source;
mod value;
mod watch;

pub use backends::{Backend, Requirement, backends};
pub use build::{BuildOptions, Machine, MathLibrary, Object, Triple, archive};
pub use compiled::{Compiled, Session};
pub use declaration::{CFunction, CParameter, Extent, Passing, Scalar};
pub use error::{ArgumentError, Error, Result};
pub use interface::Results;
pub use jut_ad::Policy;
pub use jut_ad::compose::JacobianMode;
pub use jut_ad::unzip::TapeReport;
pub use jut_eval::cost::{Bound, CostReport, StageCost};
pub use jut_ir::{Diagnostic, RuntimeError, RuntimeErrorKind, Severity, Span};
pub use linear::{LinearSession, Linearized, Tape};
pub use model::{Function, Model, format};
pub use package::Package;
pub use pipeline::{Engine, Stage};
pub use ports::{Port, Role};
pub use product::Product;
pub use source::{Diagnostics, RunError, Source, Sources};
pub use value::{Arg, Array, Out, Value};
pub use watch::{PASSES, Pass, PassTime};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
