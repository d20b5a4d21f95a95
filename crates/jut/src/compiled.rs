//! Functions that are ready to be called, and calling them.
//!
//! A [`Compiled`] is the code, shared by all threads. A [`Session`] is what one thread needs to call
//! it: memory for the tape, lists, results. After the first calls have shown how much that is,
//! further calls of the same sizes allocate nothing.

use crate::bind::{Binder, Sizes, show_type};
use crate::engine::{self, Code, Failure, Target};
use crate::error::{ArgumentError, Error, Result};
use crate::json;
use crate::leaves::{Leaf, leaves, rebuild};
use crate::ports::{Input, Output, OutputPlan, Port, Role};
use crate::source::{RunError, Sources};
use crate::value::{Arg, Array, Out, Value};
use jut_cranelift::Arg as Word;
use jut_ir::{FuncId, Program, Span};
use jut_runtime::Workspace;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// Everything about a compiled function that does not change.
pub(crate) struct Plan {
    sources: Arc<Sources>,
    program: Program,
    root: FuncId,
    binder: Binder,
    inputs: Vec<(String, Role)>,
    outputs: Vec<OutputPlan>,
    /// The leaves of all results.
    leaves: Vec<Leaf>,
    code: Code,
    limit: Option<usize>,
}

impl Plan {
    pub fn new(
        sources: Arc<Sources>,
        program: Program,
        root: FuncId,
        inputs: Vec<Input>,
        outputs: Vec<Output>,
        code: Code,
        limit: Option<usize>,
    ) -> Result<Plan> {
        let func = &program.funcs[root];
        let binder = Binder::new(&program, func, &inputs)?;
        let visible = inputs.into_iter().filter(|i| !i.hidden);
        let mut all = Vec::new();
        let mut plans = Vec::new();
        for (output, result) in outputs.into_iter().zip(&func.results) {
            let start = all.len();
            all.extend(leaves(&program, &result.ty).map_err(|e| {
                ArgumentError::new(&output.name, format!("not built yet as a result: {e}"))
            })?);
            plans.push(OutputPlan {
                name: output.name,
                role: output.role,
                ty: result.ty.clone(),
                shown: show_type(&program, func, &result.ty),
                leaves: start..all.len(),
                var: result.name,
            });
        }
        Ok(Plan {
            sources,
            inputs: visible.map(|i| (i.name, i.role)).collect(),
            binder,
            outputs: plans,
            leaves: all,
            code,
            limit,
            root,
            program,
        })
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Run(mut error) => {
                if error.span == Span::NONE {
                    error.span = self.program.funcs[self.root].span;
                }
                RunError::new(self.sources.clone(), error).into()
            }
            Failure::Output(leaf, reason) => {
                let output = self.outputs.iter().find(|o| o.leaves.contains(&leaf));
                let name = output.map_or("", |o| o.name.as_str());
                ArgumentError::new(name, format!("memory for this result does not fit: {reason}"))
                    .into()
            }
            Failure::Internal(reason) => Error::Backend(format!("internal error: {reason}")),
        }
    }
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
    plan: Arc<Plan>,
}

impl Compiled {
    pub(crate) fn new(plan: Plan) -> Compiled {
        Compiled { plan: Arc::new(plan) }
    }

