//! Gradients of programs, as compiled machine code.
//!
//! A model is a small text: functions over floats, integers and arrays, with loops and branches. jut
//! checks it, differentiates it as a program, and compiles the derivative. The [`guide`] explains how,
//! notion by notion; this page is the library in brief; the language has a reference of its own,
//! `docs/language.md`.
//!
//! # A gradient
//!
//! Of an ordinary Rust function, by an attribute ([`rust`] says more):
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! #[jut::differentiable]
//! fn spread(x: &[f64], centre: f64) -> f64 {
//!     let mut s = 0.0;
//!     for v in x {
//!         s += (v - centre) * (v - centre);
//!     }
//!     s
//! }
//! let (by_x, by_centre) = spread::gradient(&[1.0, 4.0], 2.0).unwrap();
//! assert_eq!((by_x, by_centre), (vec![-2.0, 4.0], -2.0));
//! # }
//! ```
//!
//! Of a text, which is read at run time:
//!
//! ```
//! use jut::Model;
//!
//! # fn main() -> jut::Result<()> {
//! let model = Model::from_text(
//!     "def rosenbrock[n](x: [n]f64) -> f64 = sum (i < n - 1) {
//!        100.0 * (x[i + 1] - x[i]^2)^2 + (1.0 - x[i])^2
//!      }",
//! )?;
//! let gradient = model.function("rosenbrock")?.value_and_gradient()?; // machine code
//! let mut session = gradient.session(); // one per thread
//! let results = session.call(&[(&[1.0, 2.0, 3.0]).into()])?;
//! assert_eq!(results.f64("value")?, 201.0);
//! assert_eq!(results.f64s("x")?, [-400.0, 1002.0, -200.0]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Model`] is the checked program. [`Function`] says what is wanted of one of its functions: which
//! parameters ([`Function::wrt`]), which [`Engine`], how much to store ([`Policy`]), how much memory
//! ([`Function::memory_limit`]). Its methods compile a [`Request`]; for `f(x: A) -> y: B`:
//!
//! | method | takes | gives |
//! |---|---|---|
//! | [`Function::value`] | `x` | `y` |
//! | [`Function::gradient`], [`Function::value_and_gradient`] | `x` | the gradient, named `x`; `y` too |
//! | [`Function::jvp`] | `x`, tangent `x'` | `y`, and its tangent |
//! | [`Function::vjp`] | `x`, cotangent `y''` | `y`, and the cotangent of `x` |
//! | [`Function::jacobian`], [`Function::value_and_jacobian`] | `x` | the block `y,x`; `y` too |
//! | [`Function::hessian_product`] | `x`, tangent `x'` | the Hessian times `x'`, named `x` |
//! | [`Function::hessian`] | `x` | the block `x,x` |
//! | [`Function::directional`], [`Function::second_directional`] | `x`, tangent `x'` | the derivatives of `y` along a line |
//! | [`Function::transposed`] | what is not linear, `y''` | the transpose of a linear function |
//! | [`Function::flat`] | a vector | all of these, as solvers want them: see [`Flat`] |
//! | [`Function::linearize`] | | a derivative to be recorded on a [`Tape`] and applied many times |
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
//! A function that is called again and again with arrays of the same sizes is best [bound](Compiled::bind)
//! to them: then a call only compares lengths. See [`BoundCall`].
//!
//! Tuples and records are given as [`Arg::Tuple`] of their components, an array of records as the
//! record of its arrays; [`Compiled::read_json`] makes arguments of JSON.
//!
//! # Threads, memory, errors
//!
//! A [`Compiled`] is shared by threads; each makes its own [`Session`]. After the first calls have
//! shown how much memory is needed, further calls of the same sizes allocate nothing. All threads and
//! all engines give the same bits. See [`guide::sessions`].
//!
//! Nothing panics on bad input. An [`Error`] about a program or a call has a code, a place and a
//! reason, and [`Error::render`] draws it with the lines it is about; a gradient fails exactly where its
//! function does. See [`guide::errors`].
//!
//! # Features
//!
//! | feature | brings | needs |
//! |---|---|---|
//! | | code in memory, by Cranelift | nothing |
//! | `macros` | `#[jut::differentiable]`: derivatives of ordinary Rust functions, see [`rust`]; on unless turned off | nothing |
//! | `program` | `jut::program!`: typed functions from programs of the language, which are checked when the crate is compiled, see [`rust`]; the checker is compiled once more, for the compiler | nothing |
//! | `aot` | `Function::build`: object files with C headers, libraries, the runtime as an object | nothing |
//! | `cross` | objects for x86-64 and aarch64 on either; `aot` | nothing |
//! | `llvm` | [`Engine::Llvm`] | LLVM 22, a C++ compiler |
//! | `mlir` | [`Engine::Mlir`]; `llvm` | MLIR 22 |
//! | `ndarray`, `nalgebra`, `faer` | arrays and views of these libraries as arguments and results | nothing |
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

#[cfg(feature = "aot")]
mod aot;
mod backends;
mod batch;
mod bind;
mod border;
mod compiled;
mod draw;
mod engine;
mod error;
mod excerpt;
mod explain;
mod files;
mod flat;
pub mod foreign;
pub mod guide;
mod interface;
pub mod json;
mod layout;
mod linear;
mod load;
pub mod math;
mod model;
pub mod npy;
mod pipeline;
mod ports;
pub mod print;
pub mod request;
pub mod rust;
mod shown;
mod source;
mod value;
pub mod views;
mod watch;

#[cfg(feature = "aot")]
pub use aot::{
    BuildOptions, CFunction, CParameter, Extent, Machine, MathLibrary, Object, Package, Passing,
    Triple, archive, build,
};
pub use backends::{BACKENDS, Engine};
pub use batch::Batched;
pub use compiled::{BoundCall, Compiled, Session};
pub use error::{ArgumentError, Error, Result};
pub use flat::Flat;
pub use interface::Results;
pub use jut_ad::Policy;
pub use jut_ad::compose::JacobianMode;
pub use jut_ad::unzip::TapeReport;
pub use jut_eval::cost::{Bound, CostReport, StageCost};
pub use jut_ir::Scalar;
pub use jut_ir::{Diagnostic, RuntimeError, RuntimeErrorKind, Severity, Span};
#[cfg(feature = "macros")]
pub use jut_macros::{Data, differentiable};
pub use jut_native::{Backend, Requirement, cache};
#[cfg(feature = "program")]
pub use jut_program::program;
pub use jut_runtime::Cancellation;
pub use linear::{LinearSession, Linearized, Tape};
pub use model::{Function, Model, format};
pub use pipeline::Stage;
pub use ports::{Port, Role};
pub use request::Request;
pub use rust::{Derivative, TypedSession};
pub use source::{Diagnostics, RunError, Source, Sources};
pub use value::{Arg, Array, Out, Value};
pub use watch::{PASSES, Pass, PassTime};

/// The examples of the README, as tests.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The example of the page about Rust functions.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/rust.md")]
struct RustPage;

/// The example of the page about programs as typed functions.
#[cfg(all(doctest, feature = "program"))]
#[doc = include_str!("../../../docs/programs.md")]
struct ProgramPage;

/// The programs of the cookbook.
#[cfg(all(doctest, feature = "program"))]
#[doc = include_str!("../../../docs/cookbook.md")]
struct Cookbook;
