//! No two files of a crate import each other, directly or over others: what a file stands on does not stand on it. A file and
//! its own children may.

use jut_ir::graph::strongly_connected;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// The path of a module: `["elab", "body"]`.
type Module = Vec<String>;

/// The paths that a file names, from the root of its crate.
struct Named<'m> {
    own: &'m Module,
    found: BTreeSet<Module>,
}

impl Named<'_> {
    /// A path as it is written, if it is one of this crate.
    fn add(&mut self, path: &[String]) {
        let mut words = path.iter().map(String::as_str).peekable();
        let mut from = match words.peek() {
            Some(&"crate") => Vec::new(),
            Some(&"self" | &"super") => self.own.clone(),
            _ => return,
        };
        while let Some(word) = words.next_if(|w| ["crate", "self", "super"].contains(w)) {
            if word == "super" {
                from.pop();
            }
        }
        from.extend(words.map(String::from));
        self.found.insert(from);
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |word: &syn::Ident| [before, &[word.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.add(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|t| self.tree(before, t)),
        }
    }
}

impl Visit<'_> for Named<'_> {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.tree(&[], &item.tree);
    }
    fn visit_path(&mut self, path: &syn::Path) {
        self.add(&path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
    // A module within a file: its tests, or what there is without a feature.
    fn visit_item_mod(&mut self, _: &syn::ItemMod) {}
}

/// The files of a folder of sources, by their modules.
fn files(folder: &Path, within: &Module, all: &mut BTreeMap<Module, PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, &[&within[..], &[name]].concat(), all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let own = match name.as_str() {
                "lib" | "main" | "mod" => within.clone(),
                _ => [&within[..], &[name]].concat(),
            };
            all.insert(own, path);
        }
    }
}

/// The circles of a crate: the files of each.
fn circles(source: &Path) -> Vec<Vec<String>> {
    let mut all = BTreeMap::new();
    files(source, &Vec::new(), &mut all);
    let modules: Vec<&Module> = all.keys().collect();
    let number = |module: &[String]| modules.iter().position(|m| m[..] == *module);
    let imports: Vec<Vec<usize>> = all
        .iter()
        .map(|(own, path)| {
            let text = std::fs::read_to_string(path).expect("readable");
            let file = syn::parse_file(&text).expect("a Rust file");
            let mut named = Named { own, found: BTreeSet::new() };
            named.visit_file(&file);
            // The file that the longest part of a path names.
            let file = |path: &Module| (0..=path.len()).rev().find_map(|k| number(&path[..k]));
            let others = named.found.iter().filter_map(file);
            let family = |k: &usize| modules[*k].starts_with(own) || own.starts_with(modules[*k]);
            others.filter(|k| !family(k)).collect()
        })
        .collect();
    let found = strongly_connected(all.len(), 0..all.len(), |k, out| out.extend(&imports[k]));
    let circles = found.into_iter().filter(|component| component.is_recursive);
    circles.map(|c| c.members.iter().map(|k| modules[*k].join("::")).collect()).collect()
}

#[test]
fn no_two_files_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = std::fs::read_dir(root.join("crates")).expect("the crates");
    let mut sources: Vec<PathBuf> =
        crates.map(|entry| entry.expect("an entry").path().join("src")).collect();
    sources.extend(["runtime/src", "tests/src", "benches/src"].map(|source| root.join(source)));
    assert!(sources.len() > 15, "{sources:?}");
    let found: BTreeMap<String, _> = sources
        .iter()
        .map(|source| (source.display().to_string(), circles(source)))
        .filter(|(_, circles)| !circles.is_empty())
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_circle_is_found() {
    let folder = std::env::temp_dir().join(format!("jut-circles-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("lib.rs", "mod a; mod b; mod c; pub use a::A;");
    write("a.rs", "mod inner; use crate::b::B; pub struct A(B); fn f() { inner::g() }");
    write("a/inner.rs", "use super::A; pub fn g() {}");
    write("b.rs", "pub struct B; fn f() { crate::c::f() }");
    write("c.rs", "use super::{b, a::inner}; pub fn f() {}");
    let found = circles(&folder);
    std::fs::remove_dir_all(&folder).expect("it was there");
    assert_eq!(found, [["b", "c"]]);
}
