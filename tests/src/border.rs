//! Values of Linear A as the scalars and buffers of the loop form, and back.
//!
//! The layout is [`jut_loop::flatten`]'s: arrays of tuples are tuples of arrays, a sum is a tag and
//! the fields of every constructor. Example: `[2]#(f64, i64)` with elements `#(0.5, 1)`, `#(0.25, 2)`
//! is the two buffers `[0.5, 0.25]` and `[1, 2]`.
//!
//! *Requires*: the value has the type. *Ensures*: [`flatten`] and [`rebuild`] are inverse to each
//! other. *Cost*: linear in the number of scalars.

use jut_eval::Value;
use jut_ir::{ConRef, Literal, NVar, Program, Type};
use jut_loop::flatten::Layouts;
use jut_loop::form::{Cell, Kind};
use jut_loop::signature::{Cells, Flat};

/// The sizes that names stand for.
pub type Sizes<'a> = &'a dyn Fn(NVar) -> Option<i64>;

/// Appends the cell or the cells of a component.
fn append(to: &mut Cells, from: Flat, pinned: bool) -> Option<()> {
    match (to, from) {
        (Cells::F64(to), Flat::Scalar(Literal::F64(x))) => to.push(x),
        (Cells::F32(to), Flat::Scalar(Literal::F32(x))) => to.push(x),
        (Cells::I32(to), Flat::Scalar(Literal::I32(x))) => to.push(x),
        (Cells::I64(to), Flat::Scalar(Literal::I64(x))) => to.push(x),
        (Cells::Bool(to), Flat::Scalar(Literal::Bool(x))) => to.push(u8::from(x)),
        (Cells::Buffers(to), Flat::Buffer(x)) if pinned => to.push(x),
        (Cells::F64(to), Flat::Buffer(Cells::F64(x))) => to.extend(x),
        (Cells::F32(to), Flat::Buffer(Cells::F32(x))) => to.extend(x),
        (Cells::I32(to), Flat::Buffer(Cells::I32(x))) => to.extend(x),
        (Cells::I64(to), Flat::Buffer(Cells::I64(x))) => to.extend(x),
        (Cells::Bool(to), Flat::Buffer(Cells::Bool(x))) => to.extend(x),
        (Cells::Buffers(to), Flat::Buffer(Cells::Buffers(x))) => to.extend(x),
        _ => return None,
    }
    Some(())
}

/// What the fields of an absent constructor are.
fn blank(kind: Kind) -> Flat {
    match kind {
        Kind::F64 => Flat::Scalar(Literal::F64(0.0)),
        Kind::F32 => Flat::Scalar(Literal::F32(0.0)),
        Kind::I32 => Flat::Scalar(Literal::I32(0)),
        Kind::I64 => Flat::Scalar(Literal::I64(0)),
        Kind::BOOL => Flat::Scalar(Literal::Bool(false)),
        Kind::Buffer(cell) => Flat::Buffer(Cells::empty(cell)),
    }
}

/// The components of a value; `None` if it does not have the type.
pub fn flatten(
    program: &Program,
    layouts: &mut Layouts,
    ty: &Type,
    value: &Value,
) -> Option<Vec<Flat>> {
    let mut all = Vec::new();
    match (ty, value) {
        (Type::Float(_), Value::F64(x)) => all.push(Flat::Scalar(Literal::F64(*x))),
        (Type::Float(_), Value::F32(x)) => all.push(Flat::Scalar(Literal::F32(*x))),
        (Type::I64, Value::I64(x)) => all.push(Flat::Scalar(Literal::I64(*x))),
        (Type::I32, Value::I32(x)) => all.push(Flat::Scalar(Literal::I32(*x))),
        (Type::Bool, Value::Bool(x)) => all.push(Flat::Scalar(Literal::Bool(*x))),
        (Type::Tuple(types), Value::Tuple(items)) => {
            for (ty, item) in types.iter().zip(items.iter()) {
                all.extend(flatten(program, layouts, ty, item)?);
            }
        }
        (Type::Data(id), Value::Data(con, items)) => {
            let layout = layouts.data(*id);
            all.extend(layout.components.iter().map(|c| blank(c.kind())));
            if layout.tagged {
                all[0] = Flat::Scalar(Literal::I64(i64::from(con.index)));
            }
            let fields = &program.constructor(*con).fields;
            let ranges = layout.fields.get(con.index as usize)?;
            for ((field, item), range) in fields.iter().zip(items.iter()).zip(ranges) {
                let flat = flatten(program, layouts, &field.ty, item)?;
                all.splice(range.clone(), flat);
            }
        }
        (Type::Array(_, element), Value::Array(array)) => {
            let inner = layouts.of(element);
            let mut cells: Vec<Cells> =
                layouts.of(ty).iter().map(|c| Cells::empty(c.cell())).collect();
            for item in (0..array.len()).map_while(|i| array.get(i)) {
                let flat = flatten(program, layouts, element, &item)?;
                for ((to, from), component) in cells.iter_mut().zip(flat).zip(inner.iter()) {
                    append(to, from, component.is_pinned())?;
                }
            }
            all.extend(cells.into_iter().map(Flat::Buffer));
        }
        _ => return None,
    }
    Some(all)
}

