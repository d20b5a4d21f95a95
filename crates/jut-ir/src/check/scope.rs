//! What is in scope at a point of a function, as marks on variable numbers.
//!
//! The environments of the typing rules (non-linear names, linear names, capabilities) are one
//! mark per variable and one stack of what was bound or hidden, newest last: entering a block
//! remembers the height of the stack, leaving it takes back what lies above. Nothing is copied.
//!
//! Two rules of linear names need a little more:
//! - a loop body sees only linear names bound inside it, so each linear name remembers how many
//!   loops stood around its binder;
//! - the arms of a `case` all start from the same linear names, so uses are logged, and the uses
//!   of an arm can be taken back before the next one ([`Scope::take_arm_uses`]).

use crate::entity::{Cap, LVar, NVar, SecondaryMap};
use crate::hash::HashSet;
use crate::ir::Function;

/// What a linear name may still be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Linear {
    /// Not bound yet.
    #[default]
    Unbound,
    /// Bound inside this many loops, and not used yet.
    Available(usize),
    /// Used.
    Used(usize),
    /// Its block has ended.
    Gone,
}

/// Why a name must not be bound. After [`Rebound::Name`] it is in scope all the same, so that one
/// mistake gives one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rebound {
    /// Another variable of this name is in scope.
    Name,
    /// The variable itself was bound before; every variable has one binder.
    Variable,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    N(NVar),
    L(LVar),
    C(Cap),
    Hidden(Cap),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Unbound,
    /// In scope, bound at this block depth.
    Bound(usize),
    Gone,
}

/// The names in scope.
pub(super) struct Scope<'a> {
    func: &'a Function,
    nvars: SecondaryMap<NVar, State>,
    lvars: SecondaryMap<LVar, Linear>,
    caps: SecondaryMap<Cap, State>,
    /// How many cap slices around hide a capability.
    hidden: SecondaryMap<Cap, u32>,
    /// Names of the non-linear variables and capabilities in scope.
    names: HashSet<&'a str>,
    /// Names of the linear variables in scope.
    linear_names: HashSet<&'a str>,
    changes: Vec<Change>,
    blocks: Vec<usize>,
    loops: usize,
    /// Linear names in the order of their uses.
    uses: Vec<LVar>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(func: &'a Function) -> Scope<'a> {
        Scope {
            func,
            nvars: SecondaryMap::new(),
            lvars: SecondaryMap::new(),
            caps: SecondaryMap::new(),
            hidden: SecondaryMap::new(),
            names: HashSet::default(),
            linear_names: HashSet::default(),
            changes: Vec::new(),
            blocks: Vec::new(),
            loops: 0,
            uses: Vec::new(),
        }
    }

    /// How many blocks are open.
    pub(super) fn depth(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn enter(&mut self) {
        self.blocks.push(self.changes.len());
    }

    /// Closes the innermost block. Gives the linear names bound in it that were never used.
    pub(super) fn leave(&mut self) -> Vec<LVar> {
        let mut unused = Vec::new();
        let start = self.blocks.pop().unwrap_or(0);
        for change in self.changes.drain(start..).rev() {
            match change {
                Change::N(v) => {
                    self.nvars[v] = State::Gone;
                    self.names.remove(self.func.nvars[v].name.as_str());
                }
                Change::C(c) => {
                    self.caps[c] = State::Gone;
                    self.names.remove(self.func.caps[c].name.as_str());
                }
                Change::Hidden(c) => self.hidden[c] -= 1,
                Change::L(x) => {
                    if matches!(self.lvars[x], Linear::Available(_)) {
                        unused.push(x);
                    }
                    self.lvars[x] = Linear::Gone;
                    self.linear_names.remove(self.func.lvars[x].name.as_str());
                }
            }
        }
        unused.reverse();
        unused
    }

    pub(super) fn enter_loop(&mut self) {
        self.loops += 1;
    }

    pub(super) fn leave_loop(&mut self) {
        self.loops -= 1;
    }

    /// How many loops are open.
    pub(super) fn loops(&self) -> usize {
        self.loops
    }

    /// Goes back to an earlier number of loops, after an error inside one.
    pub(super) fn reset_loops(&mut self, loops: usize) {
        self.loops = loops;
    }

    // ---- non-linear names

    pub(super) fn bind(&mut self, v: NVar) -> Result<(), Rebound> {
        if self.nvars[v] != State::Unbound {
            return Err(Rebound::Variable);
        }
        self.nvars[v] = State::Bound(self.depth());
        self.changes.push(Change::N(v));
        let name = self.func.nvars[v].name.as_str();
        if self.names.insert(name) { Ok(()) } else { Err(Rebound::Name) }
    }

    pub(super) fn has(&self, v: NVar) -> bool {
        matches!(self.nvars.get(v), Some(State::Bound(_)))
    }

    /// Whether a name was bound in a block deeper than `depth` that is still open.
    pub(super) fn is_local(&self, v: NVar, depth: usize) -> bool {
        matches!(self.nvars.get(v), Some(State::Bound(d)) if *d > depth)
    }

    // ---- linear names

    pub(super) fn bind_linear(&mut self, x: LVar) -> Result<(), Rebound> {
        if self.lvars[x] != Linear::Unbound {
            return Err(Rebound::Variable);
        }
        self.lvars[x] = Linear::Available(self.loops);
        self.changes.push(Change::L(x));
        let name = self.func.lvars[x].name.as_str();
        if self.linear_names.insert(name) { Ok(()) } else { Err(Rebound::Name) }
    }

    /// Uses a linear name up.
    ///
    /// # Errors
    /// What it is instead of available here.
    pub(super) fn consume(&mut self, x: LVar) -> Result<(), Linear> {
        match self.lvars[x] {
            Linear::Available(loops) if loops == self.loops => {
                self.lvars[x] = Linear::Used(loops);
                self.uses.push(x);
                Ok(())
            }
            other => Err(other),
        }
    }

    /// The number of uses so far, to be given to [`Scope::take_arm_uses`].
    pub(super) fn uses(&self) -> usize {
        self.uses.len()
    }

    /// Takes back the uses since `start` of names that are still in scope, and gives these names,
    /// sorted: the outer linear names that an arm, left already, has consumed.
    pub(super) fn take_arm_uses(&mut self, start: usize) -> Vec<LVar> {
        let mut outer = Vec::new();
        for x in self.uses.drain(start..) {
            if let Linear::Used(loops) = self.lvars[x] {
                self.lvars[x] = Linear::Available(loops);
                outer.push(x);
            }
        }
        outer.sort();
        outer
    }

    // ---- capabilities

    pub(super) fn bind_cap(&mut self, c: Cap) -> Result<(), Rebound> {
        if self.caps[c] != State::Unbound {
            return Err(Rebound::Variable);
        }
        self.caps[c] = State::Bound(self.depth());
        self.changes.push(Change::C(c));
        let name = self.func.caps[c].name.as_str();
        if self.names.insert(name) { Ok(()) } else { Err(Rebound::Name) }
    }

    pub(super) fn has_cap(&self, c: Cap) -> bool {
        matches!(self.caps[c], State::Bound(_))
    }

    /// Hides a capability until the end of the innermost block: rows of it are passed on.
    pub(super) fn hide(&mut self, c: Cap) {
        self.hidden[c] += 1;
        self.changes.push(Change::Hidden(c));
    }

    pub(super) fn is_hidden(&self, c: Cap) -> bool {
        self.hidden[c] > 0
    }
}
