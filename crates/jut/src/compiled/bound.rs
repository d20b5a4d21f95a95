//! Calls with arguments of sizes that are known before.
//!
//! A [`Session`] takes whatever fits the function: at each call it takes the arguments apart, finds the
//! sizes, and holds everything against the declared types. Of a function of a few numbers, or of short
//! arrays, that costs more than the arithmetic. A [`BoundCall`] has done it once; a call compares lengths
//! and runs the code.

use super::{Session, Shared, finite};
use crate::engine::{self, Code, Failure, Placement, Room, collect};
use crate::error::{ArgumentError, Error};
use crate::interface::Destination;
use crate::ports::ResultLayout;
use crate::value::{Arg, Number, Out, Value, numbers};
use jut_ir::Scalar;
use jut_loop::form::Kind;
use jut_native::{Arg as Word, Beginning, Bound, Results};
use jut_runtime::{Cancellation, Workspace};
use std::sync::Arc;

/// A function bound to the sizes of its arguments, with the memory that one thread needs to call it:
/// what [`Compiled::bind`](crate::Compiled::bind) gives.
///
/// Arguments and results are numbers and slices of the caller's; those of arrays have as many elements
/// as the arguments had to which it was bound, and an integer that says a size has the value that it had
/// there. Everything else may change from call to call. A call only compares lengths with
/// those, and never allocates, once the first has shown how much memory is needed.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// let model = jut::Model::from_text(
///     "def f[n](x: [n]f64, a: f64) -> f64 = sum (i < n) { sin(a * x[i]) }",
/// )?;
/// let gradient = model.function("f")?.wrt(&["x"])?.value_and_gradient()?;
/// let mut x = [0.1, 0.2, 0.3];
/// let mut f = gradient.bind(&[(&x).into(), 0.0.into()])?;
/// let (mut value, mut dx) = (0.0, [0.0; 3]);
/// for step in 0..100 {
///     f.call(&[(&x).into(), 2.0.into()], &mut [(&mut value).into(), (&mut dx).into()])?;
///     x.iter_mut().zip(dx).for_each(|(x, d)| *x += 0.1 * d);
/// }
/// assert!((value - 3.0).abs() < 1e-9);
///
/// let error = f.call(&[(&[0.5]).into(), 2.0.into()], &mut [(&mut value).into(), (&mut dx).into()]);
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "argument `x`: expected [n]f64, got a slice of 1 f64: the call is bound to 3 elements",
/// );
/// # Ok(())
/// # }
/// ```
///
/// Limits on memory, cancellation and stacks hold as they do for a [`Session`].
pub struct BoundCall {
    shared: Arc<Shared>,
    session: Session,
    given: Vec<Given>,
    /// Machine code; the interpreter is given the arguments as any session is.
    native: Option<Native>,
}

struct Native {
    bound: Bound,
    /// Where the results are, those in buffers and those that are returned.
    placements: Vec<Placement>,
    /// Whether results have to be finite.
    finite: bool,
}

/// What an argument was when it was bound.
struct Given {
    scalar: Scalar,
    /// The shape of an array.
    shape: Option<Vec<usize>>,
    /// The value of an integer that says a size.
    size: Option<i64>,
}

