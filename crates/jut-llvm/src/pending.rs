//! What waits in a body of which eight iterations are taken at once: `products.rs`.

use jut_ir::hash::{HashMap, HashSet};
use jut_loop::form::{Atom, Block, Stmt, Value};

/// What waits in a body of which eight iterations are taken at once.
#[derive(Default)]
pub(crate) struct Pending {
    /// Plain products, and what has been computed from them, in order.
    pub(crate) products: Vec<Stmt>,
    /// What these compute.
    pub(crate) plain: HashSet<Value>,
    /// Stores, in order, if they stand last.
    pub(crate) stores: Vec<Stmt>,
    pub(crate) stores_last: bool,
    /// How often the body reads each value.
    pub(crate) reads: HashMap<Value, usize>,
}

impl Pending {
    /// Nothing yet.
    pub(crate) fn of(body: &Block, stores_last: bool) -> Pending {
        let mut pending = Pending { stores_last, ..Pending::default() };
        body.atoms(&mut |atom| {
            if let Atom::Value(v) = atom {
                *pending.reads.entry(v).or_default() += 1;
            }
        });
        pending
    }

    /// Whether a value has been computed from plain products.
    pub(crate) fn has(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Value(v) if self.plain.contains(&v))
    }

    /// What is left for later while other statements are translated.
    pub(crate) fn set_aside(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.products)
    }

    /// What was left.
    pub(crate) fn take_up(&mut self, products: Vec<Stmt>) {
        self.products = products;
    }
}
