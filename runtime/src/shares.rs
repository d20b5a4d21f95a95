//! Shares of a loop: compiled code hands a function and a range to whoever has threads.
//!
//! The iterations of some loops do not meet, and stand in a function of their own that takes a range. Compiled code gives it
//! to [`jut_shares`]. That calls it, for the whole range; or, where a [`Runner`] is [installed], leaves it to that one to call
//! it for parts of the range, on threads of its choice. The results are the same, bit for bit.
//!
//! [installed]: install

use crate::workspace::Workspace;
use std::sync::OnceLock;

/// The iterations of a loop, from one index to before another one: takes a workspace and the words that the loop reads, gives
/// a status.
pub type Share = unsafe extern "C" fn(*mut Workspace, *const u64, i64, i64) -> u32;

/// Calls a share for parts of the range between two indices. If parts fail, the workspace and the status are those of the
/// first one.
pub type Runner = unsafe fn(&mut Workspace, Share, *const u64, i64, i64) -> u32;

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// From now on shares are run like this, in the whole process. The first runner stays.
pub fn install(runner: Runner) {
    RUNNER.get_or_init(|| runner);
}

/// Runs the iterations from `low` to before `high`, at once if they are fewer than `least`.
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
            Some(run) if high.saturating_sub(low) >= least && (*workspace).is_parallel() => {
                run(&mut *workspace, share, words, low, high)
            }
            _ => share(workspace, words, low, high),
        }
    }
}