impl BoundCall {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        mut session: Session,
        args: &[Arg<'_>],
    ) -> crate::Result<BoundCall> {
        let interface = &shared.interface;
        let refuse = |name: &str, span| {
            let reason = "a bound call takes and gives numbers, and arrays of numbers";
            let help = "`session` makes calls with values of every type";
            interface.placed(ArgumentError::new("A06", name, reason, help).at(span))
        };
        if let Some(k) = interface.binder.structured() {
            let name =
                interface.inputs().nth(k).map_or(String::new(), |port| port.name.to_string());
            return Err(refuse(&name, interface.binder.span_of(k)));
        }
        if let Some(output) = interface.outputs.iter().find(|output| output.leaves.len() != 1) {
            return Err(refuse(&output.name, jut_ir::Span::NONE));
        }
        let too_large = || {
            let reason = "a result would be larger than memory";
            Error::Request(reason.to_string())
        };
        let bound = session.bound(args, |sizes, parts| {
            let shapes = interface.binder.typed_parts(sizes, parts);
            let hidden: Vec<bool> = interface.binder.hidden().collect();
            let integer = |k: usize| engine::integer(parts, k);
            let native = match &shared.code {
                Code::Interpreted(_) => None,
                Code::Native(native) => {
                    let bound =
                        native.checked.bind(&mut |k| integer(k), &|k| hidden.get(k) == Some(&true));
                    let placements = native.placements.clone();
                    let finite = shared.finite.is_some();
                    Some(Native { bound: bound.ok_or_else(too_large)?, placements, finite })
                }
            };
            let given = shapes.zip(interface.say_sizes()).zip(&hidden);
            let given = given.filter(|(_, hidden)| !**hidden).map(|(typed, _)| typed);
            let given = given.filter_map(|((_, _, parts, shapes), says_size)| {
                let shape = shapes.into_iter().next().unwrap_or_default();
                let part = parts.first()?;
                let (scalar, extent) = part.plain()?;
                let size = match *part {
                    Arg::I64(n) => says_size.then_some(n),
                    _ => None,
                };
                Some(Given { scalar, shape: extent.map(|_| shape), size })
            });
            Ok((native, given.collect()))
        });
        let (native, given) = bound?;
        Ok(BoundCall { shared: shared.clone(), session, given, native })
    }

    /// Calls the function: an [`Arg`] for each parameter and an [`Out`] for each result, in the order of
    /// [`Compiled::inputs`](crate::Compiled::inputs) and [`Compiled::outputs`](crate::Compiled::outputs).
    /// Arrays are slices; a shape that is given with one must be the one that was bound.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if an argument, or the memory for a result, is not of
    /// the type and size that was bound, [`Error::Run`](crate::Error::Run) if the program fails.
    pub fn call(&mut self, args: &[Arg<'_>], outs: &mut [Out<'_>]) -> crate::Result<()> {
        let Some(native) = &mut self.native else { return self.interpret(args, outs) };
        if args.len() != self.given.len() || outs.len() != native.placements.len() {
            return Err(self.misfit(args, outs));
        }
        let mut call = native.bound.begin();
        let mut fits = true;
        for (arg, given) in args.iter().zip(&self.given) {
            fits &= match arg {
                // What most calls give, and has no shape.
                Arg::F64(_) | Arg::F64s(_, None) => true,
                _ => given.has_shape_of(arg),
            } && push(&mut call, arg);
        }
        let workspace = &mut self.session.workspace;
        let done = match fits {
            true => finish(call, &native.placements, workspace, &mut Destination::outs(outs)),
            false => Err(None),
        };
        match done {
            Ok(()) if !native.finite => Ok(()),
            Ok(()) => match finite::outs(&self.shared, outs) {
                None => Ok(()),
                Some(finite) => {
                    let run = (finite, self.session.workspace.cancellation());
                    Err(finite::found(&self.shared, run, &self.shaped(args)))
                }
            },
            Err(Some(failure)) => Err(self.shared.interface.failed(failure)),
            Err(None) => Err(self.misfit(args, outs)),
        }
    }

    /// As [`Session::cancellation`].
    pub fn cancellation(&mut self) -> Cancellation {
        self.session.cancellation()
    }

