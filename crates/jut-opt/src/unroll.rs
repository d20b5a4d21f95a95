//! Loops with a small literal trip count become straight-line code.
//!
//! Three coordinates, two components: such loops cost more in control than in arithmetic. A loop
//! is unrolled when its bound is a literal of at most [`MAX_TRIPS`] and the result is small. The
//! stacked results of an unrolled loop become array literals, its carries plain names.
//!
//! The order of additions is kept. A sum by lanes over at most [`LANES`] elements is one element
//! per lane, and adding lanes k and k + 4, k and k + 2, k and k + 1 in turn skips the lanes that
//! hold 0.0, which no addition can see, except that the sum of nothing but -0.0 is 0.0:
//!
//! ```text
//! s = acc lanes r: f64 { scan par (k < 3) { v = ..; r += v } }
//! // becomes
//! v = ..; v_1 = ..; v_2 = ..; p = v + v_2; p_1 = p + v_1; s = 0.0 + p_1
//! ```
//!
//! Requires: a purely non-linear function. Ensures: same results, same errors, no more work, if the
//! elements that a slice gives an iteration are counted as the accesses that they become.

use crate::copy::Copy;
use crate::rewrite::Rewriter;
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{Cap, NVar};
use jut_ir::ir::*;
use jut_ir::prim;
use jut_ir::span::Loc;
use jut_ir::tape::TapePolicy;
use jut_ir::types::Type;
use jut_ir::visit::Use;

/// Largest trip count that is unrolled; not more than the number of lanes of a sum.
const MAX_TRIPS: i64 = 4;
/// Lanes of a sum.
const LANES: usize = 8;
/// Largest number of operations that an unrolled loop may have: a product of two matrices of four rows has 128.
const MAX_OPERATIONS: usize = 160;

/// Unrolls in a whole function; false if it has no loop.
pub fn unroll(func: &mut Function) -> bool {
    // Fresh names cost a look at all names.
    if !has_loop(&func.body) {
        return false;
    }
    let body = std::mem::take(&mut func.body);
    let mut pass = Unroll { builder: FunctionBuilder::from_function(std::mem::take(func)) };
    let body = pass.block(body, &mut Vec::new());
    *func = pass.builder.func;
    func.body = body;
    true
}

/// Whether there is a loop in a block, or in one inside it.
pub(crate) fn has_loop(block: &Block) -> bool {
    let here = |s: &Stmt| matches!(s.rhs, Rhs::Scan(_)) || s.rhs.blocks().into_iter().any(has_loop);
    block.stmts.iter().any(here)
}

struct Unroll {
    builder: FunctionBuilder,
}

