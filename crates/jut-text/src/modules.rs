//! Modules: which files a program is made of.
//!
//! `use stats` names a module; where its text is, the caller knows. A name is looked for beside the file
//! that uses it, then beside the program: in the module `lib.fit`, `use stats` means `lib.stats` if
//! there is one, and `stats` otherwise. So a directory of modules can be moved as it is. Every module
//! is read once, however many files use it. The walk is depth first, so a module stands before
//! whoever uses it.
//!
//! A module that cannot be read is J015; modules that use each other in a circle are J016, at the
//! `use` that closes the circle. Both leave the module out, and names behind it cause no further messages.
//!
//! Cost: every file is parsed twice, here for its `use`s alone, so that all texts are there before
//! any tree is made of them.

use crate::ast::Aliases;
use crate::parser::Parse;
use crate::{parser, standard};
use jut_ir::{Diagnostic, Span};
use std::collections::{BTreeMap, HashMap};

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
    /// Its name from the program's directory on: what stands in front of its declarations.
    pub name: String,
    pub source: ModuleSource,
    /// What it calls the modules that it uses.
    pub aliases: Aliases,
}

/// Finds the text of a module by its full name: `None` if there is none, or a reason why what is
/// there cannot be read.
pub(crate) type Resolve<'r> = dyn FnMut(&str) -> Result<Option<ModuleSource>, String> + 'r;

/// The modules of a program.
#[derive(Default)]
pub(crate) struct Modules {
    /// Each after those that it uses.
    pub list: Vec<Module>,
    /// Those that could not be read, or use themselves.
    pub broken: Vec<String>,
    /// What the user's file calls those that it uses.
    pub aliases: Aliases,
}

/// One `use`: the module, and what the file calls it.
pub(crate) struct Use {
    module: String,
    span: Span,
    alias: String,
    alias_span: Span,
}

/// The modules that a file uses, by a `use` or because it mentions complex numbers.
pub(crate) fn used_by(parse: &Parse, file: u32) -> Vec<Use> {
    let list = parse.ast.uses().map(|module| Use {
        module: module.module.text.to_string(),
        span: module.module.span,
        alias: module.alias.text.to_string(),
        alias_span: module.alias.span,
    });
    // Complex numbers need no `use`.
    let complex = standard::mentions_complex(parse, file).map(|span| Use {
        module: standard::COMPLEX.to_string(),
        span,
        alias: standard::COMPLEX.to_string(),
        alias_span: span,
    });
    list.chain(complex).collect()
}

enum State {
    /// Being read: the place in the chain.
    Open(usize),
    Done,
    /// There is no such module.
    Absent,
}

/// A file whose `use`s are being followed.
struct Frame {
    /// `None` for the user's file.
    module: Option<(String, ModuleSource)>,
    uses: std::vec::IntoIter<Use>,
    aliases: Aliases,
    /// The `use` that led here.
    from: Span,
}

impl Frame {
    /// The full names that a name may stand for in this file, the nearest first.
    fn candidates(&self, name: &str) -> Vec<String> {
        let directory = self.module.as_ref().and_then(|(own, _)| own.rsplit_once('.'));
        let near = directory.map(|(directory, _)| format!("{directory}.{name}"));
        near.into_iter().chain([name.to_string()]).collect()
    }
}

