//! An arena: large chunks of memory with a bump pointer.
//!
//! The life times of what compiled code allocates are last in, first out (the forward sweep of a
//! gradient pushes, the reverse sweep pops), so nothing is ever freed alone: a *mark* remembers the
//! top, a *release* goes back to it. Chunks are kept between calls; a reset melts several
//! of them into one, so that a repeated call finds all its memory in one piece and asks the system
//! for nothing.
//!
//! Compiled code bumps the pointer itself and calls the runtime only when the chunk is full;
//! hence the fixed layout of the first three fields.
//!
//! *Ensures*: every address returned is aligned to [`ALIGN`] and stands for as many bytes as were
//! asked for, until the mark before it is released. No function here panics or aborts: no memory is
//! the answer `None`.
//!
//! *Cost*: bumping is constant; growing is constant amortised, because each new chunk is at least
//! as large as all earlier ones together.

use alloc::alloc::{Layout, alloc, dealloc};
use alloc::vec::Vec;
use core::ptr::{self, NonNull};

/// Alignment of every allocation, in bytes: one cache line, one widest vector.
pub const ALIGN: usize = 64;

/// Smallest chunk, in bytes.
const SMALLEST: usize = 64 * 1024;

/// What the arenas of one workspace may take from the system together.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes that may be taken.
    pub limit: usize,
    /// Bytes taken.
    pub taken: usize,
}

/// One piece of memory.
///
/// It is longer than its capacity by [`ALIGN`] bytes, so that its end is never the address of
/// another chunk: an address tells its chunk.
#[derive(Debug)]
struct Chunk {
    base: NonNull<u8>,
    capacity: usize,
}

impl Chunk {
    fn layout(capacity: usize) -> Option<Layout> {
        Layout::from_size_align(capacity.checked_add(ALIGN)?, ALIGN).ok()
    }

    fn new(capacity: usize, budget: &mut Budget) -> Option<Chunk> {
        let layout = Chunk::layout(capacity)?;
        let taken = budget.taken.checked_add(layout.size())?;
        if taken > budget.limit {
            return None;
        }
        // SAFETY: the layout has a size of at least ALIGN bytes.
        let base = NonNull::new(unsafe { alloc(layout) })?;
        budget.taken = taken;
        Some(Chunk { base, capacity })
    }

    fn free(self, budget: &mut Budget) {
        if let Some(layout) = Chunk::layout(self.capacity) {
            budget.taken = budget.taken.saturating_sub(layout.size());
            // SAFETY: `new` allocated the memory with this layout, and a chunk is freed once.
            unsafe { dealloc(self.base.as_ptr(), layout) };
        }
    }

    fn end(&self) -> *mut u8 {
        self.base.as_ptr().wrapping_add(self.capacity)
    }

    fn contains(&self, address: usize) -> bool {
        self.base.as_ptr() as usize <= address && address <= self.end() as usize
    }
}

/// The arena. The first three fields are read and written by compiled code.
#[derive(Debug)]
#[repr(C)]
pub struct Arena {
    /// First byte of the current chunk.
    pub(crate) base: *mut u8,
    /// First free byte of the current chunk, a multiple of [`ALIGN`].
    pub(crate) top: *mut u8,
    /// One past the last byte of the current chunk, a multiple of [`ALIGN`].
    pub(crate) end: *mut u8,
    current: usize,
    chunks: Vec<Chunk>,
    /// The current chunk is lent: it is not in the list, and there will be no other.
    lent: bool,
}

impl Arena {
    pub(crate) fn new() -> Arena {
        let nowhere = ptr::without_provenance_mut(ALIGN);
        Arena {
            base: nowhere,
            top: nowhere,
            end: nowhere,
            current: 0,
            chunks: Vec::new(),
            lent: false,
        }
    }

    /// From now on all memory lies between the two addresses, multiples of [`ALIGN`], and stays the
    /// lender's. The arena has no other memory.
    pub(crate) fn lend(&mut self, base: *mut u8, end: *mut u8) {
        (self.base, self.top, self.end, self.lent) = (base, base, end, true);
    }

