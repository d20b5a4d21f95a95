//! What every iteration hands on unchanged is no carry.
//!
//! ```text
//! c = scan down (i < n) carry (a = 1.0) {        scan down (i < n) {
//!   x = v[i]                                       a = 1.0
//!   t = times(x, a)                                x = v[i]
//!   dv[i] += t                                     t = times(x, a)
//!   a                                              dv[i] += t
//! }                                              }
//!                                                c = 1.0
//! ```
//!
//! That is what the cotangent of a sum is in the loop that made the sum: the same in all iterations. As a carry it would be
//! a number that nobody knows; [`crate::simplify`] then knows that it is 1, and what is multiplied by it needs no product.
//!
//! *Rule*: the next value of the carry is the carry, by whatever names, also those that a loop inside hands on. The first carry of a
//! `while` says whether there is another iteration and stays. Only floats: arrays are [`jut_ir::carries`]'s, and integers may be sizes.
//! *Requires*: a purely non-linear function of which no derivative is taken: one would add up another carry's cotangents, in another
//! order. *Ensures*: same results, same errors, no more work. *Cost*: linear in the text.

use jut_ir::entity::NVar;
use jut_ir::hash::HashMap;
use jut_ir::ir::*;
use jut_ir::types::Type;

/// Makes such carries names of their initial values.
pub fn settle(func: &mut Function) {
    let mut body = std::mem::take(&mut func.body);
    Pass { func, same: HashMap::default() }.block(&mut body);
    func.body = body;
}

struct Pass<'a> {
    func: &'a Function,
    /// What a name is another one of.
    same: HashMap<NVar, Atom>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut ends: Vec<(usize, Vec<Stmt>)> = Vec::new();
        for (at, stmt) in block.stmts.iter_mut().enumerate() {
            stmt.rhs.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            match &stmt.rhs {
                Rhs::Atom(of) => {
                    let of = self.of(*of);
                    self.same.extend(stmt.nl.first().map(|v| (*v, of)));
                }
                Rhs::Scan(_) => {
                    let after = self.scan(stmt);
                    if !after.is_empty() {
                        ends.push((at, after));
                    }
                }
                _ => {}
            }
        }
        if ends.is_empty() {
            return;
        }
        let mut ends = ends.into_iter().peekable();
        for (at, stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            block.stmts.push(stmt);
            block.stmts.extend(ends.next_if(|(k, _)| *k == at).into_iter().flat_map(|(_, s)| s));
        }
    }

    /// The first name of what an atom is.
    fn of(&self, atom: Atom) -> Atom {
        atom.var().and_then(|v| self.same.get(&v).copied()).unwrap_or(atom)
    }

    /// Takes carries out of a loop; gives the statements that come behind it.
    fn scan(&mut self, stmt: &mut Stmt) -> Vec<Stmt> {
        let Rhs::Scan(scan) = &mut stmt.rhs else { return Vec::new() };
        let first = usize::from(scan.dir == Dir::While);
        let changes = |(k, ((carry, _), next)): (usize, (&(NVar, Atom), &Atom))| {
            let is_float = matches!(self.func.nvars[*carry].ty, Type::Float(_));
            k < first || !is_float || self.of(*next) != Atom::Var(*carry)
        };
        let carries = scan.carry.iter().zip(&scan.body.nl).enumerate();
        let keep: Vec<bool> = carries.map(changes).collect();
        if !keep.contains(&false) {
            return Vec::new();
        }
        let (mut heads, mut after) = (Vec::new(), Vec::new());
        for (k, (carry, init)) in
            scan.carry.iter().enumerate().filter(|(k, _)| keep.get(*k) == Some(&false))
        {
            let name = |v: NVar| {
                let rhs = Rhs::Atom(*init);
                Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc: stmt.loc }
            };
            heads.push(name(*carry));
            self.same.insert(*carry, self.of(*init));
            if let Some(result) = stmt.nl.get(k) {
                after.push(name(*result));
                self.same.insert(*result, self.of(*init));
            }
        }
        scan.body.stmts.splice(0..0, heads);
        crate::dead::retain(&mut scan.carry, &keep);
        crate::dead::retain(&mut scan.body.nl, &keep);
        crate::dead::retain(&mut stmt.nl, &keep);
        stmt.annotated &= !stmt.nl.is_empty();
        after
    }
}
