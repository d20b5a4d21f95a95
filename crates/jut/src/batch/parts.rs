//! Which thread computes which elements of a batch.
//!
//! How long an element takes is known from the last batch of the function; else it is seen, on the thread that is there. Where those that
//! are left are worth waking threads, each thread takes parts that lie beside each other until none is left. To wake a thread takes as
//! long as some hundred small gradients, so where it is known that these will be worth it threads are woken before the first element is
//! computed, and wait a little for their parts.

use super::Batched;
use super::rows::{Room, Rows};
use crate::compiled::{Compiled, Session};
use crate::error::{Error, Result};
use jut_native::together;
use jut_runtime::print;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that is worth waking threads for.
const WORTH: Duration = Duration::from_micros(100);

/// What a part should take at least.
const PART: Duration = Duration::from_micros(10);

/// How long a thread waits for parts. No longer: it may be the thread that is to make them, which does other work of the pool while a
/// function of the caller's own, in the first element, waits for some.
const PATIENCE: Duration = Duration::from_micros(200);

/// Parts for each thread, at most.
const PARTS_PER_THREAD: usize = 8;

/// How many times what is worth it the second element has to show: after the first call of a session the next one is not in the
/// caches yet.
const DOUBT: f64 = 4.0;

/// So many elements are computed before the next look.
const FEW: usize = 15;

/// Elements that are not computed yet, and where their results go.
pub(super) struct Part<'r> {
    pub elements: Range<usize>,
    pub rows: Vec<Rows<'r>>,
}

impl<'r> Part<'r> {
    /// The first ones of these, so many at most; none if nothing is left.
    fn take(&mut self, count: usize) -> Option<Part<'r>> {
        let count = count.min(self.elements.len());
        let start = self.elements.start;
        self.elements.start += count;
        let rows = self.rows.iter_mut().map(|rows| rows.take(count)).collect();
        (count > 0).then_some(Part { elements: start..start + count, rows })
    }
}

/// A batch, and what its threads have of each other.
pub(super) struct Batch<'b, 'r> {
    compiled: &'b Compiled,
    args: &'b [Batched<'b>],
    count: usize,
    threads: usize,
    state: Mutex<State<'r>>,
    /// Nanoseconds that parts took.
    taken: AtomicU64,
}

enum State<'r> {
    /// The first element is being computed.
    Beginning,
    /// What is left, and of how many elements parts should be.
    Left(Part<'r>, usize),
    /// Where the first part begins that failed, and why.
    Failed(usize, Error),
}

/// How a batch begins on several threads.
enum Start<'r> {
    /// They are woken before anything is computed; where the results go.
    Woken(Room<'r>),
    /// What is left after a look, and how many seconds it should take.
    Seen(Part<'r>, f64),
}

impl<'b, 'r> Batch<'b, 'r> {
    pub fn new(
        compiled: &'b Compiled,
        args: &'b [Batched<'b>],
        count: usize,
        threads: usize,
    ) -> Batch<'b, 'r> {
        let state = Mutex::new(State::Beginning);
        Batch { compiled, args, count, threads, state, taken: AtomicU64::new(0) }
    }

    /// Computes all elements.
    pub fn run(self, room: Room<'r>) -> Result<()> {
        let mut session = self.compiled.session();
        if self.threads == 1 {
            let left = self.begin(&mut session, room)?;
            return self.fill(&mut session, left);
        }
        // All threads are busy.
        session.on_one_thread();
        let known = self.compiled.element_time();
        let all_time = known.as_secs_f64() * self.count as f64;
        let start = match known < PART && all_time >= WORTH.as_secs_f64() {
            true => Start::Woken(room),
            false => {
                let mut left = self.begin(&mut session, room)?;
                match self.look(&mut session, &mut left)? {
                    None => return Ok(()),
                    Some(time) => Start::Seen(left, time),
                }
            }
        };
        let printer = print::current();
        let there = || {
            let mut session = self.compiled.session();
            session.on_one_thread();
            print::to(printer.clone(), || self.take_parts(&mut session));
        };
        let here = || {
            let (left, time) = match start {
                Start::Seen(left, time) => (left, time),
                Start::Woken(room) => match self.begin(&mut session, room) {
                    Ok(left) => (left, all_time),
                    Err(error) => return *self.state() = State::Failed(0, error),
                },
            };
            let most = self.threads.saturating_mul(PARTS_PER_THREAD) as f64;
            let parts = (time / PART.as_secs_f64()).clamp(1.0, most);
            let size = (left.elements.len() as f64 / parts).ceil() as usize;
            *self.state() = State::Left(left, size);
            self.take_parts(&mut session);
        };
        together(self.threads, here, there);
        let nanoseconds = self.taken.load(Ordering::Relaxed) / self.count as u64;
        self.compiled.note_element_time(nanoseconds);
        match self.state.into_inner().unwrap_or_else(PoisonError::into_inner) {
            State::Failed(_, error) => Err(error),
            State::Beginning | State::Left(..) => Ok(()),
        }
    }

    /// Computes the first element, and makes room for the others.
    fn begin(&self, session: &mut Session, room: Room<'r>) -> Result<Part<'r>> {
        let first = session.element(self.args, 0, &mut Vec::new())?;
        let rows = room.with_first(&first, self.count)?;
        let mut left = Part { elements: 0..self.count, rows };
        left.take(1);
        Ok(left)
    }

    /// Computes further ones, until the time of the last ones says that what is left is worth several threads; gives the seconds that
    /// it should take. Between two looks there are twice as many each time.
    fn look(&self, session: &mut Session, left: &mut Part<'r>) -> Result<Option<f64>> {
        let (mut count, mut doubt) = (1, DOUBT);
        while let Some(part) = left.take(count) {
            let begin = Instant::now();
            session.fill(self.args, part)?;
            let time = begin.elapsed().as_secs_f64() / count as f64 * left.elements.len() as f64;
            if time >= WORTH.as_secs_f64() * doubt {
                return Ok(Some(time));
            }
            (count, doubt) = (FEW.max(count.saturating_mul(2)), 1.0);
        }
        Ok(None)
    }

    /// Computes parts until nothing is left, or one has failed.
    fn take_parts(&self, session: &mut Session) {
        let begin = Instant::now();
        loop {
            let part = match &mut *self.state() {
                State::Beginning => None,
                State::Left(left, size) => match left.take(*size) {
                    None => return,
                    some => some,
                },
                State::Failed(..) => return,
            };
            let Some(part) = part else {
                if begin.elapsed() > PATIENCE {
                    return;
                }
                std::thread::yield_now();
                continue;
            };
            let start = part.elements.start;
            if let Err(error) = self.fill(session, part) {
                let mut state = self.state();
                // Parts are taken in order: those before this one are computed, or will be.
                if !matches!(&*state, State::Failed(first, _) if *first < start) {
                    *state = State::Failed(start, error);
                }
            }
        }
    }

    /// Computes elements, and notes how long that takes.
    fn fill(&self, session: &mut Session, part: Part<'_>) -> Result<()> {
        let begin = Instant::now();
        session.fill(self.args, part)?;
        let nanoseconds = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.taken.fetch_add(nanoseconds, Ordering::Relaxed);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State<'r>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