    /// As [`Session::set_cancellation`].
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.session.set_cancellation(cancellation);
    }

    /// As [`Session::release_memory`].
    pub fn release_memory(&mut self) {
        self.session.release_memory();
    }

    /// The interpreter makes its own memory at every call.
    fn interpret(&mut self, args: &[Arg<'_>], outs: &mut [Out<'_>]) -> crate::Result<()> {
        if args.len() != self.given.len() || !args.iter().zip(&self.given).all(|(a, g)| g.fits(a)) {
            return Err(self.misfit(args, outs));
        }
        let shaped = args.iter().zip(&self.given).map(|(arg, given)| given.shaped(*arg));
        self.session.call_into(&shaped.collect::<Vec<_>>(), outs)
    }

    /// The arguments of a call with the shapes that were bound.
    fn shaped<'a>(&'a self, args: &[Arg<'a>]) -> Vec<Arg<'a>> {
        args.iter().zip(&self.given).map(|(arg, given)| given.shaped(*arg)).collect()
    }

    /// Why arguments, or memory for results, are not what was bound.
    #[cold]
    fn misfit(&self, args: &[Arg<'_>], outs: &mut [Out<'_>]) -> Error {
        let interface = &self.shared.interface;
        if args.len() != self.given.len() {
            return interface.placed(interface.binder.wrong_count(args.len()));
        }
        if let Err(error) = interface.check_outs(outs) {
            return error;
        }
        let ports = interface.inputs().zip(args).zip(&self.given).enumerate();
        for (k, ((port, arg), given)) in ports {
            if given.fits(arg) {
                continue;
            }
            let (code, why) = match given.bound_to(arg) {
                Some(bound) => ("A03", format!("the call is bound to {bound}")),
                None => ("A02", "give a number, or a slice of that type".to_string()),
            };
            let reason = format!("expected {}, got {}: {why}", port.ty, arg.describe());
            let help = "`bind` again for other sizes, or use a session, which takes any";
            let error = ArgumentError::new(code, port.name, reason, help);
            return interface.placed(error.at(interface.binder.span_of(k)));
        }
        let native = self.native.iter().flat_map(|n| n.placements.iter().map(|p| (p, &n.bound)));
        for (k, ((placement, bound), out)) in native.zip(outs).enumerate() {
            let Placement::Buffer(number) = *placement else { continue };
            let cells = bound.cells(number);
            let given = numbers!(Out, &*out; _ => 1, [x] => x.len());
            let scalar = interface.leaves.get(k).map(|leaf| leaf.scalar);
            let right = matches!(
                (out, scalar),
                (Out::F64s(_), Some(Scalar::F64))
                    | (Out::F32s(_), Some(Scalar::F32))
                    | (Out::I64s(_), Some(Scalar::I64))
                    | (Out::I32s(_), Some(Scalar::I32))
                    | (Out::Bools(_), Some(Scalar::Bool))
            );
            if given != cells || !right {
                let reason = format!("it is an array of {cells} elements");
                return interface.failed(Failure::Output(k, reason));
            }
        }
        interface.failed(Failure::Internal("a bound call does not fit its function".into()))
    }
}

impl Given {
    /// An argument with the shape that was bound.
    fn shaped<'a>(&'a self, arg: Arg<'a>) -> Arg<'a> {
        numbers!(Arg, arg; _ => arg, [x, _] => Number::args(x, self.shape.as_deref()), _ => arg)
    }

    /// Whether an argument is plain, and its shape, if it comes with one, the one that was bound.
    fn has_shape_of(&self, arg: &Arg<'_>) -> bool {
        match (arg.plain(), &self.shape) {
            (Some((scalar, Some((_, Some(shape))))), Some(bound)) if scalar == self.scalar => {
                shape == bound
            }
            (plain, _) => plain.is_some(),
        }
    }

    /// Whether an argument is as it was bound to be.
    fn fits(&self, arg: &Arg<'_>) -> bool {
        let cells = |shape: &[usize]| shape.iter().product::<usize>();
        self.has_shape_of(arg)
            && arg.plain().is_some_and(|(scalar, extent)| {
                scalar == self.scalar
                    && match (extent, &self.shape) {
                        (Some((len, _)), Some(shape)) => len == cells(shape),
                        (None, None) => match (arg, self.size) {
                            (Arg::I64(n), Some(bound)) => bound == *n,
                            _ => true,
                        },
                        _ => false,
                    }
            })
    }

