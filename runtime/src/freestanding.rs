//! What the static library has on top of the rest: the C functions for workspaces, memory from
//! `malloc`, and an end for panics.
//!
//! The library is linked into programs that know nothing of Rust. It has no state of its own, so
//! any number of threads may use it, each with its own workspace.

use crate::arena::ALIGN;
use crate::workspace::Workspace;
use alloc::alloc::{Layout, alloc, dealloc};
use core::alloc::GlobalAlloc;
use core::ffi::c_void;
use core::panic::PanicInfo;
use core::ptr;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

/// Memory from `malloc`: the address that it returned lies in the word before the memory.
struct Malloc;

#[global_allocator]
static MALLOC: Malloc = Malloc;

const WORD: usize = size_of::<*mut c_void>();

// SAFETY: what is returned is a part of one block of `malloc` that is long enough and aligned, and
// the block is given back by its own address.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(WORD);
        let Some(bytes) = layout.size().checked_add(align + WORD) else { return ptr::null_mut() };
        // SAFETY: `malloc` takes any number.
        let block = unsafe { malloc(bytes) }.cast::<u8>();
        if block.is_null() {
            return block;
        }
        let offset = WORD + block.wrapping_add(WORD).align_offset(align);
        let memory = block.wrapping_add(offset);
        // SAFETY: the offset is at least a word and less than a word and the alignment, so the word
        // before the memory lies in the block, which is aligned to words.
        unsafe { memory.cast::<*mut c_void>().sub(1).write(block.cast()) };
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: `alloc` returned the memory and wrote the address of its block before it.
        unsafe { free(memory.cast::<*mut c_void>().sub(1).read()) };
    }
}

/// Its name says which version of the runtime this is. What was made for one refers to it, so two
/// versions in one program are an error of the linker.
#[used]
#[unsafe(export_name = concat!("jut_runtime_", env!("CARGO_PKG_VERSION")))]
pub static VERSION: u8 = 0;

/// Nothing in the library panics; this satisfies the compiler.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it may be called at any time.
    unsafe { abort() }
}

/// A new workspace; null if there is no memory.
#[unsafe(no_mangle)]
extern "C" fn jut_workspace_new() -> *mut Workspace {
    // SAFETY: a workspace is not empty.
    let place = unsafe { alloc(Layout::new::<Workspace>()) }.cast::<Workspace>();
    if !place.is_null() {
        // SAFETY: the memory has the size and alignment of a workspace.
        unsafe { place.write(Workspace::new()) };
    }
    place
}

/// A workspace at the begin of the given memory, which has all its memory there and never asks for
/// more; null if it does not fit.
///
/// # Safety
/// The memory is for the workspace alone, until the last call with it has returned.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_in(memory: *mut u8, bytes: usize) -> *mut Workspace {
    let skipped = memory.align_offset(ALIGN);
    let head = size_of::<Workspace>().next_multiple_of(ALIGN);
    if memory.is_null() || skipped.saturating_add(head) > bytes {
        return ptr::null_mut();
    }
    let place = memory.wrapping_add(skipped);
    // SAFETY: what is left of the memory behind the workspace is its own.
    let workspace = unsafe { Workspace::within(place.wrapping_add(head), bytes - skipped - head) };
    let place = place.cast::<Workspace>();
    // SAFETY: the place is aligned, and the workspace fits there.
    unsafe { place.write(workspace) };
    place
}

/// Gives a workspace back; null is none.
///
/// # Safety
/// The workspace is from [`jut_workspace_new`] or [`jut_workspace_in`] and is not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_free(workspace: *mut Workspace) {
    // SAFETY: as required of the caller. What lies in lent memory owns nothing.
    if !workspace.is_null() && !unsafe { &*workspace }.is_lent() {
        // SAFETY: as required of the caller.
        unsafe {
            ptr::drop_in_place(workspace);
            dealloc(workspace.cast(), Layout::new::<Workspace>());
        }
    }
}

/// Forgets the results of the last call and gives all memory but the workspace itself back.
///
/// # Safety
/// The workspace is from [`jut_workspace_new`] or [`jut_workspace_in`], and nothing else uses it meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_clear(workspace: *mut Workspace) {
    // SAFETY: as required of the caller.
    unsafe { &mut *workspace }.clear();
}

/// Sets the most bytes that the workspace may take from now on.
///
/// # Safety
/// The workspace is from [`jut_workspace_new`] or [`jut_workspace_in`], and nothing else uses it meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_limit(workspace: *mut Workspace, bytes: usize) {
    // SAFETY: as required of the caller.
    unsafe { &mut *workspace }.set_limit(bytes);
}

/// The bytes that the workspace holds, used or not.
///
/// # Safety
/// The workspace is from [`jut_workspace_new`] or [`jut_workspace_in`], and nothing else changes it meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_held(workspace: *const Workspace) -> usize {
    // SAFETY: as required of the caller.
    unsafe { &*workspace }.held()
}

/// Begins a call: forgets everything allocated, and keeps the memory. If that is lent, so many bytes
/// of it are for the tape; half of it if that is not known, which the largest number says.
///
/// # Safety
/// The workspace is from [`jut_workspace_new`] or [`jut_workspace_in`], and nothing else uses it
/// meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn jut_workspace_begin(workspace: *mut Workspace, tape: u64) {
    // SAFETY: as required of the caller.
    unsafe { &mut *workspace }.begin(usize::try_from(tape).unwrap_or(usize::MAX));
}
