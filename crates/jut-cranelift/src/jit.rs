//! A compiled program in executable memory.
//!
//! One Cranelift module per program owns its code. The code is written once, then made executable
//! and no longer writable, and given back to the system when the program is dropped.

use crate::isa::Isa;
use crate::program;
use crate::signature::names_of_calls;
use cranelift_codegen::control::ControlPlane;
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use jut_loop::form::LoopProgram;
use jut_loop::opt::shares::LEAST;
use jut_loop::poll;
use jut_native::{Backend, Code, CompileError, Entry, Footprint, Text};
use jut_runtime::symbols;
use std::mem::ManuallyDrop;

/// The owner of the executable memory.
struct Owner(ManuallyDrop<JITModule>);

// SAFETY: after the module is finalized it is touched again only when it is dropped, by the owner;
// the code it holds is never written.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the module is not used again. Whoever calls the code borrows the `Code` that
        // owns it, so nothing runs in it and no pointer into it is left.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() };
    }
}

/// Code for the machine that this process runs on, objects for others too.
pub const BACKEND: Backend = Backend {
    name: "cranelift",
    about: "machine code in memory and object files; the default",
    version: || Some(crate::VERSION.to_owned()),
    requirement: None,
    target,
    compile,
    kept: |_| None,
    text: Text { stage: "clif", about: "Cranelift's text form", target, print: clif },
    assembly,
    #[cfg(feature = "aot")]
    object: Some(|machine, math| Ok(Box::new(crate::ObjectFile::new(machine, math)?))),
    #[cfg(not(feature = "aot"))]
    object: None,
    then: None,
};

/// What is taken of the loop form; nothing in particular where there is no code generator.
fn target() -> jut_loop::target::Target {
    Isa::host().map_or_else(
        |_| Default::default(),
        |target| jut_loop::target::Target { shares: Some(LEAST), ..target.takes(true) },
    )
}

fn compile(program: &LoopProgram) -> Result<Code, CompileError> {
    let isa = Isa::host()?;
    let program = &poll::place(program);
    let mut owner = Owner(ManuallyDrop::new(module(program, &isa)?));
    let defined = program::define(program, &mut *owner.0, &isa)?;
    owner.0.finalize_definitions().map_err(|e| CompileError::Host(e.to_string()))?;
    let address = owner.0.get_finalized_function(defined.entry);
    // SAFETY: the entry was compiled with this signature.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
    let footprint = Footprint { stack: defined.stack, bytes: defined.bytes };
    // SAFETY: the code is that of the program, lives as long as the module, and is not written any
    // more.
    unsafe { Code::new(program, entry, footprint, Box::new(owner)) }
}

/// The program in Cranelift's text form, before its optimizations.
pub fn clif(program: &LoopProgram) -> Result<String, CompileError> {
    let mut module = module(program, &Isa::host()?)?;
    program::printed(program, false, &mut module, &|unit, _| {
        Ok(unit.context.func.display().to_string())
    })
}

/// The program as Cranelift's assembly text for this machine.
pub fn assembly(program: &LoopProgram) -> Result<String, CompileError> {
    let isa = Isa::host()?;
    let mut module = module(program, &isa)?;
    program::printed(program, true, &mut module, &|unit, name| {
        unit.context.set_disasm(true);
        let isa = isa.for_function(&unit.context.func);
        let code = unit.context.compile(isa, &mut ControlPlane::default()).map_err(|e| {
            CompileError::Codegen { function: name.to_owned(), reason: e.inner.to_string() }
        })?;
        Ok(code.vcode.clone().unwrap_or_default())
    })
}

/// An empty module for a program.
fn module(program: &LoopProgram, isa: &Isa) -> Result<JITModule, CompileError> {
    let mut builder = JITBuilder::with_isa(isa.usual().clone(), Box::new(names_of_calls));
    builder.symbol_lookup_fn(Box::new(symbols::address));
    // All code of a program lies in one reserved range, so that calls within it reach each other.
    let reserve = (1 << 20) + program.size().saturating_mul(BYTES_PER_STATEMENT);
    let memory = ArenaMemoryProvider::new_with_size(reserve.min(LARGEST))
        .map_err(|e| CompileError::Host(e.to_string()))?;
    builder.memory_provider(Box::new(memory));
    Ok(JITModule::new(builder))
}

/// Far more code than any statement becomes.
const BYTES_PER_STATEMENT: usize = 4096;

/// What a relative call reaches, less something.
const LARGEST: usize = 1 << 30;
