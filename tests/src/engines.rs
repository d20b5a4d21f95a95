//! P16: every engine gives the same bits, or the same error.
//!
//! A non-linear function runs in the interpreter of Linear A (the reference), in the evaluator of
//! the loop form (as lowered, with the iterations of `for par` in other orders, as read back from
//! the printed text, and as it is for each backend, with several iterations of loops at once), and as
//! machine code. The
//! reference runs the very program that is lowered; whether the optimiser keeps bits is another law
//! (P15). Machine code runs with each of its arrays at guard pages ([`crate::guard`]), once at the begin
//! of its pages and once at their end: a read of one cell outside ends the process.
//!
//! *Requires*: a checked, purely non-linear function and all its arguments. *Ensures*: an `Err` names
//! the first engine that differs, and shows both results. *Cost*: one lowering and one compilation
//! per call, at however many lists of arguments it runs.

use crate::border::{Sizes, flatten, rebuild};
use crate::guard::{self, Guarded, Place};
use crate::lines::printed;
use crate::products::Product;
use jut_eval::{EvalError, Interpreter, Value, View};
use jut_ir::{FuncId, Literal, NVar, Program, RuntimeError};
use jut_loop::eval::{self, Fault, Outcome};
use jut_loop::flatten::Layouts;
use jut_loop::form::{self, Kind, LoopFuncId, LoopProgram, Role, Stmt};
use jut_loop::opt::for_target;
use jut_loop::signature::{AbiComponent, Cells, Flat};
use jut_loop::{Lowered, lower, need, print, read};
use jut_native::{Arg, Backend, CallError, Checked, Returned};
use jut_runtime::Workspace;
use jut_runtime::arena::ALIGN;
use jut_runtime::shares;
use std::cell::Cell;

/// The backends that are built in, by name. Loops that may run on several threads run in parts from now on, not in
/// their order.
pub fn backends() -> impl Iterator<Item = (&'static str, Backend)> {
    shares::install(
        shares::in_thirds,
        shares::Threads { count: || 3, run: |count, work| (0..count).rev().for_each(work) },
    );
    let all = jut::BACKENDS.into_iter().map(|(_, backend)| backend);
    all.filter(Backend::is_built_in).map(|backend| (backend.name, backend))
}

/// The results of a function, or its error.
pub type Run = Result<Vec<Value>, RuntimeError>;

/// A run, and the lines that it printed.
type Ran = (Run, Vec<String>);

/// Runs a function in every engine; gives what all of them give.
///
/// # Errors
/// The first disagreement, or a part of the compiler that refuses the function.
pub fn agree(program: &Program, func: FuncId, args: &[Value]) -> Result<Run, String> {
    agree_with(program, func, args, &|_| {}, &backends().collect::<Vec<_>>())
}

/// The most memory that is lent to either arena in a test.
const MOST_LENT: usize = 1 << 26;

