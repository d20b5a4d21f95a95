//! Types. One grammar serves non-linear and linear values: a linear type is a type that is its
//! own tangent type.

use crate::entity::{DataId, NVar};
use crate::ir::Program;
use crate::scalar::Width;
use crate::size::Size;

/// The type of a value. Sizes in it mention names of the surrounding function (in a data
/// declaration: earlier fields of the same constructor, the k-th field as `NVar` number k).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// IEEE 754 binary float.
    Float(Width),
    /// 64-bit two's complement integer, wrapping.
    I64,
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
    /// IEEE 754 binary64.
    pub const F64: Type = Type::Float(Width::Double);

    /// Whether this is a float, of any width.
    pub fn is_float(&self) -> bool {
        matches!(self, Type::Float(_))
    }

    /// `[size]element`.
    pub fn array(size: Size, element: Type) -> Type {
        Type::Array(size, Box::new(element))
    }

    /// Whether this is a float, i64 or bool.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Float(_) | Type::I64 | Type::Bool)
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
            Type::Float(_) | Type::I64 | Type::Bool | Type::Data(_) => {}
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
            Type::Float(_) | Type::I64 | Type::Bool | Type::Data(_) => self.clone(),
            Type::Tuple(items) => Type::Tuple(items.iter().map(|t| t.subst(map)).collect()),
            Type::Array(size, element) => Type::array(size.subst(map), element.subst(map)),
        }
    }

    /// Whether an array occurs anywhere in the type, data types included.
    pub fn has_array(&self, program: &Program) -> bool {
        match self {
            Type::Float(_) | Type::I64 | Type::Bool => false,
            Type::Tuple(items) => items.iter().any(|t| t.has_array(program)),
            Type::Array(..) => true,
            Type::Data(d) => program.datas[*d]
                .constructors
                .iter()
                .any(|c| c.fields.iter().any(|f| f.ty.has_array(program))),
        }
    }

    /// Whether a float occurs anywhere in the type, data types included.
    pub fn has_float(&self, program: &Program) -> bool {
        match self {
            Type::Float(_) => true,
            Type::I64 | Type::Bool => false,
            Type::Tuple(items) => items.iter().any(|t| t.has_float(program)),
            Type::Array(_, element) => element.has_float(program),
            Type::Data(d) => program.datas[*d]
                .constructors
                .iter()
                .any(|c| c.fields.iter().any(|f| f.ty.has_float(program))),
        }
    }

    /// The tangent type: absent (`None`) when there is no float.
    /// A data type has the tuple of its fields' tangents, those of all its constructors one after
    /// the other: those of the constructors that a value does not have are zero. A data type with
    /// floats in arrays whose size is a field has no tangent type in this version (`Err` names it).
    pub fn tangent(&self, program: &Program) -> Result<Option<Type>, DataId> {
        Ok(match self {
            Type::Float(width) => Some(Type::Float(*width)),
            Type::I64 | Type::Bool => None,
            Type::Tuple(items) => {
                let mut present = Vec::new();
                for item in items {
                    present.extend(item.tangent(program)?);
                }
                (!present.is_empty()).then_some(Type::Tuple(present))
            }
            Type::Array(size, element) => {
                element.tangent(program)?.map(|t| Type::array(size.clone(), t))
            }
            Type::Data(d) => {
                if !self.has_float(program) {
                    return Ok(None);
                }
                let mut present = Vec::new();
                for field in program.datas[*d].constructors.iter().flat_map(|c| &c.fields) {
                    if let Some(t) = field.ty.tangent(program)? {
                        // A tangent whose size is a field would need a name for that field.
                        if !t.size_names().is_empty() {
                            return Err(*d);
                        }
                        present.push(t);
                    }
                }
                Some(Type::Tuple(present))
            }
        })
    }
}
