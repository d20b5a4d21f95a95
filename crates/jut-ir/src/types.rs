//! Types. One grammar serves non-linear and linear values: a linear type is a type that is its
//! own tangent type.

use crate::entity::{DataId, NVar};
use crate::ir::Program;
use crate::scalar::{Literal, Width};
use crate::size::Size;
use std::collections::HashSet;

/// The type of a value. Sizes in it mention names of the surrounding function (in a data
/// declaration: earlier fields of the same constructor, the k-th field as `NVar` number k).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// IEEE 754 binary float.
    Float(Width),
    /// 64-bit two's complement integer, wrapping.
    I64,
    /// 32-bit two's complement integer, wrapping: no index, and no size.
    I32,
    /// Truth value.
    Bool,
    /// Anonymous tuple `#(t, ..)`.
    Tuple(Vec<Type>),
    /// `[s]t`; nested arrays are one rectangular block.
    Array(Size, Box<Type>),
    /// A declared data type.
    Data(DataId),
}

impl Type {
    /// IEEE 754 binary32.
    pub const F32: Type = Type::Float(Width::Single);
    /// IEEE 754 binary64.
    pub const F64: Type = Type::Float(Width::Double);

    /// Whether this is a float, of any width.
    pub fn is_float(&self) -> bool {
        matches!(self, Type::Float(_))
    }

    /// A number in the width of this float, or of the floats of this array; what is neither has f64s.
    pub fn number(&self, x: f64) -> Literal {
        match self {
            Type::Float(width) => width.number(x),
            Type::Array(_, element) => element.number(x),
            Type::I64 | Type::I32 | Type::Bool | Type::Tuple(_) | Type::Data(_) => Literal::F64(x),
        }
    }

    /// `[size]element`.
    pub fn array(size: Size, element: Type) -> Type {
        Type::Array(size, Box::new(element))
    }

    /// Whether this is a float, an integer or a bool.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Float(_) | Type::I64 | Type::I32 | Type::Bool)
    }

    /// The element type of an array.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::Array(_, element) => Some(element),
            _ => None,
        }
    }

    /// The first size of an array.
    pub fn size(&self) -> Option<&Size> {
        match self {
            Type::Array(size, _) => Some(size),
            _ => None,
        }
    }

    /// Calls `visit` with every size in the type, outermost first.
    pub fn for_each_size(&self, visit: &mut dyn FnMut(&Size)) {
        match self {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool | Type::Data(_) => {}
            Type::Tuple(items) => items.iter().for_each(|t| t.for_each_size(visit)),
            Type::Array(size, element) => {
                visit(size);
                element.for_each_size(visit);
            }
        }
    }

    /// All size names in the type, sorted, each once.
    pub fn size_names(&self) -> Vec<NVar> {
        let mut names = Vec::new();
        self.for_each_size(&mut |size| names.extend(size.names()));
        names.sort();
        names.dedup();
        names
    }

    /// Replaces size names; a name for which `map` gives `None` stays.
    pub fn subst(&self, map: &mut dyn FnMut(NVar) -> Option<Size>) -> Type {
        match self {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool | Type::Data(_) => self.clone(),
            Type::Tuple(items) => Type::Tuple(items.iter().map(|t| t.subst(map)).collect()),
            Type::Array(size, element) => Type::array(size.subst(map), element.subst(map)),
        }
    }

    /// Calls `visit` with every data type that the type names, but not with those that these name.
    pub fn for_each_data(&self, visit: &mut dyn FnMut(DataId)) {
        match self {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {}
            Type::Tuple(items) => items.iter().for_each(|t| t.for_each_data(visit)),
            Type::Array(_, element) => element.for_each_data(visit),
            Type::Data(data) => visit(*data),
        }
    }

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
        use crate::entity::EntityRef;
        let mut roots = Vec::new();
        self.for_each_data(&mut |data| roots.push(data.index()));
        if roots.is_empty() {
            return None;
        }
        let found = crate::calls::strongly_connected(program.datas.len(), roots, |k, out| {
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
