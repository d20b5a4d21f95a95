//! Records of what the tape holds: made by E, opened by the residual.
//!
//! *Requires*: a field's type mentions sizes that are fields before it. *Ensures*: what is opened has the names
//! of its pattern, and the casts behind it join names that mean one size. *Cost*: linear in the number of fields.

use jut_ir::{Atom, ConRef, Constructor, Field, FieldPattern, Loc, NVar, Origin, Rhs, Stmt};

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
    /// Which constructor it is of, and what E calls it when it has made it, and the residual before it
    /// opens it.
    pub held: Option<(ConRef, NVar)>,
    pub fields: Vec<Field>,
    /// What E puts in.
    pub values: Vec<NVar>,
    /// How many of the values are there because types of others mention them.
    pub sizes: usize,
    /// How the residual opens it.
    pub pattern: Vec<FieldPattern>,
    /// Casts, each with the number of statements computed again from the tape that come before it.
    pub casts: Vec<(usize, Stmt)>,
}

impl Record {
    /// Its declaration.
    pub fn constructor(&self, name: String) -> Constructor {
        Constructor { name, fields: self.fields.clone() }
    }

    /// `var = K(v, ..)`.
    pub fn make(&self, (con, var): (ConRef, NVar), loc: Loc) -> Stmt {
        let values = self.values.iter().map(|v| Atom::Var(*v)).collect();
        value_stmt(var, Rhs::Con(con, values), loc)
    }

    /// `K(p, ..) = var`.
    pub fn open(&self, (con, value): (ConRef, NVar), loc: Loc) -> Stmt {
        let (mut eqs, mut nl) = (Vec::new(), Vec::new());
        for field in &self.pattern {
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
}

/// `var = rhs`.
pub(super) fn value_stmt(var: NVar, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: vec![var], lin: Vec::new(), rhs, annotated: false, loc: loc.by(Origin::Unzip) }
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
