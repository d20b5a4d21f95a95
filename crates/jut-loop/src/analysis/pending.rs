//! Products of derivatives that a backend has computed as plain ones, and what has been computed from them, until it
//! [looks at them](super::shown_by): in a body of which it takes several iterations at once, or in a block of one.
//!
//! *Requires*: statements in the order in which they run. *Cost*: linear in what waits and what has been noted before it.

use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::Lowering;

use super::products::{is_product, shown_by};
use crate::form::{Atom, Block, Kind, Stmt, Value};

/// Statements of single iterations that wait at most: what they read is kept until they are looked at.
const MOST: usize = 256;

/// What waits in a body or block.
#[derive(Default)]
pub struct Pending {
    /// Plain products, and what has been computed from them, in order.
    products: Vec<Stmt>,
    /// What these compute.
    plain: HashSet<Value>,
    /// Stores, in order, if they stand last.
    pub stores: Vec<Stmt>,
    /// Whether they do.
    pub stores_last: bool,
    /// What has been computed in a block of single iterations since the last products were looked at, in order, without these.
    before: Vec<Stmt>,
    /// How often the body reads each value.
    reads: HashMap<Value, usize>,
}

/// A look at what has waited.
pub struct Look {
    /// Values of which one is NaN if one of the products is: then all of it is computed once more.
    pub shown: Vec<Value>,
    /// How it is computed once more, in order, products as they are defined; first what they are computed from.
    pub again: Vec<Stmt>,
    /// What is computed once more only for that: afterwards these values are what they were.
    pub passing: Vec<Value>,
    /// What is read from before.
    pub read: Vec<Value>,
    /// Values among what has waited that other statements read.
    pub outside: Vec<Value>,
}

/// What is to be done next in a block of single iterations.
pub enum Step<'b> {
    /// A statement is translated as it stands.
    Go(&'b Stmt),
    /// A statement is computed, a product as a plain one, and waits.
    Wait(&'b Stmt),
    /// What waits is looked at.
    Look(Look),
}

impl<'b> Step<'b> {
    /// All that is to be done in a block, whose values are of these kinds: nothing waits unless it has several products of derivatives.
    pub fn of(block: &'b Block, kind: impl Fn(Value) -> Kind) -> Vec<Step<'b>> {
        if block.stmts.iter().filter(|stmt| is_product(stmt)).count() < 2 {
            return block.stmts.iter().map(Step::Go).collect();
        }
        let mut pending = Pending::of(block, false);
        let mut steps = Vec::with_capacity(block.stmts.len() + 1);
        for stmt in &block.stmts {
            pending.single(stmt, &kind, &mut steps);
        }
        steps.extend(pending.look().map(Step::Look));
        steps
    }
}

impl Pending {
    /// Nothing yet.
    pub fn of(body: &Block, stores_last: bool) -> Pending {
        let mut pending = Pending { stores_last, ..Pending::default() };
        body.atoms(&mut |atom| {
            if let Atom::Value(v) = atom {
                *pending.reads.entry(v).or_default() += 1;
            }
        });
        pending
    }

    /// Whether a statement reads what has been computed from plain products.
    pub fn is_read_by(&self, stmt: &Stmt) -> bool {
        let mut reads = false;
        stmt.atoms(&mut |atom| reads |= matches!(atom, Atom::Value(v) if self.plain.contains(&v)));
        reads
    }

    /// Decides about the next statement of a block of single iterations. What waits are operations that give a float or
    /// a truth value: they can be computed once more.
    fn single<'b>(
        &mut self,
        stmt: &'b Stmt,
        kind: &impl Fn(Value) -> Kind,
        steps: &mut Vec<Step<'b>>,
    ) {
        let dst = match stmt {
            Stmt::Prim { dst, prim, .. } => {
                matches!(prim.row().lowering, Lowering::Opcode(_)).then_some(*dst)
            }
            Stmt::Copy { dst, .. } => Some(*dst),
            _ => None,
        };
        let can_be_repeated = dst.is_some_and(|v| matches!(kind(v), Kind::F64 | Kind::BOOL));
        let reads = self.is_read_by(stmt);
        let mut waits = can_be_repeated && (reads || is_product(stmt));
        let looks = if waits { self.products.len() >= MOST } else { reads };
        if looks {
            steps.extend(self.look().map(Step::Look));
            waits = can_be_repeated && is_product(stmt);
        }
        if waits {
            self.wait(stmt);
            return steps.push(Step::Wait(stmt));
        }
        if can_be_repeated && self.before.len() < MOST {
            self.before.push(stmt.clone());
        }
        steps.push(Step::Go(stmt));
    }

    /// Notes that a statement waits.
    pub fn wait(&mut self, stmt: &Stmt) {
        self.products.push(stmt.clone());
        self.plain.extend(stmt.bound());
    }

    /// What waits, if anything does, is looked at now.
    pub fn look(&mut self) -> Option<Look> {
        let products = self.set_aside();
        if products.is_empty() {
            return None;
        }
        for v in products.iter().flat_map(|stmt| stmt.bound()) {
            self.plain.remove(v);
        }
        let shown = shown_by(&products);
        let mut inside: HashMap<Value, usize> = HashMap::default();
        products.iter().for_each(|stmt| {
            operands(stmt, &mut |v| *inside.entry(v).or_default() += 1);
        });
        let bound = products.iter().flat_map(|stmt| stmt.bound().iter().copied());
        let outside = bound.filter(|v| self.reads.get(v) > inside.get(v)).collect();

        let mut read: HashSet<Value> = inside.into_keys().collect();
        let mut again = Vec::new();
        for stmt in std::mem::take(&mut self.before).into_iter().rev() {
            if stmt.bound().iter().any(|v| read.contains(v)) {
                operands(&stmt, &mut |v| {
                    read.insert(v);
                });
                again.push(stmt);
            }
        }
        again.reverse();
        let passing = again.iter().flat_map(|stmt| stmt.bound().iter().copied()).collect();
        again.extend(products);
        for v in again.iter().flat_map(|stmt| stmt.bound()) {
            read.remove(v);
        }
        let mut read: Vec<Value> = read.into_iter().collect();
        read.sort_unstable();
        Some(Look { shown, again, passing, read, outside })
    }

    /// What is left for later while other statements are translated.
    pub fn set_aside(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.products)
    }

    /// What was left.
    pub fn take_up(&mut self, products: Vec<Stmt>) {
        self.products = products;
    }
}

fn operands(stmt: &Stmt, visit: &mut dyn FnMut(Value)) {
    stmt.operands(&mut |atom| {
        if let Atom::Value(v) = atom {
            visit(v);
        }
    });
}
