//! Products of derivatives that a backend has computed as plain ones, and what has been computed from them, until it
//! [looks at them](super::shown_by): in a body of which it takes several iterations at once, or in a block of one.
//!
//! *Requires*: statements in the order in which they run. *Cost*: linear in what waits and what has been noted before it.

use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::{Lowering, Opcode};

use crate::form::{Atom, Block, Kind, Stmt, Value};

/// Whether a statement is a product of derivatives.
pub fn is_product(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Prim { prim, .. }
        if matches!(prim.row().lowering, Lowering::Opcode(Opcode::FTimes)))
}

/// Statements of single iterations that wait at most: what they read is kept until they are looked at.
const MOST: usize = 256;

/// What is to be done with a statement of a block of single iterations.
pub enum Turn {
    /// It is computed, a product as a plain one, and waits.
    Wait,
    /// What waits is looked at, and then it is asked about once more.
    Look,
    /// It is translated as it stands.
    Go,
}

/// What waits in a body or block.
#[derive(Default)]
pub struct Pending {
    /// Plain products, and what has been computed from them, in order.
    pub products: Vec<Stmt>,
    /// What these compute.
    pub plain: HashSet<Value>,
    /// Stores, in order, if they stand last.
    pub stores: Vec<Stmt>,
    /// Whether they do.
    pub stores_last: bool,
    /// What has been computed in a block of single iterations since the last products were looked at, in order, without these.
    before: Vec<Stmt>,
    /// How often the body reads each value.
    pub reads: HashMap<Value, usize>,
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

    /// The same of a block, if it has several products of derivatives.
    pub fn of_several(block: &Block) -> Option<Pending> {
        let products = block.stmts.iter().filter(|stmt| is_product(stmt));
        (products.count() > 1).then(|| Pending::of(block, false))
    }

    /// Whether a value has been computed from plain products.
    pub fn has(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Value(v) if self.plain.contains(&v))
    }

    /// What is to be done with the next statement of a block of single iterations. What waits are operations that give a float or
    /// a truth value: they can be computed once more.
    pub fn turn(&mut self, stmt: &Stmt, kind: impl Fn(Value) -> Kind) -> Turn {
        let mut reads = false;
        stmt.atoms(&mut |atom| reads |= self.has(atom));
        let dst = match stmt {
            Stmt::Prim { dst, prim, .. } => {
                matches!(prim.row().lowering, Lowering::Opcode(_)).then_some(*dst)
            }
            Stmt::Copy { dst, .. } => Some(*dst),
            _ => None,
        };
        let can_be_repeated = dst.is_some_and(|v| matches!(kind(v), Kind::F64 | Kind::BOOL));
        let waits = can_be_repeated && (reads || is_product(stmt));
        match (waits, reads) {
            (true, _) if self.products.len() < MOST => Turn::Wait,
            (true, _) | (_, true) => Turn::Look,
            _ => {
                if can_be_repeated && self.before.len() < MOST {
                    self.before.push(stmt.clone());
                }
                Turn::Go
            }
        }
    }

    /// Notes that a statement waits.
    pub fn wait(&mut self, stmt: &Stmt) {
        self.products.push(stmt.clone());
        self.plain.extend(stmt.bound());
    }

    /// What has to be computed, beside them, to compute statements that wait once more, in order; and what all of it reads.
    pub fn slice(&mut self, products: &[Stmt]) -> (Vec<Stmt>, Vec<Value>) {
        let mut read = HashSet::default();
        let reads = |stmt: &Stmt, read: &mut HashSet<Value>| {
            stmt.operands(&mut |atom| {
                if let Atom::Value(v) = atom {
                    read.insert(v);
                }
            });
        };
        products.iter().for_each(|stmt| reads(stmt, &mut read));
        let mut needed = Vec::new();
        for stmt in std::mem::take(&mut self.before).into_iter().rev() {
            if stmt.bound().iter().any(|v| read.contains(v)) {
                reads(&stmt, &mut read);
                needed.push(stmt);
            }
        }
        needed.reverse();
        let made = needed.iter().chain(products).flat_map(|stmt| stmt.bound());
        made.for_each(|v| {
            read.remove(v);
        });
        let mut read: Vec<Value> = read.into_iter().collect();
        read.sort_unstable();
        (needed, read)
    }

    /// What waits, which is looked at now.
    pub fn take(&mut self) -> Vec<Stmt> {
        let products = self.set_aside();
        for v in products.iter().flat_map(|stmt| stmt.bound()) {
            self.plain.remove(v);
        }
        products
    }

    /// Values that these statements compute and others read.
    pub fn read_outside(&self, products: &[Stmt]) -> Vec<Value> {
        let mut inside = HashMap::default();
        for stmt in products {
            stmt.operands(&mut |atom| {
                if let Atom::Value(v) = atom {
                    *inside.entry(v).or_insert(0usize) += 1;
                }
            });
        }
        let bound = products.iter().flat_map(|stmt| stmt.bound().iter().copied());
        let outside = bound.filter(|v| {
            let all = self.reads.get(v).copied().unwrap_or(0);
            all > inside.get(v).copied().unwrap_or(0)
        });
        outside.collect()
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
