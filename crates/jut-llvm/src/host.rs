//! LLVM itself: from text to machine code.
//!
//! The text is read and verified, every function is given the processor's name and features, the
//! passes of `default<O3>` run, and the code generator writes an object; [`crate::jit`] loads it.
//! Floats are as the text says: there is no option that would contract or reorder them.

use crate::imports::Instructions;
use crate::jit::Linked;
use crate::module::{takes, text_for};
use inkwell::OptimizationLevel;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use jut_loop::form::LoopProgram;
use jut_loop::opt::shares::LEAST;
use jut_loop::poll;
use jut_loop::recursion;
use jut_loop::target;
use jut_native::cache::{self, Key};
use jut_native::object::MathLibrary;
use jut_native::{Code, CompileError, Footprint};
use object::SectionKind;
use object::read::{File, Object as _, ObjectSection as _};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// A machine: its triple, its processor, and what that has.
#[derive(Clone)]
pub(crate) struct Host {
    triple: String,
    processor: String,
    features: String,
}

impl Host {
    /// The machine that this process runs on.
    pub(crate) fn this() -> Result<&'static Host, CompileError> {
        static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
        let found = HOST.get_or_init(|| {
            Target::initialize_native(&InitializationConfig::default())?;
            let text = |string: &CStr| string.to_string_lossy().into_owned();
            Ok(Host {
                triple: text(TargetMachine::get_default_triple().as_str()),
                processor: text(&TargetMachine::get_host_cpu_name()),
                features: text(&TargetMachine::get_host_cpu_features()),
            })
        });
        found.as_ref().map_err(|reason| CompileError::Host(reason.clone()))
    }

    /// A machine that code is made for, with nothing but what the processor is sure to have.
    pub(crate) fn of(triple: &str, processor: &str) -> Host {
        static TARGETS: Once = Once::new();
        TARGETS.call_once(|| {
            Target::initialize_x86(&InitializationConfig::default());
            Target::initialize_aarch64(&InitializationConfig::default());
        });
        Host { triple: triple.into(), processor: processor.into(), features: String::new() }
    }

    /// What this machine has instructions for.
    pub(crate) fn instructions(&self) -> Instructions {
        let x86 = self.triple.starts_with("x86_64");
        let masks = self.has("avx") || self.has("sve");
        // With AVX alone some processors take a store with a mask apart, cell by cell.
        let slow_masks = self.has("avx") && !self.has("avx512f");
        Instructions { rounding: !x86 || self.has("sse4.1"), masks, slow_masks }
    }

    /// Whether a feature is one that the processor is sure to have.
    fn has(&self, feature: &str) -> bool {
        self.features.split(',').any(|f| f.strip_prefix('+') == Some(feature))
    }

    fn machine(&self) -> Result<TargetMachine, CompileError> {
        let refused = |reason: &str| CompileError::Host(format!("LLVM: {reason}"));
        let triple = TargetTriple::create(&self.triple);
        let target = Target::from_triple(&triple).map_err(|e| refused(&e.to_string()))?;
        let machine = target.create_target_machine(
            &triple,
            &self.processor,
            &self.features,
            OptimizationLevel::Aggressive,
            RelocMode::PIC,
            CodeModel::Default,
        );
        machine.ok_or_else(|| refused("this machine is not a target"))
    }
}

/// Reads text for LLVM, and gives every function what the machine has.
fn read<'c>(
    context: &'c Context,
    text: &str,
    host: &Host,
    machine: &TargetMachine,
) -> Result<Module<'c>, CompileError> {
    let malformed = |reason: String| CompileError::Malformed { function: "LLVM".into(), reason };
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "jut");
    let text = buffer.as_mut_ptr();
    let module = context.create_module_from_ir(buffer);
    // SAFETY: reading does not take the buffer over in LLVM 22, but the bindings (whose version is
    // fixed) forget it as if it did: nobody else has it any more.
    drop(unsafe { MemoryBuffer::new(text) });
    let module = module.map_err(|e| malformed(e.to_string()))?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let mut attributes = vec![
        context.create_string_attribute("target-cpu", &host.processor),
        context.create_string_attribute("target-features", &host.features),
        // Frames larger than this are told of: all of them.
        context.create_string_attribute("warn-stack-size", "0"),
    ];
    if host.has("avx512f") {
        // For some processors LLVM's vectoriser else takes vectors of half that length, beside ours.
        attributes.push(context.create_string_attribute("prefer-vector-width", "512"));
    }
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        for attribute in &attributes {
            function.add_attribute(AttributeLoc::Function, *attribute);
        }
    }
    module.verify().map_err(|e| malformed(e.to_string()))?;
    Ok(module)
}

