//! Walking the prepared form.
//!
//! # Order of additions
//!
//! Everything happens in execution order, with one exception that every engine reproduces bit for
//! bit: sums by **lanes** ([`jut_runtime::lanes`]). A region `wr lanes r: f64 { .. }` or
//! `acc lanes r: f64 { .. }` keeps a total, which starts at 0.0. A `scan par` is a *lane loop* of
//! the region if it adds into `r` and stands directly in the region's body: not in another loop,
//! but the bodies of `rd`, `wr` and `acc` regions and the arms of a `case` in the region's body
//! count as part of it. A lane loop has a sum that starts at 0.0. During its iteration i every
//! addition into `r`, wherever it is nested (inner loops, arms, called functions), goes to lane
//! i mod LANES; after each BLOCK iterations, and after the last one, the lanes are folded, the
//! result is added to the sum, and the lanes start again at 0.0. At the end of the loop the sum is
//! added to the total. Additions outside a lane loop go straight to the total. So
//!
//! ```text
//! s = acc lanes r: f64 { r += a; scan par (i < n) slice (x <- xs) { r += x } }
//! ```
//!
//! is `(0.0 + a) + ((0.0 + fold(lanes of block 0)) + fold(lanes of block 1) + ..)`. A parameter
//! `wr lanes r: f64` of a function is the same with the function's body in place of the region's
//! and the caller's place in place of the total.

use crate::code::{Arg, Body, CapCode, FieldCode, Op, PlaceCode, Slot};
use crate::counters::Counters;
use crate::frame::{Capability, Frame};
use crate::memory::{self, Meter};
use crate::region::{Misfit, Refused, Region, checked_dim};
use crate::scalar::LinearScalar;
use crate::value::{Array, Items, Value, View, slice_range};
use crate::vector::Unlike;
use crate::{EvalError, Interpreter, finite, structured, vector};
use jut_ir::Scalar;
use jut_ir::ir::{Check, ConRef, Literal, Mode};
use jut_ir::prim;
use jut_ir::span::Span;
use jut_ir::types::Type;
use jut_ir::{RuntimeError, RuntimeErrorKind, Size, Structured};
use jut_runtime::print::{self, Piece};
use std::sync::Arc;

mod control;
mod foreign;
mod path;
mod update;

use path::{steps, walk};

/// Blocks that may be nested in each other, calls included, before the interpreter moves to a
/// fresh stack, where the system does not say how much is left of one.
const NESTING_PER_STACK: usize = 100;

/// Bytes of such a stack: far more than that many nested blocks need, and enough that a deep recursion needs few.
const STACK: usize = 64 << 20;

/// Bytes of stack with which the interpreter begins where it is called.
const ENOUGH: usize = 1 << 20;

/// Bytes of stack with which it begins a nested block or a call: more than it takes to come to the next.
const LEFT: usize = 256 << 10;

pub(crate) struct Execution<'i> {
    pub interpreter: &'i Interpreter,
    pub regions: Vec<Region>,
    pub counters: Counters,
    pub meter: Arc<Meter>,
    pub depth: usize,
    /// How many levels the functions that call themselves may still go down.
    pub levels: i64,
}

