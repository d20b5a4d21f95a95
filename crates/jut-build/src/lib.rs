//! Derivatives for build scripts.
//!
//! A crate that wants a gradient compiles the program when it is built, and calls machine code when
//! it runs: it depends on `jut-build` in its build script and on nothing of jut otherwise. Three
//! files, and the program:
//!
//! ```toml
//! [build-dependencies]
//! jut-build = "0.1"
//! ```
//!
//! ```no_run
//! // build.rs
//! use jut_build::{Build, Request};
//!
//! fn main() {
//!     Build::new("src/loss.jut")
//!         .function("loss", &["w"], &[Request::ValueAndGradient, Request::HessianProduct])
//!         .write();
//! }
//! ```
//!
//! ```text
//! // src/main.rs; loss.jut has: def loss[n](w: [n]f64, x: [n]f64) -> f64 = ..
//! mod loss {
//!     include!(concat!(env!("OUT_DIR"), "/loss.rs"));
//! }
//!
//! fn main() -> Result<(), loss::Error> {
//!     let mut workspace = loss::Workspace::new();
//!     let mut gradient = [0.0; 3];
//!     let value = loss::loss_value_grad(&[1.0, 2.0, 3.0], &[0.5; 3], &mut gradient, &mut workspace)?;
//!     println!("{value} {gradient:?}");
//!     Ok(())
//! }
//! ```
//!
//! The module has one safe function for each product. Sizes that are the length of a slice are taken
//! from it, others are parameters; every length is checked, and errors of the program are values with
//! the place in it. The memory of calls is a workspace, which each thread has its own of; when it has
//! grown, calls allocate nothing.
//!
//! A file that ends in `.rs` is one of ordinary Rust functions, `Build::new("src/model.rs")`, as they stand: the crate compiles it as a module of its own,
//! and the build script reads it. With `#[jut::differentiable]` before them their derivatives are called by typed functions as well, without it
//! nothing of jut is there when the program runs. See [`rust`] for what a build script can know of them; an error names the place in the Rust file.
//!
//! The objects are for cargo's target. If the program does not compile, its diagnostics are what the
//! build prints. It is compiled again when it changes, or a module that it uses.
//!
//! *Ensures*: the results have the bits of `jut run` (with [`MathLibrary::Jut`], the default). *Cost*:
//! no work at run time but the call; a few hundred kilobytes for the runtime.

mod module;
pub mod rust;

pub use jut::{Error, JacobianMode, MathLibrary, Policy, Request, Result};

use jut::{BuildOptions, Machine, Model, Triple, archive};
use std::path::{Path, PathBuf};

/// What a build script makes of one program.
#[derive(Clone, Debug)]
pub struct Build {
    file: PathBuf,
    functions: Vec<Differentiated>,
    math: MathLibrary,
    policy: Policy,
}

/// A function and what is made of it.
#[derive(Clone, Debug)]
struct Differentiated {
    function: String,
    wrt: Vec<String>,
    requests: Vec<Request>,
}

/// A static library and the Rust module that calls it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What the library is called: `NAME` of `libNAME.a`, unique among the crates of a program.
    pub library: String,
    /// The library.
    pub archive: Vec<u8>,
    /// The module.
    pub module: String,
    /// The files of the program.
    pub files: Vec<PathBuf>,
}

impl Build {
    /// Compiles the program in a file, or functions of a Rust file, which are those that [`Build::function`] names. Modules that a program uses are beside it.
    pub fn new(file: impl AsRef<Path>) -> Build {
        Build {
            file: file.as_ref().to_path_buf(),
            functions: Vec::new(),
            math: MathLibrary::default(),
            policy: Policy::default(),
        }
    }

    /// A function or derivatives of it, differentiated with respect to some parameters (to all that have a
    /// float, if none is named; of a Rust function, to those that its attribute names).
    #[must_use]
    pub fn function(mut self, name: &str, wrt: &[&str], requests: &[Request]) -> Build {
        self.functions.push(Differentiated {
            function: name.to_owned(),
            wrt: wrt.iter().map(|name| (*name).to_owned()).collect(),
            requests: requests.to_vec(),
        });
        self
    }

