//! Derivatives at a point that are made once and applied many times.
//!
//! U splits a derivative in two: `f.nonlin` computes the values and a *tape*, `f.lin` is the linear
//! map from tangents to tangents, and T turns that round. [`Linearized`] has all three as machine
//! code. Recording a point on a [`Tape`] costs about one run of the function; each application of the
//! map or of its transpose costs its arithmetic only: no transcendental function, no branch condition
//! is computed again. So an iterative solver, which asks for hundreds of products at one point, pays
//! for the function once.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f[n](x: [n]f64) -> (y: [n]f64) = {
//!        y = build (i < n) { exp(x[i]) * x[0] }
//!        y
//!      }",
//! )?;
//! let linearized = model.function("f")?.linearize()?;
//! let tape = linearized.at(&[(&[2.0, 0.0]).into()])?; // runs f
//! assert_eq!(tape.results()?.f64s("y")?[1], 2.0);
//!
//! let mut session = linearized.session();
//! for k in 0..3 {
//!     let direction = [0.0, k as f64];
//!     let tangents = session.apply(&tape, &[(&direction).into()])?; // does not run f
//!     assert_eq!(tangents.f64s("y")?, [0.0, 2.0 * k as f64]);
//! }
//! let cotangents = session.apply_transposed(&tape, &[(&[0.0, 1.0]).into()])?;
//! assert_eq!(cotangents.f64s("x")?, [1.0, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A tape is the user's: it is freed when dropped, keeps its memory when it is recorded again, and
//! is read by any number of threads at once, each with a [`LinearSession`] of its own. It holds what
//! the linear map needs (loops, branches and rows of different lengths as they happened), copies of
//! those arguments that the map reads again, and the results of the function. Where tangents are trees, or arrays of records that
//! measure their arrays, all arguments are kept, because tangents have their shape. A memory limit of the
//! [`Function`](crate::Function) holds for each tape and for each session.
//!
//! *Ensures*: a tape is only ever read by the linearization that recorded it, and only if its last
//! recording succeeded; anything else is [`Error::Tape`]. *Cost*: nothing is allocated by recording
//! and applying once tapes and sessions have their size, but for what is handed over in lists.

mod compile;

use crate::backends::Engine;
use crate::compiled::{limit, workspace};
use crate::engine::{self, Failure, Placement, Runner, integer};
use crate::error::{Error, Result};
use crate::interface::{Destination, Interface, Results, Scratch};
use crate::json::{Arguments, View};
use crate::ports::Port;
use crate::value::{Arg, Out, Value};
use jut_ad::compose::Saved;
use jut_eval::{Interpreter, Value as EvalValue};
use jut_ir::NVar;
use jut_native::{Arg as Word, Recorder, Recording, Results as Words};
use jut_runtime::{Cancellation, Workspace};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

pub(crate) use compile::linearize;

/// Everything about a linearized function that does not change.
pub(crate) struct SharedLinear {
    /// The function, which leaves a tape behind.
    pub primal: Interface,
    /// The linear map, and its transpose.
    pub maps: [LinearMap; 2],
    /// What the maps take of the function's arguments and results.
    pub saved: Vec<Saved>,
    /// Those of them that are integers: sizes in the types of tangents.
    pub sizes: Vec<SavedSize>,
    pub code: LinearCode,
    pub engine: Engine,
    pub limit: Option<usize>,
    /// Whether loops may run on several threads.
    pub parallel: bool,
}

/// The linear map or its transpose.
pub(crate) struct LinearMap {
    pub interface: Interface,
    /// What it calls the saved integers.
    pub sizes: Vec<NVar>,
    pub placements: Vec<Placement>,
}

/// Where a saved integer is found after a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SavedSize {
    /// Among the leaves of the arguments.
    Argument(usize),
    /// Among the leaves of the results.
    Result(usize),
}

/// What runs the three functions.
pub(crate) enum LinearCode {
    /// Machine code, and where the leaves of the function's results go.
    Native(Box<Recorder>, Vec<Placement>),
    /// The function, the map, the transpose.
    Interpreted(Box<[Interpreter; 3]>),
}

