//! The workspace: what one thread needs to run compiled code.
//!
//! Two [arenas](crate::arena) and a place for the error of a failed call. Values that live until
//! the entry function returns (the tape of a gradient, returned arrays whose size only the callee
//! knows) stand on the *tape* arena; values that a surrounding `mark` and `release` bound stand on
//! the *temp* arena. Two arenas, because a temporary on the tape arena would be buried under the
//! tape that is written after it.
//!
//! One workspace serves any number of compiled programs, one call at a time. Results that lie in
//! the workspace stay until its next call. After the first calls have shown how much memory is
//! needed, further calls of the same size allocate nothing.
//!
//! The functions named `jut_..` are for compiled code: no panic leaves them, and running out of
//! memory is a null pointer, which compiled code turns into the error `R06`.

use crate::arena::{ALIGN, Arena, Budget};
use crate::cancel::{Cancellation, NEVER};
use core::mem::offset_of;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicBool;

/// What compiled code leaves behind when a check fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Failure {
    /// Number of the failing place in the program's list of places.
    pub site: i64,
    /// The numbers involved; what they mean depends on the kind of error.
    pub operands: [i64; 3],
    /// Number of the kind of error (1 to 8 for `R01` to `R08`); 0 if nothing failed.
    pub kind: i64,
}

/// Memory of one thread that runs compiled code.
///
/// ```
/// let mut workspace = jut_runtime::Workspace::new();
/// workspace.set_limit(1 << 20);
/// assert_eq!(workspace.limit(), 1 << 20);
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Workspace {
    temp: Arena,
    tape: Arena,
    failure: Failure,
    /// Compiled code looks here whether it shall end: the flag of the cancellation, or one that is
    /// never set.
    stop: *const AtomicBool,
    budget: Budget,
    cancellation: Option<Cancellation>,
    /// Whether loops may run on several threads.
    is_parallel: bool,
    /// The memory of a workspace that takes none from the system: where it begins, a multiple of
    /// the alignment, and how many bytes it has, again one.
    lent: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the pointers in the arenas point into memory that the workspace has for itself, as long as
// it is used.
unsafe impl Send for Workspace {}

// SAFETY: what a shared workspace offers reads plain numbers; everything else takes it alone.
unsafe impl Sync for Workspace {}

/// Bytes of lent memory that are not for the arenas: the workspace itself, and what is lost where
/// the memory does not begin at a multiple of the alignment.
pub const OVERHEAD: usize = 320;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Workspace>().next_multiple_of(ALIGN) + ALIGN <= OVERHEAD);

/// Where compiled code finds what it reads and writes itself, in bytes from the workspace's begin.
pub mod layout {
    use super::*;

    /// First byte of the current temp chunk.
    pub const TEMP_BASE: usize = offset_of!(Workspace, temp) + offset_of!(Arena, base);
    /// First free byte of the temp arena.
    pub const TEMP_TOP: usize = offset_of!(Workspace, temp) + offset_of!(Arena, top);
    /// End of the current temp chunk.
    pub const TEMP_END: usize = offset_of!(Workspace, temp) + offset_of!(Arena, end);
    /// First byte of the current tape chunk.
    pub const TAPE_BASE: usize = offset_of!(Workspace, tape) + offset_of!(Arena, base);
    /// First free byte of the tape arena.
    pub const TAPE_TOP: usize = offset_of!(Workspace, tape) + offset_of!(Arena, top);
    /// End of the current tape chunk.
    pub const TAPE_END: usize = offset_of!(Workspace, tape) + offset_of!(Arena, end);
    /// The failing place.
    pub const FAILURE_SITE: usize =
        offset_of!(Workspace, failure) + offset_of!(super::Failure, site);
    /// The three operands, one after the other.
    pub const FAILURE_OPERANDS: usize =
        offset_of!(Workspace, failure) + offset_of!(super::Failure, operands);
    /// The kind of error.
    pub const FAILURE_KIND: usize =
        offset_of!(Workspace, failure) + offset_of!(super::Failure, kind);
    /// The address of a byte that is not 0 when the call shall end.
    pub const STOP: usize = offset_of!(Workspace, stop);
    /// How many bytes lie before what compiled code never touches.
    pub const HEAD: usize = offset_of!(Workspace, budget);

