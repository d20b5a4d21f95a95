//! Values as lists of integers and floats.
//!
//! The tangent of a value of a data type whose tangents are declared ([`jut_ir::tangent`]) is seen as the value is: with
//! the constructor's name, and those of its fields that have floats. A tangent that is zero whatever the value is looks
//! like the value, with zeros; where no value is known it is `zero`.

use crate::layout::peel;
use crate::value::{Arg, Array, Number, Value, cells, numbers};
use jut_ir::entity::EntityRef;
use jut_ir::{ConRef, Constructor, DataId, NVar, Program, Size, Type, Width};
use std::borrow::Cow;

/// How many data values may be in each other in what a caller gives or gets: what is taken apart by functions that
/// call themselves, the caller's own among them (a value is given back by one), has to fit on any stack.
pub(crate) const LEVELS: usize = 1000;

/// The tangent that is zero, of any value.
pub(crate) const ZERO: &str = "zero";

/// What has to be left of a thread's stack for values as deep as they may be to be given back, compared and so on.
const RESERVE: usize = 256 << 10;

/// Whether there may be a value in so many others, on this thread.
pub(crate) fn has_room(level: usize) -> bool {
    level < LEVELS && jut_runtime::stack::fits(RESERVE)
}

pub(crate) fn too_deep() -> String {
    format!(
        "more than {LEVELS} values are in each other, or than the stack of the thread has room for"
    )
}

/// A value in lists.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub ints: Vec<i64>,
    pub floats: Vec<f64>,
    /// Sizes that the function names, and what they are.
    pub sizes: Vec<(Size, i64)>,
}

impl Packed {
    /// As the record of the lists.
    pub fn into_value(self) -> Value {
        let as_i64 = |n: usize| Value::I64(i64::try_from(n).unwrap_or(i64::MAX));
        let (m, k) = (self.ints.len(), self.floats.len());
        let ints = Value::I64s(Array { shape: vec![m], data: self.ints });
        let floats = Value::F64s(Array { shape: vec![k], data: self.floats });
        Value::Tuple(vec![as_i64(m), ints, as_i64(k), floats])
    }
}

/// The lists of a value.
///
/// # Errors
/// What does not fit, in words.
pub(crate) fn pack(program: &Program, ty: &Type, arg: Arg<'_>) -> Result<Packed, String> {
    let mut packer = Packer { program, out: Packed::default() };
    packer.add(ty, arg, None, 0)?;
    Ok(packer.out)
}

/// The values of the fields before, those of integers.
type Scope<'s> = Option<&'s [Option<i64>]>;

struct Packer<'p> {
    program: &'p Program,
    out: Packed,
}

