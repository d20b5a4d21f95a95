//! Shares of a loop: compiled code hands a function and a range to whoever has threads.
//!
//! The iterations of some loops do not meet, and stand in a function of their own that takes a range. Compiled code gives it
//! to [`jut_shares`]. That calls it, for the whole range; or, where a [`Runner`] is [installed], leaves it to that one to call
//! it for parts of the range, on threads of its choice. The results are the same, bit for bit.
//!
//! [installed]: install
//!
//! Large kernels are run in parts, too: [`parts`].

use crate::cancel;
use crate::workspace::Workspace;
use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

/// The iterations of a loop, from one index to before another one: takes a workspace and the words that the loop reads, gives
/// a status.
pub type Share = unsafe extern "C" fn(*mut Workspace, *const u64, i64, i64) -> u32;

/// Calls a share for parts of a range, unless that is shorter than the last number. If parts fail, the workspace and the status
/// are those of the first one.
pub type Runner = unsafe fn(&mut Workspace, Share, *const u64, Range<i64>, i64) -> u32;

/// What runs the parts of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// How many there are.
    pub count: fn() -> usize,
    /// Calls work with the numbers from 0 to before this one, on any of them.
    pub run: fn(usize, &(dyn Fn(usize) + Sync)),
}

static RUNNER: OnceLock<(Runner, Threads)> = OnceLock::new();

/// From now on shares and the parts of kernels are run like this, in the whole process. What is installed first stays.
pub fn install(runner: Runner, threads: Threads) {
    RUNNER.get_or_init(|| (runner, threads));
}

thread_local! {
    /// Whether work on this thread stays on it: it is a part of something already, or nobody wants more.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs something whose kernels stay on this thread.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    /// Puts back what was there before, also on the way out of a panic.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    work()
}

/// The parts into which a kernel that takes so many multiplications, of so many rows, should be cut: 1 if it should not.
pub(crate) fn parts(multiplications: usize, rows: usize) -> usize {
    /// What takes a tenth of a millisecond.
    const WORTH: usize = 1 << 21;
    /// What a part should have at least.
    const ROWS: usize = 32;
    match RUNNER.get() {
        Some((_, threads)) if multiplications >= WORTH && rows >= 2 * ROWS && !ALONE.get() => {
            let most = (rows / ROWS).min(multiplications / (WORTH / 4));
            (2 * (threads.count)()).min(most).max(1)
        }
        _ => 1,
    }
}

/// Runs the parts of a kernel, which the cancellation of its call stops. At least the thread of the call runs them.
pub(crate) fn run_parts(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let Some((_, threads)) = RUNNER.get() else { return (0..count).for_each(work) };
    let flag = cancel::current_flag();
    (threads.run)(count, &|part| flag.during(|| alone(|| work(part))));
}

/// Runs the iterations from `low` to before `high`, on one thread if they are fewer than `least`.
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile. Parts of the range may run at the same time, each with a
/// workspace of its own.
pub(crate) unsafe extern "C" fn jut_shares(
    workspace: *mut Workspace,
    share: Share,
    words: *const u64,
    low: i64,
    high: i64,
    least: i64,
) -> u32 {
    // SAFETY: as required of the caller.
    unsafe {
        match RUNNER.get() {
            Some((run, _)) if low < high && (*workspace).is_parallel() => {
                run(&mut *workspace, share, words, low..high, least)
            }
            _ => share(workspace, words, low, high),
        }
    }
}

/// Runs every loop in three parts, the middle one last, on the thread of the call: what tests [install], so that a loop whose
/// iterations meet shows, however short it is.
///
/// # Safety
/// That of [`Share`].
pub unsafe fn in_thirds(
    workspace: &mut Workspace,
    share: Share,
    words: *const u64,
    range: Range<i64>,
    _least: i64,
) -> u32 {
    let length = range.end.saturating_sub(range.start);
    // Of a very long one the first iteration may be the one that fails.
    if length > 1 << 20 {
        // SAFETY: as required of the caller.
        return unsafe { share(workspace, words, range.start, range.end) };
    }
    let (first, second) = (range.start + length / 3, range.end - length / 4);
    let mut failed = 0;
    let mut failure = workspace.failure();
    for (from, to) in [(range.start, first), (second, range.end), (first, second)] {
        // SAFETY: as required of the caller.
        let status = unsafe { share(workspace, words, from, to) };
        if status != 0 {
            (failed, failure) = (status, workspace.failure());
            // Nothing earlier is left.
            if from == range.start {
                break;
            }
        }
    }
    workspace.set_failure(failure);
    failed
}
