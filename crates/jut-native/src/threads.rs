//! Work that several threads share: those of the `rayon` pool that the caller is in, or of its global one, and the caller's.

use crate::code::{LARGE_STACK, RUNTIME_STACK};
use jut_runtime::stack;

/// Bytes of stack for parts of loops, and for what runs them.
const ROOM: usize = LARGE_STACK + 2 * RUNTIME_STACK;

/// Does work on this thread, and other work on all but one of so many, at once; each takes from what there is to do until
/// nothing is left. The others may come when that has happened, which is waited for.
///
/// The thread of the call works from the beginning, also if it is none of the pool: to wake another one takes as long as a short
/// loop does. In that case this asks for memory, of a few words; and where that thread has little stack left, one of the pool does its work.
pub fn together(threads: usize, here: impl FnOnce() + Send, there: impl Fn() + Sync) {
    if threads < 2 {
        return here();
    }
    let others = || times(threads - 1, &there);
    if rayon::current_thread_index().is_some() || !stack::fits(ROOM) {
        rayon::join(here, others);
    } else {
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| others());
            here();
        });
    }
}

/// Does work so many times at once.
fn times(count: usize, work: &(impl Fn() + Sync)) {
    if count < 2 {
        return work();
    }
    rayon::join(|| times(count / 2, work), || times(count - count / 2, work));
}
