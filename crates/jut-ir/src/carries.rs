//! Carried arrays that no iteration makes: handed on as they are, exchanged, or chosen by a branch.
//!
//! Such a carry need not be moved. One that every iteration hands on unchanged is a name of outside. Carries
//! that only change places, or that a branch chooses among themselves and names of outside, become rows of one
//! array, and the loop carries their numbers:
//!
//! ```text
//! (t, v1) = scan up (i < n) carry (s = 0.0, v = x) { a = v[i]; b = s + a; (b, v) }
//!
//! t = scan up (i < n) carry (s = 0.0) { v = x; a = v[i]; b = s + a; b }
//! v1 = x
//!
//! (t, a1, b1) = scan up (i < n) carry (s = 0.0, a = x, b = y) { c = a[i]; d = s + c; (d, b, a) }
//!
//! rows = [x, y]
//! (t, k, l) = scan up (i < n) carry (s = 0.0, a_row = 0, b_row = 1) {
//!   check a_row < 2; a = rows[a_row]; check b_row < 2; b = rows[b_row]
//!   c = a[i]; d = s + c; (d, b_row, a_row)
//! }
//! check k < 2; a1 = rows[k]; check l < 2; b1 = rows[l]
//! ```
//!
//! So the primal copies nothing in the loop, whatever the engine; and the tangents of these carries are no
//! carries either: J reads the places `dx[i]` and `drows[k][i]` in a region round the loop, which T turns
//! into accumulators round it. Otherwise every iteration would copy a linear array to read one cell of it,
//! and its transpose would add two whole arrays. That is why J does this first, at every order; the
//! optimiser does it for what is not differentiated.
//!
//! *Ensures*: the same results and errors; a loop that has no such carry is not touched. *Cost*: linear in
//! the text of loops that carry arrays, times their nesting.

use crate::build::Namer;
use crate::entity::NVar;
use crate::hash::{HashMap, HashSet};
use crate::ir::*;
use crate::span::{Loc, Origin};
use crate::types::Type;
use crate::visit::Use;
use crate::{Size, Span};

/// Makes captured names and rows of carries that no iteration makes.
pub fn settle(func: &mut Function) {
    let mut body = std::mem::take(&mut func.body);
    Pass { func, namer: None }.block(&mut body);
    func.body = body;
}

struct Pass<'a> {
    func: &'a mut Function,
    /// Made when the first new name is needed: it takes a look at all names.
    namer: Option<Namer>,
}

/// Carries that hold the same arrays.
struct Group {
    /// Their positions.
    carries: Vec<usize>,
    /// The arrays, none of which is made in the loop.
    arrays: Vec<NVar>,
    /// The array of all, if there are several, once it has a name.
    rows: Option<NVar>,
}

