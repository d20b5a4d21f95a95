//! Finding the loop that another one can be fused with: the rules, and no change.
//!
//! From a producer the search goes forward, statement by statement. What does not depend on the producer is
//! passed, if the two may change places. A plain operation on its results is put off until after the consumer. The
//! first loop, or loop in regions, that reads its collected arrays is the consumer, if it reads nothing else of it;
//! anything else ends the search.
//!
//! For example, from the loop that makes `ts` and `s`:
//!
//! ```text
//! c = exp(q)                           passed
//! e = log(s)                           put off
//! g = acc d: [n]f64 {                  round the consumer
//!   scan par (i < n) slice (t <- ts)   the consumer, unless its body reads s or e
//!   { .. }
//! }
//! ```
//!
//! *Requires*: a list that begins with the statement in question. *Ensures*: what is found may be fused. *Cost*: linear in the
//! statements that are looked at.

use jut_ir::entity::{Cap, FuncId, NVar, SecondaryMap};
use jut_ir::hash::HashSet;
use jut_ir::ir::*;
use jut_ir::types::Type;
use jut_ir::visit::Use;

/// What is found for the first statement of a list.
pub(super) enum Found {
    /// It can be fused.
    Consumer(Consumer),
    /// The regions at this position could be those of its consumer, but for what they read of it elsewhere.
    Tied(usize),
}

/// What can be fused with the first statement of a list.
pub(super) struct Consumer {
    /// Its position in the list, and in each region down to the loop.
    pub(super) path: Vec<usize>,
    /// What moves behind it, by position.
    pub(super) put_off: Vec<usize>,
}

/// A loop, with the regions that have nothing else in them.
pub(super) fn producer(stmt: &Stmt) -> Option<&Scan> {
    match &stmt.rhs {
        Rhs::Scan(scan) => is_plain(scan).then_some(scan),
        Rhs::Region(region) if region.start.is_none() && region.end => {
            let [inner] = &region.body.stmts[..] else { return None };
            let scan = producer(inner)?;
            let results = &region.body.nl;
            let once = |(k, atom): (usize, &Atom)| {
                atom.var().is_some_and(|v| inner.nl.contains(&v)) && !results[..k].contains(atom)
            };
            results.iter().enumerate().all(once).then_some(scan)
        }
        _ => None,
    }
}

/// Whether iterations know each other only by what they add.
fn is_plain(scan: &Scan) -> bool {
    let linear = scan.lin_carry.len() + scan.lin_slices.len();
    scan.dir == Dir::Par && scan.carry.is_empty() && scan.cap_slices.is_empty() && linear == 0
}

/// The names of a producer's statement that are arrays which its loop collects, with their positions among those.
pub(super) fn collected(stmt: &Stmt) -> Vec<(NVar, usize)> {
    match &stmt.rhs {
        Rhs::Scan(_) => stmt.nl.iter().copied().zip(0..).collect(),
        Rhs::Region(region) => {
            let Some(inner) = region.body.stmts.first() else { return Vec::new() };
            let known = collected(inner);
            let number = |a: &Atom| known.iter().find(|(v, _)| a.var() == Some(*v)).map(|k| k.1);
            let results = stmt.nl.iter().zip(&region.body.nl);
            results.filter_map(|(v, atom)| Some((*v, number(atom)?))).collect()
        }
        _ => Vec::new(),
    }
}

/// What a list of statements stands in.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// For its data types.
    pub(super) program: &'a Program,
    /// The function.
    pub(super) func: &'a Function,
    /// The functions that can fail.
    pub(super) fallible: &'a SecondaryMap<FuncId, bool>,
}

impl Around<'_> {
    /// Whether what an array has for each iteration is more than numbers.
    fn has_rows(self, array: NVar) -> bool {
        let element = self.func.nvars[array].ty.element();
        element.is_some_and(|element| element.has_array(self.program))
    }
}

/// What the first statement can be fused with.
pub(super) fn consumer(around: Around<'_>, stmts: &[Stmt]) -> Option<Found> {
    let Around { func, fallible, .. } = around;
    let (stmt, behind) = stmts.split_first()?;
    let scan = producer(stmt)?;
    let arrays = collected(stmt);
    let integers = stmt.nl.iter().any(|v| func.nvars[*v].ty == Type::I64);
    let rows = arrays.iter().any(|(array, _)| around.has_rows(*array));
    // A length that is computed may stand in types.
    if !rows || integers || is_chain(&scan.body) {
        return None;
    }
    let mut search = Search {
        around,
        scan,
        fails: fails(stmt, fallible),
        caps: capabilities(stmt),
        arrays: arrays.into_iter().map(|(v, _)| v).collect(),
        derived: stmt.nl.iter().copied().collect(),
    };
    let mut put_off = Vec::new();
    for (at, stmt) in (1..).zip(behind) {
        if search.reads(stmt) == 0 {
            if !search.may_pass(stmt) {
                return None;
            }
        } else if let Some((mut path, reads)) = search.consumer(stmt) {
            if reads < search.reads(stmt) {
                return Some(Found::Tied(at));
            }
            path.push(at);
            path.reverse();
            return Some(Found::Consumer(Consumer { path, put_off }));
        } else if search.may_wait(stmt) {
            search.derived.extend(stmt.nl.iter().copied());
            put_off.push(at);
        } else {
            return None;
        }
    }
    None
}

struct Search<'a> {
    around: Around<'a>,
    /// The producer's loop.
    scan: &'a Scan,
    /// Whether the producer can fail, or prints.
    fails: bool,
    /// What the producer adds into.
    caps: HashSet<Cap>,
    /// The arrays that it collects.
    arrays: HashSet<NVar>,
    /// Its results, and what was put off.
    derived: HashSet<NVar>,
}

