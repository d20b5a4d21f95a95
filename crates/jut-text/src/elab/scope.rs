//! Names in scope, with an undo log: leaving a block costs what the block bound.

use jut_ir::hash::HashMap;
use jut_ir::{Atom, Cap, LVar, NVar, Size};

/// What a local name means.
#[derive(Clone, Copy)]
pub(crate) enum Entity {
    /// A non-linear value; an alias of another name or a literal has no variable of its own.
    N(Atom),
    /// A linear value.
    L(LVar),
    /// A capability or reference.
    C(Cap),
    /// Bound by a statement that was refused.
    Poison,
}

/// The names in scope, and the transparent names by their definition.
#[derive(Default)]
pub(crate) struct Scope<'s> {
    names: HashMap<&'s str, Entity>,
    sizes: HashMap<Size, Vec<NVar>>,
    log: Vec<Undo<'s>>,
}

enum Undo<'s> {
    Name(&'s str, Option<Entity>),
    Size(Size),
}

/// A point to return to.
pub(crate) struct Mark(usize);

impl<'s> Scope<'s> {
    pub fn get(&self, name: &str) -> Option<Entity> {
        self.names.get(name).copied()
    }

    pub fn names(&self) -> impl Iterator<Item = &'s str> {
        self.names.keys().copied()
    }

    /// Binds a name until the mark before is restored.
    pub fn bind(&mut self, name: &'s str, entity: Entity) {
        let old = self.names.insert(name, entity);
        self.log.push(Undo::Name(name, old));
    }

    /// Remembers that a transparent name has this definition.
    pub fn define(&mut self, size: &Size, name: NVar) {
        self.sizes.entry(size.clone()).or_default().push(name);
        self.log.push(Undo::Size(size.clone()));
    }

    /// A transparent name in scope with this definition.
    pub fn defined(&self, size: &Size) -> Option<NVar> {
        self.sizes.get(size).and_then(|names| names.last()).copied()
    }

    pub fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Forgets what was bound since the mark.
    pub fn restore(&mut self, mark: Mark) {
        while self.log.len() > mark.0 {
            match self.log.pop() {
                Some(Undo::Name(name, Some(old))) => {
                    self.names.insert(name, old);
                }
                Some(Undo::Name(name, None)) => {
                    self.names.remove(name);
                }
                Some(Undo::Size(size)) => {
                    if let Some(names) = self.sizes.get_mut(&size) {
                        names.pop();
                    }
                }
                None => return,
            }
        }
    }
}
