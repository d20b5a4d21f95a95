//! A part of an array replaced or taken out: in place if nobody else holds the array's cells.

use super::{Execution, Frame, Run, UNGUARDED, array, error, unchecked, walk};
use crate::code::{Arg, Linear, Op, PathStep, Slot};
use crate::value::{Array, Choice, Part, Value, View};
use crate::vector;
use jut_ir::{RuntimeErrorKind, Type};

impl Execution<'_> {
    /// `y = x with [i] = v`, linear or not.
    pub(super) fn update(&mut self, op: &Op, frame: &mut Frame) -> Run<()> {
        let Op::Update { dst, array: from, dead, path, value, linear } = op else {
            return unchecked("an operation that is no update");
        };
        let (whole, value) = (array(frame.fetch(from))?, frame.fetch(value));
        dead.iter().for_each(|slot| drop(frame.take(*slot)));
        match linear {
            Some(_) => self.settled(&value, value.scalars_dropped()),
            None => self.counters.work += value.scalars(),
        }
        self.counters.moved += value.bytes();
        let whole = self.put(whole, path, &value, *linear, frame)?;
        frame.set(*dst, Value::Array(whole));
        Ok(())
    }

    /// Counts a linear value that is put into an array: some of its scalars are work, the others move.
    pub(super) fn settled(&mut self, value: &Value, work: u64) {
        self.counters.work += work;
        self.counters.handed += self.erased_scalars(value).saturating_sub(work);
    }

    /// The scalars of a linear value once L has been applied: tangents of declared types have their sizes then.
    pub(super) fn erased_scalars(&self, value: &Value) -> u64 {
        let all = |items: &[Value]| items.iter().map(|item| self.erased_scalars(item)).sum();
        match value {
            Value::Tuple(items) => all(items),
            Value::Data(con, items) => {
                let sizes = self.interpreter.datas.get(con.data).map_or(0, |data| {
                    let con = data.constructors.get(con.index as usize);
                    let fields = con.into_iter().flat_map(|con| &con.fields);
                    fields.filter(|field| field.ty == Type::I64).count() as u64
                });
                sizes + all(items)
            }
            Value::Array(array) => match array.view() {
                View::Items(items) => all(items),
                _ => value.scalars(),
            },
            _ => value.scalars(),
        }
    }

    /// `y = x[i]`, with cells of its own if it is a row or slice. An element, such as a record, is put in place of
    /// another as a whole, so an update of the array leaves it alone.
    pub(super) fn copied(
        &mut self,
        dst: Slot,
        from: Slot,
        path: &[PathStep],
        frame: &mut Frame,
    ) -> Run<()> {
        let view = walk(&frame.slots[from as usize], path, frame)?;
        self.counters.copied += view.scalars();
        self.counters.moved += view.bytes();
        let own = match view {
            Value::Array(rows) => rows.with_own_cells(&self.meter).map(Value::Array),
            element => Some(element),
        };
        let Some(own) = own else { return error(RuntimeErrorKind::Memory, &[]) };
        frame.set(dst, own);
        Ok(())
    }

    /// `(; y', v') = take x'[i]`.
    pub(super) fn take_out(
        &mut self,
        dst: [Slot; 2],
        from: &Arg,
        path: &[PathStep],
        linear: Linear,
        frame: &mut Frame,
    ) -> Run<()> {
        let whole = array(frame.fetch(from))?;
        let value = self.part_of(&whole, path, frame)?;
        self.counters.reads += 2 * self.erased_scalars(&value);
        self.counters.moved += 2 * value.bytes();
        let Some(zero) = vector::nothing(&value) else {
            return unchecked("a part of something that is not a vector");
        };
        let whole = self.put(whole, path, &zero, Some(linear), frame)?;
        frame.set(dst[0], Value::Array(whole));
        frame.set(dst[1], value);
        Ok(())
    }

    /// The part that a path leads to, with cells of its own if it is one of the array's rows or slices.
    fn part_of(&self, whole: &Array, path: &[PathStep], frame: &Frame) -> Run<Value> {
        let (here, inside) = split(path);
        if !inside.is_empty() {
            return walk(&Value::Array(whole.clone()), path, frame);
        }
        match whole.copy_of(&part(whole, here, frame)?, &self.meter) {
            Some(value) => Ok(value),
            None => error(RuntimeErrorKind::Memory, &[]),
        }
    }

    /// The array with another part, in cells of its own if others hold the old ones. What is not linear is changed in place
    /// only where it is nobody else's: an argument is the caller's, and what a branch or call gives may be what others hold.
    fn put(
        &mut self,
        mut whole: Array,
        path: &[PathStep],
        value: &Value,
        linear: Option<Linear>,
        frame: &Frame,
    ) -> Run<Array> {
        let is_shared = whole.cells_mut().is_none();
        if is_shared || linear.is_some_and(|linear| linear.given) {
            let old = Value::Array(whole.clone());
            match linear {
                Some(_) => self.counters.handed += self.erased_scalars(&old),
                None => self.counters.copied += old.scalars(),
            }
        }
        if is_shared {
            self.counters.moved += Value::Array(whole.clone()).bytes();
        }
        self.put_at(whole, path, value, frame)
    }

    /// The array with another part. A tuple that is an element, and an array in it, is made anew where others hold it.
    fn put_at(
        &self,
        mut whole: Array,
        path: &[PathStep],
        value: &Value,
        frame: &Frame,
    ) -> Run<Array> {
        let (here, inside) = split(path);
        let part = part(&whole, here, frame)?;
        if whole.cells_mut().is_none() {
            whole = match whole.with_own_cells(&self.meter) {
                Some(own) => own,
                None => return error(RuntimeErrorKind::Memory, &[]),
            };
        }
        let fits = match whole.cells_mut() {
            Some(cells) if inside.is_empty() => {
                part.dims == value.dims() && cells.put(part.at, value)
            }
            Some(cells) => match cells.item(part.at) {
                Some(item) => self.put_inside(item, inside, value, frame)?,
                None => false,
            },
            None => false,
        };
        match fits {
            true => Ok(whole),
            false => unchecked("the new part of an array does not fit"),
        }
    }

    /// Puts a value into an element; false if it does not fit there.
    fn put_inside(
        &self,
        item: &mut Value,
        path: &[PathStep],
        value: &Value,
        frame: &Frame,
    ) -> Run<bool> {
        match (path.split_first(), &mut *item) {
            (None, _) => *item = value.clone(),
            (Some((PathStep::Field(k), rest)), Value::Tuple(items)) => {
                return match items.own().get_mut(*k as usize) {
                    Some(part) => self.put_inside(part, rest, value, frame),
                    None => Ok(false),
                };
            }
            (Some(_), _) => {
                let old = array(std::mem::replace(item, Value::Bool(false)))?;
                *item = Value::Array(self.put_at(old, path, value, frame)?);
            }
        }
        Ok(true)
    }
}

/// The indices and slices that a path begins with, and what is behind them.
fn split(path: &[PathStep]) -> (&[PathStep], &[PathStep]) {
    let field = path.iter().position(|step| matches!(step, PathStep::Field(_)));
    path.split_at(field.unwrap_or(path.len()))
}

/// Follows indices and slices.
fn part(array: &Array, path: &[PathStep], frame: &Frame) -> Run<Part> {
    let mut steps = Vec::with_capacity(path.len());
    for step in path {
        steps.push(match step {
            PathStep::Index(i) => Choice::Index(frame.int(i)?),
            PathStep::Slice(lo, count) => Choice::Slice(frame.int(lo)?, frame.int(count)?),
            PathStep::Field(_) => return unchecked("a component of an array"),
        });
    }
    match array.part(steps.into_iter()) {
        Some(part) => Ok(part),
        None => unchecked(UNGUARDED),
    }
}