impl Unroll {
    /// `lanes` are the sums by lanes whose region stands directly round the block.
    fn block(&mut self, block: Block, lanes: &mut Vec<Cap>) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in block.stmts {
            self.stmt(stmt, lanes, &mut stmts);
        }
        Block { stmts, nl: block.nl, lin: block.lin }
    }

    fn stmt(&mut self, mut stmt: Stmt, lanes: &mut Vec<Cap>, out: &mut Vec<Stmt>) {
        match &mut stmt.rhs {
            Rhs::Region(region) => {
                let cap = region.cap;
                // Integers may be added in any order: their additions stay where they are.
                let data = &self.builder.func.caps[cap];
                let by_lanes = data.lanes && data.ty.is_float();
                lanes.extend(by_lanes.then_some(cap));
                region.body = self.block(std::mem::take(&mut region.body), lanes);
                if by_lanes {
                    lanes.pop();
                    if let Some(scan) = sum_of_few(cap, &region.body) {
                        return self.sum(stmt, scan, lanes, out);
                    }
                }
            }
            Rhs::Scan(scan) => {
                scan.body = self.block(std::mem::take(&mut scan.body), &mut Vec::new());
                let summed = lanes.iter().any(|cap| additions(&scan.body, *cap) > 0);
                let free = stmt.loc.tape == TapePolicy::Free;
                if free && !summed && self.is_small(scan) {
                    let results = self.iterations(scan, &[], stmt.loc, out).0;
                    self.copies(&stmt.nl, &results, stmt.loc, out);
                    return;
                }
            }
            rhs => {
                for nested in rhs.blocks_mut() {
                    *nested = self.block(std::mem::take(nested), &mut Vec::new());
                }
            }
        }
        out.push(stmt);
    }

    /// Whether a loop may be unrolled: few iterations, little code, stacked results all scalars, or rows of few elements that
    /// its body has in variables.
    fn is_small(&self, scan: &Scan) -> bool {
        let trips = match scan.bound {
            Atom::Lit(Literal::I64(n)) if (1..=MAX_TRIPS).contains(&n) => n as usize,
            _ => return false,
        };
        let few =
            |a: &Atom| self.builder.func.type_of(*a).is_scalar() || is_literal(&scan.body, *a);
        scan.dir != Dir::While
            && operations(&scan.body) * trips <= MAX_OPERATIONS
            && scan.cap_slices.is_empty()
            && scan.body.nl[scan.carry.len()..].iter().all(few)
    }

    /// Emits the iterations of a loop. Returns its results, and for each of `sums`, whose additions
    /// are left out, what every iteration in order of the index adds.
    fn iterations(
        &mut self,
        scan: &Scan,
        sums: &[Cap],
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> (Vec<Atom>, Vec<Vec<Atom>>) {
        let trips = match scan.bound {
            Atom::Lit(Literal::I64(n)) => n.max(0),
            _ => 0,
        };
        let mut carried: Vec<Atom> = scan.carry.iter().map(|(_, init)| *init).collect();
        let mut rows = vec![Vec::new(); trips as usize];
        let mut added = vec![Vec::new(); sums.len()];
        let order: Vec<i64> = match scan.dir {
            Dir::Down => (0..trips).rev().collect(),
            Dir::Up | Dir::Par | Dir::While => (0..trips).collect(),
        };
        for k in order {
            let index = Atom::Lit(Literal::I64(k));
            let mut elements = Vec::new();
            for (var, array) in &scan.slices {
                let data = self.builder.func.nvars[*var].clone();
                let element = self.builder.nvar(&data.name, data.ty, data.span);
                let rhs = Rhs::Index(*array, vec![Step::Index { index, proved: true }]);
                out.push(leaf(element, rhs, loc));
                elements.push((*var, Atom::Var(element)));
            }
            let mut copy = Copy::new(None, &mut self.builder);
            copy.name_is(scan.index, index);
            for (var, atom) in elements {
                copy.name_is(var, atom);
            }
            for ((var, _), atom) in scan.carry.iter().zip(&carried) {
                copy.name_is(*var, *atom);
            }
            let block = copy.block(scan.body.clone());
            for stmt in block.stmts {
                let sum = match &stmt.rhs {
                    Rhs::Inc(place, Operand::N(a)) => {
                        sums.iter().position(|cap| *cap == place.root).map(|k| (k, *a))
                    }
                    _ => None,
                };
                match sum {
                    Some((k, a)) => added[k].push(a),
                    None => out.push(stmt),
                }
            }
            carried = block.nl[..scan.carry.len()].to_vec();
            rows[k as usize] = block.nl[scan.carry.len()..].to_vec();
        }
        let stacked = scan.body.nl.len() - scan.carry.len();
        let mut results = carried;
        for k in 0..stacked {
            let items: Vec<Atom> = rows.iter().map(|row| row[k]).collect();
            let element = self.builder.func.type_of(items[0]);
            let ty = Type::array(self.builder.func.size_of(scan.bound), element);
            let array = self.builder.nvar("t", ty, loc.span);
            out.push(leaf(array, Rhs::ArrayLit(items), loc));
            results.push(Atom::Var(array));
        }
        (results, added)
    }

    /// A region with a sum by lanes round one loop of few iterations. `outer` are the regions
    /// directly round this one: what the loop adds into them is added by lanes, too.
    fn sum(&mut self, stmt: Stmt, at: usize, outer: &[Cap], out: &mut Vec<Stmt>) {
        let Stmt { nl, loc, rhs: Rhs::Region(region), lin, annotated } = stmt else { return };
        let Region { cap, body, .. } = *region;
        let mut sums = vec![cap];
        let small = match &body.stmts[at].rhs {
            Rhs::Scan(scan) => {
                sums.extend(outer.iter().filter(|cap| additions(&scan.body, **cap) > 0));
                let once = |cap: &Cap| additions(&scan.body, *cap) == 1 && adds(&scan.body, *cap);
                self.is_small(scan) && sums.iter().all(once)
            }
            _ => false,
        };
        if !small {
            out.push(Stmt { nl, lin, rhs: Region::sum(Mode::Acc, cap, body), annotated, loc });
            return;
        }
        let mut total = Atom::Lit(Literal::F64(0.0));
        for (k, inner) in body.stmts.into_iter().enumerate() {
            match &inner.rhs {
                Rhs::Scan(scan) if k == at => {
                    let (results, added) = self.iterations(scan, &sums, inner.loc, out);
                    for (sum, terms) in sums.iter().zip(added) {
                        let Some(term) = self.tree(terms, loc, out) else { continue };
                        if *sum == cap {
                            total = self.add(total, term, loc, out);
                        } else {
                            let rhs = Rhs::Inc(Place::root(*sum), Operand::N(term));
                            out.push(Stmt {
                                nl: Vec::new(),
                                lin: Vec::new(),
                                rhs,
                                annotated: false,
                                loc,
                            });
                        }
                    }
                    self.copies(&inner.nl, &results, inner.loc, out);
                }
                _ => out.push(inner),
            }
        }
        let results: Vec<Atom> = body.nl.iter().copied().chain([total]).collect();
        self.copies(&nl, &results, loc, out);
    }

    /// Adds the terms of one sum, each of which has a lane of its own.
    fn tree(&mut self, terms: Vec<Atom>, loc: Loc, out: &mut Vec<Stmt>) -> Option<Atom> {
        let mut lanes: Vec<Option<Atom>> = terms.into_iter().map(Some).collect();
        lanes.resize(LANES, None);
        while lanes.len() > 1 {
            let half = lanes.split_off(lanes.len() / 2);
            for (low, high) in lanes.iter_mut().zip(half) {
                *low = match (*low, high) {
                    (Some(a), Some(b)) => Some(self.add(a, b, loc, out)),
                    (a, b) => a.or(b),
                };
            }
        }
        lanes.pop().flatten()
    }

    fn add(&mut self, a: Atom, b: Atom, loc: Loc, out: &mut Vec<Stmt>) -> Atom {
        let sum = self.builder.nvar("p", Type::F64, loc.span);
        out.push(leaf(sum, Rhs::Prim(prim::ADD, vec![a, b]), loc));
        Atom::Var(sum)
    }

    fn copies(&mut self, names: &[NVar], atoms: &[Atom], loc: Loc, out: &mut Vec<Stmt>) {
        for (name, atom) in names.iter().zip(atoms) {
            out.push(leaf(*name, Rhs::Atom(*atom), loc));
        }
    }
}

