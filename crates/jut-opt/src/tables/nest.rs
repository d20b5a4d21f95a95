//! What a loop computes again in each iteration: the names of its body that are known before it, but for the indices of loops inside.

use super::is_expensive;
use crate::motion;
use jut_ir::cover::Facts;
use jut_ir::entity::NVar;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::ir::*;
use jut_ir::types::Type;
use jut_ir::visit::Use;
use std::collections::BTreeSet;

/// A loop inside, whose trip count is known before the outer one.
#[derive(Clone)]
pub(super) struct Level {
    pub index: NVar,
    pub bound: Atom,
}

/// How a value comes about.
#[derive(Clone)]
pub(super) enum Part {
    /// By a statement.
    Computed(Stmt),
    /// As the element of an array that a loop goes along.
    Element { name: NVar, array: NVar, index: NVar },
}

/// A name of the body that depends on nothing of the outer loop but indices of loops inside.
#[derive(Default)]
struct Known {
    /// These loops, from the outside in.
    loops: Vec<usize>,
    /// Those of them along which an array of before the loop, read for this value, has its elements.
    along: Vec<usize>,
    /// Where its part is; none of an index.
    at: Option<usize>,
    expensive: bool,
}

/// The body of a loop.
pub(super) struct Nest<'f> {
    func: &'f Function,
    /// Whatever is bound in it.
    inside: HashSet<NVar>,
    known: HashMap<NVar, Known>,
    levels: Vec<Level>,
    parts: Vec<Part>,
    /// What is used, in the order of the text: by what binds a known name, or by something else.
    uses: Vec<(Option<NVar>, Vec<NVar>)>,
}

impl<'f> Nest<'f> {
    pub fn of(func: &'f Function, scan: &Scan) -> Nest<'f> {
        let mut inside = HashSet::default();
        let mut bind = |name| {
            if let Use::N(v) = name {
                inside.insert(v);
            }
        };
        bind(Use::N(scan.index));
        let heads = scan.carry.iter().map(|c| c.0).chain(scan.slices.iter().map(|s| s.0));
        heads.for_each(|v| bind(Use::N(v)));
        scan.body.for_each_binder(&mut bind);
        let (known, levels) = (HashMap::default(), Vec::new());
        let mut nest = Nest { func, inside, known, levels, parts: Vec::new(), uses: Vec::new() };
        nest.block(&scan.body);
        nest
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.rhs {
                Rhs::Scan(scan) if scan.dir != Dir::While && self.is_outside(scan.bound) => {
                    self.own_uses(stmt);
                    self.enter(scan);
                    self.block(&scan.body);
                }
                Rhs::Region(region) => {
                    self.own_uses(stmt);
                    self.block(&region.body);
                }
                rhs if rhs.blocks().is_empty() => self.leaf(stmt),
                _ => {
                    let mut uses = Vec::new();
                    stmt.for_each_use(self.func, &mut |u| uses.extend(name(u)));
                    self.uses.push((None, uses));
                }
            }
        }
        self.uses.push((None, block.nl.iter().filter_map(|a| a.var()).collect()));
    }

    fn is_outside(&self, atom: Atom) -> bool {
        atom.var().is_none_or(|v| !self.inside.contains(&v))
    }

    fn own_uses(&mut self, stmt: &Stmt) {
        let mut uses = Vec::new();
        stmt.rhs.for_each_own_use(&mut |u| uses.extend(name(u)));
        self.uses.push((None, uses));
    }

    /// The index of a loop inside, and the elements of arrays that it goes along.
    fn enter(&mut self, scan: &Scan) {
        let level = self.levels.len();
        self.levels.push(Level { index: scan.index, bound: scan.bound });
        self.known.insert(scan.index, Known { loops: vec![level], ..Known::default() });
        for (element, array) in &scan.slices {
            let Some(mut known) = self.of_array(*array) else { continue };
            known.loops.push(level);
            known.along.push(level);
            known.at = Some(self.parts.len());
            self.parts.push(Part::Element { name: *element, array: *array, index: scan.index });
            self.known.insert(*element, known);
        }
    }

    /// What is known of an array, which may be one from before the loop.
    fn of_array(&self, array: NVar) -> Option<Known> {
        match self.known.get(&array) {
            Some(known) => {
                let (loops, along) = (known.loops.clone(), known.along.clone());
                Some(Known { loops, along, ..Known::default() })
            }
            None => (!self.inside.contains(&array)).then(Known::default),
        }
    }

    /// A statement without blocks.
    fn leaf(&mut self, stmt: &Stmt) {
        let mut uses = Vec::new();
        stmt.rhs.for_each_own_use(&mut |u| uses.extend(name(u)));
        let known = self.known_of(stmt, &uses);
        let bound = stmt.nl.first().copied().filter(|_| known.is_some());
        self.uses.push((bound, uses));
        if let (Some(bound), Some(mut known)) = (bound, known) {
            known.at = Some(self.parts.len());
            self.parts.push(Part::Computed(stmt.clone()));
            self.known.insert(bound, known);
        }
    }