    // Objects for other machines are made with the same numbers: they hold wherever pointers have
    // eight bytes.
    #[cfg(target_pointer_width = "64")]
    const _: () = assert!(TEMP_BASE == 0 && TEMP_END == 16 && TAPE_BASE == 64 && TAPE_END == 80);
    #[cfg(target_pointer_width = "64")]
    const _: () = assert!(FAILURE_SITE == 128 && FAILURE_KIND == 160 && STOP == 168 && HEAD == 176);
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace::new()
    }
}

impl Workspace {
    /// An empty workspace. It may take as much memory as [`default_limit`] says.
    pub fn new() -> Workspace {
        Workspace::with_limit(default_limit())
    }

    /// An empty workspace that may take at most `limit` bytes from the system.
    pub fn with_limit(limit: usize) -> Workspace {
        Workspace {
            temp: Arena::new(),
            tape: Arena::new(),
            failure: Failure::default(),
            stop: &raw const NEVER,
            budget: Budget { limit, taken: 0 },
            cancellation: None,
            is_parallel: true,
            lent: None,
        }
    }

    /// An empty workspace that takes nothing from the system: all its memory is given. How it is
    /// divided is said when a call [begins](Workspace::begin).
    ///
    /// # Safety
    /// The memory is for the workspace alone, as long as it is used.
    pub unsafe fn within(memory: *mut u8, bytes: usize) -> Workspace {
        let skipped = memory.align_offset(ALIGN).min(bytes);
        let usable = (bytes - skipped) / ALIGN * ALIGN;
        let mut workspace = Workspace::with_limit(bytes);
        workspace.budget.taken = bytes;
        // No memory at all is an empty piece of it.
        let begin = if usable == 0 {
            ptr::without_provenance_mut(ALIGN)
        } else {
            memory.wrapping_add(skipped)
        };
        workspace.lent = NonNull::new(begin).map(|begin| (begin, usable));
        workspace.begin(usize::MAX);
        workspace
    }

    /// Begins a call: [`Workspace::reset`]. Memory that is lent is divided: so many bytes for the
    /// tape, and the others for temporary values; in two halves if `tape` is `usize::MAX`.
    pub fn begin(&mut self, tape: usize) {
        if let Some((begin, bytes)) = self.lent {
            let tape = match tape {
                usize::MAX => bytes / 2 / ALIGN * ALIGN,
                _ => tape.min(bytes).next_multiple_of(ALIGN),
            };
            let begin = begin.as_ptr();
            let middle = begin.wrapping_add(tape);
            self.tape.lend(begin, middle);
            self.temp.lend(middle, begin.wrapping_add(bytes));
        }
        self.reset();
    }

    /// Whether all its memory is lent.
    pub fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// The most bytes that it may take from the system.
    pub fn limit(&self) -> usize {
        self.budget.limit
    }

    /// Changes the limit for memory that is taken from now on.
    pub fn set_limit(&mut self, limit: usize) {
        self.budget.limit = limit;
    }

    /// Sets what ends calls with this workspace, from now on; none ends them.
    pub fn set_cancellation(&mut self, cancellation: Option<Cancellation>) {
        // The flag lives as long as the workspace owns a part of it.
        self.stop =
            cancellation.as_ref().map_or(&raw const NEVER, |c| alloc::sync::Arc::as_ptr(c.flag()));
        self.cancellation = cancellation;
    }

    /// What ends calls with this workspace.
    pub fn cancellation(&self) -> Option<&Cancellation> {
        self.cancellation.as_ref()
    }

    /// Says whether calls with this workspace may run loops on several threads, from now on.
    pub fn set_parallel(&mut self, is_parallel: bool) {
        self.is_parallel = is_parallel;
    }

    /// Whether calls with this workspace may run loops on several threads, where there are any: so it is at first.
    pub fn is_parallel(&self) -> bool {
        self.is_parallel
    }

