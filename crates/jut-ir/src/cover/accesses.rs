//! A walk over the accesses of a function, with what the range rule knows at each of them: for code that
//! marks accesses or puts checks before them. (The checker has a walk of its own.)
//!
//! *Cost*: one walk.

use super::Facts;
use crate::ir::*;
use crate::prim;
use crate::size::Size;
use crate::types::Type;

/// What is done with a statement: the function without its body, what the range rule knows before the
/// statement, the statement, and the list that it is about to stand in.
pub type EditStatement<'a> = &'a mut dyn FnMut(&mut Function, &Facts, &mut Stmt, &mut Vec<Stmt>);

/// What is done with an index or slice: the step, the size of the array that it goes into, and whether the
/// range rule covers it.
pub type EditStep<'a> = &'a mut dyn FnMut(&mut Step, &Size, bool);

/// Calls `edit` for every statement of a function, outer ones before those inside; what it writes into the
/// list comes before the statement.
pub fn each_statement(func: &mut Function, edit: EditStatement<'_>) {
    let mut body = std::mem::take(&mut func.body);
    let mut walk = Walk { func, facts: Facts::default(), edit };
    for p in walk.func.params.clone() {
        walk.bound(p);
    }
    walk.block(&mut body);
    func.body = body;
}

/// Calls `edit` for every index and slice of a statement.
pub fn each_step(func: &Function, facts: &Facts, rhs: &mut Rhs, edit: EditStep<'_>) {
    let mut place = |place: &mut Place| {
        path(func, facts, &func.caps[place.root].ty, &mut place.path, edit);
    };
    match rhs {
        Rhs::Index(v, steps) => path(func, facts, &func.nvars[*v].ty, steps, edit),
        Rhs::Update { array, path: steps, .. } => {
            path(func, facts, &func.nvars[*array].ty, steps, edit);
        }
        Rhs::LUpdate { x, path: steps, .. } | Rhs::LTake { x, path: steps } => {
            path(func, facts, &func.lvars[*x].ty, steps, edit);
        }
        Rhs::Rd(at) | Rhs::Inc(at, _) => place(at),
        Rhs::Call(call) => call.places.iter_mut().flatten().for_each(place),
        Rhs::Scan(scan) => scan.cap_slices.iter_mut().for_each(|(_, at)| place(at)),
        _ => {}
    }
}

fn path(func: &Function, facts: &Facts, root: &Type, path: &mut [Step], edit: EditStep<'_>) {
    let mut ty = root.clone();
    for step in path {
        ty = match (&ty, *step) {
            (Type::Array(size, element), Step::Index { index, .. }) => {
                let covered = facts.covers(&func.size_of(index), size);
                edit(step, size, covered);
                (**element).clone()
            }
            (Type::Array(size, element), Step::Slice { lo, len, .. }) => {
                let (lo, len) = (func.size_of(lo), func.size_of(len));
                edit(step, size, facts.covers_slice(&lo, &len, size));
                Type::Array(len, element.clone())
            }
            (Type::Tuple(items), Step::Field(k)) => match items.get(k as usize) {
                Some(item) => item.clone(),
                None => return,
            },
            _ => return,
        };
    }
}

struct Walk<'a> {
    func: &'a mut Function,
    facts: Facts,
    edit: EditStatement<'a>,
}

impl Walk<'_> {
    fn bound(&mut self, v: crate::NVar) {
        self.facts.add_type(&self.func.nvars[v].ty);
    }

    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            let before = out.len();
            (self.edit)(self.func, &self.facts, &mut stmt, &mut out);
            out[before..].iter().for_each(|stmt| self.learn(stmt));
            self.inside(&mut stmt.rhs);
            self.learn(&stmt);
            out.push(stmt);
        }
        block.stmts = out;
    }

    /// What a statement lets the range rule know behind it.
    fn learn(&mut self, stmt: &Stmt) {
        let size = |a: Atom| self.func.size_of(a);
        match (&stmt.rhs, &stmt.nl[..]) {
            (Rhs::Check(check), _) => match *check {
                Check::Below(i, n) => self.facts.add_below(size(i), size(n)),
                Check::Within { lo, len, size: n } => {
                    self.facts.add_within(size(lo), size(len), size(n));
                }
                Check::NonNegative(n) => self.facts.add_non_negative(size(n)),
                Check::Exact(p, a, b) => self.facts.add_exact(p, &size(a), &size(b)),
                Check::Show(_) => {}
            },
            (Rhs::Prim(prim::IMAX, args), [v]) => {
                if let [of, Atom::Lit(Literal::I64(0))] | [Atom::Lit(Literal::I64(0)), of] =
                    args[..]
                {
                    self.facts.add_max_zero(*v, size(of));
                }
            }
            _ => {}
        }
        if let Some(trips) = stmt.rhs.trips(&stmt.nl) {
            self.facts.add_non_negative(Size::var(trips));
        }
        stmt.nl.iter().for_each(|v| self.bound(*v));
    }

    fn inside(&mut self, rhs: &mut Rhs) {
        match rhs {
            Rhs::Scan(scan) => {
                self.facts.enter();
                self.facts.add_range(scan.index, self.func.size_of(scan.bound));
                scan.carry.iter().for_each(|(v, _)| self.bound(*v));
                scan.slices.iter().for_each(|(v, _)| self.bound(*v));
                self.block(&mut scan.body);
                self.facts.leave();
            }
            Rhs::Case(case) => {
                for arm in &mut case.arms {
                    self.facts.enter();
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.bound(*v);
                        }
                    }
                    self.block(&mut arm.body);
                    self.facts.leave();
                }
            }
            other => {
                for inner in other.blocks_mut() {
                    self.facts.enter();
                    self.block(inner);
                    self.facts.leave();
                }
            }
        }
    }
}
