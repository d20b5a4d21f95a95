//! Marks of proved accesses in a residual.
//!
//! Checks stay in `f.nonlin`, and so do most arrays, whose dimensions tell that sizes are not
//! negative. An access of the residual that is no longer covered without them was covered where
//! it comes from; it is marked (`x[!i]`), and T copies the mark.
//!
//! *Cost*: one walk.

use jut_ir::cover::Facts;
use jut_ir::*;

/// Marks every access of a function that the range rule does not cover.
pub(super) fn prove_accesses(func: &mut Function) {
    let mut body = std::mem::take(&mut func.body);
    let mut walk = Walk { func, facts: Facts::default() };
    for p in &func.params {
        walk.learn(*p);
    }
    walk.block(&mut body);
    func.body = body;
}

struct Walk<'a> {
    func: &'a Function,
    facts: Facts,
}

impl Walk<'_> {
    fn learn(&mut self, v: NVar) {
        self.facts.add_type(&self.func.nvars[v].ty);
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            self.stmt(&mut stmt.rhs);
            if let (Rhs::Prim(prim::IMAX, args), [v]) = (&stmt.rhs, &stmt.nl[..])
                && let [of, Atom::Lit(Literal::I64(0))] = args[..]
            {
                self.facts.add_max_zero(*v, self.func.size_of(of));
            }
            stmt.nl.iter().for_each(|v| self.learn(*v));
        }
    }

    fn stmt(&mut self, rhs: &mut Rhs) {
        match rhs {
            Rhs::Index(v, path) => {
                let func = self.func;
                self.path(&func.nvars[*v].ty, path);
            }
            Rhs::Rd(place) | Rhs::Inc(place, _) => self.place(place),
            Rhs::Call(call) => call.places.iter_mut().flatten().for_each(|p| self.place(p)),
            Rhs::Scan(scan) => {
                scan.cap_slices.iter_mut().for_each(|(_, p)| self.place(p));
                self.facts.enter();
                self.facts.add_range(scan.index, self.func.size_of(scan.bound));
                scan.carry.iter().for_each(|(v, _)| self.learn(*v));
                scan.slices.iter().for_each(|(v, _)| self.learn(*v));
                self.block(&mut scan.body);
                self.facts.leave();
            }
            Rhs::Case(case) => {
                for arm in &mut case.arms {
                    self.facts.enter();
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            self.learn(*v);
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

    fn place(&mut self, place: &mut Place) {
        let func = self.func;
        self.path(&func.caps[place.root].ty, &mut place.path);
    }

    fn path(&mut self, root: &Type, path: &mut [Step]) {
        let mut ty = root.clone();
        for step in path {
            let next = match (&ty, &mut *step) {
                (Type::Array(size, element), Step::Index { index, proved }) => {
                    *proved |= !self.facts.covers(&self.func.size_of(*index), size);
                    (**element).clone()
                }
                (Type::Array(size, element), Step::Slice { lo, len, proved }) => {
                    let (lo, len) = (self.func.size_of(*lo), self.func.size_of(*len));
                    *proved |= !self.facts.covers_slice(&lo, &len, size);
                    Type::Array(len, element.clone())
                }
                (Type::Tuple(items), Step::Field(k)) => match items.get(*k as usize) {
                    Some(item) => item.clone(),
                    None => return,
                },
                _ => return,
            };
            ty = next;
        }
    }
}
