//! Making one loop of a producer and its consumer.
//!
//! The body of the consumer, with the index of the producer for its own and an element of the iteration for every
//! element that was collected, follows that of the producer. The new loop stands where the consumer stood, in the
//! producer's regions; what the producer gave is handed out through the regions of the consumer.
//!
//! For example, of `ts = scan par (i < n) { .. t }` and `us = scan par (j < n) slice (v <- ts) { .. u }` it makes
//! `(ts, us) = scan par (i < n) { .. t; ..; (t, u) }`, where `v` is `t` and `j` is `i`.
//!
//! *Requires*: what [`super::find`] has found. *Ensures*: all names of the producer mean what they did, behind the new
//! loop. *Cost*: linear in the two loops.

use super::find::{self, Consumer};
use crate::copy::Copy;
use crate::rewrite::Rewriter;
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{Cap, NVar};
use jut_ir::ir::*;

/// A producer in pieces.
struct Producer {
    scan: Scan,
    /// The capabilities of its regions, innermost first.
    caps: Vec<Cap>,
    /// Names that stand for what it gives: the arrays that are collected, then the sums, innermost first. Outside
    /// they are all names of its statement; where that has none, they are new.
    gives: Vec<NVar>,
}

/// The list, whose first statement is a producer, with that in its consumer.
pub(super) fn join(builder: &mut FunctionBuilder, stmts: Vec<Stmt>, found: &Consumer) -> Vec<Stmt> {
    let (mut first, mut late, mut out) = (None, Vec::new(), Vec::new());
    for (at, stmt) in stmts.into_iter().enumerate() {
        if at == 0 {
            first = Some(stmt);
        } else if found.path.first() == Some(&at) {
            let arrays = first.as_ref().map(find::collected).unwrap_or_default();
            let stmt = match first.take().and_then(|stmt| taken_apart(builder, stmt)) {
                Some(producer) => {
                    let names = producer.gives.clone();
                    enter(builder, producer, &arrays, stmt, &found.path[1..], names)
                }
                None => stmt,
            };
            out.push(stmt);
            out.append(&mut late);
        } else if found.put_off.contains(&at) {
            late.push(stmt);
        } else {
            out.push(stmt);
        }
    }
    out
}

/// A statement with the producer in it, at the end of a path through regions; what that gives has these names
/// behind the statement.
fn enter(
    builder: &mut FunctionBuilder,
    producer: Producer,
    arrays: &[(NVar, usize)],
    mut stmt: Stmt,
    path: &[usize],
    names: Vec<NVar>,
) -> Stmt {
    let (Some((at, rest)), Rhs::Region(region)) = (path.split_first(), &mut stmt.rhs) else {
        return one_loop(builder, Producer { gives: names, ..producer }, arrays, stmt);
    };
    let inside = renamed(builder, &names);
    let inner = std::mem::replace(&mut region.body.stmts[*at], filler());
    region.body.stmts[*at] = enter(builder, producer, arrays, inner, rest, inside.clone());
    // The results of the body come before the sum.
    let place = region.body.nl.len();
    region.body.nl.extend(inside.into_iter().map(Atom::Var));
    stmt.nl.splice(place..place, names);
    stmt
}

fn filler() -> Stmt {
    let rhs = Rhs::Atom(Atom::Lit(Literal::Bool(false)));
    Stmt { nl: Vec::new(), lin: Vec::new(), rhs, annotated: false, loc: Default::default() }
}

/// New names like some others.
fn renamed(builder: &mut FunctionBuilder, names: &[NVar]) -> Vec<NVar> {
    names.iter().map(|v| like(builder, *v)).collect()
}

fn like(builder: &mut FunctionBuilder, var: NVar) -> NVar {
    let data = builder.func.nvars[var].clone();
    builder.nvar(&data.name, data.ty, data.span)
}

/// The parts of a producer.
fn taken_apart(builder: &mut FunctionBuilder, stmt: Stmt) -> Option<Producer> {
    match stmt.rhs {
        Rhs::Scan(scan) => Some(Producer { scan: *scan, caps: Vec::new(), gives: stmt.nl }),
        Rhs::Region(region) => {
            let Region { cap, body, .. } = *region;
            let inner = taken_apart(builder, body.stmts.into_iter().next()?)?;
            let mut gives = Vec::with_capacity(inner.gives.len() + 1);
            for name in &inner.gives {
                let position = body.nl.iter().position(|a| *a == Atom::Var(*name));
                let outside = position.and_then(|k| stmt.nl.get(k)).copied();
                gives.push(outside.unwrap_or_else(|| like(builder, *name)));
            }
            gives.push(*stmt.nl.last()?);
            let mut caps = inner.caps;
            caps.push(cap);
            Some(Producer { scan: inner.scan, caps, gives })
        }
        _ => None,
    }
}

/// The new loop in the producer's regions. It binds what the producer gives, and what the consumer does.
fn one_loop(
    builder: &mut FunctionBuilder,
    producer: Producer,
    arrays: &[(NVar, usize)],
    consumer: Stmt,
) -> Stmt {
    let Stmt { nl: made, lin, rhs, annotated, loc } = consumer;
    let Rhs::Scan(second) = rhs else { return Stmt { nl: made, lin, rhs, annotated, loc } };
    let Producer { mut scan, caps, gives } = producer;
    let elements = scan.body.nl.clone();
    let element = |array: NVar| {
        let (_, number) = arrays.iter().find(|(name, _)| *name == array)?;
        elements.get(*number).copied()
    };
    let mut body = second.body;
    read_elements(&mut body, second.index, &element);
    let mut copy = Copy::new(None, builder);
    copy.name_is(second.index, Atom::Var(scan.index));
    let mut slices = Vec::new();
    for (name, array) in second.slices {
        match element(array) {
            Some(atom) => copy.name_is(name, atom),
            None => slices.push((name, array)),
        }
    }
    let body = copy.block(body);
    scan.slices.extend(slices);
    scan.body.stmts.extend(body.stmts);
    scan.body.nl.extend(body.nl);
    // What the loop collects, then the sums of the regions, as each of them is left.
    let (stacks, sums) = gives.split_at(elements.len());
    let nl = stacks.iter().chain(&made).copied().collect();
    let mut stmt = Stmt { nl, lin, rhs: Rhs::Scan(Box::new(scan)), annotated, loc };
    for (cap, sum) in caps.into_iter().zip(sums) {
        // Inside of a region its names are others.
        let inside = renamed(builder, &stmt.nl);
        let outside = std::mem::replace(&mut stmt.nl, inside);
        let nl = stmt.nl.iter().map(|v| Atom::Var(*v)).collect();
        let body = Block { stmts: vec![stmt], nl, lin: Vec::new() };
        let nl = outside.into_iter().chain([*sum]).collect();
        let rhs = Region::sum(Mode::Acc, cap, body);
        stmt = Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc };
    }
    stmt
}

/// Reads of collected arrays at the loop's own index become the elements.
fn read_elements(block: &mut Block, index: NVar, element: &dyn Fn(NVar) -> Option<Atom>) {
    for stmt in &mut block.stmts {
        if find::own_element(stmt, index, &|v| element(v).is_some())
            && let Rhs::Index(array, path) = &mut stmt.rhs
            && let Some(atom) = element(*array)
        {
            let rest = path.split_off(1);
            stmt.rhs = match (atom, rest.is_empty()) {
                (Atom::Var(row), false) => Rhs::Index(row, rest),
                _ => Rhs::Atom(atom),
            };
        }
        for inner in stmt.rhs.blocks_mut() {
            read_elements(inner, index, element);
        }
    }
}