impl Search<'_> {
    /// How often a statement reads what depends on the producer.
    fn reads(&self, stmt: &Stmt) -> usize {
        let mut count = 0;
        stmt.for_each_use(self.around.func, &mut |u| {
            count += usize::from(matches!(u, Use::N(v) if self.derived.contains(&v)));
        });
        count
    }

    /// Whether the producer and a statement that does not depend on it may change places.
    fn may_pass(&self, stmt: &Stmt) -> bool {
        self.is_apart(stmt) && !takes_over(self.around.func, stmt)
    }

    /// Whether the two add into different accumulators, and at most one can fail.
    fn is_apart(&self, stmt: &Stmt) -> bool {
        !(self.fails && fails(stmt, self.around.fallible))
            && self.caps.is_disjoint(&capabilities(stmt))
    }

    /// Whether a statement can wait until after the consumer: it computes a number, and not a length.
    fn may_wait(&self, stmt: &Stmt) -> bool {
        let number = stmt.nl.iter().all(|v| self.around.func.nvars[*v].ty != Type::I64);
        number && stmt.rhs.is_total_prim()
    }

    /// The consumer in a statement: the positions from the loop outwards, without that of the statement itself, and
    /// how often the loop reads what depends on the producer.
    fn consumer(&self, stmt: &Stmt) -> Option<(Vec<usize>, usize)> {
        match &stmt.rhs {
            Rhs::Scan(scan) => {
                let reads = self.reads(stmt);
                let rows =
                    |array: &NVar| self.arrays.contains(array) && self.around.has_rows(*array);
                let mut reads_rows = scan.slices.iter().any(|(_, array)| rows(array));
                for_each_stmt(&scan.body, &mut |stmt| {
                    reads_rows |= own_element(stmt, scan.index, &|v| rows(&v));
                });
                let fits = is_plain(scan)
                    && self.around.func.size_of(scan.bound)
                        == self.around.func.size_of(self.scan.bound)
                    && reads_rows
                    && self.is_apart(stmt)
                    && self.reads_of_its_own(scan) == reads;
                fits.then_some((Vec::new(), reads))
            }
            Rhs::Region(region) if !starts_with_array(self.around.func, region) => {
                for (at, inner) in region.body.stmts.iter().enumerate() {
                    if self.reads(inner) > 0 {
                        let (mut path, reads) = self.consumer(inner)?;
                        path.push(at);
                        return Some((path, reads));
                    }
                    if !self.may_pass(inner) {
                        return None;
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// How often a loop reads, of what the producer collects, the element at its own index.
    fn reads_of_its_own(&self, scan: &Scan) -> usize {
        let sliced = scan.slices.iter().filter(|(_, array)| self.arrays.contains(array)).count();
        let mut read = 0;
        for_each_stmt(&scan.body, &mut |stmt| {
            read += usize::from(own_element(stmt, scan.index, &|v| self.arrays.contains(&v)));
        });
        sliced + read
    }
}

/// Whether a loop in a body carries something, so that its iterations wait for each other.
fn is_chain(body: &Block) -> bool {
    let mut found = false;
    for_each_stmt(body, &mut |stmt| {
        found |= matches!(&stmt.rhs, Rhs::Scan(scan) if !scan.carry.is_empty());
    });
    found
}

/// Whether a statement reads one of some arrays at this index.
pub(super) fn own_element(stmt: &Stmt, index: NVar, of: &dyn Fn(NVar) -> bool) -> bool {
    let here = Atom::Var(index);
    match &stmt.rhs {
        Rhs::Index(array, path) => {
            of(*array) && matches!(path[..], [Step::Index { index, .. }, ..] if index == here)
        }
        _ => false,
    }
}

fn for_each_stmt(block: &Block, visit: &mut dyn FnMut(&Stmt)) {
    for stmt in &block.stmts {
        visit(stmt);
        stmt.rhs.blocks().into_iter().for_each(|inner| for_each_stmt(inner, visit));
    }
}

/// Whether a statement can fail, or prints.
fn fails(stmt: &Stmt, fallible: &SecondaryMap<FuncId, bool>) -> bool {
    let inside = |block: &Block| block.stmts.iter().any(|s| fails(s, fallible));
    stmt.rhs.can_fail(&|callee| fallible[callee]) || stmt.rhs.blocks().into_iter().any(inside)
}

/// The capabilities that a statement mentions, and those that it binds.
fn capabilities(stmt: &Stmt) -> HashSet<Cap> {
    let mut found = HashSet::default();
    let mut add = |u| {
        if let Use::C(cap) = u {
            found.insert(cap);
        }
    };
    stmt.rhs.for_each_own_use(&mut add);
    for block in stmt.rhs.blocks() {
        for_each_stmt(block, &mut |inner| inner.rhs.for_each_own_use(&mut add));
    }
    found
}

fn starts_with_array(func: &Function, region: &Region) -> bool {
    matches!(region.start, Some(Operand::N(start)) if !func.type_of(start).is_scalar())
}

/// Whether a statement may go on in the memory of an array.
fn takes_over(func: &Function, stmt: &Stmt) -> bool {
    let array = |atom: &Atom| !func.type_of(*atom).is_scalar();
    let here = match &stmt.rhs {
        Rhs::Update { .. } => true,
        Rhs::Scan(scan) => scan.carry.iter().any(|(_, start)| array(start)),
        Rhs::Region(region) => starts_with_array(func, region),
        Rhs::Call(call) => call.args.iter().any(array),
        _ => false,
    };
    let inside = |block: &Block| block.stmts.iter().any(|s| takes_over(func, s));
    here || stmt.rhs.blocks().into_iter().any(inside)
}
