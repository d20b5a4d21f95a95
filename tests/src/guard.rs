//! Memory at guard pages: a page before it and a page behind it cannot be touched, so an access that
//! leaves an array by one cell ends the process.
//!
//! Pages are larger than cells. A piece lies either at the end of its pages, where an access behind it
//! is seen, or at their begin, where one before it is; the rest of the pages is filled with a pattern that
//! is no sensible number. [`place`] says which, for the thread, so tests run once with each.
//!
//! [`Guarded`] is an array of this memory, for arguments and results; [`arenas`] makes it that of
//! everything that compiled code allocates, each allocation at pages of its own. What is given back
//! cannot be touched either, until its addresses are needed again.
//!
//! *Cost*: a few calls of the system for each allocation.

use jut_runtime::arena::{ALIGN, Source, apart};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::{LazyLock, Mutex, MutexGuard};

/// Where a piece lies in its pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At their begin.
    Begin,
    /// At their end, but for what alignment takes.
    End,
}

impl Place {
    /// Both in turn.
    pub fn of(seed: u64) -> Place {
        if seed.is_multiple_of(2) { Place::End } else { Place::Begin }
    }
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::End) };
    static ALIGNED: Cell<usize> = const { Cell::new(ALIGN) };
}

/// Where pieces of this thread lie from now on.
pub fn place(place: Place) {
    PLACE.set(place);
}

/// How allocations of compiled code are aligned from now on, in this thread. Code by LLVM needs that of
/// the arenas; other code is content with 8 bytes, and then pieces end exactly where their pages do.
pub fn aligned(bytes: usize) {
    ALIGNED.set(bytes);
}

/// From now on, everything that compiled code allocates in this process lies at guard pages.
pub fn arenas() {
    let take = |bytes| pool().take(bytes, ALIGNED.get());
    apart(Source { take, give_back: |piece, _| pool().give_back(piece) });
}

/// What lies around a piece, in its pages; as a float it is not a number, as an index it is far out.
const PATTERN: u64 = 0x7ff4_dead_beef_f00d;

/// So many bytes of memory that was given back stay out of reach.
const KEPT: usize = 1 << 22;

/// All pieces, by address.
#[derive(Default)]
struct Pool {
    pieces: HashMap<usize, region::Allocation>,
    /// What was given back: no page of it may be touched.
    back: VecDeque<region::Allocation>,
    /// Bytes of these.
    kept: usize,
}

// SAFETY: pages may be given back from any thread.
unsafe impl Send for Pool {}

fn pool() -> MutexGuard<'static, Pool> {
    static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

impl Pool {
    fn take(&mut self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        let page = region::page::size();
        let inside = bytes.checked_next_multiple_of(page)?;
        let all = inside.checked_add(2 * page)?;
        let mut pages = region::alloc(all, region::Protection::NONE).ok()?;
        let begin = pages.as_mut_ptr::<u8>().wrapping_add(page);
        if inside > 0 {
            // SAFETY: the pages are this allocation's.
            unsafe { region::protect(begin, inside, region::Protection::READ_WRITE) }.ok()?;
        }
        let slack = match PLACE.get() {
            Place::Begin => 0,
            Place::End => (inside - bytes) / align * align,
        };
        // Large pieces are as the system gives them.
        if bytes <= 1 << 16 {
            // SAFETY: so many bytes may be written, and pages are aligned.
            unsafe { slice::from_raw_parts_mut(begin.cast::<u64>(), inside / 8) }.fill(PATTERN);
        }
        let piece = NonNull::new(begin.wrapping_add(slack))?;
        self.pieces.insert(piece.as_ptr() as usize, pages);
        Some(piece)
    }

    /// A piece whose address nobody was given is left alone.
    fn give_back(&mut self, piece: NonNull<u8>) {
        let Some(pages) = self.pieces.remove(&(piece.as_ptr() as usize)) else { return };
        // SAFETY: the pages are this allocation's, and nobody uses what is given back.
        let closed =
            unsafe { region::protect(pages.as_ptr::<u8>(), pages.len(), region::Protection::NONE) };
        if closed.is_err() {
            // They are unmapped here.
            return;
        }
        self.kept += pages.len();
        self.back.push_back(pages);
        while self.kept > KEPT {
            let Some(oldest) = self.back.pop_front() else { break };
            self.kept -= oldest.len();
        }
    }
}

/// An array at guard pages.
pub struct Guarded<T> {
    cells: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its cells, as a boxed slice does.
unsafe impl<T: Send> Send for Guarded<T> {}

impl<T: Copy> Guarded<T> {
    /// So many cells, all the same; none if there is no memory.
    pub fn new(value: T, len: usize) -> Option<Guarded<T>> {
        let bytes = len.checked_mul(size_of::<T>())?;
        let cells = pool().take(bytes, align_of::<T>())?.cast::<T>();
        for k in 0..len {
            // SAFETY: there are so many cells, aligned, for this array alone.
            unsafe { cells.add(k).write(value) };
        }
        Some(Guarded { cells, len })
    }

    /// A copy.
    pub fn of(cells: &[T]) -> Option<Guarded<T>> {
        let bytes = size_of_val(cells);
        let copy = pool().take(bytes, align_of::<T>())?.cast::<T>();
        // SAFETY: the cells were just taken, aligned, for as many.
        unsafe { copy.copy_from_nonoverlapping(NonNull::from(cells).cast(), cells.len()) };
        Some(Guarded { cells: copy, len: cells.len() })
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: every cell was written when the array was made, and lives as long as it.
        unsafe { slice::from_raw_parts(self.cells.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; the array is borrowed alone.
        unsafe { slice::from_raw_parts_mut(self.cells.as_ptr(), self.len) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        pool().give_back(self.cells.cast());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_was_put_in_and_begin_or_end_with_their_pages() {
        let page = region::page::size();
        for n in [0usize, 1, 3, 8, page / 8, page] {
            let cells: Vec<u64> = (0..n as u64).collect();
            for at in [Place::Begin, Place::End] {
                place(at);
                let guarded = Guarded::of(&cells).expect("memory");
                assert_eq!(*guarded, *cells);
                let (begin, end) = (guarded.as_ptr() as usize, guarded.as_ptr_range().end as usize);
                let touching = if at == Place::Begin { begin } else { end };
                assert_eq!(touching % page, 0, "{n} cells, {at:?}");
                let before = region::query((begin / page * page - 1) as *const u8).expect("known");
                let behind = region::query(end.next_multiple_of(page) as *const u8).expect("known");
                assert!(!before.is_readable() && !behind.is_readable(), "{n} cells, {at:?}");
            }
        }
    }

    #[test]
    fn what_was_given_back_cannot_be_touched() {
        let guarded = Guarded::new(1.0, 5).expect("memory");
        let address = guarded.as_ptr();
        assert!(region::query(address).expect("known").is_readable());
        drop(guarded);
        assert!(!region::query(address).is_ok_and(|pages| pages.is_readable()));
    }
}
