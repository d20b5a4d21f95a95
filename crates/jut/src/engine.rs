//! The engines behind one interface: leaves in, leaves out.
//!
//! Native code reads the caller's arrays in place and writes results straight into their
//! destination; nothing is allocated once destinations and lists have their size. The interpreter is
//! given copies.

use crate::backends::Engine;
use crate::error::Error;
use crate::layout::{Layout, stack};
use crate::value::{Arg, Array, Number, Out, Value, numbers};
use jut_eval::{Cells, EvalError, Interpreter, Value as EvalValue, View};
use jut_ir::{ConRef, DataId, FuncId, Program, RuntimeError, RuntimeErrorKind, Span, Type};
use jut_loop::Lowered;
use jut_loop::form::Role;
use jut_native::{Arg as Word, Backend, CallError, Checked, Results, Returned};
use jut_runtime::Workspace;
use std::sync::Arc;

/// What runs a function.
pub(crate) enum Code {
    /// Machine code, and where each leaf of the results goes.
    Native(Box<Native>),
    /// The interpreter, prepared for the program.
    Interpreted(Interpreter),
}

/// Machine code.
pub(crate) struct Native {
    pub checked: Arc<Checked>,
    pub placements: Vec<Placement>,
}

/// Where compiled code puts a leaf of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placement {
    /// Into a buffer that the caller passes as the parameter with this number.
    Buffer(usize),
    /// It is the returned result with this number.
    Returned(usize),
}

/// Where a leaf of the results shall go: into a value that grows as needed, or into memory of the
/// user, which must fit.
pub(crate) enum Sink<'t, 'o> {
    Own(&'t mut Value),
    Out(&'t mut Out<'o>),
}

impl Code {
    /// Compiles a lowered program to machine code.
    pub fn native(lowered: &Lowered, backend: &Backend) -> Result<Code, Error> {
        let checked =
            Checked::compile(lowered, backend).map_err(|e| Error::Backend(e.to_string()))?;
        let placements = placements(lowered, lowered.signature.results.len());
        Ok(Code::Native(Box::new(Native { checked: Arc::new(checked), placements })))
    }

    /// How much machine code it is.
    pub fn bytes(&self) -> usize {
        match self {
            Code::Native(native) => native.checked.compiled().bytes(),
            Code::Interpreted(_) => 0,
        }
    }
}

/// The engine of what [`Engine::Tiered`] made: which of the two runs it all.
pub(crate) fn tier<'c>(code: impl IntoIterator<Item = &'c Checked>) -> Engine {
    match code.into_iter().all(|checked| checked.compiled().is_replaced()) {
        true => Engine::Llvm,
        false => Engine::Cranelift,
    }
}

/// Where the leaves of the first `count` results of a program go.
pub(crate) fn placements(lowered: &Lowered, count: usize) -> Vec<Placement> {
    let signature = &lowered.signature;
    let components = signature.results.iter().take(count).flat_map(|r| &r.components);
    let place = |c: &jut_loop::signature::AbiComponent| match c.role {
        Some(Role::Out) => Placement::Buffer(c.number),
        _ => Placement::Returned(c.number.saturating_sub(signature.param_count)),
    };
    components.map(place).collect()
}

/// Why a run gave no results.
pub(crate) enum Failure {
    /// The program failed.
    Run(RuntimeError),
    /// A result does not fit into the memory given for it: its leaf, and why.
    Output(usize, String),
    /// A mistake in jut.
    Internal(String),
}

impl Failure {
    /// What the interpreter says.
    pub fn of(error: EvalError) -> Failure {
        match error {
            EvalError::Runtime(error) => Failure::Run(error),
            other => Failure::Internal(other.to_string()),
        }
    }
}

fn out_of_memory() -> Failure {
    let error =
        RuntimeError { kind: RuntimeErrorKind::Memory, span: Span::NONE, operands: Vec::new() };
    Failure::Run(error)
}