    /// The parameters: those of the function without the sizes in brackets; then, for a `jvp`, a
    /// tangent `x'` for each differentiated parameter `x`, for a `vjp`, a cotangent `y''` for each
    /// float result `y`.
    pub fn inputs(&self) -> impl Iterator<Item = Port<'_>> {
        let names = self.plan.inputs.iter();
        names.zip(self.plan.binder.params()).map(|((name, role), (_, shown))| Port {
            name,
            ty: shown,
            role: *role,
        })
    }

    /// The results: those of the function (a single one without a name is called `value`, further
    /// ones by their numbers), then the derivatives.
    pub fn outputs(&self) -> impl Iterator<Item = Port<'_>> {
        self.plan.outputs.iter().map(|o| Port { name: &o.name, ty: &o.shown, role: o.role })
    }

    /// What a thread needs to call it.
    pub fn session(&self) -> Session {
        let workspace = match self.plan.limit {
            Some(bytes) => Workspace::with_limit(bytes),
            None => Workspace::new(),
        };
        Session {
            results: self.plan.leaves.iter().map(Leaf::blank).collect(),
            plan: self.plan.clone(),
            workspace,
            sizes: Sizes::default(),
            parts: Vec::new(),
            words: Vec::new(),
            returned: Vec::new(),
        }
    }

    /// Calls it once, with a session of its own; gives all results in order.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn call(&self, args: &[Arg<'_>]) -> Result<Vec<Value>> {
        Ok(self.session().call(args)?.values())
    }

    /// The arguments as the interpreter takes them, sizes included.
    pub(crate) fn entered(&self, args: &[Arg<'_>]) -> Result<Vec<jut_eval::Value>> {
        let (plan, mut sizes, mut parts) = (&*self.plan, Sizes::default(), Vec::new());
        plan.binder.bind(&plan.program, args, &mut sizes, &mut parts)?;
        engine::entered(&plan.program, plan.binder.typed_parts(&sizes, &parts))
            .map_err(|failure| plan.failed(failure))
    }

    /// An error of the interpreter in the words of this library.
    pub(crate) fn failed(&self, error: jut_eval::EvalError) -> Error {
        self.plan.failed(Failure::of(error))
    }

    /// The program and the function that are run.
    pub(crate) fn root(&self) -> (&Program, FuncId) {
        (&self.plan.program, self.plan.root)
    }

    /// Reads arguments from a JSON object with one key per parameter; see [`crate::json`].
    ///
    /// # Errors
    /// [`Error::Input`] if a parameter is missing, a key is no parameter, or a value does not fit.
    pub fn read_json(&self, arguments: &Map<String, Json>) -> Result<Vec<Value>> {
        let names: Vec<&str> = self.plan.inputs.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(extra) = arguments.keys().find(|key| !names.contains(&key.as_str())) {
            let known = names.join(", ");
            return Err(Error::Input(format!("there is no parameter `{extra}`, only {known}")));
        }
        let read = |(name, (ty, shown)): (&&str, (&jut_ir::Type, &str))| {
            let json = arguments.get(*name).ok_or_else(|| {
                Error::Input(format!("no argument for the parameter `{name}: {shown}`"))
            })?;
            json::read(&self.plan.program, ty, json)
                .map_err(|e| Error::Input(format!("argument `{name}: {shown}`: {e}")))
        };
        names.iter().zip(self.plan.binder.params()).map(read).collect()
    }

    /// Writes a result as JSON: its position in [`Compiled::outputs`], and the value.
    pub fn write_json(&self, output: usize, value: &Value) -> Json {
        self.plan
            .outputs
            .get(output)
            .map_or(Json::Null, |o| json::write(&self.plan.program, &o.ty, value))
    }
}

/// What one thread needs to call a compiled function, again and again.
pub struct Session {
    plan: Arc<Plan>,
    workspace: Workspace,
    sizes: Sizes,
    parts: Vec<Arg<'static>>,
    words: Vec<Word<'static>>,
    returned: Vec<u64>,
    results: Vec<Value>,
}

impl Session {
    /// Calls the function. The results stay in the session until its next call.
    ///
    /// # Errors
    /// [`Error::Argument`] if an argument does not fit, [`Error::Run`] if the program fails.
    pub fn call(&mut self, args: &[Arg<'_>]) -> Result<Results<'_>> {
        let mut parts = recycled(std::mem::take(&mut self.parts));
        let plan = &*self.plan;
        let bound = plan.binder.bind(&plan.program, args, &mut self.sizes, &mut parts);
        let outcome = match (bound, &plan.code) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Code::Interpreted(interpreter)) => {
                interpret(plan, interpreter, &self.sizes, &parts, &mut self.results)
            }
            (Ok(()), Code::Native(native)) => {
                let mut words = recycled_words(std::mem::take(&mut self.words));
                let limit = self.workspace.limit();
                let targets = self.results.iter_mut().map(Target::Own);
                let prepared = native.prepare(&parts, targets, limit, &mut words);
                let returned = &mut self.returned;
                let called =
                    prepared.and_then(|()| native.call(&mut self.workspace, &mut words, returned));
                self.words = recycled_words(words);
                let targets = self.results.iter_mut().map(Target::Own);
                called
                    .and_then(|results| native.collect(results, targets))
                    .map_err(|failure| plan.failed(failure))
            }
        };
        self.parts = recycled(parts);
        outcome?;
        self.shape_results();
        Ok(Results { plan: &self.plan, leaves: &self.results })
    }

