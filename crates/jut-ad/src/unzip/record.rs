//! Records on the tape: fields, what goes in, and how the residual opens them.
//!
//! Data types are closed: every size in the type of a field is a field before it. When the record
//! is opened, a size that the residual knows is stated to be equal (`=n`), a size that it computes
//! only afterwards is bound under another name and casts join the two, any other is bound.

use super::plan::{Fate, How, Plan, size_names};
use super::{Unzipper, value_stmt};
use jut_ir::entity::EntityRef;
use jut_ir::*;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Whether a record is opened by a statement that follows what is computed again, or by the
/// pattern of an arm, before anything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Opening {
    AfterHead,
    InPattern,
}

/// A record for stored values.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The declaration.
    pub fields: Vec<Field>,
    /// What E puts in.
    pub values: Vec<Atom>,
    /// How the residual opens it.
    pub pattern: Vec<FieldPattern>,
    /// Casts, each with the number of `after` statements that come before it.
    pub casts: Vec<(usize, Stmt)>,
}

/// `K(p, ..) = value`.
pub(super) fn open_stmt(con: ConRef, value: NVar, pattern: &[FieldPattern], loc: Loc) -> Stmt {
    let (mut eqs, mut nl) = (Vec::new(), Vec::new());
    for field in pattern {
        match field {
            FieldPattern::Eq(a) => eqs.push(Some(*a)),
            FieldPattern::Bind(v) => {
                nl.push(*v);
                eqs.push(None);
            }
        }
    }
    let rhs = Rhs::Open { con, value, eqs, proved: true };
    Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc: loc.by(Origin::Unzip) }
}

/// Puts casts between statements, each as soon as its sizes are there.
pub(super) fn merge(stmts: Vec<Stmt>, casts: Vec<(usize, Stmt)>) -> Vec<Stmt> {
    let mut casts = casts;
    casts.sort_by_key(|(position, _)| *position);
    let mut casts = casts.into_iter().peekable();
    let mut out = Vec::with_capacity(stmts.len() + casts.len());
    for (k, stmt) in stmts.into_iter().enumerate() {
        while let Some((_, cast)) = casts.next_if(|(position, _)| *position <= k) {
            out.push(cast);
        }
        out.push(stmt);
    }
    out.extend(casts.map(|(_, cast)| cast));
    out
}

impl Unzipper<'_> {
    /// A record for some of the stored values of the innermost level.
    pub(super) fn record(
        &mut self,
        plan: &Plan,
        stored: &[NVar],
        head: u32,
        opens: Opening,
    ) -> Record {
        let level = self.depth();
        let mut order = Vec::new();
        let mut positions: HashMap<NVar, usize> = HashMap::new();
        for w in stored {
            for name in size_names(&self.type_of(*w)) {
                if let Entry::Vacant(entry) = positions.entry(name) {
                    entry.insert(order.len());
                    order.push(name);
                }
            }
        }
        let sizes = order.len();
        order.extend(stored.iter().copied().filter(|w| !positions.contains_key(w)));

        let mut record = Record::default();
        let mut names = HashSet::new();
        // Sizes that the residual binds under another name, with their definition's position.
        let mut renamed: HashMap<NVar, (NVar, usize)> = HashMap::new();
        for (k, v) in order.into_iter().enumerate() {
            let VarData { name, span, .. } = self.func.nvars[v].clone();
            let ty = self.type_of(v);
            let mut field = name.clone();
            let mut number = 0;
            while !names.insert(field.clone()) {
                number += 1;
                field = format!("{name}_{number}").into();
            }
            let field_ty = ty.subst(&mut |n| positions.get(&n).map(|k| Size::var(NVar::new(*k))));
            record.fields.push(Field { name: field, ty: field_ty });
            record.values.push(Atom::Var(v));
            let site = self.sites[v];
            let known = site.level != level
                || matches!(site.how, How::Index | How::Slice | How::Result)
                || (self.fates[v] == Fate::Before && opens == Opening::AfterHead);
            let pattern = if k < sizes && known {
                if site.level != level {
                    self.need(v, head);
                }
                FieldPattern::Eq(Atom::Var(v))
            } else if k < sizes && matches!(self.fates[v], Fate::Before | Fate::After) {
                let other = self.fresh(&name, Type::I64, span);
                let position = plan.after_positions.get(&v).copied().unwrap_or(0);
                renamed.insert(v, (other, position));
                FieldPattern::Bind(other)
            } else {
                let mut position = None;
                let other = ty.subst(&mut |n| {
                    let (other, at) = renamed.get(&n)?;
                    position = position.max(Some(*at));
                    Some(Size::var(*other))
                });
                match position {
                    None => FieldPattern::Bind(v),
                    Some(position) => {
                        let value = self.fresh(&name, other, span);
                        let loc = Loc { span, origin: Origin::Unzip };
                        let cast = Rhs::Cast { value, ty, proved: true };
                        record.casts.push((position, value_stmt(v, cast, loc)));
                        FieldPattern::Bind(value)
                    }
                }
            };
            record.pattern.push(pattern);
        }
        record
    }
}