/// An error on its way out: the innermost operation that has a span adds it.
pub(crate) struct Fault {
    pub error: EvalError,
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

/// A run-time error without its span.
pub(crate) fn error<T>(kind: RuntimeErrorKind, operands: &[i64]) -> Run<T> {
    let error = RuntimeError { kind, span: Span::NONE, operands: operands.to_vec() };
    Err(Box::new(Fault { error: EvalError::Runtime(error) }))
}

/// A number is not finite and has to be.
fn not_finite<T>(what: String) -> Run<T> {
    Err(Box::new(Fault { error: EvalError::NotFinite { span: Span::NONE, what } }))
}

/// The program breaks a rule of the checker.
pub(crate) fn unchecked<T>(what: &'static str) -> Run<T> {
    Err(Box::new(Fault { error: EvalError::Unchecked { span: Span::NONE, what } }))
}

impl Fault {
    fn at(mut self: Box<Fault>, place: Span) -> Box<Fault> {
        match &mut self.error {
            EvalError::Runtime(RuntimeError { span, .. })
            | EvalError::NotFinite { span, .. }
            | EvalError::Unchecked { span, .. }
                if *span == Span::NONE =>
            {
                *span = place;
            }
            _ => {}
        }
        self
    }
}

/// An access out of range behind its check, or without one: a pass has moved or lost it.
pub(crate) const UNGUARDED: &str = "an access is out of range, and no check before it says so";

impl Misfit {
    fn fault<T>(self) -> Run<T> {
        match self {
            Misfit::Range => unchecked(UNGUARDED),
            Misfit::Shape => unchecked("a place or a sum does not have the shape of its type"),
            Misfit::Unlike(Unlike::Sizes(found, wanted)) => {
                error(RuntimeErrorKind::SizeMismatch, &[found, wanted])
            }
            Misfit::Unlike(Unlike::Constructors(other)) => {
                error(RuntimeErrorKind::Index, &[other.into(), 0])
            }
        }
    }
}

impl Refused {
    fn fault<T>(self) -> Run<T> {
        match self {
            Refused::Negative(n) => error(RuntimeErrorKind::NegativeSize, &[n]),
            Refused::Memory => error(RuntimeErrorKind::Memory, &[]),
        }
    }
}

impl Frame {
    pub(crate) fn set(&mut self, slot: Slot, value: Value) {
        if let Some(cell) = self.slots.get_mut(slot as usize) {
            *cell = value;
        }
    }

    fn fetch(&mut self, arg: &Arg) -> Value {
        match arg {
            Arg::Get(slot) => self.slots[*slot as usize].clone(),
            Arg::Take(slot) => self.take(*slot),
            Arg::Const(value) => value.clone(),
        }
    }

    fn take(&mut self, slot: Slot) -> Value {
        std::mem::replace(&mut self.slots[slot as usize], Value::Bool(false))
    }

    fn peek<'a>(&'a self, arg: &'a Arg) -> &'a Value {
        match arg {
            Arg::Get(slot) | Arg::Take(slot) => &self.slots[*slot as usize],
            Arg::Const(value) => value,
        }
    }

    fn int(&self, arg: &Arg) -> Run<i64> {
        match self.peek(arg) {
            Value::I64(n) => Ok(*n),
            _ => unchecked("an index, bound or size is not an integer"),
        }
    }

    fn bool(&self, arg: &Arg) -> Run<bool> {
        match self.peek(arg) {
            Value::Bool(b) => Ok(*b),
            _ => unchecked("a condition is not a truth value"),
        }
    }

    /// The value of a size in a type.
    pub(crate) fn size(&self, size: &Size) -> i64 {
        if let Some(n) = size.as_constant() {
            return n;
        }
        size.eval(&mut |v| match self.slots.get(v.as_u32() as usize) {
            Some(Value::I64(n)) => *n,
            _ => 0,
        })
    }
}

/// Whether a value is a scalar that an index step reached in memory.
fn is_scalar(value: &Value) -> bool {
    value.literal().is_some()
}

/// Whether a value is an array of tuples or data, not of scalars.
fn is_of_items(value: &Value) -> bool {
    matches!(value, Value::Array(array) if matches!(array.view(), View::Items(_)))
}

impl Execution<'_> {
    /// Runs the operations of a block and delivers its results.
    pub(crate) fn run(&mut self, body: &Body, frame: &mut Frame) -> Run<()> {
        for (op, span) in &body.ops {
            self.op(op, frame).map_err(|fault| self.cause(fault).at(*span))?;
        }
        Ok(())
    }

    /// The results of a block that has run: non-linear, then linear, in `out`.
    fn results(&mut self, body: &Body, frame: &mut Frame, out: &mut Vec<Value>) {
        out.clear();
        out.extend(body.results.iter().map(|arg| frame.fetch(arg)));
        for (value, copied) in out.iter().zip(&body.copies) {
            if *copied {
                self.counters.copied += value.scalars();
                self.counters.moved += value.bytes();
            }
        }
        for (value, handed) in out.iter().skip(body.copies.len()).zip(&body.moves) {
            if *handed {
                self.counters.handed += self.erased_scalars(value);
            }
        }
    }