    /// Whether nothing ends calls with it and loops may run on several threads: so it is at first.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.cancellation.is_none() && self.is_parallel
    }

    /// Bytes that it holds, used or not.
    pub fn held(&self) -> usize {
        self.budget.taken
    }

    /// Bytes of the tape arena in use: after a call, the size of its tape and of the results that
    /// lie in the workspace.
    pub fn tape_used(&self) -> usize {
        self.tape.used()
    }

    /// Forgets everything allocated and the last error, and keeps the memory, unless that is more than
    /// the limit by now. Every call begins with it.
    #[inline(always)]
    pub fn reset(&mut self) {
        self.failure = Failure::default();
        self.temp.reset(&mut self.budget);
        self.tape.reset(&mut self.budget);
        if self.budget.taken > self.budget.limit {
            self.clear();
        }
    }

    /// Gives all memory back to the system.
    pub fn clear(&mut self) {
        self.temp.reset(&mut self.budget);
        self.tape.reset(&mut self.budget);
        self.temp.trim(&mut self.budget);
        self.tape.trim(&mut self.budget);
    }

    /// What the last call left when it failed.
    pub fn failure(&self) -> Failure {
        self.failure
    }

    /// Takes over what another call left when it failed.
    pub fn set_failure(&mut self, failure: Failure) {
        self.failure = failure;
    }

    fn alloc(&mut self, which: Which, bytes: usize) -> Option<NonNull<u8>> {
        self.take(which, bytes).or_else(|| {
            // What is kept for later and holds nothing may be what is missing now.
            self.temp.trim(&mut self.budget);
            self.tape.trim(&mut self.budget);
            self.take(which, bytes)
        })
    }

    fn take(&mut self, which: Which, bytes: usize) -> Option<NonNull<u8>> {
        match which {
            Which::Temp => self.temp.alloc(bytes, &mut self.budget),
            Which::Tape => self.tape.alloc(bytes, &mut self.budget),
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.clear();
    }
}

#[derive(Clone, Copy)]
enum Which {
    Temp,
    Tape,
}

/// The limit of a new workspace: what [the process may have](crate::limits) when it is first asked for,
/// where the system says how much that is (Linux), else none. Systems that promise more memory than
/// they have would kill the process before an allocation fails; with this limit it is the error `R06`.
#[cfg(not(jut_freestanding))]
pub fn default_limit() -> usize {
    static LIMIT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *LIMIT.get_or_init(|| crate::limits::memory().unwrap_or(usize::MAX))
}

/// The limit of a new workspace: none, in the static library, which asks the system for memory and
/// for nothing else.
#[cfg(jut_freestanding)]
pub fn default_limit() -> usize {
    usize::MAX
}

/// Takes `bytes` bytes from the temp arena: null if there are none.
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_alloc_temp(workspace: *mut Workspace, bytes: u64) -> *mut u8 {
    // SAFETY: as required of the caller.
    unsafe { alloc_in(workspace, Which::Temp, bytes) }
}

/// Takes `bytes` bytes from the tape arena: null if there are none.
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_alloc_tape(workspace: *mut Workspace, bytes: u64) -> *mut u8 {
    // SAFETY: as required of the caller.
    unsafe { alloc_in(workspace, Which::Tape, bytes) }
}

unsafe fn alloc_in(workspace: *mut Workspace, which: Which, bytes: u64) -> *mut u8 {
    // SAFETY: the callers pass on what is required of theirs.
    let workspace = unsafe { &mut *workspace };
    let place = usize::try_from(bytes).ok().and_then(|bytes| workspace.alloc(which, bytes));
    place.map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// The top of the temp arena, for [`jut_release`].
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_mark(workspace: *mut Workspace) -> u64 {
    // SAFETY: as required of the caller.
    unsafe { &*workspace }.temp.mark() as u64
}

/// Gives back everything taken from the temp arena since the mark.
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile; `mark` is what [`jut_mark`]
/// returned for it, and nothing allocated since is used any more.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_release(workspace: *mut Workspace, mark: u64) {
    // SAFETY: as required of the caller.
    let workspace = unsafe { &mut *workspace };
    workspace.temp.release(mark as usize, &mut workspace.budget);
}

