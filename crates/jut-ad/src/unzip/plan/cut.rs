//! What of a body is stored and what is computed again from it: a minimum cut.
//!
//! The needs of a level are values that the residual reads and does not have. Each may be stored,
//! or computed again from other values, which in turn are stored or computed again. Storing v
//! costs its bytes; computing a statement again costs its operations; what the residual has anyway
//! costs nothing; what is expensive (a transcendental function, a loop, a call) or not there to be
//! computed (a carry, a field of an arm) can only be stored.
//!
//! # The network
//!
//! A node per value and per statement that may be computed again; the value side of a cut is what
//! the residual has to have:
//!
//! ```text
//! source --bytes(v)--> v          for v that can only be stored
//! source --operations(s)--> s     for a statement s that may be computed again
//! s --bytes(v)--> v               for each v that s binds; infinite if v is never stored
//! v --infinite--> s               for each operand v of s that the residual does not have anyway
//! v --infinite--> sink            for each need v
//! ```
//!
//! If a cut separates v from the statement that binds it, v is stored; if it separates a statement
//! from the source, the statement is computed again, and then its operands are on the value side
//! too. So the weight of a cut is exactly the price of the plan that it says, and a minimum cut is
//! a cheapest plan. It never costs more than storing every need.
//!
//! # Prices
//!
//! A byte on the tape is worth one operation: a number is written and read again, 16 bytes of
//! traffic, in the time of some eight operations. Hence the bound on recomputation: the residual
//! repeats at most as many operations as the tape loses bytes, and a long chain of cheap
//! operations is cut every eight links. A truth value costs as much as a number, for the
//! instructions are the same. An element read from an array is a load, half of what storing it
//! costs. So does a cell that is read in the array that a loop round the level ends with ([`super::settled`]): that is
//! a statement to the network whose operands are the indices, and the array, for one operation. A division of floats takes longer than storing its result and reading it, and under
//! [`Policy::Default`] counts as that: it is computed again only where more than one number is saved
//! by it. Under [`Policy::Minimal`] it counts as less, and so leaves the tape wherever its operands are
//! at hand. Sizes are not known here; arrays of unknown size, and data, count as large,
//! so a scalar is always preferred to the array or record that it comes from.
//!
//! A value of a level further out has a price too, unless the residual has it anyway or needs it
//! already: its bytes, or one if a loop lies between, because then it is stored once and not in
//! each iteration. An array further out is too large to be stored for the sake of some elements.
//!
//! # Ties
//!
//! Of all minimum cuts the one nearest to the needs is taken. Its statements are computed again in
//! every other minimum cut, so nothing is repeated that does not gain bytes. For example a value
//! is stored rather than the value that it is a copy of, a component rather than its tuple.
//!
//! *Requires*: the needs of a complete level. *Ensures*: a set of total statements that bind no
//! name of a loop, call or transcendental function.
//! *Cost*: the network is built once and falls apart into components that share no value. Each is
//! solved exactly by Dinic's algorithm if it has at most [`LIMIT`](crate::network::LIMIT) nodes; the needs of larger ones
//! are stored. So the cost is linear in the text.

use super::{How, LevelKind, Planner};
use crate::Policy;
use crate::network::{INFINITE, Network};
use jut_ir::visit::Use;
use jut_ir::*;
use std::collections::HashSet;

/// The weight of arrays of unknown length, per unknown dimension, in elements.
const MANY: u64 = 64;
/// What reading an element of an array costs.
const LOAD: u64 = 4;
/// The weight of data.
const LARGE: u64 = 1 << 12;
/// No type weighs more.
const HEAVIEST: u64 = 1 << 20;

/// What storing a value costs, as far as its size is known.
fn weight(ty: &Type) -> u64 {
    let bytes = match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => 8,
        Type::Tuple(items) => items.iter().map(weight).sum(),
        Type::Array(size, element) => {
            let count = size.as_constant().map_or(MANY, |n| n.max(0) as u64);
            count.saturating_mul(weight(element))
        }
        Type::Data(_) => LARGE,
    };
    bytes.min(HEAVIEST)
}

/// A node of the network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Source,
    Sink,
    Value(NVar),
    Again(Again),
}

/// How the residual has a value again: by the statement with this number, or by reading a cell that has it
/// ([`super::settled`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Again {
    Stmt(usize),
    Cell(NVar),
}