    fn op(&mut self, op: &Op, frame: &mut Frame) -> Run<()> {
        match op {
            Op::Prim { dst, row, fallible, args } => {
                match row.result {
                    Scalar::I64 | Scalar::I32 => self.counters.integers += 1,
                    Scalar::Float(_) | Scalar::Bool => self.counters.work += 1,
                }
                let mut operands = [Literal::Bool(false); 4];
                let Some(used) = operands.get_mut(..row.params.len()) else {
                    return unchecked("a primitive has too many operands");
                };
                if used.len() != args.len() {
                    return unchecked("a primitive has the wrong number of operands");
                }
                for (operand, arg) in used.iter_mut().zip(args) {
                    let Some(literal) = frame.peek(arg).literal() else {
                        return unchecked("an operand of a primitive is not a scalar");
                    };
                    *operand = literal;
                }
                if *fallible && used.get(1) == Some(&Literal::I64(0)) {
                    return error(RuntimeErrorKind::DivisionByZero, &[]);
                }
                let value = (row.eval)(used);
                if self.interpreter.finite
                    && let Some(what) = finite::primitive(row, used, value)
                {
                    return not_finite(what);
                }
                frame.set(*dst, value.into());
                Ok(())
            }
            Op::Copy(dst, arg) => {
                let value = frame.fetch(arg);
                frame.set(*dst, value);
                Ok(())
            }
            Op::Add(dst, a, b) => {
                let (a, b) = (frame.fetch(a), frame.fetch(b));
                if let Some(unlike) = vector::unlike(&a, &b, self.interpreter.linear) {
                    return Misfit::Unlike(unlike).fault();
                }
                let work = vector::additions(&a, &b);
                match vector::add(a, &b, self.interpreter.linear) {
                    Some(sum) => {
                        self.finite(&sum, "a sum of tangents")?;
                        self.counters.work += work;
                        self.linear_moved(frame, *dst, sum);
                        Ok(())
                    }
                    None => unchecked("the sides of a sum have different shapes"),
                }
            }
            Op::Neg(dst, a) => match vector::neg(frame.fetch(a)) {
                Some(value) => self.linear_result(frame, *dst, value),
                None => unchecked("negation of something that is not a vector"),
            },
            Op::Scale(dst, c, a) => {
                let Value::F64(c) = *frame.peek(c) else {
                    return unchecked("a factor is not a float");
                };
                match vector::scale(c, frame.fetch(a)) {
                    Some(value) => {
                        self.finite(&value, "a tangent times a factor")?;
                        self.linear_result(frame, *dst, value)
                    }
                    None => unchecked("scaling of something that is not a vector"),
                }
            }
            Op::Select(dst, b, x, y) => {
                let choice = frame.bool(b)?;
                let (x, y) = (frame.fetch(x), frame.fetch(y));
                self.linear_result(frame, *dst, if choice { x } else { y })
            }
            Op::Zero(dst, ty) => {
                let value = self.zeros(ty, self.interpreter.linear, frame)?;
                let value = value.into_value();
                match value {
                    Some(value) => {
                        if matches!(value, Value::Array(_)) {
                            self.counters.moved += value.bytes();
                        }
                        frame.set(*dst, value);
                        Ok(())
                    }
                    None => unchecked("zero of a type that is not a vector space"),
                }
            }
            Op::Dup(a, b, x) => {
                let value = frame.fetch(x);
                frame.set(*a, value.clone());
                frame.set(*b, value);
                Ok(())
            }
            Op::Drop(x) => {
                self.counters.work += frame.fetch(x).scalars_dropped();
                Ok(())
            }
            Op::Rd(dst, zero, place) => {
                let value = match self.place(place, frame)? {
                    Capability::Read(value) => value,
                    Capability::Null if self.interpreter.linear == LinearScalar::Field => {
                        Value::I64(0)
                    }
                    Capability::Null => Value::from(*zero),
                    Capability::Sum(_) => return unchecked("a read from a capability of sums"),
                };
                if is_scalar(&value) {
                    self.counters.reads += 1;
                    if !place.path.is_empty() {
                        self.counters.moved += value.bytes();
                    }
                } else if !place.path.is_empty() && is_of_items(&value) {
                    // Once L has been applied such a row has cells of its own where its array changes.
                    self.counters.handed += self.erased_scalars(&value);
                }
                frame.set(*dst, value);
                Ok(())
            }
            Op::Inc(place, arg) => self.increment(place, arg, frame),
            Op::Index(dst, x, path) => {
                let value = walk(&frame.slots[*x as usize], path, frame)?;
                if is_scalar(&value) {
                    self.counters.work += 1;
                    self.counters.moved += value.bytes();
                }
                frame.set(*dst, value);
                Ok(())
            }
            Op::Copied(dst, x, path) => self.copied(*dst, *x, path, frame),
            Op::Update { .. } => self.update(op, frame),
            Op::TakeOut(dst, array, path, linear) => {
                self.take_out(*dst, array, path, *linear, frame)
            }
            Op::Structured(dst, op, args, sizes) => {
                let arrays: Vec<Value> = args.iter().map(|a| frame.fetch(a)).collect();
                let sizes: Vec<i64> = sizes.iter().map(|s| frame.size(s)).collect();
                if let Some(n) = sizes.iter().find(|n| **n < 0) {
                    return error(RuntimeErrorKind::NegativeSize, &[*n]);
                }
                let args = op.operands(arrays, sizes.into_iter().map(Value::I64));
                self.structured(*dst, *op, &args, frame)
            }
            Op::Tuple(dst, items) => {
                let items: Vec<Value> = items.iter().map(|a| frame.fetch(a)).collect();
                frame.set(*dst, Value::tuple(items));
                Ok(())
            }
            Op::Untuple(dst, x) => {
                let Value::Tuple(items) = frame.fetch(x) else {
                    return unchecked("a tuple pattern on something else");
                };
                for (dst, item) in dst.iter().zip(items.iter()) {
                    frame.set(*dst, item.clone());
                }
                Ok(())
            }
            Op::Proj(dst, x, k) => {
                let Some(item) = frame.slots[*x as usize].items().and_then(|v| v.get(*k as usize))
                else {
                    return unchecked("a projection of something that is not a tuple or record");
                };
                let item = item.clone();
                frame.set(*dst, item);
                Ok(())
            }
            Op::Con(dst, con, args) => {
                let fields: Vec<Value> = args.iter().map(|a| frame.fetch(a)).collect();
                self.counters.tape += fields.iter().map(own_bytes).sum::<u64>();
                frame.set(*dst, Value::data(*con, fields));
                Ok(())
            }
            Op::Tangent(dst, con, fields) => {
                let fields: Vec<Value> = fields.iter().map(|a| frame.fetch(a)).collect();
                frame.set(*dst, Value::data(*con, fields));
                Ok(())
            }
            Op::Parts { con, value, parts } => {
                let Value::Data(made_by, values) = frame.fetch(value) else {
                    return unchecked("the fields of something that is no tangent");
                };
                for (k, (dst, ty)) in parts.iter().enumerate() {
                    let part = match values.get(k) {
                        Some(part) if made_by == *con => part.clone(),
                        _ => {
                            let zero = self.zeros(ty, self.interpreter.linear, frame)?.into_value();
                            let Some(zero) = zero else {
                                return unchecked("zero of a type that is not a vector space");
                            };
                            self.counters.zeros += zero.scalars();
                            zero
                        }
                    };
                    if let Some((found, wanted)) = size_mismatch(&part, ty, &mut |s| frame.size(s))
                    {
                        return error(RuntimeErrorKind::SizeMismatch, &[found, wanted]);
                    }
                    if let Value::Array(_) = part {
                        self.counters.handed += self.erased_scalars(&part);
                    }
                    frame.set(*dst, part);
                }
                Ok(())
            }
            Op::Fields { value, fields } => {
                let Value::Data(_, values) = frame.fetch(value) else {
                    return unchecked("a record pattern on something else");
                };
                open(frame, fields, &values)
            }
            Op::ArrayLit(dst, ty, items) => {
                let items: Vec<Value> = items.iter().map(|a| frame.fetch(a)).collect();
                let value = if items.is_empty() {
                    self.zeros(ty, LinearScalar::F64, frame)?.into_value()
                } else {
                    Value::array(items)
                };
                let Some(value) = value else {
                    return unchecked("elements of an array differ in kind or shape");
                };
                self.counters.moved += value.bytes();
                frame.set(*dst, value);
                Ok(())
            }
            Op::Size(dst, def, x, k) => {
                let Some(array) = frame.slots[*x as usize].as_array() else {
                    return unchecked("the size of something that is not an array");
                };
                // Inside an empty array the size is what the type says: it may be negative.
                let inside_empty = (0..*k as usize).any(|j| array.dim(j) == Some(0));
                let size = match (array.dim(*k as usize), def) {
                    (Some(_), Some(def)) if inside_empty => frame.size(def),
                    (Some(n), _) => n as i64,
                    (None, _) => return unchecked("a size of a dimension that is not there"),
                };
                frame.set(*dst, Value::I64(size));
                Ok(())
            }
            Op::Cast { dst, value, ty, proved } => {
                let value = frame.fetch(value);
                if let Some((found, expected)) = size_mismatch(&value, ty, &mut |s| frame.size(s)) {
                    if *proved {
                        return unchecked("a cast to other sizes that nothing tests");
                    }
                    return error(RuntimeErrorKind::SizeMismatch, &[found, expected]);
                }
                frame.set(*dst, value);
                Ok(())
            }
            Op::Below(i, n) => {
                self.counters.checks += 1;
                let (i, n) = (frame.int(i)?, frame.int(n)?);
                if 0 <= i && i < n { Ok(()) } else { error(RuntimeErrorKind::Index, &[i, n]) }
            }
            Op::Within(lo, count, n) => {
                self.counters.checks += 1;
                let (lo, count, n) = (frame.int(lo)?, frame.int(count)?, frame.int(n)?);
                match usize::try_from(n).ok().and_then(|n| slice_range(lo, count, n)) {
                    Some(_) => Ok(()),
                    None => error(RuntimeErrorKind::Slice, &[lo, count, n]),
                }
            }
            Op::NonNegative(n) => {
                self.counters.checks += 1;
                let n = frame.int(n)?;
                if n >= 0 { Ok(()) } else { error(RuntimeErrorKind::NegativeSize, &[n]) }
            }
            Op::Show(piece, operand) => {
                let piece = match operand.as_ref().map(|arg| (piece, frame.fetch(arg))) {
                    None => *piece,
                    Some((Piece::Before(_), Value::I64(i))) => Piece::Before(i),
                    Some((_, Value::F64(x))) => Piece::F64(x),
                    Some((_, Value::F32(x))) => Piece::F32(x),
                    Some((_, Value::I32(x))) => Piece::I64(i64::from(x)),
                    Some((_, Value::I64(k))) => Piece::I64(k),
                    Some((_, Value::Bool(b))) => Piece::Bool(b),
                    Some(_) => return unchecked("something is printed that is no number"),
                };
                print::piece(piece);
                Ok(())
            }
            Op::Exact(operation, a, b) => {
                self.counters.checks += 1;
                let (a, b) = (frame.int(a)?, frame.int(b)?);
                let value = match *operation {
                    prim::IADD => a.checked_add(b),
                    prim::ISUB => a.checked_sub(b),
                    _ => a.checked_mul(b),
                };
                let operands = [a, b, Check::number_of(*operation)];
                if value.is_some() { Ok(()) } else { error(RuntimeErrorKind::Memory, &operands) }
            }
            Op::RdRegion { .. }
            | Op::SumRegion { .. }
            | Op::Scan(_)
            | Op::Case { .. }
            | Op::Call { .. } => self.nested(op, frame),
        }
    }