/// The derivative of a function, ready to be recorded at points and applied there. Cheap to clone,
/// shared by threads. Made by [`Function::linearize`](crate::Function::linearize).
#[derive(Clone)]
pub struct Linearized {
    shared: Arc<SharedLinear>,
}

impl Linearized {
    pub(crate) fn new(shared: SharedLinear) -> Linearized {
        Linearized { shared: Arc::new(shared) }
    }

    /// The parameters of the function.
    pub fn inputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.primal.inputs()
    }

    /// The results of the function.
    pub fn outputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.primal.outputs()
    }

    /// What the linear map takes, a tangent `x'` for each differentiated parameter `x`; its transpose
    /// gives cotangents of the same types.
    pub fn tangents(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.maps[0].interface.inputs()
    }

    /// What the transpose takes, a cotangent `y''` for each float result `y`; the map gives tangents
    /// of the same types.
    pub fn cotangents(&self) -> impl Iterator<Item = Port<'_>> {
        self.shared.maps[1].interface.inputs()
    }

    /// As [`Compiled::engine`](crate::Compiled::engine): LLVM when its code of all three is there.
    pub fn engine(&self) -> Engine {
        match (self.shared.engine, &self.shared.code) {
            (Engine::Tiered, LinearCode::Native(recorder, _)) => engine::tier(recorder.programs()),
            (engine, _) => engine,
        }
    }

    /// As [`Compiled::prewarm`](crate::Compiled::prewarm): of the function, the linear map and its transpose.
    pub fn prewarm(&self) {
        if let LinearCode::Native(recorder, _) = &self.shared.code {
            for program in recorder.programs() {
                program.compiled().prewarm();
            }
        }
    }

    /// An empty tape.
    pub fn tape(&self) -> Tape {
        let limit = limit(self.shared.limit);
        Tape {
            store: match &self.shared.code {
                LinearCode::Native(..) => {
                    let workspace = workspace(self.shared.limit, self.shared.parallel);
                    Store::Native(Box::new(Recording::new(limit, workspace)))
                }
                LinearCode::Interpreted(_) => Store::Interpreted(Vec::new()),
            },
            recorded: false,
            cancellation: None,
            scratch: Scratch::default(),
            results: self.shared.primal.blank(),
            sizes: Vec::new(),
            kept: Arc::default(),
            shared: self.shared.clone(),
        }
    }

    /// Runs the function and records its derivative on a new tape.
    ///
    /// # Errors
    /// As [`Tape::record`].
    pub fn at(&self, args: &[Arg<'_>]) -> Result<Tape> {
        let mut tape = self.tape();
        tape.record(args)?;
        Ok(tape)
    }

    /// What a thread needs to apply recorded derivatives.
    pub fn session(&self) -> LinearSession {
        LinearSession {
            workspace: workspace(self.shared.limit, self.shared.parallel),
            scratch: Scratch::default(),
            results: self.shared.maps.each_ref().map(|map| map.interface.blank()),
            shared: self.shared.clone(),
        }
    }

    /// Reads arguments of the function from JSON; see [`crate::Compiled::read_json`].
    ///
    /// # Errors
    /// As there.
    pub fn read_json(&self, arguments: &Map<String, Json>) -> Result<Vec<Value>> {
        self.shared.primal.read_json(arguments)
    }

    /// Reads tangents, or cotangents for the transpose, from JSON.
    ///
    /// # Errors
    /// As [`crate::Compiled::read_json`].
    pub fn read_seeds_json(
        &self,
        transposed: bool,
        seeds: &Map<String, Json>,
    ) -> Result<Vec<Value>> {
        self.shared.maps[usize::from(transposed)].interface.read_json(seeds)
    }

    /// Reads arguments of the function; see [`crate::Compiled::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, arguments: Arguments) -> Result<Vec<Value>> {
        self.shared.primal.read(arguments)
    }

    /// Reads tangents, or cotangents for the transpose.
    ///
    /// # Errors
    /// As [`crate::Compiled::read`].
    pub fn read_seeds(&self, transposed: bool, seeds: Arguments) -> Result<Vec<Value>> {
        self.shared.maps[usize::from(transposed)].interface.read(seeds)
    }

    /// Writes a result of the function as JSON; see [`crate::Compiled::write_json`].
    ///
    /// # Errors
    /// As there.
    pub fn write_json(&self, output: usize, value: &Value) -> Result<Json> {
        self.shared.primal.write_json(output, value)
    }

    /// A result of the function as what serde writes; see [`crate::Compiled::view_json`].
    ///
    /// # Errors
    /// As there.
    pub fn view_json<'a>(&'a self, output: usize, value: &'a Value) -> Result<View<'a>> {
        self.shared.primal.view_json(output, value)
    }

    /// A tangent of a result, or a cotangent of a parameter, as what serde writes.
    ///
    /// # Errors
    /// As [`crate::Compiled::view_json`].
    pub fn view_derivative_json<'a>(
        &'a self,
        transposed: bool,
        output: usize,
        value: &'a Value,
    ) -> Result<View<'a>> {
        self.shared.maps[usize::from(transposed)].interface.view_json(output, value)
    }

    /// Writes a tangent of a result, or a cotangent of a parameter, as JSON.
    ///
    /// # Errors
    /// As [`crate::Compiled::write_json`].
    pub fn write_derivative_json(
        &self,
        transposed: bool,
        output: usize,
        value: &Value,
    ) -> Result<Json> {
        self.shared.maps[usize::from(transposed)].interface.write_json(output, value)
    }
}

