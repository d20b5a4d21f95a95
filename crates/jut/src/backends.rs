//! What runs functions: the interpreter, and the backends, a row each.
//!
//! A new backend is a crate with a `BACKEND`, and a row of [`BACKENDS`] with its [`Engine`]. Stages,
//! the command line, `--check`, `jut doctor` and the tests read them.

use jut_native::Backend;

/// What runs a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// Native code, made by Cranelift in this process.
    #[default]
    Cranelift,
    /// Native code, made by LLVM in this process: takes longer to compile and runs faster. Only in
    /// builds with the feature `llvm`; others refuse it.
    Llvm,
    /// Native code, made by LLVM in this process of what MLIR's passes make of MLIR: the longest to
    /// compile. Only in builds with the feature `mlir`; others refuse it.
    Mlir,
    /// The reference interpreter: slow, and the definition of what programs mean.
    Interpreter,
}

/// The backends, the default one first. The optional ones link system libraries, so they are cargo
/// features that are off unless asked for: then they compile nothing, and say what they need.
///
/// ```
/// let (engine, cranelift) = &jut::BACKENDS[0];
/// assert_eq!((*engine, cranelift.name), (jut::Engine::Cranelift, "cranelift"));
/// assert!((cranelift.version)().is_some() && cranelift.requirement.is_none());
/// ```
pub const BACKENDS: [(Engine, Backend); 3] = [
    (Engine::Cranelift, jut_cranelift::BACKEND),
    (Engine::Llvm, jut_llvm::BACKEND),
    (Engine::Mlir, jut_mlir::BACKEND),
];

impl Engine {
    /// All engines, those that are not built in too, the interpreter last.
    pub fn all() -> impl Iterator<Item = Engine> {
        BACKENDS.iter().map(|(engine, _)| *engine).chain([Engine::Interpreter])
    }

    /// Its name on the command line.
    ///
    /// ```
    /// assert_eq!(jut::Engine::Interpreter.name(), "interp");
    /// ```
    pub fn name(self) -> &'static str {
        self.backend().map_or("interp", |backend| backend.name)
    }

    /// Whether this build has it.
    pub fn is_built_in(self) -> bool {
        self.backend().is_none_or(Backend::is_built_in)
    }

    /// The backend; the interpreter has none.
    pub fn backend(self) -> Option<&'static Backend> {
        const ROWS: &[(Engine, Backend)] = &BACKENDS;
        ROWS.iter().find(|(engine, _)| *engine == self).map(|(_, backend)| backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_but_the_interpreter_has_a_backend_and_a_name_of_its_own() {
        let compiles = |engine| match engine {
            Engine::Cranelift | Engine::Llvm | Engine::Mlir => true,
            Engine::Interpreter => false,
        };
        let all: Vec<Engine> = Engine::all().collect();
        assert_eq!(all.len(), 4);
        for (k, engine) in all.iter().enumerate() {
            assert_eq!(engine.backend().is_some(), compiles(*engine), "{engine:?}");
            assert!(all[..k].iter().all(|other| other.name() != engine.name()), "{engine:?}");
        }
    }
}
