//! Declarations of data types.

use crate::entity::{DataId, EntityRef, NVar};
use crate::names::Name;
use crate::size::Size;
use crate::span::Span;
use crate::types::Type;
use std::ops::Range;

/// A data type: one constructor makes a record, several make a sum.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Data {
    /// Its name, such as `Polar` or `f.tape1`.
    pub name: String,
    /// The constructors in order.
    pub constructors: Vec<Constructor>,
    /// The data type of its tangents, if that is declared ([`crate::tangent`]); itself, if it is one.
    pub tangent: Option<DataId>,
    /// If it is the mark of a record with sizes as parameters, that record ([`crate::record`]).
    pub record: Option<Box<Record>>,
    /// Doc comment, without the slashes.
    pub doc: String,
    /// The declaration in the user's text.
    pub span: Span,
}

/// A constructor with telescoped fields: the type of a field may mention earlier i64 fields, the
/// k-th field being written as the `NVar` with number k.
#[derive(Clone, PartialEq, Debug)]
pub struct Constructor {
    /// Its name, such as `Polar` or `f.tape1.true`.
    pub name: String,
    /// The fields in order.
    pub fields: Vec<Field>,
}

/// A field of a constructor.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// What the mark of a record with sizes as parameters stands for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    /// The sizes.
    pub params: Vec<Name>,
    /// The components, those of the constructors one after the other; in their types the k-th parameter is the `NVar`
    /// with number k.
    pub fields: Vec<Field>,
    /// How many components each constructor has.
    pub counts: Vec<usize>,
}

impl Record {
    /// Whether there are several constructors.
    pub fn is_sum(&self) -> bool {
        self.counts.len() != 1
    }

    /// The numbers of the components of a constructor.
    pub fn of_constructor(&self, index: usize) -> Range<usize> {
        let start = self.counts.iter().take(index).sum();
        start..start + self.counts.get(index).copied().unwrap_or(0)
    }

    /// The components of a constructor.
    pub fn fields_of(&self, index: usize) -> &[Field] {
        self.fields.get(self.of_constructor(index)).unwrap_or_default()
    }

    /// The number of the constructor that has a component.
    pub fn constructor_of(&self, component: usize) -> usize {
        let has = |index: &usize| self.of_constructor(*index).contains(&component);
        (0..self.counts.len()).find(has).unwrap_or(0)
    }

    /// The parameters of a record with these components, as far as they follow from them.
    pub fn sizes(&self, items: &[Type]) -> Vec<Option<Size>> {
        let mut sizes = vec![None; self.params.len()];
        for (field, item) in self.fields.iter().zip(items) {
            solve(&field.ty, item, &mut sizes);
        }
        sizes
    }

    /// The types of the components for given parameters.
    pub fn components(&self, sizes: &[Size]) -> Vec<Type> {
        let size = |v: NVar| sizes.get(v.index()).cloned();
        self.fields.iter().map(|field| field.ty.subst(&mut |v| size(v))).collect()
    }
}

/// Finds parameters that stand alone, or with a number added, in the declared type.
fn solve(declared: &Type, given: &Type, sizes: &mut [Option<Size>]) {
    match (declared, given) {
        (Type::Array(declared, element), Type::Array(size, inner)) => {
            if let Some((parameter, more)) = parameter(declared)
                && let Some(place) = sizes.get_mut(parameter.index())
            {
                place.get_or_insert_with(|| size.clone() - more);
            }
            solve(element, inner, sizes);
        }
        (Type::Tuple(declared), Type::Tuple(given)) => {
            declared.iter().zip(given).for_each(|(d, g)| solve(d, g, sizes));
        }
        _ => {}
    }
}

/// A parameter that stands alone or with a number added: `m + 1` as m and 1.
pub fn parameter(declared: &Size) -> Option<(NVar, Size)> {
    let names = declared.names();
    let [only] = names[..] else { return None };
    let more = declared.clone() - Size::var(only);
    more.names().is_empty().then_some((only, more))
}
