//! Regions, loops, branches and calls.

use super::{
    Capability, ENOUGH, Execution, Frame, LEFT, NESTING_PER_STACK, Run, STACK, UNGUARDED, array,
    constructor, error, open, unchecked,
};
use crate::code::{Arg, ArmCode, Body, CapCode, Op, ScanCode, Slot};
use crate::memory::Charge;
use crate::region::{Cell, Misfit, Refused, Region, checked_dim};
use crate::scalar::LinearScalar;
use crate::value::{Array, Cells, Value};
use jut_ir::RuntimeErrorKind;
use jut_ir::Width;
use jut_ir::calls::LEVELS;
use jut_ir::ir::{ArmPattern, Dir, Mode};
use jut_ir::types::Type;
use jut_runtime::lanes::{BLOCK, LANES, fold};
use jut_runtime::{foreign, print, stack};

impl Execution<'_> {
    /// An operation with a nested block, or a call. Deep nesting goes on in a fresh stack.
    pub(super) fn nested(&mut self, op: &Op, frame: &mut Frame) -> Run<()> {
        self.depth += 1;
        let is_full = match stack::remaining() {
            Some(left) => left < LEFT,
            None => self.depth.is_multiple_of(NESTING_PER_STACK),
        };
        let result = if is_full {
            let interpreter = self.interpreter;
            on_fresh_stack(|| interpreter.heeding(|| self.nested_here(op, frame)))
        } else {
            self.nested_here(op, frame)
        };
        self.depth -= 1;
        result
    }

    /// Runs the body of the function that is called from outside, whatever is left of its caller's
    /// stack.
    pub(crate) fn begin(&mut self, body: &Body, frame: &mut Frame) -> Run<()> {
        if stack::fits(ENOUGH) {
            return self.run(body, frame);
        }
        let interpreter = self.interpreter;
        on_fresh_stack(|| interpreter.heeding(|| self.run(body, frame)))
    }

    fn nested_here(&mut self, op: &Op, frame: &mut Frame) -> Run<()> {
        match op {
            Op::RdRegion { cap, start, body, dst, end } => {
                let value = frame.fetch(start);
                if end.is_none() {
                    self.counters.work += value.scalars_dropped();
                }
                frame.caps[*cap as usize] = Capability::Read(value);
                self.run(body, frame)?;
                let read = std::mem::replace(&mut frame.caps[*cap as usize], Capability::Null);
                self.deliver(body, frame, dst);
                if let (Some(end), Capability::Read(value)) = (end, read) {
                    for slot in dst {
                        self.let_go(&value, &mut frame.slots[*slot as usize])?;
                    }
                    frame.set(*end, value);
                }
                Ok(())
            }
            Op::SumRegion { cap, start, body, dst, total } => {
                let region = self.sum(cap, start.as_ref(), frame)?;
                self.sum_region(cap, region, body, dst, *total, frame)
            }
            Op::Scan(scan) => self.scan(scan, frame),
            Op::Case { scrutinee, arms, dst } => {
                self.counters.branches += 1;
                let value = frame.fetch(scrutinee);
                let arm = choose(&value, arms)?;
                if let Some((_, fields)) = constructor(&value) {
                    open(frame, &arm.fields, &fields)?;
                }
                self.run(&arm.body, frame)?;
                self.deliver(&arm.body, frame, dst);
                Ok(())
            }
            Op::Call { func, inside, args, places, dst } => {
                self.counters.calls += 1;
                self.go_on()?;
                let levels = self.levels;
                self.levels = match *inside {
                    true if levels <= 0 => return error(RuntimeErrorKind::Recursion, &[]),
                    true => levels - 1,
                    false => LEVELS,
                };
                let Some(code) = self.interpreter.code(*func) else {
                    return unchecked("a call of a function that does not exist");
                };
                if let Some(foreign) = &code.foreign {
                    self.levels = levels;
                    let args: Vec<Value> = args.iter().map(|arg| frame.fetch(arg)).collect();
                    let out = self.foreign(foreign, &args, &code.given(&args))?;
                    set_all(frame, dst, out);
                    return Ok(());
                }
                let mut inner = code.frame();
                let slots = code.params.iter().chain(&code.lin_params).map(|(slot, _)| *slot);
                for (slot, arg) in slots.zip(args) {
                    inner.set(slot, frame.fetch(arg));
                }
                for (param, place) in code.cap_params.iter().zip(places) {
                    if let Some(place) = place {
                        inner.caps[param.slot as usize] = self.place(place, frame)?;
                    }
                }
                self.run(&code.body, &mut inner)?;
                self.levels = levels;
                let mut out = Vec::with_capacity(dst.len());
                self.results(&code.body, &mut inner, &mut out);
                set_all(frame, dst, out);
                Ok(())
            }
            _ => unchecked("an operation without a nested block"),
        }
    }

    /// A row or slice of an array that is given back gets cells of its own.
    fn let_go(&mut self, lent: &Value, part: &mut Value) -> Run<()> {
        let (Value::Array(lent), Value::Array(view)) = (lent, &*part) else { return Ok(()) };
        if !view.is_of(lent) {
            return Ok(());
        }
        self.counters.handed += self.erased_scalars(part);
        self.counters.moved += part.bytes();
        match view.clone().with_own_cells(&self.meter) {
            Some(own) => *part = Value::Array(own),
            None => return error(RuntimeErrorKind::Memory, &[]),
        }
        Ok(())
    }

    /// Gives the results of a block that has run to the names of the pattern.
    fn deliver(&mut self, body: &Body, frame: &mut Frame, dst: &[Slot]) {
        let mut out = Vec::with_capacity(dst.len());
        self.results(body, frame, &mut out);
        set_all(frame, dst, out);
    }

    /// The storage of a region: that of its start, if nobody else has it, or a copy, or zeros.
    fn sum(
        &mut self,
        cap: &CapCode,
        start: Option<&(Arg, Vec<Slot>)>,
        frame: &mut Frame,
    ) -> Run<Region> {
        let linear =
            if cap.mode == Mode::Acc { LinearScalar::F64 } else { self.interpreter.linear };
        let start = start.map(|(arg, dead)| {
            let value = frame.fetch(arg);
            dead.iter().for_each(|slot| drop(frame.take(*slot)));
            value
        });
        let value = match start.map(|value| Region::of(value, &cap.ty)) {
            Some(Ok(region)) => return Ok(region),
            Some(Err(value)) => Some(value),
            None => None,
        };
        let mut region = self.zeros(&cap.ty, linear, frame)?;
        if matches!(cap.ty, Type::Array(..)) {
            self.counters.moved += region.bytes();
        }
        if let Some(value) = value {
            region.store(region.whole(0).cursor(), &value).or_else(Misfit::fault)?;
        }
        Ok(region)
    }

    fn sum_region(
        &mut self,
        cap: &CapCode,
        region: Region,
        body: &Body,
        dst: &[Slot],
        total: Slot,
        frame: &mut Frame,
    ) -> Run<()> {
        let number = self.regions.len();
        frame.caps[cap.slot as usize] = Capability::Sum(region.whole(number));
        self.regions.push(region);
        self.run(body, frame)?;
        frame.caps[cap.slot as usize] = Capability::Null;
        self.deliver(body, frame, dst);
        match self.regions.pop().and_then(Region::into_value) {
            Some(value) => {
                frame.set(total, value);
                Ok(())
            }
            None => unchecked("a sum of something that is not a vector"),
        }
    }

    fn scan(&mut self, scan: &ScanCode, frame: &mut Frame) -> Run<()> {
        let bound = frame.int(&scan.bound)?;
        let early = scan.dir == Dir::While;
        if bound < 0 && !scan.stacks.is_empty() && !early {
            return error(RuntimeErrorKind::NegativeSize, &[bound]);
        }
        let trips = bound.max(0);
        let room = (!early).then_some(trips as usize);
        let mut done = 0;
        self.counters.loops += 1;
        let mut slices = Vec::with_capacity(scan.slices.len());
        for (slot, arg) in &scan.slices {
            let elements = array(frame.fetch(arg))?;
            if elements.len() as i64 != trips {
                return error(RuntimeErrorKind::SizeMismatch, &[elements.len() as i64, bound]);
            }
            slices.push((*slot, elements));
        }
        let mut cap_slices = Vec::with_capacity(scan.cap_slices.len());
        for (slot, place) in &scan.cap_slices {
            cap_slices.push((*slot, self.place(place, frame)?));
        }
        let initial: Vec<Value> = scan.carry.iter().map(|(_, arg)| frame.fetch(arg)).collect();
        scan.dead.iter().for_each(|slot| drop(frame.take(*slot)));
        for ((slot, _), value) in scan.carry.iter().zip(initial) {
            frame.set(*slot, value);
        }
        let mut lanes = self.open_lanes(scan, frame);
        let mut stacks: Vec<Stack> = scan.stacks.iter().map(|_| Stack::default()).collect();
        let mut out = Vec::with_capacity(scan.body.results.len());
        for step in 0..trips {
            if early && !goes_on(scan, frame)? {
                break;
            }
            done += 1;
            let i = if scan.dir == Dir::Down { trips - 1 - step } else { step };
            self.counters.trips += 1;
            self.go_on()?;
            frame.set(scan.index, Value::I64(i));
            for (slot, elements) in &slices {
                if let Some(element) = elements.get(i as usize) {
                    self.counters.elements += u64::from(element.literal().is_some());
                    frame.set(*slot, element);
                }
            }
            for (slot, place) in &cap_slices {
                frame.caps[*slot as usize] = self.element(place, i)?;
            }
            for loop_sum in &lanes {
                if let Capability::Sum(cell) = &mut frame.caps[loop_sum.slot as usize] {
                    cell.set_lane((i % LANES as i64) as usize);
                }
            }
            self.run(&scan.body, frame)?;
            self.results(&scan.body, frame, &mut out);
            for (stack, (position, ..)) in stacks.iter_mut().zip(&scan.stacks) {
                if let Some(value) = out.get_mut(*position) {
                    let value = std::mem::replace(value, Value::Bool(false));
                    stack.push(value, room, self)?;
                }
            }
            scan.left.iter().for_each(|slot| drop(frame.take(*slot)));
            for (k, (slot, _)) in scan.carry.iter().enumerate() {
                // Non-linear carries are the first non-linear results, linear ones the first
                // linear results.
                let position =
                    if k < scan.nl_carries { k } else { scan.nl_results + k - scan.nl_carries };
                if let Some(value) = out.get_mut(position) {
                    frame.set(*slot, std::mem::replace(value, Value::Bool(false)));
                }
            }
            if (step + 1) % BLOCK == 0 || step + 1 == trips {
                self.fold_lanes(&mut lanes);
            }
        }
        self.close_lanes(lanes, frame)?;
        let mut finals: Vec<Value> = scan.carry.iter().map(|(slot, _)| frame.take(*slot)).collect();
        if let (true, Some(first)) = (early, finals.first_mut()) {
            *first = Value::I64(done);
        }
        set_all(frame, &scan.carry_dst, finals);
        for (stack, (position, slot, ty)) in stacks.into_iter().zip(&scan.stacks) {
            let value = match stack.finish(scan.dir)? {
                Some(array) => Value::Array(array),
                None => self.empty(ty, *position >= scan.nl_results, frame)?,
            };
            self.counters.moved += value.bytes();
            frame.set(*slot, value);
        }
        Ok(())
    }

    /// Redirects the lanes regions of a lane loop to fresh lanes, one new region each.
    fn open_lanes(&mut self, scan: &ScanCode, frame: &mut Frame) -> Vec<LoopSum> {
        let mut opened = Vec::new();
        for slot in &scan.lanes {
            let Capability::Sum(original) = &frame.caps[*slot as usize] else { continue };
            let original = original.clone();
            // Only floats have an order worth fixing.
            if !original.is_scalar() || !self.regions[original.region].is_float(&original) {
                continue;
            }
            let region = self.regions.len();
            self.regions.push(Region::lanes(LANES));
            frame.caps[*slot as usize] = Capability::Sum(Cell::lane(region, 0));
            opened.push(LoopSum { slot: *slot, original, region, sum: 0.0 });
        }
        opened
    }

    /// Adds the folded lanes of a block to the sums; the lanes start again at zero.
    fn fold_lanes(&mut self, lanes: &mut [LoopSum]) {
        for loop_sum in lanes {
            let mut cells = [0.0; LANES];
            if let Some(found) = self.regions[loop_sum.region].lane_cells() {
                cells.swap_with_slice(found);
            }
            loop_sum.sum += fold(cells);
        }
    }

    /// Adds the sums of a lane loop to their totals and gives the regions back their places.
    fn close_lanes(&mut self, lanes: Vec<LoopSum>, frame: &mut Frame) -> Run<()> {
        self.regions.truncate(self.regions.len() - lanes.len());
        for LoopSum { slot, original, sum, .. } in lanes {
            self.regions[original.region]
                .add(original.cursor(), &Value::F64(sum), LinearScalar::F64)
                .or_else(Misfit::fault)?;
            frame.caps[slot as usize] = Capability::Sum(original);
        }
        Ok(())
    }

    /// Element i of a sliced capability.
    fn element(&self, place: &Capability, i: i64) -> Run<Capability> {
        match place {
            Capability::Null => Ok(Capability::Null),
            Capability::Read(Value::Array(array)) => {
                match usize::try_from(i).ok().and_then(|i| array.get(i)) {
                    Some(element) => Ok(Capability::Read(element)),
                    None => unchecked(UNGUARDED),
                }
            }
            Capability::Read(_) => unchecked("a slice of something that is not an array"),
            Capability::Sum(cell) => self.regions[cell.region]
                .index(cell.cursor(), i)
                .map(|cursor| Capability::Sum(cursor.cell(cell.region)))
                .or_else(Misfit::fault),
        }
    }

    /// The stacked result of a loop that did not run.
    fn empty(&self, ty: &Type, is_linear: bool, frame: &Frame) -> Run<Value> {
        let mut dims = vec![0];
        let mut inner = ty.element().unwrap_or(ty);
        while let Type::Array(n, element) = inner {
            dims.push(checked_dim(frame.size(n), &dims).or_else(Refused::fault)?);
            inner = element;
        }
        let field = is_linear && self.interpreter.linear == LinearScalar::Field;
        let cells = match inner {
            Type::Float(Width::Single) if !field => Cells::F32(Vec::new()),
            Type::Float(Width::Double) if !field => Cells::F64(Vec::new()),
            Type::Float(_) | Type::I64 => Cells::I64(Vec::new()),
            Type::I32 => Cells::I32(Vec::new()),
            Type::Bool => Cells::Bool(Vec::new()),
            _ => Cells::Items(Vec::new()),
        };
        match Array::new(dims, cells) {
            Some(array) => Ok(Value::Array(array)),
            None => error(RuntimeErrorKind::Memory, &[]),
        }
    }
}

