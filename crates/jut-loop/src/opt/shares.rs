//! Loops whose iterations may run on several threads: each becomes a function of a range, that is called for shares of it.
//!
//! The loops that are looked at stand in no other loop, in functions that no loop calls, and do enough in an iteration: there
//! is a loop in it, or a kernel, or a call. Their iterations must not meet (see below). What they add up, in lanes or in order,
//! becomes an array of what is to be added, and a loop behind it adds: in the order in which it was added before, so not a
//! bit of any result changes, whatever the shares are.
//!
//! ```text
//! for par (i in 0 .. n) {                          loop def f.share0(x: in f64[], y: out f64[], from: i64, to: i64) = {
//!   ..                                               for par (i in from .. to) {
//!   y[i] = a                                           ..
//! }                                                    y[i] = a
//!                                                    }
//!                                                  }
//!                                                  call f.share0(x, y, 0, n) shares 16
//! ```
//!
//! What a loop adds up is taken apart in rounds of many iterations, so that it takes no memory for each ([`sums`]).
//!
//! **When iterations do not meet.** Each buffer of outside that the loop writes to is
//! - one of which every iteration touches [its own row](OwnRows) only, or
//! - one of which the loop only adds to certain cells, once in each iteration; these are sums in order, too.
//!
//! and no other buffer that the loop touches may be the same memory. Memory of its own an iteration takes from the arena of the
//! thread that it runs on; what it takes there it gives back. A loop that leaves anything on the tape's arena, prints, or
//! calls a function that calls itself, stays as it is.
//!
//! **Errors.** A loop that can fail and in which another loop may run for ever stays as it is. That of the earliest share is the error of the call, and in a share iterations run in their order: so it is the
//! error of the loop.
//!
//! *Requires*: a well-formed program, on its way to a backend that can run shares ([`crate::target`]). *Ensures*: the same
//! results and errors, bit for bit. *Cost*: linear; at run time a number stored and loaded for each term, and the memory of a round.

mod body;
mod find;
mod sums;

use crate::analysis::{OwnRows, Roots};
use crate::form::{Atom, Block, LoopFuncId, LoopFunction, LoopProgram, Site, Stmt, Value};
use crate::insert::{self, Moving};
use crate::split::memory_site;
use crate::values::Values;
use cranelift_entity::{EntityRef, SecondaryMap};
use find::{Callee, Callees, Found};
use sums::Rounds;

/// Iterations of a loop that is never cut, as backends for this process say: a look at the clock costs as much.
pub const LEAST: u32 = 16;

/// Integers at the end of what a function in shares takes: the range.
pub const RANGE: usize = 2;

/// Runs the pass; ranges that are shorter than `least` are never cut.
pub(super) fn run(program: &mut LoopProgram, least: u32) {
    let outside = outside_of_loops(program);
    if !program.funcs.iter().any(|(id, func)| outside[id] && func.body.any(&mut Stmt::is_loop)) {
        return;
    }
    let site = memory_site(program);
    // By the new places.
    let mut known = Callees::new();
    insert::before(program, &mut |Moving { id, base, is_recursive, func }| {
        let callee = Callee::of(func, is_recursive, &known);
        let mut made = Vec::new();
        if !is_recursive && outside[id] && func.body.any(&mut Stmt::is_loop) {
            let (roots, rows) = (Roots::of(func), OwnRows::of(func));
            let LoopFunction { name, values, body, .. } = func;
            let values = Values::new(values);
            let known = &known;
            let mut shares = Shares { name, values, roots, rows, known, base, made, site, least };
            shares.block(body);
            made = shares.made;
        }
        known[LoopFuncId::new(base + made.len())] = callee;
        made
    });
}

/// The functions that some call hands over with a range.
pub fn shared(program: &LoopProgram) -> SecondaryMap<LoopFuncId, bool> {
    let mut shared = SecondaryMap::new();
    for function in program.funcs.values() {
        function.body.for_each(&mut |stmt| {
            if let Stmt::Call { func, shares: Some(_), .. } = stmt {
                shared[*func] = true;
            }
        });
    }
    shared
}

/// Functions of which no call stands in a loop, nor is made by one that a loop calls.
fn outside_of_loops(program: &LoopProgram) -> SecondaryMap<LoopFuncId, bool> {
    let mut outside = SecondaryMap::with_default(true);
    for (id, func) in program.funcs.iter().rev() {
        calls(&func.body, !outside[id], &mut |callee, in_loop| {
            if in_loop {
                outside[callee] = false;
            }
        });
    }
    outside
}

fn calls(block: &Block, in_loop: bool, visit: &mut impl FnMut(LoopFuncId, bool)) {
    for stmt in &block.stmts {
        if let Stmt::Call { func, .. } = stmt {
            visit(*func, in_loop);
        }
        let in_loop = in_loop || stmt.is_loop();
        stmt.blocks().into_iter().for_each(|inner| calls(inner, in_loop, visit));
    }
}

/// A function whose loops become functions.
struct Shares<'a> {
    name: &'a str,
    values: Values<'a>,
    roots: Roots,
    rows: OwnRows,
    /// What is known of the functions that stand before.
    known: &'a Callees,
    /// The number of the first one that is made.
    base: usize,
    made: Vec<LoopFunction>,
    /// Where an error says that memory has run out.
    site: Site,
    least: u32,
}

impl Shares<'_> {
    /// The loops of a block that no loop is round.
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if stmt.is_loop() {
                match self.found(&stmt) {
                    Some(found) => self.share(&stmt, &found, &mut out),
                    None => out.push(stmt),
                }
                continue;
            }
            stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            out.push(stmt);
        }
        block.stmts = out;
    }

    /// Writes the call that a loop becomes, with the sums behind it, and the function.
    fn share(&mut self, stmt: &Stmt, found: &Found, out: &mut Vec<Stmt>) {
        let Some(counted) = stmt.counted() else { return };
        let name = format!("{}.share{}", self.name, self.made.len());
        let (function, given) = body::function(self, name, stmt, found);
        let callee = LoopFuncId::new(self.base + self.made.len());
        self.made.push(function);
        let mut given: Vec<Atom> = given.into_iter().map(Atom::Value).collect();
        if found.sums.is_empty() && found.cells.is_empty() {
            given.extend([counted.low, counted.high]);
            let shares = Some(self.least);
            return out.push(Stmt::Call { dst: Vec::new(), func: callee, args: given, shares });
        }
        let (values, site, least) = (&mut self.values, self.site, self.least);
        Rounds { values, callee, given, least, site, found }.write(stmt, out);
    }
}

/// What a loop carries.
fn carries(stmt: &Stmt) -> Vec<Value> {
    match stmt {
        Stmt::For(f) => f.carry.iter().map(|(carry, _)| *carry).collect(),
        Stmt::Lanes(l) => l.carry.clone(),
        _ => Vec::new(),
    }
}
