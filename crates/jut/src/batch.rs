//! Many calls of one function: some arguments have a leading axis, over which it is called once for each element.
//!
//! Each element is computed by the same code as a single call, so the bits are those of single calls, whatever the number of
//! threads. A thread has a session of its own and a part of the elements that lie beside each other; the parts of the results are put
//! together in order. Threads are those of the `rayon` pool that the caller is in, or of the global one, and the caller's own.

use crate::compiled::{Compiled, Session};
use crate::error::{ArgumentError, Result};
use crate::interface::Results;
use crate::value::{Arg, Array, Number, Value, cells, numbers};
use jut_runtime::print;
use std::num::NonZeroUsize;
use std::ops::Range;

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
            Arg::List(items) => Some(items.len()),
            Arg::Values(items) => items.first().and_then(Value::first_size),
            array => array.extent().and_then(|(len, shape)| rows(len, shape)),
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
        fn part<'s, T: Number>(
            data: &'s [T],
            shape: &Option<&'s [usize]>,
            k: usize,
        ) -> Option<Arg<'s>> {
            let inner = shape.map_or(&[][..], |shape| &shape[1..]);
            let stride = cells(inner)?;
            Some(match (data.get(k * stride..(k + 1) * stride)?, inner) {
                ([x], []) => x.arg(),
                (part, inner) => Number::args(part, Some(inner)),
            })
        }
        let Batched::Each(arg) = self else {
            let Batched::Same(arg) = self else { return None };
            return Some(One::Given(*arg));
        };
        Some(One::Given(numbers!(Arg, arg;
            _ => return None,
            [data, shape] => part(data, shape, k)?,
            Arg::List(items) => Arg::from(items.get(k)?),
            Arg::Values(items) => {
                let parts: Option<Vec<Value>> = items.iter().map(|item| item.element(k)).collect();
                return Some(One::Made(Value::Tuple(parts?)));
            }
            _ => return None,
        )))
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
    /// Puts the results of one more element behind these; there may be so many elements in all.
    fn push(&mut self, results: &Results<'_>, count: usize) -> Result<()> {
        if self.values.is_empty() {
            self.values = results.values().into_iter().map(raised).collect();
            return self.values.iter_mut().try_for_each(|stack| reserve(stack, count));
        }
        for (k, stack) in self.values.iter_mut().enumerate() {
            if let Some(one) = results.plain(k) {
                append_one(stack, one)?;
            } else if let Some(one) = results.value(k) {
                append(stack, raised(one))?;
            }
        }
        Ok(())
    }

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

/// Makes room for so many elements behind one another, of which the first one is there.
fn reserve(stack: &mut Value, count: usize) -> Result<()> {
    fn rows<T>(data: &mut Vec<T>, count: usize) -> Result<()> {
        let all = data.len().checked_mul(count);
        let room = all.is_some_and(|all| data.try_reserve_exact(all - data.len()).is_ok());
        room.then_some(()).ok_or_else(|| {
            let reason = format!("there is no memory for the results of {count} elements");
            ArgumentError::new("A03", "batch", reason, "give fewer elements at a time").into()
        })
    }
    numbers!(Value, stack;
        _ => Ok(()),
        [stack] => rows(&mut stack.data, count),
        Value::Tuple(items) => items.iter_mut().try_for_each(|item| reserve(item, count)),
        _ => Ok(()),
    )
}

/// A value with a dimension of one in front.
fn raised(value: Value) -> Value {
    fn row<T>(mut array: Array<T>) -> Array<T> {
        array.shape.insert(0, 1);
        array
    }
    numbers!(Value, value;
        x => Number::values(Array { shape: vec![1], data: vec![x] }),
        [array] => Number::values(row(array)),
        Value::Tuple(items) => Value::Tuple(items.into_iter().map(raised).collect()),
        other => Value::List(vec![other]),
    )
}

/// Puts a number or an array behind those of an array.
fn append_one(stack: &mut Value, one: &Value) -> Result<()> {
    fn row<T: Number>(stack: &mut Array<T>, one: &Value) -> Result<()> {
        let Some((shape, data)) = T::cells(one) else { return Ok(()) };
        stack.fits(shape)?;
        stack.shape[0] += 1;
        stack.data.extend_from_slice(data);
        Ok(())
    }
    numbers!(Value, stack; _ => Ok(()), [stack] => row(stack, one), _ => Ok(()))
}

impl<T> Array<T> {
    /// Whether an element of these sizes goes behind the others, as part of a batch.
    fn fits(&self, shape: &[usize]) -> Result<()> {
        if self.shape[1..] == *shape {
            return Ok(());
        }
        let reason = format!("a result has the sizes {shape:?}, one before {:?}", &self.shape[1..]);
        let help = "give elements of one size, or call the function for each";
        Err(ArgumentError::new("A03", "batch", reason, help).into())
    }
}

/// Puts the elements of one array behind those of another.
fn append(stack: &mut Value, more: Value) -> Result<()> {
    fn rows<T: Number>(stack: &mut Array<T>, more: &Value) -> Result<()> {
        let Some(([count, shape @ ..], data)) = T::cells(more) else { return Ok(()) };
        stack.fits(shape)?;
        stack.shape[0] += count;
        stack.data.extend_from_slice(data);
        Ok(())
    }
    match (stack, more) {
        (Value::Tuple(stack), Value::Tuple(more)) => {
            stack.iter_mut().zip(more).try_for_each(|(s, m)| append(s, m))
        }
        (Value::List(stack), Value::List(more)) => {
            stack.extend(more);
            Ok(())
        }
        (stack, more) => {
            numbers!(Value, stack; _ => Ok(()), [stack] => rows(stack, &more), _ => Ok(()))
        }
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
        // The first part, which has room for all, is that of this thread.
        let mut first = self.session();
        if threads == 1 {
            return Ok(first.elements(args, 0..count, count)?.values);
        }
        // All threads are busy.
        first.on_one_thread();
        let start = |t: usize| (count / threads) * t + (count % threads).min(t);
        let printer = print::current();
        let mut parts: Vec<Result<Stacks>> = (1..threads).map(|_| Ok(Stacks::default())).collect();
        let mut all = rayon::in_place_scope(|scope| {
            for (t, part) in (1..threads).zip(&mut parts) {
                let (range, printer) = (start(t)..start(t + 1), printer.clone());
                let mut session = self.session();
                session.on_one_thread();
                scope.spawn(move |_| {
                    let count = range.len();
                    *part = print::to(printer, || session.elements(args, range, count));
                });
            }
            first.elements(args, 0..start(1), count)
        })?;
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
    /// The results of some of the elements, in order, with room for so many elements.
    fn elements(
        &mut self,
        args: &[Batched<'_>],
        range: Range<usize>,
        room: usize,
    ) -> Result<Stacks> {
        let mut stacks = Stacks::default();
        let mut given: Vec<Arg<'_>> = Vec::with_capacity(args.len());
        for k in range {
            given.clear();
            let mut made = Vec::new();
            for arg in args {
                match arg.one(k) {
                    Some(One::Given(arg)) => given.push(arg),
                    Some(One::Made(value)) => {
                        made.push((given.len(), value));
                        // Its place.
                        given.push(Arg::Values(&[]));
                    }
                    None => {}
                }
            }
            if made.is_empty() {
                stacks.push(&self.call(&given)?, room)?;
                continue;
            }
            let mut given: Vec<Arg<'_>> = given.clone();
            for (at, value) in &made {
                given[*at] = value.into();
            }
            stacks.push(&self.call(&given)?, room)?;
        }
        Ok(stacks)
    }
}
