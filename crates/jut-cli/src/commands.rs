//! What the commands do.

use crate::options::{Call, Command, Evaluate, Explain, Format, Options, Subject};
use crate::output::{
    Part, Tree, diagnostics_json, exit_code, print, print_columns, print_json, print_tree, report,
    results_json, results_text, warn,
};
use crate::subject::{call_with, function, read, time_passes};
use crate::{build, doctor, expand, explain, files, linearize, manual, verify};
use jut::{Arg, Error, Model, Request, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Does what the command line asks for; gives the exit code.
pub fn run(options: &Options) -> u8 {
    let (format, outcome) = match &options.command {
        Command::Check { files, format } => return check(files, *format),
        Command::Completions { shell } => (Format::Text, manual::completions(*shell)),
        Command::Man { directory } => (Format::Text, manual::pages(directory)),
        Command::Fmt { files, check } => return fmt(files, *check),
        Command::Expand { file } => (Format::Text, expand::expand(file)),
        Command::Doctor { format } => {
            doctor::doctor(*format == Format::Json);
            return 0;
        }
        Command::Explain(Explain::Tape(subject)) => (subject.format, explain::tape(subject)),
        Command::Explain(Explain::Cost { subject, given }) => {
            (subject.format, explain::cost(subject, given))
        }
        Command::Evaluate(Evaluate { request, call, seeds }) => {
            (call.subject.format, evaluated(call, *request, seeds))
        }
        Command::Linearize(options) => (options.call.subject.format, linearize::linearize(options)),
        Command::Build(build) => (build.function.format, build::build(build)),
        Command::Show { subject, stage, engine, draw } => {
            let stage = stage.map_or(jut::Stage::Unzip, |stage| stage.0);
            let engine = engine.map_or_else(Default::default, |engine| engine.0);
            (subject.format, show(subject, stage, engine, draw.as_deref()))
        }
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            report(&error, format);
            exit_code(&error)
        }
    }
}

fn check(files: &[PathBuf], format: Format) -> u8 {
    let mut worst = 0;
    let mut all = Vec::new();
    for file in files {
        match Model::from_file(file) {
            Ok(model) => {
                warn(model.warnings(), format);
                all.extend(diagnostics_json(model.warnings()));
                if format == Format::Text {
                    let functions = model.functions().count();
                    let plural = if functions == 1 { "" } else { "s" };
                    let name = file.display();
                    print(&format!("{name}: {functions} definition{plural}, no errors\n"));
                }
            }
            Err(error) => {
                worst = worst.max(exit_code(&error));
                match (&error, format) {
                    (_, Format::Text) => report(&error, format),
                    (Error::Program(diagnostics), _) => all.extend(diagnostics_json(diagnostics)),
                    (other, _) => all.push(json!({ "code": null, "message": other.to_string() })),
                }
            }
        }
    }
    if format == Format::Json {
        print_json(&json!({ "diagnostics": all }));
    }
    worst
}

fn fmt(files: &[PathBuf], check: bool) -> u8 {
    let mut worst = 0;
    for file in files {
        match fmt_one(file, check) {
            Ok(true) if check => {
                print(&format!("{}\n", file.display()));
                worst = worst.max(4);
            }
            Ok(_) => {}
            Err(error) => {
                report(&error, Format::Text);
                worst = worst.max(exit_code(&error));
            }
        }
    }
    worst
}

/// Formats one file; tells whether it changed, or would.
fn fmt_one(file: &Path, check: bool) -> Result<bool> {
    let failed = |e| Error::File(file.to_path_buf(), e);
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let laid_out = jut::format(&file.display().to_string(), &text)?;
    let changes = laid_out != text;
    if changes && !check {
        std::fs::write(file, laid_out).map_err(failed)?;
    }
    Ok(changes)
}

fn show(
    subject: &Subject,
    stage: jut::Stage,
    engine: jut::Engine,
    draw: Option<&Path>,
) -> Result<u8> {
    let function = function(subject)?.engine(engine);
    time_passes(subject, &function, &[Request::ValueAndGradient])?;
    if let Some(path) = draw {
        let picture = function.draw(stage)?;
        std::fs::write(path, picture).map_err(|e| Error::File(path.to_path_buf(), e))?;
        return Ok(0);
    }
    let text = function.stage(stage)?;
    match subject.format {
        Format::Text => print(&text),
        Format::Json => print_json(&json!({ "stage": stage.name(), "text": text })),
    }
    Ok(0)
}

fn evaluated(call: &Call, request: Request, directions: &[String]) -> Result<u8> {
    let mut function = function(&call.subject)?.engine(call.engine()).parallel(!call.sequential);
    if let Some(bytes) = call.memory_limit {
        function = function.memory_limit(bytes);
    }
    time_passes(&call.subject, &function, &[request])?;
    let mut compiled = function.compile(request)?;
    let suffix = if request.takes_tangents() { "'" } else { "''" };
    let args = read(&call.given, &function, &compiled, suffix, directions)?;
    if let Some(bytes) = call.memory {
        let count = function.clone().engine(jut::Engine::Interpreter).value()?.inputs().count();
        let own: Vec<Arg<'_>> = args.iter().take(count).map(Arg::from).collect();
        function = function.tape_within(bytes, &own)?;
        compiled = function.compile(request)?;
    }
    let values = call_with(&compiled, &args)?;
    let derivative = request.derivative();
    let mut parts = vec![Part { compiled: &compiled, values: &values, derivative }];
    // What a product with the Hessian is used with, and does not compute.
    let gradient = match request {
        Request::HessianProduct => Some(function.compile(Request::ValueAndGradient)?),
        _ => None,
    };
    let beside = match &gradient {
        Some(gradient) => call_with(gradient, &args[..gradient.inputs().count()])?,
        None => Vec::new(),
    };
    if let Some(compiled) = &gradient {
        let derivative = Request::ValueAndGradient.derivative();
        parts.insert(0, Part { compiled, values: &beside, derivative });
    }
    let checks = match call.check {
        true => Some(verify::verify(&function, &call.compared(), request, &args)?),
        false => None,
    };
    let files = files::write(&call.outputs, &parts)?;
    match call.subject.format {
        Format::Text => {
            print_columns(&results_text(&parts, &files)?)?;
            if let Some(checks) = &checks {
                print(&checks.text());
            }
        }
        Format::Json => {
            let mut all = results_json(&parts, &files)?;
            if let Some(checks) = &checks {
                all.insert("check".into(), Tree::Json(checks.json()));
            }
            print_tree(&Tree::Map(all))?;
        }
    }
    Ok(if checks.is_some_and(|c| !c.good()) { 4 } else { 0 })
}
