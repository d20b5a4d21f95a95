//! Ahead of time: a function and its derivatives as an object file with a C header, and what one makes of it.
//! All of it is behind the feature `aot`.
//!
//! | module | what |
//! |---|---|
//! | `declaration` | what was asked for as C functions: what every parameter is |
//! | `header` | the C header |
//! | `package` | shared libraries, files for pkg-config and CMake |
//!
//! The object holds one C function per request, compiled from the same loop form as code in memory,
//! so both give the same bits. It is linked with a small static runtime (mathematical functions,
//! memory for tapes), which comes along, or with nothing but the system's mathematical library.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::{BuildOptions, Model, Request};
//!
//! let model = Model::from_text("def half_square(x: f64) -> f64 = x * x / 2.0")?;
//! let function = model.function("half_square")?;
//! let object = function.build(&[Request::ValueAndGradient], &BuildOptions::default())?;
//! assert!(object.header().contains("int half_square_value_grad(double x, double *value, double *grad_x,"));
//! # Ok(())
//! # }
//! ```

mod declaration;
mod header;
mod package;

use crate::backends::{BACKENDS, Engine};
use crate::error::{Error, Result};
use crate::foreign::symbol;
use crate::load::with_large_stack;
use crate::model::Function;
use crate::pipeline::{self, Composed};
use crate::request::Request;
use crate::source::{Sources, assertion, extremum};
use crate::watch::Watch;
use declaration::identifier;
use jut_ir::calls::callees_first;
use jut_ir::{FuncId, Program, RuntimeErrorKind, Span};
use jut_loop::form::{Foreign, LoopProgram};
use jut_loop::need::Unbounded;
use jut_loop::{Kernels, Lowered, recursion};
use jut_native::CompileError;
use jut_native::object::{ObjectWriter, Report};

pub use declaration::{CFunction, CParameter, Extent, Passing};
pub use jut_native::object::{Machine, MathLibrary};
pub use package::Package;
pub use target_lexicon::Triple;

/// How objects are made. By default: for any machine like this one, with jut's mathematical
/// functions, named after the function.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// For which machine; without it, for any that has this one's target.
    pub machine: Option<Machine>,
    /// Which mathematical functions are called.
    pub math: MathLibrary,
    /// What the C functions' names begin with; without it, the function's name.
    pub prefix: Option<String>,
    /// How many bytes of the caller's stack a call of a function that calls itself may take; without it,
    /// [`BuildOptions::STACK`]. How deep its calls may be in each other follows from that; deeper is the error `R08`.
    pub stack: Option<usize>,
}

impl BuildOptions {
    /// The bytes of stack that a call of a function that calls itself may take, if nothing is said: few enough for the
    /// threads of any system.
    pub const STACK: usize = 256 << 10;
}

impl Function {
    /// Compiles what is asked for ahead of time: an object file and a C header, one C function for each
    /// request. [`build`] makes one of several functions.
    ///
    /// # Errors
    /// As [`Function::compile`]; [`Error::Request`] if a result has no C type, or the options do
    /// not fit.
    pub fn build(&self, requests: &[Request], options: &BuildOptions) -> Result<Object> {
        build(&[(self, requests)], options)
    }
}

/// An object file, its header, and what it is linked with.
#[derive(Clone, Debug)]
pub struct Object {
    bytes: Vec<u8>,
    header: String,
    functions: Vec<CFunction>,
    prefix: String,
    target: Triple,
    math: MathLibrary,
}

impl Object {
    /// The object file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The C header.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The functions that it exports, in the order in which they were asked for.
    pub fn functions(&self) -> &[CFunction] {
        &self.functions
    }

    /// What the names of its functions begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Which mathematical functions it calls.
    pub fn math(&self) -> MathLibrary {
        self.math
    }

    /// What it is for.
    pub fn target(&self) -> &Triple {
        &self.target
    }

    /// The static runtime that it is linked with, as an archive; `None` if it needs none.
    ///
    /// # Errors
    /// [`Error::Backend`] if this jut has no runtime for the target; the text says how to get it.
    pub fn runtime(&self) -> Result<Option<Vec<u8>>> {
        if self.math == MathLibrary::System {
            return Ok(None);
        }
        let runtime = jut_static::runtime(&self.target).map_err(Error::Backend)?;
        let member = [("jut_runtime.o", runtime)];
        jut_static::archive(&self.target, &member).map(Some).map_err(Error::Backend)
    }

    /// The object together with what it needs of the runtime, as one static archive.
    ///
    /// # Errors
    /// As [`Object::runtime`].
    pub fn archive(&self) -> Result<Vec<u8>> {
        archive(&self.target, std::slice::from_ref(self))
    }
}