/// The derivative of a function at a point, as its run left it.
pub struct Tape {
    shared: Arc<SharedLinear>,
    store: Store,
    recorded: bool,
    cancellation: Option<Cancellation>,
    scratch: Scratch,
    results: Vec<Value>,
    /// The saved integers.
    sizes: Vec<i64>,
    /// The arguments and results, if tangents or cotangents that are handed over in lists belong to them.
    kept: Arc<Vec<Option<Value>>>,
}

enum Store {
    Native(Box<Recording>),
    /// What the maps take first.
    Interpreted(Vec<EvalValue>),
}

impl Tape {
    /// Runs the function and records its derivative here, in place of what was recorded before. The
    /// results of the function stay on the tape with it.
    ///
    /// # Errors
    /// As [`crate::Session::call`]; then nothing is recorded.
    pub fn record(&mut self, args: &[Arg<'_>]) -> Result<Results<'_>> {
        self.recorded = false;
        let Tape { shared, store, scratch, results, sizes, kept, cancellation, .. } = self;
        shared.primal.bound(scratch, std::iter::empty(), args, |scratch, parts| {
            let mut to = Destination::own(results);
            match (&shared.code, store) {
                (LinearCode::Native(recorder, placements), Store::Native(recording)) => {
                    recording.set_cancellation(cancellation.clone());
                    let mut runner = Record { recorder, recording, limit: limit(shared.limit) };
                    shared.primal.run(scratch, parts, &mut to, placements, &mut runner)?;
                }
                (LinearCode::Interpreted(interpreters), Store::Interpreted(saved)) => {
                    let [primal, ..] = &**interpreters;
                    let run = (primal, cancellation.as_ref());
                    let done = shared.primal.interpret(run, &[], &scratch.sizes, parts, &mut to);
                    let (args, results) = done?;
                    saved.clear();
                    saved.extend(shared.saved.iter().filter_map(|from| match *from {
                        Saved::Argument(k) => args.get(k).cloned(),
                        Saved::Result(k) => results.get(k).cloned(),
                    }));
                }
                _ => return Err(Error::Tape("the tape is that of another engine".into())),
            }
            sizes.clear();
            sizes.extend(shared.sizes.iter().map(|from| match *from {
                SavedSize::Argument(k) => integer(parts, k),
                SavedSize::Result(k) => match results.get(k) {
                    Some(Value::I64(n)) => *n,
                    _ => 0,
                },
            }));
            Ok(())
        })?;
        shared.primal.shape(&mut scratch.sizes, results);
        shared.primal.unpack(scratch, results, args)?;
        if shared.primal.keeps {
            *kept = shared.primal.kept(scratch, results).into();
        }
        self.recorded = true;
        self.results()
    }

    /// What ends recording from another thread; see [`crate::Session::cancellation`].
    pub fn cancellation(&mut self) -> Cancellation {
        self.cancellation.get_or_insert_default().clone()
    }

    /// Lets something end recording that may end other calls too.
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.cancellation = Some(cancellation.clone());
    }

    /// The results of the function at the point.
    ///
    /// # Errors
    /// [`Error::Tape`] if nothing is recorded.
    pub fn results(&self) -> Result<Results<'_>> {
        match self.recorded {
            true => {
                let results = Results::new(&self.shared.primal, &self.results);
                Ok(results.with(&self.scratch.unpacked))
            }
            false => Err(empty()),
        }
    }

