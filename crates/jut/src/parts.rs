//! Arguments taken apart into their leaves.
//!
//! Most leaves are borrowed from the argument. Two kinds are made ([`Columns`]): an array of a sum is given
//! as a list of its elements and becomes one array for each field; and a constructor that a value does
//! not have has leaves all the same, which are zero.

use crate::leaves::{columns, peel};
use crate::value::{Arg, Value};
use jut_ir::{Program, Size, Type};

/// Leaves that are made: those of arrays of sums, and of constructors that values do not have.
#[derive(Default, Debug)]
pub(crate) struct Columns {
    /// One after the other in the order of the leaves: for each the arrays of its fields, or why it
    /// has none.
    lists: Vec<Result<Vec<Value>, String>>,
    /// As many zeros as any array has that is not there.
    floats: Vec<f64>,
    singles: Vec<f32>,
    ints: Vec<i64>,
    narrow: Vec<i32>,
    bools: Vec<bool>,
}

/// Leaves that are made, still to be met.
pub(crate) struct Made<'a> {
    lists: std::slice::Iter<'a, Result<Vec<Value>, String>>,
    columns: &'a Columns,
}

impl Columns {
    /// Those in one value.
    pub fn of(program: &Program, ty: &Type, arg: Arg<'_>) -> Columns {
        let mut all = Columns::with_absent(absent_cells(program, ty));
        all.add(program, ty, arg);
        all
    }

    /// None yet; arrays that are not there have at most so many cells.
    pub fn with_absent(cells: usize) -> Columns {
        let (floats, singles) = (vec![0.0; cells], vec![0.0; cells]);
        let (ints, narrow, bools) = (vec![0; cells], vec![0; cells], vec![false; cells]);
        Columns { lists: Vec::new(), floats, singles, ints, narrow, bools }
    }

    /// To be met one after the other.
    pub fn made(&self) -> Made<'_> {
        Made { lists: self.lists.iter(), columns: self }
    }

    /// Adds those in one more value.
    pub fn add(&mut self, program: &Program, ty: &Type, arg: Arg<'_>) {
        if !has_list(program, ty) {
            return;
        }
        let (rank, base) = peel(ty);
        let fields: Vec<&Type> = match base {
            Type::Tuple(items) => items.iter().collect(),
            Type::Data(id) => match (program.datas[*id].constructors.as_slice(), arg) {
                (_, Arg::List(items)) if rank > 0 => {
                    let cells = |element| cells(program, base, element);
                    self.lists.push(columns(program, base, rank, items, cells));
                    return;
                }
                ([con], _) => con.fields.iter().map(|f| &f.ty).collect(),
                (_, _) if rank > 0 => {
                    self.lists.push(Err("give a list of its elements".to_string()));
                    return;
                }
                (cons, Arg::Data(name, _)) => {
                    let con = cons.iter().filter(|con| con.name == name);
                    con.flat_map(|con| con.fields.iter().map(|f| &f.ty)).collect()
                }
                _ => return,
            },
            _ => return,
        };
        for (k, field) in fields.into_iter().enumerate() {
            // The dimensions of an array of tuples stand round each of its parts.
            let around = (0..rank).fold(field.clone(), |ty, _| Type::array(Size::default(), ty));
            self.add(program, &around, component(arg, k));
        }
    }
}

/// Whether arrays of sums occur in a type.
pub(crate) fn has_list(program: &Program, ty: &Type) -> bool {
    fn within(program: &Program, ty: &Type, in_array: bool) -> bool {
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => false,
            Type::Array(_, element) => within(program, element, true),
            Type::Tuple(items) => items.iter().any(|t| within(program, t, in_array)),
            Type::Data(id) => {
                let constructors = &program.datas[*id].constructors;
                let fields = constructors.iter().flat_map(|c| &c.fields);
                in_array && constructors.len() != 1
                    || fields.map(|f| &f.ty).any(|t| within(program, t, in_array))
            }
        }
    }
    within(program, ty, false)
}