/// A way to run machine code.
pub(crate) trait Runner {
    /// The most memory that a call may take, results included.
    fn limit(&self) -> usize;

    /// Leaves so many bytes of the limit to the results.
    fn set_aside(&mut self, bytes: usize);

    /// How many cells the buffer with an ABI number has, given the bound arguments.
    fn cells(&self, number: usize, parts: &[Arg<'_>]) -> Option<usize>;

    /// Calls the code.
    fn call<'w>(
        &'w mut self,
        words: &mut [Word<'_>],
        call: &mut Vec<u64>,
        returned: &'w mut Vec<u64>,
    ) -> Result<Results<'w>, Failure>;
}

/// A plain call.
pub(crate) struct Call<'r> {
    pub checked: &'r Checked,
    pub workspace: &'r mut Workspace,
    pub limit: usize,
}

impl Runner for Call<'_> {
    fn limit(&self) -> usize {
        self.limit
    }

    fn set_aside(&mut self, bytes: usize) {
        self.workspace.set_limit(self.limit.saturating_sub(bytes));
    }

    fn cells(&self, number: usize, parts: &[Arg<'_>]) -> Option<usize> {
        self.checked.cells(number, &mut |k| integer(parts, k))
    }

    fn call<'w>(
        &'w mut self,
        words: &mut [Word<'_>],
        _: &mut Vec<u64>,
        returned: &'w mut Vec<u64>,
    ) -> Result<Results<'w>, Failure> {
        self.checked.call(self.workspace, words, returned).map_err(Failure::from)
    }
}

/// The value of an integer among bound arguments.
pub(crate) fn integer(parts: &[Arg<'_>], k: usize) -> i64 {
    match parts.get(k) {
        Some(Arg::I64(value)) => *value,
        _ => 0,
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        match error {
            CallError::Run(error) => Failure::Run(error),
            CallError::Arguments(reason) => Failure::Internal(reason),
        }
    }
}

/// Memory of the results of a call, against its limit.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// Bytes that are taken.
    pub taken: usize,
    /// Those of them that this call does not need.
    pub idle: usize,
    /// The most that there may be.
    pub limit: usize,
}

impl Room {
    /// Room of which so much is taken.
    pub fn new(taken: usize, limit: usize) -> Room {
        Room { taken, idle: 0, limit }
    }

    /// Whether so much is taken without need that the rest of the call may miss it.
    pub fn is_wasted(&self) -> bool {
        self.idle > self.limit / 8
    }

    /// Takes so many bytes more.
    pub fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        let taken = self.taken.checked_add(bytes).filter(|total| *total <= self.limit);
        self.taken = taken.ok_or_else(out_of_memory)?;
        Ok(())
    }

    /// Makes room in a list for so many cells in all.
    fn grow<T>(&mut self, data: &mut Vec<T>, cells: usize) -> Result<(), Failure> {
        if cells <= data.capacity() {
            self.idle += (data.capacity() - cells) * size_of::<T>();
            return Ok(());
        }
        let more = cells - data.capacity();
        self.take(more.saturating_mul(size_of::<T>()))?;
        let missing = cells.saturating_sub(data.len());
        data.try_reserve_exact(missing).map_err(|_| out_of_memory())
    }
}

/// Lists the words of a call: arguments, then the buffers for results, which grow as far as there is
/// room.
pub(crate) fn prepare<'a, 'o: 'a>(
    placements: &[Placement],
    runner: &impl Runner,
    parts: &[Arg<'a>],
    sinks: impl Iterator<Item = Sink<'a, 'o>>,
    room: &mut Room,
    words: &mut Vec<Word<'a>>,
) -> Result<(), Failure> {
    for part in parts {
        words.push(numbers!(Arg, *part;
            x => x.word(),
            [x, _] => Number::words(x),
            _ => return Err(Failure::Internal("an argument was not taken apart".into())),
        ));
    }
    for (k, (placement, sink)) in placements.iter().zip(sinks).enumerate() {
        let Placement::Buffer(number) = *placement else { continue };
        let cells = runner.cells(number, parts).ok_or_else(out_of_memory)?;
        words.push(buffer(sink, cells, room, k)?);
    }
    Ok(())
}

