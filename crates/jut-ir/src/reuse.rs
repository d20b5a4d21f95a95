//! Which updates and sums are in place, and which carried arrays keep one storage through their loop.
//!
//! `y = x with [i] = v` is a copy of x with another part, unless nobody looks at x afterwards: then its cells can
//! be y's. So is `y = acc r: t = x { .. }`. And a carry starts in the storage of its initial value if nobody looks
//! at that afterwards, and stays there if all that an iteration does to it is in place:
//!
//! ```text
//! a1 = scan up (i < n) carry (a = x) { t = a[i]; s = t + 1.0; b = a with [i] = s; b }
//! ```
//!
//! The storage of a name is that of all names that may share it: copies, rows, slices, parts of tuples and data,
//! what branches, regions and calls make of them. An element of scalars or of a data type has nothing of its array's
//! storage, unless it holds arrays of a fixed size, which lie in the array ([`is_apart`]). It may be reused where none of these names is read afterwards:
//! in the rest of the function, other arms of the branches around left out, or in a later round of a loop that the
//! name is bound outside of. Parameters belong to the caller. What data holds never changes, so storage with a
//! data value among its names is not reused: an array of data is none. A carry has storage of its own, its next value comes there, and a
//! result of the loop is what the carry had at last; so what matters is one round.
//!
//! A row or slice of an array that is read after an update of the array would stand in the way, and so would a
//! component of an element that is an array. It gets cells of its own where it is bound, if that is in the same block:
//! they are fewer.
//!
//! *Ensures*: an answer that is safe for whoever executes the function statement by statement, and gives such
//! rows their own cells. *Cost*: linear in the text, times the nesting of branches, for storage with few names.

use crate::entity::{DataId, NVar, PrimaryMap, SecondaryMap};
use crate::hash::{HashMap, HashSet};
use crate::ir::*;
use crate::types::Type;
use crate::visit::Use;

/// What a function may do in place.
#[derive(Debug, Default)]
pub struct Reuse {
    /// By the name that an update or a sum makes, or a carry: the names that have the storage it starts from.
    taken: HashMap<NVar, Vec<NVar>>,
    /// By carry: the names in the body that may still have its storage when the next round begins.
    left: HashMap<NVar, Vec<NVar>>,
    /// The name whose storage another one has in any case.
    origin: HashMap<NVar, NVar>,
    /// Carries that stay where they are.
    stays: HashSet<NVar>,
    /// Rows, slices and components of elements with cells of their own.
    copied: HashSet<NVar>,
}

impl Reuse {
    /// Looks at a function of a program with these data types.
    pub fn of(datas: &PrimaryMap<DataId, Data>, func: &Function) -> Reuse {
        if !has_site(&func.body) {
            return Reuse::default();
        }
        let used = func.params.iter().map(|p| (*p, u32::MAX)).collect();
        let mut uses = Uses { used, ..Uses::default() };
        uses.block(&func.body);
        let mut copied = HashSet::default();
        loop {
            let mut walk = Walk::new(datas, func, &uses, copied);
            walk.block(&func.body);
            // Once more, if rows get cells of their own.
            let first = walk.reuse.copied.is_empty();
            if walk.wanted.is_empty() || !first {
                return walk.reuse;
            }
            copied = walk.wanted;
        }
    }

    /// The names that have the storage that an update or a sum starts from, by the name of what it makes, or a
    /// carry; `None` if it has to be copied. Nobody reads them any more.
    pub fn taken(&self, made: NVar) -> Option<&[NVar]> {
        self.taken.get(&made).map(Vec::as_slice)
    }

    /// Whether nothing is changed in place.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.stays.is_empty()
    }

    /// The names in a loop's body that may hold on to the storage of a carry's next value.
    pub fn left(&self, carry: NVar) -> &[NVar] {
        self.left.get(&carry).map_or(&[], Vec::as_slice)
    }

    /// Whether a carry has one storage in all rounds.
    pub fn stays(&self, carry: NVar) -> bool {
        self.stays.contains(&carry)
    }

    /// The name whose storage, changed in place, a name has.
    pub fn origin(&self, v: NVar) -> NVar {
        self.origin.get(&v).copied().unwrap_or(v)
    }

    /// Whether a row, slice or component of an element must have cells of its own.
    pub fn is_copied(&self, view: NVar) -> bool {
        self.copied.contains(&view)
    }
}