/// A static archive of objects for one target, together with what they need of the runtime.
///
/// # Errors
/// As [`Object::runtime`]; [`Error::Request`] if an object is for another target.
pub fn archive(target: &Triple, objects: &[Object]) -> Result<Vec<u8>> {
    let names: Vec<String> =
        objects.iter().enumerate().map(|(k, o)| format!("{}_{k}.o", o.prefix)).collect();
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    for (name, object) in names.iter().zip(objects) {
        if object.target != *target {
            return Err(Error::Request(format!(
                "an object for {} does not go with {target}",
                object.target
            )));
        }
        members.push((name, object.bytes()));
    }
    if objects.iter().any(|object| object.math == MathLibrary::Jut) {
        let runtime = jut_static::runtime(target).map_err(Error::Backend)?;
        members.push(("jut_runtime.o", runtime));
    }
    jut_static::archive(target, &members).map_err(Error::Backend)
}

/// Compiles several functions and their derivatives ahead of time, as [`Function::build`] does one:
/// one object file and one C header with one C function for each request. Their names begin with that of
/// the function, behind [`BuildOptions::prefix`] if there is one. The engine is that of the first function.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// use jut::{BuildOptions, Model, Request};
/// let model = jut::Model::from_text("def f(x: f64) -> f64 = x * x
///   def g(x: f64) -> f64 = sin(x)")?;
/// let (f, g) = (model.function("f")?, model.function("g")?);
/// let both = [(&f, &[Request::Value, Request::Gradient][..]), (&g, &[Request::Gradient][..])];
/// let options = BuildOptions { prefix: Some("curves".into()), ..BuildOptions::default() };
/// let object = jut::build(&both, &options)?;
/// let names: Vec<&str> = object.functions().iter().map(|f| f.name()).collect();
/// assert_eq!(names, ["curves_f_value", "curves_f_grad", "curves_g_grad"]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`Function::build`]; [`Error::Request`] if there is no function.
pub fn build(functions: &[(&Function, &[Request])], options: &BuildOptions) -> Result<Object> {
    let [(first, _), others @ ..] = functions else {
        return Err(Error::Request("no function is asked for".into()));
    };
    let backend = |e: CompileError| Error::Backend(e.to_string());
    let machine = options.machine.clone().unwrap_or(Machine::Any(Triple::host()));
    let mut file = writer(first.chosen_engine(), &machine, options.math)?;
    let prefix = identifier(options.prefix.as_deref().unwrap_or(first.name()));
    let mut made: Vec<CFunction> = Vec::new();
    for (function, requests) in functions {
        let own = match (others, &options.prefix) {
            ([], _) => prefix.clone(),
            (_, None) => identifier(function.name()),
            (_, Some(_)) => format!("{prefix}_{}", identifier(function.name())),
        };
        for request in *requests {
            let name = format!("{own}_{}", request.suffix());
            if made.iter().any(|f| f.name == name) {
                return Err(Error::Request(format!("`{name}` is asked for twice")));
            }
            if function.model().externs().any(|other| symbol(other) == name) {
                return Err(Error::Request(format!(
                    "`{name}` is the C name of a function that is made and of an `extern`: give a prefix"
                )));
            }
            made.push(add(file.as_mut(), name, function, *request, options, &|| {
                writer(first.chosen_engine(), &machine, options.math)
            })?);
        }
    }
    for (symbol, text) in made.iter().flat_map(|f| &f.foreign) {
        if identifier(symbol) != *symbol {
            return Err(Error::Request(format!(
                "`{symbol}` is no name of a function in C: give `{text}` another one"
            )));
        }
    }
    let target = file.triple().clone();
    let finished = file.finish().map_err(backend)?;
    if let Some(stack) = finished.stack {
        made.iter_mut().for_each(|f| f.stack = stack);
    }
    let bytes = finished.bytes;
    let name = &first.model().sources().main().name;
    let header = header::write(&prefix, name, options.math, &target, &made);
    Ok(Object { bytes, header, functions: made, prefix, target, math: options.math })
}

/// Adds one C function to an object file.
fn add(
    file: &mut dyn ObjectWriter,
    name: String,
    function: &Function,
    request: Request,
    options: &BuildOptions,
    empty: &Empty<'_>,
) -> Result<CFunction> {
    let math = options.math;
    let sources = function.model().sources();
    // Kernels are functions of the runtime: without it there are loops in their place.
    let kernels = match math {
        MathLibrary::Jut => Kernels::Calls,
        MathLibrary::System => Kernels::Loops,
    };
    lower(function, request, kernels, move |composed, lowered, need| {
        let mut made =
            CFunction::new(name, function.name(), request, composed, &lowered.signature)?;
        let need = need.map_err(|unbounded| {
            let (_, span) = lowered.program.sites[unbounded.site];
            sources.of(span).place(span)
        });
        if let (Err(place), MathLibrary::System) = (&need, math) {
            return Err(Error::Request(format!(
                "how much memory `{}` needs depends on the data ({place}), and without jut's \
                 runtime memory cannot grow: use jut's mathematical functions, or sizes that the \
                 caller gives",
                made.name
            )));
        }
        let add = |file: &mut dyn ObjectWriter, program: &LoopProgram| {
            file.add(&made.name, program, &made.order, need.as_ref().ok(), &mut |kind, span| {
                describe(sources, kind, span)
            })
            .map_err(|e: CompileError| Error::Backend(e.to_string()))
        };
        let most = options.stack.unwrap_or(BuildOptions::STACK);
        let levels = levels(&lowered.program, most, &made.name, &mut |program| {
            let mut file = empty()?;
            let exported = add(file.as_mut(), program)?;
            let finished = file.finish().map_err(|e| Error::Backend(e.to_string()))?;
            Ok(finished.stack.unwrap_or(exported.stack))
        })?;
        let exported = match levels {
            Some(levels) => add(file, &recursion::with_levels(&lowered.program, levels))?,
            None => add(file, &lowered.program)?,
        };
        made.levels = levels;
        made.foreign = foreign(&composed.program, composed.root);
        made.needs_memory = exported.needs_memory;
        made.stack = exported.stack;
        made.unbounded = need.err();
        Ok(made)
    })
}

