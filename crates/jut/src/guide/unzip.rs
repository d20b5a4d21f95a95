//! 3. Unzip: values apart from tangents, and the tape between them (U).
//!
//! In what J makes, nothing non-linear depends on a tangent. So all non-linear lines can run first, and
//! the linear ones later, if what they read is kept. U does this: it parts the program into `f.nonlin`,
//! which computes the values and fills a record, the *tape*, and `f.lin`, which reads the tape and is
//! linear from its first line to its last (Fig. 9 of the paper).
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(u: f64) -> f64 = { v = sin(u); t = -v; t }")?;
//! let text = model.function("f")?.stage(jut::Stage::Unzip)?;
//! for part in [
//!     "data f.tape = f.tape(c: f64)",
//!     "core def f.nonlin(u: f64) -> (f64, f.tape) = {",
//!     "core def f.lin(tape: f.tape; u': f64) -> (; f64) = {",
//! ] {
//!     assert!(text.contains(part), "{text}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The tape is data of the program like any other. What a loop stores becomes an array, what a branch
//! stores a sum of two constructors, what a call stores the record of that call; rows of different
//! lengths stay rows of different lengths. U alone decides what is stored, and a
//! [`Policy`](crate::Policy) says how much:
//!
//! | policy | stores |
//! |---|---|
//! | [`StoreAll`](crate::Policy::StoreAll) | everything that `f.lin` reads, as in the paper |
//! | [`Default`](crate::Policy::Default) | not what is an argument, a loop index, or cheap to compute again |
//! | [`Minimal`](crate::Policy::Minimal) | as little as a minimum cut between storing and recomputing allows |
//!
//! [`Function::explain_tape`](crate::Function::explain_tape) and `jut explain tape` say what is on a
//! tape, with its size as a formula, and why:
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f[n](x: [n]f64) -> f64 = sum (i < n) { exp(x[i]) * x[i] }",
//! )?;
//! let f = model.function("f")?;
//! assert!(f.explain_tape()?.starts_with("tape of f: "));
//! # Ok(())
//! # }
//! ```
//!
//! A program that fails, fails in `f.nonlin`: an index out of range is found there, in the order of the
//! program, whoever asks for the derivative. `f.lin` never fails.
//!
//! Next: [`transpose`](super::transpose), for which all this was done.
