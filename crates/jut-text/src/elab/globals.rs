//! Names outside definitions: those of the file at hand, and those of the modules that it uses.
//!
//! A declaration `mean` of the module `stats` has the full name `stats.mean` everywhere in the
//! program. Its own file calls it `mean`; a file that says `use stats` calls it `stats.mean`; other files do
//! not see it.

use super::File;
use super::alias::Alias;
use crate::ast::Decl;
use jut_ad::language::Linear;
use jut_ir::{ConRef, DataId, Diagnostic, FuncId, Literal, Span, Type};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a name outside definitions means.
#[derive(Clone, Copy)]
pub(crate) enum Global {
    Func(FuncId),
    Con(ConRef),
    /// A definition that takes functions, by its number: see [`super::template`].
    Template(usize),
}

/// What the names of a file mean.
#[derive(Default)]
pub(crate) struct View {
    /// The modules that it uses: their full names by what it calls them.
    pub used: BTreeMap<String, String>,
    /// Derivatives that it takes, as it writes them: `f.grad`, `f{x,y}.jvp`.
    pub derived: HashMap<String, Result<FuncId, Diagnostic>>,
    /// Derivatives at a point that it keeps, by the same names: `f.linearize`.
    pub linearized: HashMap<String, Result<Linear, Diagnostic>>,
    /// The module, empty for the user's file.
    module: String,
}

/// The declarations so far, by full name.
#[derive(Default)]
pub(crate) struct Globals {
    pub names: HashMap<String, Global>,
    pub datas: HashMap<String, DataId>,
    /// Those that are constants, with their value if it is a literal.
    pub constants: HashMap<FuncId, Option<Literal>>,
    /// The fields of records: their numbers by name.
    pub fields: HashMap<DataId, HashMap<String, usize>>,
    /// Records with sizes: how many.
    pub sized: HashMap<DataId, usize>,
    /// Other names of types.
    pub aliases: HashMap<String, Alias>,
    /// Rules of definitions that take functions: their numbers, and those of the definitions that state their derivatives.
    pub rules: HashMap<usize, usize>,
    /// Those that have been called.
    pub written_out: RefCell<HashSet<usize>>,
    /// Derivatives that the program takes: the types that their results are derivatives of, or by.
    pub tangents: HashMap<FuncId, Vec<Option<Type>>>,
    /// Every name that the files so far declare, now or later.
    pub declared: HashMap<String, Span>,
    /// The modules of the program.
    pub modules: HashSet<String>,
    /// The length of the longest module name.
    pub longest: usize,
    /// Those that could not be loaded.
    pub broken: HashSet<String>,
    /// Declarations that were refused: whoever uses them stops without a message.
    poisoned: HashSet<String>,
    /// What names mean, by file, and whose names are read.
    views: Vec<View>,
    current: Cell<usize>,
}

impl Globals {
    /// Begins a file.
    pub fn enter(&mut self, file: &File) {
        self.current.set(self.views.len());
        self.views.push(View { module: file.module.to_string(), ..View::default() });
        for name in file.failed {
            self.poison(name);
        }
        for decl in &file.ast.decls {
            let name = match decl {
                Decl::Use(_) | Decl::Rule(_) => continue,
                Decl::Data(d) => {
                    for (name, _) in &d.constructors {
                        self.declared.insert(self.full(name.text), name.span);
                    }
                    d.name
                }
                Decl::Alias(a) => a.name,
                Decl::Def(d) => d.name,
                Decl::Extern(p) => p.def.name,
            };
            self.declared.insert(self.full(name.text), name.span);
        }
    }

    /// What the names of the file at hand mean.
    pub fn view(&self) -> &View {
        &self.views[self.current.get()]
    }

    pub fn view_mut(&mut self) -> &mut View {
        &mut self.views[self.current.get()]
    }

    /// Reads names as another file does, the one with this number; gives the number of the one before.
    pub fn read_as(&self, view: usize) -> usize {
        self.current.replace(view)
    }

    /// The number of the file at hand.
    pub fn file(&self) -> usize {
        self.current.get()
    }

    /// The full name of a declaration of the file at hand.
    pub fn full(&self, name: &str) -> String {
        let module = &self.view().module;
        if module.is_empty() { name.to_string() } else { format!("{module}.{name}") }
    }

    /// Marks a declaration of the file at hand as refused.
    pub fn poison(&mut self, name: &str) {
        self.poisoned.insert(self.full(name));
    }

