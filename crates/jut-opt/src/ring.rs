//! The neighbours of an index on a ring are selected, not divided for.
//!
//! ```text
//! scan par (i < n) {                       scan par (i < n) {
//!   t = i + n                                first = i == 0
//!   t_1 = t - 1                              last = n - 1
//!   l = t_1 % n                              before = i - 1
//!   t_2 = i + 1                              l = select(first, last, before)
//!   r = t_2 % n                              t_2 = i + 1
//!   ..                                       at_last = i == last
//! }                                          r = select(at_last, 0, t_2)
//!                                            ..
//!                                          }
//! ```
//!
//! A division of integers is slow, no vector has one, and it can fail, so what U does with it is to store it: two integers
//! of the tape for each cell of a grid. Selections are computed again, and where a loop keeps away from its ends, they are no work at all.
//!
//! *Rule*: in a loop of an index i from 0 to n, a remainder by n, of which the dividend is by its normal form `i`, `i + 1` or `i + n - 1`. There is an
//! iteration, so n is at least one and the division cannot fail; neighbours further away would be others where n is less than their distance.
//! Loops that run down stay: `i + n - 1` wraps in the first iteration where n is beyond half of all integers, which no loop that runs up gets to.
//! *Requires*: a purely non-linear function. *Ensures*: same results, same errors, no more work on floats. *Cost*: linear in the text.

use jut_ir::build::FunctionBuilder;
use jut_ir::entity::NVar;
use jut_ir::ir::*;
use jut_ir::prim::{self, Prim};
use jut_ir::size::Size;
use jut_ir::sizes::prim_var;
use jut_ir::span::Loc;

/// Selects the neighbours in a whole function.
pub fn select_neighbours(func: &mut Function) {
    // Fresh names cost a look at all names.
    if !has_remainder(&func.body) {
        return;
    }
    let body = std::mem::take(&mut func.body);
    let builder = FunctionBuilder::from_function(std::mem::take(func));
    let mut pass = Ring { builder, loops: Vec::new() };
    let body = pass.block(body);
    *func = pass.builder.func;
    func.body = body;
}

fn has_remainder(block: &Block) -> bool {
    let here = |s: &Stmt| {
        matches!(s.rhs, Rhs::Prim(prim::IREM, _)) || s.rhs.blocks().into_iter().any(has_remainder)
    };
    block.stmts.iter().any(here)
}

struct Ring {
    builder: FunctionBuilder,
    /// Index and bound of the loops round the statement that run up.
    loops: Vec<(NVar, Atom)>,
}

impl Ring {
    fn block(&mut self, mut block: Block) -> Block {
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt, &mut block.stmts);
        }
        block
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        if let (Rhs::Prim(prim::IREM, args), [_]) = (&stmt.rhs, &stmt.nl[..])
            && let [dividend, divisor] = args[..]
            && let Some(rhs) = self.neighbour(dividend, divisor, stmt.loc, out)
        {
            out.push(Stmt { rhs, ..stmt });
            return;
        }
        let depth = self.loops.len();
        if let Rhs::Scan(scan) = &stmt.rhs
            && matches!(scan.dir, Dir::Par | Dir::Up)
        {
            self.loops.push((scan.index, scan.bound));
        }
        for nested in stmt.rhs.blocks_mut() {
            *nested = self.block(std::mem::take(nested));
        }
        self.loops.truncate(depth);
        out.push(stmt);
    }

    /// What a remainder is without a division; statements that this takes are written.
    fn neighbour(
        &mut self,
        dividend: Atom,
        divisor: Atom,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Option<Rhs> {
        let [of, by] = [dividend, divisor].map(|a| self.builder.func.size_of(a));
        let one = || Size::constant(1);
        let bounded = |(_, bound): &&(NVar, Atom)| self.builder.func.size_of(*bound) == by;
        let mut indices = self.loops.iter().filter(bounded).map(|(index, _)| *index);
        let (index, is) = indices.find_map(|index| {
            let index_is = Size::var(index);
            let is = [index_is.clone(), index_is.clone() + one(), index_is + by.clone() - one()];
            Some((Atom::Var(index), is.iter().position(|is| *is == of)?))
        })?;
        let [zero, one] = [0, 1].map(|k| Atom::Lit(Literal::I64(k)));
        let mut write = |hint, prim: Prim, args: [Atom; 2]| {
            let v = prim_var(&mut self.builder, hint, prim, &args, loc.span);
            let rhs = Rhs::Prim(prim, args.to_vec());
            out.push(Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc });
            Atom::Var(v)
        };
        let selected = match is {
            0 => return Some(Rhs::Atom(index)),
            1 => {
                let last = write("last", prim::ISUB, [divisor, one]);
                let at_last = write("q", prim::IEQ, [index, last]);
                [at_last, zero, dividend]
            }
            _ => {
                let first = write("q", prim::IEQ, [index, zero]);
                let last = write("last", prim::ISUB, [divisor, one]);
                let before = write("before", prim::ISUB, [index, one]);
                [first, last, before]
            }
        };
        Some(Rhs::Prim(prim::ISELECT, selected.to_vec()))
    }
}
