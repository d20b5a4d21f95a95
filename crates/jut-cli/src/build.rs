//! `jut build`: an object file, its C header, and the runtime it is linked with.

use crate::options::{Build, Format, MathLibrary};
use crate::output::{print, print_json};
use crate::subject::{functions, time_passes};
use jut::{BuildOptions, Error, Function, Machine, Package, Request, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Builds, writes and says what was written; gives the exit code.
pub fn build(options: &Build) -> Result<u8> {
    let engine = options.engine.0;
    let functions = functions(&options.function, &options.more)?;
    let functions: Vec<Function> = functions.into_iter().map(|f| f.engine(engine)).collect();
    let machine = match (&options.triple, options.native) {
        (Some(triple), _) => Some(Machine::Any(triple.parse().map_err(|reason| {
            Error::Request(format!("`{triple}` is not a target triple: {reason}"))
        })?)),
        (None, true) => Some(Machine::Host),
        (None, false) => None,
    };
    let requests: Vec<Request> = options.derivatives.iter().map(|d| d.0).collect();
    for function in &functions {
        time_passes(&options.function, function, &requests)?;
    }
    let all: Vec<(&Function, &[Request])> =
        functions.iter().map(|f| (f, requests.as_slice())).collect();
    let object = jut::build(
        &all,
        &BuildOptions {
            machine,
            math: options.math.library(),
            prefix: options.prefix.clone(),
            stack: options.stack,
        },
    )?;
    // What is asked for first is what the header is beside, and without anything, an object is.
    let libraries = [&options.archive, &options.shared];
    let library = libraries.into_iter().flatten().next();
    let output = match (&options.output, library) {
        (None, None) => Some(PathBuf::from(format!("{}.o", functions[0].name()))),
        (output, _) => output.clone(),
    };
    let first = output.as_ref().or(library).cloned().unwrap_or_default();
    let header = options.header.clone().unwrap_or_else(|| header_beside(&first));
    let mut files: Vec<(PathBuf, Vec<u8>)> = vec![(header.clone(), object.header().into())];
    let mut missing = None;
    if let Some(output) = &output {
        files.insert(0, (output.clone(), object.bytes().to_vec()));
    }
    if options.math == MathLibrary::Jut && (output.is_some() || options.runtime.is_some()) {
        let beside = first.with_file_name("libjut_runtime.a");
        match object.runtime() {
            Ok(Some(bytes)) => files.push((options.runtime.clone().unwrap_or(beside), bytes)),
            Ok(None) => {}
            // The object is good; who asked for the runtime is told why there is none.
            Err(error) if options.runtime.is_none() => missing = Some(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    if let Some(archive) = &options.archive {
        files.push((archive.clone(), object.archive()?));
    }
    if let Some(library) = options.shared.as_ref().or(options.archive.as_ref()) {
        let package = Package::new(&object, library, &header)?;
        if let Some(at) = &options.pkg_config {
            files.push((at.clone(), package.pkg_config(at)?.into()));
        }
        if let Some(at) = &options.cmake {
            files.push((at.clone(), package.cmake(at)?.into()));
        }
    }
    for (path, bytes) in &files {
        write(path, bytes)?;
    }
    let mut written: Vec<String> =
        files.iter().map(|(path, _)| path.display().to_string()).collect();
    if let Some(shared) = &options.shared {
        object.link_shared(shared, options.linker.as_deref())?;
        written.push(shared.display().to_string());
    }
    match options.function.format {
        Format::Text => {
            print(&format!("wrote {}\n", written.join(", ")));
            if let Some(reason) = &missing {
                print(&format!("no libjut_runtime.a: {reason}\n"));
            }
        }
        Format::Json => print_json(&json!({
            "written": written,
            "target": object.target().to_string(),
            "runtime_missing": missing,
        })),
    }
    Ok(0)
}

/// `loss.h` for `loss.o`, `libloss.a` and `libloss.so`.
fn header_beside(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let object = path.extension().is_some_and(|e| e == "o" || e == "obj");
    let stem = if object { &stem } else { stem.strip_prefix("lib").unwrap_or(&stem) };
    path.with_file_name(format!("{stem}.h"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| Error::File(path.to_path_buf(), error))
}
