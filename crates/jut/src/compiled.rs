//! Functions that are ready to be called, and calling them.
//!
//! A [`Compiled`] is the code, shared by all threads. A [`Session`] is what one thread needs to call
//! it: memory for the tape, lists, results. After the first calls have shown how much that is,
//! further calls of the same sizes allocate nothing.

mod bound;
mod finite;

use crate::backends::Engine;
use crate::bind::Sizes;
use crate::engine::{self, Call, Code, Failure};
use crate::error::{Error, Result};
use crate::interface::{Destination, Interface, Results, Scratch};
use crate::json::{Arguments, View};
use crate::layout::as_tangent;
use crate::ports::Port;
use crate::value::{Arg, Out, Value};
use jut_eval::Interpreter;
use jut_ir::{FuncId, Program};
use jut_native::Beginning;
use jut_runtime::print::{self, Printer};
use jut_runtime::workspace::default_limit;
use jut_runtime::{Cancellation, Workspace};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use bound::BoundCall;
use bound::Last;

/// Everything about a compiled function that does not change.
pub(crate) struct Shared {
    pub interface: Interface,
    pub code: Code,
    pub engine: Engine,
    pub limit: Option<usize>,
    /// Whether loops may run on several threads.
    pub parallel: bool,
    /// What finds the place where the first number was made that is not finite, if results shall be.
    pub finite: Option<Interpreter>,
    /// Nanoseconds that an element of the last batch took that was computed on several threads; 0 before.
    pub element_time: AtomicU64,
}

/// A function that is ready to be called, from as many threads as one likes. Cheap to clone. Its
/// code is given back to the system when the last clone and the last session are gone.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// let model = jut::Model::from_text("def dot[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { x[i] * y[i] }")?;
/// let gradient = model.function("dot")?.wrt(&["x"])?.value_and_gradient()?;
/// let mut session = gradient.session();
/// for k in 0..3 {
///     let x = [k as f64, 1.0];
///     let results = session.call(&[(&x).into(), (&[2.0, 3.0]).into()])?;
///     assert_eq!(results.f64("value")?, 2.0 * k as f64 + 3.0);
///     assert_eq!(results.f64s("x")?, [2.0, 3.0]);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Compiled {
    shared: Arc<Shared>,
}

impl Compiled {
    pub(crate) fn new(shared: Shared) -> Compiled {
        Compiled { shared: Arc::new(shared) }
    }

