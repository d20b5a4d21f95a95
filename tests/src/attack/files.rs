//! Files and arguments that were changed on the way: JSON, arrays of NumPy, modules, and, where the command
//! is built beside this program, tables and everything that it reads.
//!
//! Nothing may come of them but results or an error.

use super::End;
use super::mutate;
use crate::values::INTEGERS;
use fastrand::Rng;
use jut::{Arg, Array, Compiled, Engine, Error, Model, Value, npy};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const PROGRAM: &str = "data Form = Flat | Disc(radius: f64) | Slab(width: f64, height: f64)
def f[n, m](x: [n]f64, w: [m, n]f64, ix: [m]i64, k: i64, b: bool, s: Form, t: #(f64, i64), p: [m]Form) -> f64 = {
  area = case s { Flat -> 0.0; Disc(r) -> r * r; Slab(c, d) -> c * d }
  all = sum (q <- p) { case q { Flat -> 1.0; Disc(r) -> r; Slab(c, d) -> c - d } }
  y = sum (i < m) { w[i, ix[i]] * x[k] }
  y + area + all + select(b, t.0, f64(t.1))
}
def g[n](v: [n]f64) -> f64 = sum (i < n) { v[i] * v[i] }
def h(v: f64) -> f64 = v * v
def c[n, m](w: [m, n]f64) -> f64 = sum (i < m, 0 <= j < n) { w[i, j] * w[i, 0] }
";

const ARGUMENTS: &str = r#"{"x": [1.5, -2.0, "NaN"], "w": {"shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]},
"ix": [0, 2], "k": 1, "b": true, "s": {"Slab": [2.0, 3.0]}, "t": [0.5, 7], "p": ["Flat", {"Disc": [1.0]}]}"#;

const MAIN: &str = "use lib.stats
def f[n](x: [n]f64) -> f64 = exp(lib.stats.mean(x)) + lib.stats.first(x)
";

const MODULE: &str = "def mean[n](x: [n]f64) -> f64 = sum (v <- x) { v } / f64(n)
def first[n](x: [n]f64) -> f64 = x[0]
";

const TABLE: &str = "time,left,right\n0.0,1.5,2\n1.0,-2.5,nan\n2e308,3.5,-4\n";

/// One attack by a file.
pub(super) fn attack(seed: u64) -> Result<End, String> {
    let mut rng = Rng::with_seed(seed);
    match seed / 20 % 5 {
        0 => json(&mut rng),
        1 => numpy(&mut rng),
        2 => modules(&mut rng),
        3 => files(&mut rng, seed),
        _ => command(&mut rng, seed),
    }
}