    /// The size to which an argument of the right type is bound.
    fn bound_to(&self, arg: &Arg<'_>) -> Option<String> {
        let elements = |shape: &[usize]| match shape {
            [n] => format!("{n} elements"),
            _ => format!("the shape {shape:?}"),
        };
        let (scalar, extent) = arg.plain()?;
        match (extent, &self.shape, self.size) {
            _ if scalar != self.scalar => None,
            (None, None, Some(bound)) => Some(format!("{bound}, which is a size")),
            (Some(_), Some(shape), _) => Some(elements(shape)),
            _ => None,
        }
    }
}

/// The sizes of the last call of a session, so that another one with the same sizes is as short as one
/// that is bound to them.
pub(crate) struct Last {
    /// The code, bound to these sizes; none of what is not made of numbers and arrays of numbers, or has
    /// results whose sizes are not known before a call.
    bound: Option<Bound>,
    /// Whether leaves of these sizes may go straight to the code: they could be bound, the results of that call were the session's own, and nobody looks at those.
    direct: bool,
    /// For each argument the number of dimensions of its shape, if it came with one.
    ranks: Vec<Option<usize>>,
    /// These dimensions, one after the other.
    dims: Vec<usize>,
    /// Whether the arguments of that call were plain besides, and are to be compared with.
    valid: bool,
    /// Whether the session's own results have these sizes.
    pub own: bool,
    /// Where results are that are floats of 64 bits and nothing else.
    floats: Option<Floats>,
}

/// Results that are floats of 64 bits, in the order of the machine code.
#[derive(Clone, Copy, PartialEq)]
enum Floats {
    /// Each of them is a result: its word is all that there is of it.
    Alone,
    /// Some are parts of a result.
    Parts,
}

/// What results are, if all of them are floats of 64 bits.
fn floats(shared: &Shared, native: &engine::Native) -> Option<Floats> {
    let kinds = native.checked.compiled().results();
    let float = |(k, placement): (usize, &Placement)| {
        matches!(placement, Placement::Returned(n) if *n == k) && kinds.get(k) == Some(&Kind::F64)
    };
    let floats = native.placements.iter().enumerate().all(float);
    let leaf =
        |(k, output): (usize, &ResultLayout)| output.layout.is_leaf() && output.leaves.start == k;
    let alone = shared.interface.outputs.iter().enumerate().all(leaf);
    floats.then_some(if alone { Floats::Alone } else { Floats::Parts })
}