/// Whether a value is of data, which may hold storage. An array of data has storage like any other.
fn has_data(ty: &Type) -> bool {
    match ty {
        Type::Data(_) => true,
        Type::Tuple(items) => items.iter().any(has_data),
        Type::Array(..) | Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => false,
    }
}

/// Whether an element of an array has nothing of the array's storage once it is taken out: it is made of scalars and
/// pointers. Arrays in data lie in the array of the data if their size is constant, and the data has one constructor.
fn is_apart(
    datas: &PrimaryMap<DataId, Data>,
    ty: &Type,
    pointed: bool,
    around: &mut Vec<DataId>,
) -> bool {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => true,
        Type::Array(..) => pointed || !around.is_empty() && !has_constant_size(ty),
        Type::Tuple(items) => items.iter().all(|item| is_apart(datas, item, pointed, around)),
        // What holds values of its own kind is a pointer.
        Type::Data(id) if around.contains(id) => true,
        Type::Data(id) => {
            let Some(data) = datas.get(*id) else { return false };
            let pointed = pointed || data.constructors.len() != 1;
            around.push(*id);
            let mut fields = data.constructors.iter().flat_map(|con| &con.fields);
            let apart = fields.all(|field| is_apart(datas, &field.ty, pointed, around));
            around.pop();
            apart
        }
    }
}

fn has_constant_size(ty: &Type) -> bool {
    match ty {
        Type::Array(size, element) => size.as_constant().is_some() && has_constant_size(element),
        _ => true,
    }
}

fn has_site(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        let here = match &stmt.rhs {
            Rhs::Update { .. } => true,
            Rhs::Region(region) => matches!(region.start, Some(Operand::N(_))),
            _ => false,
        };
        here || stmt.rhs.blocks().into_iter().any(has_site)
    })
}

/// When names are read last. Statements, ends of blocks and what they bind have times in the order of the text.
#[derive(Default)]
struct Uses {
    used: HashMap<NVar, u32>,
    /// The same within each arm, by its number, and when the branch of each arm ends.
    in_arm: HashMap<(u32, NVar), u32>,
    ends: Vec<u32>,
    /// The arms around.
    arms: Vec<u32>,
    now: u32,
}

impl Uses {
    fn read(&mut self, v: NVar) {
        let last = self.used.entry(v).or_default();
        *last = self.now.max(*last);
        for arm in &self.arms {
            self.in_arm.insert((*arm, v), self.now);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.now += 1;
            stmt.rhs.for_each_own_use(&mut |name| {
                if let Use::N(v) = name {
                    self.read(v);
                }
            });
            if let Rhs::Case(case) = &stmt.rhs {
                let first = self.ends.len();
                for arm in &case.arms {
                    let number = self.ends.len() as u32;
                    self.ends.push(0);
                    self.arms.push(number);
                    self.now += 1;
                    self.block(&arm.body);
                    self.arms.pop();
                    // Arms inside have got numbers between.
                    self.ends[number as usize] = u32::MAX;
                }
                let now = self.now;
                let open = self.ends[first..].iter_mut().filter(|end| **end == u32::MAX);
                open.for_each(|end| *end = now);
            } else {
                for nested in stmt.rhs.blocks() {
                    self.now += 1;
                    self.block(nested);
                }
            }
            self.now += 1;
        }
        self.now += 1;
        block.nl.iter().filter_map(|a| a.var()).for_each(|v| self.read(v));
    }
}