/// Gives back everything taken from the tape arena since the mark.
///
/// # Safety
/// `workspace` points to a workspace that nothing else uses meanwhile; `mark` is a top that its tape
/// arena had, and nothing allocated there since is used any more.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_release_tape(workspace: *mut Workspace, mark: u64) {
    // SAFETY: as required of the caller.
    let workspace = unsafe { &mut *workspace };
    workspace.tape.release(mark as usize, &mut workspace.budget);
}

/// Sets `n` cells of 8 bytes.
///
/// # Safety
/// `cells` points to `n` cells of 8 bytes, aligned, that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_fill_words(cells: *mut u64, n: u64, value: u64) {
    // SAFETY: as required of the caller.
    unsafe { core::slice::from_raw_parts_mut(cells, n as usize) }.fill(value);
}

/// Sets `n` cells of 4 bytes.
///
/// # Safety
/// `cells` points to `n` cells of 4 bytes, aligned, that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_fill_halves(cells: *mut u32, n: u64, value: u32) {
    // SAFETY: as required of the caller.
    unsafe { core::slice::from_raw_parts_mut(cells, n as usize) }.fill(value);
}

/// Sets `n` bytes.
///
/// # Safety
/// `cells` points to `n` bytes that nothing else uses meanwhile.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_fill_bytes(cells: *mut u8, n: u64, value: u8) {
    // SAFETY: as required of the caller.
    unsafe { core::slice::from_raw_parts_mut(cells, n as usize) }.fill(value);
}

