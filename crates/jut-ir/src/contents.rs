//! What types hold, data types included, and the types of tangents: questions that need the declarations of a program.

use crate::entity::{DataId, EntityRef};
use crate::graph::strongly_connected;
use crate::ir::Program;
use crate::scalar::Width;
use crate::types::Type;
use std::collections::HashSet;

impl Type {
    /// Whether `is` holds of the type or of one that it is made of, data types included.
    fn contains(&self, program: &Program, is: &dyn Fn(&Type) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![self];
        while let Some(ty) = work.pop() {
            match ty {
                ty if is(ty) => return true,
                Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {}
                Type::Tuple(items) => work.extend(items),
                Type::Array(_, element) => work.push(element),
                Type::Data(data) => {
                    if seen.insert(*data) {
                        let fields =
                            program.datas[*data].constructors.iter().flat_map(|c| &c.fields);
                        work.extend(fields.map(|f| &f.ty));
                    }
                }
            }
        }
        false
    }

    /// Whether an array occurs anywhere in the type, data types included.
    pub fn has_array(&self, program: &Program) -> bool {
        self.contains(program, &|ty| matches!(ty, Type::Array(..)))
    }

    /// Whether a float occurs anywhere in the type, data types included.
    pub fn has_float(&self, program: &Program) -> bool {
        self.contains(program, &Type::is_float)
    }

    /// Whether a float of this width occurs anywhere in the type, data types included.
    pub fn has_width(&self, program: &Program, width: Width) -> bool {
        self.contains(program, &|ty| *ty == Type::Float(width))
    }

    /// A data type in it, at any depth, whose values hold values of the same data type.
    pub fn recursive_data(&self, program: &Program) -> Option<DataId> {
        let mut roots = Vec::new();
        self.for_each_data(&mut |data| roots.push(data.index()));
        if roots.is_empty() {
            return None;
        }
        let found = strongly_connected(program.datas.len(), roots, |k, out| {
            let fields = program.datas[DataId::new(k)].constructors.iter().flat_map(|c| &c.fields);
            fields.for_each(|f| f.ty.for_each_data(&mut |other| out.push(other.index())));
        });
        let found = found.iter().find(|component| component.is_recursive);
        found.and_then(|component| component.members.first()).map(|k| DataId::new(*k))
    }

    /// The tangent type: absent (`None`) when there is no float.
    /// A data type has that which is declared for it ([`crate::tangent`]), or the tuple of its fields' tangents, those
    /// of all its constructors one after the other: those of the constructors that a value does not have are zero.
    /// `Err` names a data type that needs a declaration and has none.
    pub fn tangent(&self, program: &Program) -> Result<Option<Type>, DataId> {
        self.tangent_within(program, &mut Vec::new())
    }

    /// The same inside of some data types.
    fn tangent_within(
        &self,
        program: &Program,
        around: &mut Vec<DataId>,
    ) -> Result<Option<Type>, DataId> {
        Ok(match self {
            Type::Float(width) => Some(Type::Float(*width)),
            Type::I64 | Type::I32 | Type::Bool => None,
            Type::Tuple(items) => {
                let mut present = Vec::new();
                for item in items {
                    present.extend(item.tangent_within(program, around)?);
                }
                (!present.is_empty()).then_some(Type::Tuple(present))
            }
            Type::Array(size, element) => {
                element.tangent_within(program, around)?.map(|t| Type::array(size.clone(), t))
            }
            Type::Data(d) => {
                if let Some(tangent) = program.datas[*d].tangent {
                    return Ok(Some(Type::Data(tangent)));
                }
                if !self.has_float(program) {
                    return Ok(None);
                }
                if around.contains(d) {
                    return Err(*d);
                }
                around.push(*d);
                let mut present = Vec::new();
                for field in program.datas[*d].constructors.iter().flat_map(|c| &c.fields) {
                    if let Some(t) = field.ty.tangent_within(program, around)? {
                        // A tangent whose size is a field would need a name for that field.
                        if !t.size_names().is_empty() {
                            return Err(*d);
                        }
                        present.push(t);
                    }
                }
                around.pop();
                Some(Type::Tuple(present))
            }
        })
    }
}
