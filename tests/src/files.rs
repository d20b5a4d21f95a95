//! Test programs with what is expected of them, in one file: the runner of `tests/programs`.
//!
//! A program is followed by lines that begin with `//#`, each a request; lines that begin with `//=`
//! behind a request are what it has to print, whole.
//!
//! | request | prints |
//! |---|---|
//! | `//# grad f x=[1.0, 2.0] n=3` | nothing: all laws and engines on `f` at these arguments |
//! | `//# fails f x=[] error=R01` | nothing: `f` and all its derivatives fail with that error |
//! | `//# run f x=2.0` | the results, and the gradient if `f` is one number, of all engines; laws as well |
//! | `//# cost f x=2.0` | work and bytes of every stage beside the bounds of the paper; laws as well |
//! | `//# show core f`, `forward`, `unzip`, `transpose`, `erase`, `vmap` | the definitions that this stage makes |
//! | `//# check` | the messages about the program, which is wrong (or has warnings) |
//!
//! Programs may declare the functions of other languages that [`crate::foreign`] has. `kink=true` behind arguments says that differences say nothing there; `policy=store_all` behind `show` takes that tape policy. With `JUT_BLESS=1` the runner writes what
//! is printed into the files. Every program but a wrong one has at least one request with arguments, so
//! all laws ([`crate::laws`]) and all engines ([`crate::engines`]) are tested on it.

use crate::foreign::with_functions_of;
use crate::laws::{Options, load, verify};
use crate::lines::printed;
use crate::products::{Product, products};
use crate::programs::{Case, arguments, words};
use crate::random::all_products;
use jut_ad::{Derivatives, Mask, Policy, batch, erase, forward, transpose, unzip};
use jut_eval::cost::{CostReport, Stages};
use jut_eval::{Interpreter, Value};
use jut_ir::print::{print_data, print_function};
use jut_ir::{Decl, Diagnostic, FuncId, Program, Severity};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// Functions with the lists of arguments (sizes included) at which they are asked for.
type Called = BTreeMap<FuncId, Vec<Vec<Value>>>;

/// One `//#` line with what stands under it.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The line, without the mark.
    pub line: String,
    /// The lines that are expected, without the mark.
    pub expected: Vec<String>,
}

/// A file: its text without expectations, and its requests.
#[derive(Clone, PartialEq, Debug)]
pub struct TestFile {
    /// The text, requests included; what is loaded.
    pub text: String,
    /// The requests, in order.
    pub requests: Vec<Request>,
}

