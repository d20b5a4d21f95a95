//! Many calls of one function: some arguments have a leading axis, over which it is called once for each element.
//!
//! Each element is computed by the same code as a single call, so the bits are those of single calls, whatever the number of
//! threads. A thread has a session of its own and a part of the elements that lie beside each other; the parts of the results are put
//! together in order.

use crate::compiled::{Compiled, Session};
use crate::error::{ArgumentError, Result};
use crate::value::{Arg, Array, Value, cells};
use jut_runtime::print;
use std::num::NonZeroUsize;

/// An argument of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Batched<'a> {
    /// The same for all elements.
    Same(Arg<'a>),
    /// One for each element: an array with one more dimension in front, or a list.
    Each(Arg<'a>),
}

impl Batched<'_> {
    /// How many elements it has; none if it is the same for all.
    fn count(&self, name: &str) -> Result<Option<usize>> {
        let Batched::Each(arg) = self else { return Ok(None) };
        let rows = |len: usize, shape: Option<&[usize]>| match shape {
            None => Some(len),
            Some(shape) => shape.first().copied().filter(|_| cells(shape) == Some(len)),
        };
        let count = match arg {
            Arg::F64s(data, shape) => rows(data.len(), *shape),
            Arg::F32s(data, shape) => rows(data.len(), *shape),
            Arg::I32s(data, shape) => rows(data.len(), *shape),
            Arg::I64s(data, shape) => rows(data.len(), *shape),
            Arg::Bools(data, shape) => rows(data.len(), *shape),
            Arg::List(items) => Some(items.len()),
            Arg::Values(items) => items.first().and_then(Value::first_size),
            _ => None,
        };
        count.map(Some).ok_or_else(|| {
            let reason =
                format!("expected an array with one element for each call, got {}", arg.describe());
            ArgumentError::new(
                "A02",
                name,
                reason,
                "give an array with its shape, or `Batched::Same`",
            )
            .into()
        })
    }

    /// The argument of one call.
    fn one(&self, k: usize) -> Option<One<'_>> {
        fn part<'s, T>(
            data: &'s [T],
            shape: &Option<&'s [usize]>,
            k: usize,
        ) -> Option<(&'s [T], &'s [usize])> {
            let inner = shape.map_or(&[][..], |shape| &shape[1..]);
            let stride = cells(inner)?;
            Some((data.get(k * stride..(k + 1) * stride)?, inner))
        }
        let Batched::Each(arg) = self else {
            let Batched::Same(arg) = self else { return None };
            return Some(One::Given(*arg));
        };
        Some(One::Given(match arg {
            Arg::F64s(data, shape) => match part(data, shape, k)? {
                ([x], []) => Arg::F64(*x),
                (part, inner) => Arg::F64s(part, Some(inner)),
            },
            Arg::F32s(data, shape) => match part(data, shape, k)? {
                ([x], []) => Arg::F32(*x),
                (part, inner) => Arg::F32s(part, Some(inner)),
            },
            Arg::I32s(data, shape) => match part(data, shape, k)? {
                ([x], []) => Arg::I32(*x),
                (part, inner) => Arg::I32s(part, Some(inner)),
            },
            Arg::I64s(data, shape) => match part(data, shape, k)? {
                ([x], []) => Arg::I64(*x),
                (part, inner) => Arg::I64s(part, Some(inner)),
            },
            Arg::Bools(data, shape) => match part(data, shape, k)? {
                ([x], []) => Arg::Bool(*x),
                (part, inner) => Arg::Bools(part, Some(inner)),
            },
            Arg::List(items) => Arg::from(items.get(k)?),
            Arg::Values(items) => {
                let parts: Option<Vec<Value>> = items.iter().map(|item| item.element(k)).collect();
                return Some(One::Made(Value::Tuple(parts?)));
            }
            _ => return None,
        }))
    }
}

/// An argument of one call: the caller's, or made of parts.
enum One<'a> {
    Given(Arg<'a>),
    Made(Value),
}

/// The results of some elements, each with one more dimension in front.
#[derive(Default)]
struct Stacks {
    values: Vec<Value>,
}

impl Stacks {
    /// Puts further results behind these.
    fn append(&mut self, more: Vec<Value>) -> Result<()> {
        if self.values.is_empty() {
            self.values = more;
            return Ok(());
        }
        for (stack, more) in self.values.iter_mut().zip(more) {
            append(stack, more)?;
        }
        Ok(())
    }
}

/// A value with a dimension of one in front.
fn raised(value: Value) -> Value {
    fn row<T>(mut array: Array<T>) -> Array<T> {
        array.shape.insert(0, 1);
        array
    }
    match value {
        Value::F64(x) => Value::F64s(Array { shape: vec![1], data: vec![x] }),
        Value::F32(x) => Value::F32s(Array { shape: vec![1], data: vec![x] }),
        Value::I32(x) => Value::I32s(Array { shape: vec![1], data: vec![x] }),
        Value::I64(x) => Value::I64s(Array { shape: vec![1], data: vec![x] }),
        Value::Bool(x) => Value::Bools(Array { shape: vec![1], data: vec![x] }),
        Value::F64s(array) => Value::F64s(row(array)),
        Value::F32s(array) => Value::F32s(row(array)),
        Value::I32s(array) => Value::I32s(row(array)),
        Value::I64s(array) => Value::I64s(row(array)),
        Value::Bools(array) => Value::Bools(row(array)),
        Value::Tuple(items) => Value::Tuple(items.into_iter().map(raised).collect()),
        other => Value::List(vec![other]),
    }
}