/// Puts what the code returned where it shall go.
pub(crate) fn collect<'t, 'o: 't>(
    placements: &[Placement],
    results: Results<'_>,
    sinks: impl Iterator<Item = Sink<'t, 'o>>,
    room: &mut Room,
) -> Result<(), Failure> {
    for (k, (placement, sink)) in placements.iter().zip(sinks).enumerate() {
        let Placement::Returned(number) = *placement else { continue };
        let nested = || Failure::Internal("a result is not made of flat arrays".into());
        let part = numbers!(Returned, results.get(number).ok_or_else(nested)?;
            x => x.arg(),
            [x] => Number::args(x, None),
            Returned::Nested => return Err(nested()),
        );
        store(part, sink, room, k)?;
    }
    Ok(())
}

/// A buffer of a result as a word of a call.
fn buffer<'t>(
    sink: Sink<'t, '_>,
    cells: usize,
    room: &mut Room,
    k: usize,
) -> Result<Word<'t>, Failure> {
    fn resized<'d, T: Number>(
        data: &'d mut Vec<T>,
        cells: usize,
        room: &mut Room,
    ) -> Result<Option<Word<'d>>, Failure> {
        room.grow(data, cells)?;
        data.resize(cells, T::default());
        Ok(Some(Number::words_mut(data)))
    }
    fn whole<T: Number>(data: &mut [T], cells: usize) -> Option<Word<'_>> {
        (data.len() == cells).then(|| Number::words_mut(data))
    }
    let word = match sink {
        Sink::Own(value) => numbers!(Value, value;
            _ => None,
            [a] => resized(&mut a.data, cells, room)?,
            _ => None,
        ),
        Sink::Out(out) => numbers!(Out, out; _ => None, [x] => whole(x, cells)),
    };
    word.ok_or_else(|| Failure::Output(k, format!("it is an array of {cells} elements")))
}

/// Copies a leaf of the results.
pub(crate) fn store(
    part: Arg<'_>,
    sink: Sink<'_, '_>,
    room: &mut Room,
    k: usize,
) -> Result<(), Failure> {
    fn copy<T: Copy>(from: &[T], to: &mut [T], k: usize) -> Result<(), Failure> {
        if from.len() != to.len() {
            let reason = format!("it has {} elements, not {}", from.len(), to.len());
            return Err(Failure::Output(k, reason));
        }
        to.copy_from_slice(from);
        Ok(())
    }
    fn refill<T: Copy>(from: &[T], to: &mut Vec<T>, room: &mut Room) -> Result<(), Failure> {
        to.clear();
        room.grow(to, from.len())?;
        to.extend_from_slice(from);
        Ok(())
    }
    match (part, sink) {
        (Arg::F64(x), Sink::Own(Value::F64(to))) => *to = x,
        (Arg::F64(x), Sink::Out(Out::F64(to))) => **to = x,
        (Arg::F64s(x, _), Sink::Own(Value::F64s(to))) => refill(x, &mut to.data, room)?,
        (Arg::F64s(x, _), Sink::Out(Out::F64s(to))) => copy(x, to, k)?,
        (Arg::F32(x), Sink::Own(Value::F32(to))) => *to = x,
        (Arg::F32(x), Sink::Out(Out::F32(to))) => **to = x,
        (Arg::F32s(x, _), Sink::Own(Value::F32s(to))) => refill(x, &mut to.data, room)?,
        (Arg::F32s(x, _), Sink::Out(Out::F32s(to))) => copy(x, to, k)?,
        (Arg::I64(x), Sink::Own(Value::I64(to))) => *to = x,
        (Arg::I64(x), Sink::Out(Out::I64(to))) => **to = x,
        (Arg::I64s(x, _), Sink::Own(Value::I64s(to))) => refill(x, &mut to.data, room)?,
        (Arg::I64s(x, _), Sink::Out(Out::I64s(to))) => copy(x, to, k)?,
        (Arg::I32(x), Sink::Own(Value::I32(to))) => *to = x,
        (Arg::I32(x), Sink::Out(Out::I32(to))) => **to = x,
        (Arg::I32s(x, _), Sink::Own(Value::I32s(to))) => refill(x, &mut to.data, room)?,
        (Arg::I32s(x, _), Sink::Out(Out::I32s(to))) => copy(x, to, k)?,
        (Arg::Bool(x), Sink::Own(Value::Bool(to))) => *to = x,
        (Arg::Bool(x), Sink::Out(Out::Bool(to))) => **to = x,
        (Arg::Bools(x, _), Sink::Own(Value::Bools(to))) => refill(x, &mut to.data, room)?,
        (Arg::Bools(x, _), Sink::Out(Out::Bools(to))) => copy(x, to, k)?,
        (part, _) => return Err(Failure::Output(k, format!("it is {}", part.describe()))),
    }
    Ok(())
}