    /// Fails if the call is cancelled.
    pub(crate) fn go_on(&self) -> Run<()> {
        match &self.interpreter.cancellation {
            Some(cancellation) if cancellation.is_cancelled() => {
                error(RuntimeErrorKind::Cancelled, &[])
            }
            _ => Ok(()),
        }
    }

    /// Why an operation failed. One that works on whole arrays stops early in a call that is cancelled,
    /// and what it leaves fits nothing.
    #[cold]
    pub(crate) fn cause(&self, mut fault: Box<Fault>) -> Box<Fault> {
        let stopped = match &fault.error {
            EvalError::Runtime(error) => error.kind == RuntimeErrorKind::Memory,
            EvalError::Unchecked { .. } => true,
            EvalError::Argument { .. } | EvalError::NotFinite { .. } => false,
        };
        if stopped && let Err(cancelled) = self.go_on() {
            fault = cancelled;
        }
        fault
    }

    /// The value of a structured primitive.
    fn structured(
        &mut self,
        dst: Slot,
        op: Structured,
        args: &[Value],
        frame: &mut Frame,
    ) -> Run<()> {
        let misfit = "the operands of a structured primitive do not fit it";
        let Some(sizes) = structured::sizes(op, args) else { return unchecked(misfit) };
        let cells = |sizes: &[usize]| sizes.iter().try_fold(8u64, |n, s| n.checked_mul(*s as u64));
        let bytes = cells(&sizes[..op.row().result.len()]);
        let bytes = bytes.filter(|bytes| memory::has_room(*bytes as usize / 8));
        let Some(charge) = bytes.and_then(|bytes| self.meter.charge(bytes)) else {
            return error(RuntimeErrorKind::Memory, &[]);
        };
        let value = structured::apply(op, args, &sizes, charge);
        // A kernel that was cancelled stopped early, and does not say so.
        self.go_on()?;
        let Some(value) = value else {
            return unchecked(misfit);
        };
        if self.interpreter.finite && args.iter().all(finite::is_finite) {
            self.finite(&value, &format!("`{}`", op.row().name))?;
        }
        let sizes: Vec<u64> = sizes.iter().map(|s| *s as u64).collect();
        self.counters.work += op.work(&sizes);
        if matches!(value, Value::Array(_)) {
            self.counters.moved += value.bytes();
        }
        frame.set(dst, value);
        Ok(())
    }