/// What a loop without its settled carries is made with.
struct Settled {
    groups: Vec<Group>,
    /// What a name stands for inside the loop: the number of its group, and of its row there.
    known: HashMap<NVar, (usize, Atom)>,
    loc: Loc,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut added: Vec<(usize, Vec<Stmt>, Vec<Stmt>)> = Vec::new();
        for (k, stmt) in block.stmts.iter_mut().enumerate() {
            for nested in stmt.rhs.blocks_mut() {
                self.block(nested);
            }
            if let Some((before, after)) = self.stmt(stmt) {
                added.push((k, before, after));
            }
        }
        if added.is_empty() {
            return;
        }
        let stmts = std::mem::take(&mut block.stmts);
        let mut added = added.into_iter().peekable();
        for (k, stmt) in stmts.into_iter().enumerate() {
            match added.next_if(|(at, ..)| *at == k) {
                Some((_, before, after)) => {
                    block.stmts.extend(before);
                    block.stmts.push(stmt);
                    block.stmts.extend(after);
                }
                None => block.stmts.push(stmt),
            }
        }
    }

    /// The statements that have to stand before and after the loop, if some of its carries are settled.
    fn stmt(&mut self, stmt: &mut Stmt) -> Option<(Vec<Stmt>, Vec<Stmt>)> {
        let Rhs::Scan(scan) = &mut stmt.rhs else { return None };
        let groups = groups(self.func, scan);
        if groups.is_empty() {
            return None;
        }
        let loc = stmt.loc.by(Origin::Derived);
        let mut settled = Settled { groups, known: HashMap::default(), loc };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut heads = Vec::new();
        let mut removed = HashSet::default();
        for g in 0..settled.groups.len() {
            let arrays = settled.groups[g].arrays.clone();
            for (row, array) in arrays.iter().enumerate() {
                settled.known.insert(*array, (g, number(row)));
            }
            if let [_, _, ..] = arrays[..] {
                let ty = self.func.nvars[arrays[0]].ty.clone();
                let ty = Type::array(Size::constant(arrays.len() as i64), ty);
                let rows = self.name("rows", ty, loc.span);
                let items = arrays.iter().map(|v| Atom::Var(*v)).collect();
                before.push(leaf(rows, Rhs::ArrayLit(items), loc));
                settled.groups[g].rows = Some(rows);
            }
            for k in settled.groups[g].carries.clone() {
                let (carry, init) = scan.carry[k];
                let result = stmt.nl[k];
                if settled.groups[g].rows.is_none() {
                    removed.insert(k);
                    settled.known.insert(carry, (g, number(0)));
                    heads.extend(self.value(&settled, g, number(0), carry));
                    after.extend(self.value(&settled, g, number(0), result));
                    continue;
                }
                let start = init.var().and_then(|v| settled.known.get(&v)).map(|(_, row)| *row);
                let inside = self.row_of(carry);
                let outside = self.row_of(result);
                settled.known.insert(carry, (g, Atom::Var(inside)));
                heads.extend(self.value(&settled, g, Atom::Var(inside), carry));
                after.extend(self.value(&settled, g, Atom::Var(outside), result));
                scan.carry[k] = (inside, start.unwrap_or(number(0)));
                stmt.nl[k] = outside;
            }
        }
        self.inside(&mut scan.body, &mut settled);
        for group in settled.groups.iter().filter(|g| g.rows.is_some()) {
            for k in &group.carries {
                let next = &mut scan.body.nl[*k];
                *next = settled.row(*next).map_or(number(0), |(_, row)| row);
            }
        }
        scan.body.stmts.splice(0..0, heads);
        let mut keep = |k: usize| !removed.contains(&k);
        retain(&mut scan.carry, &mut keep);
        retain(&mut scan.body.nl, &mut keep);
        retain(&mut stmt.nl, &mut keep);
        Some((before, after))
    }

    /// In the body of a loop, or an arm in it: branches give the numbers of rows instead of the rows.
    fn inside(&mut self, block: &mut Block, settled: &mut Settled) {
        let mut added: Vec<(usize, Vec<Stmt>)> = Vec::new();
        for (at, stmt) in block.stmts.iter_mut().enumerate() {
            match &mut stmt.rhs {
                Rhs::Atom(a) => {
                    if let (Some(known), [v]) = (settled.row(*a), &stmt.nl[..]) {
                        settled.known.insert(*v, known);
                    }
                }
                Rhs::Case(case) => {
                    for arm in &mut case.arms {
                        self.inside(&mut arm.body, settled);
                    }
                    let mut after = Vec::new();
                    let mut removed = HashSet::default();
                    for k in 0..stmt.nl.len() {
                        let given: Option<Vec<_>> =
                            case.arms.iter().map(|arm| settled.row(arm.body.nl[k])).collect();
                        let Some(given) = given else { continue };
                        let Some((g, _)) = given.first().copied() else { continue };
                        if given.iter().any(|(other, _)| *other != g) {
                            continue;
                        }
                        let value = stmt.nl[k];
                        let row = if settled.groups[g].rows.is_some() {
                            let row = self.row_of(value);
                            stmt.nl[k] = row;
                            for (arm, (_, row)) in case.arms.iter_mut().zip(given) {
                                arm.body.nl[k] = row;
                            }
                            Atom::Var(row)
                        } else {
                            removed.insert(k);
                            number(0)
                        };
                        settled.known.insert(value, (g, row));
                        after.extend(self.value(settled, g, row, value));
                    }
                    let mut keep = |k: usize| !removed.contains(&k);
                    retain(&mut stmt.nl, &mut keep);
                    for arm in &mut case.arms {
                        retain(&mut arm.body.nl, &mut keep);
                    }
                    stmt.annotated &= !stmt.nl.is_empty();
                    if !after.is_empty() {
                        added.push((at, after));
                    }
                }
                _ => {}
            }
        }
        for (at, after) in added.into_iter().rev() {
            block.stmts.splice(at + 1..at + 1, after);
        }
    }

    /// `value = rows[row]`, or the only array of the group.
    fn value(&self, settled: &Settled, group: usize, row: Atom, value: NVar) -> Vec<Stmt> {
        let Group { arrays, rows, .. } = &settled.groups[group];
        let loc = settled.loc;
        match (rows, &arrays[..]) {
            (Some(rows), _) => {
                let below = Check::Below(row, number(arrays.len()));
                let check = Rhs::Check(below);
                let step = Step::Index { index: row, proved: false };
                let check = Stmt { nl: vec![], ..leaf(value, check, loc) };
                vec![check, leaf(value, Rhs::Index(*rows, vec![step]), loc)]
            }
            (None, [array, ..]) => vec![leaf(value, Rhs::Atom(Atom::Var(*array)), loc)],
            (None, []) => Vec::new(),
        }
    }

    /// A new name for the row of an array.
    fn row_of(&mut self, array: NVar) -> NVar {
        let VarData { name, span, .. } = self.func.nvars[array].clone();
        self.name(&format!("{name}_row"), Type::I64, span)
    }

    fn name(&mut self, hint: &str, ty: Type, span: Span) -> NVar {
        let name = self.namer.get_or_insert_with(|| Namer::of(self.func)).fresh(hint);
        self.func.nvars.push(VarData { name, ty, def: None, span })
    }
}

