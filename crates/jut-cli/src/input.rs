//! Arguments from the command line, from JSON, from CSV and from `.npy` files.

use csv::{ReaderBuilder, StringRecord};
use jut::json::{Arguments, Given};
use jut::{Error, Result, Value, npy};
use serde_json::{Number, Value as Json};
use std::path::Path;

/// The arguments of a call: those of the file, then those of the command line on top.
///
/// `rank` says of a parameter how many dimensions it has.
pub fn arguments(
    file: Option<&Path>,
    given: &[String],
    suffix: &str,
    rank: &dyn Fn(&str) -> Option<usize>,
) -> Result<Arguments> {
    let mut all = match file {
        None => Arguments::new(),
        Some(path) => match json_file(path)? {
            Json::Object(map) => map.into_iter().map(|(k, v)| (k, Given::Json(v))).collect(),
            _ => {
                let text =
                    format!("{}: not a JSON object with one key per parameter", path.display());
                return Err(Error::Input(text));
            }
        },
    };
    for text in given {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Error::Input(format!("`{text}` is not of the form NAME=VALUE")))?;
        let key = format!("{}{suffix}", name.trim());
        let rank = rank(&key);
        all.insert(key, value_of(value.trim(), rank)?);
    }
    Ok(all)
}

fn value_of(text: &str, rank: Option<usize>) -> Result<Given> {
    if let Some(path) = text.strip_prefix('@') {
        let (path, columns) = match path.rsplit_once('#') {
            Some((path, columns)) => (path, Some(columns)),
            None => (path, None),
        };
        let path = Path::new(path);
        let ends_in = |end: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
        return match (ends_in("npy"), ends_in("csv")) {
            (true, _) => npy_file(path, rank).map(Given::Value),
            (_, true) => csv_file(path, columns, rank).map(Given::Json),
            _ => json_file(path).map(Given::Json),
        };
    }
    match jut::json::parse(text) {
        Ok(json) => Ok(Given::Json(json)),
        Err(_) if matches!(text, "inf" | "-inf") => Ok(Given::Json(Json::from(text))),
        Err(error) => Err(Error::Input(format!("`{text}` is not JSON: {error}"))),
    }
}

/// An array as NumPy saves it, of the parameter's rank.
fn npy_file(path: &Path, rank: Option<usize>) -> Result<Value> {
    let wrong = |text: String| Error::Input(format!("{}: {text}", path.display()));
    let file = std::fs::File::open(path).map_err(|e| Error::File(path.to_path_buf(), e))?;
    let value = npy::read(file).map_err(|e| wrong(e.to_string()))?;
    let shape: &[usize] = match &value {
        Value::F64s(a) => &a.shape,
        Value::I64s(a) => &a.shape,
        Value::Bools(a) => &a.shape,
        _ => &[],
    };
    match rank {
        Some(rank) if rank != shape.len() => Err(wrong(format!(
            "an array of shape {shape:?} has rank {}, the parameter has rank {rank}",
            shape.len()
        ))),
        _ => Ok(value),
    }
}

fn json_file(path: &Path) -> Result<Json> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::File(path.to_path_buf(), e))?;
    jut::json::parse(&text).map_err(|e| Error::Input(format!("{}: {e}", path.display())))
}

/// A table of numbers. The first line may name the columns. Which rank the array has is the
/// parameter's: one column (or one row) is a vector, and a matrix keeps its rows.
fn csv_file(path: &Path, columns: Option<&str>, rank: Option<usize>) -> Result<Json> {
    let wrong = |text: String| Error::Input(format!("{}: {text}", path.display()));
    let file = std::fs::File::open(path).map_err(|e| Error::File(path.to_path_buf(), e))?;
    let mut reader = ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(file);
    let mut header: Option<StringRecord> = None;
    let mut rows: Vec<Vec<Json>> = Vec::new();
    for (k, record) in reader.records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        if k == 0 && record.iter().any(|cell| number(cell).is_none()) {
            header = Some(record);
            continue;
        }
        let range = column_range(columns, header.as_ref(), record.len()).map_err(&wrong)?;
        let cells = record.iter().enumerate().filter(|(j, _)| range.contains(j));
        let row = cells.map(|(j, cell)| {
            number(cell)
                .ok_or_else(|| wrong(format!("line {}, column {j}: `{cell}` is no number", k + 1)))
        });
        rows.push(row.collect::<Result<_>>()?);
    }
    match rank {
        Some(2) => Ok(rows.into_iter().map(Json::from).collect()),
        Some(1) if rows.len() == 1 => Ok(Json::from(rows.remove(0))),
        Some(1) if rows.iter().all(|row| row.len() == 1) => {
            Ok(rows.into_iter().flatten().collect())
        }
        Some(0) if rows.len() == 1 && rows[0].len() == 1 => Ok(rows.remove(0).remove(0)),
        Some(rank) => Err(wrong(format!(
            "a table of {} rows is not an array of rank {rank}; choose a column with #NAME",
            rows.len()
        ))),
        None => Err(wrong("no parameter of this name".into())),
    }
}

/// A cell as JSON: an integer if it is one, so that it fits `i64` and `f64`.
fn number(cell: &str) -> Option<Json> {
    if let Ok(integer) = cell.parse::<i64>() {
        return Some(Json::from(integer));
    }
    match cell {
        "true" => Some(Json::from(true)),
        "false" => Some(Json::from(false)),
        _ => {
            let float: f64 = cell.parse().ok()?;
            let special = if float.is_nan() {
                "NaN"
            } else if float > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            Some(Number::from_f64(float).map_or_else(|| Json::from(special), Json::Number))
        }
    }
}

/// The columns that are meant: all, one by name or number, or `FIRST..LAST` with both.
fn column_range(
    columns: Option<&str>,
    header: Option<&StringRecord>,
    count: usize,
) -> std::result::Result<std::ops::Range<usize>, String> {
    let Some(text) = columns else { return Ok(0..count) };
    let find = |name: &str| {
        let named = header.and_then(|h| h.iter().position(|cell| cell == name));
        named.or_else(|| name.parse().ok()).filter(|k| *k < count)
    };
    let place = |name: &str| {
        let columns = if count == 1 { "is 1 column" } else { &format!("are {count} columns") };
        find(name).ok_or_else(|| format!("there is no column `{name}`; there {columns}, from 0"))
    };
    // A name may have dots in it.
    match text.split_once("..").filter(|_| find(text).is_none()) {
        Some((first, last)) => {
            let from = if first.is_empty() { 0 } else { place(first)? };
            let to = if last.is_empty() { count } else { place(last)? + 1 };
            match from < to {
                true => Ok(from..to),
                false => Err(format!("column `{first}` stands behind `{last}`")),
            }
        }
        None => place(text).map(|k| k..k + 1),
    }
}