    /// Fails if a value has to be finite and is not.
    fn finite(&self, value: &Value, what: &str) -> Run<()> {
        match self.interpreter.finite && !finite::is_finite(value) {
            true => not_finite(format!("{what} is not finite")),
            false => Ok(()),
        }
    }

    /// Binds the result of an operation of linear code that costs 1 per scalar.
    fn linear_result(&mut self, frame: &mut Frame, dst: Slot, value: Value) -> Run<()> {
        self.counters.work += value.scalars();
        self.linear_moved(frame, dst, value);
        Ok(())
    }

    fn linear_moved(&mut self, frame: &mut Frame, dst: Slot, value: Value) {
        if matches!(value, Value::Array(_)) {
            self.counters.moved += value.bytes();
        }
        frame.set(dst, value);
    }

    pub(crate) fn zeros(&self, ty: &Type, linear: LinearScalar, frame: &Frame) -> Run<Region> {
        Region::zeros(ty, linear, &self.meter, &mut |s| frame.size(s)).or_else(Refused::fault)
    }

    /// The region of a `wr` or `acc` parameter of a call from outside, with its initial content.
    pub(crate) fn buffer(
        &mut self,
        param: &CapCode,
        value: &Value,
        frame: &Frame,
    ) -> Run<Capability> {
        let acc = param.mode == Mode::Acc;
        let linear = if acc { LinearScalar::F64 } else { self.interpreter.linear };
        let mut region = self.zeros(&param.ty, linear, frame)?;
        let whole = region.whole(self.regions.len());
        region.store(whole.cursor(), value).or_else(Misfit::fault)?;
        self.regions.push(region);
        Ok(Capability::Sum(whole))
    }

