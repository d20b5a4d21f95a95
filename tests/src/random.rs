//! What is asked of each random program.

use crate::attack::run::{Attacked, MEMORY};
use crate::engines::{Run, agree_everywhere, backends};
use crate::generate::{Extent, Generated, generate_linear_of, generate_nests, generate_of};
use crate::laws::{self, Options, load};
use crate::products::{Derived, all_derived, along_one_direction, in_turn, under};
use jut::{Engine, Model};
use jut_ad::{Derivatives, Mask, Policy, erase};
use jut_eval::{Interpreter, Value};
use jut_ir::print::print_function;
use jut_ir::{FuncId, Mode, Program, RuntimeErrorKind, Span};
use jut_native::Backend;
use std::collections::BTreeMap;

/// A random program: its number, how large it is, and whether it is about linear code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The number; the same one gives the same program.
    pub seed: u64,
    /// How large.
    pub extent: Extent,
    /// Linear code written by hand.
    pub linear: bool,
}

impl Subject {
    /// A program of the usual size with a non-linear `main`.
    pub fn main(seed: u64) -> Subject {
        Subject { seed, extent: Extent::DEFAULT, linear: false }
    }

    /// A program of the usual size about linear code.
    pub fn slope(seed: u64) -> Subject {
        Subject { linear: true, ..Subject::main(seed) }
    }

    /// Makes it.
    pub fn generate(self) -> Generated {
        let make = if self.linear { generate_linear_of } else { generate_of };
        make(self.seed, self.extent)
    }

    fn name(self, generated: &Generated, error: String) -> String {
        let kind = if self.linear { "linear program" } else { "program" };
        format!("{kind} {}: {error}\n{}", self.seed, generated.text)
    }
}

