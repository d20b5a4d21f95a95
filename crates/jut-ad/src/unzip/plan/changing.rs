//! Arrays that a loop changes in place.
//!
//! Such an array costs an iteration no more than what is read and changed of it, so it must not be stored there:
//! the residual does not index it again, whatever the level, and what was read of it is stored instead.
//!
//! ```text
//! (a1; a1') = scan up (i < n) carry (a = x; a' = x') { .. t = a[i] .. b = a with [i] = s .. (b; b') }
//!                                                          ^ stored, not a
//! ```
//!
//! These are the names bound in a loop that may share storage with what an update makes: carries and their
//! next values, other names, what branches and regions give, rows and slices. *Cost*: linear in the text.

use jut_ir::entity::SecondaryMap;
use jut_ir::*;

/// The arrays that change.
pub(super) fn changing(func: &Function) -> SecondaryMap<NVar, bool> {
    let mut walk = Walk {
        func,
        parent: SecondaryMap::new(),
        updated: Vec::new(),
        inside: Vec::new(),
        loops: 0,
    };
    walk.block(&func.body);
    let mut found = SecondaryMap::new();
    if walk.updated.is_empty() {
        return found;
    }
    let mut roots = SecondaryMap::<NVar, bool>::new();
    for v in std::mem::take(&mut walk.updated) {
        let root = walk.root(v);
        roots[root] = true;
    }
    for v in std::mem::take(&mut walk.inside) {
        let root = walk.root(v);
        found[v] = roots[root];
    }
    found
}

struct Walk<'a> {
    func: &'a Function,
    /// Names that share storage: one step towards the one that stands for all.
    parent: SecondaryMap<NVar, Option<NVar>>,
    /// What updates make.
    updated: Vec<NVar>,
    /// What is bound in loops.
    inside: Vec<NVar>,
    loops: u32,
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

    fn share(&mut self, v: NVar, a: Atom) {
        let is_array = |v: NVar| matches!(self.func.nvars[v].ty, Type::Array(..));
        if let Atom::Var(u) = a
            && is_array(v)
            && is_array(u)
        {
            let (v, u) = (self.root(v), self.root(u));
            if u != v {
                self.parent[v] = Some(u);
            }
        }
    }

    fn bind(&mut self, v: NVar) {
        if self.loops > 0 {
            self.inside.push(v);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            let bound = &stmt.nl;
            match (&stmt.rhs, &bound[..]) {
                (Rhs::Update { array, .. }, [v]) => {
                    self.share(*v, Atom::Var(*array));
                    self.updated.push(*v);
                }
                (Rhs::Atom(a), [v]) => self.share(*v, *a),
                (Rhs::Cast { value, .. } | Rhs::Index(value, _), [v]) => {
                    self.share(*v, Atom::Var(*value));
                }
                _ => {}
            }
            if let Rhs::Scan(scan) = &stmt.rhs {
                self.loops += 1;
                scan.carry.iter().for_each(|(v, _)| self.bind(*v));
                scan.slices.iter().for_each(|(v, array)| {
                    self.bind(*v);
                    self.share(*v, Atom::Var(*array));
                });
                self.block(&scan.body);
                self.loops -= 1;
                for (k, (v, init)) in scan.carry.iter().enumerate() {
                    self.share(*v, *init);
                    scan.body.nl.get(k).iter().for_each(|next| self.share(*v, **next));
                    bound.get(k).iter().for_each(|result| self.share(**result, Atom::Var(*v)));
                }
            } else {
                for nested in stmt.rhs.blocks() {
                    self.block(nested);
                    bound.iter().zip(&nested.nl).for_each(|(v, a)| self.share(*v, *a));
                }
            }
            bound.iter().for_each(|v| self.bind(*v));
        }
    }
}
