//! 7. A derivative that is kept, and Jacobians.
//!
//! U has parted the derivative in two, so one may stop in between: run `f.nonlin` once, keep the tape,
//! and apply `f.lin` or `f.linT` as often as needed. That is where the paper's title comes from. Each
//! application costs the linear arithmetic alone; nothing of the function is computed again.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def residual[n](x: [n]f64) -> (r: [n]f64) = {
//!        r = build (i < n) { exp(x[i]) + x[(i + 1) % n]^2 - 2.0 }
//!        r
//!      }",
//! )?;
//! let linearized = model.function("residual")?.linearize()?;
//! let mut session = linearized.session();
//! let mut tape = linearized.tape();
//!
//! // Newton's method for residual(x) = 0; each linear system by steepest descent on |J s + r|.
//! let mut x = vec![0.5, 0.1, 0.3];
//! for _ in 0..8 {
//!     let r = tape.record(&[(&x).into()])?.f64s("r")?.to_vec(); // runs the function
//!     let mut s = vec![0.0; 3];
//!     for _ in 0..200 {
//!         let js = session.apply(&tape, &[(&s).into()])?.f64s("r")?.to_vec();
//!         let rest: Vec<f64> = js.iter().zip(&r).map(|(a, b)| a + b).collect();
//!         let down = session.apply_transposed(&tape, &[(&rest).into()])?.f64s("x")?.to_vec();
//!         let jd = session.apply(&tape, &[(&down).into()])?.f64s("r")?.to_vec();
//!         let norm = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>();
//!         if norm(&down) < 1e-28 {
//!             break;
//!         }
//!         let step = norm(&down) / norm(&jd);
//!         s.iter_mut().zip(&down).for_each(|(s, d)| *s -= step * d);
//!     }
//!     x.iter_mut().zip(&s).for_each(|(x, s)| *x += s);
//! }
//! let r = tape.record(&[(&x).into()])?.f64s("r")?.to_vec();
//! assert!(r.iter().all(|r| r.abs() < 1e-10), "{r:?}");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Tape`](crate::Tape) is yours: record it again, keep several, share one between threads. It does
//! not borrow the arguments; those that the linear part reads are copied onto it. A tape that belongs
//! to another linearization, or whose last recording failed, is refused with an error value.
//!
//! # Jacobians
//!
//! All partial derivatives are the linear map applied to every unit vector. By columns
//! ([`JacobianMode::Forward`](crate::JacobianMode::Forward)) that is one application of `f.lin` per
//! number in the parameters, by rows ([`Reverse`](crate::JacobianMode::Reverse)) one of `f.linT` per
//! number in the results; [`Auto`](crate::JacobianMode::Auto) does what is less, if need be by
//! comparing sizes at run time. The function runs once in any case.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::JacobianMode;
//!
//! let model = jut::Model::from_text(
//!     "def spiral(t: f64) -> (p: [3]f64) = {
//!        p = [t * cos(t), t * sin(t), t]
//!        p
//!      }
//!      def ring[n](x: [n]f64, s: f64) -> (y: [n]f64, e: f64) = {
//!        y = build (i < n) { s * (x[(i + 1) % n] - x[i]) }
//!        (y, sum (v <- y) { v * v })
//!      }",
//! )?;
//! let mut session = model.function("spiral")?.jacobian(JacobianMode::Auto)?.session();
//! assert_eq!(session.call(&[0.0.into()])?.f64s("p,t")?, [1.0, 0.0, 1.0]);
//!
//! let ring = model.function("ring")?.value_and_jacobian(JacobianMode::Auto)?;
//! let names: Vec<String> = ring.outputs().map(|o| format!("{}: {}", o.name, o.ty)).collect();
//! assert_eq!(
//!     names,
//!     ["y: [n]f64", "e: f64", "y,x: [n, n]f64", "y,s: [n]f64", "e,x: [n]f64", "e,s: f64"]
//! );
//! # Ok(())
//! # }
//! ```
//!
//! Next: [`errors`](super::errors).
