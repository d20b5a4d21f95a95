//! From a text to something that runs: the whole compiler on one page.
//!
//! ```text
//! text --load--> checked core --J--> f.jvp --U--> f.nonlin, f.lin --T--> f.linT --L, compose-->
//!      f.value_grad --optimise--> Linear A, non-linear --lower--> loop form --backend--> code
//! ```
//!
//! | step | crate |
//! |---|---|
//! | lexer, parser, elaboration, checker | `jut-text`, `jut-ir` |
//! | J, U, T, L and their compositions | `jut-ad` |
//! | clean-up, before J and after L | `jut-opt` |
//! | loops and buffers | `jut-loop` |
//! | machine code, or the interpreter | `jut-cranelift`, `jut-llvm`, `jut-eval` |
//!
//! The interpreter runs the same optimised program that is lowered: so all engines give the same
//! bits. Cost: everything is linear in the text of the program; nothing depends on sizes of arrays.

use crate::backends::{BACKENDS, Engine};
use crate::border::{self, Border};
use crate::compiled::{Compiled, Shared};
use crate::engine::Code;
use crate::error::{Error, Result};
use crate::excerpt;
use crate::foreign;
use crate::interface::{Interface, Origin};
use crate::load::with_large_stack;
use crate::model::Function;
use crate::ports::{self, Input, Output};
use crate::source::Diagnostics;
use crate::watch::{Pass, Watch, statements};
use jut_ad::compose::{self, Asked, Request, Step};
use jut_ad::{Derivatives, Mask, batch, forward, transpose, unzip};
use jut_ir::{Diagnostic, FuncId, Program, TapePolicy};
use jut_loop::form::{Foreign, LoopProgram};
use jut_loop::opt::for_target;
use jut_native::CompileError;
use std::sync::atomic::AtomicU64;

/// A stage of differentiating a function, to look at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// What the user wrote.
    Source,
    /// The definition and those it calls, in the core language.
    Core,
    /// What J makes: `f.jvp`.
    Forward,
    /// What U makes: the tape type, `f.nonlin` and `f.lin`.
    Unzip,
    /// What T makes: `f.linT`.
    Transpose,
    /// What B makes: `f.vmap`.
    Batched,
    /// The value and the gradient, composed of these and erased.
    Gradient,
    /// The value and the gradient as they are compiled: optimised before J and after L.
    Optimised,
    /// The gradient in the loop form.
    Loop,
    /// The gradient in this machine's assembly language, by the function's engine.
    Assembly,
    /// The gradient in the text form of a backend, before its optimisations: of that of an engine.
    Text(Engine),
}

impl Stage {
    /// All stages, in order.
    pub fn all() -> impl Iterator<Item = Stage> {
        let own = [
            Stage::Source,
            Stage::Core,
            Stage::Forward,
            Stage::Unzip,
            Stage::Transpose,
            Stage::Batched,
            Stage::Gradient,
            Stage::Optimised,
            Stage::Loop,
            Stage::Assembly,
        ];
        own.into_iter().chain(BACKENDS.iter().map(|(engine, _)| Stage::Text(*engine)))
    }

    /// Whether it is below Linear A: the loop form, or what a backend makes of it.
    pub(crate) fn is_lowered(self) -> bool {
        matches!(self, Stage::Loop | Stage::Assembly | Stage::Text(_))
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Source => "source",
            Stage::Core => "core",
            Stage::Forward => "forward",
            Stage::Unzip => "unzip",
            Stage::Transpose => "transpose",
            Stage::Batched => "vmap",
            Stage::Gradient => "gradient",
            Stage::Optimised => "optimised",
            Stage::Loop => "loop",
            Stage::Assembly => "asm",
            Stage::Text(engine) => engine.backend().map_or("loop", |backend| backend.text.stage),
        }
    }

    /// What it shows.
    pub fn about(self) -> String {
        let about = match self {
            Stage::Source => "What the user wrote",
            Stage::Core => "The core language",
            Stage::Forward => "J: values and tangents",
            Stage::Unzip => "U: values and tape apart from tangents",
            Stage::Transpose => "T: cotangents",
            Stage::Batched => "B: every element of a batch",
            Stage::Gradient => "Value and gradient, composed of these",
            Stage::Optimised => "Value and gradient as they are compiled: optimised",
            Stage::Loop => "The gradient in the loop form, as it is for the engine's backend",
            Stage::Assembly => "The gradient in this machine's assembly language",
            Stage::Text(engine) => {
                let form = engine.backend().map_or("the loop form", |backend| backend.text.about);
                return format!("The gradient as {form}");
            }
        };
        about.to_owned()
    }
}

/// What was asked for as a program without linear parts, optimised: what every engine starts from.
pub(crate) struct Composed {
    pub program: Program,
    pub root: FuncId,
    /// What callers hand over in lists.
    pub border: Border,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
}

