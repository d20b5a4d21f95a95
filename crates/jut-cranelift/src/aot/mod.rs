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

use crate::isa::Isa;
use crate::program::define_with;
use crate::signature::{Imports, names_of_calls};
use crate::unit::Unit;
use cranelift_codegen::isa::{self, LookupError};
use cranelift_module::default_libcall_names;
use cranelift_object::{ObjectBuilder, ObjectModule};
use jut_native::CompileError;
use jut_native::object::{Export, Machine, MathLibrary, Object, ObjectWriter};
use target_lexicon::{Architecture, BinaryFormat, Triple};

/// An object file in the making.
pub struct ObjectFile {
    module: ObjectModule,
    isa: Isa,
    imports: Imports,
}

impl ObjectFile {
    /// An empty object file.
    ///
    /// # Errors
    /// [`CompileError::Host`] if there is no code generator for the machine.
    pub fn new(machine: &Machine, math: MathLibrary) -> Result<ObjectFile, CompileError> {
        let isa = isa_of(machine)?;
        let names = match math {
            MathLibrary::Jut => Box::new(names_of_calls),
            MathLibrary::System => default_libcall_names(),
        };
        let builder = ObjectBuilder::new(isa.usual().clone(), "jut", names)
            .map_err(|e| CompileError::Host(e.to_string()))?;
        let imports = Imports::from(math);
        Ok(ObjectFile { module: ObjectModule::new(builder), isa, imports })
    }
}

/// A machine that objects are made for.
fn isa_of(machine: &Machine) -> Result<Isa, CompileError> {
    let refused = |triple: &Triple, reason: String| {
        CompileError::Host(format!("{triple} is not a target: {reason}"))
    };
    match machine {
        Machine::Host => {
            let builder = || cranelift_native::builder().map_err(str::to_owned);
            Isa::new(&builder, true).map_err(CompileError::Host)
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
            Isa::new(&builder, position_independent).map_err(|reason| refused(triple, reason))
        }
    }
}

impl ObjectWriter for ObjectFile {
    fn triple(&self) -> &Triple {
        self.isa.triple()
    }

    fn target(&self) -> jut_loop::target::Target {
        // The C library has no functions of many numbers.
        self.isa.takes(self.imports.math == MathLibrary::Jut)
    }

    fn translate(&mut self, export: &Export<'_>) -> Result<usize, CompileError> {
        let ObjectFile { module, isa, imports } = self;
        let (name, function) = (export.name, export.function()?);
        let messages = export.messages()?;
        let mut unit = Unit::new(module, imports);
        let mut need = None;
        if let Some(program) = export.need {
            define_with(
                program,
                &format!("{name}.need."),
                &mut unit,
                isa,
                &mut |unit, place, _| {
                    need = Some(place);
                    cfunction::define_size(export, function, unit, place)
                },
            )?;
        }
        let defined = define_with(
            export.program,
            &format!("{name}."),
            &mut unit,
            isa,
            &mut |unit, place, function| {
                cfunction::define(export, function, &messages, need, unit, place)
            },
        )?;
        Ok(defined.stack)
    }

    fn finish(mut self: Box<Self>) -> Result<Object, CompileError> {
        if self.imports.math == MathLibrary::System {
            substitute::define(&mut self.module, &mut self.imports, &self.isa)?;
        }
        let bytes = self.module.finish().emit().map_err(|error| CompileError::Codegen {
            function: "object".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Object { bytes, stack: None })
    }
}
