//! What is measured of one program at one size.

use crate::cases::Case;
use crate::loops::engines;
use crate::machine;
use crate::measure::{Watch, Way, in_turns, median};
use crate::tape;
use jut::{Arg, BoundCall, Compiled, Engine, Model, Out, Session, Value};
use serde::Serialize;
use std::hint::black_box;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Times in seconds, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The program.
    pub name: &'static str,
    /// Its size.
    pub size: String,
    /// How many inputs are differentiated.
    pub inputs: usize,
    /// From text to a gradient that can be called.
    pub compile: f64,
    /// From text to the results of the first call.
    pub first_gradient: f64,
    /// The value alone, by Cranelift.
    pub primal: f64,
    /// Value and gradient by Cranelift.
    pub cranelift: f64,
    /// Value and gradient by hand.
    pub hand: f64,
    /// Value and gradient by the other engines that make machine code and are built in.
    pub engines: Vec<(&'static str, f64)>,
    /// Value and gradient by the interpreter.
    pub interpreter: Option<f64>,
    /// Value and gradient by central differences of the value by Cranelift.
    pub differences: Option<f64>,
    /// Value and gradient by forward mode with `num-dual`.
    pub num_dual: Option<f64>,
    /// Value and gradient by the fastest other tool, measured separately on a Zen 5 machine.
    pub best_peer: Option<f64>,
    /// The hand-written code of that measurement.
    pub best_peer_hand: Option<f64>,
    /// Bytes of tape.
    pub tape_bytes: u64,
    /// Requests for memory of a call, once the first calls are over.
    pub allocations_per_call: f64,
    /// Largest difference from the hand-written result, relative to its largest number, of the
    /// gradients by Cranelift and the interpreter, which are equal bit for bit.
    pub difference: f64,
}

impl Row {
    /// Cranelift over hand-written.
    pub fn to_hand(&self) -> f64 {
        self.cranelift / self.hand
    }

    /// Another engine over hand-written, if it is built in.
    pub fn engine_to_hand(&self, engine: &str) -> Option<f64> {
        let found = self.engines.iter().find(|(name, _)| *name == engine)?;
        Some(found.1 / self.hand)
    }

    /// Value and gradient over the value, both by Cranelift.
    pub fn to_primal(&self) -> f64 {
        self.cranelift / self.primal
    }

    /// Whether it is one of the programs that jut is tuned on.
    pub fn is_target(&self) -> bool {
        self.best_peer.is_some()
    }

    /// The fastest other tool over the hand-written code of its own measurement.
    pub fn peer_to_hand(&self) -> Option<f64> {
        Some(self.best_peer? / self.best_peer_hand?)
    }

    /// Cranelift over the fastest other tool, in plain time: meaningful on a like machine only.
    pub fn to_peer(&self) -> Option<f64> {
        Some(self.cranelift / self.best_peer?)
    }
}

/// How much a run measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Everything.
    Full,
    /// Less than two minutes: hand-written code and the engines, at every size.
    Quick,
    /// Just enough to see that everything works.
    Smoke,
}

/// How long and how often to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time for each program at each size.
    pub budget: Duration,
    /// How often to compile.
    pub compilations: usize,
    /// Central differences are measured if they take less than this many seconds.
    pub patience: f64,
    /// Whether the interpreter and forward mode are measured, which take most of the time.
    pub slow_ways: bool,
}

impl Effort {
    /// The effort of a run.
    pub fn of(extent: Extent) -> Effort {
        let (milliseconds, compilations, patience) = match extent {
            Extent::Full => (2000, 11, 0.5),
            Extent::Quick => (300, 5, 0.0),
            Extent::Smoke => (2, 1, 0.01),
        };
        let budget = Duration::from_millis(milliseconds);
        Effort { budget, compilations, patience, slow_ways: extent != Extent::Quick }
    }
}

/// The gradient of a case, compiled from its text.
pub fn compile(case: &Case, engine: Engine) -> jut::Result<Compiled> {
    let function =
        Model::from_text(case.text)?.function(case.function)?.wrt(case.wrt)?.parallel(false);
    function.engine(engine).value_and_gradient()
}

