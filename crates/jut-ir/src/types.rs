//! Types. One grammar serves non-linear and linear values: a linear type is a type that is its
//! own tangent type.

use crate::entity::{DataId, NVar};
use crate::scalar::{Literal, Scalar, Width};
use crate::size::Size;

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

    /// Every size in the type, outermost first: the dimensions of an array of numbers.
    pub fn dimensions(&self) -> Vec<Size> {
        let mut dims = Vec::new();
        self.for_each_size(&mut |size| dims.push(size.clone()));
        dims
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
}

impl Scalar {
    /// The type of values.
    pub fn ty(self) -> Type {
        match self {
            Scalar::Float(width) => Type::Float(width),
            Scalar::I64 => Type::I64,
            Scalar::I32 => Type::I32,
            Scalar::Bool => Type::Bool,
        }
    }

    /// The scalar that a type is, if it is one.
    pub fn of(ty: &Type) -> Option<Scalar> {
        match ty {
            Type::Float(width) => Some(Scalar::Float(*width)),
            Type::I64 => Some(Scalar::I64),
            Type::I32 => Some(Scalar::I32),
            Type::Bool => Some(Scalar::Bool),
            Type::Tuple(_) | Type::Array(..) | Type::Data(_) => None,
        }
    }
}

impl Literal {
    /// Its type.
    pub fn ty(self) -> Type {
        self.scalar().ty()
    }
}
