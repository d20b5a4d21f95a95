//! What commands work on: the function that is meant, its arguments, and calls of it.

use crate::input;
use crate::interrupt::ending_calls;
use crate::options::{Format, Given, Subject};
use crate::output::{complain, warn};
use jut::foreign::Library;
use jut::json::Arguments;
use jut::{Arg, Cancellation, Compiled, Error, Function, Model, PassTime, Request, Result, Value};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The function that is meant: the one named, or the last of the program.
pub fn function(subject: &Subject) -> Result<Function> {
    let model = model(subject)?;
    warn(model.warnings(), subject.format);
    function_of(&model, subject, subject.function.as_deref())
}

/// The program, with the functions of other languages that the libraries have.
fn model(subject: &Subject) -> Result<Model> {
    let model = Model::from_file(&subject.file)?;
    subject.libraries.iter().try_fold(model, |model, path| model.with_library(&library(path)?))
}

/// A library that the user names.
#[allow(unsafe_code)]
fn library(path: &Path) -> Result<Library> {
    // SAFETY: whoever types the name vouches for the file, as for a program that is started.
    let library = unsafe { Library::open(path) };
    library.map_err(|e| Error::Request(format!("{}: {e}", path.display())))
}

/// That function, or the last, of a program, with what is said about its derivatives.
fn function_of(model: &Model, subject: &Subject, name: Option<&str>) -> Result<Function> {
    let last = || model.functions().last().map(str::to_string);
    let name = name.map(str::to_string).or_else(last).ok_or_else(|| {
        Error::Request(format!("{}: the program has no function", subject.file.display()))
    })?;
    let mut function = model.function(&name)?.policy(subject.policy.policy());
    if let Some(result) = &subject.of {
        function = function.of(result)?;
    }
    if subject.wrt.is_empty() {
        return Ok(function);
    }
    let wrt: Vec<&str> = subject.wrt.iter().map(|name| name.trim()).collect();
    function.wrt(&wrt)
}

/// The function that is meant, and further ones by name, treated alike.
pub fn functions(subject: &Subject, more: &[String]) -> Result<Vec<Function>> {
    let model = model(subject)?;
    warn(model.warnings(), subject.format);
    let first = subject.function.as_deref();
    let names = std::iter::once(first).chain(more.iter().map(|name| Some(name.as_str())));
    names.map(|name| function_of(&model, subject, name)).collect()
}

/// `--time-passes`: compiles once more and prints what every pass took.
pub fn time_passes(subject: &Subject, function: &Function, requests: &[Request]) -> Result<()> {
    if !subject.time_passes {
        return Ok(());
    }
    for request in requests {
        let (_, times) = function.compile_timed(*request)?;
        let name = format!("{}, {}", function.name(), request.suffix());
        match subject.format {
            Format::Text => complain(&format!("{name}\n{}", PassTime::table(&times))),
            Format::Json => {
                let rows = times.iter().map(|t| {
                    let micros = t.time.as_secs_f64() * 1e6;
                    json!({
                        "pass": t.name(), "microseconds": micros, "size": t.size, "unit": t.unit(),
                    })
                });
                let rows: Vec<Json> = rows.collect();
                complain(&format!("{}\n", json!({ "product": name, "passes": rows })));
            }
        }
    }
    Ok(())
}

/// Reads the arguments of a call, and tangents or cotangents with the given suffix.
pub fn read(
    given: &Given,
    function: &Function,
    compiled: &Compiled,
    suffix: &str,
    directions: &[String],
) -> Result<Vec<Value>> {
    let rank = |name: &str| Some(compiled.inputs().find(|i| i.name == name)?.rank);
    let mut all = input::arguments(given.file_args.as_deref(), &given.args, "", &rank)?;
    all.extend(input::arguments(None, directions, suffix, &rank)?);
    if given.file_args.is_some() {
        // One file of arguments serves all requests and directions.
        keep_known(&mut all, function, compiled);
    }
    compiled.read(all)
}

/// Drops tangents and cotangents that this request does not take.
fn keep_known(given: &mut Arguments, function: &Function, compiled: &Compiled) {
    let takes = |key: &str| compiled.inputs().any(|i| i.name == key);
    let parameters = function.parameters();
    given.retain(|key, _| {
        takes(key) || !key.ends_with('\'') || parameters.iter().any(|(name, _)| name == key)
    });
}

/// Calls with owned arguments.
pub fn call_with(compiled: &Compiled, args: &[Value]) -> Result<Vec<Value>> {
    let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    ending_calls(|cancellation| {
        let mut session = compiled.session();
        session.set_cancellation(cancellation);
        Ok(session.call(&args)?.values())
    })
}

/// The same with the error R07 after so long, for calls that may have no end.
pub fn call_within(limit: Duration, compiled: &Compiled, args: &[Value]) -> Result<Vec<Value>> {
    let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    ending_calls(|interrupted| {
        let (cancellation, start) = (Cancellation::new(), Instant::now());
        // Nothing is sent: the watch ends when the other end is gone.
        let (calling, ended) = mpsc::channel::<()>();
        let cancelled = cancellation.clone();
        let watch = move || {
            while !interrupted.is_cancelled() && start.elapsed() < limit {
                let waited = ended.recv_timeout(Duration::from_millis(20));
                if waited != Err(mpsc::RecvTimeoutError::Timeout) {
                    return;
                }
            }
            cancelled.cancel();
        };
        std::thread::scope(|scope| {
            scope.spawn(watch);
            let mut session = compiled.session();
            session.set_cancellation(&cancellation);
            let values = session.call(&args).map(|results| results.values());
            drop(calling);
            values
        })
    })
}

/// Owned values as arguments.
pub fn borrowed(values: &[Value]) -> Vec<jut::Arg<'_>> {
    values.iter().map(jut::Arg::from).collect()
}
