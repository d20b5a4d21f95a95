//! `--out` and `--out-dir`: results as files instead of text.

use crate::options::Outputs;
use jut::{Compiled, Error, Result, Role, Value, npy};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The files of the results that were written, by position.
pub type Files = BTreeMap<usize, String>;

/// Writes what is asked for.
pub fn write(
    options: &Outputs,
    compiled: &Compiled,
    values: &[Value],
    derivative: &str,
) -> Result<Files> {
    let mut paths: BTreeMap<usize, PathBuf> = BTreeMap::new();
    if let Some(directory) = &options.out_dir {
        std::fs::create_dir_all(directory).map_err(|e| Error::File(directory.clone(), e))?;
        for (k, output) in compiled.outputs().enumerate() {
            let stem = match output.role {
                Role::Value => output.name.to_string(),
                Role::Derivative => format!("{derivative}.{}", output.name),
            };
            // A tuple or record is not one array.
            let array =
                !matches!(values.get(k), Some(Value::Tuple(_) | Value::Data(..) | Value::List(_)));
            paths.insert(
                k,
                directory.join(format!("{stem}.{}", if array { "npy" } else { "json" })),
            );
        }
    }
    for text in &options.out {
        let (name, path) = text
            .split_once('=')
            .ok_or_else(|| Error::Input(format!("`{text}` is not of the form NAME=FILE")))?;
        paths.insert(find(compiled, name.trim(), derivative)?, PathBuf::from(path.trim()));
    }
    let mut files = Files::new();
    for (k, path) in paths {
        if let Some(value) = values.get(k) {
            write_one(compiled, k, value, &path)?;
            files.insert(k, path.display().to_string());
        }
    }
    Ok(files)
}

/// The result with a name: `gradient.x` is a derivative, `x` one too if there is one, else a result.
fn find(compiled: &Compiled, name: &str, derivative: &str) -> Result<usize> {
    let prefix = format!("{derivative}.");
    let (name, only) = match name.strip_prefix(&prefix) {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let with = |role: Role| compiled.outputs().position(|o| o.name == name && o.role == role);
    let own = if only { None } else { with(Role::Value) };
    with(Role::Derivative).or(own).ok_or_else(|| {
        let names: Vec<&str> = compiled.outputs().map(|o| o.name).collect();
        Error::Request(format!("there is no result `{name}`, only {}", names.join(", ")))
    })
}

fn write_one(compiled: &Compiled, k: usize, value: &Value, path: &Path) -> Result<()> {
    let failed = |e| Error::File(path.to_path_buf(), e);
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => {
            let file = File::create(path).map_err(failed)?;
            npy::write(BufWriter::new(file), value).map_err(failed)
        }
        Some("json") => {
            std::fs::write(path, format!("{}\n", compiled.write_json(k, value))).map_err(failed)
        }
        _ => Err(Error::Request(format!(
            "{}: results are written as .npy or .json, by the ending of the file",
            path.display()
        ))),
    }
}
