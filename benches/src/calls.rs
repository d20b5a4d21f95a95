//! What a call costs: value and gradient of functions of a few numbers, where the arithmetic is
//! nothing beside it.
//!
//! Four ways lead from Rust to the same machine code: a call that is bound to the sizes of its
//! arguments, a session that writes into memory of the caller, a session that keeps the results, and the typed
//! call of an annotated function. Beside them the machine code itself is entered, with words that were made before. All
//! are measured in turns, and run Cranelift's code of one text, that of the annotated function where it has numbers alone.

use crate::machine::{Code, Word};
use crate::measure::{Way, in_turns};
use jut::{Arg, Engine, Model, Out};
use jut_ad::{Derivatives, Mask, Policy, compose};
use serde::Serialize;
use std::hint::black_box;
use std::time::Duration;

/// Seconds of a call in each way.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The function and its arguments.
    pub name: &'static str,
    /// The same arithmetic, in Rust.
    pub hand: f64,
    /// The machine code alone.
    pub code: f64,
    /// [`jut::BoundCall::call`].
    pub bound: f64,
    /// [`jut::Session::call_into`].
    pub into: f64,
    /// [`jut::Session::call`].
    pub session: f64,
    /// `f::value_and_gradient`, of a function with the attribute.
    pub typed: f64,
}

/// The function of one number as ordinary Rust.
#[jut::differentiable]
fn saturation(x: f64) -> f64 {
    x * x / (1.0 + x * x)
}

/// The function of two numbers as ordinary Rust.
#[jut::differentiable]
fn banana(x: f64, y: f64) -> f64 {
    100.0 * (y - x * x) * (y - x * x) + (1.0 - x) * (1.0 - x)
}

/// The function of four numbers as ordinary Rust.
#[jut::differentiable]
fn valley(x: &[f64; 4]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 1 {
        let rise = x[i + 1] - x[i] * x[i];
        let walk = 1.0 - x[i];
        s += 100.0 * rise * rise + walk * walk;
    }
    s
}

const PROGRAM: &str = "
def valley[n](x: [n]f64) -> f64 = sum (i < n - 1) { 100.0 * (x[i + 1] - x[i]^2)^2 + (1.0 - x[i])^2 }
";

/// One term and its derivatives with respect to x and y.
fn term(x: f64, y: f64) -> [f64; 3] {
    let (rise, walk) = (y - x * x, 1.0 - x);
    [100.0 * rise * rise + walk * walk, -400.0 * rise * x - 2.0 * walk, 200.0 * rise]
}

/// The sum of the terms of four numbers, and its gradient.
fn by_hand(x: &[f64; 4]) -> [f64; 5] {
    let mut all = [0.0; 5];
    for i in 0..3 {
        let [value, dx, dy] = term(x[i], x[i + 1]);
        all[0] += value;
        all[i + 1] += dx;
        all[i + 2] += dy;
    }
    all
}

/// Value and derivative of the function of one number.
fn by_hand_of_one(x: f64) -> [f64; 2] {
    let below = 1.0 + x * x;
    [x * x / below, 2.0 * x / (below * below)]
}

/// The name of the function that a text ends with.
fn last(text: &str) -> Result<&str> {
    let name = text.rsplit("def ").next().and_then(|rest| rest.split(['(', '[']).next());
    Ok(name.ok_or("the text has no function")?)
}

