//! Modules: which files a program is made of.
//!
//! `use stats` names a module; where its text is, the caller knows. Every module is read once, however
//! many files use it. The walk is depth first, so a module stands before whoever uses it.
//!
//! A module that cannot be read is J015; modules that use each other in a circle are J016, at the
//! `use` that closes the circle. Both leave the module out, and names behind it cause no further messages.
//!
//! Cost: every file is parsed twice, here for its `use`s alone, so that all texts are there before
//! any tree is made of them.

use crate::parser;
use jut_ir::{Diagnostic, Span};
use std::collections::HashMap;

/// The text of a module, found by the caller.
#[derive(Clone, Debug)]
pub struct ModuleSource {
    /// The text.
    pub text: String,
    /// The number that its spans carry: another one for every file.
    pub file: u32,
}

/// A module that was read.
pub(crate) struct Module {
    pub name: String,
    pub source: ModuleSource,
}

/// The modules of a program.
#[derive(Default)]
pub(crate) struct Modules {
    /// Each after those that it uses.
    pub list: Vec<Module>,
    /// Those that could not be read, or use themselves.
    pub broken: Vec<String>,
}

/// One `use`: the module, and where it is named.
pub(crate) type Use = (String, Span);

enum State {
    /// Being read: the place in the chain.
    Open(usize),
    Done,
}

/// A file whose `use`s are being followed.
struct Frame {
    /// `None` for the user's file.
    module: Option<Module>,
    uses: std::vec::IntoIter<Use>,
    /// The `use` that led here.
    from: Span,
}

/// Reads the modules that a file uses, and those that they use.
pub(crate) fn collect(
    uses: Vec<Use>,
    resolve: &mut dyn FnMut(&str) -> Result<ModuleSource, String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Modules {
    let mut modules = Modules::default();
    let mut states: HashMap<String, State> = HashMap::new();
    let mut chain = vec![Frame { module: None, uses: uses.into_iter(), from: Span::NONE }];
    while let Some(frame) = chain.last_mut() {
        let Some((name, span)) = frame.uses.next() else {
            if let Some(module) = chain.pop().and_then(|frame| frame.module) {
                states.insert(module.name.clone(), State::Done);
                modules.list.push(module);
            }
            continue;
        };
        match states.get(&name) {
            Some(State::Done) => continue,
            Some(State::Open(depth)) => {
                diagnostics.push(circle(&chain[*depth..], &name, span));
                modules.broken.push(name);
                continue;
            }
            None => {}
        }
        let found = match name.as_str() {
            "prim" => Err("`prim` stands for the primitives".to_string()),
            _ => resolve(&name),
        };
        match found {
            Ok(source) => {
                let ast = parser::parse(&source.text, source.file, &mut Vec::new()).ast;
                let uses: Vec<Use> =
                    ast.uses().map(|name| (name.text.to_string(), name.span)).collect();
                states.insert(name.clone(), State::Open(chain.len()));
                let module = Some(Module { name, source });
                chain.push(Frame { module, uses: uses.into_iter(), from: span });
            }
            Err(reason) => {
                let message = format!("the module `{name}` cannot be loaded: {reason}");
                diagnostics.push(Diagnostic::error("J015", span, message));
                states.insert(name.clone(), State::Done);
                modules.broken.push(name);
            }
        }
    }
    modules
}

/// J016: `name` is used again by the last file of the chain that it opened.
fn circle(chain: &[Frame], name: &str, span: Span) -> Diagnostic {
    let names = chain.iter().filter_map(|frame| frame.module.as_ref()).map(|m| m.name.as_str());
    let mut path: Vec<&str> = names.collect();
    path.push(name);
    let message = match chain.len() {
        1 => format!("the module `{name}` uses itself"),
        _ => format!("modules use each other in a circle: {}", path.join(" -> ")),
    };
    let help = "move what both need into a module of its own";
    let error = Diagnostic::error("J016", span, message).help(help);
    let others = chain.iter().skip(1).map(|frame| frame.from);
    others.fold(error, |error, from| error.label(from, "a part of the circle"))
}
