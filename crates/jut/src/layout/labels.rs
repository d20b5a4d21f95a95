//! Names of the components of tangents.
//!
//! The tangent of a record is the tuple of those of its fields that have floats ([`jut_ir::Type::tangent`]); at the
//! border its components have the names of these fields all the same, in JSON, in paths (`net.first.w`) and in C.
//! Those of a sum have the constructor's name before that of the field, and those of a tuple their numbers
//! among the components of the tuple.

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
