//! Everything that is made of a function, in every engine, each array at guard pages.
//!
//! *Requires*: a function and arguments that fit it. *Ensures*: an `Err` says what differs: an engine from
//! the interpreter, or a derivative that fails where the function does not, or elsewhere, or not at
//! all. *Cost*: a compilation per request and engine.

use super::said;
use crate::guard::{self, Guarded, Place};
use fastrand::Rng;
use jut::{Arg, Array, Cancellation, Compiled, Engine, Error, Function, Out, Request, Role, Value};
use jut_runtime::arena::ALIGN;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What a call may take: more is the error R06.
pub const MEMORY: usize = 1 << 26;

/// How a call ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// With results.
    Values(Vec<Value>),
    /// With an error of the program: its code, and where.
    Fails(&'static str, u32, u32),
    /// There is no such derivative, or the arguments do not fit: the error's code.
    Refused(&'static str),
}

impl Outcome {
    fn of(result: Result<Vec<Value>, Error>) -> Result<Outcome, String> {
        match result {
            Ok(values) => Ok(Outcome::Values(values)),
            Err(Error::Run(e)) => {
                let span = e.error().span;
                Ok(Outcome::Fails(e.code(), span.start, span.end))
            }
            Err(e @ (Error::Program(_) | Error::Argument(_))) => {
                Ok(Outcome::Refused(e.code().unwrap_or_default()))
            }
            // What goes on tapes is refused by a text.
            Err(Error::Request(_) | Error::Input(_)) => Ok(Outcome::Refused("")),
            Err(e) => Err(format!("error: {e}")),
        }
    }

    /// Whether it ended at a limit, of memory or of time: engines need different amounts of both.
    pub fn is_unclear(&self) -> bool {
        matches!(self, Outcome::Fails("R06" | "R07", ..))
    }

    /// Whether it took too long.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Outcome::Fails("R07", ..))
    }

    /// Whether it is an error of the program.
    pub fn fails(&self) -> bool {
        matches!(self, Outcome::Fails(..))
    }

    /// Whether both ended alike, values bit for bit.
    fn same(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Values(a), Outcome::Values(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Outcome::Fails(a, from, to), Outcome::Fails(b, begin, end)) => {
                (a, from, to) == (b, begin, end)
            }
            (Outcome::Refused(a), Outcome::Refused(b)) => a == b,
            _ => false,
        }
    }

    /// Whether both failed alike, or both did not.
    fn fails_as(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Fails(..), _) | (_, Outcome::Fails(..)) => self.same(other),
            _ => true,
        }
    }
}

/// Equality of bits; any NaN is as good as any other.
fn same(a: &Value, b: &Value) -> bool {
    let float = |x: &f64, y: &f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    let all =
        |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    match (a, b) {
        (Value::F64(x), Value::F64(y)) => float(x, y),
        (Value::F64s(x), Value::F64s(y)) => {
            x.shape == y.shape && x.data.iter().zip(&y.data).all(|(x, y)| float(x, y))
        }
        (Value::Tuple(x), Value::Tuple(y)) | (Value::List(x), Value::List(y)) => all(x, y),
        (Value::Data(c, x), Value::Data(d, y)) => c == d && all(x, y),
        _ => a == b,
    }
}

/// The engines that are built in, the interpreter first.
pub fn engines() -> Vec<(&'static str, Engine)> {
    let native = jut::BACKENDS.iter().map(|(engine, _)| *engine);
    let built = native.filter(|engine| engine.is_built_in()).map(|engine| (engine.name(), engine));
    std::iter::once(("interpreter", Engine::Interpreter)).chain(built).collect()
}

/// A value in memory at guard pages.
enum Held {
    F64s(Guarded<f64>, Vec<usize>),
    I64s(Guarded<i64>, Vec<usize>),
    Bools(Guarded<bool>, Vec<usize>),
    Other(Value),
}

