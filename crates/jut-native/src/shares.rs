//! Loops on several threads: those of the `rayon` pool that the caller is in, or of its global one.
//!
//! Compiled code gives a loop as a function of a range ([`jut_runtime::shares`]). How long it takes is known from the last time
//! that this thread ran it with this range; else it is seen, on the thread that is there, how long iterations take. If those that
//! are left are not worth waking a thread, they run where they are; else threads take parts of what is left, the one of the call
//! among them: long ones first, so that whoever comes late, or has iterations that take longer, keeps nobody waiting. What the loop
//! computes does not depend on how it is cut, so it may depend on the clock how that is.
//!
//! Each part runs with a workspace of the thread that it is on, kept for the next one, which may take from the system what the
//! workspace of the call has left. A loop in a part is not cut again. If parts fail, the first one in the order of the range is
//! the one that counts: parts behind it may be left out, parts before it are not.
//!
//! *Cost*: two to four looks at the clock for a loop that is not cut.

use crate::code::{LARGE_STACK, RUNTIME_STACK};
use crate::threads::together;
use jut_runtime::shares::{self, Share, Threads};
use jut_runtime::{Cancellation, Failure, Workspace, cancel, stack};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Work that is worth waking threads for.
const WORTH: Duration = Duration::from_micros(100);

/// What a part should take at least.
const PART: Duration = Duration::from_micros(10);

/// A part is one of so many shares of what is left, for each thread.
const SHARES_PER_THREAD: i64 = 4;

/// Iterations that run first.
const FIRST: i64 = 16;

/// How many times what is worth it these have to show: they are few, and what they touch is not in the caches yet.
const DOUBT: f64 = 4.0;

/// Tells compiled code of the threads; once is enough.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    let threads = Threads { count: rayon::current_num_threads, run: numbers };
    ONCE.call_once(|| shares::install(run, threads));
}

/// Calls work with each number from 0 to before this one.
fn numbers(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let some = || {
        while let k = next.fetch_add(1, Ordering::Relaxed)
            && k < count
        {
            work(k);
        }
    };
    together(rayon::current_num_threads().min(count), some, some);
}

/// Runs a loop, in parts if it takes long.
///
/// # Safety
/// That of [`Share`]: parts of the range may run at the same time, each with a workspace of its own.
unsafe fn run(
    workspace: &mut Workspace,
    share: Share,
    words: *const u64,
    range: Range<i64>,
    least: i64,
) -> u32 {
    let (low, high) = (range.start, range.end);
    let threads = match high.saturating_sub(low) < least {
        true => 1,
        false => rayon::current_num_threads(),
    };
    if threads < 2 {
        // SAFETY: as required of the caller.
        return unsafe { share(workspace, words, low, high) };
    }
    if let Some(time) = last_time(share, &range).filter(|time| *time >= WORTH.as_secs_f64()) {
        return Loop::new(workspace, share, words).run(workspace, range.clone(), &range, time);
    }
    let mut from = low;
    let mut seen = Seen::default();
    let start = Instant::now();
    let mut begin = start;
    for (count, doubt) in [(FIRST, DOUBT), (high.saturating_sub(low) / 4, 1.0)] {
        let to = from.saturating_add(count.max(0)).min(high);
        // SAFETY: as required of the caller.
        let status = unsafe { share(workspace, words, from, to) };
        if status != 0 || to == high {
            return status;
        }
        let now = Instant::now();
        seen.note(from.saturating_sub(low), to.saturating_sub(low), now - begin);
        (from, begin) = (to, now);
        let left = seen.time_of(from.saturating_sub(low), high.saturating_sub(low));
        if left >= WORTH.as_secs_f64() * doubt {
            return Loop::new(workspace, share, words).run(workspace, from..high, &range, left);
        }
    }
    // SAFETY: as required of the caller.
    let status = unsafe { share(workspace, words, from, high) };
    note_time(share, &range, start.elapsed().as_secs_f64());
    status
}

/// Times of loops that ran on this thread, each in a place that its code and range say.
const TIMES: usize = 64;

/// A loop and its range, and the seconds that it took.
type Time = (usize, Range<i64>, f64);

thread_local! {
    /// On the heap: what is kept of a thread here is a part of its stack, which may be small.
    static TAKEN: RefCell<Vec<Time>> = const { RefCell::new(Vec::new()) };
}

fn place(share: Share, range: &Range<i64>) -> usize {
    let key = (share as usize as u64 >> 4) ^ (range.start ^ range.end) as u64;
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % TIMES
}

/// Seconds that a loop took the last time on one thread, or on all together, if this is known.
fn last_time(share: Share, range: &Range<i64>) -> Option<f64> {
    TAKEN.with_borrow(|all| {
        let (of, taken, time) = all.get(place(share, range))?;
        (*of == share as usize && taken == range).then_some(*time)
    })
}

fn note_time(share: Share, range: &Range<i64>, seconds: f64) {
    TAKEN.with_borrow_mut(|all| {
        all.resize(TIMES, (0, 0..0, 0.0));
        if let Some(entry) = all.get_mut(place(share, range)) {
            *entry = (share as usize, range.clone(), seconds);
        }
    });
}

