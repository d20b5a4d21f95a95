//! What runs functions: the interpreter, and the backends, a row each.
//!
//! A new backend is a crate with a `BACKEND`, and a row of [`BACKENDS`] with its [`Engine`]. Stages,
//! the command line, `--check`, `jut doctor` and the tests read them.

use jut_native::Backend;

/// What runs a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Engine {
    /// Native code, made by Cranelift in this process.
    Cranelift,
    /// Native code, made by LLVM in this process: takes longer to compile and runs faster. Only in
    /// builds with the feature `llvm`; others refuse it.
    Llvm,
    /// Native code, made by LLVM in this process of what MLIR's passes make of MLIR: the longest to
    /// compile. Only in builds with the feature `mlir`; others refuse it.
    Mlir,
    /// Cranelift's code at once, and LLVM's in its place once a thread in the background has made it, which begins when a function has
    /// run for a twentieth of a second. The results have the same bits. Only in builds with the feature `llvm`, where it is the
    /// default; others refuse it. Objects made ahead of time are Cranelift's.
    Tiered,
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

/// Two of the backends, one after the other.
const TIERED: Backend = Backend {
    name: "tiered",
    about: "machine code by cranelift, replaced by llvm's while it is in use",
    version: jut_llvm::BACKEND.version,
    requirement: jut_llvm::BACKEND.requirement,
    // Without LLVM, the refusal that says how to get it.
    compile: match jut_llvm::BUILT_IN {
        true => jut_cranelift::BACKEND.compile,
        false => jut_llvm::BACKEND.compile,
    },
    then: Some(&jut_llvm::BACKEND),
    ..jut_cranelift::BACKEND
};

impl Default for Engine {
    /// [`Engine::Tiered`] where LLVM is built in, and Cranelift elsewhere.
    fn default() -> Engine {
        if jut_llvm::BUILT_IN { Engine::Tiered } else { Engine::Cranelift }
    }
}

impl Engine {
    /// All engines, those that are not built in too, the interpreter last.
    pub fn all() -> impl Iterator<Item = Engine> {
        let single = BACKENDS.iter().map(|(engine, _)| *engine);
        single.chain([Engine::Tiered, Engine::Interpreter])
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

    /// The backend; the interpreter has none. That of [`Engine::Tiered`] is Cranelift's, with another one for later.
    pub fn backend(self) -> Option<&'static Backend> {
        const ROWS: &[(Engine, Backend)] = &BACKENDS;
        if self == Engine::Tiered {
            return Some(&TIERED);
        }
        ROWS.iter().find(|(engine, _)| *engine == self).map(|(_, backend)| backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_but_the_interpreter_has_a_backend_and_a_name_of_its_own() {
        let compiles = |engine| match engine {
            Engine::Cranelift | Engine::Llvm | Engine::Mlir | Engine::Tiered => true,
            Engine::Interpreter => false,
        };
        let all: Vec<Engine> = Engine::all().collect();
        assert_eq!(all.len(), 5);
        for (k, engine) in all.iter().enumerate() {
            assert_eq!(engine.backend().is_some(), compiles(*engine), "{engine:?}");
            assert!(all[..k].iter().all(|other| other.name() != engine.name()), "{engine:?}");
        }
    }
}
