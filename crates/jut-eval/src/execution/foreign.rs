//! Calls of functions of other languages: numbers out, numbers in.
//!
//! Over the prime field, in which the laws of T are exact, such a function is the matrix of what it makes of unit vectors: the host
//! computes in floats alone.

use super::{Execution, Run, error, unchecked};
use crate::EvalError;
use crate::declaration::ForeignCode;
use crate::frame::Frame;
use crate::memory::{self, Charge, Meter};
use crate::scalar::{self, LinearScalar, factor};
use crate::value::{Array, Cells, Value};
use jut_ir::RuntimeErrorKind;
use jut_ir::types::Type;
use jut_runtime::foreign;
use std::sync::Arc;

impl Execution<'_> {
    /// A call from outside: what is not linear, then what is.
    pub(crate) fn called_from_outside(
        &mut self,
        code: &ForeignCode,
        args: &[Value],
        linear: &[Value],
        frame: &Frame,
    ) -> Result<(Vec<Value>, Vec<Value>), EvalError> {
        let all: Vec<Value> = args.iter().chain(linear).cloned().collect();
        let results = self.foreign(code, &all, frame).map_err(|fault| fault.error)?;
        Ok(if code.linear { (Vec::new(), results) } else { (results, Vec::new()) })
    }

    /// What the function makes of all its arguments, in the order of the parameters; the frame has them too, for sizes. Errors are at the declaration, in
    /// every derivative.
    pub(super) fn foreign(
        &mut self,
        code: &ForeignCode,
        args: &[Value],
        frame: &Frame,
    ) -> Run<Vec<Value>> {
        self.computed(code, args, frame).map_err(|fault| fault.at(code.span))
    }

    fn computed(&mut self, code: &ForeignCode, args: &[Value], frame: &Frame) -> Run<Vec<Value>> {
        let mut shapes = Vec::with_capacity(code.results.len());
        for ty in &code.results {
            shapes.push(shape(ty, frame)?);
        }
        let mut count = 0usize;
        for shape in &shapes {
            let cells = shape.iter().try_fold(1usize, |cells, n| cells.checked_mul(*n));
            match cells.and_then(|cells| count.checked_add(cells)) {
                Some(sum) => count = sum,
                None => return error(RuntimeErrorKind::Memory, &[]),
            }
        }
        let (mut integers, mut floats) = (Vec::new(), Vec::new());
        let (before, linear) = args.split_at(code.before.min(args.len()));
        for value in before {
            put(value, &mut integers, &mut floats)?;
        }
        let field = code.linear && self.interpreter.linear == LinearScalar::Field;
        let mut given = Vec::new();
        let taken = match field {
            true => {
                let mut none = Vec::new();
                linear.iter().try_for_each(|value| put(value, &mut given, &mut none))?;
                given.len()
            }
            false => {
                let first = floats.len();
                linear.iter().try_for_each(|value| put(value, &mut integers, &mut floats))?;
                floats.len() - first
            }
        };
        let largest = taken.max(count) as u64;
        let work = largest.saturating_mul(2).saturating_sub(count as u64);
        self.counters.work = self.counters.work.saturating_add(work);
        let Some(charge) = self.meter.charge(8u64.saturating_mul(count as u64)) else {
            return error(RuntimeErrorKind::Memory, &[]);
        };
        if !field {
            let Some(mut results) = memory::cells(count, 0.0) else {
                return error(RuntimeErrorKind::Memory, &[]);
            };
            if !foreign::call(code.number, &integers, &floats, &mut results) {
                return error(RuntimeErrorKind::Foreign, &[]);
            }
            return apart(&shapes, results, (&self.meter, charge), Value::F64, Cells::F64);
        }
        let mut sums = vec![0; count];
        let first = floats.len();
        floats.resize(first + taken, 0.0);
        for (k, x) in given.iter().enumerate() {
            floats[first + k] = 1.0;
            let mut column = vec![0.0; count];
            if !foreign::call(code.number, &integers, &floats, &mut column) {
                return error(RuntimeErrorKind::Foreign, &[]);
            }
            floats[first + k] = 0.0;
            for (sum, cell) in sums.iter_mut().zip(column) {
                *sum = scalar::add(*sum, scalar::mul(factor(cell), *x));
            }
        }
        apart(&shapes, sums, (&self.meter, charge), Value::I64, Cells::I64)
    }
}

/// The dimensions of a result, none of a number.
fn shape(ty: &Type, frame: &Frame) -> Run<Vec<usize>> {
    let mut dims = Vec::new();
    let mut inner = ty;
    while let Type::Array(size, element) = inner {
        let n = frame.size(size);
        match usize::try_from(n) {
            Ok(n) => dims.push(n),
            Err(_) => return error(RuntimeErrorKind::NegativeSize, &[n]),
        }
        inner = element;
    }
    Ok(dims)
}

/// Appends the numbers of a value.
fn put(value: &Value, integers: &mut Vec<i64>, floats: &mut Vec<f64>) -> Run<()> {
    match value {
        Value::F64(x) => floats.push(*x),
        Value::I64(k) => integers.push(*k),
        Value::Array(array) => match (array.f64s(), array.i64s()) {
            (Some(cells), _) => floats.extend(cells),
            (None, Some(cells)) => integers.extend(cells),
            (None, None) => return unchecked("an array that no other language is given"),
        },
        _ => return unchecked("a value that no other language is given"),
    }
    Ok(())
}

/// The results, of all their numbers; a single array is made of these in place.
fn apart<T: Clone>(
    shapes: &[Vec<usize>],
    numbers: Vec<T>,
    (meter, charge): (&Arc<Meter>, Charge),
    scalar: fn(T) -> Value,
    cells: fn(Vec<T>) -> Cells,
) -> Run<Vec<Value>> {
    let of = |dims: &[usize], cells: Cells, charge: Charge| match Array::charged(
        dims.to_vec(),
        cells,
        charge,
    ) {
        Some(array) => Ok(Value::Array(array)),
        None => unchecked("a result of another language has another shape"),
    };
    if let [dims] = shapes
        && !dims.is_empty()
    {
        return Ok(vec![of(dims, cells(numbers), charge)?]);
    }
    let mut numbers = numbers.into_iter();
    let mut results = Vec::with_capacity(shapes.len());
    for dims in shapes {
        let part: Vec<T> = numbers.by_ref().take(dims.iter().product()).collect();
        results.push(match (dims.is_empty(), part.first()) {
            (true, Some(x)) => scalar(x.clone()),
            (true, None) => return unchecked("a result of another language is missing"),
            (false, _) => match meter.charge(8 * part.len() as u64) {
                Some(charge) => of(dims, cells(part), charge)?,
                None => return error(RuntimeErrorKind::Memory, &[]),
            },
        });
    }
    Ok(results)
}
