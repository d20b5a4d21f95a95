//! The standard library: modules in the language that are part of jut.
//!
//! `use std.stats` finds them where no file of the program has that name, so a program that has a directory `std`
//! means what it meant. A library is large and a program uses little of it. So of these modules only those definitions are
//! elaborated, checked and optimised that the program mentions, or that those mention ([`keep_mentioned`]); users'
//! own modules are elaborated whole, because their errors are of interest and their functions can be called.
//!
//! What is mentioned is read off the tokens, before there are types: every path that begins with a name of the module,
//! wherever it stands. That is at most too much (a local name that is that of a definition beside it). A name that the
//! module does not have keeps all of it, so that the message can say which there are.
//!
//! *Cost*: linear in the texts.

use crate::ast::{Aliases, Decl};
use crate::lex::{Kind, Token};
use crate::parser::Parse;
use jut_ir::Span;
use std::collections::{HashMap, HashSet};

/// The modules, by name, with their texts.
pub const MODULES: &[(&str, &str)] = &[
    ("std.array", include_str!("standard/array.jut")),
    ("std.complex", include_str!("standard/complex.jut")),
    ("std.interp", include_str!("standard/interp.jut")),
    ("std.linalg", include_str!("standard/linalg.jut")),
    ("std.nn", include_str!("standard/nn.jut")),
    ("std.ode", include_str!("standard/ode.jut")),
    ("std.optim", include_str!("standard/optim.jut")),
    ("std.quad", include_str!("standard/quad.jut")),
    ("std.random", include_str!("standard/random.jut")),
    ("std.special", include_str!("standard/special.jut")),
    ("std.stats", include_str!("standard/stats.jut")),
];

/// The module that has a function of this name.
pub(crate) fn module_with(name: &str) -> Option<&'static str> {
    let has = |text: &str| {
        text.lines().filter_map(|line| line.strip_prefix("def ")).any(|head| {
            let rest = head.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(['(', '[']))
        })
    };
    MODULES.iter().find(|(_, text)| has(text)).map(|(module, _)| *module)
}

/// The module of complex numbers, which needs no `use`: see [`mentions_complex`].
pub(crate) const COMPLEX: &str = "std.complex";

/// What operators and functions of whole arrays may mean where there are complex numbers.
const COMPLEX_OPERATORS: &[(&[&str], &[&str])] = &[
    (&["+", "+="], &["add", "add_real"]),
    (&["-", "-="], &["sub", "sub_real", "real_sub", "neg"]),
    (&["*", "*=", "prod"], &["mul", "mul_real"]),
    (&["/", "/=", "mean"], &["div", "div_real", "real_div"]),
    (&["^"], &["mul", "real_div", "pow", "pow_real", "powi"]),
    (&["=="], &["equal"]),
    (&["!="], &["unequal"]),
];

/// Where a file mentions complex numbers that it does not declare itself, first: the type `c64`, or `complex(..)`.
pub(crate) fn mentions_complex(parse: &Parse, file: u32) -> Option<Span> {
    let declares = |name: &str| {
        parse.ast.decls.iter().any(|decl| match decl {
            Decl::Data(d) => {
                d.name.text == name || d.constructors.iter().any(|(con, _)| con.text == name)
            }
            Decl::Def(d) => d.name.text == name,
            Decl::Alias(a) => a.name.text == name,
            Decl::Extern(p) => p.def.name.text == name,
            Decl::Use(_) | Decl::Rule(_) => false,
        })
    };
    let tokens = &parse.tokens.tokens;
    // A type stands behind what says so; elsewhere `c64` is an ordinary name.
    let types = |at: usize| match at.checked_sub(1).map(|k| (k, &tokens[k])) {
        Some((k, token)) if token.is("(") => k > 0 && tokens[k - 1].text == "fn",
        Some((_, token)) => [":", "]", "->", "#("].iter().any(|symbol| token.is(symbol)),
        None => false,
    };
    let mut found = (0..tokens.len()).filter(|at| {
        let is_path = *at > 0 && tokens[at - 1].is(".");
        tokens[*at].kind == Kind::Name
            && match tokens[*at].text {
                "c64" => types(*at),
                "complex" => !is_path && tokens.get(at + 1).is_some_and(|token| token.is("(")),
                _ => false,
            }
    });
    let at = found.find(|at| !declares(tokens[*at].text))?;
    Some(Span { file, start: tokens[at].start, end: tokens[at].end })
}

/// The text of a module of the standard library.
pub fn module(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Functions of a module whose names begin with the same word as one that it does not have, or else its first ones.
pub(crate) fn alternatives(module_name: &str, name: &str) -> Option<Vec<&'static str>> {
    const MOST: usize = 8;
    let text = module(module_name)?;
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let defined = text.lines().filter_map(|line| line.strip_prefix("def ")?.split(ends).next());
    let word = name.split('_').next().unwrap_or(name);
    let alike: Vec<&str> =
        defined.clone().filter(|own| own.split('_').next() == Some(word)).collect();
    let list = if alike.is_empty() { defined.collect() } else { alike };
    Some(list.into_iter().take(MOST).collect())
}

/// Whether a module of this name would be one of the library.
pub(crate) fn is_name(module: &str) -> bool {
    module.starts_with("std.")
}

/// What a text finds that came by itself, without files beside it: the library.
///
/// # Errors
/// For every name that is not one of the library's: why there is no such module.
pub fn alone(name: &str) -> Result<Option<&'static str>, String> {
    match module(name) {
        None if !is_name(name) => {
            Err("this text stands alone, without files beside it".to_string())
        }
        found => Ok(found),
    }
}