impl Last {
    /// Before the first call, which has these arguments.
    fn new(shared: &Shared, native: &engine::Native, parts: &[Arg<'_>]) -> Last {
        let binder = &shared.interface.binder;
        let hidden: Vec<bool> = binder.hidden_leaves().collect();
        let bound = native
            .checked
            .bind(&mut |k| engine::integer(parts, k), &|k| hidden.get(k) == Some(&true));
        let lists = shared.interface.has_lists();
        let bound = bound.filter(|bound| !bound.returns_buffers() && !lists);
        let floats = floats(shared, native);
        let (ranks, dims) = (Vec::new(), Vec::new());
        Last { bound, direct: false, ranks, dims, valid: false, own: false, floats }
    }

    /// Takes note of a call with these arguments and leaves; `own` says where its results went.
    pub fn note(
        last: &mut Option<Last>,
        shared: &Shared,
        native: &engine::Native,
        args: &[Arg<'_>],
        parts: &[Arg<'_>],
        own: bool,
    ) {
        let last = last.get_or_insert_with(|| Last::new(shared, native, parts));
        let Some(bound) = &mut last.bound else { return };
        let fits = bound.rebind(&mut |k| engine::integer(parts, k));
        last.ranks.clear();
        last.dims.clear();
        for arg in args {
            let shape = arg.extent().and_then(|(_, shape)| shape);
            last.ranks.push(shape.map(<[usize]>::len));
            last.dims.extend_from_slice(shape.unwrap_or_default());
        }
        last.direct = fits && own && shared.finite.is_none();
        last.own = own;
        last.valid = fits && args.iter().all(|arg| arg.plain().is_some());
    }

    /// Calls the function once more with leaves that `give` gives one by one, if they have the sizes of the last call,
    /// whose results were the session's own; else nothing is done. Gives the words of the results where these are all of them;
    /// else none, and the results are the session's own.
    #[inline(always)]
    pub fn direct<'s, 'a>(
        &'s mut self,
        placements: &[Placement],
        workspace: &'s mut Workspace,
        own: &mut [Value],
        give: impl FnOnce(&mut Beginning<'_, 'a>) -> bool,
    ) -> Option<Result<&'s [u64], Failure>> {
        let bound = self.bound.as_mut().filter(|_| self.direct)?;
        let mut call = bound.begin();
        if !give(&mut call) {
            return None;
        }
        let Some(floats) = self.floats else {
            return match finish(call, placements, workspace, &mut Destination::own(own)) {
                Ok(()) => Some(Ok(&[])),
                Err(failure) => failure.map(Err),
            };
        };
        match call.call(workspace) {
            Ok(results) if floats == Floats::Alone => Some(Ok(results.words())),
            Ok(results) => {
                for (value, word) in own.iter_mut().zip(results.words()) {
                    if let Value::F64(to) = value {
                        *to = f64::from_bits(*word);
                    }
                }
                Some(Ok(&[]))
            }
            Err(failure) => failure.map(|failure| Err(Failure::Run(failure))),
        }
    }

    /// Calls the function once more, if the arguments have the sizes of the last call; else nothing is
    /// done.
    pub fn call(
        &mut self,
        native: &engine::Native,
        workspace: &mut Workspace,
        args: &[Arg<'_>],
        to: &mut Destination<'_, '_>,
    ) -> Option<Result<(), Failure>> {
        let mut dims = &self.dims[..];
        let mut same = self.valid && args.len() == self.ranks.len();
        for (arg, rank) in args.iter().zip(&self.ranks) {
            let (now, before) =
                (arg.extent().and_then(|(_, shape)| shape), rank.map(|rank| dims.split_at(rank)));
            same &= now == before.map(|(own, _)| own) && arg.plain().is_some();
            dims = before.map_or(dims, |(_, rest)| rest);
        }
        let bound = self.bound.as_mut().filter(|_| same)?;
        let mut call = bound.begin();
        // That they are plain was just seen.
        args.iter().for_each(|arg| _ = push(&mut call, arg));
        match finish(call, &native.placements, workspace, to) {
            Ok(()) => Some(Ok(())),
            Err(Some(failure)) => Some(Err(failure)),
            Err(None) => None,
        }
    }
}

/// Gives a plain argument to a call; whether it was one. The call itself is handed to nothing that is not inlined, here and below:
/// so it stays in registers.
#[inline(always)]
fn push<'a>(call: &mut Beginning<'_, 'a>, arg: &Arg<'a>) -> bool {
    /// Numbers of other kinds.
    #[inline(never)]
    fn any<'a>(arg: &Arg<'a>) -> Option<Word<'a>> {
        numbers!(Arg, *arg;
            x => Some(x.word()),
            [x, _] => Some(Number::words(x)),
            _ => None,
        )
    }
    match *arg {
        Arg::F64(x) => call.push(x.word()),
        Arg::F64s(x, _) => call.push(Number::words(x)),
        _ => match any(arg) {
            Some(word) => call.push(word),
            None => return false,
        },
    }
    true
}

