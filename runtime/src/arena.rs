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
//! *Cost*: bumping is constant; growing is constant amortised, because each new chunk is at least an
//! eighth of all earlier ones together. So of what is taken from the system, little more than a ninth is not in
//! use at the moment of the most.
//!
//! Memory in one piece hides an access beyond the end of an array: it finds the next one. So tests ask
//! for every allocation [apart]: then compiled code never finds room, calls the runtime each time, and
//! that takes each piece from where the tests say, at pages that may not be touched.

use alloc::alloc::{Layout, alloc, dealloc};
use alloc::vec::Vec;
use core::ptr::{self, NonNull};

/// Alignment of every allocation, in bytes: one cache line, one widest vector.
pub const ALIGN: usize = 64;

/// Smallest chunk, in bytes.
const SMALLEST: usize = 64 * 1024;

/// A new chunk is at least all others together divided by this.
const SHARE: usize = 8;

/// What the arenas of one workspace may take from the system together.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes that may be taken.
    pub limit: usize,
    /// Bytes taken.
    pub taken: usize,
}

/// Where memory comes from, one piece for each allocation.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Gives so many bytes, aligned to [`ALIGN`] if compiled code by LLVM shall use them.
    pub take: fn(usize) -> Option<NonNull<u8>>,
    /// Gets a piece back, which had so many bytes and which nothing uses any more.
    pub give_back: fn(NonNull<u8>, usize),
}

#[cfg(not(jut_freestanding))]
static APART: std::sync::OnceLock<Source> = std::sync::OnceLock::new();

/// From now on every allocation of a new workspace is a piece of its own, for the whole process. This
/// is for tests: it makes each one a call of the source. The first source stays.
#[cfg(not(jut_freestanding))]
pub fn apart(source: Source) {
    APART.get_or_init(|| source);
}

/// What [`apart`] was told.
fn source() -> Option<Source> {
    #[cfg(not(jut_freestanding))]
    return APART.get().copied();
    #[cfg(jut_freestanding)]
    None
}

/// The top of an arena whose allocations are apart, and that holds none; with each one it is [`ALIGN`]
/// higher. No memory lies there, so an empty array at the top cannot be read either.
const APART_BEGIN: usize = 1 << (usize::BITS - 2);

/// One piece of memory.
///
/// In an arena with allocations in a row it is longer than its capacity by [`ALIGN`] bytes, so that its end is never the address of
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

    /// One allocation of an arena whose allocations are apart.
    fn apart(bytes: usize, budget: &mut Budget) -> Option<Chunk> {
        let taken = budget.taken.checked_add(bytes).filter(|taken| *taken <= budget.limit)?;
        let base = (source()?.take)(bytes)?;
        budget.taken = taken;
        Some(Chunk { base, capacity: bytes })
    }

    /// Gives back what [`Chunk::apart`] took.
    fn give_back(self, budget: &mut Budget) {
        if let Some(source) = source() {
            budget.taken = budget.taken.saturating_sub(self.capacity);
            (source.give_back)(self.base, self.capacity);
        }
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
    kind: Kind,
}

/// How an arena comes by its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Chunks from the system.
    Chunks,
    /// The current chunk is lent: it is not in the list, and there will be no other.
    Lent,
    /// Each chunk is one allocation; base, top and end are the same, and count them.
    Apart,
}

impl Arena {
    pub(crate) fn new() -> Arena {
        let (kind, begin) = match source() {
            Some(_) => (Kind::Apart, APART_BEGIN),
            None => (Kind::Chunks, ALIGN),
        };
        let nowhere = ptr::without_provenance_mut(begin);
        Arena { base: nowhere, top: nowhere, end: nowhere, current: 0, chunks: Vec::new(), kind }
    }

    /// From now on all memory lies between the two addresses, multiples of [`ALIGN`], and stays the
    /// lender's. The arena has no other memory.
    pub(crate) fn lend(&mut self, base: *mut u8, end: *mut u8) {
        (self.base, self.top, self.end, self.kind) = (base, base, end, Kind::Lent);
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
        match self.kind {
            Kind::Lent => return None,
            Kind::Apart => return self.alone(bytes, budget),
            Kind::Chunks => {}
        }
        while self.current + 1 < self.chunks.len() {
            self.enter(self.current + 1);
            if let Some(place) = self.bump(bytes) {
                return Some(place);
            }
        }
        self.chunks.try_reserve(1).ok()?;
        let needed = bytes.checked_next_multiple_of(ALIGN)?;
        let before: usize = self.chunks.iter().map(|chunk| chunk.capacity).sum();
        // The end of a chunk is a multiple of ALIGN, so that a top that is rounded up is not behind it.
        let ahead = before / SHARE / ALIGN * ALIGN;
        let chunk = Chunk::new(needed.max(ahead).max(SMALLEST), budget)
            .or_else(|| Chunk::new(needed, budget))?;
        self.chunks.push(chunk);
        self.enter(self.chunks.len() - 1);
        self.bump(bytes)
    }

    /// Takes `bytes` bytes for themselves.
    fn alone(&mut self, bytes: usize, budget: &mut Budget) -> Option<NonNull<u8>> {
        self.chunks.try_reserve(1).ok()?;
        let chunk = Chunk::apart(bytes, budget)?;
        let place = chunk.base;
        self.chunks.push(chunk);
        self.count();
        Some(place)
    }

    /// The top of an arena whose allocations are apart says how many there are.
    fn count(&mut self) {
        self.current = self.chunks.len();
        let top = ptr::without_provenance_mut(APART_BEGIN + ALIGN * self.current);
        (self.base, self.top, self.end) = (top, top, top);
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
    pub(crate) fn release(&mut self, mark: usize, budget: &mut Budget) {
        match self.kind {
            Kind::Lent => {
                let back = mark.saturating_sub(self.base as usize);
                self.top = self.base.wrapping_add(back.min(self.top as usize - self.base as usize));
                return;
            }
            Kind::Apart => {
                let keep = mark.saturating_sub(APART_BEGIN) / ALIGN;
                for chunk in self.chunks.drain(keep.min(self.chunks.len())..) {
                    chunk.give_back(budget);
                }
                return self.count();
            }
            Kind::Chunks => {}
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
        if self.kind != Kind::Chunks {
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
    #[inline]
    pub(crate) fn reset(&mut self, budget: &mut Budget) {
        // What every call begins with, once the first has shown how much memory there has to be.
        match self.kind == Kind::Chunks && self.current == 0 && self.chunks.len() <= 1 {
            true => self.top = self.base,
            false => self.reset_any(budget),
        }
    }

    #[inline(never)]
    fn reset_any(&mut self, budget: &mut Budget) {
        match self.kind {
            Kind::Lent => {
                self.top = self.base;
                return;
            }
            Kind::Apart => return self.release(APART_BEGIN, budget),
            Kind::Chunks => {}
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