    /// Which mathematical functions are called: those of the system need no runtime, so they go with
    /// every target.
    #[must_use]
    pub fn math(mut self, math: MathLibrary) -> Build {
        self.math = math;
        self
    }

    /// How much gradients store.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Build {
        self.policy = policy;
        self
    }

    /// Writes library and module to cargo's `OUT_DIR` and tells cargo what to link and to watch; the
    /// module is named after the program's file. To be called by a build script: it ends the process
    /// if the program does not compile, with its diagnostics.
    pub fn write(self) {
        println!("cargo::rerun-if-changed={}", self.file.display());
        if let Err(error) = self.try_write() {
            eprint!("{}", error.render(false));
            std::process::exit(1);
        }
    }

    /// [`Build::write`] with the error as a value.
    ///
    /// # Errors
    /// What is wrong with the program or a request, or a file that cannot be written.
    pub fn try_write(&self) -> Result<()> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|_| {
                Error::Request(format!("there is no {name}: this is for a build script of cargo"))
            })
        };
        let out = PathBuf::from(variable("OUT_DIR")?);
        let target = variable("TARGET")?;
        let package = format!("{}_{}", variable("CARGO_PKG_NAME")?, variable("CARGO_PKG_VERSION")?);
        let made = self.generate(&package, &target)?;
        for file in &made.files {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let write = |name: String, bytes: &[u8]| {
            let path = out.join(name);
            std::fs::write(&path, bytes).map_err(|error| Error::File(path, error))
        };
        write(format!("{}.rs", self.stem()), made.module.as_bytes())?;
        let library = match target.ends_with("-msvc") {
            true => format!("{}.lib", made.library),
            false => format!("lib{}.a", made.library),
        };
        write(library, &made.archive)?;
        println!("cargo::rustc-link-search=native={}", out.display());
        println!("cargo::rustc-link-lib=static={}", made.library);
        if self.math == MathLibrary::System && !target.contains("windows") {
            println!("cargo::rustc-link-lib=m");
        }
        Ok(())
    }

    /// Library and module for a target, without writing anything. The package's name keeps apart what
    /// several crates of one program make.
    ///
    /// # Errors
    /// What is wrong with the program or a request; [`Error::Backend`] if there is no runtime for the
    /// target.
    pub fn generate(&self, package: &str, target: &str) -> Result<Generated> {
        let triple: Triple = target.parse().map_err(|reason| {
            Error::Request(format!("`{target}` is not a target triple: {reason}"))
        })?;
        let wanted: Vec<&str> = self.functions.iter().map(|w| w.function.as_str()).collect();
        let is_rust = self.file.extension().is_some_and(|kind| kind == "rs");
        let of_rust = match is_rust {
            true => Some(rust::program(&self.file, &wanted)?),
            false => None,
        };
        let model = match &of_rust {
            Some(of_rust) => of_rust.model.clone(),
            None => Model::from_file(&self.file)?,
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let library: String = format!("jut_{package}_{}", self.stem()).chars().map(plain).collect();
        let mut objects = Vec::new();
        for (k, wanted) in self.functions.iter().enumerate() {
            let mut names: Vec<&str> = wanted.wrt.iter().map(String::as_str).collect();
            let own = of_rust.as_ref().and_then(|of_rust| of_rust.functions.get(k));
            if let Some(own) = own {
                names = own.by(&names)?;
            }
            let name = own.map_or(&wanted.function, |own| &own.name);
            let mut function = model.function(name)?.policy(self.policy);
            if !names.is_empty() {
                function = function.wrt(&names)?;
            }
            let options = BuildOptions {
                machine: Some(Machine::Any(triple.clone())),
                math: self.math,
                prefix: Some(format!("{library}_{}", wanted.function)),
                ..BuildOptions::default()
            };
            objects.push(function.build(&wanted.requests, &options)?);
        }
        let functions: Vec<_> = objects.iter().flat_map(|o| o.functions()).collect();
        let module = module::write(&self.file.display().to_string(), &functions, self.math)?;
        let files = match is_rust {
            true => vec![self.file.clone()],
            false => model.sources().iter().map(|source| PathBuf::from(&source.name)).collect(),
        };
        Ok(Generated { library, archive: archive(&triple, &objects)?, module, files })
    }

    /// The program's file name without its ending.
    fn stem(&self) -> String {
        self.file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }
}