/// The machine code of value and gradient of a function in a text, with its words.
fn code(text: &str, function: &str, args: Vec<Word>) -> Result<Code> {
    let words = |d: jut_ir::Diagnostic| d.message;
    let program = jut_text::load(text, 0).program.ok_or("the program has errors")?;
    let found = program.funcs.iter().find(|(_, f)| f.name == function);
    let (func, _) = found.ok_or("the program does not have the function")?;
    let mask = Mask::full(&program, func);
    let mut derivatives = Derivatives::new(jut_opt::optimise(&program, func, false));
    let root =
        compose::value_and_grad(&mut derivatives, func, &mask, Policy::default()).map_err(words)?;
    let program = jut_opt::optimise_last(derivatives.program, root, true);
    let lowered = jut_loop::lower(&program, root).map_err(words)?;
    let compiled = jut_cranelift::BACKEND.compile(&lowered.program).map_err(|e| e.to_string())?;
    let code = Code::new(compiled, args);
    Ok(code.ok_or("the words are not those of the function")?)
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A function that is called, and with what.
struct Callee<'a, S, const N: usize> {
    name: &'static str,
    text: &'a str,
    function: &'a str,
    /// Its arguments, and the words of the machine code.
    args: [Arg<'a>; N],
    words: Vec<Word>,
    /// Room for its results.
    room: S,
}

impl<S: Clone, const N: usize> Callee<'_, S, N> {
    /// Measures the ways to it: `outs` are the results in their room, `hand` the same by hand, `typed` the typed call.
    fn measure<const M: usize>(
        self,
        outs: impl Fn(&mut S) -> [Out<'_>; M],
        mut hand: impl FnMut(),
        mut typed: impl FnMut(),
        budget: Duration,
    ) -> Result<Call> {
        let model = Model::from_text(self.text)?;
        let function = model.function(self.function)?.engine(Engine::Cranelift);
        let gradient = function.value_and_gradient()?;
        let args = self.args;
        let (mut bound, mut into, mut session) =
            (gradient.bind(&args)?, gradient.session(), gradient.session());
        let (mut first, mut second) = (self.room.clone(), self.room);
        let mut alone = code(self.text, self.function, self.words)?;
        let mut ways: Vec<Way<'_>> = vec![
            Box::new(&mut hand),
            Box::new(|| {
                black_box(alone.enter());
            }),
            Box::new(|| drop(black_box(bound.call(black_box(&args), &mut outs(&mut first))))),
            Box::new(|| drop(black_box(into.call_into(black_box(&args), &mut outs(&mut second))))),
            Box::new(|| drop(black_box(session.call(black_box(&args))))),
            Box::new(&mut typed),
        ];
        let times = in_turns(&mut ways, budget);
        let time = |k: usize| times.get(k).copied().unwrap_or_default();
        let (hand, code, bound) = (time(0), time(1), time(2));
        let name = self.name;
        Ok(Call { name, hand, code, bound, into: time(3), session: time(4), typed: time(5) })
    }
}

/// Measures the calls.
///
/// # Errors
/// A program is refused, or a call fails.
pub fn measure(budget: Duration) -> Result<Vec<Call>> {
    saturation::configure(|function| function.engine(Engine::Cranelift))?;
    banana::configure(|function| function.engine(Engine::Cranelift))?;
    valley::configure(|function| function.engine(Engine::Cranelift))?;

    let (text, x) = (saturation::text()?, 0.5);
    // The first call of an annotated function compiles it.
    saturation::value_and_gradient(x)?;
    let one = Callee {
        name: "one number",
        text: &text,
        function: last(&text)?,
        args: [x.into()],
        words: vec![Word::F64(x)],
        room: [0.0; 2],
    };
    let one = one.measure(
        |room| room.each_mut().map(Out::F64),
        || {
            black_box(by_hand_of_one(black_box(x)));
        },
        || {
            _ = saturation::value_and_gradient(black_box(x))
                .map(|(value, dx)| (black_box(value), black_box(dx)))
        },
        budget,
    )?;

    let (text, y) = (banana::text()?, 0.7);
    banana::value_and_gradient(x, y)?;
    let two = Callee {
        name: "two numbers",
        text: &text,
        function: last(&text)?,
        args: [x.into(), y.into()],
        words: vec![Word::F64(x), Word::F64(y)],
        room: [0.0; 3],
    };
    let two = two.measure(
        |room| room.each_mut().map(Out::F64),
        || {
            black_box(term(black_box(x), black_box(y)));
        },
        || {
            _ = banana::value_and_gradient(black_box(x), black_box(y))
                .map(|(value, (dx, dy))| (black_box(value), black_box(dx), black_box(dy)))
        },
        budget,
    )?;

    let x = [0.5, 0.6, 0.7, 0.8];
    valley::value_and_gradient(&x)?;
    let four = Callee {
        name: "an array of four",
        text: PROGRAM,
        function: "valley",
        args: [Arg::from(&x)],
        words: vec![Word::I64(4), Word::F64s(x.to_vec()), Word::F64s(vec![0.0; 4])],
        room: (0.0, [0.0; 4]),
    };
    let four = four.measure(
        |(value, slopes)| [Out::F64(value), Out::F64s(&mut slopes[..])],
        || {
            black_box(by_hand(black_box(&x)));
        },
        || _ = valley::value_and_gradient(black_box(&x)).map(black_box),
        budget,
    )?;
    Ok(vec![one, two, four])
}