/// Measures a case.
///
/// # Errors
/// A program fails, or a gradient differs from the hand-written one.
pub fn measure(case: &mut Case, effort: Effort) -> Result<Row> {
    let (mut compiles, mut firsts) = (Vec::new(), Vec::new());
    let args: Vec<Arg<'_>> = case.args.iter().map(Arg::from).collect();
    for _ in 0..effort.compilations {
        let watch = Watch::start();
        let compiled = compile(case, Engine::Cranelift)?;
        compiles.push(watch.seconds());
        black_box(compiled.session().call(&args)?);
        firsts.push(watch.seconds());
    }
    let native = compile(case, Engine::Cranelift)?;
    let interpreted = compile(case, Engine::Interpreter)?;
    let primal = Model::from_text(case.text)?.function(case.function)?.parallel(false);
    let primal = primal.engine(Engine::Cranelift).value()?;

    let mut by_hand = vec![0.0; 1 + case.inputs()];
    (case.hand)(&mut by_hand);
    let check = |what: &str, ours: &[f64], limit: f64| {
        let difference = largest_difference(ours, &by_hand);
        if difference <= limit {
            return Ok(difference);
        }
        let (name, size) = (case.name, &case.size);
        Err(format!("{name} {size}: {what} differs from the hand-written gradient by {difference}"))
    };
    let numbers = |values: Vec<Value>| values.iter().flat_map(Value::floats).collect::<Vec<f64>>();
    let ours = numbers(native.call(&args)?);
    let difference = check("Cranelift", &ours, 1e-9)?;
    check("the interpreter", &numbers(interpreted.call(&args)?), 1e-9)?;
    let mut others = Vec::new();
    for (name, engine) in engines().into_iter().filter(|(_, e)| *e != Engine::Cranelift) {
        let compiled = compile(case, engine)?;
        check(name, &numbers(compiled.call(&args)?), 1e-9)?;
        others.push((name, compiled));
    }

    let mut slow = interpreted.session();
    let mut differences = Differences::new(case, &primal);
    let mut out = vec![0.0; by_hand.len()];
    let mut dual = case.dual.as_mut().filter(|_| effort.slow_ways);
    if let Some(dual) = &mut dual {
        dual(&mut out);
        check("num-dual", &out, 1e-9)?;
    }
    let watch = Watch::start();
    black_box(primal.call(&args)?);
    let estimate = 2.0 * by_hand.len() as f64 * watch.seconds();
    let patient = estimate < effort.patience;
    if patient {
        differences.run(&mut out)?;
        check("the difference quotient", &out, 1e-4)?;
    }

    let (mut room, mut value_room) = (native.call(&args)?, primal.call(&args)?);
    let mut gradient = Bound::new(&native, &args, &mut room)?;
    let mut value = Bound::new(&primal, &args, &mut value_room)?;
    let mut rooms = vec![native.call(&args)?; others.len()];
    let mut bound = Vec::new();
    for ((_, compiled), room) in others.iter().zip(&mut rooms) {
        bound.push(Bound::new(compiled, &args, room)?);
    }
    let allocations_per_call = allocations(&mut gradient)?;
    let (mut hand_out, mut dual_out) = (out.clone(), out.clone());
    let hand = &mut case.hand;
    let mut ways: Vec<Way<'_>> = vec![
        Box::new(|| {
            hand(&mut hand_out);
            black_box(&hand_out);
        }),
        Box::new(|| drop(black_box(gradient.call()))),
        Box::new(|| drop(black_box(value.call()))),
    ];
    for call in &mut bound {
        ways.push(Box::new(move || drop(black_box(call.call()))));
    }
    if effort.slow_ways {
        ways.push(Box::new(|| drop(black_box(slow.call(&args)))));
    }
    if patient {
        ways.push(Box::new(|| drop(black_box(differences.run(&mut out)))));
    }
    let has_dual = dual.is_some();
    if let Some(dual) = &mut dual {
        ways.push(Box::new(|| {
            dual(&mut dual_out);
            black_box(&dual_out);
        }));
    }
    let mut times = in_turns(&mut ways, effort.budget).into_iter();
    drop(ways);
    let mut next = || times.next().unwrap_or_default();
    Ok(Row {
        name: case.name,
        size: case.size.clone(),
        inputs: case.inputs(),
        compile: median(&mut compiles),
        first_gradient: median(&mut firsts),
        hand: next(),
        cranelift: next(),
        primal: next(),
        engines: others.iter().map(|(name, _)| (*name, next())).collect(),
        interpreter: effort.slow_ways.then(&mut next),
        differences: patient.then(&mut next),
        num_dual: has_dual.then(&mut next),
        best_peer: case.peer.map(|p| p.seconds),
        best_peer_hand: case.peer.map(|p| p.hand),
        tape_bytes: tape::bytes(case)?,
        allocations_per_call,
        difference,
    })
}

