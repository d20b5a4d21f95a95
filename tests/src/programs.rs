//! Test programs with their inputs in comments; [`crate::files`] says what may stand there.
//!
//! A line `//# grad f x=[1.0, 2.0] n=3` calls the function f; `//# fails f x=[] error=R01` says that f and
//! all its derivatives fail with that error. Values are JSON; `{"shape": .., "data": ..}` where a
//! dimension is 0. With `kink=true` nothing is compared with differences.

use jut_eval::{Array, Cells, Value};
use jut_ir::types::Type;
use jut_ir::{Block, Function, Program, Width};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// One `//#` line.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The function.
    pub func: String,
    /// Name and JSON of every argument.
    pub args: Vec<(String, Json)>,
    /// The code of the error that it ends in, if it does.
    pub error: Option<String>,
    /// Whether it is differentiable there, so that differences say something.
    pub smooth: bool,
}

/// All `.jut` files below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    files_of(folder, "jut")
}

/// All files below a folder whose names end in this, sorted.
pub fn files_of(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == kind) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The cases of a program text: its requests with arguments.
///
/// # Errors
/// A `//#` line that is not understood.
pub fn cases(text: &str) -> Result<Vec<Case>, String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("//#"));
    let mut cases = Vec::new();
    for line in lines {
        let mut words = words(line).into_iter();
        let verb = words.next().unwrap_or_default();
        if ["grad", "fails", "run", "cost"].contains(&verb.as_str()) {
            cases.push(Case::of(&verb, &words.collect::<Vec<_>>())?);
        }
    }
    Ok(cases)
}

impl Case {
    /// What stands behind a verb.
    ///
    /// # Errors
    /// What is not understood.
    pub fn of(verb: &str, words: &[String]) -> Result<Case, String> {
        let [func, words @ ..] = words else { return Err(format!("no function for `{verb}`")) };
        let mut case = Case { func: func.clone(), args: Vec::new(), error: None, smooth: true };
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("no = in {word}"))?;
            match name {
                "error" => case.error = Some(value.to_string()),
                "kink" => case.smooth = value != "true",
                _ => {
                    let json = serde_json::from_str(value).map_err(|e| format!("{word}: {e}"))?;
                    case.args.push((name.to_string(), json));
                }
            }
        }
        match (verb == "fails") == case.error.is_some() {
            true => Ok(case),
            false => Err(format!("`fails` has `error=`, and `{verb}` none")),
        }
    }
}

/// Words of a line; blanks inside brackets do not separate.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in line.trim().chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        match words.last_mut() {
            Some(word) if depth > 0 || c != ' ' => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The arguments of a case in the order of the parameters, sizes in brackets left out.
///
/// # Errors
/// A parameter without a value, or a value that does not fit its type.
pub fn arguments(program: &Program, func: &str, case: &Case) -> Result<Vec<Value>, String> {
    let func = program.find_func(func).ok_or_else(|| format!("no function {func}"))?;
    let func: &Function = &program.funcs[func];
    func.params[func.size_params..]
        .iter()
        .map(|p| {
            let data = &func.nvars[*p];
            let given = case.args.iter().find(|(name, _)| *name == data.name);
            let (_, json) = given.ok_or_else(|| format!("no value for {}", data.name))?;
            value(&data.ty, json).ok_or_else(|| format!("{} does not fit {json}", data.name))
        })
        .collect()
}

fn value(ty: &Type, json: &Json) -> Option<Value> {
    match ty {
        Type::Float(width) => json.as_f64().map(|x| Value::from(width.number(x))),
        Type::I64 => json.as_i64().map(Value::I64),
        Type::I32 => json.as_i64().and_then(|n| i32::try_from(n).ok()).map(Value::I32),
        Type::Bool => json.as_bool().map(Value::Bool),
        Type::Array(..) => {
            let mut dims = Vec::new();
            let mut scalars = Vec::new();
            if let Some(shape) = json.get("shape") {
                dims =
                    shape.as_array()?.iter().filter_map(Json::as_u64).map(|d| d as usize).collect();
            } else {
                let mut at = json;
                let mut element = ty;
                while let Type::Array(_, inner) = element {
                    let items = at.as_array()?;
                    dims.push(items.len());
                    at = items.first().unwrap_or(&Json::Null);
                    element = inner;
                }
                flatten(json, &mut scalars);
            }
            let mut element = ty;
            while let Type::Array(_, inner) = element {
                element = inner;
            }
            let cells = match element {
                Type::Float(width) => {
                    let numbers = scalars.iter().filter_map(Json::as_f64);
                    match width {
                        Width::Single => Cells::F32(numbers.map(|x| x as f32).collect()),
                        Width::Double => Cells::F64(numbers.collect()),
                    }
                }
                Type::I64 => Cells::I64(scalars.iter().filter_map(Json::as_i64).collect()),
                Type::I32 => {
                    let numbers = scalars.iter().filter_map(Json::as_i64);
                    Cells::I32(numbers.filter_map(|n| i32::try_from(n).ok()).collect())
                }
                Type::Bool => Cells::Bool(scalars.iter().filter_map(Json::as_bool).collect()),
                _ => return None,
            };
            Array::new(dims, cells).map(Value::Array)
        }
        Type::Tuple(_) | Type::Data(_) => None,
    }
}

fn flatten(json: &Json, scalars: &mut Vec<Json>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| flatten(item, scalars)),
        scalar => scalars.push(scalar.clone()),
    }
}

/// Whether a program computes with numbers of 32 bits.
pub fn has_single(program: &Program) -> bool {
    let mut types = program.funcs.values().flat_map(|f| f.nvars.values().map(|v| &v.ty));
    types.any(|ty| *ty == jut_ir::Type::F32)
}

/// Loads a text, with all its diagnostics as the error.
///
/// # Errors
/// The diagnostics, one per line.
pub fn load(text: &str) -> Result<Program, String> {
    let loaded = jut_text::load(text, 0);
    let say = |d: &jut_ir::Diagnostic| d.to_string();
    let all = || loaded.diagnostics.iter().map(say).collect::<Vec<_>>().join("\n");
    loaded.program.ok_or_else(all)
}

/// Statements of a block, nested ones included.
pub fn statements(block: &Block) -> usize {
    let nested = block.stmts.iter().flat_map(|s| s.rhs.blocks()).map(statements);
    block.stmts.len() + nested.sum::<usize>()
}
