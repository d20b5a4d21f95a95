//! Tangent types: of each value the type of its tangent.
//!
//! Floats, tuples, arrays and most data types have tangent types that are written out. Those of three kinds of data
//! types are declared, because nothing that is written out would do:
//!
//! - recursive ones, whose tangents are as deep as their values;
//! - those with floats in arrays that are measured by a field of the same constructor;
//! - those whose tangent has more than [`MAX_PARTS`] parts.
//!
//! ```text
//! data List = Nil | Cons(head: f64, rest: List)
//! data List.tan of List = List.none | Cons.tan(head: f64, rest: List.tan)
//! ```
//!
//! **Shape.** The tangent of a value has the value's shape: that of `Cons(x, l)` is `Cons.tan(x', l')`, so a sum costs
//! what its own constructor holds. The first constructor is zero, whatever the shape; so a zero costs nothing and needs
//! no value to be measured by. Constructors without floats have no other tangent. Values that are added are
//! tangents of one value, so they have its constructor or are zero.
//!
//! **Operations.** `z' = K.tan(n, a')` and `K.tan(=n, a') = z'`, which T exchanges: the fields of a zero are zeros, in
//! the sizes that are stated. Both are linear, and inverse to each other on tangents of values made by `K`.
//!
//! Such a type is its own tangent type: its values form a vector space. So J of what L makes of these operations, which
//! are constructors and `case`, needs no further types.

use crate::entity::{DataId, EntityRef, NVar};
use crate::ir::{ConRef, Constructor, Data, Field, Program};
use crate::names;
use crate::size::Size;
use crate::types::Type;

/// How many parts a tangent type that is written out may have. (A tape that holds two tapes, which hold two more, ..
/// has few types but very many parts.)
pub const MAX_PARTS: u64 = 10_000;

/// What the tangent of a constructor has in the place of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// The same number: a size of a field behind it.
    Size,
    /// The field's tangent.
    Tangent,
    /// Nothing.
    Absent,
}

impl Program {
    /// Whether a data type is the declared tangent type of one, hence the type of linear values.
    pub fn is_tangent(&self, data: DataId) -> bool {
        self.datas.get(data).is_some_and(|d| d.tangent == Some(data))
    }

    /// The data type whose declared tangent type this is.
    pub fn tangent_of(&self, tangent: DataId) -> Option<DataId> {
        if !self.is_tangent(tangent) {
            return None;
        }
        let is_of = |id: &DataId| *id != tangent && self.datas[*id].tangent == Some(tangent);
        self.datas.keys().find(is_of)
    }

    /// The constructor of the tangents of values that a constructor makes, if the tangent type is declared: `None` where
    /// these are always zero.
    pub fn tangent_constructor(&self, con: ConRef) -> Option<ConRef> {
        let data = self.datas[con.data].tangent?;
        let constructors = &self.datas[con.data].constructors;
        if data == con.data {
            return (con.index > 0).then_some(con);
        }
        let has_floats = |c: &Constructor| c.fields.iter().any(|f| f.ty.has_float(self));
        let before = constructors.iter().take(con.index as usize).filter(|c| has_floats(c)).count();
        let own = constructors.get(con.index as usize).is_some_and(has_floats);
        own.then_some(ConRef { data, index: before as u32 + 1 })
    }

    /// For each field of a constructor, what the tangents of its values have in its place, where the tangent type is
    /// declared.
    pub fn tangent_parts(&self, con: ConRef) -> Vec<Part> {
        let fields = &self.constructor(con).fields;
        let has_float: Vec<bool> = fields.iter().map(|f| f.ty.has_float(self)).collect();
        let with_floats = || fields.iter().zip(&has_float).filter(|(_, has)| **has);
        let measures =
            |k: usize| with_floats().any(|(f, _)| f.ty.size_names().contains(&NVar::new(k)));
        let part = |(k, has_float): (usize, &bool)| match has_float {
            true => Part::Tangent,
            false if measures(k) => Part::Size,
            false => Part::Absent,
        };
        has_float.iter().enumerate().map(part).collect()
    }

    /// What the declared tangent type of a data type is: a name, and constructors.
    pub fn tangent_data(&self, data: DataId) -> Data {
        let source = &self.datas[data];
        let name = names::tangent(&source.name);
        let none = Constructor { name: names::no_tangent(&name), fields: Vec::new() };
        let mut constructors = vec![none];
        for (index, constructor) in source.constructors.iter().enumerate() {
            let con = ConRef { data, index: index as u32 };
            let parts = self.tangent_parts(con);
            if !parts.contains(&Part::Tangent) {
                continue;
            }
            // Fields are known by their number, which is another one where some are left out.
            let mut number = vec![None; parts.len()];
            let mut fields: Vec<Field> = Vec::new();
            for ((k, part), field) in parts.iter().enumerate().zip(&constructor.fields) {
                let ty = match part {
                    Part::Absent => continue,
                    Part::Size => Type::I64,
                    Part::Tangent => match field.ty.tangent(self) {
                        Ok(Some(ty)) => ty.subst(&mut |v| {
                            let new = number.get(v.index()).copied().flatten();
                            new.map(|k| Size::var(NVar::new(k)))
                        }),
                        _ => continue,
                    },
                };
                number[k] = Some(fields.len());
                fields.push(Field { name: field.name.clone(), ty });
            }
            constructors.push(Constructor { name: names::tangent(&constructor.name), fields });
        }
        Data { name, constructors, ..Data::default() }
    }

    /// Whether the tangent type of a data type with floats has to be declared.
    pub fn needs_tangent(&self, data: DataId) -> bool {
        let measured = |c: &Constructor| {
            let mut floats = c.fields.iter().filter(|f| f.ty.has_float(self));
            floats.any(|f| !f.ty.size_names().is_empty())
        };
        self.datas[data].constructors.iter().any(measured)
            || self.holds_itself(data)
            || !self.is_written_out(&Type::Data(data), &mut { MAX_PARTS })
    }

    /// Whether a tangent type that is written out has no more parts than are left.
    fn is_written_out(&self, ty: &Type, left: &mut u64) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => true,
            Type::Tuple(items) => items.iter().all(|t| self.is_written_out(t, left)),
            Type::Array(_, element) => self.is_written_out(element, left),
            Type::Data(data) if self.datas[*data].tangent.is_some() => true,
            Type::Data(data) => {
                let mut fields = self.datas[*data].constructors.iter().flat_map(|c| &c.fields);
                fields.all(|f| self.is_written_out(&f.ty, left))
            }
        }
    }

    /// Whether values of a data type hold values of the same.
    fn holds_itself(&self, data: DataId) -> bool {
        let mut seen = std::collections::HashSet::new();
        let mut work = vec![data];
        while let Some(next) = work.pop() {
            let fields = self.datas[next].constructors.iter().flat_map(|c| &c.fields);
            let mut found = false;
            fields.for_each(|f| {
                f.ty.for_each_data(&mut |other| {
                    found |= other == data;
                    if seen.insert(other) {
                        work.push(other);
                    }
                });
            });
            if found {
                return true;
            }
        }
        false
    }
}