/// Composes what is asked for of a function.
pub(crate) fn composed(
    function: &Function,
    request: Request,
    watch: &mut Watch,
) -> Result<Composed> {
    let refused = |d: Diagnostic| refusal(function, d);
    let (program, func) = prepared(function);
    // One pass after the other reads what the one before has made, and nothing reads it again.
    let mut derivatives = match request.row().once {
        true => Derivatives::once(program),
        false => Derivatives::new(program),
    };
    watch.end(Pass::Prepare, || statements(&derivatives.program, &[func]));
    let of = function.differentiated_result();
    if of.is_some() && matches!(request, Request::Hessian | Request::HessianProduct) {
        let message = "second derivatives are of the only f64 result of a function: write one that \
                       returns the result meant alone";
        return Err(Error::Request(message.to_string()));
    }
    let asked = asked(function, &derivatives.program, request);
    let composition = compose::compose(&mut derivatives, &asked, &mut |step, program, made| {
        let pass = match step {
            Step::Forward => Pass::Forward,
            Step::Unzip => Pass::Unzip,
            Step::Transpose => Pass::Transpose,
        };
        watch.end(pass, || statements(program, made));
    })
    .map_err(refused)?;
    let root = composition.func;
    if !derivatives.program.funcs[root].cap_params.is_empty() {
        return Err(Error::Request(format!(
            "`{}` adds into accumulators of its caller, so it is not called alone: call it in a \
             function that has results only",
            function.name()
        )));
    }
    watch.end(Pass::Compose, || statements(&derivatives.program, &[root]));
    let (root, border) = outermost(&mut derivatives.program, root);
    let program = jut_opt::optimise_last(derivatives.program, root, true);
    watch.end(Pass::Optimise, || statements(&program, &[root]));
    let (inputs, outputs) = ports::ports(function.definition(), &composition, &program.funcs[root]);
    Ok(Composed { program, root, border, inputs, outputs })
}

/// What callers call: the function, or one around it that takes and gives lists.
fn outermost(program: &mut Program, root: FuncId) -> (FuncId, Border) {
    border::wrap(program, root).unwrap_or_else(|| (root, Border::default()))
}

/// A request, with what the function says of its derivatives.
pub(crate) fn asked(function: &Function, program: &Program, request: Request) -> Asked {
    let gradient = matches!(request, Request::Gradient | Request::ValueAndGradient);
    Asked {
        request,
        func: function.id(),
        wrt: match request {
            Request::Value | Request::Transposed => Mask::default(),
            Request::Batched => mapped(function, program, function.id()),
            _ => mask(function, program, function.id()),
        },
        of: function.differentiated_result().filter(|_| gradient),
        policy: function.tape_policy(),
    }
}

/// Makes what is asked for of a function, ready to run.
pub(crate) fn compile(
    function: &Function,
    request: Request,
    watch: &mut Watch,
) -> Result<Compiled> {
    let refused = |d: Diagnostic| refusal(function, d);
    with_large_stack(|| {
        let Composed { mut program, root, border, inputs, outputs } =
            composed(function, request, watch)?;
        let finite = match function.is_finite() {
            true => Some(interpreter(function, &program, root)?.finite(true)),
            false => None,
        };
        let code = match function.chosen_engine().backend() {
            None => Code::Interpreted(interpreter(function, &program, root)?),
            Some(backend) => {
                let functions = foreign::functions(function.model(), &program, &[root])?;
                let mut lowered = jut_loop::lower_plainly(&program, root).map_err(refused)?;
                lowered.program.foreign = functions.map(Foreign::Functions).unwrap_or_default();
                // Callers need its signature.
                for func in program.funcs.values_mut() {
                    *func = func.signature();
                }
                let lowered = lowered.finish();
                watch.end(Pass::Lower, || lowered.program.size());
                let code = Code::native(&lowered, backend)?;
                watch.end(Pass::Code, || code.bytes());
                code
            }
        };
        let sources = function.model().shared_sources();
        let origin = Origin { border, ..Origin::default() };
        let interface = Interface::new(sources, program, root, origin, inputs, outputs)?;
        Ok(Compiled::new(Shared {
            interface,
            code,
            engine: function.chosen_engine(),
            limit: function.limit(),
            parallel: function.is_parallel(),
            finite,
            element_time: AtomicU64::new(0),
        }))
    })
}

/// The interpreter of a program, with the memory limit of the function, and what `root` calls of other languages.
pub(crate) fn interpreter(
    function: &Function,
    program: &Program,
    root: FuncId,
) -> Result<jut_eval::Interpreter> {
    let functions = foreign::functions(function.model(), program, &[root])?;
    let interpreter = jut_eval::Interpreter::new(program).foreign(functions);
    Ok(match function.limit() {
        Some(bytes) => interpreter.memory_limit(bytes as u64),
        None => interpreter,
    })
}

/// A stage in Linear A.
pub(crate) struct Made {
    pub program: Program,
    /// The definitions that the pass made.
    pub funcs: Vec<FuncId>,
    /// The non-linear half that belongs to a transposed one.
    pub nonlin: Option<FuncId>,
}