impl Held {
    fn new(value: &Value) -> Option<Held> {
        Some(match value {
            Value::F64s(a) => Held::F64s(Guarded::of(&a.data)?, a.shape.clone()),
            Value::I64s(a) => Held::I64s(Guarded::of(&a.data)?, a.shape.clone()),
            Value::Bools(a) => Held::Bools(Guarded::of(&a.data)?, a.shape.clone()),
            other => Held::Other(other.clone()),
        })
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Held::F64s(data, shape) => Arg::F64s(data, Some(shape)),
            Held::I64s(data, shape) => Arg::I64s(data, Some(shape)),
            Held::Bools(data, shape) => Arg::Bools(data, Some(shape)),
            Held::Other(value) => value.into(),
        }
    }

    /// Memory for a result like this one; none if it is not a scalar or an array of scalars.
    fn out(&mut self) -> Option<Out<'_>> {
        Some(match self {
            Held::F64s(data, _) => Out::F64s(data),
            Held::I64s(data, _) => Out::I64s(data),
            Held::Bools(data, _) => Out::Bools(data),
            Held::Other(Value::F64(x)) => Out::F64(x),
            Held::Other(Value::I64(x)) => Out::I64(x),
            Held::Other(Value::Bool(x)) => Out::Bool(x),
            Held::Other(_) => return None,
        })
    }

    /// With floats that no program gives, to see that each is written.
    fn blank(value: &Value) -> Option<Held> {
        Held::new(&value.map_floats(&mut |_| f64::from_bits(0x4321_dead_beef_4321)))
    }

    fn value(&self) -> Value {
        match self {
            Held::F64s(data, shape) => {
                Value::F64s(Array { shape: shape.clone(), data: data.to_vec() })
            }
            Held::I64s(data, shape) => {
                Value::I64s(Array { shape: shape.clone(), data: data.to_vec() })
            }
            Held::Bools(data, shape) => {
                Value::Bools(Array { shape: shape.clone(), data: data.to_vec() })
            }
            Held::Other(value) => value.clone(),
        }
    }
}

fn held(values: &[Value]) -> Result<Vec<Held>, String> {
    let all: Option<Vec<Held>> = values.iter().map(Held::new).collect();
    all.ok_or_else(|| "no memory for arguments".to_string())
}

/// How long a call may take. What random numbers and changes make of a program may have loops that do not
/// end while anybody waits.
const LONG: Duration = Duration::from_secs(2);

/// A call, which another thread cancels if it takes long.
fn in_time<T>(call: impl FnOnce(&Cancellation) -> T) -> T {
    let cancellation = Cancellation::default();
    let (running, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let cancellation = &cancellation;
        scope.spawn(move || {
            if end.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                cancellation.cancel();
            }
        });
        let outcome = call(cancellation);
        drop(running);
        outcome
    })
}

/// Calls a request twice, with results that it makes and with results of the caller, each time with the
/// memory of all arrays at another side of their pages.
fn call(compiled: &Compiled, args: &[Value]) -> Result<Outcome, String> {
    guard::place(Place::End);
    let first = {
        let memory = held(args)?;
        let args: Vec<Arg<'_>> = memory.iter().map(Held::arg).collect();
        Outcome::of(in_time(|cancellation| {
            let mut session = compiled.session();
            session.set_cancellation(cancellation);
            session.call(&args).map(|results| results.values())
        }))?
    };
    let Outcome::Values(values) = &first else { return Ok(first) };
    guard::place(Place::Begin);
    let mut to: Vec<Held> = values.iter().filter_map(Held::blank).collect();
    let mut outs: Vec<Out<'_>> = to.iter_mut().filter_map(Held::out).collect();
    if outs.len() != values.len() {
        return Ok(first);
    }
    let memory = held(args)?;
    let args: Vec<Arg<'_>> = memory.iter().map(Held::arg).collect();
    let again = in_time(|cancellation| {
        let mut session = compiled.session();
        session.set_cancellation(cancellation);
        session.call_into(&args, &mut outs).map(|()| Vec::new())
    });
    let again = match Outcome::of(again)? {
        Outcome::Values(_) => Outcome::Values(to.iter().map(Held::value).collect()),
        other => other,
    };
    match first.same(&again) || again.is_cancelled() {
        true => Ok(first),
        false => Err(format!(
            "differs: a second call, into memory, gives\n  {again:?}\nthe first\n  {first:?}"
        )),
    }
}

/// A function, its arguments, and how it ends with them.
pub struct Attacked<'a> {
    function: &'a Function,
    args: &'a [Value],
    engines: &'a [(&'static str, Engine)],
    /// The most memory of a call.
    limit: usize,
    /// How the function itself ends, in the interpreter.
    reference: Outcome,
    /// Random numbers for tangents and cotangents.
    seed: u64,
}

