//! Names that MLIR can read, all different.

use cranelift_entity::SecondaryMap;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_runtime::symbols;
use std::collections::{HashMap, HashSet};

/// The function through which a program is called from outside.
pub(crate) const ENTRY: &str = "entry";

/// A name that MLIR can read: letters, digits, `_` and `$`, not beginning with a digit.
pub(crate) fn readable(name: &str, extra: &str) -> String {
    let ok = |c: char| c.is_ascii_alphanumeric() || c == '_' || extra.contains(c);
    let mut text: String = name.chars().map(|c| if ok(c) { c } else { '$' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        text.insert(0, '_');
    }
    text
}

/// Names that are taken.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// How often a name was asked for again.
    again: HashMap<String, usize>,
}

impl Names {
    /// A name that is not taken yet; takes it.
    pub fn fresh(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        while !self.taken.insert(unique.clone()) {
            let again = self.again.entry(name.to_owned()).or_default();
            *again += 1;
            unique = format!("{name}${again}");
        }
        unique
    }
}

/// What the functions are called: as in the program, but apart from each other, from the runtime and
/// from the prelude.
pub(crate) fn names(program: &LoopProgram) -> SecondaryMap<LoopFuncId, String> {
    let mut names = SecondaryMap::new();
    let mut taken = Names::default();
    taken.fresh(ENTRY);
    for (id, function) in program.funcs.iter() {
        let mut name = readable(&function.name, ".");
        if name.starts_with("jut") || symbols::address(&name).is_some() {
            name.insert_str(0, "user.");
        }
        names[id] = taken.fresh(&name);
    }
    names
}