/// Puts the elements of one array behind those of another.
fn append(stack: &mut Value, more: Value) -> Result<()> {
    fn rows<T>(stack: &mut Array<T>, more: Array<T>) -> Result<()> {
        if stack.shape[1..] != more.shape[1..] {
            let reason = format!(
                "a result has the sizes {:?}, one before {:?}",
                &more.shape[1..],
                &stack.shape[1..]
            );
            let help = "give elements of one size, or call the function for each";
            return Err(ArgumentError::new("A03", "batch", reason, help).into());
        }
        stack.shape[0] += more.shape[0];
        stack.data.extend(more.data);
        Ok(())
    }
    match (stack, more) {
        (Value::F64s(stack), Value::F64s(more)) => rows(stack, more),
        (Value::F32s(stack), Value::F32s(more)) => rows(stack, more),
        (Value::I32s(stack), Value::I32s(more)) => rows(stack, more),
        (Value::I64s(stack), Value::I64s(more)) => rows(stack, more),
        (Value::Bools(stack), Value::Bools(more)) => rows(stack, more),
        (Value::Tuple(stack), Value::Tuple(more)) => {
            stack.iter_mut().zip(more).try_for_each(|(s, m)| append(s, m))
        }
        (Value::List(stack), Value::List(more)) => {
            stack.extend(more);
            Ok(())
        }
        _ => Ok(()),
    }
}

impl Compiled {
    /// Calls it once for each element of the arguments that are [`Batched::Each`], on as many threads as is said, or on all
    /// cores. A result has one more dimension in front; its bits are those of single calls.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// use jut::Batched::{Each, Same};
    /// let text = "def f[n](x: [n]f64, a: f64) -> f64 = sum (i < n) { sin(a * x[i]) }";
    /// let gradient = jut::Model::from_text(text)?.function("f")?.wrt(&["x"])?.gradient()?;
    /// let points = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    /// let all = gradient.call_batch(&[Each((&points[..], &[3, 2]).into()), Same(2.0.into())], None)?;
    /// let jut::Value::F64s(by_x) = &all[0] else { panic!() };
    /// assert_eq!(by_x.shape, [3, 2]);
    /// assert_eq!(by_x.data[..2], gradient.call(&[(&[0.0, 1.0]).into(), 2.0.into()])?[0].floats());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Arguments that have not as many elements as each other, none that is [`Batched::Each`], or no element at all; results of
    /// different sizes (A03); and what the first element fails with that does.
    pub fn call_batch(
        &self,
        args: &[Batched<'_>],
        threads: Option<NonZeroUsize>,
    ) -> Result<Vec<Value>> {
        let count = self.count(args)?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = threads.map_or(cores, NonZeroUsize::get).min(count).max(1);
        if threads == 1 {
            return Ok(self.session().elements(args, 0, count)?.values);
        }
        let parts: Vec<Result<Stacks>> = std::thread::scope(|scope| {
            let start = |t: usize| (count / threads) * t + (count % threads).min(t);
            let work = |t| {
                let (from, to) = (start(t), start(t + 1));
                let printer = print::current();
                let mut session = self.session();
                // All threads are busy already.
                session.on_one_thread();
                scope.spawn(move || print::to(printer, || session.elements(args, from, to)))
            };
            let running: Vec<_> = (0..threads).map(work).collect();
            let join = |t: std::thread::ScopedJoinHandle<'_, _>| match t.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            running.into_iter().map(join).collect()
        });
        let mut all = Stacks::default();
        for part in parts {
            all.append(part?.values)?;
        }
        Ok(all.values)
    }

    /// How many elements there are.
    fn count(&self, args: &[Batched<'_>]) -> Result<usize> {
        let mut count: Option<(usize, String)> = None;
        let names: Vec<String> = self.inputs().map(|i| i.name.to_string()).collect();
        for (k, arg) in args.iter().enumerate() {
            let name = names.get(k).cloned().unwrap_or_else(|| k.to_string());
            let Some(own) = arg.count(&name)? else { continue };
            match &count {
                Some((known, first)) if *known != own => {
                    let reason = format!("has {own} elements, where `{first}` has {known}");
                    let help = "give one element for each call, or `Batched::Same`";
                    return Err(ArgumentError::new("A03", &name, reason, help).into());
                }
                Some(_) => {}
                None => count = Some((own, name)),
            }
        }
        count.map(|(count, _)| count).filter(|count| *count > 0).ok_or_else(|| {
            let reason = "there is no element to call it for".to_string();
            ArgumentError::new("A02", "batch", reason, "give one of them as `Batched::Each`").into()
        })
    }
}

impl Session {
    /// The results of some of the elements, in order.
    fn elements(&mut self, args: &[Batched<'_>], from: usize, to: usize) -> Result<Stacks> {
        let mut stacks = Stacks::default();
        for k in from..to {
            let ones: Vec<One<'_>> = args.iter().filter_map(|arg| arg.one(k)).collect();
            let given: Vec<Arg<'_>> = ones
                .iter()
                .map(|one| match one {
                    One::Given(arg) => *arg,
                    One::Made(value) => Arg::from(value),
                })
                .collect();
            let values = self.call(&given)?.values();
            stacks.append(values.into_iter().map(raised).collect())?;
        }
        Ok(stacks)
    }
}
