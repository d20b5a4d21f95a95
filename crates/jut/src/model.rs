//! Programs and their functions: where a user starts.

use crate::backends::Engine;
use crate::error::{Error, Result};
use crate::files::{Alone, Beside, Embedded, Files};
use crate::load::{self, Loaded};
use crate::shown::show_type;
use crate::source::{Diagnostics, Placed, Source, Sources};
use crate::watch::PassTime;
use jut_ad::Policy;
use jut_ir::{FuncId, Program, TapePolicy};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The functions of other languages that were given to a program, by the names that it has for them.
type Externs = BTreeMap<String, jut_runtime::foreign::Function>;

/// A program that was read and checked. Cheap to clone.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Loaded>,
    externs: Arc<Externs>,
}

impl Model {
    /// Reads and checks a program.
    ///
    /// # Errors
    /// [`Error::Program`] with everything that is wrong with it; printing the error shows the lines.
    ///
    /// ```
    /// let error = jut::Model::from_text("def f(x: f64) -> f64 = x + y").err().unwrap();
    /// assert!(error.to_string().contains("J010"));
    /// ```
    pub fn from_text(text: &str) -> Result<Model> {
        Model::from_named_text("program", text)
    }

    /// As [`Model::from_text`], with the name that messages call the text by.
    ///
    /// # Errors
    /// As [`Model::from_text`].
    pub fn from_named_text(name: &str, text: &str) -> Result<Model> {
        let main = Source { name: name.to_string(), text: text.to_string() };
        Model::load(Sources::new(main), &mut Alone)
    }

    /// The same of a text that was made of Rust functions, with the places that its parts come from.
    pub(crate) fn from_rust(name: &str, text: &str, places: Vec<Placed>) -> Result<Model> {
        let main = Source { name: name.to_string(), text: text.to_string() };
        Model::load(Sources::new(main).with_places(places), &mut Alone)
    }

    /// Reads and checks the program in a file. The modules that it uses are files beside it, or beside
    /// the module that uses them: `use lib.stats` means `lib/stats.jut`.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, else as [`Model::from_text`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| Error::File(path.to_path_buf(), e))?;
        let main = Source { name: path.display().to_string(), text };
        Model::load(Sources::new(main), &mut Beside::new(path))
    }

    /// Reads and checks a program of several texts, by file name: the first is the program, the others
    /// are modules that it may use. With `include_str!`, a program of several files is part of
    /// the executable.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_sources(&[
    ///     ("main.jut", "use lib.stats\ndef f[n](x: [n]f64) -> f64 = exp(lib.stats.mean(x))"),
    ///     ("lib/stats.jut", "def mean[n](x: [n]f64) -> f64 = sum (v <- x) { v } / f64(n)"),
    /// ])?;
    /// assert_eq!(model.functions().collect::<Vec<_>>(), ["lib.stats.mean", "f"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] for an empty list, else as [`Model::from_text`].
    pub fn from_sources(sources: &[(&str, &str)]) -> Result<Model> {
        let [(name, text), modules @ ..] = sources else {
            return Err(Error::Request("a program has at least one text".to_string()));
        };
        let main = Source { name: name.to_string(), text: text.to_string() };
        Model::load(Sources::new(main), &mut Embedded(modules))
    }

    fn load(sources: Sources, files: &mut (dyn Files + Send)) -> Result<Model> {
        Ok(Model { inner: Arc::new(load::load(sources, files)?), externs: Arc::default() })
    }

    /// The text that was loaded, without those of its modules.
    pub fn source(&self) -> &Source {
        self.inner.sources.main()
    }

    /// All texts: the one that was loaded, and those of its modules.
    pub fn sources(&self) -> &Sources {
        &self.inner.sources
    }

    /// Warnings of the checker.
    pub fn warnings(&self) -> &Diagnostics {
        &self.inner.warnings
    }

    /// The names of the functions, in the order of the text.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let own = self.inner.program.funcs.values().filter(|f| !f.derived);
        own.map(|f| f.name.as_str())
    }

    /// A function of the text by name. What the passes made for derivatives in the text is not among
    /// them: its tapes must come from its other half.
    ///
    /// # Errors
    /// [`Error::Request`] if there is none; the message lists those that there are.
    pub fn function(&self, name: &str) -> Result<Function> {
        let program = &self.inner.program;
        let found = program.find_func(name).filter(|id| !program.funcs[*id].derived);
        let id = found.ok_or_else(|| {
            let names: Vec<&str> = self.functions().collect();
            Error::Request(format!("no function `{name}`; there is {}", names.join(", ")))
        })?;
        // Called alone, a function of another language is what it is on ordinary values.
        let id = program.declared(id).map_or(id, |declared| declared.value);
        Ok(Function {
            model: self.clone(),
            id,
            wrt: None,
            of: None,
            policy: Policy::default(),
            schedule: TapePolicy::Free,
            engine: Engine::default(),
            limit: None,
            parallel: true,
            finite: false,
        })
    }

    pub(crate) fn with_function(mut self, function: jut_runtime::foreign::Function) -> Model {
        Arc::make_mut(&mut self.externs).insert(function.name().to_string(), function);
        self
    }

    /// The functions of other languages that were given.
    pub(crate) fn given(&self) -> &Externs {
        &self.externs
    }

    pub(crate) fn shared_sources(&self) -> Arc<Sources> {
        self.inner.sources.clone()
    }

    pub(crate) fn times(&self) -> &[PassTime] {
        &self.inner.times
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }
}