    /// Calls the function and writes its results into memory of the caller, one [`Out`] for each
    /// result, in the order of [`Compiled::outputs`].
    ///
    /// # Errors
    /// As [`Session::call`], and [`Error::Argument`] if the memory for a result does not fit.
    pub fn call_into(&mut self, args: &[Arg<'_>], outs: &mut [Out<'_>]) -> Result<()> {
        let plan = &*self.plan;
        if outs.len() != plan.leaves.len() || plan.outputs.len() != plan.leaves.len() {
            let names: Vec<&str> = plan.outputs.iter().map(|o| o.name.as_str()).collect();
            let missing = names.get(outs.len()).copied().unwrap_or("(one too many)");
            let reason = if plan.outputs.len() == plan.leaves.len() {
                format!("memory for {} results given; they are {}", outs.len(), names.join(", "))
            } else {
                "tuples and records are not written into memory of the caller; use `call`".into()
            };
            return Err(ArgumentError::new(missing, reason).into());
        }
        let Code::Native(native) = &plan.code else {
            self.call(args)?;
            let plan = &*self.plan;
            for (k, (value, out)) in self.results.iter().zip(outs).enumerate() {
                engine::store(value.into(), Target::of(out), k).map_err(|f| plan.failed(f))?;
            }
            return Ok(());
        };
        let mut parts = recycled(std::mem::take(&mut self.parts));
        let outcome = match plan.binder.bind(&plan.program, args, &mut self.sizes, &mut parts) {
            Err(error) => Err(error.into()),
            Ok(()) => {
                let mut words = recycled_words(std::mem::take(&mut self.words));
                let limit = self.workspace.limit();
                let targets = outs.iter_mut().map(Target::of);
                let prepared = native.prepare(&parts, targets, limit, &mut words);
                let returned = &mut self.returned;
                let called =
                    prepared.and_then(|()| native.call(&mut self.workspace, &mut words, returned));
                self.words = recycled_words(words);
                called
                    .and_then(|results| native.collect(results, outs.iter_mut().map(Target::of)))
                    .map_err(|failure| plan.failed(failure))
            }
        };
        self.parts = recycled(parts);
        outcome
    }

    /// Gives the memory that is kept for further calls back to the system.
    pub fn release_memory(&mut self) {
        self.workspace.clear();
        self.results = self.plan.leaves.iter().map(Leaf::blank).collect();
    }

    /// Gives every array among the results the shape that its type says.
    fn shape_results(&mut self) {
        for output in &self.plan.outputs {
            if let (Some(var), Some(Value::I64(n))) =
                (output.var, self.results.get(output.leaves.start))
            {
                self.sizes.set(var, *n);
            }
        }
        for output in &self.plan.outputs {
            for k in output.leaves.clone() {
                let Some(leaf) = self.plan.leaves.get(k) else { continue };
                let mut shape = match self.results.get_mut(k) {
                    Some(Value::F64s(Array { shape, .. }))
                    | Some(Value::I64s(Array { shape, .. }))
                    | Some(Value::Bools(Array { shape, .. })) => std::mem::take(shape),
                    _ => continue,
                };
                let field = |f: usize| match self.results.get(output.leaves.start + f) {
                    Some(Value::I64(n)) => Some(*n),
                    _ => None,
                };
                let size = |dim| leaf.eval(dim, &|v| self.sizes.get(v), &field).unwrap_or(0);
                shape.clear();
                shape.extend(leaf.dims.iter().map(|d| usize::try_from(size(d)).unwrap_or(0)));
                if let Some(
                    Value::F64s(Array { shape: to, .. })
                    | Value::I64s(Array { shape: to, .. })
                    | Value::Bools(Array { shape: to, .. }),
                ) = self.results.get_mut(k)
                {
                    *to = shape;
                }
            }
        }
    }
}

