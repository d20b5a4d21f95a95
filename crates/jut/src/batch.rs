//! Many calls of one function: some arguments have a leading axis, over which it is called once for each element.
//!
//! Each element is computed by the same code as a single call, so the bits are those of single calls, whatever the number of
//! threads, which [take parts](parts). The first element says how large the results are, so the others are put [where they stay](rows).
//! Threads are those of the `rayon` pool that the caller is in, or of the global one, and the caller's own.

mod parts;
mod rows;

use crate::compiled::{Compiled, Session};
use crate::error::{ArgumentError, Result};
use crate::interface::Results;
use crate::value::{Arg, Number, Out, Value, cells, numbers};
use parts::{Batch, Part};
use rows::Room;
use std::borrow::Cow;
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

impl Compiled {
    /// Calls it once for each element of the arguments that are [`Batched::Each`], on as many threads as is said at most, or as
    /// the pool has; on one where more are not worth it. A result has one more dimension in front; its bits are those of single calls.
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
        let mut all = Vec::new();
        self.batch(args, threads, Room::Made(&mut all))?;
        Ok(all)
    }

    /// As [`Compiled::call_batch`], and writes the results into memory of the caller, one [`Out`] for each result in the order of
    /// [`Compiled::outputs`]: an array with the rows of all elements, one after another. Calls again and again that are worth several
    /// threads are faster so, because one thread would clear the memory that all write to.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// use jut::Batched::Each;
    /// let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i]^2 }";
    /// let gradient = jut::Model::from_text(text)?.function("f")?.value_and_gradient()?;
    /// let points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    /// let (mut values, mut gradients) = (vec![0.0; 3], vec![0.0; 6]);
    /// let each = [Each((&points[..], &[3, 2]).into())];
    /// gradient.call_batch_into(&each, None, &mut [(&mut values).into(), (&mut gradients).into()])?;
    /// assert_eq!(values, [5.0, 25.0, 61.0]);
    /// assert_eq!(gradients, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Compiled::call_batch`]; memory for more or fewer results than there are, and results that are tuples or records (A01); memory
    /// that does not fit its result (A05). What the memory has in it after an error is not said.
    pub fn call_batch_into(
        &self,
        args: &[Batched<'_>],
        threads: Option<NonZeroUsize>,
        outs: &mut [Out<'_>],
    ) -> Result<()> {
        self.check_outs(outs)?;
        let outs = outs.iter_mut().map(Out::again).collect();
        self.batch(args, threads, Room::Given(outs, &mut Vec::new()))
    }

    fn batch<'r>(
        &'r self,
        args: &'r [Batched<'r>],
        threads: Option<NonZeroUsize>,
        room: Room<'r>,
    ) -> Result<()> {
        let count = self.count(args)?;
        let threads = threads.map_or_else(rayon::current_num_threads, NonZeroUsize::get);
        Batch::new(self, args, count, threads.min(count).max(1)).run(room)
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
    /// Computes elements, in order.
    fn fill(&mut self, args: &[Batched<'_>], mut part: Part<'_>) -> Result<()> {
        let mut given = Vec::with_capacity(args.len());
        for (at, k) in part.elements.enumerate() {
            let results = self.element(args, k, &mut given)?;
            for (result, rows) in part.rows.iter_mut().enumerate() {
                if let Some(one) = results.plain(result) {
                    rows.put(at, Cow::Borrowed(one))?;
                } else if let Some(one) = results.value(result) {
                    rows.put(at, Cow::Owned(one))?;
                }
            }
        }
        Ok(())
    }

    /// The results of an element; the list is used again for the next one.
    fn element<'a>(
        &mut self,
        args: &'a [Batched<'_>],
        k: usize,
        given: &mut Vec<Arg<'a>>,
    ) -> Result<Results<'_>> {
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
            return self.call(given);
        }
        let mut given: Vec<Arg<'_>> = given.clone();
        for (at, value) in &made {
            given[*at] = value.into();
        }
        self.call(&given)
    }
}