    /// What is known of the one name that a statement binds, if the outer loop does not matter to it.
    fn known_of(&self, stmt: &Stmt, uses: &[NVar]) -> Option<Known> {
        let [bound] = stmt.nl[..] else { return None };
        if !motion::is_plain(&stmt.rhs) && !matches!(stmt.rhs, Rhs::Atom(_)) {
            return None;
        }
        let sizes = self.func.nvars[bound].ty.size_names();
        if sizes.iter().any(|size| self.inside.contains(size)) {
            return None;
        }
        let mut loops = BTreeSet::new();
        let mut along: Vec<usize> = Vec::new();
        for v in uses.iter().filter(|v| self.inside.contains(v)) {
            let known = self.known.get(v)?;
            loops.extend(known.loops.iter().copied());
            if known.along.len() > along.len() {
                along.clone_from(&known.along);
            }
        }
        if let Rhs::Index(array, steps) = &stmt.rhs {
            along = self.of_array(*array)?.along;
            for step in steps {
                let Step::Index { index: Atom::Var(index), .. } = step else { continue };
                let level = self.levels.iter().position(|level| level.index == *index);
                along.extend(level.filter(|level| !along.contains(level)));
            }
        }
        let loops: Vec<usize> = loops.into_iter().collect();
        let expensive = is_expensive(&stmt.rhs);
        (!loops.is_empty()).then_some(Known { loops, along, at: None, expensive })
    }

    /// The expensive values that the loop reads, rather than others that are computed of them and can come from a table themselves.
    pub fn repeated(&self) -> Vec<NVar> {
        let mut wanted: HashSet<NVar> = HashSet::default();
        let mut found = Vec::new();
        for (bound, uses) in self.uses.iter().rev() {
            match bound {
                Some(bound) if !wanted.contains(bound) => {}
                Some(bound) if self.is_candidate(*bound) => found.push(*bound),
                _ => wanted.extend(uses.iter().copied()),
            }
        }
        found.reverse();
        found
    }

    /// Whether a value is expensive, and of a table not larger than an array that is there.
    fn is_candidate(&self, value: NVar) -> bool {
        self.func.nvars[value].ty == Type::F64
            && self.known.get(&value).is_some_and(|known| {
                known.expensive && known.loops.iter().all(|level| known.along.contains(level))
            })
    }

    /// The loops whose indices a value depends on.
    pub fn loops_of(&self, value: NVar) -> &[usize] {
        self.known.get(&value).map_or(&[], |known| &known.loops)
    }

    /// The levels with these numbers.
    pub fn levels(&self, numbers: &[usize]) -> Vec<Level> {
        numbers.iter().filter_map(|k| self.levels.get(*k).cloned()).collect()
    }

    /// All that values consist of, in the order of the text.
    pub fn parts(&self, values: &[NVar]) -> Vec<Part> {
        let mut numbers = BTreeSet::new();
        let mut open = values.to_vec();
        while let Some(v) = open.pop() {
            let at = self.known.get(&v).and_then(|known| known.at);
            let Some(at) = at.filter(|at| numbers.insert(*at)) else { continue };
            match self.parts.get(at) {
                Some(Part::Computed(stmt)) => {
                    stmt.rhs.for_each_own_use(&mut |u| open.extend(name(u)));
                }
                Some(Part::Element { array, .. }) => open.push(*array),
                None => {}
            }
        }
        numbers.into_iter().filter_map(|at| self.parts.get(at).cloned()).collect()
    }

    /// Whether a table of a value can be made by loops in front of the outer one, by what is known there: the trip counts can be
    /// sizes, and accesses are covered.
    pub fn fits(&self, value: NVar, facts: &mut Facts) -> bool {
        let func = self.func;
        let levels = self.levels(self.loops_of(value));
        let sizes: Vec<_> = levels.iter().map(|level| func.size_of(level.bound)).collect();
        let shown = |s| {
            facts.is_plainly_non_negative(s) && facts.is_fitting(s) && facts.is_exact_dimension(s)
        };
        if !sizes.iter().all(shown) {
            return false;
        }
        facts.enter();
        // The loop reads the table by these indices.
        let mut covered = true;
        for (level, size) in levels.iter().zip(sizes) {
            facts.add_range(level.index, size.clone());
            covered &= facts.covers(&func.size_of(Atom::Var(level.index)), &size);
        }
        covered &= self.parts(&[value]).iter().all(|part| match part {
            Part::Computed(stmt) => motion::covered(facts, func, &stmt.rhs),
            // An array that a loop goes along has as many elements as the loop has iterations.
            Part::Element { .. } => true,
        });
        facts.leave();
        covered
    }
}

fn name(of: Use) -> Option<NVar> {
    match of {
        Use::N(v) => Some(v),
        _ => None,
    }
}