    /// Bytes between the first chunk's begin and the top, with what was skipped on the way.
    pub(crate) fn used(&self) -> usize {
        let full: usize = self.chunks.iter().take(self.current).map(|chunk| chunk.capacity).sum();
        full + (self.top as usize - self.base as usize)
    }

    /// Takes `bytes` bytes, from the current chunk or another one.
    pub(crate) fn alloc(&mut self, bytes: usize, budget: &mut Budget) -> Option<NonNull<u8>> {
        self.bump(bytes).or_else(|| self.grow(bytes, budget))
    }

    fn bump(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        if bytes > self.end as usize - self.top as usize {
            return None;
        }
        let place = self.top;
        // Tops and ends are multiples of ALIGN, so rounding up stays within the chunk.
        self.top = place.wrapping_add(bytes.next_multiple_of(ALIGN));
        NonNull::new(place)
    }

    /// Takes `bytes` bytes that the current chunk does not have.
    fn grow(&mut self, bytes: usize, budget: &mut Budget) -> Option<NonNull<u8>> {
        if self.lent {
            return None;
        }
        while self.current + 1 < self.chunks.len() {
            self.enter(self.current + 1);
            if let Some(place) = self.bump(bytes) {
                return Some(place);
            }
        }
        self.chunks.try_reserve(1).ok()?;
        let needed = bytes.checked_next_multiple_of(ALIGN)?;
        let before = self.chunks.iter().map(|chunk| chunk.capacity).sum();
        let chunk = Chunk::new(needed.max(before).max(SMALLEST), budget)
            .or_else(|| Chunk::new(needed, budget))?;
        self.chunks.push(chunk);
        self.enter(self.chunks.len() - 1);
        self.bump(bytes)
    }

    /// Makes a chunk the current one, empty.
    fn enter(&mut self, index: usize) {
        if let Some(chunk) = self.chunks.get(index) {
            self.current = index;
            self.base = chunk.base.as_ptr();
            self.top = self.base;
            self.end = chunk.end();
        }
    }

    /// Remembers the top.
    pub(crate) fn mark(&self) -> usize {
        self.top as usize
    }

    /// Goes back to a mark. The chunks behind it are kept.
    pub(crate) fn release(&mut self, mark: usize) {
        if self.lent {
            let back = mark.saturating_sub(self.base as usize);
            self.top = self.base.wrapping_add(back.min(self.top as usize - self.base as usize));
            return;
        }
        let until = self.chunks.iter().take(self.current + 1);
        match until.rev().position(|chunk| chunk.contains(mark)) {
            Some(back) => {
                self.enter(self.current - back);
                self.top = self.base.wrapping_add(mark - self.base as usize);
            }
            // The mark is from before the first chunk.
            None => self.enter(0),
        }
    }

    /// Gives back to the system the chunks that hold nothing.
    pub(crate) fn trim(&mut self, budget: &mut Budget) {
        if self.lent {
            return;
        }
        let keep = if self.used() == 0 { 0 } else { self.current + 1 };
        for chunk in self.chunks.drain(keep.min(self.chunks.len())..) {
            chunk.free(budget);
        }
        if keep == 0 {
            self.current = 0;
            self.base = ptr::without_provenance_mut(ALIGN);
            self.top = self.base;
            self.end = self.base;
        }
    }

    /// Forgets every allocation; several chunks become one of the same size.
    pub(crate) fn reset(&mut self, budget: &mut Budget) {
        if self.lent {
            self.top = self.base;
            return;
        }
        self.enter(0);
        if self.chunks.len() > 1 {
            let total = self.chunks.iter().map(|chunk| chunk.capacity).sum();
            self.trim(budget);
            // Without the memory the next call starts empty and asks again, piece by piece.
            if let Some(chunk) = Chunk::new(total, budget) {
                // The list kept its capacity: this does not allocate.
                self.chunks.push(chunk);
                self.enter(0);
            }
        }
    }
}
