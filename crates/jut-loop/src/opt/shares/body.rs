//! A loop over a range as a function.

use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim;

use super::Shares;
use super::find::{Found, is_of_cell};
use crate::form::{Atom, Block, Cell, For, Kind, LoopFunction, Order, Param, Role, Stmt, Value};

/// The function of a loop, and what it is given before the buffers of the terms, the number of the first of them, and the range. Written with the values of the
/// function that the loop stands in, and then with its own.
pub(super) fn function(
    shares: &mut Shares<'_>,
    name: String,
    stmt: &Stmt,
    found: &Found,
) -> (LoopFunction, Vec<Value>) {
    let Some(counted) = stmt.counted() else { return Default::default() };
    // What the loop adds up is not carried any more: the terms are left.
    let additions: HashSet<Value> = found.sums.iter().map(|sum| sum.next).collect();
    let is_added = |stmt: &Stmt| matches!(stmt, Stmt::Prim { dst, .. } if additions.contains(dst));
    let kept = counted.body.stmts.iter();
    let kept = kept.filter(|stmt| !is_added(stmt) && !is_of_cell(&found.cells, stmt));
    let mut body = Block { stmts: kept.cloned().collect(), results: Vec::new() };
    let values = &mut shares.values;
    let sums: Vec<_> = found.sums.iter().chain(found.cells.iter().map(|c| &c.sum)).collect();
    let mut own = Vec::new();
    if !sums.is_empty() {
        let first = values.fresh("first", Kind::I64);
        let number = [counted.index.into(), first.into()];
        let at = values.prim("number", Kind::I64, prim::ISUB, &number, &mut body.stmts);
        for sum in sums {
            let buffer = values.fresh("terms", Kind::Buffer(Cell::F64));
            body.stmts.push(Stmt::Store { buffer, index: at, value: sum.term });
            own.push((buffer, Role::Out));
        }
        own.push((first, Role::In));
    }
    let (from, to) = (values.fresh("from", Kind::I64), values.fresh("to", Kind::I64));
    own.extend([(from, Role::In), (to, Role::In)]);
    let all = Stmt::from(For {
        dst: Vec::new(),
        order: Order::Par,
        vector: None,
        index: counted.index,
        low: from.into(),
        high: to.into(),
        carry: Vec::new(),
        body,
    });
    let mut captures = Captures {
        shares,
        known: own.iter().map(|(value, _)| *value).collect(),
        given: Vec::new(),
        parts: Vec::new(),
    };
    captures.statement(&all);
    let Captures { given, parts: mut stmts, .. } = captures;
    stmts.push(all);
    let role = |value: Value| match shares.values.kind(value) {
        Kind::Buffer(_) if shares.roots.is_accumulator(value) => Role::InOut,
        Kind::Buffer(_) if found.written.contains(&value) => Role::Out,
        _ => Role::In,
    };
    let params = given.iter().map(|value| (*value, role(*value))).chain(own);
    let params = params.map(|(value, role)| Param { value, role, len: None }).collect();
    let mut made = LoopFunction {
        name,
        params,
        body: Block { stmts, results: Vec::new() },
        ..Default::default()
    };
    renumber(shares, &mut made);
    (made, given)
}

/// Values that a loop reads and that are bound before it.
struct Captures<'c, 'a> {
    shares: &'c Shares<'a>,
    /// Values that are given, or bound in the new function.
    known: HashSet<Value>,
    given: Vec<Value>,
    /// Parts of buffers that are given: they are taken again, so that it can be seen what they are parts of.
    parts: Vec<Stmt>,
}

impl Captures<'_, '_> {
    fn statement(&mut self, stmt: &Stmt) {
        stmt.operands(&mut |atom| self.atom(atom));
        self.known.extend(stmt.entered());
        for block in stmt.blocks() {
            block.stmts.iter().for_each(|inner| self.statement(inner));
            block.results.iter().for_each(|atom| self.atom(*atom));
        }
        self.known.extend(stmt.bound());
    }

    fn atom(&mut self, atom: Atom) {
        let Atom::Value(value) = atom else { return };
        if !self.known.insert(value) {
            return;
        }
        match self.shares.rows.begin(value) {
            Some((buffer, index)) => {
                self.atom(buffer.into());
                self.atom(index);
                self.parts.push(Stmt::Offset { dst: value, buffer, index });
            }
            None => self.given.push(value),
        }
    }
}

/// Gives a function values of its own for those of the function that it was made from.
fn renumber(shares: &Shares<'_>, made: &mut LoopFunction) {
    let LoopFunction { params, body, values, .. } = made;
    let mut names: HashMap<Value, Value> = HashMap::default();
    let mut name = |old: Value| {
        *names.entry(old).or_insert_with(|| values.push(shares.values.data(old).clone()))
    };
    params.iter_mut().for_each(|param| param.value = name(param.value));
    body.for_each_mut(&mut |stmt| {
        let mut atom = |atom: &mut Atom| {
            if let Atom::Value(value) = atom {
                *value = name(*value);
            }
        };
        stmt.operands_mut(&mut atom);
        for block in stmt.blocks_mut() {
            block.results.iter_mut().for_each(&mut atom);
        }
        stmt.binders_mut(&mut |value| *value = name(*value));
    });
}