impl Packer<'_> {
    fn add(
        &mut self,
        ty: &Type,
        arg: Arg<'_>,
        scope: Scope<'_>,
        level: usize,
    ) -> Result<(), String> {
        match (ty, arg) {
            (Type::Float(Width::Double), Arg::F64(x)) => self.out.floats.push(x),
            (Type::Float(Width::Single), Arg::F32(x)) => self.out.floats.push(x.into()),
            (Type::I64, Arg::I64(n)) => self.out.ints.push(n),
            (Type::I32, Arg::I32(n)) => self.out.ints.push(n.into()),
            (Type::Bool, Arg::Bool(b)) => self.out.ints.push(b.into()),
            (Type::Float(width), arg) => {
                return Err(expected(&format!("an {}", width.name()), arg));
            }
            (Type::I64, arg) => return Err(expected("an i64", arg)),
            (Type::I32, arg) => return Err(expected("an i32", arg)),
            (Type::Bool, arg) => return Err(expected("a bool", arg)),
            (Type::Tuple(items), arg) => {
                let items = self.program.components(items);
                let parts = components(arg, items.len())?;
                for (ty, part) in items.iter().zip(parts) {
                    self.add(ty, part, scope, level)?;
                }
            }
            (Type::Data(_), _) if !has_room(level) => return Err(too_deep()),
            (Type::Data(id), arg) if self.program.is_tangent(*id) => {
                self.add_tangent(*id, arg, level)?;
            }
            (Type::Data(id), arg) => {
                let (index, items) = chosen(&self.program.datas[*id].constructors, arg)?;
                if self.program.datas[*id].constructors.len() != 1 {
                    self.out.ints.push(index as i64);
                }
                let con = &self.program.datas[*id].constructors[index];
                let mut known = Vec::new();
                for (field, item) in con.fields.iter().zip(items) {
                    self.add(&field.ty, item, Some(&known), level + 1)
                        .map_err(|e| within(&field.name, e))?;
                    known.push(match item {
                        Arg::I64(n) => Some(n),
                        _ => None,
                    });
                }
            }
            (Type::Array(..), arg) => self.add_array(ty, arg, scope, level)?,
        }
        Ok(())
    }

    fn add_array(
        &mut self,
        ty: &Type,
        arg: Arg<'_>,
        scope: Scope<'_>,
        level: usize,
    ) -> Result<(), String> {
        let (rank, base) = peel(ty);
        let mut sizes = Vec::new();
        ty.for_each_size(&mut |size| sizes.push(size.clone()));
        let shape = |len: usize, shape: Option<&[usize]>| match shape {
            None if rank == 1 => Ok(vec![len]),
            Some(shape) if shape.len() == rank && cells(shape) == Some(len) => Ok(shape.to_vec()),
            None => Err("give the shape together with the elements".to_string()),
            Some(_) => Err(expected(&format!("an array of {rank} dimensions"), arg)),
        };
        match (base, arg) {
            (Type::Float(Width::Double), Arg::F64s(data, given)) => {
                self.add_sizes(&sizes, &shape(data.len(), given)?, scope)?;
                self.out.floats.extend(data);
            }
            (Type::Float(Width::Single), Arg::F32s(data, given)) => {
                self.add_sizes(&sizes, &shape(data.len(), given)?, scope)?;
                self.out.floats.extend(data.iter().map(|x| f64::from(*x)));
            }
            (Type::I64, Arg::I64s(data, given)) => {
                self.add_sizes(&sizes, &shape(data.len(), given)?, scope)?;
                self.out.ints.extend(data);
            }
            (Type::I32, Arg::I32s(data, given)) => {
                self.add_sizes(&sizes, &shape(data.len(), given)?, scope)?;
                self.out.ints.extend(data.iter().map(|n| i64::from(*n)));
            }
            (Type::Bool, Arg::Bools(data, given)) => {
                self.add_sizes(&sizes, &shape(data.len(), given)?, scope)?;
                self.out.ints.extend(data.iter().map(|b| i64::from(*b)));
            }
            (Type::Float(_) | Type::I64 | Type::I32 | Type::Bool, arg) => {
                return Err(expected("an array", arg));
            }
            (_, arg) => {
                let array = owned(arg).ok_or_else(|| expected("a list", arg))?;
                let mut shape = vec![None; rank];
                let mut elements = Vec::new();
                collect(Cow::Owned(array), &mut shape, 0, &mut elements)?;
                let shape: Vec<usize> = shape.into_iter().map(Option::unwrap_or_default).collect();
                self.add_sizes(&sizes, &shape, scope)?;
                for (k, element) in elements.iter().enumerate() {
                    let element = Arg::from(&**element);
                    self.add(base, element, scope, level)
                        .map_err(|e| within(&format!("element {k}"), e))?;
                }
            }
        }
        Ok(())
    }

    /// The sizes of an array, which must be those of its type.
    fn add_sizes(
        &mut self,
        sizes: &[Size],
        shape: &[usize],
        scope: Scope<'_>,
    ) -> Result<(), String> {
        // Of a list without rows nobody knows how long these are.
        let mut known_here = true;
        for (size, n) in sizes.iter().zip(shape) {
            let known_before = known_here;
            known_here &= *n > 0;
            let n = i64::try_from(*n).unwrap_or(i64::MAX);
            self.out.ints.push(n);
            if !known_before {
                continue;
            }
            let declared = match (size.as_constant(), scope) {
                (Some(n), _) => n,
                (None, Some(known)) => exact(size, known)
                    .ok_or_else(|| "its size is more than an i64 holds".to_string())?,
                (None, None) => {
                    self.out.sizes.push((size.clone(), n));
                    continue;
                }
            };
            if declared != n {
                return Err(format!("expected {declared} elements, got {n}"));
            }
        }
        Ok(())
    }

    /// The tangent of a value of a data type.
    fn add_tangent(&mut self, tangent: DataId, arg: Arg<'_>, level: usize) -> Result<(), String> {
        let program = self.program;
        let Some(source) = program.tangent_of(tangent) else {
            return Err("it is no tangent".to_string());
        };
        let constructors = &program.datas[source].constructors;
        if let Arg::Data(ZERO, []) = arg
            && constructors.iter().all(|con| con.name != ZERO)
        {
            self.out.ints.push(0);
            return Ok(());
        }
        let index = match (constructors.as_slice(), arg) {
            ([_], _) => 0,
            (_, arg) => named(constructors, arg)?,
        };
        let con = ConRef { data: source, index: index as u32 };
        let Some(con) = program.tangent_constructor(con) else {
            components(arg, 0)?;
            self.out.ints.push(0);
            return Ok(());
        };
        let fields = &program.constructor(con).fields;
        let parts: Vec<&Type> = fields.iter().map(|f| &f.ty).filter(|t| **t != Type::I64).collect();
        let items = tangent_parts(program, con, arg, parts.len())?;
        self.out.ints.push(con.index.into());
        let (mut known, mut rest) = (Vec::new(), items.iter());
        for (k, field) in fields.iter().enumerate() {
            if field.ty == Type::I64 {
                let v = NVar::new(k);
                let found = parts
                    .iter()
                    .zip(&items)
                    .find_map(|(ty, item)| size_in(self.program, ty, *item, v));
                let n =
                    found.ok_or_else(|| format!("no array in it says what `{}` is", field.name))?;
                self.out.ints.push(n);
                known.push(Some(n));
                continue;
            }
            let Some(item) = rest.next() else { break };
            self.add(&field.ty, *item, Some(&known), level + 1)
                .map_err(|e| within(&field.name, e))?;
            known.push(None);
        }
        Ok(())
    }
}