struct Walk<'a> {
    datas: &'a PrimaryMap<DataId, Data>,
    func: &'a Function,
    uses: &'a Uses,
    reuse: Reuse,
    /// Rows, slices and components of elements that stand in the way.
    wanted: HashSet<NVar>,
    /// Names that share storage: one step towards the one that stands for all, which has a list of them.
    parent: SecondaryMap<NVar, Option<NVar>>,
    names: HashMap<NVar, Vec<NVar>>,
    /// When a name is bound (parameters at 0), in which block (bodies of regions belong to the one around), and
    /// the row or slice that it is a name of.
    bound: SecondaryMap<NVar, u32>,
    block: SecondaryMap<NVar, u32>,
    view: SecondaryMap<NVar, Option<NVar>>,
    now: u32,
    /// When the loops around began.
    rounds: Vec<u32>,
    /// The arms around: when they began, and their numbers.
    arms: Vec<(u32, u32)>,
    next_arm: u32,
    /// The number of the block, and of the last one.
    here: u32,
    blocks: u32,
}

impl<'a> Walk<'a> {
    fn new(
        datas: &'a PrimaryMap<DataId, Data>,
        func: &'a Function,
        uses: &'a Uses,
        copied: HashSet<NVar>,
    ) -> Walk<'a> {
        Walk {
            datas,
            func,
            uses,
            reuse: Reuse { copied, ..Reuse::default() },
            wanted: HashSet::default(),
            parent: SecondaryMap::new(),
            names: HashMap::default(),
            bound: SecondaryMap::new(),
            block: SecondaryMap::new(),
            view: SecondaryMap::new(),
            now: 0,
            rounds: Vec::new(),
            arms: Vec::new(),
            next_arm: 0,
            here: 0,
            blocks: 0,
        }
    }

    // ---- storage

    fn root(&mut self, v: NVar) -> NVar {
        let mut root = v;
        while let Some(next) = self.parent[root] {
            root = next;
        }
        let mut step = v;
        while let Some(next) = self.parent[step].filter(|_| step != root) {
            self.parent[step] = Some(root);
            step = next;
        }
        root
    }

    fn share(&mut self, a: NVar, b: NVar) {
        let scalar = |v: NVar| self.func.nvars[v].ty.is_scalar();
        if scalar(a) || scalar(b) {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let mut lists = [a, b].map(|v| self.names.remove(&v).unwrap_or_else(|| vec![v]));
        let (from, to) = if lists[0].len() < lists[1].len() { (a, b) } else { (b, a) };
        lists.sort_by_key(Vec::len);
        let [few, mut many] = lists;
        many.extend(few);
        self.parent[from] = Some(to);
        self.names.insert(to, many);
    }

    /// An element, row or slice of an array; whether they share storage.
    fn element(&mut self, v: NVar, array: NVar) -> bool {
        let ty = &self.func.nvars[v].ty;
        let apart = is_apart(self.datas, ty, false, &mut Vec::new());
        if !apart {
            self.share(v, array);
        }
        !apart
    }

    fn share_all(&mut self, names: &[NVar], atoms: &[Atom]) {
        for (v, a) in names.iter().zip(atoms) {
            if let Atom::Var(u) = a {
                self.share(*v, *u);
            }
        }
    }

    fn names_of(&mut self, v: NVar) -> Vec<NVar> {
        let root = self.root(v);
        self.names.get(&root).cloned().unwrap_or_else(|| vec![root])
    }

    fn bind(&mut self, v: NVar) {
        self.bound[v] = self.now;
        self.block[v] = self.here;
    }

    // ---- time

    /// The last time at which a name is read, without what only other arms read than those around that began
    /// before `limit`.
    fn last_use(&self, v: NVar, limit: u32) -> u32 {
        let mut last = self.uses.used.get(&v).copied().unwrap_or_default();
        for (_, arm) in self.arms.iter().take_while(|(began, _)| *began < limit) {
            if last > self.uses.ends[*arm as usize] {
                break;
            }
            last = self.uses.in_arm.get(&(*arm, v)).copied().unwrap_or_default();
        }
        last
    }

    /// Whether a name is not read after the statement at a time, also not in the next round of a loop.
    fn is_dead(&self, v: NVar, at: u32) -> bool {
        let bound = self.bound[v];
        let limit = self.rounds.iter().copied().find(|round| *round > bound).unwrap_or(at);
        self.last_use(v, limit) <= limit
    }

    /// The names of what is started from, if nobody else needs its storage. `operands` are all that the
    /// statement reads.
    fn take(&mut self, start: NVar, operands: &[NVar], at: u32) -> Option<Vec<NVar>> {
        let root = self.root(start);
        let mut shared = operands.iter().filter(|v| !self.func.nvars[**v].ty.is_scalar());
        let others = shared.clone().filter(|v| **v != start).copied().collect::<Vec<_>>();
        let twice = shared.by_ref().filter(|v| **v == start).count() > 1;
        let names = self.names_of(start);
        let mut in_the_way: Vec<NVar> =
            others.into_iter().filter(|v| self.root(*v) == root).collect();
        in_the_way.extend(names.iter().copied().filter(|v| !self.is_dead(*v, at)));
        if twice || names.iter().any(|v| has_data(&self.func.nvars[*v].ty)) {
            return None;
        }
        let here = |view: &NVar| self.block[*view] == self.here;
        let views: Option<Vec<NVar>> =
            in_the_way.iter().map(|v| self.view[*v].filter(here)).collect();
        self.wanted.extend(views.into_iter().flatten());
        if !in_the_way.is_empty() {
            return None;
        }
        // Those that are out of the way for good need not be looked at again.
        let (here, uses) = (self.here, self.uses);
        let stays =
            |v: &NVar| self.block[*v] != here || uses.used.get(v).is_some_and(|used| *used > at);
        let left = names.iter().copied().filter(stays).collect();
        self.names.insert(root, left);
        Some(names)
    }

    /// An update or a sum, which makes `made` of `start`.
    fn site(&mut self, made: NVar, start: NVar, rhs: &Rhs, at: u32) -> bool {
        let operands = operands(rhs);
        let Some(names) = self.take(start, &operands, at) else { return false };
        self.reuse.taken.insert(made, names);
        self.share(made, start);
        let origin = self.reuse.origin(start);
        self.reuse.origin.insert(made, origin);
        true
    }

    fn same(&mut self, v: NVar, of: NVar) {
        let origin = self.reuse.origin(of);
        self.reuse.origin.insert(v, origin);
        self.view[v] = self.view[of];
    }

    // ---- statements

    fn nested(&mut self, block: &Block) {
        self.blocks += 1;
        let around = std::mem::replace(&mut self.here, self.blocks);
        self.block(block);
        self.here = around;
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.now += 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.now += 1;
        let at = self.now;
        match &stmt.rhs {
            // Another shape of the same storage.
            Rhs::Structured(op, args, _) if op.is_view() => {
                for u in args.iter().filter_map(|a| a.var()) {
                    stmt.nl.iter().for_each(|v| self.share(*v, u));
                }
            }
            // New storage, or none.
            Rhs::Prim(..) | Rhs::Structured(..) | Rhs::Size(..) => {}
            Rhs::Update { array, .. } => {
                if let Some(made) = stmt.nl.first() {
                    self.site(*made, *array, &stmt.rhs, at);
                }
            }
            Rhs::Index(array, _) => {
                if let Some(v) = stmt.nl.first().filter(|v| !self.reuse.copied.contains(*v))
                    && self.element(*v, *array)
                {
                    self.view[*v] = Some(*v);
                }
            }
            // A component of an element can have cells of its own, as the element can.
            Rhs::Proj(u, _) if self.view[*u].is_some() => {
                if let Some(v) = stmt.nl.first().filter(|v| !self.reuse.copied.contains(*v)) {
                    self.share(*v, *u);
                    self.view[*v] = Some(*v);
                }
            }
            Rhs::Atom(Atom::Var(u)) | Rhs::Cast { value: u, .. } => {
                if let Some(v) = stmt.nl.first() {
                    self.share(*v, *u);
                    self.same(*v, *u);
                }
            }
            Rhs::Region(region) => {
                if let (Some(Operand::N(Atom::Var(start))), Some(total)) =
                    (region.start, stmt.nl.last())
                {
                    self.site(*total, start, &stmt.rhs, at);
                }
                self.now += 1;
                self.block(&region.body);
                self.share_all(&stmt.nl, &region.body.nl);
                for (v, a) in stmt.nl.iter().zip(&region.body.nl) {
                    a.var().iter().for_each(|u| self.same(*v, *u));
                }
            }
            Rhs::Scan(scan) => self.scan(stmt, scan, at),
            Rhs::Case(case) => self.case(stmt, case),
            // Other names, parts, what is put together, and what a callee makes of its arguments.
            rhs => {
                for u in operands(rhs) {
                    stmt.nl.iter().for_each(|v| self.share(*v, u));
                }
            }
        }
        self.now += 1;
        stmt.nl.iter().for_each(|v| self.bind(*v));
    }

    fn scan(&mut self, stmt: &Stmt, scan: &Scan, at: u32) {
        let operands = operands(&stmt.rhs);
        let is_array = |v: NVar| matches!(self.func.nvars[v].ty, Type::Array(..));
        let arrays: Vec<usize> =
            (0..scan.carry.len()).filter(|k| is_array(scan.carry[*k].0)).collect();
        for k in &arrays {
            let (carry, init) = scan.carry[*k];
            if let Some(init) = init.var()
                && let Some(names) = self.take(init, &operands, at)
            {
                self.reuse.taken.insert(carry, names);
            }
        }
        self.rounds.push(at);
        self.now += 1;
        self.blocks += 1;
        let around = std::mem::replace(&mut self.here, self.blocks);
        self.bind(scan.index);
        for (element, array) in &scan.slices {
            self.bind(*element);
            self.element(*element, *array);
        }
        scan.carry.iter().for_each(|(v, _)| self.bind(*v));
        self.block(&scan.body);
        self.here = around;
        self.rounds.pop();
        for (k, (carry, init)) in scan.carry.iter().enumerate() {
            let (result, next) = (stmt.nl.get(k).copied(), scan.body.nl.get(k));
            let next = next.and_then(|a| a.var());
            if !arrays.contains(&k) {
                // What is not an array may be the initial value, or any other.
                let others = [init.var(), next, Some(*carry)];
                for v in others.into_iter().flatten() {
                    result.iter().for_each(|result| self.share(*result, v));
                }
                continue;
            }
            let Some(next) = next else { continue };
            let names = self.names_of(next);
            let inside = |v: &NVar| self.bound[*v] > at && v != carry;
            self.reuse.left.insert(*carry, names.into_iter().filter(inside).collect());
            if self.reuse.origin(next) == *carry {
                self.reuse.stays.insert(*carry);
                if let (Some(result), Some(init), true) =
                    (result, init.var(), self.reuse.taken.contains_key(carry))
                {
                    let origin = self.reuse.origin(init);
                    self.reuse.origin.insert(result, origin);
                }
            }
        }
    }

    fn case(&mut self, stmt: &Stmt, case: &Case) {
        for arm in &case.arms {
            self.arms.push((self.now, self.next_arm));
            self.next_arm += 1;
            self.now += 1;
            for field in &arm.fields {
                if let FieldPattern::Bind(v) = field {
                    self.bind(*v);
                    self.share_all(&[*v], &[case.scrutinee]);
                }
            }
            self.nested(&arm.body);
            self.arms.pop();
        }
        for (k, v) in stmt.nl.iter().enumerate() {
            let given: Option<Vec<NVar>> =
                case.arms.iter().map(|arm| arm.body.nl.get(k)?.var()).collect();
            for arm in &case.arms {
                self.share_all(&[*v], arm.body.nl.get(k..=k).unwrap_or_default());
            }
            let mut origins = given.into_iter().flatten().map(|u| self.reuse.origin(u));
            if let Some(first) = origins.next()
                && origins.all(|other| other == first)
            {
                self.reuse.origin.insert(*v, first);
            }
        }
    }
}

/// The names that an operation itself reads.
fn operands(rhs: &Rhs) -> Vec<NVar> {
    let mut names = Vec::new();
    rhs.for_each_own_use(&mut |name| {
        if let Use::N(v) = name {
            names.push(v);
        }
    });
    names
}
