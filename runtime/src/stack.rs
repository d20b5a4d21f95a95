//! How much stack the current thread has left.
//!
//! Code that needs more than that must not begin: a stack that runs over ends the process.

use std::cell::Cell;

thread_local! {
    /// The lowest address of this thread's stack; 0 if it is not known, none if nobody asked.
    static LOWEST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Bytes between here and the end of the current thread's stack; `None` where the system does not
/// say. After the first time in a thread this takes about a nanosecond.
#[inline]
pub fn remaining() -> Option<usize> {
    let lowest = LOWEST.get().unwrap_or_else(first);
    let here = 0u8;
    let here = (&raw const here) as usize;
    (lowest != 0).then(|| here.saturating_sub(lowest))
}

/// Whether so many bytes fit into what is left of the stack, as far as anybody knows.
#[inline]
pub fn fits(bytes: usize) -> bool {
    remaining().is_none_or(|left| bytes <= left)
}

#[cold]
fn first() -> usize {
    let found = lowest().unwrap_or(0);
    LOWEST.set(Some(found));
    found
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn lowest() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    let mut guard = 0;
    // SAFETY: the thread is this one; the attributes are made by the first call, read by the two
    // others only if there are any, and given back.
    let known = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let stack = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size);
        let guarded = libc::pthread_attr_getguardsize(attributes.as_ptr(), &mut guard);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        stack == 0 && guarded == 0
    };
    // Some C libraries count the guard pages as a part of the stack.
    known.then(|| (lowest as usize).saturating_add(guard))
}

#[cfg(target_vendor = "apple")]
fn lowest() -> Option<usize> {
    // SAFETY: the thread is this one.
    let (top, size) = unsafe {
        let this = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(this), libc::pthread_get_stacksize_np(this))
    };
    (top as usize).checked_sub(size)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn lowest() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_knows_its_stack() {
        for bytes in [64 << 10, 1 << 20, 16 << 20] {
            let thread = std::thread::Builder::new().stack_size(bytes);
            let left = thread.spawn(remaining).unwrap().join().unwrap().unwrap();
            assert!(left <= bytes + (64 << 10) && left > bytes / 4, "{left} of {bytes}");
        }
    }

    #[test]
    fn it_becomes_less_on_the_way_down() {
        fn down(depth: usize) -> usize {
            let room = std::hint::black_box([0u8; 1024]);
            let left = if depth == 0 { remaining().unwrap() } else { down(depth - 1) };
            std::hint::black_box(room);
            left
        }
        let (here, below) = (remaining().unwrap(), down(20));
        assert!(below + 20 * 1024 <= here, "{below} {here}");
        assert!(fits(below) && !fits(usize::MAX));
    }
}
