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
        let part = part(&whole, path, frame)?;
        if part.dims != value.dims() {
            return unchecked("the new part of an array has another shape");
        }
        match linear {
            Some(_) => self.settled(&value, value.scalars_dropped()),
            None => self.counters.work += value.scalars(),
        }
        self.counters.moved += value.bytes();
        let whole = self.put(whole, &part, &value, *linear)?;
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
        let part = part(&whole, path, frame)?;
        let Some(value) = whole.copy_of(&part, &self.meter) else {
            return error(RuntimeErrorKind::Memory, &[]);
        };
        self.counters.reads += 2 * self.erased_scalars(&value);
        self.counters.moved += 2 * value.bytes();
        let Some(zero) = vector::nothing(&value) else {
            return unchecked("a part of something that is not a vector");
        };
        let whole = self.put(whole, &part, &zero, Some(linear))?;
        frame.set(dst[0], Value::Array(whole));
        frame.set(dst[1], value);
        Ok(())
    }

    /// The array with another part, in cells of its own if others hold the old ones. What is not linear is changed in place
    /// only where it is nobody else's: an argument is the caller's, and what a branch or call gives may be what others hold.
    fn put(
        &mut self,
        mut whole: Array,
        part: &Part,
        value: &Value,
        linear: Option<Linear>,
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
            let old = Value::Array(whole.clone());
            self.counters.moved += old.bytes();
            whole = match whole.with_own_cells(&self.meter) {
                Some(own) => own,
                None => return error(RuntimeErrorKind::Memory, &[]),
            };
        }
        match whole.cells_mut().is_some_and(|cells| cells.put(part.at, value)) {
            true => Ok(whole),
            false => unchecked("the new part of an array does not fit"),
        }
    }
}

/// Follows the path of an update.
fn part(array: &Array, path: &[PathStep], frame: &Frame) -> Run<Part> {
    let mut steps = Vec::with_capacity(path.len());
    for step in path {
        steps.push(match step {
            PathStep::Index(i) => Choice::Index(frame.int(i)?),
            PathStep::Slice(lo, count) => Choice::Slice(frame.int(lo)?, frame.int(count)?),
            PathStep::Field(_) => return unchecked("an update of a component"),
        });
    }
    match array.part(steps.into_iter()) {
        Some(part) => Ok(part),
        None => unchecked(UNGUARDED),
    }
}