fn optimise(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CompileError> {
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(true);
    options.set_loop_unrolling(true);
    options.set_loop_interleaving(true);
    module.run_passes("default<O3>", machine, options).map_err(codegen)
}

fn codegen(reason: impl std::fmt::Display) -> CompileError {
    CompileError::Codegen { function: "LLVM".into(), reason: reason.to_string() }
}

/// Bytes of stack that a frame has beside what LLVM tells of.
const FRAME: usize = 128;

/// Bytes of the frames of a module: of all, and of the largest.
#[derive(Default)]
struct Frames {
    sum: AtomicUsize,
    largest: AtomicUsize,
}

/// Hears what LLVM has to say of a module: the size of each frame.
extern "C" fn heed(diagnostic: LLVMDiagnosticInfoRef, frames: *mut c_void) {
    // SAFETY: LLVM gives a diagnostic and the pointer that was set with the handler, which is that of
    // counters that outlive the context; the message is a string that is ours to dispose of.
    unsafe {
        let message = LLVMGetDiagInfoDescription(diagnostic);
        if message.is_null() {
            return;
        }
        let bytes = CStr::from_ptr(message).to_str().ok().and_then(frame_size);
        if let (Some(bytes), Some(frames)) = (bytes, frames.cast::<Frames>().as_ref()) {
            frames.sum.fetch_add(bytes + FRAME, Ordering::Relaxed);
            frames.largest.fetch_max(bytes + FRAME, Ordering::Relaxed);
        }
        LLVMDisposeMessage(message);
    }
}

/// The number in "stack frame size (40) exceeds limit (0) in function 'f'".
fn frame_size(message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("stack frame size (")?;
    rest.split_once(')')?.0.parse().ok()
}

/// What text becomes.
pub(crate) struct Object {
    pub bytes: MemoryBuffer<'static>,
    /// Bytes of stack that a call needs at most, if nothing calls itself.
    pub stack: usize,
    /// Those of the largest frame.
    pub largest: usize,
}

/// Bytes of machine code in an object.
fn code_size(object: &[u8]) -> usize {
    let Ok(file) = File::parse(object) else { return 0 };
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    code.map(|section| section.size() as usize).sum()
}

/// Machine code of text for LLVM.
pub(crate) fn object(text: &str, host: &Host, file: FileType) -> Result<Object, CompileError> {
    let machine = host.machine()?;
    let frames = Frames::default();
    let context = Context::create();
    // SAFETY: the context is alive; the handler is given a pointer to `frames`, which outlives it.
    unsafe {
        let frames = (&raw const frames).cast_mut().cast::<c_void>();
        LLVMContextSetDiagnosticHandler(context.raw(), Some(heed), frames);
    }
    let module = read(&context, text, host, &machine)?;
    optimise(&module, &machine)?;
    let bytes = machine.write_to_memory_buffer(&module, file).map_err(codegen)?;
    drop(module);
    drop(context);
    Ok(Object { bytes, stack: frames.sum.into_inner(), largest: frames.largest.into_inner() })
}

/// The version of LLVM, if it is built in.
pub fn version() -> Option<String> {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    Some(format!("{major}.{minor}.{patch}"))
}

/// The program as text for this machine.
fn host_text(program: &LoopProgram) -> Result<String, CompileError> {
    text_for(Host::this()?.instructions(), program)
}

/// What is taken of the loop form; nothing in particular where there is no code generator.
pub(crate) fn target() -> target::Target {
    Host::this().map_or_else(
        |_| target::Target::default(),
        |host| target::Target {
            shares: Some(LEAST),
            ..takes(MathLibrary::Jut, host.instructions())
        },
    )
}

/// Compiles a program for the machine that this process runs on.
///
/// # Errors
/// As those of every backend: a program that is not well formed, a machine without code generator.
pub(crate) fn compile(program: &LoopProgram) -> Result<Code, CompileError> {
    let program = poll::place(program);
    let text = host_text(&program)?;
    // SAFETY: the text is the translation of the program.
    unsafe { compile_text(&program, &text) }
}

/// Compiles text for LLVM that was made of a program in another way: by MLIR, for instance. It has a
/// function `entry` with the [signature of every program](jut_native::Entry), and calls nothing but
/// the runtime.
///
/// # Errors
/// As [`compile`].
///
/// # Safety
/// The text means what the last function of the program means.
pub unsafe fn compile_text(program: &LoopProgram, text: &str) -> Result<Code, CompileError> {
    let host = Host::this()?;
    let key = key(text, host);
    let object = match key.as_ref().and_then(kept) {
        Some(object) => object,
        None => {
            let object = object(text, host, FileType::Object)?;
            if let Some(key) = &key {
                keep(key, &object);
            }
            object
        }
    };
    // SAFETY: the caller vouches for the text, of which the object is the code.
    unsafe { load(program, object) }
}

/// The code of a program that is kept on disk, if there is some.
pub(crate) fn compile_kept(program: &LoopProgram) -> Option<Code> {
    let program = poll::place(program);
    let object = kept(&key(&host_text(&program).ok()?, Host::this().ok()?)?)?;
    // SAFETY: the object was made of the same text, which is the translation of the program.
    unsafe { load(&program, object) }.ok()
}

/// What the code of a text depends on, if code is kept.
fn key(text: &str, host: &Host) -> Option<Key> {
    cache::folder()?;
    let version = version().unwrap_or_default();
    let parts = ["llvm", &version, &host.triple, &host.processor, &host.features, text];
    Some(Key::new(parts.map(str::as_bytes)))
}

/// What is kept of a text: how much stack its code takes, the largest frame, and the object.
fn kept(key: &Key) -> Option<Object> {
    let contents = cache::load(key)?;
    let (stack, rest) = contents.split_first_chunk()?;
    let (largest, object) = rest.split_first_chunk()?;
    let [stack, largest] = [stack, largest].map(|bytes| u64::from_le_bytes(*bytes) as usize);
    let bytes = MemoryBuffer::create_from_memory_range_copy(object, "jut");
    Some(Object { bytes, stack, largest })
}

fn keep(key: &Key, object: &Object) {
    let [stack, largest] = [object.stack, object.largest].map(|n| (n as u64).to_le_bytes());
    cache::store(key, &[&stack[..], &largest, object.bytes.as_slice()].concat());
}

/// Links an object.
///
/// # Safety
/// It is code for the last function of the program, with an `entry`.
unsafe fn load(program: &LoopProgram, object: Object) -> Result<Code, CompileError> {
    let bytes = code_size(object.bytes.as_slice());
    // Each level of a recursion is one frame, of what calls it none is there twice.
    let stack = match recursion::levels(program) {
        0 => object.stack,
        _ => object.stack + recursion::stack(program, &|_| object.largest),
    };
    let footprint = Footprint { stack, bytes };
    let linked = Linked::load(object.bytes)?;
    let entry = linked.entry()?;
    // SAFETY: the caller vouches for the object; its code lives as long as `linked`, and is not written
    // any more.
    unsafe { Code::new(program, entry, footprint, Box::new(linked)) }
}

/// The program as LLVM's text form, after its optimisations for this machine.
///
/// # Errors
/// As [`compile`].
pub fn optimised(program: &LoopProgram) -> Result<String, CompileError> {
    let host = Host::this()?;
    let machine = host.machine()?;
    let context = Context::create();
    let module = read(&context, &host_text(program)?, host, &machine)?;
    optimise(&module, &machine)?;
    Ok(module.print_to_string().to_string())
}

/// The program as assembly text for this machine.
///
/// # Errors
/// As [`compile`].
pub fn assembly(program: &LoopProgram) -> Result<String, CompileError> {
    assembly_of_text(&host_text(program)?)
}

/// Assembly text for this machine of text for LLVM that was made in another way.
///
/// # Errors
/// As [`compile`].
pub fn assembly_of_text(text: &str) -> Result<String, CompileError> {
    let object = object(text, Host::this()?, FileType::Assembly)?;
    let bytes = object.bytes.as_slice();
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Host, frame_size, read};
    use inkwell::context::Context;

    #[test]
    fn long_vectors_are_asked_for_where_there_are_some() {
        Host::this().expect("a machine");
        let text = |features: &str| {
            let triple = "x86_64-unknown-linux-gnu".into();
            let host = Host { triple, processor: "x86-64".into(), features: features.into() };
            let machine = Host::of(&host.triple, &host.processor).machine().expect("a target");
            let context = Context::create();
            let function = "define void @f() {\n  ret void\n}\n";
            let module = read(&context, function, &host, &machine).expect("a module");
            module.print_to_string().to_string()
        };
        let asked = "\"prefer-vector-width\"=\"512\"";
        assert!(text("+avx2,+avx512f").contains(asked));
        assert!(!text("+avx2,-avx512f").contains(asked) && !text("").contains(asked));
    }

    #[test]
    fn frames_are_read_from_what_llvm_says() {
        let said = "stack frame size (4136) exceeds limit (0) in function 'entry'";
        assert_eq!(frame_size(said), Some(4136));
        assert_eq!(frame_size("something else (5)"), None);
    }
}