/// How long iterations took: the time of one, as a line over their number, from where it was seen twice.
#[derive(Default)]
struct Seen {
    /// Before the last look, and with it: the number in the middle of those that ran, and the seconds of one.
    looks: [Option<(f64, f64)>; 2],
}

impl Seen {
    fn note(&mut self, from: i64, to: i64, time: Duration) {
        let one = time.as_secs_f64() * ratio(1, to.saturating_sub(from));
        self.looks = [self.looks[1], Some(((from as f64 + to as f64) / 2.0, one))];
    }

    /// Seconds that a range should take. Loops in loops may become longer, as the rows of a triangle do.
    fn time_of(&self, from: i64, to: i64) -> f64 {
        let middle = (from as f64 + to as f64) / 2.0;
        let one = match self.looks {
            [Some((before, first)), Some((at, last))] => {
                let more = (last - first) / (at - before).max(1.0) * (middle - at);
                last + more.max(0.0)
            }
            [_, Some((_, one))] => one,
            _ => 0.0,
        };
        one * (to as f64 - from as f64)
    }
}

fn ratio(a: i64, b: i64) -> f64 {
    a as f64 / b.max(1) as f64
}

/// A loop that runs in parts.
struct Loop {
    share: Share,
    words: *const u64,
    cancellation: Option<Cancellation>,
    /// What the workspace of a part may take from the system.
    limit: usize,
    /// Where the first part that failed begins.
    failed_at: AtomicI64,
    /// Where it begins, its status, and what it left.
    failure: Mutex<(i64, u32, Failure)>,
    /// Nanoseconds that its parts took.
    taken: AtomicU64,
}

/// The next part of what is left before an end: of so many shares one, and not less than this.
fn take(next: &AtomicI64, end: i64, shares: i64, least: i64) -> Option<Range<i64>> {
    let mut from = next.load(Ordering::Relaxed);
    loop {
        let left = end.saturating_sub(from);
        if left <= 0 {
            return None;
        }
        let to = from + (left / shares).max(least).min(left);
        match next.compare_exchange_weak(from, to, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(from..to),
            Err(now) => from = now,
        }
    }
}

// SAFETY: the words are only read, and by what the caller of the loop says may run at the same time; it waits for all parts.
unsafe impl Sync for Loop {}

thread_local! {
    /// The workspace of the parts that run on this thread, one at a time.
    static WORKSPACE: Cell<Option<Box<Workspace>>> = const { Cell::new(None) };
}

impl Loop {
    fn new(workspace: &Workspace, share: Share, words: *const u64) -> Loop {
        Loop {
            share,
            words,
            cancellation: workspace.cancellation().cloned(),
            limit: workspace.limit().saturating_sub(workspace.held()),
            failed_at: AtomicI64::new(i64::MAX),
            failure: Mutex::new((i64::MAX, 0, Failure::default())),
            taken: AtomicU64::new(0),
        }
    }

    /// Runs a range, which is what is left of one and should take so many seconds.
    fn run(
        self,
        workspace: &mut Workspace,
        range: Range<i64>,
        all: &Range<i64>,
        seconds: f64,
    ) -> u32 {
        let length = range.end.saturating_sub(range.start);
        let least = (length as f64 * (PART.as_secs_f64() / seconds)) as i64;
        let threads = rayon::current_num_threads();
        let shares = i64::try_from(threads).unwrap_or(i64::MAX).saturating_mul(SHARES_PER_THREAD);
        let next = AtomicI64::new(range.start);
        let some = || {
            while let Some(part) = take(&next, range.end, shares, least.max(1)) {
                self.part(part.start, part.end);
            }
        };
        together(threads, some, some);
        let taken = Duration::from_nanos(self.taken.into_inner()).as_secs_f64();
        let before = ratio(range.start.saturating_sub(all.start), length);
        note_time(self.share, all, taken * (1.0 + before));
        let (_, status, failure) =
            self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        if status != 0 {
            workspace.set_failure(failure);
        }
        status
    }

