//! What can be made of a function.
//!
//! Every request is answered by a program: a composition of the passes, optimised and compiled like any
//! other function. So there is one way to call them all ([`crate::Compiled`], [`crate::Session`]), and
//! one rule for the names of what goes in and comes out. For `f(x: A, z: C) -> y: B` with everything
//! differentiated:
//!
//! | request | made of | takes | gives | runs |
//! |---|---|---|---|---|
//! | [`Request::Value`] | | `x`, `z` | `y` | 1 |
//! | [`Request::Gradient`] | J, U, T | `x`, `z` | `x`, `z` | 1 |
//! | [`Request::ValueAndGradient`] | J, U, T | `x`, `z` | `y`; `x`, `z` | 1 |
//! | [`Request::Jvp`] | J | `x`, `z`, `x'`, `z'` | `y`; `y` | 1 |
//! | [`Request::Vjp`] | J, U, T | `x`, `z`, `y''` | `y`; `x`, `z` | 1 |
//! | [`Request::Directional`] | J | `x`, `z`, `x'`, `z'` | `y` | 1 |
//! | [`Request::SecondDirectional`] | J, J | `x`, `z`, `x'`, `z'` | `y` | 1 |
//! | [`Request::HessianProduct`] | J, then J, U, T | `x`, `z`, `x'`, `z'` | `x`, `z` | 1 |
//! | [`Request::Hessian`] | J, then J, U, T | `x`, `z` | `x,x`, `x,z`, `z,x`, `z,z` | n |
//! | [`Request::Jacobian`] | J, U or J, U, T | `x`, `z` | `y,x`, `y,z` | min(n, m) |
//! | [`Request::ValueAndJacobian`] | the same | `x`, `z` | `y`; `y,x`, `y,z` | min(n, m) |
//! | [`Request::Transposed`] | U, T | what is not linear, `y''` | `x`, `z` | 1 |
//!
//! A derivative is named after what it belongs to: a gradient or cotangent after its parameter, a
//! tangent after its result, a block of a Jacobian `y,x` after the result and the parameter (the
//! partial derivatives of `y` with respect to `x`: the dimensions of `y`, then those of `x`), a block
//! of a Hessian after two parameters. Among the arguments `x'` is a tangent, `y''` a cotangent. A
//! single result without a name is called `value`, several ones go by their numbers from 0. Results
//! before the semicolon are values ([`crate::Role::Value`]), those after it derivatives; sizes that
//! the function computes stand before the derivatives whose types mention them.
//!
//! The cost is in runs of `f`, up to a small constant factor; n is how many numbers there are in the
//! parameters, m in the results. Derivatives that are made once and applied many times have a type of
//! their own: [`crate::Linearized`].

use crate::compiled::Compiled;
use crate::error::Result;
use crate::linear::{self, Linearized};
use crate::model::Function;
use crate::pipeline;
use crate::watch::{PassTime, Watch};
pub use jut_ad::compose::{JacobianMode, Request, Row, Seeds, TABLE};

/// What is compiled. Each method is a [`Request`] of the table there.
impl Function {
    /// Makes what is asked for ready to be called.
    ///
    /// # Errors
    /// [`Error::Program`](crate::Error::Program) if the function has no such derivative: a gradient or
    /// Hessian is that of one f64 result (`J802`), derivatives are with respect to floats (`J804`),
    /// all partial derivatives at once are at most some thousand arrays (`J805`), and only a linear
    /// function has a transpose (`J801`). [`Error::Backend`](crate::Error::Backend) if no code can be
    /// made.
    pub fn compile(&self, request: Request) -> Result<Compiled> {
        pipeline::compile(self, request, &mut Watch::Off)
    }