impl TestFile {
    /// Takes a file apart.
    pub fn parse(text: &str) -> TestFile {
        let mut file = TestFile { text: String::new(), requests: Vec::new() };
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("//=") {
                if let Some(request) = file.requests.last_mut() {
                    request.expected.push(rest.strip_prefix(' ').unwrap_or(rest).to_string());
                }
                continue;
            }
            if let Some(rest) = line.trim_start().strip_prefix("//#") {
                file.requests.push(Request { line: rest.trim().into(), expected: Vec::new() });
            }
            file.text.push_str(line);
            file.text.push('\n');
        }
        file
    }

    /// The file with other expectations, one list for each request.
    pub fn with(&self, printed: &[Vec<String>]) -> String {
        let mut printed = printed.iter();
        let mut out = String::new();
        for line in self.text.lines() {
            let _ = writeln!(out, "{line}");
            if line.trim_start().starts_with("//#") {
                for line in printed.next().into_iter().flatten() {
                    let _ = writeln!(out, "{}", format!("//= {line}").trim_end());
                }
            }
        }
        out
    }

    /// Runs every request; gives what each prints.
    ///
    /// # Errors
    /// A law, an engine or a request that fails.
    pub fn run(&self) -> Result<Vec<Vec<String>>, String> {
        with_functions_of(&self.text, || self.answers())
    }

    fn answers(&self) -> Result<Vec<Vec<String>>, String> {
        let (mut printed, mut wrong) = (Vec::new(), false);
        let mut called = Called::new();
        for request in &self.requests {
            let named = |e: String| format!("{}: {e}", request.line);
            let mut words = words(&request.line).into_iter();
            let verb = words.next().unwrap_or_default();
            let rest: Vec<String> = words.collect();
            let text = match verb.as_str() {
                "check" => {
                    wrong = true;
                    self.messages()
                }
                "show" => self.show(&rest).map_err(named)?,
                "grad" | "fails" | "run" | "cost" => {
                    let case = Case::of(&verb, &rest).map_err(named)?;
                    self.call(&verb, case, &mut called).map_err(named)?
                }
                _ => return Err(named("an unknown request".into())),
            };
            printed.push(text.lines().map(|line| line.trim_end().to_string()).collect());
        }
        if called.is_empty() && !wrong {
            return Err("no request has arguments: no law was tested".into());
        }
        self.engines(&called)?;
        Ok(printed)
    }

    /// The messages about the program, each with its place, its help and its edits.
    fn messages(&self) -> String {
        let mut out = String::new();
        for d in jut_text::load(&self.text, 0).diagnostics {
            let at = |byte: u32| {
                let before = &self.text[..byte as usize];
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
                format!("{}:{}", before.matches('\n').count() + 1, column + 1)
            };
            let kind = if d.severity == Severity::Error { "error" } else { "warning" };
            let place = format!("{} to {}", at(d.span.start), at(d.span.end));
            let _ =
                writeln!(out, "{kind} {} at {place}: {}\n  help: {}", d.code, d.message, d.help);
            for (span, text) in &d.labels {
                let _ = writeln!(out, "  {}: {text}", at(span.start));
            }
            for edit in &d.edits {
                let place = format!("{} to {}", at(edit.span.start), at(edit.span.end));
                let _ = writeln!(out, "  edit {place}: `{}`", edit.text);
            }
        }
        out
    }

    fn show(&self, words: &[String]) -> Result<String, String> {
        let [stage, name, rest @ ..] = words else { return Err("a stage and a function".into()) };
        let policy = match rest {
            [] => Policy::Default,
            [one] if one == "policy=store_all" => Policy::StoreAll,
            _ => return Err(format!("{rest:?} is not understood")),
        };
        let say = |d: Diagnostic| d.to_string();
        let program = load(&self.text)?;
        let func = program.find_func(name).ok_or("no function")?;
        if stage == "core" {
            return Ok(print_function(&program, func));
        }
        let mut d = Derivatives::new(program);
        let mut before = declared(&d.program);
        let mut new = |program: &Program| {
            let known = std::mem::replace(&mut before, declared(program));
            let made = program.order.iter().filter(|decl| !known.contains(decl));
            let texts = made.map(|decl| match decl {
                Decl::Data(id) => print_data(program, *id),
                Decl::Func(id) => print_function(program, *id),
            });
            texts.collect::<Vec<_>>().join("\n")
        };
        if stage == "vmap" {
            let mapped = batch::mappable(&d.program, func);
            batch::batch(&mut d, func, &mapped).map_err(say)?;
            return Ok(new(&d.program));
        }
        // A function with linear parts is what U, T and L take; J takes the others.
        let jvp = match d.program.funcs[func].is_nonlinear() {
            true => {
                let mask = Mask::full(&d.program, func);
                forward::forward(&mut d, func, &mask).map_err(say)?
            }
            false => func,
        };
        let forward = new(&d.program);
        if stage == "forward" {
            return Ok(forward);
        }
        if stage == "erase" {
            erase::erase(&mut d, jvp).map_err(say)?;
            return Ok(new(&d.program));
        }
        let halves = unzip::unzip(&mut d, jvp, policy).map_err(say)?;
        let unzipped = new(&d.program);
        match stage.as_str() {
            "unzip" => Ok(unzipped),
            "transpose" => {
                transpose::transpose(&mut d, halves.lin).map_err(say)?;
                Ok(new(&d.program))
            }
            _ => Err(format!("there is no stage `{stage}`")),
        }
    }

    /// All engines on each function at all its arguments: it is compiled once for them.
    fn engines(&self, called: &Called) -> Result<(), String> {
        if called.is_empty() {
            return Ok(());
        }
        let program = load(&self.text)?;
        for (func, lists) in called {
            let mask = Mask::full(&program, *func);
            let runs = all_products(&program, *func, lists, &mask);
            runs.map_err(|e| format!("{}: {e}", program.funcs[*func].name))?;
        }
        Ok(())
    }

    /// All laws at some arguments, and what the verb prints.
    fn call(&self, verb: &str, case: Case, called: &mut Called) -> Result<String, String> {
        let program = load(&self.text)?;
        let given = arguments(&program, &case.func, &case)?;
        let options = Options { smooth: case.smooth.then_some(1e-6) };
        let (verified, _) = printed(|| verify(&self.text, &case.func, &given, options));
        let verified = verified?;
        match (&case.error, verified.outcome) {
            (None, Ok(_)) => {}
            (Some(code), Err(error)) if error.kind.code() == code => {}
            (expected, outcome) => {
                return Err(format!("expected error {expected:?}, got {outcome:?}"));
            }
        }
        let func = program.find_func(&case.func).ok_or("no function")?;
        let args = Interpreter::new(&program).with_sizes(func, &given);
        let args = args.map_err(|e| e.to_string())?;
        let mask = Mask::full(&program, func);
        called.entry(func).or_default().push(args.clone());
        match verb {
            "run" => results(&program, func, &args, &mask),
            "cost" => costs(program, func, &args),
            _ => Ok(String::new()),
        }
    }
}

