//! `jut build`: an object file, its C header, and the runtime it is linked with.

use crate::commands::{function, time_passes};
use crate::options::{Build, Format, MathLibrary};
use crate::output::{print, print_json};
use jut::{BuildOptions, Error, Machine, Product, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Builds, writes and says what was written; gives the exit code.
pub fn build(options: &Build) -> Result<u8> {
    let function = function(&options.function)?;
    let machine = match (&options.triple, options.native) {
        (Some(triple), _) => Some(Machine::Any(triple.parse().map_err(|reason| {
            Error::Request(format!("`{triple}` is not a target triple: {reason}"))
        })?)),
        (None, true) => Some(Machine::Host),
        (None, false) => None,
    };
    let products: Vec<Product> = options.derivatives.iter().map(|d| d.product()).collect();
    time_passes(&options.function, &function, &products)?;
    let object = function.build(
        &products,
        &BuildOptions { machine, math: options.math.library(), prefix: options.prefix.clone() },
    )?;
    let default = PathBuf::from(format!("{}.o", function.name()));
    let output = options.output.clone().unwrap_or(default);
    let header = options.header.clone().unwrap_or_else(|| output.with_extension("h"));
    let mut files: Vec<(PathBuf, Vec<u8>)> =
        vec![(output.clone(), object.bytes().to_vec()), (header, object.header().into())];
    let mut missing = None;
    if options.math == MathLibrary::Jut {
        let beside = output.with_file_name("libjut_runtime.a");
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
    for (path, bytes) in &files {
        write(path, bytes)?;
    }
    let written = files.iter().map(|(path, _)| path.display().to_string());
    match options.function.format {
        Format::Text => {
            let list: Vec<String> = written.collect();
            print(&format!("wrote {}\n", list.join(", ")));
            if let Some(reason) = &missing {
                print(&format!("no libjut_runtime.a: {reason}\n"));
            }
        }
        Format::Json => print_json(&json!({
            "written": written.collect::<Vec<_>>(),
            "target": object.target().to_string(),
            "runtime_missing": missing,
        })),
    }
    Ok(0)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| Error::File(path.to_path_buf(), error))
}