    /// Whether the last recording succeeded.
    pub fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Bytes of what is recorded: tape and copied arguments, without the results. The interpreter's
    /// tapes are not measured.
    pub fn bytes(&self) -> usize {
        match &self.store {
            Store::Native(recording) if self.recorded => recording.used(),
            _ => 0,
        }
    }

    /// Forgets what is recorded and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.recorded = false;
        match &mut self.store {
            Store::Native(recording) => recording.clear(),
            Store::Interpreted(saved) => *saved = Vec::new(),
        }
        self.results = self.shared.primal.blank();
        self.kept = Arc::default();
        self.scratch = Scratch::default();
    }
}

fn empty() -> Error {
    Error::Tape(
        "nothing is recorded on this tape: it is new, was cleared, or its last recording failed; \
         record it first"
            .into(),
    )
}

/// What one thread needs to apply recorded derivatives, again and again.
pub struct LinearSession {
    shared: Arc<SharedLinear>,
    workspace: Workspace,
    scratch: Scratch,
    results: [Vec<Value>; 2],
}

impl LinearSession {
    /// The derivative at the recorded point times a vector: takes a tangent for each differentiated
    /// parameter, gives one for each float result, with its name.
    ///
    /// # Errors
    /// [`Error::Tape`] if nothing is recorded on the tape, or by another linearization;
    /// [`Error::Argument`] if a tangent does not fit; [`Error::Run`] at the memory limit.
    pub fn apply(&mut self, tape: &Tape, tangents: &[Arg<'_>]) -> Result<Results<'_>> {
        self.call(0, tape, tangents)
    }

    /// The transposed derivative at the recorded point times a vector: takes a cotangent for each
    /// float result, gives one for each differentiated parameter, with its name.
    ///
    /// # Errors
    /// As [`LinearSession::apply`].
    pub fn apply_transposed(&mut self, tape: &Tape, cotangents: &[Arg<'_>]) -> Result<Results<'_>> {
        self.call(1, tape, cotangents)
    }

    /// What ends calls of this session from another thread; see [`crate::Session::cancellation`].
    pub fn cancellation(&mut self) -> Cancellation {
        let cancellation = self.workspace.cancellation().cloned().unwrap_or_default();
        self.set_cancellation(&cancellation);
        cancellation
    }

    /// Lets something end calls of this session that may end others too.
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.workspace.set_cancellation(Some(cancellation.clone()));
    }

    /// As [`LinearSession::apply`], into memory of the caller.
    ///
    /// # Errors
    /// As there, and [`Error::Argument`] if the memory for a result does not fit.
    pub fn apply_into(
        &mut self,
        tape: &Tape,
        tangents: &[Arg<'_>],
        outs: &mut [Out<'_>],
    ) -> Result<()> {
        self.call_into(0, tape, tangents, outs)
    }

    /// As [`LinearSession::apply_transposed`], into memory of the caller.
    ///
    /// # Errors
    /// As [`LinearSession::apply_into`].
    pub fn apply_transposed_into(
        &mut self,
        tape: &Tape,
        cotangents: &[Arg<'_>],
        outs: &mut [Out<'_>],
    ) -> Result<()> {
        self.call_into(1, tape, cotangents, outs)
    }

    fn call(&mut self, k: usize, tape: &Tape, seeds: &[Arg<'_>]) -> Result<Results<'_>> {
        let LinearSession { shared, workspace, scratch, results } = self;
        let (Some(map), Some(results)) = (shared.maps.get(k), results.get_mut(k)) else {
            return Err(empty());
        };
        apply(shared, k, map, (workspace, scratch), tape, seeds, &mut Destination::own(results))?;
        map.interface.shape(&mut scratch.sizes, results);
        map.interface.unpack(scratch, results, seeds)?;
        Ok(Results::new(&map.interface, results).with(&scratch.unpacked))
    }

    fn call_into(
        &mut self,
        k: usize,
        tape: &Tape,
        seeds: &[Arg<'_>],
        outs: &mut [Out<'_>],
    ) -> Result<()> {
        let LinearSession { shared, workspace, scratch, .. } = self;
        let Some(map) = shared.maps.get(k) else { return Err(empty()) };
        map.interface.check_outs(outs)?;
        apply(shared, k, map, (workspace, scratch), tape, seeds, &mut Destination::outs(outs))
    }
}

fn apply(
    shared: &Arc<SharedLinear>,
    k: usize,
    map: &LinearMap,
    (workspace, scratch): (&mut Workspace, &mut Scratch),
    tape: &Tape,
    seeds: &[Arg<'_>],
    to: &mut Destination<'_, '_>,
) -> Result<()> {
    if !Arc::ptr_eq(shared, &tape.shared) {
        let (own, other) = (&shared.primal, &tape.shared.primal);
        return Err(Error::Tape(format!(
            "this tape was recorded by another linearization (of `{}`), not by this one (of `{}`); \
             record a tape of this one",
            other.name(),
            own.name()
        )));
    }
    if !tape.recorded {
        return Err(empty());
    }
    let kept = map.sizes.iter().copied().zip(tape.sizes.iter().copied());
    let interface = &map.interface;
    scratch.kept = tape.kept.clone();
    interface.bound(scratch, kept, seeds, |scratch, parts| match (&shared.code, &tape.store) {
        (LinearCode::Native(recorder, _), Store::Native(recording)) => {
            let limit = limit(shared.limit);
            let mut runner = Follow { recorder, k, recording, workspace, limit };
            interface.run(scratch, parts, to, &map.placements, &mut runner)
        }
        (LinearCode::Interpreted(interpreters), Store::Interpreted(saved)) => {
            let run = (&interpreters[k + 1], workspace.cancellation());
            interface.interpret(run, saved, &scratch.sizes, parts, to).map(|_| ())
        }
        _ => Err(Error::Tape("the tape is that of another engine".into())),
    })
}

/// Runs the function and keeps its tape.
struct Record<'r> {
    recorder: &'r Recorder,
    recording: &'r mut Recording,
    limit: usize,
}

impl Runner for Record<'_> {
    fn limit(&self) -> usize {
        self.limit
    }

    fn set_aside(&mut self, bytes: usize) {
        self.recording.set_limit(self.limit.saturating_sub(bytes));
    }

    fn cells(&self, number: usize, parts: &[Arg<'_>]) -> Option<usize> {
        self.recorder.first().cells(number, &mut |k| integer(parts, k))
    }

    fn call<'w>(
        &'w mut self,
        words: &mut [Word<'_>],
        _: &mut Vec<u64>,
        _: &'w mut Vec<u64>,
    ) -> std::result::Result<Words<'w>, Failure> {
        self.recorder.record(self.recording, words).map_err(Failure::from)
    }
}

/// Runs a map from a tape.
struct Follow<'r> {
    recorder: &'r Recorder,
    k: usize,
    recording: &'r Recording,
    workspace: &'r mut Workspace,
    limit: usize,
}

impl Runner for Follow<'_> {
    fn limit(&self) -> usize {
        self.limit
    }

    fn set_aside(&mut self, bytes: usize) {
        self.workspace.set_limit(self.limit.saturating_sub(bytes));
    }

    fn cells(&self, number: usize, parts: &[Arg<'_>]) -> Option<usize> {
        let lead = self.recorder.leading();
        let value = &mut |n: usize| match n.checked_sub(lead) {
            Some(own) => integer(parts, own),
            None => self.recording.integer(n),
        };
        self.recorder.follower(self.k)?.cells(number, value)
    }

    fn call<'w>(
        &'w mut self,
        words: &mut [Word<'_>],
        call: &mut Vec<u64>,
        returned: &'w mut Vec<u64>,
    ) -> std::result::Result<Words<'w>, Failure> {
        let Follow { recorder, k, recording, workspace, .. } = self;
        recorder.follow(*k, recording, workspace, words, call, returned).map_err(Failure::from)
    }
}
