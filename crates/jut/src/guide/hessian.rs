//! 6. The Hessian: derivatives of derivatives.
//!
//! What the passes make is a program of the same language, once L has forgotten that its linear part is
//! linear. So it can be differentiated again. jut goes *reverse over forward*: first J gives the slope
//! along a direction v, which is one number and needs no tape, then J, U and T give the gradient of
//! that number. This is the product `H v` of the Hessian with v, for a small multiple of the function.
//!
//! | product | gives | runs of the function |
//! |---|---|---|
//! | [`hessian_product`](crate::Function::hessian_product) | `H v`, one array for each parameter | 1 |
//! | [`second_directional`](crate::Function::second_directional) | `vᵀ H v` for each result, forward over forward | 1 |
//! | [`hessian`](crate::Function::hessian) | all of H, in blocks | as many as there are numbers |
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def rosenbrock[n](x: [n]f64) -> f64 = sum (i < n - 1) {
//!        100.0 * (x[i + 1] - x[i]^2)^2 + (1.0 - x[i])^2
//!      }",
//! )?;
//! let f = model.function("rosenbrock")?;
//! let x = [1.0, 1.0, 1.0];
//! let mut hessian = f.hessian()?.session();
//! let h = hessian.call(&[(&x).into()])?.f64s("x,x")?.to_vec();
//! assert_eq!(h, [802.0, -400.0, 0.0, -400.0, 1002.0, -400.0, 0.0, -400.0, 200.0]);
//!
//! let v = [1.0, 0.0, -1.0];
//! let product = f.hessian_product()?.call(&[(&x).into(), (&v).into()])?;
//! assert_eq!(product[0].floats(), [802.0, 0.0, -200.0]);
//! let second = f.second_directional()?.call(&[(&x).into(), (&v).into()])?;
//! assert_eq!(second[0].floats(), [1002.0]);
//! # Ok(())
//! # }
//! ```
//!
//! With several parameters the Hessian comes in blocks: for `w: [d]f64` and `b: f64` these are `w,w` with
//! the type `[d, d]f64`, `w,b` and `b,w` with `[d]f64`, and `b,b`. A block has the dimensions of the first
//! parameter, then those of the second.
//!
//! The example `logistic` fits a model twice: by L-BFGS with gradients, then by Newton's method with
//! this Hessian, and ends at the same point.
//!
//! A product with the Hessian is what conjugate gradients and Lanczos want; for a few thousand
//! parameters and more, use it rather than the whole matrix.
//!
//! Next: [`linearize`](super::linearize).