/// A file of a program: its name as a module (empty for the program itself), its text, what it calls the modules that
/// it uses, and what was parsed.
pub(crate) struct File<'f, 's> {
    pub module: &'f str,
    pub text: &'s str,
    pub aliases: &'f Aliases,
    pub parse: Parse<'s>,
}

impl File<'_, '_> {
    fn is_standard(&self) -> bool {
        module(self.module) == Some(self.text)
    }
}

/// A definition of the library, or the rule of one.
struct Definition<'f, 's> {
    file: usize,
    /// Its place in the list of declarations.
    number: usize,
    tokens: &'f [Token<'s>],
}

/// Takes out of the library's modules the definitions that nobody mentions.
pub(crate) fn keep_mentioned(files: &mut [File]) {
    if !files.iter().any(File::is_standard) {
        return;
    }
    let kept = mentioned(files);
    for (number, file) in files.iter_mut().enumerate() {
        if file.is_standard() {
            let mut place = 0..;
            file.parse.ast.decls.retain(|decl| {
                let place = place.next().unwrap_or_default();
                !matches!(decl, Decl::Def(_) | Decl::Rule(_)) || kept.contains(&(number, place))
            });
        }
    }
}

/// The definitions of the library that are needed: numbers of files and of declarations.
fn mentioned(files: &[File]) -> HashSet<(usize, usize)> {
    let mut library: HashMap<&str, HashMap<&str, Vec<Definition>>> = HashMap::new();
    // What is looked through: a file, and a part of its tokens.
    let mut waiting: Vec<(usize, &[Token])> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if !file.is_standard() {
            waiting.push((number, &file.parse.tokens.tokens));
            continue;
        }
        let definitions = library.entry(file.module).or_default();
        let mut rest = file.parse.tokens.tokens.as_slice();
        // From the last to the first: each has the tokens from its head to where the next one begins.
        for (place, decl) in file.parse.ast.decls.iter().enumerate().rev() {
            let start = match decl {
                Decl::Use(_) => continue,
                Decl::Data(d) => d.name.span.start,
                Decl::Alias(a) => a.name.span.start,
                Decl::Def(d) => d.head.start,
                Decl::Rule(rule) => rule.func.span.start,
                Decl::Extern(p) => p.def.head.start,
            };
            let tokens;
            (rest, tokens) = rest.split_at(rest.partition_point(|token| token.start < start));
            let name = match decl {
                Decl::Def(d) => d.name.text,
                // It comes with the definition whose derivative it states.
                Decl::Rule(rule) => rule.func.text,
                // It has no sizes, and its fields are named like functions.
                Decl::Data(_) if file.module == COMPLEX => continue,
                // Types stay, and so does what their sizes mention.
                Decl::Use(_) | Decl::Data(_) | Decl::Alias(_) | Decl::Extern(_) => {
                    waiting.push((number, tokens));
                    continue;
                }
            };
            let definition = Definition { file: number, number: place, tokens };
            definitions.entry(name).or_default().push(definition);
        }
    }
    let mut kept = HashSet::new();
    while let Some((number, tokens)) = waiting.pop() {
        let complex = match library.get(COMPLEX) {
            Some(known) if files[number].module != COMPLEX => Some(known),
            _ => None,
        };
        let complex = complex.into_iter().flat_map(|known| complex_mentions(tokens, known));
        for (module, name) in mentions(&files[number], tokens).chain(complex) {
            let Some(definitions) = library.get(module) else { continue };
            let found: Vec<&Definition> = match definitions.get(name) {
                Some(found) => found.iter().collect(),
                None if module != files[number].module => definitions.values().flatten().collect(),
                None => Vec::new(),
            };
            for definition in found {
                if kept.insert((definition.file, definition.number)) {
                    waiting.push((definition.file, definition.tokens));
                }
            }
        }
    }
    kept
}

/// The definitions on complex numbers that operators and plain names among tokens may stand for.
fn complex_mentions<'f, 's>(
    tokens: &'f [Token<'s>],
    known: &'f HashMap<&'s str, Vec<Definition<'_, 's>>>,
) -> impl Iterator<Item = (&'f str, &'f str)> {
    (0..tokens.len()).flat_map(move |at| {
        let token = &tokens[at];
        let is_field = at > 0 && tokens[at - 1].is(".");
        let operators = COMPLEX_OPERATORS.iter().filter(|(words, _)| words.contains(&token.text));
        let names = operators.flat_map(|(_, names)| names.iter().copied());
        let own = known.get_key_value(token.text).map(|(name, _)| *name);
        names
            .chain(own.filter(|_| token.kind == Kind::Name && !is_field))
            .map(|name| (COMPLEX, name))
    })
}

/// The modules and names that paths among the tokens of a file may stand for.
fn mentions<'f>(
    file: &'f File<'f, '_>,
    tokens: &'f [Token<'f>],
) -> impl Iterator<Item = (&'f str, &'f str)> {
    let starts = (0..tokens.len())
        .filter(|at| tokens[*at].kind == Kind::Name && !(*at > 0 && tokens[at - 1].is(".")));
    starts.flat_map(move |at| {
        let own = std::iter::once((file.module, plain(tokens[at].text)));
        let used = file.aliases.iter().filter_map(move |(alias, full)| {
            let mut at = at;
            for segment in alias.split('.') {
                let fits = tokens.get(at)?.text == segment && tokens.get(at + 1)?.is(".");
                at = if fits { at + 2 } else { return None };
            }
            Some((full.as_str(), plain(tokens.get(at)?.text)))
        });
        own.chain(used)
    })
}

/// A name without the mask of a derivative, `f{x}.jvp`.
fn plain(name: &str) -> &str {
    name.split('{').next().unwrap_or(name)
}