impl<'a> Attacked<'a> {
    /// Runs the function itself in every engine.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn new(
        function: &'a Function,
        args: &'a [Value],
        engines: &'a [(&'static str, Engine)],
        limit: usize,
        seed: u64,
    ) -> Result<Attacked<'a>, String> {
        let reference = Outcome::Refused("");
        let mut target = Attacked { function, args, engines, limit, reference, seed };
        target.reference = target.answer(Request::Value, engines)?;
        Ok(target)
    }

    /// How the function itself ends.
    pub fn reference(&self) -> &Outcome {
        &self.reference
    }

    /// Runs every request in the interpreter and in the fastest compiler, and some in the others.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn products(&self) -> Result<(), String> {
        if matches!(self.reference, Outcome::Refused(_)) || self.reference.is_cancelled() {
            return Ok(());
        }
        let mut rng = Rng::with_seed(self.seed);
        // A transpose is of other functions, and a batch has other arguments.
        let all = Request::all().filter(|r| !r.is_no_derivative());
        for request in all {
            let all = rng.u8(0..4) == 0 || self.engines.len() <= 2;
            let engines = if all { self.engines } else { self.first_two() };
            let outcome = self.answer(request, engines)?;
            let unclear = outcome.is_unclear() || self.reference.is_unclear();
            if !unclear
                && !matches!(outcome, Outcome::Refused(_))
                && !outcome.fails_as(&self.reference)
            {
                let name = request.suffix();
                return Err(format!(
                    "{name} fails elsewhere: it gives\n  {outcome:?}\nthe function\n  {:?}",
                    self.reference
                ));
            }
        }
        self.linearized(self.first_two())
    }

    /// The interpreter and the fastest compiler.
    fn first_two(&self) -> &[(&'static str, Engine)] {
        self.engines.get(..2).unwrap_or(self.engines)
    }

    /// What a request gives in some engines, which must agree with the first.
    fn answer(
        &self,
        request: Request,
        engines: &[(&'static str, Engine)],
    ) -> Result<Outcome, String> {
        let mut expected: Option<Outcome> = None;
        for (name, engine) in engines {
            let named = |e: String| format!("{} by {name}: {e}", request.suffix());
            said::at(self.seed, format_args!("{} by {name}", request.suffix()));
            let outcome = self.run(request, *engine).map_err(named)?;
            match &expected {
                None => expected = Some(outcome),
                Some(first) if first.is_unclear() || outcome.is_unclear() => {}
                Some(first) if first.same(&outcome) => {}
                Some(first) => {
                    return Err(named(format!(
                        "differs: it gives\n  {outcome:?}\nthe interpreter\n  {first:?}"
                    )));
                }
            }
        }
        Ok(expected.unwrap_or(Outcome::Refused("")))
    }

    fn run(&self, request: Request, engine: Engine) -> Result<Outcome, String> {
        guard::aligned(if engine == Engine::Cranelift { 8 } else { ALIGN });
        let function = self.function.clone().engine(engine).memory_limit(self.limit);
        let compiled = match function.compile(request) {
            Ok(compiled) => compiled,
            Err(error) => return Outcome::of(Err(error)),
        };
        match self.arguments(&compiled) {
            Some(args) => call(&compiled, &args),
            None => Ok(Outcome::Refused("")),
        }
    }

    /// The arguments of a request: those of the function, then tangents or cotangents, the same ones for
    /// every engine. None if cotangents have shapes that only results tell, and there are none.
    fn arguments(&self, compiled: &Compiled) -> Option<Vec<Value>> {
        let mut rng = Rng::with_seed(self.seed);
        let mut random = |value: &Value| value.map_floats(&mut |_| 2.0 * rng.f64() - 1.0);
        let seeds: Vec<_> = compiled.inputs().filter(|i| i.role == Role::Derivative).collect();
        let mut args = self.args.to_vec();
        if seeds.iter().any(|seed| seed.name.ends_with("''")) {
            for seed in &seeds {
                let results: &[Value] = match &self.reference {
                    Outcome::Values(results) => results,
                    _ => &[],
                };
                let name = seed.name.trim_end_matches('\'');
                let of = compiled.outputs().position(|o| o.role == Role::Value && o.name == name);
                let like = of.and_then(|k| compiled.output_as_tangent(k, results.get(k)?));
                match (like, seed.ty) {
                    (Some(like), _) => args.push(random(&like)),
                    (None, "f64") => args.push(random(&Value::F64(0.0))),
                    _ => return None,
                }
            }
        } else if !seeds.is_empty() {
            let tangents = self.args.iter().enumerate();
            let tangents: Vec<Value> =
                tangents.filter_map(|(k, arg)| compiled.input_as_tangent(k, arg)).collect();
            args.extend(tangents.iter().map(random));
        }
        Some(args)
    }

    /// The derivative, recorded and applied both ways, in some engines, which must agree with the first.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn linearized(&self, engines: &[(&'static str, Engine)]) -> Result<(), String> {
        let mut expected: Option<Vec<Outcome>> = None;
        for (name, engine) in engines {
            let named = |e: String| format!("linearize by {name}: {e}");
            said::at(self.seed, format_args!("linearize by {name}"));
            let outcomes = self.applied(*engine).map_err(named)?;
            let unclear = |all: &[Outcome]| all.iter().any(Outcome::is_unclear);
            let Some(first) = &expected else {
                expected = Some(outcomes);
                continue;
            };
            let agree = first.len() == outcomes.len()
                && first.iter().zip(&outcomes).all(|(a, b)| a.same(b));
            if !agree && !unclear(first) && !unclear(&outcomes) {
                return Err(named(format!(
                    "differs: it gives\n  {outcomes:?}\nthe interpreter\n  {first:?}"
                )));
            }
        }
        match expected.as_deref() {
            Some([recorded, ..]) if !recorded.is_unclear() && !self.reference.is_unclear() => {
                let refused = matches!(recorded, Outcome::Refused(_));
                match refused || recorded.same(&self.reference) {
                    true => Ok(()),
                    false => Err(format!(
                        "linearize fails elsewhere: it gives\n  {recorded:?}\nthe function\n  {:?}",
                        self.reference
                    )),
                }
            }
            _ => Ok(()),
        }
    }

    /// What a recording gives, the map, and its transpose.
    fn applied(&self, engine: Engine) -> Result<Vec<Outcome>, String> {
        guard::aligned(if engine == Engine::Cranelift { 8 } else { ALIGN });
        guard::place(Place::of(self.seed));
        let function = self.function.clone().engine(engine).memory_limit(self.limit);
        let linearized = match function.linearize() {
            Ok(linearized) => linearized,
            Err(error) => return Ok(vec![Outcome::of(Err(error))?]),
        };
        let memory = held(self.args)?;
        let args: Vec<Arg<'_>> = memory.iter().map(Held::arg).collect();
        let mut tape = linearized.tape();
        let recorded = Outcome::of(in_time(|cancellation| {
            tape.set_cancellation(cancellation);
            tape.record(&args).map(|results| results.values())
        }))?;
        let Outcome::Values(results) = &recorded else { return Ok(vec![recorded]) };
        // For names and shapes of tangents and cotangents.
        let value = match function.compile(Request::Value) {
            Ok(value) => value,
            Err(error) => return Err(format!("error: {error}")),
        };
        let mut rng = Rng::with_seed(self.seed);
        let mut random = |value: Value| value.map_floats(&mut |_| 2.0 * rng.f64() - 1.0);
        let inputs = self.args.iter().enumerate();
        let tangents: Vec<Value> =
            inputs.filter_map(|(k, arg)| value.input_as_tangent(k, arg)).map(&mut random).collect();
        let outputs = results.iter().enumerate();
        let cotangents: Vec<Value> = outputs
            .filter_map(|(k, result)| value.output_as_tangent(k, result))
            .map(&mut random)
            .collect();
        let mut session = linearized.session();
        let (tangents, cotangents) = (held(&tangents)?, held(&cotangents)?);
        let tangents: Vec<Arg<'_>> = tangents.iter().map(Held::arg).collect();
        let cotangents: Vec<Arg<'_>> = cotangents.iter().map(Held::arg).collect();
        let forward = Outcome::of(in_time(|cancellation| {
            session.set_cancellation(cancellation);
            session.apply(&tape, &tangents).map(|results| results.values())
        }))?;
        let back = Outcome::of(in_time(|cancellation| {
            session.set_cancellation(cancellation);
            session.apply_transposed(&tape, &cotangents).map(|results| results.values())
        }))?;
        Ok(vec![recorded, forward, back])
    }
}

/// Which engines run.
#[derive(Clone, Debug, Default)]
pub(super) struct Engines(pub Option<Vec<String>>);

impl Engines {
    /// The interpreter is what others are held against, so it always runs.
    pub fn has(&self, name: &str) -> bool {
        name == "interpreter" || self.0.as_ref().is_none_or(|all| all.iter().any(|n| n == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut::Model;

    #[test]
    fn a_loop_that_does_not_end_is_cancelled_and_no_failure() {
        let text = "def f(x: f64, n: i64) -> f64 = for (i < n) carry (s = x) { sin(s) }";
        let model = Model::from_text(text).unwrap();
        let function = model.function("f").unwrap();
        let engines = engines();
        let target = |n| {
            let args = [Value::F64(0.5), Value::I64(n)];
            let target = Attacked::new(&function, &args, &engines, MEMORY, 1)?;
            target.products().map(|()| target.reference().is_cancelled())
        };
        assert_eq!(target(1 << 62), Ok(true));
        assert_eq!(target(100), Ok(false));
    }
}