/// A statement that binds one name.
pub(crate) fn leaf(name: NVar, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: vec![name], lin: Vec::new(), rhs, annotated: false, loc }
}

/// How many statements of a block are more than names of what is there, nested ones included.
fn operations(block: &Block) -> usize {
    let own = |stmt: &Stmt| match stmt.rhs {
        Rhs::Atom(_) | Rhs::Index(..) | Rhs::ArrayLit(_) | Rhs::Tuple(_) | Rhs::Untuple(_) => 0,
        _ => 1 + stmt.rhs.blocks().into_iter().map(operations).sum::<usize>(),
    };
    block.stmts.iter().map(own).sum()
}

/// Whether a result of a block is an array literal that stands in it.
fn is_literal(block: &Block, result: Atom) -> bool {
    let makes = |stmt: &Stmt| {
        matches!(stmt.rhs, Rhs::ArrayLit(_)) && stmt.nl.first().copied() == result.var()
    };
    block.stmts.iter().any(makes)
}

/// How often a block mentions a capability, nested blocks included.
fn additions(block: &Block, cap: Cap) -> usize {
    let mut count = 0;
    for stmt in &block.stmts {
        stmt.rhs.for_each_own_use(&mut |u| count += usize::from(u == Use::C(cap)));
        count += stmt.rhs.blocks().into_iter().map(|b| additions(b, cap)).sum::<usize>();
    }
    count
}

/// If the body of a region adds into its capability by exactly one statement, which stands
/// directly in the body of a loop that stands directly in the region: the position of the loop.
fn sum_of_few(cap: Cap, body: &Block) -> Option<usize> {
    if additions(body, cap) != 1 {
        return None;
    }
    body.stmts.iter().position(|stmt| match &stmt.rhs {
        Rhs::Scan(scan) => scan.dir == Dir::Par && adds(&scan.body, cap),
        _ => false,
    })
}

/// Whether a statement directly in the block adds into the capability.
fn adds(block: &Block, cap: Cap) -> bool {
    let into = |place: &Place| place.root == cap && place.path.is_empty();
    block
        .stmts
        .iter()
        .any(|stmt| matches!(&stmt.rhs, Rhs::Inc(place, Operand::N(_)) if into(place)))
}