/// The parts of a tangent with floats, which are so many; the sizes of its type may stand in it too, as in a value.
pub(super) fn tangent_parts<'a>(
    program: &Program,
    tangent: ConRef,
    arg: Arg<'a>,
    count: usize,
) -> Result<Vec<Arg<'a>>, String> {
    let fields = &program.constructor(tangent).fields;
    match components(arg, fields.len()) {
        Ok(all) if fields.len() > count => {
            let all = fields.iter().zip(all).filter(|(f, _)| f.ty != Type::I64);
            Ok(all.map(|(_, item)| item).collect())
        }
        _ => components(arg, count),
    }
}

/// What a size is, by an array that has it.
fn size_in(program: &Program, ty: &Type, arg: Arg<'_>, name: NVar) -> Option<i64> {
    match ty {
        Type::Array(size, _) if size.as_var() == Some(name) => {
            owned(arg)?.first_size().and_then(|n| i64::try_from(n).ok())
        }
        Type::Array(_, element) => {
            size_in(program, element, (&owned(arg)?.element(0)?).into(), name)
        }
        Type::Tuple(items) => {
            let items = program.components(items);
            let parts = components(arg, items.len()).ok()?;
            items.iter().zip(parts).find_map(|(ty, part)| size_in(program, ty, part, name))
        }
        _ => None,
    }
}

fn exact(size: &Size, known: &[Option<i64>]) -> Option<i64> {
    let mut all = true;
    let value = size.exact(&mut |v| {
        let n = known.get(v.index()).copied().flatten();
        all &= n.is_some();
        n.unwrap_or_default()
    });
    value.filter(|_| all)
}