/// Arguments as the interpreter has them, appended to `args`: `params` gives each parameter's type, layout
/// and leaves, and the shapes of these.
pub(crate) fn enter_all<'p>(
    program: &Program,
    params: impl Iterator<Item = (&'p Type, &'p Layout, &'p [Arg<'p>], Vec<Vec<usize>>)>,
    args: &mut Vec<EvalValue>,
) -> Result<(), Failure> {
    for (ty, layout, parts, shapes) in params {
        let owned: Vec<Value> = parts.iter().zip(shapes).map(|(p, s)| own(*p, s)).collect();
        let value = layout.rebuild(&owned);
        let arg = value.and_then(|value| enter(program, ty, &value));
        args.push(arg.ok_or_else(|| Failure::Internal("an argument has another type".into()))?);
    }
    Ok(())
}

/// Runs a function in the interpreter.
pub(crate) fn interpret(
    interpreter: &Interpreter,
    root: FuncId,
    args: &[EvalValue],
) -> Result<Vec<EvalValue>, Failure> {
    let outcome = interpreter.call(root, args, &[], &[]).map_err(Failure::of)?;
    Ok(outcome.results)
}

fn own(part: Arg<'_>, shape: Vec<usize>) -> Value {
    numbers!(Arg, part;
        x => x.value(),
        [x, _] => Number::values(Array { shape, data: x.to_vec() }),
        _ => Value::Tuple(Vec::new()),
    )
}