/// Ends a call that has its arguments: gives it the memory for results, runs it, and takes what it returned.
#[inline(always)]
fn finish(
    call: Beginning<'_, '_>,
    placements: &[Placement],
    workspace: &mut Workspace,
    to: &mut Destination<'_, '_>,
) -> Result<(), Option<Failure>> {
    // Its arguments live longer than the memory for its results is borrowed.
    let mut call = call;
    let (own, outs) = to.parts();
    for (placement, value) in placements.iter().zip(own) {
        if let Placement::Buffer(_) = placement
            && !push_own(&mut call, value)
        {
            return Err(None);
        }
    }
    for (placement, out) in placements.iter().zip(outs) {
        if let Placement::Buffer(_) = placement
            && !push_out(&mut call, out)
        {
            return Err(None);
        }
    }
    let results = call.call(workspace).map_err(|error| error.map(Failure::Run))?;
    let (own, outs) = to.parts();
    let done = match own {
        [] => numbers(placements, &results, outs),
        own => own_numbers(placements, &results, own),
    };
    match done {
        true => Ok(()),
        false => finish_any(placements, results, to),
    }
}

/// Takes what is returned and is not made of numbers of 64 bits alone: it is numbers, or goes into memory of the caller.
#[inline(never)]
fn finish_any(
    placements: &[Placement],
    results: Results<'_>,
    to: &mut Destination<'_, '_>,
) -> Result<(), Option<Failure>> {
    collect(placements, results, to.sinks(), &mut Room::new(0, usize::MAX)).map_err(Some)
}

/// Gives a call the cells of a value; whether it has some.
#[inline(always)]
fn push_own<'a>(call: &mut Beginning<'_, 'a>, value: &'a mut Value) -> bool {
    /// Cells of other kinds.
    #[inline(never)]
    fn any(value: &mut Value) -> Option<Word<'_>> {
        numbers!(Value, value;
            _ => None,
            [a] => Some(Number::words_mut(&mut a.data)),
            _ => None,
        )
    }
    match value {
        Value::F64s(a) => call.push(Number::words_mut(&mut a.data)),
        value => match any(value) {
            Some(word) => call.push(word),
            None => return false,
        },
    }
    true
}

/// Gives a call memory of the caller; whether it is an array.
#[inline(always)]
fn push_out<'a>(call: &mut Beginning<'_, 'a>, out: &'a mut Out<'_>) -> bool {
    /// Cells of other kinds.
    #[inline(never)]
    fn any<'a>(out: &'a mut Out<'_>) -> Option<Word<'a>> {
        numbers!(Out, out; _ => None, [x] => Some(Number::words_mut(x)))
    }
    match out {
        Out::F64s(x) => call.push(Number::words_mut(x)),
        out => match any(out) {
            Some(word) => call.push(word),
            None => return false,
        },
    }
    true
}

/// Writes results that are numbers; whether that was all.
#[inline]
fn numbers(placements: &[Placement], results: &Results<'_>, outs: &mut [Out<'_>]) -> bool {
    let mut all = outs.len() == placements.len();
    for (placement, out) in placements.iter().zip(outs) {
        let Placement::Returned(number) = *placement else { continue };
        match (results.word(number), out) {
            (Some((Kind::F64, word)), Out::F64(to)) => **to = f64::from_bits(word),
            (Some((Kind::I64, word)), Out::I64(to)) => **to = word.cast_signed(),
            _ => all = false,
        }
    }
    all
}

/// The same, into the session's own values.
#[inline]
fn own_numbers(placements: &[Placement], results: &Results<'_>, own: &mut [Value]) -> bool {
    let mut all = own.len() == placements.len();
    for (placement, value) in placements.iter().zip(own) {
        let Placement::Returned(number) = *placement else { continue };
        match (results.word(number), value) {
            (Some((Kind::F64, word)), Value::F64(to)) => *to = f64::from_bits(word),
            (Some((Kind::I64, word)), Value::I64(to)) => *to = word.cast_signed(),
            _ => all = false,
        }
    }
    all
}