/// The scalars of an element of an array of a sum.
fn cells(program: &Program, sum: &Type, element: &Value) -> Result<Vec<Value>, String> {
    let mut parts = Vec::new();
    let none = Columns::default();
    take_apart(program, sum, element.into(), &mut none.made(), &mut parts)?;
    let scalar = |part: Arg<'_>| match part {
        Arg::F64(x) => Ok(Value::F64(x)),
        Arg::F32(x) => Ok(Value::F32(x)),
        Arg::I32(x) => Ok(Value::I32(x)),
        Arg::I64(x) => Ok(Value::I64(x)),
        Arg::Bool(x) => Ok(Value::Bool(x)),
        other => Err(format!("a field is {}", other.describe())),
    };
    parts.into_iter().map(scalar).collect()
}

/// The leaves of an argument; `made` are its [`Columns`].
pub(crate) fn take_apart<'a>(
    program: &Program,
    ty: &Type,
    arg: Arg<'a>,
    made: &mut Made<'a>,
    out: &mut Vec<Arg<'a>>,
) -> Result<(), String> {
    take_apart_in(program, ty, false, arg, made, out)
}

fn take_apart_in<'a>(
    program: &Program,
    ty: &Type,
    in_array: bool,
    arg: Arg<'a>,
    made: &mut Made<'a>,
    out: &mut Vec<Arg<'a>>,
) -> Result<(), String> {
    let expect = |count: usize| match arg {
        Arg::Tuple(items) if items.len() == count => Ok(()),
        Arg::Values(items) | Arg::Data(_, items) if items.len() == count => Ok(()),
        _ => Err(format!("give its {count} components in order")),
    };
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => match arg {
            // Views are made slices before arguments are taken apart, but for those in tuples.
            Arg::F64View(_) | Arg::I64View(_) | Arg::BoolView(_) => {
                return Err("as part of a tuple or record, give a slice and not a view".into());
            }
            _ => out.push(arg),
        },
        Type::Array(_, element) => take_apart_in(program, element, true, arg, made, out)?,
        Type::Tuple(items) => {
            let items = program.components(items);
            expect(items.len())?;
            for (k, item) in items.iter().enumerate() {
                take_apart_in(program, item, in_array, component(arg, k), made, out)?;
            }
        }
        Type::Data(id) => {
            let constructors = &program.datas[*id].constructors;
            if in_array && constructors.len() != 1 {
                let missing = || Err("give a list of its elements".to_string());
                let list =
                    made.lists.next().map_or_else(missing, |l| l.as_ref().map_err(Clone::clone))?;
                out.extend(list.iter().map(column));
                return Ok(());
            }
            let chosen = match (constructors.as_slice(), arg) {
                ([_], _) => 0,
                (cons, Arg::Data(name, _)) => {
                    let names = || cons.iter().map(|c| c.name.as_str()).collect::<Vec<_>>();
                    let chosen = cons.iter().position(|c| c.name == name);
                    let chosen = chosen
                        .ok_or_else(|| format!("the constructors are {}", names().join(", ")))?;
                    out.push(Arg::I64(i64::try_from(chosen).unwrap_or(i64::MAX)));
                    chosen
                }
                _ => return Err("give the constructor and its fields".into()),
            };
            for (number, con) in constructors.iter().enumerate() {
                if number == chosen {
                    expect(con.fields.len())?;
                }
                for (k, field) in con.fields.iter().enumerate() {
                    if number == chosen {
                        let part = component(arg, k);
                        take_apart_in(program, &field.ty, in_array, part, made, out)?;
                    } else {
                        absent(program, &field.ty, None, made.columns, out);
                    }
                }
            }
        }
    }
    Ok(())
}

/// A field of an array of a sum. Of a list of rows that has none, nobody knows how long they are.
fn column(values: &Value) -> Arg<'_> {
    let unknown = |shape: &[usize]| shape.split_last().is_some_and(|(_, outer)| outer.contains(&0));
    match Arg::from(values) {
        Arg::F64s(_, Some(shape)) if unknown(shape) => Arg::F64s(&[], None),
        Arg::F32s(_, Some(shape)) if unknown(shape) => Arg::F32s(&[], None),
        Arg::I32s(_, Some(shape)) if unknown(shape) => Arg::I32s(&[], None),
        Arg::I64s(_, Some(shape)) if unknown(shape) => Arg::I64s(&[], None),
        Arg::Bools(_, Some(shape)) if unknown(shape) => Arg::Bools(&[], None),
        arg => arg,
    }
}

