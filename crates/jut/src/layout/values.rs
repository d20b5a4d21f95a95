//! Values made of leaves, and arrays made of their elements.

use super::{Constructor, Form, Layout, Node, Part, is_flat, peel};
use crate::value::{Array, Number, Value, numbers};
use jut_ir::{Program, Size, Type};

impl Layout {
    /// A value of its leaves; `None` if they are not those of one.
    pub fn rebuild<'v>(&self, leaves: impl IntoIterator<Item = &'v Value>) -> Option<Value> {
        self.root.rebuild(&mut leaves.into_iter())
    }
}

impl Part<'_> {
    /// A value of its leaves.
    pub fn rebuild<'v>(&self, leaves: impl IntoIterator<Item = &'v Value>) -> Option<Value> {
        self.0.rebuild(&mut leaves.into_iter())
    }
}

impl Node {
    fn rebuild(&self, leaves: &mut dyn Iterator<Item = &Value>) -> Option<Value> {
        match &self.form {
            Form::Leaf => leaves.next().cloned(),
            Form::Tuple(components) => {
                let items = components.iter().map(|component| component.node.rebuild(leaves));
                items.collect::<Option<_>>().map(Value::Tuple)
            }
            Form::Sum(constructors) => rebuild_sum(constructors, leaves),
            Form::List(constructors) => {
                let columns: Vec<&Value> = leaves.take(self.leaves.len()).collect();
                rebuild_list(constructors, &columns)
            }
        }
    }
}

fn rebuild_sum(
    constructors: &[Constructor],
    leaves: &mut dyn Iterator<Item = &Value>,
) -> Option<Value> {
    let Some(Value::I64(tag)) = leaves.next() else { return None };
    let mut chosen = None;
    for (number, con) in constructors.iter().enumerate() {
        let fields = con.fields.iter().map(|field| field.node.rebuild(leaves));
        let fields: Option<Vec<Value>> = fields.collect();
        if i64::try_from(number).ok() == Some(*tag) {
            chosen = fields.map(|fields| Value::Data(con.name.clone(), fields));
        }
    }
    chosen
}

/// The elements of an array of a sum, of its leaves: one array for each leaf of the sum.
fn rebuild_list(constructors: &[Constructor], columns: &[&Value]) -> Option<Value> {
    let Some(Value::I64s(tags)) = columns.first() else { return None };
    fn cell(column: &Value, k: usize) -> Option<Value> {
        numbers!(Value, column; _ => None, [a] => a.data.get(k).map(|x| x.value()), _ => None)
    }
    let element = |k: usize| {
        let cells: Option<Vec<Value>> = columns.iter().map(|column| cell(column, k)).collect();
        rebuild_sum(constructors, &mut cells?.iter())
    };
    let mut items: Vec<Value> = (0..tags.data.len()).map(element).collect::<Option<_>>()?;
    for axis in (1..tags.shape.len()).rev() {
        let (outer, size) = (tags.shape[..axis].iter().product(), tags.shape[axis]);
        let mut cells = items.into_iter();
        items = (0..outer).map(|_| Value::List(cells.by_ref().take(size).collect())).collect();
    }
    Some(Value::List(items))
}

/// Elements of one type become an array: a flat one, a tuple of such, or a list. `None` if their sizes
/// differ.
pub(crate) fn stack(program: &Program, element: &Type, items: &[Value]) -> Option<Value> {
    let (rank, base) = peel(element);
    let parts: Vec<&Type> = match base {
        &Type::F32 => return block(items, rank).map(Value::F32s),
        Type::I32 => return block(items, rank).map(Value::I32s),
        Type::Float(_) => return block(items, rank).map(Value::F64s),
        Type::I64 => return block(items, rank).map(Value::I64s),
        Type::Bool => return block(items, rank).map(Value::Bools),
        Type::Array(..) => return None,
        Type::Tuple(parts) => program.components(parts).iter().collect(),
        Type::Data(id) => match program.datas[*id].constructors.as_slice() {
            [con] if is_flat(program, &Type::array(Size::default(), base.clone())) => {
                con.fields.iter().map(|f| &f.ty).collect()
            }
            _ => return Some(Value::List(items.to_vec())),
        },
    };
    let column = |(k, part): (usize, &&Type)| {
        // The dimensions of the element stand round each of its parts.
        let around = (0..rank).fold((*part).clone(), |ty, _| Type::array(Default::default(), ty));
        let field = |item: &Value| match item {
            Value::Tuple(fields) => fields.get(k).cloned(),
            _ => None,
        };
        let column: Option<Vec<Value>> = items.iter().map(field).collect();
        stack(program, &around, &column?)
    };
    parts.iter().enumerate().map(column).collect::<Option<_>>().map(Value::Tuple)
}

/// Scalars or arrays of one shape, one after the other.
fn block<T: Number>(items: &[Value], rank: usize) -> Option<Array<T>> {
    let mut shape = vec![0; rank];
    let mut data = Vec::new();
    for (k, item) in items.iter().enumerate() {
        let (inner, cells) = T::cells(item)?;
        if k == 0 {
            shape = inner.to_vec();
        } else if shape != inner {
            return None;
        }
        data.extend_from_slice(cells);
    }
    shape.insert(0, items.len());
    Some(Array { shape, data })
}