/// Bytes with some of them changed, lost, doubled or cut off.
fn changed(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.usize(1..5) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.usize(0..bytes.len());
        match rng.u8(0..8) {
            0 | 1 => bytes[at] = rng.u8(..),
            2 => bytes[at] ^= 1 << rng.u8(0..8),
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, bytes[at]),
            5 => bytes.truncate(at),
            6 => {
                // A number that is too large for what it counts.
                let number = INTEGERS[rng.usize(0..INTEGERS.len())].to_string();
                bytes.splice(at..at, number.into_bytes());
            }
            _ => {
                let end = (at + rng.usize(0..40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

/// A text with tokens or bytes changed.
fn changed_text(rng: &mut Rng, text: &str) -> String {
    match rng.bool() {
        true => mutate::mutated(rng, text),
        false => String::from_utf8_lossy(&changed(rng, text.as_bytes())).into_owned(),
    }
}

fn compiled(name: &str) -> Result<Compiled, String> {
    static MODEL: OnceLock<Result<Model, String>> = OnceLock::new();
    let model = MODEL.get_or_init(|| Model::from_text(PROGRAM).map_err(|e| e.to_string()));
    let function = model.clone()?.function(name).map_err(|e| e.to_string())?;
    function.engine(Engine::Cranelift).value().map_err(|e| e.to_string())
}

fn ended(result: Result<(), Error>) -> Result<End, String> {
    match result {
        Ok(()) => Ok(End::Values),
        Err(Error::Run(_)) => Ok(End::Fails),
        Err(Error::Backend(text)) => Err(format!("error: {text}")),
        Err(other) if other.to_string().is_empty() => Err("refused without a word".into()),
        Err(_) => Ok(End::Refused),
    }
}

fn json(rng: &mut Rng) -> Result<End, String> {
    let text = changed_text(rng, ARGUMENTS);
    let Ok(Json::Object(arguments)) = serde_json::from_str(&text) else { return Ok(End::Refused) };
    let f = compiled("f")?;
    let call = || {
        let values = f.read_json(&arguments)?;
        let args: Vec<Arg<'_>> = values.iter().map(Arg::from).collect();
        let results = f.call(&args)?;
        results.iter().enumerate().for_each(|(k, result)| drop(f.write_json(k, result)));
        Ok(())
    };
    ended(call())
}

fn numpy(rng: &mut Rng) -> Result<End, String> {
    let value = match rng.u8(0..3) {
        0 => Value::F64(1.5),
        1 => Value::F64s(Array { shape: vec![2, 3], data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] }),
        _ => Value::I64s(Array { shape: vec![3], data: vec![1, -1, i64::MAX] }),
    };
    let mut file = Vec::new();
    npy::write(&mut file, &value).map_err(|e| e.to_string())?;
    let file = changed(rng, &file);
    let name = ["g", "h", "c"][rng.usize(0..3)];
    let f = compiled(name)?;
    ended(npy::read(&file[..]).and_then(|value| f.call(&[(&value).into()]).map(drop)))
}

/// Runs what a model with `f` of an array has become.
fn run(model: Result<Model, Error>) -> Result<End, String> {
    let call = |model: Model| {
        let f = model.function("f")?.value_and_gradient()?;
        f.call(&[(&[1.0, 2.0]).into()])?;
        f.call(&[Arg::F64s(&[], None)]).map(drop)
    };
    ended(model.and_then(call))
}

fn modules(rng: &mut Rng) -> Result<End, String> {
    let (main, module) = match rng.bool() {
        true => (changed_text(rng, MAIN), MODULE.to_string()),
        false => (MAIN.to_string(), changed_text(rng, MODULE)),
    };
    run(Model::from_sources(&[("main.jut", &main), ("lib/stats.jut", &module)]))
}

/// A folder of this process.
fn folder() -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("jut-attack-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lib")).map_err(|e| format!("no folder: {e}"))?;
    Ok(folder)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn files(rng: &mut Rng, seed: u64) -> Result<End, String> {
    let folder = folder()?;
    let (main, module) = (folder.join("main.jut"), folder.join("lib/stats.jut"));
    let outcome = (|| {
        write(&main, MAIN.as_bytes())?;
        match seed / 100 % 4 {
            // The module is a folder, is missing, uses its user, or was changed.
            0 => std::fs::create_dir_all(&module).map_err(|e| e.to_string())?,
            1 => {}
            2 => write(&module, format!("use main\n{MODULE}").as_bytes())?,
            _ => write(&module, &changed(rng, MODULE.as_bytes()))?,
        }
        run(Model::from_file(&main))
    })();
    // What cannot be taken away is taken away with all temporary files.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

/// The command, if it was built beside this program.
fn beside() -> Option<PathBuf> {
    let itself = std::env::current_exe().ok()?;
    let places = itself.ancestors().skip(1).take(3).map(|folder| folder.join("jut"));
    places.into_iter().find(|path| path.is_file())
}

fn command(rng: &mut Rng, seed: u64) -> Result<End, String> {
    let Some(jut) = beside() else { return Ok(End::Refused) };
    let folder = folder()?;
    let outcome = (|| {
        let path = |name: &str| folder.join(name);
        write(&path("p.jut"), PROGRAM.as_bytes())?;
        let (mut table, mut args, mut array) =
            (TABLE.as_bytes().to_vec(), ARGUMENTS.as_bytes().to_vec(), Vec::new());
        let whole = Value::F64s(Array { shape: vec![2, 2], data: vec![1.0, 2.0, 3.0, 4.0] });
        npy::write(&mut array, &whole).map_err(|e| e.to_string())?;
        for bytes in [&mut table, &mut args, &mut array] {
            *bytes = changed(rng, bytes);
        }
        write(&path("t.csv"), &table)?;
        write(&path("a.json"), &args)?;
        write(&path("m.npy"), &array)?;
        let columns = ["", "#left", "#left..right", "#1..2", "#..", "#right..left", "#99", "#-1"];
        let column = columns[rng.usize(0..columns.len())];
        let verb = ["run", "grad", "hvp", "jacobian", "jvp"][rng.usize(0..5)];
        let (func, option, value) = match seed / 100 % 4 {
            0 => ("f", "--args", path("a.json").display().to_string()),
            1 => ("c", "--arg", format!("w=@{}{column}", path("t.csv").display())),
            2 => ("g", "--arg", format!("v=@{}{column}", path("t.csv").display())),
            _ => ("c", "--arg", format!("w=@{}", path("m.npy").display())),
        };
        let status = Command::new(&jut)
            .arg(verb)
            .arg(path("p.jut"))
            .args([func, option, &value])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|e| format!("{}: {e}", jut.display()))?;
        match status.code() {
            Some(0) => Ok(End::Values),
            // 101 is a panic.
            Some(code) if code != 101 => Ok(End::Refused),
            _ => Err(format!(
                "the command ended with {status}: {verb} p.jut {func} {option} {value}"
            )),
        }
    })();
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}