fn expected(what: &str, arg: Arg<'_>) -> String {
    format!("expected {what}, got {}", arg.describe())
}

/// An error in a part. Of paths through many levels the beginning is enough.
pub(super) fn within(part: &str, error: String) -> String {
    if error.len() > 200 { error } else { format!("{part}: {error}") }
}

/// The components of a tuple, or the fields of a constructor.
pub(super) fn components(arg: Arg<'_>, count: usize) -> Result<Vec<Arg<'_>>, String> {
    let parts: Vec<Arg<'_>> = match arg {
        Arg::Tuple(items) => items.to_vec(),
        Arg::Values(items) | Arg::Data(_, items) => items.iter().map(Arg::from).collect(),
        _ => return Err(expected("components in order", arg)),
    };
    match parts.len() == count {
        true => Ok(parts),
        false => Err(format!("expected {count} components in order, got {}", parts.len())),
    }
}

/// The constructor of a value, and its fields.
fn chosen<'a>(constructors: &[Constructor], arg: Arg<'a>) -> Result<(usize, Vec<Arg<'a>>), String> {
    let index = match constructors {
        [_] => 0,
        _ => named(constructors, arg)?,
    };
    let count = constructors.get(index).map_or(0, |con| con.fields.len());
    Ok((index, components(arg, count)?))
}

/// The constructor that a value names.
fn named(constructors: &[Constructor], arg: Arg<'_>) -> Result<usize, String> {
    let names = || constructors.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let Arg::Data(name, _) = arg else {
        return Err(expected(&format!("a constructor ({}) and its fields", names()), arg));
    };
    let found = constructors.iter().position(|con| con.name == name);
    found.ok_or_else(|| format!("`{name}` is not one of {}", names()))
}

/// The elements of an array of so many dimensions.
fn collect<'v>(
    array: Cow<'v, Value>,
    shape: &mut [Option<usize>],
    axis: usize,
    out: &mut Vec<Cow<'v, Value>>,
) -> Result<(), String> {
    let Some(size) = shape.get_mut(axis) else {
        out.push(array);
        return Ok(());
    };
    let n = array.first_size().ok_or_else(|| expected("a list", (&*array).into()))?;
    if *size.get_or_insert(n) != n {
        return Err("the lists in it have different lengths".to_string());
    }
    let elements: Vec<Cow<'v, Value>> = match array {
        Cow::Owned(Value::List(items)) => items.into_iter().map(Cow::Owned).collect(),
        Cow::Borrowed(Value::List(items)) => items.iter().map(Cow::Borrowed).collect(),
        array => {
            let element = |k| array.element(k).map(Cow::Owned);
            let elements: Option<_> = (0..n).map(element).collect();
            elements.ok_or_else(|| "its parts have different lengths".to_string())?
        }
    };
    elements.into_iter().try_for_each(|element| collect(element, shape, axis + 1, out))
}

/// An argument as a value; none for a view, and for an array of several dimensions without a shape.
pub(crate) fn owned(arg: Arg<'_>) -> Option<Value> {
    fn array<T: Clone>(data: &[T], shape: Option<&[usize]>) -> Array<T> {
        Array {
            shape: shape.map_or_else(|| vec![data.len()], <[usize]>::to_vec),
            data: data.to_vec(),
        }
    }
    Some(numbers!(Arg, arg;
        x => x.value(),
        [data, shape] => Number::values(array(data, shape)),
        Arg::Tuple(items) => Value::Tuple(items.iter().map(|a| owned(*a)).collect::<Option<_>>()?),
        Arg::Values(items) => Value::Tuple(items.to_vec()),
        Arg::Data(name, items) => Value::Data(name.to_string(), items.to_vec()),
        Arg::List(items) => Value::List(items.to_vec()),
        Arg::F64View(_) | Arg::I64View(_) | Arg::BoolView(_) => return None,
    ))
}
