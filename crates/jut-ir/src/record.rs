//! Records with sizes as parameters: `data Net[n] = Net(w: [n]f64, b: f64)`.
//!
//! The type `Net[k]` is a tuple with a mark behind its components, `#([k]f64, f64, Net)`: the mark is a data type with one
//! constructor and no fields, which has a [`Record`]. So sizes stand in such a type as in any other, arrays
//! of such records are tuples of arrays, tangents are tuples, and no pass, engine or rule of types knows of them. The
//! mark makes records of one shape different types, and says what the components are called, at the border too.
//!
//! The sizes of a record are those of its components: each parameter stands as a size of a field, alone or with a number
//! added, `start: [m + 1]i64`, so a type has one reading.

use crate::entity::{DataId, EntityRef, NVar};
use crate::ir::{Data, Field, Program};
use crate::names::Name;
use crate::size::Size;
use crate::types::Type;

/// What the mark of a record with sizes as parameters stands for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    /// The sizes.
    pub params: Vec<Name>,
    /// The components; in their types the k-th parameter is the `NVar` with number k.
    pub fields: Vec<Field>,
}

impl Record {
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

/// `m + 1` as m and 1.
fn parameter(declared: &Size) -> Option<(NVar, Size)> {
    let names = declared.names();
    let [only] = names[..] else { return None };
    let more = declared.clone() - Size::var(only);
    more.names().is_empty().then_some((only, more))
}

impl Program {
    /// The mark behind the components of a tuple, if it is a record with sizes, and what it stands for.
    pub fn record(&self, items: &[Type]) -> Option<(DataId, &Data, &Record)> {
        let Some(Type::Data(id)) = items.last() else { return None };
        let data = self.datas.get(*id)?;
        let record = data.record.as_deref()?;
        (items.len() == record.fields.len() + 1).then_some((*id, data, record))
    }

    /// The components of a tuple without the mark of a record: those that its values have at the border.
    ///
    /// ```
    /// use jut_ir::{Program, Type};
    /// let pair = [Type::F64, Type::I64];
    /// assert_eq!(Program::default().components(&pair), &pair);
    /// ```
    pub fn components<'t>(&self, items: &'t [Type]) -> &'t [Type] {
        match (self.record(items), items.split_last()) {
            (Some(_), Some((_, components))) => components,
            _ => items,
        }
    }
}