/// The functions of other languages that a function calls: the symbol of each, and its declaration.
fn foreign(program: &Program, root: FuncId) -> Vec<(String, String)> {
    let called = callees_first(program, [root]).into_iter();
    let linear = called.filter_map(|id| program.declared(id)).map(|declared| declared.linear);
    let mut found: Vec<(String, String)> = linear
        .map(|id| {
            let text = jut_ir::print::print_function(program, id);
            let text = text.lines().last().unwrap_or_default().to_string();
            (symbol(&program.funcs[id].name), text)
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// What [`jut_loop::need`] makes of a program.
type MemoryBound = std::result::Result<LoopProgram, Unbounded>;

/// Makes an empty object file.
type Empty<'a> = dyn Fn() -> Result<Box<dyn ObjectWriter>> + Send + Sync + 'a;

/// How many levels functions that call themselves may go down in so many bytes of the caller's stack; `None` if there is
/// no such function. The stack that the program takes with given levels is asked for.
fn levels(
    program: &LoopProgram,
    most: usize,
    name: &str,
    stack: &mut dyn FnMut(&LoopProgram) -> Result<usize>,
) -> Result<Option<i64>> {
    let all = recursion::levels(program);
    if all == 0 {
        return Ok(None);
    }
    // One level more is always as much more.
    let mut with = |levels: i64| stack(&recursion::with_levels(program, levels));
    let (one, two) = (with(1)?, with(2)?);
    if one > most {
        return Err(Error::Request(format!(
            "`{name}` calls itself, and one level takes {one} bytes of stack, of {most}: say that it may take more \
             (`--stack`, `BuildOptions::stack`)"
        )));
    }
    let more = (most - one) / two.saturating_sub(one).max(1);
    Ok(Some(i64::try_from(more).map_or(all, |more| more.saturating_add(1).min(all))))
}

/// Composes what is asked for of a function and lowers it, for code that is not run here.
fn lower<T: Send>(
    function: &Function,
    request: Request,
    kernels: Kernels,
    work: impl FnOnce(&Composed, &Lowered, MemoryBound) -> Result<T> + Send,
) -> Result<T> {
    with_large_stack(|| {
        let composed = pipeline::composed(function, request, &mut Watch::Off)?;
        let mut lowered = jut_loop::lower_with(&composed.program, composed.root, kernels)
            .map_err(|d| pipeline::refusal(function, d))?;
        let names = composed.program.foreign_names();
        let symbols = names.iter().map(|name| symbol(name)).collect();
        lowered.program.foreign = Foreign::Symbols(symbols);
        let (lowered, need) = lowered.finish_with_need();
        work(&composed, &lowered, need)
    })
}

/// What writes the object file: the backend of the function's engine.
fn writer(engine: Engine, machine: &Machine, math: MathLibrary) -> Result<Box<dyn ObjectWriter>> {
    let Some(object) = engine.backend().and_then(|backend| backend.object) else {
        let able = BACKENDS.iter().filter(|(_, backend)| backend.object.is_some());
        let able: Vec<&str> = able.map(|(_, backend)| backend.name).collect();
        let able = able.join(" and ");
        return Err(Error::Request(format!("objects are made by the engines {able}")));
    };
    object(machine, math).map_err(|e| Error::Backend(e.to_string()))
}

/// What a C program is told of a failing place.
fn describe(sources: &Sources, kind: RuntimeErrorKind, span: Span) -> Report {
    let source = sources.of(span);
    let (text, numbers) = header::meaning(kind);
    let asserted = assertion(sources, kind, span);
    let rust = sources.rust_place(kind, span);
    let code = if asserted.is_some() { "R12" } else { kind.code() };
    let (code, text) = match (asserted, extremum(sources, span)) {
        (Some(message), _) => (code, message),
        (_, Some(word)) if kind == RuntimeErrorKind::Index => {
            (code, format!("the range of `{word}` is empty"))
        }
        _ => rust.and_then(|place| place.what.said()).unwrap_or((code, text.to_string())),
    };
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (line, column) = source.position(span.start as usize);
    let (line, column, place) = match rust {
        Some(place) => (place.line, place.column, place.to_string()),
        None => (small(line), small(column), source.place(span)),
    };
    Report { line, column, message: format!("{place}: {code}: {text}"), numbers: numbers.len() }
}
