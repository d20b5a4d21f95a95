//! Which backends this build has, and what others need: what `jut doctor` prints.
//!
//! The optional backends link system libraries, so they are cargo features that are off unless asked
//! for. [`backends`] says of each whether it is built in and which version, and if it is not, which
//! packages and which feature bring it.

/// A backend, as this build has it or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backend {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub what: &'static str,
    /// Its version, if it is built in.
    pub version: Option<String>,
    /// How to get it, if it is optional.
    pub how: Option<Requirement>,
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

const LLVM_PACKAGES: &[&str] =
    &["gcc", "g++", "libc6-dev", "llvm-22-dev", "libpolly-22-dev", "libzstd-dev", "zlib1g-dev"];

const MLIR_PACKAGES: &[&str] = &[
    "gcc",
    "g++",
    "libc6-dev",
    "llvm-22-dev",
    "libmlir-22-dev",
    "mlir-22-tools",
    "libpolly-22-dev",
    "libclang1-22",
    "libclang-common-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
];

/// Every backend.
///
/// ```
/// let all = jut::backends();
/// let cranelift = all.iter().find(|b| b.name == "cranelift").unwrap();
/// assert!(cranelift.version.is_some() && cranelift.how.is_none());
/// ```
pub fn backends() -> Vec<Backend> {
    let optional = |feature, packages, variable| {
        Some(Requirement { feature, packages, variable, folder: "/usr/lib/llvm-22" })
    };
    vec![
        Backend {
            name: "cranelift",
            what: "machine code in memory and object files; the default",
            version: Some(jut_cranelift::VERSION.to_owned()),
            how: None,
        },
        Backend {
            name: "llvm",
            what: "machine code that takes longer to make and runs faster",
            version: jut_llvm::version(),
            how: optional("llvm", LLVM_PACKAGES, "LLVM_SYS_221_PREFIX"),
        },
        Backend {
            name: "mlir",
            what: "programs as MLIR, lowered by its passes and compiled by LLVM",
            version: jut_llvm::version().filter(|_| jut_mlir::BUILT_IN),
            how: optional("mlir", MLIR_PACKAGES, "MLIR_SYS_220_PREFIX"),
        },
    ]
}