/// Reads the modules that a file uses, and those that they use.
pub(crate) fn collect(
    uses: Vec<Use>,
    resolve: &mut Resolve,
    diagnostics: &mut Vec<Diagnostic>,
) -> Modules {
    let mut modules = Modules::default();
    let mut states: HashMap<String, State> = HashMap::new();
    let open = |module, uses: Vec<Use>, from| {
        let aliases = Aliases::new();
        Frame { module, uses: uses.into_iter(), aliases, from }
    };
    let mut chain = vec![open(None, uses, Span::NONE)];
    while let Some(frame) = chain.last_mut() {
        let Some(Use { module: name, span, alias, alias_span }) = frame.uses.next() else {
            match chain.pop() {
                Some(Frame { module: Some((name, source)), aliases, .. }) => {
                    states.insert(name.clone(), State::Done);
                    let aliases = with_last_names(aliases);
                    modules.list.push(Module { name, source, aliases });
                }
                Some(frame) => modules.aliases = with_last_names(frame.aliases),
                None => {}
            }
            continue;
        };
        let candidates = frame.candidates(&name);
        let found = find(&candidates, &mut states, resolve);
        let full = match &found {
            Ok((full, _)) => full.clone(),
            Err(_) => candidates.into_iter().next().unwrap_or_default(),
        };
        if let Some(other) = frame.aliases.insert(alias.clone(), full.clone())
            && other != full
        {
            let message = format!("`{alias}` would stand for the modules `{other}` and `{full}`");
            let last = alias.rsplit('.').next().unwrap_or_default();
            let help = format!("give one of them another name: `use {name} as {last}2`");
            diagnostics.push(Diagnostic::error("J011", alias_span, message).help(help));
        }
        match found {
            Ok((full, Some(source))) => {
                let uses = used_by(
                    &parser::parse(&source.text, source.file, &mut Vec::new()),
                    source.file,
                );
                states.insert(full.clone(), State::Open(chain.len()));
                chain.push(open(Some((full, source)), uses, span));
            }
            Ok((full, None)) => {
                if let Some(State::Open(depth)) = states.get(&full) {
                    diagnostics.push(circle(&chain[*depth..], &full, span));
                    modules.broken.push(full);
                }
            }
            Err(reason) => {
                let message = format!("the module `{full}` cannot be loaded: {reason}");
                let help = "a module is a file of its name with the ending .jut, in the directory \
                            of the file that uses it or of the program; `lib.stats` is lib/stats.jut";
                let error = Diagnostic::error("J015", span, message);
                let library = format!("std.{full}");
                diagnostics.push(match crate::standard::module(&library) {
                    Some(_) => {
                        error.help(format!("the standard library has `use {library}`; {help}"))
                    }
                    None => error.help(help),
                });
                states.insert(full.clone(), State::Done);
                modules.broken.push(full);
            }
        }
    }
    modules
}

/// The last name of a path stands for the module too, unless it would stand for two: after `use lib.stats`, `stats.mean` is
/// `lib.stats.mean`.
fn with_last_names(mut aliases: Aliases) -> Aliases {
    let mut last: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (alias, full) in &aliases {
        if let Some((_, name)) = alias.rsplit_once('.') {
            let again = last.contains_key(name) || aliases.contains_key(name);
            last.insert(name.to_string(), (!again).then(|| full.clone()));
        }
    }
    aliases.extend(last.into_iter().filter_map(|(name, full)| Some((name, full?))));
    aliases
}

/// The first of the candidates that there is, with its text if it was not read before; or why there
/// is none.
fn find(
    candidates: &[String],
    states: &mut HashMap<String, State>,
    resolve: &mut Resolve,
) -> Result<(String, Option<ModuleSource>), String> {
    for name in candidates {
        match states.get(name) {
            Some(State::Absent) => continue,
            Some(_) => return Ok((name.clone(), None)),
            None if name == "prim" => return Err("`prim` stands for the primitives".to_string()),
            None => {}
        }
        match resolve(name)? {
            Some(source) => return Ok((name.clone(), Some(source))),
            None => states.insert(name.clone(), State::Absent),
        };
    }
    let files: Vec<String> = candidates.iter().map(|name| file_name(name)).collect();
    let library = match candidates.last() {
        Some(name) if standard::is_name(name) => {
            let names: Vec<&str> = standard::MODULES.iter().map(|(name, _)| *name).collect();
            format!(", and the standard library has {}", names.join(", "))
        }
        _ => String::new(),
    };
    Err(format!("there is no file {}{library}", files.join(" or ")))
}

/// The file of a module, from the program's directory on: `lib/stats.jut` of `lib.stats`.
pub fn file_name(module: &str) -> String {
    format!("{}.jut", module.replace('.', "/"))
}

/// J016: `name` is used again by the last file of the chain that it opened.
fn circle(chain: &[Frame], name: &str, span: Span) -> Diagnostic {
    let names = chain.iter().filter_map(|frame| frame.module.as_ref()).map(|(own, _)| own.as_str());
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
