//! Cells that a loop does not change any more: the residual reads them in the array that the loop ends with.
//!
//! In an elimination in place most of what an iteration reads has its last value by then:
//!
//! ```text
//! (l9; ..) = scan up (j < n) carry (l = a; ..) {
//!   .. scan up (k < j) .. scan up (i < m) carry (l2 = l1; ..) { t = l2[j + i, k] .. l3 = l2 with [j + i, j] = s .. }
//! ```
//!
//! From here on only column j and those behind it are written, and k < j. So t is `l9[j + i, k]`: the tape holds
//! the array once, and not t for every i, k and j. The same goes for a number that is written to a cell for the last time.
//!
//! # Chains
//!
//! What a loop makes of an array that it carries is a *chain of versions* if each is made of the one before by an
//! update, a loop or a branch, and the next carry is the last of them. Then the array that the loop ends with differs from a
//! version in what the updates behind it write, and in nothing else.
//!
//! # What is proved
//!
//! An update comes after a version if it stands behind it in the same iteration of the loops round both, or
//! runs in a later iteration of one of them. For each of these cases one index of the cell has to be plainly larger than
//! that of the update, or plainly smaller: their difference is a sum of loop indices, lengths and a constant, an index
//! that is subtracted is replaced by its bound less one, from the inside out, and what remains has no minus and is at
//! least one. Indices are computed in arithmetic that wraps; differences of so few names and so small constants
//! are less than 2^64, so cells that differ over the integers do differ ([`Ranges::fits`]).
//!
//! # Where it pays
//!
//! The array that the loop ends with is stored once for each run of the loop. So it has as many loops round the cell as
//! dimensions, and the outermost runs along one of these: then the array has not many more cells than are read of it.
//! Of loops that hardly run fewer may be read: then the tape is larger than one that holds what is read.
//!
//! *Requires*: a checked function. *Ensures*: what is found has, in the array found for it, the same value. *Cost*: linear
//! in the text: a chain has at most [`MOST`] updates.

mod ranges;

use jut_ir::entity::SecondaryMap;
use jut_ir::*;
use ranges::Ranges;
use std::collections::{HashMap, HashSet};

/// The most updates of a chain that is looked at.
const MOST: usize = 16;
/// Bounds and dimensions that differ by no more are the same.
const NEAR: i64 = 16;

/// Cells that have their last values.
#[derive(Default)]
pub(super) struct Settled {
    /// Numbers that are read, and the arrays that have them in the end.
    pub reads: HashMap<NVar, NVar>,
    /// Updates, by what they make, and the arrays that have what they write in the end.
    pub updates: HashMap<NVar, NVar>,
    /// These arrays.
    pub ends: HashSet<NVar>,
}

/// The settled cells of a function.
pub(super) fn settled(func: &Function) -> Settled {
    let mut walk = Walk {
        func,
        loops: Vec::new(),
        around: Vec::new(),
        versions: Vec::new(),
        chains: Vec::new(),
        open: Vec::new(),
        on: SecondaryMap::new(),
        found: Settled::default(),
    };
    walk.block(&func.body);
    walk.found
}

struct Loop {
    index: NVar,
    bound: Size,
    dir: Dir,
}

/// A version of an array: the number of its chain, and its own, which grow along the text.
type Version = (usize, usize);

/// What a loop makes of an array that it carries.
struct Chain {
    /// How many loops are round the loop.
    depth: usize,
    /// The last version so far.
    current: usize,
    writes: Vec<Access>,
    reads: Vec<Access>,
    /// Whether each version is made of the one before.
    whole: bool,
}

/// A cell or part of a version, or one that an update makes a version with.
struct Access {
    name: NVar,
    version: usize,
    is_update: bool,
    /// The indices, where they are single ones.
    path: Vec<Option<Size>>,
    /// The loops round it.
    loops: Vec<usize>,
}

struct Walk<'a> {
    func: &'a Function,
    loops: Vec<Loop>,
    /// The loops that are open, outermost first.
    around: Vec<usize>,
    /// The loops round each version.
    versions: Vec<Vec<usize>>,
    chains: Vec<Chain>,
    /// The chains of loops that are open.
    open: Vec<usize>,
    /// Which version a name is.
    on: SecondaryMap<NVar, Option<Version>>,
    found: Settled,
}