/// A call that is bound to the sizes of its arguments and writes its results to the same memory each time, as the
/// hand-written code does.
struct Bound<'a> {
    call: BoundCall,
    args: &'a [Arg<'a>],
    outs: Vec<Out<'a>>,
}

impl<'a> Bound<'a> {
    /// `room` are results of the function.
    fn new(function: &Compiled, args: &'a [Arg<'a>], room: &'a mut [Value]) -> Result<Bound<'a>> {
        let mut outs = Vec::new();
        for value in room {
            outs.push(match value {
                Value::F64(x) => Out::from(x),
                Value::F64s(a) => Out::from(&mut a.data),
                _ => return Err("results are floats and arrays of floats".into()),
            });
        }
        Ok(Bound { call: function.bind(args)?, args, outs })
    }

    fn call(&mut self) -> jut::Result<()> {
        self.call.call(black_box(self.args), &mut self.outs)
    }
}

/// Requests for memory per call, after a few calls.
fn allocations(function: &mut Bound<'_>) -> Result<f64> {
    const CALLS: u32 = 10;
    for _ in 0..3 {
        function.call()?;
    }
    let before = machine::allocations();
    for _ in 0..CALLS {
        function.call()?;
    }
    Ok((machine::allocations() - before) as f64 / f64::from(CALLS))
}

/// Central differences: two calls of the value for each input.
struct Differences {
    session: Session,
    args: Vec<Value>,
    active: Vec<usize>,
}

impl Differences {
    fn new(case: &Case, primal: &Compiled) -> Differences {
        let (args, active) = (case.args.clone(), case.active.clone());
        Differences { session: primal.session(), args, active }
    }

    fn value(&mut self) -> jut::Result<f64> {
        // One list of references per call: small beside the call itself, except for scalars.
        let args: Vec<Arg<'_>> = self.args.iter().map(Arg::from).collect();
        self.session.call(&args)?.f64("value")
    }

    fn run(&mut self, out: &mut [f64]) -> jut::Result<()> {
        out[0] = self.value()?;
        let mut k = 0;
        for arg in self.active.clone() {
            let len = match &self.args[arg] {
                Value::F64s(a) => a.data.len(),
                _ => 1,
            };
            for element in 0..len {
                let x = *number(&mut self.args[arg], element);
                let step = f64::EPSILON.cbrt() * x.abs().max(1.0);
                *number(&mut self.args[arg], element) = x + step;
                let above = self.value()?;
                *number(&mut self.args[arg], element) = x - step;
                let below = self.value()?;
                *number(&mut self.args[arg], element) = x;
                k += 1;
                out[k] = (above - below) / (2.0 * step);
            }
        }
        Ok(())
    }
}

/// An element of an active argument: these are floats and arrays of floats.
fn number(value: &mut Value, element: usize) -> &mut f64 {
    match value {
        Value::F64(x) => x,
        Value::F64s(a) => &mut a.data[element],
        _ => unreachable!("active arguments are made of floats"),
    }
}

fn largest_difference(ours: &[f64], by_hand: &[f64]) -> f64 {
    if ours.len() != by_hand.len() {
        return f64::INFINITY;
    }
    let scale = by_hand.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    ours.iter().zip(by_hand).fold(0.0, |m: f64, (a, b)| {
        let difference = (a - b).abs() / scale;
        // A number that is not one is as far away as possible.
        if difference.is_nan() { f64::INFINITY } else { m.max(difference) }
    })
}