/// A value as the interpreter has it: arrays of tuples are blocks of tuples.
fn enter(program: &Program, ty: &Type, value: &Value) -> Option<EvalValue> {
    let array =
        |shape: &[usize], cells| jut_eval::Array::new(shape.to_vec(), cells).map(EvalValue::Array);
    let fields = |id: DataId, index: usize, items: &[Value]| {
        let con = program.datas[id].constructors.get(index)?;
        let fields = con.fields.iter().zip(items).map(|(f, v)| enter(program, &f.ty, v));
        let con = ConRef { data: id, index: u32::try_from(index).ok()? };
        Some(EvalValue::data(con, fields.collect::<Option<_>>()?))
    };
    match (ty, value) {
        (&Type::F64, Value::F64(x)) => Some(EvalValue::F64(*x)),
        (&Type::F32, Value::F32(x)) => Some(EvalValue::F32(*x)),
        (Type::I32, Value::I32(x)) => Some(EvalValue::I32(*x)),
        (Type::I64, Value::I64(x)) => Some(EvalValue::I64(*x)),
        (Type::Bool, Value::Bool(x)) => Some(EvalValue::Bool(*x)),
        (Type::Array(..), Value::F64s(a)) => array(&a.shape, Cells::F64(a.data.clone())),
        (Type::Array(..), Value::F32s(a)) => array(&a.shape, Cells::F32(a.data.clone())),
        (Type::Array(..), Value::I32s(a)) => array(&a.shape, Cells::I32(a.data.clone())),
        (Type::Array(..), Value::I64s(a)) => array(&a.shape, Cells::I64(a.data.clone())),
        (Type::Array(..), Value::Bools(a)) => array(&a.shape, Cells::Bool(a.data.clone())),
        (Type::Array(..), Value::Tuple(_) | Value::List(_)) => {
            let (mut element, mut dims, mut items) = (ty, Vec::new(), vec![value.clone()]);
            while let Type::Array(_, inner) = element {
                let size = items.first().map_or(Some(0), Value::first_size)?;
                let split = items.iter().flat_map(|v| (0..size).map(|k| v.element(k)));
                items = split.collect::<Option<_>>()?;
                dims.push(size);
                element = inner;
            }
            let items = items.iter().map(|v| enter(program, element, v));
            array(&dims, Cells::Items(items.collect::<Option<_>>()?))
        }
        (Type::Tuple(types), Value::Tuple(items)) => {
            let entered = types.iter().zip(items).map(|(t, v)| enter(program, t, v));
            let mut entered: Vec<EvalValue> = entered.collect::<Option<_>>()?;
            if let Some((data, ..)) = program.record(types).filter(|(.., r)| !r.is_sum()) {
                entered.push(EvalValue::data(ConRef { data, index: 0 }, Vec::new()));
            }
            Some(EvalValue::tuple(entered))
        }
        (Type::Data(id), Value::Tuple(items)) => fields(*id, 0, items),
        (Type::Data(id), Value::Data(name, items)) => {
            let constructors = &program.datas[*id].constructors;
            fields(*id, constructors.iter().position(|c| c.name == *name)?, items)
        }
        _ => None,
    }
}

/// A value of the interpreter, in the form of the border.
pub(crate) fn leave(program: &Program, ty: &Type, value: &EvalValue) -> Option<Value> {
    match (ty, value) {
        (_, EvalValue::F64(x)) => Some(Value::F64(*x)),
        (_, EvalValue::F32(x)) => Some(Value::F32(*x)),
        (_, EvalValue::I32(x)) => Some(Value::I32(*x)),
        (_, EvalValue::I64(x)) => Some(Value::I64(*x)),
        (_, EvalValue::Bool(x)) => Some(Value::Bool(*x)),
        (Type::Tuple(types), EvalValue::Tuple(items)) => {
            let types = program.components(types).iter();
            let items = types.zip(items.iter()).map(|(t, v)| leave(program, t, v));
            items.collect::<Option<_>>().map(Value::Tuple)
        }
        (Type::Data(id), EvalValue::Data(con, items)) => {
            let constructors = &program.datas[*id].constructors;
            let con = constructors.get(con.index as usize)?;
            let fields = con.fields.iter().zip(items.iter());
            let fields: Option<_> = fields.map(|(f, v)| leave(program, &f.ty, v)).collect();
            match constructors.len() {
                1 => fields.map(Value::Tuple),
                _ => fields.map(|fields| Value::Data(con.name.clone(), fields)),
            }
        }
        (Type::Array(_, element), EvalValue::Array(a)) => match a.view() {
            View::F64(x) => Some(Value::F64s(Array { shape: a.dims(), data: x.to_vec() })),
            View::F32(x) => Some(Value::F32s(Array { shape: a.dims(), data: x.to_vec() })),
            View::I32(x) => Some(Value::I32s(Array { shape: a.dims(), data: x.to_vec() })),
            View::I64(x) => Some(Value::I64s(Array { shape: a.dims(), data: x.to_vec() })),
            View::Bool(x) => Some(Value::Bools(Array { shape: a.dims(), data: x.to_vec() })),
            View::Items(_) => {
                let items = (0..a.len()).map(|k| leave(program, element, &a.get(k)?));
                stack(program, element, &items.collect::<Option<Vec<_>>>()?)
            }
        },
        _ => None,
    }
}