/// Copies `bytes` bytes; the two places may be the same.
///
/// # Safety
/// `from` and `to` point to that many bytes.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_copy(to: *mut u8, from: *const u8, bytes: u64) {
    // SAFETY: as required of the caller.
    unsafe { ptr::copy(from, to, bytes as usize) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp(workspace: &mut Workspace, bytes: usize) -> Option<NonNull<u8>> {
        workspace.alloc(Which::Temp, bytes)
    }

    #[test]
    fn allocations_are_aligned_and_do_not_overlap() {
        let mut workspace = Workspace::new();
        let mut last = Vec::new();
        for bytes in [1usize, 64, 65, 0, 100_000, 8, 1_000_000] {
            for which in [Which::Temp, Which::Tape] {
                let place = workspace.alloc(which, bytes).unwrap().as_ptr() as usize;
                assert_eq!(place % crate::arena::ALIGN, 0);
                assert!(
                    last.iter().all(|&(p, n)| place + bytes <= p || p + n <= place || bytes == 0)
                );
                last.push((place, bytes));
            }
        }
    }

    /// Compiled code rounds the top up and compares it with the end: a chunk that ended in between would be written behind.
    #[test]
    fn chunks_end_where_allocations_do() {
        let mut workspace = Workspace::new();
        for bytes in (0..40_000).map(|k| 1 + 64 * (k % 7)) {
            workspace.alloc(Which::Tape, bytes).unwrap();
            let (top, end) = (workspace.tape.top as usize, workspace.tape.end as usize);
            assert!(top <= end && end.is_multiple_of(ALIGN), "{top} {end}");
        }
    }

    #[test]
    fn what_is_kept_obeys_a_lower_limit() {
        let mut workspace = Workspace::with_limit(1 << 20);
        temp(&mut workspace, 500_000).unwrap();
        workspace.set_limit(400_000);
        workspace.reset();
        assert_eq!(workspace.held(), 0);
        assert!(temp(&mut workspace, 500_000).is_none());
        temp(&mut workspace, 300_000).unwrap();
        assert!(workspace.held() <= 400_000);
    }

    #[test]
    fn a_release_gives_back_exactly_what_came_after_the_mark() {
        let mut workspace = Workspace::new();
        let start = workspace.temp.mark();
        temp(&mut workspace, 1000).unwrap();
        let mark = workspace.temp.mark();
        let first = temp(&mut workspace, 10).unwrap();
        temp(&mut workspace, 10_000_000).unwrap();
        temp(&mut workspace, 30_000_000).unwrap();
        let held = workspace.held();
        workspace.temp.release(mark, &mut workspace.budget);
        assert_eq!(workspace.temp.used(), 1024);
        assert_eq!(temp(&mut workspace, 10).unwrap(), first);
        temp(&mut workspace, 10_000_000).unwrap();
        temp(&mut workspace, 30_000_000).unwrap();
        assert_eq!(workspace.held(), held, "kept chunks are used again");
        workspace.temp.release(start, &mut workspace.budget);
        assert_eq!(workspace.temp.used(), 0);
    }

    #[test]
    fn after_a_reset_all_memory_is_in_one_piece() {
        let mut workspace = Workspace::new();
        for _ in 0..100 {
            temp(&mut workspace, 100_000).unwrap();
        }
        workspace.reset();
        let held = workspace.held();
        let first = temp(&mut workspace, 100_000).unwrap().as_ptr() as usize;
        for k in 1..100 {
            let place = temp(&mut workspace, 100_000).unwrap().as_ptr() as usize;
            assert_eq!(place, first + k * 100_032);
        }
        workspace.reset();
        assert_eq!(workspace.held(), held);
    }

    #[test]
    fn the_limit_is_an_answer_and_not_the_end_of_the_process() {
        let mut workspace = Workspace::with_limit(200_000);
        assert!(temp(&mut workspace, 100_000).is_some());
        assert!(workspace.alloc(Which::Tape, 150_000).is_none());
        assert!(workspace.alloc(Which::Tape, usize::MAX).is_none());
        assert!(workspace.alloc(Which::Tape, usize::MAX - 63).is_none());
        workspace.reset();
        assert!(workspace.alloc(Which::Tape, 150_000).is_some(), "empty chunks are given back");
        assert!(workspace.held() <= 200_000);
        workspace.clear();
        assert_eq!(workspace.held(), 0);
    }

    #[test]
    fn lent_memory_is_used_to_its_last_line_and_never_left() {
        let mut memory = vec![0u64; 300];
        let range = memory.as_mut_ptr_range();
        // 24 lines, after and before some bytes that are of no use.
        let place = range.start.cast::<u8>();
        let place = place.wrapping_add(place.align_offset(ALIGN) + 8);
        let bytes = 56 + 24 * ALIGN + 7;
        // SAFETY: the memory outlives the workspace, and nothing else uses it.
        let mut workspace = unsafe { Workspace::within(place, bytes) };
        for (tape, lines) in
            [(usize::MAX, [12, 12]), (0, [24, 0]), (640, [14, 10]), (9999, [0, 24])]
        {
            workspace.begin(tape);
            for (which, lines) in [Which::Temp, Which::Tape].into_iter().zip(lines) {
                for _ in 0..lines {
                    let place = workspace.alloc(which, 57).expect("a line").as_ptr().cast::<u64>();
                    assert!(range.start <= place && place.wrapping_add(8) <= range.end);
                    // SAFETY: the line lies in the memory.
                    unsafe { place.write(1) };
                }
                assert!(workspace.alloc(which, 1).is_none(), "{tape}");
                assert!(workspace.alloc(which, 0).is_some());
            }
            let mark = workspace.temp.mark();
            workspace.temp.release(mark, &mut workspace.budget);
            workspace.clear();
            assert_eq!(workspace.held(), bytes);
        }
        // SAFETY: there is no memory.
        let mut workspace = unsafe { Workspace::within(ptr::null_mut(), 0) };
        assert!(workspace.alloc(Which::Tape, 1).is_none());
    }

    #[test]
    fn the_fixed_layout_is_what_compiled_code_assumes() {
        let mut workspace = Workspace::new();
        temp(&mut workspace, 1).unwrap();
        let at = |offset: usize| {
            let bytes = (&raw const workspace).cast::<u8>();
            // SAFETY: the offsets are those of pointer-sized fields of the workspace.
            unsafe { bytes.add(offset).cast::<usize>().read() }
        };
        assert_eq!(at(layout::TEMP_TOP), workspace.temp.top as usize);
        assert_eq!(at(layout::TEMP_END), workspace.temp.end as usize);
        assert_eq!(at(layout::TEMP_BASE) + 64, at(layout::TEMP_TOP));
        assert_eq!(at(layout::TAPE_TOP), at(layout::TAPE_END));
    }
}