/// Runs a part of the interpreter on a thread with a stack of its own.
fn on_fresh_stack(work: impl FnOnce() -> Run<()> + Send) -> Run<()> {
    let (printer, functions) = (print::current(), foreign::current());
    let work = move || foreign::going_on(functions, || print::to(printer, work));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(handle) => match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(_) => error(RuntimeErrorKind::Memory, &[]),
        }
    })
}

/// Whether a loop that may end early has another iteration: what its first carry says.
fn goes_on(scan: &ScanCode, frame: &Frame) -> Run<bool> {
    match scan.carry.first() {
        Some((slot, _)) => frame.bool(&Arg::Get(*slot)),
        None => unchecked("a condition that is not carried"),
    }
}

/// The arm for a value.
fn choose<'a>(value: &Value, arms: &'a [ArmCode]) -> Run<&'a ArmCode> {
    let found = arms.iter().find(|arm| match (arm.pattern, value) {
        (ArmPattern::Bool(a), Value::Bool(b)) => a == *b,
        (ArmPattern::Con(a), Value::Data(b, _)) => a == *b,
        _ => false,
    });
    match found {
        Some(arm) => Ok(arm),
        None => unchecked("a case without an arm for the value"),
    }
}

fn set_all(frame: &mut Frame, dst: &[Slot], values: Vec<Value>) {
    for (slot, value) in dst.iter().zip(values) {
        frame.set(*slot, value);
    }
}

