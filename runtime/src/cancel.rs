//! Ending calls from outside: a flag that one thread sets and that running code looks at.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};

/// Ends calls, from any thread: what is running ends with the error `R07`, and so does what begins
/// later, until it is [`reset`](Cancellation::reset). Clones are the same flag.
///
/// ```
/// let cancellation = jut_runtime::Cancellation::new();
/// let elsewhere = cancellation.clone();
/// elsewhere.cancel();
/// assert!(cancellation.is_cancelled());
/// cancellation.reset();
/// assert!(!elsewhere.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    flag: Arc<AtomicBool>,
}

impl Cancellation {
    /// One that is not cancelled.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Ends the calls that it belongs to, now and from now on.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lets calls run again.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The flag itself, for what sets flags: a handler of signals.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }
}

impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Cancellation {
        Cancellation { flag }
    }
}

/// The flag of a workspace that nobody can cancel.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// The flag of the call that runs on this thread, for kernels: they take no workspace. Code that was
/// compiled ahead of time tells its kernels of no flag.
#[cfg(not(jut_freestanding))]
mod current {
    use super::*;
    use std::cell::Cell;
    use std::ptr;

    thread_local! {
        static CURRENT: Cell<*const AtomicBool> = const { Cell::new(ptr::null()) };
    }

    /// Puts the flag back that was there before, also on the way out of a panic.
    struct Before(*const AtomicBool);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }

    /// Runs something that kernels are a part of: they stop early, with results that nobody may read,
    /// once it is cancelled. Whoever calls a kernel looks at the flag when it returns.
    pub fn during<T>(cancellation: &Cancellation, work: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(Arc::as_ptr(&cancellation.flag)));
        work()
    }

    /// The flag of the call that runs on this thread, for threads that it waits for.
    pub(crate) struct Flag(*const AtomicBool);

    // SAFETY: a flag is read and written as a whole, from any thread.
    unsafe impl Sync for Flag {}

    pub(crate) fn current_flag() -> Flag {
        Flag(CURRENT.get())
    }

    impl Flag {
        /// As [`during`], while the call whose flag it is waits.
        pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
            let _before = Before(CURRENT.replace(self.0));
            work()
        }
    }

    /// Whether the call that runs on this thread is cancelled.
    pub fn is_requested() -> bool {
        #[cfg(test)]
        super::ASKED.set(super::ASKED.get() + 1);
        let flag = CURRENT.get();
        // SAFETY: a flag stays here only while `during` borrows its owner.
        !flag.is_null() && unsafe { &*flag }.load(Ordering::Relaxed)
    }
}

#[cfg(not(jut_freestanding))]
pub(crate) use current::current_flag;
#[cfg(not(jut_freestanding))]
pub use current::{during, is_requested};

/// Nobody cancels what was compiled ahead of time.
#[cfg(jut_freestanding)]
pub(crate) fn is_requested() -> bool {
    false
}

/// Asks now and then whether the call is cancelled: long work counts what it does, short work never
/// gets to a question.
#[derive(Debug)]
pub struct Patience {
    left: i64,
}

impl Patience {
    /// Operations between two questions. A tenth of a millisecond, if each is one of eight numbers.
    const MOST: i64 = 1 << 16;

    /// For work that begins.
    pub fn new() -> Patience {
        Patience { left: Patience::MOST }
    }

    /// Whether to stop, where so many operations are done or begin. What stopped stays stopped.
    #[inline(always)]
    pub fn is_over(&mut self, operations: usize) -> bool {
        self.left = self.left.saturating_sub(operations as i64);
        self.left < 0 && self.ask()
    }

    #[cold]
    fn ask(&mut self) -> bool {
        if is_requested() {
            return true;
        }
        self.left = Patience::MOST;
        false
    }
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::new()
    }
}

#[cfg(test)]
std::thread_local! {
    /// How often this thread has asked.
    pub(crate) static ASKED: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}
