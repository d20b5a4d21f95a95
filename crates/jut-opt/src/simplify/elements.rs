//! Array literals are known by their elements, also those that stand in each other.
//!
//! ```text
//! a = [x, y]; b = [z, x]; m = [a, b]; p = m[1, 0]; n = m with [0, 1] = p; q = n[0, 1]
//! // becomes
//! a = [x, y]; b = [z, x]; m = [a, b]; a_1 = [x, z]; n = [a_1, b]          q and p are z
//! ```
//!
//! An update becomes a literal only where nobody else needs the old array whole: then that is dead, and no more is moved.

use super::Simplify;
use jut_ir::entity::{NVar, SecondaryMap};
use jut_ir::in_place::InPlace;
use jut_ir::ir::*;
use jut_ir::span::Loc;
use jut_ir::visit::Use;

/// Elements of an array literal that an update makes anew, at most.
const MOST: usize = 16;

/// How often each name is needed for more than an element at a literal index.
pub(super) fn needed_whole(body: &Block) -> SecondaryMap<NVar, u32> {
    let mut whole = SecondaryMap::new();
    count(body, &mut whole);
    whole
}

fn count(block: &Block, whole: &mut SecondaryMap<NVar, u32>) {
    for stmt in &block.stmts {
        match &stmt.rhs {
            Rhs::Index(_, steps) if matches!(steps.first(), Some(step) if literal(step).is_some()) =>
                {}
            rhs => rhs.for_each_own_use(&mut |name| {
                if let Use::N(v) = name {
                    whole[v] += 1;
                }
            }),
        }
        stmt.rhs.blocks().into_iter().for_each(|inner| count(inner, whole));
    }
    block.nl.iter().filter_map(|a| a.var()).for_each(|v| whole[v] += 1);
}

/// The literal index of a step.
fn literal(step: &Step) -> Option<usize> {
    match step {
        Step::Index { index: Atom::Lit(Literal::I64(k)), .. } => usize::try_from(*k).ok(),
        _ => None,
    }
}

impl Simplify<'_> {
    /// The elements of an array literal.
    fn items(&self, array: NVar) -> Option<&[Atom]> {
        match self.known[array].as_deref() {
            Some(Rhs::ArrayLit(items)) => Some(items),
            _ => None,
        }
    }

    /// An access to an element, as far as the array is literals and the indices are.
    pub(super) fn element(&self, mut array: NVar, mut steps: Vec<Step>) -> Result<Atom, Rhs> {
        let mut done = 0;
        while let Some(k) = steps.get(done).and_then(literal)
            && let Some(item) = self.items(array).and_then(|items| items.get(k))
        {
            done += 1;
            match *item {
                item if done == steps.len() => return Ok(item),
                Atom::Var(row) => array = row,
                Atom::Lit(_) => break,
            }
        }
        Err(Rhs::Index(array, steps.split_off(done)))
    }

    /// An update of an array literal at literal indices as another one.
    pub(super) fn update(&mut self, rhs: Rhs, loc: Loc, out: &mut InPlace<Stmt>) -> Rhs {
        match &rhs {
            Rhs::Update { array, path, value } if self.is_known(*array, path, *value) => {
                let items = self.updated(*array, path, *value, loc, out);
                items.map_or(rhs, Rhs::ArrayLit)
            }
            _ => rhs,
        }
    }

    /// Whether a part of a literal is an element, or one of a row, that nobody else needs.
    fn is_known(&self, array: NVar, path: &[Step], value: Atom) -> bool {
        let Some((step, rest)) = path.split_first() else { return false };
        let item = literal(step).and_then(|k| self.items(array)?.get(k).map(|item| (k, *item)));
        let Some((_, item)) = item else { return false };
        let few = self.items(array).is_some_and(|items| items.len() <= MOST);
        few && self.whole[array] <= 1
            && match (rest, item) {
                ([], item) => self.func.type_of(item) == self.func.type_of(value),
                (rest, Atom::Var(row)) => self.is_known(row, rest, value),
                _ => false,
            }
    }

    fn updated(
        &mut self,
        array: NVar,
        path: &[Step],
        value: Atom,
        loc: Loc,
        out: &mut InPlace<Stmt>,
    ) -> Option<Vec<Atom>> {
        let (step, rest) = path.split_first()?;
        let k = literal(step)?;
        let mut items = self.items(array)?.to_vec();
        let item = items.get(k).copied()?;
        items[k] = match (rest, item) {
            ([], _) => value,
            (rest, Atom::Var(row)) => {
                let elements = self.updated(row, rest, value, loc, out)?;
                let ty = self.func.nvars[row].ty.clone();
                self.bind(Rhs::ArrayLit(elements), ty, loc, out)
            }
            _ => return None,
        };
        Some(items)
    }
}