/// A function of a program, with what is to be made of it: which parameters to differentiate, how
/// much to store, which engine runs it.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// let model = jut::Model::from_text("def f(x: f64, y: f64) -> f64 = x * y + sin(x)")?;
/// let gradient = model.function("f")?.wrt(&["x"])?.gradient()?;
/// let mut session = gradient.session();
/// let results = session.call(&[0.0.into(), 3.0.into()])?;
/// assert_eq!(results.f64("x")?, 4.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Function {
    model: Model,
    id: FuncId,
    wrt: Option<Vec<usize>>,
    of: Option<usize>,
    policy: Policy,
    schedule: TapePolicy,
    engine: Engine,
    limit: Option<usize>,
    parallel: bool,
    finite: bool,
}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.model.program().funcs[self.id].name
    }

    /// Its doc comment, without the slashes; empty if there is none.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("/// Twice a number.\ndef f(x: f64) -> f64 = 2.0 * x")?;
    /// assert_eq!(model.function("f")?.doc(), "Twice a number.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn doc(&self) -> &str {
        &self.model.program().funcs[self.id].doc
    }

    /// The texts of its program.
    pub fn sources(&self) -> &Sources {
        self.model.sources()
    }

    /// Names and types of its parameters, without the sizes in brackets.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let program = self.model.program();
        let f = &program.funcs[self.id];
        f.params
            .iter()
            .skip(f.size_params)
            .map(|p| (f.nvars[*p].name.to_string(), show_type(program, f, &f.nvars[*p].ty)))
            .collect()
    }

    /// Whether it, or a function that it calls, has floats of 32 bits: its results are then no more exact than those.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text(
    ///     "def f(x: f64) -> f64 = f64(sin(f32(x)))\ndef g(x: f64) -> f64 = sin(x)",
    /// )?;
    /// assert!(model.function("f")?.is_single_precision());
    /// assert!(!model.function("g")?.is_single_precision());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_single_precision(&self) -> bool {
        let program = self.model.program();
        jut_ir::calls::reached(program, self.id)
            .into_iter()
            .flat_map(|id| program.funcs[id].nvars.values())
            .any(|v| v.ty.has_width(program, jut_ir::Width::Single))
    }

    /// Differentiate with respect to these parameters only. Without this, all parameters that have
    /// a float are differentiated.
    ///
    /// # Errors
    /// [`Error::Request`] if a parameter does not exist or has no float.
    pub fn wrt(mut self, names: &[&str]) -> Result<Function> {
        let program = self.model.program();
        let f = &program.funcs[self.id];
        let mut positions = Vec::new();
        for name in names {
            let position = f.params.iter().position(|p| f.nvars[*p].name == *name);
            let known = position.filter(|k| f.nvars[f.params[*k]].ty.has_float(program));
            let Some(position) = known else {
                let floats: Vec<&str> = f
                    .params
                    .iter()
                    .filter(|p| f.nvars[**p].ty.has_float(program))
                    .map(|p| f.nvars[*p].name.as_str())
                    .collect();
                let why = match position {
                    Some(_) => "has no float to differentiate",
                    None => "is not a parameter",
                };
                return Err(Error::Request(format!(
                    "`{name}` {why}; `{}` can be differentiated with respect to {}",
                    f.name,
                    if floats.is_empty() { "nothing".to_string() } else { floats.join(", ") }
                )));
            };
            positions.push(position);
        }
        positions.sort_unstable();
        positions.dedup();
        self.wrt = Some(positions);
        Ok(self)
    }

    /// Which of several results a gradient is of: by its name or, if it has none, by its position, counted
    /// from 0. Without this, a gradient is of the only result of type f64. The other results come
    /// back beside it. Products of all results (jvp, vjp, Jacobian, ..) are not concerned.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64) -> (f64, f64) = (x * x, sin(x))")?;
    /// let gradient = model.function("f")?.of("0")?.value_and_gradient()?;
    /// let mut session = gradient.session();
    /// let results = session.call(&[3.0.into()])?;
    /// assert_eq!(results.f64("x")?, 6.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] if there is no such result, or it is not of type f64.
    pub fn of(mut self, result: &str) -> Result<Function> {
        let f = &self.model.program().funcs[self.id];
        let all = f.results.iter().enumerate();
        let named = all.map(|(k, r)| match r.name {
            Some(name) => (k, f.nvars[name].name.to_string(), &r.ty),
            None => (k, k.to_string(), &r.ty),
        });
        let floats: Vec<(usize, String)> =
            named.filter(|(_, _, ty)| ty.is_float()).map(|(k, name, _)| (k, name)).collect();
        let Some((position, _)) = floats.iter().find(|(_, name)| name == result) else {
            let names: Vec<String> = floats.iter().map(|(_, name)| format!("`{name}`")).collect();
            return Err(Error::Request(format!(
                "`{result}` is no result of type f64 of `{}`; {}",
                f.name,
                match names.is_empty() {
                    true => "it has none: use vjp or jvp".to_string(),
                    false => format!("there is {}", names.join(", ")),
                }
            )));
        };
        self.of = Some(*position);
        Ok(self)
    }

    /// How much goes on the tape.
    pub fn policy(mut self, policy: Policy) -> Function {
        self.policy = policy;
        self
    }

    /// What runs it: native code unless said otherwise.
    pub fn engine(mut self, engine: Engine) -> Function {
        self.engine = engine;
        self
    }

    /// The most memory, in bytes, that a call may take for its results, its tape and temporary arrays
    /// together; more is the error R06. Memory of the caller does not count. Without it, the limit is
    /// what the process may have: the least of the machine's memory and the limits of its control
    /// groups, address space and data.
    pub fn memory_limit(mut self, bytes: usize) -> Function {
        self.limit = Some(bytes);
        self
    }

    /// Whether calls may run loops on several threads: so it is unless said otherwise. Loops whose iterations do not meet are
    /// cut into parts where they take long enough, on the threads of the `rayon` pool that the caller is in, or of its global
    /// one. The bits of the results are those of one thread.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { sum (j < i) { sin(x[i] * x[j]) } }";
    /// let function = jut::Model::from_text(text)?.function("f")?;
    /// let x: Vec<f64> = (0..500).map(f64::from).collect();
    /// let many = function.clone().gradient()?.call(&[(&x[..]).into()])?;
    /// let one = function.parallel(false).gradient()?.call(&[(&x[..]).into()])?;
    /// assert_eq!(many[0].floats(), one[0].floats());
    /// # Ok(())
    /// # }
    /// ```
    pub fn parallel(mut self, parallel: bool) -> Function {
        self.parallel = parallel;
        self
    }

    /// Whether results that are NaN or infinite are an error, R10: it names the operation that made the first such number, with its
    /// operands and its line, or the argument that has one. A call reads its results once more, and a typed call of an annotated function does not enter
    /// the machine code directly; after one whose results are not finite the interpreter runs the call again, to find the place. Kept derivatives
    /// ([`Function::linearize`]) are not looked at.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64) -> f64 = x * log(x - 1.0)")?;
    /// let gradient = model.function("f")?.finite(true).gradient()?;
    /// assert!(gradient.call(&[2.0.into()]).is_ok());
    /// let error = gradient.call(&[0.5.into()]).unwrap_err();
    /// assert_eq!(error.to_string(), "R10: `log(-0.5)` is NaN at program:1:28");
    /// # Ok(())
    /// # }
    /// ```
    pub fn finite(mut self, finite: bool) -> Function {
        self.finite = finite;
        self
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.finite
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    pub(crate) fn id(&self) -> FuncId {
        self.id
    }

    /// The program, and which of its definitions this is.
    pub(crate) fn definition(&self) -> (&Program, FuncId) {
        (self.model.program(), self.id)
    }

    /// The names of the parameters that are differentiated.
    pub(crate) fn differentiated(&self) -> Vec<String> {
        let program = self.model.program();
        let f = &program.funcs[self.id];
        let all = f.params.iter().enumerate().filter(|(k, p)| match &self.wrt {
            Some(chosen) => chosen.contains(k),
            None => f.nvars[**p].ty.has_float(program),
        });
        all.map(|(_, p)| f.nvars[*p].name.to_string()).collect()
    }

    pub(crate) fn active(&self) -> Option<&[usize]> {
        self.wrt.as_deref()
    }

    /// The position of the result that a gradient is of.
    pub(crate) fn differentiated_result(&self) -> Option<usize> {
        self.of
    }

    pub(crate) fn tape_policy(&self) -> Policy {
        self.policy
    }

    /// What its loops without a word of their own that carry a state are given.
    pub(crate) fn schedule(&self) -> TapePolicy {
        self.schedule
    }

    pub(crate) fn with_schedule(mut self, schedule: TapePolicy) -> Function {
        self.schedule = schedule;
        self
    }

    pub(crate) fn limit(&self) -> Option<usize> {
        self.limit
    }

    pub(crate) fn is_parallel(&self) -> bool {
        self.parallel
    }

    pub(crate) fn chosen_engine(&self) -> Engine {
        self.engine
    }
}

/// Lays a text of the language out in the one way that `jut fmt` prints, keeping its meaning and
/// its comments. `name` is for messages.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// assert_eq!(jut::format("f.jut", "def f(x:f64)->f64=x*x")?, "def f(x: f64) -> f64 = x * x\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Program`](crate::Error::Program) for a text that does not parse.
pub fn format(name: &str, text: &str) -> Result<String> {
    load::format(Source { name: name.to_string(), text: text.to_string() })
}
