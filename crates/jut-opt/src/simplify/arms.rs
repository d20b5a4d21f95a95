//! What a branch says: a `case` of a value that is known has one arm, and in an arm of a `case` the value is known.
//!
//! ```text
//! x = case v { Leaf(p) -> p; Node(_, _) -> 0.0 }
//! case v {
//!   Leaf(q) -> x * case v { Leaf(r) -> r; Node(_, _) -> 1.0 }          Leaf(q) -> q * q
//!   ..
//! ```
//!
//! The first `case` stays for those who read x elsewhere; if nobody does, [`crate::dead`] takes it away.
//!
//! A branch that chooses an integer or a truth value is a selection, of which both sides are computed:
//!
//! ```text
//! j = case b { true -> { t = i - 1; t }; false -> 0 }          t = i - 1; j = select(b, t, 0)
//! ```
//!
//! That has no derivative, so it is an index as any other to all passes: nothing of it is on a tape, it leaves loops, and a loop whose middle it says
//! the same of loses its ends.

use super::Simplify;
use crate::rewrite::Rewriter;
use jut_ir::entity::NVar;
use jut_ir::in_place::InPlace;
use jut_ir::ir::*;
use jut_ir::prim::{self, Prim};
use jut_ir::tape::TapePolicy;
use jut_ir::types::Type;
use std::rc::Rc;

/// Of as many names it is remembered what they are of one value.
const MOST_READS: usize = 64;

/// A name that a `case` binds, and what it is of those constructors of which that is known at once.
pub(super) struct Read {
    name: NVar,
    of: Vec<(ConRef, Got)>,
}

#[derive(Clone, Copy)]
enum Got {
    Field(usize),
    Atom(Atom),
}

/// What an arm hides.
#[derive(Default)]
pub(super) struct Entered {
    known: Option<(NVar, Option<Rc<Rhs>>)>,
    replaced: Vec<(NVar, Option<Atom>)>,
}

