//! Many calls of one function: some arguments have a leading axis, over which it is called once for each element.
//!
//! Each element is computed by the same code as a single call, so the bits are those of single calls, whatever the number of
//! threads. It is seen, on the thread that is there, how long elements take; where those that are left are worth waking threads,
//! each thread, with a session of its own, takes parts that lie beside each other until none is left. The first element says how large the
//! results are, so the others are put where they stay. Threads are those of the `rayon` pool that the caller is in, or of the global one, and
//! the caller's own.

mod rows;

use crate::compiled::{Compiled, Session};
use crate::error::{ArgumentError, Error, Result};
use crate::interface::Results;
use crate::value::{Arg, Number, Value, cells, numbers};
use jut_native::together;
use jut_runtime::print;
use rows::Rows;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that is worth waking threads for.
const WORTH: Duration = Duration::from_micros(100);

/// What a part should take at least.
const PART: Duration = Duration::from_micros(10);

/// Elements that are computed first, and how many times what is worth it they have to show: after the first call of a session the
/// next one is not in the caches yet.
const LOOKS: [(usize, f64); 2] = [(1, 4.0), (15, 1.0)];

/// Parts for each thread, at most.
const PARTS_PER_THREAD: usize = 8;

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
        let threads = threads.map_or_else(rayon::current_num_threads, NonZeroUsize::get);
        let threads = threads.min(count).max(1);
        let mut session = self.session();
        if threads > 1 {
            // All threads are busy.
            session.on_one_thread();
        }
        let mut all = rows::with_room(&session.element(args, 0, &mut Vec::new())?, count)?;
        let rows = all.iter_mut().map(Rows::of).collect();
        let mut left = Left { elements: 0..count, rows };
        left.take(1);
        let parallel = if threads > 1 { left.look(&mut session, args)? } else { None };
        match parallel {
            None => session.fill(args, left)?,
            Some(size) => self.fill(session, args, left, (threads, size))?,
        }
        Ok(all)
    }

    /// Computes elements on several threads, in parts of so many.
    fn fill(
        &self,
        mut session: Session,
        args: &[Batched<'_>],
        left: Left<'_>,
        (threads, size): (usize, usize),
    ) -> Result<()> {
        let left = Mutex::new(left);
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let some = |session: &mut Session| {
            while lock(&failed).is_none() {
                let Some(part) = lock(&left).take(size) else { return };
                let start = part.elements.start;
                if let Err(error) = session.fill(args, part) {
                    let mut failed = lock(&failed);
                    if failed.as_ref().is_none_or(|(first, _)| start < *first) {
                        *failed = Some((start, error));
                    }
                }
            }
        };
        let printer = print::current();
        let other = || {
            let mut session = self.session();
            session.on_one_thread();
            print::to(printer.clone(), || some(&mut session));
        };
        together(threads, || some(&mut session), other);
        // Parts are taken in order, so those before one that failed have been computed.
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
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


fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Elements that are not computed yet, and where their results go.
struct Left<'r> {
    elements: Range<usize>,
    rows: Vec<Rows<'r>>,
}

impl<'r> Left<'r> {
    /// The first ones of these, so many at most; none if nothing is left.
    fn take(&mut self, count: usize) -> Option<Left<'r>> {
        let count = count.min(self.elements.len());
        let start = self.elements.start;
        self.elements.start += count;
        let rows = self.rows.iter_mut().map(|rows| rows.take(count)).collect();
        (count > 0).then_some(Left { elements: start..start + count, rows })
    }

    /// Computes the first ones, and says of how many elements parts for several threads should be, if these are worth it.
    fn look(&mut self, session: &mut Session, args: &[Batched<'_>]) -> Result<Option<usize>> {
        for (count, doubt) in LOOKS {
            let Some(part) = self.take(count) else { return Ok(None) };
            let begin = Instant::now();
            session.fill(args, part)?;
            let left = self.elements.len() as f64;
            let time = begin.elapsed().as_secs_f64() / count as f64 * left;
            if time >= WORTH.as_secs_f64() * doubt {
                let threads = rayon::current_num_threads();
                let parts = (time / PART.as_secs_f64()).min((threads * PARTS_PER_THREAD) as f64);
                return Ok(Some((left / parts).ceil() as usize));
            }
        }
        Ok(None)
    }
}

impl Session {
    /// Computes elements, in order.
    fn fill(&mut self, args: &[Batched<'_>], mut part: Left<'_>) -> Result<()> {
        let mut given = Vec::with_capacity(args.len());
        for (at, k) in part.elements.enumerate() {
            let results = self.element(args, k, &mut given)?;
            for (result, rows) in part.rows.iter_mut().enumerate() {
                match results.plain(result) {
                    Some(one) => rows.put(at, Cow::Borrowed(one))?,
                    None => match results.value(result) {
                        Some(one) => rows.put(at, Cow::Owned(one))?,
                        None => {}
                    },
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
