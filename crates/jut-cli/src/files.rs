//! `--out` and `--out-dir`: results as files instead of text.

use crate::options::Outputs;
use crate::output::{Files, Part, write_json};
use jut::{Compiled, Error, Result, Role, Value, npy};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Writes what is asked for.
pub fn write(options: &Outputs, parts: &[Part]) -> Result<Files> {
    let mut paths: BTreeMap<(usize, usize), PathBuf> = BTreeMap::new();
    if let Some(directory) = &options.out_dir {
        std::fs::create_dir_all(directory).map_err(|e| Error::File(directory.clone(), e))?;
        for (number, part) in parts.iter().enumerate() {
            for (k, (output, value)) in part.compiled.outputs().zip(part.values).enumerate() {
                let stem = match output.role {
                    Role::Value => output.name.to_string(),
                    Role::Derivative => format!("{}.{}", part.derivative, output.name),
                };
                // A tuple or record is not one array.
                let array = !matches!(value, Value::Tuple(_) | Value::Data(..) | Value::List(_));
                let end = if array { "npy" } else { "json" };
                paths.insert((number, k), directory.join(format!("{stem}.{end}")));
            }
        }
    }
    for text in &options.out {
        let (name, path) = text
            .split_once('=')
            .ok_or_else(|| Error::Input(format!("`{text}` is not of the form NAME=FILE")))?;
        paths.insert(find(parts, name.trim())?, PathBuf::from(path.trim()));
    }
    let mut files = Files::new();
    for ((number, k), path) in paths {
        if let Some(part) = parts.get(number)
            && let Some(value) = part.values.get(k)
        {
            write_one(part.compiled, k, value, &path)?;
            files.insert((number, k), path.display().to_string());
        }
    }
    Ok(files)
}

/// The result with a name: `gradient.x` is a derivative; `x` one too if there is one, the last of several
/// kinds, else a result.
fn find(parts: &[Part], name: &str) -> Result<(usize, usize)> {
    let derivative = |k: usize| {
        let part = &parts[k];
        let own = name.strip_prefix(part.derivative).and_then(|rest| rest.strip_prefix('.'));
        let own = own.unwrap_or(name);
        let is = |o: jut::Port| o.name == own && o.role == Role::Derivative;
        part.compiled.outputs().position(is).map(|at| (k, at))
    };
    let value = |k: usize| {
        let is = |o: jut::Port| o.name == name && o.role == Role::Value;
        parts[k].compiled.outputs().position(is).map(|at| (k, at))
    };
    let found = (0..parts.len()).rev().find_map(derivative);
    found.or_else(|| (0..parts.len()).find_map(value)).ok_or_else(|| {
        let names = parts.iter().flat_map(|part| {
            part.compiled.outputs().map(|o| match o.role {
                Role::Value => o.name.to_string(),
                Role::Derivative => format!("{}.{}", part.derivative, o.name),
            })
        });
        let names = names.collect::<Vec<_>>().join(", ");
        Error::Request(format!("there is no result `{name}`, only {names}"))
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
            let file = BufWriter::new(File::create(path).map_err(failed)?);
            write_json(file, &compiled.view_json(k, value)?).map_err(failed)
        }
        _ => Err(Error::Request(format!(
            "{}: results are written as .npy or .json, by the ending of the file",
            path.display()
        ))),
    }
}
