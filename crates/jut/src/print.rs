//! Who gets the lines that programs print (`print x`): standard error, unless something else is said, by
//! [`Session::set_printer`](crate::Session::set_printer) for the calls of a session, or here for all calls that a thread
//! makes.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::print::{self, Printer};
//! use std::sync::{Arc, Mutex};
//! let model = jut::Model::from_text("def f(x: f64) -> f64 = { print \"at\", x; x * x }")?;
//! let lines = Arc::new(Mutex::new(Vec::new()));
//! let taken = lines.clone();
//! let printer = Printer::new(move |line| taken.lock().unwrap().push(line.to_string()));
//! print::to(Some(printer), || model.function("f")?.hessian()?.call(&[3.0.into()]))?;
//! assert_eq!(*lines.lock().unwrap(), ["at 3.0"]);
//! # Ok(())
//! # }
//! ```

pub use jut_runtime::print::{Printer, to};
