//! Values out of lists of integers and floats, and whether tangents have the shape of their values.

use super::values::{ZERO, components, has_room, owned, tangent_parts, too_deep, within};
use crate::layout::{as_tangent, is_flat, peel, stack};
use crate::value::{Arg, Array, Value, cells};
use jut_ir::tangent::Part;
use jut_ir::{ConRef, DataId, Program, Scalar, Type, Width};

/// A value of its lists; of a tangent, the type and the value that it belongs to, if they are known.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn unpack(
    program: &Program,
    ty: &Type,
    flat: &Value,
    like: Option<(&Type, &Value)>,
) -> Result<Value, String> {
    let short = || "the lists are not those of a value".to_string();
    let Value::Tuple(parts) = flat else { return Err(short()) };
    let [_, Value::I64s(ints), _, Value::F64s(floats)] = parts.as_slice() else {
        return Err(short());
    };
    let mut unpacker = Unpacker { program, ints: &ints.data, floats: &floats.data, deep: false };
    let value = unpacker.value(ty, like, 0);
    match value {
        _ if unpacker.deep => Err(too_deep()),
        Some(value) if unpacker.ints.is_empty() && unpacker.floats.is_empty() => Ok(value),
        _ => Err(short()),
    }
}

struct Unpacker<'a> {
    program: &'a Program,
    ints: &'a [i64],
    floats: &'a [f64],
    deep: bool,
}

impl Unpacker<'_> {
    fn int(&mut self) -> Option<i64> {
        let (first, rest) = self.ints.split_first()?;
        self.ints = rest;
        Some(*first)
    }

    fn value(&mut self, ty: &Type, like: Option<(&Type, &Value)>, level: usize) -> Option<Value> {
        match ty {
            Type::Float(width) => {
                let (first, rest) = self.floats.split_first()?;
                self.floats = rest;
                Some(match width {
                    Width::Double => Value::F64(*first),
                    Width::Single => Value::F32(*first as f32),
                })
            }
            Type::I64 => self.int().map(Value::I64),
            Type::I32 => self.int().map(|n| Value::I32(n as i32)),
            Type::Bool => self.int().map(|n| Value::Bool(n != 0)),
            Type::Tuple(items) => {
                let items = self.program.components(items);
                let likes = parts(self.program, like);
                let part = |(k, ty): (usize, &Type)| {
                    self.value(ty, likes.get(k).copied().flatten(), level)
                };
                items.iter().enumerate().map(part).collect::<Option<_>>().map(Value::Tuple)
            }
            Type::Data(_) if !has_room(level) => {
                self.deep = true;
                None
            }
            Type::Data(id) if self.program.is_tangent(*id) => self.tangent(*id, like, level),
            Type::Data(id) => {
                let constructors = &self.program.datas[*id].constructors;
                let con = match constructors.as_slice() {
                    [con] => con,
                    _ => constructors.get(usize::try_from(self.int()?).ok()?)?,
                };
                let fields = con.fields.iter().map(|f| self.value(&f.ty, None, level + 1));
                let fields = fields.collect::<Option<_>>()?;
                Some(match constructors.len() {
                    1 => Value::Tuple(fields),
                    _ => Value::Data(con.name.clone(), fields),
                })
            }
            Type::Array(..) => {
                let rank = peel(ty).0;
                let shape = (0..rank).map(|_| usize::try_from(self.int()?).ok());
                let shape: Vec<usize> = shape.collect::<Option<_>>()?;
                self.array(ty, &shape, like, level)
            }
        }
    }

    fn array(
        &mut self,
        ty: &Type,
        shape: &[usize],
        like: Option<(&Type, &Value)>,
        level: usize,
    ) -> Option<Value> {
        let (Type::Array(_, element), Some((n, inner))) = (ty, shape.split_first()) else {
            return self.value(ty, like, level);
        };
        if let Some(scalar) = Scalar::of(peel(ty).1) {
            let count = cells(shape)?;
            let shape = shape.to_vec();
            return match scalar {
                Scalar::F64 => {
                    let (own, rest) = self.floats.split_at_checked(count)?;
                    self.floats = rest;
                    Some(Value::F64s(Array { shape, data: own.to_vec() }))
                }
                Scalar::F32 => {
                    let (own, rest) = self.floats.split_at_checked(count)?;
                    self.floats = rest;
                    let data = own.iter().map(|x| *x as f32).collect();
                    Some(Value::F32s(Array { shape, data }))
                }
                scalar => {
                    let (own, rest) = self.ints.split_at_checked(count)?;
                    self.ints = rest;
                    Some(match scalar {
                        Scalar::Bool => {
                            let data = own.iter().map(|n| *n != 0).collect();
                            Value::Bools(Array { shape, data })
                        }
                        Scalar::I32 => {
                            let data = own.iter().map(|n| *n as i32).collect();
                            Value::I32s(Array { shape, data })
                        }
                        _ => Value::I64s(Array { shape, data: own.to_vec() }),
                    })
                }
            };
        }
        // Every element takes some of the lists, or the array is empty; so this ends.
        if *n > self.ints.len() + self.floats.len() && !inner.contains(&0) {
            return None;
        }
        let mut items = Vec::new();
        for k in 0..*n {
            let own = like.and_then(|(ty, value)| match ty {
                Type::Array(_, element) => Some((&**element, value.element(k)?)),
                _ => None,
            });
            let own = own.as_ref().map(|(ty, value)| (*ty, value));
            items.push(self.array(element, inner, own, level)?);
        }
        stack(self.program, element, &items)
    }

    fn tangent(
        &mut self,
        tangent: DataId,
        like: Option<(&Type, &Value)>,
        level: usize,
    ) -> Option<Value> {
        let program = self.program;
        let source = program.tangent_of(tangent)?;
        let constructors = &program.datas[source].constructors;
        let tag = self.int()?;
        if tag == 0 {
            let Some((ty, value)) = like else { return Some(Value::Data(ZERO.into(), Vec::new())) };
            // A value without floats anywhere has its constructor and nothing in it.
            let point = as_tangent(program, ty, value)?;
            return Some(point.map_floats(&mut |_| 0.0));
        }
        let index = (0..constructors.len() as u32).find(|index| {
            let con = ConRef { data: source, index: *index };
            program.tangent_constructor(con).map(|c| i64::from(c.index)) == Some(tag)
        })?;
        let con = ConRef { data: source, index };
        let fields = &program.constructor(con).fields;
        let items: Option<&[Value]> = like.and_then(|(_, value)| match value {
            Value::Tuple(items) if constructors.len() == 1 => Some(items.as_slice()),
            Value::Data(name, items) if *name == program.constructor(con).name => Some(items),
            _ => None,
        });
        let mut made = Vec::new();
        let mut declared = program.constructor(program.tangent_constructor(con)?).fields.iter();
        for (k, part) in program.tangent_parts(con).into_iter().enumerate() {
            match part {
                Part::Absent => {}
                Part::Size => {
                    declared.next();
                    self.int()?;
                }
                Part::Tangent => {
                    let ty = &declared.next()?.ty;
                    let like = items.and_then(|items| Some((&fields.get(k)?.ty, items.get(k)?)));
                    made.push(self.value(ty, like, level + 1)?);
                }
            }
        }
        Some(match constructors.len() {
            1 => Value::Tuple(made),
            _ => Value::Data(program.constructor(con).name.clone(), made),
        })
    }
}