    fn part(&self, low: i64, high: i64) {
        if self.failed_at.load(Ordering::Relaxed) < low {
            return;
        }
        if stack::fits(LARGE_STACK + RUNTIME_STACK) {
            return self.here(low, high);
        }
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(2 * LARGE_STACK);
            // Without memory for a stack it fails as it does without memory for arrays.
            let begun = builder.spawn_scoped(scope, || self.here(low, high));
            if begun.is_err() {
                let memory = jut_ir::RuntimeErrorKind::Memory;
                let failure = Failure { site: -1, kind: memory as u8 as _, ..Failure::default() };
                self.fail(low, memory as u8 as _, failure);
            }
        });
    }

    /// Runs a part on this thread.
    fn here(&self, low: i64, high: i64) {
        let mut workspace = WORKSPACE.take().unwrap_or_default();
        workspace.set_limit(self.limit);
        workspace.set_parallel(false);
        workspace.set_cancellation(self.cancellation.clone());
        workspace.reset();
        // SAFETY: the caller of the loop vouches for parts of its range, each with a workspace of its own; the stack has room for
        // whatever runs on a thread that is not made for it.
        let mut run = || unsafe { (self.share)(&raw mut *workspace, self.words, low, high) };
        let begin = Instant::now();
        let status = shares::alone(|| match &self.cancellation {
            Some(cancellation) => cancel::during(cancellation, run),
            None => run(),
        });
        let nanoseconds = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.taken.fetch_add(nanoseconds, Ordering::Relaxed);
        if status != 0 {
            self.fail(low, status, workspace.failure());
        }
        workspace.set_cancellation(None);
        WORKSPACE.set(Some(workspace));
    }

    fn fail(&self, low: i64, status: u32, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if low < first.0 {
            *first = (low, status, failure);
            self.failed_at.store(low, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicU64;
    use std::thread::ThreadId;

    /// What the parts of a loop saw.
    #[derive(Default)]
    struct Log {
        ran: [AtomicU64; 8],
        threads: Mutex<HashSet<ThreadId>>,
        workspaces: Mutex<HashSet<usize>>,
        fails: [i64; 2],
    }

    /// Notes each iteration; two of them fail.
    unsafe extern "C" fn noting(
        space: *mut Workspace,
        log: *const u64,
        low: i64,
        high: i64,
    ) -> u32 {
        // SAFETY: the tests give a log.
        let log = unsafe { &*log.cast::<Log>() };
        for i in low..high {
            log.ran[i as usize / 64].fetch_add(1 << (i % 64), Ordering::Relaxed);
            std::thread::sleep(Duration::from_micros(200));
            if log.fails.contains(&i) {
                // SAFETY: a workspace that this part has for itself.
                unsafe { &mut *space }.set_failure(Failure { site: i, ..Failure::default() });
                return 1;
            }
        }
        log.threads.lock().unwrap().insert(std::thread::current().id());
        log.workspaces.lock().unwrap().insert(space.addr());
        0
    }

    fn run_noting(log: &Log, threads: usize) -> (u32, Failure) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut workspace = Workspace::new();
        // SAFETY: the log is what the function takes for words.
        let status = pool.install(|| unsafe {
            run(&mut workspace, noting, (&raw const *log).cast(), 0..64 * log.ran.len() as i64, 16)
        });
        (status, workspace.failure())
    }

    #[test]
    fn every_iteration_runs_once_on_whatever_thread() {
        for threads in [1, 2, 4] {
            let log = Log { fails: [-1; 2], ..Log::default() };
            assert_eq!(run_noting(&log, threads).0, 0);
            assert!(log.ran.iter().all(|ran| ran.load(Ordering::Relaxed) == u64::MAX));
            let used = log.threads.into_inner().unwrap().len();
            assert!(used <= threads && (threads == 1 || used > 1), "{used} of {threads}");
            assert!(log.workspaces.into_inner().unwrap().len() <= threads + 1);
        }
    }

    #[test]
    fn a_loop_that_took_long_is_cut_at_once_the_next_time() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            for known in [false, true] {
                let log = Log { fails: [-1; 2], ..Log::default() };
                let range = 0..64 * log.ran.len() as i64;
                let last = last_time(noting, &range);
                assert_eq!(last.is_some_and(|time| time >= WORTH.as_secs_f64()), known);
                let mut workspace = Workspace::new();
                let words = (&raw const log).cast();
                // SAFETY: the log is what the function takes for words.
                assert_eq!(unsafe { run(&mut workspace, noting, words, range, 16) }, 0);
                assert!(log.ran.iter().all(|ran| ran.load(Ordering::Relaxed) == u64::MAX));
            }
        });
    }

    #[test]
    fn parts_cover_a_range_and_become_shorter() {
        for (range, shares, least) in
            [(0..1000, 4, 10), (-7..5, 8, 1), (i64::MIN..i64::MAX, 4, 1 << 40), (3..3, 2, 1)]
        {
            let next = AtomicI64::new(range.start);
            let mut from = range.start;
            let mut length = i64::MAX;
            while let Some(part) = take(&next, range.end, shares, least) {
                let now = part.end.saturating_sub(part.start);
                assert!(part.start == from && 0 < now && now <= length, "{part:?} of {range:?}");
                (from, length) = (part.end, now);
            }
            assert_eq!(from, range.end);
        }
    }

    #[test]
    fn the_first_part_that_fails_counts() {
        for (fails, threads) in [([500, 301], 4), ([3, 400], 2), ([500, 17], 3)] {
            let log = Log { fails, ..Log::default() };
            let (status, failure) = run_noting(&log, threads);
            let first = fails[0].min(fails[1]);
            assert_eq!((status, failure.site), (1, first), "{fails:?}");
            // Whatever stands before it has run.
            let before = |i: i64| log.ran[i as usize / 64].load(Ordering::Relaxed) >> (i % 64) & 1;
            assert!((0..=first).all(|i| before(i) == 1));
        }
    }
}