/// Runs a function in the interpreter; the results go to the leaves.
fn interpret(
    plan: &Plan,
    interpreter: &jut_eval::Interpreter,
    sizes: &Sizes,
    parts: &[Arg<'_>],
    leaves: &mut [Value],
) -> Result<()> {
    let params = plan.binder.typed_parts(sizes, parts);
    let results = engine::entered(&plan.program, params)
        .and_then(|args| engine::interpret(interpreter, plan.root, &args))
        .map_err(|failure| plan.failed(failure))?;
    for (output, value) in plan.outputs.iter().zip(&results) {
        let mut given = Vec::new();
        let value = engine::leave(&plan.program, &output.ty, value);
        let stored = value.as_ref().and_then(|value| {
            crate::bind::take_apart(&plan.program, &output.ty, value.into(), &mut given).ok()?;
            for (k, part) in output.leaves.clone().zip(&given) {
                engine::store(*part, Target::Own(leaves.get_mut(k)?), k).ok()?;
            }
            Some(())
        });
        if stored.is_none() {
            let failure = Failure::Internal("a result has another type".into());
            return Err(plan.failed(failure));
        }
    }
    Ok(())
}

/// The same list, empty, for references of another life time. The memory stays.
fn recycled<'b>(mut list: Vec<Arg<'_>>) -> Vec<Arg<'b>> {
    list.clear();
    list.into_iter().map(|_| Arg::Bool(false)).collect()
}

fn recycled_words<'b>(mut list: Vec<Word<'_>>) -> Vec<Word<'b>> {
    list.clear();
    list.into_iter().map(|_| Word::Bool(false)).collect()
}

/// The results of a call.
pub struct Results<'s> {
    plan: &'s Plan,
    leaves: &'s [Value],
}

impl Results<'_> {
    /// A float scalar, by name: a derivative if there is one of this name, else a result.
    ///
    /// # Errors
    /// [`Error::Request`] if there is no result of this name and type.
    pub fn f64(&self, name: &str) -> Result<f64> {
        match self.leaf(name) {
            Some(Value::F64(x)) => Ok(*x),
            _ => Err(self.no_result(name, "an f64")),
        }
    }

    /// An array of floats of any rank, row by row, by name.
    ///
    /// # Errors
    /// As [`Results::f64`].
    pub fn f64s(&self, name: &str) -> Result<&[f64]> {
        match self.leaf(name) {
            Some(Value::F64s(a)) => Ok(&a.data),
            _ => Err(self.no_result(name, "an array of f64")),
        }
    }

    /// An integer, by name.
    ///
    /// # Errors
    /// As [`Results::f64`].
    pub fn i64(&self, name: &str) -> Result<i64> {
        match self.leaf(name) {
            Some(Value::I64(x)) => Ok(*x),
            _ => Err(self.no_result(name, "an i64")),
        }
    }

    /// An array of integers, by name.
    ///
    /// # Errors
    /// As [`Results::f64`].
    pub fn i64s(&self, name: &str) -> Result<&[i64]> {
        match self.leaf(name) {
            Some(Value::I64s(a)) => Ok(&a.data),
            _ => Err(self.no_result(name, "an array of i64")),
        }
    }

    /// A result of any type as an owned value, by its position in [`Compiled::outputs`].
    pub fn value(&self, position: usize) -> Option<Value> {
        let output = self.plan.outputs.get(position)?;
        let leaves = self.leaves.get(output.leaves.clone())?;
        rebuild(&self.plan.program, &output.ty, &mut leaves.iter())
    }

    /// All results as owned values, in order.
    pub fn values(&self) -> Vec<Value> {
        (0..self.plan.outputs.len()).filter_map(|k| self.value(k)).collect()
    }

    fn leaf(&self, name: &str) -> Option<&Value> {
        let named = || self.plan.outputs.iter().filter(|o| o.name == name);
        let output = named().find(|o| o.role == Role::Derivative).or_else(|| named().next())?;
        match self.leaves.get(output.leaves.clone())? {
            [leaf] => Some(leaf),
            _ => None,
        }
    }

    fn no_result(&self, name: &str, what: &str) -> Error {
        let there: Vec<String> =
            self.plan.outputs.iter().map(|o| format!("{}: {}", o.name, o.shown)).collect();
        Error::Request(format!("no result `{name}` that is {what}; there is {}", there.join(", ")))
    }
}
