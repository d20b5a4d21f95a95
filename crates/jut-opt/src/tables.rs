//! What every iteration of an outer loop computes of the same elements is computed once, into a table.
//!
//! Loop-invariant motion takes out of a loop what does not depend on it. What stands in an inner loop, and depends on
//! that one alone, it cannot take out of the outer one: there is a value for each inner iteration. If the values
//! are expensive, they become an array in front of the outer loop:
//!
//! ```text
//!                                                e = scan par (j < m) { x = a[j]; y = x / z; y }
//! scan up (i < n) {                              scan up (i < n) {
//!   scan up (j < m) { x = a[j]; y = x / z; .. }    scan up (j < m) { y = e[j]; .. }
//! }                                              }
//! ```
//!
//! So m divisions are left of n m. Done before J it is worth more to the gradient: the partial derivatives of y, and what
//! of them goes on the tape, have as many values as the table has elements, and the cotangents of y are added up before they
//! are divided.
//!
//! *Rule*: for a loop (the outer one), an expensive primitive (`cheap` in the table of primitives) that cannot fail moves with what
//! it needs, if all that is known before the loop but for elements of arrays there, in inner loops whose trip counts are known
//! there too. The indices that matter are the table's, and each is an index of one of these arrays by itself: **so a table
//! is never larger than an array that is there**. Nothing moves out of branches, or out of inner loops that may end early or have the
//! outer one's index as a trip count. The accesses have to be covered by the range rule in the table's loop.
//! *Requires*: a purely non-linear function, with names bound once. *Ensures*: same results, same errors; W is lower where the outer loop
//! runs more than once; where it runs once or not at all, higher by what makes the table. *Cost*: linear in the text for each number of
//! indices that tables have, per level of nesting.

mod nest;

use crate::copy::Copy;
use crate::motion;
use crate::rewrite::Rewriter;
use crate::unroll::leaf;
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::Facts;
use jut_ir::entity::NVar;
use jut_ir::hash::HashMap;
use jut_ir::ir::*;
use jut_ir::span::Loc;
use jut_ir::types::Type;
use nest::{Level, Nest, Part};
use std::collections::BTreeMap;

/// Makes the tables of a whole function; whether there are any.
pub fn tabulate(func: &mut Function) -> bool {
    // Fresh names cost a look at all names.
    if !has_work(&func.body, 0) {
        return false;
    }
    let body = std::mem::take(&mut func.body);
    let mut facts = Facts::default();
    for param in &func.params {
        facts.add_type(&func.nvars[*param].ty);
    }
    let builder = FunctionBuilder::from_function(std::mem::take(func));
    let mut pass = Tables { builder, facts, made: false };
    let body = pass.block(body);
    let made = pass.made;
    *func = pass.builder.func;
    func.body = body;
    made
}

/// Whether something expensive stands in two loops; `depth` are those around the block.
fn has_work(block: &Block, depth: usize) -> bool {
    block.stmts.iter().any(|stmt| {
        let inner = depth + usize::from(matches!(stmt.rhs, Rhs::Scan(_)));
        (depth >= 2 && is_expensive(&stmt.rhs))
            || stmt.rhs.blocks().into_iter().any(|block| has_work(block, inner))
    })
}

fn is_expensive(rhs: &Rhs) -> bool {
    matches!(rhs, Rhs::Prim(prim, _) if !prim.row().cheap && rhs.is_total_prim())
}

struct Tables {
    builder: FunctionBuilder,
    facts: Facts,
    made: bool,
}

