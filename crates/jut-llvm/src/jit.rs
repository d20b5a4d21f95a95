//! An object in executable memory, linked with the runtime.
//!
//! LLVM's LLJIT takes the object, looks up what it calls among the runtime's functions (and no
//! others: nothing of the process is visible to it), writes the code, and makes it executable and no
//! longer writable. Dropping the [`Linked`] gives all of it back.

use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use inkwell::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
    LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
};
use inkwell::llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMJITSymbolGenericFlags, LLVMOrcAbsoluteSymbols,
    LLVMOrcCSymbolMapPair, LLVMOrcJITDylibDefine,
};
use inkwell::memory_buffer::MemoryBuffer;
use jut_native::{CompileError, Entry};
use jut_runtime::symbols;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

// SAFETY: the C library's functions, with its signatures; only their addresses are taken.
unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
}

/// The owner of executable memory.
pub(crate) struct Linked(LLVMOrcLLJITRef);

// SAFETY: once loaded, the code is only run, which does not touch the JIT, until it is dropped by
// its one owner, on whatever thread.
unsafe impl Send for Linked {}
// SAFETY: as above.
unsafe impl Sync for Linked {}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: the JIT is alive and not used again. Whoever runs the code borrows the owner, so
        // nothing runs in it and no pointer into it is left. An error would be the system's refusal
        // to take memory back; there is nothing to be done about it.
        unsafe {
            let _ = succeeded(LLVMOrcDisposeLLJIT(self.0));
        }
    }
}

/// An error of LLVM as ours.
///
/// # Safety
/// The error is one that LLVM has just given.
unsafe fn succeeded(error: LLVMErrorRef) -> Result<(), CompileError> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is alive, and taking its message ends it; the message is ours to dispose of.
    let reason = unsafe {
        let message = LLVMGetErrorMessage(error);
        let reason = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        reason
    };
    Err(CompileError::Host(format!("LLVM: {reason}")))
}

/// What an object may call: all of the runtime, and what LLVM takes for granted.
fn callable() -> impl Iterator<Item = (&'static str, *const u8)> {
    let system = [
        ("memcpy", memcpy as *const u8),
        ("memmove", memmove as *const u8),
        ("memset", memset as *const u8),
    ];
    symbols::all().chain(system)
}

impl Linked {
    /// Loads an object.
    pub(crate) fn load(object: MemoryBuffer<'static>) -> Result<Linked, CompileError> {
        let mut jit = ptr::null_mut();
        // SAFETY: a null builder asks for the default one; the JIT is ours from here on.
        unsafe { succeeded(LLVMOrcCreateLLJIT(&mut jit, ptr::null_mut())) }?;
        let code = Linked(jit);
        // SAFETY: the JIT is alive, and so is its library; names are strings that end in 0, and LLVM
        // takes over the references to them; addresses are those of functions that live as long as
        // the process. The object's memory is taken over: LLVM disposes of it, also if it fails.
        unsafe {
            let library = LLVMOrcLLJITGetMainJITDylib(jit);
            let mut pairs = Vec::new();
            for (name, address) in callable() {
                let name = CString::new(name).unwrap_or_default();
                pairs.push(LLVMOrcCSymbolMapPair {
                    Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                    Sym: LLVMJITEvaluatedSymbol {
                        Address: address as u64,
                        Flags: LLVMJITSymbolFlags {
                            GenericFlags:
                                LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8,
                            TargetFlags: 0,
                        },
                    },
                });
            }
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            succeeded(LLVMOrcJITDylibDefine(library, unit))?;
            let bytes = object.as_mut_ptr();
            std::mem::forget(object);
            succeeded(LLVMOrcLLJITAddObjectFile(jit, library, bytes))?;
        }
        Ok(code)
    }

    /// Links the code, if that has not been done, and gives the program's entry.
    pub(crate) fn entry(&self) -> Result<Entry, CompileError> {
        let mut address = 0;
        // SAFETY: the JIT is alive, the name is a string that ends in 0.
        unsafe { succeeded(LLVMOrcLLJITLookup(self.0, &mut address, c"entry".as_ptr())) }?;
        if address == 0 {
            return Err(CompileError::Host("LLVM: the entry is nowhere".to_owned()));
        }
        // SAFETY: every program's entry has this signature.
        Ok(unsafe { std::mem::transmute::<usize, Entry>(address as usize) })
    }
}
