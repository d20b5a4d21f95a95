//! Programs in an object file, for C and everything that can call C.
//!
//! The code is the same as in memory, but for its relocations: position independent, without
//! unwinding tables (nothing unwinds through it), imports declared only where they are used. Each
//! program gets one exported function with natural parameters ([`cfunction`]); everything
//! else in the object is local, so objects do not clash.
//!
//! Cost: linear in the text of the programs.

mod cfunction;
mod substitute;

use crate::program::{Imports, Source, define_with};
use crate::target::Target;
use cranelift_codegen::ir::LibCall;
use cranelift_codegen::isa::{self, LookupError};
use cranelift_module::default_libcall_names;
use cranelift_object::{ObjectBuilder, ObjectModule};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::LoopProgram;
use jut_native::CompileError;
use jut_native::object::{Machine, MathLibrary, Object, ObjectWriter, Place};
use target_lexicon::{Architecture, BinaryFormat, Triple};

/// An object file in the making.
pub struct ObjectFile {
    module: ObjectModule,
    target: Target,
    imports: Imports,
}

impl ObjectFile {
    /// An empty object file.
    ///
    /// # Errors
    /// [`CompileError::Host`] if there is no code generator for the machine.
    pub fn new(machine: &Machine, math: MathLibrary) -> Result<ObjectFile, CompileError> {
        let target = target(machine)?;
        let source = match math {
            MathLibrary::Jut => Source::Runtime,
            MathLibrary::System => Source::System,
        };
        let names = Box::new(move |call: LibCall| match (source, call) {
            // Machines without an instruction for these call the runtime.
            (Source::Runtime, LibCall::FloorF64) => "jut_floor".to_owned(),
            (Source::Runtime, LibCall::CeilF64) => "jut_ceil".to_owned(),
            (Source::Runtime, LibCall::TruncF64) => "jut_trunc".to_owned(),
            (_, other) => default_libcall_names()(other),
        });
        let builder = ObjectBuilder::new(target.usual().clone(), "jut", names)
            .map_err(|e| CompileError::Host(e.to_string()))?;
        let imports = Imports::from(source);
        Ok(ObjectFile { module: ObjectModule::new(builder), target, imports })
    }
}

/// A machine that objects are made for.
fn target(machine: &Machine) -> Result<Target, CompileError> {
    let refused = |triple: &Triple, reason: String| {
        CompileError::Host(format!("{triple} is not a target: {reason}"))
    };
    match machine {
        Machine::Host => {
            let builder = || cranelift_native::builder().map_err(str::to_owned);
            Target::new(&builder, true).map_err(CompileError::Host)
        }
        Machine::Any(triple) => {
            let known =
                matches!(triple.architecture, Architecture::X86_64 | Architecture::Aarch64(_));
            if !known {
                return Err(refused(triple, "only x86-64 and aarch64 are known".to_owned()));
            }
            let builder = || {
                isa::lookup(triple.clone()).map_err(|error| match error {
                    LookupError::SupportDisabled => {
                        "this jut makes code for machines like this one only; build it with the \
                         cargo feature `cross`"
                            .to_owned()
                    }
                    other => other.to_string(),
                })
            };
            // Windows has no table of addresses as others have: its loader adjusts the code.
            let position_independent = triple.binary_format != BinaryFormat::Coff;
            Target::new(&builder, position_independent).map_err(|reason| refused(triple, reason))
        }
    }
}

impl ObjectWriter for ObjectFile {
    fn triple(&self) -> &Triple {
        self.target.triple()
    }

    fn target(&self) -> jut_loop::target::Target {
        // The C library has no functions of many numbers.
        self.target.takes(self.imports.source == Source::Runtime)
    }

    fn translate(
        &mut self,
        name: &str,
        program: &LoopProgram,
        order: &[usize],
        need: Option<&LoopProgram>,
        needs_memory: bool,
        describe: &mut dyn FnMut(RuntimeErrorKind, jut_ir::Span) -> Place,
    ) -> Result<usize, CompileError> {
        let places: Vec<Place> =
            program.sites.values().map(|(kind, span)| describe(*kind, *span)).collect();
        let ObjectFile { module, target, imports } = self;
        let mut shape = cfunction::Shape { name, order, needs_memory, need: None, places: &places };
        if let (Some(need), Some((_, function))) = (need, program.funcs.last()) {
            let mut inner = None;
            define_with(
                need,
                &format!("{name}.need."),
                module,
                imports,
                target,
                &mut |module, imports, place, _, context, builder| {
                    inner = Some(place);
                    cfunction::define_size(
                        &shape, function, module, imports, place, context, builder,
                    )
                },
            )?;
            shape.need = inner;
        }
        let defined = define_with(
            program,
            &format!("{name}."),
            module,
            imports,
            target,
            &mut |module, imports, place, function, context, builder| {
                cfunction::define(&shape, module, imports, place, function, context, builder)
            },
        )?;
        Ok(defined.stack)
    }

    fn finish(mut self: Box<Self>) -> Result<Object, CompileError> {
        if self.imports.source == Source::System {
            substitute::define(&mut self.module, &mut self.imports, &self.target)?;
        }
        let bytes = self.module.finish().emit().map_err(|error| CompileError::Codegen {
            function: "object".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Object { bytes, stack: None })
    }
}
