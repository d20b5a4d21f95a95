//! Libraries out of objects, and what tells build systems how to use them.
//!
//! | what | made by |
//! |---|---|
//! | static archive | [`Object::archive`], here in this process |
//! | shared library | [`Object::link_shared`], by the C compiler of the system |
//! | `NAME.pc` for pkg-config | [`Package::pkg_config`] |
//! | `NAME-config.cmake` for CMake | [`Package::cmake`] |
//!
//! Both files find the library and the header relative to themselves, where they lie in the same
//! directory: such a directory can be moved.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::{BuildOptions, Model, Package, Request};
//! use std::path::Path;
//!
//! let model = Model::from_text("def half_square(x: f64) -> f64 = x * x / 2.0")?;
//! let object = model.function("half_square")?.build(&[Request::Value], &BuildOptions::default())?;
//! let package = Package::new(&object, Path::new("libhalf.a"), Path::new("half.h"))?;
//! assert!(package.pkg_config(Path::new("half.pc"))?.contains("Libs: -L${pcfiledir} -lhalf\n"));
//! # Ok(())
//! # }
//! ```

use super::{MathLibrary, Object, Triple};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use target_lexicon::{Architecture, BinaryFormat, Environment, OperatingSystem};

impl Object {
    /// Links a shared library of the object and the runtime with a C compiler: the given one, or the
    /// environment's `CC`, or `cc`, or the usual cross compiler for the target. The library exports
    /// the functions of the header and those of the runtime, and uses its own runtime whatever else
    /// the process has loaded.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no runtime for the target, no compiler, or it fails; the text
    /// says what to do, or is what the compiler said.
    pub fn link_shared(&self, to: &Path, compiler: Option<&str>) -> Result<()> {
        let compiler = match compiler {
            Some(compiler) => compiler.to_owned(),
            None => default_compiler(self.target())?,
        };
        let file = |path: &Path| {
            let path = path.to_owned();
            move |error| Error::File(path, error)
        };
        let place = tempfile::tempdir().map_err(file(&std::env::temp_dir()))?;
        let mut objects: Vec<PathBuf> = Vec::new();
        let mut write = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).map_err(file(&path))?;
            objects.push(path);
            Ok::<_, Error>(())
        };
        write("jut_functions.o", self.bytes())?;
        if self.math() == MathLibrary::Jut {
            write("jut_runtime.o", jut_static::runtime(self.target()).map_err(Error::Backend)?)?;
        }
        let name = to.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let mut command = Command::new(&compiler);
        match self.target().binary_format {
            BinaryFormat::Macho => {
                command.args(["-dynamiclib", "-install_name", &format!("@rpath/{name}")]);
            }
            BinaryFormat::Coff => {
                command.arg("-shared");
            }
            // Calls between the functions and the runtime stay within the library.
            _ => {
                command.args(["-shared", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack"]);
                command.arg(format!("-Wl,-soname,{name}"));
            }
        }
        command.arg("-o").arg(to).args(objects);
        if self.math() == MathLibrary::System {
            command.arg("-lm");
        }
        let output = command.output().map_err(|error| {
            Error::Backend(format!(
                "a shared library needs a C compiler, and `{compiler}` does not start ({error}): \
                 install one, or name another (--linker)"
            ))
        })?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::Backend(format!(
                "`{compiler}` cannot link the shared library:\n{}",
                String::from_utf8_lossy(&output.stderr).trim_end()
            ))),
        }
    }
}

/// The compiler that links for a target.
fn default_compiler(target: &Triple) -> Result<String> {
    let host = Triple::host();
    let key = |t: &Triple| (t.architecture, t.operating_system, t.binary_format);
    if key(target) == key(&host) {
        return Ok(std::env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or("cc".into()));
    }
    let architecture = match target.architecture {
        Architecture::Aarch64(_) => "aarch64",
        _ => "x86_64",
    };
    match (target.operating_system, target.environment) {
        (OperatingSystem::Linux, Environment::Musl) => Ok(format!("{architecture}-linux-musl-gcc")),
        (OperatingSystem::Linux, _) => Ok(format!("{architecture}-linux-gnu-gcc")),
        (OperatingSystem::Windows, _) => Ok(format!("{architecture}-w64-mingw32-gcc")),
        _ => Err(Error::Backend(format!(
            "there is no usual cross compiler for {target}: name one (--linker), or take the static \
             archive (--static), which needs none"
        ))),
    }
}

/// A library with its header, for build systems.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    object: &'a Object,
    library: PathBuf,
    header: PathBuf,
}