/// [`agree`] in some backends, with a fault in what lowering makes.
///
/// # Errors
/// As [`agree`].
pub fn agree_with(
    program: &Program,
    func: FuncId,
    args: &[Value],
    fault: &dyn Fn(&mut LoopProgram),
    backends: &[(&'static str, Backend)],
) -> Result<Run, String> {
    let lists = [args.to_vec()];
    let mut runs = agree_in(program, func, &lists, fault, backends)?;
    runs.pop().map(|(run, _)| run).ok_or_else(|| "no run".into())
}

/// [`agree_with`], at several lists of arguments, in some backends.
fn agree_in(
    program: &Program,
    func: FuncId,
    lists: &[Vec<Value>],
    fault: &dyn Fn(&mut LoopProgram),
    backends: &[(&'static str, Backend)],
) -> Result<Vec<Ran>, String> {
    guard::arenas();
    // Of this thread, which may have run other tests.
    guard::aligned(ALIGN);
    let interpreter = Interpreter::new(program);
    let mut lowered = lower(program, func).map_err(|e| format!("lowering: {e}"))?;
    fault(&mut lowered.program);
    let mut again = vec![("no backend", read_back(&lowered.program)?)];
    for (name, backend) in backends {
        let made = for_target(&lowered.program, &(backend.target)());
        if print::print_program(&made) != print::print_program(&lowered.program) {
            again.push((*name, read_back(&made)?));
        }
    }
    let query = need::query(&lowered.program).ok();
    let compiled = backends.iter().map(|(name, backend)| {
        let native = Checked::compile(&lowered, backend).map_err(|e| format!("{name}: {e}"))?;
        // Code that runs in memory that is lent has no shares.
        let made = for_target(&lowered.program, &(backend.target)());
        Ok((*name, native, !has_shares(&made)))
    });
    let natives: Vec<_> = compiled.collect::<Result<_, String>>()?;
    let engines = Engines { interpreter, lowered: &lowered, again, query, natives };
    let run = |args: &Vec<Value>| {
        let border = Border::new(program, func, &lowered, args)?;
        engines.run(func, args, border).map_err(|e| format!("{e}\nat {args:?}"))
    };
    lists.iter().map(run).collect()
}

/// Whether loops of a program may run on several threads.
fn has_shares(program: &LoopProgram) -> bool {
    let hands_over = |stmt: &Stmt| matches!(stmt, Stmt::Call { shares: Some(_), .. });
    program.funcs.values().any(|function| function.body.any(&mut { hands_over }))
}

/// A loop program, printed and read back.
fn read_back(program: &LoopProgram) -> Result<LoopProgram, String> {
    let text = print::print_program(program);
    let again = read::read_program(0, &text)
        .map_err(|e| format!("the loop form does not read back: {e}\n{text}"))?;
    let printed = print::print_program(&again);
    match text.lines().zip(printed.lines()).find(|(a, b)| a != b) {
        Some((a, b)) => {
            Err(format!("the loop form prints differently after reading back:\n{a}\n{b}"))
        }
        None => Ok(again),
    }
}

/// A function in every engine.
struct Engines<'a> {
    interpreter: Interpreter,
    lowered: &'a Lowered,
    /// The loop form, as lowered and as it is for each backend, printed and read back.
    again: Vec<(&'static str, LoopProgram)>,
    /// What says how much memory a call needs.
    query: Option<LoopProgram>,
    /// Compiled, and whether memory may be lent to it.
    natives: Vec<(&'static str, Checked, bool)>,
}

impl Engines<'_> {
    /// A run in each, which must give the same.
    fn run(&self, func: FuncId, args: &[Value], mut border: Border<'_>) -> Result<Ran, String> {
        let lowered = self.lowered;
        let (outcome, lines) = printed(|| self.interpreter.call(func, args, &[], &[]));
        let expected = match outcome {
            Ok(outcome) => (Ok(outcome.results), lines),
            Err(EvalError::Runtime(error)) => (Err(error), lines),
            Err(error) => return Err(format!("interpreter: {error:?}")),
        };
        let run = printed(|| border.evaluate(&lowered.program, &eval::run));
        compare("loop form", &expected, run, lowered)?;
        in_other_orders(&mut border, &expected, lowered)?;
        for (name, program) in &self.again {
            let run = printed(|| border.evaluate(program, &eval::run));
            let name = format!("the evaluator, in the form for {name},");
            compare(&name, &expected, run, lowered)?;
        }

        // The memory that a call is said to need is enough.
        let need = self.query.as_ref().map(|query| border.need(query)).transpose()?;
        let need = need.filter(|[temp, tape]| temp.max(tape) < &MOST_LENT);
        for (name, native, lends) in &self.natives {
            for place in [Place::Begin, Place::End] {
                guard::place(place);
                let run = printed(|| border.call(native, &mut Workspace::new()));
                compare(name, &expected, run, lowered)?;
            }
            let Some([temp, tape]) = need.filter(|_| *lends) else { continue };
            let mut memory = vec![0u64; (temp + tape) / 8 + 8];
            // SAFETY: the memory outlives the workspace, and nothing else uses it.
            let mut workspace =
                unsafe { Workspace::within(memory.as_mut_ptr().cast(), temp + tape + 64) };
            workspace.begin(tape);
            let run = printed(|| border.call(native, &mut workspace));
            compare(&format!("{name} in lent memory"), &expected, run, lowered)?;
        }
        Ok(expected)
    }
}

/// How many statements of the loop form a call of a function executes, optimised as it is compiled.
///
/// # Errors
/// What is refused, or an error of the program.
pub fn work(program: &Program, func: FuncId, args: &[Value]) -> Result<u64, String> {
    let program = jut_opt::optimise(program, func, true);
    let lowered = lower(&program, func).map_err(|e| format!("lowering: {e}"))?;
    let border = Border::new(&program, func, &lowered, args)?;
    let (entry, _) = lowered.program.funcs.last().ok_or("an empty loop program")?;
    let outcome = eval::counted(&lowered.program, entry, &border.args);
    outcome.map(|(_, work)| work).map_err(|fault| format!("{fault:?}"))
}

/// A way to run the loop form.
type Evaluate<'a> = &'a dyn Fn(&LoopProgram, LoopFuncId, &[Flat]) -> Result<Outcome, Fault>;

/// The iterations of `for par` backwards, and in an order that looks random: where there are any.
fn in_other_orders(
    border: &mut Border<'_>,
    expected: &Ran,
    lowered: &Lowered,
) -> Result<(), String> {
    let matters = Cell::new(false);
    let backwards = |indices: &mut [i64]| {
        matters.set(matters.get() || indices.len() > 2);
        indices.reverse();
    };
    let shuffled = |indices: &mut [i64]| {
        fastrand::Rng::with_seed(indices.len() as u64).shuffle(indices);
    };
    let orders: [(&str, eval::Permute<'_>); 2] =
        [("`for par` backwards", &backwards), ("`for par` shuffled", &shuffled)];
    for (name, permute) in orders {
        let run = printed(|| {
            border.evaluate(&lowered.program, &|program, entry, args| {
                eval::run_permuted(program, entry, args, permute)
            })
        });
        compare(name, expected, run, lowered)?;
        if !matters.get() {
            break;
        }
    }
    Ok(())
}

/// Runs a product in every engine, as composed and optimised; gives what all of them give. Backends
/// that take long to compile run what is optimised only.
///
/// # Errors
/// The first disagreement (P16, or P15 if the optimiser is to blame), or a refusal.
pub fn agree_optimised(product: &Product) -> Result<Run, String> {
    let Product { name, program, func, args } = product;
    let lists = [args.to_vec()];
    let runs = agree_everywhere(program, *func, &lists, &backends().collect::<Vec<_>>());
    let run = runs.and_then(|mut runs| runs.pop().ok_or_else(|| "no run".into()));
    run.map_err(|e| format!("{name}: {e}"))
}

/// [`agree_optimised`], of a function at several lists of arguments, in some backends.
///
/// # Errors
/// As [`agree_optimised`].
pub fn agree_everywhere(
    program: &Program,
    func: FuncId,
    lists: &[Vec<Value>],
    backends: &[(&'static str, Backend)],
) -> Result<Vec<Run>, String> {
    let fast = jut_opt::optimise(program, func, true);
    let first = &backends[..backends.len().min(1)];
    let slow = agree_in(program, func, lists, &|_| {}, first)?;
    let fast = agree_in(&fast, func, lists, &|_| {}, backends)?;
    let both = slow.into_iter().zip(fast).zip(lists);
    let equal = both.map(|(((slow, before), (fast, after)), args)| match (slow, fast) {
        _ if before != after => Err(format!("P15: prints\n  {before:?}\n  {after:?}\nat {args:?}")),
        (Ok(slow), Ok(fast)) if slow.iter().zip(&fast).all(|(a, b)| same(a, b)) => Ok(Ok(slow)),
        (Err(slow), Err(fast)) if (slow.kind, slow.span) == (fast.kind, fast.span) => Ok(Err(slow)),
        (slow, fast) => Err(format!("P15:\n  {slow:?}\n  {fast:?}\nat {args:?}")),
    });
    equal.collect()
}

fn compare(
    engine: &str,
    (expected, lines): &Ran,
    (got, printed): (Result<Run, String>, Vec<String>),
    lowered: &Lowered,
) -> Result<(), String> {
    let got = got?;
    if *lines != printed {
        let text = print::print_program(&lowered.program);
        return Err(format!(
            "P16: {engine} prints\n  {printed:?}\nthe interpreter\n  {lines:?}\n{text}"
        ));
    }
    let same = match (expected, &got) {
        (Ok(a), Ok(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Err(a), Err(b)) => a == b,
        _ => false,
    };
    if same {
        return Ok(());
    }
    let text = print::print_program(&lowered.program);
    Err(format!("P16: {engine} gives\n  {got:?}\nthe interpreter\n  {expected:?}\n{text}"))
}

/// Equality of bits; any NaN is as good as any other, empty arrays are equal whatever their elements
/// would be.
pub fn same(a: &Value, b: &Value) -> bool {
    let items =
        |x: &[Value], y: &[Value]| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y));
    match (a, b) {
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => match (x.view(), y.view()) {
            (p, q) if p.is_empty() || q.is_empty() => p.is_empty() && q.is_empty(),
            (View::F64(_), View::F64(_)) => a == b,
            _ => (0..x.len()).all(|i| match (x.get(i), y.get(i)) {
                (Some(x), Some(y)) => same(&x, &y),
                _ => false,
            }),
        },
        (Value::Tuple(x), Value::Tuple(y)) => items(x, y),
        (Value::Data(c, x), Value::Data(d, y)) => c == d && items(x, y),
        (x, y) => x == y,
    }
}

/// The arguments of one call in the form of the loop program, and the way back.
pub(crate) struct Border<'a> {
    program: &'a Program,
    pub(crate) lowered: &'a Lowered,
    layouts: Layouts,
    /// Parameters of the loop function, by number.
    pub(crate) params: Vec<AbiComponent>,
    /// One per parameter; empty for `out` buffers.
    pub(crate) args: Vec<Flat>,
}

impl<'a> Border<'a> {
    pub(crate) fn new(
        program: &'a Program,
        func: FuncId,
        lowered: &'a Lowered,
        values: &[Value],
    ) -> Result<Border<'a>, String> {
        let mut layouts = Layouts::new(program).map_err(|d| d.to_string())?;
        let signature = &lowered.signature;
        let name = &program.funcs[func].name;
        if signature.name != *name || signature.params.len() != values.len() {
            return Err(format!("the signature of `{name}` is that of `{}`", signature.name));
        }
        let mut args = vec![None; signature.param_count];
        let mut params = vec![None; signature.param_count];
        for (parameter, value) in signature.params.iter().zip(values) {
            let parts = flatten(program, &mut layouts, &parameter.ty, value)
                .filter(|parts| parts.len() == parameter.components.len())
                .ok_or_else(|| format!("{value:?} has not the type of `{}`", parameter.name))?;
            for (component, part) in parameter.components.iter().zip(parts) {
                args[component.number] = Some(part);
                params[component.number] = Some(component.clone());
            }
        }
        for component in signature.results.iter().flat_map(|r| &r.components) {
            if let (Some(Role::Out), Kind::Buffer(cell)) = (component.role, component.kind) {
                args[component.number] = Some(Flat::Buffer(Cells::empty(cell)));
                params[component.number] = Some(component.clone());
            }
        }
        let complete = "a parameter has no number";
        Ok(Border {
            program,
            lowered,
            layouts,
            params: params.into_iter().collect::<Option<_>>().ok_or(complete)?,
            args: args.into_iter().collect::<Option<_>>().ok_or(complete)?,
        })
    }

    /// The values of all results, given every parameter and result after the run.
    pub(crate) fn values(&mut self, all: &[Flat]) -> Result<Vec<Value>, String> {
        let signature = &self.lowered.signature;
        let size = |v: NVar| match all.get(*signature.sizes.get(&v)?) {
            Some(Flat::Scalar(Literal::I64(n))) => Some(*n),
            _ => None,
        };
        let size: Sizes<'_> = &size;
        let mut values = Vec::new();
        for result in &signature.results {
            let parts: Option<Vec<Flat>> =
                result.components.iter().map(|c| all.get(c.number).cloned()).collect();
            let value = parts
                .as_ref()
                .and_then(|p| rebuild(self.program, &mut self.layouts, &result.ty, p, size));
            values.push(value.ok_or_else(|| format!("{parts:?} is not a {:?}", result.ty))?);
        }
        Ok(values)
    }

    /// Bytes for temporary values and for the tape.
    fn need(&self, query: &LoopProgram) -> Result<[usize; 2], String> {
        let integer = |arg: &&Flat| matches!(arg, Flat::Scalar(Literal::I64(_)));
        let integers: Vec<Flat> = self.args.iter().filter(integer).cloned().collect();
        let (entry, _) = query.funcs.last().ok_or("an empty query")?;
        match eval::run(query, entry, &integers).map(|outcome| outcome.results).as_deref() {
            Ok([Flat::Scalar(Literal::F64(temp)), Flat::Scalar(Literal::F64(tape))])
                if temp % 64.0 == 0.0 && tape % 64.0 == 0.0 =>
            {
                Ok([*temp as usize, *tape as usize])
            }
            other => Err(format!("bytes: {other:?}")),
        }
    }

    fn evaluate(&mut self, program: &LoopProgram, run: Evaluate<'_>) -> Result<Run, String> {
        let (entry, _) = program.funcs.last().ok_or("an empty loop program")?;
        match run(program, entry, &self.args) {
            Ok(outcome) => {
                let all: Vec<Flat> = outcome.params.into_iter().chain(outcome.results).collect();
                self.values(&all).map(Ok)
            }
            Err(Fault::Runtime(error)) => Ok(Err(error)),
            Err(Fault::Broken(what)) => {
                Err(format!("P16: loop form: {what}\n{}", print::print_program(program)))
            }
        }
    }

    /// Runs the machine code. Results that hold buffers of buffers cannot be looked into from
    /// outside: no test returns them.
    fn call(&mut self, native: &Checked, workspace: &mut Workspace) -> Result<Run, String> {
        let mut buffers = self.buffers(native)?;
        let mut words: Vec<Arg<'_>> = Vec::new();
        for buffer in &mut buffers {
            words.push(match buffer {
                Buffer::Scalar(Literal::F64(x)) => Arg::F64(*x),
                Buffer::Scalar(Literal::F32(x)) => Arg::F32(*x),
                Buffer::Scalar(Literal::I32(x)) => Arg::I32(*x),
                Buffer::Scalar(Literal::I64(x)) => Arg::I64(*x),
                Buffer::Scalar(Literal::Bool(x)) => Arg::Bool(*x),
                Buffer::F64(x, false) => Arg::F64s(x),
                Buffer::F32(x, false) => Arg::F32s(x),
                Buffer::I32(x, false) => Arg::I32s(x),
                Buffer::I64(x, false) => Arg::I64s(x),
                Buffer::Bool(x, false) => Arg::Bools(x),
                Buffer::F64(x, true) => Arg::F64sMut(x),
                Buffer::F32(x, true) => Arg::F32sMut(x),
                Buffer::I32(x, true) => Arg::I32sMut(x),
                Buffer::I64(x, true) => Arg::I64sMut(x),
                Buffer::Bool(x, true) => Arg::BoolsMut(x),
            });
        }
        let mut returned = Vec::new();
        let outcome = native.call(workspace, &mut words, &mut returned);
        let results = match outcome {
            Ok(results) => results,
            Err(CallError::Run(error)) => return Ok(Err(error)),
            Err(CallError::Arguments(reason)) => return Err(format!("machine code: {reason}")),
        };
        let mut after = Vec::new();
        while let Some(result) = results.get(after.len()) {
            after.push(match result {
                Returned::F64(x) => Flat::Scalar(Literal::F64(x)),
                Returned::F32(x) => Flat::Scalar(Literal::F32(x)),
                Returned::I32(x) => Flat::Scalar(Literal::I32(x)),
                Returned::I64(x) => Flat::Scalar(Literal::I64(x)),
                Returned::Bool(x) => Flat::Scalar(Literal::Bool(x)),
                Returned::F64s(x) => Flat::Buffer(Cells::F64(x.to_vec())),
                Returned::F32s(x) => Flat::Buffer(Cells::F32(x.to_vec())),
                Returned::I32s(x) => Flat::Buffer(Cells::I32(x.to_vec())),
                Returned::I64s(x) => Flat::Buffer(Cells::I64(x.to_vec())),
                Returned::Bools(x) => {
                    Flat::Buffer(Cells::Bool(x.iter().map(|b| u8::from(*b)).collect()))
                }
                Returned::Nested => return Err("machine code: a result is ragged".into()),
            });
        }
        drop(words);
        let params = buffers.into_iter().map(|buffer| match buffer {
            Buffer::Scalar(literal) => Flat::Scalar(literal),
            Buffer::F64(x, _) => Flat::Buffer(Cells::F64(x.to_vec())),
            Buffer::F32(x, _) => Flat::Buffer(Cells::F32(x.to_vec())),
            Buffer::I32(x, _) => Flat::Buffer(Cells::I32(x.to_vec())),
            Buffer::I64(x, _) => Flat::Buffer(Cells::I64(x.to_vec())),
            Buffer::Bool(x, _) => {
                Flat::Buffer(Cells::Bool(x.iter().map(|b| u8::from(*b)).collect()))
            }
        });
        let all: Vec<Flat> = params.chain(after).collect();
        self.values(&all).map(Ok)
    }

    /// The memory of every parameter.
    fn buffers(&self, native: &Checked) -> Result<Vec<Buffer>, String> {
        let mut integer = |k: usize| match self.args.get(k) {
            Some(Flat::Scalar(Literal::I64(n))) => *n,
            _ => 0,
        };
        let mut buffers = Vec::new();
        for (k, (arg, param)) in self.args.iter().zip(&self.params).enumerate() {
            let out = param.role == Some(Role::Out);
            let n = native.cells(k, &mut integer).filter(|_| out).unwrap_or(0);
            buffers.push(match (arg, param.kind) {
                (Flat::Scalar(literal), _) => Buffer::Scalar(*literal),
                // What is in an output before the call must not matter.
                (_, Kind::Buffer(form::Cell::F64)) if out => {
                    Buffer::F64(guarded(Guarded::new(f64::NAN, n))?, true)
                }
                (_, Kind::Buffer(form::Cell::F32)) if out => {
                    Buffer::F32(guarded(Guarded::new(f32::NAN, n))?, true)
                }
                (_, Kind::Buffer(form::Cell::I64)) if out => {
                    Buffer::I64(guarded(Guarded::new(-77, n))?, true)
                }
                (_, Kind::Buffer(form::Cell::I32)) if out => {
                    Buffer::I32(guarded(Guarded::new(-77, n))?, true)
                }
                (_, Kind::Buffer(form::Cell::BOOL)) if out => {
                    Buffer::Bool(guarded(Guarded::new(true, n))?, true)
                }
                (Flat::Buffer(Cells::F64(x)), _) => Buffer::F64(guarded(Guarded::of(x))?, false),
                (Flat::Buffer(Cells::F32(x)), _) => Buffer::F32(guarded(Guarded::of(x))?, false),
                (Flat::Buffer(Cells::I32(x)), _) => Buffer::I32(guarded(Guarded::of(x))?, false),
                (Flat::Buffer(Cells::I64(x)), _) => Buffer::I64(guarded(Guarded::of(x))?, false),
                (Flat::Buffer(Cells::Bool(x)), _) => {
                    let x: Vec<bool> = x.iter().map(|b| *b != 0).collect();
                    Buffer::Bool(guarded(Guarded::of(&x))?, false)
                }
                _ => return Err(format!("argument {k} is ragged")),
            });
        }
        Ok(buffers)
    }
}

/// The memory of a parameter, at guard pages, and whether it is written.
enum Buffer {
    Scalar(Literal),
    F64(Guarded<f64>, bool),
    F32(Guarded<f32>, bool),
    I64(Guarded<i64>, bool),
    I32(Guarded<i32>, bool),
    Bool(Guarded<bool>, bool),
}

fn guarded<T>(memory: Option<Guarded<T>>) -> Result<Guarded<T>, String> {
    memory.ok_or_else(|| "no memory for an argument".to_string())
}
