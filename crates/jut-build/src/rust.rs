//! Programs of Rust files: for build scripts, and for those who want to see the text.
//!
//! A function of a Rust file becomes text as the attribute `#[jut::differentiable]` makes it; but where the attribute leaves names to rustc,
//! a file only has itself. [`expand`] writes the text of all annotated functions and takes for granted what it must. A build script takes
//! nothing for granted: functions that it asks for, with those that they call, name what stands in the file, with literals as constants, and
//! call methods of types that are written; anything else is an error that says what only rustc knows.
//!
//! *Cost*: linear in the file; what the texts are made of stays for the rest of the process.

mod known;
mod meant;
mod names;
mod types;

use jut::rust::{Filled, Linker, filled};
use jut::{Error, Model, Result};
use jut_rust::file::{File, Function};
use jut_rust::template::Hole;
use jut_rust::{Lowered, Refusal, Signature};
use known::{Names, last, word};
use std::path::Path;
use types::data_type;

/// The text of a file.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// A program, if the file has all that it names; else what can be read.
    pub text: String,
    /// What is refused, each with its place.
    pub refused: Vec<String>,
}

/// The program of some functions of a file.
pub(crate) struct OfFile {
    pub model: Model,
    /// For each function that was asked for its name in the text, and the names of its parameters there that are differentiated unless others are
    /// named.
    pub functions: Vec<Wanted>,
}

/// A function that was asked for.
pub(crate) struct Wanted {
    pub name: String,
    /// The names of the parameters in Rust, each with that in the text, and whether derivatives are by it.
    pub parameters: Vec<(String, String, bool)>,
}

impl Wanted {
    /// The names in the text of the parameters with these names in Rust; of none, of those that the attribute names, or all with floats.
    ///
    /// # Errors
    /// A name that no parameter has.
    pub fn by(&self, names: &[&str]) -> Result<Vec<&str>> {
        if names.is_empty() {
            let asked = self.parameters.iter().filter(|(_, _, asked)| *asked);
            return Ok(asked.map(|(_, text, _)| text.as_str()).collect());
        }
        let found = names.iter().map(|name| {
            let own = self.parameters.iter().find(|(rust, ..)| rust == name);
            own.map(|(_, text, _)| text.as_str()).ok_or_else(|| {
                let function = &self.name;
                Error::Request(format!("`{name}` is not a parameter of `{function}`"))
            })
        });
        found.collect()
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::File(path.to_path_buf(), e))
}

/// A refusal with its place.
fn placed(path: &Path, refusal: &Refusal) -> String {
    let at = refusal.span.map(|s| s.start());
    let place = at.map_or(String::new(), |p| format!(":{}:{}", p.line, p.column + 1));
    format!("{}{place}: {}", path.display(), refusal.message)
}

/// The text that the annotated functions of a Rust file become. Names are looked up in the file itself: what stands elsewhere is written as its
/// path. In a crate rustc looks names up, and `f::text()` is the whole program.
///
/// # Errors
/// A file that cannot be read, or has no such function ([`Error::Request`]).
pub fn expand(path: &Path) -> Result<Expanded> {
    let source = read(path)?;
    let file = match jut_rust::file::file(&source) {
        Ok(file) => file,
        Err(refusal) => {
            return Ok(Expanded { text: String::new(), refused: vec![placed(path, &refusal)] });
        }
    };
    let (mut refused, mut linker) = (Vec::new(), Linker::default());
    for (name, value) in arrays(&file) {
        if file.functions.iter().any(|f| mentions(f, &name)) {
            linker.add_text(&value);
        }
    }
    let names = Names::new(&file);
    for function in &file.functions {
        match &function.lowered {
            Err(refusal) => refused.push(placed(path, refusal)),
            Ok((_, lowered)) => {
                for hole in &lowered.holes {
                    if let Hole::Data(_) = hole {
                        // Of two types with one path the first counts.
                        let _ = linker.add_type(&data_type(&file, hole.clone()));
                    }
                }
                let holes = names.fillings(&lowered.holes).into_iter().map(Filled::guessed);
                let holes: Vec<Filled> = holes.collect();
                let name = word(&function.name);
                let mut text = filled(&name, &lowered.text, &holes);
                if jut::format(&name, &text).is_err() {
                    // What was taken for the type of a value is none that fits.
                    let holes: Vec<Filled> =
                        holes.into_iter().map(Filled::taken_for_number).collect();
                    text = filled(&name, &lowered.text, &holes);
                }
                linker.add_text(&text);
            }
        }
    }
    if file.functions.is_empty() {
        let why = "no function of this file has the attribute `#[jut::differentiable]`";
        return Err(Error::Request(format!("{}: {why}", path.display())));
    }
    let text = linker.text();
    let text = jut::format(&path.display().to_string(), &text).unwrap_or(text);
    Ok(Expanded { text, refused })
}

/// The text of the program that a build script makes of some functions of a file.
///
/// # Errors
/// A function that is not there or cannot be translated, and one of which only rustc knows what it means ([`Error::Request`]).
pub fn text(path: &Path, functions: &[&str]) -> Result<String> {
    Ok(program(path, functions)?.model.source().text.clone())
}

