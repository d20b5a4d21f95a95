//! Laws that derivatives obey, as functions: for the tests of the passes and for checking a
//! gradient on the user's own data.
//!
//! - **Transposition**: `<T e (y''), x'> = <y'', e (x')>` for all `x'` and `y''`, and the work of the
//!   two sides: `W[T e] + |x'| <= W[e] + |y'|` (the amortised bound of Theorem 7.1). In floats the
//!   two inner products differ by rounding; over a prime field they are equal or the law is broken.
//! - **Differences**: a derivative is the limit of difference quotients.
//!
//! Vectors with an `rd` or `wr` capability count like others: an `rd` is an input of the linear
//! map, a `wr` an output that starts from zero. Their sizes stay out of the work bound, because the
//! region that pays for them is the caller's.

use crate::scalar::LinearScalar;
use crate::value::Value;
use crate::{Counters, EvalError, Interpreter, scalar, vector};
use jut_ir::entity::FuncId;
use jut_ir::ir::Mode;

/// Both sides of the law of transposition, on one sample.
#[derive(Clone, Copy, Debug)]
pub struct Transposition {
    /// `<y'', e (x')>`.
    pub forward: f64,
    /// `<T e (y''), x'>`.
    pub backward: f64,
    /// The sum of the magnitudes of all terms: what the difference is small against.
    pub scale: f64,
    /// Cost of `e` and of `T e`.
    pub counters: [Counters; 2],
    /// |x'| and |y'|: by-value linear parameters and results of `e`.
    pub sizes: [u64; 2],
}

impl Transposition {
    /// The difference of the sides relative to their terms.
    pub fn error(&self) -> f64 {
        if self.forward == self.backward {
            0.0
        } else {
            (self.forward - self.backward).abs() / self.scale
        }
    }

    /// `W[e] + |y'| + zeros[T e] - W[T e] - |x'|`: the bound holds iff this is not negative. The zeros are those that
    /// `T e` opens where `e` dropped the tangent of a declared type, which is free ([`Counters::zeros`]).
    pub fn slack(&self) -> i64 {
        let [forward, backward] = self.counters.map(|c| c.w() as i64);
        let [inputs, outputs] = self.sizes.map(|n| n as i64);
        let [_, opened] = self.counters.map(|c| c.zeros as i64);
        forward + outputs + opened - backward - inputs
    }
}

/// The linear inputs of a call: by-value parameters, and what each capability starts from.
struct Sample {
    linear: Vec<Value>,
    caps: Vec<Value>,
}

