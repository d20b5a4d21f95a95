//! Names of the components of tangents.
//!
//! The tangent of a record is the tuple of those of its fields that have floats ([`jut_ir::Type::tangent`]); at the
//! border its components have the names of these fields all the same, in JSON, in paths (`net.first.w`) and in C.
//! Those of a sum have the constructor's name before that of the field, and those of a tuple their numbers
//! among the components of the tuple.

use crate::leaves::peel;
use jut_ir::{Program, Type};

/// What the components of a tangent are called: nothing for what is no tuple.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Labels {
    /// Whether it is the tangent of a tuple, a list in JSON.
    is_list: bool,
    components: Vec<(String, Labels)>,
}

impl Labels {
    /// Those of the tangent of a value of a type.
    pub fn of_tangent(program: &Program, ty: &Type) -> Labels {
        let mut around = Vec::new();
        labels(program, ty, &mut around).unwrap_or_default()
    }

    /// Those of a block of partial derivatives: in the place of each number a value with other names.
    pub fn around(&self, inner: &Labels) -> Labels {
        if self.components.is_empty() {
            return inner.clone();
        }
        let around = |(name, part): &(String, Labels)| (name.clone(), part.around(inner));
        let components = self.components.iter().map(around).collect();
        Labels { is_list: self.is_list, components }
    }

    /// The names of a tuple's components and what is in them, if it has names.
    pub fn fields(&self, count: usize) -> Option<&[(String, Labels)]> {
        (!self.is_list && count > 0 && self.components.len() == count)
            .then_some(self.components.as_slice())
    }

    /// The component with a number.
    pub fn component(&self, number: usize) -> Option<&(String, Labels)> {
        self.components.get(number)
    }

    /// The names in a place of components by their numbers: `_first_w` for `_0_1`. Headers have them.
    #[cfg(any(feature = "aot", test))]
    pub fn suffix(&self, numbers: &str) -> String {
        let none = Labels::default();
        let mut at = self;
        let mut text = String::new();
        for number in numbers.split('_').filter(|part| !part.is_empty()) {
            let named = number.parse().ok().and_then(|number: usize| at.component(number));
            let name = named.map_or(number, |(name, _)| name.as_str());
            text.push('_');
            text.extend(name.chars().map(|c| if c == '.' { '_' } else { c }));
            // What has a name of its own is in a data type, whose parts have names too.
            at = named.map_or(&none, |(_, inner)| inner);
        }
        text
    }
}

/// Of a type that has a tangent; `around` are the data types that are being looked into.
fn labels(program: &Program, ty: &Type, around: &mut Vec<jut_ir::DataId>) -> Option<Labels> {
    match ty {
        Type::Float(_) => Some(Labels::default()),
        Type::I64 | Type::I32 | Type::Bool => None,
        Type::Array(_, element) => labels(program, element, around),
        Type::Tuple(items) => {
            if let Some((_, data, record)) = program.record(items) {
                let mut components = Vec::new();
                for (k, field) in record.fields.iter().enumerate() {
                    let Some(inner) = labels(program, &field.ty, around) else { continue };
                    let name = match record.is_sum() {
                        false => field.name.to_string(),
                        true => {
                            let con = &data.constructors[record.constructor_of(k)];
                            format!("{}.{}", con.name, field.name)
                        }
                    };
                    components.push((name, inner));
                }
                return (!components.is_empty()).then_some(Labels { is_list: false, components });
            }
            let named = |(k, item)| Some((format!("{k}"), labels(program, item, around)?));
            let components: Vec<_> = items.iter().enumerate().filter_map(named).collect();
            (!components.is_empty()).then_some(Labels { is_list: true, components })
        }
        Type::Data(id) => {
            if around.contains(id) {
                return None;
            }
            around.push(*id);
            let constructors = &program.datas[*id].constructors;
            let mut components = Vec::new();
            for con in constructors {
                for field in &con.fields {
                    let Some(inner) = labels(program, &field.ty, around) else { continue };
                    let name = match constructors.len() {
                        1 => field.name.to_string(),
                        _ => format!("{}.{}", con.name, field.name),
                    };
                    components.push((name, inner));
                }
            }
            around.pop();
            (!components.is_empty()).then_some(Labels { is_list: false, components })
        }
    }
}

