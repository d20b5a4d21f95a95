//! What the rest of jut knows of a backend.

use crate::code::Code;
use crate::compiled::Compiled;
use crate::error::CompileError;
use crate::object::{Machine, MathLibrary, ObjectWriter};
use crate::shares;
use crate::tiers::Later;
use jut_loop::form::LoopProgram;
use jut_loop::opt::for_target;
use jut_loop::recursion;
use jut_loop::target::Target;

/// What makes machine code of loop programs. Each backend's crate has one of these; what jut has is a
/// list of them.
#[derive(Clone, Copy, Debug)]
pub struct Backend {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its version, if it is built in.
    pub version: fn() -> Option<String>,
    /// How to get it, if it is optional.
    pub requirement: Option<Requirement>,
    /// What it can take, for code in this process.
    pub target: fn() -> Target,
    /// Makes code of a program as it stands.
    pub compile: fn(&LoopProgram) -> Result<Code, CompileError>,
    /// Code of a program as it stands that is [kept on disk](crate::cache), if there is some.
    pub kept: fn(&LoopProgram) -> Option<Code>,
    /// Its own form of programs.
    pub text: Text,
    /// A program as it stands in this machine's assembly language.
    pub assembly: fn(&LoopProgram) -> Result<String, CompileError>,
    /// An empty object file, if it makes objects.
    pub object: Option<NewObject>,
    /// Whose code takes over from this one's while it is in use, if that is built in.
    pub then: Option<&'static Backend>,
}

/// An empty object file for a machine.
pub type NewObject = fn(&Machine, MathLibrary) -> Result<Box<dyn ObjectWriter>, CompileError>;

/// A backend's own form of programs, for people to read.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// What the stage is called.
    pub stage: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// What is written can take.
    pub target: fn() -> Target,
    /// A program as it stands.
    pub print: fn(&LoopProgram) -> Result<String, CompileError>,
}

/// What an optional backend needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// The cargo feature of the crates `jut` and `jut-cli`.
    pub feature: &'static str,
    /// The packages of Debian.
    pub packages: &'static [&'static str],
    /// The environment variable that names the folder, if it is not the usual one.
    pub variable: &'static str,
    /// The usual folder.
    pub folder: &'static str,
}

impl Backend {
    /// Compiles a program, as [it is for this backend](for_target).
    ///
    /// # Errors
    /// A program that is not well formed, a machine without code generator.
    pub fn compile(&self, program: &LoopProgram) -> Result<Compiled, CompileError> {
        shares::install();
        let then = self.then.filter(|then| then.is_built_in());
        if let Some(kept) = then.and_then(|then| then.kept(program)) {
            return Ok(Compiled::instead(kept));
        }
        let own = for_target(program, &(self.target)());
        let code = (self.compile)(&own)?;
        Ok(match (recursion::fewer_levels(&own, code.stack), then) {
            (Some(fewer), _) => (self.compile)(&fewer)?.into(),
            (None, Some(then)) => {
                let compile = Box::new(|program: &LoopProgram| then.compile_for_later(program));
                Compiled::until(code, Later::new(program, compile))
            }
            (None, None) => code.into(),
        })
    }

    /// Code that is kept on disk, to be run at once instead of another backend's; on the same terms as what
    /// [takes over](Backend::compile_for_later).
    fn kept(&self, program: &LoopProgram) -> Option<Code> {
        crate::cache::folder()?;
        let own = for_target(program, &(self.target)());
        let code = (self.kept)(&own)?;
        recursion::fewer_levels(&own, code.stack).is_none().then_some(code)
    }

    /// Code that takes over from another backend's; none if it would fail at another level of a recursion.
    fn compile_for_later(&self, program: &LoopProgram) -> Option<Code> {
        let own = for_target(program, &(self.target)());
        let code = (self.compile)(&own).ok()?;
        recursion::fewer_levels(&own, code.stack).is_none().then_some(code)
    }

    /// Whether this build has it.
    pub fn is_built_in(&self) -> bool {
        (self.version)().is_some()
    }
}
