//! Programs in an object file, for C and everything that can call C.
//!
//! The code is the same as in memory: position independent, imports declared only where they are
//! used, one exported function per program ([`crate::cfunction`]), everything else local. An object
//! for any machine of a target has code for its least instruction set.

use crate::host::{Host, object};
use crate::imports::Instructions;
use crate::module::ModuleText;
use inkwell::targets::FileType;
use jut_loop::form::LoopProgram;
use jut_loop::recursion;
use jut_loop::target::Target;
use jut_native::object::{Export, Machine, MathLibrary, Object, ObjectWriter};
use jut_native::{CompileError, NewObject};
use target_lexicon::{Architecture, Triple};

/// An object file in the making.
struct ObjectFile {
    module: ModuleText,
    host: Host,
    triple: Triple,
    /// The programs with functions that call themselves.
    recursive: Vec<LoopProgram>,
}

/// An empty object file; an error if there is no code generator for the machine.
pub(crate) const OBJECT: NewObject = |machine, math| Ok(Box::new(ObjectFile::new(machine, math)?));

impl ObjectFile {
    fn new(machine: &Machine, math: MathLibrary) -> Result<ObjectFile, CompileError> {
        let (host, triple, instructions) = match machine {
            Machine::Host => {
                let host = Host::this()?.clone();
                let instructions = host.instructions();
                (host, Triple::host(), instructions)
            }
            Machine::Any(triple) => {
                let least = |rounding| Instructions { rounding, ..Instructions::default() };
                let (processor, instructions) = match triple.architecture {
                    Architecture::X86_64 => ("x86-64", least(false)),
                    Architecture::Aarch64(_) => ("generic", least(true)),
                    _ => {
                        return Err(CompileError::Host(format!(
                            "{triple} is not a target: only x86-64 and aarch64 are known"
                        )));
                    }
                };
                (Host::of(&triple.to_string(), processor), triple.clone(), instructions)
            }
        };
        let module = ModuleText::new(math, instructions);
        Ok(ObjectFile { module, host, triple, recursive: Vec::new() })
    }
}

impl ObjectWriter for ObjectFile {
    fn triple(&self) -> &Triple {
        &self.triple
    }

    fn target(&self) -> Target {
        self.module.target()
    }

    fn translate(&mut self, export: &Export<'_>) -> Result<usize, CompileError> {
        self.module.c_function(export)?;
        if recursion::levels(export.program) > 0 {
            self.recursive.push(export.program.clone());
        }
        Ok(0)
    }

    fn finish(self: Box<Self>) -> Result<Object, CompileError> {
        let ObjectFile { module, host, recursive, .. } = *self;
        let made = object(&module.finish()?, &host, FileType::Object)?;
        // Each level of a recursion is one frame, of what calls it none is there twice.
        let levels = recursive.iter().map(|p| recursion::stack(p, &|_| made.largest)).max();
        let stack = made.stack + levels.unwrap_or(0);
        Ok(Object { bytes: made.bytes.as_slice().to_vec(), stack: Some(stack) })
    }
}