impl Planner<'_, '_> {
    /// What of the innermost level the residual computes or reads again although it does not have all that this
    /// takes anyway.
    pub(super) fn minimum_cut(&self, needs: &[NVar]) -> HashSet<Again> {
        let level = self.depth();
        let mut network = Network::new(Node::Source, Node::Sink);
        let mut work = Vec::new();
        for v in needs.iter().copied().filter(|v| !self.is_free(*v, level)) {
            network.edge(Node::Value(v), Node::Sink, INFINITE);
            work.push(v);
        }
        let mut seen: HashSet<NVar> = work.iter().copied().collect();
        while let Some(v) = work.pop() {
            let site = self.plan.sites[v];
            if site.level != level {
                network.edge(Node::Source, Node::Value(v), self.outer_price(v, level));
                continue;
            }
            let bytes = weight(&self.type_of(v));
            let mut reads = |network: &mut Network<Node>, node: Node, name: NVar| {
                if let Some(operand) = self.plan.same.nvar(name)
                    && !self.is_free(operand, level)
                {
                    network.edge(Node::Value(operand), node, INFINITE);
                    if seen.insert(operand) {
                        work.push(operand);
                    }
                }
            };
            if let Some(cell) = self.cell(level, v) {
                let node = Node::Again(Again::Cell(v));
                network.edge(Node::Source, node, LOAD);
                network.edge(node, Node::Value(v), bytes);
                cell.for_each_own_use(&mut |name| {
                    if let Use::N(name) = name {
                        reads(&mut network, node, name);
                    }
                });
                continue;
            }
            let cheap = match site.how {
                How::Stmt { index, .. } => {
                    let stmt = &self.open[level].stmts[index];
                    self.operations(level, stmt).map(|operations| (index, stmt, operations))
                }
                _ => None,
            };
            let Some((index, stmt, operations)) = cheap else {
                network.edge(Node::Source, Node::Value(v), bytes);
                continue;
            };
            let node = Node::Again(Again::Stmt(index));
            let repeated = self.is_repeated(stmt) || self.is_wished(level, stmt);
            let bytes = if repeated { INFINITE } else { bytes };
            let is_known = network.has(node);
            network.edge(node, Node::Value(v), bytes);
            if is_known {
                continue;
            }
            let operations = if repeated { 0 } else { operations };
            network.edge(Node::Source, node, operations);
            stmt.rhs.for_each_own_use(&mut |name| {
                if let Use::N(name) = name {
                    reads(&mut network, node, name);
                }
            });
        }
        let again = network.sink_side().into_iter().filter_map(|node| match node {
            Node::Again(again) => Some(again),
            Node::Source | Node::Sink | Node::Value(_) => None,
        });
        again.collect()
    }

    /// Where the residual can read a value of a level again, unless it is to be stored.
    pub(super) fn cell(&self, level: usize, v: NVar) -> Option<Rhs> {
        let (array, path) = self.cells.get(&v)?;
        let How::Stmt { index, .. } = self.plan.sites[v].how else { return None };
        let is_kept = self.is_kept(self.open[level].stmts.get(index)?);
        (!is_kept).then(|| Rhs::Index(*array, path.clone()))
    }

    /// Whether the residual of a level has a value anyway, or can compute it from such values.
    fn is_free(&self, v: NVar, level: usize) -> bool {
        let site = self.plan.sites[v];
        match site.how {
            How::Parameter | How::Result | How::Index | How::Slice { .. } => true,
            How::Stmt { available: true, .. } => true,
            How::Stmt { .. } | How::Given => site.level != level && self.needs[v].is_some(),
        }
    }

    /// What it costs to have a value of a level further out that nothing else needs so far.
    fn outer_price(&self, v: NVar, level: usize) -> u64 {
        // What a loop round this level ends with is stored once for many cells.
        if self.settled.ends.contains(&v) && self.plan.sites[v].how == How::Given {
            return 1;
        }
        let ty = self.type_of(v);
        let between = self.open.get(self.plan.sites[v].level + 1..=level).unwrap_or_default();
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {
                if between.iter().any(|l| l.kind == LevelKind::Loop) { 1 } else { weight(&ty) }
            }
            Type::Tuple(_) | Type::Array(..) | Type::Data(_) => HEAVIEST,
        }
    }

    /// What computing a statement of a level again costs, if that is to be thought of.
    fn operations(&self, level: usize, stmt: &Stmt) -> Option<u64> {
        const ARITHMETIC: u64 = 1;
        // By a number that is written down: a product and shifts.
        const DIVISION: u64 = 3;
        let division = match self.plan.policy {
            Policy::StoreAll | Policy::Default => 12,
            Policy::Minimal => 6,
        };
        match (&stmt.rhs, &stmt.nl[..]) {
            (Rhs::Prim(prim::DIV, _), _) => Some(division),
            _ if !self.is_cheap(level, stmt) => None,
            (Rhs::Prim(prim, _), _) if prim.can_fail() => Some(DIVISION),
            (Rhs::Prim(..), _) => Some(ARITHMETIC),
            (Rhs::Index(..), [v]) if self.type_of(*v).is_scalar() => Some(LOAD),
            _ => Some(0),
        }
    }
}