    /// The results of a body that has run: non-linear and linear.
    pub(crate) fn outcome(&mut self, body: &Body, frame: &mut Frame) -> (Vec<Value>, Vec<Value>) {
        let mut results = Vec::new();
        self.results(body, frame, &mut results);
        let linear = results.split_off(body.copies.len());
        (results, linear)
    }

    /// What a place refers to. For a capability of sums the steps are tested here.
    fn place(&mut self, place: &PlaceCode, frame: &Frame) -> Run<Capability> {
        match &frame.caps[place.root as usize] {
            Capability::Null => Ok(Capability::Null),
            Capability::Read(value) => walk(value, &place.path, frame).map(Capability::Read),
            Capability::Sum(cell) => {
                let region = &self.regions[cell.region];
                let cursor = steps(region, cell.cursor(), &place.path, frame)?;
                Ok(Capability::Sum(cursor.cell(cell.region)))
            }
        }
    }

    fn increment(&mut self, place: &PlaceCode, arg: &Arg, frame: &mut Frame) -> Run<()> {
        let value = frame.fetch(arg);
        match &frame.caps[place.root as usize] {
            Capability::Null => {
                self.counters.work += value.scalars();
                Ok(())
            }
            Capability::Read(_) => unchecked("an addition into a capability of reads"),
            Capability::Sum(cell) => {
                let region = &mut self.regions[cell.region];
                let cursor = steps(region, cell.cursor(), &place.path, frame)?;
                if cursor.in_array() {
                    self.counters.moved += 2 * value.bytes();
                }
                let linear = match arg {
                    Arg::Take(_) => self.interpreter.linear,
                    Arg::Get(_) | Arg::Const(_) => LinearScalar::F64,
                };
                let linear_arg = matches!(arg, Arg::Take(_));
                let added = region.add(cursor, &value, linear).or_else(Misfit::fault)?;
                match linear_arg {
                    true => self.settled(&value, added),
                    false => self.counters.work += added,
                }
                Ok(())
            }
        }
    }
}

