//! Names in scope, with an undo log: leaving a block costs what the block bound.
//!
//! A name that is a *variable* (`var s = e`) stands for a place of [`Scope::variables`], which holds its present
//! value: an assignment changes the place, so it outlives the block that it stands in.

use jut_ir::hash::HashMap;
use jut_ir::{Atom, Cap, LVar, NVar, Size, Span, Type};
use std::cell::Cell;

/// What a local name means.
#[derive(Clone, Copy)]
pub(crate) enum Entity {
    /// A non-linear value; an alias of another name or a literal has no variable of its own.
    N(Atom),
    /// A linear value.
    L(LVar),
    /// A capability or reference.
    C(Cap),
    /// A function, by its number among those that were given: see [`super::template`].
    F(usize),
    /// Bound by a statement that was refused.
    Poison,
}

/// The number of a variable, in the order of declarations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VarId(usize);

impl VarId {
    /// Whether it was one of the first so many to be declared.
    pub fn is_before(self, count: usize) -> bool {
        self.0 < count
    }
}

/// A variable of the user's.
pub(crate) struct Variable<'s> {
    pub name: &'s str,
    /// Where it is declared.
    pub span: Span,
    /// Its type, which never changes.
    pub ty: Type,
    /// Its value at the place that elaboration has come to.
    pub value: Atom,
    pub assigned: bool,
}

/// A name that is bound.
#[derive(Clone, Copy)]
struct Binding {
    entity: Entity,
    /// In place of the entity.
    variable: Option<VarId>,
    /// How many loops and branches are around it.
    level: usize,
    /// Its number among all bindings of the definition.
    id: BindingId,
}

/// The number of a binding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BindingId(usize);

/// The names in scope, and the transparent names by their definition.
#[derive(Default)]
pub(crate) struct Scope<'s> {
    names: HashMap<&'s str, Binding>,
    /// How many loops and branches are around what is bound next.
    pub level: usize,
    /// How often each binding has been read.
    reads: Vec<Cell<u32>>,
    variables: Vec<Variable<'s>>,
    sizes: HashMap<Size, Vec<NVar>>,
    log: Vec<Undo<'s>>,
}

enum Undo<'s> {
    Name(&'s str, Option<Binding>),
    Size(Size),
}

/// Names and what they mean.
#[derive(Default)]
pub(crate) struct Names<'s>(HashMap<&'s str, Binding>);

impl<'s> Names<'s> {
    /// The same names once more.
    pub fn copy(&self) -> Names<'s> {
        Names(self.0.clone())
    }

    /// The number of the function that a name is.
    pub fn function(&self, name: &str) -> Option<usize> {
        match self.0.get(name)?.entity {
            Entity::F(number) => Some(number),
            _ => None,
        }
    }
}

/// A point to return to.
pub(crate) struct Mark(usize);

impl<'s> Scope<'s> {
    pub fn get(&self, name: &str) -> Option<Entity> {
        let binding = self.names.get(name)?;
        if let Some(reads) = self.reads.get(binding.id.0) {
            reads.set(reads.get().saturating_add(1));
        }
        Some(self.entity(binding))
    }

    fn entity(&self, binding: &Binding) -> Entity {
        match binding.variable {
            Some(variable) => Entity::N(self.variables[variable.0].value),
            None => binding.entity,
        }
    }

    /// The binding of a name, which is not a use of it.
    pub fn binding(&self, name: &str) -> Option<BindingId> {
        self.names.get(name).map(|binding| binding.id)
    }

    /// The value that a name has outside of the innermost loop or branch, unless it is bound in it.
    pub fn outer(&self, name: &str) -> Option<(BindingId, Atom)> {
        match self.names.get(name) {
            Some(Binding { entity: Entity::N(atom), variable: None, level, id })
                if *level < self.level =>
            {
                Some((*id, *atom))
            }
            _ => None,
        }
    }

    /// The non-linear value of a name, which is not a use of it.
    pub fn value(&self, name: &str) -> Option<Atom> {
        match self.entity(self.names.get(name)?) {
            Entity::N(atom) => Some(atom),
            _ => None,
        }
    }

    /// How often a binding has been read.
    pub fn reads(&self, id: BindingId) -> u32 {
        self.reads.get(id.0).map_or(0, Cell::get)
    }

    pub fn names(&self) -> impl Iterator<Item = &'s str> {
        self.names.keys().copied()
    }

    /// Binds a name until the mark before is restored.
    pub fn bind(&mut self, name: &'s str, entity: Entity) {
        self.bind_as(name, entity, None);
    }

    fn bind_as(&mut self, name: &'s str, entity: Entity, variable: Option<VarId>) {
        let id = BindingId(self.reads.len());
        self.reads.push(Cell::new(0));
        let old = self.names.insert(name, Binding { entity, variable, level: self.level, id });
        self.log.push(Undo::Name(name, old));
    }

    /// Declares a variable, until the mark before is restored.
    pub fn declare(&mut self, name: &'s str, span: Span, ty: Type, value: Atom) {
        let variable = VarId(self.variables.len());
        self.variables.push(Variable { name, span, ty, value, assigned: false });
        self.bind_as(name, Entity::N(value), Some(variable));
    }

    /// The variable that a name is.
    pub fn variable(&self, name: &str) -> Option<VarId> {
        self.names.get(name)?.variable
    }

    /// All variables that were declared so far.
    pub fn variables(&self) -> &[Variable<'s>] {
        &self.variables
    }

    pub fn place(&self, variable: VarId) -> &Variable<'s> {
        &self.variables[variable.0]
    }

    /// Gives a variable a new value.
    pub fn set(&mut self, variable: VarId, value: Atom) {
        self.variables[variable.0].value = value;
    }

    /// Notes that the text assigns a variable.
    pub fn note_assigned(&mut self, variable: VarId) {
        self.variables[variable.0].assigned = true;
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

    /// The names in scope, to be read again elsewhere.
    pub fn snapshot(&self) -> Names<'s> {
        Names(self.names.clone())
    }

    /// Reads other names instead; gives those before, which have to come back before a mark from before is
    /// restored.
    pub fn exchange(&mut self, names: Names<'s>) -> Names<'s> {
        Names(std::mem::replace(&mut self.names, names.0))
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