/// A component of a value: its name, its type, and the names in it.
type Component<'t> = (&'t str, &'t Type, Option<&'t Labels>);

/// The part of a value that a path leads to: its type, and where its leaves begin among those of the value.
pub(crate) fn part<'t>(
    program: &'t Program,
    mut ty: &'t Type,
    labels: &'t Labels,
    mut path: &str,
) -> Option<(&'t Type, usize)> {
    let mut start = 0;
    let mut names = Some(labels);
    while !path.is_empty() {
        // An array of records is kept as the record of its arrays.
        let (rest, inner, before) = match peel(ty).1 {
            Type::Tuple(items)
                if let Some((.., record)) = program.record(items)
                    && !record.is_sum() =>
            {
                let named = |(field, item): (&'t jut_ir::Field, &'t Type)| -> Component<'t> {
                    (field.name.as_str(), item, None)
                };
                find(program, record.fields.iter().zip(items).map(named), path)?
            }
            Type::Tuple(items) => {
                let named = |(k, item): (usize, &'t Type)| -> Component<'t> {
                    match names.and_then(|names| names.component(k)) {
                        Some((name, inner)) => (name, item, Some(inner)),
                        None => (NUMBERS.get(k).copied().unwrap_or_default(), item, None),
                    }
                };
                find(program, items.iter().enumerate().map(named), path)?
            }
            Type::Data(id) => match program.datas[*id].constructors.as_slice() {
                [con] => {
                    let named = |field: &'t jut_ir::Field| -> Component<'t> {
                        (field.name.as_str(), &field.ty, None)
                    };
                    find(program, con.fields.iter().map(named), path)?
                }
                _ => return None,
            },
            _ => return None,
        };
        start += before;
        (path, ty, names) = (rest, inner.1, inner.2);
    }
    Some((ty, start))
}

/// The component that a path begins with, what is left of the path, and how many leaves stand before it.
fn find<'t, 'p>(
    program: &Program,
    components: impl Iterator<Item = Component<'t>>,
    path: &'p str,
) -> Option<(&'p str, Component<'t>, usize)> {
    let mut before = 0;
    for component in components {
        if let Some(rest) = path.strip_prefix(component.0)
            && !component.0.is_empty()
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return Some((rest.trim_start_matches('.'), component, before));
        }
        before += count(program, component.1);
    }
    None
}

/// How many leaves the values of a type have.
pub(crate) fn count(program: &Program, ty: &Type) -> usize {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => 1,
        Type::Array(_, element) => count(program, element),
        Type::Tuple(items) => items.iter().map(|item| count(program, item)).sum(),
        Type::Data(id) => {
            let constructors = &program.datas[*id].constructors;
            let fields = constructors.iter().flat_map(|con| &con.fields);
            usize::from(constructors.len() != 1)
                + fields.map(|field| count(program, &field.ty)).sum::<usize>()
        }
    }
}

/// The names of components of tuples, which paths give by number.
const NUMBERS: &[&str] =
    &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_named_as_far_as_there_are_names() {
        let leaf = |name: &str| (name.to_string(), Labels::default());
        let first = Labels { is_list: false, components: vec![leaf("w"), leaf("b")] };
        let components = vec![("first".to_string(), first), leaf("Circle.r")];
        let net = Labels { is_list: false, components };
        assert_eq!(net.suffix("_0_1"), "_first_b");
        assert_eq!(net.suffix("_1"), "_Circle_r");
        assert_eq!(net.suffix("_1_tag"), "_Circle_r_tag");
        assert_eq!(net.suffix("_own_0"), "_own_0");
        assert_eq!(net.suffix(""), "");
        assert_eq!(Labels::default().suffix("_0_1"), "_0_1");
    }
}