impl Package<'_> {
    /// A package of an object and the two files that were made of it.
    ///
    /// # Errors
    /// [`Error::Request`] if a path does not name a file.
    pub fn new<'a>(object: &'a Object, library: &Path, header: &Path) -> Result<Package<'a>> {
        for path in [library, header] {
            if path.file_name().is_none() {
                return Err(Error::Request(format!("{} does not name a file", path.display())));
            }
        }
        Ok(Package { object, library: library.to_owned(), header: header.to_owned() })
    }

    /// The text of a file for pkg-config that is to be at the given place.
    ///
    /// # Errors
    /// [`Error::File`] if a directory cannot be found.
    pub fn pkg_config(&self, at: &Path) -> Result<String> {
        let escaped = |text: String| {
            let special = |c: char| c.is_whitespace() || "\\\"'#".contains(c);
            text.chars().fold(String::new(), |mut out, c| {
                out.extend(special(c).then_some('\\'));
                out.push(c);
                out
            })
        };
        let place = |of: &Path| -> Result<String> {
            Ok(match elsewhere(of, at)? {
                None => "${pcfiledir}".to_owned(),
                Some(path) => escaped(path),
            })
        };
        let libraries = match self.library_name() {
            Some(name) => format!("-L{} -l{}", place(&self.library)?, escaped(name)),
            None => format!("{}/{}", place(&self.library)?, escaped(file_name(&self.library))),
        };
        let private = match self.object.math() {
            MathLibrary::Jut => "",
            MathLibrary::System if self.is_shared() => "Libs.private: -lm\n",
            MathLibrary::System => " -lm\n",
        };
        let libraries = match private.strip_prefix(' ') {
            Some(_) => format!("{libraries}{private}"),
            None => format!("{libraries}\n{private}"),
        };
        Ok(format!(
            "Name: {}\nDescription: Derivatives compiled by jut for {}\nVersion: {}\n\
             Cflags: -I{}\nLibs: {libraries}",
            self.name(at, &[".pc"]).unwrap_or_else(|| self.object.prefix().to_owned()),
            self.object.target(),
            env!("CARGO_PKG_VERSION"),
            place(&self.header)?,
        ))
    }

    /// The text of a file for CMake's `find_package` that is to be at the given place, which is named
    /// `NAME-config.cmake` or `NAMEConfig.cmake`. It defines the target `NAME::NAME`.
    ///
    /// # Errors
    /// [`Error::Request`] if the file has another name, [`Error::File`] if a directory cannot be
    /// found.
    pub fn cmake(&self, at: &Path) -> Result<String> {
        let name = self.name(at, &["-config.cmake", "Config.cmake"]).ok_or_else(|| {
            Error::Request(format!(
                "CMake finds a package NAME by NAME-config.cmake; {} is not named like that",
                at.display()
            ))
        })?;
        let escaped = |text: &str| {
            text.chars().fold(String::new(), |mut out, c| {
                out.extend("\\\"$;".contains(c).then_some('\\'));
                out.push(c);
                out
            })
        };
        let place = |of: &Path| -> Result<String> {
            Ok(match elsewhere(of, at)? {
                None => "${CMAKE_CURRENT_LIST_DIR}".to_owned(),
                Some(path) => escaped(&path),
            })
        };
        let kind = if self.is_shared() { "SHARED" } else { "STATIC" };
        let library = format!("{}/{}", place(&self.library)?, escaped(&file_name(&self.library)));
        let mut properties = format!(
            "    IMPORTED_LOCATION \"{library}\"\n    INTERFACE_INCLUDE_DIRECTORIES \"{}\"\n",
            place(&self.header)?
        );
        if !self.is_shared() {
            properties += "    IMPORTED_LINK_INTERFACE_LANGUAGES C\n";
            if self.object.math() == MathLibrary::System {
                properties += "    INTERFACE_LINK_LIBRARIES m\n";
            }
        } else if self.object.target().binary_format == BinaryFormat::Coff {
            // Linkers for this format that read no library need its list of names.
            properties += &format!("    IMPORTED_IMPLIB \"{library}\"\n");
        }
        Ok(format!(
            "# Made by jut {} for {}.\n#\n#   find_package({name} CONFIG REQUIRED)\n\
             #   target_link_libraries(your_program {name}::{name})\n\
             if(NOT TARGET {name}::{name})\n  add_library({name}::{name} {kind} IMPORTED)\n  \
             set_target_properties({name}::{name} PROPERTIES\n{properties}  )\nendif()\n",
            env!("CARGO_PKG_VERSION"),
            self.object.target(),
        ))
    }

    /// What a file is named before its usual ending.
    fn name(&self, file: &Path, endings: &[&str]) -> Option<String> {
        let name = file_name(file);
        let stem = endings.iter().find_map(|ending| name.strip_suffix(ending))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
        (!stem.is_empty() && stem.chars().all(plain)).then(|| stem.to_owned())
    }

    fn is_shared(&self) -> bool {
        let ending = self.library.extension().map(|e| e.to_string_lossy().into_owned());
        ending.is_some_and(|e| ["so", "dylib", "dll"].contains(&e.as_str()))
    }

    /// What a linker calls the library, if it finds it by a name.
    fn library_name(&self) -> Option<String> {
        let name = file_name(&self.library);
        let name = name.strip_prefix("lib")?;
        let ending = [".a", ".so", ".dylib"].iter().find_map(|e| name.strip_suffix(e))?;
        (!ending.is_empty()).then(|| ending.to_owned())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// The directory of a file, in full, unless another file is in it, too.
fn elsewhere(of: &Path, beside: &Path) -> Result<Option<String>> {
    let directory = |path: &Path| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::path::absolute(parent).map_err(|error| Error::File(parent.to_owned(), error))
    };
    let (of, beside) = (directory(of)?, directory(beside)?);
    Ok((of != beside).then(|| of.display().to_string()))
}