/// Makes a stage in Linear A.
pub(crate) fn made(function: &Function, stage: Stage) -> Result<Made> {
    let refused = |d: Diagnostic| refusal(function, d);
    let optimised = stage == Stage::Optimised || stage.is_lowered();
    let (mut d, func) = if optimised { start_optimised(function) } else { start(function) };
    let wrt = mask(function, &d.program, func);
    let policy = function.tape_policy();
    let made = |d: Derivatives, funcs: &[FuncId], nonlin: Option<FuncId>| {
        Ok(Made { program: d.program, funcs: funcs.to_vec(), nonlin })
    };
    if matches!(stage, Stage::Source | Stage::Core) {
        return made(d, &[func], None);
    }
    if optimised || stage == Stage::Gradient {
        let asked = asked(function, &d.program, Request::ValueAndGradient);
        let root = compose::compose(&mut d, &asked, &mut |_, _, _| {}).map_err(refused)?.func;
        if optimised {
            let (root, _) = outermost(&mut d.program, root);
            d.program = jut_opt::optimise_last(std::mem::take(&mut d.program), root, true);
            return made(d, &[root], None);
        }
        return made(d, &[root], None);
    }
    if stage == Stage::Batched {
        let mapped = mapped(function, &d.program, func);
        let root = batch::batch(&mut d, func, &mapped).map_err(refused)?;
        return made(d, &[root], None);
    }
    // A function with linear parameters is what U takes; J takes the others.
    let jvp = match d.program.funcs[func].is_nonlinear() {
        true => forward::forward(&mut d, func, &wrt).map_err(refused)?,
        false => func,
    };
    if stage == Stage::Forward {
        return made(d, &[jvp], None);
    }
    let halves = unzip::unzip(&mut d, jvp, policy).map_err(refused)?;
    if stage == Stage::Unzip {
        return made(d, &[halves.nonlin, halves.lin], None);
    }
    let transposed = transpose::transpose(&mut d, halves.lin).map_err(refused)?;
    made(d, &[transposed], Some(halves.nonlin))
}

impl Function {
    /// The text of one stage of differentiating the function: what `jut show` prints.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn stage(&self, stage: Stage) -> Result<String> {
        self::stage(self, stage)
    }
}

type Print = fn(&LoopProgram) -> std::result::Result<String, CompileError>;

/// The text of a stage.
fn stage(function: &Function, stage: Stage) -> Result<String> {
    if stage == Stage::Source {
        return Ok(function.model().source().text.clone());
    }
    with_large_stack(|| {
        let made = made(function, stage)?;
        if !stage.is_lowered() {
            return Ok(excerpt::print(&made.program, &made.funcs));
        }
        let root = made.funcs.last().copied().unwrap_or(function.id());
        let lowered =
            jut_loop::lower(&made.program, root).map_err(|d| refusal(function, d))?.program;
        // The interpreter runs no loop form: what is shown is the default backend's.
        let of = |engine: Engine| engine.backend().unwrap_or(&BACKENDS[0].1);
        let backend = match stage {
            Stage::Text(engine) => of(engine),
            _ => of(function.chosen_engine()),
        };
        let (takes, print): (_, Print) = match stage {
            Stage::Text(_) => (backend.text.target, backend.text.print),
            Stage::Assembly => (backend.target, backend.assembly),
            _ => (backend.target, |program| Ok(jut_loop::print::print_program(program))),
        };
        print(&for_target(&lowered, &takes())).map_err(|e| Error::Backend(e.to_string()))
    })
}

/// A fresh set of derivatives of the function's program.
fn start(function: &Function) -> (Derivatives, FuncId) {
    (Derivatives::new(function.model().program().clone()), function.id())
}

/// The same, of the function optimised: small calls inlined, powers written out, invariants before
/// their loops. J makes less of it, and U needs less tape. This is what is compiled; the stages in
/// between are shown of the program as it was written.
pub(crate) fn start_optimised(function: &Function) -> (Derivatives, FuncId) {
    let (program, func) = prepared(function);
    (Derivatives::new(program), func)
}

fn prepared(function: &Function) -> (Program, FuncId) {
    let mut program = jut_opt::optimise(function.model().program(), function.id(), false);
    if !matches!(function.schedule(), TapePolicy::Free | TapePolicy::Levels(1)) {
        jut_ad::unzip::schedule(&mut program, function.schedule());
    }
    (program, function.id())
}

pub(crate) fn mask(function: &Function, program: &Program, func: FuncId) -> Mask {
    match function.active() {
        None => Mask::full(program, func),
        Some(positions) => Mask::only(program, func, positions),
    }
}

/// What a batch is mapped over: the parameters that are named, or all that can be.
fn mapped(function: &Function, program: &Program, func: FuncId) -> Mask {
    match function.active() {
        None => batch::mappable(program, func),
        Some(positions) => Mask::of(program.funcs[func].params.len(), |k| positions.contains(&k)),
    }
}

pub(crate) fn refusal(function: &Function, diagnostic: Diagnostic) -> Error {
    Diagnostics::new(function.model().shared_sources(), vec![diagnostic]).into()
}