/// What a random program about loops in loops has to do: its laws at a few numbers, and P16 for derivatives along one direction with arrays that are
/// shorter than vectors, as long, and longer.
///
/// # Errors
/// What does not hold, and the program.
pub fn nests(seed: u64, backends: &[(&'static str, Backend)]) -> Result<Ends, String> {
    let generated = generate_nests(seed);
    nests_of(&generated.text, seed, backends)
        .map_err(|e| format!("program of loops {seed}: {e}\n{}", generated.text))
}

/// The same of a text in the place of the program with this number.
///
/// # Errors
/// What does not hold.
pub fn nests_of(
    text: &str,
    seed: u64,
    backends: &[(&'static str, Backend)],
) -> Result<Ends, String> {
    let generated = Generated { text: text.to_string(), ..generate_nests(seed) };
    laws::verify(text, generated.func, &generated.arguments(), Options::default())?;
    at_each(&generated.of_vectors(seed), backends, along_one_direction)
}

/// All laws of [`crate::laws`] for a random program.
///
/// # Errors
/// What does not hold, and the program.
pub fn laws(subject: Subject) -> Result<(), String> {
    let generated = subject.generate();
    let Generated { text, func, .. } = &generated;
    laws::verify(text, func, &generated.arguments(), Options::default())
        .map_err(|e| subject.name(&generated, e))
        .map(drop)
}

/// P16 for everything that is made of a random program. Gives the number of runs.
///
/// # Errors
/// What does not hold, and the program.
pub fn engines(subject: Subject) -> Result<usize, String> {
    let generated = subject.generate();
    let Generated { text, func, .. } = &generated;
    engines_of(text, func, &generated.arguments(), subject.seed)
        .map_err(|e| subject.name(&generated, e))
}

/// P16 for everything that is made of a definition; its linear arguments are random.
///
/// # Errors
/// What does not hold.
pub fn engines_of(text: &str, func: &str, args: &[Value], seed: u64) -> Result<usize, String> {
    let program = load(text)?;
    let func = program.find_func(func).ok_or("no such definition")?;
    let interpreter = Interpreter::new(&program);
    let args = interpreter.with_sizes(func, args).map_err(|e| e.to_string())?;
    let function = &program.funcs[func];
    if function.is_nonlinear() {
        return all_products(&program, func, &[args], &Mask::full(&program, func));
    }
    if function.cap_params.iter().any(|c| function.caps[*c].mode != Mode::Rd) {
        // What adds to its caller's accumulators is compiled with its caller only.
        return Ok(0);
    }
    // Its erasure is ordinary code, with its linear parameters among the others.
    let mut rng = fastrand::Rng::with_seed(seed);
    let (linear, caps) =
        interpreter.linear_inputs(func, &args, &mut rng).map_err(|e| e.to_string())?;
    let modes = function.cap_params.iter().map(|c| function.caps[*c].mode);
    let read = modes.zip(caps).filter(|(mode, _)| *mode == Mode::Rd).map(|(_, value)| value);
    let args: Vec<Value> = args.iter().cloned().chain(linear).chain(read).collect();
    let mut d = Derivatives::new(program);
    let erased = erase::erase(&mut d, func).map_err(|e| e.to_string())?;
    let mask = Mask::full(&d.program, erased);
    all_products(&d.program, erased, &[args], &mask)
}

/// Every product of a function at several lists of arguments, optimised and not, in the interpreter, the
/// loop form and backends (P16), which compile [some of them, in turn](in_turn) from function to function; optimising changes no
/// bits and no error (P15). Gives the number of runs.
///
/// # Errors
/// What does not hold.
pub fn all_products(
    program: &Program,
    func: FuncId,
    lists: &[Vec<Value>],
    mask: &Mask,
) -> Result<usize, String> {
    let everywhere: Vec<_> = backends().collect();
    let all = under(program, func, mask, &[Policy::Default, Policy::StoreAll])?;
    let turn = print_function(program, func).bytes().map(usize::from).sum();
    let mut runs = 0;
    for ((policy, derived), count) in all.iter().zip(in_turn(&all, turn)) {
        let named = |e: String| format!("{} under {policy:?}: {e}", derived.kind);
        let given = lists.iter().filter_map(|args| derived.arguments(args).transpose());
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let asked = &everywhere[..count.min(everywhere.len())];
        // All engines may agree on an error as well.
        let both: Vec<Run> =
            agree_everywhere(&derived.program, derived.func, &given, asked).map_err(named)?;
        runs += 2 * both.len();
    }
    Ok(runs)
}

/// What [`strange`] ran: how often each derivative was computed, and how often it failed with the function.
pub type Ends = BTreeMap<&'static str, [usize; 2]>;

/// P16 for every derivative of a random program, kept ones too, with empty arrays and wrong indices; and each
/// fails if and where the program does.
///
/// # Errors
/// What does not hold, and the program.
pub fn strange(
    subject: Subject,
    backends: &[(&'static str, Backend)],
    engines: &[(&'static str, Engine)],
) -> Result<Ends, String> {
    let generated = subject.generate();
    let all: Vec<Generated> =
        generated.strange(subject.seed).into_iter().chain([generated.clone()]).collect();
    let ends = at_each(&all, backends, all_derived).and_then(|mut ends| {
        kept(&all, engines, subject.seed, &mut ends)?;
        Ok(ends)
    });
    ends.map_err(|e| subject.name(&generated, e))
}

/// What is made of a function.
type Made = fn(&Program, FuncId, &Mask) -> Result<Vec<Derived>, String>;

/// Derivatives of a program, with several arguments.
fn at_each(
    all: &[Generated],
    backends: &[(&'static str, Backend)],
    made: Made,
) -> Result<Ends, String> {
    let Some(Generated { text, func, .. }) = all.first() else { return Ok(Ends::new()) };
    let program = load(text)?;
    let func = program.find_func(func).ok_or("no such definition")?;
    let interpreter = Interpreter::new(&program);
    let lists = all.iter().map(|one| interpreter.with_sizes(func, &one.arguments()));
    let lists: Vec<_> = lists.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let failure = |run: &Run| run.as_ref().err().map(|e| (e.kind, e.span));
    let mut expected: Vec<Option<(RuntimeErrorKind, Span)>> = Vec::new();
    let mut ends = Ends::new();
    for derived in made(&program, func, &Mask::full(&program, func))? {
        let kind = derived.kind;
        let named = |e: String| format!("{kind}: {e}");
        let given = lists.iter().map(|args| derived.arguments(args));
        let given: Vec<_> = given.collect::<Result<_, _>>()?;
        // Which list each is made of.
        let (which, given): (Vec<usize>, Vec<Vec<Value>>) =
            given.into_iter().enumerate().filter_map(|(k, list)| Some((k, list?))).unzip();
        let runs = agree_everywhere(&derived.program, derived.func, &given, backends);
        for (k, run) in which.into_iter().zip(runs.map_err(named)?) {
            let failure = failure(&run);
            if kind == "value" {
                expected.push(failure);
            } else if expected[k] != failure {
                let wanted = expected[k];
                let args = &lists[k];
                return Err(named(format!(
                    "fails elsewhere: {failure:?}, the function {wanted:?}\nat {args:?}"
                )));
            }
            ends.entry(kind).or_default()[usize::from(failure.is_some())] += 1;
        }
    }
    Ok(ends)
}

/// The derivative that is kept, recorded and applied from both sides.
fn kept(
    all: &[Generated],
    engines: &[(&'static str, Engine)],
    seed: u64,
    ends: &mut Ends,
) -> Result<(), String> {
    let Some(Generated { text, func, .. }) = all.first() else { return Ok(()) };
    let model = Model::from_text(text).map_err(|e| e.to_string())?;
    let function = model.function(func).map_err(|e| e.to_string())?;
    for one in all {
        let args = one.values();
        let fails = Attacked::new(&function, &args, engines, MEMORY, seed)
            .and_then(|target| target.linearized(engines).map(|()| target.reference().fails()))
            .map_err(|e| format!("{e}\nat {args:?}"))?;
        ends.entry("kept").or_default()[usize::from(fails)] += 1;
    }
    Ok(())
}
