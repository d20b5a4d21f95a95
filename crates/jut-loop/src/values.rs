//! New values of a function, for passes that write statements.

use cranelift_entity::PrimaryMap;
use jut_ir::Literal;
use jut_ir::build::Namer;
use jut_ir::prim::{self, Prim};

use crate::form::{Atom, Kind, Stmt, Value, ValueData};

/// The values of a function, and how new ones are made.
pub(crate) struct Values<'a> {
    table: &'a mut PrimaryMap<Value, ValueData>,
    /// Made when the first new name is needed: it takes a look at all names.
    namer: Option<Namer>,
}

impl<'a> Values<'a> {
    pub fn new(table: &'a mut PrimaryMap<Value, ValueData>) -> Values<'a> {
        Values { table, namer: None }
    }

    /// The values.
    pub fn table(&self) -> &PrimaryMap<Value, ValueData> {
        self.table
    }

    /// The name and the kind of a value.
    pub fn data(&self, value: Value) -> &ValueData {
        &self.table[value]
    }

    /// The kind of a value.
    pub fn kind(&self, value: Value) -> Kind {
        self.table[value].kind
    }

    /// What an atom is.
    pub fn kind_of(&self, atom: Atom) -> Kind {
        atom.kind(self.table)
    }

    /// A new value with a name like the hint.
    pub fn fresh(&mut self, hint: &str, kind: Kind) -> Value {
        let namer = self.namer.get_or_insert_with(|| {
            let mut namer = Namer::default();
            self.table.values().for_each(|data| namer.reserve(&data.name));
            namer
        });
        let name = namer.fresh(hint);
        self.table.push(ValueData { name, kind })
    }

    /// A new value, named like another one and of its kind.
    pub fn like(&mut self, old: Value) -> Value {
        let ValueData { name, kind } = self.table[old].clone();
        self.fresh(&name, kind)
    }

    /// Writes an operation; gives its result.
    pub fn prim(
        &mut self,
        hint: &str,
        kind: Kind,
        prim: Prim,
        args: &[Atom],
        out: &mut Vec<Stmt>,
    ) -> Atom {
        let dst = self.fresh(hint, kind);
        out.push(Stmt::Prim { dst, prim, args: args.to_vec() });
        dst.into()
    }
}

/// Writes an operation with a name like the hint, of a kind; gives its result.
type Write<'a> = dyn FnMut(&str, Kind, Prim, &[Atom]) -> Atom + 'a;

/// Writes how many iterations a loop with these bounds has, from 0 to the largest integer, which stands for more, too: so what is
/// worked out from it, whole parts of a loop and what is left for the last one, does not wrap.
pub(crate) fn trips([low, high]: [Atom; 2], write: &mut Write<'_>) -> Atom {
    let int = |k: i64| Atom::Lit(Literal::I64(k));
    if low == int(0) {
        return write("trips", Kind::I64, prim::IMAX, &[high, low]);
    }
    let runs = write("runs", Kind::BOOL, prim::ILT, &[low, high]);
    let trips = write("trips", Kind::I64, prim::ISUB, &[high, low]);
    let wraps = write("wraps", Kind::BOOL, prim::ILT, &[trips, int(0)]);
    let trips = write("trips", Kind::I64, prim::ISELECT, &[wraps, int(i64::MAX), trips]);
    write("trips", Kind::I64, prim::ISELECT, &[runs, trips, int(0)])
}