impl Tables {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in block.stmts {
            let loc = stmt.loc;
            if let Rhs::Scan(scan) = &mut stmt.rhs
                && scan.bound.integer().is_none_or(|trips| trips > 1)
            {
                loop {
                    let tables = self.tables(scan, loc);
                    if tables.is_empty() {
                        break;
                    }
                    tables.iter().for_each(|table| self.learn(table));
                    stmts.extend(tables);
                    self.made = true;
                }
            }
            self.inside(&mut stmt.rhs);
            self.learn(&stmt);
            stmts.push(stmt);
        }
        Block { stmts, nl: block.nl, lin: block.lin }
    }

    /// The loops within an operation.
    fn inside(&mut self, rhs: &mut Rhs) {
        self.facts.enter();
        if let Rhs::Scan(scan) = rhs {
            let bound = self.builder.func.size_of(scan.bound);
            self.facts.add_range(scan.index, bound);
            for v in scan.carry.iter().map(|c| c.0).chain(scan.slices.iter().map(|s| s.0)) {
                self.facts.add_type(&self.builder.func.nvars[v].ty);
            }
        }
        for nested in rhs.blocks_mut() {
            self.facts.enter();
            *nested = self.block(std::mem::take(nested));
            self.facts.leave();
        }
        self.facts.leave();
    }

    fn learn(&mut self, stmt: &Stmt) {
        motion::learn(&mut self.facts, &self.builder.func, stmt);
        for var in &stmt.nl {
            self.facts.add_type(&self.builder.func.nvars[*var].ty);
        }
    }

    /// The loops of tables for what a loop computes again and again, which reads it from there now. All values that depend on the
    /// same indices become tables of one loop; those of the fewest indices come first, because others may be computed of them.
    fn tables(&mut self, scan: &mut Scan, loc: Loc) -> Vec<Stmt> {
        let nest = Nest::of(&self.builder.func, scan);
        let facts = &mut self.facts;
        let fits: Vec<NVar> =
            nest.repeated().into_iter().filter(|v| nest.fits(*v, facts)).collect();
        let fewest = fits.iter().map(|v| nest.loops_of(*v).len()).min();
        let mut groups: BTreeMap<&[usize], Vec<NVar>> = BTreeMap::new();
        for v in fits {
            let loops = nest.loops_of(v);
            if Some(loops.len()) == fewest {
                groups.entry(loops).or_default().push(v);
            }
        }
        let group = |(loops, values): (&[usize], Vec<NVar>)| {
            (nest.levels(loops), nest.parts(&values), values)
        };
        let groups: Vec<_> = groups.into_iter().map(group).collect();
        let (mut tables, mut reads) = (Vec::new(), HashMap::default());
        for (levels, parts, values) in groups {
            let Some(table) = self.make(&levels, parts, &values, loc) else { continue };
            let index =
                |level: &Level| Step::Index { index: Atom::Var(level.index), proved: false };
            let path: Vec<Step> = levels.iter().map(index).collect();
            let named = values.iter().zip(&table.nl);
            reads.extend(named.map(|(v, table)| (*v, Rhs::Index(*table, path.clone()))));
            tables.push(table);
        }
        if !reads.is_empty() {
            read(&mut scan.body, &reads);
        }
        tables
    }

    /// The loops, one in the other, that compute values from what they consist of.
    fn make(
        &mut self,
        levels: &[Level],
        parts: Vec<Part>,
        values: &[NVar],
        loc: Loc,
    ) -> Option<Stmt> {
        let builder = &mut self.builder;
        let new = |level: &Level, builder: &mut FunctionBuilder| {
            let data = builder.func.nvars[level.index].clone();
            builder.nvar(&data.name, data.ty, data.span)
        };
        let indices: Vec<NVar> = levels.iter().map(|level| new(level, builder)).collect();
        let mut copy = Copy::new(None, builder);
        for (level, index) in levels.iter().zip(&indices) {
            copy.name_is(level.index, Atom::Var(*index));
        }
        let statement = |part: Part| match part {
            Part::Computed(stmt) => stmt,
            Part::Element { name, array, index } => {
                let step = Step::Index { index: Atom::Var(index), proved: false };
                leaf(name, Rhs::Index(array, vec![step]), loc)
            }
        };
        let stmts = parts.into_iter().map(statement).collect();
        let nl = values.iter().map(|v| Atom::Var(*v)).collect();
        let mut block = copy.block(Block { stmts, nl, lin: Vec::new() });
        block.stmts.iter_mut().for_each(|stmt| motion::unmark(&mut stmt.rhs));
        let mut types: Vec<Type> = vec![Type::F64; values.len()];
        for (level, index) in levels.iter().zip(indices).rev() {
            let size = builder.func.size_of(level.bound);
            types = types.into_iter().map(|ty| Type::array(size.clone(), ty)).collect();
            let named = values.iter().zip(&types);
            let named = named.map(|(v, ty)| {
                let hint = builder.func.nvars[*v].name.clone();
                builder.nvar(&hint, ty.clone(), loc.span)
            });
            let nl: Vec<NVar> = named.collect();
            let results = nl.iter().map(|v| Atom::Var(*v)).collect();
            let scan = Scan::new(Dir::Par, index, level.bound, block);
            let rhs = Rhs::Scan(Box::new(scan));
            let stmt = Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc };
            block = Block { stmts: vec![stmt], nl: results, lin: Vec::new() };
        }
        block.stmts.pop()
    }
}

/// Reads values where they were computed.
fn read(block: &mut Block, reads: &HashMap<NVar, Rhs>) {
    for stmt in &mut block.stmts {
        if let Some(rhs) = stmt.nl.first().and_then(|v| reads.get(v)) {
            stmt.rhs = rhs.clone();
        }
        stmt.rhs.blocks_mut().into_iter().for_each(|block| read(block, reads));
    }
}
