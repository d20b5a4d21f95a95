//! Shares of a loop: compiled code hands a function and a range to whoever has threads.
//!
//! The iterations of some loops do not meet, and stand in a function of their own that takes a range. Compiled code gives it
//! to [`jut_shares`]. That calls it, for the whole range; or, where a [`Runner`] is [installed], leaves it to that one to call
//! it for parts of the range, on threads of its choice. The results are the same, bit for bit.
//!
//! [installed]: install

use crate::workspace::Workspace;
use std::ops::Range;
use std::sync::OnceLock;

/// The iterations of a loop, from one index to before another one: takes a workspace and the words that the loop reads, gives
/// a status.
pub type Share = unsafe extern "C" fn(*mut Workspace, *const u64, i64, i64) -> u32;

/// Calls a share for parts of a range, unless that is shorter than the last number. If parts fail, the workspace and the status
/// are those of the first one.
pub type Runner = unsafe fn(&mut Workspace, Share, *const u64, Range<i64>, i64) -> u32;

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// From now on shares are run like this, in the whole process. The first runner stays.
pub fn install(runner: Runner) {
    RUNNER.get_or_init(|| runner);
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
            Some(run) if low < high && (*workspace).is_parallel() => {
                run(&mut *workspace, share, words, low..high, least)
            }
            _ => share(workspace, words, low, high),
        }
    }
}

/// Runs every loop in three parts, the last one first, on the thread of the call: what tests [install], so that a loop whose
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
    let (first, second) = (range.start + length / 3, range.end - length / 4);
    let mut failed = 0;
    let mut failure = workspace.failure();
    for (from, to) in [(second, range.end), (first, second), (range.start, first)] {
        // SAFETY: as required of the caller.
        let status = unsafe { share(workspace, words, from, to) };
        if status != 0 {
            (failed, failure) = (status, workspace.failure());
        }
    }
    workspace.set_failure(failure);
    failed
}