fn declared(program: &Program) -> HashSet<Decl> {
    program.order.iter().copied().collect()
}

/// Results by name, then the gradient; the engines were compared before.
fn results(program: &Program, func: FuncId, args: &[Value], mask: &Mask) -> Result<String, String> {
    let made = products(program, func, args, mask, &[Policy::Default])?;
    let find = |name: &str| made.iter().find(|p| p.name.starts_with(name));
    let product = find("value_grad").or(find("value")).ok_or("no product")?;
    let run =
        |p: &Product| printed(|| Interpreter::new(&p.program).call(p.func, &p.args, &[], &[]));
    let (outcome, lines) = run(product);
    let outcome = outcome.map_err(|e| e.to_string())?;
    // Every derivative prints what the function prints, once.
    if !lines.is_empty() {
        for other in &made {
            let (_, own) = run(other);
            if own != lines {
                return Err(format!("{} prints {own:?}, the function {lines:?}", other.name));
            }
        }
    }
    let f = &program.funcs[func];
    let own = f.results.iter().enumerate().map(|(k, r)| match r.name {
        Some(name) => f.nvars[name].name.to_string(),
        None if f.results.len() == 1 => "value".to_string(),
        None => format!("value {k}"),
    });
    let gradients = mask.positions().map(|k| format!("gradient {}", f.nvars[f.params[k]].name));
    let mut out = String::new();
    for line in lines {
        let _ = writeln!(out, "| {line}");
    }
    for (name, value) in own.chain(gradients).zip(&outcome.results) {
        let _ = writeln!(out, "{name} = {}", show(program, value));
    }
    Ok(out)
}

/// A value as it is written.
fn show(program: &Program, value: &Value) -> String {
    let list =
        |items: &[Value]| items.iter().map(|v| show(program, v)).collect::<Vec<_>>().join(", ");
    match value {
        Value::F64(x) => format!("{x:?}"),
        Value::F32(x) => format!("{x:?}"),
        Value::I32(x) => format!("{x}"),
        Value::I64(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Tuple(items) => format!("#({})", list(items)),
        Value::Array(array) => {
            let items: Vec<Value> = (0..array.len()).filter_map(|k| array.get(k)).collect();
            format!("[{}]", list(&items))
        }
        Value::Data(con, fields) => {
            format!("{}({})", program.constructor(*con).name, list(fields))
        }
    }
}

/// The costs of all stages, with the tape policy of the paper.
fn costs(program: Program, func: FuncId, args: &[Value]) -> Result<String, String> {
    let report = cost_report(program, func, args)?;
    match report.bounds().iter().all(|bound| bound.holds()) {
        true => Ok(report.to_string()),
        false => Err(format!("a bound does not hold:\n{report}")),
    }
}

/// What the stages of a gradient cost, with the tape policy of the paper.
///
/// # Errors
/// What a stage refuses.
pub fn cost_report(program: Program, func: FuncId, args: &[Value]) -> Result<CostReport, String> {
    let say = |d: Diagnostic| d.to_string();
    let mask = Mask::full(&program, func);
    let mut d = Derivatives::new(program);
    let jvp = forward::forward(&mut d, func, &mask).map_err(say)?;
    let halves = unzip::unzip(&mut d, jvp, Policy::StoreAll).map_err(say)?;
    let transposed = transpose::transpose(&mut d, halves.lin).map_err(say)?;
    let stages = Stages {
        func,
        jvp,
        nonlin: halves.nonlin,
        lin: halves.lin,
        transposed,
        forwarded: halves.forwarded.clone(),
        result_sizes: halves.result_sizes.clone(),
        has_tape: halves.tape.is_some(),
    };
    let mut rng = fastrand::Rng::with_seed(0x6a75);
    let report = Interpreter::new(&d.program).costs(&d.program, &stages, args, &mut rng);
    report.map_err(|e| e.to_string())
}
