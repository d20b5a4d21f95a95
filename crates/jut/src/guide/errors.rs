//! 8. Errors: what can go wrong, and how it is said.
//!
//! Nothing panics on bad input; everything is a value of [`Error`](crate::Error), with a code where it
//! is about a program or a call:
//!
//! | codes | what | when |
//! |---|---|---|
//! | `J0..` to `J7..`, [`Error::Program`](crate::Error::Program) | a text that is no program; the table is in `docs/language.md` | reading it |
//! | `J8..` | a derivative that the function does not have | compiling |
//! | `A01` to `A07`, [`Error::Argument`](crate::Error::Argument), [`Error::Tape`](crate::Error::Tape) | a call that does not fit its function: see [`ArgumentError`](crate::ArgumentError) | calling |
//! | `R01` to `R10`, [`Error::Run`](crate::Error::Run) | the program ran and failed | running |
//!
//! [`Error::render`](crate::Error::render) draws each of them with the line of the program it is about,
//! the reason and the fix.
//!
//! ```
//! let error = jut::Model::from_text("def f(x: f64) -> f64 = {\n  x * y\n}").err().unwrap();
//! let jut::Error::Program(messages) = &error else { panic!() };
//! assert_eq!(messages.list()[0].code, "J010");
//! assert!(error.render(false).contains("x * y"));
//! ```
//!
//! An argument is held against its declared type before anything runs. Sizes in brackets follow from
//! the arguments; two arguments that disagree about one are refused, and so is a size like `n * m` that
//! is no 64-bit integer.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def apply[n, m](a: [n, m]f64, x: [m]f64) -> [n]f64 = build (i < n) { sum (j < m) { a[i, j] * x[j] } }",
//! )?;
//! let apply = model.function("apply")?.value()?;
//! let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let error = apply.call(&[(&a[..], &[2, 3]).into(), (&[1.0, 1.0]).into()]).unwrap_err();
//! assert_eq!(error.code(), Some("A03"));
//! assert_eq!(
//!     error.to_string(),
//!     "argument `x`: expected [m]f64, got a slice of 2 f64: 3 elements are needed, not 2",
//! );
//! assert!(error.render(false).contains("all arguments together make n = 2, m = 3"));
//! # Ok(())
//! # }
//! ```
//!
//! A program that fails while it runs says where, and with which numbers. A derivative fails exactly
//! where its function fails, with the same code, also when the failing value is not asked for.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f[n](x: [n]f64, i: i64) -> f64 = x[i]")?;
//! for product in [jut::Request::Value, jut::Request::Gradient, jut::Request::Hessian] {
//!     let compiled = model.function("f")?.compile(product)?;
//!     let error = compiled.call(&[(&[1.0, 2.0]).into(), 2.into()]).unwrap_err();
//!     assert_eq!(error.to_string(), "R01: index 2 is out of range for length 2 at program:1:38");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! After an error a session is as good as new. Floating-point arithmetic itself never fails: it gives
//! infinities and NaN as IEEE 754 says.
//!
//! Next: [`sessions`](super::sessions).