/// Binds the fields of a data value, and tests those that are stated to be equal.
fn open(frame: &mut Frame, fields: &[FieldCode], values: &[Value]) -> Run<()> {
    for (field, value) in fields.iter().zip(values) {
        match field {
            FieldCode::Bind(slot) => frame.set(*slot, value.clone()),
            FieldCode::Eq(arg, proved) => {
                let expected = frame.int(arg)?;
                let Value::I64(found) = *value else {
                    return unchecked("a stated field is not an integer");
                };
                if found != expected {
                    if *proved {
                        return unchecked(
                            "a field that is not what it is stated to be, and nothing tests it",
                        );
                    }
                    return error(RuntimeErrorKind::SizeMismatch, &[found, expected]);
                }
            }
        }
    }
    Ok(())
}

/// Bytes that a field adds to a tape: not what a data value inside has been counted for already.
fn own_bytes(value: &Value) -> u64 {
    match value {
        Value::Data(..) => 0,
        Value::Array(array) if array.holds_data() => 0,
        other => other.bytes(),
    }
}

/// The first dimension of a value that is not what a type says: found and expected.
pub(crate) fn size_mismatch(
    value: &Value,
    ty: &Type,
    size: &mut dyn FnMut(&Size) -> i64,
) -> Option<(i64, i64)> {
    match (value, ty) {
        (Value::Tuple(items), Type::Tuple(types)) => {
            items.iter().zip(types).find_map(|(v, t)| size_mismatch(v, t, size))
        }
        (Value::Array(array), Type::Array(..)) => {
            let mut inner = ty;
            let mut outer: Vec<usize> = Vec::new();
            while let Type::Array(n, element) = inner {
                let found = array.dim(outer.len()).unwrap_or_default();
                let expected = size(n);
                match checked_dim(expected, &outer) {
                    Ok(dim) if dim == found || outer.contains(&0) => outer.push(found),
                    _ => return Some((found as i64, expected)),
                }
                inner = element;
            }
            if let Type::Tuple(_) = inner
                && let crate::value::View::Items(items) = array.view()
            {
                return items.iter().find_map(|v| size_mismatch(v, inner, size));
            }
            None
        }
        _ => None,
    }
}

/// The constructor of a data value.
fn constructor(value: &Value) -> Option<(ConRef, Items)> {
    match value {
        Value::Data(con, fields) => Some((*con, fields.clone())),
        _ => None,
    }
}

/// The array behind a value.
fn array(value: Value) -> Run<Array> {
    match value {
        Value::Array(array) => Ok(array),
        _ => unchecked("a slice of something that is not an array"),
    }
}