/// Cells `at .. at + n` of a buffer.
fn part(flat: &Flat, at: usize, n: usize) -> Option<Flat> {
    let Flat::Buffer(cells) = flat else { return None };
    if n == 0 {
        return Some(Flat::Buffer(match cells {
            Cells::F64(_) => Cells::empty(Cell::F64),
            Cells::F32(_) => Cells::empty(Cell::F32),
            Cells::I32(_) => Cells::empty(Cell::I32),
            Cells::I64(_) => Cells::empty(Cell::I64),
            Cells::Bool(_) => Cells::empty(Cell::BOOL),
            Cells::Buffers(_) => Cells::empty(Cell::Buffer),
        }));
    }
    Some(Flat::Buffer(match cells {
        Cells::F64(c) => Cells::F64(c.get(at..at + n)?.to_vec()),
        Cells::F32(c) => Cells::F32(c.get(at..at + n)?.to_vec()),
        Cells::I32(c) => Cells::I32(c.get(at..at + n)?.to_vec()),
        Cells::I64(c) => Cells::I64(c.get(at..at + n)?.to_vec()),
        Cells::Bool(c) => Cells::Bool(c.get(at..at + n)?.to_vec()),
        Cells::Buffers(c) => Cells::Buffers(c.get(at..at + n)?.to_vec()),
    }))
}

/// One cell of a buffer.
fn cell(flat: &Flat, at: usize) -> Option<Flat> {
    let Flat::Buffer(cells) = flat else { return None };
    Some(match cells {
        Cells::F64(c) => Flat::Scalar(Literal::F64(*c.get(at)?)),
        Cells::F32(c) => Flat::Scalar(Literal::F32(*c.get(at)?)),
        Cells::I32(c) => Flat::Scalar(Literal::I32(*c.get(at)?)),
        Cells::I64(c) => Flat::Scalar(Literal::I64(*c.get(at)?)),
        Cells::Bool(c) => Flat::Scalar(Literal::Bool(*c.get(at)? != 0)),
        Cells::Buffers(c) => Flat::Buffer(c.get(at)?.clone()),
    })
}

/// The value whose components are given; `None` if they do not fit the type.
pub fn rebuild(
    program: &Program,
    layouts: &mut Layouts,
    ty: &Type,
    flat: &[Flat],
    size: Sizes<'_>,
) -> Option<Value> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => match flat {
            [Flat::Scalar(Literal::F64(x))] => Some(Value::F64(*x)),
            [Flat::Scalar(Literal::F32(x))] => Some(Value::F32(*x)),
            [Flat::Scalar(Literal::I32(x))] => Some(Value::I32(*x)),
            [Flat::Scalar(Literal::I64(x))] => Some(Value::I64(*x)),
            [Flat::Scalar(Literal::Bool(x))] => Some(Value::Bool(*x)),
            _ => None,
        },
        Type::Tuple(types) => {
            let mut rest = flat;
            let mut items = Vec::new();
            for ty in types {
                let (item, after) = rest.split_at_checked(layouts.of(ty).len())?;
                items.push(rebuild(program, layouts, ty, item, size)?);
                rest = after;
            }
            Some(Value::tuple(items))
        }
        Type::Data(id) => {
            let layout = layouts.data(*id);
            let index = match (layout.tagged, flat.first()) {
                (true, Some(Flat::Scalar(Literal::I64(tag)))) => u32::try_from(*tag).ok()?,
                _ => 0,
            };
            let con = ConRef { data: *id, index };
            let ranges = layout.fields.get(index as usize)?;
            let of_field = |v: NVar| match flat.get(ranges.get(v.as_u32() as usize)?.start) {
                Some(Flat::Scalar(Literal::I64(n))) => Some(*n),
                _ => None,
            };
            let mut items = Vec::new();
            for (field, range) in program.constructor(con).fields.iter().zip(ranges) {
                let part = flat.get(range.clone())?;
                items.push(rebuild(program, layouts, &field.ty, part, &of_field)?);
            }
            Some(Value::data(con, items))
        }
        Type::Array(n, element) => {
            let known = |size: Sizes<'_>, polynomial: &jut_ir::Size| {
                let mut complete = true;
                let value = polynomial.eval(&mut |v| {
                    size(v).unwrap_or_else(|| {
                        complete = false;
                        0
                    })
                });
                complete.then_some(usize::try_from(value).unwrap_or(0))
            };
            let n = known(size, n)?;
            let inner = layouts.of(element);
            let mut rows = Vec::with_capacity(n);
            for i in 0..n {
                let mut row = Vec::new();
                for (flat, component) in flat.iter().zip(inner.iter()) {
                    row.push(match component.levels.first() {
                        Some(level) if !level.pinned => {
                            let m = known(size, &level.cells())?;
                            part(flat, i * m, m)?
                        }
                        _ => cell(flat, i)?,
                    });
                }
                rows.push(rebuild(program, layouts, element, &row, size)?);
            }
            Value::array(rows)
        }
    }
}