    /// The module in front of a name: the longest for which `known`.
    fn module_of<'n>(&self, name: &'n str, known: impl Fn(&str) -> bool) -> Option<&'n str> {
        let dots = name.match_indices('.').map(|(at, _)| at);
        let dots = dots.take_while(|at| *at <= self.longest);
        dots.map(|at| &name[..at]).filter(|module| known(module)).last()
    }

    /// The module that the file at hand uses and that stands in front of a name: what the file calls
    /// it, and its full name.
    fn used_in<'g, 'n>(&'g self, name: &'n str) -> Option<(&'n str, &'g str)> {
        let alias = self.module_of(name, |module| self.view().used.contains_key(module))?;
        Some((alias, self.view().used.get(alias)?))
    }

    /// The module that a name says, which the file at hand uses, and the rest of the name.
    pub fn used_module<'g, 'n>(&'g self, name: &'n str) -> Option<(&'g str, &'n str)> {
        let (alias, full) = self.used_in(name)?;
        Some((full, name.get(alias.len() + 1..)?))
    }

    /// The full name that a name stands for in the file at hand; `None` if it cannot be seen.
    fn key<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        if self.modules.is_empty() {
            return Some(Cow::Borrowed(name));
        }
        if !self.view().module.is_empty() {
            let own = self.full(name);
            if self.declared.contains_key(&own) || self.poisoned.contains(&own) {
                return Some(Cow::Owned(own));
            }
        }
        match self.used_in(name) {
            Some((alias, full)) if alias == full => Some(Cow::Borrowed(name)),
            Some((alias, full)) => Some(Cow::Owned(format!("{full}{}", &name[alias.len()..]))),
            // The user's file calls its own names as they are.
            None if self.view().module.is_empty() && !self.is_in_module(name) => {
                Some(Cow::Borrowed(name))
            }
            None => None,
        }
    }

    fn is_in_module(&self, name: &str) -> bool {
        self.module_of(name, |module| self.modules.contains(module)).is_some()
    }

    /// The function or constructor with a name.
    pub fn global(&self, name: &str) -> Option<Global> {
        self.names.get(self.key(name)?.as_ref()).copied()
    }

    /// The function or constructor that a module has under a name, whether the file at hand uses the module or not.
    pub fn module_name(&self, module: &str, name: &str) -> Option<Global> {
        let full = || format!("{module}.{name}");
        self.modules.contains(module).then(full).and_then(|full| self.names.get(&full).copied())
    }

    /// The data type that a module has under a name.
    pub fn module_data(&self, module: &str, name: &str) -> Option<DataId> {
        let full = || format!("{module}.{name}");
        self.modules.contains(module).then(full).and_then(|full| self.datas.get(&full).copied())
    }

    /// The constant with a name, and its value if it is a literal.
    pub fn constant(&self, name: &str) -> Option<(FuncId, Option<Literal>)> {
        let Global::Func(func) = self.global(name)? else { return None };
        self.constants.get(&func).map(|value| (func, *value))
    }

    /// The data type with a name.
    pub fn data(&self, name: &str) -> Option<DataId> {
        self.datas.get(self.key(name)?.as_ref()).copied()
    }

    /// The type that a name is another name of.
    pub fn alias(&self, name: &str) -> Option<&Alias> {
        self.aliases.get(self.key(name)?.as_ref())
    }

    /// Where a name is declared, perhaps after its use.
    pub fn declared_at(&self, name: &str) -> Option<Span> {
        self.declared.get(self.key(name)?.as_ref()).copied()
    }

    /// Whether an error about this name was reported already.
    pub fn is_poisoned(&self, name: &str) -> bool {
        self.key(name).is_some_and(|key| self.poisoned.contains(key.as_ref()))
            || self.used_in(name).is_some_and(|(_, full)| self.broken.contains(full))
    }

    /// Functions and constructors, as the file at hand calls them.
    pub fn visible(&self) -> impl Iterator<Item = (Cow<'_, str>, Global)> {
        let names = self.names.iter();
        names.flat_map(|(name, global)| self.local(name).map(move |name| (name, *global)))
    }

    /// Data types and other names of types, as the file at hand calls them.
    pub fn visible_datas(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.datas.keys().chain(self.aliases.keys()).flat_map(|name| self.local(name))
    }

    /// What the file at hand calls a full name: nothing if it does not see it, and two names after `use lib.stats`.
    fn local<'n>(&'n self, full: &'n str) -> impl Iterator<Item = Cow<'n, str>> {
        let view = self.view();
        let own = full.strip_prefix(view.module.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let own = own.filter(|_| !view.module.is_empty()).map(Cow::Borrowed);
        let used = view.used.iter().filter_map(move |(alias, module)| {
            let rest = full.strip_prefix(module.as_str())?;
            rest.starts_with('.').then(|| Cow::Owned(format!("{alias}{rest}")))
        });
        let plain = view.module.is_empty() && !self.is_in_module(full);
        own.into_iter().chain(used).chain(plain.then_some(Cow::Borrowed(full)))
    }

    /// What to do about an unknown name that looks like one of a module.
    pub fn module_to_use(&self, name: &str) -> Option<String> {
        let (module, _) = name.rsplit_once('.')?;
        if self.used_in(name).is_some() {
            return None;
        }
        match self.module_of(name, |module| self.modules.contains(module)) {
            Some(module) => {
                Some(format!("write `use {module}` in this file, before the definition"))
            }
            None => {
                let library = format!("std.{module}");
                Some(match crate::standard::module(&library) {
                    Some(_) => format!("write `use {library}` in this file, before the definition"),
                    None => format!("if `{module}` is a module, write `use {module}` first"),
                })
            }
        }
    }
}
