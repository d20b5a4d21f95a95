//! Programs in an object file, for C and everything that can call C.
//!
//! The code is the same as in memory, but for its relocations: position independent, without
//! unwinding tables (nothing unwinds through it), imports declared only where they are used. Each
//! program gets one exported function with natural parameters ([`crate::cfunction`]); everything
//! else in the object is local, so objects do not clash.
//!
//! Cost: linear in the text of the programs.

use crate::cfunction;
use crate::program::{Imports, Source, define_with};
use crate::substitute;
use crate::target::{Machine, Target};
use cranelift_codegen::ir::LibCall;
use cranelift_module::default_libcall_names;
use cranelift_object::{ObjectBuilder, ObjectModule};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::{Block, LoopProgram, Stmt};
use jut_native::CompileError;
use target_lexicon::Triple;

/// Which mathematical functions an object calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MathLibrary {
    /// Those of jut's static runtime: the same bits as in memory. Memory for tapes comes from the
    /// runtime too and grows as needed.
    #[default]
    Jut,
    /// Those of the system's library (`-lm`): nothing else is needed. Memory for tapes is given by
    /// the caller with each call.
    System,
}

/// An object file in the making.
pub struct ObjectFile {
    module: ObjectModule,
    target: Target,
    imports: Imports,
}

/// An exported function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// Whether it needs a workspace (or memory): otherwise none need be given.
    pub needs_memory: bool,
    /// Bytes of stack that a call takes, at most, beyond those of the runtime.
    pub stack: usize,
}

/// A place that can fail, as the caller is told of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Line of the user's text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The message.
    pub message: String,
    /// How many numbers belong to the message.
    pub numbers: usize,
}

impl ObjectFile {
    /// An empty object file.
    ///
    /// # Errors
    /// [`CompileError::Host`] if there is no code generator for the machine.
    pub fn new(machine: &Machine, math: MathLibrary) -> Result<ObjectFile, CompileError> {
        let target = Target::object(machine)?;
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

    /// What the object is for.
    pub fn triple(&self) -> &Triple {
        self.target.triple()
    }

    /// Adds a program: its last function becomes the exported C function with the given name. The
    /// order lists its parameters by number (and after them its results), each once, as the C
    /// function takes them. `need` is what [`jut_loop::need::query`] made of it, if there is a bound
    /// on its memory: then the function `NAME_workspace_size` is exported, too. Without a bound,
    /// functions of the system do not go with memory. `describe` says what is told of a failing place.
    ///
    /// # Errors
    /// As [`crate::compile`]; also if the name is taken.
    pub fn add(
        &mut self,
        name: &str,
        program: &LoopProgram,
        order: &[usize],
        need: Option<&LoopProgram>,
        describe: &mut dyn FnMut(RuntimeErrorKind, jut_ir::Span) -> Place,
    ) -> Result<Exported, CompileError> {
        let needs_memory = program.funcs.values().any(|f| uses_arena(&f.body));
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
        Ok(Exported { needs_memory, stack: defined.stack })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`CompileError::Codegen`] if the file format cannot hold the code.
    pub fn finish(mut self) -> Result<Vec<u8>, CompileError> {
        if self.imports.source == Source::System {
            substitute::define(&mut self.module, &mut self.imports, &self.target)?;
        }
        self.module.finish().emit().map_err(|error| CompileError::Codegen {
            function: "object".to_owned(),
            reason: error.to_string(),
        })
    }
}

/// Whether a block touches the arenas.
fn uses_arena(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Alloc { .. } | Stmt::Mark { .. } | Stmt::Release { .. } => true,
        Stmt::For(inner) => uses_arena(&inner.body),
        Stmt::Lanes(inner) => uses_arena(&inner.body),
        Stmt::If { then, other, .. } => uses_arena(then) || uses_arena(other),
        _ => false,
    })
}