    /// The parameters: those of the function without the sizes in brackets, then tangents `x'` or
    /// cotangents `y''` where the [request](crate::Request) takes them.
    pub fn inputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.interface.inputs()
    }

    /// The results: those of the function, then the derivatives, named as the
    /// [request](crate::Request) says.
    pub fn outputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.interface.outputs()
    }

    /// What a thread needs to call it.
    pub fn session(&self) -> Session {
        Session {
            results: self.shared.interface.blank(),
            shared: self.shared.clone(),
            workspace: workspace(self.shared.limit, self.shared.parallel),
            scratch: Scratch::default(),
            last: None,
            printer: None,
        }
    }

    /// Works out everything that depends on the sizes of the arguments, for calls with arguments of these
    /// sizes: see [`BoundCall`]. The numbers in the arrays do not matter.
    ///
    /// # Errors
    /// As [`Session::call`] for arguments that do not fit; a tuple, record or sum among the parameters or
    /// results (A06).
    pub fn bind(&self, args: &[Arg<'_>]) -> Result<BoundCall> {
        BoundCall::new(&self.shared, self.session(), args)
    }

    /// The engine whose code runs calls that begin now. Of [`Engine::Tiered`] that is Cranelift, and LLVM from the
    /// moment when its code is there.
    pub fn engine(&self) -> Engine {
        match (self.shared.engine, &self.shared.code) {
            (Engine::Tiered, Code::Native(native)) => engine::tier([&*native.checked]),
            (engine, _) => engine,
        }
    }

    /// Waits for the code that calls run in the end, which [`Engine::Tiered`] makes while the function is in use. Of
    /// other engines it is there already.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64) -> f64 = sin(x) * x")?;
    /// let gradient = model.function("f")?.value_and_gradient()?;
    /// gradient.prewarm();
    /// assert_ne!(gradient.engine(), jut::Engine::Tiered);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prewarm(&self) {
        if let Code::Native(native) = &self.shared.code {
            native.checked.compiled().prewarm();
        }
    }

    /// Calls it once, with a session of its own; gives all results in order.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn call(&self, args: &[Arg<'_>]) -> Result<Vec<Value>> {
        Ok(self.session().call(args)?.values())
    }

    /// As [`Compiled::call`], with arguments by the names of their parameters, in any order.
    ///
    /// # Errors
    /// As [`Session::call_named`].
    pub fn call_named(&self, args: &[(&str, Arg<'_>)]) -> Result<Vec<Value>> {
        Ok(self.session().call_named(args)?.values())
    }

    /// The leaf that a result is, if it is a number or an array of numbers.
    pub(crate) fn leaf(&self, position: usize) -> Option<usize> {
        let output = self.shared.interface.outputs.get(position)?;
        let plain = output.layout.is_leaf() && !self.shared.interface.has_lists();
        plain.then_some(output.leaves.start)
    }

    /// The arguments as values that own what they are made of; see [`Interface::owned`].
    pub(crate) fn owned(&self, args: &[Arg<'_>]) -> Result<Vec<Value>> {
        self.shared.interface.owned(args)
    }

    /// The arguments as the interpreter takes them, sizes included.
    pub(crate) fn entered(&self, args: &[Arg<'_>]) -> Result<Vec<jut_eval::Value>> {
        let (interface, mut scratch) = (&self.shared.interface, Scratch::default());
        interface.bound(&mut scratch, std::iter::empty(), args, |scratch, parts| {
            interface.entered(&[], &scratch.sizes, parts)
        })
    }

    /// An error of the interpreter in the words of this library.
    pub(crate) fn failed(&self, error: jut_eval::EvalError) -> Error {
        self.shared.interface.failed(Failure::of(error))
    }

    /// The program and the function that are run.
    pub(crate) fn root(&self) -> (&Program, FuncId) {
        (&self.shared.interface.program, self.shared.interface.root)
    }

    /// Reads arguments from a JSON object with one key per parameter; see [`crate::json`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if a parameter is missing (A01), a key is no parameter
    /// (A01), or a value does not fit (A02).
    pub fn read_json(&self, arguments: &Map<String, Json>) -> Result<Vec<Value>> {
        self.shared.interface.read_json(arguments)
    }

    /// As [`Compiled::read_json`], of arguments some of which are values already. Whether a value fits
    /// is found when it is used.
    ///
    /// # Errors
    /// As [`Compiled::read_json`].
    pub fn read(&self, arguments: Arguments) -> Result<Vec<Value>> {
        self.shared.interface.read(arguments)
    }

    /// The floats of an argument, laid out as its tangent is: integers and truth values are left out, and
    /// the floats of constructors that the value does not have are zero. `None` if the type has no
    /// float, or there is no such parameter. `input` is a position in [`Compiled::inputs`].
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// use jut::Value;
    /// let model = jut::Model::from_text("data Shape = Disc(r: f64) | Box(w: f64, h: f64)
    ///   def area(s: Shape) -> f64 = case s { Disc(r) -> 3.14 * r^2; Box(w, h) -> w * h }")?;
    /// let area = model.function("area")?.value()?;
    /// let square = Value::Data("Box".into(), vec![Value::F64(2.0), Value::F64(2.0)]);
    /// let tangent = area.input_as_tangent(0, &square).unwrap();
    /// assert_eq!(tangent.floats(), [0.0, 2.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn input_as_tangent(&self, input: usize, value: &Value) -> Option<Value> {
        let (ty, _) = self.shared.interface.params().nth(input)?;
        as_tangent(&self.shared.interface.program, ty, value)
    }

    /// The same of a result, at its position in [`Compiled::outputs`].
    pub fn output_as_tangent(&self, output: usize, value: &Value) -> Option<Value> {
        let output = self.shared.interface.outputs.get(output)?;
        as_tangent(
            &self.shared.interface.program,
            output.packed.as_ref().unwrap_or(&output.ty),
            value,
        )
    }

    /// Writes a result as JSON: its position in [`Compiled::outputs`], and the value.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such result, the value is not of its type,
    /// or an array has not the elements that its shape says.
    pub fn write_json(&self, output: usize, value: &Value) -> Result<Json> {
        self.shared.interface.write_json(output, value)
    }

    /// How long an element of the last batch took that was computed on several threads; zero before.
    pub(crate) fn element_time(&self) -> Duration {
        Duration::from_nanos(self.shared.element_time.load(Ordering::Relaxed))
    }

    /// Whether results can be written into `outs`, one for each.
    pub(crate) fn check_outs(&self, outs: &[Out<'_>]) -> Result<()> {
        self.shared.interface.check_outs(outs)
    }

    /// Keeps that.
    pub(crate) fn note_element_time(&self, nanoseconds: u64) {
        self.shared.element_time.store(nanoseconds, Ordering::Relaxed);
    }

    /// A result as what serde writes, without its text or a tree of it in memory: its position in
    /// [`Compiled::outputs`], and the value.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such result.
    pub fn view_json<'a>(&'a self, output: usize, value: &'a Value) -> Result<View<'a>> {
        self.shared.interface.view_json(output, value)
    }
}

/// The most memory that a call may take: what was asked for, or what the process may have.
pub(crate) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(default_limit)
}

/// Memory for a thread, with the limit that was asked for.
pub(crate) fn workspace(limit: Option<usize>, parallel: bool) -> Workspace {
    let mut workspace = limit.map_or_else(Workspace::new, Workspace::with_limit);
    workspace.set_parallel(parallel);
    workspace
}

/// What one thread needs to call a compiled function, again and again.
pub struct Session {
    shared: Arc<Shared>,
    pub(crate) workspace: Workspace,
    scratch: Scratch,
    results: Vec<Value>,
    /// The sizes of the last call.
    last: Option<Last>,
    /// Who gets the lines that the function prints, if not whoever gets those of the thread.
    printer: Option<Printer>,
}

impl Session {
    /// Runs loops of its calls on the thread of the call.
    pub(crate) fn on_one_thread(&mut self) {
        self.workspace.set_parallel(false);
    }

    /// Calls the function. The results stay in the session until its next call.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if an argument does not fit,
    /// [`Error::Run`](crate::Error::Run) if the program fails.
    pub fn call(&mut self, args: &[Arg<'_>]) -> Result<Results<'_>> {
        let Session { shared, workspace, scratch, results, last, printer } = self;
        let mut to = Destination::own(results);
        let again = printing(printer, || {
            let again = again(shared, workspace, last, args, &mut to)?;
            if !again {
                call(shared, workspace, scratch, last, args, &mut to)?;
            }
            Ok(again)
        })?;
        if !again {
            shared.interface.shape(&mut scratch.sizes, results);
        }
        shared.interface.unpack(scratch, results, args)?;
        if let Some(interpreter) = finite::results(shared, results) {
            return Err(finite::found(shared, (interpreter, workspace.cancellation()), args));
        }
        Ok(self.results())
    }

    /// Calls the function once more with leaves that `give` gives one by one, if it says that it did and they have
    /// the sizes of the last call; else nothing is done. Gives the results, and the words of floats if these are all of them: then the
    /// session has not taken them.
    #[inline(always)]
    pub(crate) fn direct<'s, 'a>(
        &'s mut self,
        give: impl FnOnce(&mut Beginning<'_, 'a>) -> bool,
    ) -> Option<Result<(Results<'s>, &'s [u64])>> {
        let Session { shared, workspace, results, last, printer, scratch } = self;
        let (Code::Native(native), Some(last), None) = (&shared.code, last, printer) else {
            return None;
        };
        let words = last.direct(&native.placements, workspace, results, give)?;
        let interface = &shared.interface;
        let own = |words| (Results::new(interface, results).with(&scratch.unpacked), words);
        Some(words.map(own).map_err(|failure| interface.failed(failure)))
    }

    /// The results of the last call.
    #[inline]
    pub(crate) fn results(&self) -> Results<'_> {
        Results::new(&self.shared.interface, &self.results).with(&self.scratch.unpacked)
    }

    /// Calls the function and writes its results into memory of the caller, one [`Out`] for each
    /// result, in the order of [`Compiled::outputs`].
    ///
    /// # Errors
    /// As [`Session::call`], and [`Error::Argument`](crate::Error::Argument) if the memory for a
    /// result does not fit.
    pub fn call_into(&mut self, args: &[Arg<'_>], outs: &mut [Out<'_>]) -> Result<()> {
        let Session { shared, workspace, scratch, last, printer, .. } = self;
        shared.interface.check_outs(outs)?;
        let mut to = Destination::outs(outs);
        printing(printer, || {
            if !again(shared, workspace, last, args, &mut to)? {
                call(shared, workspace, scratch, last, args, &mut to)?;
            }
            Ok(())
        })?;
        match finite::outs(shared, outs) {
            None => Ok(()),
            Some(interpreter) => {
                Err(finite::found(shared, (interpreter, workspace.cancellation()), args))
            }
        }
    }

    /// As [`Session::call`], with arguments by the names of their parameters, in any order.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64, scale: f64) -> f64 = scale * x ^ 2")?;
    /// let mut session = model.function("f")?.wrt(&["x"])?.gradient()?.session();
    /// let results = session.call_named(&[("scale", 0.5.into()), ("x", 3.0.into())])?;
    /// assert_eq!(results.f64("x")?, 3.0);
    /// let error = session.call_named(&[("scale", 0.5.into()), ("y", 3.0.into())]).err();
    /// assert_eq!(error.and_then(|e| e.code()), Some("A01"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Session::call`]; a name that is no parameter, or is given twice, and a parameter without an argument (A01).
    pub fn call_named(&mut self, args: &[(&str, Arg<'_>)]) -> Result<Results<'_>> {
        let shared = self.shared.clone();
        let mut few = [Arg::Bool(false); FEW];
        let mut many = Vec::new();
        let count = shared.interface.inputs().count();
        let ordered = match few.get_mut(..count) {
            Some(few) => few,
            None => {
                many.resize(count, Arg::Bool(false));
                &mut many[..]
            }
        };
        shared.interface.in_order(args, ordered)?;
        self.call(ordered)
    }

    /// Binds arguments and does some work with their sizes and leaves.
    pub(crate) fn bound<T>(
        &mut self,
        args: &[Arg<'_>],
        work: impl FnOnce(&Sizes, &[Arg<'_>]) -> Result<T>,
    ) -> Result<T> {
        let Session { shared, scratch, .. } = self;
        shared
            .interface
            .bound(scratch, std::iter::empty(), args, |scratch, parts| work(&scratch.sizes, parts))
    }

    /// What ends the calls of this session from another thread: the error `R07`, within a tenth of a
    /// second. The session works on once it is [`reset`](Cancellation::reset).
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text(
    ///     "def f(n: i64) -> f64 = for (i < n) carry (s = 0.0) { sin(s) + 1.0 }",
    /// )?;
    /// let mut session = model.function("f")?.value()?.session();
    /// let cancellation = session.cancellation();
    /// let error = std::thread::scope(|scope| {
    ///     scope.spawn(|| cancellation.cancel());
    ///     session.call(&[i64::MAX.into()]).err().and_then(|e| e.code())
    /// });
    /// assert_eq!(error, Some("R07"));
    /// cancellation.reset();
    /// assert!(session.call(&[1000.into()]).is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancellation(&mut self) -> Cancellation {
        let cancellation = self.workspace.cancellation().cloned().unwrap_or_default();
        self.set_cancellation(&cancellation);
        cancellation
    }

    /// Lets something end the calls of this session that may end those of others too.
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.workspace.set_cancellation(Some(cancellation.clone()));
    }

    /// Who gets the lines that calls of this session print (`print x`), each without its end, while the call runs and on
    /// whichever thread it runs. Without one they go to that of the thread ([`crate::print::to`]), or to standard error.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// use std::sync::{Arc, Mutex};
    /// let model = jut::Model::from_text("def f[n](x: [n]f64) -> f64 = { print \"x =\", x; sum(x ^ 2) }")?;
    /// let lines = Arc::new(Mutex::new(Vec::new()));
    /// let taken = lines.clone();
    /// let mut session = model.function("f")?.gradient()?.session();
    /// session.set_printer(move |line| taken.lock().unwrap().push(line.to_string()));
    /// session.call(&[(&[1.0, 2.5][..]).into()])?;
    /// assert_eq!(*lines.lock().unwrap(), ["x = [1.0, 2.5]"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_printer(&mut self, print: impl Fn(&str) + Send + Sync + 'static) {
        self.print_by(&Printer::new(print));
    }

    pub(crate) fn print_by(&mut self, printer: &Printer) {
        self.printer = Some(printer.clone());
    }

    /// Gives the memory that is kept for further calls back to the system.
    pub fn release_memory(&mut self) {
        self.workspace.clear();
        self.results = self.shared.interface.blank();
        self.last = None;
    }
}

/// How many arguments are put in order without a list of them.
const FEW: usize = 12;

/// Makes a call whose lines a printer gets, if there is one.
fn printing<T>(printer: &Option<Printer>, call: impl FnOnce() -> Result<T>) -> Result<T> {
    match printer {
        None => call(),
        Some(printer) => print::to(Some(printer.clone()), call),
    }
}

/// Calls the function as the last time, if the arguments have the same sizes; says whether they had.
fn again(
    shared: &Shared,
    workspace: &mut Workspace,
    last: &mut Option<Last>,
    args: &[Arg<'_>],
    to: &mut Destination<'_, '_>,
) -> Result<bool> {
    let (Code::Native(native), Some(last)) = (&shared.code, last) else { return Ok(false) };
    if to.is_own() && !last.own {
        return Ok(false);
    }
    workspace.set_limit(limit(shared.limit).saturating_sub(to.held()));
    match last.call(native, workspace, args, to) {
        Some(Ok(())) => Ok(true),
        Some(Err(failure)) => Err(shared.interface.failed(failure)),
        None => Ok(false),
    }
}

fn call(
    shared: &Shared,
    workspace: &mut Workspace,
    scratch: &mut Scratch,
    last: &mut Option<Last>,
    args: &[Arg<'_>],
    to: &mut Destination<'_, '_>,
) -> Result<()> {
    let interface = &shared.interface;
    interface.bound(scratch, std::iter::empty(), args, |scratch, parts| match &shared.code {
        Code::Interpreted(interpreter) => {
            let run = (interpreter, workspace.cancellation());
            interface.interpret(run, &[], &scratch.sizes, parts, to).map(|_| ())
        }
        Code::Native(native) => {
            let limit = limit(shared.limit);
            let mut runner = Call { checked: &native.checked, workspace, limit };
            interface.run(scratch, parts, to, &native.placements, &mut runner)?;
            Last::note(last, shared, native, args, parts, to.is_own());
            Ok(())
        }
    })
}