/// For each component of the tangent of a value, what it is the tangent of, if the value has it.
fn parts<'v>(
    program: &'v Program,
    like: Option<(&'v Type, &'v Value)>,
) -> Vec<Option<(&'v Type, &'v Value)>> {
    let floats = |ty: &Type| ty.has_float(program);
    match like {
        Some((Type::Tuple(types), Value::Tuple(items))) => {
            types.iter().zip(items).filter(|(ty, _)| floats(ty)).map(Some).collect()
        }
        Some((Type::Data(id), Value::Tuple(items) | Value::Data(_, items))) => {
            let name = match like {
                Some((_, Value::Data(name, _))) => Some(name),
                _ => None,
            };
            let mut all = Vec::new();
            for con in &program.datas[*id].constructors {
                let taken = name.is_none_or(|name| con.name == *name);
                for (k, field) in con.fields.iter().enumerate().filter(|(_, f)| floats(&f.ty)) {
                    let item = items.get(k).filter(|_| taken);
                    all.push(item.map(|item| (&field.ty, item)));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Whether a tangent has the shape of a value: its constructors, and the sizes of its arrays.
///
/// # Errors
/// Where they differ, in words.
pub(crate) fn fits(
    program: &Program,
    (ty, value): (&Type, &Value),
    tangent: Arg<'_>,
) -> Result<(), String> {
    match (ty, value) {
        (Type::Float(_) | Type::I64 | Type::I32 | Type::Bool, _) => Ok(()),
        (Type::Array(_, element), value) => {
            let Some(array) = owned(tangent) else { return Ok(()) };
            if value.first_size() != array.first_size() {
                let sizes = [value, &array].map(|v| v.first_size().unwrap_or(0));
                return Err(format!("{} elements, where the value has {}", sizes[1], sizes[0]));
            }
            if is_flat(program, element) && peel(element).1.is_scalar() {
                return Ok(());
            }
            for k in 0..value.first_size().unwrap_or(0) {
                if let (Some(value), Some(part)) = (value.element(k), array.element(k)) {
                    fits(program, (element, &value), (&part).into())
                        .map_err(|e| within(&format!("element {k}"), e))?;
                }
            }
            Ok(())
        }
        (Type::Data(id), value) if program.datas[*id].tangent.is_some() => {
            if let Arg::Data(ZERO, []) = tangent {
                return Ok(());
            }
            if let (Value::Data(name, _), Arg::Data(given, _)) = (value, tangent)
                && name != given
            {
                return Err(format!("{given}(..), where the value is {name}(..)"));
            }
            let own = parts(program, Some((ty, value)));
            let own: Vec<_> = own.into_iter().flatten().collect();
            let constructors = &program.datas[*id].constructors;
            let index = match value {
                Value::Data(name, _) => constructors.iter().position(|con| con.name == *name),
                _ => Some(0),
            };
            let con = ConRef { data: *id, index: index.unwrap_or_default() as u32 };
            let given = match program.tangent_constructor(con) {
                Some(con) => tangent_parts(program, con, tangent, own.len())?,
                None => components(tangent, own.len())?,
            };
            own.into_iter().zip(given).try_for_each(|(own, part)| fits(program, own, part))
        }
        _ => {
            let own = parts(program, Some((ty, value)));
            let given = components(tangent, own.len())?;
            let both = own.into_iter().zip(given);
            both.filter_map(|(own, part)| Some((own?, part)))
                .try_for_each(|(own, part)| fits(program, own, part))
        }
    }
}
