//! What a region computes behind its loops, and adds nothing with, moves behind the region.
//!
//! In a gradient a sum that the value needed stands between the two loops, and what depends on it is read at the end of
//! the regions round the second one. Such an end keeps the loops apart; behind the regions it does not:
//!
//! ```text
//! e = exp(s)                         e = exp(s)
//! (b, d) = acc da: f64 {             (c, d) = acc da: f64 {
//!   c = acc dc: f64 { .. }             c_1 = acc dc: f64 { .. }
//!   b = c * e                          c_1
//!   b                                }
//! }                                  b = c * e
//! ```
//!
//! *Requires*: a purely non-linear function; every name is bound once. *Ensures*: the same values; only primitives on
//! numbers that cannot fail move. *Cost*: linear in the statements of the regions, times how deep they stand in one another.

use jut_ir::build::FunctionBuilder;
use jut_ir::entity::NVar;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::ir::*;
use jut_ir::map::Mapper;
use jut_ir::visit::Use;

/// Moves the ends of a region, and of those directly in it, behind it: gives what then stands behind the statement.
pub(super) fn sink(builder: &mut FunctionBuilder, stmt: &mut Stmt) -> Vec<Stmt> {
    let Rhs::Region(region) = &mut stmt.rhs else { return Vec::new() };
    let mut stmts = Vec::with_capacity(region.body.stmts.len());
    for mut inner in std::mem::take(&mut region.body.stmts) {
        let behind = sink(builder, &mut inner);
        stmts.push(inner);
        stmts.extend(behind);
    }
    let (stay, mut moved) = split(&builder.func, stmts);
    region.body.stmts = stay;
    let made: HashSet<NVar> = moved.iter().flat_map(|stmt| &stmt.nl).copied().collect();
    if made.is_empty() {
        return moved;
    }
    // What the body still makes, and its names outside.
    let mut outside: HashMap<NVar, NVar> = HashMap::default();
    let mut copies = Vec::new();
    for k in (0..region.body.nl.len()).rev() {
        let Atom::Var(result) = region.body.nl[k] else { continue };
        if made.contains(&result) {
            region.body.nl.remove(k);
            copies.push((stmt.nl.remove(k), result));
        } else {
            outside.insert(result, stmt.nl[k]);
        }
    }
    let own: HashSet<NVar> = region.body.stmts.iter().flat_map(|s| &s.nl).copied().collect();
    for late in &mut moved {
        late.rhs.for_each_own_use(&mut |u| {
            if let Use::N(v) = u
                && own.contains(&v)
                && !outside.contains_key(&v)
            {
                let place = region.body.nl.len();
                region.body.nl.push(Atom::Var(v));
                let data = builder.func.nvars[v].clone();
                let name = builder.nvar(&data.name, data.ty, data.span);
                builder.func.nvars[name].def = data.def;
                stmt.nl.insert(place, name);
                outside.insert(v, name);
            }
        });
        late.rhs.map_own_uses(&mut Outside(&outside));
    }
    for (name, result) in copies {
        moved.push(Stmt {
            nl: vec![name],
            lin: Vec::new(),
            rhs: Rhs::Atom(Atom::Var(result)),
            annotated: false,
            loc: stmt.loc,
        });
    }
    moved
}

/// The statements of a body that stay, and those that can go behind it: from the end on, what nothing that stays reads.
fn split(func: &Function, stmts: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut read: HashSet<NVar> = HashSet::default();
    let (mut stay, mut moved) = (Vec::new(), Vec::new());
    for stmt in stmts.into_iter().rev() {
        let plain = match &stmt.rhs {
            Rhs::Prim(prim, _) => !prim.can_fail(),
            rhs => matches!(rhs, Rhs::Atom(_)),
        };
        let number = |v: &NVar| func.nvars[*v].ty.is_float() && !read.contains(v);
        if plain && stmt.nl.iter().all(number) {
            moved.push(stmt);
            continue;
        }
        stmt.for_each_use(func, &mut |u| {
            if let Use::N(v) = u {
                read.insert(v);
            }
        });
        stay.push(stmt);
    }
    stay.reverse();
    moved.reverse();
    (stay, moved)
}

/// The names outside of a region.
struct Outside<'a>(&'a HashMap<NVar, NVar>);

impl Mapper for Outside<'_> {
    fn nvar(&mut self, var: &mut NVar) {
        if let Some(name) = self.0.get(var) {
            *var = *name;
        }
    }
}