impl Simplify<'_> {
    /// In an arm the value has its constructor and its fields, and names that were read of it are these.
    pub(super) fn enter(&mut self, scrutinee: Atom, pattern: ArmPattern, fields: &[FieldPattern]) {
        let mut entered = Entered::default();
        if let (Atom::Var(value), ArmPattern::Con(con)) = (scrutinee, pattern) {
            let atom = |field: &FieldPattern| match field {
                FieldPattern::Bind(v) => Atom::Var(*v),
                FieldPattern::Eq(a) => *a,
            };
            let fields: Vec<Atom> = fields.iter().map(atom).collect();
            for read in self.reads.get(&value).into_iter().flatten() {
                let got = read.of.iter().find(|(of, _)| *of == con).map(|(_, got)| *got);
                let atom = match got {
                    Some(Got::Field(k)) => fields[k],
                    Some(Got::Atom(atom)) => atom,
                    None => continue,
                };
                if self.func.nvars[read.name].ty == self.func.type_of(atom) {
                    let outside = self.replaced[read.name].replace(atom);
                    entered.replaced.push((read.name, outside));
                }
            }
            let here = Some(Rc::new(Rhs::Con(con, fields)));
            entered.known = Some((value, std::mem::replace(&mut self.known[value], here)));
        }
        self.entered.push(entered);
    }

    /// What was known outside is known again.
    pub(super) fn leave(&mut self) {
        let Some(Entered { known, replaced }) = self.entered.pop() else { return };
        if let Some((value, outside)) = known {
            self.known[value] = outside;
        }
        for (name, outside) in replaced.into_iter().rev() {
            self.replaced[name] = outside;
        }
    }

    /// Remembers a name that is a field of a value, or what its constructor decides. Integers may be sizes in types, which
    /// are the same in every arm.
    pub(super) fn read(&mut self, name: NVar, rhs: &Rhs) {
        let Rhs::Case(case) = rhs else { return };
        let Atom::Var(value) = case.scrutinee else { return };
        if self.func.nvars[name].ty == Type::I64 {
            return;
        }
        let of = case.arms.iter().filter_map(|arm| {
            let (ArmPattern::Con(con), [], [result]) =
                (arm.pattern, &arm.body.stmts[..], &arm.body.nl[..])
            else {
                return None;
            };
            let is_it =
                |f: &FieldPattern| matches!(f, FieldPattern::Bind(v) if *result == Atom::Var(*v));
            let field = arm.fields.iter().position(is_it);
            Some((con, field.map_or(Got::Atom(*result), Got::Field)))
        });
        let of: Vec<(ConRef, Got)> = of.collect();
        let known = self.reads.entry(value).or_default();
        if !of.is_empty() && known.len() < MOST_READS {
            known.push(Read { name, of });
        }
    }

    /// A branch that chooses an integer or a truth value becomes a selection, behind what its arms compute.
    pub(super) fn select(&mut self, stmt: &mut Stmt, out: &mut InPlace<Stmt>) {
        let Some(select) = self.selection(stmt) else { return };
        let Rhs::Case(case) = &mut stmt.rhs else { return };
        let mut args = [case.scrutinee; 3];
        for arm in std::mem::take(&mut case.arms) {
            for stmt in arm.body.stmts {
                self.stmt(stmt, out);
            }
            let place = if arm.pattern == ArmPattern::Bool(true) { 1 } else { 2 };
            if let [result] = arm.body.nl[..] {
                args[place] = self.atom(result);
            }
        }
        stmt.rhs = Rhs::Prim(select, args.to_vec());
    }

    /// The selection that a branch is, if its arms have one operation at most, which cannot fail.
    fn selection(&self, stmt: &Stmt) -> Option<Prim> {
        let (Rhs::Case(case), [chosen], []) = (&stmt.rhs, &stmt.nl[..], &stmt.lin[..]) else {
            return None;
        };
        let select = match self.func.nvars[*chosen].ty {
            Type::I64 => prim::ISELECT,
            Type::Bool => prim::BSELECT,
            _ => return None,
        };
        let is_plain = |stmt: &Stmt| {
            matches!(&stmt.rhs, Rhs::Prim(p, _) if p.row().cheap && stmt.rhs.is_total_prim())
                && !self.func.nvars[stmt.nl[0]].ty.is_float()
        };
        let fits = case.arms.len() == 2
            && stmt.loc.tape == TapePolicy::Free
            && case.arms.iter().all(|arm| {
                matches!(arm.pattern, ArmPattern::Bool(_))
                    && arm.body.stmts.len() <= 1
                    && arm.body.stmts.iter().all(is_plain)
            });
        fits.then_some(select)
    }

    /// The statements and results of the only arm that can be taken, its fields bound by copies.
    pub(super) fn known_arm(&mut self, case: Case) -> Result<(Vec<Stmt>, Vec<Atom>), Case> {
        let scrutinee = self.atom(case.scrutinee);
        let known = match scrutinee {
            Atom::Lit(Literal::Bool(b)) => Some((ArmPattern::Bool(b), Vec::new())),
            Atom::Var(v) => match self.known[v].as_deref() {
                Some(Rhs::Con(con, fields)) => Some((ArmPattern::Con(*con), fields.clone())),
                _ => None,
            },
            Atom::Lit(_) => None,
        };
        let Some((pattern, values)) = known else { return Err(case) };
        let Some(k) = case.arms.iter().position(|arm| arm.pattern == pattern) else {
            return Err(case);
        };
        let same_types =
            case.arms[k].fields.iter().zip(&values).all(|(field, value)| match field {
                FieldPattern::Bind(v) => self.same_type(*v, *value, &case.arms[k].fields, &values),
                FieldPattern::Eq(stated) => case.arms[k].proved || self.same_size(*stated, *value),
            });
        if !same_types {
            return Err(case);
        }
        let mut arms = case.arms;
        let arm = arms.swap_remove(k);
        for (field, value) in arm.fields.iter().zip(values) {
            if let FieldPattern::Bind(v) = field {
                self.replace(*v, value);
            }
        }
        Ok((arm.body.stmts, arm.body.nl))
    }
}