impl Interpreter {
    /// Compares a linear function with its transpose on random vectors, at the given non-linear
    /// arguments, which both take. Linear code must compute with floats.
    pub fn transposition(
        &self,
        func: FuncId,
        transposed: FuncId,
        args: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Result<Transposition, EvalError> {
        let x = self.sample(func, args, rng)?;
        let forward = self.call(func, args, &x.linear, &x.caps)?;
        let (y, inputs) = self.split(func, &x, &forward.linear, &forward.buffers);
        let cotangents: Vec<Value> = y.iter().map(|v| vector::random_like(v, rng)).collect();
        let z = self.transposed_sample(func, &cotangents, &x);
        let backward = self.call(transposed, args, &z.linear, &z.caps)?;
        let (gradients, _) = self.split(transposed, &z, &backward.linear, &backward.buffers);

        let dot = |a: &[Value], b: &[Value]| -> Result<(f64, f64), EvalError> {
            let (mut sum, mut scale) = (0.0, 0.0);
            if a.len() != b.len() {
                return Err(mismatch());
            }
            for (a, b) in a.iter().zip(b) {
                sum += vector::dot(a, b).ok_or_else(mismatch)?;
                let (a, b) = (a.map_f64(&mut f64::abs), b.map_f64(&mut f64::abs));
                scale += vector::dot(&a, &b).ok_or_else(mismatch)?;
            }
            Ok((sum, scale))
        };
        let (left, left_scale) = dot(&cotangents, &y)?;
        let (right, right_scale) = dot(&gradients, &inputs)?;
        Ok(Transposition {
            forward: left,
            backward: right,
            scale: left_scale.max(right_scale),
            counters: [forward.counters, backward.counters],
            sizes: [&x.linear, &forward.linear].map(|v| v.iter().map(Value::scalars).sum()),
        })
    }

    /// Whether the law of transposition holds exactly, over a prime field, on random vectors.
    pub fn transposes_exactly(
        &self,
        func: FuncId,
        transposed: FuncId,
        args: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Result<bool, EvalError> {
        let field = Interpreter { linear: LinearScalar::Field, ..self.clone() };
        let x = self.sample(func, args, rng)?;
        let x = Sample { linear: to_field(&x.linear), caps: to_field(&x.caps) };
        let forward = field.call(func, args, &x.linear, &x.caps)?;
        let (y, inputs) = self.split(func, &x, &forward.linear, &forward.buffers);
        let cotangents: Vec<Value> = y
            .iter()
            .map(|v| vector::map(v.clone(), &mut |x| x, &mut |_| element(rng)))
            .collect::<Option<_>>()
            .ok_or_else(mismatch)?;
        let z = self.transposed_sample(func, &cotangents, &x);
        let backward = field.call(transposed, args, &z.linear, &z.caps)?;
        let (gradients, _) = self.split(transposed, &z, &backward.linear, &backward.buffers);
        let dot = |a: &[Value], b: &[Value]| -> Result<i64, EvalError> {
            a.iter().zip(b).try_fold(0, |sum, (a, b)| {
                Ok(scalar::add(sum, vector::dot_field(a, b).ok_or_else(mismatch)?))
            })
        };
        Ok(gradients.len() == inputs.len() && dot(&cotangents, &y)? == dot(&gradients, &inputs)?)
    }

    /// Random linear arguments of a function, and what its capabilities start from: random values
    /// for `rd`, zeros for `wr`. The sizes are those that the non-linear arguments say.
    ///
    /// # Errors
    /// The arguments do not say them.
    pub fn linear_inputs(
        &self,
        func: FuncId,
        args: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Result<(Vec<Value>, Vec<Value>), EvalError> {
        let Sample { linear, caps } = self.sample(func, args, rng)?;
        Ok((linear, caps))
    }

    /// Random linear inputs of a function: `rd` values are random, `wr` buffers zero.
    fn sample(
        &self,
        func: FuncId,
        args: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Result<Sample, EvalError> {
        let code = self.code(func).ok_or_else(mismatch)?;
        let mut frame = code.frame();
        for ((slot, _), value) in code.params.iter().zip(args) {
            frame.set(*slot, value.clone());
        }
        let mut random = |ty| vector::random(ty, &mut |s| frame.size(s), rng).ok_or_else(mismatch);
        let linear: Result<Vec<Value>, EvalError> =
            code.lin_params.iter().map(|(_, ty)| random(ty)).collect();
        let mut caps = Vec::new();
        for param in &code.cap_params {
            let value = random(&param.ty)?;
            caps.push(if param.mode == Mode::Rd { value } else { vector::zero_like(&value) });
        }
        Ok(Sample { linear: linear?, caps })
    }

    /// All outputs of a linear map (linear results, then `wr` buffers), and all its inputs (linear
    /// parameters, then `rd` values).
    fn split(
        &self,
        func: FuncId,
        sample: &Sample,
        results: &[Value],
        buffers: &[Value],
    ) -> (Vec<Value>, Vec<Value>) {
        let outputs = results.iter().chain(buffers).cloned().collect();
        let modes = self.code(func).map(|code| code.cap_params.as_slice()).unwrap_or_default();
        let read = modes.iter().zip(&sample.caps).filter(|(param, _)| param.mode == Mode::Rd);
        let inputs = sample.linear.iter().chain(read.map(|(_, value)| value)).cloned().collect();
        (outputs, inputs)
    }

    /// The inputs of the transpose: cotangents of the results and, where the function has a `wr`,
    /// of the buffer; a zero buffer where it has an `rd`.
    fn transposed_sample(&self, func: FuncId, cotangents: &[Value], x: &Sample) -> Sample {
        let modes = self.code(func).map(|code| code.cap_params.as_slice()).unwrap_or_default();
        let written = modes.iter().filter(|param| param.mode != Mode::Rd).count();
        let results = cotangents.len().saturating_sub(written);
        let mut of_buffers = cotangents[results..].iter();
        let caps = modes
            .iter()
            .zip(&x.caps)
            .map(|(param, value)| match param.mode {
                Mode::Rd => vector::map(value.clone(), &mut |_| 0.0, &mut |_| 0)
                    .unwrap_or_else(|| value.clone()),
                Mode::Wr | Mode::Acc => of_buffers.next().cloned().unwrap_or_else(|| value.clone()),
            })
            .collect();
        Sample { linear: cotangents[..results].to_vec(), caps }
    }

    /// The floats of all results, differentiated by central differences along a direction:
    /// `(f(x + h v) - f(x - h v)) / 2h`. The direction has one number per float in the arguments, in
    /// order; a direction of 0 leaves a float as it is.
    pub fn directional_difference(
        &self,
        func: FuncId,
        args: &[Value],
        direction: &[f64],
        h: f64,
    ) -> Result<Vec<f64>, EvalError> {
        let at = |h: f64| -> Result<Vec<f64>, EvalError> {
            let mut rest = direction.iter();
            let mut moved = |x: f64| rest.next().map_or(x, |v| x + h * v);
            let args: Vec<Value> = args.iter().map(|a| a.map_f64(&mut moved)).collect();
            let outcome = self.call(func, &args, &[], &[])?;
            Ok(floats(&outcome.results))
        };
        let (above, below) = (at(h)?, at(-h)?);
        if above.len() != below.len() {
            return Err(mismatch());
        }
        Ok(above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * h)).collect())
    }

    /// The gradient of the only float among the results by central differences: one number per
    /// float in the arguments, in order. Two calls for each.
    pub fn gradient_by_differences(
        &self,
        func: FuncId,
        args: &[Value],
        h: f64,
    ) -> Result<Vec<f64>, EvalError> {
        let inputs = floats(args);
        let mut direction = vec![0.0; inputs.len()];
        let mut gradient = Vec::with_capacity(inputs.len());
        for k in 0..inputs.len() {
            direction[k] = 1.0;
            let step = h * inputs[k].abs().max(1.0);
            match *self.directional_difference(func, args, &direction, step)? {
                [slope] => gradient.push(slope),
                _ => return Err(mismatch()),
            }
            direction[k] = 0.0;
        }
        Ok(gradient)
    }
}

/// All floats of some values, in order.
pub fn floats(values: &[Value]) -> Vec<f64> {
    let mut floats = Vec::new();
    values.iter().for_each(|v| v.for_each_f64(&mut |x| floats.push(x)));
    floats
}

/// The largest difference of two vectors relative to the largest entry of either (and to 1);
/// infinite if their lengths differ or an entry is NaN in one only.
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let scale = a.iter().chain(b).fold(1.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0, |worst: f64, (x, y)| {
        let same = x == y || (x.is_nan() && y.is_nan());
        let error = if same { 0.0 } else { (x - y).abs() / scale };
        if error.is_nan() { f64::INFINITY } else { worst.max(error) }
    })
}

fn to_field(values: &[Value]) -> Vec<Value> {
    values.iter().map(vector::to_field).collect()
}

/// A random element of the field.
fn element(rng: &mut fastrand::Rng) -> i64 {
    rng.i64(0..scalar::PRIME)
}

fn mismatch() -> EvalError {
    EvalError::Argument { message: "the functions do not have the types of the law".into() }
}