/// The program of some functions of a file, with those that they call. Functions need no attribute.
///
/// # Errors
/// A function that is not there or cannot be translated, and one of which only rustc knows what it means.
pub(crate) fn program(path: &Path, wanted: &[&str]) -> Result<OfFile> {
    let source = read(path)?;
    let refused = |refusal: &Refusal| Error::Request(placed(path, refusal));
    let file = jut_rust::file::whole(&source).map_err(|refusal| refused(&refusal))?;
    let names = Names::new(&file);
    let mut order = Order { path, file: &file, names: &names, state: Vec::new(), all: Vec::new() };
    order.state.resize(file.functions.len(), false);
    let mut roots = Vec::new();
    for name in wanted {
        let own: Vec<usize> = (0..file.functions.len())
            .filter(|k| file.functions.get(*k).is_some_and(|f| f.name == *name))
            .collect();
        let [root] = own[..] else {
            let all: Vec<&str> = file.functions.iter().map(|f| f.name.as_str()).collect();
            let (path, all) = (path.display(), all.join(", "));
            return Err(Error::Request(format!(
                "{path}: there is not one function `{name}`, but {all}"
            )));
        };
        order.visit(root)?;
        roots.push(root);
    }
    let all = order.all;
    let mut linker = Linker::default();
    for (name, value) in arrays(&file) {
        if all.iter().any(|(k, _)| file.functions.get(*k).is_some_and(|f| mentions(f, &name))) {
            linker.add_text(&value);
        }
    }
    let shown: &'static str = path.display().to_string().leak();
    for (k, holes) in &all {
        let Some((function, (_, lowered))) = lowered(&file, *k) else { continue };
        for hole in lowered.holes.iter().filter(|hole| matches!(hole, Hole::Data(_))) {
            if let Some(wrong) = linker.add_type(&data_type(&file, hole.clone())) {
                return Err(Error::Request(format!("{}: {wrong}", path.display())));
            }
        }
        let places: &'static str = jut_rust::expand::places(&lowered.places).leak();
        linker.add(&word(&function.name), (&lowered.text, shown, places), holes);
    }
    let model = linker.model(&path.display().to_string())?;
    let mut functions = Vec::new();
    for root in roots {
        let Some((function, (signature, _))) = lowered(&file, root) else { continue };
        let name = word(&function.name);
        let own = model.function(&name)?.parameters();
        let is_open = signature.is_open() || signature.takes_functions();
        if is_open || own.len() != signature.parameters.len() {
            let (path, name) = (path.display(), &function.name);
            let what = if is_open {
                "has type parameters or takes functions"
            } else {
                "takes an `Option`"
            };
            return Err(Error::Request(format!(
                "{path}: `{name}` {what}: call its derivatives by `#[jut::differentiable]`"
            )));
        }
        let parameters = signature.parameters.iter().zip(own);
        let parameters = parameters.map(|(p, (text, _))| (p.name.clone(), text, p.is_asked()));
        functions.push(Wanted { name, parameters: parameters.collect() });
    }
    Ok(OfFile { model, functions })
}

/// A function that could be translated.
fn lowered(file: &File, k: usize) -> Option<(&Function, &(Signature, Lowered))> {
    let function = file.functions.get(k)?;
    Some((function, function.lowered.as_ref().ok()?))
}

/// Functions, each behind those that it calls.
struct Order<'f> {
    path: &'f Path,
    file: &'f File,
    names: &'f Names<'f>,
    /// Whether a function was met.
    state: Vec<bool>,
    all: Vec<(usize, Vec<Filled>)>,
}

impl Order<'_> {
    fn visit(&mut self, k: usize) -> Result<()> {
        let Some(function) = self.file.functions.get(k) else { return Ok(()) };
        if self.state.get_mut(k).is_none_or(|met| std::mem::replace(met, true)) {
            return Ok(());
        }
        let (_, lowered) = function
            .lowered
            .as_ref()
            .map_err(|refusal| Error::Request(placed(self.path, refusal)))?;
        let holes = self.names.fillings(&lowered.holes);
        let (mut guessed, called) = self.names.taken();
        if function.has_items {
            guessed.insert(0, "names of items within the function".to_string());
        }
        if let Some(what) = guessed.first() {
            let (path, name) = (self.path.display(), &function.name);
            return Err(Error::Request(format!(
                "{path}: of `{name}` only rustc knows {what}; write it in this file, or call derivatives by `#[jut::differentiable]`"
            )));
        }
        for k in called {
            self.visit(k)?;
        }
        self.all.push((k, holes));
        Ok(())
    }
}

fn mentions(function: &Function, name: &str) -> bool {
    let Ok((_, lowered)) = &function.lowered else { return false };
    lowered.holes.iter().any(|hole| match hole {
        Hole::Constant(path) => last(&path.to_string()) == name,
        _ => false,
    })
}

/// Array constants are definitions of their own: names and texts.
fn arrays(file: &File) -> Vec<(String, String)> {
    let each = file.constants.iter().filter_map(|(name, ty, value)| {
        let shown = ty.text(&mut || "?".to_string());
        (ty.rank() > 0 && !shown.contains('?') && !shown.contains('$')).then(|| {
            (name.clone(), format!("const {name}: {shown} = {}\n", value.replace('&', "")))
        })
    });
    each.collect()
}