impl Settled {
    /// The group and the row that an operand stands for.
    fn row(&self, atom: Atom) -> Option<(usize, Atom)> {
        self.known.get(&atom.var()?).copied()
    }
}

fn number(k: usize) -> Atom {
    Atom::Lit(Literal::I64(k as i64))
}

fn leaf(v: NVar, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc }
}

/// Keeps the items at some positions.
fn retain<T>(items: &mut Vec<T>, keep: &mut dyn FnMut(usize) -> bool) {
    let mut k = 0;
    items.retain(|_| {
        k += 1;
        keep(k - 1)
    });
}

// ---- which carries

/// The carries of a loop that no iteration makes, by what they hold.
fn groups(func: &Function, scan: &Scan) -> Vec<Group> {
    let is_array = |v: NVar| matches!(func.nvars[v].ty, Type::Array(..));
    if !scan.carry.iter().any(|(v, _)| is_array(*v)) {
        return Vec::new();
    }
    let mut inside = HashSet::default();
    inside.insert(scan.index);
    inside.extend(scan.slices.iter().map(|(v, _)| *v));
    inside.extend(scan.carry.iter().map(|(v, _)| *v));
    scan.body.for_each_binder(&mut |name| {
        if let Use::N(v) = name {
            inside.insert(v);
        }
    });
    let carry = scan.carry.iter().enumerate().map(|(k, (v, _))| (*v, k)).collect();
    let mut search = Search { func, inside, carry, defined: HashMap::default() };
    search.define(&scan.body);
    let mut held: Vec<Option<HashSet<NVar>>> = Vec::new();
    for (k, (v, init)) in scan.carry.iter().enumerate() {
        let mut leaves = HashSet::default();
        let found = is_array(*v)
            && init.var().is_some()
            && search.leaves(scan.body.nl[k], &mut leaves)
            && leaves.iter().chain(&init.var()).all(|u| func.nvars[*u].ty == func.nvars[*v].ty);
        held.push(found.then_some(leaves));
    }
    // What hands on a carry that is made is made.
    loop {
        let made = (0..held.len()).find(|k| {
            let from = |v: &NVar| search.carry.get(v).is_some_and(|c| held[*c].is_none());
            held[*k].as_ref().is_some_and(|leaves| leaves.iter().any(from))
        });
        match made {
            Some(k) => held[k] = None,
            None => break,
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut home: HashMap<NVar, usize> = HashMap::default();
    for (k, (v, init)) in scan.carry.iter().enumerate() {
        let Some(leaves) = &held[k] else { continue };
        let names: Vec<NVar> = leaves.iter().copied().chain([*v]).chain(init.var()).collect();
        let joined: HashSet<usize> = names.iter().filter_map(|n| home.get(n).copied()).collect();
        let target = joined.iter().copied().min().unwrap_or(groups.len());
        if target == groups.len() {
            groups.push(Group { carries: Vec::new(), arrays: Vec::new(), rows: None });
        }
        for group in home.values_mut() {
            if joined.contains(group) {
                *group = target;
            }
        }
        for other in joined.into_iter().filter(|g| *g != target) {
            let carries = std::mem::take(&mut groups[other].carries);
            groups[target].carries.extend(carries);
        }
        groups[target].carries.push(k);
        home.extend(names.into_iter().map(|n| (n, target)));
    }
    groups.retain(|group| !group.carries.is_empty());
    for group in &mut groups {
        group.carries.sort_unstable();
        let mut seen = HashSet::default();
        let mut arrays: Vec<NVar> =
            group.carries.iter().filter_map(|k| scan.carry[*k].1.var()).collect();
        let mut leaves: Vec<NVar> = (group.carries.iter().filter_map(|k| held[*k].as_ref()))
            .flatten()
            .copied()
            .filter(|v| !search.carry.contains_key(v))
            .collect();
        leaves.sort_unstable();
        arrays.extend(leaves);
        arrays.retain(|v| seen.insert(*v));
        group.arrays = arrays;
    }
    // Only numbers and truth values stand in rows of one shape.
    let flat = |ty: &Type| {
        let mut ty = ty;
        while let Some(element) = ty.element() {
            ty = element;
        }
        ty.is_scalar()
    };
    groups.retain(|group| match group.arrays[..] {
        [_] => true,
        [first, ..] => flat(&func.nvars[first].ty),
        [] => false,
    });
    groups
}

/// Where the arrays come from that a body hands on.
struct Search<'a> {
    func: &'a Function,
    /// What is bound in the loop.
    inside: HashSet<NVar>,
    /// The carries, by name.
    carry: HashMap<NVar, usize>,
    /// Copies and results of branches: the operands that they may be.
    defined: HashMap<NVar, Vec<Atom>>,
}

impl Search<'_> {
    fn define(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.rhs {
                Rhs::Atom(a) => {
                    self.defined.extend(stmt.nl.iter().map(|v| (*v, vec![*a])));
                }
                Rhs::Case(case) => {
                    for arm in &case.arms {
                        self.define(&arm.body);
                    }
                    for (k, v) in stmt.nl.iter().enumerate() {
                        let given = case.arms.iter().filter_map(|arm| arm.body.nl.get(k).copied());
                        if matches!(self.func.nvars[*v].ty, Type::Array(..)) {
                            self.defined.insert(*v, given.collect());
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the carries and names of outside that an operand may be; false if it may be anything else.
    fn leaves(&self, atom: Atom, leaves: &mut HashSet<NVar>) -> bool {
        let mut seen = HashSet::default();
        let mut work = vec![atom];
        while let Some(atom) = work.pop() {
            let Some(v) = atom.var() else { return false };
            if !seen.insert(v) {
                continue;
            }
            match self.defined.get(&v) {
                _ if self.carry.contains_key(&v) || !self.inside.contains(&v) => {
                    leaves.insert(v);
                }
                Some(from) => work.extend(from),
                None => return false,
            }
        }
        true
    }
}
