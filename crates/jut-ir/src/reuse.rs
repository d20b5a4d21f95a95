//! Which sums may grow in the storage of what they start from.
//!
//! `y = acc r: t = x { .. }` is a copy of x that is added to, unless nobody looks at x afterwards: then its cells
//! can be y's. So a carried array to which an iteration adds a cell costs a cell:
//!
//! ```text
//! v1 = scan down (i < n) carry (v = x) { a = c[i]; w = acc r: [n]f64 = v { r[i] += a }; w }
//! ```
//!
//! The storage is that of all names that may share it: copies, rows, slices, parts of tuples and data, what
//! branches, regions and calls make of them, and a carry with its next value. It may be reused where none of
//! those names is read after the start (not in the body of the sum either), and all that are bound before it
//! are bound in the same round of the innermost loop, in a function without a loop behind its parameters. A
//! carry has storage of its own, which is not that of its initial value: whoever reuses it must see to that.
//! What data holds never changes, so storage with a data value among its names is not reused.
//!
//! *Ensures*: an answer that is safe for whoever executes the function statement by statement. *Cost*: linear.

use crate::entity::{Cap, NVar, SecondaryMap};
use crate::hash::HashMap;
use crate::ir::*;
use crate::types::Type;
use crate::visit::Use;

/// For each sum that may grow in the storage of its start: the names that the storage has, also in other
/// rounds of the loop.
pub fn reused(func: &Function) -> HashMap<Cap, Vec<NVar>> {
    if !has_start(&func.body) {
        return HashMap::default();
    }
    let mut walk = Walk {
        func,
        parent: SecondaryMap::new(),
        bound: SecondaryMap::new(),
        used: SecondaryMap::new(),
        sums: Vec::new(),
        now: 0,
        round: 0,
    };
    walk.block(&func.body);
    let mut names: HashMap<NVar, Vec<NVar>> = HashMap::default();
    for v in func.nvars.keys() {
        let root = walk.root(v);
        names.entry(root).or_default().push(v);
    }
    let sums = std::mem::take(&mut walk.sums);
    let own = sums.into_iter().filter_map(|Sum { cap, start, at, round }| {
        let names = names.get(&walk.root(start))?;
        let plain = names.iter().all(|v| !has_data(&func.nvars[*v].ty));
        let dead = names.iter().filter(|v| walk.bound[**v] < at).all(|v| {
            let used = walk.used[*v];
            walk.bound[*v] > round && used <= at
        });
        (plain && dead).then(|| (cap, names.clone()))
    });
    own.collect()
}

fn has_data(ty: &Type) -> bool {
    match ty {
        Type::Data(_) => true,
        Type::Tuple(items) => items.iter().any(has_data),
        Type::Array(_, element) => has_data(element),
        Type::Float(_) | Type::I64 | Type::Bool => false,
    }
}

fn has_start(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        let here = matches!(&stmt.rhs, Rhs::Region(r) if matches!(r.start, Some(Operand::N(_))));
        here || stmt.rhs.blocks().into_iter().any(has_start)
    })
}

struct Sum {
    cap: Cap,
    start: NVar,
    at: u32,
    round: u32,
}

struct Walk<'a> {
    func: &'a Function,
    /// Names that share storage: one step towards the one that stands for all.
    parent: SecondaryMap<NVar, Option<NVar>>,
    /// When a name is bound (parameters at 0), and when it is read last.
    bound: SecondaryMap<NVar, u32>,
    used: SecondaryMap<NVar, u32>,
    sums: Vec<Sum>,
    now: u32,
    /// When the innermost loop began.
    round: u32,
}

impl Walk<'_> {
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
        if a != b {
            self.parent[a] = Some(b);
        }
    }

    fn share_all(&mut self, names: &[NVar], atoms: &[Atom]) {
        for (v, a) in names.iter().zip(atoms) {
            self.share_atom(*v, *a);
        }
    }

    fn share_atom(&mut self, v: NVar, atom: Atom) {
        if let Atom::Var(u) = atom {
            self.share(v, u);
        }
    }

    fn bind(&mut self, v: NVar) {
        self.bound[v] = self.now;
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.now += 1;
        for v in block.nl.iter().filter_map(|a| a.var()) {
            self.used[v] = self.now;
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.now += 1;
        let at = self.now;
        stmt.rhs.for_each_own_use(&mut |name| {
            if let Use::N(v) = name {
                self.used[v] = at;
            }
        });
        match &stmt.rhs {
            // New storage, or none.
            Rhs::Prim(..) | Rhs::Structured(..) | Rhs::Size(..) => {}
            Rhs::Region(region) => {
                if let Some(Operand::N(Atom::Var(start))) = region.start {
                    self.sums.push(Sum { cap: region.cap, start, at, round: self.round });
                    stmt.nl.last().iter().for_each(|total| self.share(**total, start));
                }
                self.block(&region.body);
                self.share_all(&stmt.nl, &region.body.nl);
            }
            Rhs::Scan(scan) => {
                let outer = std::mem::replace(&mut self.round, at);
                self.now += 1;
                self.bind(scan.index);
                for (element, array) in &scan.slices {
                    self.bind(*element);
                    self.share(*element, *array);
                }
                scan.carry.iter().for_each(|(v, _)| self.bind(*v));
                self.block(&scan.body);
                for (k, (v, _)) in scan.carry.iter().enumerate() {
                    scan.body.nl.get(k).iter().for_each(|next| self.share_atom(*v, **next));
                    stmt.nl.get(k).iter().for_each(|result| self.share(**result, *v));
                }
                self.round = outer;
            }
            Rhs::Case(case) => {
                for arm in &case.arms {
                    self.now += 1;
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.bind(*v);
                            self.share_atom(*v, case.scrutinee);
                        }
                    }
                    self.block(&arm.body);
                    self.share_all(&stmt.nl, &arm.body.nl);
                }
            }
            // Views, other names, parts, what is put together, and what a callee makes of its arguments.
            rhs => rhs.for_each_own_use(&mut |name| {
                if let Use::N(u) = name {
                    stmt.nl.iter().for_each(|v| self.share(*v, u));
                }
            }),
        }
        self.now += 1;
        stmt.nl.iter().for_each(|v| self.bind(*v));
    }
}