/// The sum of a lane loop for one of the regions around it.
struct LoopSum {
    slot: Slot,
    /// The place of the total.
    original: Cell,
    /// The region of the lanes.
    region: usize,
    /// The blocks so far.
    sum: f64,
}

/// A stacked result under construction: elements in the order of execution.
#[derive(Default)]
struct Stack {
    started: Option<Started>,
}

struct Started {
    cells: Cells,
    /// Dimensions of one element.
    element: Vec<usize>,
    count: usize,
    /// For how many elements there is memory.
    room: usize,
    charge: Charge,
}

impl Started {
    /// Memory for so many more elements.
    fn reserve(&mut self, more: usize) -> Option<()> {
        let cells = self.element.iter().product::<usize>().checked_mul(more)?;
        self.charge.grow((cells as u64).checked_mul(self.cells.bytes_per_cell())?)?;
        self.room += more;
        self.cells.reserve(cells)
    }
}

impl Stack {
    /// `room`: the number of elements, if it is known; else the memory doubles as it is used up.
    fn push(&mut self, value: Value, room: Option<usize>, execution: &Execution<'_>) -> Run<()> {
        if self.started.is_none() {
            let (element, cells) = (value.dims(), Cells::empty_like(&value));
            let Some(charge) = execution.meter.charge(0) else {
                return error(RuntimeErrorKind::Memory, &[]);
            };
            self.started = Some(Started { cells, element, count: 0, room: 0, charge });
        }
        let Some(started) = &mut self.started else { return Ok(()) };
        if started.count == started.room
            && started.reserve(room.unwrap_or_else(|| started.count.max(4))).is_none()
        {
            return error(RuntimeErrorKind::Memory, &[]);
        }
        let fits = match &value {
            Value::Array(array) => {
                array.rank() == started.element.len()
                    && (0..array.rank()).all(|k| array.dim(k) == Some(started.element[k]))
            }
            _ => started.element.is_empty(),
        };
        if !fits {
            return unchecked("elements of a stacked result differ in shape");
        }
        started.count += 1;
        if started.charge.grow(value.bytes_of_lists()).is_none() {
            return error(RuntimeErrorKind::Memory, &[]);
        }
        if started.cells.append(value) {
            Ok(())
        } else {
            unchecked("elements of a stacked result differ in kind")
        }
    }

    /// The array; `None` if there were no iterations.
    fn finish(self, dir: Dir) -> Run<Option<Array>> {
        let Some(Started { mut cells, element, count, charge, .. }) = self.started else {
            return Ok(None);
        };
        if dir == Dir::Down && cells.reverse_rows(element.iter().product()).is_none() {
            return error(RuntimeErrorKind::Cancelled, &[]);
        }
        let mut dims = vec![count];
        dims.extend(element);
        Ok(Array::charged(dims, cells, charge))
    }
}
