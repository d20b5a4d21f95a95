//! 4. Transpose: the linear part turned round (T).
//!
//! A linear function from tangents of the parameters to tangents of the results has a transpose, which
//! goes from *cotangents* of the results to cotangents of the parameters: `<J v, w> = <v, Jᵀ w>` for all
//! v and w. T makes the program for it by reading `f.lin` backwards, line by line:
//!
//! | linear | transposed |
//! |---|---|
//! | `y' = c * x'` | `x'' = c * y''` |
//! | `z' = x' + y'` | `(; x'', y'') = dup z''` |
//! | `(; x', y') = dup z'` | `z'' = x'' + y''` |
//! | `drop x'` | `x'' = zero` |
//! | read `rd dx[i]` | add `dx[i] += ..` |
//! | loop upwards | loop downwards |
//!
//! Addition and `dup` are each other's transposes; so are reading and adding. No derivative is taken
//! here and no primitive is known: that is the content of "tangents transpose to gradients". A new
//! primitive needs a rule for J, and none for U and T.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(u: f64) -> f64 = { v = sin(u); t = -v; t }")?;
//! let text = model.function("f")?.stage(jut::Stage::Transpose)?;
//! let lines: Vec<&str> = text.lines().skip(2).collect();
//! assert_eq!(
//!     lines,
//!     [
//!         "core def f.linT(tape: f.tape; t'': f64) -> (; f64) = {",
//!         "  f.tape(c) = tape",
//!         "  v'' = -t''",
//!         "  u'' = c * v''",
//!         "  (; u'')",
//!         "}",
//!     ]
//! );
//! # Ok(())
//! # }
//! ```
//!
//! Linear functions may be written by hand too, and transposed: here a rotation, whose transpose is
//! the rotation back.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def rotate(t: f64; x': f64, y': f64) -> (; u': f64, v': f64) = {
//!        u' = cos(t) * x' - sin(t) * y'
//!        v' = sin(t) * x' + cos(t) * y'
//!        (; u', v')
//!      }",
//! )?;
//! let rotate = model.function("rotate")?;
//! let there = rotate.value()?.call(&[0.3.into(), 2.0.into(), 1.0.into()])?;
//! let [u, v] = [0, 1].map(|k| there[k].floats()[0]);
//! let back = rotate.transposed()?.call(&[0.3.into(), u.into(), v.into()])?;
//! assert!((back[0].floats()[0] - 2.0).abs() < 1e-15);
//! assert!((back[1].floats()[0] - 1.0).abs() < 1e-15);
//! # Ok(())
//! # }
//! ```
//!
//! A function without a linear parameter has no transpose (`J801`); its derivative has, which is what
//! [`Function::vjp`](crate::Function::vjp) gives.
//!
//! Next: [`gradient`](super::gradient).