impl Walk<'_> {
    fn version_of(&self, atom: Option<&Atom>) -> Option<Version> {
        match atom {
            Some(Atom::Var(v)) => self.on[*v],
            _ => None,
        }
    }

    /// The next version of a chain.
    fn next(&mut self, chain: usize) -> Version {
        self.versions.push(self.around.clone());
        self.chains[chain].current = self.versions.len() - 1;
        (chain, self.versions.len() - 1)
    }

    fn is_last(&self, (chain, number): Version) -> bool {
        self.chains[chain].current == number
    }

    fn access(&self, name: NVar, version: usize, path: &[Step], is_update: bool) -> Access {
        let path = path.iter().map(|step| match step {
            Step::Index { index, .. } => Some(self.func.size_of(*index)),
            Step::Slice { .. } | Step::Field(_) => None,
        });
        Access { name, version, is_update, path: path.collect(), loops: self.around.clone() }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match (&stmt.rhs, &stmt.nl[..]) {
                (Rhs::Atom(Atom::Var(v)) | Rhs::Cast { value: v, .. }, [y]) => {
                    self.on[*y] = self.on[*v];
                }
                (Rhs::Index(v, path), [y]) if self.func.nvars[*y].ty.is_scalar() => {
                    if let Some((chain, version)) = self.on[*v] {
                        let read = self.access(*y, version, path, false);
                        self.chains[chain].reads.push(read);
                    }
                }
                (Rhs::Update { array, path, .. }, [y]) => {
                    let Some(version) = self.on[*array].filter(|v| self.is_last(*v)) else {
                        continue;
                    };
                    let (chain, version) = self.next(version.0);
                    self.on[*y] = Some((chain, version));
                    let write = || self.access(*y, version, path, true);
                    let (write, read) = (write(), write());
                    self.chains[chain].writes.push(write);
                    if read.path.len() == rank(&self.func.nvars[*y].ty) {
                        self.chains[chain].reads.push(read);
                    }
                }
                (Rhs::Scan(scan), _) => self.scan(stmt, scan),
                (Rhs::Case(case), _) => self.case(stmt, case),
                (rhs, _) => {
                    for inner in rhs.blocks() {
                        self.block(inner);
                        for (y, a) in stmt.nl.iter().zip(&inner.nl) {
                            self.on[*y] = self.version_of(Some(a));
                        }
                    }
                }
            }
        }
    }

    fn scan(&mut self, stmt: &Stmt, scan: &Scan) {
        let depth = self.around.len();
        self.around.push(self.loops.len());
        let bound = self.func.size_of(scan.bound);
        self.loops.push(Loop { index: scan.index, bound, dir: scan.dir });
        let first = self.open.len();
        let mut carried = Vec::new();
        for (k, (v, init)) in scan.carry.iter().enumerate() {
            if !matches!(self.func.nvars[*v].ty, Type::Array(..)) {
                continue;
            }
            let known = self.version_of(Some(init)).filter(|version| self.is_last(*version));
            let chain = known.map_or(self.chains.len(), |(chain, _)| chain);
            if known.is_none() {
                let (writes, reads) = (Vec::new(), Vec::new());
                self.chains.push(Chain { depth, current: 0, writes, reads, whole: true });
                self.open.push(chain);
            }
            self.on[*v] = Some(self.next(chain));
            carried.push((k, chain, known.is_none()));
        }
        self.block(&scan.body);
        self.around.pop();
        self.open.truncate(first);
        for (k, chain, is_new) in carried {
            let next = self.version_of(scan.body.nl.get(k));
            self.chains[chain].whole &= next == Some((chain, self.chains[chain].current));
            let Some(result) = stmt.nl.get(k) else { continue };
            if is_new {
                self.finish(chain, *result);
            } else {
                self.on[*result] = Some(self.next(chain));
            }
        }
    }

    /// A branch: what of a chain any arm changes, one of its results has from every arm.
    fn case(&mut self, stmt: &Stmt, case: &Case) {
        let open = self.open.clone();
        let before: Vec<usize> = open.iter().map(|c| self.chains[*c].current).collect();
        let mut ends = Vec::with_capacity(case.arms.len());
        for arm in &case.arms {
            open.iter().zip(&before).for_each(|(c, version)| self.chains[*c].current = *version);
            self.block(&arm.body);
            ends.push(open.iter().map(|c| self.chains[*c].current).collect::<Vec<_>>());
        }
        for (at, (chain, before)) in open.iter().zip(before).enumerate() {
            let is_changed = ends.iter().any(|ends| ends[at] != before);
            let result = (0..stmt.nl.len()).find(|k| {
                case.arms.iter().zip(&ends).all(|(arm, ends)| {
                    self.version_of(arm.body.nl.get(*k)) == Some((*chain, ends[at]))
                })
            });
            self.chains[*chain].current = before;
            match result {
                Some(k) if is_changed => self.on[stmt.nl[k]] = Some(self.next(*chain)),
                Some(k) => self.on[stmt.nl[k]] = Some((*chain, before)),
                None => self.chains[*chain].whole &= !is_changed,
            }
        }
    }

    /// The loop that a chain belongs to has ended with an array.
    fn finish(&mut self, chain: usize, end: NVar) {
        let chain = &mut self.chains[chain];
        let (reads, writes) = (std::mem::take(&mut chain.reads), std::mem::take(&mut chain.writes));
        let (depth, whole) = (chain.depth, chain.whole);
        if !whole || writes.is_empty() || writes.len() > MOST {
            return;
        }
        for read in reads {
            let settled = self.pays(&read.loops[depth..], end)
                && writes.iter().all(|write| self.is_apart(&read, write, depth, end));
            if settled {
                let found = &mut self.found;
                let cells = if read.is_update { &mut found.updates } else { &mut found.reads };
                cells.insert(read.name, end);
                found.ends.insert(end);
            }
        }
    }

    /// Whether loops round a cell of an array are no fewer than its dimensions, and the outermost runs along one.
    fn pays(&self, loops: &[usize], array: NVar) -> bool {
        let ty = &self.func.nvars[array].ty;
        let Some(outermost) = loops.first().map(|l| &self.loops[*l]) else { return false };
        let mut along = false;
        ty.for_each_size(&mut |size| {
            let apart = (size.clone() - outermost.bound.clone()).as_constant();
            along |= apart.is_some_and(|k| (-NEAR..=NEAR).contains(&k));
        });
        along && loops.len() >= rank(ty)
    }

    /// Whether an update that comes after a version writes another cell than the one that is read of it.
    fn is_apart(&self, read: &Access, write: &Access, depth: usize, array: NVar) -> bool {
        let home = &self.versions[read.version];
        let common = home.iter().zip(&write.loops).take_while(|(a, b)| a == b).count();
        let behind = write.version <= read.version;
        (depth..common).all(|later| self.differ(read, write, later, true, array))
            && (behind || self.differ(read, write, common, false, array))
    }

    /// Whether the cells differ where the loops outside number `at` are in the same iteration; if `later`, the update is in
    /// a later iteration of that loop than the read.
    fn differ(&self, read: &Access, write: &Access, at: usize, later: bool, array: NVar) -> bool {
        let mut ranges = Ranges::new(self.func.nvars.len());
        self.func.nvars[array].ty.for_each_size(&mut |size| {
            size.as_var().into_iter().for_each(|length| ranges.add(length, None));
        });
        let (mut ours, mut theirs) = (HashMap::new(), HashMap::new());
        for l in &read.loops[..at] {
            ranges.add(self.loops[*l].index, Some(self.loops[*l].bound.clone()));
        }
        let mut inside = at;
        if later {
            let Loop { index, bound, dir } = &self.loops[read.loops[at]];
            ranges.add(*index, Some(bound.clone()));
            let more = ranges.name(None) + Size::var(*index) + Size::constant(1);
            let further = if *dir == Dir::Down { &mut ours } else { &mut theirs };
            further.insert(*index, more);
            inside += 1;
        }
        for (loops, names) in [(&read.loops, &mut ours), (&write.loops, &mut theirs)] {
            for l in &loops[inside..] {
                let Loop { index, bound, .. } = &self.loops[*l];
                let name = ranges.name(Some(renamed(bound, names)));
                names.insert(*index, name);
            }
        }
        read.path.iter().zip(&write.path).any(|indices| match indices {
            (Some(cell), Some(written)) => {
                let apart = renamed(cell, &ours) - renamed(written, &theirs);
                ranges.fits(&apart)
                    && (ranges.is_positive(apart.clone()) || ranges.is_positive(-apart))
            }
            _ => false,
        })
    }
}

fn renamed(size: &Size, names: &HashMap<NVar, Size>) -> Size {
    size.subst(&mut |name| names.get(&name).cloned())
}

fn rank(ty: &Type) -> usize {
    match ty {
        Type::Array(_, element) => 1 + rank(element),
        _ => 0,
    }
}