    /// As [`Function::compile`], and how long each step took, reading the program included, and how
    /// large the program was after it. This is what `--time-passes` prints.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64) -> f64 = sin(x)")?;
    /// let (_, times) = model.function("f")?.compile_timed(jut::Request::Gradient)?;
    /// let names: Vec<&str> = times.iter().map(|t| t.name()).collect();
    /// let all: Vec<&str> = jut::PASSES.iter().map(|(_, name, _)| *name).collect();
    /// assert_eq!(names, all);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn compile_timed(&self, request: Request) -> Result<(Compiled, Vec<PassTime>)> {
        let mut watch = Watch::start();
        let compiled = pipeline::compile(self, request, &mut watch)?;
        let read = self.model().times().iter().cloned();
        Ok((compiled, read.chain(watch.times()).collect()))
    }

    /// The function itself.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn value(&self) -> Result<Compiled> {
        self.compile(Request::Value)
    }

    /// The gradient: one result for each differentiated parameter, with its name and type.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn gradient(&self) -> Result<Compiled> {
        self.compile(Request::Gradient)
    }

    /// The results of the function, and the gradient.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn value_and_gradient(&self) -> Result<Compiled> {
        self.compile(Request::ValueAndGradient)
    }

    /// Jacobian times vector, forward: takes a tangent `x'` for each differentiated parameter `x`
    /// after the arguments; gives the results, and the tangent of each float result.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn jvp(&self) -> Result<Compiled> {
        self.compile(Request::Jvp)
    }

    /// Vector times Jacobian, reverse: takes a cotangent `y''` for each float result `y` after the
    /// arguments; gives the results, and the cotangent of each differentiated parameter.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn vjp(&self) -> Result<Compiled> {
        self.compile(Request::Vjp)
    }

    /// The derivative in a direction: as [`Function::jvp`], without the results.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn directional(&self) -> Result<Compiled> {
        self.compile(Request::Directional)
    }

    /// The second derivatives along a line: takes a tangent `x'` for each differentiated parameter,
    /// gives the second derivative at t = 0 of `f(x + t x')` for each float result. Forward over
    /// forward: no tape, and any number of results.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64, y: f64) -> f64 = x * x * y")?;
    /// let second = model.function("f")?.second_directional()?;
    /// let results = second.call(&[1.0.into(), 3.0.into(), 1.0.into(), 0.0.into()])?;
    /// assert_eq!(results[0].floats(), [6.0]); // 2 y
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn second_directional(&self) -> Result<Compiled> {
        self.compile(Request::SecondDirectional)
    }

    /// The Hessian times a vector, by reverse over forward: takes a tangent `x'` for each
    /// differentiated parameter, gives one result of the same type for each. Costs a small multiple
    /// of the function, whatever the number of parameters.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i]^3 }")?;
    /// let product = model.function("f")?.hessian_product()?;
    /// let results = product.call(&[(&[1.0, 2.0]).into(), (&[1.0, 10.0]).into()])?;
    /// assert_eq!(results[0].floats(), [6.0, 120.0]); // 6 x v
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn hessian_product(&self) -> Result<Compiled> {
        self.compile(Request::HessianProduct)
    }

    /// All second derivatives: a block `x,z` for each pair of differentiated parameters, with the
    /// dimensions of `x`, then those of `z`. Costs a product with the Hessian per number in these
    /// parameters.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64, s: f64) -> f64 = s * sum (v <- x) { v * v }")?;
    /// let hessian = model.function("f")?.hessian()?;
    /// let mut session = hessian.session();
    /// let results = session.call(&[(&[1.0, 3.0]).into(), 0.5.into()])?;
    /// assert_eq!(results.f64s("x,x")?, [1.0, 0.0, 0.0, 1.0]);
    /// assert_eq!(results.f64s("x,s")?, [2.0, 6.0]);
    /// assert_eq!(results.f64("s,s")?, 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn hessian(&self) -> Result<Compiled> {
        self.compile(Request::Hessian)
    }

    /// All partial derivatives: a block `y,x` for each float result `y` and each differentiated
    /// parameter `x`, with the dimensions of `y`, then those of `x`. The function runs once;
    /// [`JacobianMode::Forward`] applies the linear part once per number in the parameters,
    /// [`JacobianMode::Reverse`] its transpose once per number in the results,
    /// [`JacobianMode::Auto`] does what is less.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// use jut::JacobianMode;
    /// let model = jut::Model::from_text("def f(x: [2]f64) -> (y: [3]f64) = {
    ///   y = [x[0] * x[1], x[0], sin(x[1])]
    ///   y
    /// }")?;
    /// for mode in [JacobianMode::Auto, JacobianMode::Forward, JacobianMode::Reverse] {
    ///     let jacobian = model.function("f")?.jacobian(mode)?;
    ///     let results = jacobian.call(&[(&[2.0, 0.0]).into()])?;
    ///     assert_eq!(results[0].floats(), [0.0, 2.0, 1.0, 0.0, 0.0, 1.0]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn jacobian(&self, mode: JacobianMode) -> Result<Compiled> {
        self.compile(Request::Jacobian(mode))
    }

    /// The results of the function, and all partial derivatives, as [`Function::jacobian`].
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn value_and_jacobian(&self, mode: JacobianMode) -> Result<Compiled> {
        self.compile(Request::ValueAndJacobian(mode))
    }

    /// The transpose of a function with linear parameters: takes what is not linear, and a cotangent
    /// `y''` for each linear result `y'`; gives one for each linear parameter.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def rotate(t: f64; x': f64, y': f64) -> (; u': f64, v': f64) = {
    ///   u' = cos(t) * x' - sin(t) * y'
    ///   v' = sin(t) * x' + cos(t) * y'
    ///   (; u', v')
    /// }")?;
    /// let back = model.function("rotate")?.transposed()?;
    /// let names: Vec<&str> = back.inputs().map(|i| i.name).collect();
    /// assert_eq!(names, ["t", "u''", "v''"]);
    /// let results = back.call(&[0.5.into(), 1.0.into(), 0.0.into()])?;
    /// assert_eq!(results[0].floats(), [0.5f64.cos()]);
    /// assert_eq!(results[1].floats(), [-0.5f64.sin()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn transposed(&self) -> Result<Compiled> {
        self.compile(Request::Transposed)
    }

    /// The derivative, to be recorded at points and applied there many times, and its transpose.
    /// See [`Linearized`](crate::Linearized).
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn linearize(&self) -> Result<Linearized> {
        linear::linearize(self)
    }
}