/// The leaves of a field that is not there: `cells` of them, if it is a part of an array. A size that
/// is a field of the same constructor is 0 then.
fn absent<'a>(
    program: &Program,
    ty: &Type,
    cells: Option<usize>,
    zeros: &'a Columns,
    out: &mut Vec<Arg<'a>>,
) {
    match (ty, cells) {
        (&Type::F32, Some(n)) => out.push(Arg::F32s(zeros.singles.get(..n).unwrap_or(&[]), None)),
        (Type::I32, Some(n)) => out.push(Arg::I32s(zeros.narrow.get(..n).unwrap_or(&[]), None)),
        (Type::Float(_), Some(n)) => {
            out.push(Arg::F64s(zeros.floats.get(..n).unwrap_or(&[]), None))
        }
        (Type::I64, Some(n)) => out.push(Arg::I64s(zeros.ints.get(..n).unwrap_or(&[]), None)),
        (Type::Bool, Some(n)) => out.push(Arg::Bools(zeros.bools.get(..n).unwrap_or(&[]), None)),
        (&Type::F32, None) => out.push(Arg::F32(0.0)),
        (Type::I32, None) => out.push(Arg::I32(0)),
        (Type::Float(_), None) => out.push(Arg::F64(0.0)),
        (Type::I64, None) => out.push(Arg::I64(0)),
        (Type::Bool, None) => out.push(Arg::Bool(false)),
        (Type::Array(size, element), _) => {
            let cells = cells.unwrap_or(1).saturating_mul(size_if_absent(size));
            absent(program, element, Some(cells), zeros, out);
        }
        (Type::Tuple(items), _) => {
            items.iter().for_each(|t| absent(program, t, cells, zeros, out));
        }
        (Type::Data(id), _) => {
            let constructors = &program.datas[*id].constructors;
            if constructors.len() != 1 {
                absent(program, &Type::I64, cells, zeros, out);
            }
            let fields = constructors.iter().flat_map(|c| &c.fields);
            fields.for_each(|f| absent(program, &f.ty, cells, zeros, out));
        }
    }
}

/// The size of an array that is not there, and so has fields of 0.
fn size_if_absent(size: &Size) -> usize {
    size.exact(&mut |_| 0).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// The most cells that an array has that is not there in a value of a type, within reason.
pub(crate) fn absent_cells(program: &Program, ty: &Type) -> usize {
    /// Beyond this, an argument does not fit.
    const MOST: usize = 1 << 24;
    fn cells(program: &Program, ty: &Type, within_sum: bool, cells_above: Option<usize>) -> usize {
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {
                cells_above.filter(|_| within_sum).unwrap_or(0)
            }
            Type::Array(size, element) => {
                let above = cells_above.unwrap_or(1).saturating_mul(size_if_absent(size));
                cells(program, element, within_sum, Some(above))
            }
            Type::Tuple(items) => {
                let items = items.iter().map(|t| cells(program, t, within_sum, cells_above));
                items.max().unwrap_or(0)
            }
            Type::Data(id) => {
                let constructors = &program.datas[*id].constructors;
                let within_sum = within_sum || constructors.len() != 1;
                let fields = constructors.iter().flat_map(|c| &c.fields);
                let fields = fields.map(|f| cells(program, &f.ty, within_sum, cells_above));
                fields.max().unwrap_or(0)
            }
        }
    }
    cells(program, ty, false, None).min(MOST)
}

/// The k-th component. Where there is none, the argument itself, which then fits nothing.
fn component(arg: Arg<'_>, k: usize) -> Arg<'_> {
    let part = match arg {
        Arg::Tuple(items) => items.get(k).copied(),
        Arg::Values(items) | Arg::Data(_, items) => items.get(k).map(Arg::from),
        _ => None,
    };
    part.unwrap_or(arg)
}
